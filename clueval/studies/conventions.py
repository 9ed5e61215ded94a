"""The same data under every convention: which F1 is this?

One row for each convention that people report, with precision, recall and F1 over all spans of a layer (micro averages
if there is a choice), and when it counts a span as correct. Files are read once: one bag has the cases, which all
metrics count, and what the tags say.

The rows of conlleval and seqeval read the tags as they are written, whichever treatment of ill-formed tags is
set; for documents that have spans but no tags on either side they compare the spans. seqeval's strict mode
needs a scheme: the one that is named or, by default, the scheme of the gold tags. A convention that forbids
overlapping spans has no scores if there are some, and its row says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain, pairwise
from typing import Any, ClassVar, NamedTuple

from clueval.core.case import Case, Where
from clueval.core.document import Document, Pair
from clueval.core.metric import RATES, DocumentMetric, Metric, Tally, f_measure, rate, require_countable
from clueval.core.span import SIDES, first_clash
from clueval.core.tags import OUTSIDE, Neighbours, decode_strictly, neighbours_of, scheme_of
from clueval.files.errors import OverlapError, TagError, UsageError, cut_label, warn
from clueval.files.options import checked_call
from clueval.formats.options import LayerColumns, Reading
from clueval.metrics import metric_named, with_settings
from clueval.metrics.seqeval_tags import Decisions, ReachesBeyond, chunks, chunks_between
from clueval.reading import InputSide, is_path_or_paths, spooled
from clueval.reports.language import phrase
from clueval.reports.report import Report
from clueval.reports.table import Cell, Dot, Rate, Table, difference, shown
from clueval.results.inputs import warnings_of
from clueval.results.result import Result
from clueval.results.score import score
from clueval.results.summary import layers_without_spans, mended
from clueval.studies.agreement.conventions import CONVENTIONS as COUNTED

Rates = tuple[float, float, float]
"""Precision, recall and F1."""


class ConventionRow(NamedTuple):
    """A convention: its key in a report, its name, the metric behind it, and when it counts a span as correct."""

    key: str
    name: str
    metric: str
    counts: str


_TAGS, _METRIC = "tags", "conventions"
_UNLABELLED = "exact_unlabelled"

_LEVELS = {
    1: "the same span on the other side",
    2: "the same span, or one that covers it",
    3: "the same, a covering span, or spans that fill it",
    4: "the same, a covering span, or spans that cover it",
}

CONVENTIONS = (
    ConventionRow("conlleval", "conlleval", _TAGS, "same start, end and label; tags are repaired"),
    ConventionRow("seqeval", "seqeval, default", _TAGS, "as conlleval"),
    ConventionRow(
        "seqeval_strict", "seqeval, strict", _TAGS, "as conlleval, of spans whose tags are well-formed"
    ),
    ConventionRow(_UNLABELLED, "exact, unlabelled", _METRIC, "same start and end"),
    *(
        ConventionRow(f"levels_{level}_unlabelled", f"CLUEval level {level}, unlabelled", "levels", counts)
        for level, counts in _LEVELS.items()
    ),
    *(
        ConventionRow(
            f"levels_{level}_labelled",
            f"CLUEval level {level}, labelled",
            "levels",
            f"as level {level}, with the same label",
        )
        for level in _LEVELS
    ),
    ConventionRow("muc_strict", "MUC strict", "muc", "same start, end and label; pairs one to one"),
    ConventionRow("muc_exact", "MUC exact", "muc", "same start and end; pairs one to one"),
    ConventionRow("muc_partial", "MUC partial", "muc", "same start and end; an overlap counts half"),
    ConventionRow("muc_type", "MUC type", "muc", "same label and an overlap; pairs one to one"),
    ConventionRow(
        "fair_fair", "FairEval fair", "fair", "as conlleval; a wrong label or boundary is one error"
    ),
    ConventionRow("partial", "loio", "partial", "same label; an overlap counts for its share"),
    ConventionRow("gate_strict", "GATE strict", "gate", "same start, end and label; 1 without any span"),
    ConventionRow("gate_lenient", "GATE lenient", "gate", "same label and an overlap; 1 without any span"),
)
"""The conventions, in the order of the table."""

_STRICT = {
    "BIO": "IOB2",
    "IOB1": "IOB1",
    "BIOES": "IOBES",
    "BILOU": "BILOU",
    "IOE1": "IOE1",
    "IOE2": "IOE2",
}
"""The schemes of seqeval's strict mode, with seqeval's names."""

_LETTERS = {scheme: frozenset(scheme.translate({ord(digit): None for digit in "12"})) for scheme in _STRICT}
_LENIENT = "lenient"
_DECISIONS = Decisions()
_NUMBERS = ("gold", "predicted", "right")


# Counting


@dataclass(frozen=True, slots=True)
class EveryConvention(Metric):
    """The conventions that count cases, as one metric; `scheme` is the tag scheme (None: detected), `factor` is loio's.

    The tally has the keys of the metrics, each after the name of its metric; ``("exact_unlabelled", what)``; of cases
    that a metric refuses ``("refused", metric)``, and ``("gaps", metric)`` for those of them with discontinuous spans.
    """

    name: ClassVar[str] = _METRIC
    zero: ClassVar[str] = "0,gate=1 if both sides are empty"
    filters: ClassVar[str | None] = "filter by metadata, or filter the files"

    scheme: str | None = None
    factor: float = 0.75

    def __post_init__(self) -> None:
        _metrics(self.factor)  # raises for a factor that cannot be

    def count(self, case: Case) -> Tally:
        """Count a case under every convention that allows it."""
        tally = Tally()
        _add(tally, _UNLABELLED, *({span.fragments for span in side} for side in (case.gold, case.predicted)))
        for metric in _metrics(self.factor):
            try:
                require_countable(metric, case)
            except (OverlapError, UsageError):
                tally["refused", metric.name] += 1
                has_gaps = any(span.parts is not None for span in (*case.gold, *case.predicted))
                tally["gaps", metric.name] += has_gaps
                continue
            for key, number in metric.count(case).items():
                tally[metric.name, *key] = number
        return tally

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        """Return precision, recall and F1 by the keys of the conventions, and the refused cases by metric."""
        headlines = {
            metric.name: metric.headlines(
                Tally({key[1:]: number for key, number in total.items() if key[0] == metric.name}), layers
            )
            for metric in _metrics(self.factor)
        }
        rates = {_UNLABELLED: _rates(total, _UNLABELLED)}
        for key, (metric_name, *_), entry in COUNTED:
            if metric_name in headlines:
                counts = headlines[metric_name][entry.format(layer=layers[0])]
                rates[key] = counts.precision, counts.recall, counts.f()
                if metric_name == "gate" and not any(counts):  # GATE's 0/0 is 1
                    rates[key] = 1.0, 1.0, 1.0
        refused = {
            metric: {"cases": number, "gaps": total["gaps", metric]}
            for (kind, metric, *_), number in total.items()
            if kind == "refused"
        }
        return {"rates": rates, "refused": refused}


@lru_cache
def _metrics(factor: float) -> list[Metric]:
    metrics: list[Any] = [metric_named(name) for name in ("muc", "levels", "fair", "gate")]
    return [*metrics, metric_named("partial", factor=factor)]


@dataclass(frozen=True, slots=True)
class TagReadings(DocumentMetric):
    """The conventions that read tags as they are written: conlleval, and both modes of seqeval.

    The tally has the keys ``(reading, what)``, where the reading is ``lenient``, a scheme, or ``spans`` for documents
    without tags; ``("neighbours", side, tag, next tag)``; and ``("refused", "documents")`` for documents whose spans
    tags cannot express, ``("gaps", "documents")`` for those of them with discontinuous spans.
    """

    name: ClassVar[str] = _TAGS

    scheme: str | None = None

    def count_tags(self, gold: Sequence[str], predicted: Sequence[str]) -> Tally | None:
        """Count the tags between two positions that are O on both sides; None if those before matter."""
        try:
            sides = [_decoded_between(tuple(tags)) for tags in (gold, predicted)]
        except ReachesBeyond:
            return None
        return self._tally_of_tags(*sides)

    def count_documents(self, pairs: Sequence[Pair], sequence: str, where: Where) -> Tally:
        """Count the tags of the pairs of one text."""
        tally = Tally()
        for pair in pairs:
            if any(sequence not in side.tags for side in pair.sides):
                tally.update(_tally_of_spans(pair, sequence))
            else:
                tally.update(self._tally_of_tags(*map(_decoded_sentences, _sentences(pair, sequence))))
        return tally

    def _tally_of_tags(self, gold: _Decoded, predicted: _Decoded) -> Tally:
        tally = Tally()
        for side, decoded in zip(SIDES, (gold, predicted), strict=True):
            for pair, number in decoded.neighbours.items():
                tally["neighbours", side, *pair] = number
        for reading in gold.spans.keys() & predicted.spans.keys():
            if reading == _LENIENT or self.scheme in (None, reading):
                _add(tally, reading, gold.spans[reading], predicted.spans[reading])
        return tally

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        """Return the rates by the keys of the conventions, None without any, and the note on the strict reading."""
        lenient = _rates(total, _LENIENT)
        rates, note = self._strictly(total)
        refused = {"cases": total["refused", "documents"], "gaps": total["gaps", "documents"]}
        return {
            "rates": {"conlleval": lenient, "seqeval": lenient, "seqeval_strict": rates},
            "refused": {_TAGS: refused} if refused["cases"] else {},
            "note": note,
        }

    def _strictly(self, total: Tally) -> tuple[Rates | None, str | None]:
        try:
            scheme = self.scheme or _scheme_of_tags(total)
        except TagError as error:
            return None, error.problem
        if scheme is None:
            return _rates(total, "spans"), None
        if scheme not in _STRICT:
            return None, f"seqeval has no scheme {scheme}"
        for key in sorted(key[1:] for key in total if key[0] == "neighbours"):
            side, _, tag = key
            if tag[0] not in _LETTERS[scheme]:
                return None, f"{side} has the tag {tag!r}, which is outside the scheme {_STRICT[scheme]}"
        return _rates(total, scheme), f"scheme {_STRICT[scheme]}"


class _Decoded(NamedTuple):
    """Tags: how often each follows another, and their spans by reading, for the schemes that have these tags."""

    neighbours: Neighbours
    spans: Mapping[str, AbstractSet[Any]]


@lru_cache(maxsize=1 << 12)
def _decoded_between(tags: tuple[str, ...]) -> _Decoded:
    """Decode the tags between two O. Raises `ReachesBeyond` if a span begins before them."""
    return _decoded([tags], chunks_between(tags, _DECISIONS))


def _decoded_sentences(sentences: Sequence[Sequence[str]]) -> _Decoded:
    flat = [tag for sentence in sentences for tag in (*sentence, OUTSIDE)]
    return _decoded(sentences, chunks(flat))


def _decoded(sentences: Sequence[Sequence[str]], lenient: Iterable[Any]) -> _Decoded:
    neighbours: Neighbours = Counter()
    for sentence in sentences:
        neighbours.update(neighbours_of(sentence))
    letters = {tag[0] for _, tag in neighbours}
    spans: dict[str, AbstractSet[Any]] = {_LENIENT: set(lenient)}
    for scheme in [scheme for scheme in _STRICT if letters <= _LETTERS[scheme]]:
        by_sentence = (
            ((n, *span) for span in decode_strictly(tags, scheme)) for n, tags in enumerate(sentences)
        )
        spans[scheme] = set(chain.from_iterable(by_sentence))
    return _Decoded(neighbours, spans)


def _add(tally: Tally, reading: str, gold: AbstractSet[Any], predicted: AbstractSet[Any]) -> None:
    for what, spans in zip(_NUMBERS, (gold, predicted, gold & predicted), strict=True):
        tally[reading, what] += len(spans)


def _sentences(pair: Pair, sequence: str) -> Iterator[list[list[str]]]:
    """Yield the tags of each side, cut where sentences begin and end, except within a span of either side."""
    borders = {edge for sentence in pair.gold.sentences for edge in sentence[:2]}
    for span in (span for side in pair.sides for span in side.layers.get(sequence, ())):
        borders.difference_update(range(span.start + 1, span.end))
    for side in pair.sides:
        tags = side.tags[sequence]
        cuts = sorted({0, len(tags), *(border - pair.gold.start for border in borders)})
        yield [list(tags[start:end]) for start, end in pairwise(cuts)]


def _tally_of_spans(pair: Pair, sequence: str) -> Tally:
    """Return the counts of spans without tags."""
    sides = [side.layers.get(sequence, ()) for side in pair.sides]
    gaps = any(span.parts is not None for spans in sides for span in spans)
    if gaps or any(first_clash(spans) or not all(map(len, spans)) for spans in sides):
        return Tally({("refused", "documents"): 1, ("gaps", "documents"): int(gaps)})
    tally = Tally()
    _add(tally, "spans", *({(span.start, span.end, span.label) for span in spans} for spans in sides))
    return tally


def _rates(total: Tally, reading: str) -> Rates:
    """Return the rates of a reading of the tags, including spans without tags."""
    gold, predicted, right = (sum(total[source, what] for source in {reading, "spans"}) for what in _NUMBERS)
    precision, recall = rate(right, predicted), rate(right, gold)
    return precision, recall, f_measure(precision, recall)


def _scheme_of_tags(total: Tally) -> str | None:
    """Return the scheme of the gold tags, or of the predicted ones if all gold tags are O. Raises `TagError`."""
    for side in SIDES:
        pairs = [(key[2], key[3]) for key in total if key[:2] == ("neighbours", side)]
        if scheme := scheme_of(pairs):
            return scheme
    return None


# The function


@checked_call
def conventions(
    gold: InputSide,
    predicted: InputSide | None = None,
    *,
    layers: LayerColumns | None = None,
    scheme: str | None = None,
    factor: float = 0.75,
    **options: Any,
) -> Conventions:
    """Score predicted against gold under every convention.

    Args:
        gold, predicted, layers: as in `clueval.score`; the layers are scored one after another.
        scheme: the tag scheme, also for seqeval's strict mode; None: detected from the tags.
        factor: loio's factor for the credit of a partial match.
        options: other options of `clueval.score` by their names: those for reading files, such as `input` and
            `token_id`, those that change spans before they are counted, such as `label_map`, and `where` on metadata.

    Needs one pass; holds one document of each side and the counts. Raises the same errors as `score`.

    >>> from clueval import Document, Span
    >>> gold, predicted = (Document("d", {"label": [Span(0, end, "PER")]}) for end in (3, 2))
    >>> rows = conventions([gold], [predicted]).to_dict()["conventions"]["label"]
    >>> [rows[key]["f1"] for key in ("conlleval", "levels_2_labelled", "muc_partial", "fair_fair", "partial")]
    [0.0, 0.0, 0.5, 0.0, 0.5]
    """
    if options.get("merge") is True:
        raise UsageError("merge does not apply to conventions", advice="leave it out")
    scheme = Reading(scheme=scheme).scheme
    metric, tags = EveryConvention(scheme, factor), TagReadings(scheme)
    with spooled(gold, predicted) as (gold, predicted):
        (gold, are_documents), (predicted, as_well) = map(_are_documents, (gold, predicted))
        if not are_documents or not as_well:
            options["scheme"] = scheme
        count = partial(score, gold, predicted, layers=layers, **options)
        result = count(metrics=[metric, tags])
        tag_result = result
        if options.get("unit") == "character" and is_path_or_paths(gold):  # tags are those of tokens
            tag_result = count(metrics=[tags], unit=None)
    report = Conventions(result, tag_result.metrics[_TAGS])
    if not any(scores["refused"] for scores in result.metrics[_METRIC].values()) and not result.bag.folded:
        messages = set(warnings_of(result))
        for message in warnings_of(result.scored("levels")):
            if message not in messages:
                warn(message)
    return report


def _are_documents(side: Any) -> tuple[Any, bool]:
    """Return a side, and whether it has documents, whose spans are known: a scheme tells how seqeval reads the tags."""
    if side is None or is_path_or_paths(side) or not isinstance(side, Iterable):
        return side, side is None or isinstance(side, Document)
    items = iter(side.values() if isinstance(side, Mapping) else side)
    first = next(items, None)
    is_read_once = items is side and first is not None
    return chain((first,), items) if is_read_once else side, isinstance(first, Document)


class Conventions(Report):
    """The result of `conventions`: a row for each convention, for each layer.

    `result` is what was counted, and `of_tags` are the reports of `TagReadings` by layer.

    >>> rows = conventions([["B-PER", "I-PER"]], [["B-PER", "O"]]).rows()
    >>> {row["convention"]: row["f1"] for row in rows if row["convention"] in ("conlleval", "muc_type")}
    {'conlleval': 0.0, 'muc_type': 1.0}
    """

    named_by: ClassVar[Sequence[str]] = ("sequence", "convention")
    text_width: ClassVar[int] = 150

    def __init__(self, result: Result, of_tags: Mapping[str, Mapping[str, Any]]) -> None:
        self.result = result
        (metric,) = (metric for metric in result.scored_by if isinstance(metric, EveryConvention))
        zero = "0/0=0,gate=1 if both sides are empty"
        self.signature = str(result.signature.citing(metrics=with_settings(metric), zero=zero))
        self.rows_by_layer = {
            layer: _rows(of_cases, of_tags[layer]) for layer, of_cases in result.metrics[_METRIC].items()
        }

    @property
    def title(self) -> str:  # type: ignore[override]  # in the language of the context
        return phrase("Which F1 is this?")

    def content(self) -> dict[str, Any]:
        """Return everything as plain dictionaries; rates are fractions, or None if a convention has none."""
        report = self.result.content()
        del report["metrics"]
        return {**report, "signature": self.signature, "conventions": self.rows_by_layer}

    def verdict(self) -> str:
        """Return the F1 of conlleval, and the lowest and the highest of all."""
        verdicts = []
        shown_layers = self._shown()
        for layer, rows in shown_layers.items():
            rates = {row["convention"]: row["f1"] for row in rows.values() if row["f1"] is not None}
            if not rates:
                continue
            low, high = (choose(rates, key=rates.__getitem__) for choose in (min, max))
            verdict = phrase(
                "F1 from {low} ({lowest}) to {high} ({highest})",
                low=shown(Rate(rates[low])),
                lowest=low,
                high=shown(Rate(rates[high])),
                highest=high,
            )
            verdicts.append(verdict if len(shown_layers) == 1 else f"{layer}: {verdict}")
        return "; ".join(verdicts)

    def facts(self) -> Iterator[str]:
        yield from self.result.facts()
        yield from mended(self.result.repaired_tags, None)

    def tables(self) -> Iterator[Table]:
        """Yield one table: the conventions, of each layer F1 and the difference from the first row, and the rule."""
        layers = self._shown()
        header, several = [phrase("convention")], len(layers) > 1
        for layer in layers:
            header += [cut_label(layer) if several else "F1", phrase("difference")]
        rows: list[list[Cell]] = []
        for key, row in next(iter(layers.values()), {}).items():
            numbers = (
                cell
                for layer_rows in layers.values()
                for cell in _numbers(layer_rows[key], next(iter(layer_rows.values())))
            )
            defined = any(layer_rows[key]["f1"] is not None for layer_rows in layers.values())
            rule = phrase(row["counts"]) if defined else phrase("not defined here")
            rows.append([row["convention"], *numbers, rule])
        title = "F1" if several else next(iter(layers), "F1")
        yield Table(title, [*header, phrase("a span is correct if")], rows)

    def _shown(self) -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
        """Return the rows of each layer that has spans; of all if none has any."""
        empty = layers_without_spans(self.result.inputs)
        return {layer: rows for layer, rows in self.rows_by_layer.items() if layer not in empty}

    def data(self) -> Iterator[Mapping[str, Any]]:
        for layer, rows in self.rows_by_layer.items():
            for key, row in rows.items():
                yield {
                    "sequence": layer,
                    "convention": key,
                    "name": row["convention"],
                    **{name: row[name] for name in (*RATES, "counts", "note")},
                }


def _numbers(row: Mapping[str, Any], first: Mapping[str, Any]) -> list[Cell]:
    """Return F1, and its difference from the first row in points, or why there is none."""
    f1 = row["f1"]
    if f1 is None:
        return [None, phrase(row["note"])]
    return [Dot(f1, is_baseline=row is first), "" if f1 == first["f1"] else difference(first["f1"], f1)]


REFUSED = {
    (False, False): "some spans overlap",
    (False, True): "some spans overlap or have gaps",
    (True, False): "some spans overlap or have no length",
    (True, True): "some spans overlap or have no length or have gaps",
}
"""Why a convention has no rates, by whether it counts tags and whether spans have gaps."""


def _rows(case_report: Mapping[str, Any], tag_report: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the rows of a layer, by the keys of the conventions."""
    rates = {**case_report["rates"], **tag_report["rates"]}
    refused = {**case_report["refused"], **tag_report["refused"]}
    rows: dict[str, dict[str, Any]] = {}
    for convention in CONVENTIONS:
        note = tag_report["note"] if convention.key == "seqeval_strict" else None
        convention_rates: Rates | None = rates[convention.key]
        if convention.metric in refused:
            note = REFUSED[convention.metric == _TAGS, refused[convention.metric]["gaps"] > 0]
            convention_rates = None
        precision, recall, f1 = convention_rates or (None, None, None)
        row = {"convention": convention.name, "precision": precision, "recall": recall, "f1": f1}
        rows[convention.key] = {**row, "counts": convention.counts, "note": note}
    return rows
