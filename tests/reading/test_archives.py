"""Archives: their members are read like files, and what could do harm is refused."""

from __future__ import annotations

import gzip
import io
import pickle
import re
import stat
import tarfile
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from corpora import write

from clueval import read, score
from clueval.cli import main
from clueval.files import opening
from clueval.files.errors import CluevalError, FileError, FormatError
from clueval.reading import archives
from clueval.reading.archives import Member
from clueval.reading.paths import files_of

FILES = {
    "a.conll": "Ada B-PER\nin O\n",
    "sub/b.conll": "Ulm B-LOC\n",
    ".hidden": "x",
    "sub/Thumbs.db": "x",
    "sub/": "",
}


def zipped(path: Path, files: dict[str, str] = FILES) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def tarred(path: Path, files: dict[str, str] = FILES) -> Path:
    with tarfile.open(path, "w:gz" if path.name.endswith("gz") else "w") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(f"./{name}".rstrip("/"))
            info.type = tarfile.DIRTYPE if name.endswith("/") else tarfile.REGTYPE
            info.size = len(content.encode())
            archive.addfile(info, io.BytesIO(content.encode()))
    return path


def folder(path: Path) -> Path:
    for name, content in FILES.items():
        if not name.endswith("/"):
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            write(path / name, content)
    return path


def packed(path: Path) -> Path:
    return zipped(path) if path.suffix == ".zip" else tarred(path)


@pytest.mark.parametrize("name", ["g.zip", "g.tar.gz", "g.tgz", "g.tar"])
def test_archive_is_read_like_the_folder_of_its_files(tmp_path: Path, name: str) -> None:
    archive, plain = packed(tmp_path / name), folder(tmp_path / "plain")

    assert [each.tokens for each in read(archive)] == [each.tokens for each in read(plain)]
    assert [each.id for each in read(archive)] == [each.id for each in read(plain)]
    for jobs in (1, 2):
        assert score(archive, plain, jobs=jobs) == score(plain, plain)
        assert score(plain, archive, jobs=jobs) == score(plain, plain)


def test_documents_of_members_have_the_ids_that_they_have_in_a_folder(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text(name)
        (tmp_path / f"{name}.ann").write_text(f"T1\tPER 0 1\t{name}\n")
    with zipfile.ZipFile(tmp_path / "g.zip", "w") as archive:
        for path in [*tmp_path.glob("*.ann"), *tmp_path.glob("*.txt")]:
            archive.write(path, path.name)

    assert sorted(each.id for each in read(tmp_path / "g.zip")) == ["a", "b"]
    assert score(tmp_path / "g.zip", tmp_path / "g.zip", pair_by="id").documents == 2


@pytest.mark.parametrize("name", ["g.zip", "g.tar.gz"])
def test_member_and_folder_of_an_archive_have_names(tmp_path: Path, name: str) -> None:
    archive = packed(tmp_path / name)

    assert [each.tokens for each in read(f"{archive}!a.conll")] == [["Ada", "in"]]
    assert [each.tokens for each in read(f"{archive}!sub")] == [["Ulm"]]
    assert [found for found, _ in files_of(Path(f"{archive}!sub/"))] == ["b.conll"]
    assert score(f"{archive}!a.conll", f"{archive}!a.conll").tokens == 2
    assert [each.file for each in read(f"{archive}!a.conll")] == [f"{archive}!a.conll"]


def test_error_names_the_folder_in_an_archive_that_has_the_files_of_the_other_side(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "g.zip", {"x/a.conll": "Ada O\n", "x/b.conll": "Ada O\n"})
    plain = tmp_path / "plain"
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(plain)

    for side, inner in ((archive, f"{archive}!x"), (plain, plain / "x")):
        for sides in ((side, plain / "x"), (plain / "x", side)):
            with pytest.raises(FileError, match=re.escape(f"give {inner}")):
                score(*sides)
        assert score(inner, plain / "x").documents == 2


def test_file_with_the_mark_in_its_name_is_a_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a!b.conll", "Ada B-PER\n")

    assert [each.tokens for each in read(path)] == [["Ada"]]
    archive = zipped(tmp_path / "x!y.zip")
    assert [each.tokens for each in read(f"{archive}!a.conll")] == [["Ada", "in"]]


def test_member_that_is_gzipped_is_unpacked_too(tmp_path: Path) -> None:
    path = tmp_path / "g.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.conll.gz", gzip.compress(b"Ada B-PER\n"))

    assert [each.tokens for each in read(path)] == [["Ada"]]


def test_member_is_a_path_that_can_be_pickled(tmp_path: Path) -> None:
    member = Member(f"{zipped(tmp_path / 'g.zip')}!a.conll")

    assert pickle.loads(pickle.dumps(member)) == member
    assert member.with_suffix(".txt").is_file() is False
    assert member.stat().st_size == len(FILES["a.conll"])


def test_command_reads_members(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive = zipped(tmp_path / "g.zip")

    assert main(["score", f"{archive}!a.conll", f"{archive}!a.conll", "--format", "json"]) == 0
    assert main(["score", f"{archive}!b.conll", f"{archive}!a.conll"]) == 2
    assert "no such file" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["../a.conll", "/a.conll", "x/../../a.conll", "C:/a.conll", "..\\a.conll"])
@pytest.mark.parametrize("kind", ["g.zip", "g.tar.gz"])
def test_names_that_lead_out_are_refused(tmp_path: Path, name: str, kind: str) -> None:
    path = tmp_path / kind
    if kind == "g.zip":
        zipped(path, {name: "Ada B-PER\n"})
    else:
        with tarfile.open(path, "w:gz") as archive:
            archive.addfile(tarfile.TarInfo(name), io.BytesIO())

    with pytest.raises(FormatError, match="leads out of the archive"):
        list(read(path))


def test_links_are_refused(tmp_path: Path) -> None:
    linked = tmp_path / "g.tar.gz"
    with tarfile.open(linked, "w:gz") as archive:
        info = tarfile.TarInfo("a.conll")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(info)
    path = tmp_path / "g.zip"
    with zipfile.ZipFile(path, "w") as zip_archive:
        zip_info = zipfile.ZipInfo("a.conll")
        zip_info.external_attr = (stat.S_IFLNK | 0o777) << 16
        zip_archive.writestr(zip_info, "/etc/passwd")

    for each in (linked, path):
        with pytest.raises(FormatError, match="it is a link"):
            list(read(each))


@pytest.mark.parametrize("kind", ["g.zip", "g.tar.gz", "a.conll.gz"])
def test_what_grows_too_much_is_refused_unread(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "SMALL", 1000)
    monkeypatch.setattr(opening, "GROWTH", 10)
    path, text = tmp_path / kind, "a O\n" * 100_000
    if kind == "a.conll.gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        (zipped if kind == "g.zip" else tarred)(path, {"a.conll": text})

    with pytest.raises(FormatError, match=r"is not read: it|more than [\d,]+ unpacked bytes"):
        list(read(path))


@pytest.mark.parametrize("kind", ["g.zip", "g.tar.gz", "g.tar"])
def test_the_members_together_have_a_limit(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {f"{number}.conll": "a O\n" * 200 for number in range(50)}
    path = (zipped if kind == "g.zip" else tarred)(tmp_path / kind, files)
    size = path.stat().st_size

    def most(limit: int) -> None:
        monkeypatch.setattr(opening, "SMALL", limit)
        monkeypatch.setattr(opening, "GROWTH", 0)
        archives._members.cache_clear()

    most(50 * 800)
    assert len(list(read(path))) == 50
    most(50 * 800 - 1)
    message = f"the members together have more than 39,999 bytes, the limit for an archive of {size:,} bytes"
    with pytest.raises(FormatError, match=message):
        list(read(path))


def test_a_small_archive_of_many_small_members_that_grow_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "g.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(600):
            archive.writestr(f"{number}.conll", "a O\n" * 30_000)

    with pytest.raises(
        FormatError, match="the members together have more than 67,108,864 bytes, the limit for"
    ):
        list(read(path))


def test_compressed_tar_file_is_held_up_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "HELD_BYTES", 10)

    with pytest.raises(FormatError, match="more than 10 bytes"):
        list(read(tarred(tmp_path / "g.tar.gz")))


def test_name_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "g.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.conll", "a O\n")
        archive.writestr("b.conll", "b O\n")
    path.write_bytes(path.read_bytes().replace(b"b.conll", b"a.conll"))

    with pytest.raises(FormatError, match="occurs twice"):
        list(read(path))


@pytest.mark.parametrize("kind", ["g.zip", "g.tar.gz", "g.tar"])
def test_damaged_archives_are_refused(tmp_path: Path, kind: str) -> None:
    whole = packed(tmp_path / kind).read_bytes()
    for number, data in enumerate((b"", b"nonsense", whole[:60])):
        path = tmp_path / f"{number}-{kind}"
        path.write_bytes(data)
        with pytest.raises(CluevalError, match=path.name):
            list(read(path))


@pytest.mark.parametrize("kind", ["g.zip", "g.tar.gz", "g.tar"])
def test_bytes_that_change_in_an_archive_end_in_documents_or_one_error(tmp_path: Path, kind: str) -> None:
    whole = packed(tmp_path / kind).read_bytes()
    for place in range(0, len(whole), max(1, len(whole) // 60)):
        path = tmp_path / f"{place}-{kind}"
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        with suppress(CluevalError):
            list(read(path))


def test_archive_without_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="the archive has no files"):
        list(read(zipped(tmp_path / "g.zip", {})))


def header(kind: bytes, size: int, name: str = "a.conll") -> bytes:
    """The header of a member of a tar file, whatever its size."""
    info = tarfile.TarInfo(name)
    info.type = kind
    made = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    made[124:136] = (size % (1 << 96)).to_bytes(12, "big") if size < 0 else b"%011o\0" % size
    if size < 0:
        made[124] = 0xFF
    made[148:156] = b" " * 8
    made[148:156] = b"%06o\0 " % sum(made)
    return bytes(made)


LONG = 1_500_000_000

HEADERS = {
    "a pax header": (header(tarfile.XHDTYPE, LONG), "65,536 bytes in the header of a member"),
    "a global pax header": (header(tarfile.XGLTYPE, LONG), "65,536 bytes in the header of a member"),
    "a pax header of Solaris": (header(tarfile.SOLARIS_XHDTYPE, LONG), "65,536 bytes in the header"),
    "a long name": (header(tarfile.GNUTYPE_LONGNAME, LONG), "65,536 bytes in the header of a member"),
    "a long name of a link": (header(tarfile.GNUTYPE_LONGLINK, LONG), "65,536 bytes in the header"),
    "a sparse file": (header(tarfile.GNUTYPE_SPARSE, 0), "it is sparse"),
    "a negative size": (header(tarfile.REGTYPE, -512), "its size is negative"),
    "a negative size of a header": (header(tarfile.XHDTYPE, -1), "its size is negative"),
}


@pytest.mark.parametrize("ending", ["tar", "tar.gz"])
@pytest.mark.parametrize("what", HEADERS)
def test_tar_file_with_a_header_that_could_fill_memory_is_refused(
    tmp_path: Path, what: str, ending: str
) -> None:
    content, message = HEADERS[what]
    content = header(tarfile.REGTYPE, 0, "first.conll") + content + bytes(2_000_000)
    path = tmp_path / f"a.{ending}"
    path.write_bytes(gzip.compress(content, 1) if ending.endswith("gz") else content)

    with pytest.raises(FormatError, match=message):
        list(read(path))


def pax(text: str, **more: str) -> bytes:
    """A tar file with one member that has a pax header."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("a.conll")
        info.size, info.pax_headers = len(text), more
        archive.addfile(info, io.BytesIO(text.encode()))
    return made.getvalue()


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ({"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}, "it is sparse"),
        ({"GNU.sparse.map": "0,4"}, "it is sparse"),
        ({"size": "-512"}, "its size is negative|damaged"),
        ({"path": ""}, "it has no name"),
    ],
)
def test_tar_file_with_a_pax_header_that_misleads_is_refused(
    tmp_path: Path, headers: dict[str, str], message: str
) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(pax("9999999\n" * 100, **headers))

    with pytest.raises(FormatError, match=message):
        list(read(path))


def test_tar_file_with_a_damaged_pax_header_is_refused(tmp_path: Path) -> None:
    whole = pax("a O\n", comment="x")
    assert b"13 comment=x\n" in whole
    for number, length in enumerate((b"99999999999999999999999999 ", b"0 ", b"-1 ", b"")):
        path = tmp_path / f"{number}.tar"
        path.write_bytes(
            whole.replace(b"13 comment=x\n".ljust(64, b"\0"), (length + b"comment=x\n").ljust(64, b"\0"))
        )

        with suppress(CluevalError):  # some versions of Python read what is left
            list(read(path))


def test_tar_file_with_long_names_and_attributes_is_read(tmp_path: Path) -> None:
    path, name = tmp_path / "a.tar", "x" * 200 + "/" + "y" * 200 + ".conll"
    path.write_bytes(pax("Ada B-PER\n", path=name, comment="x" * 10_000))

    assert [document.id for document in read(path)] == [name.removesuffix(".conll")]


def directory(*names: bytes, times: int = 1) -> bytes:
    """The directory of a zip file with these names, several times, and its end."""
    entries = times * b"".join(
        b"PK\1\2" + bytes(24) + len(name).to_bytes(2, "little") + bytes(16) + name for name in names
    )
    return entries + b"PK\5\6" + bytes(8) + len(entries).to_bytes(4, "little") + bytes(6)


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (500_000, "16,777,216 bytes in its directory"),
        pytest.param(100_001, "100,000 members", marks=pytest.mark.long),
    ],
)
def test_zip_file_with_very_many_members_is_refused(tmp_path: Path, number: int, message: str) -> None:
    (tmp_path / "a.zip").write_bytes(directory(b"a/", times=number))

    with pytest.raises(FormatError, match=f"the archive has more than {message}"):
        list(read(tmp_path / "a.zip"))


def test_zip_member_without_a_name_is_refused(tmp_path: Path) -> None:
    for number, names in enumerate(([b""], [b"a.conll", b""], [b"\0"])):
        path = tmp_path / f"{number}.zip"
        path.write_bytes(directory(*names))

        with pytest.raises(FormatError, match="it has no name"):
            list(read(path))


@pytest.mark.long
def test_tar_file_with_very_many_empty_members_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.tar.gz"
    path.write_bytes(gzip.compress(header(tarfile.DIRTYPE, 0, "a/") * 500_000 + bytes(1024), 1))

    with pytest.raises(FormatError, match="more than 100,000 members"):
        list(read(path))


@pytest.mark.long
def test_tar_file_with_very_many_extended_headers_is_refused(tmp_path: Path) -> None:
    one = header(tarfile.XHDTYPE, 60_000) + b"59999 comment=".ljust(60_416, b"x")
    path = tmp_path / "a.tar.gz"
    path.write_bytes(gzip.compress((one + header(tarfile.DIRTYPE, 0, "a/")) * 2000 + bytes(1024), 1))

    with pytest.raises(FormatError, match="more than 67,108,864 bytes in headers"):
        list(read(path))
