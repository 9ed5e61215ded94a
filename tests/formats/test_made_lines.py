"""Formats whose readers make lines: their tags and brackets."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import patch

import pytest
from corpora import write

from clueval import agree, read, score
from clueval.cli import main
from clueval.files.errors import UsageError


def conllu(*entities: str) -> str:
    """A sentence of words with these values of ``Entity``; an empty one is a blank line."""
    rows = [
        f"1\tw\t_\tX\t_\t_\t0\troot\t_\t{f'Entity={value}' if value != '_' else '_'}\n" if value else "\n"
        for value in entities
    ]
    return "".join(rows)


def conll2012(*entities: str) -> str:
    rows = [f"d 3 0 w NN * - - - - {value} -\n" if value else "\n" for value in entities]
    return "#begin document (d); part 003\n" + "".join(rows)


FLAT = [
    ("a.conllu", conllu("(1-A", "_", "1)", "(2-B)", "", "(3-A", "3)")),
    ("a.gold_conll", conll2012("(A*", "*", "*)", "(B)", "", "(A*", "*)")),
    ("a.conllu", conllu("_").replace("\t_\n", "\tNER=B-X\n")),
]


def test_documents_before_an_error_are_read(tmp_path: Path) -> None:
    content = "".join(f"# newdoc id = d{number}\n{conllu('_', '')}" for number in range(3))
    documents = read(write(tmp_path / "a.conllu", content + "1\tw\n"))

    assert next(documents).id == "d0"


def test_file_whose_beginning_says_what_its_columns_are_is_not_cut(tmp_path: Path) -> None:
    row = "1\tw" + "\t_" * 7 + "\tB-X\n\n"
    rows = "".join(f"# newdoc id = d{number}\n{row}" for number in range(300))
    path = write(tmp_path / "a.conllup", f"# global.columns = ID FORM A B C D E F G NER\n{rows}")

    with patch("clueval.results.workers.SMALL", 100), ThreadPoolExecutor(1) as pool:
        result = score(path, path, metrics="muc", executor=pool, jobs=3)

    assert result.documents == 300
    assert result.metrics == score(path, path, metrics="muc").metrics


@pytest.mark.parametrize(("name", "content"), FLAT)
def test_columns_that_readers_make_are_not_those_of_the_user(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: str
) -> None:
    path = write(tmp_path / name, content.replace("NER=B-X", "NER=X"))
    main(["check", str(path), *(["--layer", "x=NER"] if "NER" in content else [])])
    assert "looks like tags" not in capsys.readouterr().out
    if "NER" not in content:
        with pytest.raises(UsageError, match="has no tags"):
            agree({"a": path, "b": path}, unannotated="O")
