"""Saved results: what is written, that nothing is lost, and what is refused."""

from __future__ import annotations

import copy
import gzip
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from clueval import CluevalError, Document, Span, load_result, score
from clueval.evaluation.units.loaded import _SavedLines

SAMPLES = Path(__file__).parents[3] / "clueval" / "samples" / "german"
GERMAN = (SAMPLES / "gold.vrt", SAMPLES / "predicted.vrt")
COLUMNS = {"entity": 2, "risk": 3}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    path = tmp_path_factory.mktemp("saved") / "a.clueval"
    score(*GERMAN, layers=COLUMNS, metrics="levels,exact", save=path, resample_by="document")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_first_line_says_what_was_counted(written: list[dict[str, Any]]) -> None:
    header = written[0]

    assert header["clueval_counts"] == 1
    assert header["resample_by"] == "document"
    assert header["metrics"] == [
        {"name": "levels", "settings": {}},
        {"name": "exact", "settings": {"min_overlap": None, "overlap_of": "gold"}},
    ]
    assert header["sequences"] == {"entity": ["entity"], "risk": ["risk"]}
    assert header["gold_sha256"] == hashlib.sha256(GERMAN[0].read_bytes()).hexdigest()


def test_units_have_their_key_their_tokens_and_no_zeros(written: list[dict[str, Any]]) -> None:
    units = [line for line in written if "unit" in line]

    assert [unit["unit"] for unit in units] == ["a001", "a002", "a003", "a004", "a005"]
    assert written[-1]["tokens"] == sum(unit["tokens"] for unit in units)
    assert all(count > 0 for unit in units for count in unit["counts"][1::2])


def test_keys_are_declared_before_they_are_used(written: list[dict[str, Any]]) -> None:
    declared: set[int] = set()
    for line in written[1:-1]:
        if "keys" in line:
            declared |= {number for number, *_ in line["keys"]}
        else:
            assert {*line["counts"][::2]} <= declared


def test_a_saved_result_has_no_text(written: list[dict[str, Any]]) -> None:
    tokens = {
        line.split("\t")[0] for line in GERMAN[0].read_text(encoding="utf-8").splitlines() if "\t" in line
    }
    in_file = {part for line in written for part in json.dumps(line, ensure_ascii=False).split('"')}

    assert not {token for token in tokens & in_file if len(token) > 3 and not token.islower()} - {"Person"}


@pytest.mark.few(3)
@pytest.mark.parametrize("name", ["r.clueval", "r.clueval.gz"])
@pytest.mark.parametrize("options", [{}, {"by": "document"}, {"resample_by": "sentence", "by": "document"}])
def test_every_report_is_rebuilt(name: str, options: dict[str, str], tmp_path: Path) -> None:
    result = score(*GERMAN, layers=COLUMNS, metrics="levels,fair", **options)  # type: ignore[arg-type]
    result.save(tmp_path / name)
    loaded = load_result(tmp_path / name)

    assert loaded.to_dict() == result.to_dict()
    for form in ("text", "json", "csv", "tsv", "markdown", "latex"):
        assert loaded.render(form) == result.render(form)


def test_files_are_the_same_in_every_run(tmp_path: Path) -> None:
    """Sets of strings have another order in each process."""
    arguments = [*map(str, GERMAN), *(f"--layer={name}={column}" for name, column in COLUMNS.items())]
    for seed in "12":
        command = [
            sys.executable,
            "-m",
            "clueval",
            "score",
            *arguments,
            "--metric",
            "levels,exact,muc,masking",
        ]
        command += ["--by", "domain", "--save", str(tmp_path / f"{seed}.clueval.gz"), "--quiet"]
        subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True)

    assert (tmp_path / "1.clueval.gz").read_bytes() == (tmp_path / "2.clueval.gz").read_bytes()


def test_packed_files_are_packed(tmp_path: Path) -> None:
    score(*GERMAN, layers=COLUMNS).save(tmp_path / "a.clueval.gz")

    assert gzip.decompress((tmp_path / "a.clueval.gz").read_bytes()).startswith(b'{"clueval_counts":1')


def test_units_that_belong_to_several_values_keep_their_parts(tmp_path: Path) -> None:
    documents = [
        Document(
            str(n), {"x": [Span(0, 1, "A")]}, tokens=["a"] * (n + 1), metadata={"court": court, "year": year}
        )
        for n, (court, year) in enumerate([("X", "1"), ("X", "2"), ("Y", "2")])
    ]
    result = score(documents, documents, resample_by="court", by="year", intervals=True)
    result.save(tmp_path / "r.clueval")
    loaded = load_result(tmp_path / "r.clueval")
    first = json.loads((tmp_path / "r.clueval").read_text(encoding="utf-8").splitlines()[2])

    assert {value: part["tokens"] for value, part in first["by"]["year"].items()} == {"1": 1, "2": 2}
    assert loaded.groups == {
        key: {value: {k: v for k, v in group.items() if k != "intervals"} for value, group in groups.items()}
        for key, groups in (result.groups or {}).items()
    }
    assert loaded.intervals() == result.intervals()


def test_settings_of_metrics_are_saved(tmp_path: Path) -> None:
    from clueval.metrics.fair import Fair
    from clueval.metrics.partial import Partial

    weights = {"LE": {"TP": 0.5, "FN": 0.5}}
    result = score(
        *GERMAN, layers=COLUMNS, metrics=[Fair(weights=weights, labels=("person",)), Partial(betas=(2.0,))]
    )
    result.save(tmp_path / "r.clueval")
    loaded = load_result(tmp_path / "r.clueval")

    assert loaded.scored_by == list(result.scored_by)
    assert loaded.to_dict() == result.to_dict()


CHANGES: dict[str, tuple[Any, int, str]] = {
    "no end": (lambda lines: lines.pop(), 7, "the end line is missing"),
    "more after the end": (lambda lines: lines.append({"keys": []}), 9, "after the end line"),
    "higher format": (lambda lines: lines[0].update(clueval_counts=2), 1, "has the format 2"),
    "no format": (lambda lines: lines[0].pop("clueval_counts"), 1, "not a saved result"),
    "format 0": (lambda lines: lines[0].update(clueval_counts=0), 1, "not a saved result"),
    "negative count": (lambda lines: lines[2]["counts"].__setitem__(1, -1), 3, "-1, and not a whole number"),
    "fraction": (lambda lines: lines[2]["counts"].__setitem__(1, 1.5), 3, "1.5, and not a whole number"),
    "true": (lambda lines: lines[2]["counts"].__setitem__(1, True), 3, "True, and not a whole number"),
    "too large": (lambda lines: lines[2]["counts"].__setitem__(1, 10**400), 3, "to 1,000,000,000,000,000"),
    "zero": (lambda lines: lines[2]["counts"].__setitem__(1, 0), 3, "counts of 0 are left out"),
    "unit twice": (lambda lines: lines.insert(3, lines[2]), 4, "the unit 'a001' comes twice"),
    "key twice": (
        lambda lines: lines[2]["counts"].extend(lines[2]["counts"][:2]),
        3,
        "comes twice in a unit",
    ),
    "key declared twice": (
        lambda lines: lines[1]["keys"].append([len(lines[1]["keys"]), *lines[1]["keys"][0][1:]]),
        2,
        "declared twice",
    ),
    "key not declared": (lambda lines: lines[2]["counts"].__setitem__(0, 9_999), 3, "not declared"),
    "odd counts": (lambda lines: lines[2]["counts"].pop(), 3, "a key without a number"),
    "foreign key": (lambda lines: lines[1]["keys"][0].__setitem__(3, "klass"), 2, "has no such key"),
    "foreign metric": (
        lambda lines: lines[1]["keys"][0].__setitem__(1, "muc"),
        2,
        "first line does not have",
    ),
    "unknown metric": (lambda lines: lines[0]["metrics"][0].update(name="x"), 1, "is not a metric"),
    "metric without a name": (lambda lines: lines[0]["metrics"][0].update(name=["x"]), 1, "is not a metric"),
    "unknown setting": (
        lambda lines: lines[0]["metrics"][0]["settings"].update(x=1),
        1,
        "metric levels has no setting 'x'",
    ),
    "tokens that do not add up": (lambda lines: lines[2].update(tokens=1), 8, "tokens, and the lines above"),
    "text for tokens": (lambda lines: lines[2].update(tokens="5"), 3, "'5', and not a whole number"),
    "units missing": (lambda lines: lines[-1].update(units=9), 8, "has 9 units"),
    "no object": (lambda lines: lines.__setitem__(2, 5), 3, "not an object"),
    "unknown line": (lambda lines: lines.__setitem__(2, {}), 3, "neither keys, nor a unit"),
    "by without break-down": (lambda lines: lines[2].update(by={"x": "y"}), 3, "each key of the break-down"),
    "signature": (lambda lines: lines[0].update(signature="x"), 1, "not a part of a signature"),
    "repaired tags": (lambda lines: lines[-1].update(repaired_tags={}), 8, "gold and predicted"),
    "inputs": (lambda lines: lines[-1].update(inputs=[]), 8, "inputs is a list instead of an object"),
    "an input without layers": (
        lambda lines: lines[-1]["inputs"]["gold"].pop("layers"),
        8,
        "lacks format, files or layers",
    ),
    "an input with a name misspelt": (
        lambda lines: lines[-1]["inputs"]["gold"].update(filez=lines[-1]["inputs"]["gold"].pop("files")),
        8,
        "lacks format, files or layers",
    ),
    "a layer on one side": (
        lambda lines: lines[-1]["inputs"]["gold"]["layers"].pop("risk"),
        8,
        "different layers on the two sides",
    ),
    "a layer without spans": (
        lambda lines: lines[-1]["inputs"]["gold"]["layers"]["risk"].pop("spans"),
        8,
        "other names than source, scheme and spans",
    ),
    "a scheme that is a number": (
        lambda lines: lines[-1]["inputs"]["gold"]["layers"]["risk"].update(scheme=5),
        8,
        "wrong type",
    ),
    "section": (lambda lines: lines[-1].update(sections={"metrics": {}}), 8, "another part of a result"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_file_is_refused_with_its_line(
    change: str, written: list[dict[str, Any]], tmp_path: Path
) -> None:
    alter, number, message = CHANGES[change]
    lines = copy.deepcopy(written[:2] + [line for line in written if "unit" in line] + written[-1:])
    keys = [[*key] for line in written if "keys" in line for key in line["keys"]]
    lines[1] = {"keys": keys}
    alter(lines)
    path = tmp_path / "changed.clueval"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")

    with pytest.raises(CluevalError, match=message) as refused:
        load_result(path)

    assert (refused.value.file, refused.value.line) == (str(path), number)


@pytest.mark.parametrize("text", ["", "{", "[1]\n", '{"a": 1, "a": 2}\n', "NaN\n", "<html>\n", "[" * 99_999])
def test_a_file_that_is_no_saved_result_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "no.clueval"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(CluevalError):
        load_result(path)


def test_a_missing_file_is_one_line() -> None:
    with pytest.raises(CluevalError, match="cannot be read"):
        load_result("/nowhere/a.clueval")


def test_a_metric_with_fractions_cannot_be_saved(tmp_path: Path) -> None:
    result = score(*GERMAN, layers=COLUMNS)
    assert result.counted is not None
    for tally in result.counted.units.units[0].tallies.values():  # type: ignore[union-attr]
        tally[next(iter(tally))] = 0.5  # type: ignore[assignment]

    with pytest.raises(CluevalError, match="numbers that are not whole"):
        result.save(tmp_path / "a.clueval")
    assert not list(tmp_path.iterdir())


def test_lines_are_read_one_by_one() -> None:
    reader = _SavedLines(Path("x"))

    with pytest.raises(CluevalError, match="x:1: the file is not a saved result"):
        reader.read(1, "{")
