"""Counts as plain data: written to be sent between processes, and checked when they arrive.

What is written are lists, objects, strings, whole numbers and finite floats. What is read may come from a faulty
worker, or from another program: it must have the types, names and sizes that counts of the task can have
(`Expected`), or `NotPlain` is raised. Numbers that are possible but wrong cannot be detected.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from clueval.evaluation.depths import plain_sequence
from clueval.evaluation.inputs import PASSED_OVER, Inputs
from clueval.evaluation.parallel.expected import Expected
from clueval.evaluation.parallel.plain_spans import read_unprojected, written_unprojected
from clueval.evaluation.parallel.plain_values import (
    PLAIN,
    NotPlain,
    a_list,
    an_object,
    flag,
    record,
    text,
    texts,
    whole,
)
from clueval.evaluation.totals import PartialCounts, Totals, UnitPiece
from clueval.formats import FORMATS, all_formats
from clueval.metrics.counting import Tally
from clueval.metrics.metric import Metric
from clueval.metrics.tally_keys import fit, shapes_of, types_of
from clueval.spans.compared import SIDES
from clueval.spans.seen_names import SeenNames
from clueval.spans.span import MERGED
from clueval.tagging.decoder import BadTag, Decoder
from clueval.tagging.schemes import INVALID, SCHEMES
from clueval.transforms.preparation import in_order

_GREATEST = sys.float_info.max
"""The greatest count, so that each can become a float; NaN is not less or equal."""


def written_counts(counts: PartialCounts) -> dict[str, Any]:
    """Counts as plain data. Raises `NotPlain` for keys of a metric, or features of a span, that are not plain."""
    return {
        "layers": counts.layers,
        "grown": counts.grown,
        "total": _written_totals(counts.total),
        "groups": {
            key: {value: _written_totals(totals) for value, totals in values.items()}
            for key, values in counts.groups.items()
        },
        "repaired": dict(counts.repaired),
        "units": sorted(counts.units),
        "treatments": sorted(counts.treatments),
        "text": counts.text,
        "unprojected": written_unprojected(counts.unprojected),
        "seen_names": [
            sorted(counts.seen_names.metadata),
            {key: sorted(values) for key, values in counts.seen_names.values.items()},
        ],
        "frames": dict(counts.frames),
        "decoders": None
        if counts.decoders is None
        else [
            [side, layer, [[*pair, number] for pair, number in decoder.neighbours.items()]]
            for (side, layer), decoder in counts.decoders.items()
        ],
        "prepared": {name: _written_tally(tally) for name, tally in counts.prepared.items()},
        "inputs": counts.inputs,
        "pieces": None
        if counts.pieces is None
        else [[piece.key, list(piece.values), _written_totals(piece.totals)] for piece in counts.pieces],
    }


def read_counts(value: object, expected: Expected) -> PartialCounts:
    """The counts of a task from plain data. Raises `NotPlain` for values that cannot be its counts."""
    (
        layers, grown, total, groups, repaired, units, treatments, text_, unprojected, seen, frames, decoders,
        prepared, inputs, pieces
    ) = record(value, PartialCounts._fields, "the counts")  # fmt: skip
    layers = _read_layers(layers, expected)
    whole_total = _read_totals(total, layers, expected)
    return PartialCounts(
        layers,
        flag(grown, "grown"),
        whole_total,
        _read_groups(groups, whole_total, layers, expected),
        _read_numbers(repaired, SIDES, "repaired", expected),
        _read_set(units, {"token", "character"}, "units"),
        _read_set(treatments, {*INVALID, "none"}, "treatments"),
        _read_text(text_, expected),
        read_unprojected(unprojected, expected),
        _read_seen_names(seen, expected),
        _read_numbers(frames, expected.frames, "frames", expected),
        _read_decoders(decoders, expected),
        _read_prepared(prepared, expected),
        _read_inputs(inputs, expected),
        _read_pieces(pieces, whole_total, layers, expected),
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


def _read_set(value: object, known: set[str], what: str) -> set[str]:
    found = set(texts(value, what))
    if not found <= known:
        raise NotPlain(f"{what} has an unknown value")
    return found


def _read_text(value: object, expected: Expected) -> str:
    if value not in ("absent", "aligned" if expected.plan.texts_may_differ else "equal"):
        raise NotPlain("text is not allowed by the plan")
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
        if text(metric, "a metric") not in expected.metrics or plain_sequence(
            text(sequence, "a sequence")
        ) not in {
            *sequences,
            *whole,
        }:
            raise NotPlain("a tally has the name of a metric or sequence that is not in the plan")
        if (metric, sequence) in totals.tallies:
            raise NotPlain("a tally occurs twice")
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


def _read_pieces(
    value: object, total: Totals, layers: Sequence[str] | None, expected: Expected
) -> list[UnitPiece] | None:
    if expected.plan.resample_by is None:
        if value is not None:
            raise NotPlain("there are units, though none were asked for")
        return None
    pieces, together = [], Totals()
    for each in a_list(value, "the units"):
        key, values, totals = a_list(each, "a unit", 3)
        texts_ = [text(one, "a value of a unit") for one in a_list(values, "the values of a unit")]
        if len(texts_) != len(expected.plan.by):
            raise NotPlain("a unit has not one value for each break-down")
        piece = UnitPiece(
            text(key, "the key of a unit"), tuple(texts_), _read_totals(totals, layers, expected)
        )
        pieces.append(piece)
        together.include(piece.totals)
    if not _are_equal(together, total):
        raise NotPlain("the units do not add up to the total")
    return pieces


def _are_equal(first: Totals, second: Totals) -> bool:
    return (first.documents, first.tokens) == (second.documents, second.tokens) and all(
        first.tallies.get(key, Tally()) == second.tallies.get(key, Tally())
        for key in {*first.tallies, *second.tallies}
    )


# Tallies


def _written_tally(tally: Tally) -> list[list[Any]]:
    rows = [[*key, number] for key, number in tally.items()]
    if not types_of(chain.from_iterable(rows)) <= PLAIN:
        raise NotPlain("its metrics count with other keys than strings and numbers")
    return rows


def _read_tally(value: object, metric: Metric, layers: Collection[str], expected: Expected) -> Tally:
    """A tally from rows of a key and its number, which are checked in columns, because there may be many."""
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
            raise NotPlain(f"a count of metric {metric.name} is not a whole number from 0")
        else:
            expected.whole(max(numbers), f"a count of metric {metric.name}")
        dict.update(tally, zip(zip(*columns, strict=True), numbers, strict=True))
    if len(tally) < len(rows):
        raise NotPlain("a count occurs twice")
    return tally


def _by_form(rows: Iterable[list[Any]]) -> Iterable[list[list[Any]]]:
    """Rows of the same length that begin with the same string."""
    found: dict[tuple[int, object], list[list[Any]]] = {}
    for row in rows:
        first = row[0]
        found.setdefault((len(row), first if type(first) is str else None), []).append(row)
    return found.values()


def _require_plain(columns: Sequence[Sequence[object]], numbers: Sequence[Any]) -> None:
    """Raise `NotPlain` for keys that are not plain and for numbers that are not finite."""
    if not columns or not types_of(chain.from_iterable(columns)) <= PLAIN:
        raise NotPlain("a key is not plain")
    if not types_of(numbers) <= {int, float} or not all(abs(number) <= _GREATEST for number in numbers):
        raise NotPlain("a count is not a finite number")


# Other fields


def _read_seen_names(value: object, expected: Expected) -> SeenNames:
    metadata, values = a_list(value, "seen names", 2)
    seen = SeenNames(expected.plan.where)
    seen.metadata = set(texts(metadata, "seen metadata"))
    conditions = {key for key, _ in expected.plan.where.conditions}
    for key, some in an_object(values, conditions, "seen values").items():
        seen.values[key] = set(texts(some, "seen values"))
    return seen


def _read_decoders(value: object, expected: Expected) -> Mapping[tuple[str, str], Decoder] | None:
    if expected.decoder is None:
        if value is not None:
            raise NotPlain("there are tags, although whole files were counted")
        return None
    decoders: dict[tuple[str, str], Decoder] = {}
    for each in a_list(value, "the tags"):
        side, layer, rows = a_list(each, "the tags of a layer", 3)
        decoder = expected.decoder()
        try:
            decoder.accept((), Tally(_read_pairs(rows, expected)))
        except BadTag:
            raise NotPlain("one of the tags is not a tag") from None
        if (text(side, "a side"), text(layer, "a layer")) in decoders:
            raise NotPlain("the tags of a layer occur twice")
        decoders[side, layer] = decoder
    if decoders.keys() != {(side, layer) for side in SIDES for layer in expected.decoded}:
        raise NotPlain("the tags are those of other layers")
    return decoders


def _read_pairs(value: object, expected: Expected) -> dict[tuple[str, str], int]:
    rows = a_list(value, "the tags of a layer")
    if not types_of(rows) <= {list} or set(map(len, rows)) - {3}:
        raise NotPlain("the tags of a layer are not pairs with numbers")
    befores, tags, numbers = zip(*rows, strict=True) if rows else ((), (), ())
    if not types_of(chain(befores, tags)) <= {str} or not types_of(numbers) <= {int}:
        raise NotPlain("a pair of tags has other types than strings and a whole number")
    if numbers and min(numbers) < 0:
        raise NotPlain("the number of a pair of tags is negative")
    expected.whole(max(numbers, default=0), "the number of a pair of tags")
    pairs = dict(zip(zip(befores, tags, strict=True), numbers, strict=True))
    if len(pairs) < len(rows):
        raise NotPlain("a pair of tags occurs twice")
    return pairs


def _read_inputs(value: object, expected: Expected) -> Inputs:
    sides = zip(SIDES, record(value, SIDES, "inputs"), strict=True)
    return {side: _read_input(of_side, expected) for side, of_side in sides}


def _read_input(value: object, expected: Expected) -> dict[str, Any]:
    form, files, layers, passed = record(value, ("format", "files", "layers", PASSED_OVER), "an input")
    return {
        "format": _read_names(form, FORMATS, "a format"),
        "files": expected.whole(files, "the files"),
        "layers": {
            layer: _read_layer(of_layer, expected)
            for layer, of_layer in an_object(layers, None, "the layers of an input").items()
        },
        PASSED_OVER: {
            kind: whole(number, "what was passed over")
            for kind, number in an_object(passed, None, "what was passed over").items()
        },
    }


def _read_layer(value: object, expected: Expected) -> dict[str, Any]:
    source, scheme, spans = record(value, ("source", "scheme", "spans"), "a layer of an input")
    of_formats = {form.scheme for form in all_formats() if form.scheme is not None}
    return {
        "source": _read_source(source),
        "scheme": _read_names(scheme, {*SCHEMES, *of_formats}, "a scheme"),
        "spans": expected.whole(spans, "the spans of a layer"),
    }


def _read_source(value: object) -> int | str | None:
    if value is None:
        return None
    return whole(value, "a column") if type(value) is int else text(value, "a source")


def _read_names(value: object, known: Collection[str], what: str) -> str | None:
    """One name, or several joined by +; None if there is none."""
    if value is not None and not set(text(value, what).split("+")) <= set(known):
        raise NotPlain(f"{what} is unknown")
    return value  # type: ignore[return-value]  # it is None, or a string


def _read_prepared(value: object, expected: Expected) -> dict[str, Tally]:
    """The numbers of changes by each transform, which may be greater than the number of positions."""
    names = [transform.signature[0] for transform in in_order(expected.plan.transforms)]
    found = {name: Tally() for name in names}
    for name, rows in zip(names, record(value, names, "prepared"), strict=True):
        for row in a_list(rows, "the changes of a transform"):
            *key, number = a_list(row, "a change") or [0]
            if not key or not types_of(key) <= PLAIN or tuple(key) in found[name]:
                raise NotPlain("the key of a change is not plain, or occurs twice")
            found[name][tuple(key)] = whole(number, "the number of a change")
    return found
