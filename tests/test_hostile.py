"""Input that is meant to break a reader: one error that says file, line and what to do, and never a traceback."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from corpora import write

from clueval import errors, read, score
from clueval.cli import main
from clueval.files.errors import CluevalError, FileError, FormatError, SpanError, TagError, UsageError

MEGABYTE = "x" * 1_000_000


def bdoc(**changes: Any) -> dict[str, Any]:
    annotation = {"type": "PER", "start": 0, "end": 3, "id": 1, "features": {}}
    sets = {"Key": {"name": "Key", "annotations": [annotation]}}
    return {"text": "Ada was", "offset_type": "p", "features": {}, "annotation_sets": sets, **changes}


def with_annotation(**changes: Any) -> dict[str, Any]:
    whole = bdoc()
    whole["annotation_sets"]["Key"]["annotations"][0].update(changes)
    return whole


# --- carriage returns and long fields ---------------------------------------------------------------------------


@pytest.mark.parametrize("content", ["start,end\r0,1\r", "a,b\rc\n", 'a,"b\r\n'])
def test_a_lone_cr_behind_a_comma_in_the_first_line_is_an_error_with_its_line(
    tmp_path: Path, content: str
) -> None:
    path = tmp_path / "old.mac"
    path.write_bytes(content.encode())

    with pytest.raises(FormatError) as caught:
        list(read(path))

    assert caught.value.line == 1
    assert caught.value.file == str(path)


def test_a_lone_cr_is_the_same_error_for_both_sides_and_for_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "old.mac"
    path.write_bytes(b"a,b\rc,d\r")

    assert main(["score", str(path), str(path)]) == 2
    assert "a carriage return without a line feed (end lines with LF or CRLF)" in capsys.readouterr().err
    assert main(["check", str(path)]) == 1
    assert f"{path}:1: a carriage return without a line feed" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "line"), [("start,end,label\n0,0,{}\n", 2), ("start,end,{}\n0,0,PER\n", 1)]
)
def test_a_long_field_of_a_table_is_an_error_with_its_line(tmp_path: Path, content: str, line: int) -> None:
    write(tmp_path / "t.vrt", "w\n")
    path = write(tmp_path / "t.csv", content.format("x" * 131_073))

    with pytest.raises(FormatError, match="131,072") as caught:
        list(read(path, input="spans"))

    assert (caught.value.file, caught.value.line) == (str(path), line)
    assert caught.value.advice is not None


def test_a_long_field_of_a_table_with_tabs_is_read(tmp_path: Path) -> None:
    write(tmp_path / "t.vrt", "w\n")
    path = write(tmp_path / "t.tsv", f"start\tend\tlabel\n0\t0\t{'x' * 131_073}\n")

    (document,) = read(path)

    assert len(document.layers["label"][0].label) == 131_073


def test_a_long_first_line_with_a_comma_is_no_table(tmp_path: Path) -> None:
    path = write(tmp_path / "g.txt", f"a,{'x' * 140_000} O\n")

    (document,) = read(path)

    assert document.tokens is not None
    assert len(document.tokens[0]) == 140_002


# --- short lines ------------------------------------------------------------------------------------------------

SHORT = (
    ("a\tO\nb\nc\tO\n", "a\tO\n\nb\tO\n\nc\tO\n"),
    ("a\tO\nb\n", "a\tO\nb\tO\n\nc\tO\n"),
    ("a\tO\n\nb\nc\tO\n", "a\tO\n\nb\tO\n\nc\tO\n"),
)


@pytest.mark.parametrize(("short", "other"), SHORT)
@pytest.mark.parametrize("swapped", [False, True])
def test_a_short_line_is_an_error_where_the_other_side_has_more_sentences(
    tmp_path: Path, short: str, other: str, swapped: bool
) -> None:
    bad = write(tmp_path / "bad.conll", short)
    good = write(tmp_path / "good.conll", other)
    sides = (good, bad) if swapped else (bad, good)

    for call in (score, lambda *pair: list(errors(*pair))):
        with pytest.raises(FormatError, match="the line has 1 column, the first token line has 2") as caught:
            call(*sides)
        assert caught.value.file == str(bad)
        assert caught.value.line == short.split("\n").index(short.replace("c\tO\n", "").split("\n")[-2]) + 1


# --- half a surrogate pair, and depth, in JSON ------------------------------------------------------------------

HALF = "\ud800"

PLACES: dict[str, dict[str, Any]] = {
    "text": bdoc(text=f"Ada{HALF}was"),
    "name": bdoc(name=HALF),
    "feature": bdoc(features={"x": HALF}),
    "feature name": bdoc(features={HALF: "x"}),
    "set": bdoc(annotation_sets={HALF: {"annotations": []}}),
    "type": with_annotation(type=HALF),
    "annotation feature": with_annotation(features={"list": [{"deep": HALF}]}),
    "what is not read": bdoc(log=[HALF]),
}


@pytest.mark.parametrize("place", PLACES)
def test_half_a_surrogate_pair_is_refused_wherever_it_is_in_a_bdoc(tmp_path: Path, place: str) -> None:
    """The line is the number of the row, and a bdoc is one row."""
    path = write(tmp_path / "d.bdocjs", json.dumps(PLACES[place], indent=1))

    with pytest.raises(FormatError, match=r"half of a surrogate pair, U\+D800") as caught:
        list(read(path, annotation_set=HALF if place == "set" else "Key"))

    assert caught.value.line == 1


def test_a_whole_surrogate_pair_and_a_backslash_before_a_u_are_read(tmp_path: Path) -> None:
    path = write(tmp_path / "d.bdocjs", json.dumps(bdoc(text="Ada \U0001f600 \\ud800")))

    (document,) = read(path, annotation_set="Key")

    assert document.text == "Ada \U0001f600 \\ud800"


@pytest.mark.parametrize("depth", [900, 100_000])
def test_a_feature_that_is_nested_too_deep_is_an_error(tmp_path: Path, depth: int) -> None:
    whole = json.dumps(with_annotation(features={"x": "HERE"}))
    path = write(tmp_path / "d.bdocjs", whole.replace('"HERE"', "[" * depth + "]" * depth))

    with pytest.raises(FormatError, match=r"nested .*deep") as caught:
        list(read(path, annotation_set="Key"))

    assert caught.value.file == str(path)


# --- paths ------------------------------------------------------------------------------------------------------

BAD_PATHS = ("a\0b", "a\ud800b")


@pytest.mark.parametrize("bad", BAD_PATHS)
def test_a_path_with_nul_or_half_a_surrogate_pair_is_an_error(tmp_path: Path, bad: str) -> None:
    good = write(tmp_path / "g.conll", "a O\n")
    calls: list[Callable[[], object]] = [
        lambda: list(read(bad)),
        lambda: score(bad, good),
        lambda: score(good, bad),
        lambda: score([bad], [good]),
        lambda: list(errors(bad, good)),
        lambda: list(read(write(tmp_path / "t.tsv", "start\tend\n0\t0\n"), text=bad)),
    ]
    for call in calls:
        with pytest.raises(FileError):
            call()


@pytest.mark.few(4)
@pytest.mark.parametrize("bad", [*BAD_PATHS, "a link to itself"])
@pytest.mark.parametrize(
    "words",
    [
        "score BAD GOOD",
        "score GOOD BAD",
        "conventions GOOD BAD",
        "agree GOOD BAD",
        "agree GOOD OTHER --pygamma BAD",
        "curate GOOD BAD",
        "curate GOOD OTHER --decisions BAD",
        "errors GOOD BAD",
        "errors GOOD OTHER --decisions BAD",
        "masking GOOD OTHER --decisions BAD",
        "errors GOOD GOOD -o BAD",
        "check BAD",
        "merge BAD",
        "merge GOOD -o BAD",
        "convert BAD --to spans",
        "convert GOOD --to spans -o BAD",
        "convert GOOD --to ltf -o BAD",
        "faireval BAD",
    ],
)
def test_a_bad_path_is_one_line_of_every_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: str, bad: str
) -> None:
    good = write(tmp_path / "g.conll", "a O\n")
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    other = write(tmp_path / "o.conll", "a O\n")
    names = {"BAD": bad if bad in BAD_PATHS else str(loop), "GOOD": str(good), "OTHER": str(other)}

    assert main([names.get(word, word) for word in words.split()]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert bad in BAD_PATHS or str(loop) in error


def test_names_of_files_that_are_not_utf8_give_ids_that_can_be_written(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    with open(os.fsencode(folder) + b"/n\xe4me.conll", "w") as file:  # noqa: PTH123  # its name is bytes
        file.write("a B-PER\n\n")

    (document,) = read(folder)

    assert document.id == "n\\xe4me"
    assert score(folder, folder).documents == 1
    assert main(["errors", str(folder), str(folder), "-o", str(tmp_path / "out.tsv")]) == 0
    assert main(["check", str(folder)]) == 0


# --- errors that quote --------------------------------------------------------------------------------------------

QUOTING = (
    CluevalError(f"tag {MEGABYTE!r} is none"),
    CluevalError(f"nothing has key={MEGABYTE}"),
    CluevalError("wrong", document=MEGABYTE),
    CluevalError("wrong", file=MEGABYTE),
    CluevalError("wrong", advice=f"there are {MEGABYTE}, {MEGABYTE}"),
    CluevalError(f"a document's metadata is {'a' + chr(39) * 1_000_000!r} and {MEGABYTE + chr(34)!r}"),
)


@pytest.mark.parametrize("error", QUOTING, ids=lambda error: error.problem[:20])
def test_an_error_cuts_what_it_quotes(error: CluevalError) -> None:
    text = str(error)

    assert len(text) < 2500
    assert "..." in text
    assert str(error) == text


def test_an_error_keeps_what_stands_around_a_long_value_and_says_how_long_it_is() -> None:
    error = CluevalError(f"tag {MEGABYTE!r} is none", file="g.vrt", line=3, advice="expected 'B-LABEL'")

    assert str(error) == f"g.vrt:3: tag '{'x' * 100}...' (1,000,000 characters) is none (expected 'B-LABEL')"


@pytest.mark.parametrize(
    "text",
    ["gold has the token 'it''s' where", "no document's metadata is called 'x'", f"tag {'x' * 100!r} is"],
)
def test_an_error_leaves_short_values_alone(text: str) -> None:
    assert str(CluevalError(text)) == text


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("g.conll", f"a X-{MEGABYTE}\n", TagError),
        ("g.conll", f"a O\nb {' '.join('c' * 9)} {MEGABYTE}\n", FormatError),
        ("g.tsv", f"start\tend\tlabel\n{MEGABYTE}\t0\tPER\n", FormatError),
        ("g.tsv", f"document\tstart\tend\tlabel\n{MEGABYTE}\t0\t1\tPER\n", SpanError),
        ("g.xml", f"<body><{MEGABYTE}/></body>", FormatError),
        (
            "g.xml",
            f'<GateDocument><TextWithNodes><Node id="{MEGABYTE}"/><Node id="{MEGABYTE}"/>',
            FormatError,
        ),
        ("g.bdocjs", json.dumps(with_annotation(id=MEGABYTE)), FormatError),
        ("g.bdocjs", json.dumps(bdoc(offset_type=MEGABYTE)), FormatError),
    ],
)
def test_errors_about_files_are_short(
    tmp_path: Path, name: str, content: str, kind: type[CluevalError]
) -> None:
    write(tmp_path / "g.vrt", "w\n")
    path = write(tmp_path / name, content)

    with pytest.raises(kind) as caught:
        list(read(path, annotation_set="Key" if name in ("g.bdocjs",) else None))

    assert len(str(caught.value)) < 1000
    assert "\n" not in str(caught.value)


# --- damaged gzip -------------------------------------------------------------------------------------------------


def test_a_cut_gzip_file_is_one_error(tmp_path: Path) -> None:
    path = tmp_path / "g.conll.gz"
    path.write_bytes(gzip.compress(b"a O\n" * 1000)[:-9])

    with pytest.raises(FormatError, match="damaged"):
        list(read(path))


# --- files without documents ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "written"),
    [
        (["convert", "--to", "spans"], "document\tstart\tend_inclusive\tlabel\n"),
        (["convert", "--to", "spans", "--layer", "a=2,b=3"], "document\tstart\tend_inclusive\ta\tb\n"),
        (["convert", "--to", "ltf"], "<body></body>\n"),
        (["merge", "--layer", "a=2"], "document\tstart\tend_inclusive\ta\n"),
        (
            ["merge", "--layer", "a=2", "--token-id", "3"],
            "document\tstart\tend_inclusive\ta\tstart_id\tend_id\n",
        ),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("content", ["", "\n\n", "# a comment\n"])
def test_a_file_without_documents_becomes_what_the_format_has_without_any(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], written: str, content: str
) -> None:
    path, output = write(tmp_path / "g.conll", content), tmp_path / "out"

    assert main([words[0], str(path), *words[1:]]) == 0
    assert capsys.readouterr().out == written
    assert main([words[0], str(path), *words[1:], "-o", str(output)]) == 0
    assert output.read_text(encoding="utf-8") == written


# --- costs --------------------------------------------------------------------------------------------------------


def test_attributes_of_open_elements_go_to_the_documents_within_and_to_no_others(tmp_path: Path) -> None:
    text = "<text id='{}'>\na\tO\n</text>\n"
    outer = '<a x="1" y="1">\n{}<b y="2">\n{}<p>\n{}</p>\n</b>\n{}</a>\n{}'
    path = write(tmp_path / "g.vrt", outer.format(*(text.format(n) for n in range(5))))

    found = [dict(document.metadata) for document in read(path)]

    both = [{"x": "1", "y": "1"}, {"x": "1", "y": "2"}, {"x": "1", "y": "2"}, {"x": "1", "y": "1"}, {}]
    assert found == [{**metadata, "id": str(n)} for n, metadata in enumerate(both)]


def test_very_many_attributes_around_documents_are_an_error(tmp_path: Path) -> None:
    """Every document would have a copy of them all."""
    opened = [f'<a{n} x{n}="1">\n' for n in range(101)]
    path = write(tmp_path / "g.vrt", "".join(opened) + "<text>\na\tO\n</text>\n")
    allowed = write(tmp_path / "h.vrt", "".join(opened[:100] * 3) + "<text>\na\tO\n</text>\n")

    assert len(next(read(allowed)).metadata) == 100
    with pytest.raises(FormatError, match="more than 100 attribute names") as caught:
        list(read(path))
    assert caught.value.line == 101


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("g.vrt", f"<{'t' * 200_000}>\n<text>\na\tO\n</text>\n"),
        ("g.conll", f"# sent_id = a{' ' * 200_000}x\na O\n"),
        ("g.conll", f"# newdoc = a{' ' * 200_000}x\na O\n"),
    ],
    ids=["name of a tag", "comment", "newdoc"],
)
def test_one_long_line_of_structure_is_read_at_once(tmp_path: Path, name: str, content: str) -> None:
    """It took the square of its length, minutes for this one."""
    path = write(tmp_path / name, content)

    assert score(path, path, by="document").tokens == 1


@pytest.mark.parametrize(
    ("comment", "name"),
    [("# sent_id = a b ", "a b"), ("#sent_id=x", "x"), ("# sent_id =", ""), ("# sent_id", None)],
)
def test_values_of_comments_are_without_the_blanks_around_them(
    tmp_path: Path, comment: str, name: str | None
) -> None:
    path = write(tmp_path / "g.conll", f"{comment}\na O\n")

    assert next(read(path)).sentences[0].id == name


def test_the_first_sentence_of_a_vrt_file_without_documents_keeps_its_id(tmp_path: Path) -> None:
    path = write(tmp_path / "g.vrt", '<s id="one">\na\tO\n</s>\n<s id="two">\nb\tO\n</s>\n')

    assert [sentence.id for sentence in next(read(path)).sentences] == ["one", "two"]


@pytest.mark.parametrize("names", [{"document_tag": HALF}, {"sentence_tag": HALF}, {"layers": {HALF: 2}}])
def test_a_name_that_no_file_can_hold_is_refused(tmp_path: Path, names: dict[str, Any]) -> None:
    path = write(tmp_path / "g.vrt", "a\tO\n")

    for call in (lambda: list(read(path, **names)), lambda: score(path, path, **names)):
        with pytest.raises(UsageError, match="is not valid UTF-8"):
            call()


def test_a_path_of_a_megabyte_is_cut_by_every_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = str(write(tmp_path / "g.conll", "a O\n"))
    config = write(tmp_path / "c.conf", f"target_in = {MEGABYTE}\nsystem_in = x\n")

    for words in (["score", MEGABYTE, good], ["convert", good, "--to", "ltf", "-o", f"{MEGABYTE}/"]):
        assert main(words) == 2
        assert len(capsys.readouterr().err) < 2000
    assert main(["faireval", str(config)]) == 2
    assert len(capsys.readouterr().err) < 2000


@pytest.mark.parametrize("bad", BAD_PATHS)
def test_a_bad_folder_for_indicators_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], bad: str
) -> None:
    path = str(write(tmp_path / "d.bdocjs", json.dumps(bdoc())))
    words = ["score", path, "--metric", "gate", "--gold-set", "Key", "--predicted-set", "Key"]

    assert main([*words, "--write-indicators", bad]) == 2
    assert capsys.readouterr().err.count("\n") == 1
