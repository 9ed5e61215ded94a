"""The signature of a result says what its numbers are: every choice that was made, and the version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType

from clueval.exceptions import UsageError
from clueval.metrics.metric import Metric
from clueval.version import SCORES, __version__

SHORT = MappingProxyType(
    {
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
)
"""The keys of the short form. A key that is not among them is written in full there, too."""

_LONG = MappingProxyType({short: key for key, short in SHORT.items()})


@dataclass(frozen=True, slots=True)
class Signature:
    """The choices that a score depends on, in a fixed order: what to print beside it and to cite.

    Signatures are equal if all their choices are, in whatever order. In the long form a key is a word, in the
    short form a letter (see `SHORT`); nothing else is left out, so either can be parsed back.

    >>> signature = Signature({"metrics": "levels", "unit": "token"})
    >>> str(signature), signature.short
    ('metrics:levels|unit:token', 'm:levels|u:token')
    >>> Signature.parse(signature.short) == signature
    True
    """

    choices: Mapping[str, str]

    def __str__(self) -> str:
        return _written(self.choices.items())

    def __hash__(self) -> int:
        return hash(frozenset(self.choices.items()))

    @property
    def short(self) -> str:
        """The short form: letters for the keys."""
        return _written((SHORT.get(key, key), value) for key, value in self.choices.items())

    @classmethod
    def of(
        cls, metrics: Iterable[Metric], choices: Mapping[str, str], units: Iterable[str] = ()
    ) -> Signature:
        """The signature of an evaluation by these metrics, in these units, with these choices beside the usual.

        A choice that is not made has its usual value. Reports hold all averages and name them, so `average` is
        ``all`` until a number is cited; see `citing`.
        """
        found = list(metrics)
        special = [f"{metric.name}={metric.zero}" for metric in found if metric.zero != "0"]
        usual = {
            "metrics": "+".join(_described(metric) for metric in found),
            "unit": "+".join(sorted(units)) or "token",
            "scheme": "none",
            "invalid": "conlleval",
            "average": "all",
            "merge": "no",
            "where": "all",
            "zero": ",".join(["0/0=0", *special]),
            "text": "equal",
        }
        return cls({**usual, **choices, "scores": str(SCORES), "version": __version__})

    @classmethod
    def parse(cls, text: str) -> Signature:
        """The signature that prints like this, in its long or short form. Raises `UsageError` if none does."""
        choices: dict[str, str] = {}
        for part in text.strip("\n").split("|"):
            key, colon, value = part.partition(":")
            if not key or not colon:
                raise UsageError(f"{part!r} is no part of a signature", advice="parts are written key:value")
            key = _LONG.get(key, key)
            if key in choices:
                raise UsageError(f"the signature has {key!r} twice", advice="parts are written key:value")
            choices[key] = _unquoted(value)
        return cls(choices)

    def citing(self, **choices: str) -> Signature:
        """The signature of one number of the result: with the choices that lead to it, `scores` and the version last.

        >>> str(Signature({"metrics": "levels", "average": "all"}).citing(average="micro", level="1"))
        'metrics:levels|average:micro|level:1'
        """
        merged = {**self.choices, **choices}
        last = {key: merged.pop(key) for key in ("scores", "version") if key in merged}
        return Signature(merged | last)

    def differences(self, other: Signature) -> dict[str, tuple[str | None, str | None]]:
        """The choices that are not the same, with both values; None where one has no such choice.

        >>> Signature({"unit": "token"}).differences(Signature({"unit": "character"}))
        {'unit': ('token', 'character')}
        """
        keys = [*self.choices, *(key for key in other.choices if key not in self.choices)]
        pairs = {key: (self.choices.get(key), other.choices.get(key)) for key in keys}
        return {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}


def require_same(own: Signature, other: Signature, purpose: str) -> None:
    """Raise `UsageError`, naming every choice that differs, if two signatures are not of results of the same kind.

    The version may differ (`scores` grows with every change to any number, and is compared in its place), and the
    scheme of the predicted tags. To be added, gold's may differ, too, where ill-formed tags are repaired: that rule is
    the same in every scheme.
    """
    found = own.differences(other)
    found.pop("version", None)
    one, two = found.get("scheme", (None, None))
    repaired = own.choices.get("invalid") == other.choices.get("invalid") == "conlleval"
    if one and two and (one.split(":")[0] == two.split(":")[0] or (repaired and purpose == "added")):
        del found["scheme"]
    if purpose == "added":
        found.pop(
            "entities", None
        )  # the documents have ids of entities or not, and metric masking takes both
    if found:
        what = "; ".join(
            f"{key} is {one or 'not said'} and {two or 'not said'}" for key, (one, two) in found.items()
        )
        raise UsageError(
            f"the results cannot be {purpose}: {what}",
            advice="evaluate both alike, or insist with force=True",
        )


def _described(metric: Metric) -> str:
    """A metric and its settings."""
    names = [setting.name for setting in fields(metric) if setting.compare]  # type: ignore[arg-type]  # a dataclass
    values = {name: getattr(metric, name) for name in names}
    settings = [
        f"{name}={'default' if name == 'weights' and value is None else plain(value)}"
        for name, value in values.items()
    ]
    return f"{metric.name}({','.join(settings)})" if settings else metric.name


def plain(value: object) -> str:
    """A setting as signatures write it."""
    if isinstance(value, Mapping):
        return "/".join(f"{key}={plain(part)}" for key, part in value.items())
    if isinstance(value, set | frozenset):
        return "/".join(sorted(map(str, value))) or "none"
    if isinstance(value, tuple | list):
        return "/".join(map(str, value)) or "none"
    if value is None:
        return "none"
    if value == "":
        return "''"
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def _written(choices: Iterable[tuple[str, str]]) -> str:
    return "|".join(f"{key}:{_quoted(value)}" for key, value in choices)


def _quoted(value: str) -> str:
    return value.replace("%", "%25").replace("|", "%7C").replace("\n", "%0A")


def _unquoted(value: str) -> str:
    return value.replace("%0A", "\n").replace("%7C", "|").replace("%25", "%")
