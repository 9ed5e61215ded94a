"""Two column files that are read in step as bytes have the outcome of their passages and documents."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import patch

import pytest
from corpora import Corpus, conll, vrt, write
from hypothesis import example, given
from hypothesis import strategies as st
from sizes import documents_alone, handed_in, passages_alone

from clueval import score
from clueval.files.errors import CluevalError, TextMismatch
from clueval.formats.options import FormatOptions
from clueval.reading import byte_reader
from clueval.reading.byte_reader import (
    ByteReader,
    Stretch,
    reads_bytes,
)
from clueval.reading.clusters import Unusual
from clueval.reading.passages import SIZES, Passage, PassageReader, Sizes
from clueval.reading.source import source_of

METRICS = ["levels", "exact", "fair", "partial", "gate", "muc", "confusion"]


def in_step(
    *paths: Path, apart: bool = False, block: int = SIZES.block, **options: Any
) -> list[Stretch | tuple[Passage, Passage]]:
    """What two files hold when they are read in step."""
    own, other = (source_of(path, FormatOptions(**options)) for path in paths)
    return list(ByteReader(own, other, by_document=apart, sizes=SIZES._replace(block=block)))


def tokens_in_stretches(*paths: Path, **options: Any) -> int:
    return sum(item.tokens for item in in_step(*paths, **options) if isinstance(item, Stretch))


@contextmanager
def small(size: int) -> Iterator[Sizes]:
    """Blocks of this number of bytes, and about as many lines at a time."""
    sizes = Sizes(block=size, rows=size)
    with handed_in(sizes):
        yield sizes


def outcome(*paths: Path, **options: Any) -> object:
    """The counts and scores, also of units and values, or the error."""
    try:
        result = score(*paths, **options)
    except CluevalError as error:
        return str(error)
    return result.to_dict(), result if "resample_by" in options else None


def require_passages(*paths: Path, **options: Any) -> None:
    """Fail if files that are read as bytes have another outcome than their passages."""
    with passages_alone():
        expected = outcome(*paths, **options)
    assert outcome(*paths, **options) == expected


def require_with_line(folder: Path, ending: str, text: str, line: str, place: int) -> None:
    """Fail if a text with another line has another outcome than its passages, beside itself or without the line."""
    lines = text.split("\n")
    changed = "\n".join([*lines[:place], line, *lines[place:]])
    gold = write(folder / f"g.{ending}", changed)
    for content in (changed, text):
        require_passages(gold, write(folder / f"p.{ending}", content))


GOLD = "<text id='1'>\n<s>\nw\tO\n</s>\n<s>\na\tO\nb\tB-X\nc\tO\nd\tB-Y\ne\tI-Y\nf\tO\ng\tO\n</s>\n</text>\n"
PREDICTED = GOLD.replace("e\tI-Y", "e\tO")


def unbroken(corpus: Corpus) -> str:
    """Documents without sentences."""
    return "".join(line for line in vrt(corpus).splitlines(True) if line not in ("<s>\n", "</s>\n"))


class TestSpanThatCrossesEveryLine:
    """Sentences may be much longer than a block; their lines are read as passages."""

    @pytest.mark.few(3)
    @pytest.mark.parametrize("size", [1, 7, 40, 200, 5000])
    @pytest.mark.parametrize(
        ("name", "head", "between", "foot"),
        [("a.vrt", "<text>\n", "", "</text>\n"), ("a.vrt", "<text>\n<s>\n", "</s>\n<s>\n", "</s>\n</text>\n"),
         ("a.conll", "", "\n", ""), ("a.conll", "-DOCSTART-\n\n", "\n", "\n")],
    )  # fmt: skip
    def test_span_across_all_lines_is_counted_as_in_passages(
        self, tmp_path: Path, name: str, head: str, between: str, foot: str, size: int
    ) -> None:
        sides = ["B-X", *["I-X"] * 99], ["B-X", "B-Y"] * 50
        paths = []
        for number, tags in enumerate(sides):
            lines = "".join(f"w{n}\t{tag}\n" for n, tag in enumerate(tags))
            parts = between.join([lines, "w\tO\n", lines]) if between else lines
            paths.append(write(tmp_path / f"{number}{name}", head + parts + foot))

        with small(size):
            require_passages(*paths, metrics=METRICS)


class TestRegularPieces:
    CORPUS: ClassVar[Corpus] = [
        [[("a", "O"), ("b", "B-X")], [("c", "O")]],
        [[("d", "I-X")]],
        [[("e", "O")]] * 3,
    ]

    @pytest.mark.parametrize(
        ("name", "form", "least"),
        [
            ("a.vrt", vrt, 3),
            ("a.conll", conll, 3),
            ("b.conll", lambda corpus: conll(corpus, " "), 3),
            ("unbroken.vrt", unbroken, 4),
            ("columns.vrt", lambda corpus: vrt(corpus).replace("\tO", "\tO\tX").replace("-X", "-X\tO"), 5),
        ],
    )
    def test_ordinary_files_are_regular_after_the_lines_that_determine_the_layout(
        self, tmp_path: Path, name: str, form: Any, least: int
    ) -> None:
        path = write(tmp_path / name, form(self.CORPUS))

        assert tokens_in_stretches(path, path, layers={"entity": 2}) >= least

    def test_files_with_crlf_are_regular(self, tmp_path: Path) -> None:
        gold = write(tmp_path / "g.vrt", vrt(self.CORPUS).replace("\n", "\r\n"))
        predicted = write(tmp_path / "p.vrt", vrt(self.CORPUS))

        assert tokens_in_stretches(gold, predicted) >= 3
        assert outcome(gold, predicted) == outcome(predicted, predicted)

    @pytest.mark.parametrize("labels", [5, 40])
    def test_sentences_that_differ_in_most_lines_are_regular_with_any_number_of_labels(
        self, tmp_path: Path, labels: int
    ) -> None:
        gold = [("w", f"{prefix}-{n}") for n in range(labels) for prefix in "BIO"]
        predicted = [("w", f"{prefix}-{n}") for n in range(labels) for prefix in "IBI"]
        for name, form in (("vrt", vrt), ("conll", conll)):
            paths = [
                write(tmp_path / f"{number}.{name}", form([[[("w", "O")], rows, rows[::-1], rows]]))
                for number, rows in enumerate((_legal(gold), _legal(predicted)))
            ]

            assert tokens_in_stretches(*paths) >= 3 * labels
            require_passages(*paths, metrics=METRICS)

    @pytest.mark.few(5)
    @pytest.mark.parametrize(
        "line",
        ["<S>", "<s  id='1'>", '<s 1="1">', '<s id="<">', '<s id=">">', "<s/>", "<texts>", "</s", "<s id='1' >", "\n",
         "<p>", "</p>", "<g/>", "", " ", "<!-- -->", "<s>", "</s>", "</text>", "<text>", "<s id=1>", "<", "x",
         "x\tO\tO", "\tO", "x<s>", "x\tO</s>", "<x\tO", '<s id="1"', "x\tO\r", "x\tO\0", "</text>\n<text id='1'>"],
    )  # fmt: skip
    @pytest.mark.parametrize("place", [3, 6, 7, 9])
    def test_irregular_line_in_vrt_has_the_outcome_of_passages(
        self, tmp_path: Path, line: str, place: int
    ) -> None:
        require_with_line(tmp_path, "vrt", vrt(self.CORPUS), line, place)

    @pytest.mark.few(5)
    @pytest.mark.parametrize(
        "line", ["", " ", "\t", "#", "# x", "#\tO", "-DOCSTART-", "-DOCSTART-\tO", "-DOCSTART-\n", "x", "x\tO\tO",
                 "\tO", " \tO", "x\tO\r", "x\tO\0", "# newdoc id = 7", "# sent_id = 7", "-DOCSTART-x\tO\n"],
    )  # fmt: skip
    @pytest.mark.parametrize("place", [2, 4, 5])
    def test_irregular_line_in_conll_has_the_outcome_of_passages(
        self, tmp_path: Path, line: str, place: int
    ) -> None:
        require_with_line(tmp_path, "conll", conll(self.CORPUS), line, place)

    @pytest.mark.parametrize(
        ("own", "other"),
        [("e\tO", "f\tO"), ("e\tO", "e\t"), ("e\tO", "e\tX-Y"), ("e\tO", "e\tB-\xff"), ("e\tO", "e\tB-X\tO"),
         ("e\tO", "e"), ("e\tB-&amp;", "e\tB-&#38;"), ("&amp;\tO", "&#38;\tB-X"), ("e\tB-&lt;", "e\tI-&lt;"),
         ("e\tO\nf\tO", "e\tO\tf\nO"), ("e\tO\nf\tB-X", "e\tB-X\tf\nB-X"), ("e\tO", "e\tB-X\0")],
    )  # fmt: skip
    def test_lines_that_differ_have_the_outcome_of_passages(
        self, tmp_path: Path, own: str, other: str
    ) -> None:
        text = vrt(self.CORPUS)
        gold = write(tmp_path / "g.vrt", text.replace("e\tO", own))
        predicted = tmp_path / "p.vrt"
        predicted.write_bytes(text.replace("e\tO", other).encode("latin-1"))

        require_passages(gold, predicted)

    @pytest.mark.parametrize("size", range(20, 60, 6))
    def test_span_that_goes_on_after_an_xml_tag_is_not_cut(self, tmp_path: Path, size: int) -> None:
        text = "<s>\n" + "a\tB-X\n<g/>\nb\tI-X\n" * 30 + "</s>\n"
        path = write(tmp_path / "a.vrt", text)

        with small(size):
            classes = score(path, path).metrics["levels"]["label"]["classes"]["gold"]

        assert classes["exact"] == 30

    @pytest.mark.parametrize("block", range(40, 200, 7))
    def test_line_of_blanks_at_a_cut_is_the_end_of_a_sentence(self, tmp_path: Path, block: int) -> None:
        gold, predicted = ("a O\n" * 20 + more + "a O\n" * 20 + "\n\n" for more in (" \n", ""))
        paths = [tmp_path / "gold.conll", tmp_path / "predicted.conll"]
        for path, text in zip(paths, (gold, predicted), strict=True):
            path.write_text(text, encoding="utf-8")

        with handed_in(Sizes(block=block)), pytest.raises(TextMismatch, match="begins a sentence"):
            score(*paths, input="conll")


def _legal(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(token, "O" if tag.startswith("O") else tag) for token, tag in rows]


LINES = (
    "<s>",
    "</s>",
    "<text id='1'>",
    "</text>",
    "a\tO",
    "a\tB-X",
    "a\tI-X",
    "b\tO",
    "<p>",
    "",
    "<s/>",
    "é\tB-é",
)


@given(
    lines=st.lists(st.sampled_from(LINES), max_size=14),
    changes=st.lists(st.tuples(st.integers(0, 13), st.sampled_from(LINES)), max_size=2),
    size=st.integers(1, 60),
    unit=st.sampled_from([None, "document"]),
)
@example(["<s>", "a\tO", "</s>", "<s>", "</s>", "<s>", "a\tO", "</s>"], [], 60, None)
def test_bytes_have_the_outcome_of_passages_for_any_lines(
    tmp_path: Path, lines: list[str], changes: list[tuple[int, str]], size: int, unit: str | None
) -> None:
    other = list(lines)
    for place, line in changes:
        other[place : place + 1] = [line]
    paths = [
        write(tmp_path / f"{n}.vrt", "".join(f"{line}\n" for line in side))
        for n, side in enumerate((lines, other))
    ]

    with small(size):
        require_passages(*paths, input="vrt", resample_by=unit)


def test_spans_of_an_equal_and_of_a_different_sentence_do_not_touch(tmp_path: Path) -> None:
    """Once the last line of all that is the same and the first of all that is not became one span."""
    gold = "a\tO\n\na\tI-X\nb\tO\n\nc\tB-X\n\nd\tO\n"
    paths = write(tmp_path / "g.conll", gold), write(tmp_path / "p.conll", gold.replace("b\tO", "b\tB-X"))

    levels = score(*paths).metrics["levels"]["label"]["classes"]

    assert levels["gold"]["exact"] == 2


def test_reading_ends_if_one_side_runs_ahead(tmp_path: Path) -> None:
    gold = write(tmp_path / "g.vrt", "<text>\n" + "a\tO\n" * 400 + "</text>\n")
    predicted = write(tmp_path / "p.vrt", "<text>\na\tO\n</text>\n" * 400)

    with patch.object(byte_reader, "AHEAD", 20), pytest.raises(Unusual, match="falls behind"):
        in_step(gold, predicted, block=100)
    assert "gold has the token 'a' where" in str(outcome(gold, predicted))


def test_counts_before_an_error_are_not_counted_twice(tmp_path: Path) -> None:
    """Passages alone are the judge: if they find nothing wrong, their counts stand."""
    paths = write(tmp_path / "g.vrt", GOLD), write(tmp_path / "p.vrt", PREDICTED)

    expected = outcome(*paths)
    with patch.object(PassageReader, "pass_over", side_effect=CluevalError("broken")):
        assert outcome(*paths) == expected


class TestStretches:
    @pytest.mark.parametrize("turn", [1, -1])
    def test_sentences_that_only_one_side_has_are_not_passed_over(self, tmp_path: Path, turn: int) -> None:
        """Both sides have the same text, but its sentences do not stand in pieces of the same number."""
        start, sentence, empty = "<text>\n<s>\na\tO\n</s>\n", "<s>\na\tB-X\n</s>\n", "<s>\n</s>\n"
        texts = [
            start + sentence * 2 + more + "</text>\n"
            for more in (
                sentence * 4 + empty * 8 + sentence * 16 + sentence * 8,
                sentence * 4 + sentence.replace("B-X", "O") * 8 + sentence * 16 + empty * 8,
            )
        ]
        paths = [write(tmp_path / f"{n}.vrt", text) for n, text in enumerate(texts[::turn])]

        with documents_alone():
            expected = outcome(*paths)
        assert outcome(*paths) == expected
        with pytest.raises(Unusual, match="one side has sentences that the other lacks"):
            in_step(*paths)


CARRIAGE_RETURNS = ["a\tO\r\r\n", "a\tO\rb\n", "\r\r\n", "a\r\tO\n", "\ra\tO\n", "a\tO\r"]


@pytest.mark.few(5)
@pytest.mark.parametrize("name", ["a.vrt", "a.conll"])
@pytest.mark.parametrize("line", CARRIAGE_RETURNS)
@pytest.mark.parametrize("after", ["", "a\tO\n" * 9])
@pytest.mark.parametrize("size", [1, pytest.param(30, marks=pytest.mark.long), 1000])
def test_lone_carriage_return_anywhere_has_the_outcome_of_passages(
    tmp_path: Path, name: str, line: str, after: str, size: int
) -> None:
    text = "a\tO\r\n\r\na\tB-X\n" * 3
    gold, predicted = (tmp_path / f"{n}{name}" for n in "gp")
    gold.write_bytes((text + line + after).encode())
    predicted.write_bytes((text + after).encode())

    for paths in ((gold, gold), (predicted, gold)):
        with small(size):
            require_passages(*paths)


LEAST = 4 * SIZES.block


@pytest.mark.parametrize(
    ("own", "other", "expected"),
    [
        ({}, {}, True),
        ({"invalid": "discard", "scheme": "BIO"}, {"invalid": "discard", "scheme": "BIO"}, True),
        ({"sentence_tag": "p"}, {"sentence_tag": "p"}, True),
        ({"sentence_tag": "p"}, {}, False),
        ({"document_column": 1}, {"document_column": 1}, False),
        ({"token_id": 1}, {"token_id": 1}, False),
        ({"max_line": LEAST}, {"max_line": LEAST}, True),
        ({"max_line": LEAST - 1}, {"max_line": LEAST - 1}, False),
        ({"max_sentence": LEAST}, {"max_sentence": LEAST}, True),
        ({"max_sentence": LEAST - 1}, {"max_sentence": LEAST - 1}, False),
    ],
)
def test_column_files_of_one_format_that_are_read_alike_are_read_as_bytes(
    tmp_path: Path, own: dict[str, Any], other: dict[str, Any], expected: bool
) -> None:
    path = write(tmp_path / "a.vrt", "<text>\n<p>\n<s>\nw\tO\n</s>\n</p>\n</text>\n")

    assert reads_bytes(*(source_of(path, FormatOptions(**each)) for each in (own, other))) == expected


def test_formats_and_names_of_columns_decide_whether_bytes_are_read(tmp_path: Path) -> None:
    conll, vrt, named = (
        source_of(write(tmp_path / name, text), FormatOptions())
        for name, text in (
            ("a.conll", "w\tO\n"),
            ("a.vrt", "<text>\nw\tO\n</text>\n"),
            ("b.conll", "TOKEN\tNE-COARSE-LIT\nw\tO\n"),
        )
    )

    assert reads_bytes(conll, conll)
    assert not any((reads_bytes(conll, vrt), reads_bytes(vrt, conll), reads_bytes(named, named)))
