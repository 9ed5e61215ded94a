"""Formats with readers of their own, and how documents are written in any format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from clueval.core.document import Document
from clueval.core.span import DEFAULT_LAYER
from clueval.core.tags import is_tag
from clueval.files.errors import UsageError
from clueval.second.formats.dialect import Numbered
from clueval.second.formats.input_file import InputFile
from clueval.second.formats.json_values import IS_JSON
from clueval.second.formats.options import FormatOptions

_LONGEST_LINE = 2000


class Head(NamedTuple):
    """The beginning of a file.

    Attributes:
        file_name, text: the name of the file and its first block.
        first: returns the first JSON row that is no empty list, None if there is none; the reader that will read the
            file parses it.
        is_one_text: whether its lines are one text, as for a metric of noisy texts.
    """

    file_name: str
    text: str
    first: Callable[[], Any]
    is_one_text: bool = False

    @property
    def lines(self) -> list[str]:
        """The first three lines that are not blank; long lines are cut."""
        lines = (line[:_LONGEST_LINE] for line in self.text[:100_000].removeprefix("\ufeff").split("\n"))
        return [line for line in lines if line.strip()][:3]

    @property
    def first_line(self) -> str:
        return next(iter(self.lines), "")

    @property
    def is_json(self) -> bool:
        """Whether the file begins as JSON does, and not with a token and its tag."""
        line = self.first_line.split()
        return IS_JSON.match(self.text) is not None and not is_tag(line[-1])


def begins_with(*marks: str) -> Callable[[Head], bool]:
    """Return whether one of the first three lines has one of these marks."""
    return lambda head: any(mark in line for mark in marks for line in head.lines)


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
        content: returns the content of a file, given its documents, the layers of a file without documents, and
            whether token ids are written.
        ending: the ending of the name of the file.
        unit: the unit of positions; None: that of the documents.
        holds: those of `clueval.second.formats.fitting.KINDS` that the format can hold.
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

    content: Callable[[Iterable[Document], Sequence[str], bool], str | bytes]
    ending: str
    unit: str | None = None
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


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFormat:
    """A format with a reader of its own.

    Attributes:
        name, holds: the name of the format, and what its files hold.
        sign, told: how its files are recognised in words, and whether a file with this beginning is one.
        endings: the endings of names of its files.
        read: yields the documents of a file.
        rows: yields the documents of numbered values in memory, counting what is passed over; the text is the name of
            their file in errors.
        single: whether a file holds one document, whose id is the name of the file.
        group: the endings of further files that belong to a file.
        sets: whether a document may have several annotation sets, of which one is read.
        layers: whether layers have sources; otherwise it has the default layer alone.
        invalid: the treatments of ill-formed tags, of which the first is the usual one; none if there are no tags.
        needs_texts: whether documents take their text or tokens from another file, ``InputFile.texts``.
        extra: the extra of clueval that must be installed.
        writer: returns how documents are written, given the types of layers; None: they are only read.
    """

    name: str
    holds: str
    read: Callable[[InputFile, FormatOptions], Iterator[Document]]
    rows: (
        Callable[[Iterable[Numbered], FormatOptions, Counter[str], str | None], Iterator[Document]] | None
    ) = None
    sign: str = ""
    told: Callable[[Head], bool] = lambda head: False
    endings: tuple[str, ...] = ()
    single: bool = False
    group: tuple[str, ...] = ()
    sets: bool = False
    layers: bool = True
    invalid: tuple[str, ...] = ()
    needs_texts: bool = False
    extra: str = ""
    writer: Callable[[Mapping[str, str]], Writer] | None = None


def in_lines(lines: Iterable[str]) -> str:
    """Return the content of a file with these lines."""
    return "".join(f"{line}\n" for line in lines)


def only_layer(options: FormatOptions, file: str | None) -> str:
    """Return the name of the only layer; its source does not matter. Raises `UsageError` for several layers."""
    layers = options.layers or {DEFAULT_LAYER: ""}
    if len(layers) > 1:
        raise UsageError(
            f"the format has one layer, not {' and '.join(layers)}", file=file, advice="name one layer"
        )
    (name,) = layers
    return name
