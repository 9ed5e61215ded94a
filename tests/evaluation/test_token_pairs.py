"""Column files counted as tokens and flat layers against their documents, counted plainly."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sizes import handed_in
from strategies import at_most

from clueval import CluevalError, score
from clueval.evaluation import token_pairs
from clueval.formats.columns.sizes import Sizes
from clueval.metrics.masking import Masking

Row = tuple[str, str, str, str]
"""A token, its gold tag, its predicted tag, its class."""

ROWS = st.tuples(
    st.sampled_from(["Anna", "anna", "Öz", ",", "O", "12345", "x-y"]),
    st.sampled_from(["O", "O", "B-A", "I-A", "I-B"]),
    st.sampled_from(["O", "O", "B-A", "I-A", "I-B"]),
    st.sampled_from(["O", "O", "B-high", "I-low"]),
)
AGREED = ROWS.map(lambda row: (row[0], row[1], row[1], row[3]))
SENTENCES = st.one_of(*(st.lists(rows, min_size=1, max_size=6) for rows in (AGREED, AGREED, ROWS)))
TEXTS = st.lists(st.lists(SENTENCES, max_size=4), max_size=5)
SPLIT = [[("Anna", "B-A", "O", "O"), ("O", "O", "O", "O"), ("Anna", "O", "O", "O")]]

NAME = [
    ("Anna", "B-A", "B-A", "O"),
    ("Öz", "I-A", "I-A", "O"),
    ("Anna", "I-A", "I-A", "O"),
    (",", "O", "O", "O"),
]
AGAIN = [(row[0], "O", "O", "O") for row in NAME]
IN_TWO_PARTS = [AGAIN[:1], [*AGAIN[1:], *NAME], AGAIN[:2], AGAIN[2:]]
"""The words of a mention stand before it and after it, both times in two sentences."""


def written(folder: str | Path, texts: list[list[list[Row]]]) -> list[str]:
    """Write both sides as VRT files, and return their paths."""
    paths = []
    for side, name in enumerate(("gold", "predicted"), 1):
        parts = []
        for number, sentences in enumerate(texts):
            parts.append(f'<text id="d{number}">\n')
            for rows in sentences:
                lines = [f"{row[0]}\t{row[side]}\t{row[3]}\n" for row in rows]
                parts += ["<s>\n", *lines, "</s>\n"]
            parts.append("</text>\n")
        paths.append(f"{folder}/{name}.vrt")
        Path(paths[-1]).write_text("".join(parts), encoding="utf-8")
    return paths


def outcome(paths: list[str], **options: Any) -> dict[str, Any] | str:
    try:
        return score(*paths, layers={"name": 2, "risk": 3}, **options).to_dict()
    except CluevalError as error:
        return str(error)


def plainly(paths: list[str], **options: Any) -> dict[str, Any] | str:
    with patch.object(token_pairs, "token_pair_reading", return_value=None):
        return outcome(paths, **options)


@at_most(60)
@given(
    TEXTS,
    st.sampled_from([{}, {"by": "document"}, {"where": ["document=d1"]}]),
    st.sampled_from([{}, {"masks": ("risk",)}, {"keep": ("A",)}, {"ignore": "none"}, {"risk_layer": "name"}]),
    st.sampled_from([(1, 1), (1, 2), (5, 1), (5, 2000), (20000, 2000)]),
)
@example([SPLIT, SPLIT], {}, {}, (20000, 2000))
@example([IN_TWO_PARTS], {}, {}, (1, 1))
def test_documents_counted_together_or_in_parts_have_the_counts_of_each(
    texts: list[list[list[Row]]], options: dict[str, Any], settings: dict[str, Any], sizes: tuple[int, int]
) -> None:
    asked = options | {"metrics": [Masking(**settings)]}
    with TemporaryDirectory() as folder, handed_in(Sizes(rows=sizes[0], sentences=sizes[1])):
        paths = written(folder, texts)

        assert outcome(paths, **asked) == plainly(paths, **asked)


def test_documents_of_column_files_are_not_built(tmp_path: Path) -> None:
    paths = written(tmp_path, [[[("Anna", "B-A", "O", "O")]]])

    with patch.object(token_pairs, "documents") as built:
        score(*paths, layers={"name": 2}, metrics="masking")

    assert not built.called


def test_documents_with_a_mention_of_several_tokens_without_a_letter_are_built(tmp_path: Path) -> None:
    paths = written(tmp_path, [[[(",", "B-A", "O", "O"), (",", "I-A", "O", "O")]], SPLIT])

    with patch.object(token_pairs, "documents", side_effect=token_pairs.documents) as built:
        found = outcome(paths, metrics="masking")

    assert built.called
    assert found == plainly(paths, metrics="masking")


LINE = "Anna\tO\tO\n"


@pytest.mark.parametrize(
    "changed",
    [
        LINE.replace("Anna", "Karl"),
        LINE + LINE,
        LINE + "</s>\n<s>\n" + LINE,
        LINE.replace("\tO", "", 1),
        LINE.replace("O", "X-A", 1),
        "\tO\tO\n",
        "",
        LINE + '</s>\n</text>\n<text id="d9">\n<s>\n' + LINE,
    ],
)
def test_errors_are_those_of_documents(tmp_path: Path, changed: str) -> None:
    paths = written(tmp_path, [[[("Anna", "O", "O", "O")]], SPLIT])
    file = Path(paths[1])
    file.write_text(file.read_text(encoding="utf-8").replace(LINE, changed, 1), encoding="utf-8")

    found = outcome(paths, metrics="masking")

    assert isinstance(found, str)
    assert found == plainly(paths, metrics="masking")


def test_a_token_that_looks_like_the_end_of_a_sentence_is_none(tmp_path: Path) -> None:
    paths = written(tmp_path, [SPLIT])
    file = Path(paths[1])
    text = file.read_text(encoding="utf-8").replace("O\tO\tO\n", "</s>\n<s>\n")
    file.write_text(text.replace("\tO\n", "\tO\tx\n"), encoding="utf-8")

    found = outcome(paths, metrics="masking")

    assert "gold has the token 'O'" in str(found) or "sentence" in str(found)
    assert found == plainly(paths, metrics="masking")


def test_mentions_that_differ_in_case_are_one_entity(tmp_path: Path) -> None:
    row = ("B-A", "O", "O")
    paths = written(tmp_path, [[[("Anna", *row), ("anna", *row)]]])

    found = score(*paths, layers={"name": 2}, metrics="masking")

    assert found.metrics["masking"]["name"]["classes"]["all"]["entities"] == 1


def test_predicted_has_its_own_spans_in_the_one_sentence_that_differs(tmp_path: Path) -> None:
    same, differs = ("Anna", "B-A", "B-A", "O"), ("Karl", "B-A", "O", "O")
    paths = written(tmp_path, [[[same], [differs], [same], [same]]])

    found = score(*paths, layers={"name": 2}, metrics="masking")

    report = found.metrics["masking"]["name"]
    assert (report["precision"]["masks"], report["classes"]["all"]["missed"]) == (3, 1)
    assert found.inputs["predicted"]["layers"]["name"]["spans"] == 3


def test_a_document_counted_in_parts_is_not_built(tmp_path: Path) -> None:
    paths = written(tmp_path, [[NAME, AGAIN, NAME], SPLIT])

    with patch.object(token_pairs, "documents") as built, handed_in(Sizes(rows=1, sentences=1)):
        found = outcome(paths, metrics="masking")

    assert not built.called
    assert found == plainly(paths, metrics="masking")


def test_a_label_in_one_part_of_a_document_is_found(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    paths = written(tmp_path, [[[("Ulm", "B-Z", "B-Z", "O")], [("Anna", "B-A", "B-A", "O")]]])

    with handed_in(Sizes(rows=1, sentences=1)):
        score(*paths, layers={"name": 2}, metrics=[Masking(keep=("Z",))])

    assert [str(warning.message) for warning in recwarn] == []
