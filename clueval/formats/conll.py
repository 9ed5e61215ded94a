"""CoNLL-like columns: one token per line, a blank line after each sentence.

Columns are separated by tabs if the first token line contains one, otherwise by blanks. ``-DOCSTART-`` begins a
document. A line that begins with ``#`` is a comment unless it is a token line. In a file with tabs, it is a token
line if it contains a tab and no blank follows the ``#``. Otherwise it is a token line if it has the right number of
columns and tags in the columns of the layers; before the first token line, if the last column is a tag and, in a file
with blanks, no blank follows the ``#``. The comment ``# newdoc id = X`` (CoNLL-U) begins a document, ``# sent_id =
X`` names a sentence, and ``# meta::key = value`` is metadata. MultiCoNER's comment ``# id X<TAB>domain=en`` begins a
document, too, with its metadata. The first lines of some files show how their columns are used.

Empty fields that make a line wider than the first token line are cut off and counted. If no layer is named, those at
the end of the first token line are cut off, too.

Numbers first (Universal NER, GermEval 2014): the first column numbers the tokens of each sentence from 1, so the words
are in the second. The layer ``label`` is the first column from the third on in which all values are tags. Rows such as
``3-4`` and ``5.1`` are not tokens, and a line that begins with ``#`` is a comment. GermEval's four columns have names.

HIPE (2020, 2022): the first line names the columns (``TOKEN``, ``NE-COARSE-LIT``, ...). ``document_id`` begins a
document; the comments ``# key = value`` before its first token are its metadata. The prefix ``hipe2022:`` and tabs at
the end are cut off. Other comments and blank lines end nothing: as in HIPE's scorer, tags are decoded over the whole
document. A sentence ends after a token with ``EndOfSentence`` in the column ``MISC``, and a span may continue after
it. ``_`` and ``-`` in a column of tags mean that a token has none.

Sources: the shared tasks CoNLL-2000 and CoNLL-2003; Universal Dependencies for the comments; the HIPE 2022
participation guidelines; the GermEval 2014 data description.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from clueval.core.span import Span, name_of
from clueval.files.errors import UsageError
from clueval.formats.columns.layout import KINDS_OF_ROWS, NO_TOKEN, ColumnOptions, NamedColumns, fields_of
from clueval.formats.columns.passages import PassageBuilder, TokenLines
from clueval.formats.format import Format, Writer
from clueval.formats.recognition import Beginning, Sign, is_csv
from clueval.spans.document import Document, Sentence
from clueval.tagging.schemes import INVALID, OUTSIDE, is_tag
from clueval.textfiles import Complain

DOCSTART = "-DOCSTART-"
# Also matches a line that was cut, or has a lone CR.
_IS_LINE = re.compile(r"\s*\S+[\t ]+\S|-DOCSTART-|#|.*\r|.{2000}")
_JSON = re.compile(r'[\ufeff\s]*(\{\s*("|\}\s*$)|\[\s*([\[{"]|\]\s*$))')
_BLANK_LINE = re.compile(r"^[ \t]+$", re.MULTILINE)
_MAY_HAVE_NAMES = re.compile(rf"\ufeff?\s*(TOKEN\t|#|[0-9]+[-.\t ]|{DOCSTART})")
_COMMENT = re.compile(r"#\s*(newdoc(?:\s+id)?|sent_id|meta::\S+)\s*(?:=(.*))?$")
_SAMPLE = re.compile(r"#\s*id\s+([^\s=]+)((?:\s+[^\s=]+=\S*)*)\s*$")


def sentence_id(head: str) -> str | None:
    """Return the id of a sentence, given the comment that opens it."""
    comment = _COMMENT.match(head)
    return comment[2].strip() if comment and comment[2] is not None else None


def _has_more_blanks(lines: str) -> bool:
    """Return whether blanks do more than separate two columns of lines."""
    return lines[0] == " " or "  " in lines or "\n " in lines or " \n" in lines


class ConllReader:
    """Finds the sentences of one file, block by block."""

    def __init__(self, file: str, options: ColumnOptions, name: str | None, _: Complain) -> None:
        self.builder = PassageBuilder(file, None, False, options, name)
        self._metadata: dict[str, str] = {}
        self._numbered = options.named is not None

    def feed(self, number: int, text: str) -> None:
        if text[0] in " \t" or "\n " in text or "\n\t" in text:
            text = _BLANK_LINE.sub("", text)
        position, length = 0, len(text)
        while position < length:
            if text[position] == "\n":
                self.builder.end_sentence()
                position, number = position + 1, number + 1
                continue
            end = text.find("\n\n", position) + 1 or length
            run = text[position:end]
            by_line = run[0] == "#" or "\n#" in run or DOCSTART in run
            if by_line or (self._numbered and NO_TOKEN.search(run)):
                self._line_by_line(number, run)
            else:
                self._tokens(number, run)
            number += run.count("\n")
            position = end

    def finish(self) -> None:
        self.builder.end_document()

    def _tokens(self, number: int, run: str) -> None:
        layout = self.builder.layout
        blanks = layout.separator == " " if layout else "\t" not in run[: run.index("\n")]
        if blanks and _has_more_blanks(run):
            run = "".join(" ".join(filter(None, line.split(" "))) + "\n" for line in run[:-1].split("\n"))
        self.builder.add(number, run)

    def _line_by_line(self, number: int, run: str) -> None:
        for offset, line in enumerate(run[:-1].split("\n")):
            if line == DOCSTART or line.startswith((f"{DOCSTART}\t", f"{DOCSTART} ")):
                self.builder.begin_document(None, {})
            elif line[0] == "#" and not self._is_token(line):
                self._comment(line)
            elif self._numbered and (row := NO_TOKEN.match(line)):
                self.builder.passed_over[KINDS_OF_ROWS[row[1]]] += 1
            else:
                self._tokens(number + offset, f"{line}\n")

    def _is_token(self, line: str) -> bool:
        if self._numbered:
            return False
        layout = self.builder.layout
        separator = layout.separator if layout else "\t" if "\t" in line else " "
        if separator == "\t" and not line.startswith("# "):
            return "\t" in line
        fields = [value for value in fields_of(line, separator) if value]
        if layout is None:  # the first lines of the file
            return len(fields) > 1 and (separator == "\t" or line[1] != " ") and is_tag(fields[-1])
        return len(fields) == layout.width and all(is_tag(fields[column]) for _, column in layout.layers)

    def _comment(self, line: str) -> None:
        if sample := _SAMPLE.match(line):
            self._metadata = dict(pair.split("=", 1) for pair in sample[2].split())
            self.builder.begin_document(sample[1], self._metadata)
            return
        comment = _COMMENT.match(line)
        if comment is None:
            return
        key, value = comment[1], (comment[2] or "").strip()
        if key.startswith("newdoc"):
            self._metadata = {}
            self.builder.begin_document(value or None, self._metadata)
        elif key == "sent_id":
            self.builder.begin_sentence(line)
        else:
            self._metadata[key.removeprefix("meta::")] = value


_HEADER = re.compile(r"\ufeff?(TOKEN\t[^\r\n]*NE-[^\r\n]*)")
_HIPE_COMMENT = re.compile(r"#\s+(?:hipe2022:)?([^\s=]+)\s*=(.*)")
_GERMEVAL_HEAD = re.compile(r"\ufeff?#\t")  # the source of a sentence, which no other format writes so
_NONE = ("_", "-")


def named_columns(text: str) -> NamedColumns | None:
    """Return the columns of a file that begins with `text`; None if the text does not show how they are used.

    >>> named_columns("TOKEN\\tNE-COARSE-LIT\\tMISC\\n").names
    ('TOKEN', 'NE-COARSE-LIT', 'MISC')
    >>> numbered = named_columns("1\\tAnn\\tNNP\\tB-PER\\n2\\tsang\\tVBD\\tO\\n")
    >>> numbered.token, numbered.tags
    (2, 4)
    """
    header = _HEADER.match(text)
    if header is None:
        return _numbered(text)
    names = tuple(header[1].split("\t"))
    tags = next(name for name in ("NE-COARSE-LIT", *names[1:]) if name in names)
    misc = names.index("MISC") if "MISC" in names else None
    return NamedColumns(names, names.index(tags) + 1, 1, misc, is_hipe=True)


def _numbered(text: str) -> NamedColumns | None:
    """Return the columns of a file whose first column numbers the tokens of each sentence; None for other files."""
    rows: list[list[str]] = []
    last = 0
    for line in _whole_lines(text):
        if not line.strip():
            last = 0
        elif not line.startswith(("#", "-DOCSTART-")):
            fields = line.split("\t") if "\t" in line else line.split()
            if NO_TOKEN.match(line):
                continue
            last += 1
            if fields[0] != str(last) or len(fields) < 3:
                return None
            rows.append(fields)
    if not rows or (all(row[0] == "1" for row in rows) and _GERMEVAL_HEAD.match(text) is None):
        return None
    columns = list(zip(*rows, strict=False))
    tags = [number for number, values in enumerate(columns, 1) if number > 2 and _are_tags(values)]
    is_germeval = tags == [3, 4] and len(columns) == 4
    return NamedColumns(("", "token", "outer", "inner") if is_germeval else (), next(iter(tags), -1), 2)


def _are_tags(values: tuple[str, ...]) -> bool:
    return all(value not in _NONE and is_tag(value) for value in set(values))


def _whole_lines(text: str) -> Iterator[str]:
    """Yield the lines of the beginning of a file; the last one of a long text may be cut."""
    lines = text[:100_000].removeprefix("\ufeff").split("\n")
    return (line.rstrip("\r") for line in (lines[:-1] if len(text) > 2000 else lines))


class HipeReader:
    """Finds the documents of one file, block by block; a document is one sentence of the builder.

    `_run` has the lines of tokens since the last other line.
    """

    def __init__(self, file: str, options: ColumnOptions, name: str | None) -> None:
        assert options.named is not None
        self.builder = PassageBuilder(file, "\t", False, options, name)
        self._header = "\t".join(options.named.names)
        self._tags = [column - (column > 0) for column in (options.layers or {}).values()]
        self._block: dict[str, str] = {}  # the keys of the comments since the last token
        self._run: list[str] = []
        self._first = 0

    def feed(self, number: int, text: str) -> None:
        for offset, line in enumerate(text[:-1].split("\n")):
            if not line.strip() or line.startswith("# ") or line == self._header:
                self._pass_on()
                self._comment(line)
            else:
                self._token(number + offset, line)
        self._pass_on()

    def finish(self) -> None:
        self._end_comments()
        self.builder.end_document()

    def _comment(self, line: str) -> None:
        comment = _HIPE_COMMENT.match(line)
        if comment is None:
            return
        if comment[1] in self._block and "document_id" in self._block:
            self._end_comments()  # a document without tokens
        self._block[comment[1]] = comment[2].strip()

    def _end_comments(self) -> None:
        """Use the comments before a token: they begin a document, or are metadata if the document has no token yet."""
        block, self._block = self._block, {}
        identifier = block.pop("document_id", None)
        if identifier is not None or (block and not self.builder.in_document):
            self.builder.begin_document(identifier, block)

    def _token(self, number: int, line: str) -> None:
        if self._block:
            self._end_comments()
        self._first = self._first or number
        fields = line.split("\t")
        for column in self._tags:
            if -len(fields) <= column < len(fields) and fields[column] in _NONE:
                fields[column] = OUTSIDE
        self._run.append("\t".join(fields))

    def _pass_on(self) -> None:
        if self._run:
            self.builder.add(self._first, "\n".join([*self._run, ""]))
            self._run, self._first = [], 0


def _reader(
    file: str, options: ColumnOptions, name: str | None, complain: Complain
) -> ConllReader | HipeReader:
    """Return the reader for a file of tokens, which may be one of HIPE."""
    if options.named is None or not options.named.is_hipe:
        return ConllReader(file, options, name, complain)
    return HipeReader(file, options, name)


def _named(text: str) -> NamedColumns | None:
    if not _MAY_HAVE_NAMES.match(text):
        return None
    return named_columns(text)


def _has_columns(beginning: Beginning) -> bool:
    """Return whether a file is empty, or one of its first lines has columns, is a comment or begins a document."""
    lines = beginning.lines
    is_json = _JSON.match(beginning.text) and not is_tag(beginning.first_line.split()[-1])
    if is_json or is_csv(beginning.first_line):
        return False
    return not lines or any(_IS_LINE.match(line) for line in lines)


def is_running_text(beginning: Beginning) -> bool:
    """Return whether the first lines hold words of a text instead of columns.

    These are lines without tabs and tags: a single one, or lines with different numbers of words.

    >>> [is_running_text(Beginning("a.txt", text)) for text in ("Anna lives here.", "Anna NE\\nlives VVFIN", "a\\nb")]
    [True, False, False]
    """
    lines = [line for line in beginning.lines if not line.startswith(("#", DOCSTART))]
    words = [line.split() for line in lines]
    if "\t" in "".join(lines) or all(is_tag(of_line[-1]) for of_line in words):
        return False
    numbers = {len(of_line) for of_line in words}
    return len(numbers) > 1 or (len(lines) == 1 and numbers != {1})


_NO_FIELD = re.compile(r"[\t\n\r\0]|^$|^ +$")
_NO_VALUE = re.compile(r"[\n\r\0]|^\s|\s$|^$")


def column_lines(documents: Iterator[Document], _: Sequence[str], with_ids: bool) -> Iterator[str]:
    """Yield the lines of a file: for each document its id and metadata, and its sentences.

    The columns are the token, a tag for each layer and, `with_ids`, the id of the token. Raises `UsageError` for
    what the columns cannot hold.
    """
    first = next(documents, None)
    if first is None:
        yield "# no documents"
        return
    for document in chain([first], documents):
        yield f"# newdoc id = {_checked(document.id, 'id', document)}"
        for key, value in document.metadata.items():
            if re.search(r"[\s=]", key):
                raise _wrong(document, f"the name {key!r} of its metadata")
            yield f"# meta::{key} = {_checked(value, 'metadata', document)}"
        yield from _rows(document, with_ids)


def _checked(value: str, what: str, document: Document) -> str:
    if _NO_VALUE.search(value):
        raise _wrong(document, f"{what} that is empty or has line ends or blanks at its edges")
    return value


def _rows(document: Document, with_ids: bool) -> Iterator[str]:
    tokens = document.tokens or ()
    columns = [tokens, *(_tags(document, spans) for spans in document.layers.values())]
    if with_ids and document.token_ids is not None:
        columns.append(document.token_ids)
    for token in tokens:
        if _NO_FIELD.search(token) or token == DOCSTART:
            raise _wrong(document, f"the token {token[:40]!r}")
    for start, end, name in _sentences(document):
        if name is not None:
            yield f"# sent_id = {_checked(name, 'sentence id', document)}"
        own = (column[start - document.start : end - document.start] for column in columns)
        yield from map("\t".join, zip(*own, strict=True))
        yield ""


def _sentences(document: Document) -> Iterator[Sentence]:
    """Yield sentences that cover all tokens."""
    place, end = document.start, document.start + len(document.tokens or ())
    for sentence in document.sentences:
        if sentence.start > place:
            yield Sentence(place, sentence.start)
        yield sentence
        place = sentence.end
    if place < end:
        yield Sentence(place, end)


def _tags(document: Document, spans: Sequence[Span]) -> list[str]:
    tags = [OUTSIDE] * len(document.tokens or ())
    breaks = {sentence.start for sentence in _sentences(document)}
    for span in spans:
        places = range(span.start - document.start, span.end - document.start)
        label = span.label
        if _NO_FIELD.search(label) or not places or span.parts is not None:
            raise _wrong(document, f"{name_of(span)}, whose label or positions do not fit into tags")
        if any(tags[place] != OUTSIDE for place in places):
            raise _wrong(document, f"{name_of(span)}, which overlaps another span")
        if any(position in breaks for position in range(span.start + 1, span.end)):
            raise _wrong(document, f"{name_of(span)}, which crosses the end of a sentence")
        tags[places[0]] = f"B-{label}"
        for place in places[1:]:
            tags[place] = f"I-{label}"
    return tags


def _wrong(document: Document, what: str) -> UsageError:
    return UsageError(
        f"columns with BIO tags cannot hold {what}",
        **document.in_errors,
        advice="change it, or use another format",
    )


FORMAT = Format(
    name="conll",
    holds="one token per line, columns separated by tabs or blanks, a blank line after each sentence, `-DOCSTART-`; "
    "a line that begins with `#` is a comment unless it has the columns of a token line",
    signs=(Sign("a line of two columns or more", _has_columns),),
    token_lines=TokenLines(_reader, sentence_id, _named),
    options=frozenset({"layers", "token", "token_id", "document_column", "meta", "scheme"}),
    treatments=INVALID,
    write=Writer(column_lines, ".conll", unit="token", holds=frozenset({"layers", "metadata"})),
)
