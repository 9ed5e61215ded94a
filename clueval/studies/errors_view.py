"""How errors are shown: the verdict, the tables, and of each place its marked text and its lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from clueval.core.matching import KINDS, UNMATCHED
from clueval.core.span import NO_LABEL, SIDES, Labels
from clueval.reports.language import phrase
from clueval.reports.place import Facet, Line, Mark, MarkedText, MarkKind
from clueval.reports.table import Cell, Find, Part, Rate, Shares, Table, shown
from clueval.studies.rows import Context, SideTexts
from clueval.studies.wrong import REASONS, RIGHT, Choice, JudgedSpan, ReasonKey


def title_of(title: str, files: Sequence[str], otherwise: str) -> str:
    """Return the title of a report: as given, or of the names of files, gold's first, in the language of the context.

    >>> title_of("", ["gold.vrt", "predicted.vrt"], "Errors")
    'predicted.vrt against gold.vrt'
    """
    if title or not files:
        return title or otherwise
    gold, *others = files
    names = ", ".join(others)
    return phrase("{predicted} against {gold}", predicted=names, gold=gold) if others else gold


def store_of(kind: str, title: str, files: Sequence[str]) -> str:
    """Return the name under which the browser keeps decisions: it has the title, or the names of the files."""
    return f"{kind} {title or ': '.join(filter(None, ('Errors', ' and '.join(files))))}"


def kinds_of() -> list[MarkKind]:
    """Return the kinds of marks of both sides, in the language of the context."""
    return [MarkKind("above", "", phrase("gold")), MarkKind("below", "", phrase("predicted"))]


def facets_of(choice: Choice, metadata: Sequence[str] = ()) -> list[Facet]:
    """Return the filters of errors, in the language of the context; those by metadata come last."""
    classes = choice.classes if choice.fair is None else ()
    return [
        Facet("reason", phrase("Reason"), True, (RIGHT, *REASONS)),
        Facet("label", phrase("Label"), True),
        Facet("layer", phrase("Layer"), True),
        Facet("side", phrase("Side"), False, SIDES),
        Facet("class", phrase("Class"), False, classes),
        Facet("found", phrase("Found as")),
        Facet("document", phrase("Document")),
        *(Facet(f"metadata {name}", name) for name in metadata),
    ]


def choices_of() -> list[tuple[str, str]]:
    """Return what may be decided about a place, in the language of the context."""
    return [
        ("predicted", phrase("predicted is right")),
        ("gold", phrase("gold is right")),
        ("both", phrase("both are right")),
        ("none", phrase("neither is right")),
        ("unclear", phrase("unclear")),
    ]


FREQUENT = 20
"""The number of spans from which on a label may be called the weakest."""

Listed = Mapping[tuple[str, int, str, str], int]
"""The number of errors by sequence, side, label and reason."""


# --- the summary


class Entry(NamedTuple):
    """The rates of one layer of a sequence: in all, by label, and by label for spans that are exactly right."""

    title: str
    sequence: str
    layer: str | None
    micro: Mapping[str, Any]
    per_label: Mapping[str, Mapping[str, Any]]
    strict: Mapping[str, Mapping[str, Any]]
    is_chosen: bool = True

    @property
    def has_labels(self) -> bool:
        """Whether places have the labels of the layer; of merged layers, they have the joined label."""
        return self.layer in (None, self.sequence)


def entries_of(report: Mapping[str, Any], choice: Choice) -> Iterator[Entry]:
    """Yield the rates of each layer of each sequence, given the report of the metric of the choice."""
    for sequence, of_sequence in report.items():
        if choice.fair is not None:
            labels = {label: _of_fair(each) for label, each in of_sequence["per_label"].items()}
            title = phrase("{layer}: fair", layer=sequence)
            yield Entry(title, sequence, None, _of_fair(of_sequence["overall"]), labels, labels)
            continue
        if not choice.by_levels:
            labels = of_sequence["per_label"]
            title = phrase("{layer}: exact", layer=sequence)
            yield Entry(title, sequence, None, of_sequence["micro"], labels, labels)
            continue
        level = str(choice.at_level)
        for layer, by_level in of_sequence["labelled"].items():
            title = phrase("{layer}: level {level}", layer=layer, level=level)
            micro = of_sequence["unlabelled"][level] if choice.labelled is None else by_level[level]["micro"]
            labels, strict = by_level[level]["per_label"], by_level["1"]["per_label"]
            is_chosen = choice.labelled in (None, layer)
            yield Entry(title, sequence, layer, micro, labels, strict, is_chosen)


def _of_fair(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fair rates of an entry, with the numbers of spans and of those that are right."""
    fair, traditional = report["fair"], report["traditional"]
    return {
        **{rate: fair[rate] for rate in ("precision", "recall", "f1")},
        "gold": traditional["TP"] + traditional["FN"],
        "predicted": traditional["TP"] + traditional["FP"],
        "tp_gold": fair["TP"],
        "tp_predicted": fair["TP"],
    }


def verdict_of(report: Mapping[str, Any], listed: Listed, choice: Choice) -> str:
    """Return for each layer F1, the most frequent reason of its errors and its weakest label."""
    entries = {each.sequence: each for each in entries_of(report, choice) if each.is_chosen}
    said = (_said(each, listed) for each in entries.values())
    if len(entries) == 1:
        return next(said)
    return "; ".join(f"{sequence}: {words}" for sequence, words in zip(entries, said, strict=True))


def _said(entry: Entry, listed: Listed) -> str:
    reasons: Counter[str] = Counter()
    for (sequence, _, _, reason), number in listed.items():
        if sequence == entry.sequence:
            reasons[reason] += number
    found = phrase("F1 {f1}", f1=shown(Rate(entry.micro["f1"])))
    if reasons:
        (reason, number), total = reasons.most_common(1)[0], sum(reasons.values())
        found = phrase(
            "{found}: of {n} error {number} is {what}|{found}: of {n} errors {number} are {what}",
            found=found,
            number=number,
            n=total,
            what=_in_plural(reason),
        )
    frequent = [
        (one["f1"], label)
        for label, one in entry.per_label.items()
        if one["gold"] >= FREQUENT and one["f1"] is not None
    ]
    if len(frequent) > 1:
        f1, label = min(frequent)
        found += "; " + phrase("weakest label: {label} ({f1})", label=label, f1=shown(Rate(f1)))
    return found


def _in_plural(reason: str) -> str:
    found = {
        "label": phrase("wrong labels"),
        "boundary": phrase("boundaries"),
        "boundary+label": phrase("boundaries and labels"),
    }
    return found.get(reason) or phrase(reason)


def facts_of(documents: int, positions: int) -> list[str]:
    """Return how much was read."""
    found = [phrase("{n} document|{n} documents", n=documents)]
    return found + ([phrase("{n} position|{n} positions", n=positions)] if positions else [])


def tables_of(
    report: Mapping[str, Any], reasons: Mapping[ReasonKey, int], listed: Listed, choice: Choice
) -> Iterator[Table]:
    """Yield for each layer what is right and wrong, labels worst first; then which labels are taken for others."""
    entries = list(entries_of(report, choice))
    for entry in entries:
        yield _of_labels(entry, reasons, listed)
    for entry in entries:
        yield from _confusion(entry, reasons, listed)


def _of_labels(entry: Entry, reasons: Mapping[ReasonKey, int], listed: Listed) -> Table:
    errors: Counter[tuple[int, str]] = Counter()
    for (sequence, side, label, _), number in listed.items():
        if sequence == entry.sequence:
            errors[side, label] += number
    find = {"layer": entry.sequence}
    rows: list[list[Cell]] = []
    for side, name in enumerate(SIDES):
        micro, number = entry.micro, sum(n for (of, _), n in errors.items() if of == side)
        rates = [Rate(micro["precision"]), None] if side else [None, Rate(micro["recall"])]
        bar = _bar(entry, reasons, listed, side, list(entry.strict), {})
        both = [Rate(micro["f1"]) if side else None, micro[name], Find(number, find | {"side": name})]
        rows.append([phrase(name), bar, *rates, *both])

    def low(label: str) -> tuple[float, int, str]:
        one = entry.per_label[label]
        return 2.0 if one["f1"] is None else one["f1"], -one["gold"], label

    for label in sorted(entry.per_label, key=low):
        one, own = entry.per_label[label], find | {"label": label}
        number = sum(errors[side, label] for side in range(len(SIDES)))
        cells: list[Cell] = [Rate(one[rate]) for rate in ("precision", "recall", "f1")]
        bar = _bar(entry, reasons, listed, 0, [label], {"label": label})
        errors_cell: Cell = Find(number, own) if entry.has_labels else None
        rows.append([Find(label, own) if entry.has_labels else label, bar, *cells, one["gold"], errors_cell])
    header = ["", phrase("spans"), "P", "R", "F1", phrase("number"), phrase("errors")]
    return Table(entry.title, header, rows, is_folded=not entry.is_chosen)


def _bar(
    entry: Entry,
    reasons: Mapping[ReasonKey, int],
    listed: Listed,
    side: int,
    labels: Sequence[str],
    find: Mapping[str, str],
) -> Shares:
    """Return what is right and wrong of the spans of a side with these labels; parts list places if all are listed."""
    counts: Counter[str] = Counter()
    for key, number in reasons.items():
        if (key.sequence, key.layer, key.side) == (entry.sequence, entry.layer, side) and key.label in labels:
            counts[key.reason] += number
    right = sum(entry.strict[label][f"tp_{SIDES[side]}"] for label in labels if label in entry.strict)
    where = {"layer": entry.sequence, "side": SIDES[side], **find}
    parts = []
    for reason in REASONS:
        if reason != UNMATCHED[SIDES[1 - side]]:
            shown_places = sum(listed.get((entry.sequence, side, label, reason), 0) for label in labels)
            is_listed = shown_places == counts[reason] and entry.has_labels
            parts.append(
                Part(counts[reason], phrase(reason), {"reason": reason, **where} if is_listed else {})
            )
    return Shares([Part(int(right), phrase(RIGHT), {}), *parts])


def _confusion(entry: Entry, reasons: Mapping[ReasonKey, int], listed: Listed) -> Iterator[Table]:
    """Yield which labels gold spans were found with, where the range is right."""
    counts = {
        (key.label, key.found): number
        for key, number in reasons.items()
        if (key.sequence, key.layer, key.side) == (entry.sequence, entry.layer, 0) and key.reason == "label"
        if key.found is not None
    }
    if not counts:
        return
    names, most = sorted({found for _, found in counts}), max(counts.values())
    find = {"side": SIDES[0], "reason": "label", "layer": entry.sequence}
    rows: list[list[Cell]] = []
    for label in sorted({label for label, _ in counts}):
        shown_places = listed.get((entry.sequence, 0, label, "label"), 0)
        is_listed = entry.has_labels and shown_places == sum(counts.get((label, name), 0) for name in names)
        cells: list[Cell] = []
        for name in names:
            number = counts.get((label, name), 0)
            where = find | {"label": label, "found": name}
            cells.append(Find(number, where if is_listed else {}, number / most))
        rows.append([label, *cells])
    title = phrase("{layer}: gold label, found as", layer=entry.layer or entry.sequence)
    yield Table(title, ["", *names], rows, is_folded=True)


# --- places


def marked(group: Sequence[JudgedSpan], context: Context, texts: Sequence[SideTexts]) -> MarkedText:
    """Return the text of a place with the spans of both sides, each once; those that are errors say why."""
    notes: dict[Mark, str] = {}
    for each in group:
        for mark in context.marks(1 - each.side, each.shown):
            notes.setdefault(mark, "")
        note = f"{each.sequence} · {_where(each, texts[each.side])} · {_reason(each)}"
        notes.update(dict.fromkeys(context.marks(each.side, [each.span]), note))
    marks = (mark._replace(is_wrong=bool(note), note=note) for mark, note in notes.items())
    return MarkedText(context.text, sorted(marks), context.is_cut)


def line_of(each: JudgedSpan, texts: SideTexts, metadata: Sequence[str] = ()) -> Line:
    """Return the line of an error, with the values of `facets_of`."""
    start, end = each.span.start, each.span.end
    ids = "–".join(dict.fromkeys(filter(None, texts.ids_of(start, end))))
    line = texts.line_of(each.span)
    note = [
        _where(each, texts),
        phrase("id {ids}", ids=ids) if ids else "",
        phrase("line {line}", line=line) if line is not None else "",
        _class(each),
    ]
    label, found = each.span.label, joined(each.match.labels) or None
    values = [each.reason, label, each.sequence, each.side_name, each.kind, found, texts.own.id]
    values += [texts.metadata.get(name) for name in metadata]
    return Line(in_words(each), values, each.side, label, texts.of(each.span), " · ".join(filter(None, note)))


def _where(each: JudgedSpan, texts: SideTexts) -> str:
    unit = phrase("token") if texts.own.unit == "token" else phrase("character")
    return f"{unit} {each.span.start}–{each.span.end - 1}"


def _reason(each: JudgedSpan) -> str:
    """Return the reason of an error, and its class if that is another word."""
    reason = phrase(each.reason)
    return reason if each.kind == each.reason else f"{reason} {_class(each)}"


def _class(each: JudgedSpan) -> str:
    """Return the class in brackets, unless the reason says the same."""
    if each.kind == each.reason:
        return ""
    if each.kind in KINDS:
        text = phrase("level {level}, {name}", level=KINDS.index(each.kind) + 1, name=phrase(each.kind))
        return f"({text})"
    return f"({phrase(each.kind)})"


def in_words(each: JudgedSpan) -> str:
    """Return what is wrong with a span, in a reader's words."""
    if each.reason == "label":
        return phrase("other label")
    if each.reason not in ("boundary", "boundary+label"):
        return phrase(each.reason)
    start, end = each.span.start, each.span.end
    first = each.others[0]
    inside, around = start <= first.start and first.end <= end, first.start <= start and end <= first.end
    if each.side == 0:
        found = phrase("predicted too short") if inside else phrase("predicted too long")
        found = found if inside or around else phrase("predicted shifted")
    else:
        found = phrase("too long") if inside else phrase("too short")
        found = found if inside or around else phrase("shifted")
    if len(each.others) > 1:
        found = phrase("joins several") if each.side else phrase("cut in two")
    return found if each.reason == "boundary" else f"{found}, {phrase('other label')}"


def joined(labels: Labels) -> str:
    """Return labels as `Span.label` does."""
    return "|".join([NO_LABEL if label is None else label for label in labels.values()])
