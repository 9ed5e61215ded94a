"""Measures how the cost of single functions grows with the number of spans in one document, in memory.

Every function of `JOBS` is called in this process on the shapes of `SHAPES`, with all spans in **one** document, at
two sizes. The table has median milliseconds (minimum and maximum in brackets), the growth from the smaller size to
the larger (ten is linear, a hundred is quadratic), and the peak memory that Python allocates during a call at the
larger size, without its input. At a third, smaller size, the function is compared with its naive version, which scans
all spans for each span; if their results differ, there are no figures.

See ``README.md`` for the caveats, and ``instead.py`` for alternatives to these functions.

    python benchmarks/structures.py
    python benchmarks/structures.py --sizes 1000 10000 --bearable 500 --runs 2
"""

from __future__ import annotations

import argparse
import gc
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from time import perf_counter
from typing import Any, NamedTuple

from generate import Corpus, stretches
from measure import Spread, environment, progress
from rivals import fair_by_lists

from clueval.core.span import DEFAULT_LAYER, Span
from clueval.findings.table import Finding, error_table
from clueval.first.metrics.counting import Tally
from clueval.first.metrics.exact import Exact
from clueval.first.metrics.fair import Fair
from clueval.first.metrics.gate import Gate
from clueval.first.metrics.levels import Levels
from clueval.first.metrics.metric import Side
from clueval.first.metrics.partial import Partial
from clueval.spans.components import overlap_components
from clueval.spans.document import Document, Sentence
from clueval.spans.matching import Match, match_spans
from clueval.spans.merging import merge_layers

PROBLEMS = 10_000
"""The maximum number of rows of an error table."""

SENTENCE = 25
"""Tokens of a sentence in the document of an error table."""

LABELS = ("PER", "LOC", "ORG")
LAYERS = ("a", "b", "c")
PAIRED = ("incorrect_partial", "incorrect_strict", "correct_partial", "correct_strict")
"""GATE's names of the pairs, by their value from 0 to 3."""


class Different(RuntimeError):
    """The results of a function and its naive version differ, so there are no figures."""


# --- shapes ------------------------------------------------------------------------------------------------


class Plain(NamedTuple):
    """A span of the naive versions."""

    start: int
    end: int
    label: str


@dataclass
class Case:
    """The two sides of one document, and further values, which are created once when they are needed."""

    gold: list[Span]
    predicted: list[Span]

    @cached_property
    def sides(self) -> tuple[Side, Side]:
        return Side(self.gold), Side(self.predicted)

    @cached_property
    def plain(self) -> tuple[list[Plain], list[Plain]]:
        gold, predicted = (
            [Plain(s.start, s.end, s.label) for s in side] for side in (self.gold, self.predicted)
        )
        return gold, predicted

    @cached_property
    def layers(self) -> dict[str, list[Span]]:
        """Three layers: gold, predicted, and gold again."""
        return dict(zip(LAYERS, (self.gold, self.predicted, self.gold), strict=True))

    @cached_property
    def documents(self) -> tuple[Document, Document]:
        """Predicted and gold with tokens, in sentences."""
        end = max(span.end for side in (self.gold, self.predicted) for span in side)
        tokens = [f"w{number % 1000}" for number in range(end)]
        sentences = [Sentence(start, min(start + SENTENCE, end)) for start in range(0, end, SENTENCE)]
        own, other = (
            Document("d", {DEFAULT_LAYER: side}, tokens=tokens, sentences=sentences)
            for side in (self.predicted, self.gold)
        )
        return own, other

    @cached_property
    def problems(self) -> list[Span]:
        """Correct and spurious predicted spans of the whole document."""
        return self.predicted[:: -(-len(self.predicted) // PROBLEMS)]


def _row(n: int, step: int, length: int, first: int = 0) -> list[Span]:
    """Return spans of one length at equal distances, with alternating labels."""
    return [Span(first + step * i, first + step * i + length, LABELS[i % len(LABELS)]) for i in range(n)]


def _ordinary(n: int) -> Case:
    sides: tuple[list[Span], list[Span]] = ([], [])
    first = 0
    for stretch in stretches(Corpus(4 * n, format="fair-spans", density=300_000)):
        for side, (marks,) in zip(sides, (stretch.gold, stretch.predicted), strict=True):
            side.extend(Span(first + mark.start, first + mark.end, mark.label) for mark in marks)
        first += len(stretch.words)
    gold, predicted = (side[:n] for side in sides)
    return Case(gold, predicted)


def _over(n: int) -> Span:
    return Span(0, 3 * n, LABELS[0])


SHAPES: dict[str, Callable[[int], Case]] = {
    "ordinary": _ordinary,
    "shifted": lambda n: Case(_row(n, 3, 2), _row(n, 3, 2, first=1)),
    "touching": lambda n: Case(_row(n, 2, 2), _row(n, 2, 2, first=1)),
    "one over all": lambda n: Case([_over(n)], _row(n, 3, 2)),
    "among others": lambda n: Case([_over(n), *_row(n - 1, 3, 2)], _row(n, 3, 2, first=1)),
}
"""`n` spans a side. *ordinary*: an error in 20 % of the sentences. *shifted*: every span is one position off, with
gaps between. *touching*: the same without gaps, so that overlaps connect all spans. *one over all*: gold is a
single span over all predicted spans. *among others*: as *shifted*, with a gold span over all the others."""

NESTED = ("among others",)
"""Shapes in which spans of one side overlap, which not every function allows."""


# --- naive versions ----------------------------------------------------------------------------------------


def same_range(one: Plain, other: Plain) -> bool:
    return one.start == other.start and one.end == other.end


def overlap(one: Plain, other: Plain) -> bool:
    return one.start < other.end and other.start < one.end


def naive_matches(own: Sequence[Plain], others: Sequence[Plain]) -> Iterator[tuple[str, str | None]]:
    """Yield the class of each span and the joined label of its match."""
    rest = [other for other in others if not any(same_range(other, span) for span in own)]
    for span in own:
        exact = [other for other in others if same_range(span, other)]
        yield naive_match(span, exact or sorted(other for other in rest if overlap(span, other)))


def naive_match(span: Plain, over: Sequence[Plain]) -> tuple[str, str | None]:
    """Return the class of a span and the joined label, given the spans that overlap it, by position."""
    gap = any(one.end != other.start for one, other in pairwise(over))
    if not over or gap or over[0].start > span.start or over[-1].end < span.end:
        return "missed", None
    kind = "overlap"
    if same_range(span, Plain(over[0].start, over[-1].end, "")):
        kind = "tiling" if len(over) > 1 else "exact"
    elif len(over) == 1:
        kind = "superset"
    return kind, naive_label(span, over)


def naive_label(span: Plain, over: Iterable[Plain]) -> str | None:
    """Return the label with most positions inside a span; of equal ones, the earliest."""
    positions: Counter[str] = Counter()
    for other in over:
        positions[other.label] += min(span.end, other.end) - max(span.start, other.start)
    return max(positions, key=positions.__getitem__, default=None)


def naive_levels(case: Case) -> Tally:
    tally: Tally = Counter()
    for side, own, other in (("gold", *case.plain), ("predicted", *case.plain[::-1])):
        for span, (kind, label) in zip(own, naive_matches(own, other), strict=True):
            tally[side, span.label, kind, label == span.label] += 1
    return tally


def naive_components(spans: Iterable[Plain]) -> list[list[Plain]]:
    """Return the components; each span joins the components with spans that overlap it."""
    components: list[list[Plain]] = []
    for span in spans:
        joined, apart = [span], []
        for component in components:
            if any(overlap(span, other) or same_range(span, other) for other in component):
                joined += component
            else:
                apart.append(component)
        components = [*apart, joined]
    return sorted(map(sorted, components))


def naive_merged(case: Case) -> list[tuple[Any, ...]]:
    """Return start, end and the label in each layer; labels include their layer to distinguish spans."""
    gold, predicted = case.plain
    layers = dict(zip(LAYERS, (gold, predicted, gold), strict=True))
    spans = [s._replace(label=f"{layer} {s.label}") for layer, side in layers.items() for s in side]
    merged: list[tuple[Any, ...]] = []
    for component in naive_components(spans):
        whole = Plain(component[0].start, max(span.end for span in component), "")
        labels = [naive_label(whole, (s for s in component if s.label[0] == layer)) for layer in layers]
        merged.append((whole.start, whole.end, *(label and label[2:] for label in labels)))
    return merged


def naive_exact(case: Case) -> Tally:
    """Return the number of spans of each label, and how many of them the other side also has."""
    tally: Tally = Counter()
    for side, own, others in (("gold", *case.plain), ("predicted", *case.plain[::-1])):
        for span in own:
            tally[side, span.label] += 1
            tally[f"tp_{side}", span.label] += any(other == span for other in others)
    return tally


def naive_fair(case: Case) -> Tally:
    """Return the fair counts of the list version, by label and type of error."""
    targets, systems = (
        [fair_by_lists.Span(s.label, s.start + 1, s.end, set(range(s.start + 1, s.end + 1))) for s in side]
        for side in case.plain
    )
    counts = fair_by_lists.Counts()
    fair_by_lists.count_fair(targets, systems, counts)
    return Counter[tuple[Any, ...]](counts)


def naive_partial(case: Case) -> Tally:
    gold, predicted = map(sorted, case.plain)
    tally: Tally = Counter(("gold", span.label) for span in gold)
    tally.update(("predicted", span.label) for span in predicted)
    for match in (same_range, overlap):
        left = []
        for span in predicted:
            for place, other in enumerate(gold):
                if other.label == span.label and match(span, other):
                    shared = min(span.end, other.end) - max(span.start, other.start)
                    longest = max(span.end - span.start, other.end - other.start)
                    if match is same_range:
                        tally["exact", span.label] += 1
                    else:
                        tally["shared", span.label, longest] += shared
                    del gold[place]
                    break
            else:
                left.append(span)
        predicted = left
    return tally


def naive_gate(case: Case) -> Tally:
    """Return the pairs by their name, over all types and for each type."""
    gold, predicted = (sorted(side, key=lambda span: span[:2]) for side in case.plain)
    tally: Tally = Counter({("all", PAIRED[value]): n for value, n in _naive_pairs(gold, predicted).items()})
    for label in {span.label for span in (*gold, *predicted)}:
        own, other = ([span for span in side if span.label == label] for side in (gold, predicted))
        tally.update({("type", label, PAIRED[value]): n for value, n in _naive_pairs(own, other).items()})
    return tally


def _naive_pairs(gold: Sequence[Plain], predicted: Sequence[Plain]) -> Counter[int]:
    """Return the number of chosen pairs of each value: all pairs are listed, and the best score is chosen first."""
    listed = []
    of_gold: Counter[int] = Counter()
    of_predicted: Counter[int] = Counter()
    for i, one in enumerate(gold):
        for j, other in enumerate(predicted):
            same = same_range(one, other)
            if same or overlap(one, other):
                value = 2 * (one.label == other.label) + same
                listed.append((value, i, j))
                of_gold[i] += value
                of_predicted[j] += value
    taken: Counter[int] = Counter()
    for _, j, i, value in sorted(((3 * v - of_gold[i] - of_predicted[j], j, i, v) for v, i, j in listed))[
        ::-1
    ]:
        if i in of_gold and j in of_predicted:
            del of_gold[i], of_predicted[j]
            taken[value] += 1
    return taken


def naive_table(case: Case) -> list[tuple[Any, ...]]:
    """Return the result of `shown` for each row."""
    gold, _ = case.plain
    document = case.documents[0]
    tokens = document.tokens or ()
    rows: list[tuple[Any, ...]] = []
    for problem in case.problems:
        span = Plain(problem.start, problem.end, problem.label)
        over = sorted(other for other in gold if overlap(span, other))
        kind, label = naive_match(span, over)
        start, end = min([span.start, *(s.start for s in over)]), max([span.end, *(s.end for s in over)])
        around = [s for s in document.sentences if s.start < end and start < s.end]
        text = tokens[max(around[0].start, span.start - 300) : min(around[-1].end, span.end + 300)]
        texts = tuple(" ".join(tokens[s.start : s.end]) for s in over)
        rows.append(
            (span.start, "partial" if over and kind == "missed" else kind, label, texts, " ".join(text))
        )
    return rows


def shown(row: Finding) -> tuple[Any, ...]:
    return row.start, row.kind, row.found.get(DEFAULT_LAYER), row.other_texts, row.context.text


# --- what is measured --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Job:
    """A function, its naive version, and the part of its result that the naive version also returns."""

    ours: Callable[[Case], Any]
    naive: Callable[[Case], Any]
    plain: Callable[[Any], Any] = lambda result: result
    nested: bool = False


def _plain_matches(matches: Iterable[Match]) -> list[tuple[str, str | None]]:
    return [(match.kind, match.labels.get(DEFAULT_LAYER)) for match in matches]


def _plain_components(components: Iterable[Iterable[Span]]) -> list[list[Plain]]:
    return sorted(sorted(Plain(s.start, s.end, s.label) for s in component) for component in components)


def _plain_fair(tally: Tally) -> Tally:
    per_label = Fair().scores(tally, [DEFAULT_LAYER])["per_label"]
    counts = {label: versions["fair"] for label, versions in per_label.items()}
    return Counter({(label, kind): counts[label][kind] for label in counts for kind in fair_by_lists.FAIR})


JOBS: dict[str, Job] = {
    "match_spans": Job(
        lambda case: match_spans(case.gold, case.predicted),
        lambda case: list(naive_matches(*case.plain)),
        _plain_matches,
    ),
    "overlap_components": Job(
        lambda case: overlap_components((*case.gold, *case.predicted)),
        lambda case: naive_components((*case.plain[0], *case.plain[1])),
        _plain_components,
        nested=True,
    ),
    "merge_layers": Job(
        lambda case: merge_layers(case.layers),
        naive_merged,
        lambda merged: [(span.start, span.end, *span.labels.values()) for span in merged],
    ),
    "levels": Job(
        lambda case: Levels().count(*case.sides),
        naive_levels,
        lambda tally: Counter({(key[1], *key[3:]): n for key, n in tally.items() if key[0] == "label"}),
    ),
    "exact": Job(
        lambda case: Exact().count(*case.sides),
        naive_exact,
        lambda tally: Counter({key: n for key, n in tally.items() if key[0] != "positions"}),
    ),
    "fair": Job(lambda case: Fair().count(*case.sides), naive_fair, _plain_fair, nested=True),
    "partial": Job(lambda case: Partial().count(*case.sides), naive_partial),
    "gate": Job(
        lambda case: Gate().count(*case.sides),
        naive_gate,
        lambda tally: Counter({key: n for key, n in tally.items() if key[-1] in PAIRED}),
        nested=True,
    ),
    "error_table": Job(
        lambda case: list(error_table(case.problems, *case.documents)),
        naive_table,
        lambda rows: list(map(shown, rows)),
    ),
}
"""The functions by name; metrics count one document."""


def seconds(function: Callable[[Case], Any], case: Case, runs: int) -> Spread:
    """Return the seconds that a function takes, with the garbage of the previous call collected."""
    taken = []
    for _ in range(runs):
        gc.collect()
        start = perf_counter()
        function(case)
        taken.append(perf_counter() - start)
    return Spread.of(taken)


def peak(function: Callable[[Case], Any], case: Case) -> int:
    """Return the peak number of bytes that Python allocates during a call, beyond those allocated before."""
    gc.collect()
    tracemalloc.start()
    try:
        function(case)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def require_same(name: str, job: Job, case: Case) -> float:
    """Return the seconds of one call of the naive version. Raises `Different` if the results differ."""
    start = perf_counter()
    expected = job.naive(case)
    taken = perf_counter() - start
    if job.plain(job.ours(case)) != expected:
        raise Different(f"{name} and its naive version do not give the same")
    return taken


class Sizes(NamedTuple):
    """Spans per side: the size for the naive version, and the two sizes between which growth is measured."""

    bearable: int
    small: int
    large: int


def row(name: str, shape: str, sizes: Sizes, runs: int) -> list[str]:
    """Measure one function on one shape: a row of the table."""
    job = JOBS[name]
    cases = [SHAPES[shape](size) for size in sizes]
    naive = require_same(f"{name} ({shape})", job, cases[0])
    spreads = []
    for case in cases:
        job.ours(case)  # creates cached values
        spreads.append(seconds(job.ours, case, runs))
    bearable, small, large = spreads
    return [
        name,
        shape,
        bearable.show(unit=1e-3, digits=1),
        f"{naive * 1e3:,.0f}",
        f"{naive / bearable.median:,.0f}",
        small.show(unit=1e-3, digits=1),
        large.show(unit=1e-3, digits=0),
        f"{large.median / small.median:.1f}",
        f"{peak(job.ours, cases[-1]) / 2**20:.1f}",
    ]


def table(jobs: Iterable[str], shapes: Sequence[str], sizes: Sizes, runs: int) -> str:
    """Return a Markdown table with a row for each function and shape that it allows. Raises `Different`."""
    times = [f"{size:,}: ms" for size in sizes]
    header = ["function", "shape", times[0], "naive ms", "naive / it", *times[1:], "growth", "peak MiB"]
    rows = [header, ["---", "---", *("---:" for _ in header[2:])]]
    for name in jobs:
        for shape in shapes:
            if JOBS[name].nested or shape not in NESTED:
                progress(f"{name}: {shape}")
                rows.append(row(name, shape, sizes, runs))
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Measure how the cost of functions over spans grows, in memory."
    )
    parser.add_argument(
        "--sizes",
        nargs=2,
        type=int,
        default=(10_000, 100_000),
        metavar=("SMALL", "LARGE"),
        help="spans a side (10000 100000)",
    )
    parser.add_argument(
        "--bearable", type=int, default=2_000, help="spans a side for the naive versions (%(default)s)"
    )
    parser.add_argument("--runs", type=int, default=3, help="counted calls of each function (%(default)s)")
    for name, choices in (("functions", JOBS), ("shapes", SHAPES)):
        parser.add_argument(
            f"--{name}",
            nargs="+",
            choices=choices,
            default=list(choices),
            metavar="NAME",
            help=", ".join(choices),
        )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print the table; return 2 if a function and its naive version differ."""
    parser = _parser()
    options = parser.parse_args(arguments)
    sizes = Sizes(options.bearable, *options.sizes)
    if min(*sizes, options.runs) < 1:
        parser.error("sizes and runs must be at least 1")
    try:
        figures = table(options.functions, options.shapes, sizes, options.runs)
    except Different as error:
        print(f"structures.py: {error}", file=sys.stderr)
        return 2
    settings = f"* spans a side: {', '.join(f'{size:,}' for size in sizes)}; {options.runs} calls; median ms"
    print(f"{environment(('clueval', 'intervaltree'))}\n{settings} (least-greatest)", figures, sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
