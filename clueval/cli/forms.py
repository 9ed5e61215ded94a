"""The forms in which a result is printed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from clueval.evaluation.result import Result
from clueval.reports import markdown

FORMS = ("text", "json", "tsv", "markdown")
"""The forms of every result."""


def rendered(result: Result, form: str) -> str:
    """A result in one of `FORMS`, or in conlleval's."""
    if form == "json":
        return result.to_json()
    if form == "text":
        return str(result)
    report = result.to_dict()
    if form == "markdown":
        return markdown.render(report, result.tables())
    if form == "tsv":
        metrics = {name: _numbers(of) if name == "gate" else of for name, of in report["metrics"].items()}
        report = {**report, "metrics": metrics}
    module = "clueval.compat.conlleval" if form == "conlleval" else f"clueval.reports.{form}"
    shown: str = import_module(module).render(report)
    return shown


def _numbers(report: Mapping[str, Any]) -> dict[str, Any]:
    """A report without what is no number: the list of changes against a reference has no place in columns."""
    return {
        key: _numbers(value) if isinstance(value, Mapping) else value
        for key, value in report.items()
        if not isinstance(value, list | str)
    }
