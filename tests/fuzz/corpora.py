"""Valid pairs of files: a random corpus with gold and predicted spans, written in each format."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, NamedTuple
from xml.sax.saxutils import escape, quoteattr

LABELS = ("PER", "LOC", "ORG", "É-1", "O", "a|b", "_")
WORDS = (
    "Ada",
    "war",
    "in",
    "Ulm",
    "1815",
    ".",
    "#5",
    "<s>",
    "R&D",
    "-DOCSTART-",
    "ß",
    "\U0001f600",
    "a,b",
    '"',
    "\u2028",
)

Span = tuple[int, int, str]
"""First token, token after the last, label."""


@dataclass
class Sentence:
    words: list[str]
    sides: tuple[list[Span], list[Span]]


@dataclass
class Corpus:
    """Documents of sentences; spans lie in a sentence and do not overlap on a side."""

    documents: list[list[Sentence]]


@dataclass
class Files:
    """Two files by their names, others that belong to them, and the options that read them."""

    gold: bytes
    predicted: bytes
    ending: str
    options: list[str] = field(default_factory=list)
    more: dict[str, bytes] = field(default_factory=dict)


def corpus(rng: Random, labels: tuple[str, ...] = LABELS) -> Corpus:
    """A small corpus; half of the sentences have the same spans on both sides."""
    return Corpus(
        [[sentence(rng, labels) for _ in range(rng.randint(1, 4))] for _ in range(rng.choice((1, 1, 2, 3)))]
    )


def sentence(rng: Random, labels: tuple[str, ...]) -> Sentence:
    words = [rng.choice(WORDS[:5] if rng.random() < 0.8 else WORDS) for _ in range(rng.randint(1, 7))]
    own = spans(rng, len(words), labels)
    return Sentence(words, (own, own if rng.random() < 0.5 else spans(rng, len(words), labels)))


def spans(rng: Random, size: int, labels: tuple[str, ...]) -> list[Span]:
    found, place = [], 0
    while place < size:
        end = min(size, place + rng.randint(1, 3))
        if rng.random() < 0.4:
            found.append((place, end, rng.choice(labels)))
        place = end
    return found


def tags(size: int, spans: list[Span], begin: str = "B-", inside: str = "I-") -> list[str]:
    found = ["O"] * size
    for start, end, label in spans:
        found[start:end] = [begin + label, *[inside + label] * (end - start - 1)]
    return found


def vrt(rng: Random) -> Files:
    whole = corpus(rng)
    has_ids = rng.random() < 0.3
    has_sentences = rng.random() < 0.8

    def side(number: int) -> bytes:
        lines, token = ["<corpus>"], 0
        for name, document in enumerate(whole.documents):
            lines.append(f'<text id="d{name}" domain="m{name % 2}">')
            for one in document:
                lines += ["<s>"] if has_sentences else []
                for word, tag in zip(one.words, tags(len(one.words), one.sides[number]), strict=True):
                    token += 1
                    lines.append("\t".join([escape(word), tag, *([f"t{token}"] if has_ids else [])]))
                lines += ["</s>"] if has_sentences else []
            lines.append("</text>")
        return "\n".join([*lines, "</corpus>", ""]).encode()

    ids = ["--layer", "entity=2", "--token-id", "3"] if has_ids else []
    return Files(side(0), side(1), "vrt", ids)


def conll(rng: Random) -> Files:
    whole = corpus(rng)
    tab = rng.random() < 0.5
    separator = "\t" if tab else " "
    words = {word: word if tab else word.replace(" ", "_") for word in WORDS} | {
        "-DOCSTART-": "DOC",
        "#5": "5#",
    }
    two = rng.random() < 0.3
    head = rng.choice(("-DOCSTART- O\n", "# newdoc id = d{}\n# meta::domain = x\n", ""))

    def side(number: int) -> bytes:
        text = ""
        for name, document in enumerate(whole.documents):
            text += head.format(name) + ("\n" if head.startswith("-") else "")
            for one in document:
                columns = [[words[word] for word in one.words], tags(len(one.words), one.sides[number])]
                columns += [columns[1]] if two else []
                text += "\n".join(map(separator.join, zip(*columns, strict=True))) + "\n\n"
        return text.encode()

    return Files(side(0), side(1), "conll", ["--layer", "a=2,b=3"] if two else [])


def positions(whole: Corpus, number: int) -> list[tuple[int, int, int, str]]:
    """All spans of a side: document, first and last position over the whole corpus, label."""
    found, start = [], 0
    for name, document in enumerate(whole.documents):
        for one in document:
            found += [(name, start + own, start + end - 1, label) for own, end, label in one.sides[number]]
            start += len(one.words)
    return found


def table(rng: Random, delimiter: str, ending: str) -> Files:
    whole = corpus(rng, ("PER", "LOC", "ORG", "É"))
    text = vrt_of(whole)
    named = rng.random() < 0.5
    quote = '"' if delimiter == "," else ""

    def side(number: int) -> bytes:
        lines = [delimiter.join([*(["document"] if named else []), "start", "end", "entity"])]
        for name, start, last, label in positions(whole, number):
            own = [f"d{name}"] if named else []
            lines.append(delimiter.join([*own, str(start), str(last), f"{quote}{label}{quote}"]))
        return "\n".join([*lines, ""]).encode()

    return Files(side(0), side(1), ending, ["--text", "text.vrt", "--input", "spans"], {"text.vrt": text})


def vrt_of(whole: Corpus) -> bytes:
    lines = []
    for name, document in enumerate(whole.documents):
        lines.append(f'<text id="d{name}">')
        for one in document:
            lines += ["<s>", *map(escape, one.words), "</s>"]
        lines.append("</text>")
    return "\n".join([*lines, ""]).encode()


def spans_tsv(rng: Random) -> Files:
    return table(rng, "\t", "tsv")


def spans_csv(rng: Random) -> Files:
    return table(rng, ",", "csv")


def fair_spans(rng: Random) -> Files:
    whole = corpus(rng, ("PER", "LOC"))

    sides = (fair_lines(whole, number).encode() for number in (0, 1))
    return Files(*sides, "tsv", rng.choice(([], ["--input", "fair-spans"])))


def fair_lines(whole: Corpus, number: int) -> str:
    parts = []
    for one in (one for document in whole.documents for one in document):
        rows = [
            f"{label}\t{start + 1}\t{end}\t{', '.join(map(str, range(start + 1, end + 1)))}\n"
            for start, end, label in one.sides[number]
        ]
        parts.append("".join(rows or ["NONE\t999\t999\t999\n"]))
    return "\n".join(parts)


def conll2000(rng: Random) -> Files:
    whole = corpus(rng, ("NP", "VP", "S"))
    nested = rng.random() < 0.5
    kinds = {word: rng.choice(("NN", "VV", "$.", "PUNCT")) for word in WORDS}

    def side(number: int) -> bytes:
        parts = []
        for one in (one for document in whole.documents for one in document):
            own = tags(len(one.words), one.sides[number])
            outer = "B-X" if nested else ""
            rows = []
            for word, tag in zip(one.words, own, strict=True):
                stacked = (outer + ("" if tag == "O" else f"|{tag}")) if nested else tag
                rows.append(f"{word} {kinds[word]} {stacked}\n")
                outer = "I-X" if nested else ""
            parts.append("".join(rows))
        return "\n".join(parts).encode()

    return Files(side(0), side(1), "conll", ["--input", "conll2000"])


def characters(one: list[str], spans: list[Span]) -> list[Span]:
    """Spans in characters of the words joined by blanks."""
    starts = [sum(len(word) + 1 for word in one[:place]) for place in range(len(one))]
    return [(starts[start], starts[end - 1] + len(one[end - 1]), label) for start, end, label in spans]


def ltf(rng: Random) -> Files:
    one = sentence(rng, ("_",))
    text = " ".join(one.words)

    def side(number: int) -> bytes:
        done, parts = 0, ["<body>"]
        for start, end, _ in characters(one.words, one.sides[number]):
            parts += [escape(text[done:start]), f"<e>{escape(text[start:end])}</e>"]
            done = end
        return "".join([*parts, escape(text[done:]), "</body>\n"]).encode()

    return Files(side(0), side(1), "xml")


FEATURES = (("score", 0.5), ("kind", "x"), ("n", 3), ("truth", True), ("all", ["a", "b"]))


def gate_xml(rng: Random) -> Files:
    one = sentence(rng, ("PER", "LOC"))
    text = " ".join(one.words)
    wide = [0]
    for character in text:
        wide.append(wide[-1] + (2 if ord(character) > 0xFFFF else 1))
    sides = [characters(one.words, spans) for spans in one.sides]
    nodes = sorted({place for spans in sides for start, end, _ in spans for place in (start, end)})

    def marked() -> str:
        done, parts = 0, []
        for place in nodes:
            parts += [escape(text[done:place]), f'<Node id="{wide[place]}"/>']
            done = place
        return "".join([*parts, escape(text[done:])])

    def annotations(spans: list[Span], first: int) -> str:
        parts = []
        for number, (start, end, label) in enumerate(spans, first):
            score = rng.random()
            parts.append(
                f'<Annotation Id="{number}" Type={quoteattr(label)} StartNode="{wide[start]}" EndNode="{wide[end]}">\n'
                f'<Feature><Name className="java.lang.String">score</Name>\n'
                f'<Value className="java.lang.Double">{score}</Value></Feature>\n</Annotation>\n'
            )
        return "".join(parts)

    content = (
        '<?xml version="1.0" encoding="utf-8"?>\n<GateDocument version="3">\n<GateDocumentFeatures>\n<Feature>'
        "<Name>source</Name><Value>x</Value></Feature>\n</GateDocumentFeatures>\n"
        f"<TextWithNodes>{marked()}</TextWithNodes>\n"
        f'<AnnotationSet Name="Key">\n{annotations(sides[0], 1)}</AnnotationSet>\n'
        f'<AnnotationSet Name="Run">\n{annotations(sides[1], 100)}</AnnotationSet>\n</GateDocument>\n'
    ).encode()
    return Files(content, content, "xml", ["--gold-set", "Key", "--predicted-set", "Run"])


def bdoc(rng: Random) -> Files:
    one = sentence(rng, ("PER", "LOC"))
    text = " ".join(one.words)
    kind = rng.choice("pj")
    wide = [
        len(text[:place].encode("utf-16-le")) // 2 if kind == "j" else place for place in range(len(text) + 1)
    ]
    sets = {
        name: {
            "name": name,
            "next_annid": 50,
            "annotations": [
                {
                    "type": label,
                    "start": wide[start],
                    "end": wide[end],
                    "id": number,
                    "features": dict(rng.sample(FEATURES, rng.randint(0, 2))),
                }
                for number, (start, end, label) in enumerate(characters(one.words, spans))
            ],
        }
        for name, spans in zip(("Key", "Run"), one.sides, strict=True)
    }
    whole = {"text": text, "offset_type": kind, "features": {"a": 1}, "name": "d", "annotation_sets": sets}
    content = json.dumps(whole, ensure_ascii=rng.random() < 0.5, indent=rng.choice((None, 1))).encode()
    return Files(content, content, "bdocjs", ["--gold-set", "Key", "--predicted-set", "Run"])


def nerval(rng: Random) -> Files:
    whole = corpus(rng, ("PER", "LOC"))
    ends = rng.random() < 0.3

    def side(number: int) -> bytes:
        text = ""
        for one in (one for document in whole.documents for one in document):
            own = tags(len(one.words), one.sides[number], "S-" if ends else "B-")
            text += "".join(f"{word} {tag}\n" for word, tag in zip(one.words, own, strict=True)) + "\n"
        return text.replace("\u2028", "x").encode()

    return Files(side(0), side(1), "bio", ["--input", "nerval"])


class Row(NamedTuple):
    """What a row of JSON is made of: its words, joined by blanks in its text, and its spans in characters and words."""

    id: str
    text: str
    words: list[str]
    spans: list[Span]
    in_words: list[Span]

    def objects(self, *keys: str) -> list[dict[str, Any]]:
        """The objects of spans, with these keys of start, end, label and text."""
        return [dict(zip(keys, (*span, self.text[span[0] : span[1]]), strict=False)) for span in self.spans]


RowOf = Callable[[Random, Row], dict[str, Any]]

ROWS: dict[str, RowOf] = {}
"""The row of a document in each JSON format."""


def rows(row_of: RowOf) -> Callable[[Random], Files]:
    """JSON rows, one a line or in an array."""
    ROWS[row_of.__name__] = row_of

    def files(rng: Random) -> Files:
        whole = corpus(rng, ("PER", "LOC"))
        array = rng.random() < 0.3

        def side(number: int) -> bytes:
            found = []
            for name, document in enumerate(whole.documents):
                words = [word for one in document for word in one.words]
                before = [sum(len(one.words) for one in document[:place]) for place in range(len(document))]
                own = [
                    (start + first, end + first, label)
                    for first, one in zip(before, document, strict=True)
                    for start, end, label in one.sides[number]
                ]
                row = Row(f"d{name}", " ".join(words), words, characters(words, own), own)
                found.append(json.dumps(row_of(rng, row), ensure_ascii=False))
            return (f"[{', '.join(found)}]" if array and found else "\n".join(found)).encode() + b"\n"

        return Files(side(0), side(1), "jsonl")

    return files


@rows
def doccano(_: Random, row: Row) -> dict[str, Any]:
    return {"id": row.id, "text": row.text, "label": row.spans}


@rows
def prodigy(_: Random, row: Row) -> dict[str, Any]:
    spans = row.objects("start", "end", "label")
    return {"_input_hash": row.id, "text": row.text, "spans": spans, "answer": "accept"}


@rows
def label_studio(_: Random, row: Row) -> dict[str, Any]:
    values = [
        {"start": start, "end": end, "text": row.text[start:end], "labels": [label]}
        for start, end, label in row.spans
    ]
    result = [{"from_name": "l", "type": "labels", "value": value} for value in values]
    return {"id": row.id, "data": {"text": row.text}, "annotations": [{"completed_by": 1, "result": result}]}


@rows
def spacy_json(_: Random, row: Row) -> dict[str, Any]:
    return {"id": row.id, "text": row.text, "ents": row.objects("start", "end", "label")}


@rows
def token_rows(_: Random, row: Row) -> dict[str, Any]:
    return {"id": row.id, "tokens": row.words, "ner_tags": tags(len(row.words), row.in_words)}


@rows
def w2ner(_: Random, row: Row) -> dict[str, Any]:
    spans = [{"index": list(range(start, end)), "type": label} for start, end, label in row.in_words]
    return {"id": row.id, "sentence": row.words, "ner": spans}


@rows
def langextract(rng: Random, row: Row) -> dict[str, Any]:
    found = [
        {
            "extraction_class": label,
            "extraction_text": rng.choice((row.text[start:end], "?")),
            "char_interval": {"start_pos": start, "end_pos": end},
            "alignment_status": rng.choice((None, "match_exact", "match_fuzzy")),
            "attributes": rng.choice((None, {}, {"role": "x", "names": ["y"]})),
        }
        for start, end, label in row.spans
    ]
    return {"extractions": found or None, "text": row.text, "document_id": row.id}


@rows
def ai4privacy(rng: Random, row: Row) -> dict[str, Any]:
    mask = row.objects("start", "end", "label", "value")
    return {"source_text": row.text, "privacy_mask": rng.choice((mask, repr(mask))), "id": row.id}


@rows
def nemotron(rng: Random, row: Row) -> dict[str, Any]:
    spans = row.objects("start", "end", "label", "text")
    return {
        "uid": row.id,
        "text": row.text,
        "spans": rng.choice((spans, repr(spans))),
        "text_tagged": row.text,
    }


@rows
def presidio(_: Random, row: Row) -> dict[str, Any]:
    spans = row.objects("start_position", "end_position", "entity_type", "entity_value")
    more = {"sample_id": row.id, "masked": None, "metadata": {"a": 1, "b": None}}
    return {"full_text": row.text, "spans": spans, **more}


@rows
def gliner(_: Random, row: Row) -> dict[str, Any]:
    spans = [[start, end - 1, label] for start, end, label in reversed(row.in_words)]
    return {"id": row.id, "tokenized_text": row.words, "ner": spans}


@rows
def spert(_: Random, row: Row) -> dict[str, Any]:
    spans = [{"type": label, "start": start, "end": end} for start, end, label in row.in_words]
    return {"tokens": row.words, "entities": spans, "relations": [], "orig_id": row.id}


@rows
def comprehend(_: Random, row: Row) -> dict[str, Any]:
    spans = row.objects("BeginOffset", "EndOffset", "Type", "Text")
    return {"Entities": [{**span, "Score": 0.5} for span in spans], "File": "texts", "Line": int(row.id[1:])}


@rows
def described(_: Random, row: Row) -> dict[str, Any]:
    spans = [
        {"points": [{"from": start, "to": end - 1}], "tag": {"name": label}}
        for start, end, label in row.spans
    ]
    return {"key": row.id, "data": {"text": row.text}, "marks": spans}


DESCRIPTION = "text=data.text,id=key,spans=marks,label=tag.name,start=points.0.from,end_inclusive=points.0.to"
"""How the rows of `described` are read."""


def with_description(rng: Random) -> Files:
    return replace(described(rng), options=["--row", DESCRIPTION])


def mentions(rng: Random) -> Files:
    """Gold of doccano and answers of a language model, with fences, prose, offsets and what is not in the text."""
    pair = doccano(rng)
    rows = []
    for document in _as_list(pair.predicted):
        text, entities = document["text"], []
        for start, end, label in document["label"]:
            mention = rng.choice((str, str, str.upper, "‘{}’".format, " {} ".format, str.swapcase))(
                text[start:end]
            )
            given = {"start": start, "end": rng.choice((end, end, -1, "x"))} if rng.random() < 0.3 else {}
            entities.append({"text": mention, "label": label, **given, "score": round(rng.random(), 2)})
        entities += entities[: rng.choice((0, 0, 1, 2))]
        if rng.random() < 0.3:
            grouped: dict[str, list[str]] = {}
            for each in entities:
                grouped.setdefault(each["label"], []).append(each["text"])
            row: object = {"id": document["id"], "entities": grouped}
        else:
            row = {"id": document["id"], "entities": entities}
        written = json.dumps(row, ensure_ascii=rng.random() < 0.5)
        forms = ("{}", "{}", "Sure! {} Bye.", "```json\n{}\n```", "```{}```")
        rows.append(rng.choice(forms).replace("{}", written, 1))
    options = [
        "--input",
        "mentions",
        "--locate",
        rng.choice(("exact", "exact,space", "exact,space,quotes,case,fuzzy=0.8")),
    ]
    options += rng.choice(
        (
            [],
            ["--unparsable", "empty"],
            ["--missing", "empty"],
            ["--occurrence", "all"],
            ["--occurrence", "first"],
        )
    )
    return Files(pair.gold, "\n".join(rows).encode() + b"\n", "jsonl", options)


def _as_list(data: bytes) -> list[dict[str, Any]]:
    text = data.decode()
    rows: list[dict[str, Any]] = json.loads(
        text if text.startswith("[") else f"[{text.strip().replace(chr(10), ',')}]"
    )
    return rows


def inline(rng: Random) -> Files:
    """Gold of doccano and answers that repeat the text with tags, some of them not closed."""
    pair = doccano(rng)
    lenient = rng.random() < 0.5
    rows = []
    for document in _as_list(pair.predicted):
        text, tagged, done = document["text"], "", 0
        for start, end, label in sorted(document["label"]):
            if start >= done:
                closing = "" if lenient and rng.random() < 0.2 else f"</{label}>"
                tagged += _escaped(text[done:start]) + f"<{label}>{_escaped(text[start:end])}{closing}"
                done = end
        changed = _escaped(text[done:]).replace("a", "e", rng.choice((0, 0, 1)))
        rows.append(json.dumps({"id": document["id"], "text": tagged + changed}))
    options = [
        "--input",
        "doccano:inline",
        "--labels",
        "PER,LOC",
        *(["--unparsable", "lenient"] if lenient else []),
    ]
    return Files(pair.gold, "\n".join(rows).encode() + b"\n", "jsonl", options)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("]", ")")


FORMATS: dict[str, Callable[[Random], Files]] = {
    "vrt": vrt,
    "conll": conll,
    "spans-tsv": spans_tsv,
    "spans-csv": spans_csv,
    "fair-spans": fair_spans,
    "conll2000": conll2000,
    "ltf": ltf,
    "gate-xml": gate_xml,
    "bdoc": bdoc,
    "nerval": nerval,
    "doccano": doccano,
    "prodigy": prodigy,
    "label-studio": label_studio,
    "spacy-json": spacy_json,
    "token-rows": token_rows,
    "mentions": mentions,
    "inline-answers": inline,
    "w2ner": w2ner,
    "langextract": langextract,
    "ai4privacy": ai4privacy,
    "nemotron": nemotron,
    "presidio": presidio,
    "gliner": gliner,
    "spert": spert,
    "comprehend": comprehend,
    "row": with_description,
}
"""What makes a valid pair of files of each format. A new format is one line."""
