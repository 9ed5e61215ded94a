"""GATE's XML documents: a text with numbered nodes, and named sets of annotations between them.

A file is read, and annotation sets are added to it with everything else unchanged. The rules of the format stand in
``formats.md``.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from clueval.core.document import Document
from clueval.core.span import DEFAULT_LAYER, Span, name_of
from clueval.files.errors import FormatError, UsageError
from clueval.formats.file_format import FileFormat
from clueval.formats.input_file import InputFile
from clueval.formats.options import EVERY_SET, FormatOptions, sets_error
from clueval.formats.reference import wide_characters
from clueval.formats.xml_text import ESCAPES, EventReader, forbidden, quoted

_ONLY_DOCUMENT = "1"
"""The id of the document; a file holds one document without a name."""

STRING = "java.lang.String"
_WHOLE = {f"java.lang.{name}" for name in ("Integer", "Long", "Short", "Byte")} | {"java.math.BigInteger"}
_REAL = {"java.lang.Double", "java.lang.Float", "java.math.BigDecimal"}
_LISTS = {
    f"java.util.{name}"
    for name in ("ArrayList", "LinkedList", "List", "Vector", "HashSet", "TreeSet", "LinkedHashSet")
}

_PARENTS = {
    "GateDocument": (None,),
    "GateDocumentFeatures": ("GateDocument",),
    "TextWithNodes": ("GateDocument",),
    "AnnotationSet": ("GateDocument",),
    "RelationSet": ("GateDocument",),
    "Node": ("TextWithNodes",),
    "Annotation": ("AnnotationSet",),
    "Feature": ("GateDocumentFeatures", "Annotation"),
    "Name": ("Feature",),
    "Value": ("Feature",),
}
"""The allowed parents of each element; None is the top of the file."""

_DECLARED = rb"""^\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']"""


def read_gate_xml(data: bytes | str, *, file: str) -> Document:
    """Return the document in the content of a file: its text, each annotation set as a layer, its features.

    `file` is the name of the file in errors. Bytes are decoded in the encoding that the file declares.
    Annotations keep their ids and are in the order of the file.

    Raises `FormatError`, with file and line, for malformed XML and for elements that are not part of the
    format; with the id of the annotation, for an annotation at a node that does not exist, or that ends
    before it starts.

    >>> xml = ('<GateDocument><TextWithNodes><Node id="0"/>\U0001f600<Node id="2"/>Ada<Node id="5"/>'
    ...        '</TextWithNodes><AnnotationSet Name="Key"><Annotation Id="1" Type="Person" StartNode="2"'
    ...        ' EndNode="5"/></AnnotationSet></GateDocument>')
    >>> read_gate_xml(xml, file="d.xml").layers["Key"]
    (Span(start=1, end=4, labels={'Key': 'Person'}, id=1),)
    """
    reader = GateReader(decoded_gate_xml(data, file), file)
    return Document(
        _ONLY_DOCUMENT,
        {name: tuple(reader.spans_of(name)) for name in reader.sets},
        text=reader.text,
        unit="character",
        metadata={name: str(value) for name, value in reader.features.items()},
        file=file,
        ordered=True,
    )


def decoded_gate_xml(data: bytes | str, file: str) -> str:
    if isinstance(data, str):
        return data.removeprefix("\ufeff")
    declared = re.match(_DECLARED, data.removeprefix(b"\xef\xbb\xbf"))
    encoding = declared.group(1).decode("ascii") if declared else "utf-8"
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
    try:
        return data.decode(encoding).removeprefix("\ufeff")
    except (UnicodeDecodeError, LookupError) as error:
        raise FormatError(
            f"the text is not in the encoding {encoding!r}: {getattr(error, 'reason', 'unknown')}",
            file=file,
            advice="convert the file to UTF-8",
        ) from None


@dataclass(slots=True)
class _Annotation:
    id: int | None
    type: str
    start: str
    end: str
    line: int
    features: dict[str, Any] = field(default_factory=dict)


class GateReader(EventReader):
    """Handles the events of the XML parser. Indices of bytes are indices in the data as UTF-8."""

    def __init__(self, data: str, file: str) -> None:
        super().__init__(file, _ONLY_DOCUMENT)
        self.text = ""
        self.nodes: dict[str, int] = {}
        self.sets: dict[str, list[_Annotation]] = {}
        self.features: dict[str, Any] = {}
        self.text_at = (0, 0)
        self.end_at = 0
        self._pieces: list[str] = []
        self._length = 0
        self._content: list[str] = []
        self._own: list[_Annotation] = []
        self._name: str | None = None
        self._attributes: dict[str, str] = {}
        self._has_text = False
        self._raw = data.encode("utf-8", "surrogatepass")
        self.read(data)
        self.text = "".join(self._pieces)

    def spans_of(self, name: str) -> Iterator[Span]:
        """Yield the spans of one set, in the order of the file."""
        seen: set[int] = set()
        for annotation in self.sets[name]:
            start, end = (self._place(annotation, node) for node in (annotation.start, annotation.end))
            if end < start:
                self._complain(annotation, "ends before it starts")
            if annotation.id is not None:
                if annotation.id in seen:
                    self._complain(annotation, f"has an id that another annotation of set {name!r} has")
                seen.add(annotation.id)
            yield Span(
                start,
                end,
                {name: annotation.type},
                annotation.features,
                id=annotation.id,
                line=annotation.line,
            )

    def _place(self, annotation: _Annotation, node: str) -> int:
        if node not in self.nodes:
            self._complain(annotation, f"begins or ends at node {node!r}, which the text does not have")
        return self.nodes[node]

    def _complain(self, annotation: _Annotation, problem: str) -> NoReturn:
        raise FormatError(
            f"annotation {annotation.id} {annotation.type!r} {problem}",
            file=self._file,
            line=annotation.line,
            document=self._document,
        )

    def read(self, data: str) -> None:
        super().read(data)
        if not self._has_text:
            raise FormatError("the document has no <TextWithNodes>", file=self._file, document=self._document)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if "RelationSet" in self._path:
            return
        parent = self._path[-1] if self._path else None
        if parent not in _PARENTS.get(name, ()):
            where = f"in <{parent}>" if parent else "as the outermost element"
            self._refuse(f"an element <{name:.40}> {where}", "check that the file is a GATE XML document")
        if name in ("Name", "Value"):
            self._content, self._attributes = [], attributes
        elif name == "Node":
            self._node(attributes)
        elif name == "TextWithNodes":
            if self._has_text:
                self._refuse("a second <TextWithNodes>")
            self._has_text = True
            self.text_at = (self._parser.CurrentByteIndex, 0)
        elif name == "AnnotationSet":
            set_name = attributes.get("Name", "")
            if set_name in self.sets:
                self._refuse(f"a second annotation set {set_name!r}")
            self._own = self.sets[set_name] = []
        elif name == "Annotation":
            self._own.append(self._annotation(attributes))

    def _node(self, attributes: Mapping[str, str]) -> None:
        if "id" not in attributes:
            self._refuse("a <Node> without id")
        if attributes["id"] in self.nodes:
            self._refuse(f"a second <Node> with the id {attributes['id']!r}")
        self.nodes[attributes["id"]] = self._length

    def _annotation(self, attributes: Mapping[str, str]) -> _Annotation:
        number = attributes.get("Id")
        if number is not None and not re.fullmatch(r"-?[0-9]{1,18}", number):
            self._refuse(f"an annotation with the id {number[:40]!r}, which is not a number")
        for name in ("Type", "StartNode", "EndNode"):
            if not attributes.get(name):
                self._refuse(f"annotation {number} has no {name}")
        return _Annotation(
            None if number is None else int(number),
            attributes["Type"],
            attributes["StartNode"],
            attributes["EndNode"],
            self._line,
        )

    def _text(self, text: str) -> None:
        if not self._path or "RelationSet" in self._path:
            return
        if self._path[-1] == "TextWithNodes":
            self._pieces.append(text)
            self._length += len(text)
        elif self._path[-1] in ("Name", "Value"):
            self._content.append(text)
        elif text.strip():
            self._refuse(f"text in <{self._path[-1]}>")

    def _end(self, name: str) -> None:
        if "RelationSet" in self._path:
            return
        if name == "Name":
            self._name = "".join(self._content)
        elif name == "Value":
            self._feature("".join(self._content))
        elif name == "Feature" and self._name is not None:
            self._refuse(f"feature {self._name[:40]!r} has no <Value>")
        elif name == "TextWithNodes":
            # for an empty element, the index is that of its start
            closing = self._raw.index(b">", self._parser.CurrentByteIndex) + 1
            self.text_at = (self.text_at[0], closing)
        elif name == "GateDocument":
            self.end_at = self._parser.CurrentByteIndex

    def _feature(self, text: str) -> None:
        if self._name is None:
            self._refuse("a <Value> before its <Name>")
        holder = self._own[-1].features if self._path[-2] == "Annotation" else self.features
        holder[self._name] = self._value(text, self._attributes)
        self._name = None

    def _value(self, text: str, attributes: Mapping[str, str]) -> Any:
        kind, item = attributes.get("className", STRING), attributes.get("itemClassName")
        if kind in _LISTS or item is not None:
            return [self._scalar(part, item or STRING) for part in text.split(";") if part]
        return self._scalar(text, kind)

    def _scalar(self, text: str, kind: str) -> Any:
        try:
            if "_" in text and kind in _WHOLE | _REAL:
                raise ValueError  # a number in Python, but not in Java
            if kind in _WHOLE:
                return int(text)
            if kind in _REAL:
                return float(text)
        except ValueError:
            whose = f" of annotation {self._own[-1].id}" if self._own else ""
            self._refuse(f"feature {self._name!r}{whose} has the value {text[:40]!r}, which is not a {kind}")
        if kind == "java.lang.Boolean":
            return text.strip().lower() == "true"
        return text


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
    adds_sets=True,
)
