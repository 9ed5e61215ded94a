"""`clueval.masking`: the function behind the command of the same name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from clueval.compat.masking.conventions import programs
from clueval.compat.masking.settings import SETTINGS, metric_of, several
from clueval.evaluation.observer import Observer
from clueval.evaluation.options import Counting, Workers
from clueval.exceptions import UsageError, checked_call, refuse_unknown, require_instance
from clueval.metrics.masking import Masking
from clueval.options import column, field_names, with_fields
from clueval.reading.layers import LayerColumns, columns_of_side
from clueval.reading.options import SETS, Reading, readings_of
from clueval.reading.paths import are_paths
from clueval.reading.source import read
from clueval.spans.span import DEFAULT_LAYER
from clueval.studies.masking.redacted import RedactedPairs, RedactedTexts
from clueval.studies.masking.report import MaskingReport
from clueval.studies.masking.run import masking_report
from clueval.studies.masking.token_weights import TokenWeights
from clueval.transforms.group import Group, Transform
from clueval.transforms.preparing import Preparing

if TYPE_CHECKING:
    from clueval.reading.given import InputSide

_COUNTING = [name for name in field_names(Counting) if name not in ("align", "unit")]


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
    **options: Any,
) -> MaskingReport:
    """Report what was left unmasked: gold spans say what must go, predicted spans what went.

    Args:
        gold, predicted, layers: as in `clueval.score`.
        weight_column: the column of the gold files that has the weight of each token.
        redacted: `predicted` has redacted texts in the place of spans: a file, a folder with a file for each gold
            document (called as its id, or as its file), or texts in the order of the documents.
        placeholder: regular expressions of further placeholders of redacted texts.
        align: redacted texts may differ from the gold texts in more than their placeholders (extra ``align``).
        conventions: other programs whose figures are computed as they count them: ``tab``, ``i2b2``,
            ``meddocan``, ``presidio``.
        options: settings of the metric (see `clueval.metrics.masking.Masking`) and options of `clueval.score`
            by their names. A setting takes the name of a file where the command does, and a list or one text with
            commas where the command takes several; `entity` may be the column of the ids of entities.

    Returns the `MaskingReport`. One pass in one process; held in memory are one document of each side and the
    leaks. Raises the errors of `clueval.score`.
    """
    known = [
        *SETTINGS,
        *field_names(Reading),
        *_COUNTING,
        *SETS,
        "reading",
        "counting",
        "preparing",
        "workers",
        *field_names(Preparing),
        *field_names(Workers),
    ]
    refuse_unknown(options, known, "masking")
    given = {name: options.pop(name) for name in field_names(Preparing) if name in options}
    preparing = options.pop("preparing", Preparing())
    require_instance(preparing, Preparing, "preparing")
    preparing = with_fields(preparing, given).without(["by_depth"], "masking")
    options["preparing"] = preparing
    settings = {name: options.pop(name) for name in SETTINGS if name in options}
    settings, layers = _with_column_of_entities(settings, layers)
    metric = metric_of(settings, token_weights=weight_column is not None)
    transforms = _transforms(weight_column, gold)
    observers = programs(several(conventions), metric)
    if redacted:
        texts = RedactedPairs(RedactedTexts(_given(predicted)), placeholder, align=align)
        return _of_redacted_texts(gold, texts, metric, observers, transforms, layers, options)
    if align or not isinstance(placeholder, tuple | list) or placeholder:
        raise UsageError("placeholder and align are for redacted texts", advice="add redacted")
    return masking_report(gold, predicted, metric, observers, transforms=transforms, layers=layers, **options)


def _given(predicted: Any) -> Any:
    if predicted is None:
        raise UsageError(
            "redacted texts are on the predicted side, and there is none", advice="give both sides"
        )
    return predicted


def _of_redacted_texts(
    gold: Any,
    texts: RedactedPairs,
    metric: Masking,
    observers: Sequence[Observer],
    transforms: Sequence[Transform],
    layers: LayerColumns | None,
    options: dict[str, Any],
) -> MaskingReport:
    """Return the report on gold documents and their redacted texts."""
    documents: Any = gold
    if are_paths(gold):
        own, *_ = readings_of(options.pop("reading", Reading()), options)
        for name in (*field_names(Reading), *SETS):
            options.pop(name, None)
        columns = None if layers is None else columns_of_side(layers, 0, single_file=False)
        paths = [gold] if not isinstance(gold, list | tuple) else gold
        documents = (document for path in paths for document in read(path, columns, reading=own))
    for transform in transforms:
        documents = (transform(Group(document, document)).gold for document in documents)
    sides = texts.sides(documents)
    report = masking_report(*sides, metric, observers, **options)
    signature = report.signature.citing(redacted="aligned" if texts.may_align else "placeholders")
    return replace(report, result=replace(report.result, signature=signature), aligned=texts.aligned)


def _with_column_of_entities(
    settings: Mapping[str, Any], layers: LayerColumns | None
) -> tuple[dict[str, Any], LayerColumns | None]:
    """Return the settings and layers; if `entity` is a column, it becomes a layer of the gold side."""
    name = settings.get("entity")
    try:
        number = column(str(name)) if isinstance(name, str | int) else None
    except ValueError:
        number = None
    if number is None:
        return dict(settings), layers
    columns = {DEFAULT_LAYER: -1} if layers is None else dict(layers)
    kept = {key: value for key, value in settings.items() if key != "entity"}
    return kept, {**columns, Masking().entity: (number, None)}


def _transforms(weight_column: int | None, gold: object) -> list[Transform]:
    """Return what reads the weights of tokens, if they stand in a column."""
    if weight_column is None:
        return []
    if not are_paths(gold):
        raise UsageError("weight_column is a column of files, and gold is not read from files")
    return [TokenWeights(weight_column)]
