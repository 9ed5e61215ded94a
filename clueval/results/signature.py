"""The signature of a result: every choice that its numbers depend on, and the version."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clueval.core.metric import AnyMetric
from clueval.core.tags import INVALID, SCHEMES
from clueval.files.errors import CluevalError, UsageError, warn
from clueval.files.options import require_kind
from clueval.metrics import metric_of, with_settings
from clueval.reports import USUAL
from clueval.version import SCORES, __version__

SHORT = {
    "metrics": "m",
    "unit": "u",
    "scheme": "s",
    "invalid": "i",
    "average": "a",
    "merge": "g",
    "where": "w",
    "zero": "z",
    "text": "t",
    "scores": "n",
    "version": "v",
}
"""The letters of keys in the short form; it has all other keys in full."""

_LONG = {short: key for key, short in SHORT.items()}


@dataclass(frozen=True, slots=True)
class Signature:
    """The choices that a score depends on, in a fixed order, to print and cite with it.

    Signatures are equal if their choices are equal, in any order. Keys are words in the long form and letters in
    the short form (see `SHORT`); both can be parsed.

    >>> signature = Signature({"metrics": "levels", "unit": "token"})
    >>> str(signature), signature.short
    ('metrics:levels|unit:token', 'm:levels|u:token')
    >>> Signature.parse(signature.short) == signature
    True
    """

    choices: Mapping[str, str]

    def __str__(self) -> str:
        quotes = str.maketrans({"%": "%25", "|": "%7C", "\n": "%0A"})
        return "|".join(f"{key}:{value.translate(quotes)}" for key, value in self.choices.items())

    def __hash__(self) -> int:
        return hash(frozenset(self.choices.items()))

    @property
    def short(self) -> str:
        """The short form, with letters for keys."""
        return str(Signature({SHORT.get(key, key): value for key, value in self.choices.items()}))

    @classmethod
    def of(
        cls, metrics: Sequence[AnyMetric], choices: Mapping[str, str], units: Iterable[str] = ()
    ) -> Signature:
        """The signature of an evaluation by these metrics, in these units, with these choices.

        Other choices have their default values. `average` is ``all``, because a report holds all averages.
        """
        zeros = [f"{metric.name}={metric.zero}" for metric in metrics if metric.zero != "0"]
        defaults = {
            "metrics": "+".join(map(with_settings, metrics)),
            **USUAL,
            "unit": "+".join(sorted(units)) or USUAL["unit"],
            "zero": ",".join([USUAL["zero"], *zeros]),
        }
        return cls({**defaults, **choices, "scores": str(SCORES), "version": __version__})

    @classmethod
    def parse(cls, text: str) -> Signature:
        """The signature of a text in the long or short form. Raises `UsageError` for other texts.

        The text may be the one that reports show: with ``signature: `` before it, and broken over lines.
        """
        require_kind(text, "str", "the signature")
        choices: dict[str, str] = {}
        whole = re.sub(r"\r?\n {0,2}", "", text.strip("\n")).removeprefix("signature: ")
        for part in whole.split("|"):
            key, colon, value = part.partition(":")
            if not key or not colon:
                raise UsageError(
                    f"{part!r} is not a part of a signature", advice="parts are written key:value"
                )
            key = _LONG.get(key, key)
            if key in choices:
                raise UsageError(f"the signature has {key!r} twice", advice="parts are written key:value")
            choices[key] = value.replace("%0A", "\n").replace("%7C", "|").replace("%25", "%")
        return cls(choices)

    def citing(self, **choices: str) -> Signature:
        """The signature with further choices, before `scores` and `version`.

        >>> str(Signature({"metrics": "masking", "scores": "1"}).citing(redacted="aligned"))
        'metrics:masking|redacted:aligned|scores:1'
        """
        merged = {**self.choices, **choices}
        last = {key: merged.pop(key) for key in ("scores", "version") if key in merged}
        return Signature(merged | last)

    def options(self) -> dict[str, Any]:
        """Return the keyword arguments of `score` for these choices.

        Raises `UsageError` for a choice that no option stands for, as those of transforms, and for what would not be
        written as it is in the signature, such as the hash of a file.
        """
        return self._options(beside=False)

    def _options(self, *, beside: bool) -> dict[str, Any]:
        """Return the options; those that are given `beside` them may stand for choices that none stands for."""
        choices = dict(self.choices)
        metrics = list(_metrics(choices.pop("metrics", "")))
        same_text = all(metric.same_text for metric in metrics)
        options: dict[str, Any] = {"metrics": metrics}
        for key, value in choices.items():
            if key in ("merge", "untyped"):
                options[key] = value == "yes"
            elif key == "where" and value != "all":
                where = [condition.partition("=") for condition in value.split(";")]
                options[key] = {name: values.split("|") for name, _, values in where}
                if written_filter(options[key]) != value:
                    problem = f"the filter {value!r} cannot be rebuilt"
                    raise UsageError(problem, advice="pass it to score yourself")
            elif value in _OPTION_VALUES.get(key, ()) or key in OF_ANSWERS:
                options[key] = value
            elif (key, value) == ("text", "aligned") and same_text:
                options["align"] = True
            elif key == "paired":
                options["pair_by"] = value
            elif key == "columns":
                options["layers"] = _layers(value)
            elif key in _OF_CURVES:
                options[_OF_CURVES[key]] = value
            elif not beside and key not in _WITHOUT_OPTION and (key, value) != ("gold", "alternatives"):
                raise UsageError(f"no option stands for {key}:{value}", advice="pass it to score yourself")
        return options

    def options_beside(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return `given` options of `score` with those for these choices; `require_counted` then checks the result.

        Choices that no option stands for are left to `given` ones. Another version that counts the same is a warning.
        Raises `UsageError` for one that counts otherwise, and for an option that contradicts a choice.
        """
        counts, version = (self.choices.get(key) for key in ("scores", "version"))
        if counts not in (None, str(SCORES)):
            raise UsageError(
                f"the signature says scores:{counts}, and clueval {__version__} counts scores:{SCORES}",
                advice=f"score with clueval {version or 'of the signature'}",
            )
        if version not in (None, __version__):
            warn(
                f"the signature is of clueval {version}, and this is {__version__}; scores:{SCORES} is the same"
            )
        options = self._options(beside=True)
        for name in options.keys() & given.keys():
            if type(options[name]) is type(given[name]) and options[name] != given[name]:
                says = f": {name}:{self.choices[name]}" if name in self.choices else ""
                raise UsageError(
                    f"{name}=... is not as the signature says{says}", advice="leave out one of them"
                )
        return {**options, **given}

    def require_counted(self, counted: Signature) -> None:
        """Raise `UsageError` if a result was counted by other choices; its version may differ."""
        differences = self.differences(counted)
        differences.pop("version", None)
        if "scores" not in self.choices:
            differences.pop("scores")
        if "metrics" in self.choices:  # they were counted, even if a shell has removed quotes in the text
            differences.pop("metrics", None)
        if differences:
            says = "; ".join(
                f"{key}:{expected or 'nothing'}, not {key}:{actual or 'nothing'}"
                for key, (expected, actual) in differences.items()
            )
            raise UsageError(
                f"these files and options do not count as the signature says: {says}",
                advice="leave out options that contradict it, and give those that it cannot name",
            )

    def differences(self, other: Signature) -> dict[str, tuple[str | None, str | None]]:
        """The choices that differ, with both values; None if a signature has no such choice.

        >>> Signature({"unit": "token"}).differences(Signature({"unit": "character"}))
        {'unit': ('token', 'character')}
        """
        differences: dict[str, tuple[str | None, str | None]] = {}
        for key in dict.fromkeys([*self.choices, *other.choices]):
            pair = self.choices.get(key, USUAL.get(key)), other.choices.get(key, USUAL.get(key))
            if pair[0] != pair[1]:
                differences[key] = pair
        return differences


def require_same(first: Signature, second: Signature, purpose: str) -> None:
    """Raise `UsageError`, with every choice that differs, unless two results can be compared or added (`purpose`).

    The version may differ, because `scores` changes with every change to a number, and so may the scheme of the
    predicted tags, and whether there are any. Of two results that are compared, one may have predictions that had to be
    located, or a curve. If results are added and ill-formed tags are repaired, the gold scheme may differ, too, because
    the rule of repair is the same in every scheme.
    """
    differences = first.differences(second)
    differences.pop("version", None)
    if "none" in differences.get("invalid", ()):  # a result without tags has none to treat
        del differences["invalid"]
    scheme, other = differences.get("scheme", (None, None))
    repaired = first.choices.get("invalid") == second.choices.get("invalid") == "conlleval"
    if (
        scheme
        and other
        and (scheme.split(":")[0] == other.split(":")[0] or (repaired and purpose == "added"))
    ):
        del differences["scheme"]
    for key, of_one_result in _OF_ONE_RESULT.items():
        if purpose == "compared" and None in differences.get(key, ()):
            for each in of_one_result:
                differences.pop(each, None)
    if purpose == "added":
        differences.pop("entities", None)  # metric masking adds documents with and without ids of entities
    if differences:
        text = "; ".join(
            f"{key} is {value or 'not said'} and {other or 'not said'}"
            for key, (value, other) in differences.items()
        )
        raise UsageError(
            f"the results cannot be {purpose}: {text}",
            advice="score both with the same options, or use force=True",
        )


OF_ANSWERS = ("unparsable", "missing")
"""The options for answers of language models that cannot be read or are missing."""

_OF_ONE_RESULT = {"located": ("located", *OF_ANSWERS), "score-feature": ("score-feature", "thresholds")}
"""Choices that only one of two results that are compared may have, with those that follow from them."""


def joined_signature(first: Signature, second: Signature, schemes: str) -> Signature:
    """A signature with both values of choices that differ; `schemes` is the scheme unless a side has documents."""
    both = {
        key: " and ".join(value for value in pair if value is not None)
        for key, pair in first.differences(second).items()
    }
    if "scheme" in both and "documents" not in (first.choices.get("scheme"), second.choices.get("scheme")):
        both["scheme"] = schemes
    return Signature({**first.choices, **both})


# Options

_OPTION_VALUES = {"unit": ("character",), "scheme": tuple(SCHEMES), "invalid": INVALID}
"""Choices that are options of the same name, and the values that are more than a default."""

_OF_CURVES = {"score-feature": "score_feature", "thresholds": "thresholds"}
"""The options of curves by their choices."""

_WITHOUT_OPTION = (
    *("average", "zero", "scores", "version"),
    *("where", "unit", "scheme", "invalid", "text"),
)
"""Choices that follow from others, or have a value that needs no option; documents say that gold has alternatives."""


def _metrics(text: str) -> Iterator[AnyMetric]:
    """Yield the metrics of ``metrics:``, with their settings."""
    from clueval.metrics.settings import metrics_in  # only signatures that are read need it

    try:
        for metric_text in metrics_in(text):
            metric = metric_of(metric_text)
            again = metrics_in(with_settings(metric))[0].settings
            if any(again.get(setting, value) != value for setting, value in metric_text.settings.items()):
                raise UsageError(
                    f"the settings of {metric.name} cannot be rebuilt", advice="pass them to score yourself"
                )
            yield metric
    except CluevalError as error:
        raise UsageError(
            f"the metrics of the signature cannot be read: {error.problem}",
            advice="check that it is a signature of this version",
        ) from None


def written_filter(where: Mapping[str, Iterable[str]]) -> str:
    """Return the text of a filter in signatures, by key; empty without conditions.

    >>> written_filter({"risk": ["medium", "high"], "domain": ["civil"]})
    'risk=high|medium;domain=civil'
    """
    return ";".join(f"{key}={'|'.join(sorted({*values}))}" for key, values in where.items())


def _layers(text: str) -> dict[str, int | tuple[int, int]]:
    layers: dict[str, int | tuple[int, int]] = {}
    for part in text.split("/"):
        layer, _, columns = part.rpartition("=")
        numbers = columns.split(":")
        if not layer or len(numbers) > 2 or not all(number.lstrip("-").isdigit() for number in numbers):
            raise UsageError(f"the columns {text!r} cannot be read", advice="pass layers to score yourself")
        layers[layer] = (int(numbers[0]), int(numbers[1])) if len(numbers) == 2 else int(numbers[0])
    return layers
