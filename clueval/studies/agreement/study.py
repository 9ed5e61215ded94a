"""`agree`: annotators against each other, in numbers and in the places where they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from clueval.core.bag import Bag
from clueval.core.count import ALTERNATIVES, DOCUMENT, Plan, sequences_of
from clueval.core.metric import Tally, added
from clueval.core.span import SIDES
from clueval.files.errors import FileError, UsageError, not_read, warn, with_noun
from clueval.files.options import checked_call, require_share
from clueval.files.writing import made_folder, named_together, whole_file
from clueval.formats.options import USUAL_READING, Reading
from clueval.reports.language import in_language, numeral, phrase
from clueval.reports.place import Place
from clueval.reports.table import Rate, Table, percent, shown, with_decimals
from clueval.results.options import parse_where
from clueval.results.signature import Signature, written_filter
from clueval.results.summary import mended, positions_in_words
from clueval.studies.agreement import view
from clueval.studies.agreement.annotators import NOTHING_SHARED, PAIRING, annotators_of
from clueval.studies.agreement.conventions import DEFAULTS, chosen_conventions
from clueval.studies.agreement.metric import AgreementMetric, Annotated
from clueval.studies.agreement.numbers import jackknife_interval
from clueval.studies.agreement.places import (
    AnnotatedText,
    Disagreement,
    ReportOfAnnotators,
    differing_in,
    marks_in,
    sequences_in,
)
from clueval.transforms.changes import HIDDEN, choices_of
from clueval.transforms.options import Preparing, steps_of
from clueval.version import __version__

CHANGES = ("label_map", "hierarchy", "depth", "untyped", "fragments")
"""The options that change the spans of all annotators."""

FEW = 10
"""With fewer effective documents, a remark says so."""

FREQUENT = 20
"""The number of spans from which on a label may be called the most disputed one."""

_POINT = 0.01
"""By how much the mean F1 of the annotator who differs most must be below that of the next."""

_alpha = partial(with_decimals, usual=3)


class Agreement(ReportOfAnnotators):
    """The result of `agree`: the numbers, and the places where annotators differ.

    Forms for readers and JSON have the numbers; tables of data, workbooks and pages have the places, which are read
    once more.

    >>> agree({"anna": [["B-PER", "O", "B-LOC"]], "bob": [["B-PER", "O", "O"]]}).verdict()
    'Mean F1 of pairs 66.67, alpha 0.545'
    """

    places_in_text = places_on_screen = 0

    def __init__(
        self,
        corpus: Annotated,
        bag: Bag,
        clashes: Mapping[str, str],
        without_text: int,
        signature: str = "",
        confidence: float | None = None,
    ) -> None:
        super().__init__(corpus.names)
        self._corpus, self._clashes, self._without_text = corpus, clashes, without_text
        self.signature = signature
        metric, whole = corpus.metric, bag.in_one_place()
        sequences = sequences_of(bag, corpus.plan)
        self._numbers = {
            sequence: metric.numbers(tally) for _, sequence, _, tally in whole.tallies_of([metric], sequences)
        }
        with in_language():
            self._report = self._whole_report(bag, confidence)

    def _whole_report(self, bag: Bag, confidence: float | None) -> dict[str, Any]:
        """Return the report, in English. Raises `UsageError` if no document is shared."""
        corpus, numbers = self._corpus, self._numbers
        documents = _documents(bag, corpus.metric)
        report: dict[str, Any] = {
            "clueval": __version__,
            "signature": self.signature,
            "annotators": list(corpus.names),
            **documents,
            "repaired_tags": {name: bag.read.repaired(name) for name in corpus.names},
            "agreement": {sequence: sums.report() for sequence, sums in numbers.items()},
        }
        for sequence, section in report["agreement"].items():
            section["notes"] = list(self._notes(sequence, report))
        if corpus.steps:
            report["prepared"] = changes = {step.signature[0]: dict[str, int]() for step in corpus.steps}
            for (step, name, *what), number in sorted(bag.notes.items()):
                if HIDDEN not in what:
                    changes[step]["/".join([name, *(part for part in what if part != SIDES[0])])] = number
        if corpus.metric.system:
            shared = {"documents": documents["documents"]}
            report["ceiling"] = {
                sequence: {each.key: shared | sums.ceiling(each) for each in sums.conventions}
                for sequence, sums in numbers.items()
            }
        intervals = None if confidence is None else _intervals(bag, corpus, confidence)
        if intervals is not None:
            report["intervals"] = intervals
        return report

    @property
    def title(self) -> str:  # type: ignore[override]  # it is only read
        return phrase("Agreement of {names}", names=", ".join(self._names))

    def content(self) -> dict[str, Any]:
        """Return all numbers as plain dictionaries; what is not defined is None."""
        return self._report

    def scores(self) -> dict[str, float]:
        """Return the numbers by their places, as ``f1.exact.mean``; undefined ones are left out.

        The sequence is in them if there are several; those of a system begin with ``ceiling``.
        """
        scores: dict[str, float] = {}
        sections = {(): self._report["agreement"], ("ceiling",): self._report.get("ceiling", {})}
        for section, by_sequence in sections.items():
            for sequence, report in by_sequence.items():
                before = (*section, *([sequence] * (len(by_sequence) > 1)))
                for path, value in _floats(report, self._names, before):
                    scores[".".join(path)] = value
        return scores

    def verdict(self) -> str:
        """Return for each sequence the mean F1 of pairs and alpha, who differs most, and the most disputed label."""
        sentences = {sequence: self._verdict_on(sequence) for sequence in self._numbers}
        if len(sentences) == 1:
            words = next(iter(sentences.values()))
            return words[:1].upper() + words[1:]
        return "; ".join(f"{sequence}: {words}" for sequence, words in sentences.items())

    def _verdict_on(self, sequence: str) -> str:
        section = self._report["agreement"][sequence]
        key, f1 = next(iter(section["f1"].items()))
        alpha = section["coefficients"]["positions"]["all"]["alpha"]
        text = phrase(
            "mean F1 of pairs {f1}, alpha {alpha}",
            f1=shown(Rate(f1["mean"])) + self._interval(sequence, f"f1.{key}.mean", percent),
            alpha="-"
            if alpha is None
            else _alpha(alpha) + self._interval(sequence, "coefficients.positions.all.alpha", _alpha),
        )
        means = sorted(
            (row["mean"], name) for name, row in f1["annotators"].items() if row["mean"] is not None
        )
        if len(means) > 2 and means[1][0] - means[0][0] >= _POINT:
            text += "; " + phrase("{name} differs most", name=means[0][1])
        spans = Counter[str]()
        for (_, label), n in self._numbers[sequence].sums["spans"].items():
            spans[label] += n
        disputed = [
            (row["mean"], label)
            for label, row in f1["per_label"].items()
            if row["mean"] is not None and spans[label] >= FREQUENT
        ]
        if len(disputed) > 1 and min(disputed)[0] < 1:
            mean, label = min(disputed)
            text += "; " + phrase("most disputed: {label} ({f1})", label=label, f1=shown(Rate(mean)))
        return text

    def _interval(self, sequence: str, path: str, written: Callable[[float], str]) -> str:
        """Return the interval of a number in brackets; empty if there is none."""
        entry = self._report.get("intervals", {"scores": {}})["scores"].get(sequence, {}).get(path, {})
        if entry.get("low") is None or entry.get("high") is None:
            return ""
        return f" [{written(entry['low'])}, {written(entry['high'])}]"

    def facts(self) -> Iterator[str]:
        """Yield how much was read."""
        report = self._report
        yield phrase("{n} annotator|{n} annotators", n=len(self._names))
        yield phrase("{n} shared document|{n} shared documents", n=report["documents"])
        yield from positions_in_words(report["tokens"])
        yield from mended(report["repaired_tags"], None)
        yield phrase(
            "{n} place where annotators differ|{n} places where annotators differ", n=self._number_of_places()
        )

    def _number_of_places(self) -> int:
        sections = self._report["agreement"].values()
        return sum(sum(section["disagreements"]["kinds"].values()) for section in sections)

    def tables(self) -> Iterator[Table]:
        """Yield all tables: F1 by pair and label, places, the ceiling; then, folded, what few readers need."""
        report, names = self._report, self._names
        agreement = report["agreement"]
        for sequence, section in agreement.items() if len(names) > 2 else ():
            key, f1 = next(iter(section["f1"].items()))
            yield view.matrix_table(names, sequence, key, f1)
        for sequence, section in agreement.items():
            yield view.labels_table(sequence, section["f1"])
            if "ceiling" in report:
                yield view.ceiling_table(sequence, report["ceiling"][sequence])
        yield view.kinds_table(
            {sequence: section["disagreements"] for sequence, section in agreement.items()}
        )
        for sequence, section in agreement.items():
            yield view.coefficients_table(sequence, section)
            yield view.alphas_table(sequence, section)
            if len(names) > 2:
                yield view.spread_table(sequence, section["f1"])
                for key, f1 in list(section["f1"].items())[1:]:
                    yield view.matrix_table(names, sequence, key, f1)._replace(is_folded=True)
            if "intervals" in report:
                yield view.intervals_table(sequence, report["intervals"])

    def remarks(self) -> Iterator[str]:
        """Yield what a reader must know before the numbers."""
        report = self._report
        if report["left_out"]:
            yield phrase(
                "{n} document was left out: only one annotator has annotated it|"
                "{n} documents were left out: only one annotator has annotated them",
                n=report["left_out"],
            )
        for sequence in self._numbers:
            yield from (f"{sequence}: {note}" for note in self._notes(sequence, report))
        intervals = report.get("intervals", {"scores": {}})
        yield from _rough_intervals(intervals)
        for sequence, keys in report.get("ceiling", {}).items():
            scores = intervals["scores"].get(sequence, {})
            for key, section in keys.items():
                difference = section["pairs"]["difference"]
                if difference is not None:
                    interval = scores.get(f"ceiling.{key}.pairs.difference", {})
                    words = view.in_words(difference, interval.get("low"), interval.get("high"))
                    yield f"{sequence}, {view.title_of(key)}: {words}"

    def _notes(self, sequence: str, report: Mapping[str, Any]) -> Iterator[str]:
        """Yield what is not defined in a sequence, and why; and what does not count in it."""
        numbers = self._numbers[sequence]
        if numbers.sums["overlap"]:
            place = self._clashes.get(sequence) or phrase("in a text of merged layers")
            yield phrase("unitizing is not defined: spans of one annotator overlap ({place})", place=place)
        elif numbers.sums["gaps"]:
            yield phrase("unitizing is not defined: spans have gaps")
        for convention in numbers.conventions:
            key, why = convention.key, numbers.refusals(convention)
            if "overlap" in why:
                yield phrase(
                    "{key} is not defined: spans of one annotator overlap, which this convention forbids",
                    key=key,
                )
            elif why:
                yield phrase(
                    "{key} is not defined: spans of one annotator have gaps, which this convention forbids",
                    key=key,
                )
        for number, name in enumerate(self._names):
            if not report["common"][number][number]:
                yield phrase(
                    "{name} shares no document with another annotator, so all its numbers are dashes",
                    name=name,
                )
        if self._without_text:
            yield phrase(
                "{n} document has no text, so positions outside of all spans are not counted|"
                "{n} documents have no text, so positions outside of all spans are not counted",
                n=self._without_text,
            )

    def notes(self) -> Iterator[tuple[str, str]]:
        """Yield which numbers to report, and what a dash is if there is one."""
        yield (
            "",
            phrase(
                "report the mean of the exact F1 of pairs, or alpha over all positions, which takes chance into "
                "account (clueval guide concept-agreement)"
            ),
        )
        if any(view.is_undefined(cell) for table in self.tables() for row in table.rows for cell in row):
            yield (
                "",
                phrase(
                    "a dash is a number that is not defined and is left out of means: two annotators share no "
                    "document, neither has such spans, or all items have the same value"
                ),
            )
        if any(numbers.sums["overlap"] for numbers in self._numbers.values()):
            yield (
                "",
                phrase(
                    "alpha by label: positions with several labels of one annotator have one of their own, as LOC+ORG"
                ),
            )

    def places(self) -> Iterator[Disagreement]:
        """Yield the places where annotators differ, document by document; reads the sources once more."""
        for group in self._corpus.texts(only_differing=True):
            humans = group.sides[: len(self._names)]
            text = AnnotatedText(humans, self._names)
            for layer in sequences_in(humans):
                for readings in differing_in(humans, layer):
                    yield text.place(layer, readings)

    disagreements = places

    def write_pygamma(self, folder: str | Path) -> int:
        """Write a file for each shared document for the program pygamma, and return their number.

        It is a CSV file with annotator, label, start and end of spans. Ends are exclusive; of a span with gaps, the
        first start and the last end are written. Raises `FileError`. Warns of such spans, and of annotators
        without spans in a document, whom its file lacks.
        """
        import csv  # few need it

        stems: set[str] = set()
        without_spans = with_gaps = 0
        with made_folder(folder), named_together():
            for group in self._corpus.texts():
                sides = dict(zip(self._names, group.sides, strict=False))  # a system comes after them
                present = {name: document for name, document in sides.items() if document is not None}
                if len(present) < 2:
                    continue
                stem = (
                    "".join(c if c.isalnum() or c in "-_." else "_" for c in group.first.id).lstrip(".")
                    or "_"
                )
                if stem in stems:
                    raise FileError(
                        f"two documents would have the file name {stem}.csv",
                        file=str(folder),
                        document=group.first.id,
                    )
                stems.add(stem)
                layers = sequences_in(list(present.values()))
                with whole_file(Path(folder, f"{stem}.csv")) as file:
                    writer = csv.writer(file, lineterminator="\n")
                    for name, document in present.items():
                        without_spans += not any(document.layers.get(layer) for layer in layers)
                        for layer in layers:
                            for fragments, label in sorted(marks_in(document, layer)):
                                with_gaps += len(fragments) > 1
                                cell = f"{layer}:{label}" if len(layers) > 1 else label
                                writer.writerow([name, cell, fragments[0][0], fragments[-1][1]])
        if without_spans:
            times = with_noun(without_spans, "times")
            warn(f"an annotator without spans in a document is not in its file for pygamma, {times}")
        if with_gaps:
            warn(f"the gaps of {with_noun(with_gaps, 'spans')} are filled in the files for pygamma")
        return len(stems)

    def first_places(self, number: int) -> tuple[Sequence[Place], int]:
        return super().first_places(number) if number else ((), self._number_of_places())


def _documents(bag: Bag, metric: AgreementMetric) -> dict[str, Any]:
    """Return the numbers of shared documents and positions. Raises `UsageError` if no document is shared."""
    numbers = range(len(metric.annotators))
    documents = {present: sum(counts.values()) for present, counts in bag.shared.items()}
    shared = {present: n for present, n in documents.items() if metric.shares(present)}
    if not sum(shared.values()):
        kinds = {f"{kind} of {side}": number for (side, kind), number in bag.read.passed_over.items()}
        raise UsageError(f"{NOTHING_SHARED}{not_read(kinds)}", advice=PAIRING)
    positions = (counts for present, counts in bag.positions.items() if metric.shares(present))
    return {
        "documents": sum(shared.values()),
        "left_out": sum(n for present, n in documents.items() if metric.humans(present) == 1),
        "common": [
            [sum(n for present, n in shared.items() if present >> i & present >> j & 1) for j in numbers]
            for i in numbers
        ],
        "tokens": sum(sum(counts.values()) for counts in positions),
    }


def _floats(
    value: Any, names: Sequence[str], path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], float]]:
    """Yield each rate of a report with its path; rows and columns of matrices are called by annotators."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _floats(inner, names, (*path, key))
    elif isinstance(value, list):
        for name, inner in zip(names, value, strict=False):
            yield from _floats(inner, names, (*path, name))
    elif isinstance(value, float):
        yield path, value


def _intervals(bag: Bag, corpus: Annotated, confidence: float) -> dict[str, Any] | None:
    """Return the section of intervals, by the jackknife over documents; of a single one, warn that there are none."""
    metric = corpus.metric
    shared = {place for present, places in bag.shared.items() if metric.shares(present) for place in places}
    if len(shared) < 2:
        warn("no intervals: the spread between documents is not known from a single shared document")
        return None
    sequences = sequences_of(bag, corpus.plan)
    units: dict[str, list[Tally]] = {sequence: [] for sequence in sequences}
    for place, sequence, _, tally in bag.tallies_of([metric], sequences):
        if place in shared:
            units[sequence].append(tally)
    section: dict[str, Any] = {
        "method": "jackknife",
        "confidence": confidence,
        "resample_by": "document",
        "units": sum(metric.shares(present) * len(places) for present, places in bag.shared.items()),
        "resamples": None,
        "seed": None,
        "remarks": [],
        "scores": {},
    }
    for sequence, tallies in units.items():
        whole = added((unit, 1) for unit in tallies)
        different: dict[frozenset[object], Mapping[str, float | None]] = {}
        without, denominators = [], Counter[str]()
        for unit in tallies:
            denominators.update(metric.numbers(unit).with_denominators())
            if (key := frozenset(unit.items())) not in different:
                rest = added([(whole, 1), (unit, -1)])
                different[key] = metric.numbers(rest).with_intervals()
            without.append(different[key])
        sizes = [sum(n for key, n in unit.items() if key[0] == "spans") for unit in tallies]
        section["scores"][sequence] = {
            path: jackknife_interval(path, value, without, sizes, denominators[path], confidence).to_dict()
            for path, value in metric.numbers(whole).with_intervals().items()
        }
    section["remarks"] = list(_rough_intervals(section))
    return section


def _rough_intervals(section: Mapping[str, Any]) -> Iterator[str]:
    """Yield which sequences have rough intervals."""
    for sequence, scores in section["scores"].items():
        least = min((interval["effective"] or 0 for interval in scores.values()), default=FEW)
        if least < FEW:
            yield phrase(
                "{sequence}: {number} documents weigh as much as {least} of equal size; the intervals are rough",
                sequence=sequence,
                number=section["units"],
                least=numeral(least, ".1f"),
            )


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
    reading: Reading = USUAL_READING,
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
        intervals: whether to add intervals, with documents as units, if there are several; `confidence` is theirs.
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
    preparing = Preparing(**{name: options.pop(name) for name in CHANGES if name in options})
    require_share("confidence", confidence)
    annotators = annotators_of([sources, *others] if others else sources, reading, options, "agree", system)
    chosen = chosen_conventions(conventions.split(",") if isinstance(conventions, str) else conventions)
    metric = AgreementMetric(annotators.names, chosen, annotators.has_system)
    unit = DOCUMENT if intervals else None
    plan = Plan((metric,), merge, parse_where(where), units=unit, sides=annotators.sides)
    steps = tuple(step for step in steps_of(preparing) if step.signature[0] != ALTERNATIVES)

    corpus = Annotated(annotators, metric, plan, steps)
    bag, clashes, without_text = corpus.counted()
    sharing = [present for present in bag.shared if metric.shares(present)]
    if not all(any(present >> number & 1 for present in sharing) for number in range(len(annotators.names))):
        annotators.require_paired()
    signature = _signature(corpus, bag)
    return Agreement(corpus, bag, clashes, without_text, signature, confidence if intervals else None)


def _signature(corpus: Annotated, bag: Bag) -> str:
    schemes = {scheme or "none" for scheme in bag.read.schemes().values()}
    keys = ",".join(convention.key for convention in corpus.metric.conventions)
    without_tags = "none" if any(each.files for each in corpus.annotators.listed) else "documents"
    choices = {
        "metrics": f"agreement({keys})",
        "unit": "+".join(sorted(bag.read.units)) or "token",
        "scheme": "+".join(sorted(schemes)) or without_tags,
        "invalid": "+".join(sorted(bag.read.treatments)) or without_tags,
        "merge": "yes" if corpus.plan.merge else "no",
        "zero": "0/0=null",
        "text": "absent" if bag.read.without_text else "equal",
    }
    if corpus.annotators.naming.pair_by is not None:
        choices["paired"] = corpus.annotators.naming.pair_by
    if corpus.plan.where:
        choices["where"] = written_filter(corpus.plan.where)
    return str(Signature.of([], choices | choices_of(corpus.steps, bag.notes)))
