"""String leaks as columns: a sequence of the string leaks, by document and position."""

from __future__ import annotations

from clueval.studies.masking.leak import Excerpt, StringLeak, StringLeakList, by_document

EXCERPT = Excerpt(((0, "Anna klagt"),))
LEAKS = [
    StringLeak("d2", 5, 9, "Anna", EXCERPT),
    StringLeak("d2", 1, 4, "Eva"),
    StringLeak("d1", 7, 11, "Karl"),
    StringLeak("d2", 3, 6, "Ida", EXCERPT),
]
ORDERED = [LEAKS[2], LEAKS[1], LEAKS[3], LEAKS[0]]


def test_string_leaks_come_by_document_and_position() -> None:
    found = StringLeakList(by_document(LEAKS))

    assert list(found) == ORDERED
    assert found.to_dicts() == [leak.to_dict() for leak in ORDERED]


def test_string_leaks_are_a_sequence() -> None:
    found = StringLeakList(by_document(LEAKS))

    assert (len(found), found[1], found[-1]) == (4, ORDERED[1], ORDERED[-1])
    assert found[1:3] == ORDERED[1:3]
    assert found == ORDERED
    assert repr(found) == repr(ORDERED)


def test_string_leaks_may_be_none() -> None:
    assert StringLeakList([]) == []
