"""Each sample of a token or text format is recognised by its content, whatever its name is, and read."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpora import write

from clueval import read
from clueval.files.errors import FormatError
from clueval.formats.form import form_of
from clueval.formats.input_file import Head

FORMATS = Path(__file__).parents[2] / "clueval" / "samples" / "formats"

SAMPLES = {
    "hipe/gold.tsv": "conll",
    "germeval/gold.tsv": "conll",
    "wnut/gold.conll": "conll",
    "conllu/gold.conllu": "conllu",
    "conllup/gold.conllup": "conllu",
    "conll2012/gold.gold_conll": "conll2012",
    "i2b2/110-01.xml": "i2b2",
    "webanno/gold.tsv": "webanno",
    "xmi/gold.xmi": "xmi",
}


@pytest.mark.parametrize(("sample", "name"), SAMPLES.items())
def test_sample_with_another_name_is_recognised_as_its_format(sample: str, name: str) -> None:
    text = (FORMATS / sample).read_text(encoding="utf-8")

    assert form_of(Head("a.txt", text, lambda: None)).name == name


@pytest.mark.parametrize("sample", SAMPLES)
def test_sample_is_read_with_spans_inside_its_text(sample: str) -> None:
    documents = list(read(FORMATS / sample))

    assert sum(len(spans) for each in documents for spans in each.layers.values()) > 1
    assert all(list(each.layers) == ["label"] for each in documents)


def test_inline_tags_are_read_by_name_only() -> None:
    path = FORMATS / "inline" / "answer.txt"

    (document,) = read(path, input="inline")

    assert document.id == "answer"
    assert form_of(Head(path.name, path.read_text(encoding="utf-8"), lambda: None)).name != "inline"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("#id=1\n#text=Ada\n1\tAda\tB-PER\n", "version 1 or 2"),
        ("#FORMAT=WebAnno TSV 2\n#id=1\n", "version 1 or 2"),
    ],
)
def test_old_versions_of_webanno_are_refused_by_name(tmp_path: Path, content: str, says: str) -> None:
    with pytest.raises(FormatError, match=says):
        list(read(write(tmp_path / "a.tsv", content)))
