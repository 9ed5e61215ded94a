"""All conventions in one table: each row is what that convention's own tool or metric gives."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from corpora import TAGS, Corpus, conll, tagged_corpora, write
from hypothesis import given
from hypothesis import strategies as st

from clueval import Document, Sentence, Signature, read
from clueval import score as score_files
from clueval.cli import main
from clueval.core.span import Frozen, Span
from clueval.core.tags import decode_tags
from clueval.files.errors import TagError, UsageError
from clueval.studies.conventions import CONVENTIONS, Conventions, conventions

SAMPLES = Path(__file__).parents[2] / "clueval" / "samples"
BILOU = ("O", "O", "B-A", "I-A", "L-A", "U-A", "U-B", "L-B")

Capture = pytest.CaptureFixture[str]
Sentences = list[list[str]]


def document(sentences: Sentences) -> Document:
    """Tags as a document, as the formats give them."""
    tags = [tag for sentence in sentences for tag in sentence]
    spans, borders = [], []
    position = 0
    for sentence in sentences:
        for start, end, label in decode_tags(sentence):
            spans.append(Span(position + start, position + end, label))
        borders.append(Sentence(position, position + len(sentence)))
        position += len(sentence)
    return Document(
        "d", Frozen(label=spans), tokens=["w"] * len(tags), tags=Frozen(label=tags), sentences=borders
    )


def rows_of(gold: Document, predicted: Document, **settings: Any) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = conventions([gold], [predicted], **settings).to_dict()["conventions"]
    return found["label"]


def rows_of_tags(gold: Sentences, predicted: Sentences, **settings: Any) -> dict[str, dict[str, Any]]:
    return rows_of(document(gold), document(predicted), **settings)


def rates(row: dict[str, Any]) -> tuple[float, float, float]:
    return row["precision"], row["recall"], row["f1"]


@st.composite
def tagged(draw: st.DrawFn, tags: tuple[str, ...] = TAGS) -> tuple[Sentences, Sentences]:
    sides: tuple[Sentences, Sentences] = ([], [])
    for length in draw(st.lists(st.integers(1, 6), min_size=1, max_size=4)):
        for side in sides:
            side.append(draw(st.lists(st.sampled_from(tags), min_size=length, max_size=length)))
    return sides


# Each row


@given(tagged() | tagged(BILOU))
def test_the_rows_of_seqeval_are_what_seqeval_gives(sides: tuple[Sentences, Sentences]) -> None:
    seqeval = pytest.importorskip("seqeval.metrics")
    schemes = pytest.importorskip("seqeval.scheme")
    used = {tag[0] for side in sides for sentence in side for tag in sentence}
    scheme, name = (schemes.BILOU, "BILOU") if used & set("LU") else (schemes.IOB2, "BIO")

    found = rows_of_tags(*sides, scheme=name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for key, mode in (("seqeval", None), ("seqeval_strict", "strict")):
            scores = (seqeval.precision_score, seqeval.recall_score, seqeval.f1_score)
            expected = [score(*sides, mode=mode, scheme=scheme) for score in scores]
            assert rates(found[key]) == pytest.approx(expected)


@given(tagged_corpora())
def test_the_other_rows_are_what_the_metrics_give(
    tmp_path_factory: pytest.TempPathFactory, corpora: tuple[Corpus, Corpus]
) -> None:
    folder = tmp_path_factory.mktemp("corpus")
    files = [write(folder / f"{n}.conll", conll(side)) for n, side in enumerate(corpora)]
    names = ["muc", "levels", "fair", "partial", "gate", "exact"]
    of = {name: each["label"] for name, each in score_files(*files, metrics=names).metrics.items()}
    labelled = of["levels"]["labelled"]["label"]
    expected = {
        **{f"muc_{scheme}": rates(of["muc"][scheme]) for scheme in ("strict", "exact", "partial", "type")},
        **{f"levels_{level}_unlabelled": rates(of["levels"]["unlabelled"][level]) for level in "1234"},
        **{f"levels_{level}_labelled": rates(labelled[level]["micro"]) for level in "1234"},
        "fair_fair": rates(of["fair"]["overall"]["fair"]),
        "partial": rates(of["partial"]["micro"]),
        **{f"gate_{kind}": gate_rates(of["gate"]["all"], kind) for kind in ("strict", "lenient")},
        "exact_unlabelled": rates(of["muc"]["exact"]),
        **dict.fromkeys(("conlleval", "seqeval"), rates(of["exact"]["micro"])),
    }

    found = conventions(*files).to_dict()["conventions"]["label"]

    assert {key: rates(row) for key, row in found.items() if key != "seqeval_strict"} == expected


def gate_rates(report: dict[str, Any], kind: str) -> tuple[float, ...]:
    return tuple(report[f"{rate}_{kind}"] for rate in ("precision", "recall", "f1"))


@given(tagged())
def test_unlabelled_is_equality_of_places(sides: tuple[Sentences, Sentences]) -> None:
    places = [{(span.start, span.end) for span in document(side).layers["label"]} for side in sides]

    row = rows_of_tags(*sides)["exact_unlabelled"]

    right = len(places[0] & places[1])
    assert row["precision"] == (right / len(places[1]) if places[1] else 0)
    assert row["recall"] == (right / len(places[0]) if places[0] else 0)


def test_unlabelled_is_exact_without_labels_where_labels_share_a_place() -> None:
    gold, predicted = [[(0, 2, "A"), (0, 2, "B"), (1, 3, "A")]], [[(0, 2, "A")]]

    row = conventions(gold, predicted).to_dict()["conventions"]["label"]["exact_unlabelled"]

    assert row["f1"] == score_files(gold, predicted, metrics="exact", untyped=True).f1 == pytest.approx(2 / 3)


def test_conventions_disagree_about_one_boundary() -> None:
    found = rows_of_tags([["B-PER", "I-PER", "I-PER", "O"]], [["B-PER", "I-PER", "O", "O"]])

    assert {key: row["f1"] for key, row in found.items()} == {
        **dict.fromkeys((convention.key for convention in CONVENTIONS), 0.0),
        "muc_partial": 0.5,
        "muc_type": 1.0,
        "partial": 0.75 * 2 / 3,
        "gate_lenient": 1.0,
    } | {key: found[key]["f1"] for key in found if key.startswith("levels")}
    assert (found["levels_2_unlabelled"]["precision"], found["levels_2_unlabelled"]["recall"]) == (1.0, 0.0)


def test_the_treatment_of_ill_formed_tags_does_not_change_conlleval_and_seqeval(tmp_path: Path) -> None:
    path = write(tmp_path / "x.conll", "w I-PER I-PER\nw O O\nw B-PER B-PER\n")

    mended, discarded = (
        conventions(path, scheme="BIO", invalid=invalid).to_dict()["conventions"]["label"]
        for invalid in ("conlleval", "discard")
    )

    for key in ("conlleval", "seqeval", "seqeval_strict"):
        assert mended[key] == discarded[key]


def test_a_sentence_ends_a_span() -> None:
    found = rows_of_tags([["B-PER"], ["I-PER"]], [["B-PER"], ["O"]])

    assert (found["seqeval"]["recall"], found["seqeval_strict"]["recall"]) == (0.5, 1.0)


# The scheme


@pytest.mark.parametrize(
    ("gold", "note"),
    [
        (["B-A", "I-A", "O"], "scheme IOB2"),
        (["O", "I-A", "B-A"], "scheme IOB1"),
        (["S-A", "O", "O"], "scheme IOBES"),
        (["U-A", "O", "O"], "scheme BILOU"),
        (["O", "O", "O"], None),
        (["I-A", "I-A", "O"], "seqeval has no scheme IO"),
    ],
)
def test_the_scheme_is_told_from_the_gold_tags(gold: list[str], note: str | None) -> None:
    assert rows_of_tags([gold], [["O", "O", "O"]])["seqeval_strict"]["note"] == note


def test_the_scheme_that_is_named_is_taken() -> None:
    row = rows_of_tags([["B-A"]], [["B-A"]], scheme="IOBES")["seqeval_strict"]

    assert (row["f1"], row["note"]) == (0.0, "scheme IOBES")


@pytest.mark.parametrize("as_side", [list, iter, lambda tags: dict(enumerate(tags))])
def test_lists_of_tags_are_read_by_the_scheme_that_is_named(
    tmp_path: Path, as_side: Callable[[Sentences], Any]
) -> None:
    gold, predicted = [["I-A", "O", "I-A", "B-A"]], [["I-A", "O", "I-A", "I-A"]]  # by themselves IOB1 and IO
    files = [
        write(tmp_path / f"{n}.conll", conll([[[("w", tag) for tag in tags] for tags in side]]))
        for n, side in enumerate((gold, predicted))
    ]

    of_lists, of_files = (
        conventions(*sides, scheme="BIO") for sides in ([as_side(gold), as_side(predicted)], files)
    )

    assert of_lists.rows() == of_files.rows()
    assert "scheme:BIO" in of_lists.signature
    with pytest.raises(TagError, match="outside the scheme BIO"):
        conventions(as_side([["S-A"]]), as_side([["S-A"]]), scheme="BIO")


def test_a_predicted_tag_outside_the_scheme_leaves_strict_without_figures() -> None:
    row = rows_of_tags([["B-A", "I-A"]], [["S-A", "O"]])["seqeval_strict"]

    assert rates(row) == (None, None, None)
    assert row["note"] == "predicted has the tag 'S-A', which is outside the scheme IOB2"


def test_without_any_gold_span_the_predicted_tags_tell_the_scheme() -> None:
    assert rows_of_tags([["O"]], [["S-A"]])["seqeval_strict"]["note"] == "scheme IOBES"


# Overlapping spans


def spans(*found: Span) -> Document:
    return Document("d", {"label": list(found)})


def test_conventions_that_forbid_overlapping_spans_say_so() -> None:
    nested = spans(Span(0, 4, "A"), Span(1, 2, "B"))

    found = rows_of(nested, nested)

    refused = {key for key, row in found.items() if row["f1"] is None}
    levels = {f"levels_{n}_{kind}" for n in range(1, 5) for kind in ("labelled", "unlabelled")}
    assert refused == {"conlleval", "seqeval", "seqeval_strict", *levels}
    assert found["levels_1_labelled"]["note"] == "some spans overlap"
    assert {row["f1"] for key, row in found.items() if key not in refused} == {1.0}
    (table,) = conventions([nested], [nested]).tables()
    assert ["CLUEval level 2, labelled", None, "some spans overlap", "not defined here"] in table.rows


def test_a_filter_on_a_layer_is_refused_as_by_most_of_the_metrics() -> None:
    one = document([["B-A", "B-B"]])

    with pytest.raises(UsageError, match="metric 'conventions' cannot leave spans out of the count"):
        conventions([one], [one], where="label=A")


def test_loio_forbids_overlaps_within_a_type_only() -> None:
    found = rows_of(spans(Span(0, 4, "A"), Span(1, 2, "A")), spans())

    assert found["partial"]["f1"] is None


def test_spans_without_length_have_no_tags() -> None:
    found = rows_of(spans(Span(2, 2, "A")), spans(Span(2, 2, "A")))

    assert found["conlleval"]["note"] == "some spans overlap or have no length"
    assert found["levels_1_labelled"]["f1"] == 1.0


def test_spans_without_tags_are_compared_as_they_are() -> None:
    found = rows_of(spans(Span(0, 2, "A"), Span(3, 4, "A")), spans(Span(0, 2, "A")))

    assert {rates(found[key]) for key in ("conlleval", "seqeval", "seqeval_strict")} == {(1.0, 0.5, 2 / 3)}


# The table


def sampled(language: str = "german", **settings: Any) -> Conventions:
    sides = (SAMPLES / language / f"{side}.vrt" for side in ("gold", "predicted"))
    return conventions(*sides, layers={"entity": 2, "risk": 3}, token_id=4, **settings)


def sample(language: str = "german", **settings: Any) -> dict[str, Any]:
    return sampled(language, **settings).to_dict()


def test_the_layers_come_one_after_another() -> None:
    report = sample()

    assert list(report["conventions"]) == ["entity", "risk"]
    assert [list(rows) for rows in report["conventions"].values()] == [[c.key for c in CONVENTIONS]] * 2
    assert (report["documents"], report["tokens"]) == (5, 2797)


def test_signature_names_the_study_and_can_be_read_back() -> None:
    signature = Signature.parse(sample(factor=0.5)["signature"])

    assert "factor=0.5" in signature.choices["metrics"]
    assert "gate=1 if both sides are empty" in signature.choices["zero"]


def test_text_has_a_row_for_each_convention() -> None:
    lines = sampled().render("text").split("\n")

    for convention in CONVENTIONS:
        assert len([line for line in lines if line.startswith(f"{convention.name}  ")]) == 1
    start = lines.index("F1, in %")
    assert lines[start + 1].split()[:5] == ["convention", "entity", "difference", "risk", "difference"]
    assert max(map(len, lines[start:-1])) <= 120
    assert len(lines) <= 40
    assert lines[-1].startswith("signature: metrics:conventions(")


def test_verdict_has_the_lowest_and_the_highest_f1() -> None:
    found = conventions([["B-PER", "I-PER", "O"]], [["B-PER", "O", "O"]])

    assert found.verdict() == "F1 from 0.00 (conlleval) to 100.00 (MUC type)"


def test_scores_are_rates_by_layer_and_convention() -> None:
    found = conventions([["B-PER", "I-PER", "O"]], [["B-PER", "O", "O"]]).scores()

    assert (found["label.conlleval.f1"], found["label.muc_type.f1"]) == (0.0, 1.0)


# The command


def test_the_command_refuses_texts_that_differ(capsys: Capture, tmp_path: Path) -> None:
    files = [str(write(tmp_path / f"{word}.conll", f"{word} O\n")) for word in ("a", "b")]

    assert main(["conventions", *files]) == 2
    assert capsys.readouterr().err.count("\n") == 1


# Files, lists and documents


@st.composite
def well_formed(draw: st.DrawFn, prefixes: str) -> tuple[Sentences, Sentences]:
    """Tags of both sides in which every span is complete."""

    def of_span(label: str, length: int) -> list[str]:
        inside = [f"I-{label}"] * (length - 1)
        if "E" not in prefixes:
            return [f"B-{label}", *inside]
        return [f"S-{label}"] if length == 1 else [f"B-{label}", *inside[1:], f"E-{label}"]

    span = st.just(["O"]) | st.builds(of_span, st.sampled_from("AB"), st.integers(1, 3))
    sides: tuple[Sentences, Sentences] = ([], [])
    for length in draw(st.lists(st.integers(1, 8), min_size=1, max_size=5)):
        for side in sides:
            tags: list[str] = []
            while len(tags) < length:
                found = draw(span)
                tags += found if len(tags) + len(found) <= length else ["O"]
            side.append(tags)
    return sides


IOBES = ("O", *(f"{prefix}-{label}" for prefix in "BIES" for label in "AB"))
IOB = tuple(tag for tag in IOBES if tag[0] in "OBI")
ANY = tagged(IOB) | tagged(IOBES)


def of_file(sentences: Sentences) -> str:
    return "\n".join("".join(f"w {tag}\n" for tag in tags) for tags in sentences)


@given(ANY | well_formed("BI") | well_formed("BIES"))
def test_rows_of_files_are_those_of_documents_and_of_lists(
    tmp_path_factory: pytest.TempPathFactory, sides: tuple[Sentences, Sentences]
) -> None:
    folder = tmp_path_factory.mktemp("corpus")
    paths = [str(write(folder / name, of_file(side))) for name, side in zip("gp", sides, strict=True)]

    def rows(*given_sides: Any, **options: Any) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = conventions(*given_sides, **options).to_dict()["conventions"][
            "label"
        ]
        return found

    expected = rows(*paths)
    assert rows(*(list(read(path)) for path in paths)) == expected
    of_characters = rows(*paths, unit="character")
    for key in ("conlleval", "seqeval", "seqeval_strict"):
        assert of_characters[key] == expected[key]
    for given_sides in (sides, map(iter, sides), [map(iter, side) for side in sides]):
        assert [row["f1"] for row in rows(*given_sides).values()] == [row["f1"] for row in expected.values()]


def test_standard_input_may_have_invalid_tags(tmp_path: Path) -> None:
    gold, predicted = of_file([["B-A", "O", "B-B"]]), of_file([["I-A", "O", "B-B"]])
    path = write(tmp_path / "g", gold)
    found = conventions(str(path), io.StringIO(predicted)).to_dict()["conventions"]["label"]

    assert found["conlleval"]["f1"] == 1
    assert found["seqeval_strict"]["f1"] == pytest.approx(2 / 3)


def test_signature_does_not_depend_on_the_way_of_counting(tmp_path: Path) -> None:
    path = str(write(tmp_path / "g", of_file([["B-A", "O"]])))

    found, other = (
        Signature.parse(conventions(path, path, **options).signature)
        for options in ({}, {"invalid": "discard"})
    )

    assert found.differences(other) == {"invalid": ("conlleval", "discard")}
