"""The routes by which the same evaluation can be carried out, and the corpora that are sent along them.

There are two ways, of documents and of column files, lists and rows as they are (`clueval.reading`), and one model of
both: `model` puts the cases of documents into a bag with `clueval.core` alone.

To let a new route, option, format or metric take part, add a line to `ROUTES`, `AXES` or `FORMATS`; metrics join by
themselves. `outcome` says what an evaluation gives by one of the routes, as a value to be compared.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import ANY
from xml.sax.saxutils import escape

from fuzz.corpora import DESCRIPTION, ROWS, Row, characters
from sizes import documents_alone, handed_in

from clueval import Accumulator, Document, Result, Span, load_result, read, score
from clueval.core.count import Plan, count, sequences_of
from clueval.core.document import Pair
from clueval.core.tags import decode
from clueval.files.errors import CluevalError
from clueval.metrics import metric_named
from clueval.reading.passages import Sizes
from clueval.transforms.characters import InCharacters, to_characters

Sentence = list[tuple[str, ...]]
"""Rows of a token, a tag in each of two layers, and a token id."""

LAYERS = ("entity", "risk")
Options = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Text:
    """A document of a generated corpus."""

    id: str
    domain: str
    sentences: list[Sentence]


# Corpora

SCHEMES: dict[str, tuple[str, ...]] = {
    "BIO": ("B", "I"),
    "BIO, ill-formed": ("B", "I", "I"),
    "IO": ("I",),
    "IOB1": ("I", "I", "I", "B"),
    "BIOES, ill-formed": ("B", "I", "E", "S"),
    "IOE": ("I", "I", "E"),
    "BIO and IO": ("B", "I"),
    "BIO, no labels": ("B", "I"),
}
"""The prefixes that tags are made of; the second layer of the last but one is IO."""


def corpora(seed: int, scheme: str, documents: int = 8) -> tuple[list[Text], list[Text]]:
    """Gold and predicted over the same tokens: documents without tokens, sentences that agree and that do not."""
    rng = random.Random(f"{seed} {scheme}")
    sides: tuple[list[Text], list[Text]] = ([], [])
    for number in range(documents):
        shape = [rng.choice((1, 2, 5, 9, 14)) for _ in range(rng.choice((0, 1, 2, 4)))]
        domain = rng.choice("ab")
        for side in sides:
            side.append(Text(f"d{number}", domain, []))
        for place, length in enumerate(shape):
            tags = [[_tags(rng, scheme, length, layer) for layer in LAYERS] for _ in sides]
            if rng.random() < 0.4:
                tags[1] = tags[0]
            words = [f"{rng.choice(('Anna', 'am', 'R&amp;D', 'x'))}{place}" for _ in range(length)]
            ids = [f"t{number}.{place}.{i}" for i in range(length)]
            for side, columns in zip(sides, tags, strict=True):
                side[-1].sentences.append(list(zip(words, *columns, ids, strict=True)))
    return sides


def _tags(rng: random.Random, scheme: str, length: int, layer: str) -> list[str]:
    labels = ("PER", "LOC", "court-name") if layer == "entity" else ("high", "low")
    prefixes = "I" if scheme == "BIO and IO" and layer == "risk" else SCHEMES[scheme]
    tags: list[str] = []
    while len(tags) < length:
        label = "" if scheme == "BIO, no labels" else f"-{rng.choice(labels)}"
        run = rng.randint(1, 4)
        if scheme == "BIO":
            tags += [f"B{label}", *[f"I{label}"] * (run - 1)]
        else:
            tags += [f"{rng.choice(prefixes)}{label}" for _ in range(run)]
        tags += ["O"] * rng.randint(0, 3)
    return tags[:length]


# Formats


@dataclass(frozen=True, slots=True)
class Files:
    """Two files that were written, and how they are to be read."""

    gold: Path
    predicted: Path
    reading: Options = field(default_factory=dict)

    def documents(self) -> tuple[Iterator[Document], Iterator[Document]]:
        """The documents of both sides, as they come."""
        return self._read(self.gold, 0), self._read(self.predicted, 1)

    def _read(self, path: Path, side: int) -> Iterator[Document]:
        reading = dict(self.reading)
        layers = reading.pop("layers", None)
        sets = [reading.pop(name, None) for name in ("gold_set", "predicted_set")]
        if sets[side] is not None:
            reading["annotation_set"] = sets[side]
        if layers is not None:
            layers = {name: of if isinstance(of, int | str) else of[side] for name, of in layers.items()}
        if path.suffix == ".tags":
            reading["text"] = self.gold
        return read(path, layers, **reading)


def _row(row: Sequence[str], separator: str) -> str:
    return separator.join(row) + "\n"


def vrt(texts: Sequence[Text]) -> str:
    parts = []
    for text in texts:
        body = "".join(
            "<s>\n" + "".join(_row(row, "\t") for row in rows) + "</s>\n" for rows in text.sentences
        )
        parts.append(f'<text id="{text.id}" domain="{text.domain}">\n{body}</text>\n')
    return "".join(parts)


def irregular_vrt(texts: Sequence[Text]) -> str:
    """Sentences with and without their tags, in documents with and without an id, among other XML."""
    parts = ["<?xml version='1.0'?>\n<corpus>\n"]
    for number, text in enumerate(texts):
        name = f'id="{text.id}" ' if number % 3 else ""
        parts.append(f'<text {name}domain="{text.domain}">\n')
        for place, rows in enumerate(text.sentences):
            lines = [_row(row, "\t") for row in rows]
            if place % 3 == 0:
                lines = ["<s>\n", *lines, "</s>\n"]
            elif place % 3 == 1:
                lines = [
                    f'<p n="{place}">\n<s id="s{place}">\n',
                    *lines[:1],
                    "<!-- a -->\n",
                    *lines[1:],
                    "</s>\n</p>\n",
                ]
            parts += lines
        parts.append("</text>\n" + "\n" * (number % 2))
    return "".join([*parts, "</corpus>\n"])


def irregular_conll(texts: Sequence[Text]) -> str:
    """Sentences with comments, tokens that begin like comments, documents known by their numbers."""
    parts = []
    for number, text in enumerate(texts):
        parts.append("-DOCSTART-\n\n" if number % 2 else "-DOCSTART- -X- O\n\n")
        for place, rows in enumerate(text.sentences):
            head = ["", "# sent_id = s\n", "# a comment\n"][place % 3]
            lines = [_row((f"#{row[0]}", *row[1:]) if place % 2 else row, "\t") for row in rows]
            parts.append(head + "".join(lines) + "\n" * (1 + place % 2))
    return "".join(parts)


def conll(texts: Sequence[Text]) -> str:
    parts = []
    for text in texts:
        parts.append(f"# newdoc id = {text.id}\n# meta::domain = {text.domain}\n")
        parts += ["".join(_row(row, "\t") for row in rows) + "\n" for rows in text.sentences]
    return "".join(parts)


def conll_with_blanks(texts: Sequence[Text]) -> str:
    """The tags of the first layer alone; documents are known by their numbers."""
    parts = []
    for text in texts:
        parts.append("-DOCSTART- O\n\n")
        parts += ["".join(_row(row[:2], " ") for row in rows) + "\n" for rows in text.sentences]
    return "".join(parts)


def numbers_first(texts: Sequence[Text]) -> str:
    """Numbers of tokens before the words; some rows are no tokens."""
    parts = []
    for text in texts:
        parts.append(f"# newdoc id = {text.id}\n# meta::domain = {text.domain}\n")
        for rows in text.sentences:
            lines = [_row((str(number), *row[:3]), "\t") for number, row in enumerate(rows, 1)]
            parts += [*lines[:1], "2-3\tx\t_\t_\n" * (len(rows) % 2), *lines[1:], "\n"]
    return "".join(parts)


def multiconer(texts: Sequence[Text]) -> str:
    """The tags of the first layer; each sentence is a document with an id and metadata."""
    parts = []
    for text in texts:
        for place, rows in enumerate(text.sentences):
            lines = [_row((row[0], "_", "_", row[1]), " ") for row in rows]
            parts.append(f"# id {text.id}.{place}\tdomain={text.domain}\n{''.join(lines)}\n")
    return "".join(parts) or "# id d\nx _ _ O\n"


def multiconer_with_tabs(texts: Sequence[Text]) -> str:
    """The same in columns that are separated by tabs, which Nerval's files do not have."""
    return multiconer(texts).replace(" _ _ ", "\t_\t_\t")


def tags_alone(texts: Sequence[Text]) -> str:
    """The tags of the same file, with and without ids."""
    samples = [(text, place, rows) for text in texts for place, rows in enumerate(text.sentences)]
    parts = []
    for number, (text, place, rows) in enumerate(samples):
        head = f"# id {text.id}.{place}\n" if number % 2 else ""
        parts.append(head + "".join(f"{row[1]}\n" for row in rows) + "\n\n")
    return "".join(parts) or "O\n"


def empty_fields(texts: Sequence[Text]) -> str:
    """The tags of the first layer, and empty fields at the end of some lines after the first."""
    rows = [rows for text in texts for rows in text.sentences] or [[("x", "O")]]
    lines = [[_row(row[:2], "\t") for row in sentence] for sentence in rows]
    for sentence in lines[1:]:
        sentence[-1] = sentence[-1].replace("\n", "\t" * (len(sentence) % 3) + "\n")
    return "\n".join(map("".join, lines))


def hipe(texts: Sequence[Text]) -> str:
    """Spans that continue after the end of a sentence and after comments."""
    parts = ["TOKEN\tNE-COARSE-LIT\tNE-FINE-LIT\tMISC\n"]
    for text in texts:
        parts.append(f"# domain = {text.domain}\n# document_id = {text.id}\n")
        for rows in text.sentences:
            flags = ["_"] * (len(rows) - 1) + ["EndOfSentence"]
            lines = [_row((*row[:3], flag), "\t") for row, flag in zip(rows, flags, strict=True)]
            parts += [*lines[:2], "# segment_iiif_link = _\n\n", *lines[2:]]
    return "".join(parts)


def conllu(texts: Sequence[Text]) -> str:
    """The tags of two layers under keys of ``MISC``; some rows are no tokens."""
    parts = []
    for text in texts:
        parts.append(f"# newdoc id = {text.id}\n# meta::domain = {text.domain}\n")
        for place, rows in enumerate(text.sentences):
            misc = [
                "|".join([*(["NER=" + row[1]] if row[1] != "O" else []), f"RISK={row[2]}"]) for row in rows
            ]
            lines = _conllu_lines(rows, misc)
            parts += [f"# sent_id = {place}\n", *lines[:1], "2-3\tx" + "\t_" * 8 + "\n", *lines[1:], "\n"]
    return "".join(parts)


def conllu_brackets(texts: Sequence[Text]) -> str:
    """The spans of the first layer as brackets."""
    parts = []
    for text in texts:
        parts.append(f"# newdoc id = {text.id}\n# meta::domain = {text.domain}\n")
        for rows in text.sentences:
            misc = [""] * len(rows)
            for number, (start, end, label) in enumerate(decode([row[1] for row in rows])):
                misc[start] += f"Entity=(e{number}-{label}"
                misc[end - 1] += ")" if end == start + 1 else f"Entity=e{number})"
            parts += [*_conllu_lines(rows, [value or "_" for value in misc]), "\n"]
    return "".join(parts)


def _conllu_lines(rows: Sequence[tuple[str, ...]], misc: Sequence[str]) -> list[str]:
    return [
        f"{number}\t{row[0]}\t_\tX\t_\t_\t0\troot\t_\t{value}\n"
        for number, (row, value) in enumerate(zip(rows, misc, strict=True), 1)
    ]


def conll2012(texts: Sequence[Text]) -> str:
    """The spans of the first layer as brackets; the number of columns differs from sentence to sentence."""
    parts = []
    for text in texts:
        parts.append(f"#begin document ({text.id}); part 000\n")
        for place, rows in enumerate(text.sentences):
            values = ["*"] * len(rows)
            for start, end, label in decode([row[1] for row in rows]):
                values[start] = f"({label}" + (")" if end == start + 1 else "*")
                values[end - 1] = values[end - 1] if end == start + 1 else "*)"
            more = " *" * (place % 3)
            parts += [
                f"d 0 {number} {row[0]}  NN * - - - -  {value}{more} -\n"
                for number, (row, value) in enumerate(zip(rows, values, strict=True))
            ]
            parts.append("\n")
        parts.append("#end document\n")
    return "".join(parts)


def nerval(texts: Sequence[Text]) -> str:
    lines = [_row(row[:2], " ") for text in texts for rows in text.sentences for row in rows]
    return "".join(lines) or "x O\n"


def conll2000(texts: Sequence[Text]) -> str:
    prefixes = str.maketrans("ES", "IB")
    rows = [
        [f"{token} NE {tag[:1].translate(prefixes)}{tag[1:]}\n" for token, tag, *_ in sentence]
        for text in texts
        for sentence in text.sentences
    ]
    return "\n".join(map("".join, rows)) or "x NE O\n"


def fair_spans(texts: Sequence[Text]) -> str:
    parts = []
    for text in texts:
        for rows in text.sentences:
            chunks = list(decode([row[1] for row in rows]))
            lines = [
                f"{label}\t{start + 1}\t{end}\t{', '.join(map(str, range(start + 1, end + 1)))}\n"
                for start, end, label in chunks
            ]
            parts.append("".join(lines) or "EMPTY\t999\t999\t999\n")
    return "\n".join(parts) or "EMPTY\t999\t999\t999\n"


def ltf(texts: Sequence[Text]) -> str:
    """All documents as one, and of the first layer the spans of one label."""
    rows = [row for text in texts for sentence in text.sentences for row in sentence]
    words = [escape(row[0]) for row in rows] or ["x"]
    for start, end, label in decode([row[1] for row in rows]):
        if label == "PER":
            words[start] = f"<e>{words[start]}"
            words[end - 1] += "</e>"
    return f"<body>{' '.join(words)}</body>\n"


def bdoc(texts: Sequence[Text]) -> str:
    """All documents as one, with the spans of both layers in one set."""
    rows = [row for text in texts for sentence in text.sentences for row in sentence]
    layers = {
        name: [Span(*place, {name: label}) for *place, label in decode([row[1 + number] for row in rows])]
        for number, name in enumerate(LAYERS)
    }
    document = to_characters(Document("1", layers, tokens=[row[0] for row in rows] or ["x"]))
    spans = [span for of_layer in document.layers.values() for span in of_layer]
    annotations = [
        {"type": span.label, "start": span.start, "end": span.end, "id": number, "features": {}}
        for number, span in enumerate(spans)
    ]
    return json.dumps(
        {"text": document.text, "offset_type": "p", "annotation_sets": {"Key": {"annotations": annotations}}}
    )


def table_of_spans(texts: Sequence[Text]) -> str:
    lines = ["document\tstart\tend_inclusive\tentity\trisk\n"]
    begin = 0
    for text in texts:
        for rows in text.sentences:
            for number in range(len(LAYERS)):
                for start, end, label in decode([row[1 + number] for row in rows]):
                    cells = [label if number == place else "" for place in range(len(LAYERS))]
                    lines.append(
                        "\t".join([text.id, str(begin + start), str(begin + end - 1), *cells]) + "\n"
                    )
            begin += len(rows)
    return "".join(lines)


def json_rows(name: str, place: str = "") -> Callable[[Sequence[Text]], str]:
    """A row for each document, with the spans of the first layer; `place` is that of metadata in the row."""

    def write(texts: Sequence[Text]) -> str:
        lines = []
        for text in texts:
            rows = [row for sentence in text.sentences for row in sentence] or [("x", "O")]
            words = [row[0] for row in rows]
            spans = list(decode([row[1] for row in rows]))
            whole = " ".join(words)
            made = ROWS[name](
                random.Random(text.id), Row(text.id, whole, words, characters(words, spans), spans)
            )
            metadata = {"domain": text.domain}
            lines.append(json.dumps(made | ({place: metadata} if place else metadata)) + "\n")
        return "".join(lines)

    return write


@dataclass(frozen=True, slots=True)
class Format:
    """How a corpus is written, and read again. `layers`: those that a filter can name.

    `predicted` writes the other side if it has another format, which its ending is called.
    """

    write: Callable[[Sequence[Text]], str]
    ending: str
    reading: Mapping[str, Any] = field(default_factory=dict)
    layer: str = "label"
    metadata: bool = False
    one_text: bool = False
    columns: bool = False
    files: int = 1
    predicted: tuple[Callable[[Sequence[Text]], str], str] | None = None


_COLUMNS: Options = {"layers": {"entity": 2, "risk": 3}, "token_id": 4}
FORMATS = {
    "vrt": Format(vrt, "vrt", _COLUMNS, "entity", metadata=True, columns=True),
    "conll": Format(conll, "conll", _COLUMNS | {"input": "conll"}, "entity", metadata=True, columns=True),
    "vrt, the last column": Format(vrt, "vrt", {"layers": {"risk": 3}}, "risk", metadata=True, columns=True),
    "vrt, irregular": Format(irregular_vrt, "vrt", _COLUMNS, "entity", columns=True),
    "conll, irregular": Format(irregular_conll, "conll", _COLUMNS | {"input": "conll"}, "risk", columns=True),
    "vrt, two files": Format(vrt, "vrt", _COLUMNS, "entity", columns=True, files=2),
    "conll with blanks": Format(conll_with_blanks, "conll", {"input": "conll"}, columns=True),
    "conll, numbers first": Format(
        numbers_first, "iob2", {"layers": {"entity": 3, "risk": 4}}, "entity", metadata=True, columns=True
    ),
    "conll, MultiCoNER": Format(multiconer, "conll", {"input": "conll"}, metadata=True, columns=True),
    "conll, empty fields": Format(empty_fields, "conll", {"input": "conll"}, columns=True),
    "tags": Format(multiconer_with_tabs, "conll", metadata=True, predicted=(tags_alone, "tags")),
    "hipe": Format(hipe, "tsv", {"layers": {"entity": 2, "risk": 3}}, "entity", metadata=True, columns=True),
    "conllu": Format(
        conllu, "conllu", {"layers": {"entity": "NER", "risk": "RISK"}}, "entity", metadata=True, columns=True
    ),
    "conllu, brackets": Format(conllu_brackets, "conllu", metadata=True),
    "conll2012": Format(conll2012, "gold_conll"),
    "conll2000": Format(conll2000, "conll", {"input": "conll2000"}),
    "fair-spans": Format(fair_spans, "csv"),
    "ltf": Format(ltf, "xml"),
    "bdoc": Format(bdoc, "bdocjs", {"gold_set": "Key", "predicted_set": "Key"}),
    "nerval": Format(nerval, "bio", {"input": "nerval"}, one_text=True),
    "doccano": Format(json_rows("doccano"), "jsonl", metadata=True),
    "langextract": Format(json_rows("langextract"), "jsonl", metadata=True),
    "ai4privacy": Format(json_rows("ai4privacy"), "jsonl", metadata=True),
    "nemotron": Format(json_rows("nemotron"), "jsonl", metadata=True),
    "presidio": Format(json_rows("presidio", "metadata"), "jsonl", metadata=True),
    "gliner": Format(json_rows("gliner"), "jsonl", metadata=True),
    "spert": Format(json_rows("spert"), "jsonl", metadata=True),
    "row": Format(json_rows("described"), "jsonl", {"row": DESCRIPTION}, metadata=True),
    "spans": Format(table_of_spans, "tsv", {}, "entity", metadata=True),
}


def written(folder: Path, form: str, sides: tuple[list[Text], list[Text]]) -> Files:
    """Both sides as files of a format; a table of spans gets its text beside it."""
    kind = FORMATS[form]
    paths = []
    for name, texts in zip(("gold", "predicted"), sides, strict=True):
        if kind.files > 1:
            paths.append(folder / name)
            paths[-1].mkdir()
            for number in range(kind.files):
                part = paths[-1] / f"{number}.{kind.ending}"
                part.write_text(kind.write(texts[number :: kind.files]), encoding="utf-8", newline="")
            continue
        write, ending = kind.write, kind.ending
        if name == "predicted" and kind.predicted is not None:
            write, ending = kind.predicted
        path = folder / f"{name}.{ending}"
        path.write_text(write(texts), encoding="utf-8", newline="")
        if form == "spans":
            path.with_suffix(".vrt").write_text(vrt(texts), encoding="utf-8", newline="")
        paths.append(path)
    return Files(paths[0], paths[1], dict(kind.reading))


# Settings


def axes(form: Format) -> list[list[Options]]:
    """The values of every option; a setting takes one of each."""
    first_layer_label = {"entity": "PER", "risk": "high", "label": "PER"}[form.layer]
    by: list[Options] = [{}, {"by": "document"}]
    where: list[Options] = [{}, {"where": [f"{form.layer}={first_layer_label}"]}, {"where": ["document=1"]}]
    if form.metadata:
        by += [{"by": ["domain", "document"]}]
        where[2] = {"where": ["document=d1", "document=d2", "document=d5"]}
        where += [{"where": ["domain=a"]}, {"where": [f"{form.layer}={first_layer_label}", "domain=b"]}]
    return [
        [{}, {"unit": "character"}],
        [{}, {"merge": True}],
        by,
        where,
    ]


def settings_of(form: Format) -> list[Options]:
    """All settings of a format."""
    return [{key: value for part in parts for key, value in part.items()} for parts in product(*axes(form))]


TREATMENTS: list[Options] = [{}, {"scheme": "BIOES"}, {"invalid": "discard"}, {"invalid": "error"}]
"""Options that decide how the tags of column files are read."""


# Routes

Run = Callable[[Files, Options], Result]


@dataclass(frozen=True, slots=True)
class Route:
    """A way to evaluate. `says`: what its signature and inputs say otherwise; `takes`: whether it can
    do what is asked."""

    run: Run
    says: Mapping[str, Any] = field(default_factory=dict)
    takes: Callable[[Format, Options], bool] = lambda form, options: True


def by_files(files: Files, options: Options) -> Result:
    return score(files.gold, files.predicted, **files.reading, **options)


def _by_short_passages(files: Files, options: Options) -> Result:
    with handed_in(Sizes(sentences=1, rows=2)):
        return by_files(files, options)


def _by_small_blocks(files: Files, options: Options) -> Result:
    with handed_in(Sizes(block=64)):
        return by_files(files, options)


def _by_documents(files: Files, options: Options) -> Result:
    gold, predicted = files.documents()
    return score(list(gold), list(predicted), **options)


def _by_documents_as_they_come(files: Files, options: Options) -> Result:
    return score(*files.documents(), **options)


def _by_documents_alone(files: Files, options: Options) -> Result:
    with documents_alone():
        return by_files(files, options)


def _by_pairs(files: Files, options: Options) -> Result:
    return by_files(files, options | {"pair_by": "id"})


def _aligned(files: Files, options: Options) -> Result:
    return by_files(files, options | {"align": True})


def _packed(files: Files, options: Options) -> Result:
    paths = []
    for path in (files.gold, files.predicted):
        paths.append(path.with_name(f"{path.name}.gz"))
        paths[-1].write_bytes(gzip.compress(path.read_bytes()))
    return by_files(Files(paths[0], paths[1], files.reading), options)


def _from_windows(files: Files, options: Options) -> Result:
    path = files.predicted.with_name(f"windows.{files.predicted.name}")
    path.write_bytes(b"\xef\xbb\xbf" + files.predicted.read_bytes().replace(b"\n", b"\r\n"))
    return by_files(Files(files.gold, path, files.reading), options)


def _in_one_file(files: Files, options: Options) -> Result:
    """Both sides in one file, predicted in the columns after those of gold."""
    lines = [path.read_text(encoding="utf-8").split("\n") for path in (files.gold, files.predicted)]
    separator = "\t" if "layers" in files.reading else " "
    both = files.gold.with_name(f"both.{files.gold.name}")
    joined = [
        f"{own}{separator}{other}" if separator in own and (separator == "\t" or own[0] != "-") else own
        for own, other in zip(*lines, strict=True)
    ]
    both.write_text("\n".join(joined), encoding="utf-8", newline="")
    width = 4 if separator == "\t" else 2
    layers = files.reading.get("layers") or {"label": 2}
    pairs = {name: (column, column + width) for name, column in layers.items()}
    return score(both, **files.reading | {"layers": pairs}, **options)


def _accumulated(files: Files, options: Options) -> Result:
    chosen = {key: options[key] for key in ("metrics", "merge") if key in options}
    scores = Accumulator(**chosen)
    for pair in zip(*files.documents(), strict=True):
        scores.update(*pair)
    return scores.compute()


def _by_tasks(files: Files, options: Options) -> Result:
    with ThreadPoolExecutor(1) as pool:
        return by_files(files, options | {"executor": pool, "jobs": 3})


def by_processes(number: int) -> Run:
    """In processes of this library's own."""

    def run(files: Files, options: Options) -> Result:
        return by_files(files, options | {"jobs": number})

    return run


def _changed(files: Files, options: Options) -> Result:
    """With changes before counting that change nothing, counted in tasks."""
    with ThreadPoolExecutor(1) as pool:
        more: Options = {"label_map": {"*": "*"}, "fragments": "hull", "executor": pool, "jobs": 3}
        return replace(by_files(files, options | more), prepared=None)


def _of_columns(form: Format, options: Options) -> bool:
    return form.columns


def _one_file(form: Format, options: Options) -> bool:
    return form.files == 1


def _with_ids(form: Format, options: Options) -> bool:
    return _one_file(form, options) and form.predicted is None


def _one_file_of_columns(form: Format, options: Options) -> bool:
    return (
        form.columns and form.files == 1 and form is not FORMATS["conllu"]
    )  # whose columns are not the user's


def _of_joined_lines(form: Format, options: Options) -> bool:
    return _one_file_of_columns(form, options) and form.write not in (multiconer, empty_fields)


def _leaves_out_no_span(form: Format, options: Options) -> bool:
    return not any(condition.startswith(f"{form.layer}=") for condition in options.get("where", ()))


def _has_texts(form: Format, options: Options) -> bool:
    return _leaves_out_no_span(form, options) and form is not FORMATS["fair-spans"]


def _plain(form: Format, options: Options) -> bool:
    return not options.keys() & {"unit", "by", "where"} and form is not FORMATS["fair-spans"]


DOCUMENTS = {
    "scheme": "documents",
    "invalid": "documents",
    "format": ["documents"] * 2,
    "files": [0, 0],
    "schemes": [{}, {}],
    "sources": [{}, {}],
    "passed_over": [{}, {}],
}


def _by_units(files: Files, options: Options) -> Result:
    return by_files(files, options | {"resample_by": "document"})


def _saved(files: Files, options: Options) -> Result:
    with TemporaryDirectory() as folder:
        by_files(files, options | {"resample_by": "document", "save": f"{folder}/a.clueval"})
        return load_result(f"{folder}/a.clueval")


ROUTES = {
    "short passages": Route(_by_short_passages, takes=_of_columns),
    "small blocks": Route(_by_small_blocks),
    "documents": Route(_by_documents, DOCUMENTS),
    "documents as they come": Route(_by_documents_as_they_come, DOCUMENTS),
    "documents of the files": Route(_by_documents_alone),
    "documents paired by id": Route(_by_pairs, {"paired": "id"}, _with_ids),
    "aligned texts": Route(_aligned, {"text": "aligned"}, _has_texts),
    "gzip": Route(_packed, takes=_one_file),
    "CRLF and a byte-order mark": Route(_from_windows, takes=_one_file_of_columns),
    "one file": Route(_in_one_file, {"sources": ANY}, takes=_of_joined_lines),
    "accumulator": Route(_accumulated, DOCUMENTS, _plain),
    "executor": Route(_by_tasks),
    "changes of nothing": Route(_changed, {"labels": ANY, "fragments": "hull"}),
    "units of documents": Route(_by_units),
    "saved and loaded": Route(
        _saved, {"passed_over": ANY}, takes=lambda form, options: "align" not in options
    ),
}
"""Every way beside that of whole files in one process, with which they are compared."""


OF_CASES = ("exact", "levels", "fair", "muc", "partial", "confusion")
"""Metrics that count cases."""


def plan_of(
    options: Options, metrics: tuple[Any, ...], units: str | None = None, first: tuple[Any, ...] = ()
) -> Plan:
    """The plan of options, with steps before theirs."""
    where: dict[str, frozenset[str]] = {}
    for condition in options.get("where", ()):
        key, _, value = condition.partition("=")
        where[key] = where.get(key, frozenset()) | {value}
    by = options.get("by", ())
    return Plan(
        metrics,
        merge=options.get("merge", False),
        where=where,
        by=(by,) if isinstance(by, str) else tuple(by),
        units=units,
        steps=(*first, InCharacters()) if "unit" in options else first,
    )


def model(files: Files, options: Options) -> dict[str, Any]:
    """The reports of metrics of cases by `clueval.core` alone: documents become cases, and cases are counted.

    They are of everything, under ``()``, and of each value of the break-downs, under its key and the value.
    """
    plan = plan_of(options, tuple(map(metric_named, options["metrics"])))
    pairs = ([Pair(*map(_by_place, pair))] for pair in zip(*files.documents(), strict=True))
    bag = count(pairs, plan, list(files.reading.get("layers", ())))
    found: dict[Any, Any] = {}
    for key in ((), *plan.by):

        def value_of(place: Any, key: Any = key) -> Any:
            return (key, place.values[plan.by.index(key)]) if key else ()

        grouped = bag.grouped(value_of)
        for place, sequence, metric, tally in grouped.tallies_of(plan.metrics, sequences_of(bag, plan)):
            reports = found.setdefault(place, {}).setdefault(metric.name, {})
            reports[sequence] = metric.scores(tally, list(bag.layers) if plan.merge else [sequence])
    return found


def _by_place(document: Document) -> Document:
    """Where the order of spans counts, those with numbers as ids are in the order of their places, then of ids."""
    if not document.ordered or any(span.id is None for spans in document.layers.values() for span in spans):
        return document
    layers = {
        name: sorted(spans, key=lambda span: (span.start, span.end, span.id))
        for name, spans in document.layers.items()
    }
    return replace(document, layers=layers)


def reports_of(result: Result) -> dict[Any, Any]:
    """The reports of a result, as `model` has them."""
    groups = {
        (key, value): dict(of["metrics"])
        for key, values in (result.groups or {}).items()
        for value, of in values.items()
    }
    return {(): dict(result.metrics), **groups}


Outcome = dict[str, Any] | str
"""Everything that an evaluation gives, or that it was refused: of two reasons a route may find the other first."""


def outcome(run: Run, files: Files, options: Options, says: Mapping[str, Any] | None = None) -> Outcome:
    """What an evaluation gives by a route; of its signature and inputs are left out those that the route
    `says` otherwise."""
    try:
        result = run(files, options)
    except CluevalError:
        return "refused"
    found: dict[str, Any] = {
        "report": {
            key: value
            for key, value in result.to_dict().items()
            if key not in ("signature", "inputs", "passed_over") and value != []
        },
        "signature": {**result.signature.choices, **_inputs(result)},
        "spans": {
            side: {name: layer["spans"] for name, layer in of["layers"].items()}
            for side, of in result.inputs.items()
        },
    }
    said = {key: value for key, value in (says or {}).items() if found["signature"].get(key) == value}
    return without(found, said)


def _inputs(result: Result) -> dict[str, list[Any]]:
    """What a result says of both sides, without the numbers of spans and what is None."""
    sides = list(result.inputs.values())

    def each(key: str) -> list[Any]:
        return [
            {name: layer[key] for name, layer in side["layers"].items() if layer[key] is not None}
            for side in sides
        ]

    return {
        "format": [side["format"] for side in sides],
        "files": [side["files"] for side in sides],
        "schemes": each("scheme"),
        "sources": each("source"),
        "passed_over": list(result.passed_over.values()),
    }


def without(found: Outcome, said: Mapping[str, Any], report: Sequence[str] = ()) -> Outcome:
    """An outcome without some choices in its signature, and without some parts of its report."""
    if isinstance(found, str):
        return found
    return found | {
        "signature": {key: of for key, of in found["signature"].items() if key not in said},
        "report": {key: of for key, of in found["report"].items() if key not in report},
    }
