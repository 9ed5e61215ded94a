"""The numbers of reports: what their names mean, and their paths.

The path of a number is its metric, its sequence and its place in the report, as ``levels.entity.unlabelled.4.recall``.
Names may hold dots themselves, so the path that a user writes is matched against the names that there are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from clueval.core.levels import KINDS
from clueval.core.metric import RATES
from clueval.files.errors import UsageError, cut_label
from clueval.files.options import require_kind
from clueval.metrics import LABELS_BELOW, METRICS, MICRO, Path, headline_paths

# Fractions

_FRACTION = re.compile(
    r"(?:.*\.)?(?!documents_)(?:\w+_)?(?:precision|recall|f[\d.]*|accuracy|upper|share|retention)(?:_\w+)?"
)


def is_fraction(path: str) -> bool:
    """Return whether a number of a report is a fraction, by its name or its path.

    >>> is_fraction("f0.5_strict"), is_fraction("masking.entity.f.2"), is_fraction("documents_with_recall")
    (True, True, False)
    """
    return _FRACTION.fullmatch(path) is not None


def require_fraction(score: str, path: str, limit: float) -> None:
    """Raise `UsageError` for a limit above 1 of a fraction; tables show percentages."""
    if limit > 1 and is_fraction(path):
        advice = f"write {score}={limit / 100:g}" if limit <= 100 else "write a number from 0 to 1"
        raise UsageError(f"{score} is a fraction, and {limit:g} is above 1", advice=advice)


def require_least(score: str, limit: float) -> None:
    """Raise `UsageError` for a limit that no score is under."""
    if limit < 0:
        raise UsageError(f"{score} is never below {limit:g}", advice="write a number from 0")


# The path that a user writes

_LEFT_OUT = ("micro", *LABELS_BELOW)
"""Names that may be left out of a path, besides the metric and the sequence."""


def whole_path(reports: Mapping[str, Any], text: str) -> Path:
    """Return the path of a number, from the metric on; of ``f1``, that of the headline.

    Names that are clear from the others may be left out (`_optional_names`), as in ``exact.PER.f1``; of a headline, all
    but its metric and sequence, and if a text can mean a headline, it does.

    A path that begins with the name of a metric means this metric, not a part of another one with the same name, as
    ``exact`` in ``muc``; if the metric was not counted, the error names both. Raises `UsageError` for a path without
    a number, and names the nearest; and if two can be meant.

    >>> reports = {"exact": {"a.b": {"micro": {"f1": 0.5}}}}
    >>> whole_path(reports, "exact.a.b.micro.f1"), whole_path(reports, "micro.f1")
    (('exact', 'a.b', 'micro', 'f1'), ('exact', 'a.b', 'micro', 'f1'))
    """
    require_kind(text, "str", "the path of a score")
    paths = list(paths_of(reports, text))
    if len(paths) > 1:
        problem = f"{text!r} can mean {len(paths)} scores, because names have dots"
        raise UsageError(problem, advice="rename one")
    if paths:
        return paths[0]
    short = [
        (metric, sequence, *path)
        for metric, sequences in reports.items()
        for sequence, report in sequences.items()
        for path in paths_of(report, text)
    ]
    metric = text.partition(".")[0]
    if text in RATES and len(short) != 1:
        paths = [path for path in headline_paths(reports) if text in path[-1].split("_")]
    elif metric in reports or not short:
        for path in headline_paths(reports):
            rate = path[-1].removesuffix("_strict")
            if text in (f"{path[0]}.{rate}", f"{path[1]}.{rate}", f"{path[0]}.{path[1]}.{rate}"):
                paths.append(path)
        paths = paths or [
            path for path, _ in numbers_in(reports) if _fits(text, path, _optional_names(path, text))
        ]
        if not paths:
            raise UsageError(f"there is no score {text!r}", advice=_advice(reports, text))
    else:
        others = dict.fromkeys(path[0] for path in short)
        if metric in METRICS.keys() - others:
            raise UsageError(
                f"{text!r} can mean the metric {metric}, or a part of {', '.join(others)}",
                advice=f"write it in full: {_join_paths(short)}",
            )
        paths = short
    if len(paths) != 1:
        raise UsageError(
            f"{text!r} can mean {len(paths) or 'no'} score{'s' * (len(paths) != 1)}",
            advice=f"one of {_join_paths(paths)}" if paths else "name it by its path",
        )
    return paths[0]


def paths_of(report: object, text: str) -> Iterator[Path]:
    """Yield the paths of numbers that a text can mean."""
    if not isinstance(report, Mapping):
        return
    for name, value in report.items():
        if name == text and not isinstance(value, Mapping):
            yield (name,)
        elif text.startswith(f"{name}."):
            for rest in paths_of(value, text[len(name) + 1 :]):
                yield (name, *rest)


def numbers_in(report: Mapping[str, Any], before: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield the path of each value of a report that is no dictionary, and the value."""
    for name, value in report.items():
        path = (*before, str(name))
        if isinstance(value, Mapping):
            yield from numbers_in(value, path)
        else:
            yield path, value


def _join_paths(paths: Sequence[Path]) -> str:
    return ", ".join(".".join(path) for path in paths)


# Names that are left out


def _optional_names(path: Path, text: str) -> frozenset[int]:
    """Return the numbers of the names of a path that a text may leave out.

    In the labelled part of levels, the name of the layer is one, and so is level 1, which is that of the headline.
    """
    metric, sequence, *names = path
    numbers = {number for number, name in enumerate(names, 2) if name in (*_LEFT_OUT, sequence)}
    if names[:1] == ["labelled"] and names[2:3] == ["1"] and {"labelled", "1"}.isdisjoint(text.split(".")):
        numbers |= {2, 4}
    return frozenset(numbers | {1} | (set() if text.startswith(f"{metric}.") else {0}))


def _fits(text: str, path: Path, left_out: frozenset[int], number: int = 0) -> bool:
    """Return whether a text is a path, from the name with this number on, without some that are left out."""
    name = path[number]
    if number == len(path) - 1:
        return text == name
    if text.startswith(f"{name}.") and _fits(text[len(name) + 1 :], path, left_out, number + 1):
        return True
    return number in left_out and _fits(text, path, left_out, number + 1)


# The nearest path

_BETWEEN = re.compile(r"[\W_]+")


def _advice(reports: Mapping[str, Any], text: str) -> str:
    """Return the path that is nearest: it has most words of the text, and least that is not asked for."""
    from difflib import get_close_matches  # only for names that do not exist

    metric = text.partition(".")[0]
    every = [path for path, _ in numbers_in(reports)]
    paths = [path for path in every if path[0] == metric] or every
    if not paths:
        return "nothing was counted"
    ends = {word for path in paths for word in _words(path[-1])}
    places = {word for path in paths for name in path[:-1] for word in _words(name)}
    known = sorted(ends | places)
    meant = [next(iter(get_close_matches(word, known, 1, 0.8)), word) for word in _words(text)]
    if ends.isdisjoint(meant[1:] if metric in reports else meant):
        meant.append("f1")
    headlines = set(headline_paths(reports))

    def rank(path: Path) -> tuple[float, ...]:
        end = _words(path[-1])
        place = {word for name in path[:-1] if name not in LABELS_BELOW for word in _words(name)}
        of_end, of_place = ([word for word in meant if word in names] for names in (end, place))
        unasked = [
            name for name in path[2:-1] if name not in _LEFT_OUT and set(meant).isdisjoint(_words(name))
        ]
        return len(of_end) / (len(end) or 1), len(of_place), path in headlines, -len(unasked), -len(path)

    nearest: Path = max(paths, key=rank)
    uncounted = f"the metric {metric} was not counted; " if metric in METRICS.keys() - reports.keys() else ""
    return f"{uncounted}did you mean {'.'.join(nearest)}?"


def _words(text: str) -> list[str]:
    return [word for word in _BETWEEN.split(text.casefold()) if word]


# Names of scores


def score_names(paths: Iterable[Path]) -> dict[Path, str]:
    """Return what scores are called in tables; scores that would have one name are called by their paths.

    >>> [*score_names([("exact", "label", "micro", "f1"), ("fair", "label", "overall", "fair", "recall")]).values()]
    ['exact F1', 'fair recall']
    >>> [*score_names([("levels", "a", "labelled", "a", "2", "per_label", "PER", "f1")]).values()]
    ['superset F1 (level 2) of PER']
    >>> [*score_names([("gate", "a", "per_type", "PER", "f1_strict")]).values()]
    ['gate F1 (strict) of PER']
    """
    listed = list(paths)
    several = len({path[1] for path in listed}) > 1
    names = [f"{cut_label(path[1])}: " * several + _in_words(path) for path in listed]
    return {
        path: name if names.count(name) == 1 else ".".join(path)
        for path, name in zip(listed, names, strict=True)
    }


def _in_words(path: Path) -> str:
    """Return what a score is called: the metric, the average, the rate, what is special, and the label."""
    metric, sequence, *place, last = path
    rate, _, ending = last.partition("_") if last.endswith(_OFRATES) else (last.replace("_", " "), "", "")
    label = ""
    at = next((number for number, name in enumerate(place) if name in LABELS_BELOW), None)
    if at is not None:
        label, place = f" of {cut_label(place[at + 1])}", [*place[:at], *place[at + 2 :]]
    of_level = None
    if metric == "levels" and place[:1] in (["labelled"], ["unlabelled"]):
        at = 2 if place[0] == "labelled" else 1  # behind the name of the layer, which may be a number, too
        of_level = place[at]
        metric = KINDS[int(of_level) - 1]
        place = [name for name in (*place[:at], *place[at + 1 :]) if name not in ("labelled", sequence)]
    averages = [name for name in place if name in ("macro", "weighted")]
    special = [name for name in place if name not in (*MICRO, "classes", metric, *averages)]
    special = [f"level {of_level}"] * (of_level is not None) + special + [ending] * bool(ending)
    notes = f" ({', '.join(special)})" if special else ""
    return " ".join([metric, *averages, "F1" if rate == "f1" else rate]) + notes + label


_OFRATES = ("_strict", "_lenient", "_average")
