"""The metrics, by name. Each has a module or package of its own, which is imported when it is first used.

Metrics count cases or documents (`clueval.core.metric`); they do not know one another. `exact` and `levels` stand in
`clueval.core`. `settings` reads metrics that are written as text. Each report has a headline: the rates that
people quote.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import Field, fields, is_dataclass
from importlib import import_module
from itertools import chain
from typing import Any

from clueval.core.metric import RATES, AnyMetric, DocumentMetric, Metric
from clueval.core.span import MERGED
from clueval.files.errors import UsageError, described
from clueval.files.options import option_of, require_kind

__all__ = [
    "METRICS",
    "chosen_metrics",
    "is_metric",
    "metric_class",
    "metric_named",
    "metric_of",
    "only_metric",
    "with_settings",
]

METRICS = {
    "levels": ("clueval.core.levels", "Levels"),
    "exact": ("clueval.core.exact", "Exact"),
    "fair": ("clueval.metrics.fair", "Fair"),
    "partial": ("clueval.metrics.partial", "Partial"),
    "noisy": ("clueval.metrics.noisy", "Noisy"),
    "gate": ("clueval.metrics.gate", "Gate"),
    "muc": ("clueval.metrics.muc", "Muc"),
    "confusion": ("clueval.metrics.confusion", "Confusion"),
    "strings": ("clueval.metrics.strings", "Strings"),
    "coverage": ("clueval.metrics.coverage", "Coverage"),
    "masking": ("clueval.metrics.masking", "Masking"),
}
"""The module and the class of each metric."""

_OTHER_NAMES = {
    **dict.fromkeys(("f1", "micro", "macro", "strict", "seqeval", "conlleval", "span", "ner"), "exact"),
    **dict.fromkeys(("nervaluate", "semeval", "type", "partial_match", "lenient", "overlap"), "muc"),
    **dict.fromkeys(("accuracy", "precision", "recall"), "exact"),
    "clueval": "levels",
    "faireval": "fair",
    "loio": "partial",
    "nerval": "noisy",
    "cer": "noisy",
}
"""Names of programs and rates, and the metric that has their numbers."""


def __getattr__(name: str) -> Any:
    """Return the class of a metric, such as `Exact`, which is imported when it is first used."""
    for module, class_name in METRICS.values():
        if class_name == name:
            return getattr(import_module(module), class_name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def metric_class(name: str) -> Any:
    """Return the class of the metric of that name, a frozen dataclass of its settings. Raises `UsageError`.

    >>> metric_class("exact").__name__
    'Exact'
    """
    if name not in METRICS:
        from clueval.files.names import one_of  # only for names that do not exist

        equivalent = _OTHER_NAMES.get(name.lower().replace("-", "_"))
        same = "" if equivalent is None else f"its numbers are those of {equivalent!r}; "
        raise UsageError(f"unknown metric {name!r}", advice=same + one_of(name, METRICS))
    module, kind = METRICS[name]
    return getattr(import_module(module), kind)


def metric_named(name: str, **settings: Any) -> AnyMetric:
    """Return the metric called `name` with these settings (the fields of its class).

    Raises `UsageError` for an unknown name and for settings that the metric does not accept.

    >>> metric_named("partial", factor=0.5)
    Partial(factor=0.5, glue=False, betas=())
    """
    kind = metric_class(name)
    if settings:
        _settings_of(kind, name, settings)
    metric: AnyMetric = kind(**settings)
    return metric


def _settings_of(kind: Any, name: str, names: Iterable[str]) -> dict[str, Field[Any]]:
    """Return the settings of a metric, by name. Raises `UsageError` for one that it does not have."""
    settings = {field.name: field for field in fields(kind) if field.init}
    for setting in names:
        if setting not in settings:
            raise UsageError(
                f"metric {name} has no setting {setting!r}", advice=f"it has {', '.join(settings) or 'none'}"
            )
    return settings


def chosen_metrics(given: Sequence[str | AnyMetric] | str | AnyMetric) -> tuple[AnyMetric, ...]:
    """Return the metrics of a text (`clueval.metrics.settings`), or of a list of texts and metrics, each once.

    Raises `UsageError` for an unknown name or setting, for two metrics of one name, and for an empty list.

    >>> chosen_metrics("exact,partial(factor=0.5)")
    (Exact(min_overlap=None, overlap_of='gold'), Partial(factor=0.5, glue=False, betas=()))
    """
    several: Any = [given] if isinstance(given, str) or is_metric(given) else given
    require_kind(several, "Iterable", "metrics")
    if isinstance(several, Mapping):
        from clueval.files.names import SETTINGS, written

        raise UsageError("metrics cannot be a dictionary", advice=written(SETTINGS))
    chosen: dict[str, AnyMetric] = {}
    for metric in chain.from_iterable(map(_metrics, several)):
        if chosen.setdefault(metric.name, metric) != metric:
            raise UsageError(
                f"the metric {metric.name!r} is named twice, with different settings", advice="score twice"
            )
    if not chosen:
        raise UsageError("no metric is named", advice=f"one of {', '.join(METRICS)}")
    return tuple(chosen.values())


def only_metric(choice: Sequence[str | AnyMetric] | str | AnyMetric, study: str) -> AnyMetric:
    """Return the metric of a study that takes one. Raises `UsageError` for several, and as `chosen_metrics` does.

    >>> only_metric("exact", "a profile").name
    'exact'
    """
    metric, *others = chosen_metrics(choice)
    if others:
        raise UsageError(f"{study} needs exactly one metric, not {len(others) + 1}", advice="name one")
    return metric


def _metrics(choice: object) -> Iterator[AnyMetric]:
    if isinstance(choice, str):
        if choice in METRICS:
            yield metric_named(choice)
            return
        from clueval.metrics.settings import metrics_in  # a name alone does not need it

        yield from map(metric_of, metrics_in(choice))
    elif is_metric(choice):
        metric: Any = choice
        yield metric
    else:
        raise UsageError(
            f"{described(choice)} is not a metric", advice=f"one of {', '.join(METRICS)}, or a Metric"
        )


def metric_of(written: tuple[str, Mapping[str, Any]]) -> AnyMetric:
    """Return the metric with this name and these settings, as `clueval.metrics.settings.metrics_in` reads them.

    Raises `UsageError` for an unknown name, setting or value.

    >>> metric_of(("exact", {"min_overlap": 0.5})).min_overlap
    0.5
    """
    from clueval.metrics.settings import setting_of

    name, settings = written
    kind = _imported_class(name) if "." in name else metric_class(name)
    declared = _settings_of(kind, name, settings)
    values = {
        setting: default
        if (default := declared[setting].default) is not None
        and ("none" if value is None else value) == literal(default)
        else setting_of(kind, declared[setting], value, f"{name}({setting}=...)")
        for setting, value in settings.items()
    }
    metric: AnyMetric = kind(**values)
    return metric


_KINDS: frozenset[Any] = frozenset({Metric, DocumentMetric})
"""The classes of which metrics are subclasses; they are protocols, which `isinstance` does not take."""


def _imported_class(path: str) -> Any:
    """Return the class of a metric by its module and name. Raises `UsageError` for another path."""
    module, _, name = path.rpartition(".")
    try:
        kind = getattr(import_module(module), name, None)
    except (ImportError, ValueError) as error:
        from clueval.files.names import one_of  # only for names that do not exist

        problem = f"the module of {path!r} cannot be imported: {error}"
        raise UsageError(problem, advice=one_of(module, METRICS)) from None
    if isinstance(kind, type) and is_dataclass(kind) and not _KINDS.isdisjoint(kind.__mro__):
        return kind
    raise UsageError(f"{path!r} is not the class of a metric", advice="write package.module.Class")


def is_metric(given: object) -> bool:
    """Return whether an object is of a class of metrics (`clueval.core.metric`); a class is none.

    >>> from clueval.core.exact import Exact
    >>> is_metric(Exact()), is_metric("exact")
    (True, False)
    """
    return not _KINDS.isdisjoint(type(given).__mro__)


# Headlines of reports

Report = Mapping[str, Any]

Path = tuple[str, ...]
"""The path of a number: metric, sequence, place in the report."""

LABELS_BELOW = ("per_label", "per_type")
"""The sections of the entries of labels."""

MICRO = ("micro", "overall", "all", "ALL")
"""The sections of rates of summed counts of all labels."""

PLAIN = frozenset((int, float, str, type(None)))
"""Types of most values of a report; whether a value is a mapping takes longer to ask."""

_HEADLINES = (
    ("unlabelled", "1"),
    ("micro",),
    ("tokens", "micro"),
    ("overall", "fair"),
    ("strict",),
    ("all",),
    ("ALL",),
    ("classes", "all"),
)
"""Where reports have their headline, the first that there is; in a layer, labelled level 1 comes before."""

_HEADLINE_RATES = (RATES, tuple(f"{rate}_strict" for rate in RATES), ("entity_recall",))
"""The rates of a headline, the first that it has."""


def number_at(reports: Report, path: Path) -> float | None:
    """Return the number at a path; None if it is undefined, or there is none."""
    number = entry_at(reports, path[:-1]).get(path[-1])
    return number if isinstance(number, int | float) else None


def entry_at(report: Report, path: Path) -> Report:
    """Return the dictionary at a path of a report; an empty one if there is none."""
    value: Any = report
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def headline_paths(reports: Report, rates: slice = slice(None)) -> Iterator[Path]:
    """Yield the paths of the rates of all headlines, from the metric on; or of some of each headline's `rates`."""
    for metric, sequences in reports.items():
        for sequence, report in sequences.items():
            for path in headline_rates(sequence, report)[rates]:
                yield metric, sequence, *path


def headline_rates(sequence: str, report: Report) -> list[Path]:
    """Return the paths, below the sequence, of the rates of the headline: precision, recall and F1, if it has them.

    That of `masking` has the recall of entities, of which one counts as found if all its mentions are masked.

    >>> headline_rates("entity", {"micro": {"precision": 1.0, "recall": 0.5, "f1": 0.6667}})
    [('micro', 'precision'), ('micro', 'recall'), ('micro', 'f1')]
    """
    labelled = [] if sequence == MERGED else [("labelled", sequence, "1", "micro")]
    for place in (*labelled, *_HEADLINES):
        entry = entry_at(report, place)
        for names in _HEADLINE_RATES:
            paths = [(*place, name) for name in names if name in entry]
            if paths:
                return paths
    return []


# Writing

_WORD = re.compile(r"(?!(?:None|True|False)$)[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z_][A-Za-z0-9_]*)*")


def with_settings(metric: AnyMetric) -> str:
    """Return the name of a metric with its settings, as signatures have it; `metrics_in` reads it.

    >>> from clueval.core.exact import Exact
    >>> with_settings(Exact()), with_settings(Exact(min_overlap=0.5))
    ('exact', 'exact(min_overlap=0.5)')
    """
    settings = [
        f"{setting.name}={_quoted(value) if value == 'none' and setting.default is None else literal(value)}"
        for setting in fields(metric)  # type: ignore[arg-type]  # a dataclass
        for value in (getattr(metric, setting.name),)
        if setting.compare
        and not ((declared := option_of(setting)) is not None and declared.later and value == setting.default)
    ]
    return f"{metric.name}({','.join(settings)})" if settings else metric.name


def literal(value: object) -> str:
    """Return a setting as it is written: texts without quotes, if they are words.

    >>> literal("gold"), literal("a b"), literal(("A", "B")), literal({"LE": {"FP": 0.5}}), literal(None)
    ('gold', "'a b'", "['A','B']", "{'LE':{'FP':0.5}}", 'None')
    """
    return value if isinstance(value, str) and _WORD.fullmatch(value) else _quoted(value)


def _quoted(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{_quoted(key)}:{_quoted(each)}" for key, each in value.items()) + "}"
    if isinstance(value, set | frozenset):
        value = sorted(value, key=str)
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_quoted, value))}]"
    return repr(value) if value is None or isinstance(value, str | bool | int | float) else str(value)
