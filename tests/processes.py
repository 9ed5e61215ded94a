"""Processes that a test has started: which there are, and waiting for an event."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable


def children_of(pid: int) -> list[int]:
    listed = subprocess.run(
        ["ps", "-o", "pid=,stat=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    ).stdout
    return [int(line.split()[0]) for line in listed.splitlines() if "Z" not in line.split()[1]]


def are_there(pids: list[int]) -> bool:
    listed = subprocess.run(
        ["ps", "-o", "stat=", "-p", ",".join(map(str, pids))], capture_output=True, text=True, check=False
    ).stdout
    return any("Z" not in line for line in listed.split())


LONG = 200
"""Seconds after which a test gives up: it waits for an event, never for a time, so a busy machine changes nothing."""


def wait_until(condition: Callable[[], object]) -> bool:
    end = time.monotonic() + LONG
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
