"""DocBin of spaCy: what spaCy writes is read, and what is written spaCy reads."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from contents import spans
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab

from clueval import Document, agree, convert, read, score
from clueval import Span as OurSpan
from clueval.files.errors import CluevalError, CluevalWarning, FormatError, MissingExtra, UsageError
from clueval.formats import docbin as module
from clueval.formats.docbin import docbin_of

VOCAB = Vocab()


def doc(
    words: list[str], ents: list[tuple[int, int, str]] | None, **groups: list[tuple[int, int, str]]
) -> Doc:
    made = Doc(VOCAB, words=words, spaces=[word != "\U0001f600" for word in words])
    if ents is not None:
        made.set_ents([Span(made, *ent) for ent in ents])
    for key, found in groups.items():
        made.spans[key] = [Span(made, *span) for span in found]
    return made


@pytest.fixture
def path(tmp_path: Path) -> Path:
    docs = [
        doc(
            ["Ada", "\U0001f600", "Lovelace", "slept"],
            [(0, 1, "PER"), (2, 3, "LOC")],
            sc=[(0, 3, "A"), (0, 1, "B"), (4, 4, "C")],
        ),
        doc(["no", "annotation"], None),
        doc(["Ulm"], []),
    ]
    DocBin(docs=docs, store_user_data=False).to_disk(tmp_path / "gold.spacy")
    return tmp_path / "gold.spacy"


def test_documents_have_entities_and_numbers_and_those_without_annotation_are_counted(path: Path) -> None:
    first, third = read(path)

    assert (first.id, third.id) == ("1", "3")
    assert first.text == "Ada \U0001f600Lovelace slept "
    assert spans(first) == [(0, 3, "PER"), (5, 13, "LOC")]
    assert spans(third) == []
    assert score(path, path).passed_over["gold"] == {"unannotated": 1, "spans of spans.sc": 3}


def test_groups_of_spans_are_counted_where_docs_are_scored_by_their_entities(path: Path) -> None:
    docs = list(DocBin().from_disk(path).get_docs(VOCAB))

    assert score(docs, docs).passed_over["gold"] == {"unannotated": 1, "spans of spans.sc": 3}


def test_documents_that_gold_has_not_annotated_do_not_count_in_files_and_in_memory(tmp_path: Path) -> None:
    words, ents = ["Ada", "slept"], [(0, 1, "PER")]
    sides = [doc(words, None), doc(words, ents)], [doc(words, ents), doc(words, ents)]
    paths = [tmp_path / "gold.spacy", tmp_path / "predicted.spacy"]
    for path, docs in zip(paths, sides, strict=True):
        DocBin(docs=docs).to_disk(path)

    nothing = {"gold": {}, "predicted": {}}
    for gold, predicted in (sides, paths):
        with pytest.warns(CluevalWarning, match="1 gold document is not annotated and left out"):
            result = score(gold, predicted, metrics="exact")
        assert (result.documents, result.f1) == (1, 1.0)
        assert result.passed_over == {**nothing, "gold": {"unannotated": 1}}
        result = score(predicted, gold, metrics="exact")
        assert (result.documents, result.recall, result.precision) == (2, 0.5, 1.0)
        assert result.passed_over == nothing


@pytest.mark.filterwarnings("ignore::clueval.files.errors.CluevalWarning")
def test_documents_that_gold_has_not_annotated_are_why_there_is_no_f1() -> None:
    docs = [doc(["Ada"], None), doc(["slept"], None)]

    with pytest.raises(
        UsageError, match=r"no documents, so there is no f1 \(2 gold documents are not annotated"
    ):
        score(docs, docs, metrics="exact").f1  # noqa: B018  # it raises


def test_documents_without_annotation_have_their_place_beside_other_formats_and_annotators(
    tmp_path: Path,
) -> None:
    words, ents = ["Ada", "slept"], [(0, 1, "PER")]
    docs = [doc(["Ulm"], None), doc(words, ents)]
    paths = [tmp_path / "a.spacy", tmp_path / "b.jsonl"]
    DocBin(docs=docs).to_disk(paths[0])
    paths[1].write_text('{"text": "Ulm ", "label": []}\n{"text": "Ada slept ", "label": [[0, 3, "PER"]]}\n')
    full = [doc(["Ulm"], []), doc(words, ents)]

    for first, second in (paths, [docs, full]):
        assert score(first, second, metrics="exact").f1 == score(second, first, metrics="exact").f1 == 1
        study = agree({"a": first, "b": second}).to_dict()
        assert (study["documents"], study["left_out"]) == (1, 1)


def test_a_gold_that_has_not_annotated_a_text_is_not_the_nearest() -> None:
    gold, none, unannotated = (doc(["Ulm"], ents) for ents in ([(0, 1, "LOC")], [], None))

    assert score([gold], [none], any_of=[[unannotated]], metrics="exact").get("micro.fn") == 1


def test_conversion_keeps_the_tokens_in_both_directions(tmp_path: Path) -> None:
    DocBin(docs=[doc(["Dr.", "Lee"], [(0, 2, "PER")])]).to_disk(tmp_path / "a.spacy")

    for to in ("conll", "webanno", "docbin"):
        (document,) = convert(tmp_path / "a.spacy", to)
        assert document.tokens == ["Dr.", "Lee"]
    (again,) = written([document], tmp_path / "b.spacy")
    assert again.text == "Dr. Lee "
    assert next(read(tmp_path / "b.spacy", unit="token")).tokens == ["Dr.", "Lee"]


def test_positions_are_tokens_if_the_caller_wants(path: Path) -> None:
    first, _ = read(path, unit="token")

    assert first.tokens == ["Ada", "\U0001f600", "Lovelace", "slept"]
    assert spans(first) == [(0, 1, "PER"), (2, 3, "LOC")]


def test_groups_of_spans_are_sources(path: Path) -> None:
    first, *_ = read(path, {"group": "spans.sc"})

    assert spans(first, "group") == [(0, 13, "A"), (0, 3, "B"), (20, 20, "C")]
    with pytest.raises(UsageError, match=r"no document has 'spans\.x'.*spans\.sc"):
        list(read(path, {"group": "spans.x"}))
    with pytest.raises(UsageError, match=r"no source 'sc' for layer 'group'.*spans\.KEY"):
        list(read(path, {"group": "sc"}))
    DocBin(docs=[doc(["Ada"], None, sc=[(0, 1, "A")])]).to_disk(path)
    with pytest.raises(UsageError, match=r"no document has entities \(groups of spans: spans\.sc"):
        list(read(path))


@pytest.mark.parametrize("data", [b"", b"nonsense", zlib.compress(b"nonsense"), zlib.compress(b"\x80")])
def test_files_that_are_no_docbin_are_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.spacy"
    path.write_bytes(data)

    with pytest.raises(FormatError, match=r"a\.spacy: not a DocBin"):
        list(read(path))


def test_file_that_grows_too_much_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.spacy"
    path.write_bytes(zlib.compress(bytes(10_000_000)))

    with pytest.raises(FormatError, match="a file of more than 1,000,000 bytes"):
        list(read(path, max_line=1_000_000))


def test_bytes_that_change_end_in_documents_or_one_error(path: Path) -> None:
    whole = zlib.decompress(path.read_bytes())
    for place in range(0, len(whole), max(1, len(whole) // 100)):
        path.write_bytes(zlib.compress(whole[:place] + bytes([whole[place] ^ 0x15]) + whole[place + 1 :]))
        try:
            found = list(read(path))
        except CluevalError:
            continue
        assert all(isinstance(each, Document) for each in found)


def test_missing_extra_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise MissingExtra("DocBin files need spaCy", advice="pip install 'clueval[spacy]'")

    monkeypatch.setattr(module, "spacy_tools", missing)

    with pytest.raises(MissingExtra, match=r"clueval\[spacy\]"):
        list(read(path))


def written(documents: list[Document], path: Path) -> Iterator[Document]:
    path.write_bytes(docbin_of(iter(documents), ["label"]))
    return read(path)


def test_what_is_written_is_read_and_is_valid_for_spacy(tmp_path: Path) -> None:
    text = "Ada\n Lovelace's  (R&D), \u00c9 in Ulm."
    layers = {"label": [OurSpan(0, 13, "PER"), OurSpan(len(text) - 4, len(text) - 1, "LOC")]}
    document = Document("1", layers, text=text, unit="character")

    (found,) = written([document], tmp_path / "a.spacy")

    assert (found.text, found.layers) == (document.text, document.layers)
    (made,) = DocBin().from_disk(tmp_path / "a.spacy").get_docs(VOCAB)
    assert [(ent.text, ent.label_) for ent in made.ents] == [("Ada\n Lovelace", "PER"), ("Ulm", "LOC")]


def test_span_that_is_empty_cannot_be_written() -> None:
    document = Document("d", {"label": [OurSpan(1, 1, "X")]}, text="Ada", unit="character")

    with pytest.raises(UsageError, match=r"spaCy cannot hold the span \[1,1\)"):
        docbin_of(iter([document]), ["label"])
