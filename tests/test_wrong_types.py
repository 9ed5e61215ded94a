"""Every public function refuses arguments of a wrong type with a `CluevalError`, never with another error."""

from __future__ import annotations

import collections
import datetime
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import clueval
from clueval import (
    Accumulator,
    Choice,
    CluevalError,
    Document,
    Signature,
    Span,
    agree,
    check,
    compare,
    conventions,
    convert,
    curate,
    diff,
    documents_from,
    documents_from_spacy,
    error_table,
    errors,
    faireval,
    gate,
    load_result,
    masking,
    match_spans,
    merge,
    merge_layers,
    overlap_components,
    read,
    recover,
    schema,
    score,
    to_rows,
    to_spacy,
)
from clueval.evaluation.options import Counting, Workers
from clueval.options import field_names
from clueval.reading.options import Reading
from clueval.transforms.preparing import Preparing

TAGS = [["B-A", "O"]]


def wrong() -> list[Any]:
    """More than a hundred values, most of which no argument takes."""
    span, document = Span(0, 1, "A"), Document("d", {})
    return [
        *(
            None,
            True,
            False,
            0,
            1,
            -1,
            10**30,
            1.5,
            float("nan"),
            1j,
            b"",
            b"x",
            "",
            "x",
            "a/b",
            "\0",
            "\ud800",
            "*",
        ),
        *(
            "B-PER",
            "O",
            [],
            [None],
            [[]],
            [[[]]],
            [[[[]]]],
            [0],
            [[0]],
            [1.5],
            [[1.5]],
            ["x"],
            [["x"]],
            [b"x"],
            [[b"x"]],
        ),
        *(
            (),
            (None,),
            ((),),
            (0, 1),
            (0, 1, "A"),
            (1, 0, "A"),
            [(1, 0, "A")],
            [[(1, 0, "A")]],
            [(0, 1, None)],
        ),
        *(
            [[(0, 1, [])]],
            [[(0, 1, ["A", "B"])]],
            [[(0, 1, {"a": 1})]],
            [[("A", 0, 1)]],
            {},
            {"a": 1},
            {"a": None},
        ),
        *(
            {"a": []},
            {"a": [0]},
            {"start": 0},
            {"start": 0, "end": 1},
            [{"start": 0}],
            {1: []},
            {"text": "a"},
        ),
        *(
            [[{"start": None, "end": None}]],
            [[{"start": "0", "end": "1", "label": "A"}]],
            {"text": "a", "spans": None},
        ),
        *({"text": 1, "spans": []}, [{"text": "a", "spans": 7}], [{"tokens": ["a"], "ner_tags": [0]}]),
        *(
            [{"tokens": ["a"], "ner_tags": ["B-A", "O"]}],
            [{"tokens": None, "ner_tags": None}],
            set(),
            {1},
            {"a"},
        ),
        *(
            frozenset({(0, 1, "A")}),
            object(),
            int,
            str,
            iter([]),
            iter([0]),
            (x for x in [[0]]),
            range(3),
            range(0),
        ),
        *(slice(1), Ellipsis, NotImplemented, datetime.date(2020, 1, 1), re.compile("a"), io.StringIO("")),
        *(
            io.BytesIO(b"\xff"),
            io.StringIO("x"),
            numpy.array([1, 2]),
            numpy.array([[1, 2]]),
            numpy.array(["x"]),
        ),
        *(numpy.float64(1), collections.Counter("a"), Path("nope"), Path(), span, [span, None]),
        *(
            [[span, Span(0, 2, "A")]],
            [document, 1],
            [["B-A"], ["O"], 0],
            [["B-A", 1]],
            [["B-A"], None],
            Exception("x"),
        ),
        *(memoryview(b"a"), bytearray(b"a"), len, datetime),
    ]


def options(group: type) -> list[str]:
    return [name for name in field_names(group) if name not in ("progress", "remark", "jobs", "executor")]


def calls_of_studies() -> Iterator[tuple[str, Callable[[Any], object]]]:
    """The functions that compare more than two sides, or results, each with one argument to fill."""
    spans = [[(0, 1, "A")], [(0, 1, "A")]]
    result = score(spans, spans, resample_by="document")
    for option in ["sources", "others", "conventions", "system", "merge", "intervals", "confidence"]:
        yield f"agree {option}", lambda value, key=option: agree_with(key, value)
    for option in ["naming", "reading", "annotators", "layers", "layout", "unannotated", "pair_by", "input"]:
        yield f"agree {option}", lambda value, key=option: agree(TAGS, TAGS, **{key: value})
        yield f"curate {option}", lambda value, key=option: list(curate(TAGS, TAGS, **{key: value}))
    for option in ["votes", "union", "decisions"]:
        yield f"curate {option}", lambda value, key=option: list(curate(TAGS, TAGS, **{key: value}))
    yield "curate", lambda value: list(curate(value, value))
    for option in ["gold", "old", "new", "choice", "layers", "reading", "input", "progress"]:
        yield (
            f"diff {option}",
            lambda value, key=option: diff(**{"gold": TAGS, "old": TAGS, "new": TAGS, key: value}),
        )
    yield "compare baseline", lambda value: compare(value, result)
    yield "compare others", lambda value: compare(result, value)
    for option in ["scores", "names", "detect", "confidence", "resamples", "seed", "force", "details"]:
        yield f"compare {option}", lambda value, key=option: compare(result, result, **{key: value})
    yield "masking gold", lambda value: masking(value, [Document("d", {}, tokens=["a"])])
    one = [Document("d", {}, tokens=["a"])]
    for option in [
        "layers",
        "weight_column",
        "redacted",
        "placeholder",
        "align",
        "conventions",
        "entity",
        "risk",
    ]:
        yield f"masking {option}", lambda value, key=option: masking(one, one, **{key: value})


def agree_with(name: str, value: Any) -> object:
    if name in ("sources", "others"):
        return agree(*((value, TAGS) if name == "sources" else (TAGS, value)))
    return agree(TAGS, TAGS, **{name: value})


def calls() -> Iterator[tuple[str, Callable[[Any], object]]]:
    """The public functions and classes, each with one argument to fill."""
    scorers: dict[str, Callable[..., Any]] = {
        "score": score,
        "conventions": conventions,
        "gate": gate,
        "errors": lambda *given, **more: list(errors(*given, **more)),
    }
    for name, function in scorers.items():
        yield f"{name} both", lambda value, call=function: call(value, value)
        yield f"{name} gold", lambda value, call=function: call(value, TAGS)
        yield f"{name} predicted", lambda value, call=function: call(TAGS, value)
        yield f"{name} alone", lambda value, call=function: call(value)
        own = {
            "score": ["metrics", "merge", "transforms", "observers"],
            "conventions": ["factor"],
            "errors": ["choice"],
        }
        more = options(Counting) + options(Preparing) + options(Workers) if name == "score" else []
        for option in [
            "layers",
            "reading",
            "gold_set",
            "unknown",
            *options(Reading),
            *own.get(name, ()),
            *more,
        ]:
            yield (
                f"{name} {option}",
                lambda value, call=function, key=option: call(TAGS, TAGS, **{key: value}),
            )
    yield "read", lambda value: list(read(value))
    for option in ["layers", "reading", *options(Reading)]:
        yield f"read {option}", lambda value, key=option: list(read("a.conll", **{key: value}))
    readers: dict[str, Callable[..., Any]] = {
        "check": check,
        "merge": lambda *given, **more: list(merge(*given, **more)),
        "convert": lambda given, **more: convert(given, "spans", **more),
    }
    for name, function in readers.items():
        yield name, lambda value, call=function: call(value)
        for option in ["layers", "reading", "unknown", *options(Reading)]:
            yield f"{name} {option}", lambda value, call=function, key=option: call("a.conll", **{key: value})
    yield "convert to", lambda value: convert("a.conll", value)
    yield "convert output_file", lambda value: convert("a.conll", "spans", value)
    yield "faireval", faireval
    document = Document("d", {})
    yield "match_spans", lambda value: match_spans(value, value)
    yield "merge_layers", lambda value: merge_layers(value)
    yield "merge_layers of one", lambda value: merge_layers({"a": value})
    yield "overlap_components", lambda value: overlap_components(value)
    yield "error_table spans", lambda value: list(error_table(value, document, document))
    yield "error_table own", lambda value: list(error_table([], value, document))
    yield "error_table other", lambda value: list(error_table([], document, value))
    yield "Accumulator", lambda value: Accumulator(value)
    yield "Accumulator scheme", lambda value: Accumulator(scheme=value)
    yield "Accumulator invalid", lambda value: Accumulator(invalid=value)
    yield "Accumulator.update", lambda value: Accumulator().update(value, value)
    yield "Accumulator.merge_state", lambda value: Accumulator().merge_state(value)
    yield from calls_of_studies()
    yield "documents_from rows", lambda value: list(documents_from(value, "doccano"))
    yield "documents_from row", lambda value: list(documents_from([value], "doccano"))
    yield "documents_from format", lambda value: list(documents_from([], value))
    yield "to_rows documents", lambda value: list(to_rows(value, "doccano"))
    yield "to_rows format", lambda value: list(to_rows([], value))
    yield "to_spacy", lambda value: to_spacy(value, None)
    yield "documents_from_spacy docs", lambda value: list(documents_from_spacy(value))
    for option in ["spans_key", "unit"]:
        yield (
            f"documents_from_spacy {option}",
            lambda value, key=option: list(documents_from_spacy([], **{key: value})),
        )
    yield "load_result", load_result
    yield "schema", schema
    for option in ["original", "redacted", "placeholder", "align"]:
        yield (
            f"recover {option}",
            lambda value, key=option: recover(**{"original": "a", "redacted": "a", key: value}),
        )
    yield "Span start", lambda value: Span(value, 1)
    yield "Span labels", lambda value: Span(0, 1, value)
    yield "Span features", lambda value: Span(0, 1, "A", value)
    yield "Document id", lambda value: Document(value, {})
    yield "Document layers", lambda value: Document("d", value)
    yield "Document tokens", lambda value: Document("d", {}, tokens=value)
    yield "Document unit", lambda value: Document("d", {}, unit=value)
    yield "Signature.parse", lambda value: Signature.parse(value)
    yield "Choice", lambda value: Choice(value)


CALLS = dict(calls())


QUICK = 5
"""The quick tests hand every fifth value to each argument, beginning with another value for the next one."""


@pytest.mark.parametrize("every", [QUICK, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("function", dict.fromkeys(name.partition(" ")[0] for name in CALLS))
@pytest.mark.filterwarnings("ignore")
def test_a_wrong_type_raises_nothing_but_a_clueval_error(
    function: str, every: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.conll").write_text("x\tB-A\ny\tO\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    wrong_errors: list[tuple[str, object, Exception]] = []
    seldom_refused: list[str] = []

    for number, (name, call) in enumerate(CALLS.items()):
        if name.partition(" ")[0] != function:
            continue
        values, refused = wrong()[number % every :: every], 0
        for value in values:
            try:
                call(value)
            except CluevalError:
                refused += 1
            except Exception as error:
                wrong_errors.append((name, value, error))
        if refused <= len(values) // 4:
            seldom_refused.append(name)

    assert not wrong_errors
    assert not seldom_refused


def test_errors_can_be_caught_by_names_of_the_package() -> None:
    for name in (
        "UsageError",
        "FileError",
        "FormatError",
        "TagError",
        "SpanError",
        "OverlapError",
        "TextMismatch",
    ):
        assert issubclass(getattr(clueval, name), CluevalError)


def test_dir_shows_public_names_only() -> None:
    assert set(dir(clueval)) == set(clueval.__all__)
    assert {name for name in dir(clueval) if name.startswith("_")} == {"__version__"}
