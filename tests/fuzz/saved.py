"""Saved results: two of the same gold, changed as text and as JSON, and the commands that read them."""

from __future__ import annotations

import json
import tempfile
import warnings
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

from clueval import Document, Span, score
from clueval.metrics import METRICS

from .mutations import mutated

SAVED = "saved"
"""The name under which saved results are fuzzed."""

TEXT = "abcdefghijklmnop"
STRANGE = (
    *(None, True, False, -1, 0, 1, 2, 7, 1.5, -0.0, 1e308, float("nan"), float("inf"), 2**31, 2**53, 2**64),
    *(10**400, "", "x", "label", "exact", "gold", "d1", "\ud800", "document", [], [[]], {}, {"x": 1}, [0]),
    *([-1, 2],),
)


def saved_files(rng: Random) -> tuple[dict[str, bytes], list[str]]:
    """Two or three saved results by their names, each perhaps changed, and paths of their scores."""
    metrics = tuple(rng.sample(sorted(METRICS), rng.choice((1, 1, 2))))
    files, paths = _valid(metrics, rng.randrange(4))
    found = {name: _changed(data, rng) if rng.random() < 0.5 else data for name, data in files.items()}
    return found, paths


@lru_cache(maxsize=64)
def _valid(metrics: tuple[str, ...], seed: int) -> tuple[dict[str, bytes], list[str]]:
    rng = Random(seed)
    gold = [_document(rng, number) for number in range(7)]
    files: dict[str, bytes] = {}
    by = rng.choice(([], [], ["court"]))
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("a", "b", "c"):
            predicted = [_document(rng, number) for number in range(7)]
            result = score(gold, predicted, metrics=metrics, resample_by="document", by=by)
            path = Path(folder, name)
            result.save(path)
            files[f"{name}.clueval"] = path.read_bytes()
    return files, sorted({row["path"] for row in result.rows(long=True) if row["path"]})


def _document(rng: Random, number: int) -> Document:
    starts = sorted(rng.sample(range(0, 15, 3), rng.randrange(5)))
    spans = [Span(start, start + rng.choice((1, 2, 3)), rng.choice(("PER", "LOC"))) for start in starts]
    return Document(
        f"d{number}", {"label": spans}, text=TEXT, unit="character", metadata={"court": "xy"[number % 2]}
    )


def _changed(data: bytes, rng: Random) -> bytes:
    for _ in range(rng.choice((1, 1, 2, 4))):
        data = mutated(data, rng) if rng.random() < 0.3 else _with_another_value(data, rng)
    return data


def _with_another_value(data: bytes, rng: Random) -> bytes:
    """The file with one value of one of its lines replaced, left out or doubled."""
    lines = data.split(b"\n")
    place = rng.randrange(len(lines))
    try:
        line = json.loads(lines[place])
    except ValueError:
        return data
    nodes = list(_nodes(line))
    if nodes:
        parent, key = rng.choice(nodes)
        kind = rng.randrange(6)
        if kind == 0:
            del parent[key]
        elif kind == 1 and isinstance(parent, list):
            parent.insert(key, parent[key])
        else:
            parent[key] = rng.choice(STRANGE)
    lines[place] = json.dumps(line).encode()
    return b"\n".join(lines)


def _nodes(value: Any) -> Any:
    """Every place in a JSON value: its list or object, and its number or name there."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in list(pairs):
        yield value, key
        yield from _nodes(part)


def saved_command(rng: Random, paths: list[str]) -> list[str]:
    """A command that compares the results."""
    systems = rng.choice((["a", "b"], ["a", "b", "c"], ["a,b", "c"], ["a,b", "b,c"], ["a", "a"], ["c", "b"]))
    files = [",".join(f"{run}.clueval" for run in system.split(",")) for system in systems]
    if rng.random() < 0.3:
        files = [rng.choice(("one={}", "two={}", "{}", "={}", "three=[{}")).format(file) for file in files]
    more = (
        [],
        *(["--format", form] for form in ("text", "json", "tsv", "markdown", "latex")),
        ["-o", "out.html"],
        ["--force"],
        ["--baseline", rng.choice(("a", "c", "one", ""))],
        ["--digits", rng.choice(("0", "3", "11", "-1"))],
        ["--force", "--detect", rng.choice(("0.01", "0", "1e-300", "nan", "1e308"))],
        ["--score", rng.choice(paths or ["x"])],
        ["--confidence", rng.choice(("0.9", "0.999999", "1", "1e-9"))],
        ["--resamples", rng.choice(("1", "2", "99"))],
    )
    return ["compare", *files, "--resamples", "99", *rng.choice(more), *rng.choice(more[:1] + more[-4:])]
