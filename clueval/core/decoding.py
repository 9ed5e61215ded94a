"""Decoding: the spans of a sequence of tags, which is one sentence, so that no span crosses its ends.

A tag is ill-formed if its scheme does not allow it after the tag before it (`clueval.core.tags`). There are three
treatments:

``conlleval``
    A tag that may continue a span continues it if the tag before it belongs to an open span with the same
    label; otherwise it begins a span. This is the rule of conlleval and seqeval (default mode), for all
    schemes.
``discard``
    Only spans that are complete and well-formed in the scheme are counted, as in seqeval's strict mode.
``error``
    The first ill-formed tag raises a `TagError`.

Sources: the behaviour of conlleval (CoNLL-2000) and seqeval 1.2.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import Literal, get_args

from clueval.core.tags import LENIENT, OUTSIDE, RULES, SCHEMES, fits, is_legal, scheme_of, split_tag
from clueval.files.errors import TagError, UsageError

Invalid = Literal["conlleval", "discard", "error"]
INVALID: tuple[str, ...] = get_args(Invalid)


_ALIASES = {
    "IOB2": "BIO",
    "IOB": "BIO",
    "IOBES": "BIOES",
    "BIOLU": "BILOU",
    "BILUO": "BILOU",
    "BMESO": "BMES",
    "BMEWO": "BMEOW",
}


def scheme_called(name: str) -> str:
    """Return the scheme with this name or alias, in any case. Raises `UsageError` for an unknown name.

    >>> scheme_called("iob2")
    'BIO'
    """
    upper = name.upper()
    found = _ALIASES.get(upper, upper)
    if found not in RULES:
        from difflib import get_close_matches  # only for wrong names

        near = get_close_matches(upper, [*SCHEMES, *_ALIASES])
        meant = f"did you mean {' or '.join(near)}? it is " if near else ""
        raise UsageError(f"unknown tag scheme {name!r}", advice=f"{meant}one of {', '.join(SCHEMES)}")
    return found


def detect_scheme(tags: Iterable[str]) -> str | None:
    """Return the scheme of these tags, or None if all of them are O; see `scheme_of`.

    >>> detect_scheme(["O", "S-PER"]), detect_scheme(["O"])
    ('BIOES', None)
    """
    return scheme_of(set(pairwise(chain((OUTSIDE,), tags))))


@lru_cache(maxsize=1 << 16)
def continues(previous: str, tag: str) -> bool:
    """Return whether, by the lenient rule, `tag` continues the span of `previous`."""
    (before, open_label), (prefix, label) = split_tag(previous), split_tag(tag)
    return LENIENT[before] in "BI" and LENIENT[prefix] in "IE" and open_label == label


def first_illegal(tags: Sequence[str], scheme: str) -> int | None:
    """Return the position of the first tag that may not follow the tag before it, or None.

    The result is ``len(tags)`` if the sequence may not end after its last tag.
    """
    for position, (previous, tag) in enumerate(pairwise(chain((OUTSIDE,), tags, (OUTSIDE,)))):
        if not is_legal(scheme, previous, tag):
            return position
    return None


def ill_formed(tags: Sequence[str], position: int, scheme: str) -> str:
    """Return the error message for the ill-formed tag at `position`."""
    tag = repr(tags[position]) if position < len(tags) else "the end of the sentence"
    previous = repr(tags[position - 1]) if position else "the start of the sentence"
    return f"ill-formed tags: {tag} may not follow {previous} in the scheme {scheme}"


Chunk = tuple[int, int, str]
"""A decoded span as a tuple, for speed: start, end (half-open), label."""


def decode(tags: Iterable[str]) -> Iterator[Chunk]:
    """Yield the spans of one sequence in the lenient (conlleval) reading, in order.

    >>> list(decode(["B-PER", "I-PER", "O", "I-LOC", "B-LOC"]))
    [(0, 2, 'PER'), (3, 4, 'LOC'), (4, 5, 'LOC')]
    """
    start = position = 0
    previous = OUTSIDE
    for position, tag in enumerate(tags):
        if tag == OUTSIDE:
            if previous != OUTSIDE:
                yield start, position, split_tag(previous)[1]
        elif previous == OUTSIDE:
            split_tag(tag)
            start = position
        elif not continues(previous, tag):
            yield start, position, split_tag(previous)[1]
            start = position
        previous = tag
    if previous != OUTSIDE:
        yield start, position + 1, split_tag(previous)[1]


def decode_strictly(tags: Sequence[str], scheme: str) -> Iterator[Chunk]:
    """Yield the complete, well-formed spans of one sequence, in order, as in seqeval's strict mode.

    >>> list(decode_strictly(["B-PER", "I-PER", "O", "I-LOC", "B-LOC"], "BIO"))
    [(0, 2, 'PER'), (4, 5, 'LOC')]
    """
    parts = [split_tag(tag) for tag in tags]
    parts.append((OUTSIDE, ""))
    previous = (OUTSIDE, "")
    position = 0
    while position < len(parts):
        if fits(scheme, "starts", previous, parts[position]):
            start = position
            position += 1
            while position < len(parts) and fits(scheme, "inside", parts[position - 1], parts[position]):
                position += 1
            if fits(scheme, "ends", parts[position - 1], parts[position]):
                yield start, position, parts[start][1]
        else:
            position += 1
        previous = parts[position - 1]


def decode_tags(tags: Sequence[str], scheme: str | None = None, invalid: str = "conlleval") -> list[Chunk]:
    """Return the spans of one sequence of tags as (start, end, label), half-open, in order.

    If `scheme` is None, it is detected from these tags. `invalid` is the treatment of ill-formed tags. Raises
    `TagError` for a tag outside the scheme and, if `invalid` is ``error``, for the first ill-formed tag;
    `UsageError` for an unknown scheme or treatment.

    >>> decode_tags(["O", "I-PER", "I-PER"], "BIO", invalid="discard")
    []
    """
    if invalid not in INVALID:
        raise UsageError(
            f"unknown treatment of ill-formed tags {invalid!r}", advice=f"one of {', '.join(INVALID)}"
        )
    scheme = detect_scheme(tags) if scheme is None else scheme_called(scheme)
    if scheme is None:
        return []
    wrong = first_illegal(tags, scheme)
    if wrong is None or invalid == "conlleval":
        return list(decode(tags))
    if invalid == "discard":
        return list(decode_strictly(tags, scheme))
    raise TagError(ill_formed(tags, wrong, scheme))
