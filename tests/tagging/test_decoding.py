"""Tags of passages decoded: the decoder by itself, and documents of passages that are written out here."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import pytest

from clueval.core.span import Span
from clueval.files.errors import FormatError, TagError, UsageError
from clueval.formats.columns.documents import documents, located, repeated_ids
from clueval.formats.columns.layout import Layout
from clueval.formats.columns.passages import Passage
from clueval.spans.document import Document, Sentence
from clueval.tagging.decoder import BadTag, Decoder
from clueval.tagging.schemes import Neighbours, neighbours_of

LAYOUT = Layout(2, "\t", 0, None, (("entity", 1),), entities=False)
WITH_IDS = Layout(4, "\t", 1, 0, (("entity", 2), ("risk", 3)), entities=True)


def passage(*sentences: str, layout: Layout | None = LAYOUT, **fields: object) -> Passage:
    """Sentences of token lines with a blank between lines and a bar between columns; the first is line 3.

    Between sentences are two lines of structure.
    """
    texts = ["".join(line.replace("|", "\t") + "\n" for line in each.split()) for each in sentences]
    lines = accumulate((text.count("\n") + 2 for text in texts), initial=3)
    known = {"document": "d", "start": 0, "begins": True, "named": True, **fields}
    return Passage(
        file="g.vrt",
        metadata={"domain": "law"},
        layout=layout,
        sentences=texts,
        heads=[f"<s {number}>" for number in range(len(texts))],
        anchors=[(number, 0, line) for number, line in zip(range(len(texts)), lines, strict=False)],
        **known,  # type: ignore[arg-type]  # as the fields of a passage are
    )


def of(*passages: Passage, scheme: str | None = "BIO", invalid: str = "conlleval") -> list[Document]:
    layouts = [passage.layout for passage in passages if passage.layout is not None] or [LAYOUT]
    decoders = {name: Decoder(scheme, invalid) for name, _ in layouts[0].layers}
    return list(documents(passages, decoders, lambda head: head[3:-1]))


def accepted(decoder: Decoder, tags: Sequence[str], times: int | None = None) -> Neighbours:
    pairs = neighbours_of(tags)
    decoder.accept(tags, pairs, *([] if times is None else [times]))
    return pairs


class TestDecoder:
    def test_an_unknown_treatment_or_scheme_is_refused(self) -> None:
        with pytest.raises(UsageError) as caught:
            Decoder(None, "mend")
        assert str(caught.value) == (
            "unknown treatment of ill-formed tags 'mend' (one of conlleval, discard, error)"
        )
        with pytest.raises(UsageError, match="unknown tag scheme 'BIX'"):
            Decoder("BIX", "error")

    def test_repaired_tags_are_counted_for_all_accepted_tags_or_for_some(self) -> None:
        decoder = Decoder("IOB2", "conlleval")
        accepted(decoder, ["I-A", "O", "I-A"])
        some = accepted(decoder, ["I-B", "I-B"])

        assert decoder.repaired() == 3
        assert decoder.repaired(some) == 1

    def test_tags_accepted_several_times_are_counted_several_times(self) -> None:
        decoder = Decoder("BIO", "conlleval")
        accepted(decoder, ["I-A", "O"], times=3)
        accepted(decoder, ["I-A"], times=1)

        assert decoder.repaired() == 4

    def test_decoder_includes_the_counts_of_others(self) -> None:
        one, other = Decoder("BIO", "conlleval"), Decoder("BIO", "conlleval")
        accepted(one, ["I-A"])
        accepted(other, ["I-B", "O", "I-B"])

        one.include(other)

        assert (one.repaired(), other.repaired()) == (3, 2)

    def test_decoder_repairs_nothing_without_tags(self) -> None:
        decoder = Decoder(None, "conlleval")
        accepted(decoder, ["O", "O"])

        assert decoder.repaired() == 0

    def test_ill_formed_tags_are_read_leniently_discarded_or_refused(self) -> None:
        tags = ["I-A", "O", "B-A", "I-A", "B-B"]
        lenient, strict, none = [(0, 1, "A"), (2, 4, "A"), (4, 5, "B")], [(2, 4, "A"), (4, 5, "B")], "refused"

        for invalid, expected in (("conlleval", lenient), ("discard", strict), ("error", none)):
            decoder = Decoder("BIO", invalid)
            pairs = accepted(decoder, tags)
            if expected == "refused":
                with pytest.raises(BadTag) as caught:
                    decoder.chunks(tags, pairs)
                problem = "ill-formed tags: 'I-A' may not follow the start of the sentence in the scheme BIO"
                assert (str(caught.value), caught.value.problem) == (problem, problem)
                assert (caught.value.advice, caught.value.tag, caught.value.index) == (None, None, 0)
            else:
                assert list(decoder.chunks(tags, pairs)) == expected
                columns = decoder.columns("entity", tags, pairs)
                assert all(set(labels) == {"entity"} for labels in columns.keyed_labels()[1].values())
                assert [
                    *zip(columns.starts, columns.ends, columns.labels_in("entity"), strict=True)
                ] == expected

    def test_columns_are_empty_if_no_tag_is_well_formed(self) -> None:
        decoder = Decoder("BIO", "discard")
        pairs = accepted(decoder, ["I-A"])

        columns = decoder.columns("entity", ["I-A"], pairs)

        assert list(columns) == []

    @pytest.mark.parametrize("invalid", ["conlleval", "discard", "error"])
    def test_text_without_tags_has_no_spans_under_any_treatment(self, invalid: str) -> None:
        decoder = Decoder(None, invalid)
        pairs = accepted(decoder, ["O", "O"])

        assert list(decoder.chunks(["O", "O"], pairs)) == []
        assert list(decoder.columns("entity", ["O", "O"], pairs)) == []

    def test_tag_outside_the_scheme_is_refused_with_advice(self) -> None:
        for tags, bad in ((["B-A", "O", "X-A"], "X-A"), (["B-A", "E-A", "E-A"], "E-A")):
            with pytest.raises(BadTag) as caught:
                accepted(Decoder("BIO", "conlleval"), tags)
            assert caught.value.tag == bad
            assert caught.value.advice is not None

    def test_a_scheme_that_is_not_named_is_recognised_from_all_tags_so_far(self) -> None:
        decoder = Decoder(None, "conlleval")
        assert decoder.scheme() is None

        accepted(decoder, ["B-A", "I-A"])
        assert decoder.scheme() == "BIO"
        accepted(decoder, ["S-A"])
        assert decoder.scheme() == "BIOES"

    def test_a_scheme_that_is_not_named_is_that_of_all_tags_if_they_are_read_leniently(self) -> None:
        decoder = Decoder(None, "conlleval")
        for tags in (["B-A"], ["E-A"]):
            accepted(decoder, tags)

        assert decoder.repaired() == 2  # in BIOES no B stands alone, and no E


class TestDocuments:
    def test_document_has_the_content_of_its_passages(self) -> None:
        first = passage("1|Anna|B-PER|O 2|R&amp;D|I-PER|B-high", "3|x|O|I-high", layout=WITH_IDS, start=10)
        second = passage("4|y|I-PER|O 5|z|O|B-low", layout=WITH_IDS, start=13, begins=False)
        second.anchors = [(0, 0, 12)]

        (document,) = of(first, second)

        assert document == Document(
            "d",
            {
                "entity": [Span(10, 12, {"entity": "PER"}), Span(13, 14, {"entity": "PER"})],
                "risk": [
                    Span(11, 12, {"risk": "high"}),
                    Span(12, 13, {"risk": "high"}),
                    Span(14, 15, {"risk": "low"}),
                ],
            },
            tokens=["Anna", "R&D", "x", "y", "z"],
            start=10,
            token_ids=["1", "2", "3", "4", "5"],
            sentences=[Sentence(10, 12, "0"), Sentence(12, 13, "1"), Sentence(13, 15, "0")],
            metadata={"domain": "law"},
            tags={
                "entity": ["B-PER", "I-PER", "O", "I-PER", "O"],
                "risk": ["O", "B-high", "I-high", "O", "B-low"],
            },
            repaired=2,
        )
        assert (document.file, document.lines) == ("g.vrt", [3, 4, 7, 12, 13])

    def test_repaired_tags_are_counted_document_by_document_and_layer_by_layer(self) -> None:
        found = of(
            passage("1|a|I-A|I-x", layout=WITH_IDS),
            passage("1|a|I-A|O 2|b|O|I-x 3|c|O|O", layout=WITH_IDS, start=1),
            passage("1|a|B-A|O", layout=WITH_IDS, start=4),
        )

        assert [document.repaired for document in found] == [2, 2, 0]

    def test_one_decoder_reads_a_layer_of_all_documents(self) -> None:
        passages = [
            passage("1|a|S-A|U-x", layout=WITH_IDS),
            passage("1|a|B-A|O 2|b|I-A|O", layout=WITH_IDS, start=1),
        ]
        decoders = {"entity": Decoder("BIOES", "discard"), "risk": Decoder("BILOU", "discard")}
        first, second = documents(passages, decoders, str)

        assert first.layers == {"entity": [Span(0, 1, {"entity": "A"})], "risk": [Span(0, 1, {"risk": "x"})]}
        assert second.layers == {"entity": [], "risk": []}  # in BIO it would be a span

    def test_positions_of_spans_do_not_count_the_lines_between_sentences(self) -> None:
        (document,) = of(passage("a|O", "b|O c|B-A", "d|B-B e|I-B", "f|O g|B-C", start=5))

        assert [(span.start, span.end) for span in document.layers["entity"]] == [(7, 8), (8, 10), (11, 12)]

    def test_passages_without_tokens_are_skipped(self) -> None:
        empty = passage(layout=None)

        (alone,) = of(empty)
        (document,) = of(empty, passage("a|B-A", begins=False), passage(layout=None, begins=False))

        assert (alone.layers, alone.tokens, alone.token_ids) == ({"entity": []}, [], None)
        assert document.layers == {"entity": [Span(0, 1, {"entity": "A"})]}


class TestErrors:
    def refused(self, *passages: Passage, scheme: str | None = "BIO", invalid: str = "error") -> str:
        with pytest.raises(TagError) as caught:
            of(*passages, scheme=scheme, invalid=invalid)
        return str(caught.value)

    def test_an_ill_formed_tag_is_named_with_line_document_and_advice(self) -> None:
        # lines 3 and 4, then two lines of structure, then 7 and 8
        message = self.refused(passage("a|O b|B-A", "c|O d|I-A"))

        assert message == (
            "g.vrt:8, document 'd': ill-formed tags: 'I-A' may not follow 'O' in the scheme BIO "
            "(layer 'entity'; invalid=... sets the treatment of ill-formed tags)"
        )

    @pytest.mark.parametrize(
        ("sentences", "line"),
        [(["a|B-A"], 3), (["a|O b|B-A", "c|O"], 4), (["a|O", "b|O c|B-A"], 7), (["a|O", "b|B-A", "c|O"], 6)],
    )
    def test_a_span_that_is_open_at_the_end_is_named_with_the_last_line_of_its_sentence(
        self, sentences: list[str], line: int
    ) -> None:
        message = self.refused(passage(*sentences), scheme="BIOES")

        assert message.startswith(f"g.vrt:{line}, document 'd': ill-formed tags: 'O' may not follow 'B-A'")

    def test_text_that_is_not_a_tag_is_named_with_the_advice_of_the_scheme(self) -> None:
        message = self.refused(passage("a|O", "b|O c|X-A"), invalid="conlleval")

        assert message == (
            "g.vrt:7, document 'd': 'X-A' is not a tag "
            "(a tag is O, or one of B I E S L U M W, alone or with a hyphen and a label; "
            "layers=... names the column of the tags)"
        )

    def test_error_does_not_name_a_document_without_an_id_in_the_file(self) -> None:
        nameless = passage("a|I-A", named=False)

        assert self.refused(nameless).startswith("g.vrt:3: ill-formed tags")
        advice = located(BadTag("bad", "correct it"), nameless, "x").advice

        assert advice == "correct it; layers=... names the column of the tags"

    def test_repeated_token_ids_are_all_named_with_both_lines(self) -> None:
        without = passage("a|O", layout=LAYOUT)
        first = passage("1|a|O|O 2|b|O|O", "1|c|O|O", layout=WITH_IDS)
        second = passage("2|a|O|O", layout=WITH_IDS, begins=False, named=False)
        second.anchors = [(0, 0, 20)]

        errors = [str(error) for error in repeated_ids([passage(layout=None), without, first, second])]

        with pytest.raises(FormatError) as caught:
            of(first, second)
        assert str(caught.value) == errors[0]
        assert errors == [
            "g.vrt:7, document 'd': token id '1' is already used in line 3 "
            "(token ids are unique within a document)",
            "g.vrt:20: token id '2' is already used in line 4 (token ids are unique within a document)",
        ]
