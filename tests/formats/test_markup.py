"""XML by descriptions: i2b2 and loio's tagging format; what is read, what is written, what is refused."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from contents import texts
from corpora import write
from hypothesis import example, given
from hypothesis import strategies as st

import clueval
from clueval import read, score
from clueval.core.document import Document
from clueval.core.span import Span
from clueval.files.errors import CluevalError, FormatError, OverlapError, UsageError
from clueval.formats.input_file import InputFile
from clueval.formats.markup import I2B2, I2B2_2006, LTF, Markup, documents_of_file, marked_up
from clueval.formats.options import FormatOptions
from tests.formats.outcomes import contents

GOLD = Path(clueval.__file__).parent / "samples" / "formats" / "i2b2" / "110-01.xml"

# Descriptions


def read_as(form: Markup, data: str) -> Document:
    with TemporaryDirectory() as folder, chdir(folder):
        Path("d.xml").write_bytes(data.encode(errors="surrogatepass"))
        (document,) = documents_of_file(form, InputFile(Path("d.xml")), FormatOptions())
    return document


@pytest.mark.parametrize("form", [I2B2, I2B2_2006, LTF], ids=lambda form: form.name)
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

    document = read_as(form, data)

    assert contents(document)[7] == {"label": [(3, 6, {"label": "LOC"}, {}, None, None, 1)]}
    assert (I2B2.start, I2B2_2006.inline) == ("start", "*")


# i2b2


def i2b2(tags: str, text: str = "<![CDATA[\nAda]]>") -> str:
    return f"<deIdi2b2>\n<TEXT>{text}</TEXT>\n<TAGS>\n{tags}\n</TAGS>\n</deIdi2b2>\n"


def test_sample_by_hand() -> None:
    (document,) = read(GOLD)

    assert document.id == "110-01"
    assert texts(document) == [("2067-05-03", "DATE"), ("Ada\n  Lovelace", "DOCTOR"), ("Co", "ORGANIZATION")]
    assert [span.line for span in document.layers["label"]] == [10, 11, 12]
    assert score(GOLD, GOLD, metrics="muc").metrics["muc"]["label"]["strict"]["correct"] == 3


def test_category_and_attributes_are_sources() -> None:
    (document,) = read(GOLD, {"category": "category", "type": "TYPE", "none": "NONE"})

    assert [label for _, label in texts(document, "category")] == ["DATE", "NAME", "LOCATION"]
    assert [label for _, label in texts(document, "type")] == ["DATE", "DOCTOR", "ORGANIZATION"]
    assert document.layers["none"] == []


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
        (i2b2('<A start="1" end="4" text="Eva" TYPE="X"/>'), r"a\.xml:5: the text of the span \[1,4\) differs"),
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
)  # fmt: skip
def test_errors_name_the_line(tmp_path: Path, content: str, says: str) -> None:
    with pytest.raises(CluevalError, match=says):
        list(read(write(tmp_path / "a.xml", content)))


# loio's format: reading


def read_ltf(data: str) -> Document:
    return read_as(LTF, data)


def document_with(text: str, *ranges: tuple[int, int], start: int = 0) -> Document:
    spans = [Span(s, e, "_") for s, e in ranges]
    return Document("1", {"label": spans}, text=text, unit="character", start=start)


@pytest.mark.parametrize(
    ("data", "text", "positions"),
    [
        ("<body>from <e>Ulm</e> to <e>Köln</e>.</body>", "from Ulm to Köln.", [(5, 8), (12, 16)]),
        ("<body>Name: <e/></body>", "Name: ", [(6, 6)]),
        ("<body>Name: <e></e></body>", "Name: ", [(6, 6)]),
        ("<body><e/><e>ab</e><e>c</e><e/><e/></body>", "abc", [(0, 0), (0, 2), (2, 3), (3, 3), (3, 3)]),
        ("<body>a&amp;&lt;&#x1F600;😀<e>é</e></body>", "a&<😀😀é", [(5, 6)]),
        ("<body>a\r\nb\rc&#13;\n<e>d</e></body>", "a\nb\nc\r\nd", [(7, 8)]),
        ("\ufeff<body>ä<e>ß</e></body>", "äß", [(1, 2)]),
        ("<?xml version='1.0'?>\n<body>ä<e>ß</e></body>\r\n \n", "äß", [(1, 2)]),
        # The text is decoded: the encoding that is named has done its work.
        ("<?xml version='1.0' encoding='UTF-16'?><body>ä<e>ß</e></body>", "äß", [(1, 2)]),
        ("<body>&#228;<e><![CDATA[ß]]></e></body>", "äß", [(1, 2)]),
        ("<body/>", "", []),
    ],
)
def test_text_is_the_body_without_its_tags_and_spans_are_elements(
    data: str, text: str, positions: list[tuple[int, int]]
) -> None:
    document = read_ltf(data)

    assert document == document_with(text, *positions)
    assert document.file == "d.xml"


def test_span_knows_its_line() -> None:
    (first, second) = read_ltf("<body>\n<e>a\nb</e>\n<e/></body>").layers["label"]

    assert (first.line, second.line) == (2, 4)


def test_spans_of_a_long_text_are_where_they_were_written() -> None:
    # Longer than any buffer of the parser, which delivers text in pieces.
    document = document_with("ä" * 100_000 + "x" * 50_000 + "\n", (99_999, 140_001), (150_001, 150_001))

    assert read_ltf(marked_up(LTF, document)) == document


NONE = " (this format has none; remove it)"
ONLY_E = " (only <e> is allowed; write &lt; for the character)"
WRONG = {
    "<body>\n<e>a\n<e>b</e></e></body>": "3: an element <e> within the <e> of line 2"
    " (spans of this format do not nest)",
    "<body>\n\n<b>x</b></body>": f"3: an element <b> in the text{ONLY_E}",
    "<body><e><body/></e></body>": f"1: an element <body> in the text{ONLY_E}",
    "<text>x</text>": "1: the outermost element is <text>, not <body>",
    "<e>x</e>": "1: the outermost element is <e>, not <body>",
    "<body>\n<e type='PER'/></body>": f"2: an attribute 'type' of <e>{NONE}",
    "<body id='1'/>": f"1: an attribute 'id' of <body>{NONE}",
    "<body>\n<!-- x --></body>": "2: a comment (remove it)",
    "<body>\n<?go now?></body>": "2: a processing instruction 'go' (remove it)",
    "": "1: not well-formed XML: no element found, column 1",
    "<body/>\n<body/>": "2: not well-formed XML: junk after document element, column 1",
    "<body>\n<e>x</body>": "2: not well-formed XML: mismatched tag, column 7",
    "<body>a < b</body>": "1: not well-formed XML: not well-formed (invalid token), column 10",
    "<body>\n&#1;</body>": "2: not well-formed XML: reference to invalid character number, column 1",
    "<body>\n\ud800</body>": "2: not UTF-8: byte 0xed (save the file as plain text in UTF-8, in Excel as 'CSV UTF-8')",
    "<body>\n&nbsp;</body>": "2: not well-formed XML: undefined entity, column 1"
    " (only &amp; &lt; &gt; &quot; &apos; and character references are defined)",
    "\n<!DOCTYPE body>\n<body/>": "2: a document type declaration (DTD) (remove it)",
    # Malformed within: it is refused before that is read.
    "\n<!DOCTYPE body [<!ENTITY ???>]>\n<body/>": "2: a document type declaration (DTD) (remove it)",
}


@pytest.mark.parametrize("data", WRONG)
def test_what_is_not_of_the_format_is_refused_with_its_line(data: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_ltf(data)

    assert str(caught.value) == f"d.xml:{WRONG[data]}"


# loio's format: writing


@pytest.mark.parametrize(
    ("document", "content"),
    [
        (document_with("abcd", (0, 0), (0, 2), (2, 3), (4, 4)), "<e/><e>ab</e><e>c</e>d<e/>"),
        (document_with("abc", (2, 3), (0, 1)), "<e>a</e>b<e>c</e>"),
        (document_with("a<b&c]]>\r\n\t"), "a&lt;b&amp;c]]&gt;&#13;\n\t"),
        (document_with("abcd", (11, 13), start=10), "a<e>bc</e>d"),
    ],
)
def test_tags_are_written_around_the_spans(document: Document, content: str) -> None:
    assert marked_up(LTF, document) == f"<body>{content}</body>\n"


@pytest.mark.parametrize(
    ("ranges", "named"),
    [
        ([(0, 4), (2, 6)], "[0,4) '_' and [2,6) '_'"),
        ([(2, 3), (0, 9)], "[0,9) '_' and [2,3) '_'"),
        ([(0, 4), (0, 4)], "[0,4) '_' and [0,4) '_'"),
        ([(0, 4), (2, 2)], "[0,4) '_' and [2,2) '_'"),
    ],
)
def test_overlapping_spans_cannot_be_written(ranges: list[tuple[int, int]], named: str) -> None:
    with pytest.raises(OverlapError) as caught:
        marked_up(LTF, document_with("abcdefghi", *ranges))

    assert (
        str(caught.value)
        == f"document '1': cannot be written as ltf: it has the spans {named}, which overlap"
    )


@pytest.mark.parametrize("character", ["\0", "\x08", "\x0b", "\x1f", "\udfff", "\ufffe", "\uffff"])
def test_character_that_xml_cannot_contain_is_refused_with_its_position(character: str) -> None:
    text = f"abc{character}"
    document = Document("d7", {"label": []}, text=text, unit="character", start=10, file="d.json")

    with pytest.raises(FormatError) as caught:
        marked_up(LTF, document)

    assert str(caught.value) == (
        "d.json, document 'd7': cannot be written as ltf: it has the character "
        f"U+{ord(character):04X} at position 13 (XML has no way to write it; replace it)"
    )


def test_spans_of_one_layer_with_one_label_are_written() -> None:
    layers = {"risk": [Span(0, 1, "A"), Span(1, 2, "B")], "entity": [Span(1, 2, "PER")]}
    document = Document("d", layers, text="ab", unit="character")

    assert marked_up(LTF, document, "entity") == "<body>a<e>b</e></body>\n"
    with pytest.raises(UsageError, match=r"with different labels .write the spans of one label") as caught:
        marked_up(LTF, document, "risk")
    assert "[0,1) 'A' and [1,2) 'B'" in str(caught.value)


# Laws

characters = st.one_of(
    st.sampled_from("ab <>&\"'\r\n\t]\x85\u2028\ufeff\x7f"),
    st.characters(exclude_categories=["Cs"], exclude_characters="\ufffe\uffff", min_codepoint=0x20),
)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(st.text(characters, max_size=20))
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    return document_with(text, *zip(cuts[::2], cuts[1::2], strict=False))


@given(documents())
@example(document_with("]]>\r\n&lt;\r", (0, 0), (0, 3), (3, 4), (9, 10), (10, 10)))
def test_written_document_is_read_back(document: Document) -> None:
    assert read_ltf(marked_up(LTF, document)) == document


@given(st.text(st.characters(exclude_categories=["Cs"]) | st.characters(max_codepoint=0x20), max_size=5))
def test_text_is_either_read_back_or_refused(text: str) -> None:
    document = document_with(text)
    try:
        written = marked_up(LTF, document)
    except FormatError:
        assert any((c < " " and c not in "\t\n\r") or c in "\ufffe\uffff" for c in text)
    else:
        assert read_ltf(written) == document


PIECES = [
    "<body>",
    "</body>",
    "<e>",
    "</e>",
    "<e/>",
    "a",
    "&amp;",
    "&x;",
    "<b>",
    "<!--",
    "-->",
    "<!DOCTYPE",
    "]]>",
]


@given(st.lists(st.sampled_from([*PIECES, "\n"]), max_size=12).map("".join) | st.text(max_size=12))
def test_any_input_is_a_document_or_one_clear_error(data: str) -> None:
    result: Document | FormatError
    try:
        result = read_ltf(data)
    except FormatError as error:
        result = error

    if isinstance(result, FormatError):
        assert result.line in range(1, data.count("\n") + data.count("\r") + 2)
        assert str(result).startswith(f"d.xml:{result.line}: ")
        assert "\n" not in str(result)
    else:
        assert read_ltf(marked_up(LTF, result)) == result
