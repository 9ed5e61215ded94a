"""Ids of documents to which their file gives none."""

from __future__ import annotations


class MissingId(str):
    """The number of a document in its file, in place of an id; it is equal to the same text.

    >>> MissingId("1") == "1", same_id(MissingId("1"), "57"), same_id("1", "57")
    (True, True, False)
    """

    __slots__ = ()


def same_id(one: object, other: object) -> bool:
    """Return whether two ids are equal, or one of them is not given."""
    return one == other or isinstance(one, MissingId) or isinstance(other, MissingId)
