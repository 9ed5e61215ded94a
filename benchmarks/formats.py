"""How long annotation formats take: JSON Lines against `json.loads` of every line, brat against reading its files.

Prints minima of CPU seconds over some runs in one process, as ratios, and the peak memory of whole processes. The
corpus is that of `generate.py`: 75,000 spans per million tokens, an error in 20 % of the sentences. A row is a
sentence, ten or fifty sentences.

    python benchmarks/formats.py --tokens 1000000 --runs 3
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from generate import Corpus, Stretch, stretches
from measure import least, run_once

import clueval

SIDES = ("gold", "predicted")
SENTENCES = (1, 10, 50)
DOCUMENTS = 2_000
METRICS = ("levels", "exact")
SCORE = (sys.executable, "-m", "clueval", "score")


class Row(NamedTuple):
    """A text, its tokens, its spans with the numbers of their characters, and its tags."""

    number: int
    text: str
    tokens: list[str]
    spans: list[tuple[int, int, str]]
    tags: list[str]


def rows(tokens: int, sentences: int, side: int) -> Iterator[Row]:
    """Yield the rows of one side."""
    every = stretches(Corpus(tokens=tokens))
    for number in range(1, tokens + 1):
        found = list(islice(every, sentences))
        if not found:
            return
        yield _row(number, found, side)


def _row(number: int, found: Sequence[Stretch], side: int) -> Row:
    tokens = [word for stretch in found for word in stretch.words]
    starts = [0]
    for token in tokens:
        starts.append(starts[-1] + len(token) + 1)
    tags = ["O"] * len(tokens)
    spans = []
    first = 0
    for stretch in found:
        for mark in (stretch.gold, stretch.predicted)[side][0]:
            start, end = first + mark.start, first + mark.end
            spans.append((starts[start], starts[end] - 1, mark.label))
            tags[start:end] = [f"B-{mark.label}", *[f"I-{mark.label}"] * (end - start - 1)]
        first += len(stretch.words)
    return Row(number, " ".join(tokens), tokens, spans, tags)


def _objects(row: Row) -> list[dict[str, Any]]:
    return [{"start": start, "end": end, "label": label} for start, end, label in row.spans]


def _regions(row: Row) -> list[dict[str, Any]]:
    return [
        {
            "id": f"r{number}",
            "type": "labels",
            "from_name": "label",
            "to_name": "text",
            "value": {"start": start, "end": end, "text": row.text[start:end], "labels": [label]},
        }
        for number, (start, end, label) in enumerate(row.spans)
    ]


def _mentions(row: Row) -> list[dict[str, Any]]:
    return [
        {
            "entity_mention_id": f"m{number}",
            "entity_type": label,
            "start_offset": start,
            "end_offset": end,
            "span_text": row.text[start:end],
            "identifier_type": "QUASI",
            "entity_id": f"e{number}",
        }
        for number, (start, end, label) in enumerate(row.spans)
    ]


def _ranges(row: Row) -> list[list[Any]]:
    """Return the spans as their first and last token, and their label."""
    found: list[list[Any]] = []
    for place, tag in enumerate(row.tags):
        if tag.startswith("B-"):
            found.append([place, place, tag[2:]])
        elif tag != "O":
            found[-1][1] = place
    return found


FORMS: dict[str, Callable[[Row], Any]] = {
    "doccano": lambda row: {"id": row.number, "text": row.text, "label": row.spans},
    "prodigy": lambda row: {
        "text": row.text,
        "_input_hash": row.number,
        "spans": _objects(row),
        "answer": "accept",
    },
    "spacy-json": lambda row: {"id": str(row.number), "text": row.text, "ents": _objects(row)},
    "label-studio": lambda row: {
        "id": row.number,
        "data": {"text": row.text},
        "annotations": [{"completed_by": 1, "was_cancelled": False, "result": _regions(row)}],
    },
    "tab": lambda row: {
        "doc_id": str(row.number),
        "text": row.text,
        "annotations": {"annotator1": {"entity_mentions": _mentions(row)}},
    },
    "langextract": lambda row: {
        "document_id": str(row.number),
        "text": row.text,
        "extractions": [
            {
                "extraction_class": label,
                "extraction_text": row.text[start:end],
                "char_interval": {"start_pos": start, "end_pos": end},
                "alignment_status": "match_exact",
                "attributes": None,
            }
            for start, end, label in row.spans
        ],
    },
    "ai4privacy": lambda row: {
        "id": row.number,
        "source_text": row.text,
        "privacy_mask": [{**each, "value": row.text[each["start"] : each["end"]]} for each in _objects(row)],
    },
    "nemotron": lambda row: {
        "uid": str(row.number),
        "text": row.text,
        "text_tagged": "",
        "spans": str([{**each, "text": row.text[each["start"] : each["end"]]} for each in _objects(row)]),
    },
    "presidio": lambda row: {
        "sample_id": row.number,
        "full_text": row.text,
        "spans": [
            {
                "entity_type": label,
                "entity_value": row.text[start:end],
                "start_position": start,
                "end_position": end,
            }
            for start, end, label in row.spans
        ],
    },
    "gliner": lambda row: {"tokenized_text": row.tokens, "ner": _ranges(row)},
    "token-rows": lambda row: {"id": str(row.number), "tokens": row.tokens, "ner_tags": row.tags},
}


def loads(paths: Sequence[Path]) -> None:
    """Parse every line: the lower bound."""
    for path in paths:
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                json.loads(line)


def read_all(paths: Sequence[Path]) -> None:
    """Read every file: the lower bound."""
    for path in paths:
        with path.open(encoding="utf-8", newline="") as file:
            file.read()


def of_rows(folder: Path, tokens: int, runs: int) -> None:
    """Print the ratios for JSON Lines."""
    print(f"JSON Lines, {tokens:,} tokens a side; ratios to json.loads of every line")
    print("| format | sentences a row | json.loads, s | levels | exact | levels, --by document |")
    print("| --- | --- | --- | --- | --- | --- |")
    for form, as_value in FORMS.items():
        for sentences in SENTENCES:
            paths = [folder / f"{side}.jsonl" for side in SIDES]
            for number, path in enumerate(paths):
                with path.open("w", encoding="utf-8") as file:
                    file.writelines(
                        json.dumps(as_value(row), ensure_ascii=False) + "\n"
                        for row in rows(tokens, sentences, number)
                    )
            base = least(partial(loads, paths), runs)
            options: list[dict[str, Any]] = [*({"metrics": metric} for metric in METRICS), {"by": "document"}]
            if sentences == 1:
                options.pop()  # 45,000 reports
            found = [least(partial(clueval.score, *paths, jobs=1, **each), runs) for each in options]
            shown = [f"{seconds / base:.1f}" for seconds in found] + ["–"] * (sentences == 1)
            print(f"| {form} | {sentences} | {base:.2f} | {' | '.join(shown)} |", flush=True)


def of_folders(folder: Path, runs: int) -> None:
    """Print the ratios for brat's files."""
    print(f"\nbrat, {DOCUMENTS:,} documents a side; ratios to reading all files")
    print("| sentences a document | reading, s | levels | exact |")
    print("| --- | --- | --- | --- |")
    for sentences in SENTENCES[1:]:
        paths = []
        for number, side in enumerate(SIDES):
            (folder / str(sentences) / side).mkdir(parents=True)
            for row in islice(rows(24 * sentences * DOCUMENTS, sentences, number), DOCUMENTS):
                path = folder / str(sentences) / side / f"{row.number:04}.txt"
                path.write_text(row.text, encoding="utf-8")
                lines = [
                    f"T{n}\t{label} {start} {end}\t{row.text[start:end]}\n"
                    for n, (start, end, label) in enumerate(row.spans, 1)
                ]
                path.with_suffix(".ann").write_text("".join(lines), encoding="utf-8")
                paths += [path, path.with_suffix(".ann")]
        base = least(partial(read_all, paths), runs)
        sides = [folder / str(sentences) / side for side in SIDES]
        found = [least(partial(clueval.score, *sides, metrics=metric, jobs=1), runs) for metric in METRICS]
        print(
            f"| {sentences} | {base:.2f} | {' | '.join(f'{seconds / base:.1f}' for seconds in found)} |",
            flush=True,
        )


def of_memory(folder: Path, megabytes: int) -> None:
    """Print the peak memory for files of two sizes, in lines and in one array."""
    print("\nPeak memory of a process, gold against itself")
    print("| file | megabytes | peak, MB |")
    print("| --- | --- | --- |")
    lines = [json.dumps(FORMS["doccano"](row), ensure_ascii=False) for row in rows(200_000, 10, 0)]
    size = sum(map(len, lines))
    for name, first, between, last in (("lines", "", "\n", "\n"), ("one array", "[", ",\n", "]")):
        for number in (megabytes // 10, megabytes):
            path = folder / "large.json"
            with path.open("w", encoding="utf-8") as file:
                file.write(first + lines[0])
                file.writelines(
                    between + line for line in chain.from_iterable([lines] * (number * 10**6 // size))
                )
                file.write(last)
            command = (*SCORE, str(path), str(path), "--jobs", "1")
            peak = run_once(name, command).memory / 10**6
            print(f"| {name} | {path.stat().st_size // 10**6} | {peak:.0f} |", flush=True)
            path.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tokens", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--megabytes", type=int, default=500, help="the larger file of the test of memory")
    options = parser.parse_args()
    warnings.simplefilter("ignore", clueval.CluevalWarning)
    with TemporaryDirectory() as name:
        folder = Path(name)
        of_rows(folder, options.tokens, options.runs)
        of_folders(folder, options.runs)
        of_memory(folder, options.megabytes)


if __name__ == "__main__":
    main()
