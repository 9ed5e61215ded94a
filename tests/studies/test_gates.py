"""Gates: limits, baselines, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clueval import score
from clueval.cli import main
from clueval.files.options import fraction

Capture = pytest.CaptureFixture[str]
F1 = "exact.label.micro.f1"
TAGS = [["B-X", "O", "B-Y"], ["O", "B-X", "O"], ["B-Y", "I-Y", "O"]]


def conll(tags: list[list[str]]) -> str:
    return "".join("-DOCSTART- O\n\n" + "".join(f"w {tag}\n" for tag in row) + "\n" for row in tags)


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("gold").write_text(conll(TAGS * 8), encoding="utf-8")
    good = [["B-X", "O", "B-X"], *TAGS[1:]] * 8
    bad = [["B-X", "O", "B-X"], ["O", "O", "O"], TAGS[2]] * 8
    Path("good").write_text(conll(good), encoding="utf-8")
    Path("bad").write_text(conll(bad), encoding="utf-8")


def run(*arguments: str, predicted: str = "good") -> int:
    return main(["score", "gold", predicted, "--metric", "exact", "--format", "json", "-q", *arguments])


def gates_of(capsys: Capture) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(capsys.readouterr().out)["gates"]
    return found


@pytest.mark.parametrize(
    ("limit", "code"), [("0.75", 0), ("0.7500000001", 1), ("0.1", 0), ("1", 1), ("75%", 0)]
)
def test_a_score_fails_under_its_limit(limit: str, code: int, capsys: Capture) -> None:
    assert run("--fail-under", f"{F1}={limit}") == code
    (gate,) = gates_of(capsys)

    assert gate == {"score": F1, "value": 0.75, "limit": fraction(limit), "passed": not code}


@pytest.mark.parametrize(("short", "whole"), [("f1", F1), ("micro.f1", F1), ("f1.low", f"{F1}.low")])
def test_a_limit_may_name_the_only_headline(short: str, whole: str, capsys: Capture) -> None:
    assert run("--fail-under", f"{short}=0.99") == 1

    assert [gate["score"] for gate in gates_of(capsys)] == [whole]


def test_a_limit_may_name_a_headline_whose_rates_have_an_ending(capsys: Capture) -> None:
    command = ["score", "gold", "good", "--metric", "gate", "--format", "json", "-q", "--fail-under"]

    assert main([*command, "f1=0.99"]) == 1
    assert [gate["score"] for gate in gates_of(capsys)] == ["gate.label.all.f1_strict"]
    assert main([*command, "f1=0.5"]) == 0


def test_a_limit_of_one_of_several_headlines_is_refused_with_their_paths(capsys: Capture) -> None:
    assert run("--metric", "exact,muc", "--fail-under", "f1=0.9") == 2

    assert (
        "'f1' can mean 2 scores (one of exact.label.micro.f1, muc.label.strict.f1)" in capsys.readouterr().err
    )


def test_every_gate_that_fails_is_one_line(capsys: Capture) -> None:
    code = run(
        "--fail-under", f"{F1}=0.9", "--fail-under", "exact.label.micro.recall=0.8", "--fail-under", f"{F1}=0"
    )
    told = capsys.readouterr()

    assert code == 1
    assert [line for line in told.err.splitlines() if line.startswith("clueval score: ")] == [
        f"clueval score: {F1}: 0.75 is below 0.9",
        "clueval score: exact.label.micro.recall: 0.75 is below 0.8",
    ]
    assert [gate["passed"] for gate in json.loads(told.out)["gates"]] == [False, False, True]


def test_the_low_end_of_an_interval_can_be_limited(capsys: Capture) -> None:
    low = score("gold", "good", metrics="exact", intervals=True).intervals()["scores"]["exact"]["label"][
        "micro"
    ]["f1"]["low"]

    assert run("--fail-under", f"{F1}.low={low - 0.01}") == 0
    assert run("--fail-under", f"{F1}.low={low + 0.01}") == 1
    assert f"{F1}.low: " in capsys.readouterr().err


def test_a_label_named_low_is_a_label(capsys: Capture) -> None:
    assert run("--fail-under", "exact.label.micro.low=0.5") == 2
    assert "there is no score 'exact.label.micro'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], 1),
        (["--allow-drop", "0.5"], 0),
        (["--allow-drop", "50%"], 0),
        (["--significant"], 1),
        (["--significant", "--allow-drop", "0.5"], 0),
        (["--significant", "--confidence", "0.9999"], 0),
        (["--score", "exact.label.micro.recall"], 1),
    ],
)
def test_a_worse_score_than_the_baseline_fails(arguments: list[str], code: int, capsys: Capture) -> None:
    score("gold", "good", metrics="exact", resample_by="document").save("base.clueval")

    assert run("--fail-if-worse", "base.clueval", *arguments, predicted="bad") == code
    assert run("--fail-if-worse", "base.clueval", *arguments) == 0
    assert code == 0 or "below the baseline's" in capsys.readouterr().err


def test_units_of_a_gate_are_those_of_the_baseline() -> None:
    score("gold", "good", metrics="exact", resample_by="sentence").save("base.clueval")

    assert run("--fail-if-worse", "base.clueval", "--significant", predicted="bad") == 1


@pytest.mark.parametrize(
    ("metric", "in_baseline", "here"),
    [
        ("exact", 32, 31),
        ("fair", 32, 31),
        ("gate", 32, 31),
        ("muc", 32, 31),
        ("coverage", 40, 39),
        ("noisy", 32, 31),
    ],
)
def test_a_gate_needs_the_gold_of_the_baseline(
    metric: str, in_baseline: int, here: int, capsys: Capture
) -> None:
    """Eight times four spans on five tokens; then a span of one token is gone."""
    assert main(["score", "gold", "good", "--metric", metric, "-q", "--save", "base"]) == 0
    text = Path("gold").read_text(encoding="utf-8")
    Path("gold").write_text(text.replace("w B-X", "w O", 1), encoding="utf-8")
    capsys.readouterr()

    assert main(["score", "gold", "good", "--metric", metric, "-q", "--fail-if-worse", "base"]) == 2
    assert f"{in_baseline} there, {here} here" in capsys.readouterr().err


def test_a_gate_on_the_precision_of_masks_needs_the_mentions_of_the_baseline(capsys: Capture) -> None:
    command = ["score", "gold", "good", "--metric", "masking", "-q"]
    assert main([*command, "--save", "base"]) == 0
    gate = ["--fail-if-worse", "base", "--score", "masking.label.precision.word_precision"]
    assert main([*command, *gate]) == 0
    text = Path("gold").read_text(encoding="utf-8")
    Path("gold").write_text(text.replace("w B-X", "w O", 1), encoding="utf-8")
    capsys.readouterr()

    assert main([*command, *gate]) == 2
    assert "32 there, 31 here" in capsys.readouterr().err


def test_a_gate_on_a_layer_that_the_baseline_lacks_fails(capsys: Capture) -> None:
    command = ["score", "gold", "good", "--metric", "exact", "-q"]
    assert main([*command, "--layer", "a=2", "--resample-by", "document", "--save", "base"]) == 0
    capsys.readouterr()

    gate = ["--layer", "a=2", "--layer", "b=2", "--fail-if-worse", "base"]
    for more in ([], ["--significant"]):
        assert main([*command, *gate, "--resample-by", "document", *more]) == 1
        assert "the baseline has no such score" in capsys.readouterr().err


def test_a_gate_needs_the_documents_of_the_baseline(capsys: Capture) -> None:
    """As many positions, in other documents."""
    for name, ids in (("old", "abcdef"), ("new", "abcdeg")):
        text = "".join(f'<text id="{each}">\nw\tB-X\n</text>\n' for each in ids)
        Path(f"{name}.vrt").write_text(text, encoding="utf-8")
    score("old.vrt", "old.vrt", metrics="exact", resample_by="document").save("base.clueval")
    gate = ["--metric", "exact", "--fail-if-worse", "base.clueval", "--significant"]

    assert main(["score", "new.vrt", "new.vrt", *gate]) == 2
    assert "the baseline and this result have different documents" in capsys.readouterr().err


@pytest.mark.parametrize("drop", ["1", "1.0", "100%", "2", "-0.1", "nan"])
def test_a_drop_that_switches_the_gate_off_is_refused(drop: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit, match="2"):
        run("--allow-drop", drop, "--fail-if-worse", "base.clueval")

    assert "argument --allow-drop: " in capsys.readouterr().err


# By hand, recall of units with 5, 10, 3 and 2 gold spans: the baseline finds 5, 9, 3 and 1, the model 4, 8, 3 and 1.
# The difference is -0.1, without each unit -0.066667, -0.1, -0.117647 and -0.111111; its standard error is 0.033994,
# with 1600/552 - 1 degrees of freedom. For a drop of 0.02, t = -0.08 / 0.033994 = -2.3533; P(T <= t) is that of scipy.
SIZES, BEFORE, AFTER = (5, 10, 3, 2), (5, 9, 3, 1), (4, 8, 3, 1)


def found(numbers: tuple[int, ...]) -> str:
    """A span of one token for each gold span of each unit, of which the first ones are found."""
    return conll(
        [["B-X"] * number + ["O"] * (size - number) for size, number in zip(SIZES, numbers, strict=True)]
    )


def gated(capsys: Capture, *arguments: str) -> tuple[int, dict[str, object]]:
    """The exit code and the gate of a model against the baseline, by recall."""
    for name, numbers in (("all", SIZES), ("before", BEFORE), ("after", AFTER)):
        Path(name).write_text(found(numbers), encoding="utf-8")
    score("all", "before", metrics="exact", resample_by="document").save("base.clueval")
    path = "exact.label.micro.recall"
    options = ["--format", "json", "-q", "--fail-if-worse", "base.clueval", "--significant", "--score", path]
    code = main(["score", "all", "after", "--metric", "exact", *options, *arguments])
    (gate,) = gates_of(capsys)
    return code, gate


@pytest.mark.parametrize(
    ("arguments", "code", "limit", "test", "p"),
    [
        (["--confidence", "0.8"], 0, 0.9, "randomisation", 0.5),
        (["--allow-drop", "0.02"], 0, 0.88, "t", 0.0747721),
        (["--allow-drop", "0.02", "--confidence", "0.9"], 1, 0.88, "t", 0.0747721),
        (["--allow-drop", "0.1", "--confidence", "0.4"], 0, 0.8, "t", 0.5),
        (["--allow-drop", "0.2", "--confidence", "0.4"], 0, 0.7, "t", 0.93),
    ],
)
def test_significance_is_that_of_a_drop_of_more_than_what_is_allowed(
    arguments: list[str], code: int, limit: float, test: str, p: float, capsys: Capture
) -> None:
    exit_code, gate = gated(capsys, *arguments)

    assert (exit_code, gate["test"], gate["passed"]) == (code, test, not code)
    assert gate["units_that_differ"] == 2
    assert gate["limit"] == pytest.approx(limit)
    assert gate["p"] == pytest.approx(p, abs=0.02 if p == 0.93 else 1e-5)


def test_a_lower_score_that_passes_because_few_units_differ_is_warned_of(capsys: Capture) -> None:
    score("gold", "gold", metrics="exact", resample_by="document").save("base.clueval")
    Path("few").write_text(conll([["O"] * 3] * 3 + TAGS * 7), encoding="utf-8")

    assert (
        main(
            ["score", "gold", "few", "--metric", "exact", "--fail-if-worse", "base.clueval", "--significant"]
        )
        == 0
    )
    assert "p = 0.25, but only in 3 units, too few for a significant difference" in capsys.readouterr().err


def test_a_drop_that_is_the_same_in_all_units_is_certain(capsys: Capture) -> None:
    Path("half").write_text(conll([["B-X", "O"]] * 4), encoding="utf-8")
    Path("whole").write_text(conll([["B-X", "B-X"]] * 4), encoding="utf-8")
    score("whole", "whole", metrics="exact", resample_by="document").save("base.clueval")
    gate = "--fail-if-worse base.clueval --significant --allow-drop 0.2 --score micro.recall"
    code = main(f"score whole half --metric exact --format json -q {gate}".split())

    assert (code, gates_of(capsys)[0]["p"]) == (1, 0.0)


@pytest.mark.parametrize("model", ["better", "equal", "worse", "missing"])
@pytest.mark.parametrize(
    ("units", "arguments", "message"),
    [
        (None, [], "base.clueval has no counts by unit"),
        ("court", [], "base.clueval has 1 court"),
        ("document", [], "no score can fail, since p is at least 0.25 with the 3 units of the baseline"),
        ("document", ["--resample-by", "sentence"], "the units of the baseline are document, not sentence"),
    ],
)
def test_what_cannot_be_tested_is_an_error_before_anything_is_scored(
    model: str, units: str | None, arguments: list[str], message: str, capsys: Capture
) -> None:
    text = '<text id="{}" court="a">\nw\tB-X\nw\t{}\nw\tO\n</text>\n'
    for name, tag in {"gold": "B-X", "equal": "B-X", "better": "B-X", "worse": "O"}.items():
        Path(f"{name}.vrt").write_text("".join(text.format(n, tag) for n in range(3)), encoding="utf-8")
    base = "worse" if model == "better" else "equal"
    score("gold.vrt", f"{base}.vrt", metrics="exact", resample_by=units).save("base.clueval")
    gate = ["--fail-if-worse", "base.clueval", "--significant", *arguments]

    assert main(["score", "gold.vrt", f"{model}.vrt", "--metric", "exact", *gate]) == 2
    told = capsys.readouterr()
    assert message in told.err
    assert told.out == ""


def test_an_undefined_score_fails(capsys: Capture) -> None:
    Path("nothing").write_text(conll([["O", "O", "O"]]), encoding="utf-8")

    assert main(["score", "nothing", "nothing", "--input", "nerval", "--metric", "noisy", "--fail-under",
                 "noisy.label.ALL.f1=0"]) == 1  # fmt: skip
    assert "noisy.label.ALL.f1: it is undefined" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fail-under", "x"], "write f1=0.8 or f1=80%, or PATH=X"),
        (["--fail-under", f"{F1}=x"], "'x' is not a number"),
        (["--fail-under", f"{F1}=nan"], "'nan' is not a number"),
        (["--fail-under", "exact.label.mikro.f1=0.5"], "did you mean exact.label.micro.f1?"),
        (["--fail-under", "levels.label=0.5"], "there is no score 'levels.label'"),
        (["--allow-drop", "0.1"], "--allow-drop needs --fail-if-worse"),
        (["--allow-drop", "0"], "--allow-drop needs --fail-if-worse"),
        (["--fail-under", f"{F1}=101%"], "1.01 is above 1"),
        (["--metric", "gate(beta=2)", "--fail-under", "gate.label.all.f2_strict=80"], "80 is above 1"),
        (["--fail-under", f"{F1}=-1"], "f1 is never below -1"),
        (["--significant"], "--significant needs --fail-if-worse"),
        (["--score", F1], "--score needs --fail-if-worse"),
        (["--fail-if-worse", "no.clueval"], "there is no such file"),
        (["--fail-if-worse", "gold"], "is not a saved result"),
        (["--fail-if-worse", "whole.clueval", "--significant"], "no counts by unit"),
        (["--fail-if-worse", "levels.clueval"], "metrics is exact and levels"),
    ],
)
def test_gates_that_cannot_be_tested_are_refused(arguments: list[str], message: str, capsys: Capture) -> None:
    score("gold", "gold", metrics="exact").save("whole.clueval")
    score("gold", "good", metrics="levels").save("levels.clueval")

    assert run(*arguments) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "flags"),
    [
        (["--method", "bca", "--resample-by", "sentence"], ["--resample-by", "--method"]),
        (["--resample-by", "sentence", "--save", "saved"], []),
        (["--confidence", "0.9", "--fail-under", f"{F1}.low=0"], []),
        (["--seed", "1", "--intervals"], []),
    ],
)
def test_options_for_intervals_that_have_no_effect_are_warned_of(
    arguments: list[str], flags: list[str], capsys: Capture
) -> None:
    assert main(["score", "gold", "good", "--metric", "exact", *arguments]) == 0
    lines = capsys.readouterr().err.splitlines()

    assert [line for line in lines if "no effect" in line] == [
        f"clueval score: warning: {flag} has no effect without --intervals" for flag in flags
    ]
