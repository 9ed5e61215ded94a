"""What a format cannot hold is refused, or left out and counted.

`Writer.holds` names what a format can hold beyond one layer of spans that do not overlap. The kinds are those
of `KINDS`. What is left out: features; gaps, so that a span reaches from its start to its end; spans of zero
length; spans that overlap an earlier one; layers after the first; metadata.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from clueval.exceptions import UsageError
from clueval.spans.document import Document
from clueval.spans.span import Span

KINDS = ("layers", "metadata", "features", "gaps", "zero-length spans", "overlapping spans")


def fitted(document: Document, holds: frozenset[str], form: str, dropped: Counter[str] | None) -> Document:
    """Return the document with only what the format `form` can hold.

    What is left out is counted in `dropped`. If it is None, `UsageError` is raised instead, with all kinds that
    would be lost.
    """
    lost: Counter[str] = Counter()
    layers = dict(document.layers)
    if "layers" not in holds and len(layers) > 1:
        first = next((name for name, spans in layers.items() if spans), next(iter(layers)))
        lost["layers"] += len(layers) - 1
        layers = {first: layers[first]}
    fitting = {name: _spans(spans, holds, lost) for name, spans in layers.items()}
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
            f"the format {form} cannot hold {found}",
            file=document.file,
            document=document.id,
            advice="leave them out with --lossy, or write another format",
        )
    dropped.update(lost)
    return replace(document, layers=fitting, metadata=metadata, tags={})


def _spans(spans: Sequence[Span], holds: frozenset[str], lost: Counter[str]) -> list[Span]:
    kept: list[Span] = []
    for span in spans:
        fitting = span
        if "features" not in holds and span.features:
            lost["features"] += len(span.features)
            fitting = replace(fitting, features={})
        if "gaps" not in holds and (span.parts is not None or span.tokens is not None):
            lost["gaps"] += 1
            fitting = replace(fitting, parts=None, tokens=None)
        if "zero-length spans" not in holds and not len(span):
            lost["zero-length spans"] += 1
            continue
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
