"""Data frames of pandas and polars: tables of spans, one in each row, or rows of a dataset.

A table of spans has the columns ``start``, ``end`` or ``end_inclusive``, and ``label`` under the keys of
`clueval.formats.span_forms`, and the id of the document under a name of `clueval.formats.span_forms` or ``id``; without
such a column it is one document. These names may begin with a capital. Other columns are passed over. A row without
start, end and label is a document without spans. No library of frames is imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clueval.files.errors import UsageError
from clueval.formats.span_forms import DOCUMENTS, END_INCLUSIVE, ENDS, LABELS, STARTS, as_whole, ends_in
from clueval.formats.table_columns import fragments_in, is_number_of_row, usual

_OF_TOKENS = ("tag", "tags", "ner", "ner_tag", "ner_tags", "token", "word")


def records_of(frame: Any) -> list[dict[str, Any]]:
    """Return the rows of a frame as dictionaries. Missing values are None, and whole numbers are no floats."""
    names = list(frame.columns)
    if len(set(names)) < len(names):
        raise UsageError("a data frame has two columns with one name", advice="rename one")
    columns = [map(_plain, frame[name].to_list()) for name in names]
    return [dict(zip(map(str, names), row, strict=True)) for row in zip(*columns, strict=True)]


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int):
        return value
    if type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value):
        return None
    return as_whole(value)


def spans_by_document(
    records: Sequence[Mapping[str, Any]], columns: Sequence[str], name: str
) -> dict[str, list[Mapping[str, Any]]] | list[Mapping[str, Any]]:
    """Return the spans of a table by the id of their document; a list if no column names documents.

    `name` is the name of the side in errors. Raises `UsageError` for a frame without columns of spans, and for
    columns that do not tell which span belongs to which document.
    """
    columns = [usual(str(column), _KNOWN) for column in columns]
    if len(set(columns)) < len(columns):
        raise UsageError(f"{name} has two columns with one name", advice="rename one")
    starts, ends = [column for column in columns if column in STARTS], ends_in(columns)
    for what, several in (("the end", ends), ("the start", starts)):
        if len(several) > 1:
            raise UsageError(
                f"{name} has several columns for {what}: {', '.join(several)}", advice="keep one of them"
            )
    if not starts or not ends:
        raise UsageError(
            f"{name} must not be a data frame without columns start and end (its columns: "
            f"{', '.join(map(repr, columns)) or 'none'})",
            advice="tags become lists by [own['tag'].tolist() for _, own in frame.groupby('sentence', sort=False)]"
            if any(column.lower() in _OF_TOKENS for column in columns)
            else "rename them, or give a list of spans for each document; clueval guide start-lists shows how",
        )
    label = next((key for key in LABELS if key in columns), None)
    if label is None:
        raise UsageError(
            f"{name} has no column label (its columns: {', '.join(map(repr, columns))})",
            advice=f"rename one: {', '.join(LABELS)}",
        )
    span_columns = (*starts, *ends, label)
    document = _column_of_documents(columns, span_columns, name)
    if document == "id" and len(records) > 1 and len({record["id"] for record in records}) == len(records):
        raise UsageError(
            f"{name} has another id in each row, so the ids may be those of spans",
            advice="rename the column to document if they are ids of documents",
        )
    by_document: dict[str, list[Mapping[str, Any]]] = {}
    for number, values in enumerate(records):
        record, place = dict(zip(columns, values.values(), strict=True)), f"row {number} of {name}"
        id_ = "" if document is None else record[document]
        if id_ is None:
            raise UsageError(f"{place} has no {document}", advice="each span needs its document")
        spans = by_document.setdefault(str(id_), [])
        if document is None or any(record[key] is not None for key in span_columns):
            spans.append(_span(record, span_columns, place))
    if document is not None:
        return by_document
    spans = by_document.get("", [])
    if any(
        isinstance(span.get("text"), str) and _length(span) not in (None, len(span["text"])) for span in spans
    ):
        raise UsageError(
            f"{name} has no column document, and texts that are longer or shorter than their spans",
            advice="add the column document with the ids of the documents",
        )
    return spans


def _column_of_documents(columns: Sequence[str], span_columns: Sequence[str], name: str) -> str | None:
    document_columns = [column for column in columns if column in DOCUMENTS]
    if len(document_columns) > 1:
        raise UsageError(
            f"{name} has several columns that name documents: {', '.join(document_columns)}",
            advice="keep the one in which positions count from 0",
        )
    if document_columns or "id" in columns:
        return [*document_columns, "id"][0]
    known_columns = (*span_columns, "text", "score", "fragments")
    others = [column for column in columns if column not in known_columns and not is_number_of_row(column)]
    if others:
        raise UsageError(
            f"{name} has no column document, and other columns: {', '.join(map(repr, others))}",
            advice="rename the one with the ids of the documents to document; if all spans are of one document, keep "
            "only start, end and label",
        )
    return None


def _span(record: Mapping[str, Any], span_columns: Sequence[str], place: str) -> Mapping[str, Any]:
    """Return the part of a row that is its span; the score of a prediction stays with it.

    Raises `UsageError` for a row without a label, and for fragments that are not written as in files.
    """
    if record[span_columns[-1]] is None:
        raise UsageError(
            f"{place} has no label",
            advice="pandas reads the label NA as a missing value, unless keep_default_na=False is given",
        )
    fragments = record.get("fragments")
    if isinstance(fragments, str):
        fragments = fragments_in(fragments) if fragments else None
        if fragments is None and record["fragments"]:
            raise UsageError(
                f"{place}: fragments are written as in '0-2;7-8'", advice="with the last position of each"
            )
    span = {key: record[key] for key in span_columns}
    if fragments:
        # what joins their texts is not known
        return {**span, "fragments": fragments, "score": record.get("score")}
    return {**span, **{key: record[key] for key in ("text", "score") if record.get(key) is not None}}


def _length(span: Mapping[str, Any]) -> int | None:
    """Return the number of positions of a span; None if a position is no number."""
    start, end, *_ = span.values()
    return end + (END_INCLUSIVE in span) - start if isinstance(start, int) and isinstance(end, int) else None


_KNOWN = {*DOCUMENTS, *STARTS, *ENDS, *LABELS, END_INCLUSIVE, "id", "text", "score"}
