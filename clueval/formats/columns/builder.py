"""Building passages: the runs of token lines that a format finds become sentences, and these passages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from clueval.exceptions import FormatError
from clueval.formats.columns.layout import ColumnOptions, Layout, layout_of
from clueval.formats.columns.passages import Passage
from clueval.limits import LINES_IN_SENTENCE, sentence_too_long


class PassageBuilder:
    """Collects the runs of token lines that a format finds into passages."""

    def __init__(
        self, file: str, separator: str | None, entities: bool, options: ColumnOptions, name: str | None
    ) -> None:
        self._file, self._separator, self._entities, self._options = file, separator, entities, options
        self._name, self._sizes = name, options.sizes
        self._layout: Layout | None = None
        self._position = 0
        self._documents = 0
        self._passage: Passage | None = None
        self._runs: list[str] = []
        self._rows = 0
        self._characters = 0
        self._head = ""
        self.ready: list[Passage] = []

    @property
    def layout(self) -> Layout | None:
        return self._layout

    @property
    def in_document(self) -> bool:
        return self._passage is not None

    @property
    def in_sentence(self) -> bool:
        """Whether a sentence has begun, by its token lines, and not ended."""
        return bool(self._runs)

    def begin_document(self, identifier: str | None, metadata: Mapping[str, str]) -> None:
        """Start a document; its id is its number in the file where the file gives none."""
        self.end_document()
        self._documents += 1
        name = self._name_of(identifier)
        self._passage = self._fresh(name, metadata, begins=True, named=identifier is not None)

    def _name_of(self, identifier: str | None) -> str:
        if identifier is not None:
            return identifier if self._name is None else f"{self._name}:{identifier}"
        if self._name is None:
            return str(self._documents)
        return self._name if self._documents == 1 else f"{self._name}:{self._documents}"

    def _fresh(self, document: str, metadata: Mapping[str, str], begins: bool, named: bool) -> Passage:
        return Passage(self._file, document, metadata, self._layout, self._position, begins, named)

    def add(self, number: int, run: str) -> None:
        """Add token lines, the first of which has that number, to the sentence at hand."""
        passage = self._at_hand(number, run)
        passage.anchors.append((len(passage.sentences), self._rows, number))
        self._runs.append(run)
        self._rows += run.count("\n")
        self._characters += len(run)
        if self._rows > self._options.max_sentence:
            raise sentence_too_long(self._file, self._first_line(passage), self._options.max_sentence)
        if self._characters > LINES_IN_SENTENCE * self._options.max_line:
            raise self._too_long(passage)

    def _first_line(self, passage: Passage) -> int:
        """The line of the first token of the sentence at hand."""
        return next(line for sentence, _, line in passage.anchors if sentence == len(passage.sentences))

    def _too_long(self, passage: Passage) -> FormatError:
        most = LINES_IN_SENTENCE * self._options.max_line
        return FormatError(
            f"the sentence that begins here has more than {most:,} characters",
            file=self._file,
            line=self._first_line(passage),
            advice="if that is meant, raise --max-line (max_line), of which this is four times as much",
        )

    def add_sentences(self, number: int, heads: list[str], sentences: list[str], rows: int) -> None:
        """Add whole sentences that stand one after the other, each between two lines of structure.

        `number` is that of the first token line, `rows` how many there are; no sentence is at hand.
        """
        while sentences:
            passage = self._at_hand(number, sentences[0])
            room = self._room(passage, sentences, number, rows)
            here = rows if len(sentences) <= room else "".join(sentences[:room]).count("\n")
            passage.anchors.append((len(passage.sentences), 0, number))
            passage.sentences += sentences[:room]
            passage.heads += heads[:room]
            number += here + 2 * room
            heads, sentences, rows = heads[room:], sentences[room:], rows - here
            self._count(passage, here)

    def _room(self, passage: Passage, sentences: list[str], number: int, rows: int) -> int:
        """How many of these sentences the passage takes, which has so many `rows` at most."""
        room = self._sizes.sentences - len(passage.sentences)
        if rows <= min(self._sizes.tokens - passage.tokens, self._options.max_sentence):
            return room
        tokens = passage.tokens
        for place, sentence in enumerate(sentences[:room]):
            if (size := sentence.count("\n")) > self._options.max_sentence:
                raise sentence_too_long(self._file, number, self._options.max_sentence)
            number += size + 2
            tokens += size
            if tokens >= self._sizes.tokens:
                return place + 1
        return room

    def _at_hand(self, number: int, run: str) -> Passage:
        """The passage that takes the token lines `run`; the first lines of a file tell its layout."""
        if self._layout is None:
            line = run[: run.index("\n")]
            separator = self._separator or ("\t" if "\t" in line else " ")
            self._layout = layout_of(line, separator, self._options, self._entities, self._file, number)
        if self._passage is None:
            head = self._head
            self.begin_document(None, {})
            self._head = head  # of the sentence that the document begins with
        assert self._passage is not None
        self._passage.layout = self._layout
        return self._passage

    def _count(self, passage: Passage, rows: int) -> None:
        """Take note of the token lines that a passage got, and cut it if it has enough sentences."""
        passage.tokens += rows
        self._position += rows
        if len(passage.sentences) >= self._sizes.sentences or passage.tokens >= self._sizes.tokens:
            self.ready.append(passage)
            self._passage = self._fresh(passage.document, passage.metadata, begins=False, named=passage.named)

    def begin_sentence(self, head: str = "") -> None:
        """End the sentence at hand, if there is one; `head` is what opens the next."""
        self.end_sentence()
        self._head = head

    def end_sentence(self) -> None:
        passage = self._passage
        if self._runs and passage is not None:
            passage.sentences.append(self._runs[0] if len(self._runs) == 1 else "".join(self._runs))
            passage.heads.append(self._head)
            rows, self._runs, self._rows, self._characters = self._rows, [], 0, 0
            self._count(passage, rows)
        self._head = ""

    def withdraw(self) -> str:
        """The token lines of the sentence at hand, which has none of them any more."""
        run = "".join(self._runs)
        if self._passage is not None:
            sentence = len(self._passage.sentences)
            self._passage.anchors = [anchor for anchor in self._passage.anchors if anchor[0] != sentence]
        self._runs, self._rows, self._characters = [], 0, 0
        return run

    def end_document(self) -> None:
        self.end_sentence()
        if self._passage is not None and (self._passage.sentences or self._passage.begins):
            self.ready.append(self._passage)
        self._passage = None

    def pass_over(self, documents: int) -> None:
        """Sentences of the document at hand, and of as many `documents` after it, were taken in elsewhere."""
        passage = self._passage
        self.end_document()
        self._documents += documents
        if passage is not None:
            self._passage = self._fresh(passage.document, passage.metadata, begins=False, named=passage.named)

    def take(self) -> list[Passage]:
        """The passages that are complete, once."""
        ready, self.ready = self.ready, []
        return ready


def without_blank_lines(number: int, run: str) -> Iterator[tuple[int, str]]:
    """The parts of a run between blank lines, each with the number of its first line."""
    waiting: list[str] = []
    for offset, line in enumerate(chain(run[:-1].split("\n"), ("",))):
        if line.strip(" "):
            waiting.append(line)
        elif waiting:
            yield number + offset - len(waiting), "\n".join(waiting) + "\n"
            waiting = []
