"""The same data under every convention: which F1 is this?

One row for each convention that people report, with precision, recall and F1 over all spans of a layer
(micro averages if there is a choice), and a line on when it counts a span as correct. Everything is counted
in one pass.

The rows of conlleval and seqeval read the tags as they are written, whichever treatment of ill-formed tags is
set; for documents that have spans but no tags on either side they compare the spans. seqeval's strict mode
needs a scheme: the one in the settings or, by default, the scheme of the gold tags. A convention that forbids
overlapping spans has no scores if there are some, and its row says so.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

from clueval.arguments import checked_call, require_instance
from clueval.core.span import SIDES, name_of
from clueval.evaluation.notices import warnings_of
from clueval.evaluation.result import Result
from clueval.evaluation.run import score
from clueval.evaluation.type_counts import TypeCounts, lenient_counts, strict_counts
from clueval.files.errors import OverlapError, TagError, UsageError, warn
from clueval.first.metrics import metric_named
from clueval.first.metrics.counting import Tally, f_measure, rate
from clueval.first.metrics.metric import Metric, Needs, Rates, Side, rates_of
from clueval.options import changed_fields, field_names, with_fields
from clueval.reading.paths import are_paths
from clueval.reports.table import Rate, Table
from clueval.second.reading.options import InputSide, LayerColumns, layer_names
from clueval.second.reading.spooled import spooled
from clueval.second.transforms.options import Preparing
from clueval.spans.flat import in_order_and_flat
from clueval.studies.convention_rows import CONVENTIONS, METRIC, Conventions, convention_row
from clueval.tagging.schemes import flat, neighbours_of, scheme_called, scheme_of
from clueval.tagging.token_schemes import SCHEMES


class _Scheme(NamedTuple):
    """A scheme as seqeval calls it, and its prefixes."""

    name: str
    letters: frozenset[str]


_STRICT = {
    "BIO": _Scheme("IOB2", frozenset("BIO")),
    "IOB1": _Scheme("IOB1", frozenset("BIO")),
    "BIOES": _Scheme("IOBES", frozenset("BIOES")),
    "BILOU": _Scheme("BILOU", frozenset("BILOU")),
    "IOE1": _Scheme("IOE1", frozenset("IOE")),
    "IOE2": _Scheme("IOE2", frozenset("IOE")),
}
"""The schemes of seqeval's strict mode."""

_OF_TAGS = ("conlleval", "seqeval", "seqeval_strict")
"""The keys of the rows that read tags."""


@dataclass(frozen=True, slots=True)
class EveryConvention:
    """All conventions as one metric. `scheme` is the tag scheme (None: detected), `factor` is loio's.

    The tally has the keys of the metrics, each after the name of its metric, ``("refused", metric)`` for documents that
    a metric refuses and ``("gaps", metric)`` for those of them with discontinuous spans; of tags ``("tags", reading,
    what)``, where the reading is ``lenient``, a scheme, or ``spans`` if there are no tags, and ``("neighbours", side,
    tag, next tag)``.
    """

    name: ClassVar[str] = METRIC
    zero: ClassVar[str] = "0"

    scheme: str | None = None
    factor: float = 0.75

    def __post_init__(self) -> None:
        if self.scheme is not None:
            object.__setattr__(self, "scheme", scheme_called(self.scheme))

    def count(self, gold: Side, predicted: Side) -> Tally:
        """Count one document under every convention that allows it."""
        tally: Tally = Tally()
        for name, counted in self._counted(gold, predicted):
            try:
                for key, n in counted().items():
                    tally[key if name == "tags" else (name, *key)] += n
            except OverlapError:
                tally["refused", name] += 1
                if any(span.parts is not None for side in (gold, predicted) for span in side.spans):
                    tally["gaps", name] += 1
        return tally

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        """Return the rows of the table, by the keys of the conventions."""
        found = self._rates_of_tags(total)
        for metric in self._metrics():
            report = metric.scores(_counts_of(metric, total), layers)
            for key, rates in metric.headlines(report).items():
                found[key] = rates, None
        found["exact_unlabelled"] = found["muc_exact"]
        return {
            convention.key: convention_row(
                convention,
                *found[convention.key],
                total["refused", convention.metric],
                total["gaps", convention.metric],
            )
            for convention in CONVENTIONS
        }

    @property
    def needs(self) -> Needs:
        """Return no needs: of documents, only the tags and the borders of sentences matter."""
        return Needs()

    def headlines(self, report: Mapping[str, Any]) -> dict[str, Rates]:
        """Return the rates of every convention that has some."""
        return {key: rates_of(row) for key, row in report.items() if row["f1"] is not None}

    def tables(self, title: str, report: Mapping[str, Any]) -> Iterator[Table]:
        """Yield one table: a row for each convention."""
        rows = [
            [row["convention"], *(Rate(row[rate]) for rate in ("precision", "recall", "f1")), row["counts"]]
            for row in report.values()
        ]
        yield Table(title, ["convention", "precision", "recall", "f1", "a span is correct if"], rows)

    def check(self, total: Tally) -> None:
        """Do nothing: no setting names a label."""

    def _metrics(self) -> list[Metric]:
        return [
            *(metric_named(name) for name in ("muc", "levels", "fair", "gate")),
            metric_named("partial", factor=self.factor),
        ]

    def _counted(self, gold: Side, predicted: Side) -> Iterator[tuple[str, Callable[[], Tally]]]:
        """Yield the functions that count, by name: of tags, and of each metric."""
        yield "tags", partial(self._count_tags, gold, predicted)
        for metric in self._metrics():
            has_gaps = metric.needs.contiguous and any(
                span.parts is not None for side in (gold, predicted) for span in side.spans
            )
            yield metric.name, _refused if has_gaps else partial(metric.count, gold, predicted)

    def _count_tags(self, gold: Side, predicted: Side) -> Tally:
        if gold.tags is None or predicted.tags is None:
            return _tally_of_spans(gold, predicted)
        true, found = _sentences(gold, predicted)
        tally: Tally = Tally()
        letters: set[str] = set()
        for side, sentences in zip(SIDES, (true, found), strict=True):
            for pair, n in neighbours_of(flat(sentences)).items():
                tally["neighbours", side, *pair] += n
                letters.add(pair[1][0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # seqeval warns of prefixes that it does not know
            _add_types(tally, "lenient", lenient_counts(true, found, suffix=False))
        for scheme in _STRICT if self.scheme is None else {self.scheme} & _STRICT.keys():
            if letters <= _STRICT[scheme].letters:
                counts = strict_counts(true, found, SCHEMES[_STRICT[scheme].name], suffix=False)
                _add_types(tally, scheme, counts)
        return tally

    def _rates_of_tags(self, total: Tally) -> dict[str, tuple[Rates | None, str | None]]:
        lenient = _rates(total, "lenient")
        found: dict[str, tuple[Rates | None, str | None]] = {
            "conlleval": (lenient, None),
            "seqeval": (lenient, None),
        }
        try:
            scheme = self.scheme or _scheme_of_tags(total)
        except TagError as error:
            return found | {"seqeval_strict": (None, error.problem)}
        if scheme is None:
            return found | {"seqeval_strict": (_rates(total, "spans"), None)}
        if scheme not in _STRICT:
            return found | {"seqeval_strict": (None, f"seqeval has no scheme {scheme}")}
        name, letters = _STRICT[scheme]
        for key in total:
            if key[0] == "neighbours" and key[3][0] not in letters:
                problem = f"{key[1]} has the tag {key[3]!r}, which is outside the scheme {name}"
                return found | {"seqeval_strict": (None, problem)}
        return found | {"seqeval_strict": (_rates(total, scheme), f"scheme {name}")}


def _refused() -> Tally:
    """Raise `OverlapError` for discontinuous spans, which a metric cannot count."""
    raise OverlapError("discontinuous spans cannot be counted")


def _sentences(gold: Side, predicted: Side) -> Iterator[list[list[str]]]:
    """Yield the tags of each side, cut where sentences begin and end, except within a span of either side."""
    document = gold.document
    assert document is not None  # tags come from a document
    borders = {edge for sentence in document.sentences for edge in sentence[:2]}
    for span in (*gold.spans, *predicted.spans):
        borders.difference_update(range(span.start + 1, span.end))
    for side in (gold, predicted):
        tags = side.tags or ()
        cuts = sorted({0, len(tags), *(border - document.start for border in borders)})
        yield [list(tags[start:end]) for start, end in pairwise(cuts)]


def _add_types(tally: Tally, reading: str, counts: TypeCounts) -> None:
    for what, numbers in zip(_NUMBERS, (counts.true, counts.predicted, counts.right), strict=True):
        tally["tags", reading, what] += sum(numbers)


_NUMBERS = ("gold", "predicted", "right")


def _tally_of_spans(gold: Side, predicted: Side) -> Tally:
    """Return the counts of spans without tags. Raises `OverlapError` for spans that tags cannot express."""
    sides: list[set[tuple[int, int, str]]] = []
    for side in (gold, predicted):
        document = None if side.document is None else side.document.id
        spans = in_order_and_flat(side.spans, document)
        if empty := next((span for span in spans if not len(span)), None):
            raise OverlapError(f"span {name_of(empty)} of zero length has no tag", document=document)
        if gaps := next((span for span in spans if span.parts is not None), None):
            raise OverlapError(f"span {name_of(gaps)} has gaps and no tags", document=document)
        sides.append({(span.start, span.end, span.label) for span in spans})
    counts = (len(sides[0]), len(sides[1]), len(sides[0] & sides[1]))
    return Tally({("tags", "spans", what): n for what, n in zip(_NUMBERS, counts, strict=True)})


def _rates(total: Tally, reading: str) -> Rates:
    """Return the rates of a reading of the tags, including spans without tags."""
    readings = {reading, "spans"}
    gold, predicted, right = (sum(total["tags", one, what] for one in readings) for what in _NUMBERS)
    precision, recall = rate(right, predicted), rate(right, gold)
    return precision, recall, f_measure(precision, recall)


def _scheme_of_tags(total: Tally) -> str | None:
    """Return the scheme of the gold tags, or of the predicted ones if all gold tags are O. Raises `TagError`."""
    for side in SIDES:
        pairs = [key[2:] for key in total if key[:2] == ("neighbours", side)]
        if scheme := scheme_of((previous, tag) for previous, tag in pairs):
            return scheme
    return None


@checked_call
def conventions(
    gold: InputSide,
    predicted: InputSide | None = None,
    *,
    layers: LayerColumns | None = None,
    scheme: str | None = None,
    factor: float = 0.75,
    **reading: Any,
) -> Conventions:
    """Score predicted against gold under every convention.

    Args:
        gold, predicted, layers: as in `clueval.score`; the layers are scored one after another.
        scheme: the tag scheme, also for seqeval's strict mode; None: detected from the tags.
        factor: loio's factor for the credit of a partial match.
        reading: other options of `clueval.score` by their names: those for reading files, such as `input` and
            `token_id`, and those that change spans before they are counted, such as `label_map`.

    Needs one pass; holds one document of each side and the counts. Raises the same errors as `score`.

    >>> from clueval.spans.document import Document; from clueval.core.span import Span
    >>> gold, predicted = (Document("d", {"label": [Span(0, end, "PER")]}) for end in (3, 2))
    >>> rows = conventions([gold], [predicted]).to_dict()["conventions"]["label"]
    >>> [rows[key]["f1"] for key in ("conlleval", "levels_2_labelled", "muc_partial", "fair_fair", "partial")]
    [0.0, 0.0, 0.5, 0.0, 0.5]
    """
    if reading.get("merge") is True or getattr(reading.get("counting"), "merge", False):
        raise UsageError("merge does not apply to conventions", advice="leave it out")
    metric = EveryConvention(scheme, factor)
    given = reading.pop("preparing", Preparing())
    require_instance(given, Preparing, "preparing")
    preparing = with_fields(given, reading)
    reading = {name: value for name, value in reading.items() if name not in field_names(Preparing)}
    with spooled(gold, predicted) as (gold, predicted):
        if are_paths(gold) or "invalid" in reading:
            reading = {**reading, "scheme": scheme}
        if changed_fields(preparing):
            reading = {**reading, "preparing": preparing}
        result = score(gold, predicted, metrics=[metric], layers=layers, **reading)
        if reading.get("unit") == "character" and are_paths(gold):  # tags are those of tokens
            of_tags = score(gold, predicted, metrics=[metric], layers=layers, **reading | {"unit": None})
            for layer, rows in result.metrics[metric.name].items():
                rows |= {key: of_tags.metrics[metric.name][layer][key] for key in _OF_TAGS}
    for message in _more_warnings(result, metric):
        warn(message)
    if not result.metrics[metric.name]:  # there were no documents, so no layers
        empty = {layer: metric.scores(Tally(), [layer]) for layer in layer_names(layers)}
        result = replace(result, metrics={metric.name: empty})
    return Conventions(result)


def _more_warnings(result: Result, metric: EveryConvention) -> Iterator[str]:
    """Yield the warnings that need the numbers of each label, which the rows do not have."""
    assert result.counted is not None
    levels = metric_named("levels")
    reports = {
        layer: levels.scores(
            _counts_of(levels, result.counted.tallies.get((metric.name, layer), Tally())), [layer]
        )
        for layer in result.metrics[metric.name]
    }
    known = set(warnings_of(result))
    for message in warnings_of(replace(result, metrics={levels.name: reports})):
        if message not in known:
            yield message


def _counts_of(metric: Metric, total: Tally) -> Tally:
    """Return the counts of one of the metrics."""
    return Tally({key[1:]: n for key, n in total.items() if key[0] == metric.name})
