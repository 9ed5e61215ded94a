"""`clueval.masking`: the function behind the command of the same name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from clueval.compat.masking.settings import SETTINGS, metric_of, several
from clueval.evaluation.options import Counting, Workers
from clueval.exceptions import UsageError
from clueval.metrics.masking import Masking
from clueval.options import column, field_names, refuse_unknown
from clueval.reading.layers import LayerColumns
from clueval.reading.options import SETS, Reading
from clueval.reading.paths import are_paths
from clueval.spans.span import DEFAULT_LAYER
from clueval.studies.masking.report import MaskingReport
from clueval.studies.masking.run import masking_report
from clueval.studies.masking.token_weights import TokenWeights
from clueval.transforms.group import Transform

if TYPE_CHECKING:
    from clueval.reading.paths import Documents, Paths

_COUNTING = [name for name in field_names(Counting) if name not in ("align", "unit")]


def masking(
    gold: Paths | Documents,
    predicted: Paths | Documents | None = None,
    *,
    layers: LayerColumns | None = None,
    weight_column: int | None = None,
    conventions: Iterable[str] | str = (),
    **options: Any,
) -> MaskingReport:
    """Report what was left unmasked: gold spans say what must go, predicted spans what went.

    Args:
        gold, predicted, layers: as in `clueval.score`.
        weight_column: the column of the gold files that has the weight of each token.
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
        "workers",
        *field_names(Workers),
    ]
    refuse_unknown(options, known, "masking")
    settings = {name: options.pop(name) for name in SETTINGS if name in options}
    settings, layers = _with_column_of_entities(settings, layers)
    metric = metric_of(settings, token_weights=weight_column is not None)
    options["transforms"] = _transforms(weight_column, gold)
    return masking_report(gold, predicted, metric, _observers(conventions, metric), layers=layers, **options)


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
    if not are_paths(gold):  # type: ignore[arg-type]  # whatever was given
        raise UsageError("weight_column is a column of files, and gold is not read from files")
    return [TokenWeights(weight_column)]


def _observers(conventions: Iterable[str] | str, metric: Masking) -> list[Any]:
    """Return what counts as other programs do. Raises `UsageError` for an unknown one."""
    names = several(conventions)
    if names:
        raise UsageError(f"unknown convention {names[0]!r}")
    return []
