"""A document that is counted in parts: what must be held until its end.

Its entities and its string leaks depend on all of its mentions. Held are, besides the different words of the text:

* for each word of the text that counts, its number and its state, 3 bytes (5 if more than 65,536 words are different);
* for each mention four references, 32 bytes;
* for mentions with different words, or labels, the number of the entity, about 130 bytes, and the words as a string to
  search: about 100 bytes for one word or two, 200 for more.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from sys import intern

from clueval.metrics.counting import Tally
from clueval.metrics.masking.document_mentions import DocumentMentions, add_document
from clueval.metrics.masking.mention import Risk
from clueval.metrics.masking.token_mentions import EntityNumbers
from clueval.metrics.masking.token_strings import CountedText, SearchedStrings, Words


class WordNumbers(dict[str, int]):
    """The numbers of words, from 0, in the order in which they first occur."""

    def __missing__(self, word: str) -> int:
        number = self[intern(word)] = len(self)
        return number


class OpenDocument:
    """Collects the parts of a document."""

    def __init__(self) -> None:
        self.entities = EntityNumbers()
        self._views: dict[str, DocumentMentions] = {}
        self._strings = SearchedStrings()
        self._numbers = WordNumbers()
        self._texts: list[tuple[array[int], bytes]] = []

    def add_mentions(self, annotator: str, mentions: DocumentMentions, words: Iterable[Words]) -> None:
        """Add the mentions of a part that are counted, and the words of all of its mentions."""
        self._views.setdefault(annotator, DocumentMentions([], [], [], [])).add(mentions)
        self._strings.add(words)

    def add_text(self, text: CountedText) -> None:
        """Add the words of a part."""
        numbers = list(map(self._numbers.__getitem__, text.words))
        self._texts.append((array("H" if len(self._numbers) <= 1 << 16 else "I", numbers), text.states))

    def close(self, tally: Tally, risk: Risk) -> None:
        """Add what the whole document has, and drop it."""
        self.entities = EntityNumbers()
        tally["string_leaks", "all"] += self._string_leaks()
        self._strings = SearchedStrings()
        add_document(tally, self._views, risk)

    def _string_leaks(self) -> int:
        """Return the number of string leaks; words at the end of a part wait for those of the next one."""
        number, waiting = 0, CountedText([], b"")
        for text in self._unpacked():
            text = CountedText([*waiting.words, *text.words], waiting.states + text.states)
            leaks = self._strings.leaks(text, is_whole=not self._texts)
            number += leaks.number
            waiting = CountedText(text.words[leaks.past :], text.states[leaks.past :])
        return number

    def _unpacked(self) -> Iterator[CountedText]:
        """Take the words of each part."""
        words = list(self._numbers)
        self._texts.reverse()
        while self._texts:
            numbers, states = self._texts.pop()
            yield CountedText(list(map(words.__getitem__, numbers)), states)
