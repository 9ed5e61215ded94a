"""Every convention from files that are compared, not decoded line by line: as fast as `score`, in flat memory.

In tags of BIO or BIOES, conlleval, seqeval and the metric `exact` read the same spans. In seqeval's strict mode, a span
of invalid tags does not count. So if tags were repaired, a second pass discards these spans. The scheme is that of the
gold tags, as seqeval's users name it. All other data is counted document by document (`conventions`).
"""

from __future__ import annotations

from typing import Any
from warnings import catch_warnings, simplefilter

from clueval.evaluation.result import Result
from clueval.evaluation.run import score
from clueval.exceptions import CluevalWarning, OverlapError, require_kind
from clueval.metrics import metric_named
from clueval.metrics.metric import Rates
from clueval.spans.compared import SIDES
from clueval.studies.convention_rows import CONVENTIONS, convention_row

Rows = dict[str, dict[str, Any]]

_NAMES = {"BIO": "IOB2", "BIOES": "IOBES"}
"""The schemes in which `exact` reads the spans of conlleval and seqeval, and seqeval's names of them."""

_PREFIXES = {"BIO": {"BIO", "IOB1", "IO"}, "BIOES": {"BIO", "IOB1", "IO", "IOE2", "BIOES"}}
"""The schemes whose prefixes occur in each scheme."""

_METRICS = ("exact", "muc", "levels", "fair", "gate")


class Incomparable(Exception):
    """The data needs documents."""


def compared_rows(gold: Any, predicted: Any, factor: float, **options: Any) -> tuple[Result, dict[str, Rows]]:
    """Return the result and, by layer, the rows of all conventions. Raises `Incomparable`, and errors as `score`."""
    invalid = options.get("invalid")
    require_kind(invalid, "str | None", "invalid")
    if invalid not in (None, "conlleval"):
        raise Incomparable
    metrics = [*map(metric_named, _METRICS), metric_named("partial", factor=factor)]
    try:
        result = score(gold, predicted, metrics=metrics, **options)
    except OverlapError:
        raise Incomparable from None
    schemes = {layer: _scheme(result, layer) for layer in result.metrics["exact"]}
    strict = result
    if any(result.repaired_tags.values()) or not _has_schemes(result, schemes):
        if len(set(schemes.values())) > 1:
            raise Incomparable
        (scheme,) = set(schemes.values())
        strictly = {**options, "scheme": scheme, "invalid": "discard"}
        with catch_warnings():
            simplefilter("ignore", CluevalWarning)  # the first pass has warned
            strict = score(gold, predicted, metrics="exact", **strictly)
    return result, {
        layer: _rows(result, strict, layer, f"scheme {_NAMES[scheme]}") for layer, scheme in schemes.items()
    }


def _scheme(result: Result, layer: str) -> str:
    """Return the scheme of gold, or of predicted if all gold tags are O. Raises `Incomparable` for one unknown here."""
    gold, predicted = (result.inputs[side]["layers"][layer]["scheme"] for side in SIDES)
    scheme: str = gold or predicted
    treatments = result.signature.choices["invalid"]
    if scheme not in _NAMES or treatments != "conlleval" or not result.documents:
        raise Incomparable
    if predicted is not None and predicted not in _PREFIXES[scheme]:
        raise Incomparable
    return scheme


def _has_schemes(result: Result, schemes: dict[str, str]) -> bool:
    """Whether the tags of both sides, or those of one if the others are all O, are recognised as of these schemes."""
    return all(
        result.inputs[side]["layers"][layer]["scheme"] in (None, scheme)
        for layer, scheme in schemes.items()
        for side in SIDES
    )


def _rows(result: Result, strict: Result, layer: str, note: str) -> Rows:
    found: dict[str, Rates] = {}
    for metric in result.scored_by:
        found |= metric.headlines(result.metrics[metric.name][layer])
    exact = metric_named("exact")
    strictly = exact.headlines(strict.metrics[exact.name][layer])[exact.name]
    found |= {
        "conlleval": found[exact.name],
        "seqeval": found[exact.name],
        "seqeval_strict": strictly,
        "exact_unlabelled": found["muc_exact"],
    }
    notes = {"seqeval_strict": note}
    return {
        convention.key: convention_row(convention, found[convention.key], notes.get(convention.key))
        for convention in CONVENTIONS
    }
