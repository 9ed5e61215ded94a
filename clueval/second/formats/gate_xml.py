"""GATE's XML documents: which annotation set is read, and how sets are added."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from clueval.core.document import Document
from clueval.core.span import DEFAULT_LAYER
from clueval.second.formats.file_format import FileFormat
from clueval.second.formats.gate_xml_reading import read_gate_xml
from clueval.second.formats.gate_xml_writing import write_gate_xml
from clueval.second.formats.head import begins_with
from clueval.second.formats.input_file import InputFile
from clueval.second.formats.options import EVERY_SET, FormatOptions, sets_error


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


GATE_XML = FileFormat(
    name="gate-xml",
    holds="GATE documents as XML: a text and named annotation sets",
    sign="`<GateDocument`",
    told=begins_with("<GateDocument"),
    read=_read,
    single=True,
    sets=True,
    layers=False,
    add_sets=lambda file, added: write_gate_xml(file.data(), added, file=file.name),
)
