"""Every file that a command reads besides files of spans: configurations, decisions, tables, archives, and others.

Each has a valid example and the commands that read it; `made_beside` changes the example.
"""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import NamedTuple

from clueval import score

from .mutations import mutated

GOLD, PREDICTED = b"a B-X\nb O\n\nc B-Y\n", b"a B-X\nb O\n\nc B-X\n"
SCORED = b"".join(
    b'{"text": "a b c", "spans": [{"start": 0, "end": 1, "label": "X", "score": %s}]}\n' % value
    for value in (b"0.9", b"0.2")
)
SPANS = b"document\tstart\tend_inclusive\tlabel\na:1\t0\t0\tX\n"
TEXT = b"<text id='a:1'>\n<s>\na\nb\n</s>\n</text>\n"
MASKED = b"a B-X\nb O\n\nc O\n"
SIDES = ["gold.conll", "predicted.conll"]
PLAIN: dict[str, bytes] = {
    "gold.conll": GOLD,
    "predicted.conll": PREDICTED,
    "masked.conll": MASKED,
    "scored.jsonl": SCORED,
    "spans.tsv": SPANS,
    "spans.vrt": TEXT,
}


class Beside(NamedTuple):
    """A file that commands read: its name and valid content, the commands, and further files."""

    name: str
    content: bytes
    commands: list[list[str]]
    more: Mapping[str, bytes] = MappingProxyType({})


DECISIONS = [
    {
        "document": "1",
        "layer": "label",
        "start": 2,
        "end_inclusive": 2,
        "fingerprint": "8beaa08ade8b",
        "choice": "gold",
        "comment": "yes",
        "reviewer": "anna",
        "time": "2026-01-01T00:00:00",
        "confirmed": "",
    },
    {
        "document": "1",
        "layer": "*",
        "start": 0,
        "end_inclusive": 0,
        "fingerprint": "000000000000",
        "choice": "none",
        "comment": "",
        "reviewer": "bob",
        "time": "2026-01-02T00:00:00",
        "confirmed": "yes",
    },
]

CONFIGURATION = b"""\
layer = ["x=2"]
format = "json"
level = 1
quiet = false
[score]
metric = "partial(factor=0.5),exact"
[compare]
score = ["f1"]
"""

FAIREVAL = (
    b"target_in = t.csv\nsystem_in = s.csv\neval_out = stdout\neval_method = traditional,fair,weighted\n"
    b"weights = LE = 0.5 TP + 0.5 FN, BE = 0.5 TP\n"
)


def _decided(name: str) -> list[list[str]]:
    return [
        ["errors", *SIDES, "--decisions", name, "--conflicts", "last"],
        ["masking", "gold.conll", "masked.conll", "--decisions", name],
        ["curate", *SIDES, "--decisions", name],
    ]


def _table() -> bytes:
    rows = [[*DECISIONS[0]], *([str(value) for value in row.values()] for row in DECISIONS)]
    return "".join("\t".join(row) + "\n" for row in rows).encode()


@cache
def _workbook() -> bytes:
    import openpyxl

    book, made = openpyxl.Workbook(), io.BytesIO()
    assert book.active is not None
    for row in [[*DECISIONS[0]], *(list(row.values()) for row in DECISIONS)]:
        book.active.append(row)
    book.save(made)
    return made.getvalue()


def _zip(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return made.getvalue()


def _tar(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.pax_headers = len(content), {"comment": "x" * 100}
            archive.addfile(info, io.BytesIO(content))
    return made.getvalue()


@cache
def _saved() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        for name, content in PLAIN.items():
            (Path(folder) / name).write_bytes(content)
        path = Path(folder) / "saved.clueval"
        score(Path(folder, "gold.conll"), Path(folder, "gold.conll"), resample_by="sentence").save(path)
        return path.read_bytes()


def _mapped(flag: str, name: str, content: bytes, *more: str) -> Beside:
    return Beside(
        name, content, [[each, *SIDES, flag, name, *more] for each in ("score", "errors", "conventions")]
    )


MEMBERS = {"a.conll": GOLD, "folder/b.conll": GOLD}
OF_MEMBERS = [["score", "IN", "IN"], ["check", "IN"], ["check", "IN!a.conll"]]


def _archive(name: str, content: bytes) -> Beside:
    return Beside(name, content, [[word.replace("IN", name) for word in words] for words in OF_MEMBERS])


OF_SPANS = ["--input", "spans"]
THRESHOLD = {"threshold": 0.5, "score_feature": "score", "metric": "exact", "measure": "f1"}


def every() -> dict[str, Beside]:
    """The files by the options that name them, or by what they are."""
    configured = [[each, *SIDES, "-q"] for each in ("score", "errors", "check")]
    return {
        "clueval.toml": Beside("clueval.toml", CONFIGURATION, configured),
        "pyproject.toml": Beside(
            "pyproject.toml",
            b"[tool.clueval]\n" + CONFIGURATION.replace(b"\n[", b"\n[tool.clueval."),
            configured,
        ),
        "decisions": Beside("d.tsv", _table(), _decided("d.tsv")),
        "decisions as JSON": Beside("d.json", json.dumps(DECISIONS, indent=1).encode(), _decided("d.json")),
        "decisions as a workbook": Beside("d.xlsx", _workbook(), _decided("d.xlsx")),
        "reference": Beside(
            "older.conll",
            GOLD,
            [["score", *SIDES, "--reference", "older.conll", "--metric", each] for each in ("gate", "exact")],
        ),
        "label-map": _mapped("--label-map", "map.tsv", b"X\tZ\nY\tZ\n*\t*\n"),
        "gold-map": _mapped("--gold-map", "map.tsv", b"X\tZ\n*\t*\n"),
        "predicted-map": _mapped("--predicted-map", "map.json", b'{"X": "Z", "*": "*"}'),
        "hierarchy": _mapped("--hierarchy", "tree.tsv", b"X\n\tY\n\t\tZ\nA\n", "--depth", "1"),
        "alternatives": _mapped("--alternatives", "other.tsv", SPANS.replace(b"a:1", b"1")),
        "any-of": _mapped("--any-of", "second.conll", GOLD),
        "min-score": Beside(
            "threshold.json",
            json.dumps(THRESHOLD).encode(),
            [["score", "scored.jsonl", "scored.jsonl", "--min-score", "threshold.json"]],
        ),
        "text": Beside(
            "text.vrt",
            TEXT,
            [
                [each, "spans.tsv", "spans.tsv", *OF_SPANS, "--text", "text.vrt"]
                for each in ("score", "errors")
            ],
        ),
        "names": Beside(
            "names.json",
            b'["O", "B-X"]',
            [["score", "tags.jsonl", "tags.jsonl", "--names", "names.json"]],
            {"tags.jsonl": b'{"tokens": ["a", "b"], "ner_tags": [1, 0]}\n'},
        ),
        "ignore-words": Beside(
            "words.txt",
            b"a\nFrau\n",
            [["masking", "gold.conll", "masked.conll", "--ignore-words", "words.txt"]],
        ),
        "word-weights": Beside(
            "counts.txt",
            b"a\t3\nc\t1\n",
            [["masking", "gold.conll", "masked.conll", "--word-weights", "counts.txt"]],
        ),
        "fail-if-worse": Beside(
            "saved.clueval",
            _saved(),
            [
                ["score", *SIDES, "--fail-if-worse", "saved.clueval"],
                ["compare", "saved.clueval", "b=saved.clueval", "--resamples", "99"],
            ],
        ),
        "pairs": Beside(
            "pairs.csv",
            b"Annotation,Prediction\ngold.conll,predicted.conll\n",
            [
                ["score", "--pairs", "pairs.csv", "."],
                ["errors", "--pairs", "pairs.csv", ".", "--metric", "noisy"],
            ],
        ),
        "system": Beside("system.conll", PREDICTED, [["agree", *SIDES, "--system", "system.conll"]]),
        "train": Beside("train.conll", GOLD, [["profile", *SIDES, "--train", "train.conll"]]),
        "tokens": Beside(
            "tokens.vrt",
            TEXT,
            [
                [
                    "convert",
                    "spans.tsv",
                    *OF_SPANS,
                    "--text",
                    "spans.vrt",
                    "--tokens",
                    "tokens.vrt",
                    "--to",
                    "conll",
                ]
            ],
        ),
        "faireval's config": Beside(
            "run.config",
            FAIREVAL,
            [["faireval", "run.config"]],
            {"t.csv": b"X\t1\t1\t1\n", "s.csv": b"X\t1\t2\t1, 2\n"},
        ),
        "config": Beside(
            "run.config",
            FAIREVAL,
            [["faireval", "--config", "run.config"]],
            {"t.csv": b"X\t1\t1\t1\n", "s.csv": b"X\t1\t2\t1, 2\n"},
        ),
        "faireval's spans": Beside(
            "t.csv",
            b"X\t1\t1\t1\nY\t2\t3\t2, 3\n",
            [["faireval", "run.config"]],
            {"run.config": FAIREVAL, "s.csv": b"X\t1\t2\t1, 2\n"},
        ),
        "a zip archive": _archive("a.zip", _zip(MEMBERS)),
        "a tar archive": _archive("a.tar", _tar(MEMBERS)),
        "a packed tar archive": _archive("a.tar.gz", gzip.compress(_tar(MEMBERS), mtime=0)),
        "a packed file": Beside(
            "a.conll.gz", gzip.compress(GOLD, mtime=0), [["score", "a.conll.gz", "gold.conll"]]
        ),
    }


BESIDE = tuple(every())
"""The names of all files."""


def files_beside(name: str) -> tuple[dict[str, bytes], list[list[str]]]:
    """The valid files and the commands."""
    found = every()[name]
    return {**PLAIN, **found.more, found.name: found.content}, found.commands


def made_beside(name: str, rng: Random) -> tuple[dict[str, bytes], list[list[str]]]:
    """The files, one of them changed, and the commands."""
    found = every()[name]
    content = found.content
    for _ in range(rng.choice((1, 1, 1, 2, 3, 5))):
        content = _changed(found.name, content, rng)
    files, commands = files_beside(name)
    return {**files, found.name: content}, commands


def _changed(name: str, content: bytes, rng: Random) -> bytes:
    """A file after one change; of an archive or a packed file often what it holds is changed."""
    if rng.random() < 0.3 or not name.endswith((".xlsx", ".zip", ".tar", ".gz")):
        return _nested(content, rng) if rng.random() < 0.05 else mutated(content, rng)
    try:
        if name.endswith(".gz"):
            return gzip.compress(
                _changed(name.removesuffix(".gz"), gzip.decompress(content), rng), 1, mtime=0
            )
        if name.endswith(".tar"):
            place = rng.randrange(0, len(content), 512) + rng.choice((0, 124, 148, 156, 257, 345))
            return content[:place] + rng.choice((b"", b"\0", b"x", b"L", b"9" * 11)) + content[place + 1 :]
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {each: archive.read(each) for each in archive.namelist()}
        one = rng.choice([each for each in members if "theme" not in each])
        kind = rng.randrange(6)
        if kind == 0:
            return _zip({**members, rng.choice(("", "/", "../a", "a/", "A.CONLL", "x" * 300)): members[one]})
        if kind == 1:
            return _zip({each: data for each, data in members.items() if each != one})
        return _zip({**members, one: mutated(members[one], rng)})
    except (
        OSError,
        EOFError,
        ValueError,
        zipfile.BadZipFile,
        zlib.error,
        NotImplementedError,
        RuntimeError,
        IndexError,
    ):
        return mutated(content, rng)  # it is no archive any more


def _nested(content: bytes, rng: Random) -> bytes:
    """A value that is nested very deeply, somewhere in a file."""
    place = rng.randint(0, len(content))
    return (
        content[:place]
        + rng.choice((b"[", b"{a=", b'{"a":', b"a.", b"(", b"<a>")) * 100_000
        + content[place:]
    )
