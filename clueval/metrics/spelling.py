"""The text of metrics: names, or calls with their settings, as options, signatures and functions have them.

Values are literals of Python, and a bare word is a text::

    exact(min_overlap=0.5)
    fair(focus=system)
    gate(types=['Person','Org'],features={'Person':['inst'],'Org':['kind','id']})

Several metrics are separated by commas; signatures, where commas are rare, join them with ``+``. A metric of one's own
is written with its module, ``package.module.Class(setting=1)``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, fields
from typing import Any, NamedTuple, get_args, get_origin

from clueval.core.metric import AnyMetric
from clueval.files.errors import UsageError
from clueval.metrics.settings import is_later, read_value, type_of, values_of

LONGEST = 100_000
"""The greatest number of characters of a text of metrics."""

_EXAMPLE = (
    "write it as in exact,partial(factor=0.5,betas=[2]); texts with other characters than letters need quotes"
)

_WORD = re.compile(r"(?!(?:None|True|False)$)[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z_][A-Za-z0-9_]*)*")


class MetricText(NamedTuple):
    """A metric as it is written: its name, and the values of its settings; bare words are text."""

    name: str
    settings: Mapping[str, Any]


# Writing


def with_settings(metric: AnyMetric) -> str:
    """Return the name of a metric with its settings, as signatures have it; `metrics_in` reads it.

    >>> from clueval.core.exact import Exact
    >>> with_settings(Exact()), with_settings(Exact(min_overlap=0.5))
    ('exact', 'exact(min_overlap=0.5)')
    """
    settings = [
        f"{setting.name}={literal(getattr(metric, setting.name))}"
        for setting in fields(metric)  # type: ignore[arg-type]  # a dataclass
        if setting.compare and not (is_later(setting) and getattr(metric, setting.name) == setting.default)
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


# Reading


def metrics_in(text: str) -> list[MetricText]:
    """Return the metrics of a text. Raises `UsageError` for a text that cannot be read.

    >>> metrics_in("exact,fair(focus=system)")
    [MetricText(name='exact', settings={}), MetricText(name='fair', settings={'focus': 'system'})]
    """
    if len(text) > LONGEST:
        raise UsageError(
            f"the metrics have more than {LONGEST:,} characters", advice="write shorter settings"
        )
    if not text.strip():
        return []
    source = f"({text.strip()}\n,)"
    try:
        node = ast.parse(source, mode="eval").body
        assert isinstance(node, ast.Tuple)
        return [_metric(each, source) for part in node.elts for each in _added(part)]
    except (SyntaxError, ValueError, AssertionError, RecursionError, MemoryError):
        raise UsageError(f"the metrics {text!r} cannot be read", advice=_EXAMPLE) from None


def _added(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the parts of a sum."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _added(node.left)
        yield from _added(node.right)
    else:
        yield node


def _metric(node: ast.expr, source: str) -> MetricText:
    """Return a metric. Raises `ValueError` for anything else."""
    if not isinstance(node, ast.Call):
        return MetricText(_name(node, source), {})
    settings: dict[str, Any] = {}
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg in settings:
            raise ValueError("no name of a setting")
        settings[keyword.arg] = _value(keyword.value, source)
    if node.args:
        raise ValueError("a setting without its name")
    return MetricText(_name(node.func, source), settings)


def _name(node: ast.expr, source: str) -> str:
    name = ast.get_source_segment(source, node) or ""
    if not re.fullmatch(r"[\w.-]+", name):
        raise ValueError("no name of a metric")
    return name


def _value(node: ast.expr, source: str) -> Any:
    match node:
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return [_value(part, source) for part in parts]
        case ast.Dict(keys=keys, values=values):
            return {
                _value(key, source): _value(value, source)
                for key, value in zip(keys, values, strict=True)
                if key is not None
            }
        case ast.Constant(value=value) if value is None or isinstance(value, str | bool | int | float):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.Name() | ast.Attribute() | ast.BinOp():
            return ast.get_source_segment(source, node)
    raise ValueError("no literal")


def setting_of(kind: type, field: Field[Any], value: Any, name: str) -> Any:
    """Return the value of a setting for the class of its metric, given one that was read; `name` is for errors.

    Text is read as the field says. Raises `UsageError` for a value of another type.
    """
    if isinstance(value, str) and value == literal(field.default):
        return field.default
    declared = type_of(kind, field)
    values = values_of(kind, field)
    if isinstance(value, Mapping) or (value is None and type(None) in get_args(declared)):
        return value  # the class checks it
    if values is None:
        raise UsageError(f"{name} cannot be written as text", advice="make the metric in Python")
    of_texts = get_origin(declared) in (tuple, frozenset) and get_args(declared)[0] is str
    if isinstance(value, list) and of_texts and all(isinstance(each, str) for each in value):
        collection: Callable[[Any], Any] = get_origin(declared)
        return collection(value)
    return read_value(values, _as_text(value), name)


def _as_text(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(_as_text, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else value if isinstance(value, str) else repr(value)
