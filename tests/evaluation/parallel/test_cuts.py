"""Where a pair of files can be cut: at lines that open a document and stand on both sides."""

from __future__ import annotations

import random
import re
from itertools import pairwise
from pathlib import Path

import pytest
from corpora import write

from clueval.evaluation.parallel import cuts
from clueval.evaluation.parallel.cuts import Heads, PartPair, cut
from clueval.formats.columns.layout import ColumnOptions


def document(number: int, tag: str, length: int = 4) -> str:
    rows = "".join(f"w{number}.{i}\t{tag}\n" for i in range(length))
    return f'<text id="d{number}">\n<s>\n{rows}</s>\n</text>\n'


def conll_document(number: int, tag: str, head: str = "-DOCSTART-", separator: str = " ") -> str:
    rows = "".join(f"w{number}.{i}{separator}{tag}\n" for i in range(4))
    return f"{head}\n\n{rows}\n"


def both(folder: Path, gold: str, predicted: str) -> tuple[Path, Path]:
    return write(folder / "gold", gold), write(folder / "predicted", predicted)


def cut_in(
    number: int, files: tuple[Path, Path], form: str = "vrt", options: ColumnOptions | None = None
) -> list[PartPair]:
    heads = Heads(form, options or ColumnOptions())
    return cut(*files, (heads, heads), number)


def texts(files: tuple[Path, Path], found: list[PartPair]) -> list[tuple[str, str]]:
    own, other = (file.read_bytes() for file in files)
    return [(own[slice(*part)].decode(), other[slice(*twin)].decode()) for part, twin in found]


def test_parts_begin_with_the_same_document_on_both_sides_and_make_up_the_files(tmp_path: Path) -> None:
    files = both(
        tmp_path,
        "".join(document(n, "O") for n in range(40)),
        "".join(document(n, "B-PER" if n % 3 else "O") for n in range(40)),
    )

    found = texts(files, cut_in(5, files))

    assert len(found) == 5
    assert all(own.split("\n")[0] == other.split("\n")[0] != "" for own, other in found)
    assert ["".join(side) for side in zip(*found, strict=True)] == [file.read_text() for file in files]


def test_parts_become_shorter_and_none_is_much_too_long(tmp_path: Path) -> None:
    text = "".join(document(n, "O") for n in range(200))
    files = both(tmp_path, text, text)

    sizes = [stop - start for (start, stop), _ in cut_in(7, files)]

    assert len(sizes) == 7
    assert all(one > following for one, following in pairwise(sizes))
    assert max(sizes) < 2 * sum(sizes) / len(sizes)


@pytest.mark.parametrize("separator", [" ", "\t"])
@pytest.mark.parametrize("head", ["-DOCSTART-", "-DOCSTART- O"])
def test_equal_opening_lines_are_distinguished_by_the_tokens_after_them(
    tmp_path: Path, head: str, separator: str
) -> None:
    files = both(
        tmp_path,
        "".join(conll_document(n, "O", head, separator) for n in range(30)),
        "".join(conll_document(n, "B-LOC", head, separator) for n in range(30)),
    )

    found = texts(files, cut_in(3, files, "conll"))

    assert len(found) == 3
    assert all(own.split("\n")[2].split()[0] == other.split("\n")[2].split()[0] for own, other in found)


def test_tokens_may_be_in_any_column(tmp_path: Path) -> None:
    def rows(number: int, tag: str) -> str:
        return f"-DOCSTART-\n\n{tag}\tw{number}\n\n"

    files = both(
        tmp_path,
        "".join(rows(n, "O") for n in range(20)),
        "".join(rows(n, "B-LOC") for n in range(20)),
    )

    assert len(cut_in(2, files, "conll", ColumnOptions({"x": 1}))) == 2
    assert len(cut_in(2, files, "conll", ColumnOptions({"x": 1}, token=2))) == 2


def test_documents_of_conll_u_are_cut_at_their_comments(tmp_path: Path) -> None:
    text = "".join(conll_document(n, "O", f"# newdoc id = n{n}\n# sent_id = 1", "\t") for n in range(30))
    files = both(tmp_path, text, text)

    found = texts(files, cut_in(4, files, "conll"))

    assert [own.split("\n")[0][:12] for own, _ in found] == ["# newdoc id "] * 4


def test_line_ends_may_differ_between_the_sides(tmp_path: Path) -> None:
    text = "".join(document(n, "O") for n in range(30))
    files = both(tmp_path, text, text.replace("\n", "\r\n"))

    assert len(cut_in(3, files)) == 3


@pytest.mark.parametrize(
    "text",
    [
        "",
        "w\tO\n" * 500,
        document(1, "O", 500),
        document(1, "O") * 100,  # equal documents, so no cut is certain
        "-DOCSTART-\n\n" * 200,
    ],
    ids=["empty", "no documents", "one document", "one document repeated", "empty documents"],
)
@pytest.mark.parametrize("form", ["vrt", "conll"])
def test_files_without_a_place_to_cut_are_one_part(tmp_path: Path, text: str, form: str) -> None:
    files = both(tmp_path, text, text)

    found = cut_in(4, files, form)

    assert found == [((0, len(text)), (0, len(text)))]


def test_different_texts_are_not_cut(tmp_path: Path) -> None:
    files = both(
        tmp_path,
        "".join(document(n, "O") for n in range(40)),
        "".join(document(n, "O").replace("w", "v") for n in range(40)),
    )

    assert len(cut_in(4, files)) == 1


@pytest.mark.parametrize(
    "line",
    [
        b"<text id=d1>",
        b"<text>\tO",
        b"<text id='1'\tO",
        b"<texts>",
        b"</text>",
        b"<TEXT>",
        b"-DOCSTART-\tO",
    ],
)
def test_line_that_may_be_a_token_opens_no_document_in_vrt(line: bytes) -> None:
    assert not Heads("vrt", ColumnOptions()).opens(line)


@pytest.mark.parametrize("line", [b"<text>", b"<text id='1' n=\"a>b\" >", b"<text\tid='1'/>"])
def test_element_alone_on_its_line_opens_a_document_in_vrt(line: bytes) -> None:
    assert Heads("vrt", ColumnOptions()).opens(line)


@pytest.mark.parametrize(
    ("line", "opens"),
    [
        (b"-DOCSTART-", True),
        (b"-DOCSTART- -X- O O", True),
        (b"-DOCSTART-\x0b", False),
        (b"-DOCSTART-x O", False),
        (b"# newdoc id = a", True),
        (b"#newdoc", True),
        (b"# newdoc id = O", False),  # five columns, the last a tag: in some layout, a token
        (b"# newdoc\tO", False),
        (b"# sent_id = 1", False),
    ],
)
def test_line_opens_a_document_in_conll_only_if_it_cannot_be_anything_else(line: bytes, opens: bool) -> None:
    assert Heads("conll", ColumnOptions()).opens(line) is opens


def test_parts_do_not_begin_before_a_line_that_is_a_token_or_a_comment(tmp_path: Path) -> None:
    text = "".join(f"-DOCSTART-\n\n# O\nw{n} O\n\n" for n in range(50))
    files = both(tmp_path, text, text)

    assert len(cut_in(4, files, "conll")) == 1


def test_opening_lines_are_found_at_any_place_of_a_chunk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths = random.Random(1)
    text = "".join(document(n, "O", lengths.randint(0, 9)) for n in range(60))
    file = write(tmp_path / "gold.vrt", text)
    places = [match.start() for match in re.finditer("<text ", text)]
    monkeypatch.setattr(cuts, "_LONGEST", 2000)

    for chunk in (1, 7, 64, 1000):
        monkeypatch.setattr(cuts, "_CHUNK", chunk)
        with file.open("rb") as raw:
            found = [head.place for head in cuts._File(raw, Heads("vrt", ColumnOptions())).heads(5, 900)]
        assert found == [place for place in places if 5 <= place < 900]
