"""Reading saved results, as strictly as files of unknown origin: every error names its line."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from types import UnionType
from typing import Any, NoReturn

from clueval.arguments import checked_call
from clueval.core.span import SIDES
from clueval.evaluation.observer import OTHER_PARTS
from clueval.evaluation.result import Result
from clueval.evaluation.signature import Signature
from clueval.evaluation.totals import Counted, plain_sequence
from clueval.evaluation.units.saved import FORMAT
from clueval.evaluation.units.unit import Tallies, Unit, Units, summed_tallies
from clueval.files.errors import CluevalError, FormatError
from clueval.first.metrics import METRICS, metric_class, metric_named
from clueval.first.metrics.counting import Tally
from clueval.first.metrics.metric import Metric
from clueval.first.metrics.rates import LAYER, Shape
from clueval.reading.paths import as_path
from clueval.textfiles import lines

MOST = 10**15
"""The greatest count: no corpus has more."""

_ADVICE = "score with save='FILE' writes a saved result; or name gold first, to score and compare in one go"


@checked_call
def load_result(path: str | Path) -> Result:
    """Read a result that `Result.save` or ``clueval score --save`` has written.

    Reports are computed from the counts. Memory holds all counts. Raises `FileError`, and `FormatError` with the
    line for a file that is no saved result, is not complete, or has been changed.
    """
    reader = _SavedLines(as_path(path))
    for number, line in lines(reader.path):
        reader.read(number, line)
    return reader.result()


def is_saved(path: str | Path) -> bool:
    """Return whether a file is a saved result: its name ends like one, or it begins like one."""
    if str(path).removesuffix(".gz").endswith(".clueval"):
        return True
    with suppress(CluevalError, OSError, ValueError):  # reading the file raises the same error
        return Path(path).is_file() and next(lines(Path(path)), (0, ""))[1].startswith(_BEGIN)
    return False


_BEGIN = '{"clueval_counts":'
"""How the first line of a saved result begins."""


@dataclass(slots=True)
class _SavedHeader:
    signature: Signature
    by: str
    metrics: dict[str, Metric]
    sequences: dict[str, list[str]]
    broken_down_by: list[str]
    gold_sha256: str | None


class _SavedLines:
    """A saved result while its lines are read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._number = 0
        self._header: _SavedHeader | None = None
        self._end: dict[str, Any] | None = None
        self._keys: list[tuple[tuple[str, str], tuple[Any, ...]]] = []
        self._declared: set[tuple[Any, ...]] = set()
        self._shared: dict[tuple[int, ...], Tallies] = {}
        self._units: dict[str, Unit] = {}
        self._groups: dict[str, dict[str, list[Unit]]] = {}

    def refuse(self, problem: str) -> NoReturn:
        raise FormatError(problem, file=str(self.path), line=self._number, advice=_ADVICE)

    def read(self, number: int, text: str) -> None:
        """Read a line."""
        self._number = number
        if self._end is not None:
            self.refuse("there is a line after the end line")
        try:
            line = json.loads(text, object_pairs_hook=self._object, parse_constant=self._refuse_constant)
        except (ValueError, RecursionError) as error:
            if isinstance(error, CluevalError):
                raise
            self.refuse("the line is not JSON" if self._header else "the file is not a saved result")
        if type(line) is not dict:
            self.refuse("the line is not an object")
        if self._header is None:
            self._header = self._read_header(line)
            self._groups = {key: {} for key in self._header.broken_down_by}
        elif "keys" in line:
            self._read_keys(line["keys"])
        elif "unit" in line:
            self._read_unit(line, self._header)
        elif line.get("end") is True:
            self._read_end(line)
        else:
            self.refuse("the line is neither keys, nor a unit, nor the end")

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            self.refuse("a name occurs twice")
        return found

    def _refuse_constant(self, name: str) -> NoReturn:
        self.refuse(f"{name} is not a count")

    # The first line

    def _read_header(self, line: Mapping[str, Any]) -> _SavedHeader:
        number = line.get("clueval_counts")
        if type(number) is not int or number < 1:
            self.refuse("this is not a saved result")
        if number > FORMAT:
            raise FormatError(
                f"the file has the format {number}, and this clueval reads formats up to {FORMAT}",
                file=str(self.path),
                line=self._number,
                advice="update clueval",
            )
        sequences = self._of_type(line.get("sequences"), dict, "sequences")
        sha256 = line.get("gold_sha256")
        return _SavedHeader(
            self._signature(line.get("signature")),
            self._of_type(line.get("resample_by"), str, "resample_by"),
            self._metrics(line.get("metrics")),
            {name: self._texts(layers, "the layers of a sequence") for name, layers in sequences.items()},
            self._texts(line.get("by", []), "by"),
            None if sha256 is None else self._of_type(sha256, str, "gold_sha256"),
        )

    def _signature(self, text: object) -> Signature:
        try:
            return Signature.parse(self._of_type(text, str, "signature"))
        except FormatError:
            raise
        except CluevalError as error:
            self.refuse(error.problem)

    def _metrics(self, value: object) -> dict[str, Metric]:
        found: dict[str, Metric] = {}
        for entry in self._of_type(value, list, "metrics"):
            given = self._of_type(entry, dict, "a metric")
            name, settings = given.get("name"), self._of_type(given.get("settings"), dict, "settings")
            if type(name) is not str or name not in METRICS or name in found:
                self.refuse(f"{name!r} is not a metric of this clueval, or is named twice")
            found[name] = self._metric(name, settings)
        return found

    def _metric(self, name: str, settings: Mapping[str, Any]) -> Metric:
        kinds = {field.name: str(field.type) for field in fields(metric_class(name))}
        if not settings.keys() <= kinds.keys():
            self.refuse(f"metric {name} has no setting {sorted(settings.keys() - kinds.keys())[0]!r}")
        values = {
            setting: (frozenset if kinds[setting].startswith("frozenset") else tuple)(value)
            if isinstance(value, list)
            else value
            for setting, value in settings.items()
        }
        try:
            return metric_named(name, **values)
        except CluevalError as error:
            self.refuse(f"metric {name}: {error.problem}")
        except (TypeError, ValueError, AttributeError):
            self.refuse(f"metric {name} has a setting of the wrong type")

    # Keys and units

    def _read_keys(self, value: object) -> None:
        for row in self._of_type(value, list, "keys"):
            number, *key = self._of_type(row, list, "a key") or [None]
            if type(number) is not int or number != len(self._keys) or len(key) < 3:
                self.refuse(f"the key with the number {len(self._keys)} is wanted, and not {row!r}")
            self._keys.append(self._key(key))

    def _key(self, key: list[Any]) -> tuple[tuple[str, str], tuple[Any, ...]]:
        header = self._header
        assert header is not None
        metric, sequence, *rest = key
        if not all(type(part) in (str, int, bool, float, type(None)) for part in key):
            self.refuse("a key has a part that is neither text nor a number")
        whole = header.metrics[metric].needs.whole if metric in header.metrics else None
        plain = plain_sequence(sequence) if isinstance(sequence, str) else None
        if metric not in header.metrics or (
            plain not in header.sequences and (plain is None or plain != whole)
        ):
            self.refuse("a key names a metric or a sequence that the first line does not have")
        place = *key, *map(type, key)
        if place in self._declared:
            self.refuse("a key is declared twice")
        self._declared.add(place)
        of_metric = header.metrics[metric]
        layers = {of_metric.needs.within, *(name for names in header.sequences.values() for name in names)}
        if not any(_fits(rest, shape, layers) for shape in metric_class(metric).tally_keys):
            self.refuse(f"metric {metric} has no such key")
        return (metric, sequence), tuple(rest)

    def _read_unit(self, line: Mapping[str, Any], header: _SavedHeader) -> None:
        key = self._of_type(line["unit"], str, "a unit")
        if key in self._units:
            self.refuse(f"the unit {key!r} comes twice")
        unit = self._units[key] = self._unit(key, line)
        by = self._of_type(line.get("by", {}), dict, "by")
        if by.keys() != {*header.broken_down_by}:
            self.refuse("a unit has not one value for each key of the break-down")
        for name, value in by.items():
            parts = {value: unit} if isinstance(value, str) else self._parts(unit, value)
            for each, part in parts.items():
                self._groups[name].setdefault(each, []).append(part)

    def _parts(self, unit: Unit, value: object) -> dict[str, Unit]:
        found = {
            name: self._unit(unit.key, self._of_type(part, dict, "a part of a unit"))
            for name, part in self._of_type(value, dict, "the values of a unit").items()
        }
        if sum(part.tokens for part in found.values()) != unit.tokens:
            self.refuse("the parts of a unit do not add up to it")
        return found

    def _unit(self, key: str, line: Mapping[str, Any]) -> Unit:
        tallies = self._tallies(self._of_type(line.get("counts"), list, "counts"))
        documents = self._whole(line.get("documents", 1), "documents")
        return Unit(key, documents, self._whole(line.get("tokens"), "tokens"), tallies)

    def _tallies(self, numbers: list[Any]) -> Tallies:
        """The tallies of these numbers of keys and counts: the same object for the same numbers."""
        counts = tuple(numbers)
        if {*map(type, counts)} <= {int} and counts in self._shared:
            return self._shared[counts]
        tallies: dict[tuple[str, str], Tally] = {}
        seen = set()
        if len(numbers) % 2:
            self.refuse("counts have a key without a number")
        for place, count in zip(numbers[::2], numbers[1::2], strict=True):
            if type(place) is not int or not 0 <= place < len(self._keys):
                self.refuse(f"a count has the key {place!r}, which is not declared")
            if place in seen:
                self.refuse(f"the key {place} comes twice in a unit")
            if self._whole(count, "a count") == 0:
                self.refuse("a count is 0, and counts of 0 are left out")
            seen.add(place)
            of, own = self._keys[place]
            tallies.setdefault(of, Tally())[own] = count
        self._shared[counts] = tallies
        return tallies

    # The last line, and all together

    def _read_end(self, line: dict[str, Any]) -> None:
        sums = {
            "units": len(self._units),
            "documents": sum(unit.documents for unit in self._units.values()),
            "tokens": sum(unit.tokens for unit in self._units.values()),
        }
        for name, number in sums.items():
            if self._whole(line.get(name), name) != number:
                self.refuse(f"the end line has {line[name]} {name}, and the lines above have {number}")
        repaired = self._of_type(line.get("repaired_tags"), dict, "repaired_tags")
        if repaired.keys() != {*SIDES}:
            self.refuse("repaired_tags are not those of gold and predicted")
        for number in repaired.values():
            self._whole(number, "repaired_tags")
        for name in ("prepared", "sections"):
            self._of_type(line.get(name, {}), dict, name)
        if set(line.get("sections", {})) & {*OTHER_PARTS}:
            self.refuse("a section has the name of another part of a result")
        self._require_inputs(line.get("inputs", {}))
        self._end = line

    def _require_inputs(self, inputs: object) -> None:
        """Refuse what `clueval.evaluation.inputs` cannot have made; there may be none at all."""
        sides = self._of_type(inputs, dict, "inputs")
        if sides and sides.keys() != {*SIDES}:
            self.refuse("inputs are not those of gold and predicted")
        layers_of_sides = []
        for side in sides.values():
            found = self._of_type(side, dict, "an input")
            if not found.keys() >= {"format", "files", "layers"}:
                self.refuse("an input lacks format, files or layers")
            layers = self._of_type(found["layers"], dict, "the layers of an input")
            layers_of_sides.append(layers.keys())
            self._whole(found["files"], "the files of an input")
            for layer in layers.values():
                if self._of_type(layer, dict, "a layer of an input").keys() != {"source", "scheme", "spans"}:
                    self.refuse("a layer of an input has other names than source, scheme and spans")
                self._whole(layer["spans"], "the spans of a layer")
            texts = [found["format"], *(layer["scheme"] for layer in layers.values())]
            sources = [layer["source"] for layer in layers.values()]
            if {*map(type, texts)} - {str, type(None)} or {*map(type, sources)} - {str, int, type(None)}:
                self.refuse("an input has a value of the wrong type")
        if any(names != layers_of_sides[0] for names in layers_of_sides):
            self.refuse("inputs have different layers on the two sides")

    def result(self) -> Result:
        """Return the result. Raises `FormatError` if the end line is missing."""
        if self._header is None:
            raise FormatError("the file is empty", file=str(self.path), advice=_ADVICE)
        if self._end is None:
            self.refuse("the end line is missing, so the file is not complete")
        header, end = self._header, self._end
        groups = {
            key: {value: values[value] for value in sorted(values)} for key, values in self._groups.items()
        }
        units = Units(header.by, list(self._units.values()), groups, header.gold_sha256)
        metrics = list(header.metrics.values())
        counted = Counted(metrics, summed_tallies(units.units), header.sequences, units)
        try:
            return Result(
                end["documents"],
                end["tokens"],
                end["repaired_tags"],
                counted.scores(),
                header.signature,
                groups=counted.groups(),
                counted=counted,
                scored_by=metrics,
                prepared=self._prepared(end["prepared"]) if "prepared" in end else None,
                sections=end.get("sections", {}),
                inputs=end.get("inputs", {}),
            )
        except (TypeError, ValueError, KeyError, IndexError, AttributeError):
            self.refuse("the counts are not those of the metrics")

    def _prepared(self, value: Mapping[str, Any]) -> dict[str, Tally]:
        return {
            name: Tally({tuple(key): self._whole(count, "a change") for *key, count in rows})
            for name, rows in value.items()
        }

    def _of_type(self, value: object, kind: type, what: str) -> Any:
        if type(value) is not kind:
            self.refuse(f"{what} is {_KINDS.get(type(value), 'missing')} instead of {_KINDS[kind]}")
        return value

    def _texts(self, value: object, what: str) -> list[str]:
        return [self._of_type(each, str, what) for each in self._of_type(value, list, what)]

    def _whole(self, value: object, what: str) -> int:
        if type(value) is not int or not 0 <= value <= MOST:
            self.refuse(f"{what} is {repr(value)[:40]}, and not a whole number from 0 to {MOST:,}")
        return value


_KINDS: Mapping[type, str] = {
    dict: "an object",
    list: "a list",
    str: "text",
    int: "a number",
    float: "a number",
    bool: "true or false",
}


def _fits(key: Sequence[Any], shape: Shape, layers: Collection[str | None]) -> bool:
    """Return whether a key of a tally has a shape, for these layers.

    >>> shape = ("label",), ("A", "B"), int
    >>> _fits(["label", "A", 3], shape, []), _fits(["label", "A", True], shape, [])
    (True, False)
    """
    return len(key) == len(shape) and all(
        _is_allowed(part, layers if place is LAYER else place) for part, place in zip(key, shape, strict=True)
    )


def _is_allowed(part: object, place: Any) -> bool:
    if isinstance(place, type):
        return type(part) is place
    if isinstance(place, UnionType):
        return isinstance(part, place)
    if isinstance(place, range):
        return type(part) is int and part in place
    return place(part) if callable(place) else type(part) is str and part in place
