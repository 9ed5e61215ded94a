"""Options with which lists are counted one by one, and the outcome with the counts of all units."""

from __future__ import annotations

from typing import Any

from clueval import CluevalError, score

BY_DOCUMENT: list[dict[str, Any]] = [
    {"by": "document"},
    {"by": "document", "where": ["document=1"]},
    {"where": ["document=0"], "resample_by": "document"},
    {"resample_by": "document", "merge": True},
    {"resample_by": "sentence"},
    {"resample_by": "document", "average": "document"},
]


def outcome(gold: Any, predicted: Any, **options: Any) -> Any:
    try:
        result = score(gold, predicted, **options)
    except CluevalError as error:
        return str(error)
    units = result.units
    assert units is not None or "resample_by" not in options
    parts = {"all": units.units if units is not None else []}
    for key, values in (units.groups if units is not None else {}).items():
        parts |= {f"{key} {value}": of_value for value, of_value in values.items()}
    plain = {
        name: [
            (unit.key, unit.documents, unit.tokens, {k: +t for k, t in unit.tallies.items()}) for unit in some
        ]
        for name, some in parts.items()
    }
    return result.to_dict(), plain
