"""The layer of a format that has only one, which `--layer` may name."""

from __future__ import annotations

from clueval.exceptions import UsageError
from clueval.formats.format import Options
from clueval.spans.span import DEFAULT_LAYER


def layer_of(options: Options, file: str) -> str:
    """Return the name of the only layer; its source does not matter. Raises `UsageError` for several layers."""
    if options.layers is None:
        return DEFAULT_LAYER
    if len(options.layers) > 1:
        raise UsageError(
            f"the format has one layer, not {' and '.join(options.layers)}",
            file=file,
            advice="name one layer",
        )
    (name,) = options.layers
    return name
