"""FairEval's config file, one ``key = value`` per line, the run that it describes, and its report.

Blank lines and lines that begin with ``#`` are skipped. `target_in` and `system_in` are required;
`FairEvalConfig` describes the other keys and their defaults. A key without a value (``exclude =``, as in
FairEval's own config files) has its default. Paths are not changed.

The metric `fair` counts two files sentence by sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import zip_longest
from os import PathLike
from pathlib import Path
from typing import Any

from clueval.compat.faireval import VERSIONS
from clueval.core.case import Case
from clueval.core.metric import Tally
from clueval.core.span import DEFAULT_LAYER, NO_LABEL, NO_SPAN_LABELS, Span
from clueval.files.errors import FormatError, TextMismatch, UsageError, with_noun
from clueval.files.opening import lines
from clueval.files.options import checked_call
from clueval.formats.fair import are_spans, sentence_of, spans_of
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions
from clueval.metrics.fair import FOCUSES, Fair, Weights, parse_weights
from clueval.reading.file_sides import FileSides, Side
from clueval.reading.paths import as_path, files_of
from clueval.reading.same_text import require_same_text
from clueval.results.tables import frequencies, most_frequent

_MANDATORY = ("target_in", "system_in")


@dataclass(frozen=True, slots=True)
class FairEvalConfig:
    """The settings of a FairEval run.

    `labels` are the labels to evaluate (empty: all), `exclude` those to ignore; `ignore_punct` removes
    punctuation from CoNLL-2000 spans; `focus` is the side whose label an LE or LBE is counted under;
    `eval_method` are the evaluations to print; `weights` are those of the weighted one; `eval_out` is a file,
    a folder (one that ends with ``/`` is made), or None for standard output.
    """

    target_in: str
    system_in: str
    labels: tuple[str, ...] = ()
    exclude: tuple[str, ...] = NO_SPAN_LABELS
    ignore_punct: bool = True
    focus: str = "target"
    eval_method: tuple[str, ...] = VERSIONS
    weights: Weights | None = None
    eval_out: str | None = None

    def metric(self) -> Fair:
        """Return the metric with these settings."""
        return Fair(self.focus, self.weights, self.labels, self.exclude)

    def settings(self) -> dict[str, str]:
        """Return the settings as text, as a report shows them; `parse_weights` reads the weights."""
        shown = {option.name: str(getattr(self, option.name)) for option in fields(self)}
        formulas = (
            f"{kind} = "
            + (" + ".join(f"{weight:g} {part}" for part, weight in parts.items() if weight) or "0 TP")
            for kind, parts in (self.weights or {}).items()
        )
        return {
            **shown,
            "labels": ", ".join(self.labels) or "all",
            "exclude": ", ".join(self.exclude),
            "eval_method": ", ".join(self.eval_method),
            "weights": ", ".join(formulas) or "default",
            "eval_out": self.eval_out or "standard output",
        }


def parse_config(lines: Iterable[tuple[int, str]], *, file: str) -> FairEvalConfig:
    """Parse a config, given as numbered lines.

    Raises `FormatError` with file and line for a line without ``=``, an unknown key, a key that comes twice,
    an invalid value, a required key without a value, and with the file for a required key that is missing.

    >>> text = ["target_in = gold.csv", "system_in = tagger.csv", "labels = NP, PP"]
    >>> parse_config(enumerate(text, 1), file="run.config").labels
    ('NP', 'PP')
    """
    settings: dict[str, Any] = {}
    keys = [option.name for option in fields(FairEvalConfig)]
    for number, line in lines:
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        key, equals, value = (part.strip() for part in text.partition("="))
        try:
            if not equals:
                raise UsageError(f"no '=' in {text!r}", advice="expected: key = value")
            if key not in keys:
                raise UsageError(f"unknown key {key!r}", advice=f"known are {', '.join(keys)}")
            if not value and key in _MANDATORY:
                raise UsageError(f"{key} has no value", advice=f"expected: {key} = FILE or FOLDER")
            if key in settings:
                raise UsageError(f"{key} is set twice", advice="remove one of the lines")
        except UsageError as error:
            raise FormatError(error.problem, file=file, line=number, advice=error.advice) from None
        try:
            settings[key] = _READERS.get(key, str)(value) if value else None
        except UsageError as error:
            raise FormatError(
                f"{key}: {error.problem}", file=file, line=number, advice=error.advice
            ) from None
    for key in _MANDATORY:
        if key not in settings:
            raise FormatError(f"{key} is missing", file=file, advice=f"add a line: {key} = FILE or FOLDER")
    return FairEvalConfig(**{key: value for key, value in settings.items() if value is not None})


def _names(value: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in value.split(","))
    if not all(names):
        raise UsageError(f"an empty name in {value!r}", advice="separate names by single commas")
    return names


def _methods(value: str) -> tuple[str, ...]:
    names = VERSIONS if value == "all" else _names(value)
    for name in names:
        _one_of(name, VERSIONS)
    return tuple(name for name in VERSIONS if name in names)


def _one_of(value: str, possible: tuple[str, ...]) -> str:
    if value not in possible:
        raise UsageError(f"{value!r} is not possible", advice=f"one of {', '.join(possible)}")
    return value


_READERS: Mapping[str, Callable[[str], object]] = {
    "labels": lambda value: () if value == "all" else _names(value),
    "exclude": _names,
    "ignore_punct": lambda value: _one_of(value.lower(), ("true", "false")) == "true",
    "focus": lambda value: _one_of(value, FOCUSES),
    "eval_method": _methods,
    "weights": lambda value: None if value == "default" else parse_weights(value),
}
"""How the values of keys are read that are not plain text."""


# The run


@dataclass(frozen=True, slots=True)
class Run:
    """The counts of pairs of files, and the labels of target spans in the order of their first occurrence."""

    tally: Tally = field(default_factory=Tally)
    labels: dict[str, None] = field(default_factory=dict)

    def count(self, target: InputFile, system: InputFile, metric: Fair, *, ignore_punct: bool = True) -> None:
        """Count two files sentence by sentence, one of which is held of each.

        Raises the errors of both readers, and `TextMismatch` if the files differ in their number of sentences or in the
        tokens of a sentence.
        """
        options = FormatOptions(ignore_punct=ignore_punct)
        for number, lines_of_sides in enumerate(zip_longest(target.sentences(), system.sentences()), 1):
            if None in lines_of_sides:
                numbers = ((side.name, sum(1 for _ in side.sentences())) for side in (target, system))
                has = [f"{name} has {with_noun(number, 'sentences')}" for name, number in numbers]
                advice = (
                    "both need the same sentences; one without spans has a placeholder: EMPTY 999 999 999"
                )
                raise TextMismatch(" and ".join(has), advice=advice)
            texts = [(*of_side, side) for of_side, side in zip(lines_of_sides, (target, system), strict=True)]
            spans: list[Sequence[Span]]
            if all(are_spans(lines_of_side) for _, lines_of_side, _ in texts):
                spans = [spans_of(*of_side) for of_side in texts]
            else:
                gold, predicted = (
                    sentence_of(first, lines_of_side, number, side, options)
                    for first, lines_of_side, side in texts
                )
                require_same_text(gold, predicted, ("target", "system"))
                spans = [side.layers[DEFAULT_LAYER] for side in (gold, predicted)]
            self.labels.update(dict.fromkeys(span.label for span in spans[0]))
            self.tally.update(metric.count(Case(tuple(map(tuple, spans)), (None, None))))


@checked_call
def faireval(config: str | PathLike[str]) -> str:
    r"""Run a config file of FairEval, and return its report.

    The module describes the keys of the file. Nothing is written: `eval_out` is for ``clueval faireval``. Raises the
    errors of `parse_config` and `run_config`.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as name:
    ...     folder = Path(name)
    ...     _ = folder.joinpath("gold.txt").write_text("PER\t1\t2\t1,2\n")
    ...     paths = f"target_in = {folder}/gold.txt\nsystem_in = {folder}/gold.txt\n"
    ...     _ = folder.joinpath("config.txt").write_text(f"{paths}eval_method = fair\n")
    ...     report = faireval(folder / "config.txt")
    >>> "Fair" in report
    True
    """
    path = as_path(config)
    return run_config(parse_config(lines(path), file=str(path)))


def run_config(config: FairEvalConfig) -> str:
    """Evaluate as a config says, and return FairEval's report.

    Paths are relative to the working folder. Files of two folders are paired by name. Raises the errors of `Run.count`
    and `FileSides.groups`. A label to evaluate that no span has is not an error.
    """
    metric, run = config.metric(), Run()
    inputs = {"target": Path(config.target_in), "system": Path(config.system_in)}
    sides = FileSides(
        tuple(Side(name, files_of(path), FormatOptions(), path) for name, path in inputs.items())
    )
    for group in sides.groups():
        target, system = map(InputFile, group.paths)
        run.count(target, system, metric, ignore_punct=config.ignore_punct)
    return render_faireval(metric.scores(run.tally, (DEFAULT_LAYER,)), config, run.labels)


def output_file(config: FairEvalConfig) -> Path | None:
    """Return the file for the report, ``eval.csv`` if the config names a folder; None: standard output.

    A name that ends with ``/`` is that of a folder, which may not exist yet.
    """
    if config.eval_out is None:
        return None
    path = Path(config.eval_out)
    return path / "eval.csv" if config.eval_out.endswith("/") or path.is_dir() else path


# The report


def render_faireval(report: Mapping[str, Any], config: FairEvalConfig, label_order: Iterable[str]) -> str:
    """Return a report of the metric ``fair`` as FairEval prints it: sections of tab-separated tables, rates in percent.

    They have the settings, the results of each method, their comparison, the confusion, the target's labels. The table
    of the weighted evaluation has a column for each error type in the weights, in their order. Labels are sorted,
    except in the last table, which has them in `label_order`; FairEval has them in the order in which they first occur
    in the target.
    """
    sections: list[tuple[str, list[Sequence[object]]]] = [
        ("Evaluation settings", list(config.settings().items()))
    ]
    rates = ("Prec", "Rec", "F1")
    rows = [(label, report["per_label"][label]) for label in sorted(report["per_label"])]
    for method in config.eval_method:
        columns = ["TP", "FP", "FN"] if method == "traditional" else ["TP", "FP", "LE", "BE", "LBE", "FN"]
        if method == "weighted" and config.weights:
            columns = list(config.weights)
        table: list[Sequence[object]] = [["Label", *columns, *rates]]
        for name, versions in [*rows, ("overall", report["overall"])]:
            counts = versions[method]
            table.append([name, *(counts[column] for column in columns), *_rates(counts)])
        sections.append((f"{method.title()} evaluation", table))
    comparison = [[method.title(), *_rates(report["overall"][method])] for method in config.eval_method]
    sections.append(("Comparison", [["Version", *rates], *comparison]))
    sections.append(("Confusion matrix", list(_confusion(report["confusion"]))))
    frequency = report["label_counts"]
    total = sum(frequency.values())
    listed = [label for label in dict.fromkeys([*label_order, *sorted(frequency)]) if label in frequency]
    stats = [[label, frequency[label], f"{100 * frequency[label] / total:.2f}"] for label in listed]
    sections.append(("Target data stats", [["Label", "Freq", "%"], *stats]))
    return "\n".join(
        f"### {title}:\n" + "".join("\t".join(map(str, row)) + "\n" for row in table)
        for title, table in sections
    )


def _rates(counts: Mapping[str, float]) -> list[str]:
    return [f"{100 * counts[rate]:.2f}" for rate in ("precision", "recall", "f1")]


def _confusion(confusion: Mapping[str, Mapping[str, int]]) -> Iterator[list[object]]:
    every = sorted(label for label in confusion if label != NO_LABEL)
    often = most_frequent(every, frequencies(confusion))
    labels = [*often, NO_LABEL]
    yield ["Target\\System", *labels]
    for target in labels:
        row = confusion.get(target, {})
        yield [target, *(row.get(system, 0) for system in labels)]
    if len(often) < len(every):
        yield [f"({with_noun(len(every) - len(often), 'labels')} with fewer errors are left out)"]
