"""The texts of annotators as they are counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from clueval.core.bag import Bag, Read
from clueval.core.case import are_flat
from clueval.core.count import Plan, Step, count, decided
from clueval.core.document import Document, Group, Pair, metadata_with_id
from clueval.core.matching import with_merged
from clueval.core.overlap import first_clash
from clueval.core.span import SIDES
from clueval.files.errors import UsageError, warn
from clueval.results.options import require_names
from clueval.studies.agreement.annotators import Annotators
from clueval.studies.agreement.metric import AgreementMetric
from clueval.studies.agreement.places import marks_in, sequences_in, written
from clueval.studies.agreement.readings import spans_of
from clueval.transforms.changes import checked, empty


@dataclass(frozen=True)
class Annotated:
    """The texts of annotators, as they are counted.

    Attributes:
        annotators: who has annotated the texts; a system is last.
        metric: counts the texts.
        plan: what is counted.
        steps: what changes the documents of each annotator before they are counted, as gold.
    """

    annotators: Annotators
    metric: AgreementMetric
    plan: Plan
    steps: tuple[Step, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the annotators, without the system."""
        return self.annotators.names

    def texts(self, read: Read | None = None, *, only_differing: bool = False) -> Iterator[Group]:
        """Yield the documents of each text that is selected, changed and with merged layers.

        They may lack their tags and, with `only_differing`, the spans of sentences that are equal in all files.
        `read` notes what was read. Raises `UsageError` for a shared text that the system lacks, and for a layer that an
        annotator lacks.
        """
        read = Read() if read is None else read
        only_differing = only_differing and not self.plan.merge
        groups = self.annotators.plain_groups(read, only_differing=only_differing)
        for group in self._prepared(self.annotators.groups(read) if self.steps else groups):
            if not self._selects(group):
                continue
            if self.plan.merge:
                layers = sequences_in(group.sides)
                merged = [
                    None if document is None else with_merged(document, layers) for document in group.sides
                ]
                group = replace(group, sides=tuple(merged))
            yield group

    def _selects(self, group: Group) -> bool:
        metadata = metadata_with_id(group.first)
        return all(metadata.get(key) in values for key, values in self.plan.where.items())

    def _prepared(self, groups: Iterable[Group]) -> Iterator[Group]:
        """Yield the documents of all texts, of which those that are selected are changed."""
        for group in groups:
            humans = [document for document in group.sides[: len(self.names)] if document is not None]
            if not humans:
                continue
            layers = sequences_in(group.sides)
            if self.plan.where:
                for layer in layers:
                    if layer in self.plan.where:
                        raise UsageError(
                            f"where selects documents by their metadata, but {layer!r} is a layer",
                            advice=self.metric.filters,
                        )
                group = _with_metadata(group)
            if self._selects(group):
                if self.metric.system and group.sides[-1] is None and len(humans) > 1:
                    raise UsageError(
                        "the system lacks this document, which annotators share",
                        **humans[0].in_errors,
                        advice="the system needs every shared document",
                    )
                for name, document in zip(self.plan.sides, group.sides, strict=True):
                    if document is not None and document.layers:
                        _require_layers(name, document, layers)
                group = self._changed_group(group) if self.steps else group
            yield group

    def _changed_group(self, group: Group) -> Group:
        """Return a group as the steps change each document, with what they changed by annotator in its notes."""
        changed: list[Document | None] = []
        notes: Counter[tuple[str, ...]] = Counter()
        for name, document in zip(self.plan.sides, group.sides, strict=True):
            if document is None:
                changed.append(None)
                continue
            pairs: Sequence[Pair] = [Pair(document, empty(document))]
            for step in self.steps:
                pairs = step(pairs)
            changed.append(pairs[0].gold)
            for (step_name, *what), number in pairs[0].notes.items():
                if SIDES[1] not in what:
                    notes[(step_name, name, *what)] += number
        return replace(group, sides=tuple(changed), notes=notes)

    def counted(self) -> tuple[Bag, dict[str, str], int]:
        """Count all texts; return where spans of one annotator overlap first, too, and how many texts have no text.

        Raises `UsageError` for names in options that never occurred.
        """
        clashes: dict[str, str] = {}
        without_text = 0

        def record(group: Group) -> Sequence[Group]:
            nonlocal without_text
            humans = group.sides[: len(self.names)]
            if sum(document is not None for document in humans) > 1 and self._selects(group):
                without_text += all(document is None or document.end is None for document in group.sides)
                if not self.plan.merge:
                    self._record_clash(humans, clashes)
            return [group]

        bag = None if self.steps else self.annotators.bag(self.plan)
        if bag is None:
            read = Read()
            bag = count(map(record, self._prepared(self.annotators.groups(read))), self.plan)
            bag.read.include(read)
        bag.read.settle(in_memory=True)
        bag = decided(bag)
        require_names(bag, self.plan)
        self._check_steps(bag)
        return bag, clashes, without_text

    def _record_clash(self, documents: Sequence[Document | None], clashes: dict[str, str]) -> None:
        """Note where spans of one annotator overlap first."""
        for layer in [layer for layer in sequences_in(documents) if layer not in clashes]:
            for name, document in zip(self.names, documents, strict=True):
                if document is None or layer in clashes:
                    continue
                rows = document.rows_in(layer)
                if rows is not None and are_flat(rows):
                    continue
                clash = first_clash(spans_of(tuple(sorted(marks_in(document, layer)))))
                if clash is not None:
                    first, second = (written(((span.fragments, span.label),)) for span in clash)
                    clashes[layer] = f"{name} has {first} and {second} in document {document.id}"

    def _check_steps(self, bag: Bag) -> None:
        """Warn of steps that change nothing. Raises `UsageError` for labels that a map does not have."""
        total: Counter[tuple[str, ...]] = Counter()
        for name in self.plan.sides:
            changes = {(step, *what): n for (step, side, *what), n in bag.notes.items() if side == name}
            total.update(changes)
            try:
                checked(self.steps, changes)
            except UsageError as error:
                error.problem = error.problem.replace(f" of {SIDES[0]}", f" of {name}")
                raise
        for warning in checked(self.steps, total):
            warn(warning)


def _require_layers(name: str, document: Document, layers: Sequence[str]) -> None:
    for layer in layers:
        if layer not in document.layers:
            raise UsageError(
                f"{name} has no layer {layer!r}, which another annotator has",
                **document.in_errors,
                advice="name the layers that all have",
            )


def _with_metadata(group: Group) -> Group:
    """Return a group whose first document has the metadata of all of them."""
    present = [document for document in group.sides if document is not None]
    metadata = {key: value for document in reversed(present) for key, value in document.metadata.items()}
    first = replace(group.first, metadata=metadata)
    return replace(
        group, sides=tuple(first if document is group.first else document for document in group.sides)
    )
