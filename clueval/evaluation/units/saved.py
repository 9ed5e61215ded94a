"""Saved results: the counts of all units as JSON Lines, without any text or span.

The first line names the signature, the metrics with their settings and the sequences; a line ``{"keys": [...]}``
declares keys before they are first used, and gives them numbers from 0 on; a line for each unit has its counts as
key number, count, key number, count, ...; the last line has the sums. ``documents`` of a unit are 1 unless stated.
With a break-down, ``by`` says for each of its keys to which value the unit belongs, or, if its parts belong to
several, what was counted in each.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from clueval.evaluation.units.unit import CountedUnits, Tallies, Unit, Units
from clueval.files.errors import UsageError
from clueval.files.writing import whole_file
from clueval.first.metrics.metric import Metric
from clueval.version import __version__

FORMAT = 1
"""The number of the format, in the first line; a higher one is refused."""

_PLAIN = {str, int, bool, float, type(None)}


def save(counted: CountedUnits, signature: str, facts: Mapping[str, Any], path: Path) -> None:
    """Write counts, whole or not at all; `facts` are what else the last line has.

    Raises `UsageError` for what cannot be saved, `FileError`.
    """
    with whole_file(path) as file:
        for line in _lines(counted, signature, facts):
            file.write(json.dumps(line, allow_nan=False, separators=(",", ":")) + "\n")


def _lines(counted: CountedUnits, signature: str, facts: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    metrics, sequences, units = counted
    yield {
        "clueval_counts": FORMAT,
        "clueval": __version__,
        "signature": signature,
        "resample_by": units.by,
        "metrics": [{"name": metric.name, "settings": settings_of(metric)} for metric in metrics],
        "sequences": {name: list(layers) for name, layers in sequences.items()},
        "gold_sha256": units.gold_sha256,
        **({"by": list(units.groups)} if units.groups else {}),
    }
    writer = _UnitWriter(units)
    for unit in units.units:
        line = writer.line(unit)
        if writer.new:
            yield {"keys": writer.new}
            writer.new = []
        yield line
    yield {"end": True, "units": len(units.units), **facts}


class _UnitWriter:
    """Makes the lines of units; `new` are the keys that occurred first in the last one."""

    def __init__(self, units: Units) -> None:
        self.new: list[list[Any]] = []
        self._numbers: dict[tuple[str, str], dict[tuple[Any, ...], int]] = {}
        self._values: dict[str, dict[str, dict[str, Unit]]] = {}
        for key, groups in units.groups.items():
            for value, members in groups.items():
                for unit in members:
                    self._values.setdefault(unit.key, {}).setdefault(key, {})[value] = unit

    def line(self, unit: Unit) -> dict[str, Any]:
        line: dict[str, Any] = {"unit": unit.key, **self._counted(unit)}
        by = {key: self._by(values) for key, values in self._values.get(unit.key, {}).items()}
        return {**line, "by": by} if by else line

    def _by(self, values: Mapping[str, Unit]) -> str | dict[str, Any]:
        if len(values) == 1:
            return next(iter(values))
        return {value: self._counted(part) for value, part in values.items()}

    def _counted(self, unit: Unit) -> dict[str, Any]:
        documents = {} if unit.documents == 1 else {"documents": unit.documents}
        counts = sorted(self._counts(unit.tallies).items())
        return {**documents, "tokens": unit.tokens, "counts": list(chain.from_iterable(counts))}

    def _counts(self, tallies: Tallies) -> dict[int, int]:
        """The counts by the numbers of their keys; new keys are numbered in an order that is the same in each run."""
        found = {}
        for place, tally in sorted(tallies.items()):
            numbers = self._numbers.setdefault(place, {})
            new = (key for key, count in tally.items() if count and key not in numbers)
            for key in sorted(new, key=repr):
                self._declare(place, key)
            for key, count in tally.items():
                if count and (type(count) is not int or count < 0):
                    raise UsageError(
                        f"metric {place[0]!r} counts with numbers that are not whole, which cannot be saved",
                        advice="leave it out",
                    )
                if count:
                    found[numbers[key]] = count
        return found

    def _declare(self, place: tuple[str, str], key: tuple[Any, ...]) -> None:
        """Give a number to a key that occurs for the first time."""
        if not set(map(type, key)) <= _PLAIN:
            raise UsageError(f"metric {place[0]!r} has keys that cannot be saved", advice="leave it out")
        number = self._numbers[place][key] = sum(map(len, self._numbers.values()))
        self.new.append([number, *place, *key])


def settings_of(metric: Metric) -> dict[str, Any]:
    """Return the settings of a metric as plain data. Raises `UsageError` for one that cannot be saved."""
    return {
        setting.name: _plain(getattr(metric, setting.name), metric.name, setting.name)
        for setting in fields(metric)  # type: ignore[arg-type]  # a dataclass
        if setting.init
    }


def _plain(value: object, metric: str, name: str) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(part, metric, name) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(part, metric, name) for part in value]
    if isinstance(value, set | frozenset):
        return sorted(_plain(part, metric, name) for part in value)
    if type(value) in _PLAIN:
        return value
    if is_dataclass(value):  # a list of words, for example, without the file that it was read from
        (part,) = (getattr(value, field.name) for field in fields(value) if field.compare)
        return _plain(part, metric, name)
    raise UsageError(f"the setting {metric}.{name} cannot be saved", advice="leave the metric out")
