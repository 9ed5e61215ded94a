"""Runs the code of the guide in the Python that imports this module; `test_pages_in_pyodide` does so in Pyodide."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

from guide_blocks import Runner, blocks_of

from clueval.cli import main
from clueval.guide import all_pages


class WithoutProcesses(Runner):
    """Runs blocks where no process can be started."""

    def _output(self, command: str) -> str:
        program, *words = shlex.split(command)
        if program not in ("head", "mkdir"):
            return super()._output(command)
        self.code = 0
        if program == "head":
            _, number, name = words
            return "".join(Path(name).read_text(encoding="utf-8").splitlines(keepends=True)[: int(number)])
        for name in words:
            Path(name).mkdir()
        return ""


def differences(folder: Path) -> list[str]:
    """Return what differs from the pages of the guide, whose files are written to a folder for each page."""
    os.environ["COLUMNS"] = "80"
    folder.mkdir()
    samples = folder / "samples"
    main(["samples", str(samples)])
    found: list[str] = []
    for name, page in all_pages().items():
        own = folder / "pages" / name
        own.mkdir(parents=True)
        if "$ clueval samples" not in page.text:
            shutil.copytree(samples, own / "samples")
        os.chdir(own)
        sys.path.insert(0, str(own))
        runner = WithoutProcesses(name)
        for block in blocks_of(page.text):
            runner.run(block)
        sys.path.remove(str(own))
        for module in own.glob("*.py"):
            sys.modules.pop(module.stem, None)
        found += runner.differences
    return found
