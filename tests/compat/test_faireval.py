"""FairEval's functions, config and printed report."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clueval
from clueval.cli import main
from clueval.compat.faireval import (
    annotation_stats,
    compare_spans,
    fscore,
    overlap_type,
    precision,
    recall,
)
from clueval.compat.faireval.config import (
    FairEvalConfig,
    Run,
    parse_config,
    render_faireval,
    run_config,
)
from clueval.core.case import Case
from clueval.core.metric import Tally
from clueval.files.errors import CluevalError, FormatError, SpanError, TextMismatch, UsageError
from clueval.files.opening import Complain, refuse
from clueval.files.options import Limits
from clueval.formats.fair import FAIR_SPANS
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions
from clueval.metrics.fair import DEFAULT_WEIGHTS, Fair, Weights, parse_weights

PUBLISHED = Path(__file__).parents[3] / "shared" / "data" / "faireval-ner"

PAPER = (
    "LE = 0.5 FP + 0.5 FN, BES = 0.5 TP + 0.5 FN, BEL = 0.5 TP + 0.5 FP, "
    "BEO = 0.5 TP + 0.25 FP + 0.25 FN, LBE = 0.5 FP + 0.5 FN"
)

SpanList = list[list[Any]]


def listed(*texts: str) -> SpanList:
    """Spans as FairEval lists them, from "NP 1 3"."""
    rows = [text.split() for text in texts]
    return [[label, int(begin), int(end), set(range(int(begin), int(end) + 1))] for label, begin, end in rows]


# The module's functions ----------------------------------------------------------------------------------


def test_compared_spans_are_counted_overall_and_by_label() -> None:
    target = listed("NP 1 3", "PP 5 10", "AP 12 12", "NP 20 21")
    system = listed("NP 1 3", "PP 6 10", "NP 12 12", "VP 30 30")

    assert compare_spans(target, system) == {
        "overall": {
            "traditional": {"TP": 1, "FP": 3, "FN": 3},
            "fair": numbers(TP=1, FP=1, FN=1, LE=1, BE=1, BES=1),
        },
        "per_label": {
            "traditional": {
                "AP": {"TP": 0, "FP": 0, "FN": 1},
                "NP": {"TP": 1, "FP": 1, "FN": 1},
                "PP": {"TP": 0, "FP": 1, "FN": 1},
                "VP": {"TP": 0, "FP": 1, "FN": 0},
            },
            "fair": {
                "AP": numbers(LE=1),
                "NP": numbers(TP=1, FN=1),
                "PP": numbers(BE=1, BES=1),
                "VP": numbers(FP=1),
            },
        },
        "conf": {"AP": {"NP": 1}, "NP": {"_": 1}, "PP": {"PP": 1}, "_": {"VP": 1}},
    }


def numbers(**counts: int) -> dict[str, int]:
    return dict.fromkeys(("TP", "FP", "FN", "LE", "BE", "BES", "BEL", "BEO", "LBE"), 0) | counts


def test_focus_system_counts_under_the_label_of_the_system() -> None:
    counts = compare_spans(listed("NP 1 2"), listed("PP 1 2"), focus="system")

    assert counts["per_label"]["fair"]["PP"]["LE"] == 1
    assert counts["per_label"]["fair"]["NP"]["LE"] == 0


def test_token_sets_decide_what_is_equal_and_what_is_shared() -> None:
    target, system = [["NP", 1, 5, {1, 2, 4, 5}]], listed("NP 1 5")

    assert compare_spans(target, system)["overall"]["fair"] == numbers(FN=1, FP=1)


def test_an_empty_token_set_shares_nothing() -> None:
    counts = compare_spans([["NP", 1, 5, set()], ["NP", 1, 4, set()]], listed("NP 2 5"))

    assert counts["overall"]["fair"] == numbers(BE=1, BEO=1, FN=1)


@given(
    *[
        st.lists(st.tuples(st.sampled_from(["NP", "NONE"]), st.integers(1, 9), st.integers(0, 5))).map(
            lambda rows: listed(*(f"{label} {begin} {begin + more}" for label, begin, more in rows))
        )
    ]
    * 2
)
def test_compared_spans_are_left_unchanged(target: SpanList, system: SpanList) -> None:
    before = copy.deepcopy((target, system))
    counts = compare_spans(target, system)

    assert (target, system) == before
    traditional = counts["overall"]["traditional"]
    assert traditional["TP"] + traditional["FN"] == len(target)


@pytest.mark.parametrize(
    "span",
    [
        ["NP", 1, 3],
        ["NP", 3, 1, {1}],
        ["NP", "1", 3, {1}],
        [7, 1, 3, {1}],
        ["NP", 1, 3, 2],
        ["NP", 1, 3, {"1"}],
    ],
)
def test_arguments_that_are_no_spans_are_refused(span: list[Any]) -> None:
    with pytest.raises(SpanError, match=re.escape(repr(span))):
        compare_spans([span], [])


@pytest.mark.parametrize(
    ("span2", "kind"),
    [
        ((3, 6), "TP"),
        ((4, 7), "BEO"),
        ((2, 5), "BEO"),
        ((4, 5), "BES"),
        ((3, 4), "BES"),
        ((2, 7), "BEL"),
        ((2, 6), "BEL"),
        ((6, 7), "BEO"),
        ((1, 2), False),
        ((7, 7), False),
    ],
)
def test_overlap_types_are_those_of_the_readme(span2: tuple[int, int], kind: str | bool) -> None:
    assert overlap_type((3, 6), span2) == kind


COUNTS = {"TP": 4, "FP": 2, "FN": 1, "LE": 1, "BE": 2, "BES": 2, "LBE": 1}


def test_rates_are_traditional_fair_or_weighted() -> None:
    weights: Weights = {"TP": {"TP": 1}, "FP": {"FP": 1}, "BES": {"TP": 0.5, "FN": 0.5}, "BEL": {"TP": 1}}

    assert precision(COUNTS) == precision(COUNTS, "traditional") == 4 / 6
    assert recall(COUNTS) == 4 / 5
    assert precision(COUNTS, "fair") == precision(COUNTS, version="weighted") == 4 / 8
    assert recall(COUNTS, "fair", weights=weights) == 4 / 7
    assert precision(COUNTS, "weighted", weights) == 5 / 7
    assert recall(COUNTS, "weighted", weights) == 5 / 6


def test_rates_of_nothing_are_zero() -> None:
    assert precision({}, "fair") == recall({}, "fair") == fscore({"Prec": 0, "Rec": 0}) == 0


def test_another_version_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown version 'unfair'"):
        precision({}, "unfair")


def test_the_f_score_is_the_harmonic_mean() -> None:
    assert fscore({"Prec": 0.5, "Rec": 1.0}) == 2 / 3


def test_annotation_stats_add_up_over_calls() -> None:
    result: dict[str, Any] = {"overall": {}}
    for spans in (listed("NP 1 2", "PP 3 4"), listed("NP 1 1")):
        annotation_stats(spans, result)

    assert result == {"overall": {}, "data_stats": {"NP": 2, "PP": 1}}


# A run over two files ------------------------------------------------------------------------------------


def blocks(text: str, size: int = 1000) -> list[tuple[int, str]]:
    """A text in blocks of a number of lines, as they are read from a file."""
    lines = text.splitlines(keepends=True)
    return [(first + 1, "".join(lines[first : first + size])) for first in range(0, len(lines), size)]


@dataclass(frozen=True)
class FileOfText(InputFile):
    """A file with a text, which is read in blocks of a number of lines."""

    content: str = ""
    size: int = 1000

    def blocks(self, complain: Complain = refuse) -> Iterator[tuple[int, str]]:
        return iter(blocks(self.content, self.size))


def files(target: str, system: str, size: int = 1000) -> tuple[FileOfText, FileOfText]:
    return (
        FileOfText(Path("gold.csv"), content=target, size=size),
        FileOfText(Path("tagger.csv"), content=system, size=size),
    )


def run(
    target: str, system: str, metric: Fair | None = None, size: int = 1000, *, ignore_punct: bool = True
) -> Run:
    made = Run()
    made.count(*files(target, system, size), metric or Fair(), ignore_punct=ignore_punct)
    return made


def by_documents(target: str, system: str, metric: Fair) -> Tally:
    """The sum of the counts of the documents of two span files."""
    total = Tally()
    documents = (FAIR_SPANS.read(file, FormatOptions()) for file in files(target, system))
    for pair in zip(*documents, strict=True):
        gold, predicted = (tuple(document.layers["label"]) for document in pair)
        total.update(metric.count(Case((gold, predicted), (None, None))))
    return total


LINES = st.sampled_from(["A\t1\t2\t1, 2", "A\t1\t3\t1, 3", "B\t2\t2\t2", "B\t1\t4\t", "NONE\t9\t9\t9"])
SENTENCES = st.lists(st.lists(LINES, min_size=1, max_size=4).map("\n".join), min_size=1, max_size=5)
SEPARATORS = st.sampled_from(["\n\n", "\n \t\n", "\n\n\n", "\n\n \n\n"])


@given(st.lists(st.tuples(SENTENCES, SENTENCES), max_size=3), SEPARATORS, st.integers(1, 5))
def test_a_run_counts_what_the_documents_count(
    parts: list[tuple[list[str], list[str]]], separator: str, size: int
) -> None:
    pairs = [pair for target, system in parts for pair in zip(target, system, strict=False)]
    target, system = (
        ((separator.join(side) + "\n") for side in zip(*pairs, strict=True)) if pairs else ("", "")
    )
    metric = Fair(labels=("A",))
    made = run(target, system, metric, size)

    assert made.tally == by_documents(target, system, metric)


def test_lines_keep_their_numbers_across_blocks_and_blank_lines() -> None:
    text = "\n\nA\t1\t1\t1\nA\t2\t2\t2\n\n \n\nB\t0\t1\t1\n"

    for size in range(1, 9):
        with pytest.raises(FormatError, match=r"gold\.csv:8: the first token is 0"):
            run(text, text, size=size)


def test_a_file_of_tokens_is_known_by_its_first_line() -> None:
    target, system = "Das ART B-NP\nHaus NN I-NP\n", "Das ART O\nHaus NN B-NP\n"

    assert run(target, system).tally["fair", "BES", "NP", "NP"] == 1


def test_punctuation_counts_if_it_is_asked_for() -> None:
    target, system = "Haus NN B-NP\n. $. I-NP\n", "Haus NN B-NP\n. $. O\n"

    assert run(target, system).tally["fair", "TP", "NP", "NP"] == 1
    assert run(target, system, ignore_punct=False).tally["fair", "BES", "NP", "NP"] == 1


def test_labels_come_in_the_order_of_the_target() -> None:
    target = "C\t1\t1\t\nA\t2\t2\t\n\nB\t1\t1\t\n"

    assert list(run(target, target).labels) == ["C", "A", "B"]
    assert list(run(target, "D\t1\t1\t\n\nD\t1\t1\t\n").labels) == ["C", "A", "B"]


def test_spans_of_equal_and_of_different_sentences_are_counted_on_their_side() -> None:
    target = "A\t1\t1\t\n\nA\t1\t1\t\nB\t2\t2\t\n\nA\t1\t1\t\n\nC\t1\t1\t\n"
    system = "A\t1\t1\t\n\nA\t1\t1\t\n\nD\t1\t1\t\nB\t2\t2\t\nA\t4\t4\t\n\nC\t1\t1\t\n"

    found = run(target, system)

    assert list(found.labels) == ["A", "B", "C"]
    assert found.tally["fair", "TP", "A", "A"] == 2


def test_sentence_of_spans_is_compared_with_one_of_tokens() -> None:
    spans, tokens = "NP\t1\t2\t1, 2\n", "Das ART B-NP\nHaus NN I-NP\n"

    for target, system in ((spans, tokens), (tokens, spans), (tokens, tokens)):
        found = run(target, system)
        assert found.tally["fair", "TP", "NP", "NP"] == 1


def test_bad_line_in_a_sentence_of_spans_has_its_place() -> None:
    for target, system, place in (
        ("A\t1\t1\t\n\nA\t0\t1\t\n", "A\t1\t1\t\n\na NN O\n", r"gold\.csv:3"),
        ("A\t1\t1\t\n\na NN O\n", "A\t1\t1\t\n\nA\t0\t1\t\n", r"tagger\.csv:3"),
        ("A\t1\t1\t\n\nA\t1\t1\t\n", "A\t1\t1\t\n\nA\t0\t1\t\n", r"tagger\.csv:3"),
        ("A\t1\t1\t\n\na NN\n", "A\t1\t1\t\n\na NN O\n", r"gold\.csv:3"),
    ):
        with pytest.raises(FormatError, match=place):
            run(target, system)


def test_runs_add_up() -> None:
    made = Run()
    for target in ("A\t1\t1\t\nB\t2\t2\t\n", "C\t1\t1\t\nA\t2\t2\t\n"):
        made.count(*files(target, target), Fair())

    assert made.tally["fair", "TP", "A", "A"] == 2
    assert list(made.labels) == ["A", "B", "C"]


@pytest.mark.parametrize("metric", [Fair(), Fair(labels=("X",)), Fair(exclude=("X",))])
@pytest.mark.parametrize(
    ("lines", "written_otherwise"),
    [
        ("a NN B-X|B-Y\nb NN I-X|B-X\n\nc NN O\n", ("NN", " NN")),
        ("X\t1\t2\t1,2\nX\t1\t2\t1,2\nY\t2\t4\t2,4\n\nX\t1\t1\t1\n", ("\t1", "\t 1")),
    ],
)
def test_sentences_with_equal_lines_count_as_equal_spans_in_other_lines_do(
    lines: str, written_otherwise: tuple[str, str], metric: Fair
) -> None:
    equal, other = run(lines, lines, metric), run(lines, lines.replace(*written_otherwise), metric)

    assert equal.tally == other.tally
    assert list(equal.labels) == list(other.labels)


@pytest.mark.parametrize(("target", "system"), [(3, 1), (1, 3), (0, 2), (2, 0)])
def test_other_numbers_of_sentences_are_refused_with_both(target: int, system: int) -> None:
    with pytest.raises(TextMismatch) as refused:
        run("A\t1\t1\t\n\n" * target, "A\t1\t1\t\n\n" * system)

    said = f"gold.csv has {many(target)} and tagger.csv has {many(system)}"
    assert said in str(refused.value)
    assert "EMPTY 999 999 999" in str(refused.value)


def many(number: int) -> str:
    return f"{number} sentence" if number == 1 else f"{number} sentences"


@pytest.mark.parametrize(
    ("system", "said"),
    [
        (
            "a NN O\nc NN O\n",
            ":2: target has the token 'b' where tagger.csv:2 has 'c'",
        ),
        ("a NN O\n", ":2: target has the token 'b' where the document ends in tagger.csv"),
        (
            "a NN O\nb NN O\nc NN O\n",
            ", document '1': the document ends in target at position 2 where tagger.csv:3 continues",
        ),
    ],
)
def test_other_tokens_are_refused_where_they_begin(system: str, said: str) -> None:
    with pytest.raises(TextMismatch) as refused:
        run("a NN O\nb NN O\n", system)

    assert str(refused.value).startswith(f"gold.csv{said}")


def test_sentence_may_have_a_number_of_lines_and_no_more(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("a\n\n \nb\nc\n\nd\n", encoding="utf-8")

    assert list(InputFile(path, Limits(max_sentence=2)).sentences()) == [
        (1, ["a"]),
        (4, ["b", "c"]),
        (7, ["d"]),
    ]
    with pytest.raises(FormatError, match=r"a\.tsv:4: the sentence .* more tokens than 1"):
        list(InputFile(path, Limits(max_sentence=1)).sentences())


def test_a_bad_line_is_refused_in_equal_sentences_too() -> None:
    with pytest.raises(FormatError, match=r"^gold\.csv:3: the first token is 0 "):
        run("A\t1\t1\t1\n\nA\t0\t1\t1\n", "A\t1\t1\t1\n\nA\t0\t1\t1\n")


# The config ----------------------------------------------------------------------------------------------


def config(*lines: str) -> FairEvalConfig:
    return parse_config(enumerate(lines, 1), file="run.config")


def test_a_config_says_what_is_not_the_default() -> None:
    found = config(
        "# a comment",
        "target_in = gold dir/target.csv",
        "system_in=system.csv",
        "",
        "labels = NP, PP,AP",
        "exclude = ROOT",
        "ignore_punct = false",
        "focus = system",
        "eval_method = weighted, traditional",
        f"weights = {PAPER}",
        "eval_out = out",
    )

    assert found == FairEvalConfig(
        target_in="gold dir/target.csv",
        system_in="system.csv",
        labels=("NP", "PP", "AP"),
        exclude=("ROOT",),
        ignore_punct=False,
        focus="system",
        eval_method=("traditional", "weighted"),
        weights=parse_weights(PAPER),
        eval_out="out",
    )
    assert found.metric() == Fair("system", parse_weights(PAPER), ("NP", "PP", "AP"), ("ROOT",))


def test_a_config_needs_two_inputs_only() -> None:
    found = config("target_in = a", "system_in = b")

    assert found == FairEvalConfig("a", "b")
    assert found.metric() == Fair()
    assert found == config("target_in = a", "system_in = b", "labels = all", "eval_method = all")


def test_settings_show_weights_as_a_formula_that_can_be_read() -> None:
    shown = config("target_in = a", "system_in = b", f"weights = {PAPER}, FP = 0 FP").settings()

    assert parse_weights(shown["weights"])["BEO"] == {"TP": 0.5, "FP": 0.25, "FN": 0.25}
    assert parse_weights(shown["weights"])["FP"] == {"TP": 0.0}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("colour = red", "unknown key 'colour' (known are target_in, system_in, labels"),
        ("labels NP", "no '=' in 'labels NP' (expected: key = value)"),
        ("target_in = c", "target_in is set twice"),
        ("labels = NP,, PP", "labels: an empty name in 'NP,, PP'"),
        ("focus = gold", "focus: 'gold' is not possible (one of target, system)"),
        ("ignore_punct = maybe", "ignore_punct: 'maybe' is not possible (one of true, false)"),
        ("eval_method = fair, best", "eval_method: 'best' is not possible"),
        ("weights = LE = 0.5 FX", "weights: weights formula, column 10: expected TP, FP or FN"),
        ("weights = BE = 1 FP, BES = 1 FP", "weights: weights name BE and one of BES, BEL, BEO"),
    ],
)
def test_a_config_that_cannot_be_read_is_refused_with_its_line(line: str, problem: str) -> None:
    with pytest.raises(FormatError) as refused:
        config("target_in = a", "system_in = b", line)

    assert str(refused.value).startswith(f"run.config:3: {problem}")


@pytest.mark.parametrize(
    "key", ["labels", "exclude", "ignore_punct", "focus", "eval_method", "weights", "eval_out"]
)
def test_a_key_without_a_value_has_its_default(key: str) -> None:
    inputs = ("target_in = a", "system_in = b")

    assert config(*inputs, f"{key} =") == config(*inputs, f"{key}=  ") == config(*inputs)
    with pytest.raises(FormatError, match=rf"^run\.config:4: {key} is set twice"):
        config(*inputs, f"{key} =", f"{key} =")


@pytest.mark.parametrize("key", ["target_in", "system_in"])
def test_an_input_without_a_value_is_refused_with_its_line(key: str) -> None:
    lines = [f"{name} = {'' if name == key else 'file'}" for name in ("target_in", "system_in")]

    with pytest.raises(FormatError, match=rf"^run\.config:[12]: {key} has no value \(expected: {key} = FILE"):
        config(*lines)


@pytest.mark.parametrize("missing", ["target_in", "system_in"])
def test_a_config_without_an_input_is_refused(missing: str) -> None:
    lines = [f"{key} = file" for key in ("target_in", "system_in") if key != missing]

    with pytest.raises(CluevalError, match=rf"^run\.config: {missing} is missing"):
        config(*lines)


# The printed report --------------------------------------------------------------------------------------


def printed(target: str, system: str, **options: Any) -> str:
    made = run(target, system)
    settings = FairEvalConfig("target.csv", "system.csv", **options)
    return render_faireval(Fair().scores(made.tally, ("label",)), settings, made.labels)


def test_the_printed_report_has_five_sections() -> None:
    text = printed("B\t1\t2\t\nA\t5\t5\t\n", "B\t1\t3\t\nA\t5\t5\t\n")
    titles = [line for line in text.splitlines() if line.startswith("### ")]

    assert titles == [
        "### Evaluation settings:",
        "### Traditional evaluation:",
        "### Fair evaluation:",
        "### Weighted evaluation:",
        "### Comparison:",
        "### Confusion matrix:",
        "### Target data stats:",
    ]
    assert "focus\ttarget\n" in text
    assert text.endswith("### Target data stats:\nLabel\tFreq\t%\nB\t1\t50.00\nA\t1\t50.00\n")


def test_only_the_methods_asked_for_are_printed() -> None:
    text = printed("A\t1\t1\t\n", "A\t1\t1\t\n", eval_method=("fair",))

    assert "Traditional" not in text
    assert "Weighted" not in text
    assert "### Comparison:\nVersion\tPrec\tRec\tF1\nFair\t100.00\t100.00\t100.00\n" in text


def test_weighted_columns_are_those_of_the_weights() -> None:
    weights = parse_weights("BEL = 1 TP, LE = 1 FP")

    assert "### Weighted evaluation:\nLabel\tBEL\tLE\tTP\tFP\tFN\tPrec\tRec\tF1\n" in printed(
        "A\t1\t1\t\n", "A\t1\t1\t\n", weights=weights
    )
    assert "### Weighted evaluation:\nLabel\tTP\tFP\tLE\tBE\tLBE\tFN\t" in printed(
        "A\t1\t1\t\n", "A\t1\t1\t\n"
    )


def test_a_report_of_nothing_is_printed() -> None:
    assert printed("", "").endswith("### Target data stats:\nLabel\tFreq\t%\n")


def test_a_report_of_very_many_labels_is_printed_from_the_cells_there_are() -> None:
    report = {
        "overall": {},
        "per_label": {},
        "confusion": {"A": {"_": 1}, "B": {}, "_": {}},
        "label_counts": {"A": 1},
    }

    assert "A\t0\t0\t1\nB\t0\t0\t0\n_\t0\t0\t0\n" in render_faireval(
        report, FairEvalConfig("target.csv", "system.csv", eval_method=()), ()
    )


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published data are not here")
def test_a_config_with_an_empty_exclude_runs_over_the_published_data() -> None:
    # FairEval's own config files are written so.
    found = config(
        f"target_in = {PUBLISHED / 'target.csv'}",
        f"system_in = {PUBLISHED / 'system.csv'}",
        "labels = all",
        "exclude =",
        "ignore_punct = True",
        "focus = target",
        "eval_method = all",
        f"weights = {PAPER}",
        "eval_out =",
    )

    assert run_config(found).endswith((PUBLISHED / "expected.tsv").read_text())


def test_default_weights_are_those_of_the_readme() -> None:
    half = {"FP": 0.5, "FN": 0.5}

    readme = {
        "TP": {"TP": 1},
        "FP": {"FP": 1},
        "FN": {"FN": 1},
        "LE": half,
        "BE": half,
        "LBE": half,
    }

    assert readme == DEFAULT_WEIGHTS


def test_faireval_returns_the_report_that_the_command_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gold.csv").write_text("NP\t1\t2\t1,2\n", encoding="utf-8")
    (tmp_path / "run.config").write_text("target_in = gold.csv\nsystem_in = gold.csv\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    report = clueval.faireval("run.config")

    assert main(["faireval", "run.config"]) == 0
    assert capsys.readouterr().out == report
