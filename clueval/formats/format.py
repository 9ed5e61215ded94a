"""The record of a format: all its properties; each format's module has one, called ``FORMAT``.

`Writer.holds` names what a format can hold beyond one layer of spans that do not overlap; the kinds are those of
`KINDS`. What a format cannot hold is refused, or left out and counted (`fitted`): features, or those for which
`Writer.feature` is false; gaps, so that a span reaches from its start to its end; spans of zero length; spans that
overlap an earlier one, or that reach across the end of a sentence; layers after the first; metadata. If
`Writer.keeps_ids` is false, so are ids.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from clueval.core.span import DEFAULT_LAYER, Span, name_of
from clueval.files.errors import UsageError, in_words
from clueval.formats.columns.passages import TokenLines
from clueval.formats.recognition import Beginning, Sign, either
from clueval.spans.document import Document
from clueval.textfiles import Part

if TYPE_CHECKING:
    from clueval.formats.flat_rows import FlatSpans
    from clueval.formats.opened import Opened


class Options(Protocol):
    """The options that formats read; `clueval.reading.read_options.ReadOptions` has them."""

    @property
    def layers(self) -> Mapping[str, int | str] | None: ...
    @property
    def invalid(self) -> str | None: ...
    @property
    def ignore_punct(self) -> bool | None: ...
    @property
    def scheme(self) -> str | None: ...
    @property
    def annotation_set(self) -> str | None: ...
    @property
    def offsets(self) -> str | None: ...
    @property
    def answers(self) -> str | None: ...
    @property
    def names(self) -> Any: ...
    @property
    def text_key(self) -> str | None: ...
    @property
    def unit(self) -> str | None: ...
    @property
    def labels(self) -> str | Sequence[str] | None: ...
    @property
    def unparsable(self) -> str | None: ...
    @property
    def unplaced(self) -> bool: ...
    @property
    def max_document(self) -> int: ...
    @property
    def part(self) -> Part | None: ...


Lines = Callable[[Iterator[Document], Sequence[str], bool], Iterator[str]]
"""Returns the lines of a file, given its documents, the layers of a file without documents, and whether it has ids."""


class LayerUse(NamedTuple):
    """The labels of a layer in what is written, and the names of its features."""

    labels: dict[str, None]
    features: dict[str, None]


@dataclass(slots=True)
class Uses:
    """What occurs in what is written: layers by name, and whether a document has tokens or sentences."""

    layers: dict[str, LayerUse] = field(default_factory=dict)
    tokens: bool = False
    sentences: bool = False

    def add(self, document: Document) -> None:
        """Add what a document has."""
        self.tokens |= document.tokens is not None
        self.sentences |= bool(document.sentences)
        for layer, spans in document.layers.items():
            use = self.layers.setdefault(layer, LayerUse({}, {}))
            for span in spans:
                use.labels[span.label] = None
                use.features.update(dict.fromkeys(span.features))


class Writer(NamedTuple):
    """How a format is written: the lines of a file, the ending of its name, and the unit of positions.

    If `Format.single` is true, `lines` gets one document at most. If `unit` is None, it is the unit of the
    documents. `beside` has the content of further files for a document, by the endings of their names. `holds` has
    those of `KINDS` that the format can hold; None: `lines` refuses what it cannot.
    `ends_lines` is false if `lines` yields whole texts, to which no line end is added. `data` returns the content
    of a binary file with documents and layers; then `lines` is not used. `feature` says of the name and the value of
    a feature whether the format can hold it; None: it holds all, or none. `needs_text` is false if documents without a
    text can be written. `row` returns the row of a document with the given layers, for `clueval.to_rows`. `fit` returns
    a document as the format holds it where `holds` does not tell, and counts what is left out. `hints` returns lines
    for people: what another program needs before it can read the files, given the names of layers. With `keeps_tokens`,
    documents with characters keep their tokens. `of_folder` returns the content of files for all documents of a folder,
    by name. `choose` returns the writer with other values of the options that
    `takes` names. `keeps_ids` is false if documents are numbered when they are read, whatever their ids were.
    """

    lines: Lines
    ending: str
    unit: str | None = None
    beside: Mapping[str, Callable[[Document], str]] = MappingProxyType({})
    holds: frozenset[str] | None = None
    ends_lines: bool = True
    data: Callable[[Iterator[Document], Sequence[str]], bytes] | None = None
    feature: Callable[[str, Any], bool] | None = None
    needs_text: bool = True
    row: Callable[[Document, Sequence[str]], Mapping[str, Any]] | None = None
    fit: Callable[[Document, Counter[str]], Document] | None = None
    hints: Callable[[Uses, Sequence[str]], Iterator[str]] | None = None
    keeps_tokens: bool = False
    of_folder: Callable[[Uses, Sequence[str]], Mapping[str, str]] | None = None
    choose: Callable[..., Writer] | None = None
    takes: frozenset[str] = frozenset()
    keeps_ids: bool = True


AddSets = Callable[["Opened", "Mapping[str, Sequence[Span]]"], str]
"""Returns the content of a file with further annotation sets and everything else unchanged."""

OFFSETS = ("points", "utf16", "bytes")
"""The units of positions in files: code points, UTF-16 code units, bytes of UTF-8."""

EVERY_SET = "*"
"""The name that selects all annotation sets: each is a layer then."""

UNPLACED = "unplaced"
"""The metadata of a predicted document with the number of its spans that are a text without a place."""

SELECT_SETS = "select with gold_set and predicted_set, or with annotation_set if there is one side"
"""Advice for a file whose annotation sets are not selected."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Format:
    """A file format. It has either `read` or, with one token per line, `token_lines`.

    Attributes:
        name: as in ``--input``.
        holds: a short description of the content of a file.
        endings: the endings of file names by which it is recognised (`clueval.formats.ENDINGS`).
        signs: the other signs by which it is recognised, tried in the order of `clueval.formats.ORDER`.
        read: yields the documents of a file.
        token_lines: the reader of its lines, for formats with one token per line.
        options: the options that apply to it (fields of `clueval.reading.read_options.ReadOptions`).
        treatments: the treatments of ill-formed tags that it supports; the first is the default.
        scheme: the scheme of its tags, if all files have the same.
        of_tokens: whether its documents have tokens, although it has no `token_lines`.
        single: whether a file holds only one document.
        has_text: whether its documents have tokens or a text.
        lacks_tokens: whether its documents take their tokens from gold, or from the text that the options name.
        shares_text: whether it has neither tokens nor text, but may take those of the other side, whichever that is.
        nameless: whether its documents have no ids in the file.
        ordered: whether its documents are `Document.ordered`.
        sets: whether the layers that `read` returns are annotation sets, of which one is selected.
        chooses: whether `read` itself selects the annotation set that the options name.
        set_names: returns the names of the annotation sets of a file, if `chooses` is true.
        rows: how the rows of a JSON format are read (`clueval.formats.json_rows.RowForm`).
        sentences: the same for a format of which each sentence is a document.
        flat: reads a file of one document as flat spans (`clueval.formats.flat_rows`), or returns None.
        group: the endings of further files that belong to a file, and are not read by themselves in a folder.
        default_source: the name of the source of labels without ``--layer``, if sources have names.
        extra: the extra of clueval that must be installed.
        write, add_sets: write documents, or add annotation sets to a file.
    """

    name: str
    holds: str
    endings: tuple[str, ...] = ()
    signs: tuple[Sign, ...] = ()
    read: Callable[[Opened, Options], Iterator[Document]] | None = None
    token_lines: TokenLines | None = None
    options: frozenset[str] = frozenset()
    treatments: tuple[str, ...] = ()
    scheme: str | None = None
    of_tokens: bool = False
    single: bool = False
    has_text: bool = True
    lacks_tokens: bool = False
    shares_text: bool = False
    nameless: bool = False
    ordered: bool = False
    sets: bool = False
    chooses: bool = False
    set_names: Callable[[Opened], list[str]] | None = None
    rows: Any = None
    sentences: Any = None
    flat: Callable[[Opened], FlatSpans | None] | None = None
    group: tuple[str, ...] = ()
    default_source: str | None = None
    extra: str | None = None
    write: Writer | None = None
    add_sets: AddSets | None = None

    def __post_init__(self) -> None:
        if (self.read is None) == (self.token_lines is None):
            raise TypeError(f"the format {self.name} must have either `read` or `token_lines`")

    def has(self, beginning: Beginning) -> bool:
        """Return whether a file with this beginning has this format."""
        return beginning.ending in self.endings or any(sign.holds(beginning) for sign in self.signs)

    @property
    def has_sets(self) -> bool:
        """Whether its files have annotation sets."""
        return self.sets or self.chooses

    @property
    def has_columns(self) -> bool:
        """Whether its lines are columns, which have numbers; false if its reader makes lines of its own."""
        return self.token_lines is not None and self.token_lines.sources is None

    @property
    def counts_tokens(self) -> bool:
        """Whether its positions are those of tokens."""
        return self.token_lines is not None or self.of_tokens

    def is_sought_in(self, json: bool) -> bool:
        """Whether it is recognised by a sign in JSON, or without `json` by one in other text."""
        return any(sign.says.startswith("JSON") == json for sign in self.signs)

    @property
    def recognised_by(self) -> str:
        """The signs and endings by which the format is recognised, in words."""
        found = [*([either(self.endings)] if self.endings else ()), *(sign.says for sign in self.signs)]
        return ", ".join(found) or f"`--input {self.name}`"

    @property
    def uses(self) -> list[str]:
        """The uses of the format in clueval, in words."""
        writes = {"write": self.write is not None, "add sets": self.add_sets is not None}
        return ["read", *(name for name, has in writes.items() if has)]

    @property
    def reads(self) -> frozenset[str]:
        """The options that apply to the format, with those that follow from other fields of the record."""
        follows = {"invalid": bool(self.treatments), "annotation_set": self.has_sets}
        return self.options | {name for name, has in follows.items() if has}

    def treatment(self, invalid: str | None) -> str | None:
        """Return the treatment of ill-formed tags for the option `invalid`; None if the format has no tags.

        Raises `UsageError` if the format does not support this treatment.
        """
        if not self.treatments or invalid is None:
            return next(iter(self.treatments), None)
        if invalid not in self.treatments:
            raise UsageError(
                f"the format {self.name} cannot treat ill-formed tags as {invalid!r}",
                advice=" or ".join(self.treatments),
            )
        return invalid


def writer_of(form: Format, **options: Any) -> Writer | None:
    """Return the writer of a format, None if it is only read, with those of its options that are not None.

    Raises `UsageError` for an option that the format does not have.
    """
    if (writer := form.write) is None:
        return None
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        if name not in writer.takes:
            raise UsageError(f"{name}={value!r} does not apply to the format {form.name}", advice="remove it")
    return writer if writer.choose is None else writer.choose(**given)


def only_layer(options: Options, file: str) -> str:
    """Return the name of the only layer; its source does not matter. Raises `UsageError` for several layers."""
    if options.layers is None:
        return DEFAULT_LAYER
    if len(options.layers) > 1:
        raise UsageError(
            f"the format has one layer, not {' and '.join(options.layers)}",
            file=file,
            advice="name one layer",
        )
    (name,) = options.layers
    return name


def check_added(added: Mapping[str, Sequence[Span]], sets: Collection[str], length: int, file: str) -> None:
    """Raise `UsageError` for a set that the document has already, and for a span that ends after its text."""
    for name, spans in added.items():
        if name in sets:
            raise UsageError(f"the document has an annotation set {name!r} already", file=file)
        for span in spans:
            if span.end > length:
                raise UsageError(
                    f"span {name_of(span)} of the new set {name!r} ends after the text", file=file
                )


IDS = "document ids"
"""What is lost of documents that a format numbers, or whose ids it changes."""

ACROSS = "spans across sentences"
KINDS = ("layers", "metadata", "features", "gaps", "zero-length spans", "overlapping spans", ACROSS)


def fitted(document: Document, writer: Writer, layer: str | None = None) -> tuple[Document, Counter[str]]:
    """Return the document with only what a format can hold, and the numbers of what is left out, by kind.

    `layer` is the one that a format with one layer holds; None: the first that has spans.
    """
    lost: Counter[str] = Counter()
    if (holds := writer.holds) is None:
        return document, lost
    layers = dict(document.layers)
    if "layers" not in holds and layers:
        first = layer or next((name for name, spans in layers.items() if spans), next(iter(layers)))
        others = [name for name in layers if name != first and (first in layers or layers[name])]
        lost["layers"] += len(others)
        layers = {first: layers.get(first, ())}
    starts = [] if ACROSS in holds else sorted(sentence.start for sentence in document.sentences)
    fitting = {name: _spans(spans, writer, starts, lost) for name, spans in layers.items()}
    metadata = document.metadata
    if "metadata" not in holds and metadata:
        lost["metadata"] += len(metadata)
        metadata = {}
    lost = +lost
    if lost:
        document = replace(document, layers=fitting, metadata=metadata, tags={})
    return (document if writer.fit is None else writer.fit(document, lost)), +lost


def without_metadata(document: Document, lost: Counter[str], taken: Collection[str]) -> Document:
    """Return the document without the metadata whose keys have another use in its row; `lost` counts them."""
    kept = {key: value for key, value in document.metadata.items() if key not in taken}
    if number := len(document.metadata) - len(kept):
        lost["metadata"] += number
        document = replace(document, metadata=kept)
    return document


ANNOTATIONS = frozenset({"relations", "events", "equivalences", "chain links", "slots", "notes"})
"""The kinds of what readers pass over that are lost in another format."""


def spans_of(source: str) -> str:
    """Return the kind of the spans of a source that is not read by default, as readers pass them over.

    >>> spans_of("POS.value")
    'spans of POS.value'
    """
    return f"spans of {source}"


def refuse_lost(
    name: str,
    lost: Mapping[str, int],
    passed_over: Mapping[str, int] | None = None,
    document: Document | None = None,
) -> None:
    """Raise `UsageError` if anything is lost: what the format `name` cannot hold, or what was not read."""
    others = {kind: number for kind, number in (passed_over or {}).items() if kind in ANNOTATIONS}
    parts = [f"the format {name} cannot hold {in_words(lost)}"] if lost else []
    parts += [f"passed over: {in_words(others)}"] if others else []
    if parts:
        raise UsageError(
            "; ".join(parts),
            file=None if document is None else document.file,
            document=None if document is None else document.id,
            advice="leave them out with lossy=True, or write another format",
        )


def _spans(spans: Sequence[Span], writer: Writer, starts: Sequence[int], lost: Counter[str]) -> list[Span]:
    holds = writer.holds or frozenset()
    kept: list[Span] = []
    for span in spans:
        fitting = span
        if span.features:
            features = _features(span, writer)
            lost["features"] += len(span.features) - len(features)
            fitting = replace(fitting, features=features)
        if "gaps" not in holds and (span.parts is not None or span.tokens is not None):
            lost["gaps"] += 1
            fitting = replace(fitting, parts=None, tokens=None)
        if "zero-length spans" not in holds and not len(span):
            lost["zero-length spans"] += 1
        elif bisect_right(starts, span.start) < bisect_left(starts, span.end):
            lost[ACROSS] += 1
        else:
            kept.append(fitting)
    if "overlapping spans" in holds:
        return kept
    apart: list[Span] = []
    for span in sorted(kept, key=lambda span: (span.start, -span.end)):
        if apart and span.start < apart[-1].end:
            lost["overlapping spans"] += 1
        else:
            apart.append(span)
    return apart


def _features(span: Span, writer: Writer) -> dict[str, Any]:
    """Return the features of a span that a format can hold."""
    if "features" not in (writer.holds or ()):
        return {}
    fits = writer.feature
    return {name: value for name, value in span.features.items() if fits is None or fits(name, value)}
