"""The file formats. Each format has a record, which holds all its properties; most have a module of their own.

Read `format` (the record), `recognition` (how formats are recognised), `opened` (a file that is open for a
format), then any format. The package `columns` holds the shared code of the formats with one token per line:
these formats return raw passages, the other formats return documents. Formats do not import each other, and
do not deal with a second file or with metrics.

A new format needs a record in a module, one line in `FORMATS` and, if it is to be recognised without ``--input``, one
line in `ORDER` or `ENDINGS`. With a line in `MARKS` or `OF_JSON`, it is imported only for files that may have it.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module

from clueval.files.errors import FormatError, UsageError
from clueval.formats.format import Format
from clueval.formats.recognition import Beginning, is_csv

FORMATS = {
    "vrt": "clueval.formats.vrt",
    "conll": "clueval.formats.conll",
    "spans": "clueval.formats.spans_table",
    "conll2000": "clueval.formats.fair_formats",
    "fair-spans": "clueval.formats.fair_formats",
    "ltf": "clueval.formats.ltf",
    "nerval": "clueval.formats.nerval",
    "gate-xml": "clueval.formats.gate_xml",
    "bdoc": "clueval.formats.bdoc",
    "brat": "clueval.formats.brat",
    "doccano": "clueval.formats.doccano",
    "prodigy": "clueval.formats.prodigy",
    "label-studio": "clueval.formats.label_studio",
    "spacy-json": "clueval.formats.spacy_json",
    "token-rows": "clueval.formats.token_rows",
    "tab": "clueval.formats.tab",
    "w2ner": "clueval.formats.w2ner",
    "langextract": "clueval.formats.object_rows",
    "ai4privacy": "clueval.formats.object_rows",
    "nemotron": "clueval.formats.object_rows",
    "presidio": "clueval.formats.object_rows",
    "gliner": "clueval.formats.token_spans",
    "spert": "clueval.formats.token_spans",
    "comprehend": "clueval.formats.object_rows",
    "conllu": "clueval.formats.conllu",
    "conll2012": "clueval.formats.conll2012",
    "i2b2": "clueval.formats.i2b2",
    "i2b2-2006": "clueval.formats.i2b2",
    "inline": "clueval.formats.inline",
    "mentions": "clueval.formats.mentions",
    "webanno": "clueval.formats.webanno",
    "docbin": "clueval.formats.docbin",
    "xmi": "clueval.formats.xmi",
    "uima-json": "clueval.formats.xmi",
    "tags": "clueval.formats.tags",
}
"""The module of each format by its name; it is imported when it is needed."""

ORDER = [
    *("conll2012", "webanno", "xmi", "uima-json", "i2b2", "i2b2-2006", "conllu", "ltf", "gate-xml", "bdoc"),
    *("label-studio", "langextract", "ai4privacy", "nemotron", "presidio", "gliner", "spert", "comprehend"),
    *("prodigy", "spacy-json", "w2ner", "token-rows", "doccano", "tab"),
    *("vrt", "spans", "fair-spans", "tags", "nerval", "conll"),
]
"""The formats that are recognised, in the order in which their signs are tried; the first match decides."""

MARKS = {
    "conll2012": ("#begin document",),
    "webanno": ("#FORMAT=WebAnno", "#id="),
    "xmi": ("<xmi:XMI",),
    "i2b2": ("<deIdi2b2", "<MEDDOCAN", "<TEXT><![CDATA["),
    "i2b2-2006": ("<RECORD ID=",),
    "conllu": ("#", "1"),
    "ltf": ("<body>", "<body/>"),
    "gate-xml": ("<GateDocument",),
    "vrt": ("<",),
    "spans": ("start", "Start", "begin", "Begin", "von", "Von", '"'),
}
"""Strings of which the first lines of a file have one if a sign of the format holds that is not sought in JSON."""

OF_JSON = {
    *("langextract", "ai4privacy", "nemotron", "presidio", "gliner", "spert", "comprehend"),
    *("uima-json", "bdoc", "label-studio", "prodigy", "spacy-json", "w2ner", "token-rows", "doccano", "tab"),
}
"""The formats with signs in JSON. Neither these nor those with marks are imported for a file that cannot have them."""


ENDINGS = {
    ".vrt": "vrt",
    ".vert": "vrt",
    ".ann": "brat",
    ".a1": "brat",
    ".conllu": "conllu",
    ".conllup": "conllu",
    ".gold_conll": "conll2012",
    ".auto_conll": "conll2012",
    ".spacy": "docbin",
    ".xmi": "xmi",
}
"""The endings of file names, before ``.gz``, that decide before any sign is tried; also in the records."""


GROUPED = (".ann", ".a1", ".xmi")
"""The endings of the files of a folder to read where there are such; the other files belong to them."""


def format_named(name: str) -> Format:
    """Return the record of a format. Raises `UsageError` for an unknown name."""
    if name not in FORMATS:
        raise UsageError(f"unknown format {name!r}", advice=f"one of {', '.join(FORMATS)}")
    return _record(FORMATS[name], name)


@cache
def _record(module: str, name: str) -> Format:
    """Return a record of a module. It is kept, because there may be thousands of small files."""
    records = [value for value in vars(import_module(module)).values() if isinstance(value, Format)]
    return next(record for record in records if record.name == name)


def all_formats() -> list[Format]:
    """Return the records of all formats."""
    return [format_named(name) for name in FORMATS]


def format_by_ending(file_name: str) -> Format | None:
    """Return the format that the ending of a file name decides, before ``.gz``; None if it decides none."""
    _, dot, ending = file_name.removesuffix(".gz").rpartition(".")
    name = ENDINGS.get(dot + ending)
    return None if name is None else format_named(name)


_JSON = re.compile(r"[\ufeff\s]*+[\[{]")
"""What begins JSON, with any characters before it that any format passes over."""


def _may_have(name: str, beginning: Beginning, json: bool) -> bool:
    """Return whether a sign of the format could hold, as far as can be said without importing the format."""
    if name == "nerval":
        return beginning.whole_text
    if name == "tags":
        return any(line[0] == "#" or len(line.split()) == 1 for line in beginning.lines)
    if name == "fair-spans":
        return beginning.first_line.count("\t") == 3
    if name not in MARKS and name not in OF_JSON:
        return True
    marks = MARKS.get(name, ())
    return (json and name in OF_JSON) or any(mark in line for mark in marks for line in beginning.lines)


_UNREAD = {
    "confidenceScore": (
        "has entities of Azure, which counts positions in text elements and not in characters",
        'ask Azure for positions in code points (stringIndexType), and write {"text": ..., "spans": [...]}',
    ),
    "entity_group": (
        "has spans without texts, as a Hugging Face pipeline returns them",
        'write a row for each text, {"text": ..., "spans": [...]}, or score the lists in Python',
    ),
    "entity": (
        "has tokens without texts, as a Hugging Face pipeline returns them",
        "call it with aggregation_strategy='simple', and write a row for each text, "
        '{"text": ..., "entities": [...]}',
    ),
    "entities": (
        "has entities without texts",
        "add the text of each row, or input='mentions' if the entities are the answers of a language model",
    ),
    "start": (
        "has spans without texts",
        'write a row for each text, {"text": ..., "spans": [...]}, or score the lists in Python',
    ),
}
"""Keys of JSON that is not read: what is wrong, and what to do."""

_REFUSED = (
    (
        re.compile("\ufffd\ufffd.?\0"),
        "is UTF-16",
        "save the file as plain text in UTF-8, in Excel as 'CSV UTF-8'",
    ),
    (
        re.compile(r'c=".*" \d+:\d+ \d+:\d+\|\|t="'),
        "has concepts of i2b2 by line and word",
        "see clueval guide howto-i2b2 for a few lines of Python that do",
    ),
    (
        re.compile(r"[\w.-]+\|[ta]\|"),
        "is PubTator's format: a title and an abstract after bars, and spans below them",
        "see clueval guide howto-brat for a few lines of Python that convert it",
    ),
    (
        re.compile("PK\x03\x04|\ufffd*\x11\u0871\x1a"),
        "is a file of Word, Excel or another office program",
        "save a table as CSV or with tabs, and a text as plain text, in UTF-8",
    ),
    (re.compile("%PDF-"), "is a PDF file", "save its text as plain text, in UTF-8"),
)
"""What the first line of a file that is not read is like, what it is, and what to do."""

_LOOKED_AT = 10_000


def format_of(beginning: Beginning, file: str) -> Format:
    """Return the format of a file, given its beginning; `file` is its name in errors.

    Raises `FormatError`, which lists the formats that were tried, if none matches.
    """
    if (decided := format_by_ending(beginning.file_name)) is not None:
        return decided
    if {"clueval", "signature"} <= beginning.keys:
        advice = "give the files with spans; compare and gates read results that save=... wrote"
        raise FormatError("is a report or a saved result of clueval", file=file, line=1, advice=advice)
    for pattern, problem, advice in _REFUSED:
        if pattern.match(beginning.first_line.removeprefix("\ufeff")):
            raise FormatError(f"{problem}, which clueval does not read", file=file, line=1, advice=advice)
    text = beginning.text
    json = _JSON.match(text) is not None or '"entity_mentions"' in text  # a sign of `tab` may come later
    for name in ORDER:
        if _may_have(name, beginning, json) and (form := format_named(name)).has(beginning):
            return form
    is_json = beginning.text.lstrip("\ufeff \t\r\n").startswith(("{", "["))
    for key, (problem, advice) in _UNREAD.items() if is_json else ():
        if f'"{key}"' in beginning.text[:_LOOKED_AT]:
            raise FormatError(problem, file=file, line=1, advice=advice)
    if not is_json and is_csv(beginning.first_line):
        raise FormatError(
            "the format is not recognised: the first line has commas or semicolons",
            file=file,
            line=1,
            advice="separate the columns of tokens and tags by tabs, and sentences by empty lines (see clueval guide "
            "howto-conll); a table of spans has the columns document, start, end_exclusive and label",
        )
    tried = [form for form in map(format_named, ORDER) if form.is_sought_in(is_json)]
    names = ", ".join(form.name for form in tried)
    raise FormatError(
        f"the format is not recognised: no format has such {'keys' if is_json else 'first lines'}",
        file=file,
        line=1,
        advice=f"name it with input=...; tried {names}; 'clueval formats' shows how each is recognised",
    )
