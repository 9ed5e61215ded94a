"""The outputs of ``clueval errors``: text, a table, a spreadsheet and a web page, put out when the files have ended.

Each is made while the files are read, and held as text, so that an error of the input later in the files leaves no
output. Only a spreadsheet, and a page with bars of a profile, hold the errors themselves. The last lines say how many
errors were found, and which were not listed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Self

from clueval.cli.outputs import check_outputs as outputs_checked
from clueval.cli.outputs import form_of, put_result
from clueval.cli.printing import put_painted, remark, wrote
from clueval.evaluation.result import Result
from clueval.exceptions import UsageError
from clueval.findings import page, text, xlsx
from clueval.findings.choice import Choice, ReasonKey, in_words
from clueval.findings.kept import KeptRows, KeptText
from clueval.findings.page import PlaceLines
from clueval.findings.page_profile import PageProfile
from clueval.findings.places import ErrorPlace, places, places_of_document
from clueval.findings.rows import RowColumns, TableLines
from clueval.findings.table import REASONS, Finding
from clueval.reports.table import cut_label
from clueval.studies.errors import ErrorForms
from clueval.visible import visible
from clueval.writing import whole_file


def check_outputs(options: argparse.Namespace) -> None:
    """Raise `CluevalError` for what cannot be written, or not like this."""
    outputs = [options.tsv, options.xlsx, options.html, options.output_file]
    if options.raw and options.tsv is None:
        raise UsageError("--raw needs --tsv", advice="add --tsv FILE")
    outputs_checked(outputs, options.html, options.lang, options.xlsx)


class ErrorOutputs:
    """The outputs that the options name; text if they name none. A context manager.

    `take` is given the errors of each document or passage, `put` writes all of them. `choice` is that of the errors.
    `numbers` counts what was taken; a page shows the `counts` of all errors, whichever are taken.
    """

    def __init__(self, options: argparse.Namespace, choice: Choice) -> None:
        self._options, self.choice = options, choice
        self.numbers = ErrorNumbers()
        self.counts: Counter[ReasonKey] | None = None if options.html is None else Counter()
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        options, enter = self._options, self._stack.enter_context
        late_page = options.html is not None and options.profile is not None
        self._is_form = options.output_file is not None or options.format not in (None, "text")
        is_kept = late_page or options.xlsx is not None or self._is_form
        self._rows = enter(KeptRows[Finding]()) if is_kept else None
        self._page = enter(PlaceLines()) if options.html is not None and not late_page else None
        self._table = enter(_KeptTable(options.raw)) if options.tsv is not None else None
        is_text = options.tsv is options.xlsx is options.html is None and not self._is_form
        self._text = enter(_KeptLines()) if is_text else None
        return self

    def __exit__(self, *error: Any) -> bool | None:
        return self._stack.__exit__(*error)

    def take(self, found: Iterable[Finding]) -> None:
        """Add the errors of a document, or of a part of it that no span crosses; no more than the limit allows."""
        limit = self._options.limit
        findings = list(islice(found, None if limit is None else limit - self.numbers.errors))
        at = list(places_of_document(findings))
        self.numbers.see(at)
        if self._page is not None:
            self._page.take(at)
        if self._table is not None:
            self._table.take(findings)
        if self._text is not None:
            self._text.take(findings)
        if self._rows is not None:
            self._rows.take(findings)

    def put(self, result: Result, profile: PageProfile | None = None) -> None:
        """Write, or print, all of them."""
        options = self._options
        if self._table is not None:
            self._table.write(options.tsv)
            wrote(options.tsv)
        if self._rows is not None and options.xlsx is not None:
            xlsx.write(options.xlsx, self._rows, result.to_dict())
            wrote(options.xlsx)
        if options.html is not None:
            self._put_page(result, profile)
            wrote(options.html)
        if self._is_form:
            assert self._rows is not None
            errors = KeptErrors(self._rows, self.choice)
            put_result([errors.render(form_of(options))], options.output_file)
        if self._text is not None:
            self._text.put()

    def _put_page(self, result: Result, profile: PageProfile | None) -> None:
        options = self._options
        title = " and ".join(each.name for each in (options.gold, options.predicted) if each is not None)
        report = {name: part for name, part in result.to_dict().items() if name != "profile"}
        with ExitStack() as stack:
            lines = self._page
            if lines is None:
                assert self._rows is not None
                lines = stack.enter_context(PlaceLines(profile))
                lines.take(places(self._rows))
            page.write_lines(
                options.html,
                lines,
                report,
                self.choice,
                self.counts or Counter(),
                title=f"Errors: {title}",
                lang=options.lang or "",
            )


@dataclass(frozen=True, slots=True)
class KeptErrors(ErrorForms):
    """The errors that were kept, in all forms."""

    kept: KeptRows[Finding]
    choice: Choice

    def _chosen(self) -> Choice:
        return self.choice

    def _findings(self) -> Iterable[Finding]:
        return self.kept


class _KeptTable(KeptText):
    """The lines of a table; the first error determines its columns."""

    def __init__(self, raw: bool) -> None:
        super().__init__()
        self._raw = raw
        self._lines: TableLines | None = None

    def take(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            lines = self._lines or self._begin(RowColumns.of(finding))
            self.add(lines.line(finding) + "\n")

    def _begin(self, columns: RowColumns) -> TableLines:
        self._lines = TableLines(columns, raw=self._raw)
        self.add(self._lines.header + "\n")
        return self._lines

    def write(self, path: Path) -> None:
        """Write the table; without errors, only the header."""
        if self._lines is None:
            self._begin(RowColumns())
        with whole_file(path) as file:
            for block in self:
                file.write(block)


class _KeptLines(KeptText):
    """Lines for a terminal."""

    def __init__(self) -> None:
        super().__init__()
        self._width = shutil.get_terminal_size((100, 24)).columns
        self._colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        self._is_empty = True

    def take(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            head = text.HEAD if self._is_empty else ()
            self._is_empty = False
            lines = text.lines_of(finding, width=self._width, colour=self._colour)
            self.add("".join(f"{line}\n" for line in (*head, *lines)))

    def put(self) -> None:
        for block in self:
            put_painted(block, end="")


class ErrorNumbers:
    """How many errors were shown, at how many places."""

    def __init__(self) -> None:
        self.errors = self.places = 0
        self._by_side, self._by_kind, self._by_reason = Counter[str](), Counter[str](), Counter[str]()

    def see(self, places: Iterable[ErrorPlace]) -> None:
        """Count the errors at these places."""
        for place in places:
            self.places += 1
            self.errors += len(place.findings)
            for finding in place.findings:
                self._by_side[finding.side or "gold"] += 1
                self._by_kind[finding.kind] += 1
                self._by_reason[finding.reason] += 1

    def remark(self, counted: Mapping[str, int] | None = None, choice: Choice | None = None) -> None:
        """Print the numbers, and how many errors the scores count if these are more; then what `choice` lists.

        FairEval's errors, which are pairs of spans, are not `counted` by side, but by type.
        """
        words = f"{many(self.errors, 'error')} in {many(self.places, 'place')}"
        if counted is None or choice is None:
            kinds = ", ".join(f"{number:,} {kind}" for kind, number in self._by_kind.most_common())
            remark(f"{words}: {kinds}" if kinds else words)
            return
        if sum(counted.values()) == self.errors:
            remark(f"{words}: {_by_side(self._by_side)}" if self.errors else words)
        else:
            number = many(sum(counted.values()), "error")
            metric = f"level {choice.at_level}" if choice.by_levels else "metric exact"
            remark(f"{words} shown; {metric} counts {number}: {_by_side(counted)}")
        if self.errors:
            found = (f"{self._by_reason[name]:,} {name}" for name in REASONS if self._by_reason[name])
            remark(f"reasons: {', '.join(found)}")
        remark(f"listed: {in_words(choice)}")


def remark_wrong_labels(reports: Iterable[Mapping[str, Any]], choice: Choice) -> None:
    """Print how many spans have only a wrong label, and are therefore not listed without --labelled."""
    for report in reports:
        found = report["unlabelled"][str(choice.at_level)]
        for layer, levels in report["labelled"].items():
            right = levels[str(choice.at_level)]["micro"]
            number = sum(found[f"tp_{side}"] - right[f"tp_{side}"] for side in choice.sides)
            if number:
                what = (
                    f"{number:,} span{'s have' if number > 1 else ' has'} only a wrong label in layer {layer}"
                )
                remark(f"not listed: {what} (--labelled {layer} lists them, too)")


def remark_one_sided(result: Result, filters: Iterable[str]) -> None:
    """Print which layers only one side has, what is therefore listed, and how to compare them; `filters`: of layers."""
    sides = {side: found["layers"] for side, found in result.inputs.items()}
    for layer in sides.get("gold", ()):
        numbers = {side: layers[layer]["spans"] for side, layers in sides.items()}
        for side, other in (("gold", "predicted"), ("predicted", "gold")):
            if not numbers[side] or numbers[other]:
                continue
            name, listed = cut_label(visible(layer)), "missed" if side == "gold" else "spurious"
            remark(
                f"layer {name}: {other} has no spans, so every {side} span of this layer is listed as {listed}; "
                f"to compare several layers of gold with one of predicted, give each as --layer NAME=GOLD:PREDICTED "
                f"with the same PREDICTED"
            )
            if layer in filters:
                remark(f"filter {name}: {other} has no such labels, so no {other} span is counted")


def many(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> many(1, "error"), many(2000, "error")
    ('1 error', '2,000 errors')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _by_side(counts: Mapping[str, int]) -> str:
    parts = {"gold": "not found", "predicted": "wrong"}
    return ", ".join(
        f"{many(counts[side], f'{side} span')} {end}" for side, end in parts.items() if counts.get(side)
    )
