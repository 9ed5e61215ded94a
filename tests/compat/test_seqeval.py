"""seqeval's face, against seqeval: figures, reports as bytes, warnings, kinds of errors; and where it is better."""

from __future__ import annotations

import importlib
import inspect
import json
import math
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
import seqeval.metrics
import seqeval.metrics.sequence_labeling as original
import seqeval.metrics.v1 as original_v1
import seqeval.scheme
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clueval.compat import seqeval as ours
from clueval.compat.seqeval import scheme
from clueval.compat.seqeval.metrics import sequence_labeling, v1
from clueval.files.errors import CluevalError

TYPES = ("PER", "LOC", "court-name")
PREFIXES = {"IOB1": "BIO", "IOB2": "BIO", "IOE1": "IEO", "IOE2": "IEO", "IOBES": "IOBES", "BILOU": "BILOU"}
STRANGE = (
    "X-PER",
    "PER",
    "B_PER",
    "O-PER",
    "X",
    ".",
    ".-PER",
    "B-",
    "B--PER",
    "-PER",
    "U-PER",
    "L-PER",
    "U",
    "L",
)

Sides = tuple[list[list[str]], list[list[str]]]


def tags(prefixes: str, suffix: bool = False, strange: tuple[str, ...] = ()) -> st.SearchStrategy[str]:
    form = "{1}-{0}" if suffix else "{0}-{1}"
    labelled = st.builds(form.format, st.sampled_from(prefixes.replace("O", "")), st.sampled_from(TYPES))
    return st.one_of(st.just("O"), labelled, labelled, st.sampled_from([*prefixes, *strange]))


@st.composite
def sides(draw: st.DrawFn, tag: st.SearchStrategy[str], empty: bool = False) -> Sides:
    """Two sides of equal lengths; the predicted one is the true one with some tags drawn anew."""
    least = 0 if empty else 1
    true = draw(st.lists(st.lists(tag, min_size=least, max_size=8), min_size=1, max_size=4))
    predicted = [[draw(st.one_of(st.just(t), tag)) for t in sentence] for sentence in true]
    return true, predicted


def outcome(function: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """What a call gives, or the builtin kind of error that it raises; and what it warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = plain(function(*args, **kwargs))
        except (ValueError, TypeError, LookupError) as error:
            kinds = (KeyError, IndexError, TypeError, ValueError)
            return next(kind for kind in kinds if isinstance(error, kind)), None
    return result, {(w.category.__name__, str(w.message)) for w in caught}


def plain(value: Any) -> Any:
    """A value without numpy, tuples kept apart from lists."""
    if isinstance(value, numpy.ndarray | numpy.generic):
        return value.tolist()
    if isinstance(value, tuple | list):
        return type(value)(map(plain, value))
    return {key: plain(item) for key, item in value.items()} if isinstance(value, dict) else value


def without_spans(pair: Sides, **kwargs: Any) -> bool:
    """Whether there is no span on either side: there seqeval's text report fails, and its macro is nan."""
    report, _ = outcome(ours.classification_report, *pair, output_dict=True, **kwargs)
    return isinstance(report, dict) and report.keys() == {"micro avg", "macro avg", "weighted avg"}


FEW = settings(max_examples=min(30, max(2, settings().max_examples // 3)))
"""For tests that run for many parameters."""

average = st.sampled_from([None, "micro", "macro", "weighted"])
zero_division = st.sampled_from(["warn", 0, 1, 0.0, 1.0])


# Against seqeval


@pytest.mark.parametrize(
    "name", ["precision_score", "recall_score", "f1_score", "precision_recall_fscore_support"]
)
@pytest.mark.parametrize("suffix", [False, True])
@FEW
@given(data=st.data(), average=average, zero_division=zero_division)
def test_default_scores_and_warnings_are_seqevals_whatever_the_tags(
    name: str, suffix: bool, data: st.DataObject, average: str | None, zero_division: Any
) -> None:
    pair = data.draw(sides(tags("BIOES", suffix, data.draw(st.sampled_from([(), STRANGE]))), empty=True))
    settings = {"average": average, "suffix": suffix, "zero_division": zero_division}
    if average == "macro" and without_spans(pair, suffix=suffix):
        return

    expected = outcome(getattr(original, name), *pair, **settings)

    assert outcome(getattr(sequence_labeling, name), *pair, **settings) == expected


@pytest.mark.parametrize("name", ["precision_score", "recall_score", "f1_score"])
@pytest.mark.parametrize("scheme_name", PREFIXES)
@FEW
@given(data=st.data(), average=average, zero_division=zero_division, suffix=st.booleans())
def test_strict_scores_and_warnings_are_seqevals_in_every_scheme(
    name: str, scheme_name: str, data: st.DataObject, average: str | None, zero_division: Any, suffix: bool
) -> None:
    pair = data.draw(sides(tags(PREFIXES[scheme_name], suffix, ("O-PER", "PER-O")), empty=True))
    settings = {"average": average, "suffix": suffix, "zero_division": zero_division, "mode": "strict"}
    own = scheme.SCHEMES[scheme_name]
    if average == "macro" and without_spans(pair, suffix=suffix, mode="strict", scheme=own):
        return

    expected = outcome(
        getattr(original, name), *pair, scheme=getattr(seqeval.scheme, scheme_name), **settings
    )

    assert outcome(getattr(ours, name), *pair, scheme=own, **settings) == expected


@given(pair=sides(tags("BIOES")), average=average, beta=st.sampled_from([0, 0.5, 1, 2.0, math.inf]))
def test_f_scores_of_any_beta_are_seqevals_in_both_readings(
    pair: Sides, average: str | None, beta: float
) -> None:
    arguments: dict[str, Any] = {"average": average, "beta": beta, "zero_division": 0}
    if average == "macro" and (
        without_spans(pair) or without_spans(pair, mode="strict", scheme=scheme.IOBES)
    ):
        return
    expected = outcome(original.precision_recall_fscore_support, *pair, **arguments)
    strict = outcome(
        original_v1.precision_recall_fscore_support, *pair, scheme=seqeval.scheme.IOBES, **arguments
    )

    assert outcome(ours.precision_recall_fscore_support, *pair, **arguments) == expected
    assert outcome(v1.precision_recall_fscore_support, *pair, scheme=scheme.IOBES, **arguments) == strict


@pytest.mark.parametrize("suffix", [False, True])
@FEW
@given(data=st.data(), digits=st.integers(0, 17), zero_division=zero_division, output_dict=st.booleans())
def test_default_reports_are_seqevals_byte_for_byte(
    suffix: bool, data: st.DataObject, digits: int, zero_division: Any, output_dict: bool
) -> None:
    pair = data.draw(sides(tags("BIOES", suffix, data.draw(st.sampled_from([(), STRANGE]))), empty=True))
    if without_spans(pair, suffix=suffix):
        return
    arguments = (*pair, digits, suffix, output_dict, None, None, zero_division)

    assert outcome(ours.classification_report, *arguments) == outcome(
        original.classification_report, *arguments
    )


@pytest.mark.parametrize("scheme_name", [*PREFIXES, None])
@FEW
@given(data=st.data(), digits=st.integers(0, 17), zero_division=zero_division, output_dict=st.booleans())
def test_strict_reports_are_seqevals_byte_for_byte_and_so_is_what_it_refuses(
    scheme_name: str | None, data: st.DataObject, digits: int, zero_division: Any, output_dict: bool
) -> None:
    prefixes = (
        data.draw(st.sampled_from(list(PREFIXES.values()))) if scheme_name is None else PREFIXES[scheme_name]
    )
    pair = data.draw(sides(tags(prefixes), empty=True))
    arguments: dict[str, Any] = {"digits": digits, "zero_division": zero_division, "output_dict": output_dict}
    chosen = [scheme_name and vars(module)[scheme_name] for module in (seqeval.scheme, scheme)]
    only_outside = {tag for sentence in pair[0] for tag in sentence} <= {"O"}
    if scheme_name is None and only_outside:
        return  # seqeval cannot tell the scheme
    actual = outcome(ours.classification_report, *pair, mode="strict", scheme=chosen[1], **arguments)
    if without_spans(pair, mode="strict", scheme=chosen[1]):
        return

    expected = outcome(original.classification_report, *pair, mode="strict", scheme=chosen[0], **arguments)

    assert actual == expected


@given(pair=sides(tags("BIOES", strange=STRANGE)))
def test_accuracy_and_performance_measure_are_seqevals(pair: Sides) -> None:
    flat = [[tag for sentence in side for tag in sentence] for side in pair]

    assert ours.accuracy_score(*pair) == original.accuracy_score(*pair)
    assert ours.accuracy_score(*flat) == original.accuracy_score(*flat)
    assert ours.performance_measure(*pair) == original.performance_measure(*pair)


@pytest.mark.parametrize("suffix", [False, True])
@FEW
@given(data=st.data())
def test_entities_are_seqevals_of_one_sentence_or_more(suffix: bool, data: st.DataObject) -> None:
    tag = tags("BIOES", suffix, STRANGE)
    for sequence in (
        data.draw(st.lists(tag, max_size=12)),
        data.draw(st.lists(st.lists(tag, max_size=6), max_size=3)),
    ):
        expected = outcome(original.get_entities, sequence, suffix)

        assert outcome(ours.get_entities, sequence, suffix) == expected


@pytest.mark.parametrize("scheme_name", PREFIXES)
@FEW
@given(data=st.data(), suffix=st.booleans())
def test_strict_entities_and_their_types_are_seqevals(
    scheme_name: str, data: st.DataObject, suffix: bool
) -> None:
    tag = tags("BIOESUL" if data.draw(st.booleans()) else PREFIXES[scheme_name], suffix, ("B--PER-", "Q-PER"))
    sentences = data.draw(st.lists(st.lists(tag, max_size=8), max_size=3))

    def entities(module: Any) -> Any:
        found = module.Entities(sentences, vars(module)[scheme_name], suffix)
        return (
            [[e.to_tuple() for e in s] for s in found.entities],
            found.unique_tags,
            len(found.filter("PER")),
        )

    assert outcome(entities, scheme) == outcome(entities, seqeval.scheme)


@given(st.lists(st.lists(tags("BIOESUL", strange=("Q-PER",)), max_size=4), max_size=4))
def test_the_scheme_that_is_detected_is_seqevals(sentences: list[list[str]]) -> None:
    def detected(module: Any) -> str:
        return str(module.auto_detect(sentences).__name__)

    assert outcome(detected, scheme) == outcome(detected, seqeval.scheme)


@pytest.mark.parametrize("scheme_name", PREFIXES)
def test_neighbours_stand_in_seqevals_relations(scheme_name: str) -> None:
    def relations(module: Any, before: str, tag: str) -> tuple[bool, ...]:
        one, other = (vars(module)[scheme_name](text) for text in (before, tag))
        return other.is_start(one), other.is_inside(one), other.is_end(one)

    words = [f"{letter}-{label}" for letter in "BIESUL" for label in "AB"] + ["O"]
    for before in words:
        for tag in words:
            assert relations(scheme, before, tag) == relations(seqeval.scheme, before, tag), (before, tag)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=400))
def test_sums_are_numpys_to_the_last_bit(values: list[float]) -> None:
    assert v1.pairwise_sum(values) == float(numpy.sum(numpy.array(values)))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=8, max_size=40))
def test_averages_over_many_types_are_seqevals_to_the_last_bit(figures: list[tuple[int, int]]) -> None:
    true = [[f"B-{n:02}"] * (a + b) for n, (a, b) in enumerate(figures)]
    predicted = [[f"B-{n:02}"] * a + ["O"] * b for n, (a, b) in enumerate(figures)]
    for name in ("macro", "weighted"):
        if any(map(len, true)):
            expected = outcome(original.precision_recall_fscore_support, true, predicted, average=name)
            assert outcome(ours.precision_recall_fscore_support, true, predicted, average=name) == expected


@pytest.mark.parametrize(
    "bad",
    [
        ([["B-A"]], [["B-A", "O"]]),
        ([["B-A"]], [["B-A"], ["O"]]),
        (["B-A"], ["B-A"]),
        ([("B-A",)], [("B-A",)]),
        ([], []),
        (["B-A"], [["B-A"]]),
        ([[""]], [["O"]]),
        ([["O", "O"]], [["B-A", ""]]),
    ],
)
@pytest.mark.parametrize("name", ["f1_score", "precision_recall_fscore_support", "classification_report"])
def test_bad_input_is_refused_with_seqevals_kind_of_error_and_one_line(name: str, bad: Sides) -> None:
    if name == "classification_report" and bad[0] != [] and type(bad[0][0]) is not tuple:
        assert outcome(getattr(ours, name), *bad)[0] is outcome(getattr(original, name), *bad)[0]
    elif name != "classification_report":
        assert outcome(getattr(ours, name), *bad) == outcome(getattr(original, name), *bad)
    with pytest.raises(CluevalError) as caught:
        getattr(ours, name)(*bad)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("arguments", [{"average": "samples"}, {"average": "binary"}])
def test_an_unknown_average_is_refused_as_by_seqeval(arguments: dict[str, Any]) -> None:
    assert outcome(original.f1_score, [["O"]], [["O"]], **arguments)[0] is ValueError
    with pytest.raises(ValueError, match=r"average has to be one of \(None, 'micro', 'macro', 'weighted'\)"):
        ours.f1_score([["O"]], [["O"]], **arguments)
    with pytest.raises(ValueError, match="beta should be >=0"):
        ours.precision_recall_fscore_support([["O"]], [["O"]], beta=-1)


NAMES = {
    "metrics.sequence_labeling": [
        "accuracy_score",
        "classification_report",
        "f1_score",
        "get_entities",
        "performance_measure",
        "precision_recall_fscore_support",
        "precision_score",
        "recall_score",
    ],
    "metrics.v1": ["check_consistent_length", "classification_report"],
    "scheme": ["auto_detect", "Entities", "Entity", "Token", "Tokens"],
}


@pytest.mark.parametrize(
    ("module", "name"), [(module, name) for module, names in NAMES.items() for name in names]
)
def test_signatures_and_defaults_are_seqevals(module: str, name: str) -> None:
    def shape(package: str) -> list[tuple[str, Any, Any]]:
        function = getattr(importlib.import_module(f"{package}.{module}"), name)
        return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]

    assert shape("clueval.compat.seqeval") == shape("seqeval")


def test_names_of_seqevals_modules_are_offered() -> None:
    assert set(ours.metrics.__all__) >= {
        name for name in vars(seqeval.metrics) if name.endswith(("score", "report"))
    }
    assert {*PREFIXES, "Prefix", "Prefixes", "Tag"} <= vars(scheme).keys()
    assert scheme.Prefixes.keys() == seqeval.scheme.Prefixes.keys()


# Where seqeval fails or misleads


ALL_O = """\
              precision    recall  f1-score   support


   micro avg       0.00      0.00      0.00         0
   macro avg       0.00      0.00      0.00         0
weighted avg       0.00      0.00      0.00         0
"""


@pytest.mark.parametrize("mode", [None, "strict"])
def test_sentences_without_a_span_have_a_report(mode: str | None) -> None:
    assert ours.classification_report([["O"]], [["O"]], mode=mode, zero_division=0) == ALL_O


def test_rates_over_no_type_at_all_are_zero_division_and_no_nan() -> None:
    assert ours.f1_score([["O"]], [["O"]], average="macro", zero_division=0) == 0.0
    assert ours.f1_score([["O"]], [["O"]], average="macro", zero_division=1) == 1.0
    with pytest.warns(
        ours.UndefinedMetricWarning, match="F-score is ill-defined .* no true nor predicted samples"
    ):
        assert ours.f1_score([["O"]], [["O"]], average="macro") == 0.0


def test_strict_reports_tell_the_scheme_from_the_predicted_tags_if_all_true_ones_are_outside() -> None:
    report = ours.classification_report(
        [["O", "O"]], [["B-A", "L-A"]], mode="strict", zero_division=0, output_dict=True
    )

    assert report["A"] == {"precision": 0.0, "recall": 0.0, "f1-score": 0.0, "support": 0}


def test_reports_as_dictionaries_are_json() -> None:
    report = ours.classification_report(
        [["B-PER", "O"]], [["B-PER", "B-LOC"]], output_dict=True, zero_division=0
    )

    assert json.loads(json.dumps(report)) == report
    assert type(report["PER"]["support"]) is int


@pytest.mark.parametrize("mark", [None, -100, numpy.int64(-100), -100.0])
@pytest.mark.parametrize("options", [{}, {"mode": "strict", "scheme": scheme.IOB2}])
def test_positions_without_a_true_label_do_not_count_on_either_side(
    mark: Any, options: dict[str, Any]
) -> None:
    true = [[mark, "B-PER", mark, "I-PER", "O"], ["B-LOC", "O"]]
    predicted = [["B-PER", "B-PER", "O", "I-PER", "O"], ["B-LOC", mark]]

    assert ours.f1_score(true, predicted, **options) == 1.0
    assert ours.accuracy_score(true, predicted) == 1.0
    assert ours.performance_measure(true, predicted) == {"TP": 3, "FP": 0, "FN": 0, "TN": 2}
    assert "weighted avg" in ours.classification_report(true, predicted, **options)


def test_an_ignored_label_neither_begins_nor_ends_an_entity() -> None:
    assert ours.get_entities([-100, "B-PER", None, "I-PER", -100, "O"]) == [("PER", 1, 3)]


def test_accuracy_of_nothing_is_zero_and_of_different_lengths_refused() -> None:
    assert ours.accuracy_score([], []) == 0.0
    with pytest.raises(ValueError, match="y_true has 1 tag, y_pred has 2"):
        ours.accuracy_score(["O"], ["O", "O"])
    with pytest.raises(ValueError, match=r"y_true\[1\] has 2 tags, y_pred\[1\] has 1"):
        ours.performance_measure([["O"], ["O", "O"]], [["O"], ["O"]])


@pytest.mark.parametrize("wrong", [seqeval.scheme.IOB2, scheme.IOB2("B-A"), dict])
def test_unknown_scheme_is_refused_with_the_right_one(wrong: Any) -> None:
    for function in (ours.classification_report, ours.f1_score):
        with pytest.raises(TypeError, match=r"scheme must be a class of clueval\.compat\.seqeval\.scheme"):
            function([["B-A"]], [["B-A"]], mode="strict", scheme=wrong)
    with pytest.raises(TypeError, match="scheme=IOB2, imported from there"):
        ours.f1_score([["B-A"]], [["B-A"]], mode="strict", scheme=seqeval.scheme.IOB2)


@pytest.mark.parametrize("wrong", [0.5, "nan", None])
def test_an_unknown_zero_division_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="zero_division has to be one of"):
        ours.f1_score([["O"]], [["O"]], zero_division=wrong)


def test_errors_say_where_the_tag_is_and_are_of_two_kinds() -> None:
    true, predicted = [["O"], ["O", "B-A"]], [["O"], ["O", "E-A"]]

    with pytest.raises(
        ValueError, match=r"y_pred\[1\]\[1\]: Invalid token is found: 'E-A' is not a tag of IOB2"
    ):
        ours.f1_score(true, predicted, mode="strict", scheme=scheme.IOB2)
    with pytest.raises(KeyError, match=r"y_true\[0\]\[0\]: tag 'Q-A' has the prefix 'Q'"):
        ours.f1_score([["Q-A"]], [["O"]], mode="strict", scheme=scheme.IOB2)
    with pytest.raises(TypeError, match=r"y_true\[0\]\[1\]: 3 is not a tag"):
        ours.f1_score([["O", 3]], [["O", "O"]])
    with pytest.raises(TypeError, match=r"y_pred\[0\]\[0\]: \['O'\] is not a tag"):
        ours.f1_score([["O"]], [[["O"]]])
    with pytest.raises(IndexError, match=r"y_true\[0\]\[0\]: a tag is empty") as caught:
        ours.f1_score([[""]], [["O"]])
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_an_error_in_detecting_the_scheme_names_the_first_tag_of_no_scheme() -> None:
    tags = [f"{letter}-A" for letter in "ZYXWVTRQPNMKJHGFDCA"]

    with pytest.raises(ValueError, match="tag 'Z-A' has the prefix 'Z'"):
        ours.classification_report([tags], [tags], mode="strict")


def test_a_strange_tag_is_warned_of_once() -> None:
    with pytest.warns(UserWarning, match="^X-A seems not to be NE tag.$") as caught:
        ours.f1_score([["X-A", "O", "X-A"]], [["X-A", "O", "O"]], zero_division=0)

    assert len(caught) == 1


# The way of counting


@given(
    pair=st.one_of(sides(tags("BIOES"), empty=True), sides(tags("BIOES", strange=STRANGE), empty=True)),
    suffix=st.booleans(),
)
@example(pair=([["O", "O"]], [["X-A", "O-A"]]), suffix=False)
@example(pair=([["O", "E-A", "L-A", "O"]], [["O", "E-A", "L-A", "O"]]), suffix=False)
def test_counts_are_those_of_the_entities(pair: Sides, suffix: bool) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        true, predicted = (set(ours.get_entities(side, suffix)) for side in pair)
        report = ours.classification_report(*pair, suffix=suffix, output_dict=True, zero_division=0)

    assert report["micro avg"]["support"] == len(true)
    assert report["micro avg"]["precision"] == len(true & predicted) / (len(predicted) or 1)
    assert {name: row["support"] for name, row in report.items() if not name.endswith(" avg")} == {
        name: sum(span[0] == name for span in true) for name in {span[0] for span in true | predicted}
    }


def test_more_tags_than_bytes_are_counted() -> None:
    true = [["O", f"B-{number}", f"I-{number}"] for number in range(900)]
    predicted = [[*sentence[:2], "O"] if number % 3 else sentence for number, sentence in enumerate(true)]

    precision, recall, f1, support = ours.precision_recall_fscore_support(true, predicted, average="micro")

    assert (precision, recall, f1, support) == (1 / 3, 1 / 3, 1 / 3, len(true))


class Bracket(scheme.Token):
    """A scheme of a user's own: an O after a B closes it and belongs to the span."""

    allowed_prefix = scheme.Prefix.B | scheme.Prefix.O
    start_patterns = frozenset({(scheme.Prefix.ANY, scheme.Prefix.B, scheme.Tag.ANY)})
    inside_patterns = frozenset({(scheme.Prefix.B, scheme.Prefix.O, scheme.Tag.ANY)})
    end_patterns = frozenset({(scheme.Prefix.O, scheme.Prefix.ANY, scheme.Tag.ANY)})


def test_a_scheme_of_the_users_own_may_give_o_a_meaning() -> None:
    true, predicted = [["B-A", "O", "O"]], [["B-A", "O", "B-A"]]

    assert scheme.Entities(true, Bracket).entities == [[scheme.Entity(0, 0, 2, "A")]]
    assert ours.f1_score(true, predicted, mode="strict", scheme=Bracket) == 1.0


def test_seqeval_numpy_and_scikit_learn_are_not_imported_even_for_a_warning() -> None:
    code = (
        "import sys, warnings; warnings.simplefilter('ignore'); from clueval.compat import huggingface, seqeval;"
        "seqeval.f1_score([['O']], [['O']]);"
        "print({'numpy', 'seqeval', 'sklearn', 'evaluate', 'transformers'} & set(sys.modules))"
    )

    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "set()\n"


@pytest.mark.long
def test_the_benchmark_compares_results_and_prints_a_row_per_function(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    benchmark = importlib.import_module("compat_seqeval")

    assert benchmark.main(["--tokens", "2000", "--runs", "1", "--cases", "hard"]) == 0
    assert capsys.readouterr().out.count("\n| hard | ") == len(benchmark.CALLS)


def test_warning_of_0_by_0_is_an_instance_of_runtime_warning() -> None:
    with pytest.warns(RuntimeWarning, match="ill-defined") as caught:
        ours.f1_score([["O"]], [["O"]])

    assert all(issubclass(each.category, ours.UndefinedMetricWarning) for each in caught)


def test_warning_of_0_by_0_is_an_instance_of_the_class_of_scikit_learn_if_that_is_loaded() -> None:
    from sklearn.exceptions import UndefinedMetricWarning

    with pytest.warns(UndefinedMetricWarning, match="ill-defined") as caught:
        ours.f1_score([["O"]], [["O"]])

    assert all(issubclass(each.category, ours.UndefinedMetricWarning) for each in caught)
    assert {each.category.__name__ for each in caught} == {"UndefinedMetricWarning"}
