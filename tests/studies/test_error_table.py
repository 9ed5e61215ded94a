"""`error_table`: the rows of any spans of a document."""

from __future__ import annotations

import pickle

import pytest

from clueval.core.document import Document
from clueval.core.span import Span
from clueval.files.errors import SpanError, UsageError
from clueval.studies.rows import error_table

TOKENS = ["Frau", "Anna", "Weiß", "wohnt"]


def test_a_row_is_a_dictionary_with_attributes() -> None:
    own = Document("d", {"label": [Span(1, 3, "PER")]}, tokens=TOKENS)
    other = Document("d", {"label": [Span(0, 2, "LOC")]}, tokens=TOKENS)
    (row,) = error_table(own.layers["label"], own, other)

    assert (row.side, row.kind, row["class"], row.reason) == ("", "partial", "partial", "boundary+label")
    assert (row.labels, row.found, row.other_labels) == ({"label": "PER"}, {}, ({"label": "LOC"},))
    again = pickle.loads(pickle.dumps(row))
    assert (again, again.labels) == (row, row.labels)


def test_wrong_arguments_are_refused() -> None:
    own = Document("d", {"label": []}, tokens=TOKENS)
    with pytest.raises(UsageError, match="no layer 'risk'"):
        error_table([], own, own, layer="risk")
    with pytest.raises(UsageError, match="window cannot be -1"):
        error_table([], own, own, window=-1)
    with pytest.raises(SpanError, match="lies outside the text"):
        list(error_table([Span(2, 9, "A")], own, own))
