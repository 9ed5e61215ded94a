"""The reason of each error, and the number of errors, which is that of the scores on every way to them."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_spans, at_most, flat_spans

from clueval import Choice, CluevalError, Document, Span, TagError, diff, errors, score
from clueval.cli import main
from clueval.findings.choice import findings
from clueval.findings.summary import summaries
from clueval.findings.table import MOST_NESTED, REASONS, error_table

Capture = pytest.CaptureFixture[str]
SAMPLES = Path(__file__).parents[2] / "clueval" / "samples" / "german"
FILES = [str(SAMPLES / f"{side}.vrt") for side in ("gold", "predicted")]
TOKENS = [f"w{n}" for n in range(20)]
A, B = "A", "B"


def document(layers: Mapping[str, Sequence[Span]]) -> Document:
    return Document("d", dict(layers), tokens=TOKENS, metadata={"domain": "x"})


@pytest.mark.parametrize(
    ("others", "reason"),
    [
        ([Span(3, 6, B)], "label"),
        ([Span(3, 5, A), Span(3, 6, B)], "label"),  # both fit: the first does
        ([Span(3, 5, A)], "boundary"),
        ([Span(0, 9, A)], "boundary"),
        ([Span(3, 5, B), Span(5, 7, A)], "boundary"),
        ([Span(3, 5, B)], "boundary+label"),
        ([Span(3, 5, B), Span(5, 6, B)], "boundary+label"),  # a tiling with another label
        ([], "missed"),
        ([Span(6, 8, A), Span(0, 3, A)], "missed"),  # these only touch it
        ([Span(3, 6, A)], "missed"),  # its equal is the partner of another span
        ([Span(3, 6, A), Span(5, 6, B)], "missed"),
    ],
)
def test_reason_is_the_first_that_fits(others: list[Span], reason: str) -> None:
    own = document({"label": [Span(3, 6, A)]})

    for side, expected in (("gold", reason), ("predicted", reason.replace("missed", "spurious"))):
        rows = error_table(own.layers["label"], own, document({"label": others}), side=side)  # type: ignore[arg-type]
        assert [row.reason for row in rows] == [expected]


def test_reason_at_zero_length() -> None:
    gold = document({"label": [Span(3, 3, A)]})

    for others, reason in (
        ([Span(3, 3, B)], "label"),
        ([Span(2, 4, A)], "boundary"),
        ([Span(3, 4, A)], "missed"),
    ):
        (row,) = findings(gold, document({"label": others}), Choice(sides=("gold",)))
        assert row.reason == reason


def test_row_shows_the_first_of_many_nested_spans_and_judges_by_all() -> None:
    others = [Span(n, 200 - n, B) for n in range(90)]
    own = Document("d", {"label": [Span(89, 111, A)]}, tokens=["w"] * 200)

    (row,) = error_table(own.layers["label"], own, Document("d", {"label": others}, tokens=own.tokens))

    assert (row.reason, row.kind, len(row.other_texts)) == ("label", "exact", MOST_NESTED)


def expected_reason(span: Span, others: Sequence[Span], side: str | None) -> str:
    """The reason by its words, one after the other."""
    place = span.fragments
    at = [other for other in others if other.overlaps(span) or other.fragments == place]
    if any(other.fragments == place and other.label != span.label for other in at):
        return "label"
    if any(other.fragments != place and other.label == span.label for other in at):
        return "boundary"
    if at:
        assert all(other.label != span.label for other in at)  # else the span were right
        return "boundary+label"
    return "missed" if side == "gold" else "spurious"


SIDES = st.fixed_dictionaries({"a": any_spans(fragments=True), "b": flat_spans()})
CHOICES = st.builds(
    dict,
    merge=st.booleans(),
    where=st.sampled_from([{}, {"domain": ["x"]}, {"b": ["PER"]}]),
)


def counted(report: Mapping[str, Any]) -> Counter[tuple[str, str]]:
    """The errors that metric exact counts, by side and sequence."""
    found = Counter[tuple[str, str]]()
    for sequence, exact in report["exact"].items():
        found["gold", sequence] += exact["micro"]["fn"]
        found["predicted", sequence] += exact["micro"]["fp"]
    return found


@given(SIDES, SIDES, CHOICES)
def test_errors_are_those_of_exact(
    gold: dict[str, list[Span]], predicted: dict[str, list[Span]], options: dict[str, Any]
) -> None:
    pair = [document(gold)], [document(predicted)]
    if options["merge"] and any(span.parts for side in (gold, predicted) for span in side["a"]):
        options["merge"] = False
    try:
        result = score(*pair, metrics=["exact"], **options)
        rows = list(errors(*pair, **options))
    except CluevalError:
        return  # a filter that no span meets

    assert Counter((row.side, row.sequence) for row in rows) == counted(result.metrics)
    if not options["merge"]:
        for row in rows:
            own, other = (gold, predicted) if row.side == "gold" else (predicted, gold)
            fragments = row.fragments or ((row.start, row.end),)
            (span, *_) = (
                span
                for span in own[row.sequence]
                if tuple((start, end - 1) for start, end in span.fragments) == fragments
                and span.label == row.labels[row.sequence]
            )
            assert row.reason == expected_reason(span, other[row.sequence], row.side)
    found = diff(pair[0], pair[1], pair[0], **options)
    assert Counter((each.side, each.sequence) for each in found.findings) == counted(result.metrics)
    assert {each.state for each in found.findings} <= {"fixed"}


@given(
    flat_spans(), flat_spans(), st.sampled_from([Choice(), Choice(1), Choice(2, "label"), Choice(merge=True)])
)
def test_parts_of_the_bars_are_the_reasons(gold: list[Span], predicted: list[Span], choice: Choice) -> None:
    pair = document({"label": gold}), document({"label": predicted})
    counts: Counter[Any] = Counter()
    list(findings(*pair, choice, counts))
    rows = list(errors(*([each] for each in pair)))
    result = score(*([each] for each in pair), metrics=["levels", "exact"], merge=choice.merge)

    for summary in summaries(result.to_dict(), choice, counts):
        for side, shown in zip(("gold", "predicted"), summary["sides"], strict=True):
            parts = {part["name"]: part["n"] for part in shown["parts"]}
            parts.pop("right", None)
            assert parts == Counter(row.reason for row in rows if row.side == side)


ROUTES = [
    [],
    ["--layer", "entity=2"],
    ["--layer", "entity=2", "--layer", "risk=3"],
    ["--layer", "entity=2", "--layer", "risk=3", "--merge"],
    ["--layer", "entity=2", "--layer", "risk=3", "--where", "risk=high"],
    ["--layer", "entity=2", "--window", "3"],
]


def number_in(pattern: str, text: str) -> int:
    return int(re.findall(pattern, text)[0].replace(",", ""))


def column_file(path: Path, tags: Sequence[Sequence[str]]) -> str:
    lines = (f"w{n}\t{first}\t{second}\n" for n, (first, second) in enumerate(tags))
    path.write_text(
        "".join(f"{line}\n" if n % 4 == 3 else line for n, line in enumerate(lines)), encoding="utf-8"
    )
    return str(path)


TAGS = st.sampled_from(["O", "O", "B-A", "I-A", "B-B", "I-B"])
PAIRS_OF_TAGS = st.lists(st.tuples(st.tuples(TAGS, TAGS), st.tuples(TAGS, TAGS)), min_size=1, max_size=30)


@given(PAIRS_OF_TAGS, st.sampled_from(ROUTES[1:]).filter(lambda route: "--where" not in route))
@at_most(15)
def test_errors_of_column_files_are_those_of_exact(
    tmp_path: Path, capsys: Capture, tags: list[tuple[tuple[str, str], tuple[str, str]]], route: list[str]
) -> None:
    files = [column_file(tmp_path / f"{n}.tsv", [pair[n] for pair in tags]) for n in range(2)]
    files = [*files, "--input", "conll"]
    require_same_numbers(files, route, tmp_path, capsys)


@pytest.mark.parametrize("route", ROUTES[3:5])
def test_every_output_has_the_errors_of_exact(route: list[str], tmp_path: Path, capsys: Capture) -> None:
    pytest.importorskip("jinja2")
    pytest.importorskip("xlsxwriter")
    openpyxl = pytest.importorskip("openpyxl")
    outputs = ["--html", str(tmp_path / "e.html"), "--xlsx", str(tmp_path / "e.xlsx")]

    number = require_same_numbers(FILES, route, tmp_path, capsys, outputs)

    book = openpyxl.load_workbook(tmp_path / "e.xlsx")
    assert sum(book[side].max_row - 1 for side in ("gold", "predicted")) == number
    columns = {cell.value: at for at, cell in enumerate(book["gold"][1])}
    rows = [
        row for side in ("gold", "predicted") for row in book[side].iter_rows(min_row=2, values_only=True)
    ]
    assert {row[columns["reason"]] for row in rows} <= {*REASONS}
    page = (tmp_path / "e.html").read_text(encoding="utf-8")
    assert sum(int(each) for each in re.findall(r"<dt>Errors</dt><dd>([\d,]+)</dd>", page)) == number
    bars = re.findall(r'<p class="whole">.*?: (.*?)</p>', page)
    reasons = Counter[str]()
    for bar in bars:
        for part in bar.split(", "):
            size, name = part.split(" ")
            reasons[name] += int(size)
    del reasons["right"]
    assert reasons == Counter(row[columns["reason"]] for row in rows)


def require_same_numbers(
    files: list[str], route: list[str], tmp_path: Path, capsys: Capture, outputs: Sequence[str] = ()
) -> int:
    """Require that the text and the table have as many errors as `clueval score --metric exact` counts."""
    table = tmp_path / "e.tsv"
    counting = route[: route.index("--window")] if "--window" in route else route
    assert main(["score", *files, *counting, "--metric", "exact", "--format", "csv", "-q"]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    expected = sum(int(row["fn"]) + int(row["fp"]) for row in rows if row["average"] == "micro")

    assert main(["errors", *files, *route]) == 0
    shown = capsys.readouterr()
    assert len(re.findall("^(?:gold|predicted) ", shown.out, re.MULTILINE)) == expected
    assert number_in(r"^([\d,]+) errors? in", shown.err) == expected
    assert "as metric exact counts" in shown.err
    assert main(["errors", *files, *route, "--tsv", str(table), *outputs]) == 0
    assert len(table.read_text(encoding="utf-8").splitlines()) == expected + 1
    return expected


LEVELS = [
    (["--unlabelled"], "errors above level 2 (superset), whatever the labels", {"unlabelled": True}),
    (["--metric", "levels"], "errors above level 2 (superset), whatever the labels", {"unlabelled": True}),
    (["--level", "3"], "errors above level 3 (tiling), whatever the labels", {"level": 3}),
    (["--labelled", "entity"], "errors at level 2 (superset), including", {"labelled": "entity"}),
    (["--reason", "label"], "only label", {"reasons": "label"}),
    (["--reason", "boundary,missed"], "only boundary, missed", {"reasons": ["boundary", "missed"]}),
]


@pytest.mark.parametrize(("options", "headline", "choice"), LEVELS)
def test_another_choice_is_named(
    options: list[str], headline: str, choice: dict[str, Any], tmp_path: Path, capsys: Capture
) -> None:
    pytest.importorskip("jinja2")
    page = tmp_path / "e.html"
    rows = list(errors(*FILES, layers={"entity": 2}, **choice))

    assert main(["errors", *FILES, "--layer", "entity=2", *options, "--html", str(page)]) == 0
    told = capsys.readouterr().err
    assert re.findall(r"^([\d,]+) errors? in", told, re.MULTILINE) == [f"{len(rows):,}"]
    assert headline in told
    assert headline in page.read_text(encoding="utf-8")
    chosen = choice.get("reasons", REASONS)
    assert {row.reason for row in rows} <= ({chosen} if isinstance(chosen, str) else {*chosen})


@given(flat_spans(), flat_spans(), st.sampled_from([None, 1, 2, 4]))
def test_class_and_reason_of_an_error_can_be_chosen(
    gold: list[Span], predicted: list[Span], level: int | None
) -> None:
    """What is found has a class and a reason by which it can be chosen."""
    pair = [document({"label": gold})], [document({"label": predicted})]

    for row in errors(*pair, level=level):
        chosen = list(errors(*pair, level=level, kinds=row.kind, reasons=row.reason, sides=row.side))
        assert (row.start, row.end) in [(each.start, each.end) for each in chosen]


@pytest.mark.parametrize("command", ["errors"])
def test_spreadsheet_is_not_written_under_another_name(command: str, tmp_path: Path, capsys: Capture) -> None:
    pytest.importorskip("xlsxwriter")

    for name in ("e.xls", "e.ods", "e"):
        assert main([command, *FILES, "--layer", "entity=2", "--xlsx", str(tmp_path / name)]) == 2
        assert "(name it e.xlsx)" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


MIXED = ["B-PER", "E-PER", "L-PER", "U-PER", "S-PER", "I-PER", "O", "Q-PER", "B-"]
OPTIONS = [{}, {"scheme": "BIO"}, {"scheme": "BIOES"}, {"scheme": "BILOU", "invalid": "error"}]


@given(
    st.lists(st.lists(st.sampled_from(MIXED), min_size=1, max_size=4), min_size=1, max_size=3),
    st.sampled_from(OPTIONS),
    st.data(),
)
def test_errors_refuse_the_tags_that_score_refuses(
    gold: list[list[str]], options: dict[str, Any], data: st.DataObject
) -> None:
    predicted = [[data.draw(st.sampled_from([tag, *MIXED])) for tag in tags] for tags in gold]
    outcomes = []
    for command in (
        lambda: score(gold, predicted, **options),
        lambda: list(errors(gold, predicted, **options)),
    ):
        try:
            command()
            outcomes.append(None)
        except TagError as error:
            outcomes.append(type(error))

    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("second", [[], [FILES[1]]])
def test_a_layer_of_one_side_is_named(second: list[str], tmp_path: Path, capsys: Capture) -> None:
    pytest.importorskip("jinja2")
    route = ["--layer", "entity=2", "--layer", "risk=3:", "--where", "risk=high"]
    page = ["--html", str(tmp_path / "e.html")]

    assert main(["errors", *FILES, *second, *route, *page]) == 0
    told = capsys.readouterr().err
    assert "layer risk: predicted has no spans, so every gold span of this layer is listed as missed" in told
    assert "--layer NAME=GOLD:PREDICTED" in told
    assert "filter risk: predicted has no such labels, so no predicted span is counted" in told


def test_a_layer_that_is_not_predicted_fills_no_screen(capsys: Capture) -> None:
    route = [*FILES, "--layer", "entity=2", "--layer", "risk=3:"]
    assert main(["errors", *FILES, "--layer", "entity=2"]) == 0
    alone = capsys.readouterr().out

    assert main(["errors", *route]) == 0
    of_both = capsys.readouterr()
    assert of_both.out == alone
    said = "so every gold span of this layer is missed, and is not printed; to compare several layers of gold with one"
    assert said in of_both.err
    assert main(["errors", *route, "--format", "tsv"]) == 0
    assert capsys.readouterr().out.count("\trisk\t") == 219
    assert main(["score", *route]) == 0
    scored = capsys.readouterr()
    assert "risk not predicted" in scored.out
    assert (
        "layer risk: not predicted; to compare several layers of gold with one of predicted, give each as"
        in scored.err
    )
