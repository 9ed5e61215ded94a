"""The offline page: clueval in one HTML file, which a browser opens without an installation and without a network.

``python -m clueval.browser --pyodide FOLDER -o clueval.html`` builds it (`__main__`). In the page, `page.js` shows
files, menus and results; `worker.js` runs Python in a worker. `texts.json` has the texts of the page by language. This
package is not part of the wheel.

This module has what the page asks of Python: to look at the files of a side, to write a command line, and to run it.
The files of each side are in a folder of its name below the current folder. A job takes and returns JSON.
"""

from __future__ import annotations

import io
import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

from clueval.cli import main
from clueval.core.span import DEFAULT_LAYER
from clueval.files.errors import CluevalError, visible
from clueval.files.opening import beginning_of
from clueval.formats.dialect import Dialect
from clueval.formats.form import Form
from clueval.formats.options import FormatOptions
from clueval.reading.paths import files_of, without_ending
from clueval.reading.source import Source, source_of
from clueval.reading.tag_columns import TagColumns, columns_of_tags, first_rows, layers_in
from clueval.reports.language import ENGLISH, in_language

SIDES = ("gold", "predicted")

OUTPUTS = {
    "score": "-o scores.html -o scores.tsv -o scores.json --save scores.clueval",
    "conventions": "-o conventions.html -o conventions.json",
    "errors": "-o errors.html -o errors.xlsx -o errors.tsv -o errors.json",
    "masking": "-o masking.html -o masking.xlsx -o masking.tsv --documents documents.tsv -o masking.json",
    "agree": "-o agreement.html -o agreement.xlsx -o agreement.tsv -o agreement.json",
    "check": "-o problems.txt",
}
"""The commands of the page, and the options and files that each writes."""

SHOWN_LINES = 12
_CHARACTERS = 300
"""How many characters of a line are shown in a format without columns."""

_ONE_SIDE = ("agree", "check")
"""Commands whose options are the same for all files."""


def job(name: str, text: str) -> str:
    """Carry out a job, whose name is that of a function below; its arguments and its result are JSON."""
    jobs: dict[str, Callable[..., Any]] = {"example": example, "look": look, "line": line, "run": run}
    return json.dumps(jobs[name](**json.loads(text)))


def example() -> dict[str, str]:
    """Return the content of a file for each side: the German sample."""
    folder = resources("clueval") / "samples" / "german"
    return {side: (folder / f"{side}.vrt").read_text(encoding="utf-8") for side in SIDES}


def look(side: str, form: str = "") -> dict[str, Any]:
    """Return what was recognised of the files of a side: their number, the format, and the first lines of the first.

    `columns` has the use of each column, if the format has columns. `form` is the format that was chosen.
    """
    if all(_is_empty(path) for path in _files(side)):
        return {"error": {"key": "empty", "file": _path(side).as_posix()}}
    try:
        files = files_of(_path(side))
        source = source_of(files[0][1], FormatOptions(input=form or None))
        recognised: dict[str, Any] = {
            "path": _path(side).as_posix(),
            "files": [path.as_posix() for _, path in files],
            "names": [name and without_ending(name) for name, _ in files],
            "texts": [path.as_posix() for path in _files(side) if path.suffix == ".vrt"],
            "form": source.form.name,
            "source": _source(source.form),
        }
        if source.form.has_columns:
            return {**recognised, **_columns(source, [path for _, path in files])}
        lines = beginning_of(source.path).split("\n")[:SHOWN_LINES]
        return {**recognised, "rows": [[visible(text_line[:_CHARACTERS])] for text_line in lines]}
    except CluevalError as error:
        return {"error": told(str(error))}


def _is_empty(path: Path) -> bool:
    with path.open("rb") as file:
        return not file.read(4096).strip()


def _source(form: Form) -> str | None:
    """Return the source of labels where no layer is named; None for a format whose only layer has any source."""
    if isinstance(form, Dialect) and form.sources:
        return form.sources.partition("|")[0]
    return {"brat": "type", "mentions": "label", "spacy-json": "entities"}.get(form.name)


def _path(side: str) -> Path:
    """Return the path of a side: its only file, besides the text of a table of spans, or its folder."""
    texts = {path.with_suffix(".vrt") for path in _files(side) if path.suffix in (".csv", ".tsv")}
    files = [path for path in _files(side) if path not in texts]
    return files[0] if len(files) == 1 else Path(side)


def _files(side: str) -> list[Path]:
    return [path for path in sorted(Path(side).rglob("*")) if path.is_file()]


def _columns(source: Source, paths: Sequence[Path]) -> dict[str, Any]:
    """Return the first rows of a file, and the use of each column, which is that of a side without named layers."""
    first = first_rows(source, SHOWN_LINES)
    if first is None:
        return {"rows": []}
    layout, rows = first
    sources = (source_of(path, source.options) for path in paths)
    tag_columns, of_side = columns_of_tags(source), TagColumns.of(sources, source.options)
    layers = {name: column + 1 for name, column in layout.layers.items() if isinstance(column, int)}
    if of_side is not None and not of_side.is_read:
        layers = layers_in(sorted(of_side.own))
    elif of_side is None and not {*layers.values()} <= {*tag_columns}:  # the file has errors, or no tags
        layers = layers_in(tag_columns[:1])
    columns = [{"use": "", "name": ""} for _ in range(layout.width)]
    columns[layout.token]["use"] = "token"
    for name, column in layers.items():
        columns[column - 1] = {"use": "tags", "name": name}
    shown = [[visible(value) for value in fields] for fields in rows]
    return {"rows": shown, "columns": columns, "found": tag_columns, "token": layout.token}


def line(command: str, sides: Mapping[str, Any], redacted: bool = False, language: str = ENGLISH) -> str:
    """Return the command line for what was chosen.

    `sides` has what `look` returned for each side that has files, with the uses of columns as they were chosen.

    >>> columns = [{"use": "token", "name": ""}, {"use": "tags", "name": "entity"}]
    >>> sides = {"gold": {"columns": columns, "token": 0, "path": "gold/a.conll", "form": "conll", "texts": []}}
    >>> line("check", sides)
    'clueval check gold/a.conll --layer entity=2'
    """
    chosen = [sides[side] for side in SIDES if side in sides]
    paths = [side["path"] for side in chosen]
    if command == "agree" and len(chosen) == 1:  # each file is of another annotator
        paths = chosen[0]["files"]
    options = list(_options(chosen, command))
    if redacted and command == "masking":
        options.append("--redacted")
    elif len(chosen) == 2 and command != "check" and {*chosen[0]["names"]}.isdisjoint(chosen[1]["names"]):
        options += ["--pair-by", "content"]
    texts = [text for side in chosen for text in side["texts"]]
    if len(texts) == 1 and any(side["form"] == "spans" for side in chosen):
        options += ["--text", texts[0]]
    if language != ENGLISH and command != "check":
        options += ["--lang", language]
    return shlex.join(["clueval", command, *paths, *options])


def _options(sides: Sequence[Mapping[str, Any]], command: str) -> Iterator[str]:
    """Yield the options that say how the sides are read."""
    yield from _option("--input", [side.get("chosen") or "" for side in sides], command)
    in_columns = [side.get("columns") for side in sides]
    if not any(in_columns):
        return
    both = len(sides) == 1 and command not in _ONE_SIDE
    uses = [({"gold"}, {"predicted"})] if both else [({"tags", "gold"},)] * len(sides)
    layers: dict[str, list[str]] = {}
    places = [(side, use) for side, side_uses in enumerate(uses) for use in side_uses]
    for number, (side, taken) in enumerate(places):
        columns = in_columns[side]
        if columns is None:
            continue
        for column, chosen in enumerate(columns, 1):
            if chosen["use"] in taken:
                layers.setdefault(chosen["name"] or DEFAULT_LAYER, [""] * len(places))[number] = str(column)
    for side, facts in enumerate(sides):
        if in_columns[side] is None:
            for name, values in layers.items():
                values[side] = str(facts["source"] or name)
    for name, values in layers.items():
        first, *rest = values[:1] if command in _ONE_SIDE else values
        yield from (
            "--layer",
            f"{name}={first}" if all(value == first for value in rest) else f"{name}={':'.join(values)}",
        )
    for flag, use in (("--token", "token"), ("--token-id", "token_id"), ("--document-column", "document")):
        values = [_column_of(columns, use) for columns in in_columns]
        usual = [str(side["token"] + 1) if "token" in side else "" for side in sides]
        if use != "token" or values != usual:
            yield from _option(flag, values, command)


def _column_of(columns: Sequence[Mapping[str, str]] | None, use: str) -> str:
    numbers = (str(number) for number, column in enumerate(columns or (), 1) if column["use"] == use)
    return next(numbers, "")


def _option(flag: str, values: Sequence[str], command: str) -> Iterator[str]:
    """Yield an option with the values of both sides; with one value if these are equal, or one side has none."""
    present = [value for value in values if value]
    if present:
        alone = command in _ONE_SIDE or len(set(present)) == 1
        yield from (flag, present[0] if alone else ":".join(present))


def run(text: str, output: str = "/output", language: str = ENGLISH) -> dict[str, Any]:
    """Run a command line, with the files of `OUTPUTS` in a folder; return its exit code, what it printed, the files.

    `language` is that of notes; of pages, the command line has it.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        notes = f"The command line cannot be read: {error}"
        return {"code": 2, "out": "", "notes": notes, "error": told(notes), "outputs": []}
    words = words[1:] if words[:1] == ["clueval"] else words
    command = words[0] if words else ""
    folder = Path(output)
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for word in OUTPUTS.get(command, "").split():
        words.append(word if word.startswith("-") else str(folder / word))
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), in_language(language):
        try:
            code = main(words)
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 2
    printed = err.getvalue().replace(f"clueval {command}: ", "")
    notes = "\n".join(note for note in printed.splitlines() if not note.startswith(f"wrote {folder}"))
    problems = folder / "problems.txt"
    if problems.exists():
        out.write(problems.read_text(encoding="utf-8"))
    return {
        "code": code,
        "out": out.getvalue(),
        "notes": in_page(notes),
        "error": told(notes),
        "outputs": sorted(path.name for path in folder.iterdir()),
    }


MESSAGES = {
    "not_utf8": r"^(?P<place>[^\n]*?): (not|is) UTF-",
    "pdf": r"^(?P<file>[^\n]*?)(:\d+)?: is a PDF file",
    "office": r"^(?P<file>[^\n]*?)(:\d+)?: is a file of Word, Excel",
    "one_column": r"^(?P<file>[^\n]*?)(:\d+)?(, document [^\n]*)?: no column is left for the tokens",
    "not_a_tag": r"^(?P<place>[^\n]*?): (?P<value>'[^\n]*?') is not a tag",
    "other_text": (
        r"^(?P<place>[^\n]*?): gold has the token (?P<one>[^\n]*) where (?P<other>[^\n]*?) has (?P<two>'[^\n]*?') \("
    ),
    "columns": "there is no column|has one column|there is no layer",
    "names": r"^(?P<folder>[^\n]*): has no file '(?P<file>[^\n]*)', which (?P<other>[^\n]*) has",
    "format": "the format is not recognised",
    "text": "the text file .* does not exist|there is neither a text nor tokens",
    "annotators": "one file has one annotator",
    "package": "pip install",
    "process": "no processes can be started",
}
"""The messages for which the page has texts of its own, which have what the groups hold and the `message` itself."""


def told(message: str) -> dict[str, str]:
    """Return the key of the text of the page for a message, and the values of the text.

    >>> told("a.pdf:1: is a PDF file, which clueval does not read (save its text as plain text)")["file"]
    'a.pdf'
    """
    shown = in_page(message)
    for key, pattern in MESSAGES.items():
        if match := re.search(pattern, message, re.M):
            return {"key": f"told_{key}", "message": shown, **match.groupdict()}
    return {"key": "told", "message": shown}


_ADVICE = re.compile(
    r" \((?:[^()]|\([^()]*\))*(?:--[a-z]|[a-z_]+=|pip install|__main__|pair_by)(?:[^()]|\([^()]*\))*\)$"
    r"|; [^;()\n]*--[a-z][^;()\n]*$",
    re.M,
)
"""The advice at the end of a message if it names an option or a package, which the page does not have."""


def in_page(message: str) -> str:
    """Return a message without advice that names options or packages.

    >>> in_page("a.conll:2: 'x' is not a tag (a tag is O, or B-; --layer names the column of the tags)")
    "a.conll:2: 'x' is not a tag"
    """
    return _ADVICE.sub("", message)
