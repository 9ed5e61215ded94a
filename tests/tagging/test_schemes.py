"""Tag schemes: which one tags are of, and what is said of tags that are none of it."""

from __future__ import annotations

import pytest

from clueval.exceptions import TagError, UsageError
from clueval.tagging.decoder import decode_tags
from clueval.tagging.schemes import detect_scheme, ill_formed, scheme_called, split_tag


@pytest.mark.parametrize(
    ("tags", "scheme"),
    [
        ("B-A", "BIO"),
        ("B-A B-A", "BIO"),
        ("B-A I-A", "BIO"),
        ("I-A B-B", "BIO"),  # in IOB1 a B follows a span of its own label only
        ("I-A", "IO"),
        ("I-A O I-B", "IO"),
        ("I-A B-A", "IOB1"),
        ("S-A", "BIOES"),
        ("S-A I-A", "BIOES"),
        ("B-A E-A", "BIOES"),
        ("B-A I-A E-A", "BIOES"),
        ("E-A", "IOE2"),
        ("I-A E-A", "IOE2"),
        ("U-A", "BILOU"),
        ("B-A L-A", "BILOU"),
        ("L-A", "BILOU"),
    ],
)
def test_scheme_is_recognised_by_the_letters_that_occur(tags: str, scheme: str) -> None:
    assert detect_scheme(tags.split()) == scheme
    assert detect_scheme(["O", *tags.split(), "O"]) == scheme


@pytest.mark.parametrize("tags", ["L-A E-A", "L-A S-A", "U-A E-A", "U-A S-A"])
def test_letters_of_two_schemes_are_refused_with_advice(tags: str) -> None:
    with pytest.raises(TagError) as caught:
        detect_scheme(tags.split())

    assert str(caught.value) == (
        "tags of BIOES (E, S) and of BILOU (L, U) occur together (name the scheme with scheme=...)"
    )


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("IOB2", "BIO"),
        ("iob", "BIO"),
        ("iobes", "BIOES"),
        ("BIOLU", "BILOU"),
        ("BILUO", "BILOU"),
        ("io", "IO"),
    ],
)
def test_a_scheme_has_other_names_in_either_case(name: str, scheme: str) -> None:
    assert scheme_called(name) == scheme


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError) as caught:
        scheme_called("bix")

    assert str(caught.value) == (
        "unknown tag scheme 'bix' (one of BIO, IOB1, BIOES, BILOU, BMES, BMEOW, IO, IOE1, IOE2)"
    )
    with pytest.raises(UsageError) as caught:
        decode_tags([], "BIO", "mend")

    assert str(caught.value) == (
        "unknown treatment of ill-formed tags 'mend' (one of conlleval, discard, error)"
    )


def test_an_ill_formed_tag_is_named_with_the_one_before_it() -> None:
    tags = ["I-A", "O", "B-A"]

    assert [ill_formed(tags, position, "BIOES") for position in (0, 1, 3)] == [
        "ill-formed tags: 'I-A' may not follow the start of the sentence in the scheme BIOES",
        "ill-formed tags: 'O' may not follow 'I-A' in the scheme BIOES",
        "ill-formed tags: the end of the sentence may not follow 'B-A' in the scheme BIOES",
    ]
    with pytest.raises(TagError, match=r"^ill-formed tags: 'I-A' may not follow the start of the sentence"):
        decode_tags(tags[:1], "BIO", "error")


@pytest.mark.parametrize(
    ("tag", "advice"),
    [
        ("B_PER", "write a hyphen: B-PER"),
        ("ner_tags", "if this line has the names of the columns, remove it"),
    ],
)
def test_a_text_that_is_nearly_a_tag_is_refused_with_the_tag(tag: str, advice: str) -> None:
    with pytest.raises(TagError) as caught:
        split_tag(tag)

    assert str(caught.value) == f"{tag!r} is not a tag ({advice})"
