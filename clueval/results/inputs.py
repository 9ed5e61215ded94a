"""What a result says of its input, from what was read, and warnings for what is often a mistake."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from clueval.core.bag import Bag, Read, pairs_in
from clueval.core.case import HEAD
from clueval.core.document import MENTION, UNANNOTATED
from clueval.core.span import DEFAULT_LAYER, MERGED, SIDES, Span
from clueval.files.errors import cut_label, differ_in_form, not_read, with_noun
from clueval.metrics import LABELS_BELOW

DOCUMENTS = "documents"
"""The format of a side that is in memory."""


def inputs_of(read: Read, layers: Iterable[str], without: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return for each side its format, its number of files, and its layers; `without` are left out.

    Of a layer: ``source`` (the column, from 1, or a key) and ``scheme``, both None if its spans do not come from tags,
    and the number of ``spans`` as they were read. Both sides have all layers, in this order.
    """
    names = dict.fromkeys([*layers, *(layer for _, layer in [*read.spans, *read.sources])])
    left_out, schemes = {*without}, _schemes(read)
    inputs: dict[str, dict[str, Any]] = {}
    for side in SIDES:
        files, of_layers = read.files[side], {}
        for name in names:
            if name not in left_out:
                sources = read.sources.get((side, name), ()) if files else ()
                only = next(iter(sources)) if len(sources) == 1 else _join(map(str, sources))
                scheme = _join(schemes.get((side, name), ()))
                of_layers[name] = {"source": only, "scheme": scheme, "spans": read.spans[side, name]}
        form = _join(read.formats.get(side, ())) or DOCUMENTS
        inputs[side] = {"format": form, "files": files, "layers": of_layers}
    return inputs


def _schemes(read: Read) -> dict[tuple[str, str], list[str]]:
    """Return the schemes of each layer of each side, in its files or in lists of tags."""
    schemes: dict[tuple[str, str], list[str]] = {}
    for (side, file, layer), scheme in read.schemes().items():
        of_layer = schemes.setdefault((side, layer), [])
        if scheme is not None and (read.files[side] or file is None):
            of_layer.append(scheme)
    return schemes


def schemes_of(read: Read) -> str:
    """Return the schemes of both sides for a signature; ``GOLD:PREDICTED`` if they differ."""
    sides: dict[str, dict[str, None]] = {side: {} for side in SIDES}
    for (side, _), schemes in _schemes(read).items():
        if side in sides and schemes:
            sides[side].update(dict.fromkeys(str(_join(schemes)).split("+")))
    return ":".join(dict.fromkeys("+".join(parts) or "none" for parts in sides.values()))


def passed_over_of(read: Read) -> dict[str, dict[str, int]]:
    """Return what the formats of each side did not read, by kind."""
    numbers: dict[str, dict[str, int]] = {side: {} for side in SIDES}
    for (side, kind), number in sorted(read.passed_over.items()):
        if number and side in numbers:
            numbers[side][kind] = number
    return numbers


def unannotated_in(passed_over: Mapping[str, Mapping[str, int]]) -> str | None:
    """Return how many documents gold has not annotated, in words; None without any."""
    number = passed_over[SIDES[0]].get(UNANNOTATED, 0)
    if not number:
        return None
    documents = f"{with_noun(number, 'gold documents')} {'is' if number == 1 else 'are'}"
    return f"{documents} not annotated and left out; doc.ents = [] says that a document has no entities"


class Unplaced(NamedTuple):
    """A span without a place in the text of gold, in its own positions, and the id of its document.

    A mention of a language model has no positions; its feature `MENTION` has its text.
    """

    document: str
    span: Span

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of the result; a mention has its text, and None for its positions."""
        span = self.span
        if MENTION in span.features:
            place: dict[str, Any] = {"start": None, "end_exclusive": None, "text": span.features[MENTION]}
        else:
            place = {"start": span.start, "end_exclusive": span.end}
        return {"document": self.document, "label": span.label, **place}


def _join(values: Iterable[str]) -> str | None:
    """Return different values joined by ``+``, in order; None if there are none."""
    return "+".join(sorted({*"+".join(values).split("+")})) or None


# Warnings

_LISTED = 5
"""The number of labels or files that a warning names; it counts the others."""

_MANY = 3
"""The least number of spans of a side for a warning that none is equal to one of the other."""

_COMPARED = 100
"""The number of labels of each side that are compared with each other."""

_WITH_POSITIONS = {
    *("documents", "spans", "brat", "doccano", "prodigy", "label-studio", "spacy-json", "tab", "i2b2"),
    *("i2b2-2006", "spert", "ai4privacy", "nemotron", "presidio", "comprehend", "langextract"),
}
"""The formats in which a person or a program writes the exclusive end of each span, and what is in memory."""

_LEAVING_OUT = {
    "labels": "the label map",
    "ignored": "ignore_label and ignore_layer",
    "min-score": "min_score",
    "where": "where",
}
"""The options that may leave out all spans of a side, by their entry in a signature."""

REPAIRED = r"(gold|predicted) has [\d,]+ repaired tag"
"""The beginning of the messages of `repairs_of`, as a regular expression."""


def warnings_of(result: Any) -> Iterator[str]:
    """Yield a warning for what is often a mistake in a `Result`.

    Gold documents are not annotated; there are no documents; a side has no spans, or none that is left to count; the
    layers have different names; a label is on one side only; ends are inclusive.
    """
    content = result.content()
    inputs, metrics = content["inputs"], content["metrics"]
    if left_out := unannotated_in(content["passed_over"]):
        yield left_out
    if not result.documents:
        yield f"there are no documents{not_read(content['passed_over'][SIDES[0]])}"
        return
    sides = [inputs[side]["layers"] for side in SIDES]
    if all(metric.name == "masking" for metric in result.scored_by):  # it compares layers of different names
        for side, layers in zip(SIDES, sides, strict=True):
            if not any(about["spans"] for about in layers.values()):
                yield f"{side} has no spans"
        return
    if not sides[0]:
        yield "gold and predicted have no spans"
    alone = [
        [layer for layer, about in own.items() if about["spans"] and not other[layer]["spans"]]
        for own, other in (sides, reversed(sides))
    ]
    named = {*alone[0], *alone[1]} if [len(layers) for layers in alone] == [1, 1] else set()
    if named:
        gold, predicted = map(_quote, (*alone[0], *alone[1]))
        hint = "; layers=... gives both one name" if inputs[SIDES[0]]["files"] else ""
        yield f"gold alone has layer {gold}, and predicted alone {predicted}{hint}"
    lacking = layers_not_predicted(inputs)
    for layer in (layer for layer in sides[0] if layer not in named and layer not in lacking):
        of_sides = [layers[layer] for layers in sides]
        without = [side for side, about in zip(SIDES, of_sides, strict=True) if not about["spans"]]
        if without:
            has, about = ("has" if len(without) == 1 else "have"), inputs[SIDES[0]]
            may_misname = len(without) == 2 and about["files"] and of_sides[0]["source"] is None
            hint = ""
            if may_misname and layer != DEFAULT_LAYER:
                hint = f"; clueval formats {about['format']} says what its source can be"
            yield f"layer {_quote(layer)}: {' and '.join(without)} {has} no spans{hint}"
            continue
        choices = result.signature.choices
        leaving_out = [name for key, name in _LEAVING_OUT.items() if choices.get(key, "all") != "all"]
        if leaving_out:
            yield from _none_left(layer, of_sides, metrics, leaving_out)
        if choices.get("where") == "all":
            yield from _one_sided(layer, metrics)
            tags = {side for side in SIDES if (side, layer) in result.tagged}
            for side, about in inputs.items():
                written = _WITH_POSITIONS.issuperset(about["format"].split("+"))
                if about["layers"][layer]["scheme"] is not None or not written:
                    tags.add(side)
            if len(tags) < len(SIDES):
                has_table = any(about["format"] == "spans" for about in inputs.values())
                yield from _none_equal(layer, result.bag, has_table)


def repairs_of(result: Any) -> Iterator[str]:
    """Yield a message on the ill-formed tags of each side of a `Result`, which were repaired or discarded."""
    how = result.signature.choices.get("invalid")
    for side, number in result.repaired_tags.items():
        if number and how == "discard":
            yield f"{side} has {with_noun(number, 'ill-formed tags')}; such spans are discarded"
        elif number:
            yield f"{side} has {with_noun(number, 'repaired tags')}: invalid ones, read as conlleval does"


def _one_sided(layer: str, metrics: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield a warning if no label is on both sides, else for labels of one side that are like labels of the other."""
    counts: dict[str, tuple[int, ...]] = {}  # of gold and predicted spans; muc counts a wrong label as gold's
    for reports in metrics.values():
        if MERGED in reports and "labelled" not in reports[MERGED]:  # its labels are joined, of all layers
            continue
        report = _report_of(layer, reports)
        for label, entry in chain.from_iterable(report.get(name, {}).items() for name in LABELS_BELOW):
            rows = [entry]  # mostly, and there may be many labels
            if not isinstance(entry, dict) or not entry.keys() >= {*SIDES}:
                from clueval.results.rows import rows_of  # few metrics name the sides otherwise

                rows = [row for _, row in rows_of({"sequence": layer}, {LABELS_BELOW[0]: {label: entry}})]
            for of_sides in ((row["gold"], row["predicted"]) for row in rows):
                if None not in of_sides:
                    counts[label] = tuple(map(min, of_sides, counts[label])) if label in counts else of_sides
    gold, predicted = (
        [label for label, of_sides in counts.items() if of_sides[side] and not of_sides[1 - side]]
        for side in (0, 1)
    )
    alike = [(label, near) for label in gold[:_COMPARED] if (near := _similar(label, predicted[:_COMPARED]))]
    maps = ",".join(f"{label}={near}" for label, near in alike[:_LISTED])
    advice = f"label_map={maps!r} makes them equal" if alike else "label_map=... gives labels new names"
    if any(differ_in_form(*labels) for labels in alike):
        advice = f"labels that look the same have other characters (Unicode NFC and NFD); {advice}"
    if any(label.strip() == near.strip() for label, near in alike):
        advice = "remove the white space at the ends of labels"
    if gold and predicted and not any(all(of_sides) for of_sides in counts.values()):
        one, two = (
            ", ".join([*map(_quote, labels[:_LISTED]), *["..."] * (len(labels) > _LISTED)])
            for labels in (gold, predicted)
        )
        yield (f"layer {_quote(layer)}: no label is on both sides: gold has {one}, predicted {two}; {advice}")
    elif alike:
        pairs = ", ".join(f"{_quote(label)} and {_quote(near)}" for label, near in alike[:_LISTED])
        yield f"layer {_quote(layer)}: gold and predicted have different labels {pairs}; {advice}"


def _none_left(
    layer: str,
    of_sides: Sequence[Mapping[str, Any]],
    metrics: Mapping[str, Mapping[str, Any]],
    leaving_out: Sequence[str],
) -> Iterator[str]:
    """Yield a warning for each side whose spans were all left out before counting, by one of some options."""
    from clueval.results.rows import headline_row  # few options leave out spans

    for side, about in zip(SIDES, of_sides, strict=True):
        rows = [headline_row({"sequence": layer}, _report_of(layer, reports)) for reports in metrics.values()]
        if any(row is not None and row[side] == 0 for row in rows):
            number = about["spans"]
            yield (
                f"layer {_quote(layer)}: {side} has {with_noun(number, 'spans')}, and none is left to count; "
                f"check {' and '.join(leaving_out)}"
            )


def _report_of(layer: str, reports: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the part of a metric's reports that has the counts of a layer; empty without one."""
    report = reports.get(layer) or reports.get(MERGED) or {}
    if isinstance(report.get("labelled"), Mapping):
        report = report["labelled"].get(layer, {}).get("1", {})
    part = report.get("tokens", report)  # of coverage
    return part if isinstance(part, Mapping) else {}


def _similar(label: str, others: Iterable[str]) -> str | None:
    """Return the label that is the beginning of another one, or begins with it, or is most similar; None without one.

    Labels with other numbers are others.

    >>> _similar("PER", ["LOC", "person"]), _similar("LOC", ["ORG"]), _similar("locaton", ["LOCATION"])
    ('person', None, 'LOCATION')
    >>> _similar("class102", ["class142", "class10"]), _similar("Q42", ["q42-person"])
    (None, 'q42-person')
    """
    text = label.casefold()
    numbers = re.findall(r"\d+", text)
    folded = {
        other.casefold(): other
        for other in others
        if not numbers or re.findall(r"\d+", other) in ([], numbers)
    }
    near = [
        name
        for name in folded
        if text == name
        or (min(len(text), len(name)) > 1 and (name.startswith(text) or text.startswith(name)))
    ]
    if not near:
        from clueval.files.names import near_names  # only where labels differ

        near = near_names(text, folded)
    return folded[min(near, key=len)] if near else None


def _none_equal(layer: str, bag: Bag, has_table: bool) -> Iterator[str]:
    """Yield a warning if most spans of a side overlap the other side, directly or through others, and none is equal.

    Takes the distinct cases up to the first with equal spans.
    """
    numbers: dict[int, list[int]] = {}  # of the spans of both sides in a case, by the number of its key
    for number, (sequence, key) in enumerate(bag.keys):
        if sequence == layer:
            ranges = [[entry[:2] for entry in key[HEAD:] if entry[2] == side] for side in range(len(SIDES))]
            if not {*ranges[0]}.isdisjoint(ranges[1]):
                return
            numbers[number] = list(map(len, ranges))
    all_cases = bag.in_one_place().places.get((), ())
    occurrences = [(number, times) for number, times in pairs_in(all_cases) if number in numbers]
    for side, name in enumerate(SIDES):
        total = sum(times * numbers[number][side] for number, times in occurrences)
        overlapping = sum(
            times * numbers[number][side] for number, times in occurrences if all(numbers[number])
        )
        if total >= _MANY and 2 * overlapping > total:
            remedy = "name their column end_inclusive, or add 1" if has_table else "add 1"
            yield (
                f"layer {_quote(layer)}: {overlapping:,} of {total:,} {name} spans overlap others, and none is equal "
                "to one; starts count from 0, and ends are exclusive: if the ends of one side are inclusive, "
                f"{remedy}; if its starts count from 1, subtract 1"
            )
            return


def _quote(name: str) -> str:
    """Return the name of a layer or label, quoted and not too long."""
    return repr(cut_label(name))


def empty_files(paths: Iterable[Path]) -> Iterator[str]:
    """Yield a warning for files of no bytes."""
    empty: dict[Path, None] = {}
    for path in paths:
        try:
            if not path.stat().st_size:
                empty[path] = None
        except OSError:  # reading it has raised the error
            continue
    if empty:
        more = f" and {len(empty) - _LISTED} more" if len(empty) > _LISTED else ""
        names = ", ".join(map(str, [*empty][:_LISTED]))
        yield f"{names}{more} {'is' if len(empty) == 1 else 'are'} empty"


def swapped(gold: object, predicted: object) -> Iterator[str]:
    """Yield a warning for paths whose names say that predicted was given first."""
    if not (isinstance(gold, str | Path) and isinstance(predicted, str | Path)):
        return
    if "pred" in Path(gold).name.lower() and "gold" in Path(predicted).name.lower():
        yield f"{gold} counts as gold, because it comes first, and {predicted} as predicted"


def layers_not_predicted(inputs: Mapping[str, Any]) -> list[str]:
    """Return the layers that were named for gold only, if predicted has spans of another.

    >>> gold = {"a": {"source": 2, "spans": 3}, "b": {"source": 3, "spans": 1}}
    >>> predicted = {"a": {"source": 2, "spans": 1}, "b": {"source": None, "spans": 0}}
    >>> layers_not_predicted({"gold": {"layers": gold}, "predicted": {"layers": predicted}})
    ['b']
    """
    gold, predicted = (inputs.get(side, {}).get("layers", {}) for side in ("gold", "predicted"))
    if not any(about["spans"] for about in predicted.values()):
        return []
    lacking = [name for name, about in predicted.items() if about["source"] is None and not about["spans"]]
    return [name for name in lacking if name in gold and gold[name]["source"] is not None]
