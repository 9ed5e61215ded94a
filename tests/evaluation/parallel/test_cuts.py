"""Where a pair of files can be cut: at lines that open a document and stand on both sides."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from corpora import write
from hypothesis import given
from hypothesis import strategies as st

from clueval import masking
from clueval.evaluation.parallel import cuts, schedule
from clueval.evaluation.parallel.cuts import Heads, PartPair, cut, cut_lines
from clueval.evaluation.parallel.tasks import carry_out
from clueval.evaluation.run import score
from clueval.files.errors import CluevalError
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


# JSON Lines counted in parts have the outcome of the whole files, and the parts have the same lines


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1),
    st.integers(1, 8),
    st.sampled_from([1, 7, 1 << 18]),
)
def test_parts_have_the_same_lines(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[tuple[int, int]], number: int, block: int
) -> None:
    folder = tmp_path_factory.mktemp("lines")
    sides = ["".join(f"{n}{'x' * of[side]}\n" for n, of in enumerate(lengths)).encode() for side in range(2)]
    paths = [folder / name for name in ("gold", "predicted")]
    for path, data in zip(paths, sides, strict=True):
        path.write_bytes(data)

    with patch.object(cuts, "BLOCK", block):
        parts = cut_lines(paths[0], paths[1], number)

    cut = [[data[slice(*part[side])] for part in parts] for side, data in enumerate(sides)]
    assert [b"".join(pieces) for pieces in cut] == sides
    assert len(parts) <= number
    for own, other in zip(*cut, strict=True):
        assert own.count(b"\n") == other.count(b"\n") > 0


def rows(number: int, change: int = 0) -> list[dict[str, Any]]:
    return [
        {"text": f"Ada met Bob {n}", "label": [[0, 3, "PER"], [8, 11 - (n % 7 == change), "LOC"]]}
        for n in range(number)
    ]


def lines(values: Sequence[Any]) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def with_row(number: int, row: dict[str, Any]) -> str:
    return lines([*rows(60, 1)[:number], row, *rows(60, 1)[number + 1 :]])


CASES = {
    "usual rows": lines(rows(60, 1)),
    "rows with ids": lines([{"id": f"d{n}", **row} for n, row in enumerate(rows(60, 1))]),
    "blank lines": lines(rows(60, 1)).replace("\n", "\n\n"),
    "values of several lines": "\n".join(json.dumps(row, indent=1) for row in rows(60, 1)),
    "an array": json.dumps(rows(60, 1)),
    "an array of lines": json.dumps(rows(60, 1)).replace("}, {", "},\n{"),
    "one row less": lines(rows(59, 1)),
    "another text": with_row(40, {"text": "Ada met Bob", "label": []}),
    "a wrong span": with_row(45, {"text": "Ada met Bob 45", "label": [[0, 99, "PER"]]}),
    "no JSON": with_row(50, {"text": "Ada met Bob 50", "label": []}).replace('Bob 50"', "Bob 50"),
    "a byte-order mark": lines(rows(60, 1)).replace(
        '{"text": "Ada met Bob 3', '\ufeff{"text": "Ada met Bob 3'
    ),
    "overlap": with_row(30, {"text": "Ada met Bob 30", "label": [[0, 3, "PER"], [1, 3, "PER"]]}),
    "an annotator": lines([{**row, "username": "ada"} for row in rows(60, 1)]),
    "two annotators": lines([{**row, "username": "ab"[n // 31]} for n, row in enumerate(rows(60, 1))]),
}


def outcome(run: Callable[[], Any]) -> Any:
    try:
        result = run()
    except CluevalError as error:
        return type(error), str(error)
    return result.to_dict(), result.inputs, result.passed_over


@pytest.mark.few(3)
@pytest.mark.parametrize("case", CASES)
def test_parts_have_the_outcome_of_the_whole(
    tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule, "SMALLEST", 100)
    other = write(tmp_path / "predicted.jsonl", CASES[case])
    as_gold = case in ("rows with ids", "an annotator", "two annotators")
    gold = write(tmp_path / "gold.jsonl", CASES[case] if as_gold else lines(rows(60)))

    every_set = {"gold_set": "*", "predicted_set": "*"}
    for options in ({"metrics": ["exact", "gate"]}, {"by": "document", "metrics": "exact"}, every_set):
        expected = outcome(lambda of=options: score(gold, other, input="doccano", jobs=1, **of))
        with ThreadPoolExecutor(1) as executor:
            found = outcome(
                lambda of=options: score(gold, other, input="doccano", jobs=3, executor=executor, **of)
            )
        assert found == expected, options


def test_lines_are_counted_in_several_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "SMALLEST", 100)
    paths = [write(tmp_path / f"{n}.jsonl", lines(rows(60, n))) for n in range(2)]
    remarks: list[str] = []

    with (
        ThreadPoolExecutor(1) as executor,
        patch("clueval.evaluation.parallel.tasks.carry_out", wraps=carry_out) as carried_out,
    ):
        result = score(*paths, jobs=3, executor=executor, remark=remarks.append)

    assert result.documents == 60
    assert carried_out.call_count > 3
    assert not any("counted again" in remark for remark in remarks)


@pytest.mark.parametrize(
    ("run", "text", "spans"),
    [
        (partial(score, align=True), " more words", [[15, 20, "X"]]),
        (partial(score, unit="token"), "", [[5, 6, "X"]]),
        (masking, "", []),
    ],
    ids=["aligned", "in tokens", "masking"],
)
def test_rows_without_ids_keep_their_numbers(
    tmp_path: Path,
    run: Callable[..., Any],
    text: str,
    spans: list[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The result names documents: those of spans without a place in the gold text or its words, or of leaks."""
    monkeypatch.setattr(schedule, "SMALLEST", 100)
    found = [{"text": row["text"] + text, "label": [*row["label"][1:], *spans]} for row in rows(60)]
    paths = [write(tmp_path / "0.jsonl", lines(rows(60))), write(tmp_path / "1.jsonl", lines(found))]

    with ThreadPoolExecutor(1) as executor:
        together = run(*paths, jobs=3, executor=executor)

    alone = run(*paths)
    assert together.to_json() == alone.to_json()
    assert str(together) == str(alone)
