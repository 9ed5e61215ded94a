"""HIPE, GermEval and WNUT: columns of token files have names, by which layers are chosen."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpora import write

from clueval import Document, Span, read, score
from clueval.exceptions import TagError, UsageError

FORMATS = Path(__file__).parents[1] / "samples" / "formats"
HIPE = FORMATS / "hipe" / "gold.tsv"
GERMEVAL = FORMATS / "germeval" / "gold.tsv"


def spans(document: Document, layer: str = "label") -> list[tuple[int, int, str]]:
    return [(span.start, span.end, span.label) for span in document.layers[layer]]


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


@pytest.mark.parametrize("path", [HIPE, GERMEVAL], ids=["hipe", "germeval"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_files_with_named_columns_are_scored_as_their_documents(path: Path, jobs: int) -> None:
    documents = list(read(path))

    of_files = score(path, path, jobs=jobs)

    assert of_files.metrics == score(documents, documents).metrics
    assert of_files.tokens == sum(len(each.tokens or ()) for each in documents)
    assert of_files.inputs["gold"]["format"] == "conll"


def test_spans_tables_name_their_columns_too(tmp_path: Path) -> None:
    write(tmp_path / "a.vrt", "w\nx\n")
    table = write(tmp_path / "a.tsv", "start\tend\tkind\tnote\n0\t0\tPER\tz\n")

    (document,) = read(table, {"entity": "kind"})

    assert document.layers == {"entity": [Span(0, 1, {"entity": "PER"})]}
