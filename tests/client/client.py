"""A small program that uses clueval, for type checkers: mypy and pyright accept every line, and know the types."""

from __future__ import annotations

from typing import assert_type

import clueval
from clueval import CluevalError, Document, Match, Result, Signature, Span, match_spans, score


def compare(gold: str, predicted: str) -> Result:
    """Score two files with options of each group."""
    return score(
        gold,
        predicted,
        metrics=["levels", "exact"],
        layers={"entity": 2},
        token_id=4,
        by="domain",
        jobs=1,
    )


def numbers(result: Result) -> list[float]:
    """Return numbers of a result that are defined."""
    assert_type(result.f1, float | None)
    found = [result.get("micro.f1"), result.precision, result.recall]
    found += [row["f1"] for row in result.rows() if row["label"] is None]
    found += [row["number"] for row in result.rows(long=True)]
    return [number for number in found if number is not None]


def cite(result: Result) -> str:
    """Return a number with its signature."""
    assert_type(result.signature, Signature)
    again = Signature.parse(result.signature.short)
    return f"{result['micro.f1']} {again} {result.render('latex', all=True)}"


def match(gold: list[Span], predicted: list[Span]) -> list[str]:
    """Return the classes of gold spans."""
    found = match_spans(gold, predicted)
    assert_type(found, list[Match])
    return [str(each.kind) for each in found]


def wrong(gold: Document, predicted: Document) -> list[tuple[str, int]]:
    """Return the side and the first position of each error."""
    return [
        (finding.side, finding.start)
        for place in clueval.errors([gold], [predicted])
        for finding in place.findings
    ]


def main() -> None:
    """Use it all."""
    document = Document("d", {"label": [Span(0, 2, "PER")]})
    try:
        result = score([document], [document], metrics="exact") + score(
            [document], [document], metrics="exact"
        )
    except CluevalError as error:
        print(error.problem, error.advice)
        return
    print(numbers(result), cite(result), match([Span(0, 1, "A")], []), clueval.__version__)
    print(
        wrong(document, document),
        clueval.schema("score")["title"],
        clueval.conventions([document], [document]),
    )


if __name__ == "__main__":
    main()
