"""Saved bags: a loaded bag is the one that was saved; what is not refused can be counted; there is no text in them."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import pytest

import clueval
from clueval import load_result, score
from clueval.core.bag import Bag, Read, pairs_in
from clueval.core.count import EITHER, DocumentPlace, Plan, count, sequences_of
from clueval.core.document import Document, Group, Pair
from clueval.core.exact import Exact
from clueval.core.levels import Levels
from clueval.core.metric import AnyMetric, Tally
from clueval.core.span import Span
from clueval.files.errors import CluevalError, FormatError, UsageError
from clueval.metrics.confusion import Confusion
from clueval.metrics.curve import Curve
from clueval.metrics.fair import Fair
from clueval.metrics.gate import Gate
from clueval.metrics.muc import Muc
from clueval.metrics.strings import Strings
from clueval.results.saved import is_saved, load_bag, save_bag, saved_metric
from tests.random_corpora import corpus, pairs_of

METRICS: dict[str, tuple[AnyMetric, ...]] = {
    "flat": (Exact(), Levels(), Confusion()),
    "nested": (Exact(), Muc(), Strings()),
    "empty": (Exact(), Gate()),
    "gaps": (Exact(), Fair()),
    "tokens": (Exact(), Fair()),
    "features": (Exact(), Gate(features=("kind",))),
    "mixed": (Exact(), Curve(Exact(), "score")),
}
SCORED = "mixed"
"""The shape in which every span has a score."""


def saved(bag: Bag, folder: Path, name: str = "a.clueval", **facts: Any) -> Path:
    save_bag(bag, {"metrics": list(map(saved_metric, bag.metrics)), **facts}, folder / name)
    return folder / name


def loaded(path: Path, metrics: Sequence[AnyMetric]) -> Bag:
    return load_bag(path)[0]


def again(bag: Bag, folder: Path) -> Bag:
    return loaded(saved(bag, folder), bag.metrics)


def state(bag: Bag) -> dict[str, Any]:
    """All that a bag has, by value and in its order; numbers of cases stand for the cases."""
    return {
        "metrics": bag.metrics,
        "layers": bag.layers,
        "keys": list(bag.keys),
        "places": {place: sorted(pairs_in(row)) for place, row in bag.places.items() if row},
        "order": list(bag.documents),
        "documents": dict(bag.documents),
        "shared": bag.shared,
        "positions": bag.positions,
        "tallies": {
            (place, of): sorted(map(repr, tally.items()))
            for place, tallies in bag.tallies.items()
            for of, tally in tallies.items()
            if tally
        },
        "folded": bag.folded,
        "notes": list(bag.notes.items()),
        "read": vars(bag.read) | {"unplaced": []},
    }


def reports(bag: Bag, metrics: Sequence[AnyMetric]) -> Any:
    """The report of each metric on each sequence, of all places together."""
    everything = bag.grouped(lambda place: ())
    sequences = sequences_of(bag, Plan(tuple(metrics)))
    return [
        (sequence, metric.name, metric.scores(tally, [sequence]))
        for _, sequence, metric, tally in everything.tallies_of(metrics, sequences)
    ]


def random_bag(random: Random, kind: str, plan: dict[str, Any] | None = None) -> Bag:
    metrics = METRICS[kind]
    made = corpus(random, kind)
    texts = pairs_of(made)
    if kind == SCORED:
        texts = [[Pair(pair.gold, numbered(pair.predicted)) for pair in pairs] for pairs in texts]
    if any(isinstance(metric, Strings) for metric in metrics) and texts[0][0].gold.tokens is None:
        metrics = metrics[:2]
    settings = random.choice(
        [{}, {"by": ("m",)}, {"units": "document"}, {"units": EITHER, "by": ("m", "document")}]
    )
    if kind == "flat" and random.random() < 0.5:
        settings |= {"where": {"x": frozenset("A")}}
    return count(texts, Plan(metrics, **settings | (plan or {})))


def numbered(document: Document) -> Document:
    layers = {
        name: [
            Span(span.start, span.end, dict(span.by_layer), {"score": n % 3 or 0.5 + n}, parts=span.parts)
            for n, span in enumerate(spans)
        ]
        for name, spans in document.layers.items()
    }
    return Document(document.id, layers, document.tokens, metadata=document.metadata)


# What is saved and loaded


@pytest.mark.parametrize("kind", METRICS)
def test_a_loaded_bag_is_the_one_that_was_saved(kind: str, tmp_path: Path) -> None:
    for seed in range(12):
        bag = random_bag(Random(seed), kind)
        found = again(bag, tmp_path)
        if kind == "features":
            bag.fold()

        assert state(found) == state(bag)
        assert reports(found, bag.metrics) == reports(bag, bag.metrics)


@pytest.mark.parametrize("kind", ["flat", "gaps"])
def test_a_loaded_folded_bag_is_the_one_that_was_saved(kind: str, tmp_path: Path) -> None:
    for seed in range(6):
        bag = random_bag(Random(seed), kind)
        bag.fold()

        assert state(again(bag, tmp_path)) == state(bag)


def test_a_bag_that_was_folded_in_part_is_saved_folded(tmp_path: Path) -> None:
    bag, other = random_bag(Random(1), "flat", {"units": "document"}), random_bag(Random(2), "flat")
    bag.fold()
    bag.add_text(DocumentPlace(name="more"), 4)
    row: dict[int, int] = {}
    bag.add_keys("x", [key for sequence, key in other.keys if sequence == "x"], row)
    bag.add_occurrences([DocumentPlace(name="more")], row)
    content = saved(bag, tmp_path).read_bytes()
    bag.fold()

    assert saved(bag, tmp_path).read_bytes() == content
    assert state(again(bag, tmp_path)) == state(bag)


def test_the_order_in_which_counts_came_does_not_matter(tmp_path: Path) -> None:
    """It depends on when a bag was folded, and on sets in metrics."""
    counts = [
        (DocumentPlace(name=name), sequence, Tally({("gold", label): 1}))
        for name in "de"
        for sequence in "yx"
        for label in "CBA"
    ]
    found = set()
    for given in (counts, counts[::-1]):
        bag = Bag((Exact(),), ["x", "y"])
        for name in "de":
            bag.add_text(DocumentPlace(name=name), 1)
        for place, sequence, tally in given:
            bag.add_tally(place, sequence, "exact", tally)
        found.add(saved(bag, tmp_path).read_bytes())

    assert len(found) == 1


def test_a_saved_bag_is_not_changed(tmp_path: Path) -> None:
    bag = random_bag(Random(3), "features")
    before = state(bag)
    saved(bag, tmp_path)

    assert state(bag) == before
    assert not bag.folded


def test_a_bag_of_several_sides_is_loaded(tmp_path: Path) -> None:
    def side(*spans: Span) -> Document:
        return Document("d", {"x": list(spans)}, tokens=["w"] * 8)

    texts = [
        [Group((side(Span(0, 2, "A")), None, side(Span(1, 2, "A"), Span(4, 4, "B"))))],
        [Group((side(), side(Span(0, 2, "A")), side(Span(0, 2, "A"))))],
    ]
    bag = count(texts, Plan((), sides=("a", "b", "c")))
    found = again(bag, tmp_path)

    assert state(found) == state(bag)
    assert {present: of[DocumentPlace()] for present, of in found.shared.items()} == {5: 1, 7: 1}


def test_a_document_whose_order_counts_keeps_it(tmp_path: Path) -> None:
    spans = [Span(0, 3, "B"), Span(0, 2, "A"), Span(0, 3, "A")]
    gold, predicted = (
        Document("d", {"x": of}, tokens=["w"] * 4, ordered=True) for of in (spans, spans[::-1])
    )
    bag = count([[Pair(gold, predicted)]], Plan((Exact(),)))
    ((_, key),) = again(bag, tmp_path).keys

    assert [span[3] for span in key[3:]] == ["B", "A", "A", "A", "A", "B"]


def test_what_metrics_count_keeps_its_types(tmp_path: Path) -> None:
    """In one tally 1, 1.0 and True are one key, in those of several places not."""
    bag = Bag((Exact(),))
    keys: list[Any] = [1, 1.0, True, "1", None, 0.1, float("inf"), -float("inf"), ("a", (1, (None,))), (), -7]
    for number, key in enumerate(keys):
        bag.add_text(DocumentPlace(name=str(number)), 1)
        bag.add_tally(
            DocumentPlace(name=str(number)),
            "x",
            "exact",
            Tally({(key, "A"): 3, (key, "B"): -1, ("C", key): 0}),
        )

    assert state(again(bag, tmp_path)) == state(bag)


def test_notes_and_what_was_read_are_saved(tmp_path: Path) -> None:
    bag = Bag((Exact(),), ["b", "a"])
    bag.add_text(DocumentPlace(("civil", ""), "d\ud800\u2028\n", 3, ("court",), 2), 7, documents=0)
    bag.notes.update({("map", "PER"): 2, ("ignored",): 0})
    read = bag.read
    read.add_file("gold", "conll", {"x": 2, "y": "ner"}, {"comment": 3})
    read.treatments |= {"discard", "conlleval"}
    read.spans["gold", "x"] += 4
    read.tagged.add(("gold", "x"))
    read.neighbours["gold", None, "x"] = Counter({("O", "B-A"): 2})
    read.settled["gold", None, "y"] = None, 0
    read.keys.update(dict.fromkeys(["z", "court"]))
    read.values["court"] = {"b", "a"}
    read.units |= {"token", "character"}
    read.without_text = 1

    assert state(again(bag, tmp_path)) == state(bag)


def test_all_that_was_read_is_saved_but_spans(tmp_path: Path) -> None:
    header = json.loads(saved(Bag((Exact(),)), tmp_path).read_text("ascii").splitlines()[0])

    assert {*header["read"]} == {*vars(Read())} - {"unplaced"}


def test_files_have_a_digest_for_their_name(tmp_path: Path) -> None:
    bag = Bag((Exact(),))
    for number, name in enumerate(["/home/anna/a.conll", "/home/anna/b.conll"]):
        bag.read.settled["gold", name, "x"] = ["BIO", "IOB1"][number], number
    path = saved(bag, tmp_path)
    found = loaded(path, bag.metrics)

    assert "anna" not in path.read_text("ascii")
    assert sorted(found.read.schemes().values(), key=str) == ["BIO", "IOB1"]
    assert found.read.repaired("gold") == 1
    assert state(again(found, tmp_path)) == state(found)


def test_facts_are_returned_with_the_version(tmp_path: Path) -> None:
    given = {"by": ["m"], "where": {"x": ["A"]}, "more": [1, None, {"a": 0.5}]}
    _, facts = load_bag(saved(Bag((Exact(),)), tmp_path, **given))

    assert {name: facts[name] for name in given} == given
    assert facts["clueval"] == clueval.__version__


def test_loaded_bags_add_up(tmp_path: Path) -> None:
    for seed in range(6):
        random = Random(seed)
        made = corpus(random, "flat")
        texts, plan = pairs_of(made), Plan(METRICS["flat"], by=("m",), units="document")
        cut = random.randint(0, len(texts))
        parts = [count(of, plan, made.layers) for of in (texts[:cut], texts[cut:])]
        if seed % 3 == 0:
            parts[seed % 2].fold()
        bag, more = (again(part, tmp_path) for part in parts)
        bag.include(more)
        together = count(texts, plan, made.layers)

        if not bag.folded:
            assert state(bag) == state(together)
        assert reports(bag, plan.metrics) == reports(together, plan.metrics)


def test_a_loaded_bag_is_counted_by_other_metrics(tmp_path: Path) -> None:
    bag = random_bag(Random(5), "gaps")

    assert reports(again(bag, tmp_path), [Muc(), Gate()]) == reports(bag, [Muc(), Gate()])


def test_a_loaded_bag_whose_cases_have_features_is_not_counted_by_other_metrics(tmp_path: Path) -> None:
    bag = random_bag(Random(0), "features")

    with pytest.raises(
        UsageError, match="'muc' cannot count this corpus any more: its cases were not kept, as they have"
    ):
        reports(again(bag, tmp_path), [Muc()])


def test_a_loaded_bag_is_not_counted_by_a_metric_that_reads_other_features(tmp_path: Path) -> None:
    bag = random_bag(Random(0), "gaps")
    bag.read.features.add("kind")

    with pytest.raises(
        UsageError, match=r"'gate' cannot count .*: it reads more than the cases that were kept"
    ):
        reports(again(bag, tmp_path), [Gate(features=("kind",))])


# The file


def test_a_saved_bag_has_no_text(tmp_path: Path) -> None:
    spans = [Span(0, 2, "A", {"kind": "secret"}, frozenset({0}))]
    document = Document("d", {"x": spans}, tokens=["Anna", "Mustermann"], metadata={"court": "secret"})
    for metrics in ((Exact(), Gate(features=("kind",))), (Exact(), Strings()), (Fair(),)):
        text = saved(count([[Pair(document, document)]], Plan(metrics)), tmp_path).read_text("ascii")

        assert not [word for word in ("Anna", "Mustermann", "secret") if word in text]


def test_the_first_line_says_what_was_counted_and_the_last_one_has_a_hash(tmp_path: Path) -> None:
    bag = count(pairs_of(corpus(Random(2), "flat")), Plan((Fair(),)))
    *before, last = saved(bag, tmp_path, units=None).read_bytes().splitlines(keepends=True)
    header = json.loads(before[0])

    assert (header["clueval_bag"], header["units"], header["folded"]) == (2, None, False)
    assert (header["layers"], header["features"]) == (bag.layers, ["tokens"])
    assert last == b'{"sha256":"%s"}\n' % sha256(b"".join(before)).hexdigest().encode()


def test_a_packed_file_has_the_same_content(tmp_path: Path) -> None:
    bag = random_bag(Random(4), "flat")
    packed = saved(bag, tmp_path, "a.clueval.gz")

    assert gzip.decompress(packed.read_bytes()) == saved(bag, tmp_path).read_bytes()
    assert state(loaded(packed, bag.metrics)) == state(bag)


@pytest.mark.parametrize("value", [0.5, True, 10**16, "1"])
def test_a_metric_with_numbers_that_are_not_whole_cannot_be_saved(value: Any, tmp_path: Path) -> None:
    bag = Bag((Exact(),))
    bag.add_text(DocumentPlace(), 1)
    bag.tallies[DocumentPlace()] = {("x", "exact"): Tally({("gold", "A"): value})}

    with pytest.raises(UsageError, match="'exact' counts with numbers that are not whole"):
        saved(bag, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_metric_with_keys_that_are_no_data_cannot_be_saved(tmp_path: Path) -> None:
    bag = Bag((Exact(),))
    bag.add_text(DocumentPlace(), 1)
    bag.add_tally(DocumentPlace(), "x", "exact", Tally({("gold", frozenset("A")): 1}))

    with pytest.raises(UsageError, match="'exact' has keys that cannot be saved"):
        saved(bag, tmp_path)
    assert not list(tmp_path.iterdir())


SCRIPT = """
import sys
from pathlib import Path
from random import Random
from tests.results.test_saved_bags import METRICS, random_bag, saved
for kind in METRICS:
    saved(random_bag(Random(7), kind), Path(sys.argv[1]), f"{kind}.clueval")
"""


@pytest.mark.long  # processes are started
def test_files_are_the_same_in_every_run(tmp_path: Path) -> None:
    """Sets of strings have another order in each process."""
    for seed in "12":
        (tmp_path / seed).mkdir()
        root = str(Path(__file__).parents[2])
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": root}
        subprocess.run([sys.executable, "-c", SCRIPT, str(tmp_path / seed)], env=environment, check=True)
    for kind in METRICS:
        one, other = ((tmp_path / seed / f"{kind}.clueval").read_bytes() for seed in "12")
        assert one == other


# What is refused


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    bag = count(pairs_of(corpus(Random(1), "flat", spans=2)), Plan((Exact(), Levels(), Strings()), by=("m",)))
    bag.notes["map", "A"] = 1
    return saved(bag, tmp_path_factory.mktemp("saved"), by=["m"]).read_bytes()


METRICS_OF_CONTENT = Exact(), Levels(), Strings()


def refused(path: Path, content: bytes) -> FormatError:
    path.write_bytes(content)
    with pytest.raises(FormatError) as error:
        loaded(path, METRICS_OF_CONTENT)
    assert error.value.file == str(path)
    assert len(str(error.value).splitlines()) == 1
    return error.value


def with_hash(lines: Sequence[str]) -> bytes:
    body = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")
    return body + b'{"sha256":"%s"}\n' % sha256(body).hexdigest().encode()


def test_a_file_that_is_cut_is_refused(content: bytes, tmp_path: Path) -> None:
    lengths = {*range(0, len(content), 37), *range(100), *range(len(content) - 100, len(content))}
    for length in sorted(lengths - {len(content)}):
        refused(tmp_path / "a", content[:length])


def test_a_file_in_which_a_byte_is_changed_is_refused(content: bytes, tmp_path: Path) -> None:
    for place in chain(range(0, len(content), 29), range(100), range(len(content) - 100, len(content))):
        changed = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
        refused(tmp_path / "a", changed)


def test_a_file_with_more_at_its_end_is_refused(content: bytes, tmp_path: Path) -> None:
    for more in (b"\n", b"{}\n", content, content.splitlines(keepends=True)[-1]):
        refused(tmp_path / "a", content + more)


def test_a_packed_file_that_is_cut_or_changed_is_refused(content: bytes, tmp_path: Path) -> None:
    packed = gzip.compress(content)
    for length in range(4, len(packed), 17):
        refused(tmp_path / "a", packed[:length])
    for place in range(12, len(packed), 17):
        refused(tmp_path / "a", packed[:place] + bytes([packed[place] ^ 1]) + packed[place + 1 :])


def test_a_changed_file_is_one_sentence(content: bytes, tmp_path: Path) -> None:
    error = refused(tmp_path / "a", content.replace(b'"by":["m"]', b'"by":["n"]'))

    assert (
        str(error)
        == f"{tmp_path / 'a'}: the file is not complete, or was changed after it was saved (save it again)"
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[1]\n",
        '{"a": 1}\n',
        "<html>\n",
        "[" * 99_999,
        '{"clueval_counts":1}\n',
        '{"clueval_bag":"2"}\n',
    ],
)
@pytest.mark.parametrize("hashed", [False, True])
def test_a_file_that_is_no_saved_bag_is_refused(text: str, hashed: bool, tmp_path: Path) -> None:
    error = refused(tmp_path / "a", with_hash(text.splitlines()) if hashed else text.encode())

    assert "this is not a saved result" in str(error)


def test_a_file_that_is_nested_too_deep_is_refused(tmp_path: Path) -> None:
    line = '{"clueval_bag":2,"metrics":' + "[" * 99_999 + "]" * 99_999 + "}"

    assert "this is not a saved result" in str(refused(tmp_path / "a", with_hash([line])))


def test_a_file_of_a_later_format_is_refused(tmp_path: Path) -> None:
    error = refused(tmp_path / "a", b'{"clueval_bag":3,"x":[]}\nwhatever\n')

    assert str(error) == (
        f"{tmp_path / 'a'}:1: the file has the format 3, and this clueval reads the format 2 (update clueval)"
    )


def test_a_file_without_the_line_of_a_case_is_refused(content: bytes, tmp_path: Path) -> None:
    lines = content.decode().splitlines()[:-1]

    del lines[1]
    assert "this is not a saved result" in str(refused(tmp_path / "a", with_hash(lines)))


def test_a_missing_file_is_one_sentence() -> None:
    with pytest.raises(CluevalError, match="there is no such file"):
        loaded(Path("/nowhere/a.clueval"), ())


def test_the_error_of_a_metric_names_the_file(content: bytes, tmp_path: Path) -> None:
    lines = [line.replace(b'"exact"', b'"other"') for line in content.splitlines()[:-1]]
    (tmp_path / "a").write_bytes(with_hash([line.decode() for line in lines]))

    with pytest.raises(UsageError) as error:
        load_bag(tmp_path / "a")
    assert str(error.value).startswith(f"{tmp_path / 'a'}: unknown metric 'other'")


@pytest.mark.long  # hundreds of megabytes are unpacked
def test_a_small_file_does_not_fill_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.clueval"
    with gzip.open(path, "wb", 1) as packed:
        packed.write(b'{"clueval_bag":2,')
        for _ in range(256):
            packed.write(bytes(1 << 20))
    with pytest.raises(FormatError, match="unpacked bytes"):
        loaded(path, ())

    body = b'{"clueval_bag":2}\n' + b" " * (1 << 27) + b"\n"
    path.write_bytes(gzip.compress(body + b'{"sha256":"%s"}\n' % sha256(body).hexdigest().encode(), 1))
    with pytest.raises(FormatError):
        loaded(path, ())


def test_a_saved_bag_is_known_by_its_name_or_its_beginning(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(content)
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(content))
    (tmp_path / "b.json").write_text('{"clueval": 1}\n')

    assert is_saved(tmp_path / "a.json")
    assert is_saved(str(tmp_path / "a.json.gz"))
    assert is_saved("missing.clueval.gz")
    assert not is_saved(tmp_path / "b.json")
    assert not is_saved(tmp_path / "missing.json")
    assert not is_saved(tmp_path)


# Results


SAMPLES = Path(__file__).parents[2] / "clueval" / "samples" / "german"
GERMAN = (SAMPLES / "gold.vrt", SAMPLES / "predicted.vrt")
COLUMNS = {"entity": 2, "risk": 3}


def test_units_that_belong_to_several_values_keep_their_parts(tmp_path: Path) -> None:
    documents = [
        Document(
            str(n), {"x": [Span(0, 1, "A")]}, tokens=["a"] * (n + 1), metadata={"court": court, "year": year}
        )
        for n, (court, year) in enumerate([("X", "1"), ("X", "2"), ("Y", "2")])
    ]
    result = score(documents, documents, resample_by="court", by="year", intervals=True)
    result.save(tmp_path / "r.clueval")
    loaded = load_result(tmp_path / "r.clueval")
    lines = map(json.loads, (tmp_path / "r.clueval").read_text(encoding="utf-8").splitlines())
    places = [(line["place"], line["positions"]) for line in lines if "place" in line]

    assert places == [
        ({"values": ["1"], "name": "X"}, [[3, 1]]),
        ({"values": ["2"], "name": "X"}, [[3, 2]]),
        ({"values": ["2"], "name": "Y"}, [[3, 3]]),
    ]
    assert loaded.groups == {
        key: {value: {k: v for k, v in group.items() if k != "intervals"} for value, group in groups.items()}
        for key, groups in (result.groups or {}).items()
    }
    assert loaded.intervals() == result.intervals()


def test_settings_of_metrics_are_saved(tmp_path: Path) -> None:
    from clueval.metrics.fair import Fair
    from clueval.metrics.partial import Partial

    weights = {"LE": {"TP": 0.5, "FN": 0.5}}
    result = score(
        *GERMAN, layers=COLUMNS, metrics=[Fair(weights=weights, labels=("person",)), Partial(betas=(2.0,))]
    )
    result.save(tmp_path / "r.clueval")
    loaded = load_result(tmp_path / "r.clueval")

    assert loaded.scored_by == list(result.scored_by)
    assert loaded.to_dict() == result.to_dict()
