"""``clueval errors GOLD A B --html FILE`` and ``clueval diff GOLD OLD NEW --html FILE``: two systems on one page."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from clueval.cli import options as common
from clueval.cli.error_outputs import remark_one_sided
from clueval.cli.fields import given_fields
from clueval.cli.printing import remark, wrote
from clueval.cli.progress import progress
from clueval.evaluation.result import Result
from clueval.files.errors import UsageError
from clueval.findings.choice import SIDES, Choice, in_words
from clueval.findings.systems import States, System, shared_states
from clueval.reports.language import phrase, speaking
from clueval.second.formats.options import Reading
from clueval.second.reading.options import SETS, readings_of
from clueval.second.results.options import Counting
from clueval.studies.error_pages import ErrorPages

_ONLY_ONE = (
    *("tsv", "xlsx", "raw", "pairs", "limit", "format", "output_file"),
    *("decisions", "conflicts", "corrected"),
)
"""The options that apply to one system only."""


def run(options: argparse.Namespace, choice: Choice) -> int:
    """Write the page of two systems."""
    _check(options)
    named = options.predicted.name != options.second.name
    names = [each.name if named else str(each) for each in (options.predicted, options.second)]
    systems = [System(short, name) for short, name in zip("AB", names, strict=True)]
    states = shared_states(*(system.short for system in systems))
    paths = [options.gold, options.predicted, options.second]
    result, _ = write_page(options, choice, paths, systems, states)
    remark_one_sided(result, [key for key, _ in choice.where.conditions])
    common.say_what_was_read(options, result)
    return 0


def write_page(
    options: argparse.Namespace,
    choice: Choice,
    paths: Sequence[Path],
    systems: Sequence[System],
    states: States,
) -> tuple[Result, dict[str, int]]:
    """Write the page of gold and two systems, and report it.

    Returns the scores of the first system, and the number of errors in each state.
    """
    reading = {**common.reading(options), **{name: getattr(options, name) for name in SETS}}
    readings = readings_of(reading.pop("reading", Reading()), reading)
    with progress([paths[0], *paths, *paths]) as advance:
        counting = Counting(**given_fields(Counting, options))
        pages = ErrorPages(
            choice, common.layers(options), readings, counting, common.preparing_of(options), advance
        )
        names = ", ".join(path.name for path in paths)
        with speaking(options.lang, options.text_lang):
            result, counts = pages.write_two(
                options.html,
                dict(zip(("gold", "A", "B"), paths, strict=True)),
                systems,
                states,
                title=phrase("Errors: {names}", names=names),
                store=f"Errors: {names}",
            )
    wrote(options.html)
    listed = {state: sum(counts[side, state] for side in SIDES) for state in states.meanings}
    remark(f"errors: {', '.join(f'{number:,} {state}' for state, number in listed.items())}")
    remark(f"listed: {in_words(choice)}")
    return result, listed


def _check(options: argparse.Namespace) -> None:
    """Raise `CluevalError` for options that do not apply to two systems, and for an output that cannot be written."""
    for name in _ONLY_ONE:
        if getattr(options, name) not in (None, False):
            raise UsageError(
                f"--{name.replace('_', '-')} does not apply to two systems",
                advice="give one system, or only --html",
            )
    if options.metric not in (None, "exact", "levels"):
        raise UsageError(f"--metric {options.metric} does not apply to two systems", advice="leave it out")
    if Path("-") in (options.gold, options.predicted, options.second):
        raise UsageError(
            "two systems are read from files, not from standard input", advice="give three paths"
        )
    if options.html is None:
        raise UsageError(
            "the errors of two systems are shown as a web page",
            advice="add --html FILE; clueval diff compares two runs in the terminal",
        )
