"""The file formats, by name. One file each; they never import each other.

Column formats have one token per line and deliver raw passages; the others deliver documents.

`columns` is what the column formats share. Nothing here knows of a second file or a metric.
"""

from __future__ import annotations

import re
from types import ModuleType

from clueval.formats import conll, fair_spans, spans_table, vrt
from clueval.tagging.schemes import INVALID

COLUMN_FORMATS: dict[str, ModuleType] = {"vrt": vrt, "conll": conll}
FORMATS = (*COLUMN_FORMATS, "spans", "fair-spans", "conll2000", "ltf", "nerval", "gate-xml", "bdoc")

TREATMENTS = {
    **dict.fromkeys(COLUMN_FORMATS, INVALID),
    "conll2000": ("conlleval", "error"),
    "nerval": ("discard", "error"),
}
"""Of each format that has tags, how it can treat ill-formed ones; the first is what it does unless told otherwise."""

_BEGINNINGS = {"<body>": "ltf", "<body/>": "ltf", "<GateDocument": "gate-xml", '"annotation_sets"': "bdoc"}
"""What tells a format wherever it stands in the first lines."""

_XML = re.compile(r"\s*<(/?[^\W\d][^\t]*>|\?xml|!--)")


def format_of(file_name: str, first_lines: str) -> str:
    """The format of a file, told by its first lines that are not blank, else by its name.

    Stacked tags of CoNLL-2000 look like any other tags: that format has to be named.
    """
    for beginning, name in _BEGINNINGS.items():
        if beginning in first_lines:
            return name
    first_line = first_lines.partition("\n")[0]
    if _XML.match(first_line):
        return "vrt"
    if spans_table.is_table(first_line):
        return "spans"
    if fair_spans.is_span_line(first_line) and all(value.isdigit() for value in first_line.split("\t")[1:3]):
        return "fair-spans"
    return "vrt" if file_name.removesuffix(".gz").endswith((".vrt", ".vert")) else "conll"
