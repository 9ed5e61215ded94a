"""Gold and predicted in different formats: tokens are placed on the text, texts may differ in white space."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from contents import spans
from corpora import write
from hypothesis import given
from hypothesis import strategies as st

from clueval import Document, Span, read, score
from clueval.cli import main
from clueval.core.document import Pair
from clueval.files.errors import TextMismatch, UsageError
from clueval.formats.catalogue import writer_named
from clueval.transforms.characters import to_characters
from clueval.transforms.placing import Placing

TEXT = 'Ada  met "Bob"\n(in Bern).'
TOKENS = ["Ada", "met", '"', "Bob", '"', "(", "in", "Bern", ")", "."]
CHARACTERS = [(0, 3, "PER"), (10, 13, "PER"), (19, 23, "LOC")]
IN_TOKENS = [(0, 1, "PER"), (3, 4, "PER"), (7, 8, "LOC")]


def text(spans: list[tuple[int, int, str]], content: str = TEXT, name: str = "d") -> Document:
    return Document(name, {"label": [Span(*each) for each in spans]}, text=content, unit="character")


def tokens(spans: list[tuple[int, int, str]], content: list[str] = TOKENS, **more: Any) -> Document:
    return Document("d", {"label": [Span(*each) for each in spans]}, tokens=content, **more)


def placed(gold: Document, predicted: Document, **options: Any) -> Pair:
    """The pair with both sides on the same text."""
    (pair,) = Placing(**options)([Pair(gold, predicted)])
    return pair


@pytest.mark.parametrize("gold_has_text", [True, False])
def test_tokens_are_placed_on_the_text_of_the_other_side(gold_has_text: bool) -> None:
    sides = [text(CHARACTERS), tokens(IN_TOKENS)]

    pair = placed(*(sides if gold_has_text else sides[::-1]))

    for document in (pair.gold, pair.predicted):
        assert (document.text, document.unit, spans(document)) == (TEXT, "character", CHARACTERS)


def test_same_tokens_stay_tokens_also_where_their_numbers_begin_elsewhere() -> None:
    gold, predicted = tokens([(4, 5, "A")], ["a", "b"], start=4), tokens([(0, 1, "A")], ["a", "b"])

    pair = placed(gold, predicted)

    assert (pair.predicted.unit, pair.predicted.start, spans(pair.predicted)) == (
        "token",
        4,
        [(4, 5, "A")],
    )


def test_texts_may_differ_in_white_space_and_its_rank_of_characters_decides() -> None:
    other = 'Ada met\n\n" Bob "(in Bern).'
    found = other.index

    predicted = text([(0, 3, "PER"), (found("Bob"), found("Bob") + 3, "PER"), (0, 7, "X")], other)
    pair = placed(text(CHARACTERS), predicted, what="texts")

    assert spans(pair.predicted) == [(0, 3, "PER"), (10, 13, "PER"), (0, 8, "X")]
    assert pair.predicted.text == TEXT


def test_other_tokens_on_both_sides_are_joined_by_blanks() -> None:
    pair = placed(
        tokens([(0, 1, "A")], ["Anna-Lena", "x"]), tokens([(0, 3, "A")], ["Anna", "-", "Lena", "x"])
    )

    assert spans(pair.gold) == spans(pair.predicted) == [(0, 9, "A")]


def test_white_space_at_the_edges_of_spans_is_cut_off_and_counted() -> None:
    pair = placed(text([(0, 4, "A"), (5, 8, "B")]), tokens([(0, 1, "A")]))

    assert spans(pair.gold) == [(0, 3, "A"), (5, 8, "B")]
    assert pair.notes == {("placed", "trimmed"): 1}


def test_parts_of_spans_are_placed() -> None:
    span = Span.of_fragments([(0, 1), (3, 4)], "A")
    document = Document("d", {"label": [span]}, tokens=TOKENS)

    pair = placed(text([]), document)

    assert pair.predicted.layers["label"][0].fragments == ((0, 3), (10, 13))


def test_a_token_that_does_not_follow_is_an_error_with_its_place_and_what_to_do() -> None:
    escaped = ["Ada", "met", "``", "Bob", "''", "-LRB-", "in", "Bern", "-RRB-", "."]

    with pytest.raises(TextMismatch, match=r"token 3 is '``' where the other text has .*align=True"):
        placed(text([]), tokens([], escaped))


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        (text([]), tokens([], TOKENS[:-1]), "the tokens end where the other text has '.' at position 24"),
        (text([]), tokens([], [*TOKENS, "more"]), "token 11 is 'more' where the other text has its end"),
        (
            text([], "Ada"),
            text([], "Bob"),
            "gold has 'Ada' at position 0 where predicted has 'Bob' at position 0",
        ),
        (
            text([], "Ada x"),
            text([], "Ada"),
            "gold has 'x' at position 4 where predicted has '' at position 3",
        ),
    ],
    ids=["fewer", "more", "texts", "longer"],
)
def test_different_texts_are_an_error_with_both_places(
    gold: Document, predicted: Document, message: str
) -> None:
    with pytest.raises(TextMismatch) as caught:
        placed(gold, predicted)

    assert message in str(caught.value)


# Files


def conll(document: Document) -> str:
    row = json.loads("".join(writer_named("token-rows").pieces([document], ["label"], False)))
    lines = [f"{token}\t{tag}" for token, tag in zip(row["tokens"], row["ner_tags"], strict=True)]
    return "\n".join([f"# newdoc id = {document.id}", *lines, ""])


def files(
    folder: Path, own: list[tuple[int, int, str]], in_tokens: list[tuple[int, int, str]]
) -> dict[str, Path]:
    """The same annotation in every format."""
    found = {}
    for name in ("brat", "doccano", "spacy-json", "token-rows"):
        writer = writer_named(name)
        document = tokens(in_tokens) if writer.unit == "token" else text(own)
        (folder / name).mkdir(exist_ok=True)
        found[name] = folder / name / f"d{writer.ending}"
        found[name].write_text("".join(writer.pieces([document], ["label"], False)))
        for ending, content in writer.beside.items():
            found[name].with_suffix(ending).write_text(content(document))
    found["conll"] = write(folder / "d.conll", conll(tokens(in_tokens)))
    return found


NAMES = ("brat", "doccano", "spacy-json", "token-rows", "conll")


@pytest.mark.parametrize("gold", NAMES)
@pytest.mark.parametrize("predicted", NAMES)
def test_same_annotation_in_any_two_formats_is_right_and_the_unit_is_named(
    gold: str, predicted: str, tmp_path: Path
) -> None:
    found = files(tmp_path, CHARACTERS, IN_TOKENS)

    result = score(found[gold], found[predicted], metrics="exact,muc,gate")

    assert result.metrics["exact"]["label"]["micro"]["f1"] == 1.0
    assert result.metrics["exact"]["label"]["micro"]["gold"] == 3
    assert result.metrics["gate"]["label"]["all"]["correct_strict"] == 3
    of_tokens = {"token-rows", "conll"}
    both = {gold, predicted}
    assert result.signature.choices["unit"] == ("token" if both <= of_tokens else "character")
    mixed = gold != predicted
    if mixed and both & of_tokens:
        assert result.signature.choices["placed"] == "tokens"


@given(data=st.data())
def test_numbers_do_not_depend_on_the_formats_of_the_sides(
    data: st.DataObject, tmp_path_factory: Any
) -> None:
    folder = tmp_path_factory.mktemp("formats")
    sides = []
    for side in ("gold", "predicted"):
        cuts = sorted(data.draw(st.sets(st.integers(0, len(TOKENS)), max_size=8)))
        in_tokens = [
            (*pair, data.draw(st.sampled_from("AB"))) for pair in zip(cuts[::2], cuts[1::2], strict=False)
        ]
        on_text = placed(text([]), tokens(in_tokens)).predicted
        (folder / side).mkdir()
        sides.append(files(folder / side, spans(on_text), in_tokens))
    gold, predicted = (data.draw(st.sampled_from(NAMES)) for _ in sides)

    one, two = (
        score(*paths, metrics="exact,muc").metrics
        for paths in (
            (sides[0]["doccano"], sides[1]["doccano"]),
            (sides[0][gold], sides[1][predicted]),
        )
    )

    assert one["exact"]["label"]["micro"] == two["exact"]["label"]["micro"]
    for scheme in ("strict", "type"):
        assert one["muc"]["label"][scheme] == two["muc"]["label"][scheme]


def test_folders_of_different_formats_are_paired_by_name_without_ending(tmp_path: Path) -> None:
    found = files(tmp_path, CHARACTERS, IN_TOKENS)
    (tmp_path / "columns").mkdir()
    (tmp_path / "columns" / "d.conll").write_text(found["conll"].read_text())

    result = score(found["brat"].parent, tmp_path / "columns", metrics="exact")

    assert result.metrics["exact"]["label"]["micro"]["f1"] == 1.0


def test_placing_is_in_the_report_of_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = files(tmp_path, [(0, 4, "PER"), *CHARACTERS[1:]], IN_TOKENS)
    paths = [str(found[name]) for name in ("doccano", "conll")]

    assert main(["score", *paths, "--metric", "exact", "--format", "json", "--jobs", "1"]) == 0

    report = json.loads(capsys.readouterr().out)
    assert report["prepared"] == {"placed": {"trimmed": 1}}
    assert "unit:character" in report["signature"]
    assert "placed:tokens" in report["signature"]
    assert report["metrics"]["exact"]["label"]["micro"]["f1"] == 1.0


# --- --unit token ------------------------------------------------------------------------------------------------


def test_spans_get_the_tokens_of_which_they_cover_more_than_half() -> None:
    spans_of_text = [(0, 2, "PER"), (5, 6, "X"), (10, 23, "LOC")]

    for sides in ([tokens(IN_TOKENS), text(spans_of_text)], [text(spans_of_text), tokens(IN_TOKENS)]):
        pair, beside = Placing(in_tokens=True)([Pair(*sides)])
        of_text = sides.index(next(side for side in sides if side.unit == "character"))
        found = pair.sides

        assert [each.unit for each in found] == ["token", "token"]
        assert spans(found[of_text]) == [(0, 1, "PER"), (3, 8, "LOC")]
        assert spans(found[1 - of_text]) == IN_TOKENS
        assert [span.label for span in beside.sides[of_text].layers["label"]] == ["X"]
        assert pair.notes == {("placed", "moved"): 1}


def files_of(folder: Path, **sides: tuple[str, str]) -> list[Path]:
    return [write(folder / f"{side}.{ending}", content) for side, (ending, content) in sides.items()]


def test_span_without_a_token_is_wrong_and_listed(tmp_path: Path) -> None:
    row = json.dumps({"text": "Ada met Bob", "label": [[0, 3, "PER"], [4, 5, "PER"], [5, 6, "LOC"]]})
    gold, predicted = files_of(
        tmp_path, gold=("conll", "Ada B-PER\nmet O\nBob B-PER\n"), predicted=("jsonl", row)
    )

    result = score(gold, predicted, metrics=["exact", "muc"], unit="token")
    swapped = score(predicted, gold, metrics="exact", unit="token")
    filtered = score(gold, predicted, metrics="exact", unit="token", where=["label=PER"])

    assert result.tokens == 3
    assert [(each.span.start, each.span.end) for each in result.unprojected or ()] == [(4, 5), (5, 6)]
    micro = result.metrics["exact"]["label"]["micro"]
    assert (micro["tp_predicted"], micro["fp"], micro["fn"]) == (1, 2, 1)
    assert swapped.get("exact.label.micro.fn") == 2
    assert (filtered.get("exact.label.micro.fp"), filtered.get("exact.label.micro.gold")) == (1, 2)
    assert result.get("muc.label.strict.spurious") == 2
    assert score(gold, predicted, metrics="exact", unit="token", merge=True).get("exact.merged.micro.fp") == 2


def test_texts_without_tokens_get_words_and_marks(tmp_path: Path) -> None:
    row = json.dumps({"text": "Ada met (Bob).", "label": [[0, 3, "PER"], [9, 12, "PER"]]})
    gold, predicted = files_of(tmp_path, gold=("jsonl", row), predicted=("json", f"[{row}]"))

    result = score(gold, predicted, metrics="exact", unit="token")

    assert (result.tokens, result.get("exact.label.micro.f1")) == (6, 1.0)
    assert "placed:words" in str(result.signature)
    assert "unit:token" in str(result.signature)


METRICS = ["levels", "exact", "fair", "partial", "gate", "muc", "confusion"]


def test_every_metric_has_the_same_numbers_in_tokens_whatever_the_formats(tmp_path: Path) -> None:
    words = ["Ada", "Eva", "met", "Bob", "in", "New", "Ulm"]
    sides = ["B-PER I-PER O B-PER O B-LOC I-LOC", "B-PER B-PER O B-LOC O B-LOC I-LOC"]
    files: dict[str, list[Path]] = {"conll": [], "jsonl": [], "text": []}
    for number, tags in enumerate(sides):
        lines = "\n".join(map("\t".join, zip(words, tags.split(), strict=True)))
        files["conll"].append(write(tmp_path / f"{number}.conll", lines + "\n"))
        row = {"tokens": words, "ner_tags": tags.split()}
        files["jsonl"].append(write(tmp_path / f"{number}.jsonl", json.dumps(row)))
        target = tmp_path / f"{number}.json"
        assert main(["convert", str(files["conll"][-1]), "--to", "doccano", "-o", str(target)]) == 0
        files["text"].append(target)
    expected = score(*files["conll"], metrics=METRICS).metrics

    for gold in files.values():
        for predicted in files.values():
            found = score(gold[0], predicted[1], metrics=METRICS, unit="token")
            assert _without_tags(found.metrics) == _without_tags(expected)


def _without_tags(metrics: Any) -> Any:
    """The numbers without the share of equal tags, which texts do not have."""
    exact = {key: value for key, value in metrics["exact"]["label"].items() if key != "token_accuracy"}
    return {**metrics, "exact": exact}


def test_folder_and_file_are_paired_by_id_at_any_position(tmp_path: Path) -> None:
    (tmp_path / "brat").mkdir()
    for name, label in (("a", "PER"), ("b", "LOC")):
        write(tmp_path / "brat" / f"{name}.ann", f"T1\t{label} 0 3\tAda\n")
        write(tmp_path / "brat" / f"{name}.txt", "Ada sat")
    lines = "# newdoc id = a\nAda\tB-PER\nsat\tO\n\n# newdoc id = b\nAda\tB-LOC\nsat\tO\n"
    columns = write(tmp_path / "a.conll", lines)

    for sides in ((columns, tmp_path / "brat"), (tmp_path / "brat", columns)):
        assert score(*sides, metrics="exact", pair_by="id").f1 == 1


def test_tokens_and_texts_are_paired_by_content_without_white_space(tmp_path: Path) -> None:
    gold = write(
        tmp_path / "gold.conll",
        "".join(f"# newdoc id = {n}\n{token}\tB-A\n\n" for n, token in enumerate("ab")),
    )
    rows = [{"id": f"x{text}", "text": f" {text}\n", "label": [[1, 2, "A"]]} for text in "ba"]
    predicted = write(tmp_path / "predicted.jsonl", "\n".join(map(json.dumps, rows)))

    assert score(gold, predicted, metrics="exact", pair_by="content").f1 == 1.0
    with pytest.raises(UsageError, match=r"paired by id: .*pair_by='content' pairs those with the same text"):
        score(gold, predicted, pair_by="id")


def test_a_file_that_goes_on_after_its_document_is_asked_for_marks_of_documents(tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.jsonl", json.dumps({"id": "1", "text": "a", "label": []}))
    predicted = write(tmp_path / "predicted.conll", "a\tO\n\nb\tO\n")

    with pytest.raises(TextMismatch, match=r"'b' where the other text has its end .*-DOCSTART-, # newdoc or"):
        score(gold, predicted)
    with pytest.raises(TextMismatch, match=r"the tokens end where .*-DOCSTART-, # newdoc or"):
        score(predicted, write(tmp_path / "rows.jsonl", '{"tokens": ["a"], "tags": ["O"]}'))


SAMPLES = Path(__file__).parents[2] / "clueval" / "samples" / "german"


def test_positions_of_tokens_become_characters_of_the_joined_text() -> None:
    tokens = Document(
        "d",
        {"x": [Span(5, 7, "A"), Span(6, 6, "B"), Span(5, 8, "C", tokens=frozenset({5, 7}))]},
        tokens=["ein", "𝔛y", "z"],
        start=5,
    )

    document = to_characters(tokens)

    assert (document.text, document.unit) == ("ein 𝔛y z", "character")
    assert [(s.start, s.end) for s in document.layers["x"]] == [(0, 6), (4, 4), (0, 8)]
    assert document.layers["x"][2].tokens == frozenset({0, 1, 2, 7})
    assert document.text_of(document.layers["x"][0]) == tokens.text_of(tokens.layers["x"][0])


def test_the_unit_changes_graded_credit_and_stands_in_the_signature(tmp_path: Path) -> None:
    gold = write(tmp_path / "g.vrt", "Donaudampfschifffahrt\tB-X\nAG\tI-X\n")
    predicted = write(tmp_path / "p.vrt", "Donaudampfschifffahrt\tB-X\nAG\tO\n")

    tokens, characters = (
        score(gold, predicted, metrics="partial", unit=unit) for unit in (None, "character")
    )

    assert tokens.metrics["partial"]["label"]["micro"]["tp_gold"] == pytest.approx(0.75 * 1 / 2)
    assert characters.metrics["partial"]["label"]["micro"]["tp_gold"] == pytest.approx(0.75 * 21 / 24)
    assert "unit:token" in str(tokens.signature)
    assert "unit:character" in str(characters.signature)


def test_a_corpus_converted_to_the_tagging_format_scores_the_same(tmp_path: Path) -> None:
    for side in ("gold", "predicted"):
        (tmp_path / side).mkdir()
        arguments = [
            "--layer",
            "entity=2",
            "--label",
            "person",
            "--to",
            "ltf",
            "--lossy",
            "-o",
            str(tmp_path / side),
        ]
        assert main(["convert", str(SAMPLES / f"{side}.vrt"), *arguments]) == 0
    converted = score(tmp_path / "gold", tmp_path / "predicted", metrics="partial")
    paths = [SAMPLES / f"{side}.vrt" for side in ("gold", "predicted")]
    original = score(*paths, layers={"entity": 2}, metrics="partial", unit="character")

    assert (
        converted.metrics["partial"]["label"]["micro"]
        == original.metrics["partial"]["entity"]["per_label"]["person"]
    )
    assert converted.documents == 5


def test_texts_that_differ_are_refused_with_the_first_character(tmp_path: Path) -> None:
    gold = write(tmp_path / "g.xml", "<body>a <e>b</e> c</body>")
    predicted = write(tmp_path / "p.xml", "<body>a <e>b</e> d</body>")

    with pytest.raises(ValueError, match=r"gold has the character 'c' at position 4 where .*p.xml has 'd'"):
        score(gold, predicted, metrics="partial")
    (document,) = read(gold)
    assert document.layers["label"] == [Span(2, 3, "_")]
