"""How files are to be read: which columns, which format, and what each format makes use of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from itertools import islice
from pathlib import Path

from clueval.exceptions import CluevalError, UsageError
from clueval.formats import COLUMN_FORMATS, FORMATS, TREATMENTS, format_of
from clueval.formats.columns.layout import ColumnOptions
from clueval.formats.columns.sizes import SIZES, Sizes
from clueval.limits import MAX_LINE, MAX_SENTENCE, require_limits
from clueval.tagging.decoder import Decoder
from clueval.tagging.schemes import INVALID, scheme_called
from clueval.textfiles import Part, blocks

WITH_SETS = ("gate-xml", "bdoc")
"""The formats that have several annotation sets by name."""

_TABLES = (*COLUMN_FORMATS, "spans")

_READ_BY = {
    "token": _TABLES,
    "token_id": _TABLES,
    "scheme": tuple(COLUMN_FORMATS),
    "invalid": tuple(TREATMENTS),
    "document_tag": ("vrt", "spans"),
    "sentence_tag": ("vrt", "spans"),
    "text": ("spans",),
    "ignore_punct": ("conll2000", "fair-spans"),
    "max_line": FORMATS,
    "max_sentence": FORMATS,
}
"""Of each option, the formats that read it; a table of spans reads its text with it."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How files are to be read; see `read`. `whole_text`: lines of a token and a tag are one text (Nerval).
    `annotation_set`: of the formats that have named sets. `containing`: ``SET:TYPE``, annotations that become
    a layer of that name beside it. `part`: bytes of a column file, read as if they were a file."""

    layers: Mapping[str, int] | None = None
    input: str | None = None
    token: int | None = None
    token_id: int | None = None
    scheme: str | None = None
    invalid: str | None = None
    document_tag: str = "text"
    sentence_tag: str = "s"
    text: Path | None = None
    ignore_punct: bool | None = None
    whole_text: bool = False
    annotation_set: str | None = None
    containing: str | None = None
    part: Part | None = None
    max_line: int = MAX_LINE
    max_sentence: int = MAX_SENTENCE
    sizes: Sizes = SIZES

    def __post_init__(self) -> None:
        require_limits(self.max_line, self.max_sentence)
        if self.input is not None and self.input not in FORMATS:
            raise UsageError(f"unknown format {self.input!r}", advice=f"one of {', '.join(FORMATS)}")
        if self.invalid is not None and self.invalid not in INVALID:
            raise UsageError(
                f"unknown treatment of ill-formed tags {self.invalid!r}",
                advice=f"one of {', '.join(INVALID)}",
            )
        for name in ("document_tag", "sentence_tag"):
            _require_name(name, getattr(self, name))
        for layer in self.layers or ():
            _require_name("layer", layer)
        if self.scheme is not None:
            scheme_called(self.scheme)
        if self.layers is not None and not self.layers:
            raise UsageError("no layer is named", advice="name one, as in entity=2")

    def require_use(self, paths: Iterable[Path]) -> None:
        """Raise `UsageError` for an option that is set, and that the format of no file reads.

        Files are looked into until every option has its use; without such an option, none is.
        """
        idle = self._set()
        formats: dict[str, Path] = {}
        for path in paths if idle else ():
            form = format_at(path, self)
            formats.setdefault(form, path)
            idle = [name for name in idle if form not in _READ_BY[name]]
            if not idle:
                return
        for name in idle if formats else ():
            raise UsageError(
                f"{_flag(name, getattr(self, name))} has no use in the format {' or '.join(formats)}",
                file=str(next(iter(formats.values()))),
                advice=f"leave it out; it is for {', '.join(_READ_BY[name])}",
            )

    def require_none(self) -> None:
        """Raise `UsageError` for an option that says how files are read, where there are no files."""
        for name in [*self._set(), *["input"] * (self.input is not None)]:
            raise UsageError(
                f"{name}={getattr(self, name)!r} is for files, and both sides are documents",
                advice="leave it out, or give it to read",
            )

    def _set(self) -> list[str]:
        """The options that are set and that some format does not read.

        Punctuation that is to stay where it is stays there in every format.
        """
        return [
            each.name
            for each in fields(self)
            if each.name in _READ_BY
            and getattr(self, each.name) != each.default
            and (each.name, getattr(self, each.name)) != ("ignore_punct", False)
        ]

    def treatment(self, form: str) -> str | None:
        """How ill-formed tags are treated in a format; None if it has no tags.

        Raises `UsageError` if the format has not the treatment that is asked for.
        """
        if form not in TREATMENTS or self.invalid is None:
            return next(iter(TREATMENTS.get(form, ())), None)
        if self.invalid not in TREATMENTS[form]:
            raise UsageError(
                f"the format {form} cannot treat ill-formed tags as {self.invalid!r}",
                advice=" or ".join(TREATMENTS[form]),
            )
        return self.invalid

    @property
    def reads_leniently(self) -> bool:
        """Whether ill-formed tags of column files are repaired, for which their scheme need not be known."""
        return self.invalid in (None, "conlleval")

    def decoder(self) -> Decoder:
        return Decoder(self.scheme, self.invalid or "conlleval")

    def has_columns_of(self, other: ReadOptions) -> bool:
        """Whether the columns of two files hold the same, whatever part of them is read."""
        return replace(self, part=None).columns() == replace(other, part=None).columns()

    def columns(self) -> ColumnOptions:
        return ColumnOptions(
            self.layers,
            self.token,
            self.token_id,
            self.document_tag,
            self.sentence_tag,
            self.part,
            self.max_line,
            self.max_sentence,
            self.sizes,
        )


def format_at(path: Path, options: ReadOptions) -> str:
    if options.input is not None:
        return options.input
    form = format_of(path.name, _first_lines(path, options.max_line))
    return "nerval" if form == "conll" and options.whole_text else form


def _require_name(option: str, name: str) -> None:
    """Raise `UsageError` for a name that UTF-8 cannot hold: no file has it, and none can be written with it."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{option}={name!r} is no name", advice="names are UTF-8") from None


def _flag(name: str, value: object) -> str:
    """An option as a command has it, with its value."""
    if name == "ignore_punct":
        return "--ignore-punctuation" if value else "--no-ignore-punctuation"
    return f"--{name.replace('_', '-')} {value}"


def _first_lines(path: Path, max_line: int) -> str:
    """The first three lines of a file that are not blank, of each no more than its beginning.

    Of JSON the name that tells what it is stands in front, wherever it is: the text may come before it.
    """
    text = next((text for _, text in blocks(path, complain=_keep_quiet, max_line=max_line)), "")
    if text.lstrip("\ufeff \t\r\n").startswith("{") and '"annotation_sets"' in text:
        return '{"annotation_sets"'
    lines = [line[:2000] for line in text[:100_000].split("\n")]
    return "\n".join(islice(filter(str.strip, lines), 3))


def _keep_quiet(_: CluevalError) -> None:
    """Whoever reads the file will complain."""
