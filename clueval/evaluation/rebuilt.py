"""The options of `score` that a signature stands for.

Settings are read by the types of the fields of their metric, as on the command line; lists are written with slashes, so
a label with a slash is read as two. What is not written as the signature of the options would be is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import Field, fields
from typing import Any, get_origin

from clueval.files.errors import UsageError
from clueval.first.metrics import METRICS, is_later, metric_class, plain, with_settings
from clueval.first.metrics.metric import Metric
from clueval.metrics.settings import read_value, type_of, values_of
from clueval.spans.filters import parse_where
from clueval.tagging.schemes import INVALID, SCHEMES

_OPTION_VALUES = {"unit": ("character",), "scheme": tuple(SCHEMES), "invalid": INVALID}
"""Choices that are options of the same name, and the values that are more than a default."""

_WITHOUT_OPTION = frozenset(
    ("average", "section", "level", "label", "rate", "number", "zero", "scores", "version", "layer")
)
"""Choices of one number of a report, and those that follow from others."""


def rebuilt_options(signature: Mapping[str, str]) -> dict[str, Any]:
    """Return the keyword arguments of `score`. Raises `UsageError` for a choice that no option stands for."""
    choices = dict(signature)
    metrics = list(_metrics(choices.pop("metrics", "")))
    options: dict[str, Any] = {"metrics": metrics}
    for key, value in choices.items():
        if key == "merge":
            options[key] = value == "yes"
        elif key == "where" and value != "all":
            options[key] = _conditions(value)
        elif value in _OPTION_VALUES.get(key, ()):
            options[key] = value
        elif key == "text" and value == "aligned" and all(metric.needs.same_text for metric in metrics):
            options["align"] = True
        elif key == "paired":
            options["pair_by"] = value
        elif key == "columns":
            options["layers"] = _layers(value)
        elif (key, value) == ("gold", "alternatives"):
            continue  # the documents say so
        elif key not in _WITHOUT_OPTION and key not in ("where", "unit", "scheme", "invalid", "text"):
            raise UsageError(f"no option stands for {key}:{value}", advice="pass it to score yourself")
    return options


def _metrics(text: str) -> Iterator[Metric]:
    """Yield the metrics of ``metrics:``, with their settings."""
    while text:
        name = re.split(r"[(+]", text, maxsplit=1)[0]
        if name not in METRICS:
            raise UsageError(
                f"the signature has the unknown metric {name!r}",
                advice="check that it is a signature of this version",
            )
        kind = metric_class(name)
        settings = [field for field in fields(kind) if field.compare]
        given = ",".join(rf"{field.name}=(.*?)" for field in settings if not is_later(field))
        for field in filter(is_later, settings):
            given += rf"(?:,?{field.name}=(.*?))?"
        whole = rf"\({given}\)" if settings else ""
        if all(map(is_later, settings)):
            whole = f"(?:{whole})?"
        found = re.match(rf"{name}{whole}(?:\+|$)", text, re.DOTALL)
        if found is None:
            raise UsageError(
                f"the settings of {name} cannot be read",
                advice="check that it is a signature of this version",
            )
        values = {
            field.name: _value(kind, field, value)
            for field, value in zip(settings, found.groups(), strict=True)
            if value is not None
        }
        metric: Metric = kind(**values)
        if with_settings(metric) != found[0].removesuffix("+"):
            raise UsageError(
                f"the settings of {name} cannot be rebuilt", advice="pass them to score yourself"
            )
        yield metric
        text = text[found.end() :]


def _value(kind: type, field: Field[Any], text: str) -> Any:
    values = values_of(kind, field)
    if field.name == "weights" and text == "default":
        return None
    if text == plain(
        field.default
    ):  # a setting that is read from a file is in the signature as a hash, or `none`
        return field.default
    if values is None:
        raise UsageError(
            f"{kind.__name__}.{field.name} cannot be rebuilt", advice="pass it to score yourself"
        )
    several = get_origin(type_of(kind, field)) in (tuple, frozenset) or field.name == "weights"
    if text == "''":
        return ""
    return read_value(values, text.replace("/", ",") if several else text, f"{kind.__name__}.{field.name}")


def _conditions(text: str) -> dict[str, list[str]]:
    where = {
        key: values.split("|")
        for key, _, values in (condition.partition("=") for condition in text.split(";"))
    }
    if str(parse_where(where)) != text:
        raise UsageError(f"the filter {text!r} cannot be rebuilt", advice="pass it to score yourself")
    return where


def _layers(text: str) -> dict[str, int | tuple[int, int]]:
    layers: dict[str, int | tuple[int, int]] = {}
    for part in text.split("/"):
        layer, _, columns = part.rpartition("=")
        numbers = columns.split(":")
        if not layer or len(numbers) > 2 or not all(number.lstrip("-").isdigit() for number in numbers):
            raise UsageError(f"the columns {text!r} cannot be read", advice="pass layers to score yourself")
        layers[layer] = (int(numbers[0]), int(numbers[1])) if len(numbers) == 2 else int(numbers[0])
    return layers
