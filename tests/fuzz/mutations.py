"""Ways in which files go wrong: bytes, lines, columns, tags, values, the file as a whole."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from random import Random

BYTES = (
    *(
        b"\0",
        b"\r",
        b"\n",
        b"\r\n",
        b"\xff",
        b"\xc3",
        b"\xef\xbb\xbf",
        b"\xed\xa0\x80",
        b"\xf0\x9f\x98\x80",
        b"\x1b[",
    ),
    *(
        b"\t",
        b" ",
        b",",
        b";",
        b'"',
        b"'",
        b"<",
        b">",
        b"/>",
        b"&",
        b"&#0;",
        b"&#xD800;",
        b"]]>",
        b"<!--",
        b"-->",
    ),
    *(
        "\u2028".encode(),
        "\u202e".encode(),
        "\u0301".encode(),
        b"\\ud800",
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b"|",
        b"#",
    ),
    *(
        b"<!DOCTYPE a [<!ENTITY b 'c'>]>",
        b"<?xml?>",
        b"<s>",
        b"</s>",
        b"<text>",
        b"</text>",
        b"<text id='x'/>",
    ),
    *(b"-DOCSTART-", b"# newdoc id = d1\n", b"\n\n", b"<e/>", b"<e>", b"</e>", b"<body>", b"start\tend"),
)

VALUES = (
    *(b"", b"O", b"B-", b"I-", b"B", b"I", b"B-PER", b"I-PER", b"I-LOC", b"E-PER", b"S-PER", b"L-PER"),
    *(b"U-LOC", b"X-PER", b"B-\xc3\x89", b"B-O", b"o", b"b-per", b"B-PER|I-LOC", b"B-PER-X", b"_", b"*"),
    *(b"-", b"0", b"-1", b"1.5", b"1e309", b"NaN", b"Infinity", b"999", b"9" * 19, b"9" * 400, b"9" * 5000),
    *(b"0x1", b"+1", "٣".encode(), "²".encode(), b"true", b"null", b"[]", b"{}", b'""', b"a" * 3000),
    *(b"1 2", b"01", b"1_0"),
)

_FIELD = re.compile(rb"[^\t\n ,;<>\"=]+")
_NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?")
_QUOTED = re.compile(rb'"[^"\n]*"')
_JSON_VALUE = re.compile(rb'(?<=: )(?:"[^"]*"|[-0-9.]+|true|\[\]|\{\})')

JSON_VALUES = (
    b"null",
    b"true",
    b"-1",
    b"1.5",
    b"1e999",
    b"[]",
    b"{}",
    b'""',
    b'"\\ud800"',
    b'"x"',
    b"[[[[]]]]",
    b"9" * 30,
    b"NaN",
)


def mutated(data: bytes, rng: Random) -> bytes:
    """The content of a file after one mutation."""
    return rng.choice(MUTATIONS)(data, rng)


def insert(data: bytes, rng: Random) -> bytes:
    place = rng.randint(0, len(data))
    return data[:place] + rng.choice(BYTES) + data[place:]


def replace(data: bytes, rng: Random) -> bytes:
    place = rng.randint(0, len(data))
    return data[:place] + rng.choice(BYTES) + data[place + rng.randint(1, 4) :]


def flip(data: bytes, rng: Random) -> bytes:
    place = rng.randint(0, len(data))
    return data[:place] + bytes([rng.randrange(256)]) + data[place + 1 :]


def delete(data: bytes, rng: Random) -> bytes:
    place = rng.randint(0, len(data))
    return data[:place] + data[place + rng.choice((1, 1, 2, 10, 100)) :]


def _on_lines(change: Callable[[list[bytes], int, Random], None]) -> Callable[[bytes, Random], bytes]:
    def changed(data: bytes, rng: Random) -> bytes:
        lines = data.split(b"\n")
        change(lines, rng.randrange(len(lines)), rng)
        return b"\n".join(lines)

    return changed


def _drop(lines: list[bytes], place: int, rng: Random) -> None:
    del lines[place : place + rng.choice((1, 1, 2, 5))]


def _repeat(lines: list[bytes], place: int, rng: Random) -> None:
    times = rng.choice((1, 1, 2, 10, 300))
    some = lines[place : place + rng.randint(1, 3)]
    lines[place:place] = (some * times)[: 60_000 // (len(b"".join(some)) + 1) + 1]


def _swap(lines: list[bytes], place: int, rng: Random) -> None:
    other = rng.randrange(len(lines))
    lines[place], lines[other] = lines[other], lines[place]


def _blank(lines: list[bytes], place: int, rng: Random) -> None:
    lines[place:place] = [rng.choice((b"", b" ", b"\t", b"\r", b"# comment", b"O"))]


def _join(lines: list[bytes], place: int, rng: Random) -> None:
    lines[place : place + 2] = [rng.choice((b"", b" ", b"\t")).join(lines[place : place + 2])]


def _column(lines: list[bytes], place: int, rng: Random) -> None:
    separator = next((each for each in (b"\t", b",", b" ") if each in lines[place]), b" ")
    fields = lines[place].split(separator)
    at = rng.randrange(len(fields))
    kind = rng.randrange(4)
    if kind == 0:
        del fields[at]
    elif kind == 1:
        fields.insert(at, rng.choice(VALUES))
    elif kind == 2:
        fields[at] = rng.choice(VALUES)
    else:
        fields.insert(at, fields[at])
    lines[place] = separator.join(fields)


def _on_matches(pattern: re.Pattern[bytes], values: tuple[bytes, ...]) -> Callable[[bytes, Random], bytes]:
    def changed(data: bytes, rng: Random) -> bytes:
        found = list(pattern.finditer(data))
        if not found:
            return data
        one, other = rng.choice(found), rng.choice(found)
        value = other[0] if rng.random() < 0.4 else rng.choice(values)
        return data[: one.start()] + value + data[one.end() :]

    return changed


def truncate(data: bytes, rng: Random) -> bytes:
    return data[: rng.randint(0, len(data))]


def empty(_: bytes, rng: Random) -> bytes:
    return rng.choice((b"", b"\n", b"\xef\xbb\xbf", b" ", b"\x1f\x8b", b"\r", b"\0"))


def many(data: bytes, rng: Random) -> bytes:
    """A stretch so many times that what grows with the square shows."""
    start = rng.randint(0, len(data))
    some = data[start : start + rng.choice((1, 3, 20, 60))]
    return data[:start] + some * rng.choice((50, 1000, 100_000 // (len(some) + 1))) + data[start:]


def crlf(data: bytes, _: Random) -> bytes:
    return data.replace(b"\n", b"\r\n")


def packed(data: bytes, rng: Random) -> bytes:
    found = gzip.compress(data, 1, mtime=0)
    return found if rng.random() < 0.5 else mutated(found, rng)


def recoded(data: bytes, rng: Random) -> bytes:
    return data.decode("utf-8", "replace").encode(
        rng.choice(("utf-16", "latin-1", "utf-8-sig", "utf-32")), "replace"
    )


MUTATIONS: tuple[Callable[[bytes, Random], bytes], ...] = (
    *(insert, insert, replace, flip, delete, truncate, empty, many, crlf, packed, recoded),
    *(_on_lines(each) for each in (_drop, _repeat, _swap, _blank, _join, _column, _column, _column)),
    *(_on_matches(_FIELD, VALUES), _on_matches(_FIELD, VALUES), _on_matches(_NUMBER, VALUES)),
    *(_on_matches(_QUOTED, tuple(b'"' + value + b'"' for value in VALUES)),),
    *(_on_matches(_JSON_VALUE, JSON_VALUES),),
)
