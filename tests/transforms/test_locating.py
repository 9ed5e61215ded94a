"""Mentions of language models find their places in the text of gold; the others count and are listed."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from corpora import write
from hypothesis import given
from hypothesis import strategies as st

from clueval import Document, Span, UsageError, score
from clueval.core.document import Notes, Pair
from clueval.files.errors import CluevalError
from clueval.transforms.locating import Locating
from clueval.transforms.occurrences import LocationSteps, Occurrences, folded

TEXT = "Ann met Ann at Annex"
GOLD = [(0, 3, "PER"), (8, 11, "PER")]
POSITIONAL = ["levels", "exact", "fair", "partial", "muc", "gate", "noisy"]


def files(folder: Path, answers: list[Any] | str, text: str = TEXT, gold: Any = GOLD) -> tuple[str, str]:
    row = {"id": 1, "text": text, "label": [list(span) for span in gold]}
    written = answers if isinstance(answers, str) else "\n".join(map(json.dumps, answers))
    return (
        str(write(folder / "gold.jsonl", json.dumps(row))),
        str(write(folder / "answers.jsonl", written)),
    )


def answer(*texts: str, label: str = "PER") -> dict[str, Any]:
    return {"id": 1, "entities": [{"text": text, "label": label} for text in texts]}


def counts(result: Any, metric: str = "exact") -> tuple[float, float, float]:
    micro = result.metrics[metric]["label"]["micro"]
    return micro["tp_gold"], micro["fp"], micro["fn"]


@pytest.mark.parametrize("metric", ["exact", "partial"])
def test_the_third_mention_and_the_invented_one_are_false_positives(tmp_path: Path, metric: str) -> None:
    result = score(*files(tmp_path, [answer("Ann", "Ann", "Ann", "Bob")]), input="mentions", metrics=metric)

    assert counts(result, metric) == (2, 2, 0)
    assert result.to_dict()["prepared"]["located"] == {
        "answers": 1,
        **dict.fromkeys(("space", "case", "fuzzy", "moved", "ambiguous", "unparsable"), 0),
        "exact": 2,
        "unlocatable": 2,
    }
    assert result.to_dict()["unprojected"] == [
        {"document": "1", "label": "PER", "start": None, "end_exclusive": None, "text": text}
        for text in ("Ann", "Bob")
    ]
    assert "located:free(exact,space)" in str(result.signature)


def test_one_mention_of_two_is_ambiguous_and_all_takes_both(tmp_path: Path) -> None:
    paths = files(tmp_path, [answer("Ann")])
    one, every = (
        score(*paths, input="mentions", metrics="exact", occurrence=which) for which in ("free", "all")
    )

    assert (counts(one), one.to_dict()["prepared"]["located"]["ambiguous"]) == ((1, 0, 1), 1)
    assert (counts(every), every.to_dict()["prepared"]["located"]["ambiguous"]) == ((2, 0, 0), 0)


def test_every_metric_counts_a_mention_without_a_place_as_false(tmp_path: Path) -> None:
    def figures(*texts: str) -> dict[str, Any]:
        return score(*files(tmp_path, [answer(*texts)]), input="mentions", metrics=POSITIONAL).metrics

    whole, more = figures("Ann", "Ann"), figures("Ann", "Ann", "Bob")

    assert more["levels"]["label"]["classes"]["predicted"]["spurious"] == 1
    assert more["exact"]["label"]["micro"]["fp"] == more["partial"]["label"]["micro"]["fp"] == 1
    assert more["fair"]["label"]["overall"]["fair"]["FP"] == 1
    assert more["muc"]["label"]["strict"]["spurious"] == 1
    assert more["gate"]["label"]["all"]["responses"] == 3
    assert (whole["noisy"]["label"]["ALL"]["predicted"], more["noisy"]["label"]["ALL"]["predicted"]) == (2, 3)


@pytest.mark.parametrize(
    ("text", "mention", "locate", "place", "step"),
    [
        ("x Anna\n Lee", "Anna Lee", "exact,space", (2, 11), "space"),
        ("x Zoe\u0308", "Zo\u00eb", "exact,space", (2, 6), "space"),
        ("ANN", "Ann", "exact,space", None, "unlocatable"),
        ("ANN", "Ann", "exact,case", (0, 3), "case"),
        ("a GROSS b", "groß", "case", (2, 7), "case"),
        ("O’Brien", "O'Brien", "exact,quotes", (0, 7), "quotes"),
        ("by Jonathan Swift.", "Jonathon Swift", "exact,fuzzy=0.9", (3, 17), "fuzzy"),
        ("by Jonathan Swift.", "Jane Swift", "exact,fuzzy=0.9", None, "unlocatable"),
        ("Annex", "Ann", "exact,space", None, "unlocatable"),
        ("東京都に", "東京", "exact", (0, 2), "exact"),
        ("C++ and C", "C", "exact", (0, 1), "exact"),
        ("x", "", "exact,space", None, "unlocatable"),
        ("a  b", " b ", "exact", (3, 4), "exact"),
    ],
)
def test_a_step_forgives_what_it_says(
    text: str, mention: str, locate: str, place: tuple[int, int] | None, step: str
) -> None:
    found, notes = located(text, [(mention, "A", None)], locate)

    assert found == ([] if place is None else [(*place, "A")])
    assert notes["located", step] == 1


def located(
    text: str,
    mentions: list[Any],
    locate: str = "exact,space",
    occurrence: str = "free",
    tokens: Any = None,
) -> tuple[list[tuple[int, int, str]], Notes]:
    gold = (
        Document("d", {}, text=text, unit="character") if tokens is None else Document("d", {}, tokens=tokens)
    )
    spans = [
        Span(0, 0, label, {"mention": each} if offsets is None else {"mention": each, "offsets": offsets})
        for each, label, offsets in mentions
    ]
    step = Locating(occurrence, LocationSteps.of(locate))
    pair, *_ = step([Pair(gold, Document("d", {"label": spans}, unit="character"))])
    return [(span.start, span.end, span.label) for span in pair.predicted.layers["label"]], pair.notes


def test_a_later_step_takes_what_earlier_steps_left() -> None:
    found, _ = located(
        "ann saw Ann", [("ann", "A", None), ("Ann", "B", None), ("ANN", "C", None)], "exact,case"
    )

    assert found == [(0, 3, "A"), (8, 11, "B")]


def test_given_offsets_stand_if_the_text_there_is_the_mention() -> None:
    mentions = [("Ann", "A", (8, 11)), ("Ann", "B", (1, 4)), ("Bob", "C", (0, 3))]
    found, notes = located(TEXT, mentions)

    assert found == [(0, 3, "B"), (8, 11, "A")]
    assert (notes["located", "moved"], notes["located", "unlocatable"]) == (1, 1)


def test_occurrences_overlap_neither_each_other_nor_words() -> None:
    assert located("a a a", [("a a", "A", None)] * 2)[0] == [(0, 3, "A")]
    assert located("Ann Ann", [("Ann", "A", None), ("Ann", "B", None)], occurrence="first")[0] == [
        (0, 3, "A"),
        (0, 3, "B"),
    ]


def test_tokens_of_gold_belong_to_a_mention_that_covers_more_than_half_of_them() -> None:
    tokens = ["Ann-", "Marie", "'s", "x"]

    assert located("", [("Ann- Marie's", "A", None)], tokens=tokens)[0] == []
    assert located("", [("Ann", "A", None), ("Marie 's", "B", None)], tokens=tokens)[0] == [
        (0, 1, "A"),
        (1, 3, "B"),
    ]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"locate": "exact,near"}, "cannot have the step 'near'"),
        ({"locate": "fuzzy"}, "cannot have the step 'fuzzy'"),
        ({"locate": "fuzzy=2"}, "is not a similarity"),
        ({"occurrence": "last"}, "'last' is unknown"),
        ({"align": True}, "mentions are located"),
        ({"resample_by": "sentence"}, "sentences cannot be units"),
        ({"unparsable": "ignore"}, "unparsable='ignore' is unknown"),
    ],
)
def test_wrong_options_are_refused(tmp_path: Path, options: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        score(*files(tmp_path, [answer("Ann")]), input="mentions", **options)


def test_options_for_mentions_do_not_apply_to_other_formats(tmp_path: Path) -> None:
    gold, _ = files(tmp_path, [])

    with pytest.raises(UsageError, match="applies to predictions without positions"):
        score(gold, gold, occurrence="all")


def test_ids_must_agree_unless_answers_have_none(tmp_path: Path) -> None:
    gold, answers = files(tmp_path, [{"entities": {"PER": ["Ann", "Ann"]}}])
    assert counts(score(gold, answers, input="mentions", metrics="exact")) == (2, 0, 0)

    write(Path(answers), json.dumps({"id": "other", "entities": []}))
    write(Path(gold), json.dumps({"id": "one", "text": TEXT, "label": []}))
    with pytest.raises(CluevalError, match="gold has document 'one' where predicted has document 'other'"):
        score(gold, answers, input="mentions", metrics="exact")


def test_label_maps_apply_to_mentions_without_a_place(tmp_path: Path) -> None:
    result = score(
        *files(tmp_path, [answer("Ann", "Bob", label="PERSON")]),
        input="mentions",
        metrics="exact",
        predicted_map={"PERSON": "PER"},
    )

    assert counts(result) == (1, 1, 1)
    assert list(result.metrics["exact"]["label"]["per_label"]) == ["PER"]


def test_results_add_and_processes_agree(tmp_path: Path) -> None:
    for name, texts in (("a", ("Ann", "Bob")), ("b", ("Ann", "Ann", "Eve"))):
        (tmp_path / "gold").mkdir(exist_ok=True)
        (tmp_path / "answers").mkdir(exist_ok=True)
        gold, answers = files(tmp_path, [answer(*texts)])
        Path(gold).rename(tmp_path / "gold" / f"{name}.jsonl")
        Path(answers).rename(tmp_path / "answers" / f"{name}.jsonl")
    options: dict[str, Any] = {"input": "mentions", "metrics": ["exact", "muc"]}
    sides = str(tmp_path / "gold"), str(tmp_path / "answers")
    parts = [score(*(f"{side}/{name}.jsonl" for side in sides), **options) for name in ("a", "b")]

    whole = score(*sides, **options)
    assert score(*sides, **options, jobs=2).to_dict() == whole.to_dict()
    assert (parts[0] + parts[1]).metrics == whole.metrics
    assert len((parts[0] + parts[1]).unprojected or ()) == 2


@given(st.text(alphabet="aA e\u0308\u00eb\u1100\u1161\u11a8\u09c7\u09be\n\tß’", max_size=12))
def test_folding_by_pieces_gives_the_normal_form_of_the_whole(text: str) -> None:
    spaced = folded(text, ["space"])
    runs = " ".join(unicodedata.normalize("NFC", text).replace("\n", " ").replace("\t", " ").split(" "))

    assert spaced.text.split() == runs.split()
    assert len(spaced.text) == len(spaced.starts) == len(spaced.ends)


@given(st.text(alphabet="ab '", max_size=14), st.text(alphabet="ab '", min_size=1, max_size=3))
def test_occurrences_are_those_of_a_search_from_left_to_right(text: str, mention: str) -> None:
    def stands(start: int) -> bool:
        end = start + len(mention)
        before, after = text[start - 1 : start] if start else "", text[end : end + 1]
        return (
            text[start:end] == mention
            and not (before.isalnum() and mention[0].isalnum())
            and not (after.isalnum() and mention[-1].isalnum())
        )

    expected, at = [], 0
    while at <= len(text) - len(mention):
        if stands(at):
            expected.append((at, at + len(mention)))
            at += len(mention)
        else:
            at += 1

    assert Occurrences(text, ()).of(mention) == expected


def test_strings_need_no_place(tmp_path: Path) -> None:
    result = score(
        *files(tmp_path, [answer("Ann", "Ann", "Ann", "Bob")]), input="mentions", metrics="strings"
    )
    assert counts(result, "strings") == (2, 2, 0)

    inside = files(tmp_path, [answer("nne")], gold=[(16, 19, "PER")])
    assert counts(score(*inside, input="mentions", metrics="strings"), "strings") == (1, 0, 0)
    assert counts(score(*inside, input="mentions", metrics="exact")) == (0, 1, 1)
