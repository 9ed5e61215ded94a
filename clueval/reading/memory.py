"""Sides in memory, in any usual form: the items of each, one for each document, and their documents.

An item is a list of tags, a list of spans (`clueval.formats.span_forms`), a `Document`, a spaCy ``Doc``, or a row of
any JSON format, which is read as it would be in a file. A dictionary has the ids of documents as keys. A single list of
tags or spans is one document. A data frame has rows, or one span in each row (`clueval.reading.data_frames`).
The first item that is not empty decides; the other items must be of the same kind.

If a side has documents with texts or tokens, others may have lists. Tags that are numbers need names (`Reading.names`);
lists of numbers come from models: `IGNORED` in gold marks positions that do not count on any side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, compress, count, islice, zip_longest
from operator import index
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn

from clueval.core.document import UNANNOTATED, Document, Layers, MissingId
from clueval.core.span import DEFAULT_LAYER, NO_LABEL, Frozen, Span, is_number
from clueval.core.tags import OUTSIDE, decode_tags, is_legal, is_tag, split_tag
from clueval.files.errors import CluevalError, FormatError, TagError, UsageError, described, with_noun
from clueval.formats.options import (
    ANSWER_FORMATS,
    MENTIONS,
    FormatOptions,
    LayerColumns,
    LayerSource,
    Reading,
    chosen_options,
    columns_of_side,
    require_none,
    without_answers,
)
from clueval.formats.span_forms import (
    DOCUMENTS,
    END_INCLUSIVE,
    ENDS,
    LABELS,
    STARTS,
    as_span,
    as_spans,
    fields_of,
    is_span,
)
from clueval.reading import Text, answers_in_gold, checked_texts, is_path_or_paths, with_id_of

if TYPE_CHECKING:
    from clueval.core.bag import Read

_FORMS = "give paths, documents or, for each document, a list of tags or a list of spans such as (start, end, label)"

_LISTED_BY = {
    "collect": "give the data frame, value.collect()",
    "to_pylist": "give the rows, value.to_pylist()",
    "get_docs": "give the documents, list(value.get_docs(nlp.vocab))",
}
"""What to give instead of objects with these methods: lazy data frames, tables of Arrow, spaCy's ``DocBin``."""

MemoryKind = Literal["tags", "spans", "documents"]
Kind = Literal["paths"] | MemoryKind

IGNORED = -100
"""The number of a position that does not count, PyTorch's default."""

_GIVE_NAMES = "give names=[...], the tags in the order of their numbers"

_TEXT = ("text", "data")
_TOKENS = ("tokens", "words")


class GivenSide(NamedTuple):
    """One side in memory."""

    name: str  # its name in errors
    options: Reading  # how tags, rows and answers are read
    layers: Mapping[str, LayerSource] | None = None  # the source of each layer in rows
    is_predicted: bool = False  # then answers without a place in the text are spans
    kind: Kind | None = None  # what its items are; None if it is empty
    # one for each document: lists without arrays or iterators in them, or, of the kind ``documents``, documents
    items: Iterable[Any] = ()
    ids: Sequence[str] | None = None  # the ids of the documents; None: they have their own, or are numbered
    # whether the items are lists; False: the side was one list of tags or spans; None: not known
    nested: bool | None = None
    # returns the item of a document that is missing, given its id, as those without spans in a data frame;
    # None: no document may be missing
    filling: Callable[[str], Any] | None = None
    names: Mapping[int, str] | None = None  # the names of tags that are numbers, until these are replaced
    form: Any = None  # the format of the items, if they are rows or answers
    passed_over: Counter[str] | None = None  # what is not read of rows, by kind

    def place(self, number: int) -> str:
        """Return the name of an item in errors, such as ``gold[0]`` or ``gold['d1']``."""
        return f"{self.name}[{number if self.ids is None else repr(self.ids[number])}]"

    @property
    def treatment(self) -> str | None:
        """How ill-formed tags are treated; None if the side has no tags."""
        if self.form is None:
            return (self.options.invalid or "conlleval") if self.kind == "tags" else None
        from clueval.reading.source import treatment_of  # few sides have rows

        return treatment_of(self.form, self.options.invalid)

    @property
    def of_rows(self) -> FormatOptions:
        """How rows and answers are read."""
        return FormatOptions.of(self.options, self.layers, unplaced=self.is_predicted)

    @property
    def advice(self) -> str | None:
        """What a data frame needs that does not say to which document each span belongs; None for other sides."""
        is_frame_without_ids = self.filling is not None and self.ids is None
        return "each span of a data frame needs a column 'document'" if is_frame_without_ids else None

    def id_of(self, number: int) -> str:
        return str(number) if self.ids is None else self.ids[number]

    def with_scheme(self) -> GivenSide:
        """Return the side with the scheme of all its tags, if none can be read before; then it holds all."""
        if self.kind != "tags" or not self.options.needs_scheme:
            return self
        from clueval.formats.input_file import schemes_of  # few calls need the scheme before the spans

        side = self._replace(items=list(self.items))
        lenient = side._replace(options=replace(self.options, invalid=None))
        scheme = schemes_of(lenient.documents(), self.name)[DEFAULT_LAYER]
        return side._replace(options=replace(self.options, scheme=scheme))

    def documents(self) -> Iterator[Document]:
        """Yield the documents of the side, apart from other sides."""
        for number, item in enumerate(self.items):
            if self.kind == "tags":
                _require_parallel_tags([self], number, [item])
            yield self.document(number, item)

    def document(self, number: int, item: Any, lender: Document | None = None) -> Document:
        """Return the document of an item; `lender` is that of another side if only that has a text or tokens."""
        if self.kind == "documents":
            return item  # type: ignore[no-any-return]
        place = self.place(number)
        if lender is not None:
            return self._with_text_of(lender, item, place)
        if self.kind == "tags":
            tags = item if self.names is None else _tags_with_names(item, self.names, place)
            return self._document_of_tags(tags, ("",) * len(tags), self.id_of(number), place)
        layers: dict[str, list[Span]] = {}  # with one span for each layer of a span
        for span in as_spans(item, place):
            labels = span.by_layer or {DEFAULT_LAYER: NO_LABEL}
            for layer, label in labels.items():
                if label is not None:
                    new = span if len(labels) < 2 else replace(span, labels=Frozen({layer: label}))
                    layers.setdefault(layer, []).append(new)
        return Document(self.id_of(number), Frozen(layers))

    def _with_text_of(self, lender: Document, item: Any, place: str) -> Document:
        """Return spans or tags as a document with the text or the tokens of another one."""
        are_tags = isinstance(item, list | tuple) and all(
            isinstance(tag, str) or is_number(tag) for tag in item
        )
        if lender.tokens is not None and lender.unit == "token":
            if not are_tags:
                raise UsageError(
                    f"{place} has spans, and the other side has tokens",
                    advice="give tags on both sides, or documents with positions of tokens: "
                    "Document(id, {'label': spans}, tokens=row['tokens'])",
                )
            tags = _tags_with_names(item, self.names, place)
            if len(tags) != len(lender.tokens):
                raise UsageError(
                    f"{place} has {with_noun(len(lender.tokens), 'tokens')} and {with_noun(len(tags), 'tags')}",
                    advice="each token needs a tag",
                )
            return self._document_of_tags(tags, lender.tokens, lender.id, place)
        if lender.text is None:
            raise UsageError(
                f"{place} has spans, and the document on the other side has no text",
                advice="give documents on both sides",
            )
        if are_tags and item:
            raise UsageError(
                f"{place} has tags, and the other side has a text",
                advice="give spans, whose positions are characters",
            )
        if item is None:
            raise UsageError(f"{place} is None", advice="a document without spans is an empty list")
        spans = as_spans(item, place, lender.text)
        return Document(lender.id, Frozen({DEFAULT_LAYER: spans}), text=lender.text, unit="character")

    def _document_of_tags(self, tags: Sequence[Any], tokens: Sequence[str], id_: str, place: str) -> Document:
        """Return the tags of one sentence as a document. Raises `TagError`."""
        try:
            rows = list(decode_tags(tags, self.options.scheme, self.options.invalid or "conlleval"))
        except (CluevalError, TypeError, ValueError, AttributeError) as error:  # values that are no text
            _require_tags(tags, place, self.options.scheme)
            if isinstance(error, CluevalError):
                error.problem = f"{place}: {error.problem}"
            raise
        layers = Layers({}, {DEFAULT_LAYER: rows})
        return Document(id_, layers, tokens=tokens, tags=Frozen({DEFAULT_LAYER: list(tags)}))


@dataclass(frozen=True, slots=True)
class MemorySides:
    """Sides of the same texts in memory, in the same order of documents, unless they are paired."""

    kind: MemoryKind
    listed: Sequence[GivenSide]
    pair_by: str | None  # one of `clueval.formats.options.PAIR_BY`
    first: int = 0  # the number of the first text

    @property
    def are_lists(self) -> bool:
        """Whether no side is an iterator."""
        return all(isinstance(side.items, list | tuple) for side in self.listed)

    @property
    def ids(self) -> Iterable[str]:
        """The ids of the documents of lists, which are numbers if they have none."""
        first = self.listed[0]
        numbers = range(self.first, self.first + len(first.items))  # type: ignore[arg-type]  # they are lists
        return map(str, numbers) if first.ids is None else first.ids

    def texts(self, read: Read | None = None) -> Iterator[Text]:
        """Yield the documents of each text; memory holds one, and with `pair_by` those that wait for others.

        `read` gets what was not read of rows, and how their ill-formed tags were treated.
        """
        names = [side.name for side in self.listed]
        texts = self._in_order()
        if self.pair_by is not None:
            from clueval.reading.file_sides import joined  # documents in memory are in order

            texts = joined([side.items for side in self.listed], names, self.pair_by)
        yield from checked_texts(texts, names, read)
        if read is not None:
            for side in self.listed:
                counts = (side.passed_over or Counter()).items()
                read.passed_over.update({(side.name, kind): number for kind, number in counts if number})
                if side.treatment is not None:
                    read.treatments.add(side.treatment)

    def parts(self, size: int) -> Iterator[MemorySides]:
        """Yield sides with lists of the next texts, a number of them at a time; with iterators if one side has more."""
        streams = [iter(side.items) for side in self.listed]
        for first in count(self.first, size):
            lists = [list(islice(stream, size)) for stream in streams]
            if not any(lists):
                return
            are_even = len(set(map(len, lists))) == 1
            sides = zip(self.listed, lists, strict=True)
            listed = [side._replace(items=items if are_even else iter(items)) for side, items in sides]
            yield replace(self, listed=listed, first=first)

    def _in_order(self) -> Iterator[Text]:
        """Yield the documents of each text. Raises `UsageError` if one side has more of them, and for a wrong item."""
        are_tags = self.kind == "tags"
        for number, items in _in_step(self.listed, "sentences" if are_tags else "documents", self.first):
            if are_tags:
                _require_parallel_tags(self.listed, number, items)
            pairs = list(zip(self.listed, items, strict=True))
            lender = next((item for side, item in pairs if side.kind == "documents"), None)
            first, *others = [side.document(number, item, lender) for side, item in pairs]
            yield first, *(with_id_of(first, other) for other in others)


def _require_parallel_tags(sides: Sequence[GivenSide], number: int, items: Sequence[Any]) -> None:
    """Raise `UsageError` unless the items of the sides with this number are lists of as many tags."""
    for side, tags in zip(sides, items, strict=True):
        if isinstance(tags, str | bytes) or not isinstance(tags, Sequence):
            raise UsageError(
                f"{side.place(number)} is {described(tags)}, not a list of tags",
                advice="give a list of tags for each sentence",
            )
    first = sides[0]
    for side, tags in zip(sides, items, strict=True):
        if len(tags) != len(items[0]):
            what = f"sentence {number}" if first.ids is None else f"document {first.ids[number]!r}"
            raise UsageError(
                f"{what} has {len(items[0])} {first.name} and {len(tags)} {side.name} tags",
                advice="each token has a tag on both sides",
            )


def _require_tags(tags: Sequence[Any], place: str, scheme: str | None) -> None:
    """Raise the error of the first value of a sentence that is no tag of the scheme, with its place."""
    for position, tag in enumerate(tags):
        if not isinstance(tag, str):
            raise UsageError(
                f"{place}[{position}]: {described(tag)} is not a tag", advice="tags are text, such as 'B-PER'"
            )
        try:
            split_tag(tag)
            if scheme is not None:
                is_legal(scheme, OUTSIDE, tag)
        except TagError as error:
            error.problem = f"{place}[{position}]: {error.problem}"
            raise


# One side


def side_of(side: GivenSide, value: Any, others: Iterable[Any] = ()) -> GivenSide:
    """Return a side with the kind and the items of a value; `others` are the other sides.

    A data set of Hugging Face has the names of its tags; without names, they are those of the other sides. Reads no
    more of an iterator than its first items, or all of its tags if they must tell their scheme. Raises `UsageError`
    for something else.
    """
    options = side.options
    has_answers = options.input in ANSWER_FORMATS
    answers = value if has_answers and isinstance(value, list | tuple) else ()
    if is_path_or_paths(value) and not any(isinstance(answer, str) for answer in answers):
        return side._replace(kind="paths", items=value)
    names = names_in_dataset(value)
    if names is None and options.names is None:
        names = next(filter(None, map(names_in_dataset, others)), None)
    with_names = options if names is None else replace(options, names=names)
    side = side._replace(options=with_names, passed_over=Counter())
    side = _of_answers(side, value) if has_answers else _with_kind(side, value)
    if options.missing is not None and side.form is not None and side.form.name in ANSWER_FORMATS:
        from clueval.formats.mentions import without_answer  # few sides are answers

        side = _with_own_ids(side, "missing needs the ids of documents")
        side = side._replace(filling=partial(without_answer, options=side.of_rows))
    if side.kind in ("tags", None) and options.names is not None:
        from clueval.formats.tag_lists import names_of_tags  # most tags are text

        side = side._replace(names=names_of_tags(options.names, "labels"))
    return side._replace(options=options)


def names_in_dataset(dataset: Any) -> Mapping[str, Any] | None:
    """Return the names of the tags of a Hugging Face dataset, as its JSON has them; None for anything else."""
    features = getattr(dataset, "features", None)
    if not isinstance(features, Mapping):
        return None
    names = {key: getattr(getattr(kind, "feature", None), "names", None) for key, kind in features.items()}
    tag_features = {key: {"names": list(tag_names)} for key, tag_names in names.items() if tag_names}
    return {"features": tag_features} if tag_features else None


def _of_answers(side: GivenSide, value: Any) -> GivenSide:
    """Return a side with answers of a language model: texts, or JSON that has been read, in order or by id."""
    from clueval.formats.form import form_of_rows  # few sides have rows

    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise UsageError(
            f"{side.name} must not be {described(value)}", advice="give one answer for each document"
        )
    answers = _materialised(value) if is_frame(value) else value
    if isinstance(answers, Mapping):
        side, answers = side._replace(ids=_ids_of(side, answers)), answers.values()
    side = side._replace(kind="documents", form=form_of_rows(None, side.options.input))
    return side._replace(items=_documents_of_rows(side, answers))


def _with_kind(side: GivenSide, value: Any) -> GivenSide:
    if isinstance(value, Document):
        return _with_items(side, [value])
    if is_frame(value):
        from clueval.reading.data_frames import records_of, spans_by_document  # few sides are frames

        records = records_of(value)
        if records and _form_of_row(records[0], side.options) is not None:
            return _with_items(side, records)
        spans = spans_by_document(records, list(value.columns), side.name)
        if isinstance(spans, dict):
            side = _with_items(side._replace(ids=list(spans)), list(spans.values()))
        else:
            side = _with_items(side, spans)
        return side._replace(filling=lambda _: [])
    if hasattr(value, "tolist"):
        value = value.tolist()
    form = _form_of_row(value, side.options)
    has_documents_by_id = getattr(form, "joined", None) is not None  # positions alone, as TAB's predictions
    if _is_spacy_doc(value) or (form is not None and not has_documents_by_id):
        return _with_items(side, [value])
    if isinstance(value, Mapping) and not is_span(value):
        return _with_items(side._replace(ids=_ids_of(side, value)), list(value.values()))
    if isinstance(value, str | bytes | Mapping) or is_span(value) or not isinstance(value, Iterable):
        what = "one span" if is_span(value) else described(value)
        advice = next((advice for name, advice in _LISTED_BY.items() if hasattr(value, name)), _FORMS)
        raise UsageError(f"{side.name} must not be {what}", advice=advice)
    return _with_items(side, value)


def _ids_of(side: GivenSide, by_id: Mapping[Any, Any]) -> list[str]:
    """Return the ids of documents, which are text. Raises `UsageError` for two that are the same text."""
    keys: dict[str, Any] = {}
    for key in by_id:
        if keys.setdefault(str(key), key) is not key:
            raise UsageError(
                f"{side.name} has two documents with the id {str(key)!r}: {keys[str(key)]!r} and {key!r}",
                advice="ids are text; give each document another one",
            )
    return list(keys)


def _with_items(side: GivenSide, values: Iterable[Any]) -> GivenSide:
    """Return a side with items, of which the first that is not empty tells the kind."""
    beginning: list[Any] = []
    kind: Kind | None = None
    values_left = iter(values)
    for value in values_left:
        form = _form_of_row(value, side.options)
        item, place = _materialised(value), side.place(len(beginning))
        beginning.append(item)
        if form is not None:
            return _of_rows(side._replace(form=form), item, place, chain(beginning, values_left))
        kind, is_nested = _kind_of(item, place, side.options)
        if kind is not None:
            break
    if kind is None:
        return side._replace(items=beginning)
    if isinstance(values, set | frozenset) and (is_nested or kind == "tags"):
        raise UsageError(f"{side.name} is a set, which has no order", advice="give a list, or {id: spans}")
    items: Iterable[Any] = chain(beginning, values_left)
    if kind == "documents":
        return side._replace(kind=kind, items=_documents(side, items))
    if side.ids is not None and not is_nested:
        raise UsageError(f"{place} must be a list of {kind}", advice="a list for each document")
    if not is_nested or isinstance(values, list | tuple):
        items = list(items)
        if not {list, tuple}.issuperset(map(type, items)):
            items = list(map(_materialised, items))
    else:
        items = map(_materialised, items)
    if is_nested:
        return side._replace(kind=kind, items=items, nested=True)
    for number, span in enumerate(items):
        key = next((key for key in DOCUMENTS if key in (fields_of(span) or ())), None)
        if key is not None:
            raise UsageError(
                f"{side.name}[{number}] has the key {key!r}, but one list of spans is one document",
                advice="give a list of spans for each document, or {id: spans}",
            )
    return side._replace(kind=kind, items=[items], nested=False)


def _of_rows(side: GivenSide, first: Any, place: str, rows: Iterable[Any]) -> GivenSide:
    """Return a side with rows of a JSON format, of which the first that is no empty list has this place."""
    columns = next((first[key] for key in _TOKENS if key in first), ()) if isinstance(first, Mapping) else ()
    if isinstance(columns, list | tuple) and columns and isinstance(columns[0], list | tuple):
        raise UsageError(f"{place} has columns of a data set", advice="give the data set itself, or its rows")
    return side._replace(kind="documents", items=_documents_of_rows(side, rows))


def _documents_of_rows(side: GivenSide, rows: Iterable[Any]) -> Iterator[Document]:
    """Yield the documents of rows, as they are read from a file; errors name the side."""
    from clueval.reading.source import read_rows  # few sides have rows

    documents = read_rows(
        enumerate(rows, 1), side.of_rows, name=side.options.format, passed_over=side.passed_over
    )
    try:
        if side.ids is None:
            yield from documents
            return
        for document, id_ in zip_longest(documents, side.ids):
            if document is None or id_ is None:
                raise UsageError("the rows have not one document for each id", advice="give a list of rows")
            yield replace(document, id=id_)
    except CluevalError as error:
        error.file = error.file or side.name
        raise


def _documents(side: GivenSide, items: Iterable[Any]) -> Iterator[Document]:
    for number, item in enumerate(items):
        if _is_spacy_doc(item):
            from clueval.formats.docbin import (  # few need it
                ENTS,
                document_of_spacy,
                is_unannotated,
                spans_in_groups,
            )

            doc, item = item, document_of_spacy(item, {DEFAULT_LAYER: ENTS}, None, id=MissingId(number))
            if is_unannotated(doc):
                item = replace(item, metadata=Frozen({UNANNOTATED: ""}))
            elif side.passed_over is not None:
                side.passed_over.update(spans_in_groups(doc))
        if not isinstance(item, Document):
            problem = f"{side.place(number)} is {described(item)}, not a document like those before it"
            raise UsageError(problem, advice=_FORMS)
        yield item if side.ids is None else replace(item, id=side.ids[number])


# What an item is


def _kind_of(item: Any, place: str, options: Reading) -> tuple[Kind | None, bool]:
    """Return the kind of an item of a side, and whether the item is a list; None if it is an empty list."""
    has_names = options.names is not None
    if isinstance(item, Document) or _is_spacy_doc(item):
        return "documents", True
    if isinstance(item, str):
        _refuse_text(item, place)
        return "tags", False
    if has_names and (is_number(item) or _are_numbers(item)):
        return "tags", not is_number(item)
    if is_span(item):
        if isinstance(item, list) and _are_numbers(item):  # two; more are no span
            raise UsageError(
                f"{place} is a list of two numbers, a span without a label or two tags that are numbers",
                advice="write spans as tuples, (start, end), and lists of them for documents; tags need names=[...]",
            )
        return "spans", False
    if isinstance(item, tuple) and len(item) == 2 and is_frame(item[1]):
        raise UsageError(f"{place} is a pair with a data frame", advice="give the data frame, or {id: frame}")
    if not isinstance(item, Sequence) or isinstance(item, bytes):
        advice = _GIVE_NAMES if is_number(item) else _advice_on(item, place)
        raise UsageError(f"{place} is {described(item)}", advice=advice)
    if not item:
        return None, True
    first = item[0]
    if isinstance(first, str) or first is None:
        if (
            len(item) == 3
            and first is not None
            and all(type(number) is int and number >= 0 for number in item[1:])
        ):
            as_span(item, place)  # raises an error that says so
        _refuse_text(first or "", f"{place}[0]")
        return "tags", True
    are_batches = has_names and _are_numbers(first)
    if are_batches or (isinstance(first, list) and first and _is_tag(first[0])):
        raise UsageError(
            f"{place} is a list of lists of tags",
            advice="give each batch to Accumulator.update, or join them",
        )
    if not is_span(first):
        _refuse_list(first, place, options)
    return "spans", True


def _form_of_row(item: Any, options: Reading) -> Any:
    """Return the description of an item that is a row of JSON, None for another; each object has a named format."""
    is_pair = isinstance(item, tuple | list) and len(item) == 2 and isinstance(item[1], Mapping)
    may_be = isinstance(item[0], str) if is_pair else isinstance(item, Mapping)
    if not may_be or (options.format is None and is_span(item)):
        return None
    from clueval.formats.form import form_of_rows  # few sides have rows

    with suppress(FormatError):
        return form_of_rows(item, options.format)
    return None


def is_frame(side: object) -> bool:
    """Return whether a side is a data frame of pandas or polars."""
    return hasattr(side, "iterrows") or hasattr(side, "iter_rows")


def _is_spacy_doc(item: object) -> bool:
    return hasattr(item, "ents") and hasattr(item, "text") and hasattr(item, "has_annotation")


def _materialised(item: Any) -> Any:
    """Return an array or an iterator as a list, and everything else unchanged."""
    if type(item) in (list, tuple) or isinstance(item, str | bytes | Sequence | Mapping | Span | Document):
        return item
    if is_frame(item):
        from clueval.reading.data_frames import records_of

        return records_of(item)
    if hasattr(item, "tolist"):
        return item.tolist()
    if _is_spacy_doc(item) or is_span(item) or not isinstance(item, Iterable):
        return item
    items = list(item)
    has_no_order = isinstance(item, set | frozenset) and any(
        isinstance(value, str) or is_number(value) for value in items
    )
    return item if has_no_order else items  # sets of tags are refused; the order of spans does not matter


def _are_numbers(item: Any) -> bool:
    return isinstance(item, list | tuple) and bool(item) and all(map(is_number, item))


def _is_tag(value: object) -> bool:
    return isinstance(value, str) and is_tag(value)


# What is refused


def _refuse_text(tag: str, place: str) -> None:
    parts = tag.split()
    if len(parts) > 1 and all(map(is_tag, parts)):
        advice = "split it: [line.split() for line in lines]"
        raise UsageError(f"{place} has several tags in one text", advice=advice)
    if tag.startswith("[") and tag.endswith("]"):
        advice = "read it with ast.literal_eval or json.loads"
        raise UsageError(f"{place} is a list that is written as text", advice=advice)


def _refuse_list(first: Any, place: str, options: Reading) -> NoReturn:
    if options.names is not None and isinstance(first, int | float):
        advice = "the numbers of tags are integers, as in predictions.astype(int)"
        raise UsageError(f"{place} has values that are no numbers of tags", advice=advice)
    if is_number(first) or isinstance(first, bool):
        raise UsageError(f"{place} has numbers for tags", advice=_GIVE_NAMES)
    values = first if isinstance(first, list | tuple) else ()
    if len(values) == 2 and isinstance(values[0], str) and _is_tag(values[1]):
        advice = "give lists of tags, or rows: {'tokens': [...], 'tags': [...]}"
        raise UsageError(f"{place} has pairs of a token and its tag", advice=advice)
    if _form_of_row(first, options) is not None:
        advice = "give one split of the data set, as in data['test']"
        raise UsageError(f"{place} is a list of rows", advice=advice)
    if values and all(isinstance(value, float) for value in values):
        advice = "give the numbers of the best tags, predictions.argmax(-1), and names"
        raise UsageError(f"{place} has several numbers for each token, as a model has scores", advice=advice)
    _refuse_span(first, f"{place}[0]")
    raise UsageError(f"{place} is a list that begins with {described(first)}", advice=_FORMS)


def _refuse_span(item: Any, place: str) -> None:
    """Raise the error for a dictionary or tuple that is no span: of a row, as in files, or of its wrong part."""
    if isinstance(item, Mapping) and item.keys().isdisjoint((*STARTS, *ENDS, END_INCLUSIVE)):
        is_answer = not (item.keys().isdisjoint(_TEXT) or item.keys().isdisjoint(LABELS))
        if not is_answer:
            from clueval.formats.recognition import refuse_row  # only for an error

            refuse_row(item, place, line=None)
    if isinstance(item, Mapping | tuple):
        as_span(item, place)


def _advice_on(item: Any, place: str) -> str:
    """Return what to do with an object that is no item. Raises `UsageError` for one that is meant as a span."""
    _refuse_span(item, place)
    if item is None:
        return "a document without spans is an empty list"
    if hasattr(item, "get_spans"):
        return "give the spans of each sentence: [sentence.get_spans('ner') for sentence in sentences]"
    return (
        "give the entities of each document: [doc.ents for doc in docs]" if hasattr(item, "ents") else _FORMS
    )


# Several sides


def sides_in_memory(
    inputs: Mapping[str, Any],
    readings: Sequence[Reading],
    layers: LayerColumns | None,
    pair_by: str | None,
) -> MemorySides:
    """Return the sides that are in memory, by their names in errors.

    Reads of an iterator what `side_of` does. Raises `UsageError` for something else, for sides of different kinds, and
    for options that do not apply.
    """
    first = next(iter(inputs))
    missing = [name for name, side in inputs.items() if side is None and name != first]
    if missing:
        inputs = {**inputs, **dict(zip((first, *missing), _examples_in(inputs[first]), strict=False))}
    if any(reading.input in ANSWER_FORMATS for reading in readings[1:]):
        readings = [without_answers(readings[0]), *readings[1:]]
    sides = []
    for number, (name, value) in enumerate(inputs.items()):
        columns = columns_of_side(layers, min(number, 1), single_file=False)
        side = GivenSide(name, readings[number], columns, is_predicted=number == 1)
        sides.append(side_of(side, value, (other for other in inputs.values() if other is not value)))
    kind, listed = _aligned(sides)
    listed = [side.with_scheme() for side in listed]
    if pair_by is not None and len(sides) > 2:
        raise UsageError("several golds in memory are in the same order", advice="leave out pair_by")
    require_sources(sides)
    is_shared = readings.count(readings[0]) == len(readings)
    for side in listed:
        _require_use(side, listed if is_shared else [side])
    for number, side in enumerate(listed[:2]):
        if side.form is not None and side.form.name == MENTIONS:
            if not number:
                raise answers_in_gold(side.name, None)
            listed[1] = side._replace(options=replace(side.options, input=MENTIONS))
    if pair_by is not None and any(side.kind != "documents" for side in listed):
        problem = f"pair_by={pair_by!r} pairs documents, not lists of spans"
        raise UsageError(problem, advice="leave out pair_by")
    return MemorySides(kind, listed, pair_by)


def _examples_in(gold: Any) -> tuple[Any, Any]:
    """Return the documents of both sides of spaCy's ``Example`` objects. Raises `UsageError` for anything else."""
    if hasattr(gold, "label_ids"):  # a prediction of a Trainer of transformers
        advice = "score(output.label_ids, output.predictions.argmax(-1), names=names)"
        raise UsageError("predicted is missing", advice=advice)

    def is_example(item: object) -> bool:
        return hasattr(item, "reference") and hasattr(item, "predicted")

    items = [gold] if is_example(gold) else gold
    items = list(items) if isinstance(items, Iterable) else []
    if not items or not all(map(is_example, items)):
        advice = "give gold and predicted; only a file, a folder or spaCy's Examples hold both sides"
        raise UsageError("predicted is missing", advice=advice)
    return [example.reference for example in items], [example.predicted for example in items]


def require_sources(sides: Collection[GivenSide]) -> None:
    """Raise `UsageError` for layers or names of tags that no side has a use for.

    Layers that are named need a side with columns or keys, names of tags one with tags.
    """
    layers = next((side.layers for side in sides if side.layers), None)
    listed = next((side for side in sides if side.kind is not None), None)
    forms = [side.form for side in sides if side.form is not None]
    if layers is not None and listed is not None and not forms:
        raise UsageError(
            f"layers={dict(layers)} names columns or keys, and {listed.name} has {listed.kind}",
            advice="leave it out, or give it to read: documents have their layers, and lists are the layer 'label'",
        )
    has_names = any(side.options.names is not None for side in sides)
    if has_names and listed is not None and not any(side.kind == "tags" for side in sides):
        from clueval.reading.source import options_of  # lists have no format

        if not any("names" in options_of(form) for form in forms):
            raise UsageError("names=... is for tags, and no side has tags", advice="leave it out")


def _require_use(side: GivenSide, sides: Collection[GivenSide]) -> None:
    """Raise `UsageError` for an option of a side that applies to none of `sides`, which are read alike."""
    used = {"names"}
    if any(other.form is None and other.kind in ("tags", None) for other in sides):
        used |= {"scheme", "invalid"}
    if forms := [other.form for other in sides if other.form is not None]:
        from clueval.reading.source import FOR_ALL, options_of  # few sides have rows

        used |= {*FOR_ALL}.union(*map(options_of, forms))
    if side.form is None:
        require_none(side.options, used)
        return
    for name in chosen_options(side.options):
        from clueval.files.names import in_memory  # only for options
        from clueval.reading.source import idle_option

        if name not in used:
            error = idle_option(name, getattr(side.options, name), [side.form.name], None)
            error.advice = in_memory(name) or error.advice
            raise error


def _aligned(sides: list[GivenSide]) -> tuple[MemoryKind, list[GivenSide]]:
    """Return the one kind of the sides, and the sides in the order of the documents of the first."""
    if len({side.kind == "paths" for side in sides}) > 1:
        kinds = (f"{side.name} is {'paths' if side.kind == 'paths' else 'in memory'}" for side in sides)
        are_answers = any(side.kind == "paths" and side.options.input in ANSWER_FORMATS for side in sides)
        raise UsageError(
            " and ".join(kinds),
            advice="a text is the path of a file; give a list with an answer for each document of gold"
            if are_answers
            else "give both sides as files, or both in memory; read gives the documents of files, and texts "
            "that are answers of language models need input='mentions' or 'inline', redacted ones "
            "masking(gold, texts, redacted=True)",
        )
    kinds_of = dict.fromkeys(side.kind for side in sides if side.kind is not None and side.kind != "paths")
    if "documents" in kinds_of:
        return "documents", _by_id(sides)
    if len(kinds_of) > 1:
        raise UsageError(
            " and ".join(f"{side.name} is {side.kind}" for side in sides if side.kind is not None),
            advice="give both sides in one form, or as rows with their tokens: {'tokens': [...], 'ner_tags': [...]}, "
            "{'tokens': [...], 'entities': [{'start': 0, 'end': 2, 'type': 'PER'}]}",
        )
    flat_side, nested_side = (
        next((side for side in sides if side.nested is is_nested), None) for is_nested in (False, True)
    )
    if flat_side is not None:
        if nested_side is not None:
            raise UsageError(
                f"{flat_side.name} is a list of {flat_side.kind} and {nested_side.name} a list of lists",
                advice=flat_side.advice or "give a list for each document on both sides",
            )
        # the other side may be one empty list
        sides = [side if side.kind or side.items else side._replace(items=[[]]) for side in sides]
    kind: MemoryKind = next(iter(kinds_of), "spans")
    sides = _by_id(sides)
    if kind == "tags" and sides[0].names is not None:
        sides = _with_names_of_tags(sides)
    return kind, sides


def _with_own_ids(side: GivenSide, why: str) -> GivenSide:
    """Return a side of documents with their ids, if it has none. Raises `UsageError` for a document without id."""
    if side.ids is not None:
        return side
    items = list(side.items)
    if any(isinstance(document.id, MissingId) for document in items):
        raise UsageError(f"{why}, and the documents of {side.name} have none", advice="give each row its id")
    return side._replace(items=items, ids=[document.id for document in items])


def _by_id(sides: Sequence[GivenSide]) -> list[GivenSide]:
    """Return the sides in the order of the first if one is by id.

    Documents have their own ids. A side that is partial has no spans where it has no document.
    """
    by_id = next((side for side in sides if side.ids is not None), None)
    if by_id is None:
        return list(sides)
    why = f"{by_id.name} is a dictionary by document id"
    sides = [_with_own_ids(side, why) if side.kind == "documents" else side for side in sides]
    for side in sides:
        if side.ids is None:
            raise UsageError(f"{why} and {side.name} is not", advice="give both in one form")
    for side in sides:
        id_, times = next(iter(Counter(side.ids).most_common(1)), ("", 1))
        if times > 1:
            raise UsageError(f"{side.name} has document {id_!r} {times} times", advice="give each another id")
    first, *others = sides
    first, *others = _filled(first, others), *(_filled(other, [first]) for other in others)
    ids = first.ids or ()
    in_order = [first]
    for other in others:
        for one_side, other_side in ((first, other), (other, first)):
            if alone := sorted(set(one_side.ids or ()).difference(other_side.ids or ())):
                more = f" and {len(alone) - 3} more" if len(alone) > 3 else ""
                lacks_answers = other_side.options.input == MENTIONS
                raise UsageError(
                    f"only {one_side.name} has document {', '.join(map(repr, alone[:3]))}{more}",
                    advice="give an answer for each document, or count those without one as empty with "
                    "missing='empty'"
                    if lacks_answers
                    else "both sides need the same documents; an empty list is a document without spans",
                )
        item_of = dict(zip(other.ids or (), other.items, strict=True))
        in_order.append(other._replace(items=[item_of[id_] for id_ in ids], ids=ids))
    return in_order


def _filled(side: GivenSide, others: Iterable[GivenSide]) -> GivenSide:
    """Return a side; if it is partial, with empty lists for documents of the other sides.

    Raises `UsageError` for a partial side if no document is on both sides.
    """
    if side.filling is None:
        return side
    ids = side.ids or ()
    other_ids = dict.fromkeys(id_ for other in others for id_ in other.ids or ())
    if ids and other_ids and other_ids.keys().isdisjoint(ids):
        raise UsageError(
            f"no document is on both sides: one has {ids[0]!r}, the other {next(iter(other_ids))!r}",
            advice="use the same ids on both sides",
        )
    every_id = [*dict.fromkeys([*ids, *other_ids])]
    return side._replace(items=[*side.items, *map(side.filling, every_id[len(ids) :])], ids=every_id)


def _in_step(sides: Sequence[GivenSide], what: str, before: int = 0) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Yield the number and the items of each document, of which some were `before`.

    Raises `UsageError` if one side has more.
    """
    sizes = [len(side.items) for side in sides if isinstance(side.items, Sequence)]
    if len(sizes) == len(sides):
        for side, size in zip(sides, sizes, strict=True):
            if size != sizes[0]:
                raise UsageError(
                    f"{sides[0].name} has {with_noun(sizes[0], what)} and {side.name} has {with_noun(size, what)}",
                    advice="give both sides the same ones",
                )
    nothing = object()
    for number, items in enumerate(zip_longest(*(side.items for side in sides), fillvalue=nothing), before):
        if any(item is nothing for item in items):
            shorter = next(side for side, item in zip(sides, items, strict=True) if item is nothing)
            longer = next((item for item in items if isinstance(item, Document)), None)
            from clueval.files.errors import not_read  # only for an error

            why = not_read(shorter.passed_over or {}) if number == 0 else ""
            raise UsageError(
                f"{shorter.name} has only {with_noun(number, what)}{why}, the other side has more",
                file=None if longer is None else longer.file,
                document=None if longer is None else longer.id,
                advice=shorter.advice or "both sides must have the same documents in the same order",
            )
        yield number, items


def _with_names_of_tags(sides: Sequence[GivenSide]) -> list[GivenSide]:
    """Return sides of lists of tags with names in place of numbers, without the positions that the first ignores."""
    columns: list[list[Any]] = [[] for _ in sides]
    for number, items in _in_step(sides, "sentences"):
        _require_parallel_tags(sides, number, items)
        kinds = {*map(type, items[0])}
        if kinds != {int} or IGNORED in items[0]:
            counts = [not (is_number(tag) and index(tag) == IGNORED) for tag in items[0]]
            items = tuple(list(compress(tags, counts)) for tags in items)
        for side, column, tags in zip(sides, columns, items, strict=True):
            column.append(_tags_with_names(tags, side.names, side.place(number)))
    return [side._replace(items=column, names=None) for side, column in zip(sides, columns, strict=True)]


def _tags_with_names(tags: Sequence[Any], names: Mapping[int, str] | None, place: str) -> Sequence[Any]:
    """Return tags with names in place of numbers. Raises `UsageError` for a number without name."""
    if names is not None and {*map(type, tags)} == {int}:  # the usual case
        with suppress(KeyError):
            return list(map(names.__getitem__, tags))
    if not any(map(is_number, tags)):
        return tags
    if names is None:
        raise UsageError(f"{place} has numbers for tags", advice=_GIVE_NAMES)
    for position, tag in enumerate(tags):
        if is_number(tag) and index(tag) not in names:
            raise UsageError(
                f"{place}[{position}]: no tag has the number {index(tag)}",
                advice="it marks positions that do not count: give lists of numbers without tokens, with -100 in gold"
                if index(tag) == IGNORED
                else "names has the tags in the order of their numbers",
            )
    return [names[index(tag)] if is_number(tag) else tag for tag in tags]
