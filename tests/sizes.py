"""Small sizes, and files read as passages or as documents, for tests of what must not depend on any of these."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from unittest.mock import patch

from clueval.reading import clusters, column_files, triples
from clueval.reading.byte_reader import REGULAR
from clueval.reading.passages import Sizes


@contextmanager
def handed_in(sizes: Sizes) -> Iterator[None]:
    """Column files are read with these sizes."""
    counted = partial(column_files.bag_of_columns, sizes=sizes)
    with patch.object(column_files, "bag_of_columns", counted):
        yield


@contextmanager
def passages_alone() -> Iterator[None]:
    """No format is recognised as regular, so that column files are read as passages."""
    with patch.dict(REGULAR, clear=True):
        yield


@contextmanager
def documents_alone() -> Iterator[None]:
    """Files and lists are counted as documents, one by one, in this process and in those that it forks."""
    with (
        patch.object(column_files, "bag_of_columns", return_value=None),
        patch.object(triples, "bag_of_row_files", return_value=None),
        patch.object(clusters, "bag_of_tags", return_value=None),
        patch.object(triples, "bag_of_triples", return_value=None),
    ):
        yield
