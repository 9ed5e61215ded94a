"""Tables of a result: those of the metrics' reports, break-downs, and what was changed before counting.

Each metric documents its report.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from clueval.core.levels import KINDS, UNMATCHED
from clueval.core.metric import RATES, AnyMetric
from clueval.files.errors import cut_label
from clueval.reports.language import phrase
from clueval.reports.table import Cell, Rate, Table
from clueval.results.paths import is_fraction

Report = Mapping[str, Any]


def of_report(report: Report, metrics: Iterable[AnyMetric], *, first: bool = False) -> Iterator[Table]:
    """Yield the tables of a report made by `Result.to_dict`, in its order, for the metrics given; or the `first`."""
    by_name = {metric.name: metric for metric in metrics}

    def of_metrics(reports: Report, where: str) -> Iterator[Table]:
        for name, sequences in reports.items():
            for sequence, sequence_report in sequences.items() if name in by_name else ():
                title = f"{where}{name}, {cut_label(sequence)}"
                yield from islice(tables_of(by_name[name], title, sequence_report), 1 if first else None)

    yield from of_metrics(report["metrics"], "")
    for key, groups in report.get("by", {}).items():
        rows = [[value, group["documents"], group["tokens"]] for value, group in groups.items()]
        yield Table(phrase("By {key}", key=key), [key, *named(["documents", "tokens"])], rows)
        for value, group in groups.items():
            yield from of_metrics(group["metrics"], f"{key} {cut_label(value)}: ")
    yield from of_changes(report)


def of_changes(report: Report) -> Iterator[Table]:
    """Yield the tables of what was changed before counting: spans that have no place, and numbers of steps."""
    if spans := report.get("unprojected"):  # those that alignment lost have positions in the predicted text
        columns, cells = ["document", "label", "text"], [[cut_label(span.get("text", ""))] for span in spans]
        if "text" not in spans[0]:
            columns = ["document", "label", "start", "end_inclusive"]
            cells = [[str(span["start"]), str(span["end_exclusive"] - 1)] for span in spans]
        title = phrase("Predicted spans that have no position in the gold text (each counts as wrong)")
        rows = [[span["document"], span["label"], *texts] for span, texts in zip(spans, cells, strict=True)]
        yield Table(title, named(columns), rows)
    prepared = report.get("prepared", {})
    if numbers := [[name, number] for name, number in prepared.items() if isinstance(number, int)]:
        title = phrase("Changed before counting: gold spans with alternatives")
        yield _numbers(title, "number", numbers)
    for name, changed in prepared.items():
        if changed and not isinstance(changed, int):
            title = phrase("Changed before counting: {what}", what=phrase(name))
            yield _numbers(title, "number", changed.items())


# Tables in general


def named(names: Iterable[str]) -> list[str]:
    """Return names of columns or rows in the language of the report."""
    return [phrase(name) for name in names]


def titled(title: str, what: str) -> str:
    """Return the title of a table of a metric: what it shows comes last, in the language of the report."""
    return f"{title}: {phrase(what)}"


def _numbers(title: str, header: str, numbers: Iterable[Sequence[Any]]) -> Table:
    """Return a table of numbers, each with its name."""
    rows: list[list[Cell]] = [[phrase(str(name)), number] for name, number in numbers]
    return Table(title, ["", phrase(header)], rows)


_OF_KIND = re.compile(r"(precision|recall|f[\d.]+)_(strict|lenient)")
_HEADERS = {
    "tp_gold": "found",
    "tp_predicted": "correct",
    "correct_strict": "correct",
    "correct_partial": "partial",
    "incorrect_strict": "mismatch",
    "incorrect_partial": "wrong",
    "true_missing_lenient": "missing",
    "true_spurious_lenient": "spurious",
    "accuracy_strict": "strict",
    "accuracy_lenient": "lenient",
    "max_recall_strict": "strict",
    "max_recall_lenient": "lenient",
    "max_recall_list_strict": "strict, with list",
    "max_recall_list_lenient": "lenient, with list",
    "targets_with_list": "with list",
}
"""The headers of numbers that are not called by their keys."""


def of_entries(title: str, first: str, entries: Iterable[tuple[Cell, Report]], keys: Sequence[str]) -> Table:
    """Return a table of entries by name: these numbers of each. The column of the names has the header `first`."""
    rows = [[name, *cells_of(entry, keys)] for name, entry in entries]
    return Table(title, [first, *map(header_of, keys)], rows)


def cells_of(entry: Report, keys: Iterable[str]) -> list[Cell]:
    """Return numbers of an entry as cells, by their keys in reports."""
    return [Rate(entry[key]) if is_fraction(key) else entry[key] for key in keys]


def header_of(key: str) -> str:
    """Return the header of a number, by its key in reports."""
    if match := _OF_KIND.fullmatch(key):
        rate, kind = match.groups()
        return f"{rate.upper() if rate.startswith('f') else rate[0].upper()} {phrase(kind)}"
    return phrase(_HEADERS.get(key, key.replace("_", " ")))


_SUPPORTS = ("gold", "tp_gold", "predicted", "tp_predicted")


# Metrics


def tables_of(metric: AnyMetric, title: str, report: Report) -> Iterator[Table]:
    """Yield the tables of a report; each title begins with `title`.

    A metric that is not one of `clueval.metrics.METRICS` has a method `tables` for them, with the same
    arguments.
    """
    metric_tables = getattr(metric, "tables", None)
    if metric_tables is not None:
        yield from metric_tables(title, report)
    elif metric.name == "masking":
        yield from masking(title, report, getattr(metric, "beta", ()))
    elif metric.name in _TABLES:
        yield from _TABLES[metric.name](title, report)
    yield from average_precisions(title, report)


def average_precisions(title: str, report: Report) -> Iterator[Table]:
    """Yield the table of the average precision of a report with a curve, and of its labels."""
    if isinstance(report.get("average_precision"), float):  # that of gate has a table of its own
        entries = [*report.get("per_label", {}).items(), (phrase("all"), report)]
        yield of_entries(titled(title, "average precision"), phrase("label"), entries, ["average_precision"])


def prf_per_label(title: str, report: Report) -> Iterator[Table]:
    """Yield the PRF entries per label, then their averages; further F-betas come after f1."""
    averages = [(phrase(name), report[name]) for name in ("micro", "macro", "weighted") if name in report]
    further = [name for name in report["micro"] if name.startswith("f") and name not in ("f1", "fn", "fp")]
    entries = (*report["per_label"].items(), *averages)
    yield of_entries(title, phrase("label"), entries, (*RATES, *further, *_SUPPORTS))
    if "glued" in report:
        rows: list[list[Cell]] = [[phrase(side), number] for side, number in report["glued"].items()]
        yield Table(titled(title, "glued to another"), named(["side", "spans"]), rows)


LEVELS = {1: "exact", 2: "+ covered by one span", 3: "+ tiled", 4: "+ covered by several spans"}
"""The levels in words, each besides those above it."""


def levels(title: str, report: Report) -> Iterator[Table]:
    yield Table(
        titled(title, "how the spans of each side are matched"),
        [*named(["side", *KINDS[:-1]]), "/".join(named(UNMATCHED.values())), phrase("spans")],
        [
            [phrase(side), *counts.values(), sum(counts.values())]
            for side, counts in report["classes"].items()
        ],
    )
    columns = (*RATES, *_SUPPORTS)
    names = {str(level): f"{level} {phrase(words)}" for level, words in LEVELS.items()}
    unlabelled = [(names[level], prf) for level, prf in report["unlabelled"].items()]
    yield of_entries(titled(title, "unlabelled"), phrase("level"), unlabelled, columns)
    for layer, by_level in report["labelled"].items():
        averages = [
            (f"{names[level]}, {phrase(average)}", at_level[average])
            for level, at_level in by_level.items()
            for average in ("micro", "macro")
        ]
        yield of_entries(
            phrase("{title}: labelled by {layer}", title=title, layer=cut_label(layer)),
            phrase("level"),
            averages,
            columns,
        )
        rows: list[list[Cell]] = []  # precision and recall at every level, and the supports
        for label, first in by_level["1"]["per_label"].items():
            entries = [at_level["per_label"][label] for at_level in by_level.values()]
            rates = [Rate(entry[rate]) for rate in ("precision", "recall") for entry in entries]
            rows.append([label, *rates, first["gold"], first["predicted"]])
        header = ["label", *(f"{rate}{level}" for rate in "PR" for level in by_level), "gold", "predicted"]
        of_layer = phrase("{title}: labels of {layer}", title=title, layer=cut_label(layer))
        yield Table(of_layer, named(header), rows)


def exact(title: str, report: Report) -> Iterator[Table]:
    yield from prf_per_label(title, report)
    yield _numbers(titled(title, "tokens"), "accuracy", [("token accuracy", Rate(report["token_accuracy"]))])


def coverage(title: str, report: Report) -> Iterator[Table]:
    for kind, part in report.items():
        if isinstance(part, Mapping):  # not a curve
            yield from prf_per_label(f"{title}, {kind}", part)


_ERRORS = ("TP", "FP", "FN", "LE", "BE", "BES", "BEL", "BEO", "LBE")
_FAIR_COLUMNS = {"traditional": ("TP", "FP", "FN"), "fair": _ERRORS, "weighted": _ERRORS}

NO_PARTNER = "_"
"""The label, in the confusion of a fair report, that stands for no span at all."""


def fair(title: str, report: Report) -> Iterator[Table]:
    for version, columns in _FAIR_COLUMNS.items():
        versions_by_label = (*report["per_label"].items(), (phrase("overall"), report["overall"]))
        entries = [(label, versions[version]) for label, versions in versions_by_label]
        yield of_entries(titled(title, version), phrase("label"), entries, (*columns, *RATES))
    cells = report["confusion"]
    labels = [label for label in cells if label != NO_PARTNER]
    often = most_frequent(labels, frequencies(cells))
    names = [*often, NO_PARTNER]  # the row and the column of spans without a partner come last
    matrix = [[gold, *(cells.get(gold, {}).get(name, 0) for name in names)] for gold in names]
    errors = titled(title, "errors (rows gold, columns predicted; _ is none")
    yield Table(f"{errors}{how_many(len(often), len(labels))})", [phrase("gold"), *names], matrix)
    counts = report["label_counts"]
    total = sum(counts.values()) or 1
    rows = [[label, n, Rate(n / total)] for label, n in counts.items()]
    yield Table(titled(title, "labels in gold"), named(["label", "spans", "%"]), rows)


def confusion(title: str, report: Report) -> Iterator[Table]:
    """Yield for each layer and level the matrix of each side; rows: its labels, columns: those of the other side."""
    for layer, of_layer in report.items():
        for level, sides in of_layer["levels"].items():
            for side, matrix in sides.items():
                what = "{title}: gold spans of {layer}, level {level}"
                if side == "predicted":
                    what = "{title}: predicted spans of {layer}, level {level}"
                shown = phrase(what, title=title, layer=cut_label(layer), level=level)
                counts, without = matrix["found"], (matrix["unlabelled"], matrix[UNMATCHED[side]])
                often = frequencies(counts)
                known = sorted(often)
                for numbers in without:
                    often.update(numbers)
                labels = most_frequent(known, often)
                rows: list[list[Cell]] = [
                    [
                        label,
                        *(counts[label].get(column, 0) for column in labels),
                        *(part[label] for part in without),
                    ]
                    for label in labels
                    if label in counts
                ]
                header = [phrase(side), *labels, *named(["(no label)", UNMATCHED[side]])]
                yield Table(f"{shown}{how_many(len(labels), len(known))}", header, rows)


_GATE_COUNTS = (
    *("targets", "responses", "correct_strict", "correct_partial", "incorrect_strict", "incorrect_partial"),
    *("true_missing_lenient", "true_spurious_lenient"),
)


def gate(title: str, report: Report) -> Iterator[Table]:
    f = next(key for key in report["all"] if key.startswith("f") and key.endswith("_strict"))[:-7]
    rates = [f"{rate}_{kind}" for kind in ("strict", "lenient") for rate in ("precision", "recall", f)]
    types = report["per_type"]
    several = {phrase("macro"): report["macro"]} if len(types) > 1 else {}
    sections = [("", {**types, **several, phrase("all"): report["all"]})]
    sections += [(f", {feature}", values) for feature, values in report.get("by", {}).items()]
    for name, entries in sections:
        yield of_entries(titled(f"{title}{name}", "pairs"), phrase("type"), entries.items(), _GATE_COUNTS)
        yield of_entries(titled(f"{title}{name}", "rates"), "", entries.items(), rates)
    if thresholds := report.get("thresholds"):
        yield of_entries(titled(title, "responses with a score of at least"), "", thresholds.items(), rates)
    if averages := report.get("average_precision"):
        numbers = [(kind, Rate(value)) for kind, value in averages.items()]
        yield _numbers(titled(title, "average precision"), "AP", numbers)
    if lists := report.get("lists"):
        yield from _gate_lists(title, lists, rates)


def _gate_lists(title: str, lists: Report, rates: Sequence[str]) -> Iterator[Table]:
    for name, what in (
        ("by_score", "lists, candidates with a score of at least"),
        ("by_rank", "lists, candidates up to rank"),
    ):
        if lists[name] or name == "by_rank":
            yield of_entries(titled(title, what), "", lists[name].items(), rates)
    disambiguation = lists["disambiguation"]
    numbers = [(key.replace("_", " "), n) for key, n in disambiguation["lists"].items()]
    yield _numbers(titled(title, "lists"), "lists", numbers)
    of_ranks = titled(title, "lists with a match, right up to rank")
    columns = ["lists", "accuracy_strict", "accuracy_lenient"]
    yield of_entries(of_ranks, phrase("rank"), disambiguation["ranks"].items(), columns)
    maximum = lists["maximum_recall"]
    ranks = {**maximum["ranks"], phrase("all"): maximum["all"]}
    columns = [f"max_recall_{kind}" for kind in ("strict", "lenient", "list_strict", "list_lenient")]
    columns += ["targets", "targets_with_list"]
    yield of_entries(
        titled(title, "maximum recall with candidates up to rank"), phrase("rank"), ranks.items(), columns
    )


_CATEGORIES = ("correct", "incorrect", "partial", "missed", "spurious", "possible", "actual")


def muc(title: str, report: Report) -> Iterator[Table]:
    for scheme in ("strict", "exact", "partial", "type"):
        entries = {label: schemes[scheme] for label, schemes in report["per_label"].items()}
        entries[phrase("all")] = report[scheme]
        yield of_entries(titled(title, scheme), phrase("label"), entries.items(), (*_CATEGORIES, *RATES))


def noisy(title: str, report: Report) -> Iterator[Table]:
    """Yield the tables of a report: a row per label, one for all labels, and the means over documents."""
    entries = {**report["per_label"], phrase("ALL"): report["ALL"]}
    yield of_entries(title, phrase("label"), entries.items(), ("predicted", "matched", *RATES, "gold"))
    mean = report["file_mean"]
    of_mean = titled(title, "unweighted mean over documents")
    table = of_entries(of_mean, "", [(phrase("mean"), mean)], (*RATES, "documents"))
    numbers = [mean[f"documents_with_{rate}"] for rate in RATES]
    yield table._replace(rows=[*table.rows, [phrase("documents in it"), *numbers, mean["documents"]]])


_OF_CLASSES = (
    *("mentions", "entities", "entities_in_part", "documents", "documents_exposed"),
    *("entity_recall", "mention_recall", "word_recall", "character_recall", "document_recall"),
    "document_leak_upper",
)
OF_LABELS = (
    *("mentions", "protected", "partial", "missed"),
    *("mention_recall", "word_recall", "character_recall"),
)


def masking(title: str, report: Report, betas: Sequence[float] = ()) -> Iterator[Table]:
    """Yield the tables: classes riskiest first, labels, precision with F of these betas, replacements."""
    classes = [(phrase(name) if name == "all" else name, row) for name, row in report["classes"].items()]
    yield of_recalls(titled(title, "classes"), phrase("class"), classes, _OF_CLASSES)
    yield of_recalls(titled(title, "labels"), phrase("label"), [*report["labels"].items()], OF_LABELS)
    yield from of_masks(titled(title, "what was masked"), titled(title, "further"), report, betas)


def of_masks(title: str, title_of_further: str, report: Report, betas: Sequence[float]) -> Iterator[Table]:
    """Yield the tables of a report of masking on what was masked, and on replacements, string leaks, redacted texts."""
    masked = [
        (name.replace("_", " "), Rate(value) if is_fraction(name) else value)
        for name, value in report["precision"].items()
        if value is not None or name == "word_precision"
    ]
    masked += [(f"F{beta:g}", Rate(report["f"][f"{beta:g}"])) for beta in betas]
    yield _numbers(title, "value", masked)
    further = {f"replacements, {name}": n for name, n in report["replacements"].items()}
    further["string leaks"] = report["string_leaks"]
    further |= {f"redacted, {name.replace('_', ' ')}": n for name, n in (report["redacted"] or {}).items()}
    yield _numbers(title_of_further, "number", further.items())


def of_recalls(
    title: str, first: str, entries: Collection[tuple[Cell, Report]], columns: Iterable[str]
) -> Table:
    """Return a table of classes or labels of masking, with weighted recall if it is defined."""
    is_weighted = any(row["weighted_word_recall"] is not None for _, row in entries)
    return of_entries(title, first, entries, [*columns, *["weighted_word_recall"] * is_weighted])


_TABLES: Mapping[str, Callable[[str, Report], Iterator[Table]]] = {
    "levels": levels,
    "exact": exact,
    "fair": fair,
    "partial": prf_per_label,
    "noisy": noisy,
    "gate": gate,
    "muc": muc,
    "confusion": confusion,
    "strings": prf_per_label,
    "coverage": coverage,
}
"""The function that makes the tables of each metric but `masking`."""


# Matrices

MOST_LABELS = 40
"""The greatest number of labels that a matrix shows."""


def frequencies(cells: Mapping[str, Mapping[str, int]]) -> Counter[str]:
    """Return how often each label occurs in a matrix: the sum of its row and its column.

    >>> sorted(frequencies({"A": {"A": 2, "B": 1}, "B": {}}).items())
    [('A', 5), ('B', 1)]
    """
    counts: Counter[str] = Counter(dict.fromkeys(cells, 0))
    for label, row in cells.items():
        for column, number in row.items():
            counts[label] += number
            counts[column] += number
    return counts


def most_frequent(labels: Iterable[str], often: Mapping[str, int], limit: int = MOST_LABELS) -> list[str]:
    """Return the most frequent labels, in the order in which they are given; of equally frequent ones the
    first.

    >>> most_frequent(["C", "A", "B"], {"A": 1, "B": 2, "C": 1}, limit=2)
    ['C', 'B']
    """
    listed = list(labels)
    if len(listed) <= limit:
        return listed
    places = sorted(range(len(listed)), key=lambda place: -often.get(listed[place], 0))[:limit]
    return [listed[place] for place in sorted(places)]


def how_many(shown: int, labels: int) -> str:
    """Return the end of the title of a matrix that does not show all labels.

    >>> how_many(40, 1_200), how_many(3, 3)
    (', the 40 most frequent of 1,200 labels', '')
    """
    if shown >= labels:
        return ""
    return phrase(", the {shown} most frequent of {labels} labels", shown=shown, labels=labels)
