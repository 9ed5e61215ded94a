"""What goes back into annotation tools: Label Studio's tasks, WebAnno TSV and UIMA CAS are read as they were."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from corpora import write
from hypothesis import given
from hypothesis import strategies as st

from clueval import Document, Span, UsageError, convert, read, to_rows
from clueval.cli import main
from clueval.spans.features import in_order

TEXT = st.text(st.sampled_from('ab 😀é<&"|[]\\;*_->\t\r\n.'), max_size=14)
LABEL = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=5) | st.sampled_from(
    ["a|b", "[1]", "*", "a->b", "\\", ";", "_x", "a\tb", "a\nb", "😀"]
)


@st.composite
def ranges(draw: st.DrawFn, text: str) -> list[tuple[int, int]]:
    position = st.integers(0, len(text))
    found = draw(st.lists(st.tuples(position, position), max_size=5))
    return [(min(pair), max(pair)) for pair in found]


def written_and_read(document: Document, name: str, path: str, layers: dict[str, str]) -> Document:
    with TemporaryDirectory() as folder:
        convert([document], name, f"{folder}/{path}")
        (found,) = read(folder, layers)
    return found


@given(data=st.data())
def test_label_studio_keeps_layers_scores_and_metadata(data: st.DataObject) -> None:
    text = data.draw(TEXT)
    scores = st.one_of(st.just({}), st.builds(lambda score: {"score": score}, st.floats(0, 1)))
    layers = {
        layer: in_order(
            [Span(*each, {layer: data.draw(LABEL)}, data.draw(scores)) for each in data.draw(ranges(text))]
        )
        for layer in ("entity", 'a layer & "more"')
    }
    document = Document("d", layers, text=text, unit="character", metadata=data.draw(METADATA))
    sources = {layer: layer for layer, spans in layers.items() if spans} or None

    found = written_and_read(document, "label-studio", "a.json", sources or {"label": "label"})

    assert (found.text, found.metadata) == (text, document.metadata)
    assert {layer: spans for layer, spans in found.layers.items() if spans} == {
        layer: spans for layer, spans in layers.items() if spans
    }


METADATA = st.dictionaries(st.sampled_from(["domain", "id", "😀"]), st.text(max_size=3), max_size=2)

ADA = {"id": "a", "text": "😀 Ada in Ulm", "label": [[2, 5, "PER"], [9, 12, "LOC"]], "meta": {"domain": "x"}}


def test_label_studio_task_and_its_configuration_by_hand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "a.jsonl", json.dumps(ADA))

    assert main(["convert", str(path), "--to", "label-studio"]) == 0
    out, err = capsys.readouterr()
    ada, ulm = (
        {
            "id": name,
            "from_name": "label",
            "to_name": "text",
            "type": "labels",
            "value": {"start": start, "end": start + 3, "text": text, "labels": [label]},
        }
        for name, start, text, label in (("r1", 2, "Ada", "PER"), ("r2", 9, "Ulm", "LOC"))
    )
    assert json.loads(out) == [
        {
            "id": "a",
            "data": {"text": "😀 Ada in Ulm", "domain": "x"},
            "annotations": [{"completed_by": 1, "ground_truth": True, "result": [ada, ulm]}],
        }
    ]
    assert err.splitlines() == [
        "<View>",
        '  <Labels name="label" toName="text"><Label value="PER"/><Label value="LOC"/></Labels>',
        '  <Text name="text" value="$text"/>',
        "</View>",
    ]


def test_label_studio_has_predictions_if_asked(tmp_path: Path) -> None:
    (document,) = read(write(tmp_path / "a.jsonl", json.dumps(ADA)))

    convert([document], "label-studio", tmp_path / "a.json", as_="predictions")
    (row,) = to_rows([document], "label-studio", as_="predictions")

    (task,) = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert task == row
    assert list(task) == ["id", "data", "predictions"]
    assert task["predictions"][0]["model_version"] == "clueval"
    (found,) = read(tmp_path / "a.json", annotation_set="prediction:clueval")
    assert found == document
    with pytest.raises(UsageError, match="cannot be written as 'x'"):
        convert([document], "label-studio", as_="x")
    with pytest.raises(UsageError, match="as_='annotations' does not apply to the format doccano"):
        convert([document], "doccano", as_="annotations")


def test_label_studio_has_no_other_features_no_gaps_and_no_metadata_called_text() -> None:
    spans = [Span.of_fragments([(0, 1), (2, 3)], "A", {"score": True, "link": "Q1"})]
    document = Document(
        "d", {"label": spans}, text="a b", unit="character", metadata={"text": "x", "domain": "y"}
    )

    with pytest.raises(UsageError, match="cannot hold 2 features, 1 gaps, 1 metadata"):
        convert([document], "label-studio")
    (found,) = convert([document], "label-studio", lossy=True)
    assert found.layers == {"label": [Span(0, 3, "A")]}
    assert found.metadata == {"domain": "y"}


def test_curated_gold_goes_back_to_label_studio(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {**ADA, "meta": {}}
    paths = [str(write(tmp_path / f"{name}.jsonl", json.dumps(row))) for name in "abc"]

    assert main(["curate", *paths, "--to", "label-studio", "-o", str(tmp_path / "gold.json")]) == 0
    assert '<Label value="PER"/>' in capsys.readouterr().err
    (found,) = read(tmp_path / "gold.json")
    assert [(span.start, span.end, span.label) for span in found.layers["label"]] == [
        (2, 5, "PER"),
        (9, 12, "LOC"),
    ]
