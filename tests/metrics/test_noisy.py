"""Scores where the texts differ: Nerval's README, its published tool as oracle, and laws that must hold.

The oracle is `teklia-nerval`. It agrees wherever it takes the same one of several minimal alignments, so each
disagreement must vanish when ours is replaced by the one that it took. It is asked about what it can read and
reads as its README says: no hyphen, no ``§``, at most 256 characters, and no nested span that is followed by
an ``O`` or that holds spans of two labels (the blank after the first is counted as part of the containing
span; the second ends it).
"""

from __future__ import annotations

import importlib
import logging
import random
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import chdir
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.cli import main
from clueval.core.alignment import Alignment, Step, align
from clueval.core.document import Document, Pair, Sentence
from clueval.core.metric import Tally
from clueval.core.span import Span
from clueval.files.errors import CluevalError, FileError, FormatError, TagError, UsageError
from clueval.files.opening import lines as lines_of
from clueval.formats.input_file import InputFile
from clueval.formats.nerval import read_mapping, read_nerval
from clueval.formats.options import FormatOptions
from clueval.metrics import noisy
from clueval.metrics.noisy import Explanation, Noisy
from clueval.reports.forms import table_lines
from clueval.results import tables
from tests.scoring import scored

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

HUGO = ["Hugone B-PERS", "Montiniaci I-PERS", "domino I-PERS"]
HUGO_READ = ["Hugone B-PERS", "Montiniaci I-PERS", "domino O"]
TOLKIEN = ["Tolkien B-PER", "was O", "a O", "writer B-OCC", ". O"]
TOLKIEN_READ = ["Tolkieene B-PER", "xas O", "writear B-OCC", ",. O"]
LOUIS = [
    *("Louis B-PER", "par I-PER", "la I-PER", "grâce I-PER", "de I-PER", "Dieu I-PER", "roy I-PER"),
    *("de I-PER", "France B-LOC", "et I-PER", "de I-PER", "Navarre B-LOC", ". O"),
]


def document(lines: Sequence[str], **settings: Any) -> Document:
    """The document of a file with these lines."""
    return read_and_repaired(lines, **settings)[0]


def read_and_repaired(lines: Sequence[str], **settings: Any) -> tuple[Document, int]:
    """The document of a file with these lines, and how many of its tags continue no span."""
    with TemporaryDirectory() as folder, chdir(folder):
        file = InputFile(Path("gold.bio"))
        file.path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return read_nerval(file, FormatOptions(**settings)), file.repaired["label"]


def pair_of(gold: tuple[str, Sequence[Span]], predicted: tuple[str, Sequence[Span]]) -> Pair:
    """The texts and their spans, as documents of characters."""
    return Pair(
        *(Document("1", {"label": spans}, text=text, unit="character") for text, spans in (gold, predicted))
    )


def as_pair(gold: Sequence[str], predicted: Sequence[str]) -> Pair:
    return pair_of(*((read.text or "", read.layers["label"]) for read in map(document, (gold, predicted))))


def entities(lines: Sequence[str]) -> list[tuple[str, str]]:
    read = document(lines)
    return [(span.label, read.text_of(span)) for span in read.layers["label"]]


def count(gold: Sequence[str], predicted: Sequence[str], threshold: float = 0.30) -> Tally:
    return Noisy(threshold).count_documents([as_pair(gold, predicted)], "label", {})


def score(gold: Sequence[str], predicted: Sequence[str], threshold: float = 0.30) -> dict[str, Any]:
    return Noisy().scores(count(gold, predicted, threshold), ["label"])


def explain(gold: Sequence[str], predicted: Sequence[str], threshold: float = 0.30) -> list[Explanation]:
    return list(Noisy(threshold).explain(as_pair(gold, predicted), "label"))


# Noisy documents


LETTERS = "abcdefghijklmnopqrstuvwxyzäöüßé"
LABELS = ("PER", "LOC", "ORG")


def noisy_pair(seed: int) -> tuple[list[str], list[str]]:
    """The lines of a document and of a noisy reading of it, in one of the three schemes."""
    rng = random.Random(seed)
    noise, mistakes = rng.choice((0.02, 0.1, 0.2, 0.3)), rng.choice((0.0, 0.1, 0.3))
    words = ["".join(rng.choices(LETTERS, k=rng.randint(1, 8))) for _ in range(rng.choice((3, 15, 60)))]
    spans = list(_random_spans(len(words), rng))
    tags = _tags(len(words), spans, rng.choice(("BIIB", "BIES", "BILU")))
    found = [_mistaken(*span, len(words), rng) if rng.random() < mistakes else span for span in spans]
    read = [
        (_read(word, noise, rng), tag)
        for word, tag in zip(words, _tags(len(words), found, "BIIB"), strict=True)
        if rng.random() > noise / 4
    ]
    return (
        [f"{word} {tag}" for word, tag in zip(words, tags, strict=True)],
        [f"{word} {tag}" for word, tag in _well_formed(read)] or ["x O"],
    )


def _random_spans(words: int, rng: random.Random) -> Iterator[tuple[int, int, str]]:
    start = rng.randint(0, 3)
    while start < words:
        end = min(words, start + rng.randint(1, 4))
        yield start, end, rng.choice(LABELS)
        start = end + rng.choice((0, 0, 1, 2, 5))


def _mistaken(start: int, end: int, label: str, words: int, rng: random.Random) -> tuple[int, int, str]:
    return rng.choice(
        (
            (start, min(end + 1, words), label),
            (start, max(end - 1, start + 1), label),
            (start, end, rng.choice(LABELS)),
            (start, start, label),  # not found
        )
    )


def _tags(words: int, spans: Sequence[tuple[int, int, str]], prefixes: str) -> list[str]:
    first, inside, last, alone = list(prefixes)
    tags = ["O"] * words
    for start, end, label in spans:
        if end - start == 1:
            tags[start] = f"{alone}-{label}"
        elif start < end:
            inner = [inside] * (end - start - 2)
            tags[start:end] = [f"{prefix}-{label}" for prefix in (first, *inner, last)]
    return tags


def _read(word: str, noise: float, rng: random.Random) -> str:
    def read(letter: str) -> str:
        return rng.choice(("", letter * 2, rng.choice(LETTERS))) if rng.random() < noise else letter

    return "".join(map(read, word)) or "x"


def _well_formed(tokens: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The tokens with a B where a span would begin with an I, as the tool's counts are undefined there."""
    open_label = ""
    for word, tag in tokens:
        prefix, _, label = tag.partition("-")
        yield word, f"B-{label}" if prefix == "I" and label != open_label else tag
        open_label = label


pairs = st.integers(0, 10**6).map(noisy_pair)


# The examples of the README


@pytest.mark.parametrize(("threshold", "matched"), [(0.30, 1), (0.292, 1), (7 / 24, 1), (0.291, 0), (0, 0)])
def test_seven_of_24_characters_are_accepted_at_030_and_refused_below_their_share(
    threshold: float, matched: int
) -> None:
    (only,) = explain(HUGO, HUGO_READ, threshold)

    assert (only.distance, len(only.gold_text)) == (7, 24)
    assert only.matched == bool(matched)
    assert score(HUGO, HUGO_READ, threshold)["ALL"]["matched"] == matched


def test_readme_example_has_scores_of_one() -> None:
    perfect = {"predicted": 1, "matched": 1, "gold": 1, "precision": 1.0, "recall": 1.0, "f1": 1.0}
    report = score(TOLKIEN, TOLKIEN_READ)

    assert report["per_label"] == {"OCC": perfect, "PER": perfect}
    assert report["ALL"] == perfect | {"predicted": 2, "matched": 2, "gold": 2}
    assert [one.error_rate for one in explain(TOLKIEN, TOLKIEN_READ)] == [2 / 7, 1 / 6]


@pytest.mark.parametrize(
    ("predicted", "taken"),
    [([(4, 15)], 4), ([(14, 28)], 14), ([(4, 15), (19, 23)], 4), ([(7, 8), (9, 23)], 7)],
)
def test_readme_situations_are_paired_as_drawn(predicted: list[tuple[int, int]], taken: int) -> None:
    text = "abcdefghijklmnopqrstuvwxyzäöüß"
    sides = pair_of((text, [Span(7, 24, "PER")]), (text, [Span(*each, "PER") for each in predicted]))

    (only,) = Noisy().explain(sides, "label")

    assert only.predicted is not None
    assert only.predicted.start == taken


def test_readme_tags_stand_above_the_columns_that_nerval_prints() -> None:
    expected = "PPPPPPPPPOOOOOOOCCCCCCCOOO"
    gold, predicted = document(TOLKIEN), document(TOLKIEN_READ)
    alignment = align(gold.text or "", predicted.text or "")

    for read, column_of in (
        (gold, alignment.column_of_gold),
        (predicted, alignment.column_of_predicted),
    ):
        tags = ["O"] * alignment.columns
        for span in read.layers["label"]:
            first, last = column_of(span.start), column_of(span.end)
            tags[first:last] = ["P" if span.label == "PER" else "C"] * (last - first)
        assert "".join(tags) == expected


def test_readme_nested_spans_are_found() -> None:
    assert entities(LOUIS) == [
        ("PER", "Louis par la grâce de Dieu roy de France et de"),
        ("LOC", "France"),
        ("LOC", "Navarre"),
    ]


# Reading


class TestReading:
    def test_the_text_is_the_words_joined_by_single_blanks_over_sentences(self) -> None:
        read, repaired = read_and_repaired(
            ["Der O", "Rat B-ORG", "", "  ", "der I-ORG", "Stadt\tO", "tagt  O", ""]
        )

        assert read.text == "Der Rat der Stadt tagt"
        assert read.unit == "character"
        assert read.sentences == [Sentence(0, 7), Sentence(8, 22)]
        assert read.layers == {"label": [Span(4, 11, "ORG")]}
        assert (read.layers["label"][0].line, read.file, read.id, repaired) == (2, "gold.bio", "1", 0)

    @pytest.mark.parametrize("tags", ["B I I B O", "B I E S O", "B I L U O", "S I E U O"])
    def test_the_schemes_are_read_alike(self, tags: str) -> None:
        lines = [f"w {tag}-X" if tag != "O" else "w O" for tag in tags.split()]

        assert entities(lines) == [("X", "w w w"), ("X", "w")]

    @pytest.mark.parametrize(
        ("tags", "expected"),
        [
            ("B-P B-L I-P", [("P", "a b c"), ("L", "b")]),
            ("B-P B-L O I-P", [("P", "a"), ("L", "b")]),
            ("B-P B-L I-L I-P I-P", [("P", "a b c d e"), ("L", "b c")]),
            ("B-P B-L B-L I-P B-P", [("P", "a b c d"), ("L", "b"), ("L", "c"), ("P", "e")]),
            ("B-P B-L E-P B-L L-P", [("P", "a b c d e"), ("L", "b"), ("L", "d")]),
            ("B-P B-L B-G I-P", [("P", "a b c d"), ("L", "b"), ("G", "c")]),
            ("B-P B-L B-P I-P", [("P", "a"), ("L", "b"), ("P", "c d")]),
            ("B-P I-L I-P", [("P", "a b c")]),
        ],
    )
    def test_a_span_goes_on_over_other_labels_until_an_o(
        self, tags: str, expected: list[tuple[str, str]]
    ) -> None:
        lines = [f"{word} {tag}" for word, tag in zip("abcdef", tags.split(), strict=False)]

        assert entities(lines) == expected

    def test_a_tag_that_continues_nothing_is_counted_and_opens_nothing(self) -> None:
        lines = ["a I-PER", "b O", "", "c B-LOC", "d E-PER", "e O", "f L-LOC"]
        read, repaired = read_and_repaired(lines)

        assert read.layers == {"label": [Span(4, 5, "LOC")]}
        assert repaired == 3

    def test_tag_that_continues_nothing_can_be_made_an_error(self) -> None:
        with pytest.raises(TagError) as refusal:
            document(["a O", "b I-PER"], invalid="error")

        assert str(refusal.value) == "gold.bio:2: tag 'I-PER' continues no span (begin a span with B-)"
        with pytest.raises(UsageError, match="'mend'"):
            document(["a O"], invalid="mend")

    def test_any_character_may_stand_in_a_word(self) -> None:
        assert document(["§ O", "a-b O", "10\u00a0000 O", "東京 B-LOC", "e\u0301 O", "# O"]).text == (
            "§ a-b 10\u00a0000 東京 e\u0301 #"
        )

    @pytest.mark.parametrize(
        ("lines", "message"),
        [
            ([], "gold.bio:1: the file has no tokens"),
            (["", " \t"], "gold.bio:1: the file has no tokens"),
            (["a O", "Frau"], "gold.bio:2: the line has 1 field instead of 2"),
            (["a O", "", "Frau Anna B-PER"], "gold.bio:3: the line has 3 fields instead of 2"),
            (["a O", " B-PER"], "gold.bio:2: the line has 1 field instead of 2"),
            (["a\tx O"], "gold.bio:1: the line has 3 fields instead of 2"),
            (["a O", "", "b X-PER"], "gold.bio:3: 'X-PER' is not a tag"),
            (["a PER"], "gold.bio:1: 'PER' is not a tag"),
            (["a O", "b B-"], "gold.bio:2: 'B-' is not a tag"),
            (["a O-PER"], "gold.bio:1: 'O-PER' is not a tag"),
        ],
    )
    def test_line_without_a_token_and_a_tag_is_one_error_with_file_and_line(
        self, lines: list[str], message: str
    ) -> None:
        with pytest.raises(FormatError) as refusal:
            document(lines)

        assert str(refusal.value).startswith(f"{message} (")
        assert "\n" not in str(refusal.value)
        assert "Frau" not in str(refusal.value)


class TestMapping:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        for name in ("a.bio", "b.bio", "deep/c.bio", "deep/twice.bio", "twice/twice.bio"):
            path = tmp_path / "files" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("Anna B-PER\n", encoding="utf-8")
        return tmp_path / "files"

    def pairs(self, folder: Path, text: str) -> list[tuple[str, ...]]:
        table = folder.parent / "mapping.csv"
        table.write_text(text, encoding="utf-8")
        return [
            tuple(path.relative_to(folder).as_posix() for path in pair)
            for pair in read_mapping(table, folder)
        ]

    def test_rows_are_pairs_of_files_by_path_or_by_bare_name(self, folder: Path) -> None:
        text = '\ufeffAnnotation,Prediction\r\nb.bio,a.bio\r\n\r\n"c.bio",deep/twice.bio\r\n'

        assert self.pairs(folder, text) == [("b.bio", "a.bio"), ("deep/c.bio", "deep/twice.bio")]

    @pytest.mark.parametrize(
        ("text", "kind", "message"),
        [
            ("gold,predicted\na.bio,b.bio\n", FormatError, ":1: the header is 'gold,predicted' (expected"),
            ("", FormatError, ":1: the header is '' (expected Annotation,Prediction)"),
            ("Annotation,Prediction\n", FormatError, ":1: the table names no pair of files"),
            (
                "Annotation,Prediction\na.bio,b.bio\na.bio\n",
                FormatError,
                ":3: the row has 1 name instead of 2",
            ),
            ("Annotation,Prediction\na.bio,\n", FormatError, ":2: the row has 1 name instead of 2"),
            ("Annotation,Prediction\na.bio,x.bio\n", FileError, ":2: the file 'x.bio' is not in "),
            ("Annotation,Prediction\na.bio,twice.bio\n", FileError, ":2: several files below "),
        ],
    )
    def test_row_that_names_no_pair_is_one_error_with_the_line(
        self, folder: Path, text: str, kind: type[CluevalError], message: str
    ) -> None:
        with pytest.raises(kind) as refusal:
            self.pairs(folder, text)

        assert f"mapping.csv{message}" in str(refusal.value)
        assert "\n" not in str(refusal.value)

    def test_a_table_or_folder_that_is_not_there_is_one_error(self, folder: Path) -> None:
        for table, place in [(folder / "no.csv", folder), (folder / "a.bio", folder / "no")]:
            with pytest.raises(FileError):
                read_mapping(table, place)


# Rules


def test_a_span_is_taken_even_if_it_does_not_match() -> None:
    found = explain(["aaaa B-X", "bbbb B-X"], ["aaaa B-X", "bbbb I-X"])

    assert [(one.predicted_text, one.matched) for one in found] == [("aaaa bbbb", False), ("", False)]


def test_only_the_same_label_is_a_counterpart() -> None:
    (only,) = explain(["Wien B-LOC"], ["Wien B-PER"])

    assert (only.predicted, only.predicted_text, only.opposite) == (None, "", "Wien")
    assert (only.distance, only.matched) == (4, False)


@pytest.mark.parametrize(
    ("gold", "predicted", "found"), [("abz", "abqqz", Span(2, 4, "X")), ("ab", "abqq", None)]
)
def test_text_that_only_the_prediction_has_after_a_span_is_opposite_to_it_save_at_the_end(
    gold: str, predicted: str, found: Span | None
) -> None:
    sides = pair_of((gold, [Span(0, 2, "X")]), (predicted, [Span(2, 4, "X")]))

    assert [one.predicted for one in Noisy().explain(sides, "label")] == [found]


def test_spans_without_text_are_counted_and_match_nothing() -> None:
    sides = pair_of(("ab", [Span(1, 1, "X")]), ("ab", [Span(1, 1, "X")]))
    report = Noisy(1).scores(Noisy(1).count_documents([sides], "label", {}), ["label"])

    assert (report["ALL"]["gold"], report["ALL"]["matched"]) == (1, 0)
    assert [one.error_rate for one in Noisy(1).explain(sides, "label")] == [None]


def test_tokens_are_a_text_too() -> None:
    gold = Document("1", {"label": [Span(11, 13, "PER")]}, tokens=["Frau", "Anna", "Weiß"], start=10)
    predicted = Document("1", {"label": [Span(5, 13, "PER")]}, text="Frau Ana Weiß", unit="character")

    found = Noisy().explain(Pair(gold, predicted), "label")

    assert [(one.gold_text, one.distance) for one in found] == [("Anna Weiß", 1)]


def test_rates_over_nothing_are_undefined_and_not_zero() -> None:
    report = score(["Wien B-LOC"], ["Wien B-PER"])

    assert report["per_label"] == {
        "LOC": {"predicted": 0, "matched": 0, "gold": 1, "precision": None, "recall": 0.0, "f1": None},
        "PER": {"predicted": 1, "matched": 0, "gold": 0, "precision": 0.0, "recall": None, "f1": None},
    }
    assert Noisy().scores(Tally(), ["label"])["file_mean"]["documents"] == 0


def test_the_mean_is_over_documents_whose_rate_is_defined() -> None:
    total = count(["a B-X"], ["a O"]) + count(["a B-X"], ["a B-X"]) + count(["a O"], ["a O"])

    assert Noisy().scores(total, ["label"])["file_mean"] == {
        "precision": 1.0,
        "recall": 0.5,
        "f1": 1.0,
        "documents": 3,
        "documents_with_precision": 1,
        "documents_with_recall": 2,
        "documents_with_f1": 1,
    }


def test_hyphens_and_section_signs_are_ordinary_characters() -> None:
    gold = ["§ B-LAW", "823 I-LAW", "BGB I-LAW", "Meier-Müller B-PER", "- O"]
    predicted = ["§- B-LAW", "823 I-LAW", "BGB I-LAW", "Meier§Müller B-PER", "-- O"]

    assert [one.distance for one in explain(gold, predicted)] == [1, 1]


@pytest.mark.parametrize("text", ["東京都知事", "محمد علي", "e\u0301le\u0300ve"])
def test_texts_of_any_script_are_matched(text: str) -> None:
    gold = [f"{word} B-X" for word in text.split()]
    predicted = [f"{word[:-1]}x B-X" for word in text.split()]

    assert [one.distance for one in explain(gold, predicted)] == [1] * len(gold)


@given(st.lists(pairs, max_size=5), st.randoms())
def test_documents_may_be_counted_in_any_order_and_the_mean_is_exact(
    documents: list[tuple[list[str], list[str]]], rng: random.Random
) -> None:
    tallies = [count(*pair) for pair in documents]
    report = Noisy().scores(sum(tallies, Tally()), ["label"])
    recalls = [
        Fraction(all_of["matched"], all_of["gold"])
        for tally in tallies
        if (all_of := Noisy().scores(tally, ["label"])["ALL"])["gold"]
    ]
    rng.shuffle(tallies)

    assert Noisy().scores(sum(tallies, Tally()), ["label"]) == report
    assert report["file_mean"]["documents_with_recall"] == len(recalls)
    if recalls:
        assert report["file_mean"]["recall"] == pytest.approx(float(sum(recalls) / len(recalls)))


class TestLaws:
    @given(pairs)
    def test_the_explanation_is_what_is_counted(self, pair: tuple[list[str], list[str]]) -> None:
        found = explain(*pair)
        total = count(*pair)

        assert Counter(one.gold.label for one in found) == {
            k[1]: n for k, n in total.items() if k[0] == "gold"
        }
        assert Counter(one.gold.label for one in found if one.matched) == {
            key[1]: n for key, n in total.items() if key[0] == "matched"
        }
        taken = [one.predicted for one in found if one.predicted is not None]
        assert len(set(taken)) == len(taken)

    @given(st.data())
    def test_pairs_are_those_that_a_search_through_all_spans_finds(self, data: st.DataObject) -> None:
        texts = [data.draw(st.text("ab ", min_size=1, max_size=10)) for _ in range(2)]
        sides = []
        for text in texts:
            places = st.integers(0, len(text))
            ranges = data.draw(st.lists(st.tuples(places, places), max_size=6))
            spans = (Span(min(ends), max(ends), data.draw(st.sampled_from("XY"))) for ends in ranges)
            sides.append(sorted(spans, key=_position))
        pair = pair_of(*zip(texts, sides, strict=True))

        found = [one.predicted for one in Noisy().explain(pair, "label")]

        assert found == _searched(sides[0], sides[1], align(texts[0], texts[1]))


def _position(span: Span) -> tuple[int, int]:
    return span.start, span.end


def _searched(gold: Sequence[Span], predicted: Sequence[Span], alignment: Alignment) -> list[Span | None]:
    """The counterpart of each gold span, by the words of the definition."""
    left = list(predicted)
    found: list[Span | None] = []
    for one in gold:
        own = set(range(alignment.column_of_gold(one.start), alignment.column_of_gold(one.end)))
        partner = None
        for other in left:
            columns = range(
                alignment.column_of_predicted(other.start), alignment.column_of_predicted(other.end)
            )
            if len(one) and len(other) and one.label == other.label and own & set(columns):
                partner = other
                break
        if partner is not None:
            del left[next(number for number, other in enumerate(left) if other is partner)]
        found.append(partner)
    return found


# The published tool


@pytest.fixture(scope="module")
def oracle() -> ModuleType:
    """The published tool's evaluation; importing it sets up logging, which is undone."""
    pytest.importorskip("nerval")
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        evaluation = importlib.import_module("nerval.evaluate")
    root.handlers[:] = handlers
    root.setLevel(level)
    return evaluation


Counts = dict[str, tuple[int, int, int]]


def of_oracle(oracle: ModuleType, gold: Sequence[str], predicted: Sequence[str], threshold: float) -> Counts:
    """Predicted, matched and gold spans of each label and of ALL."""
    scores = oracle.evaluate(oracle.parse_bio(gold), oracle.parse_bio(predicted), threshold)
    return {
        label: (entry["predicted"] or 0, entry["matched"], entry["Support"] or 0)
        for label, entry in scores.items()
    }


def of_ours(gold: Sequence[str], predicted: Sequence[str], threshold: float) -> Counts:
    report = score(gold, predicted, threshold)
    return {
        label: (entry["predicted"], entry["matched"], entry["gold"])
        for label, entry in {**report["per_label"], "ALL": report["ALL"]}.items()
    }


def alignment_of_oracle(oracle: ModuleType, gold: str, predicted: str) -> Alignment:
    """The alignment that the published tool takes, from the path that edlib gives."""
    path = oracle.edlib.align(gold, predicted, task="path")["cigar"]
    kinds = {"=": "equal", "X": "replace", "I": "delete", "D": "insert"}
    steps: list[Step] = []
    own = other = 0
    width = ""
    for character in path:
        if character.isdigit():
            width += character
            continue
        n, kind = int(width), kinds[character]
        own_end, other_end = own + n * (kind != "insert"), other + n * (kind != "delete")
        steps.append((kind, own, own_end, other, other_end))
        own, other, width = own_end, other_end, ""
    return Alignment(gold, predicted, steps)


def disagreements(oracle: ModuleType, seeds: Sequence[int], monkeypatch: pytest.MonkeyPatch) -> int:
    """How often the counts differ; fails where the tool's alignment is not as good or does not explain it."""
    different = 0
    for seed in seeds:
        gold, predicted = noisy_pair(seed)
        threshold = (0.30, 0.0, 0.15, 1.0)[seed % 4]
        expected = of_oracle(oracle, gold, predicted, threshold)
        if of_ours(gold, predicted, threshold) == expected:
            continue
        different += 1

        def as_oracle(own: str, other: str, **_: object) -> Alignment:
            theirs = alignment_of_oracle(oracle, own, other)
            assert theirs.distance == align(own, other).distance
            return theirs

        with monkeypatch.context() as patch:
            patch.setattr(noisy, "align", as_oracle)
            assert of_ours(gold, predicted, threshold) == expected, f"seed {seed}"
    return different


class TestThePublishedTool:
    def test_nerval_counts_the_readme_as_clueval_does(self, oracle: ModuleType) -> None:
        for gold, predicted in [(HUGO, HUGO_READ), (TOLKIEN, TOLKIEN_READ), (LOUIS, LOUIS)]:
            for threshold in (0.3, 0.29, 0.28, 0.1, 0.0, 1.0):
                expected = of_oracle(oracle, gold, predicted, threshold)
                assert of_ours(gold, predicted, threshold) == expected

    def test_nerval_agrees_on_noisy_documents(
        self, oracle: ModuleType, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert disagreements(oracle, range(100), monkeypatch) == 0

    @pytest.mark.long
    def test_nerval_agrees_on_995_of_1000_noisy_documents_and_the_rest_is_another_minimal_alignment(
        self, oracle: ModuleType, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert disagreements(oracle, range(1_000, 4_000), monkeypatch) <= 15

    def test_nested_spans_are_counted_as_nerval_counts_them(self, oracle: ModuleType) -> None:
        rng = random.Random(3)
        for _ in range(50):
            predicted = [f"{_read(word, 0.2, rng)} {tag}" for word, tag in (line.split() for line in LOUIS)]
            assert of_ours(LOUIS, predicted, 0.3) == of_oracle(oracle, LOUIS, predicted, 0.3)

    def test_matches_can_change_with_another_minimal_alignment(
        self, oracle: ModuleType, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Of "ab" and "ba", either letter may stand opposite to its like; the spans are of one letter each."""
        text = ["ab", "ba"]
        pair = pair_of(*((each, [Span(each.index("a"), each.index("a") + 1, "X")]) for each in text))
        found = set()
        for steps in (
            [("delete", 0, 1, 0, 0), ("equal", 1, 2, 0, 1), ("insert", 2, 2, 1, 2)],
            [("insert", 0, 0, 0, 1), ("equal", 0, 1, 1, 2), ("delete", 1, 2, 2, 2)],
        ):
            alignment = Alignment(text[0], text[1], steps)
            assert alignment.distance == align(text[0], text[1]).distance
            with monkeypatch.context() as patch:
                patch.setattr(noisy, "align", lambda *_, taken=alignment, **__: taken)
                found.add(Noisy().count_documents([pair], "label", {})["matched", "X"])

        assert found == {0, 1}


# Settings and bad input


@pytest.mark.parametrize("threshold", [-0.01, 1.01, float("nan"), float("inf"), "0.3", True, None])
def test_a_threshold_outside_0_to_1_is_refused(threshold: Any) -> None:
    with pytest.raises(UsageError) as refusal:
        Noisy(threshold)

    assert str(refusal.value) == f"Noisy.threshold must be a number from 0 to 1, not {threshold!r}"


@pytest.mark.parametrize("limit", [0, -1, 1e9, "9", True])
def test_a_limit_that_is_no_number_of_cells_is_refused(limit: Any) -> None:
    with pytest.raises(UsageError, match="max_alignment must be"):
        Noisy(max_alignment=limit)


def test_the_limit_decides_no_score_and_does_not_enter_equality() -> None:
    assert Noisy(0.2, max_alignment=5) == Noisy(0.2)
    assert Noisy(0.2) != Noisy(0.3)


def test_a_document_that_is_too_long_is_an_error_that_names_it() -> None:
    with pytest.raises(UsageError, match=r"document '1': aligning 24 with 10 characters takes 240 cells"):
        Noisy(max_alignment=100).count_documents([as_pair(HUGO, ["0123456789 B-X"])], "label", {})


def test_a_side_without_a_text_is_an_error() -> None:
    bare = Document("1", {"label": [Span(0, 1, "X")]})

    with pytest.raises(UsageError, match="document '1': the document has no text to align"):
        Noisy().count_documents([Pair(bare, document(HUGO))], "label", {})


def test_a_discontinuous_span_is_refused() -> None:
    gap = Document("1", {"label": [Span.of_fragments([(0, 1), (2, 3)], "X")]}, text="a b", unit="character")

    with pytest.raises(
        UsageError, match=r"document '1': span \[0,3\) 'X' has gaps, and metric 'noisy' cannot"
    ):
        scored([gap], [gap], Noisy())


def test_filtered_spans_are_not_counted() -> None:
    found = as_pair(TOLKIEN, TOLKIEN_READ)
    report = scored([found.gold], [found.predicted], Noisy(), where={"label": ["PER"]})["label"]

    assert list(report["per_label"]) == ["PER"]
    assert report["ALL"]["matched"] == 1
    only = Noisy().explain(found, "label", {"label": frozenset(["PER"])})
    assert [one.gold.label for one in only] == ["PER"]


def test_a_filter_that_leaves_out_one_of_a_pair_is_refused() -> None:
    text = "Ann met Bob"
    sides = [
        Document("1", {"x": [Span(0, 3, {"x": "A"})], "kind": kinds}, text=text, unit="character")
        for kinds in ([Span(0, 3, {"kind": "in"})], [Span(0, 3, {"kind": "out"})])
    ]

    with pytest.raises(UsageError, match="only one of a pair"):
        Noisy().count_documents([Pair(*sides)], "x", {"kind": frozenset(["in"])})


# Reports


class TestReports:
    def test_scores_are_a_row_per_label_and_the_mean_is_named(self) -> None:
        found = tables.noisy("noisy, label", score(HUGO, HUGO_READ))
        shown = "\n".join(line for each in found for line in [*table_lines(each, 100), ""])

        assert [line.split() for line in shown.splitlines()] == [
            ["noisy,", "label,", "in", "%"],
            ["label", "predicted", "matched", "precision", "recall", "f1", "gold"],
            ["-" * 5, "-" * 9, "-" * 7, "-" * 9, "-" * 6, "-" * 6, "-" * 4],
            ["PERS", "1", "1", "100.00", "100.00", "100.00", "1"],
            ["ALL", "1", "1", "100.00", "100.00", "100.00", "1"],
            [],
            ["noisy,", "label:", "unweighted", "mean", "over", "documents,", "in", "%"],
            ["precision", "recall", "f1", "documents"],
            ["-" * 15, "-" * 9, "-" * 6, "-" * 6, "-" * 9],
            ["mean", "100.00", "100.00", "100.00", "1"],
            ["documents", "in", "it", "1", "1", "1", "1"],
        ]


# The benchmark


def test_the_benchmark_writes_what_both_tools_read_and_scores_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, oracle: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(BENCHMARKS)
    benchmark = importlib.import_module("noisy")
    mapping = benchmark.write(tmp_path, 2, 300, benchmark.Noise(), 1)
    assert main(["score", "--metric", "noisy", "--all", "--pairs", str(mapping), str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    totals: Counter[str] = Counter()
    for gold, predicted in read_mapping(mapping, tmp_path):
        lines = [[line for _, line in lines_of(path)] for path in (gold, predicted)]
        totals.update(
            dict(
                zip(
                    ("predicted", "matched", "gold"),
                    of_oracle(oracle, lines[0], lines[1], 0.3)["ALL"],
                    strict=True,
                )
            )
        )
    (row,) = (line.split() for line in shown.splitlines() if line.startswith("ALL"))

    assert [int(row[i]) for i in (1, 2, 6)] == [totals[key] for key in ("predicted", "matched", "gold")]
    assert totals["matched"] > 0
