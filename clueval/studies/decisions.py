"""Decisions about places: the file that pages export, and which of its lines hold.

A decision is about the place with its key. It holds if the fingerprint is the same; it is *stale*, and not applied, if
the spans have changed; it is *lost* if there is no such place; it is *not listed* if filters leave out the place.

Files are tables with the columns `COLUMNS`, separated by tabs, commas or semicolons (CSV), JSON lists of objects with
these names, or workbooks of which a sheet has these columns. In a folder, a CSV file without a column ``choice`` is
another table, and is passed over. Of the lines of one reviewer about a place the latest counts. Lines of several
reviewers with different choices are a *conflict*, unless a later line is marked in the column ``confirmed``; so are
those of one reviewer whose times have no order. The order of files and lines does not matter.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import file_digest, sha256
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple

from clueval.core.span import NOTHING, Frozen
from clueval.files.errors import CluevalError, FileError, FormatError, UsageError, warn, with_noun
from clueval.files.opening import beginning_of, is_folder, raw_blocks, refuse_pipe
from clueval.files.options import require_kind
from clueval.files.overwriting import named_output, reading_an_output
from clueval.reports import form_of
from clueval.reports.place import ANY_LAYER, DECISION_COLUMNS, KEY_COLUMNS, Place
from clueval.reports.report import Report

COLUMNS = (*KEY_COLUMNS, *DECISION_COLUMNS)
NEEDED = frozenset(COLUMNS[:6]) - {"layer"}
"""The columns that a file must have."""

CONFIRMED = "confirmed"
"""The column that marks the lines that end a conflict."""

NONE, BOTH, UNCLEAR, ANNOTATION = "none", "both", "unclear", "annotation"

ERROR_CHOICES = ("predicted", "gold", BOTH, NONE, UNCLEAR)
CONFLICTS = ("first", "last", "drop")
"""What may be done about conflicts, which are otherwise an error."""

MOST_LISTED = 10
ENDINGS = (".tsv", ".csv", ".json", ".xlsx")
"""The endings of the files of decisions in a folder."""

PlaceKey = tuple[str, str, int, int]
"""Document, layer, start and end (half-open)."""

State = Literal["decided", "undecided", "stale", "conflict", "not listed"]
Paths = str | PathLike[str] | Iterable[str | PathLike[str]]


@dataclass(frozen=True, slots=True)
class Decision:
    """One line of a file; `more` has the columns that are not in `COLUMNS`."""

    at: PlaceKey
    fingerprint: str
    choice: str
    comment: str = ""
    reviewer: str = ""
    time: str = ""
    more: Mapping[str, str] = NOTHING
    file: str | None = field(default=None, compare=False)
    line: int | None = field(default=None, compare=False)


class PlaceDecision(NamedTuple):
    """What is decided about a place. A choice holds only in the state ``decided``; a stale one is the old one."""

    choice: str = ""
    state: State = "undecided"
    comment: str = ""
    reviewer: str = ""

    @property
    def cells(self) -> dict[str, str]:
        """The cells of a table; a choice that does not hold stands behind its state."""
        is_plain = self.state in ("decided", "undecided")
        shown = self.choice if is_plain else f"{self.state}: {self.choice}".strip(": ")
        return {"choice": shown, "comment": self.comment, "reviewer": self.reviewer}

    @property
    def holds(self) -> str:
        """The choice that holds; empty if there is none."""
        return self.choice if self.state == "decided" else ""


class PlaceDecisions:
    """The lines of all files, and which of them the places of a corpus have used.

    `conflicts` says what is done about conflicts, and `digests` are the SHA-256 of the files.
    """

    def __init__(
        self, decisions: Iterable[Decision], conflicts: str | None = None, digests: Iterable[str] = ()
    ) -> None:
        if conflicts not in (None, *CONFLICTS):
            raise UsageError(f"conflicts cannot be {conflicts!r}", advice=f"one of {', '.join(CONFLICTS)}")
        self._conflicts, self._digests = conflicts, sorted({*digests})
        self._places: dict[PlaceKey, list[Decision]] = {}
        for decision in dict.fromkeys(decisions):
            self._places.setdefault(decision.at, []).append(decision)
        self._states: dict[PlaceKey, State] = {}
        self._conflicting_lines: dict[PlaceKey, list[Decision]] = {}
        self._unordered: dict[PlaceKey, list[Decision]] = {}

    def require_choices(self, choices: Collection[str], hint: str = "") -> None:
        """Read choices in any case and with white space around, if these are not the same as they stand.

        Raises `FormatError` for a choice that is not known; `hint` is further advice.
        """
        for at, place_lines in self._places.items():
            self._places[at] = [_with_choice(decision, choices, hint) for decision in place_lines]

    def require_distinct(self, documents: Iterable[str]) -> None:
        """Raise `UsageError` if a document with decisions has the id of another one: they could be about either."""
        with_lines = {at[0] for at in self._places}
        for document, number in Counter(documents).items():
            if number > 1 and document in with_lines:
                raise UsageError(
                    f"{number:,} documents have the id {document!r}, by which decisions name a document",
                    advice="give each document its own id",
                )

    def _lines(self) -> Iterator[Decision]:
        for place_lines in self._places.values():
            yield from place_lines

    def _keys(self, at: PlaceKey) -> set[PlaceKey]:
        document, _, start, end = at
        return {at, (document, ANY_LAYER, start, end)} & self._places.keys()

    def at(self, place: Place | Decision) -> PlaceDecision:
        """Return what is decided about a place."""
        keys = self._keys(place.at)
        if not keys:
            return PlaceDecision()
        lines_about = sorted((decision for key in keys for decision in self._places[key]), key=_time)
        current = [
            decision
            for decision in lines_about
            if decision.choice and decision.fingerprint == place.fingerprint
        ]
        latest = settled(current or [decision for decision in lines_about if decision.choice])
        state: State = "decided" if current else "stale" if latest else "undecided"
        if current and len({decision.choice for decision in latest}) > 1:
            state = "conflict" if self._conflicts in (None, "drop") else "decided"
            self._conflicting_lines.update(dict.fromkeys(keys, latest))
            if self._conflicts in ("first", "last") and not _are_ordered(latest, self._conflicts):
                state = "conflict"
                self._unordered.update(dict.fromkeys(keys, latest))
            latest = latest[:1] if self._conflicts == "first" else latest[-1:]
        choice = "" if state == "conflict" or not latest else latest[-1].choice
        for key in keys:
            if self._states.get(key) != "decided":  # the same place, as another page shows it
                self._states[key] = state
        comments = dict.fromkeys(
            (decision.reviewer, decision.comment) for decision in lines_about if decision.comment
        )
        if len(comments) == 1:
            ((_, comment),) = comments
        else:
            comment = "\n".join(f"{name}: {text}" if name else text for name, text in comments)
        names = dict.fromkeys(
            decision.reviewer for decision in (latest if choice else lines_about) if decision.reviewer
        )
        return PlaceDecision(choice, state, comment, ", ".join(names))

    def leave_out(self, place: Place) -> None:
        """Note that there is such a place, which may not be listed."""
        for key in self._keys(place.at):
            is_same = any(decision.fingerprint == place.fingerprint for decision in self._places[key])
            if key not in self._states or (is_same and self._states[key] == "stale"):
                self._states[key] = "not listed"

    def leave_out_lost(self) -> None:
        """Note that the places which were not found may be in documents that were not counted."""
        self._states.update(dict.fromkeys(self.lost, "not listed"))

    def number(self, state: State) -> int:
        """Return how many places with a choice or a comment were found in this state."""
        return sum(of_place == state and self._says(key) for key, of_place in self._states.items())

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield all lines as files have them."""
        for decision in self._lines():
            document, layer, start, end = decision.at
            values = (document, layer, start, end - 1, decision.fingerprint)
            cells = (decision.choice, decision.comment, decision.reviewer, decision.time)
            yield dict(zip(COLUMNS, (*values, *cells), strict=True)) | dict(decision.more)

    @property
    def lost(self) -> list[PlaceKey]:
        """The places with a choice or a comment that were not found."""
        return [key for key in self._places if key not in self._states and self._says(key)]

    def _says(self, key: PlaceKey) -> bool:
        """Return whether a line of this place has a choice or a comment; tables have a line for each place."""
        return any(decision.choice or decision.comment for decision in self._places[key])

    @property
    def reviewers(self) -> list[str]:
        """The names in lines about places that were found."""
        used = (decision for key in self._states for decision in self._places[key])
        return sorted({decision.reviewer for decision in used if decision.reviewer})

    @property
    def in_signature(self) -> str:
        """The fingerprint of the file, or of all files in any order, and what counts where reviewers differ."""
        digests = self._digests or [sha256(repr(list(self.rows())).encode()).hexdigest()]
        whole = digests[0] if len(digests) == 1 else sha256("\n".join(digests).encode()).hexdigest()
        return ",".join(filter(None, (whole[:12], self._conflicts)))

    @property
    def are_used(self) -> bool:
        """Whether no decision is stale or lost."""
        return not (self.number("stale") or self.lost)

    def warn_of_unused(self) -> None:
        """Warn with the numbers of decisions, and with the places of those that are lost, if any is stale or lost."""
        if self.are_used:
            return
        lost = [f"{document} {start}-{end - 1}" for document, _, start, end in self.lost]
        more = f" and {len(lost) - MOST_LISTED:,} more" if len(lost) > MOST_LISTED else ""
        warn(self.words() + (f"; lost: {', '.join(lost[:MOST_LISTED])}{more}" if lost else ""))

    def checked(self) -> None:
        """Raise `UsageError` for conflicts, if nothing was chosen to be done about them, or times do not order them."""
        unsettled = self._conflicting_lines if self._conflicts is None else self._unordered
        if not unsettled:
            return
        n, examples = len(unsettled), []
        for (document, _, start, end), lines_about in list(unsettled.items())[:MOST_LISTED]:
            choices = (
                f"{decision.choice} ({decision.reviewer})" if decision.reviewer else decision.choice
                for decision in lines_about
            )
            examples.append(f"{document} {start}-{end - 1}: {', '.join(choices)}")
        more = f" and {n - len(examples):,} more" if n > len(examples) else ""
        times, advice = "", "confirm one choice for each on the page; conflicts='last' takes the later ones"
        if self._conflicts is not None:
            times = f", and no time says which choice is the {self._conflicts}"
            advice = (
                "add the times, or confirm one choice for each on the page; conflicts='drop' takes none; pages write "
                "times as 2026-11-27T09:30:00Z"
            )
        raise UsageError(
            f"reviewers have chosen differently at {with_noun(n, 'places')}{times}: {'; '.join(examples)}{more}",
            advice=advice,
        )

    def words(self) -> str:
        """Return in words how many decisions were used, and how many were not."""
        not_listed = self.number("not listed")
        return (
            f"decisions: {self.number('decided'):,} used, {self.number('stale'):,} stale, {len(self.lost):,} lost, "
            f"{len(self._conflicting_lines):,} in conflict"
            + (f", {not_listed:,} not listed" if not_listed else "")
        )


def _time(decision: Decision) -> tuple[str, str, str, str]:
    return _instant(decision.time), decision.reviewer, decision.choice, decision.comment


def _with_choice(decision: Decision, choices: Collection[str], hint: str) -> Decision:
    """Return a line with its choice as it is called in `choices`. Raises `FormatError` if it is in none or several."""
    choice = decision.choice.strip()
    if not choice or decision.choice in choices:
        return decision if choice else replace(decision, choice="")
    same = [name for name in choices if name == choice] or [
        name for name in choices if name.strip().casefold() == choice.casefold()
    ]
    if len(same) != 1:
        problem = f"could be {' or '.join(same)}" if same else "is unknown"
        raise FormatError(
            f"the choice {decision.choice!r} {problem}",
            file=decision.file,
            line=decision.line,
            advice=f"one of {', '.join(choices)}, or empty{hint}",
        )
    return replace(decision, choice=same[0])


_FORMS = re.compile(r"0+|0000-00-00(T00:00(:00\.000000)?\+00:00)?")
"""The forms of what `_instant` returns, with 0 for each digit: times of one form are in the order of their texts."""

_CLOCK = re.compile(r"[0-9-]{10}[T ][0-9]{2}:[0-9]{2}(:?)")


def _instant(time: str) -> str:
    """Return a date with a time in UTC, as which it is read without a zone: workbooks keep none. Others stay.

    >>> _instant("2026-11-27 10:30:00+01:00"), _instant("2026-11-27T09:30"), _instant("27.11.")
    ('2026-11-27T09:30:00.000000+00:00', '2026-11-27T09:30+00:00', '27.11.')
    """
    with suppress(ValueError, OverflowError):
        if clock := _CLOCK.match(time):
            read = datetime.fromisoformat(time)
            in_utc = read.astimezone(UTC) if read.tzinfo else read.replace(tzinfo=UTC)
            return in_utc.isoformat(timespec="microseconds" if clock[1] else "minutes")
    return time


def _are_ordered(lines: Sequence[Decision], conflicts: str) -> bool:
    """Return whether the times of lines in conflict, sorted, say which choice is the first, or the last."""
    times = [_instant(line.time) for line in lines]
    at_the_end = times[0 if conflicts == "first" else -1]
    chosen = {line.choice for line, time in zip(lines, times, strict=True) if time == at_the_end}
    return len({*map(_form_of, times)}) == len(chosen) == 1


def settled(lines: Iterable[Decision]) -> list[Decision]:
    """Return the lines that count, given those of one place by time: one choice, or those in conflict.

    >>> def row(name: str, time: str, choice: str) -> Decision:
    ...     return Decision(("d", "*", 0, 1), "", choice, "", name, time)
    >>> settled([row("anna", "1", "gold"), row("bob", "2", "none"), row("anna", "3", "none")])[-1].choice
    'none'
    >>> [line.choice for line in settled([row("anna", "1", "gold"), row("bob", "2", "none")])]
    ['gold', 'none']
    """
    latest: dict[str, list[Decision]] = {}
    confirmed: list[Decision] = []
    for line in lines:
        latest[line.reviewer] = _latest_lines([*latest.get(line.reviewer, ()), line])
        if line.more.get(CONFIRMED):
            confirmed = _latest_lines([*confirmed, line])
    return confirmed or sorted(
        (line for reviewer_lines in latest.values() for line in reviewer_lines), key=_time
    )


def _latest_lines(lines: Sequence[Decision]) -> list[Decision]:
    """Return the latest of sorted lines; of times in several forms, which have no order, those of each form."""
    times = [_instant(line.time) for line in lines]
    latest = {_form_of(time): time for time in times}
    return [line for line, time in zip(lines, times, strict=True) if time == latest[_form_of(time)]]


def _form_of(time: str) -> str:
    """Return the form of a time; a time of an unknown form has its own."""
    form = re.sub("[0-9]", "0", time)
    return form if _FORMS.fullmatch(form) else time


# --- files


def decisions_of(
    paths: Paths | None, choices: Collection[str] | None, conflicts: str | None
) -> PlaceDecisions | None:
    """Return the decisions of an argument of a study, as `read_decisions` does; None without any.

    Raises `UsageError` for `conflicts` without decisions.
    """
    if paths is not None:
        return read_decisions(paths, choices, conflicts)
    if conflicts is not None:
        raise UsageError("conflicts=... needs decisions=...", advice="add decisions=...")
    return None


def read_decisions(
    paths: Paths, choices: Collection[str] | None = None, conflicts: str | None = None
) -> PlaceDecisions:
    """Return the decisions of a file, a folder or several of them; `choices` are those that may be made.

    Raises `FileError` for a file that cannot be read and a folder without files of decisions, `FormatError` for a line
    that cannot be read and an unknown choice.
    """
    require_kind(paths, "str | PathLike | Iterable", "decisions")
    sources = [paths] if isinstance(paths, str | PathLike) else list(paths)
    for source in sources:
        require_kind(source, "str | PathLike", "each of decisions")
    all_decisions: list[Decision] = []
    digests: list[str] = []
    for path in dict.fromkeys(file for source in sources for file in _files(Path(source))):
        rows = _rows_of_workbook(path) if path.suffix.lower() == ENDINGS[-1] else _rows(path)
        all_decisions += [_decision(*row) for row in rows]
        with path.open("rb") as content:
            digests.append(file_digest(content, "sha256").hexdigest())
    decisions = PlaceDecisions(all_decisions, conflicts, digests)
    if choices is not None:
        decisions.require_choices(choices)
    return decisions


def _files(path: Path) -> Iterator[Path]:
    if not is_folder(path):
        refuse_pipe(path)  # it is read more than once
        yield path
        return
    files = sorted(file for file in path.iterdir() if file.suffix in ENDINGS and file.name[0] not in ".~")
    files = [file for file in files if file.suffix != ".csv" or _has_choices(file)]
    if not files:
        advice = f"their names end in {', '.join(ENDINGS)}, and a .csv has a column 'choice'"
        raise FileError("the folder has no files of decisions", file=str(path), advice=advice)
    yield from files


def _has_choices(path: Path) -> bool:
    """Return whether a CSV file has a column of choices; a folder may have others, such as scores."""
    try:
        return "choice" in map(str.casefold, _table(path)[1])
    except CluevalError:  # other programs write in other encodings
        return False


def _rows_of_workbook(path: Path) -> Iterator[tuple[str, int, Mapping[str, object]]]:
    """Yield the rows with a choice or a comment about a place, from all sheets that have the columns of decisions."""
    from clueval.formats.input_file import InputFile
    from clueval.formats.workbooks import rows_of_workbook  # most files are no workbooks

    headers: dict[str, dict[str, int]] = {}
    for sheet, number, cells in rows_of_workbook(InputFile(path)):
        if sheet not in headers:
            headers[sheet] = {name: column for column, name in cells.items()}
        elif headers[sheet].keys() >= NEEDED:
            columns = headers[sheet].items()
            row = {name: cells.get(column, "") for name, column in columns if name in (*COLUMNS, CONFIRMED)}
            if (row["document"] or row["start"]) and _is_filled_in(row):
                yield f"{path}, sheet {sheet}", number, row
    if not any(header.keys() >= NEEDED for header in headers.values()):
        raise FormatError(
            f"no sheet has the columns {', '.join(COLUMNS[:6])}",
            file=str(path),
            advice="clueval errors and masking write a workbook for decisions with -o FILE.xlsx",
        )


def _rows(path: Path) -> Iterator[tuple[str, int, Mapping[str, object]]]:
    """Yield the file, the number and the cells by column of each line of a table, or object of a JSON list."""

    def wrong(problem: str, number: int, advice: str | None = None) -> FormatError:
        return FormatError(problem, file=str(path), line=number, advice=advice)

    def require_columns(names: Collection[str], number: int) -> None:
        for name in COLUMNS:
            if name in NEEDED and name not in names:
                columns = f"a file of decisions has the columns {', '.join(COLUMNS)}"
                raise wrong(f"the table has no column {name!r}", number, columns)

    if beginning_of(path, 1).lstrip()[:1] in ("[", "{"):
        from clueval.formats.json_values import LONGEST, JsonValues  # most files are tables

        for number, value in JsonValues(str(path), LONGEST).of(raw_blocks(path)):
            if not isinstance(value, dict):
                raise wrong("a decision must be an object", number)
            require_columns(value, number)
            yield str(path), number, value
        return
    first, header, lines = _table(path)
    if header:
        require_columns(header, first)
    for number, cells in lines:
        if any(cells[len(header) :]):
            raise wrong(
                f"the line has {with_noun(len(cells), 'cells')}, and the header {len(header)}", number
            )
        yield str(path), number, _row(header, cells)


def _table(path: Path) -> tuple[int, list[str], Iterator[tuple[int, Sequence[str]]]]:
    """Return the number of the first line of a table, its columns, and the cells of its other lines with numbers."""
    from clueval.formats.input_file import InputFile
    from clueval.formats.table_columns import records_of  # few runs read decisions, or write over a table

    records = records_of(InputFile(path))
    first, header = next(records, (0, ()))
    lines = ((number, cells) for number, cells in records if any(map(str.strip, cells)))
    return first, [name.strip() for name in header], lines


def _row(header: Sequence[str], cells: Sequence[str]) -> dict[str, str]:
    return dict(zip(header, map(_plain_cell, cells), strict=False))


def _is_filled_in(row: Mapping[str, str]) -> bool:
    return bool(row.get("choice", "").strip() or row.get("comment"))


def _plain_cell(text: str) -> str:
    """Return a cell without the apostrophe that keeps a spreadsheet from running it.

    >>> _plain_cell("'=1"), _plain_cell("''=1"), _plain_cell("'s")
    ('=1', "'=1", "'s")
    """
    return text[1:] if text[:1] == "'" and text.lstrip("'")[:1] in ("-", "=", "+", "@") else text


def _decision(file: str, line: int, row: Mapping[str, object]) -> Decision:
    """Return the decision of a line. Raises `FormatError` for cells that are no text, and for no range."""

    def wrong(problem: str) -> FormatError:
        return FormatError(problem, file=file, line=line)

    texts: dict[str, str] = {}
    for name, value in row.items():
        if isinstance(value, bool) or not isinstance(value, str | int | None):
            raise wrong(f"{name} must be text")
        texts[name] = "" if value is None else str(value)
    for name in ("document", "start", "end_inclusive"):
        if name not in texts:
            raise wrong(f"the line has no {name}")
        text = texts[name].strip()
        is_before = name == "end_inclusive" and text == "-1"
        if name != "document" and not is_before and not re.fullmatch("[0-9]{1,18}", text):
            raise wrong(f"{name} is {text[:40]!r}, not a position")
    start, last = int(texts["start"]), int(texts["end_inclusive"])
    if last + 1 < start:
        raise wrong(f"the span ends at {last}, before it starts at {start}")
    cells = {name: texts.get(name, "") for name in ("fingerprint", *DECISION_COLUMNS)}
    more = {name: text for name, text in texts.items() if name not in COLUMNS and text}
    at = texts["document"], texts.get("layer") or ANY_LAYER, start, last + 1
    return Decision(at, more=Frozen(more), file=file, line=line, **cells)


class ReportWithDecisions(Report):
    """A report of places about which people decide, perhaps in the tables that it writes."""

    def write(self, path: str | Path, *, lang: str = "", text_lang: str = "") -> None:
        """Write the report to a file, as `Report.write` does, but not over decisions that the report does not have."""
        path = named_output(path)
        keep_decisions(path, self)
        super().write(path, lang=lang, text_lang=text_lang)


def keep_decisions(path: Path, report: Report) -> None:
    """Raise `FileError` for a table or workbook with decisions, unless the report has all of them.

    It has the lines that it has read, and those of a table that it writes. A table of decisions that cannot be read may
    have others.
    """
    form = form_of(path)
    if form not in ("tsv", "csv", "workbook") or not path.is_file():
        return
    try:
        with reading_an_output():
            written = [_decision(*row) for row in _rows_to_keep(path, form)]
    except (CluevalError, OSError) as error:
        raise FileError(
            "is a table of decisions that cannot be read, and would be overwritten",
            file=str(path),
            advice="name another file",
        ) from error
    if not written:
        return
    lines_known = [_decision("", 0, row) for row in report.decision_lines]
    as_lines = {(line.at, *_in_words(line)) for line in lines_known}
    decisions = PlaceDecisions(lines_known)
    choices = {name for name, _ in report.choices} | {line.choice for line in lines_known}
    lost = 0
    for decision in written:
        words = _in_words(decision)
        with suppress(FormatError):  # of a stale choice, for example, the cell says that it is stale
            words = _in_words(_with_choice(decision, choices, ""))
        is_known = (decision.at, *words) in as_lines or words == _in_words(decisions.at(decision))
        lost += any(words[:2]) and not is_known
    if lost:
        raise FileError(
            f"has {with_noun(lost, 'decisions')}, which would be overwritten",
            file=str(path),
            advice=f"name another file; decisions={path.name!r} reads them",
        )


def _in_words(decision: Decision | PlaceDecision) -> tuple[str, ...]:
    """Return choice, comment and reviewer as a table has them, without white space around or between words."""
    cells = {"choice": decision.choice, "comment": decision.comment, "reviewer": decision.reviewer}
    if isinstance(decision, PlaceDecision):
        cells = decision.cells
    return tuple(" ".join(text.split()) for text in cells.values())


def _rows_to_keep(path: Path, form: str) -> Iterator[tuple[str, int, Mapping[str, object]]]:
    """Yield the rows of a table or workbook of decisions that have a choice or a comment."""
    if form == "workbook":
        with suppress(FormatError):  # another workbook
            yield from _rows_of_workbook(path)
        return
    header: Sequence[str] = ()
    with suppress(FormatError):  # no table
        _, header, lines = _table(path)
    if {*header} >= NEEDED:
        filled_in = (line for line in lines if _is_filled_in(dict(zip(header, line[1], strict=False))))
        yield from ((str(path), number, _row(header, cells)) for number, cells in filled_in)


def require_no_choices(names: Iterable[str]) -> None:
    """Raise `UsageError` for an annotator with the name of a choice, in any case, as choices are read."""
    for name in names:
        if name.strip().casefold() in (NONE, BOTH, UNCLEAR, ANNOTATION):
            raise UsageError(
                f"an annotator is called {name!r}, which decisions use for a choice",
                advice="give another name, as in ann=PATH",
            )
