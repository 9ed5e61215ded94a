"""`score`: opens both sides, counts their texts into a bag, and makes the result."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clueval.core.bag import Bag
from clueval.core.count import DOCUMENT, LOCATED, UNIT, Plan, Step, sum_of_parts
from clueval.core.metric import AnyMetric
from clueval.core.span import SIDES
from clueval.files.errors import UsageError, warn, with_noun
from clueval.files.options import checked_call, require_kind
from clueval.formats.options import USUAL_READING, LayerColumns, Reading, Readings, require_layers
from clueval.metrics import chosen_metrics
from clueval.reading import InputSide, is_path_or_paths, is_read_once, spooled
from clueval.results.inputs import Unplaced, empty_files, repairs_of, schemes_of, swapped, warnings_of
from clueval.results.options import (
    Groups,
    Workers,
    groups_of,
    plan_of,
    require_names,
    texts_may_differ,
    with_steps_of_documents,
)
from clueval.results.result import BagReports, Result
from clueval.results.signature import OF_ANSWERS, Signature, written_filter
from clueval.results.texts import FileReading, Texts, opened, sides_of

if TYPE_CHECKING:
    from clueval.results.workers import Task


@checked_call
def score(
    gold: InputSide,
    predicted: InputSide | None = None,
    *,
    metrics: Sequence[str | AnyMetric] | str | AnyMetric | None = None,
    layers: LayerColumns | None = None,
    reading: Readings = USUAL_READING,
    reference: InputSide | None = None,
    reference_set: str | None = None,
    signature: str | Signature | None = None,
    **options: Any,
) -> Result:
    """Score predicted against gold.

    Args:
        gold, predicted: two files, two folders (paired by relative name), two patterns,
            two lists of files (paired in order) or two open files; or one of these that has both sides, and None.
            Or what is in memory: for each document a list of tags, a list of spans as `Span`, ``(start, end,
            label)`` or dictionary (`clueval.formats.span_forms`), a `Document`, a spaCy ``Doc`` or a row of a
            dataset (`clueval.reading.memory`), in the same order or by id in a dictionary. With
            ``input="mentions"`` or ``"inline"``, predicted has answers of a language model.
        metrics: metrics (see `clueval.metrics.METRICS`), as text, separated by commas, or in a list,
            each with its settings, as in ``"exact,partial(factor=0.5)"``; or of a class of your own
            (`clueval.core.metric.Metric`). None: ``levels``, or those of `signature`.
        layers: name and column of each layer, or the gold and the predicted column as a pair; columns count
            from 1, or from -1 at the end. None: the last column or, if it holds no tags,
            the columns that do; of a single file the last two columns.
        reading: how files are read (`clueval.formats.options.Reading`); a pair if the two sides differ, as
            ``(Reading(scheme="IOB1"), Reading(scheme="BIO"))``.
        reference: another system, such as an older run, given and read as predicted; `Result.reference` has its scores,
            and for the metric ``gate`` the changes (`clueval.results.reference`).
        reference_set: the annotation set of the reference, by default in the files of predicted.
        signature: that of another result: count as it says. Options that contradict it, also other `metrics`, and
            choices that nothing here can make, are errors.
        options: those of ``clueval score``, as ``token_id=4`` for ``--token-id 4``, which ``clueval help score TOPIC``
            explains: any field of `Reading` by its own name; of `Counting` (which spans count, and by what), as in
            ``by="document"`` or, for lists of tags or spans, with a value for each list, ``by=["news", "web"]``; of
            `Workers` (processes); of `Trust` (intervals, and the units whose counts are kept); and of `Preparing`
            (changes to spans before they are counted, such as label maps). ``gold_set`` and ``predicted_set`` are the
            annotation sets of the two sides, in formats that have named sets. In these
            formats, the setting `containing` of the metric `gate` is written ``SET:TYPE``; that layer is not scored
            itself. ``write_indicators`` is a folder for copies of the predicted files that show the outcome of each
            annotation under this metric, and for two tables of candidate lists (`clueval.results.reference`).

    Returns the `Result`, which does not depend on `jobs` and `executor`. Reads the files once. Each process holds one
    document or passage of each side, and what it has counted. Raises `CluevalError` for wrong use or input,
    `TextMismatch` if the two sides differ in text, `OverlapError` for spans that a metric cannot count; and a
    `CluevalError` that names the files if a process ends twice while it counts them, or an executor loses them.
    Warns (`CluevalWarning`) of an empty file, of a side without spans, of labels that only one side has if the other
    has one like them or none is on both sides, of repaired tags, and of changes to spans that change nothing.

    >>> result = score([["B-PER", "I-PER", "O", "B-LOC"]], [["B-PER", "I-PER", "O", "O"]], metrics="exact")
    >>> result.precision, result.recall
    (1.0, 0.5)
    >>> score([[(0, 2, "PER"), (5, 6, "LOC")]], [[(0, 2, "PER")]], metrics="exact").recall
    0.5
    """
    require_layers(layers)
    indicators = options.pop("write_indicators", None)
    require_kind(indicators, "str | Path | None", "write_indicators")
    expected = None
    if signature is not None:
        expected = signature if isinstance(signature, Signature) else Signature.parse(signature)
        arguments: dict[str, Any] = {} if layers is None else {"layers": layers}
        if metrics is not None:
            arguments["metrics"] = list(chosen_metrics(metrics))
        options = expected.options_beside({**arguments, **options})
        metrics, layers = options.pop("metrics"), options.pop("layers", None)
    if hasattr(options.get("by"), "tolist"):
        options["by"] = options["by"].tolist()
    values = _values_of_lists(options.get("by"), gold)
    if values is not None:
        options["by"] = DOCUMENT
    groups = groups_of(reading, options, "score")
    chosen = chosen_metrics("levels" if metrics is None else metrics)
    with spooled(gold, predicted) as (gold, predicted):
        result = scored(gold, predicted, chosen, layers, groups)
        if expected is not None:
            expected.require_counted(result.signature)
        if reference is not None or reference_set is not None or indicators is not None:
            from clueval.results.reference import with_reference  # few results need it

            sides = gold, predicted, reference
            result = with_reference(result, sides, reference_set, layers, groups, indicators, scored)
    if values is not None:
        ids = [*dict.fromkeys(place.values[0] for place in result.bag.documents)]
        if _are_lists(predicted):  # numbered, also where `where` leaves some out
            ids = [str(number) for number in range(len(values))]
        if len(ids) != len(values):
            problem = "by has a value for each list, and where leaves out documents, or two have one id"
            raise UsageError(
                problem, advice="give rows with ids and metadata, and by the name of the metadata"
            )
        value_of = dict(zip(ids, values, strict=True))
        bag = result.bag.grouped(lambda place: place._replace(values=(value_of[place.values[0]],)))
        result = replace(result, bag=bag, plan=replace(result.plan, by=(GROUP,)), made=None)
    if groups.trust.intervals:
        result = replace(result, trust=groups.trust)
        result.interval_section  # noqa: B018  # it raises the errors of intervals
    warn_of(result, gold, predicted)
    if groups.trust.save is not None:
        result.save(groups.trust.save)
    return result


GROUP = "group"
"""What the break-down by a list of values is called."""


def _values_of_lists(by: Any, gold: Any) -> list[str] | None:
    """Return the values of `by` if it has one for each of some lists of tags or spans; None: `by` has keys.

    Raises `UsageError` for another number of values than there are lists, and for two that have one text.
    """
    if not isinstance(by, list | tuple) or not by or [*by] == [DOCUMENT]:
        return None
    if not _are_lists(gold):
        return None
    if len(by) != len(gold):
        raise UsageError(
            f"by has {with_noun(len(by), 'values')}, and gold has {with_noun(len(gold), 'lists')}",
            advice="give a value for each list, or by='document'",
        )
    texts = {value for value in by if isinstance(value, str)}
    for value in by:
        if not isinstance(value, str) and str(value) in texts:
            problem = f"by has {value!r} and {str(value)!r}, which are both written {value}"
            raise UsageError(problem, advice="give texts that differ")
    return [str(value) for value in by]


def _are_lists(side: Any) -> bool:
    return _is_list(side) and len(side) > 0 and all(map(_is_list, side))


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) or (hasattr(value, "tolist") and hasattr(value, "__len__"))


def warn_of(result: Result, gold: Any = None, predicted: Any = None) -> None:
    """Warn of what is often a mistake in the input of a result; gold and predicted are None if they were no files."""
    for warning in (*swapped(gold, predicted), *warnings_of(result), *repairs_of(result)):
        warn(warning)


def scored(
    gold: Any,
    predicted: Any,
    chosen: tuple[AnyMetric, ...],
    layers: LayerColumns | None,
    groups: Groups,
    steps: Sequence[Step] = (),
    texts: Texts | None = None,
) -> Result:
    """Return the result of metrics, without warnings about it; `steps` come before those of the options.

    `texts` are the texts of both sides, if they are not to be opened.
    """
    plan, names = plan_of(chosen, gold, layers, groups)
    _require_other_data(groups, gold, layers)
    if texts is None:
        texts = opened(gold, predicted, groups, layers, plan, steps)
    if texts.steps:
        plan = replace(plan, steps=(*texts.steps, *plan.steps))
    bag = bag_of(texts, plan, names, groups.workers)
    if bag.notes:  # otherwise the steps that documents need say nothing
        plan = with_steps_of_documents(plan)
    if plan.units is not None or plan.where:
        from clueval.files.opening import is_folder
        from clueval.results.units import in_units, settled_units  # few results need them

        plan = settled_units(bag, plan)
        in_folders = isinstance(gold, str | os.PathLike) and is_folder(Path(os.fsdecode(gold)))
        bag = in_units(
            bag, plan, [name for name, *_ in texts.files if name is not None], in_folders=in_folders
        )
    where = written_filter(plan.where) or "all"
    choices = {} if groups.counting.pair_by is None else {"paired": groups.counting.pair_by}
    of_predicted = groups.readings[1]
    choices |= {name: value for name in OF_ANSWERS if (value := getattr(of_predicted, name)) is not None}
    is_tagged = texts.kind == "paths" or bool(bag.read.treatments)
    result = result_of(bag, plan, is_tagged=is_tagged, where=where, choices=choices)
    for warning in empty_files(path for pair in texts.files for path in pair.paths):
        warn(warning)
    if plan.units is None or texts.kind != "paths" or predicted is None:
        return result
    return replace(result, gold_sha256=sha256_of_gold(gold, groups.readings[0], layers))


def sha256_of_gold(gold: Any, reading: Reading, layers: LayerColumns | None) -> str | None:
    """Return what tells gold apart: of files their content, in memory its texts and spans.

    None if it can be read only once.
    """
    if is_read_once(gold):
        return None
    if is_path_or_paths(gold):
        from clueval.files.opening import sha256_of
        from clueval.reading.file_sides import files_of_side  # few results need it

        return sha256_of(path for _, path in files_of_side(gold))
    from hashlib import sha256  # likewise

    digest = sha256()
    for (document,) in sides_of({SIDES[0]: gold}, [reading], layers).texts():
        assert document is not None  # the only side has it
        spans = [(layer, sorted(document.marks_in(layer))) for layer in sorted(document.layers)]
        content = repr((document.text, [*(document.tokens or ())], spans))
        digest.update(content.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _require_other_data(groups: Groups, gold: Any, layers: LayerColumns | None) -> None:
    """Raise `UsageError` if a threshold was chosen for this gold, unless that is wanted."""
    preparing = groups.preparing
    chosen = None if preparing is None else preparing.threshold_file()
    if preparing is None or chosen is None or chosen.gold_sha256 is None or preparing.same_data:
        return
    if sha256_of_gold(gold, groups.readings[0], layers) == chosen.gold_sha256:
        raise UsageError(
            f"the threshold of {preparing.min_score} was chosen for this gold, so the scores would be too high",
            advice="score other data, or add same_data",
        )


def bag_of(texts: Texts, plan: Plan, layers: Sequence[str], workers: Workers) -> Bag:
    """Count the texts of a corpus: pairs of files apart from each other, in several processes if that is asked for."""
    reading, files = texts.reading, texts.files
    if reading is None or not files:
        if texts.kind == "paths":
            workers.say("1 process: documents are read one by one")
        bag = texts.counted(plan, layers)
        bag.read.settle(texts.schemes)
        return bag
    if workers.jobs == 1 and workers.executor is None:
        workers.say("1 process: as requested")
        return sum_of_parts(reading.count(files, plan, layers, workers.progress), plan.units)
    from clueval.reading.clusters import Unusual, require_usual  # one process needs none of these
    from clueval.results.workers import count_tasks, tasks_of

    if workers.executor is not None:  # its processes may have another working directory
        files = [pair._replace(paths=tuple(path.absolute() for path in pair.paths)) for pair in files]
        sides = ((side, side.options.text) for side in reading.sides.listed)
        listed = tuple(side.with_options(text=text and Path(text).absolute()) for side, text in sides)
        reading = replace(reading, sides=replace(reading.sides, listed=listed))
    by_documents = False
    try:
        require_usual(plan, layers)
    except Unusual:
        by_documents = True
    return count_tasks(
        tasks_of([(pair, pair.paths) for pair in files]),
        partial(count_task, reading, plan, tuple(layers)),
        units=plan.units,
        jobs=workers.jobs,
        executor=workers.executor,
        progress=workers.progress,
        remark=workers.say,
        by_documents=by_documents,
    )


def count_task(reading: FileReading, plan: Plan, layers: Sequence[str], task: Task) -> Bag:
    """Count the pairs of files of a task, also in another process."""
    return sum_of_parts(reading.count(task.pairs, plan, layers), plan.units)


def result_of(bag: Bag, plan: Plan, *, is_tagged: bool, where: str, choices: Mapping[str, str]) -> Result:
    """Return the result of what was counted. Raises `UsageError` for names in options that never occurred.

    `is_tagged` says whether tags were read, or files; `choices` are further ones for the signature.
    """
    require_names(bag, plan)
    for frame in plan.frames if bag.documents else ():
        if not any(number for (_, layer), number in bag.read.spans.items() if layer == frame):
            raise UsageError(
                f"no annotation is in {frame!r}, within which the metric counts",
                advice="check its spelling",
            )
        others = ", ".join(metric.name for metric in plan.metrics if metric.within != frame)
        if others and ":" not in frame:  # SET:TYPE of a format is no layer for the others either
            warn(f"layer {frame!r} is not scored by {others}, because gate counts within it")
    all_choices = dict.fromkeys(("scheme", "invalid"), "documents")
    if is_tagged:
        invalid = "+".join(sorted(bag.read.treatments)) or "none"
        all_choices = {"scheme": schemes_of(bag.read), "invalid": invalid}
    changes, may_lack_place = None, plan.align is not None
    if plan.steps:
        from clueval.transforms.changes import changes_of, checked, choices_of  # tags have no steps

        all_choices |= choices_of([step for step in plan.steps if step.signature[0] != UNIT], bag.notes)
        changes = changes_of(plan.steps, bag.notes)
        may_lack_place |= any(step.signature[0] == LOCATED for step in plan.steps)
    all_choices |= {**choices, "merge": "yes" if plan.merge else "no", "where": where}
    all_choices["text"] = (
        "aligned" if texts_may_differ(plan) else "absent" if bag.read.without_text else "equal"
    )
    reports = BagReports(bag.in_one_place(), plan)
    all_choices |= reports.choices()
    for warning in checked(plan.steps, bag.notes) if plan.steps else ():
        warn(warning)
    unplaced = [Unplaced(*fields) for fields in bag.read.unplaced]
    return Result(
        bag,
        plan,
        Signature.of(reports.metrics, all_choices, bag.read.units),
        changes,
        unplaced if unplaced or may_lack_place else None,
        made=reports,
    )
