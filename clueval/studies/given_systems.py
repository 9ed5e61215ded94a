"""The systems that `compare` is given: saved results, or predictions that are scored here, under their names.

A run of a system is a result, the file of a saved one or, with gold, what `clueval.score` takes as predicted. Several
runs are a list of results, files or, if gold is lists in memory, such lists; or a pattern such as ``large.*.conll``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from glob import glob
from pathlib import Path
from typing import Any, NamedTuple

from clueval.core.count import DOCUMENT, EITHER
from clueval.core.span import Span
from clueval.files.arguments import refuse_unknown, require_kind
from clueval.files.errors import FileError, UsageError, described
from clueval.results.comparing import ComparedUnits, comparable
from clueval.results.options import single_options
from clueval.results.result import Result, load_result
from clueval.results.saved import is_saved
from clueval.results.score import score
from clueval.results.signature import require_same

Run = Result | str | Path
System = Run | Sequence[Run]
"""A result or the file of a saved one; several of them are runs of one system."""

SCORED_BY = ("metrics", "layers", "reading")
"""The arguments of `clueval.score`, besides its single options, that `compare` takes with gold."""


class GivenSystems(NamedTuple):
    """Systems by name, the gold that they are scored against, if any, and the options for this."""

    gold: Any
    systems: dict[str, Any]
    options: dict[str, Any]

    def scored(self) -> dict[str, System]:
        """Return the runs of each system, those that are no results yet scored against gold."""
        return {name: list(self._runs(system)) for name, system in self.systems.items()}

    def _runs(self, system: Any) -> Iterator[Run]:
        for run in self._each_run(system):
            if self.gold is None or is_result(run):
                yield run
            else:
                self._require_no_folder(run)
                yield score(self.gold, run, **{"resample_by": EITHER, **self.options})

    def _require_no_folder(self, run: Any) -> None:
        """Raise `UsageError` for a folder beside one file of gold, unless documents are paired."""
        if "pair_by" in self.options or not (_is_path(self.gold) and _is_path(run)):
            return
        if Path(run).is_dir() and Path(self.gold).is_file():
            raise UsageError(
                f"{os.fspath(run)} is a folder, and gold is a file",
                advice=f"runs of a system are files or a pattern, as in {Path(run).name}='{os.fspath(run)}/*'",
            )

    def _each_run(self, system: Any) -> Sequence[Any]:
        if isinstance(system, str | os.PathLike):
            return self._matches(os.fspath(system))
        several = isinstance(system, list | tuple) and system and self._is_one_side()
        if several and all(isinstance(run, Result | str | os.PathLike) for run in system):
            return [each for run in system for each in self._each_run(run)]
        in_memory = 0 < _levels(self.gold) == _levels(system) - 1
        return list(system) if several and (self.gold is None or in_memory) else [system]

    def _is_one_side(self) -> bool:
        """Return whether gold is one file, one folder or in memory, so that a list of files is several runs."""
        return not isinstance(self.gold, list | tuple) or not all(map(_is_path, self.gold))

    def _matches(self, text: str) -> Sequence[str | Path]:
        """Return the files that a pattern means, or the folders if gold is one; beside a pattern of gold, itself."""
        if not _is_pattern(text) or (_is_path(self.gold) and _is_pattern(os.fspath(self.gold))):
            return [text]
        folders = _is_path(self.gold) and Path(self.gold).is_dir()
        found = [path for path in map(Path, sorted(glob(text))) if path.is_dir() == folders]  # noqa: PTH207
        if not found:
            kind = "folder" if folders else "file"
            raise FileError(f"no {kind} matches this pattern", file=text, advice="check it")
        return found


def given_systems(
    given: Sequence[Any], named: Mapping[str, Any], gold: Any, names: Sequence[str] | None
) -> GivenSystems:
    """Tell gold, systems and options apart in the arguments of `compare`.

    Without `gold`, the first of `given` is gold unless it is a result, or several. Raises `UsageError` for options of
    other names, for fewer than two systems, for names that are not one for each, and for options without gold.
    """
    known = [*SCORED_BY, *single_options()]
    options = {name: value for name, value in named.items() if name in known}
    listed = list(given)
    others = named.keys() - options.keys()
    only_names = len(listed) == 1 and isinstance(listed[0], Mapping) and not others
    if gold is None and listed and not only_names and not is_result(listed[0]):
        gold = listed.pop(0)
    elif len(listed) == 2 and isinstance(listed[1], list | tuple) and gold is None:
        listed[1:] = listed[1]
    unnamed = [each for each in listed if not _has_names(each, gold)]
    by_name = [each for each in listed if _has_names(each, gold)]
    systems = named_systems(unnamed, names)
    for each in (*by_name, {name: named[name] for name in named if name in others}):
        for name, value in each.items():
            _require_system(name, value, known)
            if name in systems:
                raise UsageError(
                    f"two systems have the name {name!r}", advice="give each system a name of its own"
                )
            systems[name] = value
    if len(systems) < 2:
        what = "there is nothing to compare with" if systems else "there are no systems"
        if gold is None:
            raise UsageError(what, advice="give two systems")
        which = (
            f"{os.fspath(gold)} comes first and is no saved result, so it"
            if _is_path(gold)
            else "what comes first"
        )
        raise UsageError(
            f"{what}: {which} is gold", advice="give gold and two systems, as in GOLD base=A large=B"
        )
    if options and gold is None:
        raise UsageError(
            f"{next(iter(options))}=... is for systems that are scored here, and there is no gold",
            advice="give gold first; of saved results, scores=... names what is compared",
        )
    return GivenSystems(gold, systems, options)


def is_result(given: object) -> bool:
    """Return whether this is a result, the file of a saved one, or several of these."""
    if isinstance(given, Mapping):
        return any(map(is_result, given.values()))
    if isinstance(given, list | tuple):
        return bool(given) and all(map(is_result, given))
    if isinstance(given, str) and _is_pattern(given):
        return any(map(is_saved, glob(given)))  # noqa: PTH207  # as for a pattern of files to score
    return isinstance(given, Result) or (isinstance(given, str | Path) and is_saved(given))


def _has_names(given: Any, gold: Any) -> bool:
    """Return whether this is several systems by name; with gold by document, it may be one system by document."""
    return isinstance(given, Mapping) and not (isinstance(gold, Mapping) and given.keys() == gold.keys())


def _require_system(name: str, value: Any, known: Sequence[str]) -> None:
    """Raise `UsageError` for what can only be an option of another name."""
    no_file = isinstance(value, str) and not Path(value).suffix and not os.path.lexists(value)
    no_system = not isinstance(value, Result | os.PathLike) and not hasattr(value, "__iter__")
    if no_system or (no_file and not _is_pattern(value)):
        refuse_unknown([name], [*known, "scores", "names", "baseline", "gold"], "compare")


def _levels(side: object) -> int:
    """Return how deep the lists of a side in memory lie in each other: 2 for lists of tags and of spans.

    It is 0 for anything else: rows, documents, spans by document.
    """
    if not isinstance(side, list | tuple) or not side or isinstance(side[0], int):
        return 0
    first = next(filter(None, side), None)
    if not isinstance(first, list | tuple):
        return int(isinstance(first, str | Span))
    return 1 if isinstance(first[0], int) else 1 + _levels(first)


def _is_path(given: object) -> bool:
    return isinstance(given, str | os.PathLike)


def _is_pattern(text: str) -> bool:
    return re.search(r"[*?\[]", text) is not None and not os.path.lexists(text)


# Runs that are compared


def systems_of(given: Mapping[str, System], force: bool) -> dict[str, list[Result]]:
    """Return the runs of each system. Raises `UsageError` if their signatures or gold files differ, without `force`."""
    systems = {name: _runs_of(system) for name, system in given.items()}
    first_name, (first, *_) = next(iter(systems.items()))
    for name, runs in systems.items():
        for run in () if force else runs:
            require_same(first.signature, run.signature, "compared")
            _require_same_gold(first, run, f"{first_name} and {name}")
    return systems


def units_of_systems(systems: Mapping[str, Sequence[Result]]) -> ComparedUnits:
    """Return the units that can be compared. Raises `UsageError` if metrics, units, or texts differ."""
    return comparable({name: [run.units for run in runs] for name, runs in systems.items()})


def named_systems(given: Sequence[Any], names: Sequence[str] | None) -> dict[str, Any]:
    """Return systems by their `names`; None: by their files, or as A, B, C. Raises `UsageError` for a name twice."""
    for name in names or ():
        require_kind(name, "str", "the name of a system")
    named = list(names) if names is not None else [_name(system, n) for n, system in enumerate(given)]
    if len(named) != len(given) or len({*named}) < len(named):
        raise UsageError(
            f"{len(given)} systems cannot have the names {', '.join(map(repr, named))}",
            advice="give each system a name of its own",
        )
    return dict(zip(named, given, strict=True))


def _runs_of(system: System) -> list[Result]:
    several = [system] if isinstance(system, Result | str | Path) else system
    if not isinstance(several, list | tuple) or not several:
        raise UsageError(
            f"a system must be a Result, the file of a saved one, or a list of these, not {described(system)}",
            advice=_ADVICE,
        )
    for run in several:
        if not isinstance(run, Result | str | Path):
            raise UsageError(
                f"a run must be a Result or the file of a saved one, not {described(run)}", advice=_ADVICE
            )
    return [run if isinstance(run, Result) else load_result(run) for run in several]


_ADVICE = (
    "clueval.score gives a Result; score with resample_by, so that it has counts by unit, or give gold first"
)


def _name(system: Any, number: int) -> str:
    several = system if isinstance(system, list | tuple) else [system]
    if several and all(isinstance(run, str | Path) for run in several):
        return ",".join(map(str, several))
    return chr(ord("A") + number) if number < 26 else f"system {number + 1}"


def _require_same_gold(first: Result, other: Result, names: str) -> None:
    """Raise `UsageError` for other gold files; documents may be in one result only, and their gold is compared."""
    if first.plan.units == DOCUMENT or None in (first.gold_sha256, other.gold_sha256):
        return
    if first.gold_sha256 != other.gold_sha256:
        raise UsageError(
            f"{names} were scored against different gold files",
            advice="score both against the same gold file, or use force",
        )
