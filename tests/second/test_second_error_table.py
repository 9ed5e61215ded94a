"""`error_table`: the rows of any spans of a document, as the first edition makes them."""

from __future__ import annotations

import pickle
from random import Random

import pytest

import clueval
from clueval.core.document import Document
from clueval.core.span import Span
from clueval.files.errors import SpanError, UsageError
from clueval.findings.rows import split_first
from clueval.second.reports.forms import as_text
from clueval.second.studies.error_table import error_table
from clueval.second.studies.errors import Errors
from tests.second.compare import KINDS, corpus
from tests.second.compare_errors import furnished, second_with_lines

TOKENS = ["Frau", "Anna", "Weiß", "wohnt"]


def test_rows_equal_the_first_edition_on_random_documents() -> None:
    random = Random(4)
    compared = 0
    for _ in range(60):
        made = corpus(random, random.choice(KINDS))
        given = furnished(
            random, [([gold], each) for gold, each in zip(made.gold, made.predicted, strict=True)]
        )
        for (gold,), predicted in given:
            side = random.choice(["gold", "predicted", None])
            options = {"side": side, "window": random.choice([None, 2])}
            spans = [span for layer in gold.layers.values() for span in layer]
            own, other = second_with_lines(gold), second_with_lines(predicted)
            try:
                columns, first = split_first(clueval.error_table(spans, gold, predicted, **options))  # type: ignore[arg-type]
                expected = [columns.row(each) for each in first]
            except clueval.CluevalError:
                continue
            of_layers = [span for layer in own.layers.values() for span in layer]
            rows = list(error_table(of_layers, own, other, **options))  # type: ignore[arg-type]
            for row, today in zip(rows, expected, strict=True):
                cells = {name: as_text(cell, Errors([]).kinds) for name, cell in row.items()}
                skipped = ("comment", "context")  # zero length
                assert {n: cells[n] for n in today if n not in skipped} == {
                    n: cell for n, cell in today.items() if n not in skipped
                }
                compared += 1
    assert compared > 200


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
