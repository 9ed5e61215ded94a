"""Routes agree: one evaluation has one result, whichever way it is carried out."""

from __future__ import annotations

import pytest
from routes import (
    FORMATS,
    ROUTES,
    Files,
    Options,
    by_files,
    outcome,
    without,
)

from clueval.metrics import METRICS

pytest.importorskip("rapidfuzz")

TOGETHER: Options = {"metrics": [name for name in METRICS if name != "noisy"]}
ALONE: list[Options] = [{"metrics": [name]} for name in METRICS]


def disagreements(form: str, files: Files, options: Options) -> list[str]:
    """The routes whose outcome is not that of whole files in one process."""
    expected = outcome(by_files, files, options)
    return [
        name
        for name, route in ROUTES.items()
        if route.takes(FORMATS[form], options)
        and outcome(route.run, files, options, route.says) != without(expected, route.says)
    ]
