"""The file formats, by name. One file each; they never import each other.

Column formats have one token per line and deliver raw passages; the others deliver documents.
"""

from __future__ import annotations

import re
from types import ModuleType

from clueval.formats import conll, fair_spans, spans_table, vrt

COLUMN_FORMATS: dict[str, ModuleType] = {"vrt": vrt, "conll": conll}
FORMATS = (*COLUMN_FORMATS, "spans", "fair-spans", "conll2000", "ltf")

_XML = re.compile(r"\s*<(/?[^\W\d][^\t]*>|\?xml|!--)")


def format_of(name: str, first_line: str) -> str:
    """The format of a file, told by its first line that is not blank, else by its name.

    Stacked tags of CoNLL-2000 look like any other tags: that format has to be named.
    """
    if first_line.lstrip().startswith("<body"):
        return "ltf"
    if _XML.match(first_line):
        return "vrt"
    if spans_table.is_table(first_line):
        return "spans"
    if fair_spans.is_span_line(first_line) and all(value.isdigit() for value in first_line.split("\t")[1:3]):
        return "fair-spans"
    return "vrt" if name.removesuffix(".gz").endswith((".vrt", ".vert")) else "conll"
