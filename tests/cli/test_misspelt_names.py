"""An option that names a label, a layer, a feature or a class that no span has: no command takes that in silence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clueval import CluevalWarning, agree, convert, diff, errors, score
from clueval.cli import main
from clueval.metrics.fair import Fair

Capture = pytest.CaptureFixture[str]

SPANS = [
    {"start": 0, "end": 4, "label": "PER", "risk": "high"},
    {"start": 8, "end": 11, "label": "LOC", "risk": "low"},
]
METRICS = [
    ("fair.labels=XX", "no span is labelled 'XX'"),
    ("fair.exclude=XX", "fair.exclude: no span has the label 'XX'"),
    ("gate.types=XX", "no annotation has the type 'XX'"),
    ("gate.types=PER=XX", "gate.types: no predicted annotation has the type 'XX'"),
    ("gate.types=XX=PER", "gate.types: no gold annotation has the type 'XX'"),
    ("gate.features=XX", "no annotation has the feature 'XX'"),
    ("gate.by=XX", "no annotation has the feature 'XX'"),
    ("gate.score_feature=XX", "has no score 'XX'"),
    ("gate.containing=XX", "there is no layer 'XX'"),
    ("gate.unfiltered=XX", "needs containing annotations"),
    ("masking.risk_layer=XX", "no mention has a class in a layer or feature 'XX'"),
    ("masking.risk_order=XX", "risk_order: no mention has the class 'XX'"),
    ("masking.keep=XX", "keep: no span has the class or label 'XX'"),
    ("masking.masks=XX", "no predicted document has a layer 'XX'"),
    ("masking.entity=XX", "no mention has an entity in a layer or feature 'XX'"),
    ("masking.annotators=XX", "no gold document has a layer 'XX'"),
]
CHANGES = [
    (["--label-map", "map.tsv"], "the label map map.tsv changes no span"),
    (["--gold-map", "map.tsv"], "the label map map.tsv changes no span"),
    (["--predicted-map", "map.tsv"], "the label map map.tsv changes no span"),
    (["--hierarchy", "hierarchy.txt", "--depth", "1"], "the hierarchy changes no label"),
    (["--generic", "XX"], "no predicted span has the generic label 'XX'"),
    (["--ignore-layer", "XX"], "gold has no layer 'XX'"),
    (["--ignore-label", "XX"], "gold has no span with the label 'XX'"),
]
FILTERS = [
    (["--where", "XX=y"], "no layer and no document's metadata is called 'XX'"),
    (["--where", "label=XX"], "no span has label=XX"),
    (["--where", "document=XX"], "no document has document=XX"),
]


def written(*settings: str) -> str:
    """A metric with its settings, each given as METRIC.SETTING=VALUE."""
    parts = [setting.partition("=") for setting in settings]
    values = ",".join(f"{name.partition('.')[2]}={value!r}" for name, _, value in parts)
    return f"{parts[0][0].partition('.')[0]}({values})"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("g.conll").write_text("# newdoc id = d\nAnna\tB-PER\nin\tO\nUlm\tB-LOC\n", encoding="utf-8")
    Path("p.conll").write_text("# newdoc id = d\nAnna\tB-PER\nin\tO\nUlm\tO\n", encoding="utf-8")
    row = {"_input_hash": 1, "text": "Anna in Ulm", "answer": "accept"}
    Path("g.jsonl").write_text(json.dumps({**row, "spans": SPANS}) + "\n", encoding="utf-8")
    Path("p.jsonl").write_text(json.dumps({**row, "spans": SPANS[:1]}) + "\n", encoding="utf-8")
    Path("map.tsv").write_text("XX\tYY\n*\t*\n", encoding="utf-8")
    Path("hierarchy.txt").write_text("YY\n  XX\n", encoding="utf-8")


@pytest.mark.few(3)
@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("setting", "message"), METRICS)
@pytest.mark.parametrize("form", ["conll", "jsonl"])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_settings_of_metrics_name_what_no_span_has(
    setting: str, message: str, form: str, jobs: str, capsys: Capture
) -> None:
    main(["score", f"g.{form}", f"p.{form}", "--metric", written(setting), "--jobs", jobs])
    assert message in capsys.readouterr().err


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("gate.features=XX[risk]", "no gold annotation has the type 'XX'"),
        ("gate.nil=XX", "gate.nil: no annotation has the value 'XX' in the feature 'risk'"),
    ],
)
def test_settings_of_gate_name_types_and_values_of_features_that_do_not_occur(
    setting: str, message: str, capsys: Capture
) -> None:
    features = [] if setting.startswith("gate.features") else ["gate.features=risk"]

    main(["score", "g.jsonl", "p.jsonl", "--metric", written(*features, setting)])
    assert message in capsys.readouterr().err


@pytest.mark.few(3)
@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("options", "message"), [*CHANGES, *FILTERS])
@pytest.mark.parametrize("form", ["conll", "jsonl"])
@pytest.mark.parametrize("command", ["score", "errors", "diff", "profile", "masking"])
def test_options_of_both_sides_name_what_no_span_has(
    options: list[str], message: str, form: str, command: str, capsys: Capture
) -> None:
    second = [f"p.{form}"] if command == "diff" else []

    main([command, f"g.{form}", f"p.{form}", *second, *options])
    assert message in capsys.readouterr().err


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("options", "message"), [CHANGES[0], CHANGES[3], FILTERS[0]])
@pytest.mark.parametrize("form", ["conll", "jsonl"])
def test_options_of_annotators_name_what_no_span_has(
    options: list[str], message: str, form: str, capsys: Capture
) -> None:
    main(["agree", f"a=g.{form}", f"b=p.{form}", *options])
    assert message in capsys.readouterr().err


@pytest.mark.usefixtures("files")
def test_a_label_that_no_span_has_is_not_written_without_a_warning(capsys: Capture) -> None:
    main(["convert", "g.conll", "--to", "spans", "--label", "XX"])
    assert "warning: no span has the label 'XX' (labels found: LOC, PER)" in capsys.readouterr().err
    with pytest.warns(CluevalWarning, match="no span has the label 'XX'"):
        convert("g.conll", to="spans", label="XX")


@pytest.mark.usefixtures("files")
def test_functions_warn_of_a_map_that_changes_nothing() -> None:
    with pytest.warns(CluevalWarning, match=r"the label map map\.tsv changes no span"):
        list(errors("g.conll", "p.conll", label_map="map.tsv"))
    with pytest.warns(CluevalWarning, match=r"the label map map\.tsv changes no span"):
        list(diff("g.conll", "p.conll", "p.conll", label_map="map.tsv"))
    with pytest.warns(CluevalWarning, match=r"the label map map\.tsv changes no span"):
        agree("g.conll", "p.conll", label_map="map.tsv")


@pytest.mark.usefixtures("files")
def test_a_map_that_changes_one_run_or_one_annotator_has_an_effect(recwarn: pytest.WarningsRecorder) -> None:
    Path("q.conll").write_text(Path("p.conll").read_text().replace("PER", "XX"), encoding="utf-8")

    diff("g.conll", "p.conll", "q.conll", label_map="map.tsv").render()
    agree("g.conll", "q.conll", label_map="map.tsv")
    assert not [each for each in recwarn if "changes no span" in str(each.message)]


@pytest.mark.usefixtures("files")
def test_a_label_that_a_map_lacks_is_refused_in_either_run_of_diff(capsys: Capture) -> None:
    Path("q.conll").write_text(Path("p.conll").read_text().replace("PER", "XX"), encoding="utf-8")
    Path("all.tsv").write_text("PER\tPERSON\nLOC\tPLACE\n", encoding="utf-8")

    for runs in (["p.conll", "q.conll"], ["q.conll", "p.conll"]):
        assert main(["diff", "g.conll", *runs, "--label-map", "all.tsv"]) == 2
        assert "the label map has no entry for 'XX'" in capsys.readouterr().err


@pytest.mark.usefixtures("files")
def test_excluded_labels_that_occur_are_not_warned_of(recwarn: pytest.WarningsRecorder) -> None:
    result = score("g.conll", "p.conll", metrics=Fair(exclude=("LOC", "NONE")))

    assert result.get("fair.label.overall.fair.f1") == 1
    assert not [each for each in recwarn if "exclude" in str(each.message)]


@pytest.mark.usefixtures("files")
def test_a_source_that_no_span_has_is_explained_by_the_format(capsys: Capture) -> None:
    Path("d.json").write_text(
        '{"text": "Ann", "ents": [{"start": 0, "end": 3, "label": "PER"}]}', encoding="utf-8"
    )

    main(["score", "d.json", "d.json", "--layer", "entity=names"])
    assert "no spans; clueval formats spacy-json says what its source can be" in capsys.readouterr().err
