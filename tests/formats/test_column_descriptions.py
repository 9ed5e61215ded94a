"""Columns by descriptions, and what files with one token per line are refused for."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

import clueval
from clueval.files.errors import FormatError, TagError, UsageError
from clueval.formats.column_format import ColumnFormat
from clueval.formats.columns import ColumnReader
from clueval.formats.form import all_forms, form_of
from clueval.formats.input_file import Head, InputFile
from clueval.formats.options import FormatOptions
from tests.formats.outcomes import of_blocks, outcome, read_as

COLUMN_FORMATS = [form for form in all_forms() if isinstance(form, ColumnFormat)]
SAMPLES = Path(clueval.__file__).parent / "samples" / "formats"

OF_SAMPLES: list[tuple[str, dict[str, Any]]] = [
    ("conll2012/gold.gold_conll", {}),
    ("conll2012/gold.gold_conll", {"layers": {"tree": "parse"}}),
    ("conllu/gold.conllu", {}),
    ("conllu/gold.conllu", {"layers": {"entity": "Entity", "tag": "NER"}}),
    ("conllup/gold.conllup", {}),
    ("germeval/gold.tsv", {}),
    ("germeval/gold.tsv", {"layers": {"outer": "outer", "inner": "inner"}}),
    ("hipe/gold.tsv", {}),
    ("hipe/gold.tsv", {"layers": {"fine": "NE-FINE-LIT"}}),
    ("wnut/gold.conll", {}),
]

UNER = "# newdoc id = d\n# sent_id = s\n1-2\tZur\t_\t-\n"


VRT = """<?xml version="1.0"?>
<corpus language="de">
<text id="d1" title="R&amp;D">
<s id="s1">
Frau\tB-PER
&lt;\tO

</s>
<s>
Ulm\tB-LOC
<!-- a comment -->
<g/>
</s>
</text>
<text>
<a\tO
</text>
</corpus>
"""
UNER += "1\tAda\tB-PER\t-\n2\tsang\tO\t-\n\n1\tUlm\tB-LOC\t-\n2\t.\tO\t-\n"


def columns_of(path: Path, **options: Any) -> Any:
    name = path.suffix[1:] if path.suffix in (".conll", ".vrt") else None
    return outcome(lambda: read_as(InputFile(path), FormatOptions(**options), name))


def form_of_text(file_name: str, text: str) -> ColumnFormat:
    form = form_of(Head(file_name, text, lambda: None))
    assert isinstance(form, ColumnFormat)
    return form


def of_text(tmp_path: Path, text: str, name: str = "a.tsv") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_blocks_of_any_size_give_the_same_documents() -> None:
    for name, options in OF_SAMPLES:
        path = SAMPLES / name
        data = path.read_text(encoding="utf-8")
        form = form_of_text(path.name, data)
        lines = data.splitlines(keepends=True)
        first = len(lines) // 2
        pieces = [(1, "".join(lines[:first])), *enumerate(lines[first:], first + 1)]

        def read(blocks: list[tuple[int, str]], form: ColumnFormat = form, options: Any = options) -> Any:
            return outcome(
                lambda: ColumnReader(form, of_blocks(blocks), FormatOptions(**options)).documents()
            )

        assert read(pieces) == read([(1, data)])


LINES_OF_VRT = (
    *("<s>", '<s id="a">', "<s id='b' n=\"1\">", "</s>", "</s> ", '<text id="d">', "</text>", "<p>", "", " "),
    *(
        "a\tB-X",
        "&lt;\tI-X",
        "<a\tO",
        "b\t</s>",
        " c\tO",
        "d\tO\t",
        "e",
        "f\tI-Y\tO",
        "<!-- c -->",
        "x<s>\tO",
    ),
)


@pytest.mark.parametrize("seed", range(40))
def test_whole_sentences_of_vrt_are_read_as_line_by_line(seed: int) -> None:
    random = Random(seed)
    lines = ["<text>", "<s>", "w\tO", "</s>"]
    for number in range(30):
        tokens = [f"w{number}\t{random.choice(['O', 'B-X', 'I-X'])}" for _ in range(random.randint(1, 4))]
        lines += [f'<s id="s{number}">', *tokens, "</s>"]
    lines.append("</text>")
    for _ in range(seed % 4):
        lines.insert(random.randint(5, len(lines)), random.choice(LINES_OF_VRT))
    first = random.randint(4, 12)

    def read(blocks: list[tuple[int, list[str]]]) -> Any:
        texts = [(number, "".join(f"{line}\n" for line in of_block)) for number, of_block in blocks]
        reader = ColumnReader(form_of_text("a.vrt", "<text>\n"), of_blocks(texts), FormatOptions())
        documents: list[Any] = []
        found = outcome(lambda: (documents.append(each) or each for each in reader.documents()))
        return found, [list(document.lines) for document in documents], reader.passed_over

    whole = read([(1, lines[:first]), (first + 1, lines[first:])])

    assert whole == read([(number, [line]) for number, line in enumerate(lines, 1)])


@pytest.mark.parametrize(
    ("text", "kind", "line", "problem"),
    [
        ("Ada\tB-PER\nUlm\tX\n", TagError, 2, "'X' is not a tag"),
        ("Ada\tB-PER\n\nUlm\tO\tO\n", FormatError, 3, "the line has 3 columns, the first token line has 2"),
        ("# newdoc\nAda\n", FormatError, 2, "no column is left for the tokens: the line has 1 column"),
        ("#begin document (a); part 000\na 0 0\n", FormatError, 2, "the line has 3 columns, no column 4"),
    ],
)
def test_wrong_lines_are_named(
    text: str, kind: type[Exception], line: int, problem: str, tmp_path: Path
) -> None:
    found = columns_of(of_text(tmp_path, text))

    assert (found[0], found[2]) == (kind, line)
    assert found[1].startswith(problem)


PIECES = (
    "",
    " ",
    "\t",
    "B-PER",
    "O",
    "X",
    "_",
    "(PER*",
    "*)",
    "#",
    "# newdoc id = x",
    "# sent_id = s",
    "-DOCSTART-",
)
PIECES += (
    "<s>",
    "</s>",
    '<text id="a">',
    "</text>",
    "<a>",
    "1-2",
    "1.1",
    "#begin document (a)",
    "#end document",
)
PIECES += (
    "Entity=(e1-p",
    "Entity=e1)",
    "NER=B-X",
    "# meta::a = b",
    "# global.columns = FORM",
    "# document_id = 1",
)


def damaged(text: str, rng: Random) -> str:
    """Return a text of which some lines are replaced, left out or added."""
    lines = text.split("\n")
    for _ in range(rng.randint(1, 4)):
        place, kind = rng.randrange(len(lines)), rng.random()
        if kind < 0.3:
            lines.insert(place, rng.choice(PIECES))
        elif kind < 0.4 and len(lines) > 1:
            del lines[place]
        elif kind < 0.8:
            fields = lines[place].split("\t")
            fields[rng.randrange(len(fields))] = rng.choice(PIECES)
            lines[place] = "\t".join(fields)
        else:
            lines[place] += rng.choice(("\t", "\tO", " ", " O"))
    return "\n".join([*lines, ""])


@pytest.mark.parametrize("name", [*dict.fromkeys(name for name, _ in OF_SAMPLES), "a.vrt", "a.iob2"])
def test_damaged_columns_are_read_or_refused_with_their_line(name: str) -> None:
    whole = {"a.vrt": VRT, "a.iob2": UNER}.get(name) or (SAMPLES / name).read_text(encoding="utf-8")
    form = form_of_text(name, whole)
    for seed in range(60):
        text = damaged(whole, Random(seed))

        found = outcome(
            lambda text=text: ColumnReader(form, of_blocks([(1, text)]), FormatOptions()).documents()
        )

        assert isinstance(found, list) or found[0] is UsageError or 0 < found[2] <= text.count("\n")


# Descriptions


@pytest.mark.parametrize("form", COLUMN_FORMATS, ids=lambda form: form.holds)
def test_description_of_columns_is_complete(form: ColumnFormat) -> None:
    assert form.name
    assert form.holds
    assert form.separator in ("", "\t", " ")
    assert bool(form.bracketed) == (
        form.brackets is not ColumnFormat.__dataclass_fields__["brackets"].default
    )
    assert form.special.flags & 8  # re.MULTILINE, because runs of lines are searched
    assert all(form.special.match(_line_of(mark.pattern)) for mark in form.marks)
    if form.no_space or form.sentence_end:
        assert form.flags


def _line_of(pattern: str) -> str:
    """Return the beginning of a line that a mark may fit."""
    return "-DOCSTART-" if pattern.startswith("-DOCSTART-") else f"{pattern[0]} "
