"""BIO columns, inline tags and DocBin: what is written is read as what it was, and what does not fit is refused."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from corpora import write
from hypothesis import given
from hypothesis import strategies as st

from clueval import Document, Sentence, Span, read
from clueval.cli import main
from clueval.files.errors import UsageError
from clueval.formats.catalogue import conll_lines
from clueval.formats.inline import read_inline, write_inline

SAMPLES = Path(__file__).parents[2] / "clueval" / "samples" / "formats"
LINK = re.compile(r"\]\((?! )[A& ]*A[A& ]*\)")
"""A text with this might be read as a span."""

WORD = st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=4)


@st.composite
def runs(draw: st.DrawFn, size: int) -> list[Span]:
    """Spans that neither overlap nor are empty."""
    cuts = sorted(draw(st.sets(st.integers(0, size), max_size=6)))
    return [Span(*pair, draw(WORD)) for pair in zip(cuts[::2], cuts[1::2], strict=False)]


@st.composite
def columns(draw: st.DrawFn, start: int = 0) -> Document:
    """A document of tokens in sentences, with two layers and metadata."""
    sizes = draw(st.lists(st.integers(1, 3), max_size=3))
    tokens = draw(st.lists(WORD, min_size=sum(sizes), max_size=sum(sizes)))
    sentences, layers, place = [], {"one": list[Span](), "two": list[Span]()}, start
    for size in sizes:
        name = draw(st.none() | WORD)
        sentences.append(Sentence(place, place + size, name))
        for spans in layers.values():
            spans += [Span(span.start + place, span.end + place, span.label) for span in draw(runs(size))]
        place += size
    metadata = draw(st.dictionaries(st.text("abc", min_size=1), WORD, max_size=2))
    return Document(draw(WORD), layers, tokens=tokens, start=start, sentences=sentences, metadata=metadata)


@given(data=st.data())
def test_columns_are_read_as_they_were(data: st.DataObject) -> None:
    first = data.draw(columns())
    documents = [first, data.draw(columns(len(first.tokens or ())))]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.conll"
        content = "".join(f"{line}\n" for line in conll_lines(documents))
        path.write_bytes(content.encode())
        found = list(read(path, {"one": 2, "two": 3}, input="conll"))

    assert [(each.id, each.tokens, each.layers, each.metadata, each.sentences) for each in found] == [
        (each.id, each.tokens, each.layers, each.metadata, each.sentences) for each in documents
    ]


@pytest.mark.parametrize(
    ("document", "says"),
    [
        (Document("", {}, tokens=["a"]), "id that is empty"),
        (Document("d", {}, tokens=["a\tb"]), "the token"),
        (Document("d", {}, tokens=["-DOCSTART-"]), "the token"),
        (Document("d", {"x": [Span(0, 1, "A\nB")]}, tokens=["a"]), r"\[0,1\)"),
        (Document("d", {}, tokens=["a"], metadata={"a b": "c"}), "the name 'a b'"),
        (Document("d", {}, tokens=["a"], metadata={"a": " c"}), "metadata"),
    ],
)
def test_columns_refuse_what_they_cannot_hold(document: Document, says: str) -> None:
    with pytest.raises(UsageError, match=f"columns with BIO tags cannot hold .*{says}"):
        list(conll_lines([document]))


@st.composite
def nested(draw: st.DrawFn) -> Document:
    """A text with marks of every kind in it, and nested spans."""
    text = draw(st.text(st.sampled_from("ab <>&[]()/A\n"), max_size=12))
    spans: list[Span] = []

    def fill(start: int, end: int, depth: int) -> None:
        cuts = sorted(draw(st.sets(st.integers(start, end), max_size=4)))
        for first, last in zip(cuts[::2], cuts[1::2], strict=False):
            spans.append(Span(first, last, draw(st.sampled_from(["A", "PER", "B-1", "X Y"]))))
            if depth:
                fill(first, last, depth - 1)

    fill(0, len(text), 2)
    return Document("a", {"label": spans}, text=text, unit="character")


@given(document=nested())
def test_inline_tags_are_read_as_they_were_or_refused(document: Document) -> None:
    if LINK.search(document.text or ""):
        with pytest.raises(UsageError, match="link"):
            write_inline(document)
        return
    content = write_inline(document)

    found = read_inline(content, id="a", file="a")

    assert found.text == document.text
    assert sorted(map(repr, found.layers["label"])) == sorted(map(repr, document.layers["label"]))


@pytest.mark.parametrize(
    ("spans", "says"),
    [
        ([Span(0, 2, "per")], "inline tags cannot hold"),
        ([Span(0, 2, "A<B")], "inline tags cannot hold"),
        ([Span(0, 2, "A"), Span(1, 3, "B")], "cross"),
    ],
)
def test_inline_tags_refuse_what_they_cannot_hold(spans: list[Span], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        write_inline(Document("d", {"label": spans}, text="abc", unit="character"))


def test_inline_tags_refuse_a_mark_at_the_beginning_that_reading_skips() -> None:
    with pytest.raises(UsageError, match="begins with a byte-order mark"):
        write_inline(Document("d", {"label": []}, text="\ufeffabc", unit="character"))


def test_command_writes_columns_tags_and_docbin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = str(write(tmp_path / "a.conll", "# newdoc id = d1\nAda B-PER\nLovelace I-PER\nslept O\n"))

    assert main(["convert", source, "--to", "conll"]) == 0
    assert capsys.readouterr().out == "# newdoc id = d1\nAda\tB-PER\nLovelace\tI-PER\nslept\tO\n\n"
    assert main(["convert", source, "--to", "inline", "-o", f"{tmp_path}/out/"]) == 0
    assert (tmp_path / "out" / "d1.txt").read_text() == "<PER>Ada Lovelace</PER> slept"
    assert main(["convert", source, "--to", "docbin", "--lossy", "-o", f"{tmp_path}/a.spacy"]) == 0
    (found,) = read(tmp_path / "a.spacy")
    assert [found.text_of(span) for span in found.layers["label"]] == ["Ada Lovelace"]
    assert main(["convert", source, "--to", "docbin", "--lossy"]) == 2
    assert "name a file with -o" in capsys.readouterr().err


def test_command_says_that_it_splits_a_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "a.txt", "<PER>Ada</PER> slept.")

    assert main(["convert", str(path), "--input", "inline", "--to", "conll"]) == 0

    output, error = capsys.readouterr()
    assert output == "# newdoc id = a\nAda\tB-PER\nslept\tO\n.\tO\n\n"
    assert "split into words and single marks" in error


def test_conll_u_keeps_its_text_where_it_becomes_characters(tmp_path: Path) -> None:
    path = str(SAMPLES / "conllu" / "gold.conllu")

    assert (
        main(["convert", path, "--layer", "label=NER", "--to", "inline", "--lossy", "-o", f"{tmp_path}/out/"])
        == 0
    )
    assert (tmp_path / "out" / "d1.txt").read_text() == "<PER>Ada</PER> vive à le <LOC>Caire</LOC>. # et elle"
