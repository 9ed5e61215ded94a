"""Annotators as the annotation sets of a file, or of the files of one folder, some of which may lack a set."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from clueval.exceptions import FileError, UsageError
from clueval.reading.paths import files_of
from clueval.reading.read_options import ReadOptions
from clueval.reading.source import Source, source_of
from clueval.textfiles import is_folder

DEFAULT_SET = "default set"
"""The annotator in the set without a name."""


def folders_in(path: Path) -> list[Path]:
    """Return the folders in a folder, by name, without hidden ones. Raises `FileError`."""
    try:
        return sorted(each for each in path.iterdir() if is_folder(each) and not each.name.startswith("."))
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}", file=str(path)) from None


def require_sets(path: Path, options: ReadOptions) -> list[str]:
    """Return the annotation sets of a file or folder. Raises `UsageError` if there are none."""
    if found := _sets_of(files_of(path), options):
        if options.annotation_set is not None:
            raise UsageError(
                f"the annotation set {options.annotation_set!r} is one annotator, but agreement needs two",
                file=str(path),
                advice="name no set, or the sets of all annotators",
            )
        return found
    if is_folder(path):
        raise UsageError(
            "the folder has no subfolders, which would be the annotators",
            file=str(path),
            advice="give the files of two annotators, or layout='document/annotator'",
        )
    raise UsageError(
        "one file has one annotator, unless its columns or annotation sets are named",
        file=str(path),
        advice="name each annotator, as in annotators={'anna': 2, 'bob': 3}",
    )


def require_set(name: str, files: Iterable[tuple[str | None, Path]], options: ReadOptions) -> None:
    """Raise `UsageError` if no file of several has this annotation set."""
    listed = list(files)
    if len(listed) < 2:
        return  # reading the file says so
    found = _sets_of(listed, options)
    if name not in found:
        raise UsageError(
            f"no file has the annotation set {name!r}",
            advice=f"the sets are {', '.join(map(repr, found)) or 'none'}",
        )


def _sets_of(files: Iterable[tuple[str | None, Path]], options: ReadOptions) -> list[str]:
    found = (name for _, path in files for name in source_of(path, options).sets())
    return list(dict.fromkeys(found))


def lacks_set(source: Source) -> bool:
    """Return whether the file has annotation sets, but not the one that is to be read."""
    wanted = source.options.annotation_set
    return wanted is not None and source.form.has_sets and wanted not in source.sets()
