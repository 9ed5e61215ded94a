"""VRT, the vertical text of the Corpus Workbench (CWB): one token per line, XML tags alone on a line.

The rules of the format stand in ``formats.md``.
"""

from __future__ import annotations

import re
from functools import lru_cache

from clueval.files.errors import FormatError
from clueval.formats.column_format import ColumnFormat, ColumnInput, LineRule
from clueval.formats.xml_text import NAME, attributes, unescape

_TAG = re.compile(rf"<(/?)({NAME})((?:\s+{NAME}\s*=\s*(?:\"[^\"]*\"|'[^']*'))*)\s*(/?)>\s*$")
_PLAIN_ATTRIBUTES = rf"(?>(?: {NAME}=\"[^\"<>\n\t]*+\")*)"
_ID_ALONE = re.compile(rf"<{NAME} id=\"([^\"&]*+)\">$")
_LOOKS_LIKE_TAG = re.compile(rf"</?({NAME})[^\t<>]*+>\s*$")
_DEFINITION = re.compile("<!(DOCTYPE|ENTITY|ELEMENT|ATTLIST|NOTATION)")
AROUND = 100
"""The maximum number of attribute names of the elements around a document; every document gets a copy of them."""


class _Elements:
    """The open elements of a file: the line of the document and of the sentence (0: none is open), and those around."""

    def __init__(self) -> None:
        self.document = self.sentence = 0
        self.around: list[tuple[str, dict[str, str]]] = []  # each with the attributes of all up to it

    @property
    def attributes_around(self) -> dict[str, str]:
        return self.around[-1][1] if self.around else {}


def _sentence(reader: ColumnInput) -> re.Pattern[str] | None:
    return None if reader.state.sentence else _sentence_of(reader.options.sentence_tag)


@lru_cache
def _sentence_of(tag: str) -> re.Pattern[str]:
    """Return a pattern of a sentence without tags in it."""
    name = re.escape(tag)
    return re.compile(rf"^(<{name}{_PLAIN_ATTRIBUTES}>\n)([^<]++(?<=\n))(</{name}>\n)", re.MULTILINE)


def _id_in(line: str) -> str | None:
    alone = _ID_ALONE.match(line)  # nearly always
    return alone[1] if alone else attributes(line).get("id")


def _is_token(reader: ColumnInput, line: str) -> bool:
    """Return whether a line that is blank or begins with ``<`` is a token."""
    return (
        "\t" in line
        and line[:1] == "<"
        and not line.startswith(("<?", "<!--"))
        and not any(pattern.match(line) for pattern in (_TAG, _DEFINITION, _LOOKS_LIKE_TAG))
    )


def _tag(reader: ColumnInput, number: int, match: re.Match[str]) -> None:
    elements: _Elements = reader.state
    closing, name, _, empty = match.groups()
    if name != reader.options.sentence_tag:
        if name == reader.options.document_tag:
            _document_tag(reader, number, match)
        elif not elements.document:
            # the attributes of the elements around a document are its metadata
            if closing and elements.around and elements.around[-1][0] == name:
                elements.around.pop()
            elif not closing and not empty:
                metadata = {**elements.attributes_around, **attributes(match[0])}
                if len(metadata) > max(AROUND, len(elements.attributes_around)):
                    problem = f"the open elements around documents have more than {AROUND} attribute names"
                    reader.refuse(number, problem, "close elements that have ended")
                elements.around.append((name, metadata))
    elif not closing and not empty:
        if elements.sentence:
            _complain(reader, number, f"<{name}> inside the sentence of line {elements.sentence}")
        elements.sentence = number
        reader.begin_sentence(match.string)
    elif closing and not elements.sentence:
        _complain(reader, number, f"</{name}> without <{name}> before it")
    elif closing:
        elements.sentence = 0
        reader.end_sentence()


def _document_tag(reader: ColumnInput, number: int, match: re.Match[str]) -> None:
    elements: _Elements = reader.state
    closing, name, _, empty = match.groups()
    if closing and not elements.document:
        _complain(reader, number, f"</{name}> without <{name}> before it")
        return
    if not closing and elements.document:
        _complain(reader, number, f"<{name}> inside the document of line {elements.document}")
    if elements.sentence:
        _complain(reader, number, f"<{closing}{name}> inside the sentence of line {elements.sentence}")
    if not closing:
        elements.document = number
        metadata = attributes(match[0])
        reader.begin_document(metadata.get("id"), {**elements.attributes_around, **metadata})
    if closing or empty:
        elements.document = 0
        reader.end_document()


def _oddity(reader: ColumnInput, number: int, match: re.Match[str]) -> None:
    """Pass over a line that is neither a tag nor a token, or refuse it."""
    line = match.string
    if line.startswith("<?") or (line.startswith("<!--") and line.rstrip().endswith("-->")):
        return
    if line.startswith("<!--"):
        _complain(reader, number, "the comment does not end on this line", "write it on one line")
        return
    if _DEFINITION.match(line):
        _complain(reader, number, "an XML document type definition (DTD) is not allowed", "remove it")
        return
    loose = _LOOKS_LIKE_TAG.match(line)
    if loose is None or loose[1] in (reader.options.document_tag, reader.options.sentence_tag):
        _complain(reader, number, "a malformed XML tag", 'write attributes as name="value"')


def _end(reader: ColumnInput) -> None:
    """Refuse elements that are open at the end of the file."""
    elements: _Elements = reader.state
    options = reader.options
    for tag, line in ((options.sentence_tag, elements.sentence), (options.document_tag, elements.document)):
        if line:
            _complain(reader, line, f"<{tag}> is not closed", "check whether the end of the file is missing")


def _complain(reader: ColumnInput, number: int, problem: str, advice: str | None = None) -> None:
    reader.complain(FormatError(problem, file=reader.file, line=number, advice=advice))


VRT = ColumnFormat(
    name="vrt",
    options=ColumnFormat.options | {"document_tag", "sentence_tag"},
    holds="vertical text (CWB): one token per line, columns separated by tabs, each XML tag on a line of its own; "
    "attributes are metadata",
    separator="\t",
    special=re.compile(r"^(?:<| *\n)", re.MULTILINE),
    marks=(LineRule(_TAG.pattern, _tag), LineRule("<", _oddity)),
    is_token=_is_token,
    sentence=_sentence,
    id_in=_id_in,
    blank_ends=False,
    entities=unescape,
    state=_Elements,
    at_end=_end,
)
