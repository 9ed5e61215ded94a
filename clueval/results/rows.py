"""The rows of a result for tables of data.

An entry of a report that has precision and recall is one row. All rows have the same columns, None where a column does
not apply. Entries are recognised by their names:

* under ``per_label`` or ``per_type``, the next name is the `label`;
* ``macro``, ``weighted`` and ``file_mean`` are the `average`, and so is ``micro``, which all numbers are that are
  computed from summed counts of all labels, as ``overall``, ``all`` and ``ALL``;
* 1 to 4 are the `level`, and all other names are the `section`, as ``labelled``, ``fair`` or ``strict``. In a merged
  sequence, the section has the layer, too: ``labelled.entity``.

The report of `masking` has a row for each kind of unit, which is the section: ``mention``, ``entity``, ``word``,
``character`` and ``document``; of a risk class, ``class.mention`` and so on, with the class as the label. Found is what
was masked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from clueval.core.metric import RATES, f_measure
from clueval.metrics import (
    LABELS_BELOW,
    MICRO,
    PLAIN,
    Path,
    Report,
    headline_paths,
    headline_rates,
    number_at,
)
from clueval.results.paths import numbers_in

# Entries as rows

Row = dict[str, Any]

COUNTS = ("gold", "predicted", "tp_gold", "tp_predicted", "fn", "fp")

NAMES = ("metric", "sequence", "by", "value", "section", "level", "average", "label")
"""The columns that name a row."""

ROW = (*NAMES, *RATES, *COUNTS)
"""The columns of a row."""

_AVERAGES = {
    **dict.fromkeys(MICRO, "micro"),
    **{name: name for name in ("macro", "weighted", "file_mean")},
}
_LEVELS = {"1": 1, "2": 2, "3": 3, "4": 4}
_VALUES = ("by", "thresholds", "by_rank")
"""Sections whose names are values of the data."""

_ENDINGS = {ending: [f"{rate}{ending}" for rate in RATES] for ending in ("", "_strict", "_lenient")}
_OF_RATES = (float, type(None))

_MATRICES = ("confusion", "label_counts", "found", "missed", "spurious")
"""Sections whose names are labels and whose numbers are counts."""


class EntryPlace(NamedTuple):
    """The place of an entry in a report, in the words of a row; `path` has all names, from the sequence on."""

    path: Path = ()
    section: str | None = None
    level: int | None = None
    average: str | None = None
    label: str | None = None
    names_values: bool = False

    def in_section(self, name: str) -> EntryPlace:
        """Return the place within a section of this one."""
        return self._replace(section=name if self.section is None else f"{self.section}.{name}")

    def below(self, name: str, value: Report, sequence: str) -> Iterator[tuple[EntryPlace, Report]]:
        """Yield the place of the entry or section `name` in this one, or of each label or layer in that."""
        place = self._replace(path=(*self.path, name))
        if self.names_values:
            yield place.in_section(name), value
        elif name in LABELS_BELOW:
            for label, entry in value.items():
                if isinstance(entry, Mapping):  # otherwise `name` is a label, with counts of another kind
                    yield place._replace(path=(*place.path, label), label=label), entry
        elif name == "labelled" and not self.path:
            for layer, levels in value.items():
                yield EntryPlace((name, layer), name if layer == sequence else f"{name}.{layer}"), levels
        elif name in _LEVELS and self.section is not None:
            yield place._replace(level=_LEVELS[name]), value
        elif name in _AVERAGES and self.average is None and self.label is None:
            yield place._replace(average=_AVERAGES[name]), value
        else:
            yield place.in_section(name)._replace(names_values=name in _VALUES), value


def rows_of(head: Row, report: Report) -> Iterator[tuple[Path, Row]]:
    """Yield the path and the row of each entry of one report; `head` has its metric, sequence and group."""
    for place, numbers in _entries(report, EntryPlace(), head["sequence"]):
        average = place.average
        if average is None and place.label is None and place.section != "unlabelled":
            average = "micro"
        where = {"section": place.section, "level": place.level, "average": average, "label": place.label}
        yield place.path, {**dict.fromkeys(ROW), **head, **where, **numbers}


def headline_row(head: Row, report: Report) -> Row | None:
    """Return the row of the headline of one report; None for one without precision, recall and F1."""
    paths = headline_rates(head["sequence"], report)
    if len(paths) < len(RATES):
        return None
    return next((row for path, row in rows_of(head, report) if path == paths[0][:-1]), None)


def _entries(report: Report, place: EntryPlace, sequence: str) -> Iterator[tuple[EntryPlace, Row]]:
    """Yield the numbers of each entry of a report or of a part of it."""
    if not place.path and {"classes", "string_leaks"} <= report.keys():
        yield from _masking_rows(report)
    for ending, names in _ENDINGS.items():
        precision, recall = report.get(names[0], 0), report.get(names[1], 0)
        if isinstance(precision, _OF_RATES) and isinstance(recall, _OF_RATES):
            f1 = report.get(names[2])
            if f1 is None and precision is not None and recall is not None:
                f1 = f_measure(precision, recall)
            inner_place = place.in_section(ending[1:]) if ending else place
            yield inner_place, {"precision": precision, "recall": recall, "f1": f1, **_counts(report, ending)}
    support, traditional = {}, report.get("traditional")
    if isinstance(traditional, Mapping) and "TP" in traditional:  # of FairEval; a label may have this name
        true = traditional["TP"]
        support = {"gold": true + traditional["FN"], "predicted": true + traditional["FP"]}
    for name, value in report.items():
        if type(value) in PLAIN or (name in _MATRICES and not place.names_values):
            continue
        if isinstance(value, Mapping):
            for inner_place, entry in place.below(name, value, sequence):
                for deeper, numbers in _entries(entry, inner_place, sequence):
                    yield deeper, {**numbers, **support}


def _counts(entry: Report, ending: str) -> Row:
    """Return the counts of an entry, whatever its metric calls them."""
    if "TP" in entry:
        true = entry["TP"]
        return {"tp_gold": true, "tp_predicted": true, "fn": entry["FN"], "fp": entry["FP"]}
    if "tp_gold" in entry:
        return {name: entry.get(name) for name in COUNTS}
    if "possible" in entry:
        counts = entry["possible"], entry["actual"], entry["correct"] + 0.5 * entry["partial"]
    elif f"correct{ending}" in entry:
        counts = entry["targets"], entry["responses"], entry[f"correct{ending}"]
    elif "matched" in entry:
        counts = entry["gold"], entry["predicted"], entry["matched"]
    else:
        return {}
    gold, predicted, true = counts  # spans are paired one to one, these correctly
    true = int(true) if true == int(true) else true
    return dict(zip(COUNTS, (gold, predicted, true, true, gold - true, predicted - true), strict=True))


_UNITS = {
    "mention": "mentions",
    "entity": "entities",
    "word": "words",
    "character": "characters",
    "document": "documents",
}
"""The kinds of units of masking, and the count of each."""

_PROTECTED = {"mention": "protected", "entity": "entities_protected"}
"""The count of what was masked; of other units, what was left unmasked is counted, as ``words_exposed``."""


def _masking_rows(report: Report) -> Iterator[tuple[EntryPlace, Row]]:
    """Yield the rows of a report of `masking`, recognised by its classes and leaks: recall by unit."""
    precision = report["precision"]
    words = {"predicted": precision["words"], "tp_predicted": precision["words_right"]}
    words |= {"precision": precision["word_precision"], "fp": precision["words"] - precision["words_right"]}
    for section in ("classes", "labels"):
        for name, entry in report[section].items():
            place = EntryPlace((section, name), "class" if section == "classes" else None, label=name)
            is_all = (section, name) == ("classes", "all")
            if is_all:
                place = EntryPlace((section, name), average="micro")
            for unit, counted in _UNITS.items():
                if counted not in entry:
                    continue
                gold = entry[counted]
                true = entry[_PROTECTED[unit]] if unit in _PROTECTED else gold - entry[f"{counted}_exposed"]
                row = {"recall": entry[f"{unit}_recall"], "gold": gold, "tp_gold": true, "fn": gold - true}
                if is_all and unit == "word":
                    row |= words | {"f1": report["f"].get("1")}
                yield place.in_section(unit), row


# Rows of results

_ENDS = tuple(f"{rate}_{end}" for rate in RATES for end in ("low", "high"))
"""The ends of intervals, columns of a row if the result has intervals."""

LONG_ROW = ("metric", "sequence", "by", "value", "path", "number")
"""The columns of a row that has one number."""


def columns_of(report: Report) -> tuple[str, ...]:
    """Return the columns of `wide_rows`: with intervals, the ends of each rate come last."""
    return (*ROW, *_ENDS) if "intervals" in report else ROW


def wide_rows(report: Report) -> Iterator[Row]:
    """Yield a row for each entry of the reports in a dictionary of `Result.to_dict`."""
    ends = dict.fromkeys(_ENDS) if "intervals" in report else {}
    for head, metric_report in _reports(with_estimates(report)):
        for _, row in rows_of(head, metric_report):
            row |= ends
            for rate in RATES if ends else ():
                if hasattr(value := row[rate], "low"):  # an `Estimate`
                    row |= {rate: float(value), f"{rate}_low": value.low, f"{rate}_high": value.high}
            yield row


def long_rows(report: Report) -> Iterator[Row]:
    """Yield a row for each number of the reports in a dictionary of `Result.to_dict`."""
    for head, metric_report in _reports(report):
        for path, number in numbers_in(metric_report):
            if number is None or (isinstance(number, int | float) and not isinstance(number, bool)):
                yield {**head, "path": ".".join(path), "number": number}


def scores_of(report: Report) -> dict[str, float]:
    """Return all rates by short paths, as ``exact.PER.f1``; those of a headline also as ``exact.f1``.

    `report` is as for `wide_rows`. Undefined rates are left out; a sequence is in the paths if there are several, and
    ``per_label`` before a label whose path would be that of something else, as of a label ``micro``.
    """
    reports = report["metrics"]
    scores: dict[str, float] = {}
    for path in headline_paths(reports):
        place = path[: 2 if len(reports[path[0]]) > 1 else 1]
        (rate,) = {*RATES}.intersection(path[-1].split("_"))
        number = number_at(reports, path)
        if number is not None:
            scores[".".join([*place, rate])] = number
    rows = list(wide_rows(report))
    several = len({row["sequence"] for row in rows}) > 1
    for row in rows:
        names = [row[name] for name in NAMES if several or name != "sequence"]
        place = tuple(str(name) for name in names if name not in (None, ""))
        taken = row["label"] is not None and any(".".join([*place, rate]) in scores for rate in RATES)
        if taken:  # a label that is called like an average or a section
            place = (*place[:-1], "per_label", place[-1])
        for name, value in row.items():
            if isinstance(value, float):
                scores.setdefault(".".join([*place, name]), float(value))
    return scores


def _reports(report: Report) -> Iterator[tuple[Row, Report]]:
    """Yield the report of each metric and sequence, on all documents and then on each group that has it."""
    pairs = [(metric, sequence) for metric, sequences in report["metrics"].items() for sequence in sequences]
    groups = {None: {None: report}, **report.get("by", {})}
    if len(pairs) > 1:  # reports that are made when they are asked for are made once
        groups = {by: dict(values) for by, values in groups.items()}
    for metric, sequence in pairs:
        for by, values in groups.items():
            for value, group in values.items():
                head = {"metric": metric, "sequence": sequence, "by": by, "value": value}
                if sequence in group["metrics"][metric]:
                    yield head, group["metrics"][metric][sequence]


# Intervals


def with_estimates(content: Report) -> Report:
    """Return the content of a result in which each rate that has an interval is an `Estimate`.

    The reports of groups have intervals only if the report has some.
    """
    if "intervals" not in content:
        return content
    estimated = {**content, "metrics": _with_intervals(content["metrics"], content["intervals"]["scores"])}
    if "by" in content:
        estimated["by"] = {
            key: {value: with_estimates(group) for value, group in groups.items()}
            for key, groups in content["by"].items()
        }
    return estimated


def _with_intervals(report: Report, intervals: Report) -> dict[str, Any]:
    from clueval.reports.table import Estimate  # few results have intervals

    estimates: dict[str, Any] = {}
    for name, value in report.items():
        interval = intervals.get(name)
        if isinstance(value, Mapping) and isinstance(interval, Mapping):
            estimates[name] = _with_intervals(value, interval)
        elif isinstance(value, float) and isinstance(interval, Mapping):
            estimates[name] = Estimate(value, interval.get("low"), interval.get("high"))
        else:
            estimates[name] = value
    return estimates
