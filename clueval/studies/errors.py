"""`errors`: the errors of a system, one after the other or as a web page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from clueval.exceptions import UsageError, checked_call
from clueval.findings.choice import Choice
from clueval.findings.stream import errors as found_errors
from clueval.findings.systems import System, shared_states
from clueval.findings.table import Finding
from clueval.hints import Hinting
from clueval.reading.given import InputSide
from clueval.reading.layers import LayerColumns
from clueval.reading.options import Reading, Readings
from clueval.transforms.preparing import Preparing

if TYPE_CHECKING:
    from clueval.findings.stream import ErrorsOptions

_READING, _PREPARING = Reading(), Preparing()


@dataclass(frozen=True, slots=True)
class Errors(Hinting):
    """The result of `errors`: an iterator of `Finding`, which can also be written as a web page."""

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
        self, path: str | Path, *, second: InputSide | None = None, title: str = "Errors", lang: str = ""
    ) -> None:
        """Write the web page of ``clueval errors --html``, with the scores; reads both sides once more.

        With a `second` system, the page has the errors of both, A and B. `lang` is the language of the texts, such as
        ``de``. Raises `UsageError` for an iterator or open file, which cannot be read again, the errors of `score`,
        `FileError`, and `MissingExtra` without the extra ``report``.
        """
        from clueval.studies.error_pages import ErrorPages, name_of_run, require_again

        require_again(gold=self._gold, predicted=self._predicted, second=second)
        if second is None:
            ErrorPages.of(*self._how).write(Path(path), self._gold, self._predicted, title=title, lang=lang)
            return
        if self._predicted is None:
            raise UsageError("gold has both sides", advice="give gold and two systems, each by itself")
        sides = {"gold": self._gold, "predicted": self._predicted, "second": second}
        systems = [System("A", name_of_run(self._predicted, "A")), System("B", name_of_run(second, "B"))]
        ErrorPages.of(*self._how).write_two(
            Path(path), sides, systems, shared_states("A", "B"), title=title, lang=lang
        )


@checked_call
def errors(
    gold: InputSide,
    predicted: InputSide | None = None,
    choice: Choice | None = None,
    *,
    layers: LayerColumns | None = None,
    reading: Readings = _READING,
    preparing: Preparing = _PREPARING,
    **options: Unpack[ErrorsOptions],
) -> Errors:
    """Yield all errors of predicted compared with gold, in the order of the documents, or write them as a web page.

    By default, these are the spans that metric ``exact`` counts as errors, label included.

    Args:
        gold, predicted: as in `clueval.score`.
        choice: selects the errors; or its fields by their own names, as in ``level=1, labelled="entity"``.
        layers, reading, preparing: as in `clueval.score`.
        options: any field of `Reading` and `Preparing` by its own name, ``gold_set``, ``predicted_set``, ``pair_by``,
            ``progress``, as in `clueval.score`.

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
