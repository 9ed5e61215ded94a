"""Columns with the ids and the metadata of documents, and single files with several columns of tags."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpora import write

from clueval import CluevalError, FormatError, UsageError, errors, read, score
from clueval.cli import main
from clueval.formats.options import Reading

GOLD = "Anna\tB-PER\td1\tcivil\nWeiß\tI-PER\td1\tcivil\nin\tO\td2\tcivil\n\nUlm\tB-LOC\td2\tcivil\n\nEi\tO\td3\ttax\n"
COLUMNS = {"document_column": 3, "meta": {"domain": 4}}


def test_a_document_begins_where_the_id_changes_even_within_a_sentence(tmp_path: Path) -> None:
    documents = list(read(write(tmp_path / "a.conll", GOLD), **COLUMNS))

    assert [(each.id, list(each.tokens or ()), dict(each.metadata)) for each in documents] == [
        ("d1", ["Anna", "Weiß"], {"domain": "civil"}),
        ("d2", ["in", "Ulm"], {"domain": "civil"}),
        ("d3", ["Ei"], {"domain": "tax"}),
    ]
    assert [len(each.sentences) for each in documents] == [1, 2, 1]


def test_in_vrt_elements_and_columns_begin_documents(tmp_path: Path) -> None:
    text = '<text id="x" year="1999">\n<s>\na\tB-A\td1\n</s>\n<s>\nb\tO\td2\n</s>\n</text>\n'
    text += '<text id="y">\nc\tO\td2\n</text>\n'
    documents = list(read(write(tmp_path / "a.vrt", text), {"label": 2}, document_column=3))

    assert [(each.id, each.tokens) for each in documents] == [("d1", ["a"]), ("d2", ["b"]), ("d2", ["c"])]
    assert documents[0].metadata["year"] == "1999"


def test_scores_by_columns_are_those_of_marked_documents(tmp_path: Path) -> None:
    predicted = GOLD.replace("B-LOC", "O")
    files = write(tmp_path / "g.conll", GOLD), write(tmp_path / "p.conll", predicted)
    marked = []
    for name, tag in (("gm.conll", "B-LOC"), ("pm.conll", "O")):
        text = "# newdoc id = d1\n# meta::domain = civil\nAnna\tB-PER\nWeiß\tI-PER\n# newdoc id = d2\n"
        text += (
            f"# meta::domain = civil\nin\tO\n\nUlm\t{tag}\n# newdoc id = d3\n# meta::domain = tax\nEi\tO\n"
        )
        marked.append(write(tmp_path / name, text))

    by_columns = score(*files, by=["document", "domain"], metrics="exact,levels", **COLUMNS).to_dict()

    expected = score(*marked, by=["document", "domain"], metrics="exact,levels").to_dict()
    assert by_columns == expected


def test_each_side_may_have_its_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    swapped = "\n".join(
        "\t".join([a, c, d, b]) if line else ""
        for line in GOLD[:-1].split("\n")
        for a, b, c, d in [line.split("\t") if line else [""] * 4]
    )
    gold, predicted = write(tmp_path / "g.conll", GOLD), write(tmp_path / "p.conll", f"{swapped}\n")
    reading = Reading(document_column=3, meta=["domain=4"]), Reading(document_column=2, meta=["domain=3"])

    result = score(gold, predicted, layers={"x": (2, 4)}, reading=reading, by="domain", metrics="exact")

    assert result.metrics["exact"]["x"]["micro"]["f1"] == 1
    arguments = ["--document-column", "3:2", "--meta", "domain=4:3", "--by", "domain", "--metric", "exact"]
    assert main(["score", str(gold), str(predicted), "--layer", "x=2:4", *arguments]) == 0
    assert "tax" in capsys.readouterr().out


def test_metadata_that_changes_within_a_document_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r":7: the metadata 'domain' changes from 'civil' to 'tax' within"):
        list(read(write(tmp_path / "a.conll", GOLD), {"label": 2}, meta={"domain": 4}))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"document_column": 9}, "there is no column 9 for the documents"),
        ({"meta": {"domain": 9}}, "there is no column 9 for the metadata 'domain'"),
        ({"meta": ["domain"]}, "meta needs a name and a column"),
        ({"meta": {"domain": "x"}}, "meta needs a name and a column"),
        ({"meta": ["a=2", "a=3"]}, "meta names 'a' twice"),
    ],
)
def test_columns_that_do_not_exist_are_refused(
    tmp_path: Path, options: dict[str, object], message: str
) -> None:
    with pytest.raises(CluevalError, match=message):
        list(read(write(tmp_path / "a.conll", GOLD), {"label": 2}, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize("scheme", ["BMES", "BMEOW"])
def test_bmes_and_bmeow_are_recognised_and_decoded(tmp_path: Path, scheme: str) -> None:
    single = scheme[3] if scheme == "BMES" else "W"
    text = f"a\tB-X\nb\tM-X\nc\tE-X\nd\t{single}-Y\ne\tO\n"
    path = write(tmp_path / "a.conll", text)

    result = score(path, path, metrics="exact")

    assert result.inputs["gold"]["layers"]["label"] == {"source": 2, "scheme": scheme, "spans": 2}
    assert score(path, path, metrics="exact", scheme=scheme, invalid="error").to_dict()["metrics"]
    (document,) = read(path, scheme=scheme, invalid="discard")
    assert [(span.start, span.end) for span in document.layers["label"]] == [(0, 3), (3, 4)]


def test_a_single_file_with_three_columns_of_tags_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.conll", "a\tB-X\tB-X\tO\nb\tO\tO\tB-X\n")

    with pytest.raises(UsageError, match=r"columns 2, 3 and 4 hold tags.*layers={'label': \(2, 3\)}"):
        score(path)
    with pytest.raises(UsageError, match="columns 2, 3 and 4 hold tags"):
        list(errors(path))
    assert score(path, layers={"x": (2, 4)}, metrics="exact").metrics["exact"]["x"]["micro"]["gold"] == 1


def test_a_single_file_may_have_chunks_before_the_last_two_columns(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.conll", "EU NNP B-NP B-ORG B-ORG\nrejects VBZ B-VP O O\nUlm NNP B-NP B-LOC O\n"
    )

    assert (
        score(path, metrics="exact").metrics == score(path, layers={"label": (4, 5)}, metrics="exact").metrics
    )


def test_check_folds_messages_and_names_the_column_of_tags(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "a.conll", "".join(f"a\tB-X\tN{number}\n" for number in range(50)))

    assert main(["check", str(path), "--layer", "label=3"]) == 1

    lines = capsys.readouterr().out.splitlines()
    assert "a.conll:1: layer 'label': 'N0' is not a tag (a tag is O, or one of " in lines[0]
    assert lines[3].endswith("47 more: layer 'label': '...' is not a tag (lines 4, 5, 6, 7, 8, ...)")
    assert lines[4].endswith("50 problems; column 2 looks like tags: --layer label=2")
    assert len(lines) == 5
