"""Dialects whose rows have tokens with spans or tags, and those of spaCy."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from clueval.core.document import Sentence
from clueval.core.tags import OUTSIDE
from clueval.formats.dialect import Dialect, RowInput
from clueval.formats.input_file import Numbered

GLINER = Dialect(
    name="gliner",
    holds="GLiNER's training data: rows of `tokenized_text` and `ner`, whose ends are inclusive",
    tokens="tokenized_text",
    spans="ner",
    start="first",
    end_inclusive="last",
    metadata="",
    rest=True,
    passed_over="relations",
    lists=True,
    array=True,
    advice="GLiNER's ends are inclusive; the last token of a span has this number",
)

SPERT = Dialect(
    name="spert",
    holds="SpERT's JSON: rows of `tokens` and `entities`, whose ends are exclusive",
    tokens="tokens",
    id="orig_id|id",
    spans="entities",
    label="type",
    sources="type",
    metadata="",
    rest=True,
    passed_over="relations",
    written=lambda row: {**row, "relations": []},
    array=True,
)


def _w2ner(row: Any, rows: RowInput) -> Iterator[dict[str, Any]]:
    """Yield the row with the ranges of each span, given as the number of each of its tokens."""
    row = rows.mapping(row)
    length = len(rows.listed(row.get("sentence"), "'sentence'"))
    spans = []
    for item in rows.objects(row.get("ner"), "'ner'", "a span"):
        index = rows.listed(item.get("index"), "'index'")
        places = sorted(rows.whole(place, "index") for place in index)
        if not places or len({*places}) < len(places) or places[0] < 0 or places[-1] >= length:
            rows.refuse(
                f"the index {places[:20]} of a span is not one of different tokens", f"from 0 to {length - 1}"
            )
        span = {"start": places[0], "end": places[-1] + 1, "type": item.get("type")}
        if places[-1] - places[0] >= len(places):
            gaps = [place for place in range(1, len(places)) if places[place - 1] < places[place] - 1]
            pairs = pairwise((0, *gaps, len(places)))
            span["fragments"] = [(places[first], places[last - 1] + 1) for first, last in pairs]
        spans.append(span)
    yield {**row, "ner": spans}


def _written_for_w2ner(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row with the number of each token of a span in place of its ranges."""
    spans = []
    for span in row["ner"]:
        ranges = span.get("fragments") or ((span["start"], span["end"]),)
        index = [place for start, end in ranges for place in range(start, end)]
        spans.append({"index": index, "type": span["type"]})
    return {**row, "ner": spans}


W2NER = Dialect(
    name="w2ner",
    holds="W2NER's JSON: rows of a `sentence` of tokens and `ner`, spans as the `index` of each of their tokens",
    tokens="sentence",
    id="id|doc_id",
    spans="ner",
    label="type",
    sources="type",
    metadata="",
    rest=True,
    not_metadata="word",
    plain=_w2ner,
    written=_written_for_w2ner,
    gaps=True,
    array=True,
)


def _written_with_tags(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row with its metadata beside its tags, as data sets of Hugging Face have them."""
    meta = row.get("meta", {})
    used_keys = {"tokens", "words", "id", "meta", "labels", "ner"}
    columns = {key: value for key, value in meta.items() if key not in used_keys and not key.endswith("tags")}
    others = {key: value for key, value in meta.items() if key not in columns}
    rest = {key: value for key, value in row.items() if key != "meta"}
    return {**rest, **columns, **({"meta": others} if others else {})}


TOKEN_ROWS = Dialect(
    name="token-rows",
    holds="rows of `tokens` and tags, JSON Lines or an array, as data sets of Hugging Face have them",
    tokens="tokens|words",
    tags="*",
    rest=True,
    sources="",
    source_is="key",
    written=_written_with_tags,
)

# spaCy


_NOT_ENTITIES = ("label", "labels", "annotations", "spans", "ner")
"""Keys under which other programs have lists of spans, or of tags."""


def _spacy(numbered: Iterator[Numbered], rows: RowInput) -> Iterator[Numbered]:
    """Yield an object for each row. An object with ``classes`` has all pairs; null is a text without annotation."""
    for number, row in numbered:
        is_whole = isinstance(row, dict) and "classes" in row and isinstance(row.get("annotations"), list)
        for rows.number, entry in enumerate(row["annotations"], 1) if is_whole else ((number, row),):
            if is_whole and entry is None:
                rows.passed_over["unannotated"] += 1
                continue
            if isinstance(entry, list | tuple):
                if len(entry) != 2 or not isinstance(entry[0], str) or not isinstance(entry[1], dict):
                    rows.refuse("a row is not [text, {'entities': ...}]")
                others = [key for key in _NOT_ENTITIES if isinstance(entry[1].get(key), list)]
                if others and not entry[1].keys() & {"entities", "ents"}:
                    rows.refuse(f"a row has {others[0]!r} and no 'entities'", "write spans under 'entities'")
                entry = {"text": entry[0], **entry[1]}
            groups = entry.get("spans") if isinstance(entry, dict) else None
            for key, group in groups.items() if isinstance(groups, dict) else ():
                rows.offered |= dict.fromkeys(("entities", "ents", f"spans.{key}"))
                if rows.options.layers is None:
                    rows.passed_over[f"spans of spans.{key}"] += len(group) if isinstance(group, list) else 0
            if rows.options.layers is not None and isinstance(entry, dict):
                entities = entry.get("entities", entry.get("ents"))
                entry = {**entry, "entities": entities, "ents": entities}
            yield rows.number, entry


def _written_for_spacy(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row with the layers after the first as groups of spans, as `Doc.to_json` has them."""
    layers = {
        key: [{name: span[name] for name in ("start", "end", "label")} for span in value]
        for key, value in row.items()
        if isinstance(value, list)
    }
    ents = next(iter(layers.values()), [])
    rest = {key: value for key, value in row.items() if key not in layers}
    meta = {"meta": rest.pop("meta")} if "meta" in rest else {}
    groups = {"spans": dict(list(layers.items())[1:])} if len(layers) > 1 else {}
    return {**rest, "ents": ents, **groups, **meta}


SPACY = Dialect(
    name="spacy-json",
    holds='spaCy\'s JSON: `[text, {"entities"}]`, `Doc.to_json`',
    text="text",
    spans="ents|entities",
    span_id="id",
    reference="text",
    metadata="meta|_",
    sources="",
    source_is="key",
    optional=True,
    values=_spacy,
    written=_written_for_spacy,
)


def _paragraphs(row: Any, rows: RowInput) -> Iterator[dict[str, Any]]:
    """Yield the row with its tokens, their tags and its sentences; ``-`` and null are unknown tags, read as O."""
    row = rows.mapping(row)
    tokens: list[Any] = []
    tags: list[Any] = []
    sentences: list[Sentence] = []
    for paragraph in rows.objects(row["paragraphs"], "'paragraphs'", "a paragraph"):
        for sentence in rows.objects(paragraph.get("sentences"), "'sentences'", "a sentence"):
            first = len(tokens)
            for token in rows.objects(sentence.get("tokens"), "'tokens'", "a token"):
                tokens.append(token.get("orth"))
                tag = token.get("ner")
                rows.passed_over["unknown tokens"] += tag in (None, "-")
                tags.append(OUTSIDE if tag in (None, "-") else tag)
            if len(tokens) > first:
                sentences.append(Sentence(first, len(tokens)))
    yield {"id": row.get("id"), "tokens": tokens, "entities": tags, "sentences": sentences}


SPACY_2 = Dialect(
    name="spacy-json",
    holds="the training format of spaCy 2: `paragraphs` of tokens with BILUO tags",
    tokens="tokens",
    tags="entities",
    sources="",
    source_is="key",
    plain=_paragraphs,
)
