"""The offline page: its jobs, how it is built, and the page itself in Chromium, opened from a file.

The page is built from npm's package pyodide, whose folder the variable CLUEVAL_PYODIDE names; without it, the tests in
the browser are skipped.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from browser import FOUND_BY_AXE, Browser, download, give, in_browser, select

import clueval
import clueval.browser as jobs
from clueval.browser import __main__ as build
from clueval.cli import main

BROWSER = Path(clueval.__file__).parent / "browser"
SAMPLES = Path(clueval.__file__).parent / "samples"
GERMAN = SAMPLES / "german"
TEXTS = json.loads((BROWSER / "texts.json").read_text(encoding="utf-8"))
PARTS = ("pyodide.js", "pyodide.asm.wasm", "pyodide.asm.mjs", "python_stdlib.zip")


@pytest.fixture
def both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with gold and predicted, as the worker has it."""
    for side in jobs.SIDES:
        (tmp_path / side).mkdir()
        shutil.copy(GERMAN / f"{side}.vrt", tmp_path / side)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def side(path: str, **more: Any) -> dict[str, Any]:
    """What `look` returns of a file in columns."""
    return {"path": path, "files": [path], "names": [None], "texts": [], "form": "conll", "token": 0, **more}


OF_PRESIDIO = {"entity_type": "PER", "entity_value": "Ada", "start_position": 0, "end_position": 3}
OF_GATE = {"": {"name": "", "annotations": [{"type": "PER", "start": 0, "end": 3, "id": 1, "features": {}}]}}


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_is_shown_with_the_columns_of_tags_chosen(both: Path) -> None:
    seen = jobs.look("gold")

    assert (seen["form"], seen["path"], seen["files"]) == ("vrt", "gold/gold.vrt", ["gold/gold.vrt"])
    assert seen["rows"][0] == ["Amtsgericht", "B-court-name", "B-low", "a001-0001"]
    assert [column["use"] for column in seen["columns"]] == ["token", "tags", "tags", ""]
    assert [column["name"] for column in seen["columns"]] == ["", "2", "3", ""]


@pytest.mark.parametrize(
    ("name", "content", "key"),
    [
        ("a.conll", b"\n \n", "empty"),
        ("a.conll", "Jörg\tB-PER\n".encode("cp1252"), "told_not_utf8"),
        ("a.conll", "Jörg\tB-PER\n".encode("utf-16"), "told_not_utf8"),
        ("a.pdf", b"%PDF-1.4\n", "told_pdf"),
        ("a.docx", b"PK\x03\x04", "told_office"),
        ("a.vrt", b'<text id="a">\nAda\n</text>\n', "told_one_column"),
        ("a.json", b'{"a": 1}', "told_format"),
        ("a.zip", b"no archive", "told"),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error_of_its_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes, key: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "gold" / name, "").write_bytes(content)
    error = jobs.look("gold")["error"]

    assert error["key"] == key
    assert f"gold/{name}" in in_english(error).replace("\\", "/")
    assert set(re.findall(r"\{(\w+)\}", TEXTS["de"][key])) <= set(error)


def test_command_line_names_each_layer_once_if_the_sides_are_equal_otherwise_both_columns(both: Path) -> None:
    sides = {side: jobs.look(side) for side in jobs.SIDES}
    sides["gold"]["columns"][1]["name"] = sides["predicted"]["columns"][1]["name"] = "entity"
    assert jobs.line("score", sides) == (
        "clueval score gold/gold.vrt predicted/predicted.vrt --layer entity=2 --layer 3=3"
    )

    sides["gold"]["columns"][2] = {"use": "", "name": ""}
    sides["predicted"]["columns"][1] = {"use": "", "name": ""}
    sides["predicted"]["columns"][2] = {"use": "tags", "name": "entity"}
    assert jobs.line("errors", sides).endswith("--layer entity=2:3")
    assert jobs.line("agree", sides).endswith("--layer entity=2")
    assert jobs.line("errors", sides, language="de").endswith("--layer entity=2:3 --lang de")
    assert jobs.line("check", sides, language="de").endswith("--layer entity=2")


def test_command_line_of_a_file_with_both_sides_has_a_column_for_each() -> None:
    columns = [{"use": "token", "name": ""}, {"use": "gold", "name": ""}, {"use": "predicted", "name": ""}]
    sides = {"gold": side("gold/both.conll", columns=columns)}

    assert jobs.line("score", sides) == "clueval score gold/both.conll --layer label=2:3"
    assert jobs.line("check", sides) == "clueval check gold/both.conll --layer label=2"


def test_command_line_has_a_chosen_format_the_token_column_and_redacted_texts() -> None:
    columns = [{"use": "tags", "name": ""}, {"use": "token", "name": ""}, {"use": "token_id", "name": ""}]
    sides = {
        "gold": side("gold/a b.conll", columns=columns, chosen="conll"),
        "predicted": side("predicted/a.txt", source=None),
    }

    assert jobs.line("masking", sides, redacted=True) == (
        "clueval masking 'gold/a b.conll' predicted/a.txt --input conll --layer label=1:label --token 2 --token-id 3"
        " --redacted"
    )


@pytest.mark.parametrize(
    ("name", "text", "source"),
    [
        ("a.jsonl", {"text": "Ada met", "label": [[0, 3, "PER"]]}, "label"),
        ("a.json", ["Ada met", {"entities": [[0, 3, "PER"]]}], "entities"),
        ("a.jsonl", {"text": "Ada met", "ents": [{"start": 0, "end": 3, "label": "PER"}]}, "entities"),
        ("a.jsonl", {"full_text": "Ada met", "spans": [OF_PRESIDIO]}, "entity_type"),
        ("a.bdocjs", {"text": "Ada met", "offset_type": "p", "annotation_sets": OF_GATE}, "type"),
    ],
)
def test_a_side_without_columns_has_the_source_that_is_read_without_named_layers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: Any, source: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "gold" / "a.conll", "Ada B-PER\nmet O\n")
    write(tmp_path / "predicted" / name, json.dumps(text))
    line = jobs.line("score", {each: jobs.look(each) for each in jobs.SIDES})

    assert line == f"clueval score gold/a.conll predicted/{name} --layer label=2:{source}"
    words = [*line.split()[1:], "--align", "--metric", "exact", "-o", "a.json"]
    assert main(words) == 0
    (found,) = json.loads(Path("a.json").read_text(encoding="utf-8"))["metrics"]["exact"].values()
    assert found["micro"]["f1"] == 1


def test_annotators_are_the_files_of_one_side_if_the_other_has_none() -> None:
    sides = {"gold": side("gold", files=["gold/a.ann", "gold/b.ann"])}

    assert jobs.line("agree", sides) == "clueval agree gold/a.ann gold/b.ann"


def test_files_whose_names_differ_are_paired_by_their_content() -> None:
    gold, predicted = side("gold", names=["a", "b"]), side("predicted", names=["A-run", "B-run"])
    sides = {"gold": gold, "predicted": predicted}
    assert jobs.line("score", sides) == "clueval score gold predicted --pair-by content"

    predicted["names"] = ["a"]  # a file is missing, and the message says so
    assert jobs.line("score", sides) == "clueval score gold predicted"
    assert jobs.line("masking", {**sides, "predicted": side("p")}, redacted=True).endswith("p --redacted")


TABLE = "doc,start,end,label\nd1,0,1,PER\n"
TOKENS = '<text id="d1">\nAda\tB-PER\nmet\tO\n</text>\n'


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param(
            {"gold/a.vrt": TOKENS, "predicted/a.csv": TABLE},
            "gold/a.vrt predicted/a.csv --layer label=2:label --text gold/a.vrt",
            id="gold has the text",
        ),
        pytest.param(
            {"gold/a.csv": TABLE, "gold/a.vrt": TOKENS, "predicted/b.csv": TABLE},
            "gold/a.csv predicted/b.csv --text gold/a.vrt",
            id="the text is beside one table",
        ),
        pytest.param(
            {"gold/a.csv": TABLE, "gold/a.vrt": TOKENS, "predicted/b.csv": TABLE, "predicted/b.vrt": TOKENS},
            "gold/a.csv predicted/b.csv",
            id="both tables have their text",
        ),
    ],
)
def test_a_table_of_spans_has_its_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], expected: str
) -> None:
    for name, text in files.items():
        write(tmp_path / name, text)
    monkeypatch.chdir(tmp_path)
    line = jobs.line("score", {each: jobs.look(each) for each in jobs.SIDES})

    assert line == f"clueval score {expected}"
    done = jobs.run(line, str(tmp_path / "out"))
    assert done["code"] == 0


@pytest.mark.parametrize("command", jobs.OUTPUTS)
def test_every_command_writes_its_files_and_a_page_where_it_has_one(both: Path, command: str) -> None:
    sides = {side: jobs.look(side) for side in jobs.SIDES}

    done = jobs.run(jobs.line(command, sides), str(both / "out"))

    assert done["code"] == (1 if command == "check" else 0)
    written = {word for word in jobs.OUTPUTS[command].split() if not word.startswith("-")}
    assert written <= set(done["outputs"])
    assert command == "check" or any(name.endswith(".html") for name in done["outputs"])


def in_english(told: dict[str, str]) -> str:
    """The text of the page for a message."""
    return str(TEXTS["en"][told["key"]]).format_map(told)


@pytest.mark.parametrize(
    ("files", "arguments", "message"),
    [
        (
            {},
            "gold.vrt predicted.vrt --layer entity=4",
            "gold.vrt:3, document 'a001': 'a001-0001' is not a tag. Look at the menus over the columns in step 1.",
        ),
        (
            {},
            "gold.vrt predicted.vrt --layer entity=9",
            "gold.vrt:3, document 'a001': there is no column 9 for layer 'entity': the line has 4 columns\n"
            "Look at the menus over the columns and at the format of each side in step 1.",
        ),
        (
            {},
            "gold.vrt --layer entity=2",
            "layer 'entity' has one column, but gold and predicted are in one file\n"
            "Look at the menus over the columns and at the format of each side in step 1.",
        ),
        (
            {"a/1.vrt": TOKENS, "a/2.vrt": TOKENS, "b/1.vrt": TOKENS},
            "a b",
            "b has no file “2.vrt”, which a has. The files of both sides need the same names; or choose one file for "
            "each side.",
        ),
        (
            {"a.csv": TABLE},
            "a.csv a.csv",
            "a.csv:1: the ends under 'end' may be inclusive or exclusive: there is neither a text nor tokens\n"
            "Choose the text, a .vrt file with the same name, together with the table.",
        ),
        (
            {"a.conll": "a\tB-X\nb\tO\n", "b.conll": "a\tB-X\nc\tO\n"},
            "a.conll b.conll",
            "a.conll:2: gold has the word 'b' where b.conll:2 has 'c'. Both sides need the same text.",
        ),
        (
            {"a.conll": "a\tB-X\nb\n"},
            "a.conll a.conll",
            "a.conll:2: the line has 1 column, the first token line has 2",
        ),
        (
            {"a.docx": "PK\x03\x04"},
            "a.docx a.docx",
            "a.docx: is a file of Word, Excel or another office program, which cannot be read. Save a table as CSV, "
            "and a text as plain text, in UTF-8.",
        ),
        (
            {"a.json": '{"a": 1}'},
            "a.json a.json",
            "a.json:1: the format is not recognised: no format has such keys\n"
            "If you know the format, choose it in the menu “Format”.",
        ),
        (
            {},
            "gold.vrt predicted.vrt --layer entity=2 --jobs x",
            "argument --jobs: 'x' is neither auto nor a number from 1",
        ),
    ],
)
def test_a_message_has_what_to_do_in_the_page_and_no_advice_that_names_options(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    files: dict[str, str],
    arguments: str,
    message: str,
) -> None:
    for name in ("gold.vrt", "predicted.vrt"):
        shutil.copy(GERMAN / name, tmp_path)
    for name, text in files.items():
        write(tmp_path / name, text)
    monkeypatch.chdir(tmp_path)
    done = jobs.run(f"clueval score {arguments}", str(tmp_path / "out"))

    assert (done["code"], done["outputs"]) == (2, [])
    assert in_english(done["error"]).replace("\\", "/") == message


@pytest.mark.parametrize(
    ("message", "shown", "hint"),
    [
        (
            'aligning texts needs rapidfuzz, which is not installed (install it with: pip install "clueval[align]")',
            "aligning texts needs rapidfuzz, which is not installed",
            "This page does not have that package; use the installed program.",
        ),
        (
            "XMI files need dkpro-cassis (pip install 'clueval[uima]')",
            "XMI files need dkpro-cassis",
            "This page does not have that package; use the installed program.",
        ),
        (
            "no processes can be started from here (a script that uses several processes needs the guard "
            "if __name__ == '__main__')",
            "no processes can be started from here",
            "This page counts in one process; remove --jobs.",
        ),
    ],
)
def test_what_needs_a_package_or_a_process_is_said_in_the_words_of_the_page(
    message: str, shown: str, hint: str
) -> None:
    assert in_english(jobs.told(message)) == f"{shown}\n{hint}"


def test_a_line_that_cannot_be_read_and_an_unknown_command_are_messages(both: Path) -> None:
    assert "cannot be read" in jobs.run("clueval score 'a", str(both / "out"))["notes"]
    assert jobs.run("clueval nothing", str(both / "out"))["code"] == 2


def test_texts_are_the_same_in_both_languages() -> None:
    def places(language: str) -> dict[str, set[str]]:
        return {key: set(re.findall(r"\{\w+\}", text)) for key, text in TEXTS[language].items()}

    assert set(TEXTS) == {"en", "de"}
    assert places("en") == places("de")


def test_texts_are_those_that_the_page_uses() -> None:
    page, side, script = (
        (BROWSER / name).read_text(encoding="utf-8") for name in ("page.html", "side.html", "page.js")
    )
    named = set(re.findall(r'data-(?:text|label)="(\w+)"', page + side))
    named |= set(re.findall(r'(?:text|say|stop)\("(\w+)"', script))
    made = {"told", "empty", "first_lines", *jobs.OUTPUTS, *(f"told_{key}" for key in jobs.MESSAGES)}
    made |= {f"{side}{end}" for side in jobs.SIDES for end in ("", "_note", "_needed")}
    made |= {f"use_{use}" for use in ("", "token", "tags", "gold", "predicted", "token_id", "document")}
    texts = set(TEXTS["en"])

    assert named | made <= texts
    assert {key for key in texts - named - made if f'"{key}"' not in script} == set()


@pytest.fixture
def no_pyodide(tmp_path: Path) -> Path:
    """A folder with the files of npm's package pyodide, which hold nothing."""
    for name in PARTS:
        write(tmp_path / "pyodide" / name, name)
    write(
        tmp_path / "pyodide" / "pyodide-lock.json",
        json.dumps({"info": {"python": "3.14.2"}, "packages": {"a": 1}}),
    )
    write(tmp_path / "pyodide" / "package.json", json.dumps({"version": "314.0.7"}))
    return tmp_path / "pyodide"


@pytest.mark.long
def test_page_is_built_from_the_same_inputs_with_the_same_bytes(no_pyodide: Path, tmp_path: Path) -> None:
    printed = []
    for name in ("one", "two"):
        command = [
            sys.executable,
            "-m",
            "clueval.browser",
            "--pyodide",
            str(no_pyodide),
            "-o",
            f"{name}.html",
        ]
        checkout = {**os.environ, "PYTHONPATH": str(Path(build.__file__).parents[2])}  # the wheel lacks it
        ended = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, check=True, env=checkout
        )
        printed.append(ended.stdout.split()[0])
        (tmp_path / "pyodide" / "pyodide.js").touch()

    pages = [(tmp_path / f"{name}.html").read_bytes() for name in ("one", "two")]
    assert pages[0] == pages[1]
    assert printed[0] == printed[1]
    for licence in ("Permission is hereby granted", "Mozilla Public License", "PSF", "Apache License"):
        assert licence.encode() in pages[0]


def test_page_without_the_files_of_pyodide_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [
        sys.executable,
        "-m",
        "clueval.browser",
        "--pyodide",
        str(tmp_path),
        "-o",
        str(tmp_path / "page.html"),
    ]
    ended = subprocess.run(command, capture_output=True, text=True)

    assert (ended.returncode, ended.stdout) == (2, "")
    assert "pyodide-lock.json: cannot be read" in ended.stderr
    assert "Traceback" not in ended.stderr


# in the browser


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = os.environ.get("CLUEVAL_PYODIDE")
    if not folder:
        pytest.skip("CLUEVAL_PYODIDE does not name the folder of npm's package pyodide")
    path = tmp_path_factory.mktemp("page") / "clueval.html"
    path.write_text(build.built(Path(folder)), encoding="utf-8")
    return path


READY = "document.documentElement.dataset.ready === 'yes'"
IS_FULL = "element('result').classList.contains('full')"


class Opened:
    """The page, ready, without files."""

    def __init__(self, browser: Browser, page: Path) -> None:
        self.browser = browser
        if browser.run("location.href") == page.as_uri() and browser.run(READY):  # Python starts once only
            for side in jobs.SIDES:
                browser.run(f"choose('{side}', [])")
            browser.wait_for("pending === 0")
            browser.run("setFull(false)")
            browser.complaints.clear()
        else:
            browser.open(page, is_ready="document.readyState === 'complete'")
            browser.wait_for(READY)

    def choose(self, side: str, *files: Path, into: str = "files") -> None:
        self.browser.run(f"delete seen.{side}")
        root = self.browser("DOM.getDocument")["root"]["nodeId"]
        node = self.browser("DOM.querySelector", nodeId=root, selector=f"#{side} .{into}")["nodeId"]
        self.browser("DOM.setFileInputFiles", nodeId=node, files=[str(file) for file in files])
        self.browser.wait_for(f"seen.{side} !== undefined")

    def drop(self, side: str, *files: Path) -> None:
        self.browser.run(f"delete seen.{side}; element('{side}').scrollIntoView()")
        place = self.browser.run(f"element('{side}').getBoundingClientRect().toJSON()")
        data = {"items": [], "files": [str(file) for file in files], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.browser("Input.dispatchDragEvent", type=kind, x=place["x"] + 9, y=place["y"] + 9, data=data)
        self.browser.wait_for(f"seen.{side} !== undefined")

    def click(self, command: str) -> None:
        self.browser.run(f"document.querySelector('[data-command={command}]').click()")

    def ask(self, command: str) -> dict[str, Any]:
        """Click on a question, and return what its result shows."""
        done = "Number(document.documentElement.dataset.done ?? 0)"
        before = self.browser.run(done)
        self.browser.run("isLoaded = false; element('page').onload = () => { isLoaded = true; }")
        self.click(command)
        self.browser.wait_for(f"{done} > {before}")
        parts = ("error", "printed", "state", "line", "save")
        shown = {
            name: self.browser.run(f"element('{name}').value ?? element('{name}').textContent")
            for name in parts
        }
        is_full = self.browser.run(IS_FULL)
        if is_full:
            self.browser.wait_for("isLoaded")
            self.browser.run("element('full').click()")
        return {**shown, "page": self.browser.run("!element('page').hidden"), "full": is_full}

    def said(self, side: str) -> str:
        """What the box of a side says about its files, or that it needs some."""
        text: str = self.browser.run(f"document.querySelector('#{side} .seen').textContent")
        return text

    def written(self, name: str) -> str:
        text: str = self.browser.run(f"result.saved.find((each) => each.name === '{name}').content.text()")
        return text


@pytest.fixture
def opened(browser: Browser, page: Path) -> Opened:
    return Opened(browser, page)


@in_browser
def test_page_has_the_scores_of_the_command_line(opened: Opened, both: Path) -> None:
    for side in jobs.SIDES:
        opened.choose(side, both / side / f"{side}.vrt")
    shown = opened.ask("score")

    line = shown["line"].split()
    assert line[:2] == ["clueval", "score"]
    assert main([*line[1:], "-o", "scores.json"]) == 0
    assert opened.written("scores.json") == (both / "scores.json").read_text(encoding="utf-8")
    assert shown["page"]
    assert opened.browser.complaints == []


@in_browser
@pytest.mark.parametrize("command", ["conventions", "errors", "masking", "agree"])
def test_page_shows_a_page_and_has_the_numbers_of_the_command_line(
    opened: Opened, both: Path, command: str
) -> None:
    for side in jobs.SIDES:
        opened.choose(side, both / side / f"{side}.vrt")
    shown = opened.ask(command)
    name = next(each for each in jobs.OUTPUTS[command].split() if each.endswith(".json"))

    assert main([*shown["line"].split()[1:], "-o", name]) == 0
    assert opened.written(name) == (both / name).read_text(encoding="utf-8")
    assert shown["page"]
    assert opened.browser.complaints == []


@in_browser
def test_a_folder_of_brat_and_an_archive_of_it_are_read(opened: Opened, tmp_path: Path) -> None:
    brat = tmp_path / "brat"
    files = [
        write(brat / f"{name}{ending}", text)
        for name in ("one", "two")
        for ending, text in ((".txt", "Ada met Bob.\n"), (".ann", "T1\tPER 0 3\tAda\nT2\tPER 8 11\tBob\n"))
    ]
    with ZipFile(tmp_path / "brat.zip", "w") as archive:
        for file in files:
            archive.write(file, file.name)
    opened.choose("gold", *files)
    opened.choose("predicted", *files)
    assert "error" not in opened.browser.run("seen.gold")
    assert opened.ask("score")["error"] == ""
    assert opened.browser.run("seen.gold.files.length") == 2
    whole = opened.written("scores.json")

    opened.choose("gold", brat, into="folder")
    assert opened.ask("score")["error"] == ""
    opened.choose("gold", tmp_path / "brat.zip")
    opened.choose("predicted", tmp_path / "brat.zip")
    assert opened.ask("score")["error"] == ""
    assert json.loads(opened.written("scores.json"))["metrics"] == json.loads(whole)["metrics"]


@in_browser
def test_files_and_folders_are_dropped(opened: Opened, tmp_path: Path) -> None:
    brat = tmp_path / "brat"
    for name in ("one", "two"):
        write(brat / "in" / f"{name}.txt", "Ada met Bob.\n")
        write(brat / "in" / f"{name}.ann", "T1\tPER 0 3\tAda\n")
    write(brat / "Thumbs.db", "no annotations")
    opened.drop("gold", brat)
    opened.drop("predicted", *sorted((brat / "in").iterdir()))

    assert opened.browser.run("files.gold.map(({ name }) => name).sort()") == [
        "one.ann",
        "one.txt",
        "two.ann",
        "two.txt",
    ]
    shown = opened.ask("score")

    assert (shown["error"], shown["line"]) == ("", "clueval score gold predicted")
    assert "label: 2 gold and 2 predicted spans" in shown["printed"]
    assert opened.browser.complaints == []


@in_browser
def test_texts_that_differ_are_an_error_that_names_document_and_place(opened: Opened, both: Path) -> None:
    other = both / "other.vrt"
    write(
        other, (GERMAN / "predicted.vrt").read_text(encoding="utf-8").replace("Verkündet\t", "Verkuendet\t")
    )
    opened.choose("gold", both / "gold" / "gold.vrt")
    opened.choose("predicted", other)
    shown = opened.ask("score")

    assert shown["error"] == (
        "gold/gold.vrt:14: gold has the word 'Verkündet' where predicted/other.vrt:14 has 'Verkuendet'. "
        "Both sides need the same text."
    )
    assert not shown["page"]


@in_browser
def test_a_file_that_is_not_recognised_is_named_in_its_box_and_no_question_can_be_asked(
    opened: Opened, both: Path
) -> None:
    opened.choose("gold", both / "gold" / "gold.vrt")
    opened.choose("predicted", write(both / "letter.docx", "PK\x03\x04"))
    enabled = "document.querySelectorAll('[data-command]:enabled').length"

    assert "predicted/letter.docx: is a file of Word" in opened.said("predicted")
    assert opened.browser.run("element('state').textContent") == TEXTS["en"]["not_recognised"]
    assert opened.browser.run(enabled) == 0

    opened.choose("predicted", both / "predicted" / "predicted.vrt")
    assert opened.browser.run(enabled) == len(jobs.OUTPUTS)


@in_browser
def test_what_is_missing_is_said_in_the_boxes_at_once_in_the_language_of_the_page(
    opened: Opened, both: Path, browser: Browser
) -> None:
    english, german = TEXTS["en"], TEXTS["de"]
    assert [opened.said(side) for side in jobs.SIDES] == ["", ""]
    opened.choose("predicted", both / "predicted" / "predicted.vrt")
    assert opened.said("gold") == english["gold_needed"]
    opened.choose("gold", write(both / "a.txt", "Ada met Bob.\nThen she left.\n"))
    assert english["gold_without"] in opened.said("gold")
    opened.choose("predicted", write(both / "a.txt", "Ada met Bob.\nThen she left.\n"))
    assert english["texts"] in opened.said("predicted")

    browser.run("choose('predicted', [])")
    opened.choose("gold", write(both / "gold.conll", GOLD))
    assert opened.said("gold").endswith("Tags in columns: 2.")
    assert opened.said("predicted") == english["predicted_needed"]
    opened.choose("gold", write(both / "gold.conll", "Ada\tB-X\tB-X\n"))  # one file with both sides
    assert opened.said("predicted") == ""

    opened.choose("gold", write(both / "empty.conll", ""))
    select(browser, "language", "de")
    assert opened.said("gold") == german["empty"].format(file="gold/empty.conll")
    select(browser, "language", "en")


@in_browser
def test_a_column_that_holds_labels_may_be_chosen_where_none_is_recognised(
    opened: Opened, both: Path, browser: Browser
) -> None:
    opened.choose("gold", write(both / "gold.conll", "Ada\tNNP\nmet\tVBD\n"))
    assert TEXTS["en"]["gold_without"] in opened.said("gold")
    menu = "document.querySelectorAll('#gold thead select')[1]"
    browser.run(f"{menu}.value = 'tags'; {menu}.dispatchEvent(new Event('change'))")
    assert opened.said("gold").endswith("Tags in columns: 2.")


@in_browser
def test_the_example_is_loaded_and_answers(opened: Opened, browser: Browser) -> None:
    browser.run("element('example').click()")
    browser.wait_for("pending === 0 && seen.gold && seen.predicted")

    assert [listed(opened, side) for side in jobs.SIDES] == [["gold.vrt"], ["predicted.vrt"]]
    assert opened.ask("errors")["page"]
    with browser.in_frame():
        assert browser.run("document.getElementById('count').textContent") == "72 of 72 places"


@in_browser
def test_a_page_fills_the_window_until_one_goes_back(opened: Opened, small: Path, browser: Browser) -> None:
    opened.choose("predicted", small / "right.conll")
    inert = "[...document.querySelectorAll('header, section')].filter((each) => each.inert).length"
    assert opened.ask("score")["full"]
    assert not browser.run(IS_FULL)
    assert browser.run(inert) == 0
    browser.run("element('full').click()")
    assert browser.run(IS_FULL)
    assert browser.run("element('full').textContent") == TEXTS["en"]["back"]
    assert browser.run(inert) == 4  # all but the result
    assert browser.run("document.getElementById('page').getBoundingClientRect().bottom === innerHeight")
    browser.press("Escape")
    assert not browser.run(IS_FULL)
    assert not opened.ask("check")["full"]  # it has no page


@in_browser
def test_notes_are_in_the_language_of_the_page_and_name_no_options(
    opened: Opened, both: Path, browser: Browser
) -> None:
    for side in jobs.SIDES:
        opened.choose(side, both / side / f"{side}.vrt")
    select(browser, "language", "de")
    for command in jobs.OUTPUTS:
        shown = opened.ask(command)
        assert "--" not in shown["printed"]
        if command in ("score", "conventions", "errors"):
            assert "1 repariertes Tag in Vorhersage" in shown["printed"]
            with browser.in_frame():
                assert browser.run("document.documentElement.lang") == "de"
    select(browser, "language", "en")


@in_browser
def test_redacted_texts_answer_one_question(opened: Opened, tmp_path: Path) -> None:
    opened.choose(
        "gold", write(tmp_path / "a.txt", "Ada met Bob."), write(tmp_path / "a.ann", "T1\tPER 0 3\tAda\n")
    )
    opened.choose("predicted", write(tmp_path / "redacted" / "a.txt", "[Name] met Bob."))
    enabled, asked = (
        f"[...document.querySelectorAll('{each}')].map((each) => each.dataset.command)"
        for each in ("[data-command]:enabled", "[data-command]")
    )
    assert opened.browser.run(enabled) == ["masking"]
    assert opened.browser.run(asked)[0] == "masking"
    shown = opened.ask("masking")

    assert (shown["error"], shown["page"]) == ("", True)
    with opened.browser.in_frame():
        assert opened.browser.complaints == []
    opened.browser.run("element('redacted').click()")
    assert opened.browser.run(enabled) == list(jobs.OUTPUTS)


@in_browser
def test_decisions_are_exported_from_the_frame_and_imported_into_it_and_stay_when_the_language_changes(
    opened: Opened, both: Path, browser: Browser
) -> None:
    said = "document.getElementById('decided').textContent"
    notice = "this browser does not keep them: save them as a file"
    for side in jobs.SIDES:
        opened.choose(side, both / side / f"{side}.vrt")
    assert opened.ask("errors")["page"]
    with browser.in_frame():
        assert browser.run(said) == f"0 of 72 places decided; {notice}"
        browser.run("document.querySelector('.card').click(); document.querySelector('.card input').click()")
        file = download(browser, both)
    select(browser, "language", "de")
    with browser.in_frame():
        assert browser.run(said).startswith(f"1 of 72 places decided; {notice}")
    assert opened.ask("agree")["line"].endswith("--lang de")
    with browser.in_frame():
        assert browser.run("document.documentElement.lang") == "de"
    select(browser, "language", "en")

    assert opened.ask("errors")["page"]
    with browser.in_frame():
        assert browser.run(said) == f"0 of 72 places decided; {notice}"
        give(browser, file)
        assert browser.run(said) == f"1 of 72 places decided; {notice}; 1 line imported"
        browser.run("document.getElementById('export').click()")  # so that nothing is lost
    assert browser.complaints == []


CANCEL = """(async () => {
  document.querySelector("[data-command=errors]").click();
  while (!(read.bytes > 0)) await new Promise((resolve) => setTimeout(resolve, 5));
  element("cancel").click();
})()"""
"""In the page, since the work may end before a busy machine lets this process look."""


@in_browser
def test_files_of_30_mb_show_how_much_is_read_are_cancelled_and_read_again(
    opened: Opened, both: Path, browser: Browser
) -> None:
    for side in jobs.SIDES:
        text = (GERMAN / f"{side}.vrt").read_text(encoding="utf-8")
        opened.choose(side, write(both / "large" / f"{side}.vrt", text * 440))
    browser.run(CANCEL)
    assert browser.run("element('state').textContent") == TEXTS["en"]["cancelled"]
    browser.wait_for("!document.querySelector('[data-command=score]').disabled")
    assert opened.ask("score")["error"] == ""

    sizes = [file.stat().st_size for file in (both / "large").iterdir()]
    assert min(sizes) > 30_000_000
    assert browser.run("[read.files, read.bytes]") == [2, sum(sizes)]


@in_browser
def test_an_error_page_of_5000_places_opens(opened: Opened, tmp_path: Path, browser: Browser) -> None:
    for side, tag in (("gold", "B-PER"), ("predicted", "O")):
        lines = (f"Ada{n}\t{tag}\nmet\tO\nno\tO\none\tO\n\n" for n in range(5_000))
        opened.choose(side, write(tmp_path / f"{side}.conll", "".join(lines)))
    assert opened.ask("errors")["page"]

    with browser.in_frame():
        assert browser.run("document.getElementById('decided').textContent").startswith("0 of 5,000 places")
        assert browser.run("document.querySelectorAll('.card').length") == 50


GOLD = RIGHT = "Ada\tB-PER\nmet\tO\n\n"
WRONG = "Ada\tO\nmet\tB-PER\n\n"
TITLE = "element('result-title').textContent"
IS_OLD = "element('result').classList.contains('old') && !element('old').hidden"


def f1(opened: Opened) -> float:
    """The F1 of the result that is shown, exact and without labels."""
    levels = json.loads(opened.written("scores.json"))["metrics"]["levels"]
    found: float = levels["label"]["unlabelled"]["1"]["f1"]
    return found


def score_of(opened: Opened) -> float:
    """Ask for scores, and return their F1."""
    assert opened.ask("score")["error"] == ""
    return f1(opened)


def listed(opened: Opened, side: str) -> list[str]:
    """The names of the files that the page lists for a side."""
    lines = f"[...document.querySelectorAll('#{side} .list li')].map((each) => each.textContent)"
    return [line.rsplit(", ", 3)[0] for line in opened.browser.run(lines)]


def chosen(opened: Opened, side: str) -> int:
    """How many files the fields of a side hold; one that holds a file does not tell when it is chosen again."""
    fields = f"[...document.querySelectorAll('#{side} input[type=file]')]"
    number: int = opened.browser.run(f"{fields}.reduce((sum, each) => sum + each.files.length, 0)")
    return number


@pytest.fixture
def small(opened: Opened, tmp_path: Path) -> Path:
    """A folder with gold, which is chosen, and with two predicted files."""
    for name, text in (("gold", GOLD), ("right", RIGHT), ("wrong", WRONG)):
        write(tmp_path / f"{name}.conll", text)
    opened.choose("gold", tmp_path / "gold.conll")
    return tmp_path


@in_browser
def test_the_file_that_is_counted_is_the_one_that_was_chosen_or_dropped_last(
    opened: Opened, small: Path
) -> None:
    for name, put, score in (
        ("right", opened.choose, 1),
        ("wrong", opened.drop, 0),
        ("right", opened.choose, 1),
        ("right", opened.drop, 1),
        ("wrong", opened.choose, 0),
    ):
        put("predicted", small / f"{name}.conll")
        assert (listed(opened, "predicted"), chosen(opened, "predicted")) == ([f"{name}.conll"], 0)
        assert score_of(opened) == score
        assert opened.browser.run(TITLE) == f"Score: {name}.conll against gold.conll"
    opened.browser.run("document.querySelector('#predicted .remove').click()")
    opened.browser.wait_for("pending === 0")
    assert (listed(opened, "predicted"), chosen(opened, "predicted")) == ([], 0)


@in_browser
def test_a_file_that_was_edited_is_counted_as_it_is_listed_and_read_again_when_it_is_chosen_again(
    opened: Opened, small: Path, browser: Browser
) -> None:
    file = small / "right.conll"
    opened.choose("predicted", file)
    assert score_of(opened) == 1
    write(file, WRONG * 200)
    assert score_of(opened) == 1  # what the page has shown, although the file is another one by now
    browser.run("renew()")
    browser.wait_for("pending === 0")
    assert score_of(opened) == 1
    line = "document.querySelector('#predicted .list').textContent"
    assert "right.conll, 1 kB, changed" in browser.run(line)

    opened.choose("gold", write(small / "gold.conll", GOLD * 200))
    opened.choose("predicted", file)
    assert "right.conll, 4 kB, changed" in browser.run(line)
    assert score_of(opened) == 0


@in_browser
def test_a_result_is_marked_as_old_once_a_file_or_a_setting_is_another(
    opened: Opened, small: Path, browser: Browser
) -> None:
    menu = "document.querySelectorAll('#gold thead select')[0]"
    field = "document.querySelectorAll('#gold thead input')[1]"
    send = "dispatchEvent(new Event('{}'))"
    opened.choose("predicted", small / "right.conll")
    changes = (
        lambda: opened.choose("predicted", small / "wrong.conll"),
        lambda: opened.drop("gold", small / "gold.conll"),
        lambda: browser.run(f"{menu}.value = ''; {menu}.{send.format('change')}"),
        lambda: browser.run(f"{field}.value = 'name'; {field}.{send.format('input')}"),
        lambda: browser.run(f"element('redacted').{send.format('change')}"),
        lambda: browser.run(f"document.querySelector('#gold .forms').{send.format('change')}"),
        lambda: browser.run("document.querySelector('#predicted .remove').click()"),
    )
    for change in changes:
        opened.ask("check")
        assert not browser.run(IS_OLD)
        before = browser.run(TITLE)
        change()
        browser.wait_for("pending === 0")
        assert browser.run(IS_OLD)
        assert browser.run(TITLE) == before
    opened.ask("check")
    select(browser, "language", "de")
    assert not browser.run(IS_OLD)
    assert browser.run(TITLE) == "Dateien prüfen: gold.conll"
    select(browser, "language", "en")


@in_browser
def test_every_column_of_tags_is_read_or_named(opened: Opened, both: Path, browser: Browser) -> None:
    uses = "[...document.querySelectorAll('#{} thead select')].map((each) => each.value)"
    said = "document.querySelector('#{} .seen').textContent"
    opened.choose("gold", both / "gold" / "gold.vrt")
    opened.choose("predicted", both / "predicted" / "predicted.vrt")
    for side in jobs.SIDES:
        assert browser.run(uses.format(side)) == ["token", "tags", "tags", ""]
        assert "Tags in columns: 2, 3." in browser.run(said.format(side))
        assert "not read" not in browser.run(said.format(side))
    assert opened.ask("score")["line"].endswith("--layer 2=2 --layer 3=3")

    browser.run(
        "(() => { const menu = document.querySelectorAll('#gold thead select')[2]; menu.value = '';"
        "menu.dispatchEvent(new Event('change')); })()"
    )
    assert "These columns hold tags, too, and are not read: 3." in browser.run(said.format("gold"))

    opened.choose("predicted", write(both / "last.conll", "Ada\tB-PER\tB-high\nmet\tO\tO\n"))
    assert browser.run(uses.format("predicted")) == ["token", "", "tags"]
    assert "These columns hold tags, too, and are not read: 2." in browser.run(said.format("predicted"))


@in_browser
def test_the_menus_of_the_second_file_are_set_as_those_of_the_first(
    opened: Opened, both: Path, browser: Browser
) -> None:
    opened.choose("predicted", both / "predicted" / "predicted.vrt")
    browser.run(
        "(() => { const [, second, third] = document.querySelectorAll('#predicted thead select');"
        "second.value = ''; second.dispatchEvent(new Event('change'));"
        "const name = document.querySelectorAll('#predicted thead input')[2];"
        "name.value = 'risk'; name.dispatchEvent(new Event('input')); })()"
    )
    opened.choose("gold", both / "gold" / "gold.vrt")

    assert opened.ask("score")["line"].endswith("predicted/predicted.vrt --layer risk=3")


@in_browser
def test_a_format_that_was_chosen_belongs_to_the_files_that_it_was_chosen_for(
    opened: Opened, small: Path, browser: Browser
) -> None:
    forms = "document.querySelector('#predicted .forms')"
    opened.choose("predicted", small / "right.conll")
    browser.run(f"{forms}.value = 'conll'; {forms}.dispatchEvent(new Event('change'))")
    browser.wait_for("pending === 0 && seen.predicted.chosen === 'conll'")
    assert "--input conll" in opened.ask("score")["line"]

    opened.choose("predicted", small / "wrong.conll")
    assert browser.run(f"{forms}.value") == ""
    assert "--input" not in opened.ask("score")["line"]


@in_browser
def test_files_that_are_chosen_while_a_question_is_answered_are_not_counted(
    opened: Opened, small: Path, browser: Browser
) -> None:
    opened.choose("predicted", small / "right.conll")
    changed = json.dumps(WRONG)
    browser.run(
        f"""(async () => {{
          document.querySelector("[data-command=score]").click();
          const file = new File([{changed}], "wrong.conll");
          await choose("predicted", [{{ name: "wrong.conll", file }}]);
          await working;
        }})()"""
    )

    assert browser.run(TITLE) == "Score: right.conll against gold.conll"
    assert f1(opened) == 1
    assert browser.run(IS_OLD)
    assert score_of(opened) == 0
    assert browser.run(TITLE) == "Score: wrong.conll against gold.conll"


@in_browser
def test_a_choice_that_takes_long_does_not_replace_a_later_one(
    opened: Opened, small: Path, browser: Browser
) -> None:
    browser.run(
        f"""(async () => {{
          const one = {{ name: "right.conll", file: new File([{json.dumps(RIGHT)}], "right.conll") }};
          const two = {{ name: "wrong.conll", file: new File([{json.dumps(WRONG)}], "wrong.conll") }};
          let arrive;
          const slow = choose("predicted", new Promise((resolve) => {{ arrive = resolve; }}));
          await choose("predicted", [two]);
          arrive([one]);
          await slow;
        }})()"""
    )

    assert listed(opened, "predicted") == ["wrong.conll"]
    assert score_of(opened) == 0


@in_browser
def test_after_a_cancelled_question_new_files_are_counted(
    opened: Opened, small: Path, browser: Browser
) -> None:
    opened.choose("predicted", small / "right.conll")
    browser.run("document.querySelector('[data-command=errors]').click(); element('cancel').click()")
    opened.choose("predicted", small / "wrong.conll")
    browser.wait_for("pending === 0")
    assert score_of(opened) == 0


@in_browser
def test_redacted_texts_are_recognised_whichever_side_is_chosen_first(
    opened: Opened, tmp_path: Path, browser: Browser
) -> None:
    opened.choose("predicted", write(tmp_path / "redacted" / "a.txt", "[Name] met Bob."))
    opened.choose(
        "gold", write(tmp_path / "a.txt", "Ada met Bob."), write(tmp_path / "a.ann", "T1\tPER 0 3\tAda\n")
    )
    assert browser.run("element('redacted').checked")
    opened.choose("predicted", write(tmp_path / "a.conll", GOLD))
    assert not browser.run("element('redacted').checked")


HOSTILE = "</script><script>parent.ran=ran=1</script><img src=x onerror=parent.ran=1>"


@in_browser
def test_a_hostile_corpus_runs_no_script(opened: Opened, tmp_path: Path) -> None:
    word, label = HOSTILE.replace(" ", "\u00a0"), "B-" + HOSTILE.replace(" ", "\u00a0")
    gold = write(tmp_path / "<img src=x onerror=ran=1>.conll", f"{word}\t{label}\nb\tO\n\n")
    predicted = write(tmp_path / "p.conll", f"{word}\tO\nb\tB-{word}\n\n")
    opened.choose("gold", gold)
    opened.choose("predicted", predicted)
    for command in jobs.OUTPUTS:
        opened.ask(command)
        assert opened.browser.run("[document.querySelectorAll('img').length, typeof ran]") == [0, "undefined"]

    assert opened.browser.complaints == []


@pytest.fixture
def listener() -> Iterator[tuple[str, list[str]]]:
    """The address of a server on this computer, and the first lines of what is sent to it."""
    arrived: list[str] = []
    server = socket.create_server(("127.0.0.1", 0))

    def answer(connection: socket.socket) -> None:
        # before Chromium asks the policy whether a frame may be loaded, it may connect, and sends nothing
        with connection, suppress(OSError):
            if sent := connection.recv(200):
                arrived.append(sent.decode(errors="replace").split(" HTTP")[0])
                connection.sendall(b"HTTP/1.1 204 No Content\r\nAccess-Control-Allow-Origin: *\r\n\r\n")

    def listen() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=answer, args=server.accept()[:1], daemon=True).start()

    threading.Thread(target=listen, daemon=True).start()
    yield f"127.0.0.1:{server.getsockname()[1]}", arrived
    server.shutdown(socket.SHUT_RDWR)
    server.close()


LEAVE = """(async (where) => {
  const made = (tag, values) => document.body.append(Object.assign(document.createElement(tag), values));
  const ways = [
    () => fetch(`http://${where}/fetch`),
    () => navigator.sendBeacon(`http://${where}/beacon`, "text"),
    () => made("img", { src: `http://${where}/image` }),
    () => new WebSocket(`ws://${where}/socket`),
    () => made("link", { rel: "stylesheet", href: `http://${where}/style` }),
    () => made("link", { rel: "prefetch", href: `http://${where}/prefetch` }),
    () => made("script", { src: `http://${where}/script` }),
    () => made("iframe", { src: `http://${where}/frame` }),
    () => new Worker(URL.createObjectURL(new Blob([`fetch("http://${where}/worker")`]))),
    () => {
      made("iframe", { name: "of-form" });
      made("form", { id: "form", action: `http://${where}/form`, method: "post", target: "of-form" });
      document.getElementById("form").submit();
    },
  ];
  for (const way of ways) { try { await way(); } catch {} }
  await new Promise((resolve) => setTimeout(resolve, 1500));
})"""


@in_browser
def test_nothing_leaves_the_page(
    opened: Opened, listener: tuple[str, list[str]], tmp_path: Path, browser: Browser
) -> None:
    where, arrived = listener
    browser.run(f"{LEAVE}({json.dumps(where)})")
    assert arrived == []

    browser.open(write(tmp_path / "plain.html", "<!doctype html><body>"))
    browser.run(f"{LEAVE}({json.dumps(where)})")
    kinds = {"fetch", "beacon", "image", "style", "script", "frame", "worker", "form", "socket"}
    browser.wait_until(lambda: kinds <= {line.rpartition("/")[2] for line in arrived}, str(arrived))


@in_browser
def test_page_can_be_used_with_the_keyboard_alone(opened: Opened, both: Path) -> None:
    opened.choose("gold", both / "gold" / "gold.vrt")
    opened.browser.run("element('language').focus()")  # the tab order begins there, whatever ran before
    reached = set()
    for _ in range(40):
        opened.browser.press("Tab")
        reached.add(
            opened.browser.run("document.activeElement.dataset.command ?? document.activeElement.className")
        )

    assert {*jobs.OUTPUTS, "files unseen", "folder unseen", "forms", "plain remove"} <= reached


@in_browser
@pytest.mark.parametrize("width", [320, 1280])
def test_page_fits_its_width_in_both_languages_before_and_after_a_result(
    browser: Browser, page: Path, both: Path, width: int
) -> None:
    opened = Opened(browser, page)
    browser("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    wide = "document.documentElement.scrollWidth - innerWidth"
    for language in TEXTS:
        select(browser, "language", language)
        assert browser.run("document.documentElement.lang") == language
        assert browser.run("document.querySelector('h1').textContent") == TEXTS[language]["title"]
        assert browser.run(wide) <= 0
    for side in jobs.SIDES:
        opened.choose(side, both / side / f"{side}.vrt")
    opened.ask("score")
    assert browser.run(wide) <= 0
    browser("Emulation.clearDeviceMetricsOverride")
    select(browser, "language", "en")


@in_browser
def test_axe_finds_nothing_in_light_and_dark_before_and_after_a_result(
    opened: Opened, both: Path, axe: str, browser: Browser
) -> None:
    browser.run(f"{axe}; undefined")
    for result in ("none", "new", "old"):
        if result == "old":
            browser.run("changed()")
        if result == "new":
            for side in jobs.SIDES:
                opened.choose(side, both / side / f"{side}.vrt")
            assert opened.ask("score")["page"]
        browser.run("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
        for scheme in ("light", "dark"):
            browser(
                "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}]
            )
            assert (scheme, browser.run(FOUND_BY_AXE)) == (scheme, [])
