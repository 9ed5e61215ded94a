"""Tags alone, as predictions of MultiCoNER: a tag on each line, whose token is that of gold."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from contents import spans
from corpora import write
from oracles import multiconer_samples

from clueval import CluevalError, check, diff, errors, profile, read, score
from clueval.files.errors import FormatError, TagError

GOLD = """# id 7e-4\tdomain=en
the _ _ O
king _ _ B-PER
Ada _ _ I-PER

# id 9b\tdomain=de
Ulm _ _ B-LOC
"""
ALONE = "O\nB-PER\nI-PER\n\n\nB-ORG\n\n\n"
WITH_IDS = "# id 7e-4\tdomain=en\nO\nB-PER\nI-PER\n\n# id 9b\tdomain=de\nB-ORG\n"


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return write(tmp_path / "en.conll", GOLD)


def test_multiconer_begins_a_document_with_an_id_and_its_domain(gold: Path) -> None:
    first, second = read(gold)

    assert [first.id, second.id] == ["7e-4", "9b"]
    assert [first.metadata, second.metadata] == [{"domain": "en"}, {"domain": "de"}]
    assert [spans(first), spans(second)] == [[(1, 3, "PER")], [(3, 4, "LOC")]]


@pytest.mark.parametrize(
    "text",
    [
        ALONE,
        WITH_IDS,
        ALONE.replace("\n", "\r\n"),
        "\ufeff" + ALONE,
        ALONE.strip(),
        "\n\n" + ALONE.replace("\n\n", "\n \n\t\n"),
        ALONE.replace("PER\n", "PER  \n"),
        "-DOCSTART-\n\n" + ALONE,
        "# a comment\n" + ALONE.replace("I-PER", "# another\nI-PER"),
    ],
    ids=repr,
)
def test_tags_belong_to_the_tokens_of_gold_in_order(tmp_path: Path, gold: Path, text: str) -> None:
    predicted = write(tmp_path / "en.pred.conll", text)

    result = score(gold, predicted, metrics="exact", by="domain")

    assert result.inputs["predicted"]["format"] == "tags"
    assert (result.get("exact.label.micro.tp_gold"), result.tokens, result.documents) == (1, 4, 2)
    assert [
        (each.document, each.start, each.end, each.text)
        for place in errors(gold, predicted)
        for each in place.findings
    ] == [
        ("9b", 3, 3, "Ulm"),
        ("9b", 3, 3, "Ulm"),
    ]


def test_tags_are_read_in_every_way_to_give_files(tmp_path: Path, gold: Path) -> None:
    predicted = write(tmp_path / "p", ALONE)
    packed = tmp_path / "p.gz"
    packed.write_bytes(gzip.compress(ALONE.encode()))
    whole = write(tmp_path / "whole.conll", GOLD.replace("B-LOC", "B-ORG"))
    expected = score(gold, whole, metrics="exact").metrics

    for other in (predicted, packed):
        assert score(gold, other, metrics="exact").metrics == expected
        assert score(gold, other, metrics="exact", jobs=2, unit="token").metrics == expected
    assert score(list(read(gold)), list(read(predicted, text=gold)), metrics="exact").metrics == expected
    assert score(gold, predicted, text=gold, metrics="exact").metrics == expected
    assert diff(gold, whole, predicted).rows() == diff(gold, whole, whole).rows()
    assert profile(gold, predicted).rows() == profile(gold, whole).rows()


def test_tags_of_gold_in_other_formats_follow_its_sentences(tmp_path: Path) -> None:
    vrt = write(tmp_path / "g.vrt", '<text id="a">\nx\tO\n<s>\ny\tB-X\nz\tI-X\n</s>\n</text>\n')
    rows = write(tmp_path / "g.jsonl", '{"tokens": ["x", "y"], "ner_tags": ["O", "B-X"]}\n')
    hipe = write(tmp_path / "g.tsv", "TOKEN\tNE-COARSE-LIT\tMISC\nx\tO\t_\ny\tB-X\tEndOfSentence\n")

    for gold, text in ((vrt, "O\n\nB-X\nI-X\n"), (rows, "O\nB-X\n"), (hipe, "O\nB-X\n")):
        predicted = write(tmp_path / "p", text)
        assert score(gold, predicted, metrics="exact").get("exact.label.micro.f1") == 1.0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (ALONE.replace("I-PER\n", "", 1), r"p:1: the block has 2 tags, but sentence 1 of gold has 3 tokens"),
        ("O\nB-X\nI-X\n\nO\nO\n", r"p:5: the block has 2 tags, but sentence 2 of gold has 1 token "),
        ("O\nB-X\nI-X\n", r"p, document '9b': the file ends, but gold has a sentence 2, of 1 token "),
        (ALONE + "O\n", r"p:9: gold has 2 sentences, and no tokens for the block that begins here"),
        ("O\nO\nO\n\nO x\n", r"p:5: the line has several columns"),
        ("O\nO\nO\n\nPER\n", r"p:5: 'PER' is not a tag"),
        (WITH_IDS.replace("9b", "9c"), r"p:7: the id is '9c', but sentence 2 of gold is in '9b'"),
    ],
)
def test_tags_that_do_not_fit_gold_are_an_error_with_the_line_of_the_block(
    tmp_path: Path, gold: Path, text: str, says: str
) -> None:
    with pytest.raises((FormatError, TagError), match=says):
        score(gold, write(tmp_path / "p", text))


def test_ill_formed_tag_is_refused_with_its_document(tmp_path: Path, gold: Path) -> None:
    path = write(tmp_path / "p", ALONE.replace("B-PER", "O"))

    with pytest.raises(TagError, match=r"p:1, document '7e-4'"):
        score(gold, path, scheme="BIO", invalid="error")


def test_tags_have_no_tokens_without_gold(tmp_path: Path, gold: Path) -> None:
    path = write(tmp_path / "p", ALONE)
    brat = write(tmp_path / "g.ann", "")
    write(tmp_path / "g.txt", "Ulm")
    says = "has tags, and no tokens .score it as PREDICTED, beside a GOLD with tokens"

    for reads in (lambda: list(read(path)), lambda: score(path, path), lambda: score(path, gold)):
        with pytest.raises(FormatError, match=says):
            reads()
    assert "no tokens" in check(path)[0].problem
    with pytest.raises(CluevalError, match="gold has no tokens"):
        score(brat, path)
    with pytest.raises(CluevalError, match="the format has one layer, not a and b"):
        score(gold, path, layers={"a": 4, "b": -1})


@pytest.mark.parametrize("text", [ALONE, WITH_IDS])
def test_samples_are_those_of_the_baseline_of_multiconer(tmp_path: Path, gold: Path, text: str) -> None:
    golds, found = multiconer_samples(GOLD), multiconer_samples(text)

    documents = list(read(write(tmp_path / "p", text), text=gold))

    assert [(each.id, each.tokens, each.tags["label"]) for each in documents] == [
        (own.id, own.tokens, other.tags) for own, other in zip(golds, found, strict=True)
    ]
