"""Readings, and how F1 is counted of two: by which metric, and which entry of its report has the counts.

A reading is what an annotator has marked in a case. The *kind* of a case joins its facets in the order of the alphabet:
``boundary`` (the ranges of those who have something there differ), ``label`` (the labels differ) and ``missing`` (an
annotator has nothing there).

A comparison has a gold and a predicted reading. Counts of comparisons add up over cases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

from clueval.core.case import Case, Sides
from clueval.core.levels import LEVELS
from clueval.core.metric import Counts, Metric, Tally, prf, require_countable
from clueval.core.span import DEFAULT_LAYER, NO_LABEL, Frozen, Ranges, Span, components, first_clash
from clueval.files.errors import OverlapError, UsageError
from clueval.files.options import require_kind
from clueval.metrics import metric_named

Mark = tuple[Ranges, str]
"""The fragments and the label of a span."""

Reading = tuple[Mark, ...]
"""What an annotator has marked, sorted, each once; empty: nothing there."""

Readings = Sequence[Reading | None]
"""The readings of all annotators; None: the annotator lacks the document."""

BOUNDARIES = ("start", "end", "both", "split")


def readings_of(sides: Sides, number: int) -> list[Reading | None]:
    """Return the readings of this number of sides; sides that a case does not list lack the document.

    >>> readings_of(((Span(0, 2, "A"), Span(0, 2, "A")), None), 3)
    [((((0, 2),), 'A'),), None, None]
    """
    listed: list[Reading | None] = [
        None if spans is None else tuple(sorted({(span.fragments, span.label) for span in spans}))
        for spans in sides
    ]
    return listed + [None] * (number - len(listed))


def spans_of(reading: Sequence[Mark], layer: str = DEFAULT_LAYER) -> tuple[Span, ...]:
    """Return the spans of a reading."""
    labels = {label: Frozen({layer: label}) for _, label in reading}
    return tuple(
        [
            Span(*fragments[0], labels[label])
            if len(fragments) == 1
            else Span.of_fragments(fragments, labels[label])
            for fragments, label in reading
        ]
    )


def parts_of(readings: Readings) -> Iterator[list[Reading | None]]:
    """Yield the readings in each overlap component of all spans, by position."""
    rows = sorted(
        (fragments[0][0], fragments[-1][1], number, (fragments, label))
        for number, reading in enumerate(readings)
        for fragments, label in reading or ()
    )
    for members in components(rows):
        marks_by_annotator: list[list[Mark]] = [[] for _ in readings]
        for _, _, number, mark in members:
            marks_by_annotator[number].append(mark)
        yield [
            None if reading is None else tuple(sorted(marks))
            for reading, marks in zip(readings, marks_by_annotator, strict=True)
        ]


def by_label(reading: Reading) -> dict[str, Reading]:
    """Return the spans of a reading by label."""
    marks_of_label: dict[str, list[Mark]] = {}
    for mark in reading:
        marks_of_label.setdefault(mark[1], []).append(mark)
    return {label: tuple(marks) for label, marks in marks_of_label.items()}


def unlabelled(reading: Reading) -> Reading:
    """Return the ranges of a reading, each once, as spans that all have the same label.

    >>> unlabelled(((((0, 2),), "A"), (((0, 2),), "B")))
    ((((0, 2),), '_'),)
    """
    return tuple([(fragments, NO_LABEL) for fragments in dict.fromkeys([mark[0] for mark in reading])])


def majority(readings: Sequence[Reading]) -> Reading:
    """Return the spans that more than half of the readings have.

    >>> two, one = (((0, 2),), "A"), (((3, 4),), "B")
    >>> majority([(two,), (two, one), ()]) == (two,)
    True
    """
    votes: Counter[Mark] = Counter()
    for reading in readings:
        votes.update(reading)
    return tuple(sorted(mark for mark, n in votes.items() if 2 * n > len(readings)))


def kind_of(readings: Readings) -> tuple[str, str | None]:
    """Return the kind, empty if all annotators agree, and which boundaries differ (of `BOUNDARIES`) or None.

    >>> kind_of([((((0, 2),), "LOC"),), ((((0, 3),), "LOC"),), ()])
    ('boundary+missing', 'end')
    >>> kind_of([((((0, 2),), "PER"),), ((((0, 2),), "ORG"),), None])
    ('label', None)
    """
    present = [reading for reading in readings if reading is not None]
    marked = {reading for reading in present if reading}
    ranges = {frozenset([fragments for fragments, _ in reading]) for reading in marked}
    facets, boundary = [], None
    if len(ranges) > 1:
        facets.append("boundary")
        if len({frozenset([label for _, label in reading]) for reading in marked}) > 1:
            facets.append("label")
        parts = [[part for fragments in reading_ranges for part in fragments] for reading_ranges in ranges]
        if any(len(reading_parts) > 1 for reading_parts in parts):  # more than one range, or one with gaps
            boundary = "split"
        elif len({reading_parts[0][0] for reading_parts in parts}) == 1:
            boundary = "end"
        else:
            boundary = "start" if len({reading_parts[0][1] for reading_parts in parts}) == 1 else "both"
    elif len(marked) > 1:
        facets.append("label")
    if () in present:
        facets.append("missing")
    return "+".join(facets), boundary


KEPT, IGNORED, REMOVED = "kept", "ignored", "removed"
"""What happens to labels. `KEPT`: a span needs the right one. `IGNORED`: the metric counts whatever the label, so a
majority is one of ranges. `REMOVED`: only ranges are compared, each once."""

REFUSED = "refused"
"""In a tally, ``(REFUSED, why)`` is how often spans of one annotator could not be counted: they "overlap" or "have
gaps"."""

OVERLAP, GAPS = "overlap", "have gaps"


class CountingRule(NamedTuple):
    """What conventions with the same counts share; `flat`: spans of one annotator must not overlap."""

    metric: str
    labels: str = KEPT
    flat: bool = False


class Convention(NamedTuple):
    """A convention: its key in a report, how it counts, and the path of its counts in the metric's headlines, in which
    the name of the layer may stand."""

    key: str
    counting: CountingRule
    entry: str


_FLAT = CountingRule("exact", flat=True)

CONVENTIONS = (
    Convention("exact", CountingRule("exact"), "micro"),
    Convention("conlleval", _FLAT, "micro"),
    Convention("seqeval", _FLAT, "micro"),
    Convention("seqeval_strict", _FLAT, "micro"),
    Convention("exact_unlabelled", CountingRule("exact", REMOVED), "micro"),
    *(
        Convention(f"levels_{n}_unlabelled", CountingRule("levels", IGNORED), f"unlabelled.{n}")
        for n in LEVELS
    ),
    *(
        Convention(f"levels_{n}_labelled", CountingRule("levels"), f"labelled.{{layer}}.{n}.micro")
        for n in LEVELS
    ),
    Convention("muc_strict", CountingRule("muc"), "strict"),
    Convention("muc_exact", CountingRule("muc", IGNORED), "exact"),
    Convention("muc_partial", CountingRule("muc", IGNORED), "partial"),
    Convention("muc_type", CountingRule("muc"), "type"),
    Convention("fair_fair", CountingRule("fair"), "overall.fair"),
    Convention("partial", CountingRule("partial"), "micro"),
    Convention("gate_strict", CountingRule("gate"), "all"),
    Convention("gate_lenient", CountingRule("gate"), "all.lenient"),
)
"""All conventions, in the order of `clueval.conventions`."""

DEFAULTS = ("exact", "exact_unlabelled", "muc_type")


def chosen_conventions(keys: Sequence[str] = DEFAULTS) -> tuple[Convention, ...]:
    """Return the conventions with these keys. Raises `UsageError` for an unknown one, and for none."""
    by_key = {convention.key: convention for convention in CONVENTIONS}
    for key in keys:
        require_kind(key, "str", "each of conventions")
        if key not in by_key:
            from clueval.files.names import one_of  # only for names that do not exist

            raise UsageError(f"unknown convention {key!r}", advice=one_of(key, by_key))
    if not keys:
        raise UsageError("there is no convention", advice=f"name one of {', '.join(by_key)}")
    return tuple(by_key[key] for key in dict.fromkeys(keys))


_metric: Callable[[str], Any] = cache(metric_named)
"""Returns a metric of cases, whose module is imported when it is first used."""


@lru_cache(maxsize=1 << 14)  # few comparisons are different
def compared(counting: CountingRule, gold: Reading, predicted: Reading, is_majority: bool = False) -> Tally:
    """Return the counts of a comparison: those of the metric, or of `REFUSED`. The tally must not be changed.

    `is_majority`: gold is a majority, of ranges if labels do not count, so that predicted must have ranges, too.
    """
    metric: Metric = _metric(counting.metric)
    if counting.labels == REMOVED:
        gold, predicted = unlabelled(gold), unlabelled(predicted)
    case = Case((spans_of(gold), spans_of(predicted)), (None, None))
    try:
        require_countable(metric, case)
        if counting.flat and any(spans and first_clash(spans) for spans in case.sides):
            return Tally({(REFUSED, OVERLAP): 1})
        if is_majority and counting.labels == IGNORED:
            case = Case((case.gold, spans_of(unlabelled(predicted))), case.counted)
        return metric.count(case)
    except OverlapError:
        return Tally({(REFUSED, OVERLAP): 1})
    except UsageError:
        return Tally({(REFUSED, GAPS): 1})


def rates_of(convention: Convention, total: Tally) -> dict[str, Any] | None:
    """Return the PRF entry of summed comparisons; None if it is not defined, because spans overlap or have gaps.

    Precision without predicted spans, recall without gold spans, and F1 without any are None.
    """
    if refusals_of(total):
        return None
    metric: Metric = _metric(convention.counting.metric)
    layers = [DEFAULT_LAYER]
    entry = convention.entry.format(layer=DEFAULT_LAYER)
    counts = metric.headlines(total, layers)[entry]
    gold, predicted = metric.sizes(total, layers).get(entry, counts[:2])
    precision, recall, f1 = counts.precision, counts.recall, counts.f()
    tp_gold, tp_predicted = _whole(recall * gold), _whole(precision * predicted)
    if tp_gold == tp_predicted:  # the same F1 whichever side is gold, to the last digit
        f1 = 2 * tp_gold / (gold + predicted) if gold or predicted else 0.0
    entry_of_all = prf(Counts(gold, predicted, tp_gold, tp_predicted), precision, recall, f1)
    defined = {"precision": predicted, "recall": gold, "f1": gold or predicted}
    return {name: number if defined.get(name, True) else None for name, number in entry_of_all.items()}


def refusals_of(total: Tally) -> list[str]:
    """Return why summed comparisons are not defined: spans of one annotator "overlap" or "have gaps"."""
    return [why for why in (OVERLAP, GAPS) if total[REFUSED, why]]


def _whole(value: float) -> float:
    """Return a number of spans: a whole number, unless the convention gives credit in parts."""
    return round(value) if abs(value - round(value)) < 1e-9 * max(1, value) else value
