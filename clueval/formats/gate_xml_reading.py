"""GATE's XML documents: a text with numbered nodes, and named sets of annotations between them.

The rules of the format stand in ``formats.md``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from clueval.core.document import Document
from clueval.core.span import Span
from clueval.files.errors import FormatError
from clueval.formats.xml_text import EventReader

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
