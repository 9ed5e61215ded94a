"""Column files, which are counted line by line, have the numbers of their documents."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from clueval import CluevalError, agree, read
from clueval.core.count import Plan
from clueval.files.errors import TextMismatch
from clueval.formats.options import Reading
from clueval.studies.agreement.annotators import annotators_of
from clueval.studies.agreement.metric import AgreementMetric

TAGS = ("O", "O", "O", "B-X", "I-X", "B-Y", "I-Y", "E-Y")


def corpus(chance: random.Random, annotators: int = 3, lacking: float = 0) -> list[str]:
    """The same text as several annotators tag it, with repairs, empty documents and sentences that agree.

    An annotator lacks a document with the probability `lacking`.
    """
    texts: list[list[str]] = [[] for _ in range(annotators)]
    for number in range(chance.randint(1, 4) + 2 * bool(lacking)):
        having = [text for text in texts if chance.random() >= lacking]
        for text in having:
            text.append(f"# newdoc id = d{number}")
        for _ in range(chance.randint(0, 4)):
            length = chance.randint(1, 5)
            own = [[chance.choice(TAGS) for _ in range(length)] for _ in having]
            if chance.random() < 0.5:
                own = own[:1] * len(having)
            for text, tags in zip(having, own, strict=True):
                text += [f"w{place}\t{tag}" for place, tag in enumerate(tags)] + [""]
    return ["\n".join(text) + "\n" for text in texts]


def written(folder: Path, texts: list[str]) -> dict[str, Path]:
    paths = {f"n{number}": folder / f"{number}.conll" for number in range(len(texts))}
    for path, text in zip(paths.values(), texts, strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def outcome(sources: Mapping[str, Any], system: Any = None, **options: Any) -> object:
    """The report of annotators without what only files have, or the error without its place."""
    try:
        report = agree(sources, system=system, **options).to_dict()
    except CluevalError as error:
        return type(error)
    return {key: value for key, value in report.items() if key != "signature"}


def require_the_same(paths: dict[str, Path], has_system: bool = False, **options: Any) -> None:
    """Files give what their documents in memory give, numbers or error."""
    files: dict[str, Any] = dict(paths)
    try:
        sides: dict[str, Any] = {name: list(read(path, **options)) for name, path in paths.items()}
    except CluevalError:
        with pytest.raises(CluevalError):
            agree(files, **options)
        return
    systems = [of.pop(list(paths)[-1]) if has_system else None for of in (files, sides)]
    named = outcome(sides, systems[1], scheme=options.get("scheme"))
    assert outcome(files, systems[0], **options) == named


@pytest.mark.few(3)
@pytest.mark.parametrize("has_system", [False, True])
@pytest.mark.parametrize("lacking", [0, 0.3])
@pytest.mark.parametrize("seed", range(20))
def test_files_have_the_numbers_of_documents(
    tmp_path: Path, seed: int, lacking: float, has_system: bool
) -> None:
    require_the_same(written(tmp_path, corpus(random.Random(seed), 4, lacking)), has_system)


@pytest.mark.parametrize("invalid", ["discard", "error"])
@pytest.mark.parametrize("scheme", [None, "IOBES"])
@pytest.mark.parametrize("seed", range(4))
def test_files_have_the_numbers_of_documents_with_any_treatment_of_ill_formed_tags(
    tmp_path: Path, seed: int, scheme: str | None, invalid: str
) -> None:
    require_the_same(written(tmp_path, corpus(random.Random(seed))), scheme=scheme, invalid=invalid)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("w0\t", "other\t"),
        ("# newdoc id = d0", "# newdoc id = d7"),
        ("w0\t", "w0\tx\t"),
        ("\tO", "\tNONSENSE"),
        ("w0\t", "w0"),
        ("\n\n", "\n"),
    ],
)
def test_irregular_files_have_the_numbers_or_errors_of_documents(tmp_path: Path, old: str, new: str) -> None:
    texts = corpus(random.Random(3))
    texts[1] = texts[1].replace(old, new, 1)
    require_the_same(written(tmp_path, texts))


def test_the_end_of_a_sentence_is_told_from_a_token_o(tmp_path: Path) -> None:
    paths = written(tmp_path, ["x\tO\nO\tO\n\ny\tO\n", "x\tO\n\nO\tO\ny\tO\n"])

    with pytest.raises(TextMismatch, match="sentence"):
        agree(paths)


def test_folders_may_lack_files(tmp_path: Path) -> None:
    for name in ("anna/1", "anna/2", "bob/2", "bob/3"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.conll").write_text("w\tB-X\n", encoding="utf-8")
    report = agree(tmp_path / "anna", tmp_path / "bob").to_dict()

    assert (report["documents"], report["left_out"]) == (1, 2)


def test_files_with_the_same_documents_are_counted_line_by_line(tmp_path: Path) -> None:
    paths = written(tmp_path, corpus(random.Random(1)))
    annotators = annotators_of(paths, Reading(), {}, "agree")
    plan = Plan((AgreementMetric(annotators.names),), sides=annotators.sides)

    assert annotators.bag(plan) is not None
