"""The reports of the metrics as tables.

Each function turns the report of one metric into tables; the metric documents the report. `of_report` makes
the tables of a whole result, with its break-downs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from clueval.first.metrics import METRICS, metric_named
from clueval.first.metrics.metric import Metric
from clueval.reports.language import phrase
from clueval.reports.table import (
    Cell,
    Rate,
    Table,
    cut_label,
    frequencies,
    how_many,
    labels_of,
    most_frequent,
    rate_difference,
    with_sign,
)
from clueval.reports.table import Content as Report
from clueval.spans.match_classes import KINDS, UNMATCHED

LEVEL_NAMES = {"1": "1 exact", "2": "2 +superset", "3": "3 +tiling", "4": "4 +overlap"}


def of_report(report: Report, metrics: Iterable[Metric], *, first: bool = False) -> Iterator[Table]:
    """Yield the tables of a report made by `Result.to_dict`, in its order, for the metrics given; or the `first`."""
    by_name = {metric.name: metric for metric in metrics}

    def of_metrics(found: Report, where: str) -> Iterator[Table]:
        for name, sequences in found.items():
            for sequence, own in sequences.items() if name in by_name else ():
                title = f"{where}{name}, {cut_label(sequence)}"
                found_tables = by_name[name].tables(title, {key: own[key] for key in own if key != "depths"})
                yield from islice(found_tables, 1 if first else None)
                for depth, at_depth in own.get("depths", {}).items():
                    at = phrase("{title}, depth {depth}", title=title, depth=depth)
                    yield from by_name[name].tables(at, at_depth)

    yield from of_metrics(report["metrics"], "")
    for key, groups in report.get("by", {}).items():
        yield _overview(key, groups)
        for value, group in groups.items():
            yield from of_metrics(group["metrics"], f"{key} {cut_label(value)}: ")
    yield from of_changes(report)


def of_changes(report: Report) -> Iterator[Table]:
    """Yield the tables of what was changed before counting: spans without a place, and numbers of transforms."""
    if report.get("unprojected"):
        yield _unprojected(report["unprojected"])
    prepared = report.get("prepared", {})
    if numbers := [[name, number] for name, number in prepared.items() if isinstance(number, int)]:
        title = phrase("Changed before counting: gold spans with alternatives")
        yield Table(title, named(["", "number"]), [[phrase(str(name)), number] for name, number in numbers])
    for name, changed in prepared.items():
        if changed and not isinstance(changed, int):
            title = phrase("Changed before counting: {what}", what=phrase(name))
            rows: list[list[Cell | Rate]] = [[phrase(what), number] for what, number in changed.items()]
            yield Table(title, named(["", "number"]), rows)


def of_section(name: str, section: Report) -> Iterator[Table]:
    """Yield a table of the numbers in an observer's section; nested ones are named by their path."""

    def numbers(report: Report, path: str) -> Iterator[list[Cell | Rate]]:
        for key, value in report.items():
            if isinstance(value, Mapping):
                yield from numbers(value, f"{path}{key}/")
            elif isinstance(value, int | float):
                yield [f"{path}{key}", value]

    if rows := list(numbers(section, "")):
        yield Table(name, named(["", "number"]), rows)


def _unprojected(spans: Sequence[Report]) -> Table:
    """Return the table of predicted spans that alignment lost, by positions in the predicted text; or of mentions."""
    title = phrase("Predicted spans that have no position in the gold text (each counts as wrong)")
    if "text" in spans[0]:
        mentions = [[span["document"], span["label"], cut_label(span["text"])] for span in spans]
        return Table(title, named(["document", "label", "text"]), mentions)
    rows = [
        [span["document"], span["label"], str(span["start"]), str(span["end_exclusive"] - 1)]
        for span in spans
    ]
    return Table(title, named(["document", "label", "start", "end_inclusive"]), rows)


def of_known(report: Report) -> Iterator[Table]:
    """Yield the tables of a report, for the metrics of this package in it."""
    return of_report(report, [metric_named(name) for name in report["metrics"] if name in METRICS])


def _overview(key: str, groups: Report) -> Table:
    rows = [[value, group["documents"], group["tokens"]] for value, group in groups.items()]
    return Table(phrase("By {key}", key=key), [key, *named(["documents", "tokens"])], rows)


def _entries(
    title: str,
    first: str,
    entries: Iterable[tuple[str, Report]],
    numbers: Mapping[str, str],
    rates: Mapping[str, str],
    last: Mapping[str, str] = {},
) -> Table:
    """Return a table of entries by name: numbers, then rates, then more numbers, each with its key by its header."""
    rows: list[list[Cell | Rate]] = [
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
        of_layer = phrase("{title}: labels of {layer}", title=title, layer=cut_label(layer))
        yield _recall_and_precision_per_label(of_layer, by_level)


def labelled_by(title: str, layer: str) -> str:
    """Return the title of the table of metric ``levels`` about the labels of a layer."""
    return phrase("{title}: labelled by {layer}", title=title, layer=cut_label(layer))


def _recall_and_precision_per_label(title: str, by_level: Report) -> Table:
    """Return a table with one row per label: precision and recall at every level, and the supports."""
    rates = [f"{rate}{level}" for rate in "PR" for level in by_level]
    header = named(["label", *rates, "gold", "predicted"])
    rows: list[list[Cell | Rate]] = []
    for label, first in by_level["1"]["per_label"].items():
        entries = [by_level[level]["per_label"][label] for level in by_level]
        shown = [Rate(entry[what]) for what in ("precision", "recall") for entry in entries]
        rows.append([label, *shown, first["gold"], first["predicted"]])
    return Table(title, header, rows)


def prf_per_label(title: str, report: Report) -> Iterator[Table]:
    """Yield the PRF entries per label, then their averages; further F-betas come after f1."""
    averages = [(phrase(name), report[name]) for name in ("micro", "macro", "weighted") if name in report]
    further = [name for name in report["micro"] if name.startswith("f") and name not in ("f1", "fn", "fp")]
    entries = (*report["per_label"].items(), *averages)
    yield _entries(title, "label", entries, {}, _RATES | _same(*further), _SUPPORTS)
    if "glued" in report:
        rows: list[list[Cell | Rate]] = [[phrase(side), number] for side, number in report["glued"].items()]
        yield Table(titled(title, "glued to another"), named(["side", "spans"]), rows)


def exact(title: str, report: Report) -> Iterator[Table]:
    yield from prf_per_label(title, report)
    accuracy: list[list[Cell | Rate]] = [[phrase("token accuracy"), Rate(report["token_accuracy"])]]
    yield Table(titled(title, "tokens"), named(["", "accuracy"]), accuracy)


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
                shown = phrase(what, title=title, layer=cut_label(layer), level=level)
                yield _confusion(shown, side, matrix)


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
    if "pairs" in report:
        rows = {
            **{cut_label(name): own["all"] for name, own in report["pairs"].items()},
            phrase("macro"): report["pairs_macro"],
            phrase("all"): report["all"],
        }
        yield _gate_counts(titled(title, "pairs of annotation sets, pairs"), rows)
        yield _gate_rates(titled(title, "pairs of annotation sets, rates"), rows, beta)
    if "reference" in report:
        yield from _gate_reference(title, report, beta)
    if "lists" in report:
        yield from _gate_lists(title, report["lists"], beta)


CHANGES_SHOWN = 50
"""The number of changes against a reference that tables show; the JSON has more."""


def first_of(shown: int, whole: int) -> str:
    """Return the end of the title of a table that does not show all rows."""
    return phrase(", the first {shown} of {whole}", shown=shown, whole=whole)


def _gate_reference(title: str, report: Report, beta: str) -> Iterator[Table]:
    reference = report["reference"]
    name = phrase("{title}: reference {set}", title=title, set=repr(cut_label(reference["set"])))
    several = len(reference["per_type"]) > 1
    entries = {**reference["per_type"], **({phrase("macro"): reference["macro"]} if several else {})}
    entries[phrase("all")] = reference["all"]
    yield _gate_counts(f"{name}, {phrase('pairs')}", entries)
    yield _gate_rates(f"{name}, {phrase('rates')}", entries, beta)
    yield from _gate_differences(name, report, beta)
    tables = {**reference["contingency"]["per_type"], phrase("all"): reference["contingency"]["all"]}
    header = ["type", "both", "only reference", "only predicted", "neither", "p"]
    for kind in ("strict", "lenient"):
        yield Table(
            phrase(
                "{name}, targets found by ({kind}; p of McNemar's exact test, too small if spans depend on each other)",
                name=name,
                kind=phrase(kind),
            ),
            named(header),
            [[label, *(of[kind][cell] for cell in _CONTINGENCY)] for label, of in tables.items()],
        )
    counts = list(map(list, reference["change_counts"].items()))
    yield Table(f"{name}, {phrase('changes')}", named(["", "spans"]), counts)
    changes = reference["changes"]
    if changes:
        every = sum(reference["change_counts"].values())
        shown = first_of(CHANGES_SHOWN, every) if every > CHANGES_SHOWN else ""
        yield Table(
            f"{name}, {phrase('changed spans')}{shown} ([-it-] {{+other side+}} [=both=])",
            named(["document", "start", "end_exclusive", "label", "from", "to", "change", "context"]),
            [
                [cut_label(row[column]) if column in _NAMES else row[column] for column in _CHANGE]
                for row in changes[:CHANGES_SHOWN]
            ],
        )


def _gate_differences(name: str, report: Report, beta: str) -> Iterator[Table]:
    """Yield what predicted has more or less than the reference: of each count, and of the rates that both show."""
    reference, every = report["reference"], phrase("all")
    numbers = {**reference["differences"]["per_type"], every: reference["differences"]["all"]}
    columns = _GATE_COUNTS
    yield Table(
        f"{name}, {phrase('pairs, predicted less reference')}",
        named(["type", *columns]),
        [[label, *(with_sign(own[key]) for key in columns.values())] for label, own in numbers.items()],
    )
    sides = [{**side["per_type"], every: side["all"]} for side in (report, reference)]
    if len(reference["differences"]["per_type"]) > 1:
        sides = [
            {**side, phrase("macro"): own["macro"]}
            for side, own in zip(sides, (report, reference), strict=True)
        ]
    rates = _gate_rate_columns(beta)
    yield Table(
        f"{name}, {phrase('rates, predicted less reference (percentage points)')}",
        named(["", *rates]),
        [
            [label, *(rate_difference(own[key], sides[1][label][key]) for key in rates.values())]
            for label, own in sides[0].items()
            if label in sides[1]
        ],
    )


_CONTINGENCY = ("both", "reference_only", "response_only", "neither", "p_value")
_CHANGE = ("document", "start", "end_exclusive", "label", "before", "after", "change", "context")
_NAMES = ("document", "label")


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


_ERRORS = ("TP", "FP", "FN", "LE", "BE", "BES", "BEL", "BEO", "LBE")
_FAIR_COLUMNS = {"traditional": ("TP", "FP", "FN"), "fair": _ERRORS, "weighted": _ERRORS}
