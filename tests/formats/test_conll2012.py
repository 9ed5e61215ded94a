"""CoNLL-2012: brackets in rows whose width changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from contents import spans
from corpora import write

from clueval import read, score
from clueval.files.errors import FormatError, UsageError

GOLD = Path(__file__).parents[2] / "clueval" / "samples" / "formats" / "conll2012" / "gold.gold_conll"


def lines(*entities: str, head: str = "#begin document (d); part 003\n") -> str:
    return head + "".join(
        f"d 3 {number} w{number} NN * - - - - {entity} -\n" for number, entity in enumerate(entities)
    )


def test_sample_by_hand() -> None:
    first, second = read(GOLD)

    assert (first.id, second.id, second.start) == ("bc/x/00/x_0000#0", "bc/x/00/x_0000#3", 12)
    assert spans(first) == [(1, 4, "ORG"), (1, 3, "GPE"), (6, 7, "PERSON"), (8, 9, "GPE"), (10, 11, "GPE")]
    assert first.tokens is not None
    assert first.tokens[9] == "-LRB-"
    assert [(each.start, each.end) for each in first.sentences] == [(0, 6), (6, 12)]
    assert spans(second) == []
    assert score(GOLD, GOLD, metrics="muc").metrics["muc"]["label"]["strict"]["correct"] == 5


def test_sources_are_names_and_columns() -> None:
    first, _ = read(GOLD, {"tree": "parse", "same": 6, "entity": 11})

    assert spans(first, "tree") == spans(first, "same")
    assert (0, 4, "NP") in spans(first, "tree")
    with pytest.raises(UsageError, match=r"no source 'coref' for layer 'x' .*parse, entity"):
        list(read(GOLD, {"x": "coref"}))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (lines("(A*", "*"), r"a:2, document 'd#3': the bracket \(A is not closed"),
        (lines("(A*", "*))"), r"a:3, document 'd#3': '\*\)\)' closes a bracket that is not open"),
        (lines("A*"), r"a:2, document 'd#3': 'A\*' is not a bracket"),
        (lines("*", head=""), "a:1: a token outside documents"),
        (lines("*") + "d 3 2 w\n", "a:3, document 'd#3': the line has 4 columns, no column 11"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, content: str, says: str) -> None:
    with pytest.raises(FormatError, match=says):
        list(read(write(tmp_path / "a", content), input="conll2012"))


def test_deep_nesting_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "a", lines("(A" * 5000 + "*", "*" + ")" * 5000))

    (document,) = read(path)

    assert spans(document) == [(0, 2, "A")] * 5000
