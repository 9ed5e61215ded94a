"""The reporters of a classification report: a dictionary or text, with seqeval's layout."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

Row = dict[str, float]


class Reporter(ABC):
    """Collects rows and returns a report."""

    @abstractmethod
    def report(self) -> Any:
        """Return everything written so far."""

    @abstractmethod
    def write(self, row_name: str, precision: float, recall: float, f1: float, support: int) -> None:
        """Add a row."""

    def write_blank(self) -> None:  # noqa: B027  # most reports have no blank rows
        """Add a blank row, if the report has blank rows."""


class DictReporter(Reporter):
    """A dictionary of rows by name, of plain numbers."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.report_dict: dict[str, Row] = {}

    def report(self) -> dict[str, Row]:
        return self.report_dict

    def write(self, row_name: str, precision: float, recall: float, f1: float, support: int) -> None:
        self.report_dict[row_name] = {
            "precision": precision,
            "recall": recall,
            "f1-score": f1,
            "support": support,
        }


class StringReporter(Reporter):
    """Text: names right-justified to `width`, rates with `digits` decimals, columns of nine characters."""

    def __init__(self, *_: Any, width: int = 10, digits: int = 4, **__: Any) -> None:
        self.width = width
        self.digits = digits
        self.buffer: list[str] = []

    def report(self) -> str:
        return self.write_header() + "\n".join(self.buffer)

    def write(self, row_name: str, precision: float, recall: float, f1: float, support: int) -> None:
        rates = "".join(f" {rate:>9.{self.digits}f}" for rate in (precision, recall, f1))
        self.buffer.append(f"{row_name:>{self.width}s} {rates} {support:>9}")

    def write_header(self) -> str:
        """Return the line of column names and a blank line."""
        names = "".join(f" {name:>9}" for name in ("precision", "recall", "f1-score", "support"))
        return f"{'':>{self.width}s} {names}\n\n"

    def write_blank(self) -> None:
        self.buffer.append("")
