"""Options and outputs that cannot be right: the command refuses them in one line that says what to do."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from clueval import CluevalError, convert
from clueval.cli import COMMANDS, main, reference
from clueval.cli.commands import command_parser

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("g.conll").write_text("# newdoc id = d\na\tB-X\nb\tO\n", encoding="utf-8")
    Path("p.conll").write_text("# newdoc id = d\na\tO\nb\tB-X\n", encoding="utf-8")
    Path("empty").touch()
    Path("dir").mkdir()


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("score g.conll p.conll --intervals --method bca --resamples 99999999999", "at most 10,000,000"),
        ("score g.conll p.conll --max-line 99999999999999999999999", "is greater than 9223372036854775807"),
        ("score g.conll p.conll --labels A,B", "--labels A,B does not apply to the format conll"),
        ("score g.conll p.conll --inline-pattern (", "score: --inline-pattern is not a regular expression"),
        ("score g.conll p.conll --meta a", "score: --meta needs a name and a column"),
        ("score g.conll p.conll --score-feature s --min-score nan", "'nan' is not a number"),
        (
            "score g.conll p.conll --metric fair --set fair.focus=target --set fair.focus=system",
            "given twice",
        ),
        (
            "curate g.conll p.conll --decisions a --decisions b",
            "--decisions: given twice, with different values",
        ),
        ("score g.conll p.conll -oa -ob", "-o/--output-file: given twice"),
        ("diff g.conll p.conll p.conll --lang de", "--lang needs --html"),
        ("curate a=g.conll b=p.conll --votes 3", "votes is 3, but there are 2 annotators (use --votes all)"),
        ("agree a=g.conll b=p.conll --disagreements --format json", "--disagreements prints places"),
        ("agree a=g.conll b=p.conll --disagreements -o x", "--disagreements prints places"),
        ("profile g.conll p.conll --feature seen", "needs training data (add --train FILE)"),
        ("profile g.conll p.conll --metric confusion", "'confusion' has no micro average (use"),
        ("compare empty empty", "compare: empty: the file is empty"),
        ("convert g.conll --to spans -o dir", "dir: cannot be written: it is a folder (name a file)"),
        ("convert g.conll --to spans -o no/x", "no/x: cannot be written: its folder does not exist"),
        ("convert g.conll --to brat -o empty/", "empty: cannot be written: there is a file of this name"),
        ("convert g.conll --to spans -o empty/x", "empty/x: cannot be written: its folder is a file"),
        ("agree a=g.conll b=p.conll --pygamma no/a", "no/a: cannot be written: its folder does not exist"),
    ],
)
def test_command_refuses_what_cannot_be_right(arguments: str, message: str, capsys: Capture) -> None:
    try:
        code = main(arguments.split(" "))
    except SystemExit as ended:  # the parser of arguments ends the program
        code = int(str(ended.code))

    assert code == 2
    output = capsys.readouterr()
    assert message in output.err
    assert len(output.err.splitlines()) == 1
    assert output.out == ""


@pytest.mark.usefixtures("files")
def test_places_are_printed_if_the_configuration_has_a_form_for_figures(capsys: Capture) -> None:
    Path("clueval.toml").write_text('format = "json"\n', encoding="utf-8")

    assert main(["agree", "a=g.conll", "b=p.conll", "--disagreements"]) == 0
    assert "nothing" in capsys.readouterr().out


@pytest.mark.usefixtures("files")
def test_function_refuses_a_folder_that_is_a_file() -> None:
    with pytest.raises(CluevalError, match="empty: cannot be written: there is a file of this name"):
        convert("g.conll", "brat", "empty/")


def test_command_without_enough_memory_ends_with_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def run(_: object) -> int:
        raise MemoryError

    monkeypatch.setattr("clueval.cli.reference.METRICS_COMMAND", reference.METRICS_COMMAND._replace(run=run))

    assert main(["metrics"]) == 2
    assert (
        capsys.readouterr().err == "clueval metrics: there is not enough memory for these files and options\n"
    )


SOME = ("a", "b", "1", "2", "0.5", "0.6", "fair", "confusion", "a=b", "b=a", "label:1", "label:2", "de", "en")
"""Values for options that are no choice: each option takes two of them that it does not read as the same."""

WITHOUT_TWO = {"--average", "--answers", "--escapes", "--ignore-words", "--word-weights"}
"""Options that know one value only, or read a file."""


@pytest.mark.parametrize("command", COMMANDS)
def test_option_with_one_value_is_given_once_in_every_command(command: str, capsys: Capture) -> None:
    parser = command_parser(command)
    single = {
        action: flag
        for flag, action in parser.option_actions().items()
        if action.nargs in (None, "?") and not isinstance(action, argparse._AppendAction)
    }

    def parsed(*values: str) -> str:
        """What the parser says to an option with these values, one after the other."""
        with pytest.raises(SystemExit):  # a path is missing, or --no-such is unknown
            parser.parse_args([*(f"{flag}={value}" for value in values), "--no-such"])
        return capsys.readouterr().err

    for action, flag in single.items():
        choices = parsed("-").partition("one of: ")[2].partition(" (see")[0]
        known = action.choices or choices.split(", ")
        if flag in WITHOUT_TWO:
            continue
        fitting = (text for text in (*known, *SOME) if text and flag not in parsed(text))
        one, other = next(fitting), next(fitting)

        assert f"{flag}: given twice, with different values" in parsed(one, other)
        assert "given twice" not in parsed(one, one)
