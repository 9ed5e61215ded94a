"""Runs one command as a process, discards its output, and prints its time and memory.

    python -I -S run_once.py COMMAND [ARGUMENT ...]

prints wall seconds, CPU seconds and peak memory in bytes on one line, and exits with the code of the command.

This is a process of its own because a process inherits the peak memory of its parent (the kernel keeps it in
``exec``). Here, the parent is a bare interpreter, which a command written in Python needs anyway. So this script
imports as little as possible.
"""

import os
import sys
import time

NOT_STARTED = 127
"""The exit code if the command could not be started, as in a shell."""

_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


def run(command: list[str]) -> int:
    """Run the command, print its figures, and return its exit code."""
    quiet = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
    ]
    start = time.perf_counter()
    try:
        process = os.posix_spawnp(command[0], command, os.environ, file_actions=quiet)
    except OSError as error:
        print(error.strerror, file=sys.stderr)
        return NOT_STARTED
    _, status, usage = os.wait4(process, 0)
    wall = time.perf_counter() - start
    print(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _MAXRSS_UNIT)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    code = run(sys.argv[1:])
    sys.exit(code if code >= 0 else 128 - code)
