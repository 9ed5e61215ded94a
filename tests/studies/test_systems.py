"""Two systems on the same gold, and two runs of one: errors in both or one; new, fixed, changed and still there."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from routes import SCHEMES, Text, corpora, vrt
from strategies import flat_spans

from clueval import CluevalError, Document, Span, diff, errors, read
from clueval.cli import main
from clueval.core.document import Pair
from clueval.reports.place import Place, fingerprint
from clueval.studies.errors.two_systems import Diff, TwoSystems
from tests.cases import spans
from tests.reports.views import page

Capture = pytest.CaptureFixture[str]
SAMPLES = Path(__file__).parents[2] / "clueval" / "samples" / "german"
GOLD, PREDICTED = SAMPLES / "gold.vrt", SAMPLES / "predicted.vrt"
OPTIONS: dict[str, Any] = {"layers": {"entity": 2}, "token_id": 4}
TEXT = ["w"] * 14
ROWS = {name: {"id": name, "text": f"{name} Ada", "label": [[2, 5, "PER"]]} for name in "abc"}
"""Rows of doccano by their ids."""


def document(spans: list[Span]) -> list[Document]:
    return [Document("d", {"label": spans}, tokens=TEXT)]


def rows_of(found: Any) -> list[Any]:
    return [row for place in found for row in place.findings]


def states(found: Any) -> list[tuple[str, str, int, int]]:
    return [(row["state"], row["side"], row["start"], row["end_inclusive"] + 1) for row in rows_of(found)]


def by_side(found: Any) -> list[tuple[str, str, int, int]]:
    return sorted(states(found), key=lambda each: each[1])


def answers_of(folder: Path, *answers: str) -> list[Path]:
    """Return the file of gold, which has Ada and Bob, and files with an answer and with one that is no JSON."""
    rows = [[{"id": "x", "text": "Ada met Bob.", "label": [[0, 3, "PER"], [8, 11, "PER"]]}]]
    rows[0].append({"id": "y", "text": "Ulm", "label": []})
    rows += [[{"id": "x", "response": answer}, {"id": "y", "response": "no"}] for answer in answers]
    paths = [folder / f"{name}.jsonl" for name in ("gold", "old", "new")]
    for path, of_file in zip(paths, rows, strict=False):
        path.write_text("\n".join(map(json.dumps, of_file)), encoding="utf-8")
    return paths[: len(rows)]


def test_mentions_without_a_position_are_errors_like_others(tmp_path: Path, capsys: Capture) -> None:
    files = answers_of(tmp_path, '{"PER": ["Ada", "Eve", "Eve", "Zoe"]}', '{"PER": ["Kim", "Eve", "Ada"]}')
    rows = [[json.loads(line) for line in path.read_text("utf-8").splitlines()] for path in files]
    for sides in (files, rows):
        found = diff(*sides, input="mentions", unparsable="empty")

        assert found.counts()["predicted"] == {"new": 1, "fixed": 2, "still": 1}
        assert {(row["state"], row["text"]) for row in rows_of(found) if row["start"] is None} == {
            *(("new", "Kim"), ("still", "Eve"), ("fixed", "Eve"), ("fixed", "Zoe"))
        }
        for system, result in zip(sides[1:], found.results, strict=True):
            counts, micro = errors(sides[0], system, unparsable="empty").counts(), result.metrics["exact"]
            wrong = micro["label"]["micro"]
            assert sum(counts["gold"].values()) == wrong["gold"] - wrong["tp_gold"] == 1
            assert sum(counts["predicted"].values()) == wrong["predicted"] - wrong["tp_predicted"]
    command = ["diff", *map(str, files), "--unparsable", "empty", "--fail-on-new", "--all"]
    assert main(command) == 1
    shown = capsys.readouterr().out
    assert "new PER “Kim” new: spurious no position in the gold text" in shown
    assert "old: 1 of 2 answers could not be read, new: 1 of 2 answers could not be read" in shown


def test_gold_is_never_corrected_by_a_mention_without_a_position(tmp_path: Path) -> None:
    gold, answers = answers_of(tmp_path, '{"PER": ["Ada", "Bob", "Eve"]}')
    (place,) = errors(gold, answers, unparsable="empty")
    decisions = tmp_path / "decisions.json"
    decisions.write_text(json.dumps([{**place.key, "choice": "predicted"}]), encoding="utf-8")
    assert isinstance(place, Place)
    assert place.impossible.keys() == {"predicted", "both"}

    *_, corrected = errors(gold, answers, unparsable="empty", decisions=decisions).tables()

    assert [row[-1] for row in corrected.rows] == [2, 2]


def test_rows_have_the_ids_of_tokens_as_those_of_one_system_have() -> None:
    def ids(found: Any) -> set[tuple[Any, ...]]:
        names = ("document", "side", "start", "first_token_id", "last_token_id")
        return {tuple(row[name] for name in names) for row in rows_of(found)}

    one = ids(errors(GOLD, PREDICTED, **OPTIONS))

    assert one
    assert all(first and last for *_, first, last in one)
    assert ids(diff(GOLD, PREDICTED, PREDICTED, **OPTIONS)) == one
    assert ids(errors(GOLD, PREDICTED, PREDICTED, **OPTIONS)) == one


def test_rows_have_the_spans_of_each_system_that_overlap_the_error() -> None:
    found = errors(document([Span(2, 4, "X")]), document([]), document([Span(2, 3, "Y"), Span(3, 5, "Z")]))
    names = [f"{system}_{cell}" for system in "AB" for cell in ("text", "label", "start", "end_inclusive")]

    nothing = ["", "", None, None]
    assert [(row["side"], [row[name] for name in names]) for row in rows_of(found)] == [
        ("predicted", [*nothing, "w", "Y", 2, 2]),
        ("gold", [*nothing, "w | w w", "Y | Z", 2, 4]),
        ("predicted", [*nothing, "w w", "Z", 3, 4]),
    ]


def test_each_state_by_hand() -> None:
    gold = [Span(0, 2, "A"), Span(3, 5, "A"), Span(6, 8, "A"), Span(9, 11, "A")]
    old = [Span(0, 1, "A"), Span(3, 5, "A"), Span(6, 7, "A"), Span(8, 9, "A")]
    new = [Span(0, 2, "A"), Span(3, 4, "A"), Span(6, 7, "A"), Span(9, 10, "A"), Span(10, 12, "A")]

    found = diff(document(gold), document(old), document(new), level=1)

    assert by_side(found) == [
        ("fixed", "gold", 0, 2),
        ("new", "gold", 3, 5),
        ("still", "gold", 6, 8),
        ("changed", "gold", 9, 11),  # missed, then covered by two spans
        ("fixed", "predicted", 0, 1),
        ("new", "predicted", 3, 4),
        ("still", "predicted", 6, 7),
        ("fixed", "predicted", 8, 9),
        ("new", "predicted", 9, 10),
        ("new", "predicted", 10, 12),
    ]
    assert found.counts() == {
        "gold": {"new": 1, "fixed": 1, "changed": 1, "still": 1},
        "predicted": {"new": 3, "fixed": 2, "still": 1},
    }
    assert found.to_dict()["classes"]["missed"] == {
        "exact": 1, "superset": 0, "tiling": 0, "overlap": 1, "missed": 1
    }  # fmt: skip
    assert found.to_dict()["reasons"]["missed"] == {
        "right": 0, "label": 0, "boundary": 1, "boundary+label": 0, "missed": 0
    }  # fmt: skip
    assert found.to_dict()["reasons"]["right"]["boundary"] == 1


def test_another_label_is_a_change() -> None:
    gold, old, new = (document([Span(0, 2, label)]) for label in "ABC")

    found = diff(gold, old, new, labelled="label")

    assert by_side(found)[0] == ("changed", "gold", 0, 2)
    assert Counter(row["state"] for row in rows_of(found) if row["side"] == "predicted") == {
        "fixed": 1,
        "new": 1,
    }


SPANS = flat_spans()


@given(
    SPANS,
    SPANS,
    SPANS,
    st.sampled_from([{}, {"unlabelled": True}, {"level": 1, "labelled": "label"}, {"level": 4}]),
)
def test_errors_of_both_runs_are_those_of_errors(
    gold: list[Span], old: list[Span], new: list[Span], choice: dict[str, Any]
) -> None:
    found = states(diff(document(gold), document(old), document(new), **choice))

    for run, states_of_run in ((old, ("fixed", "still", "changed")), (new, ("new", "still", "changed"))):
        expected = Counter(
            (row.side, row.start, row.end + 1)
            for row in rows_of(errors(document(gold), document(run), **choice))
        )
        assert expected == Counter(each[1:] for each in found if each[0] in states_of_run)


@given(SPANS, SPANS, SPANS)
def test_swapped_runs_swap_new_and_fixed(gold: list[Span], old: list[Span], new: list[Span]) -> None:
    there = diff(document(gold), document(old), document(new))
    back = diff(document(gold), document(new), document(old))
    swapped = {"new": "fixed", "fixed": "new"}

    assert Counter(states(there)) == Counter(
        (swapped.get(state, state), *place) for state, *place in states(back)
    )
    own, other = there.to_dict(), back.to_dict()
    for matrix in ("classes", "reasons"):
        for before, row in own[matrix].items():
            for after, number in row.items():
                assert other[matrix][after][before] == number


def test_a_run_against_itself_has_no_new_error() -> None:
    found = diff(GOLD, PREDICTED, PREDICTED, **OPTIONS)

    assert found.counts()["gold"] == {"new": 0, "fixed": 0, "changed": 0, "still": 38}
    assert found.new == 0


@pytest.mark.parametrize("pair_by", ["id", "content", "name"])
def test_documents_are_paired_as_in_errors(pair_by: str, tmp_path: Path, capsys: Capture) -> None:
    if pair_by == "name":
        paths = [tmp_path / side for side in ("gold", "old", "new")]
        for path, ending in zip(paths, ("jsonl", "json", "jsonl"), strict=True):
            path.mkdir()
            for name, row in ROWS.items():
                (path / f"{name}.{ending}").write_text(f"{json.dumps(row)}\n", encoding="utf-8")
    else:
        paths = [tmp_path / f"{side}.jsonl" for side in ("gold", "old", "new")]
        for path, names in zip(paths, ("abc", "cab", "bca"), strict=True):
            path.write_text("".join(f"{json.dumps(ROWS[name])}\n" for name in names), encoding="utf-8")
    gold, old, new = map(str, paths)

    assert list(errors(gold, old, pair_by=pair_by)) == list(diff(gold, old, new, pair_by=pair_by)) == []
    assert main(["diff", gold, old, new, "--pair-by", pair_by, "--fail-on-new"]) == 0
    assert main(["conventions", gold, new, "--pair-by", pair_by, "--format", "json"]) == 0
    assert f"paired:{pair_by}" in capsys.readouterr().out
    page = str(tmp_path / "page.html")
    assert main(["errors", gold, old, new, "--pair-by", pair_by, "-o", page]) == 0
    assert "errors: 0 both, 0 only A, 0 only B" in capsys.readouterr().err


def test_document_of_one_run_alone_is_an_error_that_names_it(tmp_path: Path) -> None:
    paths = [tmp_path / f"{side}.jsonl" for side in ("gold", "old", "new")]
    for path, names in zip(paths, ("abc", "cab", "ca"), strict=True):
        path.write_text("".join(f"{json.dumps(ROWS[name])}\n" for name in names), encoding="utf-8")

    with pytest.raises(CluevalError, match="cannot be paired by id: only gold has 'b'"):
        list(diff(*paths, pair_by="id"))


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("domain=x", "no document has domain=x .values found: Arbeitsrecht, Familienrecht"),
        ("entity=persn", "no span has entity=persn .values found: address, amount"),
        ("nation=x", "no layer and no document's metadata is called 'nation'"),
    ],
)
def test_filter_that_nothing_meets_is_an_error(where: str, message: str) -> None:
    with pytest.raises(CluevalError, match=message):
        list(diff(GOLD, PREDICTED, GOLD, where=where, **OPTIONS))
    with pytest.raises(CluevalError, match=message):
        list(errors(GOLD, PREDICTED, where=where, **OPTIONS))


@pytest.mark.parametrize(
    ("arguments", "code"), [([], 0), (["--fail-on-new"], 0), (["--side", "gold", "--fail-on-new"], 0)]
)
def test_the_command_ends_with_0_without_new_errors(arguments: list[str], code: int, capsys: Capture) -> None:
    given_ = ["diff", str(GOLD), str(PREDICTED), str(GOLD), "--layer", "entity=2", "--format", "json"]

    assert main([*given_, *arguments]) == code
    assert json.loads(capsys.readouterr().out)["counts"]["gold"]["fixed"] == 38


def test_the_command_ends_with_1_if_an_error_is_new(capsys: Capture) -> None:
    paths = [str(GOLD), str(GOLD), str(PREDICTED)]

    assert main(["diff", *paths, "--layer", "entity=2", "--fail-on-new"]) == 1
    told = capsys.readouterr()
    assert told.err == "clueval diff: 83 new errors\n"
    assert "errors: 83 new, 0 fixed" in told.out


@pytest.mark.parametrize(
    ("sides", "message"),
    [
        ((GOLD, PREDICTED, []), "gold is paths and predicted is in memory"),
        (([], [], GOLD), "gold is in memory and predicted is paths"),
        ((GOLD, PREDICTED, SAMPLES / "no.vrt"), "no such file"),
    ],
)
def test_sides_that_do_not_belong_together_are_refused(sides: tuple[Any, Any, Any], message: str) -> None:
    with pytest.raises(CluevalError, match=message):
        list(diff(*sides, layers={"entity": 2}))


def test_runs_of_another_text_are_refused() -> None:
    other = [Document("d", {"label": []}, tokens=["x"] * 14)]

    with pytest.raises(CluevalError, match="document 'd': gold has the token 'w' at position 0 where"):
        list(diff(document([]), document([]), other))


def test_classes_are_not_chosen() -> None:
    with pytest.raises(CluevalError, match="all classes"):
        diff([], [], [], kinds="missed")


def test_errors_of_noisy_texts_are_not_those_of_two_systems() -> None:
    for study in (diff, errors):
        with pytest.raises(CluevalError, match="cannot be compared span by span"):
            study([["B-PER"]], [["O"]], [["O"]], metric="noisy")


def test_lists_of_tags_are_compared_as_documents() -> None:
    found = diff([["B-A", "O", "B-B"]], [["B-A", "O", "O"]], [["O", "O", "B-B"]])

    assert [(row["state"], row["start"], row["label"]) for row in rows_of(found)] == [
        ("new", 0, "A"),
        ("fixed", 2, "B"),
    ]


def test_the_command_writes_the_page(tmp_path: Path, capsys: Capture) -> None:
    page = tmp_path / "page.html"
    given_ = ["diff", *map(str, (GOLD, GOLD, PREDICTED)), "--layer", "entity=2", "-o", str(page)]

    assert main([*given_, "--fail-on-new"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        f"wrote {page}",
        "F1 100.00 → 81.60 (-18.40); errors: 83 new, 0 fixed, 0 changed, 0 still",
        "clueval diff: 83 new errors",
    ]
    assert "What changed: " in page.read_text(encoding="utf-8")


def three_files(folder: Path, seed: int, scheme: str) -> list[Path]:
    """Gold, and two runs of which the second has some sentences of gold."""
    gold, old = corpora(seed, scheme)
    new = []
    for own, other in zip(gold, old, strict=True):
        pairs = zip(own.sentences, other.sentences, strict=True)
        new.append(Text(own.id, own.domain, [both[n % 2] for n, both in enumerate(pairs, seed)]))
    paths = [folder / f"{name}.vrt" for name in ("gold", "old", "new")]
    for path, texts in zip(paths, (gold, old, new), strict=True):
        path.write_text(vrt(texts), encoding="utf-8")
    return paths


@pytest.mark.few(5)
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"level": 2, "sides": "gold"},
        {"labelled": "entity", "level": 1},
        {"merge": True},
        {"where": ["domain=a"]},
        {"where": ["entity=PER"], "unlabelled": True},
    ],
    ids=str,
)
def test_files_have_the_diff_of_their_documents(tmp_path: Path, scheme: str, options: dict[str, Any]) -> None:
    reading: dict[str, Any] = {"layers": {"entity": 2, "risk": 3}, "token_id": 4}
    paths = three_files(tmp_path, 3, scheme)
    documents = [list(read(path, **reading)) for path in paths]

    expected = diff(*documents, **options)
    try:
        places = list(expected)
    except CluevalError as error:
        with pytest.raises(CluevalError, match=re.escape(str(error))):
            list(diff(*paths, **options, **reading))
        return
    found = diff(*paths, **options, **reading)

    assert list(found) == places
    assert found.counts() == expected.counts()
    assert found.to_dict() == expected.to_dict()


def test_a_layer_may_be_in_one_of_the_files(tmp_path: Path) -> None:
    texts = "Anna\tB-PER\tB-x\nlacht\tO\tO\n\n", "Anna\tB-LOC\nlacht\tO\n\n"
    gold, run = tmp_path / "gold.conll", tmp_path / "run.conll"
    for path, text in zip((gold, run), texts, strict=True):
        path.write_text(text)
    layers = {"entity": 2, "risk": (3, None)}

    assert diff(gold, run, run, layers=layers).counts()["gold"]["still"] == 2
    assert [row.sequence for row in rows_of(errors(gold, run, layers=layers))] == ["entity", "risk", "entity"]


# Places and forms of pairs


def text(gold: str, *systems: str) -> list[Pair]:
    words = ["der", "Frau", "Anna", "Weiß", "aus", "Ulm", "und", "Bonn"]
    own, *others = (Document("d", {"label": spans(side)}, tokens=words) for side in (gold, *systems))
    return [Pair(own, other) for other in others]


ONE = text("PER[2,4) LOC[5,6) LOC[7,8)", "PER[1,4) ORG[5,6) X[0,1)", "PER[2,4) PER[5,6) Y[0,1)")


def test_a_span_is_one_error_in_both_systems_or_in_one() -> None:
    report = TwoSystems([ONE])

    assert report.counts() == {
        "gold": {"both": 2, "only A": 1, "only B": 0},  # both: LOC[5,6), LOC[7,8)
        "predicted": {"both": 0, "only A": 3, "only B": 2},
    }
    assert [(row["state"], row["side"], row["label"]) for row in report.rows()][:3] == [
        ("only A", "predicted", "X"),
        ("only B", "predicted", "Y"),
        ("only A", "predicted", "PER"),
    ]


def test_texts_of_an_iterator_are_read_as_often_as_those_of_a_list() -> None:
    report = TwoSystems(iter([ONE]))

    assert [len(list(report.rows())) for _ in range(2)] == [len(list(TwoSystems([ONE]).rows()))] * 2


def test_verdict_has_the_difference_of_the_rates_that_are_shown() -> None:
    # old: no span of 3 and 3 is right; new: one is
    assert Diff([ONE]).verdict() == "F1 0.00 → 33.33 (+33.33); errors: 2 new, 4 fixed, 1 changed, 1 still"


def test_a_place_shows_the_right_spans_of_the_other_system_too() -> None:
    report = TwoSystems([ONE])
    place = next(place for place in report if place.at[2:] == (1, 4))

    assert [(report.kinds[mark.kind].legend, mark.is_wrong) for mark in place.texts[0].marks] == [
        ("gold", True),
        ("A", True),
        ("B", False),
    ]


def test_what_is_wrong_by_system_stands_in_one_line() -> None:
    report = TwoSystems([text("PER[2,4)", "PER[1,4)", "PER[2,3)")])
    (place,) = report

    words = next(line.words for line in place.lines if line.values[0] == "both")
    assert words == "both: A: predicted too long, B: predicted too short"


def test_choices_name_the_systems() -> None:
    assert [choice for choice, _ in TwoSystems([ONE], names=("base", "large")).choices] == [
        "gold",
        "base",
        "large",
        "none",
        "unclear",
    ]


def test_page_has_a_filter_by_state_and_numbers_that_list_places() -> None:
    written = page(Diff([ONE]), lang="de")
    settings, *listed = map(
        json.loads, written.split('id="data">')[-1].split("</script>")[0].strip().splitlines()
    )

    assert settings["facets"][0]["name"] == "state"
    assert settings["texts"]["fixed"] == "behoben"
    assert [kind["legend"] for kind in settings["kinds"]] == ["Gold", "alt", "neu"]
    assert ["old", "alt ist richtig"] in settings["choices"]
    assert len(listed) == 4
    assert "&quot;state&quot;:&quot;fixed&quot;" in written


def test_the_gate_on_new_errors_fails_without_documents(tmp_path: Path, capsys: Capture) -> None:
    empty = tmp_path / "empty.conll"
    empty.write_text("")

    assert main(["diff", *[str(empty)] * 3, "--fail-on-new"]) == 1
    assert "clueval diff: no documents, so nothing was compared\n" in capsys.readouterr().err


def test_every_mark_says_its_layer_its_range_its_token_ids_and_what_is_wrong() -> None:
    ids = ["t1", "t2", "t3"]
    gold, first, second = (
        Document("d", {"x": [Span(0, end, "A"), *more]}, tokens=["a", "b", "c"], token_ids=ids)
        for end, more in ((1, ()), (2, ()), (1, [Span(2, 3, "B")]))
    )
    texts = [text for place in diff([gold], [first], [second]).places() for text in place.texts]
    one = next(iter(errors([gold], [first]).places())).texts[0]

    notes = {(mark.kind, mark.start, mark.note) for text in texts for mark in text.marks}
    assert notes == {
        (0, 0, "x · token 0 · id t1 · boundary · class superset (level 2)"),
        (1, 0, "x · token 0–1 · id t1–t2 · boundary · class partial (no level)"),
        (2, 0, "x · token 0 · id t1"),
        (2, 4, "x · token 2 · id t3 · spurious"),
    }
    assert [mark.note for mark in one.marks] == [
        "x · token 0 · id t1 · boundary · class superset (level 2)",
        "x · token 0–1 · id t1–t2 · boundary · class partial (no level)",
    ]


def test_missed_span_of_zero_length_is_marked_and_in_the_fingerprint_of_its_place() -> None:
    gold, predicted = document([Span(3, 3, "A")]), document([])

    (place,) = errors(gold, predicted, predicted)

    assert place.fingerprint == fingerprint([("gold", ((3, 3),), "A")])
    assert [(mark.kind, mark.label, mark.is_wrong) for mark in place.texts[0].marks] == [(0, "A", True)]
