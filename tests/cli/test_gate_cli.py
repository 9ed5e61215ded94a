"""GATE at the command line: sets, references, candidate lists, tables, indicators; parallel documents."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from itertools import chain, starmap
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval import Document, Span, read
from clueval import score as score_files
from clueval.cli import main
from clueval.compat.gate import COLUMNS, PLACE, table_lines
from clueval.files.errors import UsageError
from clueval.formats.options import PAIR_BY

TEXT = "Ada met Bob in Rome. Eve slept."
SETS = ["--gold-set", "Key", "--predicted-set", "Response"]


def annotation(kind: str, start: int, end: int, number: int, **features: Any) -> dict[str, Any]:
    return {"type": kind, "start": start, "end": end, "id": number, "features": features}


KEY = [
    annotation("Person", 0, 3, 1, id="Q1"),
    annotation("Person", 8, 11, 2, id="Q2"),
    annotation("Place", 15, 19, 3, id="Q3"),
    annotation("Person", 21, 24, 4, id="Q4"),
    annotation("Section", 0, 20, 5),
]
RESPONSE = [
    annotation("Person", 0, 3, 11, id="Q1", score=0.9),
    annotation("Person", 8, 14, 12, id="Q2", score=0.5),
    annotation("Place", 15, 19, 13, id="Q9", score=0.4),
    annotation("Person", 25, 30, 14, id="", score=0.2),
]
OLD = [annotation("Person", 0, 3, 21, id="Q1"), annotation("Place", 15, 19, 23, id="Q3")]
LISTS = [
    annotation("List", 0, 3, 31, ids=[32, 33]),
    annotation("Candidate", 0, 3, 32, id="Q7", score=0.3),
    annotation("Candidate", 0, 3, 33, id="Q1", score=0.8),
    annotation("List", 8, 11, 34, ids=[35, 36]),
    annotation("Candidate", 8, 11, 35, id="Q5", score=0.6),
    annotation("Candidate", 8, 11, 36, id="Q2", score=0.1),
]


def as_bdoc(text: str = TEXT, /, **sets: Sequence[dict[str, Any]]) -> str:
    named = {name: {"name": name, "next_annid": 99, "annotations": own} for name, own in sets.items()}
    return json.dumps({"text": text, "offset_type": "p", "features": {}, "annotation_sets": named})


def as_feature(name: str, value: Any) -> str:
    kind = {str: "String", int: "Integer", float: "Double", list: "List"}[type(value)]
    java = f"java.lang.{kind}"
    if isinstance(value, list):
        java, value = 'java.util.ArrayList" itemClassName="java.lang.Integer', ";".join(map(str, value))
    return f'<Feature><Name>{name}</Name><Value className="{java}">{value}</Value></Feature>'


def as_xml(text: str, **sets: Sequence[tuple[str, int, int, int] | dict[str, Any]]) -> str:
    """A GATE document with a node before every character, of annotations (type, start, end, id) or dictionaries."""
    nodes = "".join(f'<Node id="{n}"/>{c}' for n, c in enumerate(text)) + f'<Node id="{len(text)}"/>'
    written = "".join(
        f'<AnnotationSet Name="{name}">'
        + "".join(
            f'<Annotation Id="{each["id"]}" Type="{each["type"]}" StartNode="{each["start"]}" '
            f'EndNode="{each["end"]}">{"".join(starmap(as_feature, each["features"].items()))}</Annotation>'
            for each in (each if isinstance(each, dict) else annotation(*each) for each in annotations)
        )
        + "</AnnotationSet>"
        for name, annotations in sets.items()
    )
    return f"<GateDocument><TextWithNodes>{nodes}</TextWithNodes>{written}</GateDocument>"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    sets = {"Key": KEY, "Response": RESPONSE, "Old": OLD, "Lists": LISTS}
    (folder / "a.bdocjs").write_text(as_bdoc(**sets), encoding="utf-8")
    return folder


RECALL_COLUMNS = (
    *("maxRecallStrict", "maxRecallLenient", "maxRecallListStrict", "maxRecallListLenient"),
    *("targets", "targetsWithList", "correctStrict", "correctLenient", "lists", "listsWithTarget"),
)

SETTINGS = (
    *("types", "features", "nil", "containing", "containment", "by", "beta", "thresholds", "score_feature"),
    *("list_type", "edge_feature", "element_type", "ranks"),
)


def in_metric(arguments: Sequence[object]) -> list[str]:
    """The arguments, with options that have the names of settings in the metric."""
    settings, others = {}, []
    given = iter(map(str, arguments))
    for argument in given:
        name = argument.removeprefix("--").replace("-", "_")
        if argument.startswith("--") and name in SETTINGS:
            settings[name] = next(given)
        else:
            others.append(argument)
    written = ",".join(f"{name}={value!r}" for name, value in settings.items())
    return ["--metric", f"gate({written})", *others]


class Printed:
    """``clueval score --metric gate``, and what it printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: object, code: int = 0) -> str:
        found = main(["score", *in_metric(arguments)])
        output = self._capsys.readouterr()
        assert found == code, output.err
        return output.err if code else output.out

    def report(self, *arguments: object) -> dict[str, Any]:
        whole = json.loads(self(*arguments, "--format", "json"))
        report: dict[str, Any] = whole["metrics"]["gate"]["label"]
        if "reference" in whole:
            found = whole["reference"]
            report["reference"] = {**found["metrics"]["gate"]["label"], **found["changes"]["label"]}
        return report

    def refusal(self, *arguments: object) -> str:
        """The one line of an error."""
        error = self(*arguments, code=2)
        assert error.count("\n") == 1
        return error


@pytest.fixture
def gate_command(capsys: pytest.CaptureFixture[str]) -> Printed:
    return Printed(capsys)


class TestSets:
    def test_both_sides_may_be_in_one_file_or_in_the_files_of_one_folder(
        self, gate_command: Printed, corpus: Path
    ) -> None:
        of_file, of_folder = (
            gate_command.report(corpus / "a.bdocjs", *SETS),
            gate_command.report(corpus, *SETS),
        )

        assert of_file == of_folder
        assert (of_file["all"]["targets"], of_file["all"]["responses"]) == (5, 4)

    def test_bdoc_is_recognised_if_a_long_text_comes_first(
        self, gate_command: Printed, tmp_path: Path
    ) -> None:
        file = tmp_path / "long.json"
        file.write_text(as_bdoc("x " * 200_000, Key=KEY, Response=RESPONSE), encoding="utf-8")

        assert gate_command.report(file, *SETS)["all"]["targets"] == 5

    def test_unknown_set_is_an_error_that_lists_the_sets(self, gate_command: Printed, corpus: Path) -> None:
        error = gate_command.refusal(corpus, "--gold-set", "Key", "--predicted-set", "Respons")

        assert "a.bdocjs" in error
        assert "no annotation set 'Respons' (its sets: 'Key', 'Response'" in error

    def test_missing_set_option_is_an_error(self, gate_command: Printed, corpus: Path) -> None:
        assert "none is named (its sets: 'Key'" in gate_command.refusal(corpus, "--gold-set", "Key")

    def test_set_of_a_format_without_sets_is_an_error(self, gate_command: Printed, tmp_path: Path) -> None:
        file = tmp_path / "a.conll"
        file.write_text("Ada\tB-PER\tO\n", encoding="utf-8")

        assert "the format conll has no annotation sets, so 'Key'" in gate_command.refusal(file, *SETS)

    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            (["--types", "Persn"], "no annotation has the type 'Persn'"),
            (["--types", "Person,Person"], "type 'Person' of the targets is named twice"),
            (["--features", "ix"], "no annotation has the feature 'ix'"),
            (["--by", "ix"], "no annotation has the feature 'ix'"),
            (["--score-feature", "points"], "document 'a': annotation 11 [0,3) 'Person' has no score"),
            (["--thresholds", "11"], "gate(thresholds=...) needs scores"),
            (["--nil", ""], "gate(nil=...) needs a feature"),
            (["--containing", "Key:Sectoin"], "no annotation is in 'Key:Sectoin'"),
            (["--containing", "Section"], "write it SET:TYPE"),
            (["--reference-set", "Older"], "no annotation set 'Older'"),
            (["--list-type", "List"], "candidate lists need gate(edge_feature=...)"),
            (["--edge-feature", "ids"], "candidate lists need gate(list_type=...)"),
        ],
    )
    def test_unknown_names_are_errors_of_one_line(
        self, gate_command: Printed, corpus: Path, options: list[str], problem: str
    ) -> None:
        assert problem in gate_command.refusal(corpus, *SETS, *options)


class TestSettings:
    def test_only_annotations_within_containing_ones_are_counted(
        self, gate_command: Printed, corpus: Path
    ) -> None:
        common = [corpus, *SETS, "--types", "Person,Place", "--containing", "Key:Section"]

        found = gate_command.report(*common)
        # Eve and what follows stand outside the section
        assert (found["all"]["targets"], found["all"]["responses"]) == (3, 3)
        same = gate_command.report(*common, "--containment", "coextensive")
        assert (same["all"]["targets"], same["all"]["responses"]) == (0, 0)

    def test_containing_layer_is_not_a_sequence(self, gate_command: Printed, corpus: Path) -> None:
        whole = json.loads(gate_command(corpus, *SETS, "--containing", "Key:Section", "--format", "json"))

        assert list(whole["metrics"]["gate"]) == ["label"]

    def test_targets_of_the_containing_set_and_type_are_all_evaluated(
        self, gate_command: Printed, corpus: Path
    ) -> None:
        options = "--types Person,Section --containing Key:Person --containment coextensive"
        found = gate_command.report(corpus, *SETS, *options.split())

        # all three as targets of their own type, which is not asked whether it lies within itself
        assert found["per_type"]["Person"]["targets"] == 3
        assert found["per_type"]["Section"]["targets"] == 0


class TestLists:
    OPTIONS = (
        *("--gold-set", "Key", "--predicted-set", "Lists", "--types", "Person"),
        *("--features", "id", "--list-type", "List", "--edge-feature", "ids"),
    )

    def test_ranks_disambiguation_and_maximum_recall_follow_the_lists(
        self, gate_command: Printed, corpus: Path
    ) -> None:
        found = gate_command.report(corpus, *self.OPTIONS, "--score-feature", "score")["lists"]

        assert {rank: of["correct_strict"] for rank, of in found["by_rank"].items()} == {
            "0": 1, "1": 2, "all": 2
        }  # fmt: skip
        ranks = found["disambiguation"]["ranks"]
        assert [ranks[rank]["accuracy_strict"] for rank in ("0", "1")] == [0.5, 1.0]
        assert found["disambiguation"]["lists"]["strict_at_0"] == 1
        # Eve has no list
        assert found["maximum_recall"]["all"]["max_recall_strict"] == pytest.approx(2 / 3)
        assert found["maximum_recall"]["all"]["max_recall_list_strict"] == 1.0

    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            (["--list-type", "Lists"], "no predicted annotation has the type 'Lists'"),
            (["--element-type", "Cand"], "no predicted annotation has the type 'Cand'"),
            (["--edge-feature", "edges"], "annotation 31 [0,3) 'List' has no 'edges'"),
            (["--types", "Person,Place"], "for one type of targets, not 2"),
            (["--types", "Person=Place"], "neither lists nor candidates"),
            (["--reference-set", "Old"], "not compared with a reference"),
        ],
    )
    def test_options_that_do_not_fit_are_errors_of_one_line(
        self, gate_command: Printed, corpus: Path, options: list[str], problem: str
    ) -> None:
        own = zip(self.OPTIONS[::2], self.OPTIONS[1::2], strict=True)
        changed = {**dict(own), options[0]: options[1]}

        assert problem in gate_command.refusal(corpus, *chain(*changed.items()))

    def test_indicators_show_the_outcome_of_lists_and_tables_their_first_matches_and_the_maximum_recall(
        self, gate_command: Printed, tmp_path: Path
    ) -> None:
        places = [(0, 3), (8, 11), (15, 19), (21, 24)]
        key = [annotation("Person", *place, n, id=f"Q{n}") for n, place in enumerate(places, 1)]
        lists = [
            annotation("List", 0, 3, 31, ids=[32, 33]),
            annotation("Candidate", 0, 3, 32, id="Q7", score=0.3),
            annotation("Candidate", 0, 3, 33, id="Q1", score=0.8),  # strict, the best of its list
            annotation("List", 8, 11, 34, ids=[35, 36]),
            annotation("Candidate", 8, 11, 35, id="Q5", score=0.6),
            annotation("Candidate", 8, 14, 36, id="Q2", score=0.1),  # partial, the second
            annotation("List", 15, 19, 37, ids=[38]),
            annotation("Candidate", 15, 19, 38, id="Q9", score=0.4),  # no match
            annotation("List", 25, 30, 39, ids=[40]),
            annotation("Candidate", 25, 30, 40, id="Q4", score=0.2),  # no target
        ]
        (tmp_path / "corpus").mkdir()
        for name, sets in (("a", (key, lists)), ("b", (key[:1], []))):
            text = as_xml(TEXT, **dict(zip(("Key", "Lists"), sets, strict=True)))
            (tmp_path / "corpus" / f"{name}.xml").write_text(text, encoding="utf-8")

        options = *self.OPTIONS, "--score-feature", "score", "--thresholds", "0.5"
        gate_command(tmp_path / "corpus", *options, "--write-indicators", tmp_path / "new")

        def labels(name: str) -> list[tuple[str, int, int, Any]]:
            document = next(read(tmp_path / "new" / "a.xml", annotation_set=f"clueval_{name}"))
            spans = document.layers["label"]
            return [
                (s.label, s.start, s.end, s.features.get("gate.plugin.evaluation.targetId")) for s in spans
            ]

        assert labels("ResListMax") == [
            ("Candidate_CS", 0, 3, 1),
            ("Candidate_CP", 8, 14, 2),
            ("Candidate_IS", 15, 19, 3),
            ("Person_ML", 21, 24, 4),
            ("Candidate_SL", 25, 30, None),
        ]
        assert labels("ResListTh") == [
            ("Candidate_CS", 0, 3, 1),
            ("Candidate_IS", 8, 11, 2),
            ("Person_ML", 15, 19, 3),
            ("Person_ML", 21, 24, 4),
        ]
        found = [(label, start) for label, start, *_ in labels("MaxRecall")]
        assert found == [("Person_SM", 0), ("Person_PM", 8), ("Person_NM", 15), ("Person_NR", 21)]

        matches, recall = (
            [line.split("\t") for line in (tmp_path / "new" / name).read_text(encoding="utf-8").splitlines()]
            for name in ("clueval-matches.tsv", "clueval-maxrec.tsv")
        )
        assert matches[0][2::4] == ["annotationId", "nrKeys", "scoreAtPartialMatch"]
        assert [[row[2], *row[6:]] for row in matches[1:]] == [
            ["31", "1", "0", "-1", "0.8", "NaN"],
            ["34", "1", "-1", "1", "NaN", "0.1"],
            ["37", "1", "-1", "-1", "-Infinity", "-Infinity"],
            ["39", "0", "-1", "-1", "-Infinity", "-Infinity"],
        ]
        assert matches[1][:6] == ["clueval", "list-matches", "31", "a", "Lists", "Person"]
        third, thirds = str(1 / 3), str(2 / 3)
        assert [[row[2], *row[6:]] for row in recall] == [
            ["docName", "threshold", *RECALL_COLUMNS],
            ["a", "-1", "0.25", "0.5", third, thirds, "4", "3", "1", "2", "4", "3"],
            ["b", "-1", "0.0", "0.0", "1.0", "1.0", "1", "0", "0", "0", "0", "0"],
            ["[doc:all:micro]", "0", "0.2", "0.2", third, third, "5", "3", "1", "1", "4", "3"],
            ["[doc:all:micro]", "1", "0.2", "0.4", third, thirds, "5", "3", "1", "2", "4", "3"],
            ["[doc:all:micro]", "-1", "0.2", "0.4", third, thirds, "5", "3", "1", "2", "4", "3"],
        ]

    def test_table_has_rows_of_every_evaluation_of_lists(
        self, gate_command: Printed, corpus: Path, tmp_path: Path
    ) -> None:
        gate_command(corpus, *self.OPTIONS, "--score-feature", "score", "-o", tmp_path / "t.gate.tsv")

        rows = table(tmp_path / "t.gate.tsv")
        assert list(dict.fromkeys(row["evaluationType"] for row in rows)) == [
            "list-best", "list-disamb-best", "list-score", "list-rank", "list-disamb"
        ]  # fmt: skip


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert rows
    for row in rows:
        assert list(row) == [*PLACE, *COLUMNS]
        assert None not in row.values()
    return rows


class TestTable:
    def test_table_has_31_columns_and_complete_macro_rows(
        self, gate_command: Printed, corpus: Path, tmp_path: Path
    ) -> None:
        options = ["--types", "Person,Place", "--score-feature", "score", "--reference-set", "Old"]
        found = gate_command.report(corpus, *SETS, *options)
        gate_command(corpus, *SETS, *options, "-o", tmp_path / "t.gate.tsv")

        rows = table(tmp_path / "t.gate.tsv")
        assert len(rows[0]) == 31
        macro = [row for row in rows if row["annotationType"] == "[type:all:macro]"]
        assert [row["setName"] for row in macro] == ["Response", "Old"]
        for column, name in COLUMNS.items():
            assert float(macro[0][column]) == pytest.approx(found["macro"][name])
            assert float(macro[1][column]) == pytest.approx(found["reference"]["macro"][name])

    def test_a_table_is_written_instead_of_the_report_or_beside_other_files(
        self, gate_command: Printed, corpus: Path, tmp_path: Path
    ) -> None:
        both = ["-o", tmp_path / "one.gate.tsv", "-o", tmp_path / "report.json"]
        assert gate_command(corpus, *SETS, "-o", tmp_path / "alone.gate.tsv") == ""
        assert gate_command(corpus, *SETS, *both) == ""

        one, alone = (table(tmp_path / f"{name}.gate.tsv") for name in ("one", "alone"))
        assert {row["evaluationId"] for row in one} == {"one"}
        assert [{**row, "evaluationId": "alone"} for row in one] == alone
        report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
        assert report["metrics"]["gate"]["label"]["all"]["targets"] == int(one[0]["targets"]) == 5

    def test_the_reference_needs_no_scores(self) -> None:
        gold = [Document("d", {"label": [Span(0, 1, "A")]}, text="x", unit="character")]
        scored = [Document("d", {"label": [Span(0, 1, "A", {"s": 0.5})]}, text="x", unit="character")]
        result = score_files(
            gold, scored, reference=gold, metrics="gate(score_feature=s)", resample_by="document"
        )

        lines = table_lines(result, response_set="new", reference_set="old")
        kinds = [(row.split("\t")[1], row.split("\t")[3]) for row in lines][1:]
        assert ("normal", "old") in kinds
        assert ("score", "old") not in kinds

    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            ({"metrics": "exact", "resample_by": "document"}, "GATE's table needs the metric 'gate'"),
            ({"metrics": "gate"}, "GATE's table has rows of each document"),
            ({"metrics": "gate", "resample_by": "document", "merge": True}, "GATE's table has one layer"),
        ],
    )
    def test_results_that_have_no_table_are_refused(self, options: dict[str, Any], problem: str) -> None:
        spans = [Document("d", {"label": [Span(0, 1, "A")]}, text="x", unit="character")]

        with pytest.raises(UsageError, match=problem):
            list(table_lines(score_files(spans, spans, **options)))


class TestIndicators:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        sets = {
            "Key": [("Person", 0, 3, 1), ("Person", 8, 11, 2), ("Place", 15, 19, 3), ("Person", 21, 24, 4)],
            "Response": [
                ("Person", 0, 3, 11),
                ("Person", 8, 14, 12),
                ("Name", 15, 19, 13),
                ("Person", 25, 30, 14),
            ],
            "Old": [("Person", 0, 3, 21), ("Place", 15, 19, 23)],
        }
        for path in (tmp_path / "corpus" / "inner" / "a.xml", tmp_path / "corpus" / "a.xml"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(as_xml(TEXT, **sets), encoding="utf-8")
        return tmp_path / "corpus"

    def test_copies_have_the_groups_and_the_changes_in_sets_of_their_own(
        self, gate_command: Printed, folder: Path, tmp_path: Path
    ) -> None:
        before = (folder / "a.xml").read_bytes()
        options = ["--reference-set", "Old", "--write-indicators", tmp_path / "new"]
        gate_command(folder, *SETS, *options)

        written = {
            name: [span.label for span in next(read(tmp_path / "new", annotation_set=name)).layers["label"]]
            for name in ("clueval_Res", "clueval_Ref", "clueval_Diff")
        }
        assert written == {
            "clueval_Res": ["Person_CS", "Person_CP", "Name_IS", "Person_ML", "Person_SL"],
            "clueval_Ref": ["Person_CS", "Person_ML", "Place_CS", "Person_ML"],
            "clueval_Diff": ["Name_CS_IS", "Person_ML_CP", "Person_A_SL"],
        }
        assert (folder / "a.xml").read_bytes() == before
        assert (tmp_path / "new" / "inner" / "a.xml").is_file()

    def test_existing_files_and_sets_are_refused(
        self, gate_command: Printed, folder: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "full").mkdir()
        (tmp_path / "full" / "a.xml").write_text("x", encoding="utf-8")
        error = gate_command.refusal(folder, *SETS, "--write-indicators", tmp_path / "full")
        assert "already exists and cannot be overwritten" in error

        gate_command(folder, *SETS, "--write-indicators", tmp_path / "new")
        again = gate_command.refusal(tmp_path / "new", *SETS, "--write-indicators", tmp_path / "newer")
        assert "an annotation set 'clueval_Res' already" in again

    def test_other_formats_and_metrics_cannot_have_indicators(
        self, gate_command: Printed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        file = tmp_path / "a.conll"
        file.write_text("Ada\tB-PER\tO\n", encoding="utf-8")
        error = gate_command.refusal(file, "--write-indicators", tmp_path / "new")
        assert "indicators are written into GATE's XML only" in error

        assert main(["score", str(file), "--metric", "exact", "--write-indicators", str(tmp_path / "n")]) == 2
        assert "indicators are those of the metric gate" in capsys.readouterr().err


def vrt(*texts: tuple[str, Sequence[str]]) -> str:
    return "".join(
        f'<text id="{name}">\n<s>\n' + "".join(f"{line}\n" for line in lines) + "</s>\n</text>\n"
        for name, lines in texts
    )


GOLD_TEXTS = (("one", ["Ada\tB-PER", "slept\tO"]), ("two", ["Bob\tB-PER", "Fox\tI-PER", "sang\tO"]))


class TestParallelDocuments:
    @pytest.fixture
    def folders(self, tmp_path: Path) -> tuple[Path, Path]:
        gold, predicted = tmp_path / "gold", tmp_path / "predicted"
        for folder in (gold, predicted):
            folder.mkdir()
        (gold / "x.vrt").write_text(vrt(*GOLD_TEXTS), encoding="utf-8")
        (predicted / "y.vrt").write_text(vrt(*reversed(GOLD_TEXTS)), encoding="utf-8")
        return gold, predicted

    @pytest.mark.parametrize("pair_by", ["id", "content"])
    def test_pairs_do_not_depend_on_order_and_files(self, folders: tuple[Path, Path], pair_by: str) -> None:
        found = score_files(*folders, metrics=["exact", "levels"], pair_by=pair_by)

        assert found.documents == 2
        micro = found.metrics["exact"]["label"]["micro"]
        assert (micro["gold"], micro["f1"]) == (2, 1.0)
        assert f"paired:{pair_by}" in str(found.signature)

    def test_one_file_on_each_side_is_enough(self, folders: tuple[Path, Path]) -> None:
        gold, predicted = folders
        found = score_files(gold / "x.vrt", predicted / "y.vrt", metrics="exact", pair_by="id")

        assert found.metrics["exact"]["label"]["micro"]["f1"] == 1.0

    def test_names_may_differ_in_their_endings(self, gate_command: Printed, tmp_path: Path) -> None:
        gold, predicted = tmp_path / "gold", tmp_path / "predicted"
        for folder in (gold, predicted):
            folder.mkdir()
        (gold / "d.xml").write_text(as_xml("Ada", Key=[("Person", 0, 3, 1)]), encoding="utf-8")
        (predicted / "d.bdocjs").write_text(
            as_bdoc("Ada", Response=[annotation("Person", 0, 3, 1)]), encoding="utf-8"
        )

        assert gate_command.report(gold, predicted, *SETS)["all"]["correct_strict"] == 1
        assert gate_command.report(gold, predicted, *SETS, "--pair-by", "name")["all"]["correct_strict"] == 1

    def test_gate_documents_are_paired_by_their_texts(self, gate_command: Printed, tmp_path: Path) -> None:
        gold, predicted = tmp_path / "gold", tmp_path / "predicted"
        for folder, set_name, names in ((gold, "Key", "ab"), (predicted, "Response", "yx")):
            folder.mkdir()
            for text, name in zip(("Ada", "Bob"), names, strict=True):
                content = as_xml(text, **{set_name: [("Person", 0, 3, 1)]})
                (folder / f"{name}.xml").write_text(content, encoding="utf-8")

        found = gate_command.report(gold, predicted, *SETS, "--pair-by", "content")
        assert found["all"]["correct_strict"] == 2
        assert (
            "documents of the format gate-xml have no ids (pair by name or content)"
            in gate_command.refusal(gold, predicted, *SETS, "--pair-by", "id")
        )

    def test_error_lists_all_documents_without_counterpart(
        self, gate_command: Printed, folders: tuple[Path, Path]
    ) -> None:
        gold, predicted = folders
        (predicted / "y.vrt").write_text(vrt(("three", ["c\tO"]), ("four", ["d\tO"])), encoding="utf-8")

        assert "only gold has 'one', 'two'; only predicted has 'three', 'four'" in gate_command.refusal(
            gold, predicted, "--pair-by", "id"
        )
        by_name = gate_command.refusal(gold, predicted, "--pair-by", "name")
        assert "cannot be paired by name: only gold has 'x'; only predicted has 'y'" in by_name
        by_content = gate_command.refusal(gold, predicted, "--pair-by", "content")
        assert re.search(
            r"only gold has 'one in .*x\.vrt', 'two in .*; only predicted has 'three in .*y\.vrt'", by_content
        )

    def test_pair_by_is_refused_if_one_file_has_both_sides(
        self, gate_command: Printed, folders: tuple[Path, Path]
    ) -> None:
        assert "leave out --pair-by" in gate_command.refusal(folders[0] / "x.vrt", "--pair-by", "id")

    def test_equal_texts_cannot_be_paired_by_content(self) -> None:
        one, two = documents("a", "a")

        with pytest.raises(UsageError, match="has the same content as document 'd0' of gold"):
            score_files([one, two], [one, two], pair_by="content")

    @given(st.permutations(range(6)), st.permutations(range(6)), st.sampled_from(PAIR_BY))
    def test_pairs_are_the_same_in_any_order(self, own: list[int], other: list[int], pair_by: str) -> None:
        all_of_them = documents(*"abcdef")

        found = score_files(
            [all_of_them[n] for n in own], [all_of_them[n] for n in other], metrics="exact", pair_by=pair_by
        )

        micro = found.metrics["exact"]["label"]["micro"]
        assert (found.documents, micro["gold"], micro["f1"]) == (6, 6, 1.0)


def documents(*texts: str) -> list[Document]:
    """Documents of these texts, with a span of a label that only this document has."""
    return [
        Document(f"d{n}", {"label": [Span(0, 1, f"L{n}")]}, text=text, unit="character", file=f"d{n}.x")
        for n, text in enumerate(texts)
    ]
