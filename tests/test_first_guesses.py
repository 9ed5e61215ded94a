"""Snippets that a newcomer writes from the README alone: each works, or fails with a message that says how."""

from __future__ import annotations

import copy
import csv
import io
import json
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

import clueval
from clueval import CluevalError, Document, Result, Signature, Span, conventions, score
from clueval.metrics import metric_named

TAGS = [["B-PER", "I-PER", "O", "B-LOC"]]
OTHER = [["B-PER", "I-PER", "O", "O"]]
SPANS = [(0, 2, "PER"), (3, 4, "LOC")]
NO_LAYERS = clueval.Document("d", {}, tokens=["a"])
GERMAN = Path(__file__).parents[1] / "clueval" / "samples" / "german"


def f1(result: clueval.Result) -> float:
    (report,) = result.metrics["exact"].values()
    return round(float(report["micro"]["f1"]), 4)


def exact(*sides: Any, **options: Any) -> float:
    return f1(clueval.score(*sides, metrics="exact", **options))


def data_frame(**columns: Any) -> Any:
    import pandas  # takes long to import

    return pandas.DataFrame(columns)


# What trainers of taggers hold: data sets of Hugging Face, numbers of models, spans of other libraries

NAMES = ["O", "B-PER", "I-PER", "B-LOC"]
ROWS = [{"tokens": ["Ann", "Lee", "in", "Rome"], "ner_tags": [1, 2, 0, 3]}]
TEXTS = [{"text": "Ann Lee in Rome", "spans": [[0, 7, "PER"], [11, 15, "LOC"]]}]
PERSON = {"start": 0, "end": 7, "label": "PER"}


class FlairSpan:
    """A span of flair, which has tokens and a length, too."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__ |= attributes

    def __len__(self) -> int:
        return 2

    def __getitem__(self, number: int) -> str:
        return "token"


class FlairSentence:
    """A sentence of flair has positions, too, and raises IndexError without a label of its own."""

    start_position, end_position = 0, 15

    @property
    def tag(self) -> str:
        raise IndexError

    def get_spans(self, kind: str) -> list[FlairSpan]:
        return []


def found(**attributes: Any) -> list[list[SimpleNamespace]]:
    return [[SimpleNamespace(**attributes)]]


GUESSES: dict[str, tuple[Callable[[], object], object]] = {
    "no layers": (lambda: exact(TAGS, OTHER, layers={}), 0.6667),
    "a document with a text has positions of characters": (
        lambda: clueval.masking(
            *[[Document("d", {"name": [Span(0, 3, "PER")]}, text="Ann met")]] * 2
        ).failures(),
        [],
    ),
    "as seqeval": (lambda: exact(TAGS, OTHER), 0.6667),
    "one sentence": (lambda: exact(TAGS[0], OTHER[0]), 0.6667),
    "tags by document id": (lambda: exact({"a": TAGS[0]}, {"a": OTHER[0]}), 0.6667),
    "open files": (
        lambda: exact((GERMAN / "gold.vrt").open(), (GERMAN / "gold.vrt").open(), layers={"entity": 2}),
        1.0,
    ),
    "scheme and treatment": (
        lambda: exact([["I-PER"]], [["I-PER"]], scheme="BIO", invalid="discard"),
        0.0,
    ),
    "several metrics in one text": (
        lambda: [*clueval.score(TAGS, OTHER, metrics="exact,levels,fair").metrics],
        ["exact", "levels", "fair"],
    ),
    "by document": (lambda: [*(clueval.score(TAGS, OTHER, by="document").groups or {})], ["document"]),
    "errors of tags": (lambda: len([*clueval.errors(TAGS, OTHER)]), 1),
    "conventions of tags": (
        lambda: round(
            clueval.conventions(TAGS, OTHER).to_dict()["conventions"]["label"]["conlleval"]["f1"], 4
        ),
        0.6667,
    ),
    "f1 by its name": (lambda: round(clueval.score(TAGS, OTHER, metrics="exact").get("f1") or 0, 4), 0.6667),
    "errors at a level": (
        lambda: [each.findings[0].kind for each in clueval.errors(TAGS, OTHER, level=1)],
        ["missed"],
    ),
    "errors of one side": (lambda: [*clueval.errors(TAGS, OTHER, sides="predicted")], []),
    "errors of a filter": (lambda: [*clueval.errors(TAGS, OTHER, where="label=PER")], []),
    "diff of tags": (lambda: clueval.diff(TAGS, OTHER, TAGS, level=1).counts()["gold"]["fixed"], 1),
    "agree of two lists": (
        lambda: clueval.agree(TAGS, OTHER).to_dict()["agreement"]["label"]["f1"]["exact"]["matrix"][0][1],
        2 / 3,
    ),
    "compare one after the other": (
        lambda: clueval.compare(*[clueval.score(TAGS * 2, OTHER * 2, resample_by="document")] * 3).systems,
        ["A", "B", "C"],
    ),
    "Presidio": (
        lambda: exact(TEXTS, found(entity_type="PER", start=0, end=7, score=0.85, analysis_explanation=None)),
        0.6667,
    ),
    "flair": (
        lambda: exact(TEXTS, [[FlairSpan(start_position=0, end_position=7, tag="PER", text="Ann Lee")]]),
        0.6667,
    ),
    "stanza": (lambda: exact(TEXTS, found(start_char=0, end_char=7, type="PER", text="Ann Lee")), 0.6667),
    "flair as a dictionary": (
        lambda: exact(
            TEXTS, [[{"start_pos": 0, "end_pos": 7, "labels": [{"value": "PER", "confidence": 0.9}]}]]
        ),
        0.6667,
    ),
    "begin": (lambda: exact(TEXTS, [[{"begin": 0, "end": 7, "label": "PER"}]]), 0.6667),
    "one list of tags for each annotator": (
        lambda: clueval.agree(TAGS[0], OTHER[0]).scores()["f1.exact.mean"],
        2 / 3,
    ),
    "GLiNER": (lambda: exact(TEXTS, [[PERSON | {"text": "Ann Lee", "score": 0.9}]]), 0.6667),
    "spans of one text": (lambda: exact(TEXTS, [PERSON]), 0.6667),
    "spans by id": (lambda: exact([{"id": 7, **TEXTS[0]}], {7: [PERSON]}), 0.6667),
    "a label under tag": (lambda: exact([[PERSON]], [[{"start": 0, "end": 7, "tag": "LOC"}]]), 0.0),
    "the text of an entity beside its type": (
        lambda: exact([[PERSON]], [[{"start": 0, "end": 7, "entity": "Ann Lee", "entity_type": "PER"}]]),
        1.0,
    ),
    "compare gold and systems by name": (
        lambda: clueval.compare(TAGS * 2, base=TAGS * 2, large=OTHER * 2).systems,
        ["base", "large"],
    ),
    "compare gold and a dictionary": (
        lambda: (
            clueval.compare(TAGS * 2, {"a": TAGS * 2, "b": OTHER * 2}, metrics="exact", baseline="b").systems
        ),
        ["b", "a"],
    ),
    "one decimal": (lambda: "66.7 " in clueval.score(TAGS, OTHER).render("markdown", digits=1), True),
    "a pattern": (lambda: len([*clueval.read(str(GERMAN / "gold.v*"), {"entity": 2})]) > 0, True),
}

NAMED_LAYER = {"entity": 2}
PAIRS = [[1, 2], [0, 1]]
SCORED = [{"text": "Ann", "spans": [{"start": 0, "end": 3, "label": "PER", "score": 0.5}]}]
"""A predicted span with a score."""

REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "the threshold itself": (
        lambda: exact(SCORED, SCORED, min_score=clueval.threshold(SCORED, SCORED, score_feature="score")),
        "min_score is a number or a file (write the result of threshold to a file",
    ),
    "nan as a threshold": (
        lambda: exact(SCORED, SCORED, score_feature="score", min_score=float("nan")),
        "min_score is nan",
    ),
    "numbers of tags as floats": (
        lambda: exact([[1, 2.0]], [[1, 2]], names=NAMES),
        "gold[0] has values that are no numbers of tags (the numbers of tags are integers",
    ),
    "spaCy's DocBin": (
        lambda: exact(SimpleNamespace(get_docs=None), []),
        "gold must not be a SimpleNamespace (give the documents, list(value.get_docs(nlp.vocab)))",
    ),
    "a truth value of numpy": (
        lambda: exact(TAGS, OTHER, merge=np.True_),
        "merge must be True or False, not a numpy.bool",
    ),
    "an executor without futures": (
        lambda: exact(PATHS, PATHS, layers={"entity": 2}, executor=Mock(**{"submit.return_value": None})),
        "submit of the executor must return a future, not None",
    ),
    "layers of lists": (lambda: exact(TAGS, OTHER, layers=NAMED_LAYER), "layers={'entity': 2} names columns"),
    "layers of annotators": (lambda: clueval.agree(TAGS, OTHER, layers=NAMED_LAYER), "names columns or keys"),
    "a text in the place of a path": (
        lambda: exact("Ann B-PER\nsaw O\n", "Ann B-PER\nsaw O\n"),
        "a text of 16 characters is no path (write it to a file",
    ),
    "JSON in the place of a path": (
        lambda: exact('[["B-PER"]]', '[["B-PER"]]'),
        "a text of 11 characters is no",
    ),
    "load_result(None)": (lambda: clueval.load_result(None), "path must be text or a path, not None"),  # type: ignore[arg-type]
    "a span outside the text of a document": (
        lambda: Document("d", {"name": [Span(0, 9, "PER")]}, text="Ann"),
        "lies outside the text, which has the positions 0 to 2",
    ),
    "numbers of tags of sentences of two": (lambda: exact(PAIRS, PAIRS), "gold[0] is a list of two numbers"),
    "fail_under": (lambda: exact(TAGS, OTHER, fail_under=0.8), "as in assert result.f1 >= 0.8"),
    "levels as a signature of exact says": (
        lambda: score(TAGS, OTHER, metrics="levels", signature=score(TAGS, OTHER, metrics="exact").signature),
        "metrics=... is not as the signature says: metrics:exact",
    ),
    "tokens with tags": (
        lambda: exact([[("Ada", "B-PER"), ("met", "O")]], TAGS),
        "pairs of a token and its tag",
    ),
    "a text of lists": (
        lambda: exact([SPANS], [SPANS], text="a b"),
        "files, but both sides are in memory (gold has the texts",
    ),
    "partial matches": (lambda: exact(TAGS, OTHER, mode="partial"), "get('muc.label.partial.f1')"),
    "a redacted text": (
        lambda: clueval.masking("Ada met Bo", "A. met B.", [(0, 3, "PER")]),  # type: ignore[call-arg,misc]
        "masking([{'text': text, 'spans': spans}], [redacted], redacted=True)",
    ),
    "a redacted text that is not in a list": (
        lambda: clueval.masking(TEXTS, "[NAME] in Rome", redacted=True),
        "predicted is neither a file nor a folder (a text goes into a list: [text])",
    ),
    "redacted texts of spans without texts": (
        lambda: clueval.masking([SPANS], ["[NAME] in Rome"], redacted=True),
        "an original without text cannot be compared (gold has the texts",
    ),
    "a redacted text without the option": (lambda: clueval.masking(TEXTS, ["A. in Rome"]), "redacted=True"),
    "other tokens": (
        lambda: exact([{"tokens": ["Dr."], "tags": ["O"]}], [{"tokens": ["Dr", "."], "tags": ["O", "O"]}]),
        "if only the tokens differ, clueval convert FILE --to doccano",
    ),
    "label first, as get_entities": (
        lambda: exact([[("PER", 0, 1)]], [[]]),
        "ends of seqeval's get_entities are inclusive",
    ),
    "labels of a data set": (lambda: exact(ROWS, ROWS, labels=NAMES), "are names=[...]"),
    "id2label": (lambda: exact(ROWS, ROWS, id2label=dict(enumerate(NAMES))), "are names=[...]"),
    "rows without names": (lambda: exact(ROWS, ROWS), "give names=[...]"),
    "splits of a data set": (lambda: exact({"test": ROWS}, {"test": ROWS}), "as in data['test']"),
    "columns of a data set": (
        lambda: exact({"tokens": [["a"]], "ner_tags": [[0]]}, ROWS, names=NAMES),
        "give the data set itself, or its rows",
    ),
    "batches": (lambda: exact([[[0, 1]], [[0]]], [[[0, 1]], [[0]]], names=NAMES), "Accumulator.update"),
    "scores of a model": (lambda: exact([[0, 1]], [[[0.9, 0.1], [0.1, 0.9]]], names=NAMES), "argmax(-1)"),
    "the output of predict": (
        lambda: exact(SimpleNamespace(predictions=[[0]], label_ids=[[0]])),
        "score(output.label_ids, ",
    ),
    "a row that the tokenizer made": (
        lambda: exact([{"input_ids": [1], "labels": [0]}], [[]]),
        "a row has 'text'",
    ),
    "tokens of a pipeline": (
        lambda: exact(TEXTS, [[{"entity": "B-PER", "index": 1, "word": "Ann", "start": 0, "end": 3}]]),
        "aggregation_strategy='simple'",
    ),
    "a pipeline without positions": (
        lambda: exact(TEXTS, [[{"entity_group": "PER", "word": "Ann", "start": None, "end": None}]]),
        "use_fast=True",
    ),
    "a sentence of flair": (lambda: exact(TEXTS, [FlairSentence()]), "sentence.get_spans('ner')"),
    "a document of stanza": (
        lambda: exact(TEXTS, [SimpleNamespace(text="Ann Lee in Rome", ents=[])]),
        "[doc.ents for doc in docs]",
    ),
    "spans of tokens beside tokens": (
        lambda: exact(ROWS, [[(0, 2, "PER")]], names=NAMES),
        "give tags on both sides",
    ),
    "inclusive ends": (
        lambda: exact(TEXTS, [[PERSON | {"end": 6, "text": "Ann Lee"}]]),
        "the end is exclusive",
    ),
    "a label under an unknown key": (
        lambda: exact([[PERSON]], [[{"start": 0, "end": 7, "kind": "LOC"}]]),
        "has no label (its keys: 'start', 'end', 'kind')",
    ),
    "a label that is a number": (lambda: exact([[(0, 7, 1)]], [[PERSON]]), "write its name"),
    "answers as dictionaries": (lambda: exact(TEXTS, [{"PER": ["Ann Lee"]}]), "input='mentions'"),
    "answers as pairs": (lambda: exact(TEXTS, [[("Ann Lee", "PER")]]), "input='mentions'"),
    "answers as objects": (lambda: exact(TEXTS, [[{"text": "Ann Lee", "label": "PER"}]]), "input='mentions'"),
    "answers as JSON": (lambda: exact(TEXTS, ['[{"text": "Ann Lee", "label": "PER"}]']), "input='mentions'"),
    "a rejected row of Prodigy": (
        lambda: exact([{"answer": "reject", **TEXTS[0]}], TEXTS),
        "answers='accepted'",
    ),
    "tags in one text": (lambda: exact(["B-PER O", "O O"], ["B-PER O", "O O"]), "line.split()"),
    "a list in a cell": (
        lambda: exact(data_frame(tags=["['B-PER', 'O']"])["tags"], TAGS),
        "ast.literal_eval",
    ),
    "a data frame of tokens": (
        lambda: exact(data_frame(sentence=[1], word=["a"], tag=["O"]), TAGS),
        "frame.groupby('sentence', sort=False)",
    ),
    "texts": (lambda: exact([SPANS], [SPANS], texts=["a b c d"]), "gold has the texts"),
    "labels without prefix": (
        lambda: exact([["PER", "O"]], [["PER", "O"]]),
        "a tag is O, or one of B I E S L U M W",
    ),
    "one side": (lambda: exact(TAGS), "give gold and predicted"),
    "tags against spans": (
        lambda: exact(TAGS, [SPANS]),
        "give both sides in one form, or as rows with their tokens",
    ),
    "unknown option": (lambda: exact(TAGS, OTHER, shceme="BIO"), "did you mean scheme?"),
    "unknown metric": (lambda: clueval.score(TAGS, OTHER, metrics="f1"), "unknown metric 'f1'"),
    "layers as a list": (lambda: exact(TAGS, OTHER, layers=["entity"]), "layers={'entity': 2}"),
    "a column as text": (lambda: clueval.score("a", "b", layers={"entity": "2"}), "must be a whole number"),
    "seqeval's names of the sides": (lambda: exact(y_true=TAGS, y_pred=OTHER), "it is called gold"),
    "three sides": (lambda: exact(TAGS, OTHER, TAGS), "give gold, predicted in this order"),
    "metric": (lambda: clueval.score(TAGS, OTHER, metric="exact"), "did you mean metrics?"),
    "layer": (lambda: clueval.score(TAGS, OTHER, layer={"entity": 2}), "did you mean layers?"),
    "mode": (lambda: exact(TAGS, OTHER, mode="strict"), "scheme='BIO', invalid='discard'"),
    "positions as text": (lambda: exact([[("0", "2", "PER")]], [SPANS]), "not a str (write int('0'))"),
    "positions with a fraction": (
        lambda: exact([[(0, 2.0, "PER")]], [SPANS]),
        "gold[0][0]: positions must be",
    ),
    "other keys": (lambda: exact([[{"begin": 0, "finish": 2}]], [SPANS]), "(its keys: 'begin', 'finish')"),
    "a text without spans": (
        lambda: exact([{"text": "a", "x": []}], [SPANS]),
        "'text' and 'spans' or 'entities'",
    ),
    "a list with the label first": (lambda: exact([["PER", 0, 2]], [SPANS]), "gold[0] begins with a label"),
    "a DataFrame": (lambda: exact(data_frame(), [SPANS]), "clueval guide start-lists"),
    "seqeval's name": (lambda: clueval.score(TAGS, OTHER, metrics="seqeval"), "are those of 'exact'"),
    "a setting of a metric": (
        lambda: clueval.score(TAGS, OTHER, metrics="partial", factor=0.5),
        "metrics='partial(factor=0.5)'",
    ),
    "settings of metrics as a dictionary": (
        lambda: clueval.score(TAGS, OTHER, metrics={"partial": {"factor": 0.5}}),
        "metrics='partial(factor=0.5)'",
    ),
    "metadata of nothing": (lambda: clueval.score([], [], by="court"), "(layers: none; metadata: document)"),
    "a layer of nothing": (
        lambda: list(clueval.errors([], [], labelled="x")),
        "there is no layer 'x' (the documents have no layers)",
    ),
    "a layer of a document without any": (
        lambda: clueval.error_table([], NO_LAYERS, NO_LAYERS, layer="x"),
        "there is no layer 'x' (the document has no layers)",
    ),
    "a setting that a metric does not have": (
        lambda: clueval.score(TAGS, OTHER, metrics=metric_named("partial", facter=0.5)),
        "metric partial has no setting 'facter' (it has factor, glue, betas)",
    ),
    "a setting of a metric without any": (
        lambda: clueval.score(TAGS, OTHER, metrics=metric_named("muc", beta=2)),
        "metric muc has no setting 'beta' (it has none)",
    ),
    "threshold without the feature": (
        lambda: clueval.threshold([SPANS], [SPANS]),
        "missing 1 required keyword-only argument: 'score_feature'",
    ),
    "gaps with the metric levels": (
        lambda: clueval.score([[{"fragments": [[0, 1], [2, 3]], "label": "A"}]], [SPANS]),
        "fragments='split'",
    ),
    "f1 of two metrics": (
        lambda: clueval.score(TAGS, OTHER, metrics="exact,muc").get("f1"),
        "can mean 2 scores",
    ),
    "an option that agree names itself": (
        lambda: clueval.agree(TAGS, OTHER, confidense=0.9),
        "did you mean confidence?",
    ),
    "an option that masking names itself": (
        lambda: clueval.masking(TAGS, OTHER, redactd=True),
        "did you mean redacted?",
    ),
    "decimals as text": (lambda: clueval.score(TAGS, OTHER).render(digits="1"), "digits must be"),
    "f1 of nothing": (lambda: clueval.score([], []).f1, "there are no documents"),
    "compare plain results": (
        lambda: clueval.compare(clueval.score(TAGS, TAGS), clueval.score(TAGS, OTHER)),
        "resample_by='document'",
    ),
    "another order": (
        lambda: clueval.score(
            [{"text": "Ada", "spans": [(0, 3, "PER")]}, {"text": "Ulm", "spans": []}],
            [{"text": "Ulm", "spans": []}, {"text": "Ada", "spans": [(0, 3, "PER")]}],
        ),
        "pair_by='content'",
    ),
    "folder of runs": (
        lambda: clueval.compare(GERMAN / "gold.vrt", large=GERMAN, base=GERMAN / "predicted.vrt"),
        "runs of a system are files or a pattern",
    ),
    "type of errors": (lambda: clueval.errors(TAGS, OTHER, type="FN"), "reasons=['missed']"),
    "labels as tags": (lambda: clueval.score(TAGS, OTHER, tags=["PER"]), "all labels count"),
    "by label": (lambda: clueval.score(TAGS, OTHER, by="label"), "each report has its labels without it"),
    "masking with a text": (
        lambda: clueval.masking("Ada", [(0, 3, "PER")], [(0, 2, "PER")]),
        "gold has the texts",
    ),
    "masking of tags": (lambda: score(TAGS, OTHER, metrics="masking"), "'masking' needs the text of the doc"),
    "noisy tags": (lambda: score(TAGS, OTHER, metrics="noisy"), "the document has no text to align"),
    "tokens of a text": (
        lambda: exact(*[[Document("t", {}), Document("", {}, text="", unit="character")]] * 2, unit="token"),
        "unit='token' does not apply to documents of characters (give documents that count tokens",
    ),
    "formats of both sides": (
        lambda: exact(TAGS, OTHER, input="doccano:inline"),
        "a pair of Reading objects",
    ),
    "schemes of both sides": (lambda: exact(TAGS, OTHER, scheme="BIO:IOB1"), "a pair of Reading objects"),
    "characters of tags": (
        lambda: exact(TAGS, OTHER, unit="character"),
        "a document without text cannot be converted to character positions",
    ),
}


@pytest.mark.parametrize("guess", GUESSES)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_guess_gives_what_one_expects(guess: str) -> None:
    written, expected = GUESSES[guess]

    assert written() == expected


@pytest.mark.parametrize("guess", REFUSED)
def test_a_guess_that_cannot_work_says_how_it_is_done(guess: str) -> None:
    written, message = REFUSED[guess]

    with pytest.raises(CluevalError, match=re.escape(message)):
        written()


ELSEWHERE: dict[str, tuple[Callable[[], object], str]] = {
    "kappa": (lambda: clueval.cohen_kappa_score, "agree"),
    "confusion": (lambda: clueval.confusion_matrix, "metrics='confusion'"),
    "trainer": (lambda: clueval.compute_metrics, "compat.huggingface.Seqeval"),
    "answers": (lambda: clueval.from_llm, "input='mentions'"),
    "numbers of classes": (lambda: clueval.score(TAGS, OTHER).per_class, "rows()"),
    "p": (lambda: clueval.compare(TAGS * 3, OTHER * 3, TAGS * 3).p_value, "tests has"),
    "coefficients": (lambda: clueval.agree(TAGS, OTHER).kappa, "scores()"),
    "F1 of annotators": (lambda: clueval.agree(TAGS, OTHER).f1, "scores()"),
    "agreement": (lambda: clueval.agreement, "did you mean agree?"),
    "redaction": (lambda: clueval.evaluate_redaction, "redacted=True"),
    "errors": (lambda: clueval.score(TAGS, OTHER).errors, "clueval.errors(gold, predicted)"),
    "a page": (lambda: clueval.score(TAGS, OTHER).to_html, "write('page.html')"),
    "averages": (lambda: clueval.score(TAGS, OTHER).macro_f1, "scores()"),
    "a data frame": (lambda: clueval.score(TAGS, OTHER).to_pandas, "pandas.DataFrame(result.rows())"),
    "a dictionary": (lambda: clueval.score(TAGS, OTHER).keys, "scores() and to_dict() are dictionaries"),
    "labels": (lambda: clueval.score(TAGS, OTHER).per_label, "rows() has a row for each label"),
    "a report": (lambda: clueval.score(TAGS, OTHER).report, "or use render('markdown')"),
    "a slip": (lambda: clueval.score(TAGS, OTHER).recal, "did you mean recall?"),
    "F1 of conventions": (lambda: clueval.conventions(TAGS, OTHER).f1, "scores() and rows()"),
    "alpha": (lambda: clueval.agree(TAGS, OTHER).alpha, "scores() and rows() have all of them"),
    "adding a batch": (lambda: clueval.Accumulator().add, "help(...) lists all"),
    "f1_score": (lambda: clueval.f1_score, "it is in clueval.compat.seqeval"),
    "load": (lambda: clueval.load, "did you mean load_result?"),
    "evaluate": (lambda: clueval.evaluate, "did you mean score?"),
    "convention": (lambda: clueval.convention, "did you mean conventions?"),
}


@pytest.mark.parametrize("guess", ELSEWHERE)
def test_a_name_of_other_programs_says_what_it_is_called_here(guess: str) -> None:
    written, message = ELSEWHERE[guess]

    with pytest.raises(AttributeError, match=re.escape(message)):
        written()


def test_spans_of_several_documents_in_one_flat_list_are_refused() -> None:
    rows = [{"doc": name, "start": 0, "end": 2, "label": "PER"} for name in ("d1", "d2")]

    with pytest.raises(
        clueval.UsageError, match=r"gold\[0\] has the key 'doc', but one list of spans is one document"
    ):
        clueval.score(rows, rows, metrics="exact")


# What a newcomer would write on a result, each with what it gives, or the message that says how


SAMPLES = Path(__file__).parents[1] / "clueval" / "samples" / "german"
PATHS = [str(SAMPLES / f"{side}.vrt") for side in ("gold", "predicted")]

Snippet = Callable[[Result], Any]


def of(gold: str, predicted: str, **options: Any) -> Result:
    """The result of one document; each character is the label of a span of one position."""
    sides = [
        Document("d", {"label": [Span(n, n + 1, label) for n, label in enumerate(labels)]})
        for labels in (gold, predicted)
    ]
    return score([sides[0]], [sides[1]], **options)


ONE = of("AAB", "AAC", metrics="exact")
"""Two of three spans are right: precision, recall and F1 are two thirds."""

TWO_THIRDS = pytest.approx(2 / 3)

WORKS: dict[str, tuple[Snippet, Any]] = {
    "result.f1": (lambda result: result.f1, TWO_THIRDS),
    "result.precision": (lambda result: result.precision, TWO_THIRDS),
    "result.recall": (lambda result: result.recall, TWO_THIRDS),
    "f'{result.f1:.2%}'": (lambda result: f"{result.f1:.2%}", "66.67%"),
    "result.get('exact.label.micro.f1')": (lambda result: result.get("exact.label.micro.f1"), TWO_THIRDS),
    "result.get('micro.f1')": (lambda result: result.get("micro.f1"), TWO_THIRDS),
    "result.get('per_label.A.f1')": (lambda result: result.get("per_label.A.f1"), 1.0),
    "result['f1']": (lambda result: result["f1"], TWO_THIRDS),
    "result['exact.f1']": (lambda result: result["exact.f1"], TWO_THIRDS),
    "result['label.f1']": (lambda result: result["label.f1"], TWO_THIRDS),
    "result.get('exact.A.f1')": (lambda result: result.get("exact.A.f1"), 1.0),
    "result.get('exact.label.A.f1')": (lambda result: result.get("exact.label.A.f1"), 1.0),
    "result.get('A.recall')": (lambda result: result.get("A.recall"), 1.0),
    "result.get('exact.macro.f1')": (lambda result: result.get("exact.macro.f1"), pytest.approx(1 / 3)),
    "result.scores()['exact.f1']": (lambda result: result.scores()["exact.f1"], TWO_THIRDS),
    "logger.log(result.scores())": (lambda result: {*map(type, result.scores().values())}, {float}),
    "result.metrics['exact']['label']": (lambda result: result.metrics["exact"]["label"]["micro"]["gold"], 3),
    "result.rows()[0]['f1']": (lambda result: result.rows()[0]["f1"], TWO_THIRDS),
    "f1 by label": (
        lambda result: {row["label"]: row["f1"] for row in result.rows() if row["label"]},
        {"A": 1.0, "B": 0.0, "C": 0.0},
    ),
    "result.rows(long=True)": (
        lambda result: {row["path"]: row["number"] for row in result.rows(long=True)}["micro.tp_gold"],
        2,
    ),
    "json.dumps(result.to_dict())": (lambda result: json.loads(json.dumps(result.to_dict()))["schema"], 1),
    "json.loads(result.to_json())": (lambda result: json.loads(result.to_json()) == result.to_dict(), True),
    "csv.DictReader": (
        lambda result: next(csv.DictReader(io.StringIO(result.render("csv"))))["average"],
        "micro",
    ),
    "tsv": (lambda result: result.render("tsv").split("\n")[1].split("\t")[0], "exact"),
    "markdown": (lambda result: "| exact, label: micro | 66.67 |" in result.render("markdown"), True),
    "latex": (lambda result: result.render("latex").count(r"\toprule"), 2),
    "print(result)": (lambda result: "exact, label: micro      66.67   66.67  66.67" in str(result), True),
    "result": (repr, "<Result of 1 document: exact; print(result) shows the tables>"),
    "the notebook": (lambda result: result._repr_html_().count("<table>"), 2),
    "a + b": (lambda result: (result + result).get("micro.gold"), 6),
    "sum(results)": (lambda result: sum([result, result, result]).get("micro.gold"), 9),
    "str(result.signature)": (lambda result: str(result.signature).startswith("metrics:exact|"), True),
    "result.signature.short": (lambda result: result.signature.short.startswith("m:exact|"), True),
    "Signature.parse": (lambda result: Signature.parse(str(result.signature)) == result.signature, True),
    "result == result": (lambda result: result == copy.deepcopy(result), True),
    "pickle": (lambda result: pickle.loads(pickle.dumps(result)) == result, True),
    "result.documents": (
        lambda result: (result.documents, result.inputs["gold"]["layers"]["label"]["spans"]),
        (1, 3),
    ),
}

SAYS_HOW: dict[str, tuple[Snippet, str]] = {
    "result.get('micro')": (lambda result: result.get("micro"), "did you mean exact.label.micro"),
    "result.get('exact.label.micro.F1')": (
        lambda result: result.get("exact.label.micro.F1"),
        "did you mean exact.label.micro.f1",
    ),
    "result.get('exact.entity.micro.f1')": (
        lambda result: result.get("exact.entity.micro.f1"),
        "did you mean exact.label.micro.f1",
    ),
    **{
        f"result.get({path!r})": (lambda result, path=path: result.get(path), f"did you mean {meant}?")
        for path, meant in {
            "exact.overall_f1": "exact.label.micro.f1",
            "overall_f1": "exact.label.micro.f1",
            "micro_f1": "exact.label.micro.f1",
            "f1_score": "exact.label.micro.f1",
            "eval_f1": "exact.label.micro.f1",
            "F1": "exact.label.micro.f1",
            "micro avg": "exact.label.micro.f1",
            "macro avg.f1-score": "exact.label.macro.f1",
            "macro_f1": "exact.label.macro.f1",
            "accuracy": "exact.label.token_accuracy",
            "A": "exact.label.per_label.A.f1",
            "a.f1": "exact.label.per_label.A.f1",
            "A.support": "exact.label.per_label.A.f1",
            "exact.entity.A.precision": "exact.label.per_label.A.precision",
            "levels.A.f1": "exact.label.per_label.A.f1",
            "NONE.f1": "exact.label.micro.f1",
        }.items()
    },
    "result.render('html')": (
        lambda result: result.render("html"),
        "one of text, json, csv, tsv, markdown, latex",
    ),
    "adding other metrics": (lambda result: result + of("A", "A", metrics="levels"), "metrics is"),
    "f1 of two metrics": (
        lambda result: of("A", "A", metrics="exact,fair").f1,
        "use get with one of exact.label.micro.f1, fair.label.overall.fair.f1",
    ),
    "f1 of two layers": (
        lambda result: score(*PATHS, layers={"entity": 2, "risk": 3}).f1,
        "use get with one of levels.entity.labelled.entity.1.micro.f1, levels.risk",
    ),
    "f1 of a confusion": (lambda result: of("A", "A", metrics="confusion").f1, "use get with the path"),
    "Signature.parse of a score": (
        lambda result: Signature.parse("F1 81.60"),
        "is not a part of a signature",
    ),
}


@pytest.mark.parametrize("snippet", WORKS)
def test_the_first_guess_gives(snippet: str) -> None:
    run, expected = WORKS[snippet]

    assert run(ONE) == expected


@pytest.mark.parametrize("snippet", SAYS_HOW)
def test_the_first_guess_fails_with_a_message_that_says_how(snippet: str) -> None:
    run, message = SAYS_HOW[snippet]

    with pytest.raises(CluevalError) as caught:
        run(ONE)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_conventions_tell_why_two_numbers_differ() -> None:
    rows = conventions(*PATHS, layers={"entity": 2}).to_dict()["conventions"]["entity"]

    assert rows["seqeval_strict"]["counts"] == "as conlleval, of spans whose tags are well-formed"
    assert rows["levels_4_labelled"]["counts"] == "as level 4, with the same label"
