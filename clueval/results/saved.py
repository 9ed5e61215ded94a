"""Saved results: a bag and what its numbers depend on, as a file of JSON Lines without any text of the corpus.

The first line has facts: ``clueval_bag`` (the number of the format), the version, signature, metrics, units, keys of
break-downs, layers, the features that metrics read, what steps have changed, and what was read. Then come a line for
each case (its sequence, and its key; see `clueval.core.case`), for each count (a sequence, a metric, and the key of a
tally), and for each place (a `clueval.core.count.DocumentPlace`)::

    ["entity", [2, null, 3, [0, 2, 0, "A"], [0, 1, 1, "A"]]]
    {"count": ["entity", "exact", ["gold", "A"]]}
    {"place": {"name": "d1"}, "documents": 1, "shared": [[3, 1]], "positions": [[3, 523]], "cases": [0, 12, 4, 1],
     "counts": [0, 7]}
    {"sha256": "..."}

Cases have numbers from 0 on, and so have counts. A place names the number of each of its cases with how often it occurs
there, 12 times case 0 and once case 4, and likewise counts; fields that are empty are left out, and counts stand before
the first place that names them. Of a further sentence of a document, the line has the number of the sentence in place
of the whole place: ``{"sentence": 2, "positions": [[3, 21]]}``. The last line has the hash of all bytes before; a file
that does not end with it is refused, and the rest is trusted.

A bag whose cases have features of spans, which may be text, is saved folded. Files have a digest in place of a name,
and spans without a place are not saved.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from hashlib import sha256
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any

from clueval.core.bag import Bag, listed, pairs_in
from clueval.core.case import HEAD
from clueval.core.count import DocumentPlace
from clueval.core.metric import AnyMetric, Tally, features_read
from clueval.files.errors import CluevalError, FormatError, UsageError
from clueval.files.opening import beginning_of, lines, raw_blocks
from clueval.files.writing import whole_file
from clueval.metrics import METRICS, metric_class, metric_named
from clueval.metrics.curve import Curve
from clueval.version import __version__

FORMAT = 2
"""The number of the format; a file with a higher one is refused."""

MOST = 10**15
"""The greatest count: no corpus has more."""

_BEGIN = '{"clueval_bag":'
_ADVICE = "score with save='FILE' writes a saved result; or name gold first, to score and compare in one go"


def is_saved(path: str | Path) -> bool:
    """Return whether a file is a saved result: its name ends like one, or it begins like one."""
    if str(path).removesuffix(".gz").endswith(".clueval"):
        return True
    with suppress(CluevalError, OSError, ValueError):  # reading the file raises the same error
        return Path(path).is_file() and beginning_of(Path(path)).startswith(_BEGIN)
    return False


def save_bag(bag: Bag, facts: Mapping[str, Any], path: str | Path) -> None:
    """Write a bag whose places are units, whole or not at all; gzipped if the name ends in ``.gz``.

    `facts` are what a result needs besides, as plain data, and ``metrics``, as `saved_metric` returns them. Raises
    `FileError`, and `UsageError` for a metric that counts what cannot be saved.
    """
    digest = sha256()
    with whole_file(path) as file:
        all_lines = _lines(bag, facts)
        while batch := list(islice(all_lines, 1_000)):
            text = "\n".join([*batch, ""])
            digest.update(text.encode("ascii"))
            file.write(text)
        file.write(_last_line(digest.hexdigest()))


def load_bag(path: Path) -> tuple[Bag, dict[str, Any]]:
    """Return the bag that `save_bag` has written, and the first line.

    Raises `FileError`, and `FormatError` for a file that is no saved result, is not complete or was changed.
    """
    _require_unchanged(path)
    try:
        return _bag_of_values(json.loads(line) for _, line in lines(path))
    except CluevalError as error:
        error.file = error.file or str(path)
        raise
    # anybody can write a hash
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise FormatError("this is not a saved result", file=str(path), advice=_ADVICE) from error


# Writing

_json = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


def _last_line(digest: str) -> str:
    return f'{{"sha256":"{digest}"}}\n'


def _lines(bag: Bag, facts: Mapping[str, Any]) -> Iterator[str]:
    if (bag.folded and bag.keys) or any(
        len(span) > 4 and span[6] for _, key in bag.keys for span in key[HEAD:]
    ):
        bag = bag.grouped(lambda place: place)
        bag.fold()
    header = {
        "clueval_bag": FORMAT,
        "clueval": __version__,
        **facts,
        "layers": bag.layers,
        "features": sorted(features_read(bag.metrics)),
        "folded": bag.folded,
        "notes": [[list(note), number] for note, number in bag.notes.items()],
        "read": {name: save(getattr(bag.read, name)) for name, (save, _) in _READ.items()},
    }
    yield _json(header)
    yield from map(_json, bag.keys)
    yield from _lines_of_places(bag)


def _lines_of_places(bag: Bag) -> Iterator[str]:
    """Yield the lines of places, and before each those of counts that are new."""
    counts = _CountNumbers()
    by_name = [("shared", sorted(bag.shared.items())), ("positions", sorted(bag.positions.items()))]
    before: DocumentPlace | None = None
    for place, documents in bag.documents.items():
        if place.sentence is None or before is None or place != before._replace(sentence=place.sentence):
            defaults = DocumentPlace._field_defaults
            named = {name: value for name, value in place._asdict().items() if value != defaults[name]}
            line: dict[str, Any] = {"place": named}
        else:
            line = {"sentence": place.sentence}
        before = place
        if documents:
            line["documents"] = documents
        for name, numbers in by_name if documents else by_name[1:]:
            if pairs := [(present, of_place[place]) for present, of_place in numbers if place in of_place]:
                line[name] = pairs
        if row := bag.places.get(place):
            line["cases"] = row if isinstance(row, tuple) else listed(row)
        if place in bag.tallies and (of_place := counts.row(bag.tallies[place])):
            yield from counts.new
            line["counts"] = of_place
        yield _json(line)


class _CountNumbers:
    """Numbers the keys of tallies, in an order that is the same in each run; `new` are the lines of new ones."""

    def __init__(self) -> None:
        self.new: list[str] = []
        self._numbers: dict[tuple[str, str], dict[str, int]] = {}
        self._next = 0

    def row(self, tallies: Mapping[tuple[str, str], Tally]) -> tuple[int, ...]:
        """Return the counts of a place, by their numbers, as a row."""
        self.new = []
        numbers: dict[int, int] = {}
        for (sequence, metric), tally in sorted(tallies.items()):
            by_text = self._numbers.setdefault((sequence, metric), {})
            # their text tells 1, 1.0 and True apart
            texts = {repr(key): key for key in tally}
            for text in sorted(texts.keys() - by_text.keys()):
                self.new.append(_json({"count": [sequence, metric, _saved_key(metric, texts[text])]}))
                by_text[text] = self._next
                self._next += 1
            for count in tally.values():
                if type(count) is not int or abs(count) > MOST:
                    raise UsageError(
                        f"metric {metric!r} counts with numbers that are not whole, or too large, which cannot be "
                        "saved",
                        advice="leave it out",
                    )
            numbers.update(zip(map(by_text.__getitem__, texts), tally.values(), strict=True))
        return listed(numbers)


def _saved_key(metric: str, value: object) -> Any:
    """Return a key of a tally, or a part of one, as JSON has it; infinity is ``{"float": "inf"}``."""
    if isinstance(value, tuple):
        return [_saved_key(metric, part) for part in value]
    if isinstance(value, float) and not isfinite(value):
        return {"float": repr(value)}
    if value is None or type(value) in (str, int, float, bool):
        return value
    raise UsageError(f"metric {metric!r} has keys that cannot be saved", advice="leave it out")


# Reading


def _require_unchanged(path: Path) -> None:
    """Raise `FormatError` unless a file begins like a saved result, and ends with the hash of what is before."""
    match = re.match(re.escape(_BEGIN) + r" ?(\d{1,9})[,}]", beginning_of(path))
    if match is None or int(match[1]) < FORMAT:
        raise FormatError("this is not a saved result", file=str(path), advice=_ADVICE)
    if int(match[1]) > FORMAT:
        raise FormatError(
            f"the file has the format {int(match[1])}, and this clueval reads the format {FORMAT}",
            file=str(path),
            line=1,
            advice="update clueval",
        )
    digest, last = sha256(), b""
    for block in raw_blocks(path):
        waiting = last + block
        last = waiting[-len(_last_line("0" * 64)) :]
        digest.update(waiting[: len(waiting) - len(last)])
    if last != _last_line(digest.hexdigest()).encode():
        raise FormatError(
            "the file is not complete, or was changed after it was saved",
            file=str(path),
            advice="save it again",
        )


def _bag_of_values(values: Iterator[Any]) -> tuple[Bag, dict[str, Any]]:
    """Return the bag and the facts of the values of all lines."""
    facts = next(values)
    bag = Bag(tuple(map(_loaded_metric, facts["metrics"])), facts["layers"])
    bag.folded = facts["folded"]
    for name, (_, load) in _READ.items():
        setattr(bag.read, name, load(facts["read"][name]))
    bag.notes.update({tuple(note): number for note, number in facts["notes"]})
    counts: list[tuple[str, str, Any]] = []
    place = DocumentPlace()
    for line in values:
        if isinstance(line, list):
            sequence, key = line
            bag.number_of(sequence, _loaded_key(key))
        elif "count" in line:
            sequence, metric, key = line["count"]
            counts.append((sequence, metric, _loaded_key(key)))
        elif "sha256" not in line:
            if "place" in line:
                place = DocumentPlace(**{name: _loaded_key(value) for name, value in line["place"].items()})
            else:
                place = place._replace(sentence=line["sentence"])
            bag.documents[place] = line.get("documents", 0)
            for numbers, name in ((bag.shared, "shared"), (bag.positions, "positions")):
                for present, number in line.get(name, ()):
                    numbers.setdefault(present, Counter())[place] = number
            if "cases" in line:
                cases = dict(pairs_in(line["cases"]))
                if max(cases) >= len(bag.keys):
                    raise ValueError("a place names a case that no line has")
                bag.add_occurrences([place], cases)
            for number, count in pairs_in(line.get("counts", ())):
                sequence, metric, key = counts[number]
                bag.tallies.setdefault(place, {}).setdefault((sequence, metric), Tally())[key] = count
    return bag, facts


def _loaded_key(value: Any) -> Any:
    """Return a key, or a part of one, whose lists are tuples."""
    if isinstance(value, list):
        return tuple(map(_loaded_key, value))
    return float(value["float"]) if isinstance(value, dict) else value


# What was read


_DIGEST = "sha256:"


def _digest(file: str | None) -> str | None:
    """Return what is saved for a file: its path is private, but two files must stay two."""
    if file is None or file.startswith(_DIGEST):
        return file
    return _DIGEST + sha256(file.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _sorted_sets(values: Mapping[str, set[str]]) -> dict[str, list[str]]:
    return {key: sorted(members) for key, members in values.items()}


def _sets(value: Mapping[str, list[str]]) -> dict[str, set[str]]:
    return {key: set(members) for key, members in value.items()}


def _flat(values: Mapping[tuple[Any, ...], Any]) -> list[list[Any]]:
    return [[*key, value] for key, value in values.items()]


def _counter(value: list[list[Any]]) -> Counter[tuple[Any, ...]]:
    return Counter({tuple(key): number for *key, number in value})


_READ: Mapping[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "formats": (_sorted_sets, _sets),
    "files": (dict, Counter),
    "sources": (
        lambda sources: [[*layer, sorted(columns, key=repr)] for layer, columns in sources.items()],
        lambda saved: {(side, layer): set(columns) for side, layer, columns in saved},
    ),
    "treatments": (sorted, set),
    "passed_over": (_flat, _counter),
    "spans": (_flat, _counter),
    "features": (sorted, set),
    "tagged": (sorted, lambda saved: {(side, layer) for side, layer in saved}),
    "neighbours": (
        lambda read: [
            [side, _digest(file), layer, _flat(pairs)] for (side, file, layer), pairs in read.items()
        ],
        lambda saved: {(side, file, layer): _counter(pairs) for side, file, layer, pairs in saved},
    ),
    "settled": (
        lambda read: [[side, _digest(file), layer, *tags] for (side, file, layer), tags in read.items()],
        lambda saved: {(side, file, layer): (scheme, number) for side, file, layer, scheme, number in saved},
    ),
    "keys": (list, dict.fromkeys),
    "values": (_sorted_sets, _sets),
    "units": (sorted, set),
    "without_text": (int, int),
}
"""How each attribute of `Read` becomes plain data, and is made of it."""


# Metrics


def saved_metric(metric: AnyMetric) -> dict[str, Any]:
    """Return the name and the settings of a metric. Raises `UsageError` for one that cannot be saved."""
    if isinstance(metric, Curve):
        curve = {"feature": metric.feature, "thresholds": metric.thresholds, "merge": metric.merge}
        return {"curve": saved_metric(metric.metric), **curve}
    if metric.name not in METRICS:
        raise UsageError(f"metric {metric.name!r} cannot be saved", advice="leave the metric out")
    settings = {
        setting.name: _plain(getattr(metric, setting.name), metric.name, setting.name)
        for setting in fields(metric)  # type: ignore[arg-type]  # a dataclass
        if setting.init
    }
    return {"name": metric.name, "settings": settings}


def _plain(value: object, metric: str, name: str) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(part, metric, name) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(part, metric, name) for part in value]
    if isinstance(value, set | frozenset):
        return sorted(_plain(part, metric, name) for part in value)
    if value is None or isinstance(value, str | int | float):
        return value
    if is_dataclass(value):  # a list of words, for example, without the file that it was read from
        (part,) = (getattr(value, field.name) for field in fields(value) if field.compare)
        return _plain(part, metric, name)
    raise UsageError(f"the setting {metric}.{name} cannot be saved", advice="leave the metric out")


def _loaded_metric(saved: dict[str, Any]) -> AnyMetric:
    if "curve" in saved:
        thresholds = None if saved["thresholds"] is None else tuple(saved["thresholds"])
        return Curve(_loaded_metric(saved["curve"]), saved["feature"], thresholds, saved["merge"])
    name, settings = saved["name"], saved["settings"]
    kinds = {field.name: str(field.type) for field in fields(metric_class(name))}
    values = {
        setting: (frozenset if kinds[setting].startswith("frozenset") else tuple)(value)
        if isinstance(value, list)
        else value
        for setting, value in settings.items()
    }
    return metric_named(name, **values)
