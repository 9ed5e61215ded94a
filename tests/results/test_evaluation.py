from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from corpora import Corpus, tagged_corpora, vrt, write
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import accuracy_score
from seqeval.metrics.sequence_labeling import precision_recall_fscore_support

import clueval
from clueval import Document, Result, Span, errors, read, score
from clueval.core.merging import with_merged
from clueval.files.errors import CluevalError, TextMismatch, UsageError
from clueval.formats.options import Reading
from clueval.metrics import METRICS

SAMPLES = Path(__file__).parents[2] / "clueval" / "samples"
LAYERS = {"entity": 2, "risk": 3}


def sample(language: str, side: str) -> str:
    return str(SAMPLES / language / f"{side}.vrt")


def scored(folder: Path, corpora: tuple[Corpus, Corpus], form: Any = vrt, **options: Any) -> Any:
    paths = [write(folder / f"{n}.{form.__name__}", form(side)) for n, side in enumerate(corpora)]
    return score(*paths, **options)


class TestTheSamples:
    def test_german_entities_are_classified_as_counted_by_hand(self) -> None:
        report = score(sample("german", "gold"), sample("german", "predicted"), layers=LAYERS, token_id=4)

        classes = report.to_dict()["metrics"]["levels"]["entity"]["classes"]
        assert list(classes["gold"].values()) == [188, 10, 4, 3, 17]
        assert list(classes["predicted"].values()) == [188, 21, 2, 2, 16]
        assert report.repaired_tags == {"gold": 0, "predicted": 1}


@given(
    corpora=tagged_corpora(tags=("O", "B-A", "I-A", "E-A", "S-A", "I-B", "E-B")),
    treatments=st.tuples(*[st.sampled_from(["conlleval", "discard"])] * 2),
)
def test_files_equal_documents_if_the_sides_treat_tags_in_their_own_ways(
    tmp_path: Path, corpora: tuple[Corpus, Corpus], treatments: tuple[str, str]
) -> None:
    paths = [write(tmp_path / f"{n}.vrt", vrt(side)) for n, side in enumerate(corpora)]
    gold, predicted = (Reading(scheme="BIOES", invalid=how) for how in treatments)
    metrics = ["levels", "exact"]

    raw = score(*paths, metrics=metrics, layers={"x": 2}, reading=(gold, predicted))
    documents = [
        read(path, {"x": 2}, scheme="BIOES", invalid=how) for path, how in zip(paths, treatments, strict=True)
    ]

    if any(map(any, corpora[0])):
        assert raw.to_dict()["metrics"] == score(*documents, metrics=metrics).to_dict()["metrics"]
        layers = (raw.inputs[side]["layers"]["x"] for side in ("gold", "predicted"))
        totals = [raw.metrics["exact"]["x"]["micro"][side] for side in ("gold", "predicted")]
        assert [layer["spans"] for layer in layers] == totals


@given(
    corpora=tagged_corpora(tags=("O", "B", "I", "S-PER", "E-PER", "B-PER", "I-PER", "I-court-name", "E-LOC"))
)
def test_level_one_labelled_is_seqeval(tmp_path: Path, corpora: tuple[Corpus, Corpus]) -> None:
    gold, predicted = ([[t for _, t in s] for d in side for s in d] for side in corpora)
    if not gold:
        return
    report = scored(tmp_path, corpora, layers={"x": 2}, metrics=["levels", "exact"]).to_dict()["metrics"]
    first = report["levels"]["x"]["labelled"]["x"]["1"]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for average in ("micro", "macro", "weighted"):
            if first["micro"]["gold"] + first["micro"]["predicted"] == 0:
                continue  # seqeval divides by nothing here
            expected = precision_recall_fscore_support(gold, predicted, average=average, zero_division=0)[:3]
            entries = [report["exact"]["x"][average]] + ([first[average]] if average in first else [])
            for entry in entries:
                assert [entry["precision"], entry["recall"], entry["f1"]] == pytest.approx(list(expected))
        assert report["exact"]["x"]["token_accuracy"] == pytest.approx(accuracy_score(gold, predicted))


def test_spans_do_not_touch_across_a_document_border(tmp_path: Path) -> None:
    gold = [[[("a", "B-X"), ("b", "I-X")]], [[("c", "O")]]]
    predicted = [[[("a", "B-X"), ("b", "O")]], [[("c", "B-X")]]]

    report = scored(tmp_path, (gold, predicted), layers={"x": 2}).to_dict()

    assert report["metrics"]["levels"]["x"]["classes"]["gold"]["missed"] == 1


class TestFiltersAndBreakDowns:
    GOLD = (
        "<text id='a' domain='civil'>\nAnna\tB-PER\tB-high\nin\tO\tO\nRom\tB-LOC\tB-low\n</text>\n"
        "<text id='b' domain='penal'>\nBert\tB-PER\tB-high\n</text>\n"
    )
    PREDICTED = GOLD.replace("Rom\tB-LOC\tB-low", "Rom\tB-LOC\tB-high").replace(
        "Bert\tB-PER\tB-high", "Bert\tO\tO"
    )

    def scored(self, folder: Path, **options: Any) -> dict[str, Any]:
        paths = [write(folder / f"{n}.vrt", text) for n, text in enumerate((self.GOLD, self.PREDICTED))]
        return score(*paths, layers=LAYERS, **options).to_dict()

    def test_filter_on_a_layer_selects_gold_for_recall_and_predicted_for_precision(
        self, tmp_path: Path
    ) -> None:
        report = self.scored(tmp_path, where=["risk=high"])["metrics"]["levels"]["entity"]["unlabelled"]["1"]

        # gold spans of high risk: Anna (found), Bert (missed); predicted ones: Anna and Rom, both right
        assert (report["gold"], report["tp_gold"], report["recall"]) == (2, 1, 0.5)
        assert (report["predicted"], report["tp_predicted"], report["precision"]) == (2, 2, 1.0)

    def test_filter_on_metadata_selects_documents_and_break_downs_add_up(self, tmp_path: Path) -> None:
        civil = self.scored(tmp_path, where={"domain": "civil"})
        by = self.scored(tmp_path, by="domain")

        assert civil["documents"] == 1
        assert by["by"]["domain"]["civil"]["metrics"] == civil["metrics"]
        assert [group["tokens"] for group in by["by"]["domain"].values()] == [3, 1]
        assert list(self.scored(tmp_path, by="document")["by"]["document"]) == ["a", "b"]

    def test_keys_that_never_occur_are_refused_with_those_that_do(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"'court'.*layers: entity, risk; metadata: document, domain"):
            self.scored(tmp_path, by="court")
        with pytest.raises(UsageError, match="no layer and no document's metadata is called 'rsik'"):
            self.scored(tmp_path, where=["rsik=high"])
        with pytest.raises(UsageError, match=r"no span has risk=hgih \(values found: high, low\)"):
            self.scored(tmp_path, where=["risk=hgih"])
        with pytest.raises(UsageError, match=r"no document has domain=tax \(values found: civil, penal\)"):
            self.scored(tmp_path, where=["domain=tax"])
        with pytest.raises(UsageError, match="'risk' cannot be read"):
            self.scored(tmp_path, where=["risk"])


class TestConsistency:
    TEXT = '<text id="d">\n<s>\nAnna\tB-PER\t1\nlebt\tO\t2\n</s>\n<s>\nhier\tO\t3\n</s>\n</text>\n'

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("lebt", "lebte", r"0\.vrt:4: gold has the token 'lebt' where .*1\.vrt:4 has 'lebte'"),
            ("\t2", "\t9", r"0\.vrt:4: gold has the token id '2' where .*1\.vrt:4 has '9'"),
            ("</s>\n<s>\n", "", r"0\.vrt:7: gold begins a sentence where .*1\.vrt:5 does not"),
            (
                "hier\tO\t3\n",
                "hier\tO\t3\nda\tO\t4\n",
                r"0\.vrt, document 'd': .* document ends in gold at position 3 where .*1\.vrt:8 continues with .* 'da'",
            ),
            ("lebt\tO\t2\n", "", r"0\.vrt:4: gold has the token 'lebt' where .*1\.vrt:6 has 'hier'"),
            ('id="d"', 'id="e"', r"0\.vrt:3: gold has document 'd' where .*1\.vrt:3 has document 'e'"),
        ],
    )
    def test_first_difference_is_one_error_with_both_lines(
        self, tmp_path: Path, old: str, new: str, message: str
    ) -> None:
        paths = [write(tmp_path / "0.vrt", self.TEXT), write(tmp_path / "1.vrt", self.TEXT.replace(old, new))]

        with pytest.raises(TextMismatch, match=message) as raised:
            score(*paths, layers={"entity": 2}, token_id=3)
        assert "\n" not in str(raised.value)
        with pytest.raises(CluevalError):
            score(*(read(path, {"entity": 2}, token_id=3) for path in paths))

    def test_errors_about_different_documents_have_lines_in_every_way_of_reading(
        self, tmp_path: Path
    ) -> None:
        other = self.TEXT.replace('"d"', '"e"')
        paths = [write(tmp_path / "0.vrt", self.TEXT), write(tmp_path / "1.vrt", "\n" + other)]
        longer = write(tmp_path / "2.vrt", self.TEXT + other)
        sides: tuple[dict[str, Any], ...] = (
            {"layers": {"entity": 2}},
            {"layers": {"entity": 2}, "metrics": "gate", "unit": "character"},
        )

        for options in sides:
            with pytest.raises(
                TextMismatch, match=r"0\.vrt:3.*: gold has .*document 'd' where .*1\.vrt:4 has"
            ):
                score(*paths, **options)
            with pytest.raises(
                TextMismatch, match=r"0\.vrt: .* ends, but .*2\.vrt:12 continues with document 'e'"
            ):
                score(paths[0], longer, **options)
        with pytest.raises(
            TextMismatch, match=r"0\.vrt:3: gold has document 'd' where .*1\.vrt:4 has document 'e'"
        ):
            list(errors(*paths, layers={"entity": 2}))
        with pytest.raises(TextMismatch, match=r"ends, but .*2\.vrt:12 continues with document 'e'"):
            list(errors(longer, paths[0], layers={"entity": 2}))

    def test_document_without_a_token_has_no_line(self, tmp_path: Path) -> None:
        gold = write(tmp_path / "0.vrt", '<text id="d">\n</text>\n')
        predicted = write(tmp_path / "1.vrt", '<text id="e">\n</text>\n')

        with pytest.raises(
            TextMismatch, match=r"0\.vrt: gold has document 'd' where .*1\.vrt has document 'e'"
        ):
            score(gold, predicted)

    def test_documents_in_memory_are_compared_too(self) -> None:
        gold = Document("d", {"x": [Span(0, 1, {"x": "A"})]}, tokens=["a", "b"])
        other = Document("d", {"x": []}, tokens=["a", "c"])

        with pytest.raises(
            TextMismatch, match="gold has the token 'b' at position 1 where predicted has 'c'"
        ):
            score([gold], [other])
        with pytest.raises(UsageError, match="predicted has only 0 documents"):
            score([gold], [])

    def test_markup_may_differ_where_the_text_is_the_same(self, tmp_path: Path) -> None:
        gold = write(tmp_path / "g.vrt", "<s>\nR&amp;D\tB-X\nb\tO\n</s>\n")
        predicted = write(
            tmp_path / "p.vrt", "<!-- made by a tagger -->\n<s>\n\nR&#38;D\tB-X\n<g/>\nb\tO\n</s>\n"
        )

        assert score(gold, predicted).metrics["levels"]["label"]["classes"]["gold"]["exact"] == 1


class TestForms:
    GOLD = "Anna B-PER B-PER\nlebt O O\n\nRom B-LOC O\n"

    def test_one_file_has_gold_and_predicted_in_its_last_two_columns(self, tmp_path: Path) -> None:
        result = score(write(tmp_path / "both.conll", self.GOLD), metrics="exact")

        entry = result.metrics["exact"]["label"]["micro"]
        assert (entry["gold"], entry["predicted"], entry["tp_gold"]) == (2, 1, 1)

    def test_gold_and_predicted_may_be_in_different_columns(self, tmp_path: Path) -> None:
        path = write(tmp_path / "both.conll", self.GOLD)

        assert (
            score(path, layers={"x": (3, 2)}).metrics["levels"]["x"]["classes"]["predicted"]["spurious"] == 1
        )
        with pytest.raises(UsageError, match="layer 'x' has one column"):
            score(path, layers={"x": 2})

    def test_folders_are_paired_by_relative_name(self, tmp_path: Path) -> None:
        for side in ("gold", "predicted"):
            (tmp_path / side / "deep").mkdir(parents=True)
            write(tmp_path / side / "a.conll", "a B-X\n")
            write(tmp_path / side / "deep" / "b.conll", "b B-X\n")
        result = score(tmp_path / "gold", tmp_path / "predicted", by="document")

        assert list((result.groups or {})["document"]) == ["a", "deep/b"]
        (tmp_path / "predicted" / "a.conll").unlink()
        with pytest.raises(CluevalError, match=r"predicted: has no file 'a\.conll', which .*gold has"):
            score(tmp_path / "gold", tmp_path / "predicted")

    @pytest.mark.parametrize(
        ("names", "says"),
        [
            ("a.conll.gz b.conll.gz", "has no file 'b.conll.gz', which .*are paired by name; see"),
            (
                "a.conll b.conll b.txt",
                "has no file 'b.conll', .* with its ending, because two of a side differ",
            ),
        ],
    )
    def test_file_without_a_counterpart_is_named_as_it_is(
        self, names: str, says: str, tmp_path: Path
    ) -> None:
        first, *others = names.split()
        for side, side_names in (("gold", [first, *others]), ("predicted", [first])):
            (tmp_path / side).mkdir()
            for name in side_names:
                (tmp_path / side / name).touch()

        with pytest.raises(CluevalError, match=says):
            score(tmp_path / "gold", tmp_path / "predicted")

    def test_vrt_can_be_scored_against_conll(self, tmp_path: Path) -> None:
        gold = write(tmp_path / "g.vrt", "<s>\na\tB-X\nb\tO\n</s>\n<s>\nc\tO\n</s>\n")
        predicted = write(tmp_path / "p.conll", "a NN B-X\nb NN O\n\nc NN O\n")

        assert score(gold, predicted).metrics["levels"]["label"]["classes"]["gold"]["exact"] == 1

    def test_empty_files_and_documents_without_spans_are_counted(self, tmp_path: Path) -> None:
        empty = write(tmp_path / "empty.vrt", "")
        bare = write(tmp_path / "bare.vrt", "<text id='a'>\n</text>\n<text id='b'>\nx\tO\n</text>\n")

        assert (score(empty, empty).documents, score(empty, empty).tokens) == (0, 0)
        assert (score(bare, bare).documents, score(bare, bare).tokens) == (2, 1)


# One layer merged is that layer


GOLD = "Anna\tB-PER\nUlm\tB-LOC\nkam\tO\n"
PREDICTED = "Anna\tB-PER\nUlm\tB-ORG\nkam\tO\n"


@pytest.fixture
def paths(tmp_path: Path) -> tuple[Path, Path]:
    return write(tmp_path / "g.conll", GOLD), write(tmp_path / "p.conll", PREDICTED)


@pytest.mark.parametrize("layers", [None, {"entity": 2}])
def test_one_layer_merged_is_scored_by_its_labels_in_files_documents_and_aligned_texts(
    paths: tuple[Path, Path], layers: dict[str, int] | None
) -> None:
    pytest.importorskip("rapidfuzz")
    name = "label" if layers is None else "entity"
    results = [
        score(*paths, layers=layers, merge=True),
        score(*paths, layers=layers, merge=True, unit="character"),
        score(*(list(read(path, layers)) for path in paths), merge=True),
        score(*paths, layers=layers, merge=True, align=True),
    ]
    for result in results:
        micro = result.metrics["levels"]["merged"]["labelled"][name]["1"]["micro"]
        assert (micro["gold"], micro["predicted"], micro["tp_gold"]) == (2, 2, 1)


def test_one_layer_merged_has_its_label_errors_listed(paths: tuple[Path, Path]) -> None:
    (place,) = errors(*paths, merge=True, labelled="label")

    assert [(each.side, each.text) for each in place.findings] == [("gold", "Ulm"), ("predicted", "Ulm")]


def test_layer_of_a_document_that_is_called_merged_is_a_layer_like_any_other() -> None:
    document = Document("d", {"merged": [Span(0, 2, "PER")]}, tokens=["a", "b"])

    for merge in (False, True):
        result = score([document], [document], merge=merge)
        micro = result.metrics["levels"]["merged"]["labelled"]["merged"]["1"]["micro"]
        assert (micro["gold"], micro["tp_gold"]) == (1, 1)


def test_merged_document_keeps_the_labels_of_its_one_layer() -> None:
    document = Document("d", {"risk": [Span(0, 2, "high")]}, tokens=["a", "b"])

    assert with_merged(document).layers["merged"][0].labels == {"risk": "high"}


# Documents without ids


TEXTS = [("Ada sat", [[0, 3, "PER"]], ["B-PER", "O"]), ("Bo", [], ["O"])]


def rows(*of: dict[str, object]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in of)


ROWS = rows(*({"id": 57 + n, "text": text, "label": spans} for n, (text, spans, _) in enumerate(TEXTS)))
TOKENS = [{"tokens": text.split(), "ner_tags": tags} for text, _, tags in TEXTS]
WITHOUT_IDS = {
    "a.jsonl": rows(*({"text": text, "label": spans} for text, spans, _ in TEXTS)),
    "b.jsonl": rows(*({"text": text, "entities": [*map(tuple, spans)]} for text, spans, _ in TEXTS)),
    "c.jsonl": rows(*TOKENS),
    "d.conll": "-DOCSTART- O\n\nAda B-PER\nsat O\n\n-DOCSTART- O\n\nBo O\n",
    "e.conllu": "1\tAda\t_\t_\t_\t_\t0\t_\t_\tNER=B-PER\n2\tsat\t_\t_\t_\t_\t1\t_\t_\t_\n\n# newdoc\n1\tBo\t"
    + "_\t" * 7
    + "_\n",
}


@pytest.mark.parametrize("name", WITHOUT_IDS)
@pytest.mark.parametrize(
    "gold", [ROWS, rows(*(row | {"id": "x"} for row in TOKENS))], ids=["doccano", "token rows"]
)
def test_documents_without_ids_meet_those_with_ids(name: str, gold: str, tmp_path: Path) -> None:
    paths = write(tmp_path / "gold.jsonl", gold), write(tmp_path / name, WITHOUT_IDS[name])

    for own, other in (paths, paths[::-1]):
        result = score(own, other, metrics="exact")

        assert (result.documents, result.f1) == (2, 1.0)


def test_results_by_document_have_the_ids_of_gold(tmp_path: Path) -> None:
    paths = (
        write(tmp_path / "gold.jsonl", ROWS),
        write(tmp_path / "p.jsonl", WITHOUT_IDS["a.jsonl"]),
    )

    assert list(score(*paths, by="document").to_dict()["by"]["document"]) == ["57", "58"]


def test_files_of_folders_may_have_documents_without_ids(tmp_path: Path) -> None:
    for side, content in (("gold", ROWS), ("predicted", WITHOUT_IDS["a.jsonl"])):
        (tmp_path / side).mkdir()
        write(tmp_path / side / "x.jsonl", content)

    assert list(
        score(tmp_path / "gold", tmp_path / "predicted", by="document").to_dict()["by"]["document"]
    ) == [
        "x:57",
        "x:58",
    ]


def test_rows_in_memory_without_ids_meet_those_with_ids() -> None:
    gold = [{"id": 57 + n, "text": text, "label": spans} for n, (text, spans, _) in enumerate(TEXTS)]
    others: list[dict[str, object]] = [{"text": text, "spans": spans} for text, spans, _ in TEXTS]
    tokens = [{**row, "id": "x"} for row in TOKENS]

    assert score(gold, others, metrics="exact").f1 == score(others, gold, metrics="exact").f1 == 1.0
    assert score(tokens, TOKENS, metrics="exact").f1 == 1.0


def test_ids_that_both_sides_give_must_be_equal(tmp_path: Path) -> None:
    paths = (
        write(tmp_path / "a.jsonl", ROWS),
        write(tmp_path / "b.jsonl", ROWS.replace("57", "59")),
    )

    with pytest.raises(TextMismatch, match=r"gold has document '57' where .* has document '59'"):
        score(*paths)


# Paths


GERMAN = Path(clueval.__file__).parent / "samples" / "german"
SILENT = pytest.mark.filterwarnings("ignore::clueval.CluevalWarning")


def documents(labels: str, layer: str = "label") -> list[Document]:
    """One document; each character is the label of a span of one position, and an underline is no span."""
    spans = [Span(n, n + 1, label) for n, label in enumerate(labels) if label != "_"]
    return [Document("d", {layer: spans}, text="xyz"[: len(labels)], unit="character")]


def result(gold: str = "AAB", predicted: str = "AA_", **options: Any) -> Result:
    return score(documents(gold), documents(predicted), **options)


def paths_of_files(report: Any, before: str = "") -> Iterator[str]:
    for name, value in report.items():
        if isinstance(value, dict):
            yield from paths_of_files(value, f"{before}{name}.")
        else:
            yield f"{before}{name}"


@SILENT
@pytest.mark.few(5)
@pytest.mark.parametrize("metrics", [*METRICS, "exact,muc"])
@pytest.mark.parametrize("options", [{}, {"by": "document"}, {"merge": True}], ids=str)
def test_every_key_of_scores_is_the_path_of_its_number(metrics: str, options: dict[str, Any]) -> None:
    of_all = result(metrics=metrics, **options)

    found = of_all.scores()

    assert found or metrics == "confusion"
    assert {path: of_all[path] for path in found} == found


def test_keys_of_two_layers_name_the_layer() -> None:
    files = [str(GERMAN / f"{side}.vrt") for side in ("gold", "predicted")]
    both = score(*files, layers={"entity": 2, "risk": 3}, metrics="exact")

    found = both.scores()

    assert {path: both[path] for path in found} == found
    assert both["exact.risk.f1"] == both["exact.risk.micro.f1"]
    with pytest.raises(
        UsageError, match=r"can mean 2 scores \(one of exact.entity.micro.f1, exact.risk.micro.f1\)"
    ):
        both["exact.f1"]


@SILENT
@pytest.mark.parametrize(
    ("metrics", "short", "path"),
    [
        ("exact", "exact.B.f1", "exact.label.per_label.B.f1"),
        ("exact", "B.recall", "exact.label.per_label.B.recall"),
        ("levels", "levels.f1", "levels.label.labelled.label.1.micro.f1"),
        ("levels", "A.f1", "levels.label.labelled.label.1.per_label.A.f1"),
        ("levels", "labelled.2.f1", "levels.label.labelled.label.2.micro.f1"),
        ("levels", "levels.unlabelled.4.recall", "levels.label.unlabelled.4.recall"),
        ("fair", "fair.f1", "fair.label.overall.fair.f1"),
        ("gate", "gate.f1", "gate.label.all.f1_strict"),
        ("exact,muc", "exact.f1", "exact.label.micro.f1"),
        ("exact,muc", "muc.exact.f1", "muc.label.exact.f1"),
    ],
)
def test_names_that_are_clear_from_the_others_may_be_left_out(metrics: str, short: str, path: str) -> None:
    found = result(metrics=metrics)

    assert found[short] == found[path]


@SILENT
@pytest.mark.parametrize(
    ("metrics", "short", "message"),
    [
        ("exact,partial", "A.f1", "exact.label.per_label.A.f1, partial.label.per_label.A.f1"),
        (
            "levels",
            "levels.2.f1",
            "there is no score 'levels.2.f1' (did you mean levels.label.unlabelled.2.f1?)",
        ),
        ("levels", "levels.1.f1", "there is no score 'levels.1.f1'"),
        ("muc", "exact.f1", "can mean the metric exact, or a part of muc"),
        ("exact,fair", "f1", "exact.label.micro.f1, fair.label.overall.fair.f1"),
    ],
)
def test_what_can_mean_several_numbers_is_refused(metrics: str, short: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        result(metrics=metrics)[short]

    assert message in str(error.value)


@SILENT
@pytest.mark.parametrize("metrics", [*METRICS])
@pytest.mark.parametrize("wrong", ["overall_f1", "accuracy", "nonsense", "", ".", "A", "exact.B"])
def test_a_hint_is_a_path_of_this_result(metrics: str, wrong: str) -> None:
    of_metric = result(metrics=metrics)

    with pytest.raises(UsageError) as error:
        of_metric[wrong]

    hint = str(error.value).partition("did you mean ")[2].removesuffix("?)")
    assert hint in set(paths_of_files(of_metric.metrics))


def test_a_result_is_no_list_of_its_paths() -> None:
    with pytest.raises(TypeError, match="not iterable"):
        iter(result())  # type: ignore[call-overload]  # as a wrong call would
