"""Counts as plain data: how they travel between processes, and how they are checked when they have arrived.

What is written are lists, objects, strings, whole numbers and finite floats. What is read may come from a worker with
a fault, or from something that is no worker: it must have the types, names and sizes that counts of the task can have,
or it is refused. A checked count is still only as right as the worker that counted it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from clueval.evaluation.inputs import Inputs
from clueval.evaluation.plan import Plan
from clueval.evaluation.result import Unprojected
from clueval.evaluation.seen_names import Known
from clueval.evaluation.totals import Found, Totals
from clueval.exceptions import CluevalError
from clueval.formats import FORMATS, all_formats
from clueval.metrics.counting import Tally
from clueval.metrics.metric import Metric
from clueval.metrics.tally_keys import fit, shapes_of, types_of
from clueval.spans.compared import SIDES
from clueval.spans.span import MERGED, Span
from clueval.tagging.decoder import BadTag, Decoder
from clueval.tagging.schemes import INVALID, SCHEMES

_PLAIN = {str, int, bool, float, type(None)}
"""What a key may be made of."""

_GREATEST = sys.float_info.max
"""No count is greater, so that each can become a float; NaN is not less or equal."""


class NotPlain(ValueError):
    """Something is not what counts can be; the text says what, without the text of a corpus."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What the counts of a task can be: `layers` are known before it, `is_possible` tells it of a number.

    `decoder` makes the decoder of each layer of `decoded`, if the task is a part of a pair of files.
    """

    plan: Plan
    layers: tuple[str, ...]
    is_possible: Callable[[int], bool]
    decoded: tuple[str, ...] = ()
    decoder: Callable[[], Decoder] | None = None

    @property
    def is_part(self) -> bool:
        return self.decoder is not None

    def whole(self, value: object, what: str) -> int:
        """A whole number that such a task can have counted."""
        if not self.is_possible(whole(value, what)):
            raise NotPlain(f"{what} is more than there can be")
        return value  # type: ignore[return-value]  # `whole` has looked

    @property
    def metrics(self) -> dict[str, Metric]:
        return {metric.name: metric for metric in self.plan.metrics}

    @property
    def frames(self) -> list[str]:
        return list(
            dict.fromkeys(
                metric.needs.within for metric in self.plan.metrics if metric.needs.within is not None
            )
        )


# Plain values


def whole(value: object, what: str) -> int:
    """A whole number from 0; raises `NotPlain`, as do the others."""
    if type(value) is not int or value < 0:
        raise NotPlain(f"{what} is no whole number from 0")
    return value


def text(value: object, what: str) -> str:
    if type(value) is not str:
        raise NotPlain(f"{what} is no string")
    return value


def flag(value: object, what: str) -> bool:
    if type(value) is not bool:
        raise NotPlain(f"{what} is neither true nor false")
    return value


def a_list(value: object, what: str, length: int | None = None) -> list[Any]:
    """A list, of that length if one is given."""
    if type(value) is not list or length not in (None, len(value)):
        raise NotPlain(f"{what} is no list{'' if length is None else f' of {length}'}")
    return value


def texts(value: object, what: str) -> list[str]:
    """A list of strings, each of which occurs once."""
    found = [text(each, what) for each in a_list(value, what)]
    if len(set(found)) < len(found):
        raise NotPlain(f"{what} has something twice")
    return found


def record(value: object, names: Collection[str], what: str) -> list[Any]:
    """The values of an object that has these names and no others, in their order."""
    if type(value) is not dict or value.keys() != set(names):
        raise NotPlain(f"{what} has other names than {', '.join(names) or 'none'}")
    return [value[name] for name in names]


def an_object(value: object, known: Collection[str] | None, what: str) -> dict[str, Any]:
    """An object whose names are among the known ones; None: any names."""
    if type(value) is not dict:
        raise NotPlain(f"{what} is no object")
    if known is not None and not value.keys() <= set(known):
        raise NotPlain(f"{what} has a name that is not in the plan")
    return value


# Found


def written_found(found: Found) -> dict[str, Any]:
    """Counts as plain data. Raises `NotPlain` for a metric that counts with other keys, and other features."""
    return {
        "layers": found.layers,
        "grown": found.grown,
        "total": _written_totals(found.total),
        "groups": {
            key: {value: _written_totals(totals) for value, totals in values.items()}
            for key, values in found.groups.items()
        },
        "repaired": dict(found.repaired),
        "units": sorted(found.units),
        "treatments": sorted(found.treatments),
        "text": found.text,
        "unprojected": [[each.document, _written_span(each.span)] for each in found.unprojected],
        "known": [
            sorted(found.known.metadata),
            {key: sorted(values) for key, values in found.known.values.items()},
        ],
        "frames": dict(found.frames),
        "decoders": None
        if found.decoders is None
        else [
            [side, layer, [[*pair, number] for pair, number in decoder.neighbours.items()]]
            for (side, layer), decoder in found.decoders.items()
        ],
        "prepared": {name: _written_tally(tally) for name, tally in found.prepared.items()},
        "inputs": found.inputs,
    }


def read_found(value: object, expected: Expected) -> Found:
    """The counts of a task. Raises `NotPlain` for what cannot be them."""
    (
        layers, grown, total, groups, repaired, units, treatments, text_, unprojected, known, frames, decoders,
        prepared, inputs
    ) = record(value, Found._fields, "the counts")  # fmt: skip
    layers = _read_layers(layers, expected)
    whole_total = _read_totals(total, layers, expected)
    return Found(
        layers,
        flag(grown, "grown"),
        whole_total,
        _read_groups(groups, whole_total, layers, expected),
        _read_numbers(repaired, SIDES, "repaired", expected),
        _read_units(units),
        _read_treatments(treatments),
        _read_text(text_, expected),
        _read_unprojected(unprojected, expected),
        _read_known(known, expected),
        _read_numbers(frames, expected.frames, "frames", expected),
        _read_decoders(decoders, expected),
        _read_prepared(prepared, expected),
        _read_inputs(inputs, expected),
    )


def _read_layers(value: object, expected: Expected) -> list[str] | None:
    if value is None:
        return None
    layers = texts(value, "layers")
    if tuple(layers[: len(expected.layers)]) != expected.layers or set(layers) & set(expected.frames):
        raise NotPlain("layers are not those of the plan")
    return layers


def _read_numbers(value: object, names: Sequence[str], what: str, expected: Expected) -> dict[str, int]:
    numbers = record(value, names, what)
    return {name: expected.whole(number, what) for name, number in zip(names, numbers, strict=True)}


def _read_units(value: object) -> set[str]:
    units = set(texts(value, "units"))
    if not units <= {"token", "character"}:
        raise NotPlain("units has one that is unknown")
    return units


def _read_treatments(value: object) -> set[str]:
    treatments = set(texts(value, "treatments"))
    if not treatments <= {*INVALID, "none"}:
        raise NotPlain("treatments has one that is unknown")
    return treatments


def _read_text(value: object, expected: Expected) -> str:
    if value not in ("absent", "aligned" if expected.plan.texts_may_differ else "equal"):
        raise NotPlain("text is not what the plan says of texts")
    return text(value, "text")


# Totals


def _written_totals(totals: Totals) -> dict[str, Any]:
    return {
        "documents": totals.documents,
        "tokens": totals.tokens,
        "tallies": [
            [metric, sequence, _written_tally(tally)] for (metric, sequence), tally in totals.tallies.items()
        ],
    }


def _read_totals(value: object, layers: Sequence[str] | None, expected: Expected) -> Totals:
    documents, tokens, tallies = record(value, ("documents", "tokens", "tallies"), "totals")
    totals = Totals(expected.whole(documents, "documents"), expected.whole(tokens, "tokens"))
    sequences = [MERGED] if layers and expected.plan.merge else layers or ()
    for each in a_list(tallies, "tallies"):
        metric, sequence, tally = a_list(each, "a tally with its names", 3)
        whole = (each.needs.whole for each in expected.metrics.values())
        if text(metric, "a metric") not in expected.metrics or text(sequence, "a sequence") not in {
            *sequences,
            *whole,
        }:
            raise NotPlain("a tally has the name of a metric or sequence that is not in the plan")
        if (metric, sequence) in totals.tallies:
            raise NotPlain("a tally comes twice")
        totals.tallies[metric, sequence] = _read_tally(
            tally, expected.metrics[metric], layers or (), expected
        )
    if layers is None and (documents or tokens):
        raise NotPlain("there are documents, and no layers")
    return totals


def _read_groups(
    value: object, total: Totals, layers: Sequence[str] | None, expected: Expected
) -> dict[str, dict[str, Totals]]:
    groups = {}
    for key, values in zip(expected.plan.by, record(value, expected.plan.by, "groups"), strict=True):
        groups[key] = {
            name: _read_totals(totals, layers, expected)
            for name, totals in an_object(values, None, "a group").items()
        }
        together = Totals()
        for totals in groups[key].values():
            together.include(totals)
        if not _are_equal(together, total):
            raise NotPlain("the groups do not add up to the total")
    return groups


def _are_equal(one: Totals, other: Totals) -> bool:
    tallies = {*one.tallies, *other.tallies}
    return (one.documents, one.tokens) == (other.documents, other.tokens) and all(
        one.tallies.get(key, Tally()) == other.tallies.get(key, Tally()) for key in tallies
    )


# Tallies


def _written_tally(tally: Tally) -> list[list[Any]]:
    rows = [[*key, number] for key, number in tally.items()]
    if not types_of(chain.from_iterable(rows)) <= _PLAIN:
        raise NotPlain("its metrics count with other keys than strings and numbers")
    return rows


def _read_tally(value: object, metric: Metric, layers: Collection[str], expected: Expected) -> Tally:
    """A tally from rows of a key and its number; there are many, so they are checked by columns."""
    rows = a_list(value, "a tally")
    if not types_of(rows) <= {list} or not all(rows):
        raise NotPlain("a count has no number")
    shapes, known = shapes_of(metric), {*layers, *expected.frames}
    tally: Tally = Tally()
    for alike in _by_form(rows):
        *columns, numbers = zip(*alike, strict=True)
        if shapes is None:
            _require_plain(columns, numbers)
        elif not fit(columns, shapes, known):
            raise NotPlain(f"metric {metric.name} has no such key")
        elif not types_of(numbers) <= {int} or min(numbers) < 0:
            raise NotPlain(f"a count of metric {metric.name} is no whole number from 0")
        else:
            expected.whole(max(numbers), f"a count of metric {metric.name}")
        dict.update(tally, zip(zip(*columns, strict=True), numbers, strict=True))
    if len(tally) < len(rows):
        raise NotPlain("a count comes twice")
    return tally


def _by_form(rows: Iterable[list[Any]]) -> Iterable[list[list[Any]]]:
    """Rows of the same length that begin with the same string."""
    found: dict[tuple[int, object], list[list[Any]]] = {}
    for row in rows:
        first = row[0]
        found.setdefault((len(row), first if type(first) is str else None), []).append(row)
    return found.values()


def _require_plain(columns: Sequence[Sequence[object]], numbers: Sequence[Any]) -> None:
    """Raise `NotPlain` for keys and numbers that no metric can count."""
    if not columns or not types_of(chain.from_iterable(columns)) <= _PLAIN:
        raise NotPlain("the key of a count is not plain")
    if not types_of(numbers) <= {int, float} or not all(abs(number) <= _GREATEST for number in numbers):
        raise NotPlain("a count is no finite number")


# The rest


def _read_known(value: object, expected: Expected) -> Known:
    metadata, values = a_list(value, "known", 2)
    known = Known(expected.plan.where)
    known.metadata = set(texts(metadata, "known metadata"))
    conditions = {key for key, _ in expected.plan.where.conditions}
    for key, some in an_object(values, conditions, "known values").items():
        known.values[key] = set(texts(some, "known values"))
    return known


def _read_decoders(value: object, expected: Expected) -> Mapping[tuple[str, str], Decoder] | None:
    if expected.decoder is None:
        if value is not None:
            raise NotPlain("there are tags, though whole files were counted")
        return None
    decoders: dict[tuple[str, str], Decoder] = {}
    for each in a_list(value, "the tags"):
        side, layer, rows = a_list(each, "the tags of a layer", 3)
        decoder = expected.decoder()
        try:
            decoder.accept((), Tally(_read_pairs(rows, expected)))
        except BadTag:
            raise NotPlain("there is a tag that is none") from None
        if (text(side, "a side"), text(layer, "a layer")) in decoders:
            raise NotPlain("the tags of a layer come twice")
        decoders[side, layer] = decoder
    if decoders.keys() != {(side, layer) for side in SIDES for layer in expected.decoded}:
        raise NotPlain("the tags are those of other layers")
    return decoders


def _read_pairs(value: object, expected: Expected) -> dict[tuple[str, str], int]:
    rows = a_list(value, "the tags of a layer")
    if not types_of(rows) <= {list} or set(map(len, rows)) - {3}:
        raise NotPlain("the tags of a layer are no pairs with their numbers")
    befores, tags, numbers = zip(*rows, strict=True) if rows else ((), (), ())
    if not types_of(chain(befores, tags)) <= {str} or not types_of(numbers) <= {int}:
        raise NotPlain("a pair of tags is none")
    if numbers and min(numbers) < 0:
        raise NotPlain("a pair of tags is there less than never")
    expected.whole(max(numbers, default=0), "the number of a pair of tags")
    pairs = dict(zip(zip(befores, tags, strict=True), numbers, strict=True))
    if len(pairs) < len(rows):
        raise NotPlain("a pair of tags comes twice")
    return pairs


def _read_inputs(value: object, expected: Expected) -> Inputs:
    sides = zip(SIDES, record(value, SIDES, "inputs"), strict=True)
    return {side: _read_input(of_side, expected) for side, of_side in sides}


def _read_input(value: object, expected: Expected) -> dict[str, Any]:
    form, files, layers = record(value, ("format", "files", "layers"), "an input")
    return {
        "format": _read_names(form, FORMATS, "a format"),
        "files": expected.whole(files, "the files"),
        "layers": {
            layer: _read_layer(of_layer, expected)
            for layer, of_layer in an_object(layers, None, "the layers of an input").items()
        },
    }


def _read_layer(value: object, expected: Expected) -> dict[str, Any]:
    source, scheme, spans = record(value, ("source", "scheme", "spans"), "a layer of an input")
    own = {form.scheme for form in all_formats() if form.scheme is not None}
    return {
        "source": whole(source, "a column") if type(source) is int else _read_columns(source),
        "scheme": _read_names(scheme, {*SCHEMES, *own}, "a scheme"),
        "spans": expected.whole(spans, "the spans of a layer"),
    }


def _read_columns(value: object) -> str | None:
    if value is not None and not all(part.isdecimal() for part in text(value, "a column").split("+")):
        raise NotPlain("a column has no number")
    return value  # type: ignore[return-value]  # it is None, or a string


def _read_names(value: object, known: Collection[str], what: str) -> str | None:
    """One name, or several joined by +; None where there is none."""
    if value is not None and not set(text(value, what).split("+")) <= set(known):
        raise NotPlain(f"{what} is unknown")
    return value  # type: ignore[return-value]  # it is None, or a string


def _read_prepared(value: object, expected: Expected) -> dict[str, Tally]:
    """What transforms have changed, which may be more than there are positions."""
    names = [transform.signature[0] for transform in expected.plan.transforms]
    found = {name: Tally() for name in names}
    for name, rows in zip(names, record(value, names, "prepared"), strict=True):
        for row in a_list(rows, "what a transform has changed"):
            *key, number = a_list(row, "a change") or [0]
            if not key or not types_of(key) <= _PLAIN or tuple(key) in found[name]:
                raise NotPlain("what a transform has changed is not plain, or comes twice")
            found[name][tuple(key)] = whole(number, "the number of a change")
    return found


# Spans without a place


def _written_span(span: Span) -> list[Any]:
    features = {name: _written_feature(value) for name, value in span.features.items()}
    tokens = None if span.tokens is None else sorted(span.tokens)
    return [span.start, span.end, dict(span.by_layer), features, tokens, span.id, span.line]


def _written_feature(value: object) -> object:
    if type(value) is list:
        return [_written_feature(each) for each in value]
    if type(value) is dict and all(type(name) is str for name in value):
        return {name: _written_feature(each) for name, each in value.items()}
    if type(value) in _PLAIN:
        return value
    raise NotPlain("a feature of a span without a place is not plain")


def _read_unprojected(value: object, expected: Expected) -> list[Unprojected]:
    found = []
    for each in a_list(value, "unprojected"):
        document, span = a_list(each, "a span without a place", 2)
        found.append(Unprojected(text(document, "a document"), _read_span(span, expected)))
    if found and expected.plan.align is None:
        raise NotPlain("there are spans without a place, though nothing was aligned")
    return found


def _read_span(value: object, expected: Expected) -> Span:
    start, end, labels, features, tokens, identity, line = a_list(value, "a span", 7)
    for label in an_object(labels, None, "the labels of a span").values():
        if label is not None:
            text(label, "a label")
    positions = None if tokens is None else frozenset(_wholes(tokens))
    if identity is not None and type(identity) not in (str, int):
        raise NotPlain("the id of a span is neither a string nor a number")
    try:
        return Span(
            expected.whole(start, "the start of a span"),
            expected.whole(end, "the end of a span"),
            labels,
            an_object(features, None, "the features of a span"),
            positions,
            identity,
            None if line is None else whole(line, "the line of a span"),
        )
    except CluevalError:
        raise NotPlain("a span ends before it starts") from None


def _wholes(value: object) -> Iterable[int]:
    return (whole(each, "a position") for each in a_list(value, "the positions of a span"))
