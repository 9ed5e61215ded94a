"""A configuration file in the current folder holds defaults of options."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from clueval.cli import main
from clueval.cli.commands import COMMANDS, command_called
from clueval.files.options import input_path
from clueval.metrics import METRICS

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.conll").write_text("a\tB-X\tO\nb\tI-X\tB-Y\n", encoding="utf-8")
    return tmp_path


def scored(*arguments: str, capsys: Capture) -> tuple[dict[str, object], str]:
    assert main(["score", "a.conll", "a.conll", "--format", "json", *arguments]) == 0
    printed = capsys.readouterr()
    report: dict[str, object] = json.loads(printed.out)
    return report, printed.err


@pytest.mark.parametrize(
    ("name", "head"),
    [("clueval.toml", ""), ("pyproject.toml", "[tool.clueval]\n")],
)
def test_options_and_settings_come_from_the_file(name: str, head: str, folder: Path, capsys: Capture) -> None:
    text = f'{head}metric = "partial(factor=0.5)"\nlayer = {{entity = 2}}\n'
    (folder / name).write_text(text, encoding="utf-8")

    report, error = scored(capsys=capsys)

    assert error.splitlines()[0] == f"clueval score: read {name} (--no-config ignores it)"
    assert str(report["signature"]).startswith("metrics:partial(factor=0.5")
    assert report["metrics"]["partial"].keys() == {"entity"}  # type: ignore[index]


def test_the_command_line_replaces_defaults(folder: Path, capsys: Capture) -> None:
    (folder / "clueval.toml").write_text('metric = "exact,fair(focus=system)"\n', encoding="utf-8")

    report, _ = scored("--metric", "levels", capsys=capsys)

    assert report["metrics"].keys() == {"levels"}  # type: ignore[attr-defined]


def test_no_for_an_option_without_a_negative_leaves_it_out(folder: Path, capsys: Capture) -> None:
    (folder / "clueval.toml").write_text("q = false\nmerge = false\n", encoding="utf-8")

    assert main(["score", "a.conll", "a.conll"]) == 0
    output, error = capsys.readouterr()
    assert "merged" not in output
    assert error.startswith("clueval score: read clueval.toml")


def test_no_config_ignores_the_file(folder: Path, capsys: Capture) -> None:
    (folder / "clueval.toml").write_text('metric = "exact"', encoding="utf-8")

    report, error = scored("--no-config", capsys=capsys)

    assert report["metrics"].keys() == {"levels"}  # type: ignore[attr-defined]
    assert "clueval.toml" not in error


def test_an_option_of_another_command_is_skipped(folder: Path, capsys: Capture) -> None:
    (folder / "clueval.toml").write_text('max-errors = 3\nlayer = ["x=2"]\nquiet = true\n', encoding="utf-8")

    report, error = scored(capsys=capsys)

    assert report["metrics"]["levels"].keys() == {"x"}  # type: ignore[index]
    assert error == "clueval score: read clueval.toml (--no-config ignores it)\n"


def test_a_pyproject_without_a_table_of_clueval_says_nothing(folder: Path, capsys: Capture) -> None:
    (folder / "pyproject.toml").write_text('[project]\nname = "x"\n', encoding="utf-8")

    assert "pyproject" not in scored(capsys=capsys)[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("metric = ", "clueval.toml: is not TOML"),
        ('metrik = "exact"', "no command has an option 'metrik' (did you mean metric?)"),
        ('o = "x.html"', "a configuration cannot have 'o', because it names what is written"),
        ('"-o" = "x.html"', "a configuration cannot have '-o', because it names what is written"),
        ('ouput = "x.html"', "no command has an option 'ouput' (check its name"),
        ('[erors]\nside = "gold"', "there is no command 'erors' (did you mean errors?)"),
        ('[tool.clueval]\nmetric = "exact"', "clueval.toml has options without [tool.clueval]"),
        ("merge = 3", "merge must be true or false, not an int"),
        ("[set.fair]\nfocus = 1", "there is no command 'set'"),
        ('metric = "os.Path()"', "a configuration cannot name a class as a metric"),
        ("metric = 1979-05-27", "metric must be text, a number or a list, not a date"),
    ],
)
def test_a_wrong_file_is_one_line(text: str, message: str, folder: Path, capsys: Capture) -> None:
    (folder / "clueval.toml").write_text(text, encoding="utf-8")

    assert main(["score", "a.conll", "a.conll"]) == 2

    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_table_with_the_name_of_a_command_is_for_this_command(folder: Path, capsys: Capture) -> None:
    (folder / "clueval.toml").write_text(
        'layer = ["x=2"]\nmetric = "exact"\n'
        '[score]\nmetric = "partial(factor=0.5,glue=True)"\n[errors]\nmax-errors = 0\n',
        encoding="utf-8",
    )

    report, _ = scored(capsys=capsys)

    assert str(report["signature"]).startswith("metrics:partial(factor=0.5,glue=True")
    assert report["metrics"]["partial"].keys() == {"x"}  # type: ignore[index]


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ('format = "conlleval"', "conventions a.conll a.conll"),
        ('metric = "exact"', "errors a.conll a.conll"),
        ('metric = ["exact", "muc"]', "errors a.conll a.conll"),
        ('metric = "exact,muc"', "profile a.conll a.conll"),
        ('metric = "exact(min_overlap=0.5)"', "errors a.conll a.conll"),
        ('metric = "fair(focus=system)"', "errors a.conll a.conll"),
        ('scheme = "BIO"\ndocument-tag = "doc"', "score s.tsv s.tsv --text t.vrt"),
        ('document-tag = "doc"', "score a.conll a.conll"),
        ('annotation-set = "A"', "check a.conll"),
    ],
)
def test_a_default_that_does_not_apply_is_skipped(
    text: str, command: str, folder: Path, capsys: Capture
) -> None:
    (folder / "clueval.toml").write_text(text, encoding="utf-8")
    (folder / "s.tsv").write_text("start\tend\tlabel\n0\t1\tX\n", encoding="utf-8")
    (folder / "t.vrt").write_text("a\nb\n", encoding="utf-8")

    code = main(command.split())

    assert (code, capsys.readouterr().err.count("clueval.toml")) == (0, 1)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("command", ["errors", "errors a.jsonl", "profile", "threshold --score-feature s"])
def test_a_default_metric_is_skipped_where_the_command_refuses_it(
    command: str, metric: str, folder: Path, capsys: Capture
) -> None:
    row = '{"text": "Ada", "spans": [{"start": 0, "end": 3, "label": "X", "s": 1}]}'
    (folder / "a.jsonl").write_text(row, encoding="utf-8")
    call = [*command.split(), "a.jsonl", "a.jsonl"]
    is_taken = main([*call, "--metric", metric]) == 0
    if not is_taken:
        capsys.readouterr()
        assert main(call) == 0
    expected = capsys.readouterr().out
    (folder / "clueval.toml").write_text(f'metric = "{metric}"', encoding="utf-8")

    assert (main(call), capsys.readouterr().out) == (0, expected)


def test_a_value_that_no_command_has_is_an_error(folder: Path, capsys: Capture) -> None:
    (folder / "clueval.toml").write_text('format = "jsn"', encoding="utf-8")

    assert main(["conventions", "a.conll", "a.conll"]) == 2
    assert "format cannot be 'jsn' (one of text, json" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["clueval.toml", "pyproject.toml"])
@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("errors a.conll a.conll", 'documents = "OUT"'),
        ("score a.conll a.conll", '[score]\n"save" = "OUT"'),
        ("masking a.conll a.conll", '[masking]\ndocuments = "OUT"'),
        ("agree a.conll a.conll", 'pygamma = "OUT"'),
        ("curate a.conll a.conll", 'undecided = "OUT"'),
    ],
)
def test_a_configuration_names_no_output(
    command: str, text: str, name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    corpus, outside = folder / "corpus", folder / "profile"
    corpus.mkdir()
    (folder / "a.conll").rename(corpus / "a.conll")
    if name == "pyproject.toml":
        text = text.replace("[", "[tool.clueval.") if text.startswith("[") else f"[tool.clueval]\n{text}"
    (corpus / name).write_text(text.replace("OUT", "../profile"), encoding="utf-8")
    outside.write_text("kept", encoding="utf-8")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    monkeypatch.chdir(corpus)

    assert main(command.split()) == 2

    error = capsys.readouterr().err
    assert f"{name}: a configuration cannot have" in error
    assert "because it names what is written (remove it, and give --" in error
    assert error.count("\n") == 1
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_the_table_of_compare_chooses_scores(folder: Path, capsys: Capture) -> None:
    (folder / "clueval.toml").write_text(
        '[compare]\nscore = ["f1"]\nresamples = 99\nresample-by = "sentence"\n', encoding="utf-8"
    )
    (folder / "a.conll").write_text("a\tB-X\n\nb\tB-X\n", encoding="utf-8")

    assert main(["compare", "a.conll", "x=a.conll", "y=a.conll", "--jobs", "1", "--format", "csv"]) == 0
    scores = {line.partition(",")[0] for line in capsys.readouterr().out.splitlines()[1:]}
    assert scores == {"levels.label.labelled.label.1.micro.f1"}


def test_the_table_of_compare_chooses_scores_of_saved_results(folder: Path, capsys: Capture) -> None:
    (folder / "a.conll").write_text("a\tB-X\n\nb\tB-X\n", encoding="utf-8")
    assert main(["score", "a.conll", "a.conll", "--resample-by", "sentence", "--save", "a.clueval"]) == 0
    (folder / "clueval.toml").write_text(
        '[compare]\nscore = ["levels.label.unlabelled.1.recall"]\n', encoding="utf-8"
    )

    assert main(["compare", "a.clueval", "b=a.clueval", "--format", "csv"]) == 0
    assert "unlabelled.1.recall" in capsys.readouterr().out.split("\n", 1)[1]


def test_a_number_of_the_file_is_a_choice_like_that_of_the_command_line(
    folder: Path, capsys: Capture
) -> None:
    for level, code in ((1, 0), (9, 2)):
        (folder / "clueval.toml").write_text(f"[errors]\nlevel = {level}\n", encoding="utf-8")

        assert main(["errors", "a.conll", "a.conll"]) == code
    assert "level cannot be '9' (one of 1, 2, 3, 4)" in capsys.readouterr().err


REFUSED = {
    **dict.fromkeys(
        ("--documents", "--undecided", "--save", "--write-indicators", "--pygamma"), "names what is written"
    ),
    **dict.fromkeys(("--fail-under", "--fail-over", "--fail-if-worse", "--fail-on-new"), "is a gate"),
    **dict.fromkeys(
        ("--allow-drop", "--significant", "--reviewed", "--score", "--fail-on-leak"), "is a gate"
    ),
    "--config": "names a file that names what is written",
    "--scheduler": "names a machine that gets the texts",
}
"""The options that only the command line has, and why; `compare` has another --score."""

READS = {
    *("--label-map", "--gold-map", "--predicted-map", "--hierarchy", "--alternatives", "--any-of", "--text"),
    *("--names", "--pairs", "--ignore-words", "--word-weights", "--decisions", "--system", "--train"),
    *("--tokens", "--reference"),
}
"""The options that name a file that is read; none of these files names an output."""

PLACES = {"--score"}
"""The options with the path of a number in a report."""

SAYS = re.compile(r"\b(re)?writes? (?!FORMAT)|\bexit with \d|^save\b|with --fail|to write$|^where to write")
"""What the help of an option says that names what is written, or decides about the exit code."""

HARMLESS = {"--to", "--lossy", "--raw", "--label"}
"""The options that say what a file has that another option names."""


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_that_writes_or_is_a_gate_is_refused_in_a_configuration(
    command: str, folder: Path, capsys: Capture
) -> None:
    """A new option that names a file, or says that it writes or lets the command fail, needs its place here."""
    called = command_called(command)
    arguments = [option for option in called.options if not option.flags]
    given = [str(next(iter(each.choices))) if each.choices else "a.conll" for each in arguments]
    for flag, option in called.by_flag.items():
        if not flag.startswith("--") or flag.startswith("--no-"):
            continue
        names_a_file = option.metavar in ("FILE", "FOLDER", "PATH", "CSV", "OUT", "ADDRESS", "CONFIG")
        if names_a_file or option.read in (Path, input_path) or SAYS.search(option.help):
            assert flag in {*REFUSED} | READS | PLACES | HARMLESS, (command, flag, option.help)
        if flag in REFUSED and (command, flag) != ("compare", "--score"):
            value = "true" if option.metavar is None else '"profile"'
            (folder / "clueval.toml").write_text(f"{flag.removeprefix('--')} = {value}", encoding="utf-8")

            assert main([command, *given]) == 2, flag
            refusal = (
                f"a configuration cannot have '{flag[2:]}', because it {REFUSED[flag]} (remove it, and give"
            )
            error = capsys.readouterr().err
            assert (refusal in error, error.count("\n")) == (True, 1)
    assert sorted(path.name for path in folder.iterdir() if path.name != "clueval.toml") == ["a.conll"]


@pytest.mark.parametrize(
    "text",
    [
        f"layer = {'[' * 100_000}",
        f"layer = {'{a=' * 100_000}",
        f"[{'.'.join('a' * 20_000)}]\nx = 1",
        f"{'.'.join('a' * 20_000)} = 1",
        f"level = 0x{'f' * 100_000}",
        f"level = {'9' * 100_000}",
        f"layer = [0x{'f' * 100_000}]",
        f'layer = "{"x" * 2_000_000}"',
        f"{'k' * 100_000} = 1",
        "\n".join(f"{'.'.join('a' * 900)}.a{number} = 1" for number in range(40)),
        f"set.{'k' * 100_000} = {{ x = 1 }}",
        f'format = "{"x" * 100_000}"',
    ],
    ids=lambda text: str(text)[:12],
)
def test_a_hostile_file_is_one_line(text: str, folder: Path, capsys: Capture) -> None:
    (folder / "clueval.toml").write_text(text, encoding="utf-8")

    assert main(["errors", "a.conll", "a.conll"]) == 2

    error = capsys.readouterr().err
    assert error.startswith("clueval errors: ")
    assert (error.count("\n"), len(error) < 2000) == (1, True), len(error)
