"""Tags of two schemes in one file: the error names the file."""

from __future__ import annotations

from pathlib import Path

import pytest

import clueval
from clueval.cli import main
from clueval.files.errors import TagError

GOOD = "a B-X\nb I-X\n\nc O\nd O\n\ne O\n"
BAD = "a B-X\nb I-X\n\nc S-X\nd E-X\n\ne L-X\n"
PROBLEM = "tags of BIOES (E, S) and of BILOU (L, U) occur together (name the scheme with --scheme)\n"


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("good.conll").write_text(GOOD)
    Path("bad.conll").write_text(BAD)
    Path("good.jsonl").write_text('{"tokens": ["a", "b"], "tags": ["O", "O"]}\n')
    Path("bad.jsonl").write_text('{"tokens": ["a", "b"], "tags": ["S-X", "L-X"]}\n')


@pytest.mark.parametrize(
    "arguments",
    [
        "score good.conll bad.conll",
        "score bad.conll good.conll --by document",
        "score good.conll bad.conll --metric muc --merge",
        "score good.conll bad.conll --invalid discard",
        "score good.jsonl bad.jsonl",
        "score bad.jsonl good.jsonl --by document",
        "errors good.conll bad.conll",
        "conventions good.conll bad.conll",
        "agree good.conll bad.conll",
        "convert bad.conll --to doccano",
    ],
)
def test_error_names_the_file(arguments: str, capsys: pytest.CaptureFixture[str]) -> None:
    name = next(word for word in arguments.split() if word.startswith("bad"))
    place = f"{name}:1" if name.endswith(".jsonl") else name  # the number of the row

    assert main(arguments.split()) == 2

    assert capsys.readouterr().err == f"clueval {arguments.split()[0]}: {place}: {PROBLEM}"


@pytest.mark.parametrize("bad", ["gold", "predicted"])
def test_error_names_the_side_of_lists_of_tags(bad: str) -> None:
    good, mixed = [["B-X", "I-X"], ["O", "O"], ["O"]], [["B-X", "I-X"], ["S-X", "E-X"], ["L-X"]]

    with pytest.raises(TagError) as raised:
        clueval.score(*((mixed, good) if bad == "gold" else (good, mixed)))

    assert f"{raised.value}\n" == f"{bad}: {PROBLEM}".replace("--scheme", "scheme=...")
