"""Nothing is lost: what a naive reader counts is what comes out, however a file is written, packed or cut."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from fuzz.corpora import DESCRIPTION, Files
from fuzz.naive import COUNTS
from fuzz.tools import FORMATS as FUZZED
from fuzz.tools import TOOLS

from clueval import Result, score

FORMATS = {name: made for name, made in FUZZED.items() if name not in ("mentions", "inline-answers", "tags")}
"""Formats whose two sides can change places; gold is never an answer of a language model, nor tags alone."""

QUICK = [pytest.param(kind, marks=pytest.mark.long) if kind in TOOLS else kind for kind in FORMATS]
"""The formats; the last is docbin, which is binary."""

SEEDS = range(5)
"""Each is a pair of files in each format."""

some_seeds = pytest.mark.parametrize(
    "seeds", [SEEDS[:2], pytest.param(SEEDS[2:], marks=pytest.mark.long)], ids=str
)


def written(files: Files, folder: Path) -> tuple[Path, Path]:
    folder.mkdir(exist_ok=True)
    for name, data in files.more.items():
        (folder / name).write_bytes(data)
    paths = folder / f"gold.{files.ending}", folder / f"predicted.{files.ending}"
    for path, data in zip(paths, (files.gold, files.predicted), strict=True):
        path.write_bytes(data)
    return paths


def settings(kind: str, files: Files, folder: Path) -> dict[str, Any]:
    """The options of the command line, as `score` has them."""
    given: dict[str, Any] = {}
    if "--layer" in files.options:
        layers = files.options[files.options.index("--layer") + 1]
        given["layers"] = {
            part[: part.index("=")]: int(part[part.index("=") + 1 :]) for part in layers.split(",")
        }
    if "--token-id" in files.options:
        given["token_id"] = 3
    if kind.startswith("spans"):
        given["text"] = folder / "text.vrt"
    if kind in ("spans-tsv", "spans-csv", "fair-spans", "conll2000", "nerval", "inline"):
        given["input"] = "spans" if kind.startswith("spans") else kind
    if kind == "row":
        given["row"] = DESCRIPTION
    if kind == "conll2000":
        given["ignore_punct"] = False
    return given


def text_of(files: Files) -> bytes:
    """The text that stands in a file of its own."""
    return files.more.get("text.vrt") or files.more.get("gold.txt", b"")


def sets(kind: str, gold: str = "Key", predicted: str = "Run") -> dict[str, str]:
    return {"gold_set": gold, "predicted_set": predicted} if kind in ("gate-xml", "bdoc", "tab") else {}


def pairs(
    kind: str, folder: Path, seeds: range = SEEDS
) -> Iterator[tuple[Files, Path, Path, dict[str, Any]]]:
    for seed in seeds:
        files = FORMATS[kind](Random(f"{kind}{seed}"))
        here = folder / str(seed)
        yield (files, *written(files, here), settings(kind, files, here))


def first(report: dict[str, Any]) -> Any:
    return next(iter(report.values()))


@pytest.mark.few(4)
@some_seeds
@pytest.mark.parametrize("kind", FORMATS)
def test_a_file_against_itself_is_perfect_with_as_many_tokens_and_spans_as_it_has(
    kind: str, seeds: range, tmp_path: Path
) -> None:
    for files, gold, _, given in pairs(kind, tmp_path, seeds):
        tokens, spans = COUNTS[kind](files.gold, "Key", text_of(files))

        result = score(gold, gold, metrics=("muc", "gate", "fair"), **given, **sets(kind, "Key", "Key"))

        assert result.tokens == tokens
        assert sum(result.repaired_tags.values()) == 0
        strict = first(result.metrics["muc"])["strict"]
        gate = first(result.metrics["gate"])["all"]
        fair = first(result.metrics["fair"])["overall"]["fair"]
        assert strict["correct"] == strict["possible"] == strict["actual"] == spans
        assert gate["correct_strict"] == gate["targets"] == gate["responses"] == spans
        assert fair["TP"] == spans


@pytest.mark.few(4)
@some_seeds
@pytest.mark.parametrize("kind", FORMATS)
def test_every_span_of_the_predicted_side_is_counted(kind: str, seeds: range, tmp_path: Path) -> None:
    for files, gold, predicted, given in pairs(kind, tmp_path, seeds):
        text = text_of(files)
        own, other = (
            COUNTS[kind](data, name, text)[1]
            for data, name in ((files.gold, "Key"), (files.predicted, "Run"))
        )

        strict = first(score(gold, predicted, metrics="muc", **given, **sets(kind)).metrics["muc"])["strict"]

        assert (strict["possible"], strict["actual"]) == (own, other)


def rewritten(data: bytes) -> Iterator[tuple[str, bytes]]:
    yield "gz", gzip.compress(data)
    yield "crlf", data.replace(b"\n", b"\r\n")
    yield "bom", b"\xef\xbb\xbf" + data
    yield "all", gzip.compress(b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n"))


@pytest.mark.few(3)
@some_seeds
@pytest.mark.parametrize("kind", QUICK[:-1])
def test_packing_line_ends_and_byte_order_marks_change_no_number(
    kind: str, seeds: range, tmp_path: Path
) -> None:
    for files, gold, predicted, given in pairs(kind, tmp_path, seeds):
        metrics = ("muc", "levels") if kind != "conll2000" else ("muc",)
        expected = score(gold, predicted, metrics=metrics, **given, **sets(kind))
        for how, data in rewritten(predicted.read_bytes()):
            other = predicted.with_name(f"{how}-{predicted.name}")
            other.write_bytes(data)
            if text := files.more.get("predicted.txt"):
                other.with_suffix(".txt").write_bytes(text)
            found = score(gold, other, metrics=metrics, **given, **sets(kind))
            assert found == expected, how


SWAPPED = "exact", "muc", "fair", "gate", "partial"


@pytest.mark.few(3)
@pytest.mark.parametrize("kind", QUICK)
@pytest.mark.parametrize(
    "metrics", [SWAPPED, *(pytest.param((name,), marks=pytest.mark.long) for name in SWAPPED)], ids=",".join
)
def test_swapped_sides_swap_precision_and_recall(kind: str, metrics: tuple[str, ...], tmp_path: Path) -> None:
    if kind == "conll2000":
        metrics = tuple(name for name in metrics if name != "exact")  # its spans are nested
    for _, gold, predicted, given in pairs(kind, tmp_path) if metrics else ():
        one = score(gold, predicted, metrics=metrics, **given, **sets(kind))
        other = score(predicted, gold, metrics=metrics, **given, **sets(kind, "Run", "Key"))
        for rates, swapped in zip(_rates(one.metrics), _rates(other.metrics), strict=True):
            assert rates == swapped[::-1]


def _rates(report: Any) -> Iterator[tuple[float, float]]:
    """All pairs of precision and recall of the micro figures."""
    if isinstance(report, dict):
        if "precision" in report and "recall" in report:
            yield report["precision"], report["recall"]
        for key in sorted(report):
            if key not in ("per_label", "macro", "weighted"):
                yield from _rates(report[key])


# --- parts ------------------------------------------------------------------------------------------------------

SPLIT = ("vrt", "conll", "fair-spans", "conll2000")
"""Formats of which files can be put one after the other."""


@some_seeds
@pytest.mark.parametrize("kind", SPLIT)
def test_the_results_of_the_parts_add_up_to_that_of_the_whole(
    kind: str, seeds: range, tmp_path: Path
) -> None:
    for seed in seeds:
        parts = [FORMATS[kind](Random(f"{kind}{seed}.{number}")) for number in range(12)]
        parts = [part for part in parts if part.options == parts[0].options and _alike(part, parts[0])]
        between = b"\n" if kind in ("fair-spans", "conll2000") else b""
        whole = Files(
            between.join(part.gold for part in parts),
            between.join(part.predicted for part in parts),
            parts[0].ending,
        )
        given = settings(kind, parts[0], tmp_path)
        metrics = ("muc", "fair", "gate")
        results = [
            score(*written(part, tmp_path / f"{seed}.{number}"), metrics=metrics, **given)
            for number, part in enumerate(parts)
        ]

        found = score(*written(whole, tmp_path / f"{seed}"), metrics=metrics, **given)

        total = results[0]
        for result in results[1:]:
            total = total.add(result)
        assert _counts(total) == _counts(found)


def _alike(one: Files, other: Files) -> bool:
    """Whether documents begin in the same way in both, and columns are separated in the same way."""
    heads = (b"-DOCSTART-", b"# newdoc", b"<s>")
    return [head in one.gold for head in heads] == [head in other.gold for head in heads] and (
        b"\t" in one.gold
    ) == (b"\t" in other.gold)


def _counts(result: Result) -> tuple[Any, ...]:
    return result.tokens, result.repaired_tags, result.metrics
