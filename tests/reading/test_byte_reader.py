"""Two column files that are read in step as bytes have the outcome of their passages and documents."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby, product
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
from clueval.formats.column_format import Layout
from clueval.formats.options import FormatOptions
from clueval.formats.xml_text import unescape
from clueval.reading import byte_reader
from clueval.reading.byte_reader import (
    BOTH,
    REGULAR,
    ByteReader,
    DocumentHead,
    Recogniser,
    Stretch,
    TagCharacters,
    find_hunks,
    fits,
    is_plain,
    reads_bytes,
)
from clueval.reading.clusters import RowCharacters, Unusual
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
        ("name", "form"), [("a.vrt", vrt), ("a.conll", conll), ("b.conll", lambda corpus: conll(corpus, " "))]
    )
    def test_ordinary_files_are_regular_after_the_lines_that_determine_the_layout(
        self, tmp_path: Path, name: str, form: Any
    ) -> None:
        path = write(tmp_path / name, form(self.CORPUS))

        assert tokens_in_stretches(path, path) >= 3

    def test_documents_without_sentences_are_regular(self, tmp_path: Path) -> None:
        path = write(tmp_path / "f.vrt", unbroken(self.CORPUS))

        assert tokens_in_stretches(path, path) == 4

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

    def test_files_with_other_columns_after_the_tags_are_regular(self, tmp_path: Path) -> None:
        path = write(tmp_path / "f.vrt", vrt(self.CORPUS).replace("\tO", "\tO\tX").replace("-X", "-X\tO"))

        assert tokens_in_stretches(path, path, layers={"entity": 2}) == 5

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
        lines = vrt(self.CORPUS).split("\n")
        text = "\n".join([*lines[:place], line, *lines[place:]])
        gold, same = write(tmp_path / "g.vrt", text), write(tmp_path / "p.vrt", text)
        other = write(tmp_path / "o.vrt", vrt(self.CORPUS))

        for predicted in (same, other):
            require_passages(gold, predicted)

    @pytest.mark.few(5)
    @pytest.mark.parametrize(
        "line", ["", " ", "\t", "#", "# x", "#\tO", "-DOCSTART-", "-DOCSTART-\tO", "-DOCSTART-\n", "x", "x\tO\tO",
                 "\tO", " \tO", "x\tO\r", "x\tO\0", "# newdoc id = 7", "# sent_id = 7", "-DOCSTART-x\tO\n"],
    )  # fmt: skip
    @pytest.mark.parametrize("place", [2, 4, 5])
    def test_irregular_line_in_conll_has_the_outcome_of_passages(
        self, tmp_path: Path, line: str, place: int
    ) -> None:
        lines = conll(self.CORPUS).split("\n")
        text = "\n".join([*lines[:place], line, *lines[place:]])
        gold, same = write(tmp_path / "g.conll", text), write(tmp_path / "p.conll", text)
        other = write(tmp_path / "o.conll", conll(self.CORPUS))

        for predicted in (same, other):
            require_passages(gold, predicted)

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
    MARKS = "-DOCSTART-\n\na O\n\nb O\n\nc O\n\n-DOCSTART- x\n\nc O\n\n-DOCSTART-\n\nc O\n\n-DOCSTART-\n\n"

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


SENTENCE, DOCUMENT = b"</s>\n", b"</text>\n"
OPEN = "<text id='1'>\n<s>\nw\tO\n</s>\n"
"""The beginning of a file, in the document, between sentences."""


def recogniser(path: Path, text: str, **options: Any) -> Recogniser:
    """The recogniser of a file of which this text has been read."""
    source = source_of(write(path, text or "w\tO\n"), FormatOptions(input=path.suffix[1:]))
    source = replace(source, options=FormatOptions(input=path.suffix[1:], **options))
    reader = PassageReader(source)
    if text:
        reader.feed(1, text)
    return REGULAR[source.form.name](reader, source.options)


class TestVrtPieces:
    @pytest.mark.parametrize(
        ("read", "sentences", "more_documents", "documents"),
        [
            ("", False, False, True),
            ("<text>\n", True, True, False),
            ("<text>\n<s>\n", False, False, False),
            ("<text>\n<s>\nw\tO\n", False, False, False),
            ("<text>\n<s>\nw\tO\n</s>\n", True, True, False),
            ("<text>\nw\tO\n", False, False, False),
            ("<s>\nw\tO\n</s>\n", True, False, False),
            ("<text>\n<s>\nw\tO\n</s>\n</text>\n", False, False, True),
        ],
    )
    def test_vrt_pieces_are_allowed_where_the_elements_around_them_are_open(
        self,
        tmp_path: Path,
        read: str,
        sentences: bool,
        more_documents: bool,
        documents: bool,
    ) -> None:
        takes = recogniser(tmp_path / "a.vrt", read).takes

        assert [takes(SENTENCE, 0), takes(SENTENCE, 1)] == [sentences, more_documents]
        assert takes(DOCUMENT, 1) == documents

    def test_vrt_documents_have_the_heads_of_their_start_tags(self, tmp_path: Path) -> None:
        file = recogniser(tmp_path / "a.vrt", OPEN)
        between = [b"<s>\na\tO\n", b'</text>\n<text id="2" court="R&amp;D">\n<s>\nb\tO\n', b"<s>\nc\tO\n"]

        assert file.heads(SENTENCE, between) == [DocumentHead(1, "2", {"id": "2", "court": "R&D"})]
        assert file.heads(DOCUMENT, [b'<text id="3">\n court="x"\tO\n', b"<text>\na\tO\n"]) == [
            DocumentHead(0, "3", {"id": "3"}),
            DocumentHead(1, None, {}),
        ]

    def test_vrt_elements_may_have_other_names(self, tmp_path: Path) -> None:
        names = {"document_tag": "d.1", "sentence_tag": "p"}
        file = recogniser(tmp_path / "a.vrt", "<d.1>\n<p>\nw\tO\n</p>\n", **names)

        assert file.ends == (b"</p>\n", b"</d.1>\n")
        assert file.regular(b"</p>\n", [b"</d.1>\n<d.1>\n<p>\na\tO\n"]) == 1
        assert file.regular(b"</p>\n", [b"</d.1>\n<d_1>\n<p>\na\tO\n"]) is None


class TestConllPieces:
    @pytest.mark.parametrize(
        ("piece", "is_mark"),
        [(b"-DOCSTART-", True), (b"-DOCSTART- -X- O", True), (b"-DOCSTART-\tO", True), (b"-DOCSTART- ", True),
         (b"-DOCSTART-x\tO", False), (b"-DOCSTART-\na\tO", False), (b"a\t-DOCSTART-", False), (b"", False)],
    )  # fmt: skip
    def test_conll_marks_are_pieces_of_one_line(self, tmp_path: Path, piece: bytes, is_mark: bool) -> None:
        file = recogniser(tmp_path / "a.conll", "w\tO\n\n")

        assert file.ends == (b"\n\n",)
        assert file.heads(b"\n\n", [b"a\tO", piece]) == [DocumentHead(1, None, {})] * is_mark

    @pytest.mark.parametrize(
        ("read", "sentences"),
        [
            ("", False),
            ("w\tO\n", False),
            ("w\tO\n\n", True),
            ("-DOCSTART-\n\n", True),
        ],
    )
    def test_conll_pieces_are_allowed_in_a_document(self, tmp_path: Path, read: str, sentences: bool) -> None:
        takes = recogniser(tmp_path / "a.conll", read).takes

        assert [takes(b"\n\n", 0), takes(b"\n\n", 1)] == [sentences, sentences]


# Byte rows


def layout(line: str = "w\tO", layers: dict[str, int] | None = None, token: int | None = None) -> Layout:
    width = len(line.split("\t"))
    columns = {name: column - 1 for name, column in (layers or {"label": width}).items()}
    return Layout(width, "\t", (token or 1) - 1, columns)


def lines(*rows: str) -> list[bytes]:
    return [row.replace("/", "\t").encode() for row in rows]


def found(fields: list[bytes], width: int = 2) -> list[str]:
    """The rows as they are written here."""
    joined = (b"/".join(fields[n : n + width]) for n in range(0, len(fields), width))
    return [line.replace(BOTH, b"|").decode() for line in joined]


LINES_OF_GOLD = lines("a/O", "b/B-X", "c/O", "d/B-Y", "e/I-Y", "f/O", "g/O")
LINES_OF_PREDICTED = lines("a/O", "b/B-X", "c/O", "d/B-Y", "e/O", "f/O", "g/O")


def hunks(gold: list[bytes], predicted: list[bytes]) -> list[bytes]:
    of_both = find_hunks(gold, predicted, b"\n\n", layout(), marked=False)
    assert of_both is not None
    return of_both


def test_hunks_of_the_example_in_the_docstring() -> None:
    assert found(hunks([b"\n".join(LINES_OF_GOLD)], [b"\n".join(LINES_OF_PREDICTED)])) == [
        "O/B-X",
        "O/O",
        "O/B-Y",
        "e/I-Y|O",
        "O/O",
    ]


def test_lines_outside_every_span_have_no_hunks() -> None:
    assert hunks(lines("a/O", "b/O"), lines("a/O", "b/O")) == hunks([], []) == []


def test_hunks_end_with_the_sentence() -> None:
    gold = lines("a/B-X", "a/B-X\nb/I-X", "a/B-X\nb/O")
    predicted = lines("a/B-X", "a/B-X\nb/I-Y", "a/B-X\nb/O")

    same, different = ["O/B-X", "O/O"], ["O/B-X", "b/I-X|I-Y", "O/O"]
    assert found(hunks(gold, predicted)) == [*same, *same, *different]


@pytest.mark.parametrize(
    "line", ["a", "a/O/O", "x/O", "/O", "a/O\0", "a/B-\udcff"], ids=ascii
)  # in place of a/O
def test_lines_that_differ_in_more_than_tags_have_no_hunks(line: str) -> None:
    predicted = [line.replace("/", "\t").encode("utf-8", "surrogateescape"), *LINES_OF_PREDICTED[1:]]

    assert find_hunks(LINES_OF_GOLD, predicted, b"\n\n", layout(), marked=False) is None
    assert (
        find_hunks([b"\n".join(LINES_OF_GOLD)], [b"\n".join(predicted)], b"\n\n", layout(), marked=False)
        is None
    )


def test_sentences_that_end_at_other_lines_have_no_hunks() -> None:
    gold, predicted = lines("a/O\na/O", "a/O\na/B-X"), lines("a/O", "a/O\na/O\na/O")

    assert find_hunks(gold, predicted, b"\n\n", layout(), marked=False) is None
    assert find_hunks(lines("a/O\na/O"), lines("a/B-X"), b"\n\n", layout(), marked=False) is None


@pytest.mark.parametrize("text", ["a\n", "a\tO\tO\n", "a\tO\nb\n", "a\nb\tO\tO\n", "\tO\n", "a\tO\n\tO\n"])
def test_lines_with_another_number_of_fields_do_not_fit(text: str) -> None:
    assert not fits(text.encode(), layout())
    assert fits(b"a\tO\nb\tB-X\n", layout())


def test_layout_is_plain_if_the_token_is_first_and_the_layers_are_adjacent() -> None:
    assert is_plain(layout("a\tb\tc\td", {"y": 3, "x": 2}))
    assert not is_plain(layout("a\tb\tc\td", {"y": 4, "x": 2}))
    assert not is_plain(layout("a\tb\tc\td", {"x": 3}, token=2))


def runs_of(fields: list[bytes], of_file: Layout) -> list[tuple[str, ...]]:
    """The runs of rows in spans of either side, each with the tags of its layers as they are written here."""
    tags = [fields[column :: of_file.width] for column in of_file.layers.values() if isinstance(column, int)]
    written = [b"/".join(row).replace(BOTH, b"|").decode() for row in zip(*tags, strict=True)]
    return split(written, "/".join("O" for _ in tags))


def split(written: Iterable[str], outside: str) -> list[tuple[str, ...]]:
    """The runs of rows that are not outside, in any order."""
    return sorted(tuple(run) for is_outside, run in groupby(written, outside.__eq__) if not is_outside)


def joined(own: Sequence[str], other: Sequence[str]) -> str:
    """The tags of both sides of a row as they are written here."""
    return "/".join(one if one == two else f"{one}|{two}" for one, two in zip(own, other, strict=True))


@pytest.mark.parametrize(("before", "layers", "after"), [*product((1, 2, 3), (1, 2), (0, 1, 2))])
def test_hunks_are_those_that_are_found_one_row_at_a_time(before: int, layers: int, after: int) -> None:
    rng = random.Random(f"{before} {layers} {after}")
    of_file = layout(
        "\t".join("w" * (before + layers + after)),
        {"x": before + 1, "y": before + 2} if layers == 2 else {"x": before + 1},
    )
    second = ("O", "O", "B-Y")
    sides: tuple[list[bytes], list[bytes]] = ([], [])
    expected: list[tuple[str, ...]] = []
    for number in range(40):
        own = [(rng.choice(("O", "O", "B-X", "I-X")), rng.choice(second)) for _ in range(rng.randint(1, 9))]
        other = [(rng.choice(("O", "B-X")), rng.choice(second)) if rng.random() < 0.1 else row for row in own]
        for side, rows in zip(sides, (own, other), strict=True):
            fields = [[f"O{number}", *["B-Z"] * (before - 1), *row[:layers], *["O"] * after] for row in rows]
            side += [b"\n".join("\t".join(line).encode() for line in fields)]
        written = [joined(*(row[:layers] for row in pair)) for pair in zip(own, other, strict=True)]
        expected += split(written, "/".join("O" * layers))
    gold, predicted = sides

    of_both = find_hunks(gold, predicted, b"\n\n", of_file, marked=False)

    assert of_both is not None
    assert runs_of(of_both, of_file) == sorted(expected)
    assert len(of_both) // of_file.width == sum(
        len(run) + 1 for run in expected
    )  # a line that is outside follows each


@pytest.mark.parametrize(("decode", "label"), [(unescape, "<"), (None, "&lt;")])
def test_tags_of_one_or_both_sides_become_the_character_of_their_row(
    decode: Callable[[str], str] | None, label: str
) -> None:
    rows = RowCharacters(4)
    characters = TagCharacters(rows, "\t", decode=decode)

    tags = [b"O\tO", b"B-X\tO", b"B-X\0I-X\tO", b"O\tB-&lt;\0O", b"O\tO\0I-Y", b"B-x y\tO"]
    written = "".join(map(characters.__getitem__, tags))

    assert written[0] == " "
    assert list(map(rows.rows.__getitem__, written[1:])) == [
        (1, "B-X", "O", "B-X", "O"),
        (1, "B-X", "O", "I-X", "O"),
        (1, "O", f"B-{label}", "O", "O"),
        (1, "O", "O", "O", "I-Y"),
        (1, "B-x y", "O", "B-x y", "O"),
    ]
    assert characters[b"B-X\tO\0O"] == characters[b"B-X\tO"]
