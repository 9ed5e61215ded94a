"""No output of any command replaces a file that the command reads, by whatever name."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from clueval.cli import COMMANDS, main
from clueval.cli.commands import command_parser
from clueval.cli.outputs import refuse_to_overwrite
from clueval.exceptions import FileError, UsageError

SAMPLES = Path(__file__).parents[1] / "samples"

CONLL = "a B-X\nb O\n\nc B-Y\n"
LTF = "<body>a <e>b</e></body>"
BDOC = json.dumps(
    {
        "object": "gate:Document",
        "text": "a b",
        "offset_type": "p",
        "annotation_sets": {
            name: {"annotations": [{"id": 1, "start": 0, "end": 1, "type": "X", "features": {}}]}
            for name in ("Key", "Response")
        },
    }
)
TABLE = "document\tstart\tend_inclusive\tlabel\na:1\t0\t0\tX\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file of each kind, and the way there as the working folder."""
    files = {
        "gold.conll": CONLL,
        "predicted.conll": CONLL,
        "one/a.conll": CONLL,
        "two/a.conll": CONLL,
        "a.ltf": LTF,
        "run.config": "target_in = t.csv\nsystem_in = s.csv\neval_out = OUT\n",
        "t.csv": "X,1,1,0\n",
        "s.csv": "X,1,1,0\n",
        "spans.tsv": TABLE,
        "spans.vrt": "<text id='a:1'>\n<s>\na\n</s>\n</text>\n",
        "text.vrt": "<text id='a:1'>\n<s>\na\n</s>\n</text>\n",
        "words.txt": "Frau\n",
        "counts.txt": "Frau\t3\n",
        "pairs.csv": "Annotation,Prediction\na.conll,../two/a.conll\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


BOTH = ["gold.conll", "predicted.conll"]
NOISY = ["--metric", "noisy"]

CASES: list[tuple[str, list[str]]] = [
    *(
        (name, [*command, option, "OUT"])
        for name in ("gold.conll", "predicted.conll")
        for command, option in (
            (["errors", *BOTH], "--tsv"),
            (["errors", *BOTH], "--xlsx"),
            (["errors", *BOTH], "--html"),
            (["conventions", *BOTH], "--html"),
            (["gate", *BOTH], "--html"),
            (["gate", *BOTH], "--gate-tsv"),
            (["errors", *BOTH, *NOISY], "--html"),
            (["score", *BOTH], "-o"),
            (["conventions", *BOTH], "-o"),
            (["profile", *BOTH], "-o"),
            (["threshold", *BOTH, "--score-feature", "s"], "-o"),
            (["threshold", *BOTH, "--score-feature", "s"], "--html"),
            (["gate", *BOTH], "-o"),
            (["check", *BOTH], "-o"),
            (["masking", *BOTH], "-o"),
            (["masking", *BOTH], "--tsv"),
            (["masking", *BOTH], "--html"),
            (["agree", *BOTH], "-o"),
            (["agree", *BOTH], "--tsv"),
            (["agree", *BOTH], "--xlsx"),
            (["agree", *BOTH], "--html"),
            (["agree", *BOTH], "--pygamma"),
            (["curate", *BOTH], "-o"),
            (["curate", *BOTH], "--undecided"),
        )
    ),
    ("gold.conll", ["score", *BOTH, "--save", "OUT"]),
    ("predicted.conll", ["score", *BOTH, "--fail-if-worse", "predicted.conll", "--save", "OUT"]),
    ("gold.conll", ["diff", *BOTH, "one/a.conll", "-o", "OUT"]),
    ("one/a.conll", ["diff", *BOTH, "one/a.conll", "-o", "OUT"]),
    ("one/a.conll", ["diff", *BOTH, "one/a.conll", "--html", "OUT"]),
    ("gold.conll", ["compare", *BOTH, "--html", "OUT"]),
    ("one/a.conll", ["compare", "gold.conll", "predicted.conll,one/a.conll", "-o", "OUT"]),
    ("gold.conll", ["merge", "gold.conll", "-o", "OUT"]),
    ("gold.conll", ["convert", "gold.conll", "--to", "spans", "-o", "OUT"]),
    ("a.ltf", ["convert", "a.ltf", "--input", "ltf", "--to", "ltf", "-o", "OUT"]),
    ("one/a.conll", ["errors", "one", "two", "--tsv", "OUT"]),
    ("two/a.conll", ["gate", "one", "two", "--gate-tsv", "OUT"]),
    ("spans.vrt", ["merge", "spans.tsv", "--input", "spans", "-o", "OUT"]),
    ("spans.vrt", ["conventions", "spans.tsv", "spans.tsv", "--input", "spans", "--html", "OUT"]),
    ("text.vrt", ["merge", "spans.tsv", "--input", "spans", "--text", "text.vrt", "-o", "OUT"]),
    ("text.vrt", ["errors", "spans.tsv", "spans.tsv", "--text", "text.vrt", "--tsv", "OUT"]),
    ("text.vrt", ["gate", "spans.tsv", "spans.tsv", "--text", "text.vrt", "--gate-tsv", "OUT"]),
    ("two/a.conll", ["errors", "--pairs", "pairs.csv", "one", *NOISY, "--html", "OUT"]),
    ("pairs.csv", ["errors", "--pairs", "pairs.csv", "one", *NOISY, "--html", "OUT"]),
    ("pairs.csv", ["score", "--pairs", "pairs.csv", "one", *NOISY, "-o", "OUT"]),
    ("one/a.conll", ["agree", *BOTH, "--system", "one/a.conll", "--tsv", "OUT"]),
    ("words.txt", ["curate", *BOTH, "--decisions", "words.txt", "-o", "OUT"]),
    ("words.txt", ["masking", *BOTH, "--ignore-words", "words.txt", "--tsv", "OUT"]),
    ("one/a.conll", ["profile", *BOTH, "--train", "one/a.conll", "-o", "OUT"]),
    ("counts.txt", ["masking", *BOTH, "--word-weights", "counts.txt", "-o", "OUT"]),
    ("run.config", ["faireval", "run.config", "-o", "OUT"]),
    *((name, ["faireval", "run.config"]) for name in ("t.csv", "s.csv", "run.config")),
]


def directly(name: str) -> str:
    return name


def by_a_detour(name: str) -> str:
    Path("detour").symlink_to(".")
    return f"detour/{name}"


def by_a_symbolic_link(name: str) -> str:
    Path("symbolic").symlink_to(name)
    return "symbolic"


def by_a_hard_link(name: str) -> str:
    Path("hard").hardlink_to(name)
    return "hard"


WAYS = (directly, by_a_detour, by_a_symbolic_link, by_a_hard_link)


def named(value: object) -> str:
    return value if isinstance(value, str) else " ".join(getattr(each, "__name__", each) for each in value)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("read", "arguments", "ways"),
    [
        # the quick tests go one way to each file, another one to the next
        case
        for number, (read, arguments) in enumerate(CASES)
        for case in [
            (read, arguments, [WAYS[number % 4]]),
            pytest.param(read, arguments, WAYS, marks=pytest.mark.long),
        ]
    ],
    ids=named,
)
def test_an_output_that_is_an_input_is_refused(
    place: Path,
    read: str,
    arguments: list[str],
    ways: Sequence[Callable[[str], str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    config = place / "run.config"
    template = config.read_text()
    for way in ways:
        output = way(read)
        config.write_text(template.replace("OUT", output))
        before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}

        code = main([output if word == "OUT" else word for word in arguments])

        assert (code, capsys.readouterr().err) == (
            2,
            f"clueval {arguments[0]}: {output}: is an input and cannot be overwritten (name another file)\n",
        )
        assert {path: path.read_bytes() for path in place.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("link", [None, "symlink_to", "hardlink_to"])
def test_a_document_that_would_replace_the_file_it_comes_from_is_refused(
    place: Path, link: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "in").mkdir()  # the only document of a file is called 1
    source = place / "in" / "1.xml"
    source.write_text(LTF)
    target = "in"
    if link is not None:
        (place / "out").mkdir()
        getattr(place / "out" / "1.xml", link)(source)
        target = "out"

    assert main(["convert", "in/1.xml", "--input", "ltf", "--to", "ltf", "-o", f"{target}/"]) == 2
    assert "1.xml: is an input and cannot be overwritten" in capsys.readouterr().err
    assert source.read_text() == LTF


def test_a_document_of_a_folder_that_would_replace_a_file_of_it_is_refused(place: Path) -> None:
    (place / "in").mkdir()
    (place / "in" / "a.xml").write_text(LTF)
    (place / "out").mkdir()
    (place / "out" / "a.xml.xml").symlink_to(place / "in" / "a.xml")

    assert main(["convert", "in", "--input", "ltf", "--to", "ltf", "-o", "out"]) == 2
    assert (place / "in" / "a.xml").read_text() == LTF


def test_indicators_replace_no_file(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "in").mkdir()
    (place / "in" / "a.bdocjs").write_text(BDOC)

    sets = ["--gold-set", "Key", "--predicted-set", "Response"]
    assert main(["gate", "in", *sets, "--write-indicators", "in"]) == 2
    assert "cannot be overwritten" in capsys.readouterr().err
    assert (place / "in" / "a.bdocjs").read_text() == BDOC


def test_two_outputs_of_one_file_are_refused(place: Path) -> None:
    (place / "x").write_text("")
    os.link(place / "x", place / "y")
    (place / "z").symlink_to("missing")

    for pair in (("x", "./x"), ("x", "y"), ("z", "missing"), ("new", "../" + place.name + "/new")):
        with pytest.raises(UsageError, match="two results would be written"):
            refuse_to_overwrite([], pair)


def test_new_file_in_an_input_folder_is_allowed(place: Path) -> None:
    refuse_to_overwrite(["one"], ["one/new.tsv", "missing"])
    with pytest.raises(FileError, match="cannot be overwritten"):
        refuse_to_overwrite(["one"], ["one/a.conll"])


OPTIONS_THAT_WRITE = {
    "score": {"output_file", "Trust.save"},
    "compare": {"html", "output_file"},
    "diff": {"html", "output_file"},
    "masking": {"html", "tsv", "output_file"},
    "agree": {"html", "tsv", "xlsx", "pygamma", "output_file"},
    "curate": {"undecided", "output_file"},
    "gate": {"html", "gate_tsv", "write_indicators", "output_file"},
    "conventions": {"html", "output_file"},
    "errors": {"tsv", "xlsx", "html"},
    "faireval": {"output_file"},
    "guide": {"html"},
    "merge": {"output_file"},
    "check": {"output_file"},
    "completion": {"output_file"},
    "convert": {"output_file"},
    "profile": {"output_file"},
    "threshold": {"html", "output_file"},
}
"""What the tests above cover; the config of `faireval` may name an output, too."""


def test_every_option_that_takes_a_path_is_known_to_these_tests() -> None:
    found = {}
    for command in COMMANDS:
        paths = {
            action.dest
            for action in command_parser(command)._actions
            if action.option_strings and (action.type is Path or action.metavar in ("PATH", "FILE", "FOLDER"))
        }
        found[command] = paths - {
            "Reading.text",
            "Reading.names",
            "tokens",
            "pairs",
            "cite",
            "decisions",
            "system",
            "fail_if_worse",
            "score",
            "Masking.ignore_words",
            "Masking.word_weights",
            "Preparing.alternatives",
            "Preparing.any_of",
            "Preparing.gold_map",
            "Preparing.hierarchy",
            "Preparing.label_map",
            "Preparing.predicted_map",
            "train",
        }

    assert {command: paths for command, paths in found.items() if paths} == OPTIONS_THAT_WRITE
