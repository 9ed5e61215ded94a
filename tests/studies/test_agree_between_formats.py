"""Annotators in files of different formats: `agree` and `curate` pair and place them as `score` does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path

import pytest
from corpora import write

from clueval import Agreement, CluevalError, Document, Span, agree, convert, curate, score
from clueval.core.document import Pair
from clueval.formats.catalogue import writer_named, written_names
from clueval.reading.paths import with_equal_names
from clueval.studies.agreement.curation import Curated
from clueval.transforms.placing import Placing

TOKENS = ["Ada", "met", "Dr.", "Bob", "."]

TEXTS = ("Ada met Dr. Bob.", "Ada met  Dr. Bob.\n")

NAMES = [name for name in written_names() if name not in ("docbin", "inline")]
"""Formats that are written as text, and whose files are recognised without their name."""


def written(folder: Path, name: str, spans: list[tuple[int, int, str]], text: str) -> Path:
    """A folder with the document `urteil01` in a format; the spans are ranges of tokens."""
    writer = writer_named(name)
    document = Document("urteil01", {"label": [Span(*span) for span in spans]}, tokens=TOKENS)
    if writer.unit == "character":
        whole = Document("urteil01", {"label": []}, text=text, unit="character")
        (pair,) = Placing()([Pair(whole, document)])
        document = pair.predicted
    folder.mkdir()
    path = folder / f"urteil01{writer.ending}"
    path.write_text("".join(writer.pieces([document], ["label"], False)))
    if name == "xmi":  # its type system is a file of the folder
        convert([document], to=name, output_file=f"{folder}/")
    for ending, content in writer.beside.items():
        path.with_suffix(ending).write_text(content(document))
    if name == "spans":
        path.with_suffix(".vrt").write_text("\n".join(['<text id="urteil01">', *TOKENS, "</text>", ""]))
    return path


def read_by(function: Callable[[], float]) -> float | None:
    """A number; None if the files cannot be read together."""
    try:
        return function()
    except CluevalError:
        return None


@pytest.mark.parametrize(
    "own", [name if name == "brat" else pytest.param(name, marks=pytest.mark.long) for name in NAMES]
)
def test_agree_and_curate_read_every_pair_of_formats_that_score_reads(own: str, tmp_path: Path) -> None:
    one = written(tmp_path / "one", own, [(0, 1, "PER"), (2, 4, "PER")], TEXTS[0])
    read = 0
    for name, text in product(NAMES, TEXTS):
        two = written(tmp_path / f"{name}{len(text)}", name, [(0, 1, "PER"), (3, 4, "PER")], text)
        for paths in ((one, two), (one.parent, two.parent)):
            expected = read_by(lambda paths=paths: score(*paths, metrics="exact").f1)  # type: ignore[misc]
            found = read_by(lambda paths=paths: f1_of(agree(paths, conventions="exact")))  # type: ignore[misc]
            kept = read_by(lambda paths=paths: kept_of(curate(paths)))  # type: ignore[misc]

            assert (name, len(text), found) == (name, len(text), expected)
            assert kept == (None if expected is None else 2 * expected)
            read += expected is not None
    assert read >= 2 * (len(NAMES) - 1)  # single files: all, except other blanks in the same format


def f1_of(study: Agreement) -> float:
    report = study.to_dict()
    assert (report["documents"], report["left_out"]) == (1, 0)
    found: float = report["agreement"]["label"]["f1"]["exact"]["matrix"][0][1]
    return found


def kept_of(curated: Iterable[Curated]) -> float:
    (one,) = curated
    return len(one.document.layers["label"])


@pytest.mark.parametrize(
    ("sides", "expected"),
    [
        ([["a.ann", "b.ann"], ["a.tsv", "b.tsv"]], [["a", "b"], ["a", "b"]]),
        ([["a.ann", "b.ann"], ["a.tsv"]], [["a", "b"], ["a"]]),
        ([["a.ann"], ["b.ann"], ["b.tsv"]], [["a"], ["b"], ["b"]]),
        ([["a.ann", "b.ann"], ["b.ann"]], [["a", "b"], ["b"]]),
        ([["1.1", "2.1"], ["1.1", "3.1"]], [["1", "2"], ["1", "3"]]),
        ([["a.1", "a.2"], ["a.1", "a.2"]], [["a.1", "a.2"], ["a.1", "a.2"]]),
        ([["a.txt/CURATION_USER.tsv"], ["a.ann"]], [["a"], ["a"]]),
        ([["a.ann", "a.tsv"], ["a.tsv"]], [["a.ann", "a.tsv"], ["a.tsv"]]),
        ([["x/a.ann.gz"], ["x/a.conll"], ["y/a.conll"]], [["x/a"], ["x/a"], ["y/a"]]),
        ([[None], [None]], [[None], [None]]),
    ],
)
def test_names_of_files_lose_their_endings_unless_two_of_a_side_are_equal_then(
    sides: list[list[str | None]], expected: list[list[str | None]]
) -> None:
    found = with_equal_names([[(name, Path(f"p/{name}")) for name in side] for side in sides])

    assert [[name for name, _ in side] for side in found] == expected
    assert [[str(path) for _, path in side] for side in found] == [
        [f"p/{name}" for name in side] for side in sides
    ]


def test_agree_pairs_the_document_of_a_format_without_ids_by_its_number(tmp_path: Path) -> None:
    brat = written(tmp_path / "one", "brat", [(0, 1, "PER")], TEXTS[0])
    ids = write(tmp_path / "b.jsonl", '{"id": "d7", "text": "Ada met Dr. Bob.", "label": [[0, 3, "PER"]]}\n')

    assert f1_of(agree([brat, ids])) == score(brat, ids, metrics="exact").f1 == 1.0


def test_white_space_at_the_end_of_a_text_counts_in_every_order_of_annotators() -> None:
    def annotator(text: str, start: int, end: int) -> list[Document]:
        return [Document("d", {"label": [Span(start, end, "PER")]}, text=text, unit="character")]

    def numbers(*annotators: list[Document]) -> dict[str, object]:
        found = agree(*annotators).to_dict()
        return {key: value for key, value in found.items() if key in ("tokens", "agreement")}

    one, other = annotator("Ada met", 0, 3), annotator("Ada met   \n", 4, 7)

    assert numbers(one, other) == numbers(other, one)
