"""Outcomes of tasks: counts or a problem, sent as JSON.

The JSON is checked strictly when it arrives, because it may come from another machine; for the counts see
`clueval.evaluation.parallel.plain_counts`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from clueval.evaluation.parallel.expected import Expected
from clueval.evaluation.parallel.plain_counts import read_counts, written_counts
from clueval.evaluation.parallel.plain_values import NotPlain, a_list, flag, record, text, whole
from clueval.evaluation.totals import PartialCounts
from clueval.formats.columns.layout import Layout
from clueval.version import __version__

_LONGEST = 500
"""The greatest length of the problem of an outcome, in characters."""

_LARGEST_FILE = 1 << 63
"""The greatest size of a file, in bytes."""


class ChangedFile(NamedTuple):
    """A file that a worker sees with another size than this process; the size in bytes, None if it is missing."""

    path: Path
    size: int | None


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """The counts of a task, or its problem; for a part of a pair of files also the layouts of both sides.

    `seen` has what each observer has seen. `changed_file` is set if the problem is that the worker sees another file.
    """

    counts: PartialCounts | None = None
    layouts: tuple[Layout | None, Layout | None] = (None, None)
    problem: str = ""
    changed_file: ChangedFile | None = None
    seen: Sequence[Any] = ()


def written(outcome: TaskOutcome) -> bytes:
    """An outcome as JSON. Raises `NotPlain` for counts that are not plain."""
    counts, changed_file = outcome.counts, outcome.changed_file
    value = {
        "clueval": __version__,
        "problem": outcome.problem,
        "changed_file": None if changed_file is None else [str(changed_file.path), changed_file.size],
        "layouts": [None if layout is None else _written_layout(layout) for layout in outcome.layouts],
        "seen": list(outcome.seen),
        "counts": None if counts is None else written_counts(counts),
    }
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise NotPlain(f"it cannot be written: {error}") from None


def opened(data: object) -> dict[str, Any]:
    """The object that was sent. Raises `NotPlain` unless it is a JSON object with a version; `read` checks the rest."""
    if type(data) is not bytes:
        raise NotPlain(f"{type(data).__name__} instead of bytes")
    try:
        value = json.loads(data.decode("ascii"), object_pairs_hook=_object, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):  # NotPlain is a ValueError, too
        raise NotPlain("it is not JSON") from None
    if type(value) is not dict:
        raise NotPlain("it is not an object")
    text(value.get("clueval"), "its version")
    return value


def read(value: dict[str, Any], expected: Expected, paths: Iterable[Path]) -> TaskOutcome:
    """The outcome of a task that counted these files. Raises `NotPlain` for a value that cannot be its outcome."""
    _, problem, changed_file, layouts, seen, plain = record(
        value, ("clueval", "problem", "changed_file", "layouts", "seen", "counts"), "the outcome"
    )
    problem = text(problem, "the problem")[:_LONGEST]
    if bool(problem) == (plain is not None):
        raise NotPlain("it must have either counts or a problem")
    if changed_file is not None and not problem:
        raise NotPlain("it has a changed file without a problem")
    gold, predicted = (_read_layout(each) for each in a_list(layouts, "the layouts", 2))
    counts = None if plain is None else read_counts(plain, expected)
    if counts is not None and expected.is_part and counts.total.tokens and None in (gold, predicted):
        raise NotPlain("the layout of a part is missing")
    changed = None if changed_file is None else _read_changed_file(changed_file, paths)
    return TaskOutcome(counts, (gold, predicted), problem, changed, a_list(seen, "what observers have seen"))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise NotPlain("a name occurs twice")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise NotPlain(f"{name} is not a count")


def _read_changed_file(value: object, paths: Iterable[Path]) -> ChangedFile:
    name, size = a_list(value, "the changed file", 2)
    path = Path(text(name, "the changed file"))
    if path not in paths:
        raise NotPlain("the changed file was not to be counted")
    if size is not None and whole(size, "the size of the changed file") >= _LARGEST_FILE:
        raise NotPlain("the changed file is larger than a file can be")
    return ChangedFile(path, size)


def _written_layout(layout: Layout) -> list[Any]:
    return [
        layout.width,
        layout.separator,
        layout.token,
        layout.token_id,
        [list(layer) for layer in layout.layers],
        layout.entities,
    ]


def _read_layout(value: object) -> Layout | None:
    if value is None:
        return None
    width, separator, token, token_id, layers, entities = a_list(value, "a layout", 6)
    pairs = [a_list(each, "a layer of a layout", 2) for each in a_list(layers, "the layers of a layout")]
    return Layout(
        whole(width, "the width of a layout"),
        text(separator, "the separator of a layout"),
        whole(token, "the column of the tokens"),
        None if token_id is None else whole(token_id, "the column of the token ids"),
        tuple((text(name, "a layer of a layout"), whole(column, "a column")) for name, column in pairs),
        flag(entities, "the entities of a layout"),
    )
