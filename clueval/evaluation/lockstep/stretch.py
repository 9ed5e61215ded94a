"""Regular stretches of two files, which the readers of lockstep yield."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from clueval.evaluation.lockstep.columns import Columns
from clueval.evaluation.lockstep.tag_runs import TagRuns
from clueval.formats.columns.builder import NamedDocument


class DocumentPart(NamedTuple):
    """Regular lines of one document: whether it begins here, its tokens here and their tag runs by layer."""

    begins: bool
    document: NamedDocument
    tokens: int
    runs: Sequence[TagRuns]


class Stretch(NamedTuple):
    """A regular stretch of two files: the number of documents that begin in it, and the number of its tokens.

    `columns` hold the tags of these tokens and of stretches before; they are empty until there are many tag runs.
    `parts` are the parts of the stretch, each of one document, if documents are kept apart.
    """

    documents: int
    tokens: int
    columns: Sequence[Columns] = ()
    parts: Sequence[DocumentPart] = ()

    @property
    def last(self) -> NamedDocument | None:
        """The document in which the stretch ends, if documents are kept apart."""
        return self.parts[-1].document if self.parts else None
