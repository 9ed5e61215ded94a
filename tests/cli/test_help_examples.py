"""The examples in the help of every command run, one after the other, on files of the names that they use."""

from __future__ import annotations

import json
import re
import shlex
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from shutil import copytree

import pytest

from clueval.cli import main
from clueval.cli.commands import COMMANDS, command_called

SENTENCES = 12
GOLD, PREDICTED = (0, 4), (0, 5)
"""Of each sentence of six tokens, the two tokens that a side marks."""


def examples_of(command: str) -> list[str]:
    """Return the examples in the help of a command, without the remarks in brackets behind them."""
    text = re.sub(r"\\\n\s+", "", command_called(command).epilog)
    return [re.split(r" {3,}\(", line)[0] for line in re.findall(r"^  (clueval .*)$", text, re.MULTILINE)]


def rows(marked: tuple[int, ...], sentence: int) -> list[list[str]]:
    """Return token, entity, risk, id and entity id of the tokens of a sentence."""
    names = [f"Word{sentence}{'abcdef'[n]}" for n in range(6)]
    return [
        [name, "B-person", "B-high", f"{sentence}-{n}", f"B-e{n}"]
        if n in marked
        else [name, "O", "O", f"{sentence}-{n}", "O"]
        for n, name in enumerate(names)
    ]


def vrt(marked: tuple[int, ...], text: int | None = None) -> str:
    written = []
    for number in range(2) if text is None else [text]:
        lines = [
            "<s>\n" + "".join("\t".join(row) + "\n" for row in rows(marked, sentence)) + "</s>\n"
            for sentence in range(SENTENCES)
        ]
        written.append(f'<text id="d{number}" domain="civil" risk="high">\n{"".join(lines)}</text>\n')
    return "".join(written)


def conll(*sides: tuple[int, ...], tab: str = " ") -> str:
    """Return the tokens with a column of tags for each side; documents are not marked."""
    found = ""
    for sentence in range(SENTENCES):
        columns = [rows(marked, sentence) for marked in sides]
        found += (
            "".join(
                tab.join([row[0][0], *(each[1] for each in row)]) + "\n" for row in zip(*columns, strict=True)
            )
            + "\n"
        )
    return found


def jsonl(marked: tuple[int, ...], text: str, *, scored: bool) -> str:
    spans = [{"start": 2 * n, "end": 2 * n + 1, "label": "person", "score": 0.9 - n / 10} for n in marked]
    label = [[span["start"], span["end"], span["label"]] for span in spans]
    row = {"id": "1", "text": text} | ({"spans": spans} if scored else {"label": label})
    return json.dumps(row) + "\n"


def gate_corpus() -> str:
    def annotation(kind: str, start: int, number: int, **features: object) -> dict[str, object]:
        return {"type": kind, "start": start, "end": start + 3, "id": number, "features": features}

    key = [annotation("Person", 0, 1, id="Q1"), annotation("Place", 8, 2, id="Q2")]
    lists = [annotation("List", 0, 8, ids=[9]), annotation("Candidate", 0, 9, id="Q1", score=0.5)]
    sets = {"Key": key, "Response": [*key[:1], *lists], "Old": key[1:]}
    named = {name: {"name": name, "next_annid": 99, "annotations": own} for name, own in sets.items()}
    return json.dumps({"text": "Ada met Bob.", "offset_type": "p", "features": {}, "annotation_sets": named})


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all files that the examples name."""
    folder = tmp_path_factory.mktemp("written")
    with chdir(folder), redirect_stderr(StringIO()), redirect_stdout(StringIO()):
        write_files()
    return folder


@pytest.fixture
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: Path) -> None:
    copytree(written, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))


def write_files() -> None:
    Path(".zfunc").mkdir()
    sides = {
        "gold": GOLD,
        "predicted": PREDICTED,
        "one": PREDICTED,
        "two": GOLD,
        "old": GOLD,
        "new": PREDICTED,
    }
    sides |= {"a": PREDICTED, "b": GOLD, "anna": GOLD, "bob": PREDICTED, "carl": GOLD, "train": GOLD}
    for name, marked in sides.items():
        Path(f"{name}.vrt").write_text(vrt(marked), encoding="utf-8")
        Path(f"{name}.conll").write_text(conll(marked), encoding="utf-8")
        Path(name).mkdir()
        for number in range(2):
            Path(name, f"d{number}.vrt").write_text(vrt(marked, number), encoding="utf-8")
    Path("both.conll").write_text(conll(GOLD, PREDICTED), encoding="utf-8")
    assert main(["score", "both.conll", "--save", "saved.clueval"]) == 0
    Path("both.tsv").write_text(conll(GOLD, PREDICTED, tab="\t"), encoding="utf-8")
    for name, marked in {
        "dev": GOLD,
        "predicted": (*GOLD, 5),
        "test": GOLD,
        "predicted-test": PREDICTED,
    }.items():
        scored, text = name.startswith("predicted"), "u v w x y z" if "test" in name else "a b c d e f"
        Path(f"{name}.jsonl").write_text(jsonl(marked, text, scored=scored), encoding="utf-8")
    Path("corpus").mkdir()
    Path("corpus/a.bdocjs").write_text(gate_corpus(), encoding="utf-8")
    Path("published").mkdir()
    for number in range(2):
        words = [row[0] for sentence in range(SENTENCES) for row in rows(GOLD, sentence)]
        redacted = " ".join("Person A" if word.endswith("a") else word for word in words)
        Path(f"published/d{number}.txt").write_text(redacted, encoding="utf-8")
    Path("ner.config").write_text(
        "target_in = g.txt\nsystem_in = p.txt\neval_method = fair\n", encoding="utf-8"
    )
    for name, tag in (("g", "B-PER"), ("p", "O")):
        Path(f"{name}.txt").write_text(f"Ada NE {tag}\nmet V O\n", encoding="utf-8")
    for command in (
        "convert gold.vrt --layer entity=2 --to ltf --lossy -o ltf/",
        "agree anna.conll bob.conll carl.conll -o decisions.tsv",
        "merge predicted.vrt --layer entity=2 --layer risk=3 --token-id 4 -o other.tsv",
        *(
            f"score gold.conll {name[0]}.conll --metric exact --save {name}.clueval"
            for name in ("a1", "a2", "b1", "b2")
        ),
    ):
        assert main(command.split()) == 0
    next(Path("ltf").iterdir()).rename("gold.xml")


def test_help_of_most_commands_has_examples() -> None:
    assert sum(bool(examples_of(command)) for command in COMMANDS) > 15


@pytest.mark.few(3)
@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(command, marks=[pytest.mark.long] * (command == "guide"))  # writes the whole guide
        for command in COMMANDS
        if examples_of(command)
    ],
)
def test_examples_of_the_help_run(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    for example in examples_of(command):
        arguments = [word.replace("~", str(Path.home())) for word in shlex.split(example)[1:]]
        code = main(arguments)
        told = capsys.readouterr().err

        assert code == int("--fail-" in example), f"{example}\n{told}"
