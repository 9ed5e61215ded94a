"""The figures of TAB, i2b2 and MEDDOCAN against plain programs, written from their definitions with sets and lists."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval import Document, Span, masking
from clueval.compat.masking_programs import IGNORABLE, IGNORABLE_WORDS

Sides = tuple[Document, Document]

KINDS = ("DIRECT", "QUASI", "NO_MASK")


@st.composite
def spans_in(draw: st.DrawFn, text: str, layer: str, labels: str) -> list[Span]:
    found = []
    for _ in range(draw(st.integers(0, 5))):
        start = draw(st.integers(0, len(text) - 1))
        end = draw(st.integers(start + 1, min(len(text), start + 9)))
        features = {
            "identifier_type": draw(st.sampled_from(KINDS)),
            "entity_id": draw(st.sampled_from("uvw")),
        }
        found.append(Span(start, end, {layer: draw(st.sampled_from(labels))}, features))
    return found


@st.composite
def documents(draw: st.DrawFn) -> list[Sides]:
    pairs = []
    for number in range(draw(st.integers(1, 3))):
        words = draw(
            st.lists(st.sampled_from(["Anna", "Öz", "Mr", ",", "x1", "no."]), min_size=1, max_size=9)
        )
        text = draw(st.sampled_from([" ", ""])).join(words)
        names = draw(st.sampled_from([("a",), ("a", "b")]))
        gold = {name: draw(spans_in(text, name, "PQ")) for name in names}
        layers = {"label": [Span(s.start, s.end, s.label) for s in draw(spans_in(text, "label", "PQ"))]}
        own = Document(f"d{number}", gold, text=text, unit="character", ordered=True)  # as TAB's files
        pairs.append((own, Document(f"d{number}", layers, text=text, unit="character")))
    return pairs


def figures(pairs: Iterable[Sides], program: str) -> Any:
    gold, predicted = zip(*pairs, strict=True)
    report = masking(list(gold), list(predicted), annotators="all", conventions=program)
    return report.reports["annotators"]["conventions"][program]


def share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def tab(pairs: Iterable[Sides]) -> dict[str, Any]:
    """Every token, mention and entity is listed with whether it is right, then counted."""
    tokens, mentions, entities = [], [], []
    right: dict[str, list[float]] = {"token": [], "mention": []}
    asked: dict[str, int] = {"token": 0, "mention": 0}
    for gold, predicted in pairs:
        text = gold.text or ""
        masked = {i for span in predicted.layers["label"] for i in range(span.start, span.end)}
        ignored = {i for i, character in enumerate(text) if character in IGNORABLE}
        for match in re.finditer(r"\w+", text):
            if match[0].casefold() in IGNORABLE_WORDS:
                ignored |= set(range(*match.span()))

        def is_masked(start: int, end: int, safe: frozenset[int] = frozenset(masked | ignored)) -> bool:
            return set(range(start, end)) <= safe

        for spans in gold.layers.values():
            by_entity: dict[str, list[Span]] = {}
            for span in spans:
                by_entity.setdefault(span.features["entity_id"], []).append(span)
            for members in by_entity.values():
                kind, label = members[0].features["identifier_type"], members[0].label
                to_mask = [one for one in members if one.features["identifier_type"] != "NO_MASK"]
                if not to_mask:
                    continue
                entities.append((kind == "DIRECT", all(is_masked(one.start, one.end) for one in to_mask)))
                mentions += [is_masked(one.start, one.end) for one in members]
                for one in members:
                    for match in re.finditer(r"\w+", text[one.start : one.end]):
                        place = (one.start + match.start(), one.start + match.end())
                        tokens.append((label, is_masked(*place)))
        annotators = sum(bool(spans) for spans in gold.layers.values())
        for span in predicted.layers["label"]:
            inner = [match.span() for match in re.finditer(r"\w+", text[span.start : span.end])]
            places = [(span.start + start, span.start + end) for start, end in inner]
            for kind, ranges in (("token", places), ("mention", [(span.start, span.end)])):
                asked[kind] += annotators * len(ranges)
                right[kind] += [
                    any(
                        one.start <= start and end <= one.end and one.features["identifier_type"] != "NO_MASK"
                        for one in spans
                    )
                    for start, end in ranges
                    for spans in gold.layers.values()
                ]
    return {
        "token_recall": share(sum(found for _, found in tokens), len(tokens)),
        "mention_recall": share(sum(mentions), len(mentions)),
        "recall_all_entities": share(sum(found for _, found in entities), len(entities)),
        "recall_direct_entities": share(sum(d and f for d, f in entities), sum(d for d, _ in entities)),
        "recall_quasi_entities": share(
            sum(f and not d for d, f in entities), sum(not d for d, _ in entities)
        ),
        "token_recall_by_type": {
            label: fmean(found for other, found in tokens if other == label)
            for label in sorted({label for label, _ in tokens})
        },
        "token_precision": share(sum(right["token"]), asked["token"]),
        "mention_precision": share(sum(right["mention"]), asked["mention"]),
    }


@given(documents())
def test_tab_is_its_definition(pairs: list[Sides]) -> None:
    found = figures(pairs, "tab")

    expected = tab(pairs)
    assert {name: found[name] for name in expected} == expected


Place = tuple[Any, ...]


def labelled(document: Document, layer: str) -> set[Place]:
    return {(span.start, span.end, span.label) for span in document.layers[layer]}


def words_of(text: str, spans: Iterable[Place]) -> set[Place]:
    return {
        (start + match.start(), start + match.end(), label)
        for start, end, label in spans
        for match in re.finditer("[a-zA-Z0-9]+", text[start:end])
    }


def largest_relaxed(gold: set[Place], predicted: set[Place]) -> int:
    """Pair spans that are near, the nearest first."""
    near = sorted(
        (abs(one[1] - other[1]), one[0], one[2], one[1], other[1])
        for one in gold
        for other in predicted
        if one[0] == other[0] and one[2] == other[2] and abs(one[1] - other[1]) <= 2
    )
    used: set[Any] = set()
    for _, start, label, end, last in near:
        if not {("g", start, end, label), ("p", start, last, label)} & used:
            used |= {("g", start, end, label), ("p", start, last, label)}
    return len(used) // 2


@given(documents())
def test_i2b2_is_its_definition(pairs: list[Sides]) -> None:
    by_name: dict[str, list[tuple[int, int, int]]] = {}
    for gold, predicted in pairs:
        own, other = labelled(gold, "a"), labelled(predicted, "label")
        own_words, words = words_of(gold.text or "", own), words_of(gold.text or "", other)
        for name, one, two in (
            ("token", own_words, words),
            ("strict", own, other),
            ("binary_token", {w[:2] for w in own_words}, {w[:2] for w in words}),
            ("binary_strict", {w[:2] for w in own}, {w[:2] for w in other}),
        ):
            by_name.setdefault(name, []).append((len(one & two), len(two - one), len(one - two)))
        near = largest_relaxed(own, other)
        by_name.setdefault("relaxed", []).append((near, len(other) - near, len(own) - near))

    found = figures(pairs, "i2b2")

    for name, counts in by_name.items():
        tp, fp, fn = map(sum, zip(*counts, strict=True))
        assert (found[name]["tp"], found[name]["fp"], found[name]["fn"]) == (tp, fp, fn)
        assert found[name]["micro_precision"] == share(tp, tp + fp)
        assert found[name]["micro_recall"] == share(tp, tp + fn)
        precisions, recalls = ([share(c[0], c[0] + c[wrong]) for c in counts] for wrong in (1, 2))
        for kind, values in (("precision", precisions), ("recall", recalls)):
            assert abs(found[name][f"macro_{kind}"] - fmean(values)) < 1e-12
            assert abs(found[name][f"macro_{kind}_sd"] - pstdev(values)) < 1e-9


def joined(text: str, spans: Iterable[Place]) -> set[Place]:
    found: list[list[int]] = []
    for start, end in sorted(spans):
        if found and not any(character.isalnum() for character in text[found[-1][1] : start]):
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([start, end])
    return {(start, end) for start, end in found}


@given(documents())
def test_meddocan_is_its_definition(pairs: list[Sides]) -> None:
    expected: Mapping[str, list[int]] = {name: [0, 0, 0] for name in ("ner", "strict", "merged")}
    for gold, predicted in pairs:
        own, other = labelled(gold, "a"), labelled(predicted, "label")
        ranges, others = {one[:2] for one in own}, {one[:2] for one in other}
        right = (ranges & others) | (joined(gold.text or "", ranges) & joined(gold.text or "", others))
        outside = [
            sum(not any(s <= start and end <= e for s, e in right) for start, end in side)
            for side in (others, ranges)
        ]
        for name, added in (
            ("ner", (len(own & other), len(other - own), len(own - other))),
            ("strict", (len(ranges & others), len(others - ranges), len(ranges - others))),
            ("merged", (len(right), *outside)),
        ):
            expected[name][:] = [total + number for total, number in zip(expected[name], added, strict=True)]

    found = figures(pairs, "meddocan")

    assert {name: [row["tp"], row["fp"], row["fn"]] for name, row in found.items()} == expected


# The figures of presidio-research, against those of its package presidio-evaluator 0.3.2


CASES = json.loads(Path(__file__).with_name("presidio_evaluator.json").read_text(encoding="utf-8"))
SKIP_WORDS = ["der", ",", ".", "und"]


def section(tokens: list[str], gold: Any, predicted: Any) -> Any:
    sides = [
        Document("d", {"label": [Span(*span) for span in spans]}, tokens=tokens)
        for spans in (gold, predicted)
    ]
    report = masking([sides[0]], [sides[1]], ignore_words=SKIP_WORDS, conventions="presidio")
    return report.reports["label"]["conventions"]["presidio"]


def counts(row: Any) -> list[int]:
    return [row["tp"], row["predicted"], row["annotated"]]


@pytest.mark.parametrize("case", CASES, ids=range(len(CASES)))
def test_counts_are_those_of_presidio_evaluator(case: Any) -> None:
    found = section(case["tokens"].split(" "), case["gold"], case["predicted"])

    assert counts(found["span"]) == case["span"]
    assert counts(found["token"]["pii"]) == case["pii"]
    assert {
        label: counts(row) for label, row in found["token"]["per_type"].items() if any(counts(row))
    } == case["per"]


def test_several_predicted_runs_are_compared_without_the_further_characters_of_presidio_evaluator() -> None:
    tokens = [",", "Schmidtmeyer", "Schmidtmeyer", "Öz", ".", "Oberlandesgericht", "Öz", "Öz"]

    found = section(tokens, [(1, 7, "LOC"), (7, 8, "LOC")], [(1, 3, "LOC"), (4, 8, "PER")])

    assert counts(found["span"]) == [0, 1, 1]  # 48 / 54; the package counts (48 + 2) / (54 + 1), above 0.9
