"""DocBin, the binary file of spaCy with many documents (``.spacy``). Needs the extra ``spacy``.

The rules of the format stand in ``formats.md``.
"""

from __future__ import annotations

import re
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from typing import Any

from clueval.core.document import UNANNOTATED, Document, MissingId, Sentence
from clueval.core.span import DEFAULT_LAYER, NO_LABEL, Frozen, Span
from clueval.files.errors import CluevalError, FormatError, UsageError, extra
from clueval.files.opening import file_too_long
from clueval.formats.documents import FileFormat
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions
from clueval.formats.uima_types import token_ranges
from clueval.formats.writer import Writer

ENTS, GROUP = "ents", "spans."

_PIECE = re.compile(r"\w+|[^\w\s]|\s+")


def spacy_tools() -> tuple[Any, Any, Any]:
    """Return spaCy's ``Doc``, ``DocBin`` and ``Vocab``. Raises `MissingExtra` if spaCy is not installed."""
    with extra("Docs and DocBin files need spaCy, which is not installed", "pip install 'clueval[spacy]'"):
        from spacy.tokens import Doc, DocBin
        from spacy.vocab import Vocab
    return Doc, DocBin, Vocab


# Reading


def document_of_spacy(
    doc: Any, sources: Mapping[str, str], unit: str | None, *, id: str, file: str | None = None
) -> Document:
    """Return the document of a spaCy ``Doc``; `sources` has the source of each layer."""
    in_tokens = unit == "token"
    layers: dict[str, list[Span]] = {}
    for layer, source in sources.items():
        spans = []
        for span in doc.ents if source == ENTS else doc.spans.get(source.removeprefix(GROUP), ()):
            start, end = (span.start, span.end) if in_tokens else (span.start_char, span.end_char)
            ids = {"kb_id": span.kb_id_, "ent_id": span.ent_id_ if len(span) else ""}  # that of its tokens
            features = {name: value for name, value in ids.items() if value}
            spans.append(Span(start, end, Frozen({layer: span.label_ or NO_LABEL}), features))
        layers[layer] = sorted(spans, key=lambda span: (span.start, -span.end))
    sentences = [
        Sentence(sent.start, sent.end) if in_tokens else Sentence(sent.start_char, sent.end_char)
        for sent in (doc.sents if len(doc) and doc.has_annotation("SENT_START") else ())
    ]
    return Document(
        id,
        Frozen(layers),
        tokens=[token.text for token in doc] if in_tokens else None,
        text=doc.text,
        unit="token" if in_tokens else "character",
        sentences=sentences,
        file=file,
    )


def is_unannotated(doc: Any) -> bool:
    """Return whether no token of a ``Doc`` has an annotation of entities, which may be that there is none."""
    return len(doc) > 0 and not doc.has_annotation("ENT_IOB")


def spans_in_groups(doc: Any) -> Mapping[str, int]:
    """Return the number of spans in each group of a ``Doc``, which are not read where only entities are."""
    return {f"spans of {GROUP}{key}": len(group) for key, group in doc.spans.items()}


@contextmanager
def _errors_of(file: str) -> Iterator[None]:
    """Turn errors of spaCy, which are of many classes for bytes that are not its own, into `FormatError`."""
    try:
        yield
    except CluevalError:
        raise
    except Exception as error:
        raise FormatError(f"not a DocBin of spaCy: {type(error).__name__}", file=file) from error


def _read(file: InputFile, options: FormatOptions) -> Iterator[Document]:
    """Yield the documents of a file. Raises `FormatError` if it is damaged or grows too much."""
    sources = {layer: str(source) for layer, source in (options.layers or {DEFAULT_LAYER: ENTS}).items()}
    for layer, source in sources.items():
        if source != ENTS and not source.startswith(GROUP):
            problem = f"there is no source {source!r} for layer {layer!r}"
            advice = f"{ENTS}, or {GROUP}KEY for a group of spans"
            raise UsageError(problem, file=file.name, advice=advice)
    _, doc_bin, vocab = spacy_tools()
    data, most = file.raw(), file.limits.max_line
    with _errors_of(file.name):
        if len(zlib.decompressobj().decompress(data, most + 1)) > most:
            raise file_too_long(file.name, most)
        docs = enumerate(doc_bin().from_bytes(data).get_docs(vocab()), 1)
    groups: set[str] = set()
    is_read = False
    while True:
        with _errors_of(file.name):
            number, doc = next(docs, (0, None))
            if doc is None:
                break
            groups.update(f"{GROUP}{key}" for key in doc.spans)
            document = document_of_spacy(doc, sources, options.unit, id=MissingId(number), file=file.name)
            if ENTS in sources.values() and is_unannotated(doc):
                if options.keeps_unannotated:
                    yield replace(document, metadata=Frozen({UNANNOTATED: ""}))
                else:
                    file.passed_over[UNANNOTATED] += 1
                continue
        is_read = True
        if options.layers is None:
            file.passed_over.update(spans_in_groups(doc))
        yield document
    listed_groups = f"groups of spans: {', '.join(sorted(groups)) or 'none'}"
    if groups and not is_read:
        raise UsageError(
            "no document has entities", file=file.name, advice=f"{listed_groups}; layers=... names one"
        )
    for layer, source in sources.items() if is_read else ():
        if source not in groups | {ENTS}:
            problem = f"no document has {source!r}, the source of layer {layer!r}"
            raise UsageError(problem, file=file.name, advice=listed_groups)


# Writing


def docbin_of(documents: Iterable[Document], layers: Sequence[str]) -> bytes:
    """Return the content of a file with these documents, whose positions are code points.

    The tokens are those of the document, or words and single marks, cut at the edges of spans. The first layer becomes
    entities, and further layers groups of spans; so do spans that overlap.
    """
    make, doc_bin, vocab = spacy_tools()
    shared = vocab()
    packed = doc_bin(store_user_data=False)
    for document in documents:
        layer_names = list(document.layers) or list(layers)
        doc = spacy_doc(document, layer_names, make, shared)
        for number, layer in enumerate(layer_names):
            spans = [spacy_span(doc, span, document) for span in document.layers.get(layer, ())]
            if number == 0:
                doc.set_ents(spans)
            else:
                doc.spans[layer] = spans
        packed.add(doc)
    content: bytes = packed.to_bytes()
    return content


def pieces_of(
    text: str, cuts: Collection[int] = (), blanks: Collection[int] = (), tokens: Iterable[str] = ()
) -> tuple[list[str], list[bool]]:
    """Return pieces that make up the whole text, and whether a single blank follows each.

    The pieces are the tokens and, elsewhere, words, single marks and other white space; no piece crosses a position of
    `cuts`. A blank that begins at a position of `blanks` is a piece of its own.

    >>> pieces_of("Ada (36), Ulm", {1})
    (['A', 'da', '(', '36', ')', ',', 'Ulm'], [False, True, False, False, False, True, False])
    """
    ranges: list[tuple[int, int]] = []
    for token_range in [*token_ranges(tokens, text), (len(text), len(text))]:
        place = ranges[-1][1] if ranges else 0
        ranges += [match.span() for match in _PIECE.finditer(text, place, token_range[0])]
        ranges.append(token_range)
    ordered = sorted(cuts)
    words: list[str] = []
    spaces: list[bool] = []
    for first, last in ranges:
        within = ordered[bisect_right(ordered, first) : bisect_left(ordered, last)]
        for start, end in pairwise(dict.fromkeys([first, *within, last])):
            follows_word = text[start:end] == " " and words and not spaces[-1] and not words[-1].isspace()
            if follows_word and start not in blanks:
                spaces[-1] = True
            else:
                words.append(text[start:end])
                spaces.append(False)
    return words, spaces


def spacy_doc(document: Document, layers: Sequence[str], make: Any, vocab: Any) -> Any:
    """Return a ``Doc``, made by `make`, with the tokens or the text of a document, cut at the edges of spans."""
    if document.unit == "token":
        return make(vocab, words=list(document.tokens or ()))
    spans = [span for layer in layers for span in document.layers.get(layer, ()) if len(span)]
    cuts = {position - document.start for span in spans for position in (span.start, span.end)}
    edges = {position - document.start for span in spans for position in (span.start, span.end - 1)}
    words, spaces = pieces_of(document.text or "", cuts, edges, document.tokens or ())
    return make(vocab, words=words, spaces=spaces)


def spacy_span(doc: Any, span: Span, document: Document) -> Any:
    """Return a span of a ``Doc``. Raises `UsageError` for one that spaCy cannot hold."""
    start, end = span.start - document.start, span.end - document.start
    char_span = None
    if start < end and document.unit == "token":
        last = doc[end - 1]
        char_span = doc.char_span(doc[start].idx, last.idx + len(last), label=span.label)
    elif start < end:
        char_span = doc.char_span(start, end, label=span.label or NO_LABEL)
    if char_span is None:
        problem = f"spaCy cannot hold the span [{span.start},{span.end}), which is empty"
        raise UsageError(problem, **document.in_errors)
    return char_span


DOCBIN = FileFormat(
    name="docbin",
    options=frozenset({"layers", "unit"}),
    holds="spaCy's `DocBin`: documents with entities, or with groups of spans",
    read=_read,
    extra="spacy",
    writer=lambda types: Writer(
        pieces=lambda documents, layers, with_ids: (),
        data=docbin_of,
        ending=".spacy",
        unit="character",
        holds=frozenset({"layers", "spans across sentences"}),
        keeps_ids=False,
        keeps_tokens=True,
    ),
)
