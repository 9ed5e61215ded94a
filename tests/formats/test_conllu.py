"""CoNLL-U and CoNLL-Plus: tags and brackets in MISC; the package conllu reads the same tokens and values."""

from __future__ import annotations

from pathlib import Path

import conllu
import pytest
from contents import spans
from corpora import write

from clueval import agree, check, read, score
from clueval.cli import main
from clueval.files.errors import FormatError, TagError, UsageError
from clueval.transforms.characters import to_characters

SAMPLES = Path(__file__).parents[2] / "clueval" / "samples" / "formats"
GOLD = SAMPLES / "conllu" / "gold.conllu"


def row(number: int, form: str, misc: str = "_") -> str:
    return f"{number}\t{form}\t_\tX\t_\t_\t0\troot\t_\t{misc}\n"


def test_sample_by_hand() -> None:
    first, second = read(GOLD, {"ner": "NER", "entity": "Entity"})

    assert (first.id, second.id, second.start) == ("d1", "2", 9)
    assert first.metadata == {"genre": "news"}
    assert first.tokens == ["Ada", "vive", "à", "le", "Caire", ".", "#", "et", "elle"]
    assert list(first.lines or ()) == [6, 7, 9, 10, 11, 13, 16, 17, 18]
    assert [each.id for each in first.sentences] == ["s1", "s2"]
    assert spans(first, "ner") == [(0, 1, "PER"), (4, 5, "LOC")]
    assert spans(first, "entity") == [
        (0, 1, "person"),
        (3, 5, "place"),
        (6, 9, "thing(a)"),
        (7, 9, "person"),
        (7, 8, "thing"),
    ]
    assert [span.parts for span in first.layers["entity"]][2] == ((6, 8), (8, 9))


def test_tokens_and_tags_are_those_of_the_package_conllu() -> None:
    words = [
        word
        for sentence in conllu.parse(GOLD.read_text(encoding="utf-8"))
        for word in sentence
        if isinstance(word["id"], int)
    ]
    documents = list(read(GOLD, {"ner": "NER"}))

    assert [token for each in documents for token in each.tokens or ()] == [word["form"] for word in words]
    assert [tag for each in documents for tag in each.tags["ner"]] == [
        (word["misc"] or {}).get("NER", "O") for word in words
    ]


def test_text_has_no_blank_after_a_token_that_says_so() -> None:
    first, second = map(to_characters, read(GOLD))

    assert first.text == "Ada vive à le Caire. # et elle"
    assert second.text == "de le."
    assert first.text_of(first.layers["label"][1]) == "Caire"


def test_rows_that_are_no_tokens_are_counted() -> None:
    result = score(GOLD, GOLD)

    assert result.passed_over["gold"] == {"empty nodes": 1, "multiword tokens": 2}
    assert result.tokens == 12
    assert result.metrics["levels"]["label"]["unlabelled"]["1"]["f1"] == 1


def test_columns_of_conll_plus_have_names_and_numbers() -> None:
    path = SAMPLES / "conllup" / "gold.conllup"

    for source in (None, {"label": "NER:OUTER"}, {"label": 3}, {"label": -1}):
        (document,) = read(path, source)
        assert spans(document) == [(0, 2, "PER"), (3, 4, "LOC")]


def test_several_sources_of_tags_need_a_name(tmp_path: Path) -> None:
    path = write(tmp_path / "a.conllu", row(1, "Ada", "NER=B-PER|name=B-X"))

    with pytest.raises(UsageError, match="several sources hold tags: NER, name"):
        list(read(path))
    (document,) = read(path, {"label": "name"})
    assert spans(document) == [(0, 1, "X")]


def test_source_that_does_not_occur_is_refused_where_others_hold_tags(tmp_path: Path) -> None:
    path = write(tmp_path / "a.conllu", row(1, "Ada", "NER=B-PER"))

    with pytest.raises(UsageError, match=r"no 'NRE' for layer 'x'.*NER"):
        list(read(path, {"x": "NRE"}))
    with pytest.raises(UsageError, match=r"no 'NRE' for layer 'x'.*NER"):
        score(path, path, layers={"x": "NRE"})
    assert [problem.problem for problem in check(path, layers={"x": "NRE"})] == [
        "the file has no 'NRE' for layer 'x'"
    ]
    assert spans(next(read(write(tmp_path / "b.conllu", row(1, "Ada")), {"x": "NER"})), "x") == []


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (row(1, "a", "Entity=(e1-x"), r"a\.conllu:1: the entity 'e1' is not closed"),
        (row(1, "a", "Entity=e1)"), r"a\.conllu:1: 'e1' is closed but not open"),
        (row(1, "a", "Entity=(e1[1/2]-x)"), r"a\.conllu:1: the entity 'e1' has parts that are missing"),
        (row(1, "a", "Entity=()"), r"a\.conllu:1: the value '\(\)' of Entity"),
        (row(1, "a", "NER=B-X|NER=O"), r"a\.conllu:1: the key NER occurs more than once in MISC"),
        (row(-1, "a"), r"a\.conllu:1: '-1' is not the ID of a token"),
        ("1\ta\n", r"a\.conllu:1: the line has 2 columns, not 10"),
        (row(1, "", "_"), r"a\.conllu:1: the token is empty"),
        ("# global.columns = ID LEMMA\n1\ta\n", r"a\.conllu:1: the columns have no FORM"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, content: str, says: str) -> None:
    with pytest.raises(FormatError, match=says):
        list(read(write(tmp_path / "a.conllu", content)))


def test_ill_formed_tags_are_repaired_discarded_or_refused(tmp_path: Path) -> None:
    content = row(1, "a", "NER=B-X") + row(2, "b", "NER=I-Y") + "\n" + row(1, "c", "NER=I-Y")
    path = write(tmp_path / "a.conllu", content)

    assert score(path, path).repaired_tags == {"gold": 2, "predicted": 2}
    (document,) = read(path, {"x": "NER"}, invalid="discard", scheme="BIO")
    assert spans(document, "x") == [(0, 1, "X")]
    for scheme in ("BIO", None):
        with pytest.raises(TagError, match=r"a\.conllu:2"):
            list(read(path, {"x": "NER"}, invalid="error", scheme=scheme))
    for layers in ({"x": "NER"}, None):
        with pytest.raises(TagError, match=r"b\.conllu:1"):
            list(read(write(tmp_path / "b.conllu", row(1, "a", "NER=b-x")), layers))


def test_entities_may_cross_and_repeat_and_lie_in_several_sentences(tmp_path: Path) -> None:
    content = (
        row(1, "a", "Entity=(e1-x(e2-y")
        + row(2, "b", "Entity=e1)(e1-x")
        + "\n"
        + row(1, "c", "Entity=e2)e1)")
    )

    (document,) = read(write(tmp_path / "a.conllu", content))

    assert spans(document) == [(0, 3, "y"), (0, 2, "x"), (1, 3, "x")]


def test_fields_of_entities_are_named_by_the_file(tmp_path: Path) -> None:
    content = (
        "# global.Entity = etype-infstat-GRP\n"
        + row(1, "a", "Entity=(org%2Dx-new-7")
        + row(2, "b", "Entity=7)")
    )

    (document,) = read(write(tmp_path / "a.conllu", content))

    assert spans(document) == [(0, 2, "org-x")]


def test_ten_thousand_open_brackets_are_read_in_one_pass(tmp_path: Path) -> None:
    opened = "".join(f"(e{number}-x" for number in range(10_000))
    closed = "".join(f"e{number})" for number in range(10_000))

    (document,) = read(
        write(tmp_path / "a.conllu", row(1, "a", f"Entity={opened}") + row(2, "b", f"Entity={closed}"))
    )

    assert len(document.layers["label"]) == 10_000


def test_documents_before_an_error_are_read(tmp_path: Path) -> None:
    content = "".join(f"# newdoc id = d{number}\n{row(1, 'w')}\n" for number in range(3))
    documents = read(write(tmp_path / "a.conllu", content + "1\tw\n"))

    assert next(documents).id == "d0"


@pytest.mark.parametrize("name", ["conllu/gold.conllu", "conll2012/gold.gold_conll"])
def test_brackets_are_no_tags_that_other_commands_could_take(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = SAMPLES / name
    layers = {"x": "Entity"} if name.startswith("conllu") else None

    assert main(["check", str(path)]) == 0
    assert "looks like tags" not in capsys.readouterr().out
    with pytest.raises(UsageError, match="has no tags"):
        agree({"a": path, "b": path}, layers=layers, unannotated="O")
