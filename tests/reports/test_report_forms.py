"""Reports in all forms and files: what is written, and that no text of a corpus becomes markup or a formula."""

from __future__ import annotations

import ast
import csv
import gzip
import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

import clueval
from clueval.files.errors import FileError, UsageError
from clueval.reports import ENDINGS
from clueval.reports.language import CATALOGUES
from clueval.reports.place import Facet, Line, Mark, MarkedText, MarkKind, Place
from clueval.reports.report import Report
from clueval.reports.table import Cell, Dot, Estimate, Find, Part, Rate, Shares, Table
from clueval.studies.agreement.places import facets_of_places
from clueval.studies.conventions import CONVENTIONS, REFUSED
from clueval.studies.decisions import read_decisions
from clueval.studies.errors.noisy import NoisyErrors
from clueval.studies.errors.report import Errors
from clueval.studies.errors.two_systems import Diff, TwoSystems
from clueval.studies.masking.words import facets as masking_facets
from tests.reports.views import View, errors_view, page

pytestmark = pytest.mark.filterwarnings("ignore::clueval.files.errors.CluevalWarning")

PACKAGE = files("clueval.reports")

HOSTILE = (
    "</script><script>window.ran=1</script>",
    "<img src=x onerror=window.ran=1>",
    '" onmouseover="window.ran=1',
    "<!--<script>",
    "]]>",
    "$title ${data} {n} %s \\u003c",
    "=1+1",
    "\x1b[31m\u202e\u2028\ud800",
    "🟥 |*_`[x](y)",
    "\U000e0041\ufdd0\x85a",
)


def hostile_view(text: str) -> View:
    """A report that has one text everywhere."""
    marked = MarkedText(text, [Mark(0, 0, len(text), text, True, text)])
    find = {text: text}
    bar = Shares([Part(1, text, find), Part(2, text, {})])
    return View(
        text,
        text,
        facets=[Facet("label", text, True), Facet(text, text)],
        choices=[(text, text)],
        store=text,
        decision_lines=[],
        said=text,
        about=[text],
        shown_tables=[Table(text, [text, text, text], [[Find(text, find), bar, Rate(0.5)]])],
        listed=[
            Place(
                (text, text, 0, 1),
                text,
                [marked],
                [Line(text, (text, text), 0, text, text, text)],
                impossible={text: text},
            )
        ],
    )


class Elements(HTMLParser):
    """All elements of a page, the attributes that run code or load something, and the text that is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.dangerous: list[tuple[str, str | None]] = []
        self.shown = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.dangerous += [each for each in attrs if each[0].startswith("on") or each[0] in ("src", "href")]

    def handle_data(self, data: str) -> None:
        self.shown += data


@pytest.mark.parametrize("text", HOSTILE)
def test_page_with_hostile_text_has_the_elements_of_a_plain_page(text: str) -> None:
    hostile, plain = Elements(), Elements()
    hostile.feed(page(hostile_view(text)))
    plain.feed(page(hostile_view("Anna")))

    assert hostile.names == plain.names
    assert hostile.dangerous == []


@pytest.mark.parametrize("text", HOSTILE)
def test_page_with_hostile_text_has_no_character_that_steers_text(text: str) -> None:
    written = page(hostile_view(text)).encode("utf-8").decode("utf-8")

    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]", written)


@pytest.mark.parametrize("text", HOSTILE)
def test_notebook_shows_hostile_text_as_text(text: str) -> None:
    found, plain = Elements(), Elements()
    found.feed(hostile_view(text)._repr_html_())
    plain.feed(hostile_view("Anna")._repr_html_())

    assert found.names == plain.names
    assert found.dangerous == []


def test_notebook_says_what_its_marks_mean_and_folds_the_signature() -> None:
    shown = errors_view()._repr_html_()

    names = re.findall(r'<span style="border-bottom:3px (\w+) #\w+">(gold|predicted|both)</span>', shown)
    assert names == [("solid", "gold"), ("dashed", "predicted"), ("double", "both")]
    assert shown.count("<li>") == 10
    assert '<span style="border-bottom:3px dashed #b8742a">Frau </span>' in shown
    assert shown.endswith("<details><summary>Signature:</summary><code>metric:exact</code></details>")


def test_notebook_has_dots_where_a_text_is_cut() -> None:
    text = MarkedText("met Anna in", [Mark(0, 4, 8)], (True, True))
    shown = View(listed=[Place(("d", "x", 1, 2), "", [text], [])])._repr_html_()

    assert '<div dir="auto">… met <span' in shown
    assert "</span> in …</div>" in shown


def test_page_says_where_to_click_if_something_lists_places() -> None:
    find, listed = {"label": "A"}, [Place(("d", "x", 1, 2), "", [], [])]
    rows: list[list[Cell]] = [
        ["A", 3],
        ["A", Find(3, find)],
        [Find("A", find), Shares([Part(3, "missed", find)])],
    ]
    pages = [page(View(shown_tables=[Table("errors", ["", "n"], [row])], listed=listed)) for row in rows]

    hints = [
        re.findall("Click a (.+?) to list its places", written.partition("<script")[0]) for written in pages
    ]
    assert hints == [[], ["label or a number"], ["bar, a label or a number"]]


def test_page_names_its_script_by_its_hash_and_loads_nothing() -> None:
    written = page(errors_view())
    (script,) = re.findall(r"<script>(.*?)</script>", written, re.S)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    (policy,) = re.findall(r'Content-Security-Policy" content="(.*?)"', written)

    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}'" in policy
    assert not re.search(r"https?:|url\(|@import", written)


def test_page_and_files_have_the_same_bytes_each_time(tmp_path: Path) -> None:
    for name in ("a.html", "a.tsv.gz", "a.csv", "a.json", "a.md", "a.tex", "a.txt"):
        errors_view().write(tmp_path / name)
        first = (tmp_path / name).read_bytes()
        errors_view().write(tmp_path / name)

        assert (tmp_path / name).read_bytes() == first


def test_rows_are_those_of_the_findings_with_the_key_of_their_place() -> None:
    rows = errors_view().rows()

    assert len(rows) == 165
    assert {tuple(row) for row in rows} == {tuple(rows[0])}
    assert rows[0]["context"] == "der 🟥Frau🟥 🟩Hannelore Tiedgen🟩 , Lindenhof 7 , 00417 Wiesenbrück ,"
    assert (rows[0]["start"], rows[0]["end_inclusive"]) == (21, 23)
    assert rows[1]["text"] == "Hannelore Tiedgen"


def test_places_without_findings_have_a_row_each() -> None:
    (row,) = hostile_view("Anna").rows()

    assert row["what"] == "Anna"
    assert row["text"] == "🟥Anna🟥"
    assert row["label"] == "Anna"


def test_text_has_a_first_screen_of_forty_lines_in_which_tables_are_shortened() -> None:
    text = errors_view().render()

    assert len(text.split("\n")) <= 40
    assert "entity: exact, first 3 of 13 rows, in %" in text
    assert "70 more places: -o x.html" in text


def test_table_that_is_too_wide_continues_below() -> None:
    table = Table("wide", ["label", *(f"column {n}" for n in range(20))], [["PER", *range(20)]])
    lines = View(shown_tables=[table]).render().split("\n")

    assert max(map(len, lines)) <= 100
    assert sum(line.startswith("PER") for line in lines) == 3


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_no_cell_is_a_formula_or_breaks_its_line(form: str) -> None:
    view = hostile_view("=1\n+\t1")
    lines = view.render(form).split("\n")
    rows = list(csv.reader(StringIO(view.render(form)), delimiter="," if form == "csv" else "\t"))

    assert len(lines) == 2
    assert not [cell for cell in rows[1] if cell.startswith("=")]


def test_forms_for_papers_escape_their_marks() -> None:
    report = hostile_view("a_b & <c> | $d")

    assert r"a\_b \& \textless{}c\textgreater{} \textbar{} \$d" in report.render("latex")
    assert r"a\_b &amp; &lt;c&gt; \| $d" in report.render("markdown")


@pytest.mark.parametrize("form", ["text", "markdown", "latex"])
def test_forms_for_readers_speak_german(form: str) -> None:
    assert "81,60" in errors_view().render(form, lang="de")
    assert "81.6" in errors_view().render(form, digits=1)


def test_unknown_form_ending_language_and_digits_are_usage_errors(tmp_path: Path) -> None:
    for call, message in (
        (lambda: View().render("yaml"), "unknown form 'yaml' (one of text, json, csv, tsv, markdown, latex)"),
        (lambda: View().write(tmp_path / "x.docx"), "does not end in the name of a form (one of .txt, .json"),
        (lambda: View().write(tmp_path / "x.xlsx.gz"), "does not end in the name of a form"),
        (lambda: View().render(lang="<b>"), "'<b>' is not a language such as de or de-AT"),
        (lambda: View().render(digits=11), "digits must be a whole number from 0 to 10, not 11"),
    ):
        with pytest.raises(UsageError, match=re.escape(message)):
            call()

    assert not list(tmp_path.iterdir())


def test_file_that_cannot_be_written_is_left_as_it_was(tmp_path: Path) -> None:
    class Failing(View):
        def places(self) -> Any:
            yield errors_view().listed[0]
            raise OSError("the disk is full")

    (tmp_path / "errors.html").write_text("before", encoding="utf-8")
    with pytest.raises(FileError, match="cannot be written"):
        Failing(facets=errors_view().facets).write(tmp_path / "errors.html")
    with pytest.raises(FileError, match="cannot be written"):
        View().write(tmp_path / "no folder" / "x.tsv")

    assert (tmp_path / "errors.html").read_text(encoding="utf-8") == "before"
    assert [each.name for each in tmp_path.iterdir()] == ["errors.html"]


def test_packed_file_has_the_text_of_a_plain_one(tmp_path: Path) -> None:
    errors_view().write(tmp_path / "a.tsv")
    errors_view().write(tmp_path / "a.tsv.gz")

    assert gzip.decompress((tmp_path / "a.tsv.gz").read_bytes()) == (tmp_path / "a.tsv").read_bytes()


def test_workbook_has_colours_choices_and_no_formula(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    errors_view().write(tmp_path / "errors.xlsx")
    hostile_view("=1+1").write(tmp_path / "hostile.xlsx")
    book = openpyxl.load_workbook(tmp_path / "errors.xlsx", rich_text=True)
    sheet, hostile = book["places"], openpyxl.load_workbook(tmp_path / "hostile.xlsx")
    head = [cell.value for cell in sheet[1]]
    (context,) = [cell.value for cell in sheet[2] if head[cell.column - 1] == "context"]

    assert sheet.max_row == 166
    assert [each.font.color.rgb for each in context if not isinstance(each, str)] == ["FFB3261E", "FF00734D"]
    assert [each.formula1 for each in sheet.data_validations.dataValidation] == [
        '"predicted,gold,both,none,unclear"'
    ]
    assert {cell.data_type for each in hostile for row in each.rows for cell in row} <= {
        "s",
        "inlineStr",
        "n",
    }
    assert book["scores"].max_row > 20


def test_rates_and_dots_are_percentages_in_a_workbook_with_columns_as_wide_as_cells(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    header = ["", "a", "recall of documents", "n", "c"]
    cells = [Rate(0.5), Dot(0.25), 3, Rate(Estimate(0.7, 0.6, 0.9))]
    View(shown_tables=[Table("F1", header, [["x", *cells]])]).write(tmp_path / "x.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "x.xlsx")["scores"]
    row = next(row for row in sheet if row[0].value == "x")

    assert sheet.column_dimensions["C"].width > len(header[2])
    assert [(cell.value, cell.number_format) for cell in row[1:]] == [
        (0.5, "0.00%"),
        (0.25, "0.00%"),
        (3, "General"),
        (0.7, "0.00%"),
        (0.6, "0.00%"),
        (0.9, "0.00%"),
    ]


def test_choice_in_the_workbook_is_a_decision(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    errors_view().write(tmp_path / "errors.xlsx")
    book = openpyxl.load_workbook(tmp_path / "errors.xlsx")
    book["places"]["F2"] = "gold"
    book.save(tmp_path / "errors.xlsx")
    place = errors_view().listed[0]

    assert book["places"]["F1"].value == "choice"
    assert read_decisions(tmp_path / "errors.xlsx").at(place).holds == "gold"


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("text", HOSTILE)
def test_every_file_can_hold_hostile_text(tmp_path: Path, text: str, ending: str) -> None:
    hostile_view(text).write(tmp_path / f"hostile{ending}")
    written = (tmp_path / f"hostile{ending}").read_bytes()

    assert written
    assert b"\x1b[31m" not in written or ending in (".csv", ".tsv")  # data are as they are


def test_workbook_cuts_what_a_cell_cannot_hold(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    hostile_view("x" * 40_000 + "\x01").write(tmp_path / "long.xlsx")
    (row,) = list(
        openpyxl.load_workbook(tmp_path / "long.xlsx")["places"].iter_rows(min_row=2, values_only=True)
    )

    assert max(len(str(cell)) for cell in row) <= 32_767


def test_dots_stand_on_one_axis_with_ticks() -> None:
    rows = [["base", Dot(0.8, is_baseline=True)], ["large", Dot(0.86, 0.84, 0.88)]]
    written = page(View(shown_tables=[Table("F1", ["system", "F1"], rows)]))

    assert 'style="--from:80;--width:8;--value:86;--low:84;--high:88"><i></i><b></b>' in written
    assert '--value:80"><b class="baseline"></b>' in written
    assert 'title="86.00 [84.00, 88.00]"' in written
    ticks = re.findall(r"<i style=\"--value:[\d.]+\">([\d.]+)</i>", written)
    assert ticks == ["80", "82", "84", "86", "88"]


# --- language


def test_no_tick_of_an_axis_is_above_the_greatest_rate() -> None:
    rows = [["base", Dot(0.816, 0.755, 0.865)], ["large", Dot(0.998, 0.984, 1.0)]]
    written = page(View(shown_tables=[Table("F1", ["system", "F1"], rows)]))
    ticks = re.findall(r"<i style=\"--value:[\d.]+\">([\d.]+)</i>", written)

    assert ticks == ["75", "80", "85", "90", "95", "100"]


def spoken() -> set[str]:
    """Every text of reports and studies that is given to `phrase`, but for words of clueval."""
    found = set(re.findall(r'phrase\(\s*"([^"\n]*)"', (PACKAGE / "page.js").read_text(encoding="utf-8")))
    others = []
    found.update(re.findall("{{(.+?)}}", (PACKAGE / "page.html").read_text(encoding="utf-8")))
    for module in (*Path(str(PACKAGE)).glob("*.py"), *Path(str(PACKAGE)).parent.glob("studies/**/*.py")):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "phrase":
                (text, *_) = node.args
                if isinstance(text, ast.Constant):
                    found.add(str(text.value))
                elif module.parent.name == "reports":
                    others.append(module.name)
    assert others == ["page.py"]  # the texts of the template
    return found


def names_in_tables() -> set[str]:
    """Every text of results and metrics, which may be the name of a column or a row; keys of reports with blanks."""
    package = Path(str(PACKAGE)).parent
    found: set[str] = set()
    places = (
        "results/*.py",
        "metrics/**/*.py",
        "studies/comparison/*.py",
        "studies/masking/*.py",
        "studies/span_values.py",
        "studies/threshold.py",
    )
    for module in (module for place in places for module in package.glob(place)):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= {node.value, node.value.replace("_", " ")}
    return found | {f"{figures}, {name}" for figures in ("redacted", "replacements") for name in found}


@pytest.mark.parametrize("language", CATALOGUES)
def test_catalogue_has_every_text_and_no_other(language: str) -> None:
    import tomllib

    text = (PACKAGE / "languages" / f"{language}.toml").read_text(encoding="utf-8")
    catalogue = tomllib.loads(text)
    studies: list[Report] = [Errors([]), TwoSystems([]), Diff([]), NoisyErrors([])]
    facets = [facet for each in studies for facet in each.facets]
    facets += [*facets_of_places(), *masking_facets()]
    words = {",", ".", *(word for facet in facets for word in facet.words)}
    words |= {*REFUSED.values(), *(convention.counts for convention in CONVENTIONS)}

    assert spoken() | words <= set(catalogue)
    assert set(catalogue) <= spoken() | words | names_in_tables()


def test_template_has_no_text_outside_the_catalogue() -> None:
    found = Elements()
    found.feed((PACKAGE / "page.html").read_text(encoding="utf-8"))

    assert re.sub(r"\$\w+|{{.+?}}", "", found.shown).split() == []


def test_words_of_facets_are_translated_and_labels_are_not() -> None:
    written = page(errors_view(), lang="de")
    settings = json.loads(re.findall(r'id="data">\n(.*)\n', written)[0])

    assert settings["texts"]["boundary"] == "Grenzen"
    assert "person" not in settings["texts"]
    assert '<html lang="de">' in written


def test_page_has_the_size_of_its_parts() -> None:
    lines = [
        len((PACKAGE / f"page.{ending}").read_text("utf-8").splitlines()) for ending in ("html", "js", "css")
    ]

    assert sum(lines) <= 1_100


def test_marks_of_all_kinds_are_drawn() -> None:
    kinds = [MarkKind("masked", "", "masked"), MarkKind("leak", "", "can be read")]
    view = View(
        kinds=kinds,
        listed=[Place(("d", "*", 0, 2), "", [MarkedText("ab", [Mark(0, 0, 1), Mark(1, 1, 2)])], [])],
    )

    assert view.rows()[0]["text"] == "⬛a⬛🟥b🟥"
    assert "<a>[b]" in view.render()


def test_a_first_screen_of_a_table_with_many_rows_or_of_many_tables_has_forty_lines() -> None:
    rows = [[f"label {n}", Rate(0.5)] for n in range(30_000)]
    many = [Table(f"table {n}", ["label", "F1"], rows[:5]) for n in range(5_000)]

    for tables in ([Table("long", ["label", "F1"], rows)], many):
        text = View(shown_tables=tables).render()
        assert len(text.split("\n")) <= 40
        assert "--all" in text


def test_a_narrow_terminal_has_the_first_columns_of_a_table() -> None:
    table = Table(
        "wide", ["label", *(f"column {n}" for n in range(20))], [[str(n), *range(20)] for n in range(25)]
    )
    lines = View(shown_tables=[table]).render(width=60).split("\n")

    assert lines[lines.index("wide") + 1].split()[-2:] == ["column", "4"]
    assert sum(line.startswith("24 ") for line in lines) == 1  # all rows, and nothing continues below
    assert 'all tables: --all, or in Python render("text", all=True)' in lines


def test_a_narrow_terminal_has_all_rates_and_no_ends_of_intervals() -> None:
    rate = Rate(Estimate(0.871, 0.846, 0.892))
    rows = [[f"label{n}", rate, rate, rate, "a remark on the label"] for n in range(25)]
    table = Table("estimates", ["label", "precision", "recall", "f1", "remark"], rows)
    lines = View(shown_tables=[table]).render(width=60).split("\n")
    at = lines.index("estimates, in %")

    assert lines[at + 1].split() == ["label", "precision", "recall", "f1"]
    assert lines[at + 3].split() == ["label0", *["87.1", "±", "2.3"] * 3]
    assert "87.1 ± 2.3 [84.6, 89.2]" in View(shown_tables=[table]).render()


def test_a_long_line_of_a_place_goes_on_indented_in_a_terminal() -> None:
    label = "L" * 500
    view = View(
        listed=[Place(("d", "x", 0, 1), "f", [], [Line("missed", [], None, label, "text", "note " * 20)])]
    )
    lines = view.render(width=40).split("\n")
    at = lines.index("d x 0")

    assert max(map(len, lines[at:-1])) <= 40
    assert lines[at + 1].startswith("  LLL")
    assert lines[at + 2].startswith("    ")
    assert "L" * 61 not in view.render()


def test_the_name_of_a_report_in_a_session_says_how_it_is_shown() -> None:
    assert repr(clueval.errors([["O"]], [["O"]])).startswith("<Errors; print(...) shows it")
