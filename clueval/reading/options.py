"""The options for reading files: columns, format, and the options that each format uses."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, TypedDict

from clueval.arguments import require_instance, require_kind
from clueval.files.errors import UsageError
from clueval.files.overwriting import input_path
from clueval.formats import FORMATS
from clueval.formats.format import OFFSETS
from clueval.limits import MAX_DOCUMENT, MAX_LINE, MAX_SENTENCE, require_limits
from clueval.options import column, option_field, require_types, whole, with_fields
from clueval.reading.layers import meta_columns, require_name
from clueval.tagging.schemes import INVALID, SCHEMES, scheme_called

ANSWERS = ("accepted",)

UNPARSABLE = ("empty", "lenient")
"""The values of `Reading.unparsable`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How files are read, except for their layers.

    Attributes:
        input: the format (see `clueval.formats.FORMATS`); None: recognised from each file.
        token, token_id: the columns of the tokens (None: the first without tags, token ids and numbers of tokens in
            their sentence) and of their ids.
        document_column: the column of the ids of documents; a document begins where the id changes.
        meta: names and columns of metadata of documents, as in ``{"domain": 4}``.
        scheme: the tag scheme; None: recognised from the tags.
        invalid: how to treat ill-formed tags: ``conlleval``, ``discard`` or ``error``; None: the usual treatment
            of the format (``discard`` for Nerval's files, otherwise ``conlleval``).
        document_tag, sentence_tag: the XML elements that are documents and sentences.
        text: the text file that belongs to a table of spans; None: the ``.vrt`` file next to the table, else the text
            of the other side.
        ignore_punct: whether to remove punctuation from the spans of CoNLL-2000 files, as FairEval does;
            None: yes.
        annotation_set: the annotation set, for formats that have several.
        offsets: the unit of positions: ``points`` (None), ``utf16`` or ``bytes``.
        answers: ``accepted``: rows of Prodigy with the answer ``reject`` are passed over; None: they are errors.
        names: the names of tags that are numbers: a file, a list or a mapping.
        text_key: the key of the text in rows with several texts.
        labels: the labels of inline tags, as a list or with commas; None: all names in upper case.
        inline_pattern: a regular expression with the groups ``text`` and ``label``, which replaces inline tags.
        unparsable: what to do with answers of language models that cannot be read: ``empty`` counts them as answers
            without spans, ``lenient`` leaves out inline tags that are not closed or cross; None: they are errors.
        max_line: the maximum number of bytes of a line, and of an unpacked XML or JSON file.
        max_sentence: the maximum number of tokens of a sentence; a fifth of it is the maximum number of lines of a
            file of ``nerval`` or ``spans``, and of tags or values of an XML or JSON file.
        max_document: the maximum number of tokens of a document of a column file that is held as a whole.

    Raises `UsageError` for invalid values.
    """

    TOPIC: ClassVar[str] = "reading"

    input: str | None = option_field(
        None,
        "--input",
        "FORMAT",
        "the format of the files, as clueval formats lists them",
        topic="",
        choices=FORMATS,
        paired=True,
        default="recognised",
    )
    token: int | None = option_field(
        None,
        "--token",
        "COLUMN",
        "the column of the tokens",
        parse=column,
        paired=True,
        default="the first that holds neither tags nor token ids, nor the numbers of tokens in their sentence",
    )
    token_id: int | None = option_field(
        None,
        "--token-id",
        "COLUMN",
        "the column of the token ids, which must be unique within a document and equal on both sides",
        topic="",
        parse=column,
        paired=True,
    )
    document_column: int | None = option_field(
        None,
        "--document-column",
        "COLUMN",
        "the column with the id of the document of each token; a document begins where the id changes",
        parse=column,
        paired=True,
    )
    meta: Mapping[str, int] | Iterable[str] = option_field(
        (),
        "--meta",
        "NAME=COLUMN",
        "metadata of documents and its column, for --by and --where; can be repeated",
        repeated=True,
    )
    scheme: str | None = option_field(
        None,
        "--scheme",
        "SCHEME",
        f"the scheme of the tags: {', '.join(SCHEMES)}",
        paired=True,
        default="recognised from the tags",
    )
    invalid: str | None = option_field(
        None,
        "--invalid",
        "HOW",
        "how to treat invalid tag sequences: conlleval repairs them as conlleval and seqeval do, discard drops "
        "their spans (seqeval's strict mode), error refuses them",
        choices=INVALID,
        paired=True,
    )
    document_tag: str = option_field(
        "text", "--document-tag", "TAG", "the XML element that is a document", paired=True
    )
    sentence_tag: str = option_field(
        "s", "--sentence-tag", "TAG", "the XML element that is a sentence", paired=True
    )
    text: str | Path | None = option_field(
        None,
        "--text",
        "FILE",
        "the file with the text of a table of spans: VRT or CoNLL, or JSON rows such as doccano's, of which the "
        "table has character positions",
        parse=input_path,
        default="the .vrt file of the same name next to the table, else the text of the other side",
    )
    ignore_punct: bool | None = option_field(
        None,
        "--ignore-punctuation",
        None,
        "whether to remove punctuation from the spans, as FairEval does",
        default="yes",
    )
    annotation_set: str | None = option_field(None, "--annotation-set", "NAME", "the annotation set to read")
    offsets: str | None = option_field(
        None,
        "--offsets",
        "UNIT",
        "the unit of the positions in the files",
        choices=OFFSETS,
        paired=True,
        default="points, that is Unicode code points",
    )
    answers: str | None = option_field(
        None,
        "--answers",
        "WHICH",
        "the rows to read, by the answer of the annotator; without it, a rejected row is an error",
        choices=ANSWERS,
    )
    names: str | Path | Sequence[str] | Mapping[Any, str] | None = option_field(
        None,
        "--names",
        "FILE",
        "the names of tags that are numbers: a JSON list, a config.json with id2label, or dataset_info.json",
        parse=input_path,
    )
    text_key: str | None = option_field(
        None, "--text-key", "KEY", "the key of the text, if a row has several texts"
    )
    labels: str | Sequence[str] | None = option_field(
        None,
        "--labels",
        "LABELS",
        "the labels of inline tags, separated by commas",
        parse=str,
        default="all names in upper case",
    )
    inline_pattern: str | None = option_field(
        None,
        "--inline-pattern",
        "REGEX",
        "a regular expression for spans in the text, instead of tags, with the groups text and label",
        parse=str,
    )
    unparsable: str | None = option_field(
        None,
        "--unparsable",
        "HOW",
        "what to do with answers of language models that cannot be read: count them as answers without spans "
        "(empty), or leave out inline tags that are not closed or cross (lenient); without it, they are errors",
        choices=UNPARSABLE,
    )
    max_line: int = option_field(
        MAX_LINE,
        "--max-line",
        "BYTES",
        "the maximum number of bytes of a line, and of an unpacked XML or JSON file",
        parse=whole,
    )
    max_sentence: int = option_field(
        MAX_SENTENCE,
        "--max-sentence",
        "N",
        "the maximum number of tokens of a sentence; a fifth of N is the maximum number of lines of a file "
        "(formats nerval and spans), and of tags or values of an XML or JSON file",
        parse=whole,
    )
    max_document: int = option_field(
        MAX_DOCUMENT,
        "--max-document",
        "N",
        "the maximum number of tokens of a document of a column file that must be held as a whole",
        parse=whole,
    )

    def __post_init__(self) -> None:
        require_limits(max_line=self.max_line, max_sentence=self.max_sentence, max_document=self.max_document)
        require_types(self)
        object.__setattr__(self, "meta", meta_columns(self.meta))
        if self.text is not None:
            object.__setattr__(self, "text", Path(self.text))
        if isinstance(self.labels, str):
            labels = tuple(label.strip() for label in self.labels.split(",") if label.strip())
            object.__setattr__(self, "labels", labels)
        if self.input is not None and self.input not in FORMATS:
            raise UsageError(f"unknown format {self.input!r}", advice=f"one of {', '.join(FORMATS)}")
        if self.invalid is not None and self.invalid not in INVALID:
            raise UsageError(
                f"unknown treatment of ill-formed tags {self.invalid!r}",
                advice=f"one of {', '.join(INVALID)}",
            )
        if self.inline_pattern is not None:
            _require_pattern(self.inline_pattern)
        for name, known in (("offsets", OFFSETS), ("answers", ANSWERS), ("unparsable", UNPARSABLE)):
            if getattr(self, name) not in (None, *known):
                raise UsageError(
                    f"{name}={getattr(self, name)!r} is unknown", advice=f"one of {', '.join(known)}"
                )
        for name in ("document_tag", "sentence_tag"):
            require_name(name, getattr(self, name))
        if self.scheme is not None:
            object.__setattr__(self, "scheme", scheme_called(self.scheme))

    @property
    def text_path(self) -> Path | None:
        """The text file that belongs to a table of spans."""
        return None if self.text is None else Path(self.text)

    def require_none(self, allowed: Collection[str] = ()) -> None:
        """Raise `UsageError` for an option that is set, except the `allowed`, because there are no files to read."""
        for name in [*self._set(), *(each for each in ("input", "annotation_set") if getattr(self, each))]:
            if name not in allowed:
                from clueval.hints import IN_MEMORY  # only for options that do not apply

                shown = name if name == "text" else f"{name}={getattr(self, name)!r}"
                raise UsageError(
                    f"{shown} applies to files, but both sides are in memory",
                    advice=IN_MEMORY.get(name, "remove it, or pass it to read"),
                )

    def _set(self) -> list[str]:
        """Return the options that are set and do not apply to every format.

        ``ignore_punct=False`` applies to every format, because no other format removes punctuation.
        """
        return [
            each.name
            for each in fields(Reading)
            if each.name not in ("input", "annotation_set", "names")
            and getattr(self, each.name) != each.default
            and (each.name, getattr(self, each.name)) != ("ignore_punct", False)
        ]


class ReadingOptions(TypedDict, total=False):
    """The fields of `Reading`, which may be given one by one."""

    input: str | None
    token: int | None
    token_id: int | None
    document_column: int | None
    meta: Mapping[str, int] | Iterable[str]
    scheme: str | None
    invalid: str | None
    document_tag: str
    sentence_tag: str
    text: str | Path | None
    ignore_punct: bool | None
    annotation_set: str | None
    offsets: str | None
    answers: str | None
    names: str | Path | Sequence[str] | Mapping[Any, str] | None
    text_key: str | None
    labels: str | Sequence[str] | None
    inline_pattern: str | None
    unparsable: str | None
    max_line: int
    max_sentence: int
    max_document: int


class SidesOptions(ReadingOptions, total=False):
    """The same for two sides; `gold_set` and `predicted_set` are short for their annotation sets."""

    gold_set: str | None
    predicted_set: str | None


Readings = Reading | tuple[Reading, ...]
"""How files are read: one value for both sides, or one for gold, predicted and each further set of predicted."""

SETS = ("gold_set", "predicted_set")

MENTIONS, INLINE = ANSWER_FORMATS = ("mentions", "inline")
"""The formats of answers of language models; only predicted can have the first."""


def readings_of(reading: Readings, options: Mapping[str, Any]) -> tuple[Reading, ...]:
    """Return how gold, predicted and further sets are read; single `options` replace fields of `reading`."""
    several = reading if isinstance(reading, tuple) else (reading, reading)
    if len(several) < 2:
        raise UsageError("reading has one side only", advice="pass one Reading, or one for each side")
    for each in several:
        require_instance(each, Reading, "reading")
    readings = [with_fields(each, options) for each in several]
    if readings[1].input in (MENTIONS, INLINE) and readings[0].input != INLINE:
        readings[0] = without_answers(readings[0])
    for side, name in enumerate(SETS):
        require_kind(options.get(name), "str | None", name)
        if options.get(name) is not None:
            readings[side] = with_fields(readings[side], {"annotation_set": options[name]})
    return tuple(readings)


def without_answers(reading: Reading) -> Reading:
    """Return the options of gold, whose text answers are placed on, without those for answers."""
    own = None if reading.input in (MENTIONS, INLINE) else reading.input
    return replace(reading, input=own, unparsable=None, inline_pattern=None, labels=None)


def require_positions(readings: Iterable[Reading], caller: str) -> None:
    """Raise `UsageError` if a side has mentions without positions, which only an evaluation locates."""
    if any(each.input == MENTIONS for each in readings):
        raise UsageError(
            f"{caller} needs the positions of spans, which mentions do not have",
            advice="use score, profile, conventions or the command errors, which find them in the text of gold",
        )


def _require_pattern(pattern: str) -> None:
    """Raise `UsageError` for what is no regular expression with the groups text and label."""
    try:
        groups = re.compile(pattern).groupindex.keys()
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(
            f"Reading.inline_pattern is not a regular expression: {error}", advice="correct it"
        ) from None
    if not {"text", "label"} <= groups:
        raise UsageError(
            "inline_pattern needs the groups text and label",
            advice=r"as in @@(?P<text>.*?)##(?P<label>\w+)",
        )
