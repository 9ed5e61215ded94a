"""FairEval's config file, one ``key = value`` per line, the run that it describes, and its report.

Blank lines and lines that begin with ``#`` are skipped. `target_in` and `system_in` are required;
`FairEvalConfig` describes the other keys and their defaults. A key without a value (``exclude =``, as in
FairEval's own config files) has its default. Paths are not changed.

Two files in FairEval's formats are counted sentence by sentence, and equal sentences by their labels (`run_blocks`).
Counting documents with the metric `fair` gives the same numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from os import PathLike
from pathlib import Path
from typing import Any

from clueval.compat.faireval import VERSIONS
from clueval.core.span import DEFAULT_LAYER, PLACEHOLDERS, Span
from clueval.files.arguments import checked_call
from clueval.files.errors import FormatError, TextMismatch, UsageError
from clueval.files.limits import MAX_SENTENCE, sentences_of
from clueval.files.opening import blocks, lines
from clueval.first.metrics.counting import Tally
from clueval.first.metrics.fair import Fair, parse_weights
from clueval.first.metrics.fair.metric import FOCUSES, add_items
from clueval.first.metrics.fair.pairing import Item
from clueval.first.metrics.fair.weights import Weights
from clueval.first.metrics.metric import Side
from clueval.formats.fair_formats import is_span_line, sentence_of_spans, sentence_of_tokens, span_line
from clueval.metrics.tables import frequencies, most_frequent
from clueval.reading.paths import as_path, pairs_of
from clueval.reading.same_text import require_same_text
from clueval.spans.document import Document

_MANDATORY = ("target_in", "system_in")

_COLUMNS = {
    "traditional": ("TP", "FP", "FN"),
    "fair": ("TP", "FP", "LE", "BE", "LBE", "FN"),
}
_RATES = ("precision", "recall", "f1")

Blocks = Iterable[tuple[int, str]]
"""Text in blocks of whole lines, each with the number of its first line (see `clueval.files.opening.blocks`)."""

_Sentence = tuple[int, list[str]]
"""The number of the first line, and the lines, none of which is blank."""


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
    exclude: tuple[str, ...] = PLACEHOLDERS
    ignore_punct: bool = True
    focus: str = "target"
    eval_method: tuple[str, ...] = VERSIONS
    weights: Weights | None = None
    eval_out: str | None = None

    def metric(self) -> Fair:
        """Return the metric with these settings."""
        return Fair(self.focus, self.weights, self.labels, self.exclude)

    def settings(self) -> dict[str, str]:
        """Return the settings as text, as a report shows them."""
        return {
            "target_in": self.target_in,
            "system_in": self.system_in,
            "labels": ", ".join(self.labels) or "all",
            "exclude": ", ".join(self.exclude),
            "ignore_punct": str(self.ignore_punct),
            "focus": self.focus,
            "eval_method": ", ".join(self.eval_method),
            "weights": _formula(self.weights) if self.weights else "default",
            "eval_out": self.eval_out or "standard output",
        }


def _formula(weights: Weights) -> str:
    """Return weights as a formula without parts of weight zero; `parse_weights` reads it."""
    return ", ".join(
        f"{kind} = "
        + (" + ".join(f"{weight:g} {part}" for part, weight in parts.items() if weight) or "0 TP")
        for kind, parts in weights.items()
    )


def parse_config(lines: Iterable[tuple[int, str]], *, file: str) -> FairEvalConfig:
    """Parse a config, given as numbered lines.

    Raises `FormatError` with file and line for a line without ``=``, an unknown key, a key that comes twice,
    an invalid value, a required key without a value, and with the file for a required key that is missing.

    >>> text = ["target_in = gold.csv", "system_in = tagger.csv", "labels = NP, PP"]
    >>> parse_config(enumerate(text, 1), file="run.config").labels
    ('NP', 'PP')
    """
    values: dict[str, tuple[int, str]] = {}
    for number, line in lines:
        text = line.strip()
        if text and not text.startswith("#"):
            key, value = _key_and_value(text, file, number)
            if key in values:
                raise FormatError(
                    f"{key} is set twice", file=file, line=number, advice="remove one of the lines"
                )
            values[key] = (number, value)
    for key in _MANDATORY:
        if key not in values:
            raise FormatError(f"{key} is missing", file=file, advice=f"add a line: {key} = FILE or FOLDER")
    found = {key: _read(key, value, file, number) for key, (number, value) in values.items() if value}
    return FairEvalConfig(**found)


def _key_and_value(text: str, file: str, number: int) -> tuple[str, str]:
    """Return key and value of a line; an empty value means the default."""
    key, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        raise FormatError(f"no '=' in {text!r}", file=file, line=number, advice="expected: key = value")
    if key not in _READERS:
        known = ", ".join(_READERS)
        raise FormatError(f"unknown key {key!r}", file=file, line=number, advice=f"known are {known}")
    if not value and key in _MANDATORY:
        advice = f"expected: {key} = FILE or FOLDER"
        raise FormatError(f"{key} has no value", file=file, line=number, advice=advice)
    return key, value


def _read(key: str, value: str, file: str, number: int) -> Any:
    try:
        return _READERS[key](value)
    except UsageError as error:
        raise FormatError(f"{key}: {error.problem}", file=file, line=number, advice=error.advice) from None


def _names(value: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in value.split(","))
    if not all(names):
        raise UsageError(f"an empty name in {value!r}", advice="separate names by single commas")
    return names


def _labels(value: str) -> tuple[str, ...]:
    return () if value == "all" else _names(value)


def _methods(value: str) -> tuple[str, ...]:
    names = VERSIONS if value == "all" else _names(value)
    for name in names:
        _one_of(name, VERSIONS)
    return tuple(name for name in VERSIONS if name in names)


def _weights(value: str) -> Weights | None:
    return None if value == "default" else parse_weights(value)


def _focus(value: str) -> str:
    return _one_of(value, FOCUSES)


def _truth(value: str) -> bool:
    return _one_of(value.lower(), ("true", "false")) == "true"


def _one_of(value: str, possible: tuple[str, ...]) -> str:
    if value not in possible:
        raise UsageError(f"{value!r} is not possible", advice=f"one of {', '.join(possible)}")
    return value


_READERS: Mapping[str, Callable[[str], object]] = {
    "target_in": str,
    "system_in": str,
    "labels": _labels,
    "exclude": _names,
    "ignore_punct": _truth,
    "focus": _focus,
    "eval_method": _methods,
    "weights": _weights,
    "eval_out": str,
}


@dataclass(frozen=True, slots=True)
class Run:
    """The counts of two files; runs can be added.

    `labels` are those of target spans in the order of their first occurrence, as in FairEval's table.
    """

    tally: Tally
    labels: tuple[str, ...] = ()

    def __add__(self, other: Run) -> Run:
        total: Tally = Counter(self.tally)
        total.update(other.tally)
        return Run(total, tuple(dict.fromkeys(self.labels + other.labels)))


def run_blocks(
    target: Blocks,
    system: Blocks,
    metric: Fair,
    *,
    target_file: str,
    system_file: str,
    ignore_punct: bool = True,
) -> Run:
    """Count two files sentence by sentence; the spans of equal sentences are not built.

    Holds one sentence of each file at a time. The first line of each sentence determines its format. Raises the errors
    of both readers, and `TextMismatch` if the files differ in their number of sentences or in the tokens of a sentence.
    """
    total: Tally = Counter()
    equal: Counter[str] = Counter()
    order: dict[str, None] = {}
    sides = (sentences_of(*side, MAX_SENTENCE) for side in ((target, target_file), (system, system_file)))
    pairs = _pairs(next(sides), next(sides), target_file, system_file)
    for number, (gold_lines, predicted_lines) in enumerate(pairs, 1):
        if gold_lines[1] == predicted_lines[1] and _has_spans(gold_lines):
            labels = [label for label, _, _, _ in _items(gold_lines, target_file)]
            equal.update(labels)
            order.update(dict.fromkeys(labels))
            continue
        if _has_spans(gold_lines) and _has_spans(predicted_lines):
            golds, predictions = _items(gold_lines, target_file), _items(predicted_lines, system_file)
        else:
            gold = _document(gold_lines, number, target_file, ignore_punct)
            predicted = _document(predicted_lines, number, system_file, ignore_punct)
            require_same_text(gold, predicted, ("target", "system"))
            golds, predictions = _items_of(gold), _items_of(predicted)
        order.update(dict.fromkeys(span[0] for span in golds))
        add_items(
            total,
            [span for span in golds if metric.wanted(span[0])],
            [span for span in predictions if metric.wanted(span[0])],
        )
    for label, times in equal.items():
        side = Side([Span(0, 1, {DEFAULT_LAYER: label})])
        total.update({key: counted * times for key, counted in metric.count(side, side).items()})
    return Run(total, tuple(order))


def _items(sentence: _Sentence, file: str) -> list[Item]:
    found = [span_line(text, line, file=file) for line, text in enumerate(sentence[1], sentence[0])]
    return [
        (span.label, span.start, span.end, span.tokens) for span in found if span.label not in PLACEHOLDERS
    ]


def _items_of(document: Document) -> list[Item]:
    spans = document.layers[DEFAULT_LAYER]
    return [(span.label, span.start, span.end, span.tokens) for span in spans]


def _has_spans(sentence: _Sentence) -> bool:
    return is_span_line(sentence[1][0])


def _pairs(
    target: Iterator[_Sentence], system: Iterator[_Sentence], target_file: str, system_file: str
) -> Iterator[tuple[_Sentence, _Sentence]]:
    for number, (of_target, of_system) in enumerate(zip_longest(target, system)):
        if of_target is not None and of_system is not None:
            yield of_target, of_system
            continue
        longer = number + 1 + sum(1 for _ in (system if of_target is None else target))
        here, there = (number, longer) if of_target is None else (longer, number)
        raise TextMismatch(
            f"{target_file} has {_many(here)} and {system_file} has {_many(there)}",
            advice="both need the same sentences; one without spans has a placeholder: EMPTY 999 999 999",
        )


def _many(number: int) -> str:
    return f"{number} sentence{'' if number == 1 else 's'}"


def _document(sentence: _Sentence, number: int, file: str, ignore_punct: bool) -> Document:
    if _has_spans(sentence):
        return sentence_of_spans(sentence, number, file=file)
    return sentence_of_tokens(sentence, number, file=file, ignore_punct=ignore_punct)


@checked_call
def faireval(config: str | PathLike[str]) -> str:
    """Run a config file of FairEval, and return its report.

    The module describes the keys of the file. Nothing is written: `eval_out` is for ``clueval faireval``. Raises the
    errors of `parse_config` and `run_config`.
    """
    path = as_path(config)
    return run_config(parse_config(lines(path), file=str(path)))


def run_config(config: FairEvalConfig) -> str:
    """Evaluate as a config says, and return FairEval's report.

    Paths are relative to the working folder. Files of two folders are paired by name. Raises the same errors
    as `read_sentences` and `pairs_of`. A label to evaluate that no span has is not an error.
    """
    metric = config.metric()
    total = Run(Counter())
    for _, target, system in pairs_of(Path(config.target_in), Path(config.system_in)):
        total += run_blocks(
            blocks(target),
            blocks(system),
            metric,
            target_file=str(target),
            system_file=str(system),
            ignore_punct=config.ignore_punct,
        )
    report = metric.scores(total.tally, (DEFAULT_LAYER,))
    return render_faireval(
        report,
        settings=config.settings(),
        methods=config.eval_method,
        weights=config.weights,
        label_order=total.labels,
    )


def output_file(config: FairEvalConfig) -> Path | None:
    """Return the file for the report, ``eval.csv`` if the config names a folder; None: standard output.

    A name that ends with ``/`` is that of a folder, which may not exist yet.
    """
    if config.eval_out is None:
        return None
    path = Path(config.eval_out)
    return path / "eval.csv" if config.eval_out.endswith("/") or path.is_dir() else path


def render_faireval(
    report: Mapping[str, Any],
    *,
    settings: Mapping[str, str] | None = None,
    methods: Sequence[str] = VERSIONS,
    weights: Mapping[str, Mapping[str, float]] | None = None,
    label_order: Iterable[str] | None = None,
) -> str:
    """Return a fair report as FairEval prints it: sections of tab-separated tables, rates in percent.

    They have the settings, the results of each method, their comparison, the confusion, the target's labels.

    `report` is the report of the metric ``fair``, `weights` are its weights: the table of
    the weighted evaluation has a column for each error type in them, in their order. Labels are
    sorted, except in the last table, which has them in `label_order`; FairEval has them in the order in which
    they first occur in the target.
    """
    sections = [] if settings is None else [_section("Evaluation settings", settings.items())]
    for method in methods:
        columns = _COLUMNS.get(method) or (tuple(weights) if weights else _COLUMNS["fair"])
        sections.append(_section(f"{method.title()} evaluation", _results(report, method, columns)))
    sections.append(_section("Comparison", _comparison(report["overall"], methods)))
    sections.append(_section("Confusion matrix", _confusion(report["confusion"])))
    sections.append(_section("Target data stats", _stats(report["label_counts"], label_order)))
    return "\n".join(sections)


def _section(title: str, rows: Iterable[Iterable[object]]) -> str:
    return "".join([f"### {title}:\n", *("\t".join(map(str, row)) + "\n" for row in rows)])


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.2f}"


def _results(report: Mapping[str, Any], method: str, columns: Sequence[str]) -> Iterator[list[object]]:
    yield ["Label", *columns, "Prec", "Rec", "F1"]
    rows = [(label, report["per_label"][label]) for label in sorted(report["per_label"])]
    for name, versions in [*rows, ("overall", report["overall"])]:
        counts = versions[method]
        yield [name, *(counts[column] for column in columns), *(_percent(counts[rate]) for rate in _RATES)]


def _comparison(overall: Mapping[str, Mapping[str, float]], methods: Sequence[str]) -> Iterator[list[str]]:
    yield ["Version", "Prec", "Rec", "F1"]
    for method in methods:
        yield [method.title(), *(_percent(overall[method][rate]) for rate in _RATES)]


def _confusion(confusion: Mapping[str, Mapping[str, int]]) -> Iterator[list[object]]:
    every = sorted(label for label in confusion if label != "_")
    often = most_frequent(every, frequencies(confusion))
    labels = [*often, "_"]
    yield ["Target\\System", *labels]
    for target in labels:
        row = confusion.get(target, {})
        yield [target, *(row.get(system, 0) for system in labels)]
    if len(often) < len(every):
        yield [f"({len(every) - len(often)} labels with fewer errors are left out)"]


def _stats(counts: Mapping[str, int], order: Iterable[str] | None) -> Iterator[list[object]]:
    total = sum(counts.values())
    yield ["Label", "Freq", "%"]
    for label in dict.fromkeys([*(order or ()), *sorted(counts)]):
        if label in counts:
            yield [label, counts[label], _percent(counts[label] / total)]
