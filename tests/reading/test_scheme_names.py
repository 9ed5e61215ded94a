"""The names of tag schemes: Python takes every spelling that the command line takes, wherever it takes a scheme."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from corpora import write

import clueval
from clueval import CluevalError, score
from clueval.cli import main
from clueval.compat import seqeval
from clueval.compat.huggingface import Seqeval
from clueval.compat.seqeval.scheme import BILOU, IOB1, IOB2, IOBES, IOE1, IOE2, Entities
from clueval.files.errors import UsageError

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


def test_an_unknown_name_is_the_same_error_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(write(tmp_path / "a.conll", conll("BIO")))

    assert main(["score", path, path, "--scheme", "IBO2"]) == 2

    (line,) = capsys.readouterr().err.splitlines()
    assert "'IBO2'" in line
    assert "IOB2 or IO? it is one of BIO" in line


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
