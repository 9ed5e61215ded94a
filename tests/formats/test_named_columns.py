"""HIPE, GermEval and WNUT: columns of token files have names, by which layers are chosen."""

from __future__ import annotations

from pathlib import Path

import pytest
from contents import spans
from corpora import write
from oracles import hipe_spans
from routes import SCHEMES, corpora, hipe

from clueval import Span, agree, check, conventions, convert, errors, masking, read, score
from clueval.core.tags import decode
from clueval.files.errors import TagError, UsageError

FORMATS = Path(__file__).parents[2] / "clueval" / "samples" / "formats"
HIPE = FORMATS / "hipe" / "gold.tsv"
GERMEVAL = FORMATS / "germeval" / "gold.tsv"


def test_hipe_has_documents_metadata_and_sentences_and_a_default_column() -> None:
    first, second = read(HIPE)

    assert (first.id, second.id) == ("NZZ-1798", "Z-2")
    assert first.metadata == {"language": "fr", "newspaper": "NZZ", "segment_iiif_link": "_"}
    assert second.metadata == {"language": "de", "date": "1808-02-20", "segment_iiif_link": "_"}
    assert first.tokens == ["Le", "président", "Was", "#", "-", "ton", "Paris", "."]
    assert [(each.start, each.end) for each in first.sentences] == [(0, 6), (6, 8)]
    assert spans(first) == [(2, 3, "pers"), (4, 6, "pers"), (6, 7, "loc")]
    assert spans(second) == [(8, 9, "loc")]


def test_hipe_columns_are_chosen_by_name_or_number_and_have_no_tag_at_a_dash() -> None:
    first, second = read(HIPE, {"fine": "NE-FINE-LIT", "met": "NE-COARSE-METO", "lit": 2})

    assert spans(first, "fine") == [(2, 3, "pers.ind"), (4, 6, "pers.ind"), (6, 7, "loc.adm.town")]
    assert spans(first, "met") == [(6, 7, "org")]
    assert spans(first, "lit") == [(2, 3, "pers"), (4, 6, "pers"), (6, 7, "loc")]
    assert spans(second, "met") == []


def test_hipe_errors_name_the_line_and_the_columns(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="NE-COARSE-METO, NE-FINE-LIT"):
        list(read(HIPE, {"x": "NE-FINE"}))
    with pytest.raises(TagError, match=r"gold\.tsv:8"):
        list(read(HIPE, {"x": "NEL-LIT"}))
    short = write(tmp_path / "a.tsv", "TOKEN\tNE-COARSE-LIT\tMISC\na\tO\t_\nb\tO\n")
    with pytest.raises(Exception, match=r"a\.tsv:3: the line has 2 columns"):
        list(read(short))


RATES = ("precision", "recall", "f1")

CUT = """TOKEN\tNE-COARSE-LIT\tMISC
# document_id = a
Pa\tB-pers\tNoSpaceAfter
¬\tI-pers\tEndOfSentence
# segment_iiif_link = _

sitsch\tI-pers\t_
ging\tO\tEndOfSentence
# document_id = b
Ulm\tB-loc\t_
"""


@pytest.mark.parametrize(
    "between",
    ["", "\n", "\n\n", "# segment_iiif_link = _\n", "# a remark\t\t\n", "TOKEN\tNE-COARSE-LIT\tMISC\n"],
    ids=repr,
)
@pytest.mark.parametrize("flag", ["_", "EndOfSentence", "EndOfLine|EndOfSentence"])
def test_hipe_spans_continue_after_whatever_begins_no_document(
    tmp_path: Path, between: str, flag: str
) -> None:
    head = "TOKEN\tNE-COARSE-LIT\tMISC\n# document_id = a\n"
    path = write(tmp_path / "a.tsv", f"{head}Pa\tB-pers\t{flag}\n{between}sitsch\tI-pers\t_\n")

    (document,) = read(path)

    assert spans(document) == [(0, 2, "pers")]
    assert [each[:2] for each in document.sentences] == ([] if flag == "_" else [(0, 1), (1, 2)])
    assert list(document.lines or ()) == [3, 4 + between.count("\n")]
    assert document.metadata == {}


def test_hipe_conventions_read_spans_across_sentences_whole(tmp_path: Path) -> None:
    text = CUT.replace("NoSpaceAfter", "EndOfSentence")
    gold = write(tmp_path / "gold.tsv", text)
    predicted = write(tmp_path / "predicted.tsv", text.replace("sitsch\tI-pers", "sitsch\tO"))

    for sides in ((gold, predicted), (list(read(gold)), list(read(predicted)))):
        rows = conventions(*sides).to_dict()["conventions"]["label"]

        assert {rows[name][rate] for name in ("seqeval", "seqeval_strict") for rate in RATES} == {0.5}


def test_hipe_documents_without_tokens_are_kept(tmp_path: Path) -> None:
    text = CUT + "# document_id = c\n# date = 1\n# document_id = d\nx\tO\t_\n"

    found = [
        (each.id, len(each.tokens or ()), dict(each.metadata)) for each in read(write(tmp_path / "a", text))
    ]

    assert found == [("a", 4, {}), ("b", 1, {}), ("c", 0, {"date": "1"}), ("d", 1, {})]


@pytest.mark.few(3)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_hipe_tags_are_decoded_over_the_document_in_every_command(tmp_path: Path, scheme: str) -> None:
    sides = corpora(6, scheme, documents=5)
    layers = {"entity": 2, "risk": 3}
    gold, predicted = (
        write(tmp_path / f"{name}.tsv", hipe(texts))
        for name, texts in zip(("gold", "predicted"), sides, strict=True)
    )
    documents = list(read(gold, layers))
    tags = [[row[1] for sentence in text.sentences for row in sentence] for text in sides[0]]

    assert [[(s - d.start, e - d.start, x) for s, e, x in spans(d, "entity")] for d in documents] == [
        list(decode(of_document)) for of_document in tags
    ]
    whole = score(gold, predicted, layers=layers)
    by_sentence = score(gold, predicted, layers=layers, resample_by="sentence")
    assert by_sentence.metrics == whole.metrics
    others = list(read(predicted, layers))
    places = [
        [
            (each.document, each.start, each.end, each.text)
            for place in errors(*files, **more)
            for each in place.findings
        ]
        for files, more in (((gold, predicted), {"layers": layers}), ((documents, others), {}))
    ]
    assert places[0] == places[1]
    assert convert(gold, "spans", layers=layers) == documents
    of_files = agree({"a": gold, "b": predicted}, layers=layers)
    of_documents = agree({"a": documents, "b": others})
    assert of_files.to_dict()["agreement"] == of_documents.to_dict()["agreement"]


def test_hipe_spans_are_those_of_its_scorer(tmp_path: Path) -> None:
    for scheme in ("BIO", "BIO, ill-formed"):
        for text in (CUT, *map(hipe, corpora(8, scheme, documents=5))):
            documents = read(write(tmp_path / "a.tsv", text))

            found = {
                each.id: [(start - each.start, end - each.start, label) for start, end, label in spans(each)]
                for each in documents
            }
            assert found == hipe_spans(text, "NE-COARSE-LIT")


NUMBERED = """1\tAnn\tNNP\tB-PER\t-\tann
2\tsang\tVBD\tO\t-\tann

1-2\tzum\t_\t_\t_\t_
1\tzu\tAPPR\tO\t-\tann
2\t2\tART\tB-LOC\t-\tann
2.1\tx\t_\t_\t_\t_
3\tUlm\tNE\tI-LOC\t-\tann
"""


@pytest.mark.parametrize("separator", ["\t", " "], ids=["tabs", "blanks"])
@pytest.mark.parametrize(
    "head", ["", "# newdoc id = d\n# text = Ann sang\n", "#\tsource\n", "-DOCSTART-\n\n", "\n", "\ufeff"]
)
@pytest.mark.parametrize("name", ["a.iob2", "a.conll", "a.tsv", "a"])
def test_numbers_of_tokens_in_the_first_column_are_no_words(
    tmp_path: Path, name: str, head: str, separator: str
) -> None:
    path = write(tmp_path / name, head + NUMBERED.replace("\t", separator))

    (document,) = read(path)

    assert document.tokens == ["Ann", "sang", "zu", "2", "Ulm"]
    assert spans(document) == [(0, 1, "PER"), (3, 5, "LOC")]
    assert [each[:2] for each in document.sentences] == [(0, 2), (2, 5)]
    assert next(read(path, token=1)).tokens == ["1", "2", "1", "2", "3"]
    assert check(path) == []


@pytest.mark.parametrize(
    "text",
    [
        "1\tO\n2\tB-X\n",  # two columns
        "1\tx\tO\n\n1\tx\tB-X\n",  # no sentence is longer than one
        "1\tx\tO\n2\tx\tO\n\n2\tx\tB-X\n",  # does not begin again
        "1\tx\tO\n2\tx\tO\n\n3\tx\tB-X\n",
        "1\tx\tO\n3\tx\tO\n",
        "1\tx\tO\nx\t2\tO\n",
        "0\tx\tO\n1\tx\tO\n",
        "x\t1\tO\nx\t2\tO\n",
    ],
)
def test_other_numbers_are_words(tmp_path: Path, text: str) -> None:
    (document,) = read(write(tmp_path / "a.conll", text))

    assert document.tokens == [line.split("\t")[0] for line in text.split("\n") if line]


def test_numbers_first_are_counted_as_the_same_file_without_them(tmp_path: Path) -> None:
    sides = corpora(7, "BIO, ill-formed", documents=20)
    files: dict[bool, list[Path]] = {}
    for has_numbers in (False, True):
        files[has_numbers] = []
        for side, texts in enumerate(sides):
            sentences = [
                "".join(f"{n}\t" * has_numbers + f"{row[0]}\t{row[1]}\n" for n, row in enumerate(rows, 1))
                for text in texts
                for rows in text.sentences
            ]
            files[has_numbers].append(write(tmp_path / f"{has_numbers}{side}", "\n".join(sentences)))

    def found(gold: Path, predicted: Path) -> list[object]:
        return [
            score(gold, predicted, metrics=["strings", "exact", "masking"]).metrics,
            masking(gold, predicted).result.metrics,
            [
                (each.start, each.end, each.text)
                for place in errors(gold, predicted)
                for each in place.findings
            ],
            [(each.tokens, each.layers) for each in convert(gold, "conll")],
            agree({"a": gold, "b": predicted}).to_dict()["agreement"],
        ]

    assert found(*files[True]) == found(*files[False])


def test_numbers_first_in_one_file_of_both_sides(tmp_path: Path) -> None:
    path = write(tmp_path / "a", "1\tAnn\tB-PER\tB-PER\n2\tin\tO\tO\n3\tUlm\tB-LOC\tO\n")

    assert score(path, metrics="strings").get("strings.label.micro.recall") == 0.5
    assert [each.text for place in errors(path) for each in place.findings] == ["Ulm"]


def test_numbers_first_rows_that_are_no_tokens_are_counted(tmp_path: Path) -> None:
    path = write(tmp_path / "a.iob2", "\n".join([NUMBERED] * 3))

    counted = {"empty nodes": 3, "multiword tokens": 3}
    for options in ({}, {"unit": "character"}, {"scheme": "BIO", "invalid": "error"}, {"invalid": "discard"}):
        assert score(path, path, **options).passed_over == {"gold": counted, "predicted": counted}, options


def test_germeval_has_outer_and_inner_tags_and_comments_with_tabs() -> None:
    (document,) = read(GERMEVAL, {"outer": "outer", "inner": "inner"})

    assert document.tokens is not None
    assert document.tokens[:3] == ["Aufgrund", "Troia", "1"]
    assert spans(document, "outer") == [(1, 2, "LOC"), (3, 5, "ORG"), (6, 7, "LOCderiv")]
    assert spans(document, "inner") == [(4, 5, "LOC")]
    assert spans(next(read(GERMEVAL))) == spans(document, "outer")


def test_wnut_has_tokens_that_begin_with_a_hash() -> None:
    (document,) = read(FORMATS / "wnut" / "gold.conll")

    assert document.tokens == ["@user", "#", "#NYC", "\U0001f642", "Empire", "State"]
    assert spans(document) == [(2, 3, "location"), (4, 6, "location")]


def test_plain_columns_have_no_names(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the columns of this format have no names"):
        list(read(write(tmp_path / "a.conll", "a\tO\n"), {"x": "NE"}))


def test_spans_tables_name_their_columns_too(tmp_path: Path) -> None:
    write(tmp_path / "a.vrt", "w\nx\n")
    table = write(tmp_path / "a.tsv", "start\tend\tkind\tnote\n0\t0\tPER\tz\n")

    (document,) = read(table, {"entity": "kind"})

    assert document.layers == {"entity": [Span(0, 1, {"entity": "PER"})]}
