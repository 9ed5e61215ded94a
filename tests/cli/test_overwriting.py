"""No output of any command replaces a file that the command reads, by whatever name."""

from __future__ import annotations

import gzip
import json
import os
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, suppress
from io import StringIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from clueval import convert, read, score
from clueval.cli import main
from clueval.cli.commands import COMMANDS, command_called
from clueval.cli.declared import CommandOption
from clueval.files.errors import CluevalError, FileError, UsageError
from clueval.files.options import inputs_kept, note_input
from clueval.files.overwriting import refuse_to_overwrite, require_no_input

SAMPLES = Path(__file__).parents[2] / "clueval" / "samples"

CONLL = "a B-X\nb O\n\nc B-Y\n"
LTF = "<body>a <e>b</e></body>"
GATE = (
    '<GateDocument><TextWithNodes><Node id="0"/>a<Node id="1"/></TextWithNodes>'
    + "".join(
        f'<AnnotationSet Name="{name}"><Annotation Id="1" Type="A" StartNode="0" EndNode="1"/></AnnotationSet>'
        for name in ("Key", "Response")
    )
    + "</GateDocument>"
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


def directly(name: str) -> str:
    return name


def by_a_detour(name: str) -> str:
    Path("detour").symlink_to(".")
    return f"detour/{name}"


def by_a_symbolic_link(name: str) -> str:
    link = Path(f"symbolic{Path(name).suffix}")
    link.symlink_to(name)
    return link.name


def by_a_hard_link(name: str) -> str:
    Path("hard.txt").hardlink_to(name)
    return "hard.txt"


WAYS = (directly, by_a_detour, by_a_symbolic_link, by_a_hard_link)


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
    (place / "out" / "a.xml").symlink_to(place / "in" / "a.xml")

    assert main(["convert", "in", "--input", "ltf", "--to", "ltf", "-o", "out"]) == 2
    assert (place / "in" / "a.xml").read_text() == LTF


def test_indicators_replace_no_file(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "in").mkdir()
    (place / "in" / "a.xml").write_text(GATE)

    sets = ["--gold-set", "Key", "--predicted-set", "Response"]
    assert main(["score", "in", "--metric", "gate", *sets, "--write-indicators", "in"]) == 2
    assert "cannot be overwritten" in capsys.readouterr().err
    assert (place / "in" / "a.xml").read_text() == GATE


def test_two_outputs_of_one_file_are_refused(place: Path) -> None:
    (place / "x").write_text("")
    os.link(place / "x", place / "y")
    (place / "z").symlink_to("missing")

    for pair in (("x", "./x"), ("x", "y"), ("z", "missing"), ("new", "../" + place.name + "/new")):
        with pytest.raises(UsageError, match="two results would be written"):
            refuse_to_overwrite(pair)


@pytest.mark.parametrize("twice", [False, True])
def test_new_file_in_an_input_folder_is_allowed(place: Path, twice: bool) -> None:
    with inputs_kept():
        note_input("one")
        refuse_to_overwrite(["one/new.tsv", "missing"])
        note_input("one" if twice else "two")
        with pytest.raises(FileError, match="cannot be overwritten"):
            refuse_to_overwrite(["one/a.conll" if twice else "two/a.conll"])


def test_several_outputs_may_be_new_in_an_input_folder(place: Path) -> None:
    outputs = [f"one/new.{ending}" for ending in ("tsv", "xlsx", "html")]

    assert main(["errors", "one", "two", *(word for path in outputs for word in ("-o", path))]) == 0
    assert all((place / path).is_file() for path in outputs)


OUTPUTS = {
    "output_file",
    "written",
    "Trust.save",
    "html",
    "tsv",
    "xlsx",
    "documents",
    "pygamma",
    "undecided",
    "write_indicators",
}
"""The options of all commands that name an output. Every other option whose value is a path names an input."""

NO_FILES = {"score"}
"""Options with the path of a number in a report."""

WORDS = {
    "formats": "name",
    "metrics": "name",
    "guide": "page",
    "completion": "shell",
    "help": "about topic",
    "samples": "folder",  # which must be empty
}
"""The arguments that are no paths."""

THREE = ["gold.conll", "predicted.conll", "one/a.conll"]

COMMAND_LINES: dict[str, tuple[dict[str, str], list[str]]] = {
    **{
        name: ({"gold": "gold.conll", "predicted": "predicted.conll"}, [*BOTH, *more])
        for name, more in {
            "score": [],
            "conventions": [],
            "masking": [],
            "profile": [],
            "threshold": ["--score-feature", "s"],
        }.items()
    },
    "errors": ({"gold": "gold.conll", "predicted": "predicted.conll", "second": "one/a.conll"}, BOTH),
    "diff": (dict(zip(("gold", "old", "new"), THREE, strict=True)), THREE),
    "agree": ({"annotators": "gold.conll"}, ["me=gold.conll", "you=predicted.conll"]),
    "curate": ({"annotators": "predicted.conll"}, ["me=gold.conll", "you=predicted.conll"]),
    "compare": ({"systems": "two/a.conll"}, ["gold.conll", "predicted.conll,two/a.conll"]),
    "merge": ({"file": "gold.conll"}, ["gold.conll"]),
    "check": ({"files": "predicted.conll"}, BOTH),
    "convert": ({"file": "gold.conll"}, ["gold.conll", "--to", "spans"]),
    "faireval": ({"config": "run.config"}, ["run.config"]),
}
"""For each command the file that each of its arguments names, and the arguments."""

OPTIONS = {
    "Preparing.label_map": ["--label-map", "map.list"],
    "Preparing.gold_map": ["--gold-map", "map.list"],
    "Preparing.predicted_map": ["--predicted-map", "map.list"],
    "Preparing.hierarchy": ["--hierarchy", "tree.list", "--depth", "1"],
    "Preparing.alternatives": ["--alternatives", "spans.list"],
    "Preparing.any_of": ["--any-of", "two/a.conll"],
    "Preparing.min_score": ["--min-score", "threshold.list"],
    "Reading.text": ["--text", "text.vrt"],
    "Reading.names": ["--names", "names.list"],
    "Masking.ignore_words": ["--ignore-words", "words.txt"],
    "Masking.word_weights": ["--word-weights", "counts.txt"],
    "fail_if_worse": ["--fail-if-worse", "saved.list"],
    "pairs": ["--pairs", "pairs.csv"],
    "reference": ["--reference", "two/a.conll"],
    "system": ["--system", "two/a.conll"],
    "decisions": ["--decisions", "words.txt"],
    "train": ["--train", "two/a.conll"],
    "tokens": ["--tokens", "text.vrt"],
    "named_config": ["--config", "run.config"],
}
"""For each option with an input its arguments; the second is the file."""


def path_options(command: str, place: Path) -> Iterator[CommandOption]:
    """The arguments and options of a command whose value is a path, as its parser declares them."""
    for option in command_called(command).options:
        named = option.metavar in ("PATH", "FILE", "FOLDER", "CSV") or not option.flags
        if option.place in NO_FILES or option.place in WORDS.get(command, ""):
            continue
        if named or option.read is Path or opens(option, place / "gold.conll"):
            yield option


def opens(option: CommandOption, path: Path) -> bool:
    """Whether the value of an option is noted as a file that is read."""
    with inputs_kept(), suppress(CluevalError, ValueError):
        option.value(str(path))
        return is_input(path)
    return False


def is_input(path: Path) -> bool:
    """Whether the running command has noted a file as an input."""
    try:
        require_no_input(path)
    except FileError:
        return True
    return False


def outputs_of(command: str) -> list[str]:
    """The options of a command that name an output file."""
    return [
        option.flags[-1]
        for option in command_called(command).options
        if option.place in OUTPUTS - {"write_indicators"}
    ]


@pytest.fixture
def more(place: Path) -> Path:
    """The place with the files of `OPTIONS`."""
    (place / "map.list").write_text("X\tX\n*\t*\n")
    (place / "tree.list").write_text("X\nY\n")
    (place / "spans.list").write_text(TABLE)
    (place / "names.list").write_text('["O", "B-X"]')
    threshold = {"threshold": 0.5, "score_feature": "s", "metric": "exact", "measure": "f1"}
    (place / "threshold.list").write_text(json.dumps(threshold))
    result = score(place / "gold.conll", place / "gold.conll", resample_by="sentence")
    result.save(place / "saved.list")
    config = place / "run.config"
    config.write_text(config.read_text().replace("OUT", "new.csv"))
    return place


def refused(arguments: list[str], option: str, output: str) -> None:
    """Fail if a command replaces this output, which is one of its inputs, or anything else."""
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}

    with redirect_stderr(StringIO()) as said:
        code = main([*arguments, option, output])

    message = f"{output}: is an input and cannot be overwritten (name another file)\n"
    assert (code, said.getvalue()) == (2, f"clueval {arguments[0]}: {message}"), (arguments, option)
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("command", COMMANDS)
def test_no_output_replaces_the_file_of_any_argument_or_option(more: Path, command: str) -> None:
    arguments, line = COMMAND_LINES.get(command, ({}, []))
    for number, option in enumerate(path_options(command, more)):
        if option.place in OUTPUTS:
            continue
        own = OPTIONS[option.place] if option.flags else [arguments[option.place]]
        file = own[1] if option.flags else own[0]
        begins = ["one"] if option.place == "pairs" else line
        given = [command, *begins, *(own if option.flags or file not in " ".join(line) else [])]
        options = outputs_of(command)
        refused(given, options[number % len(options)], f"one/../{file}")
        if option.place == "gold":
            for option in options:
                refused(given, option, file)


@pytest.mark.parametrize("way", WAYS)
def test_an_output_is_an_input_whatever_way_leads_to_it(more: Path, way: Callable[[str], str]) -> None:
    refused(["score", *BOTH], "--save", way("gold.conll"))


@pytest.mark.parametrize("read", ["t.csv", "s.csv", "run.config"])
def test_the_output_that_a_config_of_faireval_names_replaces_no_input(
    place: Path, read: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "run.config").write_text((place / "run.config").read_text().replace("OUT", read))
    before = (place / read).read_bytes()

    assert main(["faireval", "run.config"]) == 2
    assert f"{read}: is an input and cannot be overwritten" in capsys.readouterr().err
    assert (place / read).read_bytes() == before


SHAPES = {
    "a pattern": ("one/*.conll", "two/*.conll", "one/a.conll"),
    "two patterns": ("*e/a.conll", "*o/a.conll", "two/a.conll"),
    "a folder": ("one", "two", "two/a.conll"),
    "a member of an archive": ("one.zip!a.conll", "two.zip!a.conll", "one.zip"),
    "an archive": ("one.zip", "two.zip", "two.zip"),
    "a link": ("link", "two/a.conll", "one/a.conll"),
}
"""How files can be named, for both sides, with a file that is meant."""


@pytest.mark.few(5)
@pytest.mark.parametrize(
    ("command", "shape"),
    [
        (command, shape)
        for command in COMMAND_LINES
        for shape in SHAPES
        if command not in ("compare", "faireval") and (command, shape) != ("merge", "a folder")
    ],
)
def test_no_output_replaces_an_input_however_it_is_named(more: Path, command: str, shape: str) -> None:
    gold, predicted, file = SHAPES[shape]
    (more / "link").symlink_to("one/a.conll")
    for folder in ("one", "two"):
        with zipfile.ZipFile(more / f"{folder}.zip", "w") as archive:
            archive.write(more / folder / "a.conll", "a.conll")
    names = {"gold.conll": gold, "predicted.conll": predicted, "one/a.conll": predicted}
    line = [names.get(word, word) for word in COMMAND_LINES[command][1]]
    line = [word.replace("gold.conll", gold).replace("predicted.conll", predicted) for word in line]
    if command in ("merge", "convert"):
        line[0] = gold if file.startswith("one") else predicted

    refused([command, *line], outputs_of(command)[0], file)


STREAMS: dict[str, Callable[[Path], str]] = {
    "a file": lambda _: "gold.conll",
    "a hard link": lambda file: by_a_hard_link(file.name),
    "a packed file": lambda file: packed(file),
}
"""What a shell connects to standard input, by the name of the output."""


def packed(file: Path) -> str:
    file.write_bytes(gzip.compress(file.read_bytes()))
    return file.name


READ_STREAMS = {
    "convert": ["-", "--to", "spans"],
    "merge": ["-"],
    "check": ["-"],
    "score": ["-", "predicted.conll"],
    "errors": ["-", "predicted.conll"],
    "conventions": ["-", "predicted.conll"],
    "compare": ["-", "predicted.conll", "one/a.conll"],
    "diff": ["-", "predicted.conll", "one/a.conll"],
    "threshold": ["-", "predicted.conll", "--score-feature", "s"],
    "profile": ["-", "predicted.conll"],
    "masking": ["-", "predicted.conll"],
    "agree": ["-", "predicted.conll"],
    "curate": ["-", "predicted.conll", "one/a.conll"],
}
"""The arguments of each command that takes files of spans, with one of them from standard input."""


def test_every_command_that_takes_files_of_spans_is_tried_with_standard_input() -> None:
    assert READ_STREAMS.keys() | {"faireval"} == COMMAND_LINES.keys()


@pytest.mark.parametrize("is_named", [False, True], ids=["-", "/dev/fd"])
@pytest.mark.parametrize(
    ("command", "stream"),
    [
        *((command, "a file") for command in READ_STREAMS),
        ("convert", "a hard link"),
        ("score", "a packed file"),
    ],
)
def test_no_output_replaces_the_file_of_standard_input(
    more: Path, monkeypatch: pytest.MonkeyPatch, command: str, stream: str, is_named: bool
) -> None:
    output = STREAMS[stream](more / "gold.conll")
    before = (more / "gold.conll").read_bytes()
    with Path("gold.conll").open("rb") as redirected, redirect_stderr(StringIO()) as said:
        path = f"/dev/fd/{redirected.fileno()}" if is_named else "-"
        if is_named and not Path(path).exists():
            pytest.skip("the system has no such names of open files")
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(redirected))
        given = [path if word == "-" else word for word in READ_STREAMS[command]]
        code = main([command, *given, outputs_of(command)[0], output])

    assert code == 2
    if f"{output}: is an input and cannot be overwritten" not in said.getvalue():
        # these take no standard input, or the file has no scores, or no form has the ending of the output
        assert (
            "does not end in the name of a form" in said.getvalue()
            or ("is not the ending of a form" in said.getvalue())
            or command == "threshold"
        )
    assert (more / "gold.conll").read_bytes() == before


@pytest.mark.usefixtures("more")
@pytest.mark.parametrize("command", READ_STREAMS)
def test_every_command_takes_a_file_of_spans_from_standard_input(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = ["-o", "c.conll"] if command == "curate" else []
    of_file = ["gold.conll" if word == "-" else word for word in READ_STREAMS[command]]
    with redirect_stderr(StringIO()) as said, Path("gold.conll").open("rb") as gold:
        expected = main([command, *of_file, *more])
        monkeypatch.setattr(sys, "stdin", TextIOWrapper(gold))

        assert main([command, *READ_STREAMS[command], *more]) == expected
    assert "no such file" not in said.getvalue()


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("command", ["score --label-map", "profile --train", "score --fail-if-worse"])
def test_other_files_are_not_read_from_standard_input_which_the_error_says(command: str) -> None:
    name, option = command.split()
    with redirect_stderr(StringIO()) as said:
        assert main([name, "gold.conll", "predicted.conll", option, "-"]) == 2
    assert "(standard input is not read here; write it to a file first)" in said.getvalue()


def test_no_function_replaces_the_file_that_it_gets_open(place: Path) -> None:
    for mode in ("r", "rb"):
        with Path("gold.conll").open(mode) as gold, pytest.raises(FileError, match="is an input"):
            score(gold, "predicted.conll", save="gold.conll")
    assert Path("gold.conll").read_text() == CONLL


@pytest.mark.parametrize(
    ("command", "name"),
    [("score", "pyproject.toml"), *((command, "clueval.toml") for command in (*COMMAND_LINES, "completion"))],
)
def test_no_output_replaces_the_configuration(more: Path, command: str, name: str) -> None:
    (more / name).write_text("quiet = true\n" if name == "clueval.toml" else "[tool.clueval]\nquiet = true\n")
    line = COMMAND_LINES[command][1] if command in COMMAND_LINES else ["bash"]

    with redirect_stderr(StringIO()) as said:
        code = main([command, *line, outputs_of(command)[-1], name])

    assert code == 2
    assert f"{name}: is an input and cannot be overwritten" in said.getvalue()
    assert "quiet = true" in (more / name).read_text()


@pytest.mark.parametrize("setting", ["ignore_words='words.txt'", "word_weights='counts.txt'"])
def test_no_output_replaces_the_file_of_a_setting(more: Path, setting: str) -> None:
    given = ["score", *BOTH, "--metric", f"masking({setting})"]
    for option in ("-o", "--save"):
        refused(given, option, setting.partition("=")[2].strip("'"))


OPENED: list[Any] = []
"""The files that were opened, while a test listens."""

LISTENING: list[bool] = []


def listen(event: str, arguments: tuple[Any, ...]) -> None:
    if LISTENING and event == "open" and isinstance(arguments[0], str | os.PathLike):
        OPENED.append(Path(os.fsdecode(arguments[0])).absolute())


sys.addaudithook(listen)


def files_opened(run: Callable[[], object], below: Path) -> list[Path]:
    """The files below a folder that exist before something is run, and are opened by it; each is known as an input."""
    before = {path for path in below.rglob("*") if path.is_file()}
    OPENED.clear()
    with inputs_kept(), suppress(CluevalError):
        LISTENING.append(True)
        try:
            run()
        finally:
            LISTENING.clear()
            opened = [path for path in dict.fromkeys(OPENED) if path in before]
            assert all(map(is_input, opened))
    return opened


@pytest.mark.parametrize("command", COMMAND_LINES)
def test_every_file_that_a_command_opens_is_known_as_an_input(more: Path, command: str) -> None:
    arguments, line = COMMAND_LINES[command]

    opened = files_opened(lambda: main([command, *line]), more)

    named = {name for name in arguments.values() if command != "errors" or name != "one/a.conll"}
    assert {str(path.relative_to(more)) for path in opened} & named or command == "compare"


def test_every_file_that_a_format_opens_is_known_as_an_input() -> None:
    files = [path for path in sorted((SAMPLES / "formats").rglob("*")) if path.is_file()]

    opened = {path: files_opened(lambda path=path: list(read(path)), SAMPLES) for path in files}

    beside = [path for path, found in opened.items() if {*found} - {path}]
    assert {path.suffix for path in beside} >= {".ann"}
    assert all(path in found for path, found in opened.items())


@pytest.mark.parametrize(
    "write",
    [
        lambda path: score("gold.conll", "predicted.conll", save=path),
        lambda path: convert("predicted.conll", "spans", path),
    ],
)
def test_no_function_replaces_its_input_and_a_later_one_may(place: Path, write: Callable[[str], Any]) -> None:
    with pytest.raises(FileError, match="is an input and cannot be overwritten"):
        write("predicted.conll")
    assert Path("predicted.conll").read_text() == CONLL

    write("gold2.conll")
    score("gold.conll", "gold.conll", save="predicted.conll")
    assert Path("predicted.conll").read_text() != CONLL


def test_every_option_that_takes_a_path_is_an_output_or_has_its_arguments_here(place: Path) -> None:
    for command in COMMANDS:
        arguments = COMMAND_LINES.get(command, ({}, []))[0]
        for option in path_options(command, place):
            known = OUTPUTS | OPTIONS.keys() if option.flags else arguments.keys()
            assert option.place in known, (command, option.place)
