"""The XML of i2b2: offsets from the first character in CDATA."""

from __future__ import annotations

from pathlib import Path

import pytest
from contents import texts
from corpora import write

from clueval import read, score
from clueval.files.errors import CluevalError

GOLD = Path(__file__).parents[2] / "clueval" / "samples" / "formats" / "i2b2" / "110-01.xml"


def i2b2(tags: str, text: str = "<![CDATA[\nAda]]>") -> str:
    return f"<deIdi2b2>\n<TEXT>{text}</TEXT>\n<TAGS>\n{tags}\n</TAGS>\n</deIdi2b2>\n"


def test_sample_by_hand() -> None:
    (document,) = read(GOLD)

    assert document.id == "110-01"
    assert texts(document) == [
        ("2067-05-03", "DATE"),
        ("Ada\n  Lovelace"[:14], "DOCTOR"),
        ("Co", "ORGANIZATION"),
    ]
    assert [span.line for span in document.layers["label"]] == [10, 11, 12]
    assert score(GOLD, GOLD, metrics="muc").metrics["muc"]["label"]["strict"]["correct"] == 3


def test_category_is_a_source() -> None:
    (document,) = read(GOLD, {"category": "category", "type": "TYPE"})

    assert [label for _, label in texts(document, "category")] == ["DATE", "NAME", "LOCATION"]
    assert [label for _, label in texts(document, "type")] == ["DATE", "DOCTOR", "ORGANIZATION"]


def test_line_ends_of_windows_are_one_character(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_bytes(GOLD.read_bytes().replace(b"\n", b"\r\n"))

    (document,) = read(path)

    assert texts(document) == texts(next(read(GOLD)))


def test_elements_that_nest_deep_cost_their_number(tmp_path: Path) -> None:
    content = i2b2("<A start='0' end='1'>" + "<b>" * 100_000 + "</b>" * 100_000 + "</A>")

    (document,) = read(write(tmp_path / "a.xml", content))

    assert texts(document) == [("\n", "_")]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (
            i2b2('<A start="1" end="4" text="Eva" TYPE="X"/>'),
            r"a\.xml:5: the text of the span \[1,4\) differs",
        ),
        (i2b2('<A start="1" end="5" TYPE="X"/>'), r"a\.xml:5: the span \[1,5\) lies outside"),
        (i2b2('<A start="3" end="1" TYPE="X"/>'), r"a\.xml:5: the span ends before it starts"),
        (i2b2('<A start="1" TYPE="X"/>'), r"a\.xml:5: '' is not a position"),
        (i2b2("", "a<b/>"), r"a\.xml:2: an element <b> in the text"),
        ("<deIdi2b2/>", "no elements <TEXT>"),
        ("<deIdi2b2><TEXT/><TEXT/></deIdi2b2>", "2 elements <TEXT>"),
        (
            '<ROOT><RECORD ID="7"><TEXT><PHI TYPE="A"><PHI/></PHI></TEXT></RECORD></ROOT>',
            "an element <PHI> within the <PHI> of line 1",
        ),
        ('<!DOCTYPE deIdi2b2 [<!ENTITY a "b">]>' + i2b2(""), "document type declaration"),
        ("<deIdi2b2><TEXT>", "not well-formed XML"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, content: str, says: str) -> None:
    with pytest.raises(CluevalError, match=says):
        list(read(write(tmp_path / "a.xml", content)))
