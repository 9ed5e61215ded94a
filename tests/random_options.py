"""Random corpora of all shapes of documents, and random options of `clueval.score` that change what is counted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from clueval import Document, Sentence, Span

Options = dict[str, Any]
Corpus = Sequence[Sequence[Document]]
"""Gold, predicted, and another gold, which have the same texts."""

LABELS = ("A", "B", "A.b", "A.c", "B.b.c")


# Options


@st.composite
def options(draw: st.DrawFn, of_tokens: bool, flat: bool) -> Options:
    """A few options of `score` that change what is counted; ``any_of`` is True if there is another gold."""
    more: list[Options] = [
        {"by": "domain"},
        {"by": ["document", "domain"]},
        {"where": ["x=A"]},
        {"where": ["y=B", "y=A.b"]},
        {"where": ["domain=a"]},
        {"where": ["x=A", "domain=b"]},
        {"label_map": {"A": "B", "*": "*"}},
        {"gold_map": {"B": "", "*": "*"}},
        {"predicted_map": {"A": "B", "B": "A", "*": "*"}},
        {"untyped": True},
        {"generic": ["A"]},
        {"hierarchy": ".", "depth": 1},
        {"ignore_layer": ["y"]},
        {"ignore_layer": ["y"], "ignored": "touching"},
        {"ignore_label": ["A"]},
        {"ignore_label": ["A", "B"], "ignored": "touching", "ignore_same_label": True},
        {"fragments": "split"},
        {"fragments": "hull"},
        {"min_score": 0.5, "score_feature": "score"},
        {"score_feature": "score"},
        {"score_feature": "score", "thresholds": [0.25, 0.5]},
        {"any_of": True},
        {"alternatives": True},
        {"resample_by": "document", "intervals": True},
        {"resample_by": "domain", "intervals": True},
        {"resample_by": "sentence", "intervals": True, "method": "percentile", "resamples": 100},
        {"align": True},
    ]
    if of_tokens:
        more.append({"unit": "character"})
    if flat:
        more.append({"merge": True})
    found: Options = {}
    for each in draw(st.lists(st.sampled_from(more), max_size=2)):
        found |= each
    return found


# Corpora


@st.composite
def layer(draw: st.DrawFn, length: int, flat: bool) -> list[Span]:
    """The spans of a layer; unless they are `flat`, they overlap, and some have several labels in one place."""
    number = draw(st.integers(0, 5))
    spans: list[Span] = []
    for _ in range(number):
        start, end = sorted(draw(st.tuples(st.integers(0, length), st.integers(0, length))))
        if spans and not flat and draw(st.integers(0, 2)) == 0:
            start, end = spans[-1].start, spans[-1].end
        features: dict[str, Any] = {"score": draw(st.sampled_from([0.25, 0.5, 0.75]))}
        for name in ("kind", "note"):
            if draw(st.integers(0, 2)) == 0:
                features[name] = draw(st.sampled_from(["1", 1, "2", True]))
        parts = None
        if end - start > 2 and not flat and draw(st.integers(0, 3)) == 0:
            parts = ((start, start + 1), (end - 1, end))
        span = Span(start, end, draw(st.sampled_from(LABELS)), features, parts=parts)
        if not flat or not any(span.overlaps(o) or (span.start, span.end) == (o.start, o.end) for o in spans):
            spans.append(span)
    return spans


@st.composite
def corpora(draw: st.DrawFn, of_tokens: bool, flat: bool) -> Corpus:
    """Three parallel lists of documents. Layers may lack in some documents, and on one side."""
    sides: tuple[list[Document], ...] = ([], [], [])
    for number in range(draw(st.integers(1, 3))):
        length = draw(st.integers(0, 9))
        domain = draw(st.sampled_from("ab"))
        text = "".join(draw(st.lists(st.sampled_from("ab "), min_size=length, max_size=length)))
        cut = draw(st.integers(0, length))
        for side in sides:
            layers = {name: draw(layer(length, flat)) for name in "xyz" if draw(st.integers(0, 3)) != 0}
            document = Document(
                f"d{number}",
                layers,
                text=None if of_tokens else text,
                tokens=[char * 2 for char in text] if of_tokens else None,
                unit="token" if of_tokens else "character",
                sentences=[Sentence(0, cut), Sentence(cut, length)] if 0 < cut < length else [],
                metadata={"domain": domain},
            )
            side.append(document)
    return sides


TABLE = "document\tstart\tend_exclusive\tx\nd0\t0\t2\tA\nd0\t1\t4\tB\n"


def as_given(options: Options, other: Sequence[Document], folder: Path) -> Options:
    """The options as `clueval.score` takes them, with the other gold and a file of alternatives."""
    given = dict(options)
    if given.pop("any_of", False):
        given["any_of"] = [other]
    if given.pop("alternatives", False):
        given["alternatives"] = folder / "alternatives.tsv"
        given["alternatives"].write_text(TABLE)
    return given
