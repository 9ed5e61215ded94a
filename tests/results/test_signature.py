"""Signatures, and what they keep apart: results of different kinds are neither compared nor added."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval import Accumulator, Result, Signature, score
from clueval.core.document import Document
from clueval.core.span import Span
from clueval.files.errors import UsageError
from clueval.metrics import METRICS, metric_named, with_settings
from clueval.results.signature import SHORT, require_same
from clueval.version import SCORES, __version__

keys = st.text("abcdefghijklmnopqrstuvwxyz_", min_size=2)
signatures = st.dictionaries(st.sampled_from(sorted(SHORT)) | keys, st.text(max_size=12), min_size=1).map(
    Signature
)

Pairs = list[tuple[list[Span], list[Span]]]


def scored(pairs: Pairs, metrics: str = "levels,exact,muc,fair,gate,partial") -> Result:
    scores = Accumulator(metrics)
    scores.update([own for own, _ in pairs], [other for _, other in pairs])
    return scores.compute()


A = [Span(0, 2, "PER")]
FOUND: Pairs = [(A, A)]
LOST: Pairs = [(A, [])]


# The signature


@given(signatures)
def test_signature_can_be_parsed_in_both_forms(signature: Signature) -> None:
    assert Signature.parse(str(signature)) == signature
    assert Signature.parse(signature.short) == signature


def test_signature_of_an_evaluation_has_a_long_and_a_short_form() -> None:
    document = Document("d", {"label": A})

    signature = Signature.of([metric_named("levels"), metric_named("partial")], {"scheme": "BIO"}, {"token"})

    assert str(signature) == (
        "metrics:levels+partial(factor=0.75,glue=False,betas=[])|unit:token|scheme:BIO|invalid:conlleval|average:all"
        f"|merge:no|where:all|zero:0/0=0|text:equal|scores:{SCORES}|version:{__version__}"
    )
    assert signature.short == (
        "m:levels+partial(factor=0.75,glue=False,betas=[])|u:token|s:BIO|i:conlleval|a:all"
        f"|g:no|w:all|z:0/0=0|t:equal|n:{SCORES}|v:{__version__}"
    )
    assert str(score([document], [document]).signature).startswith("metrics:levels|unit:token|")


def test_letters_of_the_short_form_are_different() -> None:
    assert len(set(SHORT.values())) == len(SHORT)
    assert not set(SHORT.values()) & set(SHORT)


def test_signature_names_metrics_with_another_value_of_zero() -> None:
    signature = Signature.of([metric_named("exact"), metric_named("gate")], {})

    assert signature.choices["zero"] == "0/0=0,gate=1 if both sides are empty"


def test_signatures_with_choices_in_another_order_are_equal() -> None:
    one, other = Signature({"unit": "token", "merge": "no"}), Signature({"merge": "no", "unit": "token"})

    assert one == other
    assert hash(one) == hash(other)


def test_results_of_two_versions_can_be_compared_if_no_score_has_changed_between_them() -> None:
    own = Signature({"metrics": "levels", "scores": "1", "version": "1.0"})

    require_same(own, Signature({**own.choices, "version": "1.1"}), "compared")

    with pytest.raises(UsageError, match="scores is 1 and 2"):
        require_same(own, Signature({**own.choices, "scores": "2"}), "compared")


def test_results_with_and_without_predicted_tags_can_be_compared() -> None:
    tags = Signature({"scheme": "none:BIO", "invalid": "conlleval"})

    require_same(tags, Signature({"scheme": "none", "invalid": "none"}), "compared")

    with pytest.raises(UsageError, match="invalid is conlleval and discard"):
        require_same(tags, Signature({"scheme": "none:BIO", "invalid": "discard"}), "compared")


def test_citing_adds_the_choices_that_select_the_number() -> None:
    signature = Signature.parse("metrics:levels|average:all|version:1.0").citing(average="micro", level="2")

    assert str(signature) == "metrics:levels|average:micro|level:2|version:1.0"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("levels", "'levels' is not a part of a signature"),
        ("", "'' is not a part of a signature"),
        ("metrics:a|m:b", "the signature has 'metrics' twice"),
        (":a", "':a' is not a part of a signature"),
    ],
)
def test_parse_refuses_a_text_that_is_not_a_signature(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Signature.parse(text)


# Adding


def test_adding_results_does_not_change_them() -> None:
    one, other = scored(FOUND, "exact"), scored(LOST, "exact")

    one.add(other)

    assert one == scored(FOUND, "exact")
    assert one.add(other) == one.add(other)


def test_sum_of_results_can_be_added_again_and_pickled() -> None:
    one = scored(LOST, "exact")

    three = pickle.loads(pickle.dumps(one.add(one))).add(one)

    assert (three.documents, three.metrics["exact"]["label"]["micro"]["fn"]) == (3, 3)


def test_results_with_different_signatures_are_added_by_force_only() -> None:
    own = scored(FOUND, "exact")
    other = replace(own, signature=Signature({**own.signature.choices, "invalid": "discard"}))

    with pytest.raises(UsageError, match="cannot be added: invalid is documents and discard"):
        own.add(other)

    assert own.add(other, force=True).signature.choices["invalid"] == "documents and discard"


def test_force_cannot_add_the_counts_of_different_metrics() -> None:
    with pytest.raises(UsageError, match="counts of exact and of levels do not add up"):
        scored(FOUND, "exact").add(scored(FOUND, "levels"), force=True)


def test_empty_lists_are_without_text_until_tags_are_added() -> None:
    scores = Accumulator("exact")
    scores.update([[]], [[]])
    before = scores.signature.choices["text"]
    scores.update([["B-PER"]], [["B-PER"]])

    assert (before, scores.signature.choices["text"]) == ("absent", "equal")


# Options


DOCUMENT = Document("d", {"label": [Span(0, 1, "A")]})


@pytest.mark.parametrize(
    "metric",
    [
        *(metric_named(name) for name in METRICS),
        metric_named("fair", focus="system", labels=("A", "B+C"), exclude=("X",)),
        metric_named("partial", factor=0.5, glue=True, betas=(0.5, 2.0)),
        metric_named("gate", types=("A", "B"), features=("kind",), score_feature="score", thresholds="11"),
        metric_named("gate", features=("kind",), nil="NIL", beta=2.0),
        metric_named("noisy", threshold=0.1),
    ],
    ids=with_settings,
)
def test_metrics_with_settings_are_rebuilt(metric: Any) -> None:
    others = [metric_named("levels"), metric_named("muc")]
    signature = Signature.of([others[0], metric, others[1]], {})

    assert signature.options()["metrics"] == [others[0], metric, others[1]]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("metrics:bleu", "unknown metric 'bleu'"),
        ("metrics:partial(factor=0.5", "cannot be read"),
        ("metrics:partial(share=0.5)", "metric partial has no setting 'share'"),
        ("metrics:partial(factor=much)", r"partial\(factor=...\) takes a number, not 'much'"),
        ("metrics:levels|fragments:split", "no option stands for fragments:split"),
        ("metrics:levels|where:a", "the filter 'a' cannot be "),
        ("metrics:levels|columns:entity", "the columns 'entity' cannot be read"),
        ("metrics:levels|where:risk=low%7Chigh", "the filter .* cannot be rebuilt"),
    ],
)
def test_what_cannot_be_rebuilt_is_refused(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        Signature.parse(text).options()


def test_documents_need_no_columns() -> None:
    result = score([DOCUMENT], [DOCUMENT])

    assert score([DOCUMENT], [DOCUMENT], **result.signature.options()).signature == result.signature


@pytest.mark.parametrize(
    ("option", "advice"),
    [
        ({"average": "document"}, "in Python by='document'"),
        ({"hierachy": "."}, "did you mean hierarchy?"),
    ],
)
def test_an_unknown_option_says_what_to_do_instead(option: dict[str, Any], advice: str) -> None:
    (name,) = option
    with pytest.raises(UsageError, match=f"score has no option '{name}' .*{advice}"):
        score([DOCUMENT], [DOCUMENT], **option)


def test_a_result_says_how_to_cite_a_number() -> None:
    with pytest.raises(AttributeError, match=r"result\.signature"):
        score([DOCUMENT], [DOCUMENT]).cite  # type: ignore[attr-defined]  # noqa: B018  # it raises
