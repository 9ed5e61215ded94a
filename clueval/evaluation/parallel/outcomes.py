"""Outcomes: what a task has found, as bytes that hold nothing but plain counts.

What travels is JSON: objects, lists, strings, whole numbers and finite floats. It is read as strictly as a
file of unknown origin, since it comes from another machine: see `clueval.evaluation.parallel.plain_counts`
for the counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from clueval.evaluation.parallel.plain_counts import (
    Expected,
    NotPlain,
    a_list,
    flag,
    read_found,
    record,
    text,
    whole,
    written_found,
)
from clueval.evaluation.totals import Found
from clueval.formats.columns.layout import Layout
from clueval.version import __version__

_LONGEST = 500
"""Characters of a problem that a worker describes."""

_LARGEST_FILE = 1 << 63
"""Bytes."""


class Strange(NamedTuple):
    """A file that is another one where it was to be counted: its size there in bytes, None if it is not there."""

    path: Path
    size: int | None


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """What a task has found, or the problem that it met; of a part, the layouts of its two sides, too.

    `strange` is set where the problem is a file that is not the one that was sent.
    """

    found: Found | None = None
    layouts: tuple[Layout | None, Layout | None] = (None, None)
    problem: str = ""
    strange: Strange | None = None


def written(outcome: TaskOutcome) -> bytes:
    """An outcome as it travels. Raises `NotPlain` for counts that are more than counts."""
    found, strange = outcome.found, outcome.strange
    value = {
        "clueval": __version__,
        "problem": outcome.problem,
        "strange": None if strange is None else [str(strange.path), strange.size],
        "layouts": [None if layout is None else _written_layout(layout) for layout in outcome.layouts],
        "found": None if found is None else written_found(found),
    }
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise NotPlain(f"it cannot be written: {error}") from None


def opened(data: object) -> dict[str, Any]:
    """What has travelled, not yet checked but for its being JSON that has a version. Raises `NotPlain`."""
    if type(data) is not bytes:
        raise NotPlain(f"{type(data).__name__} instead of bytes")
    try:
        value = json.loads(data.decode("ascii"), object_pairs_hook=_object, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):  # NotPlain is a ValueError, too
        raise NotPlain("it is not JSON") from None
    if type(value) is not dict:
        raise NotPlain("it is no object")
    text(value.get("clueval"), "its version")
    return value


def read(value: dict[str, Any], expected: Expected, paths: Iterable[Path]) -> TaskOutcome:
    """The outcome of a task that counted these files. Raises `NotPlain` for what cannot be one."""
    _, problem, strange, layouts, found = record(
        value, ("clueval", "problem", "strange", "layouts", "found"), "what was sent"
    )
    problem = text(problem, "the problem")[:_LONGEST]
    if bool(problem) == (found is not None):
        raise NotPlain("it must have counts or a problem, and not both")
    if strange is not None and not problem:
        raise NotPlain("a file is strange, and that is no problem")
    own, other = (_read_layout(each) for each in a_list(layouts, "the layouts", 2))
    counts = None if found is None else read_found(found, expected)
    if counts is not None and expected.is_part and counts.total.tokens and None in (own, other):
        raise NotPlain("the layout of a part is missing")
    return TaskOutcome(
        counts, (own, other), problem, None if strange is None else _read_strange(strange, paths)
    )


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise NotPlain("a name occurs twice")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise NotPlain(f"{name} is no count")


def _read_strange(value: object, paths: Iterable[Path]) -> Strange:
    name, size = a_list(value, "the strange file", 2)
    path = Path(text(name, "the strange file"))
    if path not in paths:
        raise NotPlain("the strange file was not to be counted")
    if size is not None and whole(size, "the size of the strange file") >= _LARGEST_FILE:
        raise NotPlain("the strange file is larger than a file can be")
    return Strange(path, size)


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
