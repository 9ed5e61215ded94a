"""XML by descriptions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import clueval
from clueval.formats.documents import read_file
from clueval.formats.input_file import InputFile
from clueval.formats.markup import I2B2, I2B2_2006, LTF, Markup, read_markup
from clueval.formats.options import FormatOptions
from tests.formats.outcomes import contents, outcome

Check = Callable[[Any], None]

MARKUPS = (I2B2, I2B2_2006, LTF)
SAMPLES = Path(clueval.__file__).parent / "samples" / "formats"

TAGS = '<DATE id="P0" start="3" end="6" text="Ulm" TYPE="CITY"/>'
TEXT = f"<deIdi2b2>\n<TEXT><![CDATA[In Ulm.\n]]></TEXT>\n<TAGS>{TAGS}</TAGS></deIdi2b2>"


def read(path: Path, form: Markup | None = None, **options: Any) -> Any:
    return outcome(lambda: read_file(InputFile(path), FormatOptions(**options), form=form))


@pytest.mark.parametrize("source", ["category", "id", "none"])
def test_sources_of_markup_are_those_recorded(source: str, tmp_path: Path, is_recorded: Check) -> None:
    path = tmp_path / "a.xml"
    path.write_text(TEXT, encoding="utf-8")

    is_recorded(read(path, layers={"kind": source}))


def test_samples_of_markup_are_read_as_recorded(is_recorded: Check) -> None:
    paths = sorted(SAMPLES.glob("i2b2*/*.xml"))
    assert len({path.parent for path in paths}) == 2

    for path in paths:
        is_recorded(read(path))


@pytest.mark.parametrize("form", MARKUPS, ids=lambda form: form.name)
def test_description_of_markup_is_complete(form: Markup) -> None:
    assert form.name
    assert form.holds
    assert bool(form.inline) != bool(form.tags)
    assert bool(form.document) == bool(form.id)
    assert form.text.startswith(form.document)
    assert all(path == path.strip("/") and "//" not in path for path in (form.text, form.document, form.tags))


def test_other_attributes_are_read_where_a_description_names_them() -> None:
    form = Markup(name="a", holds="b", text="a/t", tags="a/s", start="from", end="to", label="kind")
    data = '<a><t>In Ulm</t><s from="3" to="6" kind="LOC"/></a>'

    (document,) = read_markup(data, form, FormatOptions(), file="a.xml")

    assert contents(document)[7] == {"label": [(3, 6, {"label": "LOC"}, {}, None, None, 1)]}
    assert (I2B2.start, I2B2_2006.inline) == ("start", "*")
