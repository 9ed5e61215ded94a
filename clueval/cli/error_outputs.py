"""The outputs of ``clueval errors``: text, a table, a spreadsheet and a web page, put out when the files have ended.

Errors are held in a file until then, so that an error of the input later in the files leaves no output. The last lines
say how many errors were found, and which were not listed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clueval.cli.options import SEVERAL_LAYERS
from clueval.cli.outputs import put_form, put_result
from clueval.cli.printing import put_painted, remark, wrote
from clueval.evaluation.result import Result
from clueval.files.visible import visible
from clueval.findings import page, xlsx
from clueval.findings.choice import Choice, ReasonKey, in_words
from clueval.findings.decisions import PlaceDecisions
from clueval.findings.kept import KeptRows
from clueval.findings.page_profile import PageProfile
from clueval.findings.places import places_of_document, with_decisions
from clueval.findings.rows import table_lines
from clueval.findings.table import REASONS, Finding
from clueval.findings.text import HEAD, lines_of
from clueval.reports.language import phrase, speaking
from clueval.reports.table import Table, cut_label
from clueval.reports.text import layers_not_predicted
from clueval.studies.errors import ErrorForms


def put_errors(
    options: argparse.Namespace,
    errors: KeptErrors,
    result: Result,
    counts: Mapping[ReasonKey, int],
    profile: PageProfile | None = None,
    decided: Sequence[Table] = (),
    decided_on_page: Sequence[Table] = (),
) -> None:
    """Write, or print, the outputs that the options name; text if they name none.

    A page shows the `counts` of all errors, whichever are kept. `decided` are the tables about decisions;
    those of the page are in its language.
    """
    report = {name: part for name, part in result.to_dict().items() if name != "profile"}
    if options.tsv is not None:
        put_result(table_lines(errors.kept, raw=options.raw), options.tsv)
    if options.xlsx is not None:
        xlsx.write(options.xlsx, errors.kept, result.to_dict(), decided)
        wrote(options.xlsx)
    if options.html is not None:
        names = [each.name for each in (options.gold, options.predicted) if each is not None]
        with speaking(options.lang, options.text_lang):
            page.write(
                options.html,
                errors.kept,
                report,
                errors.choice,
                counts,
                title=phrase("Errors: {names}", names=phrase(" and ").join(names)),
                store=f"Errors: {' and '.join(names)}",
                profile=profile,
                decisions=errors.kept.decisions if isinstance(errors.kept, CountedErrors) else None,
                decided=decided_on_page,
            )
        wrote(options.html)
    if options.output_file is not None or options.format not in (None, "text"):
        put_form(errors, options)
    elif prints(options):
        _print(errors.kept, layers_not_predicted(result.inputs))


def prints(options: argparse.Namespace) -> bool:
    """Return whether the errors are printed in their sentences."""
    files = options.tsv, options.xlsx, options.html, options.output_file
    return files == (None,) * 4 and options.format in (None, "text")


def _print(errors: KeptRows[Finding], left_out: Collection[str]) -> None:
    """Print the errors, without those in layers that are left out."""
    width = shutil.get_terminal_size((100, 24)).columns
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    for line in HEAD if len(errors) else ():
        put_painted(line)
    for finding in errors:
        if finding.sequence in left_out:
            continue
        put_painted("\n".join(lines_of(finding, width=width, colour=colour)))


class CountedErrors(KeptRows[Finding]):
    """Errors that are kept, with their numbers by side, class and reason, and that of their places."""

    def __init__(self, limit: int | None = None, decisions: PlaceDecisions | None = None) -> None:
        super().__init__(limit)
        self.decisions = decisions
        self.places = 0
        self.by_side, self.by_kind, self.by_reason = Counter[str](), Counter[str](), Counter[str]()

    def take(self, rows: Iterable[Finding]) -> None:
        """Add the errors of a document, or of a part of it that no span crosses."""
        found = list(self.within_limit(rows))
        if self.decisions is not None:
            found = list(with_decisions(places_of_document(found), self.decisions))
        for place in places_of_document(found):
            self.places += 1
            for finding in place.findings:
                self.by_side[finding.side or "gold"] += 1
                self.by_kind[finding.kind] += 1
                self.by_reason[finding.reason] += 1
        super().take(found)


@dataclass(frozen=True, slots=True)
class KeptErrors(ErrorForms):
    """The errors that were kept, in all forms."""

    kept: KeptRows[Finding]
    choice: Choice

    def _chosen(self) -> Choice:
        return self.choice

    def _findings(self) -> Iterable[Finding]:
        return self.kept


def remark_numbers(
    errors: CountedErrors, counted: Mapping[str, int] | None = None, choice: Choice | None = None
) -> None:
    """Print how many errors there are, and how many the scores count if these are more; then what `choice` lists.

    FairEval's errors, which are pairs of spans, are not `counted` by side, but by type.
    """
    words = f"{many(len(errors), 'error')} in {many(errors.places, 'place')}"
    if counted is None or choice is None:
        kinds = ", ".join(f"{number:,} {kind}" for kind, number in errors.by_kind.most_common())
        remark(f"{words}: {kinds}" if kinds else words)
        return
    if sum(counted.values()) == len(errors):
        remark(f"{words}: {_by_side(errors.by_side)}" if errors else words)
    else:
        number = many(sum(counted.values()), "error")
        metric = f"level {choice.at_level}" if choice.by_levels else "metric exact"
        remark(f"{words} shown; {metric} counts {number}: {_by_side(counted)}")
    if errors:
        found = (f"{errors.by_reason[name]:,} {name}" for name in REASONS if errors.by_reason[name])
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


def remark_one_sided(result: Result, filters: Iterable[str], printed: bool = False) -> None:
    """Print which layers only one side has, what is therefore listed, and how to compare them; `filters`: of layers."""
    left_out = layers_not_predicted(result.inputs) if printed else ()
    sides = {side: found["layers"] for side, found in result.inputs.items()}
    for layer in sides.get("gold", ()):
        numbers = {side: layers[layer]["spans"] for side, layers in sides.items()}
        for side, other in (("gold", "predicted"), ("predicted", "gold")):
            if not numbers[side] or numbers[other]:
                continue
            name, listed = cut_label(visible(layer)), "missed" if side == "gold" else "spurious"
            what = f"{listed}, and is not printed" if layer in left_out else f"listed as {listed}"
            remark(
                f"layer {name}: {other} has no spans, so every {side} span of this layer is {what}; {SEVERAL_LAYERS}"
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
