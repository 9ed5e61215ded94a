"""The command guide: pages on a terminal and elsewhere."""

from __future__ import annotations

import io
import re
import sys

import pytest

import clueval
from clueval.cli import main
from clueval.cli.commands import COMMANDS
from clueval.files.errors import CluevalError
from clueval.formats.form import NAMES
from clueval.guide import SHOWN, all_pages
from clueval.metrics import METRICS


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["guide", *arguments]) == 0
    return capsys.readouterr().out


def test_guide_lists_its_pages(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys)

    assert "## Start" in text
    assert all(f"(`clueval guide {name}`)" in text for name in all_pages())


def test_guide_shows_a_page_as_markdown_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert shown(capsys, "lists").startswith("# ")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_guide_uses_rich_on_a_terminal_and_plain_text_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", Terminal())
    main(["guide", "lists"])
    painted = sys.stdout.getvalue()
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.setitem(sys.modules, "rich.console", None)
    main(["guide", "lists"])
    plain = sys.stdout.getvalue()

    assert "\x1b[1;4mHow do I score lists" in painted
    assert "```" not in painted
    assert "\x1b" not in plain
    assert "```" in plain


def test_page_shows_the_names_of_its_files(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "which-f1")

    assert "File `six.conll`:\n\n```conll\nAnna" in text
    assert "file=" not in text


def test_word_that_no_page_has_is_one_line_with_the_nearest_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["guide", "strat_files"]) == 2

    assert capsys.readouterr().err == (
        "clueval guide: no page of the guide has 'strat_files' in its name, title or text; did you mean start-files? "
        "(try another word, or the beginning of one; clueval guide lists all pages)\n"
    )


def test_word_that_is_no_page_lists_the_pages_that_have_it_best_first(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, _, best, *others = shown(capsys, "REDACTED").splitlines()

    assert first == "No page has the name 'REDACTED'. Pages with these words or similar ones, the best first:"
    assert best.startswith(
        "- Can these decisions be published? (`clueval guide tutorial-court-decisions-masking`): "
    )
    assert all("redacted" in line for line in (best, *others))


def test_word_that_no_page_has_is_read_as_the_most_similar_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["guide", "signatrue"]) == 2
    similar = capsys.readouterr().out
    assert re.findall(r"guide ([a-z-]+)`", similar) == re.findall(
        r"guide ([a-z-]+)`", shown(capsys, "signature", "qqq")
    )


def test_words_are_searched_together_and_as_the_name_of_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    best = shown(capsys, "label", "hierarchy").splitlines()[2]

    assert "howto-change-spans" in best
    assert "hierarchy" in best
    assert shown(capsys, "which", "f1") == shown(capsys, "which-f1")


def test_long_list_of_pages_says_how_many_more_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, "span").splitlines()

    assert len([line for line in lines if line.startswith("- ")]) == SHOWN
    assert re.fullmatch(r"\d+ more have a word of these\.", lines[-1])
    assert max(len(line.partition("`): ")[2]) for line in lines) <= 112


def test_reference_has_every_command_metric_format_function_and_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    names = {
        "commands": [f"clueval {name}" for name in COMMANDS],
        "metrics": METRICS,
        "formats": NAMES,
        "functions": [f"clueval.{name}" for name in clueval.__all__ if name != "__version__"],
        "errors": [
            kind.__name__
            for kind in (CluevalError, *CluevalError.__subclasses__())
            if kind.__module__ == CluevalError.__module__
        ],
    }
    for page, listed in names.items():
        text = shown(capsys, f"reference-{page}")
        assert "<!-- clueval" not in text
        for name in listed:
            assert f"\n## {name}\n" in text, name
