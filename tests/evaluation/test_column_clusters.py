"""Column files are counted by clusters as their documents are, if a filter or the unit needs spans."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import patch
from warnings import catch_warnings

import pytest
from corpora import write
from readings import LEVELS, Part, parts_of
from routes import Files, Options, by_files
from sizes import documents_alone

from clueval.clusters.rows import ParallelRows
from clueval.evaluation.inputs import FileEnd
from clueval.evaluation.plan import Plan
from clueval.evaluation.run import score
from clueval.files.errors import CluevalError, TagError, TextMismatch, UsageError
from clueval.formats.columns.layout import Sizes
from clueval.reading.read_options import ReadOptions
from clueval.reading.source import Source, source_of
from clueval.spans.filters import ID, Filter

SMALL = Sizes(block=64, sentences=2, rows=3, characters=30, runs=4)
FILTERS: list[Options] = [
    {"where": [where], "metrics": ["levels", "exact", "confusion"], "merge": merge}
    for where in ("risk=high", "entity=PER")
    for merge in (False, True)
]
CHARACTERS: list[Options] = [
    {"unit": "character", "metrics": metrics, "merge": merge}
    for metrics in (["levels", "exact", "muc"], ["partial", "fair", "gate", "confusion"])
    for merge in (False, True)
]


def test_merged_labels_of_equal_sentences_depend_on_the_characters_of_tokens(tmp_path: Path) -> None:
    text = "a\tB-A\tB-Z\nbbbb\tB-B\tI-Z\n\naaaa\tB-A\tB-Z\nb\tB-B\tI-Z\n"
    paths = write(tmp_path / "g.conll", text), write(tmp_path / "p.conll", text)
    options: Options = {"layers": {"x": 2, "y": 3}, "merge": True, "metrics": "exact"}

    found = score(*paths, unit="character", **options).metrics["exact"]["merged"]["per_label"]

    assert {label: of["tp_gold"] for label, of in found.items()} == {"A|Z": 1, "B|Z": 1}
    with documents_alone():
        assert found == score(*paths, unit="character", **options).metrics["exact"]["merged"]["per_label"]


@pytest.mark.parametrize("text", ["", "-DOCSTART-\n", "-DOCSTART-\n\n-DOCSTART-\n\na\tO\n\n-DOCSTART-\n"])
def test_clusters_of_files_without_spans(tmp_path: Path, text: str) -> None:
    files = Files(tmp_path / "gold", tmp_path / "predicted", {"input": "conll", "layers": {"label": 2}})
    for path in (files.gold, files.predicted):
        path.write_text(text, encoding="utf-8")

    def report() -> dict[str, Any]:
        with catch_warnings(action="ignore"):
            return by_files(files, {"unit": "character", "metrics": "exact"}).to_dict()

    found = report()
    with documents_alone():
        assert found == report()


@pytest.mark.parametrize("options", [{"unit": "character"}, {"where": ["label=PER"]}])
def test_clusters_are_counted_without_documents(tmp_path: Path, options: Options) -> None:
    for name, tag in (("gold", "B-PER"), ("predicted", "I-PER")):
        (tmp_path / name).write_text(f"Anna\t{tag}\nist\tO\n\nda\tO\n", encoding="utf-8")

    with patch("clueval.reading.source.Source.documents", side_effect=AssertionError):
        result = score(tmp_path / "gold", tmp_path / "predicted", input="conll", metrics="exact", **options)

    assert result.metrics["exact"]["label"]["micro"]["tp_gold"] == 1
    assert result.tokens == (11 if "unit" in options else 3)


class Sees:
    """An observer that notes the tokens of both sides in each passage."""

    name = "sees"

    def __init__(self, reads: bool = True) -> None:
        self.reads = reads
        self.seen: list[tuple[int, int]] = []

    def reads_rows(self, gold: Source, predicted: Source) -> bool:
        assert gold is not predicted
        assert {type(gold), type(predicted)} == {Source}
        return self.reads

    def see_rows(self, rows: ParallelRows) -> None:
        for gold, predicted in (part.passages for part in rows.parts):
            self.seen.append((gold.tokens, predicted.tokens))

    def see(self, group: object) -> None:
        raise AssertionError("documents are not read")

    def section(self) -> dict[str, Any]:
        return {}


def reading_of(*paths: Path, plan: Plan = LEVELS, **options: Any) -> tuple[list[Part], FileEnd]:
    gold, predicted = (source_of(path, ReadOptions(**options)) for path in paths)
    parts, end = parts_of(gold, predicted, plan)
    assert end is not None
    return parts, end


DOCUMENTS = "".join(f"-DOCSTART-\n\n{'w B-X' + chr(10)}{'w O' + chr(10)}\n" for _ in range(5))


class TestPassages:
    def test_observers_see_each_passage(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.conll", DOCUMENTS)
        sees = Sees()

        reading_of(path, path, plan=LEVELS._replace(observers=(sees,)))

        assert sees.seen == [(2, 2)] * 5

    @pytest.mark.parametrize("last", ["w O\n", "w  O\n"])
    def test_observers_see_each_passage_once_in_a_score(self, tmp_path: Path, last: str) -> None:
        gold, predicted = (write(tmp_path / name, DOCUMENTS + last) for name in ("a.conll", "b.conll"))
        sees = Sees()

        score(gold, predicted, observers=[sees])

        assert sees.seen == [(2, 2)] * 4 + [(3, 3)]

    def test_reading_of_documents_kept_apart_have_their_id(self, tmp_path: Path) -> None:
        text = '<text id="a" court="x">\n<s>\nw\tO\n</s>\n</text>\n<text>\n<s>\nw\tB-X\nw\tO\n</s>\n</text>\n'
        path = write(tmp_path / "a.vrt", text)
        plan = LEVELS._replace(by=("court",))

        found = [
            (one.documents, one.tokens, one.document, one.metadata)
            for one in reading_of(path, path, plan=plan)[0]
        ]

        assert found == [(1, 1, "a", {"id": "a", "court": "x"}), (1, 2, "2", {})]

    def test_token_ids_may_occur_again_in_the_next_document_of_the_same_batch(self, tmp_path: Path) -> None:
        text = "".join(f"-DOCSTART-\n\n1 w B-X\n2 w O\n\n{n} w O\n\n" for n in (3, 3, 3))
        path = write(tmp_path / "a.conll", text)
        options: dict[str, Any] = {"token_id": 1, "layers": {"x": 3}}

        found, _ = reading_of(path, path, sizes=Sizes(sentences=1), **options)

        assert sum(each.documents for each in found) == 3
        assert sum(each.tokens for each in found) == 9
        write(path, text.replace("3 w O", "1 w O"))
        with pytest.raises(CluevalError, match="token id '1' is already used in line 3"):
            reading_of(path, path, sizes=Sizes(sentences=1), **options)

    def test_file_that_ends_early_is_named(self, tmp_path: Path) -> None:
        long, short = (write(tmp_path / f"{n}.conll", DOCUMENTS[n:]) for n in (0, 2 * len(DOCUMENTS) // 5))

        with pytest.raises(TextMismatch, match=rf"{short.name}: the file ends, but .*{long.name}:18 .*'4'"):
            score(short, long)
        with pytest.raises(TextMismatch, match=rf"{short.name}: the file ends, but .*{long.name}:18 .*'4'"):
            score(long, short)


def test_plan_and_formats_decide_whether_documents_are_needed(tmp_path: Path) -> None:
    conll, vrt, spans = (
        Source(write(tmp_path / "a.conll", "w\tO\n"), form, ReadOptions())
        for form in ("conll", "vrt", "fair-spans")
    )
    plans = [LEVELS, LEVELS._replace(observers=(Sees(),)), LEVELS._replace(observers=(Sees(reads=False),))]

    assert [parts_of(conll, vrt, plan)[1] is not None for plan in plans] == [True, True, False]
    assert parts_of(conll, spans)[1] is parts_of(spans, conll)[1] is None


@pytest.mark.parametrize(("layer", "is_error"), [("x", True), (ID, False)])
def test_part_of_a_file_may_be_filtered_by_a_layer_of_any_name(
    tmp_path: Path, layer: str, is_error: bool
) -> None:
    path = write(tmp_path / "a.conll", "-DOCSTART-\n\nw B-X\n\n" * 3)
    plan = LEVELS._replace(where=Filter(((ID, frozenset({"X"})),)))
    given: dict[str, Any] = {"plan": plan, "layers": {layer: 2}, "part": (19, 99)}

    if is_error:
        with pytest.raises(CluevalError, match="known by its number"):
            reading_of(path, path, **given)
    else:
        assert sum(each.documents for each in reading_of(path, path, **given)[0]) == 2


def test_end_of_a_reading_has_the_schemes_columns_and_repaired_tags_of_both_sides(tmp_path: Path) -> None:
    gold = write(tmp_path / "0.conll", "a\tB-X\tO\na\tI-X\tO\na\tO\tO\n\n" * 3)
    predicted = write(tmp_path / "1.conll", "a\tI-X\tS-Y\na\tI-X\tO\na\tO\tO\n\n" * 3)

    for plan in (LEVELS, LEVELS._replace(by=(ID,))):
        parts, end = reading_of(gold, predicted, plan=plan, layers={"x": 2, "y": 3})

        assert sum(each.tokens for each in parts) == 9
        assert [layout is not None and layout.width for layout in end.layouts] == [3, 3]
        assert end.schemes()["gold", "x"] == "BIO"
        assert end.schemes()["predicted", "y"] == "BIOES"
        assert end.schemes()["gold", "y"] is None
        assert Counter({place: spans for place, (_, spans) in end.spans().items()}) == {
            ("gold", "x"): 3, ("gold", "y"): 0, ("predicted", "x"): 3, ("predicted", "y"): 3
        }  # fmt: skip
        assert {place: column for place, (column, _) in end.spans().items()} == {
            ("gold", "x"): 2, ("gold", "y"): 3, ("predicted", "x"): 2, ("predicted", "y"): 3
        }  # fmt: skip
        assert end.repaired() == {"gold": 0, "predicted": 0}


def test_errors_of_files_come_before_a_filter_that_a_metric_refuses(tmp_path: Path) -> None:
    (tmp_path / "gold.conll").write_text("a\tS-PER\nb\tO\n", encoding="utf-8")
    (tmp_path / "predicted.conll").write_text("a\tE-PER\nb\tO\n", encoding="utf-8")
    options: dict[str, Any] = {"where": "label=PER", "scheme": "BIOES", "invalid": "error"}

    with pytest.raises(TagError, match="'E-PER'"):
        score(tmp_path / "gold.conll", tmp_path / "predicted.conll", metrics="partial", **options)
    with pytest.raises(UsageError, match="partial"):
        score(tmp_path / "gold.conll", tmp_path / "gold.conll", metrics="partial", **options)
