"""The errors of two systems as one web page: the page of `clueval.findings.page`, with a state at each error.

The page begins with the number of errors in each state and the scores of both systems. Its list shows gold above
the text and below it both systems, the first one nearer to the text.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from clueval.findings.cards import card, examples
from clueval.findings.choice import SIDES, Choice, ReasonKey, in_words
from clueval.findings.page import WITHOUT_SCRIPT, PlaceLines, key_of
from clueval.findings.summary import MEANINGS, MOST_LABELS, summaries
from clueval.findings.systems import SharedPlace, States, System
from clueval.findings.table import FINDING_KINDS, REASONS
from clueval.reports.cutting import cut_label
from clueval.reports.page import assets, environment, json_inside
from clueval.reports.table import Rate
from clueval.reports.text import shown
from clueval.writing import whole_file

Counts = Counter[tuple[str, str]]
"""The number of errors by side and state; of the side `PLACES`, the number of places with an error in the state."""

PLACES = "places"


def write(
    path: Path,
    found: Iterable[SharedPlace],
    reports: Sequence[Mapping[str, Any]],
    choice: Choice,
    reasons: Sequence[Mapping[ReasonKey, int]],
    systems: Sequence[System],
    states: States,
    *,
    title: str = "Errors",
    lang: str = "",
) -> Counts:
    """Write the page, whole or not at all, and return how many errors it has.

    `reports` are the outputs of `Result.to_dict` for each system, with the metrics of the choice over the files, filter
    and merging that `found` comes from (see `clueval.findings.systems.shared_places`), which also fills `reasons` while
    the places are taken. Places are held in a file without a name. Raises `MissingExtra` without Jinja2, `FileError` if
    the file cannot be written.
    """
    jinja = environment()
    from markupsafe import Markup  # comes with Jinja

    with PlaceLines() as lines:
        counts = Counts()
        lines.take(_counted(found, counts))
        about = {
            "kinds": FINDING_KINDS,
            "reasons": REASONS,
            "matched": choice.matched,
            "expected": None,
            "key": key_of(reports[0]),
            "systems": [system.short for system in systems],
            "states": list(states.meanings),
            "stateTitle": states.title,
        }
        pieces = jinja.get_template("errors_of_two.html").generate(
            title=title,
            lang=lang,
            report=reports[0],
            choice_text=in_words(choice),
            systems=systems,
            states=states.meanings,
            counts=list(_rows(counts, states)),
            layers=list(_layers(reports, choice, reasons, systems)),
            meanings=MEANINGS,
            examples=examples(lines.first, systems),
            cards=map(partial(card, systems=systems), lines.first),
            without_script=WITHOUT_SCRIPT,
            about=Markup(json_inside(about)),
            data=map(Markup, lines),
            **assets("errors", "places", "review", "errors"),
        )
        with whole_file(path) as file:
            for piece in pieces:
                file.write(piece)
    return counts


def _counted(places: Iterable[SharedPlace], counts: Counts) -> Iterator[SharedPlace]:
    """Yield the places, and add the number of errors and places in each state to `counts`."""
    for place in places:
        counts.update((error.finding.side or "gold", error.state) for error in place.errors)
        counts.update({(PLACES, error.state) for error in place.errors})
        yield place


def _rows(counts: Counts, states: States) -> Iterator[dict[str, Any]]:
    titles = {
        "gold": "gold spans not found",
        "predicted": "predicted spans wrong",
        PLACES: "places with such errors",
    }
    for side, title in titles.items():
        cells = []
        for state in states.meanings:
            chosen = {"state": state, **({} if side == PLACES else {"side": side})}
            n = counts[side, state]
            cells.append({"n": n, "filter": json.dumps(chosen), "spoken": f"{n:,} {title}: {state}"})
        yield {"title": title, "cells": cells}


def _layers(
    reports: Sequence[Mapping[str, Any]],
    choice: Choice,
    reasons: Sequence[Mapping[ReasonKey, int]],
    systems: Sequence[System],
) -> Iterator[dict[str, Any]]:
    """Yield the summaries of both systems for each layer that both have."""
    of_systems = [
        {each["title"]: each for each in summaries(report, choice, counts)}
        for report, counts in zip(reports, reasons, strict=True)
    ]
    for title in of_systems[0]:
        if not all(title in found for found in of_systems):
            continue
        both = [found[title] for found in of_systems]
        yield {
            "title": title,
            "headlines": [
                (system.short, _headline(each)) for system, each in zip(systems, both, strict=True)
            ],
            "bars": [
                (system.short, each["sides"][side])
                for side in range(len(SIDES))
                for system, each in zip(systems, both, strict=True)
            ],
            "labels": list(islice(_labels(both), MOST_LABELS)),
        }


def _headline(summary: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the headline that the errors belong to, else the last one, which has the labels."""
    headlines: Sequence[Mapping[str, Any]] = summary["headline"]
    return next((each for each in headlines if each["chosen"]), headlines[-1])


def _labels(both: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the F1 of each label in both systems and the difference in points, the greatest difference first."""
    rows = []
    for label in dict.fromkeys(label for one in both for label in one["per_label"]):
        one, two = (each["per_label"].get(label, _NOTHING) for each in both)
        difference = None if None in (one["f1"], two["f1"]) else 100 * (two["f1"] - one["f1"])
        rows.append(
            {
                "label": cut_label(label),
                "gold": one["gold"] or two["gold"],
                "figures": [*(shown(Rate(each["f1"])) for each in (one, two)), _points(difference)],
                "order": (difference is None, -abs(difference or 0), label),
            }
        )
    return sorted(rows, key=lambda row: row["order"])


_NOTHING: Mapping[str, Any] = {"f1": None, "gold": 0}


def _points(difference: float | None) -> str:
    return "" if difference is None else f"{difference:+.2f}"
