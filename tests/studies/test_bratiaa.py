"""F1 of pairs against the program bratiaa, which reads brat folders of annotators."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from corpora import write

from clueval import agree

TEXT = "word " * 20
LABELS = ("LOC", "ORG", "PER")


def write_project(folder: Path, chance: random.Random) -> None:
    """Write a brat folder for each of three annotators, who often agree."""
    write(folder / "annotation.conf", "[entities]\nLOC\nORG\nPER\n[relations]\n[events]\n[attributes]\n")
    for number in range(4):
        usual = [(place, chance.choice(LABELS)) for place in chance.sample(range(15), 6)]
        for name in ("anna", "bob", "carl"):
            (folder / name).mkdir(exist_ok=True)
            own = {(place, place + chance.choice([1, 1, 2]), label) for place, label in usual}
            own |= {(16 + at, 17 + at, chance.choice(LABELS[: at + 1])) for at in range(3)}
            lines = [
                f"T{n}\t{label} {5 * start} {5 * end - 1}\t{TEXT[5 * start : 5 * end - 1]}\n"
                for n, (start, end, label) in enumerate(sorted(own), 1)
            ]
            write(folder / name / f"d{number}.txt", TEXT)
            write(folder / name / f"d{number}.ann", "".join(lines))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_agree_exact_is_the_f1_of_bratiaa(tmp_path: Path, seed: int) -> None:
    bratiaa = pytest.importorskip("bratiaa")
    write_project(tmp_path, random.Random(seed))

    expected = bratiaa.compute_f1_agreement(str(tmp_path))
    found = agree(tmp_path, conventions="exact").to_dict()["agreement"]["label"]["f1"]["exact"]
    matrix = [
        [1.0 if i == j else value for j, value in enumerate(row)] for i, row in enumerate(found["matrix"])
    ]

    assert expected.annotators == ["anna", "bob", "carl"]
    assert matrix == pytest.approx(expected.compute_total_f1_matrix())
    assert (found["mean"], found["sd"]) == pytest.approx(expected.mean_sd_total())
    by_label = zip(expected.labels, *expected.mean_sd_per_label(), strict=True)
    for label, mean, sd in by_label:
        assert (found["per_label"][label]["mean"], found["per_label"][label]["sd"]) == pytest.approx(
            (mean, sd)
        )
