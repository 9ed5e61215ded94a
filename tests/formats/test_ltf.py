"""loio's tagging format: what is read, what is written, what is refused."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clueval.core.document import Document
from clueval.core.span import Span
from clueval.files.errors import FormatError, OverlapError, UsageError
from clueval.formats.markup import LTF, marked_up, read_markup
from clueval.formats.options import FormatOptions


def read_ltf(data: bytes | str, file: str) -> Document:
    (document,) = read_markup(
        data if isinstance(data, str) else data.decode(), LTF, FormatOptions(), file=file
    )
    return document


def write_ltf(document: Document, layer: str = "label") -> str:
    return marked_up(LTF, document, layer)


def positions(document: Document) -> list[tuple[int, int]]:
    return [(span.start, span.end) for span in document.layers["label"]]


def document_with(text: str, *ranges: tuple[int, int], start: int = 0) -> Document:
    spans = [Span(s, e, "_") for s, e in ranges]
    return Document("1", {"label": spans}, text=text, unit="character", start=start)


def refusal(data: str) -> str:
    with pytest.raises(FormatError) as caught:
        read_ltf(data, file="d.xml")
    assert "\n" not in str(caught.value)
    return str(caught.value)


# Reading


def test_the_text_is_the_body_without_its_tags_and_the_spans_are_the_elements() -> None:
    document = read_ltf("<body>from <e>Ulm</e> to <e>Köln</e>.</body>", file="d.xml")

    assert document.text == "from Ulm to Köln."
    assert positions(document) == [(5, 8), (12, 16)]
    assert [span.label for span in document.layers["label"]] == ["_", "_"]
    assert (document.unit, document.start, document.file) == ("character", 0, "d.xml")


@pytest.mark.parametrize("empty", ["<e/>", "<e></e>", "<e />"])
def test_an_empty_element_is_a_span_of_zero_length(empty: str) -> None:
    assert positions(read_ltf(f"<body>Name: {empty}</body>", file="d.xml")) == [(6, 6)]


def test_spans_may_touch() -> None:
    document = read_ltf("<body><e/><e>ab</e><e>c</e><e/><e/></body>", file="d.xml")

    assert positions(document) == [(0, 0), (0, 2), (2, 3), (3, 3), (3, 3)]


def test_positions_are_code_points_of_the_decoded_text() -> None:
    document = read_ltf("<body>a&amp;&lt;&#x1F600;😀<e>é</e></body>", file="d.xml")

    assert document.text == "a&<😀😀é"
    assert positions(document) == [(5, 6)]


def test_line_ends_become_lf_unless_written_as_a_reference() -> None:
    document = read_ltf("<body>a\r\nb\rc&#13;\n<e>d</e></body>", file="d.xml")

    assert document.text == "a\nb\nc\r\nd"
    assert positions(document) == [(7, 8)]


def test_a_span_knows_its_line() -> None:
    (first, second) = read_ltf("<body>\n<e>a\nb</e>\n<e/></body>", file="d.xml").layers["label"]

    assert (first.line, second.line) == (2, 4)


@pytest.mark.parametrize(
    "data",
    [
        "<body>ä<e>ß</e></body>",
        "\ufeff<body>ä<e>ß</e></body>",
        "<?xml version='1.0'?>\n<body>ä<e>ß</e></body>\r\n \n",
        # What is given is decoded: the encoding that is named has done its work.
        "<?xml version='1.0' encoding='ISO-8859-1'?><body>ä<e>ß</e></body>",
        "<?xml version='1.0' encoding='UTF-16'?><body>ä<e>ß</e></body>",
        "<body>&#228;<e><![CDATA[ß]]></e></body>",
    ],
)
def test_the_same_document_may_be_written_in_several_ways(data: str) -> None:
    assert read_ltf(data, file="d.xml") == document_with("äß", (1, 2))


@pytest.mark.parametrize("data", ["<body/>", "<body></body>"])
def test_a_document_may_be_empty(data: str) -> None:
    document = read_ltf(data, file="d.xml")

    assert (document.text, document.layers) == ("", {"label": []})


def test_spans_of_a_long_text_are_where_they_were_written() -> None:
    # Longer than any buffer of the parser, which delivers text in pieces.
    document = document_with("ä" * 100_000 + "x" * 50_000 + "\n", (99_999, 140_001), (150_001, 150_001))

    assert read_ltf(write_ltf(document), file="d.xml") == document


# What is refused


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            "<body>\n<e>a\n<e>b</e></e></body>",
            "d.xml:3: an element <e> within the <e> of line 2 (spans of this format do not nest)",
        ),
        (
            "<body>\n\n<b>x</b></body>",
            "d.xml:3: an element <b> in the text (only <e> is allowed; write &lt; for the character)",
        ),
        (
            "<body><e><body/></e></body>",
            "d.xml:1: an element <body> in the text (only <e> is allowed; write &lt; for the character)",
        ),
        ("<text>x</text>", "d.xml:1: the outermost element is <text>, not <body>"),
        ("<e>x</e>", "d.xml:1: the outermost element is <e>, not <body>"),
        (
            "<body>\n<e type='PER'/></body>",
            "d.xml:2: an attribute 'type' of <e> (this format has none; remove it)",
        ),
        ("<body id='1'/>", "d.xml:1: an attribute 'id' of <body> (this format has none; remove it)"),
        ("<body xmlns='u'/>", "d.xml:1: an attribute 'xmlns' of <body> (this format has none; remove it)"),
        ("<body>\n<!-- x --></body>", "d.xml:2: a comment (remove it)"),
        ("<!-- x -->\n<body/>", "d.xml:1: a comment (remove it)"),
        ("<body>\n<?go now?></body>", "d.xml:2: a processing instruction 'go' (remove it)"),
    ],
)
def test_elements_outside_the_format_are_refused_with_their_line(data: str, message: str) -> None:
    assert refusal(data) == message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "d.xml:1: not well-formed XML: no element found, column 1"),
        ("<body/>\nx", "d.xml:2: not well-formed XML: junk after document element, column 1"),
        ("<body/>\n<body/>", "d.xml:2: not well-formed XML: junk after document element, column 1"),
        ("<body>\n<e>x</body>", "d.xml:2: not well-formed XML: mismatched tag, column 7"),
        ("<body>a < b</body>", "d.xml:1: not well-formed XML: not well-formed (invalid token), column 10"),
        (
            "<body>\n&#1;</body>",
            "d.xml:2: not well-formed XML: reference to invalid character number, column 1",
        ),
        ("<body>\x01</body>", "d.xml:1: not well-formed XML: not well-formed (invalid token), column 7"),
        ("<body>\n\ud800</body>", "d.xml:2: half of a surrogate pair, U+D800"),
    ],
)
def test_malformed_xml_is_refused_with_its_line(data: str, message: str) -> None:
    assert refusal(data) == message


def test_undefined_entity_is_refused_with_the_allowed_ones() -> None:
    assert refusal("<body>\n&nbsp;</body>") == (
        "d.xml:2: not well-formed XML: undefined entity, column 1 "
        "(only &amp; &lt; &gt; &quot; &apos; and character references are defined)"
    )


@pytest.mark.parametrize(
    "doctype",
    [
        "<!DOCTYPE body>",
        '<!DOCTYPE body SYSTEM "http://example.org/body.dtd">',
        '<!DOCTYPE body [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]>',
        # Malformed within: it is refused before that is read.
        "<!DOCTYPE body [<!ENTITY ???>]>",
    ],
)
def test_a_dtd_is_refused_unread(doctype: str) -> None:
    assert refusal(f"<?xml version='1.0'?>\n{doctype}\n<body/>") == (
        "d.xml:2: a document type declaration (DTD) (remove it)"
    )


def test_an_error_does_not_quote_the_text() -> None:
    for data in [
        "<body>SECRET<e><e/></e></body>",
        "<body>SECRET & more</body>",
        "<body>SECRET",
        "<body>SECRET<!--S--></body>",
    ]:
        assert "SECRET" not in refusal(data)


# Writing


def test_tags_are_written_around_the_spans() -> None:
    document = document_with("abcd", (0, 0), (0, 2), (2, 3), (4, 4))

    assert write_ltf(document) == "<body><e/><e>ab</e><e>c</e>d<e/></body>\n"


def test_spans_are_written_in_order_of_position() -> None:
    assert write_ltf(document_with("abc", (2, 3), (0, 1))) == "<body><e>a</e>b<e>c</e></body>\n"


def test_characters_that_xml_reads_as_markup_or_changes_are_escaped() -> None:
    assert write_ltf(document_with("a<b&c]]>\r\n\t")) == "<body>a&lt;b&amp;c]]&gt;&#13;\n\t</body>\n"


def test_positions_count_from_the_start_of_the_document() -> None:
    assert write_ltf(document_with("abcd", (11, 13), start=10)) == "<body>a<e>bc</e>d</body>\n"


def test_a_layer_is_chosen_by_name() -> None:
    layers = {"risk": [Span(0, 1, "high")], "entity": [Span(1, 2, "PER")]}

    assert (
        write_ltf(Document("d", layers, text="ab", unit="character"), "entity") == "<body>a<e>b</e></body>\n"
    )


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
        write_ltf(document_with("abcdefghi", *ranges))

    assert str(caught.value) == (
        f"document '1': cannot be written as ltf: it has the spans {named}, which overlap"
    )


@pytest.mark.parametrize("character", ["\0", "\x08", "\x0b", "\x1f", "\udfff", "\ufffe", "\uffff"])
def test_character_that_xml_cannot_contain_is_refused_with_its_position(character: str) -> None:
    document = Document(
        "d7", {"label": []}, text=f"abc{character}", unit="character", start=10, file="d.json"
    )

    with pytest.raises(FormatError) as caught:
        write_ltf(document)

    assert str(caught.value) == (
        "d.json, document 'd7': cannot be written as ltf: it has the character "
        f"U+{ord(character):04X} at position 13 (XML has no way to write it; replace it)"
    )


def test_spans_with_different_labels_are_not_written() -> None:
    layers = {"label": [Span(0, 1, "A"), Span(1, 2, "B")]}

    with pytest.raises(UsageError) as caught:
        write_ltf(Document("d", layers, text="ab", unit="character"), "label")

    assert str(caught.value).endswith(
        "cannot be written as ltf: it has the spans [0,1) 'A' and [1,2) 'B' with different labels (write the spans of "
        "one label, as in label='person')"
    )


# Laws

characters = st.one_of(
    st.sampled_from("ab <>&\"'\r\n\t]\x85\u2028\ufeff\x7f"),
    st.characters(exclude_categories=["Cs"], exclude_characters="\ufffe\uffff", min_codepoint=0x20),
)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(st.text(characters, max_size=20))
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pairs = list(zip(cuts[::2], cuts[1::2], strict=False))
    return document_with(text, *pairs)


@given(documents())
@example(document_with("]]>\r\n&lt;\r", (0, 0), (0, 3), (3, 4), (9, 10), (10, 10)))
def test_written_document_is_read_back(document: Document) -> None:
    assert read_ltf(write_ltf(document), file="d.xml") == document


@given(st.text(st.characters(exclude_categories=["Cs"]) | st.characters(max_codepoint=0x20), max_size=5))
def test_a_text_is_either_read_back_or_refused(text: str) -> None:
    document = document_with(text)
    try:
        written = write_ltf(document)
    except FormatError:
        assert any((c < " " and c not in "\t\n\r") or c in "\ufffe\uffff" for c in text)
    else:
        assert read_ltf(written, file="d.xml") == document


pieces = st.sampled_from(
    [
        "<body>",
        "</body>",
        "<e>",
        "</e>",
        "<e/>",
        "a",
        "\n",
        "&amp;",
        "&x;",
        "<b>",
        "<!--",
        "-->",
        "<!DOCTYPE",
        "]]>",
    ]
)


@given(st.lists(pieces, max_size=12).map("".join) | st.text(max_size=12))
def test_any_input_is_a_document_or_one_clear_error(data: str) -> None:
    result: Document | FormatError
    try:
        result = read_ltf(data, file="d.xml")
    except FormatError as error:
        result = error

    if isinstance(result, FormatError):
        assert result.line in range(1, data.count("\n") + data.count("\r") + 2)
        assert str(result).startswith(f"d.xml:{result.line}: ")
        assert "\n" not in str(result)
    else:
        assert read_ltf(write_ltf(result), file="d.xml") == result
