"""The numbers of `clueval.compare`, as tables and as a web page, and in words what the tests say.

The page loads nothing else; it shows dots with whiskers, and differences with the zero line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from clueval.files.visible import visible
from clueval.metrics.tables import named
from clueval.reports.language import numeral, phrase, speaking
from clueval.reports.markdown import escaped
from clueval.reports.page import ShownTable, assets
from clueval.reports.report import Data, Report
from clueval.reports.table import Table, cut_label, with_decimals
from clueval.second.results.signature import Signature
from clueval.statistics.jackknife import FEWEST_THAT_DIFFER
from clueval.textfiles import cell
from clueval.version import __version__

_EPSILON = 1e-12  # 1 - 0.95 is a little more than 0.05

_UNITS = {"document": "documents", "sentence": "sentences"}


@dataclass(frozen=True, slots=True)
class Comparison(Report):
    """The result of `compare`: several systems on the same units; the first is the baseline.

    Attributes:
        resample_by: what a unit is.
        units: how many units there are.
        tests: for each score its values and the differences to the baseline, as in the JSON.
        confidence: of the intervals.
        detect: the difference for which the number of units was computed, if one was given.
        labels: the same as `tests` for F1 of each label, if details were asked for.
        shown: what each score is called in tables and sentences.
        most: for each F1 and system the units that the difference depends on most, if details were asked for.
        left_out: by system, the number of documents that are not in all results with the same text, if there are any.
    """

    _named_by: ClassVar[Sequence[str]] = ("score", "system", "against")
    _template: ClassVar[str] = "compare"

    signature: str
    resample_by: str
    units: int
    systems: Sequence[str]
    tests: Sequence[Mapping[str, Any]]
    documents: int
    tokens: int
    confidence: float
    detect: float | None = None
    labels: Sequence[Mapping[str, Any]] = ()
    most: Sequence[Mapping[str, Any]] = ()
    shown: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain data. Scores and differences are fractions."""
        return {
            "clueval": __version__,
            "signature": self.signature,
            "resample_by": self.resample_by,
            "units": self.units,
            "systems": list(self.systems),
            **({"left_out": dict(self.left_out)} if self.left_out else {}),
            "scores": [dict(score) for score in self.tests],
        }

    def tables(self) -> Iterator[Table]:
        """Yield the values of all systems, then their differences to the baseline; both in points."""
        several = any("sd" in value for score in self.tests for value in score["values"])
        header = ["score", "system", "value", self._of_interval(), *(["sd", "runs"] if several else [])]
        rows = []
        for score in self.tests:
            for value in score["values"]:
                runs = [points(value.get("sd")), str(value.get("runs", 1))] if several else []
                ends = interval(value)
                rows.append(
                    [self.called(score), value["system"], points(value["value"]), ends, *runs],
                )
        title = phrase(
            "Scores of {number} systems on {units} {kind}, in %",
            number=len(self.systems),
            units=self.units,
            kind=self._kind_of_units(),
        )
        yield Table(title, named(header), rows)
        differences = [
            [
                self.called(score),
                entry["system"],
                points(entry["difference"], sign=True),
                interval(entry, sign=True),
                shown_p(entry["p"]),
                *([shown_p(entry["p_holm"])] if len(self.systems) > 2 else []),
                str(entry["units_that_differ"]),
                points(entry["detectable"]),
            ]
            for score in self.tests
            for entry in score["against_baseline"]
        ]
        holm = ["p (Holm)"] if len(self.systems) > 2 else []
        header = ["score", "system", "difference", self._of_interval(), "p", *holm]
        yield Table(
            phrase("Differences to {system}, in points", system=self.systems[0]),
            named([*header, "units that differ", "detectable"]),
            differences,
        )

    def remarks(self) -> Iterator[str]:
        """Yield what to know before the tables: which documents are not compared."""
        if self.left_out:
            numbers = (f"{name} {numeral(number)}" for name, number in self.left_out.items())
            yield phrase(
                "Documents that not all results have with the same text are left out: {numbers}.",
                numbers=", ".join(numbers),
            )

    def sentences(self) -> Iterator[str]:
        """Yield what the tests say, in words: a sentence for each score and system, then the method."""
        for score in self.tests:
            for entry in score["against_baseline"]:
                verdict = _verdict(self.systems[0], entry, 1 - self.confidence)
                yield f"{self.called(score)}: {verdict}{self._needed(entry)}."
        by_runs = any("sd" in value for score in self.tests for value in score["values"])
        test = (
            "t-test over runs and units"
            if by_runs
            else "paired approximate randomisation, two-sided; intervals by the jackknife"
        )
        yield phrase(
            "{units} units ({kind}); {test}; {confidence} % confidence.",
            units=str(self.units),
            kind=self._kind_of_units(),
            test=phrase(test),
            confidence=numeral(100 * self.confidence, "g"),
        )
        if "gold" in Signature.parse(self.signature).choices:
            yield phrase(
                "Of several golds, each system was scored against the one nearest to it: gold may differ by system."
            )
        yield from self._explanations(by_runs)
        tested = len(self.tests)
        if tested > 1:
            corrected = phrase(" Holm's correction is over systems, not over scores;")
            level = 1 - self.confidence
            yield phrase(
                "{tested} scores were tested;{corrected} of {tested} tests at {level} %, {chance} are positive by "
                "chance alone.",
                tested=tested,
                corrected=corrected if len(self.systems) > 2 else "",
                level=numeral(100 * level, ".2g"),
                chance=numeral(level * tested, ".2g"),
            )

    def _explanations(self, by_runs: bool) -> Iterator[str]:
        """Yield what the figures mean that are shown."""
        entries = [entry for score in self.tests for entry in score["against_baseline"]]
        if any(entry["p"] is not None for entry in entries):
            yield phrase(
                "p: how often systems that are equally good would differ by at least as much in such units and runs."
                if by_runs
                else "p: the counts of units are swapped between two systems; p is the share of swaps after which the "
                "difference is at least as large. If up to 16 units differ, all swaps are tried, otherwise random ones."
            )
        if any(entry["detectable"] is not None for entry in entries):
            yield phrase("80 % power: a true difference of this size is found in 80 of 100 such test sets.")

    def _needed(self, entry: Mapping[str, Any]) -> str:
        if self.detect is None or entry.get("units_needed") is None:
            return ""
        shown = {"points": points(self.detect), "number": entry["units_needed"]}
        return phrase("; to show {points} points takes about {number} such units", **shown)

    def _kind_of_units(self) -> str:
        if self.resample_by in _UNITS:
            return phrase(_UNITS[self.resample_by])
        return phrase("values of {key}", key=self.resample_by)

    def called(self, score: Mapping[str, Any]) -> str:
        return self.shown.get(score["score"], score["score"])

    def _of_interval(self) -> str:
        return phrase("{confidence} % interval", confidence=numeral(100 * self.confidence, "g"))

    def page(self, *, title: str | None = None, lang: str = "", text_lang: str = "") -> str:
        """Return the web page; with `details`, `compare` finds all that it shows."""
        with speaking(lang):
            title = phrase(" and ").join(self.systems) if title is None else title
        return Report.page(self, title=title, lang=lang, text_lang=text_lang)

    def _content(self) -> Mapping[str, Any]:
        numbers = {"documents": self.documents, "tokens": self.tokens, "repaired_tags": {}}
        return {**self.to_dict(), **numbers}

    def _readable(self, form: str) -> str:
        tables = Report._readable(self, form)
        if form == "latex":
            return "\n".join([*(f"% {visible(each)}" for each in self.remarks()), tables])
        remarks, sentences = (
            [f"{escaped(each)}\n" if form == "markdown" else visible(each) for each in lines]
            for lines in (self.remarks(), self.sentences())
        )
        return "\n".join([*remarks, tables, "", *sentences])

    def _data(self) -> Data:
        return Data((*self._named_by, *_COLUMNS), self._rows())

    def _rows(self) -> Iterator[dict[str, Any]]:
        nothing = dict.fromkeys(_COLUMNS)
        for score in self.tests:
            for against, entries in (("", score["values"]), (self.systems[0], score["against_baseline"])):
                for entry in entries:
                    known = {name: entry[name] for name in _COLUMNS if name in entry}
                    place = {"score": score["score"], "system": entry["system"], "against": against}
                    yield {**place, **nothing, **known}

    def _separated(self, form: str) -> str:
        lines = [*self.remarks(), f"signature: {self.signature}"]
        return "\n".join([Report._separated(self, form), *(f"# {cell(line)}" for line in lines)])

    def _page(self) -> dict[str, Any]:
        return {
            "sentences": [*self.remarks(), *self.sentences()],
            "figures": [*_values(self), *_differences(self, self.tests, phrase("Differences"))],
            "labels": list(_differences(self, self.labels, phrase("F1 by label"))),
            "units": list(_units(self)),
            **assets("compare"),
        }


_COLUMNS = (
    *("value", "low", "high", "sd", "difference", "p", "p_holm", "test", "exact"),
    *("units_that_differ", "detectable", "units_needed", "reason", "runs"),
)


def _verdict(baseline: str, entry: Mapping[str, Any], level: float) -> str:
    """What a test at this level says, in words."""
    difference, p = entry["difference"], entry["p_holm"]
    names = {"name": entry["system"], "baseline": baseline}
    if difference is None or p is None:
        return phrase("{name} and {baseline} cannot be compared: {reason}", reason=_reason(entry), **names)
    if not entry["units_that_differ"]:
        return phrase("{name} and {baseline} have the same counts in every unit", **names)
    ends = interval(entry, sign=True)
    shown = f"{f' {ends}' if entry['low'] is not None else ''}, p {_equals(p)}"
    if p != entry["p"]:
        shown += phrase(" after Holm's correction")
    if p <= level + _EPSILON:
        is_better = "{name} is better than {baseline} by {points} points{shown}"
        verdict = is_better if difference > 0 else "{name} is worse than {baseline} by {points} points{shown}"
        size = points(abs(difference))
    else:
        verdict = "{name} and {baseline} do not differ significantly (difference {points} points{shown})"
        size = points(difference, sign=True)
    said = phrase(verdict, points=size, shown=shown, **names)
    if entry["detectable"] is None:
        return f"{said}; {_reason(entry)}"
    return said + phrase(
        "; this test set shows differences of {points} points with 80 % power",
        points=points(entry["detectable"]),
    )


def _reason(entry: Mapping[str, Any]) -> str:
    """Return why an entry has no test or no interval."""
    reason = entry.get("reason", "too few units differ")
    differ = entry["units_that_differ"]
    if not reason.startswith("the systems differ in "):
        return phrase(reason)
    return phrase(
        "the systems differ in {n} unit, fewer than {least}|the systems differ in {n} units, fewer than {least}",
        n=differ,
        least=FEWEST_THAT_DIFFER,
    )


def points(value: float | None, *, sign: bool = False) -> str:
    """Return a fraction in points, which are percent.

    >>> points(0.014), points(0.014, sign=True), points(None)
    ('1.40', '+1.40', '-')
    """
    if value is None:
        return "-"
    return with_decimals(100 * value, 2, "+" if sign else "")


def interval(entry: Mapping[str, Any], *, sign: bool = False) -> str:
    """Return the interval of an entry in points; ``-`` if it has none."""
    if entry["low"] is None or entry["high"] is None:
        return "-"
    return f"[{points(entry['low'], sign=sign)}, {points(entry['high'], sign=sign)}]"


def shown_p(p: float | None) -> str:
    """Return a p-value with four decimals; a smaller one as ``<0.0001``, none as ``-``."""
    if p is None:
        return "-"
    return f"<{numeral(0.0001, '.4f')}" if p < 0.0001 else numeral(p, ".4f")


def _equals(p: float) -> str:
    return f"< {numeral(0.0001, '.4f')}" if p < 0.0001 else f"= {numeral(p, '.2g')}"


Entry = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DotRow:
    """A dot and its whisker, as places from 0 to 100; a row without an interval has no whisker."""

    name: str
    low: float | None
    width: float
    middle: float
    text: str


@dataclass(frozen=True, slots=True)
class DotFigure:
    """Rows of dots on one axis, which goes from `low` to `high`; `zero` is the place of 0 if it is shown."""

    title: str
    first: str
    second: str
    low: str
    high: str
    zero: float | None
    rows: Sequence[DotRow]


def _values(comparison: Comparison) -> Iterator[DotFigure]:
    for score in comparison.tests:
        rows = [
            (value["system"], value["value"], value)
            for value in score["values"]
            if value["value"] is not None
        ]
        if rows:
            yield _figure(
                comparison.called(score), phrase("system"), phrase("value"), rows, is_difference=False
            )


def _differences(comparison: Comparison, scores: Sequence[Entry], title: str) -> Iterator[DotFigure]:
    """A figure for each system: its differences to the baseline, one row for each score."""
    for number, system in enumerate(comparison.systems[1:]):
        entries = [(comparison.called(score), score["against_baseline"][number]) for score in scores]
        rows = [
            (name, entry["difference"], entry) for name, entry in entries if entry["difference"] is not None
        ]
        if rows:
            heading = f"{title}: {_against(system, comparison)}"
            yield _figure(heading, phrase("score"), phrase("difference"), rows, is_difference=True)


def _against(system: str, comparison: Comparison) -> str:
    return phrase("{system}, compared with {baseline}", system=system, baseline=comparison.systems[0])


def _figure(
    title: str, first: str, second: str, rows: Sequence[tuple[str, float, Entry]], *, is_difference: bool
) -> DotFigure:
    numbers = [value for _, middle, entry in rows for value in (middle, entry["low"], entry["high"])]
    low, high = _ends([0.0, *numbers] if is_difference else numbers)

    def place(value: float) -> float:
        return round(100 * (value - low) / (high - low), 2)

    shown = []
    for name, middle, entry in rows:
        ends = None if entry["low"] is None else (place(entry["low"]), place(entry["high"]))
        shown.append(
            DotRow(
                cut_label(name),
                None if ends is None else ends[0],
                0.0 if ends is None else round(ends[1] - ends[0], 2),
                place(middle),
                f"{points(middle, sign=is_difference)} {interval(entry, sign=is_difference)}",
            )
        )
    zero = place(0.0) if is_difference else None
    axis = points(low, sign=is_difference), points(high, sign=is_difference)
    return DotFigure(cut_label(title, 120), first, second, *axis, zero, shown)


def _ends(numbers: Iterable[float | None]) -> tuple[float, float]:
    """The ends of an axis on which all numbers lie."""
    known = [number for number in numbers if number is not None]
    low, high = min(known), max(known)
    margin = (high - low) / 20 or 0.01
    return low - margin, high + margin


def _units(comparison: Comparison) -> Iterator[ShownTable]:
    for table in comparison.most:
        if not table["units"]:  # the same counts everywhere, or an undefined score
            continue
        rows = [
            [cut_label(unit), points(influence, sign=True), numeral(positions)]
            for unit, influence, positions in table["units"]
        ]
        title = f"{comparison.called(table)}: {_against(table['system'], comparison)}"
        header = named(["unit", "share of the difference", "positions"])
        yield ShownTable(cut_label(title, 120), header, rows)
