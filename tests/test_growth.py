"""What a command does grows no faster than its input and its output, whatever the shape of the spans.

Lines of Python that run, and the characters that functions return, are counted at three sizes. Limits are small here,
so that input for which more work is allowed up to a limit ends with the error that names it.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from ran_lines import LIMIT, Lines
from shapes import OVERLAPPING, SHAPES

import clueval
from clueval.cli import main
from clueval.core import document as documents
from clueval.formats.catalogue import writer_named, written_names
from clueval.metrics import METRICS

SIZES = 40, 80, 320
"""Linear work adds six times as much from the second size to the third as before; quadratic work, twenty times."""

SMALL_SIZES = 20, 40, 80
"""The sizes for the shapes of `OVERLAPPING`, on which every job but those of `SHARED` is measured."""

JOBS: dict[str, str] = {
    **{name: f"score GOLD PREDICTED --metric {name}" for name in METRICS},
    "merged": "score GOLD PREDICTED --merge",
    "by": "score GOLD PREDICTED --metric exact --by document --all",
    "characters": "score GOLD PREDICTED --metric exact --unit character",
    "align": "score GOLD PREDICTED --metric levels --align",
    "save": "score GOLD PREDICTED --metric exact --save OUT/a --resample-by sentence",
    "intervals": "score GOLD PREDICTED --metric exact,muc --intervals --resample-by sentence",
    "bootstrap": "score GOLD PREDICTED --metric exact --intervals --resample-by sentence --method bca --resamples 20",
    "where": "score GOLD PREDICTED --metric levels --where label=A",
    "generic": "score GOLD PREDICTED --metric exact --generic A",
    "min overlap": "score GOLD PREDICTED --metric exact(min_overlap=0.1)",
    "csv": "score GOLD PREDICTED --metric exact,confusion,fair --format csv",
    "conventions": "conventions GOLD PREDICTED",
    "masking page": "masking GOLD PREDICTED -o OUT/a.html",
    "gate page": "score GOLD PREDICTED --metric gate -o OUT/a.html",
    "errors": "errors GOLD PREDICTED",
    "errors files": "errors GOLD PREDICTED --labelled label -o OUT/a.html -o OUT/a.tsv -o OUT/a.xlsx",
    "errors of two": "errors GOLD PREDICTED GOLD -o OUT/a.html",
    "errors fair": "errors GOLD PREDICTED --metric fair -o OUT/a.tsv",
    "errors noisy": "errors GOLD PREDICTED --metric noisy -o OUT/a.tsv",
    "agree": "agree GOLD PREDICTED -o OUT/a.html",
    "curate": "curate GOLD PREDICTED -o OUT/a.tsv --undecided OUT/b.tsv",
    "curate union": "curate GOLD PREDICTED --union -o OUT/a.tsv",
    "diff": "diff GOLD PREDICTED GOLD",
    "profile": "profile GOLD PREDICTED --all",
    "merge": "merge GOLD",
    "check": "check GOLD",
    **{
        f"to {name}": f"convert GOLD --to {name} --lossy -o OUT/a{'/' * writer_named(name).single}"
        for name in written_names()
        if name != "ltf"  # holds one label
    },
}

QUICK = (
    *(("curate", "one_document"), ("save", "one_document"), ("profile", "same")),
    *(("exact", "crossing"), ("gate", "same"), ("check", "attributes")),
)
"""Pairs of a job and a shape that were quadratic once, or may easily become so; all others are long tests."""

EVERYWHERE = ("exact", "gate", "curate", "check", "to spans")
"""Jobs that are measured on every shape; the others on those of `COMMON` and of `OVERLAPPING`."""

SHARED = (
    *("gate", "errors", "csv", "merged", "by", "where", "bootstrap", "errors noisy"),
    *("curate union", "to spacy-json", "to conll", "to tab"),
)
"""Jobs whose code for spans that overlap is that of other jobs."""

MANY_LABELS = (
    *(
        "levels",
        "noisy",
        "errors noisy",
        "save",
        "intervals",
        "fair",
        "muc",
        "partial",
        "confusion",
        "gate page",
    ),
    *("profile", "conventions", "agree", "errors", "errors fair"),
)
"""Jobs that are also measured on a label for each span."""

COMMON = (
    *("one_document", "one_sentence", "many_documents", "no_borders"),
    *("one_run", "giant", "touching", "all_wrong"),
)


class Measured(NamedTuple):
    """The lines of Python that ran, the characters that were returned, and the bytes that were read and written.

    `is_refused` is whether the command ended with an error.
    """

    lines: int
    characters: int
    read: int
    written: int
    is_refused: bool


@pytest.fixture(autouse=True)
def _small_limits(small_limits: None) -> None:
    """Make the limits small."""


def run(job: str, shape: str, size: int, folder: Path, capsys: pytest.CaptureFixture[str]) -> int:
    """Write the files of a shape, call a command on them, and return its exit code."""
    (folder / "out").mkdir(parents=True)
    gold, predicted = SHAPES[shape](size, folder)
    words = {"GOLD": gold, "PREDICTED": predicted}
    arguments = [str(words.get(word, word)).replace("OUT", str(folder / "out")) for word in JOBS[job].split()]
    return main(arguments)


def measured(job: str, shape: str, size: int, folder: Path, capsys: pytest.CaptureFixture[str]) -> Measured:
    with Lines() as lines:
        code = run(job, shape, size, folder, capsys)
    printed = capsys.readouterr()
    written = sum(path.stat().st_size for path in (folder / "out").rglob("*") if path.is_file())
    read = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    return Measured(
        lines.number, lines.characters, read, written + len(printed.out) + len(printed.err), code == 2
    )


def require_linear(job: str, shape: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Fail if lines or characters grow faster than what is read and written."""
    sizes = SMALL_SIZES if shape in OVERLAPPING else SIZES
    run(job, shape, sizes[0], folder / "first", capsys)  # imports, and what is computed only once
    run(job, shape, sizes[2], folder / "last", capsys)  # the same for a refusal
    found = [measured(job, shape, size, folder / str(size), capsys) for size in sizes]
    assert shape != "one_document" or not found[0].is_refused, found
    before, after = (later - one for one, later in pairwise(sizes))
    added = [[later - one for one, later in zip(*two, strict=True)] for two in pairwise(found)]
    # what grows by less than one for each span does not grow
    lines, characters, read, written, _ = (
        last / max(first, before) for first, last in zip(*added, strict=True)
    )

    if found[1].is_refused:
        assert found[2].lines <= LIMIT * sizes[2] / sizes[1] * found[1].lines, found
        return
    most = LIMIT * max(after / before, read, written)
    assert lines <= most or added[1][0] < 10 * after, found
    once = (
        0 if shape in OVERLAPPING else 1 << 18
    )  # files of more than 65,000 characters are read in another way
    assert characters <= most or found[2].characters <= most * found[1].characters + once, found
    # the texts of spans that overlap, if they were all written, would grow faster than the input
    # (small output may: as many bytes as positions are allowed)
    if shape in OVERLAPPING:
        most = LIMIT * max(after / before, read)
        allowed = max(most * found[1].written, documents.MAX_COVERED)
        assert written <= most or found[2].written <= allowed, found


@pytest.mark.parametrize(
    ("job", "shape"),
    [
        pytest.param(job, shape, marks=() if (job, shape) in QUICK else pytest.mark.long)
        for job in JOBS
        for shape in SHAPES
        if job in EVERYWHERE
        or shape in COMMON
        or (shape in OVERLAPPING and job not in SHARED)
        or (job in MANY_LABELS and shape == "labels")
    ],
)
def test_every_job_grows_no_faster_than_input_and_output(
    job: str, shape: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    require_linear(job, shape, tmp_path, capsys)


@pytest.mark.parametrize("name", ["one_document", "labels", "touching", "long_row", "nested"])
def test_shapes_have_about_as_many_spans_as_asked_for(name: str, tmp_path: Path) -> None:
    gold, _ = SHAPES[name](50, tmp_path)

    assert 50 <= sum(len(spans) for each in clueval.read(gold) for spans in each.layers.values()) < 55


def test_quadratic_work_is_noticed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from clueval.core.case import Case
    from clueval.core.exact import Exact

    count = Exact.count

    def slow(self: Exact, case: Case) -> Any:
        assert clueval.Span(0, 1).overlaps(clueval.Span(0, 1))
        for one in case.gold:
            for other in case.gold:
                one.overlaps(other)
        return count(self, case)

    monkeypatch.setattr(Exact, "count", slow)

    with pytest.raises(AssertionError):
        require_linear("exact", "crossing", tmp_path, capsys)
