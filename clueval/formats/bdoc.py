"""Bdoc JSON, the documents of ``gatenlp`` and of GATE's plugin Format_Bdoc: text, features, annotation sets.

    {"text": "Ada was here.", "offset_type": "p", "features": {}, "name": "",
     "annotation_sets": {"Key": {"name": "Key", "next_annid": 8, "annotations":
        [{"type": "Person", "start": 0, "end": 3, "id": 7, "features": {"score": 0.9}}]}}}

Positions are Unicode code points if ``offset_type`` is ``p`` (Python), UTF-16 units if it is ``j`` (Java);
clueval reads them as code points, and writes them in the unit of the file. Each set is a layer of the
document, the default set is the layer ``""``; the type is the label. Features of the document are its
metadata; features that are not strings become JSON.

Source: the documentation of ``gatenlp``, "Bdoc".
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from clueval.core.span import Span
from clueval.files.errors import FormatError, UsageError
from clueval.formats.format import Format, Options, check_added
from clueval.formats.opened import Opened
from clueval.formats.recognition import json_key
from clueval.formats.reference import wide_characters
from clueval.spans.document import Document

_ONLY_DOCUMENT = "1"
"""The id of the document if the file has no name for it."""

DEEPEST = 100
"""JSON that is nested deeper is refused, because values are copied, compared and written by recursion."""

_HALF = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u([dD][89a-fA-F][0-9a-fA-F]{2})|.)"
    "|([\ud800-\udfff])",
    re.DOTALL,
)
"""A JSON escape, with a group if it is half of a surrogate pair, or such a half without escape."""


def read_bdoc(data: str, *, file: str) -> Document:
    """Return the document in the content of a file: its text, each annotation set as a layer, its features.

    `file` is the name of the file in errors. The id of the document is the name in the file, or "1".
    Annotations keep their ids and are in the order of the file.

    Raises `FormatError`, with the line or with the ids of document and annotation, for malformed JSON, for
    values that are not allowed in the format, and for positions outside the text or within a character.

    >>> data = '{"text": "\U0001f600Ada", "offset_type": "j", "annotation_sets": {"Key": {"annotations": [{"type":'
    >>> data += '"Person", "start": 2, "end": 5, "id": 1}]}}}'
    >>> read_bdoc(data, file="d.bdocjs").layers["Key"]
    (Span(start=1, end=4, labels={'Key': 'Person'}, id=1),)
    """
    import json

    content = _Bdoc(data, file)
    return Document(
        content.id,
        {name: tuple(content.spans_of(name)) for name in content.sets},
        text=content.text,
        unit="character",
        metadata={
            name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            for name, value in content.features.items()
        },
        file=file,
        ordered=True,
    )


def write_bdoc(data: str, added: Mapping[str, Sequence[Span]], *, file: str) -> str:
    """Return the content of a file with further annotation sets and all other values unchanged.

    `added` maps the names of the new sets to their spans, in code points of the text. Their ids count from 0.
    Raises the `FormatError` of `read_bdoc`, and `UsageError` for a set that the file has already, a span
    outside the text, and a feature that JSON cannot represent.
    """
    import json

    content = _Bdoc(data, file)
    for name in content.sets:
        list(content.spans_of(name))  # checks the sets that are written back
    sets = dict(content.sets)
    check_added(added, sets, len(content.text), file)
    for name, spans in added.items():
        sets[name] = {
            "name": name,
            "annotations": [
                {
                    "type": span.label,
                    "start": content.written(span.start),
                    "end": content.written(span.end),
                    "id": number,
                    "features": dict(span.features),
                }
                for number, span in enumerate(spans)
            ],
            "next_annid": len(spans),
        }
    try:
        return json.dumps({**content.whole, "annotation_sets": sets}, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise UsageError(f"a feature cannot be written as JSON: {error}", file=file) from None


class _Bdoc:
    """The content of a file; each part is checked when it is read."""

    def __init__(self, data: str, file: str) -> None:
        self._file = file
        self.id = _ONLY_DOCUMENT
        self.whole = self._parsed(data)
        name = self.whole.get("name")
        if isinstance(name, str) and name:
            self.id = name
        text = self.whole.get("text")
        if not isinstance(text, str):
            self._refuse("the document has no text", "a bdoc has a string 'text'")
        self.text: str = text
        self.features = self._mapping(self.whole.get("features"), "the features of the document")
        self.sets = self._mapping(self.whole.get("annotation_sets"), "annotation_sets")
        kind = self.whole.get("offset_type")
        if kind not in ("p", "j"):
            self._refuse(f"the offset_type is {kind!r}", "'p' for code points or 'j' for UTF-16 units")
        # the characters of two UTF-16 units, by their place in the text and by the unit at which they begin
        self._wide = wide_characters(self.text) if kind == "j" else []
        self._pairs = [place + n for n, place in enumerate(self._wide)]

    def spans_of(self, name: str) -> Iterator[Span]:
        """Yield the spans of one set, in the order of the file."""
        whole = self._mapping(self.sets[name], f"annotation set {name!r}")
        annotations = whole.get("annotations")
        if not isinstance(annotations, list):
            self._refuse(f"annotation set {name!r} has no list of annotations")
        seen: set[int] = set()
        for annotation in annotations:
            span = self._span(annotation, name)
            if isinstance(span.id, int):
                if span.id in seen:
                    self._refuse(f"two annotations of set {name!r} have the id {span.id}")
                seen.add(span.id)
            yield span

    def _span(self, annotation: object, name: str) -> Span:
        if not isinstance(annotation, dict):
            self._refuse(f"annotation set {name!r} holds something that is not an annotation")
        number, kind = annotation.get("id"), annotation.get("type")
        whose = f"annotation {number!r} of set {name!r}"
        if number is not None and (isinstance(number, bool) or not isinstance(number, int)):
            self._refuse(f"{whose} has an id that is not a whole number")
        if not isinstance(kind, str) or not kind:
            self._refuse(f"{whose} has no type")
        start, end = (self._read(annotation.get(key), whose, key) for key in ("start", "end"))
        if end < start:
            self._refuse(f"{whose} ends before it starts")
        features = self._mapping(annotation.get("features"), f"the features of {whose}")
        return Span(start, end, {name: kind}, features, id=number)

    def _read(self, position: object, whose: str, key: str) -> int:
        """Convert a position of the file to a code point of the text."""
        if isinstance(position, bool) or not isinstance(position, int):
            self._refuse(f"{whose} has the {key} {position!r}, which is not a position")
        before = bisect_left(self._pairs, position)
        if before and self._pairs[before - 1] == position - 1:
            self._refuse(f"{whose} has the {key} {position}, which lies within a character")
        if not 0 <= position - before <= len(self.text):
            self._refuse(
                f"{whose} has the {key} {position}, outside the text, which ends at "
                f"{len(self.text) + len(self._pairs)}"
            )
        return position - before

    def written(self, place: int) -> int:
        """Convert a code point of the text to a position of the file."""
        return place + bisect_left(self._wide, place)

    def _parsed(self, data: str) -> dict[str, Any]:
        import json

        self._refuse_halves(data)
        try:
            whole = json.loads(data.removeprefix("\ufeff"))
        except json.JSONDecodeError as error:
            raise FormatError(
                f"not JSON: {error.msg}, column {error.colno}", file=self._file, line=error.lineno
            ) from None
        except RecursionError:
            raise self._too_deep() from None
        except ValueError as error:
            raise FormatError(f"JSON that cannot be read: {error}", file=self._file) from None
        if not isinstance(whole, dict):
            self._refuse("not a document: the JSON is not an object", "check that the file is a bdoc")
        level: list[Any] = [whole]
        for _ in range(DEEPEST):
            values = (value for one in level for value in (one.values() if isinstance(one, dict) else one))
            level = [value for value in values if isinstance(value, dict | list)]
            if not level:
                return whole
        raise self._too_deep()

    def _too_deep(self) -> FormatError:
        return FormatError(
            f"values are nested more than {DEEPEST} deep", file=self._file, advice="simplify the features"
        )

    def _refuse_halves(self, data: str) -> None:
        """Raise `FormatError` for half of a surrogate pair, which UTF-8 cannot represent."""
        if "\\u" not in data and data.isascii():
            return
        for match in _HALF.finditer(data):
            if half := match[1] or (match[2] and f"{ord(match[2]):x}"):
                raise FormatError(
                    f"half of a surrogate pair, U+{half.upper()}",
                    file=self._file,
                    line=data.count("\n", 0, match.start()) + 1,
                    advice="write the whole character",
                )

    def _mapping(self, value: object, what: str) -> dict[str, Any]:
        if value is None:
            return {}
        if not isinstance(value, dict):
            self._refuse(f"{what} must be an object, with names and values")
        return value

    def _refuse(self, problem: str, advice: str | None = None) -> NoReturn:
        raise FormatError(problem, file=self._file, document=self.id, advice=advice)


def _read(opened: Opened, _: Options) -> Iterator[Document]:
    yield read_bdoc(opened.text(), file=opened.file)


FORMAT = Format(
    name="bdoc",
    holds="GATE documents as JSON (`gatenlp`): a text and named annotation sets",
    signs=(json_key("annotation_sets"),),
    read=_read,
    single=True,
    sets=True,
    add_sets=lambda opened, added: write_bdoc(opened.text(), added, file=opened.file),
)
