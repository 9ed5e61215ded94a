"""`diff`: which errors of an old run a new run has fixed, which are new, and which have changed.

An error is the same in both runs if document, sequence, side, start, end and labels are the same (and the number
among equal ones). An error of the gold side that is in both runs has *changed* if its reason, its class, or the label
that was found, is another one. Errors are those of `clueval.errors` for the same choice.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from clueval.exceptions import UsageError, checked_call, refuse_unknown, require_instance, require_kind
from clueval.findings.choice import Choice, ComparedSide, choice_with, compared, in_words
from clueval.findings.stream import known_options
from clueval.findings.summary import RIGHT
from clueval.findings.systems import CHANGES, System, place_and_labels
from clueval.findings.table import ErrorRows
from clueval.options import with_fields
from clueval.reading.given import InputSide
from clueval.reading.layers import LayerColumns, require_layers
from clueval.reading.options import Reading, Readings
from clueval.reading.trios import Trio, trios
from clueval.spans.document import Document
from clueval.spans.seen_names import SeenNames
from clueval.spans.span import Span
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
        choice: selects the errors; see `clueval.errors`. It may not name classes or reasons, because they can change.
        layers, reading, preparing, options: as in `clueval.errors`; both runs are read and changed in the same way.

    Holds one document of each side, and all errors. Raises the errors of `clueval.errors`.
    """
    refuse_unknown(options, known_options(), "diff")
    require_instance(preparing, Preparing, "preparing")
    preparing = with_fields(preparing, options).without(["by_depth", "any_of"], "diff")
    choice = choice_with(choice, options)
    require_layers(layers)
    require_kind(options.get("progress"), "Progress | None", "progress")
    if choice.kinds or choice.reasons:
        raise UsageError(
            "diff compares errors of all classes and reasons", advice="leave out kinds and reasons"
        )
    sides = {"gold": gold, "old": old, "new": new}
    found = _compared(trios(sides, layers, reading, options), choice, transforms_of(preparing))
    return Diff(*found, in_words(choice), sides, (choice, layers, reading, preparing, options))


def _compared(
    found_trios: Iterable[Trio], choice: Choice, transforms: Sequence[Transform]
) -> tuple[int, Counter[tuple[str, str]], Counter[tuple[str, str]], list[DiffFinding]]:
    preparations = [Preparation(transforms) for _ in range(2)]
    classes: Counter[tuple[str, str]] = Counter()
    reasons: Counter[tuple[str, str]] = Counter()
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
        runs = (compared(group.gold, group.predicted, names, choice) for group in groups)
        for before, after in zip(*runs, strict=True):
            for old_result, new_result in _joined(_results(before, choice), _results(after, choice)):
                if before.side == "gold" and old_result is not None and new_result is not None:
                    classes[_of_five(old_result), _of_five(new_result)] += 1
                    reasons[old_result.reason, new_result.reason] += 1
                if (state := _state(before.side, old_result, new_result)) is not None:
                    found.append(_finding(state, before, old_result, new_result, groups[0].gold))
    for preparation in preparations:
        preparation.checked()
    warn_without_effect(preparations)
    choice.require_layer(layers)
    seen.require_all((), layers)
    return documents, classes, reasons, found


class _Result(NamedTuple):
    """A span in one run: its class, the labels found, its reason (`RIGHT`: none), and whether it is an error."""

    span: Span
    kind: str
    found: Mapping[str, str | None]
    reason: str
    is_error: bool


def _results(spans: ComparedSide, choice: Choice) -> Iterator[_Result]:
    """Yield the spans of a sequence and side, if the choice has the side."""
    if spans.side not in choice.sides:
        return
    rows = ErrorRows(spans.own, spans.other, spans.side, None)
    for each in spans.counted():
        if each.is_right:
            yield _Result(each.span, "exact", each.span.by_layer, RIGHT, each.is_error)
        else:
            judged = rows.judged(each.span, rows.others(each.span, spans.sequence), each.match)
            yield _Result(each.span, judged.kind, judged.match.labels, judged.reason, each.is_error)


def _of_five(result: _Result) -> str:
    """Return the class of a gold span, of the five by which levels count."""
    return "missed" if result.kind == "partial" else result.kind


def _state(side: str, before: _Result | None, after: _Result | None) -> str | None:
    """Return the state of a span, given its results in both runs; None if it is no error of either.

    A gold span that counts in one run alone, as another alternative does in the other, is compared with nothing.
    """
    was, is_ = (each is not None and each.is_error for each in (before, after))
    if not (was and is_):
        return FIXED if was else NEW if is_ else None
    assert before is not None
    assert after is not None
    return STILL if side == "predicted" or before[1:4] == after[1:4] else CHANGED


def _finding(
    state: str, spans: ComparedSide, before: _Result | None, after: _Result | None, gold: Document
) -> DiffFinding:
    span = (after or before).span  # type: ignore[union-attr]  # one of them is there
    (reason, kind), (new_reason, new_kind) = (
        (None, None) if each is None else (each.reason, each.kind) for each in (before, after)
    )
    return DiffFinding(
        state,
        spans.side,
        gold.id,
        spans.sequence,
        span.start,
        span.end,
        dict(span.by_layer),
        reason,
        new_reason,
        kind,
        new_kind,
        gold.text_of(span),
    )


def _joined(
    old: Iterable[_Result], new: Iterable[_Result]
) -> list[tuple[_Result | None, _Result] | tuple[_Result, None]]:
    """Return the results of equal spans together, by position; None stands for a span that one run lacks."""
    waiting: dict[tuple[object, ...], deque[_Result]] = {}
    for result in old:
        waiting.setdefault(place_and_labels(result.span), deque()).append(result)
    found: list[tuple[_Result | None, _Result] | tuple[_Result, None]] = []
    for result in new:
        equal = waiting.get(place_and_labels(result.span))
        found.append((equal.popleft() if equal else None, result))
    found += [(result, None) for left in waiting.values() for result in left]
    return sorted(found, key=_position)


def _position(pair: tuple[_Result | None, _Result] | tuple[_Result, None]) -> tuple[int, int]:
    result = pair[0] or pair[1]
    assert result is not None
    return result.span.start, result.span.end
