"""Values of any length: an error shows what is around the difference, and nothing takes forever."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpora import write

from clueval import read, score
from clueval.exceptions import TextMismatch


@pytest.mark.parametrize("raw", [True, False])
def test_error_about_long_tokens_shows_the_first_difference(tmp_path: Path, raw: bool) -> None:
    gold = write(tmp_path / "g.vrt", f"{'a' * 5000}b{'c' * 5000}\tO\n")
    predicted = write(tmp_path / "p.vrt", f"{'a' * 5000}x{'c' * 5000}\tO\n")

    with pytest.raises(TextMismatch) as caught:
        score(gold, predicted) if raw else score(read(gold), read(predicted))

    message = str(caught.value)
    assert "ab" + "c" * 39 in message
    assert "ax" + "c" * 39 in message
    assert "from character 4960 on" in message
    assert len(message) < 1000


def test_error_shows_a_token_that_is_the_beginning_of_a_long_one(tmp_path: Path) -> None:
    gold, predicted = (write(tmp_path / f"{n}.vrt", f"{'a' * n}\tO\n") for n in (100, 200))

    with pytest.raises(TextMismatch, match=r"token '(a{40})' from character 60 on where .* has '(a{80})'"):
        score(gold, predicted)


@pytest.mark.parametrize("size", [40, 81, 90, 5000])
@pytest.mark.parametrize("character", ["a", "\x01", "\u202e", "\U000e0001"])
def test_error_shows_the_difference_of_two_tokens_of_any_length(
    tmp_path: Path, size: int, character: str
) -> None:
    gold, predicted = (write(tmp_path / f"{end}.vrt", f"{character * size}{end}\tO\n") for end in "xy")

    with pytest.raises(TextMismatch) as caught:
        score(gold, predicted)

    message = str(caught.value)
    assert "x'" in message
    assert "y'" in message
    assert len(message) < 1500
