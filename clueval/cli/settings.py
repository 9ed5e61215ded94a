"""The settings of single metrics as options: from the command line to metrics."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from clueval.cli import options as common
from clueval.exceptions import UsageError
from clueval.metrics import METRICS, metric_named
from clueval.metrics.metric import Metric

if TYPE_CHECKING:
    from clueval.metrics.gate import Gate
    from clueval.metrics.gate.list_evaluation import Lists


def add_settings(parser: argparse.ArgumentParser) -> None:
    """The options of the metrics that have some."""
    fair = parser.add_argument_group("metric fair (FairEval: every error once)")
    fair.add_argument(
        "--focus",
        choices=("target", "system"),
        metavar="SIDE",
        help="under whose label a span with a wrong label (LE, LBE) is counted in the scores per label: target, "
        "gold's, or system, the predicted one (default: target)",
    )
    fair.add_argument("--labels", metavar="A,B,...", help="count spans with these labels only")
    fair.add_argument(
        "--exclude", metavar="A,B,...", help="leave out spans with these labels (default: NONE,EMPTY)"
    )
    fair.add_argument(
        "--weights",
        metavar="FORMULA",
        help="what an error of each type counts for in the scores called weighted, as in "
        '"LE = 0.5 FP + 0.5 FN, BES = 0.5 TP + 0.5 FN" (default: as in the scores called fair)',
    )
    partial = parser.add_argument_group("metric partial (loio: graded credit for overlap)")
    partial.add_argument(
        "--partial-factor",
        type=common.number,
        metavar="S",
        help="from 0 to 1: the credit of a partial match is its share of overlap times S (default: 0.75)",
    )
    partial.add_argument(
        "--glue", action="store_true", help="merge overlapping spans of one label before anything is counted"
    )
    partial.add_argument(
        "--beta",
        action="append",
        type=common.number,
        metavar="B",
        help="report F-beta, too, which weighs recall B times as much as precision; again for each B; with metric "
        "gate, once, in place of F1",
    )
    noisy = parser.add_argument_group("metric noisy (Nerval: gold and predicted texts differ)")
    noisy.add_argument(
        "--threshold",
        type=common.number,
        metavar="T",
        help="from 0 to 1: the greatest share of the text of a gold span that may differ (default: 0.3)",
    )
    noisy.add_argument(
        "--max-alignment",
        type=common.whole(1),
        metavar="CELLS",
        help="also for --align: two texts are aligned if the product of their lengths in characters is at most "
        "this, else refused (default: 100000000000, two texts of 316,000)",
    )
    add_gate_settings(parser, "metric gate (GATE: strict and lenient)")


def add_gate_settings(parser: argparse.ArgumentParser, title: str) -> argparse._ArgumentGroup:
    """The options of metric gate, save --beta; returns their group."""
    gate = parser.add_argument_group(title)
    gate.add_argument(
        "--types",
        metavar="A,B=C,...",
        help="evaluate these types (labels) only; B=C: gold's B against predicted's C (default: all)",
    )
    gate.add_argument(
        "--features", metavar="F,...", help="annotations match only if these features are equal, too"
    )
    gate.add_argument(
        "--feature-comparison",
        choices=("equality", "string", "subsumption"),
        metavar="HOW",
        help="when --features are equal: equality, same kind and value; string, same when written out; "
        "subsumption, those that gold's annotation has are equal (default: equality)",
    )
    gate.add_argument(
        "--pairing",
        choices=("plugin", "by-response", "by-target"),
        metavar="HOW",
        help="how one gold span is paired with one predicted span where several overlap: plugin, best pairs "
        "first, as GATE's plugin does; by-response, each predicted span in turn takes its best; by-target, each "
        "gold span does (default: plugin)",
    )
    gate.add_argument(
        "--score-feature",
        metavar="F",
        help="the feature that holds the scores of predicted annotations, for figures at each threshold",
    )
    gate.add_argument(
        "--thresholds",
        metavar="T",
        help="with --score-feature: all (scores that occur), rounded (the same to two decimals), 11, 21 or 51 "
        "(equal steps from 0 to 1), or numbers parted by commas (default: all)",
    )
    gate.add_argument(
        "--nil",
        metavar="VALUE",
        help="leave out annotations whose first of --features has this value ('': is missing)",
    )
    gate.add_argument(
        "--containing",
        metavar="SET:TYPE",
        help="count only within annotations of this set and type (other formats than gate-xml and bdoc: within "
        "the spans of this layer)",
    )
    gate.add_argument(
        "--containment",
        choices=("overlapping", "containing", "coextensive"),
        metavar="HOW",
        help="what within means for --containing: overlapping one, in one (containing), or the same range "
        "(coextensive) (default: overlapping)",
    )
    gate.add_argument("--by-feature", metavar="F,...", help="scores for each value of these features, too")
    return gate


def add_lists(lists: argparse._ArgumentGroup) -> None:
    """The options that say where candidate lists are."""
    lists.add_argument(
        "--list-type", metavar="TYPE", help="predicted annotations of this type are lists of candidates"
    )
    lists.add_argument(
        "--edge-feature",
        metavar="F",
        help="the feature of the lists that holds the ids of their candidates, best first",
    )
    lists.add_argument("--element-type", metavar="TYPE", help="the type of the candidates (default: any)")
    lists.add_argument(
        "--ranks",
        choices=("all", "10", "50", "100"),
        metavar="N",
        help="at how many of the best candidates of each list there are figures: all, or eleven numbers up to 10, "
        "50 or 100 (default: all)",
    )


def candidate_lists(options: argparse.Namespace) -> Lists | None:
    """Where candidate lists are, if they are asked for. Raises `UsageError` for half of it."""
    given = {name: getattr(options, name) for name in ("list_type", "edge_feature", "element_type", "ranks")}
    named = {name: value for name, value in given.items() if value is not None}
    if not named:
        return None
    for name in ("list_type", "edge_feature"):
        if name not in named:
            given_flag = f"--{next(iter(named)).replace('_', '-')}"
            raise UsageError(f"{given_flag} is given without --{name.replace('_', '-')}", advice="add it")
    from clueval.metrics.gate.list_evaluation import Lists

    return Lists(**named)


_OPTIONS = {
    "fair": {"focus": "focus", "labels": "labels", "exclude": "exclude", "weights": "weights"},
    "partial": {"partial_factor": "factor", "glue": "glue", "beta": "betas"},
    "noisy": {"threshold": "threshold", "max_alignment": "max_alignment"},
    "gate": {
        "types": "types",
        "features": "features",
        "feature_comparison": "feature_comparison",
        "pairing": "pairing",
        "score_feature": "score_feature",
        "thresholds": "thresholds",
        "nil": "nil",
        "containing": "containing",
        "containment": "containment",
        "by_feature": "by",
        "beta": "beta",
    },
}
"""Of each metric with settings, the options and the fields that they set."""


def metrics(options: argparse.Namespace) -> list[Metric]:
    """The metrics that the options name, with their settings.

    Raises `UsageError` for an unknown metric and for a setting of a metric that is not named.
    """
    names = [name for names in options.metric or ["levels"] for name in names.split(",")]
    for option in dict.fromkeys(option for fields in _OPTIONS.values() for option in fields):
        owners = [metric for metric, fields in _OPTIONS.items() if option in fields]
        if (
            _is_given(getattr(options, option))
            and not set(owners) & set(names)
            and not _for_alignment(option, options)
        ):
            flag, metric = f"--{option.replace('_', '-')}", " or ".join(owners)
            raise UsageError(f"{flag} is a setting of metric {metric}", advice=f"add --metric {owners[0]}")
    for name in names:
        if name not in METRICS:
            raise UsageError(f"unknown metric {name!r}", advice=f"one of {', '.join(METRICS)}")
    return [metric_named(name, **_settings(name, options)) for name in names]


def gate_metric(options: argparse.Namespace) -> Gate:
    """Metric gate with its settings."""
    from clueval.metrics.gate import Gate

    return Gate(**_settings("gate", options))


def _is_given(value: object) -> bool:
    return value is not None and value is not False  # 0 is a value


def _for_alignment(option: str, options: argparse.Namespace) -> bool:
    """Whether an option belongs to the projection of spans, whatever the metric."""
    return option == "max_alignment" and bool(options.align)


def _settings(name: str, options: argparse.Namespace) -> dict[str, Any]:
    settings = {}
    for option, field in _OPTIONS.get(name, {}).items():
        value = getattr(options, option)
        if not _is_given(value):
            continue
        settings[field] = _converted(option, value)
    if name == "gate" and "beta" in settings:
        if len(settings["beta"]) > 1:
            raise UsageError("metric gate has one F-beta", advice="give --beta once")
        settings["beta"] = settings["beta"][0]
    return settings


def _converted(option: str, value: Any) -> Any:
    if option == "types" and any(part.count("=") > 1 or ";" in part for part in value.split(",")):
        raise UsageError(
            f"--types {value!r} cannot be read", advice="write it TYPE,TYPE,... or TARGET=RESPONSE,..."
        )
    if option in ("labels", "exclude", "types", "features", "by_feature"):
        return tuple(part.strip() for part in value.split(","))
    if option == "weights":
        from clueval.metrics.fair import parse_weights

        return parse_weights(value)
    return tuple(value) if option == "beta" else value
