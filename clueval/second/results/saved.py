"""Saved results: a bag as a file of JSON Lines, without any text of the corpus.

The first line has facts: ``clueval_bag`` (the number of the format), the version, what the caller adds (signature,
metrics, units ...), layers, the features that metrics read, what steps have changed, and what was read. Then come a
line for each case (its sequence, and its key; see `clueval.core.case`), for each count (a sequence, a metric, and the
key of a tally), and for each place (a `clueval.core.count.Unit`)::

    ["entity", [2, null, 3, [0, 2, 0, "A"], [0, 1, 1, "A"]]]
    {"count": ["entity", "exact", ["gold", "A"]]}
    {"place": {"name": "d1"}, "documents": 1, "shared": [[3, 1]], "positions": [[3, 523]], "cases": [0, 12, 4, 1],
     "counts": [0, 7]}
    {"sha256": "..."}

Cases have numbers from 0 on, and so have counts. A place names the number of each of its cases with how often it occurs
there, 12 times case 0 and once case 4, and likewise counts; fields that are empty are left out, and counts stand before
the first place that names them. The last line has the hash of all bytes before.

A bag whose cases have features of spans, which may be text, is saved folded. Files have a digest in place of a name,
and spans without a place are not saved.

A file that does not end with the hash of the lines before is not read. What is read is checked nevertheless, since
anybody can write a hash: any file gives a bag whose cases can be counted, or a `FormatError`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import chain, islice
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn

from clueval.core.bag import Bag
from clueval.core.case import HEAD, Key
from clueval.core.count import Unit
from clueval.core.metric import AnyMetric, split_metrics
from clueval.core.read import Read
from clueval.core.span import Span
from clueval.core.tally import Tally
from clueval.files.errors import CluevalError, FormatError, SpanError, UsageError
from clueval.files.writing import whole_file
from clueval.textfiles import beginning_of, lines, raw_blocks
from clueval.version import __version__

FORMAT = 2
"""The number of the format; a file with a higher one is refused."""

MOST = 10**15
"""The greatest count: no corpus has more."""

MOST_POSITIONS = 50_000_000
"""The greatest number of positions in a case, which metrics may list."""

_BEGIN = b'{"clueval_bag":'
_ADVICE = "score with save='FILE' writes a saved result; or name gold first, to score and compare in one go"


def save_bag(bag: Bag, facts: Mapping[str, Any], path: Path) -> None:
    """Write a bag whose places are units, whole or not at all; gzipped if the name ends in ``.gz``.

    `facts` are what a result needs besides: plain data, with ``metrics`` as a list of texts from which `load_bag` makes
    the metrics again. Raises `FileError`, and `UsageError` for a metric that counts what cannot be saved.
    """
    written = sha256()
    with whole_file(path) as file:
        every = _lines(bag, facts)
        while some := list(islice(every, 1_000)):
            text = "\n".join([*some, ""])
            written.update(text.encode("ascii"))
            file.write(text)
        file.write(_last_line(written.hexdigest()))


def load_bag(
    path: Path, metrics_of: Callable[[list[str]], tuple[AnyMetric, ...]], required: Iterable[str] = ()
) -> tuple[Bag, dict[str, Any]]:
    """Return the bag that `save_bag` has written, and its facts, with ``clueval``, the version.

    `metrics_of` returns the metrics of the texts in the facts. The facts that `_FACTS` names have these types; those
    that are `required` are there. Raises `FileError`, `FormatError` for a file that is no saved result, is not complete
    or was changed, and the errors of `metrics_of` with the line.
    """
    _require_unchanged(path)
    reader = _Reader(path, metrics_of, required)
    for number, line in lines(path):
        reader.read(number, line)
    reader.require_counts_of_metrics()
    bag = Bag(reader.bag.metrics)
    bag.include(reader.bag)
    return bag, reader.facts


def is_saved(path: str | Path) -> bool:
    """Return whether a file is a saved result: its name ends like one, or it begins like one."""
    if str(path).removesuffix(".gz").endswith(".clueval"):
        return True
    with suppress(CluevalError, OSError, ValueError):  # reading the file raises the same error
        return Path(path).is_file() and beginning_of(Path(path)).startswith(_BEGIN.decode())
    return False


# Writing

_json = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


def _last_line(digest: str) -> str:
    return f'{{"sha256":"{digest}"}}\n'


def _lines(bag: Bag, facts: Mapping[str, Any]) -> Iterator[str]:
    bag.close()
    if (bag.folded and bag.keys) or any(map(_has_features, bag.keys)):
        bag = bag.grouped(lambda place: place)
        bag.fold()
    of_cases, _ = split_metrics(bag.metrics)
    header = {
        "clueval_bag": FORMAT,
        "clueval": __version__,
        **facts,
        "layers": bag.layers,
        "features": sorted(frozenset().union(*(metric.reads for metric in of_cases if metric.keeps))),
        "folded": bag.folded,
        "notes": [[list(note), number] for note, number in bag.notes.items()],
        "read": _read_lists(bag.read),
    }
    yield _json(header)
    yield from map(_json, bag.keys)
    yield from _lines_of_places(bag)


def _has_features(of: tuple[str, Key]) -> bool:
    return any(len(span) > 4 and span[6] for span in of[1][HEAD:])


def _lines_of_places(bag: Bag) -> Iterator[str]:
    """Yield the lines of places, and before each those of counts that are new.

    A document can have a hundred thousand places, its sentences, so their lines are put together of texts that recur.
    """
    counts = _CountNumbers()
    shared, positions = sorted(bag.shared.items()), sorted(bag.positions.items())
    of_fields: dict[tuple[Any, ...], str] = {}
    of_rows: dict[int, str] = {}
    for place, documents in bag.documents.items():
        if not isinstance(place, Unit):
            raise TypeError(f"{place!r} is not a unit")
        values, name, sentence, *more = place
        fields = of_fields.get((values, name, *more))
        if fields is None:
            fields = of_fields[values, name, *more] = _fields(place._replace(sentence=None))
        if sentence is not None:
            fields += f'{"," if fields else ""}"sentence":{sentence}'
        text = f'{{"place":{{{fields}}}'
        if documents:
            text += f',"documents":{documents}'
        for key, numbers in (("shared", shared), ("positions", positions)):
            pairs = [f"[{present},{of[place]}]" for present, of in numbers if place in of]
            if pairs:
                text += f',"{key}":[{",".join(pairs)}]'
        row = bag.places.get(place)
        if row:
            # the rows of a bag stay where they are, so no two of them have the same id
            cases = of_rows.get(id(row))
            if cases is None:
                cases = of_rows[id(row)] = _flat(sorted(row if isinstance(row, tuple) else row.items()))
            text += f',"cases":{cases}'
        tallies = bag.tallies.get(place)
        if tallies:
            found = _flat(counts.of(tallies))
            yield from counts.new
            text += f',"counts":{found}'
        yield text + "}"


def _fields(place: Unit) -> str:
    defaults = Unit._field_defaults
    fields = {name: value for name, value in place._asdict().items() if value != defaults[name]}
    return _json(fields)[1:-1]


def _flat(pairs: Iterable[tuple[int, int]]) -> str:
    return _json(list(chain.from_iterable(pairs)))


class _CountNumbers:
    """Numbers the keys of tallies, in an order that is the same in each run; `new` are the lines of new ones."""

    def __init__(self) -> None:
        self.new: list[str] = []
        self._numbers: dict[tuple[str, str], dict[str, int]] = {}
        self._next = 0

    def of(self, tallies: Mapping[tuple[str, str], Tally]) -> list[tuple[int, int]]:
        """Return the counts of a place, by their numbers."""
        self.new = []
        found: list[tuple[int, int]] = []
        for (sequence, metric), tally in sorted(tallies.items()):
            known = self._numbers.setdefault((sequence, metric), {})
            # their text tells 1, 1.0 and True apart
            texts = {repr(key): key for key in tally}
            for text in sorted(texts.keys() - known.keys()):
                self.new.append(_json({"count": [sequence, metric, _saved_key(metric, texts[text])]}))
                known[text] = self._next
                self._next += 1
            for count in tally.values():
                if type(count) is not int or abs(count) > MOST:
                    raise UsageError(
                        f"metric {metric!r} counts with numbers that are not whole, or too large, which cannot be "
                        "saved",
                        advice="leave it out",
                    )
            found += zip(map(known.__getitem__, texts), tally.values(), strict=True)
        return sorted(found)


def _saved_key(metric: str, value: object) -> Any:
    """Return a key of a tally, or a part of one, as JSON has it; infinity is ``{"float": "inf"}``."""
    if isinstance(value, tuple):
        return [_saved_key(metric, part) for part in value]
    if isinstance(value, float) and not isfinite(value):
        return {"float": repr(value)}
    if value is None or type(value) in (str, int, float, bool):
        return value
    raise UsageError(f"metric {metric!r} has keys that cannot be saved", advice="leave it out")


def _read_lists(read: Read) -> dict[str, Any]:
    """Return what was read as plain data, sets in order, files with a digest for their names."""
    return {
        "formats": {side: sorted(names) for side, names in read.formats.items()},
        "files": read.files,
        "sources": [[*of, sorted(values, key=repr)] for of, values in read.sources.items()],
        "treatments": sorted(read.treatments),
        "passed_over": [[*of, number] for of, number in read.passed_over.items()],
        "spans": [[*of, number] for of, number in read.spans.items()],
        "features": sorted(read.features),
        "tagged": sorted(read.tagged),
        "neighbours": [
            [side, _digest(file), layer, [[*pair, number] for pair, number in pairs.items()]]
            for (side, file, layer), pairs in read.neighbours.items()
        ],
        "settled": [
            [side, _digest(file), layer, *settled] for (side, file, layer), settled in read.settled.items()
        ],
        "keys": list(read.keys),
        "values": {key: sorted(values) for key, values in read.values.items()},
        "units": sorted(read.units),
        "without_text": read.without_text,
    }


_DIGEST = "sha256:"


def _digest(file: str | None) -> str | None:
    """Return what is saved for a file: its path is private, but two files must stay two."""
    if file is None or file.startswith(_DIGEST):
        return file
    return _DIGEST + sha256(file.encode("utf-8", "surrogatepass")).hexdigest()[:16]


# Reading


def _require_unchanged(path: Path) -> None:
    """Raise `FormatError` unless a file begins like a saved result, and ends with the hash of what is before."""
    found = sha256()
    size = len(_last_line("0" * 64))
    waiting, begun = b"", False
    for block in raw_blocks(path):
        waiting += block
        if not begun and len(waiting) > 2 * size:
            _require_format(waiting, path)
            begun = True
        if begun:
            found.update(waiting[:-size])
            waiting = waiting[-size:]
    if not begun:
        _require_format(waiting, path)
        found.update(waiting[:-size])
        waiting = waiting[-size:]
    if waiting != _last_line(found.hexdigest()).encode():
        raise FormatError(
            "the file is not complete, or was changed after it was saved",
            file=str(path),
            advice="save it again",
        )


def _require_format(begin: bytes, path: Path) -> None:
    match = re.match(re.escape(_BEGIN) + rb" ?(\d{1,9})[,}]", begin)
    if match is None or int(match[1]) < FORMAT:
        raise FormatError("this is not a saved result", file=str(path), advice=_ADVICE)
    if int(match[1]) > FORMAT:
        raise FormatError(
            f"the file has the format {int(match[1])}, and this clueval reads the format {FORMAT}",
            file=str(path),
            line=1,
            advice="update clueval",
        )


class _Wrong(Exception):
    """Something is not as `save_bag` writes it."""


def _refuse_constant(_: str) -> NoReturn:
    raise _Wrong


_value_of = json.JSONDecoder(parse_constant=_refuse_constant).decode


def _text(value: object) -> str:
    if type(value) is not str:
        raise _Wrong
    return value


def _text_or_none(value: object) -> str | None:
    return None if value is None else _text(value)


def _flag(value: object) -> bool:
    if type(value) is not bool:
        raise _Wrong
    return value


def _number(value: object, least: int = 0, most: int = MOST) -> int:
    if type(value) is not int or not least <= value <= most:
        raise _Wrong
    return value


def _list(value: object) -> list[Any]:
    if type(value) is not list:
        raise _Wrong
    return value


def _texts(value: object) -> list[str]:
    return list(map(_text, _list(value)))


def _items(value: object) -> Iterable[tuple[str, Any]]:
    if type(value) is not dict:
        raise _Wrong
    return value.items()


def _numbers(value: object) -> object:
    """Return numbers, or numbers by name, and so on, or None."""
    if type(value) is dict:
        return {name: _numbers(part) for name, part in value.items()}
    return None if value is None else _number(value)


_FACTS: Mapping[str, Callable[[Any], object]] = {
    "clueval": _text,
    "signature": _text,
    "metrics": _texts,
    "units": _text_or_none,
    "by": _texts,
    "sides": _texts,
    "merge": _flag,
    "where": lambda value: [(key, _texts(values)) for key, values in _items(value)],
    "gold_sha256": _text_or_none,
    "prepared": _numbers,
}
"""The types of facts."""

_OWN = ("clueval_bag", "layers", "features", "folded", "notes", "read")
"""What a bag has of the first line."""


class _Reader:
    """A saved bag while its lines are read."""

    def __init__(
        self, path: Path, metrics_of: Callable[[list[str]], tuple[AnyMetric, ...]], required: Iterable[str]
    ) -> None:
        self.bag = Bag()
        self.facts: dict[str, Any] = {}
        self._path, self._metrics_of, self._required = path, metrics_of, required
        self._counts: list[tuple[str, str, tuple[Any, ...]]] = []
        self._sums: list[int] = []  # of each of these in all places
        self._ended = False

    def read(self, number: int, text: str) -> None:
        """Read a line. Raises `FormatError`."""
        try:
            if self._ended:
                raise _Wrong
            line = _value_of(text)
            if number == 1:
                self._read_facts(line)
            elif type(line) is list:
                self._read_case(line)
            elif "count" in line:
                self._read_count(line["count"])
            elif "place" in line:
                self._read_place(line)
            else:
                self._ended = bool(line["sha256"])
        except CluevalError as error:
            error.file, error.line = str(self._path), number
            raise
        # whatever JSON can be instead of what is wanted
        except (_Wrong, ValueError, TypeError, LookupError, ArithmeticError, RecursionError):
            raise FormatError(
                "the line is not one that clueval writes", file=str(self._path), line=number, advice=_ADVICE
            ) from None

    def require_counts_of_metrics(self) -> None:
        """Raise `FormatError` for counts of which a metric can make no report."""
        totals: dict[tuple[str, str], Tally] = {}
        for (sequence, name, key), number in zip(self._counts, self._sums, strict=True):
            totals.setdefault((sequence, name), Tally())[key] = number
        layers = self.bag.layers
        for metric in self.bag.metrics:
            for (sequence, name), total in totals.items():
                if name != metric.name:
                    continue
                names = [sequence] if sequence in layers else layers
                try:
                    metric.scores(total, names)
                    metric.headlines(total, names)
                    metric.sizes(total, names)
                except Exception as error:  # keys of another metric can do anything to it
                    raise FormatError(
                        f"the counts are not those of metric {name!r}", file=str(self._path), advice=_ADVICE
                    ) from error

    def _read_facts(self, line: dict[str, Any]) -> None:
        for name, check in _FACTS.items():
            if name in line:
                check(line[name])
        if not line.keys() >= {*self._required}:
            raise _Wrong
        self.facts = {name: value for name, value in line.items() if name not in _OWN}
        self.bag = Bag(self._metrics_of(line["metrics"]), _texts(line["layers"]))
        self.bag.folded = _flag(line["folded"])
        for note, number in _list(line["notes"]):
            self.bag.notes[tuple(_texts(note))] += _number(number)
        self.bag.read = _read_of(line["read"])

    def _read_case(self, line: list[Any]) -> None:
        sequence, key = line
        of = _text(sequence), _key_of(key)
        if of in self.bag.keys or self.bag.documents:
            raise _Wrong
        self.bag.keys[of] = len(self.bag.keys)

    def _read_count(self, value: object) -> None:
        sequence, metric, key = _list(value)
        self._counts.append((_text(sequence), _text(metric), tuple(map(_loaded_key, _list(key)))))
        self._sums.append(0)

    def _read_place(self, line: dict[str, Any]) -> None:
        place = _place_of(line["place"])
        bag = self.bag
        if place in bag.documents or len(place.values) != len(self.facts.get("by", place.values)):
            raise _Wrong
        bag.documents[place] = _number(line.get("documents", 0))
        for numbers, name in ((bag.shared, "shared"), (bag.positions, "positions")):
            for present, number in _list(line.get(name, [])):
                numbers.setdefault(_number(present), Counter())[place] = _number(number)
        cases = _list(line.get("cases", []))
        if cases:
            bag.places[place] = _pairs(cases, len(bag.keys), 1)
        counts = _list(line.get("counts", []))
        for number, count in _pairs(counts, len(self._counts), -MOST) if counts else ():
            sequence, metric, key = self._counts[number]
            bag.tallies.setdefault(place, {}).setdefault((sequence, metric), Tally())[key] = count
            self._sums[number] += count


def _pairs(numbers: Sequence[Any], most: int, least: int) -> tuple[tuple[int, int], ...]:
    """Return numbers of cases or counts, each below `most` and none twice, with how often each occurs."""
    if set(map(type, numbers)) - {int}:
        raise _Wrong
    ids, times = numbers[::2], numbers[1::2]
    found = tuple(zip(ids, times, strict=True))
    if min(ids) < 0 or max(ids) >= most or min(times) < least or max(times) > MOST:
        raise _Wrong
    if len(set(ids)) < len(ids):
        raise _Wrong
    return found


_UNIT: Mapping[str, Callable[[Any], object]] = {
    "values": lambda value: tuple(_texts(value)),
    "name": _text,
    "sentence": _number,
    "waits": lambda value: tuple(_texts(value)),
    "repeat": _number,
}
"""The types of the fields of a unit."""


def _place_of(value: object) -> Unit:
    return Unit(**{name: _UNIT[name](field) for name, field in _items(value)})  # type: ignore[arg-type]


def _key_of(value: object) -> Key:
    length, equal, present, *spans = _list(value)
    _number(length, 0, MOST_POSITIONS)
    if equal is not None:
        _number(equal, 0, length)
    _number(present, 1)
    # spans without a text, which have no tags, end somewhere
    last = length if length or equal is None else MOST_POSITIONS
    return (length, equal, present, *(_span_of(span, last, present) for span in spans))


def _span_of(value: object, last: int, present: int) -> tuple[Any, ...]:
    start, end, side, labels, *more = _list(value)
    _number(side, 0, present.bit_length())
    if not present >> side & 1:
        raise _Wrong
    _number(end, _number(start), last)
    if type(labels) is not str and labels is not None:
        labels = tuple((_text(layer), _text_or_none(label)) for layer, label in _list(labels))
    if not more:
        return start, end, side, labels
    parts, tokens, features, counts = more
    if parts is not None:
        parts = tuple((_number(begin), _number(past)) for begin, past in _list(parts))
        try:
            Span(start, end, parts=parts)
        except SpanError:
            raise _Wrong from None
    if tokens is not None:
        tokens = tuple(_number(token, -MOST_POSITIONS, MOST_POSITIONS) for token in _list(tokens))
    if _list(features):
        raise _Wrong
    return start, end, side, labels, parts, tokens, (), _flag(counts)


def _loaded_key(value: object) -> Any:
    if type(value) is list:
        return tuple(map(_loaded_key, value))
    if type(value) is dict:
        return float(_text(value["float"]))
    if type(value) is int:
        return _number(value, -MOST)
    if value is None or type(value) in (str, float, bool):
        return value
    raise _Wrong


def _read_of(value: dict[str, Any]) -> Read:
    read = Read()
    read.formats = {side: set(_texts(names)) for side, names in _items(value["formats"])}
    read.files = Counter({side: _number(number) for side, number in _items(value["files"])})
    for side, layer, sources in _list(value["sources"]):
        known = {source if type(source) is int else _text(source) for source in _list(sources)}
        read.sources[_text(side), _text(layer)] = known
    read.treatments = set(_texts(value["treatments"]))
    for side, kind, number in _list(value["passed_over"]):
        read.passed_over[_text(side), _text(kind)] = _number(number)
    for side, layer, number in _list(value["spans"]):
        read.spans[_text(side), _text(layer)] = _number(number)
    read.features = set(_texts(value["features"]))
    read.tagged = {(_text(side), _text(layer)) for side, layer in _list(value["tagged"])}
    for side, file, layer, pairs in _list(value["neighbours"]):
        found = Counter({(_text(one), _text(other)): _number(number) for one, other, number in _list(pairs)})
        read.neighbours[_text(side), _text_or_none(file), _text(layer)] = found
    for side, file, layer, scheme, number in _list(value["settled"]):
        read.settled[_text(side), _text_or_none(file), _text(layer)] = _text_or_none(scheme), _number(number)
    read.keys = dict.fromkeys(_texts(value["keys"]))
    read.values = {key: set(_texts(values)) for key, values in _items(value["values"])}
    read.units = set(_texts(value["units"]))
    read.without_text = _number(value["without_text"])
    return read
