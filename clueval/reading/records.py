"""Documents from rows of any iterable, such as lists and data sets, and rows from documents; also for spaCy.

`documents_from` takes the same rows and options as files of a format (``clueval formats``); `to_rows` is its
inverse. Both are lazy: memory holds one row. Errors have the number of the row, from 1, as their line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, pairwise
from typing import Any

from clueval.core.document import Document, Unit
from clueval.core.span import DEFAULT_LAYER
from clueval.files.errors import UsageError, described
from clueval.files.options import checked_call, require_instance, require_kind
from clueval.formats.dialect import Dialect
from clueval.formats.docbin import ENTS, GROUP, document_of_spacy, spacy_doc, spacy_span, spacy_tools
from clueval.formats.form import NAMES, form_of_rows, forms_named
from clueval.formats.label_studio import written_as
from clueval.formats.options import FormatOptions, require_layers
from clueval.formats.row_writing import row_of, row_writer
from clueval.formats.writer import fitted, refuse_lost
from clueval.reading.memory import names_in_dataset
from clueval.reading.source import read_rows

_OPTIONS = ("layers", "annotation_set", "offsets", "answers", "names", "text_key", "scheme", "invalid")


@checked_call
def documents_from(rows: Iterable[Any], format: str, **options: Any) -> Iterator[Document]:
    """Yield the documents of rows in a JSON format.

    Args:
        rows: any iterable of dictionaries, such as a list or a data set of Hugging Face, which names its tags.
        format: the name of the format, such as ``doccano`` or ``token-rows``, or a description of rows, such as
            ``text=response,spans=labels``.
        options: `layers` (the source of each layer by its name), `annotation_set`, `offsets`, `answers`, `names`,
            `text_key`, `scheme` and `invalid`, as in `clueval.read`.

    Raises `UsageError` for other formats and options, and the errors of the format with the number of the row.

    >>> rows = [{"text": "Ada met Bob", "label": [[0, 3, "PER"]]}]
    >>> [document.layers["label"][0].end for document in documents_from(rows, "doccano")]
    [3]
    """
    require_kind(rows, "Iterable", "rows")
    form_of_rows(None, format)  # refuses other formats
    applying = {option for form in forms_named(format) for option in form.options}
    for name, value in options.items():
        if name not in _OPTIONS:
            raise UsageError(f"documents_from has no option {name!r}", advice=f"it has {', '.join(_OPTIONS)}")
        if value is not None and name not in applying:
            raise UsageError(f"{name}={value!r} does not apply to the format {format}", advice="remove it")
    require_layers(options.get("layers"))
    if options.get("names") is None and "names" in applying:
        options["names"] = names_in_dataset(rows)
    return read_rows(enumerate(rows, 1), FormatOptions(**options), name=format)


@checked_call
def to_rows(
    documents: Iterable[Document], format: str, *, as_: str | None = None
) -> Iterator[Mapping[str, Any]]:
    """Yield the row of each document in a JSON format that can be written; `as_` is that of `clueval.convert`.

    Raises `UsageError` for other formats, and for what the format cannot hold.

    >>> from clueval import Span
    >>> document = Document("d", {"label": [Span(0, 3, "PER")]}, text="Ada", unit="character")
    >>> list(to_rows([document], "doccano"))
    [{'id': 'd', 'text': 'Ada', 'label': [[0, 3, 'PER']]}]
    """
    require_kind(documents, "Iterable", "documents")
    return _rows(documents, _dialect_to_write(format, as_))


def _dialect_to_write(name: str, as_: str | None) -> Dialect:
    """Return the dialect of a format whose documents are written as rows."""
    if as_ is not None:
        return written_as(name, as_)
    dialect = next(_written_dialects(name), None)
    if dialect is None:
        names = ", ".join(
            dict.fromkeys(writable.name for writable in chain.from_iterable(map(_written_dialects, NAMES)))
        )
        raise UsageError(f"rows of the format {name!r} cannot be written", advice=f"one of {names}")
    return dialect


def _written_dialects(name: str) -> Iterator[Dialect]:
    forms = (form for form in forms_named(name) if isinstance(form, Dialect))
    return (form for form in forms if form.is_written and form.joined is None)


def _rows(documents: Iterable[Document], dialect: Dialect) -> Iterator[Mapping[str, Any]]:
    writer = row_writer(dialect)
    for number, document in enumerate(documents):
        require_instance(document, Document, f"documents[{number}]")
        if document.unit != writer.unit:
            raise UsageError(
                f"the format {dialect.name} counts {writer.unit}s, but the document counts {document.unit}s",
                document=document.id,
                advice="clueval convert converts positions",
            )
        fitting, lost = fitted(document, writer)
        refuse_lost(dialect.name, lost, document=document)
        yield row_of(dialect, fitting, list(fitting.layers))


@checked_call
def documents_from_spacy(
    docs: Iterable[Any], spans_key: str | None = None, unit: Unit = "character"
) -> Iterator[Document]:
    """Yield a document for each `Doc` of spaCy, numbered from 1.

    `spans_key` names a group of ``Doc.spans``; None: the entities. `unit` is ``character`` or ``token``.

    >>> import spacy
    >>> doc = spacy.blank("en")("Ada slept")
    >>> doc.ents = [doc.char_span(0, 3, label="PER")]
    >>> [document] = documents_from_spacy([doc])
    >>> document.layers["label"][0].label
    'PER'
    """
    require_kind(unit, "str", "unit")
    if unit not in ("character", "token"):
        raise UsageError(f"unit must be 'character' or 'token', not {unit!r}")
    require_kind(docs, "Iterable", "docs")
    source = ENTS if spans_key is None else f"{GROUP}{spans_key}"
    for number, doc in enumerate(docs, 1):
        if not hasattr(doc, "ents"):
            raise UsageError(f"docs[{number - 1}] must be a Doc of spaCy, not {described(doc)}")
        if spans_key is not None and spans_key not in doc.spans:
            raise UsageError(f"doc {number} has no group of spans {spans_key!r}", advice=f"{list(doc.spans)}")
        yield document_of_spacy(doc, {DEFAULT_LAYER: source}, unit, id=str(number))


@checked_call
def to_spacy(document: Document, vocab: Any, layer: str = DEFAULT_LAYER) -> Any:
    """Return a `Doc` of spaCy with the spans of a layer as entities, or as the group ``sc`` if some overlap.

    A document with a text is split into words and single marks. Raises `UsageError` for a span that does not
    begin and end with a token, for gaps, and for a document without text.

    >>> import spacy
    >>> from clueval import Span
    >>> document = Document("d", {"label": [Span(0, 1, "PER")]}, tokens=["Ada", "slept"])
    >>> to_spacy(document, spacy.blank("en").vocab).ents
    (Ada,)
    """
    make, _, vocab_class = spacy_tools()
    if not isinstance(vocab, vocab_class):
        raise UsageError(f"vocab must be a Vocab of spaCy, not {described(vocab)}", advice="give nlp.vocab")
    spans = document.layers.get(layer, ())
    if any(span.parts is not None for span in spans):
        raise UsageError("spaCy has no spans with gaps", document=document.id, advice="split them first")
    doc = spacy_doc(document, [layer], make, vocab)
    spacy_spans = [spacy_span(doc, span, document) for span in spans]
    ranges = sorted((span.start, span.end) for span in spacy_spans)
    if any(after[0] < before[1] for before, after in pairwise(ranges)):
        doc.spans["sc"] = spacy_spans
    else:
        doc.set_ents(spacy_spans)
    return doc
