"""Several golds of whole documents: the one that is nearest to predicted counts ("any annotator is right").

Nearest is the gold with the fewest errors, false negatives and false positives together, where a span is right if the
other side has one with the same fragments and label. All layers count, and of equally near golds the first is taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from os import PathLike, fsdecode
from typing import Any

from clueval.exceptions import UsageError
from clueval.spans.document import Document
from clueval.transforms.group import Group
from clueval.transforms.names import ANY_OF


class AnyOf:
    """The choice among several golds of a document; as a transform it changes nothing.

    It stands after the transforms that are applied to each gold before the choice (`clueval.transforms.preparation`).
    `prepared` counts the documents of each gold, by its name.
    """

    def __init__(self, names: Sequence[str]) -> None:
        for number, name in enumerate(names):
            if name in names[:number]:
                raise UsageError(f"two golds are called {name!r}", advice="give each gold once")
        self._names = list(names)
        self.signature = (ANY_OF, f"best-of-{len(self._names)}")
        self.prepared: Counter[tuple[Any, ...]] = Counter({(name,): 0 for name in self._names})

    def __call__(self, group: Group) -> Group:
        return group

    def nearest(self, groups: Sequence[Group]) -> int:
        """Return the number of the group whose gold has the fewest errors, and count it."""
        numbers = [_errors(group) for group in groups]
        nearest = numbers.index(min(numbers))
        self.prepared[self._names[nearest],] += 1
        return nearest


def _errors(group: Group) -> int:
    layers = dict.fromkeys([*group.gold.layers, *group.predicted.layers])
    return sum(len(_spans(group.gold, layer) ^ _spans(group.predicted, layer)) for layer in layers)


def _spans(document: Document, layer: str) -> set[tuple[object, object]]:
    return {(span.fragments, span.by_layer.get(layer)) for span in document.layers.get(layer, ())}


def names_of_golds(gold: Any, further: Iterable[Any]) -> list[str]:
    """Return the names of golds: their paths as given, or their places among the arguments.

    >>> names_of_golds("a.vrt", ["b.vrt", []])
    ['a.vrt', 'b.vrt', 'any_of[1]']
    """
    names = ["gold", *(f"{ANY_OF}[{number}]" for number, _ in enumerate(further))]
    return [
        fsdecode(each) if isinstance(each, str | PathLike) else name
        for name, each in zip(names, [gold, *further], strict=True)
    ]
