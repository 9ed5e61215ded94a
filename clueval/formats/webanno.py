"""WebAnno TSV 3, the table that WebAnno and INCEpTION export.

The rules of the format stand in ``formats.md``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clueval.core.document import Document, Sentence
from clueval.core.span import DEFAULT_LAYER, NO_LABEL, Frozen, Span
from clueval.files.errors import FormatError, SpanError, UsageError
from clueval.files.limits import sentence_too_long
from clueval.formats.file_format import FileFormat
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions
from clueval.formats.reference import places
from clueval.formats.uima_types import writer
from clueval.formats.webanno_writing import ESCAPED, VERSION, fit_to_webanno, webanno_of

_HEADS = {"#T_SP=": "span", "#T_RL=": "relation", "#T_CH=": "chain"}
_STACKED = re.compile(r"(?:\\.|[^\\|])+")
_VALUE = re.compile(r"((?:\\.|[^\\])*?)(?:\[(\d+)\])?", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)")
_ROWS = re.compile(
    r"^[0-9]++-[0-9]++(?>(?:\.[0-9]++)?)\t([0-9]{1,18}+)-([0-9]{1,18}+)\t([^\t\n]*+)(.*+)\n", re.MULTILINE
)
_PART = re.compile(r"(?P<comment>#.*)\n|(?P<blank>[ \t]*)\n|(?P<rows>(?:(?!#|[ \t]*\n).*\n)+)")
"""A comment, a blank line, or lines with rows."""

_PASSED_OVER = {"relation": "relations", "chain": "chain links", "slot": "slots"}
_SLOT, _BASE = "ROLE_", "BT_"


class AnnotationLayer(NamedTuple):
    """A layer of the head: its kind, its name, the items after the name and the number of its first column."""

    kind: str
    name: str
    items: tuple[str, ...]
    column: int

    @property
    def short(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def width(self) -> int:
        """The number of columns: one for each item, the source of relations, and at least one."""
        has_source = self.kind != "relation" or any(item.startswith(_BASE) for item in self.items)
        return max(1, len(self.items) + (not has_source))

    @property
    def slots(self) -> list[int]:
        """The numbers of the items that are slots; each is followed by its target."""
        return [number for number, item in enumerate(self.items) if item.startswith(_SLOT)]

    @property
    def features(self) -> dict[str, int]:
        """The names of the features and their columns within the layer."""
        others = {place for slot in self.slots for place in (slot, slot + 1)}
        return {item: number for number, item in enumerate(self.items) if number not in others}


class _Chosen(NamedTuple):
    """The source of a layer of the document: an annotation layer, one of its features (None: no label), its columns."""

    source: AnnotationLayer
    feature: str | None
    columns: slice


class _Piece(NamedTuple):
    """One annotation in one row: its range, its number if it has one, its values and its line."""

    start: int
    end: int
    number: str | None
    values: tuple[str | None, ...]
    line: int


class _SentenceText:
    """The text of a sentence, and where it begins, in UTF-16 units and in code points."""

    def __init__(self, text: str, units: int, points: int) -> None:
        self.text, self.units, self.points = text, units, points
        self.end = units + _units(text), points + len(text)
        self._place = places(text, "utf16")

    def points_of(self, units: Iterable[int]) -> list[int | None]:
        """Return the positions of offsets; None for one outside the sentence or within a character."""
        last, first, place = self.end[0], self.units, self._place
        within = [place(unit - first) if first <= unit <= last else None for unit in units]
        return [None if point is None else self.points + point for point in within]


def _units(text: str) -> int:
    """Return the length of a text in UTF-16."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


class _WebAnnoReader:
    def __init__(self, file: InputFile, options: FormatOptions) -> None:
        self._input, self._file, self._options = file, file.name, options
        self._layers: list[AnnotationLayer] = []
        self._width = 3
        self._chosen: dict[str, _Chosen] | None = None
        self._pieces: dict[str, list[_Piece]] = {}
        self._links: set[str] = set()
        self._texts: list[str] = []  # the lines of the sentence whose first token has not come
        self._here: _SentenceText | None = None
        self._parts: list[str] = []
        self._first_row = self._rows = 0
        self._counted: set[tuple[str, str | None]] = set()
        self.sentences: list[Sentence] = []

    def read(self) -> Document:
        for number, text in self._input.blocks():
            if number == 1 and not text.startswith(VERSION):
                raise self._version(text)
            for part in _PART.finditer(text):
                if part["rows"] is not None:
                    self._see_rows(number, part["rows"])
                elif part["comment"] is not None:
                    self._see_comment(number, part["comment"])
                else:
                    self._rows = 0
                number += part[0].count("\n")
        if self._texts:
            self._begin(None, 0, None)
        if self._chosen is None:
            self._chosen = self._sources()
        spans: dict[str, list[Span]] = {layer: [] for layer in self._options.layers or [DEFAULT_LAYER]}
        spans |= {layer: _spans(layer, chosen, self._pieces[layer]) for layer, chosen in self._chosen.items()}
        return Document(
            self._input.stem,
            Frozen(spans),
            text="".join(self._parts),
            unit="character",
            sentences=self.sentences,
            file=self._file,
        )

    def _version(self, line: str) -> FormatError:
        old = "version 1 or 2 of WebAnno TSV" if line.startswith("#") else "not WebAnno TSV 3"
        return FormatError(
            f"{old}: the first line is not {VERSION}",
            file=self._file,
            line=1,
            advice="export it as WebAnno TSV 3",
        )

    def _see_comment(self, number: int, line: str) -> None:
        if line.startswith("#Text="):
            self._texts.append(unescaped(line.removeprefix("#Text=")))
        elif line.startswith("#id="):
            raise FormatError(
                "version 1 or 2 of WebAnno TSV", file=self._file, line=number, advice="export version 3"
            )
        elif kind := _HEADS.get(line[:6]):
            name, *items = line[6:].split("|")
            layer = AnnotationLayer(kind, name, tuple(filter(None, items)), self._width)
            self._layers.append(layer)
            self._width += layer.width

    def _see_rows(self, number: int, run: str) -> None:
        self._first_row = self._first_row if self._rows else number
        self._rows += run.count("\n")
        if self._rows > self._input.limits.max_sentence:
            raise sentence_too_long(self._file, self._first_row, self._input.limits.max_sentence)
        rows = _ROWS.findall(run)
        if len(rows) != run.count("\n"):
            fit = [_ROWS.fullmatch(f"{line}\n") is not None for line in run[:-1].split("\n")]
            problem = "the row does not begin with a number, offsets and a token"
            raise self._wrong(number + fit.index(False), problem, "1-1, 0-4, token")
        self._require_sources()
        units, past, texts, values = zip(*rows, strict=True)
        annotated = {
            place: self._fields(rows[place], number + place)
            for place, fields in enumerate(values)
            if fields not in self._blank
        }
        tokens = list(map(unescaped, texts) if "\\" in run else texts)
        if self._texts:
            self._begin(tokens[0], int(units[0]), number)
        if self._here is None:
            raise self._wrong(number, "a row before any #Text=")
        starts, ends = self._here.points_of(map(int, units)), self._here.points_of(map(int, past))
        first, text = self._here.points, self._here.text
        for place, (start, end, token) in enumerate(zip(starts, ends, tokens, strict=True)):
            if start is None or end is None or end < start:
                problem = f"the offsets {units[place]}-{past[place]} lie outside the sentence"
                raise SpanError(problem, file=self._file, line=number + place)
            if text[start - first : end - first] != token:
                problem = f"the token at {units[place]}-{past[place]} is not in the sentence there"
                raise self._wrong(number + place, problem)
            if place in annotated:
                self._see(annotated[place], start, end, number + place)

    def _require_sources(self) -> None:
        if self._chosen is None:
            self._chosen = self._sources()
            self._pieces = {layer: [] for layer in self._chosen}
            nothing = "\t_" * (self._width - 3)
            self._blank = (nothing, f"{nothing}\t")
            self._others = [layer for layer in self._layers if layer.kind != "span" or layer.slots]
            read = {chosen.source for chosen in self._chosen.values()}
            self._unread = [
                layer
                for layer in self._layers
                if self._options.layers is None and layer.kind == "span" and layer not in read
            ]

    def _fields(self, row: tuple[str, ...], number: int) -> list[str]:
        """Return the fields of a row, of which the first three are not used."""
        fields = ["", "", *row[3].split("\t")]
        if len(fields) > self._width and not fields[-1]:
            fields.pop()
        if len(fields) != self._width:
            problem = f"the row has {len(fields)} columns, the layers of the head {self._width}"
            raise self._wrong(number, problem)
        return fields

    def _begin(self, token: str | None, offset: int, line: int | None) -> None:
        """Begin the sentence of the waiting lines, of which `token` is the first token, at this offset."""
        text, self._texts = "\n".join(self._texts), []
        units, points = (0, 0) if self._here is None else self._here.end
        place = max(text.find(token), 0) if token is not None else 0
        before = _units(text[:place])
        gap = offset - before - units if token is not None else int(self._here is not None)
        if gap < 0:
            raise self._wrong(line, f"the sentence at offset {offset - before} overlaps the one before it")
        if gap > self._input.limits.max_line:
            raise self._wrong(line, f"a gap of {gap:,} characters before offset {offset}")
        self._parts += ["\n" + " " * (gap - 1) if gap else "", text]
        self._here = _SentenceText(text, units + gap, points + gap)
        self.sentences.append(Sentence(self._here.points, self._here.end[1]))

    def _see(self, fields: Sequence[str], start: int, end: int, line: int) -> None:
        assert self._chosen is not None
        for layer in self._others:
            self._pass_over(layer, fields)
        for layer in self._unread:
            self._count(layer, fields[layer.column])
        for name, chosen in self._chosen.items():
            columns = fields[chosen.columns]
            if columns[0] == "_" and set(columns) == {"_"}:
                continue
            stacks = list(map(_stacked, columns))
            if len(set(map(len, stacks))) != 1:
                raise self._wrong(
                    line, f"the columns of {chosen.source.short} have different numbers of annotations"
                )
            for annotation in zip(*stacks, strict=True):
                values, numbers = zip(*annotation, strict=True)
                number = next(filter(None, numbers), None)
                self._pieces[name].append(_Piece(start, end, number, values, line))

    def _pass_over(self, layer: AnnotationLayer, fields: Sequence[str]) -> None:
        """Count relations, chain links and slots of a row."""
        count = self._input.passed_over
        last = fields[layer.column + layer.width - 1]
        if layer.kind == "relation" and last != "_":
            count[_PASSED_OVER["relation"]] += len(_STACKED.findall(last))
        elif layer.kind == "chain":
            for value in _STACKED.findall(fields[layer.column]):
                link = f"{layer.name} {value.rpartition('->')[2]}"
                if "->" in value and link not in self._links:
                    self._links.add(link)
                    count[_PASSED_OVER["chain"]] += 1
        for slot in layer.slots if layer.kind == "span" else ():
            targets = fields[layer.column + slot + 1]
            count[_PASSED_OVER["slot"]] += sum(
                target not in ("_", "*") for stack in _STACKED.findall(targets) for target in stack.split(";")
            )

    def _count(self, layer: AnnotationLayer, field: str) -> None:
        """Count the spans of a layer that is not read; those of several rows have a number."""
        for _, number in _stacked(field) if field != "_" else ():
            if number is None or (layer.name, number) not in self._counted:
                self._input.passed_over[f"spans of {layer.short}"] += 1
                self._counted.add((layer.name, number))

    def _sources(self) -> dict[str, _Chosen]:
        """Return the source of each layer of the document. Raises `UsageError` if there is none."""
        spans = [layer for layer in self._layers if layer.kind == "span"]
        known = [f"{layer.short}.{name}" for layer in spans for name in layer.features]
        known = known or [layer.short for layer in spans]
        if not self._layers or not (spans or self._options.layers):
            return {}
        wanted = self._options.layers or {DEFAULT_LAYER: self._default(spans, known)}
        found = {layer: _chosen(str(source), spans) for layer, source in wanted.items()}
        for layer, chosen in found.items():
            if chosen is None:
                raise UsageError(
                    f"the file has no source {wanted[layer]!r} for layer {layer!r}",
                    file=self._file,
                    advice=f"its sources: {', '.join(known) or 'none'}{self._not_read()}",
                )
        self._pieces = {layer: [] for layer in found}
        return {layer: chosen for layer, chosen in found.items() if chosen is not None}

    def _default(self, spans: Sequence[AnnotationLayer], known: Sequence[str]) -> str:
        if any(layer.short == "NamedEntity" and "value" in layer.features for layer in spans):
            return "NamedEntity.value"
        if len(spans) == 1:
            (layer,) = spans
            return ".".join(
                [layer.short, *(["value"] if "value" in layer.features else list(layer.features)[:1])]
            )
        raise UsageError(
            f"the file has {len(spans)} layers of spans",
            file=self._file,
            advice=f"name a source, as in layers={ {DEFAULT_LAYER: known[0]} }; its sources: {', '.join(known)}"
            if known
            else f"only layers of spans are read{self._not_read()}",
        )

    def _not_read(self) -> str:
        """Return which layers cannot be sources, as the end of a message."""
        others = ", ".join(f"{layer.short} ({layer.kind}s)" for layer in self._layers if layer.kind != "span")
        return f"; not read: {others}" if others else ""

    def _wrong(self, line: int | None, problem: str, advice: str | None = None) -> FormatError:
        return FormatError(problem, file=self._file, line=line, advice=advice)


def _chosen(source: str, spans: Sequence[AnnotationLayer]) -> _Chosen | None:
    """Return the layer and the feature that a source names; None if there are none."""
    for layer in spans:
        columns = slice(layer.column, layer.column + layer.width)
        for name in (layer.name, layer.short):
            if source == name:
                feature = next(iter(layer.features)) if len(layer.features) == 1 else None
                return _Chosen(layer, feature, columns)
            if source.startswith(f"{name}.") and source.removeprefix(f"{name}.") in layer.features:
                return _Chosen(layer, source.removeprefix(f"{name}."), columns)
            if source.startswith(f"{name}.") and not layer.items:  # a feature without values has no column
                return _Chosen(layer, None, columns)
    return None


def _spans(layer: str, chosen: _Chosen, pieces: Sequence[_Piece]) -> list[Span]:
    """Return the spans of the pieces; pieces with the same number are one span."""
    joined: dict[object, _Piece] = {}
    for place, piece in enumerate(pieces):
        key = piece.number if piece.number is not None else place
        if (first := joined.get(key)) is not None:
            piece = first._replace(start=min(first.start, piece.start), end=max(first.end, piece.end))
        joined[key] = piece
    places = chosen.source.features
    of_label = None if chosen.feature is None else places.pop(chosen.feature)
    found = []
    for start, end, _, values, line in joined.values():
        label = None if of_label is None else values[of_label]
        features = {name: value for name, place in places.items() if (value := values[place]) is not None}
        found.append(Span(start, end, Frozen({layer: label or NO_LABEL}), features, line=line))
    return sorted(found, key=lambda span: (span.start, -span.end))


def _stacked(field: str) -> list[tuple[str | None, str | None]]:
    """Return the values of the annotations in a field."""
    return list(map(_value, _STACKED.findall(field)))


def _value(text: str) -> tuple[str | None, str | None]:
    """Return the value of an annotation, None if it has none, and its number.

    >>> _value("PER[7]"), _value("*[2]"), _value(r"a\\[1\\]")
    (('PER', '7'), (None, '2'), ('a[1]', None))
    """
    found = _VALUE.fullmatch(text)
    if found is None:  # a backslash at the end
        return text, None
    return None if found[1] in ("*", "_") else unescaped(found[1]), found[2]


def unescaped(text: str) -> str:
    """Return the text without escapes; ``\\t``, ``\\n`` and ``\\r`` are characters, any other character is itself."""
    return _ESCAPE.sub(lambda match: ESCAPED.get(match[1], match[1]), text) if "\\" in text else text


WEBANNO = FileFormat(
    name="webanno",
    holds="WebAnno TSV 3: sentences after `#Text=`, a row for each token, and the layers that `#T_SP=` names",
    read=lambda file, options: iter([_WebAnnoReader(file, options).read()]),
    single=True,
    writer=lambda types: writer(types, ".tsv", webanno_of, fit_to_webanno, empty=f"{VERSION}.3\n"),
)
