"""Systems compared: by hand, against scipy, mirrored, and refused where they cannot be compared."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import at_most, flat_spans

from clueval import (
    CluevalError,
    CluevalWarning,
    Comparison,
    Document,
    Result,
    Span,
    UsageError,
    compare,
    errors,
    score,
)
from clueval.cli import main
from clueval.reports import in_short
from clueval.reports.table import Rate
from tests.reports.views import page

Capture = pytest.CaptureFixture[str]
TEXT = ["w"] * 40


def document(number: int, spans: list[Span]) -> Document:
    return Document(f"d{number}", {"x": spans}, tokens=TEXT)


def counted(pairs: list[tuple[int, int, int]]) -> tuple[list[Document], list[Document]]:
    """Documents with so many right, missed and spurious spans."""
    gold, predicted = [], []
    for number, (right, missed, spurious) in enumerate(pairs):
        spans = [Span(2 * n, 2 * n + 1, "A") for n in range(right + missed + spurious)]
        gold.append(document(number, spans[: right + missed]))
        predicted.append(document(number, spans[:right] + spans[right + missed :]))
    return gold, predicted


def result(pairs: list[tuple[int, int, int]]) -> Result:
    return score(*counted(pairs), metrics="exact", resample_by="document")


HAND_A = [(4, 1, 1), (8, 2, 1), (3, 0, 1), (1, 1, 0)]
HAND_B = [(5, 0, 0), (9, 1, 0), (3, 0, 0), (1, 1, 0)]
RECALL, F1 = "exact.x.micro.recall", "exact.x.micro.f1"


def differences(found: Any) -> dict[str, dict[str, Any]]:
    return {each["score"]: each["against_baseline"][0] for each in found.to_dict()["scores"]}


def test_a_layer_that_only_another_system_has_is_named() -> None:
    gold, base = counted(HAND_A)
    more = [replace(each, layers={**each.layers, "y": each.layers["x"]}) for each in base]
    first, second = (score(gold, side, metrics="exact", resample_by="document") for side in (base, more))

    with pytest.warns(CluevalWarning, match="the layer 'y' of b is not compared, because a does not have it"):
        compare(a=first, b=second)
    with pytest.raises(UsageError, match="do not both have the layer 'y'"):
        compare(b=second, a=first)


def test_two_systems_by_hand() -> None:
    found = differences(compare(result(HAND_A), result(HAND_B)))

    assert found[RECALL]["units_that_differ"] == 3
    assert found[RECALL]["difference"] == pytest.approx(0.1)
    assert (found[RECALL]["p"], found[F1]["p"]) == (0.5, 0.25)
    assert found[RECALL]["exact"]
    assert (found[RECALL]["low"], found[RECALL]["detectable"]) == (None, None)


def test_values_have_the_intervals_of_score() -> None:
    own = result(HAND_A)
    value = compare(own, result(HAND_B), scores=[RECALL]).to_dict()["scores"][0]["values"][0]
    interval = own.intervals()["scores"]["exact"]["x"]["micro"]["recall"]

    assert (value["low"], value["high"]) == (interval["low"], interval["high"])
    assert (round(value["low"], 4), round(value["high"], 4)) == (0.5489, 0.9293)


def many(seed: int, better: float = 0.0, units: int = 40) -> list[tuple[int, int, int]]:
    gold_of, own = random.Random(0), random.Random(seed)
    found = []
    for _ in range(units):
        spans = gold_of.randrange(1, 12)
        right = sum(own.random() < 0.7 + better for _ in range(spans))
        found.append((right, spans - right, own.randrange(3)))
    return found


def test_a_system_against_itself_has_p_1() -> None:
    for entry in differences(compare(result(many(1)), result(many(1)))).values():
        assert (entry["p"], entry["difference"], entry["units_that_differ"]) == (1, 0, 0)


@pytest.mark.long
@at_most(10)
@given(st.integers(1, 1_000), st.integers(1, 1_000))
def test_swapped_systems_mirror_the_difference(one: int, other: int) -> None:
    a, b = result(many(one)), result(many(other))
    there, back = differences(compare(a, b)), differences(compare(b, a))

    for path, entry in there.items():
        assert entry["difference"] == -back[path]["difference"]
        assert (entry["p"], entry["detectable"]) == (back[path]["p"], back[path]["detectable"])
        if entry["low"] is not None:
            assert (entry["low"], entry["high"]) == (-back[path]["high"], -back[path]["low"])


@pytest.mark.long
@at_most(10)
@given(st.randoms(use_true_random=False))
def test_the_order_of_documents_changes_nothing(mixed: random.Random) -> None:
    a, b = counted(many(1)), counted(many(2, 0.05))
    order = mixed.sample(range(40), 40)
    found = []
    for numbers in (range(40), order):
        systems = [
            score(
                [side[0][n] for n in numbers],
                [side[1][n] for n in numbers],
                metrics="exact",
                resample_by="document",
            )
            for side in (a, b)
        ]
        found.append(compare(*systems).to_dict())

    assert found[0] == found[1]


def test_random_swaps_come_close_to_all_swaps() -> None:
    stats = pytest.importorskip("scipy.stats")
    a, b = many(3, units=60), many(4, 0.08, units=60)
    entry = differences(compare(result(a), result(b), scores=[RECALL]))[RECALL]
    changes = [two[0] - one[0] for one, two in zip(a, b, strict=True)]

    expected = stats.permutation_test(
        (changes, [0] * len(changes)),
        lambda one, other: float(sum(one) - sum(other)),
        permutation_type="samples",
        n_resamples=9_999,
        random_state=1,
    ).pvalue

    assert not entry["exact"]
    assert entry["p"] == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize(
    "metric",
    [
        "levels",
        "exact",
        "fair",
        *(pytest.param(name, marks=pytest.mark.long) for name in ("partial", "muc", "gate")),
    ],
)
@at_most(5)
@given(data=st.data())
def test_p_of_few_units_is_that_of_scoring_every_swap(metric: str, data: st.DataObject) -> None:
    units = data.draw(st.lists(st.tuples(*[flat_spans(size=12)] * 3), min_size=2, max_size=4))
    sides = [[document(n, list(unit[side])) for n, unit in enumerate(units)] for side in range(3)]
    a, b = (score(sides[0], sides[side], metrics=metric, resample_by="document") for side in (1, 2))
    found = compare(a, b).to_dict()["scores"]

    for each in found[:3]:
        entry = each["against_baseline"][0]
        swapped = []
        for choice in range(1 << len(units)):
            first = [sides[2 if choice >> n & 1 else 1][n] for n in range(len(units))]
            second = [sides[1 if choice >> n & 1 else 2][n] for n in range(len(units))]
            swapped.append(value_of(sides[0], second, metric, each) - value_of(sides[0], first, metric, each))
        least = abs(swapped[0]) - 1e-12
        assert entry["p"] == pytest.approx(sum(abs(value) >= least for value in swapped) / len(swapped))


def value_of(gold: list[Document], predicted: list[Document], metric: str, each: dict[str, Any]) -> float:
    found: Any = score(gold, predicted, metrics=metric).metrics
    for name in each["score"].split("."):
        found = found.get(name, {})
    return found or 0.0


def test_several_systems_are_corrected_by_holm() -> None:
    comparison = compare(result(many(1)), [result(many(2, 0.1)), result(many(3, 0.05))], scores=[RECALL])
    entries = comparison.to_dict()["scores"][0]["against_baseline"]
    ps = sorted(entry["p"] for entry in entries)
    corrected = sorted(entry["p_holm"] for entry in entries)

    assert corrected == pytest.approx([min(1, 2 * ps[0]), max(2 * ps[0], ps[1])])
    assert str(comparison).count("after Holm's correction") == 2


def test_runs_have_a_mean_and_a_deviation() -> None:
    runs = [result(many(seed)) for seed in (1, 2, 3)]
    comparison = compare(runs, [[result(many(seed, 0.1)) for seed in (4, 5)]], scores=[RECALL])
    found = comparison.to_dict()["scores"][0]
    own = [run.metrics["exact"]["x"]["micro"]["recall"] for run in runs]
    numpy = pytest.importorskip("numpy")

    assert found["values"][0]["value"] == pytest.approx(sum(own) / 3)
    assert found["values"][0]["sd"] == pytest.approx(float(numpy.std(own, ddof=1)))
    assert (found["values"][0]["min"], found["values"][0]["max"]) == (min(own), max(own))
    assert found["against_baseline"][0]["test"] == "t"
    shown = f"(sd {100 * found['values'][0]['sd']:.2f})"
    for form, begin in (("text", ""), ("markdown", ""), ("latex", "% ")):
        lines = comparison.render(form).splitlines()
        assert f"{begin}40 units (documents); t-test over runs and units; 95 % confidence." in lines, form
        assert any(shown in line for line in lines), form


def test_a_detectable_difference_tells_how_many_units_it_takes() -> None:
    entry = differences(compare(result(many(1)), result(many(2, 0.1)), detect=0.01, scores=[RECALL]))[RECALL]

    assert entry["units_needed"] == pytest.approx(40 * (entry["detectable"] / 0.01) ** 2, abs=1)


def test_sentences_say_what_the_test_says() -> None:
    found = compare(result(many(1)), result(many(2, 0.15)), scores=[RECALL], names=["old", "new"])

    assert found.verdict().startswith("exact recall: new is better than old by ")
    assert "40 units (documents)" in next(iter(found.notes()))[1]


def test_a_difference_is_that_of_the_values_that_are_shown() -> None:
    # F1 of 2 and 4 of 7 gold spans: 4/9 and 8/11, which differ by 28.28 points, and as shown by 72.73 - 44.44
    systems = [result([(1, 2, 0), (1, 3, 0)]), result([(2, 1, 0), (2, 2, 0)])]
    found = compare(*systems, scores=[F1], names=["old", "new"], all_pairs=True)

    assert "+28.28" not in found.render("text", all=True)
    assert "+28.29 points" in found.verdict()
    assert found.to_dict()["scores"][0]["against_baseline"][0]["difference"] == pytest.approx(8 / 11 - 4 / 9)


@pytest.mark.parametrize("chosen", ["any_of", "alternatives", None])
def test_gold_that_is_chosen_for_each_system_is_not_blamed_on_the_files(chosen: str | None) -> None:
    first, second = Span(0, 2, "A"), Span(3, 5, "A")
    optional = Span(3, 5, "A", features={"group": "1", "optional": "yes"})

    def documents(*spans: Span) -> list[Document]:
        return [Document(name, {"x": spans}, tokens=list("abcdef")) for name in "de"]

    results = []
    for spans in ([first], [first, second]):
        gold = {"alternatives": [first, optional], "any_of": [first], None: spans}[chosen]
        golds = {"any_of": [documents(first, second)]} if chosen == "any_of" else {}
        sides = documents(*gold), documents(*spans)
        results.append(score(*sides, metrics="exact", resample_by="document", **golds))

    with pytest.raises(CluevalError, match="different gold spans in unit 'd'") as raised:
        compare(*results)
    assert ("of several golds" in str(raised.value)) == (chosen is not None)


def test_gold_that_differs_by_system_in_its_labels_only_is_told() -> None:
    """Which of several golds counts is chosen for each system, also where the numbers of spans are equal."""
    sides = {
        label: [Document(name, {"x": [Span(0, 2, label)]}, tokens=["a", "b"]) for name in "de"]
        for label in "AB"
    }
    for golds in {}, {"any_of": [sides["B"]]}:
        results = [score(sides["A"], sides[label], resample_by="document", **golds) for label in "AB"]

        found = compare(*results)
        assert ("Of several golds" in str(found)) == bool(golds)
        labels, _ = found.details()
        assert {each["score"] for each in labels} == (set() if golds else {*"AB"})


REFUSED: dict[str, tuple[Any, str]] = {
    "other units": (
        lambda: result([(0, 0, 0)]),
        "a test needs several units, and B has 1 document",
    ),
    "other gold": (lambda: result([(4, 0, 1), *HAND_A[1:]]), "different gold spans in unit 'd0'"),
    "other labels of gold": (
        lambda: score(
            *(
                [replace(each, layers={"x": [Span(0, 1, "B"), *each.layers["x"][1:]]}) for each in side]
                for side in counted(HAND_A)
            ),
            metrics="exact",
            resample_by="document",
        ),
        "different gold spans in unit 'd0'",
    ),
    "other metric": (
        lambda: score(*counted(HAND_A), metrics="levels", resample_by="document"),
        "metrics is exact and levels",
    ),
    "no units": (lambda: score(*counted(HAND_A), metrics="exact"), "has no counts by unit"),
    "other kind of unit": (
        lambda: score(*counted(HAND_A), metrics="exact", resample_by="sentence"),
        "are document and sentence",
    ),
}


def test_force_does_not_compare_what_was_not_counted() -> None:
    other = score(*counted(HAND_A), metrics="levels", resample_by="document")

    with pytest.raises(CluevalError, match="were not both counted by metric 'exact'"):
        compare(result(HAND_A), other, force=True)


@pytest.mark.parametrize("case", REFUSED)
def test_systems_that_cannot_be_compared_are_refused(case: str) -> None:
    other, message = REFUSED[case]

    with pytest.raises(CluevalError, match=message):
        compare(result(HAND_A), other())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scores": ["exact.x.micro.recal"]}, "did you mean exact.x.micro.recall"),
        ({"scores": ["exact.x.micro.gold"]}, "is not a rate"),
        ({"detect": 0}, "detect must be a difference from 1e-09 to 1"),
        ({"confidence": 95}, "confidence must be between 0 and 1"),
        ({"names": ["a"]}, "a name of its own"),
        ({"names": ["a", "a"]}, "a name of its own"),
        ({"resamples": 0}, "resamples must be a whole number from 1 on"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(CluevalError, match=message):
        compare(result(HAND_A), result(HAND_B), **options)


def grown(by: str, **options: Any) -> tuple[Result, Result]:
    """A system on the documents d0 to d3 and one on d1 to d5, of which d3 has another length for it."""
    found = []
    for pairs, kept in ((HAND_A, range(4)), (HAND_B, range(1, 4))):
        sides = [[side[number] for number in kept] for side in counted(pairs)]
        if kept.start:
            new = [Document(f"d{number}", {"x": []}, tokens=TEXT) for number in (4, 5)]
            sides = [[*side[:-1], replace(side[-1], tokens=TEXT[:-1]), *new] for side in sides]
        found.append(score(*sides, metrics="exact", resample_by=by, **options))
    return found[0], found[1]


def test_documents_that_only_some_results_have_are_left_out_and_numbered() -> None:
    both = compare(*grown("document"), scores=[F1])
    alone = compare(result(HAND_A[:3]), result(HAND_B[:3]), scores=[F1])

    assert both.to_dict()["left_out"] == {"A": 2, "B": 3}
    assert (both.units, both.documents, both.tokens) == (2, 2, 80)
    assert (alone.units, alone.documents, alone.tokens, alone.left_out) == (3, 3, 120, {})
    assert "left_out" not in alone.to_dict()
    remark = "Documents that not all results have with as many positions are left out: A 2, B 3."
    assert remark in both.render("text").splitlines()
    assert remark in both.render("markdown").splitlines()
    assert f"% {remark}" in both.render("latex").splitlines()
    assert "sind ausgelassen: A 2, B 3." in both.render(lang="de")


def test_a_comparison_of_common_documents_is_that_of_these_alone() -> None:
    whole, part = result(HAND_A), result(HAND_B[:3])
    scores = compare(result(HAND_A[:3]), part).to_dict()["scores"]

    assert compare(whole, part).to_dict()["scores"] == scores


def test_other_units_than_documents_must_all_be_the_same() -> None:
    golds = [
        [
            Document(f"d{n}", {"x": []}, tokens=TEXT, metadata={"court": court})
            for n, court in enumerate(courts)
        ]
        for courts in ("ab", "abc")
    ]
    results = [score(gold, gold, metrics="exact", resample_by="court") for gold in golds]

    with pytest.raises(CluevalError, match="A and B have different units: 'c' is in only one of them"):
        compare(*results)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("units", ["document", "sentence"])
def test_different_gold_files_are_refused_or_of_documents_warned_of(units: str) -> None:
    two = [f"-DOCSTART- O\n\n{conll([('w', 'B-PER')] * 2)}"] * 2
    for name, text in (("one", "".join(two)), ("other", "\n".join(two))):
        Path(f"{name}.conll").write_text(text, encoding="utf-8")
    results = [
        score(f"{name}.conll", f"{name}.conll", metrics="exact", resample_by=units)
        for name in ("one", "other")
    ]

    if units == "document":
        with pytest.warns(
            CluevalWarning, match="A and B were scored against different gold files; their documents"
        ):
            assert compare(*results).left_out == {}
        return
    with pytest.raises(CluevalError, match="A and B were scored against different gold files"):
        compare(*results)
    assert compare(*results, force=True).units == 4


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result(HAND_A).save("a.clueval")
    result(HAND_B).save("b.clueval")


def test_a_score_that_is_undefined_in_a_system_has_no_difference_and_stops_no_other() -> None:
    gold, predicted = counted([(2, 1, 0), (3, 0, 1), (1, 2, 2)])
    nothing = [document(number, []) for number in range(3)]
    own, other = (
        score(gold, side, metrics="noisy", resample_by="document", intervals=True)
        for side in (predicted, nothing)
    )
    found = compare(own, other, names=["own", "none"])
    precision, recall, _ = found.to_dict()["scores"]
    value, entry = precision["values"][1], precision["against_baseline"][0]

    assert (value["value"], value["low"], value["reason"]) == (None, None, "the score is undefined")
    assert (entry["difference"], entry["p"], entry["p_holm"]) == (None, None, None)
    assert recall["against_baseline"][0]["p"] == 0.25
    assert "none and own cannot be compared: the score is undefined in a system." in " ".join(
        str(found).split()
    )
    assert next(iter(found.tables())).rows[1][:4] == ["none", Rate(None), Rate(0.0), None]


def test_a_label_of_one_system_alone_is_compared() -> None:
    gold, predicted = counted([(2, 1, 0), (3, 0, 1), (1, 2, 2)])
    other = [document(n, [Span(0, 1, "B"), *side.layers["x"][1:]]) for n, side in enumerate(predicted)]
    own, with_b = (score(gold, side, metrics="exact", resample_by="document") for side in (predicted, other))
    entry = compare(own, with_b, scores=["exact.x.per_label.B.precision"]).to_dict()["scores"][0]

    assert [value["value"] for value in entry["values"]] == [0, 0]
    assert entry["values"][0]["reason"] == "no unit has anything to count"
    assert (
        entry["against_baseline"][0]["difference"],
        entry["against_baseline"][0]["units_that_differ"],
    ) == (0, 3)


def test_the_verdict_is_that_of_a_test_at_the_level_of_the_intervals() -> None:
    own, other = result(many(1)), result(many(2, 0.06))
    entry = differences(compare(own, other))[RECALL]
    verdicts = [str(compare(own, other, scores=[RECALL], confidence=c)) for c in (0.999, 1 - entry["p"])]

    assert "do not differ significantly" in verdicts[0]
    assert "B is better than A by" in verdicts[1]


# Systems that are scored here


def conll(rows: Sequence[tuple[str, str]]) -> str:
    """Sentences of one token each, with its tag."""
    return "".join(f"{word} {tag}\n\n" for word, tag in rows)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    gold = [(f"w{n}", "B-PER" if n % 2 else "B-LOC") for n in range(12)]
    for name, wrong in (("gold", 13), ("base.1", 2), ("base.2", 3), ("large", 5)):
        rows = [(word, "O" if n % wrong == 1 else tag) for n, (word, tag) in enumerate(gold)]
        Path(f"{name}.conll").write_text(conll(rows if name != "gold" else gold), encoding="utf-8")
    for name in ("base.1", "base.2", "large"):
        score("gold.conll", f"{name}.conll", metrics="exact", save=f"{name}.clueval")


def as_command(arguments: str, capsys: Capture) -> Any:
    assert main(["compare", *arguments.split(), "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


SAVED = "base=base.1.clueval,base.2.clueval large=large.clueval"


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    "arguments",
    [
        "base=base.1.conll,base.2.conll large=large.conll",
        "base=base.*.conll large=large.conll",
        "large=large.conll base=base.*.conll --baseline base",
    ],
)
def test_systems_that_are_scored_here_compare_as_their_saved_results(arguments: str, capsys: Capture) -> None:
    saved = as_command(SAVED, capsys)

    assert saved == as_command("base=base.*.clueval large=large.clueval", capsys)
    assert saved == as_command(f"gold.conll {arguments} --metric exact", capsys)
    assert [value["runs"] for value in saved["scores"][0]["values"] if "runs" in value] == [2]


@pytest.mark.usefixtures("files")
def test_python_takes_gold_and_systems_by_name_as_the_command_does(capsys: Capture) -> None:
    runs, large = ["base.1.conll", "base.2.conll"], "large.conll"
    tags = [[tag] for tag in ("B-PER", "B-LOC") * 6]
    wrong = [["O"] if n == 3 else tag for n, tag in enumerate(tags)]

    assert (
        as_command(SAVED, capsys)
        == compare("gold.conll", {"base": runs, "large": large}, metrics="exact").to_dict()
    )
    for found in (
        compare("gold.conll", base=runs, large=large, metrics="exact"),
        compare({"base": runs, "large": large}, gold="gold.conll", metrics="exact"),
        compare("gold.conll", large=large, base="base.*.conll", metrics="exact", baseline="base"),
        compare({"large": "large.clueval", "base": "base.*.clueval"}, baseline="base"),
    ):
        assert found.to_dict() == as_command(SAVED, capsys)
    assert compare(tags, base=tags, large=wrong, metrics="exact").systems == ["base", "large"]
    by_id = [{str(n): tag for n, tag in enumerate(side)} for side in (tags, wrong)]
    assert compare(by_id[0], *by_id).systems == ["A", "B"]
    assert compare(by_id[0], {"x": by_id[0], "y": by_id[1]}).systems == ["x", "y"]


@pytest.mark.parametrize("kept", ["paths", "rows"])
@pytest.mark.parametrize("option", [{"unparsable": "empty"}, {"missing": "empty"}, {"occurrence": "first"}])
def test_options_for_answers_do_not_concern_a_system_with_positions(
    option: dict[str, Any], kept: str, tmp_path: Path
) -> None:
    texts = [{"id": f"d{n}", "text": "Ada, Bob", "label": [[0, 3, "PER"]]} for n in range(2)]
    answers = [{"id": f"d{n}", "output": '{"PER": ["Bob"]}'} for n in range(2)]
    sides: list[Any] = [texts, texts, answers]
    if kept == "paths":
        for number, rows in enumerate(sides):
            sides[number] = tmp_path / f"{number}.jsonl"
            sides[number].write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    gold, tagger, model = sides

    found = compare(gold, tagger=tagger, model=model, metrics="exact", scores=["f1"], **option)

    assert [row["value"] for row in found.rows()[:2]] == [1, 0]
    assert len([*errors(gold, tagger, model, **option)]) == 4
    with pytest.raises(UsageError, match="appl"):
        compare(gold, one=tagger, two=tagger, metrics="exact", **option)


ANSWERS = {"old": ['{"PER": ["Ada", "Eve"]}', "no"], "new": ['{"PER": ["Ada"]}'] * 2}
"""Answers about the two texts of `GOLD_OF_ANSWERS`: one mention without a position, and one that is no JSON."""

GOLD_OF_ANSWERS = [{"id": f"d{n}", "text": "Ada, Bob", "label": [[0, 3, "PER"]]} for n in range(2)]


@pytest.mark.parametrize("given_as", ["texts", "texts without names", "ids", "files"])
def test_answers_of_models_are_compared_and_what_was_lost_is_said(given_as: str, tmp_path: Path) -> None:
    gold: Any = GOLD_OF_ANSWERS
    systems: dict[str, Any] = dict(ANSWERS)
    if given_as == "ids":
        systems = {name: dict(zip(("d0", "d1"), answers, strict=True)) for name, answers in systems.items()}
    elif given_as == "files":
        for name, answers in ANSWERS.items():
            rows = [{"id": f"d{n}", "response": answer} for n, answer in enumerate(answers)]
            systems[name] = tmp_path / f"{name}.jsonl"
            systems[name].write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        gold = tmp_path / "gold.jsonl"
        gold.write_text("\n".join(map(json.dumps, GOLD_OF_ANSWERS)), encoding="utf-8")
    options: dict[str, Any] = {"metrics": "exact", "input": "mentions", "unparsable": "empty"}

    if given_as == "texts without names":
        found = compare(gold, *systems.values(), **options)
    else:
        found = compare(gold, **systems, **options)

    name, _ = found.systems
    assert list(found.remarks()) == [
        f"{name}: 1 of 2 answers could not be read",
        f"{name}: 1 predicted span has no position in the gold text",
    ]
    assert found.to_dict()["located"][name]["unlocatable"] == 1
    assert found.resample_by == "document"


def test_of_many_systems_words_say_how_many_are_better() -> None:
    gold, base, none = ([[first, last]] * 8 for first, last in (("B-A", "B-A"), ("B-A", "O"), ("O", "O")))

    found = compare(gold, base, gold, base, none, none, none, metrics="exact", scores=["f1"])

    assert (found.title, found.verdict()) == (
        "6 systems",
        "exact F1: of 5 systems, better than A: 1, worse: 3, not significantly different: 1.",
    )


def test_a_tagger_with_tokens_is_compared_with_a_system_with_positions_in_the_text(tmp_path: Path) -> None:
    tokens = [
        {"id": f"d{n}", "tokenized_text": ["Ada", ",", "Bob"], "ner": [[0, 0, "PER"]]} for n in range(2)
    ]
    gold, tagger = (tmp_path / f"{name}.jsonl" for name in ("gold", "tagger"))
    for path, rows in ((gold, GOLD_OF_ANSWERS), (tagger, tokens)):
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    found = compare(gold, tagger=tagger, copy=[gold], metrics="exact", scores=["f1"])

    assert "placed" in found.signature
    assert [row["value"] for row in found.rows()[:2]] == [1, 1]


def test_systems_are_compared_in_tokens_if_only_one_has_blanks_at_the_edges_of_spans() -> None:
    gold, blank = (
        [{"id": str(n), "text": "Ada met", "label": [[0, end, "PER"]]} for n in range(2)] for end in (3, 4)
    )

    found = compare(gold, blank=blank, copy=gold, metrics="exact", scores=["f1"], unit="token")

    assert [row["value"] for row in found.rows()[:2]] == [1, 1]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("gold.conll large.conll", "gold.conll comes first and is no saved result, so it is gold"),
        ("a=base.1.conll b=large.conll", "or name gold first, to score and compare in one go"),
        (f"{SAVED} --metric exact", "--metric is for systems that are scored here, and there is no gold"),
        (f"{SAVED} --layer label=2", "--layer"),
        (f"{SAVED} --baseline bsae", "there is no system 'bsae' (one of base, large)"),
        ("a=base.1.clueval a=large.clueval", "two systems have the name 'a'"),
        ("a=none*.clueval b=large.clueval", "none*.clueval: no file matches this pattern"),
        ("a=large.clueval,base.*.clueval,base.1.clueval b=large.clueval", "has the run base.1.clueval twice"),
        ("gold.conll a=large.conll,large.conll b=base.1.conll", "a system has the run large.conll twice"),
        ("=base.1.clueval b=large.clueval", "lacks a name or a path"),
        ("gold.conll a=large.conl b=base.1.conll", "large.conl: there is no such file"),
        (
            "gold.conll base=base.1.conll large=large.clueval",
            "large.clueval:1: is a report or a saved result",
        ),
        ("large.clueval", "nothing to compare with"),
        (", large.clueval", "nothing to compare with"),
        ("large.clueval no.clueval", "there is no such file"),
        ("large.clueval base.1.clueval --score x", "there is no score 'x'"),
        ("large.clueval base.1.clueval -o large.clueval", "cannot be overwritten"),
    ],
)
def test_systems_that_cannot_be_scored_or_named_are_one_line(
    arguments: str, message: str, capsys: Capture
) -> None:
    assert main(["compare", *arguments.split()]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compare([["O"]], a=[["O"]], b=[["O"]], metric="exact"), "did you mean metrics?"),
        (lambda: compare(a=[["O"]], b=[["O"]]), "or give gold first"),
        (lambda: compare([["O"]], [["O"]]), "give gold and two systems"),
        (lambda: compare(), "there are no systems"),
        (lambda: compare(iter([["O"]]), [["O"]], [["O"]]), "gold can be read only once"),
        (lambda: compare([iter(["O"])], [["O"]], [["O"]]), "gold can be read only once"),
        (lambda: compare(result(HAND_A), []), "nothing to compare with"),
        (lambda: compare(result(HAND_A), result(HAND_B), metrics="exact"), "there is no gold"),
        (lambda: compare(result(HAND_A), b=3), "compare has no option 'b'"),
    ],
)
def test_arguments_that_cannot_be_right_say_what_to_give(call: Callable[[], object], message: str) -> None:
    with pytest.raises(CluevalError) as error:
        call()
    assert message in str(error.value)


@pytest.mark.usefixtures("files")
def test_options_for_scoring_in_a_configuration_file_are_skipped_for_saved_results(capsys: Capture) -> None:
    saved = as_command(SAVED, capsys)
    Path("clueval.toml").write_text('metric = "exact"\nlayer = ["label=2"]\n', encoding="utf-8")

    assert as_command(SAVED, capsys) == saved
    assert as_command("gold.conll base=base.*.conll large=large.conll", capsys) == saved


def test_a_table_has_a_row_for_each_system_with_its_rates_and_the_difference_of_f1() -> None:
    table = next(iter(compare(result(HAND_A), result(HAND_B), names=["a", "b"]).tables()))

    assert table.header == ["system", "precision", "recall", "F1", "difference", "p"]
    assert [row[0] for row in table.rows] == ["a", "b"]


def test_all_pairs_have_the_tests_of_two_systems_with_holms_correction_over_pairs() -> None:
    sides = result(HAND_A), result(HAND_B), result(HAND_A)
    found = compare(*sides, names=["a", "b", "c"], all_pairs=True, scores=["f1"], detect=0.01)
    alone = compare(*sides[1:], names=["b", "c"], scores=["f1"], detect=0.01).tests[0]["against_baseline"][0]

    (score,) = found.to_dict()["pairs"]
    assert [(each["against"], each["system"]) for each in score["pairs"]] == [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    ]
    assert score["pairs"][2] == {**alone, "against": "b", "p_holm": score["pairs"][2]["p_holm"]}
    assert score["pairs"][2]["p_holm"] == min(1, 3 * alone["p"])
    assert "c, compared with b" in found.render()
    assert "pairs" not in compare(*sides, names=["a", "b", "c"]).to_dict()


@pytest.mark.parametrize("form", ["text", "markdown", "latex"])
def test_tables_name_scores_in_words_and_the_signature_once(form: str) -> None:
    comparison = compare(result(HAND_A), result(HAND_B), names=["a", "b"])
    text = comparison.render(form)
    signature = in_short(comparison.signature) if form == "text" else comparison.signature

    assert "exact F1" in text
    assert "exact.x.micro" not in text
    assert text.count(signature) == 1
    assert form != "latex" or "% signature: " in text
    assert "in %" in text.replace("\\%", "%")


def test_latex_has_the_details_of_each_score_only_with_all_tables() -> None:
    comparison = compare(result(HAND_A), result(HAND_B), names=["a", "b"])

    assert "details of each score" not in comparison.render("latex")
    assert "details of each score" in comparison.render("latex", all=True)


def test_scores_of_the_same_name_are_called_by_their_paths() -> None:
    both = [
        score(*counted(HAND), metrics="levels,exact", resample_by="document") for HAND in (HAND_A, HAND_B)
    ]

    assert {"exact F1", "exact F1 (level 1)"} <= {*compare(*both).shown.values()}


@pytest.mark.parametrize(
    "runs",
    [
        [[["B-PER", "O"]] * 4, [["B-PER", "O"]] * 2 + [["O", "O"]] * 2],
        [[[(0, 1, "PER")]] * 4, [[(0, 1, "PER")]] * 2 + [[]] * 2],
        [[[[0, 1, "PER"]]] * 4, [[[0, 1, "PER"]]] * 2 + [[]] * 2],
    ],
    ids=["tags", "spans", "lists as spans"],
)
def test_runs_of_a_system_may_be_lists_in_memory(runs: list[Any]) -> None:
    gold = runs[0]

    compared = compare(gold, {"base": runs, "large": [gold, gold]}, metrics="exact", scores=["recall"])

    assert [(each["system"], each["runs"], each["value"]) for each in compared.rows() if "runs" in each][
        :2
    ] == [
        ("base", 2, 0.75),
        ("large", 2, 1.0),
    ]


# The page

HOSTILE = "<script>alert(1)</script>"


def compared(metric: str = "exact") -> Comparison:
    """An old and a hostile system, which misses less; so do the documents and a label have hostile names."""
    gold = [
        Document(
            f"d{n}{HOSTILE}",
            {"x": [Span(2 * k, 2 * k + 1, HOSTILE if k else "B") for k in range(4)]},
            tokens=TEXT,
        )
        for n in range(12)
    ]
    systems = [
        [replace(each, layers={"x": each.layers["x"][n < wrong :]}) for n, each in enumerate(gold)]
        for wrong in (9, 2)
    ]
    results = [score(gold, system, metrics=metric, resample_by="document") for system in systems]
    return compare(*results, names=["old", HOSTILE])


def test_the_page_has_values_differences_labels_and_units_and_no_text_is_markup() -> None:
    text = page(compared())

    assert "is better than old by" in text
    assert "F1 by label" in text
    assert "Units that differ most" in text
    assert text.count('<span class="dots" role="img"') == 2 * (1 + 3 + 2)  # F1, all rates, F1 of two labels
    assert len({*re.findall(r"\bd\d+&lt;", text)}) == 7
    assert text.count("<script") == 2  # the data and the script of the page
    assert "https:" not in text


def test_the_page_has_f1_of_the_types_of_gate() -> None:
    assert [table.title for table in compared("gate").drawn_tables()].count("F1 by label") == 1


@pytest.mark.usefixtures("saved")
def test_the_command_writes_the_page() -> None:
    assert main(["compare", "a.clueval", "b.clueval", "-o", "c.html", "-o", "c.json", "--lang", "de"]) == 0
    assert json.loads(Path("c.json").read_text(encoding="utf-8"))["systems"] == ["a", "b"]
    assert "<title>a und b</title>" in Path("c.html").read_text(encoding="utf-8")
    assert main(["compare", "a.clueval", "b.clueval", "-o", "c.html", "--format", "json"]) == 2


def test_units_differ_at_a_threshold_by_the_counts_behind_it() -> None:
    def documents(spans: Callable[[int], list[Span]]) -> list[Document]:
        return [Document(f"d{n}", {"label": spans(n)}, tokens=["w"] * 10) for n in range(10)]

    gold = documents(lambda n: [Span(0, 1, "A"), Span(4, 5, "A")])
    a = documents(lambda n: [Span(0, 1, "A", features={"s": 0.9})])
    others = [Span(6, 7, "A", features={"s": 0.1})]
    b = documents(lambda n: [Span(0, 1 if n else 2, "A", features={"s": 0.9}), *others])
    path = "gate.label.thresholds.0.9.precision_strict"
    for thresholds in ("all", "11"):
        metric = f"gate(score_feature=s,thresholds={thresholds})"
        result = compare(gold, {"a": a, "b": b}, metrics=metric, scores=[path])
        (against,) = result.to_dict()["scores"][0]["against_baseline"]

        assert against["units_that_differ"] == 1
        assert against["low"] is None
