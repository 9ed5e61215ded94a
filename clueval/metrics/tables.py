"""The reports of the metrics as tables.

Each function turns the report of one metric into tables; the metric documents the report. `of_report` makes
the tables of a whole result, with its break-downs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from clueval.metrics import METRICS, metric_named
from clueval.metrics.metric import Metric
from clueval.reports.table import (
    Cell,
    Rate,
    Table,
    cut_label,
    frequencies,
    how_many,
    labels_of,
    most_frequent,
)
from clueval.reports.table import Content as Report
from clueval.spans.match_classes import KINDS, UNMATCHED

LEVEL_NAMES = {"1": "1 exact", "2": "2 +superset", "3": "3 +tiling", "4": "4 +overlap"}


def of_report(report: Report, metrics: Iterable[Metric]) -> Iterator[Table]:
    """Yield the tables of a report made by `Result.to_dict`, in its order, for the metrics given."""
    by_name = {metric.name: metric for metric in metrics}

    def of_metrics(found: Report, where: str) -> Iterator[Table]:
        for name, sequences in found.items():
            for sequence, own in sequences.items() if name in by_name else ():
                title = f"{where}{name}, {cut_label(sequence)}"
                yield from by_name[name].tables(title, {key: own[key] for key in own if key != "depths"})
                for depth, at_depth in own.get("depths", {}).items():
                    yield from by_name[name].tables(f"{title}, depth {depth}", at_depth)

    yield from of_metrics(report["metrics"], "")
    for key, groups in report.get("by", {}).items():
        yield _overview(key, groups)
        for value, group in groups.items():
            yield from of_metrics(group["metrics"], f"{key} {cut_label(value)}: ")
    yield from of_changes(report)


def of_changes(report: Report) -> Iterator[Table]:
    """Yield the tables of means over documents, and of what was changed before counting.

    The latter are spans that have no place, and numbers of transforms.
    """
    if means := list(_document_means(report["metrics"], ())):
        header = ["micro average of", "documents", "precision", "sd", "recall", "sd", "f1", "sd"]
        yield Table("Means over documents", header, means)
    if report.get("unprojected"):
        yield _unprojected(report["unprojected"])
    prepared = report.get("prepared", {})
    if numbers := [[name, number] for name, number in prepared.items() if isinstance(number, int)]:
        yield Table("Changed before counting: gold spans with alternatives", ["", "number"], numbers)
    for name, changed in prepared.items():
        if changed and not isinstance(changed, int):
            yield Table(f"Changed before counting: {name}", ["", "number"], list(map(list, changed.items())))


def _document_means(report: Report, path: tuple[str, ...]) -> Iterator[list[Cell | Rate]]:
    for name, value in report.items():
        if name == "document_mean":
            rates = [
                _rate(each.get(rate))
                for rate in ("precision", "recall", "f1")
                for each in (value, value["sd"])
            ]
            yield [cut_label(".".join(path)), value["documents"], *rates]
        elif isinstance(value, Mapping):
            yield from _document_means(value, (*path, name))


def _rate(value: float | None) -> Cell | Rate:
    return "" if value is None else Rate(value)


def of_section(name: str, section: Report) -> Iterator[Table]:
    """Yield a table of the numbers in an observer's section; nested ones are named by their path."""

    def numbers(report: Report, path: str) -> Iterator[list[Cell | Rate]]:
        for key, value in report.items():
            if isinstance(value, Mapping):
                yield from numbers(value, f"{path}{key}/")
            elif isinstance(value, int | float):
                yield [f"{path}{key}", value]

    if rows := list(numbers(section, "")):
        yield Table(name, ["", "number"], rows)


def _unprojected(spans: Sequence[Report]) -> Table:
    """Return the table of predicted spans that alignment lost, by positions in the predicted text; or of mentions."""
    title = "Predicted spans that have no position in the gold text (each counts as wrong)"
    if "text" in spans[0]:
        mentions = [[span["document"], span["label"], cut_label(span["text"])] for span in spans]
        return Table(title, ["document", "label", "text"], mentions)
    rows = [
        [span["document"], span["label"], str(span["start"]), str(span["end_exclusive"] - 1)]
        for span in spans
    ]
    return Table(title, ["document", "label", "start", "end_inclusive"], rows)


def of_known(report: Report) -> Iterator[Table]:
    """Yield the tables of a report, for the metrics of this package in it."""
    return of_report(report, [metric_named(name) for name in report["metrics"] if name in METRICS])


def _overview(key: str, groups: Report) -> Table:
    rows = [[value, group["documents"], group["tokens"]] for value, group in groups.items()]
    return Table(f"By {key}", [key, "documents", "tokens"], rows)


def levels(title: str, report: Report) -> Iterator[Table]:
    classes = report["classes"]
    yield Table(
        f"{title}: how the spans of each side are matched",
        ["side", *KINDS[:-1], "/".join(UNMATCHED.values()), "spans"],
        [[side, *counts.values(), sum(counts.values())] for side, counts in classes.items()],
    )
    rows: list[list[Cell | Rate]] = [
        [LEVEL_NAMES[level], *_rates(prf), *_supports(prf)] for level, prf in report["unlabelled"].items()
    ]
    yield Table(f"{title}: unlabelled", ["level", *_HEADER], rows)
    for layer, by_level in report["labelled"].items():
        rows = []
        for level, averages in by_level.items():
            rows.append(
                [f"{LEVEL_NAMES[level]}, micro", *_rates(averages["micro"]), *_supports(averages["micro"])]
            )
            rows.append(
                [f"{LEVEL_NAMES[level]}, macro", *_rates(averages["macro"]), *_supports(averages["macro"])]
            )
        yield Table(f"{title}: labelled by {cut_label(layer)}", ["level", *_HEADER], rows)
        yield _recall_and_precision_per_label(f"{title}: labels of {cut_label(layer)}", by_level)


def _recall_and_precision_per_label(title: str, by_level: Report) -> Table:
    """Return a table with one row per label: precision and recall at every level, and the supports."""
    header = ["label", *(f"P{n}" for n in by_level), *(f"R{n}" for n in by_level), "gold", "predicted"]
    rows: list[list[Cell | Rate]] = []
    for label, first in by_level["1"]["per_label"].items():
        entries = [by_level[level]["per_label"][label] for level in by_level]
        rates = [Rate(entry[what]) for what in ("precision", "recall") for entry in entries]
        rows.append([label, *rates, first["gold"], first["predicted"]])
    return Table(title, header, rows)


def prf_per_label(title: str, report: Report) -> Iterator[Table]:
    """Yield the PRF entries per label, then their averages; further F-betas come after f1."""
    averages = [(name, report[name]) for name in ("micro", "macro", "weighted") if name in report]
    further = [name for name in report["micro"] if name.startswith("f") and name not in ("f1", "fn", "fp")]
    rows: list[list[Cell | Rate]] = [
        [name, *_rates(prf), *(Rate(prf[beta]) for beta in further), *_supports(prf)]
        for name, prf in (*report["per_label"].items(), *averages)
    ]
    yield Table(title, ["label", *_HEADER[:3], *further, *_HEADER[3:]], rows)
    if "glued" in report:
        yield Table(f"{title}: glued to another", ["side", "spans"], list(map(list, report["glued"].items())))


def exact(title: str, report: Report) -> Iterator[Table]:
    yield from prf_per_label(title, report)
    yield Table(f"{title}: tokens", ["", "accuracy"], [["token accuracy", Rate(report["token_accuracy"])]])


def fair(title: str, report: Report) -> Iterator[Table]:
    for version, columns in _FAIR_COLUMNS.items():
        rows: list[list[Cell | Rate]] = [
            [label, *(versions[version][column] for column in columns), *_rates(versions[version])]
            for label, versions in (*report["per_label"].items(), ("overall", report["overall"]))
        ]
        yield Table(f"{title}: {version}", ["label", *columns, "precision", "recall", "f1"], rows)
    yield _fair_confusion(f"{title}: errors (rows gold, columns predicted; _ is none", report["confusion"])
    counts = report["label_counts"]
    total = sum(counts.values()) or 1
    rows = [[label, n, Rate(n / total)] for label, n in counts.items()]
    yield Table(f"{title}: labels in gold", ["label", "spans", "%"], rows)


def _fair_confusion(title: str, cells: Report) -> Table:
    """Return the errors as a matrix; the row and the column of spans without a partner come last."""
    labels = [label for label in cells if label != NO_PARTNER]
    often = most_frequent(labels, frequencies(cells))
    names = [*often, NO_PARTNER]
    rows = [[gold, *(cells.get(gold, {}).get(name, 0) for name in names)] for gold in names]
    return Table(f"{title}{how_many(len(often), len(labels))})", ["gold", *names], rows)


NO_PARTNER = "_"
"""The label, in the confusion of a fair report, that stands for no span at all."""


def confusion(title: str, report: Report) -> Iterator[Table]:
    for layer, of_layer in report.items():
        for level, sides in of_layer["levels"].items():
            for side, matrix in sides.items():
                yield _confusion(f"{title}: {side} spans of {cut_label(layer)}, level {level}", side, matrix)


def _confusion(title: str, side: str, matrix: Report) -> Table:
    """Return the matrix of one side at one level; rows: its labels, columns: those of the other side."""
    found = matrix["found"]
    shown, number = labels_of(matrix, UNMATCHED[side])
    rows: list[list[Cell | Rate]] = [
        [
            own,
            *(found[own].get(label, 0) for label in shown),
            matrix["unlabelled"][own],
            matrix[UNMATCHED[side]][own],
        ]
        for own in shown
        if own in found
    ]
    header = [side, *shown, "(no label)", UNMATCHED[side]]
    return Table(f"{title}{how_many(len(shown), number)}", header, rows)


def gate(title: str, report: Report) -> Iterator[Table]:
    beta = next(key for key in report["all"] if key.startswith("f") and key.endswith("_strict"))[1:-7]
    sections = [("", report["per_type"])]
    sections += [(f", {feature}", values) for feature, values in report.get("by", {}).items()]
    for name, entries in sections:
        rows = {**entries, "macro": report["macro"]} if not name and len(entries) > 1 else dict(entries)
        if not name:
            rows = {**rows, "all": report["all"]}
        yield _gate_counts(f"{title}{name}: pairs", rows)
        yield _gate_rates(f"{title}{name}: rates", rows, beta)
    if report.get("thresholds"):
        yield _gate_rates(f"{title}: responses with a score of at least", report["thresholds"], beta)
    if "average_precision" in report:
        rows = {kind: [Rate(value)] for kind, value in report["average_precision"].items()}
        yield Table(f"{title}: average precision", ["", "AP"], [[kind, *row] for kind, row in rows.items()])
    if "pairs" in report:
        rows = {
            **{cut_label(name): own["all"] for name, own in report["pairs"].items()},
            "macro": report["pairs_macro"],
            "all": report["all"],
        }
        yield _gate_counts(f"{title}: pairs of annotation sets, pairs", rows)
        yield _gate_rates(f"{title}: pairs of annotation sets, rates", rows, beta)
    if "reference" in report:
        yield from _gate_reference(title, report["reference"], beta)
    if "lists" in report:
        yield from _gate_lists(title, report["lists"], beta)


CHANGES_SHOWN = 50
"""The number of changes against a reference that tables show; the JSON has more."""


def _gate_reference(title: str, reference: Report, beta: str) -> Iterator[Table]:
    name = f"{title}: reference {cut_label(reference['set'])!r}"
    several = len(reference["per_type"]) > 1
    entries = {**reference["per_type"], **({"macro": reference["macro"]} if several else {})}
    entries["all"] = reference["all"]
    yield _gate_counts(f"{name}, pairs", entries)
    yield _gate_rates(f"{name}, rates", entries, beta)
    tables = {**reference["contingency"]["per_type"], "all": reference["contingency"]["all"]}
    header = ["type", "both", "only reference", "only predicted", "neither", "p"]
    for kind in ("strict", "lenient"):
        yield Table(
            f"{name}, targets found by ({kind}; p of McNemar's exact test, too small if spans depend on each other)",
            header,
            [[label, *(of[kind][cell] for cell in _CONTINGENCY)] for label, of in tables.items()],
        )
    yield Table(f"{name}, changes", ["", "spans"], list(map(list, reference["change_counts"].items())))
    changes = reference["changes"]
    if changes:
        every = sum(reference["change_counts"].values())
        shown = f", the first {CHANGES_SHOWN} of {every:,}" if every > CHANGES_SHOWN else ""
        yield Table(
            f"{name}, changed spans{shown} ([-it-] {{+targets+}} [=both=])",
            ["document", "start", "end_exclusive", "label", "from", "to", "change", "context"],
            [
                [cut_label(row[column]) if column in _NAMES else row[column] for column in _CHANGE]
                for row in changes[:CHANGES_SHOWN]
            ],
        )


_CONTINGENCY = ("both", "reference_only", "response_only", "neither", "p_value")
_CHANGE = ("document", "start", "end_exclusive", "label", "before", "after", "change", "context")
_NAMES = ("document", "label")


def _gate_lists(title: str, lists: Report, beta: str) -> Iterator[Table]:
    if lists["by_score"]:
        yield _gate_rates(f"{title}: lists, candidates with a score of at least", lists["by_score"], beta)
    yield _gate_rates(f"{title}: lists, candidates up to rank", lists["by_rank"], beta)
    found = lists["disambiguation"]
    yield Table(
        f"{title}: lists", ["", "lists"], [[key.replace("_", " "), n] for key, n in found["lists"].items()]
    )
    yield Table(
        f"{title}: lists with a match, right up to rank",
        ["rank", "lists", "strict", "lenient"],
        [
            [rank, entry["lists"], Rate(entry["accuracy_strict"]), Rate(entry["accuracy_lenient"])]
            for rank, entry in found["ranks"].items()
        ],
    )
    maximum = lists["maximum_recall"]
    rates = ("max_recall_strict", "max_recall_lenient", "max_recall_list_strict", "max_recall_list_lenient")
    yield Table(
        f"{title}: maximum recall with candidates up to rank",
        ["rank", "strict", "lenient", "strict, with list", "lenient, with list", "targets", "with list"],
        [
            [rank, *(Rate(entry[name]) for name in rates), entry["targets"], entry["targets_with_list"]]
            for rank, entry in {**maximum["ranks"], "all": maximum["all"]}.items()
        ],
    )


def _gate_counts(title: str, entries: Report) -> Table:
    pairs = ("correct_strict", "correct_partial", "incorrect_strict", "incorrect_partial")
    columns = ("targets", "responses", *pairs, "true_missing_lenient", "true_spurious_lenient")
    header = [
        "type",
        "targets",
        "responses",
        "correct",
        "partial",
        "mismatch",
        "wrong",
        "missing",
        "spurious",
    ]
    return Table(
        title, header, [[name, *(entry[column] for column in columns)] for name, entry in entries.items()]
    )


def _gate_rates(title: str, entries: Report, beta: str) -> Table:
    kinds = ("strict", "lenient")
    columns = [f"{rate}_{kind}" for kind in kinds for rate in ("precision", "recall", f"f{beta}")]
    header = ["", *(f"{rate} {kind}" for kind in kinds for rate in ("P", "R", f"F{beta}"))]
    return Table(
        title,
        header,
        [[name, *(Rate(entry[column]) for column in columns)] for name, entry in entries.items()],
    )


def muc(title: str, report: Report) -> Iterator[Table]:
    columns = ("correct", "incorrect", "partial", "missed", "spurious", "possible", "actual")
    header = [*columns, "precision", "recall", "f1"]
    for scheme in ("strict", "exact", "partial", "type"):
        entries = {**{label: of[scheme] for label, of in report["per_label"].items()}, "all": report[scheme]}
        rows = [[name, *(entry[c] for c in columns), *_rates(entry)] for name, entry in entries.items()]
        yield Table(f"{title}: {scheme}", ["label", *header], rows)


def noisy(title: str, report: Report) -> Iterator[Table]:
    """Yield the tables of a report: a row per label, one for all labels, and the means over documents."""
    entries = {**report["per_label"], "ALL": report["ALL"]}
    yield Table(
        title,
        ["label", "predicted", "matched", *_NOISY_RATES, "gold"],
        [
            [
                label,
                one["predicted"],
                one["matched"],
                *(Rate(one[rate]) for rate in _NOISY_RATES),
                one["gold"],
            ]
            for label, one in entries.items()
        ],
    )
    mean = report["file_mean"]
    yield Table(
        f"{title}: unweighted mean over documents",
        ["", *_NOISY_RATES, "documents"],
        [
            ["mean", *(Rate(mean[rate]) for rate in _NOISY_RATES), mean["documents"]],
            [
                "documents in it",
                *(mean[f"documents_with_{rate}"] for rate in _NOISY_RATES),
                mean["documents"],
            ],
        ],
    )


_NOISY_RATES = ("precision", "recall", "f1")


_ERRORS = ("TP", "FP", "FN", "LE", "BE", "BES", "BEL", "BEO", "LBE")
_FAIR_COLUMNS = {"traditional": ("TP", "FP", "FN"), "fair": _ERRORS, "weighted": _ERRORS}

_HEADER = ["precision", "recall", "f1", "gold", "found", "predicted", "correct"]


def _rates(prf: Report) -> list[Rate]:
    return [Rate(prf["precision"]), Rate(prf["recall"]), Rate(prf["f1"])]


def _supports(prf: Report) -> list[float]:
    """Return the numbers of gold spans, found gold spans, predicted spans and correct predicted spans."""
    return [prf["gold"], prf["tp_gold"], prf["predicted"], prf["tp_predicted"]]
