"""Small sizes, and files read without lockstep, for tests of what must not depend on either."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from unittest.mock import patch

from clueval.evaluation.lockstep.regular import REGULAR
from clueval.formats.columns.sizes import Sizes
from clueval.reading.options import ReadOptions


@contextmanager
def handed_in(sizes: Sizes) -> Iterator[None]:
    """Evaluations of files read them with these sizes."""
    with patch("clueval.evaluation.run.ReadOptions", partial(ReadOptions, sizes=sizes)):
        yield


@contextmanager
def passages_alone() -> Iterator[None]:
    """No format is recognised as regular, so that column files are read as passages."""
    with patch.dict(REGULAR, clear=True):
        yield
