"""Finds the files of both sides, and pairs them by name.

A path may be a pattern, such as ``gold/*.conll``: ``*``, ``?`` and ``[...]`` stand for text of a name, ``**`` for
folders. It stands for the files that match it, by name, without hidden files. Two patterns are paired by the text that
their wildcards stand for. A file or folder whose name is the pattern itself is that file or folder.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from clueval.files.errors import FileError, UsageError, described
from clueval.files.overwriting import note_input
from clueval.formats import GROUPED
from clueval.second.reading.spooled import is_open_file
from clueval.tagging.schemes import is_tag
from clueval.textfiles import is_file, is_folder

PathName = str | os.PathLike[str]

Paths = PathName | Sequence[PathName]

Files = Sequence[tuple[str | None, Path]]
"""Files with their relative names; None: the only file."""


_WILDCARD = re.compile(r"(\*\*/|\*\*|\*|\?|\[!?[^\]]+\])")


def files_of(path: Path) -> list[tuple[str | None, Path]]:
    """Return the file, with the name None, or all files below a folder by their relative names, sorted.

    Hidden files and folders are skipped. An archive counts as a folder. Raises `FileError` if there is nothing to read.
    """
    path = located(path)
    if is_pattern(path):
        return [(_printable(name), each) for _, name, each in _matches(path)]
    if is_in_archive(path):
        from clueval.second.reading.archives import files_in

        members = dict(files_in(path))
        return [(_printable(name), members[name]) for name in main_files(list(members))]
    try:
        if stat.S_ISDIR(path.stat().st_mode):
            names = main_files(sorted(_names_below(path)))
            if not names:
                raise FileError("the folder has no files", file=str(path))
            printable = [_printable(name) for name in names]
            if len(set(printable)) < len(names):
                raise FileError(
                    "two files have names that differ only in bytes that are not UTF-8",
                    file=str(path),
                    advice="rename one",
                )
            return [(name, path / own) for name, own in zip(printable, names, strict=True)]
        if not stat.S_ISREG(path.stat().st_mode):
            raise FileError(
                "is not a regular file", file=str(path), advice="write the output of a pipe to a file first"
            )
    except FileNotFoundError:
        raise FileError("there is no such file or folder", file=str(path)[:300]) from None
    except OSError as error:
        raise FileError(
            f"cannot be read: {error.strerror}", file=(error.filename or str(path))[:300]
        ) from None
    except FileError:
        raise
    except ValueError:  # a NUL, or half of a surrogate pair
        raise FileError("is not a valid file name", file=str(path)[:300], advice="check the name") from None
    return [(None, path)]


def main_files(names: list[str]) -> list[str]:
    """Return the names of the files to read by themselves: all, or those to which the others belong."""
    return [name for name in names if name.removesuffix(".gz").endswith(GROUPED)] or names


def located(path: Path) -> Path:
    """Return the path of an input, or that of the member of an archive that it names, as in ``A.zip!member``."""
    note_input(path)
    if "!" not in str(path):
        return path
    from clueval.second.reading.archives import in_archive

    return in_archive(path)


def is_in_archive(path: Path) -> bool:
    """Return whether a path is an archive, or a folder within one."""
    if "!" not in str(path) and not path.name.lower().endswith((".zip", ".tar", ".tar.gz", ".tgz")):
        return False
    from clueval.second.reading.archives import Member, is_archive

    return is_folder(path) if isinstance(path, Member) else is_archive(path)


def _printable(name: str) -> str:
    """Return the name with escapes for bytes that are not UTF-8, because it becomes the id of a document."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _names_below(folder: Path) -> Iterator[str]:
    """Yield the relative names of the files below a folder, except hidden ones; no link to a folder is followed."""

    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                for name in _names_below(Path(entry)):
                    yield f"{entry.name}/{name}"
            elif entry.is_file():
                yield entry.name


def pairs_of(gold: Path, predicted: Path) -> list[tuple[str | None, Path, Path]]:
    """Return the pairs of files of two sides: two files, the files of two folders by relative name, or of two patterns.

    Raises `FileError` if one path is a folder and the other a file, and for a name that only one folder has.
    """
    gold, predicted = located(gold), located(predicted)
    if is_pattern(gold) or is_pattern(predicted):
        return pattern_pairs(gold, predicted)
    has_files, other_has_files = (is_folder(side) or is_in_archive(side) for side in (gold, predicted))
    if has_files != other_has_files:
        folder, file = (gold, predicted) if has_files else (predicted, gold)
        raise FileError(
            f"is a folder, but {file} is a file",
            file=str(folder),
            advice="give two files or two folders, or pair documents with pair_by='id' or pair_by='content'",
        )
    own, other = map(dict, with_equal_names([files_of(side) for side in (gold, predicted)]))
    for name in sorted(own.keys() ^ other.keys(), key=str):
        missing, there, files = (predicted, gold, own) if name in own else (gold, predicted, other)
        ending = files[name].suffix
        raise FileError(
            f"has no file {str(name).removesuffix(ending) + ending!r}, which {there} has",
            file=str(missing),
            advice="files are paired by name; see pair_by"
            + ("; an empty file has no spans" if ending == ".ann" else ""),
        )
    return [(name, own[name], other[name]) for name in own]


def with_equal_names(sides: Sequence[Files]) -> Sequence[Files]:
    """Return the files of several sides by the names that pair them, which are the ids of their only documents.

    These are the relative names without their endings, unless a side has two files with the same name then.
    """
    short = [[(name and without_ending(name), path) for name, path in side] for side in sides]
    is_unique = all(len({name for name, _ in side}) == len(side) for side in short)
    return short if is_unique else sides


def folders_of(path: Path) -> dict[str, Path]:
    """Return the folders in a folder or an archive by name, sorted, without hidden ones. Raises `FileError`."""
    if is_in_archive(path):
        from clueval.second.reading.archives import MARK, Member, files_in

        names = sorted({name.partition("/")[0] for name, _ in files_in(path) if "/" in name})
        between = "/" if isinstance(path, Member) else MARK
        return {name: Member(f"{path}{between}{name}") for name in names}
    try:
        found = sorted(each for each in path.iterdir() if is_folder(each) and not each.name.startswith("."))
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}", file=str(path)) from None
    return {each.name: each for each in found}


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
    stem = Path(file).stem
    return without_ending(folder) if folder and stem in INCEPTION else f"{folder}{slash}{stem}"


def path_pairs(gold: Paths, predicted: Paths | None) -> list[tuple[str | None, Path, Path]]:
    """Return the names and pairs of files that two arguments name; without `predicted`, each file has both sides.

    Lists of files are paired in order, and the name of a pair is that of its gold file. Raises `UsageError` for
    lists of different lengths, `FileError` for files that do not exist.
    """
    if predicted is None:
        predicted = gold
    if not isinstance(gold, list | tuple) and not isinstance(predicted, list | tuple):
        return pairs_of(as_path(gold), as_path(predicted))
    if not isinstance(gold, list | tuple) or not isinstance(predicted, list | tuple):
        raise UsageError(
            "one side is a list of files and the other is not", advice="give two lists or two paths"
        )
    if len(gold) != len(predicted):
        raise UsageError(
            f"{len(gold)} gold files and {len(predicted)} predicted files cannot be paired",
            advice="give the same number of both",
        )
    pairs = [
        (located(as_path(own)), located(as_path(other))) for own, other in zip(gold, predicted, strict=True)
    ]
    for path in (path for pair in pairs for path in pair):
        if not is_file(path):
            raise FileError(
                "there is no such file",
                file=str(path)[:300],
                advice="a list of strings is a list of files, or of tags such as 'B-PER'",
            )
    names = with_equal_names([[(_printable(str(own)), own) for own, _ in pairs]])[0]
    return [(name, *pair) for (name, _), pair in zip(names, pairs, strict=True)]


def as_path(given: object) -> Path:
    """Return a path that is given as text or as a path of any kind. Raises `UsageError` for anything else."""
    if not isinstance(given, str | os.PathLike):
        raise UsageError(
            f"a path must be text or a Path, not {described(given)}", advice="such as 'gold.conll'"
        )
    return Path(os.fsdecode(given))


def are_paths(side: object) -> bool:
    """Return whether an argument names files or folders and does not hold documents."""
    if isinstance(side, list | tuple):
        return bool(side) and all(isinstance(path, str | os.PathLike) for path in side)
    return isinstance(side, str | os.PathLike)


def _is_path(side: object) -> bool:
    return isinstance(side, os.PathLike) or is_open_file(side)


def is_path_or_paths(side: object) -> bool:
    """Return whether a side is a path, an open file, or a list of them; strings that are tags are tags."""
    if isinstance(side, str) or _is_path(side):
        return True
    if not isinstance(side, list | tuple) or not side:
        return False
    return all(_is_path(item) or isinstance(item, str) for item in side) and not (
        isinstance(side[0], str) and is_tag(side[0])
    )


def is_pattern(path: Path) -> bool:
    """Return whether a path is a pattern: it has a wildcard, and nothing has this very name."""
    return _WILDCARD.search(str(path)) is not None and not os.path.lexists(path)


def pattern_pairs(gold: Path, predicted: Path) -> list[tuple[str | None, Path, Path]]:
    """Return the pairs of files of two patterns, whose wildcards stand for the same text in both.

    Raises `UsageError` if only one side is a pattern or the numbers of their wildcards differ, `FileError` for a
    file without counterpart.
    """
    numbers = [len(_WILDCARD.findall(str(side))) if is_pattern(side) else 0 for side in (gold, predicted)]
    if numbers[0] != numbers[1]:
        raise UsageError(
            f"the pattern {str(gold)!r} has {numbers[0]} wildcards and {str(predicted)!r} has {numbers[1]}",
            advice="both need the same number, because files are paired by what the wildcards stand for",
        )
    own, other = ({text: (name, path) for text, name, path in _matches(side)} for side in (gold, predicted))
    for text in sorted(own.keys() ^ other.keys()):
        there, missing = (own, predicted) if text in own else (other, gold)
        raise FileError(
            f"matches no file for {there[text][1]}",
            file=str(missing),
            advice="files are paired by what the wildcards stand for",
        )
    names = dict(with_equal_names([list(own.values())])[0])
    return [(name, path, other[text][1]) for text, (name, path) in zip(own, names.items(), strict=True)]


def _matches(pattern: Path) -> Iterator[tuple[tuple[str, ...], str, Path]]:
    """Yield the text of the wildcards, the name below the pattern's folder and the path of each file, sorted.

    Raises `FileError` if no file matches.
    """
    from glob import glob

    text = pattern.as_posix()
    parts = _WILDCARD.split(text)
    expression = re.compile("".join(map(_expression, parts)), re.DOTALL)
    folder = parts[0].rpartition("/")[0]
    named = glob(text, recursive=True)  # noqa: PTH207  # Path.glob takes no pattern that begins at the root
    found = sorted(path for path in named if Path(path).is_file())
    if not found:
        raise FileError("no file matches this pattern", file=str(pattern))
    for path in found:
        match = expression.fullmatch(Path(path).as_posix())
        name = Path(path).relative_to(folder) if folder else Path(path)
        yield match.groups(default="") if match else (path,), name.as_posix(), Path(path)


def _expression(part: str) -> str:
    """Return the regular expression of a wildcard, or of the text between two."""
    known = {"**/": "(.*/)?", "**": "(.*)", "*": "([^/]*)", "?": "([^/])"}
    if part in known:
        return known[part]
    if _WILDCARD.fullmatch(part):
        return f"([{'^' if part[1] == '!' else ''}{part[1:-1].removeprefix('!')}])".replace("\\", "\\\\")
    return re.escape(part)
