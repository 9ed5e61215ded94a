"""Tags, their schemes and treatments, by hand and against seqeval."""

from __future__ import annotations

import warnings
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from seqeval import scheme as seqeval_schemes
from seqeval.metrics.sequence_labeling import get_entities

from clueval.core.span import labels_in
from clueval.core.tags import (
    SCHEMES,
    continues,
    count_illegal,
    decode,
    decode_strictly,
    decode_tags,
    first_illegal,
    ill_formed,
    is_tag,
    neighbours_of,
    scheme_called,
    scheme_of,
    split_tag,
)
from clueval.files.errors import TagError, UsageError

LABELS = ("PER", "LOC", "court-name")
ORACLES = {
    "BIO": seqeval_schemes.IOB2,
    "IOB1": seqeval_schemes.IOB1,
    "BIOES": seqeval_schemes.IOBES,
    "BILOU": seqeval_schemes.BILOU,
    "IOE1": seqeval_schemes.IOE1,
    "IOE2": seqeval_schemes.IOE2,
}


def tags_of(prefixes: str) -> st.SearchStrategy[list[str]]:
    labelled = st.builds("{}-{}".format, st.sampled_from(prefixes.replace("O", "")), st.sampled_from(LABELS))
    return st.lists(st.one_of(st.just("O"), labelled, st.sampled_from(list(prefixes))), max_size=12)


@pytest.mark.parametrize(
    ("scheme", "tags"),
    [
        ("BIO", ["B-A", "I-A", "O", "B-A", "B-A"]),
        ("IOB1", ["I-A", "I-A", "O", "I-A", "B-A"]),
        ("BIOES", ["B-A", "E-A", "O", "S-A", "S-A"]),
        ("BILOU", ["B-A", "L-A", "O", "U-A", "U-A"]),
        ("IOE2", ["I-A", "E-A", "O", "E-A", "E-A"]),
        ("BMEOW", ["B-A", "E-A", "O", "W-A", "W-A"]),
    ],
)
@pytest.mark.parametrize("invalid", ["conlleval", "discard", "error"])
def test_every_scheme_writes_the_same_spans_and_is_detected(
    scheme: str, tags: list[str], invalid: str
) -> None:
    assert scheme_of(neighbours_of(tags)) == scheme
    assert decode_tags(tags, scheme, invalid) == [(0, 2, "A"), (3, 4, "A"), (4, 5, "A")]


def test_labels_may_have_hyphens_or_be_missing() -> None:
    assert decode_tags(["B-court-name", "I-court-name", "O"]) == [(0, 2, "court-name")]
    assert decode_tags(["B", "I", "O", "B"]) == [(0, 2, "_"), (3, 4, "_")]


def test_io_cannot_separate_adjacent_spans_of_one_label() -> None:
    assert decode_tags(["I-A", "I-A", "I-B", "O"], "IO", "error") == [(0, 2, "A"), (2, 3, "B")]


def test_an_inside_tag_after_outside_begins_a_span_is_discarded_or_is_an_error() -> None:
    tags = ["B-A", "O", "I-A", "I-A"]

    assert decode_tags(tags, "BIO", "conlleval") == [(0, 1, "A"), (2, 4, "A")]
    assert decode_tags(tags, "BIO", "discard") == [(0, 1, "A")]
    with pytest.raises(TagError, match="'I-A' may not follow 'O' in the scheme BIO"):
        decode_tags(tags, "BIO", "error")


def test_a_tag_outside_the_named_scheme_is_refused_by_name() -> None:
    with pytest.raises(TagError) as caught:
        decode_tags(["B-A", "E-A"], "BIO")

    assert str(caught.value) == (
        "tag 'E-A' is outside the scheme BIO (name the scheme of the file with scheme=...)"
    )


@given(tags_of("BIOES"))
def test_the_lenient_reading_is_seqevals_default(tags: list[str]) -> None:
    expected = [(start, end + 1, label) for label, start, end in get_entities(tags)]

    assert list(decode(tags)) == expected


@pytest.mark.parametrize("scheme", ORACLES)
@given(data=st.data())
def test_discard_is_seqevals_strict_mode(scheme: str, data: st.DataObject) -> None:
    tags = data.draw(tags_of("".join(sorted({"BIO": "BIO", "IOB1": "BIO"}.get(scheme, scheme.strip("12"))))))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (entities,) = seqeval_schemes.Entities([tags], ORACLES[scheme]).entities

    assert list(decode_strictly(tags, scheme)) == [(e.start, e.end, e.tag) for e in entities]


# seqeval's strict reading of IOE1 loses a span of one token before another of its label, and so does ours.
@pytest.mark.parametrize("scheme", sorted(set(SCHEMES) - {"IOE1"}))
@given(data=st.data())
def test_treatments_agree_without_ill_formed_tags(scheme: str, data: st.DataObject) -> None:
    prefixes = {"BIO": "BIO", "IOB1": "BIO"}.get(scheme, scheme.strip("12"))
    tags = data.draw(tags_of(prefixes))
    if first_illegal(tags, scheme) is None:
        assert list(decode_strictly(tags, scheme)) == list(decode(tags))


@given(tags_of("BIO"))
@example(["I-PER", "B-LOC", "I-LOC", "I-PER"])
def test_counts_of_adjacent_tags_are_enough_to_count_spans_and_repaired_tags(tags: list[str]) -> None:
    neighbours = Counter(pairwise(["O", *tags, "O"]))

    illegal = sum(
        tag[0] == "I" and not (before[0] in "BI" and before[1:] == tag[1:])
        for before, tag in pairwise(["O", *tags])
    )
    assert count_illegal(neighbours, "BIO") == illegal


# Tag schemes: which one tags are of, and what is said of tags that are none of it


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
        ("B-A M-A E-A", "BMES"),
        ("B-A M-A E-A S-A", "BMES"),
        ("B-A M-A E-A W-A", "BMEOW"),
        ("W-A", "BMEOW"),
    ],
)
def test_scheme_is_recognised_by_the_letters_that_occur(tags: str, scheme: str) -> None:
    assert scheme_of(neighbours_of(tags.split())) == scheme
    assert scheme_of(neighbours_of(["O", *tags.split(), "O"])) == scheme


BIOES_AND_BILOU = "BIOES (E, S) and of BILOU (L, U)"
MORE_THAN_BMES = "BMES (M, S) or BMEOW (M, W) and of another scheme"


@pytest.mark.parametrize(
    ("tags", "schemes"),
    [
        *((tags, BIOES_AND_BILOU) for tags in ("L-A E-A", "L-A S-A", "U-A E-A", "U-A S-A")),
        *(
            (tags, MORE_THAN_BMES)
            for tags in ("M-A I-A", "W-A I-A", "M-A L-A", "W-A U-A", "S-A W-A", "B-A S-A W-A")
        ),
    ],
)
def test_letters_of_two_schemes_are_refused_with_advice(tags: str, schemes: str) -> None:
    with pytest.raises(TagError) as caught:
        scheme_of(neighbours_of(tags.split()))

    assert str(caught.value) == f"tags of {schemes} occur together (name the scheme with scheme=...)"


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
        "unknown tag scheme 'bix' (did you mean BIO? it is one of BIO, IOB1, BIOES, BILOU, BMES, BMEOW, IO, IOE1, IOE2)"
    )
    for name, advice in (("q", "one of BIO, "), ("bixes", "did you mean BIOES or BMES or IOBES? it is ")):
        with pytest.raises(UsageError) as caught:
            scheme_called(name)
        assert str(caught.value).startswith(f"unknown tag scheme {name!r} ({advice}")


TAG = "a tag is O, or one of B I E S L U M W"


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
        ("B_PER", "write a hyphen: B-PER)"),
        ("B_NAME_OF_X", "write a hyphen: B-NAME_OF_X)"),
        *((f"B{dash}PER", "write a hyphen: B-PER)") for dash in ":\u2010\u2013\u2212"),
        (
            "NAME",
            f"{TAG}, alone or with a hyphen and a label; if labels have no prefix, write I- before each)",
        ),
        ("B-PER ", "remove the blanks at its end)"),
        ("ner_tags", "if this line has the names of the columns, remove it"),
        *((tag, TAG) for tag in ("X-PER", "PER", "b-PER", "", "O-PER", "B-", " B-PER", "Ö")),
    ],
)
def test_text_that_is_no_tag_is_refused_with_advice(tag: str, advice: str) -> None:
    with pytest.raises(TagError) as caught:
        decode_tags([tag])

    assert str(caught.value).startswith(f"{tag!r} is not a tag ({advice}")
    assert (is_tag(tag), is_tag("B-PER")) == (False, True)


def test_long_tags_are_not_kept_in_caches() -> None:
    tags = [f"B-{number}{'x' * 20_000}" for number in range(9)]

    assert all(len(list(decode([tag, f"I{tag[1:]}", "O", tag]))) == 2 for tag in tags)
    assert max(split_tag.cache_info().currsize, continues.cache_info().currsize) < 9
    for tag in tags:
        labels_in("label", tag)
    assert labels_in.cache_info().currsize < 9
