"""All descriptions of formats: each is found by its name and its marks, a slip shows, and damaged files are refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

import clueval
from clueval.core.document import Document
from clueval.files.errors import CluevalError, UsageError
from clueval.formats.column_format import ColumnFormat
from clueval.formats.dialect import Dialect, RowInput, described_rows, keys_of
from clueval.formats.documents import FileFormat
from clueval.formats.form import ENTRIES, Described, Form, all_forms, form_of, is_row
from clueval.formats.input_file import Head, InputFile
from clueval.formats.json_values import file_rows
from clueval.formats.markup import Markup
from clueval.formats.options import EVERY_SET, FormatOptions
from clueval.formats.span_forms import LABELS
from clueval.reading.source import form_of_file, read_file, read_rows
from tests.formats.outcomes import contents, read_as
from tests.formats.outcomes import outcome as outcome_of
from tests.formats.test_rows_in_formats import OF_SAMPLES, in_memory
from tests.formats.test_rows_in_formats import mutated as damaged_row
from tests.fuzz.corpora import FORMATS
from tests.fuzz.mutations import mutated

SAMPLES = Path(clueval.__file__).parent / "samples" / "formats"

FOLDERS = {"conllup": "conllu", "germeval": "conll", "hipe": "conll", "wnut": "conll"}
"""The formats of samples whose folders have other names."""

CORPORA = {"spans": "spans-tsv", "inline": "inline-answers"}
"""The random corpora whose formats have other names."""

SLOW = {"xmi", "uima-json", "docbin"}
"""Formats whose libraries take a second to import."""

MORE = {
    "tags": "B-PER\nO\n\nO\n",
    "i2b2": "<deIdi2b2><TEXT>In Ulm</TEXT><TAGS><A start='3' end='6' text='Ulm' TYPE='B'/></TAGS></deIdi2b2>",
    "tab": '{"d1": [[0, 3], [4, 9]]}',
    "docbin": "no file of spaCy",
    "ltf": "<body>in <e>Ulm</e></body>",
}
"""Contents of files of formats that have few others."""

GOLD = [Document("a", {}, tokens=["Ada", "in"]), Document("b", {}, tokens=["Ulm"], start=2)]


def files_of(name: str) -> list[tuple[str, bytes]]:
    """Return names and contents of some files of a format."""
    found = [
        (path.name, path.read_bytes())
        for path in sorted(SAMPLES.rglob("*"))
        if path.is_file()
        and FOLDERS.get(path.parent.name, path.parent.name) == name
        and path.suffix not in (".txt", ".conf")
        and path.name != "TypeSystem.xml"
        and path.name != "dataset_info.json"
    ]
    if (corpus := CORPORA.get(name, name)) in FORMATS:
        for seed in range(4):
            files = FORMATS[corpus](Random(seed))
            found.append(
                (f"a.{files.ending}", files.predicted if name in ("mentions", "inline") else files.gold)
            )
    if name in MORE:
        found.append(("a", MORE[name].encode()))
    return found


def input_of(folder: Path, name: str, data: bytes) -> InputFile:
    path = folder / name
    path.write_bytes(data)
    path.with_suffix(".txt").write_bytes((SAMPLES / "brat" / "one.txt").read_bytes())
    return InputFile(path, texts=lambda: GOLD)


def outcome(file: InputFile, form: Form, **options: Any) -> Any:
    try:
        return [contents(document) for document in read_file(file, FormatOptions(**options), form)]
    except CluevalError as error:
        return type(error), error.problem, error.line


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.place)
def test_ending_of_a_name_decides(entry: Described) -> None:
    for ending in entry.endings:
        assert form_of(Head(f"a{ending}.gz", "", lambda: None)) is entry.form


def read_all(form: Form, folder: Path, **changes: Any) -> list[Any]:
    """Return what is read of all files of a format by a description with changes."""
    changed = replace(form, **changes)
    return [
        outcome(input_of(folder, file_name, data), changed, annotation_set=EVERY_SET)
        for file_name, data in files_of(form.name)
        if form_of_file(input_of(folder, file_name, data)) is form
    ]


SLIPS = {
    "i2b2": ("text", "tags", "start", "end", "label"),
    "i2b2-2006": ("text", "document", "id", "inline", "label"),
    "ltf": ("text", "inline"),
    "conll": ("flags", "no_space", "sentence_end"),
    "conllu": ("pairs", "flags", "no_space"),
}
"""The fields with names of elements, attributes and columns."""


@pytest.mark.parametrize(
    ("form", "field"),
    [(form, field) for form in all_forms() for field in SLIPS.get(form.name, ()) if getattr(form, field)],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_slip_in_a_name_shows_in_the_samples(form: Form, field: str, tmp_path: Path) -> None:
    as_described = read_all(form, tmp_path)

    with_slip = read_all(form, tmp_path, **{field: f"{getattr(form, field)}x"})

    assert as_described
    assert with_slip != as_described


OF_ROWS = ("text", "tokens", "id", "spans", "tags", "metadata", "annotator", "not_metadata", "passed_over")
OF_SPANS = (
    "start",
    "end",
    "end_inclusive",
    "label",
    "span_id",
    "reference",
    "of_span",
    "control",
    "noted",
    "features",
)

SPAN = {"start": 0, "end": 3, "label": "PER"}
NOTED = ("id", "source", "pattern", "input_hash", "answer", "type", "token_start", "token_end")
NOTED_BY_DOCCANO = ("created_at", "updated_at", "document", "manual", "prob", "word", "index")
FURTHER: dict[str, list[Any]] = {
    "bdoc": [
        {
            "text": "Ada",
            "offset_type": "p",
            "annotation_sets": {"Key": {"annotations": [{"type": "P", "start": 0, "end": 3, "id": 1}]}},
        }
    ],
    "ai4privacy": [{"text": "Ada", "privacy_mask": [], "uid": "u"}],
    "nemotron": [{"text": "Ada", "text_tagged": "", "spans": [], "id": 1}],
    "presidio": [{"text": "Ada", "recognizer_results": []}, {"text": "Ada", "analyzer_results": []}],
    "spert": [{"tokens": ["Ada"], "entities": [], "id": 1}],
    "prodigy": [
        {
            "text": "Ada",
            "_input_hash": 1,
            "id": 1,
            "_annotator_id": "a",
            "_session_id": "s",
            "spans": [{**SPAN, "text": "Ada", **dict.fromkeys(NOTED, 1)}],
            "relations": [],
        }
    ],
    "spacy-json": [{"text": "Ada", "ents": [{**SPAN, "id": 1, "text": "Ada"}], "meta": {}, "_": {}}],
    "w2ner": [{"sentence": ["Ada"], "ner": [], "doc_id": 1, "word": []}],
    "doccano": [
        {
            "data": "Ada",
            "annotations": [
                {
                    **SPAN,
                    **dict.fromkeys(NOTED_BY_DOCCANO, 1),
                    "id": 1,
                    "text": "Ada",
                    "username": "a",
                    "user": 1,
                },
                *({"start_offset": 0, "end_offset": 3, key: "PER"} for key in LABELS),
            ],
            "username": "a",
            "user": 1,
            "Comments": [],
            "comments": [],
            "annotation_approver": "b",
            "relations": [],
        },
    ],
    "tab": [{"text": "Ada", "annotations": {"Key": {"entity_mentions": []}}, "id": 1}],
}
"""Rows as the programs write them, with the keys that no sample has."""

SETS = (None, "Key", "admin", "annotator1", "1", "frida@x.org")


def plain_rows(dialect: Dialect) -> Iterator[dict[str, Any]]:
    """Yield all rows that are known of a dialect, with the keys that it describes."""
    files = [list(file_rows(lambda data=data: [data], "a")) for _, data in files_of(dialect.name)]
    files += [[(1, row)] for row in FURTHER.get(dialect.name, ())]
    for rows in files:
        if not any(is_row(dialect, row) for _, row in rows[:1]):
            continue
        for name in SETS:
            reader = RowInput(FormatOptions(answers="accepted"), None, Counter())
            reader.set = name
            numbered = iter(rows) if dialect.values is None else dialect.values(iter(rows), reader)
            for _, row in numbered:
                try:
                    yield from (row,) if dialect.plain is None else dialect.plain(row, reader)
                except CluevalError:  # rows of other annotators
                    continue


@pytest.mark.parametrize(
    "dialect",
    [form for form in all_forms() if isinstance(form, Dialect)],
    ids=lambda dialect: f"{dialect.name}-{dialect.spans or dialect.tags}",
)
def test_key_of_a_description_occurs_in_a_row(dialect: Dialect) -> None:
    """A slip in a key would be one that no row has."""
    usual = {field.name: field.default for field in fields(Dialect)}
    of_rows: set[str] = set()
    of_spans: set[str] = set()
    for row in plain_rows(dialect):
        of_rows |= row.keys()
        items = [
            item for key in keys_of(dialect.spans) for item in row.get(key) or () if isinstance(item, dict)
        ]
        of_spans = of_spans.union(*items)

    def unknown(names: tuple[str, ...], known: set[str]) -> set[tuple[str, str]]:
        described = {name: getattr(dialect, name) for name in names if getattr(dialect, name) != usual[name]}
        return {
            (name, key)
            for name, keys in described.items()
            for key in keys_of(keys)
            if key not in {*known, "*"}
        }

    assert not unknown(OF_ROWS, of_rows)
    assert (dialect.lists and dialect.name == "gliner") or not unknown(OF_SPANS, of_spans)


# Fuzzing


@pytest.mark.parametrize(
    "form", [form for form in all_forms() if form.name not in SLOW], ids=lambda form: form.name
)
def test_error_of_a_damaged_file_names_the_file_in_one_line(form: Form, tmp_path: Path) -> None:
    files, errors = files_of(form.name), list[CluevalError]()
    for seed in range(25):
        rng = Random(seed)
        file_name, data = rng.choice(files)
        for _ in range(rng.randint(1, 3)):
            data = mutated(data, rng)
        file = input_of(tmp_path, file_name, data)
        options = FormatOptions(
            annotation_set=rng.choice((None, EVERY_SET)), offsets=rng.choice((None, "utf16"))
        )
        try:
            for _ in read_file(file, options, form):
                pass
        except CluevalError as error:
            errors.append(error)

    assert all(isinstance(error, UsageError) or error.file is not None for error in errors)
    assert not [error for error in errors if "\n" in str(error)]


@pytest.mark.parametrize("name", [*dict.fromkeys(name for name, _ in OF_SAMPLES), "mentions"])
def test_damaged_rows_give_the_same_from_files_and_memory(name: str, tmp_path: Path) -> None:
    rows = (
        in_memory((SAMPLES / name).read_bytes())
        if name != "mentions"
        else [{"output": '{"PER": ["Ada"]}'}] * 3
    )
    for seed in range(20):
        rng = Random(seed)
        damaged = [damaged_row(row, rng) for row in rows]
        if not isinstance(damaged[0], dict):  # a file of other values is not one of JSON rows
            damaged[:2] = rows[:2]
        lines = list(map(json.dumps, damaged))
        path = tmp_path / "a.jsonl"
        path.write_text("\n".join(lines), encoding="utf-8")
        options = FormatOptions(
            annotation_set=rng.choice((None, None, EVERY_SET)),
            offsets=rng.choice((None, None, "utf16")),
            unplaced=rng.random() < 0.2,
        )

        of_file = outcome_of(lambda options=options, path=path: read_as(InputFile(path), options))

        of_rows = [(number, json.loads(line)) for number, line in enumerate(lines, 1)]
        assert outcome_of(lambda options=options, rows=of_rows: read_rows(rows, options)) == of_file
        assert isinstance(of_file, list) or of_file[0] is UsageError or of_file[2] is not None


@pytest.mark.parametrize("kind", [Dialect, ColumnFormat, Markup, FileFormat])
def test_field_of_a_description_has_a_use(kind: type[Form]) -> None:
    forms = [form for form in [*all_forms(), described_rows("spans=a")] if type(form) is kind]
    usual = {each.name: each.default for each in fields(kind)}
    used = {name for form in forms for name in usual if getattr(form, name) != usual[name]}
    unlike = {"start", "end", "reference"} if kind is Markup else set()  # all formats have the same ones

    assert usual.keys() - {each.name for each in fields(Form)} <= used | unlike
