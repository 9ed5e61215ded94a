"""`score`: pairs gold with predicted, checks that their texts are equal, and counts.

Files of the column formats are compared without building documents (`clueval.evaluation.lockstep`); otherwise
metrics count pairs of documents. Both ways give the same counts. Several processes count files and parts of
files (`clueval.evaluation.parallel.schedule`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from clueval.evaluation.answers import ANSWERS, with_answers
from clueval.evaluation.engine import Evaluation
from clueval.evaluation.file_pairs import count_without_documents
from clueval.evaluation.inputs import add_files, add_layer, add_passed_over, schemes_of
from clueval.evaluation.lockstep import FileEnd
from clueval.evaluation.notices import empty_files, repairs_of, warnings_of
from clueval.evaluation.observer import Observer, WorkerObserver, require_names
from clueval.evaluation.options import Counting, Groups, Workers, groups_of
from clueval.evaluation.parallel.executors import require_jobs
from clueval.evaluation.parallel.schedule import count_pairs
from clueval.evaluation.parallel.work import FilePair, Work
from clueval.evaluation.plan import Plan, chosen_metrics, require_depths, require_sentences
from clueval.evaluation.preparation import choices_of
from clueval.evaluation.result import Result, with_reports
from clueval.evaluation.signature import Signature
from clueval.evaluation.units.trust import Trust
from clueval.evaluation.units.unit import DOCUMENT
from clueval.exceptions import UsageError, checked_call, described, require_kind, warn
from clueval.metrics.metric import Metric
from clueval.reading.given import Given, InputSide, given
from clueval.reading.golds import golds_in_memory, kept
from clueval.reading.layers import LayerColumns, layer_names, require_layers
from clueval.reading.options import Reading, Readings
from clueval.reading.pairing import (
    document_groups,
    document_pairs,
    files_of_side,
    parallel,
)
from clueval.reading.paths import path_pairs
from clueval.reading.read_options import ReadOptions, columns_of_sides
from clueval.reading.source import Source
from clueval.reading.spooled import spooled
from clueval.reading.tag_columns import require_two_tag_columns
from clueval.spans.compared import SIDES
from clueval.spans.document import Document
from clueval.spans.filters import parse_where
from clueval.spans.span import DEFAULT_LAYER
from clueval.textfiles import sha256_of
from clueval.transforms.prepared import transforms_of
from clueval.transforms.preparing import Preparing

if TYPE_CHECKING:
    from clueval.evaluation.keywords import TrustedOptions
    from clueval.transforms.group import Transform

_READING, _COUNTING, _WORKERS, _TRUST, _PREPARING = Reading(), Counting(), Workers(), Trust(), Preparing()


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
    **options: Unpack[TrustedOptions],
) -> Result:
    """Score predicted against gold.

    Args:
        gold, predicted: two files, two folders (paired by relative name), two patterns (`clueval.reading.patterns`),
            two lists of files (paired in order) or two open files; or one of these that has both sides, and None.
            Or what is in memory: for each document a list of tags, a list of spans as `Span`, ``(start, end,
            label)`` or dictionary (`clueval.spans.span_forms`), a `Document`, a spaCy ``Doc`` or a row of a
            dataset (`clueval.reading.rows`), in the same order or by id in a dictionary.
        metrics: names of metrics (see `clueval.metrics.METRICS`), separated by commas or in a list, or metrics.
        layers: name and column of each layer, or the gold and the predicted column as a pair; columns count
            from 1, or from -1 at the end. None: the last column, of a single file the last two.
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

    Returns the `Result`, which does not depend on `jobs` and `executor`. Reads the files once. Each process holds
    one document or passage of each side and the counts. Raises `CluevalError` for wrong use or input,
    `TextMismatch` if the two sides differ in text, `WorkerLost` if three processes end, one after the other,
    while they count the same part, or if an executor loses a task or returns something other than counts.
    Warns (`CluevalWarning`) of an empty file, of a side without spans, of labels that only one side has, and of
    repaired tags.
    """
    require_layers(layers)
    groups = groups_of(reading, counting, workers, trust, preparing, options, "score")
    with spooled(gold, predicted) as (gold, predicted):
        result = _score(gold, predicted, chosen_metrics(metrics), layers, groups, transforms, observers)
    for warning in (*warnings_of(result), *repairs_of(result)):
        warn(warning)
    return result


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
    golds, transforms = (
        preparing.golds(),
        (*transforms_of(preparing, gold, counting.score_feature), *transforms),
    )
    gold = kept(gold) if golds else gold
    plan = _plan(chosen, counting, transforms, observers, _units(trust, counting), _are_folders(gold))
    require_names(observers)
    if counting.score_feature is not None:
        from clueval.evaluation.curves import with_curves  # most evaluations need none

        plan = with_curves(plan, counting.score_feature, counting.threshold_numbers())
    require_sentences(plan)
    require_depths(plan)
    regions = preparing.ignored_layers()
    names = [name for name in (layer_names(layers) if layers else ()) if name not in regions]
    evaluation = Evaluation(plan, names)
    found = given(gold, predicted)._replace(golds=golds)
    read_options = [
        ReadOptions.of(
            each, whole_text=plan.reads_whole_texts and layers is None, containing=_containing(chosen)
        )
        for each in readings
    ]
    pairs: list[FilePair] = []
    if found.kind == "paths":
        pairs = path_pairs(found.gold, found.predicted) if counting.pair_by is None else []
        plan = _placed(plan, read_options, found, pairs, preparing)
        evaluation = Evaluation(plan, names)
        _require_other_data(preparing, found)
        choices = _count_files(evaluation, found, pairs, read_options, layers, counting.pair_by, workers)
    elif len(readings) > 2:
        raise UsageError("further annotation sets are read from files", advice="give paths")
    elif golds and counting.pair_by is not None:
        raise UsageError("several golds in memory are in the same order", advice="leave out pair_by")
    elif found.kind == "tags":
        if counting.score_feature is not None:
            raise UsageError(
                "tags have no scores", advice="give spans with the feature, or leave out score_feature"
            )
        choices = _count_tags(evaluation, found, readings, golds_in_memory(gold, golds, readings[0]))
    else:
        for each in readings:
            each.require_none()
        documents = _groups(found, counting.pair_by)
        if golds:
            beside = zip(documents, golds_in_memory(gold, golds, readings[0]), strict=True)
            documents = ((*pair, *others) for pair, others in beside)
        _count_groups(evaluation, documents, len(golds))
        choices = {"scheme": "documents", "invalid": "documents"}
    choices |= choices_of(plan.transforms) | (
        {} if counting.pair_by is None else {"paired": counting.pair_by}
    )
    sha256 = _sha256_of_gold(found, plan) if found.kind == "paths" else None
    result = evaluation.result(_signature(plan, choices, evaluation), sha256)
    result = with_reports(result)
    if counting.average is not None:
        result = result.with_document_means()
    return result.trusted(trust)


def _require_other_data(preparing: Preparing, given: Given) -> None:
    """Raise `UsageError` if a threshold was chosen for this gold, unless that is wanted."""
    chosen = preparing.threshold_file()
    if chosen is None or chosen.gold_sha256 is None or preparing.same_data:
        return
    if sha256_of(path for _, path in files_of_side(given.gold)) == chosen.gold_sha256:
        raise UsageError(
            f"the threshold of {preparing.min_score} was chosen for this gold, so the scores would be too high",
            advice="score other data, or insist with Preparing.same_data",
        )


def _units(trust: Trust, counting: Counting) -> str | None:
    """What counts are kept by. Raises `UsageError` for other units than documents if these are averaged."""
    if counting.average is None or trust.units == DOCUMENT:
        return trust.units
    if trust.units is not None:
        raise UsageError(
            f"means over documents do not go with resample_by={trust.units!r}", advice="resample by document"
        )
    return DOCUMENT


def _count_files(
    evaluation: Evaluation,
    given: Given,
    pairs: Sequence[FilePair],
    readings: Sequence[ReadOptions],
    layers: LayerColumns | None,
    pair_by: str | None,
    workers: Workers,
) -> dict[str, str]:
    """Count files, and return the choices for the signature."""
    gold, predicted, observers = given.gold, given.predicted, evaluation.plan.observers
    single = predicted is None
    _require_use(readings, gold, predicted, pairs)
    if single and layers is None and readings[0].annotation_set is None:
        require_two_tag_columns((path for _, path, _ in pairs), readings[0])
    sides = columns_of_sides(readings, layers, single)
    remark = workers.remark or _discard
    in_turn = len(sides) > 2 or pair_by is not None or bool(given.golds)
    alone = not all(isinstance(each, WorkerObserver) for each in observers)
    if (observers and alone) or in_turn:
        remark("1 process: documents are read one by one")
    if in_turn:
        seen: list[tuple[int, Source]] = []
        see = partial(_see_in, seen, evaluation)
        groups = document_groups(gold, predicted, sides, pair_by, workers.progress, see, given.golds)
        _count_groups(evaluation, groups, len(given.golds))
        _add_passed_over(evaluation, seen)
    else:
        in_one_file = single and sides[0].annotation_set is None
        both = (sides[0], sides[1])
        work = Work(evaluation.plan, tuple(evaluation.layers), both, in_one_file, _count_sources)
        if observers and alone:
            work.count_here(evaluation, pairs, workers.progress)
        else:
            count_pairs(evaluation, work, pairs, workers.jobs, workers.executor, workers.progress, remark)
    for warning in empty_files(path for _, *both in pairs for path in both):
        warn(warning)
    return _choices_of_tags(evaluation)


def _plan(
    metrics: tuple[Metric, ...],
    counting: Counting,
    transforms: Sequence[Transform],
    observers: Sequence[Observer],
    resample_by: str | None,
    in_folders: bool,
) -> Plan:
    by = (counting.by,) if isinstance(counting.by, str) else tuple(counting.by)
    for key in by:
        require_kind(key, "str", "by")
    _require_methods(observers, "observers", ("name", "see", "section"))
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
        in_folders,
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
        each.require_none(("scheme", "invalid"))
    options = TagOptions([each.scheme for each in readings[:2]], [each.invalid for each in readings[:2]])
    evaluation.add_tags(count_tags(evaluation, given, options, golds))
    evaluation.treatments.update(options.treatments)
    return _choices_of_tags(evaluation)


def _placed(
    plan: Plan,
    readings: Sequence[ReadOptions],
    given: Given,
    pairs: Sequence[FilePair],
    preparing: Preparing,
) -> Plan:
    """Return the plan with a transform that places both sides on one text, if their formats differ."""
    first = [
        next(_files(side, number, pairs), None) for number, side in enumerate((given.gold, given.predicted))
    ]
    if readings[1].input in ANSWERS and given.predicted is not None:
        return with_answers(plan, readings[1].input, preparing)
    preparing.require_no_answers()
    if plan.texts_may_differ:
        return plan
    if first[0] is None or first[1] is None:
        return plan
    own, other = (
        each.format_at(path) for each, path in zip(readings, first, strict=False) if path is not None
    )
    in_columns = own.token_lines is not None and other.token_lines is not None
    escapes = readings[0].escapes or readings[1].escapes
    in_tokens = plan.unit == "token" and not (own.counts_tokens and other.counts_tokens)
    same = own.name == other.name or in_columns
    if "nerval" in (own.name, other.name) or (same and not in_tokens):
        return plan
    from clueval.transforms.placing import Placing

    has_tokens = own.counts_tokens or other.counts_tokens
    what = "tokens" if has_tokens else "words" if in_tokens else "texts"
    named = not (own.nameless or other.nameless)
    placing = Placing(escapes, in_tokens=plan.unit == "token", what=what, named=named)
    return plan._replace(transforms=(placing, *plan.transforms))


def _are_folders(side: object) -> bool:
    return isinstance(side, str | os.PathLike) and Path(os.fsdecode(side)).is_dir()


def _sha256_of_gold(given: Given, plan: Plan) -> str | None:
    """A hash of the gold files, where counts are kept by unit; None if these files have the predicted side, too."""
    if plan.resample_by is None or given.predicted is None:
        return None
    return sha256_of(path for _, path in files_of_side(given.gold))


def _require_use(
    readings: Sequence[ReadOptions], gold: object, predicted: object, pairs: Sequence[FilePair]
) -> None:
    """Raise `UsageError` for an option of reading that applies to the format of no file."""
    files = [list(_files(side, number, pairs)) for number, side in enumerate((gold, predicted))]
    if readings[0] == readings[1]:
        readings[0].require_use(chain(*files))
        return
    for each, of_side in zip(readings, files, strict=False):  # further readings are of predicted's files
        each.require_use(of_side)


def _discard(_: str) -> None:
    """Discard a remark."""


def _files(side: Any, number: int, pairs: Sequence[FilePair]) -> Iterator[Path]:
    """The files of the gold (0) or the predicted (1) side, also before documents are paired."""
    if pairs:
        yield from ((gold, predicted)[number] for _, gold, predicted in pairs)
    elif side is not None:
        yield from (path for _, path in files_of_side(side))


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


def _containing(metrics: Iterable[Metric]) -> str | None:
    return next((metric.needs.within for metric in metrics if metric.needs.within is not None), None)


def _count_groups(evaluation: Evaluation, groups: Iterable[tuple[Document, ...]], golds: int = 0) -> None:
    """Count groups of documents, of which the last ones are other golds."""
    from clueval.transforms.group import Group  # not needed where passages are counted

    for gold, predicted, *more in groups:
        further = len(more) - golds
        evaluation.count_group(Group(gold, predicted, tuple(more[:further]), golds=tuple(more[further:])))


def _cells(align: bool | int) -> int | None:
    """The greatest product of the lengths of two texts to align; None if texts are not aligned."""
    if align is False:
        return None
    from clueval.transforms.alignment import MAX_CELLS

    return MAX_CELLS if align is True else align


def _see(evaluation: Evaluation, source: Source, number: int) -> None:
    """Record a file, which has this number in its group, and its treatment of ill-formed tags.

    Of the parts of a file only the first counts as a file; of further annotation sets only the treatment counts.
    """
    if source.treatment is not None:
        evaluation.treatments.add(source.treatment)
    if number < len(SIDES):
        is_first = source.options.part is None or source.options.part[0] == 0
        add_files(evaluation.inputs, SIDES[number], source.format, int(is_first))
        if number == 0:
            evaluation.pieces.file = source.name
        if source.form.scheme is not None:
            add_layer(evaluation.inputs, SIDES[number], DEFAULT_LAYER, scheme=source.form.scheme)


def _see_in(seen: list[tuple[int, Source]], evaluation: Evaluation, source: Source, number: int) -> None:
    """Record a file as `_see` does, and put it into the list `seen`."""
    _see(evaluation, source, number)
    seen.append((number, source))


def _add_passed_over(evaluation: Evaluation, sources: Iterable[tuple[int, Source]]) -> None:
    """Add what was not read in files of gold (0) and predicted (1), after they have been read."""
    for number, source in sources:
        if number < len(SIDES):
            add_passed_over(evaluation.inputs, SIDES[number], source.passed_over)


def _count_sources(evaluation: Evaluation, gold: Source, predicted: Source) -> FileEnd | None:
    """Count a pair of files; spans and repaired tags that are not counted yet are in the returned `FileEnd`."""
    for number, source in enumerate((gold, predicted)):
        _see(evaluation, source, number)
    counted, end = count_without_documents(evaluation, gold, predicted)
    if not counted:
        _count_groups(evaluation, document_pairs(gold, predicted))
    if end is None:
        _add_passed_over(evaluation, enumerate((gold, predicted)))
    return end


def _choices_of_tags(evaluation: Evaluation) -> dict[str, str]:
    """The schemes and the treatments of the tags that were read from files."""
    invalid = "+".join(sorted(evaluation.treatments)) or "none"
    return {"scheme": schemes_of(evaluation.read()), "invalid": invalid}


def _signature(plan: Plan, choices: Mapping[str, str], evaluation: Evaluation) -> Signature:
    shared = {
        "merge": "yes" if plan.merge else "no",
        "where": str(plan.where) or "all",
        "text": evaluation.text,
    }
    return Signature.of(plan.metrics, {**choices, **shared, **evaluation.choices()}, evaluation.units)
