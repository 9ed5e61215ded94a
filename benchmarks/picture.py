"""Makes the picture of the README: the page of errors of the German sample, as a browser shows it. Needs Chromium.

python benchmarks/picture.py            writes benchmarks/errors.png
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from browser import CHROMIUM

import clueval

PICTURE = Path(__file__).with_name("errors.png")
SAMPLES = Path(clueval.__file__).parent / "samples" / "german"
SIZE = "1000,524"
HIDDEN = """<style>
header, :has(~ #findings), #findings-title, #filters, #keys, #reviews { display: none }
#findings { padding-top: 14px }
</style>"""
"""Leaves the list of errors; the page forbids styles that are not its own."""


def main() -> None:
    """Write the page, and a picture of its list of errors."""
    with TemporaryDirectory() as folder:
        page = Path(folder) / "errors.html"
        found = clueval.errors(SAMPLES / "gold.vrt", SAMPLES / "predicted.vrt", layers={"entity": 2})
        found.write(page, lang="de")
        shown = re.sub(r"<meta[^>]*Content-Security-Policy[^>]*>", HIDDEN, page.read_text(encoding="utf-8"))
        page.write_text(shown, encoding="utf-8")
        options = ["--headless=new", "--no-sandbox", "--hide-scrollbars", f"--window-size={SIZE}"]
        command = [str(CHROMIUM), *options, f"--screenshot={PICTURE}", page.as_uri()]
        subprocess.run(command, check=True, capture_output=True, timeout=60)


if __name__ == "__main__":
    main()
