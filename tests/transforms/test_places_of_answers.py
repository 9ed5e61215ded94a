"""The places of mentions by default: outside of the other mentions of an answer, so that a perfect answer scores 1."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from itertools import combinations, permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from corpora import write
from hypothesis import assume, example, given
from hypothesis import strategies as st

import clueval
from clueval import Document, Span, score
from clueval.cli import main

SAMPLES = Path(clueval.__file__).parent / "samples"

Place = tuple[int, int, str]
"""Start, end (exclusive) and label."""


def mentions(text: str, places: Iterable[Place]) -> list[dict[str, Any]]:
    return [{"text": text[start:end], "label": label} for start, end, label in places]


def f1(text: str, gold: Sequence[Place], answer: Sequence[dict[str, Any]], **options: Any) -> float:
    rows = [{"id": "d", "text": text, "spans": list(gold)}]
    return float(score(rows, {"d": list(answer)}, input="mentions", metrics="exact", **options).f1)


def places(text: str, answer: Sequence[dict[str, Any]], *options: str) -> list[Place]:
    """Return the places that an answer gets: those of the errors where gold has no spans."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        gold = write(folder / "gold.jsonl", json.dumps({"id": "d", "text": text, "label": []}))
        answers = write(folder / "answers.jsonl", json.dumps({"id": "d", "entities": answer}))
        out = folder / "errors.json"
        command = ["errors", str(gold), str(answers), "--input", "mentions", *options, "-o", str(out)]
        assert main([*command, "--quiet"]) == 0
        errors = json.loads(out.read_text("utf-8"))["errors"]
    placed = [row for row in errors if row["span_start"] is not None]
    return sorted((row["span_start"], row["span_end_inclusive"] + 1, row["label"]) for row in placed)


class TestWorkedCases:
    TEXT = "Anna Schmidt klagt. Anna gewinnt."

    @pytest.mark.parametrize("names", [("Anna Schmidt", "Anna"), ("Anna", "Anna Schmidt")])
    def test_a_name_is_not_found_inside_a_longer_name_of_the_answer(self, names: Sequence[str]) -> None:
        answer = [{"text": name, "label": "PER"} for name in names]

        assert places(self.TEXT, answer) == [(0, 12, "PER"), (20, 24, "PER")]

    def test_labels_do_not_matter(self) -> None:
        answer = [{"text": "Anna", "label": "A"}, {"text": "Anna Schmidt", "label": "B"}]

        assert places(self.TEXT, answer) == [(0, 12, "B"), (20, 24, "A")]

    def test_a_name_is_inside_a_longer_one_where_gold_is_nested(self) -> None:
        text = "Universität Wien klagt."
        answer = [{"text": name, "label": "X"} for name in ("Wien", "Universität Wien", "Wien")]

        assert places(text, answer) == [(0, 16, "X"), (12, 16, "X")]

    def test_nested_names_take_free_places_first_and_each_place_once(self) -> None:
        answer = [{"text": name, "label": "X"} for name in ("Anna", "Anna", "Anna", "Anna Schmidt")]

        assert places(self.TEXT, answer) == [(0, 4, "X"), (0, 12, "X"), (20, 24, "X")]

    def test_a_name_that_crosses_a_longer_one_is_found_elsewhere(self) -> None:
        text = "Rot Weiss Essen gegen Weiss Essen Sued, Rot Weiss."
        answer = [{"text": name, "label": "X"} for name in ("Rot Weiss", "Weiss Essen Sued")]

        assert places(text, answer) == [(0, 9, "X"), (22, 38, "X")]
        crossing = [{"text": name, "label": "X"} for name in ("Essen", "gegen Weiss", "Essen gegen Weiss")]
        assert places(text, crossing) == [(10, 27, "X"), (16, 27, "X"), (28, 33, "X")]

    def test_a_longer_name_that_a_later_step_finds_comes_before_a_shorter_one(self) -> None:
        text = "Anna\nSchmidt klagt. Anna gewinnt."
        answer = [{"text": name, "label": "PER"} for name in ("Anna", "Anna Schmidt")]

        assert places(text, answer) == [(0, 12, "PER"), (20, 24, "PER")]

    def test_a_free_place_of_a_later_step_comes_before_one_inside_a_longer_name(self) -> None:
        text = "Rot Weiss Essen gegen Rot\nWeiss."
        answer = [{"text": name, "label": "X"} for name in ("Rot Weiss", "Rot Weiss Essen")]

        assert places(text, answer) == [(0, 15, "X"), (22, 31, "X")]

    def test_equally_long_names_take_their_exact_places_first(self) -> None:
        answer = [{"text": name, "label": name} for name in ("ANN", "Ann", "ann")]

        assert places("ann saw Ann", answer, "--locate", "exact,case") == [(0, 3, "ann"), (8, 11, "Ann")]

    def test_given_offsets_stand_inside_of_a_longer_name(self) -> None:
        answer: list[dict[str, Any]] = [
            {"text": "Anna", "label": "X", "start": 0, "end": 4},
            {"text": "Anna Schmidt", "label": "X"},
            {"text": "Anna", "label": "X"},
        ]

        assert places(self.TEXT, answer) == [(0, 4, "X"), (0, 12, "X"), (20, 24, "X")]

    def test_offsets_may_be_written_as_texts(self) -> None:
        answer: list[dict[str, Any]] = [{"text": "Anna", "label": "X", "start": "20", "end": "24"}]

        assert places(self.TEXT, answer) == [(20, 24, "X")]
        assert places(self.TEXT, [{**answer[0], "start": "five"}]) == [(0, 4, "X")]

    def test_similar_words_of_a_longer_name_are_not_taken_by_a_shorter_one(self) -> None:
        pytest.importorskip("rapidfuzz")
        text = "Anna Schmid klagt. Anna gewinnt."
        answer = [{"text": name, "label": "PER"} for name in ("Anna", "Anna Schmidt", "Anna Schmidt")]

        assert places(text, answer, "--locate", "exact,fuzzy=0.9") == [(0, 11, "PER"), (19, 23, "PER")]

    def test_an_exact_place_inside_a_longer_name_comes_before_similar_words(self) -> None:
        pytest.importorskip("rapidfuzz")
        answer = [{"text": name, "label": "PER"} for name in ("Anna", "Anna Schmidt")]

        found = places("Anna Schmidt traf Hanna.", answer, "--locate", "exact,fuzzy=0.7")

        assert found == [(0, 4, "PER"), (0, 12, "PER")]

    def test_tokens_of_gold_are_as_a_text(self) -> None:
        spans = [Span(0, 2, "PER"), Span(4, 5, "PER")]
        gold = Document("d", {"label": spans}, tokens=["Anna", "Schmidt", "klagt", ".", "Anna", "gewinnt"])
        answer = [{"text": name, "label": "PER"} for name in ("Anna", "Anna Schmidt")]

        assert score([gold], {"d": answer}, input="mentions", metrics="exact").f1 == 1


def occurrences(text: str, name: str) -> list[int]:
    """Return where a name stands in the text, not inside of a word; occurrences may overlap."""

    def is_cut(place: int) -> bool:
        return 0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum()

    return [
        start
        for start in range(len(text) - len(name) + 1)
        if text.startswith(name, start) and not is_cut(start) and not is_cut(start + len(name))
    ]


def lies_inside(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return other[0] <= one[0] and one[1] <= other[1] and one[:2] != other[:2]


@st.composite
def texts_with_flat_mentions(draw: st.DrawFn) -> tuple[str, list[Place]]:
    """A text of few words, and flat mentions of one to three words; equal texts may have different labels."""
    words = draw(st.lists(st.sampled_from(["Anna", "Bo", "C"]), min_size=1, max_size=9))
    starts, text = [], ""
    for word in words:
        text += draw(st.sampled_from([" ", ", "])) if text else ""
        starts.append(len(text))
        text += word
    found, number = [], 0
    while number < len(words):
        size = draw(st.integers(0, 3))
        if size and number + size <= len(words):
            last = number + size - 1
            label = draw(st.sampled_from(["X", "Y"]))
            found.append((starts[number], starts[last] + len(words[last]), label))
        number += max(1, size)
    return text, found


def every_occurrence_is_a_mention(text: str, gold: Sequence[Place]) -> bool:
    """Return whether each occurrence of a mention's text that is not inside another mention is a mention."""
    ranges = {place[:2] for place in gold}
    return all(
        (start, start + len(name)) in ranges
        or any(lies_inside((start, start + len(name)), place) for place in gold)
        for name in {text[start:end] for start, end, _ in gold}
        for start in occurrences(text, name)
    )


class TestPerfectAnswers:
    @example(case=("Anna Bo, Anna", [(0, 7, "X"), (9, 13, "X")]), rng=random.Random(0))
    @given(case=texts_with_flat_mentions(), rng=st.randoms(use_true_random=False))
    def test_the_answer_with_the_mentions_of_gold_scores_one_in_any_order(
        self, case: tuple[str, list[Place]], rng: random.Random
    ) -> None:
        text, gold = case
        assume(gold and every_occurrence_is_a_mention(text, gold))
        label_of = {text[start:end]: label for start, end, label in gold}
        gold = [(start, end, label_of[text[start:end]]) for start, end, _ in gold]
        answer = mentions(text, gold)
        rng.shuffle(answer)

        assert f1(text, gold, answer) == 1

    @given(case=texts_with_flat_mentions())
    def test_the_answer_in_the_order_of_the_text_scores_one_whatever_the_labels(
        self, case: tuple[str, list[Place]]
    ) -> None:
        text, gold = case
        assume(gold and every_occurrence_is_a_mention(text, gold))

        assert f1(text, gold, mentions(text, gold)) == 1

    @pytest.mark.parametrize("language", ["german", "english"])
    def test_the_gold_of_a_sample_as_an_answer_scores_one_in_any_order(self, language: str) -> None:
        gold, answers = sample(language)
        rng = random.Random(7)
        shuffled = {key: rng.sample(answer, len(answer)) for key, answer in answers.items()}
        backwards = {key: answer[::-1] for key, answer in answers.items()}

        for each in (answers, backwards, shuffled):
            assert score(gold, each, input="mentions", metrics="exact").f1 == 1


def sample(language: str) -> tuple[list[Document], dict[str, list[dict[str, str]]]]:
    """Return gold of a sample, and answers with its mentions in the order of the text."""
    gold = list(clueval.read(SAMPLES / language / "gold.vrt", layers={"label": 2}))
    answers = {}
    for document in gold:
        words = list(document.tokens or ())
        answers[document.id] = [
            {"text": " ".join(words[span.start - document.start : span.end - document.start])}
            | {"label": span.label}
            for span in document.layers["label"]
        ]
    return gold, answers


@st.composite
def texts_with_answers(draw: st.DrawFn) -> tuple[str, list[dict[str, Any]]]:
    words = st.sampled_from(["Anna", "Bo", "C"])
    text = " ".join(draw(st.lists(words, min_size=1, max_size=9)))
    names = st.lists(st.lists(words, min_size=1, max_size=3).map(" ".join), max_size=6)
    return text, [{"text": name, "label": f"L{number}"} for number, name in enumerate(draw(names))]


def apart(text: str, name: str) -> list[int]:
    """Return the occurrences from left to right that do not overlap."""
    found: list[int] = []
    for start in occurrences(text, name):
        if not found or start >= found[-1] + len(name):
            found.append(start)
    return found


@example(case=("Anna Bo Anna", [{"text": "Anna", "label": "L0"}, {"text": "Anna Bo", "label": "L1"}]))
@given(case=texts_with_answers())
def test_no_mention_is_inside_another_one_while_a_free_occurrence_exists(
    case: tuple[str, list[dict[str, Any]]],
) -> None:
    text, answer = case
    placed = places(text, answer)

    for start, end, _ in placed:
        if any(lies_inside((start, end), other) for other in placed):
            for other in apart(text, text[start:end]):
                occurrence = other, other + end - start
                assert any(
                    occurrence == (first, last)
                    or lies_inside(occurrence, (first, last))
                    or first < occurrence[0] < last < occurrence[1]
                    or occurrence[0] < first < occurrence[1] < last
                    for first, last, _ in placed
                )


@given(case=texts_with_answers())
def test_equal_texts_take_different_places_and_as_many_as_there_are(
    case: tuple[str, list[dict[str, Any]]],
) -> None:
    text, answer = case
    placed = places(text, answer)

    for name in {mention["text"] for mention in answer}:
        times = sum(mention["text"] == name for mention in answer)
        own = [place for place in placed if text[place[0] : place[1]] == name]
        assert len(own) == min(times, len(apart(text, name)))
        assert all(one[1] <= other[0] or other[1] <= one[0] for one, other in combinations(own, 2))


def test_many_mentions_of_one_text_find_their_places() -> None:
    text = "Anna Schmidt, Anna. " * 1000
    names = [("Anna", "Anna Schmidt")[number % 2] for number in range(2000)]
    answer = [{"text": name, "label": "PER"} for name in [*names, *["Anna"] * 7000]]
    gold = [
        (start + first, start + last, "PER")
        for start in range(0, len(text), 20)
        for first, last in ((0, 12), (0, 4), (14, 18))
    ]

    result = score(
        [{"id": "d", "text": text, "spans": gold}], {"d": answer}, input="mentions", metrics="exact"
    )

    assert result["exact.tp_gold"] == 3000
    assert result["exact.fp"] == 6000


def test_the_order_of_mentions_with_different_texts_changes_no_place() -> None:
    text = "Anna Schmidt klagt. Anna Maier zahlt. Schmidt gewinnt, Anna auch."
    names = ["Anna", "Schmidt", "Anna Schmidt", "Anna Maier"]

    found = {
        tuple(places(text, [{"text": name, "label": name} for name in order]))
        for order in permutations(names)
    }

    assert found == {((0, 12, "Anna Schmidt"), (20, 30, "Anna Maier"), (38, 45, "Schmidt"), (55, 59, "Anna"))}


def test_the_rule_is_in_the_signature_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"id": "d", "text": TestWorkedCases.TEXT, "label": [[0, 12, "PER"], [20, 24, "PER"]]}
    answer = {"id": "d", "entities": {"PER": ["Anna", "Anna Schmidt"]}}
    gold = write(tmp_path / "gold.jsonl", json.dumps(row))
    answers = write(tmp_path / "answers.jsonl", json.dumps(answer))
    command = [
        "score",
        str(gold),
        str(answers),
        "--input",
        "mentions",
        "--metric",
        "exact",
        "--format",
        "json",
    ]

    assert main(command) == 0
    default = json.loads(capsys.readouterr().out)
    assert default["metrics"]["exact"]["label"]["micro"]["f1"] == 1
    assert "located:free(exact,space)" in default["signature"]

    assert main([*command, "--occurrence", "free"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"] == default["metrics"]

    assert main([*command, "--occurrence", "first"]) == 0
    assert json.loads(capsys.readouterr().out)["metrics"]["exact"]["label"]["micro"]["f1"] == 0.5
