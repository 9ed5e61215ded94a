"""Empty fields at the end of a line, and columns that are recognised by their content."""

from __future__ import annotations

from pathlib import Path

import pytest
from contents import spans
from corpora import write

from clueval import check, read, score
from clueval.files.errors import FormatError

GERMEVAL = """#\thttp://de.wikipedia.org/wiki/Ulm [2009-10-17]
1\tUlm\tB-LOC\tO
2\tliegt\tO\tO

#\thttp://de.wikipedia.org/wiki/B [2009-10-17]
1\t"\tO\tO\t
2\tUlmer\tB-ORG\tB-LOCderiv
3\tHof\tI-ORG\tO
"""


@pytest.mark.parametrize("text", [GERMEVAL, GERMEVAL.replace("\n", "\r\n"), GERMEVAL.rstrip("\n")], ids=repr)
def test_empty_fields_after_the_columns_of_the_first_line_are_cut_and_counted(
    tmp_path: Path, text: str
) -> None:
    path = write(tmp_path / "NER-de-test.tsv", text)

    (document,) = read(path)

    assert document.tokens == ["Ulm", "liegt", '"', "Ulmer", "Hof"]
    assert spans(document) == [(0, 1, "LOC"), (3, 5, "ORG")]
    assert score(path, path, layers={"inner": "inner"}).passed_over["gold"] == {"empty fields": 1}
    assert check(path) == []


@pytest.mark.parametrize("more", ["\t", "\t\t\t"])
@pytest.mark.parametrize("where", ["gold", "predicted", "both"])
@pytest.mark.parametrize("form", ["conll", "vrt", "conllu"])
def test_empty_fields_change_no_number_on_either_side(
    tmp_path: Path, form: str, where: str, more: str
) -> None:
    lines = ["Ada\tB-PER", "met\tO", "Bob\tB-PER"]
    if form == "conllu":
        lines = [f"{n}\t{line[:3]}\t_\t_\t_\t_\t0\t_\t_\tNER={line[4:]}" for n, line in enumerate(lines, 1)]
    texts = ["\n".join([*lines, ""]), "\n".join([*lines[:2], lines[2].replace("B-PER", "B-LOC"), ""])]
    full = [write(tmp_path / f"{side}0.{form}", text) for side, text in enumerate(texts)]
    for side, name in enumerate(("gold", "predicted")):
        if where in (name, "both"):
            texts[side] = texts[side].replace("O\n", f"O{more}\n")
    cut = [write(tmp_path / f"{side}1.{form}", text) for side, text in enumerate(texts)]

    whole, result = score(*full, metrics="exact"), score(*cut, metrics="exact")

    assert result.metrics == whole.metrics
    expected = {"empty fields": len(more)}
    assert result.passed_over == {
        side: expected if where in (side, "both") else {} for side in ("gold", "predicted")
    }


@pytest.mark.parametrize("more", ["\t", "\t\t"])
def test_empty_fields_at_the_end_of_every_line_are_no_column_of_tags(tmp_path: Path, more: str) -> None:
    path = write(tmp_path / "a.tsv", f"Ada\tB-PER{more}\nmet\tO{more}\n\nUlm\tB-LOC{more}\n")

    assert [spans(each) for each in read(path)] == [[(0, 1, "PER"), (2, 3, "LOC")]]
    assert [spans(each, "x") for each in read(path, {"x": 2})] == [[(0, 1, "PER"), (2, 3, "LOC")]]


@pytest.mark.parametrize("line", ["b\tO\tx", "b\tO\t\tx", "b\tO\tx\t"])
def test_value_beyond_the_columns_of_the_first_line_is_an_error(tmp_path: Path, line: str) -> None:
    with pytest.raises(FormatError, match=r"a:2: the line has [34] columns, the first token line has 2"):
        list(read(write(tmp_path / "a", f"a\tO\n{line}\n")))


def test_documents_of_a_column_are_told_apart_on_lines_with_empty_fields(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", "a\tO\td1\nb\tB-X\td2\t\nc\tO\td2\n")

    found = [(each.id, each.tokens) for each in read(path, {"x": 2}, document_column=3)]

    assert found == [("d1", ["a"]), ("d2", ["b", "c"])]


ANEM = "The\t0\t3\tO\nleft\t4\t8\tB-Organ\nlung\t9\t13\tI-Organ\n\n4\t15\t16\tO\n"


@pytest.mark.parametrize(
    "text", [ANEM, ANEM.replace("\n", "\r\n"), ANEM.replace("\t", " "), ANEM[10:]], ids=repr
)
def test_columns_of_token_start_end_and_tag_are_no_table_of_spans(tmp_path: Path, text: str) -> None:
    (document,) = read(write(tmp_path / "a.txt", text))

    assert (document.tokens or [])[-3:] == ["left", "lung", "4"]
    assert [label for *_, label in spans(document)] == ["Organ"]


@pytest.mark.parametrize("line", ["PER\t6\t7\t6, 7", "NONE\t999\t999\t999", "PER\t6\t7\t"])
def test_table_of_spans_has_numbers_in_its_fourth_column(tmp_path: Path, line: str) -> None:
    path = write(tmp_path / "a.csv", f"{line}\n")

    assert score(path, path).inputs["gold"]["format"] == "fair-spans"


@pytest.mark.parametrize(
    "names", ["id form upos ner misc", "ID FORM UPOS NER MISC", "id form ner-2 Ner head"]
)
def test_columns_of_flair_are_known_in_any_case(tmp_path: Path, names: str) -> None:
    path = write(tmp_path / "a.conllup", f"# global.columns = {names}\n1\tUlm\tO\tB-LOC\t_\n2\tx\tO\tO\t_\n")

    assert [spans(each) for each in read(path)] == [[(0, 1, "LOC")]]
    assert [spans(each, "e") for each in read(path, {"e": "NER"})] == [[(0, 1, "LOC")]]


def test_only_column_of_tags_is_the_default_of_conll_plus(tmp_path: Path) -> None:
    path = write(tmp_path / "a.conllup", "# global.columns = id form chunk\n1\tUlm\tB-LOC\n")

    assert [spans(each) for each in read(path)] == [[(0, 1, "LOC")]]


def test_relations_of_flair_are_passed_over_and_counted(tmp_path: Path) -> None:
    head = "# global.columns = id form ner\n# text = Ada x\n# relations = 1;1;2;2;born|2;2;1;1;in\n"
    path = write(tmp_path / "a.conllup", f"{head}1\tAda\tB-PER\n2\tx\tO\n")

    assert score(path, path).passed_over["predicted"] == {"relations": 2}


@pytest.mark.parametrize("text", ["Ada met Bob in Ulm .\nBob left .\n", "Ada met Bob.\n"])
def test_text_without_columns_is_told_from_a_column_file(tmp_path: Path, text: str) -> None:
    path = write(tmp_path / "judgment.txt", text)

    with pytest.raises(FormatError, match="a text without columns has no spans"):
        list(read(path))
