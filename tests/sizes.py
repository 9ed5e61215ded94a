"""Small sizes, and files read as passages or as documents, for tests of what must not depend on any of these."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any
from unittest.mock import patch

from clueval.evaluation.plan import Plan
from clueval.formats.columns.layout import Sizes
from clueval.reading.read_options import ReadOptions
from clueval.reading import column_files, passages, row_files, tag_lists, triples
from clueval.reading.byte_reader import REGULAR


@contextmanager
def handed_in(sizes: Sizes) -> Iterator[None]:
    """Files are read with these sizes."""
    small = passages.Sizes(sizes.block, sizes.sentences, sizes.tokens, sizes.rows)
    counted = partial(column_files.bag_of_columns, sizes=small)
    with (
        patch.object(ReadOptions, "of", partial(_of, sizes)),
        patch.object(column_files, "bag_of_columns", counted),
    ):
        yield


_options_of = ReadOptions.of


def _of(sizes: Sizes, *arguments: Any, **choices: Any) -> ReadOptions:
    return replace(_options_of(*arguments, **choices), sizes=sizes)


@contextmanager
def passages_alone() -> Iterator[None]:
    """No format is recognised as regular, so that column files are read as passages."""
    with patch.dict(REGULAR, clear=True):
        yield


@contextmanager
def documents_alone() -> Iterator[None]:
    """Files and lists are counted as documents, one by one, in this process and in those that it forks."""
    with (
        patch.object(Plan, "counts_clusters", return_value=False),
        patch.object(column_files, "bag_of_columns", return_value=None),
        patch.object(row_files, "bag_of_row_files", return_value=None),
        patch.object(tag_lists, "bag_of_tags", return_value=None),
        patch.object(triples, "bag_of_triples", return_value=None),
    ):
        yield
