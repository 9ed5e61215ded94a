"""What is said of options: in the help of each command, and of those that are wrong before anything is read."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from corpora import write

from clueval import Document, errors, read, score
from clueval.cli import main
from clueval.cli.commands import COMMANDS, HELP, command_called
from clueval.core.alignment import MAX_CELLS
from clueval.files.errors import UsageError

Capture = pytest.CaptureFixture[str]

VRT = '<text id="t0">\n<s>\na\tB-PER\nb\tO\n</s>\n</text>\n'
CONLL = "a B-PER\nb O\n"
SPANS = "start\tend\tlabel\n0\t0\tPER\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A file in each of some formats, all of the same text."""
    write(tmp_path / "a.vrt", VRT)
    write(tmp_path / "a.conll", CONLL)
    write(tmp_path / "a.tsv", SPANS)
    write(tmp_path / "fair.tsv", "PER\t1\t1\t1\n")
    write(tmp_path / "a.xml", "<body><e>a</e> b</body>\n")
    return tmp_path


def refused(arguments: list[str], capsys: Capture) -> str:
    """The one line with which a command refuses its arguments."""
    try:
        code = main(arguments)
    except SystemExit as ended:  # argparse has refused them
        code = ended.code  # type: ignore[assignment]
    output, error = capsys.readouterr()
    assert (code, output, error.count("\n")) == (2, "", 1), error
    return error.removesuffix("\n")


# Options that the input does not read


@pytest.mark.parametrize(
    ("file", "option", "formats"),
    [
        ("a.vrt", "--text nofile", "spans, tags"),
        ("a.conll", "--text nofile", "spans, tags"),
        ("a.conll", "--document-tag doc", "spans, vrt"),
        ("a.conll", "--sentence-tag p", "spans, vrt"),
        ("a.vrt", "--ignore-punctuation", "conll2000, fair-spans"),
        ("a.tsv", "--scheme BIO", "conll, conllu, spacy-json, tags, token-rows, vrt"),
        (
            "a.tsv",
            "--invalid error",
            "conll, conll2000, conllu, nerval, spacy-json, tags, token-rows, vrt",
        ),
        ("fair.tsv", "--token 1", "conll, spans, vrt"),
        ("fair.tsv", "--token-id 1", "conll, spans, vrt"),
        (
            "fair.tsv",
            "--invalid discard",
            "conll, conll2000, conllu, nerval, spacy-json, tags, token-rows, vrt",
        ),
        ("a.xml", "--token 1", "conll, spans, vrt"),
        ("a.xml", "--scheme BIO", "conll, conllu, spacy-json, tags, token-rows, vrt"),
    ],
)
def test_option_that_does_not_apply_to_the_format_is_refused(
    folder: Path, capsys: Capture, file: str, option: str, formats: str
) -> None:
    path = str(folder / file)

    for command, sides in (("score", 2), ("errors", 2), ("conventions", 2), ("check", 1), ("merge", 1)):
        told = refused([command, *[path] * sides, *option.split()], capsys)
        assert told.startswith(f"clueval {command}: {path}: {option} does not apply to the format ")
        assert told.endswith(f" (remove it; it applies to {formats})")


def test_option_is_accepted_if_it_applies_to_one_of_the_files(tmp_path: Path, capsys: Capture) -> None:
    for side in ("gold", "predicted"):
        (tmp_path / side).mkdir()
        write(tmp_path / side / "a.conll", CONLL)
        write(tmp_path / side / "b.vrt", VRT.replace("text", "doc"))
    sides = [str(tmp_path / side) for side in ("gold", "predicted")]

    assert main(["score", *sides, "--document-tag", "doc"]) == 0
    assert main(["score", *sides, "--document-tag", "doc", "--pair-by", "name"]) == 0
    assert main(["score", f"{sides[0]}/b.vrt", f"{sides[1]}/a.conll", "--document-tag", "text"]) == 0
    capsys.readouterr()
    assert "--text x does not apply to the format conll or vrt" in refused(
        ["score", *sides, "--text", "x"], capsys
    )
    paired = [*sides, "--text", "x", "--pair-by", "name"]
    assert "--text x does not apply to the format conll or vrt" in refused(["score", *paired], capsys)


def test_table_of_spans_reads_its_text_with_the_options_of_the_text(folder: Path, capsys: Capture) -> None:
    table, text = str(folder / "a.tsv"), str(write(folder / "b.vrt", VRT.replace("text", "doc")))

    assert main(["score", table, table, "--text", text, "--document-tag", "doc", "--token", "1"]) == 0
    assert "1 document, 2 positions" in capsys.readouterr().out


def test_default_value_is_not_refused(folder: Path) -> None:
    path = str(folder / "a.conll")

    assert main(["score", path, path, "--document-tag", "text", "--sentence-tag", "s"]) == 0
    assert main(["score", path, path, "--invalid", "conlleval"]) == 0


@pytest.mark.parametrize(
    "reader",
    [
        lambda path, **option: list(read(path, **option)),
        lambda path, **option: score(path, path, **option),
        lambda path, **option: score([path], [path], pair_by="content", **option),
        lambda path, **option: list(errors(path, path, **option)),
    ],
    ids=["read", "score", "paired by content", "errors"],
)
def test_library_refuses_an_option_that_does_not_apply(folder: Path, reader: Callable[..., Any]) -> None:
    path = folder / "a.conll"

    reader(path, token=1, scheme="BIO")
    with pytest.raises(UsageError, match=r"a\.conll: Reading.text='x' does not apply to the format conll"):
        reader(path, text="x")
    with pytest.raises(UsageError, match=r"Reading.ignore_punct=True does not apply to the format conll"):
        reader(path, ignore_punct=True)
    reader(path, ignore_punct=False)  # it does stay where it is


def test_documents_in_memory_refuse_options_for_reading() -> None:
    document = Document("d", {"label": []})

    with pytest.raises(UsageError, match="scheme='BIO' applies to files, but both sides are in memory"):
        score([document], [document], scheme="BIO")
    with pytest.raises(UsageError, match="input='vrt' applies to files, but both sides are in memory"):
        score([document], [document], input="vrt")


def test_filter_on_metadata_is_allowed_for_every_metric(folder: Path) -> None:
    path = str(folder / "a.vrt")

    for metric in ("fair", "gate", "partial", "muc"):
        assert main(["score", path, path, "--metric", metric, "--where", "id=t0"]) == 0


def test_fair_errors_go_to_every_file_that_is_named(tmp_path: Path, capsys: Capture) -> None:
    gold, predicted = (str(write(tmp_path / name, text)) for name, text in (("g", "a B-X\n"), ("p", "a O\n")))
    files = [str(tmp_path / name) for name in ("t.tsv", "t.xlsx")]

    assert main(["errors", gold, predicted, "--metric", "fair", "-o", files[0], "-o", files[1]]) == 0
    assert all(Path(file).stat().st_size for file in files)
    assert main(["errors", gold, predicted, "--metric", "fair", "--limit", "0"]) == 0
    assert "1 place: -o x.html" in capsys.readouterr().out


# Numbers


def test_column_from_the_end_is_a_negative_number(folder: Path) -> None:
    path = str(folder / "a.conll")

    assert main(["score", path, path, "--token", "-2", "--layer", "x=-1"]) == 0


# Help


def help_of(command: str, capsys: Capture) -> list[str]:
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert stopped.value.code == 0
    return capsys.readouterr().out.split("\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_begins_with_one_line_of_usage_and_what_the_command_does(command: str, capsys: Capture) -> None:
    first, blank, description, *_ = help_of(command, capsys)
    called = command_called(command)

    assert (first, blank) == (f"usage: clueval {command} {called.usage} [options]", "")
    assert called.description.startswith(description)
    assert "\n" not in called.usage


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_explained_in_words_of_its_own(command: str) -> None:
    for option in command_called(command).options:
        assert option.help, option.place
        explanation, _, _ = option.help.partition("(")
        assert len(explanation.split()) >= 3, option.place
        assert not explanation.startswith(("that ", "their ", "of ")), option.place


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_names_every_choice(command: str) -> None:
    for option in command_called(command).options:
        explanation = f"{option.help} 1 2 3 4"  # "1 to 4" is all of them
        assert all(str(choice) in explanation for choice in option.choices), option.place


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_shows_every_option_once_in_the_command_or_in_a_topic(command: str) -> None:
    called = command_called(command)
    shown = called.full_help()

    for option in (HELP, *called.options):
        for flag in option.flags[:1]:
            assert len(re.findall(rf"^  {re.escape(flag)}[ ,\n]", shown, re.MULTILINE)) == 1, flag


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_names_its_topics_and_no_option_of_them(command: str) -> None:
    called = command_called(command)
    shown = called.help()

    for topic, options in called.topics.items():
        assert topic in shown.partition("more options: ")[2]
        assert not any(f"\n  {option.flags[0]} " in shown for option in options)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_first_page_of_help_has_at_most_twelve_options(command: str, capsys: Capture) -> None:
    assert len(re.findall("^  -", "\n".join(help_of(command, capsys)), re.MULTILINE)) <= 12


@pytest.mark.parametrize("width", [60, 80])
def test_the_help_has_every_command_under_five_headings_and_fits_the_terminal(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    assert main([]) == 0
    lines = capsys.readouterr().out.split("\n")

    headings = [line for line in lines if line.endswith(":") and line[0] != " "]
    assert headings == ["score:", "look at errors:", "people:", "privacy:", "files:"]
    assert {line.split()[0] for line in lines if re.match(" {2}\\S", line)} | {
        "guide",
        "help",
        "completion",
    } == {*COMMANDS}
    assert max(map(len, lines)) <= width
    assert len(lines) <= 50


def test_the_help_of_score_fits_60_lines_of_100_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    lines = help_of("score", capsys)

    assert len(lines) <= 60
    assert max(map(len, lines)) <= 100


def test_the_help_of_a_command_and_of_a_topic_come_from_help(capsys: Capture) -> None:
    direct = help_of("score", capsys)
    assert main(["help", "score"]) == 0
    assert capsys.readouterr().out.split("\n") == direct
    assert main(["help", "score", "reading"]) == 0
    assert "--sentence-tag TAG" in capsys.readouterr().out
    assert main(["help"]) == 0
    everything = capsys.readouterr().out
    assert main([]) == 0
    assert capsys.readouterr().out == everything
    assert refused(["help", "scores"], capsys).startswith(
        "clueval help: there is no command 'scores'; did you mean score? (one of score, "
    )
    assert refused(["help", "score", "x"], capsys) == (
        "clueval help: clueval score has no help topic 'x' "
        "(one of counting, spans, reading, intervals, output, gates, workers)"
    )


def test_help_of_an_option_names_its_formats() -> None:
    helps = {option.place: option.help for option in command_called("score").options}

    assert "(formats spans, tags;" in helps["Reading.text"]
    assert "(formats spans, vrt;" in helps["Reading.document_tag"]
    assert "auto" in helps["Workers.jobs"]
    assert f"{MAX_CELLS}" in helps["max_alignment"]


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("--layers", "--layer"),
        ("--lay", "--layer"),
        ("--metrics", "--metric"),
        ("--formt", "--format"),
        ("--focus", "--metric 'fair(focus=...)'"),
        ("--beta", "--metric 'gate(beta=...)'"),
    ],
)
def test_an_option_is_never_abbreviated_and_the_nearest_is_suggested(
    given: str, meant: str, capsys: Capture
) -> None:
    assert refused(["score", "a", "b", given, "x"], capsys) == (
        f"clueval score: unknown option {given}; did you mean {meant}? (see clueval score --help)"
    )


@pytest.mark.parametrize("command", ["score", "errors", "compare", "agree", "check"])
def test_options_may_stand_between_files(command: str) -> None:
    called = command_called(command)

    assert called.parsed(["a", "--quiet", "b"]) == called.parsed(["a", "b", "--quiet"])


def test_help_shows_that_the_formats_of_the_sides_may_differ(capsys: Capture) -> None:
    for command in ("score", "check"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        words = " ".join(capsys.readouterr().out.split())
        assert ("(vrt:inline if the sides differ; default: recognised" in words) == (command == "score")


@pytest.mark.parametrize("command", ["score", "errors", "diff", "profile"])
def test_a_name_with_a_path_leads_to_the_path_where_no_names_are_taken(
    command: str, tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "a.conll"
    path.write_text("Ada\tB-PER\n", encoding="utf-8")
    others = [str(path)] if command == "diff" else []

    error = refused([command, str(path), f"base={path}", *others], capsys)

    assert error.endswith(f"(write {path}: compare, agree and curate take NAME=PATH)")
