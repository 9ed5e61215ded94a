"""Tables of a result: those of the metrics' reports, break-downs, and what was changed before counting.

Each metric documents its report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from clueval.core.matching import KINDS, UNMATCHED
from clueval.core.metric import AnyMetric
from clueval.reports.language import phrase
from clueval.reports.table import Cell, Rate, Table, cut

Report = Mapping[str, Any]


def of_report(report: Report, metrics: Iterable[AnyMetric], *, first: bool = False) -> Iterator[Table]:
    """Yield the tables of a report made by `Result.to_dict`, in its order, for the metrics given; or the `first`."""
    by_name = {metric.name: metric for metric in metrics}

    def of_metrics(found: Report, where: str) -> Iterator[Table]:
        for name, sequences in found.items():
            for sequence, own in sequences.items() if name in by_name else ():
                title = f"{where}{name}, {cut(sequence)}"
                yield from islice(tables_of(by_name[name], title, own), 1 if first else None)

    yield from of_metrics(report["metrics"], "")
    for key, groups in report.get("by", {}).items():
        yield _overview(key, groups)
        for value, group in groups.items():
            yield from of_metrics(group["metrics"], f"{key} {cut(value)}: ")
    yield from of_changes(report)


def of_changes(report: Report) -> Iterator[Table]:
    """Yield the tables of what was changed before counting: spans that have no place, and numbers of steps."""
    if report.get("unprojected"):
        yield _unprojected(report["unprojected"])
    prepared = report.get("prepared", {})
    if numbers := [[name, number] for name, number in prepared.items() if isinstance(number, int)]:
        title = phrase("Changed before counting: gold spans with alternatives")
        yield Table(title, named(["", "number"]), [[phrase(str(name)), number] for name, number in numbers])
    for name, changed in prepared.items():
        if changed and not isinstance(changed, int):
            title = phrase("Changed before counting: {what}", what=phrase(name))
            rows: list[list[Cell]] = [[phrase(what), number] for what, number in changed.items()]
            yield Table(title, named(["", "number"]), rows)


def _unprojected(spans: Sequence[Report]) -> Table:
    """Return the table of predicted spans that alignment lost, by positions in the predicted text; or of mentions."""
    title = phrase("Predicted spans that have no position in the gold text (each counts as wrong)")
    if "text" in spans[0]:
        mentions = [[span["document"], span["label"], cut(span["text"])] for span in spans]
        return Table(title, named(["document", "label", "text"]), mentions)
    rows = [
        [span["document"], span["label"], str(span["start"]), str(span["end_exclusive"] - 1)]
        for span in spans
    ]
    return Table(title, named(["document", "label", "start", "end_inclusive"]), rows)


def _overview(key: str, groups: Report) -> Table:
    rows = [[value, group["documents"], group["tokens"]] for value, group in groups.items()]
    return Table(phrase("By {key}", key=key), [key, *named(["documents", "tokens"])], rows)


# Metrics


def tables_of(metric: AnyMetric, title: str, report: Report) -> Iterator[Table]:
    """Yield the tables of a report; each title begins with `title`.

    A metric that is not one of `clueval.metrics.METRICS` has a method `tables` for them, with the same
    arguments.
    """
    own = getattr(metric, "tables", None)
    if own is not None:
        yield from own(title, report)
    elif metric.name == "masking":
        yield from masking(title, report, getattr(metric, "beta", ()))
    elif metric.name in _TABLES:
        yield from _TABLES[metric.name](title, report)


# Tables in general


def _entries(
    title: str,
    first: str,
    entries: Iterable[tuple[str, Report]],
    numbers: Mapping[str, str],
    rates: Mapping[str, str],
    last: Mapping[str, str] = {},
) -> Table:
    """Return a table of entries by name: numbers, then rates, then more numbers, each with its key by its header."""
    rows: list[list[Cell]] = [
        [
            name,
            *(entry[key] for key in numbers.values()),
            *(Rate(entry[key]) for key in rates.values()),
            *(entry[key] for key in last.values()),
        ]
        for name, entry in entries
    ]
    return Table(title, named([first, *numbers, *rates, *last]), rows)


def named(names: Iterable[str]) -> list[str]:
    """Return names of columns or rows in the language of the report."""
    return [phrase(name) for name in names]


def titled(title: str, what: str) -> str:
    """Return the title of a table of a metric: what it shows comes last, in the language of the report."""
    return f"{title}: {phrase(what)}"


def _same(*names: str) -> dict[str, str]:
    """Return columns whose headers are their keys."""
    return dict(zip(names, names, strict=True))


_RATES = _same("precision", "recall", "f1")
_SUPPORTS = {"gold": "gold", "found": "tp_gold", "predicted": "predicted", "correct": "tp_predicted"}


def prf_per_label(title: str, report: Report) -> Iterator[Table]:
    """Yield the PRF entries per label, then their averages; further F-betas come after f1."""
    averages = [(phrase(name), report[name]) for name in ("micro", "macro", "weighted") if name in report]
    further = [name for name in report["micro"] if name.startswith("f") and name not in ("f1", "fn", "fp")]
    entries = (*report["per_label"].items(), *averages)
    yield _entries(title, "label", entries, {}, _RATES | _same(*further), _SUPPORTS)
    if "glued" in report:
        rows: list[list[Cell]] = [[phrase(side), number] for side, number in report["glued"].items()]
        yield Table(titled(title, "glued to another"), named(["side", "spans"]), rows)


# Metrics

LEVEL_NAMES = {"1": "1 exact", "2": "2 +superset", "3": "3 +tiling", "4": "4 +overlap"}


def levels(title: str, report: Report) -> Iterator[Table]:
    classes = report["classes"]
    yield Table(
        titled(title, "how the spans of each side are matched"),
        [*named(["side", *KINDS[:-1]]), "/".join(named(UNMATCHED.values())), phrase("spans")],
        [[phrase(side), *counts.values(), sum(counts.values())] for side, counts in classes.items()],
    )
    unlabelled = {phrase(LEVEL_NAMES[level]): prf for level, prf in report["unlabelled"].items()}
    yield _entries(titled(title, "unlabelled"), "level", unlabelled.items(), {}, _RATES, _SUPPORTS)
    for layer, by_level in report["labelled"].items():
        averages = {
            f"{phrase(LEVEL_NAMES[level])}, {phrase(average)}": found[average]
            for level, found in by_level.items()
            for average in ("micro", "macro")
        }
        by_layer = labelled_by(title, layer)
        yield _entries(by_layer, "level", averages.items(), {}, _RATES, _SUPPORTS)
        of_layer = phrase("{title}: labels of {layer}", title=title, layer=cut(layer))
        yield _recall_and_precision_per_label(of_layer, by_level)


def labelled_by(title: str, layer: str) -> str:
    """Return the title of the table of metric ``levels`` about the labels of a layer."""
    return phrase("{title}: labelled by {layer}", title=title, layer=cut(layer))


def _recall_and_precision_per_label(title: str, by_level: Report) -> Table:
    """Return a table with one row per label: precision and recall at every level, and the supports."""
    rates = [f"{rate}{level}" for rate in "PR" for level in by_level]
    header = named(["label", *rates, "gold", "predicted"])
    rows: list[list[Cell]] = []
    for label, first in by_level["1"]["per_label"].items():
        entries = [by_level[level]["per_label"][label] for level in by_level]
        shown = [Rate(entry[what]) for what in ("precision", "recall") for entry in entries]
        rows.append([label, *shown, first["gold"], first["predicted"]])
    return Table(title, header, rows)


def exact(title: str, report: Report) -> Iterator[Table]:
    yield from prf_per_label(title, report)
    accuracy: list[list[Cell]] = [[phrase("token accuracy"), Rate(report["token_accuracy"])]]
    yield Table(titled(title, "tokens"), named(["", "accuracy"]), accuracy)


def coverage(title: str, report: Report) -> Iterator[Table]:
    for kind, own in report.items():
        if isinstance(own, Mapping):  # not a curve
            yield from prf_per_label(f"{title}, {kind}", own)


_ERRORS = ("TP", "FP", "FN", "LE", "BE", "BES", "BEL", "BEO", "LBE")
_FAIR_COLUMNS = {"traditional": ("TP", "FP", "FN"), "fair": _ERRORS, "weighted": _ERRORS}


def fair(title: str, report: Report) -> Iterator[Table]:
    for version, columns in _FAIR_COLUMNS.items():
        found = (*report["per_label"].items(), (phrase("overall"), report["overall"]))
        entries = [(label, versions[version]) for label, versions in found]
        yield _entries(titled(title, version), "label", entries, _same(*columns), _RATES)
    errors = titled(title, "errors (rows gold, columns predicted; _ is none")
    yield _fair_confusion(errors, report["confusion"])
    counts = report["label_counts"]
    total = sum(counts.values()) or 1
    rows = [[label, n, Rate(n / total)] for label, n in counts.items()]
    yield Table(titled(title, "labels in gold"), named(["label", "spans", "%"]), rows)


def _fair_confusion(title: str, cells: Report) -> Table:
    """Return the errors as a matrix; the row and the column of spans without a partner come last."""
    labels = [label for label in cells if label != NO_PARTNER]
    often = most_frequent(labels, frequencies(cells))
    names = [*often, NO_PARTNER]
    rows = [[gold, *(cells.get(gold, {}).get(name, 0) for name in names)] for gold in names]
    return Table(f"{title}{how_many(len(often), len(labels))})", [phrase("gold"), *names], rows)


NO_PARTNER = "_"
"""The label, in the confusion of a fair report, that stands for no span at all."""


def confusion(title: str, report: Report) -> Iterator[Table]:
    for layer, of_layer in report.items():
        for level, sides in of_layer["levels"].items():
            for side, matrix in sides.items():
                what = "{title}: gold spans of {layer}, level {level}"
                if side == "predicted":
                    what = "{title}: predicted spans of {layer}, level {level}"
                shown = phrase(what, title=title, layer=cut(layer), level=level)
                yield _confusion(shown, side, matrix)


def _confusion(title: str, side: str, matrix: Report) -> Table:
    """Return the matrix of one side at one level; rows: its labels, columns: those of the other side."""
    found = matrix["found"]
    shown, number = labels_of(matrix, UNMATCHED[side])
    rows: list[list[Cell]] = [
        [
            own,
            *(found[own].get(label, 0) for label in shown),
            matrix["unlabelled"][own],
            matrix[UNMATCHED[side]][own],
        ]
        for own in shown
        if own in found
    ]
    header = [phrase(side), *shown, *named(["(no label)", UNMATCHED[side]])]
    return Table(f"{title}{how_many(len(shown), number)}", header, rows)


def gate(title: str, report: Report) -> Iterator[Table]:
    beta = next(key for key in report["all"] if key.startswith("f") and key.endswith("_strict"))[1:-7]
    sections = [("", report["per_type"])]
    sections += [(f", {feature}", values) for feature, values in report.get("by", {}).items()]
    for name, entries in sections:
        rows = dict(entries)
        if not name:
            several = {phrase("macro"): report["macro"]} if len(entries) > 1 else {}
            rows = {**rows, **several, phrase("all"): report["all"]}
        yield _gate_counts(titled(f"{title}{name}", "pairs"), rows)
        yield _gate_rates(titled(f"{title}{name}", "rates"), rows, beta)
    if report.get("thresholds"):
        yield _gate_rates(titled(title, "responses with a score of at least"), report["thresholds"], beta)
    if "average_precision" in report:
        rows = {kind: [Rate(value)] for kind, value in report["average_precision"].items()}
        averages = [[phrase(kind), *row] for kind, row in rows.items()]
        yield Table(titled(title, "average precision"), ["", "AP"], averages)
    if "lists" in report:
        yield from _gate_lists(title, report["lists"], beta)


def _gate_lists(title: str, lists: Report, beta: str) -> Iterator[Table]:
    if lists["by_score"]:
        yield _gate_rates(
            titled(title, "lists, candidates with a score of at least"), lists["by_score"], beta
        )
    yield _gate_rates(titled(title, "lists, candidates up to rank"), lists["by_rank"], beta)
    found = lists["disambiguation"]
    numbers = [[phrase(key.replace("_", " ")), n] for key, n in found["lists"].items()]
    yield Table(titled(title, "lists"), named(["", "lists"]), numbers)
    rates = {"strict": "accuracy_strict", "lenient": "accuracy_lenient"}
    yield _entries(
        titled(title, "lists with a match, right up to rank"),
        "rank",
        found["ranks"].items(),
        _same("lists"),
        rates,
    )
    maximum = lists["maximum_recall"]
    yield _entries(
        titled(title, "maximum recall with candidates up to rank"),
        "rank",
        {**maximum["ranks"], phrase("all"): maximum["all"]}.items(),
        {},
        {
            "strict": "max_recall_strict",
            "lenient": "max_recall_lenient",
            "strict, with list": "max_recall_list_strict",
            "lenient, with list": "max_recall_list_lenient",
        },
        {"targets": "targets", "with list": "targets_with_list"},
    )


_GATE_COUNTS = {
    **_same("targets", "responses"),
    "correct": "correct_strict",
    "partial": "correct_partial",
    "mismatch": "incorrect_strict",
    "wrong": "incorrect_partial",
    "missing": "true_missing_lenient",
    "spurious": "true_spurious_lenient",
}


def _gate_counts(title: str, entries: Report) -> Table:
    return _entries(title, "type", entries.items(), _GATE_COUNTS, {})


def _gate_rates(title: str, entries: Report, beta: str) -> Table:
    return _entries(title, "", entries.items(), {}, _gate_rate_columns(beta))


def _gate_rate_columns(beta: str) -> dict[str, str]:
    rates = {"P": "precision", "R": "recall", f"F{beta}": f"f{beta}"}
    return {
        f"{short} {phrase(kind)}": f"{rate}_{kind}"
        for kind in ("strict", "lenient")
        for short, rate in rates.items()
    }


def muc(title: str, report: Report) -> Iterator[Table]:
    numbers = _same("correct", "incorrect", "partial", "missed", "spurious", "possible", "actual")
    for scheme in ("strict", "exact", "partial", "type"):
        entries = {label: of[scheme] for label, of in report["per_label"].items()}
        entries[phrase("all")] = report[scheme]
        yield _entries(titled(title, scheme), "label", entries.items(), numbers, _RATES)


def noisy(title: str, report: Report) -> Iterator[Table]:
    """Yield the tables of a report: a row per label, one for all labels, and the means over documents."""
    entries = {**report["per_label"], phrase("ALL"): report["ALL"]}
    yield _entries(title, "label", entries.items(), _same("predicted", "matched"), _RATES, _same("gold"))
    mean = report["file_mean"]
    found = _entries("", "", [(phrase("mean"), mean)], {}, _RATES, _same("documents"))
    documents = [
        phrase("documents in it"),
        *(mean[f"documents_with_{rate}"] for rate in _RATES),
        mean["documents"],
    ]
    yield Table(titled(title, "unweighted mean over documents"), found.header, [*found.rows, documents])


_OF_CLASSES = (
    ("mentions", "entities", "entities_in_part", "documents", "documents_exposed"),
    (
        "entity_recall",
        "mention_recall",
        "word_recall",
        "character_recall",
        "document_recall",
        "document_leak_upper",
    ),
)
_OF_LABELS = (
    ("mentions", "protected", "partial", "missed"),
    ("mention_recall", "word_recall", "character_recall"),
)


def masking(title: str, report: Report, betas: Sequence[float] = ()) -> Iterator[Table]:
    """Yield the tables: classes riskiest first, labels, precision with F of these betas, replacements."""
    classes = {phrase(name) if name == "all" else name: row for name, row in report["classes"].items()}
    yield _recalls(titled(title, "classes"), "class", classes, *_OF_CLASSES)
    yield _recalls(titled(title, "labels"), "label", report["labels"], *_OF_LABELS)
    precision = report["precision"]
    rates = ("word_precision", "weighted_word_precision", "masked_share", "retention")
    rows: list[list[Cell]] = [
        [phrase(name.replace("_", " ")), Rate(value) if name in rates else value]
        for name, value in precision.items()
        if value is not None or name == "word_precision"
    ]
    rows += [[f"F{beta:g}", Rate(report["f"][f"{beta:g}"])] for beta in betas]
    yield Table(titled(title, "what was masked"), ["", phrase("value")], rows)
    other = {f"replacements, {name}": n for name, n in report["replacements"].items()}
    other["string leaks"] = report["string_leaks"]
    other |= {f"redacted, {name.replace('_', ' ')}": n for name, n in (report["redacted"] or {}).items()}
    numbers = [[phrase(name), n] for name, n in other.items()]
    yield Table(titled(title, "further"), ["", phrase("number")], numbers)


def _recalls(title: str, first: str, rows: Report, counts: Sequence[str], rates: Sequence[str]) -> Table:
    weighted = any(row["weighted_word_recall"] is not None for row in rows.values())
    rates = (*rates, "weighted_word_recall") if weighted else rates
    entries = ((cut(name), row) for name, row in rows.items())
    return _entries(title, first, entries, _words(counts), _words(rates))


def _words(names: Sequence[str]) -> dict[str, str]:
    """Return columns whose headers are their keys in words."""
    return {name.replace("_", " "): name for name in names}


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
    found: Counter[str] = Counter(dict.fromkeys(cells, 0))
    for label, row in cells.items():
        for other, number in row.items():
            found[label] += number
            found[other] += number
    return found


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


def labels_of(matrix: Mapping[str, Any], unmatched: str) -> tuple[list[str], int]:
    """Return the labels that a matrix shows, in their order, and the number of all its labels.

    `matrix` has cells under ``found``; spans without a partner or label are under `unmatched` and
    ``unlabelled``.
    """
    often = frequencies(matrix["found"])
    labels = sorted(often)
    for column in ("unlabelled", unmatched):
        often.update(matrix[column])
    return most_frequent(labels, often), len(labels)
