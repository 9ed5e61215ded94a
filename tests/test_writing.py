"""Every file is written whole or not at all, and what was there keeps what it had."""

from __future__ import annotations

import errno
import gc
import os
import resource
import signal
import stat
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

import clueval
from clueval.compat.gate import write_table
from clueval.core.document import Document, Pair
from clueval.core.span import Span
from clueval.files.errors import FileError, UsageError
from clueval.files.writing import named_together, scratch_folder, whole_bytes, whole_file
from clueval.reports import workbook
from clueval.studies.errors.report import Errors

Write = Callable[[Path], object]

NEW = "".join(f"{number}\n" for number in range(5000))

# From Python 3.13 on, a packed file that was interrupted says in its destructor that its file is closed already.
pytestmark = pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <gzip:pytest.PytestUnraisableExceptionWarning"
)


@pytest.fixture(autouse=True, scope="module")
def _older_objects_are_not_collected() -> None:
    """So that a collection after each test looks at its own objects only, which is a hundred times faster."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _files_are_closed() -> Iterator[None]:
    """Before the next test, which does not ignore that a file was not closed."""
    yield
    gc.collect()


def some_pairs(number: int = 20) -> Iterator[Pair]:
    """Yield pairs with an error each."""
    for document in range(number):
        gold = Document(str(document), {"label": [Span(0, 1, "PER")]}, tokens=["Ada"])
        yield Pair(gold, Document(gold.id, {"label": []}, tokens=["Ada"]))


def write_text(path: Path) -> None:
    with whole_file(path) as output:
        output.write(NEW)


def write_bytes(path: Path) -> None:
    with whole_bytes(path) as output:
        output.write(NEW.encode())


def write_workbook(path: Path) -> None:
    with whole_bytes(path) as output:
        workbook.write_workbook(Errors([[pair] for pair in some_pairs()]), output)


WRITERS: dict[str, tuple[str, Write]] = {
    "text": ("out.txt", write_text),
    "packed": ("out.txt.gz", write_text),
    "bytes": ("out.bin", write_bytes),
    "xlsx": ("out.xlsx", write_workbook),
}


@pytest.fixture(params=WRITERS)
def writer(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Write]:
    name, write = WRITERS[request.param]
    (tmp_path / "folder").mkdir()
    return tmp_path / "folder" / name, write


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def is_new(path: Path) -> bool:
    data = path.read_bytes()
    return data != b"old" and len(data) > 100


class TestWhatIsThere:
    def test_a_new_file_has_the_mode_that_the_umask_leaves(self, writer: tuple[Path, Write]) -> None:
        path, write = writer
        before = os.umask(0o027)
        try:
            write(path)
        finally:
            os.umask(before)

        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        assert names_in(path.parent) == [path.name]

    @pytest.mark.parametrize("mode", [0o600, 0o664])
    def test_a_file_keeps_its_mode(self, writer: tuple[Path, Write], mode: int) -> None:
        path, write = writer
        path.write_bytes(b"old")
        path.chmod(mode)

        write(path)

        assert is_new(path)
        assert stat.S_IMODE(path.stat().st_mode) == mode

    @pytest.mark.parametrize("there", [True, False])
    def test_a_link_stays_a_link(self, writer: tuple[Path, Write], there: bool) -> None:
        path, write = writer
        target = path.parent.parent / "target"
        if there:
            target.write_bytes(b"old")
        link = path.with_name(f"link-{path.name}")
        link.symlink_to(target)

        write(link)

        assert link.is_symlink()
        assert is_new(target)
        assert names_in(path.parent) == [link.name]

    def test_all_names_of_a_file_stay_its_names(self, writer: tuple[Path, Write]) -> None:
        path, write = writer
        path.write_bytes(b"old" * 100_000)  # longer than what is new
        other = path.with_name("other")
        other.hardlink_to(path)

        write(path)

        assert other.samefile(path)
        assert is_new(path)
        assert not other.read_bytes().endswith(b"oldold")
        assert names_in(path.parent) == sorted(["other", path.name])

    def test_a_file_keeps_its_owner(self, writer: tuple[Path, Write]) -> None:
        path, write = writer
        path.write_bytes(b"old")
        wanted = (1234, 2345) if os.geteuid() == 0 else (os.getuid(), os.getgid())
        os.chown(path, *wanted)

        write(path)

        assert is_new(path)
        assert (path.stat().st_uid, path.stat().st_gid) == wanted

    def test_a_file_whose_owner_cannot_be_given_stays_the_same_file(
        self, writer: tuple[Path, Write], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path, write = writer
        path.write_bytes(b"old")
        before = path.stat()
        monkeypatch.setattr("clueval.files.writing._given_to_owner", lambda *_: False)

        write(path)

        assert is_new(path)
        assert path.stat().st_ino == before.st_ino
        assert names_in(path.parent) == [path.name]

    def test_a_pipe_is_written_through(self, writer: tuple[Path, Write]) -> None:
        path, write = writer
        os.mkfifo(path)
        with read_elsewhere(path) as received:
            write(path)

        assert stat.S_ISFIFO(path.stat().st_mode)
        assert len(b"".join(received)) > 100
        assert names_in(path.parent) == [path.name]

    def test_a_workbook_that_went_through_a_pipe_is_whole(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        with read_elsewhere(tmp_path / "pipe") as received:
            write_workbook(tmp_path / "pipe")
        (tmp_path / "received.xlsx").write_bytes(b"".join(received))

        assert zipfile.ZipFile(tmp_path / "received.xlsx").testzip() is None

    def test_a_device_is_written_through(self) -> None:
        master, slave = os.openpty()
        try:
            path = Path(os.ttyname(slave))
            with whole_file(path) as output:
                output.write("a\tb\x1b[31m\u202e\n")
            written = os.read(master, 1000)
        finally:
            os.close(master)
            os.close(slave)

        assert written == b"a\tb\\u001b[31m\\u202e\r\n"  # and a terminal is not controlled by it

    def test_standard_output_goes_on_where_it_is(self, tmp_path: Path) -> None:
        code = "from pathlib import Path\nfrom clueval.files.writing import whole_file\n"
        code += "with whole_file(Path('/dev/stdout')) as output: output.write('second')"
        path = tmp_path / "out"
        path.write_text("first ")
        with path.open("a") as output:
            subprocess.run([sys.executable, "-c", code], stdout=output, check=True)
        piped = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)

        assert path.read_text() == "first second"
        assert piped.stdout == b"second"


@contextmanager
def read_elsewhere(path: Path) -> Iterator[list[bytes]]:
    """What is written to a pipe, read by another thread."""
    received: list[bytes] = []
    thread = threading.Thread(target=lambda: received.append(path.read_bytes()))
    thread.start()
    yield received
    thread.join()


@contextmanager
def no_room(size: int) -> Iterator[None]:
    """Inside, no file can be longer than so many bytes: writing fails as on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


class TestWhatFails:
    @pytest.mark.parametrize("size", [0, 30])
    @pytest.mark.parametrize("names", [0, 1, 2])
    def test_a_full_disk_is_one_error_and_leaves_nothing(
        self, writer: tuple[Path, Write], names: int, size: int
    ) -> None:
        path, write = writer
        if names:
            path.write_bytes(b"old")
        if names == 2:
            path.with_name("other").hardlink_to(path)
        before = names_in(path.parent)

        with no_room(size), pytest.raises(FileError, match="cannot be written: File too large"):
            write(path)

        assert names_in(path.parent) == before
        assert not names or path.read_bytes() == b"old"

    def test_a_pipe_that_nobody_reads_any_more_is_one_error(self, writer: tuple[Path, Write]) -> None:
        path, _ = writer
        os.mkfifo(path)
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

        def write_and_close(target: Path) -> None:
            with whole_bytes(target) as output:
                os.close(reader)
                output.write(b"new" * 100_000)

        with pytest.raises(FileError, match="cannot be written: Broken pipe"):
            write_and_close(path)
        assert stat.S_ISFIFO(path.stat().st_mode)

    def test_a_full_device_is_one_error_and_stays(self, writer: tuple[Path, Write]) -> None:
        path, write = writer
        device = path if make_full_device(path) else device_without_system()
        kept = names_in(path.parent)

        with pytest.raises(FileError, match="cannot be written"):
            write(device)
        assert names_in(path.parent) == kept
        assert device != path or stat.S_ISCHR(path.stat().st_mode)

    @pytest.mark.parametrize("place", ["file/below", "missing/below", "folder", "loop"])
    def test_a_place_that_takes_no_file_is_one_error(self, writer: tuple[Path, Write], place: str) -> None:
        path, write = writer
        (path.parent / "file").write_bytes(b"")
        (path.parent / "folder").mkdir()
        (path.parent / "loop").symlink_to(path.parent / "loop")
        before = names_in(path.parent)

        with pytest.raises(FileError, match="cannot be written"):
            write(path.parent / place)
        assert names_in(path.parent) == before

    def test_a_name_that_no_file_can_have_is_one_error(self, tmp_path: Path) -> None:
        for name in ("a\0b", "a\ud800"):
            with pytest.raises(FileError, match="cannot be written"):
                write_text(tmp_path / name)

    def test_text_that_no_file_can_hold_is_one_error(self, tmp_path: Path) -> None:
        with (
            pytest.raises(FileError, match=r"half of a surrogate pair, U\+D800"),
            whole_file(tmp_path / "a") as output,
        ):
            output.write("\ud800")
        assert names_in(tmp_path) == []

    def test_an_error_in_between_leaves_what_was_there(self, writer: tuple[Path, Write]) -> None:
        path, _ = writer
        path.write_bytes(b"old")

        def fail() -> Iterator[list[Pair]]:
            yield from ([pair] for pair in some_pairs())
            raise KeyError

        with pytest.raises(KeyError):
            Errors(fail).write(path.with_suffix(".xlsx"))
        assert names_in(path.parent) == [path.name]
        assert path.read_bytes() == b"old"


def make_full_device(path: Path) -> bool:
    """A device of our own that is always full; False where such a thing cannot be made."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 7))
        with path.open("wb", buffering=0) as device:
            device.write(b"x")
    except OSError as error:
        if error.errno == errno.ENOSPC:
            return True
        path.unlink(missing_ok=True)
    return False


def device_without_system() -> Path:
    """A terminal whose other end is closed: nothing can be written to it, nor beside it."""
    master, slave = os.openpty()
    path = Path(os.ttyname(slave))
    os.close(slave)
    os.close(master)
    return path


def events_of(write: Callable[[], object], at: int = 0, number: int = signal.SIGINT) -> int:
    """Carry it out, and send a signal at one of the calls and returns in it; returns how many there were.

    Python ignores an interruption in a destructor, as it ignores every exception there, and goes on. An archive that is
    interrupted while it is made has no attributes to be closed with, which its destructor says.
    """
    count = 0

    def profile(_: object, event: str, called: object) -> None:
        nonlocal count
        if event.startswith("c_") and called is sys.setprofile:
            return
        count += 1
        if count == at:
            sys.setprofile(None)
            signal.raise_signal(number)

    callbacks = gc.callbacks[
        :
    ]  # an interruption in one of them, as Hypothesis has, is not one of the program
    gc.callbacks.clear()
    report = sys.unraisablehook
    sys.unraisablehook = lambda error: (
        None
        if error.exc_type is KeyboardInterrupt or error.object is zipfile.ZipFile.__del__
        else report(error)
    )
    sys.setprofile(profile)
    try:
        write()
    except KeyboardInterrupt:
        pass
    finally:
        sys.setprofile(None)
        sys.unraisablehook = report
        gc.callbacks[:] = callbacks
    return count


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # a file that was opened a moment before
class TestInterruption:
    @pytest.mark.parametrize("moments", [5, pytest.param(200, marks=pytest.mark.long)])
    @pytest.mark.parametrize("names", [0, 1, 2])
    def test_no_moment_leaves_half_a_file(self, writer: tuple[Path, Write], names: int, moments: int) -> None:
        path, write = writer

        def prepare() -> None:
            for each in path.parent.iterdir():
                each.unlink()
            if names:
                path.write_bytes(b"old")
            if names == 2:
                path.with_name("other").hardlink_to(path)

        prepare()
        total = events_of(lambda: write(path))
        new = len(path.read_bytes())
        step = max(1, total // moments)
        for at in range(1, total + 1, step):
            prepare()
            before = names_in(path.parent)

            events_of(lambda: write(path), at)

            assert names_in(path.parent) in (before, sorted({*before, path.name})), at
            if path.exists():
                assert path.read_bytes() == b"old" or abs(len(path.read_bytes()) - new) < 20, at

    def test_no_moment_leaves_a_scratch_folder(self, tmp_path: Path) -> None:
        def use() -> None:
            with scratch_folder(tmp_path / "a") as folder:
                (folder / "part").write_text("x")

        for at in range(1, events_of(use) + 1):
            events_of(use, at)
            assert names_in(tmp_path) == [], at

    def test_a_workbook_lays_nothing_elsewhere(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "other").mkdir()
        (tmp_path / "other").chmod(0o500)
        seen: set[str] = set()

        def watched() -> Iterator[list[Pair]]:
            for pair in some_pairs():
                seen.update(path.name for path in (tmp_path / "other").iterdir())
                yield [pair]

        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "other"))
        Errors(watched).write(tmp_path / "a.xlsx")

        assert seen == set()
        assert names_in(tmp_path) == ["a.xlsx", "other"]


SIDES = [["B-PER"]], [["B-PER"]]
WITH_TEXT = [{"text": "Ada", "spans": [[0, 3, "PER"]]}]


@pytest.mark.parametrize(
    "write",
    [
        clueval.score(*SIDES).write,
        clueval.score(*SIDES).save,
        clueval.agree(SIDES).write_pygamma,
        clueval.masking(WITH_TEXT, WITH_TEXT).write_documents,
        partial(write_table, clueval.score(*SIDES, metrics="gate", resample_by="document")),
    ],
)
def test_an_empty_name_of_an_output_is_refused_and_does_not_mean_the_current_folder(
    write: Callable[[str], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(UsageError, match="the name of an output is empty"):
        write("")
    assert names_in(tmp_path) == []


def test_an_error_names_the_file_on_a_file_system_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    result = clueval.score([["B-PER"]], [["O"]])
    monkeypatch.setattr(os, "open", refused)
    monkeypatch.setattr(Path, "unlink", refused)

    with (
        named_together(),
        pytest.raises(FileError, match=r"x\.html: cannot be written: Read-only file system"),
    ):
        result.write(tmp_path / "x.html")
