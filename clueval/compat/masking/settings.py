"""The settings of `clueval.masking`, as they may be given: names of files, lists, or one text for several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from clueval.exceptions import UsageError, require_kind
from clueval.metrics.masking import Masking
from clueval.metrics.masking.word_files import IgnoredWords, WordWeights
from clueval.options import field_names

SETTINGS = [name for name in field_names(Masking) if name != "token_weights"]
"""The settings of the metric that are arguments; weights of tokens come with `weight_column`."""


def metric_of(given: Mapping[str, Any], *, token_weights: bool) -> Masking:
    """Return the metric with these settings. Raises `UsageError` for what is no value of a setting."""
    values = {
        name: _READERS[name](value, name) if name in _READERS else value
        for name, value in given.items()
        if value is not None
    }
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


def _numbers(value: Any, name: str) -> tuple[float, ...]:
    if isinstance(value, str | Iterable):
        try:
            return tuple(float(part) for part in (several(value, name) if isinstance(value, str) else value))
        except (TypeError, ValueError):
            raise UsageError(f"{name} must be numbers above 0, not {value!r}") from None
    return (value,)


def _ignored(value: Any, name: str) -> IgnoredWords:
    if isinstance(value, IgnoredWords):
        return value
    return (
        IgnoredWords.read(value) if isinstance(value, str | Path) else IgnoredWords.of(several(value, name))
    )


def _weights(value: Any, name: str) -> WordWeights:
    if isinstance(value, WordWeights):
        return value
    require_kind(value, "Mapping | str | Path", name)
    return WordWeights.of(value) if isinstance(value, Mapping) else WordWeights.read(value)


_READERS: dict[str, Callable[[Any, str], Any]] = {
    **dict.fromkeys(("risk_order", "keep", "masks", "annotators"), several),
    "beta": _numbers,
    "ignore_words": _ignored,
    "word_weights": _weights,
}
