"""What a format cannot hold is refused, or left out and counted.

`Writer.holds` names what a format can hold beyond one layer of spans that do not overlap. The kinds are those
of `KINDS`. What is left out: features, or those for which `Writer.feature` is false; gaps, so that a span reaches from
its start to its end; spans of zero length; spans that overlap an earlier one, or that reach across the end of a
sentence; layers after the first; metadata.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from clueval.exceptions import UsageError
from clueval.formats.format import Format, Writer
from clueval.spans.document import Document
from clueval.spans.span import Span

ACROSS = "spans across sentences"
KINDS = ("layers", "metadata", "features", "gaps", "zero-length spans", "overlapping spans", ACROSS)


def fitted(document: Document, form: Format, dropped: Counter[str] | None) -> Document:
    """Return the document with only what a format can hold, which has a writer that says so.

    What is left out is counted in `dropped`. If it is None, `UsageError` is raised instead, with all kinds that
    would be lost.
    """
    assert form.write is not None
    assert form.write.holds is not None
    holds = form.write.holds
    lost: Counter[str] = Counter()
    layers = dict(document.layers)
    if "layers" not in holds and len(layers) > 1:
        first = next((name for name, spans in layers.items() if spans), next(iter(layers)))
        lost["layers"] += len(layers) - 1
        layers = {first: layers[first]}
    starts = [] if ACROSS in holds else sorted(sentence.start for sentence in document.sentences)
    fitting = {name: _spans(spans, form.write, starts, lost) for name, spans in layers.items()}
    metadata = document.metadata
    if "metadata" not in holds and metadata:
        lost["metadata"] += len(metadata)
        metadata = {}
    lost = +lost
    if not lost:
        return document
    if dropped is None:
        found = ", ".join(f"{number} {kind}" for kind, number in lost.items())
        raise UsageError(
            f"the format {form.name} cannot hold {found}",
            file=document.file,
            document=document.id,
            advice="leave them out with lossy=True, or write another format",
        )
    dropped.update(lost)
    return replace(document, layers=fitting, metadata=metadata, tags={})


def _spans(spans: Sequence[Span], writer: Writer, starts: Sequence[int], lost: Counter[str]) -> list[Span]:
    holds = writer.holds or frozenset()
    kept: list[Span] = []
    for span in spans:
        fitting = span
        if span.features:
            features = _features(span, writer)
            lost["features"] += len(span.features) - len(features)
            fitting = replace(fitting, features=features)
        if "gaps" not in holds and (span.parts is not None or span.tokens is not None):
            lost["gaps"] += 1
            fitting = replace(fitting, parts=None, tokens=None)
        if "zero-length spans" not in holds and not len(span):
            lost["zero-length spans"] += 1
        elif bisect_right(starts, span.start) < bisect_left(starts, span.end):
            lost[ACROSS] += 1
        else:
            kept.append(fitting)
    if "overlapping spans" in holds:
        return kept
    apart: list[Span] = []
    for span in sorted(kept, key=lambda span: (span.start, -span.end)):
        if apart and span.start < apart[-1].end:
            lost["overlapping spans"] += 1
        else:
            apart.append(span)
    return apart


def _features(span: Span, writer: Writer) -> dict[str, Any]:
    """Return the features of a span that a format can hold."""
    if "features" not in (writer.holds or ()):
        return {}
    fits = writer.feature
    return {name: value for name, value in span.features.items() if fits is None or fits(name, value)}
