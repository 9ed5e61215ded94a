"""A document that is counted in parts: what must be held until its end.

Its entities and its string leaks depend on all of its mentions. Held are the different words of mentions, four
references for each mention, and the words of the text, packed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from zlib import compress, decompress

from clueval.metrics.counting import Tally
from clueval.metrics.masking.document_mentions import DocumentMentions, add_document
from clueval.metrics.masking.mention import Risk
from clueval.metrics.masking.token_mentions import EntityNumbers
from clueval.metrics.masking.token_strings import CountedText, SearchedStrings, Words

_FASTEST = 1


class OpenDocument:
    """Collects the parts of a document."""

    def __init__(self) -> None:
        self.entities = EntityNumbers()
        self._views: dict[str, DocumentMentions] = {}
        self._strings = SearchedStrings()
        self._texts: list[tuple[bytes, bytes]] = []

    def add_mentions(self, annotator: str, mentions: DocumentMentions, words: Iterable[Words]) -> None:
        """Add the mentions of a part that are counted, and the words of all of its mentions."""
        self._views.setdefault(annotator, DocumentMentions([], [], [], [])).add(mentions)
        self._strings.add(words)

    def add_text(self, text: CountedText) -> None:
        """Add the words of a part, none of which has a line end."""
        words = "\n".join(text.words).encode("utf-8", "surrogatepass")
        self._texts.append((compress(words, _FASTEST), compress(text.states, _FASTEST)))

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
        self._texts.reverse()
        while self._texts:
            words, states = self._texts.pop()
            text = decompress(words).decode("utf-8", "surrogatepass")
            yield CountedText(text.split("\n") if text else [], decompress(states))
