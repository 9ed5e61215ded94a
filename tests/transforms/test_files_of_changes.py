"""Whatever is in a file that changes spans, the outcome is a result or an error of one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clueval import score
from clueval.exceptions import CluevalError

PIECES = st.sampled_from(
    [
        *(
            "A",
            "B",
            "*",
            "\t",
            "\n",
            " ",
            "  ",
            "{",
            "}",
            '"A"',
            ":",
            ",",
            "[entities]",
            "#",
            "\r\n",
            "\ufeff",
            "\0",
        ),
        *("document", "start", "end", "end_inclusive", "label", "of_start", "of_end", "fragments", "x"),
        *("0", "1", "-1", "0-1;3-4", "99999999999999999999", "d", "ß", "\ud800", "."),
    ]
)
CONTENT = st.lists(PIECES, max_size=30).map("".join).map(lambda text: text.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("option", ["label_map", "gold_map", "hierarchy", "alternatives"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=CONTENT | st.binary(max_size=40))
def test_files_of_changes_give_a_result_or_an_error_of_one_line(
    option: str, content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    options: dict[str, Any] = {option: path}
    if option == "hierarchy":
        options["by_depth"] = True
    gold = [[(0, 2, "A"), (3, 5, "B")]]

    assert outcome(gold, options) == 1


def outcome(gold: Any, options: dict[str, Any]) -> int:
    """The number of documents of the result, or of lines of the error."""
    try:
        return score(gold, [[(0, 2, "A")]], metrics="exact", **options).documents
    except CluevalError as error:
        return len(str(error).splitlines())
