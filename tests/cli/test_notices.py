"""What every run says of its input, and what it warns of: one line each, on stderr or through `warnings`."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from contextlib import chdir
from pathlib import Path

import pytest
from corpora import write

from clueval import CluevalWarning, Document, Span, conventions, read, score
from clueval.cli import main
from clueval.cli.commands import COMMANDS, command_called

GERMAN = Path(__file__).parents[2] / "clueval" / "samples" / "german"
FILES = [str(GERMAN / "gold.vrt"), str(GERMAN / "predicted.vrt")]
LAYERS = ["--layer", "entity=2", "--layer", "risk=3"]

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize("command", ["score", "errors", "conventions"])
def test_each_command_says_in_one_line_a_layer_what_was_read(command: str, capsys: Capture) -> None:
    assert main([command, *FILES, *LAYERS]) == 0

    printed = capsys.readouterr()
    lines = (printed.out + printed.err).splitlines()
    assert "entity: column 2, BIO, 222 gold and 229 predicted spans" in lines
    assert "risk: column 3, BIO, 219 gold and 227 predicted spans" in lines


def test_quiet_prints_nothing_but_the_result(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "a.conll").write_text("a\tB-X\n", encoding="utf-8")
    (tmp_path / "b.conll").write_text("a\tB-Y\n", encoding="utf-8")

    assert (
        main(["score", str(tmp_path / "a.conll"), str(tmp_path / "b.conll"), "-q", "--format", "json"]) == 0
    )

    out, err = capsys.readouterr()
    assert out.startswith("{")
    assert err == ""


@pytest.mark.parametrize(
    "command", sorted(COMMANDS.keys() - {"formats", "metrics", "samples", "guide", "completion", "help"})
)
def test_quiet_is_an_option_of_every_command_that_reads_files(command: str) -> None:
    assert {"-q", "--quiet"} <= command_called(command).by_flag.keys()


def test_quiet_prints_nothing_of_the_file_of_defaults_in_commands_for_annotators(
    tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "a.conll").write_text("a\tB-X\nb\tB-Y\n", encoding="utf-8")
    (tmp_path / "b.conll").write_text("a\tB-X\nb\tO\n", encoding="utf-8")
    paths = ["a.conll", "b.conll"]
    (tmp_path / "clueval.toml").write_text("level = 1\n", encoding="utf-8")
    with chdir(tmp_path):
        assert main(["agree", *paths]) == 0
        assert "read clueval.toml" in capsys.readouterr().err
        assert main(["agree", *paths, "-q"]) == 0
        assert capsys.readouterr().err == ""


def test_columns_and_schemes_of_both_sides_are_said_where_they_differ(
    tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "a.conll").write_text("a\tB-X\tS-X\nb\tI-X\tO\n", encoding="utf-8")

    assert main(["score", str(tmp_path / "a.conll"), "--layer", "x=2:3"]) == 0

    assert (
        "x: columns 2 and 3, BIO and BIOES, 1 gold and 1 predicted span"
        in capsys.readouterr().out.splitlines()
    )


@pytest.mark.parametrize("command", ["convert {} --to spans", "merge {}"])
def test_commands_that_write_documents_say_how_many_tags_were_repaired(
    command: str, tmp_path: Path, capsys: Capture
) -> None:
    arguments = command.format(write(tmp_path / "a.conll", "Ada\tB-PER\nUlm\tI-LOC\n")).split()

    assert main(arguments) == 0
    assert capsys.readouterr().err == "1 repaired tag: invalid ones, read as conlleval does\n"
    assert main([*arguments, "--invalid", "discard"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("command", "side"), [("agree", "a.conll"), ("profile", "gold")])
def test_reports_say_how_many_tags_were_repaired(
    command: str, side: str, tmp_path: Path, capsys: Capture
) -> None:
    paths = [write(tmp_path / name, "Ada\tB-PER\nUlm\tI-LOC\n") for name in ("a.conll", "b.conll")]

    assert main([command, *map(str, paths)]) == 0
    assert f"1 repaired tag in {side}" in capsys.readouterr().out


def test_labels_that_look_the_same_are_explained() -> None:
    with pytest.warns(
        CluevalWarning, match=r"labels that look the same .*NFC and NFD.*; label_map=.* makes them"
    ):
        score([["B-Beh\u00f6rde"]], [["B-Beho\u0308rde"]])


def test_labels_with_other_names_are_answered_with_the_options_that_rename_them(
    tmp_path: Path, capsys: Capture
) -> None:
    for name, label in (("gold", "PERSON"), ("predicted", "PER"), ("mapped", "PERSON")):
        (tmp_path / f"{name}.conll").write_text(f"a\tB-{label}\nb\tO\n", encoding="utf-8")
    gold, predicted, mapped = (str(tmp_path / f"{name}.conll") for name in ("gold", "predicted", "mapped"))
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"text": "a b", "label": [[0, 1, "PER"]]}', encoding="utf-8")
    advice = "no label is on both sides: gold has 'PERSON', predicted 'PER'; --label-map PERSON=PER makes them equal"

    for other in (predicted, str(rows)):
        assert main(["score", gold, other]) == 0
        assert advice in capsys.readouterr().err
    assert main(["score", gold, mapped]) == 0
    assert advice not in capsys.readouterr().err


def test_labels_with_blanks_at_their_ends_get_no_label_map_that_changes_nothing() -> None:
    with pytest.warns(CluevalWarning, match="remove the white space at the ends of labels"):
        score([[(0, 1, "PER")]], [[(0, 1, "PER ")]], metrics="exact")


def test_labels_that_differ_in_case_are_said_to() -> None:
    with pytest.warns(CluevalWarning, match="label_map='PER=per' makes them equal") as found:
        score([[(0, 2, "PER")]], [[(0, 2, "per")]])
    assert len(found) == 1


@pytest.mark.parametrize("slip", [(0, -1), (1, 0)])
def test_ends_that_are_inclusive_on_one_side_are_warned_of(slip: tuple[int, int]) -> None:
    gold = [[(0, 9, "PER"), (13, 18, "LOC"), (24, 32, "ORG")]]
    predicted = [[(start + slip[0], end + slip[1], label) for start, end, label in gold[0]]]

    for sides in ((gold, predicted), (predicted, gold)):
        with pytest.warns(CluevalWarning, match="3 of 3 .* none is equal to one; .* ends are exclusive"):
            score(*sides)


NAMES = ("B-PER", "I-PER", "I-PER"), ("B-PER", "I-PER", "O")
"""The tags of a name of three tokens: in gold, and in predicted, which lacks the last token."""


def _sentences(lines: Callable[[Sequence[str]], str], tags: Sequence[str]) -> str:
    """Three sentences of a name and a period."""
    return "".join(lines([*tags, "O"]) + "\n" for _ in range(3))


def _column_file(separator: str, columns: Sequence[str], head: str = "") -> Callable[[Sequence[str]], str]:
    """A file of a token, other columns, and the tag in place of ``{}``, with `head` before its lines."""

    def content(tags: Sequence[str]) -> str:
        def lines(of_sentence: Sequence[str]) -> str:
            rows = enumerate(zip(("Ada", "King", "Byron", "."), of_sentence, strict=True), 1)
            return "".join(
                separator.join([each.format(tag, token=token, number=number) for each in columns]) + "\n"
                for number, (token, tag) in rows
            )

        return head + _sentences(lines, tags)

    return content


def _brackets(tags: Sequence[str]) -> str:
    """OntoNotes: the name in brackets, without its last token in predicted."""
    last = sum(tag != "O" for tag in tags) - 1
    marks = ["(PER*", *("*)" if number == last else "*" for number in (1, 2)), "*"]
    words = zip(("Ada", "King", "Byron", "."), marks, strict=True)
    lines = [f"d 0 {number} {word} X * - - - - {mark} -" for number, (word, mark) in enumerate(words)]
    return "#begin document (d); part 000\n" + "\n".join([*lines, ""] * 3) + "\n#end document\n"


_CONLLU = ["{number}", "{token}", *["_"] * 7, "NER={}"]
COLUMN_FILES: dict[str, tuple[str, Callable[[Sequence[str]], str]]] = {
    "conll": ("conll", _column_file("\t", ["{token}", "{}"])),
    "conll with blanks": ("conll", _column_file(" ", ["{token}", "NN", "{}"])),
    "vrt": ("vrt", lambda tags: f"<text id='a'>\n{_column_file(chr(9), ['{token}', '{}'])(tags)}</text>\n"),
    "germeval": ("conll", _column_file("\t", ["{number}", "{token}", "{}", "O"], "#\thttp://a [1]\n")),
    "hipe": ("conll", _column_file("\t", ["{token}", "{}", "_"], "TOKEN\tNE-COARSE-LIT\tMISC\n")),
    "conllu": ("conllu", _column_file("\t", _CONLLU)),
    "conll2012": ("conll2012", _brackets),
    "conll2000": ("conll2000", _column_file(" ", ["{token}", "NN", "{}"])),
    "nerval": ("nerval", _column_file(" ", ["{token}", "{}"])),
    "token rows": (
        "token-rows",
        lambda tags: "".join(
            json.dumps({"tokens": ["Ada", "King", "Byron", "."], "ner_tags": [*tags, "O"]}) + "\n"
            for _ in range(3)
        ),
    ),
}


@pytest.mark.parametrize("name", COLUMN_FILES)
def test_ends_of_tags_are_not_said_to_be_numbers(name: str, tmp_path: Path, capsys: Capture) -> None:
    """Nobody wrote them, so nobody can add 1."""
    form, content = COLUMN_FILES[name]
    paths = [tmp_path / "gold.txt", tmp_path / "predicted.txt"]
    for path, tags in zip(paths, NAMES, strict=True):
        path.write_text(content(tags), encoding="utf-8")

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = [score(*paths, input=form)]
        if form != "nerval":  # whose documents are texts with characters
            results.append(score(*(list(read(path, input=form)) for path in paths)))
    assert main(["score", *map(str, paths), "--input", form]) == 0

    classes = [next(iter(each.metrics["levels"].values()))["classes"]["predicted"] for each in results]
    assert {(each["exact"], each["spurious"]) for each in classes} == {(0, 0)}
    said = [*map(str, (each.message for each in caught)), *capsys.readouterr().err.splitlines()]
    assert not [line for line in said if "add 1" in line]


@pytest.mark.parametrize("form", ["lists", "rows"])
def test_ends_of_tags_in_memory_are_not_said_to_be_numbers(form: str) -> None:
    sides = [[[*tags, "O"]] * 3 for tags in NAMES]
    if form == "rows":
        sides = [[{"tokens": list("abcd"), "ner_tags": tags} for tags in side] for side in sides]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert score(*sides).f1 == 0.0


def test_ends_of_a_table_are_said_to_be_exclusive_or_inclusive_by_the_name_of_their_column(
    tmp_path: Path,
) -> None:
    spans = [[0, 9, "PER"], [13, 18, "LOC"], [24, 32, "ORG"]]
    gold, predicted = tmp_path / "gold.jsonl", tmp_path / "predicted.csv"
    gold.write_text(json.dumps({"id": "a", "text": "x" * 40, "label": spans}), encoding="utf-8")
    rows = "".join(f"a,{start},{end - 1},{label}\n" for start, end, label in spans)
    predicted.write_text("document,start,end_exclusive,label\n" + rows, encoding="utf-8")

    for metric in ("levels", "exact", "muc"):
        with pytest.warns(CluevalWarning, match="are inclusive, name their column end_inclusive, or add 1"):
            score(gold, predicted, text=gold, metrics=metric)


def test_starts_that_count_from_1_are_warned_of_though_no_span_covers_another() -> None:
    gold = [[(start, start + 3, "PER") for start in (0, 10, 20)]]

    with pytest.warns(CluevalWarning, match="if its starts count from 1, subtract 1"):
        score(gold, [[(start + 1, end + 1, label) for start, end, label in gold[0]]], metrics="exact")


def test_files_whose_names_are_of_the_other_side_are_warned_of(tmp_path: Path) -> None:
    paths = [tmp_path / "Gold.conll", tmp_path / "predictions.conll"]
    for path in paths:
        path.write_text("a\tB-X\n", encoding="utf-8")

    with pytest.warns(CluevalWarning, match="predictions.conll counts as gold, because it comes first"):
        score(paths[1], paths[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score(paths[0], paths[1])


def test_annotation_sets_of_the_only_file_are_named_if_none_is_chosen(
    tmp_path: Path, capsys: Capture
) -> None:
    rows = [{"text": "Ada", "label": [[0, 3, "A"]], "username": name} for name in ("ada", "bob")]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    assert main(["score", str(tmp_path / "a.jsonl")]) == 2
    assert (
        "which annotation sets are gold and predicted? The file has 'ada', 'bob' (give PREDICTED, too, or name both "
        "with --gold-set and --predicted-set" in capsys.readouterr().err
    )


def test_the_command_warns_in_one_line(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "a.conll").write_text("a\tB-X\nb\tB-LOC\n", encoding="utf-8")
    (tmp_path / "b.conll").write_text("a\tB-X\nb\tB-Location\n", encoding="utf-8")

    assert main(["score", str(tmp_path / "a.conll"), str(tmp_path / "b.conll"), "--format", "csv"]) == 0

    assert capsys.readouterr().err.splitlines() == [
        "label: column 2, BIO, 2 gold and 2 predicted spans",
        "clueval score: warning: layer 'label': gold and predicted have different labels 'LOC' and 'Location'; "
        "--label-map LOC=Location makes them equal",
    ]


@pytest.mark.parametrize("metrics", ["levels", "exact", "partial", "fair", "gate", "coverage", "muc,exact"])
def test_python_warns_of_labels_of_one_side_only_where_the_other_has_one_like_them(metrics: str) -> None:
    with pytest.warns(CluevalWarning, match="different labels 'LOC' and 'LOCATION'"):
        score([["B-LOC", "B-B"]], [["B-LOCATION", "B-B"]], metrics=metrics)
    with pytest.warns(
        CluevalWarning, match="no label is on both sides: gold has 'A', predicted 'C'; label_map=... "
    ):
        score([["B-A"]], [["B-C"]], metrics=metrics)
    with pytest.warns(CluevalWarning, match="gold has 1 span, and none is left to count"):
        score([["B-A"]], [["B-A"]], metrics=metrics, ignore_label="A")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score([["B-A", "B-B"]], [["O", "B-B"]], metrics=metrics)
        score([["B-A", "B-B"]], [["B-C", "B-B"]], metrics=metrics)


def test_joined_labels_of_merged_layers_are_not_compared() -> None:
    gold, predicted = (
        Document("d", {"a": [Span(0, 1, "LOC")], "b": [Span(n, 2, "X")]}, tokens=["x", "y"]) for n in (0, 1)
    )

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score([gold], [predicted], metrics="exact", merge=True)


def test_python_warns_where_a_side_has_no_spans() -> None:
    with pytest.warns(CluevalWarning, match="layer 'label': predicted has no spans"):
        score([["B-A"]], [["O"]])
    with pytest.warns(CluevalWarning, match="layer 'label': gold and predicted have no spans"):
        score([["O"]], [["O"]])
    with pytest.warns(CluevalWarning, match="there are no documents"):
        score([], [])


def test_layers_of_one_side_each_are_named_together() -> None:
    gold, predicted = ([Document("d", {layer: [Span(0, 1, "A")]})] for layer in ("label", "type"))

    with pytest.warns(CluevalWarning, match="gold alone has layer 'label', and predicted alone 'type'"):
        score(gold, predicted, metrics="exact")


def test_python_warns_of_an_empty_file(tmp_path: Path) -> None:
    for side, text in (("gold", "a\tB-X\n"), ("predicted", "a\tB-X\n")):
        (tmp_path / side).mkdir()
        (tmp_path / side / "a.conll").write_text(text, encoding="utf-8")
        (tmp_path / side / "b.conll").write_text("", encoding="utf-8")

    with pytest.warns(CluevalWarning, match=r"gold/b.conll, .*predicted/b.conll are empty"):
        score(tmp_path / "gold", tmp_path / "predicted")


@pytest.mark.filterwarnings("error")
def test_a_filter_on_labels_and_equal_labels_give_no_warning(tmp_path: Path) -> None:
    (tmp_path / "a.conll").write_text("a\tB-X\nb\tB-Y\n", encoding="utf-8")
    (tmp_path / "b.conll").write_text("a\tB-Y\nb\tB-X\n", encoding="utf-8")

    score(tmp_path / "a.conll", tmp_path / "b.conll")
    score(tmp_path / "a.conll", tmp_path / "b.conll", where=["label=X"])


def test_files_without_documents_have_no_intervals_and_no_figures(tmp_path: Path, capsys: Capture) -> None:
    files = [str(tmp_path / name) for name in ("a.conll", "b.conll")]
    for name in files:
        Path(name).write_text("", encoding="utf-8")

    assert main(["score", *files, "--intervals"]) == 2
    assert "intervals need several units, and there are no documents" in capsys.readouterr().err
    assert main(["masking", *files, "--fail-under", "entity_recall=1"]) == 1
    assert "entity_recall is undefined" in capsys.readouterr().err


@pytest.mark.parametrize("function", [score, conventions])
def test_a_warning_names_the_line_of_the_caller(function: Callable[..., object]) -> None:
    with pytest.warns(CluevalWarning, match="no label is on both sides") as found:
        function([["B-A", "B-B"]], [["B-C", "O"]])

    assert {warning.filename for warning in found} == {__file__}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "predicted has 1 repaired tag: invalid ones, read as conlleval does"),
        ({"scheme": "BIO", "invalid": "discard"}, "predicted has 1 ill-formed tag; such spans are discarded"),
    ],
)
def test_python_warns_of_invalid_tags(options: dict[str, str], message: str) -> None:
    with pytest.warns(CluevalWarning, match=message):
        score([["B-A", "O", "B-A"]], [["B-A", "O", "I-A"]], **options)  # type: ignore[arg-type]  # any option


def test_the_command_says_once_that_tags_were_repaired(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "a.conll").write_text("a\tB-X\nb\tO\nc\tB-X\n", encoding="utf-8")
    (tmp_path / "b.conll").write_text("a\tB-X\nb\tO\nc\tI-X\n", encoding="utf-8")
    files = [str(tmp_path / name) for name in ("a.conll", "b.conll")]

    for options in ([], ["--format", "csv"]):
        assert main(["score", *files, *options]) == 0
        printed = capsys.readouterr()
        assert (printed.out + printed.err).count("1 repaired tag in predicted\n") == 1
        assert "warning" not in printed.err


def test_errors_count_the_spans_that_have_only_a_wrong_label(tmp_path: Path, capsys: Capture) -> None:
    rows = [("1", [[0, 1, "X"], [2, 3, "X"]]), ("2", [[0, 1, "X"], [2, 3, "Y"]])]
    for name, spans in rows:
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": name, "text": "a b", "label": spans}))
    command = [
        "errors",
        str(tmp_path / "1.jsonl"),
        str(tmp_path / "2.jsonl"),
        "--pair-by",
        "content",
        "--level",
        "2",
    ]

    printed = []
    for more in ([], ["--side", "gold"], ["--labelled", "label"], ["--class", "missed"]):
        assert main([*command, *more]) == 0
        printed.append("not listed: " in capsys.readouterr().err)

    assert printed == [True, True, False, False]
    assert main([*command, "--side", "gold"]) == 0
    assert (
        "not listed: 1 span has only a wrong label in layer label (--labelled label lists"
        in capsys.readouterr().err
    )


def test_documents_in_another_order_are_answered_with_the_option_that_pairs_them(
    tmp_path: Path, capsys: Capture
) -> None:
    paths = [tmp_path / f"{name}.jsonl" for name in "ab"]
    for path in paths:
        path.write_text(json.dumps({"id": path.stem, "text": "a", "label": []}))

    assert main(["errors", *map(str, paths)]) == 2
    assert "or pair them: --pair-by id or --pair-by content" in capsys.readouterr().err
    assert main(["errors", str(tmp_path), str(paths[0])]) == 2
    assert "or pair documents with --pair-by id" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["score", "agree"])
def test_documents_without_ids_that_are_paired_by_id_are_answered_with_what_pairs_them(
    command: str, tmp_path: Path, capsys: Capture
) -> None:
    for name in ("a/1", "a/2", "b/1", "b/2"):
        path = tmp_path / f"{name}.conll"
        path.parent.mkdir(exist_ok=True)
        path.write_text("Ada\tB-PER\n\n", encoding="utf-8")
    sides = [str(tmp_path / side) for side in "ab"]

    assert main([command, *sides, "--pair-by", "id"]) == 2
    said = capsys.readouterr().err
    assert "2.conll, document '1': has no id" in said
    assert "(leave out --pair-by: files are paired by name" in said
    assert main([command, *sides]) == 0
