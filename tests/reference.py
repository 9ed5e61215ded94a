"""Compare the working tree with the commit that it is judged by: results, errors, exit codes, times.

``python -m tests.reference`` installs that commit into an environment of its own, carries out the same commands and
calls with both, and names each that differs, with the first different line. ``python -m tests.reference --times``
compares CPU seconds of whole commands instead.

Each case runs in an empty folder beside ``samples``; its result is its output, its error output, its exit code, and
the files that it writes. Both sides get the same files: the samples of the commit, and random corpora in many formats.
Cases that differ on purpose stand in `EXPECTED` with the reason. The status is 1 if another one differs.

This script goes when nothing is left that is judged by that commit.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import random
import re
import resource
import subprocess
import sys
import tarfile
import venv
from collections import Counter
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

COMMIT = "0c94d8462e37778198d0606bcf8022b696fa788c"
"""The commit before the package was written anew."""

ROOT = Path(__file__).parents[1]

EXPECTED: Mapping[str, str] = {
    r"^call nested partial$": "the advice on overlapping spans has other words",
    r"^score masking (intervals|bootstrap)$": "the intervals of the report have their keys in another order",
    r"^score masking sentences$": "the error names the file, too",
    r"^masking( redacted)? as (text|markdown|latex)$": "the forms of masking are those of all reports",
    r"^masking( redacted)? as (csv|tsv)$": "the rows are the leaks, with the columns of a file of decisions",
}
"""The names of cases that differ on purpose, as regular expressions, with the reason."""


class Case(NamedTuple):
    """A command, as its arguments, or a call in Python, as its code; `name` is for reports.

    `now` are the arguments of the working tree if they are others.
    """

    name: str
    arguments: tuple[str, ...] = ()
    code: str = ""
    stdin: str = ""
    now: tuple[str, ...] = ()


# What both sides carry out

_GERMAN = ("samples/german/gold.vrt", "samples/german/predicted.vrt")
_LAYERS = ("--layer", "entity=2", "--layer", "risk=3", "--token-id", "4")
_ENTITY = ("--layer", "entity=2")
_FORMS = ("text", "json", "csv", "tsv", "markdown", "latex")
_METRICS = (
    "levels",
    "exact",
    "fair",
    "muc",
    "gate",
    "partial",
    "confusion",
    "coverage",
    "strings",
    "masking",
)
_SCORE_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "plain": (),
    "merge": ("--merge",),
    "by": ("--by", "domain"),
    "by document": ("--by", "document"),
    "where": ("--where", "risk=high"),
    "where domain": ("--where", "domain=civil"),
    "intervals": ("--intervals",),
    "sentences": ("--intervals", "--resample-by", "sentence"),
    "bootstrap": ("--intervals", "--method", "percentile", "--resamples", "200"),
    "characters": ("--unit", "character"),
    "discard": ("--invalid", "discard"),
    "error": ("--invalid", "error"),
    "untyped": ("--untyped",),
    "ignored": ("--ignore-label", "date"),
    "align": ("--align",),
    "all": ("--all",),
    "quiet": ("--quiet",),
}
_OTHER_COMMANDS: Mapping[str, tuple[str, ...]] = {
    "conventions": ("conventions", *_GERMAN, *_ENTITY),
    "errors": ("errors", *_GERMAN, *_LAYERS),
    "errors level 1": ("errors", *_GERMAN, *_LAYERS, "--level", "1", "--labelled", "entity"),
    "errors merged": ("errors", *_GERMAN, *_LAYERS, "--merge"),
    "errors three": ("errors", *_GERMAN, "samples/german/gold.vrt", *_ENTITY),
    "compare": ("compare", *_GERMAN, "samples/german/gold.vrt", *_ENTITY),
    "diff": ("diff", *_GERMAN, "samples/german/gold.vrt", *_ENTITY),
    "agree": ("agree", *_GERMAN, *_ENTITY),
    "agree three": ("agree", *_GERMAN, "samples/german/gold.vrt", *_ENTITY),
    "masking": ("masking", *_GERMAN, *_ENTITY),
    "masking redacted": (
        "masking",
        "samples/german/gold.vrt",
        "samples/german/redacted",
        "--redacted",
        *_ENTITY,
    ),
    "profile": ("profile", *_GERMAN, *_ENTITY, "--feature", "length,casing,label"),
    "check": ("check", *_GERMAN, *_LAYERS),
    "merge": ("merge", "samples/german/gold.vrt", *_LAYERS),
    "metrics": ("metrics",),
    "formats": ("formats",),
    "help": ("help",),
}
_CALLS: Mapping[str, str] = {
    "tags": """
gold, predicted = [["B-PER", "I-PER", "O", "B-LOC"], ["O"]], [["B-PER", "O", "O", "B-LOC"], ["B-X"]]
""",
    "rows": """
gold, predicted = [[(0, 2, "PER"), (5, 6, "LOC")]], [[(0, 2, "PER"), (5, 7, "LOC")]]
""",
    "nested": """
gold = [[Span(0, 9, "A"), Span(2, 4, "B"), Span(2, 4, "B"), Span(6, 6, "A")]]
predicted = [[Span(0, 9, "B"), Span(1, 4, "B")]]
""",
    "documents": """
def side(lengths, **more):
    layers = [{"x": [Span(n, n + length, "A")]} for n, length in enumerate(lengths)]
    return [Document(str(n), layer, tokens=["w"] * 9, metadata={"m": str(n % 2)}) for n, layer in enumerate(layers)]
gold, predicted = side([2, 2, 2, 2]), side([2, 1, 2, 3])
options = {"by": "m"}
""",
    "files": """
gold, predicted = "samples/german/gold.vrt", "samples/german/predicted.vrt"
options = {"layers": {"entity": 2}}
""",
}
"""Code that makes two sides, and options, for `_CALL`."""

_CALL = """
from clueval import Document, Span
options = {{}}
{code}
print(clueval.score(gold, predicted, metrics={metric!r}, **options).to_json())
"""


def cases(corpora: Path, number: int) -> Iterator[Case]:
    """Yield all cases; random corpora are written below `corpora`, which both sides see as ``corpora``."""
    for metric in _METRICS:
        for name, options in _SCORE_OPTIONS.items():
            arguments = ("score", *_GERMAN, *_LAYERS, "--metric", metric, *options, "--format", "json")
            yield Case(f"score {metric} {name}", arguments)
        for form in _FORMS:
            yield Case(
                f"score {metric} as {form}",
                ("score", *_GERMAN, *_LAYERS, "--metric", metric, "--format", form),
            )
        for name, code in _CALLS.items():
            yield Case(f"call {name} {metric}", code=_CALL.format(code=code, metric=metric))
    for name, arguments in _OTHER_COMMANDS.items():
        forms = _FORMS if arguments[0] not in ("merge", "metrics", "formats", "help", "check") else ("text",)
        for form in forms:
            more = () if form == "text" else ("--format", form)
            yield Case(f"{name} as {form}", (*arguments, *more))
    for name in ("html", "xlsx", "tsv"):
        command, file = ("errors", *_GERMAN, *_LAYERS), f"errors.{name}"
        yield Case(f"errors to {name}", (*command, f"--{name}", file), now=(*command, "-o", file))
    for folder in sorted((corpora.parent / "samples" / "formats").iterdir()):
        for path in sorted(folder.iterdir()):
            given = f"samples/formats/{folder.name}/{path.name}"
            yield Case(f"sample {folder.name}/{path.name}", ("score", given, given, "--format", "json"))
            yield Case(f"convert {folder.name}/{path.name}", ("convert", given, "--to", "doccano", "--lossy"))
    yield from _of_random_corpora(corpora, number)


def _of_random_corpora(corpora: Path, number: int) -> Iterator[Case]:
    """Yield cases on random corpora in the formats of the fuzzers, half of them damaged a little."""
    sys.path.insert(0, str(ROOT / "tests"))
    from fuzz.corpora import FORMATS  # the tests import one another by their plain names

    for seed in range(number):
        rng = random.Random(seed)
        for form, write in FORMATS.items():
            files = write(rng)
            folder = corpora / f"{form}-{seed}"
            folder.mkdir(parents=True)
            gold, predicted = files.gold, files.predicted
            if rng.random() < 0.3 and predicted:
                place = rng.randrange(len(predicted))
                predicted = predicted[:place] + rng.choice((b"", b"\t", b"x", b"\n")) + predicted[place + 1 :]
            (folder / f"gold.{files.ending}").write_bytes(gold)
            (folder / f"predicted.{files.ending}").write_bytes(predicted)
            for name, content in files.more.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(content)
            both = [f"corpora/{folder.name}/{side}.{files.ending}" for side in ("gold", "predicted")]
            metric = rng.choice(("levels", "exact", "fair", "muc", "gate", "exact,fair,muc"))
            options = rng.choice(((), ("--by", "document"), ("--intervals",), ("--merge",), ("--untyped",)))
            command = rng.choice(("score", "score", "errors", "agree", "check"))
            more = ("--metric", metric, *options, "--format", "json") if command == "score" else ()
            yield Case(f"random {form} {seed} {command}", (command, *both, *files.options, *more))


# Carrying out: this part runs in each of the two environments

_WORKER = """
import contextlib, io, json, os, sys, warnings
import clueval
from clueval.cli import main

def outcome(case):
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline=""), io.StringIO()
    status = 0
    sys.stdin = io.TextIOWrapper(io.BytesIO(case["stdin"].encode()), encoding="utf-8")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
        warnings.simplefilter("always")
        try:
            if case["code"]:
                exec(case["code"], {"clueval": clueval})
            else:
                status = main(list(case["arguments"]))
        except SystemExit as error:
            status = error.code
        except BaseException as error:
            status = f"{type(error).__name__}: {error}"
    out.flush()
    return {"status": status, "out": out.buffer.getvalue().decode("utf-8", "replace"), "err": err.getvalue()}

for line in sys.stdin.buffer.read().decode().splitlines():
    case = json.loads(line)
    os.makedirs(case["folder"], exist_ok=True)
    os.chdir(case["folder"])
    for name in ("samples", "corpora"):
        if not os.path.lexists(name):
            os.symlink(os.path.join(case["given"], name), name)
    found = outcome(case)
    sys.__stdout__.write(json.dumps(found) + chr(10))
"""


def installed(commit: str, folder: Path) -> Path:
    """Install a commit into an environment of its own, and return its Python."""
    source, environment = folder / "source", folder / "environment"
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=BytesIO(archive)) as opened:
        opened.extractall(source, filter="data")
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", f"{source}[all,uima]"], check=True)
    return python


def carried_out(python: Path, listed: list[Case], given: Path, folder: Path) -> list[dict[str, Any]]:
    """Carry out all cases with one Python, and return what each gave."""
    if python == Path(sys.executable):
        listed = [case._replace(arguments=case.now or case.arguments) for case in listed]
    requests = [
        json.dumps({**case._asdict(), "folder": str(folder / str(n)), "given": str(given)})
        for n, case in enumerate(listed)
    ]
    environment = {**os.environ, "PYTHONHASHSEED": "0", "COLUMNS": "100", "NO_COLOR": "1"}
    done = subprocess.run(
        [python, "-c", _WORKER],
        input="\n".join(requests),
        stdout=subprocess.PIPE,
        cwd=ROOT if python == Path(sys.executable) else given,
        env=environment,
        text=True,
        check=True,
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    for n, result in enumerate(found):
        written = sorted(path for path in (folder / str(n)).rglob("*") if path.is_file())
        result["files"] = {
            path.name: path.read_bytes().decode("utf-8", "replace")
            for path in written
            if path.suffix != ".xlsx"
        }
        result["names"] = [path.name for path in written]
    return found


def _first_difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    for part in before:
        if before[part] != after[part]:
            one, two = (json.dumps(side[part], indent=1, ensure_ascii=False) for side in (before, after))
            lines = difflib.unified_diff(one.splitlines(), two.splitlines(), n=0, lineterm="")
            shown = [line[:300] for line in lines if not line.startswith(("---", "+++", "@@"))][:4]
            return f"{part}: " + " | ".join(shown)
    return ""


def compare(listed: list[Case], old: Path, given: Path, folder: Path) -> int:
    """Carry out the cases with both, print what differs, and return the number that differs without a reason."""
    before = carried_out(old, listed, given, folder / "before")
    after = carried_out(Path(sys.executable), listed, given, folder / "after")
    found: Counter[str] = Counter()
    for case, one, two in zip(listed, before, after, strict=True):
        for result, side in ((one, "before"), (two, "after")):
            for part in ("out", "err"):
                result[part] = result[part].replace(str(folder / side), "FOLDER")
        if one == two:
            found["equal"] += 1
            continue
        reason = next((why for pattern, why in EXPECTED.items() if re.search(pattern, case.name)), None)
        found["expected" if reason else "different"] += 1
        if reason is None:
            print(f"{case.name}: {_first_difference(one, two)}", flush=True)
    print(", ".join(f"{number} {kind}" for kind, number in found.items()))
    return found["different"]


# Times

_TIMED: Mapping[str, tuple[str, ...]] = {
    "version": ("--version",),
    "score": ("score", "corpora/gold.conll", "corpora/predicted.conll"),
    "score exact": ("score", "corpora/gold.conll", "corpora/predicted.conll", "--metric", "exact"),
    "by document": ("score", "corpora/gold.conll", "corpora/predicted.conll", "--by", "document"),
    "errors": ("errors", "corpora/gold.conll", "corpora/predicted.conll", "--format", "tsv"),
    "agree": ("agree", "corpora/gold.conll", "corpora/predicted.conll"),
    "check": ("check", "corpora/gold.conll", "corpora/predicted.conll"),
    "doccano": ("score", "corpora/gold.jsonl", "corpora/predicted.jsonl", "--metric", "exact"),
}


def _write_large(corpora: Path, tokens: int) -> None:
    rng = random.Random(1)
    sides: list[list[str]] = [[], []]
    rows: list[list[str]] = [[], []]
    done = document = 0
    while done < tokens:
        texts: list[list[str]] = [[], []]
        for _ in range(20):
            words = [f"w{rng.randrange(5000)}" for _ in range(rng.randint(5, 40))]
            gold = _tags(rng, len(words))
            tags = [gold, gold if rng.random() < 0.8 else _tags(rng, len(words))]
            for side, own in enumerate(tags):
                texts[side] += [f"{word}\t{tag}\n" for word, tag in zip(words, own, strict=True)] + ["\n"]
            done += len(words)
        for side in (0, 1):
            sides[side] += ["-DOCSTART-\tO\n\n", *texts[side]]
            spans = [[10 * n, 10 * n + 5, "PER"] for n in range(30) if side == 0 or rng.random() < 0.8]
            rows[side].append(json.dumps({"id": document, "text": "Anna Berg " * 31, "label": spans}) + "\n")
        document += 1
    for side, name in enumerate(("gold", "predicted")):
        (corpora / f"{name}.conll").write_text("".join(sides[side]), encoding="utf-8")
        (corpora / f"{name}.jsonl").write_text("".join(rows[side]), encoding="utf-8")


def _tags(rng: random.Random, length: int) -> list[str]:
    tags = ["O"] * length
    start = 0
    while start < length:
        if rng.random() < 0.12:
            label, end = rng.choice(("PER", "LOC", "ORG")), min(length, start + rng.randint(1, 3))
            tags[start:end] = [f"B-{label}", *[f"I-{label}"] * (end - start - 1)]
            start = end
        start += 1
    return tags


def times(old: Path, given: Path, tokens: int, runs: int) -> None:
    """Print the least CPU seconds of whole commands, before and now, taken in turn."""
    _write_large(given / "corpora", tokens)
    pythons = (old, Path(sys.executable))
    for name, arguments in _TIMED.items():
        least = [float("inf")] * 2
        for _ in range(runs):
            for side, python in enumerate(pythons):
                least[side] = min(least[side], _seconds(python, arguments, given))
        print(f"{name:14} {least[0]:8.3f} {least[1]:8.3f} {least[1] / least[0]:6.2f}", flush=True)


def _seconds(python: Path, arguments: tuple[str, ...], given: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    path = str(ROOT) if python == Path(sys.executable) else ""
    subprocess.run(
        [python, "-m", "clueval", *arguments],
        cwd=given,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.reference", description=__doc__.split("\n", 1)[0])
    parser.add_argument("pattern", nargs="?", default="", help="only cases whose names match")
    parser.add_argument("--random", type=int, default=10, help="random corpora of each format (default: 10)")
    parser.add_argument("--times", action="store_true", help="compare times")
    parser.add_argument("--tokens", type=int, default=300_000, help="tokens of the corpus for times")
    parser.add_argument("--runs", type=int, default=5, help="runs of each command for times")
    parser.add_argument(
        "--python", type=Path, help="the Python of an environment that has the commit already"
    )
    options = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        old = options.python or installed(COMMIT, folder)
        given = folder / "given"
        (given / "corpora").mkdir(parents=True)
        subprocess.run(
            [old, "-m", "clueval", "samples", "samples"], cwd=given, check=True, capture_output=True
        )
        if options.times:
            times(old, given, options.tokens, options.runs)
            return 0
        listed = [
            case for case in cases(given / "corpora", options.random) if re.search(options.pattern, case.name)
        ]
        return int(compare(listed, old, given, folder) > 0)


if __name__ == "__main__":
    sys.exit(main())
