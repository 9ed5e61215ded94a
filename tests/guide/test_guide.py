"""The command guide: pages on a terminal and elsewhere, and the website."""

from __future__ import annotations

import html
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from browser import Browser, in_browser

import clueval
from clueval.cli import COMMANDS, main
from clueval.files.errors import CluevalError
from clueval.formats import FORMATS
from clueval.guide.pages import SHOWN, Page, all_pages
from clueval.metrics import METRICS


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["guide", *arguments]) == 0
    return capsys.readouterr().out


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The files of the website by name."""
    folder = tmp_path_factory.mktemp("site") / "guide"
    assert main(["guide", "--html", str(folder)]) == 0
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


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
    assert re.findall(r"guide ([a-z-]+)`", shown(capsys, "signatrue")) == re.findall(
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
        "formats": FORMATS,
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


def test_site_has_a_file_for_every_page_that_loads_nothing(site: dict[str, str]) -> None:
    assert site.keys() == {"index.html", *(f"{name}.html" for name in all_pages())}
    for text in site.values():
        assert "default-src 'none'" in text
        assert not re.search(r"<(link|script|img|iframe)[^>]* (src|href)=\"(?!data:)", text)
        assert not re.search(r"url\((?!data:)|@import", text)


def test_site_has_links_that_lead_to_its_files(site: dict[str, str]) -> None:
    for name, text in site.items():
        links = set(re.findall(r'<a[^>]* href="([^"#]+)"', text))
        assert links, name
        assert {link for link in links if not link.startswith("https://")} <= site.keys()


def test_site_has_a_search_over_the_text_of_all_pages(site: dict[str, str]) -> None:
    found = re.search(
        r'<script type="application/json" id="data">(.*?)</script>', site["index.html"], re.DOTALL
    )
    assert found is not None
    listed: list[dict[str, Any]] = json.loads(found[1])

    assert [page["name"] for page in listed] == list(all_pages())
    assert all(page["text"] for page in listed)
    assert "script-src 'sha256-" in site["index.html"]


@in_browser
def test_search_lists_the_pages_that_have_every_word_and_shows_their_text(
    browser: Browser, site: dict[str, str], tmp_path: Path
) -> None:
    def listed(query: str) -> list[str]:
        index = tmp_path / f"{query}.html"  # another path each time, or only the fragment would change
        index.write_text(site["index.html"], encoding="utf-8")
        browser.open(
            index, fragment=f"#q={query}", is_ready="document.documentElement?.dataset.ready === 'yes'"
        )
        found = browser.run("document.getElementById('found').innerHTML")
        return re.findall(r'href="([^"]+)\.html"', found)

    assert listed("signature%20field")[0] == "concept-signature"
    assert listed("nosuchword") == []
    assert listed("") == []


def test_site_shows_the_html_in_a_page_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from clueval.guide import pages

    hostile = Page("start-x", "# A <b>&\n\n<script>alert(1)</script> `</script>` [x](javascript:alert(1)).\n")
    monkeypatch.setattr(pages, "all_pages", lambda: {"start-x": hostile})
    pages.write_site(tmp_path / "s", {})
    text = (tmp_path / "s" / "start-x.html").read_text(encoding="utf-8")

    assert "<script" not in text
    assert html.escape("<script>alert(1)</script>") in text
    assert 'href="javascript' not in text
    assert "</script>`" not in (tmp_path / "s" / "index.html").read_text(encoding="utf-8")


def test_site_is_not_written_without_a_folder_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")

    assert main(["guide", "--html", str(tmp_path / "none" / "guide")]) == 2
    assert main(["guide", "--html", str(tmp_path / "file")]) == 2
    assert main(["guide", "lists", "--html", str(tmp_path / "x")]) == 2
    lines = capsys.readouterr().err.splitlines()

    assert len(lines) == 3
    assert [line.count("clueval guide: ") for line in lines] == [1, 1, 1]
    assert "cannot be written" in lines[0]


def test_site_without_markdown_it_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "markdown_it", None)

    assert main(["guide", "--html", str(tmp_path / "guide")]) == 2
    assert "clueval[report]" in capsys.readouterr().err
    assert not (tmp_path / "guide").exists()
