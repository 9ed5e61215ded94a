"""Which format a file has: its name, its first lines and its first JSON row tell, in one place; so do rows in memory.

A description is imported when it is needed: by name, or if the beginning of a file has one of its marks.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from clueval.files.errors import UsageError
from clueval.second.formats.column_format import ColumnFormat
from clueval.second.formats.dialect import Dialect, keys_of
from clueval.second.formats.file_format import FileFormat
from clueval.second.formats.head import Head
from clueval.second.formats.markup import Markup
from clueval.second.formats.unread import refuse_row, refuse_text, refuse_unread_text

Form = Dialect | ColumnFormat | Markup | FileFormat
"""The description of a format."""


class _Described(NamedTuple):
    """Where the description of a format is: its name, its module, and the name of the value.

    `marks` are texts of which a file that has the format has one in its first three lines, or keys of which its first
    row has one if it is a format of JSON; none: any file may have it. `endings` are those of names of its files.
    """

    name: str
    module: str
    value: str
    marks: tuple[str, ...] = ()
    is_json: bool = False
    endings: tuple[str, ...] = ()


_RECOGNISED = (
    _Described(
        "conll2012", "conll2012", "CONLL2012", ("#begin document",), endings=(".gold_conll", ".auto_conll")
    ),
    _Described("webanno", "webanno", "WEBANNO", ("#FORMAT=WebAnno", "#id=")),
    _Described("xmi", "uima", "XMI", ("<xmi:XMI",), endings=(".xmi",)),
    _Described("i2b2", "markup", "I2B2", ("<",)),
    _Described("i2b2-2006", "markup", "I2B2_2006", ("<",)),
    _Described("conllu", "conllu", "CONLLU", ("#", "1"), endings=(".conllu", ".conllup")),
    _Described("ltf", "markup", "LTF", ("<body",)),
    _Described("gate-xml", "gate_xml", "GATE_XML", ("<GateDocument",)),
    _Described("uima-json", "uima", "UIMA_JSON", ("%TYPES", "%FEATURE_STRUCTURES"), is_json=True),
    _Described("bdoc", "bdoc", "BDOC", ("annotation_sets",), is_json=True),
    _Described("label-studio", "label_studio", "LABEL_STUDIO", ("data", "annotator"), is_json=True),
    _Described("langextract", "text_dialects", "LANGEXTRACT", is_json=True),
    _Described("ai4privacy", "text_dialects", "AI4PRIVACY", is_json=True),
    _Described("nemotron", "text_dialects", "NEMOTRON", is_json=True),
    _Described("presidio", "service_dialects", "PRESIDIO_SAMPLES", is_json=True),
    _Described("presidio", "service_dialects", "PRESIDIO_RESULTS", is_json=True),
    _Described("presidio", "service_dialects", "PRESIDIO_ANSWERS", is_json=True),
    _Described("gliner", "token_dialects", "GLINER", is_json=True),
    _Described("spert", "token_dialects", "SPERT", is_json=True),
    _Described("comprehend", "service_dialects", "COMPREHEND", is_json=True),
    _Described("prodigy", "text_dialects", "PRODIGY", is_json=True),
    _Described("spacy-json", "token_dialects", "SPACY_2", is_json=True),
    _Described("spacy-json", "token_dialects", "SPACY", is_json=True),
    _Described("w2ner", "token_dialects", "W2NER", is_json=True),
    _Described("token-rows", "token_dialects", "TOKEN_ROWS", is_json=True),
    _Described("doccano", "text_dialects", "DOCCANO", is_json=True),
    _Described("tab", "text_dialects", "TAB", is_json=True),
    _Described("tab", "text_dialects", "TAB_PREDICTIONS", is_json=True),
    _Described("mentions", "mentions", "MENTIONS", ("response", "output", "completion"), is_json=True),
    _Described("vrt", "vrt", "VRT", ("<",), endings=(".vrt", ".vert")),
    _Described(
        "spans",
        "tables",
        "SPANS",
        ("start", "Start", "begin", "Begin", "von", "Von", '"'),
        endings=(".xlsx",),
    ),
    _Described("fair-spans", "fair", "FAIR_SPANS", ("\t",)),
    _Described("tags", "tags", "TAGS"),
    _Described("nerval", "nerval", "NERVAL"),
    _Described("conll", "conll", "HIPE"),
    _Described("conll", "conll", "NUMBERED"),
    _Described("conll", "conll", "CONLL"),
)
"""The descriptions of formats that are recognised, in the order in which they are tried."""

_NAMED = (
    _Described("brat", "brat", "BRAT", endings=(".ann", ".a1")),
    _Described("docbin", "docbin", "DOCBIN", endings=(".spacy",)),
    _Described("inline", "inline", "INLINE"),
    _Described("conll2000", "fair", "CONLL2000"),
)
"""Those of formats that are recognised by the ending of a name alone, or must be named."""

_ALL = (*_RECOGNISED, *_NAMED)

NAMES = tuple(dict.fromkeys(entry.name for entry in _ALL))
"""The names of all formats."""


@cache
def _form(entry: _Described) -> Form:
    form: Form = getattr(import_module(f"clueval.second.formats.{entry.module}"), entry.value)
    return form


def all_forms() -> list[Form]:
    """Return all descriptions; several may have the name of one format."""
    return list(map(_form, _ALL))


def forms_named(name: str) -> list[Form]:
    """Return the descriptions of a format. Raises `UsageError` for an unknown name."""
    if name not in NAMES:
        raise UsageError(f"unknown format {name!r}", advice=f"one of {', '.join(NAMES)}")
    return [_form(entry) for entry in _ALL if entry.name == name]


def form_of(head: Head, name: str | None = None) -> Form:
    """Return the description of the format of a file, given its beginning, and its name if it is known.

    Raises `UsageError` for an unknown name, and `FormatError` for a file that no format has.

    >>> form_of(Head("a.jsonl", '{"text": "Ada", "label": []}', lambda: {"text": "Ada", "label": []})).name
    'doccano'
    >>> form_of(Head("a.txt", "Ada\\tB-PER\\n", lambda: None)).name
    'conll'
    """
    if name is not None:
        return _of_name(forms_named(name), head)
    ending = head.file_name.removesuffix(".gz")
    for entry in _ALL:
        if ending.endswith(entry.endings or "\n"):
            return _form(entry)
    if head.is_json:
        return _of_row(head.first(), head.file_name)
    refuse_unread_text(head)
    entries = [entry for entry in _RECOGNISED if not entry.is_json]
    for entry in entries:
        has_mark = any(mark in line for mark in entry.marks or ("",) for line in head.lines or ("",))
        if has_mark and (form := _form(entry)).is_told(head):
            return form
    return refuse_text(head, ", ".join(dict.fromkeys(entry.name for entry in entries)))


def _of_row(row: Any, file: str | None) -> Form:
    if row is None:
        return forms_named("doccano")[0]
    head = Head("", "", lambda: row)
    for entry in _RECOGNISED:
        has_mark = not entry.marks or (isinstance(row, dict) and any(mark in row for mark in entry.marks))
        if entry.is_json and has_mark and (form := _form(entry)).is_told(head):
            return form
    return refuse_row(row, file)


def _of_name(forms: list[Form], head: Head) -> Form:
    """Return the description that fits the beginning, or whose spans a row has, or the most general one."""
    if len(forms) == 1:
        return forms[0]
    told = next((form for form in forms if form.is_told(head)), None)
    if told is not None:
        return told
    dialects = [form for form in forms if isinstance(form, Dialect)]
    row = head.first() if dialects else None
    having = (form for form in dialects if (form.is_row([]) if row is None else _has_spans(row, form)))
    return next(having, dialects[0] if dialects else forms[-1])


def _has_spans(row: Any, dialect: Dialect) -> bool:
    return isinstance(row, dict) and any(key in row for key in keys_of(dialect.spans))


def reads_rows(form: Form) -> bool:
    """Return whether documents of a format may be rows in memory."""
    return isinstance(form, Dialect) or (isinstance(form, FileFormat) and form.rows is not None)


def form_of_rows(row: Any, name: str | None = None, file: str | None = None) -> Form:
    """Return the description of rows, given the first one that is no empty list, None if there is none.

    Raises `UsageError` for a format whose documents are no rows, and `FormatError` for rows that no format has.

    >>> form_of_rows({"text": "Ada", "label": [[0, 3, "PER"]]}).name
    'doccano'
    """
    if name is None:
        return _of_row(row, file)
    forms = [form for form in forms_named(name) if reads_rows(form)]
    if not forms:
        names = ", ".join(dict.fromkeys(form.name for form in all_forms() if reads_rows(form)))
        raise UsageError(f"documents of the format {name!r} are not rows", advice=f"one of {names}")
    return _of_name(forms, Head("", "", lambda: row))
