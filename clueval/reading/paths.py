"""The files of a side: of a file, a folder, an archive, a pattern or a list; and the names that pair them.

A path may be a pattern, such as ``gold/*.conll``: ``*``, ``?`` and ``[...]`` stand for text of a name, ``**`` for
folders. It stands for the files that match it, as if they were alone in the folder before the first wildcard, without
hidden files. A file or folder whose name is the pattern itself is that file or folder.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from clueval.files.errors import FileError, UsageError, described
from clueval.files.options import note_input

PathName = str | os.PathLike[str]

Paths = PathName | Sequence[PathName]

Files = Sequence[tuple[str | None, Path]]
"""Files with their relative names; None: the only file."""


MAIN = (".ann", ".a1", ".xmi")
"""Endings of files to which others in their folder belong, which are not read by themselves."""

BESIDE = (".txt", ".a2", ".vrt", ".xml")
"""Endings of files that are read beside another one: its text, further spans, and types of UIMA."""

_WILDCARD = re.compile(r"(\*\*/|\*\*|\*|\?|\[!?[^\]]+\])")


def files_of(path: Path) -> list[tuple[str | None, Path]]:
    """Return the file, with the name None, or all files below a folder by their relative names, sorted.

    Hidden files and folders are skipped. An archive counts as a folder; in a folder, one with a single file, as
    INCEpTION exports annotators, as this file. Raises `FileError` if there is nothing to read.
    """
    path = located(path)
    if is_pattern(path):
        return _matches(path)
    if is_in_archive(path):
        from clueval.reading.archives import files_in

        members = dict(files_in(path))
        names = main_files(list(members))
        for name in names:
            if name.endswith(".zip"):
                raise FileError(
                    "is an archive in an archive", file=str(members[name]), advice="unpack the outer one"
                )
        return [(printable(name), members[name]) for name in names]
    try:
        if stat.S_ISDIR(path.stat().st_mode):
            names = main_files(sorted(_names_below(path, path)))
            if not names:
                raise FileError("the folder has no files", file=str(path))
            printable_names = [printable(name) for name in names]
            if len(set(printable_names)) < len(names):
                raise FileError(
                    "two files have names that differ only in bytes that are not UTF-8",
                    file=str(path),
                    advice="rename one",
                )
            files = (_unpacked(path / relative) for relative in names)
            return list(zip(printable_names, files, strict=True))
        from clueval.files.opening import refuse_pipe  # not needed for what is in memory

        refuse_pipe(path)
    except FileNotFoundError:
        require_name(path)
        raise FileError(
            "there is no such file or folder", file=str(path)[:300], advice=_near_path(path)
        ) from None
    except OSError as error:
        require_name(path)
        raise FileError(
            f"cannot be read: {error.strerror}", file=(error.filename or str(path))[:300]
        ) from None
    except FileError:
        raise
    except ValueError:  # a NUL, or half of a surrogate pair
        raise FileError("is not a valid file name", file=str(path)[:300], advice="check the name") from None
    return [(None, path)]


def _unpacked(path: Path) -> Path:
    """Return the only file in an archive; any other path is unchanged."""
    files = files_of(path) if is_in_archive(path) else []
    return files[0][1] if len(files) == 1 else path


def _near_path(path: Path) -> str | None:
    """Return a question that suggests a similar name in the last folder of the path that exists, or nothing."""
    if str(path) == "-":
        from clueval.files.opening import NOT_STDIN

        return NOT_STDIN
    _, _, named = str(path).partition("=")
    if named and Path(named).exists():
        return f"write {printable(named)}: compare, agree and curate take NAME=PATH"
    from clueval.files.names import NEAR, nearest  # only for names that do not exist

    missing = Path(str(path))  # a member of an archive has no folder to list
    while not missing.parent.is_dir() and missing.parent != missing:
        missing = missing.parent
    try:
        with os.scandir(missing.parent) as entries:
            names = [entry.name for entry in islice(entries, _MOST_NAMES)]
    except OSError:
        return None
    near = nearest(missing.name, names, NEAR)
    if near is None:
        return None
    similar = missing.with_name(near) / Path(str(path)).relative_to(missing)
    return f"did you mean {printable(str(similar))}?" if similar.exists() else None


_MOST_NAMES = 10_000
"""How many names of a folder are compared with one that it lacks."""


def main_files(names: list[str]) -> list[str]:
    """Return the names of the files to read by themselves: all, or those to which the others belong."""
    return [name for name in names if name.removesuffix(".gz").endswith(MAIN)] or names


def located(path: Path) -> Path:
    """Return the path of an input, or that of the member of an archive that it names, as in ``A.zip!member``."""
    note_input(path)
    if "!" not in str(path):
        return path
    from clueval.reading.archives import in_archive

    return in_archive(path)


def is_in_archive(path: Path) -> bool:
    """Return whether a path is an archive, or a folder within one."""
    if "!" not in str(path) and not path.name.lower().endswith((".zip", ".tar", ".tar.gz", ".tgz")):
        return False
    from clueval.files.opening import is_folder  # not needed for what is in memory
    from clueval.reading.archives import Member, is_archive

    return is_folder(path) if isinstance(path, Member) else is_archive(path)


def printable(name: str) -> str:
    """Return the name with escapes for bytes that are not UTF-8, because it becomes the id of a document."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _names_below(folder: Path, named: Path) -> Iterator[str]:
    """Yield the relative names of the files below a folder, except hidden ones; a link to a folder in it is none.

    A link to nothing is a file, which cannot be read. Raises `FileError` for a link that leads out of the folder that
    was named, of which this is a part.
    """
    from clueval.files.opening import is_hidden  # not needed for what is in memory

    with os.scandir(folder) as entries:
        for entry in entries:
            if is_hidden(entry.name):
                continue
            if entry.is_symlink():
                _require_inside(Path(entry), named)
            if entry.is_dir(follow_symlinks=False):
                for name in _names_below(Path(entry), named):
                    yield f"{entry.name}/{name}"
            elif entry.is_file() or not Path(entry).exists():
                yield entry.name


def _require_inside(path: Path, folder: Path) -> None:
    """Raise `FileError` for a path that a link leads out of its folder, to files that others may not read."""
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):  # of loops, too
        raise FileError(
            "is a link that leads out of the folder",
            file=str(path),
            advice="put a copy in its place, or name the file itself",
        )


def with_equal_names(sides: Sequence[Files]) -> Sequence[Files]:
    """Return the files of several sides by the names that pair them, which are the ids of their only documents.

    These are the relative names without their endings, unless a side has two files with the same name then.
    """
    short = [[(name and without_ending(name), path) for name, path in side] for side in sides]
    is_unique = all(len({name for name, _ in side}) == len(side) for side in short)
    return short if is_unique else sides


def folders_of(path: Path) -> dict[str, Path]:
    """Return the folders in a folder or an archive by name, sorted, without hidden ones. Raises `FileError`."""
    from clueval.files.opening import is_folder, is_hidden  # not needed for what is in memory

    if is_in_archive(path):
        from clueval.reading.archives import MARK, Member, files_in

        names = sorted({name.partition("/")[0] for name, _ in files_in(path) if "/" in name})
        between = "/" if isinstance(path, Member) else MARK
        return {name: Member(f"{path}{between}{name}") for name in names}
    try:
        folders = sorted(
            folder for folder in path.iterdir() if is_folder(folder) and not is_hidden(folder.name)
        )
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}", file=str(path)) from None
    for folder in folders:
        _require_inside(folder, path)
    return {folder.name: folder for folder in folders}


def named_files(path: Path) -> Files:
    """Return the file, with the name None, or all files below a folder by the names that documents get from them."""
    return with_equal_names([files_of(path)])[0]


INITIAL, CURATED = INCEPTION = "INITIAL_CAS", "CURATION_USER"
"""The names that INCEpTION gives to a document without annotations, and to the curated one."""


def without_ending(name: str) -> str:
    """Return the relative name of a file without its ending and without ``.gz``.

    In INCEpTION's exports it is the name of the document, a folder, for the file of the curated document.

    >>> without_ending("a/b.conll.gz"), without_ending("a.txt/CURATION_USER.tsv")
    ('a/b', 'a')
    """
    folder, slash, file = name.removesuffix(".gz").rpartition("/")
    stem, _, ending = file.rpartition(".")
    stem = stem if stem and ending else file
    return without_ending(folder) if folder and stem in INCEPTION else f"{folder}{slash}{stem}"


def as_path(path: object) -> Path:
    """Return a path that is given as text or as a path of any kind. Raises `UsageError` for anything else."""
    if not isinstance(path, str | os.PathLike):
        raise UsageError(
            f"a path must be text or a Path, not {described(path)}", advice="such as 'gold.conll'"
        )
    text = os.fsdecode(path)
    if not text:
        raise UsageError("the name of the file or folder is empty", advice="such as 'gold.conll'")
    return Path(text)


def require_name(path: Path) -> None:
    """Raise `UsageError` for a text in the place of a path, which it does not show, because it may be private."""
    text = str(path)
    if "\n" in text or text.startswith(('{"', "[{", "[[", "<?xml")):
        raise UsageError(
            f"a text of {len(text):,} characters is no path",
            advice="write it to a file, or give what reads it: an open file, io.StringIO(text) or json.loads(text)",
        )


def is_pattern(path: Path) -> bool:
    """Return whether a path is a pattern: it has a wildcard, and nothing has this very name."""
    return _WILDCARD.search(str(path)) is not None and not os.path.lexists(path)


def _matches(pattern: Path) -> list[tuple[str | None, Path]]:
    """Return the files that match a pattern, by their names below its folder, sorted; `FileError` if none does."""
    from glob import glob

    text = pattern.as_posix()
    folder = _WILDCARD.split(text)[0].rpartition("/")[0]
    matches = glob(text, recursive=True)  # noqa: PTH207  # Path.glob takes no pattern that begins at the root
    paths = [Path(path) for path in sorted(matches) if Path(path).is_file()]
    if not paths:
        require_name(pattern)
        raise FileError("no file matches this pattern", file=str(pattern))
    for path in chain(paths, _links_beside(paths)):
        _require_inside(path, Path(folder or pattern.anchor))
    return [(printable((path.relative_to(folder) if folder else path).as_posix()), path) for path in paths]


def _links_beside(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield the links that formats read beside these files: the text with the same name, types of UIMA."""
    names = {path.with_name(without_ending(path.name)) for path in paths}
    for path in chain.from_iterable(folder.iterdir() for folder in {path.parent for path in paths}):
        is_beside = path.name.endswith(".xml") or path.with_name(without_ending(path.name)) in names
        if is_beside and path.name.removesuffix(".gz").endswith(BESIDE) and path.is_symlink():
            yield path
