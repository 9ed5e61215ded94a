"""A masking report as a web page for a person who must sign that documents can be published.

The page loads nothing else. It begins with the sentence on documents, lists leaks to decide on (see
`clueval.findings.decisions`), and ends with what was decided and room for a signature. `clueval.reports.page` describes
why text from the corpus cannot become markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote

from clueval.core.span import NO_LABEL
from clueval.findings.decisions import PlaceKey
from clueval.first.metrics.masking.weights import Range
from clueval.first.metrics.tables import of_report, of_section
from clueval.reports.language import numeral, phrase
from clueval.reports.page import LONG, ShownTable, assets, environment, json_inside
from clueval.studies.masking.found import MaskingFindings, number_tables, percent_above, where_masked
from clueval.studies.masking.leak import Leak, Sibling, StringLeak, in_one_line
from clueval.studies.masking.review import REVIEWED

WITHOUT_SCRIPT = 500
"""The number of places that the page shows without its script."""

MOST_LISTED = 2000
"""How many documents to review a page lists."""

STATUSES = {
    "missed": "can be read",
    "partial": "can be read in part",
    "string": "words of a mention elsewhere",
}
STATUSES_OF_OTHERS = {"protected": "masked", "partial": "masked in part", "missed": "not masked"}

MOST_NEEDLESS = 50
"""How many different texts that were masked without need a page shows, and how many inconsistent entities."""


class ShownClass(NamedTuple):
    """A class in words: the shares of its entities (protected, in part, not at all) and what the figures mean."""

    name: str
    shares: tuple[int, int, int]
    meaning: Sequence[str]


class ShownLeak(NamedTuple):
    """A leak at a place: the number of its class (None for a string leak), and where its entity is masked."""

    kind: int | None
    label: str
    status: str
    where: str
    is_in_part: bool


Piece = tuple[str, str, bool]
"""A piece of a context, see `ShownPiece`."""


class ShownPlace(NamedTuple):
    """A card: the leaks with one key, in the form that the page's script reads.

    `at` has document, layer, start and last position; `siblings` start, end, status, anchor (if it is a leak) and text
    of the other mentions of the entity, of which there are `more`; `exposed` what can be read, if there is no text.
    """

    anchor: str
    at: tuple[str, str, int, int]
    fingerprint: str
    leaks: list[ShownLeak]
    pieces: list[Piece]
    siblings: list[tuple[int, int, str, str | None, list[Piece]]]
    more: int
    exposed: Sequence[Range]
    decision: str

    def ranges(self) -> str:
        """Return what can be read, in words."""
        return ", ".join(phrase("{start} to {end}", start=start, end=end) for start, end in self.exposed)

    def line(self) -> list[object]:
        """Return what the script reads: all but the decision, which is among the lines of the file."""
        return list(self[:-1])


def render(report: MaskingFindings, *, title: str, store: str = "", text: bool = True) -> str:
    """Return the page; without `text` it has positions only, no text of the documents.

    The browser keeps decisions under the name `store`.

    Raises `MissingExtra` without Jinja2.
    """
    jinja = environment()
    from markupsafe import Markup  # comes with Jinja

    kinds = list(dict.fromkeys(leak.kind for leak in report.all_leaks))
    places = list(shown_places(report, kinds, text=text))
    first_of = {place.at[0]: place.anchor for place in reversed(places)}
    about = {
        "kinds": [*map(_named, kinds)],
        "layers": list(dict.fromkeys(leak.annotator for leak in report.all_leaks)),
        "store": f"masking {store}",
        "given": [] if report.review is None else [dict(line) for line in report.review.lines],
    }
    return jinja.get_template("masking.html").render(
        title=title,
        report=report.result.to_dict(),
        sentences=[f"{sentence[0].upper()}{sentence[1:]}." for sentence in report.sentences()],
        leaks_documents=any(one["classes"]["all"]["documents_exposed"] for one in report.reports.values()),
        sequences=list(_classes(report)),
        documents=[(one, first_of.get(one.document)) for one in report.documents_to_review[:MOST_LISTED]],
        documents_number=len({leak.document for leak in report.leaks}),
        number=len(report.leaks),
        string_number=len(report.string_leaks),
        apart_number=len({leak.key for leak in report.set_apart}),
        cards=places[:WITHOUT_SCRIPT],
        without_script=WITHOUT_SCRIPT,
        kinds=about["kinds"],
        statuses=STATUSES,
        statuses_of_others=STATUSES_OF_OTHERS,
        signed=phrase("none is decided") if report.review is None else report.review.in_words(),
        needless=report.needless[:MOST_NEEDLESS],
        needless_number=sum(number for _, number in report.needless),
        inconsistent=report.inconsistent[:MOST_NEEDLESS],
        inconsistent_number=len(report.inconsistent),
        conventions=list(_conventions(report)),
        text=text,
        long=LONG,
        main_tables=list(_tables(report)),
        more_tables=list(_tables_of_groups(report)),
        about=Markup(json_inside(about)),
        data=(Markup(json_inside(place.line()) + "\n") for place in places),
        **assets(None, "places", parts=["decisions", "masking"]),
    )


def _classes(report: MaskingFindings) -> Iterator[tuple[str, list[ShownClass]]]:
    """Yield the classes of each sequence, as counted and as reviewed, with a title if there are several."""
    several = len(report.reports) > 1 or report.review is not None
    for metric, reports in report.result.metrics.items():
        for name, one in reports.items():
            title = phrase("{name}, as reviewed", name=name) if metric == REVIEWED else name
            yield title if several else "", list(classes_in_words(one, report))


def classes_in_words(report: Mapping[str, Any], findings: MaskingFindings) -> Iterator[ShownClass]:
    """Yield the classes, riskiest first, then all together, and what their figures mean."""
    classes = report["classes"]
    order = [name for name in classes if name != "all"]
    for name in [*order, "all"] if len(order) != 1 else order:
        row = classes[name]
        protected, in_part = row["entities_protected"], row["entities_in_part"]
        shares = (protected, in_part, row["entities"] - protected - in_part)
        shown = phrase("all classes") if name == "all" and "all" not in order else _named(name)
        yield ShownClass(shown, shares, list(_meaning(row, findings.metric.confidence)))


def _named(kind: str) -> str:
    return phrase("no class") if kind == NO_LABEL else kind


def _meaning(row: Mapping[str, Any], confidence: float) -> Iterator[str]:
    entities, left = row["entities"], row["entities"] - row["entities_protected"]
    if entities and not left:
        yield phrase("All {number} persons or things are masked wherever they occur.", number=entities)
    elif entities:
        yield phrase(
            "The only person or thing can be read in at least one place.|"
            "{left} of {n} persons or things can be read in at least one place.",
            left=left,
            n=entities,
        )
    if row["entities_in_part"]:
        yield phrase(
            "{n} of these is masked in other places. A reader may find out what these masks hide.|"
            "{n} of these are masked in other places. A reader may find out what these masks hide.",
            n=row["entities_in_part"],
        )
    yield phrase(
        "{unmasked} of {mentions} mentions can be read in full or in part ({n} word).|"
        "{unmasked} of {mentions} mentions can be read in full or in part ({n} words).",
        unmasked=row["mentions"] - row["protected"],
        mentions=row["mentions"],
        n=row["words_exposed"],
    )
    if row["documents"]:
        documents = phrase(
            "{n} of {documents} documents has such a mention|{n} of {documents} documents have such a mention",
            n=row["documents_exposed"],
            documents=row["documents"],
        )
        bound = row["document_leak_upper"]
        beyond = phrase(
            "; of all such documents, under {share} % do ({confidence} % confidence)",
            share=percent_above(bound),
            confidence=numeral(100 * confidence, "g"),
        )
        yield f"{documents}{beyond if bound < 1 else ''}."


def shown_places(report: MaskingFindings, kinds: Sequence[str], *, text: bool) -> Iterator[ShownPlace]:
    """Yield the places of leaks, riskiest first, with links between those of one entity, then of string leaks.

    Those that are set apart come last.
    """
    places: dict[PlaceKey, list[Leak | StringLeak]] = {}
    for leak in (*report.leaks, *report.string_leaks, *report.set_apart):
        places.setdefault(leak.key, []).append(leak)
    for key, found in places.items():
        first = found[0]
        if isinstance(first, StringLeak):
            yield _place(key, first, [ShownLeak(None, "", "string", "", False)], text=text)
            continue
        shown = [
            ShownLeak(kinds.index(leak.kind), leak.label, leak.status, where_masked(leak), leak.is_in_part)
            for leak in found
            if isinstance(leak, Leak)
        ]
        siblings = []
        for one in first.siblings:
            other = (first.document, first.annotator, one.start, one.end)
            anchor = _anchor(other) if other in places else None
            siblings.append((one.start, one.end, one.status, anchor, _pieces(one) if text else []))
        more = first.mentions - 1 - len(siblings)
        yield _place(key, first, shown, text=text)._replace(siblings=siblings, more=more)


def _place(key: PlaceKey, leak: Leak | StringLeak, shown: list[ShownLeak], *, text: bool) -> ShownPlace:
    document, layer, start, end = key
    exposed = leak.exposed if isinstance(leak, Leak) else ((start, end),)
    own: list[Piece] = [(in_one_line(leak.text), "exposed", True)]
    return ShownPlace(
        _anchor(key),
        (document, layer, start, end - 1),
        leak.fingerprint,
        shown,
        (_pieces(leak) or own) if text else [],
        [],
        0,
        () if text else exposed,
        "" if leak.decision is None else leak.decision.in_words(),
    )


def _pieces(one: Leak | StringLeak | Sibling) -> list[Piece]:
    return [(piece.text, piece.style, piece.is_own) for piece in one.context if piece.text]


def _anchor(key: PlaceKey) -> str:
    document, layer, start, end = key
    return f"at:{_quoted(document)}:{_quoted(layer)}:{start}-{end - 1}"


@lru_cache(maxsize=16)
def _quoted(name: str) -> str:
    return quote(name, safe="", errors="surrogatepass")


def _tables(report: MaskingFindings) -> Iterator[ShownTable]:
    figures, *_ = number_tables(report)
    yield from map(ShownTable.of, figures)


def _tables_of_groups(report: MaskingFindings) -> Iterator[ShownTable]:
    if report.result.groups is not None:
        whole = {**report.result.to_dict(), "metrics": {}}
        yield from map(ShownTable.of, of_report(whole, report.result.scored_by))


def _conventions(report: MaskingFindings) -> Iterator[ShownTable]:
    for one in report.reports.values():
        for program, section in one["conventions"].items():
            yield from map(ShownTable.of, of_section(phrase("as {program} counts", program=program), section))
