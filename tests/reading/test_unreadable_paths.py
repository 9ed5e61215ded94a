"""Paths at which the system does not even let clueval look: every function refuses them with `FileError`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from corpora import write

from clueval import agree, check, convert, curate, diff, errors, masking, merge, profile, read, score
from clueval.files.errors import FileError

LONG = "x" * 5000


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return write(tmp_path / "g.conll", "a B-X\nb O\n")


@pytest.mark.parametrize(
    "call",
    [
        lambda gold: score(LONG, gold),
        lambda gold: score(gold, LONG),
        lambda gold: score([LONG], [gold]),
        lambda gold: score(f"{LONG}!member", gold),
        lambda gold: score(gold, gold, any_of=LONG),
        lambda gold: score(gold, gold, label_map=LONG),
        lambda gold: list(errors(LONG, gold)),
        lambda gold: list(read(LONG)),
        lambda gold: check(LONG),
        lambda gold: convert(LONG, "spans"),
        lambda gold: convert(gold, "spans", LONG),
        lambda gold: agree(LONG),
        lambda gold: agree(LONG, gold),
        lambda gold: list(curate(gold, LONG)),
        lambda gold: list(diff(gold, LONG, gold)),
        lambda gold: masking(gold, LONG),
        lambda gold: list(merge(LONG)),
        lambda gold: profile(LONG, gold).rows(),
    ],
)
def test_path_that_is_too_long_is_refused(call: Callable[[Path], Any], gold: Path) -> None:
    with pytest.raises(FileError, match=r"File name too long|there is no such file"):
        call(gold)


def test_text_whose_path_is_too_long_is_refused(tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", "start,end,label\n0,1,X\n")

    with pytest.raises(FileError, match="does not exist"):
        list(read(table, text=LONG))


def test_folder_of_annotators_that_cannot_be_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied", str(tmp_path))

    monkeypatch.setattr(Path, "iterdir", refuse)

    with pytest.raises(FileError, match="cannot be read: Permission denied"):
        agree(tmp_path)


def test_standard_input_that_is_closed_is_refused(gold: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)

    with pytest.raises(FileError, match="standard input is closed"):
        score("-", gold)
