"""Counts files: pairs of files in any number of processes, or groups of documents one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from clueval.core.span import DEFAULT_LAYER, SIDES
from clueval.evaluation.column_clusters import count_columns
from clueval.evaluation.engine import Evaluation
from clueval.evaluation.inputs import FileEnd, add_files, add_layer, add_passed_over, schemes_of
from clueval.evaluation.notices import empty_files
from clueval.evaluation.plan import Plan
from clueval.files.errors import warn
from clueval.formats.format import UNPLACED
from clueval.reading.given import Given
from clueval.reading.pairing import (
    document_groups,
    document_pairs,
    files_of_side,
    source_pairs,
)
from clueval.reading.read_options import ReadOptions, columns_of_sides, with_columns_of_tags
from clueval.reading.source import Source, source_of
from clueval.second.reading.options import ANSWER_FORMATS, LayerColumns
from clueval.second.results.options import Workers
from clueval.second.transforms.options import Preparing
from clueval.spans.document import Document
from clueval.textfiles import sha256_of

FilePair = tuple[str | None, Path, Path]
"""The name of a pair of files, and their paths."""


def count_files(
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
        from clueval.reading.pairing import require_two_tag_columns

        require_two_tag_columns((path for _, path, _ in pairs), readings[0])
    paths = [list(_files(side, number, pairs)) for number, side in enumerate((gold, predicted))]
    own, *others = with_columns_of_tags(columns_of_sides(readings, layers, single), paths)
    sides = [own, *(replace(each, unplaced=True) for each in others)]
    remark = workers.remark or _discard
    in_turn = len(sides) > 2 or pair_by is not None or bool(given.golds)
    remark("1 process: documents are read one by one" if observers or in_turn else "1 process: as requested")
    if in_turn:
        seen: list[tuple[int, Source]] = []

        def see(source: Source, number: int) -> None:
            _see(evaluation, source, number)
            seen.append((number, source))

        groups = document_groups(gold, predicted, sides, pair_by, workers.progress, see, given.golds)
        count_groups(evaluation, groups, len(given.golds))
        _add_passed_over(evaluation, seen)
    else:
        in_one_file = single and sides[0].annotation_set is None
        for gold, predicted in source_pairs(pairs, (sides[0], sides[1]), workers.progress):
            if in_one_file:
                gold.require_both_sides()
            if gold.path == predicted.path:
                predicted = replace(predicted, progress=None)  # `progress` gets the bytes of a file once
            end = _count_sources(evaluation, gold, predicted)
            if end is not None:
                evaluation.add_spans(end)
                evaluation.add_tags(end)
        if evaluation.unfinished:
            from clueval.evaluation.span_clusters import count_unfinished  # most formats do not need it

            count_unfinished(evaluation)
    for warning in empty_files(path for _, *both in pairs for path in both):
        warn(warning)
    return choices_of_tags(evaluation)


def placed(
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
    if readings[1].input in ANSWER_FORMATS and given.predicted is not None:
        from clueval.evaluation.answers import with_answers

        return with_answers(plan, readings[1].input, preparing)
    preparing.require_no_answers()
    if plan.texts_may_differ:
        return plan
    if first[0] is None or first[1] is None:
        return plan
    own, other = (
        each.format_at(path) for each, path in zip(readings, first, strict=False) if path is not None
    )
    from clueval.reading.same_text import need_placing

    in_tokens = plan.unit == "token" and not (own.counts_tokens and other.counts_tokens)
    if "nerval" in (own.name, other.name) or not (in_tokens or need_placing(own, other)):
        return plan
    gold, predicted = source_of(first[0], readings[0]), source_of(first[1], readings[1])
    if not in_tokens and (gold.has_text_of(predicted) or predicted.has_text_of(gold)):
        return plan
    from clueval.transforms.placing import Placing

    has_tokens = own.counts_tokens or other.counts_tokens
    what = "tokens" if has_tokens else "words" if in_tokens else "texts"
    named = not (own.nameless or other.nameless)
    placing = Placing(in_tokens=plan.unit == "token", what=what, named=named)
    return plan._replace(transforms=(placing, *plan.transforms))


def sha256_of_gold(given: Given, plan: Plan) -> str | None:
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


def count_groups(evaluation: Evaluation, groups: Iterable[tuple[Document, ...]], golds: int = 0) -> None:
    """Count groups of documents, of which the last ones are other golds."""
    from clueval.transforms.group import Group  # not needed where passages are counted

    for gold, predicted, *more in groups:
        further = len(more) - golds
        group = Group(gold, predicted, tuple(more[:further]), golds=tuple(more[further:]))
        if UNPLACED in predicted.metadata:
            from clueval.evaluation.unplaced import set_apart  # few formats have such spans

            group = set_apart(group, evaluation.inputs)
        evaluation.count_group(group)


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
        count_groups(evaluation, document_pairs(gold, predicted))
    _add_passed_over(evaluation, enumerate((gold, predicted)))
    return end


def choices_of_tags(evaluation: Evaluation) -> dict[str, str]:
    """The schemes and the treatments of the tags that were read from files."""
    invalid = "+".join(sorted(evaluation.treatments)) or "none"
    return {"scheme": schemes_of(evaluation.read()), "invalid": invalid}


def count_without_documents(
    evaluation: Evaluation, gold: Source, predicted: Source
) -> tuple[bool, FileEnd | None]:
    """Count two files and return whether it was possible; if not, nothing was counted.

    The `FileEnd` counts spans and repaired tags that are not counted yet; None if there is no such end. Raises the
    errors of the files; those of token rows are raised when documents are counted.
    """
    rows = gold.form.rows
    if predicted.form.lacks_tokens:
        return False, None
    if (rows is not None and rows.tagged is None) or gold.form.flat or gold.form.sentences:
        from clueval.evaluation.span_clusters import count_rows  # other formats do not need it

        return count_rows(evaluation, gold, predicted), None
    end = count_columns(evaluation, gold, predicted)
    if end is None and gold.form.rows is not None:
        from clueval.evaluation.tag_lists import count_token_rows  # other formats do not need it

        end = count_token_rows(evaluation, gold, predicted)
    return end is not None, end
