"""Functions on values in memory do no more than their input and output grow, whatever the shape of the values.

Lines of Python that run are counted as in `test_growth`. Each job has one hostile shape: very many labels, layers,
entities, annotators, alternatives. Each function of `JOBS` makes the input for about `size` spans, and returns the work
to be measured, whose result is the output. One cost is greater by its nature, and not here: a merged span has a label
of every layer, or None.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

import pytest
from ran_lines import LIMIT, Lines

import clueval
from clueval import Document, Span
from clueval.core.exact import Exact
from clueval.files.errors import LimitError
from clueval.metrics.gate import Gate
from clueval.metrics.partial import Partial

Job = Callable[[int], Callable[[], object]]
Located = tuple[int, int, str]


def _result(gold: object, predicted: object, **given: Any) -> Callable[[], object]:
    return lambda: clueval.score(gold, predicted, **given).to_dict()  # type: ignore[arg-type]


def _texts(size: int, spans: Sequence[Span], layer: str = "label") -> list[Document]:
    """One document of tokens."""
    return [Document("d", {layer: spans}, tokens=["w"] * (4 * size + 4))]


def _sides(spans: Callable[[int, int], Sequence[Span]], size: int) -> tuple[list[Document], list[Document]]:
    gold, predicted = (_texts(size, spans(size, side)) for side in (0, 1))
    return gold, predicted


def _label_for_each(size: int, side: int) -> list[list[Located]]:
    """A document for each label, and one label that all documents have."""
    return [[(0, 2 + side * (n % 2), f"L{n}"), (4, 6, "A")] for n in range(size)]


def _documents(size: int, **given: Any) -> Callable[[], object]:
    return _result(_label_for_each(size, 0), _label_for_each(size, 1), **given)


def _filter_by_metadata_of_ten(size: int) -> Callable[[], object]:
    """Only the first ten documents have the metadata of the filter."""
    metadata = [{"k": "v"}] * 10 + [{}] * (size - 10)
    sides = [
        [
            Document(f"d{n}", {"label": [Span(0, 2 + side, "A")]}, tokens=["w"] * 4, metadata=of_document)
            for n, of_document in enumerate(metadata)
        ]
        for side in (0, 1)
    ]
    return _result(*sides, metrics="exact", where={"k": ["v"]}, intervals=True)


def _compared(size: int) -> Callable[[], object]:
    systems = [
        clueval.score(
            _label_for_each(size, 0), _label_for_each(size, side), metrics="exact", resample_by="document"
        )
        for side in (0, 1)
    ]
    return lambda: str(clueval.compare(*systems, resamples=20))


def _many_systems(size: int) -> Callable[[], object]:
    gold = [[(0, 2, "A")] for _ in range(9)]
    systems = [
        clueval.score(
            gold, [[(0, 2 + (n % 9 == d), "A")] for d in range(9)], metrics="exact", resample_by="document"
        )
        for n in range(size // 10)
    ]
    return lambda: str(clueval.compare(systems[0], systems[1:], resamples=20))


def _scored(size: int, side: int) -> list[Span]:
    """Each span has a score of its own."""
    return [
        Span(4 * n, 4 * n + 2 + side * (n % 3 == 0), f"L{n % 9}", {"score": (n * 7919 % size) / size})
        for n in range(size)
    ]


def _threshold(size: int, **given: Any) -> Callable[[], object]:
    sides = _sides(_scored, size)
    return lambda: str(clueval.threshold(*sides, score_feature="score", **given))


def _scores(size: int, **given: Any) -> Callable[[], object]:
    return _result(*_sides(_scored, size), score_feature="score", **given)


def _entities(size: int, side: int) -> list[Span]:
    """Two mentions of each entity, of which predicted leaves one unmasked."""
    return [
        Span(2 * n, 2 * n + 1 + (n % 5 == 0), "PER", {"entity_id": f"e{n // 2}"})
        for n in range(2 * size)
        if not side or n % 2
    ]


def _masking(size: int) -> Callable[[], object]:
    sides = _sides(_entities, size)
    return lambda: str(clueval.masking(*sides).to_dict())


def _layers(size: int, **given: Any) -> Callable[[], object]:
    sides = (
        [
            Document(
                "d", {f"l{n}": [Span(n, n + 1 + side, "A")] for n in range(size)}, tokens=["w"] * (size + 2)
            )
        ]
        for side in (0, 1)
    )
    return _result(*sides, **given)


def _annotators(size: int) -> Callable[[], object]:
    """Ten annotators for a hundred: each pair has its figures."""
    sources = {f"a{n}": [[(0, 2, "A"), (4, 6 + n % 2, "B")]] * 3 for n in range(size // 10)}
    return lambda: str(clueval.agree(sources).to_dict())


def _curated(size: int) -> Callable[[], object]:
    sources = {f"a{n}": [Span(0, 2 + n, f"L{n % 7}"), Span(4, 6, "A")] for n in range(size)}
    documents = {
        name: [Document("d", {"label": spans}, tokens=["w"] * (size + 9))] for name, spans in sources.items()
    }
    return lambda: [curated.document.to_dict() for curated in clueval.curate(documents)]


def _alternatives(size: int, side: int) -> list[Span]:
    """All spans are alternatives of one."""
    return [Span(n, n + 2, "A", {"group": 0}) for n in range(size)] if not side else [Span(3, 5, "A")]


def _groups(size: int, side: int) -> list[Span]:
    return (
        [Span(4 * (n // 2), 4 * (n // 2) + 2 + n % 2, "A", {"group": n // 2}) for n in range(size)]
        if not side
        else [Span(4 * n, 4 * n + 2, "A") for n in range(size // 2)]
    )


def _fragments(size: int, side: int) -> list[Span]:
    """A span of very many fragments, and many of two that cross."""
    comb = Span.of_fragments([(2 * n, 2 * n + 1) for n in range(side, size)], "A")
    return [comb, *(Span.of_fragments([(n, n + 1), (n + 9 + side, n + 10 + side)], "B") for n in range(size))]


def _apart(size: int, side: int) -> list[Span]:
    """Discontinuous spans of which none crosses another of its side."""
    return [
        Span.of_fragments([(4 * n, 4 * n + 1), (4 * n + 2, 4 * n + 3 + side * (n % 2))], "A")
        for n in range(size)
    ]


def _deep(size: int, side: int) -> list[Span]:
    """Labels of very many levels."""
    return [Span(n, n + 1, ".".join(["x"] * (n % 30) + [f"L{side * n % 5}"])) for n in range(size)]


def _nested(size: int, side: int) -> list[Span]:
    return [Span(n, 2 * size + side - n, "AB"[side * n % 2]) for n in range(size)]


def _usual(size: int, side: int) -> list[Span]:
    return [Span(4 * n, 4 * n + 1 + side * (n % 3 == 0), "AB"[n % 2]) for n in range(size)]


def _of(spans: Callable[[int, int], Sequence[Span]], **given: Any) -> Job:
    return lambda size: _result(*_sides(spans, size), **given)


def _profiled(size: int) -> Callable[[], object]:
    gold, predicted = (_label_for_each(size, side) for side in (0, 1))
    return lambda: str(clueval.profile(gold, predicted, feature="label,length").to_dict())


def _diffed(size: int) -> Callable[[], object]:
    gold, old = _sides(_usual, size)
    new = _texts(size, _entities(size, 1))
    return lambda: str(clueval.diff(gold, old, new).to_dict())


def _golds(size: int) -> Callable[[], object]:
    gold, predicted = _sides(_usual, 20)
    others = [_texts(20, _usual(20, n % 2)) for n in range(size // 10)]
    return _result(gold, predicted, metrics="exact", any_of=others)


def _renamed(size: int) -> Callable[[], object]:
    return _documents(size, metrics="exact", label_map={f"L{n}": f"M{n}" for n in range(size)} | {"A": "B"})


def _grouped(size: int) -> Callable[[], object]:
    documents = [
        [
            Document(f"{n}", {"label": [Span(0, 1 + side, "A")]}, tokens=["w", "w"], metadata={"k": f"v{n}"})
            for n in range(size)
        ]
        for side in (0, 1)
    ]
    return _result(*documents, metrics="exact", by=("k", "document"))


def _answers(size: int, **given: Any) -> Callable[[], object]:
    """Very many mentions of few names, which occur very often."""
    text = " ".join(["Ada", "saw", "Bob", "in"][n % 4] for n in range(2 * size))
    spans = [(match.start(), match.end(), "PER") for match in re.finditer("Ada|Bob", text)]
    gold = [Document("d", {"label": [Span(*span) for span in spans]}, text=text, unit="character")]
    names = [{"text": ("Ada", "Bob")[n % 2], "label": "PER"} for n in range(size)]
    return _result(gold, {"d": names}, input="mentions", metrics="exact", **given)


def _answers_inside(size: int) -> Callable[[], object]:
    """Very many mentions of two names, one of which is inside the other; there are more mentions than places."""
    gold = [Document("d", {"label": []}, text="Ada Lovelace, Ada. " * size, unit="character")]
    names = [{"text": ("Ada", "Ada Lovelace", "Ada")[n % 3], "label": "PER"} for n in range(4 * size)]
    return _result(gold, {"d": names}, input="mentions", metrics="exact")


def _absent(size: int, **given: Any) -> Callable[[], object]:
    """Very many mentions, each with another text that nearly occurs."""
    text = " ".join(f"word{n}" for n in range(size))
    gold = [Document("d", {"label": []}, text=text, unit="character")]
    names = [{"text": f"wort{n}", "label": "PER"} for n in range(size)]
    return _result(gold, {"d": names}, input="mentions", metrics="exact", **given)


def _redacted(size: int) -> Callable[[], object]:
    words = [f"word{n}" for n in range(size)]
    starts = list(accumulate((len(word) + 1 for word in words), initial=0))
    spans = [Span(start, start + len(word), "PER") for start, word in zip(starts, words, strict=False)][::2]
    gold = [Document("d", {"label": spans}, text=" ".join(words), unit="character")]
    redacted = " ".join("[PER]" if n % 2 == 0 else word for n, word in enumerate(words))
    return lambda: clueval.masking(gold, [redacted], redacted=True).to_dict()


def _errors(size: int) -> Callable[[], object]:
    sides = _sides(_usual, size)
    return lambda: [str(row) for place in clueval.errors(*sides) for row in place.findings]


def _converted(size: int) -> Callable[[], object]:
    return lambda: str(clueval.conventions(*_sides(_scored, size)))


def _recognised(size: int) -> Callable[[], object]:
    documents = [
        {"id": f"d{n}", "text": "ab cd", "spans": [{"start": 0, "end": 2, "label": "A"}]} for n in range(size)
    ]
    return _result(documents, list(reversed(documents)), metrics="exact", pair_by="id")


_WITH_GAPS = "exact", "muc", "coverage", "fair", "gate", "masking", "strings"

JOBS: dict[str, Job] = {
    "filter by metadata of ten documents, intervals": _filter_by_metadata_of_ten,
    "answers": _answers,
    "answers, inside": _answers_inside,
    "answers, every occurrence": partial(_answers, occurrence="all"),
    "answers, absent": _absent,
    "answers, absent and similar": partial(_absent, locate="exact,space,fuzzy=0.6"),
    "redacted": _redacted,
    "error rows": _errors,
    "conventions": _converted,
    "rows by id": _recognised,
    **{
        f"intervals {name}": partial(_documents, metrics=name, intervals=True)
        for name in ("levels", "exact", "fair", "muc", "gate", "partial")
    },
    "bootstrap": partial(_documents, metrics="exact", intervals=True, method="bca", resamples=20),
    "compare": _compared,
    "compare many": _many_systems,
    "threshold": _threshold,
    "threshold per label": partial(_threshold, per_label=True),
    "thresholds": partial(_scores, metrics="exact", thresholds=[n / 100 for n in range(100)]),
    "gate thresholds": _of(_scored, metrics=Gate(score_feature="score", thresholds="rounded")),
    "masking": _masking,
    "masking metric": _of(_entities, metrics="masking"),
    "masking labels": lambda size: _documents(size, metrics="coverage"),
    "strings": _of(_usual, metrics="strings"),
    "strings nested": _of(_nested, metrics="strings"),
    "coverage": _of(_nested, metrics="coverage"),
    "layers": partial(_layers, metrics="levels,exact,confusion,muc,fair"),
    "agree many": _annotators,
    "curate many": _curated,
    "alternatives": _of(_alternatives, metrics="exact"),
    "groups": _of(_groups, metrics="exact"),
    **{f"fragments {name}": _of(_fragments, metrics=name) for name in _WITH_GAPS},
    "fragments partial": _of(_fragments, metrics=Partial(glue=True)),
    "apart": _of(_apart, metrics="fair,partial,muc"),
    "split": _of(_apart, metrics="levels", fragments="split"),
    "depth": _of(_deep, metrics="exact", hierarchy=".", depth=1),
    "ignored": _of(_usual, metrics="exact", ignore_label=["B"], ignored="touching"),
    "ignored nested": _of(_nested, metrics="exact", ignore_label=["A"], ignored="touching"),
    "untyped": _of(_nested, metrics="muc", untyped=True),
    "generic": _of(_usual, metrics="exact", generic=["A"]),
    "min score": _of(_scored, metrics="exact", min_score=0.5, score_feature="score"),
    "overlap": _of(_usual, metrics=Exact(min_overlap=0.5)),
    "aligned": _of(_usual, metrics="levels", align=True),
    "golds": _golds,
    "label map": _renamed,
    "groups of documents": _grouped,
    "profile": _profiled,
    "diff": _diffed,
}


SIZE = 50


def require_linear(job: str) -> None:
    """Fail if lines grow faster than the input, whose size is doubled, and the output."""
    with suppress(LimitError):
        JOBS[job](SIZE)()  # imports, and what is computed only once
    found = []
    for n in range(3):
        work = JOBS[job](SIZE << n)
        output: object = None
        with Lines() as lines, suppress(LimitError):
            output = work()
        found.append((lines.number, len(str(output))))
    added = [[later - one for one, later in zip(*two, strict=True)] for two in pairwise(found)]
    lines_grow, output_grows = (after / max(before, 1) for before, after in zip(*added, strict=True))

    assert lines_grow <= LIMIT * max(2, output_grows) or added[1][0] < 40 * SIZE, found


@pytest.mark.long
@pytest.mark.usefixtures("small_limits")
@pytest.mark.filterwarnings("ignore::clueval.CluevalWarning")
@pytest.mark.parametrize("job", JOBS)
def test_lines_that_run_in_memory_grow_no_faster_than_input_and_output(job: str) -> None:
    require_linear(job)
