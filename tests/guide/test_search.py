"""The search of the guide: what people type finds the page that they mean first."""

from __future__ import annotations

import re

import pytest

from clueval.cli import main
from clueval.cli.reference import PARTS
from clueval.guide import found_pages, page_named

MEANT = {
    "LLM": "tutorial-language-models",
    "large language models": "tutorial-language-models",
    "gliner": "tutorial-language-models",
    "flair": "howto-conll",
    "conll 2003": "howto-conll",
    "seqevall": "from-seqeval",
    "huggingface": "from-seqeval",
    "hugging face trainer": "from-seqeval",
    "spacy": "from-spacy",
    "presidio": "from-other-scorers",
    "seeds": "howto-compare",
    "signifcance": "howto-compare",
    "compare models": "howto-compare",
    "how do I compare two models": "howto-compare",
    "p-values": "howto-compare",
    "pytest": "howto-ci-gate",
    "github actions": "howto-ci-gate",
    "f1 too low": "concept-which-f1",
    "why is my f1 lower than in the paper": "concept-which-f1",
    "micro vs macro": "concept-averages",
    "confidence intervals": "concept-confidence-interval",
    "BIOES": "concept-tags",
    "boundary": "tutorial-errors",
    "boundary errors": "tutorial-errors",
    "confusion matrix": "howto-profile",
    "jsonl": "howto-json-formats",
    "label studio": "howto-json-formats",
    "Inception": "howto-brat",
    "latex table": "howto-cite",
    "overleaf": "howto-cite",
    "excel": "howto-output",
    "pandas data frame": "howto-output",
    "tokenization mismatch": "howto-ocr",
    "multiprocessing": "howto-large",
    "exit code": "reference-errors",
    "inter-annotator agreement": "concept-agreement",
    "Cohens kappa": "concept-agreement",
    "adjudication": "howto-curate",
    "anonymise": "tutorial-court-decisions-masking",
    "anonymized": "tutorial-court-decisions-masking",
    "anonymisierung": "tutorial-court-decisions-masking",
    "Schwärzung": "tutorial-court-decisions-masking",
    "redactions": "tutorial-court-decisions-masking",
    "GDPR": "tutorial-court-decisions-masking",
    "discontinuous entities": "concept-spans",
    "reidentification": "concept-privacy",
    "quasi-identifiers": "concept-privacy",
    "relation extraction": "concept-structured",
    "coreference": "concept-structured",
    "jupyter": "howto-output",
    "ollama": "tutorial-language-models",
    "token classification": "from-seqeval",
    "span categorizer": "from-spacy",
    "exclude MISC": "howto-change-spans",
    "label mapping": "howto-change-spans",
    "encoding": "reference-errors",
    "McNemar": "howto-gate",
    "add a metric": "extend-clueval",
    "metric definitions": "reference-metrics",
}
"""What trainers of taggers, leaders of annotation and clerks of courts type, and the page that they mean."""


def listed(query: str) -> list[str]:
    return re.findall(r"\(([a-z0-9-]+)\.md\)", found_pages(query.split(), PARTS).text)


@pytest.mark.few(8)
@pytest.mark.parametrize("query", MEANT)
def test_command_lists_the_page_that_is_meant_first(query: str) -> None:
    assert listed(query)[0] == MEANT[query]


def test_pages_are_found_by_words_that_they_do_not_show() -> None:
    page = page_named("court-decisions-masking")

    assert page is not None
    assert "Schwärzung" in page.words
    assert "Schwärzung" not in page.for_terminal()


@pytest.mark.parametrize(
    ("word", "code"),
    [("redacted", 0), ("signifcance test", 0), ("signifcance", 2), ("nosuch", 2), ("zzzqqq", 2)],
)
def test_the_exit_code_is_2_if_no_page_has_any_of_the_words(
    word: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    exit_code = main(["guide", *word.split()])

    assert exit_code == code
    assert bool(capsys.readouterr().err) == bool(code)
