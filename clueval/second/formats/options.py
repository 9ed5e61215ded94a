"""What readers of formats are told besides the file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clueval.files.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatOptions:
    """The options that formats read; None: not given.

    Attributes:
        layers: the source of each layer by its name.
        scheme, invalid: the scheme of tags, and the treatment of ill-formed ones.
        annotation_set: the annotation set that is read; `EVERY_SET`: each is a layer.
        offsets: the unit of positions in the file, one of `clueval.second.formats.reference.OFFSETS`.
        answers: ``accepted`` passes over rows that an annotator has rejected.
        names: the names of tags that are numbers, or a file that has them.
        text_key: the key of the text, where a row has several texts.
        unit: ``token`` for the positions of tokens in documents of spaCy.
        labels: the labels of inline tags; None: names in upper case.
        unparsable: ``empty`` counts an answer that cannot be read as one without spans, ``lenient`` leaves out tags
            that do not fit; otherwise it is an error.
        ignore_punct: whether punctuation belongs to no span, in FairEval's files of tokens.
        unplaced: whether mentions without a place in the text are spans at its beginning.
        token, token_id: the columns of tokens and of their ids, from 1, or from -1 at the end.
        document_column: the column of the ids of documents; a document begins where its value changes.
        meta: the names and columns of metadata.
        document_tag, sentence_tag: the names of these elements in vertical text.
    """

    layers: Mapping[str, int | str] | None = None
    scheme: str | None = None
    invalid: str | None = None
    annotation_set: str | None = None
    offsets: str | None = None
    answers: str | None = None
    names: Any = None
    text_key: str | None = None
    unit: str | None = None
    labels: Sequence[str] | None = None
    unparsable: str | None = None
    ignore_punct: bool = True
    unplaced: bool = False
    token: int | None = None
    token_id: int | None = None
    document_column: int | None = None
    meta: tuple[tuple[str, int], ...] = ()
    document_tag: str = "text"
    sentence_tag: str = "s"


EVERY_SET = "*"
"""The name that selects all annotation sets: each is a layer then."""

_SELECT_SETS = "select with gold_set and predicted_set, or with annotation_set if there is one side"


def sets_error(problem: str, file: str | None, known: Iterable[str]) -> UsageError:
    """Return the error for an annotation set that is not named, or that a file does not have."""
    names = ", ".join(repr(name) if name else "'' (the default set)" for name in known) or "none"
    return UsageError(problem, file=file, advice=f"its sets: {names}; {_SELECT_SETS}")
