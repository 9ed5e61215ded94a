"""One layer merged is that layer: its labels are scored under its own name, whichever way the spans come."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpora import write

from clueval import Document, Span, errors, read, score
from clueval.core.matching import with_merged

GOLD = "Anna\tB-PER\nUlm\tB-LOC\nkam\tO\n"
PREDICTED = "Anna\tB-PER\nUlm\tB-ORG\nkam\tO\n"


@pytest.fixture
def paths(tmp_path: Path) -> tuple[Path, Path]:
    return write(tmp_path / "g.conll", GOLD), write(tmp_path / "p.conll", PREDICTED)


@pytest.mark.parametrize("layers", [None, {"entity": 2}])
def test_one_layer_merged_is_scored_by_its_labels_in_files_and_documents(
    paths: tuple[Path, Path], layers: dict[str, int] | None
) -> None:
    name = "label" if layers is None else "entity"
    results = [
        score(*paths, layers=layers, merge=True),
        score(*paths, layers=layers, merge=True, unit="character"),
        score(*(list(read(path, layers)) for path in paths), merge=True),
    ]
    for result in results:
        micro = result.metrics["levels"]["merged"]["labelled"][name]["1"]["micro"]
        assert (micro["gold"], micro["predicted"], micro["tp_gold"]) == (2, 2, 1)


def test_one_layer_merged_is_scored_by_its_labels_on_aligned_texts(paths: tuple[Path, Path]) -> None:
    pytest.importorskip("rapidfuzz")

    result = score(*paths, merge=True, align=True)

    micro = result.metrics["levels"]["merged"]["labelled"]["label"]["1"]["micro"]
    assert (micro["gold"], micro["predicted"], micro["tp_gold"]) == (2, 2, 1)


def test_one_layer_merged_has_its_label_errors_listed(paths: tuple[Path, Path]) -> None:
    (place,) = errors(*paths, merge=True, labelled="label")

    assert [(each.side, each.text) for each in place.findings] == [("gold", "Ulm"), ("predicted", "Ulm")]


def test_layer_of_a_document_that_is_called_merged_is_a_layer_like_any_other() -> None:
    document = Document("d", {"merged": [Span(0, 2, "PER")]}, tokens=["a", "b"])

    for merge in (False, True):
        result = score([document], [document], merge=merge)
        micro = result.metrics["levels"]["merged"]["labelled"]["merged"]["1"]["micro"]
        assert (micro["gold"], micro["tp_gold"]) == (1, 1)


def test_merged_document_keeps_the_labels_of_its_one_layer() -> None:
    document = Document("d", {"risk": [Span(0, 2, "high")]}, tokens=["a", "b"])

    assert with_merged(document).layers["merged"][0].labels == {"risk": "high"}
