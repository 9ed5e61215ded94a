"""The formats: what their descriptions have in common, where they are, and which one a file or a row has.

A description is imported when it is needed: to read a file that has the format, or to print what it says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import chain
from typing import Any, ClassVar, Literal, NamedTuple

from clueval.files.errors import FormatError, UsageError
from clueval.formats import recognition
from clueval.formats.input_file import Head
from clueval.formats.recognition import begins_with

Kind = Literal["rows", "columns", "markup", "documents"]
"""The module that reads a format; formats of `documents` have readers of their own."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Form:
    """The description of a format: what the kinds of descriptions have in common.

    Attributes:
        name, holds: the name of the format, and what its files hold.
        kind: what reads it.
        options: the options that apply to it; without ``layers`` it has the default layer alone.
        scheme: the scheme of its tags, if all files have the same.
        invalid: the treatments of ill-formed tags, of which the first is the usual one; none: all, or it has no tags.
        extra: the extra of clueval that must be installed.
        has_sets: whether its files may have annotation sets.
        has_columns: whether its lines are columns that have numbers.
        counts_tokens: whether its positions are always those of tokens.
        lacks_tokens: whether it has tags alone, whose tokens are those of gold.
        is_table: whether it is a table of spans, which may take the texts of the other side, whichever that is.
        is_one_document: whether a file is one document, whose id is its name.
        has_rows: whether its documents may be rows in memory.
    """

    name: str
    holds: str = ""
    kind: ClassVar[Kind] = "documents"
    options: frozenset[str] = frozenset({"layers"})
    scheme: str | None = None
    invalid: tuple[str, ...] = ()
    extra: str = ""
    has_sets: bool = False
    has_columns: bool = False
    counts_tokens: bool = False
    lacks_tokens: bool = False
    is_table: bool = False
    is_one_document: bool = False
    has_rows: bool = False

    def derive(self, **attributes: object) -> None:
        """Set those of these attributes that others tell."""
        for name, value in attributes.items():
            object.__setattr__(self, name, value)

    def has_spans(self, row: Any) -> bool:
        """Return whether a row has the key of its spans."""
        return False


class Described(NamedTuple):
    """Where a description is, and how the files of its format are recognised.

    Attributes:
        name: the name of the format; several descriptions may have it.
        place: the module and the name of the description.
        sign: what the first row of JSON has (`recognition.has_sign`), or words that say what `has` looks for; none:
            the format must be named, or the name of the file tells it.
        has: returns whether a row, or a file with this beginning, is of the format.
        endings: the endings of names of its files.
        is_json: whether its files are JSON.
        is_one_text: whether only a file whose lines are one text has it.
    """

    name: str
    place: str
    sign: str = ""
    has: Callable[[Any], bool] | None = None
    endings: tuple[str, ...] = ()
    is_json: bool = False
    is_one_text: bool = False

    def is_of(self, value: Any) -> bool:
        """Return whether a row, or a file with this beginning, is of the format."""
        return recognition.has_sign(value, self.sign) if self.has is None else self.has(value)

    @property
    def form(self) -> Form:
        """The description."""
        return _form(self.place)

    @property
    def recognised_by(self) -> str:
        """How files are recognised, in words."""
        sign = self.sign if not self.is_json or self.has is not None else recognition.sign_in_words(self.sign)
        return ", ".join([*(f"`{ending}`" for ending in self.endings), *filter(None, [sign])])


@cache
def _form(place: str) -> Form:
    module, _, value = place.partition(".")
    form: Form = getattr(import_module(f"clueval.formats.{module}"), value)
    return form


def _marked(name: str, place: str, *marks: str) -> Described:
    """Return the entry of a format with one of these texts in its first lines."""
    return Described(name, place, " or ".join(f"`{mark}`" for mark in marks), begins_with(*marks))


def _rows(name: str, place: str, sign: str, has: Callable[[Any], bool] | None = None) -> Described:
    return Described(name, place, sign, has, is_json=True)


_RESULTS = "results[]|recognizer_results[]|analyzer_results[]"

ENTRIES = (
    _marked("conll2012", "conll.CONLL2012", "#begin document")._replace(
        endings=(".gold_conll", ".auto_conll")
    ),
    Described(
        "webanno",
        "webanno.WEBANNO",
        "`#FORMAT=WebAnno`, or first lines `#id=` and `#text=` (old versions, refused)",
        recognition.is_webanno,
    ),
    _marked("xmi", "uima.XMI", "<xmi:XMI")._replace(endings=(".xmi",)),
    _marked("i2b2", "markup.I2B2", "<deIdi2b2", "<MEDDOCAN", "<TEXT><![CDATA["),
    _marked("i2b2-2006", "markup.I2B2_2006", "<RECORD ID="),
    Described(
        "conllu",
        "conllu.CONLLU",
        "first line `# global.columns`, or ten columns, the first `1`, the seventh a number",
        recognition.is_conllu,
        (".conllu", ".conllup"),
    ),
    _marked("ltf", "markup.LTF", "<body>", "<body/>"),
    _marked("gate-xml", "gate_xml.GATE_XML", "<GateDocument"),
    _rows("uima-json", "uima.UIMA_JSON", "%TYPES|%FEATURE_STRUCTURES"),
    _rows("bdoc", "text_dialects.BDOC", "annotation_sets"),
    _rows(
        "label-studio",
        "label_studio.LABEL_STUDIO",
        "data{} annotations|completions|predictions; annotator annotation_id",
    ),
    _rows("langextract", "text_dialects.LANGEXTRACT", "extractions document_id"),
    _rows("ai4privacy", "text_dialects.AI4PRIVACY", "privacy_mask; unmasked_text span_labels"),
    _rows("nemotron", "text_dialects.NEMOTRON", "text_tagged spans"),
    _rows("presidio", "text_dialects.PRESIDIO_SAMPLES", "full_text spans|!tokens"),
    _rows(
        "presidio",
        "text_dialects.PRESIDIO_RESULTS",
        f"text {_RESULTS} !label !labels !entities !annotations",
    ),
    _rows(
        "presidio",
        "text_dialects.PRESIDIO_ANSWERS",
        "lists of results with `entity_type`",
        recognition.are_results_of_presidio,
    ),
    _rows("gliner", "token_dialects.GLINER", "tokenized_text"),
    _rows("spert", "token_dialects.SPERT", "tokens entities[].start !text entities[].!text"),
    _rows("comprehend", "text_dialects.COMPREHEND", "File Entities|ErrorCode"),
    _rows("prodigy", "text_dialects.PRODIGY", "_input_hash spans|answer; text spans[] !text_tagged"),
    _rows("spacy-json", "token_dialects.SPACY_2", "paragraphs"),
    _rows(
        "spacy-json",
        "token_dialects.SPACY",
        'JSON `[text, {"entities"}]`, or with `text` and `ents`, or `classes` and `annotations`',
        recognition.is_row_of_spacy,
    ),
    _rows("w2ner", "token_dialects.W2NER", "sentence ner"),
    _rows(
        "token-rows",
        "token_dialects.TOKEN_ROWS",
        "JSON with `tokens` or `words`, and `ner`, `labels` or a key that ends with `tags`",
        recognition.is_row_of_tags,
    ),
    _rows("doccano", "text_dialects.DOCCANO", "text|data label[]|labels[]|entities[]|annotations[]"),
    _rows("tab", "text_dialects.TAB", "annotations{}"),
    _rows(
        "tab",
        "text_dialects.TAB_PREDICTIONS",
        "JSON `{id: [[start, end]]}`; `{}`",
        recognition.are_positions_by_id,
    ),
    _rows("mentions", "mentions.MENTIONS", "response|output|completion; custom_id result{}"),
    Described(
        "vrt",
        "vrt.VRT",
        "first line is an XML tag",
        lambda head: recognition.FIRST_ELEMENT.match(head.text) is not None,
        (".vrt", ".vert"),
    ),
    Described(
        "spans", "tables.SPANS", "header with `start` and `end`", recognition.is_table_of_spans, (".xlsx",)
    ),
    Described(
        "fair-spans",
        "fair.FAIR_SPANS",
        "four fields, two of them numbers",
        lambda head: recognition.INDICES.fullmatch(head.first_line) is not None,
    ),
    Described(
        "tags",
        "tags.TAGS",
        "one tag alone on each of the first three lines without comments",
        recognition.has_tags_alone,
    ),
    Described(
        "nerval",
        "nerval.NERVAL",
        "`--metric noisy`",
        lambda head: head.is_one_text and all(line.count("\t") <= 1 for line in head.lines),
    )._replace(is_one_text=True),
    Described(
        "conll",
        "conll.HIPE",
        "first line `TOKEN`, `NE-...`",
        lambda head: recognition.HIPE_HEADER.match(head.text) is not None,
    ),
    Described(
        "conll",
        "conll.NUMBERED",
        "tokens that are numbered from 1 in each sentence",
        lambda head: bool(recognition.numbered_rows(head.text)),
    ),
    Described("conll", "conll.CONLL", "a line of two columns or more", recognition.has_columns),
    Described("brat", "brat.BRAT", endings=(".ann", ".a1")),
    Described("docbin", "docbin.DOCBIN", endings=(".spacy",)),
    Described("inline", "inline.INLINE"),
    Described("conll2000", "fair.CONLL2000", "`--input conll2000`"),
)
"""All descriptions, in the order in which they are tried."""

_WITH_ENDINGS = [entry for entry in ENTRIES if entry.endings]

NAMES = tuple(dict.fromkeys(entry.name for entry in ENTRIES))
"""The names of all formats."""


def all_forms() -> list[Form]:
    """Return all descriptions; several may have the name of one format."""
    return [entry.form for entry in ENTRIES]


def entries_named(name: str) -> list[Described]:
    """Return the entries of a format. Raises `UsageError` for an unknown name."""
    if name not in NAMES:
        from clueval.files.names import one_of  # only for names that do not exist

        raise UsageError(f"unknown format {name!r}", advice=one_of(name, NAMES))
    return [entry for entry in ENTRIES if entry.name == name]


def forms_named(name: str) -> list[Form]:
    """Return the descriptions of a format; `name` may be a description of rows, ``text=a,spans=b``.

    Raises `UsageError` for an unknown name.
    """
    if "=" in name:
        return [import_module("clueval.formats.dialect").described_rows(name)]
    return [entry.form for entry in entries_named(name)]


def form_by_name(file: str, name: str | None) -> Form | None:
    """Return the description of a format that its name or that of a file tells; None if the content must.

    Raises `UsageError` for an unknown name.
    """
    if name is not None:
        forms = forms_named(name)
        return forms[0] if len(forms) == 1 else None
    ending = file.removesuffix(".gz")
    return next((entry.form for entry in _WITH_ENDINGS if ending.endswith(entry.endings)), None)


def form_of(head: Head, name: str | None = None) -> Form:
    """Return the description of the format of a file, given its beginning, and its name if it is known.

    Raises `UsageError` for an unknown name, and `FormatError` for a file that no format has.

    >>> form_of(Head("a.jsonl", '{"text": "Ada", "label": []}', lambda: {"text": "Ada", "label": []})).name
    'doccano'
    >>> form_of(Head("a.txt", "Ada\\tB-PER\\n", lambda: None)).name
    'conll'
    """
    if (form := form_by_name(head.file_name, name)) is not None:
        return form
    if name is not None:
        entries = entries_named(name)
        return _form_with_name(entries, head.first() if entries[0].is_json else head)
    if head.is_json:
        try:
            row = head.first()
        except FormatError as error:
            error.advice = error.advice or recognition.NOT_JSON
            raise
        return _form_of_row(row, head.file_name)
    recognition.refuse_unread_text(head)
    entries = [
        entry
        for entry in ENTRIES
        if entry.has is not None and not entry.is_json and (head.is_one_text or not entry.is_one_text)
    ]
    entry = next((entry for entry in entries if entry.is_of(head)), None)
    if entry is not None:
        return entry.form
    return recognition.refuse_text(head, ", ".join(dict.fromkeys(entry.name for entry in entries)))


def _form_of_row(row: Any, file: str | None) -> Form:
    if row is None:
        return forms_named("doccano")[0]
    entry = next((entry for entry in ENTRIES if entry.is_json and entry.is_of(row)), None)
    return recognition.refuse_row(row, file) if entry is None else entry.form


def _form_with_name(entries: list[Described], value: Any) -> Form:
    """Return the description that a first row or a beginning has, or whose spans a row has, or the most general one."""
    is_json = entries[0].is_json
    if is_json and value is None:
        value = []
    matching = (entry for entry in entries if entry.is_of(value))
    similar = (entry for entry in entries if entry.form.has_spans(value))
    return next(chain(matching, similar, [entries[0] if is_json else entries[-1]])).form


def is_row(form: Form, row: Any) -> bool:
    """Return whether a first row tells that rows have this description."""
    return any(entry.form is form and entry.is_of(row) for entry in ENTRIES if entry.name == form.name)


def form_of_rows(row: Any, name: str | None = None) -> Form:
    """Return the description of rows, given the first one that is no empty list, None if there is none.

    Raises `UsageError` for a format whose documents are no rows, and `FormatError` for rows that no format has.

    >>> form_of_rows({"text": "Ada", "label": [[0, 3, "PER"]]}).name
    'doccano'
    """
    row = recognition.as_json(row)
    if name is not None and (forms := forms_named(name))[0].has_rows:
        return forms[0] if len(forms) == 1 else _form_with_name(entries_named(name), row)
    form = _form_of_row(row, None) if name is None else forms[0]
    if not form.has_rows:
        names = ", ".join(dict.fromkeys(row_form.name for row_form in all_forms() if row_form.has_rows))
        raise UsageError(f"documents of the format {form.name!r} are not rows", advice=f"one of {names}")
    return form
