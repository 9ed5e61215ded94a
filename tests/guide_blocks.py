"""The code blocks of the guide's pages, and how they run: in one folder per page, the commands in this process.

A block says by its first line what it is:

- ``console``: lines ``$ clueval ...``, each followed by its output. A command goes on after a backslash at the end of
  a line. Other commands are ``cat``, ``head``, ``tail``, ``ls``, ``mkdir``, ``python FILE``, ``echo $?`` and
  ``pip install``, which is compared with the extras of the package and not carried out.
- ``python``: a doctest; the blocks of a page share their names.
- ``LANGUAGE file=NAME``: is written to the file NAME.
- ``text line=FILE after=NAME``: is added to the file FILE, after the line in which ``NAME =`` begins.
- ``text``: a drawing, which does not run.

``...`` stands for any text that is left out; alone on a line, for any number of lines.
"""

from __future__ import annotations

import doctest
import importlib
import io
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clueval.cli import main

ROOT = Path(__file__).parents[1]
_FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SHELL = ("cat", "head", "tail", "ls", "mkdir")


@dataclass(frozen=True, slots=True)
class Block:
    """A code block of a page: the words after the fence, its text, and the line of its page."""

    info: str
    text: str
    line: int

    @property
    def language(self) -> str:
        return self.info.partition(" ")[0]

    @property
    def file(self) -> str | None:
        return self.info.partition(" file=")[2] or None


def blocks_of(text: str) -> list[Block]:
    return [
        Block(fence[1].strip(), fence[2], text.count("\n", 0, fence.start()) + 1)
        for fence in _FENCE.finditer(text)
    ]


def commands_of(block: Block) -> Iterator[tuple[str, str]]:
    """Yield each command of a console block, with the output that the page shows."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, output = re.sub(r"\\\n\s*", "", part).partition("\n")
        yield command, output


def extras() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return set(project["optional-dependencies"])


def same(shown: str, real: str) -> bool:
    """Whether a page shows this output; blanks at the ends of lines do not count."""
    pattern = "".join(
        r"(?:[^\n]*\n)*?"
        if line.strip() == "..."
        else re.escape(line.rstrip()).replace(r"\.\.\.", ".*") + r"\n"
        for line in shown.rstrip("\n").split("\n")
    )
    found = "".join(f"{line.rstrip()}\n" for line in real.rstrip("\n").split("\n"))
    return re.fullmatch(pattern, found) is not None


@dataclass(slots=True)
class Runner:
    """Runs the blocks of one page in the current folder, and collects what differs from the page."""

    page: str
    differences: list[str] = field(default_factory=list)
    code: int = 0
    names: dict[str, Any] = field(default_factory=dict)

    def run(self, block: Block) -> None:
        if block.file is not None:
            path = Path(block.file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
            importlib.invalidate_caches()  # it may be a module, in a folder that Python has looked into
        elif " line=" in block.info:
            file, _, name = block.info.partition(" line=")[2].partition(" after=")
            text = Path(file).read_text(encoding="utf-8")
            head, start, tail = re.split(rf"^({name} = .*\n)", text, maxsplit=1, flags=re.MULTILINE)
            Path(file).write_text(f"{head}{start}{block.text}{tail}", encoding="utf-8")
        elif block.language == "console":
            self._run_console(block)
        elif block.language == "python":
            self._run_python(block)
        elif block.info != "text":
            self._differs(block, f"a block {block.info!r} does not run")

    def _run_console(self, block: Block) -> None:
        commands = list(commands_of(block))
        if not commands:
            self._differs(block, "a console block without a command")
        for number, (command, shown) in enumerate(commands):
            real = self._output(command)
            asked = number + 1 < len(commands) and commands[number + 1][0] == "echo $?"
            if self.code and not asked and command != "echo $?":
                self._differs(block, f"$ {command}\nends with exit code {self.code}:\n{real}")
            elif not same(shown, real):
                self._differs(block, f"$ {command}\nshown:\n{shown}\nreal:\n{real}")

    def _output(self, command: str) -> str:
        program, *arguments = shlex.split(command)
        if command == "echo $?":
            return f"{self.code}\n"
        self.code = 0
        if program == "pip":
            asked = set(re.findall(r"\[([\w,]+)\]", command))
            wrong = {name for each in asked for name in each.split(",")} - extras()
            return f"no extras {wrong}" if wrong else ""
        output = io.StringIO()
        if program == "clueval":
            with redirect_stdout(output), redirect_stderr(output):
                try:
                    self.code = main(arguments)
                except SystemExit as end:
                    self.code = int(end.code or 0)
            return output.getvalue()
        if program not in (*_SHELL, "python"):
            return f"{program} is not a command that the guide may use"
        done = subprocess.run(
            [sys.executable if program == "python" else program, *arguments],
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.code = done.returncode
        return done.stdout

    def _run_python(self, block: Block) -> None:
        test = doctest.DocTestParser().get_doctest(block.text, {}, self.page, f"{self.page}.md", block.line)
        test.globs = self.names
        if not test.examples:
            self._differs(block, "a block of Python without >>> and without file=")
        output = io.StringIO()
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
        if runner.run(test, out=output.write, clear_globs=False).failed:
            self._differs(block, output.getvalue())

    def _differs(self, block: Block, what: str) -> None:
        self.differences.append(f"{self.page}.md:{block.line}: {what}")
