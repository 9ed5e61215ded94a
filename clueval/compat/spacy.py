"""A scorer for spaCy pipelines: spans scored as spaCy scores them, and also with clueval's metrics.

spaCy finds it by its name in the entry-point group ``spacy_scorers``; in a training configuration::

    [components.ner.scorer]
    @scorers = "clueval.span_scorer.v1"
    metrics = ["levels", "fair"]

It works on spaCy's `Example` objects and does not import spaCy. The scores have spaCy's names and,
if reference and prediction have the same tokens, the same values (None if there is no span at all):
``ents_p``, ``ents_r``, ``ents_f``, ``ents_per_type`` (``spans_KEY_p`` and so on for the group KEY of
``doc.spans``). Each metric adds the rates of its headlines, such as ``ents_fair_fair_f`` or
``ents_levels_2_unlabelled_r``, which can be used in ``score_weights``, and its whole report under
``ents_clueval``; ``ents_signature`` is the signature.

As in spaCy, an example whose reference has no entity annotation (which differs from an annotation without
entities) or no group KEY is ignored; ``ents_left_out`` counts these. A predicted entity is ignored if the
annotation is missing (``ent_iob`` 0) on any token of the reference that it covers: it is neither right nor
wrong, under any metric. ``ents_left_out_predictions`` counts these. If a metric forbids overlapping spans,
which groups may have, `OverlapError` names them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from clueval.core.bag import Bag
from clueval.core.count import Plan, count
from clueval.core.document import Document, Layers, Pair, Row, Unit
from clueval.core.metric import f_measure, split_metrics
from clueval.core.span import DEFAULT_LAYER
from clueval.files.errors import UsageError
from clueval.metrics import chosen_metrics
from clueval.reading.same_text import require_same_text
from clueval.reading.triples import PlainText, bag_of_texts
from clueval.results.result import Result
from clueval.results.score import result_of

Scores = dict[str, Any]

UNITS: tuple[Unit, ...] = ("character", "token")

_TOKENS = ("ORTH", "SPACY")
"""The attributes that determine the texts of the tokens, and whether a blank follows."""

NOTHING = {"precision": 0.0, "recall": 0.0, "f1": 0.0}

_BATCH = 200
"""The number of examples that are counted together."""

_LEVELS = "1234"


def make_span_scorer(
    metrics: Sequence[str] | str = ("levels",), spans_key: str | None = None, unit: str = "character"
) -> Callable[..., Scores]:
    """Return a scorer of entities or, with `spans_key`, of a group of spans.

    `metrics` are texts as in `clueval.score`, one or a list, and `exact` is always among them.
    `unit` is the unit of positions. With ``character`` reference and prediction may have different tokens,
    and spans with a blank between them are not adjacent, so they do not tile another; with ``token`` the
    tokens must be the same (`TextMismatch`). Raises `UsageError` for unknown names.

    >>> import spacy
    >>> from spacy.training import Example
    >>> doc = spacy.blank("en")("Ada slept")
    >>> doc.ents = [doc.char_span(0, 3, label="PER")]
    >>> make_span_scorer(["levels"])([Example(doc, doc)])["ents_f"]
    1.0
    """
    if unit not in UNITS:
        raise UsageError(f"unknown unit {unit!r}", advice=f"one of {', '.join(UNITS)}")
    named = [metrics] if isinstance(metrics, str) else metrics
    plan = Plan(chosen_metrics(["exact", *named]))  # raises for an unknown name before training begins

    def score_spans(examples: Iterable[Any], **_: Any) -> Scores:
        bag, left_out = Bag(plan.metrics), _LeftOut()
        texts = _texts(examples, spans_key, unit, left_out, plain=not split_metrics(plan.metrics)[1])
        while batch := list(islice(texts, _BATCH)):
            plain = [text for text in batch if isinstance(text, PlainText)]
            if plain:
                text_bag = bag_of_texts(plain, plan)
                assert text_bag is not None  # entities do not overlap, so each metric of cases counts them
                bag.include(text_bag)
            pairs = [[text] for text in batch if isinstance(text, Pair)]
            bag.include(count(pairs, plan, [DEFAULT_LAYER]))
        result = result_of(bag, plan, is_tagged=False, where="all", choices={})
        return _scores(result, "ents" if spans_key is None else f"spans_{spans_key}", left_out)

    return score_spans


def _texts(
    examples: Iterable[Any], spans_key: str | None, unit: str, left_out: _LeftOut, *, plain: bool
) -> Iterator[PlainText | Pair]:
    """Yield reference and prediction of each example that is annotated; the others are counted as left out.

    With `plain`, examples of entities in characters with equal tokens are plain: their texts are not joined.
    """
    for number, example in enumerate(examples):
        reference, predicted = example.reference, example.predicted
        of_entities = spans_key is None
        if not (reference.has_annotation("ENT_IOB") if of_entities else spans_key in reference.spans):
            left_out.examples += 1
            continue
        gold_spans, predicted_spans = (
            tuple(doc.ents if of_entities else doc.spans.get(spans_key, ())) for doc in (reference, predicted)
        )
        has_same_tokens = reference.to_array(_TOKENS).tobytes() == predicted.to_array(_TOKENS).tobytes()
        if of_entities:
            predicted_spans = left_out.keep(predicted_spans, example, has_same_tokens=has_same_tokens)
        if plain and of_entities and has_same_tokens and unit == "character":
            length = reference[-1].idx + len(reference[-1].text_with_ws) if len(reference) else 0
            yield PlainText(_character_rows(gold_spans), _character_rows(predicted_spans), length, unit=unit)
            continue
        gold_document, predicted_document = (
            _document(doc, spans, str(number), unit)
            for doc, spans in ((reference, gold_spans), (predicted, predicted_spans))
        )
        require_same_text(gold_document, predicted_document)
        yield Pair(gold_document, predicted_document)


def _character_rows(spans: Iterable[Any]) -> list[Row]:
    return [(span.start_char, span.end_char, span.label_) for span in spans]


class _LeftOut:
    """Counts what is not scored because annotation is missing: examples, and predictions by label."""

    __slots__ = ("examples", "labels")

    def __init__(self) -> None:
        self.examples = 0
        self.labels: Counter[str] = Counter()

    def keep(self, predicted: tuple[Any, ...], example: Any, *, has_same_tokens: bool) -> tuple[Any, ...]:
        """Return the predictions that are scored, and count the others.

        A prediction is scored if every token of the reference from the first to the last under it is annotated, and
        there is one. If the texts differ, all are: what counts them refuses the texts.
        """
        reference, predicted_doc = example.reference, example.predicted
        annotations = reference.to_array("ENT_IOB")
        if has_same_tokens and annotations.all():
            return predicted
        if not has_same_tokens:
            has_same_tokens = [token.text for token in reference] == [token.text for token in predicted_doc]
            if not has_same_tokens and reference.text != predicted_doc.text:
                return predicted
        kept = []
        for span in predicted:
            under = annotations[span.start : span.end]
            if not has_same_tokens:
                numbers = example.alignment.x2y[span.start : span.end]
                under = annotations[numbers[0] : numbers[-1] + 1] if len(numbers) else ()
            if len(under) and all(under):  # 0: the annotation is missing
                kept.append(span)
            else:
                self.labels[span.label_] += 1
        return tuple(kept)


def _document(doc: Any, spans: Sequence[Any], id_: str, unit: str) -> Document:
    """Return a spaCy document, with these of its spans, as a `Document`."""
    if unit == "token":
        rows = [(span.start, span.end, span.label_) for span in spans]
        return Document(id_, Layers({}, {DEFAULT_LAYER: rows}), tokens=[token.text for token in doc])
    return Document(id_, Layers({}, {DEFAULT_LAYER: _character_rows(spans)}), text=doc.text, unit="character")


def _scores(result: Result, key: str, left_out: _LeftOut) -> Scores:
    """Return the scores by spaCy's names."""
    scores: Scores = dict.fromkeys((f"{key}_p", f"{key}_r", f"{key}_f", f"{key}_per_type"))
    scores[f"{key}_left_out"] = left_out.examples
    scores[f"{key}_left_out_predictions"] = left_out.labels.total()
    if not result.documents:
        return scores
    reports = {name: sequences[DEFAULT_LAYER] for name, sequences in result.metrics.items()}
    exact = reports["exact"]
    if exact["per_label"]:
        scores |= {f"{key}_{what}": value for what, value in _prf(exact["micro"]).items()}
        unjudged = dict.fromkeys(sorted(left_out.labels), NOTHING)  # spaCy lists their labels too
        scores[f"{key}_per_type"] = {
            label: _prf(prf) for label, prf in {**unjudged, **exact["per_label"]}.items()
        }
    for metric, report in reports.items():
        for headline, values in _headlines(metric, report):
            scores |= {f"{key}_{headline}_{what}": value for what, value in values.items()}
    return scores | {f"{key}_clueval": reports, f"{key}_signature": str(result.signature)}


def _headlines(metric: str, report: Mapping[str, Any]) -> Iterator[tuple[str, Scores]]:
    """Yield the rates that summarise all spans together in a report of a metric, by their names."""
    if metric == "levels":
        for level in _LEVELS:
            yield f"levels_{level}_unlabelled", _prf(report["unlabelled"][level])
            yield f"levels_{level}_labelled", _prf(report["labelled"][DEFAULT_LAYER][level]["micro"])
    elif metric == "fair":
        for way in ("traditional", "fair", "weighted"):
            yield f"fair_{way}", _prf(report["overall"][way])
    elif metric == "gate":
        for way in ("strict", "lenient"):
            yield f"gate_{way}", _prf(report["all"], f"_{way}")
    elif metric == "muc":
        for scheme in ("strict", "exact", "partial", "type"):
            yield f"muc_{scheme}", _prf(report[scheme])
    elif metric == "masking":
        precision, recall = report["precision"]["word_precision"], report["classes"]["all"]["entity_recall"]
        if precision is not None and recall is not None:
            yield metric, _prf({"precision": precision, "recall": recall})
    elif metric == "coverage":
        yield metric, _prf(report["tokens"]["micro"])
    elif "micro" in report:
        yield metric, _prf(report["micro"])


def _prf(rates: Mapping[str, float], way: str = "") -> Scores:
    precision, recall = rates[f"precision{way}"], rates[f"recall{way}"]
    return {"p": precision, "r": recall, "f": f_measure(precision, recall)}
