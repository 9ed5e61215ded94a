"""The bytes of a file are reported once, also if it is read again because a faster way does not serve."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from corpora import write

from clueval import score

TEXT = "Ada met Bob"
ROW = {"text": TEXT, "label": [[0, 3, "PER"]]}
I2B2 = (
    "<deIdi2b2>\n<TEXT><![CDATA[Ada]]></TEXT>\n<TAGS>\n"
    '<NAME id="P0" start="0" end="3" text="Ada" TYPE="PATIENT"/></TAGS>\n</deIdi2b2>\n'
)
CONTENTS = {
    "rows.jsonl": json.dumps(ROW) + "\n",
    "repeated.jsonl": json.dumps(ROW) + "\n" + json.dumps({**ROW, "label": [[0, 3, "PER"]] * 2}) + "\n",
    "regular.conll": "Ada B-PER\n\n",
    "numbered.iob2": "1\tAda\tB-PER\n2\tmet\tO\n\n",
    "note.xml": I2B2,
}


@pytest.mark.parametrize("name", CONTENTS)
def test_progress_has_the_bytes_of_each_file_once(name: str, tmp_path: Path) -> None:
    gold, predicted = (write(tmp_path / f"{side}.{name}", CONTENTS[name]) for side in ("gold", "predicted"))
    sizes: list[int] = []

    score(gold, predicted, metrics="exact", progress=sizes.append)

    assert sum(sizes) == 2 * len(CONTENTS[name])


def test_progress_has_the_bytes_of_columns_with_token_ids_once(tmp_path: Path) -> None:
    path = write(tmp_path / "a.conll", "1 Ada B-PER\n2 met O\n\n")
    sizes: list[int] = []

    score(path, write(tmp_path / "b.conll", path.read_text()), token_id=1, progress=sizes.append)

    assert sum(sizes) == 2 * path.stat().st_size


@pytest.mark.parametrize("number", [1, 3])
def test_progress_has_the_bytes_of_brat_files_with_gaps_once(number: int, tmp_path: Path) -> None:
    content = "T1\tPER 0 3;8 11\tAda Bob\n"
    for side in ("gold", "predicted"):
        (tmp_path / side).mkdir()
        for document in range(number):
            write(tmp_path / side / f"{document}.ann", content)
            write(tmp_path / side / f"{document}.txt", TEXT)
    sizes: list[int] = []

    score(tmp_path / "gold", tmp_path / "predicted", metrics="exact", progress=sizes.append)

    assert sum(sizes) == 2 * number * len(content)


def test_progress_has_the_packed_bytes_of_packed_files(tmp_path: Path) -> None:
    paths = [tmp_path / f"{side}.conll.gz" for side in ("gold", "predicted")]
    for path in paths:
        path.write_bytes(gzip.compress(b"Ada B-PER\n\n" * 100_000))
    sizes: list[int] = []

    score(*paths, metrics="exact", progress=sizes.append)

    assert sum(sizes) == sum(path.stat().st_size for path in paths)
