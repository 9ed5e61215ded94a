"""The masking report: leaks, their order, what is added, limits."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import clueval
from clueval import Document, MaskingReport, Signature, Span
from clueval.files.errors import CluevalWarning, UsageError
from clueval.metrics.masking import Masking
from tests.masking_cases import gold_document, masked_document

_UPPER_OF_60 = (
    "document_leak_upper: the upper bound is 4.9 %, over 1 %; 60 documents cannot show less than 4.9 %: "
    "299 documents without a leak are needed"
)


def report(**settings: Any) -> MaskingReport:
    return clueval.masking([gold_document()], [masked_document()], **settings)


@contextmanager
def without_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", CluevalWarning)
        yield


def test_leaks_of_a_document_that_has_the_layer_of_classes_alone_are_warned_of() -> None:
    tokens, name = ["a", "b"], [Span(0, 1, "P")]
    gold = [Document("1", {"entity": name}, tokens=tokens), Document("2", {"risk": name}, tokens=tokens)]
    masked = [gold[0], replace(gold[0], id="2", layers={"entity": []})]

    with pytest.warns(
        CluevalWarning, match="no rate and no limit counts the leaks .* the layer 'risk' alone"
    ):
        found = clueval.masking(gold, masked)
    assert [leak.document for leak in found.leaks] == ["2"]
    assert found.scores()["masking.mention.micro.recall"] == 1


def test_leaks_have_the_shape_of_the_contract() -> None:
    assert report().to_dict()["leaks"][0] == {
        "document": "d",
        "annotator": "label",
        "start": 31,
        "end": 35,
        "class": "high",
        "status": "missed",
        "exposed": [[31, 35]],
        "mentions": 2,
        "protected": 1,
        "same_words": 2,
        "same_words_protected": 1,
    }


def test_leaks_of_entities_that_are_masked_elsewhere_come_first_in_their_class() -> None:
    assert [(leak.start, leak.is_in_part) for leak in report().leaks] == [(31, True), (22, False)]
    assert report().leaks[1].exposed == ((27, 28),)


def test_the_json_is_that_of_score_with_lists_of_leaks() -> None:
    found = json.loads(report().to_json())
    scored = clueval.score([gold_document()], [masked_document()], metrics=["masking"]).to_dict()

    assert found["metrics"] == json.loads(json.dumps(scored["metrics"]))
    assert found.keys() - scored.keys() == {"leaks", "string_leaks"}
    assert found["signature"] == str(report().signature)


def test_string_leaks_have_positions() -> None:
    gold = Document("d", {"label": [Span(0, 4, "PER")]}, text="Weiß, Weiß", unit="character")
    predicted = Document("d", {"label": [Span(0, 4, "X")]}, text="Weiß, Weiß", unit="character")

    found = clueval.masking([gold], [predicted]).to_dict()

    assert found["string_leaks"] == [{"document": "d", "start": 6, "end": 10}]
    assert found["leaks"] == []


def test_a_break_down_and_a_filter_work_as_in_score() -> None:
    found = report(by="document", where=["label=PER"])

    assert list(found.to_dict()["by"]["document"]) == ["d"]
    assert len(report(where="document=d").leaks) == 2


def test_mentions_that_a_filter_leaves_out_are_no_leaks() -> None:
    gold = Document("d", {"x": [Span(0, 1, "A"), Span(1, 2, "B")]}, tokens=["Anna", "Ulm"])
    predicted = Document("d", {"x": []}, tokens=["Anna", "Ulm"])

    assert [leak.start for leak in clueval.masking([gold], [predicted], where="x=B").leaks] == [5]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"keep": "high,x"}, 0),
        ({"keep": ["high"]}, 0),
        ({"masks": "label"}, 2),
        ({"annotators": "all"}, 2),
        ({"ignore_words": ["öz"]}, 1),
        ({"ignore_words": ["karl", "öz", "Weiß"]}, 2),  # nothing else is left of these mentions
    ],
)
def test_settings_take_a_list_or_one_text(settings: dict[str, Any], expected: int) -> None:
    assert len(report(**settings).leaks) == expected


def test_files_of_words_and_weights_are_read(tmp_path: Any) -> None:
    words, weights = tmp_path / "words", tmp_path / "weights"
    words.write_text("Karl\n\nÖZ\n", encoding="utf-8")
    weights.write_text("Weiß\t9\nKARL\t4\n", encoding="utf-8")

    found = report(ignore_words=str(words), word_weights=weights)

    assert found.to_dict()["metrics"]["masking"]["label"]["classes"]["high"]["mentions"] == 3
    assert "ignore_words=sha256=" in str(found.signature)
    assert (
        found.to_dict()["metrics"]["masking"]["label"]["classes"]["all"]["weighted_word_recall"] is not None
    )


@pytest.mark.parametrize("content", ["Weiß\t-1\n", "Weiß\n", "\t3\n", "", "Weiß\t1.5\n", "Weiß\t²\n"])
def test_a_file_of_weights_with_something_else_is_refused(tmp_path: Any, content: str) -> None:
    path = tmp_path / "weights"
    path.write_text(content, encoding="utf-8")

    with pytest.raises(clueval.CluevalError):
        report(word_weights=path)


def test_limits_that_are_not_kept_have_a_line_each() -> None:
    found = report().failures(
        ["entity_recall[high]=1", "word_recall=0.6", "entity_recall[low]=0", "label.character_recall=0.9"],
        ["document_leak_upper=1", "masks_needless=-1"],
    )

    assert found == [
        "entity_recall[high] is 0, under 1",
        "entity_recall[low] is undefined (the classes are high, medium), and must not be under 0",
        "label.character_recall is 0.722222, under 0.9",
        "masks_needless is 0, over -1",
    ]


def test_a_limit_may_name_a_path_of_the_json() -> None:
    assert report().failures("masking.label.classes.medium.entity_recall=1") == []
    assert report().failures("masking.label.f.2=1") == ["masking.label.f.2 is 0.631579, under 1"]


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ("entity_recal=1", "did you mean entity_recall?"),
        ("other.entity_recall=1", "there is no figure"),
        ("retention[high]=1", "there is no figure"),
        ("entity_recall", "cannot be read"),
        ("entity_recall=x", "cannot be read"),
        ("entity_recall=nan", "cannot be read"),
        ("masking.label.classes=1", "there is no figure"),
        ("masked_share=80", "masked_share=0.8"),
    ],
)
def test_a_limit_that_means_nothing_is_refused(limit: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        report().failures(limit)
    assert message in str(caught.value)


def test_with_several_sequences_a_limit_names_its_own() -> None:
    gold = Document("d", {"a": [Span(0, 1, "A")], "b": [Span(1, 2, "B")]}, tokens=["Anna", "Ulm"])
    predicted = Document("d", {"a": [Span(0, 1, "A")], "b": []}, tokens=["Anna", "Ulm"])
    found = clueval.masking([gold], [predicted])

    assert found.failures(["a.entity_recall=1", "b.entity_recall[_]=1"]) == [
        "b.entity_recall[_] is 0, under 1"
    ]
    with pytest.raises(UsageError, match="several sequences"):
        found.failures("entity_recall=1")


def test_unknown_settings_are_refused() -> None:
    with pytest.raises(UsageError, match="did you mean masks"):
        report(mask="x")


def test_name_to_keep_that_no_span_has_is_a_warning_with_the_known_names() -> None:
    with pytest.warns(CluevalWarning) as warned:
        report(keep="hihg,low,PER")

    assert [str(one.message) for one in warned] == [
        "keep: no span has the class or label 'hihg' (classes found: none; labels found: none)"
    ]
    with pytest.warns(CluevalWarning, match="'hihg' .classes found: high, medium; labels found: PER"):
        report(keep="hihg")


@pytest.mark.parametrize("keep", ["PER", "MASK", "low", "_", "NO_MASK"])
def test_name_to_keep_that_a_span_has_or_that_is_usual_is_no_warning(keep: str) -> None:
    with without_warnings():
        report(keep=keep)


def test_class_of_the_order_that_no_span_has_is_a_warning_if_the_order_lacks_one_that_occurs() -> None:
    with pytest.warns(CluevalWarning) as warned:
        report(risk_order="hihg,medium")

    assert [str(one.message) for one in warned] == [
        "risk_order: no mention has the class 'hihg' (classes found that it does not name: high)"
    ]
    with without_warnings():
        report(risk_order="highest,high,medium")


def test_names_to_keep_are_found_in_files_of_tags_as_in_documents(tmp_path: Path) -> None:
    gold, predicted = tmp_path / "gold.conll", tmp_path / "predicted.conll"
    gold.write_text("Anna B-PER\nin O\nKöln B-LOC\n", encoding="utf-8")
    predicted.write_text("Anna B-MASK\nin O\nKöln O\n", encoding="utf-8")

    with pytest.warns(CluevalWarning, match="'PRE' .classes found: none; labels found: LOC, PER"):
        clueval.score(gold, predicted, metrics=Masking(keep=("PRE",)))
    with without_warnings():
        clueval.score(gold, predicted, metrics=Masking(keep=("PER",)))
        clueval.score(gold, predicted, metrics=Masking(keep=("MASK",)))


def test_the_text_has_the_verdict_the_sentence_on_documents_and_the_leaks() -> None:
    lines = report().render(all=True).splitlines()

    assert lines[1] == "2 leaks in 1 of 1 documents: do not publish yet"
    assert "1 of 1 document leaks; if these are a random sample, all others may leak, too" in lines[3]
    assert "2 of 3 persons or things can be read in at least one place" in lines[3]
    assert "d label 31–34" in lines
    assert "  PER “Weiß” can be read; masked in 1 of 2 places high · readable characters: 31–34" in lines
    assert "Weiß" not in report().showing(text=False).render(all=True)


def test_the_sentence_on_persons_says_that_it_adds_up_over_annotators() -> None:
    gold = Document("d", {"a": [Span(0, 3, "PER")], "b": [Span(0, 3, "PER")]}, text="Ada", unit="character")

    text = clueval.masking([gold], [replace(gold, layers={})], annotators="all").render()
    assert (
        "2 of 2 persons or things can be read in at least one place (counted once for each annotator)" in text
    )


def test_the_first_screen_has_the_leaks_then_the_classes() -> None:
    lines = [line.split() for line in str(report()).splitlines()]

    at = lines.index(["d", "31–34", "high", "PER", "Weiß"])
    assert lines[at - 3][:5] == ["can", "be", "read:", "2", "mentions"]
    assert (
        lines.index(["class", "mention", "recall", "entity", "recall", "mentions", "documents", "exposed"])
        > at
    )
    assert "Weiß" not in report().showing(text=False).render()


def test_the_first_screen_says_how_many_leaks_it_leaves_out() -> None:
    names = [Span(2 * n, 2 * n + 1, "PER") for n in range(60)]
    gold = Document("d", {"x": names}, text="A " * 60, unit="character")

    lines = clueval.masking([gold], [replace(gold, layers={"x": []})]).render().splitlines()

    title = next(line for line in lines if line.startswith("can be read: 60 mentions"))
    shown = sum(line.startswith("d ") for line in lines)
    assert title == f"can be read: 60 mentions, first {shown} of 60 rows"


def test_without_a_leak_the_verdict_has_the_bound() -> None:
    document = Document("d", {"x": [Span(0, 4, "PER")]}, text="Anna", unit="character")

    assert clueval.masking([document], [document]).verdict() == (
        "no leak found; with 95 % confidence fewer than 95 % of such documents have one"
    )


def test_the_tables_of_the_text_fit_on_a_screen() -> None:
    lines = report(by="document").render(all=True).partition("\n\n")[2].splitlines()
    tables = lines[: lines.index("d label 31–34")]
    heads = [re.split(" {2,}", line) for line in tables if line.startswith("class ")]

    assert max(map(len, tables)) <= 100
    assert heads[0][-1] == "document recall"
    assert heads[1][1] == "document leak upper"


def test_the_first_screen_has_the_breakdown_that_was_asked_for() -> None:
    assert "by document" in str(report(by="document"))
    assert "by document" not in str(report())


def test_the_signature_is_in_the_text() -> None:
    found = report()

    signature = Signature.parse(str(found).splitlines()[-1])
    assert "unit" in signature.choices
    assert signature.differences(found.signature) == {}


def test_the_table_of_leaks_is_safe_and_has_text_only_if_asked(tmp_path: Any) -> None:
    gold = Document("=1", {"label": [Span(0, 5, "PER")]}, text="=Anna", unit="character")
    found = clueval.masking([gold], [Document("=1", {"label": []}, text="=Anna", unit="character")])

    found.write(tmp_path / "t.tsv")
    head, line = (row.split("\t") for row in (tmp_path / "t.tsv").read_text().splitlines())
    cells = dict(zip(head, line, strict=True))
    found.showing(text=False).write(tmp_path / "n.tsv")

    assert (cells["document"], cells["text"], cells["exposed_inclusive"]) == ("'=1", "'=Anna", "1-4")
    assert "Anna" not in (tmp_path / "n.tsv").read_text()


def test_what_can_be_read_of_a_mention_that_is_masked_in_part_is_in_brackets() -> None:
    gold = Document("d", {"x": [Span(0, 9, "PER")]}, text="Ada B. Öz", unit="character")
    predicted = Document("d", {"x": [Span(4, 6, "M")]}, text=gold.text, unit="character")

    found = clueval.masking([gold], [predicted])

    assert "    [Ada] <B.> [Öz]\n  PER “Ada B. Öz” can be read in part; its only place" in found.render(
        all=True
    )
    assert "Ada" not in found.showing(text=False).render(all=True)


def _documents(leaking: int, number: int) -> MaskingReport:
    gold, predicted = [], []
    for place in range(number):
        gold.append(Document(str(place), {"name": [Span(0, 4, "PER")]}, text="Anna", unit="character"))
        masks = [Span(0, 4, "X")] if place >= leaking else []
        predicted.append(Document(str(place), {"name": masks}, text="Anna", unit="character"))
    return clueval.masking(gold, predicted, masks="name")


@pytest.mark.parametrize(
    ("leaking", "number", "limit", "expected"),
    [
        (0, 60, "document_leak_upper=0.01", _UPPER_OF_60),
        (0, 60, "name.document_leak_upper[_]=0.01", f"name.document_leak_upper[_]{_UPPER_OF_60[19:]}"),
        (
            1,
            60,
            "document_leak_upper=0.01",
            "document_leak_upper: the upper bound is 7.7 %, over 1 %; 60 documents cannot show less than 4.9 %: "
            "299 documents without a leak are needed, or 473 of which 1 leaks",
        ),
        (
            1,
            60,
            "document_leak_upper=0.05",
            "document_leak_upper: the upper bound is 7.7 %, over 5 %; 59 documents without a leak are needed, "
            "or 93 of which 1 leaks",
        ),
        (
            0,
            1,
            "document_leak_upper=0",
            "document_leak_upper: the upper bound is 95 %, over 0 %; 1 document cannot show less than 95 %, and "
            "1,000,000,000 would not be enough",
        ),
    ],
)
def test_a_limit_of_the_bound_that_is_not_kept_says_how_many_documents_are_needed(
    leaking: int, number: int, limit: str, expected: str
) -> None:
    found = _documents(leaking, number)

    assert found.failures(fail_over=limit) == [expected]
    assert found.failures(fail_over="masking.name.classes.all.document_leak_upper=1") == []
