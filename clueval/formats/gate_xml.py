"""GATE's XML documents: which annotation set is read, and how sets are added, with everything else unchanged."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from clueval.core.document import Document
from clueval.core.span import DEFAULT_LAYER, Span, name_of
from clueval.files.errors import FormatError, UsageError
from clueval.formats.file_format import FileFormat
from clueval.formats.gate_xml_reading import STRING, GateReader, decoded_gate_xml, read_gate_xml
from clueval.formats.input_file import InputFile
from clueval.formats.options import EVERY_SET, FormatOptions, sets_error
from clueval.formats.reference import wide_characters
from clueval.formats.xml_text import ESCAPES, forbidden, quoted


def sets_in(document: Document) -> list[str]:
    """Return the names of the annotation sets of a document; the default set, ``""``, only if it has spans."""
    return [name for name, spans in document.layers.items() if name or spans]


def of_set(document: Document, name: str | None) -> Document:
    """Return a document with the annotation set `name` as its only layer; `EVERY_SET`: all sets are layers.

    Raises `UsageError` for a set that the document does not have, and for several sets of which none is named.
    """
    if name == EVERY_SET:
        return document
    known = sets_in(document)
    if name is None and len(known) > 1:
        raise sets_error("the file has several annotation sets, but none is named", document.file, known)
    chosen = next(iter(known), "") if name is None else name
    if chosen not in document.layers and (name is not None or document.layers):
        raise sets_error(f"there is no annotation set {chosen!r}", document.file, known)
    spans = [replace(span, labels={DEFAULT_LAYER: span.label}) for span in document.layers.get(chosen, ())]
    return replace(document, layers={DEFAULT_LAYER: spans})


def _read(file: InputFile, options: FormatOptions) -> Iterator[Document]:
    yield of_set(read_gate_xml(file.data(), file=file.name), options.annotation_set)


# Sets that are added

_DECLARATION = r"""^(\s*<\?xml[^>]*?encoding\s*=\s*["'])[A-Za-z0-9._-]+"""


def write_gate_xml(data: bytes | str, added: Mapping[str, Sequence[Span]], *, file: str) -> str:
    """Return the content of a file with further annotation sets and everything else unchanged.

    `added` maps the names of the new sets to their spans, in code points of the text. Their ids follow the
    highest id of the file; nodes are added where the text has none. Encode the result as UTF-8.

    Raises the `FormatError` of `read_gate_xml`, and `UsageError` for a set that the file has already, a span
    outside the text, and a feature whose value the format cannot represent.
    """
    text = decoded_gate_xml(data, file)
    reader = GateReader(text, file)
    for name, spans in added.items():
        if name in reader.sets:
            raise UsageError(f"the document has an annotation set {name!r} already", file=file)
        for span in spans:
            if span.end > len(reader.text):
                raise UsageError(
                    f"span {name_of(span)} of the new set {name!r} ends after the text", file=file
                )
    nodes = TextNodes(reader.text, reader.nodes)
    known = [annotation.id or 0 for own in reader.sets.values() for annotation in own]
    sets = "".join(written_sets(added, nodes, max(known, default=-1) + 1, file))
    raw = text.encode()
    pieces = [raw[: reader.text_at[0]], raw[slice(*reader.text_at)], raw[reader.text_at[1] : reader.end_at]]
    if nodes.new:
        pieces[1] = f"<TextWithNodes>{''.join(nodes.written())}</TextWithNodes>".encode()
    whole = b"".join([*pieces, sets.encode(), raw[reader.end_at :]]).decode()
    return re.sub(_DECLARATION, r"\1UTF-8", whole, count=1)


class TextNodes:
    """The nodes of a text by position, including added ones."""

    def __init__(self, text: str, nodes: dict[str, int]) -> None:
        self.new = False
        self._text = text
        self._names = {place: name for name, place in reversed(nodes.items())}
        self._all = [(place, name) for name, place in nodes.items()]
        self._taken = set(nodes)
        self._astral = wide_characters(text)

    def at(self, place: int) -> str:
        """Return the name of the node at a position, or add a node, named by its UTF-16 position."""
        if place not in self._names:
            number = place + bisect_left(self._astral, place)
            while str(number) in self._taken:
                number += len(self._text) + len(self._astral) + 1
            self._names[place] = name = str(number)
            self._taken.add(name)
            self._all.append((place, name))
            self.new = True
        return self._names[place]

    def written(self) -> Iterator[str]:
        """Yield the parts of the escaped text with its nodes."""
        done = 0
        for place, name in sorted(self._all, key=lambda node: node[0]):
            yield self._text[done:place].translate(ESCAPES)
            yield f"<Node id={quoted(name)}/>"
            done = place
        yield self._text[done:].translate(ESCAPES)


def written_sets(
    added: Mapping[str, Sequence[Span]], nodes: TextNodes, number: int, file: str
) -> Iterator[str]:
    """Yield the parts of the new sets, with nodes for their spans; ids count from `number`.

    Raises `UsageError` for a feature whose value the format cannot represent.
    """
    for name, spans in added.items():
        _require_xml(name, file)
        yield f"<AnnotationSet Name={quoted(name)}>\n" if name else "<AnnotationSet>\n"
        for span in spans:
            _require_xml(span.label, file)
            yield (
                f'<Annotation Id="{number}" Type={quoted(span.label)} '
                f'StartNode="{nodes.at(span.start)}" EndNode="{nodes.at(span.end)}">\n'
            )
            for feature, value in span.features.items():
                if value is not None:
                    yield _written_feature(feature, value, span, file)
            yield "</Annotation>\n"
            number += 1
        yield "</AnnotationSet>\n"


def _written_feature(name: str, value: Any, span: Span, file: str) -> str:
    items = value if isinstance(value, list | tuple) else [value]
    kinds = {_class_of(item) for item in items}
    text = ";".join(_plain(item) for item in items)
    is_list = items is value
    if None in kinds or len(kinds) > 1 or (is_list and any(not _plain(i) or ";" in _plain(i) for i in items)):
        raise UsageError(
            f"feature {name!r} of span {name_of(span)} has a value that GATE XML cannot represent",
            file=file,
            advice="allowed: strings, numbers, truth values and lists of one of these; or write bdoc",
        )
    kind = next(iter(kinds), STRING)
    classes = f'className="java.util.ArrayList" itemClassName="{kind}"' if is_list else f'className="{kind}"'
    _require_xml(name + text, file)
    return (
        f'<Feature>\n  <Name className="{STRING}">{name.translate(ESCAPES)}</Name>\n'
        f"  <Value {classes}>{text.translate(ESCAPES)}</Value>\n</Feature>\n"
    )


def _class_of(value: object) -> str | None:
    if isinstance(value, bool):
        return "java.lang.Boolean"
    if isinstance(value, int):
        return "java.lang.Integer" if -(2**31) <= value < 2**31 else "java.lang.Long"
    if isinstance(value, float):
        return "java.lang.Double"
    return STRING if isinstance(value, str) else None


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(repr(value), repr(value))
    return str(value)


def _require_xml(text: str, file: str) -> None:
    found = forbidden(text)
    if found:
        raise FormatError(
            f"the character U+{ord(found.group()):04X} in a name or value, which XML cannot contain",
            file=file,
        )


GATE_XML = FileFormat(
    name="gate-xml",
    holds="GATE documents as XML: a text and named annotation sets",
    read=_read,
    single=True,
    sets=lambda file: sets_in(read_gate_xml(file.data(), file=file.name)),
    options=frozenset({"annotation_set"}),
    add_sets=lambda file, added: write_gate_xml(file.data(), added, file=file.name),
)
