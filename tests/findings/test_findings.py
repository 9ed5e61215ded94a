from __future__ import annotations

import re
from collections import Counter
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from strategies import LABELS, any_spans, at_most, flat_spans

from clueval import read
from clueval.core.span import Span
from clueval.evaluation.run import score
from clueval.files.errors import CluevalError, SpanError, TextMismatch, UsageError
from clueval.findings import context
from clueval.findings.choice import SIDES, Choice, expected, findings, metrics_of, reports_of
from clueval.findings.context import REACH, Context
from clueval.findings.stream import FindingsObserver, errors
from clueval.findings.table import Finding, error_table, joined
from clueval.metrics.confusion import Confusion
from clueval.spans.document import Document, Sentence
from clueval.spans.filters import Filter, parse_where
from clueval.spans.match_classes import LEVELS, UNMATCHED, classes_of
from clueval.spans.matching import match_spans

SAMPLE = Path(__file__).parents[2] / "clueval" / "samples" / "german"
LAYERS = {"entity": 2, "risk": 3}

WORDS = tuple(f"w{n}" for n in range(14))


def document(spans: list[Span], **more: Any) -> Document:
    return Document("d", {"label": spans}, tokens=WORDS, **more)


def row(own: list[Span], other: list[Span], **options: Any) -> Finding:
    (found,) = error_table(own, document(own), document(other), **options)
    return found


def marks(context: Context) -> list[tuple[str, str]]:
    return [(piece.text, piece.mark) for piece in context.pieces]


class TestClasses:
    @pytest.mark.parametrize(
        ("others", "kind"),
        [
            ([], "missed"),
            ([Span(0, 3), Span(7, 9)], "missed"),
            ([Span(3, 7)], "exact"),
            ([Span(2, 7)], "superset"),
            ([Span(3, 5), Span(5, 7)], "tiling"),
            ([Span(2, 5), Span(5, 7)], "overlap"),
            ([Span(3, 4), Span(5, 7)], "partial"),
            ([Span(4, 9)], "partial"),
        ],
    )
    def test_span_that_overlaps_without_a_match_is_partial(self, others: list[Span], kind: str) -> None:
        assert row([Span(3, 7)], others).kind == kind

    @given(flat_spans(zero_length=True), flat_spans(zero_length=True))
    def test_classes_are_those_of_match_spans_and_missed_is_split(
        self, own: list[Span], other: list[Span]
    ) -> None:
        rows = list(error_table(own, document(own), document(other)))

        for match, found in zip(match_spans(own, other), rows, strict=True):
            assert found.kind.replace("partial", "missed") == match.kind
            assert found.found == match.labels
            assert (found.kind == "missed") == (not found.other_texts)


class TestRows:
    def test_positions_are_inclusive_and_token_ids_are_of_the_first_and_the_last_token(self) -> None:
        ids = [f"t{n}" for n in range(14)]
        own, other = [Span(13, 16, "PER")], [Span(12, 14, "PER"), Span(15, 18, "LOC")]

        (found,) = error_table(
            own,
            document(own, start=10, token_ids=ids),
            document(other, start=10, token_ids=ids),
            side="gold",
        )

        assert (found.start, found.end, found.first_token_id, found.last_token_id) == (13, 15, "t3", "t5")
        assert (found.other_start, found.other_end) == (12, 17)
        assert (found.other_first_token_id, found.other_last_token_id) == ("t2", "t7")
        assert (found.text, found.other_texts) == ("w3 w4 w5", ("w2 w3", "w5 w6 w7"))
        assert [dict(labels) for labels in found.other_labels] == [{"label": "PER"}, {"label": "LOC"}]

    def test_a_row_becomes_plain_dictionaries(self) -> None:
        plain = asdict(row([Span(3, 5, "PER")], [Span(4, 6, "LOC")]))

        assert plain["labels"] == {"label": "PER"}
        assert plain["other_texts"] == ("w4 w5",)

    def test_a_span_is_looked_for_in_its_own_layer_and_a_merged_one_in_all(self) -> None:
        layers = {"a": [Span(0, 2, {"a": "x"})], "b": [Span(1, 4, {"b": "y"})]}
        other = Document("d", layers, tokens=WORDS)
        own = Document("d", {"a": [], "b": []}, tokens=WORDS)

        spans = [Span(0, 4, {"a": "x"}), Span(0, 4, {"b": "y"}), Span(0, 4, {"a": "x", "b": None})]
        spans.append(Span(0, 4, {"a": "x", "b": "y"}))
        rows = list(error_table(spans, own, other))

        assert [found.sequence for found in rows] == ["a", "b", "a", "merged"]
        assert [found.kind for found in rows] == ["partial", "partial", "partial", "exact"]

    def test_a_notebook_shows_text_as_text(self) -> None:
        own = Document("<d>", {"label": [Span(0, 1, "<b>")]}, tokens=["<script>", "&"])

        (found,) = error_table(own.layers["label"], own, replace(own, layers={"label": []}))

        assert "<script>" not in found._repr_html_()
        assert "&lt;script&gt;</u> &amp;" in found._repr_html_()

    def test_impossible_arguments_are_one_clear_error(self) -> None:
        own = document([])
        with pytest.raises(SpanError, match=r"document 'd': span \[13,15\) lies outside the text"):
            list(error_table([Span(13, 15)], own, own))
        with pytest.raises(UsageError, match=r"there is no layer 'risk' .one of label"):
            error_table([], own, own, layer="risk")
        with pytest.raises(UsageError, match="the window cannot be -1 positions"):
            error_table([], own, own, window=-1)

    def test_overlapping_others_make_no_tiling(self) -> None:
        for others, kind in (
            ([(0, 2), (1, 4)], "partial"),
            ([(0, 2), (0, 5)], "superset"),
            ([(0, 4)] * 2, "exact"),
        ):
            assert row([Span(0, 4)], [Span(*other) for other in others]).kind == kind


class TestContexts:
    SENTENCES = (Sentence(0, 4, "s1"), Sentence(4, 9, "s2"), Sentence(9, 14, "s3"))

    def found(self, own: Span, others: list[Span], **options: Any) -> Finding:
        mine = document([own], sentences=self.SENTENCES)
        (found,) = error_table([own], mine, document(others, sentences=self.SENTENCES), **options)
        return found

    def test_context_is_the_sentence(self) -> None:
        found = self.found(Span(5, 7), [Span(6, 8)])

        assert marks(found.context) == [
            ("w4", "neither"),
            ("w5", "own"),
            ("w6", "both"),
            ("w7", "other"),
            ("w8", "neither"),
        ]
        assert found.sentences == ("s2",)

    def test_a_span_across_a_border_shows_both_sentences(self) -> None:
        found = self.found(Span(3, 5), [])

        assert found.context.text == " ".join(WORDS[:9])
        assert found.sentences == ("s1", "s2")

    def test_a_span_of_the_other_side_across_a_border_shows_both_sentences_too(self) -> None:
        found = self.found(Span(4, 5), [Span(3, 5)])

        assert found.context.text == " ".join(WORDS[:9])
        assert found.sentences == ("s2",)

    def test_a_window_counts_positions_around_everything_marked(self) -> None:
        found = self.found(Span(5, 7), [Span(6, 8)], window=2)

        assert found.context.text == " ".join(WORDS[3:10])
        assert (found.context.cut_before, found.context.cut_after) == (True, True)

    def test_adjacent_spans_are_pieces_of_their_own(self) -> None:
        found = self.found(Span(4, 6), [Span(4, 5), Span(5, 6)])

        assert [(p.text, p.others) for p in found.context.pieces[:2]] == [("w4", (0,)), ("w5", (1,))]

    def test_a_span_of_zero_length_is_an_empty_piece(self) -> None:
        assert ("", "own") in marks(self.found(Span(6, 6), []).context)
        assert ("", "both") in marks(self.found(Span(6, 6), [Span(6, 6)]).context)

    def test_characters_have_their_line(self) -> None:
        text = "eins\nzwei Anna drei\nvier"
        own = Document("d", {"label": [Span(10, 14)]}, text=text, unit="character")

        (found,) = error_table([Span(10, 14)], own, replace(own, layers={"label": []}))

        assert marks(found.context) == [("zwei ", "neither"), ("Anna", "own"), (" drei", "neither")]
        assert found.context.text == "zwei Anna drei"
        assert not found.context.cut_before

    def test_a_document_that_is_one_sentence_is_cut_and_says_so(self) -> None:
        reach = REACH["token"]
        own = Document("d", {"label": [Span(2000, 2001)]}, tokens=["w"] * 4000)

        (found,) = error_table([Span(2000, 2001)], own, replace(own, layers={"label": []}))

        assert len(found.context.text.split()) == 2 * reach + 1
        assert (found.context.cut_before, found.context.cut_after) == (True, True)

    def test_document_without_a_text_has_no_context(self) -> None:
        own = Document("d", {"label": [Span(5, 9, "PER")]})

        (found,) = error_table([Span(5, 9, "PER")], own, Document("d", {"label": []}))

        assert (found.text, found.context.pieces, found.kind) == ("", (), "missed")

    @given(any_spans(), st.integers(0, 13), st.integers(0, 4), st.none() | st.integers(0, 5))
    def test_every_position_of_a_context_is_marked_as_a_scan_marks_it(
        self, others: list[Span], start: int, length: int, window: int | None
    ) -> None:
        from clueval.findings.context import Contexts

        own = Span(start, min(start + length, 14))
        others = sorted((s for s in others if s.overlaps(own)), key=lambda s: (s.start, s.end))

        context = Contexts(document([]), self.SENTENCES, window).around(own, others)

        words = [(word, piece) for piece in context.pieces for word in piece.text.split()]
        first = int(words[0][0][1:]) if words else 0
        for position, (word, piece) in enumerate(words, first):
            over = tuple(n for n, s in enumerate(others) if s.start <= position < s.end)
            assert word == WORDS[position]
            assert piece.others == over
            assert (piece.mark in ("own", "both")) == (own.start <= position < own.end)
            assert (piece.mark in ("other", "both")) == bool(over)
        assert {f"w{n}" for n in range(own.start, own.end)} <= {word for word, _ in words}

    @given(any_spans(max_size=1), st.integers(0, 12), st.integers(0, 4), st.integers(0, 3), st.integers(0, 3))
    def test_the_pieces_of_two_spans_are_those_of_the_sweep(
        self, others: list[Span], start: int, length: int, before: int, after: int
    ) -> None:
        own = Span(start, start + length)
        others = [other for other in others if other.overlaps(own)]
        reach = (max(own.start - before, 0), own.end + after)

        fast = context._pieces_of_two(*reach, own, others)

        assert fast in ([], list(context._pieces(*reach, own, others)))
        assert fast or not (length and all(len(other) for other in others))


two_layers = st.fixed_dictionaries({"a": flat_spans(("a",)), "b": flat_spans(("b",))})
choices = st.builds(
    Choice,
    level=st.sampled_from([None, *LEVELS]),
    labelled=st.sampled_from([None, "a", "b"]),
    merge=st.booleans(),
    where=st.sampled_from([parse_where(()), parse_where(["a=PER"]), parse_where(["domain=x", "b=LOC"])]),
)


class TestTheChoice:
    @given(two_layers, two_layers, choices)
    def test_its_rows_are_those_of_the_error_tables_of_the_wrong_spans(
        self, gold: dict[str, list[Span]], predicted: dict[str, list[Span]], choice: Choice
    ) -> None:
        choice = replace(choice, merge=False)
        pair = [Document("d", layers, tokens=WORDS, metadata={"domain": "x"}) for layers in (gold, predicted)]

        rows = list(findings(pair[0], pair[1], choice))

        for layer, (own, other, side) in product("ab", ((*pair, "gold"), (*pair[::-1], "predicted"))):
            of_side = [row for row in rows if (row.sequence, row.side) == (layer, side)]
            ends = {(row.start, row.end + 1) for row in of_side}
            wrong = [span for span in own.layers[layer] if (span.start, span.end) in ends]
            assert of_side == list(error_table(wrong, own, other, layer=layer, side=side))

    @given(two_layers, two_layers, choices)
    def test_there_is_a_row_for_every_false_negative_and_every_false_positive(
        self, gold: dict[str, list[Span]], predicted: dict[str, list[Span]], choice: Choice
    ) -> None:
        pair = [Document("d", layers, tokens=WORDS, metadata={"domain": "x"}) for layers in (gold, predicted)]
        try:
            report = score(
                [pair[0]],
                [pair[1]],
                metrics=metrics_of(choice),
                merge=choice.merge,
                where={key: sorted(values) for key, values in choice.where.conditions},
            ).metrics
        except UsageError:  # a filter that nothing passes is refused
            reject()

        rows = list(findings(pair[0], pair[1], choice))

        for sequence, levels in reports_of(report, choice).items():
            here = [found for found in rows if found.sequence == sequence]
            assert Counter(found.side for found in here) == Counter(expected(levels, choice))
            if not choice.by_levels:
                continue
            if choice.labelled is None:
                self.require_classes(here, levels["classes"], choice.at_level)
            elif choice.labelled in levels["labelled"]:
                per_label = levels["labelled"][choice.labelled][str(choice.at_level)]["per_label"]
                self.require_labels(here, per_label, choice.labelled)
                matrices = report["confusion"][sequence][choice.labelled]["levels"][str(choice.at_level)]
                self.require_cells(here, matrices, choice)

    def require_classes(self, rows: list[Finding], classes: dict[str, Any], level: int) -> None:
        for side in SIDES:
            found = Counter(row.kind.replace("partial", UNMATCHED[side]) for row in rows if row.side == side)
            assert found == Counter({kind: classes[side][kind] for kind in classes_of(side)[level:]})

    def require_labels(self, rows: list[Finding], per_label: dict[str, Any], layer: str) -> None:
        for side, wrong in (("gold", "fn"), ("predicted", "fp")):
            found = Counter(row.labels[layer] for row in rows if row.side == side)
            assert found == Counter({label: counts[wrong] for label, counts in per_label.items()})

    def require_cells(self, rows: list[Finding], matrices: dict[str, Any], choice: Choice) -> None:
        layer = str(choice.labelled)
        for side, matrix in matrices.items():
            mine = [row for row in rows if row.side == side]
            cells = Counter(
                (row.labels[layer], row.found.get(layer) if row.kind in choice.matched else "above")
                for row in mine
            )
            counted = Counter({(label, "above"): n for label, n in matrix[UNMATCHED[side]].items()})
            counted.update({(label, None): n for label, n in matrix["unlabelled"].items()})
            counted.update(
                {
                    (label, other): n
                    for label, row in matrix["found"].items()
                    for other, n in row.items()
                    if label != other
                }
            )
            assert cells == counted

    def test_sides_and_classes_can_be_chosen(self) -> None:
        gold, predicted = document([Span(0, 2), Span(4, 6)]), document([Span(1, 3), Span(8, 9)])

        def chosen(**options: Any) -> list[tuple[str | None, str]]:
            return [(row.side, row.kind) for row in findings(gold, predicted, Choice(1, **options))]

        assert chosen(sides=("gold",)) == [("gold", "partial"), ("gold", "missed")]
        assert chosen(kinds=frozenset(["missed"])) == [("gold", "missed")]
        assert chosen(kinds=frozenset(["missed", "spurious"])) == [
            ("gold", "missed"),
            ("predicted", "spurious"),
        ]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"level": 5}, "there is no level 5"),
            ({"sides": ("silver",)}, "there is no side 'silver'"),
            ({"kinds": frozenset(["odd"])}, "there is no class 'odd'"),
            ({"window": -3}, "the window cannot be -3 positions"),
        ],
    )
    def test_impossible_choice_is_refused(self, options: dict[str, Any], message: str) -> None:
        with pytest.raises(UsageError, match=message):
            Choice(**options)

    def test_layer_or_metadata_that_no_document_has_is_an_error(self) -> None:
        pair = [document([])], [document([])]
        with pytest.raises(UsageError, match=r"no layer 'risk' .one of label"):
            list(errors(*pair, Choice(labelled="risk")))
        with pytest.raises(UsageError, match="no document's metadata is called 'genre'"):
            list(errors(*pair, Choice(where=parse_where(["genre=x"]))))


class TestConfusion:
    def test_rows_add_up_to_the_spans_with_the_label_and_the_diagonal_is_what_was_found(self) -> None:
        own, other = [SAMPLE / f"{side}.vrt" for side in SIDES]
        report = score(own, other, metrics=["levels", Confusion()], layers=LAYERS, merge=True).metrics

        for layer, labelled in report["levels"]["merged"]["labelled"].items():
            for level, matrices in report["confusion"]["merged"][layer]["levels"].items():
                for side, whole, right in (
                    ("gold", "gold", "tp_gold"),
                    ("predicted", "predicted", "tp_predicted"),
                ):
                    matrix = matrices[side]
                    for label, counts in labelled[level]["per_label"].items():
                        row = matrix["found"].get(label, {})
                        rest = matrix["unlabelled"].get(label, 0) + matrix[UNMATCHED[side]].get(label, 0)
                        assert sum(row.values()) + rest == counts[whole]
                        assert row.get(label, 0) == counts[right]

    @given(flat_spans(), flat_spans())
    def test_the_classes_of_all_labels_add_up_to_those_of_levels(
        self, gold: list[Span], predicted: list[Span]
    ) -> None:
        result = score([document(gold)], [document(predicted)], metrics=["levels", Confusion()]).metrics

        for side, counts in result["levels"]["label"]["classes"].items():
            per_label = result["confusion"]["label"]["label"]["classes"][side].values()
            assert {kind: sum(each[kind] for each in per_label) for kind in classes_of(side)} == counts


def vrt(tags: list[list[tuple[str, str]]], per_document: int) -> str:
    """A file of sentences of two layers of tags; every token is a word of its own, with an id."""
    lines, number = [], 0
    for count, sentence in enumerate(tags):
        if count % per_document == 0:
            lines.append("</text>\n" * bool(count) + f'<text id="d{count}" domain="{count % 3}">\n')
        lines.append(f'<s id="s{count}">\n')
        for a, b in sentence:
            lines.append(f"w{number}&amp;\t{a}\t{b}\tt{number}\n" + "\n" * (number % 7 == 3))
            number += 1
        lines.append("</s>\n")
    return "".join(lines) + "</text>\n" * bool(tags)


TAGS = ["O", *(f"{prefix}-{label}" for prefix in "BI" for label in LABELS[:2])]
tag_pairs = st.tuples(st.sampled_from(TAGS), st.sampled_from(TAGS))


@st.composite
def two_files(draw: st.DrawFn) -> tuple[str, str]:
    shape = draw(st.lists(st.integers(1, 6), min_size=1, max_size=6))
    gold = [[draw(tag_pairs) for _ in range(size)] for size in shape]
    predicted = [
        sentence if draw(st.booleans()) else [draw(tag_pairs) for _ in sentence] for sentence in gold
    ]
    per_document = draw(st.integers(1, 3))
    return vrt(gold, per_document), vrt(predicted, per_document)


OPTIONS: dict[str, Any] = {"layers": {"a": 2, "b": 3}, "token_id": 4}


LAYER_FILTERS = st.sampled_from([Filter(), parse_where(["a=PER"]), parse_where(["b=LOC", "a=LOC"])])


@at_most(60)
@given(two_files(), choices.filter(lambda choice: not choice.where), LAYER_FILTERS, st.booleans())
def test_files_and_documents_have_the_same_findings(
    tmp_path_factory: pytest.TempPathFactory,
    texts: tuple[str, str],
    choice: Choice,
    where: Filter,
    windowed: bool,
) -> None:
    choice = replace(choice, where=where)
    paths = written(tmp_path_factory.mktemp("files"), texts)
    sides = [read(path, **OPTIONS) for path in paths]

    try:
        from_files = list(errors(*paths, choice, **OPTIONS))
    except UsageError as error:  # a filter that no span meets
        with pytest.raises(UsageError, match=re.escape(str(error))):
            list(errors(*sides, choice))
        return
    from_documents = list(errors(*sides, choice))
    while_counting: list[Finding] = []
    score(*paths, observers=[FindingsObserver(choice, while_counting.extend)], **OPTIONS)

    assert while_counting == from_files

    by_place = lambda row: (row.sequence, row.side, row.start)  # noqa: E731
    assert sorted(from_files, key=by_place) == sorted(from_documents, key=by_place)
    if windowed:
        wide = list(errors(*paths, replace(choice, window=2), **OPTIONS))
        assert [replace(row, context=Context()) for row in wide] == [
            replace(row, context=Context()) for row in from_documents
        ]


@at_most(60)
@given(two_files(), st.sampled_from(LEVELS), st.booleans())
def test_positions_ids_lines_and_texts_are_those_of_the_file(
    tmp_path_factory: pytest.TempPathFactory, texts: tuple[str, str], level: int, merge: bool
) -> None:
    paths = written(tmp_path_factory.mktemp("files"), texts)
    tokens = {
        side: [
            (number, *line.replace("&amp;", "&").split("\t"))
            for number, line in enumerate(text.split("\n"), 1)
            if "\t" in line
        ]
        for side, text in zip(SIDES, texts, strict=True)
    }

    for found in errors(*paths, Choice(level, merge=merge), **OPTIONS):
        assert found.side is not None
        mine = tokens[found.side][found.start : found.end + 1]
        assert found.text == " ".join(token[1] for token in mine)
        assert (found.first_token_id, found.last_token_id) == (mine[0][4], mine[-1][4])
        assert found.line == mine[0][0]
        lines = texts[SIDES.index(found.side)].split("\n")
        above = lines[: found.line]
        assert (
            next(line for line in reversed(above) if line.startswith("<s "))
            == f'<s id="{found.sentences[0]}">'
        )
        assert next(line for line in reversed(above) if line.startswith("<text ")).startswith(
            f'<text id="{found.document}" domain="{found.metadata["domain"]}"'
        )
        if found.other_start is not None and found.other_end is not None:
            theirs = tokens[found.side][found.other_start : found.other_end + 1]
            assert (found.other_first_token_id, found.other_last_token_id) == (theirs[0][4], theirs[-1][4])
            assert found.other_texts[0].split()[0] == theirs[0][1]
            assert found.other_texts[-1].split()[-1] == theirs[-1][1]


def written(folder: Path, texts: tuple[str, str]) -> list[Path]:
    paths = [folder / f"{side}.vrt" for side in SIDES]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8", newline="\n")
    return paths


class TestFiles:
    def test_the_sample_has_the_findings_that_the_scores_count(self) -> None:
        own, other = [SAMPLE / f"{side}.vrt" for side in SIDES]
        report = score(own, other, layers=LAYERS, token_id=4).metrics["levels"]["entity"]

        for level in LEVELS:
            for labelled in (None, "entity"):
                choice = Choice(level, labelled)
                rows = [
                    r for r in errors(own, other, choice, layers=LAYERS, token_id=4) if r.sequence == "entity"
                ]
                assert Counter(row.side for row in rows) == Counter(expected(report, choice))

    TEXT = vrt([[("B-PER", "O")] * 3] * 4, 2)

    @pytest.mark.parametrize(
        "other",
        [
            TEXT.replace("t3\n", "t99\n"),
            TEXT.replace("w3&amp;", "w4"),
            TEXT.replace('<s id="s1">\n', "").replace("</s>\n", "", 1),
            TEXT[: TEXT.index('<text id="d2"')],
        ],
        ids=["token id", "token", "sentence", "end"],
    )
    def test_other_texts_are_refused(self, tmp_path: Path, other: str) -> None:
        paths = written(tmp_path, (self.TEXT.replace("B-PER\tO\tt4", "O\tO\tt4"), other))

        with pytest.raises(TextMismatch):
            list(errors(*paths, **OPTIONS))

    def test_gold_and_predicted_may_stand_in_one_file(self, tmp_path: Path) -> None:
        path = tmp_path / "both.conll"
        path.write_text("Anna B-PER O\nin O O\nBern B-LOC B-LOC\n", encoding="utf-8")

        (row,) = errors(path)

        assert (row.side, row.text, joined(row.labels), row.context.text) == (
            "gold",
            "Anna",
            "PER",
            "Anna in Bern",
        )

    def test_a_path_and_documents_do_not_go_together(self) -> None:
        with pytest.raises(CluevalError, match="gold is paths and predicted is in memory"):
            errors("gold.vrt", [])
        with pytest.raises(CluevalError, match="gold is in memory and predicted is paths"):
            errors([], "predicted.vrt")
