"""A masking report as a web page for a person who must sign that documents can be published.

The page loads nothing else and has no script: leaks are filtered by check boxes and style alone. It begins with the
sentence on documents, and ends with room for a signature. `clueval.reports.page` describes why text from the corpus
cannot become markup.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from clueval.metrics.tables import of_report, of_section
from clueval.reports.page import LONG, ShownTable, assets, environment
from clueval.spans.span import NO_LABEL
from clueval.studies.masking.collector import MOST_LEAKS
from clueval.studies.masking.found import MaskingFindings, number_tables, percent_above, where_masked

if TYPE_CHECKING:
    from clueval.studies.masking.leak import Leak, Sibling

MOST_NEEDLESS = 50
"""How many different texts that were masked without need a page shows, and how many inconsistent entities."""


class ShownClass(NamedTuple):
    """A class in words: the shares of its entities (protected, in part, not at all) and what the figures mean."""

    name: str
    shares: tuple[int, int, int]
    meaning: Sequence[str]


class ShownSibling(NamedTuple):
    """Another mention of an entity, and the leak that it is, if it is one."""

    sibling: Sibling
    anchor: str | None


class ShownLeak(NamedTuple):
    """A leak with its anchor on the page, the number of its class, and where else its entity is."""

    leak: Leak
    anchor: str
    kind: int
    where: str
    siblings: Sequence[ShownSibling]
    more: int


def render(report: MaskingFindings, *, title: str, text: bool = True) -> str:
    """Return the page; without `text` it has positions only, no text of the documents.

    Raises `MissingExtra` without Jinja2.
    """
    jinja = environment()
    kinds = list(dict.fromkeys(leak.kind for leak in report.leaks))
    leaks = list(shown_leaks(report.leaks[:MOST_LEAKS], kinds))
    first_leaks: dict[str, str] = {}
    for one in leaks:
        first_leaks.setdefault(one.leak.document, one.anchor)
    return jinja.get_template("masking.html").render(
        title=title,
        report=report.result.to_dict(),
        sentences=[f"{sentence[0].upper()}{sentence[1:]}." for sentence in report.sentences()],
        leaks_documents=any(one["classes"]["all"]["documents_exposed"] for one in report.reports.values()),
        sequences=[(name, list(classes_in_words(one, report))) for name, one in report.reports.items()],
        documents=[(one, first_leaks.get(one.document)) for one in report.documents_to_review[:MOST_LEAKS]],
        documents_number=len({leak.document for leak in report.leaks}),
        kinds=list(enumerate(map(_named, kinds))),
        no_class=NO_LABEL,
        leaks=leaks,
        number=len(report.leaks),
        string_leaks=report.string_leaks[:MOST_LEAKS],
        string_number=len(report.string_leaks),
        needless=report.needless[:MOST_NEEDLESS],
        needless_number=sum(number for _, number in report.needless),
        inconsistent=report.inconsistent[:MOST_NEEDLESS],
        inconsistent_number=len(report.inconsistent),
        conventions=list(_conventions(report)),
        text=text,
        long=LONG,
        main_tables=list(_tables(report)),
        more_tables=list(_tables_of_groups(report)),
        **assets("masking"),
    )


def classes_in_words(report: Mapping[str, Any], findings: MaskingFindings) -> Iterator[ShownClass]:
    """Yield the classes, riskiest first, then all together, and what their figures mean."""
    classes = report["classes"]
    order = [name for name in classes if name != "all"]
    for name in [*order, "all"] if len(order) != 1 else order:
        row = classes[name]
        protected, in_part = row["entities_protected"], row["entities_in_part"]
        shares = (protected, in_part, row["entities"] - protected - in_part)
        shown = "all classes" if name == "all" and "all" not in order else _named(name)
        yield ShownClass(shown, shares, list(_meaning(row, findings.metric.confidence)))


def _named(kind: str) -> str:
    return "no class" if kind == NO_LABEL else kind


def _meaning(row: Mapping[str, Any], confidence: float) -> Iterator[str]:
    entities, left = row["entities"], row["entities"] - row["entities_protected"]
    if entities and not left:
        yield f"All {entities:,} persons or things are masked wherever they occur."
    elif entities:
        which = "The only person or thing" if entities == 1 else f"{left:,} of {entities:,} persons or things"
        yield f"{which} can be read in at least one place."
    if row["entities_in_part"]:
        number = row["entities_in_part"]
        yield (
            f"{number:,} of these {'is' if number == 1 else 'are'} masked in other places. "
            "A reader may find out what these masks hide."
        )
    unmasked = row["mentions"] - row["protected"]
    words = f"{row['words_exposed']:,} word{'s' * (row['words_exposed'] != 1)}"
    yield f"{unmasked:,} of {row['mentions']:,} mentions can be read in full or in part ({words})."
    documents, exposed = row["documents"], row["documents_exposed"]
    if documents:
        bound = row["document_leak_upper"]
        beyond = (
            f"; of all such documents, under {percent_above(bound)} % do ({100 * confidence:g} % confidence)"
        )
        have = "have" if exposed != 1 else "has"
        yield f"{exposed:,} of {documents:,} documents {have} such a mention{beyond if bound < 1 else ''}."


def shown_leaks(leaks: Sequence[Leak], kinds: Sequence[str]) -> Iterator[ShownLeak]:
    """Yield the leaks with links between those of one entity."""
    anchors = {
        (leak.document, leak.annotator, leak.start, leak.end): f"leak-{number}"
        for number, leak in enumerate(leaks, 1)
    }
    for number, leak in enumerate(leaks, 1):
        siblings = [
            ShownSibling(one, anchors.get((leak.document, leak.annotator, one.start, one.end)))
            for one in leak.siblings
        ]
        more = leak.mentions - 1 - len(siblings)
        yield ShownLeak(leak, f"leak-{number}", kinds.index(leak.kind), where_masked(leak), siblings, more)


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
            yield from map(ShownTable.of, of_section(f"as {program} counts", section))
