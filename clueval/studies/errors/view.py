"""How errors are shown: the verdict, the tables, and of each place its marked text and its lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from clueval.core.levels import KINDS, UNMATCHED
from clueval.core.metric import RATES
from clueval.core.span import NO_LABEL, SIDES, Span, shared_positions
from clueval.reports.language import current_language, numeral, phrase
from clueval.reports.place import Facet, Line, Mark, MarkedText, positions
from clueval.reports.table import Cell, Find, Part, Rate, Shares, Table, difference, shown
from clueval.results.rows import rows_of
from clueval.studies.errors.rows import Context, SideTexts
from clueval.studies.errors.search import REASONS, RIGHT, Choice, JudgedSpan, ReasonKey

FREQUENT = 20
"""The number of spans from which on a label may be called the weakest."""

RIGHT_OR_REASON = (RIGHT, *REASONS[:-1])
"""What may be said of a gold span."""

Listed = Mapping[tuple[str, int, str, str], int]
"""The number of errors by sequence, side, label and reason."""


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


def facets_of(choice: Choice, metadata: Sequence[str]) -> list[Facet]:
    """Return the filters of errors, in the language of the context; those by metadata come last."""
    return [
        Facet("reason", phrase("Reason"), True, (RIGHT, *REASONS)),
        Facet("label", phrase("Label"), True),
        Facet("layer", phrase("Layer"), True),
        Facet("side", phrase("Side"), False, SIDES),
        Facet("class", phrase("Class"), False, choice.classes if choice.fair is None else ()),
        Facet("found", phrase("Found as")),
        Facet("document", phrase("Document")),
        *(Facet(f"metadata {name}", name) for name in metadata),
    ]


# --- the summary of one system


class Entry(NamedTuple):
    """The rates of one layer of a sequence: in all, by label, and by label for spans that are exactly right.

    `has_labels` says whether places have the labels of the layer; those of merged layers have the joined label.
    """

    title: str
    sequence: str
    layer: str | None
    micro: Mapping[str, Any]
    per_label: Mapping[str, Mapping[str, Any]]
    strict: Mapping[str, Mapping[str, Any]]
    is_chosen: bool = True

    @property
    def has_labels(self) -> bool:
        return self.layer in (None, self.sequence)


def entries_of(report: Mapping[str, Any], choice: Choice) -> Iterator[Entry]:
    """Yield the rates of each layer of each sequence, given the report of the metric of the choice."""
    for sequence, of_sequence in report.items():
        if choice.fair is not None:
            rows = [
                row for _, row in rows_of({"sequence": sequence}, of_sequence) if row["section"] == "fair"
            ]
            (micro,) = (row for row in rows if row["label"] is None)
            labels = {row["label"]: row for row in rows if row["label"] is not None}
            yield Entry(phrase("{layer}: fair", layer=sequence), sequence, None, micro, labels, labels)
        elif not choice.by_levels:
            labels = of_sequence["per_label"]
            title = phrase("{layer}: exact", layer=sequence)
            yield Entry(title, sequence, None, of_sequence["micro"], labels, labels)
        else:
            level = str(choice.at_level)
            for layer, by_level in of_sequence["labelled"].items():
                at_level, strict = by_level[level], by_level["1"]["per_label"]
                micro = of_sequence["unlabelled"][level] if choice.labelled is None else at_level["micro"]
                title = phrase("{layer}: level {level}", layer=layer, level=level)
                is_chosen = choice.labelled in (None, layer)
                yield Entry(title, sequence, layer, micro, at_level["per_label"], strict, is_chosen)


def verdict_of(report: Mapping[str, Any], listed: Listed, choice: Choice) -> str:
    """Return for each layer F1, the most frequent reason of its errors and its weakest label."""
    entries = {entry.sequence: entry for entry in entries_of(report, choice) if entry.is_chosen}
    verdicts = {sequence: _verdict_of_layer(entry, listed) for sequence, entry in entries.items()}
    if len(verdicts) == 1:
        return next(iter(verdicts.values()))
    return "; ".join(f"{sequence}: {words}" for sequence, words in verdicts.items())


def _verdict_of_layer(entry: Entry, listed: Listed) -> str:
    verdict = phrase("F1 {f1}", f1=shown(Rate(entry.micro["f1"])))
    reasons: Counter[str] = Counter()
    for (sequence, _, _, reason), number in listed.items():
        if sequence == entry.sequence:
            reasons[reason] += number
    if reasons:
        (reason, number), total = reasons.most_common(1)[0], sum(reasons.values())
        in_plural = {
            "label": phrase("wrong labels"),
            "boundary": phrase("boundaries"),
            "boundary+label": phrase("boundaries and labels"),
        }
        verdict = phrase(
            "{found}: of {n} error {number} is {what}|{found}: of {n} errors {number} are {what}",
            found=verdict,
            number=number,
            n=total,
            what=in_plural.get(reason) or phrase(reason),
        )
    frequent = [
        (numbers["f1"], label)
        for label, numbers in entry.per_label.items()
        if numbers["gold"] + numbers["predicted"] >= FREQUENT and numbers["f1"] is not None
    ]
    if len(frequent) > 1 and min(frequent)[0] < 1:
        f1, label = min(frequent)
        verdict += "; " + phrase("weakest label: {label} ({f1})", label=label, f1=shown(Rate(f1)))
    return verdict


def tables_of(
    report: Mapping[str, Any], reasons: Mapping[ReasonKey, int], listed: Listed, choice: Choice
) -> Iterator[Table]:
    """Yield for each layer what is right and wrong, labels worst first; then which labels are taken for others."""
    entries = list(entries_of(report, choice))
    for entry in entries:
        yield _table_of_labels(entry, reasons, listed)
    for entry in entries:
        yield from _confusion(entry, reasons, listed)


def _table_of_labels(entry: Entry, reasons: Mapping[ReasonKey, int], listed: Listed) -> Table:
    wrong: Counter[tuple[int, str, str]] = Counter()
    for key, number in reasons.items():
        if (key.sequence, key.layer) == (entry.sequence, entry.layer):
            wrong[key.side, key.label, key.reason] += number
    errors: Counter[tuple[int, str | None, str | None]] = Counter()  # None: of all labels, or reasons
    for (sequence, side, label, reason), number in listed.items():
        if sequence == entry.sequence:
            errors.update(
                dict.fromkeys([(side, label, reason), (side, label, None), (side, None, None)], number)
            )

    def bar(side: int, labels: Sequence[str], **find: str) -> Shares:
        """Return what is right and wrong of spans with these labels; a part lists its places if all are listed."""
        name = SIDES[side]
        parts = [Part(int(sum(entry.strict[label][f"tp_{name}"] for label in labels)), phrase(RIGHT), {})]
        for reason in REASONS:
            if reason == UNMATCHED[SIDES[1 - side]]:
                continue
            number = sum(wrong[side, label, reason] for label in labels)
            is_listed = entry.has_labels and number == sum(errors[side, label, reason] for label in labels)
            where = {"reason": reason, "layer": entry.sequence, "side": name, **find} if is_listed else {}
            parts.append(Part(number, phrase(reason), where))
        return Shares(parts)

    find, micro = {"layer": entry.sequence}, entry.micro
    all_labels = list(entry.strict)
    recall, precision, f1 = Rate(micro["recall"]), Rate(micro["precision"]), Rate(micro["f1"])
    rates: Sequence[list[Cell]] = [[None, recall, None], [precision, None, f1]]
    rows: list[list[Cell]] = []
    for side, name in enumerate(SIDES):
        last: Cell = Find(errors[side, None, None], find | {"side": name})
        rows.append([phrase(name), bar(side, all_labels), *rates[side], micro[name], last])

    def low(label: str) -> tuple[float, int, str]:
        numbers = entry.per_label[label]
        return 2.0 if numbers["f1"] is None else numbers["f1"], -numbers["gold"], label

    for label in sorted(entry.per_label, key=low):
        numbers, find_label = entry.per_label[label], find | {"label": label}
        strict_labels = [label] if label in entry.strict else []
        cells: list[Cell] = [
            bar(0, strict_labels, label=label),
            *(Rate(numbers[rate]) for rate in RATES),
            numbers["gold"],
        ]
        if entry.has_labels:
            last = Find(errors[0, label, None] + errors[1, label, None], find_label)
            rows.append([Find(label, find_label), *cells, last])
        else:
            rows.append([label, *cells, None])
    header = ["", phrase("spans"), "P", "R", "F1", phrase("number"), phrase("errors")]
    return Table(entry.title, header, rows, is_folded=not entry.is_chosen)


def _confusion(entry: Entry, reasons: Mapping[ReasonKey, int], listed: Listed) -> Iterator[Table]:
    """Yield which labels gold spans were found with, where the range is right."""
    counts: Counter[tuple[str, str]] = Counter()
    for key, number in reasons.items():
        fits = (key.sequence, key.layer, key.side, key.reason) == (entry.sequence, entry.layer, 0, "label")
        if fits and key.match_label is not None:
            counts[key.label, key.match_label] = number
    if not counts:
        return
    names, most = sorted({predicted for _, predicted in counts}), max(counts.values())
    find = {"side": SIDES[0], "reason": "label", "layer": entry.sequence}
    rows: list[list[Cell]] = []
    for label in sorted({label for label, _ in counts}):
        numbers = [counts[label, name] for name in names]
        is_listed = listed.get((entry.sequence, 0, label, "label"), 0) == sum(numbers)
        row: list[Cell] = [label]
        for name, number in zip(names, numbers, strict=True):
            where = find | {"label": label, "found": name} if is_listed and entry.has_labels else {}
            row.append(Find(number, where, number / most))
        rows.append(row)
    title = phrase("{layer}: gold label, found as", layer=entry.layer or entry.sequence)
    yield Table(title, ["", *names], rows, is_folded=True)


# --- the summary of two systems

Reports = Sequence[Mapping[str, Any]]
States = Mapping[str, Mapping[str, int]]
"""The number of errors by side and state."""


def verdict_of_two(reports: Reports, choice: Choice, counts: States) -> str:
    """Return F1 of both systems by layer, and the number of errors in each state."""
    first_entries, second_entries = (
        {entry.sequence: entry for entry in entries_of(report, choice)} for report in reports
    )
    rates = []
    for sequence, entry in first_entries.items():
        if sequence in second_entries:
            first, second = entry.micro["f1"], second_entries[sequence].micro["f1"]
            verdict = f"F1 {shown(Rate(first))} → {shown(Rate(second))} ({difference(first, second) or '–'})"
            rates.append(verdict if len(first_entries) == 1 else f"{sequence}: {verdict}")
    numbers: Counter[str] = Counter()
    for of_side in counts.values():
        numbers.update(of_side)
    states = ", ".join(f"{numeral(number)} {phrase(state)}" for state, number in numbers.items())
    return "; ".join([*rates, phrase("errors: {states}", states=states)])


def tables_of_two(
    reports: Reports, names: Sequence[str], choice: Choice, counts: States, places: Mapping[str | None, int]
) -> Iterator[Table]:
    """Yield the numbers of errors by state, and of each layer F1 of both systems, the greatest difference first."""
    states = list(counts[SIDES[0]])
    rows: list[list[Cell]] = []
    for side, of_side in counts.items():
        numbers = (
            Find(of_side[state], {"side": side, "state": state}) if state in of_side else None
            for state in states
        )
        rows.append([phrase(side), *numbers])
    rows.append([phrase("places"), *(places.get(state, 0) for state in states)])
    yield Table(phrase("errors"), ["", *map(phrase, states)], rows)
    first_entries, second_entries = (
        {entry.title: entry for entry in entries_of(report, choice)} for report in reports
    )
    header = ["", *(f"F1 {name}" for name in names), phrase("difference"), phrase("number")]
    for title in filter(second_entries.__contains__, first_entries):
        yield Table(title, header, list(_f1_of_two(first_entries[title], second_entries[title])))


def _f1_of_two(entry: Entry, other_entry: Entry) -> Iterator[list[Cell]]:
    """Yield F1 in both systems: of all labels, and of each, the greatest difference first, undefined ones last."""

    def cells(name: Cell, first: Any, second: Any, number: int) -> list[Cell]:
        return [name, Rate(first), Rate(second), difference(first, second), number]

    yield cells(phrase("all"), entry.micro["f1"], other_entry.micro["f1"], entry.micro["gold"])
    nothing = {"f1": None, "gold": 0}
    rows: list[tuple[tuple[bool, float, str], list[Cell]]] = []
    for label in dict.fromkeys([*entry.per_label, *other_entry.per_label]):
        first, second = (system.per_label.get(label, nothing) for system in (entry, other_entry))
        has_both = None not in (first["f1"], second["f1"])
        order = not has_both, -abs(second["f1"] - first["f1"]) if has_both else 0, label
        name: Cell = label
        if entry.has_labels:
            name = Find(label, {"layer": entry.sequence, "label": label})
        rows.append((order, cells(name, first["f1"], second["f1"], first["gold"] or second["gold"])))
    yield from (row for _, row in sorted(rows, key=lambda item: item[0]))


# --- places


def marked(
    context: Context,
    spans: Iterable[tuple[int, str, Span]],
    errors: Iterable[tuple[int, JudgedSpan]],
    texts: Sequence[SideTexts],
) -> MarkedText:
    """Return the text of a place with spans, each with its row and its layer; those that are errors say why.

    Row 0 is gold, and the others are systems; `texts` are those of gold and of predicted. A tooltip has the layer, the
    range and token ids; that of an error also its reason and its class.
    """
    notes: dict[Mark, str] = {}
    for row, error in errors:
        where = _where(error.span, texts[error.side])
        note = " · ".join(filter(None, (error.sequence, *where, phrase(error.reason), _class_of(error))))
        notes.update(dict.fromkeys(context.marks(row, [error.span]), note))
    wrong = {*notes}
    for row, layer, span in spans:
        for mark in context.marks(row, [span]):
            if mark not in notes:
                notes[mark] = " · ".join([layer, *_where(span, texts[min(row, 1)])])
    all_marks = sorted([Mark(*mark[:4], mark in wrong, note) for mark, note in notes.items()])
    return MarkedText(context.text, all_marks, context.is_cut)


def line_of(error: JudgedSpan, texts: SideTexts, metadata: Sequence[str] = ()) -> Line:
    """Return the line of an error, with the values of `facets_of`."""
    label, line = error.span.label, texts.line_of(error.span)
    note = [
        *_where(error.span, texts),
        phrase("line {line}", line=line) if line is not None else "",
        _class_of(error),
    ]
    labels = error.found.values()  # joined as in `Span.label`
    match_label = "|".join([NO_LABEL if name is None else name for name in labels]) or None
    values = [error.reason, label, error.sequence, error.side_name, error.kind, match_label]
    values += [texts.document.id, *(texts.metadata.get(name) for name in metadata)]
    return Line(
        in_words(error), values, error.side, label, texts.of(error.span), " · ".join(filter(None, note))
    )


def _where(span: Span, texts: SideTexts) -> list[str]:
    """Return the range of a span, if it has a place, and the ids of its tokens if they have some."""
    if texts.beside:
        return [phrase("no position in the gold text")]
    where = f"{texts.unit_in_words} {positions([(span.start, span.end)])}"
    ids = list(dict.fromkeys(filter(None, texts.ids_of(span.start, span.end))))
    return [where, phrase("id {ids}", ids="–".join(ids))] if ids else [where]


def _class_of(error: JudgedSpan) -> str:
    """Return the class of CLUEval's levels, or FairEval's type in brackets, unless the reason says the same."""
    return "" if error.kind == error.reason else _class_in(current_language(), error.kind)


@cache
def _class_in(language: str, kind: str) -> str:
    """Return a class in the language of the context, which is given as each has its own wording."""
    name = phrase(kind)
    if kind in KINDS:
        return phrase("class {name} (level {level})", level=KINDS.index(kind) + 1, name=name)
    return phrase("class {name} (no level)", name=name) if kind == "partial" else f"({name})"


def in_words(error: JudgedSpan) -> str:
    """Return what is wrong with a span, in a reader's words."""
    if error.reason == "label":
        return phrase("other label")
    if error.reason not in ("boundary", "boundary+label"):
        return phrase(error.reason)
    span = error.span
    shared, other = max(
        ((shared_positions(span, other), other) for other in error.others), key=lambda pair: pair[0]
    )
    if max(other.start for other in error.others) >= min(other.end for other in error.others):
        words = phrase("joins several") if error.side else phrase("cut in two")
    elif shared == shared_positions(other, other):
        words = phrase("too long") if error.side else phrase("predicted too short")
    elif shared == shared_positions(span, span):
        words = phrase("too short") if error.side else phrase("predicted too long")
    else:
        words = phrase("shifted") if error.side else phrase("predicted shifted")
    return words if error.reason == "boundary" else f"{words}, {phrase('other label')}"
