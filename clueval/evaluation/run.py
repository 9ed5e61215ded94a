"""`score`: pairs gold with predicted, checks that their texts are equal, and counts.

Column files, lists of tags and lists of spans are counted by distinct clusters, without a document for each text, if
`Plan.counts_clusters` allows it; otherwise metrics count pairs of documents. Both ways give the same counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

from clueval.arguments import checked_call, require_kind
from clueval.evaluation.count_files import (
    FilePair,
    choices_of_tags,
    count_files,
    count_groups,
    placed,
    sha256_of_gold,
)
from clueval.evaluation.engine import Evaluation
from clueval.evaluation.notices import repairs_of, swapped, warnings_of
from clueval.evaluation.plan import Plan, choices_of, chosen_metrics, require_depths, require_sentences
from clueval.evaluation.result import Result, choices_of_counts, result_of
from clueval.evaluation.signature import Signature
from clueval.evaluation.units.unit import BY_DEFAULT, DOCUMENT, FEW_DOCUMENTS, SENTENCE
from clueval.files.errors import CluevalWarning, UsageError, described, warn
from clueval.files.overwriting import keeps_inputs
from clueval.first.metrics.metric import Metric
from clueval.reading.given import Given, given
from clueval.reading.pairing import files_of_side, parallel
from clueval.reading.paths import path_pairs
from clueval.reading.read_options import ReadOptions
from clueval.second.formats.options import Reading
from clueval.second.reading.options import (
    ANSWER_FORMATS,
    InputSide,
    LayerColumns,
    Readings,
    layer_names,
    require_layers,
    require_none,
)
from clueval.second.reading.paths import is_path_or_paths
from clueval.second.reading.spooled import spooled
from clueval.second.results.options import Counting, Groups, Trust, Workers, groups_of, require_jobs
from clueval.second.transforms.options import Preparing
from clueval.spans.document import Document
from clueval.spans.filters import parse_where
from clueval.textfiles import is_folder, sha256_of

if TYPE_CHECKING:
    from clueval.evaluation.observer import Observer
    from clueval.transforms.group import Transform

_READING, _COUNTING, _WORKERS, _TRUST, _PREPARING = Reading(), Counting(), Workers(), Trust(), Preparing()


@keeps_inputs
@checked_call
def score(
    gold: InputSide,
    predicted: InputSide | None = None,
    *,
    metrics: Sequence[str | Metric] | str | Metric = "levels",
    layers: LayerColumns | None = None,
    reading: Readings = _READING,
    counting: Counting = _COUNTING,
    workers: Workers = _WORKERS,
    trust: Trust = _TRUST,
    preparing: Preparing = _PREPARING,
    transforms: Sequence[Transform] = (),
    observers: Sequence[Observer] = (),
    **options: Any,
) -> Result:
    """Score predicted against gold.

    Args:
        gold, predicted: two files, two folders (paired by relative name), two patterns,
            two lists of files (paired in order) or two open files; or one of these that has both sides, and None.
            Or what is in memory: for each document a list of tags, a list of spans as `Span`, ``(start, end,
            label)`` or dictionary (`clueval.spans.span_forms`), a `Document`, a spaCy ``Doc`` or a row of a
            dataset (`clueval.reading.given`), in the same order or by id in a dictionary. With
            ``input="mentions"`` or ``"inline"``, predicted has answers of a language model
            (`clueval.evaluation.answers`).
        metrics: names of metrics (see `clueval.first.metrics.METRICS`), separated by commas or in a list, or metrics,
            such as ``clueval.first.metrics.metric_named("partial", factor=0.5)`` with its settings.
        layers: name and column of each layer, or the gold and the predicted column as a pair; columns count
            from 1, or from -1 at the end. None: the last column or, if it holds no tags,
            the columns that do; of a single file the last two columns.
        reading: how files are read, see `Reading`; a pair if the two sides differ. For each further one, the
            predicted files are read again, and transforms and observers receive these documents as
            `Group.further`.
        counting: see `Counting`.
        workers: see `Workers`.
        trust: intervals, and the units whose counts are kept, see `Trust`.
        preparing: changes to spans before they are counted, such as label maps, see `Preparing`.
        transforms: applied, after those of `preparing`, to each `Group` of parallel documents, one after the other,
            before layers are merged, filters applied and spans counted. The signature names them; `Result.prepared`
            has the numbers of their changes.
        observers: receive each group that is counted, after the transforms; `Result.sections` has their reports.
            With observers one process counts, unless all are of the kind `WorkerObserver`.
        options: any field of `Reading`, `Counting`, `Workers`, `Trust` and `Preparing` by its own name, as in
            ``by="document"``;
            ``gold_set`` and ``predicted_set`` are the annotation sets of the two sides, in formats that have
            named sets. In these formats, the setting `containing` of the metric `gate` is written ``SET:TYPE``;
            that layer is not scored itself.

    Returns the `Result`, which does not depend on `jobs` and `executor`. Reads the files once; twice for default units
    of fewer than ten documents. Each process holds one document or passage of each side and the counts. Raises
    `CluevalError` for wrong use or input, `TextMismatch` if the two sides differ in text.
    Warns (`CluevalWarning`) of an empty file, of a side without spans, of labels that only one side has, and of
    repaired tags.
    """
    require_layers(layers)
    groups = groups_of(reading, counting, workers, trust, preparing, options, "score")
    chosen = chosen_metrics(metrics)
    by_default = groups.trust.units == BY_DEFAULT
    count = _count_by_default_units if by_default else _score
    with spooled(gold, predicted) as (gold, predicted):
        result = count(gold, predicted, chosen, layers, groups, transforms, observers)
    result = result.trusted(groups.trust)
    for warning in (*swapped(gold, predicted), *warnings_of(result), *repairs_of(result)):
        warn(warning)
    return result


def _count_by_default_units(
    gold: Any,
    predicted: Any,
    chosen: tuple[Metric, ...],
    layers: LayerColumns | None,
    groups: Groups,
    transforms: Sequence[Transform],
    observers: Sequence[Observer],
) -> Result:
    """Score by document; if there are few documents, count once more, by sentence if that gives more units."""
    gold, predicted = _repeatable(gold), _repeatable(predicted)
    by_document = groups._replace(trust=replace(groups.trust, resample_by=DOCUMENT))
    result = _score(gold, predicted, chosen, layers, by_document, transforms, observers)
    units = result.units
    assert units is not None
    if len(units.units) >= FEW_DOCUMENTS or isinstance(gold, Iterator) or isinstance(predicted, Iterator):
        return result
    by_sentence = groups._replace(
        trust=replace(groups.trust, resample_by=SENTENCE),
        workers=replace(groups.workers, progress=None, remark=None),
    )
    try:
        with catch_warnings():
            simplefilter("ignore", CluevalWarning)  # they are those of the first time
            found = _score(gold, predicted, chosen, layers, by_sentence, transforms, ())
    except UsageError:  # something cannot be counted by sentence
        return result
    if result.counted is None or found.units is None or len(found.units.units) <= len(units.units):
        return result
    return replace(result, counted=replace(result.counted, units=found.units))


def _repeatable(side: Any) -> Any:
    """Return a side that can be read twice if it is few documents: an iterator of few items as a list."""
    if not isinstance(side, Iterator):
        return side
    first = list(islice(side, FEW_DOCUMENTS))
    return first if len(first) < FEW_DOCUMENTS else chain(first, side)


def _score(
    gold: Any,
    predicted: Any,
    chosen: tuple[Metric, ...],
    layers: LayerColumns | None,
    groups: Groups,
    transforms: Sequence[Transform],
    observers: Sequence[Observer],
) -> Result:
    """Score files on disk, or what is in memory."""
    readings, counting, workers, trust, preparing = groups
    require_jobs(workers.jobs)
    if predicted is None and counting.pair_by is not None:
        raise UsageError("a file that has both sides is paired with itself", advice="leave out pair_by")
    _require_methods(transforms, "transforms", ("signature", "prepared"))
    golds = preparing.golds()
    if preparing is not _PREPARING:
        from clueval.transforms.of_options import transforms_of

        transforms = (*transforms_of(preparing, gold, counting.score_feature), *transforms)
    if golds:
        from clueval.reading.tag_sentences import kept

        gold = kept(gold)
    plan = _plan(chosen, counting, transforms, observers, trust.units, gold)
    if counting.score_feature is not None:
        from clueval.evaluation.curves import with_curves  # most evaluations need none

        plan = with_curves(plan, counting.score_feature, counting.threshold_numbers())
    require_sentences(plan)
    require_depths(plan)
    regions = preparing.ignored_layers()
    names = [name for name in (layer_names(layers) if layers else ()) if name not in regions]
    if readings[1].input in ANSWER_FORMATS and predicted is not None and not is_path_or_paths(gold):
        from clueval.evaluation.answers import with_answers
        from clueval.evaluation.answers_in_memory import answers_in_memory

        plan = with_answers(plan, str(readings[1].input), preparing)
        gold, predicted, readings = answers_in_memory(gold, predicted, readings)
    evaluation = Evaluation(plan, names)
    found = given(gold, predicted, readings[0].names)._replace(golds=golds)
    if found.kind == "paths":
        whole_text = plan.reads_whole_texts and layers is None
        within = next((each.needs.within for each in chosen if each.needs.within is not None), None)
        read_options = [ReadOptions.of(each, whole_text=whole_text, containing=within) for each in readings]
        pairs: list[FilePair] = path_pairs(found.gold, found.predicted) if counting.pair_by is None else []
        plan = placed(plan, read_options, found, pairs, preparing)
        evaluation = Evaluation(plan, names)  # with the transforms of `placed`
        _require_other_data(preparing, found)
        choices = count_files(evaluation, found, pairs, read_options, layers, counting.pair_by, workers)
    elif len(readings) > 2:
        raise UsageError("further annotation sets are read from files", advice="give paths")
    elif golds and counting.pair_by is not None:
        raise UsageError("several golds in memory are in the same order", advice="leave out pair_by")
    elif found.kind == "tags":
        if counting.score_feature is not None:
            raise UsageError(
                "tags have no scores", advice="give spans with the feature, or leave out score_feature"
            )
        choices = _count_tags(evaluation, found, readings, _other_golds(gold, golds, readings[0]))
    else:
        from clueval.evaluation.span_clusters import count_spans  # not needed for files

        for each in readings:
            require_none(each)
        are_spans = found.kind == "spans" and counting.pair_by is None
        if not (are_spans and count_spans(evaluation, found)):
            documents = _groups(found, counting.pair_by)
            if golds:
                beside = zip(documents, _other_golds(gold, golds, readings[0]), strict=True)
                documents = ((*pair, *others) for pair, others in beside)
            count_groups(evaluation, documents, len(golds))
        choices = {"scheme": "documents", "invalid": "documents"}
    if plan.transforms:
        choices |= choices_of(plan.transforms)
    if counting.pair_by is not None:
        choices["paired"] = counting.pair_by
    sha256 = sha256_of_gold(found, plan) if found.kind == "paths" else None
    choices |= {"merge": "yes" if plan.merge else "no", "where": str(plan.where) or "all"}
    choices |= {"text": evaluation.text, **choices_of_counts(evaluation)}
    return result_of(evaluation, Signature.of(plan.metrics, choices, evaluation.units), sha256)


def _require_other_data(preparing: Preparing, given: Given) -> None:
    """Raise `UsageError` if a threshold was chosen for this gold, unless that is wanted."""
    chosen = preparing.threshold_file()
    if chosen is None or chosen.gold_sha256 is None or preparing.same_data:
        return
    if sha256_of(path for _, path in files_of_side(given.gold)) == chosen.gold_sha256:
        raise UsageError(
            f"the threshold of {preparing.min_score} was chosen for this gold, so the scores would be too high",
            advice="score other data, or add Preparing.same_data",
        )


def _plan(
    metrics: tuple[Metric, ...],
    counting: Counting,
    transforms: Sequence[Transform],
    observers: Sequence[Observer],
    resample_by: str | None,
    gold: object,
) -> Plan:
    by = (counting.by,) if isinstance(counting.by, str) else tuple(counting.by)
    for key in by:
        require_kind(key, "str", "by")
    if observers:
        from clueval.evaluation.observer import require_names

        _require_methods(observers, "observers", ("name", "see", "section"))
        require_names(observers)
    return Plan(
        metrics,
        counting.merge,
        parse_where(counting.where),
        by,
        counting.unit,
        _cells(counting.align),
        tuple(transforms),
        tuple(observers),
        resample_by,
        isinstance(gold, str | os.PathLike) and is_folder(Path(os.fsdecode(gold))),
    )


def _require_methods(given: object, name: str, attributes: Sequence[str]) -> None:
    """Raise `UsageError` unless `given` is a list of objects that have these attributes."""
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise UsageError(f"{name} must be a list, not {described(given)}")
    for number, each in enumerate(given):
        for attribute in attributes:
            if isinstance(each, type) or not hasattr(each, attribute):
                raise UsageError(f"{name}[{number}] has no {attribute}: it is {described(each)}")


def _count_tags(
    evaluation: Evaluation,
    given: Given,
    readings: Sequence[Reading],
    golds: Iterator[tuple[Document, ...]],
) -> dict[str, str]:
    """Count lists of tags, and return the choices for the signature."""
    from clueval.evaluation.tag_lists import count_tags  # not needed for files
    from clueval.reading.tag_sentences import TagOptions

    for each in readings:
        if each is not _READING:
            require_none(each, ("scheme", "invalid"))
    options = TagOptions([each.scheme for each in readings[:2]], [each.invalid for each in readings[:2]])
    evaluation.add_tags(count_tags(evaluation, given, options, golds))
    evaluation.treatments.update(options.treatments)
    return choices_of_tags(evaluation)


def _other_golds(gold: Any, golds: Sequence[Any], reading: Reading) -> Iterator[tuple[Document, ...]]:
    """Return, for each document of gold in memory, those of the other golds; nothing if there are none."""
    if not golds:
        return iter(())
    from clueval.reading.tag_sentences import golds_in_memory

    return golds_in_memory(gold, golds, reading)


def _groups(given: Given, pair_by: str | None) -> Iterator[tuple[Document, ...]]:
    if pair_by is None:
        return given.documents()
    if given.kind != "documents":
        raise UsageError(
            f"pair_by={pair_by!r} pairs documents, not lists of spans", advice="leave out pair_by"
        )
    return parallel(
        ((document,) for document in given.gold), ((document,) for document in given.predicted), pair_by
    )


def _cells(align: bool | int) -> int | None:
    """The greatest product of the lengths of two texts to align; None if texts are not aligned."""
    if align is False:
        return None
    from clueval.statistics.alignment import MAX_CELLS

    return MAX_CELLS if align is True else align
