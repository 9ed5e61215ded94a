"""brat's stand-off files: ``X.ann`` with the annotations and ``X.txt`` with the text, in one folder.

The rules of the format stand in ``formats.md``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from typing import Any, NoReturn

from clueval.core.document import GROUP, Document, require_short_texts
from clueval.core.span import DEFAULT_LAYER, NO_LABEL, NOTHING, Ranges, Span, name_of
from clueval.files.errors import FileError, FormatError, SpanError, UsageError
from clueval.formats.documents import FileFormat
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions
from clueval.formats.reference import FileMention, in_points
from clueval.formats.span_forms import LayerSpan, layers_of
from clueval.formats.writer import Writer, in_lines

TYPE = "type"
"""The source of labels that is the type of a span."""

_KINDS = {"R": "relations", "E": "events", "*": "equivalences", "#": "notes"}
_EQUIVALENT = re.compile(r"Equiv(\s+T\d+\S*){2,}\s*")
_NUMBERS = r"[^\S\t]*([0-9]{1,18})[^\S\t]+([0-9]{1,18})[^\S\t]*"
_SPAN = re.compile(
    rf"(T\d+\S*)\t([^ \t]*) {_NUMBERS}((?:;{_NUMBERS.replace('(', '(?:')})*)(?:\t(.*))?", re.DOTALL
)
"""The id and the type of a span, the start and the end of its first range, its further ranges, and its text."""
_ID = re.compile(r"[TEAMNR]\d+\S*|\*|#.*")
_NUMBERED_NOTE = re.compile(r"#\w*\d")

# Reading


class _Annotations:
    """The annotations of one document, by the ids of their lines."""

    def __init__(self, file: str) -> None:
        self._place = file, 0  # of the line that is read
        self._ids: set[str] = set()
        self._labels: dict[str, str] = {}
        self._mentions: dict[str, FileMention] = {}
        self._triggers: dict[str, str] = {}
        self._features: dict[str, dict[str, Any]] = {}
        self.passed_over: Counter[str] = Counter()
        self._references: list[tuple[tuple[str, int], str, list[str]]] = []  # place, kind and words of lines

    def _refuse(self, problem: str, advice: str | None = None) -> NoReturn:
        file, line = self._place
        raise FormatError(problem, file=file, line=line, advice=advice)

    def add(self, file: InputFile) -> None:
        """Read the lines of a file. Raises `FormatError` for one that is not brat's."""
        name = file.name
        for number, line in file.lines():
            if line.strip():
                self._place = name, number
                if (span := _SPAN.fullmatch(line)) is not None:
                    self._add_span(*span.groups())
                    continue
                identifier, _, rest = line.partition("\t")
                if not _ID.fullmatch(identifier):
                    advice = "a line begins with T1, A1, R1 ... and a tab"
                    self._refuse(f"{identifier[:20]!r} is not an id of brat", advice)
                kind = identifier[0]
                if kind not in "*#" or _NUMBERED_NOTE.match(identifier):
                    self._note_id(identifier)
                if kind == "T":
                    problem = f"the positions of {identifier} cannot be read"
                    self._refuse(problem, "write them START END, joined by ;")
                elif kind in "AMN":
                    fields = rest.split("\t")[0].split(" ") if kind == "N" else rest.split()
                    self._references.append((self._place, "attribute", list(filter(None, fields))))
                elif kind == "*" and _EQUIVALENT.fullmatch(rest):
                    self._references.append((self._place, "group", rest.split()[1:]))
                else:
                    self.passed_over[_KINDS[kind]] += 1
                    if kind == "E":
                        trigger = rest.split(" ", 1)[0].strip().rpartition(":")[2]
                        self._triggers[identifier] = trigger
                        self._references.append((self._place, "event", [trigger]))

    def _note_id(self, identifier: str) -> None:
        if identifier in self._ids:
            self._refuse(f"the id {identifier!r} occurs twice")
        self._ids.add(identifier)

    def _add_span(
        self, identifier: str, label: str, start: str, end: str, others: str, text: str | None
    ) -> None:
        self._note_id(identifier)
        if not label:
            self._refuse(f"{identifier} has no type")
        file, line = self._place
        first, past = int(start), int(end)
        ranges: Ranges = ((first, past),)
        if others or first > past:
            further = (part.split() for part in others.split(";")[1:])
            ranges += tuple((int(start), int(end)) for start, end in further)
            try:  # positions that contradict each other are refused
                Span.of_fragments(ranges, label, line=line)
            except SpanError as error:
                error.file = file
                raise
        self._labels[identifier] = label
        self._mentions[identifier] = FileMention(ranges, text, line, identifier)

    def _words_of_kind(self, kind: str) -> Iterator[list[str]]:
        """Yield the words of those lines that refer to others."""
        for place, kind_of_line, words in self._references:
            if kind_of_line == kind:
                self._place = place
                yield words

    def finish(self) -> None:
        """Give attributes and groups to their spans. Raises `FormatError` for an id that no line has."""
        for (trigger,) in self._words_of_kind("event"):
            if trigger not in self._labels:
                self._refuse(f"no line has the span {trigger[:20]!r} of an event")
        for fields in self._words_of_kind("attribute"):
            if len(fields) < 2:
                self._refuse("an attribute needs a name and the id of a span")
            name, target, *words = fields
            target = self._triggers.get(target, target)
            if target in self._labels:
                values = self._features.setdefault(target, {}).setdefault(name, [])
                value = " ".join(words) if words else True
                values += [] if value in values else [value]
            elif target not in self._ids:
                self._refuse(f"no line has the id {target[:20]!r}")
        for features in self._features.values():  # several values of one name are a list
            features.update({name: values[0] for name, values in features.items() if len(values) == 1})
        groups: list[dict[str, None]] = []
        for words in self._words_of_kind("group"):
            members = dict.fromkeys(words)
            for member in members:
                if member not in self._labels:
                    self._refuse(f"no line has the id {member[:20]!r}")
            joined = [group for group in groups if group.keys() & members.keys()]
            groups = [group for group in groups if not group.keys() & members.keys()]
            groups.append({target: None for group in (*joined, members) for target in group})
        if groups:
            self._join(groups)

    def _join(self, groups: Iterable[Iterable[str]]) -> None:
        """Give equivalent spans the feature of a group, whose first member comes first.

        It is their attribute of this name if they have the same one, and otherwise the first number that no attribute
        of this name and no other group has.
        """
        names = {repr(features[GROUP]) for features in self._features.values() if GROUP in features}
        numbers = (str(number) for number in count(1) if repr(str(number)) not in names)
        places = {identifier: (number, 0) for number, identifier in enumerate(self._mentions)}
        for group in groups:
            first, _ = places[next(iter(group))]
            features = [self._features.setdefault(target, {}) for target in group]
            name = features[0].get(GROUP)
            has_name = name is not None and all(GROUP in each and each[GROUP] == name for each in features)
            if not has_name:
                name = next(numbers)
            for place, target in enumerate(group):
                features[place][GROUP] = name
                places[target] = first, place
        self._mentions = {target: self._mentions[target] for target in sorted(places, key=places.__getitem__)}

    def layers(self, name: str, text: str, options: FormatOptions, file: str) -> dict[str, list[LayerSpan]]:
        """Return the spans of each layer, with their positions in code points."""
        mentions = list(self._mentions.values())
        places = in_points(text, mentions, options.offsets, file=file, document=name)
        layers: dict[str, list[LayerSpan]] = {}
        for layer, source in (options.layers or {DEFAULT_LAYER: TYPE}).items():
            if isinstance(source, int):
                problem = f"layer {layer!r} has the column {source}, but brat has no columns"
                raise UsageError(problem, advice=f"name {TYPE!r} or an attribute, as in {layer}=type")
            layers[layer] = []
            for mention, ranges in zip(mentions, places, strict=True):
                identifier = mention.name
                features = self._features.get(identifier, NOTHING)
                label = self._labels[identifier] if source == TYPE else features.get(source)
                if isinstance(label, list):
                    label = label[0]
                if label is not None:
                    label = (source if label is True else label) or NO_LABEL
                    if len(ranges) > 1:
                        ranges = _without_gaps_at_line_ends(sorted(ranges), text)
                    layers[layer].append((ranges, label, (features, identifier, mention.line)))
        return layers


def _read(file: InputFile, options: FormatOptions) -> Iterator[Document]:
    text_file = file.beside(".txt")
    try:
        text = text_file.text_as_on_disk()
    except FileError:
        if text_file.exists:
            raise
        raise FileError(
            f"the text {text_file.path} of this file does not exist",
            file=file.name,
            advice="brat keeps the text in a .txt file of the same name in the same folder",
        ) from None
    annotations = _Annotations(file.name)
    annotations.add(file)
    if file.path.name.removesuffix(".gz").endswith(".a1") and (second_file := file.beside(".a2")).exists:
        annotations.add(second_file)
    annotations.finish()
    file.passed_over.update(annotations.passed_over)
    layers = layers_of(annotations.layers(file.stem, text, options, file.name))
    yield Document(file.stem, layers, text=text, unit="character", file=file.name)


def _without_gaps_at_line_ends(ranges: Sequence[tuple[int, int]], text: str) -> Ranges:
    """Return the ranges, joined where only line ends lie between two, because a span of brat cannot contain them."""
    joined_ranges = list(ranges[:1])
    for start, end in ranges[1:]:
        between = text[joined_ranges[-1][1] : start]
        if between and not between.strip("\r\n"):
            joined_ranges[-1] = joined_ranges[-1][0], end
        else:
            joined_ranges.append((start, end))
    return tuple(joined_ranges)


# Writing

_LINE = re.compile(r"[^\r\n]+")


def _lines(documents: Iterable[Document]) -> Iterator[str]:
    number = attributes = 0
    for document in documents:
        text = document.text or ""
        spans = list(chain.from_iterable(document.layers.values()))
        require_short_texts(sum(map(len, spans)), document)
        groups: dict[str, list[str]] = {}
        for first, span in enumerate(spans, number + 1):
            if GROUP in span.features:
                groups.setdefault(repr(span.features[GROUP]), []).append(f"T{first}")
        numbered = _numbered_when_read(groups)
        groups = {name: members for name, members in groups.items() if len(members) > 1}
        for span in spans:
            number += 1
            if not _is_word(span.label):
                raise UsageError(
                    f"brat cannot hold {name_of(span)}: it has a label that is empty or has white space",
                    **document.in_errors,
                    advice="rename it",
                )
            parts = _without_line_ends(text, span.fragments)
            positions = ";".join(f"{start} {end}" for start, end in parts)
            shown = " ".join(text[start:end] for start, end in parts)
            yield f"T{number}\t{span.label} {positions}\t{shown}"
            for name, value in span.features.items():
                if name == GROUP and repr(value) in numbered:
                    continue
                for item in _values_of(value):
                    attributes += 1
                    yield f"A{attributes}\t{name} T{number}{'' if item is True else f' {item}'}"
        yield from (f"*\tEquiv {' '.join(members)}" for members in groups.values())


def _numbered_when_read(groups: Mapping[str, Sequence[str]]) -> set[str]:
    """Return those groups of several spans whose names the reader finds without attributes.

    It gives them the first numbers that no attribute has, in order: so their numbers ascend, and each smaller number is
    the name of a group, too.
    """
    numbers: dict[str, int] = {}
    while (name := repr(str(len(numbers) + 1))) in groups:
        numbers[name] = len(numbers) + 1
    numbered: set[str] = set()
    greatest = 0
    for name, members in groups.items():
        if len(members) > 1 and numbers.get(name, 0) > greatest:
            greatest = numbers[name]
            numbered.add(name)
    return numbered


def _values_of(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) and len(value) > 1 else [value]


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
            lost["line ends at edges of spans" if is_shorter else "gaps"] += 1
            if places:
                fitting = Span.of_fragments(places, span.labels, span.features, id=span.id, line=span.line)
                layers[layer].append(fitting)
    return replace(document, layers=layers) if lost else document


def _is_word(word: str) -> bool:
    return bool(word) and not re.search(r"\s|;", word)


def _holds_feature(name: str, value: object) -> bool:
    """Return whether attributes can hold a feature: True, words, or a list of several."""
    values = _values_of(value)
    is_once = all(item not in values[:number] for number, item in enumerate(values))
    texts = [item for item in values if item is not True]
    are_words = all(isinstance(text, str) and text != "" and text == " ".join(text.split()) for text in texts)
    return _is_word(name) and is_once and are_words


BRAT = FileFormat(
    name="brat",
    options=frozenset({"layers", "offsets"}),
    holds="brat's stand-off files: `X.ann` with spans, attributes and links, and `X.txt` in the same folder",
    read=_read,
    is_one_document=True,
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
