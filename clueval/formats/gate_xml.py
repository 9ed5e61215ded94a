"""GATE's XML documents: a text with numbered nodes, and named sets of annotations between them.

A file is read, and annotation sets are added to it with everything else unchanged. The rules of the format stand in
``formats.md``.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from clueval.core.document import Document
from clueval.core.span import DEFAULT_LAYER, Span, name_of
from clueval.files.errors import FormatError, UsageError
from clueval.formats.documents import FileFormat
from clueval.formats.input_file import InputFile
from clueval.formats.options import EVERY_SET, FormatOptions, sets_error
from clueval.formats.reference import wide_characters
from clueval.formats.span_forms import LayerSpan, layers_of
from clueval.formats.xml_text import ESCAPES, EventReader, forbidden, quoted

_ONLY_DOCUMENT = "1"
"""The id of the document; a file holds one document without a name."""

_STRING = "java.lang.String"
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

# Reading

_ENCODING = r"""^(\s*<\?xml[^>]*?encoding\s*=\s*["'])([A-Za-z0-9._-]+)(?=["'])"""


def _decoded(data: bytes, file: str) -> str:
    """Return the content of a file in the encoding that it declares."""
    declared = re.match(_ENCODING.encode(), data.removeprefix(b"\xef\xbb\xbf"))
    encoding = declared[2].decode("ascii") if declared else "utf-8"
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
    try:
        return data.decode(encoding).removeprefix("\ufeff")
    except (UnicodeDecodeError, LookupError) as error:
        reason = getattr(error, "reason", "unknown")
        problem = f"the text is not in the encoding {encoding!r}: {reason}"
        raise FormatError(problem, file=file, advice="convert the file to UTF-8") from None


class _Annotation(NamedTuple):
    id: int | None
    type: str
    start: str
    end: str
    line: int
    features: dict[str, Any]


class _GateReader(EventReader):
    """Reads the content of one file. Indices of bytes are indices in `raw`.

    Raises `FormatError`, with file and line, for malformed XML and for elements that are not part of the format.

    Attributes:
        raw: the content as UTF-8.
        text, nodes: the text, and the positions of its nodes by id.
        sets, features: the annotations by set, and the features of the document.
        text_at, end_at: where <TextWithNodes> begins and ends, and where <GateDocument> ends.
    """

    def __init__(self, data: bytes, file: str) -> None:
        super().__init__(file, _ONLY_DOCUMENT)
        self.nodes: dict[str, int] = {}
        self.sets: dict[str, list[_Annotation]] = {}
        self.features: dict[str, Any] = {}
        self.text_at, self.end_at = (0, 0), 0
        self._pieces: list[str] = []
        self._length = 0
        self._content: list[str] = []  # of a name or a value
        self._set_annotations: list[_Annotation] = []  # of the set that is read
        self._name: str | None = None
        self._attributes: dict[str, str] = {}
        self._has_text = False
        content = _decoded(data, file)
        self.raw = content.encode("utf-8", "surrogatepass")
        self.read(content)
        if not self._has_text:
            raise FormatError("the document has no <TextWithNodes>", file=file, document=_ONLY_DOCUMENT)
        self.text = "".join(self._pieces)

    def layers(self) -> dict[str, list[LayerSpan]]:
        """Return the spans of each set, with their ids and in the order of the file.

        Raises `FormatError` for an annotation at a node that does not exist, or that ends before it starts.
        """
        return {name: list(self._spans_of(name)) for name in self.sets}

    def _spans_of(self, name: str) -> Iterator[LayerSpan]:
        ids: set[int] = set()
        for number, kind, start_node, end_node, line, features in self.sets[name]:
            start, end = self.nodes.get(start_node), self.nodes.get(end_node)
            if start is None or end is None:
                node = start_node if start is None else end_node
                problem = f"begins or ends at node {node!r}, which the text does not have"
            elif end < start:
                problem = "ends before it starts"
            elif number in ids:
                problem = f"has an id that another annotation of set {name!r} has"
            else:
                ids.update(() if number is None else (number,))
                yield ((start, end),), kind, (features, number, line)
                continue
            problem = f"annotation {number} {kind!r} {problem}"
            raise FormatError(problem, file=self._file, line=line, document=self._document)

    def document(self, layers: Mapping[str, Sequence[LayerSpan]]) -> Document:
        """Return the document with these layers."""
        return Document(
            _ONLY_DOCUMENT,
            layers_of(layers, ordered=True),
            text=self.text,
            unit="character",
            metadata={name: str(value) for name, value in self.features.items()},
            file=self._file,
            ordered=True,
        )

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
            if "id" not in attributes:
                self._refuse("a <Node> without id")
            if attributes["id"] in self.nodes:
                self._refuse(f"a second <Node> with the id {attributes['id']!r}")
            self.nodes[attributes["id"]] = self._length
        elif name == "TextWithNodes":
            if self._has_text:
                self._refuse("a second <TextWithNodes>")
            self._has_text = True
            self.text_at = (self._parser.CurrentByteIndex, 0)
        elif name == "AnnotationSet":
            set_name = attributes.get("Name", "")
            if set_name in self.sets:
                self._refuse(f"a second annotation set {set_name!r}")
            self._set_annotations = self.sets[set_name] = []
        elif name == "Annotation":
            number = attributes.get("Id")
            if number is not None and not re.fullmatch(r"-?[0-9]{1,18}", number):
                self._refuse(f"an annotation with the id {number[:40]!r}, which is not a number")
            for key in ("Type", "StartNode", "EndNode"):
                if not attributes.get(key):
                    self._refuse(f"annotation {number} has no {key}")
            kind, start, end = (attributes[key] for key in ("Type", "StartNode", "EndNode"))
            identifier = None if number is None else int(number)
            self._set_annotations.append(_Annotation(identifier, kind, start, end, self._line, {}))

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
            if self._name is None:
                self._refuse("a <Value> before its <Name>")
            holder = self._set_annotations[-1].features if self._path[-2] == "Annotation" else self.features
            holder[self._name] = self._value("".join(self._content))
            self._name = None
        elif name == "Feature" and self._name is not None:
            self._refuse(f"feature {self._name[:40]!r} has no <Value>")
        elif name == "TextWithNodes":
            # for an empty element, the index is that of its start
            closing = self.raw.index(b">", self._parser.CurrentByteIndex) + 1
            self.text_at = (self.text_at[0], closing)
        elif name == "GateDocument":
            self.end_at = self._parser.CurrentByteIndex

    def _value(self, text: str) -> Any:
        """Return the value of a feature, of the Java class that its attributes name."""
        kind, item = self._attributes.get("className", _STRING), self._attributes.get("itemClassName")
        if kind in _LISTS or item is not None:
            return [self._scalar(part, item or _STRING) for part in text.split(";") if part]
        return self._scalar(text, kind)

    def _scalar(self, text: str, kind: str) -> Any:
        if kind == "java.lang.Boolean":
            return text.strip().lower() == "true"
        if kind not in _WHOLE | _REAL:
            return text
        try:
            if "_" not in text:  # that is a number in Python, but not in Java
                return int(text) if kind in _WHOLE else float(text)
        except ValueError:
            pass
        whose = f" of annotation {self._set_annotations[-1].id}" if self._set_annotations else ""
        return self._refuse(
            f"feature {self._name!r}{whose} has the value {text[:40]!r}, which is not a {kind}"
        )


def _sets_of(file: InputFile) -> list[str]:
    return _sets_in(_GateReader(file.data(), file.name).layers())


def _sets_in(layers: Mapping[str, Sequence[LayerSpan]]) -> list[str]:
    """Return the names of annotation sets; the default set, ``""``, only if it has spans."""
    return [name for name, spans in layers.items() if name or spans]


def _read(file: InputFile, options: FormatOptions) -> Iterator[Document]:
    """Yield the document with the annotation set that is read as its only layer, or all sets as layers."""
    reader, name = _GateReader(file.data(), file.name), options.annotation_set
    layers = reader.layers()
    set_names = _sets_in(layers)
    if name is None and len(set_names) > 1:
        raise sets_error("the file has several annotation sets, but none is named", file.name, set_names)
    if name == EVERY_SET:
        yield reader.document(layers)
        return
    chosen = next(iter(set_names), "") if name is None else name
    if chosen not in layers and (name is not None or layers):
        raise sets_error(f"there is no annotation set {chosen!r}", file.name, set_names)
    yield reader.document({DEFAULT_LAYER: layers.get(chosen, [])})


# Sets that are added


def write_gate_xml(data: bytes, added: Mapping[str, Sequence[Span]], *, file: str) -> str:
    """Return the content of a file with further annotation sets and everything else unchanged.

    `added` maps the names of the new sets to their spans, in code points of the text. Their ids follow the
    highest id of the file; nodes are added where the text has none. Encode the result as UTF-8.

    Raises `FormatError` for a file that cannot be read, and `UsageError` for a set that the file has already, a span
    outside the text, and a feature whose value the format cannot represent.
    """
    reader = _GateReader(data, file)
    for name, spans in added.items():
        if name in reader.sets:
            raise UsageError(f"the document has an annotation set {name!r} already", file=file)
        for span in spans:
            if span.end > len(reader.text):
                problem = f"span {name_of(span)} of the new set {name!r} ends after the text"
                raise UsageError(problem, file=file)
    nodes = _Nodes(reader.text, reader.nodes)
    ids = [annotation.id or 0 for set_annotations in reader.sets.values() for annotation in set_annotations]
    sets = "".join(_written_sets(added, nodes, max(ids, default=-1) + 1, file))
    raw = reader.raw
    pieces = [raw[: reader.text_at[0]], raw[slice(*reader.text_at)], raw[reader.text_at[1] : reader.end_at]]
    if nodes.are_new:
        pieces[1] = f"<TextWithNodes>{''.join(nodes.written())}</TextWithNodes>".encode()
    whole = b"".join([*pieces, sets.encode(), raw[reader.end_at :]]).decode()
    return re.sub(_ENCODING, r"\1UTF-8", whole, count=1)


class _Nodes:
    """The nodes of a text by position, including added ones."""

    def __init__(self, text: str, nodes: dict[str, int]) -> None:
        self.are_new = False
        self._text = text
        self._names = {place: name for name, place in reversed(nodes.items())}
        self._all = [(place, name) for name, place in nodes.items()]
        self._node_names = set(nodes)
        self._astral = wide_characters(text)

    def at(self, place: int) -> str:
        """Return the name of the node at a position, or add a node, named by its UTF-16 position."""
        if place not in self._names:
            number = place + bisect_left(self._astral, place)
            while str(number) in self._node_names:
                number += len(self._text) + len(self._astral) + 1
            self._names[place] = name = str(number)
            self._node_names.add(name)
            self._all.append((place, name))
            self.are_new = True
        return self._names[place]

    def written(self) -> Iterator[str]:
        """Yield the parts of the escaped text with its nodes."""
        done = 0
        for place, name in sorted(self._all, key=lambda node: node[0]):
            yield self._text[done:place].translate(ESCAPES)
            yield f"<Node id={quoted(name)}/>"
            done = place
        yield self._text[done:].translate(ESCAPES)


def _written_sets(
    added: Mapping[str, Sequence[Span]], nodes: _Nodes, number: int, file: str
) -> Iterator[str]:
    """Yield the parts of the new sets, with nodes for their spans; ids count from `number`."""
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
    is_list = isinstance(value, list | tuple)
    items = [_written_scalar(item) for item in (value if is_list else [value])]
    kinds = {kind for kind, _ in items}
    if None in kinds or len(kinds) > 1 or (is_list and any(not text or ";" in text for _, text in items)):
        raise UsageError(
            f"feature {name!r} of span {name_of(span)} has a value that GATE XML cannot represent",
            file=file,
            advice="allowed: strings, numbers, truth values and lists of one of these",
        )
    text, kind = ";".join(text for _, text in items), next(iter(kinds), _STRING)
    classes = f'className="java.util.ArrayList" itemClassName="{kind}"' if is_list else f'className="{kind}"'
    _require_xml(name + text, file)
    return (
        f'<Feature>\n  <Name className="{_STRING}">{name.translate(ESCAPES)}</Name>\n'
        f"  <Value {classes}>{text.translate(ESCAPES)}</Value>\n</Feature>\n"
    )


def _written_scalar(value: object) -> tuple[str | None, str]:
    """Return the Java class of a value, None if it has none, and its text."""
    if isinstance(value, bool):
        return "java.lang.Boolean", str(value).lower()
    if isinstance(value, int):
        return f"java.lang.{'Integer' if -(2**31) <= value < 2**31 else 'Long'}", str(value)
    if isinstance(value, float):
        text = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}.get(repr(value), repr(value))
        return "java.lang.Double", text
    return _STRING if isinstance(value, str) else None, str(value)


def _require_xml(text: str, file: str) -> None:
    if (match := forbidden(text)) is not None:
        problem = f"the character U+{ord(match[0]):04X} in a name or value, which XML cannot contain"
        raise FormatError(problem, file=file)


GATE_XML = FileFormat(
    name="gate-xml",
    holds="GATE documents as XML: a text and named annotation sets",
    read=_read,
    is_one_document=True,
    sets=_sets_of,
    options=frozenset({"annotation_set"}),
    adds_sets=True,
)
