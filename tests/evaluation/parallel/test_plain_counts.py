"""What workers send back is read as strictly as a file of unknown origin."""

from __future__ import annotations

import gzip
import json
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from corpora import write
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import at_most
from test_jobs import FAST, Elsewhere, corpus_files, everything

from clueval import score
from clueval.evaluation import file_pairs
from clueval.evaluation.parallel import schedule
from clueval.exceptions import CluevalError, WorkerLost
from clueval.metrics import METRICS, metric_named
from clueval.metrics.counting import Tally
from clueval.metrics.exact import Exact
from clueval.metrics.gate import Gate
from clueval.metrics.tally_keys import shapes_of


@pytest.fixture(autouse=True)
def _small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "SMALLEST", 100)


class Tampering(Executor):
    """Carries out a task when its result is asked for, and changes what comes back from one of them."""

    def __init__(self, change: Callable[[bytes], object], number: int = 1) -> None:
        self._change, self._number = change, number

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self._number -= 1
        return _Answer(lambda: fn(*args, **kwargs), self._change if self._number == 0 else None)


class _Answer(Future[Any]):
    def __init__(self, carry_out: Callable[[], bytes], change: Callable[[bytes], object] | None) -> None:
        super().__init__()
        self._carry_out, self._changed = carry_out, change

    def result(self, timeout: float | None = None) -> Any:
        answer = self._carry_out()
        return answer if self._changed is None else self._changed(answer)


def replaced(*path: str | int, by: Any) -> Callable[[Any], object]:
    """Put something in a place of the answer; a function of what stands there, or a value."""

    def change(value: Any) -> object:
        *before, last = path
        place = value
        for step in before:
            place = place[step]
        place[last] = by(place[last]) if callable(by) else by
        return value

    return change


def removed(*path: str | int) -> Callable[[Any], object]:
    def change(value: Any) -> object:
        *before, last = path
        place = value
        for step in before:
            place = place[step]
        del place[last]
        return value

    return change


TALLY = "counts", "total", "tallies", 0, 2
"""Where the counts of the first metric are."""

PART = r"bytes [\d,]+ to [\d,]+ of \S+gold\.vrt and bytes [\d,]+ to [\d,]+ of \S+predicted\.vrt"

OPTIONS: dict[str, Any] = {
    "metrics": ["levels", "exact"],
    "layers": {"x": 2},
    "by": ["domain"],
    "where": ["domain=civil", "domain=penal"],
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return corpus_files(tmp_path_factory.mktemp("tampered"), 3, documents=8)


def of_json(change: Callable[[Any], object]) -> Callable[[bytes], bytes]:
    return lambda answer: json.dumps(change(json.loads(answer))).encode()


def doubled(rows: list[Any]) -> list[Any]:
    return [*rows, rows[0]]


@pytest.mark.parametrize(
    "change",
    [
        replaced("problem", by=7),
        replaced("problem", by="something, though there are counts"),
        replaced("counts", by=None),
        replaced("counts", by=[]),
        replaced("changed_file", by=["/etc/passwd", 3]),
        replaced("layouts", by=[None, None]),
        replaced("layouts", by=[]),
        replaced("layouts", 0, 0, by=True),
        replaced("layouts", 0, 1, by=9),
        replaced("layouts", 1, 4, by=[["x"]]),
        replaced("layouts", 1, 5, by=1),
        replaced("more", by=1),
        removed("problem"),
        removed("counts", "units"),
        replaced("counts", "more", by=1),
        replaced("counts", "layers", by="x"),
        replaced("counts", "layers", by=None),
        replaced("counts", "layers", by=["y"]),
        replaced("counts", "layers", by=["x", "x"]),
        replaced("counts", "layers", by=["x", 1]),
        replaced("counts", "grown", by=0),
        replaced("counts", "total", by=None),
        replaced("counts", "total", "documents", by=-1),
        replaced("counts", "total", "documents", by=1.0),
        replaced("counts", "total", "documents", by=True),
        replaced("counts", "total", "documents", by="1"),
        replaced("counts", "total", "documents", by=None),
        replaced("counts", "total", "documents", by=10**9),
        replaced("counts", "total", "tokens", by=lambda tokens: tokens + 10**6),
        replaced("counts", "total", "tokens", by=lambda tokens: tokens + 1),  # the groups do not add up to it
        replaced("counts", "total", "tallies", by={}),
        replaced("counts", "total", "tallies", by=doubled),
        replaced("counts", "total", "tallies", by=lambda tallies: tallies[1:]),
        replaced("counts", "total", "tallies", 0, 0, by="muc"),
        replaced("counts", "total", "tallies", 0, 0, by=["levels"]),
        replaced("counts", "total", "tallies", 0, 1, by="merged"),
        replaced("counts", "total", "tallies", 0, 1, by=None),
        replaced(*TALLY, by=7),
        replaced(*TALLY, by=doubled),
        replaced(*TALLY, 0, by=[]),
        replaced(*TALLY, 0, by=[1]),
        replaced(*TALLY, 0, by=["class", "gold", "perfect", 1]),
        replaced(*TALLY, 0, by=["class", "gold", ["exact"], 1]),
        replaced(*TALLY, 0, by=["class", "gold", {"exact": 1}, 1]),
        replaced(*TALLY, 0, by=["label", "gold", "y", "PER", "exact", True, 1]),
        replaced(*TALLY, 0, by=["label", "gold", "x", "PER", "exact", 1, 1]),
        replaced(*TALLY, 0, -1, by=-1),
        replaced(*TALLY, 0, -1, by=1.5),
        replaced(*TALLY, 0, -1, by=True),
        replaced(*TALLY, 0, -1, by=None),
        replaced(*TALLY, 0, -1, by="1"),
        replaced(*TALLY, 0, -1, by=10**7),
        replaced(*TALLY, 0, -1, by=10**4000),
        replaced("counts", "groups", by={}),
        replaced("counts", "groups", "court", by={}),
        replaced("counts", "groups", "domain", by={}),
        replaced("counts", "groups", "domain", by=[]),
        replaced("counts", "repaired", by={"gold": 0}),
        replaced("counts", "repaired", "gold", by=-1),
        replaced("counts", "inputs", by={}),
        replaced("counts", "inputs", "gold", by=[]),
        replaced("counts", "inputs", "gold", "format", by="exe"),
        replaced("counts", "inputs", "gold", "format", by=1),
        replaced("counts", "inputs", "gold", "files", by=-1),
        replaced("counts", "inputs", "gold", "files", by=10**9),
        replaced("counts", "inputs", "gold", "layers", by=[]),
        replaced("counts", "inputs", "gold", "layers", "x", by=2),
        removed("counts", "inputs", "gold", "layers", "x", "scheme"),
        replaced("counts", "inputs", "gold", "layers", "x", "source", by=[2]),
        replaced("counts", "inputs", "gold", "layers", "x", "source", by=True),
        replaced("counts", "inputs", "gold", "layers", "x", "scheme", by="BIG"),
        replaced("counts", "inputs", "gold", "layers", "x", "spans", by=1.5),
        replaced("counts", "inputs", "gold", "layers", "x", "spans", by=10**9),
        replaced("counts", "units", by=["byte"]),
        replaced("counts", "units", by="token"),
        replaced("counts", "text", by="aligned"),
        replaced("counts", "text", by=None),
        replaced("counts", "text", by=["equal"]),
        replaced("counts", "unprojected", by=[["d0", [0, 1, {"x": "PER"}, {}, None, None, None]]]),
        replaced("counts", "unfiltered", by={"levels": []}),
        replaced("counts", "seen_names", by=[]),
        replaced("counts", "seen_names", 0, by=[1]),
        replaced("counts", "seen_names", 1, by={"court": ["x"]}),
        replaced("counts", "seen_names", 1, by={"domain": [["civil"]]}),
        replaced("counts", "frames", by={"x": 1}),
        replaced("counts", "decoders", by=None),
        replaced("counts", "decoders", by=[]),
        replaced("counts", "decoders", by=doubled),
        replaced("counts", "decoders", 0, 0, by="reference"),
        replaced("counts", "decoders", 0, 1, by="y"),
        replaced("counts", "decoders", 0, 2, by=doubled),
        replaced("counts", "decoders", 0, 2, 0, by=["O", "what", 1]),
        replaced("counts", "decoders", 0, 2, 0, by=["O", "B-PER", -1]),
        replaced("counts", "decoders", 0, 2, 0, by=["O", "B-PER"]),
        replaced("counts", "decoders", 0, 2, 0, by=["O", 1, 1]),
        lambda _: [],
        lambda _: None,
        lambda _: "counts",
        lambda value: {"clueval": value["clueval"]},
        lambda value: value | {"clueval": 1},
    ],
)
@pytest.mark.parametrize("number", [2])
def test_answer_that_cannot_be_the_counts_of_its_part_is_an_error_that_names_the_part(
    files: tuple[Path, Path], change: Callable[[Any], object], number: int
) -> None:
    with pytest.raises(WorkerLost, match=rf"what a worker sent back is not the counts of {PART}: ") as lost:
        score(*files, executor=Tampering(of_json(change), number), jobs=2, **OPTIONS)

    assert "\n" not in str(lost.value)
    assert len(str(lost.value)) < 600


class Bomb:
    """An object of which no attribute is read."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError("it was touched")


@pytest.mark.parametrize(
    "answer",
    [
        None,
        7,
        "{}",
        bytearray(b"{}"),
        Bomb(),
        b"",
        b"{",
        b"[" * 200_000,
        b"\xff\xfe{\x00}\x00",
        '{"clueval": "ä"}'.encode(),
        b'{"clueval": NaN}',
        b'{"clueval": "1", "clueval": "2"}',
        b'{"clueval": ' + b"9" * 5_000 + b"}",
        pickle.dumps({"clueval": "1"}),
    ],
    ids=lambda answer: type(answer).__name__,
)
def test_answer_that_is_not_json_is_an_error_that_names_the_part(
    files: tuple[Path, Path], answer: object
) -> None:
    with pytest.raises(WorkerLost, match=rf"what a worker sent back is not the counts of {PART}: "):
        score(*files, executor=Tampering(lambda _: answer, 2), jobs=2, **OPTIONS)


@pytest.mark.parametrize("text", ["1e999", "-1e999", "NaN", "Infinity", "-Infinity"])
def test_number_that_is_not_finite_is_refused(files: tuple[Path, Path], text: str) -> None:
    def change(answer: bytes) -> bytes:
        whole = json.loads(answer)
        whole["counts"]["total"]["tallies"][0][2][0][-1] = "HERE"
        return json.dumps(whole).replace('"HERE"', text).encode()

    with pytest.raises(WorkerLost, match=PART):
        score(*files, executor=Tampering(change), jobs=2, **OPTIONS)


def test_long_problem_of_a_worker_is_shortened_and_escaped(
    files: tuple[Path, Path],
) -> None:
    problem = "\x1b[2J\nGAUGE\u202e" + "x" * 10_000
    change = of_json(lambda value: value | {"problem": problem, "counts": None})
    remarks: list[str] = []

    result = score(*files, executor=Tampering(change), jobs=2, remark=remarks.append, **OPTIONS)

    assert everything(result) == everything(score(*files, **OPTIONS))
    assert remarks[1].isprintable()
    assert len(remarks[1]) < 1_000


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to everything in a JSON value."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        yield from places(each, (*path, key))


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["", "x", "gold", "PER", "\ud800"]),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.sampled_from("xy"), inside, max_size=2),
    max_leaves=4,
)


def tampered_with(files: tuple[Path, Path], data: st.DataObject) -> None:
    """Change one or two places of an answer: there is a result, or an error in one line."""

    def change(value: Any) -> object:
        for _ in range(data.draw(st.integers(1, 2))):
            path = data.draw(st.sampled_from(list(places(value))))
            junk = data.draw(JUNK)
            value = data.draw(st.sampled_from([replaced(*path, by=junk), removed(*path)]))(value)
        return value

    executor = Tampering(of_json(change), data.draw(st.integers(1, 3)))
    try:
        result = score(*files, executor=executor, jobs=2, **OPTIONS | {"metrics": FAST})
    except CluevalError as error:
        assert "\n" not in str(error)  # noqa: PT017  # it may be an error or a result
    else:
        assert json.loads(result.to_json())["metrics"].keys() == set(FAST)


@at_most(15)
@given(data=st.data())
def test_changed_answers_are_counted_or_an_error_and_never_a_traceback(
    files: tuple[Path, Path], data: st.DataObject
) -> None:
    tampered_with(files, data)


@pytest.mark.long
@settings(max_examples=800)
@given(data=st.data())
def test_many_changed_answers_are_counted_or_an_error_and_never_a_traceback(
    files: tuple[Path, Path], data: st.DataObject
) -> None:
    tampered_with(files, data)


# Counts that are right pass


@pytest.mark.parametrize("name", METRICS)
def test_keys_of_every_metric_have_shapes(name: str) -> None:
    metric = metric_named(name)

    assert shapes_of(metric)
    assert shapes_of(type("Other", (type(metric),), {})()) is None


def bdoc(document: int, side: int, more: str = "") -> str:
    """A document of a text with annotations that have scores, further features and a containing one.

    The last annotation stands on what the text has more.
    """
    text = f"Ada und Bob sahen Carl {document} mal. " * 6 + more
    spans = [
        {"type": "Person", "start": start + side * (start % 3 == 0), "end": start + 4, "id": start,
         "features": {"score": start / 200, "kind": "abc"[start % 3], "more": [1, {"a": None}, "ä"]}}
        for start in [*range(1, len(text) - 40, 7), len(text) - 4]
    ]  # fmt: skip
    part = [{"type": "Part", "start": 10, "end": 120, "id": 1, "features": {}}]
    sets = {"Key": {"name": "Key", "annotations": spans}, "Zone": {"name": "Zone", "annotations": part}}
    return json.dumps({"text": text, "offset_type": "p", "features": {}, "annotation_sets": sets})


GATE = {
    "plain": Gate(),
    "features": Gate(features=("kind",), nil="a", by=("kind",)),
    "scores": Gate(score_feature="score", thresholds=(float("-inf"), 0.2, 0.5)),
    "all scores": Gate(score_feature="score"),
    "containing": Gate(containing="Zone:Part"),
    "types": Gate(types=("Person",)),
}


@pytest.mark.parametrize("name", GATE)
def test_counts_of_annotations_arrive_unchanged(tmp_path: Path, name: str) -> None:
    for number in range(4):
        for side, folder in enumerate(("gold", "predicted")):
            (tmp_path / folder).mkdir(exist_ok=True)
            write(tmp_path / folder / f"{number}.bdocjs", bdoc(number, side))
    options: dict[str, Any] = {"gold_set": "Key", "predicted_set": "Key", "metrics": [GATE[name]]}
    sides = tmp_path / "gold", tmp_path / "predicted"
    remarks: list[str] = []

    together = score(*sides, executor=Elsewhere(), jobs=2, remark=remarks.append, **options)

    assert everything(together) == everything(score(*sides, **options))
    assert len(remarks) == 1, remarks


def test_spans_without_a_place_arrive_unchanged(tmp_path: Path) -> None:
    for number in range(4):
        for side, folder in enumerate(("gold", "predicted")):
            (tmp_path / folder).mkdir(exist_ok=True)
            write(tmp_path / folder / f"{number}.bdocjs", bdoc(number, side, "0123456789" * side))
    options: dict[str, Any] = {"gold_set": "Key", "predicted_set": "Key", "align": True}
    sides = tmp_path / "gold", tmp_path / "predicted"
    remarks: list[str] = []
    alone = score(*sides, **options)

    together = score(*sides, executor=Elsewhere(), jobs=2, remark=remarks.append, **options)

    assert everything(together) == everything(alone)
    assert together.unprojected == alone.unprojected
    assert alone.unprojected
    assert (len(remarks), [span.id for _, span in together.unprojected or ()]) == (
        1,
        [span.id for _, span in alone.unprojected],
    )


def test_packed_files_may_hold_more_than_their_size(tmp_path: Path) -> None:
    for side in ("gold", "predicted"):
        (tmp_path / side).mkdir()
        for number in range(3):
            (tmp_path / side / f"{number}.conll.gz").write_bytes(gzip.compress(b"w\tB-X\n" * 5_000))
    sides = tmp_path / "gold", tmp_path / "predicted"

    together = score(*sides, executor=Elsewhere(), jobs=2)

    assert together.tokens == 15_000 > 100 * sum(path.stat().st_size for path in sides[0].iterdir()) / 3
    assert everything(together) == everything(score(*sides))


@pytest.mark.parametrize("named", [True, False], ids=["named", "beside"])
def test_tables_of_spans_may_belong_to_a_longer_text(tmp_path: Path, named: bool) -> None:
    text = "<text>\n<s>\n" + "w\n" * 3_000 + "</s>\n</text>\n"
    sides = []
    for side in ("gold", "predicted"):
        sides.append(write(tmp_path / f"{side}.tsv", "start\tend\tx\n1\t3\tA\n"))
        write(tmp_path / ("text.vrt" if named else f"{side}.vrt"), text)
    options: dict[str, Any] = {"text": tmp_path / "text.vrt"} if named else {}
    remarks: list[str] = []

    together = score(*sides, executor=Elsewhere(), remark=remarks.append, input="spans", **options)

    assert (together.tokens, len(remarks)) == (3_000, 1)
    assert everything(together) == everything(score(*sides, input="spans", **options))


@dataclass(frozen=True, slots=True)
class Halves(Exact):
    """A metric that is not one of `METRICS`: it counts halves, and numbers are among its keys."""

    name: ClassVar[str] = "halves"
    half: ClassVar[Any] = 0.5

    def count(self, gold: Any, predicted: Any) -> Tally:
        return Tally({("half", 0.25, None, 1): self.half * len(gold.spans)})  # type: ignore[dict-item]

    def count_agreed(self, labels: Any, positions: int) -> Tally:
        return Tally({("half", 0.25, None, 1): self.half * sum(labels.values())})  # type: ignore[dict-item]

    def scores(self, total: Tally, layers: Any) -> dict[str, Any]:
        return {"halves": total["half", 0.25, None, 1], "per_label": {}}


class Nested(Halves):
    """Its keys hold tuples, which do not travel."""

    name: ClassVar[str] = "nested"

    def count(self, gold: Any, predicted: Any) -> Tally:
        return Tally({(("a", "b"),): len(gold.spans)})

    def count_agreed(self, labels: Any, positions: int) -> Tally:
        return Tally({(("a", "b"),): sum(labels.values())})

    def scores(self, total: Tally, layers: Any) -> dict[str, Any]:
        return {"nested": total[(("a", "b"),)]}


def test_metric_of_a_user_may_count_any_finite_number(files: tuple[Path, Path]) -> None:
    together = score(*files, executor=Elsewhere(), jobs=2, metrics=[Halves()], layers={"x": 2})

    assert together.to_json() == score(*files, metrics=[Halves()], layers={"x": 2}).to_json()
    assert together.metrics["halves"]["x"]["halves"] > 5
    for junk in ("1", True, 10**4000, float("inf"), float("nan")):
        change = of_json(replaced(*TALLY, 0, -1, by=junk))
        with pytest.raises(WorkerLost, match="what a worker sent back is not the counts of "):
            score(*files, executor=Tampering(change), jobs=2, metrics=[Halves()], layers={"x": 2})


def test_counts_that_are_not_plain_are_counted_again_here_with_a_remark(files: tuple[Path, Path]) -> None:
    remarks: list[str] = []
    options: dict[str, Any] = {"metrics": [Nested()], "layers": {"x": 2}}

    together = score(*files, executor=Elsewhere(), jobs=2, remark=remarks.append, **options)

    assert together.to_json() == score(*files, **options).to_json()
    assert "(its metrics count with other keys than strings and numbers)" in remarks[1]


class Speechless(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize("error", [Speechless(), SystemExit(3)])
def test_error_of_a_worker_that_does_not_occur_here_changes_no_number(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    count, alone = file_pairs.compared, everything(score(*files, **OPTIONS))
    left = [error]

    def counting(*arguments: Any) -> Any:
        if left:
            raise left.pop()
        return count(*arguments)

    monkeypatch.setattr(file_pairs, "compared", counting)
    remarks: list[str] = []

    together = score(*files, executor=Elsewhere(), jobs=2, remark=remarks.append, **OPTIONS)

    assert everything(together) == alone
    assert f"({type(error).__name__}: " in remarks[1]
