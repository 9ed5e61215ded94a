"""A transform and an observer are one class each: two that are written here go through all that evaluations do."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from corpora import vrt, write

from clueval import Document, Span, read, score
from clueval.files.errors import UsageError
from clueval.reading.options import Reading
from clueval.reports import markdown
from clueval.transforms.group import Group, Transform


class Without:
    """A transform that takes a label out of both sides."""

    def __init__(self, label: str, name: str = "without") -> None:
        self.label = label
        self.signature = (name, label)
        self.prepared: Counter[tuple[Any, ...]] = Counter()

    def __call__(self, group: Group) -> Group:
        return replace(
            group, gold=self._kept("gold", group.gold), predicted=self._kept("predicted", group.predicted)
        )

    def _kept(self, side: str, document: Document) -> Document:
        layers = {}
        for layer, spans in document.layers.items():
            layers[layer] = [span for span in spans if span.label != self.label]
            self.prepared[side, layer] += len(spans) - len(layers[layer])
        return replace(document, layers=layers, tags={})


class Lengths:
    """An observer that counts the spans of each side and document."""

    name = "lengths"

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.spans: Counter[str] = Counter()
        self.further = 0

    def see(self, group: Group) -> None:
        self.seen.append(group.gold.id)
        self.further += len(group.further)
        for side, document in (("gold", group.gold), ("predicted", group.predicted)):
            self.spans[side] += sum(map(len, document.layers.values()))

    def section(self) -> Mapping[str, Any]:
        return {"documents": self.seen, "spans": dict(self.spans)}


GOLD = [
    [[("Anna", "B-PER"), ("Weiß", "I-PER"), ("in", "O"), ("Ulm", "B-LOC")]],
    [[("Jo", "B-PER"), ("Ehm", "I-PER")]],
]
PREDICTED = [
    [[("Anna", "B-PER"), ("Weiß", "I-PER"), ("in", "O"), ("Ulm", "B-PER")]],
    [[("Jo", "B-LOC"), ("Ehm", "B-PER")]],
]


@pytest.fixture
def paths(tmp_path: Path) -> tuple[Path, Path]:
    return write(tmp_path / "gold.vrt", vrt(GOLD)), write(tmp_path / "predicted.vrt", vrt(PREDICTED))


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    for side, corpus in (("g", GOLD), ("p", PREDICTED)):
        (tmp_path / side).mkdir()
        for number in range(4):
            write(tmp_path / side / f"{number}.vrt", vrt(corpus))
    return tmp_path / "g", tmp_path / "p"


def test_transform_changes_what_is_counted_and_says_so(paths: tuple[Path, Path]) -> None:
    transform: Transform = Without("LOC")
    result = score(*paths, metrics="exact", transforms=[transform])
    report = result.to_dict()

    # gold: two PER; predicted: three PER, of which one is right
    micro = report["metrics"]["exact"]["label"]["micro"]
    assert (micro["gold"], micro["predicted"], micro["tp_gold"]) == (2, 3, 1)
    assert report["prepared"] == {"without": {"gold/label": 1, "predicted/label": 1}}
    assert "|without:LOC|" in report["signature"]
    assert "prepared" not in score(*paths, metrics="exact").to_dict()
    json.dumps(report)


def test_transform_comes_before_merging_filters_and_break_downs(paths: tuple[Path, Path]) -> None:
    def counted(**options: Any) -> dict[str, Any]:
        return score(*paths, metrics="exact", transforms=[Without("LOC")], **options).to_dict()

    assert counted(merge=True)["metrics"]["exact"]["merged"]["micro"]["gold"] == 2
    assert counted(where=["label=PER"])["metrics"]["exact"]["label"]["micro"]["gold"] == 2
    with pytest.raises(UsageError, match="no span has label=LOC"):
        counted(where=["label=LOC"])
    groups = counted(by="document")["by"]["document"]
    assert {key: of["metrics"]["exact"]["label"]["micro"]["gold"] for key, of in groups.items()} == {
        "d0": 1,
        "d1": 1,
    }


def test_transforms_work_one_after_the_other(paths: tuple[Path, Path]) -> None:
    result = score(*paths, metrics="exact", transforms=[Without("LOC"), Without("PER", "more")])

    assert result.metrics["exact"]["label"]["micro"]["gold"] == 0
    assert result.to_dict()["prepared"]["more"] == {"gold/label": 2, "predicted/label": 3}


def test_transform_is_never_changed_itself(paths: tuple[Path, Path]) -> None:
    transform = Without("LOC")
    first, second = (score(*paths, metrics="exact", transforms=[transform]) for _ in range(2))

    assert not transform.prepared
    assert first == second


class SameProcess(Executor):
    """Carries out tasks in this process, on the same objects."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


def test_transform_gives_the_same_from_documents_and_in_several_processes(
    folders: tuple[Path, Path],
) -> None:
    def counted(*sides: Any, **options: Any) -> dict[str, Any]:
        return score(*sides, metrics="exact", transforms=[Without("LOC")], **options).to_dict()

    alone = counted(*folders)

    assert alone["prepared"] == {"without": {"gold/label": 4, "predicted/label": 4}}
    assert counted(*folders, executor=SameProcess()) == alone
    with ThreadPoolExecutor(2) as threads:
        assert counted(*folders, executor=threads) == alone
    of_documents = counted(list(read(folders[0])), list(read(folders[1])))
    assert (of_documents["metrics"], of_documents["prepared"]) == (alone["metrics"], alone["prepared"])


def test_transform_counts_the_same_in_two_processes(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from clueval.evaluation.parallel import schedule

    monkeypatch.setattr(schedule, "SMALLEST", 100)
    remarks: list[str] = []

    def counted(**options: Any) -> dict[str, Any]:
        transforms = [Without("LOC")]
        return score(*folders, metrics="exact", transforms=transforms, **options).to_dict()

    assert counted(jobs=2, remark=remarks.append) == counted()
    assert remarks[0].startswith("2 processes")


def test_transforms_have_names_of_their_own(paths: tuple[Path, Path]) -> None:
    with pytest.raises(UsageError, match="a transform cannot have the name 'without'"):
        score(*paths, transforms=[Without("LOC"), Without("PER")])
    with pytest.raises(UsageError, match="a transform cannot have the name 'unit'"):
        score(*paths, transforms=[Without("LOC", "unit")])


def test_results_of_the_same_transforms_add(paths: tuple[Path, Path]) -> None:
    one = score(*paths, metrics="exact", transforms=[Without("LOC")])
    both = (one.add(one)).to_dict()

    assert both["prepared"] == {"without": {"gold/label": 2, "predicted/label": 2}}
    assert both["metrics"]["exact"]["label"]["micro"]["gold"] == 4
    with pytest.raises(UsageError, match="without is LOC and PER"):
        one.add(score(*paths, metrics="exact", transforms=[Without("PER")]))


def test_observer_has_a_section_of_its_own(paths: tuple[Path, Path]) -> None:
    result = score(*paths, metrics="exact", observers=[Lengths()])
    report = result.to_dict()

    assert report["lengths"] == {"documents": ["d0", "d1"], "spans": {"gold": 3, "predicted": 4}}
    assert report["metrics"] == score(*paths, metrics="exact").to_dict()["metrics"]
    assert json.loads(result.to_json())["lengths"] == report["lengths"]
    with pytest.raises(UsageError, match="with observers that do not add"):
        result.add(result)


def test_observers_that_include_others_add_with_their_results(paths: tuple[Path, Path]) -> None:
    class Adding(Lengths):
        def include(self, other: Adding) -> None:
            self.seen += other.seen
            self.spans += other.spans

    one, two = (score(*paths, metrics="exact", observers=[Adding()]) for _ in range(2))
    both = one.add(two)

    assert both.sections["lengths"] == {"documents": ["d0", "d1"] * 2, "spans": {"gold": 6, "predicted": 8}}
    assert both.add(one).sections["lengths"]["spans"] == {"gold": 9, "predicted": 12}
    assert one.sections["lengths"]["spans"] == {"gold": 3, "predicted": 4}
    with pytest.raises(UsageError, match="sections of other observers"):
        one.add(score(*paths, metrics="exact"))


def test_observer_sees_what_the_transforms_left_and_the_filter_let_through(paths: tuple[Path, Path]) -> None:
    observer = Lengths()
    report = score(
        *paths, metrics="exact", transforms=[Without("LOC")], observers=[observer], where=["document=d1"]
    ).to_dict()

    assert report["lengths"] == {"documents": ["d1"], "spans": {"gold": 1, "predicted": 1}}
    assert observer.seen == ["d1"]


def test_observer_of_a_break_down_sees_every_document_once(paths: tuple[Path, Path]) -> None:
    report = score(*paths, metrics="exact", observers=[Lengths()], by="document").to_dict()

    assert report["lengths"]["documents"] == ["d0", "d1"]
    assert set(report["by"]["document"]) == {"d0", "d1"}


def test_observer_means_that_one_process_counts(folders: tuple[Path, Path]) -> None:
    remarks: list[str] = []
    report = score(*folders, metrics="exact", observers=[Lengths()], jobs=2, remark=remarks.append).to_dict()

    assert remarks == ["1 process: documents are read one by one"]
    assert report["lengths"]["spans"] == {"gold": 12, "predicted": 16}


def test_observer_gets_further_annotation_sets(tmp_path: Path) -> None:
    annotation = {"type": "A", "start": 0, "end": 1, "id": 1, "features": {}}
    names = ("Key", "Response", "Old", "Older")
    sets = {name: {"name": name, "annotations": [annotation] * (name == "Older")} for name in names}
    document = {"text": "a b", "offset_type": "p", "features": {}, "annotation_sets": sets}
    path = write(tmp_path / "a.bdocjs", json.dumps(document))
    observer = Lengths()
    reading = tuple(Reading(annotation_set=name) for name in names)

    score(path, metrics="exact", observers=[observer], reading=reading)

    assert observer.further == 2
    with pytest.raises(UsageError, match="read from files"):
        score([], [], reading=(Reading(), Reading(), Reading(annotation_set="Old")))


def test_observer_has_a_name_that_nothing_else_has(paths: tuple[Path, Path]) -> None:
    class Metrics(Lengths):
        name = "metrics"

    for observers in ([Metrics()], [Lengths(), Lengths()]):
        with pytest.raises(UsageError, match="an observer cannot have the name"):
            score(*paths, observers=observers)


def test_transform_and_observer_are_shown_as_text_markdown_and_notebook(paths: tuple[Path, Path]) -> None:
    result = score(*paths, metrics="exact", transforms=[Without("LOC")], observers=[Lengths()])

    for shown in (str(result), markdown.render(result.to_dict(), result.tables()), result._repr_html_()):
        assert "Changed before counting: without" in shown
        assert "gold/label" in shown
        assert "lengths" in shown
        assert "spans/predicted" in shown


def test_observer_may_be_alone_with_documents() -> None:
    document = Document("d", {"label": [Span(0, 1, "A")]}, text="a b", unit="character")
    observer = Lengths()

    score([document], [document], observers=[observer])

    assert observer.spans == {"gold": 1, "predicted": 1}
