"""The scorer for spaCy, in real spaCy: its own figures, and clueval's."""

from __future__ import annotations

import tomllib
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import flat_spans

from clueval.compat.spacy import make_span_scorer
from clueval.evaluation import evaluate
from clueval.exceptions import OverlapError, UsageError
from clueval.results import Signature
from clueval.spans import Document, Span

spacy = pytest.importorskip("spacy", reason="spaCy is not installed (extra: spacy)")
from spacy.scorer import Scorer, get_ner_prf  # noqa: E402  # only where it is installed
from spacy.tokens import Doc  # noqa: E402
from spacy.tokens import Span as SpacySpan  # noqa: E402
from spacy.training import Example  # noqa: E402

NAME = "clueval.span_scorer.v1"
NLP = spacy.blank("en")
WORDS = [f"w{n}" for n in range(14)]


def doc(spans: list[Span], key: str | None = None, words: list[str] | None = None) -> Any:
    found = Doc(NLP.vocab, words=words or WORDS)
    spacy_spans = [SpacySpan(found, span.start, span.end, label=span.label) for span in spans]
    if key is None:
        found.set_ents(spacy_spans)
    else:
        found.spans[key] = spacy_spans
    return found


def example(gold: list[Span], predicted: list[Span], key: str | None = None) -> Any:
    return Example(doc(predicted, key), doc(gold, key))


def declared() -> EntryPoint:
    pyproject = Path(__file__).parents[1] / "pyproject.toml"
    group = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]["entry-points"]["spacy_scorers"]
    return EntryPoint(NAME, group[NAME], "spacy_scorers")


corpora = st.lists(st.tuples(flat_spans(), flat_spans()), min_size=1, max_size=4)


@given(corpora)
def test_entities_have_spacys_own_figures(pairs: list[tuple[list[Span], list[Span]]]) -> None:
    examples = [example(gold, predicted) for gold, predicted in pairs]

    ours, theirs = make_span_scorer()(examples), get_ner_prf(examples)

    for name in ("ents_p", "ents_r", "ents_f"):
        assert ours[name] == pytest.approx(theirs[name])
    if theirs["ents_per_type"] is None:
        assert ours["ents_per_type"] is None
    else:
        assert ours["ents_per_type"] == {
            label: pytest.approx(prf) for label, prf in theirs["ents_per_type"].items()
        }


@given(corpora)
def test_groups_of_spans_have_spacys_own_figures(pairs: list[tuple[list[Span], list[Span]]]) -> None:
    examples = [example(gold, predicted, "sc") for gold, predicted in pairs]
    settings: dict[str, Any] = {
        "attr": "spans_sc",
        "getter": lambda found, _: found.spans["sc"],
        "has_annotation": lambda found: "sc" in found.spans,
        "allow_overlap": True,
        "labeled": True,
    }

    ours, theirs = make_span_scorer(spans_key="sc")(examples), Scorer.score_spans(examples, **settings)

    for name in ("spans_sc_p", "spans_sc_r", "spans_sc_f"):
        assert ours[name] == pytest.approx(theirs[name])


@pytest.mark.parametrize("unit", ["character", "token"])
@given(corpora)
def test_the_metrics_have_evaluates_figures(unit: str, pairs: list[tuple[list[Span], list[Span]]]) -> None:
    metrics = ["exact", "levels", "muc", "fair"]
    sides = [
        [Document(str(n), {"label": pair[side]}, tokens=WORDS) for n, pair in enumerate(pairs)]
        for side in (0, 1)
    ]
    examples = [example(gold, predicted) for gold, predicted in pairs]

    found = make_span_scorer(metrics, unit=unit)(examples)
    expected = evaluate(*sides, metrics=metrics, unit=unit)
    reports = {name: of["label"] for name, of in expected.metrics.items()}

    assert found["ents_clueval"]["levels"] == reports["levels"]
    assert found["ents_fair_fair_f"] == reports["fair"]["overall"]["fair"]["f1"]
    assert found["ents_muc_partial_p"] == reports["muc"]["partial"]["precision"]


def test_tokens_may_differ_where_characters_are_counted() -> None:
    gold, predicted = (
        Doc(NLP.vocab, words=["New York"], spaces=[False]),
        Doc(NLP.vocab, words=["New", "York"], spaces=[True, False]),
    )
    gold.set_ents([SpacySpan(gold, 0, 1, label="GPE")])
    predicted.set_ents([SpacySpan(predicted, 0, 2, label="GPE")])

    assert make_span_scorer()([Example(predicted, gold)])["ents_f"] == 1.0


def test_a_pipeline_evaluates_with_it() -> None:
    scorers = spacy.registry.scorers
    if NAME not in scorers.get_all():
        scorers.register(NAME, func=declared().load())
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe(
        "entity_ruler", config={"scorer": {"@scorers": NAME, "metrics": ["levels", "partial"]}}
    )
    ruler.add_patterns([{"label": "PER", "pattern": "Anna"}, {"label": "LOC", "pattern": "Porto"}])
    texts = {"Anna saw Porto": [(0, 4, "PER"), (9, 14, "LOC")], "Anna Weiss left": [(0, 10, "PER")]}

    scores = nlp.evaluate(
        [Example.from_dict(nlp.make_doc(text), {"entities": ents}) for text, ents in texts.items()]
    )

    assert scores["ents_f"] == pytest.approx(2 / 3)
    assert scores["ents_per_type"]["LOC"] == {"p": 1.0, "r": 1.0, "f": 1.0}
    assert scores["ents_levels_2_unlabelled_p"] == 1.0
    assert scores["ents_partial_r"] == pytest.approx((2 + 0.75 * 4 / 10) / 3)
    assert Signature.parse(scores["ents_signature"]).choices["unit"] == "character"


def test_the_entry_point_that_is_declared_is_the_scorer() -> None:
    assert declared().load() is make_span_scorer


@pytest.mark.skipif(
    not entry_points(group="spacy_scorers", name=NAME),
    reason="this installation is older than the entry point: install the package again",
)
def test_spacy_finds_the_scorer_by_its_name() -> None:
    assert spacy.registry.scorers.get(NAME) is make_span_scorer


def test_an_example_without_annotation_is_left_out_and_counted() -> None:
    unannotated = Example(doc([Span(0, 1, "PER")]), Doc(NLP.vocab, words=WORDS))
    annotated = example([Span(0, 1, "PER")], [Span(0, 1, "PER")])

    scores = make_span_scorer()([unannotated, annotated])

    assert (scores["ents_p"], scores["ents_left_out"]) == (1.0, 1)


def test_without_any_annotation_the_rates_are_none_as_in_spacy() -> None:
    unannotated = Example(doc([]), Doc(NLP.vocab, words=WORDS))

    scores, theirs = make_span_scorer()([unannotated]), get_ner_prf([unannotated])

    assert {name: scores[name] for name in theirs} == theirs
    assert scores["ents_left_out"] == 1


def test_no_examples_are_no_scores() -> None:
    assert make_span_scorer()([])["ents_f"] is None


def test_overlapping_spans_of_a_group_are_named_where_a_metric_forbids_them() -> None:
    nested = [Span(0, 3, "A"), Span(1, 2, "B")]

    with pytest.raises(OverlapError, match=r"document '0'.*overlap"):
        make_span_scorer(["levels"], spans_key="sc")([example(nested, nested, "sc")])
    assert make_span_scorer(["muc"], spans_key="sc")([example(nested, nested, "sc")])["spans_sc_f"] == 1.0


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"metrics": ["exat"]}, "unknown metric 'exat'"), ({"unit": "byte"}, "unknown unit 'byte'")],
)
def test_unknown_names_are_refused_before_training(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make_span_scorer(**settings)
