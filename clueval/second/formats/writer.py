"""How documents are written in a format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from clueval.core.document import Document


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


def in_lines(lines: Iterable[str]) -> str:
    """Return the content of a file with these lines."""
    return "".join(f"{line}\n" for line in lines)
