"""The fast way of counting gives the bag that counting the documents gives, or nothing."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import clueval
from clueval.core.bag import Bag, Bounds, pairs_in
from clueval.core.count import EITHER, Plan, count, sequences_of
from clueval.core.document import Document, Group, Layers, Pair
from clueval.core.exact import Exact
from clueval.core.levels import Levels
from clueval.core.span import Span
from clueval.core.tags import decode, decode_tags
from clueval.files.errors import CluevalError
from clueval.formats.options import FormatOptions, Reading
from clueval.metrics.fair import Fair
from clueval.reading import clusters
from clueval.reading.clusters import bag_of_tags
from clueval.reading.column_files import bag_of_columns
from clueval.reading.passages import Sizes
from clueval.reading.source import Source, source_of
from clueval.reading.triples import bag_of_rows, bag_of_triples
from clueval.transforms.changes import Alternatives
from clueval.transforms.counted_spans import Fragments
from tests.routes import FORMATS, SCHEMES, Files, corpora, settings_of, written
from tests.routes import plan_of as plan_of_routes

Options = Mapping[str, Any]

COLUMN_FORMS = [name for name, form in FORMATS.items() if form.columns and form.files == 1]
"""The shapes of column files, of which `hipe` has spans that go on over the ends of sentences."""

UNITS = (None, "document", "sentence", EITHER)


# Both ways


def plan_of(options: Options, units: str | None = None) -> Plan:
    """The plan of the options of `tests.routes`."""
    return plan_of_routes(options, (Exact(), Levels()), units, (Alternatives(),))


def source(path: Path, reading: Options) -> Source:
    reading = dict(reading)
    layers = reading.pop("layers", None)
    return source_of(path, FormatOptions.of(Reading(**reading), layers))


def documents(file: Source) -> list[Document]:
    return list(file.again().documents())


def of_documents(sources: Sequence[Source], plan: Plan, bounds: Bounds = Bounds()) -> Bag:  # noqa: B008  # it cannot be changed
    """The bag of the documents of files. Raises the errors of the files."""
    sides = list(map(documents, sources))
    make: Callable[..., Any] = Pair if len(sides) == 2 else lambda *each: Group(each)
    texts = [[make(*each)] for each in zip(*sides, strict=True)]
    bag = count(texts, plan, list(sources[0].options.layers or ["label"]), bounds)
    for name, scheme in bag.read.schemes().items():
        assert scheme is None or name[0] in plan.sides
    return bag


def value(bag: Bag) -> dict[str, Any]:
    """What a bag has, with keys in place of their numbers."""
    keys = list(bag.keys)
    places = {place: set(pairs_in(row)) for place, row in bag.places.items()}
    read = bag.read
    return {
        "layers": bag.layers,
        "places": {place: {keys[number]: times for number, times in row} for place, row in places.items()},
        "documents": list(bag.documents.items()),
        "shared": bag.shared,
        "positions": bag.positions,
        "notes": bag.notes,
        "read": (read.spans, read.neighbours, read.keys, read.values, read.units),
    }


def tallies(bag: Bag, plan: Plan) -> list[Any]:
    found = bag.tallies_of(plan.metrics, sequences_of(bag, plan))
    return [(place, sequence, metric.name, +Counter(tally)) for place, sequence, metric, tally in found]


def same(sources: Sequence[Source], plan: Plan) -> bool:
    """Whether the files are counted the fast way; then the bag is that of their documents."""
    fast = bag_of_columns(sources, plan)
    if fast is not None:
        assert value(fast) == value(of_documents(sources, plan))
    return fast is not None


def written_files(folder: Path, form: str, scheme: str, number: int) -> tuple[Files, list[Source]]:
    files = written(folder, form, corpora(3, scheme, documents=number))
    return files, [source(path, files.reading) for path in (files.gold, files.predicted)]


# Column files


@pytest.mark.parametrize("form", COLUMN_FORMS)
def test_column_files_have_the_bag_of_their_documents(tmp_path: Path, form: str) -> None:
    chance = random.Random(form)
    for number in (3, 12):
        folder = tmp_path / str(number)
        folder.mkdir()
        _, sources = written_files(folder, form, chance.choice([*SCHEMES]), number)
        settings: list[Options] = [{}, {"merge": True}, *chance.sample(settings_of(FORMATS[form]), 4)]
        counted = [same(sources, plan_of(each, chance.choice(UNITS))) for each in settings]
        assert any(counted) == (form != "hipe")


@pytest.mark.long
@pytest.mark.parametrize("form", COLUMN_FORMS)
def test_column_files_have_the_bag_of_their_documents_with_every_setting(tmp_path: Path, form: str) -> None:
    for number, scheme in enumerate(SCHEMES):
        folder = tmp_path / str(number)
        folder.mkdir()
        _, sources = written_files(folder, form, scheme, random.Random(form + scheme).choice([4, 12]))
        for setting in settings_of(FORMATS[form])[number % 3 :: 3]:
            same(sources, plan_of(setting, random.Random(str(setting)).choice(UNITS)))


@pytest.mark.parametrize("invalid", ["conlleval", "discard", "error"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_ill_formed_tags_are_treated_as_in_documents(tmp_path: Path, scheme: str, invalid: str) -> None:
    files, _ = written_files(tmp_path, "vrt", scheme, 4)
    for name in (None, "BIO", "IOB1", "BIOES", "IOE1"):
        reading = {**files.reading, "scheme": name, "invalid": invalid}
        sources = [source(path, reading) for path in (files.gold, files.predicted)]
        plan = plan_of({}, "document")
        try:
            slow = of_documents(sources, plan)
            slow.read.repaired("gold")
            slow.read.repaired("predicted")
        except CluevalError:
            assert bag_of_columns(sources, plan) is None
            continue
        fast = bag_of_columns(sources, plan)
        if name == "IOE1" and invalid == "discard":
            assert fast is None
        else:
            assert fast is not None
            assert value(fast) == value(slow)


def test_few_clusters_are_counted_at_a_time_with_the_same_bag(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, sources = written_files(tmp_path, "vrt, the last column", "BIO, ill-formed", 12)
    monkeypatch.setattr(clusters, "MOST_CLUSTERS", 3)
    monkeypatch.setattr(clusters, "MOST_ENTRIES", 5)

    for units in UNITS:
        assert same(sources, plan_of({"where": ["domain=a"]}, units))


@pytest.mark.parametrize("most", [3, 1 << 15])
def test_documents_of_one_id_are_places_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(clusters, "MOST_CLUSTERS", most)
    monkeypatch.setattr(clusters, "MOST_ENTRIES", most)
    texts = corpora(9, "BIO, ill-formed", documents=15)
    for number, pair in enumerate(zip(*texts, strict=True)):
        for text in pair:
            object.__setattr__(text, "id", f"d{number % 3}")
    for form in ("vrt, the last column", "vrt"):
        files = written(tmp_path, form, texts)
        sources = [source(path, files.reading) for path in (files.gold, files.predicted)]
        for units in ("document", "sentence"):
            for sizes in (Sizes(), Sizes(block=64)):
                fast = bag_of_columns(sources, plan_of({}, units), sizes=sizes)
                assert fast is not None
                assert value(fast) == value(of_documents(sources, plan_of({}, units)))


def test_a_bag_that_is_full_is_folded_with_the_same_counts(tmp_path: Path) -> None:
    _, sources = written_files(tmp_path, "vrt", "BIO", 12)
    plan = plan_of({}, "document")

    bag = bag_of_columns(sources, plan, Bounds(keys=3))

    assert bag is not None
    assert bag.folded
    assert tallies(bag, plan) == tallies(of_documents(sources, plan), plan)


@pytest.mark.parametrize("form", ["vrt", "conll", "vrt, irregular"])
def test_any_number_of_sides_is_counted_together(tmp_path: Path, form: str) -> None:
    files, (gold, predicted) = written_files(tmp_path, form, "BIO, ill-formed", 12)
    third = tmp_path / f"third{files.predicted.suffix}"
    third.write_text(files.predicted.read_text("utf-8").replace("\tB-PER", "\tO"), encoding="utf-8")
    sources = [gold, predicted, source(third, files.reading)]

    for sides in (sources, sources[:1]):
        for units in (None, "document", "sentence"):
            plan = Plan((), units=units, sides=tuple(map(str, range(len(sides)))))
            assert same(sides, plan)


def test_a_large_case_is_counted_where_it_is_found(tmp_path: Path) -> None:
    lines = [["x\tB-A\n"] + ["x\tI-A\n"] * 399, ["x\tB-A\n"] * 400]
    paths = [tmp_path / name for name in ("gold.vrt", "predicted.vrt")]
    for path, own in zip(paths, lines, strict=True):
        path.write_text(f'<text id="d">\n<s>\n{"".join(own)}</s>\n</text>\n')
    sources = [source(path, {}) for path in paths]
    plan = plan_of({})

    bag = bag_of_columns(sources, plan)

    assert bag is not None
    assert tallies(bag, plan) == tallies(of_documents(sources, plan), plan)


def test_what_is_passed_over_is_counted_once(tmp_path: Path) -> None:
    _, sources = written_files(tmp_path, "conll, numbers first", "BIO", 4)

    bag = bag_of_columns(sources, plan_of({}))

    assert bag is not None
    counted = [each.file.passed_over["multiword tokens"] for each in sources]
    list(sources[0].documents())
    assert counted[0] > 0
    assert counted[0] * 2 == sources[0].file.passed_over["multiword tokens"]


GOOD = '<text id="d">\n<s>\nAnna\tB-PER\t1\nlebt\tO\t2\n</s>\n<s>\nsie\tB-PER\t3\n</s>\n</text>\n' * 3

BROKEN: dict[str, Callable[[str], str | bytes]] = {
    "no tag": lambda text: text.replace("lebt\tO", "lebt\tlebt"),
    "a tag with an empty label": lambda text: text.replace("B-PER\t3", "B-\t3"),
    "a column is missing": lambda text: text.replace("lebt\tO\t2", "lebt\tO"),
    "a column more": lambda text: text.replace("lebt\tO\t2", "lebt\tO\t2\tx"),
    "no token": lambda text: text.replace("lebt\tO", "\tO"),
    "another token": lambda text: text.replace("lebt", "lebte"),
    "another number of tokens": lambda text: text.replace("sie\tB-PER\t3\n", "sie\tB-PER\t3\nx\tO\t4\n"),
    "a sentence more": lambda text: text.replace("lebt", "</s>\n<s>\nlebt"),
    "a sentence less": lambda text: text.replace("<s>\nsie\tB-PER\t3\n</s>\n", ""),
    "a document more": lambda text: text + GOOD,
    "another id": lambda text: text.replace('"d"', '"e"'),
    "another token id": lambda text: text.replace("O\t2", "O\t7"),
    "a token id twice": lambda text: text.replace("O\t2", "O\t1"),
    "a malformed tag": lambda text: text.replace("<s>", "<s", 1),
    "the end is missing": lambda text: text[: -len("</text>\n")],
    "not UTF-8": lambda text: text.replace("lebt", "l\xe4bt").encode("latin-1"),
    "a NUL": lambda text: text.replace("lebt", "le\0bt"),
    "a lone CR": lambda text: text.replace("lebt", "le\rbt"),
    "two schemes": lambda text: text.replace("B-PER\t3", "L-PER\t3").replace("B-PER\t1", "S-PER\t1"),
    "a damaged gzip file": lambda text: gzip.compress(text.encode())[:-20],
}


PLANS = {
    "everything": plan_of({}),
    "sentences": plan_of({}, "sentence"),
    "characters": plan_of({"unit": "character"}),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("mistake", BROKEN)
def test_a_file_with_an_error_is_left_to_documents(tmp_path: Path, mistake: str, plan: str) -> None:
    """Whatever the mistake, and wherever in the file: in its first lines, and behind many regular ones."""
    broken = BROKEN[mistake](GOOD)
    data = broken if isinstance(broken, bytes) else broken.encode()
    many = "" if mistake == "a damaged gzip file" else GOOD * 40
    reading = {"layers": {"label": 2}, "token_id": 3 if "token id" in mistake else None}
    for before in ("", many):
        gold, predicted = tmp_path / "gold.vrt", tmp_path / "predicted.vrt"
        gold.write_bytes(before.encode() + GOOD.encode())
        predicted.write_bytes(before.encode() + data)
        sources = [source(path, reading) for path in (gold, predicted)]

        assert bag_of_columns(sources, PLANS[plan]) is None
        with pytest.raises(CluevalError):
            clueval.score(gold, predicted, **reading)
    predicted.write_bytes(gold.read_bytes())
    assert bag_of_columns(sources, PLANS[plan]) is not None


def test_a_plan_that_needs_documents_is_left_to_them(tmp_path: Path) -> None:
    _, sources = written_files(tmp_path, "vrt", "BIO", 4)
    plans = [
        plan_of({"unit": "character", "by": "document"}),
        replace(plan_of({}), steps=(Fragments("hull"),)),
        replace(plan_of({"where": ["entity=PER"]}), metrics=(Fair(),)),
    ]

    assert [bag_of_columns(sources, plan) for plan in plans] == [None, None, None]


@pytest.mark.parametrize("error", [ValueError, CluevalError, KeyError])
def test_a_mistake_of_the_fast_way_is_not_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error("a mistake")

    _, sources = written_files(tmp_path, "vrt", "BIO", 4)
    monkeypatch.setattr(clusters, "keys_of", fail)

    with pytest.raises(error, match="a mistake"):
        bag_of_columns(sources, plan_of({}))
    with pytest.raises(error, match="a mistake"):
        bag_of_tags([[["B-A"]], [["O"]]], plan_of({}), [Reading()] * 2, [])


# Lists of tags


def of_tags(
    sides: Sequence[Sequence[Sequence[str]]], plan: Plan, readings: Sequence[Reading], ids: Sequence[str]
) -> Bag:
    """The bag of sentences as documents. Raises the errors of tags."""
    pairs = []
    for id_, *sentences in zip(ids, *sides, strict=True):
        made = [
            Document(
                id_,
                Layers(
                    {},
                    {
                        "label": decode_tags(tags, reading.scheme, reading.invalid or "conlleval")
                        if reading.scheme
                        else list(decode(tags))
                    },
                ),
                tokens=("",) * len(tags),
                tags={"label": tags},
            )
            for tags, reading in zip(sentences, readings, strict=True)
        ]
        pairs.append([Pair(*made)])
    bag = count(pairs, plan)
    bag.read.schemes()
    return bag


def tags_differ(seed: int) -> str:
    """How a random corpus is counted. Raises `AssertionError` if the bag is another one."""
    chance = random.Random(seed)
    scheme, number = chance.choice([*SCHEMES]), chance.choice([1, 3, 9, 10, 12, 30])
    texts = corpora(seed, scheme, documents=number)
    sides: list[list[list[str]]] = [
        [[row[1] for row in rows] for text in side for rows in [*text.sentences, []]] for side in texts
    ]
    name = chance.choice([None, None, "IO", scheme.split(",")[0] if scheme.startswith("B") else None])
    name = "BIO" if name and name.startswith("BIO ") else name
    readings = [
        Reading(scheme=name, invalid=chance.choice(["conlleval", "discard", "error"]) if name else None)
        for _ in sides
    ]
    where: dict[str, frozenset[str]] = {}
    if chance.random() < 0.3:
        where["label"] = frozenset({"PER"})
    if chance.random() < 0.3:
        where[chance.choice(["document", "x"])] = frozenset({"1", "d2", "5"})
    plan = replace(
        plan_of({"merge": chance.random() < 0.2, "by": chance.choice([(), ("document",)])}), where=where
    )
    plan = replace(plan, units=chance.choice(UNITS))
    beginning = "d" if chance.random() < 0.4 else ""
    ids = [f"{beginning}{each}" for each in range(len(sides[0]))]
    fast = bag_of_tags(sides, plan, readings, ids)
    try:
        slow = of_tags(sides, plan, readings, ids)
        error = False
    except CluevalError:
        error = True
    if fast is None:
        return "refused" if error else "left"
    assert not error
    assert value(fast) == value(slow)
    return "counted"


def test_lists_of_tags_have_the_bag_of_their_documents() -> None:
    found = Counter(map(tags_differ, range(70)))

    assert found["counted"] > 35
    assert found["left"] < 20  # without tokens, or with a tag outside a scheme that documents do not need


@pytest.mark.long
def test_many_lists_of_tags_have_the_bag_of_their_documents() -> None:
    assert Counter(map(tags_differ, range(1000, 2000)))["counted"] > 500


class Odd:
    """A value that cannot be compared."""

    __hash__ = None  # type: ignore[assignment]  # as of an array

    def __eq__(self, other: object) -> bool:
        raise ValueError("no truth value")


WRONG: dict[str, Sequence[Any]] = {
    "a side that is an iterator": [iter([["O"]]), [["O"]]],
    "another number of sentences": [[["B-A"]], [["B-A"], ["O"]]],
    "another number of tags": [[["B-A", "O"]], [["B-A"]]],
    "a sentence that is a text": [["O"], ["O"]],
    "a tag that is a number": [[["B-A", 1]], [["B-A", 1]]],
    "a tag that is None": [[["B-A", None]], [["B-A", "O"]]],
    "a tag that is a list": [[["B-A", ["O"]]], [["B-A", "O"]]],
    "a tag that cannot be compared": [[["B-A", Odd()]], [["B-A", Odd()]]],
    "no tag": [[["B-A", "x"]], [["B-A", "O"]]],
    "two schemes": [[["S-A", "L-A"]], [["B-A", "O"]]],
    "no tokens": [[[]], [[]]],
    "nothing": [[], []],
}


def test_each_different_row_is_a_character_of_its_own_at_which_no_cluster_is_cut() -> None:
    rows = clusters.RowCharacters(1)

    characters = "".join(rows[1, f"B-{number}"] for number in range(1_000))

    assert len(set(characters)) == 1_000
    assert characters.split() == [characters]
    assert [rows.rows[character] for character in characters] == [(1, f"B-{n}") for n in range(1_000)]


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("units", UNITS)
def test_lists_that_are_not_plain_tags_are_left_to_documents(wrong: str, units: str | None) -> None:
    sides, readings = WRONG[wrong], [Reading()] * 2
    ids = [str(number) for number, _ in enumerate(sides[0])]

    assert bag_of_tags(sides, plan_of({}, units), readings, ids) is None


def test_an_iterator_is_left_as_it_is() -> None:
    sentences = iter([["O"]])

    assert bag_of_tags([sentences, [["O"]]], plan_of({}), [Reading()] * 2, []) is None
    assert next(sentences) == ["O"]


@pytest.mark.parametrize("invalid", ["discard", "error"])
def test_tags_whose_scheme_must_be_known_are_left_to_documents(invalid: str) -> None:
    readings = [Reading(invalid=invalid)] * 2

    assert bag_of_tags([[["B-A"]], [["B-A"]]], plan_of({}), readings, []) is None


# Plain spans


def some_rows(chance: random.Random, kind: str) -> list[tuple[int, int, str]]:
    rows, at = [], 0
    for _ in range(chance.choice([0, 0, 1, 3, 6])):
        if kind == "flat":
            start = at + chance.randint(0, 2)
            at = start + chance.randint(1, 3)
            rows.append((start, at, chance.choice("AB")))
        else:
            start = chance.randint(0, 14)
            rows.append((start, start + chance.randint(kind != "empty", 4), chance.choice("AB")))
    if chance.random() < 0.3:
        chance.shuffle(rows)
    return rows


def some_details(chance: random.Random, rows: Sequence[Any]) -> list[Any]:
    """Features and ids for some rows, or nothing for any of them."""
    if chance.random() < 0.5:
        return []
    return [
        ({"kind": "x"} if chance.random() < 0.5 else {}, f"T{place}", place) for place in range(len(rows))
    ]


def spans_differ(seed: int) -> str:
    """How a random corpus is counted. Raises `AssertionError` if the bag is another one."""
    chance = random.Random(seed)
    kind, number = chance.choice(["flat", "flat", "nested", "empty"]), chance.choice([1, 3, 9, 10, 12, 30])
    pairs = []
    for _ in range(number):
        gold, kept = some_rows(chance, kind), chance.choice([0, 0.7, 1])
        pairs.append(
            (gold, [row for row in gold if chance.random() < kept] if kept else some_rows(chance, kind))
        )
    where: dict[str, frozenset[str]] = {}
    is_told_apart = chance.random() < 0.2
    if is_told_apart and chance.random() < 0.3:
        where["label"] = frozenset({"A"})
    if is_told_apart and chance.random() < 0.3:
        where[chance.choice(["document", "m", "x"])] = frozenset({"1", "d2", "5"})
    plan = Plan(
        (Exact(), *([Levels()] if chance.random() < 0.5 else [])),
        merge=is_told_apart and chance.random() < 0.2,
        where=where,
        by=chance.choice([(), ("document",), ("m",)]) if is_told_apart else (),
        units=chance.choice([*UNITS, "m"]) if is_told_apart else None,
    )
    names = [f"d{each}" for each in range(number)] if chance.random() < 0.4 else None
    ids = [*map(str, range(number))] if names is None else names
    if chance.random() < 0.5:
        fast = bag_of_triples(*map(list, zip(*pairs, strict=True)), plan)
        made = [
            [Document(id_, {"label": [Span(*row) for row in rows]} if rows else {}) for rows in pair]
            for id_, pair in zip(ids, pairs, strict=True)
        ]
    else:
        text = "x" * 30 if chance.random() < 0.5 else None
        metadata = [{"m": chance.choice("12")} if chance.random() < 0.8 else {} for _ in pairs]
        ordered = chance.random() < 0.3
        made = [
            [
                Document(
                    id_,
                    Layers({}, {"label": rows}, None, {"label": some_details(chance, rows)}),
                    text=text,
                    unit="character",
                    metadata=of_text,
                    ordered=ordered,
                )
                for rows in pair
            ]
            for id_, pair, of_text in zip(ids, pairs, metadata, strict=True)
        ]
        fast = bag_of_rows(made, plan)
        if ordered and any(b[:2] <= a[:2] for pair in pairs for rows in pair for a, b in pairwise(rows)):
            assert fast is None
            return "left"
    try:
        slow = count([[Pair(*pair)] for pair in made], plan)
    except CluevalError:
        assert fast is None
        return "refused"
    if plan.where or plan.by or plan.units or plan.merge:
        assert fast is None
        return "left"
    assert fast is not None
    assert value(fast) == value(slow)
    return "counted"


def test_plain_spans_have_the_bag_of_their_documents() -> None:
    assert Counter(map(spans_differ, range(80)))["counted"] > 40


@pytest.mark.long
def test_many_plain_spans_have_the_bag_of_their_documents() -> None:
    assert Counter(map(spans_differ, range(1000, 3000)))["counted"] > 1000


NOT_TRIPLES: dict[str, Any] = {
    "a list for a tuple": [[0, 1, "A"]],
    "no label": [(0, 1)],
    "a float": [(0, 1.0, "A")],
    "a truth value": [(False, 1, "A")],
    "a label that is None": [(0, 1, None)],
    "a start below 0": [(-1, 1, "A")],
    "an end before the start": [(2, 1, "A")],
    "a span": [Span(0, 1, "A")],
    "an iterator": iter([(0, 1, "A")]),
}


@pytest.mark.parametrize("wrong", NOT_TRIPLES)
def test_lists_that_are_not_plain_spans_are_left_to_documents(wrong: str) -> None:
    assert bag_of_triples([NOT_TRIPLES[wrong]], [[]], plan_of({})) is None


ROWS = Layers({}, {"label": [(0, 1, "A")]})

NOT_PLAIN: dict[str, Document] = {
    "spans": Document("d", {"label": [Span(0, 1, "A")]}),
    "another layer": Document("d", Layers({}, {"label": [], "x": []})),
    "a group": Document("d", Layers({}, {"label": [(0, 1, "A")]}, None, {"label": [({"group": "1"}, 1, 1)]})),
    "spans without a place": Document("d", ROWS, metadata={"unplaced": "1"}),
    "tags": Document("d", ROWS, tokens=["x"], tags={"label": ["B-A"]}),
    "another unit": Document("d", ROWS, unit="character", text="x"),
    "another start": Document("d", Layers({}), start=3),
}


@pytest.mark.parametrize("more", NOT_PLAIN)
def test_documents_of_more_than_rows_are_left_to_the_slow_way(more: str) -> None:
    plain = Document("d", ROWS)

    assert bag_of_rows([(plain, plain)], plan_of({})) is not None
    assert bag_of_rows([(plain, plain), (plain, NOT_PLAIN[more])], plan_of({})) is None


def test_ordered_documents_have_the_bag_of_their_spans_by_place_and_number(tmp_path: Path) -> None:
    places = [
        [(0, 4, "B", 1), (0, 4, "A", 0), (2, 6, "A", 7)],
        [(0, 4, "A", 3), (0, 4, "B", 2), (9, 9, "C", 4)],
    ]
    for side, of_side in zip(("gold", "predicted"), places, strict=True):
        items = [{"start": s, "end": e, "type": t, "id": n, "features": {"k": "v"}} for s, e, t, n in of_side]
        value_of = {"text": "x" * 10, "offset_type": "p", "annotation_sets": {"Key": {"annotations": items}}}
        (tmp_path / side).write_text(json.dumps(value_of))
    files = [tmp_path / "gold", tmp_path / "predicted"]

    fast = clueval.score(*files, gold_set="Key", predicted_set="Key", metrics="exact")
    documents = [list(clueval.read(file, annotation_set="Key")) for file in files]

    slow = clueval.score(*documents, metrics="exact")
    fast.save(tmp_path / "fast.json")
    slow.save(tmp_path / "slow.json")
    cases = [
        {line for line in (tmp_path / name).read_text().splitlines() if line.startswith('["label"')}
        for name in ("fast.json", "slow.json")
    ]
    assert fast.scores() == slow.scores()
    assert cases[0] == cases[1] != set()


def test_nothing_is_left_to_documents() -> None:
    assert bag_of_rows([], plan_of({})) is None
    assert bag_of_triples([], [], plan_of({})) is None
    assert bag_of_triples([[]], [], plan_of({})) is None
