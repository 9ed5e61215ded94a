"""Column files counted by clusters have the numbers of their documents."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from sizes import handed_in

from clueval import Agreement, curate
from clueval.files.errors import CluevalError, TextMismatch
from clueval.formats.columns.layout import SIZES
from clueval.second.formats.options import Reading
from clueval.studies.annotators.clusters import counted
from clueval.studies.annotators.source import Naming, annotators_of
from clueval.studies.annotators.study import Study, StudyCounts, report_of

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


SMALL = SIZES._replace(sentences=2, rows=3, characters=20, runs=2)


def study_of(folder: Path, texts: list[str], system: bool = False, reading: Reading | None = None) -> Study:
    paths = []
    for number, text in enumerate(texts):
        paths.append(folder / f"{number}.conll")
        paths[-1].write_text(text)
    sources = {path.stem: path for path in paths[: len(paths) - system]}
    last = paths[-1] if system else None
    annotators = annotators_of(sources, Naming(), reading or Reading(), {}, "agree", last)
    return Study(annotators)


def outcome(count: Callable[[], StudyCounts]) -> object:
    try:
        return report_of(count())
    except CluevalError as error:
        return str(error)


def seeds(number: int) -> list[Any]:
    """Seeds without and with a system; the quick tests have each seed once."""
    return [
        pytest.param(seed, system, marks=() if seed % 2 == system else pytest.mark.long)
        for seed in range(number)
        for system in (False, True)
    ]


def require_the_same(study: Study) -> None:
    """Counting by clusters gives what documents give, numbers or error."""
    assert outcome(lambda: counted(study)) == outcome(lambda: StudyCounts(study).count())


@pytest.mark.few(3)
@pytest.mark.parametrize(("seed", "system"), seeds(25))
def test_clusters_have_the_numbers_of_documents(tmp_path: Path, seed: int, system: bool):
    with handed_in(SMALL._replace(runs=seed)):
        require_the_same(study_of(tmp_path, corpus(random.Random(seed)), system))


@pytest.mark.few(3)
@pytest.mark.parametrize(("seed", "system"), seeds(15))
def test_clusters_have_the_numbers_of_documents_that_some_annotators_lack(
    tmp_path: Path, seed: int, system: bool
):
    with handed_in(SMALL._replace(runs=seed)):
        require_the_same(study_of(tmp_path, corpus(random.Random(seed), 4, lacking=0.3), system))


def places_of(study: Study) -> object:
    try:
        return list(Agreement({}, study).disagreements())
    except CluevalError as error:
        return str(error)


def curated_of(study: Study, votes: Any) -> object:
    sources = {each.name: each.files[0][1] for each in study.annotators.listed}
    try:
        return list(curate(sources, **({"union": True} if votes is None else {"votes": votes})))
    except CluevalError as error:
        return str(error)


def without_rows() -> AbstractContextManager[object]:
    """Every study is read as documents."""
    return patch.object(Study, "changes_documents", True)


@pytest.mark.few(3)
@pytest.mark.parametrize("lacking", [0, 0.3])
@pytest.mark.parametrize(("seed", "system"), seeds(20))
def test_rows_have_the_places_of_documents_in_their_order(
    tmp_path: Path, seed: int, system: bool, lacking: float
):
    with handed_in(SMALL._replace(runs=seed)):
        study = study_of(tmp_path, corpus(random.Random(seed), 4, lacking=lacking), system)
        with without_rows():
            expected = places_of(study)

        assert places_of(study) == expected


@pytest.mark.few(3)
@pytest.mark.parametrize("lacking", [0, 0.3])
@pytest.mark.parametrize("seed", range(20))
def test_rows_are_curated_as_documents_are(tmp_path: Path, seed: int, lacking: float):
    votes = ["majority", "all", 1, 2, None][seed % 5]
    with handed_in(SMALL._replace(runs=seed)):
        study = study_of(tmp_path, corpus(random.Random(seed), 4, lacking=lacking))
        with without_rows():
            expected = curated_of(study, votes)

        assert curated_of(study, votes) == expected


@pytest.mark.parametrize(
    ("old", "new"),
    [("w0\t", "other\t"), ("# newdoc id = d0", "# newdoc id = d7"), ("\tO", "\tNONSENSE"), ("w0\t", "w0")],
)
def test_rows_that_cannot_be_read_are_curated_as_documents_are(tmp_path: Path, old: str, new: str):
    texts = corpus(random.Random(3))
    texts[1] = texts[1].replace(old, new, 1)
    study = study_of(tmp_path, texts)
    with without_rows():
        expected = curated_of(study, "majority")

    assert curated_of(study, "majority") == expected


def test_rows_are_taken_for_places_and_for_curation(tmp_path: Path):
    study = study_of(tmp_path, corpus(random.Random(1), 4, lacking=0.3))

    with patch.object(Study, "groups", side_effect=AssertionError):
        assert places_of(study)
        assert curated_of(study, "majority")


@pytest.mark.parametrize("invalid", ["discard", "error"])
@pytest.mark.parametrize("scheme", [None, "IOBES"])
@pytest.mark.parametrize("seed", range(4))
def test_clusters_have_the_numbers_of_documents_with_any_treatment_of_ill_formed_tags(
    tmp_path: Path, seed: int, scheme: str | None, invalid: str
):
    require_the_same(
        study_of(tmp_path, corpus(random.Random(seed)), reading=Reading(scheme=scheme, invalid=invalid))
    )


@pytest.mark.parametrize("text", ["", "# newdoc id = d1\nw0\tO\n"])
def test_clusters_have_the_schemes_of_annotators_with_documents(tmp_path: Path, text: str):
    others = ["# newdoc id = d0\n# newdoc id = d1\nw0\tI-X\n"] * 2

    require_the_same(study_of(tmp_path, [*others, text]))


def test_clusters_count_a_sentence_of_many_rows_as_one(tmp_path: Path):
    texts = ["".join(f"w\t{tag}\n" for tag in ["B-X"] + ["I-X"] * n + ["O"] * (9 - n)) for n in (7, 8)]

    with handed_in(SMALL):
        report = report_of(counted(study_of(tmp_path, texts)))

    assert report["agreement"]["label"]["disagreements"]["boundary"]["end"] == 1
    assert report["agreement"]["label"]["spans"] == {"0": 1, "1": 1}


def test_clusters_tell_the_end_of_a_sentence_from_a_token_o(tmp_path: Path):
    study = study_of(tmp_path, ["x\tO\nO\tO\n\ny\tO\n", "x\tO\n\nO\tO\ny\tO\n"])

    with pytest.raises(TextMismatch, match="sentence"):
        counted(study)


@pytest.mark.parametrize("lacked", [["d0"], ["d1"], ["d3"], ["d0", "d2"], ["d1", "d2", "d3"]])
def test_clusters_are_taken_for_files_that_lack_documents(tmp_path: Path, lacked: list[str]):
    documents = {f"d{number}": f"# newdoc id = d{number}\nw\tB-X\n\n" for number in range(4)}
    others = [text for name, text in documents.items() if name not in lacked]
    whole = "".join(documents.values())
    study = study_of(tmp_path, [whole, "".join(others), whole.replace(documents["d2"], "")])

    with patch.object(StudyCounts, "count", side_effect=AssertionError):
        counts = counted(study)

    assert report_of(counts)["common"][0] == [4 - ("d2" in lacked), len(others), 3]


def test_clusters_are_taken_for_folders_that_lack_files(tmp_path: Path):
    for name in ("anna/1", "anna/2", "bob/2", "bob/3"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.conll").write_text("w\tB-X\n")
    annotators = annotators_of(
        {name: tmp_path / name for name in ("anna", "bob")}, Naming(), Reading(), {}, ""
    )
    study = Study(annotators)
    expected = report_of(StudyCounts(study).count())

    with patch.object(StudyCounts, "count", side_effect=AssertionError):
        found = report_of(counted(study))

    assert found == expected
    assert (found["documents"], found["left_out"]) == (1, 2)


def test_clusters_leave_documents_in_another_order_to_documents(tmp_path: Path):
    first, second = ("# newdoc id = a\nw\tB-X\n\n", "# newdoc id = b\nw\tO\n\n")
    study = study_of(tmp_path, [first + second, second + first])

    assert counted(study).documents == {(True, True): 2}


def test_clusters_are_taken_for_regular_files(tmp_path: Path):
    study = study_of(tmp_path, corpus(random.Random(1)))

    with patch.object(StudyCounts, "count", side_effect=AssertionError):
        assert counted(study).documents


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
def test_clusters_leave_what_is_irregular_to_documents(tmp_path: Path, old: str, new: str):
    texts = corpus(random.Random(3))
    texts[1] = texts[1].replace(old, new, 1)
    study = study_of(tmp_path, texts)

    require_the_same(study)
