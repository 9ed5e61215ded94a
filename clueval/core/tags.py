"""Tags, their schemes, and the spans of a sequence of tags.

The schemes are BIO (IOB2), IOB1, BIOES, BILOU, BMES, BMEOW, IO, IOE1 and IOE2. A tag is a prefix, a hyphen and a label
that may itself contain hyphens (``B-court-name``); ``O`` marks a token outside all spans. A bare prefix (``B``) has the
label ``_``. A tag is ill-formed if its scheme does not allow it after the tag before it in the same sentence. There are
three treatments:

``conlleval``
    A tag that may continue a span continues it if the tag before it belongs to an open span with the same
    label; otherwise it begins a span. This is the rule of conlleval and seqeval (default mode), for all
    schemes.
``discard``
    Only spans that are complete and well-formed in the scheme are counted, as in seqeval's strict mode.
``error``
    The first ill-formed tag raises a `TagError`.

A sequence is one sentence: no span crosses its ends.

Sources: Ramshaw and Marcus 1995 (IOB1), Tjong Kim Sang and Veenstra 1999 (IOB2, IOE1, IOE2), Ratinov and Roth
2009 (BILOU); the behaviour of conlleval (CoNLL-2000) and seqeval 1.2.2.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, pairwise
from types import MappingProxyType
from typing import Literal, NamedTuple, get_args

from clueval.core.span import LONG_LABEL, NO_LABEL
from clueval.files.errors import TagError, UsageError

OUTSIDE = "O"

Neighbours = Counter[tuple[str, str]]
"""How often a tag (second) follows a tag (first); the ends of sentences are O."""


def neighbours_of(tags: Sequence[str]) -> Neighbours:
    """Return the pairs of adjacent tags in a list; an O is assumed before the first tag and after the last."""
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


_FOUR_LETTERS = SchemeRules(
    "BIESO",
    "B=I I=I B=E I=E O*B E*B S*B O*S E*S S*S O*O E*O S*O",
    "**B **S",
    "B=I I=I B=E I=E",
    "S** E**",
)
"""The rules of schemes with letters for the first, inner and last tokens of a span, and for a span of one token."""


def _rules_in_letters(letters: str) -> SchemeRules:
    table = str.maketrans("BIES", letters)
    return SchemeRules(*(rule.translate(table) for rule in _FOUR_LETTERS))


RULES = {
    "BIO": SchemeRules("BIO", "B=I I=I **B **O", "**B", "B=I I=I", "B*O I*O B*B I*B B!I I!I"),
    "IOB1": SchemeRules(
        "BIO", "**I **O B=B I=B", "O*I I!I B*I I=B B=B", "B=I I=I", "I!I I*O I*B B*O B!I B=B"
    ),
    "BIOES": _FOUR_LETTERS,
    "BILOU": _rules_in_letters("BILU"),
    "BMES": _rules_in_letters("BMES"),
    "BMEOW": _rules_in_letters("BMEW"),
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

_NO_HYPHENS = frozenset("_:\u2010\u2011\u2012\u2013\u2014\u2212")
"""What stands in place of the hyphen of a tag by mistake: an underscore, a colon, other hyphens, dashes, a minus."""

_LABEL = re.compile(r"[^\W\d_]{2}[\w./-]*")
"""What may be a label without a prefix."""


@lru_cache(maxsize=1 << 14)
def split_tag(tag: str) -> tuple[str, str]:
    """Return the prefix and the label of a tag. Raises `TagError` if `tag` is not a tag of any scheme.

    >>> split_tag("B-court-name"), split_tag("I"), split_tag("O")
    (('B', 'court-name'), ('I', '_'), ('O', ''))
    """
    if len(tag) > LONG_LABEL:
        for function in (split_tag, is_legal, continues):
            function.cache_clear()
    prefix, hyphen, label = tag.partition("-")
    if prefix in LENIENT and not (hyphen and (prefix == OUTSIDE or not label)) and not tag.endswith(" "):
        return prefix, "" if prefix == OUTSIDE else label or NO_LABEL
    advice = "a tag is O, or one of B I E S L U M W, alone or with a hyphen and a label"
    if tag.endswith(" "):
        advice = "remove the blanks at its end"
    elif tag.lower() in _HEADS:
        advice = "if this line has the names of the columns, remove it"
    elif tag[1:2] in _NO_HYPHENS and tag[0] in LENIENT:
        advice = f"write a hyphen: {tag[0]}-{tag[2:]}"
    elif _LABEL.fullmatch(tag):
        advice += "; if labels have no prefix, write I- before each"
    raise TagError(f"{tag!r} is not a tag", advice=advice)


def is_tag(text: str) -> bool:
    """Return whether `text` is a tag of any scheme."""
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
    pairs = list(neighbours)
    prefixes = {split_tag(tag)[0] for tag in {*chain.from_iterable(pairs)}} - {OUTSIDE}
    if not prefixes:
        return None
    mixed = None
    if not prefixes.isdisjoint("MW"):
        if not prefixes.isdisjoint("ILU") or {"S", "W"} <= prefixes:
            mixed = "BMES (M, S) or BMEOW (M, W) and of another scheme"
    elif not prefixes.isdisjoint("LU") and not prefixes.isdisjoint("ES"):
        mixed = "BIOES (E, S) and of BILOU (L, U)"
    if mixed:
        raise TagError(f"tags of {mixed} occur together", advice="name the scheme with scheme=...")
    if not prefixes.isdisjoint("MW"):
        return "BMEOW" if "W" in prefixes else "BMES"
    if not prefixes.isdisjoint("LU"):
        return "BILOU"
    if "S" in prefixes or {"B", "E"} <= prefixes:
        return "BIOES"
    if "E" in prefixes:
        return "IOE2"
    if prefixes == {"I"}:
        return "IO"
    if prefixes == {"B"} or any(not is_legal("IOB1", *pair) for pair in pairs):
        return "BIO"
    return "IOB1"


def fits(scheme: str, relation: str, previous: tuple[str, str], current: tuple[str, str]) -> bool:
    """Return whether two adjacent tags, as prefix and label, match `relation` (a field of `SchemeRules`)."""
    same = "=" if previous[1] == current[1] else "!"
    return _prefixes_fit(scheme, relation, previous[0], same, current[0])


@cache
def _prefixes_fit(scheme: str, relation: str, *pair: str) -> bool:
    rules = getattr(RULES[scheme], relation).split()
    return any(all(part in ("*", own) for part, own in zip(rule, pair, strict=True)) for rule in rules)


@lru_cache(maxsize=1 << 12)
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
    scheme = _ALIASES.get(upper, upper)
    if scheme not in RULES:
        from difflib import get_close_matches  # only for wrong names

        near = get_close_matches(upper, [*SCHEMES, *_ALIASES])
        meant = f"did you mean {' or '.join(near)}? it is " if near else ""
        raise UsageError(f"unknown tag scheme {name!r}", advice=f"{meant}one of {', '.join(SCHEMES)}")
    return scheme


@lru_cache(maxsize=1 << 12)
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


def with_borders(tags: Sequence[str], ends: Iterable[int]) -> list[str]:
    """Return the tags of sentences with an O after each, given the number of tags up to the end of each sentence."""
    bordered: list[str] = []
    for start, end in pairwise(chain((0,), ends)):
        bordered += tags[start:end]
        bordered.append(OUTSIDE)
    return bordered


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

    `invalid` is the treatment of ill-formed tags, one of `INVALID`. If `scheme` is None, the lenient treatment needs
    none (the caller finds tags of two schemes), and the others detect it from these tags. Raises `TagError` for what
    is no tag or outside the scheme and, if `invalid` is ``error``, for the first ill-formed tag.

    >>> decode_tags(["O", "I-PER", "I-PER"], "BIO", invalid="discard")
    []
    """
    if scheme is None and invalid == "conlleval":
        return list(decode(tags))
    neighbours = neighbours_of(tags)
    scheme = scheme or scheme_of(neighbours)
    if scheme is None:
        return []
    if not count_illegal(neighbours, scheme) or invalid == "conlleval":
        return list(decode(tags))
    if invalid == "discard":
        return list(decode_strictly(tags, scheme))
    raise TagError(ill_formed(tags, first_illegal(tags, scheme) or 0, scheme))
