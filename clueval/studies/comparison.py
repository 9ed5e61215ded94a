"""The numbers of `clueval.compare`, as tables, and in words what the tests say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from clueval.reports.language import numeral, phrase
from clueval.reports.report import Report
from clueval.reports.table import Cell, Dot, Rate, Table, cut, difference, percent
from clueval.results.signature import Signature
from clueval.results.summary import counted
from clueval.results.tables import named
from clueval.statistics.jackknife import FEWEST_THAT_DIFFER
from clueval.version import __version__

_EPSILON = 1e-12  # 1 - 0.95 is a little more than 0.05

_UNITS = {"document": "documents", "sentence": "sentences"}


Details = tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]
"""Tests of labels, and units that differ most."""


@dataclass(frozen=True, slots=True)
class Comparison(Report):
    """The result of `compare`: several systems on the same units; the first is the baseline.

    Attributes:
        resample_by: what a unit is.
        units: how many units there are.
        tests: for each score its values and the differences to the baseline, as in the JSON.
        confidence: of the intervals.
        detect: the difference for which the number of units was computed, if one was given.
        details: returns for pages the same as `tests` for F1 of each label, and for each F1 and system the units that
            the difference depends on most.
        shown: what each score is called in tables and sentences.
        left_out: by system, the number of documents that are not in all results with the same text, if there are any.
        pairs: for each F1 the differences of all pairs of systems, if these were asked for.

    >>> from clueval import compare
    >>> gold, system = [["B-PER", "B-LOC"]] * 8, [["B-PER", "O"]] * 8
    >>> compare(gold, base=system, better=gold, metrics="exact", scores=["f1"]).verdict()
    'exact F1: better is better than base by 33.33 points [+33.33, +33.33], p = 0.0078.'
    """

    named_by: ClassVar[Sequence[str]] = ("score", "system", "against")
    text_width: ClassVar[int] = 120

    signature: str
    resample_by: str
    units: int
    systems: Sequence[str]
    tests: Sequence[Mapping[str, Any]]
    documents: int
    tokens: int
    confidence: float
    detect: float | None = None
    details: Callable[[], Details] = field(default=lambda: ((), ()), repr=False, compare=False)
    shown: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    pairs: Sequence[Mapping[str, Any]] = ()

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
            **({"pairs": [dict(score) for score in self.pairs]} if self.pairs else {}),
        }

    @property
    def title(self) -> str:  # type: ignore[override]  # it is in the language of the context
        """The names of the systems."""
        return phrase(" and ").join(self.systems)

    def verdict(self) -> str:
        """What the tests of F1 say, or those of all scores if none is F1."""
        f1s = [score for score in self.tests if score["score"].endswith(_F1)]
        return " ".join(self._said(f1s or self.tests))

    def facts(self) -> Iterator[str]:
        """The numbers of documents and positions."""
        return counted({"documents": self.documents, "tokens": self.tokens})

    def remarks(self) -> Iterator[str]:
        """Which documents are not compared."""
        if self.left_out:
            numbers = (f"{name} {numeral(number)}" for name, number in self.left_out.items())
            yield phrase(
                "Documents that not all results have with the same text are left out: {numbers}.",
                numbers=", ".join(numbers),
            )

    def tables(self) -> Iterator[Table]:
        """A table for each metric and layer: the rates of all systems, and how the last one, mostly F1, differs.

        Tables of all pairs of systems and of the differences of the other rates follow.
        """
        places: dict[str, list[Mapping[str, Any]]] = {}
        for score in self.tests:
            places.setdefault(score["score"].rpartition(".")[0], []).append(score)
        for scores in places.values():
            yield self._of_systems(scores)
        for score in self.pairs:
            yield self._of_pairs(score)
        for scores in places.values():
            title = phrase("{place}: details of each score", place=self._place(scores[-1]))
            yield self._table(title, scores)._replace(is_folded=True)

    def drawn_tables(self) -> Iterator[Table]:
        """The tables, then those of labels, and of the units in which the systems differ most."""
        yield from self.tables()
        labels, units = self.details()
        if labels:
            yield self._table(phrase("F1 by label"), labels)._replace(is_folded=True)
        for most in units:
            rows = [
                [cut(unit), points(influence, sign=True), positions]
                for unit, influence, positions in most["units"]
            ]
            if rows:  # the same counts everywhere, or an undefined score
                against = phrase(
                    "{system}, compared with {baseline}", system=most["system"], baseline=self.systems[0]
                )
                title = f"{phrase('Units that differ most')}: {self.called(most)}, {against}"
                yield Table(
                    title, named(["unit", "share of the difference", "positions"]), rows, is_folded=True
                )

    def _of_systems(self, scores: Sequence[Mapping[str, Any]]) -> Table:
        """Return a row for each system: the rates, of the last one also the difference to the baseline."""
        *others, last = scores
        words = {rate: phrase(name) for rate, name in _RATES.items()}
        called = {score["score"]: self._rate(score) for score in scores}
        header = [words.get(path.rpartition(".")[2], name) for path, name in called.items()]
        what = " ".join(called[last["score"]].replace(header[-1], "").split())
        title = phrase(
            "{place}: scores on {units} {kind}",
            place=", ".join(filter(None, (self._place(last), what))),
            units=self.units,
            kind=self._kind_of_units(),
        )
        has_holm = len(self.systems) > 2
        header += named(["difference", "p", *(["p (Holm)"] if has_holm else [])])
        rows: list[list[Cell]] = []
        for number, (value, entry) in enumerate(
            zip(last["values"], (None, *last["against_baseline"]), strict=True)
        ):
            rates = [_with_sd(score["values"][number]) for score in others]
            none = [None] * (2 + has_holm)
            differs = none if entry is None else _differs(last, entry, has_holm=has_holm)[: len(none)]
            rows.append([value["system"], *rates, _dot(value, is_baseline=entry is None), *differs])
        return Table(title, [phrase("system"), *header], rows)

    def _of_pairs(self, score: Mapping[str, Any]) -> Table:
        """Return a row for each pair of systems: the difference of a score."""
        title = phrase("{score}: all pairs of systems", score=self.called(score))
        header = named(["", "difference", "p", "p (Holm)", "units that differ", "detectable"])
        names = (
            phrase("{system}, compared with {baseline}", system=entry["system"], baseline=entry["against"])
            for entry in score["pairs"]
        )
        (test,) = (test for test in self.tests if test["score"] == score["score"])  # it has the values
        rows = [
            [name, *_differs(test, entry, has_holm=True)]
            for name, entry in zip(names, score["pairs"], strict=True)
        ]
        return Table(title, header, rows)

    def _table(self, title: str, scores: Sequence[Mapping[str, Any]]) -> Table:
        has_runs = any("sd" in value for score in scores for value in score["values"])
        has_holm = len(self.systems) > 2
        header = [
            *("score", "system", "value", *(["sd", "runs"] if has_runs else [])),
            *("difference", "p", *(["p (Holm)"] if has_holm else [])),
            *("units that differ", "detectable"),
        ]
        rows: list[list[Cell]] = []
        for score in scores:
            none = [None] * (4 + has_holm)
            for value, entry in zip(score["values"], (None, *score["against_baseline"]), strict=True):
                runs = [points(value.get("sd")), value.get("runs", 1)] if has_runs else []
                rows.append(
                    [
                        self._rate(score),
                        value["system"],
                        _dot(value, is_baseline=entry is None),
                        *runs,
                        *(none if entry is None else _differs(score, entry, has_holm=has_holm)),
                    ]
                )
        return Table(title, named(header), rows)

    def _place(self, score: Mapping[str, Any]) -> str:
        """Return the metric of a score, and its layer if there are several."""
        metric, sequence = score["score"].split(".")[:2]
        several = len({each["score"].split(".")[1] for each in self.tests}) > 1
        return f"{metric}, {cut(sequence)}" if several else str(metric)

    def _rate(self, score: Mapping[str, Any]) -> str:
        """Return what a score is called without metric and layer, which the title of the table has."""
        if score["score"] not in self.shown:
            return str(score["score"])
        metric, sequence = score["score"].split(".")[:2]
        return self.called(score).removeprefix(f"{sequence}: ").removeprefix(f"{metric} ")

    def _said(self, scores: Sequence[Mapping[str, Any]]) -> Iterator[str]:
        for score in scores:
            for entry in score["against_baseline"]:
                verdict = _verdict(score, entry, 1 - self.confidence)
                yield f"{self.called(score)}: {verdict}{self._needed(entry)}."

    def notes(self) -> Iterator[tuple[str, str]]:
        """The method, and what the figures mean."""
        return (("", note) for note in self._notes())

    def _notes(self) -> Iterator[str]:
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

    def data(self) -> Iterator[dict[str, Any]]:
        """The values, then the differences, of each score."""
        nothing = dict.fromkeys(_COLUMNS)
        for score in self.tests:
            for against, entries in (("", score["values"]), (self.systems[0], score["against_baseline"])):
                for entry in entries:
                    known = {name: entry[name] for name in _COLUMNS if name in entry}
                    place = {"score": score["score"], "system": entry["system"], "against": against}
                    yield {**place, **nothing, **known}


_RATES = {"precision": "precision", "recall": "recall", "f1": "F1"}
"""What the rates are called in a table."""

_F1 = (".f1", ".f1_strict")

_COLUMNS = (
    *("value", "low", "high", "sd", "difference", "p", "p_holm", "test", "exact"),
    *("units_that_differ", "detectable", "units_needed", "reason", "runs"),
)


def _verdict(score: Mapping[str, Any], entry: Mapping[str, Any], level: float) -> str:
    """What a test at this level says of a system and the baseline, in words."""
    value, p = entry["difference"], entry["p_holm"]
    names = {"name": entry["system"], "baseline": score["values"][0]["system"]}
    if value is None or p is None:
        return phrase("{name} and {baseline} cannot be compared: {reason}", reason=_reason(entry), **names)
    if not entry["units_that_differ"]:
        return phrase("{name} and {baseline} have the same counts in every unit", **names)
    ends = interval(entry, sign=True)
    shown = f"{f' {ends}' if entry['low'] is not None else ''}, p {_equals(p)}"
    if p != entry["p"]:
        shown += phrase(" after Holm's correction")
    if p <= level + _EPSILON:
        is_better = "{name} is better than {baseline} by {points} points{shown}"
        verdict = is_better if value > 0 else "{name} is worse than {baseline} by {points} points{shown}"
        size = _shown(score, entry).lstrip("+-")
    else:
        verdict = "{name} and {baseline} do not differ significantly (difference {points} points{shown})"
        size = _shown(score, entry)
    said = phrase(verdict, points=size, shown=shown, **names)
    return f"{said}; {_reason(entry)}" if entry["detectable"] is None else said


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
    return percent(value, sign="+" if sign else "")


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


def _dot(value: Mapping[str, Any], *, is_baseline: bool) -> Cell:
    if value["value"] is None:
        return None
    return Dot(value["value"], value["low"], value["high"], is_baseline, value.get("sd"))


def _with_sd(value: Mapping[str, Any]) -> Cell:
    """Return a rate, of several runs with its standard deviation."""
    if value["value"] is None or "sd" not in value:
        return Rate(value["value"])
    return f"{points(value['value'])} ± {points(value['sd'])}"


def _shown(score: Mapping[str, Any], entry: Mapping[str, Any]) -> str:
    """Return the difference to the baseline, or to the other system of a pair, as the values are shown."""
    values = {value["system"]: value["value"] for value in score["values"]}
    against = entry.get("against", score["values"][0]["system"])
    return difference(values[against], values[entry["system"]]) or "-"


def _differs(score: Mapping[str, Any], entry: Mapping[str, Any], *, has_holm: bool) -> list[Cell]:
    """Return the cells of the difference to the baseline, or to the other system of a pair."""
    return [
        f"{_shown(score, entry)} {interval(entry, sign=True)}".removesuffix(" -"),
        shown_p(entry["p"]),
        *([shown_p(entry["p_holm"])] if has_holm else []),
        entry["units_that_differ"],
        points(entry["detectable"]),
    ]
