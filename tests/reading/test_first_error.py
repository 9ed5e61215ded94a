from __future__ import annotations

from pathlib import Path

import pytest
from sizes import handed_in, passages_alone

from clueval import conventions, errors, score
from clueval.files.errors import FormatError
from clueval.reading.passages import Sizes

WITH_IDS = {"layers": {"label": 3}, "token_id": 2}
SENTENCES = [f"w {number} O\nw {number + 100} O\n\n" for number in range(6)]


@pytest.mark.parametrize("predicted", ["O", "B-X"])
def test_a_token_id_is_found_again_in_another_passage_of_its_document(tmp_path: Path, predicted: str) -> None:
    text = "".join([*SENTENCES, "w 2 O\n"])
    one, two = tmp_path / "one.conll", tmp_path / "two.conll"
    one.write_text(text)
    two.write_text(text.replace("O", predicted, 1))
    message = r"one\.conll:19: token id '2' is already used in line 7"

    with handed_in(Sizes(sentences=1)):
        for command in (score, conventions):
            with pytest.raises(FormatError, match=message):
                command(one, two, **WITH_IDS)
        with passages_alone(), pytest.raises(FormatError, match=message):
            score(one, two, **WITH_IDS)
        with pytest.raises(FormatError, match=message):
            list(errors(one, two, **WITH_IDS))


def test_token_ids_may_occur_again_in_another_document(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("-DOCSTART- 0 O\n\n".join(["", *["".join(SENTENCES)] * 2]))

    with handed_in(Sizes(sentences=1)):
        assert score(path, path, **WITH_IDS).tokens == 24
