"""Errors with decisions: in every form, whose they are, and gold corrected."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import at_most

from clueval import CluevalError, CluevalWarning, Document, Span, curate, errors, score
from clueval.cli import main
from clueval.findings.choice import Choice
from clueval.findings.decisions import ERROR_CHOICES, Decision, PlaceDecisions, read_decisions
from clueval.findings.places import places
from clueval.studies.corrections import Corrections
from clueval.transforms.group import Group

Spans = list[tuple[int, int, str]]

TOKENS = [f"w{n}" for n in range(20)]


def document(*spans: tuple[int, int, str]) -> Document:
    return Document("d", {"label": [Span(*span) for span in spans]}, tokens=TOKENS)


GOLD = document((0, 2, "PER"), (5, 6, "LOC"), (8, 9, "ORG"), (12, 13, "PER"))
PREDICTED = document((0, 3, "PER"), (5, 6, "ORG"), (10, 11, "LOC"), (12, 13, "PER"))


def decided(gold: Document, predicted: Document, *choices: str) -> list[dict[str, Any]]:
    """The lines of a file with these choices for the places of two documents."""
    return [
        {
            "document": place.document,
            "layer": place.layer,
            "start": place.start,
            "end_inclusive": place.end,
            "fingerprint": place.fingerprint,
            "choice": choice,
            "reviewer": "Ada",
            "comment": "=1",
        }
        for place, choice in zip(places(errors([gold], [predicted])), choices, strict=False)
    ]


def written(path: Path, *choices: str) -> Path:
    path.write_text(json.dumps(decided(GOLD, PREDICTED, *choices)))
    return path


def spans_of(given: Document) -> Spans:
    return [(span.start, span.end, span.label) for spans in given.layers.values() for span in spans]


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        (["predicted"] * 4, [(0, 3, "PER"), (5, 6, "ORG"), (10, 11, "LOC"), (12, 13, "PER")]),
        (["gold"] * 4, [(0, 2, "PER"), (5, 6, "LOC"), (8, 9, "ORG"), (12, 13, "PER")]),
        (["none"] * 4, [(12, 13, "PER")]),
        (
            ["unclear", "both", "", "both"],
            [(0, 2, "PER"), (5, 6, "LOC"), (5, 6, "ORG"), (8, 9, "ORG"), (10, 11, "LOC"), (12, 13, "PER")],
        ),
    ],
)
def test_gold_corrected_has_what_was_decided(tmp_path: Path, choices: list[str], expected: Spans) -> None:
    found = errors([GOLD], [PREDICTED], decisions=written(tmp_path / "d.json", *choices))
    (corrected,) = found.corrected()

    assert spans_of(corrected) == expected
    assert corrected.tokens == TOKENS


def test_findings_have_the_decisions_about_their_places(tmp_path: Path) -> None:
    found = errors([GOLD], [PREDICTED], decisions=written(tmp_path / "d.json", "predicted", "gold"))

    assert [(each.start, each.decision and each.decision.holds) for each in found] == [
        (0, "predicted"),
        (0, "predicted"),
        (5, "gold"),
        (5, "gold"),
        (8, ""),
        (10, ""),
    ]
    rows = found.rows()
    assert [rows[0][name] for name in ("choice", "reviewer", "comment")] == ["predicted", "Ada", "=1"]
    assert "choice" not in errors([GOLD], [PREDICTED]).rows()[0]
    assert "decision: predicted, Ada, =1" in found.render("text")


def test_stale_decisions_are_shown_and_not_applied(tmp_path: Path) -> None:
    path = written(tmp_path / "d.json", "predicted")
    changed = document((0, 2, "LOC"), *spans_of(GOLD)[1:])
    found = errors([changed], [PREDICTED], decisions=path)

    with pytest.warns(CluevalWarning, match="decisions: 0 used, 1 stale, 0 lost"):
        first = next(iter(list(found)))
    assert first.decision is not None
    assert (first.decision.holds, first.decision.shown) == ("", "stale: predicted")
    assert spans_of(next(found.corrected())) == spans_of(changed)


span_lists = st.lists(
    st.tuples(st.integers(0, 15), st.integers(1, 4), st.sampled_from("AB")), max_size=6
).map(lambda given: sorted({(start, start + n, label) for start, n, label in given}))


@given(span_lists, span_lists, st.lists(st.sampled_from([*ERROR_CHOICES, ""]), min_size=12, max_size=12))
@at_most(20)
def test_the_scores_with_gold_corrected_are_those_of_the_corrected_documents(
    own: Spans, other: Spans, choices: list[str]
) -> None:
    gold, predicted = document(*own), document(*other)
    lines = [
        Decision(
            line["document"],
            line["layer"],
            line["start"],
            line["end_inclusive"] + 1,
            line["fingerprint"],
            line["choice"],
        )
        for line in decided(gold, predicted, *choices)
    ]
    kept = list[Document]()
    corrections = Corrections(Choice(), PlaceDecisions(lines), kept.extend)
    corrections.see(Group(gold, predicted))
    before = score([gold], [predicted], metrics="exact")
    *_, table = corrections.tables(before.metrics)

    after = score(kept, [predicted], metrics="exact")
    micro = after.metrics["exact"]["label"]["micro"]
    assert [cell.value for cell in table.rows[1][1:4]] == [micro["precision"], micro["recall"], micro["f1"]]  # type: ignore[union-attr]
    assert sum(corrections.errors.values()) == len(list(errors([gold], [predicted])))
    if choices == ["predicted"] * 12:
        assert micro["f1"] == 1 or not other


@given(span_lists, span_lists)
@at_most(20)
def test_gold_corrected_by_the_prediction_everywhere_is_the_prediction(own: Spans, other: Spans) -> None:
    gold, predicted = document(*own), document(*other)
    lines = [
        Decision(
            "d", each["layer"], each["start"], each["end_inclusive"] + 1, each["fingerprint"], "predicted"
        )
        for each in decided(gold, predicted, *["predicted"] * 40)
    ]
    kept = list[Document]()
    Corrections(Choice(), PlaceDecisions(lines), kept.extend).see(Group(gold, predicted))

    assert spans_of(kept[0]) == sorted(other, key=lambda span: span[:2]) or set(spans_of(kept[0])) == set(
        other
    )


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, side in (("gold", GOLD), ("predicted", PREDICTED)):
        tags = ["O"] * len(TOKENS)
        for start, end, label in spans_of(side):
            tags[start:end] = [f"B-{label}", *[f"I-{label}"] * (end - start - 1)]
        lines = "\n".join(f"{token}\t{tag}" for token, tag in zip(TOKENS, tags, strict=True))
        (tmp_path / f"{name}.conll").write_text(f"# newdoc id = d\n{lines}\n\n")
    return tmp_path


def test_errors_writes_gold_corrected_in_its_format(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(files / "d.json", "predicted", "both", "none", "gold")
    arguments = ["errors", "gold.conll", "predicted.conll", "--decisions", "d.json"]

    assert main([*arguments, "--corrected", "new.conll", "--tsv", "e.tsv"]) == 0

    remarks = capsys.readouterr().err
    assert "decisions: 4 used, 0 stale, 0 lost, 0 in conflict\n" in remarks
    assert "not applied: d 5-5 both: spans of gold would overlap\n" in remarks
    assert "errors: 1 the system's (gold is right), 2 gold's (the prediction is right)" in remarks
    assert (
        "label: with gold corrected: P 50.00, R 66.67, F1 57.14 (as it is: P 25.00, R 25.00, F1 25.00)"
        in remarks
    )
    assert main(["convert", "new.conll", "--to", "spans"]) == 0
    table = capsys.readouterr().out.splitlines()[1:]
    assert table == ["d\t0\t2\tPER", "d\t5\t5\tLOC", "d\t12\t12\tPER"]
    first = (files / "e.tsv").read_text(encoding="utf-8").splitlines()[:2]
    assert first[0].startswith("comment\tcontext\tchoice\treviewer\tside")
    assert first[1].startswith("'=1\t")


def test_errors_says_in_which_format_gold_that_is_only_read_is_written(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(files / "d.json", "gold")
    for name in ("gold", "predicted"):
        tags = (files / f"{name}.conll").read_text(encoding="utf-8").split("\n", 1)[1].strip()
        (files / f"{name}.vrt").write_text(f'<text id="d">\n{tags}\n</text>\n', encoding="utf-8")
    arguments = ["errors", "gold.vrt", "predicted.vrt", "--decisions", "d.json"]

    assert main([*arguments, "--corrected", "new.vrt"]) == 0

    assert (
        "the format vrt is only read: the corrected gold is written in the format spans\n"
        in capsys.readouterr().err
    )
    assert (
        (files / "new.vrt").read_text(encoding="utf-8").startswith("document\tstart\tend_inclusive\tlabel\n")
    )


def test_errors_says_that_nothing_of_another_corpus_was_applied(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [line | {"document": "other"} for line in decided(GOLD, PREDICTED, *["none"] * 4)]
    (files / "d.json").write_text(json.dumps(lines))

    arguments = ["errors", "gold.conll", "predicted.conll", "--decisions", "d.json", "--corrected", "n.conll"]
    assert main(arguments) == 0
    assert "decisions: 0 used, 0 stale, 4 lost, 0 in conflict\n" in capsys.readouterr().err
    both = [
        list(main(["convert", name, "--to", "spans"]) or capsys.readouterr().out)
        for name in ("gold.conll", "n.conll")
    ]
    assert both[0] == both[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--corrected", "n.conll"], "--corrected needs --decisions"),
        (["--decisions", "d.json", "--merge"], "--merge does not apply to --decisions"),
        (["--decisions", "d.json", "--limit", "1"], "--limit does not apply to --decisions"),
        (["--decisions", "d.json", "--metric", "noisy"], "--decisions does not apply to --metric noisy"),
        (["--decisions", "d.json", "--corrected", "g.xlsx"], "g.xlsx: no format is written as .xlsx"),
        (["--decisions", "d.json", "--corrected", "gold.conll"], "is an input and cannot be overwritten"),
        (["--decisions", "d.json", "--corrected", "d.json"], "is an input and cannot be overwritten"),
        (["--decisions", "older.tsv"], "the table names spans to keep, not decisions about errors"),
        (["--decisions", "wrong.tsv"], "wrong.tsv:2: the choice 'anna' is unknown"),
        (
            ["--decisions", "two.tsv", "--corrected", "n.conll"],
            "chosen differently at 1 place: d 0-2: gold (A), none (B)",
        ),
    ],
)
def test_errors_refuses_in_one_line(
    files: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    written(files / "d.json", "gold")
    (place, *_) = places(errors([GOLD], [PREDICTED]))
    header = "document\tstart\tend_inclusive\tfingerprint\tchoice\treviewer\n"
    line = f"d\t0\t2\t{place.fingerprint}\t"
    (files / "two.tsv").write_text(f"{header}{line}gold\tA\n{line}none\tB\n")
    (files / "wrong.tsv").write_text(f"{header}{line}anna\tA\n")
    (files / "older.tsv").write_text("document\tstart\tend_inclusive\tlabel\nd\t0\t1\tPER\n")

    assert main(["errors", "gold.conll", "predicted.conll", *arguments]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (files / "n.conll").exists()


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "options",
    [
        "",
        "--level 2",
        "--level 1 --labelled one",
        "--level 4 --unlabelled",
        "--side gold",
        "--reason missed",
        "--where one=PER",
        "--window 0",
    ],
)
def test_errors_of_every_choice_take_decisions(
    files: Path, capsys: pytest.CaptureFixture[str], options: str
) -> None:
    for name in ("gold", "predicted"):
        lines = (files / f"{name}.conll").read_text().splitlines()
        (files / f"{name}.conll").write_text(
            "\n".join(f"{line}\t{line.split()[-1]}" if "\t" in line else line for line in lines) + "\n"
        )
    layers = ["--layer", "one=2", "--layer", "two=3", *options.split()]
    assert main(["errors", "gold.conll", "predicted.conll", *layers, "--html", "page.html"]) == 0
    page = (files / "page.html").read_text(encoding="utf-8")
    data = page.split('id="data">')[1].split("</script>")[0].strip().splitlines()
    places = [json.loads(line) for line in data if line.startswith('["p"')]
    rows = [
        {
            "document": "d",
            "layer": layer,
            "start": start,
            "end_inclusive": end,
            "fingerprint": spans,
            "choice": "predicted",
        }
        for _, _, start, end, *_, layer, spans in places
    ]
    (files / "d.json").write_text(json.dumps(rows))
    capsys.readouterr()

    arguments = ["--decisions", "d.json", "--corrected", "new.tsv", "--html", "again.html", "--tsv", "e.tsv"]
    assert main(["errors", "gold.conll", "predicted.conll", *layers, *arguments]) == 0
    assert f"decisions: {len(places)} used, 0 stale, 0 lost, 0 in conflict\n" in capsys.readouterr().err


def test_corrected_needs_decisions() -> None:
    with pytest.raises(CluevalError, match="no decisions were given"):
        list(errors([GOLD], [PREDICTED]).corrected())


def test_curate_and_gold_corrected_agree_where_all_places_are_decided(tmp_path: Path) -> None:
    path = written(tmp_path / "d.json", "predicted", "gold", "none", "predicted")
    (corrected,) = errors([GOLD], [PREDICTED], decisions=path).corrected()
    (curated,) = curate({"gold": [GOLD], "predicted": [PREDICTED]}, decisions=path)

    assert spans_of(curated.document) == spans_of(corrected)


def test_errors_in_python_write_gold_corrected_as_the_command(files: Path) -> None:
    written(files / "d.json", "predicted", "gold", "none", "gold")
    found = errors("gold.conll", "predicted.conll", decisions="d.json")
    found.write_corrected("new.conll")
    in_memory = errors([GOLD], [PREDICTED], decisions="d.json")
    in_memory.write_corrected(files / "new.tsv")

    assert (
        main(["errors", "gold.conll", "predicted.conll", "--decisions", "d.json", "--corrected", "n.conll"])
        == 0
    )
    assert (files / "n.conll").read_text() == (files / "new.conll").read_text()
    assert (files / "new.tsv").read_text().splitlines()[1:] == [
        "d\t0\t2\tPER",
        "d\t5\t5\tLOC",
        "d\t12\t12\tPER",
    ]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("g.xlsx", "g.xlsx: no format is written as .xlsx"),
        ("gold.conll", "is an input and cannot be overwritten"),
        ("predicted.conll", "is an input and cannot be overwritten"),
        ("d.json", "is an input and cannot be overwritten"),
        ("no/g.conll", "no"),
    ],
)
def test_errors_in_python_refuse_to_write_gold_corrected_there(files: Path, path: str, message: str) -> None:
    written(files / "d.json", "predicted")
    before = (files / "gold.conll").read_text()

    with pytest.raises(CluevalError, match=message):
        errors("gold.conll", "predicted.conll", decisions="d.json").write_corrected(path)
    assert (files / "gold.conll").read_text() == before
    with pytest.raises(CluevalError, match="write_corrected"):
        errors("gold.conll", "predicted.conll", decisions="d.json", corrected=path)  # type: ignore[call-arg]
    with pytest.raises(
        CluevalError, match=r"the result is a table of spans \(end its name in .tsv or .conll\)"
    ):
        errors([GOLD], [PREDICTED], decisions=str(files / "d.json")).write_corrected("g.json")


def in_layers(**layers: Spans) -> Document:
    spans = {name: [Span(*span) for span in given] for name, given in layers.items()}
    return Document("d", spans, tokens=TOKENS)


NESTED = (
    in_layers(label=[(0, 5, "ORG"), (3, 5, "LOC"), (8, 9, "PER")]),
    in_layers(label=[(0, 5, "ORG"), (4, 5, "LOC"), (8, 10, "PER")]),
)
"""At the first place, only the inner spans differ, so ORG of gold is not part of it."""

IN_LAYERS = (
    in_layers(label=[(0, 2, "PER")], risk=[(1, 3, "high")]),
    in_layers(label=[(0, 3, "PER")], risk=[(1, 3, "low")]),
)
"""One place of two layers."""


@pytest.mark.parametrize(
    ("sides", "choices", "expected"),
    [
        (NESTED, ["predicted"], {"label": [(0, 5, "ORG"), (4, 5, "LOC")]}),
        (NESTED, ["gold", "predicted"], {"label": [(0, 5, "ORG"), (3, 5, "LOC"), (8, 10, "PER")]}),
        (NESTED, ["both"], {"label": [(0, 5, "ORG"), (3, 5, "LOC"), (4, 5, "LOC")]}),
        (NESTED, ["none", "unclear"], {"label": [(0, 5, "ORG")]}),
        (IN_LAYERS, ["predicted"], {"label": [(0, 3, "PER")], "risk": [(1, 3, "low")]}),
        (IN_LAYERS, ["gold"], {"label": [(0, 2, "PER")], "risk": [(1, 3, "high")]}),
        (IN_LAYERS, ["none"], {"label": [], "risk": []}),
        (IN_LAYERS, [""], {"label": [], "risk": []}),
    ],
)
def test_curate_keeps_what_was_decided_about_errors_nested_and_of_several_layers(
    tmp_path: Path, sides: tuple[Document, Document], choices: list[str], expected: dict[str, Spans]
) -> None:
    (tmp_path / "d.json").write_text(json.dumps(decided(*sides, *choices)))
    decisions = read_decisions(tmp_path / "d.json")

    for names in (("gold", "predicted"), ("predicted", "gold")):
        given = {name: [sides[name == "predicted"]] for name in names}
        (curated,) = curate(given, decisions=decisions)

        layers = curated.document.layers
        assert {
            name: [(span.start, span.end, span.label) for span in layers[name]] for name in expected
        } == expected
        used = sum(choice != "" for choice in choices)
        assert decisions.words() == f"decisions: {used} used, 0 stale, 0 lost, 0 in conflict"


@given(span_lists, span_lists, st.lists(st.sampled_from(["gold", "predicted", "both", "none"]), min_size=40))
@at_most(60)
def test_curate_of_places_that_are_all_decided_is_gold_corrected(
    own: Spans, other: Spans, choices: list[str]
) -> None:
    gold, predicted = document(*own), document(*other)
    lines = decided(gold, predicted, *choices)
    for line in lines:
        line["end"] = line.pop("end_inclusive") + 1
    decisions = PlaceDecisions(Decision(**line) for line in lines)

    (corrected,) = errors([gold], [predicted], decisions=decisions).corrected()
    (curated,) = curate({"gold": [gold], "predicted": [predicted]}, decisions=decisions)

    assert set(spans_of(curated.document)) == set(spans_of(corrected))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "4 used, 0 stale, 1 lost, 0 in conflict"),
        ({"sides": "gold"}, "3 used, 0 stale, 1 lost, 0 in conflict, 1 not listed"),
        ({"reasons": "spurious"}, "1 used, 0 stale, 1 lost, 0 in conflict, 3 not listed"),
        ({"kinds": "partial", "sides": "gold"}, "0 used, 0 stale, 1 lost, 0 in conflict, 4 not listed"),
        ({"where": "label=LOC"}, "2 used, 0 stale, 0 lost, 0 in conflict, 3 not listed"),
    ],
)
def test_decisions_about_places_that_filters_leave_out_are_not_lost(
    files: Path, capsys: pytest.CaptureFixture[str], options: dict[str, Any], words: str
) -> None:
    lines = decided(GOLD, PREDICTED, *["gold"] * 4)
    (files / "d.json").write_text(json.dumps([*lines, lines[0] | {"document": "other"}]))
    flags = {"sides": "--side", "reasons": "--reason", "kinds": "--class", "where": "--where"}
    arguments = [part for name, value in options.items() for part in (flags[name], value)]

    assert main(["errors", "gold.conll", "predicted.conll", "--decisions", "d.json", *arguments]) == 0
    assert f"decisions: {words}\n" in capsys.readouterr().err
    decisions = read_decisions("d.json")
    found = list(errors("gold.conll", "predicted.conll", decisions=decisions, **options))
    assert decisions.words() == f"decisions: {words}"
    plain = list(errors("gold.conll", "predicted.conll", **options))
    assert [replace(each, decision=None) for each in found] == plain
