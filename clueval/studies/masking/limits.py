"""Limits of the figures of a masking report.

A limit is written ``FIGURE=X``; X may be a percentage. FIGURE is a figure of a row, with its class in brackets (all
classes without them), as in ``entity_recall[high]``; or a figure of precision or of redacted texts, or
``string_leaks``; before it, separated by a dot, may stand the name of the sequence, and must if there are several. It
may also be the path of a number below ``metrics`` in the JSON report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from clueval.core.metric import EPSILON
from clueval.files.errors import UsageError, visible
from clueval.files.options import fraction
from clueval.metrics import number_at
from clueval.metrics.masking.counts import MOST_DOCUMENTS
from clueval.reports.language import numeral, phrase
from clueval.results.paths import paths_of, require_fraction, require_least
from clueval.statistics.distributions import trials_needed, upper_bound
from clueval.studies.masking.words import percent_above

Reports = Mapping[str, Mapping[str, Any]]
"""The report of each sequence."""

_FIGURE = re.compile(r"(?:(?P<sequence>.+)\.)?(?P<name>[a-z_]+)(?:\[(?P<kind>.*)\])?", re.DOTALL)

_BOUND = re.compile(r"((?:.+\.)?)document_leak_upper((?:\[.*\])?)", re.DOTALL)
"""The figure that is a bound, with what stands before and after its name."""

_MISSING = object()


def leaks_in_words(reports: Reports) -> Iterator[str]:
    """Yield a line with the number of mentions that are not protected, if there are any."""
    rows = [figures["classes"]["all"] for figures in reports.values()]
    if number := sum(row["mentions"] - row["protected"] for row in rows):
        yield phrase(
            "{n} leak: a mention that must be masked can be read|"
            "{n} leaks: mentions that must be masked can be read",
            n=number,
        )


def listed_in_words(files: Sequence[str]) -> str:
    """Say which files list all leaks; ``-`` is standard output."""
    if not files:
        return phrase("see the leaks in the report; -o FILE.tsv lists all")
    names = (phrase("standard output") if file == "-" else visible(file) for file in files)
    return phrase("listed in {files}", files=", ".join(names))


def require_limits(*limits: Iterable[str]) -> None:
    """Raise `UsageError` for a limit that cannot be read, before anything is counted."""
    for several in limits:
        for text in several:
            _limit(text)


def _limit(text: str) -> tuple[str, float]:
    figure, equals, limit = text.rpartition("=")
    try:
        if not (figure and equals):
            raise ValueError
        return figure, fraction(limit)
    except ValueError:
        raise UsageError(
            f"the limit {text!r} cannot be read",
            advice="write it FIGURE=X, as in entity_recall[high]=1 or mention_recall=99%",
        ) from None


def failures(
    reports: Reports, fail_under: Iterable[str] | str, fail_over: Iterable[str] | str, confidence: float
) -> Iterator[str]:
    """Yield a line for each limit that is not kept; a figure that is undefined, or of an absent class, keeps none.

    Raises `UsageError` for a limit that cannot be read and for an unknown figure.
    """
    for limits, is_lower in ((fail_under, True), (fail_over, False)):
        for figure, limit in map(_limit, [limits] if isinstance(limits, str) else limits):
            value = _value(reports, figure)
            if is_lower:
                require_least(figure, limit)
            require_fraction(figure, figure.partition("[")[0], limit)
            bound = None if is_lower else _BOUND.fullmatch(figure)
            limit_words = {
                "figure": figure,
                "word": phrase("under") if is_lower else phrase("over"),
                "limit": numeral(limit, "g"),
            }
            if value is None:
                yield phrase(
                    "{figure} is undefined{why}, and must not be {word} {limit}",
                    why=_why(reports, figure),
                    **limit_words,
                )
            elif value >= limit - EPSILON if is_lower else value <= limit + EPSILON:
                continue
            elif bound is None:
                yield phrase(
                    "{figure} is {value}, {word} {limit}", value=numeral(value, ".6g"), **limit_words
                )
            else:
                names = ("documents", "documents_exposed")
                number, leaking = (int(_value(reports, name.join(bound.groups())) or 0) for name in names)
                yield phrase(
                    "{figure}: the upper bound is {bound} %, over {limit} %; {needed}",
                    figure=figure,
                    bound=percent_above(value),
                    limit=numeral(100 * limit, "g"),
                    needed=documents_needed(number, leaking, limit, confidence),
                )


def documents_needed(number: int, leaking: int, limit: float, confidence: float) -> str:
    """Say how many documents would keep a limit of the bound, of which none, or as many as now, leak.

    >>> documents_needed(60, 0, 0.01, 0.95)
    '60 documents cannot show less than 4.9 %: 299 documents without a leak are needed'
    """
    least = percent_above(upper_bound(0, number, confidence))
    without, needed = (trials_needed(k, limit + EPSILON, confidence) for k in (0, leaking))
    if without is None:
        return phrase(
            "{n} document cannot show less than {least} %, and {most} would not be enough|"
            "{n} documents cannot show less than {least} %, and {most} would not be enough",
            n=number,
            least=least,
            most=MOST_DOCUMENTS,
        )
    begin = phrase(
        "{n} document cannot show less than {least} %: |{n} documents cannot show less than {least} %: ",
        n=number,
        least=least,
    )
    begin = begin if without > number else ""
    if not leaking:
        return begin + phrase("{without} documents without a leak are needed", without=without)
    return begin + phrase(
        "{without} documents without a leak are needed, or {many} of which {n} leaks|"
        "{without} documents without a leak are needed, or {many} of which {n} leak",
        without=without,
        many=phrase("over {number}", number=MOST_DOCUMENTS) if needed is None else numeral(needed),
        n=leaking,
    )


# --- figures


def _value(reports: Reports, figure: str) -> float | None:
    """Return the value of a figure; None if it is undefined or of an absent class."""
    match = _FIGURE.fullmatch(figure)
    if match is not None:
        sequences = [name for name in reports if match["sequence"] in (None, name)]
        values = [_figure_in_report(reports[name], match["name"], match["kind"]) for name in sequences]
        value = values[0] if values else None if match["sequence"] is None else _MISSING
        if isinstance(value, int | float | None):
            if len(values) > 1:
                raise UsageError(
                    f"there are several sequences, and {figure!r} names none",
                    advice=f"write it {sequences[0]}.{figure}",
                )
            return value
    by_metric = {"masking": reports}
    paths = list(paths_of(by_metric, figure))
    if len(paths) > 1:
        raise UsageError(
            f"the path {figure!r} can be read in {len(paths)} ways", advice="name the figure alone"
        )
    if not paths:
        raise UsageError(f"there is no figure {figure!r}", advice=_advice(reports, figure))
    return number_at(by_metric, paths[0])


def _why(reports: Reports, figure: str) -> str:
    """Return the classes that there are, if no mention has the class of a figure."""
    match = _FIGURE.fullmatch(figure)
    kinds = sorted({kind for report in reports.values() for kind in report["classes"]} - {"all"})
    if match is None or match["kind"] in (None, "all", *kinds):
        return ""
    return phrase(" (the classes are {names})", names=", ".join(kinds))


def _figure_in_report(report: Mapping[str, Any], name: str, kind: str | None) -> Any:
    classes = report["classes"]
    if name in classes["all"]:
        return classes.get("all" if kind is None else kind, {}).get(name)
    others = {"string_leaks": report["string_leaks"], **report["precision"], **(report["redacted"] or {})}
    return others.get(name, _MISSING) if kind is None else _MISSING


def _advice(reports: Reports, figure: str) -> str:
    from clueval.files.names import nearest  # only for figures that do not exist

    first = next(iter(reports.values()), None)
    if first is None:
        return "there are no spans, so there are no figures"
    names = [name for row in (first["classes"]["all"], first["precision"]) for name in row]
    head = figure.partition("[")[0]
    figure_name = head.rpartition(".")[2]
    if figure_name in ("leak", "leaks", "leaked"):
        return "documents_exposed counts documents that leak, missed and partial the mentions"
    if nearest(figure_name.lower(), ["recall"], 0.8):
        begin, kind = head.removesuffix(figure_name), figure.removeprefix(head)
        return f"did you mean {begin}mention_recall{kind} or {begin}entity_recall{kind}?"
    near = nearest(figure_name, names, 0.7)
    return f"did you mean {near}?" if near else f"one of {', '.join(names)}"
