"""Every public function refuses arguments of a wrong type with a `CluevalError`, never with another error."""

from __future__ import annotations

import collections
import datetime
import inspect
import io
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy
import pytest
import spacy.vocab

import clueval
from clueval import (
    Accumulator,
    CluevalError,
    Document,
    Signature,
    Span,
    agree,
    check,
    conventions,
    convert,
    curate,
    documents_from,
    errors,
    masking,
    match_spans,
    merge,
    merge_layers,
    score,
)
from clueval.files.options import field_names
from clueval.formats.options import Reading
from clueval.metrics.masking import Masking
from clueval.results.options import Counting, Trust, Workers
from clueval.studies.agreement.annotators import Naming
from clueval.transforms.options import Preparing

TAGS = [["B-A", "O"]]


def wrong() -> list[Any]:
    """More than a hundred values, most of which no argument takes."""
    span, document = Span(0, 1, "A"), Document("d", {})
    return [
        *(None, True, False, 0, 1, -1, 10**30, 1.5, float("nan"), 1j, b"", b"x", "", "x", "a/b", "\0"),
        *("\ud800", "*", "B-PER", "O", [], [None], [[]], [[[]]], [[[[]]]], [0], [[0]], [1.5], [[1.5]]),
        *(["x"], [["x"]], [b"x"], [[b"x"]], (), (None,), ((),), (0, 1), (0, 1, "A"), (1, 0, "A")),
        *([(1, 0, "A")], [[(1, 0, "A")]], [(0, 1, None)], [[(0, 1, [])]], [[(0, 1, ["A", "B"])]]),
        *([[(0, 1, {"a": 1})]], [[("A", 0, 1)]], {}, {"a": 1}, {"a": None}, {"a": []}, {"a": [0]}),
        *({"start": 0}, {"start": 0, "end": 1}, [{"start": 0}], {1: []}, {"text": "a"}),
        *([[{"start": None, "end": None}]], [[{"start": "0", "end": "1", "label": "A"}]]),
        *({"text": "a", "spans": None}, {"text": 1, "spans": []}, [{"text": "a", "spans": 7}]),
        *([{"tokens": ["a"], "ner_tags": [0]}], [{"tokens": ["a"], "ner_tags": ["B-A", "O"]}]),
        *([{"tokens": None, "ner_tags": None}], set(), {1}, {"a"}, frozenset({(0, 1, "A")}), object(), int),
        *(str, iter([]), iter([0]), (x for x in [[0]]), range(3), range(0), slice(1), Ellipsis),
        *(NotImplemented, datetime.date(2020, 1, 1), re.compile("a"), io.StringIO(""), io.BytesIO(b"\xff")),
        *(io.StringIO("x"), numpy.array([1, 2]), numpy.array([[1, 2]]), numpy.array(["x"])),
        *(numpy.float64(1), collections.Counter("a"), Path("nope"), Path(), span, [span, None]),
        *([[span, Span(0, 2, "A")]], [document, 1], [["B-A"], ["O"], 0], [["B-A", 1]], [["B-A"], None]),
        *(Exception("x"), memoryview(b"a"), bytearray(b"a"), len, datetime),
    ]


def special_calls() -> Iterator[tuple[str, Callable[[Any], object]]]:
    """Public functions and classes, each with one argument to fill, beside those of `calls_of`."""
    scorers: dict[str, Callable[..., Any]] = {
        "score": score,
        "conventions": conventions,
        "errors": lambda *given, **more: list(errors(*given, **more)),
    }
    for name, function in scorers.items():
        yield f"{name} both", lambda value, call=function: call(value, value)
        yield f"{name} gold", lambda value, call=function: call(value, TAGS)
        yield f"{name} predicted", lambda value, call=function: call(TAGS, value)
        yield f"{name} alone", lambda value, call=function: call(value)
    yield "check", check
    yield "merge", lambda value: list(merge(value))
    yield "convert", lambda value: convert(value, "spans")
    yield "convert to", lambda value: convert("a.conll", value)
    yield "convert output_file", lambda value: convert("a.conll", "spans", value)
    yield "curate", lambda value: list(curate(value, value))
    yield "agree others", lambda value: agree(TAGS, value)
    yield "masking gold", lambda value: masking(value, [Document("d", {}, tokens=["a"])])
    yield "match_spans", lambda value: match_spans(value, value)
    yield "merge_layers", lambda value: merge_layers(value)
    yield "merge_layers of one", lambda value: merge_layers({"a": value})
    yield "Accumulator", lambda value: Accumulator(value)
    yield "Accumulator scheme", lambda value: Accumulator(scheme=value)
    yield "Accumulator invalid", lambda value: Accumulator(invalid=value)
    yield "Accumulator.update", lambda value: Accumulator().update(value, value)
    yield "Accumulator.merge", lambda value: Accumulator().merge(value)
    yield "documents_from rows", lambda value: list(documents_from(value, "doccano"))
    yield "documents_from row", lambda value: list(documents_from([value], "doccano"))
    yield "Span start", lambda value: Span(value, 1)
    yield "Span labels", lambda value: Span(0, 1, value)
    yield "Span features", lambda value: Span(0, 1, "A", value)
    yield "Document id", lambda value: Document(value, {})
    yield "Document layers", lambda value: Document("d", value)
    yield "Document tokens", lambda value: Document("d", {}, tokens=value)
    yield "Document unit", lambda value: Document("d", {}, unit=value)
    yield "Signature.parse", lambda value: Signature.parse(value)


CALLS = dict(special_calls())


TYPICAL = [0.5, "0.95", [["m"]], [("a", 1)]]
"""Values that are of the right type for one argument or another."""

OF_NO_TYPE: list[Any] = [1j, Ellipsis]
"""Values that no argument takes: the error names the argument."""

DATA = {
    *("gold", "predicted", "sources", "others", "files", "file", "path", "source", "rows", "docs"),
    *("document", "documents", "old", "new", "config", "systems", "system", "original", "redacted"),
    *("layers", "train", "any_of"),
}
"""Parameters whose values are data or files, in which an error names a place."""

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


FUNCTIONS = {name: value for name in clueval.__all__ if inspect.isfunction(value := getattr(clueval, name))}

GROUPS = (Reading, Counting, Preparing, Trust, Workers, Masking, Naming)
"""The dataclasses whose fields functions take as options."""


@cache
def valid_arguments(function: str) -> dict[str, Any]:
    """Return valid values of the arguments that the public functions need."""
    document = Document("d", {"label": [Span(0, 1, "A", {"s": 0.5})]}, tokens=["a"])
    own: dict[str, dict[str, Any]] = {
        "agree": {"sources": TAGS, "others": TAGS},
        "check": {"files": "a.conll"},
        "compare": {"gold": TAGS * 2, "a": TAGS * 2, "b": TAGS * 2},
        "convert": {"source": "a.conll", "to": "spans"},
        "curate": {"sources": TAGS, "others": TAGS},
        "diff": {"gold": TAGS, "old": TAGS, "new": TAGS},
        "documents_from": {"rows": [], "format": "doccano"},
        "documents_from_spacy": {"docs": []},
        "error_table": {"problem_spans": [], "own": document, "other": document},
        "faireval": {"config": "a.conll"},
        "load_result": {"path": "a.conll"},
        "match_spans": {"gold": [], "predicted": []},
        "masking": {"gold": [document], "predicted": [document]},
        "merge": {"file": "a.conll"},
        "merge_layers": {"layers": {"a": []}},
        "overlap_components": {"spans": []},
        "read": {"path": "a.conll"},
        "recover": {"original": "a", "redacted": "a"},
        "schema": {},
        "threshold": {"gold": [document], "predicted": [document], "score_feature": "s"},
        "to_rows": {"documents": [], "format": "doccano"},
        "to_spacy": {"document": document, "vocab": spacy.vocab.Vocab()},
    }
    return own.get(function, {"gold": TAGS, "predicted": TAGS})


def called(function: str, arguments: Mapping[str, Any]) -> None:
    """Call a public function, and take all that it yields."""
    parameters = inspect.signature(FUNCTIONS[function]).parameters
    kinds = [each.kind for each in parameters.values()]
    several = inspect.Parameter.VAR_POSITIONAL
    in_order = list(parameters)[: kinds.index(several) + 1] if several in kinds else []
    given = [arguments[name] for name in in_order if name in arguments]
    named = {name: value for name, value in arguments.items() if name not in in_order}
    found = FUNCTIONS[function](*given, **named)
    if isinstance(found, Iterator):
        collections.deque(found, maxlen=0)


def parameters_of(function: str) -> list[str]:
    """Return the names of the parameters of a public function, and of the options that it takes."""
    parameters = inspect.signature(FUNCTIONS[function]).parameters
    names = [name for name, each in parameters.items() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    if len(names) == len(parameters):
        return names
    groups = ["reading", "layers", "gold_set", "predicted_set"]
    for name in dict.fromkeys([*groups, *(name for group in GROUPS for name in field_names(group))]):
        try:
            called(function, {**valid_arguments(function), name: object()})
        except CluevalError as error:
            if "has no option" in str(error):
                continue
        except Exception:  # the test reports it
            pass
        names.append(name)
    return list(dict.fromkeys(names))


@pytest.mark.parametrize("every", [50, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.filterwarnings("ignore")
def test_every_parameter_takes_a_value_or_is_named_in_a_clueval_error(
    function: str, every: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.conll").write_text("x\tB-A\ny\tO\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    wrong_errors: list[tuple[str, object, Exception]] = []
    unnamed: list[tuple[str, object, CluevalError]] = []

    for number, name in enumerate(parameters_of(function)):
        for value in [*[*wrong(), *TYPICAL][number % every :: every], *OF_NO_TYPE]:
            try:
                called(function, {**valid_arguments(function), name: value})
            except CluevalError as error:
                if (
                    any(value is each for each in OF_NO_TYPE)
                    and name.removesuffix("s") not in str(error)
                    and name not in DATA
                ):
                    unnamed.append((name, value, error))
            except Exception as error:
                wrong_errors.append((name, value, error))

    assert not wrong_errors
    assert not unnamed


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
