"""The evaluation: pairs gold with predicted, checks that they are the same text, and counts.

Files of the column formats are compared passage by passage, raw; everything else goes document by document
through the metrics. Both ways give the same counts, and the second is the model for the first. Where there
are several processes, files and parts of files are shared out (see `clueval.evaluation.parallel.schedule`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Unpack

from clueval.evaluation.engine import Evaluation
from clueval.evaluation.inputs import add_files, add_layer, schemes_of
from clueval.evaluation.lockstep import FileEnd, compared
from clueval.evaluation.observer import Observer, require_names
from clueval.evaluation.options import Counting, ScoreOptions, Workers, groups_of
from clueval.evaluation.parallel.executors import require_jobs
from clueval.evaluation.parallel.schedule import count_pairs
from clueval.evaluation.parallel.work import FilePair, Work
from clueval.evaluation.plan import Plan
from clueval.evaluation.preparation import choices_of
from clueval.evaluation.result import Result
from clueval.evaluation.signature import Signature
from clueval.exceptions import UsageError
from clueval.metrics import METRICS, metric_named
from clueval.metrics.metric import Metric
from clueval.reading.layers import LayerColumns, layer_names
from clueval.reading.options import Reading, Readings, ReadOptions, columns_of_sides
from clueval.reading.pairing import (
    document_groups,
    document_pairs,
    files_of_side,
    parallel,
    same_documents,
)
from clueval.reading.paths import Documents, Paths, are_paths, documents_of, path_pairs
from clueval.reading.source import Source
from clueval.spans.compared import SIDES
from clueval.spans.document import Document
from clueval.spans.filters import parse_where
from clueval.spans.span import DEFAULT_LAYER
from clueval.transforms.group import Group, Transform

_READING, _COUNTING, _WORKERS = Reading(), Counting(), Workers()


def score(
    gold: Paths | Documents,
    predicted: Paths | Documents | None = None,
    *,
    metrics: Sequence[str | Metric] | str | Metric = "levels",
    layers: LayerColumns | None = None,
    reading: Readings = _READING,
    counting: Counting = _COUNTING,
    workers: Workers = _WORKERS,
    transforms: Sequence[Transform] = (),
    observers: Sequence[Observer] = (),
    **options: Unpack[ScoreOptions],
) -> Result:
    """Score predicted against gold.

    Args:
        gold, predicted: two files, two folders (paired by relative name), two lists of files (paired in
            order) or two iterables of documents in the same order; or one file that has both, and None.
        metrics: names of metrics (see `clueval.metrics.METRICS`), separated by commas or in a list, or metrics.
        layers: name and column of each layer, or the gold and the predicted column as a pair; columns count
            from 1, or from -1 at the end. None: the last column, of a single file the last two.
        reading: how files are read, see `Reading`; a pair where the two sides differ. With further ones, the
            predicted files are read once more for each, and transforms and observers get these documents as
            `Group.further`.
        counting: what is counted, see `Counting`.
        workers: by how many processes, see `Workers`.
        transforms: change each `Group` of parallel documents, one after the other, before layers are merged,
            filters applied and spans counted. The signature names them; what they changed is in
            `Result.prepared`.
        observers: see each group that is counted, as the transforms have left it; what they report is in
            `Result.sections`. With observers one process counts.
        options: any field of `Reading`, `Counting` and `Workers` by its own name, as in ``by="document"``;
            ``gold_set`` and ``predicted_set`` are the annotation sets of the two sides, in formats that have
            several by name. The layer that a metric `gate` names as `containing` is, in these formats, written
            ``SET:TYPE``; it is not scored itself.

    Returns the `Result`, the same for any `jobs` and `executor`. One pass; held in memory are one document or
    passage of each side and the counts, in each process. Raises `CluevalError` for wrong use or input,
    `TextMismatch` where the two sides differ in their text, `WorkerLost` if three processes end, one after
    the other, while they count the same part, and if an executor loses a task or returns something that is
    not counts.
    """
    readings, counting, workers = groups_of(reading, counting, workers, options, "score")
    jobs, executor, progress = workers.jobs, workers.executor, workers.progress
    require_jobs(jobs)
    require_names(observers)
    pair_by, single = counting.pair_by, predicted is None
    if single and pair_by is not None:
        raise UsageError("a file that has both sides is paired with itself", advice="leave out pair_by")
    chosen, prepared = _metrics(metrics), choices_of(transforms)
    plan = _plan(chosen, counting, transforms, observers)
    evaluation = Evaluation(plan, [] if layers is None else layer_names(layers))
    read_options = [
        ReadOptions.of(each, whole_text=plan.reads_whole_texts, containing=_containing(chosen))
        for each in readings
    ]
    pairs = path_pairs(gold, predicted) if pair_by is None else _sides_of_any_order(gold, predicted)
    if pairs is not None:
        _require_use(read_options, gold, predicted, pairs)
        sides = columns_of_sides(read_options, layers, single)
        remark = workers.remark or _discard
        if observers or len(sides) > 2 or pair_by is not None:
            remark("1 process: every document is looked at by itself")
            see = partial(_see, evaluation)
            paths: tuple[Any, Any] = gold, predicted
            _count_groups(evaluation, document_groups(*paths, sides, pair_by, progress, see))
        else:
            in_one_file = single and sides[0].annotation_set is None
            work = Work(plan, tuple(evaluation.layers), (sides[0], sides[1]), in_one_file, _count_sources)
            count_pairs(evaluation, work, pairs, jobs, executor, progress, remark)
        choices = {
            "scheme": schemes_of(evaluation.read()),
            "invalid": "+".join(sorted(evaluation.treatments)) or "none",
        }
    else:
        _require_documents(gold, predicted, readings)
        for each in read_options:
            each.require_none()
        _count_groups(evaluation, _groups(documents_of(gold), documents_of(predicted), pair_by))
        choices = {"scheme": "documents", "invalid": "documents"}
    choices |= prepared | ({} if pair_by is None else {"paired": pair_by})
    return evaluation.result(_signature(plan, choices, evaluation))


def _plan(
    metrics: tuple[Metric, ...],
    counting: Counting,
    transforms: Sequence[Transform],
    observers: Sequence[Observer],
) -> Plan:
    by = counting.by
    return Plan(
        metrics,
        counting.merge,
        parse_where(counting.where),
        (by,) if isinstance(by, str) else tuple(by),
        counting.unit,
        _cells(counting.align),
        tuple(transforms),
        tuple(observers),
    )


def _require_documents(gold: object, predicted: object, readings: Sequence[Reading]) -> None:
    """Raise `UsageError` unless both sides are documents, and nothing is asked for that is read from files."""
    if isinstance(gold, str | Path) or predicted is None or isinstance(predicted, str | Path):
        raise UsageError("one side is a path and the other is not", advice="give two paths or two iterables")
    if len(readings) > 2:
        raise UsageError("further annotation sets are read from files", advice="give paths")


def _require_use(
    readings: Sequence[ReadOptions], gold: object, predicted: object, pairs: Sequence[FilePair]
) -> None:
    """Raise `UsageError` for an option of reading that the format of no file reads."""
    files = [list(_files(side, number, pairs)) for number, side in enumerate((gold, predicted))]
    if readings[0] == readings[1]:
        readings[0].require_use(chain(*files))
        return
    for each, of_side in zip(readings, files, strict=False):  # further readings are of predicted's files
        each.require_use(of_side)


def _discard(_: str) -> None:
    """Discard a remark."""


def _files(side: Any, number: int, pairs: Sequence[FilePair]) -> Iterator[Path]:
    """The files of the gold (0) or the predicted (1) side; of sides that are still to be paired, too."""
    if pairs:
        yield from ((gold, predicted)[number] for _, gold, predicted in pairs)
    elif side is not None:
        yield from (path for _, path in files_of_side(side))


def _sides_of_any_order(gold: object, predicted: object) -> list[tuple[str | None, Path, Path]] | None:
    """No pairs yet, where documents of paths are still to be paired; None if the sides are documents."""
    return [] if are_paths(gold) and are_paths(predicted) else None  # type: ignore[arg-type]


def _groups(gold: Documents, predicted: Documents, pair_by: str | None) -> Iterator[tuple[Document, ...]]:
    if pair_by is None:
        return same_documents(gold, predicted)
    return parallel(((document,) for document in gold), ((document,) for document in predicted), pair_by)


def _containing(metrics: Iterable[Metric]) -> str | None:
    return next((metric.needs.within for metric in metrics if metric.needs.within is not None), None)


def _count_groups(evaluation: Evaluation, groups: Iterable[tuple[Document, ...]]) -> None:
    for gold, predicted, *further in groups:
        evaluation.count_group(Group(gold, predicted, tuple(further)))


def _cells(align: bool | int) -> int | None:
    """The greatest product of the lengths of two texts to be aligned, or None if none are."""
    if align is False:
        return None
    from clueval.transforms.alignment import MAX_CELLS

    return MAX_CELLS if align is True else align


def _metrics(names: Sequence[str | Metric] | str | Metric) -> tuple[Metric, ...]:
    chosen: list[Metric] = []
    several = names.split(",") if isinstance(names, str) else names
    for name in several if isinstance(several, Sequence) else [several]:
        chosen.append(metric_named(name) if isinstance(name, str) else name)
    if not chosen:
        raise UsageError("no metric is named", advice=f"one of {', '.join(METRICS)}")
    return tuple({metric.name: metric for metric in chosen}.values())


def _see(evaluation: Evaluation, source: Source, number: int) -> None:
    """Take note of a file, the `number`-th of its group, and of how its ill-formed tags are treated.

    Of a file that is read in parts, the first part is noted; of further annotation sets, the treatment alone.
    """
    if source.treatment is not None:
        evaluation.treatments.add(source.treatment)
    if number < len(SIDES):
        is_first = source.options.part is None or source.options.part[0] == 0
        add_files(evaluation.inputs, SIDES[number], source.format, int(is_first))
        if source.form.scheme is not None:
            add_layer(evaluation.inputs, SIDES[number], DEFAULT_LAYER, scheme=source.form.scheme)


def _count_sources(evaluation: Evaluation, gold: Source, predicted: Source) -> FileEnd | None:
    """Count a pair of files, without documents if these are not needed; then the tags that `FileEnd` says were
    repaired are not counted yet."""
    for number, source in enumerate((gold, predicted)):
        _see(evaluation, source, number)
    reading = None if evaluation.leaves_out_spans else compared(gold, predicted, evaluation.plan)
    if reading is not None:
        return evaluation.count_reading(reading)
    _count_groups(evaluation, document_pairs(gold, predicted))
    return None


def _signature(plan: Plan, choices: Mapping[str, str], evaluation: Evaluation) -> Signature:
    """The choices behind a result."""
    made = {
        "merge": "yes" if plan.merge else "no",
        "where": str(plan.where) or "all",
        "text": evaluation.text,
    }
    return Signature.of(plan.metrics, {**choices, **made, **evaluation.choices()}, evaluation.units)
