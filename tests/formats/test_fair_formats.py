"""FairEval's two formats: what their lines mean, and what is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clueval import read, score
from clueval.core.document import Document
from clueval.core.span import Span
from clueval.files.errors import FormatError, TagError
from clueval.formats.fair import PUNCTUATION
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions
from tests.formats.outcomes import read_as
from tests.oracles import item, pair_by_lists
from tests.readings import fair_documents


def span_file(text: str) -> list[Document]:
    return list(fair_documents(enumerate(text.split("\n"), 1), file="gold.csv"))


def conll(text: str, repaired: int | None = None, **options: Any) -> list[Document]:
    """The sentences of a file; `repaired` is how many of its tags are repaired."""
    with TemporaryDirectory() as folder, chdir(folder):
        file = InputFile(Path("gold.conll"))
        file.path.write_text(text, encoding="utf-8")
        found = list(read_as(file, FormatOptions(**options), "conll2000"))
    if repaired is not None:
        assert file.repaired["label"] == repaired
    return found


def spans(document: Document) -> Sequence[Span]:
    return document.layers["label"]


def shown(documents: list[Document]) -> list[list[str]]:
    """Spans as they label themselves, with the tokens of those that have holes."""
    return [
        [
            f"{span.label}[{span.start},{span.end})" + (f"{sorted(span.tokens)}" if span.tokens else "")
            for span in spans(document)
        ]
        for document in documents
    ]


# Span files ----------------------------------------------------------------------------------------------


def test_a_span_file_counts_from_one_and_includes_the_last_token() -> None:
    assert shown(span_file("PER\t6\t7\t6, 7\nORG\t20\t20\t20")) == [["PER[5,7)", "ORG[19,20)"]]


def test_any_number_of_blank_lines_also_with_blanks_separates_sentences() -> None:
    documents = span_file("\n\nA\t1\t1\t1\n \t \n\nB\t2\t2\t2\n\n\n")

    assert shown(documents) == [["A[0,1)"], ["B[1,2)"]]
    assert [document.id for document in documents] == ["1", "2"]
    assert span_file("") == []


@pytest.mark.parametrize(
    ("tokens", "inside"),
    [
        ("2, 3, 4", None),
        ("4,3,2", None),
        ("2, 4", {1, 3}),
        ("2, 4, 9, 1", {1, 3}),
        ("9", None),
        ("", None),
        (" , ", None),
    ],
)
def test_tokens_are_kept_if_they_are_not_the_whole_range(tokens: str, inside: set[int] | None) -> None:
    [document] = span_file(f"A\t2\t4\t{tokens}")

    assert spans(document)[0].tokens == inside


def test_placeholder_stands_for_a_sentence_without_spans() -> None:
    assert shown(span_file("NONE\t999\t999\t999\n\nEMPTY\t999\t999\t999")) == [[], []]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("A\t1\t2", "3 tab-separated columns instead of 4"),
        ("A\t1\t2\t1, 2\tx", "5 tab-separated columns instead of 4"),
        ("A 1 2 1", "1 tab-separated column instead of 4"),
        ("\t1\t2\t1, 2", "a span without label"),
        ("A\t0\t2\t1, 2", "the first token is 0 (tokens count from 1)"),
        ("A\t-3\t2\t1, 2", "the first token is -3 (tokens count from 1)"),
        ("A\t3\t2\t2", "the first token, 3, comes after the last, 2"),
        ("A\tx\t2\t2", "the first token is 'x', not a whole number"),
        ("A\t1\t2.0\t2", "the last token is '2.0', not a whole number"),
        ("A\t1\t\t2", "the last token is '', not a whole number"),
        ("A\t1\t2\t1; 2", "the token is '1; 2', not a whole number"),
        ("A\t1\t1_0\t1", "the last token is '1_0', not a whole number"),
        ("A\t1\t" + "9" * 5000 + "\t1", "the last token is '99999999999999999999...', not a whole number"),
        ("NONE\t5\t4\t", "the first token, 5, comes after the last, 4"),
    ],
)
def test_line_that_is_not_a_span_is_refused_with_file_and_line(line: str, problem: str) -> None:
    with pytest.raises(FormatError) as refused:
        span_file(f"A\t1\t1\t1\n\n{line}")

    assert str(refused.value).startswith(f"gold.csv:3: {problem}")
    assert "\n" not in str(refused.value)


def test_error_for_the_same_bad_line_names_the_file_that_has_it() -> None:
    for file in ("a.csv", "b.csv"):
        with pytest.raises(FormatError, match=rf"^{file}:1: "):
            list(fair_documents([(1, "A\t2\t1\t1")], file=file))


@given(
    st.lists(
        st.tuples(
            st.sampled_from("AB"), st.integers(1, 30), st.integers(0, 30), st.frozensets(st.integers(0, 40))
        ),
        min_size=1,
    )
)
def test_spans_that_are_written_are_read_back(
    rows: list[tuple[str, int, int, frozenset[int]]],
) -> None:
    text = "\n".join(
        f"{label}\t{begin}\t{begin + more}\t{', '.join(map(str, sorted(tokens)))}"
        for label, begin, more, tokens in rows
    )
    [document] = span_file(text)

    assert [span.line for span in spans(document)] == [*range(1, len(rows) + 1)]
    for (label, begin, more, tokens), span in zip(rows, spans(document), strict=True):
        whole = set(range(begin - 1, begin + more))
        inside = {token - 1 for token in tokens} & whole
        assert (span.label, span.start, span.end) == (label, begin - 1, begin + more)
        assert (span.tokens or whole) == (inside or whole)


# CoNLL-2000 ----------------------------------------------------------------------------------------------


def stacked(*tags: str) -> str:
    return "\n".join(f"w{place} NN {tag}" for place, tag in enumerate(tags))


def test_stacked_tags_are_nested_spans_in_the_order_in_which_they_end() -> None:
    tags = ["B-S|B-NP", "I-S|B-VP", "I-S|I-VP|B-NP", "I-S|I-VP|I-NP|B-AP", "I-S|I-VP|I-NP", "I-S|"]

    assert shown(conll(stacked(*tags))) == [
        ["NP[0,1)", "AP[3,4)", "NP[2,5)", "VP[1,5)", "S[0,6)"],
    ]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (["B-A", "B-A"], ["A[0,1)", "A[1,2)"]),
        (["B-A|B-B", "B-A|B-B"], ["A[0,1)", "B[0,1)", "A[1,2)", "B[1,2)"]),
        (["B-A|B-B|B-C", "I-A|B-B"], ["C[0,1)", "B[0,1)", "A[0,2)", "B[1,2)"]),
        (["B-A|B-B|B-C", "B-D"], ["C[0,1)", "B[0,1)", "A[0,1)", "D[1,2)"]),
        (["B-A|B-B|B-C", "B-D|I-B"], ["C[0,1)", "A[0,1)", "B[0,1)", "D[1,2)", "B[1,2)"]),
        (["B-A|B-B|B-C", "I-A|I-B|B-D"], ["C[0,1)", "A[0,2)", "B[0,2)", "D[1,2)"]),
        (["B-A|B-B", "I-A", "I-A|B-B"], ["B[0,1)", "A[0,3)", "B[2,3)"]),
        (["B-A|B-B", "O", "B-A"], ["A[0,1)", "B[0,1)", "A[2,3)"]),
        (["B-A", "_", "", "B-A"], ["A[0,1)", "A[3,4)"]),
        (["B-A|O", "I-A|_"], ["A[0,2)"]),
        (["B-NONE", "B-EMPTY"], []),
        (["B-A-x", "I-A-x"], ["A-x[0,2)"]),
    ],
)
def test_tags_begin_and_end_spans_by_depth(tags: list[str], expected: list[str]) -> None:
    assert shown(conll(stacked(*tags))) == [expected]


def ended_in_order(rows: Sequence[Sequence[str]]) -> list[tuple[str, int, int]]:
    """The spans of stacked tags in FairEval's order: each span is sorted by the token and the step that end it."""
    open_at: list[tuple[str, int]] = []
    ended: list[tuple[tuple[int, int, int], tuple[str, int, int]]] = []
    for place, tags in enumerate([*rows, []]):
        fresh = [
            depth
            for depth, tag in enumerate(tags)
            if tag[0] == "B" or depth >= len(open_at) or open_at[depth][0] != tag[2:]
        ]
        stays = min([len(tags), *fresh])
        for depth, (label, start) in enumerate(open_at):
            if depth < stays:
                continue
            if not tags:
                key = (place, 0, depth)
            elif depth >= len(tags):
                key = (place, 1, -depth)
            else:
                key = (place, 2, depth if stays == 0 else -depth)
            ended.append((key, (label, start, place)))
        open_at = [*open_at[:stays], *((tag[2:], place) for tag in tags[stays:])]
    return [one for _, one in sorted(ended)]


TAGS = ("B-A", "I-A", "I-A", "B-B", "I-B", "B-C")


def random_stacks(rng: Random, shapes: Sequence[int]) -> list[list[list[str]]]:
    """Sentences of these numbers of tokens, each with up to three tags."""
    return [[[rng.choice(TAGS) for _ in range(rng.randint(0, 3))] for _ in range(size)] for size in shapes]


def conll2000_of(sentences: Sequence[Sequence[Sequence[str]]]) -> str:
    return "\n\n".join(stacked(*("|".join(tags) or "O" for tags in rows)) for rows in sentences) + "\n"


def test_stacked_tags_give_the_order_of_faireval() -> None:
    rng = Random(6)
    sentences = random_stacks(rng, [rng.randint(1, 6) for _ in range(300)])

    documents = conll(conll2000_of(sentences))

    for rows, document in zip(sentences, documents, strict=True):
        assert [(span.label, span.start, span.end) for span in spans(document)] == ended_in_order(rows), rows


def test_stacked_tags_give_the_pairs_of_faireval_on_every_route(tmp_path: Path) -> None:
    rng = Random(31)
    shapes = [rng.randint(1, 6) for _ in range(400)]
    sides = [random_stacks(rng, shapes) for _ in range(2)]
    gold, predicted = tmp_path / "gold.conll", tmp_path / "predicted.conll"
    for path, side in ((gold, sides[0]), (predicted, sides[1])):
        path.write_text(conll2000_of(side), encoding="utf-8")

    expected: Counter[tuple[str, str]] = Counter()
    for pair in zip(*sides, strict=True):
        own, other = ([item(*span, None) for span in ended_in_order(rows)] for rows in pair)
        for kind, i, j in pair_by_lists(own, other):
            if kind != "TP":
                expected["_" if i is None else own[i][0], "_" if j is None else other[j][0]] += 1

    routes = (
        score(gold, predicted, metrics=["fair"], input="conll2000"),
        score(gold, predicted, metrics=["fair", "exact"], input="conll2000"),
        score(*(list(read(path, input="conll2000")) for path in (gold, predicted)), metrics=["fair"]),
    )
    for result in routes:
        confusion = result.metrics["fair"]["label"]["confusion"]
        assert {(a, b): n for a, row in confusion.items() for b, n in row.items() if n} == expected


def test_labelling_error_is_paired_with_the_span_that_ends_first(tmp_path: Path) -> None:
    # C[0,1) and D[0,1) both have the range of the predicted span; D ends while A goes on, so it is listed first.
    gold, predicted = tmp_path / "gold.conll", tmp_path / "predicted.conll"
    gold.write_text("a NN B-A|B-C|B-D\nb NN I-A\n", encoding="utf-8")
    predicted.write_text("a NN B-B\nb NN O\n", encoding="utf-8")

    sides = [list(read(path, input="conll2000")) for path in (gold, predicted)]
    [by_documents, by_files] = [
        score(*pair, metrics=["fair"], **options).metrics["fair"]["label"]["confusion"]
        for pair, options in ((sides, {}), ((gold, predicted), {"input": "conll2000"}))
    ]

    assert by_documents == by_files
    assert {(one, other) for one, row in by_files.items() for other, n in row.items() if n} == {
        ("D", "B"),
        ("C", "_"),
        ("A", "_"),
    }


def test_span_that_ends_in_punctuation_is_listed_at_the_end_of_its_tags() -> None:
    # Without its last token the outer A is as long as B, which ended before it.
    [document] = conll("a NN B-A|B-B\nb NN I-A|I-B\n. $. I-A")

    assert shown([document]) == [["B[0,2)", "A[0,2)"]]


def test_tokens_are_the_text_and_sentences_are_documents() -> None:
    first, second = conll("Das ART B-NP\nHaus NN I-NP\n\nsteht VVFIN O\n")

    assert (first.id, first.tokens, list(first.lines or ())) == ("1", ["Das", "Haus"], [1, 2])
    assert (second.id, second.tokens, list(second.lines or ())) == ("2", ["steht"], [4])


def test_tabs_and_several_blanks_separate_columns_as_well() -> None:
    assert shown(conll("Das\tART\tB-NP\nHaus  NN\tI-NP")) == [["NP[0,2)"]]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["a NN B-A", ", $, I-A", "b NN I-A"], ["A[0,3)[0, 2]"]),
        (["( $( B-A", "a NN I-A", ") $( I-A"], ["A[1,2)"]),
        ([". PUNCT B-A"], []),
        (["a NN B-A", ", $, I-A", ". $. I-A"], ["A[0,1)"]),
        (["a NN B-S", "„ “ I-S|B-A", "b NN I-S|I-A"], ["S[0,3)[0, 2]", "A[2,3)"]),
    ],
)
def test_punctuation_is_removed_from_spans(rows: list[str], expected: list[str]) -> None:
    assert shown(conll("\n".join(rows))) == [expected]


def test_punctuation_stays_with_ignore_punct_false() -> None:
    assert shown(conll("( $( B-A\na NN I-A", ignore_punct=False)) == [["A[0,2)"]]


def test_the_published_punctuation_tags_are_known() -> None:
    known = ["$.", "$,", "$(", "PUNCT", "PUNKT", "KOMMA", "COMMA", "KLAMMER", *'.,:()"“”']

    assert set(known) <= PUNCTUATION


@pytest.mark.parametrize(
    ("tags", "expected", "repaired"),
    [
        (["I-A", "I-A"], ["A[0,2)"], 1),
        (["B-A", "I-B", "I-B"], ["A[0,1)", "B[1,3)"], 1),
        (["B-A", "I-A|I-B"], ["A[0,2)", "B[1,2)"], 1),
        (["B-A|B-B", "I-C|I-B"], ["A[0,1)", "B[0,1)", "C[1,2)", "B[1,2)"], 2),
        (["B-A|B-B", "I-A", "I-A|I-B"], ["B[0,1)", "A[0,3)", "B[2,3)"], 1),
        (["B-A", "O", "I-A"], ["A[0,1)", "A[2,3)"], 1),
        (["B-A", "I-A"], ["A[0,2)"], 0),
    ],
)
def test_inside_tag_that_continues_no_span_begins_one_and_is_counted(
    tags: list[str], expected: list[str], repaired: int
) -> None:
    [document] = conll(stacked(*tags), repaired)

    assert shown([document]) == [expected]


def test_inside_tag_that_continues_no_span_is_an_error_with_invalid_error() -> None:
    with pytest.raises(TagError) as refused:
        conll(stacked("B-A", "I-B"), invalid="error")

    assert str(refused.value) == "gold.conll:2: an I- in 'I-B' continues no span (begin a span with B-)"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("Haus NN", "2 columns instead of 3"),
        ("Haus", "1 column instead of 3"),
        ("ein Haus NN O", "4 columns instead of 3"),
        (" NN O", "a token without form"),
        ("Haus NN X-NP", "'X-NP' in 'X-NP' is not a tag"),
        ("Haus NN B", "'B' in 'B' is not a tag"),
        ("Haus NN B-", "'B-' in 'B-' is not a tag"),
        ("Haus NN O|B-NP", "'O' in 'O|B-NP' is not a tag"),
        ("Haus NN B-S||B-NP", "'' in 'B-S||B-NP' is not a tag"),
    ],
)
def test_line_that_is_not_a_token_is_refused_with_file_and_line(line: str, problem: str) -> None:
    with pytest.raises(FormatError) as refused:
        conll(f"Das ART O\n\n{line}")

    assert str(refused.value).startswith(f"gold.conll:3: {problem}")


@st.composite
def nested(draw: st.DrawFn) -> list[tuple[str, int, int]]:
    """Spans that nest or lie apart, outer before inner, as tags can say them."""
    found: list[tuple[str, int, int]] = []

    def fill(start: int, end: int, depth: int) -> None:
        while start < end:
            begin = draw(st.integers(start, end))
            stop = draw(st.integers(begin, end))
            if begin < stop:
                found.append((draw(st.sampled_from("AB")), begin, stop))
                if depth < 2:
                    fill(begin, stop, depth + 1)
            start = stop + 1 if begin == stop else stop

    fill(0, 8, 0)
    return found


@given(nested())
@example([("A", 0, 6), ("B", 0, 6), ("A", 6, 8)])  # B ends before A
def test_nested_spans_written_as_tags_are_read_back(written: list[tuple[str, int, int]]) -> None:
    stacks: list[list[str]] = [[] for _ in range(8)]
    for label, start, end in written:
        for place in range(start, end):
            stacks[place].append(("B-" if place == start else "I-") + label)
    [document] = conll(stacked(*("|".join(stack) or "O" for stack in stacks)), repaired=0)

    found = [(span.label, span.start, span.end) for span in spans(document)]
    assert found == ended_in_order(stacks)
    assert sorted(found) == sorted(written)
