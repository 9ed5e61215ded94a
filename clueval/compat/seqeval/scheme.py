"""The tag schemes of seqeval's strict mode, under seqeval's names: IOB1, IOB2, IOE1, IOE2, IOBES, BILOU.

A scheme is a subclass of `Token` that defines the allowed prefixes and, by patterns of two adjacent tags,
where a span begins, continues and ends. A span is counted if it begins, continues and ends by these patterns.
Spans are half-open here, as in seqeval's strict mode (its `get_entities` returns inclusive ends).

The prefix of a tag is its first letter (with `suffix`, its last); the label is the rest without hyphens at
its ends; a bare prefix has the label ``_``. In seqeval, the type of a span is called tag.

Behaviour: seqeval 1.2.2, including what it misses: IOE1 does not find a span of one token before a span of
another label, and `auto_detect` refuses tags that are only S and O, or only U and O.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Flag
from functools import lru_cache, reduce
from itertools import pairwise
from operator import or_
from typing import ClassVar

from clueval.core.tags import OUTSIDE, RULES, scheme_called
from clueval.files.errors import TagError, UsageError

Prefix = Flag("Prefix", {"I": 1, "O": 2, "B": 4, "E": 8, "S": 16, "U": 32, "L": 64, "ANY": 127})
"""The letters that a tag may begin with; ANY is all of them."""

Prefixes: dict[str, Prefix] = dict(Prefix.__members__)

Tag = Flag("Tag", {"SAME": 1, "DIFF": 2, "ANY": 3})
"""The relation of the labels of two adjacent tags."""

Pattern = tuple[Prefix, Prefix, Tag]
"""Prefix of the tag before, prefix of this tag, relation of their labels."""

Patterns = frozenset[Pattern]

_RELATIONS = {"=": Tag.SAME, "!": Tag.DIFF, "*": Tag.ANY}
_LETTERS = {**Prefixes, "*": Prefix.ANY}


class WrongTypeError(UsageError, TypeError):
    """An argument is of the wrong type; seqeval raises TypeError here."""


class UnknownPrefixError(TagError, KeyError):
    """A tag has a prefix that no scheme has; seqeval raises KeyError here."""


class EmptyTagError(TagError, IndexError):
    """A tag is the empty string; seqeval raises IndexError here."""


@dataclass(slots=True, repr=False, unsafe_hash=True)
class Entity:
    """A span of type `tag` in the sentence numbered `sent_id`, half-open."""

    sent_id: int | None
    start: int
    end: int
    tag: str

    def to_tuple(self) -> tuple[int | None, str, int, int]:
        return self.sent_id, self.tag, self.start, self.end

    def __repr__(self) -> str:
        return f"({self.sent_id}, {self.tag}, {self.start}, {self.end})"


def _rules_of_scheme(scheme: str) -> tuple[Prefix, Patterns, Patterns, Patterns]:
    """Return the prefixes and the patterns of a scheme of `clueval.core.tags`, whose rules are words like ``B=I``."""
    rules = RULES[scheme]
    starts, inside, ends = (
        frozenset((_LETTERS[word[0]], _LETTERS[word[2]], _RELATIONS[word[1]]) for word in words.split())
        for words in (rules.starts, rules.inside, rules.ends)
    )
    return reduce(or_, (Prefixes[letter] for letter in rules.prefixes)), starts, inside, ends


class Token:
    """A tag, read in a scheme; this base class has no scheme and no patterns.

    Raises `UnknownPrefixError` (a KeyError) for an unknown prefix, `EmptyTagError` (an IndexError) for an
    empty tag.

    >>> IOB2("B-PER").prefix, IOB2("B-PER").tag, IOB2("PER-B", suffix=True).tag, IOB2("B").tag
    (<Prefix.B: 4>, 'PER', 'PER', '_')
    """

    allowed_prefix: ClassVar[Prefix | None] = None
    start_patterns: ClassVar[Iterable[Pattern] | None] = None
    inside_patterns: ClassVar[Iterable[Pattern] | None] = None
    end_patterns: ClassVar[Iterable[Pattern] | None] = None

    def __init__(self, token: str, suffix: bool = False, delimiter: str = "-") -> None:
        if not token:
            raise EmptyTagError("a tag is empty", advice="write O for a token outside all spans")
        letter, label = (token[-1], token[:-1]) if suffix else (token[0], token[1:])
        if letter not in Prefixes:
            raise UnknownPrefixError(
                f"tag {token!r} has the prefix {letter!r}, which no scheme knows",
                advice="a tag begins with B, I, O, E, S, L or U; with suffix=True it ends so",
            )
        self.token = token
        self.prefix = Prefixes[letter]
        self.tag = label.strip(delimiter) or "_"

    def __repr__(self) -> str:
        return self.token

    def is_valid(self) -> bool:
        """Return True; raises `TagError` (a ValueError) if the scheme does not have the prefix."""
        allowed = self.allowed_prefix
        if allowed is None or self.prefix not in allowed:
            letters = "" if allowed is None else ", ".join(sorted(str(part.name) for part in allowed))
            raise TagError(
                f"Invalid token is found: {self.token!r} is not a tag of {type(self).__name__}",
                advice=f"Allowed prefixes are: {letters or 'none'}",
            )
        return True

    def is_start(self, prev: Token) -> bool:
        """Return whether a span begins with this tag after `prev`."""
        return self.check_patterns(prev, self.start_patterns or ())

    def is_inside(self, prev: Token) -> bool:
        """Return whether this tag continues the span of `prev`."""
        return self.check_patterns(prev, self.inside_patterns or ())

    def is_end(self, prev: Token) -> bool:
        """Return whether a span whose last tag is `prev` is complete before this tag."""
        return self.check_patterns(prev, self.end_patterns or ())

    def check_tag(self, prev: Token, cond: Tag) -> bool:
        """Return whether the labels of `prev` and this tag have the relation `cond`."""
        return (Tag.SAME if prev.tag == self.tag else Tag.DIFF) in cond

    def check_patterns(self, prev: Token, patterns: Iterable[Pattern]) -> bool:
        """Return whether `prev` and this tag match one of the patterns."""
        return any(
            prev.prefix in before and self.prefix in after and self.check_tag(prev, relation)
            for before, after, relation in patterns
        )


class IOB1(Token):
    """I for all tokens, but B for the first of a span that touches a span of the same label before it."""

    allowed_prefix, start_patterns, inside_patterns, end_patterns = _rules_of_scheme("IOB1")


class IOE1(Token):
    """I for all tokens, but E for the last of a span that touches a span of the same label after it."""

    allowed_prefix, start_patterns, inside_patterns, end_patterns = _rules_of_scheme("IOE1")


class IOB2(Token):
    """B for the first token of every span, I for the others."""

    allowed_prefix, start_patterns, inside_patterns, end_patterns = _rules_of_scheme("BIO")


class IOE2(Token):
    """E for the last token of every span, I for the others."""

    allowed_prefix, start_patterns, inside_patterns, end_patterns = _rules_of_scheme("IOE2")


class IOBES(Token):
    """B, I and E for the first, inner and last tokens of a span; S for a span of one token."""

    allowed_prefix, start_patterns, inside_patterns, end_patterns = _rules_of_scheme("BIOES")


class BILOU(Token):
    """B, I and L for the first, inner and last tokens of a span; U for a span of one token."""

    allowed_prefix, start_patterns, inside_patterns, end_patterns = _rules_of_scheme("BILOU")


SCHEMES: dict[str, type[Token]] = {
    scheme.__name__: scheme for scheme in (IOB1, IOB2, IOE1, IOE2, IOBES, BILOU)
}


@lru_cache(maxsize=1 << 16)
def _token(scheme: type[Token], tag: str, suffix: bool, delimiter: str) -> Token:
    return scheme(tag, suffix=suffix, delimiter=delimiter)


@lru_cache(maxsize=1 << 16)
def _relations(before: Token, token: Token) -> tuple[bool, bool, bool]:
    """Return whether a span begins with a token, continues there, and is complete before it; raises `TagError`."""
    token.is_valid()
    return token.is_start(before), token.is_inside(before), token.is_end(before)


class Tokens:
    """The tags of one sentence, read in a scheme."""

    def __init__(
        self,
        tokens: Sequence[str],
        scheme: type[Token] | str,
        suffix: bool = False,
        delimiter: str = "-",
        sent_id: int | None = None,
    ) -> None:
        scheme = scheme_or_error(scheme)
        self.outside_token, *self.tokens = [
            # what is no text is not remembered: some of it cannot be
            (_token if isinstance(token, str) else _token.__wrapped__)(scheme, token, suffix, delimiter)  # type: ignore[arg-type]  # a class can be hashed
            for token in (OUTSIDE, *tokens)
        ]
        self.extended_tokens = [*self.tokens, self.outside_token]
        self.sent_id = sent_id

    @property
    def entities(self) -> list[Entity]:
        """The complete spans, in order. Raises `TagError` for a tag that the scheme does not have.

        >>> Tokens(["B-PER", "I-PER", "O", "I-PER", "B-LOC"], IOB2, sent_id=7).entities
        [(7, PER, 0, 2), (7, LOC, 4, 5)]
        """
        tokens = self.extended_tokens
        entities: list[Entity] = []
        start: int | None = None
        for position, pair in enumerate(pairwise([self.outside_token, *tokens])):
            begins, goes_on, ends = _relations(*pair)
            if start is not None:
                if goes_on and position < len(self.tokens):
                    continue
                if ends:
                    entities.append(Entity(self.sent_id, start, position, tokens[start].tag))
                start = None
            if begins:
                start = position
        return entities


class Entities:
    """The complete spans of all sentences: `entities` has a list for each sentence."""

    def __init__(
        self,
        sequences: Iterable[Sequence[str]],
        scheme: type[Token] | str,
        suffix: bool = False,
        delimiter: str = "-",
    ) -> None:
        scheme = scheme_or_error(scheme)
        self.entities = [
            Tokens(tags, scheme, suffix, delimiter, sent_id).entities
            for sent_id, tags in enumerate(sequences)
        ]

    def filter(self, tag_name: str) -> set[Entity]:
        """Return the spans of the type `tag_name`."""
        return {entity for entities in self.entities for entity in entities if entity.tag == tag_name}

    @property
    def unique_tags(self) -> set[str]:
        """The types that occur."""
        return {entity.tag for entities in self.entities for entity in entities}


def scheme_or_error(scheme: object) -> type[Token]:
    """Return a scheme, given by its class or by a name as `clueval.score` takes it.

    Raises `WrongTypeError` (a TypeError) for what is neither a name nor a subclass of `Token`, `UsageError` for an
    unknown name and for a scheme that seqeval does not have.
    """
    if isinstance(scheme, str):
        called = scheme_called(scheme)
        scheme_class = SCHEMES.get({"BIO": "IOB2", "BIOES": "IOBES"}.get(called, called))
        if scheme_class is None:
            raise UsageError(f"seqeval has no scheme {called}", advice=f"one of {', '.join(SCHEMES)}")
        return scheme_class
    if isinstance(scheme, type) and issubclass(scheme, Token):
        return scheme
    name: object = scheme.__name__ if isinstance(scheme, type) else scheme
    raise WrongTypeError(
        f"scheme must be a class of clueval.compat.seqeval.scheme, not {scheme!r}",
        advice=f"scheme={name}, imported from there" if name in SCHEMES else f"one of {', '.join(SCHEMES)}",
    )


_DETECTED = (
    *(("IOB2", "B", "IO"), ("IOE2", "E", "IO"), ("IOBES", "BE", "IOS"), ("BILOU", "BL", "IOU")),
    *(("IOBES", "S", ""), ("BILOU", "U", "")),
)
"""Name of the scheme, the prefixes that must occur, the further prefixes that may occur."""


def auto_detect(
    sequences: Iterable[Iterable[str]], suffix: bool = False, delimiter: str = "-"
) -> type[Token]:
    """Return the scheme of these tags, recognised by their prefixes: IOB2, IOE2, IOBES or BILOU.

    Raises `TagError` (a ValueError) for a prefix that no scheme has and for prefixes that fit none of these
    four.

    >>> auto_detect([["O", "B-PER", "E-PER"], ["S-LOC"]]).__name__
    'IOBES'
    """
    tags = dict.fromkeys(tag for tags in sequences for tag in tags)
    try:
        prefixes = {str(Token(tag, suffix, delimiter).prefix.name) for tag in tags}
    except UnknownPrefixError as error:
        raise TagError(f"This scheme is not supported: {error.problem}", advice=error.advice) from None
    for name, needed, possible in _DETECTED:
        if set(needed) <= prefixes <= set(needed + possible):
            return SCHEMES[name]
    raise TagError(
        f"This scheme is not supported: tags with the prefixes {', '.join(sorted(prefixes)) or '(none)'}",
        advice="name it with scheme=, for instance scheme=IOB1",
    )
