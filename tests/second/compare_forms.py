"""Results of `clueval.score` in all forms, written by the first edition and by `clueval.second.results`.

Both write the same result: rows, numbers by short paths, tables, warnings. For more corpora than in the tests::

    python -m tests.second.compare_forms 2000 17
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from random import Random
from typing import Any

import clueval
from clueval.core.metric import AnyMetric
from clueval.evaluation import notices as first_notices
from clueval.evaluation import score_path as first_paths
from clueval.evaluation.result import Result
from clueval.evaluation.run import score as first_score
from clueval.first.metrics import metric_named as first_named
from clueval.metrics import metric_named
from clueval.reports.report import FORMS, Data, Report, renderer
from clueval.reports.table import Table, with_estimates
from clueval.second.results import first_screen, notices, paths, rows, tables
from tests.second.compare import KINDS, MIXED, Corpus, corpus
from tests.second.texts import draw as draw_text

SETTINGS: dict[str, list[dict[str, Any]]] = {
    "exact": [{}, {"min_overlap": 0.5}],
    "levels": [{}],
    "partial": [{}, {"glue": True, "betas": (0.5, 2)}],
    "fair": [{}, {"focus": "system", "weights": {"LE": {"TP": 0.5, "FN": 0.5}}}, {"exclude": ("A",)}],
    "gate": [
        {},
        {"beta": 2.0},
        {"types": ("A",)},
        {"features": ("kind",), "by": ("kind",)},
        {"score_feature": "score"},
        {"score_feature": "score", "thresholds": "11", "beta": 0.5},
    ],
    "muc": [{}],
    "confusion": [{}],
    "strings": [{}],
    "coverage": [{}],
    "masking": [
        {},
        {"beta": (0.5,), "masks": ("all",)},
        {"annotators": ("all",)},
        {"word_weights": {"Anna": 3, "Ulm": 1}},
    ],
    "noisy": [{}, {"threshold": 0.1}],
}
OF_SPANS = ("exact", "levels", "partial", "fair", "gate", "muc", "confusion", "coverage", "strings")
OF_TEXTS = ("exact", "masking", "noisy", "strings", "coverage", "gate", "levels")

WORDS = (
    *(
        "f1",
        "F1",
        "precision",
        "recall",
        "recal",
        "micro",
        "mikro",
        "macro",
        "A",
        "B",
        "label",
        "x",
        "label.A",
    ),
    *("exact", "levels", "fair", "1", "2", "labelled", "unlabelled", "strict", "gold", "per_label", ""),
)
"""Parts of paths, right and wrong ones. Words of other programs are not among them."""


class WrittenAnew(Result):
    """A result that writes its forms by `clueval.second.results`."""

    __slots__ = ()

    def scores(self) -> dict[str, float]:
        return rows.scores_of(self._report())

    def rows(self, *, long: bool = False) -> list[dict[str, Any]]:
        return list(rows.long_rows(self.to_dict())) if long else Report.rows(self)

    def tables(self, *, all: bool = False) -> Iterator[Table]:
        of = tables.of_report if all else first_screen.first_tables
        metrics: Any = self.scored_by
        yield from of(with_estimates(self._report()), metrics)

    def get(self, path: str) -> float | None:
        try:
            return paths.number_at(self.metrics, paths.whole_path(self.metrics, path))
        except clueval.UsageError:
            if (number := self.scores().get(path)) is not None:
                return number
            raise

    def _data(self) -> Data:
        report = self._report()
        return Data(rows.columns_of(report), rows.wide_rows(report))

    def _readable(self, form: str, *, all: bool = False) -> str:
        report = self._report()
        more: dict[str, Any] = {}
        if form == "text" and not all:
            more = {"before": first_screen.exact_f1(report), "after": first_screen.notes(report)}
        return renderer(form)(report, self.tables(all=all), **more)


def written_anew(result: Result, metrics: Sequence[AnyMetric]) -> WrittenAnew:
    """Return the same result; `metrics` are those that it was scored by, of the second edition."""
    values = {each.name: getattr(result, each.name) for each in fields(result)}
    return WrittenAnew(**{**values, "scored_by": metrics})


def said(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Return what a call returns, or its error."""
    try:
        return function(*arguments, **options)
    except clueval.CluevalError as error:
        return type(error), str(error)


def disagreement(result: Result, anew: WrittenAnew, random: Random) -> str | None:
    """Return the first form in which a result is written in two ways, or None."""
    for long in (False, True):
        if result.rows(long=long) != anew.rows(long=long):
            return f"rows, long={long}"
    if list(result.scores().items()) != list(anew.scores().items()):
        return "scores"
    for form in FORMS:
        options = {"lang": random.choice(["", "de"]), "digits": random.choice([None, 1])}
        for every in (False, True):
            if result.render(form, all=every, **options) != anew.render(form, all=every, **options):
                return f"{form}, all={every}, {options}"
    heard: Any = anew
    for name in ("warnings_of", "repairs_of"):
        if list(getattr(first_notices, name)(result)) != list(getattr(notices, name)(heard)):
            return name
    headlines = list(first_paths.headline_paths(result.metrics))
    if headlines != list(paths.headline_paths(result.metrics)):
        return "headlines"
    if first_paths.score_names(headlines) != paths.score_names(headlines):
        return "names of scores"
    asked = [random.choice("._ ").join(random.choices(WORDS, k=random.randint(1, 5))) for _ in range(5)]
    known = list(result.scores())
    for path in [*asked, *random.sample(known, min(3, len(known)))]:
        if path in ("precision", "recall", "f1") and "gate" in result.metrics:
            continue  # its headline has such rates, too, which the first edition did not know
        if said(result.get, path) != said(anew.get, path):
            return f"{path}: {said(result.get, path)}, {said(anew.get, path)}"
    return None


def drawn(random: Random) -> tuple[Corpus, list[str]]:
    """Return a random corpus, and metrics that can count most of such corpora."""
    if random.random() < 0.4:
        return draw_text(random), random.sample(OF_TEXTS, random.choice([1, 1, 2, 3]))
    labels: Any = random.choice(["AB", "A", ["a long label " * 6, "B.1", "x|y\n&<b>"]])
    made = corpus(random, random.choice(["flat", *KINDS, MIXED]), labels=labels, spans=random.choice([3, 7]))
    return made, random.sample(OF_SPANS, random.choice([1, 1, 1, 2, 3]))


def options_of(random: Random, made: Corpus) -> dict[str, Any]:
    """Return random options of `clueval.score`."""
    options: dict[str, Any] = {}
    if random.random() < 0.4:
        options["by"] = random.choice(["m", "document", ["m", "document"]])
    if random.random() < 0.3:
        options["merge"] = True
    if random.random() < 0.25:
        options |= {"intervals": True, "resamples": 50}
    if random.random() < 0.1 and len(made.layers) == 1:
        options["where"] = {made.layers[0]: ["A"]}
    if random.random() < 0.1:
        options["gold_map"] = {"A": "C", "B": "C", "*": "D"}
    if random.random() < 0.1:
        options["align"] = True
    return options


def compare(number: int, seed: int) -> Counter[str]:
    """Count random results by how both editions write them: equal, or where they differ.

    Others are refused by `clueval.score`, or the first edition cannot write them: `Result.rows` of metric ``masking``,
    where a group lacks the report of a sequence.
    """
    random = Random(seed)
    found: Counter[str] = Counter()
    for _ in range(number):
        made, names = drawn(random)
        settings = {name: random.choice(SETTINGS[name]) for name in names}
        options = options_of(random, made)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            metrics = [first_named(name, **given) for name, given in settings.items()]
            try:
                result = first_score(made.gold, made.predicted, metrics=metrics, **options)
                result.rows()
            except (clueval.CluevalError, KeyError):
                found["refused"] += 1
                continue
        anew = written_anew(result, [metric_named(name, **given) for name, given in settings.items()])
        differs = disagreement(result, anew, random)
        found["equal" if differs is None else f"{settings} {options} {differs}"] += 1
    return found


if __name__ == "__main__":
    began = time.process_time()
    counted = compare(int(sys.argv[1]), int(sys.argv[2]))
    for text, times in counted.most_common(12):
        print(times, text[:600])
    print(f"{time.process_time() - began:.0f} s")
