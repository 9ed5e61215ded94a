"""A scorer for spaCy pipelines: spans scored as spaCy scores them, and under clueval's metrics besides.

spaCy finds it by its name in the entry-point group ``spacy_scorers``; in a training configuration::

    [components.ner.scorer]
    @scorers = "clueval.span_scorer.v1"
    metrics = ["levels", "fair"]

It works on spaCy's `Example` objects and imports nothing of spaCy. The scores have the names of spaCy's own and,
where reference and prediction have the same tokens, the same values (None if there is no span at all):
``ents_p``, ``ents_r``, ``ents_f``, ``ents_per_type`` (``spans_KEY_p`` and so on for the group KEY of
``doc.spans``). Each metric adds the rates of its headlines, such as ``ents_fair_fair_f`` or
``ents_levels_2_unlabelled_r``, which can stand among the ``score_weights``, and its whole report under
``ents_clueval``; ``ents_signature`` says what they are.

As in spaCy, an example whose reference has no entity annotation (which is not an annotation of no entities) is
left out; ``ents_left_out`` counts these. Where a metric forbids
overlapping spans, as groups may have, `OverlapError` names them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from clueval.accumulator import Accumulator
from clueval.exceptions import UsageError
from clueval.spans import DEFAULT_LAYER, Document, Frozen, Span, Unit

Scores = dict[str, Any]

UNITS: tuple[Unit, ...] = ("character", "token")


def make_span_scorer(
    metrics: Sequence[str] = ("levels",), spans_key: str | None = None, unit: str = "character"
) -> Callable[..., Scores]:
    """A scorer of entities or, with `spans_key`, of a group of spans.

    `unit` says what positions are. With ``character`` reference and prediction may have different tokens, and
    spans with a blank between them are not adjacent, so they do not tile another; with ``token`` the tokens must
    be the same (`TextMismatch`). Raises `UsageError` for unknown names.
    """
    if unit not in UNITS:
        raise UsageError(f"unknown unit {unit!r}", advice=f"one of {', '.join(UNITS)}")
    chosen = list(dict.fromkeys(["exact", *metrics]))
    Accumulator(chosen)  # so that an unknown name is refused before training begins

    def score_spans(examples: Iterable[Any], **_: Any) -> Scores:
        scores = Accumulator(chosen)
        left_out = 0
        for number, example in enumerate(examples):
            if spans_key is None and not example.reference.has_annotation("ENT_IOB"):
                left_out += 1
                continue
            sides = (example.reference, example.predicted)
            gold, predicted = (_document(doc, str(number), spans_key, unit) for doc in sides)
            scores.update(gold, predicted)
        return _scores(scores, "ents" if spans_key is None else f"spans_{spans_key}", left_out)

    return score_spans


def _document(doc: Any, id_: str, spans_key: str | None, unit: str) -> Document:
    """A document of spaCy's as one of ours."""
    found = doc.ents if spans_key is None else doc.spans.get(spans_key, ())
    if unit == "token":
        spans = [Span(span.start, span.end, span.label_) for span in found]
        return Document(id_, Frozen({DEFAULT_LAYER: spans}), tokens=[token.text for token in doc])
    spans = [Span(span.start_char, span.end_char, span.label_) for span in found]
    return Document(id_, Frozen({DEFAULT_LAYER: spans}), text=doc.text, unit="character")


def _scores(scores: Accumulator, key: str, left_out: int) -> Scores:
    """The scores by the names that spaCy gives to its own."""
    result = scores.compute()
    found: Scores = dict.fromkeys((f"{key}_p", f"{key}_r", f"{key}_f", f"{key}_per_type"))
    found[f"{key}_left_out"] = left_out
    if not result.documents:
        return found
    reports = {name: sequences[DEFAULT_LAYER] for name, sequences in result.metrics.items()}
    exact = reports["exact"]
    if exact["per_label"]:
        found |= {f"{key}_{what}": value for what, value in _prf(exact["micro"]).items()}
        found[f"{key}_per_type"] = {label: _prf(prf) for label, prf in exact["per_label"].items()}
    for metric in result.scored_by:
        for headline, values in metric.headlines(reports[metric.name]).items():
            found |= {f"{key}_{headline}_{what}": value for what, value in zip("prf", values, strict=True)}
    return found | {f"{key}_clueval": reports, f"{key}_signature": str(result.signature)}


def _prf(prf: Mapping[str, float]) -> Scores:
    return {"p": prf["precision"], "r": prf["recall"], "f": prf["f1"]}
