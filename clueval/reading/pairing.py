"""Pairs the documents of the two sides.

Two sets of documents are *parallel* if every document of one has its counterpart in the other. By default, files
are paired by their relative names, and their documents in order; `PAIR_BY` names the other ways. A single file may hold
both sides in two columns (`require_two_tag_columns`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from clueval.files.errors import UsageError
from clueval.reading.paths import path_pairs
from clueval.reading.read_options import ENOUGH, ReadOptions, first_values, listed
from clueval.reading.same_text import ends_early, first_line, require_same_text
from clueval.reading.source import Source, beside, source_of
from clueval.second.reading.options import PAIR_BY, require_pair_by
from clueval.second.reading.paths import Paths, as_path, files_of, without_ending
from clueval.spans.document import Document, same_id
from clueval.tagging.schemes import OUTSIDE, is_tag
from clueval.textfiles import Progress


def document_groups(
    gold: Paths,
    predicted: Paths | None,
    options: Sequence[ReadOptions],
    pair_by: str | None = None,
    progress: Progress | None = None,
    see: Callable[[Source, int], object] = lambda source, number: None,
    golds: Sequence[Paths] = (),
) -> Iterator[tuple[Document, ...]]:
    """Yield groups of documents: gold, predicted, and one of predicted's file for each of the further options.

    Last come the documents of other `golds`, which are read as gold is and must have the same text.

    `pair_by` is explained at `parallel`; None: files by relative name, documents in order. Memory holds one group
    and, with `pair_by`, the documents that wait for their counterparts. `see` is called before a file is read,
    with the file and its number in the group.
    """
    require_pair_by(pair_by)
    if pair_by in ("id", "content"):
        ours, theirs = (files_of_side(side) for side in (gold, gold if predicted is None else predicted))
        groups = parallel(
            _in_turn(ours, options[:1], pair_by, progress, see, 0, (theirs, options[1])),
            _in_turn(theirs, options[1:], pair_by, progress, see, 1, (ours, options[0])),
            pair_by,
        )
        for side in golds:
            others = (theirs, options[1])
            files = _in_turn(files_of_side(side), options[:1], pair_by, progress, see, len(options), others)
            groups = map(_with_same_text, parallel(groups, files, pair_by))
        yield from groups
        return
    paired = _pairs_by_name if pair_by == "name" else path_pairs
    pairs = paired(gold, gold if predicted is None else predicted)
    other_paths = [{own: other for _, own, other in paired(gold, each)} for each in golds]
    for name, own_path, other_path in pairs:
        paths, read = [own_path] + [other_path] * (len(options) - 1), dict[Path, Document]()
        source, first, *more = (
            source_of(path, each, name=name, progress=progress, read=read)
            for path, each in zip(paths, options, strict=True)
        )
        source, first, *more = beside(source, first, *more)
        for number, file in enumerate((source, first, *more)):
            see(file, number)
        further = [each.documents() for each in more]
        groups = ((*pair, *rest) for pair, *rest in zip(document_pairs(source, first), *further, strict=True))
        for by_path in other_paths:
            _, other = beside(source, source_of(by_path[own_path], options[0], name=name, progress=progress))
            see(other, len(options))
            groups = _with_gold(groups, source, other)
        yield from groups


def _with_gold(
    groups: Iterable[tuple[Document, ...]], own: Source, other: Source
) -> Iterator[tuple[Document, ...]]:
    """Yield groups with the documents of another file of the gold side."""
    without_ids = own.form.nameless or other.form.nameless
    for group, document in zip_longest(groups, other.documents()):
        if group is None or document is None:
            extra = document or group[0]
            raise ends_early(own, other, group is None, extra.id, first_line(extra))
        yield _with_same_text((*group, with_same_id(group[0], document, without_ids)[1]))


def _with_same_text(group: tuple[Document, ...]) -> tuple[Document, ...]:
    """Return the group. Raises `TextMismatch` unless its first and its last document have the same text."""
    require_same_text(group[0], group[-1])
    return group


def files_of_side(side: Paths) -> list[tuple[str | None, Path]]:
    """Return the names and paths of the files of one side; the name of a file of a list is its path."""
    if not isinstance(side, list | tuple):
        return files_of(as_path(side))
    return [(str(path), as_path(path)) for path in side]


def _in_turn(
    files: Sequence[tuple[str | None, Path]],
    options: Sequence[ReadOptions],
    pair_by: str,
    progress: Progress | None,
    see: Callable[[Source, int], object],
    first: int,
    beside: tuple[Sequence[tuple[str | None, Path]], ReadOptions],
) -> Iterator[tuple[Document, ...]]:
    """Yield each document of all files with the id from the file, as read with each of the options.

    A single table of spans without a text has the texts of all files `beside` it, with how these are read.
    """
    for _, path in files:
        read: dict[Path, Document] = {}
        sources = [source_of(path, each, progress=progress, read=read) for each in options]
        if len(files) == 1 and sources[0].lacks_text:
            others = tuple(source_of(each, beside[1]) for _, each in beside[0])
            sources = [replace(each, sides=others, in_turn=True) for each in sources]
        for number, source in enumerate(sources, first):
            see(source, number)
        for documents in zip(*(source.documents() for source in sources), strict=True):
            if pair_by == "id" and len(files) > 1 and sources[0].form.nameless:
                _require_name_of_file(documents[0], path, sources[0].format)
            yield documents


def _require_name_of_file(document: Document, path: Path, form: str) -> None:
    """Raise `UsageError` if the id of a document, which its file does not give, is not the name of the file."""
    if document.id != without_ending(path.name):
        raise UsageError(
            f"documents of the format {form} have no ids", file=str(path), advice="pair by name or content"
        )


def _pairs_by_name(gold: Paths, predicted: Paths) -> list[tuple[str | None, Path, Path]]:
    """Return the pairs of files with equal names, ignoring ``.gz`` and the ending before it."""
    sides: list[dict[str, Path]] = []
    for side, name in ((gold, "gold"), (predicted, "predicted")):
        found: dict[str, Path] = {}
        for relative, path in files_of_side(side):
            key = without_ending(path.name if relative is None else relative)
            if key in found:
                raise UsageError(
                    f"two files of {name} have the name {key!r}: {found[key]} and {path}",
                    advice="pair by id or content",
                )
            found[key] = path
        sides.append(found)
    own, other = sides
    if own.keys() != other.keys():
        raise _not_parallel("name", [sorted(one.keys() - two.keys()) for one, two in (sides, sides[::-1])])
    return [(name, path, other[name]) for name, path in own.items()]


def parallel(
    gold: Iterable[tuple[Document, ...]], predicted: Iterable[tuple[Document, ...]], pair_by: str
) -> Iterator[tuple[Document, ...]]:
    """Yield groups of gold and predicted documents, paired by a key of the first document of each side.

    The key is the id (``id``), the name of the file (``name``) or the SHA-256 of the text without white space
    (``content``), which tokens and the text that they come from have in common. The
    predicted documents get the id and the positions of gold. Both sides are read at the same time, and documents
    are held in memory until their counterparts come: none if the order is the same, at worst a whole side.

    Each group is yielded as soon as it is complete. Raises `UsageError` for two documents of one side with the
    same key, and one error that lists all documents without counterpart.

    >>> one, two = Document("1", {}, text="a", unit="character"), Document("2", {}, text="b", unit="character")
    >>> [(own.id, other.id) for own, other in parallel([(one,), (two,)], [(two,), (one,)], "id")]
    [('2', '2'), ('1', '1')]
    """
    require_pair_by(pair_by)
    waiting: list[dict[str, tuple[Document, ...]]] = [{}, {}]
    seen: list[dict[str, str]] = [{}, {}]
    for both in zip_longest(gold, predicted):
        for side, group in enumerate(both):
            if group is None:
                continue
            key = key_of(group[0], pair_by)
            if key in seen[side]:
                raise _twice(side, group[0], seen[side][key], pair_by)
            seen[side][key] = group[0].id
            if key not in waiting[1 - side]:
                waiting[side][key] = group
                continue
            partner = waiting[1 - side].pop(key)
            own, others = (partner, group) if side else (group, partner)
            yield (*own, *(moved_to(other, own[0]) for other in others))
    if any(waiting):
        raise _not_parallel(
            pair_by, [[_called(group[0], pair_by) for group in side.values()] for side in waiting]
        )


def key_of(document: Document, pair_by: str) -> str:
    """Return the key by which a document is paired with its counterpart."""
    if pair_by == "id":
        return document.id
    if pair_by == "name":
        return without_ending(Path(document.file or document.id).name)
    text = document.text
    if text is None and document.tokens is not None:
        text = "".join(document.tokens)
    if text is None:
        raise UsageError(
            "the document has no text to pair it by", **document.in_errors, advice="pair by id or name"
        )
    from hashlib import sha256  # loads OpenSSL, so it is imported only here

    return sha256("".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()


def _called(document: Document, pair_by: str) -> str:
    if document.file is None or pair_by == "id":
        return document.id
    return f"{document.id} in {document.file}"


def _twice(side: int, document: Document, other: str, pair_by: str) -> UsageError:
    what = {"id": "id", "name": "file name", "content": "content"}[pair_by]
    whose = "another document" if other == document.id else f"document {other!r}"
    return UsageError(
        f"has the same {what} as {whose} of {('gold', 'predicted')[side]}",
        **document.in_errors,
        advice=f"pair by {' or '.join(way for way in PAIR_BY if way != pair_by)}",
    )


_LISTED = 50
"""The number of documents without counterpart that an error names for each side; it counts the others."""


def _not_parallel(pair_by: str, alone: Sequence[Sequence[str]]) -> UsageError:
    parts = []
    for side, names in zip(("gold", "predicted"), alone, strict=True):
        if names:
            more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
            parts.append(f"only {side} has {', '.join(map(repr, names[:_LISTED]))}{more}")
    return UsageError(
        f"the documents cannot be paired by {pair_by}: {'; '.join(parts)}",
        advice="every document must be on both sides"
        + ("" if pair_by == "content" else "; pair_by='content' pairs those with the same text"),
    )


def moved_to(document: Document, gold: Document) -> Document:
    """Return the document with the id of `gold`, its counterpart, and its first position if it has the same unit."""
    moved = document.from_position(gold.start) if gold.unit == document.unit else document
    return moved if moved.id == gold.id else replace(moved, id=gold.id)


def source_pairs(
    pairs: Iterable[tuple[str | None, Path, Path]], options: Sequence[ReadOptions], progress: Progress | None
) -> Iterator[tuple[Source, Source]]:
    """Yield the gold and the predicted source of each pair of files."""
    for name, own, other in pairs:
        read: dict[Path, Document] = {}
        gold = source_of(own, options[0], name=name, progress=progress, read=read)
        predicted = source_of(other, options[1], name=name, progress=progress, read=read)
        gold, predicted = beside(gold, predicted)
        yield gold, predicted


def document_pairs(own: Source, other: Source) -> Iterator[tuple[Document, Document]]:
    """Yield the documents of two sources in pairs. Raises `TextMismatch` if one source has more.

    If a file gives no ids, the predicted document gets that of gold, because names of files are not compared.
    """
    without_ids = own.form.nameless or other.form.nameless
    for gold, predicted in zip_longest(own.documents(), other.documents()):
        if gold is None or predicted is None:
            extra = gold or predicted
            assert extra is not None
            raise ends_early(own, other, gold is None, extra.id, first_line(extra))
        yield with_same_id(gold, predicted, without_ids)


def with_same_id(gold: Document, predicted: Document, nameless: bool) -> tuple[Document, Document]:
    """Return two documents; with `nameless`, or if one has no id, the predicted document has the id of gold."""
    if gold.id == predicted.id or not (nameless or same_id(gold.id, predicted.id)):
        return gold, predicted
    return gold, replace(predicted, id=gold.id)


def same_documents(
    gold: Iterable[Document], predicted: Iterable[Document]
) -> Iterator[tuple[Document, Document]]:
    """Yield the documents of two sides in pairs. Raises `UsageError` if one side has more."""
    for number, (own, other) in enumerate(zip_longest(gold, predicted)):
        if own is None or other is None:
            extra, lacking = (other, "gold") if own is None else (own, "predicted")
            raise UsageError(
                f"{lacking} has only {number} document{'s' * (number != 1)}, the other side has more",
                **extra.in_errors,
                advice="both sides must have the same documents in the same order",
            )
        yield with_same_id(own, other, False)


def tag_columns(source: Source, lines: int = ENOUGH) -> list[int]:
    """Return the columns, from 1, whose values are all tags and not all O, in the first lines of a column file.

    Returns none for a file that cannot be read, because reading it raises the error.
    """
    found = first_values(source.passages(lambda _: None), lines)
    columns = () if found is None else enumerate(found[1], 1)
    return [column for column, values in columns if {*values} != {OUTSIDE} and all(map(is_tag, values))]


def require_two_tag_columns(paths: Iterable[Path], options: ReadOptions) -> None:
    """Raise `UsageError` for a single file with more than two columns of tags, of which none is named as a layer."""
    for path in paths:
        source = source_of(path, replace(options, layers=None))
        if not source.form.has_columns:
            continue
        found = tag_columns(source)
        if len(found) > 2:
            raise UsageError(
                f"columns {listed(found)} hold tags, so gold and predicted are not known",
                file=str(path),
                advice=f"name both, as in layers={ {'label': (found[0], found[1])} }",
            )
