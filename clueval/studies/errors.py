"""`errors`: the errors of a system, one after the other or as a web page."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from os import fsdecode
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from clueval.arguments import checked_call
from clueval.files.errors import UsageError
from clueval.files.overwriting import keeps_inputs, refuse_to_overwrite
from clueval.findings.choice import SIDES, Choice, choice_with, in_words
from clueval.findings.rows import split_first
from clueval.findings.stream import errors as found_errors
from clueval.findings.systems import System, shared_states
from clueval.findings.table import REASONS, Finding, joined
from clueval.findings.text import HEAD, lines_of
from clueval.reports.language import phrase, speaking
from clueval.reports.report import Data, Report
from clueval.reports.table import Table
from clueval.second.formats.options import Reading
from clueval.second.reading.options import InputSide, LayerColumns, Readings
from clueval.second.reading.paths import as_path
from clueval.second.transforms.options import Preparing
from clueval.spans.document import Document
from clueval.version import __version__

if TYPE_CHECKING:
    from clueval.studies.error_pages import ErrorPages

_READING, _PREPARING = Reading(), Preparing()


class ErrorForms(Report):
    """Errors in all forms: a report of findings, and of the choice that lists them."""

    __slots__ = ()
    _title: ClassVar[str] = "Errors"

    @abstractmethod
    def _chosen(self) -> Choice:
        """Return the choice of the errors."""

    @abstractmethod
    def _findings(self) -> Iterable[Finding]:
        """Return all errors, each time from the first one."""

    def to_dict(self) -> dict[str, Any]:
        """Return all errors as plain data, with texts of the corpus; positions are integers, all else is text."""
        return {"clueval": __version__, "listed": in_words(self._chosen()), "errors": self.rows()}

    def tables(self) -> Iterator[Table]:
        """Yield the numbers of errors by side and reason, then the first errors."""
        numbers, first = Counter[tuple[str, str]](), list[Finding]()
        for finding in self._findings():
            numbers[finding.side or "gold", finding.reason] += 1
            if len(first) < MOST_LISTED:
                first.append(finding)
        sides = [[side, *(numbers[side, reason] for reason in REASONS)] for side in SIDES]
        yield Table(f"Errors: {in_words(self._chosen())}", ["side", *REASONS], sides)
        if first:
            total = sum(numbers.values())
            more = f"the first {MOST_LISTED} of {total:,} errors" if total > MOST_LISTED else "all errors"
            yield Table(more.capitalize(), _LISTED, list(map(_listed, first)))

    def scores(self) -> dict[str, float]:
        """Return the numbers of errors by side and reason, as ``gold.missed``."""
        numbers = Counter((finding.side or "gold", finding.reason) for finding in self._findings())
        return {f"{side}.{reason}": float(numbers[side, reason]) for side in SIDES for reason in REASONS}

    def _content(self) -> Mapping[str, Any]:
        return {}  # errors are no scores, and have no signature

    def _data(self) -> Data:
        columns, findings = split_first(self._findings())
        return Data(columns.names, (columns.row(finding) for finding in findings))

    def _readable(self, form: str) -> str:
        if form != "text":
            return Report._readable(self, form)
        lines = (
            line for finding in self._findings() for line in lines_of(finding, width=WIDTH, colour=False)
        )
        return "\n".join([*HEAD, *lines])


MOST_LISTED = 50
"""How many errors tables show; text, JSON, CSV and TSV have all."""

WIDTH = 100
"""The width of the text."""

_LISTED = ("document", "side", "reason", "class", "layer", "label", "start", "end_inclusive", "text")


def _listed(finding: Finding) -> list[str]:
    """Return the cells of a table."""
    where = [finding.document, finding.side or "gold", finding.reason, finding.kind, finding.sequence]
    return [*where, joined(finding.labels), str(finding.start), str(finding.end), finding.text]


@dataclass(frozen=True, slots=True)
class Errors(ErrorForms):
    """The result of `errors`: an iterator of `Finding`, once. The forms and the page read both sides once more."""

    _found: Iterator[Finding] = field(repr=False)
    _gold: InputSide = field(repr=False)
    _predicted: InputSide | None = field(repr=False)
    _how: tuple[Any, ...] = field(repr=False)

    def __iter__(self) -> Iterator[Finding]:
        return self._found

    def __next__(self) -> Finding:
        return next(self._found)

    @checked_call
    def write_page(
        self,
        path: str | Path,
        *,
        title: str | None = None,
        lang: str = "",
        text_lang: str = "",
        second: InputSide | None = None,
    ) -> None:
        """Write the web page of ``clueval errors --html``, with the scores; reads both sides once more.

        With a `second` system, the page has the errors of both, A and B. `lang` and `text_lang` are those of
        `Result.write_page`. Raises `UsageError` for an iterator or open file, which cannot be read again, the errors of
        `score`, `FileError`, and `MissingExtra` without the extra ``report``.
        """
        from clueval.studies.error_pages import name_of_run, require_again

        require_again("the page", gold=self._gold, predicted=self._predicted, second=second)
        sides = [side for side in (self._gold, self._predicted, second) if side is not None]
        names = ", ".join(filter(None, (name_of_run(side, "") for side in sides)))
        store = title or (f"{self._title}: {names}" if names else self._title)
        with speaking(lang, text_lang):
            title = title or (phrase("Errors: {names}", names=names) if names else phrase(self._title))
            self._write_page(Path(path), second, title=title, store=store)

    def _write_page(self, path: Path, second: InputSide | None, *, title: str, store: str) -> None:
        from clueval.studies.error_pages import ErrorPages, name_of_run

        if second is None:
            ErrorPages.of(*self._how).write(path, self._gold, self._predicted, title=title, store=store)
            return
        if self._predicted is None:
            raise UsageError("gold has both sides", advice="give gold and two systems, each by itself")
        by_name = {"gold": self._gold, "predicted": self._predicted, "second": second}
        systems = [System("A", name_of_run(self._predicted, "A")), System("B", name_of_run(second, "B"))]
        ErrorPages.of(*self._how).write_two(
            path, by_name, systems, shared_states("A", "B"), title=title, store=store
        )

    def corrected(self) -> Iterator[Document]:
        """Yield the documents of gold as decided; reads both sides once more.

        Raises `UsageError` without decisions, for conflicts, and for what `write_page` does; warns of decisions that
        cannot be applied.
        """
        return self._pages("gold corrected").corrected(self._gold, self._predicted)

    @checked_call
    @keeps_inputs
    def write_corrected(self, path: str | Path) -> None:
        """Write these documents as ``clueval errors --corrected``: in the format of gold, if it can be written.

        Otherwise they are written as conll to a ``file.conll``, or as a table of spans; `clueval.convert` writes
        `corrected` in other formats. Raises the errors of both, before anything is written.
        """
        from clueval.reading.convert import Conversion
        from clueval.studies.corrections import corrected_format, is_flat

        pages = self._pages("gold corrected")
        form, _ = corrected_format(
            self._gold, self._predicted, pages.reading[0], pages.preparing, fsdecode(as_path(path))
        )
        refuse_to_overwrite([path])
        conversion = Conversion(
            form, [], with_ids=pages.reading[0].token_id is not None, output=fsdecode(path)
        )
        corrected = pages.corrected(self._gold, self._predicted, is_flat(form))
        conversion.write(conversion.fitted(corrected))

    def _pages(self, what: str) -> ErrorPages:
        from clueval.studies.error_pages import ErrorPages, require_again

        require_again(what, gold=self._gold, predicted=self._predicted)
        return ErrorPages.of(*self._how)

    def _chosen(self) -> Choice:
        choice, *_, options = self._how
        return choice_with(choice, dict(options))

    def _repr_html_(self) -> str:
        try:
            return Report._repr_html_(self)
        except UsageError as error:  # a side that can be read only once
            return escape(str(error))

    def _findings(self) -> Iterator[Finding]:
        from clueval.studies.error_pages import require_again

        require_again("a form", gold=self._gold, predicted=self._predicted)
        choice, layers, reading, preparing, options = self._how
        how = {"layers": layers, "reading": reading, "preparing": preparing, **options}
        return found_errors(self._gold, self._predicted, choice, **how)


@checked_call
def errors(
    gold: InputSide,
    predicted: InputSide | None = None,
    choice: Choice | None = None,
    *,
    layers: LayerColumns | None = None,
    reading: Readings = _READING,
    preparing: Preparing = _PREPARING,
    **options: Any,
) -> Errors:
    """Yield all errors of predicted compared with gold, in the order of the documents, or write them as a web page.

    By default, these are the spans that metric ``exact`` counts as errors, label included.

    Args:
        gold, predicted: as in `clueval.score`.
        choice: selects the errors; or its fields by their own names, as in ``level=1, labelled="entity"``.
        layers, reading, preparing: as in `clueval.score`.
        options: any field of `Reading` and `Preparing` by its own name, ``gold_set``, ``predicted_set``, ``pair_by``,
            ``progress``, as in `clueval.score`; ``decisions``, files of decisions about places or folders of them
            (see `clueval.findings.decisions`), and ``conflicts``, as in `clueval.curate`. Findings then have a
            `decision`, and `Errors.corrected` has the documents of gold as decided.

    Holds one document or passage of each side. Raises `CluevalError` for wrong options or input, when the
    stream reaches it, and `TextMismatch` if the two sides differ in their text.

    >>> found = errors([["B-PER", "O"]], [["O", "O"]])
    >>> [(error.side, error.kind) for error in found]
    [('gold', 'missed')]
    """
    found = found_errors(
        gold, predicted, choice, layers=layers, reading=reading, preparing=preparing, **options
    )
    return Errors(found, gold, predicted, (choice, layers, reading, preparing, options))
