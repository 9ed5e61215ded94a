"""Running cases: what counts as a failure, in this process and in one that is watched."""

from __future__ import annotations

import gc
import io
import os
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple, NoReturn

from clueval.cli import main

from .cases import Case, made

SECONDS = 10
MEGABYTES = 500

DONE = -1
"""In place of the number of a case: there is no other."""


class Failure(NamedTuple):
    """What went wrong: a short name that stays the same while a case gets smaller, and all that is known."""

    name: str
    details: str


class _TooLong(BaseException):
    """A command has not ended in time."""


def failure_of(case: Case) -> Failure | None:
    """Run the commands of a case here, in a folder of its own; what goes wrong first, if anything."""
    with tempfile.TemporaryDirectory() as name, _in_folder(Path(name)):
        case.write(Path(name))
        for words in case.commands:
            found = _failure(words)
            if found is not None:
                return Failure(found.name, f"clueval {words}\n{found.details}")
    return None


@contextmanager
def _in_folder(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _failure(words: list[str]) -> Failure | None:
    streams = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in streams)
    sys.stderr.reconfigure(errors="backslashreplace")
    before = signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = main(words)
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 2
    except _TooLong:
        return Failure("too long", traceback.format_exc())
    except BaseException as error:
        return Failure(_name(error), traceback.format_exc())
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        out, err = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = streams
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - most) // 1024
    if grown > MEGABYTES:
        return Failure("too much memory", f"{grown} MB")
    complaint = _written(err)
    if "there is not enough memory" in complaint:
        return Failure("MemoryError", complaint)
    if code == 2 and complaint.count("\n") != 1:
        return Failure("not one line", complaint)
    if code not in (0, 1, 2):
        return Failure(f"exit code {code}", complaint)
    if len(complaint) > 20_000 or "Traceback" in complaint + _written(out)[:1000]:
        return Failure("a long complaint", complaint[:2000])
    return None


def _stop(*_: object) -> NoReturn:
    raise _TooLong


def _written(stream: object) -> str:
    assert isinstance(stream, io.TextIOWrapper)
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8")


def _name(error: BaseException) -> str:
    """The kind of an exception and the last place of the library that it passed."""
    own = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if "clueval" in Path(frame.filename).parts
    ]
    return (
        f"{type(error).__name__} in {Path(own[-1].filename).name} {own[-1].name}"
        if own
        else type(error).__name__
    )


class Found(NamedTuple):
    """A failure and the case that shows it."""

    number: int
    case: Case
    failure: Failure


def run(kind: str, cases: range) -> Iterator[Found]:
    """Run the cases with these numbers in a process that is watched; those that fail."""
    left = list(cases)
    while left:
        context = get_context("spawn")
        receiver, sender = context.Pipe(duplex=False)
        child = context.Process(target=_work, args=(kind, left, sender), daemon=True)
        child.start()
        sender.close()
        number = left[0]
        try:
            while receiver.poll(12 * SECONDS):
                number, failure = receiver.recv()
                if number == DONE:
                    child.join()
                    return
                if failure is not None:
                    yield Found(number, made(kind, number), failure)
            reason = "too long"  # so long that not even a signal came through
        except EOFError:
            reason = "the process ended"
        child.kill()
        child.join()
        yield Found(number, made(kind, number), Failure(reason, f"exit code {child.exitcode}"))
        left = left[left.index(number) + 1 :]


def _work(kind: str, numbers: list[int], sender: Connection) -> None:
    """Run cases and tell of each before it begins, and of failures."""
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    gc.freeze()
    for number in numbers:
        sender.send((number, None))
        failure = failure_of(made(kind, number))
        if failure is not None:
            sender.send((number, failure))
    sender.send((DONE, None))
