"""Files are recognised as today, by their names, their first lines or their first JSON row, and in one place."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

import clueval
from clueval.second.formats.dialects import first_row
from clueval.second.formats.telling import FORMS, Form, Head, form_of, recognised_by
from tests.fuzz.corpora import FORMATS

SAMPLES = Path(clueval.__file__).parent / "samples" / "formats"

NAMED = {"conllup": "conllu", "germeval": "conll", "hipe": "conll", "wnut": "conll"}
"""The formats of samples whose folders have other names."""

HANDLED = {form.name for form in FORMS}


def told(name: str, data: bytes) -> Form | None:
    return form_of(Head(name, data.decode(), lambda: first_row(lambda: [data], name)))


def of_samples() -> list[Path]:
    files = (path for path in SAMPLES.rglob("*") if path.is_file() and path.name != "dataset_info.json")
    return [path for path in files if NAMED.get(path.parent.name, path.parent.name) in HANDLED]


@pytest.mark.parametrize("path", of_samples(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_sample_is_told_as_its_format_and_as_no_other(path: Path) -> None:
    form = told(path.name, path.read_bytes())

    assert form is not None
    assert form.name == NAMED.get(path.parent.name, path.parent.name)


@pytest.mark.parametrize("name", sorted(FORMATS.keys() & HANDLED))
def test_random_files_are_told_as_their_format(name: str) -> None:
    for seed in range(20):
        files = FORMATS[name](Random(seed))
        form = told(f"a.{files.ending}", files.gold)

        assert form is not None
        if name != "conll" or b"<" not in files.gold:  # a first token may be an XML tag
            assert form.name == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("[]", "doccano"),
        ("{}", "tab"),
        ('[]\n[{"entity_type": "A", "start": 0, "end": 1}]', "presidio"),
        ("[\tO\n]\tO\n", "conll"),
        ('{"text": "a", "data": {"text": "a"}, "annotations": []}', "label-studio"),
        ('{"tokens": ["a"], "entities": []}', "spert"),
        ("<deIdi2b2>", "i2b2"),
        ("#\tO\n", "conll"),
    ],
)
def test_beginnings_are_told(text: str, name: str) -> None:
    form = told("a", text.encode())

    assert form is not None
    assert form.name == name


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_way_of_recognition_is_printed_in_one_line(form: Form) -> None:
    words = recognised_by(form)

    assert words
    assert "\n" not in words
