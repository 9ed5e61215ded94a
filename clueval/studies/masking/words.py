"""The words of a masking report: sentences on documents and persons, tables, and what is said about each leak."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import ceil, floor, inf, log10
from operator import itemgetter
from typing import Any, NamedTuple

from clueval.core.span import NO_LABEL
from clueval.metrics.masking.counts import ALL
from clueval.metrics.masking.exposure import Risk
from clueval.reports.language import numeral, phrase
from clueval.reports.place import Facet, Later, Line, Place, positions
from clueval.reports.table import Cell, Find, Part, Rate, Shares, Table
from clueval.results.paths import numbers_in
from clueval.results.tables import OF_LABELS, cells_of, header_of, of_entries, of_masks, of_recalls
from clueval.studies.masking.leaks import COUNTS, STRING, Inconsistent, Leak, StringLeak, in_one_line

Row = Mapping[str, Any]
"""A row of the report of the metric, or several by name."""

NO_CLASS = "no class"
ELSEWHERE, NOWHERE = "masked elsewhere", "masked nowhere"

MOST_DOCUMENTS = 20
"""How many documents to review, and how many leaks, tables list."""

MOST_LISTED = 50
"""How many different texts that were masked without need tables list, and how many inconsistent entities."""

LONGEST_TEXT = 200

_SHOWN = 40
"""How much of a text the first leaks have."""


def facets() -> list[Facet]:
    """Return the filters of leaks."""
    return [
        Facet("class", phrase("Class"), True, (NO_CLASS,)),
        Facet("status", phrase("Status"), True, ("missed", "partial", STRING)),
        Facet("entity", phrase("Entity"), True, (ELSEWHERE, NOWHERE)),
        Facet("label", phrase("Label")),
        Facet("layer", phrase("Layer")),
        Facet("document", phrase("Document")),
    ]


# --- sentences


def verdict_of(report: Row, confidence: float) -> str:
    """Return how many leaks there are in how many documents; without any, how many documents may leak."""
    sentences = []
    for name, figures in report.items():
        row = figures["classes"][ALL]
        number, strings = row["mentions"] - row["protected"], figures["string_leaks"]
        if number:
            words = phrase(
                "{n} leak in {exposed} of {documents} documents: do not publish yet|"
                "{n} leaks in {exposed} of {documents} documents: do not publish yet",
                n=number,
                exposed=row["documents_exposed"],
                documents=row["documents"],
            )
        elif row["documents"]:
            words = phrase(
                "no leak found; with {confidence} % confidence fewer than {share} % of such documents have one",
                confidence=numeral(100 * confidence, "g"),
                share=percent_above(row["document_leak_upper"]),
            )
        else:
            words = phrase("no document has a mention")
        if strings:
            words += "; " + phrase(
                "{n} string leak: words of a mention elsewhere in the text|"
                "{n} string leaks: words of a mention elsewhere in the text",
                n=strings,
            )
        if uncertain := (figures["redacted"] or {}).get("uncertain"):
            words += "; " + phrase(
                "{n} uncertain mention: placeholders can be read in several ways|"
                "{n} uncertain mentions: placeholders can be read in several ways",
                n=uncertain,
            )
        sentences.append(f"{name}: {words}" if len(report) > 1 else words)
    return "; ".join(sentences)


def sentences_of(report: Row, confidence: float, *, of_annotators: bool) -> Iterator[str]:
    """Yield for each sequence how many documents leak, and how many persons or things can be read.

    `of_annotators` says that these add up over annotators.
    """
    for name, figures in report.items():
        row = figures["classes"][ALL]
        sentences = [documents_in_words(row, confidence)]
        if left := row["entities"] - row["entities_protected"]:
            sentences.append(
                phrase(
                    "the only person or thing can be read in at least one place|"
                    "{left} of {n} persons or things can be read in at least one place",
                    left=left,
                    n=row["entities"],
                )
                + (phrase(" (counted once for each annotator)") if of_annotators else "")
            )
        if row["entities_in_part"]:
            sentences.append(
                phrase(
                    "{n} of these is masked in other places|{n} of these are masked in other places",
                    n=row["entities_in_part"],
                )
            )
        if figures["string_leaks"]:
            sentences.append(
                phrase(
                    "string leaks are whole mentions in the same spelling: a surname alone, a genitive or capitals are "
                    "not searched"
                )
            )
        yield (f"{name}: " if len(report) > 1 else "") + "; ".join(sentences)


def documents_in_words(row: Row, confidence: float) -> str:
    """The numbers of documents that leak, and their bound, as a sentence.

    >>> documents_in_words({"documents": 59, "documents_exposed": 0, "document_leak_upper": 0.0495}, 0.95)
    '0 of 59 documents leak; if these are a random sample, under 5 % of all do (95 % confidence)'
    """
    number, exposed, bound = row["documents"], row["documents_exposed"], row["document_leak_upper"]
    if not number:
        return phrase("no document has a mention")
    begin = phrase(
        "{exposed} of {n} document leaks|{exposed} of {n} documents leak", exposed=exposed, n=number
    )
    if bound >= 1:
        return begin + phrase("; if these are a random sample, all others may leak, too")
    return begin + phrase(
        "; if these are a random sample, under {share} % of all do ({confidence} % confidence)",
        share=percent_above(bound),
        confidence=numeral(100 * confidence, "g"),
    )


def percent_above(share: float) -> str:
    """The smallest percentage with two digits, or a whole one, that is not below a share.

    >>> percent_above(0.0495), percent_above(0.0501), percent_above(0.123), percent_above(0.00012)
    ('5', '5.1', '13', '0.012')
    """
    places = 0 if share >= 0.1 else 1 - floor(log10(100 * share))
    return numeral(ceil(round(100 * share * 10**places, 6)) / 10**places, "g")


# --- tables


def tables_of(name: str, figures: Row, betas: Sequence[float]) -> Iterator[Table]:
    """Yield the tables of a sequence: classes riskiest first, labels, what was masked, further numbers."""
    yield _classes_table(name, figures["classes"])
    labels = [(Find(label, {"label": label}), row) for label, row in figures["labels"].items()]
    of_labels = of_recalls(phrase("{layer}: labels", layer=name), phrase("label"), labels, OF_LABELS)
    titles = phrase("{layer}: what was masked", layer=name), phrase("{layer}: further", layer=name)
    for table in (of_labels, *of_masks(*titles, figures, betas)):
        yield table._replace(is_folded=True)


def _rows_of(classes: Row) -> Iterator[tuple[str, str, Row]]:
    """Yield the classes, riskiest first, then all: name, words, and row. A single class without a name is all."""
    for kind in classes:
        if kind != ALL and {*classes} != {ALL, NO_LABEL}:
            yield kind, _class_in_words(kind), classes[kind]
    yield ALL, phrase("all classes"), classes[ALL]


def _classes_table(name: str, classes: Row) -> Table:
    is_weighted = any(row["weighted_word_recall"] is not None for row in classes.values())
    columns = [
        *("entity_recall", "mention_recall", "word_recall", "character_recall"),
        *["weighted_word_recall"] * is_weighted,
        *("document_recall", "document_leak_upper"),
        *("mentions", "entities", "entities_in_part", "documents", "documents_exposed"),
    ]
    rows: list[list[Cell]] = []
    for kind, words, row in _rows_of(classes):
        find = {} if kind == ALL else {"class": _class_in_find(kind)}
        parts = [
            Part(row["protected"], phrase("masked"), {}),
            Part(row["partial"], phrase("partial"), find | {"status": "partial"}),
            Part(row["missed"], phrase("missed"), find | {"status": "missed"}),
        ]
        rows.append([Find(words, find) if find else words, Shares(parts), *cells_of(row, columns)])
    header = [*map(header_of, ("class", "mentions", *columns))]
    return Table(phrase("{layer}: classes, riskiest first", layer=name), header, rows)


def first_classes(name: str, classes: Row) -> Table:
    """Return the main figures of the classes, riskiest first."""
    columns = ("mention_recall", "entity_recall", "mentions", "documents_exposed")
    entries = ((words, row) for _, words, row in _rows_of(classes))
    title = phrase("{layer}: classes, riskiest first", layer=name)
    return of_entries(title, phrase("class"), entries, columns)


def groups_table(key: str, groups: Row) -> Iterator[Table]:
    """Yield the figures of the groups of a break-down, for each sequence."""
    columns = ("documents", "mentions", "documents_exposed", "entity_recall", "mention_recall", "word_recall")
    for sequence in dict.fromkeys(name for group in groups.values() for name in group["metrics"]["masking"]):
        entries = []
        for value, group in groups.items():
            figures = group["metrics"]["masking"].get(sequence)
            row = dict.fromkeys(columns) if figures is None else figures["classes"][ALL]
            entries.append((value, {**row, "documents": group["documents"]}))
        title = phrase("{layer}: by {key}", layer=sequence, key=key)
        yield of_entries(title, key, entries, columns)._replace(is_folded=True)


def convention_table(program: str, section: Row) -> Table:
    """Return the figures of another program; those in sections are named by their path."""
    rows = [
        ["/".join(path), Rate(value) if isinstance(value, float) else value]
        for path, value in numbers_in(section)
        if value is not None
    ]
    title = phrase("as {program} counts", program=program)
    return Table(title, ["", phrase("number")], rows, is_folded=True)


def needless_table(needless: Sequence[tuple[str, int]]) -> Table:
    """Return the texts that were masked without need, most frequent first."""
    rows: list[list[Cell]] = [[text[:LONGEST_TEXT], number] for text, number in needless[:MOST_LISTED]]
    title = phrase("masked without need, most frequent first")
    return Table(title, [phrase("text"), phrase("number")], rows, is_folded=True)


def inconsistent_table(inconsistent: Sequence[Inconsistent]) -> Table:
    """Return the entities with several replacements."""
    rows: list[list[Cell]] = []
    for entity in inconsistent[:MOST_LISTED]:
        replacements = ", ".join(map(in_one_line, entity.replacements))
        rows.append([in_one_line(entity.text)[:LONGEST_TEXT], entity.document, replacements])
    header = [*map(header_of, ("text", "document", "replacements"))]
    return Table(phrase("entities with several replacements"), header, rows, is_folded=True)


def first_leaks(leaks: Sequence[Leak], *, text: bool) -> Table:
    """Return the leaks for the first screen, each in one row; without `text`, with positions only."""
    header = ("document", "characters", "class", "label", *(["text"] if text else []))
    rows: list[list[Cell]] = []
    for leak in leaks:
        rows.append([leak.document, positions(leak.exposed), _class_in_words(leak.kind), leak.label])
        rows[-1] += [in_one_line(leak.text)[:_SHOWN]] if text else []
    title = phrase("can be read: {n} mention|can be read: {n} mentions", n=len(leaks))
    return Table(title, [*map(header_of, header)], rows)


# --- documents to review

DOCUMENT_COLUMNS = (
    "document",
    "class",
    "leaks",
    "leaks_by_class",
    "words_exposed",
    "entities_masked_elsewhere",
)


class DocumentToReview(NamedTuple):
    """A document with leaks: `leaks` has their number for each class, riskiest first.

    `words_exposed` are the words of leaks that can be read, `entities_masked_elsewhere` the entities with a leak that
    are masked in other places of the document.
    """

    document: str
    leaks: tuple[tuple[str, int], ...]
    words_exposed: int
    entities_masked_elsewhere: int

    def cells(self) -> list[str | int]:
        """Return its row in a table, as `DOCUMENT_COLUMNS` names it."""
        by_class = ", ".join(f"{kind} {number}" for kind, number in self.leaks)
        number = sum(n for _, n in self.leaks)
        return [self.document, self.leaks[0][0], number, by_class, *self[2:]]


def documents_of(leaks: Iterable[Leak], risk: Risk) -> list[DocumentToReview]:
    """Return the documents of leaks, riskiest first.

    The first has the worst class, then more leaks of it, then worse and more leaks of other classes, then more words.
    """
    by_document: dict[str, list[Leak]] = {}
    for leak in leaks:
        by_document.setdefault(leak.document, []).append(leak)
    ranked = []
    for document, document_leaks in by_document.items():
        numbers = Counter(leak.kind for leak in document_leaks)
        by_class = tuple((kind, numbers[kind]) for kind in sorted(numbers, key=risk))
        words = sum(leak.words_exposed for leak in document_leaks)
        in_part = {(leak.annotator, leak.entity) for leak in document_leaks if leak.is_in_part}
        to_review = DocumentToReview(document, by_class, words, len(in_part))
        worst_first = [(*risk(kind), -number) for kind, number in by_class]
        # a class after all others, so that a document with a further class comes before one without
        ranked.append(([*worst_first, (inf,)], -words, document, to_review))
    return [to_review for *_, to_review in sorted(ranked, key=itemgetter(0, 1, 2))]


def documents_table(documents: Sequence[DocumentToReview]) -> Table:
    """Return the first documents to review."""
    title = phrase("documents to review, riskiest first")
    if len(documents) > MOST_DOCUMENTS:
        title = phrase(
            "documents to review, riskiest first: {number} of {n}", number=MOST_DOCUMENTS, n=len(documents)
        )
    rows: list[list[Cell]] = []
    for document in documents[:MOST_DOCUMENTS]:
        name, kind, number, _, *others = document.cells()
        find = {"document": document.document}
        by_class = ", ".join(f"{_class_in_words(kind)} {n}" for kind, n in document.leaks)
        rows.append([Find(name, find), _class_in_words(str(kind)), Find(number, find), by_class, *others])
    return Table(title, [*map(header_of, DOCUMENT_COLUMNS)], rows)


# --- places


def _class_in_find(kind: str) -> str:
    return NO_CLASS if kind == NO_LABEL else kind


def _class_in_words(kind: str) -> str:
    return phrase("no class") if kind == NO_LABEL else kind


def place_of(leaks: Sequence[StringLeak], *, text: bool) -> Place:
    """Return the place of the leaks with one key; without `text`, it has positions only."""
    first = leaks[0]
    return Place(
        first.at,
        first.fingerprint,
        Later(lambda: first.contexts) if text else (),
        Later(lambda: [_line(leak, text=text) for leak in leaks]),
        Later(lambda: [_row(leak, text=text) for leak in leaks]),
        {} if first.decision is None else first.decision.cells,
    )


def _line(leak: StringLeak, *, text: bool) -> Line:
    shown = in_one_line(leak.text)[:LONGEST_TEXT] if text else ""
    if not isinstance(leak, Leak):
        words = phrase("words of a mention elsewhere")
        return Line(words, [None, STRING, None, None, None, leak.document], None, "", shown)
    words = phrase("can be read in part") if leak.status == "partial" else phrase("can be read")
    if leak.mentions == 1:
        where = phrase("its only place")
    else:
        where = phrase("masked in {protected} of {n} places", protected=leak.protected, n=leak.mentions)
    exposed = phrase("readable characters: {ranges}", ranges=positions(leak.exposed))
    note = f"{_class_in_words(leak.kind)} · {exposed}"
    elsewhere = ELSEWHERE if leak.is_in_part else NOWHERE
    values = [_class_in_find(leak.kind), leak.status, elsewhere, leak.label, leak.annotator, leak.document]
    return Line(f"{words}; {where}", values, None, leak.label, shown, note)


def _row(leak: StringLeak, *, text: bool) -> dict[str, Any]:
    cells = leak.to_dict()
    exposed = leak.exposed if isinstance(leak, Leak) else [(leak.start, leak.end)]
    row = {
        "class": cells.get("class"),
        "status": cells.get("status", STRING),
        "exposed_inclusive": " ".join(f"{start}-{end - 1}" for start, end in exposed),
        "label": leak.label if isinstance(leak, Leak) else None,
    }
    row |= {name: cells.get(name) for name in COUNTS}
    return row | ({"text": leak.text, "context": [leak.context]} if text else {})
