"""VRT, the vertical text of the Corpus Workbench (CWB): one token per line, XML tags alone on a line.

Columns are parted by one TAB. A line that begins with ``<`` and is an XML tag is structure, not a token; the
attributes of the document's element, and of the elements around it, are the document's metadata. Comments
(``<!-- ... -->`` on one line), XML declarations and blank lines are passed over. The five XML entities and
character references are decoded. Spans end where sentences begin and end.

Source: the CWB Corpus Encoding Tutorial, on ``cwb-encode -xsB``.
"""

from __future__ import annotations

import re
from operator import methodcaller

from clueval.exceptions import FormatError
from clueval.formats.columns.builder import PassageBuilder, without_blank_lines
from clueval.formats.columns.layout import ColumnOptions
from clueval.formats.columns.markup import unescape
from clueval.formats.columns.token_lines import TokenLines
from clueval.formats.format import Format
from clueval.formats.recognition import Sign
from clueval.spans.span import Frozen
from clueval.tagging.schemes import INVALID
from clueval.textfiles import Complain

NAME = r"[^\W\d][\w:.\-]*+"  # possessive: a name is never tried shorter, so that no line costs more than one look
_TAG = re.compile(rf"<(/?)({NAME})((?:\s+{NAME}\s*=\s*(?:\"[^\"]*\"|'[^']*'))*)\s*(/?)>\s*$")
_LOOKS_LIKE_TAG = re.compile(rf"</?({NAME})[^\t<>]*+>\s*$")
_DEFINITION = "<!(DOCTYPE|ENTITY|ELEMENT|ATTLIST|NOTATION)"
_FIRST = r"\s*<(/?[^\W\d][^\t]*>|\?xml|!--)"
_ATTRIBUTE = re.compile(rf"(?<![\w:.\-])({NAME})\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")


AROUND = 100
"""Elements around documents have at most so many names of attributes: every document gets a copy of them."""


def sentence_id(head: str) -> str | None:
    """The id of a sentence, given the line that opens it."""
    return attributes(head).get("id")


def attributes(tag: str) -> dict[str, str]:
    """The attributes of an XML tag, decoded.

    >>> attributes('<text id="d1" title="R&amp;D">')
    {'id': 'd1', 'title': 'R&D'}
    """
    return {name: unescape(double or single) for name, double, single in _ATTRIBUTE.findall(tag)}


_ends_its_line = methodcaller("endswith", "\n")


class VrtReader:
    """Follows the structure of one file, block by block."""

    def __init__(self, file: str, options: ColumnOptions, name: str | None, complain: Complain) -> None:
        self._refuse = complain
        self.builder = PassageBuilder(file, "\t", True, options, name)
        self._file = file
        self._document_tag, self._sentence_tag = options.document_tag, options.sentence_tag
        self._sentence_head = f"<{self._sentence_tag} "
        self._sentence_end = f"</{self._sentence_tag}>\n"
        self._document_end = f"\n</{self._document_tag}"
        # heads without their >, each with a line end, as they are in ordinary files
        self._plain_heads = re.compile(rf'(?:<{re.escape(self._sentence_tag)}(?: {NAME}="[^"\n\t]*")*\n)+')
        self._step_to = 0  # in the block at hand, up to where lines must be looked at one by one
        self._document_line = 0  # where the open document element stands, 0 if none is open
        self._sentence_line = 0
        self._around: list[tuple[str, dict[str, str]]] = []  # what is open, each with the attributes up to it

    @property
    def in_document_element(self) -> bool:
        return bool(self._document_line)

    @property
    def in_sentence_element(self) -> bool:
        return bool(self._sentence_line)

    def feed(self, number: int, text: str) -> None:
        position, length = 0, len(text)
        self._step_to = 0
        while position < length:
            if text[position] == "<":
                if position >= self._step_to:
                    lines, position = self._sentences(number, text, position)
                    if lines:
                        number += lines
                        continue
                end = text.index("\n", position)
                if self._structure(number, text[position:end]):
                    position, number = end + 1, number + 1
                    continue
                end = text.find("\n<", end) + 1 or length
            else:
                end = text.find("\n<", position) + 1 or length
            run = text[position:end]
            self._tokens(number, run)
            number += run.count("\n")
            position = end

    def _sentences(self, number: int, text: str, position: int) -> tuple[int, int]:
        """Take in all sentences from here to the end of the document or block.

        Only if there is nothing but sentences, each an opening line, token lines and a closing line, which a
        few counts tell; otherwise the lines are looked at one by one. Returns how many lines were taken in
        and the position after them.
        """
        if not text.startswith(f"<{self._sentence_tag}", position) or self._sentence_line:
            return 0, position
        if self.builder.in_sentence:  # tokens outside any sentence element stand before
            return 0, position
        stop = text.find(self._document_end, position) + 1 or len(text)
        self._step_to = stop
        end = text.rfind(self._sentence_end, position, stop) + len(self._sentence_end)
        region = text[position:end]
        if "\n\n" in region or "\n " in region:
            return 0, position
        parts = [part.partition(">\n") for part in region.split(self._sentence_end)[:-1]]
        count = len(parts)
        if not count or region.count("\n<") != 2 * count - 1:
            return 0, position
        heads, sentences = [head for head, _, _ in parts], [lines for _, _, lines in parts]
        if not all(map(_ends_its_line, sentences)) or not self._plain_heads.fullmatch(
            "\n".join([*heads, ""])
        ):
            return 0, position
        lines = region.count("\n")
        self.builder.add_sentences(number + 1, heads, sentences, lines - 2 * count)
        return lines, end

    def finish(self) -> None:
        for tag, line in (
            (self._sentence_tag, self._sentence_line),
            (self._document_tag, self._document_line),
        ):
            if line:
                self._complain(line, f"<{tag}> is never closed", "is the file cut off?")
        self.builder.end_document()

    def _tokens(self, number: int, run: str) -> None:
        if run[0] in "\n " or "\n\n" in run or "\n " in run:
            for part_number, part in without_blank_lines(number, run):
                self.builder.add(part_number, part)
        else:
            self.builder.add(number, run)

    def _structure(self, number: int, line: str) -> bool:
        """Take in a line that begins with ``<``; false if it is a token after all."""
        if (
            line.startswith(self._sentence_head)
            and line.endswith('">')
            and "\t" not in line
            and line.count('"') == 2
        ):
            self._open_sentence(number, line)
            return True
        tag = _TAG.match(line)
        if tag is None:
            return self._oddity(number, line)
        closing, name, _, empty = tag.groups()
        if name == self._sentence_tag:
            if closing:
                self._close_sentence(number)
            elif not empty:
                self._open_sentence(number, line)
        elif name == self._document_tag:
            if closing:
                self._close_document(number)
            else:
                self._open_document(number, line)
                if empty:
                    self._close_document(number)
        elif not self._document_line:
            self._surroundings(number, bool(closing), name, bool(empty), line)
        return True

    def _oddity(self, number: int, line: str) -> bool:
        if line.startswith("<?") or (line.startswith("<!--") and line.rstrip().endswith("-->")):
            return True
        if line.startswith("<!--"):
            self._complain(number, "the comment does not end on its line")
            return True
        if re.match(_DEFINITION, line):
            self._complain(number, "an XML document type definition", "such definitions are refused unread")
            return True
        loose = _LOOKS_LIKE_TAG.match(line)
        if "\t" in line and loose is None:
            return False
        if loose is None or loose[1] in (self._document_tag, self._sentence_tag):
            self._complain(number, "a malformed XML tag", 'attributes are written name="value"')
        return True

    def _surroundings(self, number: int, closing: bool, name: str, empty: bool, line: str) -> None:
        """Elements outside documents: what is open around a document belongs to its metadata."""
        if not closing and not empty:
            own = attributes(line)
            around = self._around[-1][1] if self._around else {}
            if own and len(own.keys() | around.keys()) > AROUND:
                raise FormatError(
                    f"more than {AROUND} names of attributes around documents",
                    file=self._file,
                    line=number,
                    advice="close the elements that are no longer meant",
                )
            self._around.append((name, {**around, **own} if own else around))
        elif closing and self._around and self._around[-1][0] == name:
            self._around.pop()

    def _open_document(self, number: int, line: str) -> None:
        if self._document_line:
            self._complain(number, f"<{self._document_tag}> inside the one of line {self._document_line}")
        if self._sentence_line:
            self._complain(
                number, f"<{self._document_tag}> inside the sentence of line {self._sentence_line}"
            )
        self._document_line = number
        own = attributes(line)
        around = self._around[-1][1] if self._around else {}
        self.builder.begin_document(own.get("id"), Frozen({**around, **own}))

    def _close_document(self, number: int) -> None:
        if not self._document_line:
            self._complain(number, f"</{self._document_tag}> closes nothing")
            return
        if self._sentence_line:
            self._complain(
                number, f"</{self._document_tag}> inside the sentence of line {self._sentence_line}"
            )
        self._document_line = 0
        self.builder.end_document()

    def _open_sentence(self, number: int, line: str) -> None:
        if self._sentence_line:
            self._complain(number, f"<{self._sentence_tag}> inside the one of line {self._sentence_line}")
        self._sentence_line = number
        self.builder.begin_sentence(line)

    def _close_sentence(self, number: int) -> None:
        if not self._sentence_line:
            self._complain(number, f"</{self._sentence_tag}> closes nothing")
            return
        self._sentence_line = 0
        self.builder.end_sentence()

    def _complain(self, line: int, problem: str, advice: str | None = None) -> None:
        self._refuse(FormatError(problem, file=self._file, line=line, advice=advice))


FORMAT = Format(
    name="vrt",
    holds="vertical text (CWB): one token a line, TAB columns, XML tags alone on a line; attributes are metadata",
    endings=(".vrt", ".vert"),
    signs=(Sign("first line is an XML tag", lambda beginning: bool(re.match(_FIRST, beginning.first_line))),),
    token_lines=TokenLines(VrtReader, sentence_id),
    options=frozenset({"layers", "token", "token_id", "scheme", "document_tag", "sentence_tag"}),
    treatments=INVALID,
)
