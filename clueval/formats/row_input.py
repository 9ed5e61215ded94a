"""The input whose rows are read: its options, the current row, and what its values must be."""

from __future__ import annotations

from collections import Counter
from typing import Any, NoReturn

from clueval.files.errors import FormatError
from clueval.formats.options import FormatOptions


class RowInput:
    """The input whose rows are read.

    Attributes:
        options, file: its options, and the name of its file in errors; None: rows in memory.
        number: the number of the current row.
        set: the annotation set that is read; None: the rows have no sets.
        passed_over: how often the rows have what is not read, by kind in the plural.
        offered: the sources of layers that rows had so far, if each may have others.
    """

    def __init__(
        self, options: FormatOptions, file: str | None = None, passed_over: Counter[str] | None = None
    ) -> None:
        self.options, self.file = options, file
        self.number = 0
        self.set: str | None = None
        self.passed_over = Counter[str]() if passed_over is None else passed_over
        self.offered: dict[str, None] = {}

    def refuse(self, problem: str, advice: str | None = None, document: str | None = None) -> NoReturn:
        """Raise `FormatError` with the number of the row."""
        raise FormatError(problem, file=self.file, line=self.number, document=document, advice=advice)

    def mapping(self, value: object, what: str = "the row") -> dict[str, Any]:
        """Return a value that must be an object."""
        if not isinstance(value, dict):
            self.refuse(f"{what} is not an object", "each value of this format is an object with keys")
        return value

    def listed(self, value: Any, what: str) -> list[Any]:
        """Return a list, also one that a text holds, or an array of another library; None is an empty list."""
        if type(value) is list:
            return value
        if isinstance(value, str):
            value = self.value_in(value, what)
        if hasattr(value, "tolist"):
            value = value.tolist()
        if not isinstance(value, list | tuple | None):
            self.refuse(f"{what} is not a list")
        return list(value or ())

    def value_in(self, text: str, what: str) -> Any:
        """Return the value that a text holds, in JSON or as a literal of Python."""
        from clueval.files.literals import literal_in  # columns do not need it

        try:
            return literal_in(text)
        except ValueError as error:
            self.refuse(f"{what} is a text that cannot be read as a list: {error}", "write a list in JSON")

    def whole(self, value: Any, key: str) -> int:
        """Return a position, which may be written 3.0."""
        if type(value) is int:
            return value
        if isinstance(value, float) and value.is_integer():
            return int(value)
        shown = "missing" if value is None else f"{repr(value)[:40]}, not a whole number"
        return self.refuse(f"the {key} of a span is {shown}")

    def scalar(self, value: object, what: str) -> str:
        """Return a number or a truth value as a text."""
        if isinstance(value, list | tuple | dict):
            self.refuse(f"{what} is a list or an object, not a text")
        return str(value)
