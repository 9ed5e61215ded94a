"""Which files are compared how, and what a reading of two files has at its end."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import readings
from corpora import write
from readings import LEVELS
from sizes import passages_alone

from clueval.evaluation.engine import Evaluation
from clueval.evaluation.file_pairs import count_without_documents
from clueval.evaluation.lockstep import FileReading, can_use_lockstep
from clueval.evaluation.plan import Plan
from clueval.evaluation.run import score
from clueval.exceptions import CluevalError, FormatError, TextMismatch
from clueval.formats.columns.named import NamedColumns
from clueval.formats.columns.passages import Passage
from clueval.formats.columns.sizes import Sizes
from clueval.metrics import metric_named
from clueval.reading.read_options import ReadOptions
from clueval.reading.source import Source, source_of
from clueval.spans.compared import Compared
from clueval.spans.filters import ID, Filter

FAIR = LEVELS._replace(metrics=(metric_named("fair"),))
LEAST = Sizes().least_limit


class Sees:
    """An observer that notes the tokens of each passage."""

    name = "sees"

    def __init__(self, reads: bool = True) -> None:
        self.reads = reads
        self.seen: list[tuple[int, int]] = []

    def reads_passages(self, gold: Source, predicted: Source) -> bool:
        assert gold is not predicted
        assert {type(gold), type(predicted)} == {Source}
        return self.reads

    def see_passages(self, sources: tuple[Source, Source], passages: tuple[Passage, Passage]) -> None:
        assert sources[0] is not sources[1]
        self.seen.append((passages[0].tokens, passages[1].tokens))

    def see(self, group: object) -> None:
        raise AssertionError("documents are not read")

    def section(self) -> dict[str, Any]:
        return {}


def reading_of(*paths: Path, plan: Plan = LEVELS, **options: Any) -> FileReading:
    gold, predicted = (source_of(path, ReadOptions(**options)) for path in paths)
    found = readings.reading_of(gold, predicted, plan)
    assert found is not None
    return found


def passages_of(*paths: Path, plan: Plan = LEVELS, **options: Any) -> FileReading:
    with passages_alone():
        return reading_of(*paths, plan=plan, **options)


def route(gold: Source, predicted: Source, plan: Plan = LEVELS) -> str:
    if readings.reading_of(gold, predicted, plan) is None:
        return "documents"
    return "lockstep" if can_use_lockstep(gold, predicted) else "passages"


class TestRoute:
    @pytest.mark.parametrize(
        ("own", "other", "expected"),
        [
            ({}, {}, "lockstep"),
            ({"part": (0, 9)}, {"part": (9, 18)}, "lockstep"),
            ({"invalid": "discard", "scheme": "BIO"}, {}, "passages"),
            ({"invalid": "discard", "scheme": "BIO"}, {"invalid": "discard", "scheme": "BIO"}, "lockstep"),
            ({"invalid": "discard", "scheme": "BIO"}, {"invalid": "discard", "scheme": "BIOES"}, "passages"),
            ({"invalid": "discard"}, {"invalid": "discard"}, "passages"),
            ({"sentence_tag": "p"}, {"sentence_tag": "p"}, "lockstep"),
            ({"sentence_tag": "p"}, {}, "passages"),
            ({"document_column": 1}, {"document_column": 1}, "passages"),
            ({"max_line": LEAST}, {"max_line": LEAST}, "lockstep"),
            ({"max_line": LEAST - 1}, {"max_line": LEAST - 1}, "passages"),
            ({"max_sentence": LEAST}, {"max_sentence": LEAST}, "lockstep"),
            ({"max_sentence": LEAST - 1}, {"max_sentence": LEAST - 1}, "passages"),
        ],
    )
    def test_column_files_of_one_format_that_are_read_alike_are_compared_in_lockstep(
        self, tmp_path: Path, own: dict[str, Any], other: dict[str, Any], expected: str
    ) -> None:
        path = write(tmp_path / "a.vrt", "<text>\n<p>\n<s>\nw\tO\n</s>\n</p>\n</text>\n")

        assert route(*(source_of(path, ReadOptions(**each)) for each in (own, other))) == expected

    def test_formats_and_names_of_columns_decide_about_the_route(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.conll", "w\tO\n")
        names = NamedColumns("x", ("TOKEN", "NE"), "NE", 1)
        conll, vrt, named, spans = (
            Source(path, form, ReadOptions(named=given))
            for form, given in (("conll", None), ("vrt", None), ("conll", names), ("fair-spans", None))
        )

        assert route(conll, replace(conll)) == "lockstep"
        assert route(conll, vrt) == route(vrt, conll) == route(named, named) == "passages"
        assert route(conll, spans) == route(spans, conll) == route(spans, spans) == "documents"

    def test_plan_decides_about_the_route(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.conll", "w\tO\n")
        both = source_of(path, ReadOptions()), source_of(path, ReadOptions())
        no_documents = LEVELS._replace(observers=(Sees(reads=False),))

        assert route(*both, LEVELS._replace(observers=(Sees(),))) == "lockstep"
        assert route(*both, no_documents) == "documents"
        assert route(*both, LEVELS._replace(metrics=(metric_named("masking"),))) == "documents"


SPANS = "A\t1\t1\t\nB\t2\t2\t\n\nA\t1\t1\t\n\n", "A\t1\t1\t\nC\t2\t2\t\nD\t4\t4\t\n\nA\t1\t1\t\n\n"


def count_spans(*paths: Path, **options: Any) -> None:
    """Count files in FairEval's formats without documents."""
    gold, predicted = (source_of(path, ReadOptions(input="fair-spans", **options)) for path in paths)
    counted, _ = count_without_documents(Evaluation(FAIR, []), gold, predicted)
    assert counted


class TestFairSpans:
    def paths(self, folder: Path, texts: tuple[str, str] = SPANS) -> list[Path]:
        return [write(folder / f"{n}.tsv", text) for n, text in enumerate(texts)]

    def test_limits_of_span_files_are_those_of_the_options(self, tmp_path: Path) -> None:
        gold, predicted = self.paths(tmp_path)

        count_spans(gold, predicted, max_sentence=3, max_line=9)
        with pytest.raises(FormatError, match=r"^.*1\.tsv:1: the sentence .* more tokens than 2"):
            count_spans(gold, predicted, max_sentence=2)
        with pytest.raises(FormatError, match=r"^.*0\.tsv:1: .*a line of more than 5 bytes"):
            count_spans(gold, predicted, max_line=5, sizes=Sizes(block=4))

    def test_progress_is_that_of_both_span_files(self, tmp_path: Path) -> None:
        paths = self.paths(tmp_path)
        seen = [0, 0]

        def count(side: int) -> Any:
            return lambda done: seen.__setitem__(side, seen[side] + done)

        gold, predicted = (
            replace(source_of(path, ReadOptions(input="fair-spans")), progress=count(side))
            for side, path in enumerate(paths)
        )
        count_without_documents(Evaluation(FAIR, []), gold, predicted)

        assert seen == [path.stat().st_size for path in paths]


DOCUMENTS = "".join(f"-DOCSTART-\n\n{'w B-X' + chr(10)}{'w O' + chr(10)}\n" for _ in range(5))


class TestPassages:
    @pytest.mark.parametrize("read", [reading_of, passages_of])
    def test_observers_see_passages_when_all_has_been_counted(self, tmp_path: Path, read: Any) -> None:
        path = write(tmp_path / "a.conll", DOCUMENTS)
        sees = Sees()
        reading = read(path, path, plan=LEVELS._replace(observers=(sees,)))

        assert sum(each.tokens for each in reading) == 10
        assert sees.seen == []
        reading.show()
        assert sees.seen == [(2, 2)] * 5

    @pytest.mark.parametrize("last", ["w O\n", "w  O\n"])
    def test_observers_see_each_passage_once_in_a_score(self, tmp_path: Path, last: str) -> None:
        gold, predicted = (write(tmp_path / name, DOCUMENTS + last) for name in ("a.conll", "b.conll"))
        sees = Sees()

        score(gold, predicted, observers=[sees])

        assert sees.seen == [(2, 2)] * 4 + [(3, 3)]

    def test_passages_of_documents_kept_apart_have_their_id(self, tmp_path: Path) -> None:
        text = '<text id="a" court="x">\n<s>\nw\tO\n</s>\n</text>\n<text>\n<s>\nw\tB-X\nw\tO\n</s>\n</text>\n'
        path = write(tmp_path / "a.vrt", text)
        plan = LEVELS._replace(by=("court",))

        found = [
            (one.documents, one.tokens, one.document, one.metadata)
            for one in passages_of(path, path, plan=plan)
        ]

        assert found == [(1, 1, "a", {"id": "a", "court": "x"}), (1, 2, "2", {})]

    def test_token_ids_may_occur_again_in_the_next_document_of_the_same_batch(self, tmp_path: Path) -> None:
        text = "".join(f"-DOCSTART-\n\n1 w B-X\n2 w O\n\n{n} w O\n\n" for n in (3, 3, 3))
        path = write(tmp_path / "a.conll", text)
        options: dict[str, Any] = {"token_id": 1, "layers": {"x": 3}}

        found = list(passages_of(path, path, sizes=Sizes(sentences=1), **options))

        assert sum(each.documents for each in found) == 3
        assert sum(each.tokens for each in found) == 9
        write(path, text.replace("3 w O", "1 w O"))
        with pytest.raises(CluevalError, match="a token id seems to occur again"):
            list(passages_of(path, path, sizes=Sizes(sentences=1), **options))

    def test_file_that_ends_early_is_named(self, tmp_path: Path) -> None:
        long, short = (write(tmp_path / f"{n}.conll", DOCUMENTS[n:]) for n in (0, 2 * len(DOCUMENTS) // 5))

        with pytest.raises(TextMismatch, match=rf"{short.name}: the file ends, but .*{long.name}:18 .*'4'"):
            score(short, long)
        with pytest.raises(TextMismatch, match=rf"{short.name}: the file ends, but .*{long.name}:18 .*'4'"):
            score(long, short)


def part_of(path: Path, start: int, by: tuple[str, ...], lockstep: bool = True) -> list[Compared]:
    read = reading_of if lockstep else passages_of
    return list(read(path, path, plan=LEVELS._replace(by=by), part=(start, path.stat().st_size)))


@pytest.mark.parametrize("lockstep", [True, False])
def test_part_of_a_file_has_no_documents_that_are_known_by_their_number(
    tmp_path: Path, lockstep: bool
) -> None:
    document = '<text id="a">\n<s>\nw\tO\n</s>\n</text>\n'
    without = document.replace(' id="a"', "")
    path, later, first = (
        write(tmp_path / f"{n}.vrt", text)
        for n, text in enumerate((document * 3, document * 2 + without, document + without * 2))
    )

    for each in (path, later, first):
        assert sum(one.documents for one in part_of(each, 0, (ID,), lockstep)) == 3
        assert sum(one.documents for one in part_of(each, len(document), ("court",), lockstep)) == 2
    assert {one.document for one in part_of(path, len(document), (ID,), lockstep)} == {"a"}
    for each in (later, first):
        with pytest.raises(CluevalError, match="a document without an id is known by its number"):
            part_of(each, len(document), (ID,), lockstep)


@pytest.mark.parametrize(("layer", "is_error"), [("x", True), (ID, False)])
def test_part_of_a_file_may_be_filtered_by_a_layer_of_any_name(
    tmp_path: Path, layer: str, is_error: bool
) -> None:
    path = write(tmp_path / "a.conll", "-DOCSTART-\n\nw B-X\n\n" * 3)
    plan = LEVELS._replace(where=Filter(((ID, frozenset({"X"})),)))
    reading = reading_of(path, path, plan=plan, layers={layer: 2}, part=(19, 99))

    if is_error:
        with pytest.raises(CluevalError, match="known by its number"):
            list(reading)
    else:
        assert sum(each.documents for each in reading) == 2


def test_end_of_a_reading_has_the_schemes_columns_and_repaired_tags_of_both_sides(tmp_path: Path) -> None:
    gold = write(tmp_path / "0.conll", "a\tB-X\tO\na\tI-X\tO\na\tO\tO\n\n" * 3)
    predicted = write(tmp_path / "1.conll", "a\tI-X\tS-Y\na\tI-X\tO\na\tO\tO\n\n" * 3)

    for read, plan in ((reading_of, LEVELS), (reading_of, LEVELS._replace(by=(ID,))), (passages_of, LEVELS)):
        reading = read(gold, predicted, plan=plan, layers={"x": 2, "y": 3})
        tokens = sum(each.tokens for each in reading)

        assert tokens == 9
        assert reading.layers == ["x", "y"]
        assert [layout is not None and layout.width for layout in reading.end.layouts] == [3, 3]
        assert reading.end.schemes()["gold", "x"] == "BIO"
        assert reading.end.schemes()["predicted", "y"] == "BIOES"
        assert reading.end.schemes()["gold", "y"] is None
        assert Counter({place: spans for place, (_, spans) in reading.end.spans().items()}) == {
            ("gold", "x"): 3, ("gold", "y"): 0, ("predicted", "x"): 3, ("predicted", "y"): 3
        }  # fmt: skip
        assert {place: column for place, (column, _) in reading.end.spans().items()} == {
            ("gold", "x"): 2, ("gold", "y"): 3, ("predicted", "x"): 2, ("predicted", "y"): 3
        }  # fmt: skip
        assert set(reading.end.repaired()) == {"gold", "predicted"}
        assert reading.end.repaired()["gold"] == 0
