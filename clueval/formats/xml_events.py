"""Shared by readers of XML formats: a class that handles what the XML parser reports, and the label of an element."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import NoReturn

from clueval.exceptions import FormatError
from clueval.formats import xml_text
from clueval.spans.span import NO_LABEL

CATEGORY, TYPE = "category", "TYPE"
"""The sources of labels: the name of an element, and the usual attribute."""


class EventReader(ABC):
    """Reads a file once. A document type declaration is refused, so that the only entities are those of XML."""

    def __init__(self, file: str, document: str | None = None) -> None:
        self._file, self._document = file, document
        parser = self._parser = xml_text.parser()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.StartDoctypeDeclHandler = self._doctype

    def read(self, data: str) -> None:
        """Handle all events of the content of the file. Raises `FormatError` with the line."""
        xml_text.parse(self._parser, data, self._file)

    @abstractmethod
    def _start(self, name: str, attributes: dict[str, str]) -> None:
        """Handle the start of an element."""

    @abstractmethod
    def _end(self, name: str) -> None:
        """Handle the end of an element."""

    @abstractmethod
    def _text(self, text: str) -> None:
        """Handle a part of the text."""

    def _doctype(self, *_: object) -> None:
        self._refuse("a document type declaration (DTD)", "remove it")

    def _refuse(self, problem: str, advice: str | None = None) -> NoReturn:
        raise FormatError(
            problem,
            file=self._file,
            line=self._parser.CurrentLineNumber,
            document=self._document,
            advice=advice,
        )


def label_of(category: str, attributes: Mapping[str, str], source: str) -> str | None:
    """Return the label of an element by its source; None if it does not have the attribute that is the source."""
    label = category if source == CATEGORY else attributes.get(source)
    return None if label is None and source != TYPE else label or NO_LABEL
