from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from corpora import write
from readings import LEVELS
from routes import Watching

from clueval.evaluation.engine import Evaluation
from clueval.evaluation.fair_spans import Run, run_blocks
from clueval.evaluation.file_pairs import count_without_documents
from clueval.evaluation.file_reading import FileEnd
from clueval.evaluation.plan import Plan
from clueval.exceptions import FormatError, TextMismatch
from clueval.formats.columns.sizes import Sizes
from clueval.metrics import metric_named
from clueval.metrics.fair import Fair
from clueval.reading.read_options import ReadOptions
from clueval.reading.source import source_of

FAIR = LEVELS._replace(metrics=(metric_named("fair"),))


def run(target: str, system: str, **options: int | bool) -> Run:
    return run_blocks(
        [(1, target)], [(1, system)], Fair(), target_file="gold.tsv", system_file="tagger.tsv", **options
    )


def test_spans_of_equal_and_of_different_sentences_are_counted_on_their_side() -> None:
    target = "A\t1\t1\t\n\nA\t1\t1\t\nB\t2\t2\t\n\nA\t1\t1\t\n\nC\t1\t1\t\n"
    system = "A\t1\t1\t\n\nA\t1\t1\t\n\nD\t1\t1\t\nB\t2\t2\t\nA\t4\t4\t\n\nC\t1\t1\t\n"

    found = run(target, system)

    assert (found.sentences, found.spans, found.labels) == (4, (5, 6), ("A", "B", "C"))
    assert found.repaired == (0, 0)


def test_sentence_of_spans_is_compared_with_one_of_tokens() -> None:
    spans, tokens = "NP\t1\t2\t1, 2\n", "Das ART B-NP\nHaus NN I-NP\n"

    for target, system in ((spans, tokens), (tokens, spans), (tokens, tokens)):
        found = run(target, system)
        assert (found.tally["fair", "TP", "NP", "NP"], found.spans) == (1, (1, 1))


def test_bad_line_in_a_sentence_of_spans_has_its_place() -> None:
    for target, system, place in (
        ("A\t1\t1\t\n\nA\t0\t1\t\n", "A\t1\t1\t\n\na NN O\n", r"gold\.tsv:3"),
        ("A\t1\t1\t\n\na NN O\n", "A\t1\t1\t\n\nA\t0\t1\t\n", r"tagger\.tsv:3"),
        ("A\t1\t1\t\n\nA\t1\t1\t\n", "A\t1\t1\t\n\nA\t0\t1\t\n", r"tagger\.tsv:3"),
        ("A\t1\t1\t\n\na NN\n", "A\t1\t1\t\n\na NN O\n", r"gold\.tsv:3"),
    ):
        with pytest.raises(FormatError, match=place):
            run(target, system)


def test_files_of_other_numbers_of_sentences_are_refused_with_advice() -> None:
    with pytest.raises(
        TextMismatch, match=r"gold\.tsv has 1 sentence and tagger\.tsv has 2 .*EMPTY 999 999 999"
    ):
        run("A\t1\t1\t\n", "A\t1\t1\t\n\nA\t1\t1\t\n")


@pytest.mark.parametrize("long", [0, 1])
def test_sentence_may_have_a_number_of_lines_and_no_more(long: int) -> None:
    texts = ["A\t1\t1\t\n\nA\t1\t1\t\n"] * 2
    texts[long] = "A\t1\t1\t\n\n" + "A\t1\t1\t\n" * 3

    assert run(texts[0], texts[1], max_sentence=3).sentences == 2
    with pytest.raises(
        FormatError, match=rf"{('gold', 'tagger')[long]}\.tsv:3: the sentence .* more tokens than 2"
    ):
        run(texts[0], texts[1], max_sentence=2)


def test_runs_are_added_side_by_side() -> None:
    one = Run(Counter(a=1), ("A", "B"), 1, (2, 3), (4, 5))
    other = Run(Counter(a=10, b=1), ("C", "A"), 10, (20, 30), (40, 50))

    assert one + other == Run(Counter(a=11, b=1), ("A", "B", "C"), 11, (22, 33), (44, 55))
    assert one.tally == {"a": 1}


SPANS = "A\t1\t1\t\nB\t2\t2\t\n\nA\t1\t1\t\n\n", "A\t1\t1\t\nC\t2\t2\t\nD\t4\t4\t\n\nA\t1\t1\t\n\n"


def counted_spans(*paths: Path, plan: Plan = FAIR, **options: Any) -> tuple[Evaluation, FileEnd | None]:
    """What is counted of files in FairEval's formats without documents."""
    evaluation = Evaluation(plan, [])
    gold, predicted = (source_of(path, ReadOptions(input="fair-spans", **options)) for path in paths)
    counted, end = count_without_documents(evaluation, gold, predicted)
    assert counted == (end is not None)
    return evaluation, end


class TestFairSpans:
    def paths(self, folder: Path, texts: tuple[str, str] = SPANS) -> list[Path]:
        return [write(folder / f"{n}.tsv", text) for n, text in enumerate(texts)]

    def test_spans_of_fair_are_counted_once_with_their_labels(self, tmp_path: Path) -> None:
        found, end = counted_spans(*self.paths(tmp_path))

        assert (found.total.documents, found.total.tokens, found.text) == (2, 0, "absent")
        assert list(found.total.tallies) == [("fair", "label")]
        assert +found.total.tallies["fair", "label"]
        assert found.layers == ["label"]
        assert end is not None
        assert end.layouts == (None, None)
        assert end.schemes() == {}
        assert end.repaired() == {"gold": 0, "predicted": 0}
        assert end.spans() == {("gold", "label"): (None, 3), ("predicted", "label"): (None, 4)}

    @pytest.mark.parametrize(
        ("plan", "options"),
        [
            (FAIR._replace(metrics=(*FAIR.metrics, *LEVELS.metrics)), {}),
            (LEVELS, {}),
            (FAIR._replace(merge=True), {}),
            (FAIR._replace(by=("document",)), {}),
            (FAIR._replace(unit="token"), {}),
            (FAIR._replace(observers=(Watching(),)), {}),
            (FAIR, {"layers": {"x": 1}}),
        ],
    )
    def test_spans_of_other_plans_are_read_as_documents(
        self, tmp_path: Path, plan: Plan, options: dict[str, Any]
    ) -> None:
        _, end = counted_spans(*self.paths(tmp_path), plan=plan, **options)

        assert end is None

    def test_punctuation_and_repaired_tags_are_those_of_their_file(self, tmp_path: Path) -> None:
        texts = "Haus NN B-NP\n. $. I-NP\n", "Haus NN I-NP\n. $. O\n"
        paths = self.paths(tmp_path, texts)
        same, other = "TP", "BES"

        for ignored, kind in ((None, same), (True, same), (False, other)):
            found, end = counted_spans(*paths, ignore_punct=ignored)
            assert found.total.tallies["fair", "label"]["fair", kind, "NP", "NP"] == 1
            assert end is not None
            assert end.repaired() == {"gold": 0, "predicted": 1}

    def test_limits_and_blocks_of_span_files_are_those_of_the_options(self, tmp_path: Path) -> None:
        gold, predicted = self.paths(tmp_path)

        counted_spans(gold, predicted, max_sentence=3, max_line=9)
        with pytest.raises(FormatError, match=r"^.*1\.tsv:1: the sentence .* more tokens than 2"):
            counted_spans(gold, predicted, max_sentence=2)
        with pytest.raises(FormatError, match=r"^.*0\.tsv:1: .*a line of more than 5 bytes"):
            counted_spans(gold, predicted, max_line=5, sizes=Sizes(block=4))
        with pytest.raises(TextMismatch, match=r"0\.tsv has 2 sentences and .*empty\.tsv has 0 sentences"):
            counted_spans(gold, write(tmp_path / "empty.tsv", ""))

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
