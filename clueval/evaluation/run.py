"""The evaluation: pairs gold with predicted, checks that they are the same text, and counts.

Files of the column formats are compared passage by passage, raw; everything else goes document by document
through the metrics. Both ways give the same counts, and the second is the model for the first. Where there
are several processes, files and parts of files are shared out (see `clueval.evaluation.parallel.schedule`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clueval.evaluation.engine import Evaluation
from clueval.evaluation.lockstep import FileEnd, compared
from clueval.evaluation.observer import Observer, require_names
from clueval.evaluation.parallel.executors import require_jobs
from clueval.evaluation.parallel.schedule import count_pairs
from clueval.evaluation.parallel.work import Work
from clueval.evaluation.plan import Plan
from clueval.evaluation.preparation import choices_of
from clueval.evaluation.result import Result
from clueval.evaluation.signature import Signature
from clueval.exceptions import UsageError
from clueval.limits import MAX_LINE, MAX_SENTENCE
from clueval.metrics import METRICS, metric_named
from clueval.metrics.metric import Metric
from clueval.reading.layers import LayerColumns, columns_of_side, layer_names
from clueval.reading.options import Reading, ReadOptions
from clueval.reading.pairing import (
    document_groups,
    document_pairs,
    files_of_side,
    parallel,
    require_pair_by,
    same_documents,
)
from clueval.reading.paths import Documents, Paths, are_paths, documents_of, path_pairs
from clueval.reading.source import Source
from clueval.spans.document import Document
from clueval.spans.filters import parse_where
from clueval.textfiles import Progress
from clueval.transforms.group import Group, Transform

if TYPE_CHECKING:
    from concurrent.futures import Executor


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
    invalid: str | None = None,
    document_tag: str = "text",
    sentence_tag: str = "s",
    text: str | Path | None = None,
    ignore_punct: bool | None = None,
    gold_set: str | None = None,
    predicted_set: str | None = None,
    further_sets: Sequence[str] = (),
    pair_by: str | None = None,
    unit: str | None = None,
    align: bool | int = False,
    transforms: Sequence[Transform] = (),
    observers: Sequence[Observer] = (),
    progress: Progress | None = None,
    jobs: int | None = 1,
    executor: Executor | None = None,
    remark: Callable[[str], object] | None = None,
    max_line: int = MAX_LINE,
    max_sentence: int = MAX_SENTENCE,
) -> Result:
    """Score predicted against gold.

    Args:
        gold, predicted: two files, two folders (paired by relative name), two lists of files (paired in
            order) or two iterables of documents in the same order; or one file that has both, and None.
        metrics: names of metrics (see `clueval.metrics.METRICS`) or metrics.
        layers: name and column of each layer, or the gold and the predicted column as a pair; columns count
            from 1, or from -1 at the end. None: the last column, of a single file the last two.
        merge: merge all layers into one sequence, `merged`, and score that.
        where: conditions ``KEY=VALUE`` on layers or metadata; `clueval.spans.filters` says what is counted.
        by: metadata, or ``document``, to break the scores down by.
        input, token, token_id, scheme, invalid, document_tag, sentence_tag, text, ignore_punct: as in
            `clueval.read`.
        gold_set, predicted_set: the annotation sets of the two sides, in formats that have several by name;
            with `predicted` None both are taken from the same files. The layer that a metric `gate` names as
            `containing` is, in these formats, written ``SET:TYPE``; it is no sequence to be scored.
        further_sets: annotation sets of the predicted files that are not counted; transforms and observers get
            them as `Group.further`.
        pair_by: ``id``, ``name`` or ``content``: documents of the two sides go together by the id that the
            document has, by the name of its file but for its ending, or by its text, in any order. None:
            files by relative name, documents in order.
        unit: ``character`` to count the positions of tokens in characters, token texts joined by blanks.
        align: True if the two sides' texts differ and predicted spans are to be projected onto the gold text
            (needs rapidfuzz, extra ``align``); a number is the greatest product of the lengths of two texts.
            The metric ``noisy`` compares different texts without it.
        transforms: change each `Group` of parallel documents, one after the other, before layers are merged,
            filters applied and spans counted. The signature names them; what they changed is in
            `Result.prepared`.
        observers: see each group that is counted, as the transforms have left it; what they report is in
            `Result.sections`. With observers one process counts.
        progress: is called with the number of bytes read, again and again.
        jobs: how many processes count files; None: as many as there are cores, if there is enough to count.
        executor: what counts files instead: anything with the `submit` of `concurrent.futures.Executor`,
            whose workers find the files under the same paths. It is sent paths and ranges of bytes and sends
            back counts. `jobs` is then how many tasks it carries out at a time, if more than 1; four times as
            many are in flight, or 64.
        remark: is called with a line on where is counted, and why.
        max_line, max_sentence: as in `clueval.read`.

    Returns the `Result`, the same for any `jobs` and `executor`. One pass; held in memory are one document or
    passage of each side and the counts, in each process. Raises `CluevalError` for wrong use or input,
    `TextMismatch` where the two sides differ in their text, `WorkerLost` if three processes end, one after
    the other, while they count the same part, and if an executor loses a task or returns something that is
    not counts.
    """
    require_jobs(jobs)
    _require_sense(unit, pair_by, predicted is None)
    require_names(observers)
    chosen, prepared = _metrics(metrics), choices_of(transforms)
    keys = (by,) if isinstance(by, str) else tuple(by)
    plan = Plan(
        *(chosen, merge, parse_where(where), keys, unit, _cells(align)), tuple(transforms), tuple(observers)
    )
    evaluation = Evaluation(plan, [] if layers is None else layer_names(layers))
    reading = Reading(
        input=input,
        token=token,
        token_id=token_id,
        scheme=scheme,
        invalid=invalid,
        document_tag=document_tag,
        sentence_tag=sentence_tag,
        text=text,
        ignore_punct=ignore_punct,
        max_line=max_line,
        max_sentence=max_sentence,
    )
    read_options = ReadOptions.of(reading, whole_text=plan.reads_whole_texts, containing=_containing(chosen))
    pairs = path_pairs(gold, predicted) if pair_by is None else _sides_of_any_order(gold, predicted)
    if pairs is not None:
        read_options.require_use(_files(gold, predicted, pairs))  # type: ignore[arg-type]  # paths, as there are pairs
        sets = (gold_set, predicted_set, *further_sets)
        options = _options(read_options, layers, sets, predicted is None)
        remark = remark or _say_nothing
        if observers or further_sets or pair_by is not None:
            remark("1 process: documents are wanted here, one by one")
            sides: tuple[Any, Any] = gold, predicted
            groups = document_groups(*sides, options, pair_by, progress, partial(_see, evaluation))
            _count_groups(evaluation, groups)
        else:
            single = predicted is None and gold_set is None
            work = Work(plan, tuple(evaluation.layers), (options[0], options[1]), single, _count_sources)
            count_pairs(evaluation, work, pairs, jobs, executor, progress, remark)
        choices = {"scheme": scheme or "auto", "invalid": "+".join(sorted(evaluation.treatments)) or "none"}
    else:
        _require_documents(gold, predicted, further_sets)
        read_options.require_none()
        _count_groups(evaluation, _groups(documents_of(gold), documents_of(predicted), pair_by))
        choices = {"scheme": "documents", "invalid": "documents"}
    choices |= prepared | ({} if pair_by is None else {"paired": pair_by})
    return evaluation.result(_signature(plan, choices, evaluation))


def _require_sense(unit: str | None, pair_by: str | None, single: bool) -> None:
    """Raise `UsageError` for settings that mean nothing, alone or together."""
    if unit not in (None, "token", "character"):
        raise UsageError(f"unknown unit {unit!r}", advice="token or character")
    require_pair_by(pair_by)
    if single and pair_by is not None:
        raise UsageError("a file that has both sides is paired with itself", advice="leave out pair_by")


def _require_documents(gold: object, predicted: object, further_sets: Sequence[str]) -> None:
    """Raise `UsageError` unless both sides are documents, and nothing is asked for that is read from files."""
    if isinstance(gold, str | Path) or predicted is None or isinstance(predicted, str | Path):
        raise UsageError("one side is a path and the other is not", advice="give two paths or two iterables")
    if further_sets:
        raise UsageError("further annotation sets are read from files", advice="give paths")


def _say_nothing(_: str) -> None:
    """Nobody wants to know."""


def _files(
    gold: Paths, predicted: Paths | None, pairs: Sequence[tuple[str | None, Path, Path]]
) -> Iterator[Path]:
    """All files of both sides; of sides that are still to be paired, too."""
    for _, *pair in pairs:
        yield from pair
    for side in (gold, predicted) if not pairs else ():
        if side is not None:
            yield from (path for _, path in files_of_side(side))


def _options(
    reading: ReadOptions,
    layers: LayerColumns | None,
    sets: Sequence[str | None],
    single: bool,
) -> list[ReadOptions]:
    """How gold, predicted and further documents are read; `sets` are their annotation sets.

    With `single`, the files of the two sides are the same; without sets they then differ by their columns.
    """
    both_columns = single and sets[0] is None
    options = [
        replace(
            reading,
            layers=columns_of_side(layers, side, both_columns),
            token=1 if reading.token is None and both_columns else reading.token,
            annotation_set=sets[side],
        )
        for side in range(2)
    ]
    return [*options, *(replace(options[1], annotation_set=further) for further in sets[2:])]


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


def _metrics(names: Sequence[str | Metric] | str) -> tuple[Metric, ...]:
    chosen: list[Metric] = []
    for name in names.split(",") if isinstance(names, str) else names:
        chosen.append(metric_named(name) if isinstance(name, str) else name)
    if not chosen:
        raise UsageError("no metric is named", advice=f"one of {', '.join(METRICS)}")
    return tuple({metric.name: metric for metric in chosen}.values())


def _see(evaluation: Evaluation, source: Source) -> None:
    """Take note of how ill-formed tags of a file are treated."""
    if source.treatment is not None:
        evaluation.treatments.add(source.treatment)


def _count_sources(evaluation: Evaluation, gold: Source, predicted: Source) -> FileEnd | None:
    """Count a pair of files, without documents if these are not needed; then the tags that `FileEnd` says were
    repaired are not counted yet."""
    for source in (gold, predicted):
        _see(evaluation, source)
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
    return Signature.of(plan.metrics, {**choices, **made}, evaluation.units)
