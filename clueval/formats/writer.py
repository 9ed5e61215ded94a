"""How documents are written in a format, and what is left out of them.

What a format cannot hold is refused, or left out and counted: features, or those that `Writer.feature` does not accept;
gaps, so that a span reaches from its start to its end; spans of zero length; spans that overlap an earlier one, or that
reach across the end of a sentence; layers after the first; metadata. So are annotations that no reader reads.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Any, NamedTuple
from unicodedata import normalize

from clueval.core.document import Document, Unit
from clueval.core.span import Span
from clueval.files.errors import UsageError, in_words


class LayerUse(NamedTuple):
    """The labels of a layer in what is written, and the names of its features."""

    labels: dict[str, None]
    features: dict[str, None]


@dataclass(slots=True)
class Uses:
    """What occurs in what is written: layers by name, and whether a document has tokens or sentences."""

    layers: dict[str, LayerUse] = field(default_factory=dict)
    tokens: bool = False
    sentences: bool = False

    def add(self, document: Document) -> None:
        """Add what a document has."""
        self.tokens |= document.tokens is not None
        self.sentences |= bool(document.sentences)
        for layer, spans in document.layers.items():
            use = self.layers.setdefault(layer, LayerUse({}, {}))
            for span in spans:
                use.labels[span.label] = None
                use.features.update(dict.fromkeys(span.features))


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """How documents are written in a format.

    Attributes:
        pieces: yields the content of a file, given its documents, the layers of a file without documents, and
            whether token ids are written.
        data: returns the content of a binary file, given its documents and the layers; then `pieces` is not used.
        ending: the ending of the name of the file.
        unit: the unit of positions; None: that of the documents.
        holds: those of `KINDS` that the format can hold.
        feature: whether the format can hold a feature, given its name and value; None: it holds all, or none.
        fit: returns a document as the format holds it where `holds` does not tell, and counts what is left out.
        beside: the content of further files for a document, by the endings of their names.
        of_folder: the content of files for all documents of a folder, by name.
        hints: lines for people: what another program needs before it can read the files, given the names of layers.
        needs_text: whether documents need a text.
        keeps_tokens: whether documents with characters keep their tokens.
        keeps_ids: whether documents have their ids when they are read again; otherwise their numbers.
        single: whether a file holds one document.
    """

    pieces: Callable[[Iterable[Document], Sequence[str], bool], Iterable[str]]
    ending: str
    data: Callable[[Iterable[Document], Sequence[str]], bytes] | None = None
    unit: Unit | None = None
    holds: frozenset[str] = frozenset()
    feature: Callable[[str, Any], bool] | None = None
    fit: Callable[[Document, Counter[str]], Document] = lambda document, lost: document
    beside: Mapping[str, Callable[[Document], str]] = field(default_factory=dict)
    of_folder: Callable[[Uses, Sequence[str]], Mapping[str, str]] | None = None
    hints: Callable[[Uses, Sequence[str]], Iterator[str]] | None = None
    needs_text: bool = True
    keeps_tokens: bool = False
    keeps_ids: bool = True
    single: bool = False

    @property
    def unit_read(self) -> Unit | None:
        """The unit in which a format that has both is read: tokens if they are written; None: any."""
        return "token" if self.unit == "token" or self.keeps_tokens else None


def in_lines(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a file with their ends."""
    return (f"{line}\n" for line in lines)


# What is lost

IDS = "document ids"
"""What is lost of documents that a format numbers, or whose ids it changes."""

NAMES = "document ids as names of files"
"""What is lost of documents in a folder whose ids are no names of files, or not different ones on each system."""

EDGES = "white space at edges of spans"
"""What is lost of spans that begin or end with white space."""

ACROSS = "spans across sentences"
KINDS = ("layers", "metadata", "features", "gaps", "zero-length spans", "overlapping spans", ACROSS)
"""What formats can hold beyond one layer of spans that do not overlap."""

ANNOTATIONS = frozenset({"relations", "events", "equivalences", "chain links", "slots", "notes"})
"""The kinds of what readers pass over that are lost in another format."""


def fitted(document: Document, writer: Writer, layer: str | None = None) -> tuple[Document, Counter[str]]:
    """Return the document with only what a format can hold, and the numbers of what is left out, by kind.

    `layer` is the one that a format with one layer holds; None: the first that has spans.
    """
    lost: Counter[str] = Counter()
    holds = writer.holds
    layers = dict(document.layers)
    if "layers" not in holds and layers:
        first = layer or next((name for name, spans in layers.items() if spans), next(iter(layers)))
        others = [name for name in layers if name != first and (first in layers or layers[name])]
        lost["layers"] += len(others)
        layers = {first: layers.get(first, ())}
    starts = [] if ACROSS in holds else sorted(sentence.start for sentence in document.sentences)
    fitting = {name: _spans(spans, writer, starts, lost) for name, spans in layers.items()}
    metadata = document.metadata
    if "metadata" not in holds and metadata:
        lost["metadata"] += len(metadata)
        metadata = {}
    if +lost:
        document = replace(document, layers=fitting, metadata=metadata, tags={})
    return writer.fit(document, lost), +lost


def refuse_lost(
    name: str,
    lost: Mapping[str, int],
    passed_over: Mapping[str, int] | None = None,
    document: Document | None = None,
) -> None:
    """Raise `UsageError` if anything is lost: what the format `name` cannot hold, or what was not read."""
    others = {kind: number for kind, number in (passed_over or {}).items() if kind in ANNOTATIONS}
    parts = [f"the format {name} cannot hold {in_words(lost)}"] if lost else []
    parts += [f"passed over: {in_words(others)}"] if others else []
    if parts:
        example = ", such as spans" if "overlapping spans" in lost else ""
        raise UsageError(
            "; ".join(parts),
            file=None if document is None else document.file,
            document=None if document is None else document.id,
            advice=f"leave them out with lossy=True, or write another format{example}",
        )


def _spans(spans: Sequence[Span], writer: Writer, starts: Sequence[int], lost: Counter[str]) -> list[Span]:
    holds = writer.holds
    fitting_spans: list[Span] = []
    for span in spans:
        fitting = span
        if span.features:
            holds_feature = writer.feature or (lambda name, value: True)
            items = span.features.items() if "features" in holds else ()
            features = {name: value for name, value in items if holds_feature(name, value)}
            lost["features"] += len(span.features) - len(features)
            fitting = replace(fitting, features=features)
        if "gaps" not in holds and (span.parts is not None or span.tokens is not None):
            lost["gaps"] += 1
            fitting = replace(fitting, parts=None, tokens=None)
        if "zero-length spans" not in holds and not len(span):
            lost["zero-length spans"] += 1
        elif bisect_right(starts, span.start) < bisect_left(starts, span.end):
            lost[ACROSS] += 1
        else:
            fitting_spans.append(fitting)
    if "overlapping spans" in holds:
        return fitting_spans
    apart: list[Span] = []
    for span in sorted(fitting_spans, key=lambda span: (span.start, -span.end)):
        if apart and span.start < apart[-1].end:
            lost["overlapping spans"] += 1
        else:
            apart.append(span)
    return apart


def range_without_edges(span: Span, text: str) -> tuple[int, int]:
    """Return the range of a span without white space at its edges; it is empty if there is nothing else.

    >>> range_without_edges(Span(3, 8, "LOC"), "in  Ulm now")
    (4, 7)
    """
    content = text[span.start : span.end]
    start = span.start + (len(content) - len(content.lstrip()) if content.strip() else 0)
    return start, start + len(content.strip())


# The names of the files of a folder in which each document is written to a file of its own

_DEVICE = re.compile(r"(con|prn|aux|nul|com[\d¹²³]|lpt[\d¹²³])(\.|$)", re.IGNORECASE)
"""Names that mean devices on Windows, whatever follows a period."""

_LONGEST = 200
"""The greatest length of a name in bytes; systems have 255, and an ending follows."""


class FileNames:
    """Gives documents names that are different on each system."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def of(self, identifier: str) -> str:
        """Return the name, without its ending, of the file of the document with an id.

        >>> names = FileNames()
        >>> [names.of(each) for each in ("a/b", "A_b", "con.txt", ".x")]
        ['a_b', 'A_b-2', '_con.txt', 'x']
        """
        name = "".join(c if c.isalnum() or c in "-_." else "_" for c in identifier).lstrip(".") or "_"
        name = f"_{name}" if _DEVICE.match(name) else name
        name = name.encode()[:_LONGEST].decode(errors="ignore")
        variants = chain([name], (f"{name}-{number}" for number in count(2)))
        name = next(variant for variant in variants if _compared(variant) not in self._names)
        self._names.add(_compared(name))
        return name


def _compared(name: str) -> str:
    """Return a name as systems compare it that do not tell A from a, or one way to write ä from the other.

    >>> _compared("A_b") == _compared("a_B")
    True
    """
    return normalize("NFC", normalize("NFC", name).casefold())
