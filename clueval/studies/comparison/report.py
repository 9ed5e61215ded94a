"""The numbers of `clueval.compare`, as tables, and in words what the tests say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from clueval.core.metric import EPSILON
from clueval.files.errors import cut_label
from clueval.reports.language import numeral, phrase
from clueval.reports.report import Report
from clueval.reports.table import Cell, Dot, Rate, Table, difference, percent, shown
from clueval.results.signature import Signature
from clueval.results.summary import answers_of_systems, counted
from clueval.results.tables import named
from clueval.statistics.jackknife import FEWEST_THAT_DIFFER
from clueval.version import __version__

_UNITS = {"document": "documents", "sentence": "sentences"}

_RATES = {"precision": "precision", "recall": "recall", "f1": "F1"}
"""What the rates are called in a table."""


_MOST_IN_WORDS = 5
"""Of more systems, words say how many there are, and tables which."""

_COLUMNS = (
    *("value", "low", "high", "sd", "difference", "p", "p_holm", "test", "exact"),
    *("units_that_differ", "detectable", "units_needed", "reason", "runs"),
)

Score = Mapping[str, Any]
"""A score with its values by system and the differences to the baseline, as in the JSON; or an entry of these."""

Details = tuple[Sequence[Score], Sequence[Score]]
"""Tests of labels, and units that differ most."""


@dataclass(frozen=True, slots=True, repr=False)
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
        located: of each system whose runs are answers of a language model, how many could not be read or placed, as in
            the JSON of a score.

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
    tests: Sequence[Score]
    documents: int
    tokens: int
    confidence: float
    detect: float | None = None
    details: Callable[[], Details] = field(default=lambda: ((), ()), repr=False, compare=False)
    shown: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    pairs: Sequence[Score] = ()
    located: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def content(self) -> dict[str, Any]:
        """Return the comparison as plain data. Scores and differences are fractions."""
        return {
            "clueval": __version__,
            "signature": self.signature,
            "resample_by": self.resample_by,
            "units": self.units,
            "systems": list(self.systems),
            **({"left_out": dict(self.left_out)} if self.left_out else {}),
            **({"located": {name: dict(of) for name, of in self.located.items()}} if self.located else {}),
            "scores": [dict(score) for score in self.tests],
            **({"pairs": [dict(score) for score in self.pairs]} if self.pairs else {}),
        }

    def data(self) -> Iterator[dict[str, Any]]:
        """The values, then the differences, of each score."""
        for score in self.tests:
            for against, entries in (("", score["values"]), (self.systems[0], score["against_baseline"])):
                for entry in entries:
                    place = {"score": score["score"], "system": entry["system"], "against": against}
                    yield place | {name: entry.get(name) for name in _COLUMNS}

    @property
    def title(self) -> str:  # type: ignore[override]  # it is in the language of the context
        """The names of the systems; of many, how many there are."""
        if len(self.systems) > _MOST_IN_WORDS:
            return phrase("{n} systems", n=len(self.systems))
        return phrase(" and ").join(self.systems)

    def facts(self) -> Iterator[str]:
        """The numbers of documents and positions."""
        return counted(self.documents, self.tokens)

    def remarks(self) -> Iterator[str]:
        """Which answers could not be read or placed, and which documents are not compared."""
        yield from answers_of_systems({name: {"located": numbers} for name, numbers in self.located.items()})
        for name, numbers in self.located.items():
            if n := numbers.get("unlocatable"):
                yield phrase(
                    "{name}: {n} predicted span has no position in the gold text"
                    "|{name}: {n} predicted spans have no position in the gold text",
                    name=name,
                    n=n,
                )
        if self.left_out:
            left_out = (f"{name} {numeral(number)}" for name, number in self.left_out.items())
            yield phrase(
                "Documents that not all results have with as many positions are left out: {numbers}.",
                numbers=", ".join(left_out),
            )

    # in words

    def verdict(self) -> str:
        """What the tests of F1 say, or those of all scores if none is F1; of many systems, in how many each is so."""
        scores = [
            score for score in self.tests if score["score"].endswith((".f1", ".f1_strict"))
        ] or self.tests
        if len(self.systems) > _MOST_IN_WORDS:
            return " ".join(map(self._verdict_of_many, scores))
        return " ".join(
            f"{self.called(score)}: {self._verdict_of_test(score, entry)}."
            for score in scores
            for entry in score["against_baseline"]
        )

    def called(self, score: Score) -> str:
        return self.shown.get(score["score"], score["score"])

    def _verdict_of_many(self, score: Score) -> str:
        signs = [self._sign(entry) for entry in score["against_baseline"]]
        return phrase(
            "{score}: of {others} systems, better than {baseline}: {better}, worse: {worse}, "
            "not significantly different: {rest}.",
            score=self.called(score),
            baseline=self.systems[0],
            others=len(signs),
            better=signs.count(1),
            worse=signs.count(-1),
            rest=signs.count(0),
        )

    def _sign(self, entry: Score) -> int:
        """Return 1 for a system that is significantly better than the baseline, -1 for one that is worse, else 0."""
        value, p = entry["difference"], entry["p_holm"]
        # 1 - 0.95 is a little more than 0.05
        if not value or p is None or p > 1 - self.confidence + EPSILON:
            return 0
        return 1 if value > 0 else -1

    def _verdict_of_test(self, score: Score, entry: Score) -> str:
        """Return what the test of a system and the baseline says."""
        needed = ""
        if self.detect is not None and entry.get("units_needed") is not None:
            needed = phrase(
                "; to show {points} points takes about {number} such units",
                points=percent(self.detect),
                number=entry["units_needed"],
            )
        value, p = entry["difference"], entry["p_holm"]
        names = {"name": entry["system"], "baseline": score["values"][0]["system"]}
        if value is None or p is None:
            sentence = phrase(
                "{name} and {baseline} cannot be compared: {reason}", reason=_reason(entry), **names
            )
            return sentence + needed
        if not entry["units_that_differ"]:
            return phrase("{name} and {baseline} have the same counts in every unit", **names) + needed
        ends = "" if entry["low"] is None else f" {interval(entry)}"
        p_in_words = f"< {numeral(0.0001, '.4f')}" if p < 0.0001 else f"= {numeral(p, '.2g')}"
        shown_test = f"{ends}, p {p_in_words}"
        if len(self.systems) > 2:
            shown_test += phrase(" after Holm's correction")
        size = _difference(score, entry)
        sign = self._sign(entry)
        verdict = "{name} and {baseline} do not differ significantly (difference {points} points{shown})"
        if sign > 0:
            verdict = "{name} is better than {baseline} by {points} points{shown}"
        elif sign < 0:
            verdict = "{name} is worse than {baseline} by {points} points{shown}"
        size = size.lstrip("+-") if sign else size
        sentence = phrase(verdict, points=size, shown=shown_test, **names)
        return f"{sentence}; {_reason(entry)}{needed}" if entry["detectable"] is None else sentence + needed

    def notes(self) -> Iterator[tuple[str, str]]:
        """The method, and what the figures mean."""
        return (("", note) for note in self._notes())

    def _notes(self) -> Iterator[str]:
        by_runs = any("sd" in value for score in self.tests for value in score["values"])
        test = "paired approximate randomisation, two-sided; intervals by the jackknife"
        meaning = (
            "p: the counts of units are swapped between two systems; p is the share of swaps after which the "
            "difference is at least as large. If up to 16 units differ, all swaps are tried, otherwise random ones."
        )
        if by_runs:
            test = "t-test over runs and units"
            meaning = (
                "p: how often systems that are equally good would differ by at least as much in such units and "
                "runs."
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
        entries = [entry for score in self.tests for entry in score["against_baseline"]]
        if any(entry["p"] is not None for entry in entries):
            yield phrase(meaning)
        if any(entry["detectable"] is not None for entry in entries):
            yield phrase("80 % power: a true difference of this size is found in 80 of 100 such test sets.")
        tested, level = len(self.tests), 1 - self.confidence
        if tested > 1:
            corrected = phrase(" Holm's correction is over systems, not over scores;")
            yield phrase(
                "{tested} scores were tested;{corrected} of {tested} tests at {level} %, {chance} are positive by "
                "chance alone.",
                tested=tested,
                corrected=corrected if len(self.systems) > 2 else "",
                level=numeral(100 * level, ".2g"),
                chance=numeral(level * tested, ".2g"),
            )

    def _kind_of_units(self) -> str:
        if self.resample_by in _UNITS:
            return phrase(_UNITS[self.resample_by])
        return phrase("values of {key}", key=self.resample_by)

    # tables

    def tables(self) -> Iterator[Table]:
        """A table for each metric and layer: the rates of all systems, and how the last one, mostly F1, differs.

        Tables of all pairs of systems and of the differences of the other rates follow.
        """
        places: dict[str, list[Score]] = {}
        for score in self.tests:
            places.setdefault(score["score"].rpartition(".")[0], []).append(score)
        for scores in places.values():
            yield self._table_of_systems(scores)
        for score in self.pairs:
            (test,) = (test for test in self.tests if test["score"] == score["score"])  # it has the values
            rows = [
                [self._against(entry["system"], entry["against"]), *_cells(test, entry, has_holm=True)]
                for entry in score["pairs"]
            ]
            header = named(["", "difference", "p", "p (Holm)", "units that differ", "detectable"])
            yield Table(phrase("{score}: all pairs of systems", score=self.called(score)), header, rows)
        for scores in places.values():
            yield self._table_of_scores(
                phrase("{place}: details of each score", place=self._place(scores[-1])), scores
            )

    def tables_of_paper(self, tables: Iterable[Table]) -> Iterator[Table]:
        """The tables without the details of each score."""
        return (table for table in tables if not table.is_folded)

    def drawn_tables(self) -> Iterator[Table]:
        """The tables, then those of labels, and of the units in which the systems differ most."""
        yield from self.tables()
        labels, units = self.details()
        if labels:
            yield self._table_of_scores(phrase("F1 by label"), labels)
        for most in units:
            rows = [
                [cut_label(unit), percent(influence, sign="+"), positions]
                for unit, influence, positions in most["units"]
            ]
            if rows:  # the same counts everywhere, or an undefined score
                against = self._against(most["system"], self.systems[0])
                title = f"{phrase('Units that differ most')}: {self.called(most)}, {against}"
                header = named(["unit", "share of the difference", "positions"])
                yield Table(title, header, rows, is_folded=True)

    def _table_of_systems(self, scores: Sequence[Score]) -> Table:
        """Return a row for each system: the rates, of the last one also the difference to the baseline."""
        *others, last = scores
        header = []
        for score in scores:
            rate = score["score"].rpartition(".")[2]
            header.append(phrase(_RATES[rate]) if rate in _RATES else self._rate(score))
        what = " ".join(self._rate(last).replace(header[-1], "").split())
        title = phrase(
            "{place}: scores on {units} {kind}",
            place=", ".join(filter(None, (self._place(last), what))),
            units=self.units,
            kind=self._kind_of_units(),
        )
        has_holm = len(self.systems) > 2
        differs = named(["difference", "p", *(["p (Holm)"] if has_holm else [])])
        rows: list[list[Cell]] = []
        for number, (value, entry) in enumerate(_with_differences(last)):
            row: list[Cell] = [value["system"]]
            for score in others:
                other, sd = score["values"][number]["value"], score["values"][number].get("sd")
                row.append(Rate(other) if other is None or sd is None else shown(Dot(other, sd=sd)))
            cells = [None] * len(differs) if entry is None else _cells(last, entry, has_holm=has_holm)
            rows.append([*row, _dot(value, is_baseline=entry is None), *cells[: len(differs)]])
        return Table(title, [phrase("system"), *header, *differs], rows)

    def _table_of_scores(self, title: str, scores: Sequence[Score]) -> Table:
        """Return a folded table with a row for each score and system."""
        has_runs = any("sd" in value for score in scores for value in score["values"])
        has_holm = len(self.systems) > 2
        header = [
            *("score", "system", "value", *(["sd", "runs"] if has_runs else [])),
            *("difference", "p", *(["p (Holm)"] if has_holm else [])),
            *("units that differ", "detectable"),
        ]
        rows: list[list[Cell]] = []
        for score in scores:
            for value, entry in _with_differences(score):
                runs = [shown(Rate(value.get("sd"))), value.get("runs", 1)] if has_runs else []
                none: list[Cell] = [None] * (4 + has_holm)
                cells = none if entry is None else _cells(score, entry, has_holm=has_holm)
                dot = _dot(value, is_baseline=entry is None)
                rows.append([self._rate(score), value["system"], dot, *runs, *cells])
        return Table(title, named(header), rows, is_folded=True)

    def _against(self, system: str, baseline: str) -> str:
        return phrase("{system}, compared with {baseline}", system=system, baseline=baseline)

    def _place(self, score: Score) -> str:
        """Return the metric of a score, and its layer if there are several."""
        metric, sequence = score["score"].split(".")[:2]
        several = len({test["score"].split(".")[1] for test in self.tests}) > 1
        return f"{metric}, {cut_label(sequence)}" if several else str(metric)

    def _rate(self, score: Score) -> str:
        """Return what a score is called without metric and layer, which the title of the table has."""
        if score["score"] not in self.shown:
            return str(score["score"])
        metric, sequence = score["score"].split(".")[:2]
        return self.called(score).removeprefix(f"{sequence}: ").removeprefix(f"{metric} ")


def _with_differences(score: Score) -> Iterator[tuple[Score, Score | None]]:
    """Return the value of each system with its difference to the baseline, which has none."""
    return zip(score["values"], (None, *score["against_baseline"]), strict=True)


def _reason(entry: Score) -> str:
    """Return why an entry has no test or no interval."""
    reason = entry.get("reason", "too few units differ")
    if not reason.startswith("the systems differ in "):
        return phrase(reason)
    return phrase(
        "the systems differ in {n} unit, fewer than {least}|the systems differ in {n} units, fewer than {least}",
        n=entry["units_that_differ"],
        least=FEWEST_THAT_DIFFER,
    )


def interval(entry: Score) -> str:
    """Return the interval of a difference in points; ``-`` if it has none."""
    if entry["low"] is None or entry["high"] is None:
        return "-"
    return f"[{percent(entry['low'], sign='+')}, {percent(entry['high'], sign='+')}]"


def shown_p(p: float | None) -> str:
    """Return a p-value with four decimals; a smaller one as ``<0.0001``, none as ``-``."""
    if p is None:
        return "-"
    return f"<{numeral(0.0001, '.4f')}" if p < 0.0001 else numeral(p, ".4f")


def _dot(value: Score, *, is_baseline: bool) -> Cell:
    if value["value"] is None:
        return None
    return Dot(value["value"], value["low"], value["high"], is_baseline, value.get("sd"))


def _difference(score: Score, entry: Score) -> str:
    """Return the difference to the baseline, or to the other system of a pair, as the values are shown."""
    values = {value["system"]: value["value"] for value in score["values"]}
    against = entry.get("against", score["values"][0]["system"])
    return difference(values[against], values[entry["system"]]) or "-"


def _cells(score: Score, entry: Score, *, has_holm: bool) -> list[Cell]:
    """Return the cells of the difference to the baseline, or to the other system of a pair."""
    return [
        f"{_difference(score, entry)} {interval(entry)}".removesuffix(" -"),
        shown_p(entry["p"]),
        *([shown_p(entry["p_holm"])] if has_holm else []),
        entry["units_that_differ"],
        shown(Rate(entry["detectable"])),
    ]
