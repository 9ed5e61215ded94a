"""What two passages of the same text have in common, each case by lines written out by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from corpora import write

from clueval.evaluation.lockstep.compare import _Passages, compare, compare_columns
from clueval.evaluation.lockstep.tag_runs import Columns, Tags
from clueval.exceptions import CluevalError, FormatError, TextMismatch
from clueval.formats.columns.layout import ColumnOptions, layout_of
from clueval.formats.columns.passages import Passage
from clueval.formats.columns.sizes import Sizes
from clueval.reading.read_options import ReadOptions
from clueval.reading.source import source_of
from clueval.spans.compared import SIDES, ComparedSequence
from clueval.spans.span import MERGED, Frozen, Span
from clueval.tagging.decoder import Decoder

LAYOUT = layout_of("a O", " ", ColumnOptions(), False, "f", 1)
Pairs = list[tuple[Passage, Passage]]


def pairs_of(folder: Path, *texts: str, **options: Any) -> Pairs:
    """The passages of two files in pairs; `options` with two values are those of the two sides."""
    sides = []
    for number, text in enumerate(texts):
        path = write(folder / f"{number}.conll", text)
        own = {key: given[number] if isinstance(given, tuple) else given for key, given in options.items()}
        sides.append(source_of(path, ReadOptions(**own)).passages())
    return list(zip(*sides, strict=True))


def decoders(*layers: str, gold: Decoder | None = None, predicted: Decoder | None = None) -> Any:
    given = (gold or Decoder(None, "conlleval"), predicted or Decoder(None, "conlleval"))
    if len(layers) > 1:
        return {(side, layer): Decoder(None, "conlleval") for side in SIDES for layer in layers}
    return {(side, *layers): decoder for side, decoder in zip(SIDES, given, strict=True)}


def spans(of_layers: Sequence[Span]) -> list[tuple[int, int, dict[str, str | None]]]:
    return [(span.start, span.end, dict(span.by_layer)) for span in of_layers]


GOLD = "a B-X\n\nb O\nc B-Y\nd I-Y\n\ne O\n\n"
PREDICTED = GOLD.replace("d I-Y", "d O")


class TestPassages:
    @pytest.mark.parametrize("sizes", [Sizes(), Sizes(rows=1, characters=1), Sizes(rows=0)])
    def test_sentences_that_are_the_same_are_counted_by_labels_and_others_left_over(
        self, tmp_path: Path, sizes: Sizes
    ) -> None:
        found = compare(pairs_of(tmp_path, GOLD, PREDICTED), decoders("label"), merge=False, sizes=sizes)

        assert list(found) == ["label"]
        one = found["label"]
        assert one.agreed == Counter({Frozen({"label": "X"}): 1})
        assert (spans(one.gold), spans(one.predicted)) == ([(1, 3, {"label": "Y"})], [(1, 2, {"label": "Y"})])
        assert (one.equal, one.tags, one.times) == (4, (["I-Y"], ["O"]), 1)

    def test_tags_are_held_once_if_there_are_many(self, tmp_path: Path) -> None:
        text = "".join(f"a B-label{n % 2}\n\n" for n in range(40))
        passage, other = pairs_of(tmp_path, text, text)[0]
        columns = _Passages(([passage], [other]), (LAYOUT, LAYOUT), Sizes(rows=4, characters=1))

        columns.read(shortcut=True)

        assert len(columns.columns.same["label"]) > 40
        assert len({id(tag) for tag in columns.columns.same["label"]}) < 12

    def test_passages_without_tokens_have_no_sequence(self, tmp_path: Path) -> None:
        empty = pairs_of(tmp_path, "-DOCSTART-\n\n", "-DOCSTART-\n\n")
        later = pairs_of(tmp_path, *["-DOCSTART-\n\n-DOCSTART-\n\na B-X\n\n"] * 2)

        assert compare(empty, decoders("label"), merge=False) == {}
        assert compare(empty, decoders("label"), merge=True) == {}
        assert list(compare([*empty, *later], decoders("label"), merge=False)) == ["label"]

    def test_lines_that_are_the_same_may_have_other_tags_on_the_other_side(self, tmp_path: Path) -> None:
        text = "a B-X O\nb O B-Y\n\n"
        pairs = pairs_of(tmp_path, text, text, layers=({"x": 2}, {"x": 3}), token=1)

        found = compare(pairs, decoders("x"), merge=False)["x"]

        assert not found.agreed
        assert spans(found.gold) == [(0, 1, {"x": "X"})]
        assert spans(found.predicted) == [(1, 2, {"x": "Y"})]

    @pytest.mark.parametrize("turn", [1, -1])
    def test_tags_that_are_the_same_may_be_read_otherwise_on_the_other_side(
        self, tmp_path: Path, turn: int
    ) -> None:
        both = [Decoder("BIO", "conlleval"), Decoder("BIO", "discard")][::turn]
        pairs = pairs_of(tmp_path, "a I-X\n\nb B-Y\n\n", "a I-X\n\nb B-Y\n\n")

        found = compare(pairs, decoders("label", gold=both[0], predicted=both[1]), merge=False)["label"]

        assert found.agreed == Counter({Frozen({"label": "Y"}): 1})
        sides = [spans(found.gold), spans(found.predicted)][::turn]
        assert sides == [[(0, 1, {"label": "X"})], []]

    @pytest.mark.parametrize(
        ("side", "old", "new", "said"),
        [(0, "c2 O", "c2 X-Y", r"0\.conll:10: 'X-Y' is not a tag"), (1, "c2 O", "c2 X-Y", r"1\.conll:10: 'X-Y' is not"),
         (1, "c2 O", "d O", r"0\.conll:10: gold has the token 'c2' where .*1\.conll:10 has 'd'"),
         (1, "c2 O\n", "", r"1\.conll:9: predicted ends after 2 tokens of the document"),
         (0, "c2 O", "c2 O O", r"0\.conll:10: the line has 3 columns"),
         (1, "c2 O", "c2", r"1\.conll:10: the line has 1"),
         (1, "b2 O\n", "b2 O\n\n", r"0\.conll:10: gold continues a sentence where .*1\.conll:11 does not")],
    )  # fmt: skip
    @pytest.mark.parametrize("before", ["\n" * 4, "-DOCSTART-\n\na O\n\n"])
    @pytest.mark.parametrize("after", ["", "-DOCSTART-\n\na B-X\n\n"])
    def test_errors_have_their_place_in_one_or_several_passages(
        self, tmp_path: Path, side: int, old: str, new: str, said: str, before: str, after: str
    ) -> None:
        texts = [f"{before}-DOCSTART-\n\na O\n\nb2 O\nc2 O\n\n{after}"] * 2
        texts[side] = texts[side].replace(old, new)

        with pytest.raises(CluevalError, match=said):
            compare(pairs_of(tmp_path, *texts), decoders("label"), merge=False)

    def test_token_ids_are_compared_and_differ_in_a_document(self, tmp_path: Path) -> None:
        options: dict[str, Any] = {"token_id": 1, "layers": {"x": 3}, "token": 2}
        text = "1 a B-X\n2 b O\n\n3 c O\n4 d O\n\n"

        def found(own: str, other: str) -> ComparedSequence:
            return compare(pairs_of(tmp_path, own, other, **options), decoders("x"), merge=False)["x"]

        tags = text.replace("d O", "d B-Y")
        assert found(text, text).equal == 4
        assert found(text, tags).equal == 3
        with pytest.raises(TextMismatch, match=r"0\.conll:5: gold has the token id '4' where .*:5 has '9'"):
            found(text, tags.replace("4 d", "9 d"))
        for other in (text, tags):
            for again in ("1", "2", "3"):
                with pytest.raises(FormatError, match=rf":5: token id '{again}' is already used in line"):
                    found(text.replace("4 d", f"{again} d"), other.replace("4 d", f"{again} d"))
        same_tags = "1 a B-X\n2 b B-X\n\n"
        assert found(same_tags, same_tags.replace("b B-X", "b O")).equal == 1

    def test_layers_are_merged_where_their_spans_touch(self, tmp_path: Path) -> None:
        gold = "a O O\na B-X O\na B-X B-Y\na O O\na B-Z O\na O O\na B-X O\n\nb B-X B-Y\n\n"
        predicted = gold.replace("B-X O\na B-X B-Y", "B-X O\na B-X O").replace("a B-Z O", "a B-Z B-Y")
        pairs = pairs_of(tmp_path, gold, predicted, layers={"x": 2, "y": 3})

        found = compare(pairs, decoders("x", "y"), merge=True)
        apart = compare(pairs, decoders("x", "y"), merge=False)

        assert list(found) == [MERGED]
        assert list(apart) == ["x", "y"]
        one = found[MERGED]
        assert one.agreed == {Frozen({"x": "X", "y": None}): 2, Frozen({"x": "X", "y": "Y"}): 1}
        assert spans(one.gold) == [(2, 3, {"x": "X", "y": "Y"}), (4, 5, {"x": "Z", "y": None})]
        assert spans(one.predicted) == [(2, 3, {"x": "X", "y": None}), (4, 5, {"x": "Z", "y": "Y"})]
        assert (one.equal, one.tags, one.times) == (6, None, 1)


NOTHING: Tags = {"x": [], "y": []}


class TestColumns:
    def test_merged_spans_are_sorted(self) -> None:
        tags = {"x": ["O", *["B-X", "B-Y", "O"] * 20], "y": ["O"] * 61}
        columns = Columns(61, NOTHING, (tags, {"x": ["O"] * 61, "y": ["O"] * 61}), 3)

        found = compare_columns(columns, decoders("x", "y"), merge=True)[MERGED]

        assert [span.start for span in found.gold] == [n for n in range(61) if n % 3]
        assert (found.predicted, found.equal, found.times) == ([], 21, 3)

    def test_columns_count_as_often_as_they_occur(self) -> None:
        both = decoders("x", gold=Decoder("BIO", "discard"), predicted=Decoder("BIO", "conlleval"))
        columns = Columns(3, {"x": ["I-X", "O", "B-Y"]}, ({"x": ["I-Z", "B-Z"]}, {"x": ["I-Z", "O"]}), 4)

        found = compare_columns(columns, both, merge=False)["x"]

        assert found.times == 4
        assert [both[side, "x"].spans() for side in SIDES] == [2 * 4, 3 * 4]
        assert [both[side, "x"].repaired() for side in SIDES] == [2 * 4, 2 * 4]

    @pytest.mark.parametrize("merge", [False, True])
    @pytest.mark.parametrize("place", ["same", "gold", "predicted"])
    def test_bad_tag_in_any_column_is_an_error(self, merge: bool, place: str) -> None:
        bad: Tags = {"x": ["O"], "y": ["X-Y"]}
        fine: Tags = {"x": ["O"], "y": ["O"]}
        columns = Columns(
            1,
            bad if place == "same" else NOTHING,
            (bad if place == "gold" else fine, bad if place == "predicted" else fine),
        )

        with pytest.raises(CluevalError, match=r"'X-Y' is not a tag") as error:
            compare_columns(columns, decoders("x", "y"), merge)
        assert (vars(error.value)["side"] == 0) == (place == "gold" or (place == "same" and not merge))
        assert vars(error.value)["layer"] == "y"
