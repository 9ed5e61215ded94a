"""`diff`: which errors of an old run a new run has fixed, which are new, and which have changed.

An error is the same in both runs if document, sequence, side, start, end and labels are the same (and the number
among equal ones). An error of the gold side that is in both runs has *changed* if its class, or the label that was
found, is another one. Errors are those of `clueval.errors` for the same choice.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from clueval.exceptions import (
    OverlapError,
    UsageError,
    checked_call,
    refuse_unknown,
    require_instance,
    require_kind,
)
from clueval.findings.choice import Choice, choice_with
from clueval.findings.stream import known_options
from clueval.findings.systems import CHANGES, System, place_and_labels
from clueval.options import with_fields
from clueval.reading.given import InputSide
from clueval.reading.layers import LayerColumns, require_layers
from clueval.reading.options import Reading, Readings
from clueval.reading.trios import Trio, trios
from clueval.spans.document import Document
from clueval.spans.flat import name_file
from clueval.spans.matching import Match, match_spans
from clueval.spans.merging import with_merged
from clueval.spans.seen_names import SeenNames
from clueval.spans.span import MERGED, Span
from clueval.studies.diff_report import CHANGED, FIXED, NEW, STILL, ComparedErrors, DiffFinding
from clueval.transforms.group import Group, Transform
from clueval.transforms.preparation import Preparation, warn_without_effect
from clueval.transforms.prepared import transforms_of
from clueval.transforms.preparing import Preparing

if TYPE_CHECKING:
    from clueval.findings.stream import ErrorsOptions

_READING, _PREPARING = Reading(), Preparing()


@dataclass(frozen=True, slots=True)
class Diff(ComparedErrors):
    """The result of `diff`, see `ComparedErrors`."""

    _sides: Mapping[str, InputSide] = field(repr=False, compare=False)
    _how: tuple[Any, ...] = field(repr=False, compare=False)

    @checked_call
    def write_page(self, path: str | Path, *, title: str = "Errors", lang: str = "") -> None:
        """Write the web page of ``clueval diff --html``: the errors in their contexts; reads the sources once more.

        `lang` is the language of the texts, such as ``de``. Raises `UsageError` for an iterator or open file, which
        cannot be read again, `FileError`, and `MissingExtra` without the extra ``report``.
        """
        from clueval.studies.error_pages import ErrorPages, name_of_run, require_again

        require_again(**self._sides)
        systems = [System(run, name_of_run(self._sides[run], run)) for run in ("old", "new")]
        ErrorPages.of(*self._how).write_two(Path(path), self._sides, systems, CHANGES, title=title, lang=lang)


@checked_call
def diff(
    gold: InputSide,
    old: InputSide,
    new: InputSide,
    choice: Choice | None = None,
    *,
    layers: LayerColumns | None = None,
    reading: Readings = _READING,
    preparing: Preparing = _PREPARING,
    **options: Unpack[ErrorsOptions],
) -> Diff:
    """Return the errors of two runs, old and new, on the same gold.

    Args:
        gold, old, new: three files or three folders; or documents, lists of tags or lists of spans, as in
            `clueval.score`.
        choice: selects the errors; see `clueval.errors`. It may not name classes, because they can change.
        layers, reading, preparing, options: as in `clueval.errors`; both runs are read and changed in the same way.

    Holds one document of each side, and all errors. Raises the errors of `clueval.errors`.
    """
    refuse_unknown(options, known_options(), "diff")
    require_instance(preparing, Preparing, "preparing")
    preparing = with_fields(preparing, options).without(["by_depth", "any_of"], "diff")
    choice = choice_with(choice, options)
    require_layers(layers)
    require_kind(options.get("progress"), "Progress | None", "progress")
    if choice.kinds:
        raise UsageError("diff compares errors of all classes", advice="leave out kinds")
    sides = {"gold": gold, "old": old, "new": new}
    found = _compared(trios(sides, layers, reading, options), choice, transforms_of(preparing))
    return Diff(*found, sides, (choice, layers, reading, preparing, options))


def _compared(
    found_trios: Iterable[Trio], choice: Choice, transforms: Sequence[Transform]
) -> tuple[int, Counter[tuple[str, str]], list[DiffFinding]]:
    preparations = [Preparation(transforms) for _ in range(2)]
    classes: Counter[tuple[str, str]] = Counter()
    found: list[DiffFinding] = []
    layers: dict[str, None] = {}
    documents, seen = 0, SeenNames(choice.where)
    for gold, old, new in found_trios:
        groups = [
            preparation(Group(gold, run)) for run, preparation in zip((old, new), preparations, strict=True)
        ]
        documents_of_both = [each for group in groups for each in (group.gold, group.predicted)]
        names = list(dict.fromkeys(name for document in documents_of_both for name in document.layers))
        layers |= dict.fromkeys(names)
        seen.see_documents(documents_of_both, names)
        if not choice.where.on_documents(names).lets_through(gold.id, gold.metadata):
            continue
        documents += 1
        for sequence in [MERGED] if choice.merge else names:
            sides = _Sides(groups, sequence, choice, names)
            if "gold" in choice.sides:
                found += sides.of_gold(classes)
            if "predicted" in choice.sides:
                found += sides.of_predicted()
    for preparation in preparations:
        preparation.checked()
    warn_without_effect(preparations)
    choice.require_layer(layers)
    seen.require_all((), layers)
    return documents, classes, found


class _Sides:
    """The spans of one sequence of a document, and how they match those of both runs, old and new."""

    def __init__(self, groups: Sequence[Group], sequence: str, choice: Choice, layers: Sequence[str]) -> None:
        self._groups, self._sequence, self._choice = groups, sequence, choice
        self._filter = choice.where.on_layers(layers)

    def of_gold(self, classes: Counter[tuple[str, str]]) -> Iterator[DiffFinding]:
        """Yield the errors of the gold side; the classes of its spans are counted.

        A gold span that counts in one run alone, as another alternative does in the other, is compared with nothing.
        """
        old, new = (self._matches(group.gold, group.predicted) for group in self._groups)
        for before, after in _joined(old, new):
            if before is not None and after is not None:
                classes[before.kind, after.kind] += 1
            was, is_ = (match is not None and self._choice.is_error(match) for match in (before, after))
            span = (before or after).span  # type: ignore[union-attr]  # one of them is a match
            if was and is_ and before is not None and after is not None:
                same = before.kind == after.kind and before.labels == after.labels
                yield self._finding(STILL if same else CHANGED, "gold", span, before, after)
            elif was or is_:
                yield self._finding(FIXED if was else NEW, "gold", span, before, after)

    def of_predicted(self) -> Iterator[DiffFinding]:
        """Yield the errors of the predicted side, by position."""
        is_error = self._choice.is_error
        old, new = (
            [match for match in self._matches(group.predicted, group.gold) if is_error(match)]
            for group in self._groups
        )
        for before, after in _joined(old, new):
            state = NEW if before is None else FIXED if after is None else STILL
            span = (after or before).span  # type: ignore[union-attr]  # one of them is a match
            yield self._finding(state, "predicted", span, before, after)

    def _matches(self, own: Document, other: Document) -> list[Match]:
        """The matches of the spans of a document that are counted, by position."""
        spans = sorted(self._spans(own), key=lambda span: (span.start, span.end))
        try:
            matches = match_spans(spans, self._spans(other), document=own.id)
        except OverlapError as error:
            name_file(error, (spans, own.file), (self._spans(other), other.file))
            raise
        if not self._filter:
            return list(matches)
        counted = self._filter.counted(spans, own)
        return [match for match, count in zip(matches, counted, strict=True) if count]

    def _spans(self, document: Document) -> Sequence[Span]:
        source = with_merged(document) if self._choice.merge else document
        return source.layers.get(self._sequence, ())

    def _finding(
        self, state: str, side: str, span: Span, before: Match | None, after: Match | None
    ) -> DiffFinding:
        return DiffFinding(
            state,
            side,
            self._groups[0].gold.id,
            self._sequence,
            span.start,
            span.end,
            dict(span.by_layer),
            None if before is None else before.kind,
            None if after is None else after.kind,
            self._groups[0].gold.text_of(span),
        )


def _joined(
    old: Iterable[Match], new: Iterable[Match]
) -> list[tuple[Match | None, Match] | tuple[Match, None]]:
    """Return the matches of equal spans together, by position; None stands for a match that one run lacks."""
    waiting: dict[tuple[object, ...], deque[Match]] = {}
    for match in old:
        waiting.setdefault(place_and_labels(match.span), deque()).append(match)
    found: list[tuple[Match | None, Match] | tuple[Match, None]] = []
    for match in new:
        equal = waiting.get(place_and_labels(match.span))
        found.append((equal.popleft() if equal else None, match))
    found += [(match, None) for left in waiting.values() for match in left]
    return sorted(found, key=_position)


def _position(pair: tuple[Match | None, Match] | tuple[Match, None]) -> tuple[int, int]:
    match = pair[0] or pair[1]
    assert match is not None
    return match.span.start, match.span.end
