"""`diff`: which errors of an old run a new run has fixed, which are new, and which have changed.

An error is the same in both runs if document, sequence, side, start, end and labels are the same (and the number
among equal ones). An error of the gold side that is in both runs has *changed* if its reason, its class, or the label
that was found, is another one. Errors are those of `clueval.errors` for the same choice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from clueval.arguments import checked_call, refuse_unknown, require_instance, require_kind
from clueval.clusters.places import Clusters
from clueval.clusters.rows import IrregularRows, in_batches
from clueval.core.span import MERGED, Span
from clueval.files.errors import CluevalError, UsageError
from clueval.findings.choice import SIDES, Choice, ComparedSide, choice_with, compared, in_words
from clueval.findings.clusters import LineCheck
from clueval.findings.stream import known_options, within_sentences
from clueval.findings.summary import PARTS, RIGHT
from clueval.findings.systems import CHANGED, CHANGES, FIXED, NEW, STILL, System, change, place_and_labels
from clueval.findings.table import ErrorRows, joined
from clueval.formats.columns.passages import Passage
from clueval.options import with_fields
from clueval.reading.same_text import require_same_frame
from clueval.reading.source import Source
from clueval.reading.trios import Trio, are_files, sources_of, trios
from clueval.reports.language import phrase, speaking
from clueval.reports.report import Data, Report
from clueval.reports.table import Table
from clueval.second.formats.options import Reading
from clueval.second.reading.options import InputSide, LayerColumns, Readings, layer_names, require_layers
from clueval.second.transforms.options import Preparing
from clueval.spans.document import Document
from clueval.spans.filters import SeenNames
from clueval.spans.match_classes import KINDS, UNMATCHED
from clueval.transforms.applied import Preparation, warn_without_effect
from clueval.transforms.group import Group, Transform
from clueval.transforms.of_options import transforms_of

_READING, _PREPARING = Reading(), Preparing()


STATES = {"gold": (NEW, FIXED, CHANGED, STILL), "predicted": (NEW, FIXED, STILL)}
_COLUMNS = (
    *("state", "document", "side", "layer", "start", "end_inclusive", "label"),
    *("old", "new", "text"),
)
_OF_GOLD = [part for part in PARTS if part != UNMATCHED["predicted"]]
_LISTED = (NEW, CHANGED, FIXED)
MOST_LISTED = 50
"""How many errors of each state tables show; JSON and TSV have all."""


@dataclass(frozen=True, slots=True)
class DiffFinding:
    """An error of one run or of both. The end is exclusive; `before` and `after` are its reasons in the runs.

    A span that is no error of a run may be ``right`` there; None: it is not in the run.
    """

    state: str
    side: str
    document: str
    sequence: str
    start: int
    end: int
    labels: Mapping[str, str | None]
    before: str | None
    after: str | None
    class_before: str | None
    class_after: str | None
    text: str

    def to_dict(self) -> dict[str, Any]:
        """Return the error as the JSON has it, without its text."""
        return {
            "state": self.state,
            "side": self.side,
            "document": self.document,
            "sequence": self.sequence,
            "start": self.start,
            "end": self.end,
            "labels": dict(self.labels),
        }


@dataclass(frozen=True, slots=True)
class Diff(Report):
    """The result of `diff`: the errors of two runs on the same gold.

    Attributes:
        documents: how many documents were compared.
        gold_classes: how many gold spans have these classes in the old and in the new run.
        gold_reasons: how many gold spans have these reasons in the old and in the new run, or are right.
        findings: all errors, in the order of the documents.
        listed: which errors are compared, in words.
    """

    _title: ClassVar[str] = "Errors"

    documents: int
    gold_classes: Counter[tuple[str, str]]
    gold_reasons: Counter[tuple[str, str]]
    findings: Sequence[DiffFinding]
    listed: str
    _sides: Mapping[str, InputSide] = field(repr=False, compare=False)
    _how: tuple[Any, ...] = field(repr=False, compare=False)

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """The number of errors by side and state."""
        found = Counter((finding.side, finding.state) for finding in self.findings)
        return {side: {state: found[side, state] for state in states} for side, states in STATES.items()}

    @property
    def new(self) -> int:
        """The number of new errors, of both sides."""
        return sum(of_side[NEW] for of_side in self.counts.values())

    def to_dict(self) -> dict[str, Any]:
        """Return the diff as plain data, without text of the corpus."""
        return {
            "counts": self.counts,
            "listed": self.listed,
            "reasons": {old: {new: self.gold_reasons[old, new] for new in _OF_GOLD} for old in _OF_GOLD},
            "classes": {old: {new: self.gold_classes[old, new] for new in KINDS} for old in KINDS},
            "findings": [finding.to_dict() for finding in self.findings],
        }

    def tables(self) -> Iterator[Table]:
        """Yield the counts, the reasons of gold spans, then the errors that differ, new ones first."""
        counts = self.counts
        yield Table(
            f"Errors of the new run: {self.listed}",
            ["side", *STATES["gold"]],
            [
                [side, *(of_side.get(state, "-") for state in STATES["gold"])]
                for side, of_side in counts.items()
            ],
        )
        yield Table(
            "Gold spans by reason: rows in the old run, columns in the new run",
            ["old", *_OF_GOLD],
            [[old, *(self.gold_reasons[old, new] for new in _OF_GOLD)] for old in _OF_GOLD],
        )
        for state in _LISTED:
            found = [finding for finding in self.findings if finding.state == state]
            if found:
                more = f", the first {MOST_LISTED} of {len(found):,}" if len(found) > MOST_LISTED else ""
                yield Table(
                    f"{state.capitalize()} errors{more}",
                    list(_COLUMNS[1:]),
                    [_shown(finding) for finding in found[:MOST_LISTED]],
                )

    def scores(self) -> dict[str, float]:
        """Return the numbers of errors by side and state, as ``gold.new``."""
        return {
            f"{side}.{state}": float(number)
            for side, of_side in self.counts.items()
            for state, number in of_side.items()
        }

    @checked_call
    def write_page(
        self, path: str | Path, *, title: str | None = None, lang: str = "", text_lang: str = ""
    ) -> None:
        """Write the web page of ``clueval diff --html``: the errors in their contexts; reads the sources once more.

        `lang` and `text_lang` are those of `Result.write_page`. Raises `UsageError` for an iterator or open file,
        which cannot be read again, `FileError`, and `MissingExtra` without the extra ``report``.
        """
        from clueval.studies.error_pages import ErrorPages, name_of_run, require_again

        require_again("the page", **self._sides)
        systems = [System(run, name_of_run(self._sides[run], run)) for run in ("old", "new")]
        store = title or self._title
        with speaking(lang, text_lang):
            ErrorPages.of(*self._how).write_two(
                Path(path), self._sides, systems, CHANGES, title=title or phrase(self._title), store=store
            )

    def _content(self) -> Mapping[str, Any]:
        return {}  # a diff has no signature

    def _data(self) -> Data:
        columns = (*_COLUMNS, "old_class", "new_class")
        return Data(columns, (dict(zip(columns, _row(each), strict=True)) for each in self.findings))


def _row(finding: DiffFinding) -> list[Any]:
    return [
        finding.state,
        finding.document,
        finding.side,
        finding.sequence,
        finding.start,
        finding.end - 1,
        joined(finding.labels),
        finding.before or "-",
        finding.after or "-",
        finding.text,
        finding.class_before or "-",
        finding.class_after or "-",
    ]


def _shown(finding: DiffFinding) -> list[str]:
    """Return the cells of a table, which says the state in its title."""
    return list(map(str, _row(finding)[1 : len(_COLUMNS)]))


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
    **options: Any,
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
    preparing = with_fields(preparing, options).without(["any_of"], "diff")
    choice = choice_with(choice, options)
    require_layers(layers)
    require_kind(options.get("progress"), "Progress | None", "progress")
    if choice.kinds or choice.reasons:
        raise UsageError(
            "diff compares errors of all classes and reasons", advice="leave out kinds and reasons"
        )
    sides = {"gold": gold, "old": old, "new": new}
    transforms = transforms_of(preparing)
    found, found_trios = _Found([], Counter(), Counter(), []), trios(sides, layers, reading, options)
    in_files = not transforms and are_files(sides, options)
    if not (in_files and _see_files(found, sources_of(sides, layers, reading, options), choice)):
        found = _Found([], Counter(), Counter(), [])
        _see_documents(found, found_trios, choice, transforms)
    documents, classes, reasons, errors = found
    how = choice, layers, reading, preparing, options
    return Diff(len(documents), classes, reasons, errors, in_words(choice), sides, how)


class _Result(NamedTuple):
    """A span in one run: its class, the labels found, its reason (`RIGHT`: none), and whether it is an error."""

    span: Span
    kind: str
    found: Mapping[str, str | None]
    reason: str
    is_error: bool


class _Compared(NamedTuple):
    """A span in both runs, and its state, None if it is no error of either. None stands for a run that lacks it."""

    side: str
    sequence: str
    before: _Result | None
    after: _Result | None
    state: str | None

    @property
    def span(self) -> Span:
        return (self.after or self.before).span  # type: ignore[union-attr]  # one of them is there

    def finding(self, gold: Document, by: int = 0) -> DiffFinding:
        """Return the error; its positions are moved by `by`."""
        start, end = self.span.start + by, self.span.end + by
        (reason, kind), (new_reason, new_kind) = (
            (None, None) if each is None else (each.reason, each.kind) for each in (self.before, self.after)
        )
        return DiffFinding(
            self.state or "",
            self.side,
            gold.id,
            self.sequence,
            start,
            end,
            dict(self.span.by_layer),
            reason,
            new_reason,
            kind,
            new_kind,
            gold.text_between(start, end),
        )


class _Found(NamedTuple):
    """What was found: the ids of the documents, the classes and the reasons of gold spans, and the errors."""

    documents: list[str]
    classes: Counter[tuple[str, str]]
    reasons: Counter[tuple[str, str]]
    errors: list[DiffFinding]

    def see(self, each: _Compared, times: int = 1) -> None:
        """Count the class and the reason of a gold span that is in both runs."""
        before, after = each.before, each.after
        if each.side == "gold" and before is not None and after is not None:
            self.classes[_of_five(before), _of_five(after)] += times
            self.reasons[before.reason, after.reason] += times


def _see_documents(
    found: _Found, found_trios: Iterable[Trio], choice: Choice, transforms: Sequence[Transform]
) -> None:
    preparations = [Preparation(transforms) for _ in range(2)]
    layers: dict[str, None] = {}
    seen = SeenNames(choice.where)
    for gold, old, new in found_trios:
        groups = [
            preparation(Group(gold, run)) for run, preparation in zip((old, new), preparations, strict=True)
        ]
        documents = [each for group in groups for each in (group.gold, group.predicted)]
        names = list(dict.fromkeys(name for document in documents for name in document.layers))
        layers |= dict.fromkeys(names)
        seen.see_documents(documents, names)
        if not choice.where.on_documents(names).lets_through(gold.id, gold.metadata):
            continue
        found.documents.append(gold.id)
        for each in _compared([(group.gold, group.predicted) for group in groups], names, choice):
            found.see(each)
            if each.state is not None:
                found.errors.append(each.finding(groups[0].gold))
    for preparation in preparations:
        preparation.checked()
    warn_without_effect(preparations)
    choice.require_layer(layers)
    seen.require_all((), layers)


def _see_files(found: _Found, files: Iterable[Sequence[Source]], choice: Choice) -> bool:
    """Compare column files by their clusters; return False if documents must be compared, also to find an error."""
    layers: dict[str, None] = {}
    seen = SeenNames(choice.where)
    try:
        for sources in files:
            gold, *runs = sources
            if not all(within_sentences(gold, run, choice) for run in runs):
                return False
            layers |= dict.fromkeys(layer_names(gold.options.layers))
            _see_clusters(found, sources, choice, seen)
        choice.require_layer(layers)
        seen.require_all((), layers)
    except CluevalError:
        return False
    return bool(layers)


def _see_clusters(found: _Found, sources: Sequence[Source], choice: Choice, seen: SeenNames) -> None:
    names = layer_names(sources[0].options.layers)
    on_documents, on_layers = choice.where.on_documents(names), choice.where.on_layers(names)
    of_spans = replace(choice, where=on_layers)

    def examine(documents: Sequence[Document]) -> Iterator[tuple[int, _Compared]]:
        seen.see_labels(documents, on_layers)
        gold, *runs = documents
        for each in _compared([(gold, run) for run in runs], names, of_spans):
            yield each.span.start, each

    clusters, check = Clusters(sources, examine), LineCheck(sources)
    of_document: list[tuple[str, str, DiffFinding]] = []
    order = [(MERGED if choice.merge else name, side) for name in names for side in SIDES]

    def end_document() -> None:
        found.errors.extend(
            error for place in dict.fromkeys(order) for *of, error in of_document if tuple(of) == place
        )
        of_document.clear()

    for rows in in_batches(_parallel(sources), sources[0].options.sizes, one_by_one=bool(on_documents)):
        check.see(rows)
        differing, equal = list(clusters.found(rows)), list(clusters.counted(rows))
        for part, of_part in differing:
            gold = part.passages[0]
            seen.see(gold.document, gold.metadata, on_documents)
            if not on_documents.lets_through(gold.document, gold.metadata):
                equal = []
                continue
            if gold.begins:
                end_document()
                found.documents.append(gold.document)
            text = part.documents(sources[:1])[0]
            for by, of_cluster in of_part:
                for each in of_cluster:
                    found.see(each)
                    if each.state is not None:
                        of_document.append((each.sequence, each.side, each.finding(text, by)))
        for of_cluster, times in equal:
            for each in of_cluster:
                found.see(each, times)
    end_document()
    check.end()


def _parallel(sources: Sequence[Source]) -> Iterator[Sequence[Passage]]:
    """Yield the passages of gold and of the runs. Raises `CluevalError` for different documents or sentences."""
    for passages in zip_longest(*(source.passages() for source in sources)):
        if None in passages:
            raise IrregularRows("one side ends early")
        gold, *runs = passages
        for run in runs:
            require_same_frame(gold, run)
        yield passages


def _compared(
    pairs: Iterable[tuple[Document, Document]], names: Sequence[str], choice: Choice
) -> Iterator[_Compared]:
    """Yield the spans of gold and each run, by sequence, side and position."""
    for before, after in zip(*(compared(*pair, names, choice) for pair in pairs), strict=True):
        for old, new in _joined(_results(before, choice), _results(after, choice)):
            yield _Compared(before.side, before.sequence, old, new, _state(before.side, old, new))


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


def _state(side: str, *results: _Result | None) -> str | None:
    """Return the state of a span, given its results in both runs; None if it is no error of either.

    A gold span that counts in one run alone, as another alternative does in the other, is compared with nothing.
    """
    before, after = (each[1:4] if each is not None and each.is_error else None for each in results)
    return None if before is after is None else change(side, before, after)


def _joined(old: Iterable[_Result], new: Iterable[_Result]) -> list[list[_Result | None]]:
    """Return the results of equal spans together, by position; None stands for a span that one run lacks."""
    found: dict[tuple[object, ...], list[_Result | None]] = {}
    for run, results in ((1, new), (0, old)):
        numbers = Counter[tuple[object, ...]]()
        for each in results:
            key = place_and_labels(each.span)
            numbers[key] += 1
            found.setdefault((key, numbers[key]), [None, None])[run] = each
    return sorted(found.values(), key=_position)


def _position(pair: Iterable[_Result | None]) -> tuple[int, int]:
    return next((each.span.start, each.span.end) for each in pair if each is not None)
