"""The rows of a result, for tables of data: the same columns for every metric, None where a column does not apply.

An entry of a report that has precision and recall is one row. Entries are recognised by their names:

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

from clueval.core.tally import f_measure
from clueval.reports.table import Estimate
from clueval.results.reports import headline_paths, number_at

ROW = (
    "metric",
    "sequence",
    "by",
    "value",
    "section",
    "level",
    "average",
    "label",
    "precision",
    "recall",
    "f1",
    "gold",
    "predicted",
    "tp_gold",
    "tp_predicted",
    "fn",
    "fp",
)
"""The columns of a row."""

_NAMES = ROW[:8]
"""The columns that name a row."""

_RATES = ("precision", "recall", "f1")
_ENDS = tuple(f"{rate}_{end}" for rate in _RATES for end in ("low", "high"))
"""The ends of intervals, columns of a row if the result has intervals."""

LONG_ROW = ("metric", "sequence", "by", "value", "path", "number")
"""The columns of a row that has one number."""

Report = Mapping[str, Any]
Row = dict[str, Any]

_LABELLED = ("per_label", "per_type")
_AVERAGES = {
    "micro": "micro",
    "overall": "micro",
    "all": "micro",
    "ALL": "micro",
    "macro": "macro",
    "weighted": "weighted",
    "file_mean": "file_mean",
}
_LEVELS = {"1": 1, "2": 2, "3": 3, "4": 4}
_VALUES = ("by", "thresholds")
"""Sections whose names are values of the data."""

_MATRICES = ("confusion", "label_counts", "found", "missed", "spurious")
"""Sections whose names are labels and whose numbers are counts."""


class EntryPlace(NamedTuple):
    """The place of an entry in a report, in the words of a row; `path` has all names, from the sequence on."""

    path: tuple[str, ...] = ()
    section: str | None = None
    level: int | None = None
    average: str | None = None
    label: str | None = None
    names_values: bool = False

    def below(self, name: str) -> EntryPlace:
        """Return the place of the entry or section `name` in this one."""
        place = self._replace(path=(*self.path, name))
        if self.names_values:
            return place.in_section(name)
        if name in _LEVELS and self.section is not None:
            return place._replace(level=_LEVELS[name])
        if name in _AVERAGES and self.average is None and self.label is None:
            return place._replace(average=_AVERAGES[name])
        return place.in_section(name)._replace(names_values=name in _VALUES)

    def in_section(self, name: str) -> EntryPlace:
        """Return the place within a section of this one."""
        return self._replace(section=name if self.section is None else f"{self.section}.{name}")


def columns_of(report: Report) -> tuple[str, ...]:
    """Return the columns of `wide_rows`: with intervals, the ends of each rate come last."""
    return (*ROW, *_ENDS) if "intervals" in report else ROW


def wide_rows(report: Report) -> Iterator[Row]:
    """Yield a row for each entry of the reports in a dictionary of `Result.to_dict`."""
    has_ends = "intervals" in report
    for head, found in _reports(with_estimates(report)):
        for _, row in rows_of(head, found):
            yield _with_ends(row) if has_ends else row


def _with_ends(row: Row) -> Row:
    found = {**row, **dict.fromkeys(_ENDS)}
    for rate in _RATES:
        if isinstance(value := row[rate], Estimate):
            found |= {rate: float(value), f"{rate}_low": value.low, f"{rate}_high": value.high}
    return found


def scores_of(report: Report) -> dict[str, float]:
    """Return all rates by short paths, as ``exact.PER.f1``; those of a headline also as ``exact.f1``.

    `report` is as for `wide_rows`. Undefined rates are left out; a sequence is in the paths if there are several.
    """
    reports = report["metrics"]
    found: dict[str, float] = {}
    for path in headline_paths(reports):
        place = path[: 2 if len(reports[path[0]]) > 1 else 1]
        (rate,) = {"precision", "recall", "f1"}.intersection(path[-1].split("_"))
        number = number_at(reports, path)
        if number is not None:
            found[".".join([*place, rate])] = number
    rows = list(wide_rows(report))
    several = len({row["sequence"] for row in rows}) > 1
    for row in rows:
        names = [row[name] for name in _NAMES if several or name != "sequence"]
        place = tuple(str(name) for name in names if name not in (None, ""))
        for name, value in row.items():
            if isinstance(value, float):
                found.setdefault(".".join([*place, name]), float(value))
    return found


def rows_of(head: Row, found: Report) -> Iterator[tuple[tuple[str, ...], Row]]:
    """Yield the path and the row of each entry of one report; `head` has its metric, sequence and group."""
    for place, numbers in _entries(found, EntryPlace(), head["sequence"]):
        yield place.path, _row(head, place, numbers)


def _row(head: Row, place: EntryPlace, numbers: Row) -> Row:
    average = place.average
    if average is None and place.label is None and place.section != "unlabelled":
        average = "micro"
    where = {"section": place.section, "level": place.level, "average": average, "label": place.label}
    return {**dict.fromkeys(ROW), **head, **where, **numbers}


def long_rows(report: Report) -> Iterator[Row]:
    """Yield a row for each number of the reports in a dictionary of `Result.to_dict`."""
    for head, found in _reports(report):
        for path, number in _numbers(found):
            yield {**head, "path": path, "number": number}


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


def _entries(found: Report, place: EntryPlace, sequence: str) -> Iterator[tuple[EntryPlace, Row]]:
    if not place.path and {"classes", "string_leaks"} <= found.keys():
        yield from _of_masking(found)
    for ending, numbers in _rates_and_counts(found):
        yield (place.in_section(ending) if ending else place), numbers
    support = _support(found.get("traditional"))
    for name, value in found.items():
        if not isinstance(value, Mapping) or (name in _MATRICES and not place.names_values):
            continue
        for own, entry in _below(name, value, place, sequence):
            for deeper, numbers in _entries(entry, own, sequence):
                yield deeper, {**numbers, **support}


_LEFT_UNMASKED = {"word": "words", "character": "characters", "document": "documents"}
_MASKED = {"mention": ("mentions", "protected"), "entity": ("entities", "entities_protected")}


def _of_masking(found: Report) -> Iterator[tuple[EntryPlace, Row]]:
    """Yield the rows of a report of `masking`, recognised by its classes and leaks: recall by unit."""
    precision = found["precision"]
    words = {"predicted": precision["words"], "tp_predicted": precision["words_right"]}
    words |= {"precision": precision["word_precision"], "fp": precision["words"] - precision["words_right"]}
    for name, entry in found["classes"].items():
        is_all = name == "all"
        place = (
            EntryPlace(("classes", name), average="micro")
            if is_all
            else EntryPlace(("classes", name), "class", label=name)
        )
        for unit, row in _recalls(entry):
            own = row | words | {"f1": found["f"].get("1")} if is_all and unit == "word" else row
            yield place.in_section(unit), own
    for name, entry in found["labels"].items():
        for unit, row in _recalls(entry):
            yield EntryPlace(("labels", name), unit, label=name), row


def _recalls(entry: Report) -> Iterator[tuple[str, Row]]:
    """Yield the recall of each kind of unit that an entry has, with its counts."""
    for unit, (gold, found) in _MASKED.items():
        if gold in entry:
            counts = {"gold": entry[gold], "tp_gold": entry[found], "fn": entry[gold] - entry[found]}
            yield unit, {"recall": entry[f"{unit}_recall"], **counts}
    for unit, gold in _LEFT_UNMASKED.items():
        if gold in entry:
            left = entry[f"{gold}_exposed"]
            counts = {"gold": entry[gold], "tp_gold": entry[gold] - left, "fn": left}
            yield unit, {"recall": entry[f"{unit}_recall"], **counts}


def _below(name: str, value: Report, place: EntryPlace, sequence: str) -> Iterator[tuple[EntryPlace, Report]]:
    """Yield a section, or the entries of each label or layer in it."""
    if name in _LABELLED and not place.names_values:
        for label, entry in value.items():
            yield place._replace(path=(*place.path, name, label), label=label), entry
    elif name == "labelled" and not place.path:
        for layer, levels in value.items():
            section = name if layer == sequence else f"{name}.{layer}"
            yield EntryPlace((name, layer), section), levels
    else:
        yield place.below(name), value


def _rates_and_counts(entry: Report) -> Iterator[tuple[str, Row]]:
    """Yield the numbers of an entry with the name of its section: ``strict`` and ``lenient``, or none."""
    for ending in ("", "strict", "lenient"):
        joined = f"_{ending}" if ending else ""
        rates = [entry.get(f"{name}{joined}", 0) for name in ("precision", "recall")]
        if all(isinstance(rate, float | None) for rate in rates):
            yield ending, {**_rates(entry, joined), **_counts(entry, joined)}


def _rates(entry: Report, ending: str) -> Row:
    precision, recall = entry[f"precision{ending}"], entry[f"recall{ending}"]
    f1 = entry.get(f"f1{ending}")
    if f1 is None and precision is not None and recall is not None:
        f1 = f_measure(precision, recall)
    return {"precision": precision, "recall": recall, "f1": f1}


def _counts(entry: Report, ending: str) -> Row:
    if "TP" in entry:
        true = entry["TP"]
        return {"tp_gold": true, "tp_predicted": true, "fn": entry["FN"], "fp": entry["FP"]}
    if "tp_gold" in entry:
        return {
            name: entry.get(name) for name in ("gold", "predicted", "tp_gold", "tp_predicted", "fn", "fp")
        }
    if "possible" in entry:
        return _of_pairs(entry["possible"], entry["actual"], entry["correct"] + 0.5 * entry["partial"])
    if f"correct{ending}" in entry:
        return _of_pairs(entry["targets"], entry["responses"], entry[f"correct{ending}"])
    if "matched" in entry:
        return _of_pairs(entry["gold"], entry["predicted"], entry["matched"])
    return {}


def _of_pairs(gold: float, predicted: float, true: float) -> Row:
    """Return the counts of spans that are paired one to one, `true` of them correctly."""
    true = int(true) if true == int(true) else true
    return {
        "gold": gold,
        "predicted": predicted,
        "tp_gold": true,
        "tp_predicted": true,
        "fn": gold - true,
        "fp": predicted - true,
    }


def _support(traditional: object) -> Row:
    """Return the numbers of spans of an entry of FairEval, which only its traditional part has."""
    if not isinstance(traditional, Mapping) or "TP" not in traditional:  # a label may have this name
        return {}
    return {
        "gold": traditional["TP"] + traditional["FN"],
        "predicted": traditional["TP"] + traditional["FP"],
    }


def _numbers(found: Report, before: str = "") -> Iterator[tuple[str, float | None]]:
    for name, value in found.items():
        if isinstance(value, Mapping):
            yield from _numbers(value, f"{before}{name}.")
        elif value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
            yield before + name, value


# Intervals


def with_estimates(content: Report) -> Report:
    """Return the content of a result in which each rate that has an interval is an `Estimate`.

    The reports of groups have intervals only if the report has some.
    """
    if "intervals" not in content:
        return content
    found = {**content, "metrics": _estimated(content["metrics"], content["intervals"]["scores"])}
    if "by" in content:
        found["by"] = {
            key: {value: with_estimates(group) for value, group in groups.items()}
            for key, groups in content["by"].items()
        }
    return found


def _estimated(report: Mapping[str, Any], intervals: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in report.items():
        interval = intervals.get(name)
        if isinstance(value, Mapping) and isinstance(interval, Mapping):
            found[name] = _estimated(value, interval)
        elif isinstance(value, float) and isinstance(interval, Mapping):
            found[name] = Estimate(value, interval.get("low"), interval.get("high"))
        else:
            found[name] = value
    return found
