"""Marks spare the import of formats, and change nothing in what is recognised."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.files.errors import FormatError
from clueval.formats import MARKS, OF_JSON, ORDER, format_named, format_of
from clueval.formats.recognition import Beginning

TEXTS = [
    *("#begin document (a)\n", "#FORMAT=WebAnno TSV 3\n", "#id=1\n#text=a\n", "<xmi:XMI>", '{"%TYPES": {'),
    *('{"%FEATURE_STRUCTURES": [', "<deIdi2b2>", "<MEDDOCAN>", "<TEXT><![CDATA[", '<RECORD ID="1">'),
    *("# global.columns = FORM\n", "1\t_\t_\t_\t_\t_\t2\t_\t_\t_\n", "1-2\t_\t_\t_\t_\t_\t_\t_\t_\t_\n"),
    *("<body>", "<body/>", "<GateDocument>", '{"annotation_sets": {', '{"annotation_id": 1, "annotator": 1'),
    *('{"data": {}, "predictions": [{"result"', '{"data": {"text": "a"}, "annotations": [', "[\n]", "{ }"),
    *(
        '{"_input_hash": 1, "answer": "a"',
        '{"text": "a", "spans": [',
        '{"paragraphs": [',
        '["a", {"entities"',
    ),
    *('{"text": "a", "ents": [', '{"classes": [], "annotations": [', '{"sentence": [], "ner": ['),
    *(
        '{"tokens": [], "tags": [',
        '{"words": [], "tags": [',
        '{"text": "a", "label": [',
        '{"data": "a", "label": [',
    ),
    *(
        '{"document_id": "a", "extractions": [',
        '{"privacy_mask": "',
        '{"unmasked_text": "a", "span_labels": [',
    ),
    *(
        '{"text": "a", "text_tagged": "a", "spans": [',
        '{"full_text": "a", "spans": [',
        '{"text": "a", "results": [',
    ),
    *('[{"entity_type": "A", "start": 0', '[[], [{"entity_type": "A"', '{"tokenized_text": ['),
    *('{"tokens": ["a"], "entities": [{"start": 0}', '{"Entities": [{"Score": 1}], "File": "a"'),
    *(
        "<s>\n",
        "start\tend\n",
        "Start\tEnd\n",
        *("begin\tend\n", "Begin\tEnd\n", "von\tbis\n", "Von\tBis\n"),
        'end,"st"art\n',
        '{"a": [[1, 2]]}',
        '"annotations": {"entity_mentions"',
    ),
]
"""Beginnings of files, at least one for each mark and for each sign."""

OTHERS = [
    "\n",
    "\t",
    " ",
    '"',
    ":",
    ",",
    "]",
    "\ufeff",
    "\v",
    "\xa0",
    "a",
    "a\tO\n",
    "PER\t1\t2\t1\n",
    "# a\n",
]


@pytest.mark.parametrize(("name", "mark"), [(name, mark) for name in MARKS for mark in MARKS[name]])
def test_mark_is_needed_by_a_sign_of_its_format(name: str, mark: str) -> None:
    only = [text for text in TEXTS if [each for each in MARKS[name] if each in text] == [mark]]

    assert [text for text in only if format_named(name).has(Beginning("a", text))]


def test_formats_of_json_are_those_with_a_sign_in_json() -> None:
    assert {name for name in ORDER if format_named(name).is_sought_in(json=True)} == OF_JSON


@given(texts=st.lists(st.sampled_from(TEXTS + OTHERS), max_size=6), whole_text=st.booleans())
def test_marks_rule_out_no_format_with_a_sign_that_holds(texts: list[str], whole_text: bool) -> None:
    beginning = Beginning("a", "".join(texts), whole_text)
    recognised = [name for name in ORDER if format_named(name).has(beginning)]

    try:
        found = [format_of(beginning, "a").name]
    except FormatError:
        found = []

    assert found == recognised[:1]
