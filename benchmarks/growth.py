"""Measures how the cost of each metric, report and command grows on hostile documents of doubled sizes.

Every job of `JOBS` is called on every shape of `SHAPES` with ``--size`` spans per side, with twice that, and so on,
each time in a process of its own. The table has the seconds of processor time at the last two sizes and the
*power*, the logarithm to base 2 of their ratio: 1 is linear, 2 is quadratic, n log n has a power of about 1.1. A
call that takes longer than ``--limit`` seconds is stopped, and its row has a remark. Below `NOISE` seconds, there is
no power.

    python benchmarks/growth.py
    python benchmarks/growth.py --shapes nested points --jobs gate fair --size 500 --doublings 3

POSIX only.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import resource
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any, NamedTuple

from measure import environment, progress

from clueval import Document, Span, match_spans, merge_layers, overlap_components, score
from clueval.compat.faireval.config import FairEvalConfig, render_faireval
from clueval.core.metric import AnyMetric
from clueval.files.errors import CluevalError
from clueval.metrics.gate import Gate
from clueval.metrics.partial import Partial
from clueval.reports import FORMS
from clueval.studies.conventions import conventions
from clueval.studies.errors.rows import error_table
from clueval.studies.errors.study import errors
from clueval.transforms.projection import project

NOISE = 0.02
"""The ratio of two times below this number of seconds says nothing."""

# --- shapes ------------------------------------------------------------------------------------------------


class Case(NamedTuple):
    """The documents of both sides."""

    gold: list[Document]
    predicted: list[Document]

    @property
    def sides(self) -> tuple[Sequence[Span], Sequence[Span]]:
        """The spans of the first layer of the first documents."""
        own, other = self.gold[0].layers, self.predicted[0].layers
        return list(next(iter(own.values()))), list(next(iter(other.values())))


def _case(gold: list[Span], predicted: list[Span]) -> Case:
    length = max(span.end for span in [*gold, *predicted]) + 1
    return Case([_document("1", {"label": gold}, length)], [_document("1", {"label": predicted}, length)])


def _document(name: str, layers: dict[str, list[Span]], length: int) -> Document:
    return Document(name, layers, tokens=[f"w{place}" for place in range(length)])


def _span(number: int, start: int, end: int, label: str = "A") -> Span:
    """Return a span with a score of its own."""
    return Span(start, end, label, {"score": number / 1e6, "kind": label}, id=number)


def points(size: int) -> Case:
    """All spans have zero length and the same position."""
    return _case([_span(n, 5, 5) for n in range(size)], [_span(n, 5, 5, "AB"[n % 2]) for n in range(size)])


def many_points(size: int) -> Case:
    """Spans of zero length, half of them at one position, the others at different ones, and a span over all."""
    own = [_span(n, 5 if n % 2 else n, 5 if n % 2 else n) for n in range(size)]
    return _case([_span(size, 0, size + 9), *own], list(own))


def same(size: int) -> Case:
    """All spans have the same range, which is not empty."""
    return _case([_span(n, 5, 9) for n in range(size)], [_span(n, 5, 9, "AB"[n % 2]) for n in range(size)])


def nested(size: int) -> Case:
    """Each span is within the one before; predicted spans end one position later."""
    whole = 2 * size + 2
    gold = [_span(n, n, whole - n) for n in range(size)]
    return _case(gold, [_span(n, n, whole + 1 - n, "AB"[n % 2]) for n in range(size)])


def labels(size: int) -> Case:
    """Every span has a label of its own; gold and predicted have different labels."""
    gold = [_span(n, 3 * n, 3 * n + 2, f"G{n}") for n in range(size)]
    return _case(gold, [_span(n, 3 * n, 3 * n + 2, f"P{n}") for n in range(size)])


def nested_labels(size: int) -> Case:
    """Nested spans, each with a label of its own."""
    gold, predicted = nested(size).sides
    return _case(
        *([_span(n, s.start, s.end, f"L{n}") for n, s in enumerate(side)] for side in (gold, predicted))
    )


def long_labels(size: int) -> Case:
    """Ten labels have a length of `size` characters."""
    names = [f"{n}" + "x" * size for n in range(10)]
    gold = [_span(n, 3 * n, 3 * n + 2, names[n % 10] if n < 10 else "A") for n in range(size)]
    return _case(gold, [_span(n, 3 * n, 3 * n + 2, names[-n % 10] if n < 10 else "B") for n in range(size)])


def touching(size: int) -> Case:
    """Spans without gaps, the predicted ones one position later, so that overlaps connect all spans."""
    gold = [_span(n, 3 * n, 3 * n + 3) for n in range(size)]
    return _case(gold, [_span(size - n, 3 * n + 1, 3 * n + 4, "AB"[n % 2]) for n in range(size)])


def giant(size: int) -> Case:
    """One gold span over all positions, each of which is a predicted span."""
    return _case([_span(0, 0, size)], [_span(n, n, n + 1) for n in range(size)])


def crossing(size: int) -> Case:
    """Every span overlaps the sixty before and after it."""
    gold = [_span(n, n, n + 60) for n in range(size)]
    return _case(gold, [_span(n, n + 1, n + 61, "AB"[n % 2]) for n in range(size)])


def layers(size: int) -> Case:
    """A layer for every span."""
    own = {f"layer{n}": [_span(n, 3 * n, 3 * n + 2)] for n in range(size)}
    other = {f"layer{n}": [_span(n, 3 * n, 3 * n + 3, "B")] for n in range(size)}
    return Case([_document("1", own, 3 * size + 3)], [_document("1", other, 3 * size + 3)])


def documents(size: int) -> Case:
    """A document for every span."""
    sides = [[_document(f"{n}", {"label": [_span(n, 0, end)]}, 3) for n in range(size)] for end in (1, 2)]
    return Case(*sides)


SHAPES: dict[str, Callable[[int], Case]] = {
    "points": points,
    "many-points": many_points,
    "same": same,
    "nested": nested,
    "labels": labels,
    "nested-labels": nested_labels,
    "long-labels": long_labels,
    "touching": touching,
    "giant": giant,
    "crossing": crossing,
    "layers": layers,
    "documents": documents,
}

# --- jobs --------------------------------------------------------------------------------------------------

Job = Callable[[Case], object]


def _scored(*metrics: str | AnyMetric, merge: bool = False, by: tuple[str, ...] = ()) -> Job:
    """Return a job that scores and creates the report."""

    def job(case: Case) -> object:
        return score(case.gold, case.predicted, metrics=metrics, merge=merge, by=by).to_dict()

    return job


def _shown(*metrics: str | AnyMetric) -> Job:
    """Return a job that renders the report in every form."""

    def job(case: Case) -> object:
        result = score(case.gold, case.predicted, metrics=metrics)
        return sum(len(result.render(form)) for form in FORMS) + len(result._repr_html_())

    return job


def _faireval(case: Case) -> object:
    report = score(case.gold, case.predicted, metrics=("fair",)).metrics["fair"]
    settings = FairEvalConfig("target.csv", "system.csv")
    return [render_faireval(each, settings, ()) for each in report.values()]


def _every(function: Callable[[Document, Document], Iterator[Any]]) -> Job:
    def job(case: Case) -> object:
        return sum(1 for own, other in zip(*case, strict=True) for _ in function(own, other))

    return job


def _errors_of(**options: Any) -> Job:
    def job(case: Case) -> object:
        return sum(len(place.findings) for place in errors(case.gold, case.predicted, **options))

    return job


def _error_table(case: Case) -> object:
    return list(error_table(case.sides[0], case.gold[0], case.predicted[0]))


def _merged(case: Case) -> object:
    return [list(merge_layers(document.layers)) for document in case.gold]


def _lists(case: Case) -> Case:
    """Return the first layer of the first documents, with a list for every four predicted spans."""
    own, other = (list(side) for side in case.sides)
    size = len(other)
    for first in range(0, size, 4):
        group = other[first : first + 4]
        ids = [span.id for span in group]
        other.append(Span(group[0].start, group[0].end, "List", {"ids": ids}, id=2 * size + 1 + first))
    length = max(span.end for span in [*own, *other]) + 1
    return Case(*([_document("1", {"label": side}, length)] for side in (own, other)))


def _of_lists(**settings: Any) -> Job:
    """Return a job that evaluates candidate lists."""
    metric = Gate(types=("A",), features=("kind",), list_type="List", edge_feature="ids", **settings)
    job = _scored(metric)
    return lambda case: job(_lists(case))


JOBS: dict[str, Job] = {
    "levels": _scored("levels"),
    "levels merged": _scored("levels", merge=True),
    "exact": _scored("exact"),
    "confusion": _scored("confusion"),
    "fair": _scored("fair"),
    "muc": _scored("muc"),
    "partial": _scored(Partial(glue=True)),
    "noisy": _scored("noisy"),
    "gate": _scored("gate"),
    "gate features": _scored(Gate(features=("kind",))),
    "gate subsumption": _scored(Gate(features=("kind",), feature_comparison="subsumption")),
    "gate by-response": _scored(Gate(pairing="by-response")),
    "gate by-target": _scored(Gate(pairing="by-target")),
    "gate by": _scored(Gate(by=("kind",))),
    "gate 11 thresholds": _scored(Gate(score_feature="score", thresholds="11")),
    "gate rounded": _scored(Gate(score_feature="score", thresholds="rounded")),
    "gate thresholds": _scored(Gate(score_feature="score")),
    "gate lists by score": _of_lists(score_feature="score"),
    "gate lists by rank": _of_lists(),
    "by document": _scored("exact", by=("document",)),
    "show levels": _shown("levels"),
    "show exact": _shown("exact"),
    "show confusion": _shown("confusion"),
    "show fair": _shown("fair"),
    "show muc": _shown("muc"),
    "show gate": _shown("gate"),
    "FairEval's report": _faireval,
    "conventions": lambda case: str(conventions(case.gold, case.predicted)),
    "errors": _errors_of(),
    "errors of fair": _errors_of(metric="fair"),
    "error_table": _error_table,
    "merge": _merged,
    "match_spans": lambda case: match_spans(*case.sides),
    "components": lambda case: list(overlap_components([*case.sides[0], *case.sides[1]])),
    "align": _every(lambda own, other: iter([project(own, other)])),
}

# --- measuring ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Point:
    """Seconds and MiB of one call; None if it was stopped or ended with an error."""

    seconds: float | None
    memory: int = 0
    error: str = ""


def measured(shape: str, job: str, size: int, limit: float) -> Point:
    """Measure one call in a process of its own, which is stopped after `limit` seconds."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(shape, job, size, sender))
    process.start()
    sender.close()
    try:
        point = receiver.recv() if receiver.poll(limit) else Point(None, error="stopped")
    except EOFError:
        point = Point(None, error="ended without a result")
    process.kill()
    process.join()
    return point


def _child(shape: str, job: str, size: int, sender: Any) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    case = SHAPES[shape](size)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = process_time()
    try:
        JOBS[job](case)
    except CluevalError as error:
        sender.send(Point(None, error=str(error)[:60]))
    except MemoryError:
        sender.send(Point(None, error="over 4 GiB"))
    else:
        seconds = process_time() - started
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        sender.send(Point(seconds, grown >> 10))


def row(shape: str, job: str, size: int, doublings: int, limit: float) -> list[str]:
    """Return the figures of one job on one shape, as cells."""
    progress(f"{shape}: {job}")
    found: list[Point] = []
    for doubling in range(doublings + 1):
        found.append(measured(shape, job, size << doubling, limit))
        if found[-1].seconds is None:
            break
    last = found[-1]
    times = [point.seconds for point in found if point.seconds is not None][-2:]
    power = math.log2(times[1] / times[0]) if len(times) == 2 and times[1] > NOISE else None
    return [
        shape,
        job,
        *[
            f"{size << number:,}: {point.seconds:.3f}"
            for number, point in enumerate(found)
            if point.seconds is not None
        ][-2:],
        "" if power is None else f"{power:.2f}",
        f"{last.memory}",
        last.error and f"{size << len(found) - 1:,}: {last.error}",
    ]


_HEADER = ["shape", "job", "seconds", "at twice that", "power", "MiB", "remark"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description="How the cost of each job grows on hostile documents.")
    parser.add_argument("--size", type=int, default=1_000, help="spans a side, to begin with (%(default)s)")
    parser.add_argument("--doublings", type=int, default=2, help="how often it is doubled (%(default)s)")
    parser.add_argument("--limit", type=float, default=20, help="seconds a call may take (%(default)s)")
    parser.add_argument(
        "--above", type=float, metavar="POWER", help="only rows with this power or more, and with a remark"
    )
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES), metavar="SHAPE")
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS), metavar="JOB")
    options = parser.parse_args(arguments)
    print(environment(["clueval"]))
    print()
    for cells in (_HEADER, ["---"] * len(_HEADER)):
        print("| " + " | ".join(cells) + " |")
    for shape in options.shapes:
        for job in options.jobs:
            cells = row(shape, job, options.size, options.doublings, options.limit)
            cells[2:2] = [""] * (len(_HEADER) - len(cells))
            if cells[-1] or options.above is None or float(cells[4] or 0) >= options.above:
                print("| " + " | ".join(cells) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
