"""Match classes, joined labels and merged layers: by hand, and against scans of all pairs."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise, product
from typing import Any
from warnings import catch_warnings

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracles import naive_components
from strategies import flat_spans

from clueval import Match, errors, score
from clueval.core import one_to_one
from clueval.core.document import Document, Layers
from clueval.core.levels import KINDS, LEVELS, Kind
from clueval.core.merging import with_merged
from clueval.core.one_to_one import best_pairs, most_pairs
from clueval.core.span import Frozen, Span
from clueval.files.errors import LimitError, OverlapError, UsageError
from clueval.reading.span_lists import match_spans, merge_layers, overlap_components
from tests.cases import spans


@pytest.mark.parametrize(
    ("gold", "predicted", "kinds"),
    [
        ("G[3,8)", "P[3,8)", "exact"),
        ("G[3,8)", "P[2,8)", "superset"),
        ("G[3,8)", "P[3,9)", "superset"),
        ("G[3,8)", "P[0,12)", "superset"),
        ("G[3,8)", "P[3,5) P[5,8)", "tiling"),
        ("G[3,8)", "P[3,4) P[4,7) P[7,8)", "tiling"),
        ("G[3,8)", "P[2,5) P[5,8)", "overlap"),
        ("G[3,8)", "P[3,5) P[5,9)", "overlap"),
        ("G[3,8)", "P[1,5) P[5,6) P[6,11)", "overlap"),
        ("G[3,8)", "", "missed"),
        ("G[3,8)", "P[0,3) P[8,9)", "missed"),  # both only touch
        ("G[3,8)", "P[4,8)", "missed"),
        ("G[3,8)", "P[3,5) P[6,8)", "missed"),  # a gap
        ("G[3,8)", "P[3,5) P[5,7)", "missed"),  # not to the end
        ("G[0,12)", "P[3,8)", "missed"),
        ("G[3,5) G[5,8)", "P[3,8)", "superset superset"),
        ("G[2,5) G[5,8)", "P[3,8)", "missed superset"),
        ("G[0,1) G[2,3) G[4,5)", "P[0,1) P[1,4)", "exact superset missed"),
        ("G[0,2) G[2,6)", "P[0,2) P[2,4) P[4,6)", "exact tiling"),  # an equal span is no partner of others
        ("G[0,2) G[3,4)", "P[0,5)", "superset superset"),
        ("G[3,3)", "P[3,3)", "exact"),
        ("G[3,3)", "P[2,4)", "superset"),
        ("G[3,3)", "P[3,4)", "missed"),
    ],
)
def test_classes_by_hand(gold: str, predicted: str, kinds: str) -> None:
    assert [match.kind for match in match_spans(spans(gold), spans(predicted))] == kinds.split()


def test_labels_are_joined_for_each_layer_alone_and_missing_labels_are_ignored() -> None:
    first = Span(0, 1, {"entity": "PER", "risk": "high", "x": None})
    second = Span(1, 4, {"entity": "LOC", "risk": None, "x": None})

    (match,) = match_spans([Span(0, 4)], [first, second])

    assert match.labels == {"entity": "LOC", "risk": "high", "x": None}
    assert match.partners == (first, second)


def test_a_missed_span_has_no_partners_and_no_labels() -> None:
    (match,) = match_spans([Span(0, 4)], [Span(1, 2, "A")])

    assert (match.partners, match.labels, match.level) == ((), {}, None)


def test_a_match_is_a_value() -> None:
    match = Match(Span(0, 2, "A"), "exact", (Span(0, 2, "B"),), Frozen(label="B"))

    assert pickle.loads(pickle.dumps(match)) == match
    assert hash(match) == hash(replace(match))
    assert [Match(Span(0, 2), kind).level for kind in KINDS[:4]] == [1, 2, 3, 4]
    with pytest.raises(AttributeError):
        match.kind = "missed"  # type: ignore[misc]


def test_an_overlap_is_refused_with_document_line_and_advice() -> None:
    crossing = [Span(1, 3, line=7), Span(0, 2, line=9)]

    for sides in ((crossing, []), ([], crossing)):
        with pytest.raises(OverlapError) as caught:
            match_spans(*sides, document="d4")
        assert str(caught.value) == (
            "line 7, document 'd4': spans [0,2) and [1,3) of one sequence overlap "
            "(spans of one sequence must not overlap)"
        )


@pytest.mark.parametrize("positions", [(0, 0), (3, 3), (0, 2)])
def test_equal_spans_are_not_flat(positions: tuple[int, int]) -> None:
    for equal in ([Span(*positions)] * 2, [Span(7, 8), Span(*positions), Span(*positions)]):
        with pytest.raises(OverlapError):
            match_spans(equal, [])


def test_score_refuses_overlaps_of_either_side_and_names_the_document() -> None:
    crossing, nothing = (Document("d3", {"label": side}) for side in ([Span(0, 3), Span(2, 5)], []))

    for gold, predicted in ((crossing, nothing), (nothing, crossing)):
        with pytest.raises(OverlapError, match=r"document 'd3'.*\[0,3\).* and \[2,5\)"):
            score([gold], [predicted], metrics="levels")


# Against a scan of all pairs


@st.composite
def layered_spans(draw: st.DrawFn) -> list[Span]:
    """A flat sequence in any order, of zero length too, in which a span may lack layers or their labels."""
    layers = draw(st.sampled_from([("a",), ("a", "b"), ("b", "a", "c")]))
    flat = []
    for span in draw(flat_spans(zero_length=True)):
        names = draw(st.sets(st.sampled_from(layers)))
        flat.append(replace(span, labels={n: draw(st.sampled_from(["x", "y", None])) for n in names}))
    return draw(st.permutations(flat))


def plain_matches(gold: Sequence[Span], predicted: Sequence[Span]) -> list[Match]:
    """The matches by looking at all spans for each, exact ones first."""
    place = {(span.start, span.end): span for span in predicted}
    exact = [place.get((span.start, span.end)) for span in gold]
    rest = sorted((span for span in predicted if span not in exact), key=lambda span: (span.start, span.end))
    return [
        Match(span, "exact", (partner,), partner.by_layer)
        if partner is not None
        else plain_match(span, [other for other in rest if span.overlaps(other)])
        for span, partner in zip(gold, exact, strict=True)
    ]


def plain_match(span: Span, over: Sequence[Span]) -> Match:
    if not over or any(one.end != following.start for one, following in pairwise(over)):
        return Match(span, "missed")
    start, end = over[0].start, over[-1].end
    if start > span.start or end < span.end:
        return Match(span, "missed")
    several: Kind = "tiling" if (start, end) == (span.start, span.end) else "overlap"
    return Match(span, "superset" if len(over) == 1 else several, tuple(over), plain_labels(span, over))


def plain_labels(span: Span, partners: Sequence[Span]) -> Frozen:
    """The label with most positions inside the span, or the first of equals, by looking at each position."""
    joined: dict[str, str | None] = {}
    for layer in {layer for partner in partners for layer in partner.by_layer}:
        labelled = [(partner.by_layer.get(layer), partner) for partner in partners]
        inside = {
            label: sum(
                other == label and position in range(partner.start, partner.end)
                for other, partner in labelled
                for position in range(span.start, span.end)
            )
            for label, _ in labelled
            if label is not None
        }
        joined[layer] = max(inside, key=lambda label: inside[label], default=None)
    return Frozen(joined)


@given(layered_spans(), layered_spans())
@example([Span(0, 4), Span(5, 7)], [Span(0, 2), Span(2, 6), Span(8, 9)])
@example([Span(3, 3), Span(3, 5)], [Span(2, 5)])
def test_matches_are_those_of_a_scan_in_the_order_of_the_gold_spans(
    gold: list[Span], predicted: list[Span]
) -> None:
    assert match_spans(gold, predicted) == plain_matches(gold, predicted)


def layouts(tokens: int) -> list[list[Span]]:
    """All flat sequences of spans with length over that many tokens.

    >>> [[(span.start, span.end) for span in each] for each in layouts(2)]
    [[], [(1, 2)], [(0, 1)], [(0, 1), (1, 2)], [(0, 2)]]
    """
    from_position: list[list[list[Span]]] = [[[]]]  # from the end on
    for start in range(tokens - 1, -1, -1):
        these = list(from_position[-1])
        for end in range(start + 1, tokens + 1):
            these += [[Span(start, end), *rest] for rest in from_position[tokens - end]]
        from_position.append(these)
    return from_position[-1]


def test_matches_are_those_of_a_scan_in_every_case_of_five_tokens() -> None:
    for gold, predicted in product(layouts(5), repeat=2):
        assert match_spans(gold, predicted) == plain_matches(gold, predicted)


@st.composite
def tiled(draw: st.DrawFn) -> tuple[list[Span], list[Span]]:
    """Long spans of one side, and short ones of the other, nearly all of which touch."""
    sides = []
    for step in (st.integers(4, 9), st.integers(1, 3)):
        side, end = [], draw(st.integers(0, 2))
        while end < 24:
            start = end + (draw(st.integers(0, 9)) == 0)
            end = start + draw(step)
            side.append(Span(start, end, draw(st.sampled_from("ABC"))))
        sides.append(side)
    return sides[0], sides[1]


@given(tiled() | st.tuples(flat_spans(size=24, zero_length=True), flat_spans(size=24, zero_length=True)))
@example(([Span(10, 20, "G")], [Span(9, 14, "A"), Span(14, 16, "B"), Span(16, 21, "C")]))
@example(([Span(0, 9, "A")], [Span(n, n, "B") for n in (1, 8)] + [Span(8, 9, "A")]))
def test_score_counts_the_classes_and_labels_of_a_scan_of_all_pairs(
    sides: tuple[list[Span], list[Span]],
) -> None:
    gold, predicted = ([Document("d", {"label": side})] for side in sides)
    report = score(gold, predicted, metrics="levels").metrics["levels"]["label"]

    for side, own, other in (("gold", *sides), ("predicted", *sides[::-1])):
        matches = plain_matches(own, other)
        kinds = Counter(match.kind for match in matches)
        assert list(report["classes"][side].values()) == [kinds[kind] for kind in KINDS]
        for level in LEVELS:
            right = [match for match in matches if match.level is not None and match.level <= level]
            correct = Counter(m.span.label for m in right if m.labels["label"] == m.span.label)
            labelled = report["labelled"]["label"][str(level)]
            assert report["unlabelled"][str(level)][f"tp_{side}"] == len(right)
            assert labelled["micro"][f"tp_{side}"] == correct.total()
            for label, entry in labelled["per_label"].items():
                assert entry[f"tp_{side}"] == correct[label]
                assert entry[side] == sum(span.label == label for span in own)


# Merging


def test_a_chain_of_overlaps_becomes_one_span_with_the_labels_of_most_positions() -> None:
    # x: |A-|B--|A-|   A has four positions, B three
    # y: |    Z    |
    x, y = [Span(0, 2, "A"), Span(2, 5, "B"), Span(5, 7, "A")], [Span(0, 7, "Z")]

    assert merge_layers({"x": x, "y": y}) == [Span(0, 7, {"x": "A", "y": "Z"})]
    assert merge_layers({"x": [Span(0, 2, "A"), Span(3, 7, "B")], "y": [Span(1, 4, "Z")]}) == [
        Span(0, 7, {"x": "B", "y": "Z"})
    ]


def test_layers_may_be_a_mapping_or_a_list() -> None:
    entity, risk = [Span(0, 2, {"entity": "PER"})], [Span(1, 3, {"risk": "low"})]

    assert merge_layers([entity, risk]) == merge_layers({"entity": entity, "risk": risk})


def test_a_span_without_a_label_is_ignored() -> None:
    x = [Span(0, 5, {"x": None}), Span(5, 6, {"x": "A"})]

    assert merge_layers({"x": x, "y": [Span(0, 6, {"y": None})]}) == [Span(0, 6, {"x": "A", "y": None})]


@pytest.mark.parametrize(
    ("labels", "label"),
    [
        ({"x": "A", "y": "B"}, "A"),
        ("A", "A"),
        ({"y": "A"}, "A"),
        ({"y": "A", "z": "B"}, None),
        ({}, None),
    ],
)
def test_the_label_in_a_layer_is_that_of_its_name_or_the_only_one(labels: Any, label: str | None) -> None:
    (merged,) = merge_layers({"x": [Span(0, 1, labels)]})

    assert merged.labels == {"x": label}


def test_layers_whose_spans_overlap_are_refused_with_the_document() -> None:
    crossing = [Span(0, 2), Span(1, 3)]

    with pytest.raises(OverlapError, match=r"document 'd9': spans \[0,2\) and \[1,3\)"):
        merge_layers({"a": [], "b": crossing}, document="d9")
    with pytest.raises(OverlapError, match=r"^f\.vrt, document 'd9'"):
        with_merged(Document("d9", {"a": crossing}, file="f.vrt"))
    with pytest.raises(OverlapError, match=r"^f\.vrt, document 'd9'"):
        with_merged(Document("d9", Layers({}, {"a": [(0, 2, "A"), (1, 3, "A")]}), file="f.vrt"))


def test_a_merged_document_has_one_layer_and_no_tags() -> None:
    layers = {"x": [Span(0, 2, {"x": "A"})], "y": [Span(1, 3, {"y": "B"})]}
    document = Document("d", layers, tokens=["a", "b", "c"], tags={"x": ["B-A", "I-A", "O"]})

    merged = with_merged(document)

    assert dict(merged.layers) == {"merged": [Span(0, 3, {"x": "A", "y": "B"})]}
    assert (merged.tags, merged.id, merged.tokens) == ({}, "d", ["a", "b", "c"])


@given(flat_spans(zero_length=True), flat_spans(("b",), zero_length=True), flat_spans(("c", "a")))
def test_merging_is_joining_the_labels_of_each_component(a: list[Span], b: list[Span], c: list[Span]) -> None:
    layers = {"a": a, "b": b, "c": c}
    rows = {
        name: sorted((span.start, span.end, span.by_layer.get(name, span.label)) for span in of_layer)
        for name, of_layer in layers.items()
    }

    assert merge_layers(layers) == plain_merged(layers)
    assert with_merged(Document("d", Layers({}, rows))).layers["merged"] == plain_merged(layers)


def plain_merged(layers: dict[str, list[Span]]) -> list[Span]:
    """The merged spans, from the components that comparing all pairs finds."""
    all_spans = [(name, span) for name, of_layer in layers.items() for span in of_layer]
    merged = []
    for numbers in naive_components([span for _, span in all_spans]):
        members = sorted((all_spans[n] for n in numbers), key=lambda each: (each[1].start, each[1].end))
        labels: dict[str, str | None] = {}
        for name in layers:
            sizes = Counter[str]()
            for span in [span for layer, span in members if layer == name]:
                sizes[span.by_layer.get(name, span.label) or ""] += len(span)
            labels[name] = max(sizes, key=lambda label: sizes[label], default=None)
        merged.append(Span(members[0][1].start, max(span.end for _, span in members), labels))
    return sorted(merged, key=lambda span: (span.start, span.end))


@pytest.mark.parametrize(
    ("gold", "predicted", "right"),
    [
        (("ab", "a"), ("a", "a"), 1),
        (("ab", "a"), ("ba", "a"), 1),
        (("ba", "b"), ("ab", "a"), 0),
        (("b", "b"), ("a", "a"), 0),
    ],
)
def test_merged_labels_are_compared_by_layer_in_whatever_order_documents_have_these(
    gold: tuple[str, str], predicted: tuple[str, str], right: int
) -> None:
    """The layers of each document, and the one that has a span."""
    pair = [
        Document("d", {name: [Span(0, 1, {name: "X"})] * (name == own) for name in names}, tokens=["x"])
        for names, own in (gold, predicted)
    ]

    with catch_warnings(action="ignore"):
        report = score(pair[:1], pair[1:], metrics="exact", merge=True).metrics["exact"]

    assert report["merged"]["micro"]["tp_gold"] == right
    rows = [row for place in errors(pair[:1], pair[1:], merge=True) for row in place.findings]
    assert len(rows) == 2 - 2 * right


def test_merged_labels_do_not_depend_on_the_order_of_the_documents() -> None:
    both = Document("d1", {"a": [Span(0, 2, {"a": "Y"})], "b": [Span(0, 2, {"b": "X"})]}, text="xx")
    one = Document("d2", {"a": [Span(0, 2, {"a": "Y"})]}, text="xx")

    results = [score(each, each, metrics=["exact"], merge=True) for each in ([both, one], [one, both])]

    assert [list(each.metrics["exact"]["merged"]["per_label"]) for each in results] == [["Y", "Y|X"]] * 2


# Wrong arguments


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: match_spans(3, []), "gold must be a list of spans, not an int"),  # type: ignore[arg-type]
        (lambda: match_spans([], [3]), "predicted[0]"),  # type: ignore[list-item]
        (lambda: overlap_components([3]), "spans[0]"),  # type: ignore[list-item]
        (lambda: merge_layers("a"), "layers must be a dictionary or a list of lists of spans, not a str"),  # type: ignore[arg-type]
        (lambda: merge_layers({1: []}), "the name of a layer must be text, not an int"),  # type: ignore[dict-item]
        (lambda: merge_layers({"a": [3]}), "layers['a'][0]"),  # type: ignore[list-item]
        (lambda: merge_layers([[], [3]]), "layers[1][0]"),  # type: ignore[list-item]
        (
            lambda: merge_layers(Document("d", {})),  # type: ignore[arg-type]
            "document 'd': merge_layers takes the layers of a document, not the document "
            "(merge_layers(document.layers), or clueval.merge for the documents of a file)",
        ),
    ],
)
def test_wrong_arguments_are_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(UsageError) as error:
        call()

    assert str(error.value).startswith(message)


# One to one


EDGES = st.lists(st.lists(st.integers(0, 4), max_size=4, unique=True), max_size=6)


def greatest(partners: Sequence[Sequence[int]], taken: frozenset[int] = frozenset()) -> int:
    """The most pairs of members and partners, by trying everything."""
    if not partners:
        return 0
    of_first = [1 + greatest(partners[1:], taken | {each}) for each in partners[0] if each not in taken]
    return max(greatest(partners[1:], taken), *of_first, 0)


@given(EDGES)
@example([[0], [0, 1], [1, 2], [2, 3], [0, 1, 2, 3]])
@example([[0, 1], [0, 2], [0], [2], [0, 1, 2], [1]])
@example([[0], [1, 2], [0, 1]])  # the first partner that is tried leads nowhere
@example([[1, 0], [1], [1, 0], [0, 1, 2], [2, 3]])
def test_as_many_as_possible_are_paired_and_earlier_members_keep_a_partner(partners: list[list[int]]) -> None:
    edges = [[(each, 10 * member + each) for each in of_member] for member, of_member in enumerate(partners)]
    chosen = most_pairs(edges)
    mates = [value % 10 for value in chosen if value is not None]
    sizes = [greatest(partners[:n]) for n in range(len(partners) + 1)]

    assert [value is not None for value in chosen] == [before < after for before, after in pairwise(sizes)]
    assert len(set(mates)) == len(mates)
    assert all(
        value is None or (value // 10 == n and value % 10 in partners[n]) for n, value in enumerate(chosen)
    )


def test_of_pairs_that_are_worth_the_same_the_earlier_are_chosen() -> None:
    assert best_pairs([{1: 1, 0: 1, 2: 1}]) == {0: 0}
    assert best_pairs([{2: 1, 0: 1}, {0: 1, 2: 1}, {}]) == {0: 0, 1: 2}
    assert best_pairs([{1: 1, 0: 1}, {}, {2: 1, 3: 2}]) == {0: 0, 2: 3}


def test_a_search_that_takes_too_long_is_refused_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [dict.fromkeys(range(3), 1)] * 2
    monkeypatch.setattr(one_to_one, "MAX_MATCHING", 12)
    assert len(best_pairs(pairs)) == 2

    monkeypatch.setattr(one_to_one, "MAX_MATCHING", 11)
    with pytest.raises(LimitError) as caught:
        best_pairs(pairs)
    assert str(caught.value) == (
        "2 spans are connected by 6 possible pairs, too many to find the best "
        "(set a greater min_overlap, or leave out spans that are nested or repeated)"
    )
