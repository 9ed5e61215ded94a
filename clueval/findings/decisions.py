"""Decisions about places: the file that pages export, and which of its lines hold.

A *place* is what a card of a page shows: a document, a layer (or ``*``) and a range that holds all spans concerned.
These are its key. Its *fingerprint* says which spans are there:

>>> fingerprint([("anna", ((5, 13),), "PER"), ("bob", ((0, 13),), "PER")])
'5cb2e86028d9'

A decision is about the place with its key. It holds if the fingerprint is the same; it is *stale*, and not applied, if
the spans have changed; it is *lost* if there is no such place; it is *not listed* if filters leave out the place.

Files have the columns `COLUMNS`, separated by tabs, or are JSON lists of objects with these names, or workbooks of
``clueval masking``. Of the lines of one reviewer about a place the latest counts. Lines of several reviewers with
different choices are a *conflict*, unless a later line is marked in the column ``confirmed``. The order of files and
lines does not matter.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import file_digest, sha256
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple

from clueval.arguments import require_kind
from clueval.core.ranges import Ranges
from clueval.core.span import Frozen
from clueval.files.errors import FileError, FormatError, UsageError
from clueval.limits import MAX_LINE
from clueval.reports.language import phrase
from clueval.second.reading.paths import as_path
from clueval.textfiles import beginning_of, is_folder, lines, raw_blocks

COLUMNS = (
    *("document", "layer", "start", "end_inclusive", "fingerprint"),
    *("choice", "comment", "reviewer", "time"),
)

OLDER = ("document", "start", "end_inclusive", "label")
"""The columns of the older file of `clueval.curate`, which names spans to keep."""

ANY_LAYER = "*"

CONFIRMED = "confirmed"
"""The column that marks the lines that end a conflict."""

NONE, BOTH, UNCLEAR = "none", "both", "unclear"

HARMLESS, ANNOTATION = "harmless", "annotation"

NOT_NAMES = (NONE, BOTH, UNCLEAR, ANNOTATION)
"""Choices, which are therefore no names of annotators."""

ERROR_CHOICES = ("predicted", "gold", BOTH, NONE, UNCLEAR)

LEAK_CHOICES = ("leak", HARMLESS, ANNOTATION, UNCLEAR)
"""What may be chosen for a leak: ``annotation`` says that gold is wrong."""

CONFLICTS = ("first", "last", "drop")
"""What may be done about conflicts, which are otherwise an error."""

MOST_LISTED = 10

ENDINGS = (".tsv", ".json", ".xlsx")
"""The endings of the files of decisions in a folder."""

DecisionFiles = str | PathLike[str] | Iterable[str | PathLike[str]]

PlaceKey = tuple[str, str, int, int]
"""Document, layer, start and end (exclusive)."""

State = Literal["decided", "undecided", "stale", "conflict", "not listed"]


def fingerprint(spans: Iterable[tuple[str, Ranges, str]]) -> str:
    """Return the fingerprint of the spans of a place, each with its side, its ranges and its label."""
    written = sorted({f"{side}\t{_ranges(ranges)}\t{label}" for side, ranges, label in spans})
    return sha256("\n".join(written).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _ranges(ranges: Ranges) -> str:
    if len(ranges) == 1:
        return f"{ranges[0][0]}\t{ranges[0][1]}"
    return ",".join(f"{start}-{end}" for start, end in ranges)


@dataclass(frozen=True, slots=True)
class Decision:
    """One line of a file; `end` is exclusive, and `more` has the columns that are not in `COLUMNS`."""

    document: str
    layer: str
    start: int
    end: int
    fingerprint: str
    choice: str
    comment: str = ""
    reviewer: str = ""
    time: str = ""
    more: Mapping[str, str] = Frozen()
    file: str | None = field(default=None, compare=False)
    line: int | None = field(default=None, compare=False)


class KeptSpanLine(NamedTuple):
    """One line of the older file of `clueval.curate`: a span to keep; `end` is exclusive."""

    file: str
    line: int
    document: str
    sequence: str | None
    start: int
    end: int
    label: str


class PlaceDecision(NamedTuple):
    """What is decided about a place. A choice holds only in the state ``decided``; a stale one is the old one."""

    choice: str = ""
    state: State = "undecided"
    comment: str = ""
    reviewer: str = ""

    @property
    def shown(self) -> str:
        """The choice as tables have it, with its state if it does not hold."""
        return (
            self.choice
            if self.state in ("decided", "undecided")
            else f"{self.state}: {self.choice}".strip(": ")
        )

    def in_words(self) -> str:
        """Return choice, reviewer and comments in one line that says what it is; empty if there are none."""
        said = self.said()
        return phrase("decision: {said}", said=said) if said else ""

    def said(self) -> str:
        """Return choice, reviewer and comments in one line; empty if there are none."""
        if not self.shown and not self.comment:
            return ""
        choice = phrase(self.choice or "no choice")
        state = "" if self.state in ("decided", "undecided") else phrase(self.state)
        said = (": ".join(filter(None, (state, choice))), self.reviewer, self.comment.replace("\n", "; "))
        return ", ".join(filter(None, said))

    @property
    def holds(self) -> str:
        """The choice that holds; empty if there is none."""
        return self.choice if self.state == "decided" else ""


class PlaceDecisions:
    """The lines of all files, and which of them the places of a corpus have used.

    `digests` are the SHA-256 of the files. `older` are the lines of older files, and `used_older` those of them that
    `clueval.curate` has used.
    """

    def __init__(
        self,
        found: Iterable[Decision],
        older: Iterable[KeptSpanLine] = (),
        conflicts: str | None = None,
        digests: Iterable[str] = (),
    ) -> None:
        if conflicts not in (None, *CONFLICTS):
            raise UsageError(f"conflicts cannot be {conflicts!r}", advice=f"one of {', '.join(CONFLICTS)}")
        self.older = list(older)
        self.used_older: Mapping[KeptSpanLine, object] = {}
        self._conflicts, self._digests = conflicts, sorted({*digests})
        self._places: dict[PlaceKey, list[Decision]] = {}
        for each in dict.fromkeys(found):
            self._places.setdefault((each.document, each.layer, each.start, each.end), []).append(each)
        self._states: dict[PlaceKey, State] = {}
        self._differing: dict[PlaceKey, list[Decision]] = {}

    def __bool__(self) -> bool:
        return bool(self._places or self.older)

    def require_choices(self, known: Collection[str]) -> None:
        """Raise `FormatError` for a choice that is not known."""
        for each in self._lines():
            if each.choice and each.choice not in known:
                raise FormatError(
                    f"the choice {each.choice!r} is unknown",
                    file=each.file,
                    line=each.line,
                    advice=f"one of {', '.join(known)}, or empty",
                )

    def _lines(self) -> Iterator[Decision]:
        for of_place in self._places.values():
            yield from of_place

    def at(self, document: str, layer: str, start: int, end: int, spans: str) -> PlaceDecision:
        """Return what is decided about a place with this key and the fingerprint `spans`."""
        keys = {(document, layer, start, end), (document, ANY_LAYER, start, end)} & self._places.keys()
        if not keys:
            return PlaceDecision()
        found = sorted((each for key in keys for each in self._places[key]), key=_time)
        current = [each for each in found if each.choice and each.fingerprint == spans]
        latest = settled(current or [each for each in found if each.choice])
        state: State = "decided" if current else "stale" if latest else "undecided"
        if current and len({each.choice for each in latest}) > 1:
            state = "conflict" if self._conflicts in (None, "drop") else "decided"
            self._differing.update(dict.fromkeys(keys, latest))
            latest = latest[:1] if self._conflicts == "first" else latest[-1:]
        choice = "" if state == "conflict" or not latest else latest[-1].choice
        for key in keys:
            if self._states.get(key) != "decided":  # the same place, as another page shows it
                self._states[key] = state
        return PlaceDecision(choice, state, _comments(found), _names(latest if choice else found))

    def leave_out(self, document: str, layer: str, start: int, end: int, spans: str) -> None:
        """Note that there is such a place, which may not be listed."""
        for key in {(document, layer, start, end), (document, ANY_LAYER, start, end)} & self._places.keys():
            is_same = any(each.fingerprint == spans for each in self._places[key])
            if key not in self._states or (is_same and self._states[key] == "stale"):
                self._states[key] = "not listed"

    def leave_out_lost(self) -> None:
        """Note that the places which were not found may be in documents that were not counted."""
        self._states.update(dict.fromkeys(self.lost, "not listed"))

    def number(self, state: State) -> int:
        """Return how many places with lines were found in this state."""
        return list(self._states.values()).count(state)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield all lines as files have them."""
        for each in self._lines():
            values = (each.document, each.layer, each.start, each.end - 1, each.fingerprint)
            said = (each.choice, each.comment, each.reviewer, each.time)
            yield dict(zip(COLUMNS, (*values, *said), strict=True)) | dict(each.more)

    @property
    def lost(self) -> list[PlaceKey]:
        """The places with lines that were not found."""
        return [key for key in self._places if key not in self._states]

    @property
    def reviewers(self) -> list[str]:
        """The names in lines about places that were found."""
        used = (each for key in self._states for each in self._places[key])
        return sorted({each.reviewer for each in used if each.reviewer})

    @property
    def in_signature(self) -> str:
        """The fingerprint of the file, or of all files in any order, and what counts where reviewers differ."""
        digests = self._digests or [sha256(repr(list(self.rows())).encode()).hexdigest()]
        whole = digests[0] if len(digests) == 1 else sha256("\n".join(digests).encode()).hexdigest()
        return ",".join(filter(None, (whole[:12], self._conflicts)))

    def checked(self) -> None:
        """Raise `UsageError` for conflicts, if nothing was chosen to be done about them."""
        if self._conflicts is not None or not self._differing:
            return
        n = len(self._differing)
        some = [_conflict(key, lines) for key, lines in self._differing.items()][:MOST_LISTED]
        more = f" and {n - len(some):,} more" if n > len(some) else ""
        raise UsageError(
            f"reviewers have chosen differently at {n:,} place{'s' * (n != 1)}: {'; '.join(some)}{more}",
            advice="confirm one choice for each on the page; conflicts='last' takes the later ones",
        )

    def words(self) -> str:
        """Return in words how many decisions were used, and how many were not."""
        used, not_listed = self.number("decided") + len(self.used_older), self.number("not listed")
        return (
            f"decisions: {used:,} used, {self.number('stale'):,} stale, {len(self.lost):,} lost, "
            f"{len(self._differing):,} in conflict" + (f", {not_listed:,} not listed" if not_listed else "")
        )


def _time(each: Decision) -> tuple[str, str, str, str]:
    return each.time, each.reviewer, each.choice, each.comment


def settled(found: Iterable[Decision]) -> list[Decision]:
    """Return the lines that count, given those of one place by time: one choice, or those in conflict.

    >>> settled([_said("anna", "1", "gold"), _said("bob", "2", "none"), _said("anna", "3", "none")])[-1].choice
    'none'
    >>> [line.choice for line in settled([_said("anna", "1", "gold"), _said("bob", "2", "none")])]
    ['gold', 'none']
    """
    latest: dict[str, list[Decision]] = {}
    confirmed: list[Decision] = []
    for each in found:
        before = latest.get(each.reviewer, [])
        same_time = bool(before) and before[-1].time == each.time
        latest[each.reviewer] = [*before, each] if same_time else [each]
        if each.more.get(CONFIRMED):
            same_time = bool(confirmed) and confirmed[-1].time == each.time
            confirmed = [*confirmed, each] if same_time else [each]
    return confirmed or sorted((each for of_one in latest.values() for each in of_one), key=_time)


def _said(reviewer: str, time: str, choice: str) -> Decision:
    return Decision("d", ANY_LAYER, 0, 1, "", choice, "", reviewer, time)


def _comments(found: Iterable[Decision]) -> str:
    """Return the different comments, each in a line of its own and with its reviewer if there are several."""
    comments = dict.fromkeys((each.reviewer, each.comment) for each in found if each.comment)
    if len(comments) == 1:
        return next(iter(comments))[1]
    return "\n".join(f"{name}: {text}" if name else text for name, text in comments)


def _names(found: Iterable[Decision]) -> str:
    return ", ".join(dict.fromkeys(each.reviewer for each in found if each.reviewer))


def _conflict(key: PlaceKey, found: Iterable[Decision]) -> str:
    document, _, start, end = key
    said = ", ".join(f"{each.choice} ({each.reviewer})" if each.reviewer else each.choice for each in found)
    return f"{document} {start}-{end - 1}: {said}"


def require_no_choices(names: Iterable[str]) -> None:
    """Raise `UsageError` for an annotator with the name of a choice."""
    for name in names:
        if name in NOT_NAMES:
            raise UsageError(
                f"an annotator is called {name!r}, which decisions use for a choice",
                advice="give another name, as in ann=PATH",
            )


# --- files


def read_decisions(paths: DecisionFiles, conflicts: str | None = None) -> PlaceDecisions:
    """Return the decisions of a file, a folder or several of them.

    Raises `FileError` for a file that cannot be read and a folder without files of decisions, `FormatError` for a line
    that cannot be read.
    """
    require_kind(paths, "str | PathLike | Iterable", "decisions")
    require_kind(conflicts, "str | None", "conflicts")
    given = [paths] if isinstance(paths, str | PathLike) else list(paths)
    found, older, digests = list[Decision](), list[KeptSpanLine](), list[str]()
    for path in dict.fromkeys(file for each in given for file in _files(as_path(each))):
        rows = _rows_of_sheets(path) if path.suffix.lower() == ENDINGS[-1] else _rows(path)
        for file, number, row in rows:
            cells = _CellReader(file, number, row)
            if "choice" in row:
                found.append(cells.decision())
            else:
                older.append(cells.kept_span())
        with path.open("rb") as content:
            digests.append(file_digest(content, "sha256").hexdigest())
    return PlaceDecisions(found, older, conflicts, digests)


def decisions_about(
    what: str,
    choices: Collection[str],
    decisions: DecisionFiles | PlaceDecisions,
    conflicts: str | None = None,
) -> PlaceDecisions:
    """Return decisions of these choices about errors, or about leaks.

    Raises `CluevalError` for files that cannot be read, or that are about something else.
    """
    found = decisions if isinstance(decisions, PlaceDecisions) else read_decisions(decisions, conflicts)
    if found.older:
        raise FormatError(
            f"the table names spans to keep, not decisions about {what}",
            file=found.older[0].file,
            line=found.older[0].line,
            advice="clueval.curate reads it",
        )
    found.require_choices(choices)
    return found


def _files(path: Path) -> Iterator[Path]:
    if not is_folder(path):
        yield path
        return
    names = sorted(each for each in path.iterdir() if each.suffix in ENDINGS and each.name[0] not in ".~")
    if not names:
        raise FileError(
            "the folder has no files of decisions",
            file=str(path),
            advice=f"their names end in {', '.join(ENDINGS)}",
        )
    yield from names


_Row = tuple[str, int, Mapping[str, object]]
"""A file, the number of a line, and its cells by the names of their columns."""


def _rows_of_sheets(path: Path) -> Iterator[_Row]:
    """Yield the rows of a workbook with a choice or a comment, from all sheets that have the columns of decisions.

    A row without document and start is about no place and passed over. The workbook of ``clueval masking`` has the
    layer in the column ``annotator``, and ends that are exclusive.
    """
    from clueval.reading.sheets import rows_of  # most files are no workbooks

    header: dict[str, int] = {}
    latest, is_found = "", False
    for sheet, number, cells in rows_of(path):
        if sheet != latest:
            latest, header = sheet, {}
        if not header:
            header = {name: column for column, name in cells.items()}
            is_found |= header.keys() >= _OF_SHEETS
            continue
        if not header.keys() >= _OF_SHEETS:
            continue
        row: dict[str, object] = {name: cells.get(header.get(name, -1), "") for name in (*COLUMNS, CONFIRMED)}
        row["layer"] = row["layer"] or cells.get(header.get("annotator", -1), "")
        end = cells.get(header.get("end_exclusive", -1), "")
        if end:
            row["end_inclusive"] = str(int(end) - 1) if re.fullmatch("[0-9]{1,18}", end) else end
        row["choice"] = str(row["choice"]).strip()
        is_about_a_place = row["document"] or row["start"]
        if is_about_a_place and (row["choice"] or row["comment"]):
            yield f"{path}, sheet {sheet}", number, row
    if not is_found:
        raise FormatError(
            f"no sheet has the columns {', '.join(sorted(_OF_SHEETS))}",
            file=str(path),
            advice="clueval masking --xlsx writes a workbook for decisions",
        )


_OF_SHEETS = {"document", "start", "fingerprint", "choice"}


def _rows(path: Path) -> Iterator[_Row]:
    """Yield the lines of a table, or the objects of a JSON list, by the names of their columns."""
    if beginning_of(path, 1).lstrip()[:1] in ("[", "{"):
        from clueval.formats.opened import JsonValues  # most commands need no JSON

        for number, value in JsonValues(str(path), MAX_LINE).of(raw_blocks(path)):
            if not isinstance(value, dict):
                raise FormatError("a decision must be an object", file=str(path), line=number)
            _require_columns(value, path, number)
            yield str(path), number, value
        return
    header: list[str] | None = None
    for number, line in lines(path):
        if not line.strip():
            continue
        row = line.split("\t")
        if header is None:
            header = [name.strip() for name in row]
            _require_columns(header, path, number)
            continue
        if len(row) > len(header) and any(row[len(header) :]):
            raise FormatError(
                f"the line has {len(row)} cells, and the header {len(header)}", file=str(path), line=number
            )
        yield str(path), number, {name: plain(text) for name, text in zip(header, row, strict=False)}


def _require_columns(names: Collection[str], path: Path, line: int) -> None:
    needed = OLDER if "label" in names and "choice" not in names else COLUMNS[:6]
    for name in needed:
        if name not in names and name != "layer":
            raise FormatError(
                f"the table has no column {name!r}",
                file=str(path),
                line=line,
                advice=f"a file of decisions has the columns {', '.join(COLUMNS)}",
            )


def plain(text: str) -> str:
    """Return a cell without the apostrophe that keeps a spreadsheet from running it.

    >>> plain("'=1"), plain("''=1"), plain("'s")
    ('=1', "'=1", "'s")
    """
    return re.sub(r"^'(?='*[-=+@])", "", text)


class _CellReader:
    """Reads the cells of one line."""

    def __init__(self, file: str, line: int, row: Mapping[str, object]) -> None:
        self._file, self._line, self._row = file, line, row

    def decision(self) -> Decision:
        start, end = self._range()
        more = Frozen(
            {name: self._text(name) for name in self._row if name not in COLUMNS and self._text(name)}
        )
        return Decision(
            self._text("document"),
            self._text("layer") or ANY_LAYER,
            start,
            end,
            self._text("fingerprint"),
            self._text("choice"),
            self._text("comment"),
            self._text("reviewer"),
            self._text("time"),
            more=more,
            file=self._file,
            line=self._line,
        )

    def kept_span(self) -> KeptSpanLine:
        start, end = self._range()
        sequence = self._text("sequence") or None
        return KeptSpanLine(
            self._file, self._line, self._text("document"), sequence, start, end, self._text("label")
        )

    def _text(self, name: str) -> str:
        value = self._row.get(name)
        if isinstance(value, bool) or not isinstance(value, str | int | None):
            raise self._wrong(f"{name} must be text")
        return "" if value is None else str(value)

    def _range(self) -> tuple[int, int]:
        for name in ("document", "start", "end_inclusive"):
            if name not in self._row:
                raise self._wrong(f"the line has no {name}")
        start, last = self._position("start"), self._position("end_inclusive", "-1")
        if last + 1 < start:
            raise self._wrong(f"the span ends at {last}, before it starts at {start}")
        return start, last + 1

    def _position(self, name: str, also: str | None = None) -> int:
        text = self._text(name).strip()
        if text != also and not re.fullmatch("[0-9]{1,18}", text):
            raise self._wrong(f"{name} is {text[:40]!r}, not a position")
        return int(text)

    def _wrong(self, problem: str) -> FormatError:
        return FormatError(problem, file=self._file, line=self._line)
