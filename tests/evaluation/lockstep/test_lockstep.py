from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import patch

import pytest
from clueval.evaluation.lockstep.reader import Lockstep, Stretch
from corpora import Corpus, conll, tagged_corpora, vrt, write
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from readings import LEVELS, reading_of
from sizes import handed_in, passages_alone

from clueval import score
from clueval.evaluation.engine import Evaluation
from clueval.evaluation.lockstep import lockstep
from clueval.exceptions import CluevalError, TextMismatch
from clueval.formats.columns.passages import Passage
from clueval.formats.columns.sizes import Sizes
from clueval.reading.read_options import ReadOptions
from clueval.reading.source import source_of

METRICS = ["levels", "exact", "fair", "partial", "gate", "muc", "confusion"]


def in_step(*paths: Path, **options: Any) -> list[Stretch | tuple[Passage, Passage]]:
    """What two files hold when they are read in step; what holds at any time is checked after each item."""
    own, other = (source_of(path, ReadOptions(**options)) for path in paths)
    steps = lockstep(own, other, merge=False, by_document=False)
    found = []
    for item in steps:
        steps._check()
        found.append(item)
    return found


def tokens_in_stretches(*paths: Path, **options: Any) -> int:
    return sum(item.tokens for item in in_step(*paths, **options) if isinstance(item, Stretch))


@contextmanager
def small(size: int) -> Iterator[Sizes]:
    """Blocks of this number of bytes, and as many tag runs at a time."""
    sizes = Sizes(block=size, look=size, look_on=size, runs=size)
    with handed_in(sizes):
        yield sizes


def outcome(*paths: Path, **options: Any) -> object:
    """The counts and scores, also of units and values, or the error."""
    try:
        result = score(*paths, **options)
    except CluevalError as error:
        return str(error)
    assert result.counted is not None
    assert result.counted.units is not None
    units = [
        (*unit[:3], {place: +tally for place, tally in unit.tallies.items() if +tally})
        for unit in result.counted.units.units
    ]
    return result.documents, result.tokens, result.repaired_tags, result.metrics, result.groups, units


GOLD = "<text id='1'>\n<s>\nw\tO\n</s>\n<s>\na\tO\nb\tB-X\nc\tO\nd\tB-Y\ne\tI-Y\nf\tO\ng\tO\n</s>\n</text>\n"
PREDICTED = GOLD.replace("e\tI-Y", "e\tO")


class TestExampleOfTheDocstring:
    @pytest.fixture
    def stretches(self, tmp_path: Path) -> list[Stretch]:
        paths = write(tmp_path / "g.vrt", GOLD), write(tmp_path / "p.vrt", PREDICTED)
        return [item for item in in_step(*paths) if isinstance(item, Stretch)]

    def test_example_gives_the_counts_that_the_docstring_names(self, tmp_path: Path) -> None:
        paths = write(tmp_path / "g.vrt", GOLD), write(tmp_path / "p.vrt", PREDICTED)

        result = score(*paths, metrics=["levels", "exact"])

        classes = result.metrics["levels"]["label"]["classes"]
        assert (result.tokens, classes["gold"]["exact"], classes["predicted"]["exact"]) == (8, 1, 1)
        assert result.metrics["exact"]["label"]["token_accuracy"] == 7 / 8

    def test_sentences_after_the_first_are_a_stretch(self, stretches: list[Stretch]) -> None:
        assert [(stretch.documents, stretch.tokens) for stretch in stretches] == [(0, 7), (0, 0)]

    def test_stretch_compares_only_lines_in_hunks(self, stretches: list[Stretch]) -> None:
        (tag_runs, rest) = stretches[-1].columns

        assert tag_runs.same == {"label": ["B-X"]}
        assert tag_runs.disputed == ({"label": ["B-Y", "I-Y"]}, {"label": ["B-Y", "O"]})
        assert (tag_runs.tokens, rest.tokens) == (2, 5)


def unbroken(corpus: Corpus) -> str:
    """Documents without sentences."""
    return "".join(line for line in vrt(corpus).splitlines(True) if line not in ("<s>\n", "</s>\n"))


def with_ids(text: str, place: int, ids: Callable[[int, int], int]) -> str:
    """A column more, by the number of the document and that of the token in it."""
    document = row = 0
    lines = []
    for line in text.splitlines():
        if line.startswith(("<text", "-DOCSTART-")):
            document, row = document + 1, 0
        fields = line.split("\t")
        if len(fields) == 2:
            row += 1
            fields.insert(place, str(ids(document, row)))
        lines.append("\t".join(fields))
    return "\n".join([*lines, ""])


class TestSpanThatCrossesEveryLine:
    """Nowhere can the files be cut; so the lines are read as passages."""

    @pytest.mark.parametrize("size", [1, 7, 40, 200, 5000])
    @pytest.mark.parametrize(
        ("name", "head", "between", "foot"),
        [("a.vrt", "<text>\n", "", "</text>\n"), ("a.vrt", "<text>\n<s>\n", "</s>\n<s>\n", "</s>\n</text>\n"),
         ("a.conll", "", "\n", ""), ("a.conll", "-DOCSTART-\n\n", "\n", "\n")],
    )  # fmt: skip
    def test_span_across_all_lines_is_counted_as_in_passages(
        self, tmp_path: Path, name: str, head: str, between: str, foot: str, size: int
    ) -> None:
        sides = ["B-X", *["I-X"] * 99], ["B-X", "B-Y"] * 50
        paths = []
        for number, tags in enumerate(sides):
            lines = "".join(f"w{n}\t{tag}\n" for n, tag in enumerate(tags))
            parts = between.join([lines, "w\tO\n", lines]) if between else lines
            paths.append(write(tmp_path / f"{number}{name}", head + parts + foot))

        with small(size):
            with passages_alone():
                expected = outcome(*paths, metrics=METRICS)
            assert outcome(*paths, metrics=METRICS) == expected

    def test_lines_after_the_span_are_regular_again(self, tmp_path: Path) -> None:
        rows = [("w", "B-X"), *[("w", "I-X")] * 99, *[("w", "O"), ("w", "B-Y"), ("w", "O")] * 100]
        path = write(tmp_path / "a.vrt", unbroken([[rows]]))

        with small(100) as sizes:
            assert tokens_in_stretches(path, path, sizes=sizes) > 200

    @pytest.mark.parametrize("line", ["", "<g/>", "# x", "</s>", "x", "w\tO\tO"])
    @pytest.mark.parametrize("side", [0, 1])
    @pytest.mark.parametrize("place", [1, 50, 100])
    def test_irregular_line_in_a_span_that_crosses_every_line_has_the_outcome_of_passages(
        self, tmp_path: Path, line: str, side: int, place: int
    ) -> None:
        for name in ("a.vrt", "a.conll"):
            paths = []
            for number, tag in enumerate(("I-X", "B-Y")):
                lines = ["w\tB-X", *[f"w\t{tag}"] * 99]
                if number == side:
                    lines.insert(place, line)
                paths.append(write(tmp_path / f"{number}{name}", "\n".join([*lines, ""])))

            with small(40):
                with passages_alone():
                    expected = outcome(*paths)
                assert outcome(*paths) == expected


class TestRegularPieces:
    CORPUS: ClassVar[Corpus] = [
        [[("a", "O"), ("b", "B-X")], [("c", "O")]],
        [[("d", "I-X")]],
        [[("e", "O")]] * 3,
    ]

    @pytest.mark.parametrize(
        ("name", "form"), [("a.vrt", vrt), ("a.conll", conll), ("b.conll", lambda corpus: conll(corpus, " "))]
    )
    def test_ordinary_files_are_regular_after_the_lines_that_determine_the_layout(
        self, tmp_path: Path, name: str, form: Any
    ) -> None:
        path = write(tmp_path / name, form(self.CORPUS))

        assert tokens_in_stretches(path, path) >= 3

    def test_documents_without_sentences_are_regular(self, tmp_path: Path) -> None:
        path = write(tmp_path / "f.vrt", unbroken(self.CORPUS))

        assert tokens_in_stretches(path, path) == 4

    def test_document_longer_than_a_block_is_regular(self, tmp_path: Path) -> None:
        rows = [("w", "B-X"), ("w", "I-X"), ("w", "O"), ("w", "I-Y")] * 500
        gold = write(tmp_path / "g.vrt", unbroken([[rows]]))
        predicted = write(tmp_path / "p.vrt", unbroken([[[*rows[:-1], ("w", "O")]]]))

        with small(400) as sizes:
            assert tokens_in_stretches(gold, predicted, sizes=sizes) > 1900
            found = outcome(gold, predicted, metrics=METRICS)
        with passages_alone():
            assert found == outcome(gold, predicted, metrics=METRICS)

    def test_files_with_crlf_are_regular(self, tmp_path: Path) -> None:
        gold = write(tmp_path / "g.vrt", vrt(self.CORPUS).replace("\n", "\r\n"))
        predicted = write(tmp_path / "p.vrt", vrt(self.CORPUS))

        assert tokens_in_stretches(gold, predicted) >= 3
        assert outcome(gold, predicted) == outcome(predicted, predicted)

    @pytest.mark.parametrize("labels", [5, 20, 125, 300])
    def test_sentences_that_differ_in_most_lines_are_regular_with_any_number_of_labels(
        self, tmp_path: Path, labels: int
    ) -> None:
        gold = [("w", f"{prefix}-{n}") for n in range(labels) for prefix in "BIO"]
        predicted = [("w", f"{prefix}-{n}") for n in range(labels) for prefix in "IBI"]
        for name, form in (("vrt", vrt), ("conll", conll)):
            paths = [
                write(tmp_path / f"{number}.{name}", form([[[("w", "O")], rows, rows[::-1], rows]]))
                for number, rows in enumerate((_legal(gold), _legal(predicted)))
            ]

            assert tokens_in_stretches(*paths) >= 3 * labels
            found = outcome(*paths, metrics=METRICS)
            with passages_alone():
                assert found == outcome(*paths, metrics=METRICS)

    def test_files_with_other_columns_after_the_tags_are_regular(self, tmp_path: Path) -> None:
        path = write(tmp_path / "f.vrt", vrt(self.CORPUS).replace("\tO", "\tO\tX").replace("-X", "-X\tO"))

        assert tokens_in_stretches(path, path, layers={"entity": 2}) == 5

    @pytest.mark.parametrize(
        "line",
        ["<p>", "</p>", "<g/>", "", " ", "<!-- -->", "<s>", "</s>", "</text>", "<text>", "<s id=1>", "<", "x",
         "x\tO\tO", "\tO", "x<s>", "x\tO</s>", "<x\tO", '<s id="1"', "x\tO\r", "x\tO\0", "</text>\n<text id='1'>"],
    )  # fmt: skip
    @pytest.mark.parametrize("place", [3, 4, 6, 7, 8, 9])
    def test_irregular_line_in_vrt_has_the_outcome_of_passages(
        self, tmp_path: Path, line: str, place: int
    ) -> None:
        lines = vrt(self.CORPUS).split("\n")
        text = "\n".join([*lines[:place], line, *lines[place:]])
        gold, same = write(tmp_path / "g.vrt", text), write(tmp_path / "p.vrt", text)
        other = write(tmp_path / "o.vrt", vrt(self.CORPUS))

        for predicted in (same, other):
            with passages_alone():
                expected = outcome(gold, predicted)
            assert outcome(gold, predicted) == expected

    @pytest.mark.parametrize(
        "line", ["", " ", "\t", "#", "# x", "#\tO", "-DOCSTART-", "-DOCSTART-\tO", "-DOCSTART-\n", "x", "x\tO\tO",
                 "\tO", " \tO", "x\tO\r", "x\tO\0", "# newdoc id = 7", "# sent_id = 7", "-DOCSTART-x\tO\n"],
    )  # fmt: skip
    @pytest.mark.parametrize("place", [1, 2, 4, 5, 6, 7])
    def test_irregular_line_in_conll_has_the_outcome_of_passages(
        self, tmp_path: Path, line: str, place: int
    ) -> None:
        lines = conll(self.CORPUS).split("\n")
        text = "\n".join([*lines[:place], line, *lines[place:]])
        gold, same = write(tmp_path / "g.conll", text), write(tmp_path / "p.conll", text)
        other = write(tmp_path / "o.conll", conll(self.CORPUS))

        for predicted in (same, other):
            with passages_alone():
                expected = outcome(gold, predicted)
            assert outcome(gold, predicted) == expected

    @pytest.mark.parametrize(
        ("own", "other"),
        [("e\tO", "f\tO"), ("e\tO", "e\t"), ("e\tO", "e\tX-Y"), ("e\tO", "e\tB-\xff"), ("e\tO", "e\tB-X\tO"),
         ("e\tO", "e"), ("e\tB-&amp;", "e\tB-&#38;"), ("&amp;\tO", "&#38;\tB-X"), ("e\tB-&lt;", "e\tI-&lt;"),
         ("e\tO\nf\tO", "e\tO\tf\nO"), ("e\tO\nf\tB-X", "e\tB-X\tf\nB-X"), ("e\tO", "e\tB-X\0")],
    )  # fmt: skip
    def test_lines_that_differ_have_the_outcome_of_passages(
        self, tmp_path: Path, own: str, other: str
    ) -> None:
        text = vrt(self.CORPUS)
        gold = write(tmp_path / "g.vrt", text.replace("e\tO", own))
        predicted = tmp_path / "p.vrt"
        predicted.write_bytes(text.replace("e\tO", other).encode("latin-1"))

        with passages_alone():
            expected = outcome(gold, predicted)
        assert outcome(gold, predicted) == expected

    def test_bad_tag_in_one_of_several_merged_layers_is_found(self, tmp_path: Path) -> None:
        text = "a\tO\tO\nb\tX-Y\tO\n"
        path = write(tmp_path / "a.conll", text)

        assert "'X-Y' is not a tag" in str(outcome(path, path, layers={"x": 2, "y": 3}, merge=True))

    def test_tags_in_columns_before_those_of_the_layers_are_not_counted(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.conll", "a\tB-X\tB-Y\tO\tO\nb\tO\tB-Y\tB-P\tO\n\n" * 20)
        options = {"layers": {"p": 4, "q": 5}}

        with passages_alone():
            expected = outcome(path, path, **options)
        assert outcome(path, path, **options) == expected

    @pytest.mark.parametrize("size", range(20, 60))
    def test_span_that_goes_on_after_an_xml_tag_is_not_cut(self, tmp_path: Path, size: int) -> None:
        text = "<s>\n" + "a\tB-X\n<g/>\nb\tI-X\n" * 30 + "</s>\n"
        path = write(tmp_path / "a.vrt", text)

        with small(size):
            classes = score(path, path).metrics["levels"]["label"]["classes"]["gold"]

        assert classes["exact"] == 30

    @pytest.mark.parametrize("block", range(40, 200, 7))
    def test_line_of_blanks_at_a_cut_is_the_end_of_a_sentence(self, tmp_path: Path, block: int) -> None:
        gold, predicted = ("a O\n" * 20 + more + "a O\n" * 20 + "\n\n" for more in (" \n", ""))
        paths = [tmp_path / "gold.conll", tmp_path / "predicted.conll"]
        for path, text in zip(paths, (gold, predicted), strict=True):
            path.write_text(text, encoding="utf-8")

        with handed_in(Sizes(block=block)), pytest.raises(TextMismatch, match="begins a sentence"):
            score(*paths, input="conll")

    def test_line_of_another_width_at_a_cut_is_found(self, tmp_path: Path) -> None:
        text = "a\tB-X\tO\n" * 50 + "b\tO\n" + "a\tI-X\tO\n" * 50
        path = write(tmp_path / "a.conll", text)

        with small(200):
            assert "the line has 2 columns" in str(outcome(path, path, layers={"x": 2, "y": 3}))

    @pytest.mark.parametrize(("place", "columns"), [(1, {"layers": {"x": 3}}), (2, {"layers": {"x": 2}})])
    @pytest.mark.parametrize(("name", "form"), [("a.vrt", vrt), ("b.vrt", unbroken), ("a.conll", conll)])
    def test_files_with_token_ids_are_regular(
        self, tmp_path: Path, name: str, form: Any, place: int, columns: dict[str, Any]
    ) -> None:
        corpus = [[[("w", "B-X")] * 3, [("w", "O")] * 4]] * 6
        gold, predicted, again, other = (
            with_ids(form(each), place, ids)
            for each, ids in (
                (corpus, lambda document, row: row),
                ([[[("w", "I-X")] * 3, rest] for _, rest in corpus], lambda document, row: row),
                (corpus, lambda document, row: 2 if (document, row) == (5, 5) else row),
                (corpus, lambda document, row: 99 if (document, row) == (5, 5) else row),
            )
        )
        path = write(tmp_path / name, gold)
        options = {**columns, "token_id": place + 1}

        for number, text in enumerate((predicted, again, other)):
            second = write(tmp_path / f"{number}{name}", text)
            with passages_alone():
                expected = outcome(path, second, **options), outcome(second, second, **options)
            assert (outcome(path, second, **options), outcome(second, second, **options)) == expected
        assert tokens_in_stretches(path, tmp_path / f"0{name}", **options) >= 14
        assert "token id '2' is already used in line" in str(
            outcome(tmp_path / f"1{name}", tmp_path / f"1{name}", **options)
        )

    def test_repeated_token_ids_are_found(self, tmp_path: Path) -> None:
        path = write(tmp_path / "g.vrt", "<s>\na\tt1\tO\n</s>\n<s>\nb\tt2\tO\nc\tt2\tO\n</s>\n")

        assert "t2" in str(outcome(path, path, layers={"entity": 3}, token_id=2))


def _legal(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(token, "O" if tag.startswith("O") else tag) for token, tag in rows]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    corpora=tagged_corpora(layers=2, tags=("O", "O", "B-X", "I-X", "B-Y", "I-Y")),
    form=st.sampled_from([vrt, unbroken, conll]),
    size=st.integers(1, 90),
    merge=st.booleans(),
    layers=st.sampled_from([{"x": 2, "y": 3}, {"y": 3}, {"x": 2}, {"y": 3, "x": 2}]),
    apart=st.sampled_from([{}, {"resample_by": "document"}, {"by": "document"}]),
)
def test_lockstep_has_the_counts_of_passages(
    tmp_path: Path,
    corpora: tuple[Corpus, Corpus],
    form: Any,
    size: int,
    merge: bool,
    layers: dict[str, int],
    apart: dict[str, str],
) -> None:
    paths = [write(tmp_path / f"{n}.txt", form(side)) for n, side in enumerate(corpora)]
    options: dict[str, Any] = {"metrics": METRICS, "merge": merge, "layers": layers, **apart}
    options["input"] = "conll" if form is conll else "vrt"

    with passages_alone():
        expected = outcome(*paths, **options)
    with small(size):
        assert outcome(*paths, **options) == expected


LINES = (
    "<s>",
    "</s>",
    "<text id='1'>",
    "</text>",
    "a\tO",
    "a\tB-X",
    "a\tI-X",
    "b\tO",
    "<p>",
    "",
    "<s/>",
    "é\tB-é",
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(st.sampled_from(LINES), max_size=14),
    changes=st.lists(st.tuples(st.integers(0, 13), st.sampled_from(LINES)), max_size=2),
    size=st.integers(1, 60),
    unit=st.sampled_from([None, "document"]),
)
@example(["<s>", "a\tO", "</s>", "<s>", "</s>", "<s>", "a\tO", "</s>"], [], 60, None)
def test_lockstep_has_the_outcome_of_passages_for_any_lines(
    tmp_path: Path, lines: list[str], changes: list[tuple[int, str]], size: int, unit: str | None
) -> None:
    other = list(lines)
    for place, line in changes:
        other[place : place + 1] = [line]
    paths = [
        write(tmp_path / f"{n}.vrt", "".join(f"{line}\n" for line in side))
        for n, side in enumerate((lines, other))
    ]

    with small(size):
        with passages_alone():
            expected = outcome(*paths, input="vrt", resample_by=unit)
        assert outcome(*paths, input="vrt", resample_by=unit) == expected


def test_spans_of_an_equal_and_of_a_different_sentence_do_not_touch(tmp_path: Path) -> None:
    """Once the last line of all that is the same and the first of all that is not became one span."""
    gold = "a\tO\n\na\tI-X\nb\tO\n\nc\tB-X\n\nd\tO\n"
    paths = write(tmp_path / "g.conll", gold), write(tmp_path / "p.conll", gold.replace("b\tO", "b\tB-X"))

    levels = score(*paths).metrics["levels"]["label"]["classes"]

    assert levels["gold"]["exact"] == 2


def test_lockstep_ends_if_one_side_runs_ahead(tmp_path: Path) -> None:
    gold = write(tmp_path / "g.vrt", "<text>\n" + "a\tO\n" * 400 + "</text>\n")
    predicted = write(tmp_path / "p.vrt", "<text>\na\tO\n</text>\n" * 400)

    with pytest.raises(CluevalError, match="falls behind"):
        in_step(gold, predicted, sizes=Sizes(ahead=20))
    assert "gold continues" in str(outcome(gold, predicted)) or "predicted ends" in str(
        outcome(gold, predicted)
    )


def test_counts_before_an_error_are_not_counted_twice(tmp_path: Path) -> None:
    """Passages alone are the judge: if they find nothing wrong, their counts stand."""
    paths = write(tmp_path / "g.vrt", GOLD), write(tmp_path / "p.vrt", PREDICTED)
    own, other = (source_of(path, ReadOptions()) for path in paths)
    evaluation = Evaluation(LEVELS, [])

    with patch.object(Lockstep, "_columns", side_effect=CluevalError("broken")):
        reading = reading_of(own, other)
        assert reading is not None
        end = evaluation.count_reading(reading)

    assert evaluation.total.tokens == 8
    assert end.repaired() == {"gold": 0, "predicted": 0}
    assert set(end.schemes().values()) == {"BIO"}


def test_documents_that_are_kept_apart_are_read_in_step(tmp_path: Path) -> None:
    sentence = "<s>\na\tO\nb\tB-X\nc\tO\n</s>\n"
    documents = [f'<text id="d{n}" court="x&amp;y">\n{sentence * 3}</text>\n' for n in range(3)]
    wrong = [document.replace("b\tB-X\n", "b\tB-Y\n", n) for n, document in enumerate(documents)]
    paths = [write(tmp_path / f"{name}.vrt", "".join(s)) for name, s in (("g", documents), ("p", wrong))]
    gold, predicted = (source_of(path, ReadOptions()) for path in paths)
    reading = reading_of(gold, predicted, LEVELS._replace(resample_by="document"))
    assert reading is not None

    tokens, found = Counter[str](), Counter[tuple[object, ...]]()
    for each in reading:
        if each.tallies:
            tokens[each.document] += each.tokens
            found.update({(each.document, *key): n for key, n in each.tallies["levels", "label"].items()})
            assert each.metadata["court"] == "x&y"

    assert tokens == {"d0": 9, "d1": 9, "d2": 9}
    assert [found[f"d{n}", "class", "gold", "exact"] for n in range(3)] == [3, 3, 3]
    assert [found[f"d{n}", "label", "gold", "label", "X", "exact", False] for n in range(3)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [("c\tX-Y", r":6: 'X-Y' is not a tag"), ("d\tO", r":6: gold has the token 'c'")],
)
def test_error_in_one_of_several_passages_has_its_place(tmp_path: Path, wrong: str, said: str) -> None:
    text = "".join(f"-DOCSTART-\n{token}\tB-X\n" for token in "abcd")
    paths = [write(tmp_path / f"{n}.conll", t) for n, t in enumerate((text, text.replace("c\tB-X", wrong)))]

    with passages_alone(), pytest.raises(CluevalError, match=said):
        score(*paths)
