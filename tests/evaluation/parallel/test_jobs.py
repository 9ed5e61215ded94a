"""Counting in several places gives what counting in one place gives, to the last byte, errors included."""

from __future__ import annotations

import asyncio
import gzip
import math
import os
import pickle
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import pytest
from corpora import Corpus, conll, vrt, write
from processes import wait_until

from clueval import masking
from clueval.evaluation.parallel import schedule, tasks
from clueval.evaluation.parallel import work as jobs
from clueval.evaluation.parallel.tasks import in_order
from clueval.evaluation.parallel.work import chosen_jobs
from clueval.evaluation.result import Result
from clueval.evaluation.run import score
from clueval.files.errors import CluevalError, UsageError, WorkerLost
from clueval.first.metrics import metric_named
from clueval.second.formats.options import Reading
from clueval.transforms.group import Group
from clueval.version import __version__

ON_LINUX = pytest.mark.skipif(
    not Path("/proc/self").exists(), reason="looks at processes as Linux shows them"
)

pytestmark = pytest.mark.long  # processes are started, and some of them wait

Capture = pytest.CaptureFixture[str]

FAST = "levels", "exact", "fair", "partial", "muc", "confusion"


class Elsewhere(Executor):
    """Carries out every task at once, from nothing but its pickle, and remembers how many were in flight."""

    def __init__(self) -> None:
        self.submitted = self.in_flight = self.most_in_flight = self.longest = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        sent = pickle.dumps((fn, args, kwargs))
        self.submitted += 1
        self.longest = max(self.longest, len(sent))
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        future: Future[Any] = _Counted(self)
        function, arguments, named = pickle.loads(sent)
        future.set_result(pickle.loads(pickle.dumps(function(*arguments, **named))))
        return future

    def map(self, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("only submit is spoken")


class _Counted(Future[Any]):
    def __init__(self, executor: Elsewhere) -> None:
        super().__init__()
        self._executor = executor

    def result(self, timeout: float | None = None) -> Any:
        self._executor.in_flight -= 1
        return super().result(timeout)


@pytest.fixture(autouse=True)
def _small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "SMALLEST", 100)


def random_corpora(seed: int, documents: int = 30, layers: int = 1) -> tuple[Corpus, Corpus]:
    """Gold and predicted with spans of all lengths, shifted, cut short, lost, made up; no two tokens alike."""
    rng = random.Random(seed)
    sides: tuple[Corpus, Corpus] = ([], [])
    for d in range(documents):
        for side in sides:
            side.append([])
        for s in range(rng.randint(0, 4)):
            length = rng.choice((1, 3, 7, 11, 23))
            columns = [[_tags(rng, length) for _ in range(layers)] for _ in sides]
            if rng.random() < 0.5:
                columns[1] = columns[0]
            for side, tags in zip(sides, columns, strict=True):
                rows = zip(*([f"w{d}.{s}.{i}" for i in range(length)], *tags), strict=True)
                side[-1].append(list(rows))
    return sides


def _tags(rng: random.Random, length: int) -> list[str]:
    tags: list[str] = []
    while len(tags) < length:
        label = rng.choice(("PER", "LOC", "court-name"))
        inside = rng.randint(0, 13)
        tags += ["O"] * rng.randint(0, 4) + [f"{rng.choice('BBBI')}-{label}", *[f"I-{label}"] * inside]
    return tags[:length]


def written(folder: Path, form: str, texts: tuple[str, str]) -> tuple[Path, Path]:
    return write(folder / f"gold.{form}", texts[0]), write(folder / f"predicted.{form}", texts[1])


def corpus_files(folder: Path, seed: int, form: str = "vrt", **shape: Any) -> tuple[Path, Path]:
    sides = random_corpora(seed, **shape)
    if form == "vrt":
        domains = [random.Random(seed + n).choice(("civil", "penal")) for n in range(len(sides[0]))]
        return written(folder, form, (vrt(sides[0], domains), vrt(sides[1], domains)))
    separator = "\t" if seed % 2 else " "
    return written(folder, "conll", (conll(sides[0], separator), conll(sides[1], separator)))


def elsewhere(*sides: Any, number: int = 3, **options: Any) -> tuple[Result, Elsewhere, list[str]]:
    """The result with an executor of its own, that executor, and what was remarked."""
    executor, remarks = Elsewhere(), list[str]()
    jobs_ = max(number, 2)
    result = score(*sides, jobs=jobs_, executor=executor, remark=remarks.append, **options)
    return result, executor, remarks


def everything(result: Result) -> tuple[str, str]:
    return result.to_json(), str(result)


def again(sides: Sequence[Any], number: int = 3, **options: Any) -> tuple[Result, list[str], int]:
    """The result elsewhere, once it is sure that it is the one here; the remarks; how many tasks there were."""
    together, executor, remarks = elsewhere(*sides, number=number, **options)
    assert everything(together) == everything(score(*sides, **options))
    return together, remarks, executor.submitted


# The same to the last byte


@pytest.mark.parametrize(
    ("number", "seed"),
    [
        pytest.param(number, seed, marks=() if quick else pytest.mark.long)
        for seed, of_quick_tests in enumerate((2, 7, None, None))
        for number in (2, 3, 7)
        for quick in [number == of_quick_tests]
    ],
)
@pytest.mark.parametrize("form", ["vrt", "conll"])
def test_any_number_of_jobs_gives_the_same_bytes(tmp_path: Path, form: str, number: int, seed: int) -> None:
    layers = seed % 3 + 1
    files = corpus_files(tmp_path, seed, form, layers=layers)
    columns = {name: column + 2 for column, name in enumerate("xyz"[:layers])}
    variants: list[dict[str, Any]] = [{}, {"merge": True}]
    if form == "vrt":
        variants += [{"by": ["domain"]}, {"where": ["domain=civil"]}, {"by": ["document"]}]
    for options in variants:
        options |= {"layers": columns, "metrics": FAST}
        alone = score(*files, **options)
        together, executor, remarks = elsewhere(*files, number=number, **options)

        assert everything(together) == everything(alone)
        assert executor.submitted > number
        assert len(remarks) == 1, remarks


def test_ill_formed_tags_are_counted_by_the_scheme_of_the_whole_file(tmp_path: Path) -> None:
    """The first part alone is IOB1, in which a B after an O is ill-formed; the file is BIO."""
    iob1 = "".join(f"-DOCSTART-\n\na{n}\tI-X\nb{n}\tB-X\n\n" for n in range(30))
    bio = "".join(f"-DOCSTART-\n\nc{n}\tO\nd{n}\tB-X\n\n" for n in range(30))
    files = written(tmp_path, "conll", (iob1 + bio, iob1 + bio))

    together, executor, _ = elsewhere(*files)

    assert executor.submitted > 2
    assert together.repaired_tags == score(*files).repaired_tags == {"gold": 30, "predicted": 30}


@pytest.mark.parametrize("invalid", ["discard", "error"])
def test_files_read_strictly_are_cut_if_the_scheme_is_named(tmp_path: Path, invalid: str) -> None:
    texts = "".join(f"-DOCSTART-\n\na{n}\tB-X\nb{n}\tI-X\nc{n}\tO\n\n" for n in range(60))
    files = written(tmp_path, "conll", (texts, texts))
    _, remarks, submitted = again(files, invalid=invalid, scheme="BIO")

    assert (submitted > 2, len(remarks)) == (True, 1)


@pytest.mark.parametrize(
    ("gold", "predicted"),
    [
        (Reading(), Reading(invalid="discard")),
        (Reading(invalid="discard"), Reading()),
        (Reading(invalid="discard", scheme="BIO"), Reading(invalid="discard")),
        (Reading(), Reading(scheme="IOB1")),
        (Reading(scheme="IOB1"), Reading(scheme="BIO")),
        (Reading(scheme="BIO", invalid="discard"), Reading()),
    ],
    ids=lambda reading: f"{reading.scheme}-{reading.invalid}",
)
def test_sides_read_in_different_ways_have_the_counts_of_one_process(
    tmp_path: Path, gold: Reading, predicted: Reading
) -> None:
    """The first part alone is IOB1; the file is BIO."""
    iob1 = "".join(f"-DOCSTART-\n\na{n}\tI-X\nb{n}\tB-X\n\n" for n in range(30))
    bio = "".join(f"-DOCSTART-\n\nc{n}\tO\nd{n}\tB-X\n\n" for n in range(30))
    files = written(tmp_path, "conll", (iob1 + bio, iob1 + bio))

    again(files, reading=(gold, predicted))


def test_tasks_are_several_small_files_or_parts_of_a_large_one(tmp_path: Path) -> None:
    folders = tmp_path / "gold", tmp_path / "predicted"
    for number in range(12):
        sides = random_corpora(number, documents=40 if number == 5 else 2)
        for folder, side in zip(folders, sides, strict=True):
            folder.mkdir(exist_ok=True)
            if number == 3:
                (folder / f"{number}.vrt.gz").write_bytes(gzip.compress(vrt(side).encode()))
            else:
                write(folder / f"{number}.vrt", vrt(side))

    _, remarks, submitted = again(folders, number=2, metrics=FAST, layers={"x": 2}, by=["document"])

    assert (submitted > 5, len(remarks)) == (True, 1)


def test_files_that_need_documents_or_have_other_formats_are_not_cut(tmp_path: Path) -> None:
    lines = [f"w{n}{i}\t{tag}" for n in range(40) for i, tag in enumerate(("B-A", "I-A", "O", "B-C"))]
    for side in ("gold", "predicted"):
        (tmp_path / side).mkdir()
        for number in range(8):
            text = "\n".join(lines[: 8 * number + 8] if side == "gold" else ["", *lines[: 8 * number + 8]])
            write(tmp_path / side / f"{number}.conll", text + "\n")
    for options in (
        {"metrics": ["levels", "noisy"]},
        {"metrics": ["gate"]},
        {"metrics": ["levels"], "unit": "character"},
        {"metrics": ["levels"], "align": True},
        {"metrics": ["levels"], "where": ["label=A"]},
        {"metrics": ["fair"]},
    ):
        _, remarks, submitted = again((tmp_path / "gold", tmp_path / "predicted"), **options)

        assert (submitted > 1, len(remarks)) == (True, 1)


def test_file_with_both_sides_is_cut_like_two_files(tmp_path: Path) -> None:
    file = write(
        tmp_path / "both.conll",
        "".join(f"-DOCSTART-\n\na{n}\tB-X\tB-X\nb{n}\tI-X\tO\n\n" for n in range(60)),
    )

    _, remarks, submitted = again((file,))

    assert (submitted > 3, len(remarks)) == (True, 1)


# What a part cannot know


def surrounded(around: str) -> str:
    middle = [f'<text id="d{n}">\n<s>\nw{n}\tB-X\n</s>\n</text>\n' for n in range(60)]
    return f"{around}{''.join(middle[:30])}</corpus>\n{''.join(middle[30:])}"


def test_metadata_of_elements_around_documents_reaches_all_documents(tmp_path: Path) -> None:
    text = surrounded('<corpus year="2001">\n')
    result, remarks, _ = again(written(tmp_path, "vrt", (text, text)), by=["year"])

    assert result.groups is not None
    assert {value: group["documents"] for value, group in result.groups["year"].items()} == {
        "2001": 30,
        "(none)": 30,
    }
    assert "elements with attributes stand around documents" in remarks[1]


@pytest.mark.parametrize("around", ["<corpus>\n", '<?xml version="1.0"?>\n<!-- a="b" -->\n\n<corpus>\n'])
def test_elements_without_attributes_around_documents_are_cut(tmp_path: Path, around: str) -> None:
    text = surrounded(around)
    _, remarks, submitted = again(written(tmp_path, "vrt", (text, text)), by=["document"])
    assert (len(remarks), submitted > 3) == (1, True)

    with_metadata = text.replace("<text ", '<text year="2001" ')
    _, remarks, submitted = again(written(tmp_path, "vrt", (with_metadata, with_metadata)), by=["year"])
    assert (len(remarks), submitted > 3) == (1, True)


def test_elements_with_attributes_around_documents_are_cut_if_no_metadata_is_needed(tmp_path: Path) -> None:
    text = surrounded('<corpus year="2001">\n')

    assert len(again(written(tmp_path, "vrt", (text, text)))[1]) == 1


def test_documents_without_an_id_keep_their_numbers(tmp_path: Path) -> None:
    text = "".join(f"-DOCSTART-\n\nw{n} B-X\n\n" for n in range(60))
    files = written(tmp_path, "conll", (text, text))

    result, remarks, _ = again(files, by=["document"])

    assert result.groups is not None
    assert len(result.groups["document"]) == 60
    assert "a document without an id is known by its number" in remarks[1]
    assert len(again(files)[1]) == 1  # where no numbers are asked for, they do not matter


def test_metadata_in_comments_keeps_a_file_whole(tmp_path: Path) -> None:
    text = "".join(
        f"# newdoc id = d{n}\n# meta::domain = m{n % 2}\nw{n}\tB-X\n# meta::domain = late\n\n"
        for n in range(60)
    )
    files = written(tmp_path, "conll", (text, text))

    assert again(files, by=["domain"])[2] == 1
    assert again(files, by=["document"])[2] > 3


@pytest.mark.parametrize("invalid", ["discard", "error"])
def test_scheme_detected_from_the_first_tags_keeps_a_file_whole(tmp_path: Path, invalid: str) -> None:
    text = "".join(f"-DOCSTART-\n\nw{n} B-X\nv{n} I-X\n\n" for n in range(60))

    assert again(written(tmp_path, "conll", (text, text)), invalid=invalid)[2] == 1


def test_byte_order_mark_and_crlf_change_no_number(tmp_path: Path) -> None:
    gold, predicted = corpus_files(tmp_path, 12)
    predicted.write_bytes(b"\xef\xbb\xbf" + predicted.read_bytes().replace(b"\n", b"\r\n"))

    assert len(again((gold, predicted), layers={"x": 2})[1]) == 1


def test_tokens_that_begin_like_comments_are_tokens_in_every_part(tmp_path: Path) -> None:
    text = "".join(
        f"-DOCSTART-\n\n{'#' if n % 2 else f'v{n}'} B-X\n# O\nw{n} I-X\n# O\n\n" for n in range(80)
    )
    result, _, _ = again(written(tmp_path, "conll", (text, text)))

    assert result.tokens == 320


def test_lines_like_opening_lines_inside_sentences_change_no_number(tmp_path: Path) -> None:
    text = "".join(
        f'<text id="d{n}">\n<s>\n<text id="{n}">\tO\n<text>\tB-X\nw{n}\tI-X\n</s>\n</text>\n'
        for n in range(60)
    )
    result, remarks, _ = again(written(tmp_path, "vrt", (text, text)))

    assert (result.documents, result.tokens, len(remarks)) == (60, 180, 1)


def test_layers_that_first_occur_later_have_the_counts_of_one_process(tmp_path: Path) -> None:
    for side in ("gold", "predicted"):
        (tmp_path / side).mkdir()
        for n, layer in enumerate("aaabbbabc"):
            tokens = "\n".join(f"w{n}.{i}" for i in range(40))
            write(tmp_path / side / f"{n}.vrt", f'<text id="d{n}">\n<s>\n{tokens}\n</s>\n</text>\n')
            rows = "\n".join(f"{i}\t{i + 1}\tX" for i in range(0, 40, 2))
            write(tmp_path / side / f"{n}.tsv", f"start\tend\t{layer}\n{rows}\n")
    sides = [[tmp_path / side / f"{n}.tsv" for n in range(9)] for side in ("gold", "predicted")]

    _, remarks, submitted = again(sides, input="spans", metrics=["levels", "exact"])

    assert submitted > 3
    assert any("other layers than before" in remark for remark in remarks)


# Errors


@cache
def unbroken(form: str) -> tuple[str, str]:
    gold, predicted = (
        (vrt if form == "vrt" else conll)(corpus) for corpus in random_corpora(3, documents=50)
    )
    return gold, predicted


def broken(change: Callable[[str], str], side: int, form: str = "vrt") -> tuple[str, str]:
    texts = list(unbroken(form))
    texts[side] = change(texts[side])
    return texts[0], texts[1]


def at_the_end(old: str, new: str) -> Callable[[str], str]:
    """Replace the last occurrence."""

    def change(text: str) -> str:
        before, found, after = text.rpartition(old)
        assert found
        return before + new + after

    return change


def of_sides(changes: list[tuple[str, Callable[[str], str]]]) -> list[Any]:
    """Each change on each side; the quick tests have one side in turn."""
    return [
        pytest.param(form, change, side, marks=() if number % 2 == side else pytest.mark.long)
        for number, (form, change) in enumerate(changes)
        for side in (0, 1)
    ]


def same_error(
    files: tuple[Path, Path], kind: type[CluevalError] = CluevalError, number: int = 3, **options: Any
) -> str:
    """The error elsewhere, once it is sure that it is the one here."""
    with pytest.raises(kind) as alone:
        score(*files, **options)
    with pytest.raises(kind) as together:
        elsewhere(*files, number=number, **options)
    assert (type(together.value), str(together.value)) == (type(alone.value), str(alone.value))
    return str(alone.value)


@pytest.mark.parametrize(
    ("form", "change", "side"),
    of_sides(
        [
            ("vrt", at_the_end("\tO", "")),
            ("vrt", at_the_end("\tO", "\tO\tO")),
            ("vrt", at_the_end("\tO", "\tX-what")),
            ("vrt", at_the_end("\tO", "\tL-X\nv\tS-X")),
            ("vrt", at_the_end("\nw", "\nx")),
            ("vrt", at_the_end("</text>\n", "")),
            ("vrt", at_the_end("</s>\n", "")),
            ("vrt", at_the_end("</text>", '<text id="another">')),
            ("vrt", at_the_end('<text id="d40"', "<text id=d40")),
            ("vrt", at_the_end('<text id="d25"', '<text id="x"')),
            ("vrt", at_the_end("</text>\n", "</text>\n<text>\n</text>\n")),
            ("vrt", at_the_end("\nw", "\n\0w")),
            ("vrt", at_the_end("\nw", "\rw")),
            ("vrt", at_the_end("</text>", "<!-- a\n</text>")),
            ("conll", at_the_end("\tO", "")),
            ("conll", at_the_end("\nw", "\n\nw")),
            ("conll", at_the_end("-DOCSTART-\n", "")),
            ("conll", at_the_end("\tO", "\tX-what")),
        ]
    ),
)
def test_error_is_the_one_of_a_single_process(
    tmp_path: Path, form: str, change: Callable[[str], str], side: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule, "SMALLEST", 800)
    files = written(tmp_path, form, broken(change, side, form))

    assert same_error(files, number=4)


def test_bytes_that_are_not_utf8_are_the_error_of_a_single_process(tmp_path: Path) -> None:
    files = corpus_files(tmp_path, 3)
    files[1].write_bytes(files[1].read_bytes()[:-40] + b"\xff\n")

    assert "not UTF-8: byte 0xff" in same_error(files)


@pytest.mark.parametrize("options", [{"where": ["domain=no"]}, {"by": ["no"]}, {"where": ["document=d99"]}])
def test_filter_that_fits_no_document_is_the_error_of_a_single_process(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    assert same_error(corpus_files(tmp_path, 3), UsageError, **options)


def test_first_of_several_wrong_files_is_the_error(tmp_path: Path) -> None:
    for side in ("gold", "predicted"):
        (tmp_path / side).mkdir()
        for number in range(9):
            text = vrt(random_corpora(number, documents=3)[0])
            if side == "gold" and number in (4, 7):
                text = text.replace("</text>", "", 1)
            write(tmp_path / side / f"{number}.vrt", text)

    with pytest.raises(CluevalError, match=r"gold/4\.vrt"):
        elsewhere(tmp_path / "gold", tmp_path / "predicted")


def test_task_that_fails_once_is_counted_again_and_changes_no_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = corpus_files(tmp_path, 3, documents=60)
    whole = everything(score(*files))
    count_part, calls = tasks._count_part, iter(range(100))

    def failing(*arguments: Any) -> Any:
        if next(calls) == 5:
            raise MemoryError("no memory left")
        return count_part(*arguments)

    monkeypatch.setattr(tasks, "_count_part", failing)
    steps: list[int] = []
    result, executor, remarks = elsewhere(*files, progress=steps.append)

    assert everything(result) == whole
    assert remarks[1].endswith("counted again as a whole, in this process (MemoryError: no memory left)")
    assert executor.submitted < 15  # of a pair that is given up, no further part is submitted
    assert sum(steps) == sum(file.stat().st_size for file in files)


def test_wrong_cut_changes_no_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = corpus_files(tmp_path, 3, documents=60)
    sizes = [file.stat().st_size for file in files]

    def blindly(*_: Any) -> Any:
        places = [(0, 0), (sizes[0] // 3, sizes[1] // 3), (sizes[0] // 2, sizes[1] // 2), tuple(sizes)]
        return [tuple(zip(one, two, strict=True)) for one, two in pairwise(places)]

    monkeypatch.setattr(tasks, "cut", blindly)

    assert "counted again" in again(files)[1][1]


# Executors


def test_tasks_are_small_and_a_few_are_submitted_at_a_time(tmp_path: Path) -> None:
    files = corpus_files(tmp_path, 4, documents=200)

    _, executor, _ = elsewhere(*files, number=2)

    assert executor.submitted > 2
    assert executor.most_in_flight <= schedule.TASKS_EACH * 2
    assert executor.longest < 4000


def test_tasks_are_made_only_when_they_can_be_submitted() -> None:
    asked: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(100):
            asked.append(number)
            yield number

    executor = Elsewhere()
    outcomes = in_order(executor, abs, numbers(), window=5)

    assert [next(outcomes) for _ in range(3)] == [(0, 0), (1, 1), (2, 2)]
    assert len(asked) == 7
    assert executor.most_in_flight == 5


def test_results_come_in_the_order_of_the_tasks() -> None:
    with ThreadPoolExecutor(4) as executor:
        outcomes = list(in_order(executor, _slow_at_first, range(12), window=6))

    assert outcomes == [(n, -n) for n in range(12)]


def _slow_at_first(number: int) -> int:
    time.sleep(0.002 * (12 - number))
    return -number


def test_tasks_not_begun_are_cancelled_when_the_results_are_closed() -> None:
    class Idle(Executor):
        futures: list[Future[Any]]

        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()
            self.futures.append(future)
            if len(self.futures) == 1:
                future.set_result(None)
            return future

    executor = Idle()
    executor.futures = []
    outcomes = in_order(executor, abs, range(10), window=4)
    next(outcomes)
    outcomes.close()  # type: ignore[attr-defined]  # a generator

    assert [future.cancelled() for future in executor.futures[1:]] == [True, True, True]


class Failing(Executor):
    def __init__(self, error: BaseException, after: int = 0) -> None:
        self.error, self.after = error, after

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.after -= 1
        if self.after < 0:
            future.set_exception(self.error)
        else:
            future.set_result(fn(*args, **kwargs))
        return future


class KilledWorker(Exception):
    """As `distributed` has it."""


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (BrokenExecutor("terminated abruptly"), "a worker process has ended"),
        (
            KilledWorker("tried 3 times"),
            "the executor could not carry out a task: KilledWorker: tried 3 times",
        ),
        (
            ModuleNotFoundError("No module\nnamed 'clueval'"),
            "ModuleNotFoundError: No module named 'clueval'; not",
        ),
    ],
)
def test_executor_that_fails_is_one_error(tmp_path: Path, error: BaseException, message: str) -> None:
    files = corpus_files(tmp_path, 4, documents=60)

    with pytest.raises(WorkerLost) as lost:
        score(*files, executor=Failing(error, after=3), jobs=3)

    assert message in str(lost.value)
    assert re.search(
        rf"count(ed:)? bytes [\d,]+ to [\d,]+ of {files[0]} and bytes [\d,]+ to", str(lost.value)
    )
    assert "\n" not in str(lost.value)


@pytest.mark.parametrize("error", [CancelledError(), asyncio.CancelledError()])
def test_task_cancelled_by_the_caller_is_one_error(tmp_path: Path, error: BaseException) -> None:
    with pytest.raises(WorkerLost, match=r"^the executor has cancelled a task: it was stopped, or "):
        score(*corpus_files(tmp_path, 4, documents=60), executor=Failing(error, after=3), jobs=2)


def test_executor_that_is_shut_down_is_one_error(tmp_path: Path) -> None:
    executor = ThreadPoolExecutor(1)
    executor.shutdown()

    with pytest.raises(WorkerLost, match="cannot schedule new futures after shutdown"):
        score(*corpus_files(tmp_path, 4, documents=60), executor=executor, jobs=3)


def test_workers_of_another_version_are_an_error(tmp_path: Path) -> None:
    class Old(Elsewhere):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            return super().submit(tuple, ("0.0", b"a pickle of that version"))

    with pytest.raises(WorkerLost, match=rf"a worker has clueval 0\.0, and this is clueval {__version__}"):
        score(*corpus_files(tmp_path, 4, documents=60), executor=Old(), jobs=3)


def test_progress_has_the_bytes_of_finished_tasks(tmp_path: Path) -> None:
    files = corpus_files(tmp_path, 4, documents=60)
    steps: list[int] = []

    elsewhere(*files, progress=steps.append)

    assert len(steps) > 3
    assert sum(steps) == sum(file.stat().st_size for file in files)


@pytest.mark.parametrize("number", [1, 3])
def test_progress_has_the_bytes_of_a_file_with_both_sides_once(tmp_path: Path, number: int) -> None:
    file = corpus_files(tmp_path, 4, documents=60, layers=2)[0]
    steps: list[int] = []

    score(file, layers={"x": (2, 3)}, jobs=number, progress=steps.append)

    assert sum(steps) == file.stat().st_size


def test_relative_paths_are_found_from_another_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus_files(tmp_path, 4, documents=60)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)

    class Moved(Elsewhere):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            os.chdir(tmp_path / "elsewhere")
            try:
                return super().submit(fn, *args, **kwargs)
            finally:
                os.chdir(tmp_path)

    remarks: list[str] = []
    score("gold.vrt", "predicted.vrt", executor=Moved(), jobs=3, remark=remarks.append)

    assert len(remarks) == 1


class Watching:
    """An observer of which only this process knows."""

    name = "watching"

    def see(self, group: Group) -> None:
        assert group.gold.id == group.predicted.id

    def section(self) -> dict[str, str]:
        return {"seen": "all"}


@pytest.mark.parametrize("options", [{"pair_by": "id"}, {"observers": [Watching()]}])
def test_options_that_need_one_process_are_counted_here_with_a_remark(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    _, remarks, submitted = again(corpus_files(tmp_path, 4), **options)

    assert (submitted, remarks) == (0, ["1 process: documents are read one by one"])


class Unpicklable(type(metric_named("exact"))):  # type: ignore[misc]
    """A metric whose pickling fails."""

    error: ClassVar[Exception]

    def __reduce_ex__(self, _: object) -> Any:
        raise self.error


@pytest.mark.parametrize("error", [TypeError("cannot pickle a lock"), ValueError("ctypes"), RuntimeError()])
@pytest.mark.parametrize("documents", [1, 30])
def test_metric_that_cannot_be_pickled_counts_in_this_process(
    tmp_path: Path, error: Exception, documents: int
) -> None:
    class Local(type(metric_named("exact"))):  # type: ignore[misc]
        """A metric of a class that other processes cannot import."""

    files = corpus_files(tmp_path, 4, documents=documents)
    Unpicklable.error = error
    for metric in (Local(), Unpicklable()):
        _, executor, remarks = elsewhere(*files, metrics=[metric])

        assert (executor.submitted, remarks) == (
            0,
            ["1 process: the metrics cannot be sent to other processes"],
        )


# How many


def test_number_of_processes_is_the_requested_one_or_depends_on_the_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jobs, "cores", lambda: 6)

    assert chosen_jobs(2, 10) == (2, "as requested")
    assert chosen_jobs(None, jobs.WORTH_IT - 1)[0] == 1
    assert chosen_jobs(None, jobs.WORTH_IT) == (6, f"{jobs.WORTH_IT / 1e6:.0f} MB, and 6 cores")


@pytest.mark.parametrize(
    ("options", "least"),
    [
        ({"metrics": "exact"}, jobs.WORTH_IT),
        ({"metrics": "exact", "by": "document"}, jobs.WORTH_IT),
        ({"metrics": "exact", "unit": "character"}, jobs.WORTH_IT),
        ({"metrics": "exact", "resample_by": "sentence"}, jobs.WORTH_IT),
        ({"metrics": "masking"}, jobs.WORTH_IT / jobs.BY_DOCUMENTS),
        (None, math.inf),
    ],
    ids=str,
)
def test_processes_start_by_themselves_only_where_they_save_time(
    options: dict[str, Any] | None, least: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None is ``clueval masking``, where receiving what others find takes as long as finding it."""
    files, numbers = corpus_files(tmp_path, 4), []

    def counted_here(*given: Any) -> tuple[int, str]:
        numbers.append(chosen_jobs(*given)[0])
        return 1, "so that none is started"

    def processes(size: float) -> int:
        monkeypatch.setattr(schedule, "size_of", lambda _: size / 2)
        numbers.clear()
        if options is None:
            masking(*files, jobs=None)
        else:
            score(*files, jobs=None, **options)
        return numbers[0]

    monkeypatch.setattr(jobs, "cores", lambda: 2)
    monkeypatch.setattr(schedule, "chosen_jobs", counted_here)
    assert processes(min(least, 1e15) - 2) == 1
    assert least == math.inf or processes(least + 2) == 2


@pytest.mark.parametrize("wrong", [0, -1, True, 1.5, "4", "auto"], ids=repr)
def test_wrong_number_of_processes_is_refused_for_files_and_documents(tmp_path: Path, wrong: Any) -> None:
    message = rf"jobs={wrong!r} is not a number of processes .*from 1, or None for an automatic choice"

    with pytest.raises(UsageError, match=message):
        chosen_jobs(wrong, 10)
    with pytest.raises(UsageError, match=message):
        score(*corpus_files(tmp_path, 4), jobs=wrong)
    with pytest.raises(UsageError, match=message):
        score([], [], jobs=wrong)


# The command line, and how processes end


def command(
    files: tuple[Path, Path], *options: str, before: str = "", main: str = "sys.exit(main(arguments))"
) -> list[str]:
    """A command line of its own process, with tasks of any size; `before` is run before it."""
    arguments = ["score", *map(str, files), *options]
    lines = [
        "import sys, time, os, signal",
        "import clueval.evaluation.run, clueval.evaluation.parallel.schedule",
        "from clueval.cli import main",
        "clueval.evaluation.parallel.schedule.SMALLEST = 1000",
        before,
        f"arguments = {arguments!r}",
        main,
    ]
    return [sys.executable, "-c", "\n".join(lines)]


SLEEPING = """
def sleeping(*_):
    with open({begun!r}, "a") as file:
        file.write("x")
    time.sleep(600)

clueval.evaluation.count_files.count_without_documents = sleeping
"""
"""Counting that never ends, and that writes a letter to a file when it begins."""


def wait_for_size(path: Path, size: int) -> bool:
    return wait_until(lambda: path.stat().st_size == size)


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """A file with a letter for each time that a process has begun to count."""
    return write(tmp_path / "begun", "")


THREAD = "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()"


def scripted(folder: Path, files: tuple[Path, Path], *lines: str) -> subprocess.CompletedProcess[str]:
    """A script run in a process of its own, with tasks of any size; `FILES` stands for both files."""
    names = ", ".join(repr(str(file)) for file in files)
    head = [
        "import os, signal, threading, time",
        "from clueval import score",
        "from clueval.evaluation import count_files",
        "from clueval.evaluation.parallel import schedule, workers",
        "schedule.SMALLEST = 1000",
    ]
    script = write(folder / "script.py", "\n".join([*head, *lines]).replace("FILES", names))
    command = [sys.executable, "-W", "ignore", str(script)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


@ON_LINUX
def test_workers_are_fresh_interpreters_if_threads_run(tmp_path: Path) -> None:
    files = corpus_files(tmp_path, 4, documents=100)
    done = scripted(
        tmp_path,
        files,
        "if __name__ == '__main__':",
        "    print(workers.start_method())",
        f"    {THREAD}",
        "    print(workers.start_method())",
        "    print(score(FILES, jobs=2).to_json())",
    )

    first, second, report = done.stdout.split("\n", 2)
    assert (first, second) == ("fork", "spawn")
    assert (done.returncode, report.strip()) == (0, score(*files).to_json())


def test_process_that_cannot_start_others_counts_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError("Function not implemented")

    monkeypatch.setattr("multiprocessing.process.BaseProcess.start", refuse)
    files, remarks = corpus_files(tmp_path, 9), list[str]()

    result = score(*files, jobs=2, remark=remarks.append)

    assert everything(result) == everything(score(*files))
    assert remarks == ["1 process: no other can be started (Function not implemented)"]


def test_process_that_may_have_no_children_counts_alone(tmp_path: Path) -> None:
    files = corpus_files(tmp_path, 9)
    code = (
        "import multiprocessing, clueval.evaluation.parallel.schedule; from clueval import score; "
        "clueval.evaluation.parallel.schedule.SMALLEST = 100; "
        f"pool = multiprocessing.get_context('fork').Pool(1); files = {[*map(str, files)]!r}; "
        "print(pool.apply(score, files, {'jobs': 2}).tokens)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert int(done.stdout) == score(*files).tokens


@pytest.mark.parametrize("number", [None, 1])
def test_executor_of_unknown_size_gets_64_tasks_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int | None
) -> None:
    monkeypatch.setattr(schedule, "LARGEST", 300)
    executor, remarks = Elsewhere(), list[str]()

    score(*corpus_files(tmp_path, 4, documents=100), executor=executor, jobs=number, remark=remarks.append)

    assert remarks == ["less than 1 MB on the executor, at most 64 tasks at a time"]
    assert executor.most_in_flight <= schedule.IN_FLIGHT < executor.submitted


@pytest.mark.parametrize("name", ["whole.conll", "cut.vrt"])
def test_executor_counts_even_a_small_corpus(tmp_path: Path, name: str) -> None:
    vrt = "".join(f"<text id='{n}'>\nw{n}\tB-X\n</text>\n" for n in range(300))
    text = vrt if name.endswith("vrt") else "w\tB-X\n\n"
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    executor = Elsewhere()

    result = score(path, path, executor=executor)

    assert executor.submitted == 1 if name.endswith("conll") else executor.submitted > 20
    assert result.metrics == score(path, path).metrics


def test_remark_has_the_reason_for_fewer_processes_than_requested(tmp_path: Path) -> None:
    path = tmp_path / "a.conll"
    path.write_text("w\tB-X\n" * 60, encoding="utf-8")
    remarks: list[str] = []

    for number in (2, 50):
        score(path, path, jobs=number, remark=remarks.append)

    why = "there is one pair of files, which has no documents at which both sides can be cut"
    assert remarks == [f"1 process: {why}"] * 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schedule, "SMALLEST", 1_000_000)
        score(path, path, jobs=4, remark=remarks.append)
    assert remarks[-1] == "1 process: less than 1 MB is too little for more; 4 were requested"


def test_no_more_processes_start_than_there_are_parts(tmp_path: Path) -> None:
    for side in ("gold", "predicted"):
        (tmp_path / side).mkdir()
        for number in range(2):
            write(tmp_path / side / f"{number}.conll", "w\tB-X\n" * 300)
    remarks: list[str] = []

    score(tmp_path / "gold", tmp_path / "predicted", jobs=9, remark=remarks.append)

    assert remarks == ["2 processes: the files have no more parts to share; 9 were requested"]


INTERRUPTED_IN_A_DESTRUCTOR = """
class Dying:
    def __del__(self):
        os.kill(os.getpid(), signal.{name})
        time.sleep(0.01)

def count(*_):
    Dying()
    time.sleep(600)

clueval.evaluation.count_files.count_without_documents = count
"""
