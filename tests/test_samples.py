"""The sample corpora keep their promises: what `clueval/samples/README.md` says of them is true.

Nothing here uses the library. The decoder and the classifier are the definitions written down naively, after
the drawing in the description of the CLUEval algorithm, so that the corpora can serve as a check on it.
Positions are token numbers over the whole file, spans are half-open.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

SAMPLES = Path(__file__).parents[1] / "clueval" / "samples"
CORPORA = ("german", "english")
SIDES = ("gold", "predicted")
COLUMNS = {"entity": 1, "risk": 2}  # counted from 0
CLASSES = {"exact", "superset", "tiling", "overlap", "missed"}

every_corpus = pytest.mark.parametrize("corpus", CORPORA)
every_side = pytest.mark.parametrize("side", SIDES)
every_layer = pytest.mark.parametrize("layer", COLUMNS)


class Found(NamedTuple):
    """A decoded span: the positions ``[start, end)`` and the label."""

    start: int
    end: int
    label: str


Token = list[str]


def lines_of(corpus: str, side: str) -> list[str]:
    return (SAMPLES / corpus / f"{side}.vrt").read_bytes().decode("utf-8").removesuffix("\n").split("\n")


def is_token(line: str) -> bool:
    return not line.startswith("<")


def tokens_of(corpus: str, side: str) -> list[Token]:
    return [line.split("\t") for line in lines_of(corpus, side) if is_token(line)]


def regions_of(corpus: str, side: str, tag: str) -> list[tuple[int, int]]:
    """The ranges ``[start, end)`` of all elements with this tag."""
    regions, position, start = [], 0, 0
    for line in lines_of(corpus, side):
        if is_token(line):
            position += 1
        elif re.match(rf"<{tag}[ >]", line):
            start = position
        elif line == f"</{tag}>":
            regions.append((start, position))
    return regions


def tags_of(corpus: str, side: str, layer: str) -> list[str]:
    return [token[COLUMNS[layer]] for token in tokens_of(corpus, side)]


def spans_of(corpus: str, side: str, layer: str) -> list[Found]:
    """IOB2 to spans, sentence by sentence; an ``I-`` that continues nothing begins a span."""
    tags = tags_of(corpus, side, layer)
    spans: list[Found] = []
    for first, last in regions_of(corpus, side, "s"):
        for position in range(first, last):
            kind, _, label = tags[position].partition("-")
            if position > first and kind == "I" and spans and spans[-1][1:] == (position, label):
                spans[-1] = Found(spans[-1].start, position + 1, label)
            elif kind != "O":
                spans.append(Found(position, position + 1, label))
    return spans


def ill_formed(corpus: str, side: str, layer: str) -> list[str]:
    """The ids of the tokens whose ``I-`` continues no span of its label in its sentence."""
    tokens, tags = tokens_of(corpus, side), tags_of(corpus, side, layer)
    begins = {first for first, _ in regions_of(corpus, side, "s")}
    return [
        tokens[position][3]
        for position, tag in enumerate(tags)
        if tag.startswith("I-") and (position in begins or tags[position - 1][1:] != tag[1:])
    ]


def class_of(span: Found, others: list[Found]) -> str:
    """CLUEval's class of one span, by looking at every span of the other side."""
    hits = [other for other in others if other.start < span.end and span.start < other.end]
    if not hits:
        return "missed"
    start, end = hits[0].start, hits[-1].end
    joined = all(left.end == right.start for left, right in pairwise(hits))
    if not joined or start > span.start or end < span.end:
        return "missed"
    same = (start, end) == (span.start, span.end)
    if len(hits) == 1:
        return "exact" if same else "superset"
    return "tiling" if same else "overlap"


def classes(corpus: str, layer: str, side: str) -> Counter[str]:
    """How many spans of one side are in each class, seen against the other side."""
    (other,) = set(SIDES) - {side}
    others = spans_of(corpus, other, layer)
    return Counter(class_of(span, others) for span in spans_of(corpus, side, layer))


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ([(3, 6)], "exact"),
        ([(2, 6)], "superset"),
        ([(3, 4), (4, 6)], "tiling"),
        ([(2, 4), (4, 6)], "overlap"),
        ([(2, 5), (5, 7)], "overlap"),
        ([(3, 4), (5, 6)], "missed"),
        ([(3, 5)], "missed"),
        ([(0, 3), (6, 9)], "missed"),
    ],
)
def test_the_classifier_follows_the_drawing(others: list[tuple[int, int]], expected: str) -> None:
    assert class_of(Found(3, 6, ""), [Found(start, end, "") for start, end in others]) == expected


@every_corpus
@every_side
def test_files_are_utf8_with_unix_lines_and_a_last_newline(corpus: str, side: str) -> None:
    raw = (SAMPLES / corpus / f"{side}.vrt").read_bytes()

    assert b"\r" not in raw
    assert not raw.startswith(b"\xef\xbb\xbf")
    assert raw.endswith(b"</text>\n")
    assert re.sub(r"[\n\t]", "", raw.decode("utf-8")).isprintable()


@every_corpus
@every_side
def test_every_line_is_a_tag_alone_or_a_token_with_four_columns(corpus: str, side: str) -> None:
    for line in lines_of(corpus, side):
        if is_token(line):
            word, *tags, token_id = line.split("\t")
            assert re.fullmatch(r"(?:[^&<>\s]|&(?:amp|lt|gt);)+", word), line
            assert all(re.fullmatch(r"O|[BI]-[a-z]+(?:-[a-z]+)*", tag) for tag in tags), line
            assert len(tags) == 2, line
            assert re.fullmatch(r"[ab]\d{3}-\d{4}", token_id), line
        else:
            assert re.fullmatch(r'<!-- [^<>]+ -->|</?(?:text|p|s)(?: [a-z]+="[^"<>&]*")*>', line), line


@every_corpus
def test_gold_and_predicted_differ_in_nothing_but_tags(corpus: str) -> None:
    def without_tags(side: str) -> list[str]:
        return [re.sub(r"\t\S+\t\S+\t", "\t", line) for line in lines_of(corpus, side)]

    assert without_tags("predicted") == without_tags("gold")


def test_token_ids_are_unique_over_both_corpora() -> None:
    ids = [token[3] for corpus in CORPORA for token in tokens_of(corpus, "gold")]

    assert [token_id for token_id, n in Counter(ids).items() if n > 1] == []


@pytest.mark.parametrize(("corpus", "documents", "tokens"), [("german", 5, 2797), ("english", 3, 1633)])
def test_sizes_are_those_of_the_readme(corpus: str, documents: int, tokens: int) -> None:
    readme = (SAMPLES / "README.md").read_text(encoding="utf-8")

    assert len(regions_of(corpus, "gold", "text")) == documents
    assert len(tokens_of(corpus, "gold")) == tokens
    assert re.search(rf"`{corpus}/` \|[^|]*\| {documents} \| {tokens} \|", readme)


@every_corpus
def test_samples_have_at_least_three_domains(corpus: str) -> None:
    domains = re.findall(r'<text id="[ab]\d{3}" domain="([^"]+)"', "\n".join(lines_of(corpus, "gold")))

    assert len(domains) == len(regions_of(corpus, "gold", "text"))
    assert len(set(domains)) >= 3


@every_corpus
def test_every_token_is_in_a_sentence_but_not_in_a_paragraph(corpus: str) -> None:
    everything = range(len(tokens_of(corpus, "gold")))
    in_sentences = [n for start, end in regions_of(corpus, "gold", "s") for n in range(start, end)]
    in_paragraphs = {n for start, end in regions_of(corpus, "gold", "p") for n in range(start, end)}

    assert in_sentences == list(everything)
    assert set() < in_paragraphs < set(everything)


@every_corpus
@every_side
def test_labels_are_those_of_the_readme(corpus: str, side: str) -> None:
    readme = (SAMPLES / "README.md").read_text(encoding="utf-8")
    for number, layer in ((2, "entity"), (3, "risk")):
        row = re.search(rf"^\| {number} \|.*$", readme, re.MULTILINE)
        assert row is not None
        documented = set(re.findall(r"`([a-z-]+)`", row[0]))
        assert {span.label for span in spans_of(corpus, side, layer)} == documented


@every_corpus
@every_side
@every_layer
def test_samples_have_spans_of_one_token_and_at_every_edge(corpus: str, side: str, layer: str) -> None:
    spans = spans_of(corpus, side, layer)
    starts, ends = {span.start for span in spans}, {span.end for span in spans}

    assert any(span.end - span.start == 1 for span in spans)
    for tag in ("text", "s"):
        regions = regions_of(corpus, side, tag)
        assert any(start in starts for start, _ in regions)
        assert any(end in ends for _, end in regions)


@every_corpus
@every_layer
@every_side
def test_classes_occur_all_in_both_directions(corpus: str, layer: str, side: str) -> None:
    assert set(classes(corpus, layer, side)) == CLASSES


@every_corpus
@every_layer
@every_side
def test_exact_spans_are_at_least_three_quarters(corpus: str, layer: str, side: str) -> None:
    counts = classes(corpus, layer, side)

    assert counts["exact"] / counts.total() >= 0.75


@every_corpus
@every_layer
def test_samples_have_right_boundaries_with_a_wrong_label(corpus: str, layer: str) -> None:
    gold = {span[:2]: span.label for span in spans_of(corpus, "gold", layer)}
    predicted = {span[:2]: span.label for span in spans_of(corpus, "predicted", layer)}

    assert any(gold[place] != predicted[place] for place in gold.keys() & predicted.keys())


@every_corpus
@every_layer
@every_side
def test_missed_spans_are_partly_or_not_at_all_overlapped(corpus: str, layer: str, side: str) -> None:
    (other,) = set(SIDES) - {side}
    others = spans_of(corpus, other, layer)
    missed = [span for span in spans_of(corpus, side, layer) if class_of(span, others) == "missed"]
    touched = [any(o.start < span.end and span.start < o.end for o in others) for span in missed]

    assert set(touched) == {True, False}


def test_samples_have_one_ill_formed_tag_after_an_o() -> None:
    sides = [(corpus, side, layer) for corpus in CORPORA for side in SIDES for layer in COLUMNS]
    found = {side: ids for side in sides if (ids := ill_formed(*side))}
    tokens = tokens_of("german", "predicted")
    position = [token[3] for token in tokens].index("a004-0195")

    assert found == {("german", "predicted", "entity"): ["a004-0195"]}
    assert [token[1] for token in tokens[position - 1 : position + 2]] == ["O", "I-person", "I-person"]


@every_corpus
@every_side
def test_the_layers_mostly_agree_on_boundaries_but_not_everywhere(corpus: str, side: str) -> None:
    entities = spans_of(corpus, side, "entity")
    risks = spans_of(corpus, side, "risk")
    shared = {span[:2] for span in entities} & {span[:2] for span in risks}
    contrast = {class_of(span, risks) for span in entities} | {class_of(span, entities) for span in risks}

    assert len(entities) / 2 < len(shared) < len(entities)
    assert len(risks) / 2 < len(shared) < len(risks)
    assert contrast >= {"exact", "superset", "tiling", "missed"}
