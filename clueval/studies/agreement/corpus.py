"""The texts of annotators as they are counted, and the numbers of what was counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from clueval.core.bag import Bag
from clueval.core.case import are_flat
from clueval.core.count import Plan, Step, count, decided, sequences_of
from clueval.core.document import ID, Document, Group, Pair
from clueval.core.matching import with_merged
from clueval.core.overlap import first_clash
from clueval.core.read import Read
from clueval.core.span import SIDES
from clueval.files.errors import UsageError, warn
from clueval.results.options import require_names
from clueval.studies.agreement.metric import AgreementMetric
from clueval.studies.agreement.places import Documents, marks_in, sequences_in, written
from clueval.studies.agreement.readings import spans_of
from clueval.studies.agreement.report import Numbers
from clueval.transforms.changes import HIDDEN, checked, empty

Groups = Callable[[Read], Iterable[Group]]
"""Returns the documents of all annotators, text by text, each time anew, and notes what was read; a system is last."""


@dataclass(frozen=True)
class Annotated:
    """The texts of annotators, as they are counted.

    Attributes:
        metric: counts them; it names the annotators.
        groups: the documents as they were read.
        plan: what is counted.
        steps: what changes the documents of each annotator before they are counted, as gold.
        fast: counts them without their documents, if that is possible.
    """

    metric: AgreementMetric
    groups: Groups
    plan: Plan
    steps: tuple[Step, ...] = ()
    fast: Callable[[Plan], Bag | None] = lambda plan: None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the annotators, without the system."""
        return self.metric.annotators

    def texts(self, read: Read | None = None) -> Iterator[Group]:
        """Yield the documents of each text that is selected, changed and with merged layers.

        `read` notes what was read. Raises `UsageError` for a shared text that the system lacks, and for a layer that an
        annotator lacks.
        """
        for group in self._prepared(Read() if read is None else read):
            if self._selects(group):
                yield group if not self.plan.merge else _merged(group)

    def _selects(self, group: Group) -> bool:
        known = {ID: group.first.id, **group.first.metadata}
        return all(known.get(key) in values for key, values in self.plan.where.items())

    def _prepared(self, read: Read) -> Iterator[Group]:
        """Yield the documents of all texts, of which those that are selected are changed."""
        for group in self.groups(read):
            if not any(group.sides[: len(self.names)]):
                continue
            if self.plan.where:
                self._require_metadata(group)
                group = _with_metadata(group)
            if self._selects(group):
                self._require_system(group)
                self._require_layers(group)
                group = self._changed(group) if self.steps else group
            yield group

    def _require_metadata(self, group: Group) -> None:
        """Raise `UsageError` for a condition on a layer."""
        for layer in sequences_in(group.sides):
            if layer in self.plan.where:
                raise UsageError(
                    f"where selects documents by their metadata, but {layer!r} is a layer",
                    advice=self.metric.filters,
                )

    def _require_system(self, group: Group) -> None:
        humans = [each for each in group.sides[: len(self.names)] if each is not None]
        if self.metric.system and group.sides[-1] is None and len(humans) > 1:
            raise UsageError(
                "the system lacks this document, which annotators share",
                **humans[0].in_errors,
                advice="the system needs every shared document",
            )

    def _require_layers(self, group: Group) -> None:
        layers = sequences_in(group.sides)
        for name, document in zip(self.plan.sides, group.sides, strict=True):
            if document is not None and document.layers:
                for layer in layers:
                    if layer not in document.layers:
                        raise UsageError(
                            f"{name} has no layer {layer!r}, which another annotator has",
                            **document.in_errors,
                            advice="name the layers that all have",
                        )

    def _changed(self, group: Group) -> Group:
        """Return a group as the steps change each document, with what they changed by annotator in its notes."""
        found: list[Document | None] = []
        notes: Counter[tuple[str, ...]] = Counter()
        for name, document in zip(self.plan.sides, group.sides, strict=True):
            if document is None:
                found.append(None)
                continue
            pairs: Sequence[Pair] = [Pair(document, empty(document))]
            for step in self.steps:
                pairs = step(pairs)
            found.append(pairs[0].gold)
            for (step_name, *what), number in pairs[0].notes.items():
                if SIDES[1] not in what:
                    notes[(step_name, name, *what)] += number
        return replace(group, sides=tuple(found), notes=notes)

    def counted(self) -> CountedAnnotators:
        """Count all texts. Raises `UsageError` for names in options that never occurred, and if no text is shared."""
        clashes: dict[str, str] = {}
        without_text = 0

        def see(group: Group) -> Sequence[Group]:
            nonlocal without_text
            humans = group.sides[: len(self.names)]
            if sum(each is not None for each in humans) > 1 and self._selects(group):
                without_text += all(each is None or each.end is None for each in group.sides)
                self._see_clash(humans, clashes)
            return [group]

        bag = None if self.steps else self.fast(self.plan)
        if bag is None:
            read = Read()
            bag = count(map(see, self._prepared(read)), self.plan)
            bag.read.include(read)
        bag.read.settle(in_memory=True)
        bag = decided(bag)
        require_names(bag, self.plan)
        self._check_steps(bag)
        return CountedAnnotators(bag, self, clashes, without_text)

    def _see_clash(self, documents: Documents, clashes: dict[str, str]) -> None:
        """Note where spans of one annotator overlap first."""
        for layer in [layer for layer in sequences_in(documents) if layer not in clashes]:
            for name, document in zip(self.names, documents, strict=True):
                if document is None or layer in clashes or self.plan.merge:
                    continue
                rows = document.rows_in(layer)
                if rows is not None and are_flat(rows):
                    continue
                found = first_clash(spans_of(tuple(sorted(marks_in(document, layer)))))
                if found is not None:
                    one, other = (written(((span.fragments, span.label),)) for span in found)
                    clashes[layer] = f"{name} has {one} and {other} in document {document.id}"

    def _check_steps(self, bag: Bag) -> None:
        """Warn of steps that change nothing. Raises `UsageError` for labels that a map does not have."""
        total: Counter[tuple[str, ...]] = Counter()
        for name in self.plan.sides:
            own = {(step, *what): n for (step, side, *what), n in bag.notes.items() if side == name}
            total.update(own)
            try:
                checked(self.steps, own)
            except UsageError as error:
                error.problem = error.problem.replace(f" of {SIDES[0]}", f" of {name}")
                raise
        for warning in checked(self.steps, total):
            warn(warning)

    def changes(self, bag: Bag) -> dict[str, dict[str, int]]:
        """Return how often each step changed what, by annotator."""
        found: dict[str, dict[str, int]] = {step.signature[0]: {} for step in self.steps}
        for (step, name, *what), number in sorted(bag.notes.items()):
            if HIDDEN not in what:
                found[step]["/".join([name, *(each for each in what if each != SIDES[0])])] = number
        return found


def _merged(group: Group) -> Group:
    layers = sequences_in(group.sides)
    return replace(
        group, sides=tuple(None if each is None else with_merged(each, layers) for each in group.sides)
    )


def _with_metadata(group: Group) -> Group:
    """Return a group whose first document has the metadata of all of them."""
    present = [each for each in group.sides if each is not None]
    metadata = {key: value for each in reversed(present) for key, value in each.metadata.items()}
    first = replace(group.first, metadata=metadata)
    return replace(group, sides=tuple(first if each is group.first else each for each in group.sides))


class CountedAnnotators(NamedTuple):
    """What was counted of annotators, where spans of one overlap first, and the number of shared texts without text."""

    bag: Bag
    corpus: Annotated
    clashes: Mapping[str, str]
    without_text: int

    @property
    def sequences(self) -> list[str]:
        """The layers, or all of them merged."""
        return sequences_of(self.bag, self.corpus.plan)

    def numbers(self) -> dict[str, Numbers]:
        """Return the sums of each sequence."""
        metric = self.corpus.metric
        whole = self.bag.grouped(lambda place: ())
        return {
            sequence: metric.numbers(tally)
            for _, sequence, _, tally in whole.tallies_of([metric], self.sequences)
        }

    def documents(self) -> dict[str, Any]:
        """Return the numbers of documents and positions.

        ``documents`` and ``tokens`` are those that two annotators share, ``left_out`` the documents that one has alone,
        ``common`` how many each pair has. Raises `UsageError` if no document is shared.
        """
        metric = self.corpus.metric
        k = len(metric.annotators)
        documents = {present: sum(of.values()) for present, of in self.bag.shared.items()}
        shared = {present: n for present, n in documents.items() if metric.shares(present)}
        if not sum(shared.values()):
            raise UsageError(
                "no document is shared by two annotators",
                advice="documents are paired by id, files of folders by name; pair_by='content' pairs equal texts",
            )
        positions = self.bag.positions
        return {
            "documents": sum(shared.values()),
            "left_out": sum(n for present, n in documents.items() if metric.humans(present) == 1),
            "common": [
                [sum(n for present, n in shared.items() if present >> i & present >> j & 1) for j in range(k)]
                for i in range(k)
            ],
            "tokens": sum(sum(of.values()) for present, of in positions.items() if metric.shares(present)),
        }
