"""The report on documents whose positions are tokens against that on their characters."""

from __future__ import annotations

from functools import partialmethod
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pytest

from clueval import MaskingReport, UsageError, masking
from clueval.metrics.masking import Masking

WORDS = ("Anna", "anna", "Öz", ",", "x-y", "A_b", "12345", "O", "d.")
TAGS = ("O", "O", "B-A", "I-A", "I-B")
FURTHER = ("O", "O", "B-high", "I-low")
SETTINGS: list[dict[str, Any]] = [
    *({}, {}, {"by": "document"}, {"where": "document=d1"}, {"where": "entity=A"}, {"keep": "A"}),
    *({"masks": "risk"}, {"ignore_words": ["anna", "öz"]}, {"entity": "who"}, {"annotators": "entity,who"}),
]


def written(random: Random, folder: Path) -> list[str]:
    """Write a random gold file and a random predicted one, and return their paths."""
    texts: list[list[str]] = [[], []]
    for number in range(random.randint(1, 3)):
        head = random.choice([f'<text id="d{number}">', '<text id="d">', "<text>"])
        sentences = [
            [(random.choice(WORDS), random.choice(FURTHER), *random.choices(TAGS, k=3)) for _ in range(size)]
            for size in random.choices(range(1, 12), k=random.randrange(4))
        ]
        for side, lines in enumerate(texts):
            lines.append(head)
            for rows in sentences:
                lines += [
                    "<s>",
                    *("\t".join((row[0], row[side + 2], row[1], row[4])) for row in rows),
                    "</s>",
                ]
            lines.append("</text>")
    paths = [folder / "gold.vrt", folder / "predicted.vrt"]
    for path, lines in zip(paths, texts, strict=True):
        path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return list(map(str, paths))


def shown(report: MaskingReport | str) -> tuple[Any, ...]:
    """Return all that a report shows."""
    if isinstance(report, str):
        return (report,)
    leaks = [(leak.label, leak.text, leak.contexts, leak.siblings) for leak in report.leaks]
    strings = [(leak.text, leak.contexts) for leak in report.string_leaks]
    return report.to_dict(), leaks, strings, report.needless, report.inconsistent


def found(paths: list[str], **settings: Any) -> MaskingReport | str:
    try:
        return masking(*paths, layers={"entity": 2, "risk": 3, "who": 4}, **settings)
    except UsageError as error:
        return str(error)


def in_characters(paths: list[str], **settings: Any) -> MaskingReport | str:
    with patch.object(Masking, "examine", partialmethod(Masking.examine, in_characters=True)):
        return found(paths, **settings)


def in_turn(random: Random, tmp_path: Path, runs: int) -> int:
    """Compare both ways with random files, and return how many leaks they have."""
    leaks = 0
    for _ in range(runs):
        paths, settings = written(random, tmp_path), random.choice(SETTINGS)
        report = found(paths, **settings)
        assert shown(report) == shown(in_characters(paths, **settings))
        leaks += 0 if isinstance(report, str) else len(report.leaks)
    return leaks


def test_leaks_of_tokens_are_those_of_their_characters(tmp_path: Path) -> None:
    assert in_turn(Random(3), tmp_path, 30) > 100


@pytest.mark.long
def test_leaks_of_tokens_of_many_files_are_those_of_their_characters(tmp_path: Path) -> None:
    assert in_turn(Random(4), tmp_path, 400) > 1000
