"""The pages of the guide: their code runs, their links lead somewhere, and nothing is without a page."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from guide_blocks import ROOT, Runner, blocks_of, commands_of, extras, same

from clueval.cli import main
from clueval.cli.commands import COMMANDS, command_called
from clueval.cli.reference import PARTS
from clueval.formats.form import NAMES
from clueval.guide import FIRST, SECTIONS, all_pages, contents, page_named
from clueval.metrics import METRICS, chosen_metrics

PAGES = all_pages()
TEXT = "\n".join(page.text for page in PAGES.values())

MOST_PAGES, MOST_WORDS = 45, 18_000
"""The size of the guide; lines of tables and signs alone are no words. A new sentence replaces an old one."""


def options_of_commands() -> Iterator[str]:
    for name in COMMANDS:
        yield from (flag for flag in ("--help", *command_called(name).by_flag) if flag.startswith("--"))


def missing() -> set[str]:
    """Everything that no page shows; the parts of the reference that make themselves do not count."""
    blocks = [block for page in PAGES.values() for block in blocks_of(page.text)]
    consoles = [
        command for block in blocks if block.language == "console" for command, _ in commands_of(block)
    ]
    code = "\n".join([*consoles, *(block.text for block in blocks if block.language == "python")])
    called = set(re.findall(r"^clueval (\w+)", code, re.MULTILINE))
    counted = {
        name
        for names in re.findall(r"--metric[ =]'?([\w,]+)|metrics?=([^)]*)", code)
        for name in re.findall(r"\w+", " ".join(names))
    }
    read = {name for names in re.findall(r"--input[ =]([\w:-]+)", code) for name in names.split(":")}
    read |= {form for form in NAMES for page in PAGES if page == f"howto-{form}"}
    read |= set(re.findall(r"(?:samples/formats/|--to )([\w-]+)", code))
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", TEXT))
    return {
        *(f"command {name}" for name in COMMANDS.keys() - called),
        *(f"metric {name}" for name in METRICS.keys() - counted - called),
        *(f"format {name}" for name in {*NAMES} - read),
        *(f"option {name}" for name in set(options_of_commands()) - named),
    }


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The samples as a user gets them; pages only read them."""
    folder = tmp_path_factory.mktemp("written") / "samples"
    assert main(["samples", str(folder)]) == 0
    return folder


@pytest.mark.parametrize("name", PAGES)
def test_page_shows_what_its_code_prints(
    name: str, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "$ clueval samples" not in PAGES[name].text:
        (tmp_path / "samples").symlink_to(samples)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.syspath_prepend(tmp_path)
    modules = set(sys.modules)
    runner = Runner(name)
    for block in blocks_of(PAGES[name].text):
        runner.run(block)
    for module in {path.stem for path in tmp_path.glob("*.py")} - modules:
        sys.modules.pop(module, None)

    assert not runner.differences, "\n\n".join(runner.differences)


def test_guide_stays_small() -> None:
    assert len(PAGES) <= MOST_PAGES
    assert len(re.findall(r"\S*\w\S*", TEXT)) <= MOST_WORDS


def test_pages_begin_with_a_title_and_with_a_sentence_that_says_what_they_are_for() -> None:
    for name, page in PAGES.items():
        assert page.section in SECTIONS, name
        assert page.text.startswith("# "), name
        assert page.text.endswith("\n"), name
        assert page.title, name
        assert page.summary.endswith("."), name
        assert len(page.summary) < 200, name


def test_pages_link_to_pages_that_exist() -> None:
    existing = {f"{page}.md" for page in PAGES}
    for name, page in PAGES.items():
        text = re.sub(r"```.*?```|`[^`\n]+`", "", page.text, flags=re.DOTALL)
        targets = set(re.findall(r"\]\(([^)]+)\)", text))

        assert {target for target in targets if not target.startswith("https://")} <= existing, name


def test_pages_show_commands_instead_of_links_on_a_terminal() -> None:
    for name, page in PAGES.items():
        text = page.for_terminal()

        assert ".md)" not in re.sub(r"```.*?```|`[^`\n]+`", "", text, flags=re.DOTALL), name


def test_pages_name_commands_options_settings_and_extras_that_exist() -> None:
    options, parts = {*options_of_commands(), "--help", "--version"}, extras()
    for name, page in PAGES.items():
        quoted = re.findall(r"`([^`\n]+)`", page.text)
        code = " ".join(each for each in quoted if not each.startswith("python "))  # that is another program

        assert set(re.findall(r"`clueval (\w+)", page.text)) - {"COMMAND"} <= COMMANDS.keys(), name
        assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", code)) <= options, name
        for metrics in re.findall(r"--metric '([^'\n]+)'", page.text):
            assert chosen_metrics(metrics), f"{name}: {metrics}"
        assert set(re.findall(r"clueval\[(\w+)\]", page.text)) <= parts, name


def test_pages_have_a_blank_line_around_each_heading_and_after_each_table() -> None:
    for name, page in PAGES.items():
        text = re.sub(r"^```.*?^```$", "", page.text, flags=re.DOTALL | re.MULTILINE)

        assert not re.findall(r"^.+\n#+ .*|^#+ .*\n.+|^\|.*\n[^|\n].*", text, re.MULTILINE), name


def test_pages_have_only_blocks_that_run_and_drawings() -> None:
    for name, page in PAGES.items():
        assert len(re.findall("^```", page.text, re.MULTILINE)) == 2 * len(blocks_of(page.text)), name


def test_pages_have_drawings_that_fit_on_a_terminal() -> None:
    for name, page in PAGES.items():
        drawings = [block for block in blocks_of(page.text) if block.info == "text"]

        assert not [line for block in drawings for line in block.text.splitlines() if len(line) > 78], name


def test_pages_take_only_parts_that_can_be_made() -> None:
    for name, page in PAGES.items():
        assert set(re.findall(r"<!-- clueval: (\w+) -->", page.text)) <= PARTS.keys(), name


def test_contents_list_every_page_with_its_title() -> None:
    text = contents().text

    assert all(f"[{page.title}]({name}.md): " in text for name, page in PAGES.items())
    assert len({page.title for page in PAGES.values()}) == len(PAGES)


def test_contents_begin_with_the_pages_that_explain_the_words_of_the_others() -> None:
    sections = {name: section for section in SECTIONS for name in PAGES if name.startswith(f"{section}-")}

    assert sections.keys() >= set(FIRST)
    for section in {sections[name] for name in FIRST}:
        pages = [name for name in PAGES if sections[name] == section]
        first = [name for name in FIRST if sections[name] == section]
        assert pages == [*first, *sorted(set(pages) - set(first))]


def test_page_is_found_by_its_name_with_and_without_its_section() -> None:
    assert page_named("start-lists") is page_named("lists")
    assert page_named("list") is None


@pytest.mark.parametrize(
    ("shown", "real", "alike"),
    [
        ("a\n", "a\n", True),
        ("a\n", "b\n", False),
        ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("a\n...\n", "a\n", True),
        ("...\nd\n", "a\nc\n", False),
        ("a ... d\n", "a b c d\n", True),
        ("a ... d\n", "a b\nc d\n", False),
        ("", "\n", True),
        ("", "a\n", False),
        ("a\n", "a\nb\n", False),
    ],
)
def test_output_of_a_page_is_compared_line_by_line(shown: str, real: str, alike: bool) -> None:
    assert same(shown, real) is alike


@pytest.mark.parametrize(
    "block",
    [
        "```console\n$ clueval formats vrt\nno such thing\n```\n",
        "```console\n$ clueval formats xyz\n...\n```\n",
        "```console\n$ rm -r tests\n```\n",
        "```console\n$ pip install 'clueval[nothing]'\n```\n",
        "```console\nno command\n```\n",
        "```python\n>>> 1 + 1\n3\n\n```\n",
        "```python\nprint(1)\n```\n",
        "```sh\nls\n```\n",
    ],
)
def test_block_that_does_not_do_what_the_page_shows_is_found(
    block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    runner = Runner("page")
    (only,) = blocks_of(block)
    runner.run(only)

    assert len(runner.differences) == 1


def test_guide_has_a_page_for_every_command_metric_format_and_option() -> None:
    assert missing() == set()
