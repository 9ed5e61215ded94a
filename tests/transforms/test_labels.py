"""Label maps, hierarchies, generic labels and untyped spans, by cases worked by hand."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from corpora import vrt, write

from clueval import Result, Span, score
from clueval.cli import main
from clueval.core.document import Document, Pair
from clueval.files.errors import CluevalWarning, FormatError, UsageError
from clueval.transforms.labels import Hierarchy
from clueval.transforms.options import Preparing, steps_of

Triple = tuple[int, int, str]


def exact(gold: list[Triple], predicted: list[Triple], **options: Any) -> Result:
    return score([gold], [predicted], metrics="exact", **options)


def micro(result: Result) -> tuple[float, float, float]:
    found = result.metrics["exact"]["label"]["micro"]
    return found["gold"], found["predicted"], found["tp_gold"]


PLACES = "PLACE\n  CITY\n  STREET\nPERSON\n"


@pytest.fixture
def places(tmp_path: Path) -> Path:
    return write(tmp_path / "places.txt", PLACES)


# The case worked by hand: PLACE > CITY, STREET


def test_depth_makes_siblings_equal_at_their_parent(places: Path) -> None:
    sides = [(0, 2, "CITY")], [(0, 2, "STREET")]

    assert micro(exact(*sides, hierarchy=places, depth=2)) == (1, 1, 0)
    at_the_top = exact(*sides, hierarchy=places, depth=1)
    assert micro(at_the_top) == (1, 1, 1)
    assert list(at_the_top.metrics["exact"]["label"]["per_label"]) == ["PLACE"]
    assert at_the_top.to_dict()["prepared"] == {"depth": {"gold": 1, "predicted": 1}}
    assert "|depth:1(" in str(at_the_top.signature)


def test_generic_takes_the_label_of_gold_below_it(places: Path) -> None:
    result = exact([(0, 2, "CITY")], [(0, 2, "PLACE")], hierarchy=places, generic="PLACE")

    assert micro(result) == (1, 1, 1)
    assert list(result.metrics["exact"]["label"]["per_label"]) == ["CITY"]
    assert result.to_dict()["prepared"] == {"generic": {"PLACE": 1}}
    assert "|generic:PLACE" in str(result.signature)


def test_generic_leaves_a_specific_prediction_of_a_generic_gold_span_wrong(places: Path) -> None:
    assert micro(exact([(0, 2, "PLACE")], [(0, 2, "CITY")], hierarchy=places, generic="PLACE")) == (1, 1, 0)


def test_generic_takes_no_label_from_elsewhere_in_the_hierarchy(places: Path) -> None:
    sides = [(0, 2, "PERSON")], [(0, 2, "PLACE")]

    assert micro(exact(*sides, hierarchy=places, generic="PLACE")) == (1, 1, 0)
    assert micro(exact(*sides, generic="PLACE")) == (1, 1, 1)


@pytest.mark.parametrize(
    ("gold", "end", "label"),
    [
        ([(0, 2, "A"), (0, 4, "B")], 4, "B"),  # equal range
        ([(0, 1, "A"), (1, 4, "B")], 4, "B"),  # most shared positions
        ([(0, 2, "A"), (2, 4, "B")], 4, "A"),  # the earliest
        ([(4, 6, "A")], 4, "PII"),  # nothing overlaps
        ([(0, 4, "A"), (0, 4, "PII")], 4, "A"),
        ([(0, 0, "A")], 0, "A"),  # equal range of zero length
    ],
)
def test_generic_prefers_equal_range_then_shared_positions_then_the_first(
    gold: list[Triple], end: int, label: str
) -> None:
    found = exact(gold, [(0, end, "PII")], generic="PII").metrics["exact"]["label"]["per_label"]

    assert [name for name, entry in found.items() if entry["predicted"]] == [label]


def test_generic_keeps_a_prediction_that_is_right_already() -> None:
    gold = [(0, 4, "PII"), (1, 3, "A")]

    assert micro(exact(gold, [(0, 4, "PII")], generic="PII")) == (2, 1, 1)


def test_untyped_spans_are_compared_by_position_alone() -> None:
    result = exact([(0, 2, "A"), (3, 4, "B")], [(0, 2, "B")], untyped=True)

    assert micro(result) == (2, 1, 1)
    assert list(result.metrics["exact"]["label"]["per_label"]) == ["_"]
    assert "|untyped:yes|" in str(result.signature)


# Label maps


def test_label_map_renames_and_drops_without_chains(tmp_path: Path) -> None:
    names = write(tmp_path / "map.tsv", "A\tB\nB\tC\nX\t\n")
    result = exact([(0, 1, "A"), (1, 2, "B"), (2, 3, "X")], [(0, 1, "B")], label_map=names)

    assert list(result.metrics["exact"]["label"]["per_label"]) == ["B", "C"]
    assert result.to_dict()["prepared"] == {
        "labels": {"gold/dropped": 1, "gold/renamed": 2, "predicted/renamed": 1}
    }
    assert "|labels:map(" in str(result.signature)


@pytest.mark.parametrize("option", ["label_map", "gold_map"])
def test_label_map_may_be_a_text_which_keeps_all_other_labels(option: str) -> None:
    gold = [(0, 1, "PERSON"), (2, 3, "LOC"), (4, 5, "ORG")]
    predicted = [(0, 1, "PER"), (2, 3, "PLACE"), (4, 5, "ORG")]

    assert micro(exact(gold, predicted, **{option: "PERSON=PER, LOC=PLACE"})) == (3, 3, 3)
    same = exact(gold, predicted, **{option: {"PERSON": "PER", "LOC": "PLACE", "*": "*"}})
    assert exact(gold, predicted, **{option: "PERSON=PER, LOC=PLACE"}).signature == same.signature


def test_label_map_may_be_a_text_on_the_command_line_and_a_table_in_a_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "g.conll", "a B-PERSON\nb B-ORG\n")
    write(tmp_path / "p.conll", "a B-PER\nb B-ORG\n")
    command = ["score", "g.conll", "p.conll", "--metric", "exact"]

    assert main([*command, "--label-map", "PERSON=PER"]) == 0
    assert "F1 100.00 %" in capsys.readouterr().out
    Path("clueval.toml").write_text('label-map = {PERSON = "PER", X = "Y"}\n', encoding="utf-8")
    assert main(command) == 0
    assert "F1 100.00 %" in capsys.readouterr().out


def test_label_map_of_one_side_leaves_the_other() -> None:
    assert micro(exact([(0, 1, "A")], [(0, 1, "a")], predicted_map={"a": "A"})) == (1, 1, 1)
    assert micro(exact([(0, 1, "A")], [(0, 1, "a")], gold_map={"A": "a"})) == (1, 1, 1)
    both = exact([(0, 1, "A")], [(0, 1, "a")], gold_map={"A": "x"}, predicted_map={"a": "x"})
    assert micro(both) == (1, 1, 1)
    assert "|labels:gold-map(" in str(both.signature)


def test_label_map_is_the_same_as_lines_json_and_dictionary(tmp_path: Path) -> None:
    lines = write(tmp_path / "map.tsv", "\ufeffA\tB\r\n*\t*\r\n")
    as_json = write(tmp_path / "map.json", '{"A": "B", "*": "*"}')
    sides = [(0, 1, "A"), (1, 2, "C")], [(0, 1, "B")]

    found = [micro(exact(*sides, label_map=each)) for each in (lines, as_json, {"A": "B", "*": "*"})]

    assert found == [(2, 1, 1)] * 3
    assert micro(exact(*sides, label_map={"A": "B", "B": "B", "*": ""})) == (1, 1, 1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("A B\n", ":1: the line has 0 tabs"),
        ("A\tB\tC\n", ":1: the line has 2 tabs"),
        ("A\tB\nA\tC\n", "the label 'A' has two entries"),
        ('{"A": "B", "A": "C"}', "the label 'A' has two entries"),
        ("*\t*\nA\tB\n", "the entry '\\*' is not the last"),
        ("*\tA\n", "has the name 'A'"),
        ('{"A": 1}', "is not a label and its name"),
        ('{"A": ', "is not valid JSON"),
        ("\tB\n", "is not a label and its name"),
    ],
)
def test_label_map_that_is_invalid_is_an_error_with_its_place(
    tmp_path: Path, content: str, message: str
) -> None:
    with pytest.raises(FormatError, match=message):
        exact([], [], label_map=write(tmp_path / "map", content))


# Hierarchies


def test_hierarchy_reads_the_entities_of_brat(tmp_path: Path) -> None:
    path = write(
        tmp_path / "annotation.conf",
        "[entities]\n# note\n!PLACE\n\tCITY Arg:x\n-----\nX\n[relations]\nR Arg1:X\n",
    )

    assert Hierarchy.of(path).parents == {"PLACE": None, "CITY": "PLACE", "X": None}


def test_hierarchy_can_be_in_the_labels() -> None:
    sides = [(0, 2, "LOC.city.small")], [(0, 2, "LOC.city")]

    assert micro(exact(*sides, hierarchy=".", depth=3)) == (1, 1, 0)
    assert micro(exact(*sides, hierarchy=".", depth=2)) == (1, 1, 1)
    assert micro(exact(*sides, hierarchy=".", generic="LOC.city")) == (1, 1, 1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("A\nA\n", ":2: the name 'A' occurs twice"),
        ("A\n  B\n      C\n", ":3: 'C' is indented too far"),
        ("  A\n", ":1: 'A' is indented too far"),
        ("A\n  B\n   C\n", ":3: 'C' is indented too far"),
        ("\n", "has no names"),
    ],
)
def test_hierarchy_that_is_invalid_is_an_error_with_its_line(
    tmp_path: Path, content: str, message: str
) -> None:
    with pytest.raises(FormatError, match=message):
        exact([], [], hierarchy=write(tmp_path / "h", content), depth=1)


# Files, processes, and the command line


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    gold = [[[("Anna", "B-PER"), ("in", "O"), ("Ulm", "B-LOC")]]]
    predicted = [[[("Anna", "B-PERSON"), ("in", "O"), ("Ulm", "B-LOC")]]]
    return write(tmp_path / "g.vrt", vrt(gold)), write(tmp_path / "p.vrt", vrt(predicted))


def test_score_takes_the_options_of_labels(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = write(tmp_path / "map.tsv", "PERSON\tPER\n*\t*\n")
    arguments = ["score", *map(str, files), "--metric", "exact", "--predicted-map", str(names)]

    assert main([*arguments, "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["metrics"]["exact"]["label"]["micro"]["tp_gold"] == 2
    assert report["prepared"] == {"labels": {"predicted/renamed": 1}}
    result = score(*files, metrics="exact", predicted_map=names)
    assert result.to_dict() == report
    assert (result + result).to_dict()["prepared"] == {"labels": {"predicted/renamed": 2}}

    write(names, "A\tB\n")
    assert main(arguments) == 2
    assert "the label map has no entry for 'LOC' (1 span), 'PERSON' (1 span)" in capsys.readouterr().err


def test_score_keeps_the_accuracy_of_tokens_where_no_label_changes(files: tuple[Path, Path]) -> None:
    def accuracy(**options: Any) -> object:
        return score(*files, metrics="exact", **options).metrics["exact"]["label"]["token_accuracy"]

    assert accuracy(label_map={"*": "*"}) == accuracy() == pytest.approx(2 / 3)
    assert accuracy(untyped=True) == 1


@pytest.mark.parametrize(
    "options",
    [{"label_map": {"X": "Y", "*": "*"}}, {"ignore_label": "X"}, {"generic": "X"}],
    ids=lambda options: next(iter(options)),
)
def test_accuracy_of_tokens_does_not_depend_on_the_documents_whose_labels_change(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    """A file is one document, and each list of tags is one; I-PER and B-PER are the same span, alone."""
    gold, predicted = [["I-PER", "O"], ["B-X", "O"]], [["B-PER", "O"], ["B-X", "O"]]
    files = [
        write(tmp_path / name, "\n\n".join("".join(f"t {tag}\n" for tag in tags) for tags in side))
        for name, side in (("g.conll", gold), ("p.conll", predicted))
    ]

    for sides in ((gold, predicted), files):
        assert score(*sides, metrics="exact", **options).get("exact.label.token_accuracy") == 1
        for same in ({}, {"label_map": {"PER": "PER", "*": "*"}}):
            assert score(*sides, metrics="exact", **same).get("exact.label.token_accuracy") == 3 / 4


def test_spans_keep_what_they_have_besides_labels() -> None:
    span = Span.of_fragments([(0, 1), (2, 3)], "A", {"f": 1}, id="T1", line=4)
    document = Document("d", {"label": [span]}, unit="character")

    pairs: Sequence[Pair] = [Pair(document, document)]
    for step in steps_of(Preparing(untyped=True)):
        pairs = step(pairs)
    (pair,) = pairs

    (found,) = pair.gold.layers["label"]
    assert (found.fragments, found.label, found.features, found.id, found.line) == (
        span.fragments,
        "_",
        {"f": 1},
        "T1",
        4,
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label_map": "A\tB\n*\t*\n"}, "changes no span: names count as written"),
        ({"gold_map": "A\tB\n*\t*\n"}, "changes no span: names count as written"),
        ({"hierarchy": "A\tB\nB\tC\n", "depth": 1}, "the hierarchy changes no label to one at depth 1"),
        ({"generic": "A"}, "no predicted span has the generic label 'A'"),
    ],
)
def test_labels_of_options_that_no_span_has_are_a_warning(
    options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    for name in ("label_map", "gold_map", "hierarchy"):
        if name in options:
            path = tmp_path / f"{name}.tsv"
            path.write_text(options[name], encoding="utf-8")
            options = {**options, name: path}

    with pytest.warns(CluevalWarning) as warned:
        score([["B-PER"]], [["B-PER"]], metrics="exact", **options)
    assert [message in str(one.message) for one in warned] == [True]


def test_label_map_that_one_side_needs_is_no_warning(tmp_path: Path) -> None:
    path = tmp_path / "map.tsv"
    path.write_text("PERSON\tPER\n*\t*\n", encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error", CluevalWarning)
        score([["B-PER"]], [["B-PERSON"]], metrics="exact", label_map=path)


def test_a_map_written_as_text_follows_the_rules_of_files() -> None:
    with pytest.raises(FormatError, match="label_map: the label 'A' has two entries"):
        exact([(0, 1, "A")], [(0, 1, "A")], label_map="A=B,A=C")

    assert micro(exact([(0, 1, "A"), (2, 3, "C")], [(0, 1, "A")], label_map="A=B,*=")) == (1, 1, 1)


def test_advice_on_a_dictionary_is_for_dictionaries() -> None:
    with pytest.raises(FormatError, match="write '' to drop the spans with this label"):
        exact([(0, 1, "A")], [(0, 1, "A")], label_map={"A": None})
    with pytest.raises(UsageError, match=r'as the last entry "\*": "\*" \(keep all others\)'):
        exact([(0, 1, "A"), (2, 3, "C")], [(0, 1, "A")], label_map={"A": "B"})


@pytest.mark.parametrize(
    ("options", "checked"),
    [
        ({"ignore_label": "A"}, "ignore_label and ignore_layer"),
        ({"gold_map": "A=", "predicted_map": "*=*"}, "the label map"),
        ({"where": "label=B"}, "where"),
    ],
)
def test_a_side_without_spans_to_count_is_a_warning(options: dict[str, str], checked: str) -> None:
    message = f"gold has 1 span, and none is left to count; check {checked}"
    with pytest.warns(CluevalWarning, match=message):
        exact([(0, 1, "A")], [(0, 1, "A"), (5, 6, "B")], **options)
