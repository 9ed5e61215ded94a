"""`clueval.masking`: the function behind the command of the same name.

Redacted texts in the place of predicted spans are paired with the gold documents, and read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, ClassVar

from clueval.core.bag import Read
from clueval.core.count import Step
from clueval.core.document import Document, Pair
from clueval.core.metric import AnyMetric
from clueval.core.span import DEFAULT_LAYER
from clueval.files.errors import FileError, FormatError, TagError, TextMismatch, UsageError, warn, with_noun
from clueval.files.opening import blocks, is_folder, lines
from clueval.files.options import checked_call, column, field_names, refuse_unknown, require_kind
from clueval.formats.form import Form
from clueval.formats.input_file import InputFile
from clueval.formats.options import (
    EVERY_SET,
    SETS,
    FormatOptions,
    LayerColumns,
    Reading,
    readings_of,
    require_layers,
)
from clueval.formats.recognition import fields_of_line
from clueval.formats.table_columns import records_of
from clueval.metrics.masking import IgnoredWords, Masking, WordWeights
from clueval.reading import is_path_or_paths, spooled
from clueval.reading.file_sides import files_of_side
from clueval.reading.paths import files_of, is_in_archive, located
from clueval.reading.source import form_at
from clueval.results.inputs import repairs_of, swapped, warnings_of
from clueval.results.options import Counting, Workers, groups_of
from clueval.results.score import scored
from clueval.results.texts import Texts, sides_of
from clueval.studies.decisions import Paths, PlaceDecisions, decisions_of
from clueval.studies.masking.leaks import ListingMasking, taken_out
from clueval.studies.masking.report import CHOICES, MaskingReport, ReviewedMasking, report_of
from clueval.transforms.changes import EachPair
from clueval.transforms.options import Preparing
from clueval.transforms.recovery import Redacted

if TYPE_CHECKING:
    from clueval.reading import InputSide


class RedactedTexts:
    """The redacted texts of gold documents: a file, a folder, texts in the order of the documents, or texts by id.

    In a folder, the text of a document is the file that is called, but for its ending, as the document's id is,
    or as the file of the document where that holds a single document.
    """

    def __init__(self, source: Any) -> None:
        require_kind(source, "Mapping | str | Path | Iterable", "predicted")
        self._by_name: dict[str, str | Path] = {}
        self._in_order: Iterator[str | Path] | None = None
        self._path: Path | None = None
        self._used: set[str] = set()
        if isinstance(source, Mapping):
            self._by_name = {str(name): text for name, text in source.items()}
        elif not isinstance(source, str | Path):
            self._in_order = iter(source)
        elif is_folder(path := located(Path(source))) or is_in_archive(path):
            self._path = path
            for name, file in files_of(path):
                other = self._by_name.setdefault(_stem(name or file.name), file)
                if isinstance(other, Path) and other is not file:
                    problem = f"has the name of {other.name} with another ending"
                    raise FileError(problem, file=str(file), advice="rename one")
        elif isinstance(source, str) and " " in source and not os.path.lexists(path):
            raise UsageError(
                "predicted is neither a file nor a folder", advice="a text goes into a list: [text]"
            )
        else:
            self._path, self._in_order = path, iter([path])

    def pairs(self, gold: Iterable[Document], steps: Sequence[Step]) -> Iterator[Sequence[Pair]]:
        """Yield for each gold document what the steps make of it and its redacted text.

        Raises the errors of the steps, `FileError` and `UsageError` for a document or a text that has no other side.
        """
        for document in gold:
            text: Any = self._of(document)
            file = None if self._path is None else str(text)
            text = text if file is None else _read(text)
            require_kind(text, "str", "a redacted text")
            redacted = Document(document.id, {}, text=text, unit="character", file=file)
            pairs: Sequence[Pair] = [Pair(document, redacted)]
            for step in steps:
                pairs = step(pairs)
            yield pairs
        if self._in_order is not None and self._path is None and next(self._in_order, None) is not None:
            raise UsageError(
                "there are more redacted texts than gold documents",
                advice="give a redacted text for each gold document, in the same order",
            )
        for name in sorted(self._by_name.keys() - self._used):
            if self._path is None:
                problem = "there is a redacted text, but no gold document"
                raise UsageError(problem, document=name, advice="remove it")
            raise FileError(
                "belongs to no gold document",
                file=str(self._by_name[name]),
                advice="remove it, or name it like the id or the file of a gold document",
            )

    def _of(self, document: Document) -> str | Path:
        """Return the redacted text of a document, or its file."""
        if self._in_order is not None:
            text = next(self._in_order, None)
        elif self._path is None:
            self._used.add(document.id)
            text = self._by_name.get(document.id)
        else:
            names = (name for name in _names_of(document) if name in self._by_name and name not in self._used)
            name = next(names, "")
            self._used.add(name)
            text = self._by_name.get(name)
        if text is not None:
            return text
        if self._path is None:
            raise UsageError(
                "there is no redacted text for this document",
                document=document.id,
                advice="give one text for each gold document, in the same order or by id",
            )
        if self._in_order is None:
            if not self._used.isdisjoint(_names_of(document)):
                raise UsageError(
                    "several gold documents have this id or belong to the same redacted text",
                    **document.in_errors,
                    advice="give each document an id of its own, and a redacted text with this name",
                )
            raise FileError(
                "has no redacted text for this document",
                file=str(self._path),
                document=document.id,
                advice="name the file of the text like the id or the file of the document",
            )
        raise UsageError(
            "gold has several documents, and there is one redacted text",
            document=document.id,
            advice="give a folder with a file for each document, with the id of the document as its name",
        )


def _stem(name: str) -> str:
    """Return a relative name without its ending, and without that of a packed file."""
    path = PurePosixPath(name.removesuffix(".gz"))
    return str(path.with_suffix("")) if path.suffix else str(path)


def _names_of(document: Document) -> Iterator[str]:
    """Yield the names that the redacted text of a document may have."""
    yield document.id
    yield _stem(document.id)
    before, colon, id_in_file = document.id.rpartition(":")
    if colon:
        yield id_in_file
        yield f"{_stem(before)}/{id_in_file}"
    if document.file is not None:
        yield _stem(Path(document.file).name)


def _read(path: Path) -> str:
    if path.suffix in (".json", ".jsonl"):  # braces are placeholders, so a whole row could pass for masked
        raise FileError(
            "is JSON, and a redacted text is plain text",
            file=str(path),
            advice="give a folder with a .txt file for each document",
        )
    return "".join(text for _, text in blocks(path))


PROGRAMS = ("tab", "i2b2", "meddocan", "presidio")
"""The programs whose figures can be computed as they count them."""

SETTINGS = [name for name in field_names(Masking) if name != "token_weights"]
"""The settings of the metric that are arguments; weights of tokens come with `weight_column`."""

_KNOWN = [
    *SETTINGS,
    *(name for name in field_names(Counting) if name not in ("align", "unit")),
    *SETS,
    "reading",
    *(name for kind in (Reading, Preparing, Workers) for name in field_names(kind)),
]


@checked_call
def masking(
    gold: InputSide,
    predicted: InputSide | None = None,
    *,
    layers: LayerColumns | None = None,
    weight_column: int | None = None,
    redacted: bool = False,
    placeholder: Iterable[str] | str = (),
    align: bool = False,
    conventions: Iterable[str] | str = (),
    decisions: Paths | None = None,
    conflicts: str | None = None,
    **options: Any,
) -> MaskingReport:
    """Report what was left unmasked: gold spans say what must be masked, predicted spans what was.

    Args:
        gold, predicted, layers: as in `clueval.score`.
        weight_column: the column of the gold files that has the weight of each token.
        redacted: `predicted` has redacted texts in the place of spans: a file, a folder with a file for each gold
            document (named like its id or its file), texts in the order of the documents, or texts by id.
        placeholder: regular expressions of further placeholders of redacted texts.
        align: redacted texts may differ from the gold texts in more than their placeholders (extra ``align``).
        conventions: other programs whose figures are computed as they count them: ``tab``, ``i2b2``,
            ``meddocan``, ``presidio``.
        decisions: files of decisions about leaks, or folders. The report has all figures as counted, under
            ``masking``, and as reviewed, under ``reviewed``: leaks that are ``harmless`` count as protected, and
            mentions with a wrong ``annotation`` do not count.
        conflicts: what counts where decisions differ: ``first`` or ``last`` by time, or ``drop``; None: it is an error.
        options: settings of the metric (see `clueval.metrics.masking.Masking`) and options of `clueval.score`
            by their names. A setting takes the name of a file where the command does, and a list or one text with
            commas where the command takes several; `entity` may be the column of the ids of entities.

    Returns the `MaskingReport`. Held in memory are the leaks with the text around them and, in each process, one
    document of each side; with redacted texts, one process counts. Raises the errors of `clueval.score`. Warns of
    decisions that are stale or lost.

    >>> gold = [{"text": "Ada met Bob", "spans": [(0, 3, "PER"), (8, 11, "PER")]}]
    >>> masking(gold, [[(0, 3, "MASK")]]).verdict()
    '1 leak in 1 of 1 documents: do not publish yet'
    """
    refuse_unknown(options, _KNOWN, "masking")
    names = [Path(side).name for side in (gold, predicted) if isinstance(side, str | PathLike)]
    with spooled(gold, None if redacted else predicted) as (gold_side, predicted_side):
        settings = {name: options.pop(name) for name in SETTINGS if name in options}
        reading, form, first = _first_file(gold_side, options)
        table = first if form is not None and form.name == "spans" else None
        settings, layers = _with_column_of_entities(settings, layers, table)
        metric = metric_of(settings, token_weights=weight_column is not None)
        if metric.annotators and options.get("gold_set") is None and reading.annotation_set is None:
            options["gold_set"] = EVERY_SET if form is not None and form.has_sets else None
        groups = groups_of(options.pop("reading", Reading()), options, "masking")
        steps: list[Step] = []
        if weight_column is not None:
            if not is_path_or_paths(gold_side):
                raise UsageError(
                    "weight_column is a column of files, and gold is in memory", advice="leave it out"
                )
            steps.append(TokenWeights(weight_column))
        decided = decisions_of(decisions, CHOICES, conflicts)
        metrics = _metrics(metric, decided, several(conventions, "conventions"))
        cited: dict[str, str] = {}
        aligned = None
        if redacted:
            require_kind(placeholder, "str | Iterable", "placeholder")
            patterns = (placeholder,) if isinstance(placeholder, str) else tuple(placeholder)
            steps.append(Redacted(patterns, align))
            cited = dict(step.signature for step in reversed(steps))
            if predicted is None:
                raise UsageError(
                    "redacted texts are on the predicted side, and there is none", advice="give both sides"
                )
            if groups.counting.pair_by is not None:
                raise UsageError(
                    f"pair_by={groups.counting.pair_by!r} does not apply to redacted texts",
                    advice="name the file of each text like the id or the file of its gold document",
                )
            redacted_texts, read = RedactedTexts(predicted), Read()
            sides = sides_of({"gold": gold_side}, groups.readings[:1], layers)
            documents = (document for (document,) in sides.texts(read) if document is not None)
            texts = Texts(redacted_texts.pairs(documents, steps), "documents", (), read, {})
            result = scored(gold_side, None, metrics, None, groups, texts=texts)
            aligned = result.bag.notes["redacted", "aligned"]
        elif align or not isinstance(placeholder, tuple | list) or placeholder:
            raise UsageError("placeholder and align are for redacted texts", advice="add redacted=True")
        else:
            require_layers(layers)
            try:
                result = scored(gold_side, predicted_side, metrics, layers, groups, steps)
            except (TextMismatch, FormatError, TagError) as error:
                are_texts = is_path_or_paths(predicted_side) and all(
                    path.suffix in (".txt", ".md") for _, path in files_of_side(predicted_side)
                )
                if isinstance(error, TextMismatch) or are_texts:
                    before = f"{error.advice}; " if error.advice else ""
                    error.advice = f"{before}for redacted texts add redacted=True"
                raise
            for warning in swapped(gold_side, predicted_side):
                warn(warning)
        # masks may be in other layers than mentions, so only the first metric says which layers are missing
        plan = replace(result.plan, metrics=result.plan.metrics[:1])
        for warning in (*warnings_of(replace(result, plan=plan, made=None)), *repairs_of(result)):
            warn(warning)
        report = report_of(result, taken_out(result.bag), decided, names)
        result = replace(report.result, signature=report.signature.citing(**cited), made=None)
        return replace(report, result=result, aligned=aligned)


def _metrics(
    metric: Masking, decided: PlaceDecisions | None, conventions: Sequence[str]
) -> tuple[AnyMetric, ...]:
    """Return the metric that lists leaks, the one that counts as decided, and those of other programs."""
    fields = {name: getattr(metric, name) for name in field_names(Masking)}
    metrics: list[AnyMetric] = [ListingMasking(**fields)]
    if decided is not None:
        metrics.append(ReviewedMasking(**fields, decisions=decided))
    for name in conventions:
        if name not in PROGRAMS:
            raise UsageError(f"unknown convention {name!r}", advice=f"one of {', '.join(PROGRAMS)}")
    if conventions:
        from clueval.compat.masking_programs import FIGURES  # few reports have them

        metrics += [FIGURES[name](metric) for name in dict.fromkeys(conventions)]
    return tuple(metrics)


def _first_file(gold: Any, options: Mapping[str, Any]) -> tuple[Reading, Form | None, Path | None]:
    """Return how gold is read, and the format and the path of its first file, if it is read from files."""
    reading_options = {name: options[name] for name in field_names(Reading) if name in options}
    reading, *_ = readings_of(options.get("reading", Reading()), reading_options)
    first = next((path for _, path in files_of_side(gold)), None) if is_path_or_paths(gold) else None
    return reading, None if first is None else form_at(first, FormatOptions.of(reading)), first


def _with_column_of_entities(
    settings: dict[str, Any], layers: LayerColumns | None, table: Path | None
) -> tuple[dict[str, Any], LayerColumns | None]:
    """Return the settings and layers; if `entity` is a column, it becomes a layer of the gold side.

    In a `table` of spans, every column is a layer if none is named, so the number becomes the name of the column.
    """
    name = settings.get("entity")
    try:
        number = column(str(name)) if isinstance(name, str | int) else None
    except ValueError:
        number = None
    if number is None:
        return settings, layers
    if table is not None and layers is None:
        _, names = next(iter(records_of(InputFile(table))))
        if not -len(names) <= number - (number > 0) < len(names):
            raise UsageError(
                f"there is no column {number} for entity",
                file=str(table),
                advice=f"the table has {with_noun(len(names), 'columns')}",
            )
        return {**settings, "entity": names[number - (number > 0)]}, None
    columns = {DEFAULT_LAYER: -1} if layers is None else dict(layers)
    del settings["entity"]
    return settings, {**columns, Masking().entity: (number, None)}


def metric_of(settings: Mapping[str, Any], *, token_weights: bool) -> Masking:
    """Return the metric with these settings. Raises `UsageError` for what is no value of a setting."""
    values: dict[str, Any] = {}
    for name, value in settings.items():
        if value is None:
            continue
        if name in ("risk_order", "keep", "masks", "annotators"):
            value = several(value, name)
        elif name == "beta":
            value = _numbers(value)
        elif name == "ignore_words" and not isinstance(value, IgnoredWords):
            is_file = isinstance(value, str | Path)
            value = IgnoredWords.read(value) if is_file else IgnoredWords.of(several(value, name))
        elif name == "word_weights" and not isinstance(value, WordWeights):
            require_kind(value, "Mapping | str | Path", name)
            value = WordWeights.of(value) if isinstance(value, Mapping) else WordWeights.read(value)
        values[name] = value
    return Masking(**values, token_weights=token_weights)


def several(value: Any, name: str) -> tuple[str, ...]:
    """Return names that are given as a list, or as one text with commas; `name` is that of the argument.

    >>> several("a, b", "keep"), several(["a", "b,c"], "keep")
    (('a', 'b'), ('a', 'b,c'))
    """
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    require_kind(value, "Iterable | str", name)
    return tuple(map(str, value))


def _numbers(beta: Any) -> tuple[float, ...]:
    if not isinstance(beta, str | Iterable):
        return (beta,)
    try:
        return tuple(map(float, several(beta, "beta") if isinstance(beta, str) else beta))
    except (TypeError, ValueError):
        raise UsageError(f"beta must be numbers above 0, not {beta!r}") from None


class TokenWeights(EachPair):
    """A step that puts the weights of gold's tokens in the place of their ids, where the metric looks.

    Reads the lines of each gold file once more, in the order of the documents; holds one line.
    """

    comes_first: ClassVar[bool] = True

    def __init__(self, column: int) -> None:
        self._column = column
        self._file = ""
        self._lines: Iterator[tuple[int, str]] = iter(())
        self._last = 0

    @property
    def signature(self) -> tuple[str, str]:
        return "weights", f"column {self._column}"

    def of_pair(self, pair: Pair) -> Iterator[Pair]:
        """Yield the pair with weights. Raises `UsageError` for gold that does not come from columns."""
        gold = pair.gold
        if gold.lines is None or gold.file is None:
            raise UsageError(
                "weights of tokens need a column of a file with one token per line",
                **gold.in_errors,
                advice="use VRT or CoNLL",
            )
        weights = [self._weight(gold.file, number) for number in gold.lines]
        yield replace(pair, gold=replace(gold, token_ids=weights))

    def _weight(self, file: str, number: int) -> str:
        """Return the weight in a line of a file, which is opened again for a line that has passed."""
        if file != self._file or number <= self._last:
            self._file, self._lines = file, lines(Path(file))
        text = next((text for line, text in self._lines if line == number), None)
        if text is None:
            raise FormatError(f"the file has no line {number} any more", file=file)
        self._last = number
        cells = fields_of_line(text)
        try:
            return cells[self._column - (self._column > 0)].strip()
        except IndexError:
            raise FormatError(
                f"there is no column {self._column} with a weight", file=file, line=number
            ) from None
