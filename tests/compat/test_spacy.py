"""The scorer for spaCy, in real spaCy: its own figures, and clueval's."""

from __future__ import annotations

import tomllib
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import flat_spans

from clueval import Document, Signature, score
from clueval.compat.spacy import make_span_scorer
from clueval.core.span import Span
from clueval.files.errors import OverlapError, TextMismatch, UsageError
from clueval.metrics import METRICS

spacy = pytest.importorskip("spacy", reason="spaCy is not installed (extra: spacy)")
from spacy.pipeline.spancat import spancat_score  # noqa: E402  # only where it is installed
from spacy.scorer import Scorer, get_ner_prf  # noqa: E402
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
    pyproject = Path(__file__).parents[2] / "pyproject.toml"
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


@st.composite
def partly_annotated(draw: st.DrawFn) -> tuple[list[Span], list[Span], list[int]]:
    """Gold, predicted, and the tokens without annotation, which no gold span covers."""
    gold, predicted = draw(flat_spans()), draw(flat_spans())
    free = [n for n in range(len(WORDS)) if not any(span.start <= n < span.end for span in gold)]
    missing = draw(st.lists(st.sampled_from(free), unique=True)) if free else []
    return gold, predicted, sorted(free if draw(st.booleans()) else missing)


def part_of_the_annotation(gold: list[Span], predicted: list[Span], missing: list[int]) -> Any:
    reference = Doc(NLP.vocab, words=WORDS)
    reference.set_ents(
        [SpacySpan(reference, span.start, span.end, label=span.label) for span in gold],
        missing=[reference[n : n + 1] for n in missing],
    )
    return Example(doc(predicted), reference)


@pytest.mark.parametrize("unit", ["character", "token"])
@given(st.lists(partly_annotated(), min_size=1, max_size=4))
def test_missing_annotation_gives_spacys_own_figures(
    unit: str, corpus: list[tuple[list[Span], list[Span], list[int]]]
) -> None:
    examples = [part_of_the_annotation(*each) for each in corpus]

    ours, theirs = make_span_scorer(unit=unit)(examples), get_ner_prf(examples)

    assert (ours["ents_per_type"] is None) == (theirs["ents_per_type"] is None)
    for name in ("ents_p", "ents_r", "ents_f"):
        assert ours[name] == pytest.approx(theirs[name])
    for label, prf in (theirs["ents_per_type"] or {}).items():
        assert ours["ents_per_type"][label] == pytest.approx(prf)
    assert (ours["ents_per_type"] or {}).keys() == (theirs["ents_per_type"] or {}).keys()


@given(partly_annotated())
def test_regions_without_annotation_that_are_touched_give_spacys_own_figures(
    parts: tuple[list[Span], list[Span], list[int]],
) -> None:
    gold, predicted, missing = parts
    assume(missing)
    layers = {"label": gold, "missing": [Span(n, n + 1, {"missing": "x"}) for n in missing]}
    sides = Document("d", layers, tokens=WORDS), Document("d", {"label": predicted}, tokens=WORDS)

    ours = score(*([side] for side in sides), metrics="exact", ignore_layer="missing", ignored="touching")
    theirs = get_ner_prf([part_of_the_annotation(gold, predicted, missing)])

    micro = ours.metrics["exact"]["label"]["micro"]
    if theirs["ents_p"] is None:
        assert micro["gold"] == micro["predicted"] == 0
    else:
        assert [micro[rate] for rate in ("precision", "recall", "f1")] == pytest.approx(
            [theirs[name] for name in ("ents_p", "ents_r", "ents_f")]
        )


def test_a_prediction_that_touches_missing_annotation_is_left_out_and_counted() -> None:
    predicted = [Span(0, 2, "PER"), Span(4, 6, "LOC"), Span(8, 9, "LOC"), Span(10, 11, "ORG")]
    examples = [part_of_the_annotation([Span(0, 2, "PER")], predicted, missing=[5, 6, 10])]

    scores = make_span_scorer(["levels"])(examples)

    assert (scores["ents_p"], scores["ents_r"]) == (0.5, 1.0)  # of PER and the second LOC, PER is right
    assert scores["ents_levels_4_unlabelled_p"] == 0.5
    assert scores["ents_per_type"]["ORG"] == {"p": 0.0, "r": 0.0, "f": 0.0}
    assert scores["ents_left_out_predictions"] == 2


@pytest.mark.parametrize(("first", "expected"), [("B-GPE", 1.0), (None, None)])
def test_a_prediction_in_other_tokens_is_left_out_as_in_spacy(first: str | None, expected: object) -> None:
    reference = Doc(NLP.vocab, words=["New York", "fell"], ents=["" if first is None else first, "O"])
    predicted = Doc(NLP.vocab, words=["New", "York", "fell"])
    predicted.set_ents([SpacySpan(predicted, 0, 2, label="GPE")])
    examples = [Example(predicted, reference)]

    ours, theirs = make_span_scorer()(examples), get_ner_prf(examples)

    assert ours["ents_f"] == theirs["ents_f"] == expected


def test_a_prediction_of_blanks_that_the_reference_has_in_no_token_is_left_out_as_in_spacy() -> None:
    reference = Doc(NLP.vocab, words=["in", "Rome"], spaces=[True, False])
    predicted = Doc(NLP.vocab, words=["in", " ", "Rome"], spaces=[False] * 3)
    reference.set_ents([SpacySpan(reference, 1, 2, label="GPE")])
    predicted.set_ents([SpacySpan(predicted, n, n + 1, label="GPE") for n in (1, 2)])
    examples = [Example(predicted, reference)]

    ours, theirs = make_span_scorer()(examples), get_ner_prf(examples)

    assert ours["ents_p"] == theirs["ents_p"] == 1.0


def test_a_reference_without_the_group_is_left_out_as_in_spacy() -> None:
    without = Example(doc([Span(0, 1, "A")], "sc"), Doc(NLP.vocab, words=WORDS))
    examples = [without, example([Span(2, 3, "A")], [Span(2, 3, "A")], "sc")]

    ours, theirs = make_span_scorer(spans_key="sc")(examples), spancat_score(examples, spans_key="sc")

    assert {name: ours[name] for name in theirs} == theirs
    assert (ours["spans_sc_p"], ours["spans_sc_left_out"]) == (1.0, 1)


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
    expected = score(*sides, metrics=metrics, unit=unit)
    reports = {name: of["label"] for name, of in expected.metrics.items()}

    assert found["ents_clueval"]["levels"] == reports["levels"]
    assert found["ents_fair_fair_f"] == reports["fair"]["overall"]["fair"]["f1"]
    assert found["ents_muc_partial_p"] == reports["muc"]["partial"]["precision"]


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_has_the_report_and_signature_on_the_texts(metric: str) -> None:
    gold = [[Span(0, 2, "A"), Span(3, 4, "B")], [Span(1, 2, "A")], []]
    predicted = [[Span(0, 2, "A"), Span(3, 5, "B")], [Span(0, 2, "A")], [Span(2, 3, "B")]]
    halves = [part for word in WORDS for part in (word[:1], word[1:])]
    examples = [example(own, other) for own, other in zip(gold, predicted, strict=True)]
    cut = Doc(NLP.vocab, words=halves, spaces=[False, True] * len(WORDS))  # the same text in other tokens
    cut.set_ents([SpacySpan(cut, 0, 4, label="A")])
    examples.append(Example(cut, doc(gold[0])))
    sides = [
        [
            Document(
                str(number),
                {"label": [Span(each.start_char, each.end_char, each.label_) for each in of.ents]},
                text=of.text,
                unit="character",
            )
            for number, of in enumerate(docs)
        ]
        for docs in ([each.reference for each in examples], [each.predicted for each in examples])
    ]

    found = make_span_scorer(["exact", metric])(examples)
    result = score(*sides, metrics=["exact", metric])

    assert found["ents_clueval"] == {name: of["label"] for name, of in result.metrics.items()}
    assert found["ents_signature"] == str(result.signature)


def test_tokens_may_differ_where_characters_are_counted() -> None:
    gold, predicted = (
        Doc(NLP.vocab, words=["New York"], spaces=[False]),
        Doc(NLP.vocab, words=["New", "York"], spaces=[True, False]),
    )
    gold.set_ents([SpacySpan(gold, 0, 1, label="GPE")])
    predicted.set_ents([SpacySpan(predicted, 0, 2, label="GPE")])

    assert make_span_scorer()([Example(predicted, gold)])["ents_f"] == 1.0


@pytest.mark.parametrize(("unit", "words"), [("character", ["Ada", "met"]), ("token", ["Ad", "a", "met"])])
@pytest.mark.parametrize("key", [None, "sc"])
def test_examples_with_other_texts_are_refused(unit: str, words: list[str], key: str | None) -> None:
    gold, predicted = (doc([Span(0, 1, "A")], key, each) for each in (["Ada", "saw"], words))

    with pytest.raises(TextMismatch, match="document '1'"):
        make_span_scorer(spans_key=key, unit=unit)([example([], [], key), Example(predicted, gold)])


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


def test_metrics_of_the_scorer_have_their_settings_as_everywhere() -> None:
    scores = make_span_scorer("partial(factor=0.5,betas=[2]),gate(beta=2)")([example([Span(0, 2, "A")], [])])

    assert scores["ents_partial_r"] == scores["ents_gate_strict_r"] == scores["ents_gate_strict_f"] == 0.0
    assert "f2_strict" in scores["ents_clueval"]["gate"]["all"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"metrics": ["exat"]}, "unknown metric 'exat'"), ({"unit": "byte"}, "unknown unit 'byte'")],
)
def test_unknown_names_are_refused_before_training(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make_span_scorer(**settings)
