"""WebAnno TSV 3: stacked and numbered annotations, parts of tokens, offsets in UTF-16."""

from __future__ import annotations

from pathlib import Path

import pytest
from contents import texts
from corpora import write

from clueval import convert, read, score
from clueval.files.errors import CluevalError, UsageError

GOLD = Path(__file__).parents[2] / "clueval" / "samples" / "formats" / "webanno" / "gold.tsv"
HEAD = "#FORMAT=WebAnno TSV 3.3\n#T_SP=x.NamedEntity|value\n\n\n"


def test_sample_by_hand() -> None:
    (document,) = read(GOLD)

    assert document.text == "\U0001f600 Ada Lovelace's A|B\n  Nancy\nlebt \\ dort"
    assert [(each.start, each.end) for each in document.sentences] == [(0, 20), (23, 40)]
    assert texts(document) == [
        ("Ada Lovelace", "PER"),
        ("Lovelace", "a[1]|b_"),
        ("s", "_"),
        ("A|B\n  Nancy", "ORG"),
        ("lebt", "B-X"),
        ("\\", "I-X"),
    ]
    assert document.layers["label"][0].features == {"identifier": "Q7259"}


def test_conversions_keep_the_tokens_of_the_file(tmp_path: Path) -> None:
    rows = ("1-1\t0-8\tz.B.-Hof\tORG", "1-2\t9-11\tin\t_", "1-2.1\t9-10\ti\tX", "1-3\t12-16\tNeu-\t_")
    path = write(tmp_path / "d.tsv", "\t\n".join([f"{HEAD}#Text=z.B.-Hof in Neu-\n{rows[0]}", *rows[1:], ""]))

    (document,) = convert(path, "conll", lossy=True)

    assert document.tokens == ["z.B.-Hof", "in", "Neu-"]
    assert convert(path, "webanno")[0].tokens == document.tokens


def test_score_reads_each_file_once(tmp_path: Path) -> None:
    other, read_bytes = write(tmp_path / "other.tsv", GOLD.read_text("utf-8")), list[int]()

    score(GOLD, other, metrics="exact", progress=read_bytes.append)

    assert sum(read_bytes) == GOLD.stat().st_size + other.stat().st_size


def test_sources_are_layers_and_their_features() -> None:
    (document,) = read(GOLD, {"mark": "Mark", "full": "webanno.custom.Mark", "frame": "Pred.frame"})

    assert texts(document, "mark") == [("Ada Lovelace", "_"), ("Ada", "_"), ("", "_")]
    assert texts(document, "full") == texts(document, "mark")
    assert texts(document, "frame") == [("Lovelace", "see")]
    with pytest.raises(UsageError, match=r"no source 'Pred\.x'.*NamedEntity\.value"):
        list(read(GOLD, {"x": "Pred.x"}))


def test_feature_without_values_has_no_column_and_gives_no_labels() -> None:
    (document,) = read(GOLD, {"mark": "Mark.kind"})

    assert texts(document, "mark") == [("Ada Lovelace", "_"), ("Ada", "_"), ("", "_")]


def test_relations_chain_links_slots_and_spans_of_other_layers_are_counted() -> None:
    assert score(GOLD, GOLD, metrics="gate").passed_over["gold"] == {
        "chain links": 2,
        "relations": 1,
        "slots": 2,
        "spans of Mark": 3,
        "spans of Pred": 1,
    }


def test_only_layer_is_the_default_and_several_need_a_name(tmp_path: Path) -> None:
    one = "#FORMAT=WebAnno TSV 3.2\n#T_SP=x.Mark|kind|other\n\n\n#Text=Ada\n1-1\t0-3\tAda\tA\t*\t\n"
    two = one.replace("#T_SP=x.Mark|kind|other\n", "#T_SP=x.Mark|kind\n#T_SP=x.Other|y\n")

    assert texts(next(read(write(tmp_path / "a.tsv", one)))) == [("Ada", "A")]
    with pytest.raises(UsageError, match=r"2 layers of spans.*Mark\.kind, Other\.y"):
        list(read(write(tmp_path / "b.tsv", two)))


def test_file_without_layers_has_no_spans(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.tsv", "#FORMAT=WebAnno TSV 3.3\n\n\n#Text=Ada sat\n1-1\t0-3\tAda\n1-2\t4-7\tsat\t\n"
    )

    (document,) = read(path, {"entity": "NamedEntity.value"})

    assert (document.text, document.layers) == ("Ada sat", {"entity": []})


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("1-1\t0-3\tAda\tX\n", ""),
        ("1-1\t0-3\tEva\tX\t\n", "the token at 0-3 is not in the sentence"),
        ("1-1\t0-9\tAda\tX\t\n", "the offsets 0-9 lie outside"),
        ("1-1\t0-3\tAda\tX\tY\t\n", "the row has 5 columns"),
        ("1-1\tAda\n", "the row does not begin with"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, rows: str, says: str) -> None:
    path = write(tmp_path / "a.tsv", f"{HEAD}#Text=Ada\n{rows}")

    if not says:
        assert texts(next(read(path))) == [("Ada", "X")]
        return
    with pytest.raises(CluevalError, match=rf"a\.tsv:6: {says}"):
        list(read(path))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (f"{HEAD}1-1\t0-3\tAda\tX\t\n", "a row before any #Text="),
        (
            "#FORMAT=WebAnno TSV 3.3\n#T_SP=x.Pred|frame|ROLE_x.Pred:Args\n",
            r"a\.tsv:2: a slot of Pred lacks its",
        ),
        (
            f"{HEAD}#Text=Ada\n1-1\t0-3\tAda\t_\t\n\n#Text=Eva\n2-1\t2-5\tEva\t_\t\n",
            "overlaps the one before",
        ),
        (f"{HEAD}#Text=Ada\n1-1\t999999999999-1000000000002\tAda\t_\t\n", "a gap of"),
        (f"{HEAD}#Text=\U0001f600\n1-1\t1-2\t\U0001f600\t_\t\n", "overlaps|lie outside|not in the sentence"),
    ],
)
def test_what_cannot_be_placed_is_refused(tmp_path: Path, content: str, says: str) -> None:
    with pytest.raises(CluevalError, match=says):
        list(read(write(tmp_path / "a.tsv", content)))


def test_file_without_rows_has_its_layers(tmp_path: Path) -> None:
    (document,) = read(write(tmp_path / "a.tsv", f"{HEAD}#Text=Ada\n"))

    assert (document.text, dict(document.layers)) == ("Ada", {"label": []})


FLAT = "1-1\t0-1\ta\tX[1]\n1-2\t2-3\tb\tX[1]\n1-3\t4-5\tc\tY\n"


def test_error_in_a_row_names_it_among_others(tmp_path: Path) -> None:
    head = "#FORMAT=WebAnno TSV 3.3\n#T_SP=de.Named|value\n\n\n#Text=a b c\n"

    for wrong in ("1-3\t4-6\tc\tY", "1-3\t5-4\tc\tY", "1-3\t4-5\tc\tY\tZ\tZ", "x-3\t4-5\tc\tY"):
        content = head + FLAT.replace("1-3\t4-5\tc\tY", wrong)
        with pytest.raises(CluevalError, match=r"a\.tsv:8"):
            list(read(write(tmp_path / "a.tsv", content)))


def test_file_with_chains_alone_has_no_spans_and_its_links_are_counted(tmp_path: Path) -> None:
    head = "#FORMAT=WebAnno TSV 3.3\n#T_CH=x.CoreferenceLink|referenceRelation|referenceType\n\n\n"
    path = write(
        tmp_path / "a.tsv", f"{head}#Text=Ada ran\n1-1\t0-3\tAda\t*->1-1\tx\t\n1-2\t4-7\tran\t_\t_\t\n"
    )

    (document,) = read(path)

    assert (document.text, document.layers) == ("Ada ran", {"label": []})
    assert score(path, path, metrics="gate").passed_over["gold"] == {"chain links": 1}
    with pytest.raises(UsageError, match="no source 'NamedEntity'"):
        list(read(path, {"x": "NamedEntity"}))
