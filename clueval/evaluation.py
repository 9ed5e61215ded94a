"""The evaluation: pairs gold with predicted, checks that they are the same text, and counts.

Files of the column formats are compared passage by passage, raw; everything else goes document by document
through the metrics. Both ways give the same counts, and the second is the model for the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from itertools import zip_longest
from pathlib import Path
from typing import Any

from clueval.agreement import SIDES
from clueval.exceptions import UsageError
from clueval.filters import parse_where
from clueval.metric import Metric
from clueval.metrics import METRICS, metric_named
from clueval.passages import ROWS, Passage
from clueval.reading import (
    Documents,
    LayerColumns,
    ReadOptions,
    Source,
    columns_of_side,
    document_pairs,
    documents_of,
    ends_early,
    layer_names,
    path_pairs,
    same_documents,
    source_pairs,
)
from clueval.results import Result, Signature
from clueval.running import Evaluation, Plan
from clueval.sources import Progress, blocks
from clueval.spans import DEFAULT_LAYER, Document
from clueval.version import __version__


def evaluate(
    gold: str | Path | Sequence[str | Path] | Documents,
    predicted: str | Path | Sequence[str | Path] | Documents | None = None,
    *,
    metrics: Sequence[str | Metric] | str = ("levels",),
    layers: LayerColumns | None = None,
    merge: bool = False,
    where: Iterable[str] | Mapping[str, Any] = (),
    by: str | Iterable[str] = (),
    input: str | None = None,
    token: int | None = None,
    token_id: int | None = None,
    scheme: str | None = None,
    invalid: str = "conlleval",
    document_tag: str = "text",
    sentence_tag: str = "s",
    text: str | Path | None = None,
    ignore_punct: bool = True,
    gold_set: str | None = None,
    predicted_set: str | None = None,
    unit: str | None = None,
    align: bool | int = False,
    progress: Progress | None = None,
) -> Result:
    """Score predicted against gold.

    Args:
        gold, predicted: two files, two folders (paired by relative name), two lists of files (paired in order)
            or two iterables of documents in the same order; or one file that has both, and None.
        metrics: names of metrics (see `clueval.metrics.METRICS`) or metrics.
        layers: name and column of each layer, or the gold and the predicted column as a pair; columns count
            from 1, or from -1 at the end. None: the last column, of a single file the last two.
        merge: merge all layers into one sequence, `merged`, and score that.
        where: conditions ``KEY=VALUE`` on layers or metadata; `clueval.filters` says what is counted.
        by: metadata, or ``document``, to break the scores down by.
        input, token, token_id, scheme, invalid, document_tag, sentence_tag, text, ignore_punct: as in
            `clueval.read`.
        gold_set, predicted_set: the annotation sets of the two sides, in formats that have several by name;
            with `predicted` None both are taken from the same files.
        unit: ``character`` to count the positions of tokens in characters, token texts joined by blanks.
        align: True if the two sides' texts differ and predicted spans are to be projected onto the gold text
            (needs rapidfuzz, extra ``align``); a number is the greatest product of the lengths of two texts.
            The metric ``noisy`` compares different texts without it.
        progress: is called with the number of bytes read, again and again.

    Returns the `Result`. One pass; held in memory are one document or passage of each side and the counts.
    Raises `CluevalError` for wrong use or input, `TextMismatch` where the two sides differ in their text.
    """
    if unit not in (None, "token", "character"):
        raise UsageError(f"unknown unit {unit!r}", advice="token or character")
    if unit not in (None, "token", "character"):
        raise UsageError(f"unknown unit {unit!r}", advice="token or character")
    plan = Plan(
        _metrics(metrics),
        merge,
        parse_where(where),
        (by,) if isinstance(by, str) else tuple(by),
        unit,
        _cells(align),
    )
    evaluation = Evaluation(plan, [] if layers is None else layer_names(layers))
    pairs = path_pairs(gold, predicted)
    if pairs is not None:
        options = [
            ReadOptions(
                columns_of_side(layers, side, predicted is None and gold_set is None),
                input,
                token,
                token_id,
                scheme,
                invalid,
                document_tag,
                sentence_tag,
                None if text is None else Path(text),
                ignore_punct,
                whole_text=plan.texts_may_differ and plan.align is None,
                annotation_set=(gold_set, predicted_set)[side],
            )
            for side in range(2)
        ]
        for own, other in source_pairs(pairs, options, progress):
            _count_sources(evaluation, own, other)
        choices = {"scheme": scheme or "auto", "invalid": invalid}
    else:
        if isinstance(gold, str | Path) or predicted is None or isinstance(predicted, str | Path):
            raise UsageError(
                "one side is a path and the other is not", advice="give two paths or two iterables"
            )
        for pair in same_documents(documents_of(gold), documents_of(predicted)):
            _count_pair(evaluation, pair)
        choices = {"scheme": "documents", "invalid": "documents"}
    return evaluation.result(_signature(plan, choices, evaluation.units))


def _cells(align: bool | int) -> int | None:
    """The greatest product of the lengths of two texts to be aligned, or None if none are."""
    if align is False:
        return None
    from clueval.alignment import MAX_CELLS

    return MAX_CELLS if align is True else align


def _metrics(names: Sequence[str | Metric] | str) -> tuple[Metric, ...]:
    chosen: list[Metric] = []
    for name in names.split(",") if isinstance(names, str) else names:
        chosen.append(metric_named(name) if isinstance(name, str) else name)
    if not chosen:
        raise UsageError("no metric is named", advice=f"one of {', '.join(METRICS)}")
    return tuple({metric.name: metric for metric in chosen}.values())


def _count_sources(evaluation: Evaluation, own: Source, other: Source) -> None:
    """Count a pair of files, raw where that is enough."""
    spans_wanted = bool(evaluation.plan.where.on_layers(evaluation.layers or layer_names(None)))
    raw = own.has_passages and other.has_passages and not spans_wanted
    if raw and not evaluation.plan.needs_documents:
        _count_passages(evaluation, own, other)
    elif evaluation.counts_fair_alone and {own.format, other.format} <= {"fair-spans", "conll2000"}:
        _count_fair_files(evaluation, own, other)
    else:
        for pair in document_pairs(own, other):
            _count_pair(evaluation, pair)


def _count_pair(evaluation: Evaluation, pair: tuple[Document, Document]) -> None:
    evaluation.count_documents(*pair)
    for side, document in zip(SIDES, pair, strict=True):
        evaluation.repaired[side] += document.repaired


def _count_passages(evaluation: Evaluation, own: Source, other: Source) -> None:
    names = layer_names(own.options.layers)
    evaluation.see_layers(names)
    decoders = {(side, layer): own.options.decoder() for side in SIDES for layer in names}
    waiting: list[tuple[Passage, Passage]] = []
    tokens = 0
    for gold, predicted in zip_longest(own.passages(), other.passages()):
        if gold is None or predicted is None:
            evaluation.count_passages(waiting, decoders)
            raise ends_early(own, other, gold is None, (gold or predicted).document)
        waiting.append((gold, predicted))
        tokens += gold.tokens
        if tokens >= ROWS or len(waiting) >= ROWS:
            evaluation.count_passages(waiting, decoders)
            waiting, tokens = [], 0
    if waiting:
        evaluation.count_passages(waiting, decoders)
    for (side, _), decoder in decoders.items():
        evaluation.repaired[side] += decoder.repaired()


def _count_fair_files(evaluation: Evaluation, own: Source, other: Source) -> None:
    from clueval.fair_files import run_blocks
    from clueval.metrics.fair import Fair

    (metric,) = evaluation.plan.metrics
    assert isinstance(metric, Fair)
    run = run_blocks(
        blocks(own.path, own.progress),
        blocks(other.path, other.progress),
        metric,
        target_file=str(own.path),
        system_file=str(other.path),
        ignore_punct=own.options.ignore_punct,
    )
    evaluation.see_layers([DEFAULT_LAYER])
    evaluation.units.add("token")
    evaluation.total.documents += run.sentences
    evaluation.total.add(metric.name, DEFAULT_LAYER, run.tally)
    for side, repaired in zip(SIDES, run.repaired, strict=True):
        evaluation.repaired[side] += repaired


def _signature(plan: Plan, choices: Mapping[str, str], units: Iterable[str]) -> Signature:
    """The choices behind a result."""
    settings = {}
    for metric in plan.metrics:
        values = {f.name: getattr(metric, f.name) for f in fields(metric) if f.compare}  # type: ignore[arg-type]
        settings[metric.name] = ",".join(f"{key}={_plain(value)}" for key, value in values.items())
    return Signature(
        {
            "metrics": "+".join(
                f"{name}({setting})" if setting else name for name, setting in settings.items()
            ),
            "unit": "+".join(sorted(units)) or "token",
            **choices,
            "merge": "yes" if plan.merge else "no",
            "where": str(plan.where) or "all",
            "zero": "0/0=0",
            "text": "aligned" if plan.texts_may_differ else "equal",
            "version": __version__,
        }
    )


def _plain(value: object) -> str:
    if isinstance(value, Mapping):
        return "/".join(f"{key}={_plain(part)}" for key, part in value.items())
    if isinstance(value, tuple | list | set | frozenset):
        return "/".join(map(str, value)) or "none"
    if value is None:
        return "default"
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)
