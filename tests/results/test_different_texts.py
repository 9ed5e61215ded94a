"""Files whose texts differ, through the front door: `noisy`, `--align`, `--pairs`, `errors`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from corpora import write

from clueval import Document, Span, read, score
from clueval.cli import main
from clueval.files.errors import CluevalError, TextMismatch, UsageError
from clueval.metrics.gate.metric import Gate
from clueval.results.result import Result

pytest.importorskip("rapidfuzz")

GOLD = "Hugone B-PERS\nMontiniaci I-PERS\ndomino I-PERS\n"
PREDICTED = "Hugone B-PERS\nMontiniaci I-PERS\ndomino O\n"
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    return str(write(tmp_path / "gold.bio", GOLD)), str(write(tmp_path / "predicted.bio", PREDICTED))


def test_seven_of_24_different_characters_match_at_30_percent_and_not_below(
    pair: tuple[str, str], capsys: Capture
) -> None:
    for threshold, matched in (("0.3", 1), ("0.29", 0)):
        assert (
            main(
                [
                    "score",
                    *pair,
                    "--metric",
                    f"noisy(threshold={threshold})",
                    "--format",
                    "json",
                ]
            )
            == 0
        )
        report = json.loads(capsys.readouterr().out)
        assert report["metrics"]["noisy"]["label"]["ALL"]["matched"] == matched
        assert f"noisy(threshold={threshold})" in report["signature"]
        assert "text:aligned" in report["signature"]


def test_several_files_have_a_micro_figure_and_the_mean_of_the_files(tmp_path: Path, capsys: Capture) -> None:
    write(tmp_path / "a.bio", GOLD)
    write(tmp_path / "b.bio", "x B-PERS\ny O\nz B-LOC\n")
    write(tmp_path / "c.bio", "x B-PERS\ny O\nz O\n")
    table = write(tmp_path / "pairs.csv", "Annotation,Prediction\na.bio,a.bio\nb.bio,c.bio\n")

    assert main(["score", "--pairs", str(table), str(tmp_path), "--metric", "noisy", "--format", "json"]) == 0

    report = json.loads(capsys.readouterr().out)["metrics"]["noisy"]["label"]
    assert (report["ALL"]["matched"], report["ALL"]["gold"], report["ALL"]["predicted"]) == (2, 3, 2)
    assert report["file_mean"]["recall"] == pytest.approx((1 + 1 / 2) / 2)
    assert report["per_label"]["LOC"]["precision"] is None


def test_errors_of_metric_noisy_are_written_as_text_and_tsv(
    pair: tuple[str, str], tmp_path: Path, capsys: Capture
) -> None:
    assert main(["errors", *pair, "--metric", "noisy"]) == 0
    assert "matched distance 7 / 24" in capsys.readouterr().out
    table = tmp_path / "errors.tsv"
    assert main(["errors", *pair, "--metric", "noisy", "-o", str(table)]) == 0
    header, row = table.read_text(encoding="utf-8").rstrip("\n").split("\n")
    cells = dict(zip(header.split("\t"), row.split("\t"), strict=True))
    assert (cells["gold_text"], cells["distance"], cells["matched"]) == (
        "Hugone Montiniaci domino",
        "7",
        "yes",
    )


def test_projected_spans_are_scored_by_the_other_metrics(tmp_path: Path) -> None:
    gold = write(tmp_path / "g.conll", "Frau O\nAnna B-PER\nWeiß I-PER\nsprach O\n")
    predicted = write(tmp_path / "p.conll", "Frau O\nAnnaWeiss B-PER\nsprach O\nxx B-PER\n")

    with pytest.raises(TextMismatch):
        score(gold, predicted)
    result = score(gold, predicted, align=True, metrics=["levels", "exact", "fair", "partial", "gate"])
    report = result.to_dict()

    assert report["metrics"]["levels"]["label"]["classes"]["gold"]["exact"] == 1
    # what has no place on the gold text is listed, and counts as wrong in every metric
    assert [(span["label"], span["start"]) for span in report["unprojected"]] == [("PER", 3)]
    assert report["metrics"]["levels"]["label"]["classes"]["predicted"]["spurious"] == 1
    assert report["metrics"]["exact"]["label"]["micro"]["fp"] == 1
    assert report["metrics"]["fair"]["label"]["overall"]["fair"]["FP"] == 1
    assert report["metrics"]["partial"]["label"]["micro"]["predicted"] == 2
    assert report["metrics"]["gate"]["label"]["all"]["true_spurious_lenient"] == 1
    assert "text:aligned" in report["signature"]


@pytest.mark.parametrize(
    ("gold", "arguments", "message"),
    [
        ("a X-PER\n", [], "'X-PER' is not a tag"),
        (GOLD, ["--metric", "noisy(threshold=2)"], "noisy(threshold=...) must be a number from 0 to 1"),
        (
            "ein B-PERS\nandrer I-PERS\nText O\n",
            ["--metric", "noisy(max_alignment=10)"],
            "raise noisy(max_alignment=...)",
        ),
        (
            "ein B-PERS\nandrer I-PERS\nText O\n",
            ["--align", "--max-alignment", "10"],
            "raise --max-alignment)",
        ),
    ],
)
def test_wrong_input_for_different_texts_is_one_line(
    tmp_path: Path, capsys: Capture, gold: str, arguments: list[str], message: str
) -> None:
    paths = [str(write(tmp_path / "g.bio", gold)), str(write(tmp_path / "p.bio", PREDICTED))]

    assert main(["score", *paths, *(arguments or ["--metric", "noisy"])]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_texts_that_are_too_long_to_align_name_the_option_of_python(tmp_path: Path) -> None:
    gold, predicted = write(tmp_path / "g.bio", "Text O\n"), write(tmp_path / "p.bio", "Test O\n")

    with pytest.raises(CluevalError, match=r"\(split the document, or raise align=\.\.\.\)$"):
        score(gold, predicted, align=10)


def test_files_that_cannot_be_paired_are_refused(tmp_path: Path, capsys: Capture) -> None:
    for text, message in (("A,B\na,b\n", "header"), ("Annotation,Prediction\nno.bio,no.bio\n", "no.bio")):
        table = write(tmp_path / "pairs.csv", text)
        assert main(["score", "--pairs", str(table), str(tmp_path), "--metric", "noisy"]) == 2
        assert message in capsys.readouterr().err
    with pytest.raises(CluevalError, match="1 gold files and 2 predicted files"):
        score([str(table)], [str(table), str(table)])
    with pytest.raises(UsageError, match="a filter on a layer"):
        score(
            write(tmp_path / "a", "a B-X\n"), write(tmp_path / "b", "b B-X\n"), align=True, where=["label=X"]
        )


def test_noisy_with_another_metric_needs_equal_texts(tmp_path: Path) -> None:
    gold = write(tmp_path / "g.bio", "Anna B-PER\nkam O\n")
    other = write(tmp_path / "other.bio", "Totally B-PER\ndifferent O\n")
    longer = write(tmp_path / "longer.bio", "Anna B-PER\nkam O\nan O\n")

    for beside in ("levels", "exact", "fair", "partial", "gate", "muc", "confusion"):
        for metrics in (["noisy", beside], [beside, "noisy"]):
            for predicted in (other, longer):
                with pytest.raises(TextMismatch):
                    score(gold, predicted, metrics=metrics)
                with pytest.raises(TextMismatch):
                    score(gold, predicted, metrics=metrics, input="conll")


def test_noisy_with_another_metric_counts_as_alone_where_texts_are_equal(tmp_path: Path) -> None:
    # "noir" goes on with PER for Nerval; for conlleval it would begin another span
    gold = write(tmp_path / "g.bio", "Jean B-PER\nUlm B-LOC\nnoir I-PER\nkam O\n")
    predicted = write(tmp_path / "p.bio", "Jean B-PER\nUlm O\nnoir I-PER\nkam O\n")

    alone = score(gold, predicted, metrics=["noisy"])
    beside = score(gold, predicted, metrics=["noisy", "muc"])

    assert beside.metrics["noisy"] == alone.metrics["noisy"]
    assert beside.metrics["muc"]["label"]["strict"]["correct"] == 0
    assert (alone.signature.choices["text"], beside.signature.choices["text"]) == ("aligned", "equal")
    assert beside.signature.choices["unit"] == "character"


def test_noisy_needs_no_equal_texts_where_the_other_metrics_are_aligned(tmp_path: Path) -> None:
    gold = write(tmp_path / "g.bio", "Anna B-PER\nkam O\n")
    predicted = write(tmp_path / "p.bio", "Anne B-PER\nkam O\n")

    result = score(gold, predicted, metrics=["noisy", "exact"], align=True)

    assert result.metrics["exact"]["label"]["micro"]["f1"] == 1.0
    assert result.metrics["noisy"]["label"]["ALL"]["matched"] == 1


# Predicted spans that have no place on the gold text: counted as wrong, listed, and at no position


METRICS = ["levels", "exact", "fair", "partial", "gate", "muc", "confusion"]
OWN = "Frau O\nAnna B-PER\nWeiß I-PER\nsprach O\n"
WITH_MORE = "Frau O\nAnna B-PER\nWeiß O\nsprach O\nxx B-LOC\n"


@pytest.fixture
def result(tmp_path: Path) -> Result:
    """Gold "Anna Weiß", predicted "Anna", and "xx" after the end of the gold text."""
    paths = write(tmp_path / "g.conll", OWN), write(tmp_path / "p.conll", WITH_MORE)
    return score(*paths, metrics=METRICS, align=True)


def test_positions_are_the_tokens_of_gold(result: Result) -> None:
    assert result.tokens == 4


def test_token_accuracy_is_over_the_gold_text_alone(result: Result) -> None:
    # O B I O against O B O O: three of four
    assert result.metrics["exact"]["label"]["token_accuracy"] == 3 / 4


def test_lost_span_is_counted_once_for_each_of_its_layers() -> None:
    both = Span(1, 2, {"entity": "PER", "risk": "high"})
    gold = Document("d", {"entity": (), "risk": ()}, tokens=["Frau"])
    predicted = Document("d", {"entity": [both], "risk": [both]}, tokens=["Frau", "xx"])

    metrics = score([gold], [predicted], metrics=["exact"], align=True).metrics["exact"]

    assert [metrics[layer]["micro"]["predicted"] for layer in ("entity", "risk")] == [1, 1]


def test_two_lost_spans_that_overlap_are_both_wrong() -> None:
    gold = Document("d", {"label": ()}, tokens=["Frau"])
    predicted = Document("d", {"label": [Span(1, 3, "A"), Span(2, 3, "A")]}, tokens=["Frau", "xx", "yy"])

    report = score([gold], [predicted], metrics=["muc"], align=True).metrics["muc"]["label"]

    assert report["strict"]["spurious"] == 2


def test_text_output_lists_every_lost_span(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [str(write(tmp_path / "g.conll", OWN)), str(write(tmp_path / "p.conll", WITH_MORE))]

    assert main(["score", *paths, "--align"]) == 0

    lines = capsys.readouterr().out.split("\n")
    title = next(number for number, line in enumerate(lines) if "no position in the gold text" in line)
    assert lines[title + 1].split() == ["document", "label", "start", "end_inclusive"]
    assert lines[title + 3].split() == ["1", "LOC", "4", "4"]


def test_text_output_has_no_list_where_every_span_has_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(write(tmp_path / "g.conll", OWN))

    assert main(["score", path, path, "--align"]) == 0

    assert "no position in the gold text" not in capsys.readouterr().out


def test_lost_span_is_counted_by_gate_if_its_own_text_has_it_within_the_frame() -> None:
    frame = {"Key:Section": [Span(0, 2, "Section")]}
    gold = Document("d", {"label": (), "Key:Section": [Span(0, 1, "Section")]}, tokens=["Frau", "kam"])
    inside = Document("d", {"label": [Span(1, 2, "A")]} | frame, tokens=["Frau", "xx", "kam"])
    outside = Document("d", {"label": [Span(3, 4, "A")]} | frame, tokens=["Frau", "xx", "kam", "yy"])

    for predicted, spurious in ((inside, 1), (outside, 0)):
        result = score([gold], [predicted], metrics=[Gate(containing="Key:Section")], align=True)
        assert result.metrics["gate"]["label"]["all"]["true_spurious_strict"] == spurious


# Values of any length: an error shows what is around the difference, and nothing takes forever


@pytest.mark.parametrize("raw", [True, False])
def test_error_about_long_tokens_shows_the_first_difference(tmp_path: Path, raw: bool) -> None:
    gold = write(tmp_path / "g.vrt", f"{'a' * 5000}b{'c' * 5000}\tO\n")
    predicted = write(tmp_path / "p.vrt", f"{'a' * 5000}x{'c' * 5000}\tO\n")

    with pytest.raises(TextMismatch) as caught:
        score(gold, predicted) if raw else score(read(gold), read(predicted))

    message = str(caught.value)
    assert "ab" + "c" * 39 in message
    assert "ax" + "c" * 39 in message
    assert "from character 4960 on" in message
    assert len(message) < 1000


def test_error_shows_a_token_that_is_the_beginning_of_a_long_one(tmp_path: Path) -> None:
    gold, predicted = (write(tmp_path / f"{n}.vrt", f"{'a' * n}\tO\n") for n in (100, 200))

    with pytest.raises(TextMismatch, match=r"token '(a{40})' from character 60 on where .* has '(a{80})'"):
        score(gold, predicted)


@pytest.mark.parametrize("size", [40, 81, 90, 5000])
@pytest.mark.parametrize("character", ["a", "\x01", "\u202e", "\U000e0001"])
def test_error_shows_the_difference_of_two_tokens_of_any_length(
    tmp_path: Path, size: int, character: str
) -> None:
    gold, predicted = (write(tmp_path / f"{end}.vrt", f"{character * size}{end}\tO\n") for end in "xy")

    with pytest.raises(TextMismatch) as caught:
        score(gold, predicted)

    message = str(caught.value)
    assert "x'" in message
    assert "y'" in message
    assert len(message) < 1500
