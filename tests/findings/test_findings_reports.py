from __future__ import annotations

import builtins
import csv
import json
import re
import stat
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval.cli import errors
from clueval.cli.parser import CommandParser
from clueval.core.span import Span
from clueval.evaluation.run import score
from clueval.files.errors import FileError, MissingExtra, UsageError
from clueval.findings import text as findings_text
from clueval.findings.choice import Choice, ReasonKey, metrics_of
from clueval.findings.places import places
from clueval.findings.rows import LONGEST_CELL, marked, shortened, table_lines
from clueval.findings.stream import errors as find_all
from clueval.findings.table import Finding, error_table
from clueval.reports.page import notebook
from clueval.spans.document import Document

SAMPLE = Path(__file__).parents[2] / "clueval" / "samples" / "german"
PATHS = (SAMPLE / "gold.vrt", SAMPLE / "predicted.vrt")
LAYERS = {"entity": 2, "risk": 3}

HOSTILE = [
    "=1+1",
    "+1",
    "-1",
    "@x",
    "a\tb",
    "c\nd\re",
    "\x00\x1b[31m\x07",
    "\u202e",
    "_x0041_",
    "👩\u200d👧",
    "\ud800",
]
HOSTILE += ["http://example.org", "x" * 50_000, "\ufffe\uffff", "{=1}", "<b>"]


def sample(**options: Any) -> list[Finding]:
    return list(find_all(*PATHS, Choice(1, **options), layers=LAYERS, token_id=4))


def table(tokens: list[str], own: Span, others: list[Span]) -> Finding:
    mine = Document("d", {"label": [own]}, tokens=tokens, metadata={"domain": "=x"})
    (found,) = error_table([own], mine, Document("d", {"label": others}, tokens=tokens), side="gold")
    return found


def text_lines(findings: list[Finding], *, width: int = 100, colour: bool = False) -> list[str]:
    return [line for found in findings for line in findings_text.lines_of(found, width=width, colour=colour)]


def each_hostile() -> list[Finding]:
    return [table([text], Span(0, 1, text), []) for text in HOSTILE]


class TestTsv:
    def test_squares_show_which_side_marked_a_token(self) -> None:
        found = table(
            ["Frau", "Anna", "Weiß", "aus", "Ulm"], Span(1, 4, "PER"), [Span(0, 2, "PER"), Span(2, 3, "ORG")]
        )

        assert marked(found.context) == "🟧Frau🟧 🟩Anna🟩 🟩Weiß🟩 🟥aus🟥 Ulm"

    def test_a_row_has_a_cell_for_every_column(self) -> None:
        for options in ({}, {"merge": True}, {"labelled": "risk"}):
            rows = sample(**options)
            read = list(csv.reader(table_lines(rows), "excel-tab", quoting=csv.QUOTE_NONE))

            assert {len(cells) for cells in read} == {len(read[0])}
            assert len(read) == len(rows) + 1
            for cells, row in zip(read[1:], rows, strict=True):
                shown = dict(zip(read[0], cells, strict=True))
                assert (shown["start"], shown["end_inclusive"]) == (str(row.start), str(row.end))
                assert shown["domain"] == row.metadata["domain"]
                assert (shown["class"], shown["reason"]) == (row.kind, row.reason)

    def test_values_neither_break_a_row_nor_run_as_a_formula(self) -> None:
        lines = list(table_lines(each_hostile()))

        assert len(lines) == len(HOSTILE) + 1
        for line in lines[1:]:
            assert line.count("\t") == lines[0].count("\t")
            assert not re.search(r"[\n\r]", line)
            assert all(cell[:1] not in tuple("=+-@") or not cell for cell in line.split("\t"))

    def test_raw_cells_are_not_guarded(self) -> None:
        rows = [table(["=1+1"], Span(0, 1, "@"), [])]

        assert "\t'=1+1\t" in list(table_lines(rows))[1]
        assert "\t=1+1\t" in list(table_lines(rows, raw=True))[1]

    def test_metadata_that_only_later_documents_have_is_not_lost(self) -> None:
        later = Document("e", {"label": []}, tokens=["w"], metadata={"genre": "novel"})
        (other,) = error_table([Span(0, 1)], later, later)

        header, _, row = table_lines([table(["w"], Span(0, 1), []), other])

        assert dict(zip(header.split("\t"), row.split("\t"), strict=True))["metadata"] == "genre=novel"

    def test_no_findings_are_a_header(self) -> None:
        assert len(list(table_lines([]))) == 1


class TestText:
    def test_brackets_show_which_side_marked_a_token(self) -> None:
        found = table(["Frau", "Anna", "Weiß"], Span(1, 3, "PER"), [Span(0, 2, "ORG")])

        assert text_lines([found]) == [
            "gold boundary+label (partial)  label=PER  document d, token 1-2",
            "    {+Frau+} [=Anna=] [-Weiß-]",
            "    predicted: ORG 'Frau Anna'",
            "",
        ]

    def test_lines_keep_to_the_width_where_words_allow(self) -> None:
        for found in sample():
            _, *context, _ = [line for line in text_lines([found], width=60) if line]
            assert all(len(line) <= 60 for line in context)

    def test_colours_change_nothing_else(self) -> None:
        coloured = "\n".join(text_lines(sample(), colour=True))

        assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == "\n".join(text_lines(sample()))

    def test_text_has_no_character_that_controls_the_terminal(self) -> None:
        for found in each_hostile():
            assert all(line.isprintable() for line in text_lines([found]))


class TestSpreadsheet:
    @pytest.fixture
    def write(self, tmp_path: Path) -> Callable[..., Any]:
        pytest.importorskip("xlsxwriter")
        openpyxl = pytest.importorskip("openpyxl")
        from clueval.findings import xlsx as findings_xlsx

        def write(rows: list[Finding], report: Any = None) -> Any:
            path = tmp_path / "findings.xlsx"
            findings_xlsx.write(path, rows, report)
            assert [each.name for each in tmp_path.iterdir()] == ["findings.xlsx"]
            assert stat.S_IMODE(path.stat().st_mode) & 0o600 == 0o600
            return openpyxl.load_workbook(path, rich_text=True)

        return write

    def test_each_side_has_a_sheet_and_the_scores_have_one(self, write: Callable[..., Any]) -> None:
        rows = sample(labelled="entity")
        book = write(rows, score(*PATHS, layers=LAYERS).to_dict())

        assert book.sheetnames == ["scores", "gold", "predicted", "places"]
        for side in ("gold", "predicted"):
            sheet = book[side]
            mine = [row for row in rows if row.side == side]
            names = [cell.value for cell in sheet[1]]
            assert sheet.max_row == len(mine) + 1
            assert names[:2] == ["comment", "context"]
            assert sheet.page_setup.fitToHeight == 0
            assert sheet.print_title_rows == "$1:$1"
            assert sheet.freeze_panes == "A2"
            assert sheet.auto_filter.ref.startswith("A1:")
            last = sheet.cell(sheet.max_row, names.index("text") + 1).coordinate
            assert sheet.print_area.replace("$", "") == f"'{side}'!A1:{last}"
            heights = [(sheet.row_dimensions[n].height or 15) // 15 for n in range(2, sheet.max_row + 1)]
            assert all(lines * 80 >= len(row.context.text) for lines, row in zip(heights, mine, strict=True))
            for row, cells in zip(mine, sheet.iter_rows(min_row=2), strict=True):
                shown = dict(zip(names, cells, strict=True))
                assert str(shown["text"].value) == row.text
                assert shown["start"].value == row.start
                assert str(shown["context"].value) == row.context.text
                assert row.labels["entity"] in shown["context"].comment.text
                assert shown["comment"].value is None

    def test_colours_and_weights_show_which_side_marked_a_token(self, write: Callable[..., Any]) -> None:
        found = table(["Frau", "Anna", "Weiß", "hier"], Span(1, 3, "PER"), [Span(0, 2, "PER")])

        sheet = write([found])["gold"]
        context = next(
            below.value for head, below in zip(sheet[1], sheet[2], strict=True) if head.value == "context"
        )
        blocks = [(each.text.strip(), each.font.color.rgb[-6:], bool(each.font.b)) for each in context]

        assert blocks == [
            ("Frau", "A35A00", False),
            ("Anna", "00734D", True),
            ("Weiß", "B3261E", True),
            ("hier", "333333", False),
        ]

    def test_places_have_a_row_each(self, write: Callable[..., Any]) -> None:
        rows = sample()
        sheet = write(rows)["places"]

        names = [cell.value for cell in sheet[1]]
        shown = [
            dict(zip(names, (cell.value for cell in cells), strict=True))
            for cells in sheet.iter_rows(min_row=2)
        ]
        assert [(row["document"], row["start"], row["end_inclusive"], row["errors"]) for row in shown] == [
            (place.document, place.start, place.end, len(place.findings)) for place in places(rows)
        ]

    def test_numbers_and_dates_of_metadata_are_numbers_and_dates(self, write: Callable[..., Any]) -> None:
        values = {"year": "2004", "day": "2004-02-29", "never": "2004-02-30", "zip": "00417"}
        own = Document("d", {"label": [Span(0, 1)]}, tokens=["w"], metadata=values)

        sheet = write(list(error_table(own.layers["label"], own, own, side="gold")))["gold"]

        row = dict(zip((c.value for c in sheet[1]), (c.value for c in sheet[2]), strict=True))
        assert (row["year"], row["never"], row["zip"]) == (2004, "2004-02-30", "00417")
        assert f"{row['day']:%d.%m.%Y}" == "29.02.2004"

    def test_every_cell_with_text_is_text(self, write: Callable[..., Any]) -> None:
        sheet = write(each_hostile())["gold"]

        assert {
            cell.data_type for cells in sheet.iter_rows() for cell in cells if cell.value is not None
        } <= {"s", "inlineStr", "n"}
        assert all(cell.data_type != "f" for cells in sheet.iter_rows() for cell in cells)
        assert not any(cell.hyperlink for cells in sheet.iter_rows() for cell in cells)
        texts = [str(cells[7].value) for cells in sheet.iter_rows(min_row=2)]
        assert texts[:5] == ["=1+1", "+1", "-1", "@x", "a\tb"]
        assert texts[8] == "_x0041_"
        assert len(texts[12]) == LONGEST_CELL
        assert texts[12].endswith("more chars …]")

    def test_a_full_sheet_goes_on_in_another(
        self, write: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from clueval.findings import xlsx as findings_xlsx

        monkeypatch.setattr(findings_xlsx, "ROWS", 4)

        book = write([table([f"w{n}"], Span(0, 1), []) for n in range(7)])

        shown = [
            str(cells[7].value)
            for name in ("gold", "gold 2", "gold 3")
            for cells in book[name].iter_rows(min_row=2)
        ]
        assert shown == [f"w{n}" for n in range(7)]

    def test_a_failure_leaves_no_file(self, tmp_path: Path) -> None:
        pytest.importorskip("xlsxwriter")
        from clueval.findings import xlsx as findings_xlsx

        def failing() -> Any:
            yield table(["w"], Span(0, 1), [])
            raise KeyError

        with pytest.raises(KeyError):
            findings_xlsx.write(tmp_path / "t.xlsx", failing())
        with pytest.raises(FileError, match="cannot be written"):
            findings_xlsx.write(tmp_path / "none" / "t.xlsx", [])
        assert list(tmp_path.iterdir()) == []


class TestPage:
    """What can be said of the page without a browser; the rest is in test_page.py."""

    @pytest.fixture
    def page(self, tmp_path: Path) -> Callable[..., str]:
        pytest.importorskip("jinja2")
        from clueval.findings import page as findings_html

        def render(rows: list[Finding], choice: Choice, **options: Any) -> str:
            result = score(*PATHS, metrics=metrics_of(choice), layers=LAYERS, merge=choice.merge)
            findings_html.write(tmp_path / "page.html", rows, result.to_dict(), choice, {}, **options)
            return (tmp_path / "page.html").read_text(encoding="utf-8")

        return render

    def test_page_is_self_contained(self, page: Callable[..., str]) -> None:
        text = page(sample(), Choice(1))

        assert not re.search(r"(src|href)=\"(?!#|data:,)", text)
        assert "http" not in re.sub(r"<script type.*?</script>|http-equiv", "", text, flags=re.DOTALL)

    def test_the_data_are_the_findings(self, page: Callable[..., str]) -> None:
        rows = sample(merge=True)
        text = page(rows, Choice(1, merge=True))

        (data,) = re.findall(
            r'<script type="application/json" id="data">(.*?)</script>', text, flags=re.DOTALL
        )
        found = [row for row in map(json.loads, filter(str.strip, data.split("\n"))) if row[0] == "p"]
        bars = [(error[1], row[8][error[0]]) for row in found for error in row[9]]
        assert [(side, bar[1], bar[2]) for side, bar in bars] == [(r.side, r.labels, r.start) for r in rows]

    def test_page_has_its_first_places_without_a_script(
        self, page: Callable[..., str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        rows = sample()
        every = re.findall(r'<li class="card" id="([^"]*)"', page(rows, Choice(1)))
        assert len(every) == len(set(every)) == len(list(places(rows)))

        monkeypatch.setattr("clueval.findings.page.WITHOUT_SCRIPT", 3)
        text = page(rows, Choice(1))

        assert re.findall(r'<li class="card" id="([^"]*)"', text) == every[:3]
        assert text.count('\n["p"') == len(every)

    def test_page_begins_with_a_summary_that_adds_up(self, page: Callable[..., str]) -> None:
        text = page(sample(), Choice(1))

        for side, spans in (("gold", 222), ("predicted", 229)):
            (parts,) = re.findall(rf'<p class="whole">{spans} {side} spans: (.*?)</p>', text)
            assert sum(int(number) for number in re.findall(r"\d+", parts)) == spans
        assert text.index('class="summary"') < text.index('class="examples"') < text.index('id="list"')

    def test_nothing_from_the_corpus_is_markup(self, page: Callable[..., str]) -> None:
        evil = "</script><script>alert(1)</script><!--"
        own = Document(evil, {evil: [Span(0, 1, evil)]}, tokens=[evil], metadata={evil: evil})
        rows = list(
            error_table(own.layers[evil], own, Document(evil, {evil: []}, tokens=[evil]), side="gold")
        )

        text = page(rows, Choice(1), title=evil)

        assert "alert(1)</script>" not in text
        assert text.count("</script>") == 3
        assert "\ud800" not in page(each_hostile(), Choice(1))

    def test_a_page_without_the_confusion_metric_has_no_pictures(self, tmp_path: Path) -> None:
        pytest.importorskip("jinja2")
        from clueval.findings import page as findings_html

        path = tmp_path / "page.html"
        findings_html.write(path, sample(), score(*PATHS, layers=LAYERS).to_dict(), Choice(1), {})
        text = path.read_text(encoding="utf-8")

        assert '<table class="heat">' not in text
        assert '<table class="scores">' in text

    def test_page_is_written_whole_or_not_at_all(self, tmp_path: Path) -> None:
        pytest.importorskip("jinja2")
        from clueval.findings import page as findings_html

        rest = score(*PATHS, metrics=["exact"], layers=LAYERS).to_dict(), Choice(), dict[ReasonKey, int]()

        def failing() -> Any:
            yield table(["w"], Span(0, 1), [])
            raise KeyError

        with pytest.raises(KeyError):
            findings_html.write(tmp_path / "t.html", failing(), *rest)
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("package", "room", "arguments"),
    [("jinja2", "page", ([], {"metrics": {}}, Choice(), {})), ("xlsxwriter", "xlsx", ([],))],
)
def test_missing_package_is_one_clear_error(
    package: str, room: str, arguments: tuple[Any, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from importlib import import_module

    original = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] == package:
            raise ImportError(name)
        return original(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    write = import_module(f"clueval.findings.{room}").write

    with pytest.raises(MissingExtra, match=r"needs the package .* \(pip install 'clueval\[report\]'\)"):
        write(tmp_path / "file", *arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_notebook_shows_the_tables_and_the_signature() -> None:
    result = score(*PATHS, layers={"<b>": 2})

    text = notebook(result.to_dict(), result.tables(all=True))

    assert "<b>" not in text
    assert text.count("<table>") == text.count("</table>") == 4
    assert "signature: <code>metrics:levels" in text


@given(st.text(max_size=300), st.integers(40, 200))
def test_a_shortened_text_fits_and_says_how_much_is_left_out(text: str, longest: int) -> None:
    short = shortened(text, longest)

    assert len(short) <= longest
    if short != text:
        kept, _, rest = short.rpartition(" [… ")
        assert text.startswith(kept)
        assert int(rest.split()[0]) == len(text) - len(kept)


class TestCommand:
    """``clueval errors``, without the command line around it."""

    def run(self, *arguments: str) -> int:
        parser = CommandParser(prog="clueval errors")
        errors.add_arguments(parser)
        reading = ["--layer", "entity=2", "--layer", "risk=3", "--token-id", "4"]
        return errors.run(parser.parse_args([*map(str, PATHS), *reading, *arguments]))

    def test_text_goes_to_stdout_and_remarks_to_stderr(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert self.run("--side", "gold", "--level", "1", "--limit", "2") == 0

        out, err = capsys.readouterr()
        assert out.count("\ngold ") == 2
        assert "\x1b" not in out
        assert err.startswith("2 errors in 2 places shown; level 1 counts ")

    def test_last_line_counts_places_and_errors_in_words(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert self.run() == 0

        out, err = capsys.readouterr()
        heads = [line.split()[0] for line in out.splitlines()[2:] if re.match("(gold|predicted) ", line)]
        assert err.splitlines()[0] == (
            f"{len(heads)} errors in 72 places: {heads.count('gold')} gold spans not found, "
            f"{heads.count('predicted')} predicted spans wrong"
        )

    def test_errors_of_faireval_are_counted_by_type(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert self.run("--metric", "fair") == 0

        out, err = capsys.readouterr()
        heads = Counter(re.findall(r"^(?:gold|predicted) .*?\(([A-Z]+)\)", out, re.MULTILINE))
        assert err.splitlines()[0].endswith(
            "places: " + ", ".join(f"{number} {kind}" for kind, number in heads.most_common())
        )

    def test_all_outputs_have_the_same_errors(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        pytest.importorskip("jinja2")
        openpyxl = pytest.importorskip("openpyxl")
        pytest.importorskip("xlsxwriter")
        files = {name: tmp_path / f"errors.{name}" for name in ("tsv", "xlsx", "html")}
        written = [part for name, path in files.items() for part in (f"--{name}", str(path))]

        assert self.run("--labelled", "entity", "--class", "partial,missed", *written) == 0

        rows = sample(labelled="entity", kinds=frozenset(["partial", "missed"]))
        book = openpyxl.load_workbook(files["xlsx"])
        assert len(files["tsv"].read_text(encoding="utf-8").splitlines()) == len(rows) + 1
        assert sum(book[side].max_row - 1 for side in ("gold", "predicted")) == len(rows)
        places = re.findall(r'^\["p".*', files["html"].read_text(encoding="utf-8"), flags=re.MULTILINE)
        assert sum(len(json.loads(place)[9]) for place in places) == len(rows)
        assert capsys.readouterr().out == ""

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--labelled", "genre"], "there is no layer 'genre' (one of entity, risk)"),
            (["--class", "odd"], "there is no class 'odd'"),
            (["--raw"], "--raw needs --tsv"),
            (["--where", "genre=novel"], "is called 'genre'"),
        ],
    )
    def test_wrong_use_is_one_clear_error(self, arguments: list[str], message: str) -> None:
        with pytest.raises(UsageError, match=re.escape(message)):
            self.run(*arguments)
