"""`agree`: annotators against each other, in numbers and in the places where they differ.

Intervals of the numbers are from the jackknife over documents (see `clueval.statistics.jackknife`). F1 lies between 0
and 1 and has an interval on the logit scale. Coefficients, and the differences of a system to the annotators, may be
negative, so theirs is the number plus or minus Student's quantile times the standard error. A document weighs as many
spans as its annotators marked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from clueval.arguments import checked_call
from clueval.evaluation.signature import Signature
from clueval.files.errors import UsageError
from clueval.files.visible import visible
from clueval.first.metrics.counting import Tally
from clueval.options import field_names, require_share, with_fields
from clueval.reports.language import Remark, speaking
from clueval.reports.report import Data, Report
from clueval.reports.table import Table
from clueval.second.formats.options import Reading
from clueval.second.reading.options import layer_names
from clueval.second.transforms.options import Preparing
from clueval.spans.filters import parse_where
from clueval.statistics.agreement import unitizing
from clueval.statistics.distributions import t_quantile
from clueval.statistics.jackknife import (
    Interval,
    degrees_of_freedom,
    effective_number,
    logit_jackknife,
    standard_error,
)
from clueval.studies.annotators.clusters import DocumentRows, counted, results_of
from clueval.studies.annotators.counting import DEFAULTS, Contests, chosen_conventions
from clueval.studies.annotators.places import Disagreement, Shape, kind_of, placed, places
from clueval.studies.annotators.render import numbers_of, remarks, tables
from clueval.studies.annotators.report import DOMAINS, Tables, ceiling_means, coefficients, unitized
from clueval.studies.annotators.source import Group, Naming, annotators_of
from clueval.studies.annotators.study import Study, StudyCounts, columns_of, report_of, sequences_of
from clueval.textfiles import cell
from clueval.transforms.of_options import transforms_of

_READING, _PREPARING = Reading(), Preparing()
_NAMING = Naming()

FEW = 10
"""With fewer effective documents, a remark says so."""

OTHERS = tuple(
    name
    for name in field_names(Preparing)
    if name not in ("label_map", "hierarchy", "depth", "untyped", "fragments")
)
"""The fields of `Preparing` that are about gold and predicted, and do not apply to annotators."""


@dataclass(frozen=True, slots=True)
class Agreement(Report):
    """The result of `agree`."""

    _title: ClassVar[str] = "Agreement of annotators"

    report: Mapping[str, Any]
    study: Study = field(repr=False)

    @property
    def signature(self) -> Signature:
        """The choices that the numbers depend on."""
        return Signature.parse(self.report["signature"])

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain dictionaries; what is not defined is None."""
        return dict(self.report)

    def tables(self) -> Iterator[Table]:
        """Yield all tables: F1 by pair and label, coefficients, unitizing, disagreements, the ceiling."""
        return tables(self.report)

    def scores(self) -> dict[str, float]:
        """Return the numbers by their places, as ``f1.exact.mean``; undefined ones are left out.

        The sequence is in them if there are several; those of a system begin with ``ceiling``.
        """
        several, found = len(self.report["agreement"]) > 1, {}
        for section, sequence, entry, value in (row.values() for row in self.rows()):
            if isinstance(value, float):
                place = [*(["ceiling"] if section == "ceiling" else []), *([sequence] if several else [])]
                found[".".join([*place, *entry.split("/")])] = value
        return found

    @checked_call
    def write_page(
        self, path: str | Path, *, title: str | None = None, lang: str = "", text_lang: str = ""
    ) -> None:
        """Write the web page of ``clueval agree --html``; reads the sources once more.

        `lang` and `text_lang` are those of `Result.write_page`. Raises `FileError`, and `MissingExtra`
        without the extra ``report``.
        """
        from clueval.studies.annotators.page import write_page

        store = title or self._title
        with speaking(lang, text_lang):
            write_page(Path(path), self.to_dict(), self.disagreements(), title=title, store=store)

    def disagreements(self) -> Iterator[Disagreement]:
        """Yield the places where annotators differ, document by document; reads the sources once more."""
        return chain.from_iterable(
            results_of(self.study, partial(_of_rows, self.study), partial(_of_group, self.study))
        )

    def _data(self) -> Data:
        return Data(("section", "sequence", "entry", "value"), numbers_of(self.report))

    def _readable(self, form: str) -> str:
        """Return the tables, and before the signature what a reader must know besides the numbers."""
        found = Report._readable(self, form)
        words = list(remarks(self.report))
        if not words:
            return found
        escaped = visible if form == "text" else import_module(f"clueval.reports.{form}").escaped
        *before, last = found.split("\n")
        return "\n".join([*before, *map(escaped, words), "", last])

    def _separated(self, form: str) -> str:
        return f"{Report._separated(self, form)}\n# signature: {cell(self.report['signature'])}"


def _of_group(study: Study, group: Group) -> Iterator[Disagreement]:
    """Yield the places of one text where annotators differ."""
    humans = group[: study.humans]
    for sequence in sequences_of(group):
        differing = _differing(places(columns_of(humans, sequence)))
        yield from placed(study.annotators.names, humans, sequence, differing)


def _of_rows(study: Study, rows: DocumentRows) -> Iterator[Disagreement]:
    """Return the places of one text where annotators differ, by layer."""
    found: dict[str, list[Disagreement]] = {}
    for of_part, components in rows.parts:
        documents = of_part.documents(rows.sources[:1])
        for layer in layer_names(rows.sources[0].options.layers):
            differing = _differing((start, shape) for own, start, shape in components if own == layer)
            found.setdefault(layer, []).extend(placed(study.annotators.names, documents, layer, differing))
    return chain.from_iterable(found.values())


def _differing(shapes: Iterable[tuple[int, Shape]]) -> Iterator[tuple[int, Shape]]:
    return ((start, shape) for start, shape in shapes if kind_of(shape)[0])


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
    naming: Naming = _NAMING,
    reading: Reading = _READING,
    preparing: Preparing = _PREPARING,
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
        naming: how annotators are found and their documents are paired, see `Naming`.
        reading: how files are read, see `clueval.second.formats.options.Reading`.
        preparing: changes to the spans of all annotators before they are compared: label map, hierarchy and depth,
            untyped and fragments.
        options: any field of `Naming`, `Reading` and `Preparing` by its own name, as in ``layers={"entity": 2}``.

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
    changes = {name: options.pop(name) for name in field_names(Preparing) if name in options}
    preparing = with_fields(preparing, changes).without(OTHERS, "agree")
    annotators = annotators_of(
        [sources, *others] if others else sources, naming, reading, options, "agree", system
    )
    contests = Contests(chosen_conventions(conventions))
    study = Study(annotators, merge, contests, transforms_of(preparing), where=parse_where(where))
    if intervals:
        return Agreement(with_intervals(study, confidence), study)
    return Agreement(report_of(counted(study)), study)


def with_intervals(study: Study, confidence: float) -> dict[str, Any]:
    """Return the report of the study with intervals. Holds the counts of each document.

    Raises `UsageError` for a single shared document.
    """
    require_share("confidence", confidence)
    whole, units = StudyCounts(study), list[dict[str, Tally]]()
    for group in study.groups():
        whole.add(group)
        alone = StudyCounts(study)
        if alone.add(group):
            units.append(alone.tallies())
    report = report_of(whole)
    if len(units) < 2:
        raise UsageError(
            "there is only one shared document, so the spread between documents is not known",
            advice="leave out the intervals",
        )
    scores = {
        sequence: _of_sequence(tables, [unit.get(sequence, Tally()) for unit in units], confidence)
        for sequence, tables in whole.tables().items()
    }
    remarks = [
        Remark(
            "{sequence}: {number} documents weigh as much as {least} of equal size; the intervals are rough",
            sequence=sequence,
            number=len(units),
            least=least,
        )
        for sequence, found in scores.items()
        if (least := min((each.effective or 0 for each in found.values()), default=FEW)) < FEW
    ]
    report["intervals"] = {
        "method": "jackknife",
        "confidence": confidence,
        "resample_by": "document",
        "units": len(units),
        "resamples": None,
        "seed": None,
        "remarks": remarks,
        "scores": {
            sequence: {path: each.to_dict() for path, each in found.items()}
            for sequence, found in scores.items()
        },
    }
    return report


def numbers(tables: Tables) -> dict[str, float | None]:
    """Return the numbers that have intervals, by their paths below the sequence."""
    keys = tables.contests.keys
    found = {f"f1.{key}.mean": tables.mean_f1(key) for key in keys}
    for items, domains in DOMAINS.items():
        for which in domains:
            c = coefficients(tables, items, which)
            path = f"coefficients.{items}.{which}"
            found |= {f"{path}.{name}.mean": c[name]["mean"] for name in ("observed", "kappa", "pi")}
            found |= {f"{path}.{name}": c[name] for name in ("fleiss", "alpha")}
    if not tables.of("overlap"):
        units = unitizing(unitized(tables))
        found |= {f"unitizing.{name}": units[name] for name in ("u", "binary", "cu")}
    for key in keys if tables.has_system() else ():
        means = ceiling_means(tables, key)
        found |= {f"ceiling.{key}.{of}.difference": each["difference"] for of, each in means.items()}
    return found


def _of_sequence(whole: Tables, units: Sequence[Tally], confidence: float) -> dict[str, Interval]:
    score = numbers(whole)
    different: dict[frozenset[Any], Mapping[str, float | None]] = {}
    without = []
    for unit in units:
        key = frozenset(unit.items())
        if key not in different:
            rest = whole.tally.copy()
            rest.subtract(unit)
            different[key] = numbers(Tables(rest, whole.names, whole.contests))
        without.append(different[key])
    sizes = [sum(n for key, n in unit.items() if key[0] == "spans") for unit in units]
    return {
        path: _interval(path, value, [each.get(path) for each in without], sizes, confidence)
        for path, value in score.items()
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
