"""Answers of language models, profiles and curves: CPU time per document, compared with reading the documents.

    python benchmarks/answers.py --documents 4000 --runs 3

Prints a table: the minimum of the runs, and its ratio to reading both sides alone. Seeded; standard library only.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure import least

import clueval
from clueval.core.exact import Exact

WORDS = ["Ada", "Bob", "Ulm", "Lovelace", "Mary", "Rome", *(f"word{n}" for n in range(200))]


def written(folder: Path, documents: int, rng: random.Random) -> tuple[Path, Path, Path]:
    """Write gold, predicted spans with scores, and answers: mentions of which one in ten is changed."""
    gold, spans, answers = [], [], []
    for number in range(documents):
        words = [rng.choice(WORDS) for _ in range(rng.randint(50, 150))]
        text = " ".join(words)
        places, at = [], 0
        for word in words:
            if word[0].isupper():
                places.append((at, at + len(word), "PER" if len(word) > 3 else "LOC"))
            at += len(word) + 1
        gold.append({"id": f"d{number}", "text": text, "label": places})
        found = [place for place in places if rng.random() < 0.9]
        spans.append(
            {
                "id": f"d{number}",
                "text": text,
                "label": [
                    {
                        "start_offset": start,
                        "end_offset": end,
                        "label": label,
                        "score": round(rng.random(), 3),
                    }
                    for start, end, label in found
                ],
            }
        )
        entities = [
            {"text": text[start:end] if rng.random() < 0.9 else text[start:end].upper(), "label": label}
            for start, end, label in found
        ]
        answers.append({"id": f"d{number}", "entities": entities})
    paths = []
    for name, rows in (("gold", gold), ("spans", spans), ("answers", answers)):
        paths.append(folder / f"{name}.jsonl")
        paths[-1].write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return paths[0], paths[1], paths[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0] if __doc__ else None)
    parser.add_argument("--documents", type=int, default=4000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        gold, spans, answers = written(Path(folder), options.documents, random.Random(1))
        mentions: dict[str, Any] = {"input": "mentions", "metrics": "exact"}
        cases: dict[str, Callable[[], Any]] = {
            "read both sides": lambda: [list(clueval.read(path)) for path in (gold, spans)],
            "score exact": lambda: clueval.score(gold, spans, metrics="exact"),
            "mentions: exact,space": lambda: clueval.score(gold, answers, **mentions),
            "mentions: exact,space,case": lambda: clueval.score(
                gold, answers, locate="exact,space,case", **mentions
            ),
            "mentions: fuzzy=0.8": lambda: clueval.score(
                gold, answers, locate="exact,case,fuzzy=0.8", **mentions
            ),
            "profile, six features": lambda: str(clueval.profile(gold, spans)),
            "curve of exact, all scores": lambda: clueval.score(
                gold, spans, metrics="exact", score_feature="score"
            ),
            "curve of partial, 11 thresholds": lambda: clueval.score(
                gold, spans, metrics="partial", score_feature="score"
            ),
            "exact.min_overlap=0.5": lambda: clueval.score(gold, spans, metrics=[Exact(min_overlap=0.5)]),
            "coverage": lambda: clueval.score(gold, spans, metrics="coverage"),
        }
        first = None
        print("| case | CPU s | / reading | peak MiB |\n| --- | ---: | ---: | ---: |")
        for name, run in cases.items():
            run()  # to warm up
            seconds = least(run, options.runs)
            first = first or seconds
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"| {name} | {seconds:.2f} | {seconds / first:.2f} | {peak:.0f} |", flush=True)


if __name__ == "__main__":
    main()
