"""Units: their keys, that they add up, and that the way of counting changes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

import clueval
from clueval import CluevalError, Document, Result, Span, compare, load_result, score
from clueval.cli import main
from clueval.core.count import EITHER, DocumentPlace, Plan, count, sequences_of
from clueval.core.document import Pair, Sentence
from clueval.core.exact import Exact
from clueval.core.located import TextParts
from clueval.core.metric import AnyMetric, Tally, added
from clueval.files.errors import UsageError
from clueval.metrics import METRICS
from clueval.metrics.confusion import Confusion
from clueval.metrics.coverage import Coverage
from clueval.metrics.gate import Gate
from clueval.metrics.masking import Masking
from clueval.metrics.noisy import Noisy
from clueval.metrics.partial import Partial
from clueval.metrics.strings import Strings
from clueval.results.units import different_keys, document_key
from tests.random_corpora import SIZE, Corpus, corpus, pairs_of

SAMPLES = Path(__file__).parents[2] / "clueval" / "samples" / "german"
GERMAN = (SAMPLES / "gold.vrt", SAMPLES / "predicted.vrt")
COLUMNS = {"entity": 2}
FLAT = ["levels", "exact", "fair", "partial", "gate", "muc", "confusion"]


def conll(documents: list[list[list[str]]]) -> str:
    """Documents of sentences of tags as a CoNLL file."""
    return "".join(
        "-DOCSTART- O\n\n" + "".join("".join(f"w {tag}\n" for tag in tags) + "\n" for tags in sentences)
        for sentences in documents
    )


def units_of(result: Result) -> list[str]:
    assert result.units is not None
    return list(result.units.keys)


def without_intervals(result: Result) -> dict[str, object]:
    report = result.to_dict()
    report.pop("intervals", None)
    return report


@pytest.mark.parametrize("unit", ["document", "sentence"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_units_add_up_to_the_result_without_intervals(unit: str, jobs: int) -> None:
    plain = score(*GERMAN, layers=COLUMNS, metrics=FLAT)
    result = score(*GERMAN, layers=COLUMNS, metrics=FLAT, resample_by=unit, jobs=jobs)

    assert result.to_dict() == plain.to_dict()
    assert result.units is not None
    assert sum(result.units.positions) == result.tokens
    for metric in result.units.metrics:
        for sequence, layers in result.units.sequences[metric.name].items():
            total = result.units.counts[metric.name, sequence].total()
            assert metric.scores(total, layers) == result.metrics[metric.name][sequence]


def test_a_document_is_cut_where_no_span_crosses_a_sentence_end() -> None:
    sentences = [Sentence(0, 2), Sentence(2, 4), Sentence(4, 6)]
    gold = Document("d", {"x": [Span(1, 3, "A")]}, tokens=list("abcdef"), sentences=sentences)
    predicted = Document("d", {"x": [Span(4, 5, "A")]}, tokens=list("abcdef"), sentences=sentences)

    assert units_of(score([gold], [predicted], resample_by="sentence")) == ["d#s1", "d#s3"]


def test_units_of_metadata_are_its_values() -> None:
    documents = [
        Document(str(n), {"x": [Span(0, 1, "A")]}, tokens=["a"], metadata={"court": court})
        for n, court in enumerate("XYX")
    ]
    result = score(documents, documents, resample_by="court")

    assert units_of(result) == ["X", "Y"]
    assert result.units is not None
    assert result.units.positions == [2, 1]


def test_units_of_a_folder_are_named_by_file_and_document(tmp_path: Path) -> None:
    for side in ("gold", "predicted"):
        folder = tmp_path / side / "sub"
        folder.mkdir(parents=True)
        (folder / "a.conll").write_text(conll([[["B-X"]], [["O"]]]), encoding="utf-8")

    assert units_of(score(tmp_path / "gold", tmp_path / "predicted", resample_by="document")) == [
        "sub/a",
        "sub/a#2",
    ]
    files = [[tmp_path / side / "sub" / "a.conll"] * 2 for side in ("gold", "predicted")]
    assert units_of(score(*files, resample_by="document")) == ["1", "2", "1#2", "2#2"]


def test_equal_keys_are_numbered() -> None:
    assert different_keys(["d1", "d1", "d1#2", "d1"]) == ["d1", "d1#2", "d1#2#2", "d1#3"]
    assert document_key("a#b") == "a##b"


@pytest.mark.parametrize("metric", ["noisy"])
def test_sentences_are_no_units_for_metrics_that_align_documents(metric: str) -> None:
    documents = [Document("d", {"x": []}, text="a", unit="character")]

    with pytest.raises(CluevalError, match="aligns whole documents, so sentences cannot be units"):
        score(documents, documents, metrics=metric, resample_by="sentence")


@pytest.mark.parametrize("unit", ["document", "sentence"])
@pytest.mark.parametrize("saved", [False, True])
def test_units_with_equal_counts_share_them(unit: str, saved: bool, tmp_path: Path) -> None:
    tags = ["B-A", "O", "B-A", "O", "B-B", "O", "O"]
    files = [tmp_path / f"{side}.conll" for side in ("gold", "predicted")]
    for file in files:
        file.write_text(conll([[[tag]] for tag in tags]), encoding="utf-8")
    result = score(*files, metrics=["exact", "levels"], resample_by=unit)
    if saved:
        result.save(tmp_path / "r.clueval")
        result = load_result(tmp_path / "r.clueval")

    assert result.units is not None
    counts = result.units.counts["exact", "label"]
    assert len(counts.rows) == 3
    rows = [dict(tally) for tally in counts.tallies()]
    assert [rows[row].get(("gold", "A"), 0) for row in counts.row_of] == [1, 0, 1, 0, 0, 0, 0]


def test_unknown_metadata_is_no_unit() -> None:
    documents = [Document("d", {"x": []}, tokens=["a"])]

    with pytest.raises(CluevalError, match="metadata is called 'court'"):
        score(documents, documents, resample_by="court")


def test_a_break_down_has_intervals_for_each_value() -> None:
    result = score(
        *GERMAN, layers=COLUMNS, metrics="exact", by="document", resample_by="sentence", intervals=True
    )
    groups = result.to_dict()["by"]["document"]
    entry = groups["a001"]["intervals"]["scores"]["exact"]["entity"]["micro"]["f1"]

    assert entry["low"] < groups["a001"]["metrics"]["exact"]["entity"]["micro"]["f1"] < entry["high"]
    assert sum(group["intervals"]["units"] for group in groups.values()) == result.intervals()["units"]


@pytest.mark.parametrize("method", ["jackknife", "percentile", "bca"])
@pytest.mark.parametrize("metric", ["exact", "partial", "fair"])
def test_units_that_have_the_same_score_have_no_interval(method: str, metric: str) -> None:
    # one of five spans is found in each document; the mean of the scores without one is another in its last bit
    gold = [[(4 * n, 4 * n + 3, "A") for n in range(5 * size)] for size in range(1, 13)]
    predicted = [spans[::5] for spans in gold]

    result = score(gold, predicted, metrics=metric, resample_by="document")

    found = result.intervals(method=method, resamples=50)["scores"][metric]["label"]
    entry = found["overall"]["fair"] if metric == "fair" else found["micro"]
    for rate in ("recall", "f1"):
        assert (entry[rate]["low"], entry[rate]["se"]) == (None, 0.0)
        assert (
            entry[rate]["reason"] == "all units have the same score, so the spread between units is not known"
        )


def test_resampling_shows_a_spread_that_no_single_unit_shows() -> None:
    # label A is always wrong and B always right; without one document, the mean over labels is the same
    gold = [[(0, 2, label)] for label in "AAABBB"]
    predicted = [[(0, 1 if label == "A" else 2, label)] for label in "AAABBB"]
    result = score(gold, predicted, metrics="exact", resample_by="document")

    jackknife, bootstrap = (
        result.intervals(method=method)["scores"]["exact"]["label"]["macro"]["f1"]
        for method in ("jackknife", "percentile")
    )

    assert (jackknife["low"], jackknife["se"]) == (None, 0.0)
    assert bootstrap["low"] < 0.5 < bootstrap["high"]


def test_the_order_of_documents_changes_no_interval(tmp_path: Path) -> None:
    gold = ["w B-X\nw O\nw B-Y\n", "w O\nw B-X\n\nw B-Y\n", "w B-Y\nw I-Y\n", "w B-X\n"]
    wrong = ["w B-X\nw O\nw B-X\n", "w B-X\nw O\n\nw B-Y\n", "w B-Y\nw I-Y\n", "w O\n"]
    files = tmp_path / "gold.conll", tmp_path / "predicted.conll"
    found = []
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        for file, side in zip(files, (gold, wrong), strict=True):
            file.write_text("".join(f"# newdoc id = d{n}\n{side[n]}\n" for n in order), encoding="utf-8")
        result = score(*files, metrics="exact", resample_by="document")
        found.append([result.intervals(method=method, resamples=99) for method in ("jackknife", "bca")])

    assert found[0] == found[1]


def test_sum_has_the_intervals_that_both_parts_have() -> None:
    gold = [[(0, 1, "AB"[n % 2])] for n in range(24)]
    predicted = [[(0, 1, "AB"[n % 3 == 0])] for n in range(24)]

    def scored(part: slice, **options: Any) -> Result:
        return score(gold[part], predicted[part], metrics="exact", resample_by="document", **options)

    first, second = scored(slice(0, 11), intervals=True), scored(slice(11, None), intervals=True)

    assert (first + second).to_dict() == scored(slice(None), intervals=True).to_dict()
    assert "intervals" not in (first + scored(slice(11, None))).to_dict()
    few = score(gold[:3], predicted[:3], metrics="exact", resample_by="sentence", intervals=True)
    assert "intervals" not in (few + second).to_dict()


@pytest.mark.parametrize("metric", sorted(METRICS))
def test_every_metric_has_intervals_and_can_be_saved(metric: str, tmp_path: Path) -> None:
    spans = [[Span(0, 2, "A"), Span(3, 4, "B")], [Span(1, 2, "A")], [Span(0, 2, "B")], [Span(2, 4, "A")]]
    found = [[Span(0, 2, "A")], [Span(1, 2, "B")], [Span(0, 2, "B"), Span(3, 4, "A")], [Span(2, 4, "A")]]
    gold, predicted = (
        [Document(str(n), {"x": each}, text="abcd", unit="character") for n, each in enumerate(side)]
        for side in (spans, found)
    )
    result = score(gold, predicted, metrics=metric, intervals=True)
    result.save(tmp_path / "r.clueval")
    loaded = load_result(tmp_path / "r.clueval")

    assert loaded.intervals() == result.intervals()
    assert loaded.to_dict() == without_intervals(result)
    assert list(loaded.tables()) == list(score(gold, predicted, metrics=metric).tables())


@pytest.mark.parametrize(("units", "low"), [(3, None), (6, 1.0)])
def test_resamples_without_a_span_of_the_label_are_left_out(units: int, low: float | None) -> None:
    """Of 3 units, 5 % of the resamples have none; of 6, a quarter of a percent."""
    gold = [Document(str(n), {"x": [Span(0, 1, "A" if n < units else "B")]}, tokens=["a"]) for n in range(9)]
    wrong = [Document("8", {"x": []}, tokens=["a"])]
    found = score([*gold], [*gold[:8], *wrong], metrics="exact", resample_by="document").intervals(
        method="percentile", confidence=0.5, resamples=999
    )
    recall = found["scores"]["exact"]["x"]["per_label"]["A"]["recall"]

    if low is None:
        assert (recall["low"], recall["reason"]) == (
            None,
            "the score is undefined in over 1 % of the resamples",
        )
    else:
        assert (round(recall["low"], 4), recall["bound"]) == (round(0.5 ** (1 / units), 4), True)


def test_few_effective_units_are_remarked_on_where_a_metric_has_no_f_score() -> None:
    found = score(*GERMAN, layers=COLUMNS, metrics="masking", intervals=True)

    assert "remark: masking, entity: 5 units, worth 4.7 of equal size (effective)" in str(found)


def test_a_metric_that_counts_all_layers_together_has_intervals_and_is_rebuilt(tmp_path: Path) -> None:
    text = {"text": "abcd efgh", "unit": "character"}
    name = [Span(0, 2, "P")]
    gold = [Document(str(n), {"one": name, "two": name if n % 2 else []}, **text) for n in range(8)]
    predicted = [Document(str(n), {"mask": name if n % 3 else []}, **text) for n in range(8)]
    result = score(gold, predicted, metrics=Masking(annotators=("one", "two")), intervals=True)
    result.save(tmp_path / "r.clueval")
    recall = result.intervals()["scores"]["masking"]["annotators"]["classes"]["all"]["mention_recall"]

    assert recall["low"] < 7.5 / 12 < recall["high"]
    assert load_result(tmp_path / "r.clueval").intervals() == result.intervals()
    assert compare(result, tmp_path / "r.clueval").to_dict()["scores"][0]["against_baseline"][0]["p"] == 1


def by_default(result: Result) -> tuple[str | None, int]:
    assert result.units is not None
    return result.units.by, len(result.units.keys)


@pytest.mark.parametrize(
    ("documents", "sentences", "metric", "expected"),
    [
        (1, 1, "exact", ("document", 1)),
        (1, 3, "exact", ("sentence", 3)),
        (3, 3, "exact", ("sentence", 9)),
        (9, 2, "exact", ("sentence", 18)),
        (10, 2, "exact", ("document", 10)),
        (3, 2, "noisy", ("document", 1)),
        (3, 2, "exact,noisy", ("document", 1)),
    ],
)
def test_units_are_by_default_documents_or_sentences_of_few_documents(
    documents: int, sentences: int, metric: str, expected: tuple[str, int], tmp_path: Path
) -> None:
    for side in ("gold", "predicted"):
        (tmp_path / side).write_text(conll([[["B-X", "O"]] * sentences] * documents), encoding="utf-8")
    sides, saved = (tmp_path / "gold", tmp_path / "predicted"), tmp_path / "a.clueval"
    files = [str(side) for side in sides]
    plain = score(*sides, metrics=metric, resample_by="document")

    found = score(*sides, metrics=metric, save=saved)
    assert by_default(found) == by_default(load_result(saved)) == expected
    assert found.metrics == plain.metrics
    assert main(["score", *files, "--metric", metric, "--save", str(saved), "-q"]) == 0
    assert by_default(load_result(saved)) == expected
    if expected[1] > 1:
        assert by_default(score(*sides, metrics=metric, intervals=True)) == expected
        compare(saved, found)


def test_default_units_are_documents_where_mentions_have_no_place() -> None:
    gold = [{"text": "Ada met", "spans": [(0, 3, "PER")]}] * 2

    result = score(gold, ['{"PER": ["Bob"]}'] * 2, input="mentions", resample_by=EITHER)

    assert len(units_of(result)) == 2


@pytest.mark.parametrize("documents", [3, 12])
def test_default_units_of_iterators_are_those_of_lists(documents: int) -> None:
    sentences = [Sentence(0, 1), Sentence(1, 2)]
    given = [
        Document(str(n), {"x": [Span(0, 1, "A")]}, tokens=["a", "b"], sentences=sentences)
        for n in range(documents)
    ]
    expected = by_default(score(given, given, intervals=True))

    assert by_default(score(iter(given), iter(given), intervals=True)) == expected
    assert expected == (("sentence", 6) if documents == 3 else ("document", 12))


class Taken(list[Any]):
    """A list that counts the items that are taken from it."""

    number = 0

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        Taken.number += len(found) if isinstance(place, slice) else 1
        return found

    def __iter__(self) -> Iterator[Any]:
        Taken.number += len(self)
        return super().__iter__()


@pytest.mark.parametrize("field", ["tokens", "token_ids", "lines", "tags"])
def test_cutting_a_document_into_sentences_takes_each_token_once(
    field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = 100
    values: dict[str, Any] = {"tokens": ["w"] * size, field: Taken(["w"] * size)}
    if field == "tags":
        values[field] = {"x": values[field]}
    document = Document(
        "d",
        {"x": [Span(n, n + 1, "A") for n in range(0, size, 3)]},
        sentences=[Sentence(n, n + 2) for n in range(0, size, 2)],
        **values,
    )
    monkeypatch.setattr(Taken, "number", 0)

    pair = Pair(document, document)

    parts = TextParts([pair])
    assert len(parts) == len([*parts.cut_pair(pair)]) == size / 2
    assert Taken.number <= 2 * size


# Sentences as units


METRICS: dict[str, tuple[AnyMetric, str]] = {
    "exact": (Exact(), "flat"),
    "partial": (Partial(), "flat"),
    "confusion": (Confusion(), "flat"),
    "coverage": (Coverage(), "nested"),
    "strings": (Strings(), "nested"),
    "scores": (Gate(score_feature="score"), "nested"),
    "noisy": (Noisy(), "flat"),
}


def in_sentences(random: Random, kind: str) -> Corpus:
    """A corpus with texts, of which some are cut into sentences; every span has a score."""
    made = corpus(random, kind, layers=1, spans=5)
    words = [random.choice(["ann", "bob", "cat", f"w{number}"]) for number in range(SIZE)]
    ends = [*sorted(random.sample(range(1, SIZE), random.randint(0, 6))), SIZE]
    sentences = [clueval.Sentence(*each) for each in zip([0, *ends[:-1]], ends, strict=True)]

    def changed(document: clueval.Document) -> clueval.Document:
        layers = {
            name: [replace(span, features={"score": random.choice([0.25, 0.5])}) for span in spans]
            for name, spans in document.layers.items()
        }
        return replace(document, layers=layers, tokens=words, sentences=sentences)

    return replace(made, gold=list(map(changed, made.gold)), predicted=list(map(changed, made.predicted)))


def sums(made: Corpus, metric: AnyMetric, unit: str) -> dict[str, tuple[int, dict[str, Tally]]] | str:
    """Of each document, the positions and the counts of each sequence, added from its units; or that it is refused."""
    plan = Plan((metric,), units=unit)
    try:
        bag = count(pairs_of(made), plan)
    except UsageError as error:
        return str(error)
    whole = metric.whole
    sequences: Sequence[str] = sequences_of(bag, plan) if whole is None else [whole]
    parts: dict[str, dict[str, list[tuple[Tally, int]]]] = {}
    positions: dict[str, set[DocumentPlace]] = {}
    for place, sequence, _, tally in bag.tallies_of([metric], sequences):
        assert isinstance(place, DocumentPlace)
        parts.setdefault(str(place.name), {}).setdefault(sequence, []).append((tally, 1))
        positions.setdefault(str(place.name), set()).add(place)
    return {
        name: (
            sum(bag.positions[0b11][place] for place in positions[name]),
            {sequence: added(tallies) for sequence, tallies in found.items()},
        )
        for name, found in parts.items()
    }


REFUSED = {"strings": "some", "noisy": "all"}
"""How many corpora are refused: strings counts the different words of a document, noisy aligns its text."""


@pytest.mark.parametrize("name", METRICS)
def test_sentences_add_up_to_documents(name: str) -> None:
    metric, kind = METRICS[name]
    random = Random(name)
    refused = 0

    for _ in range(25):
        made = in_sentences(random, kind)
        found = sums(made, metric, "sentence")
        if isinstance(found, str):
            assert "sentences" in found
            refused += 1
        else:
            assert found == sums(made, metric, "document")

    assert {0: "none", 25: "all"}.get(refused, "some") == REFUSED.get(name, "none")


def test_sentences_are_not_units_by_default_if_they_do_not_add_up() -> None:
    random = Random(4)
    corpora = [in_sentences(random, "nested") for _ in range(25)]
    made = next(each for each in corpora if isinstance(sums(each, Masking(), "sentence"), str))

    assert sums(made, Masking(), EITHER) == sums(made, Masking(), "document")
