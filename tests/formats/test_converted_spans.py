"""Tables of spans that `convert` and `merge` write: nothing that the file has is missing in them."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpora import write

from clueval.cli import main

VRT = """<text id="empty"></text>
<text id="one">
Anna	B-PER	t1
Weiß	I-PER	t2
kam	O	t3
</text>
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(write(tmp_path / "a.vrt", VRT.replace("></text>\n", ">\n</text>\n", 1)))


def table(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[list[str]]:
    assert main([*arguments]) == 0
    return [line.split("\t") for line in capsys.readouterr().out.splitlines()]


EXPECTED = [
    ["document", "start", "end_inclusive", "entity", "start_id", "end_id"],
    ["one", "0", "1", "PER", "t1", "t2"],
]


def test_converted_table_has_the_token_ids_that_were_read(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    reading = ["--layer", "entity=2", "--token-id", "3"]

    assert table(capsys, "convert", path, "--to", "spans", *reading) == EXPECTED
    assert table(capsys, "merge", path, *reading) == EXPECTED


def test_converted_table_without_token_ids_has_no_columns_for_them(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    reading = ["--layer", "entity=2"]

    expected = [row[:4] for row in EXPECTED]
    assert table(capsys, "convert", path, "--to", "spans", *reading) == expected
    assert table(capsys, "merge", path, *reading) == expected


def test_converted_table_has_its_layer_if_the_first_document_is_empty_and_no_layer_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(
        write(tmp_path / "b.vrt", '<text id="empty">\n</text>\n<text id="one">\nAnna\tB-PER\n</text>\n')
    )

    expected = [["document", "start", "end_inclusive", "label"], ["one", "0", "0", "PER"]]
    assert table(capsys, "convert", path, "--to", "spans") == expected
    assert table(capsys, "merge", path) == expected
