"""The accumulator: batches, in any portions and from any process, count as everything at once."""

from __future__ import annotations

import pickle
from copy import copy
from pathlib import Path
from typing import Any

import pytest
from corpora import TAGS, write
from hypothesis import given
from hypothesis import strategies as st

from clueval import Accumulator, Result, read, score
from clueval.core.document import Document
from clueval.core.span import Span
from clueval.files.errors import (
    CluevalError,
    CluevalWarning,
    OverlapError,
    TagError,
    TextMismatch,
    UsageError,
)
from clueval.metrics import metric_named

METRICS = ["levels", "exact", "fair", "partial", "gate", "muc"]


@st.composite
def batches(draw: st.DrawFn) -> list[tuple[list[str], list[str]]]:
    """Sentences of gold and predicted tags, ill-formed ones among them."""
    pairs = []
    for length in draw(st.lists(st.integers(0, 6), max_size=6)):
        tags = st.lists(st.sampled_from(TAGS), min_size=length, max_size=length)
        pairs.append((draw(tags), draw(tags)))
    return pairs


def counted(pairs: list[tuple[list[str], list[str]]]) -> Accumulator:
    scores = Accumulator(METRICS)
    scores.update([own for own, _ in pairs], [other for _, other in pairs])
    return scores


def plain(result: Result) -> dict[str, object]:
    return result.to_dict()


# What is counted


@given(batches(), st.integers(0, 6))
def test_accumulator_counts_two_batches_like_one(pairs: list[tuple[list[str], list[str]]], cut: int) -> None:
    scores = counted(pairs[:cut])
    scores.update([own for own, _ in pairs[cut:]], [other for _, other in pairs[cut:]])

    assert plain(scores.compute()) == plain(counted(pairs).compute())


@given(batches(), st.integers(0, 6))
def test_accumulators_can_be_merged_in_either_order(
    pairs: list[tuple[list[str], list[str]]], cut: int
) -> None:
    one, other = counted(pairs[:cut]), counted(pairs[cut:])
    forth, back = counted([]), counted([])

    forth.merge([one, other])
    back.merge([other, one])

    assert plain(forth.compute()) == plain(back.compute()) == plain(counted(pairs).compute())


def test_accumulators_that_are_added_to_another_do_not_change(tmp_path: Path) -> None:
    texts = ("a\tB-LOC\nb\tO\nc\tI-PER\n\n", "a\tB-LOC\nb\tO\nc\tI-LOC\nd\tI-PER\n\n")
    files = [write(tmp_path / f"{number}.conll", text) for number, text in enumerate(texts)]
    added = [Accumulator("exact") for _ in files]
    for scores, file in zip(added, files, strict=True):
        scores.update([*read(file)], [*read(file)])
    before = [plain(scores.compute()) for scores in added]
    total = Accumulator("exact")

    total.merge(added)
    total.merge(added)

    assert [plain(scores.compute()) for scores in added] == before
    assert total.compute().repaired_tags == {"gold": 6, "predicted": 6}


@given(batches())
def test_accumulator_keeps_its_counts_when_pickled(pairs: list[tuple[list[str], list[str]]]) -> None:
    scores = counted(pairs)

    copy: Accumulator = pickle.loads(pickle.dumps(scores))
    copy.update([["B-PER"]], [["O"]])
    scores.update([["B-PER"]], [["O"]])

    assert plain(copy.compute()) == plain(scores.compute())


A, B = Span(0, 2, "PER"), Span(3, 4, "LOC")


@pytest.mark.parametrize(
    ("gold", "predicted", "documents", "tokens", "counts"),
    [
        ([A, B], [B], 1, 0, (1, 0, 1)),
        ([[A], [B]], [[], [B]], 2, 0, (1, 0, 1)),
        ([A], [], 1, 0, (0, 0, 1)),
        ([Span(0, 2), Span(4, 5)], [Span(0, 2)], 1, 0, (1, 0, 1)),
        (["B-PER", "O"], ["B-PER", "B-PER"], 1, 2, (1, 1, 0)),
        ([["B-PER", "O"], ["O"]], [["O", "O"], ["O"]], 2, 3, (0, 0, 1)),
        ([], [], 0, 0, (0, 0, 0)),
    ],
)
def test_a_list_is_a_document_and_a_list_of_lists_is_several(
    gold: list[Any], predicted: list[Any], documents: int, tokens: int, counts: tuple[int, int, int]
) -> None:
    scores = Accumulator("exact")
    scores.update(gold, predicted)
    found = scores.compute()

    assert (found.documents, found.tokens) == (documents, tokens)
    assert tuple(found.metrics["exact"]["label"]["micro"][name] for name in ("tp_gold", "fp", "fn")) == counts


def test_reset_sets_all_counts_to_zero() -> None:
    scores = counted([(["B-PER", "I-LOC"], ["O", "O"])])

    scores.reset()

    assert plain(scores.compute()) == plain(Accumulator(METRICS).compute())


def test_compute_does_not_change_the_counts() -> None:
    scores = counted([(["B-PER"], ["O"])])
    first = scores.compute()

    scores.update([["B-PER"]], [["B-PER"]])

    assert first.metrics["exact"]["label"]["micro"]["f1"] == 0
    assert scores.compute().metrics["exact"]["label"]["micro"]["recall"] == 0.5


def test_accumulator_can_be_merged_with_itself() -> None:
    scores = counted([(["B-PER", "O"], ["B-PER", "B-LOC"])])

    scores.merge(scores)

    micro = scores.compute().metrics["exact"]["label"]["micro"]
    assert (micro["gold"], micro["predicted"], scores.compute().tokens) == (2, 4, 4)


def test_discarding_ill_formed_tags_needs_and_uses_the_scheme() -> None:
    with pytest.raises(UsageError, match=r"needs the scheme of the tags \(name it, as in scheme='BIO'\)"):
        Accumulator("exact", invalid="discard")
    tags = ["I-PER", "O", "B-PER"]
    for batch in ([tags], [{"tokens": ["a", "b", "c"], "ner_tags": tags}]):
        scores = Accumulator("exact", invalid="discard", scheme="BIO")

        scores.update(batch, batch)

        assert scores.compute().get("micro.gold") == 1
        assert scores.compute().repaired_tags == {"gold": 1, "predicted": 1}
        assert "|scheme:BIO|invalid:discard|" in str(scores.compute().signature)


@pytest.mark.parametrize("batch", [[], [[]], [[], []]])
def test_an_empty_batch_may_be_one_of_tags_with_a_scheme(batch: list[list[str]]) -> None:
    counts = Accumulator("exact", scheme="BIO", invalid="discard", names=["O", "B-X"])
    counts.update([[1]], [[1]])
    counts.update(batch, batch)

    assert counts.compute().documents == 1 + len(batch)
    assert score(batch, batch, scheme="BIO", invalid="discard").documents == len(batch)


# What is refused


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        ("gold.vrt", "predicted.vrt", "gold and predicted must be documents, spans or tags, not files"),
        (None, [], "gold must not be None"),
        ([["O"]], [[Span(0, 1)]], "gold is tags and predicted is spans"),
        ([["O"]], ["O"], "predicted is a list of tags and gold a list of lists"),
        ([["O"], "O"], [["O"], ["O"]], "gold[1] is a str, not a list of tags"),
        ([["O"]], [["O"], ["O"]], "gold has 1 sentence and predicted has 2 sentences"),
        ([[Span(0, 1)]], [], "gold has 1 document and predicted has 0 documents"),
        ([["O", "O"]], [["O"]], "sentence 0 has 2 gold and 1 predicted tags"),
        (
            [[1]],
            [["O"]],
            "gold[0] has numbers for tags",
        ),
        ([Document("a", {})], [], "predicted has only 0 documents, the other side has more"),
        ([["O", Span(0, 1)]], [["O", "O"]], "gold[0][1]: a Span is not a tag"),
    ],
)
def test_sides_of_different_kinds_or_lengths_are_refused(
    gold: object, predicted: object, message: str
) -> None:
    with pytest.raises(UsageError) as error:
        Accumulator("exact").update(gold, predicted)  # type: ignore[arg-type]  # wrong on purpose

    assert message in str(error.value)


def test_tags_of_two_schemes_are_refused_by_the_update_that_adds_the_second() -> None:
    scores = Accumulator("exact")
    scores.update([["S-PER"]], [["S-PER"]])

    with pytest.raises(TagError, match=r"gold: tags of BIOES .* and of BILOU .* \(name the scheme\)"):
        scores.update([["U-PER"]], [["S-PER"]])


def test_different_texts_raise_the_error_of_score() -> None:
    gold, predicted = (Document("d", {"label": []}, tokens=[token]) for token in ("a", "b"))

    with pytest.raises(TextMismatch, match="gold has the token 'a'"):
        Accumulator("exact").update(gold, predicted)


@pytest.mark.parametrize(
    ("metric", "gold", "predicted", "kind"),
    [
        ("exact", [["B-PER"], ["B-PER"]], [["B-PER"], ["PER"]], TagError),
        ("levels", [[Span(0, 1, "A")], [Span(0, 2, "A"), Span(1, 3, "A")]], [[], []], OverlapError),
    ],
)
def test_refused_batch_changes_no_count(
    metric: str, gold: list[list[Span]], predicted: list[list[Span]], kind: type[CluevalError]
) -> None:
    scores = Accumulator(metric)

    with pytest.raises(kind):
        scores.update(gold, predicted)

    assert scores.compute().documents == 0


def test_a_copy_of_an_accumulator_counts_on_its_own() -> None:
    scores = Accumulator("exact")
    scores.update([["B-PER"]], [["B-PER"]])
    copy(scores).update([["B-PER"]], [["O"]])

    assert scores.compute().recall == 1.0


def test_an_accumulator_warns_as_score_does() -> None:
    sides = [["B-PER", "O", "I-LOC"]], [["B-PERSON", "O", "O"]]
    scores = Accumulator("exact")
    scores.update(*sides)

    with pytest.warns(CluevalWarning) as expected:
        score(*sides, metrics="exact")
    with pytest.warns(CluevalWarning) as found:
        scores.compute()
    assert [str(each.message) for each in found] == [str(each.message) for each in expected]


def test_accumulators_of_different_metrics_cannot_be_merged() -> None:
    with pytest.raises(UsageError, match="cannot be added: metrics is exact and levels"):
        Accumulator("exact").merge(Accumulator("levels"), force=True)


def test_metrics_with_different_settings_are_different_metrics() -> None:
    graded = Accumulator(metric_named("partial", factor=0.5))

    with pytest.raises(UsageError, match=r"factor=0.75.* and partial\(factor=0.5"):
        Accumulator("partial").merge(graded)


def test_accumulators_with_different_choices_are_merged_by_force_only() -> None:
    spans, tags = Accumulator("exact"), Accumulator("exact")
    spans.update([Span(0, 1, "PER")], [Span(0, 1, "PER")])
    tags.update([["B-PER"]], [["O"]])

    with pytest.raises(UsageError, match=r"scheme is documents and BIO:none; invalid is .* force=True"):
        spans.merge(tags)
    spans.merge(tags, force=True)

    assert spans.compute().metrics["exact"]["label"]["micro"]["recall"] == 0.5
