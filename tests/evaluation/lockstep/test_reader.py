"""How two files are read and cut, each case by lines written out by hand."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from clueval.evaluation.lockstep.reader import File, FilePieces, Lockstep, Stretch
from corpora import write

from clueval.evaluation.lockstep import lockstep
from clueval.exceptions import FormatError
from clueval.formats.columns.sizes import Sizes
from clueval.reading.read_options import ReadOptions
from clueval.reading.source import source_of


class TestFile:
    def file(self, folder: Path, blocks: Iterable[str], **options: Any) -> File:
        """A file of which these blocks are read."""
        source = source_of(write(folder / "a.conll", "w\tO\n"), ReadOptions(**options))
        given, _ = lockstep(source, source, merge=False, by_document=False)._files
        data = (block.encode() for block in blocks)
        return File(given.path, data, given.recogniser, given.options)

    @pytest.mark.parametrize(
        ("size", "waiting"),
        [(1, "ab\n"), (3, "ab\n"), (4, "ab\ncd"), (5, "ab\ncd"), (6, "ab\ncde\nf"), (9, "ab\ncde\nf\n"),
         (99, "ab\ncde\nf\n")],
    )  # fmt: skip
    def test_file_is_read_until_a_number_of_bytes_and_a_line_wait(
        self, tmp_path: Path, size: int, waiting: str
    ) -> None:
        file = self.file(tmp_path, ["a", "b\n", "cd", "e\nf"])

        file.read(size)

        assert file.waiting == waiting.encode()
        assert file.ended == (size > 8)
        file.read(min(size, len(waiting)))
        assert file.waiting == waiting.encode()  # nothing more is read

    def test_line_ends_of_windows_and_a_missing_last_one_become_line_ends(self, tmp_path: Path) -> None:
        ended, without, empty, lone = (
            self.file(tmp_path, blocks) for blocks in (["a\r", "\nb\r\n"], ["a\r\nb"], [], ["a\rb", "\r"])
        )

        for file in (ended, without, empty, lone):
            file.read(99)
            assert file.ended

        assert [ended.waiting, without.waiting, empty.waiting] == [b"a\nb\n", b"a\nb\n", b""]
        assert lone.waiting == b"a\rb\r\n"

    def test_line_that_may_be_too_long_is_an_error(self, tmp_path: Path) -> None:
        limits: dict[str, Any] = {"max_line": 30, "sizes": Sizes(block=10)}

        for short in (["a" * 20], ["a" * 9 + "\n", "a" * 40]):
            self.file(tmp_path, short, **limits).read(4)
        with pytest.raises(FormatError, match=r"a\.conll: perhaps a line that is too long"):
            self.file(tmp_path, ["a" * 20, "a", "b"], **limits).read(4)

    def test_blocks_are_read_one_at_a_time_until_a_line_waits(self, tmp_path: Path) -> None:
        blocks = iter("ab\ncd\n")
        file = self.file(tmp_path, blocks)

        file.read(1)

        assert (file.waiting, "".join(blocks)) == (b"ab\n", "cd\n")
        file.feed(b"")
        assert not file.reader.builder.in_document


READ = {"vrt": "<text>\n<s>\nw\tO\n", "conll": "w\tO\n"}
"""What has been read of a file: the layout is known, and the sentence goes on."""


class TestPieces:
    def steps(
        self,
        folder: Path,
        gold: str,
        predicted: str,
        form: str = "conll",
        read: str | None = None,
        **options: Any,
    ) -> Lockstep:
        """A reader of two files of which these lines wait."""
        found = []
        for number in range(2):
            path = write(folder / f"{number}.{form}", "")
            found.append(source_of(path, ReadOptions(input=form, **options)))
        steps = lockstep(found[0], found[1], merge=False, by_document=False)
        for file, waiting in zip(steps._files, (gold, predicted), strict=True):
            file.feed((READ[form] if read is None else read).encode())
            file.waiting = re.sub("(?<!<)/", "\t", waiting).encode()
        return steps

    def taken(self, pieces: FilePieces) -> tuple[str, list[str], list[str], bool]:
        sides = (
            [each.decode().replace("\t", "/") for each in side] for side in (pieces.gold, pieces.predicted)
        )
        gold, predicted = sides
        return pieces.end.decode(), gold, predicted, pieces.crossed

    def test_whole_sentences_are_taken_that_both_sides_have(self, tmp_path: Path) -> None:
        steps = self.steps(tmp_path, "a/O\n\nb/O\n\nc/O\n\nd/O\n\ne", "a/O\n\nb/O\n\nc/O\n\nd/O\n\n")

        assert self.taken(steps._next()) == ("\n\n", ["a/O"], ["a/O"], False)
        assert self.taken(steps._next()) == ("\n\n", ["b/O", "c/O"], ["b/O", "c/O"], False)  # twice as many
        assert [file.waiting for file in steps._files] == [b"d\tO\n\ne", b"d\tO\n\n"]
        assert self.taken(steps._next()) == ("\n\n", ["d/O"], ["d/O"], False)
        assert [file.waiting for file in steps._files] == [b"e", b""]

    def test_whole_documents_are_taken_if_there_is_no_sentence(self, tmp_path: Path) -> None:
        text = "<text>\na/O\n</text>\n"
        steps = self.steps(tmp_path, text * 3 + "</s", text * 2 + "b/O\n", "vrt")

        assert self.taken(steps._next()) == ("</text>\n", ["<text>\na/O\n"], ["<text>\na/O\n"], False)
        assert self.taken(steps._next())[1] == ["<text>\na/O\n"]
        assert [file.waiting for file in steps._files] == [b"<text>\na\tO\n</text>\n</s", b"b\tO\n"]

    GOLD = "a/O\nb/B-X\nc/O\nd/O\ne/O\nf/B-X\ng/I-X\nh"

    def test_lines_are_taken_up_to_the_last_place_that_no_span_crosses(self, tmp_path: Path) -> None:
        steps = self.steps(tmp_path, self.GOLD, self.GOLD.replace("d/O", "d/I-X"))
        steps._most = 64
        steps._next()  # from a place that may be in a span

        assert self.taken(steps._next()) == (
            "\n",
            ["b/B-X", "c/O", "d/O", "e/O"],
            ["b/B-X", "c/O", "d/I-X", "e/O"],
            False,
        )
        assert [file.waiting for file in steps._files] == [b"f\tB-X\ng\tI-X\nh"] * 2
        assert self.taken(steps._next()) == ("\n", ["f/B-X", "g/I-X"], ["f/B-X", "g/I-X"], True)
        assert [file.waiting for file in steps._files] == [b"h"] * 2
        assert steps._most == 128

    def test_lines_in_a_span_are_taken_up_to_the_first_place_that_no_span_crosses(
        self, tmp_path: Path
    ) -> None:
        steps = self.steps(tmp_path, self.GOLD, self.GOLD.replace("a/O\nb/B-X", "a/I-X\nb/I-X"))

        assert self.taken(steps._next()) == ("\n", ["a/O", "b/B-X"], ["a/I-X", "b/I-X"], True)
        assert not steps._sentence.in_span

    @pytest.mark.parametrize(
        ("tags", "in_span", "sizes", "cut"),
        [("OOOII", False, {"look": 2}, 3), ("OOOII", False, {"look": 1}, None),
         ("BIOO", True, {"look_on": 3}, 2), ("BIOO", True, {"look_on": 2}, None), ("OO", False, {}, 1),
         ("OO", True, {}, 1), ("O", False, {}, None), ("O", True, {}, None)],
    )  # fmt: skip
    def test_lines_are_searched_up_to_a_number_of_them(
        self, tmp_path: Path, tags: str, in_span: bool, sizes: dict[str, int], cut: int | None
    ) -> None:
        lines = [{"O": b"a\tO", "B": b"a\tB-X", "I": b"a\tI-X"}[tag] for tag in tags]
        steps = self.steps(tmp_path, "", "", sizes=Sizes(**sizes))
        steps._sentence = steps._sentence._replace(in_span=in_span)

        assert steps._cut([*lines, b""], [*lines, b""], len(lines))[0] == cut

    @pytest.mark.parametrize("line", ["", "a", " /O", "//O", "#/O", "# x/O", "<x/O", "-DOCSTART-/O", "<g>"])
    @pytest.mark.parametrize("side", [0, 1])
    @pytest.mark.parametrize("place", [0, 1])
    def test_files_are_not_cut_next_to_a_line_that_may_be_no_token_line(
        self, tmp_path: Path, line: str, side: int, place: int
    ) -> None:
        fine = ["b/O", "c/O"]
        sides = [[each.replace("/", "\t").encode() for each in fine] for _ in range(2)]
        steps = self.steps(tmp_path, "", "")

        for in_span in (True, False):
            steps._sentence = steps._sentence._replace(in_span=in_span)
            assert steps._cut(sides[0], sides[1], 2)[0] == 1
        sides[side][place] = line.replace("/", "\t").encode()
        for in_span in (True, False):
            steps._sentence = steps._sentence._replace(in_span=in_span)
            assert steps._cut(sides[0], sides[1], 2) == (None, None)

    def test_files_are_cut_where_spans_touch_and_the_cut_is_a_seam(self, tmp_path: Path) -> None:
        steps = self.steps(tmp_path, "", "")
        steps._sentence = steps._sentence._replace(in_span=False)

        cut, seam = steps._cut([b"a\tI-X", b"b\tI-Y"], [b"a\tB-X", b"b\tI-Y"], 2)

        assert seam is not None
        assert (cut, seam.column(1)) == (1, [b"I-X\0B-X", b"I-Y", b"O"])

    @pytest.mark.parametrize("side", [0, 1])
    def test_files_are_cut_between_two_lines_outside_a_span_of_either_side_only(
        self, tmp_path: Path, side: int
    ) -> None:
        sides = [[b"a\tO", b"b\tO"], [b"a\tO", b"b\tO"]]
        steps = self.steps(tmp_path, "", "")

        sides[side][1] = b"b\tI-X"
        assert (
            steps._cut(sides[0], sides[1], 2)[0] == 1
        )  # of two tags of which one is O, none goes on to the other
        sides[side][0] = b"a\tI-X"
        assert steps._cut(sides[0], sides[1], 2) == (None, None)

    def test_lines_that_wait_are_taken_at_the_end(self, tmp_path: Path) -> None:
        steps = self.steps(tmp_path, "a/O\nb/O\nc/O\n", "a/O\nb/O\n")
        steps._sentence = steps._sentence._replace(in_span=False)
        for file in steps._files:
            file.ended = True

        assert self.taken(steps._next()) == ("\n", ["a/O", "b/O", "c/O"], ["a/O", "b/O"], False)
        assert [file.waiting for file in steps._files] == [b"", b""]

    @pytest.mark.parametrize("ended", [0, 1])
    def test_lines_of_two_files_are_cut_unless_both_have_ended(self, tmp_path: Path, ended: int) -> None:
        steps = self.steps(tmp_path, "a/O\nb/O\nc/O\n", "a/O\nb/O\nc/O\n")
        steps._sentence = steps._sentence._replace(in_span=False)
        steps._files[ended].ended = True

        assert self.taken(steps._next()) == ("\n", ["a/O", "b/O"], ["a/O", "b/O"], False)

    def test_few_lines_are_taken_before_the_layout_is_known(self, tmp_path: Path) -> None:
        lines = [f"{word}/O" for word in "abcdefgh"]
        steps = self.steps(tmp_path, "\n".join([*lines, ""]), "\n".join([*lines[:5], ""]), read="")

        assert self.taken(steps._next()) == ("\n", lines[:1], lines[:1], True)
        assert self.taken(steps._next()) == ("\n", lines[1:3], lines[1:3], True)
        assert self.taken(steps._next()) == ("\n", lines[3:5], lines[3:5], True)

    def test_lines_of_two_layouts_are_not_cut(self, tmp_path: Path) -> None:
        steps = self.steps(tmp_path, "a/O\nb/O\nc/O\n", "a/O\nb/O\nc/O\n", read="")
        for file, line in zip(steps._files, (b"w\tO\n", b"w\tx\tO\n"), strict=True):
            file.feed(line)

        assert self.taken(steps._next()) == ("\n", ["a/O", "b/O", "c/O"], ["a/O", "b/O", "c/O"], True)
        assert steps._recognised(b"\n", [b"a\tO"]) is None

    def test_sentence_of_too_many_lines_is_an_error(self, tmp_path: Path) -> None:
        lines = "a/I-X\n" * 3
        steps = self.steps(tmp_path, lines * 2, lines * 2, max_sentence=19, sizes=Sizes(block=10))

        assert self.taken(steps._next())[1:3] == (["a/I-X"] * 6,) * 2
        assert steps._sentence == (6, 36, True)
        for file, more in zip(steps._files, (lines, lines + "a/I-X\n"), strict=True):
            file.waiting = more.replace("/", "\t").encode()
        steps._next()
        assert steps._sentence == (9, 54, True)
        steps._files[0].waiting = steps._files[1].waiting = b"a\tI-X\n"
        with pytest.raises(FormatError, match=r"0\.conll: perhaps a sentence that is too long"):
            steps._next()

    @pytest.mark.parametrize(("size", "is_error"), [(30, False), (31, True)])
    @pytest.mark.parametrize("turn", [1, -1])
    def test_sentence_of_too_many_bytes_is_an_error(
        self, tmp_path: Path, size: int, is_error: bool, turn: int
    ) -> None:
        texts = "a/B-X\n", f"{'a' * (size - 5)}/B-X\n"  # four times 10 bytes less a block are 30
        steps = self.steps(tmp_path, *texts[::turn], max_line=10, sizes=Sizes(block=10))

        if is_error:
            with pytest.raises(FormatError, match=r"0\.conll: perhaps a sentence that is too long"):
                steps._next()
        else:
            steps._next()
            assert steps._sentence == (1, size, True)

    def test_lines_mark_no_document(self, tmp_path: Path) -> None:
        steps = self.steps(tmp_path, "", "")
        mark, line = b"-DOCSTART-", b"a\tO"

        assert steps._stretch(FilePieces(b"\n", [line, line], [line, line])) == (0, 2, (), ())
        assert steps._stretch(FilePieces(b"\n", [mark, line], [mark, line])) is None

    def test_whole_sentences_end_the_sentence_that_was_read_by_lines(self, tmp_path: Path) -> None:
        steps = self.steps(tmp_path, "a/B-X\n", "a/B-X\n")
        steps._next()
        assert steps._sentence == (1, 6, True)
        for file in steps._files:
            file.waiting = b"b\tO\n\n"

        steps._next()

        assert steps._sentence == (0, 0, False)


def stretches(
    *texts: str, folder: Path, name: str = "a.conll", **options: Any
) -> list[tuple[int, int] | None]:
    """The documents and the tokens of each stretch; None in place of a pair of passages."""
    paths = [write(folder / f"{n}{name}", text.replace("/", "\t")) for n, text in enumerate(texts)]
    sources = [source_of(path, ReadOptions(**options)) for path in paths]
    found = lockstep(sources[0], sources[1], merge=False, by_document=False)
    return [each[:2] if isinstance(each, Stretch) else None for each in found]


class TestStretches:
    def test_marks_of_documents_are_counted_in_stretches(self, tmp_path: Path) -> None:
        text = "-DOCSTART-\n\na/O\n\n" + "b/O\nb/O\n\n-DOCSTART-\n\n-DOCSTART- x\n\nc/O\n\n"
        other = text.replace("b/O\nb", "b/B-X\nb")

        assert stretches(text, other, folder=tmp_path) == [None, (2, 1), (0, 0)]

    @pytest.mark.parametrize(
        ("old", "new"),
        [("- x", "- y"), ("-DOCSTART- x\n\nc/O", "c/O\n\n-DOCSTART- x"), ("-DOCSTART- x", "d/O")],
    )
    def test_pieces_with_other_marks_are_read_as_passages(self, tmp_path: Path, old: str, new: str) -> None:
        text = "-DOCSTART-\n\na/O\n\nb/O\n\nc/O\n\n-DOCSTART- x\n\nc/O\n\n-DOCSTART-\n\n"
        found = stretches(text, text, folder=tmp_path)

        try:
            assert stretches(text, text.replace(old, new), folder=tmp_path) != found
        except FormatError:
            assert new != "- y"

    def test_last_item_has_the_columns_of_all_stretches(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.conll", "a\tO\n\n" + "b\tB-X\nb\tO\n\n" * 3)
        source = source_of(path, ReadOptions())

        *items, last = lockstep(source, source, merge=False, by_document=False)

        assert isinstance(last, Stretch)
        assert (last.documents, last.tokens) == (0, 0)
        assert [(each.tokens, each.times, each.same) for each in last.columns] == [
            (0, 1, {"label": ["B-X"]}), (0, 2, {"label": ["B-X"]}), (6, 1, {"label": []})
        ]  # fmt: skip
        assert all(not item.columns for item in items if isinstance(item, Stretch))

    def test_columns_are_taken_when_there_are_many_tag_runs(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.conll", "a\tO\n\n" + "".join(f"b\tB-{n}\nb\tI-{n}\n\n" for n in range(3)))
        source = source_of(path, ReadOptions(sizes=Sizes(run_tags=4)))

        found = [
            each
            for each in lockstep(source, source, merge=False, by_document=False)
            if isinstance(each, Stretch)
        ]

        assert [sum(each.times * each.tokens for each in one.columns) for one in found] == [0, 6, 0]

    def test_side_that_ends_early_is_an_error_of_the_first_file(self, tmp_path: Path) -> None:
        for texts in (("a/O\n\n-DOCSTART-\n\nb/O\n", "a/O\n"), ("a/O\n", "a/O\n\n-DOCSTART-\n\nb/O\n")):
            with pytest.raises(FormatError, match=r"0a\.conll: one side ends early"):
                stretches(*texts, folder=tmp_path)

    @pytest.mark.parametrize(("ahead", "is_error"), [(1, True), (2, True), (3, False)])
    @pytest.mark.parametrize("turn", [1, -1])
    def test_side_may_be_some_passages_ahead(
        self, tmp_path: Path, ahead: int, is_error: bool, turn: int
    ) -> None:
        texts = "-DOCSTART-\n\na/O\n\n" * 4, "-DOCSTART-\n\n" + "a/O\na/O\n\n" * 20
        said = "one side falls behind" if is_error else "one side ends early"

        with pytest.raises(FormatError, match=rf"0a\.conll: {said}"):
            stretches(*texts[::turn], folder=tmp_path, sizes=Sizes(ahead=ahead))

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            (4, 1),
            (4, 2),
            (4, 3),
            (7, 3),
            (9, 1),
            (12, 2),
            (12, 6),
            (12, 7),
            (16, 2),
            (16, 8),
            (20, 1),
            (20, 19),
        ],
    )
    @pytest.mark.parametrize("line", ["w 1 O", "w O 1", "1 w O"])
    def test_token_id_that_occurs_again_in_its_document_is_found_anywhere(
        self, tmp_path: Path, old: int, new: int, line: str
    ) -> None:
        ids = [f"{new if number == old else number}" for number in range(1, 22)]
        sentences = [line.replace("1", each) + "\n\n" for each in ids]
        sentences[8] = "# a comment\n" + sentences[8]  # read as a passage
        fields = line.split()
        options: dict[str, Any] = {
            "token_id": fields.index("1") + 1,
            "token": fields.index("w") + 1,
            "layers": {"x": fields.index("O") + 1},
        }

        for begins in {new - 1, new, old - 1, min(old, 20)}:  # the sentence before which a document begins
            parts = [*sentences]
            parts[begins] = f"-DOCSTART-\n\n{parts[begins]}"
            text = "-DOCSTART-\n\n" + "".join(parts)
            if new - 1 < begins < old:
                assert None in stretches(text, text, folder=tmp_path, **options)
            else:
                with pytest.raises(FormatError, match="a token id seems to occur again"):
                    stretches(text, text, folder=tmp_path, **options)
