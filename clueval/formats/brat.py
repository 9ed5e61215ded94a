"""brat's stand-off files: ``X.ann`` with the annotations and ``X.txt`` with the text, in one folder.

The rules of the format stand in ``formats.md``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, NoReturn

from clueval.core.document import GROUP, Document
from clueval.core.ranges import Ranges
from clueval.core.span import DEFAULT_LAYER, NO_LABEL, Frozen, Span, name_of
from clueval.core.span_forms import in_order
from clueval.files.errors import FileError, FormatError, SpanError, UsageError
from clueval.files.limits import require_short_texts
from clueval.formats.file_format import FileFormat
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions
from clueval.formats.reference import FileMention, in_points
from clueval.formats.writer import Writer, in_lines

TYPE = "type"
"""The source of labels that is the type of a span."""

_KINDS = {"R": "relations", "E": "events", "*": "equivalences", "#": "notes"}
_EQUIVALENT = re.compile(r"Equiv(\s+T\d+\S*){2,}\s*")
_ID = re.compile(r"[TEAMNR]\d+\S*|\*|#.*")


_Place = tuple[str, int]
"""A file and a line of it."""


class _Annotations:
    """The lines of one document."""

    def __init__(self, file: str) -> None:
        self._place = file, 0
        self.spans: dict[str, tuple[str, FileMention]] = {}
        self.triggers: dict[str, str] = {}
        self.features: dict[str, dict[str, Any]] = {}
        self.passed_over: Counter[str] = Counter()
        self._ids: set[str] = set()
        self._attributes: list[tuple[_Place, list[str]]] = []
        self._equivalent: list[tuple[_Place, list[str]]] = []
        self._trigger_places: list[tuple[_Place, str]] = []

    def add(self, file: str, line: int, text: str) -> None:
        """Read a line. Raises `FormatError` for one that is not brat's."""
        self._place = file, line
        if not text.strip():
            return
        identifier, _, rest = text.partition("\t")
        if not _ID.fullmatch(identifier):
            self._refuse(
                f"{identifier[:20]!r} is not an id of brat", "a line begins with T1, A1, R1 ... and a tab"
            )
        if identifier[0] not in "*#" or re.match(r"#\w*\d", identifier):
            if identifier in self._ids:
                self._refuse(f"the id {identifier!r} occurs twice")
            self._ids.add(identifier)
        kind = identifier[0]
        if kind == "T":
            self._add_span(identifier, rest)
        elif kind in "AMN":
            fields = rest.split("\t")[0].split(" ") if kind == "N" else rest.split()
            self._attributes.append((self._place, [field for field in fields if field]))
        elif kind == "*" and _EQUIVALENT.fullmatch(rest):
            self._equivalent.append((self._place, rest.split()[1:]))
        else:
            if kind == "E":
                trigger = rest.split(" ", 1)[0].strip().rpartition(":")[2]
                self.triggers[identifier] = trigger
                self._trigger_places.append((self._place, trigger))
            self.passed_over[_KINDS[kind]] += 1

    def finish(self) -> None:
        """Give attributes to their spans. Raises `FormatError` for an id that no line has."""
        for place, trigger in self._trigger_places:
            self._place = place
            if trigger not in self.spans:
                self._refuse(f"no line has the span {trigger[:20]!r} of an event")
        for place, fields in self._attributes:
            self._place = place
            if len(fields) < 2:
                self._refuse("an attribute needs a name and the id of a span")
            name, target, *value = fields
            target = self.triggers.get(target, target)
            if target in self.spans:
                self._add_feature(target, name, " ".join(value) if value else True)
            elif target not in self._ids:
                self._refuse(f"no line has the id {target[:20]!r}")
        self._join_groups()

    def _join_groups(self) -> None:
        """Give equivalent spans the feature of a group, whose first member comes first."""
        groups: list[dict[str, None]] = []
        for where, listed in self._equivalent:
            self._place, members = where, dict.fromkeys(listed)
            for member in members:
                if member not in self.spans:
                    self._refuse(f"no line has the id {member[:20]!r}")
            joined = [group for group in groups if group.keys() & members.keys()]
            groups = [group for group in groups if not group.keys() & members.keys()]
            groups.append({target: None for each in (*joined, members) for target in each})
        places = {identifier: (number, 0) for number, identifier in enumerate(self.spans)}
        for number, group in enumerate(groups, 1):
            first, _ = places[next(iter(group))]
            for place, target in enumerate(group):
                self.features.setdefault(target, {})[GROUP] = str(number)
                places[target] = first, place
        self.spans = {target: self.spans[target] for target in sorted(self.spans, key=places.__getitem__)}

    def _add_feature(self, target: str, name: str, value: str | bool) -> None:
        """Add a feature of a span; several values of one name are a list."""
        features = self.features.setdefault(target, {})
        if name not in features:
            features[name] = value
        elif value not in (
            before := features[name] if isinstance(features[name], list) else [features[name]]
        ):
            features[name] = [*before, value]

    def _add_span(self, identifier: str, rest: str) -> None:
        head, tab, text = rest.partition("\t")
        label, _, positions = head.partition(" ")
        ranges = []
        for part in positions.split(";"):
            numbers = part.split()
            if len(numbers) != 2 or not all(n.isascii() and n.isdigit() and len(n) < 19 for n in numbers):
                self._refuse(
                    f"the positions of {identifier} cannot be read", "write them START END, joined by ;"
                )
            ranges.append((int(numbers[0]), int(numbers[1])))
        if not label:
            self._refuse(f"{identifier} has no type")
        Span.of_fragments(ranges, label, line=self._place[1])  # refuses positions that contradict each other
        mention = FileMention(tuple(sorted(ranges)), text if tab else None, self._place[1], identifier)
        self.spans[identifier] = label, mention

    def _refuse(self, problem: str, advice: str | None = None) -> NoReturn:
        file, line = self._place
        raise FormatError(problem, file=file, line=line, advice=advice)


def _read(file: InputFile, options: FormatOptions) -> Iterator[Document]:
    text = _text_beside(file)
    found = _Annotations(file.name)
    further = file.beside(".a2")
    name = file.path.name.removesuffix(".gz")
    parts = (file, further) if name.endswith(".a1") and further.exists else (file,)
    for part in parts:
        try:
            for line, content in part.lines():
                found.add(part.name, line, content)
        except SpanError as error:
            error.file = part.name
            raise
    found.finish()
    file.passed_over.update(found.passed_over)
    yield _document(Path(name).stem, text, found, options, file.name)


def _text_beside(file: InputFile) -> str:
    found = file.beside(".txt")
    if not found.exists:
        raise FileError(
            f"the text {found.path} of this file does not exist",
            file=file.name,
            advice="brat keeps the text in a .txt file of the same name in the same folder",
        )
    return found.text_as_on_disk()


def _document(name: str, text: str, found: _Annotations, options: FormatOptions, file: str) -> Document:
    mentions = [mention for _, mention in found.spans.values()]
    ranges = in_points(text, mentions, options.offsets, file=file, document=name)
    sources = dict(options.layers or {DEFAULT_LAYER: TYPE})
    layers: dict[str, list[Span]] = {layer: [] for layer in sources}
    for (identifier, (label, mention)), given in zip(found.spans.items(), ranges, strict=True):
        places = _without_gaps_at_line_ends(given, text)
        features = found.features.get(identifier, {})
        for layer, source in sources.items():
            value = label if source == TYPE else features.get(_named(source, layer))
            if value is None:
                continue
            first = value[0] if isinstance(value, list) else value
            chosen = str(source) if first is True else str(first)
            labels = Frozen({layer: chosen or NO_LABEL})
            layers[layer].append(
                Span.of_fragments(places, labels, features, id=identifier, line=mention.line)
            )
    ordered = {layer: in_order(spans) for layer, spans in layers.items()}
    return Document(name, ordered, text=text, unit="character", file=file)


def _without_gaps_at_line_ends(ranges: Ranges, text: str) -> Ranges:
    """Return the ranges, joined where only line ends lie between two, because a span of brat cannot contain them."""
    found = list(ranges[:1])
    for start, end in ranges[1:]:
        between = text[found[-1][1] : start]
        if between and not between.strip("\r\n"):
            found[-1] = found[-1][0], end
        else:
            found.append((start, end))
    return tuple(found)


def _named(source: int | str, layer: str) -> str:
    if isinstance(source, int):
        raise UsageError(
            f"layer {layer!r} has the column {source}, but brat has no columns",
            advice=f"name {TYPE!r} or an attribute, as in {layer}=type",
        )
    return source


def _lines(documents: Iterable[Document]) -> Iterator[str]:
    """Yield the lines of the annotations of one document."""
    number = attributes = 0
    for document in documents:
        text = document.text or ""
        groups: dict[str, list[str]] = {}
        require_short_texts(
            sum(map(len, chain.from_iterable(document.layers.values()))), **document.in_errors
        )
        for spans in document.layers.values():
            for span in spans:
                number += 1
                if GROUP in span.features:
                    groups.setdefault(repr(span.features[GROUP]), []).append(f"T{number}")
                parts = _without_line_ends(text, span.fragments)
                positions = ";".join(f"{start} {end}" for start, end in parts)
                shown = " ".join(text[start:end] for start, end in parts)
                yield f"T{number}\t{_word(span.label, span, document)} {positions}\t{shown}"
                for name, value in _pairs(span.features):
                    if name == GROUP:
                        continue
                    attributes += 1
                    yield f"A{attributes}\t{name} T{number}{'' if value is True else f' {value}'}"
        yield from (f"*\tEquiv {' '.join(members)}" for members in groups.values() if len(members) > 1)


def _pairs(features: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of features; a list of several values is one pair for each."""
    for name, value in features.items():
        several = isinstance(value, list) and len(value) > 1
        yield from ((name, each) for each in (value if several else [value]))


_LINE = re.compile(r"[^\r\n]+")


def _without_line_ends(text: str, ranges: Ranges) -> Ranges:
    """Return the ranges between line ends, which a span of brat cannot contain; a range of zero length stays."""
    if all(start == end for start, end in ranges):
        return ranges
    return tuple(match.span() for start, end in ranges for match in _LINE.finditer(text, start, end))


def _fit(document: Document, lost: Counter[str]) -> Document:
    """Return the document with its spans as they are read again: without line ends at their edges.

    A span of line ends alone is left out, and a gap that has only line ends is closed.
    """
    text = document.text or ""
    layers: dict[str, list[Span]] = {}
    for layer, spans in document.layers.items():
        layers[layer] = []
        for span in spans:
            places = _without_gaps_at_line_ends(_without_line_ends(text, span.fragments), text)
            if places == span.fragments:
                layers[layer].append(span)
                continue
            is_shorter = not places or (places[0][0], places[-1][1]) != (span.start, span.end)
            lost[_AT_EDGES if is_shorter else "gaps"] += 1
            if places:
                layers[layer].append(
                    Span.of_fragments(places, span.labels, span.features, id=span.id, line=span.line)
                )
    return replace(document, layers=layers) if lost else document


def _word(word: str, span: Span, document: Document) -> str:
    if not _is_word(word):
        raise UsageError(
            f"brat cannot hold {name_of(span)}: it has a label that is empty or has white space",
            **document.in_errors,
            advice="rename it",
        )
    return word


def _is_word(word: str) -> bool:
    return bool(word) and not re.search(r"\s|;", word)


def _holds_feature(name: str, value: object) -> bool:
    """Return whether attributes can hold a feature: True, words, or a list of several."""
    several = value if isinstance(value, list) and len(value) > 1 else [value]
    is_once = all(each not in several[:number] for number, each in enumerate(several))
    return (
        _is_word(name)
        and is_once
        and all(
            each is True or (isinstance(each, str) and each != "" and each == " ".join(each.split()))
            for each in several
        )
    )


_AT_EDGES = "line ends at edges of spans"

BRAT = FileFormat(
    name="brat",
    options=frozenset({"layers", "offsets"}),
    holds="brat's stand-off files: `X.ann` with spans, attributes and links, and `X.txt` in the same folder",
    read=_read,
    single=True,
    group=(".txt", ".a2"),
    writer=lambda types: Writer(
        pieces=lambda documents, layers, with_ids: in_lines(_lines(documents)),
        ending=".ann",
        unit="character",
        holds=frozenset(
            {"features", "gaps", "zero-length spans", "overlapping spans", "spans across sentences"}
        ),
        feature=_holds_feature,
        fit=_fit,
        beside={".txt": lambda document: document.text or ""},
        single=True,
    ),
)
