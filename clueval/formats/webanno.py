"""WebAnno TSV 3, the table that WebAnno and INCEpTION export.

A file that is written has one document. Its sentences are those of the document, or else its lines, and begin at their
first token; tokens are those of the document, or words and single marks. Types must exist in the project. The rules of
the format stand in ``formats.md``.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, chain, compress, count
from operator import attrgetter, not_
from typing import Any, NamedTuple, NoReturn

from clueval.core.alignment import words_in
from clueval.core.document import Document, Sentence, require_short_texts
from clueval.core.span import DEFAULT_LAYER, NO_LABEL, Frozen, Span
from clueval.files.errors import FormatError, SpanError, UsageError, with_noun
from clueval.files.opening import sentence_too_long
from clueval.formats.documents import FileFormat
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions
from clueval.formats.reference import places, wide_characters
from clueval.formats.uima_types import (
    UimaType,
    token_ranges,
    types_of,
    values_of,
    whole_tokens,
    with_texts,
    writer,
)
from clueval.formats.writer import EDGES, in_lines, range_without_edges

VERSION = "#FORMAT=WebAnno TSV 3"
"""The beginning of a file, whatever the minor version."""

_HEADS = {"#T_SP=": "span", "#T_RL=": "relation", "#T_CH=": "chain"}
_SLOT, _BASE = "ROLE_", "BT_"
_STACKED = re.compile(r"(?:\\.|[^\\|])+")
_VALUE = re.compile(r"((?:\\.|[^\\])*?)(?:\[(\d+)\])?", re.DOTALL)
_ROWS = re.compile(
    r"^[0-9]++-[0-9]++((?>(?:\.[0-9]++)?))\t([0-9]{1,18}+)-([0-9]{1,18}+)\t([^\t\n]*+)(.*+)\n", re.MULTILINE
)
_PART = re.compile(r"(?P<comment>#.*)\n|(?P<blank>[ \t]*)\n|(?P<rows>(?:(?!#|[ \t]*\n).*\n)+)")
"""A comment, a blank line, or lines with rows."""

_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"t": "\t", "n": "\n", "r": "\r"}
_IN_TEXTS = str.maketrans({"\\": r"\\", **{mark: f"\\{name}" for name, mark in _ESCAPED.items()}})
_IN_VALUES = {**_IN_TEXTS, **str.maketrans({mark: f"\\{mark}" for mark in "[]|_;*"})}


def _unescaped(text: str) -> str:
    """Return the text without escapes; ``\\t``, ``\\n`` and ``\\r`` are characters, any other character is itself."""
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), text) if "\\" in text else text


def _values_in(field: str) -> list[tuple[str | None, str | None]]:
    """Return the values of the annotations in a field, None for one that has none, and their numbers.

    >>> _values_in(r"PER[7]|*[2]|a\\[1\\]")
    [('PER', '7'), (None, '2'), ('a[1]', None)]
    """
    values: list[tuple[str | None, str | None]] = []
    for text in _STACKED.findall(field):
        match = _VALUE.fullmatch(text)
        if match is None:  # a backslash at the end
            values.append((text, None))
        else:
            values.append((None if match[1] in ("*", "_") else _unescaped(match[1]), match[2]))
    return values


# Reading


class _HeadLayer:
    """A layer of the head: its kind and names, and its columns from `column` on.

    It has one column for each feature and slot, one for the source of a relation, and at least one; a slot is followed
    by its target. `features` and `slots` count from `column`.
    """

    def __init__(self, kind: str, line: str, column: int) -> None:
        self.name, *rest = line.split("|")
        self.kind, self.short, self.column = kind, self.name.rpartition(".")[2], column
        items = list(filter(None, rest))
        self.slots = [place for place, item in enumerate(items) if item.startswith(_SLOT)]
        slot_places = {place for slot in self.slots for place in (slot, slot + 1)}
        self.features = {item: place for place, item in enumerate(items) if place not in slot_places}
        lacks_source = kind == "relation" and not any(item.startswith(_BASE) for item in items)
        self.lacks_target = any(slot + 1 == len(items) for slot in self.slots)
        self.has_items, self.width = bool(items), max(1, len(items) + lacks_source)

    def cells(self, fields: Sequence[str]) -> Sequence[str]:
        """Return the fields of the layer in a row."""
        return fields[self.column : self.column + self.width]


class _LayerOfFile:
    """The annotations of one layer of the document, and their source; `feature` has the label, None: there is none."""

    def __init__(self, source: _HeadLayer, feature: str | None) -> None:
        self.source, self.feature = source, feature
        self._annotations: dict[object, tuple[Any, ...]] = {}  # start, end, values and line, by number

    def see(self, fields: Sequence[str], start: int, end: int, line: int) -> bool:
        """Take the annotations of a row; return whether all columns have equally many. Rows with a number are one."""
        cells = self.source.cells(fields)
        if cells[0] == "_" and set(cells) == {"_"}:
            return True
        stacks = list(map(_values_in, cells))
        if len(set(map(len, stacks))) != 1:
            return False
        for annotation in zip(*stacks, strict=True):
            values, numbers = zip(*annotation, strict=True)
            key = next(filter(None, numbers), None) or len(self._annotations)
            first, last, *rest = self._annotations.get(key, (start, end, values, line))
            self._annotations[key] = min(first, start), max(last, end), *rest
        return True

    def spans(self, layer: str) -> list[Span]:
        spans = []
        for start, end, values, line in self._annotations.values():
            by_name = {name: values[place] for name, place in self.source.features.items()}
            label = None if self.feature is None else by_name.pop(self.feature)
            features = {name: value for name, value in by_name.items() if value is not None}
            spans.append(Span(start, end, Frozen({layer: label or NO_LABEL}), features, line=line))
        return sorted(spans, key=lambda span: (span.start, -span.end))


class _WebAnnoReader:
    """Reads one file. Positions in it are UTF-16 units; `_units` and `_points` are the ends of the text so far."""

    def __init__(self, file: InputFile, options: FormatOptions) -> None:
        self._file, self._options = file, options
        self._head: list[_HeadLayer] = []
        self._width = 3
        self._layers: dict[str, _LayerOfFile] | None = None
        self._counted: set[tuple[str, str | None]] = set()  # chain links and numbered spans that are not read
        self._waiting: list[str] = []  # the lines of the sentence whose first token has not come
        self._parts: list[str] = []
        self._units = self._points = 0
        self._first_row = self._rows = 0
        self._sentences: list[Sentence] = []
        self._tokens: list[str] = []

    def read(self) -> Document:
        for number, text in self._file.blocks():
            if number == 1 and not text.startswith(VERSION):
                old = "version 1 or 2 of WebAnno TSV" if text.startswith("#") else "not WebAnno TSV 3"
                self._refuse(1, f"{old}: the first line is not {VERSION}", "export it as WebAnno TSV 3")
            if number == 1 and "#" in text.partition("\n")[0].removeprefix(VERSION):
                self._refuse(
                    1, "the first line has more than the format: line breaks are lost", "export it anew"
                )
            for part in _PART.finditer(text):
                if part["rows"] is not None:
                    self._read_rows(number, part["rows"])
                elif (comment := part["comment"]) is None:
                    self._rows = 0
                elif comment.startswith("#Text="):
                    self._waiting.append(_unescaped(comment.removeprefix("#Text=")))
                elif comment.startswith("#id="):
                    self._refuse(number, "version 1 or 2 of WebAnno TSV", "export version 3")
                elif kind := _HEADS.get(comment[:6]):
                    layer = _HeadLayer(kind, comment[6:], self._width)
                    if layer.lacks_target:
                        self._refuse(
                            number, f"a slot of {layer.short} lacks its target", f"{_SLOT}NAME|TARGET"
                        )
                    self._head.append(layer)
                    self._width += layer.width
                number += part[0].count("\n")
        if self._waiting:
            self._begin_sentence(None, 0, None)
        layers = self._layers if self._layers is not None else self._sources()
        spans: dict[str, list[Span]] = {layer: [] for layer in self._options.layers or [DEFAULT_LAYER]}
        spans |= {layer: chosen.spans(layer) for layer, chosen in layers.items()}
        whole_text = "".join(self._parts)
        return Document(
            self._file.stem,
            Frozen(spans),
            tokens=whole_tokens(self._tokens, whole_text),
            text=whole_text,
            unit="character",
            sentences=self._sentences,
            file=self._file.name,
        )

    def _refuse(self, line: int | None, problem: str, advice: str | None = None) -> NoReturn:
        raise FormatError(problem, file=self._file.name, line=line, advice=advice)

    def _read_rows(self, number: int, run: str) -> None:
        self._first_row = self._first_row if self._rows else number
        self._rows += run.count("\n")
        if self._rows > self._file.limits.max_sentence:
            raise sentence_too_long(self._file.name, self._first_row, self._file.limits.max_sentence)
        rows = _ROWS.findall(run)
        if len(rows) != run.count("\n"):
            fit = [_ROWS.fullmatch(f"{line}\n") is not None for line in run[:-1].split("\n")]
            problem = "the row does not begin with a number, offsets and a token"
            self._refuse(number + fit.index(False), problem, "1-1, 0-4, token")
        if self._layers is None:
            self._layers = self._sources()
        nothing = "\t_" * (self._width - 3)
        annotated: dict[int, list[str]] = {}  # the fields of rows, of which the first three are not used
        parts, units, past, texts, values = zip(*rows, strict=True)
        for place, value in enumerate(values):
            if value.removesuffix("\t") != nothing:
                fields = annotated[place] = ["", "", *value.split("\t")]
                if len(fields) > self._width and not fields[-1]:
                    fields.pop()
                if len(fields) != self._width:
                    problem = f"the row has {with_noun(len(fields), 'columns')}, the layers of the head {self._width}"
                    self._refuse(number + place, problem)
        tokens = list(map(_unescaped, texts) if "\\" in run else texts)
        self._tokens += compress(tokens, map(not_, parts))
        if self._waiting:
            self._begin_sentence(tokens[0], int(units[0]), number)
        if not self._sentences:
            self._refuse(number, "a row before any #Text=")
        text, first = self._parts[-1], self._sentences[-1].start
        begins, stops = self._points_of(units, text), self._points_of(past, text)
        for place, (begin, stop, token) in enumerate(zip(begins, stops, tokens, strict=True)):
            line = number + place
            if begin is None or stop is None or stop < begin:
                problem = f"the offsets {units[place]}-{past[place]} lie outside the sentence"
                raise SpanError(problem, file=self._file.name, line=line)
            if text[begin:stop] != token:
                problem = f"the token at {units[place]}-{past[place]} is not in the sentence there"
                self._refuse(line, problem)
            if place in annotated:
                self._read_annotations(annotated[place], first + begin, first + stop, line)

    def _points_of(self, units: Iterable[str], text: str) -> list[int | None]:
        """Return the places in a sentence, the last one; None for one outside it or within a character."""
        place_of, last = self._place_of, self._units
        first = last - _units_of(text)
        return [place_of(unit - first) if first <= unit <= last else None for unit in map(int, units)]

    def _begin_sentence(self, token: str | None, offset: int, line: int | None) -> None:
        """Begin the sentence of the waiting lines, of which `token` is the first token, at this offset."""
        text, self._waiting = "\n".join(self._waiting), []
        before = 0 if token is None else _units_of(text[: max(text.find(token), 0)])
        gap = int(bool(self._sentences)) if token is None else offset - before - self._units
        if gap < 0:
            self._refuse(line, f"the sentence at offset {offset - before} overlaps the one before it")
        if gap > self._file.limits.max_line:
            self._refuse(line, f"a gap of {gap:,} characters before offset {offset}")
        self._parts += [_between(gap), text]
        first = self._points + gap
        self._units, self._points = self._units + gap + _units_of(text), first + len(text)
        self._sentences.append(Sentence(first, self._points))
        self._place_of = places(text, "utf16")

    def _read_annotations(self, fields: Sequence[str], start: int, end: int, line: int) -> None:
        """Read a row with annotations, and count those that are not read."""
        assert self._layers is not None
        columns = {layer.source.column for layer in self._layers.values()}
        passed_over = self._file.passed_over
        for layer in self._head:
            cells = layer.cells(fields)
            if layer.kind == "relation" and cells[-1] != "_":
                passed_over["relations"] += len(_STACKED.findall(cells[-1]))
            for value in _STACKED.findall(cells[0]) if layer.kind == "chain" else ():
                link = layer.name, value.rpartition("->")[2]
                if "->" in value and link not in self._counted:
                    self._counted.add(link)
                    passed_over["chain links"] += 1
            if layer.kind != "span":
                continue
            for slot in layer.slots:
                targets = (
                    target for stack in _STACKED.findall(cells[slot + 1]) for target in stack.split(";")
                )
                passed_over["slots"] += sum(target not in ("_", "*") for target in targets)
            if self._options.layers is None and layer.column not in columns and cells[0] != "_":
                for _, number in _values_in(cells[0]):
                    passed_over[f"spans of {layer.short}"] += (layer.name, number) not in self._counted
                    self._counted.update([(layer.name, number)] if number else ())
        for chosen in self._layers.values():
            if not chosen.see(fields, start, end, line):
                problem = f"the columns of {chosen.source.short} have different numbers of annotations"
                self._refuse(line, problem)

    def _sources(self) -> dict[str, _LayerOfFile]:
        """Return the source of each layer of the document. Raises `UsageError` if there is none."""
        spans = [layer for layer in self._head if layer.kind == "span"]
        if not self._head or not (spans or self._options.layers):
            return {}
        names = [f"{layer.short}.{name}" for layer in spans for name in layer.features]
        sources = ", ".join(names := names or [layer.short for layer in spans])
        others = ", ".join(f"{layer.short} ({layer.kind}s)" for layer in self._head if layer.kind != "span")
        not_read = f"; not read: {others}" if others else ""
        layer_sources = self._options.layers
        if layer_sources is None:
            if any(layer.short == "NamedEntity" and "value" in layer.features for layer in spans):
                layer_sources = {DEFAULT_LAYER: "NamedEntity.value"}
            elif len(spans) == 1:
                (layer,) = spans
                feature = ["value"] if "value" in layer.features else list(layer.features)[:1]
                layer_sources = {DEFAULT_LAYER: ".".join([layer.short, *feature])}
            else:
                problem = f"the file has {len(spans)} layers of spans"
                advice = f"name a source, as in layers={ {DEFAULT_LAYER: names[0]} }; its sources: {sources}"
                raise UsageError(problem, file=self._file.name, advice=advice)
        layers = {}
        for name, source in layer_sources.items():
            chosen = _chosen(str(source), spans)
            if chosen is None:
                problem = f"the file has no source {source!r} for layer {name!r}"
                advice = f"its sources: {sources or 'none'}{not_read}"
                raise UsageError(problem, file=self._file.name, advice=advice)
            layers[name] = chosen
        return layers


def _units_of(text: str) -> int:
    """Return the length of a text in UTF-16."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _chosen(source: str, spans: Sequence[_HeadLayer]) -> _LayerOfFile | None:
    """Return the layer and the feature that a source names; None if there are none."""
    for layer in spans:
        for name in (layer.name, layer.short):
            feature = source.removeprefix(f"{name}.")
            if source == name:
                return _LayerOfFile(layer, next(iter(layer.features)) if len(layer.features) == 1 else None)
            if feature != source and feature in layer.features:
                return _LayerOfFile(layer, feature)
            if feature != source and not layer.has_items:  # a feature without values has no column
                return _LayerOfFile(layer, None)
    return None


# Writing

_Range = tuple[int, int]


class _Segment(NamedTuple):
    """A sentence as it is written, and the ranges of its tokens."""

    start: int
    end: int
    tokens: Sequence[_Range]


def _segments(document: Document) -> list[_Segment]:
    """Return the sentences of a document. Those that it has end where they end; others end before the last LF.

    Text outside of sentences gets sentences of its own. A sentence is longer if the reader could not restore the white
    space after it.
    """
    text, is_own = document.text or "", bool(document.sentences)
    ranges = token_ranges(document.tokens or (), text)
    lines = (match.span() for match in re.finditer(r"[^\n]*\n?", text))
    regions: list[_Range] = []
    place = 0
    for start, end in sorted((sentence.start, sentence.end) for sentence in document.sentences) or lines:
        regions += [(place, start), (max(place, start), end)]
        place = max(place, end)
    segments: list[_Segment] = []
    for start, end in [*regions, (place, len(text))]:
        tokens = _tokens_between(ranges, start, end, text) if start < end else []
        if tokens:
            last = tokens[-1][1]
            segments.append(_Segment(tokens[0][0], max(end, last) if is_own else last, tokens))
    if not segments and text:
        return [_Segment(0, len(text), ())]
    for number, segment in enumerate(segments):
        is_last = number + 1 == len(segments)
        following = len(text) if is_last else segments[number + 1].start
        gap = text[segment.end : following]
        line_end = -1 if is_last else gap.rfind("\n")
        if is_own and not gap.strip("\n "):
            continue
        is_restored = line_end >= 0 and not gap[line_end + 1 :].strip(" ")
        segments[number] = segment._replace(end=segment.end + line_end if is_restored else following)
    return segments


def _tokens_between(ranges: Sequence[_Range], start: int, end: int, text: str) -> list[_Range]:
    """Return the ranges of tokens that begin in a range, and words and marks where there are none."""
    before = bisect_right(ranges, (start,))
    place = max(start, ranges[before - 1][1]) if before else start
    tokens: list[_Range] = []
    for token in ranges[before : bisect_right(ranges, (end,))]:
        tokens += [*words_in(text, place, token[0]), token]
        place = token[1]
    return tokens + words_in(text, place, end)


def _between(length: int) -> str:
    """Return the text that the reader puts between sentences: it knows only its length."""
    return "\n" + " " * (length - 1) if length else ""


def _fit(types: Mapping[str, str], document: Document, lost: Counter[str]) -> Document:
    """Return the document as it is read; white space that is cut off and text that is not restored are counted."""
    document = with_texts(types, document, lost)
    text = document.text or ""
    if "\0" in text:
        raise UsageError("WebAnno TSV cannot hold the character NUL", **document.in_errors)
    segments = _segments(document)
    parts: list[str] = []
    place = 0
    for segment in segments:
        gap = text[place : segment.start]
        lost["text between sentences"] += bool(gap.strip("\n "))
        parts += [_between(len(gap)), text[segment.start : segment.end]]
        place = segment.end
    layers = {}
    for layer, spans in document.layers.items():
        fit_spans = [fit_span for span in spans for fit_span in _without_edges(span, text, segments, lost)]
        layers[layer] = sorted(fit_spans, key=lambda span: (span.start, -span.end))
    sentences = [Sentence(segment.start, segment.end) for segment in segments]
    return replace(document, layers=layers, text="".join(parts), sentences=sentences, tags={})


def _without_edges(span: Span, text: str, segments: Sequence[_Segment], lost: Counter[str]) -> Sequence[Span]:
    """Return a span without white space at its edges; one without characters lies in a sentence that has tokens."""
    start, end = range_without_edges(span, text)
    if start == end:
        if not segments or not segments[0].tokens:
            lost["zero-length spans"] += 1
            return ()
        here = max(bisect_right(segments, start, key=attrgetter("start")) - 1, 0)
        near = [min(max(start, segment.start), segment.end) for segment in segments[here : here + 2]]
        start = end = min(near, key=lambda place: abs(place - start))
    if (start, end) == (span.start, span.end):
        return (span,)
    lost[EDGES] += 1
    return (replace(span, start=start, end=end),)


_Unit = tuple[int, _Range]
"""A token by its number, with the range in it: the whole token, or a part."""


class _Tokens:
    """The tokens of all sentences."""

    def __init__(self, segments: Sequence[_Segment]) -> None:
        self._ranges = [token for segment in segments for token in segment.tokens]
        self._starts, self._ends = [start for start, _ in self._ranges], [end for _, end in self._ranges]
        self._limits = [segment.end for segment in segments]
        self._last = list(accumulate(len(segment.tokens) for segment in segments))

    def units(self, span: Span) -> list[_Unit]:
        """Return the units of a span."""
        last = bisect_left(self._ends, span.end)
        if span.start == span.end:  # in the first token that ends at or after it, within its sentence
            last = min(last, self._last[bisect_left(self._limits, span.start)] - 1)
            return [(last, (span.start, span.end))]
        numbers = range(bisect_right(self._starts, span.start) - 1, last + 1)
        ranges = ((number, self._ranges[number]) for number in numbers)
        return [(number, (max(start, span.start), min(end, span.end))) for number, (start, end) in ranges]


class _Cells:
    """The fields of one layer by the unit in which they stand; its spans are sorted.

    Spans that have several units, or one with others, have numbers.
    """

    def __init__(
        self, spans: Sequence[Span], kind: UimaType, tokens: _Tokens, numbers: Iterator[int]
    ) -> None:
        values = [values_of(span, kind) for span in spans]
        names = {name for features in values for name in features}
        self.names = sorted(names | {kind.label}) if names or not spans else []
        self.name = kind.name
        number_by_span: dict[int, int] = {}
        places: dict[_Unit, list[int]] = {}
        for place, span in enumerate(spans):
            units = tokens.units(span)
            for unit in units:
                stack = places.setdefault(unit, [])
                stack.append(place)
                for index in (stack[0], place) if len(stack) > 1 else ():
                    number_by_span[index] = number_by_span.get(index) or next(numbers)
            if len(units) > 1:
                number_by_span[place] = number_by_span.get(place) or next(numbers)

        def field(place: int, name: str) -> str:
            value = values[place].get(name)
            shown = "*" if value is None else value.translate(_IN_VALUES).replace("->", "\\->")
            return f"{shown}[{number_by_span[place]}]" if place in number_by_span else shown

        self.fields: dict[_Unit, list[str]] = {
            unit: ["|".join(field(place, name) for place in stack) for name in self.names or ("",)]
            for unit, stack in places.items()
        }
        """The fields of a row; a layer without features has one."""


def _lines(types: Mapping[str, str], document: Document, layers: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the file of a document, which `_fit` has returned."""
    segments, text = _segments(document), document.text or ""
    tokens, numbers = _Tokens(segments), count(1)
    require_short_texts(sum(map(len, chain.from_iterable(document.layers.values()))), document)
    kinds = types_of(types, [*layers, *document.layers])
    cells = [_Cells(spans, kinds[layer], tokens, numbers) for layer, spans in document.layers.items()]
    parts: dict[int, set[_Range]] = {}
    for layer in cells:
        for token, part in layer.fields:
            parts.setdefault(token, set()).add(part)
    yield f"{VERSION}.3"
    for layer in cells:
        yield f"#T_SP={layer.name}|{'|'.join(layer.names)}"
    yield ""
    wide, place = wide_characters(text), 0
    for number, segment in enumerate(segments, 1):
        yield ""
        for line in text[segment.start : segment.end].split("\n"):
            yield f"#Text={line.translate(_IN_TEXTS)}"
        for token, whole in enumerate(segment.tokens, 1):
            subtokens = sorted(parts.get(place, set()) - {whole}, key=lambda part: (part[0], -part[1]))
            for nth, (start, end) in enumerate([whole, *subtokens]):
                fields = [
                    field
                    for layer in cells
                    for field in layer.fields.get((place, (start, end))) or ["_"] * max(len(layer.names), 1)
                ]
                name = f"{number}-{token}.{nth}" if nth else f"{number}-{token}"
                units = f"{start + bisect_left(wide, start)}-{end + bisect_left(wide, end)}"
                yield "\t".join([name, units, text[start:end].translate(_IN_TEXTS), *fields, ""])
            place += 1


WEBANNO = FileFormat(
    name="webanno",
    holds="WebAnno TSV 3: sentences after `#Text=`, a row for each token, and the layers that `#T_SP=` names",
    read=lambda file, options: iter([_WebAnnoReader(file, options).read()]),
    is_one_document=True,
    writer=lambda types: writer(
        types,
        ".tsv",
        lambda type_names, document, layers: "".join(in_lines(_lines(type_names, document, layers))),
        _fit,
        empty=f"{VERSION}.3\n",
    ),
)
