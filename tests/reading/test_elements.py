from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import pytest
from corpora import write

from clueval import check, errors, read, score
from clueval.cli import main
from clueval.files.errors import FormatError

TEXT = '<text id="a">\n<s>\nx\tB-X\n</s>\n</text>\n<text id="b">\n<s>\ny\tO\n</s>\n</text>\n'


@pytest.mark.parametrize("option", ["document_tag", "sentence_tag"])
def test_element_that_a_file_does_not_have_is_refused(option: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.vrt", TEXT)
    options: dict[str, Any] = {option: "txt"}
    message = rf"a\.vrt: there is no element <txt> \(check Reading\.{option}\)"

    for call in (lambda: score(path, path, **options), lambda: list(errors(path, path, **options))):
        with pytest.raises(FormatError, match=message):
            call()
    (problem,) = check(path, **options)
    assert re.search(message, str(problem))


def test_element_that_a_file_does_not_have_is_named_as_an_option_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(write(tmp_path / "a.vrt", TEXT))

    assert main(["score", path, path, "--sentence-tag", "seg"]) == 2
    assert capsys.readouterr().err.endswith("a.vrt: there is no element <seg> (check --sentence-tag)\n")


def test_element_may_be_anywhere_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.vrt.gz"
    path.write_bytes(gzip.compress(("w\tO\n" * 300_000 + TEXT.replace("text", "doc")).encode()))

    assert len(list(read(path, document_tag="doc"))) == 3


@pytest.mark.parametrize("text", ["", "<corpus>\n</corpus>\n"])
def test_file_without_tokens_needs_no_element(text: str, tmp_path: Path) -> None:
    assert list(read(write(tmp_path / "a.vrt", text), document_tag="doc", sentence_tag="seg")) == []
