"""Tags and their schemes: BIO (IOB2), IOB1, BIOES, BILOU, BMES, BMEOW, IO, IOE1 and IOE2.

A tag is a prefix, a hyphen and a label that may itself contain hyphens (``B-court-name``); ``O`` marks a
token outside all spans. A bare prefix (``B``) has the label ``_``. A tag is ill-formed if its scheme does not allow it
after the tag before it in the same sentence.

Sources: Ramshaw and Marcus 1995 (IOB1), Tjong Kim Sang and Veenstra 1999 (IOB2, IOE1, IOE2), Ratinov and Roth
2009 (BILOU); the behaviour of seqeval 1.2.2.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from clueval.core.span import NO_LABEL
from clueval.files.errors import TagError

OUTSIDE = "O"

Neighbours = Counter[tuple[str, str]]
"""How often a tag (second) follows a tag (first); the ends of sentences are O."""


def neighbours_of(tags: Sequence[str]) -> Neighbours:
    """Return the pairs of adjacent tags in a list; an O is assumed before the first tag and after the last.

    >>> neighbours_of(["B-PER", "I-PER", "O", "I-LOC"])["O", "I-LOC"]
    1
    """
    return Counter(pairwise((OUTSIDE, *tags, OUTSIDE)))


class SchemeRules(NamedTuple):
    """A scheme as relations between adjacent tags, each written PREVIOUS RELATION CURRENT.

    The relation is ``=`` (same label), ``!`` (another label) or ``*`` (any). `legal` lists the allowed pairs
    of tags; in strict decoding, `starts` lists the pairs at which a span begins, `inside` those at which it
    continues and `ends` those between which it may end.
    """

    prefixes: str
    legal: str
    starts: str
    inside: str
    ends: str


_OF_FOUR_LETTERS = {"BIOES": "BIES", "BILOU": "BILU", "BMES": "BMES", "BMEOW": "BMEW"}
"""The letters of the first, inner and last tokens of a span, and of a span of one token."""


def _in_letters(letters: str) -> SchemeRules:
    rules = (
        "BIESO",
        "B=I I=I B=E I=E O*B E*B S*B O*S E*S S*S O*O E*O S*O",
        "**B **S",
        "B=I I=I B=E I=E",
        "S** E**",
    )
    return SchemeRules(*(rule.translate(str.maketrans("BIES", letters)) for rule in rules))


RULES = {
    "BIO": SchemeRules("BIO", "B=I I=I **B **O", "**B", "B=I I=I", "B*O I*O B*B I*B B!I I!I"),
    "IOB1": SchemeRules(
        "BIO",
        "**I **O B=B I=B",
        "O*I I!I B*I I=B B=B",
        "B=I I=I",
        "I!I I*O I*B B*O B!I B=B",
    ),
    **{name: _in_letters(letters) for name, letters in _OF_FOUR_LETTERS.items()},
    "IO": SchemeRules("IO", "***", "O*I I!I", "I=I", "I!I I*O"),
    "IOE1": SchemeRules("IOE", "I** O** E=I E=E", "O*I I!I E*I E=E", "I=I I=E", "I!I I*O I!E E=I E=E"),
    "IOE2": SchemeRules("IOE", "O** E** I=I I=E", "O*I O*E E*I E*E I!I I!E", "I=I I=E", "E**"),
}

SCHEMES = tuple(RULES)

LENIENT = MappingProxyType(
    {"O": "O", "B": "B", "I": "I", "E": "E", "S": "S", "L": "E", "U": "S", "M": "I", "W": "S"}
)
"""The five prefixes of the lenient reading: L is read as E, which ends a span, U and W as S, a span of one token, M as
I, the middle of a span."""

_HEADS = frozenset({"tag", "tags", "ner", "ner_tag", "ner_tags", "label", "labels", "entity", "iob"})

_LABEL = re.compile(r"[^\W\d_]{2}[\w./-]*")
"""What may be a label without a prefix."""


def _advice(tag: str) -> str:
    if tag.lower() in _HEADS:
        return "if this line has the names of the columns, remove it"
    if tag[1:2] == "_" and tag[0] in LENIENT:
        return f"write a hyphen: {tag.replace('_', '-', 1)}"
    tags = "a tag is O, or one of B I E S L U M W, alone or with a hyphen and a label"
    return f"{tags}; if labels have no prefix, write I- before each" if _LABEL.fullmatch(tag) else tags


@lru_cache(maxsize=1 << 16)
def split_tag(tag: str) -> tuple[str, str]:
    """Return the prefix and the label of a tag. Raises `TagError` if `tag` is not a tag of any scheme.

    >>> split_tag("B-court-name"), split_tag("I"), split_tag("O")
    (('B', 'court-name'), ('I', '_'), ('O', ''))
    """
    prefix, hyphen, label = tag.partition("-")
    if prefix not in LENIENT or (hyphen and (prefix == OUTSIDE or not label)):
        raise TagError(
            f"{tag!r} is not a tag",
            advice=_advice(tag),
        )
    return prefix, "" if prefix == OUTSIDE else label or NO_LABEL


def is_tag(text: str) -> bool:
    """Return whether `text` is a tag of any scheme.

    >>> is_tag("B-PER"), is_tag("Anna")
    (True, False)
    """
    try:
        split_tag(text)
    except TagError:
        return False
    return True


def scheme_of(neighbours: Iterable[tuple[str, str]]) -> str | None:
    """Return the scheme of tags, given their pairs (tag, next tag); None if all tags are O.

    The scheme is recognised by the prefixes that occur. BIO and IOB1 have the same prefixes: the scheme is
    IOB1 if there are tags with I, and IOB1 allows every B where it is. Raises `TagError` for prefixes of both
    BIOES and BILOU, or of BMES or BMEOW and another.
    """
    pairs = [(split_tag(previous), split_tag(tag)) for previous, tag in neighbours]
    prefixes = {prefix for _, (prefix, _) in pairs} - {OUTSIDE}
    if not prefixes:
        return None
    if prefixes & set("MW"):
        if prefixes & set("ILU") or {"S", "W"} <= prefixes:
            raise TagError(
                "tags of BMES (M, S) or BMEOW (M, W) and of another scheme occur together",
                advice="name the scheme with scheme=...",
            )
        return "BMEOW" if "W" in prefixes else "BMES"
    if prefixes & set("LU"):
        if prefixes & set("ES"):
            raise TagError(
                "tags of BIOES (E, S) and of BILOU (L, U) occur together",
                advice="name the scheme with scheme=...",
            )
        return "BILOU"
    if "S" in prefixes or {"B", "E"} <= prefixes:
        return "BIOES"
    if "E" in prefixes:
        return "IOE2"
    if prefixes == {"I"}:
        return "IO"
    if prefixes == {"B"} or any(not fits("IOB1", "legal", *pair) for pair in pairs):
        return "BIO"
    return "IOB1"


@lru_cache(maxsize=1 << 16)
def fits(scheme: str, relation: str, previous: tuple[str, str], current: tuple[str, str]) -> bool:
    """Return whether two adjacent tags, as prefix and label, match `relation` (a field of `SchemeRules`)."""
    same = "=" if previous[1] == current[1] else "!"
    return any(
        rule[0] in ("*", previous[0]) and rule[1] in ("*", same) and rule[2] in ("*", current[0])
        for rule in getattr(RULES[scheme], relation).split()
    )


@lru_cache(maxsize=1 << 16)
def is_legal(scheme: str, previous: str, tag: str) -> bool:
    """Return whether `tag` may follow `previous`. Raises `TagError` for a tag outside the scheme."""
    before, current = split_tag(previous), split_tag(tag)
    if current[0] not in RULES[scheme].prefixes:
        raise TagError(
            f"tag {tag!r} is outside the scheme {scheme}",
            advice="name the scheme of the file with scheme=...",
        )
    return fits(scheme, "legal", before, current)


def count_illegal(neighbours: Mapping[tuple[str, str], int], scheme: str) -> int:
    """Return the number of tags that may not follow the tag before them; `neighbours` counts (tag, next tag).

    The end of a sequence counts as an O. Raises `TagError` for a tag outside the scheme.
    """
    return sum(n for (previous, tag), n in neighbours.items() if not is_legal(scheme, previous, tag))
