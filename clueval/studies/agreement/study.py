"""`agree`: annotators against each other, in numbers and in the places where they differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from clueval.core.bag import Bag
from clueval.core.count import DOCUMENT, Plan
from clueval.core.tally import Tally, added
from clueval.files.arguments import checked_call
from clueval.files.errors import UsageError
from clueval.files.options import field_names, require_share
from clueval.formats.options import Reading
from clueval.reports.language import in_language, phrase
from clueval.reports.place import Facet, MarkKind, Place
from clueval.reports.report import Report
from clueval.reports.table import Table
from clueval.results.options import parse_where
from clueval.results.signature import Signature
from clueval.statistics.distributions import t_quantile
from clueval.statistics.jackknife import (
    Interval,
    degrees_of_freedom,
    effective_number,
    logit_jackknife,
    standard_error,
)
from clueval.studies.agreement.annotators import Annotators, annotators_of
from clueval.studies.agreement.conventions import DEFAULTS, chosen_conventions
from clueval.studies.agreement.corpus import Annotated, CountedAnnotators
from clueval.studies.agreement.metric import AgreementMetric
from clueval.studies.agreement.places import (
    AnnotatedText,
    Disagreement,
    choices_of_places,
    columns_of_places,
    differing_in,
    facets_of_places,
    mark_kinds,
    sequences_in,
    write_pygamma,
)
from clueval.studies.agreement.report import ceiling, numbers, sequence_report
from clueval.studies.agreement.view import (
    advice_of,
    facts_of,
    notes_of,
    notes_of_documents,
    remarks_of,
    rough_intervals,
    tables_of,
    verdict_of,
)
from clueval.transforms.changes import ALTERNATIVES, choices_of
from clueval.transforms.options import Preparing
from clueval.transforms.steps import steps_of
from clueval.version import __version__

_READING = Reading()

FEW = 10
"""With fewer effective documents, a remark says so."""


class Agreement(Report):
    """The result of `agree`: the numbers, and the places where annotators differ.

    Forms for readers and JSON have the numbers; tables of data, workbooks and pages have the places, which are read
    once more.

    >>> agree({"anna": [["B-PER", "O", "B-LOC"]], "bob": [["B-PER", "O", "O"]]}).verdict()
    'Mean F1 of pairs 66.67, alpha 0.545'
    """

    places_in_text = places_on_screen = 0

    def __init__(
        self, counted: CountedAnnotators, signature: str, *, confidence: float | None = None
    ) -> None:
        self._counted, self.signature = counted, signature
        self._numbers = counted.numbers()
        with in_language():
            self._report = self._made(confidence)

    def _made(self, confidence: float | None) -> dict[str, Any]:
        counted, corpus = self._counted, self._counted.corpus
        documents = counted.documents()
        agreement = {sequence: sequence_report(of) for sequence, of in self._numbers.items()}
        read = counted.bag.read
        report: dict[str, Any] = {
            "clueval": __version__,
            "signature": self.signature,
            "annotators": list(corpus.names),
            **documents,
            "repaired_tags": {name: read.repaired(name) for name in corpus.names},
            "agreement": agreement,
        }
        for sequence, found in agreement.items():
            found["notes"] = list(self._notes(sequence, report))
        if corpus.steps:
            report["prepared"] = corpus.changes(counted.bag)
        if corpus.metric.system:
            report["ceiling"] = {
                sequence: ceiling(of, documents["documents"]) for sequence, of in self._numbers.items()
            }
        if confidence is not None:
            report["intervals"] = _intervals(counted, confidence)
        return report

    def _notes(self, sequence: str, report: Mapping[str, Any]) -> Iterator[str]:
        yield from notes_of(self._numbers[sequence], self._counted.clashes.get(sequence))
        yield from notes_of_documents(report, self._counted.without_text)

    # in the language of the context
    @property
    def title(self) -> str:  # type: ignore[override]  # it is only read
        return phrase("Agreement of {names}", names=", ".join(self._counted.corpus.names))

    @property
    def kinds(self) -> Sequence[MarkKind]:  # type: ignore[override]  # as above
        return mark_kinds(self._counted.corpus.names)

    @property
    def facets(self) -> Sequence[Facet]:  # type: ignore[override]  # as above
        return facets_of_places()

    @property
    def choices(self) -> Sequence[tuple[str, str]]:  # type: ignore[override]  # as above
        """Raises `UsageError` for an annotator with the name of a choice."""
        return choices_of_places(self._counted.corpus.names)

    @property
    def store(self) -> str:  # type: ignore[override]  # as above
        return " ".join(["agreement Agreement of annotators", *self._counted.corpus.names])

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain dictionaries; what is not defined is None."""
        return self._report

    def scores(self) -> dict[str, float]:
        """Return the numbers by their places, as ``f1.exact.mean``; undefined ones are left out.

        The sequence is in them if there are several; those of a system begin with ``ceiling``.
        """
        found: dict[str, float] = {}
        sections = {(): self._report["agreement"], ("ceiling",): self._report.get("ceiling", {})}
        for section, by_sequence in sections.items():
            for sequence, of in by_sequence.items():
                for path, value in _numbers(of, self._report["annotators"], ()):
                    if isinstance(value, float):
                        found[".".join([*section, *([sequence] * (len(by_sequence) > 1)), *path])] = value
        return found

    def verdict(self) -> str:
        return verdict_of(self._report, self._numbers)

    def facts(self) -> Iterable[str]:
        return facts_of(self._report)

    def tables(self) -> Iterable[Table]:
        """Yield all tables: F1 by pair and label, places, the ceiling, coefficients, alpha by label, intervals."""
        return tables_of(self._report)

    def remarks(self) -> Iterable[str]:
        notes = [
            f"{sequence}: {note}"
            for sequence in self._numbers
            for note in self._notes(sequence, self._report)
        ]
        return remarks_of(self._report, [*notes, *_rough(self._report)])

    def notes(self) -> Iterable[tuple[str, str]]:
        return [("", note) for note in advice_of(self._report)]

    def columns(self) -> Sequence[str]:
        return columns_of_places(self._counted.corpus.names)

    def places(self) -> Iterator[Disagreement]:
        """Yield the places where annotators differ, document by document; reads the sources once more."""
        corpus = self._counted.corpus
        number = len(corpus.names)
        for group in corpus.texts():
            humans = group.sides[:number]
            text = AnnotatedText(humans, corpus.names)
            for layer in sequences_in(humans):
                for readings in differing_in(humans, layer):
                    yield text.place(layer, readings)

    def disagreements(self) -> Iterator[Disagreement]:
        """Yield the places where annotators differ, document by document; reads the sources once more."""
        return self.places()

    def write_pygamma(self, folder: str | Path) -> int:
        """Write a CSV file for each shared document, in the form that the program pygamma reads; return their number.

        Raises `FileError`.
        """
        corpus = self._counted.corpus
        return write_pygamma(corpus.texts(), corpus.names, Path(folder))

    def first_places(self, number: int) -> tuple[Sequence[Place], int]:
        if number:
            return super().first_places(number)
        return (), sum(
            sum(found["disagreements"]["kinds"].values()) for found in self._report["agreement"].values()
        )


def _numbers(
    value: Any, names: Sequence[str], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each number of a report with its path; rows and columns of matrices are called by annotators."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(inner, names, (*path, key))
    elif isinstance(value, list):
        for name, inner in zip(names, value, strict=False):
            yield from _numbers(inner, names, (*path, name))
    else:
        yield path, value


def _intervals(counted: CountedAnnotators, confidence: float) -> dict[str, Any]:
    """Return the section of intervals. Raises `UsageError` for a single shared document."""
    metric = counted.corpus.metric
    scores = _intervals_of_units(counted.bag, metric, counted.sequences, confidence)
    section = {
        "method": "jackknife",
        "confidence": confidence,
        "resample_by": "document",
        "units": sum(metric.shares(present) * len(of) for present, of in counted.bag.shared.items()),
        "resamples": None,
        "seed": None,
        "remarks": [],
        "scores": {
            sequence: {path: each.to_dict() for path, each in found.items()}
            for sequence, found in scores.items()
        },
    }
    section["remarks"] = list(_rough({"intervals": section}))
    return section


def _rough(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield which sequences have rough intervals."""
    section = report.get("intervals", {"scores": {}})
    for sequence, found in section["scores"].items():
        least = min((each["effective"] or 0 for each in found.values()), default=FEW)
        if least < FEW:
            yield rough_intervals(sequence, section["units"], least)


@checked_call
def agree(
    sources: Any,
    *others: Any,
    conventions: Sequence[str] | str = DEFAULTS,
    system: Any = None,
    merge: bool = False,
    where: Iterable[str] | Mapping[str, Any] = (),
    intervals: bool = False,
    confidence: float = 0.95,
    reading: Reading = _READING,
    **options: Any,
) -> Agreement:
    """Compare annotators with each other.

    Args:
        sources, others: the annotators, one after the other, in one list, or in a dictionary by their names: each a
            path, or documents, lists of tags or lists of spans, as a side of `clueval.score`. Or one path: a file
            with several annotators (`annotators`), or a folder with a folder for each.
        conventions: the conventions of F1: ``exact``, or keys of `clueval.conventions`.
        system: a path or documents, scored against each annotator (``ceiling`` in the report); or the name of one of
            the annotators of one file or folder.
        merge: whether to merge all layers into one sequence.
        where: conditions ``KEY=VALUE`` on the metadata of documents, as in `clueval.score`; others do not count.
        intervals: whether to add intervals, with documents as units; `confidence` is that of the intervals.
        reading: how files are read, see `clueval.formats.options.Reading`.
        options: how annotators are found and their documents are paired (see `Naming`), any field of `Reading`, and
            changes to the spans of all annotators before they are compared: `label_map`, `hierarchy` and `depth`,
            `untyped` and `fragments`, as in `clueval.score`.

    Reads the files once and holds one document of each annotator. Raises `UsageError` for fewer than two
    annotators or no shared document, `TextMismatch` if the texts of two annotators differ.

    >>> from clueval import Document, Span
    >>> anna, bob = (Document("d", {"label": [Span(0, end, "PER")]}, tokens=["a"] * 9) for end in (3, 2))
    >>> study = agree({"anna": [anna], "bob": [bob]})
    >>> study.to_dict()["agreement"]["label"]["coefficients"]["positions"]["all"]["kappa"]["mean"]
    0.7272727272727273
    >>> [(place.start, place.end, place.kind, place.boundary) for place in study.disagreements()]
    [(0, 3, 'boundary', 'end')]
    """
    given = {name: options.pop(name) for name in field_names(Preparing) if name in options}
    preparing = Preparing(**given).without([name for name in given if name not in CHANGES], "agree")
    require_share("confidence", confidence)
    listed = [sources, *others] if others else sources
    annotators = annotators_of(listed, reading, options, "agree", system)
    chosen = chosen_conventions(conventions.split(",") if isinstance(conventions, str) else conventions)
    metric = AgreementMetric(annotators.names, chosen, annotators.has_system)
    plan = Plan(
        (metric,),
        merge,
        parse_where(where),
        units=DOCUMENT if intervals else None,
        sides=annotators.sides,
    )
    steps = tuple(step for step in steps_of(preparing) if step.signature[0] != ALTERNATIVES)

    counted = Annotated(metric, annotators.groups, plan, steps, annotators.bag).counted()
    return Agreement(counted, _signature(counted, annotators), confidence=confidence if intervals else None)


CHANGES = ("label_map", "hierarchy", "depth", "untyped", "fragments")
"""The options that change the spans of all annotators."""


def _signature(counted: CountedAnnotators, annotators: Annotators) -> str:
    corpus, read = counted.corpus, counted.bag.read
    schemes = sorted(
        {scheme or "none" for (side, *_), scheme in read.schemes().items() if side in corpus.names}
    )
    keys = ",".join(convention.key for convention in corpus.metric.conventions)
    choices = {
        "metrics": f"agreement({keys})",
        "unit": "+".join(sorted(read.units)) or "token",
        "scheme": "+".join(schemes) or "documents",
        "invalid": "+".join(sorted(annotators.treatments)) or "documents",
        "merge": "yes" if corpus.plan.merge else "no",
        "zero": "0/0=null",
    }
    if annotators.naming.pair_by is not None:
        choices["paired"] = annotators.naming.pair_by
    if corpus.plan.where:
        choices["where"] = ";".join(
            f"{key}={'|'.join(sorted(values))}" for key, values in corpus.plan.where.items()
        )
    return str(Signature.of([], choices | choices_of(corpus.steps, counted.bag.notes)))


# Intervals, from the jackknife over documents (`clueval.statistics.jackknife`): F1 lies between 0 and 1 and has one on
# the logit scale. Coefficients, and the differences of a system to the annotators, may be negative, so theirs is the
# number plus or minus Student's quantile times the standard error. A document weighs as many spans as its annotators
# marked.


def _intervals_of_units(
    bag: Bag, metric: AgreementMetric, sequences: Sequence[str], confidence: float = 0.95
) -> dict[str, dict[str, Interval]]:
    """Return the intervals of `numbers`, by sequence and path; each place of the bag is a document.

    Raises `UsageError` for a single shared document.
    """
    shared = {place for present, of in bag.shared.items() if metric.shares(present) for place in of}
    if len(shared) < 2:
        raise UsageError(
            "there is only one shared document, so the spread between documents is not known",
            advice="leave out the intervals",
        )
    units: dict[str, list[Tally]] = {sequence: [] for sequence in sequences}
    for place, sequence, _, tally in bag.tallies_of([metric], sequences):
        if place in shared:
            units[sequence].append(tally)
    return {sequence: _of_sequence(metric, tallies, confidence) for sequence, tallies in units.items()}


def _of_sequence(metric: AgreementMetric, units: Sequence[Tally], confidence: float) -> dict[str, Interval]:
    whole = added((unit, 1) for unit in units)
    different: dict[frozenset[object], Mapping[str, float | None]] = {}
    without = []
    for unit in units:
        key = frozenset(unit.items())
        if key not in different:
            different[key] = numbers(metric.numbers(added([(whole, 1), (unit, -1)])))
        without.append(different[key])
    sizes = [sum(n for key, n in unit.items() if key[0] == "spans") for unit in units]
    return {
        path: _interval(path, value, [each.get(path) for each in without], sizes, confidence)
        for path, value in numbers(metric.numbers(whole)).items()
    }


def _interval(
    path: str, value: float | None, without: Sequence[float | None], sizes: Sequence[int], confidence: float
) -> Interval:
    """Return the interval of a number from its values without each document."""
    effective = effective_number(sizes)
    defined = [each for each in without if each is not None]
    used = sum(size > 0 for size in sizes)
    if value is None or len(defined) < len(without) or used < 2:
        reason = "not defined" if value is None else "not defined without one of the documents"
        return Interval(None, None, None, used, effective, reason)
    if path.startswith("f1.") or ".observed." in path:
        return logit_jackknife(value, defined, used, effective, confidence)
    se = standard_error(defined)
    if not se:
        reason = "the agreement is the same in all documents, so the spread between documents is not known"
        return Interval(None, None, se, used, effective, reason)
    half = t_quantile((1 + confidence) / 2, degrees_of_freedom(effective)) * se
    return Interval(value - half, min(1.0, value + half), se, used, effective)
