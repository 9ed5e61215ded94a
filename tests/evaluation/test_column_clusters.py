"""Column files are counted by clusters as their documents are, if a filter or the unit needs spans."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch
from warnings import catch_warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from routes import SCHEMES, Files, Options, by_files, corpora, outcome, written
from sizes import documents_alone, handed_in, passages_alone
from strategies import at_most

from clueval import score
from clueval.formats.columns.sizes import Sizes

SMALL = Sizes(block=64, sentences=2, rows=3, characters=30, runs=4)
FILTERS: list[Options] = [
    {"where": [where], "metrics": ["levels", "exact", "confusion"], "merge": merge}
    for where in ("risk=high", "entity=PER")
    for merge in (False, True)
]
CHARACTERS: list[Options] = [
    {"unit": "character", "metrics": metrics, "merge": merge}
    for metrics in (["levels", "exact", "muc"], ["partial", "fair", "gate", "confusion"])
    for merge in (False, True)
]


@given(
    st.integers(0, 10**6),
    st.sampled_from(sorted(SCHEMES)),
    st.sampled_from(["vrt", "conll", "vrt, irregular", "conll, irregular"]),
    st.sampled_from([*FILTERS, *CHARACTERS]),
    st.sampled_from(["\tB", "\tB", "\tB", "\tQ", "\tO\tB", "B"]),
)
@at_most(40)
def test_clusters_give_the_counts_of_documents(
    seed: int, scheme: str, form: str, options: Options, instead: str
) -> None:
    with TemporaryDirectory() as folder:
        files = written(Path(folder), form, corpora(seed, scheme, documents=4))
        text = files.predicted.read_text(encoding="utf-8")
        files.predicted.write_text(text.replace("\tB", instead, 1), encoding="utf-8")
        found = outcome(by_files, files, options)
        with handed_in(SMALL):
            by_small_sizes = outcome(by_files, files, options)
        with passages_alone():
            by_passages = outcome(by_files, files, options)
        with documents_alone():
            expected = outcome(by_files, files, options)

    assert (found, by_small_sizes, by_passages) == (expected, expected, expected)


@pytest.mark.parametrize("text", ["", "-DOCSTART-\n", "-DOCSTART-\n\n-DOCSTART-\n\na\tO\n\n-DOCSTART-\n"])
def test_clusters_of_files_without_spans(tmp_path: Path, text: str) -> None:
    files = Files(tmp_path / "gold", tmp_path / "predicted", {"input": "conll", "layers": {"label": 2}})
    for path in (files.gold, files.predicted):
        path.write_text(text, encoding="utf-8")

    def report() -> dict[str, Any]:
        with catch_warnings(action="ignore"):
            return by_files(files, {"unit": "character", "metrics": "exact"}).to_dict()

    found = report()
    with documents_alone():
        assert found == report()


@pytest.mark.parametrize("options", [{"unit": "character"}, {"where": ["label=PER"]}])
def test_clusters_are_counted_without_documents(tmp_path: Path, options: Options) -> None:
    for name, tag in (("gold", "B-PER"), ("predicted", "I-PER")):
        (tmp_path / name).write_text(f"Anna\t{tag}\nist\tO\n\nda\tO\n", encoding="utf-8")

    with patch("clueval.reading.source.Source.documents", side_effect=AssertionError):
        result = score(tmp_path / "gold", tmp_path / "predicted", input="conll", metrics="exact", **options)

    assert result.metrics["exact"]["label"]["micro"]["tp_gold"] == 1
    assert result.tokens == (11 if "unit" in options else 3)


def test_clusters_of_tokens_are_read_in_lockstep(tmp_path: Path) -> None:
    for name, tag in (("gold", "B-PER"), ("predicted", "I-PER")):
        (tmp_path / name).write_text(f"Anna\t{tag}\n\nist\tO\n\nda\tO\n", encoding="utf-8")

    with patch("clueval.reading.source.Source.passages", side_effect=AssertionError):
        result = score(tmp_path / "gold", tmp_path / "predicted", input="conll", where=["label=PER"])

    assert result.metrics["levels"]["label"]["unlabelled"]["1"]["tp_gold"] == 1
