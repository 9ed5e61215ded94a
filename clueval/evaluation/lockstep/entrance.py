"""Counting a pair of column files: in step where they are regular, passage by passage where they are not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest

from clueval.evaluation.engine import Evaluation
from clueval.evaluation.lockstep.compare import SIDES, Decoders, Stretch
from clueval.evaluation.lockstep.reader import LEAST_LIMIT, File, Lockstep
from clueval.exceptions import CluevalError
from clueval.formats.columns.columns import ROWS
from clueval.formats.columns.passages import Passage
from clueval.reading.layers import layer_names
from clueval.reading.pairing import ends_early
from clueval.reading.same_text import first_line
from clueval.reading.source import Source
from clueval.textfiles import raw_blocks, refuse

Item = Stretch | tuple[Passage, Passage]


def count_column_files(evaluation: Evaluation, own: Source, other: Source) -> None:
    """Check and count a pair of files.

    If anything is wrong, or seems so, the files are read again, as passages alone, and those tell what it is.
    Raises `TextMismatch` for the first difference of the texts, `FormatError` and `TagError` with the line.
    """
    evaluation.see_layers(layer_names(own.options.layers))
    if may_go_in_step(evaluation, own, other):
        apart = evaluation.fresh()
        decoders = _decoders(own, other)
        steps = in_step(own, other, evaluation.plan.merge)
        try:
            _count(apart, steps, decoders)
        except CluevalError:
            pass
        else:
            for source, layout in zip((own, other), steps.layouts, strict=True):
                if layout is not None:
                    source.see_layout(layout)
            evaluation.include(apart.found())
            evaluation.see_decoders(decoders)
            return
    decoders = _decoders(own, other)
    _count(evaluation, _passages(own, other), decoders)
    evaluation.see_decoders(decoders)


def may_go_in_step(evaluation: Evaluation, own: Source, other: Source) -> bool:
    """Whether nobody wants to know single documents, and tags are read by their neighbours alone."""
    return (
        own.format == other.format
        and own.options.has_columns_of(other.options)
        and own.options.reads_leniently
        and min(own.options.max_line, own.options.max_sentence) >= LEAST_LIMIT
        and not evaluation.plan.by
        and not evaluation.plan.where
    )


def _decoders(own: Source, other: Source) -> Decoders:
    return {
        (side, layer): decoder
        for side, source in zip(SIDES, (own, other), strict=True)
        for layer, decoder in source.decoders().items()
    }


def in_step(own: Source, other: Source, merge: bool) -> Lockstep:
    return Lockstep(_file(own), _file(other), merge, own.options.max_sentence)


def _file(source: Source) -> File:
    options = source.options.columns()
    assert source.token_lines is not None
    reader = source.token_lines.reader(str(source.path), options, source.name, refuse)
    return File(source.path, raw_blocks(source.path, source.progress, options.part), reader, options.max_line)


def _passages(own: Source, other: Source) -> Iterator[tuple[Passage, Passage]]:
    """The passages of both files, in pairs. Raises `TextMismatch` if one file has fewer."""
    for gold, predicted in zip_longest(own.passages(), other.passages()):
        if gold is None or predicted is None:
            extra = gold or predicted
            raise ends_early(own, other, gold is None, extra.document, first_line(extra))
        yield gold, predicted


def _count(evaluation: Evaluation, items: Iterable[Item], decoders: Decoders) -> None:
    """Count stretches as they come, and passages many at a time."""
    waiting: list[tuple[Passage, Passage]] = []
    tokens = 0
    try:
        for item in items:
            if isinstance(item, Stretch):
                evaluation.count_stretch(item, decoders)
                continue
            waiting.append(item)
            tokens += item[0].tokens
            if tokens >= ROWS or len(waiting) >= ROWS:
                ready, waiting, tokens = waiting, [], 0
                evaluation.count_passages(ready, decoders)
    finally:
        if waiting:  # what precedes an error may hold an earlier one
            evaluation.count_passages(waiting, decoders)
