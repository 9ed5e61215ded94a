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
from contextlib import redirect_stderr, redirect_stdout
from hashlib import sha256
from importlib.metadata import distribution
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import clueval
from clueval.browser.jobs import OUTPUTS
from clueval.cli import main as command_line
from clueval.cli.printing import put, remark
from clueval.files.errors import CluevalError, FileError
from clueval.formats import FORMATS
from clueval.reports.page import environment, json_inside, script_hash, template, write_page
from clueval.version import __version__

PACKAGES = {
    "intervaltree": "intervaltree",
    "sortedcontainers": "sortedcontainers",
    "Jinja2": "jinja2",
    "MarkupSafe": "markupsafe",
    "XlsxWriter": "xlsxwriter",
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
        write_page(options.output, page)
    except CluevalError as error:
        remark(f"clueval.browser: {error}")
        return 2
    put(f"{sha256(page.encode()).hexdigest()}  {options.output}")
    return 0


def built(pyodide: Path) -> str:
    """Return the page. Raises `FileError` for a folder that is not that of npm's package pyodide."""
    from markupsafe import Markup

    lock = json.loads(_of(pyodide, "pyodide-lock.json"))
    worker = _own("worker.js").encode() + re.sub(rb"//# sourceMappingURL.*", b"", _of(pyodide, "pyodide.js"))
    parts = {
        "wasm": _packed(_of(pyodide, "pyodide.asm.wasm")),
        "asm": _packed(_of(pyodide, "pyodide.asm.mjs")),
        "library": _of(pyodide, "python_stdlib.zip"),
        "packages": _packages(),
        "worker": worker,
    }
    python = ".".join(lock["info"]["python"].split(".")[:2])
    values = {
        "TEXTS": json.loads(_own("texts.json")),
        "LOCK": json.dumps({**lock, "packages": {}}),
        "VERSION": python,
    }
    script = "".join(f"const {name} = {json_inside(value)};\n" for name, value in values.items()) + _own(
        "page.js"
    )
    return (
        environment()
        .from_string(_own("page.html"))
        .render(
            title="clueval",
            version=__version__,
            hashes=[script_hash(script), *sorted(_hashes_of_pages())],
            style=Markup(template("common.css") + _own("page.css")),
            forms=list(FORMATS),
            commands=list(OUTPUTS),
            licences=[
                (name, Markup.escape(text))
                for name, text in _licences(json.loads(_of(pyodide, "package.json"))["version"])
            ],
            parts={name: Markup(b64encode(part).decode()) for name, part in parts.items()},
            script=Markup(script),
        )
    )


def _of(folder: Path, name: str) -> bytes:
    try:
        return (folder / name).read_bytes()
    except OSError as error:
        raise FileError(
            f"cannot be read: {error.strerror}",
            file=str(folder / name),
            advice="npm install pyodide; --pyodide node_modules/pyodide",
        ) from None


def _own(name: str) -> str:
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


_KEPT = (".py", ".html", ".css", ".js", ".json", ".md", ".toml")


def _hashes_of_pages() -> set[str]:
    """Return the hashes of the scripts of all pages that commands write, which a frame of the page may run."""
    samples = files("clueval") / "samples" / "german"
    sides = [str(samples / f"{side}.vrt") for side in ("gold", "predicted")]
    found: set[str] = set()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        shown = [[command] for command, outputs in OUTPUTS.items() if "--html" in outputs]
        for words in [*shown, ["errors", "--profile", "all"]]:
            written = ["--html", str(path), "-o", f"{path}.json"]
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                command_line([*words, *sides, "--layer", "entity=2", *written])
            found |= set(re.findall(r"'sha256-([^']+)'", path.read_text(encoding="utf-8")))
    return found


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
    mozilla = "The source code is at https://github.com/pyodide/pyodide.\n\n" + _own("licences/MPL-2.0.txt")
    yield f"Pyodide {pyodide} (Mozilla Public License 2.0)", mozilla
    yield "Python (PSF License Agreement)", _own("licences/Python.txt")


if __name__ == "__main__":
    sys.exit(main())
