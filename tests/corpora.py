"""Corpora written out for tests: sentences of (token, tags...) rows as VRT or CoNLL."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hypothesis import strategies as st

Row = tuple[str, ...]
Corpus = list[list[list[Row]]]  # documents of sentences of rows

TAGS = ("O", "O", "O", "B-PER", "I-PER", "B-LOC", "I-LOC")


def vrt(corpus: Corpus, domains: Sequence[str] = ()) -> str:
    lines = []
    for number, document in enumerate(corpus):
        domain = f' domain="{domains[number]}"' if domains else ""
        lines.append(f'<text id="d{number}"{domain}>')
        for sentence in document:
            lines += ["<s>", *("\t".join(row) for row in sentence), "</s>"]
        lines.append("</text>")
    return "\n".join([*lines, ""])


def conll(corpus: Corpus, separator: str = "\t") -> str:
    parts = []
    for document in corpus:
        parts.append("-DOCSTART-\n")
        parts += ["".join(separator.join(row) + "\n" for row in sentence) for sentence in document]
    return "\n".join(parts)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path


@st.composite
def tagged_corpora(
    draw: st.DrawFn, layers: int = 1, tags: Sequence[str] = TAGS, max_documents: int = 3
) -> tuple[Corpus, Corpus]:
    """A gold and a predicted corpus over the same tokens; sentences are often identical."""
    gold: Corpus = []
    predicted: Corpus = []
    tag = st.sampled_from(tags)
    for _ in range(draw(st.integers(0, max_documents))):
        gold.append([])
        predicted.append([])
        for number in range(draw(st.integers(0, 3))):
            length = draw(st.integers(1, 8))
            rows = st.lists(st.tuples(*[tag] * layers), min_size=length, max_size=length)
            own = draw(rows)
            other = own if draw(st.booleans()) else draw(rows)
            for side, tagged in ((gold, own), (predicted, other)):
                side[-1].append([(f"w{number}.{i}", *row) for i, row in enumerate(tagged)])
    return gold, predicted
