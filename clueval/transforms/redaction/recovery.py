"""`recover`: the spans of an original text that are masked in its redacted version."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clueval.exceptions import TextMismatch, UsageError, checked_call, described
from clueval.spans.document import Document
from clueval.spans.span import Span
from clueval.transforms.characters import tokens_in
from clueval.transforms.redaction.aligned import read_aligned
from clueval.transforms.redaction.placeholders import Place, find_placeholders, patterns_of
from clueval.transforms.redaction.strict import MaskedRange, StrictReading

LABEL = "MASK"


@dataclass(frozen=True, slots=True)
class Recovery:
    """The spans that are masked, and those of a second reading; numbers of placeholders and of replaced words.

    `aligned` says whether the texts had to be aligned. In the ranges `uncertain`, no reading has its wildcards between
    words.
    """

    spans: Sequence[Span]
    from_the_right: Sequence[Span]
    placeholders: int
    replaced_words: int = 0
    aligned: bool = False
    uncertain: Sequence[Place] = ()


@checked_call
def recover(
    original: str | Document, redacted: str, placeholder: Iterable[str] | str = (), align: bool = False
) -> list[Span]:
    """Return the spans of an original text that placeholders stand for in its redacted version.

    Args:
        original: the text, or a document; if a document has only tokens, white space is ignored, and
            positions are those of its tokens joined by blanks.
        redacted: the redacted text.
        placeholder: regular expressions of further placeholders (see `placeholders`).
        align: takes texts that differ in more than their placeholders, too (extra ``align``), see `aligned`.

    The spans are labelled ``MASK``, their feature ``replacement`` is what stands for them; of several
    placeholders in a row, the feature ``parts`` has start, end and placeholder of each, where only one reading is
    possible. Where several readings are possible, placeholders stand for whole words, or tokens if the document
    has tokens (see `strict`). Cost is linear in the texts unless they are aligned. Raises `TextMismatch`, which
    names the character, if the rest of the redacted text is not in the original.

    >>> [(span.start, span.end, span.features["replacement"]) for span in recover("Frau Weiß klagt", "Frau W. klagt")]
    [(5, 9, 'W.')]
    """
    if not isinstance(original, str | Document):
        raise UsageError(f"original must be text or a Document, not {described(original)}")
    return list(recovery_of(original, redacted, placeholder, align=align).spans)


def recovery_of(
    original: str | Document, redacted: str, placeholder: Iterable[str] | str = (), *, align: bool = False
) -> Recovery:
    """Return what `recover` finds, with the second reading and the numbers."""
    text, joined, tokens = (original, False, []) if isinstance(original, str) else _text_of(original)
    placeholders = find_placeholders(redacted, patterns_of(placeholder))
    try:
        left, right, uncertain = StrictReading(
            text, redacted, placeholders, joined=joined, tokens=tokens
        ).read()
        return Recovery(_spans(left), _spans(right), len(placeholders), uncertain=uncertain)
    except TextMismatch:
        if not align:
            raise
    found = read_aligned(text, redacted, placeholders)
    spans = found.masked
    return Recovery(_spans(spans), _spans(spans), len(placeholders), found.replaced_words, aligned=True)


def _text_of(document: Document) -> tuple[str, bool, Sequence[Place]]:
    """Return the text of a document, whether it is only that of its tokens, and the ranges of these."""
    if document.text is None and document.tokens is None:
        raise UsageError(
            "an original without text cannot be compared", document=document.id, file=document.file
        )
    tokens = document.tokens or ()
    text = " ".join(tokens) if document.text is None else document.text
    return text, document.text is None, tokens_in(text, tokens)


def _spans(ranges: Iterable[MaskedRange]) -> list[Span]:
    return [
        Span(
            one.start,
            one.end,
            LABEL,
            {"replacement": one.replacement} | ({"parts": one.parts} if one.parts else {}),
        )
        for one in ranges
    ]
