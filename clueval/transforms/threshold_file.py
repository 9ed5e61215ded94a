"""Files of ``clueval threshold``: a threshold that was chosen on some data, to use on other data.

{"threshold": 0.42, "score_feature": "score", "metric": "exact", "measure": "f1", "value": 0.81,
 "signature": "metrics:exact|...", "gold_sha256": "..."}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from typing import Any, NamedTuple

from clueval.exceptions import FormatError
from clueval.spans.number import number_of
from clueval.textfiles import decoded
from clueval.transforms.names import content_of, sha8


class ThresholdFile(NamedTuple):
    """The content of a file: `threshold` is one number, or one for each label.

    `gold_sha256` tells the gold files apart for which the threshold was chosen; None if they were no files. `sha` is
    the beginning of the hash of the file itself.
    """

    threshold: float | Mapping[str, float]
    score_feature: str
    metric: str
    measure: str
    gold_sha256: str | None
    sha: str

    def says(self, *, same_data: bool = False) -> str:
        """Return the value for the signature."""
        shown = "per-label" if isinstance(self.threshold, Mapping) else f"{self.threshold:g}"
        more = ",same-data" if same_data else ""
        return f"{shown}(dev,{self.measure},{self.metric},{self.sha}{more})"


def read_threshold(given: str | PathLike[str]) -> ThresholdFile:
    """Return the content of a file. Raises `FormatError` for a file of another form, `FileError`."""
    path, content = content_of(given, "Preparing.min_score")
    try:
        value = json.loads(decoded(content, path, 1))
    except (json.JSONDecodeError, RecursionError):
        value = None
    found = value if isinstance(value, dict) else {}
    threshold, names = _threshold(found.get("threshold")), ("score_feature", "metric", "measure")
    sha256 = found.get("gold_sha256")
    if threshold is None or not all(isinstance(found.get(name), str) for name in names):
        raise FormatError(
            "is not a file of clueval threshold",
            file=str(path),
            advice="write one with clueval threshold GOLD PREDICTED --score-feature F -o T.json, or give a number",
        )
    feature, metric, measure = (found[name] for name in names)
    known = sha256 if isinstance(sha256, str) else None
    return ThresholdFile(threshold, feature, metric, measure, known, sha8(content))


def _threshold(value: Any) -> float | dict[str, float] | None:
    if not isinstance(value, dict):
        return None if isinstance(value, str) else number_of(value)
    numbers = {label: None if isinstance(each, str) else number_of(each) for label, each in value.items()}
    return None if None in numbers.values() else numbers  # type: ignore[return-value]  # none is None
