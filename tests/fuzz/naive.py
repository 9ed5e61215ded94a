"""Naive readers: how many tokens (or characters) and spans a valid file has, counted without the library.

One function a format, of some twenty lines, each written from the description of the format alone.
"""

from __future__ import annotations

import csv
import io
import json
import re
from ast import literal_eval
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

Count = tuple[int, int]
"""Positions of the text, and spans."""


def begun(tags: list[str]) -> int:
    """How many spans a sentence has whose tags are well-formed."""
    return sum(tag[0] in "BSU" for tag in tags)


def vrt(data: bytes, side: str, text: bytes = b"") -> Count:
    tokens = spans = 0
    for line in data.decode("utf-8-sig").replace("\r\n", "\n").split("\n"):
        if "\t" in line:
            tokens += 1
            spans += begun([line.split("\t")[1]])
    return tokens, spans


def conll(data: bytes, side: str, text: bytes = b"") -> Count:
    tokens = spans = 0
    for line in data.decode("utf-8-sig").replace("\r\n", "\n").split("\n"):
        fields = line.split("\t") if "\t" in line else line.split(" ")
        if not line or line.startswith(("-DOCSTART-", "# ")):
            continue
        tokens += 1
        spans += begun([fields[1]])
    return tokens, spans


def table(data: bytes, side: str, text: bytes = b"") -> Count:
    content = data.decode("utf-8-sig")
    delimiter = "\t" if "\t" in content.split("\n")[0] else ","
    rows = list(csv.reader(io.StringIO(content), delimiter=delimiter))
    tokens = [line for line in text.decode().split("\n") if line and not re.match(r"</?(text|s)[ >]", line)]
    return len(tokens), len(rows) - 1


def fair_spans(data: bytes, side: str, text: bytes = b"") -> Count:
    lines = data.decode("utf-8-sig").replace("\r\n", "\n").split("\n")
    return 0, sum(1 for line in lines if line and not line.startswith("NONE"))


def conll2000(data: bytes, side: str, text: bytes = b"") -> Count:
    """Without punctuation being taken out."""
    lines = [line for line in data.decode("utf-8-sig").replace("\r\n", "\n").split("\n") if line]
    tags = [tag for line in lines for tag in line.split(" ")[2].split("|")]
    return len(lines), sum(tag.startswith("B-") for tag in tags)


def ltf(data: bytes, side: str, text: bytes = b"") -> Count:
    root = ElementTree.fromstring(data)
    return len("".join(root.itertext())), len(root.findall("e"))


def gate_xml(data: bytes, side: str, text: bytes = b"") -> Count:
    root = ElementTree.fromstring(data)
    (content,) = root.findall("TextWithNodes")
    (chosen,) = (each for each in root.findall("AnnotationSet") if each.get("Name") == side)
    return len("".join(content.itertext())), len(chosen.findall("Annotation"))


def bdoc(data: bytes, side: str, text: bytes = b"") -> Count:
    whole = json.loads(data.decode("utf-8-sig"))
    return len(whole["text"]), len(whole["annotation_sets"][side]["annotations"])


def nerval(data: bytes, side: str, text: bytes = b"") -> Count:
    lines = [line for line in data.decode("utf-8-sig").replace("\r\n", "\n").split("\n") if line]
    words = [line.split(" ")[0] for line in lines]
    return len(" ".join(words)), begun([line.split(" ")[1] for line in lines])


def _rows(data: bytes) -> list[dict[str, Any]]:
    text = data.decode("utf-8-sig").strip()
    return (
        json.loads(text) if text.startswith("[") else [json.loads(line) for line in text.split("\n") if line]
    )


def texts(key: str) -> Callable[[bytes, str, bytes], Count]:
    """The counts of rows with a text and a list of spans under `key`."""

    def count(data: bytes, side: str, text: bytes = b"") -> Count:
        rows = _rows(data)
        return sum(len(row["text"]) for row in rows), sum(len(row[key]) for row in rows)

    return count


def label_studio(data: bytes, side: str, text: bytes = b"") -> Count:
    rows = _rows(data)
    regions = sum(len(row["annotations"][0]["result"]) for row in rows)
    return sum(len(row["data"]["text"]) for row in rows), regions


def objects(text: str, spans: str) -> Callable[[bytes, str, bytes], Count]:
    """The counts of rows with a text or tokens under `text`, and a list of spans under `spans`, which may be a text."""

    def count(data: bytes, side: str, _: bytes = b"") -> Count:
        rows = _rows(data)
        found = [row[spans] for row in rows]
        lists = [literal_eval(each) if isinstance(each, str) else each for each in found]
        return sum(len(row[text]) for row in rows), sum(len(each or ()) for each in lists)

    return count


def token_rows(data: bytes, side: str, text: bytes = b"") -> Count:
    rows = _rows(data)
    return sum(len(row["tokens"]) for row in rows), sum(begun(row["ner_tags"]) for row in rows)


def w2ner(data: bytes, side: str, text: bytes = b"") -> Count:
    rows = _rows(data)
    return sum(len(row["sentence"]) for row in rows), sum(len(row["ner"]) for row in rows)


def brat(data: bytes, side: str, text: bytes = b"") -> Count:
    lines = data.decode("utf-8-sig").split("\n")
    return len(text.decode()), sum(line.startswith("T") for line in lines)


def tab(data: bytes, side: str, text: bytes = b"") -> Count:
    rows = _rows(data)
    mentions = (row["annotations"][side]["entity_mentions"] for row in rows)
    return sum(len(row["text"]) for row in rows), sum(map(len, mentions))


def token_lines(span: str) -> Callable[[bytes, str, bytes], Count]:
    """The counts of lines with more than four columns; a span begins where `span` matches."""

    def count(data: bytes, side: str, text: bytes = b"") -> Count:
        lines = data.decode("utf-8-sig").replace("\r\n", "\n").split("\n")
        rows = [line for line in lines if len(re.split(r"[\t ]", line)) >= 4 and not _is_head(line)]
        return len(rows), sum(bool(re.search(span, row)) for row in rows)

    return count


def _is_head(line: str) -> bool:
    return bool(re.match(r"TOKEN\t|#\t|#begin |# \w+ \w* ?= ?|# document_id = |# id \w+\t", line))


def i2b2(data: bytes, side: str, text: bytes = b"") -> Count:
    root = ElementTree.fromstring(data)
    return len(root.findtext("TEXT", "")), len(root.findall("TAGS/*"))


def records(data: bytes, side: str, text: bytes = b"") -> Count:
    found = ElementTree.fromstring(data).findall("RECORD/TEXT")
    return sum(len("".join(each.itertext())) for each in found), sum(map(len, found))


def inline(data: bytes, side: str, text: bytes = b"") -> Count:
    root = ElementTree.fromstring(b"<all>" + data.removeprefix(b"\xef\xbb\xbf") + b"</all>")
    return len("".join(root.itertext())), len(root)


def webanno(data: bytes, side: str, text: bytes = b"") -> Count:
    content = data.decode("utf-8-sig").replace("\r\n", "\n")
    lines = re.findall(r"^#Text=(.*)$", content, re.MULTILINE)
    return len("\n".join(lines)), len(set(re.findall(r"\[(\d+)\]", content)))


def xmi(data: bytes, side: str, text: bytes = b"") -> Count:
    root = ElementTree.fromstring(data)
    (sofa,) = (each for each in root if each.tag.endswith("Sofa"))
    return len(sofa.get("sofaString", "")), sum(each.tag.endswith("NamedEntity") for each in root)


def uima_json(data: bytes, side: str, text: bytes = b"") -> Count:
    found = json.loads(data.decode("utf-8-sig"))["%FEATURE_STRUCTURES"]
    return len(next(each["sofaString"] for each in found if "sofaString" in each)), sum(
        each["%TYPE"].endswith("NamedEntity") for each in found
    )


def comprehend(data: bytes, side: str, text: bytes = b"") -> Count:
    return 0, sum(len(row["Entities"]) for row in _rows(data))


def described(data: bytes, side: str, text: bytes = b"") -> Count:
    rows = _rows(data)
    return sum(len(row["data"]["text"]) for row in rows), sum(len(row["marks"]) for row in rows)


def docbin(data: bytes, side: str, text: bytes = b"") -> Count:
    from spacy import blank
    from spacy.tokens import DocBin

    docs = list(DocBin().from_bytes(data).get_docs(blank("xx").vocab))
    return sum(len(doc.text) for doc in docs), sum(len(doc.ents) for doc in docs)


COUNTS: dict[str, Callable[[bytes, str, bytes], Count]] = {
    "vrt": vrt,
    "conll": conll,
    "spans-tsv": table,
    "spans-csv": table,
    "fair-spans": fair_spans,
    "conll2000": conll2000,
    "ltf": ltf,
    "gate-xml": gate_xml,
    "bdoc": bdoc,
    "nerval": nerval,
    "doccano": texts("label"),
    "prodigy": texts("spans"),
    "label-studio": label_studio,
    "spacy-json": texts("ents"),
    "token-rows": token_rows,
    "w2ner": w2ner,
    "langextract": objects("text", "extractions"),
    "ai4privacy": objects("source_text", "privacy_mask"),
    "nemotron": objects("text", "spans"),
    "presidio": objects("full_text", "spans"),
    "gliner": objects("tokenized_text", "ner"),
    "spert": objects("tokens", "entities"),
    "brat": brat,
    "tab": tab,
    "conllu": token_lines(r"NER=B-"),
    "hipe": token_lines(r"\tB-"),
    "germeval": token_lines(r"\tB-"),
    "multiconer": token_lines(r" B-"),
    "conll2012": token_lines(r" \((PER|LOC)"),
    "i2b2": i2b2,
    "i2b2-2006": records,
    "inline": inline,
    "webanno": webanno,
    "xmi": xmi,
    "uima-json": uima_json,
    "comprehend": comprehend,
    "row": described,
    "docbin": docbin,
}
