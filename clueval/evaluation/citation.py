"""A number of a result to cite: the number, the signature of exactly this number, and a BibTeX entry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from clueval.core.span import MERGED
from clueval.evaluation.inputs import schemes_of
from clueval.evaluation.rows import rows_of
from clueval.evaluation.score_path import number_at, whole_path
from clueval.evaluation.signature import Signature
from clueval.files.errors import UsageError
from clueval.first.metrics import with_settings
from clueval.first.metrics.metric import Metric
from clueval.version import __version__

Report = Mapping[str, Any]

BIBTEX = f"""\
@software{{clueval,
  author = {{{{The clueval authors}}}},
  title = {{clueval: scores for labelled spans}},
  version = {{{__version__}}},
  year = {{2026}}
}}"""


@dataclass(frozen=True, slots=True)
class Citation:
    """A number, its path below ``metrics``, and its signature, which names the layer, level, average and rate, too."""

    path: str
    number: float | None
    signature: Signature

    def to_dict(self) -> dict[str, Any]:
        """Return the number, both forms of the signature and the BibTeX entry."""
        return {
            "path": self.path,
            "number": self.number,
            "signature": str(self.signature),
            "short": self.signature.short,
            "bibtex": BIBTEX,
        }

    def __str__(self) -> str:
        return "\n".join(
            [
                f"{self.path} = {_shown(self.number)}",
                "",
                f"signature: {self.signature}",
                f"short: {self.signature.short}",
                "",
                BIBTEX,
            ]
        )


def citation(
    reports: Report, path: str, metrics: Iterable[Metric], inputs: Report, signature: Signature
) -> Citation:
    """Return the citation of a number of the reports, by metric and sequence.

    `metrics`, `inputs` and `signature` are those of the whole result. Raises `UsageError` if there is no such number.
    """
    names = whole_path(reports, path)
    value: Any = reports
    for name in names:
        value = value[name]
    if not isinstance(value, int | float | None):
        raise UsageError(f"{path!r} is not the path of a number", advice="as in exact.entity.micro.f1")
    metric, sequence, *below = names
    own = [each for each in metrics if each.name == metric]
    zero = [f"{metric}={each.zero}" for each in own if each.zero != "0"]
    choices = {
        "metrics": "+".join(with_settings(each) for each in own) or metric,
        "zero": ",".join(["0/0=0", *zero]),
    }
    own_inputs = _of_sequence(inputs, sequence)
    if signature.choices.get("scheme") not in (None, "documents"):
        choices["scheme"] = schemes_of(own_inputs)
    columns = _columns(own_inputs)
    cited = signature.citing(
        **choices,
        **_selected(reports[metric][sequence], metric, sequence, tuple(below)),
        layer=sequence,
        **({"columns": columns} if columns else {}),
    )
    return Citation(".".join(names), number_at(reports, names), cited)


def _selected(report: Report, metric: str, sequence: str, below: tuple[str, ...]) -> dict[str, str]:
    """Return the choices that select a number of a report: its row and its rate, or its path."""
    head = {"metric": metric, "sequence": sequence, "by": None, "value": None}
    for path, row in rows_of(head, report):
        section = row["section"]
        rate = below[-1].partition("_")[0]
        if path == below[:-1] and below[-1] in (rate, f"{rate}_{(section or '').rpartition('.')[2]}"):
            named = {"section": section, "level": row["level"], "label": row["label"], "rate": rate}
            return {
                "average": row["average"] or "none",
                **{key: str(value) for key, value in named.items() if value is not None},
            }
    return {"average": "none", "number": ".".join(below)}


def _of_sequence(inputs: Mapping[str, Mapping[str, Any]], sequence: str) -> dict[str, dict[str, Any]]:
    """Return the inputs with the layer of a sequence alone; all layers if they are merged."""
    return {
        side: {
            **found,
            "layers": {
                layer: of_layer for layer, of_layer in found["layers"].items() if sequence in (layer, MERGED)
            },
        }
        for side, found in inputs.items()
    }


def _columns(inputs: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the columns of layers, as ``entity=2`` or, if the sides differ, ``entity=2:3``; empty if unknown."""
    gold, predicted = (inputs.get(side, {}).get("layers", {}) for side in ("gold", "predicted"))
    found = []
    for layer, of_layer in gold.items():
        sources = dict.fromkeys([of_layer["source"], predicted.get(layer, of_layer)["source"]])
        if not all(isinstance(source, int) for source in sources):
            return ""
        found.append(f"{layer}={':'.join(map(str, sources))}")
    return "/".join(found)


def _shown(number: float | None) -> str:
    """Return a number in full, a rate as a percentage, too."""
    if number is None:
        return "undefined"
    return f"{number} ({100 * number:.2f} %)" if isinstance(number, float) and number <= 1 else str(number)
