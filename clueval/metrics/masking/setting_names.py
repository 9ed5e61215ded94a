"""The names in the settings of `masking`: layers and features that no document has, classes and labels of no span.

A layer or feature without a document is an error. A class or label without a span can be right, if a document has no
span of a class, so it is a warning, but not for the usual names of classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from clueval.exceptions import UsageError, warn
from clueval.metrics.counting import Tally
from clueval.metrics.masking.layer_choice import EVERY
from clueval.metrics.masking.mention import class_names
from clueval.reports.cutting import cut_label
from clueval.spans.flat import Flat
from clueval.spans.span import NO_LABEL, Span

RISKS = ("high", "medium", "low", "hoch", "mittel", "niedrig", "DIRECT", "QUASI")
"""The usual classes, riskiest first."""
NO_MASK = "NO_MASK"
"""The usual label of a span that needs no mask."""
ENTITY = "entity_id"
"""The usual feature of a span that says of which entity it is a mention."""

_KEPT = "kept"
_LISTED = 10
"""How many names a warning lists."""


class Settings(Protocol):
    """The settings of the metric that hold names."""

    @property
    def risk_layer(self) -> str | None: ...
    @property
    def risk_order(self) -> Sequence[str]: ...
    @property
    def keep(self) -> Sequence[str]: ...
    @property
    def masks(self) -> Sequence[str]: ...
    @property
    def entity(self) -> str: ...
    @property
    def annotators(self) -> Sequence[str]: ...


Layers = Mapping[str, Sequence[Span]]


def count_names(tally: Tally, settings: Settings, gold: Layers, predicted: Layers, documents: int) -> None:
    """Count which of the layers that settings name documents have, and which of the names to keep spans have."""
    for key, names, layers in (("seen", settings.masks, predicted), ("annotator", settings.annotators, gold)):
        for name in names:
            tally[key, name] += documents * (name in layers)
    if unusual := _unusual(settings):
        seen = set().union(*(_names_in(side, settings.risk_layer) for side in (gold, predicted)))
        for name in unusual & seen:
            tally[_KEPT, name] += max(documents, 1)  # it may be in one part of a document only


def check_names(total: Tally, settings: Settings) -> None:
    """Raise `UsageError` if no document has a layer or feature that a setting names; warn of unknown classes."""
    counted = any(key[0] in ("precision", "gold") for key in total)
    for names, side, key in (
        (settings.masks, "predicted", "seen"),
        (settings.annotators, "gold", "annotator"),
    ):
        for name in names if counted and names != (EVERY,) else ():
            if not total[key, name]:
                raise UsageError(f"no {side} document has a layer {name!r}", advice=_CHECK[side])
    if counted:
        for warning in _warnings(total, settings):
            warn(warning)
    if not total["all", "", "mentions"]:
        return
    if settings.risk_layer is not None and not total["gold", "classes"]:
        raise UsageError(
            f"no mention has a class in a layer or feature {settings.risk_layer!r}",
            advice="check Masking.risk_layer",
        )
    if settings.entity != ENTITY and not total["entities", "by id"]:
        raise UsageError(
            f"no mention has an entity in a layer or feature {settings.entity!r}",
            advice="check Masking.entity",
        )


_CHECK = {"predicted": "check Masking.masks", "gold": "check Masking.annotators"}


def _warnings(total: Tally, settings: Settings) -> Iterator[str]:
    classes, labels = (
        {str(key[1]) for key in total if key[0] == kind and key[1] != NO_LABEL} for kind in ("class", "label")
    )
    found = f"classes found: {_listed(classes)}; labels found: {_listed(labels)}"
    for name in sorted(_unusual(settings)):
        if not total[_KEPT, name]:
            yield f"keep: no span has the class or label {cut_label(name)!r} ({found})"
    missing = classes - {*settings.risk_order}
    for name in settings.risk_order:
        if (missing or not classes) and name not in {*classes, *RISKS, *settings.keep}:
            yield (
                f"risk_order: no mention has the class {cut_label(name)!r} "
                f"(classes found that it does not name: {_listed(missing)})"
            )


def _unusual(settings: Settings) -> set[str]:
    """Return the names to keep that are neither usual nor classes of the order."""
    return {*settings.keep} - {NO_MASK, NO_LABEL, *RISKS, *settings.risk_order}


def _names_in(layers: Layers, risk_layer: str | None) -> set[str]:
    """Return the labels of all spans of documents, and the classes that they have as features."""
    features = class_names(layers, risk_layer)
    found: set[str | None] = set()
    for spans in layers.values():
        if isinstance(spans, Flat):
            found.update(name for labels in spans.keyed_labels()[1].values() for name in labels.values())
        else:
            for span in spans:
                found.update(span.by_layer.values())
                found.update(str(span.features[name]) for name in features if name in span.features)
    return {name for name in found if name is not None}


def _listed(names: Iterable[str]) -> str:
    ordered = sorted(names)
    more = f" and {len(ordered) - _LISTED} more" if len(ordered) > _LISTED else ""
    return ", ".join(map(cut_label, ordered[:_LISTED])) + more if ordered else "none"
