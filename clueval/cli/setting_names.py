"""Names the settings of metrics in errors as the user gives them on the command line.

An error names a setting by class and field (``Gate.beta``), which is its Python name. On the command line it is
``--set gate.beta``, or an option of its own in ``clueval gate`` and ``clueval masking``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from clueval.exceptions import CluevalError
from clueval.formats.format import SELECT_SETS
from clueval.metrics import METRICS

_METRICS = {kind: name for name, (_, kind) in METRICS.items()}
_NAME = re.compile(
    rf"""'[^']*'|"[^"]*"|\b(Lists|Counting|Preparing|Reading|{"|".join(_METRICS)})\.([a-z_]+)"""
)
"""A quoted value, or the name of a setting; quoted values are not changed."""


_KEYWORD = re.compile(
    r"\b(force|resample_by|pair_by|escapes|redacted|fragments|label|train|votes)=(?:True|'([A-Za-z]+)')"
)
"""An argument of a Python function, in advice."""

_SETS = "gold_set and predicted_set"
_ONE_SIDE = ("agree", "check", "convert", "curate", "merge")
"""The commands that read one side, whose annotation set --annotation-set names."""


def with_options(error: CluevalError, command: str | None = None) -> CluevalError:
    """Write the settings in the message of `error` as options of `command`; return `error`.

    >>> str(with_options(CluevalError("Gate.beta must be greater than 0, not 'Gate.beta'"), "score"))
    "--set gate.beta must be greater than 0, not 'Gate.beta'"
    >>> str(with_options(CluevalError("check Gate.by"), "gate"))
    'check --by-feature'
    >>> str(with_options(CluevalError("check Masking.risk_layer"), "masking"))
    'check --risk-layer'
    >>> with_options(CluevalError("x", advice="score with resample_by='sentence'"), "compare").advice
    'score with --resample-by sentence'
    """
    if error.advice is not None:
        sets = "--annotation-set" if command in _ONE_SIDE else "--gold-set and --predicted-set"
        error.advice = _KEYWORD.sub(_flag, error.advice).replace(SELECT_SETS, f"select with {sets}")
        error.advice = error.advice.replace(_SETS, sets)
    if any(_NAME.search(text) for text in (error.problem, error.advice or "")):
        flags = _flags(command) if command in ("gate", "masking") else {}
        error.problem = _written(error.problem, flags)
        error.advice = None if error.advice is None else _written(error.advice, flags)
    return error


def _flag(match: re.Match[str]) -> str:
    name, value = match.groups()
    return f"--{name.replace('_', '-')}" + (f" {value}" if value else "")


def _written(text: str, flags: Mapping[str, str]) -> str:
    def option(match: re.Match[str]) -> str:
        kind, field = match.groups()
        if kind in (None, "Lists"):
            return flags.get(match[0], match[0])
        if kind in ("Counting", "Preparing", "Reading"):
            return "--max-alignment" if field == "align" else f"--{field.replace('_', '-')}"
        return flags.get(match[0], f"--set {_METRICS[kind]}.{field}")

    return _NAME.sub(option, text)


def _flags(command: str) -> dict[str, str]:
    """Return the options of ``clueval gate`` or ``clueval masking`` by the names of their fields."""
    from clueval.metrics.gate import Gate
    from clueval.metrics.gate.list_evaluation import Lists
    from clueval.metrics.masking import Masking
    from clueval.options import options_of

    kinds: tuple[type, ...] = (Gate, Lists) if command == "gate" else (Masking,)
    return {
        f"{kind.__name__}.{field.name}": declared.flag
        for kind in kinds
        for field, declared in options_of(kind)
    }
