"""Carries out a command again and again, and ends it by a signal at other moments; for tests/test_faults.py.

A moment is a number of calls and returns of functions, so that it is the same on every machine. The signal comes at
the next moment at which Python looks for one, too: when a Python function starts or a function of C has returned. At
another, an import could keep its lock forever. Each run is a process of its own, forked from this one, in a folder of
its own. What became of each is printed as JSON.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from clueval.cli import main
from clueval.cli.running import run as _run  # noqa: F401  # all is imported before a signal comes

MOMENTS = 10


def run(template: Path, work: Path, arguments: list[str], at: int = 0, number: int = 0) -> dict[str, Any]:
    """One run, in a copy of a folder: how it ended, what it printed, which files there are."""
    own = Path(tempfile.mkdtemp(dir=work))
    place, log, temporary = own / "place", own / "log", own / "tmp"
    shutil.copytree(template, place, symlinks=True)
    log.mkdir()
    temporary.mkdir()
    child = os.fork()
    if child == 0:
        _child(place, log, temporary, arguments, at, number)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    calls = log / "calls"
    return {
        "code": code,
        "calls": int(calls.read_text()) if calls.exists() else None,
        "out": (log / "out").read_text(),
        "error": (log / "error").read_text(),
        "files": {
            path.relative_to(place).as_posix(): path.read_bytes().hex()
            for path in sorted(place.rglob("*"))
            if path.is_file()
        },
        "temporary": sorted(path.name for path in temporary.iterdir()),
        "alone": _ends_alone(child),
    }


def _child(place: Path, log: Path, temporary: Path, arguments: list[str], at: int, number: int) -> None:
    os.setsid()
    os.chdir(place)
    tempfile.tempdir = str(temporary)
    for name, descriptor in (("out", 1), ("error", 2)):
        os.dup2(os.open(log / name, os.O_WRONLY | os.O_CREAT), descriptor)
    own, count = os.getpid(), 0

    def profile(_: object, event: str, called: object) -> None:
        nonlocal count
        if os.getpid() != own:
            sys.setprofile(None)
            return
        if event.startswith("c_") and called is sys.setprofile:
            return
        count += 1
        if at and count >= at and event in ("call", "c_return"):
            sys.setprofile(None)
            os.kill(own, number)

    sys.setprofile(profile)
    try:
        code = main(arguments)
    finally:
        sys.setprofile(None)
    (log / "calls").write_text(str(count))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _ends_alone(group: int) -> bool:
    """Whether no process of a group is left a moment after its first has ended."""
    try:
        for _ in range(200):
            os.killpg(group, 0)
            time.sleep(0.05)
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # the second: another user's process has the number by now
        return True
    return False


def moments(template: Path, work: Path, arguments: list[str]) -> dict[str, Any]:
    """An undisturbed run, and runs that are ended at ten moments of it by each of three signals."""
    run(template, work, arguments)
    whole = run(template, work, arguments)
    ended = [
        {"signal": number.name, "moment": moment}
        | run(template, work, arguments, whole["calls"] * moment // (MOMENTS + 1), number)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL)
        for moment in range(1, MOMENTS + 1)
    ]
    return {"whole": whole, "ended": ended}


if __name__ == "__main__":
    sys.stdin.close()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have them ignored
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    print(json.dumps(moments(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])))
