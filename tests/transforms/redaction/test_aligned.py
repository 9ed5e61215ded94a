"""Redacted texts that are aligned: surrogates, deletions, edits."""

from __future__ import annotations

import pytest

from clueval import recover
from clueval.exceptions import TextMismatch
from clueval.transforms.redaction.recovery import recovery_of

pytest.importorskip("rapidfuzz")

ORIGINAL = "Frau Anna Weiß aus Ulm klagt gegen Karl Öz, der in Köln wohnt und dort ein Haus hat."


def masked(redacted: str) -> list[str]:
    return [ORIGINAL[span.start : span.end] for span in recover(ORIGINAL, redacted, align=True)]


def test_a_text_that_can_be_read_word_for_word_is_not_aligned() -> None:
    found = recovery_of(ORIGINAL, ORIGINAL.replace("Ulm", "[ORT]"), align=True)

    assert (found.aligned, found.replaced_words, len(found.spans)) == (False, 0, 1)


def test_a_surrogate_masks_and_counts_its_words() -> None:
    redacted = ORIGINAL.replace("Karl Öz", "Peter Braun").replace("Ulm", "[ORT]")

    found = recovery_of(ORIGINAL, redacted, align=True)

    assert masked(redacted) == ["Ulm", "Karl Öz"]
    assert (found.aligned, found.replaced_words) == (True, 2)


def test_a_deletion_without_placeholder_masks() -> None:
    assert masked(ORIGINAL.replace(" aus Ulm", "")) == ["aus Ulm"]


def test_an_edit_of_a_word_exposes_it() -> None:
    assert masked(ORIGINAL.replace("klagt", "klagte").replace("Köln", "Kölln")) == []


def test_an_insertion_masks_nothing() -> None:
    assert masked(ORIGINAL.replace("klagt", "klagt nun")) == []


def test_another_text_is_refused() -> None:
    with pytest.raises(TextMismatch, match="check that both are the same text"):
        recover(ORIGINAL, "Ganz andere Worte stehen hier und nichts davon war je dort zu lesen.", align=True)
    with pytest.raises(TextMismatch, match="check that both are the same text"):
        recover("a " * 2000, "b " * 2000, align=True)
