"""How ill-formed tags are treated: each format says what it can, and the signature what was done."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from corpora import write

import clueval
from clueval import CluevalError, agree, errors, read, score
from clueval.cli import main
from clueval.compat import seqeval
from clueval.compat.huggingface import Seqeval
from clueval.compat.seqeval.scheme import BILOU, IOB1, IOB2, IOBES, IOE1, IOE2, Entities
from clueval.files.errors import TagError, UsageError

ILL_FORMED = "Anna B-PER\nUlm I-LOC\n"
STACKED = "Anna NE B-PER\nUlm NE I-LOC\n"


def treatment(path: Path, **options: Any) -> str:
    return score(path, path, **options).signature.choices["invalid"]


def test_signature_of_nerval_files_says_that_ill_formed_tags_were_discarded(tmp_path: Path) -> None:
    path = write(tmp_path / "a.bio", ILL_FORMED)

    result = score(path, path, input="nerval")

    # Ulm continues no span of its label, so that it is in none
    assert result.metrics["levels"]["label"]["classes"]["gold"]["exact"] == 1
    assert result.repaired_tags == {"gold": 1, "predicted": 1}
    assert result.signature.choices["invalid"] == "discard"
    assert treatment(path, input="nerval", invalid="discard") == "discard"


@pytest.mark.parametrize("route", [{}, {"by": "document"}, {"unit": "character"}, {"pair_by": "id"}])
def test_signature_of_column_files_says_how_they_were_read_on_every_route(
    tmp_path: Path, route: dict[str, Any]
) -> None:
    path = write(tmp_path / "a.conll", "Anna B-PER\nUlm B-LOC\n")

    assert treatment(path, **route) == "conlleval"
    for invalid in ("conlleval", "discard", "error"):
        assert treatment(path, invalid=invalid, **route) == invalid


def test_nerval_files_refuse_a_treatment_that_they_do_not_have(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "a.bio", ILL_FORMED)

    for refused in (
        lambda: score(path, path, input="nerval", invalid="conlleval"),
        lambda: list(read(path, input="nerval", invalid="conlleval")),
        lambda: list(errors(path, path, input="nerval", invalid="conlleval")),
    ):
        with pytest.raises(UsageError, match="nerval cannot treat ill-formed tags as 'conlleval'"):
            refused()
    with pytest.raises(TagError):
        score(path, path, input="nerval", invalid="error")
    assert main(["score", str(path), str(path), "--metric", "noisy", "--invalid", "conlleval"]) == 2
    assert "discard or error" in capsys.readouterr().err


def test_stacked_tags_do_not_support_discard(tmp_path: Path) -> None:
    path = write(tmp_path / "a.conll", STACKED)

    assert treatment(path, input="conll2000") == "conlleval"
    with pytest.raises(UsageError, match="conll2000 cannot treat"):
        score(path, path, input="conll2000", invalid="discard")


def test_signature_of_files_without_tags_says_that_none_were_treated(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xml", "<body>Anna <e>Ulm</e></body>")

    assert treatment(path, metrics="partial") == "none"


def test_signature_of_sides_in_different_formats_has_the_treatments_of_both(tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.vrt", "<text>\nAnna\tB-PER\n</text>\n")
    predicted = write(tmp_path / "predicted.bio", "Anna B-PER\n")

    result = score(gold, predicted, metrics="noisy")

    assert result.signature.choices["invalid"] == "conlleval+discard"


# Repaired tags: counted by the scheme of the file as a whole, however its documents come


# alone, the first document has the scheme IO and the second IOB1, in which nothing is ill-formed
IN_PARTS = "-DOCSTART-\n\na I-X\nb I-X\n\n-DOCSTART-\n\nc I-X\nd B-X\n\n-DOCSTART-\n\ne B-X\nf O\ng I-X\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "a.conll", IN_PARTS)


def test_repaired_tags_are_counted_by_the_scheme_of_the_whole_file_on_every_route(path: Path) -> None:
    # e/B-X begins a span after nothing, so the file is BIO: a, c and g are I after O
    expected = {"gold": 3, "predicted": 3}

    assert score(path, path).repaired_tags == expected
    assert score(path, path, by="document").repaired_tags == expected
    assert score(path, path, unit="character").repaired_tags == expected
    assert score(path, path, where=["label=X"]).repaired_tags == expected
    assert score(path, path, pair_by="id").repaired_tags == expected
    assert score(list(read(path)), list(read(path))).repaired_tags == expected
    assert score(read(path), read(path)).repaired_tags == expected


def test_repaired_tags_of_some_documents_are_counted_by_the_scheme_of_these_documents(path: Path) -> None:
    gold, predicted = list(read(path))[1:2], list(read(path))[1:2]

    assert score(gold, predicted).repaired_tags == {"gold": 0, "predicted": 0}


def test_repaired_tags_of_several_files_are_counted_by_the_scheme_of_each(tmp_path: Path) -> None:
    for side in ("gold", "predicted"):
        (tmp_path / side).mkdir()
        write(tmp_path / side / "a.conll", "a I-X\nb I-X\n")  # IO: nothing is ill-formed
        write(tmp_path / side / "b.conll", "a B-X\nb O\nc I-X\n")  # BIO: c is
    sides = tmp_path / "gold", tmp_path / "predicted"

    assert score(*sides).repaired_tags == {"gold": 1, "predicted": 1}
    assert score(*sides, unit="character").repaired_tags == {"gold": 1, "predicted": 1}
    assert score(*map(read, sides)).repaired_tags == {"gold": 1, "predicted": 1}


def test_repaired_tags_of_a_named_scheme_are_counted_by_it_in_each_file(tmp_path: Path) -> None:
    parts = [
        write(tmp_path / f"{n}.conll", part) for n, part in enumerate(IN_PARTS.split("-DOCSTART-\n\n")[1:])
    ]

    for options in ({}, {"unit": "character"}, {"by": "document"}):
        found = [score(part, part, scheme="BIO", **options).repaired_tags for part in parts]
        assert found == [{"gold": 1, "predicted": 1}] * 3


@pytest.mark.parametrize("route", [{}, {"by": "document"}, {"unit": "character"}])
def test_ill_formed_tags_are_discarded_by_the_scheme_of_the_whole_file(
    path: Path, route: dict[str, Any]
) -> None:
    result = score(path, path, metrics=["exact"], invalid="discard", **route)

    # well-formed in BIO are d/B-X and e/B-X alone
    assert result.metrics["exact"]["label"]["micro"]["gold"] == 2
    assert [len(document.layers["label"]) for document in read(path, invalid="discard")] == [0, 1, 1]


def test_ill_formed_tags_are_discarded_by_the_scheme_of_each_side(tmp_path: Path) -> None:
    gold = write(tmp_path / "g.conll", "a B-X\nb O\nc I-X\n")  # BIO: one span
    predicted = write(tmp_path / "p.conll", "a I-X\nb O\nc I-X\n")  # IO: two spans

    for documents in (False, True):
        sides = (list(read(path, invalid="discard")) for path in (gold, predicted))
        result = (
            score(*sides, metrics=["exact"])
            if documents
            else score(gold, predicted, metrics=["exact"], invalid="discard")
        )
        micro = result.metrics["exact"]["label"]["micro"]
        assert (micro["gold"], micro["predicted"], micro["tp_gold"]) == (1, 2, 1)


def test_ill_formed_tags_are_refused_with_their_line_by_the_scheme_of_the_whole_file(path: Path) -> None:
    for route in ({}, {"unit": "character"}):
        with pytest.raises(TagError, match=r"a\.conll:3"):
            score(path, path, invalid="error", **route)


@pytest.mark.parametrize("form", ["file of rows", "rows", "iterator of rows", "lists", "iterator of lists"])
def test_rows_and_lists_are_read_by_the_scheme_of_the_whole_side(tmp_path: Path, form: str) -> None:
    tags = [["I-X", "I-X"], ["I-X", "B-X"], ["B-X", "O", "I-X"]]  # those of `IN_PARTS`
    rows = [{"tokens": list("abc")[: len(of_row)], "ner_tags": of_row} for of_row in tags]
    items: Any = rows if form.endswith("rows") else tags
    if form == "file of rows":
        items = write(tmp_path / "a.jsonl", "\n".join(map(json.dumps, rows)))

    def side() -> Any:
        return iter(items) if form.startswith("iterator") else items

    result = score(side(), side(), invalid="discard", metrics="exact")
    assert result.metrics["exact"]["label"]["micro"]["gold"] == 2
    assert result.repaired_tags == {"gold": 3, "predicted": 3}
    assert list(errors(side(), side(), invalid="discard")) == []
    named = score(side(), side(), scheme="BIOES", metrics="exact")
    assert (named.repaired_tags, named.signature.choices["scheme"]) == ({"gold": 8, "predicted": 8}, "BIOES")
    agreement = agree({"ann": side(), "bob": side()}, scheme="BIOES")
    assert agreement.to_dict()["repaired_tags"] == {"ann": 8, "bob": 8}
    assert "|scheme:BIOES|" in agreement.signature
    with pytest.raises(TagError, match="'I-X' may not follow"):
        score(side(), side(), invalid="error")


# The names of tag schemes: Python takes every spelling that the command line takes, wherever it takes a scheme


NAMES = {
    "BIO": ["BIO", "IOB2", "IOB", "bio", "iob2", "Iob2"],
    "IOB1": ["IOB1", "iob1"],
    "BIOES": ["BIOES", "IOBES", "bioes", "iobes"],
    "BILOU": ["BILOU", "BIOLU", "BILUO", "bilou", "biluo"],
    "BMES": ["BMES", "BMESO", "bmes"],
    "BMEOW": ["BMEOW", "BMEWO", "bmewo"],
    "IO": ["IO", "io"],
    "IOE1": ["IOE1", "ioe1"],
    "IOE2": ["IOE2", "ioe2"],
}

TAGS = {
    "BIO": ["B-A", "I-A", "O", "I-B"],
    "IOB1": ["I-A", "I-A", "B-A", "B-B"],
    "BIOES": ["B-A", "E-A", "S-B", "I-B"],
    "BILOU": ["B-A", "L-A", "U-B", "I-B"],
    "BMES": ["B-A", "E-A", "S-B", "M-B"],
    "BMEOW": ["B-A", "E-A", "W-B", "M-B"],
    "IO": ["I-A", "I-A", "O", "I-B"],
    "IOE1": ["I-A", "E-A", "I-A", "E-B"],
    "IOE2": ["I-A", "E-A", "I-B", "O"],
}
"""Tags of each scheme, the last of which are ill-formed if the scheme has ill-formed tags."""


def conll(scheme: str) -> str:
    return "".join(f"w\t{tag}\n" for tag in TAGS[scheme])


def rows(scheme: str) -> list[dict[str, Any]]:
    return [{"tokens": ["w"] * 4, "ner_tags": TAGS[scheme]}]


def copy_of(path: Path) -> Path:
    return write(path.with_name("b.conll"), path.read_text())


CALLS: dict[str, Callable[[str, str, Path], object]] = {
    "score of lists": lambda name, scheme, _: score(
        [TAGS[scheme]], [TAGS[scheme]], scheme=name, invalid="discard"
    ).to_dict(),
    "score of files": lambda name, _, path: score(path, path, scheme=name, invalid="discard").to_dict(),
    "errors of lists": lambda name, scheme, _: clueval.errors(
        [TAGS[scheme]], [["O"] * 4], scheme=name, invalid="discard"
    ).to_dict(),
    "errors of files": lambda name, _, path: clueval.errors(path, path, scheme=name).to_dict(),
    "conventions": lambda name, scheme, _: str(
        clueval.conventions([TAGS[scheme]], [TAGS[scheme]], scheme=name)
    ),
    "agree": lambda name, _, path: clueval.agree(path, copy_of(path), scheme=name).to_dict(),
    "curate": lambda name, _, path: list(clueval.curate(path, copy_of(path), scheme=name)),
    "compare": lambda name, scheme, _: clueval.compare(
        [TAGS[scheme]] * 3, {"a": [TAGS[scheme]] * 3, "b": [["O"] * 4] * 3}, scheme=name, resamples=9
    ).to_dict(),
    "read": lambda name, _, path: list(clueval.read(path, scheme=name, invalid="discard")),
    "check": lambda name, _, path: clueval.check(path, scheme=name),
    "documents_from": lambda name, scheme, _: list(
        clueval.documents_from(rows(scheme), "token-rows", scheme=name)
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_each_spelling_gives_what_the_usual_name_gives(tmp_path: Path, call: str) -> None:
    for scheme, names in NAMES.items():
        path = write(tmp_path / "a.conll", conll(scheme))
        found = [CALLS[call](name, scheme, path) for name in names]

        assert found == [found[0]] * len(names)


@pytest.mark.parametrize("scheme", NAMES)
def test_each_spelling_is_one_of_the_command_line_and_the_signature_has_the_usual_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], scheme: str
) -> None:
    path = str(write(tmp_path / "a.conll", conll(scheme)))

    for name in NAMES[scheme]:
        assert main(["score", path, path, "--scheme", name, "--format", "json"]) == 0
        assert f"|scheme:{scheme}|" in json.loads(capsys.readouterr().out)["signature"]
        assert f"|scheme:{scheme}|" in str(score([TAGS[scheme]], [TAGS[scheme]], scheme=name).signature)
        assert f"|scheme:{scheme}|" in str(score(path, path, scheme=name).signature)


@pytest.mark.parametrize("call", CALLS)
def test_an_unknown_name_is_an_error_with_near_ones(tmp_path: Path, call: str) -> None:
    path = write(tmp_path / "a.conll", conll("BIO"))

    for name, near in (("IBO2", "IOB2"), ("BIOE", "BIOES"), ("BILO", "BILOU"), ("Q", "")):
        with pytest.raises(UsageError, match=f"unknown tag scheme '{name}'") as caught:
            CALLS[call](name, "BIO", path)

        meant = str(caught.value).partition("did you mean ")[2].partition("?")[0]
        assert near in meant.split(" or ")
        assert "one of BIO, IOB1, BIOES, BILOU, BMES, BMEOW, IO, IOE1, IOE2" in str(caught.value)


OF_SEQEVAL: dict[str, Callable[[Any, list[list[str]]], object]] = {
    "f1_score": lambda scheme, tags: seqeval.f1_score(tags, tags, mode="strict", scheme=scheme),
    "report": lambda scheme, tags: seqeval.classification_report(tags, tags, mode="strict", scheme=scheme),
    "v1": lambda scheme, tags: seqeval.metrics.v1.precision_recall_fscore_support(tags, tags, scheme=scheme),
    "entities": lambda scheme, tags: Entities(tags, scheme).entities,
    "Seqeval": lambda scheme, tags: Seqeval().compute(
        predictions=tags, references=tags, mode="strict", scheme=scheme
    ),
}


@pytest.mark.parametrize("call", OF_SEQEVAL)
def test_each_spelling_is_a_scheme_of_seqeval_if_it_has_the_scheme(call: str) -> None:
    of_scheme = {"BIO": IOB2, "IOB1": IOB1, "BIOES": IOBES, "BILOU": BILOU, "IOE1": IOE1, "IOE2": IOE2}

    for own, names in NAMES.items():
        tags = [[tag for tag in TAGS[own] if tag[0] not in "MW"]]
        for name in names:
            if own in of_scheme:
                assert OF_SEQEVAL[call](name, tags) == OF_SEQEVAL[call](of_scheme[own], tags)
                continue
            with pytest.raises(UsageError, match=f"seqeval has no scheme {own} .one of IOB1, IOB2"):
                OF_SEQEVAL[call](name, tags)


@pytest.mark.parametrize("mode", ["strict", None])
def test_an_unknown_name_is_an_error_in_each_mode_of_seqeval(mode: str | None) -> None:
    for function in (seqeval.f1_score, seqeval.precision_score, seqeval.classification_report):
        with pytest.raises(ValueError, match=r"unknown tag scheme 'IBO2' \(did you mean .*IOB2"):
            function([["B-A"]], [["B-A"]], mode=mode, scheme="IBO2")
    with pytest.raises(CluevalError, match=r"did you mean .*IOB2"):
        Seqeval().compute(predictions=[["B-A"]], references=[["B-A"]], mode=mode, scheme="IBO2")


# Wrong tags in column files are named with their line, document and layer, whatever stands between sentences


def vrt(*sentences: str) -> str:
    """A document of sentences, written as ``a|O b|B-A``: the lines of its first tokens are 3, 4 and so on.

    Two lines are between sentences.
    """
    texts = ["".join(line.replace("|", "\t") + "\n" for line in each.split()) for each in sentences]
    return '<text id="d">\n' + "".join(f"<s>\n{text}</s>\n" for text in texts) + "</text>\n"


def refused(path: Path, scheme: str = "BIO", invalid: str = "error") -> str:
    """The message, which is the same whether documents are made or not."""
    with pytest.raises(TagError) as read_one:
        list(read(path, scheme=scheme, invalid=invalid))
    with pytest.raises(TagError) as scored:
        score(path, path, scheme=scheme, invalid=invalid)
    assert str(scored.value) == str(read_one.value)
    return str(read_one.value).removeprefix(str(path.parent) + "/")


def test_an_ill_formed_tag_is_named_with_line_document_and_advice(tmp_path: Path) -> None:
    path = write(tmp_path / "g.vrt", vrt("a|O b|B-A", "c|O d|I-A"))

    assert refused(path) == (
        "g.vrt:8, document 'd': ill-formed tags: 'I-A' may not follow 'O' in the scheme BIO "
        "(layer 'label'; invalid=... sets the treatment of ill-formed tags)"
    )


@pytest.mark.parametrize(
    ("sentences", "line"),
    [(["a|B-A"], 3), (["a|O b|B-A", "c|O"], 4), (["a|O", "b|O c|B-A"], 7), (["a|O", "b|B-A", "c|O"], 6)],
)
def test_a_span_that_is_open_at_the_end_is_named_with_the_last_line_of_its_sentence(
    tmp_path: Path, sentences: list[str], line: int
) -> None:
    path = write(tmp_path / "g.vrt", vrt(*sentences))

    assert refused(path, "BIOES").startswith(f"g.vrt:{line}, document 'd': ill-formed tags: ")


def test_text_that_is_not_a_tag_is_named_with_the_advice_of_the_scheme(tmp_path: Path) -> None:
    path = write(tmp_path / "g.vrt", vrt("a|O", "b|O c|X-A"))

    assert refused(path, invalid="conlleval") == (
        "g.vrt:7, document 'd': 'X-A' is not a tag "
        "(a tag is O, or one of B I E S L U M W, alone or with a hyphen and a label; "
        "layers=... names the column of the tags)"
    )
