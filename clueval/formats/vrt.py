"""VRT, the vertical text of the Corpus Workbench (CWB): one token per line, XML tags alone on a line.

Columns are separated by one tab. A line that begins with ``<`` and is an XML tag is structure, not a token; the
attributes of the document's element, and of the elements around it, are the metadata of the document. Comments
(``<!-- ... -->`` on one line), XML declarations and blank lines are skipped. The five XML entities and character
references are decoded. No span continues across the beginning or the end of a sentence.

Source: the CWB Corpus Encoding Tutorial, on ``cwb-encode -xsB``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from clueval.core.span import Frozen
from clueval.files.errors import FormatError
from clueval.formats.columns.layout import NAME, ColumnOptions, unescape
from clueval.formats.columns.passages import PassageBuilder, TokenLines, without_blank_lines
from clueval.formats.format import Format
from clueval.formats.recognition import Sign
from clueval.tagging.schemes import INVALID
from clueval.textfiles import Complain

_TAG = re.compile(rf"<(/?)({NAME})((?:\s+{NAME}\s*=\s*(?:\"[^\"]*\"|'[^']*'))*)\s*(/?)>\s*$")
_LOOKS_LIKE_TAG = re.compile(rf"</?({NAME})[^\t<>]*+>\s*$")
_DEFINITION = "<!(DOCTYPE|ENTITY|ELEMENT|ATTLIST|NOTATION)"
_FIRST = r"\s*<(/?[^\W\d][^\t]*>|\?xml|!--)"
_ATTRIBUTE = re.compile(rf"(?<![\w:.\-])({NAME})\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")


AROUND = 100
"""The maximum number of attribute names of the elements around a document; every document gets a copy of them."""


def sentence_id(head: str) -> str | None:
    """Return the id of a sentence, given the line that opens it."""
    if head.count('"') == 2 and "&" not in head:  # most lines have an id alone
        before, _, after = head.partition('<s id="')
        if not before:
            return after.partition('"')[0]
    return attributes(head).get("id")


def attributes(tag: str) -> dict[str, str]:
    """Return the attributes of an XML tag, decoded.

    >>> attributes('<text id="d1" title="R&amp;D">')
    {'id': 'd1', 'title': 'R&D'}
    """
    return {name: unescape(double or single) for name, double, single in _ATTRIBUTE.findall(tag)}


class VrtReader:
    """Finds the documents and sentences of one file, block by block."""

    def __init__(self, file: str, options: ColumnOptions, name: str | None, complain: Complain) -> None:
        self._refuse = complain
        self.builder = PassageBuilder(file, "\t", True, options, name)
        self._file = file
        self._document_tag, self._sentence_tag = options.document_tag, options.sentence_tag
        self._sentence_head = f"<{self._sentence_tag} "
        self._document_line = 0  # the line of the open document element, 0 if none is open
        self._sentence_line = 0
        self._around: list[
            tuple[str, dict[str, str]]
        ] = []  # open elements, each with the attributes of all up to it

    @property
    def in_document_element(self) -> bool:
        return bool(self._document_line)

    @property
    def in_sentence_element(self) -> bool:
        return bool(self._sentence_line)

    def feed(self, number: int, text: str) -> None:
        position, length = 0, len(text)
        while position < length:
            if text[position] == "<":
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

    def finish(self) -> None:
        for tag, line in (
            (self._sentence_tag, self._sentence_line),
            (self._document_tag, self._document_line),
        ):
            if line:
                self._complain(line, f"<{tag}> is not closed", "check whether the end of the file is missing")
        self.builder.end_document()

    def _tokens(self, number: int, run: str) -> None:
        if run[0] in "\n " or "\n\n" in run or "\n " in run:
            for part_number, part in without_blank_lines(number, run):
                self.builder.add(part_number, part)
        else:
            self.builder.add(number, run)

    def _structure(self, number: int, line: str) -> bool:
        """Read a line that begins with ``<``; return whether it was structure and not a token."""
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
            self._complain(number, "the comment does not end on this line", "write it on one line")
            return True
        if re.match(_DEFINITION, line):
            self._complain(number, "an XML document type definition (DTD) is not allowed", "remove it")
            return True
        loose = _LOOKS_LIKE_TAG.match(line)
        if "\t" in line and loose is None:
            return False
        if loose is None or loose[1] in (self._document_tag, self._sentence_tag):
            self._complain(number, "a malformed XML tag", 'write attributes as name="value"')
        return True

    def _surroundings(self, number: int, closing: bool, name: str, empty: bool, line: str) -> None:
        """Read a tag outside documents; the attributes of the elements around a document are its metadata."""
        if not closing and not empty:
            own = attributes(line)
            around = self._around[-1][1] if self._around else {}
            if own and len(own.keys() | around.keys()) > AROUND:
                raise FormatError(
                    f"the open elements around documents have more than {AROUND} attribute names",
                    file=self._file,
                    line=number,
                    advice="close elements that have ended",
                )
            self._around.append((name, {**around, **own} if own else around))
        elif closing and self._around and self._around[-1][0] == name:
            self._around.pop()

    def _open_document(self, number: int, line: str) -> None:
        if self._document_line:
            self._complain(
                number, f"<{self._document_tag}> inside the document of line {self._document_line}"
            )
        if self._sentence_line:
            self._complain(
                number, f"<{self._document_tag}> inside the sentence of line {self._sentence_line}"
            )
        self._document_line = number
        self.builder.begin_document(*self.document_of(line))

    def document_of(self, line: str) -> tuple[str | None, Mapping[str, str]]:
        """Return the id and the metadata of a document, given the line with its start tag."""
        own = attributes(line)
        around = self._around[-1][1] if self._around else {}
        return own.get("id"), Frozen({**around, **own})

    def _close_document(self, number: int) -> None:
        if not self._document_line:
            self._complain(number, f"</{self._document_tag}> without <{self._document_tag}> before it")
            return
        if self._sentence_line:
            self._complain(
                number, f"</{self._document_tag}> inside the sentence of line {self._sentence_line}"
            )
        self._document_line = 0
        self.builder.end_document()

    def _open_sentence(self, number: int, line: str) -> None:
        if self._sentence_line:
            self._complain(
                number, f"<{self._sentence_tag}> inside the sentence of line {self._sentence_line}"
            )
        self._sentence_line = number
        self.builder.begin_sentence(line)

    def _close_sentence(self, number: int) -> None:
        if not self._sentence_line:
            self._complain(number, f"</{self._sentence_tag}> without <{self._sentence_tag}> before it")
            return
        self._sentence_line = 0
        self.builder.end_sentence()

    def _complain(self, line: int, problem: str, advice: str | None = None) -> None:
        self._refuse(FormatError(problem, file=self._file, line=line, advice=advice))


FORMAT = Format(
    name="vrt",
    holds="vertical text (CWB): one token per line, columns separated by tabs, each XML tag on a line of its own; "
    "attributes are metadata",
    endings=(".vrt", ".vert"),
    signs=(Sign("first line is an XML tag", lambda beginning: bool(re.match(_FIRST, beginning.first_line))),),
    token_lines=TokenLines(VrtReader, sentence_id),
    options=frozenset(
        {"layers", "token", "token_id", "document_column", "meta", "scheme", "document_tag", "sentence_tag"}
    ),
    treatments=INVALID,
)
