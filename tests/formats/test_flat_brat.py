"""brat's files counted without documents have the outcome of their documents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sizes import documents_alone

from clueval import score
from clueval.files.errors import CluevalError

TEXT = b"Ada met Bob\nin \xc3\x84gypten"
SPANS = [
    b"T1\tPER 0 3\tAda\n",
    b"T2\tPER 8 11\tBob\n",
    b"T3\tLOC 15 22\t\xc3\x84gypten\n",
    b"T4\tLOC 0 3\tAda\n",
    b"T5\tLOC 15 18\t\xc3\x84gy\n",
]
ODD = [
    b"T1\tPER 8 11\tBob\n",
    b"T6\tPER 0 3;8 11\tAda Bob\n",
    b"T7\tPER 0 3\tBob\n",
    b"T7\tPER 0 3\n",
    b"T7\tPER 0 3\tAda\r\n",
    b"T7\tPER 3 0\t\n",
    b"T7\tPER 4 4\t\n",
    b"T7\tPER 0 99\tAda\n",
    b"T7\tPER  0 3\tAda\n",
    b"T7\t 0 3\tAda\n",
    b"T7 PER 0 3\tAda\n",
    b"T8\tPER 8 11\tBob",
    b"A1\tNegated T1\n",
    b"A2\tNegated T9\n",
    b"R1\tKnows Arg1:T1 Arg2:T2\n",
    b"\n",
    b"\xff\n",
    b"\0\n",
    b"\xef\xbb\xbfT9\tPER 0 3\tAda\n",
]


def outcome(folder: Path, **options: Any) -> Any:
    try:
        result = score(folder / "gold", folder / "predicted", **options)
    except CluevalError as error:
        return type(error), str(error)
    return result.to_dict(), result.inputs, result.passed_over


def both_ways(sides: Sequence[Sequence[bytes]], texts: Sequence[bytes], **options: Any) -> tuple[Any, Any]:
    with TemporaryDirectory() as name:
        for side, lines, text in zip(("gold", "predicted"), sides, texts, strict=True):
            for document in ("a", "b.c"):
                folder = Path(name, side, "in")
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{document}.ann").write_bytes(b"".join(lines if document == "a" else SPANS[:2]))
                (folder / f"{document}.txt").write_bytes(text)
        found = outcome(Path(name), **options)
        with documents_alone():
            return found, outcome(Path(name), **options)


LINES = st.lists(st.sampled_from(SPANS), unique=True)


@given(LINES, LINES, st.sampled_from([{}, {"by": "document"}, {"metrics": ["exact", "muc"]}]))
def test_files_have_the_outcome_of_their_documents(
    gold: list[bytes], predicted: list[bytes], options: dict[str, Any]
) -> None:
    found, expected = both_ways((gold, predicted), (TEXT, TEXT), **options)

    assert found == expected


@pytest.mark.parametrize("odd", ODD)
def test_files_with_an_odd_line_have_the_outcome_of_their_documents(odd: bytes) -> None:
    for sides in ([*SPANS[:2], odd], SPANS[:2]), ([odd, SPANS[2]], [odd]):
        found, expected = both_ways(sides, (TEXT, TEXT))
        assert found == expected


@pytest.mark.parametrize(
    "text",
    [b"", b"Ada met Bob", b"\xef\xbb\xbf" + TEXT, TEXT.replace(b"\n", b"\r\n"), TEXT + b"\0", b"\xff" + TEXT],
)
def test_files_of_any_text_have_the_outcome_of_their_documents(text: bytes) -> None:
    for texts in ((text, text), (TEXT, text)):
        found, expected = both_ways((SPANS[:1], SPANS[:1]), texts)
        assert found == expected
