"""Samples that were changed at random are read, or end in one error that names the file."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from fuzz.mutations import mutated

from clueval import read
from clueval.files.errors import CluevalError

FORMATS = Path(__file__).parents[2] / "clueval" / "samples" / "formats"
SAMPLES = {
    "hipe/gold.tsv": "conll",
    "germeval/gold.tsv": "conll",
    "wnut/gold.conll": "conll",
    "conllu/gold.conllu": "conllu",
    "conllup/gold.conllup": "conllu",
    "conll2012/gold.gold_conll": "conll2012",
    "i2b2/110-01.xml": "i2b2",
    "inline/answer.txt": "inline",
    "webanno/gold.tsv": "webanno",
}


@pytest.mark.parametrize(
    "numbers", [range(30), pytest.param(range(30, 150), marks=pytest.mark.long)], ids=str
)
@pytest.mark.parametrize(("sample", "name"), SAMPLES.items())
def test_changed_sample_is_read_or_refused_by_name(
    sample: str, name: str, numbers: range, tmp_path: Path
) -> None:
    data = (FORMATS / sample).read_bytes()
    path = tmp_path / Path(sample).name
    for number in numbers:
        rng = Random(f"{sample}{number}")
        changed = data
        for _ in range(rng.randint(1, 3)):
            changed = mutated(changed, rng)
        path.write_bytes(changed)
        layers = {"entity": "Entity", "label": "NER"} if name == "conllu" and number % 2 else None
        try:
            for document in read(path, layers, input=name):
                assert document.end is not None
        except CluevalError as error:
            assert path.name in str(error), number  # noqa: PT017  # both outcomes are allowed
