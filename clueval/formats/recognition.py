"""How formats are recognised: by the first lines of a file, or by the first row of JSON; and what is not read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NoReturn

from clueval.core.tags import is_tag
from clueval.files.errors import FormatError
from clueval.files.opening import AS_UTF8, MAX_DEPTH
from clueval.formats.input_file import Head

_LOOKED_AT = 100_000
"""The number of characters at the beginning of a file that are looked at."""

# Rows of JSON

SCALARS = frozenset({str, int, float, bool, type(None)})


def as_json(value: Any, depth: int = MAX_DEPTH) -> Any:
    """Return a value as JSON has it: mappings as dictionaries, tuples and arrays as lists, up to a depth."""
    if isinstance(value, Mapping) and depth:
        return {key: as_json(item, depth - 1) for key, item in value.items()}
    value = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(value, list | tuple) or not depth:
        return value
    return (
        list(value) if SCALARS.issuperset(map(type, value)) else [as_json(item, depth - 1) for item in value]
    )


def has_sign(row: Any, sign: str) -> bool:
    """Return whether a row is an object that has one of each group of keys; a group is ``a|b``.

    ``a[]`` is a key with a list, a text that holds one, or null; ``a{}`` one with an object. ``!a`` is a key that the
    row does not have, and ``a[].b`` one with a list that is empty, or whose first element has the key ``b``
    (``a[].!b``: does not have it). A semicolon separates signs of which one must hold.

    >>> has_sign({"text": "Ada", "label": []}, "text|data label[]|labels[]"), has_sign({"data": ""}, "data{}")
    (True, False)
    """
    return isinstance(row, dict) and any(
        all(any(_has(row, key) for key in group.split("|")) for group in part.split())
        for part in sign.split(";")
    )


def _has(row: Mapping[str, Any], key: str) -> bool:
    if key.startswith("!"):
        return key[1:] not in row
    name, brackets, inner = key.partition("[]")
    if brackets:
        value = row.get(name, 0)
        is_list = isinstance(value, list | None)  # None is what a table writes for a row without spans
        if inner:
            first = (value or [{}])[0] if is_list else None
            return isinstance(first, dict) and (first == {} or _has(first, inner[1:]))
        return is_list or (isinstance(value, str) and value.lstrip().startswith(("[", "(")))
    if key.endswith("{}"):
        return isinstance(row.get(key[:-2]), dict)
    return key in row


def sign_in_words(sign: str) -> str:
    """Return in words what a row has, as ``clueval formats`` prints it.

    >>> sign_in_words("text|data label[]")
    'JSON with `text` or `data`, and a list `label`'
    """
    signs = [
        ", and ".join(" or ".join(map(_in_words, group.split("|"))) for group in part.split())
        for part in sign.split(";")
    ]
    return "JSON with " + "; or with ".join(signs)


def _in_words(key: str) -> str:
    if key.startswith("!"):
        return f"without `{key[1:]}`"
    name, brackets, inner = key.partition("[]")
    if brackets:
        words = _in_words(inner[1:])
        objects = f" of objects {'' if inner[1:2] == '!' else 'with '}{words}" if inner else ""
        return f"a list `{name}`{objects}"
    return f"an object `{key[:-2]}`" if key.endswith("{}") else f"`{key}`"


def keys_of_tags(row: Iterable[str]) -> list[str]:
    """Return the keys of tags; ``labels`` is one if there is no other and no text, which has spans.

    >>> keys_of_tags(["tokens", "pos_tags", "ner"]), keys_of_tags(["words", "labels"]), keys_of_tags(["text", "labels"])
    (['pos_tags', 'ner'], ['labels'], [])
    """
    keys = list(row)
    tags = [key for key in keys if isinstance(key, str) and (key == "ner" or key.endswith("tags"))]
    return tags or [key for key in keys if key == "labels" and not {"text", "data"} & {*keys}]


def is_row_of_tags(row: Any) -> bool:
    """Return whether a row has tokens and tags, as data sets of Hugging Face."""
    return has_sign(row, "tokens|words") and bool(keys_of_tags(row))


def is_row_of_spacy(row: Any) -> bool:
    """Return whether a row is one of spaCy's: a text and its annotations, or an object."""
    return has_sign(row, "text ents; classes annotations") or (
        isinstance(row, list) and len(row) == 2 and isinstance(row[0], str) and isinstance(row[1], dict)
    )


def are_results_of_presidio(row: Any) -> bool:
    """Return whether a row is a list of results of Presidio, which know no text."""
    return isinstance(row, list) and all(has_sign(result, "entity_type !text !full_text") for result in row)


def are_positions_by_id(row: Any) -> bool:
    """Return whether a row is an object with nothing but lists of positions."""
    return isinstance(row, dict) and all(
        isinstance(places, list)
        and all(isinstance(place, list) and len(place) == 2 and isinstance(place[0], int) for place in places)
        for places in row.values()
    )


# First lines


def begins_with(*marks: str) -> Callable[[Head], bool]:
    """Return whether one of the first three lines has one of these marks."""
    return lambda head: any(mark in line for mark in marks for line in head.lines)


def is_webanno(head: Head) -> bool:
    """Return whether a file begins as version 3 does, or 1 and 2, of which the second names its layers first."""
    is_old = all(any(line.startswith(mark) for line in head.lines) for mark in ("#id=", "#text="))
    return is_old or begins_with("#FORMAT=WebAnno")(head)


_FIRST_TOKEN = re.compile(r"1(?:-\d+)?\t(?:[^\t]*\t){5}(?:\d+|_)\t[^\t]*\t[^\t]*\t([^\t]*)")


def is_conllu(head: Head) -> bool:
    """Return whether a file names its columns, or its first token is the first word of a sentence, in ten columns."""
    if not begins_with("#", "1")(head):
        return False
    beginning = head.text[:_LOOKED_AT].removeprefix("\ufeff")
    lines = [line.rstrip("\r") for line in beginning.split("\n") if line.strip()]
    token = _FIRST_TOKEN.fullmatch(next((line for line in lines if line[0] != "#"), ""))
    return "# global.columns" in "".join(lines[:1]) or (token is not None and not is_tag(token[1]))


FIRST_ELEMENT = re.compile(r"\ufeff?\s*<(/?[^\W\d][^\t\n]*>|\?xml|!--)")


def is_table_of_spans(head: Head) -> bool:
    """Return whether the first line is a header with start and end."""
    if not begins_with("start", "Start", "begin", "Begin", "von", "Von", '"')(head):
        return False
    from clueval.formats.table_columns import mark_of_header  # other formats do not need it

    return mark_of_header(head.first_line) is not None


INDICES = re.compile(r"[^\t]*\t[0-9]+\t[0-9]+\t[0-9, ]*\r?")
"""The fourth field tells it from lines of a token, its offsets and its tag."""


DOCSTART = "-DOCSTART-"

_LINE = re.compile("[^\n]+")


def has_tags_alone(head: Head) -> bool:
    """Return whether each of the first three lines that are neither blank nor comments is one tag."""
    lines = (match[0].strip() for match in _LINE.finditer(head.text.removeprefix("\ufeff"), 0, _LOOKED_AT))
    first = list(islice((line for line in lines if line and not line.startswith(("#", DOCSTART))), 3))
    return bool(first) and all(map(is_tag, first))


HIPE_HEADER = re.compile(r"\ufeff?(TOKEN\t[^\r\n]*NE-[^\r\n]*)")


NO_TOKEN = re.compile(r" *[0-9]+([-.])[0-9]+[\t ]")
"""The beginning of a row that is no token, where tokens are numbered."""


def fields_of_line(line: str) -> list[str]:
    """Return the fields of a line of columns, which are separated by tabs, or by blanks if it has none."""
    return line.split("\t") if "\t" in line else list(filter(None, line.split(" ")))


def numbered_rows(text: str) -> list[list[str]]:
    """Return the fields of the first tokens of a file that numbers the tokens of each sentence; none of other files.

    >>> numbered_rows("1\\tAnn\\tB-PER\\n2\\tsang\\tO\\n")
    [['1', 'Ann', 'B-PER'], ['2', 'sang', 'O']]
    """
    rows: list[list[str]] = []
    last = 0
    lines = text[:_LOOKED_AT].removeprefix("\ufeff").split("\n")
    for line in lines[:-1] if len(text) > 2000 else lines:
        if not line.strip():
            last = 0
        elif not line.startswith(("#", DOCSTART)) and not NO_TOKEN.match(line):
            fields = fields_of_line(line.rstrip("\r"))
            last += 1
            if fields[0] != str(last) or len(fields) < 3:
                return []
            rows.append(fields)
    is_all_first = all(row[0] == "1" for row in rows)
    return [] if is_all_first and not re.match("\ufeff?#\t", text) else rows


def is_csv(line: str) -> bool:
    """Return whether a first line has values that are separated by commas or semicolons, and no tag.

    >>> [is_csv(line) for line in ("Sentence #,Word,POS,Tag", '"id";"text"', "a,b B-X", ", ,")]
    [True, True, False, False]
    """
    fields = line.split()
    return bool(
        fields
        and line[0] != "#"
        and not {"\t", "\r"} & {*line}
        and re.search(r"\w\"?[,;]\"?\w", fields[-1])
        and not any(map(is_tag, fields))
    )


def has_columns(head: Head) -> bool:
    """Return whether one of the first lines has two columns, or begins a document; or the file is empty."""
    lines = [line for line in head.text.removeprefix("\ufeff").split("\n", 50)[:50] if line.strip()]
    if lines and is_csv(lines[0]):
        return False
    return not lines or any(re.match(rf" *[^\t ]+[\t ]+[^\t ]|{DOCSTART}|#", line) for line in lines[:3])


def is_running_text(lines: Sequence[str]) -> bool:
    """Return whether the first lines hold words of a text instead of columns.

    These are lines without tabs and tags: a single one, or lines with different numbers of words.

    >>> [is_running_text(lines) for lines in (["Anna lives here."], ["Anna NE", "lives VVFIN"], ["a", "b"])]
    [True, False, False]
    """
    lines = [line for line in lines if not line.startswith(("#", DOCSTART))]
    words = [line.split() for line in lines]
    if "\t" in "".join(lines) or all(is_tag(line_words[-1]) for line_words in words):
        return False
    numbers = {len(line_words) for line_words in words}
    return len(numbers) > 1 or (len(lines) == 1 and numbers != {1})


# Files and rows that are not read

_CONVERTED = "see clueval guide howto-brat for a few lines of Python that convert it"

_ROWS = (
    (
        "clueval signature",
        "is a report or a saved result of clueval",
        "give the files with spans; what save=... wrote is for load_result, gates, and compare without gold",
    ),
    ("passages", "is BioC's format, which clueval does not read", _CONVERTED),
    (
        "confidenceScore",
        "has entities of Azure, which counts positions in text elements and not in characters",
        'ask Azure for positions in code points (stringIndexType), and write {"text": ..., "spans": [...]}',
    ),
    (
        "entity_group start",
        "has spans without texts, as a Hugging Face pipeline returns them",
        'write a row for each text, {"text": ..., "spans": [...]}, or score the lists in Python',
    ),
    (
        "entity start",
        "has tokens without texts, as a Hugging Face pipeline returns them",
        "call it with aggregation_strategy='simple', and write a row for each text, "
        '{"text": ..., "entities": [...]}',
    ),
    (
        "entities !text !tokens",
        "has entities without texts",
        "add the text of each row, or input='mentions' if the entities are the answers of a language model",
    ),
    (
        "start end",
        "has spans without texts",
        'write a row for each text, {"text": ..., "spans": [...]}, or score the lists in Python',
    ),
)
"""Signs of rows that are not read: what is wrong, and what to do."""


_TEXTS = (
    (
        re.compile("\ufffd\ufffd(.?\0|$)"),
        "is UTF-16 or UTF-32",
        AS_UTF8,
    ),
    (
        re.compile(r'c=".*" \d+:\d+ \d+:\d+\|\|t="'),
        "has concepts of i2b2 by line and word",
        "see clueval guide howto-i2b2 for a few lines of Python that do",
    ),
    (
        re.compile(r"[\w.-]+\|[ta]\|"),
        "is PubTator's format: a title and an abstract after bars, and spans below them",
        _CONVERTED,
    ),
    (
        re.compile(r"(?:<\?xml[^>]*>\s*)?(?:<!DOCTYPE collection SYSTEM .BioC|<collection>\s*<source>)"),
        "is BioC's format",
        _CONVERTED,
    ),
    (
        re.compile(r"""(?m)(?:\w+ *= *)?\[? *(?:\(("|')[^\t\n]*\1 *,|\{'[^\t\n]*' *:)[^\t\n]*$"""),
        "is a literal of Python",
        "write it as JSON, with json.dumps",
    ),
    (
        re.compile("PK\x03\x04|\ufffd*\x11\u0871\x1a"),
        "is a file of Word, Excel or another office program, or a zip archive in a folder or an archive",
        "save a table as CSV or with tabs, and a text as plain text, in UTF-8; unpack an archive",
    ),
    (
        re.compile("BZh[1-9]|\ufffd7zXZ"),
        "is packed by bzip2 or xz",
        "unpack it, or pack it as .gz or .zip",
    ),
    (
        re.compile("PAR1|ARROW1"),
        "is a Parquet or Arrow file",
        "give the data frame or data set itself in Python, or write its rows as JSON Lines",
    ),
    (re.compile("%PDF-"), "is a PDF file", "save its text as plain text, in UTF-8"),
)
"""What the first three lines of a file are like, what it is, and what to do."""


def refuse_unread_text(head: Head) -> None:
    """Raise `FormatError` for a file that is known, but not read."""
    for pattern, problem, advice in _TEXTS:
        if pattern.match("\n".join(head.lines)):
            raise FormatError(
                f"{problem}, which clueval does not read", file=head.file_name, line=1, advice=advice
            )


NOT_JSON = "correct it, or add input='mentions' if the file has the answers of a language model"
"""What to do about a first row that is not JSON."""


def refuse_text(head: Head, tried: str) -> NoReturn:
    """Raise the `FormatError` for a file that no format has; `tried` are the names of those that were tried."""
    line, problem = 1, "the format is not recognised: no format has such first lines"
    advice = f"name it with input=...; tried {tried}; 'clueval formats' shows how each is recognised"
    if "\r" in head.text:
        line = head.text.count("\n", 0, head.text.index("\r")) + 1
        problem, advice = "a carriage return without a line feed", "end lines with LF or CRLF"
    elif head.file_name.endswith((".json", ".jsonl")):
        problem, advice = "the format is not recognised: the first row is not JSON", NOT_JSON
    elif is_csv(head.first_line):
        problem = "the format is not recognised: the first line has commas or semicolons"
        advice = (
            "separate the columns of tokens and tags by tabs, and sentences by empty lines (see clueval guide "
            "howto-conll); a table of spans has the columns document, start, end_exclusive and label"
        )
    raise FormatError(problem, file=head.file_name, line=line, advice=advice)


def refuse_row(row: Any, file: str | None, line: int | None = 1) -> NoReturn:
    """Raise the `FormatError` for rows that no format has, given the first one and its place."""
    row = as_json(row)
    first = row[0] if isinstance(row, list) and row else row
    documents = first.get("documents") if isinstance(first, dict) else None
    first = documents[0] if isinstance(documents, list) and documents else first
    entities = first.get("entities") if isinstance(first, dict) else None
    entity = entities[0] if isinstance(entities, list) and entities else None
    problem = "the format is not recognised: no format has such keys"
    advice = (
        "a row has 'text' and 'spans' or 'entities', or 'tokens' and 'ner_tags'; input=... names the format, as "
        "input='mentions' answers of language models, row='text=...,spans=...,label=...,start=...,end=...' the keys"
    )
    for sign, problem_of_sign, advice_on_sign in _ROWS:
        if has_sign(first, sign) or (sign == "confidenceScore" and has_sign(entity, sign)):
            problem, advice = problem_of_sign, advice_on_sign
            break
    raise FormatError(problem, file=file, line=line, advice=advice)
