"""The errors of two systems: each state is counted as the scores and `clueval.diff` count it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from browser import Browser, in_browser, select
from clueval.studies.annotators.curation import curate
from hypothesis import given
from hypothesis import strategies as st
from strategies import at_most, flat_spans

from clueval.cli import main
from clueval.core.span import Span
from clueval.findings.choice import SIDES, Choice, findings
from clueval.findings.decisions import Decision, PlaceDecisions
from clueval.findings.drawing import drawn
from clueval.findings.places import places
from clueval.findings.stream import errors
from clueval.findings.systems import CHANGES, shared_places, shared_states
from clueval.findings.table import FINDING_KINDS
from clueval.second.transforms.options import Preparing
from clueval.spans.document import Document
from clueval.spans.match_classes import LEVELS
from clueval.studies.diff import diff
from clueval.transforms.of_options import transforms_of

SAMPLE = Path(__file__).parents[2] / "clueval" / "samples" / "german"
TOKENS = tuple(f"w{n}" for n in range(14))
spans = flat_spans(("x",), zero_length=True)
choices = st.builds(
    Choice, level=st.sampled_from(LEVELS), labelled=st.sampled_from([None, "x"]), merge=st.booleans()
)


def documents(*sides: list[Span]) -> tuple[Document, Document, Document]:
    gold, one, two = (Document("d", {"x": side}, tokens=TOKENS) for side in sides)
    return gold, one, two


@given(spans, spans, spans, choices)
@at_most(100)
def test_states_add_up_to_the_errors_of_each_system(
    gold: list[Span], one: list[Span], two: list[Span], choice: Choice
) -> None:
    group = documents(gold, one, two)
    found = list(shared_places([group], choice, shared_states("A", "B")))

    counted = Counter((error.finding.side, error.state) for place in found for error in place.errors)

    for system, only in zip(group[1:], ("only A", "only B"), strict=True):
        expected = Counter(each.side for each in findings(group[0], system, choice))
        assert {side: counted[side, "both"] + counted[side, only] for side in SIDES} == {
            side: expected[side] for side in SIDES
        }


@given(spans, spans, spans, choices)
@at_most(100)
def test_changes_are_those_that_diff_counts(
    gold: list[Span], one: list[Span], two: list[Span], choice: Choice
) -> None:
    group = documents(gold, one, two)
    found = shared_places([group], choice, CHANGES)

    counted = Counter((error.finding.side, error.state) for place in found for error in place.errors)

    expected = diff(*([each] for each in group), choice).counts
    assert counted == Counter({(side, state): n for side in expected for state, n in expected[side].items()})


@given(spans, spans, spans)
@at_most(40)
def test_changed_spans_are_those_that_diff_counts(gold: list[Span], one: list[Span], two: list[Span]) -> None:
    preparing = Preparing(untyped=True)
    group = documents(gold, one, two)
    found = shared_places([group], Choice(), CHANGES, transforms_of(preparing))

    counted = Counter((error.finding.side, error.state) for place in found for error in place.errors)

    expected = diff(*([each] for each in group), preparing=preparing).counts
    assert counted == Counter({(side, state): n for side in expected for state, n in expected[side].items()})


def test_gold_row_has_the_alternatives_of_both_systems(tmp_path: Path) -> None:
    table = tmp_path / "alternatives.tsv"
    table.write_text(
        "document\tstart\tend_exclusive\tx\tof_start\tof_end_exclusive\nd\t1\t3\tA\t0\t3\n", encoding="utf-8"
    )
    group = documents([Span(0, 3, "A")], [Span(0, 2, "A")], [Span(1, 3, "A")])
    prepared = transforms_of(Preparing(alternatives=table))

    (place,) = shared_places([group], Choice(1), shared_states("A", "B"), prepared)

    assert sorted((row, span.start, span.end) for row, span in place.spans) == [
        (0, 0, 3),
        (0, 1, 3),
        (1, 0, 2),
        (2, 1, 3),
    ]


def test_drawing_has_the_spans_of_a_system_that_is_right() -> None:
    group = documents([Span(1, 3, "PER")], [Span(1, 2, "PER")], [Span(1, 3, "PER")])

    (place,) = shared_places([group], Choice(1), shared_states("A", "B"))

    drawing = drawn(place)
    assert [(bar.row, bar.start, bar.end, bar.lane) for bar in drawing.bars] == [
        (0, 1, 2, 0),
        (2, 1, 2, 1),
        (1, 1, 1, 0),
    ]
    states = [(error.state, error.finding.side) for error in place.errors]
    assert states == [("only A", "predicted"), ("only A", "gold")]


def test_errors_of_two_systems_are_written_as_one_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("jinja2")
    gold, one = (str(SAMPLE / f"{side}.vrt") for side in SIDES)
    page = tmp_path / "page.html"

    assert main(["errors", gold, one, gold, "--layer", "entity=2", "--level", "1", "--html", str(page)]) == 0

    assert "errors: 0 both, 75 only A, 0 only B" in capsys.readouterr().err
    found = places(errors(gold, one, Choice(1), layers={"entity": 2}))
    assert page.read_text(encoding="utf-8").count('<li class="card"') == len(list(found))


@in_browser
def test_filters_of_two_systems_count_what_the_score_of_each_system_counts(
    browser: Browser, tmp_path: Path
) -> None:
    gold, one = (SAMPLE / f"{side}.vrt" for side in SIDES)
    sentences = zip(*(path.read_text(encoding="utf-8").split("</s>") for path in (gold, one)), strict=True)
    two = tmp_path / "two.vrt"
    two.write_text("</s>".join(pair[n % 3 > 0] for n, pair in enumerate(sentences)), encoding="utf-8")
    page, options = tmp_path / "page.html", ["--layer", "entity=2", "--labelled", "entity", "--level", "1"]
    choice = Choice(1, "entity")
    assert main(["errors", str(two), str(gold), str(one), *options, "--html", str(page), "-q"]) == 0

    browser.open(page)

    for system, path in (("A", gold), ("B", one)):
        counts = Counter((each.side, each.kind) for each in errors(two, path, choice, layers={"entity": 2}))
        select(browser, "f-system", system)
        for side in SIDES:
            select(browser, "f-side", side)
            for kind in FINDING_KINDS:
                select(browser, "f-class", kind)
                said = browser.run("document.querySelector('#count b').textContent")
                assert said.split(", ")[1].split()[0] == str(counts[side, kind])
            select(browser, "f-class", "")
    assert browser.complaints == []


@in_browser
def test_hostile_text_labels_and_names_are_shown_as_text(browser: Browser, tmp_path: Path) -> None:
    tokens = [
        "<script>window.broken=1</script>",
        "</script><img/src=x/onerror=window.broken=1>",
        "\u202eevil",
    ]
    sides = {"gold": "B-<b>x", "<img src=x onerror=window.broken=2>": "O", "b'\"&": "B-{{7*7}}"}
    for name, tag in sides.items():
        lines = "".join(f"{token}\t{tag}\n\n" for token in tokens)
        (tmp_path / f"{name}.conll").write_text(lines, encoding="utf-8")
    paths = [str(tmp_path / f"{name}.conll") for name in sides]
    page = tmp_path / "page.html"
    assert main(["errors", *paths, "--labelled", "label", "--html", str(page), "-q"]) == 0

    browser.open(page, width=390)

    assert browser.complaints == []
    assert browser.run("typeof window.broken") == "undefined"
    assert browser.run("document.querySelectorAll('img, b b, .sentence script').length") == 0
    texts = browser.run("[...document.querySelectorAll('.card .sentence')].map((each) => each.textContent)")
    assert [tokens[0] in texts[0], tokens[1] in texts[1], "U+202E" in texts[2]] == [True, True, True]
    assert browser.run("document.documentElement.scrollWidth") <= 390


def test_label_map_is_applied_to_both_systems(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("jinja2")
    for name, tag in (("gold", "B-PER"), ("one", "B-person"), ("two", "O")):
        (tmp_path / f"{name}.conll").write_text(f"Anna\t{tag}\n", encoding="utf-8")
    paths = [str(tmp_path / f"{name}.conll") for name in ("gold", "one", "two")]
    names = tmp_path / "map.tsv"
    names.write_text("person\tPER\n", encoding="utf-8")

    changed = ["--predicted-map", str(names), "--html", str(tmp_path / "page.html")]
    assert main(["errors", *paths, *changed]) == 0

    assert "errors: 0 both, 0 only A, 1 only B" in capsys.readouterr().err


def test_systems_with_the_same_file_name_are_named_by_their_paths(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.conll").write_text("John\tB-PER\n", encoding="utf-8")
    one, two, page = tmp_path / "one" / "a.conll", tmp_path / "two" / "a.conll", tmp_path / "page.html"

    assert main(["errors", str(one), str(one), str(two), "--html", str(page), "-q"]) == 0

    text = page.read_text(encoding="utf-8")
    assert f"<bdi>{one}</bdi>" in text
    assert f"<bdi>{two}</bdi>" in text


wide = flat_spans(("x",), zero_length=False)


@given(wide, wide, wide, st.lists(st.sampled_from(["gold", "old", "new", "none", "unclear"]), min_size=30))
@at_most(60)
def test_decisions_about_errors_of_two_systems_are_those_of_three_annotators(
    gold: list[Span], one: list[Span], two: list[Span], choices: list[str]
) -> None:
    """`clueval curate gold=G old=A new=B --decisions` reads what the page exports."""
    group = documents(gold, one, two)
    names = ("gold", "old", "new")
    found = list(zip(shared_places([group], Choice(), CHANGES), choices, strict=False))
    decisions = PlaceDecisions(
        Decision(place.document, place.layer, place.start, place.end + 1, place.fingerprint, choice)
        for place, choice in found
    )

    given_by_name = {name: [each] for name, each in zip(names, group, strict=True)}
    (curated,) = curate(given_by_name, decisions=decisions)

    assert decisions.number("decided") == len(found)
    kept = curated.document.layers["x"]
    for place, choice in found:
        if choice in names:
            expected, actual = (
                {
                    (span.start, span.end, span.label)
                    for span in of_side
                    if span.start <= place.end and span.end > place.start
                }
                for of_side in (group[names.index(choice)].layers["x"], kept)
            )
            assert actual == expected
