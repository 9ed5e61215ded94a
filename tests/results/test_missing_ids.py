"""Documents whose file gives no ids are compared in their order, whatever the ids of the other side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from corpora import write

from clueval import score
from clueval.files.errors import TextMismatch

TEXTS = [("Ada sat", [[0, 3, "PER"]], ["B-PER", "O"]), ("Bo", [], ["O"])]


def rows(*of: dict[str, object]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in of)


GOLD = rows(*({"id": 57 + n, "text": text, "label": spans} for n, (text, spans, _) in enumerate(TEXTS)))
TOKENS = [{"tokens": text.split(), "ner_tags": tags} for text, _, tags in TEXTS]
WITHOUT_IDS = {
    "a.jsonl": rows(*({"text": text, "label": spans} for text, spans, _ in TEXTS)),
    "b.jsonl": rows(*({"text": text, "entities": [*map(tuple, spans)]} for text, spans, _ in TEXTS)),
    "c.jsonl": rows(*TOKENS),
    "d.conll": "-DOCSTART- O\n\nAda B-PER\nsat O\n\n-DOCSTART- O\n\nBo O\n",
    "e.conllu": "1\tAda\t_\t_\t_\t_\t0\t_\t_\tNER=B-PER\n2\tsat\t_\t_\t_\t_\t1\t_\t_\t_\n\n# newdoc\n1\tBo\t"
    + "_\t" * 7
    + "_\n",
}


@pytest.mark.parametrize("name", WITHOUT_IDS)
@pytest.mark.parametrize(
    "gold", [GOLD, rows(*(row | {"id": "x"} for row in TOKENS))], ids=["doccano", "token rows"]
)
def test_documents_without_ids_meet_those_with_ids(name: str, gold: str, tmp_path: Path) -> None:
    paths = write(tmp_path / "gold.jsonl", gold), write(tmp_path / name, WITHOUT_IDS[name])

    for own, other in (paths, paths[::-1]):
        result = score(own, other, metrics="exact")

        assert (result.documents, result.f1) == (2, 1.0)


def test_results_by_document_have_the_ids_of_gold(tmp_path: Path) -> None:
    paths = write(tmp_path / "gold.jsonl", GOLD), write(tmp_path / "p.jsonl", WITHOUT_IDS["a.jsonl"])

    assert list(score(*paths, by="document").to_dict()["by"]["document"]) == ["57", "58"]


def test_files_of_folders_may_have_documents_without_ids(tmp_path: Path) -> None:
    for side, content in (("gold", GOLD), ("predicted", WITHOUT_IDS["a.jsonl"])):
        (tmp_path / side).mkdir()
        write(tmp_path / side / "x.jsonl", content)

    assert list(
        score(tmp_path / "gold", tmp_path / "predicted", by="document").to_dict()["by"]["document"]
    ) == [
        "x:57",
        "x:58",
    ]


def test_rows_in_memory_without_ids_meet_those_with_ids() -> None:
    gold = [{"id": 57 + n, "text": text, "label": spans} for n, (text, spans, _) in enumerate(TEXTS)]
    others: list[dict[str, object]] = [{"text": text, "spans": spans} for text, spans, _ in TEXTS]
    tokens = [{**row, "id": "x"} for row in TOKENS]

    assert score(gold, others, metrics="exact").f1 == score(others, gold, metrics="exact").f1 == 1.0
    assert score(tokens, TOKENS, metrics="exact").f1 == 1.0


def test_ids_that_both_sides_give_must_be_equal(tmp_path: Path) -> None:
    paths = write(tmp_path / "a.jsonl", GOLD), write(tmp_path / "b.jsonl", GOLD.replace("57", "59"))

    with pytest.raises(TextMismatch, match=r"gold has document '57' where .* has document '59'"):
        score(*paths)
