"""Signatures, and what they keep apart: results of different kinds are neither compared nor added."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import flat_spans

from clueval.evaluation.accumulator import Accumulator
from clueval.evaluation.result import Difference, Result
from clueval.evaluation.run import score
from clueval.evaluation.signature import SHORT, Signature, require_same
from clueval.exceptions import UsageError
from clueval.metrics import METRICS, metric_named
from clueval.spans.document import Document
from clueval.spans.span import Span
from clueval.version import SCORES, __version__

keys = st.text("abcdefghijklmnopqrstuvwxyz_", min_size=2)
signatures = st.dictionaries(st.sampled_from(sorted(SHORT)) | keys, st.text(max_size=12), min_size=1).map(
    Signature
)

Pairs = list[tuple[list[Span], list[Span]]]
corpora = st.lists(st.tuples(flat_spans(), flat_spans()), max_size=4)


def scored(pairs: Pairs, metrics: str = "levels,exact,muc,fair,gate,partial") -> Result:
    scores = Accumulator(metrics)
    scores.update([own for own, _ in pairs], [other for _, other in pairs])
    return scores.compute()


A = [Span(0, 2, "PER")]
FOUND: Pairs = [(A, A)]
LOST: Pairs = [(A, [])]


# The signature


@given(signatures)
def test_both_forms_can_be_read_back(signature: Signature) -> None:
    assert Signature.parse(str(signature)) == signature
    assert Signature.parse(signature.short) == signature


def test_the_two_forms_of_an_evaluation() -> None:
    document = Document("d", {"label": A})

    signature = Signature.of([metric_named("levels"), metric_named("partial")], {"scheme": "BIO"}, {"token"})

    assert str(signature) == (
        "metrics:levels+partial(factor=0.75,glue=no,betas=none)|unit:token|scheme:BIO|invalid:conlleval|average:all"
        f"|merge:no|where:all|zero:0/0=0|text:equal|scores:{SCORES}|version:{__version__}"
    )
    assert signature.short == (
        "m:levels+partial(factor=0.75,glue=no,betas=none)|u:token|s:BIO|i:conlleval|a:all"
        f"|g:no|w:all|z:0/0=0|t:equal|n:{SCORES}|v:{__version__}"
    )
    assert str(score([document], [document]).signature).startswith("metrics:levels|unit:token|")


def test_a_letter_stands_for_one_key() -> None:
    assert len(set(SHORT.values())) == len(SHORT)
    assert not set(SHORT.values()) & set(SHORT)


def test_metrics_whose_zero_is_another_say_so() -> None:
    signature = Signature.of([metric_named("exact"), metric_named("gate")], {})

    assert signature.choices["zero"] == "0/0=0,gate=1 if both sides are empty"


def test_the_order_of_choices_makes_no_difference() -> None:
    one, other = Signature({"unit": "token", "merge": "no"}), Signature({"merge": "no", "unit": "token"})

    assert one == other
    assert hash(one) == hash(other)


def test_results_of_two_versions_can_be_compared_if_no_score_has_changed_between_them() -> None:
    own = Signature({"metrics": "levels", "scores": "1", "version": "1.0"})

    require_same(own, Signature({**own.choices, "version": "1.1"}), "compared")

    with pytest.raises(UsageError, match="scores is 1 and 2"):
        require_same(own, Signature({**own.choices, "scores": "2"}), "compared")


def test_the_version_makes_a_difference() -> None:
    one, other = Signature({"version": "1.0"}), Signature({"version": "1.1"})

    assert one != other
    assert one.differences(other) == {"version": ("1.0", "1.1")}


def test_a_number_is_cited_with_what_leads_to_it() -> None:
    signature = Signature.parse("metrics:levels|average:all|version:1.0").citing(average="micro", level="2")

    assert str(signature) == "metrics:levels|average:micro|level:2|version:1.0"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("levels", "'levels' is no part of a signature"),
        ("", "'' is no part of a signature"),
        ("metrics:a|m:b", "the signature has 'metrics' twice"),
        (":a", "':a' is no part of a signature"),
    ],
)
def test_what_is_no_signature_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Signature.parse(text)


# Comparing


def test_equal_results_do_not_differ() -> None:
    assert set(map(tuple, scored(FOUND).compare(scored(FOUND)).values())) == {()}


def test_differences_are_told_with_both_values() -> None:
    differences = scored(LOST, "exact").compare(scored(FOUND, "exact"))["exact"]

    recall = next(found for found in differences if found.path == ("label", "micro", "recall"))
    assert recall == Difference(("label", "micro", "recall"), 0.0, 1.0)
    assert recall.change == 1.0


def test_a_number_on_one_side_only_is_a_difference() -> None:
    differences = scored([([], A)], "exact").compare(scored([(A, [Span(0, 2, "LOC")])], "exact"))["exact"]

    lone = [found for found in differences if found.path == ("label", "per_label", "LOC", "gold")]
    assert lone == [Difference(("label", "per_label", "LOC", "gold"), None, 0)]
    assert lone[0].change is None


@given(corpora, corpora)
def test_swapped_results_differ_the_other_way_round(one: Pairs, other: Pairs) -> None:
    forth = scored(one).compare(scored(other))
    back = scored(other).compare(scored(one))

    for name, differences in forth.items():
        swapped = {(found.path, found.other, found.own) for found in back[name]}
        assert swapped == {(found.path, found.own, found.other) for found in differences}


def test_results_of_different_kinds_are_compared_by_force_only() -> None:
    one, other = scored(FOUND, "exact"), scored(FOUND, "exact,levels")

    with pytest.raises(UsageError) as error:
        one.compare(other)

    assert str(error.value) == (
        "the results cannot be compared: metrics is exact and exact+levels "
        "(evaluate both alike, or insist with force=True)"
    )
    assert one.compare(other, force=True)["exact"] == []


# Adding


@given(corpora, corpora)
def test_results_add_up_to_that_of_both_corpora(one: Pairs, other: Pairs) -> None:
    both = scored(one).add(scored(other))

    assert both.to_dict() | {"signature": ""} == scored([*one, *other]).to_dict() | {"signature": ""}


def test_adding_leaves_the_parts_as_they_were() -> None:
    one, other = scored(FOUND, "exact"), scored(LOST, "exact")

    one.add(other)

    assert one == scored(FOUND, "exact")
    assert one.add(other) == one.add(other)


def test_a_result_of_a_sum_can_be_added_again_and_pickled() -> None:
    one = scored(LOST, "exact")

    three = pickle.loads(pickle.dumps(one.add(one))).add(one)

    assert (three.documents, three.metrics["exact"]["label"]["micro"]["fn"]) == (3, 3)


def test_results_of_different_kinds_are_added_by_force_only() -> None:
    own = scored(FOUND, "exact")
    other = replace(own, signature=Signature({**own.signature.choices, "invalid": "discard"}))

    with pytest.raises(UsageError, match="cannot be added: invalid is documents and discard"):
        own.add(other)

    assert own.add(other, force=True).signature.choices["invalid"] == "documents and discard"


def test_force_cannot_add_the_counts_of_different_metrics() -> None:
    with pytest.raises(UsageError, match="counts of exact and of levels do not add up"):
        scored(FOUND, "exact").add(scored(FOUND, "levels"), force=True)


def test_results_without_counts_or_broken_down_are_not_added() -> None:
    result = scored(FOUND, "exact")

    with pytest.raises(UsageError, match="without its counts"):
        result.add(replace(result, counted=None))
    with pytest.raises(UsageError, match="broken down"):
        result.add(replace(result, groups={}))


# Headlines


@pytest.mark.parametrize("name", sorted(set(METRICS) - {"noisy", "confusion", "masking"}))
def test_every_metric_has_headlines_that_are_one_where_all_is_right(name: str) -> None:
    report = scored(FOUND, name).metrics[name]["label"]

    found = metric_named(name).headlines(report)

    assert found
    assert set(found.values()) == {(1.0, 1.0, 1.0)}


def test_headlines_of_levels_have_the_levels_in_their_names() -> None:
    report = scored([(A, [Span(0, 3, "LOC")])], "levels").metrics["levels"]["label"]

    found = metric_named("levels").headlines(report)

    assert found["levels_1_unlabelled"] == (0.0, 0.0, 0.0)
    assert found["levels_2_unlabelled"][1] == 1.0
    assert found["levels_4_labelled"] == (0.0, 0.0, 0.0)
