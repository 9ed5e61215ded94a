"""Builds the page: ``python -m clueval.browser --pyodide FOLDER -o clueval.html``.

The same inputs give the same bytes. Inputs are clueval, the packages of this environment, and npm's package pyodide.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import re
import sys
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from html import escape
from importlib.metadata import distribution
from importlib.resources import files
from pathlib import Path
from string import Template
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import clueval
from clueval.browser import OUTPUTS, SIDES
from clueval.cli.printing import put, remark
from clueval.files.errors import CluevalError, FileError
from clueval.files.writing import whole_file
from clueval.formats.form import NAMES
from clueval.reports.page import json_in_page, script_hash
from clueval.version import __version__

PACKAGES = {
    "intervaltree": "intervaltree",
    "sortedcontainers": "sortedcontainers",
    "openpyxl": "openpyxl",
    "et_xmlfile": "et_xmlfile",
}
"""The packages that the page contains besides clueval: the name of each and that of its module."""


def main() -> int:
    """Build the page, print its SHA-256, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m clueval.browser", description="Build the offline page.")
    parser.add_argument(
        "--pyodide", type=Path, required=True, metavar="FOLDER", help="the folder of npm's package pyodide"
    )
    parser.add_argument("-o", dest="output", type=Path, default=Path("clueval.html"), metavar="FILE")
    options = parser.parse_args()
    try:
        page = built(options.pyodide)
        with whole_file(options.output) as file:
            file.write(page)
    except CluevalError as error:
        remark(f"clueval.browser: {error}")
        return 2
    put(f"{sha256(page.encode()).hexdigest()}  {options.output}")
    return 0


def built(pyodide: Path) -> str:
    """Return the page. Raises `FileError` for a folder that is not that of npm's package pyodide."""
    lock = json.loads(_content_of(pyodide, "pyodide-lock.json"))
    worker = _text("worker.js").encode() + re.sub(
        rb"//# sourceMappingURL.*", b"", _content_of(pyodide, "pyodide.js")
    )
    parts = {
        "wasm": _packed(_content_of(pyodide, "pyodide.asm.wasm")),
        "asm": _packed(_content_of(pyodide, "pyodide.asm.mjs")),
        "library": _content_of(pyodide, "python_stdlib.zip"),
        "packages": _packages(),
        "worker": worker,
    }
    python = ".".join(lock["info"]["python"].split(".")[:2])
    values = {
        "TEXTS": json.loads(_text("texts.json")),
        "LOCK": json.dumps({**lock, "packages": {}}),
        "VERSION": python,
    }
    script = "".join(f"const {name} = {json_in_page(value)};\n" for name, value in values.items()) + _text(
        "page.js"
    )
    of_reports = (files("clueval.reports") / "page.js").read_text(encoding="utf-8")  # which a frame may run
    side = Template(_text("side.html"))
    forms = "".join(f"<option>{name}</option>" for name in NAMES)
    licences = _licences(json.loads(_content_of(pyodide, "package.json"))["version"])
    return Template(_text("page.html")).substitute(
        version=__version__,
        hashes=" ".join(f"'sha256-{script_hash(each)}'" for each in (script, of_reports)),
        style=_text("page.css"),
        sides="".join(side.substitute(side=name, forms=forms) for name in SIDES),
        commands=" ".join(map(_BUTTON.format, OUTPUTS)),
        licences="\n".join(_LICENCE.format(name, escape(text)) for name, text in licences),
        parts="\n".join(_PART.format(name, b64encode(part).decode()) for name, part in parts.items()),
        script=script,
    )


_BUTTON = '<button type="button" class="plain" data-command="{0}" data-text="{0}" disabled></button>'
_LICENCE = (
    '<details class="more"><summary lang="en">{}</summary>'
    '<pre class="licence" lang="en" tabindex="0">{}</pre></details>'
)
_PART = '<script type="text/plain" id="part-{}">{}</script>'


def _content_of(folder: Path, name: str) -> bytes:
    try:
        return (folder / name).read_bytes()
    except OSError as error:
        raise FileError(
            f"cannot be read: {error.strerror}",
            file=str(folder / name),
            advice="npm install pyodide; --pyodide node_modules/pyodide",
        ) from None


def _text(name: str) -> str:
    return (files("clueval.browser") / name).read_text(encoding="utf-8")


def _packed(data: bytes) -> bytes:
    return gzip.compress(data, 9, mtime=0)


def _packages() -> bytes:
    """Return an archive of clueval and the packages that it needs."""
    packed = io.BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED, compresslevel=9) as archive:
        for name, path in sorted(_files()):
            info = ZipInfo(name)  # of 1980
            info.compress_type = ZIP_DEFLATED
            archive.writestr(info, path.read_bytes())
    return packed.getvalue()


def _files() -> Iterator[tuple[str, Path]]:
    """Yield the names and paths of the modules, of the templates of pages, and of the guide."""
    folders = [Path(clueval.__file__).parent]
    for module in PACKAGES.values():
        folders.append(Path(str(files(module))))
    for folder in folders:
        for path in folder.rglob("*"):
            name = path.relative_to(folder.parent).as_posix()
            if path.is_file() and path.suffix in _KEPT and not name.startswith("clueval/samples"):
                yield name, path
    for side in SIDES:  # what `example` returns
        name = f"clueval/samples/german/{side}.vrt"
        yield name, Path(clueval.__file__).parents[1] / name


_KEPT = (".py", ".html", ".css", ".js", ".json", ".md", ".toml")


def _licences(pyodide: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each part of the page, and its licence."""
    yield (
        f"clueval {__version__}",
        (Path(clueval.__file__).parents[1] / "LICENSE").read_text(encoding="utf-8"),
    )
    for name in PACKAGES:
        package = distribution(name)
        texts = [
            path.read_text(encoding="utf-8")
            for path in package.files or ()
            if re.search(r"licen[cs]e[^/]*$", str(path), re.I) and path.suffix not in (".py", ".pyc")
        ]
        yield f"{name} {package.version}", "\n".join(texts)
    mozilla = "The source code is at https://github.com/pyodide/pyodide.\n\n" + _text("licences/MPL-2.0.txt")
    yield f"Pyodide {pyodide} (Mozilla Public License 2.0)", mozilla
    yield "Python (PSF License Agreement)", _text("licences/Python.txt")


if __name__ == "__main__":
    sys.exit(main())
