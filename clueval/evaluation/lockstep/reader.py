"""Two column files read in step, as bytes, and taken apart only where they differ.

Most of a corpus is regular: sentence after sentence of nothing but token lines, the same on both sides but
for some tags. Such stretches need not become passages. Both files are cut into pieces where sentences end, or
documents without sentences, or else where no span crosses from one line to the next; a format tells, from
gold alone, whether a stretch is regular and how much is in it (`Regular`). Pieces that are the same bytes on
both sides need no other look; of the others `clueval.evaluation.lockstep.hunks` takes apart what it must.
Where spans leave no place to cut, the tags of all lines become one *open* tag run, until a span or the
sentence ends.

Whatever is not regular goes through the readers of the formats and becomes passages. Those are the model,
too: anything that is wrong here raises some error, and the caller starts again with passages alone, which
tell what and where.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from clueval.evaluation.lockstep.compare import Columns, Stretch
from clueval.evaluation.lockstep.hunks import (
    CROSSING,
    TOUCHING,
    Relations,
    extend,
    find_differences,
    is_plain,
    tags_in,
)
from clueval.evaluation.lockstep.regular import Recogniser, Regular
from clueval.evaluation.lockstep.tag_runs import TagRuns, Touching
from clueval.evaluation.lockstep.token_ids import TokenIds
from clueval.exceptions import FormatError
from clueval.formats.columns.layout import ColumnOptions, Layout
from clueval.formats.columns.passages import Passage
from clueval.limits import LINES_IN_SENTENCE
from clueval.textfiles import decoded


class File:
    """One file: what was read and is not yet taken in, and the format's reader."""

    def __init__(
        self, path: Path, data: Iterator[bytes], recogniser: Recogniser, options: ColumnOptions
    ) -> None:
        self.path, self._data, self.recogniser, self.options = path, data, recogniser, options
        self.reader = recogniser.reader
        self.waiting = b""
        self.ended = False

    def read(self, size: int) -> None:
        """Read until so many bytes wait, a whole line at least, or to the end; the last line gets its line end."""
        pieces, length, has_line = [self.waiting], len(self.waiting), b"\n" in self.waiting
        while not self.ended and (length < size or not has_line):
            data = next(self._data, b"")
            self.ended = not data
            pieces.append(data)
            length += len(data)
            has_line = has_line or b"\n" in data
            if not has_line and length > self.options.max_line - self.options.sizes.block:
                raise FormatError("perhaps a line that is too long", file=str(self.path))
        if len(pieces) > 1:
            self.waiting = b"".join(pieces)
            if b"\r" in self.waiting:  # looking for one byte is many times faster than for two
                self.waiting = self.waiting.replace(b"\r\n", b"\n")
            if self.ended and self.waiting and not self.waiting.endswith(b"\n"):
                self.waiting += b"\n"

    def end_of_sentence(self) -> int | None:
        """Where the line begins that ends the sentence at hand, or the file ends; None if it is still to come."""
        lines = self.recogniser.end_lines
        if self.waiting.startswith(lines):
            return 0
        found = [place + 1 for line in lines if (place := self.waiting.find(b"\n" + line)) >= 0]
        return min(found, default=len(self.waiting) if self.ended else None)

    def feed(self, data: bytes) -> None:
        """Give lines to the format's reader."""
        if data:
            self.reader.feed(1, decoded(data, self.path, 1))


class _Pieces(NamedTuple):
    """Pieces of both sides; as many of one as of the other, if the two are parallel.

    Lines are pieces of a sentence, and may be cut where a span crosses: from those before, or to those that follow.
    """

    end: bytes
    gold: list[bytes]
    predicted: list[bytes]
    goes_on_from_before: bool = False
    goes_on: bool = False


class Lockstep:
    """Reads two files of one column format; see the module's docstring.

    Held in memory: two or three blocks, or the longest line, and the tag runs; and what no span leaves.
    """

    def __init__(self, gold: File, predicted: File, merge: bool) -> None:
        self._options, self._sizes = gold.options, gold.options.sizes
        self._unended = (0, 0)  # lines and bytes since what was taken last did end a sentence
        self._files = (gold, predicted)
        self._merge = merge
        self._tags: TagRuns | None = None
        self._tokens = 0  # of these tag runs
        self._ids: TokenIds | None = None
        self._passages: tuple[deque[Passage], deque[Passage]] = (deque(), deque())
        self._most = 1  # pieces at a time; few before the layout is known
        self._goes_on = True  # a span may cross from what was taken last to what comes next
        self._open: int | None = None  # tokens of the tag run it crosses from, unless that is in passages
        self._seam: tuple[bool, Touching] | None = None  # behind the last piece, if spans touch there

    @property
    def layouts(self) -> tuple[Layout | None, Layout | None]:
        """The layouts of the two files, as soon as they are known."""
        gold, predicted = (file.reader.builder.layout for file in self._files)
        return gold, predicted

    def __iter__(self) -> Iterator[Stretch | tuple[Passage, Passage]]:
        """What the files hold, in order. Raises a `CluevalError` if anything is wrong."""
        while True:
            for file in self._files:
                file.read(self._sizes.block // 2 + 1)
            if not any(file.waiting for file in self._files):
                break
            seam, self._seam = self._seam, None
            is_known = None not in self.layouts
            pieces = self._next()
            self._require_short_sentences(pieces)
            crosses = pieces.goes_on_from_before or pieces.goes_on
            stretch = self._open_stretch(pieces) if crosses else self._stretch(pieces)
            for file, own in zip(self._files, (pieces.gold, pieces.predicted), strict=True):
                if stretch is not None:
                    file.reader.builder.pass_over(stretch.documents)
                    continue
                file.feed(pieces.end.join([*own, b""]) if own else b"")
            if not is_known and None not in self.layouts:
                self._begin_again()
            if seam is not None and (seam[0] or stretch is not None):
                self._tag_runs().add_touching([seam[1]])
            if self._seam is not None:
                self._seam = (stretch is not None, self._seam[1])
            yield from self._pairs()
            if stretch is not None:
                if self._layout.token_id is not None:
                    self._see_ids(pieces)
                yield stretch
        self._close()
        for file in self._files:
            file.reader.finish()
        yield from self._pairs()
        if any(self._passages):
            raise FormatError("one side ends early", file=str(self._files[0].path))
        yield Stretch(0, 0, self._columns())

    def _begin_again(self) -> None:
        """Put the lines that determined the layout back into the buffer, unless their sentence has ended."""
        for file in self._files:
            file.waiting = file.reader.builder.withdraw().encode() + file.waiting
        self._goes_on = False

    def _next(self) -> _Pieces:
        """What to take next: whole sentences if there are any, or whole documents, or else lines."""
        for end in self._files[0].recogniser.ends if self._open is None else ():
            own, other = (file.waiting.split(end) for file in self._files)
            number = min(len(own) - 1, len(other) - 1, self._most)
            if number:
                self._most *= 2
                self._goes_on = False
                for file, pieces in zip(self._files, (own, other), strict=True):
                    file.waiting = end.join(pieces[number:])
                    del pieces[number:]
                return _Pieces(end, own, other)
        return self._lines()

    def _require_short_sentences(self, pieces: _Pieces) -> None:
        """Raise `FormatError` where a sentence may be longer than it may be, for the passages to find out."""
        if pieces.end != b"\n":
            self._unended = (0, 0)
            return
        lines, size = self._unended
        lines += max(len(pieces.gold), len(pieces.predicted))
        size += max(sum(map(len, pieces.gold)), sum(map(len, pieces.predicted)))
        self._unended = lines, size + lines
        most, block = LINES_IN_SENTENCE * self._options.max_line, self._sizes.block
        if lines > self._options.max_sentence - block or self._unended[1] > most - block:
            raise FormatError("perhaps a sentence that is too long", file=str(self._files[0].path))

    def _lines(self) -> _Pieces:
        """Lines of both sides, up to where no span crosses, or as many as wait.

        Those of an open tag run end where the sentence ends, at the latest.
        """
        stops = [None if self._open is None else file.end_of_sentence() for file in self._files]
        own, other = (file.waiting[:stop].split(b"\n") for file, stop in zip(self._files, stops, strict=True))
        lines = min(len(own), len(other)) - 1
        cut, before = self._cut(own, other, lines), self._goes_on
        ended = all(file.ended for file in self._files)
        self._goes_on = cut is None and (None in stops or len(own) != len(other))
        if cut is None and not ended:
            cut = lines if None not in self.layouts else min(lines, self._most)
            self._most *= 2
        taken: list[list[bytes]] = []
        for file, found, stop in zip(self._files, (own, other), stops, strict=True):
            here = cut or len(found) - 1
            taken.append(found[:here])
            rest = b"" if stop is None else file.waiting[stop:]
            file.waiting = b"\n".join(found[here:]) + rest
        return _Pieces(b"\n", taken[0], taken[1], before, self._goes_on and not ended)

    def _cut(self, own: Sequence[bytes], other: Sequence[bytes], lines: int) -> int | None:
        """The line before which no span crosses: the first if one may go on from before, else the last; or None."""
        layout, other_layout = self.layouts
        if layout is None or layout != other_layout or all(file.ended for file in self._files):
            return None
        tags_of, relations = tags_in(layout), Relations(layout)
        look, look_on = self._sizes.look, self._sizes.look_on
        order = range(1, min(lines, look_on)) if self._goes_on else range(lines - 1, max(lines - look, 0), -1)
        for line in order:
            seam = (
                tags_of(own[line - 1]),
                tags_of(own[line]),
                tags_of(other[line - 1]),
                tags_of(other[line]),
            )
            found = relations[seam[:2]] | relations[seam[2:]]
            if found != CROSSING and b"" not in seam:  # a tag between tokens need not end a sentence
                self._seam = (False, seam) if found == TOUCHING else None
                return line
        return None

    def _pairs(self) -> Iterator[tuple[Passage, Passage]]:
        """The passages that both sides have, once."""
        own, other = self._passages
        for file, passages in zip(self._files, self._passages, strict=True):
            passages.extend(file.reader.builder.take())
        while own and other:
            if own[0].layout is not None and own[0].layout.token_id is not None:
                texts = ["".join(own[0].sentences).encode()]
                self._token_ids().see([b"", *texts] if own[0].begins else texts)
            yield own.popleft(), other.popleft()
        if max(len(own), len(other)) > self._sizes.ahead:
            raise FormatError("one side falls behind", file=str(self._files[0].path))

    def _stretch(self, pieces: _Pieces) -> Stretch | None:
        """The pieces of both sides, if they are regular."""
        other_marks = self._files[1].recogniser.marks
        end, own, other = pieces[:3]
        marks = self._marks(pieces)
        if marks:
            if marks != other_marks(other) or any(own[mark] != other[mark] for mark in marks):
                return None
            own, other = _without(own, marks), _without(other, marks)
        found = self._regular(end, own, len(marks)) if len(own) == len(other) else None
        if found is None or not find_differences(own, other, end, self._layout, self._tag_runs()):
            return None
        self._tokens += found.tokens
        return Stretch(found.documents, found.tokens, self._due_columns())

    def _regular(self, end: bytes, own: list[bytes], marks: int) -> Regular | None:
        """What is in pieces of gold, if they are regular and can follow on both sides, after so many marks."""
        layout, other_layout = self.layouts
        if layout is None or layout != other_layout or not is_plain(layout):
            return None
        found = self._files[0].recogniser.regular(end, own)
        if found is None:
            return None
        documents = marks + found.documents
        can_follow = all(file.recogniser.takes(end, documents) for file in self._files)
        return Regular(documents, found.tokens) if can_follow else None

    def _open_stretch(self, pieces: _Pieces) -> Stretch | None:
        """Lines that a span crosses into or out of, if they are regular.

        Raises `FormatError` if they are not though the span has begun in regular ones.
        """
        if pieces.goes_on_from_before and self._open is None:
            return None
        tokens = self._extend(pieces)
        if tokens is None:
            if self._open is None:
                return None
            raise FormatError("a span goes on into irregular lines", file=str(self._files[0].path))
        self._open = (self._open or 0) + tokens
        if not pieces.goes_on:
            self._close()
        return Stretch(0, tokens, self._due_columns())

    def _close(self) -> None:
        """The open tag run has ended, if there is one."""
        if self._open is not None:
            self._tag_runs().close()
            self._tokens += self._open
            self._open = None
            self._most = 1  # what ends a sentence is fed

    def _extend(self, pieces: _Pieces) -> int | None:
        """Add lines to the open tag run, and say how many, if they are regular and differ in tags only."""
        own, other = pieces.gold, pieces.predicted
        if not own and not other:
            return 0
        found = self._regular(pieces.end, own, 0)
        if found is None or not extend(own, other, self._layout, self._tag_runs()):
            return None
        return found.tokens

    @property
    def _layout(self) -> Layout:
        """The layout of both files, once it is known."""
        layout = self._files[0].reader.builder.layout
        assert layout is not None
        return layout

    def _see_ids(self, pieces: _Pieces) -> None:
        """Take note of the token ids of gold, which are those of predicted."""
        lines = self._files[0].recogniser.by_document(pieces.end, pieces.gold, self._marks(pieces))
        self._token_ids().see(lines)

    def _marks(self, pieces: _Pieces) -> list[int]:
        """Which pieces of gold mark where a document begins; lines never do."""
        return [] if pieces.end == b"\n" else self._files[0].recogniser.marks(pieces.gold)

    def _token_ids(self) -> TokenIds:
        if self._ids is None:
            self._ids = TokenIds(self._layout, str(self._files[0].path))
        return self._ids

    def _tag_runs(self) -> TagRuns:
        if self._tags is None:
            self._tags = TagRuns(self._layout, self._merge, self._sizes)
        return self._tags

    def _due_columns(self) -> Sequence[Columns]:
        """The columns of all tag runs, if these are many."""
        return self._columns() if self._tag_runs().are_many else ()

    def _columns(self) -> Sequence[Columns]:
        """The columns of all tag runs, once."""
        tokens, self._tokens = self._tokens, 0
        return list(self._tags.take(tokens)) if self._tags else ()


def _without(sentences: list[bytes], marks: list[int]) -> list[bytes]:
    marked = set(marks)
    return [sentence for number, sentence in enumerate(sentences) if number not in marked]
