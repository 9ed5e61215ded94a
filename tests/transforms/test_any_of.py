"""Several golds of whole documents: the nearest one counts, as brute force over all golds says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from corpora import write
from hypothesis import given
from hypothesis import strategies as st

from clueval import Accumulator, Result, Span, score
from clueval.cli import main
from clueval.files.errors import TextMismatch, UsageError

Triple = tuple[int, int, str]

GOLDS = [
    [[(0, 2, "A")], [(0, 1, "A")], []],
    [[(0, 3, "A")], [(0, 1, "A")], []],
    [[], [(0, 2, "B")], [(1, 2, "A")]],
]
PREDICTED = [[(0, 3, "A")], [(0, 2, "B")], []]


def errors(result: Result) -> float:
    found = result.metrics["exact"].get("label", {"micro": {"fn": 0, "fp": 0}})["micro"]
    return float(found["fn"] + found["fp"])


def test_any_of_counts_the_nearest_gold_of_each_document() -> None:
    result = score(GOLDS[0], PREDICTED, metrics="exact,muc", any_of=GOLDS[1:])

    assert result.get("exact.label.micro.f1") == result.get("muc.label.strict.f1") == 1.0
    assert result.to_dict()["prepared"] == {"any_of": {"gold": 1, "any_of[0]": 1, "any_of[1]": 1}}
    assert "|gold:best-of-3|" in str(result.signature)


def test_any_of_takes_the_first_of_equally_near_golds() -> None:
    result = score([[(0, 1, "A")]], [[(5, 6, "A")]], metrics="exact", any_of=[[[(1, 2, "A")]]])

    assert result.to_dict()["prepared"]["any_of"] == {"gold": 1, "any_of[0]": 0}


def rows(documents: list[list[Triple]]) -> str:
    texts = []
    for number, spans in enumerate(documents):
        tags = ["O"] * 4
        for start, end, label in spans:
            tags[start:end] = [f"B-{label}", *[f"I-{label}"] * (end - start - 1)]
        lines = "".join(f"t{n}\t{tag}\n" for n, tag in enumerate(tags))
        texts.append(f'<text id="{number}">\n{lines}</text>\n')
    return "".join(texts)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    sides = {"gold": GOLDS[0], "second": GOLDS[1], "third": GOLDS[2], "predicted": PREDICTED}
    return [write(tmp_path / f"{name}.vrt", rows(side)) for name, side in sides.items()]


@pytest.mark.parametrize("pairing", [[], ["--pair-by", "id"]])
def test_any_of_reads_files(
    files: list[Path], pairing: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    gold, second, third, predicted = map(str, files)
    arguments = [gold, predicted, "--any-of", second, third, "--metric", "exact", "--format", "json"]

    assert main(["score", *arguments, *pairing]) == 0
    found = json.loads(capsys.readouterr().out)

    assert found["metrics"]["exact"]["label"]["micro"]["f1"] == 1.0
    assert found["prepared"] == {"any_of": {gold: 1, second: 1, third: 1}}
    assert "best-of-3" in found["signature"]


def test_any_of_takes_tags_folders_and_one_path(files: list[Path], tmp_path: Path) -> None:
    gold, second, _, predicted = files
    for name, file in (("g", gold), ("s", second), ("p", predicted)):
        (tmp_path / name).mkdir()
        write(tmp_path / name / "a.vrt", file.read_text(encoding="utf-8"))

    by_files = score(gold, predicted, metrics="exact", any_of=second)
    by_folders = score(*(tmp_path / name for name in "gp"), metrics="exact", any_of=str(tmp_path / "s"))
    tags = score([["B-A", "O"]], [["B-A", "I-A"]], metrics="exact", any_of=[[["B-A", "I-A"]]])

    assert by_files.metrics == by_folders.metrics
    assert errors(by_files) == 2
    assert tags.f1 == 1.0


def test_any_of_counts_changes_of_the_golds_that_count_alone() -> None:
    options: dict[str, Any] = {
        "metrics": "exact",
        "label_map": {"X": "A", "A": "A"},
        "any_of": [[[(0, 3, "X")]]],
    }
    result = score([[(0, 2, "X")]], [[(0, 3, "A")]], **options)

    assert result.f1 == 1.0
    assert result.to_dict()["prepared"]["labels"] == {"gold/renamed": 1}
    with pytest.raises(UsageError, match=r"no entry for 'Y'"):
        score([[(0, 2, "X")]], [[(0, 2, "A")]], **{**options, "any_of": [[[(0, 3, "Y")]]]})


def test_any_of_and_alternatives_are_both_in_the_signature() -> None:
    gold = [[Span(0, 2, "A", {"group": 1}), Span(0, 3, "A", {"group": 1})]]

    result = score(gold, [[(0, 3, "A")]], metrics="exact", any_of=[[[(5, 6, "A")]]])

    assert result.f1 == 1.0
    assert "|gold:best-of-2+alternatives|" in str(result.signature)


def test_any_of_that_cannot_be_read_is_an_error(files: list[Path], tmp_path: Path) -> None:
    gold, second, _, predicted = files
    other = write(tmp_path / "other.vrt", rows(GOLDS[0]).replace("t3", "x"))
    short = write(tmp_path / "short.vrt", rows(GOLDS[0][:1]))

    with pytest.raises(TextMismatch, match=r"gold has the token 't3' where .*other\.vrt:5 has 'x'"):
        score(gold, predicted, any_of=other)
    with pytest.raises(TextMismatch, match="the file ends"):
        score(gold, predicted, any_of=short)
    with pytest.raises(UsageError, match="two golds are called"):
        score(gold, predicted, any_of=[second, second])
    with pytest.raises(UsageError, match="is paths"):
        score(GOLDS[0], PREDICTED, any_of=second)
    with pytest.raises(UsageError, match="2 documents"):
        score(GOLDS[0], PREDICTED, any_of=[GOLDS[0][:2]])
    texts = [f'<text id="{name}">\n{name}\tO\n</text>\n' for name in "xy"]
    sides = "".join(texts), texts[0], "".join(texts).replace('id="y"', 'id="z"')
    of_gold, of_predicted, renamed = (write(tmp_path / f"{n}.vrt", text) for n, text in enumerate(sides))
    with pytest.raises(UsageError, match=r"only gold has 'y in .*only any_of\[0\] has 'z in"):
        score(of_gold, of_predicted, any_of=renamed, pair_by="content")


def test_accumulator_counts_groups_of_alternatives_once() -> None:
    scores = Accumulator("exact")
    for end in (2, 3):
        scores.update([[Span(0, 2, "A", {"group": 1}), Span(0, 3, "A", {"group": 1})]], [[(0, end, "A")]])
    other = Accumulator("exact")
    other.merge(scores)

    for result in (scores.compute(), other.compute()):
        assert result.f1 == 1.0
        assert result.to_dict()["prepared"] == {"groups": 2, "by_alternative": 1}


PLACES = st.tuples(st.integers(0, 2), st.integers(1, 2), st.sampled_from("AB"))
DOCUMENT = st.lists(PLACES.map(lambda each: (each[0], each[0] + each[1], each[2])), max_size=3, unique=True)


@given(st.lists(st.tuples(DOCUMENT, st.lists(DOCUMENT, min_size=3, max_size=3)), min_size=1, max_size=3))
def test_any_of_has_the_fewest_errors_of_all_choices(texts: list[tuple[list[Triple], Any]]) -> None:
    predicted = [own for own, _ in texts]
    golds = [[of[number] for _, of in texts] for number in range(3)]

    found = score(golds[0], predicted, metrics="exact", any_of=golds[1:])

    assert errors(found) == sum(min(len({*gold} ^ {*own}) for gold in of) for own, of in texts)
    alone = score(golds[0], predicted, metrics="exact")
    assert score(golds[0], predicted, metrics="exact", any_of=[golds[0]]).metrics == alone.metrics


@pytest.mark.parametrize(
    ("other", "problem"),
    [
        ([[(0, 1, "A")], []], r"gold has 1 document and any_of\[0\] has 2 documents"),
        ([["B-A"]], r"gold is spans and predicted is spans and any_of\[0\] is tags"),
        (5, r"any_of\[0\] must not be an int"),
    ],
)
def test_any_of_is_named_in_errors(other: object, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        score([[(0, 1, "A")]], [[(0, 1, "A")]], any_of=[other])
