"""What one line, sentence or file may take: a small packed file cannot take all memory, by whatever route."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from corpora import write
from shapes import SHAPES
from sizes import handed_in

from clueval import Document, Span, errors, read, score
from clueval.cli import main
from clueval.core.document import MAX_COVERED
from clueval.files.errors import CluevalError, FormatError, LimitError, UsageError
from clueval.files.opening import BLOCK
from clueval.files.options import HELD, Limits
from clueval.reading.passages import Sizes


def conll(tokens: int) -> str:
    return "a O\n\n" + "b O\n" * tokens + "\nc O\n"


def vrt(tokens: int) -> str:
    return '<text id="1">\n<s>\na\tO\n</s>\n<s>\n' + "b\tO\n" * tokens + "</s>\n</text>\n"


def vrt_without_sentences(tokens: int) -> str:
    return '<text id="1">\na\tO\n</text>\n<text id="2">\n' + "b\tO\n" * tokens + "</text>\n"


def table(spans: int) -> str:
    return "start\tend\n" + "0\t0\n" * (spans - 1)


def stacked(tokens: int) -> str:
    return "a X O\n\n" + "b X O\n" * tokens


def fair(spans: int) -> str:
    return "A\t1\t1\t1\n\n" + "".join(f"A\t{n}\t{n}\t{n}\n" for n in range(1, spans + 1))


def ltf(spans: int) -> str:
    return f"<body>{'<e/>' * (spans - 2)}</body>"


CORPORA: list[tuple[str, str, Any, int]] = [
    ("conll", "conll", conll, 3),
    ("vrt", "vrt", vrt, 6),
    ("vrt", "vrt", vrt_without_sentences, 5),
    ("conll2000", "conll", stacked, 3),
    ("fair-spans", "tsv", fair, 3),
]


def routes(path: Path, **options: Any) -> Iterator[Any]:
    """What every route makes of a file against itself: counts, or an error."""
    calls = (
        lambda: score(path, path, **options),
        lambda: score(path, path, by="document", **options),
        lambda: score(path, path, metrics=("fair",), **options),
        lambda: len(list(read(path, **options))),
        lambda: len(list(errors(path, path, **options))),
    )
    for call in calls:
        try:
            yield call()
        except CluevalError as error:
            yield (type(error), error.problem, error.line)


@pytest.mark.parametrize(("form", "ending", "corpus", "line"), CORPORA)
@pytest.mark.parametrize(
    ("size", "block"),
    [(1_000, Sizes().block), (2_000, 512), pytest.param(100_000, Sizes().block, marks=pytest.mark.long)],
)
def test_a_sentence_may_have_as_many_tokens_as_the_limit_and_no_more(
    tmp_path: Path, form: str, ending: str, corpus: Any, line: int, size: int, block: int
) -> None:
    path = write(tmp_path / f"g.{ending}", corpus(size))

    with handed_in(Sizes(block=block)):
        assert not any(isinstance(found, tuple) for found in routes(path, input=form, max_sentence=size))
        for found in routes(path, input=form, max_sentence=size - 1):
            problem = f"the sentence that begins here has more tokens than {size - 1:,}"
            assert found == (FormatError, problem, line)


LARGE = 4 * Sizes().block + 1


@pytest.mark.parametrize(
    ("form", "name", "line_of"),
    [
        ("conll", "g.conll", "a O\n{} O\n"),
        ("vrt", "g.vrt", "a\tO\n{}\tO\n"),
        ("conll2000", "g.conll", "a X O\n{} X O\n"),
        ("fair-spans", "g.tsv", "A\t1\t1\t1\nA\t2\t2\t{}\n"),
        ("nerval", "g.bio", "a O\n{} O\n"),
    ],
)
@pytest.mark.parametrize(
    "length", [100, BLOCK + 1, *(pytest.param(n, marks=pytest.mark.long) for n in (BLOCK - 1, LARGE))]
)
def test_a_line_may_have_as_many_bytes_as_the_limit_and_no_more(
    tmp_path: Path, form: str, name: str, line_of: str, length: int
) -> None:
    length //= 4 if form == "fair-spans" else 1
    bare = len(line_of.format("").split("\n")[1])
    filler = "1" * (length - bare) if form != "fair-spans" else ("1," * length)[: length - bare - 1] + "1"
    path = write(tmp_path / name, line_of.format(filler))

    assert not any(isinstance(found, tuple) for found in routes(path, input=form, max_line=length))
    for found in routes(path, input=form, max_line=length - 1):
        assert found == (FormatError, f"a line of more than {length - 1:,} bytes", 2)


@pytest.mark.parametrize(
    ("form", "name", "content", "options"),
    [
        ("ltf", "g.xml", "<body>Ada</body>\n", {}),
        (
            "gate-xml",
            "g.xml",
            "<GateDocument><TextWithNodes>Ada</TextWithNodes><AnnotationSet/></GateDocument>\n",
            {"annotation_set": ""},
        ),
    ],
)
def test_a_file_that_is_read_as_a_whole_may_have_as_many_bytes_as_the_limit(
    tmp_path: Path, form: str, name: str, content: str, options: dict[str, str]
) -> None:
    path = write(tmp_path / name, content)

    assert len(list(read(path, input=form, max_line=len(content), **options))) == 1  # type: ignore[arg-type]
    with pytest.raises(FormatError, match=r"read as a whole .*max_line") as caught:
        list(read(path, input=form, max_line=len(content) - 1, **options))  # type: ignore[arg-type]
    assert caught.value.file == str(path)


@pytest.mark.parametrize(
    ("form", "name", "corpus"),
    [("spans", "g.tsv", table), ("nerval", "g.bio", lambda n: "a O\n" * n), ("ltf", "g.xml", ltf)],
)
def test_items_held_in_memory_together_may_be_as_many_as_the_limit(
    tmp_path: Path, form: str, name: str, corpus: Any
) -> None:
    write(tmp_path / "g.vrt", "w\n")
    path = write(tmp_path / name, corpus(50))

    assert len(list(read(path, input=form, max_sentence=50 * HELD))) == 1
    with pytest.raises(FormatError, match=r"held as a whole .* than 49 .*max_sentence"):
        list(read(path, input=form, max_sentence=50 * HELD - 1))


def test_a_packed_line_without_end_is_refused_before_it_is_all_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.conll.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(40):
            file.write(b"a" * BLOCK)
    read_bytes: list[int] = []

    with pytest.raises(FormatError, match="a line of more than 2,000,000 bytes") as caught:
        score(path, path, input="conll", max_line=2_000_000, progress=read_bytes.append)

    assert caught.value.line == 1


def test_a_packed_sentence_without_end_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "bomb.conll.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"b B-X\n" + b"a I-X\n" * 1_500_000)

    with pytest.raises(FormatError, match=r"more tokens than 1,200,000 .*max_sentence") as caught:
        score(path, path, max_sentence=1_200_000)

    assert (caught.value.file, caught.value.line) == (str(path), 1)


def test_many_long_lines_of_one_sentence_are_bounded_by_the_longest_line(tmp_path: Path) -> None:
    path = write(tmp_path / "g.conll", f"{'a' * 90} O\n" * 5)

    assert score(path, path, max_line=200).tokens == 5
    with pytest.raises(FormatError, match="more than 400 characters") as caught:
        score(path, path, max_line=100)
    assert caught.value.line == 1


def test_passages_end_at_their_limit_of_tokens_wherever_the_blocks_of_the_file_end(
    tmp_path: Path,
) -> None:
    sentences = [["a"] * size for size in (3, 1, 9, 2, 2, 2, 2, 2, 7, 1, 1)]
    texts = []
    for comment in ("", "\t" + "x" * 40_000):  # so that blocks end elsewhere
        body = "".join(
            "<s>\n" + "".join(f"{token}{comment}\tB-X\n" for token in tokens) + "</s>\n"
            for tokens in sentences * 3
        )
        texts.append(f'<text id="1">\n{body}</text>\n')
    gold = write(tmp_path / "g.vrt", texts[0])
    predicted = write(tmp_path / "p.vrt", texts[1])

    with handed_in(Sizes(tokens=7)):
        result = score(gold, predicted, by="document", metrics=("exact",))

    assert result.tokens == 3 * sum(map(len, sentences))
    assert result.metrics["exact"]["label"]["micro"]["tp_gold"] == result.tokens


@pytest.mark.parametrize("option", ["max_line", "max_sentence", "max_document"])
@pytest.mark.parametrize("value", [0, -1, 1.5, True, "9"])
def test_limit_that_is_no_positive_number_is_refused(tmp_path: Path, option: str, value: Any) -> None:
    path = write(tmp_path / "g.conll", "a O\n")

    with pytest.raises(UsageError, match="is not a limit"):
        score(path, path, **{option: value})


def test_limits_are_refused_where_both_sides_are_documents() -> None:
    document = Document("d", {})

    with pytest.raises(UsageError, match="applies to files"):
        score([document], [document], max_line=9)


@pytest.mark.parametrize("options", [{"align": True}, {"metrics": "partial,muc", "align": True}])
def test_documents_that_are_held_have_a_limit(tmp_path: Path, options: dict[str, Any]) -> None:
    path = write(tmp_path / "g.vrt", "<text>\n" + "<s>\na\tB-X\nb\tO\n</s>\n" * 3 + "</text>\n")

    with handed_in(Sizes(sentences=1)):
        assert score(path, path, max_document=6, **options).documents == 1
        with pytest.raises(FormatError, match=r"g.vrt:3: .* held as a whole .* than 5 .*max_document"):
            score(path, path, max_document=5, **options)


def test_documents_that_are_not_held_have_no_limit(tmp_path: Path) -> None:
    path = write(tmp_path / "g.vrt", "<text>\n" + "<s>\na\tB-X\nb\tO\n</s>\n" * 3 + "</text>\n")

    assert score(path, path, max_document=1).tokens == 6


def test_errors_of_documents_have_the_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(write(tmp_path / "g.conll", "a B-X\nb O\n\nc O\n"))

    assert main(["errors", path, path, "--window", "1", "--max-document", "2"]) == 2
    assert "has more tokens than 2" in capsys.readouterr().err
    assert main(["errors", path, path, "--window", "1", "--max-document", "3"]) == 0


def test_the_commands_have_the_limits_and_say_how_to_raise_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(write(tmp_path / "g.conll", "a O\nb O\n"))

    assert main(["score", path, path, "--max-sentence", "1"]) == 2
    assert capsys.readouterr().err.startswith(
        f"clueval score: {path}:1: the sentence that begins here has more tokens than 1 (if this is intended, raise "
        "--max-sentence"
    )
    assert main(["check", path, "--max-line", "2"]) == 1  # a problem of the file
    assert main(["convert", path, "--to", "spans", "--max-line", "2"]) == 2
    assert main(["score", path, path, "--max-sentence", "2", "--max-line", "3"]) == 0
    with pytest.raises(SystemExit):
        main(["score", path, path, "--max-line", "0"])


def test_the_limits_are_far_above_what_corpora_have() -> None:
    assert Limits().max_line > 100 * 10**6
    assert Limits().max_sentence > 10**6
    assert Limits().max_document > 10**7


def test_line_numbers_are_right_after_a_passage_that_ended_at_its_limit_of_tokens(tmp_path: Path) -> None:
    body = "<s>\na\tO\nb\tO\n</s>\n" * 9 + "<s>\nbad\n</s>\n"
    path = write(tmp_path / "g.vrt", f"<text>\n{body}</text>\n")

    with handed_in(Sizes(tokens=4)), pytest.raises(FormatError, match="the line has 1 column") as caught:
        score(path, path)

    assert caught.value.line == 1 + 9 * 4 + 2


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize(
    ("shape", "arguments", "problem"),
    [
        (
            "nested",
            "score GOLD PREDICTED --metric exact --generic A",
            "pairs of spans overlap",
        ),
        (
            "nested",
            "score GOLD PREDICTED --metric exact(min_overlap=0.5)",
            "pairs of spans overlap",
        ),
        (
            "crossing",
            "score GOLD PREDICTED --metric exact(min_overlap=0.1)",
            "possible pairs, too many",
        ),
        ("nested", "score GOLD PREDICTED --metric strings", "together more than 4,000 positions"),
        ("nested", "score GOLD PREDICTED --metric noisy", "together more than 4,000 positions"),
        ("nested", "profile GOLD PREDICTED", "together more than 4,000 positions"),
        ("nested", "errors GOLD PREDICTED --metric fair", "too many to be compared one by one"),
        ("nested", "score GOLD PREDICTED --metric gate", "pairs of spans overlap"),
        ("crossing_hulls", "errors GOLD PREDICTED --metric fair", "together more than 4,000 positions"),
        ("comb", "errors GOLD PREDICTED --format json", "together more than 4,000 positions"),
        ("nested", "convert GOLD --to brat --lossy -o OUT", "together more than 4,000 positions"),
        ("nested", "convert GOLD --to webanno --lossy -o OUT", "together more than 4,000 positions"),
        ("nested", "convert GOLD --to label-studio --lossy", "together more than 4,000 positions"),
        ("same", "score GOLD PREDICTED --metric masking", "pairs of spans overlap"),
        ("nested", "score GOLD PREDICTED --metric masking", "together more than 4,000 words"),
    ],
)
def test_spans_that_would_take_too_long_are_refused_with_file_document_and_advice(
    shape: str, arguments: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, predicted = SHAPES[shape](120, tmp_path)
    words = {"GOLD": str(gold), "PREDICTED": str(predicted), "OUT": f"{tmp_path}/out/"}

    assert main([words.get(word, word) for word in arguments.split()]) == 2
    message = capsys.readouterr().err
    assert problem in message
    assert any(
        message.startswith(f"clueval {arguments.split()[0]}: {path}:") or f" {path}, document" in message
        for path in (gold, predicted)
    )
    assert "leave out" in message


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize(
    "options", [{"metrics": "gate"}, {"metrics": "masking"}, {"metrics": "exact", "generic": "A"}]
)
def test_the_error_of_too_many_pairs_names_the_file_with_more_spans(options: dict[str, str]) -> None:
    gold, predicted = (
        Document("d", {"label": [Span(0, 99, "A")] * n}, text="x" * 99, unit="character", file=f"{n}.json")
        for n in (100, 4_000)
    )

    with pytest.raises(LimitError, match=r"^4000\.json, document 'd': more than .* pairs of spans overlap"):
        score([gold], [predicted], **options)


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("steps", ["exact", "exact,fuzzy=0.5"])
def test_mentions_that_would_take_too_long_to_locate_are_refused(steps: str) -> None:
    gold = [
        Document("d", {"label": []}, text=" ".join(map(str, range(9_000))), unit="character", file="g.json")
    ]
    names = [{"text": f"x{n}", "label": "A"} for n in range(20)]

    with pytest.raises(LimitError, match=r"^g\.json, document 'd': the mentions .* too many") as caught:
        score(gold, {"d": names}, input="mentions", locate=steps)

    assert caught.value.advice is not None


def test_spans_that_do_not_overlap_and_fit_a_document_are_never_refused() -> None:
    assert Limits().max_document <= MAX_COVERED
