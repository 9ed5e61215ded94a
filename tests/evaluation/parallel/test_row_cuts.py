"""JSON Lines counted in parts have the outcome of the whole files, and the parts have the same lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from corpora import write
from hypothesis import given
from hypothesis import strategies as st

from clueval import masking, score
from clueval.evaluation.parallel import cuts, schedule
from clueval.evaluation.parallel.cuts import cut_lines
from clueval.evaluation.parallel.tasks import carry_out
from clueval.exceptions import CluevalError


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1),
    st.integers(1, 8),
    st.sampled_from([1, 7, 1 << 18]),
)
def test_parts_have_the_same_lines(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[tuple[int, int]], number: int, block: int
) -> None:
    folder = tmp_path_factory.mktemp("lines")
    sides = ["".join(f"{n}{'x' * of[side]}\n" for n, of in enumerate(lengths)).encode() for side in range(2)]
    paths = [folder / name for name in ("gold", "predicted")]
    for path, data in zip(paths, sides, strict=True):
        path.write_bytes(data)

    with patch.object(cuts, "BLOCK", block):
        parts = cut_lines(paths[0], paths[1], number)

    cut = [[data[slice(*part[side])] for part in parts] for side, data in enumerate(sides)]
    assert [b"".join(pieces) for pieces in cut] == sides
    assert len(parts) <= number
    for own, other in zip(*cut, strict=True):
        assert own.count(b"\n") == other.count(b"\n") > 0


def rows(number: int, change: int = 0) -> list[dict[str, Any]]:
    return [
        {"text": f"Ada met Bob {n}", "label": [[0, 3, "PER"], [8, 11 - (n % 7 == change), "LOC"]]}
        for n in range(number)
    ]


def lines(values: Sequence[Any]) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def with_row(number: int, row: dict[str, Any]) -> str:
    return lines([*rows(60, 1)[:number], row, *rows(60, 1)[number + 1 :]])


CASES = {
    "usual rows": lines(rows(60, 1)),
    "rows with ids": lines([{"id": f"d{n}", **row} for n, row in enumerate(rows(60, 1))]),
    "blank lines": lines(rows(60, 1)).replace("\n", "\n\n"),
    "values of several lines": "\n".join(json.dumps(row, indent=1) for row in rows(60, 1)),
    "an array": json.dumps(rows(60, 1)),
    "an array of lines": json.dumps(rows(60, 1)).replace("}, {", "},\n{"),
    "one row less": lines(rows(59, 1)),
    "another text": with_row(40, {"text": "Ada met Bob", "label": []}),
    "a wrong span": with_row(45, {"text": "Ada met Bob 45", "label": [[0, 99, "PER"]]}),
    "no JSON": with_row(50, {"text": "Ada met Bob 50", "label": []}).replace('Bob 50"', "Bob 50"),
    "a byte-order mark": lines(rows(60, 1)).replace(
        '{"text": "Ada met Bob 3', '\ufeff{"text": "Ada met Bob 3'
    ),
    "overlap": with_row(30, {"text": "Ada met Bob 30", "label": [[0, 3, "PER"], [1, 3, "PER"]]}),
    "an annotator": lines([{**row, "username": "ada"} for row in rows(60, 1)]),
    "two annotators": lines([{**row, "username": "ab"[n // 31]} for n, row in enumerate(rows(60, 1))]),
}


def outcome(run: Callable[[], Any]) -> Any:
    try:
        result = run()
    except CluevalError as error:
        return type(error), str(error)
    return result.to_dict(), result.inputs, result.passed_over


@pytest.mark.parametrize("case", CASES)
def test_parts_have_the_outcome_of_the_whole(
    tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule, "SMALLEST", 100)
    other = write(tmp_path / "predicted.jsonl", CASES[case])
    as_gold = case in ("rows with ids", "an annotator", "two annotators")
    gold = write(tmp_path / "gold.jsonl", CASES[case] if as_gold else lines(rows(60)))

    every_set = {"gold_set": "*", "predicted_set": "*"}
    for options in ({}, {"metrics": ["exact", "gate"]}, {"by": "document", "metrics": "exact"}, every_set):
        expected = outcome(lambda of=options: score(gold, other, input="doccano", jobs=1, **of))
        with ThreadPoolExecutor(1) as executor:
            found = outcome(
                lambda of=options: score(gold, other, input="doccano", jobs=3, executor=executor, **of)
            )
        assert found == expected, options


def test_lines_are_counted_in_several_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "SMALLEST", 100)
    paths = [write(tmp_path / f"{n}.jsonl", lines(rows(60, n))) for n in range(2)]
    remarks: list[str] = []

    with (
        ThreadPoolExecutor(1) as executor,
        patch("clueval.evaluation.parallel.tasks.carry_out", wraps=carry_out) as carried_out,
    ):
        result = score(*paths, jobs=3, executor=executor, remark=remarks.append)

    assert result.documents == 60
    assert carried_out.call_count > 3
    assert not any("counted again" in remark for remark in remarks)


@pytest.mark.parametrize(
    ("run", "text", "spans"),
    [
        (partial(score, align=True), " more words", [[15, 20, "X"]]),
        (partial(score, unit="token"), "", [[5, 6, "X"]]),
        (masking, "", []),
    ],
    ids=["aligned", "in tokens", "masking"],
)
def test_rows_without_ids_keep_their_numbers(
    tmp_path: Path,
    run: Callable[..., Any],
    text: str,
    spans: list[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The result names documents: those of spans without a place in the gold text or its words, or of leaks."""
    monkeypatch.setattr(schedule, "SMALLEST", 100)
    found = [{"text": row["text"] + text, "label": [*row["label"][1:], *spans]} for row in rows(60)]
    paths = [write(tmp_path / "0.jsonl", lines(rows(60))), write(tmp_path / "1.jsonl", lines(found))]

    with ThreadPoolExecutor(1) as executor:
        together = run(*paths, jobs=3, executor=executor)

    alone = run(*paths)
    assert together.to_json() == alone.to_json()
    assert str(together) == str(alone)
