"""What changes before counting cost: each option of `clueval.score` against reading the same documents.

Prints minima of CPU seconds over some runs, of documents that are in memory already: reading them once, scoring them,
and scoring them with one option each. The column *option / read* is the time that the option adds, divided by that of
reading the documents; the memory is the greatest that the option's run adds (tracemalloc, in a run of its own).

    python benchmarks/prepared.py --tokens 300000 --runs 3
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from measure import least

import clueval
from clueval import Document, Span

HERE = Path(__file__).parent


def peak(run: Callable[[], object]) -> float:
    """Return the greatest memory of a run in MB."""
    tracemalloc.start()
    run()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most / 1e6


def sides_of(folder: Path, tokens: int) -> list[Path]:
    """Return the two files of a generated corpus."""
    command = [sys.executable, str(HERE / "generate.py"), "--tokens", str(tokens), "--out", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return [folder / "gold.vrt", folder / "predicted.vrt"]


def with_groups(document: Document) -> Document:
    """Return a document in which every span has an alternative, one position longer."""
    layers = {}
    for layer, spans in document.layers.items():
        members = []
        for number, span in enumerate(spans):
            end = min(span.end + 1, document.end or span.end)
            for stop in (span.end, end):
                members.append(Span(span.start, stop, span.labels, {"group": number}))
        layers[layer] = members
    return replace(document, layers=layers, tags={})


def with_gaps(document: Document) -> Document:
    """Return a document in which every span of three positions or more has a gap."""
    layers = {
        layer: [
            Span.of_fragments([(s.start, s.start + 1), (s.start + 2, s.end)], s.labels) if len(s) > 2 else s
            for s in spans
        ]
        for layer, spans in document.layers.items()
    }
    return replace(document, layers=layers, tags={})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tokens", type=int, default=300_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    layers = {"entity": 2}
    with TemporaryDirectory() as folder:
        paths = sides_of(Path(folder), options.tokens)
        gold, predicted = (list(clueval.read(path, layers)) for path in paths)
        reading = least(lambda: [list(clueval.read(path, layers)) for path in paths], options.runs)
    labels = sorted({span.label for document in gold for span in document.layers["entity"]})
    others = [
        replace(document, layers=other.layers, tags={})
        for document, other in zip(gold, predicted, strict=True)
    ]
    plain = [replace(document, tags={}) for document in gold]  # tags would give another way of counting
    count = partial(clueval.score, metrics="exact")
    cases: dict[str, tuple[list[Document], dict[str, Any]]] = {
        "label map": (plain, {"label_map": dict.fromkeys(labels, "X") | {"*": "*"}}),
        "depth": (plain, {"hierarchy": ".", "depth": 1}),
        "untyped": (plain, {"untyped": True}),
        "generic": (plain, {"generic": labels}),
        "ignored label, inside": (plain, {"ignore_label": labels[:1]}),
        "ignored label, touching": (plain, {"ignore_label": labels[:1], "ignored": "touching"}),
        "fragments split": ([with_gaps(each) for each in gold], {"fragments": "split"}),
        "alternatives": ([with_groups(each) for each in gold], {}),
        "any of two golds": (plain, {"any_of": [others]}),
    }
    base = least(lambda: count(plain, predicted), options.runs)
    print(f"{options.tokens:,} tokens, {sum(len(d.layers['entity']) for d in gold):,} gold spans")
    print(f"  {'reading both sides':26} {reading:7.2f} s")
    print(f"  {'score, metric exact':26} {base:7.2f} s {base / reading:6.2f} x reading")
    for name, (own, given) in cases.items():
        run = partial(count, own, predicted, **given)
        seconds = least(run, options.runs)
        added = seconds - base
        print(f"  {name:26} {seconds:7.2f} s {added / reading:6.2f} option / read {peak(run):7.1f} MB")


if __name__ == "__main__":
    main()
