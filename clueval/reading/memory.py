"""Sides in memory, in any usual form: the items of each, one for each document, and their documents.

An item is a list of tags, a list of spans (`clueval.core.span_forms`), a `Document`, a spaCy ``Doc``, or a row of any
JSON format, which is read as it would be in a file. A dictionary has the ids of documents as keys. A single list of
tags or spans is one document. A data frame has rows, or one span in each row (`clueval.reading.data_frames`).
The first item that is not empty decides; the other items must be of the same kind.

If a side has documents with texts or tokens, others may have lists. Tags that are numbers need names (`Reading.names`);
lists of numbers come from models: `IGNORED` in gold marks positions that do not count on any side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, compress, zip_longest
from operator import index, is_
from typing import Any, Literal, NamedTuple

from clueval.core.document import Document, Layers, MissingId, same_id
from clueval.core.span import DEFAULT_LAYER, NO_LABEL, Frozen, Span
from clueval.core.span_forms import (
    DOCUMENTS,
    END_INCLUSIVE,
    ENDS,
    LABELS,
    STARTS,
    as_span,
    as_spans,
    fields_of,
    is_number,
    is_span,
)
from clueval.core.tags import is_tag, split_tag
from clueval.files.arguments import require_kind
from clueval.files.errors import CluevalError, FormatError, TagError, UsageError, described
from clueval.formats.documents import read_rows
from clueval.formats.form import Form, form_of_rows
from clueval.formats.options import FormatOptions
from clueval.formats.tag_lists import chunks_of, names_of_tags
from clueval.reading.options import ANSWER_FORMATS
from clueval.reading.paths import is_path_or_paths

_FORMS = "give paths, documents or, for each document, a list of tags or a list of spans such as (start, end, label)"

Kind = Literal["paths", "tags", "spans", "documents"]

IGNORED = -100
"""The number of a position that does not count, PyTorch's default."""

_GIVE_NAMES = "give names=[...], the tags in the order of their numbers"

_TEXT = ("text", "data")
_TOKENS = ("tokens", "words")


class GivenSide(NamedTuple):
    """One side in memory.

    Attributes:
        name: its name in errors.
        kind: what its items are; None if it is empty.
        items: one for each document; those of the kind ``documents`` are documents.
        ids: the ids of the documents; None: they have their own, or are numbered.
        nested: whether the items are lists; False: the side was one list of tags or spans; None: not known.
        filling: returns the item of a document that is missing, given its id, as those without spans in a data frame;
            None: no document may be missing.
        names: the names of tags that are numbers.
        form: the format of the items, if they are rows or answers.
    """

    name: str
    kind: Kind | None
    items: Iterable[Any]
    ids: Sequence[str] | None = None
    nested: bool | None = None
    filling: Callable[[str], Any] | None = None
    names: Mapping[int, str] | None = None
    form: Form | None = None

    def place(self, number: int) -> str:
        """Return the name of an item in errors, such as ``gold[0]`` or ``gold['d1']``."""
        return f"{self.name}[{number if self.ids is None else repr(self.ids[number])}]"

    def id_of(self, number: int) -> str:
        return str(number) if self.ids is None else self.ids[number]

    def document(
        self, number: int, item: Any, options: FormatOptions, lender: Document | None = None
    ) -> Document:
        """Return the document of an item; `lender` is that of another side if only that has a text or tokens."""
        place = self.place(number)
        if self.kind == "documents":
            found: Document = item
            return found
        if lender is not None:
            return with_text_of(lender, item, place, self.names)
        id_ = self.id_of(number)
        if self.kind != "tags":
            return document_of_spans(as_spans(item, place), id_)
        tags = materialised(item)
        require_kind(tags, "Sequence", place)
        if self.names is not None:
            tags = _named(tags, self.names, place)
        try:
            return document_of_tags(tags, id_, scheme=options.scheme, invalid=options.invalid)
        except (CluevalError, TypeError, ValueError, AttributeError) as error:  # values that are no text
            _require_tags(tags, place, options)
            if isinstance(error, CluevalError):
                error.problem = f"{place}: {error.problem}"
            raise


def _require_tags(tags: Sequence[Any], place: str, options: FormatOptions) -> None:
    """Raise the error of the first value of a sentence that is no tag of the scheme, with its place."""
    for position, tag in enumerate(tags):
        if not isinstance(tag, str):
            raise UsageError(
                f"{place}[{position}]: {described(tag)} is not a tag", advice="tags are text, such as 'B-PER'"
            )
        try:
            split_tag(tag)
            if options.scheme is not None:
                chunks_of([tag], options.scheme, "conlleval")
        except TagError as error:
            error.problem = f"{place}[{position}]: {error.problem}"
            raise


# One side


def side_of(given: Any, name: str, options: FormatOptions, others: Iterable[Any] = ()) -> GivenSide:
    """Return one side with its kind; `name` is its name in errors, and `others` are the other sides.

    A data set of Hugging Face has the names of its tags; without names, they are those of the other sides. Reads no
    more of an iterator than its first items. Raises `UsageError` for something else.
    """
    if is_path_or_paths(given) and (options.input not in ANSWER_FORMATS or isinstance(given, str)):
        return GivenSide(name, "paths", given)
    found = _Items(name, _with_names(options, given, others)).side(given)
    if found.kind == "tags" or found.kind is None:
        names = None if options.names is None else names_of_tags(options.names, "labels")
        found = found._replace(names=names)
    return found


def _with_names(options: FormatOptions, given: Any, others: Iterable[Any]) -> FormatOptions:
    names = names_in_dataset(given)
    if names is None and options.names is None:
        names = next(filter(None, map(names_in_dataset, others)), None)
    return options if names is None else replace(options, names=names)


def names_in_dataset(dataset: Any) -> Mapping[str, Any] | None:
    """Return the names of the tags of a Hugging Face dataset, as its JSON has them; None for anything else."""
    features = getattr(dataset, "features", None)
    if not isinstance(features, Mapping):
        return None
    names = {key: getattr(getattr(kind, "feature", None), "names", None) for key, kind in features.items()}
    found = {key: {"names": list(own)} for key, own in names.items() if own}
    return {"features": found} if found else None


class _Items:
    """Finds the items of one side; `name` is its name in errors."""

    def __init__(self, name: str, options: FormatOptions) -> None:
        self._name, self._options = name, options
        self._has_numbers = options.names is not None

    def side(self, given: Any) -> GivenSide:
        name = self._name
        if self._options.input in ANSWER_FORMATS:
            return self._of_answers(given)
        if isinstance(given, Document):
            return GivenSide(name, "documents", [given])
        if is_frame(given):
            return self._of_frame(given)
        if _is_spacy_doc(given) or (self._is_row(given) and not _are_by_id(given)):
            return self._of_items([given], None)
        if isinstance(given, Mapping) and not is_span(given):
            return self._of_items(list(given.values()), list(map(str, given)))
        if isinstance(given, str | bytes | Mapping) or is_span(given) or not isinstance(given, Iterable):
            what = "one span" if is_span(given) else described(given)
            raise UsageError(f"{name} must not be {what}", advice=_FORMS)
        return self._of_items(given, None)

    def _of_answers(self, given: Any) -> GivenSide:
        """Return the answers of a language model: texts, or JSON that has been read, in order or by id."""
        if isinstance(given, str | bytes) or not isinstance(given, Iterable):
            raise UsageError(
                f"{self._name} must not be {described(given)}", advice="give one answer for each document"
            )
        is_by_id = isinstance(given, Mapping)
        ids = list(map(str, given)) if is_by_id else None
        answers = given.values() if isinstance(given, Mapping) else given
        form = form_of_rows(None, self._options.input)
        items = self._of_rows(answers, ids)
        if self._options.missing is None:
            return GivenSide(self._name, "documents", items, ids, form=form)
        if ids is None:
            raise UsageError(
                f"{self._name} is a list, and missing needs the ids of documents", advice="give {id: answer}"
            )
        from clueval.formats.mentions import without_answer  # few sides are answers

        filling = partial(without_answer, options=self._options)
        return GivenSide(self._name, "documents", list(items), ids, filling=filling, form=form)

    def _is_row(self, item: Any) -> bool:
        """Return whether an item is a row of a JSON format; with a named format, each object is."""
        if isinstance(item, Document) or is_frame(item):
            return False
        is_object = isinstance(item, Mapping)
        is_pair = (
            isinstance(item, tuple | list)
            and len(item) == 2
            and isinstance(item[0], str)
            and isinstance(item[1], Mapping)
        )
        if self._options.format is not None:
            return is_object or is_pair
        if not (is_object or is_pair) or is_span(item):
            return False
        try:
            form_of_rows(_as_json(item))
        except FormatError:
            return False
        return True

    def _of_frame(self, frame: Any) -> GivenSide:
        from clueval.reading.data_frames import records_of, spans_by_document

        records = records_of(frame)
        if records and self._is_row(records[0]):
            return self._of_items(records, None)
        found = self.side(spans_by_document(records, list(frame.columns), self._name))
        return found._replace(filling=lambda _: [])

    def _of_items(self, given: Iterable[Any], ids: Sequence[str] | None) -> GivenSide:
        name = self._name
        seen: list[Any] = []
        items = iter(given)
        for item in items:
            first = item
            seen.append(item if self._is_row(item) else materialised(item))
            place = GivenSide(name, None, (), ids).place(len(seen) - 1)
            if self._is_row(seen[-1]):
                _refuse_columns(seen[-1], place)
                rest = chain(seen, items)
                form = form_of_rows(_as_json(seen[-1]), self._options.format)
                return GivenSide(name, "documents", self._of_rows(rest, ids), ids, form=form)
            kind, nested = self._kind_of(seen[-1], place)
            if kind is not None:
                break
        else:
            return GivenSide(name, None, seen, ids)
        rest = chain(seen, items)
        if kind == "documents":
            return GivenSide(name, kind, self._documents(rest, ids), ids)
        if nested and is_frame(first):
            return GivenSide(name, kind, map(materialised, rest), ids, nested=True)
        if nested:
            unchanged = isinstance(given, list) and all(map(is_, seen, given))
            return GivenSide(name, kind, given if unchanged else rest, ids, nested=True)
        if ids is not None:
            raise UsageError(f"{place} must be a list of {kind}", advice="a list for each document")
        spans = list(map(materialised, rest))
        self._require_one_document(spans)
        return GivenSide(name, kind, [spans], nested=False)

    def _of_rows(self, rows: Iterable[Any], ids: Sequence[str] | None) -> Iterator[Document]:
        """Yield the documents of rows, as they are read from a file; errors name the side."""
        numbered = (
            (number, list(row) if isinstance(row, tuple) else row) for number, row in enumerate(rows, 1)
        )
        documents = read_rows(numbered, self._options, name=self._options.format)
        try:
            if ids is None:
                yield from documents
                return
            for document, own in zip_longest(documents, ids):
                if document is None or own is None:
                    raise UsageError(
                        "the rows have not one document for each id", advice="give a list of rows"
                    )
                yield replace(document, id=own)
        except CluevalError as error:
            error.file = error.file or self._name
            raise

    def _documents(self, items: Iterable[Any], ids: Sequence[str] | None) -> Iterator[Document]:
        for number, item in enumerate(items):
            place = GivenSide(self._name, None, (), ids).place(number)
            if isinstance(item, Document):
                found = item
            elif _is_spacy_doc(item):
                from clueval.formats.docbin import ENTS, document_of_spacy  # not needed without spaCy

                found = document_of_spacy(item, {DEFAULT_LAYER: ENTS}, None, id=MissingId(number))
            else:
                raise UsageError(
                    f"{place} is {described(item)}, not a document like those before it", advice=_FORMS
                )
            yield found if ids is None else replace(found, id=ids[number])

    def _require_one_document(self, spans: Sequence[Any]) -> None:
        """Raise `UsageError` for dictionaries that name their document: a list of spans without lists has one."""
        for number, span in enumerate(spans):
            fields = fields_of(span) or {}
            keys = [key for key in DOCUMENTS if key in fields]
            if keys:
                raise UsageError(
                    f"{self._name}[{number}] has the key {keys[0]!r}, but one list of spans is one document",
                    advice="give a list of spans for each document, or {id: spans}",
                )

    def _kind_of(self, item: Any, place: str) -> tuple[Kind | None, bool]:
        """Return the kind of an item of a side, and whether the item is a list; None if it is an empty list."""
        if isinstance(item, Document) or _is_spacy_doc(item):
            return "documents", True
        if isinstance(item, tuple) and len(item) == 2 and is_frame(item[1]):
            raise UsageError(
                f"{place} is a pair with a data frame", advice="give the data frame, or {id: frame}"
            )
        if isinstance(item, str):
            _refuse_text(item, place)
            return "tags", False
        if self._has_numbers and (is_number(item) or _are_numbers(item)):
            return "tags", not is_number(item)
        if is_span(item):
            return "spans", False
        if isinstance(item, Sequence) and not isinstance(item, bytes):
            if not item:
                return None, True
            if _begins_with_label(item):
                as_span(item, place)  # raises an error that says so
            if isinstance(item[0], str) or item[0] is None:
                _refuse_text(item[0], f"{place}[0]")
                return "tags", True
            are_batches = self._has_numbers and _are_numbers(item[0])
            if are_batches or (isinstance(item[0], list) and item[0] and _is_tag(item[0][0])):
                raise UsageError(
                    f"{place} is a list of lists of tags",
                    advice="give each batch to Accumulator.update, or join them",
                )
            if is_span(item[0]):
                return "spans", True
            if is_number(item[0]) or isinstance(item[0], bool):
                raise UsageError(f"{place} has numbers for tags", advice=_GIVE_NAMES)
            self._refuse_list(item[0], place)
            _refuse_span(item[0], f"{place}[0]")
            raise UsageError(f"{place} is a list that begins with {described(item[0])}", advice=_FORMS)
        if is_number(item):
            raise UsageError(f"{place} is {described(item)}", advice=_GIVE_NAMES)
        _refuse_span(item, place)
        raise UsageError(f"{place} is {described(item)}", advice=_advice_on(item))

    def _refuse_list(self, first: Any, place: str) -> None:
        """Raise `UsageError` for lists that are too deep, as splits, batches and scores, given their first item."""
        is_pair = isinstance(first, list | tuple) and len(first) == 2
        if is_pair and isinstance(first[0], str) and _is_tag(first[1]):
            raise UsageError(
                f"{place} has pairs of a token and its tag",
                advice="give lists of tags, or rows: {'tokens': [...], 'tags': [...]}",
            )
        if self._is_row(first):
            raise UsageError(
                f"{place} is a list of rows", advice="give one split of the data set, as in data['test']"
            )
        if isinstance(first, list | tuple) and first and all(isinstance(each, float) for each in first):
            raise UsageError(
                f"{place} has several numbers for each token, as a model has scores",
                advice="give the numbers of the best tags, predictions.argmax(-1), and names",
            )


def _are_by_id(given: Any) -> bool:
    """Return whether a dictionary has lists alone, but not those of a row: the spans or tags of documents by id."""
    return (
        isinstance(given, Mapping)
        and not {*_TEXT, *_TOKENS}.intersection(given)
        and all(isinstance(each, list | tuple) for each in given.values())
    )


def _as_json(value: Any) -> Any:
    """Return a row as JSON has it: mappings as dictionaries, tuples as lists, at any depth where there are some."""
    if isinstance(value, Mapping):
        return {key: _as_json(own) for key, own in value.items()}
    return list(map(_as_json, value)) if isinstance(value, list | tuple) else value


def is_frame(side: object) -> bool:
    """Return whether a side is a data frame of pandas or polars."""
    return hasattr(side, "iterrows") or hasattr(side, "iter_rows")


def _is_spacy_doc(item: object) -> bool:
    return hasattr(item, "ents") and hasattr(item, "text") and hasattr(item, "has_annotation")


def materialised(item: Any) -> Any:
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
    return list(item)


def _are_numbers(item: Any) -> bool:
    return isinstance(item, list | tuple) and bool(item) and all(map(is_number, item))


def _is_tag(value: object) -> bool:
    return isinstance(value, str) and is_tag(value)


# What is refused


def _refuse_columns(row: Any, place: str) -> None:
    """Raise `UsageError` for the columns of a data set, with a list of tokens for each sentence."""
    tokens = next((row[key] for key in _TOKENS if key in row), None) if isinstance(row, Mapping) else None
    if isinstance(tokens, list | tuple) and tokens and isinstance(tokens[0], list | tuple):
        raise UsageError(f"{place} has columns of a data set", advice="give the data set itself, or its rows")


def _refuse_text(tag: str | None, place: str) -> None:
    """Raise `UsageError` for a text that holds several tags."""
    parts = tag.split() if tag else []
    if len(parts) > 1 and all(is_tag(part) for part in parts):
        raise UsageError(
            f"{place} has several tags in one text", advice="split it: [line.split() for line in lines]"
        )
    if tag and tag.startswith("[") and tag.endswith("]"):
        raise UsageError(
            f"{place} is a list that is written as text", advice="read it with ast.literal_eval or json.loads"
        )


def _advice_on(item: Any) -> str:
    """Return what to do with an object that is no item."""
    if item is None:
        return "a document without spans is an empty list"
    if hasattr(item, "get_spans"):
        return "give the spans of each sentence: [sentence.get_spans('ner') for sentence in sentences]"
    if hasattr(item, "ents"):
        return "give the entities of each document: [doc.ents for doc in docs]"
    return _FORMS


def _begins_with_label(item: Sequence[Any]) -> bool:
    are_positions = all(type(each) is int and each >= 0 for each in item[1:])
    return len(item) == 3 and isinstance(item[0], str) and are_positions


def _refuse_span(item: Any, place: str) -> None:
    """Raise `UsageError` that names the wrong part of a span, for a dictionary or tuple that is no span."""
    if isinstance(item, Mapping):
        keys = ", ".join(map(repr, item)) or "none"
        if not {*_TEXT, *_TOKENS}.isdisjoint(item) and not any(key in item for key in LABELS):
            raise UsageError(
                f"{place} has a text but no spans or tags (its keys: {keys})",
                advice="spans are under 'spans' or 'entities', tags under 'ner_tags' or 'tags'; row=... names other "
                "keys",
            )
        if "entities" in item:
            raise UsageError(
                f"{place} has entities but no text",
                advice="add the text to each row, or, for answers without positions, input='mentions'",
            )
        if not any(key in item for key in (*STARTS, *ENDS, END_INCLUSIVE, *_TEXT)):
            raise UsageError(
                f"{place} is neither a span nor a row (its keys: {keys})",
                advice="a span has start, end and label; a row has text and spans, or tokens and ner_tags; answers of "
                "language models without positions need input='mentions'",
            )
    if isinstance(item, Mapping | tuple):
        as_span(item, place)


# Several sides


class Given(NamedTuple):
    """Sides in memory, in the same order of documents, and the ids of these if dictionaries have them."""

    kind: Kind
    sides: Sequence[GivenSide]
    ids: Sequence[str] | None = None

    @property
    def items(self) -> list[Iterable[Any]]:
        return [side.items for side in self.sides]

    def documents(self, options: Sequence[FormatOptions]) -> Iterator[tuple[Document, ...]]:
        """Yield the documents of each text. Raises `UsageError` if one side has more of them, and for a wrong item."""
        are_tags = self.kind == "tags"
        for number, items in enumerate(_in_step(self.sides, "sentences" if are_tags else "documents")):
            if are_tags:
                items = tuple(map(materialised, items))
                self._require_lengths(items, number)
            each = list(zip(self.sides, items, options, strict=True))
            lender = next((item for side, item, _ in each if side.kind == "documents"), None)
            first, *others = (side.document(number, item, own, lender) for side, item, own in each)
            yield (first, *(_with_id_of(first, other) for other in others))

    def _require_lengths(self, sentences: Sequence[Any], number: int) -> None:
        """Raise `UsageError` for sentences that differ in length, or are no lists."""
        for side, tags in zip(self.sides, sentences, strict=True):
            if isinstance(tags, str) or not isinstance(tags, Sequence):
                raise UsageError(
                    f"{side.place(number)} is {described(tags)}, not a list of tags",
                    advice="give a list of tags for each sentence",
                )
        first, *others = self.sides
        for side, tags in zip(others, sentences[1:], strict=True):
            if len(tags) != len(sentences[0]):
                what = f"sentence {number}" if self.ids is None else f"document {self.ids[number]!r}"
                raise UsageError(
                    f"{what} has {len(sentences[0])} {first.name} and {len(tags)} {side.name} tags",
                    advice="each token has a tag on both sides",
                )


def given_sides(given: Mapping[str, Any], options: Sequence[FormatOptions]) -> Given:
    """Return the sides in memory, by their names in errors, with one kind.

    Reads no more of an iterator than its first items. Raises `UsageError` for something else, and for sides of
    different kinds.
    """
    sides = [
        side_of(each, name, own, (other for other in given.values() if other is not each))
        for (name, each), own in zip(given.items(), options, strict=True)
    ]
    if len({side.kind == "paths" for side in sides}) > 1:
        kinds = (f"{side.name} is {'paths' if side.kind == 'paths' else 'in memory'}" for side in sides)
        raise UsageError(
            " and ".join(kinds),
            advice="give both sides as files, or both in memory; read gives the documents of files, and texts "
            "that are answers of language models need input='mentions' or 'inline', redacted ones "
            "masking(gold, texts, redacted=True)",
        )
    known: list[Kind] = list(dict.fromkeys(side.kind for side in sides if side.kind is not None))
    if "documents" in known:
        return _by_id("documents", _with_ids(sides))
    if len(known) > 1:
        raise UsageError(
            " and ".join(f"{side.name} is {side.kind}" for side in sides if side.kind is not None),
            advice="give both sides in one form",
        )
    if any(side.nested is False for side in sides):  # the other side may be one empty list
        sides = [side if side.kind or side.items else side._replace(items=[[]]) for side in sides]
    nested = {side.nested for side in sides if side.nested is not None}
    if len(nested) > 1:
        one = next(side for side in sides if side.nested is False)
        other = next(side for side in sides if side.nested)
        raise UsageError(
            f"{one.name} is a list of {one.kind} and {other.name} a list of lists",
            advice="give a list for each document on both sides",
        )
    found = _by_id(known[0] if known else "spans", sides)
    if found.kind == "tags" and found.sides[0].names is not None:
        return found._replace(sides=list(_with_names_of_tags(found.sides)))
    return found


def _with_ids(sides: list[GivenSide]) -> list[GivenSide]:
    """Return sides of which some have documents; these have the ids of their documents if others are by id."""
    by_id = next((side for side in sides if side.ids is not None), None)
    if by_id is None or all(side.ids is not None for side in sides):
        return sides
    found = []
    for side in sides:
        if side.kind != "documents" or side.ids is not None:
            found.append(side)
            continue
        items = list(side.items)
        if any(isinstance(each.id, MissingId) for each in items):
            raise UsageError(
                f"{by_id.name} is a dictionary by document id, and the documents of {side.name} have none",
                advice="give each row its id",
            )
        found.append(side._replace(items=items, ids=[each.id for each in items]))
    return found


def _by_id(kind: Kind, sides: Sequence[GivenSide]) -> Given:
    """Return the sides in the order of the first. A side that is partial has no spans where it has no document."""
    if all(side.ids is None for side in sides):
        return Given(kind, sides)
    without = next((side for side in sides if side.ids is None), None)
    if without is not None:
        one = next(side for side in sides if side.ids is not None)
        raise UsageError(
            f"{one.name} is a dictionary by document id and {without.name} is not",
            advice="give both in one form",
        )
    first, *others = sides
    filled = [_filled(first, others), *(_filled(other, [first]) for other in others)]
    for one, other in [(filled[0], each) for each in filled[1:]]:
        for own, its in ((one, other), (other, one)):
            if alone := sorted(set(own.ids or ()).difference(its.ids or ())):
                more = f" and {len(alone) - 3} more" if len(alone) > 3 else ""
                raise UsageError(
                    f"only {own.name} has document {', '.join(map(repr, alone[:3]))}{more}",
                    advice="both sides need the same documents; an empty list is a document without spans",
                )
    ids = filled[0].ids or ()
    found = [filled[0]]
    for side in filled[1:]:
        by_id = dict(zip(side.ids or (), side.items, strict=True))
        found.append(side._replace(items=[by_id[own] for own in ids], ids=ids))
    return Given(kind, found, ids)


def _filled(side: GivenSide, others: Iterable[GivenSide]) -> GivenSide:
    """Return a side; if it is partial, with empty lists for documents of the other sides.

    Raises `UsageError` for a partial side if no document is on both sides.
    """
    ids, its = side.ids or (), [own for other in others for own in other.ids or ()]
    if side.filling is None:
        return side
    if ids and its and not set(ids).intersection(its):
        raise UsageError(
            f"no document is on both sides: one has {ids[0]!r}, the other {its[0]!r}",
            advice="use the same ids on both sides",
        )
    known = set(ids)
    missing = [own for own in dict.fromkeys(its) if own not in known]
    return side._replace(items=[*side.items, *map(side.filling, missing)], ids=[*ids, *missing])


def as_examples(gold: Any) -> tuple[Any, Any]:
    """Return the documents of both sides of spaCy's ``Example`` objects. Raises `UsageError` for anything else."""
    if hasattr(gold, "label_ids"):  # a prediction of a Trainer of transformers
        raise UsageError(
            "predicted is missing",
            advice="score(output.label_ids, output.predictions.argmax(-1), names=names)",
        )
    items = [gold] if _is_example(gold) else gold
    items = list(items) if isinstance(items, Iterable) else []
    if not items or not all(map(_is_example, items)):
        raise UsageError(
            "predicted is missing",
            advice="give gold and predicted; only a file, a folder or spaCy's Examples hold both sides",
        )
    return [example.reference for example in items], [example.predicted for example in items]


def _is_example(item: object) -> bool:
    return hasattr(item, "reference") and hasattr(item, "predicted")


# Items in step


def _in_step(sides: Sequence[GivenSide], what: str) -> Iterator[tuple[Any, ...]]:
    """Yield the items of each document. Raises `UsageError` if one side has more."""
    sized = [side for side in sides if isinstance(side.items, Sequence)]
    if len(sized) == len(sides):
        require_as_many([(side.name, len(side.items)) for side in sides], what)  # type: ignore[arg-type]
    nothing = object()
    for number, items in enumerate(zip_longest(*(side.items for side in sides), fillvalue=nothing)):
        if any(item is nothing for item in items):
            shorter = next(side for side, item in zip(sides, items, strict=True) if item is nothing)
            longer = next((item for item in items if isinstance(item, Document)), None)
            raise UsageError(
                f"{shorter.name} has only {number} {what[:-1] if number == 1 else what}, the other side has more",
                file=None if longer is None else longer.file,
                document=None if longer is None else longer.id,
                advice="both sides must have the same documents in the same order",
            )
        yield items


def require_as_many(numbers: Sequence[tuple[str, int]], what: str) -> None:
    """Raise `UsageError` if sides, given by name, have different numbers of items."""
    first = numbers[0]
    for other in numbers[1:]:
        if other[1] != first[1]:
            counted = [f"{name} has {n} {what[:-1] if n == 1 else what}" for name, n in (first, other)]
            raise UsageError(" and ".join(counted), advice="give both sides the same ones")


def _with_id_of(first: Document, other: Document) -> Document:
    is_same = first.id == other.id or not same_id(first.id, other.id)
    return other if is_same else replace(other, id=first.id)


def _with_names_of_tags(sides: Sequence[GivenSide]) -> Iterator[GivenSide]:
    """Yield sides of lists of tags with names in place of numbers, without the positions that the first ignores."""
    columns: list[list[Any]] = [[] for _ in sides]
    for number, items in enumerate(_in_step(sides, "sentences")):
        places = [side.place(number) for side in sides]
        for tags, place in zip(items, places, strict=True):
            require_kind(tags, "Iterable", place)
        lists = [list(materialised(tags)) for tags in items]
        own = lists[0]
        if len({*map(len, lists)}) == 1 and (set(map(type, own)) != {int} or IGNORED in own):
            counts = [not (is_number(tag) and index(tag) == IGNORED) for tag in own]
            lists = [list(compress(tags, counts)) for tags in lists]
        for column, tags, place, side in zip(columns, lists, places, sides, strict=True):
            column.append(_named(tags, side.names, place))
    for side, column in zip(sides, columns, strict=True):
        yield side._replace(items=column)


def _named(tags: Iterable[Any], names: Mapping[int, str] | None, place: str) -> list[Any]:
    """Return tags with names in place of numbers. Raises `UsageError` for a number without name."""
    found = list(materialised(tags))
    if names is not None and set(map(type, found)) == {int} and names.keys() >= set(found):
        return [names[tag] for tag in found]  # the usual case
    if not any(map(is_number, found)):
        return found
    if names is None:
        raise UsageError(f"{place} has numbers for tags", advice=_GIVE_NAMES)
    for position, tag in enumerate(found):
        if is_number(tag) and index(tag) not in names:
            raise UsageError(
                f"{place}[{position}]: no tag has the number {index(tag)}",
                advice="it marks positions that do not count: give lists of numbers without tokens, with -100 in gold"
                if index(tag) == IGNORED
                else "names has the tags in the order of their numbers",
            )
    return [names[index(tag)] if is_number(tag) else tag for tag in found]


# Documents


def with_text_of(document: Document, item: Any, place: str, names: Mapping[int, str] | None) -> Document:
    """Return spans or tags as a document with the text or the tokens of another one."""
    item = materialised(item)
    are_tags = isinstance(item, list | tuple) and all(
        isinstance(each, str) or is_number(each) for each in item
    )
    if document.tokens is not None and document.unit == "token":
        if not are_tags:
            raise UsageError(
                f"{place} has spans, and the other side has tokens",
                advice="give tags on both sides, or documents with positions of tokens: "
                "Document(id, {'label': spans}, tokens=row['tokens'])",
            )
        tags = _named(item, names, place)
        if len(tags) != len(document.tokens):
            raise UsageError(
                f"{place} has {len(document.tokens)} tokens and {len(tags)} tags",
                advice="each token needs a tag",
            )
        found = document_of_tags(tags, document.id)
        return replace(found, tokens=document.tokens)
    if document.text is None:
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
    spans = as_spans(item, place, document.text)
    return Document(document.id, Frozen({DEFAULT_LAYER: spans}), text=document.text, unit="character")


def document_of_tags(
    tags: Sequence[str], id_: str, *, scheme: str | None = None, invalid: str | None = None
) -> Document:
    """Return the tags of one sentence as a document, whose tokens are empty. Raises `TagError`."""
    rows = chunks_of(tags, scheme, invalid or "conlleval")
    return Document(
        id_,
        Layers({}, {DEFAULT_LAYER: list(rows)}),
        tokens=("",) * len(tags),
        tags=Frozen({DEFAULT_LAYER: list(tags)}),
    )


def documents_of_side(side: GivenSide, options: FormatOptions) -> Iterator[Document]:
    """Yield the documents of one side in memory, apart from other sides."""
    for number, item in enumerate(side.items):
        yield side.document(number, item, options)


def document_of_spans(spans: Sequence[Span], id_: str) -> Document:
    """Return spans as a document without text, with one span for each layer of a span."""
    layers: dict[str, list[Span]] = {}
    for span in spans:
        labels = span.by_layer or {DEFAULT_LAYER: NO_LABEL}
        for layer, label in labels.items():
            if label is not None:
                of_layer = span if len(span.by_layer) < 2 else replace(span, labels=Frozen({layer: label}))
                layers.setdefault(layer, []).append(of_layer)
    return Document(id_, Frozen(layers))
