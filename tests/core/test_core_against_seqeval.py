from __future__ import annotations

import warnings

from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import classification_report

from clueval.core.count import Plan, count, sequences_of
from clueval.core.document import Document, Pair, Sentence
from clueval.core.exact import Exact
from clueval.core.levels import Levels
from clueval.core.span import Span
from clueval.core.tags import decode

TAGS = ["O", *(f"{prefix}-{label}" for prefix in "BIES" for label in ("PER", "LOC"))]

SENTENCES = st.lists(
    st.integers(1, 9).flatmap(
        lambda length: st.tuples(*[st.lists(st.sampled_from(TAGS), min_size=length, max_size=length)] * 2)
    ),
    min_size=1,
    max_size=5,
)


def document(sentences: list[list[str]]) -> Document:
    """A document of sentences of tags, with the spans that the tags mark in each sentence."""
    spans, borders, past = [], [], 0
    for tags in sentences:
        spans += [Span(past + start, past + end, {"x": label}) for start, end, label in decode(tags)]
        borders.append(Sentence(past, past + len(tags)))
        past += len(tags)
    every = [tag for tags in sentences for tag in tags]
    return Document("d", {"x": spans}, tokens=["w"] * past, sentences=borders, tags={"x": every})


@given(SENTENCES)
def test_exact_and_level_1_labelled_are_seqevals_numbers(
    sentences: list[tuple[list[str], list[str]]],
) -> None:
    gold, predicted = ([pair[side] for pair in sentences] for side in (0, 1))
    plan = Plan((Exact(), Levels()))
    bag = count([[Pair(document(gold), document(predicted))]], plan)
    found = {
        metric.name: metric.scores(tally, ["x"])
        for _, _, metric, tally in bag.tallies_of(plan.metrics, sequences_of(bag, plan))
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # seqeval warns of labels that one side lacks
        theirs = classification_report(gold, predicted, output_dict=True, zero_division=0)

    for report in (found["exact"], found["levels"]["labelled"]["x"]["1"]):
        assert {label: _rates(of) for label, of in report["per_label"].items()} == {
            label: _rates(of, "f1-score") for label, of in theirs.items() if not label.endswith(" avg")
        }
        assert _rates(report["micro"]) == _rates(theirs["micro avg"], "f1-score")


def _rates(entry: dict[str, float], f1: str = "f1") -> list[float]:
    return [round(float(entry[name]), 12) for name in ("precision", "recall", f1)]
