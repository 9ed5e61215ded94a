"""The words of a masking report: sentences on documents and persons, tables, and what is said about each leak."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, inf, log10
from operator import itemgetter
from typing import Any

from clueval.core.span import NO_LABEL
from clueval.metrics.masking.mention import Risk
from clueval.reports.language import numeral, phrase
from clueval.reports.place import Facet, Later, Line, MarkKind, Place
from clueval.reports.table import Cell, Find, Part, Rate, Shares, Table
from clueval.studies.decisions import ANNOTATION, UNCLEAR
from clueval.studies.masking.leaks import STRING, Inconsistent, Leak, StringLeak, in_one_line
from clueval.studies.masking.review import HARMLESS

Row = Mapping[str, Any]
"""A row of the report of the metric."""

ALL = "all"
NO_CLASS = "no class"
ELSEWHERE, NOWHERE = "masked elsewhere", "masked nowhere"
STATUSES = ("missed", "partial", STRING)

MOST_DOCUMENTS = 20
"""How many documents to review tables list."""

MOST_LISTED = 50
"""How many different texts that were masked without need tables list, and how many inconsistent entities."""

LONGEST_TEXT = 200


def kinds() -> list[MarkKind]:
    """Return the kinds of marks: what is masked, and what can be read."""
    return [MarkKind("masked", "", phrase("masked")), MarkKind("leak", "", phrase("can be read"))]


def facets() -> list[Facet]:
    """Return the filters of leaks."""
    return [
        Facet("class", phrase("Class"), True, (NO_CLASS,)),
        Facet("status", phrase("Status"), True, STATUSES),
        Facet("entity", phrase("Entity"), True, (ELSEWHERE, NOWHERE)),
        Facet("label", phrase("Label")),
        Facet("layer", phrase("Layer")),
        Facet("document", phrase("Document")),
    ]


def choices() -> list[tuple[str, str]]:
    """Return what may be decided about a leak."""
    return [
        ("leak", phrase("leak: it must be masked")),
        (HARMLESS, phrase("harmless")),
        (ANNOTATION, phrase("gold is wrong")),
        (UNCLEAR, phrase("unclear")),
    ]


# --- sentences


def verdict_of(report: Mapping[str, Row], confidence: float) -> str:
    """Return how many leaks there are in how many documents; without any, how many documents may leak."""
    said = []
    for name, figures in report.items():
        row = figures["classes"][ALL]
        number, strings = row["mentions"] - row["protected"], figures["string_leaks"]
        if number:
            words = phrase(
                "{n} leak in {exposed} of {documents} documents: not yet|"
                "{n} leaks in {exposed} of {documents} documents: not yet",
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
        said.append(f"{name}: {words}" if len(report) > 1 else words)
    return "; ".join(said)


def sentences_of(report: Mapping[str, Row], confidence: float) -> Iterator[str]:
    """Yield for each sequence how many documents leak, and how many persons or things can be read."""
    for name, figures in report.items():
        row = figures["classes"][ALL]
        said = [documents_in_words(row, confidence), *_persons(row)]
        yield (f"{name}: " if len(report) > 1 else "") + "; ".join(said)


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


def _persons(row: Row) -> Iterator[str]:
    left = row["entities"] - row["entities_protected"]
    if left:
        yield phrase(
            "the only person or thing can be read in at least one place|"
            "{left} of {n} persons or things can be read in at least one place",
            left=left,
            n=row["entities"],
        )
    if row["entities_in_part"]:
        yield phrase(
            "{n} of these is masked in other places|{n} of these are masked in other places",
            n=row["entities_in_part"],
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
    yield _of_classes(name, figures["classes"])
    labels = figures["labels"]
    weighted = any(row["weighted_word_recall"] is not None for row in labels.values())
    rates = _rates(weighted=weighted)
    numbers = _numbers("mentions", "protected", "partial", "missed")
    rows: list[list[Cell]] = [
        [
            Find(label, {"label": label}),
            *(row[each] for each in numbers),
            *(Rate(row[each]) for each in rates),
        ]
        for label, row in labels.items()
    ]
    header = [phrase("label"), *numbers.values(), *rates.values()]
    yield Table(phrase("{layer}: labels", layer=name), header, rows, is_folded=True)
    shares = ("word_precision", "weighted_word_precision", "masked_share", "retention")
    masked: list[list[Cell]] = [
        [words, Rate(figures["precision"][each]) if each in shares else figures["precision"][each]]
        for each, words in _precision().items()
        if figures["precision"][each] is not None or each == "word_precision"
    ]
    masked += [[f"F{beta:g}", Rate(figures["f"][f"{beta:g}"])] for beta in betas]
    yield Table(phrase("{layer}: what was masked", layer=name), ["", phrase("value")], masked, is_folded=True)
    further: list[list[Cell]] = [[words, number] for words, number in _further(figures)]
    yield Table(phrase("{layer}: further", layer=name), ["", phrase("number")], further, is_folded=True)


def _of_classes(name: str, classes: Mapping[str, Row]) -> Table:
    rates = {
        "entity_recall": phrase("entity recall"),
        **_rates(weighted=any(row["weighted_word_recall"] is not None for row in classes.values())),
        "document_recall": phrase("document recall"),
        "document_leak_upper": phrase("document leak upper"),
    }
    numbers = _numbers("mentions", "entities", "entities_in_part", "documents", "documents_exposed")
    rows: list[list[Cell]] = []
    kinds = [kind for kind in classes if kind != ALL]
    for kind in [ALL] if kinds == [NO_LABEL] else [*kinds, ALL]:
        row = classes[kind]
        find = {} if kind == ALL else {"class": class_in_find(kind)}
        leaks = {status: find | {"status": status} for status in ("partial", "missed")}
        parts = [
            Part(row["protected"], phrase("masked"), {}),
            Part(row["partial"], phrase("partial"), leaks["partial"]),
            Part(row["missed"], phrase("missed"), leaks["missed"]),
        ]
        shown = phrase("all classes") if kind == ALL else class_in_words(kind)
        rows.append(
            [
                Find(shown, find) if find else shown,
                Shares(parts),
                *(Rate(row[each]) for each in rates),
                *(row[each] for each in numbers),
            ]
        )
    header = [phrase("class"), phrase("mentions"), *rates.values(), *numbers.values()]
    return Table(phrase("{layer}: classes, riskiest first", layer=name), header, rows)


def _rates(*, weighted: bool) -> dict[str, str]:
    found = {
        "mention_recall": phrase("mention recall"),
        "word_recall": phrase("word recall"),
        "character_recall": phrase("character recall"),
    }
    return found | ({"weighted_word_recall": phrase("weighted word recall")} if weighted else {})


def _numbers(*names: str) -> dict[str, str]:
    found = {
        "mentions": phrase("mentions"),
        "protected": phrase("protected"),
        "partial": phrase("partial"),
        "missed": phrase("missed"),
        "entities": phrase("entities"),
        "entities_in_part": phrase("entities in part"),
        "documents": phrase("documents"),
        "documents_exposed": phrase("documents exposed"),
    }
    return {name: found[name] for name in names}


def _precision() -> dict[str, str]:
    return {
        "words": phrase("words"),
        "words_right": phrase("words right"),
        "word_precision": phrase("word precision"),
        "weighted_word_precision": phrase("weighted word precision"),
        "masks": phrase("masks"),
        "masks_needless": phrase("masks needless"),
        "masked_share": phrase("masked share"),
        "retention": phrase("retention"),
        "characters_over_masked": phrase("characters over masked"),
    }


def _further(figures: Row) -> Iterator[tuple[str, int]]:
    """Yield the words and the numbers about replacements, string leaks and redacted texts."""
    replacements, redacted = figures["replacements"], figures["redacted"]
    yield phrase("replacements, entities"), replacements["entities"]
    yield phrase("replacements, several"), replacements["several"]
    yield phrase("replacements, shared"), replacements["shared"]
    yield phrase("string leaks"), figures["string_leaks"]
    if redacted is not None:
        yield phrase("redacted, placeholders"), redacted["placeholders"]
        yield phrase("redacted, uncertain"), redacted["uncertain"]
        yield phrase("redacted, initials"), redacted["initials"]
        yield phrase("redacted, replaced words"), redacted["replaced_words"]


def groups_table(key: str, groups: Mapping[str, Row], metric: str) -> Iterator[Table]:
    """Yield the figures of the groups of a break-down, for each sequence."""
    sequences = dict.fromkeys(name for group in groups.values() for name in group["metrics"][metric])
    for sequence in sequences:
        rows: list[list[Cell]] = []
        for value, group in groups.items():
            figures = group["metrics"][metric].get(sequence)
            row = figures["classes"][ALL] if figures is not None else dict.fromkeys(_FIGURES)
            rates = [Rate(row[each]) for each in _FIGURES[2:]]
            rows.append([value, group["documents"], row["mentions"], row["documents_exposed"], *rates])
        header = [key, phrase("documents"), phrase("mentions"), phrase("documents exposed")]
        header += [phrase("entity recall"), phrase("mention recall"), phrase("word recall")]
        yield Table(phrase("{layer}: by {key}", layer=sequence, key=key), header, rows, is_folded=True)


_FIGURES = ("mentions", "documents_exposed", "entity_recall", "mention_recall", "word_recall")


def convention_table(program: str, section: Row) -> Table:
    """Return the figures of another program; those in sections are named by their path."""

    def numbers(report: Row, path: str) -> Iterator[list[Cell]]:
        for key, value in report.items():
            if isinstance(value, Mapping):
                yield from numbers(value, f"{path}{key}/")
            elif value is not None:
                yield [f"{path}{key}", Rate(value) if isinstance(value, float) else value]

    title = phrase("as {program} counts", program=program)
    return Table(title, ["", phrase("number")], list(numbers(section, "")), is_folded=True)


def needless_table(needless: Sequence[tuple[str, int]]) -> Iterator[Table]:
    """Yield the texts that were masked without need, most frequent first."""
    if needless:
        title = phrase("masked without need, most frequent first")
        rows: list[list[Cell]] = [[text[:LONGEST_TEXT], number] for text, number in needless[:MOST_LISTED]]
        yield Table(title, [phrase("text"), phrase("number")], rows, is_folded=True)


def inconsistent_table(inconsistent: Sequence[Inconsistent]) -> Iterator[Table]:
    """Yield the entities with several replacements."""
    if inconsistent:
        rows: list[list[Cell]] = [
            [
                in_one_line(one.text)[:LONGEST_TEXT],
                one.document,
                ", ".join(map(in_one_line, one.replacements)),
            ]
            for one in inconsistent[:MOST_LISTED]
        ]
        header = [phrase("text"), phrase("document"), phrase("replacements")]
        yield Table(phrase("entities with several replacements"), header, rows, is_folded=True)


# --- documents to review

DOCUMENT_COLUMNS = (
    "document",
    "class",
    "leaks",
    "leaks_by_class",
    "words_exposed",
    "entities_masked_elsewhere",
)

_NO_MORE = (inf,)
"""A class after all others, so that a document with a further class comes before one without."""


@dataclass(frozen=True, slots=True)
class DocumentToReview:
    """A document with leaks: `leaks` has their number for each class, riskiest first.

    `words_exposed` are the words of leaks that can be read, `entities_masked_elsewhere` the entities with a leak that
    are masked in other places of the document.
    """

    document: str
    leaks: tuple[tuple[str, int], ...]
    words_exposed: int
    entities_masked_elsewhere: int

    def cells(self) -> list[str | int]:
        """Its row in a table, as `DOCUMENT_COLUMNS` names it."""
        by_class = ", ".join(f"{kind} {number}" for kind, number in self.leaks)
        numbers = [self.words_exposed, self.entities_masked_elsewhere]
        return [self.document, self.leaks[0][0], sum(n for _, n in self.leaks), by_class, *numbers]


def documents_of(leaks: Iterable[Leak], risk: Risk) -> list[DocumentToReview]:
    """Return the documents of leaks, riskiest first.

    The first has the worst class, then more leaks of it, then worse and more leaks of other classes, then more words.
    """
    found: dict[str, list[Leak]] = {}
    for leak in leaks:
        found.setdefault(leak.document, []).append(leak)
    ranked = []
    for document, own in found.items():
        numbers = Counter(leak.kind for leak in own)
        by_class = tuple((kind, numbers[kind]) for kind in sorted(numbers, key=risk))
        words = sum(leak.words_exposed for leak in own)
        in_part = {(leak.annotator, leak.entity) for leak in own if leak.is_in_part}
        one = DocumentToReview(document, by_class, words, len(in_part))
        worst_first = [(*risk(kind), -number) for kind, number in by_class]
        ranked.append(([*worst_first, _NO_MORE], -words, document, one))
    return [one for *_, one in sorted(ranked, key=itemgetter(0, 1, 2))]


def documents_table(found: Sequence[DocumentToReview]) -> Iterator[Table]:
    """Yield the first documents to review."""
    if not found:
        return
    title = phrase("documents to review, riskiest first")
    if len(found) > MOST_DOCUMENTS:
        title = phrase(
            "documents to review, riskiest first: {number} of {n}", number=MOST_DOCUMENTS, n=len(found)
        )
    header = [
        phrase("document"),
        phrase("class"),
        phrase("leaks"),
        phrase("leaks by class"),
        phrase("words exposed"),
        phrase("entities masked elsewhere"),
    ]
    rows: list[list[Cell]] = []
    for one in found[:MOST_DOCUMENTS]:
        name, kind, number, _, *others = one.cells()
        find = {"document": one.document}
        by_class = ", ".join(f"{class_in_words(kind)} {n}" for kind, n in one.leaks)
        rows.append([Find(name, find), class_in_words(str(kind)), Find(number, find), by_class, *others])
    yield Table(title, header, rows)


def first_leaks(leaks: Sequence[Leak], *, text: bool) -> Iterator[Table]:
    """Yield the first leaks, each in one row; without `text`, with positions only."""
    if leaks:
        header = [phrase("document"), phrase("characters"), phrase("class"), phrase("label")]
        rows: list[list[Cell]] = [
            [
                leak.document,
                ", ".join(f"{start}–{end - 1}" for start, end in leak.exposed),
                class_in_words(leak.kind),
                leak.label,
                *([in_one_line(leak.text)[:_SHOWN]] if text else []),
            ]
            for leak in leaks[:MOST_DOCUMENTS]
        ]
        title = phrase("can be read: {n} mention|can be read: {n} mentions", n=len(leaks))
        yield Table(title, [*header, *([phrase("text")] if text else [])], rows)


def first_classes(name: str, classes: Mapping[str, Row]) -> Table:
    """Return the main figures of the classes, riskiest first."""
    kinds = [kind for kind in classes if kind != ALL]
    rows: list[list[Cell]] = [
        [
            phrase("all classes") if kind == ALL else class_in_words(kind),
            Rate(classes[kind]["mention_recall"]),
            Rate(classes[kind]["entity_recall"]),
            classes[kind]["mentions"],
            classes[kind]["documents_exposed"],
        ]
        for kind in ([ALL] if kinds == [NO_LABEL] else [*kinds, ALL])
    ]
    header = [phrase("class"), phrase("mention recall"), phrase("entity recall")]
    header += [phrase("mentions"), phrase("documents exposed")]
    return Table(phrase("{layer}: classes, riskiest first", layer=name), header, rows)


# --- places

_SHOWN = 40
"""How much of a text the first leaks have."""

_COUNTS = ("mentions", "protected", "same_words", "same_words_protected")


def class_in_find(kind: str) -> str:
    """Return the value of a class for filters."""
    return NO_CLASS if kind == NO_LABEL else kind


def class_in_words(kind: str) -> str:
    """Return the name of a class."""
    return phrase("no class") if kind == NO_LABEL else kind


def where_masked(leak: Leak) -> str:
    """Return in how many places the entity of a leak is masked, in words."""
    if leak.mentions == 1:
        return phrase("its only place")
    return phrase("masked in {protected} of {n} places", protected=leak.protected, n=leak.mentions)


def place_of(found: Sequence[Leak | StringLeak], *, text: bool) -> Place:
    """Return the place of the leaks with one key; without `text`, it has positions only."""
    first = found[0]
    return Place(
        first.at,
        first.fingerprint,
        Later(lambda: first.contexts) if text else (),
        Later(lambda: [_line(leak, text=text) for leak in found]),
        Later(lambda: [_row(leak, text=text) for leak in found]),
        {} if first.decision is None else first.decision.cells,
    )


def _line(leak: Leak | StringLeak, *, text: bool) -> Line:
    shown = in_one_line(leak.text)[:LONGEST_TEXT] if text else ""
    if isinstance(leak, StringLeak):
        words = phrase("words of a mention elsewhere")
        return Line(words, [None, STRING, None, None, None, leak.document], None, "", shown)
    words = phrase("can be read in part") if leak.status == "partial" else phrase("can be read")
    exposed = ", ".join(f"{start}–{end - 1}" for start, end in leak.exposed)
    note = [class_in_words(leak.kind), phrase("readable characters: {ranges}", ranges=exposed)]
    elsewhere = ELSEWHERE if leak.is_in_part else NOWHERE
    values = [class_in_find(leak.kind), leak.status, elsewhere, leak.label, leak.annotator, leak.document]
    return Line(f"{words}; {where_masked(leak)}", values, None, leak.label, shown, " · ".join(note))


def _row(leak: Leak | StringLeak, *, text: bool) -> dict[str, Any]:
    """Return the row of a leak in tables; ranges in it are half-open."""
    own = leak.to_dict()
    exposed = [(leak.start, leak.end)] if isinstance(leak, StringLeak) else leak.exposed
    row = {
        "class": own.get("class"),
        "status": own.get("status", STRING),
        "exposed": " ".join(f"{start}-{end}" for start, end in exposed),
        "label": None if isinstance(leak, StringLeak) else leak.label,
        **{name: own.get(name) for name in _COUNTS},
    }
    return row | ({"text": leak.text, "context": [leak.context]} if text else {})
