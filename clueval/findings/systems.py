"""The errors of two systems on the same gold, place by place: those of both systems, and those of one only.

A span is *one* error, whether one system has it or both: a gold span that both miss, a predicted span that both have.
So the errors of one system are those in both and those only in it, as its score counts them. Errors of both systems
that overlap are at the same place, as in `clueval.findings.places`; a place shows all spans of both systems there,
also the correct ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from clueval.clusters.places import Clusters
from clueval.clusters.rows import in_batches
from clueval.core.ranges import Ranges
from clueval.core.span import Span
from clueval.findings.choice import Choice, ReasonKey, findings
from clueval.findings.places import ErrorPlace, in_text_order, places_of_document
from clueval.findings.stream import within_sentences
from clueval.findings.table import Finding
from clueval.reading.source import Source
from clueval.reading.trios import Trio, documents_of_files
from clueval.second.reading.options import layer_names
from clueval.spans.document import Document
from clueval.spans.index import SpanIndex
from clueval.spans.merging import with_merged
from clueval.transforms.applied import Preparation, warn_without_effect
from clueval.transforms.group import Group, Transform

Pair = tuple[Finding | None, Finding | None]
"""An error as each of the two systems has it; None: the system does not have it."""


class System(NamedTuple):
    """A system: `short` stands at each of its spans and errors, `name` in the head of the page."""

    short: str
    name: str


@dataclass(frozen=True, slots=True)
class States:
    """The states of errors: `of` returns the state of an error, `meanings` has all states, and each in words.

    `title` is the name of their filter, `systems` are the short names of the systems.
    """

    title: str
    systems: tuple[str, str]
    of: Callable[[Pair], str]
    meanings: Mapping[str, str]


def shared_states(one: str, two: str) -> States:
    """Return the states of the errors of two systems: in both, only in the one, only in the other."""
    only = f"only {one}", f"only {two}"
    return States(
        "Wrong in",
        (one, two),
        lambda pair: "both" if all(pair) else only[pair[0] is None],
        {"both": "both systems have the error", only[0]: f"{two} is right", only[1]: f"{one} is right"},
    )


NEW, FIXED, CHANGED, STILL = "new", "fixed", "changed", "still"


def change(side: str | None, before: object, after: object) -> str:
    """Return the state of an error, given its reason, its class and what was found in each run; None: it is not there.

    Predicted spans do not change.
    """
    if before is None or after is None:
        return NEW if before is None else FIXED
    return STILL if side == "predicted" or before == after else CHANGED


def _changes(pair: Pair) -> str:
    results = (None if each is None else (each.reason, each.kind, each.found) for each in pair)
    return change(next(each.side for each in pair if each is not None), *results)


CHANGES = States(
    "State",
    ("old", "new"),
    _changes,
    {
        NEW: "not in the old run",
        FIXED: "not in the new run",
        CHANGED: "gold spans with another reason, class or label",
        STILL: "the same in both runs",
    },
)
"""The states of errors of an old and a new run, as `clueval.diff` counts them."""


class SharedError(NamedTuple):
    """A span that is an error of one system or of both."""

    state: str
    by: Pair

    @property
    def finding(self) -> Finding:
        """The error as the first system has it that has it."""
        found = self.by[0] or self.by[1]
        assert found is not None
        return found


@dataclass(frozen=True, slots=True)
class SharedPlace(ErrorPlace):
    """A place with the errors of two systems; `findings` has those of both, `errors` each error once.

    `spans` are all spans of gold (row 0) and of the systems (rows 1 and 2), called `systems`, that overlap the place.
    """

    errors: tuple[SharedError, ...]
    spans: tuple[tuple[int, Span], ...]
    systems: tuple[str, str]

    def _spans(self) -> Iterator[tuple[str, Ranges, str]]:
        for row, span in self.spans:
            yield ("gold", *self.systems)[row], span.fragments, span.label


def shared_places(
    trios: Iterable[Trio],
    choice: Choice,
    states: States,
    transforms: Sequence[Transform] = (),
    counts: Sequence[Counter[ReasonKey]] | None = None,
) -> Iterator[SharedPlace]:
    """Yield the places of gold and two systems, in text order. Holds the documents of one text.

    Gold and each system are changed by the transforms first, as for the score of that system. `counts` gets the numbers
    of `clueval.findings.choice.findings` for each system.

    >>> gold = Document("d", {"label": [Span(0, 2, "PER")]}, tokens=["Frau", "Anna", "Weiß"])
    >>> one, two = (Document("d", {"label": spans}, tokens=gold.tokens) for spans in ([Span(1, 3, "PER")], []))
    >>> (place,) = shared_places([(gold, one, two)], Choice(), shared_states("A", "B"))
    >>> [(error.state, error.finding.side, error.finding.text) for error in place.errors]
    [('both', 'gold', 'Frau Anna'), ('only A', 'predicted', 'Anna Weiß')]
    """
    preparations = [Preparation(transforms) for _ in range(2)]
    for gold, *systems in trios:
        groups = [prepare(Group(gold, one)) for prepare, one in zip(preparations, systems, strict=True)]
        found = [
            list(findings(group.gold, group.predicted, choice, count))
            for group, count in zip(groups, counts or (None, None), strict=True)
        ]
        errors = {id(each): (n, key) for n, of_system in enumerate(found) for each, key in _keys(of_system)}
        spans = _Spans(_rows(groups, choice.merge))
        for place in places_of_document(in_text_order(found[0] + found[1])):
            yield SharedPlace(
                place.findings,
                place.start,
                place.end,
                tuple(_shared(place.findings, errors, states)),
                tuple(spans.at(place)),
                states.systems,
            )
    for preparation in preparations:
        preparation.checked()
    warn_without_effect(preparations)


def trios_that_differ(files: Iterable[Sequence[Source]], choice: Choice) -> Iterator[Trio]:
    """Yield the documents of the files of gold and of two systems, in which the choice has the same errors.

    Documents of column files come passage by passage, with the tokens and spans of those sentences only whose lines
    differ. Raises the errors of reading.
    """
    for sources in files:
        gold, *systems = sources
        if all(within_sentences(gold, system, choice) for system in systems):
            yield from _that_differ(sources)
        else:
            yield from documents_of_files(sources)


def _that_differ(sources: Sequence[Source]) -> Iterator[Trio]:
    names, clusters = layer_names(sources[0].options.layers), Clusters(sources, _spans_of_sides)
    groups = zip(*(source.passages() for source in sources), strict=True)
    for part, found in chain.from_iterable(map(clusters.found, in_batches(groups, sources[0].options.sizes))):
        layers: list[dict[str, list[Span]]] = [{name: [] for name in names} for _ in sources]
        for by, of_cluster in found:
            for side, layer, span in of_cluster:
                layers[side][layer].append(Span(span.start + by, span.end + by, span.labels))
        documents = zip(part.documents(sources), layers, strict=True)
        gold, one, two = (replace(document, layers=spans) for document, spans in documents)
        if part.numbers:
            yield gold, one, two


def _spans_of_sides(documents: Sequence[Document]) -> Iterator[tuple[int, tuple[int, str, Span]]]:
    for side, document in enumerate(documents):
        for layer, spans in document.layers.items():
            for span in spans:
                yield span.start, (side, layer, span)


def _rows(groups: Sequence[Group], merge: bool) -> list[list[Document]]:
    """The documents of each row; for gold those of both systems, because each has its own alternatives of gold."""
    rows = [[group.gold for group in groups], *([group.predicted] for group in groups)]
    layers = [layer for row in rows for each in row for layer in each.layers]
    return [[with_merged(each, layers) for each in row] if merge else row for row in rows]


_Key = tuple[object, ...]


def _keys(of_system: Iterable[Finding]) -> Iterator[tuple[Finding, _Key]]:
    """Yield each finding with what it has in common with the same error of another system; equal ones are numbered."""
    numbers = Counter[_Key]()
    for each in of_system:
        labels = tuple(sorted(each.labels.items(), key=str))
        key = each.side, each.sequence, each.start, each.end, each.fragments, labels
        numbers[key] += 1
        yield each, (*key, numbers[key])


def _shared(
    found: Iterable[Finding], errors: Mapping[int, tuple[int, _Key]], states: States
) -> Iterator[SharedError]:
    pairs: dict[_Key, list[Finding | None]] = {}
    for finding in found:
        system, key = errors[id(finding)]
        pairs.setdefault(key, [None, None])[system] = finding
    for one, two in pairs.values():
        yield SharedError(states.of((one, two)), (one, two))


class _Spans:
    """The spans of gold and of the systems, by row and layer."""

    def __init__(self, rows: Sequence[Sequence[Document]]) -> None:
        self._rows = rows
        self._indexes: dict[tuple[int, str], SpanIndex] = {}

    def at(self, place: ErrorPlace) -> Iterator[tuple[int, Span]]:
        """Yield the spans that overlap a place, of the layers in which it has errors."""
        for layer in dict.fromkeys(finding.sequence for finding in place.findings):
            for row, documents in enumerate(self._rows):
                if (row, layer) not in self._indexes:
                    self._indexes[row, layer] = SpanIndex(_union(documents, layer), documents[0])
                for span in self._indexes[row, layer].overlapping(Span(place.start, place.end + 1)):
                    yield row, span


def _union(documents: Sequence[Document], layer: str) -> list[Span]:
    """The spans of the first document, then those of the others that it does not have."""
    first, *others = ([*document.layers.get(layer, ())] for document in documents)
    known = {place_and_labels(span) for span in first}
    return first + [span for spans in others for span in spans if place_and_labels(span) not in known]


def place_and_labels(span: Span) -> tuple[object, ...]:
    """Return what spans of two systems have in common that count as the same: position and labels."""
    return span.fragments, tuple(sorted(span.by_layer.items(), key=str))
