"""Formats are recognised, options apply to those that name them, and files are read up to their limits."""

from __future__ import annotations

import gzip
import pickle
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
from corpora import write

from clueval import read
from clueval.files.errors import FormatError, UsageError
from clueval.files.options import Limits
from clueval.formats.form import NAMES
from clueval.formats.input_file import InputFile
from clueval.formats.json_values import JsonValues
from clueval.formats.options import Reading
from clueval.reading.source import form_of_file, formats_that_read

# Recognition


def test_lines_of_a_token_and_a_tag_are_one_text_where_lines_are(tmp_path: Path) -> None:
    of_blanks, vertical = (write(tmp_path / "a", "a O\n"), write(tmp_path / "a.vrt", "a\tO\n"))

    assert form_of_file(InputFile(of_blanks), is_one_text=True).name == "nerval"
    assert form_of_file(InputFile(vertical), is_one_text=True).name == "vrt"


@pytest.mark.parametrize("content", ['{"text": "a"}\n', '[{"word": 1}]', "Sesam\n"])
def test_file_that_is_not_recognised_is_refused_with_what_to_do(tmp_path: Path, content: str) -> None:
    path = write(tmp_path / "a.json", content)

    with pytest.raises(FormatError, match="the format is not recognised") as caught:
        list(read(path))

    assert caught.value.file == str(path)
    assert "input=" in str(caught.value)
    assert len(str(caught.value).removeprefix(str(path))) < 300


def test_named_format_is_not_recognised_from_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", '{"text": "a"}\n')

    with pytest.raises(UsageError, match="there is no annotation set ''"):
        list(read(path, input="bdoc", annotation_set=""))


def test_options_apply_to_the_formats_whose_descriptions_name_them() -> None:
    assert formats_that_read("annotation_set")[:3] == ["bdoc", "doccano", "gate-xml"]
    assert formats_that_read("invalid")[:4] == ["conll", "conll2000", "conllu", "nerval"]
    assert formats_that_read("layers")[:4] == ["ai4privacy", "bdoc", "brat", "comprehend"]
    assert formats_that_read("answers") == ["prodigy"]
    assert formats_that_read("max_line") == sorted(NAMES)


# Reading


def test_reading_is_a_frozen_value_that_can_be_sent_and_compared() -> None:
    reading = Reading(input="spans", text="a.vrt", token=2)

    assert reading == Reading(input="spans", text=Path("a.vrt"), token=2)
    assert pickle.loads(pickle.dumps(reading)) == reading
    assert len({reading, Reading(), Reading()}) == 2
    with pytest.raises(FrozenInstanceError):
        reading.token = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    "options",
    [{"input": "nope"}, {"invalid": "nope"}, {"scheme": "nope"}, {"max_line": 0}, {"document_tag": "\ud800"}],
    ids=str,
)
def test_reading_refuses_invalid_values(options: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        Reading(**options)  # type: ignore[arg-type]


# What a format reads from


def opened(tmp_path: Path, content: bytes, max_line: int = 1000) -> InputFile:
    path = tmp_path / "a.toy"
    path.write_bytes(content)
    return InputFile(path, Limits(max_line=max_line))


def test_text_has_the_line_ends_of_the_file(tmp_path: Path) -> None:
    assert opened(tmp_path, b"\xef\xbb\xbfa\r\nb\rc\n d").text() == "a\r\nb\rc\n d"
    assert opened(tmp_path, gzip.compress(b"a\r\n")).text() == "a\r\n"


def test_text_that_is_not_utf8_is_an_error_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="0xff") as caught:
        opened(tmp_path, b"a\nb\xff").text()

    assert caught.value.line == 2


def test_path_beside_a_file_has_another_ending(tmp_path: Path) -> None:
    assert InputFile(tmp_path / "a.b.ann.gz").beside(".txt").path == tmp_path / "a.b.txt"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('{"a": 1}\n{"b": "ä\\n"}\n', [{"a": 1}, {"b": "ä\n"}]),
        ('[{"a": [1, 2]}, 12, "x]" ,null ]\n', [{"a": [1, 2]}, 12, "x]", None]),
        ('{"a":\n 1}', [{"a": 1}]),
        ("12 345", [12, 345]),
        ("[ ]", []),
        (" \n", []),
        ("", []),
    ],
)
def test_json_values_are_the_same_for_any_size_of_blocks(text: str, values: list[object], size: int) -> None:
    data = text.encode()
    blocks = [data[start : start + size] for start in range(0, len(data), size)]

    assert list(JsonValues("a.json", 1000).of(blocks)) == list(enumerate(values, 1))


@pytest.mark.parametrize(
    ("content", "problem", "number"),
    [
        (b'{"a": 1}\n{"b" 2}\n', "not JSON", 2),
        (b'{"a": 1}\n{"b": "\x01"}\n', r"not JSON: Invalid control character(?! at)", 2),
        (b'[{"a": 1}, {"b": 2}', "not closed", 3),
        (b'[{"a": 1} {"b": 2}]', "comma", 2),
        (b'{"a": "\xff"}', "not UTF-8", 1),
        (b"[" * 100_000, "nested too deep", 1),
        (b'[1, "' + b"x" * 300_000, "more than 1,000 characters", 2),
    ],
    ids=["no colon", "control character", "not closed", "no comma", "not UTF-8", "too deep", "too long"],
)
def test_json_values_that_cannot_be_read_are_errors_with_their_number(
    tmp_path: Path, content: bytes, problem: str, number: int
) -> None:
    with pytest.raises(FormatError, match=problem) as caught:
        list(opened(tmp_path, content).rows())

    assert caught.value.line == number
