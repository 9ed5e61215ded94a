"""Aligned texts, against the example of Nerval's README, the textbook's table, and a scan of the columns."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.core.alignment import Alignment, align, are_unknown, edit_distance, tokens_in
from clueval.core.document import Document
from clueval.files.errors import MissingExtra, UsageError
from clueval.transforms.characters import Characters

GOLD = "Tolkien was a writer ."
PREDICTED = "Tolkieene xas writear ,."

NARROW = st.text("ab ", max_size=12)
WIDE = st.text("ab§-–\u0301漢字仮名שלום", max_size=12)


def table_distance(one: str, other: str) -> int:
    """The distance from the textbook's table, row by row."""
    above = list(range(len(other) + 1))
    for number, character in enumerate(one, 1):
        row = [number]
        for place, partner in enumerate(other, 1):
            row.append(min(row[-1] + 1, above[place] + 1, above[place - 1] + (character != partner)))
        above = row
    return above[-1]


def columns_of(alignment: Alignment) -> list[tuple[str, str]]:
    """Every column as a pair, "" where a side has nothing."""
    return [
        (own[i : i + 1], other[i : i + 1])
        for own, other in alignment.pieces()
        for i in range(max(len(own), len(other)))
    ]


def cost(rows: Sequence[tuple[str, str]]) -> int:
    return sum(own != other for own, other in rows)


def test_the_readmes_example_is_aligned() -> None:
    alignment = align(GOLD, PREDICTED)

    assert alignment.distance == 7


@given(NARROW | WIDE, NARROW | WIDE)
def test_the_alignment_is_minimal_and_its_columns_are_those_that_a_scan_finds(
    gold: str, predicted: str
) -> None:
    alignment = align(gold, predicted)
    columns = columns_of(alignment)
    of_gold = [number for number, (own, _) in enumerate(columns) if own]
    of_predicted = [number for number, (_, other) in enumerate(columns) if other]

    assert "".join(own for own, _ in columns) == gold
    assert "".join(other for _, other in columns) == predicted
    assert ("", "") not in columns
    assert cost(columns) == alignment.distance == table_distance(gold, predicted)
    assert len(columns) == alignment.columns
    assert [alignment.column_of_gold(i) for i in range(len(gold))] == of_gold
    assert [alignment.column_of_predicted(i) for i in range(len(predicted))] == of_predicted
    assert alignment.column_of_gold(len(gold)) == (of_gold[-1] + 1 if of_gold else 0)
    assert alignment.column_of_predicted(len(predicted)) == (of_predicted[-1] + 1 if of_predicted else 0)
    for column in range(len(columns) + 1):
        assert alignment.gold_before(column) == sum(number < column for number in of_gold)
        assert alignment.predicted_before(column) == sum(number < column for number in of_predicted)


@pytest.mark.parametrize("text", ["§ 823 BGB", "a-b--c", "東京都", "e\u0301te\u0301", "שלום עולם", "👩‍👩‍👧"])
def test_no_character_is_reserved_in_any_script(text: str) -> None:
    alignment = align(text, text[1:] + "-")

    assert alignment.distance == 2
    assert alignment.column_of_gold(1) == 1
    assert alignment.predicted_before(alignment.column_of_gold(len(text))) == len(text) - 1


def test_distances_count_code_points() -> None:
    assert (edit_distance("é", "e\u0301"), edit_distance("𝔤", "g")) == (2, 1)


@pytest.mark.parametrize(
    ("gold", "predicted", "distance"), [("", "", 0), ("ab", "", 2), ("", "ab", 2), ("ab", "ab", 0)]
)
def test_empty_and_equal_texts_are_aligned(gold: str, predicted: str, distance: int) -> None:
    alignment = align(gold, predicted)

    assert alignment.distance == distance
    assert alignment.columns == max(len(gold), len(predicted))


def test_a_pair_above_the_limit_is_refused_with_both_lengths() -> None:
    assert align("a" * 100, "b" * 10, max_cells=1000).distance == 100
    assert align("a" * 100, "a" * 100, max_cells=1).distance == 0
    with pytest.raises(UsageError) as refusal:
        align("a" * 100, "b" * 11, max_cells=1000, document="letter")

    assert str(refusal.value) == (
        "document 'letter': aligning 100 with 11 characters takes 1,100 cells, and 1,000 are allowed "
        "(split the document, or raise max_cells)"
    )


def test_without_rapidfuzz_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidfuzz.distance", None)

    for refused in (lambda: align("a", "b"), lambda: edit_distance("a", "b")):
        with pytest.raises(
            MissingExtra, match=r"^aligning texts needs rapidfuzz, which is not installed"
        ) as refusal:
            refused()
        assert str(refusal.value).endswith(' (install it with: pip install "clueval[align]")')


def test_tokens_become_a_text_joined_by_blanks() -> None:
    document = Document("d", {}, tokens=["Anna", "", "Weiß"], start=7)
    characters = Characters.of(document)

    assert characters.text == "Anna  Weiß"
    assert [characters.range_between(i, i + 1) for i in (7, 8, 9)] == [(0, 4), (5, 5), (6, 10)]
    assert characters.range_between(7, 10) == (0, 10)
    assert [characters.range_between(i, i) for i in (7, 9, 10)] == [(0, 0), (6, 6), (10, 10)]
    as_text = Characters.of(Document("d", {}, text="Anna Weiß", unit="character", start=100))
    assert (as_text.text, as_text.range_between(105, 109)) == ("Anna Weiß", (5, 9))


def test_a_document_without_text_is_an_error() -> None:
    with pytest.raises(UsageError) as caught:
        Characters.of(Document("d", {}, file="gold.bio"))

    says = "gold.bio, document 'd': the document has no text to align (use a format that has the text)"
    assert str(caught.value) == says


def test_tokens_stand_in_a_text_one_after_the_other_or_not_at_all() -> None:
    assert tokens_in("a ba b", ["a", "b", "b"]) == [(0, 1), (2, 3), (5, 6)]
    assert tokens_in("a ba b", ["b", "a", "b"]) == [(2, 3), (3, 4), (5, 6)]
    assert tokens_in("a ba b", ["b", "b", "a"]) == []
    assert (are_unknown([]), are_unknown(["", ""]), are_unknown(["", "a"])) == (False, True, False)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_two_texts_of_200_000_characters_are_aligned_minimally_in_little_memory(share: float) -> None:
    code = f"""
import random
from clueval.core.alignment import align, edit_distance
rng = random.Random(1)
gold = "".join(rng.choices("abcdefghijklmnopqrstuvwxyz     ", k=200_000))
predicted = "".join(one if rng.random() > {share} else rng.choice(("", one * 2, "x")) for one in gold)
alignment = align(gold, predicted)
assert alignment.distance == edit_distance(gold, predicted)
assert "".join(own for own, _ in alignment.pieces()) == gold
# of this process alone: ru_maxrss would include what its parent had when it was started
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:")))
"""
    finished = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, encoding="utf-8")

    assert int(finished.stdout) < 200 << 10  # kilobytes


@pytest.mark.long
def test_long_alignments_are_as_minimal_as_the_table_says() -> None:
    rng = random.Random(1)
    for alphabet in ("ab", "abcdefghij ", [chr(0x4E00 + i) for i in range(600)]):
        gold = "".join(rng.choices(alphabet, k=1500))
        predicted = "".join(
            one if rng.random() > 0.4 else rng.choice(alphabet) * rng.randint(0, 2) for one in gold
        )

        assert align(gold, predicted).distance == table_distance(gold, predicted)
