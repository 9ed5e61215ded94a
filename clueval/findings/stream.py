"""The findings of whole files and folders, as a stream.

Files of the column formats are compared passage by passage: a sentence whose lines are the same on both sides has no
error, and of the others each different cluster of rows is examined once (see `clueval.findings.clusters`). If the
choice or the format needs more than a sentence, documents are compared instead; both ways give the same findings.

Observers find errors in the pass that counts (see `clueval.evaluation.observer`). They see what has been checked and
counted already, so no error of the input is found here first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from clueval.arguments import checked_call, refuse_unknown, require_instance, require_kind
from clueval.clusters.rows import IrregularRows, ParallelRows
from clueval.files.errors import UsageError, warn
from clueval.findings.choice import Choice, ReasonKey, choice_with, findings
from clueval.findings.clusters import ClusterErrors, LineCheck
from clueval.findings.decisions import ERROR_CHOICES, DecisionFiles, PlaceDecisions, decisions_about
from clueval.findings.places import places, places_of_document, with_decisions
from clueval.findings.table import Finding
from clueval.options import field_names, with_fields
from clueval.reading.given import Given, given
from clueval.reading.pairing import document_groups, files_of_side, require_two_tag_columns, same_documents
from clueval.reading.paths import path_pairs
from clueval.reading.read_options import ReadOptions, columns_of_sides, with_columns_of_tags
from clueval.reading.same_text import (
    ends_early,
    first_line,
    raise_first_error,
    require_same_frame,
    require_same_text,
)
from clueval.reading.source import Source, beside, source_of
from clueval.reading.tag_sentences import golds_in_memory, kept
from clueval.second.formats.options import Reading
from clueval.second.reading.options import (
    SETS,
    InputSide,
    LayerColumns,
    Readings,
    layer_names,
    readings_of,
    require_layers,
    require_none,
    require_positions,
)
from clueval.second.reading.spooled import spooled
from clueval.second.transforms.options import Preparing
from clueval.spans.document import Document
from clueval.spans.filters import SeenNames
from clueval.textfiles import Progress
from clueval.transforms.applied import Preparation, warn_without_effect
from clueval.transforms.group import Group, Transform
from clueval.transforms.of_options import transforms_of

Pair = tuple[Document, Document]


_READING, _PREPARING = Reading(), Preparing()


DECISIONS = ("decisions", "conflicts")
"""The options of `errors` about decisions."""


def known_options() -> list[str]:
    """The names of the options of `errors` and `diff`."""
    fields = (name for group in (Choice, Reading, Preparing) for name in field_names(group))
    return ["choice", "layers", *fields, *SETS, "pair_by", "progress", *DECISIONS]


@checked_call
def errors(
    gold: InputSide,
    predicted: InputSide | None = None,
    choice: Choice | None = None,
    *,
    layers: LayerColumns | None = None,
    reading: Readings = _READING,
    preparing: Preparing = _PREPARING,
    **options: Any,
) -> Iterator[Finding]:
    """Yield all errors of predicted compared with gold, in the order of the documents; see `clueval.errors`."""
    refuse_unknown(options, known_options(), "errors")
    if options.get("decisions") is not None:
        decisions = decisions_about_errors(options["decisions"], options.get("conflicts"))
        rest: Any = {name: value for name, value in options.items() if name not in DECISIONS}
        how: Any = {"layers": layers, "reading": reading, "preparing": preparing, **rest}
        chosen = choice_with(choice, rest)
        how |= {name: getattr(chosen.of_all, name) for name in rest if name in field_names(Choice)}
        return _decided(errors(gold, predicted, chosen.of_all, **how), chosen, decisions)
    choice = choice_with(choice, options)
    require_layers(layers)
    require_kind(options.get("progress"), "Progress | None", "progress")
    readings = readings_of(reading, options)
    require_positions(readings, "errors")
    require_instance(preparing, Preparing, "preparing")
    preparing = with_fields(preparing, options)
    golds = preparing.golds()
    gold = kept(gold) if golds else gold
    regions = preparing.ignored_layers()
    names = [name for name in (() if layers is None else layer_names(layers)) if name not in regions]
    stream = _Stream(choice, names, transforms_of(preparing, gold))
    found = given(gold, predicted, readings[0].names)._replace(golds=golds)
    if found.kind == "paths":
        return _of_files(found, stream, layers, readings, options.get("progress"), options.get("pair_by"))
    if options.get("pair_by") is not None:
        raise UsageError(
            "pair_by pairs documents of files", advice="give dictionaries by id, or the same order"
        )
    for each in readings:
        require_none(each, ("scheme", "invalid") if found.kind == "tags" else ())
    groups: Iterator[tuple[Document, ...]] = _documents(found, readings)
    if golds:
        beside = zip(groups, golds_in_memory(gold, golds, readings[0]), strict=True)
        groups = ((*pair, *others) for pair, others in beside)
    return stream.of_documents(groups)


def decisions_about_errors(
    decisions: DecisionFiles | PlaceDecisions, conflicts: str | None = None
) -> PlaceDecisions:
    """Return decisions about errors. Raises `CluevalError` for files that cannot be read or are about others."""
    return decisions_about("errors", ERROR_CHOICES, decisions, conflicts)


def _decided(found: Iterable[Finding], choice: Choice, decisions: PlaceDecisions) -> Iterator[Finding]:
    """Yield those of all errors that the choice lists, with the decisions about their places."""
    for place in places(found):
        listed = filter(choice.lists, place.findings)
        yield from with_decisions(places_of_document(listed), decisions)
        decisions.leave_out(*place.in_decisions)
    if choice.where:
        decisions.leave_out_lost()
    decisions.checked()
    if decisions.number("stale") or decisions.lost:
        warn(decisions.words())


def _of_files(
    found: Given,
    stream: _Stream,
    layers: LayerColumns | None,
    readings: Sequence[Reading],
    progress: Progress | None,
    pair_by: str | None,
) -> Iterator[Finding]:
    if pair_by is not None and found.predicted is None:
        raise UsageError("a file that has both sides is paired with itself", advice="leave out pair_by")
    with spooled(found.gold, found.predicted) as (gold, predicted):
        pairs = path_pairs(gold, predicted) if pair_by is None else []
        options = [ReadOptions.of(each) for each in readings]
        if predicted is None and layers is None and options[0].annotation_set is None:
            require_two_tag_columns((path for _, path, _ in pairs), options[0])
        paths = [[path for _, path in files_of_side(side)] for side in (gold, predicted) if side is not None]
        sides = with_columns_of_tags(columns_of_sides(options, layers, predicted is None), paths)
        if found.golds or pair_by is not None:
            groups = document_groups(gold, predicted, sides[:2], pair_by, progress, golds=found.golds)
            yield from stream.of_documents(groups)
        else:
            yield from stream.of_files(pairs, sides, progress)


def _documents(found: Given, readings: Sequence[Reading]) -> Iterator[Pair]:
    if found.kind != "tags":
        return found.documents()
    from clueval.reading.tag_sentences import TagOptions, documents_of_tags

    options = TagOptions([each.scheme for each in readings[:2]], [each.invalid for each in readings[:2]])
    return documents_of_tags(found, options, options.decoders())


class _Stream:
    """One search while it runs. It collects the names and values that the choice may name, to check it."""

    def __init__(self, choice: Choice, layers: Iterable[str], transforms: Sequence[Transform]) -> None:
        self._choice = choice
        self._preparation = Preparation(transforms)
        self._needs_documents = bool(transforms)
        self._layers = dict.fromkeys(layers)
        self._seen = SeenNames(choice.where)

    def of_files(
        self,
        pairs: Sequence[tuple[str | None, Path, Path]],
        options: Sequence[ReadOptions],
        progress: Progress | None,
    ) -> Iterator[Finding]:
        options[0].require_use(path for _, *both in pairs for path in both)
        for name, own_path, other_path in pairs:
            own, other = beside(
                source_of(own_path, options[0], name=name, progress=progress),
                source_of(other_path, options[1], name=name, progress=progress),
            )
            on_spans = bool(
                self._choice.where.on_layers(layer_names(own.options.layers))
            )  # agreed labels count
            if within_sentences(own, other, self._choice) and not (self._needs_documents or on_spans):
                yield from self._of_passages(own, other)
            else:
                yield from self._of_pairs(same_documents(own.documents(), other.documents()))
        self._require_known_names()

    def of_documents(self, groups: Iterable[tuple[Document, ...]]) -> Iterator[Finding]:
        yield from self._of_pairs(groups)
        self._require_known_names()

    def _of_pairs(self, groups: Iterable[tuple[Document, ...]]) -> Iterator[Finding]:
        for gold, predicted, *golds in groups:
            require_same_text(gold, predicted)
            group = self._preparation(Group(gold, predicted, golds=tuple(golds)))
            gold, predicted = group.gold, group.predicted
            self._layers.update(dict.fromkeys([*gold.layers, *predicted.layers]))
            self._seen.see_documents([gold, predicted], dict.fromkeys([*gold.layers, *predicted.layers]))
            yield from findings(gold, predicted, self._choice)

    def _of_passages(self, own: Source, other: Source) -> Iterator[Finding]:
        self._layers.update(dict.fromkeys(layer_names(own.options.layers)))
        check, errors = LineCheck((own, other)), ClusterErrors((own, other), self._choice)
        for gold, predicted in zip_longest(own.passages(), other.passages()):
            if gold is None or predicted is None:
                extra = gold or predicted
                raise ends_early(own, other, gold is None, extra.document, first_line(extra))
            self._seen.see(gold.document, gold.metadata, self._choice.where)
            require_same_frame(gold, predicted)
            try:
                rows = ParallelRows([(gold, predicted)])
                check.see(rows)
                found = errors.findings(rows)
            except IrregularRows:
                raise_first_error(own, other)
                raise
            yield from chain.from_iterable(found)
        check.end()

    def _require_known_names(self) -> None:
        self._preparation.checked()
        warn_without_effect([self._preparation])
        self._choice.require_layer(self._layers)
        self._seen.require_all((), self._layers)


def within_sentences(own: Source, other: Source, choice: Choice) -> bool:
    """Return whether neither the choice nor the format needs more than a sentence, and equal lines have equal spans.

    They have not if a layer is in one of the files only.
    """
    decoder, other_decoder = own.options.decoder(), other.options.decoder()
    return (
        own.token_lines is not None
        and other.token_lines is not None
        and own.format == other.format
        and layer_names(own.options.layers) == layer_names(other.options.layers)
        and decoder.reads_neighbours
        and decoder.treatment == other_decoder.treatment
        and decoder.named_scheme == other_decoder.named_scheme
        and choice.window is None
    )


Row = TypeVar("Row")


class DocumentsObserver(Generic[Row]):
    """Gives the documents that are counted to `find`, and what that finds to `take`."""

    name: ClassVar[str] = "errors"

    def __init__(
        self, find: Callable[[Document, Document], Iterable[Row]], take: Callable[[Iterable[Row]], None]
    ) -> None:
        self._find, self._take = find, take

    def see(self, group: Group) -> None:
        self._take(self._find(group.gold, group.predicted))

    def section(self) -> dict[str, Any]:
        """Return nothing: errors have outputs of their own."""
        return {}


class FindingsObserver(DocumentsObserver[Any]):
    """Finds the errors of a choice, also in the rows of column files.

    `counts`, if given, gets the numbers of `findings`, whichever errors are taken.
    """

    def __init__(
        self,
        choice: Choice,
        take: Callable[[Iterable[Any]], None],
        counts: Counter[ReasonKey] | None = None,
    ) -> None:
        super().__init__(lambda gold, predicted: findings(gold, predicted, choice, counts), take)
        self._choice, self._counts = choice, counts
        self._errors: ClusterErrors | None = None

    def reads_rows(self, gold: Source, predicted: Source) -> bool:
        self._errors = ClusterErrors((gold, predicted), self._choice, self._counts)
        return within_sentences(gold, predicted, self._choice)

    def see_rows(self, rows: ParallelRows) -> None:
        assert self._errors is not None
        for found in self._errors.findings(rows):
            self._take(found)
