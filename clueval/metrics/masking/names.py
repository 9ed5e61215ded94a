"""The names in the settings: which layers have mentions and which have masks, and whether the names occurred.

A layer or feature without a document is an error. A class or label without a span can be right, if a document has no
span of a class, so it is a warning, but not for the usual names of classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from clueval.core.span import NO_LABEL, Span
from clueval.core.tally import Tally
from clueval.files.errors import UsageError, warn
from clueval.metrics.masking.mention import class_names

RISKS = ("high", "medium", "low", "hoch", "mittel", "niedrig", "DIRECT", "QUASI")
"""The usual classes, riskiest first."""
NO_MASK = "NO_MASK"
"""The usual label of a span that needs no mask."""
ENTITY = "entity_id"
"""The usual feature of a span that says of which entity it is a mention."""

EVERY = "all"
"""The setting that means all layers."""

Layers = Mapping[str, Sequence[Span]]

ChosenSpans = tuple[Sequence[Span], Sequence[bool] | None]
"""Spans, and whether each is counted (None: all are)."""


class Settings(Protocol):
    """The settings of the metric that have names."""

    @property
    def risk_layer(self) -> str | None: ...
    @property
    def risk_order(self) -> Sequence[str]: ...
    @property
    def keep(self) -> Sequence[str]: ...
    @property
    def masks(self) -> tuple[str, ...]: ...
    @property
    def entity(self) -> str: ...
    @property
    def annotators(self) -> tuple[str, ...]: ...


class LayerChoice(NamedTuple):
    """The settings that name layers: those of the classes, of the entities, of the annotators, of the masks."""

    classes: str
    entities: str
    annotators: tuple[str, ...]
    masks: tuple[str, ...]

    def of_mentions(self, layers: Mapping[str, object]) -> list[str]:
        """Return the layers less those of the classes and of the entities, unless there is no other."""
        found = [name for name in layers if name not in (self.classes, self.entities)]
        return found or list(layers)

    def views(
        self, layers: Layers, sequence: str, spans: Sequence[Span], counted: Sequence[bool] | None
    ) -> dict[str, ChosenSpans] | None:
        """Return the gold spans by annotator; None if the sequence, which has these spans, is none of mentions."""
        if self.annotators:
            names = self.of_mentions(layers) if self.annotators == (EVERY,) else self.annotators
            return {name: (layers[name], None) for name in names if name in layers}
        of_mentions = self.of_mentions(layers)
        if sequence not in of_mentions and (of_mentions or sequence in (self.classes, self.entities)):
            return None
        return {sequence: (spans, counted)}

    def masking(
        self, layers: Layers, sequence: str, spans: Sequence[Span], counted: Sequence[bool] | None
    ) -> ChosenSpans:
        """Return the predicted spans that mask, given those of the sequence.

        Raises `UsageError` if several layers may and none is named.
        """
        if self.masks:
            return _of_all(layers, list(layers) if self.masks == (EVERY,) else self.masks), None
        if spans or (sequence in layers and not self.annotators):
            return spans, counted
        names = self.of_mentions(layers)
        if len(names) > 1:
            raise UsageError(
                f"the predicted side has the layers {', '.join(map(repr, names))}, and none of them is {sequence!r}",
                advice="name the layers that mask as Masking.masks",
            )
        return _of_all(layers, names), None


def _of_all(layers: Layers, names: Sequence[str]) -> Sequence[Span]:
    if len(names) == 1:
        return layers.get(names[0], ())
    return [span for name in names for span in layers.get(name, ())]


_KEPT = "kept"
_LISTED = 10
"""How many names a warning lists."""
_LONGEST = 60
"""Longer names are cut."""


def count_names(tally: Tally, settings: Settings, gold: Layers, predicted: Layers) -> None:
    """Count which of the layers that settings name a document has, and which of the names to keep spans have."""
    for key, names, layers in (("seen", settings.masks, predicted), ("annotator", settings.annotators, gold)):
        for name in names:
            tally[key, name] += name in layers
    if unusual := _unusual(settings):
        seen = set().union(*(_names_in(side, settings.risk_layer) for side in (gold, predicted)))
        for name in unusual & seen:
            tally[_KEPT, name] += 1


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
            yield f"keep: no span has the class or label {_cut(name)!r} ({found})"
    missing = classes - {*settings.risk_order}
    for name in settings.risk_order:
        if (missing or not classes) and name not in {*classes, *RISKS, *settings.keep}:
            yield (
                f"risk_order: no mention has the class {_cut(name)!r} "
                f"(classes found that it does not name: {_listed(missing)})"
            )


def _unusual(settings: Settings) -> set[str]:
    """Return the names to keep that are neither usual nor classes of the order."""
    return {*settings.keep} - {NO_MASK, NO_LABEL, *RISKS, *settings.risk_order}


def _names_in(layers: Layers, risk_layer: str | None) -> set[str]:
    """Return the labels of all spans of a document, and the classes that they have as features."""
    features = class_names(layers, risk_layer)
    found: set[str | None] = set()
    for span in (span for spans in layers.values() for span in spans):
        found.update(span.by_layer.values())
        found.update(str(span.features[name]) for name in features if name in span.features)
    return {name for name in found if name is not None}


def _listed(names: Iterable[str]) -> str:
    ordered = sorted(names)
    more = f" and {len(ordered) - _LISTED} more" if len(ordered) > _LISTED else ""
    return ", ".join(map(_cut, ordered[:_LISTED])) + more if ordered else "none"


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…"
