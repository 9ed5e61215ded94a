"""``--signature`` and ``score(signature=...)``: a printed signature gives the same numbers and the same signature."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import at_most

from clueval import CluevalWarning, Signature, UsageError, score
from clueval.cli import main

SAMPLES = Path(__file__).parents[2] / "clueval" / "samples" / "german"
FILES = [str(SAMPLES / f"{side}.vrt") for side in ("gold", "predicted")]
LAYERS = ["--layer", "entity=2", "--layer", "risk=3"]


def of_option(flag: str, *values: str) -> st.SearchStrategy[list[str]]:
    return st.sampled_from([[], *([flag, value] for value in values)])


OPTIONS = st.tuples(
    of_option("--metric", "levels,exact", "partial(factor=0.25)", "fair(focus=system)", "muc,coverage"),
    of_option("--where", "risk=high", "domain=Mietrecht"),
    of_option("--unit", "character", "token"),
    of_option("--scheme", "BIO"),
    of_option("--invalid", "discard", "conlleval"),
    of_option("--pair-by", "id"),
    st.sampled_from([[], ["--merge"], ["--untyped"]]),
).map(lambda parts: [word for part in parts for word in part])


def printed(*options: str) -> str:
    """Return what is printed; nothing if options are refused, such as a filter on a layer with --merge."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        code = main(["score", *FILES, *LAYERS, *options])
    assert code in (0, 2)
    return out.getvalue()


@at_most(40)
@given(OPTIONS, st.sampled_from(["in full", "in short", "without quotes", "as text shows it"]))
def test_a_printed_signature_gives_the_same_numbers(options: list[str], form: str) -> None:
    first = printed(*options, "--format", "json")
    if first:
        signature = json.loads(first)["signature"]
        if form == "in short":
            signature = Signature.parse(signature).short
        if form == "without quotes":
            signature = signature.replace("'", "")
        if form == "as text shows it":
            text = printed(*options)
            signature = text[text.index("signature: ") :]

        assert printed("--signature", signature, "--format", "json") == first


@pytest.mark.parametrize(
    ("signature", "options", "message"),
    [
        ("m:exact|u:character|s:BIO", ["--unit", "token"], "--unit is not as the signature says"),
        ("m:exact|s:BIO", ["--metric", "levels"], "--metric is not as the signature says"),
        ("m:exact|s:BIO", ["--unit", "character"], "signature says: unit:token, not unit:character"),
        ("m:exact|s:BIO:BIOES", [], "signature says: scheme:BIO:BIOES, not scheme:BIO"),
        ("m:exact|s:BIO|labels:map(x)", [], "labels:map(x), not labels:nothing"),
        ("m:exact|s:BIO|n:1|v:0.0.1", [], "counts scores:2 (score with clueval 0.0.1)"),
        ("exact", [], "'exact' is not a part of a signature"),
    ],
)
def test_what_contradicts_a_signature_is_named(
    signature: str, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["score", *FILES, "--layer", "entity=2", "--signature", signature, *options])

    assert (code, message in capsys.readouterr().err) == (2, True)


def test_options_that_a_signature_cannot_name_are_given_besides() -> None:
    options: dict[str, Any] = {"layers": {"entity": 2}, "label_map": "PER=Person"}
    with pytest.warns(CluevalWarning):
        first = score(*FILES, **options, metrics="exact")
    with pytest.warns(CluevalWarning):
        again = score(*FILES, **options, signature=first.signature)

    assert (again.signature, again.metrics) == (first.signature, first.metrics)


def test_another_version_that_counts_the_same_is_a_warning() -> None:
    tags = [["B-PER", "O"]]
    with pytest.warns(CluevalWarning, match=r"the signature is of clueval 0\.0\.1"):
        assert score(tags, tags, signature="m:exact|s:BIO|n:2|v:0.0.1").f1 == 1


def test_a_signature_in_python_refuses_other_metrics() -> None:
    with pytest.raises(UsageError, match=r"metrics=... is not as the signature says"):
        score([["O"]], [["O"]], signature="m:exact", metrics="muc")
