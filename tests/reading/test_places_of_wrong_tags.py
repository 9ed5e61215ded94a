"""Wrong tags in column files are named with their line, document and layer, whatever stands between sentences."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpora import write

from clueval import read, score
from clueval.files.errors import TagError


def vrt(*sentences: str) -> str:
    """A document of sentences, written as ``a|O b|B-A``: the lines of its first tokens are 3, 4 and so on.

    Two lines are between sentences.
    """
    texts = ["".join(line.replace("|", "\t") + "\n" for line in each.split()) for each in sentences]
    return '<text id="d">\n' + "".join(f"<s>\n{text}</s>\n" for text in texts) + "</text>\n"


def refused(path: Path, scheme: str = "BIO", invalid: str = "error") -> str:
    """The message, which is the same whether documents are made or not."""
    with pytest.raises(TagError) as read_one:
        list(read(path, scheme=scheme, invalid=invalid))
    with pytest.raises(TagError) as scored:
        score(path, path, scheme=scheme, invalid=invalid)
    assert str(scored.value) == str(read_one.value)
    return str(read_one.value).removeprefix(str(path.parent) + "/")


def test_an_ill_formed_tag_is_named_with_line_document_and_advice(tmp_path: Path) -> None:
    path = write(tmp_path / "g.vrt", vrt("a|O b|B-A", "c|O d|I-A"))

    assert refused(path) == (
        "g.vrt:8, document 'd': ill-formed tags: 'I-A' may not follow 'O' in the scheme BIO "
        "(layer 'label'; invalid=... sets the treatment of ill-formed tags)"
    )


@pytest.mark.parametrize(
    ("sentences", "line"),
    [(["a|B-A"], 3), (["a|O b|B-A", "c|O"], 4), (["a|O", "b|O c|B-A"], 7), (["a|O", "b|B-A", "c|O"], 6)],
)
def test_a_span_that_is_open_at_the_end_is_named_with_the_last_line_of_its_sentence(
    tmp_path: Path, sentences: list[str], line: int
) -> None:
    path = write(tmp_path / "g.vrt", vrt(*sentences))

    assert refused(path, "BIOES").startswith(f"g.vrt:{line}, document 'd': ill-formed tags: ")


def test_text_that_is_not_a_tag_is_named_with_the_advice_of_the_scheme(tmp_path: Path) -> None:
    path = write(tmp_path / "g.vrt", vrt("a|O", "b|O c|X-A"))

    assert refused(path, invalid="conlleval") == (
        "g.vrt:7, document 'd': 'X-A' is not a tag "
        "(a tag is O, or one of B I E S L U M W, alone or with a hyphen and a label; "
        "layers=... names the column of the tags)"
    )


def test_positions_of_spans_do_not_count_the_lines_between_sentences(tmp_path: Path) -> None:
    path = write(tmp_path / "g.vrt", vrt("a|O", "b|O c|B-A", "d|B-B e|I-B", "f|O g|B-C"))

    (document,) = read(path)

    assert [(span.start, span.end) for span in document.layers["label"]] == [(2, 3), (3, 5), (6, 7)]
    assert [*(document.lines or ())] == [3, 6, 7, 10, 11, 14, 15]
