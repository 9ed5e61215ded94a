"""The selection of the errors to report, and the findings of two documents.

At level n a span is an error if its class is above n. With a *labelled* layer it is also an error if the
joined label of its match is not its own; spans without a label in that layer are not counted. These are
exactly the false negatives (gold side) and false positives (predicted side) of metric ``levels``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from clueval.exceptions import UsageError, require_instance, require_kind
from clueval.findings.places import in_text_order
from clueval.findings.table import FINDING_KINDS, Finding, SideName, rows_of_matches
from clueval.metrics.gaps import refuse_gaps
from clueval.options import field_names, require_types
from clueval.spans.document import Document
from clueval.spans.filters import Filter, parse_where
from clueval.spans.flat import Flat, by_position
from clueval.spans.making import making_many
from clueval.spans.match_classes import KINDS, LEVELS
from clueval.spans.matching import Match, match_spans
from clueval.spans.merging import with_merged
from clueval.spans.span import MERGED

SIDES: tuple[SideName, SideName] = ("gold", "predicted")

_ALL = Filter()

_OBJECTS = 20
"""The number of objects that a finding with its context consists of, approximately."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Selects the errors to report.

    Matches up to `level` (1 to 4) are correct. With `labelled`, the name of a layer, a match is correct only if the
    label in this layer is correct, too. `sides` and `kinds` select sides and classes (empty: all classes).
    `merge` merges all layers into one sequence. `where` selects the spans that are counted (see
    `clueval.spans.filters`). `window` is the width of the context in positions (None: the sentence).

    Raises `UsageError` for a level, side or class that does not exist and for a negative window.
    """

    level: int = 2
    labelled: str | None = None
    sides: tuple[str, ...] = SIDES
    kinds: frozenset[str] = frozenset()
    merge: bool = False
    where: Filter = _ALL
    window: int | None = None

    def __post_init__(self) -> None:
        require_types(self)
        require_instance(self.where, Filter, "where")
        if self.level not in LEVELS:
            raise UsageError(f"there is no level {self.level!r}", advice="1, 2, 3 or 4")
        for side in self.sides:
            if side not in SIDES:
                raise UsageError(f"there is no side {side!r}", advice="gold or predicted")
        for kind in sorted(self.kinds):
            if kind not in FINDING_KINDS:
                raise UsageError(f"there is no class {kind!r}", advice=f"one of {', '.join(FINDING_KINDS)}")
        if self.window is not None and self.window < 0:
            raise UsageError(f"the window cannot be {self.window} positions", advice="a number from 0 on")

    def is_error(self, match: Match) -> bool:
        """Return whether a span with this match is an error."""
        good = match.kind in KINDS[: self.level]
        if self.labelled is None:
            return not good
        label = match.span.by_layer.get(self.labelled)
        return label is not None and not (good and match.labels.get(self.labelled) == label)

    def require_layer(self, layers: Iterable[str]) -> None:
        """Raise `UsageError` if the labelled layer is none of `layers`."""
        names = list(layers)
        if self.labelled is not None and self.labelled not in names:
            known = f"one of {', '.join(names)}" if names else "the documents have no layers"
            raise UsageError(f"there is no layer {self.labelled!r}", advice=known)


def choice_with(choice: Choice | None, options: Mapping[str, Any]) -> Choice:
    """Return the choice with those options that are fields of it; a filter, sides and classes may be plain values."""
    if choice is not None:
        require_instance(choice, Choice, "choice")
    given = {name: options[name] for name in field_names(Choice) if name in options}
    if "where" in given and not isinstance(given["where"], Filter):
        given["where"] = parse_where(given["where"])
    for name, kind in (("sides", tuple), ("kinds", frozenset)):
        if name in given:
            require_kind(given[name], "str | Iterable", name)
            given[name] = kind([given[name]] if isinstance(given[name], str) else given[name])
    return replace(choice or Choice(), **given)


def findings(gold: Document, predicted: Document, choice: Choice | None = None) -> Iterator[Finding]:
    """Yield the findings of two documents of the same text, in text order (see `clueval.findings.places`).

    Holds all findings of the documents. Raises `OverlapError` if spans of a sequence overlap.
    """
    spans = sum(len(spans) for document in (gold, predicted) for spans in document.layers.values())
    with making_many(_OBJECTS * spans):
        found = in_text_order(_by_sequence(gold, predicted, choice or Choice()))
    yield from found


def _by_sequence(gold: Document, predicted: Document, choice: Choice) -> Iterator[Finding]:
    """Yield the findings of two documents by sequence, side and position."""
    layers = list(dict.fromkeys([*gold.layers, *predicted.layers]))
    if not choice.where.on_documents(layers).lets_through(gold.id, gold.metadata):
        return
    documents = {"gold": gold, "predicted": predicted}
    sources = {side: with_merged(each) if choice.merge else each for side, each in documents.items()}
    spans_filter = choice.where.on_layers(layers)
    for sequence in [MERGED] if choice.merge else layers:
        for side in SIDES:
            refuse_gaps("metric 'levels'", sources[side].layers.get(sequence, ()), sources[side])
            if side not in choice.sides:
                continue
            own, other = (sources[name] for name in (side, _opposite(side)))
            spans = sorted(own.layers.get(sequence, ()), key=by_position)
            others = Flat.of(other.layers.get(sequence, ()), own.id)
            matches: Sequence[Match] = match_spans(Flat.of(spans, own.id), others)
            if spans_filter:
                counted = spans_filter.counted(spans, documents[side])
                matches = [match for match, count in zip(matches, counted, strict=True) if count]
            wrong = [match for match in matches if choice.is_error(match)]
            other = other if sequence in other.layers else _with_layer(other, sequence)
            rows = rows_of_matches(
                wrong, own, other, layer=sequence, side=side, level=choice.level, window=choice.window
            )
            yield from (row for row in rows if row.kind in choice.kinds) if choice.kinds else rows


def _opposite(side: SideName) -> SideName:
    return "predicted" if side == "gold" else "gold"


def _with_layer(document: Document, layer: str) -> Document:
    return replace(document, layers={**document.layers, layer: ()})


def expected(report: Mapping[str, Any], choice: Choice) -> dict[str, int]:
    """Return the number of errors of each side according to the report of metric ``levels`` on one sequence.

    The report must have the same filter. Classes and sides that `choice` excludes are counted too.
    """
    level = str(choice.level)
    if choice.labelled is None:
        counts = report["unlabelled"][level]
    elif choice.labelled in report["labelled"]:
        counts = report["labelled"][choice.labelled][level]["micro"]
    else:
        return dict.fromkeys(SIDES, 0)
    return {"gold": int(counts["fn"]), "predicted": int(counts["fp"])}
