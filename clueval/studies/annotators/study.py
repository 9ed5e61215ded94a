"""A study: what is read, and the counts of all its documents, from which `report_of` makes the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from clueval.evaluation.plan import choices_of
from clueval.evaluation.repairs import RepairCount
from clueval.evaluation.signature import Signature
from clueval.files.errors import UsageError
from clueval.first.metrics.counting import Tally
from clueval.reports.language import Remark
from clueval.spans.document import Document
from clueval.spans.filters import Filter, SeenNames
from clueval.spans.merging import with_merged
from clueval.studies.annotators.counting import DEFAULTS, Contests, ShapeCounts
from clueval.studies.annotators.places import Mark, clash_of, marks_of, written
from clueval.studies.annotators.report import Tables, ceiling, sequence_report
from clueval.studies.annotators.source import Annotators, Group
from clueval.transforms.applied import Preparation, warn_without_effect
from clueval.transforms.group import Group as Sides
from clueval.transforms.group import Transform
from clueval.version import __version__

_ALL = Filter()


@dataclass(frozen=True, slots=True)
class Study:
    """What is read, and how: the annotators, whether layers are merged, and the conventions of F1.

    `transforms` change the documents of each annotator; `changes` has their numbers, once all documents were read.
    `where` selects documents by their metadata.
    """

    annotators: Annotators
    merge: bool = False
    contests: Contests = field(default_factory=lambda: Contests(DEFAULTS))
    transforms: tuple[Transform, ...] = ()
    changes: Counter[tuple[str, str]] = field(default_factory=Counter, compare=False, repr=False)
    where: Filter = _ALL

    def groups(self) -> Iterator[Group]:
        """Yield the documents of each text, with merged layers if they are to be merged.

        Raises `UsageError` for a shared document that the system lacks, and for a layer that one annotator lacks.
        """
        for group in self._prepared():
            humans = [document for document in group[: self.humans] if document is not None]
            if not humans:
                continue
            self._require_system(group, humans)
            self._require_layers(group)
            if self.merge:
                layers = sequences_of(group)
                group = tuple(None if each is None else with_merged(each, layers) for each in group)
            yield group

    def _prepared(self) -> Iterator[Group]:
        if not self.transforms:
            yield from self._selected()
            return
        preparations = [Preparation(self.transforms) for _ in self.annotators.columns]
        for group in self._selected():
            pairs = zip(group, preparations, strict=True)
            yield tuple(None if each is None else _prepared(each, preparation) for each, preparation in pairs)
        self.changes.clear()
        for annotator, preparation in zip(self.annotators.columns, preparations, strict=True):
            self.changes.update(_changes(annotator.name, preparation))
        warn_without_effect(preparations)

    def _selected(self) -> Iterator[Group]:
        """Yield the groups that `where` selects. Raises `UsageError` for a layer and for values that do not occur."""
        if not self.where:
            yield from self.annotators.groups()
            return
        seen, layers = SeenNames(self.where), set[str]()
        for group in self.annotators.groups():
            present = [document for document in group if document is not None]
            layers.update(sequences_of(group))
            if on_layers := self.where.on_layers(layers):
                raise UsageError(
                    f"where selects documents by their metadata, but {on_layers.conditions[0][0]!r} is a layer",
                    advice="the numbers of each label are in the report, below per_label",
                )
            metadata = {key: value for each in reversed(present) for key, value in each.metadata.items()}
            seen.see(present[0].id, metadata, self.where)
            if self.where.lets_through(present[0].id, metadata):
                yield group
        seen.require_all((), sorted(layers))

    @property
    def changes_documents(self) -> bool:
        """Whether documents are changed or selected before they are compared."""
        return bool(self.merge or self.transforms or self.where)

    @property
    def humans(self) -> int:
        """The number of annotators, without the system."""
        return len(self.annotators.listed)

    def _require_system(self, group: Group, humans: Sequence[Document]) -> None:
        if self.annotators.system is not None and group[-1] is None and len(humans) > 1:
            raise UsageError(
                "the system lacks this document, which annotators share",
                file=humans[0].file,
                document=humans[0].id,
                advice="the system needs every shared document",
            )

    def _require_layers(self, group: Group) -> None:
        layers = sequences_of(group)
        for annotator, document in zip(self.annotators.columns, group, strict=True):
            if document is None or not document.layers:
                continue
            for layer in layers:
                if layer not in document.layers:
                    raise UsageError(
                        f"{annotator.name} has no layer {layer!r}, which another annotator has",
                        file=document.file,
                        document=document.id,
                        advice="name the layers that all have",
                    )


def _prepared(document: Document, preparation: Preparation) -> Document:
    empty = replace(document, layers={}, tags={})
    return preparation(Sides(document, empty)).gold


def _changes(name: str, preparation: Preparation) -> dict[tuple[str, str], int]:
    """Return the numbers of changes by transform, and by the annotator with what was changed.

    Raises `UsageError` for labels that a map does not have.
    """
    try:
        found = preparation.checked() or {}
    except UsageError as error:
        error.problem = error.problem.replace(" of gold", f" of {name}")
        raise
    return {
        (transform, "/".join(map(str, (name, *key[1:])))): number
        for transform, tally in found.items()
        for key, number in tally.items()
        if key[0] == "gold"  # the side on which the documents of annotators are
    }


def sequences_of(group: Group) -> list[str]:
    """Return the layers of the documents of a group."""
    return list(
        dict.fromkeys(layer for document in group if document is not None for layer in document.layers)
    )


def columns_of(group: Group, sequence: str) -> list[list[Mark] | None]:
    """Return the spans of one sequence of each document of a group."""
    return [None if each is None else marks_of(each.layers.get(sequence, ())) for each in group]


@dataclass(slots=True)
class StudyCounts:
    """The counts of a study: documents, positions, and a `ShapeCounts` for each sequence."""

    study: Study
    left_out: int = 0
    documents: Counter[tuple[bool, ...]] = field(default_factory=Counter)
    positions: Counter[tuple[bool, ...]] = field(default_factory=Counter)
    sequences: dict[str, ShapeCounts] = field(default_factory=dict)
    repairs: list[RepairCount] = field(default_factory=list)
    units: set[str] = field(default_factory=set)
    without_text: int = 0
    overlaps: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.repairs = [RepairCount() for _ in self.study.annotators.listed]

    def count(self) -> StudyCounts:
        """Count all documents; returns itself."""
        for group in self.study.groups():
            self.add(group)
        return self

    def add(self, group: Group) -> bool:
        """Count the documents of one text; return whether they are shared."""
        humans = group[: self.study.humans]
        for repairs, document in zip(self.repairs, humans, strict=True):
            if document is not None:
                repairs.add(document)
        who = tuple(document is not None for document in humans)
        if sum(who) < 2:
            self.left_out += 1
            return False
        present = [document for document in group if document is not None]
        self.documents[who] += 1
        self.units.add(present[0].unit)
        length = next((each.end - each.start for each in present if each.end is not None), None)
        self.without_text += length is None
        self.positions[who] += length or 0
        for sequence in sequences_of(group):
            columns = columns_of(group, sequence)
            self._see_overlap(sequence, columns, present[0].id)
            self.of(sequence).add_spans(columns)
        return True

    def _see_overlap(self, sequence: str, columns: Sequence[list[Mark] | None], document: str) -> None:
        """Record where spans of one annotator overlap first."""
        names = self.study.annotators.names
        for name, marks in zip(names, columns, strict=False):
            found = None if sequence in self.overlaps else clash_of(sorted(set(marks or ())))
            if found is not None:
                one, other = (written((mark,)) for mark in found)
                self.overlaps[sequence] = f"{name} has {one} and {other} in document {document}"

    def of(self, sequence: str) -> ShapeCounts:
        """Return the counting of a sequence."""
        if sequence not in self.sequences:
            self.sequences[sequence] = ShapeCounts(self.study.humans, self.study.contests)
        return self.sequences[sequence]

    def tallies(self) -> dict[str, Tally]:
        """Return the settled counts of each sequence."""
        found = {}
        for sequence, counting in self.sequences.items():
            tally = found[sequence] = counting.settle().copy()
            for who, n in self.documents.items():
                tally["documents", who] += n
            for who, n in self.positions.items():
                covered = tally["covered", who]  # without a text, only what spans cover is known
                tally["tokens", who] += max(n, covered)
        return found

    def tables(self) -> dict[str, Tables]:
        """Return the settled tables of each sequence."""
        names, contests = self.study.annotators.names, self.study.contests
        return {sequence: Tables(tally, names, contests) for sequence, tally in self.tallies().items()}


def report_of(counts: StudyCounts) -> dict[str, Any]:
    """Return the report of all counts. Raises `UsageError` if no document is shared."""
    study = counts.study
    if not counts.documents:
        raise UsageError(
            "no document is shared by two annotators",
            advice="documents are paired by id, files of folders by name; pair_by='content' pairs equal texts",
        )
    names = study.annotators.names
    tables = counts.tables()
    sequences = {
        sequence: sequence_report(of, counts.overlaps.get(sequence)) for sequence, of in tables.items()
    }
    if counts.without_text:
        for each in sequences.values():
            each["notes"].append(_no_text(counts.without_text))
    report: dict[str, Any] = {
        "clueval": __version__,
        "signature": str(_signature(counts)),
        "annotators": names,
        "documents": sum(counts.documents.values()),
        "left_out": counts.left_out,
        "common": [
            [sum(n for who, n in counts.documents.items() if who[i] and who[j]) for j in range(len(names))]
            for i in range(len(names))
        ],
        "tokens": sum(counts.positions.values()),
        "repaired_tags": {name: each.total() for name, each in zip(names, counts.repairs, strict=True)},
        "agreement": sequences,
    }
    if study.transforms:
        report["prepared"] = {
            transform: {key: n for (name, key), n in sorted(study.changes.items()) if name == transform}
            for transform, _ in (each.signature for each in study.transforms)
        }
    if study.annotators.system is not None:
        report["ceiling"] = {
            sequence: ceiling(of, sequences[sequence]["f1"]) for sequence, of in tables.items()
        }
    return report


def _no_text(n: int) -> str:
    return Remark(
        "{n} document has no text, so positions outside of all spans are not counted|"
        "{n} documents have no text, so positions outside of all spans are not counted",
        n=n,
    )


def _signature(counts: StudyCounts) -> Signature:
    files = [each for each in counts.study.annotators.listed if each.options is not None]
    schemes = sorted({scheme or "none" for repairs in counts.repairs for _, _, scheme in repairs.layers()})
    invalid = {each.options.invalid or "conlleval" for each in files if each.options is not None}
    choices = {
        "metrics": f"agreement({','.join(counts.study.contests.keys)})",
        "unit": "+".join(sorted(counts.units)) or "token",
        "scheme": "+".join(schemes) or "documents",
        "invalid": "+".join(sorted(invalid)) or "documents",
        "merge": "yes" if counts.study.merge else "no",
        "zero": "0/0=null",
    }
    if counts.study.annotators.pair_by is not None:
        choices["paired"] = counts.study.annotators.pair_by
    if counts.study.where:
        choices["where"] = str(counts.study.where)
    return Signature.of([], choices | choices_of(counts.study.transforms))
