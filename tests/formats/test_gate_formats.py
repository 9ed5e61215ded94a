"""GATE's XML documents, bdoc, and the TSV report: what is read, what is written, what is refused."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval import score
from clueval.compat.gate import COLUMNS, PLACE, table_lines
from clueval.core.document import Document
from clueval.core.span import Span
from clueval.files.errors import FormatError, SpanError, UsageError
from clueval.formats.gate_xml import write_gate_xml
from clueval.formats.input_file import InputFile
from clueval.formats.options import EVERY_SET, FormatOptions
from clueval.metrics.gate import Gate
from tests.formats.outcomes import read_as

XML = """<?xml version='1.0' encoding='utf-8'?>
<GateDocument version="3">
<GateDocumentFeatures>
<Feature>
  <Name className="java.lang.String">domain</Name>
  <Value className="java.lang.String">civil</Value>
</Feature>
</GateDocumentFeatures>
<TextWithNodes><Node id="0"/>Ada<Node id="3"/> &amp; \U0001f600 <Node id="9"/>Bob<Node id="12"/>.</TextWithNodes>
<AnnotationSet>
<Annotation Id="0" Type="Token" StartNode="0" EndNode="3">
</Annotation>
</AnnotationSet>
<AnnotationSet Name="Key">
<Annotation Id="7" Type="Person" StartNode="9" EndNode="12">
<Feature>
  <Name className="java.lang.String">score</Name>
  <Value className="java.lang.Double">0.75</Value>
</Feature>
<Feature>
  <Name className="java.lang.String">n</Name>
  <Value className="java.lang.Integer">3</Value>
</Feature>
<Feature>
  <Name className="java.lang.String">sure</Name>
  <Value className="java.lang.Boolean">true</Value>
</Feature>
<Feature>
  <Name className="java.lang.String">ids</Name>
  <Value className="java.util.ArrayList" itemClassName="java.lang.Integer">4;5</Value>
</Feature>
<Feature>
  <Name className="java.lang.String">kind</Name>
  <Value className="java.lang.String"> a; b </Value>
</Feature>
</Annotation>
</AnnotationSet>
</GateDocument>
"""

TEXT = "Ada & \U0001f600 Bob."


def as_xml(text: str = '<Node id="0"/>Ada<Node id="3"/>', sets: str = "", before: str = "") -> str:
    return f"{before}<GateDocument><TextWithNodes>{text}</TextWithNodes>{sets}</GateDocument>"


def annotation(start: object = 0, end: object = 3, number: object = 1, features: str = "") -> str:
    return (
        f'<AnnotationSet Name="Key"><Annotation Id="{number}" Type="Person" StartNode="{start}" '
        f'EndNode="{end}">{features}</Annotation></AnnotationSet>'
    )


def as_bdoc(annotations: object, text: object = TEXT, offsets: object = "p", **more: object) -> str:
    sets = {"Key": {"name": "Key", "annotations": annotations, "next_annid": 9}}
    return json.dumps({"text": text, "offset_type": offsets, "annotation_sets": sets, **more})


def in_bdoc(start: object, end: object, number: object = 1, **more: object) -> dict[str, object]:
    return {"type": "Person", "start": start, "end": end, "id": number, "features": {}, **more}


def read_content(data: str | bytes, file: str, name: str) -> Document:
    with TemporaryDirectory() as folder, chdir(folder):
        Path(file).write_bytes(data if isinstance(data, bytes) else data.encode(errors="surrogatepass"))
        (document,) = read_as(InputFile(Path(file)), FormatOptions(annotation_set=EVERY_SET), name)
    return document


def read_bdoc(data: str, file: str) -> Document:
    return read_content(data, file, "bdoc")


def read_gate_xml(data: str | bytes) -> Document:
    return read_content(data, "d.xml", "gate-xml")


def place_and_features(document: Document, name: str) -> list[tuple[Any, ...]]:
    return [(s.start, s.end, s.label, s.id, dict(s.features)) for s in document.layers[name]]


# GATE XML


def test_gate_xml_becomes_a_document_with_its_sets_as_layers() -> None:
    document = read_gate_xml(XML)

    assert document.text == TEXT
    assert (document.id, document.unit, document.metadata) == ("1", "character", {"domain": "civil"})
    assert place_and_features(document, "") == [(0, 3, "Token", 0, {})]
    assert place_and_features(document, "Key") == [
        (8, 11, "Person", 7, {"score": 0.75, "n": 3, "sure": True, "ids": [4, 5], "kind": " a; b "})
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
def test_bytes_are_decoded_as_the_file_declares(encoding: str) -> None:
    declared = f'<?xml version="1.0" encoding="{encoding.removesuffix("-sig")}"?>'
    data = as_xml('<Node id="0"/>Zoë<Node id="3"/>', annotation(), declared).encode(encoding)

    document = read_gate_xml(data)

    assert [document.text_of(span) for span in document.layers["Key"]] == ["Zoë"]


def test_line_ends_are_those_that_xml_delivers_and_nodes_stay_with_their_text() -> None:
    data = as_xml('a\r\n<Node id="3"/>Ada<Node id="6"/>', annotation(3, 6))

    document = read_gate_xml(data)

    assert [document.text_of(span) for span in document.layers["Key"]] == ["Ada"]


def test_relations_are_ignored() -> None:
    relations = '<RelationSet><Relation Id="1" Type="r"><Value>x</Value></Relation></RelationSet>'

    assert read_gate_xml(as_xml(sets=annotation() + relations)).layers.keys() == {"Key"}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (as_xml(before='<!DOCTYPE x [<!ENTITY a "aaaa">]>'), r"d\.xml:1.*document type declaration"),
        (as_xml(sets=annotation(0, 4)), r"document '1': annotation 1 'Person' .* node '4'"),
        (as_xml(sets=annotation(3, 0)), "annotation 1 'Person' ends before it starts"),
        (as_xml(sets=annotation(number="x")), "the id 'x', which is not a number"),
        (as_xml(sets=annotation() + annotation()), "a second annotation set 'Key'"),
        (
            as_xml(sets=annotation().replace("</AnnotationSet>", "") + annotation()[26:]),
            "annotation 1 'Person' has an id that another annotation",
        ),
        (as_xml('<Node id="0"/>A<Node id="0"/>'), "a second <Node> with the id '0'"),
        (as_xml("<b>A</b>"), "an element <b> in <TextWithNodes>"),
        (as_xml()[:-5], "not well-formed XML"),
        ("<html/>", "an element <html> as the outermost element"),
        ("", "not well-formed XML: no element found"),
        ("<GateDocument></GateDocument>", "has no <TextWithNodes>"),
        (as_xml(sets="<TextWithNodes/>"), "a second <TextWithNodes>"),
        ("<GateDocument>text</GateDocument>", "text in <GateDocument>"),
        (
            as_xml(
                sets=annotation(
                    features="<Feature><Name>n</Name><Value className='java.lang.Integer'>x</Value></Feature>"
                )
            ),
            "feature 'n' of annotation 1 has the value 'x', which is not a java.lang.Integer",
        ),
        (as_xml(sets=annotation(features="<Feature><Value>x</Value></Feature>")), "before its <Name>"),
        (as_xml(sets=annotation(features="<Feature><Name>n</Name></Feature>")), "'n' has no <Value>"),
        (b"<GateDocument>\xff</GateDocument>", "not in the encoding 'utf-8'"),
        (b"<?xml version='1.0' encoding='x'?><GateDocument/>", "not in the encoding 'x'"),
        (as_xml("\ud83d"), "the text is not in the encoding 'utf-8'"),
        (
            as_xml(r"\ud83d", before="<?xml version='1.0' encoding='unicode_escape'?>"),
            "half of a surrogate pair, U\\+D83D",
        ),
    ],
)
def test_malformed_gate_xml_is_refused_with_its_line(data: str | bytes, message: str) -> None:
    with pytest.raises(FormatError, match=message) as caught:
        read_gate_xml(data)

    assert str(caught.value).startswith("d.xml")
    assert "\n" not in str(caught.value)


def test_added_set_leaves_the_rest_of_the_file_unchanged() -> None:
    added = {"Diff": [Span(8, 11, "Person_CS", {"score": 0.5, "ids": [1, 2], "id": 7, "x": 'a"<&'})]}

    written = write_gate_xml(XML.encode(), added, file="d.xml")
    again = read_gate_xml(written)

    start, end = written.index('<AnnotationSet Name="Diff">'), written.index("</GateDocument>")
    assert written[:start] + written[end:] == XML.replace("encoding='utf-8'", "encoding='UTF-8'")
    assert place_and_features(again, "Diff") == [(8, 11, "Person_CS", 8, dict(added["Diff"][0].features))]


def test_nodes_are_added_at_positions_without_a_node() -> None:
    written = write_gate_xml(XML.encode(), {"New": [Span(6, 7, "Smile"), Span(7, 7, "Point")]}, file="d.xml")

    again = read_gate_xml(written)

    assert [again.text_of(span) for span in again.layers["New"]] == ["\U0001f600", ""]
    assert '<Node id="6"/>\U0001f600<Node id="8"/>' in written
    assert (again.text, again.layers["Key"]) == (TEXT, read_gate_xml(XML).layers["Key"])


def test_an_empty_document_can_get_a_set() -> None:
    written = write_gate_xml(
        b"<GateDocument><TextWithNodes/></GateDocument>", {"": [Span(0, 0, "T")]}, file="d.xml"
    )

    assert place_and_features(read_gate_xml(written), "") == [(0, 0, "T", 0, {})]


@given(
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn"]) | st.just("\U0001f600")),
    st.data(),
)
def test_spans_written_to_gate_xml_are_read_back(text: str, data: st.DataObject) -> None:
    places = data.draw(st.lists(st.tuples(*[st.integers(0, len(text))] * 2).map(sorted), max_size=4))
    values = st.text("a;\" <&'", max_size=4) | st.integers(-5, 5) | st.booleans() | st.floats(0, 1)
    spans = [Span(s, e, {"New": "T"}, {"v": data.draw(values)}) for s, e in places]
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

    xml = write_gate_xml(as_xml(escaped).encode(), {"New": spans}, file="d.xml")
    assert list(read_gate_xml(xml).layers["New"]) == spans


@pytest.mark.parametrize(
    ("added", "message"),
    [
        ({"Key": []}, "an annotation set 'Key' already"),
        ({"New": [Span(0, 99, "T")]}, r"span \[0,99\) 'T' of the new set 'New' ends after the text"),
        ({"New": [Span(0, 1, "T", {"f": {"a": 1}})]}, "feature 'f' of span .* cannot represent"),
        ({"New": [Span(0, 1, "T", {"f": ["a;b"]})]}, "feature 'f' of span .* cannot represent"),
        ({"New": [Span(0, 1, "T", {"f": [1, "a"]})]}, "feature 'f' of span .* cannot represent"),
    ],
)
def test_values_that_gate_xml_cannot_represent_are_refused(
    added: Mapping[str, Sequence[Span]], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        write_gate_xml(XML.encode(), added, file="d.xml")


def test_characters_that_xml_cannot_contain_are_refused() -> None:
    with pytest.raises(FormatError, match=r"U\+0001"):
        write_gate_xml(XML.encode(), {"New": [Span(0, 1, "T\x01")]}, file="d.xml")


# Bdoc


@pytest.mark.parametrize(("offsets", "start", "end"), [("p", 8, 11), ("j", 9, 12)])
def test_bdoc_positions_become_code_points(offsets: str, start: int, end: int) -> None:
    document = read_bdoc(
        as_bdoc([in_bdoc(start, end, 7, features={"score": 0.5})], offsets=offsets), file="d"
    )

    assert place_and_features(document, "Key") == [(8, 11, "Person", 7, {"score": 0.5})]


def test_bdoc_has_the_name_in_the_file_as_its_id() -> None:
    data = as_bdoc([], name="doc7", features={"domain": "civil", "n": 3})

    assert read_bdoc(data, file="d").id == "doc7"
    assert read_bdoc(as_bdoc([]), file="d").id == "1"
    assert read_bdoc(data, file="d").metadata == {"domain": "civil", "n": "3"}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("{", "d.bdocjs:1: not JSON"),
        ("[3]", "the row is not an object"),
        ("{}", "the offset_type is None"),
        (as_bdoc([], offsets="x"), "the offset_type is 'x'"),
        (as_bdoc([], text=3), "'text' is not a text"),
        (as_bdoc([], text="\ud83d", offsets="j"), "half of a surrogate pair"),
        (as_bdoc({}), "annotation set 'Key' has no list"),
        (as_bdoc([3]), "an annotation is not an object"),
        (as_bdoc([in_bdoc(0, 13)]), r"span \[0,13\) 'Person' .* lies outside the text"),
        (as_bdoc([in_bdoc(-1, 3)]), r"span \[-1,3\) 'Person' starts before position 0"),
        (as_bdoc([in_bdoc(3, 1)]), r"span \[3,1\) 'Person' ends before it starts"),
        (as_bdoc([in_bdoc(0, 7)], offsets="j"), "annotation 1 .* the end 7, .*within a character"),
        (as_bdoc([in_bdoc(0, True)]), "the end of a span is True, not a whole number"),
        (as_bdoc([in_bdoc(0, 1.5)]), "the end of a span is 1.5, not a whole number"),
        (as_bdoc([in_bdoc(0, 1), in_bdoc(0, 2)]), "two annotations of set 'Key' have the id 1"),
        (as_bdoc([in_bdoc(0, 1, "a")]), "annotation 'a' of set 'Key' has an id that is not a whole number"),
        (as_bdoc([in_bdoc(0, 1, type="")]), "annotation 1 of set 'Key' has no type"),
        (as_bdoc([in_bdoc(0, 1, features=[1])]), "the features of annotation 1"),
    ],
)
def test_malformed_bdoc_is_refused_with_its_line_or_annotation(data: str, message: str) -> None:
    with pytest.raises((FormatError, SpanError), match=message) as caught:
        read_bdoc(data, file="d.bdocjs")

    assert str(caught.value).startswith("d.bdocjs")
    assert "\n" not in str(caught.value)


# The TSV report

GOLD = [Span(0, 3, "A"), Span(5, 8, "B")]
FOUND = [Span(0, 3, "A1", {"s": 0.5}), Span(5, 9, "B", {"s": 1})]


def report_of(metric: Gate, reference: Sequence[Span] | None = None) -> list[dict[str, str]]:
    sides = [
        None if spans is None else [Document("d1", {"label": spans}, text="abcdefghij", unit="character")]
        for spans in (GOLD, FOUND, reference)
    ]
    result = score(sides[0], sides[1], reference=sides[2], metrics=metric, resample_by="document")
    lines = table_lines(result, evaluation="e1", response_set="Resp", reference_set="Ref")
    return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_the_report_has_31_columns_in_every_row() -> None:
    rows = report_of(Gate(types=("A=A1", "B"), score_feature="s"))

    assert len(PLACE) + len(COLUMNS) == 31
    assert all(list(row) == [*PLACE, *COLUMNS] and None not in row.values() for row in rows)


def test_report_has_rows_per_document_then_type_then_all_types_then_macro() -> None:
    rows = report_of(Gate(types=("A=A1", "B"), score_feature="s"), reference=FOUND[:1])

    assert [
        (row["docName"], row["setName"], row["annotationType"], row["evaluationType"], row["threshold"])
        for row in rows
    ] == [
        ("d1", "Resp", "[type:all:micro]", "normal", "NaN"),
        ("d1", "Ref", "[type:all:micro]", "normal", "NaN"),
        ("d1", "Resp", "A=A1", "normal", "NaN"),
        ("d1", "Ref", "A=A1", "normal", "NaN"),
        ("d1", "Resp", "B", "normal", "NaN"),
        ("d1", "Ref", "B", "normal", "NaN"),
        ("[doc:all:micro]", "Resp", "A=A1", "normal", "NaN"),
        ("[doc:all:micro]", "Ref", "A=A1", "normal", "NaN"),
        ("[doc:all:micro]", "Resp", "A=A1", "score", "0.5"),
        ("[doc:all:micro]", "Resp", "A=A1", "score", "Infinity"),
        ("[doc:all:micro]", "Resp", "B", "normal", "NaN"),
        ("[doc:all:micro]", "Ref", "B", "normal", "NaN"),
        ("[doc:all:micro]", "Resp", "B", "score", "1.0"),
        ("[doc:all:micro]", "Resp", "B", "score", "Infinity"),
        ("[doc:all:micro]", "Resp", "[type:all:micro]", "normal", "NaN"),
        ("[doc:all:micro]", "Ref", "[type:all:micro]", "normal", "NaN"),
        ("[doc:all:micro]", "Resp", "[type:all:micro]", "score", "0.5"),
        ("[doc:all:micro]", "Resp", "[type:all:micro]", "score", "1.0"),
        ("[doc:all:micro]", "Resp", "[type:all:micro]", "score", "Infinity"),
        ("[doc:all:micro]", "Resp", "[type:all:macro]", "normal", "NaN"),
        ("[doc:all:micro]", "Ref", "[type:all:macro]", "normal", "NaN"),
    ]


def test_report_has_the_numbers_of_the_metric() -> None:
    rows = report_of(Gate(types=("A=A1", "B")))
    macro = rows[-1]

    assert [macro[name] for name in ("evaluationId", "precisionStrict", "recallLenient", "accuracyStrict")] == [
        "e1", "0.5", "1.0", "0.5",
    ]  # fmt: skip
    assert (macro["targets"], macro["correctStrict"], macro["correctPartial"]) == ("2", "1", "1")


def test_a_single_type_has_no_rows_over_all_types() -> None:
    rows = report_of(Gate(types=("B",)))

    assert {row["annotationType"] for row in rows} == {"B"}
    assert len(rows) == 2


def test_an_empty_corpus_has_its_rows() -> None:
    lines = list(table_lines(score([], [], metrics="gate", resample_by="document")))

    assert [line.split("\t")[4] for line in lines[1:]] == ["[type:all:micro]", "[type:all:macro]"]
