"""The documents to review: rows by hand, their order, where they are shown, and that they add up to the figures."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import clueval
from clueval import Document, MaskingReport, Span

# Who leaks in "anna bert carl dora", by document: (word, entity, class), and the words that are masked.
WORDS = ["anna", "bert", "carl", "dora"]
Mentions = list[tuple[int, str, str]]


def report(documents: dict[str, tuple[Mentions, list[int]]], **settings: str) -> MaskingReport:
    gold, predicted = [], []
    for name, (mentions, masked) in documents.items():
        spans = [
            Span(word, word + 1, "PER", {"entity_id": entity, "identifier_type": kind})
            for word, entity, kind in mentions
        ]
        gold.append(Document(name, {"name": spans}, tokens=WORDS))
        predicted.append(Document(name, {"name": [Span(n, n + 1, "X") for n in masked]}, tokens=WORDS))
    return clueval.masking(gold, predicted, **settings)


CASES: dict[str, tuple[Mentions, list[int]]] = {
    "safe": ([(0, "a", "high")], [0]),
    "medium": ([(0, "a", "medium"), (1, "b", "medium")], []),
    "one high": ([(0, "a", "high")], []),
    "high and low": ([(0, "a", "high"), (1, "b", "low"), (2, "a", "high")], [2]),
    "two high": ([(0, "a", "high"), (1, "a", "high"), (2, "a", "high")], [2]),
}


def test_documents_to_review_are_those_by_hand() -> None:
    assert [one.cells() for one in report(CASES).documents_to_review] == [
        ["two high", "high", 2, "high 2", 2, 1],
        ["high and low", "high", 2, "high 1, low 1", 2, 1],
        ["one high", "high", 1, "high 1", 1, 0],
        ["medium", "medium", 2, "medium 2", 2, 0],
    ]


def test_documents_to_review_follow_the_order_of_classes() -> None:
    found = report(CASES, risk_order="medium,low,high").documents_to_review

    assert [one.document for one in found] == ["medium", "high and low", "two high", "one high"]


def test_documents_to_review_are_in_all_forms_for_readers() -> None:
    found = report(CASES)

    text = found.render("text", all=True).partition("documents to review, riskiest first\n")[2].splitlines()
    assert [line.split() for line in text[2:4]] == [
        ["two", "high", "high", "2", "high", "2", "2", "1"],
        ["high", "and", "low", "high", "2", "high", "1,", "low", "1", "2", "1"],
    ]
    assert "documents to review, riskiest first" in found.render("markdown")
    assert "to review" not in report({"safe": CASES["safe"]}).render("text", all=True)


def test_documents_to_review_beyond_the_first_twenty_are_in_the_table(tmp_path: Path) -> None:
    found = report({f'"{number:02}': CASES["one high"] for number in range(21)})

    (table,) = [table for table in found.tables() if table.title.startswith("documents to review")]
    assert (table.title, len(table.rows)) == ("documents to review, riskiest first: 20 of 21", 20)

    found.write_documents(tmp_path / "d.tsv")

    lines = (tmp_path / "d.tsv").read_text("utf-8").splitlines()
    assert len(lines) == 22
    assert lines[-1] == '"""20"\thigh\t1\thigh 1\t1\t0'


def test_documents_to_review_list_their_leaks_on_the_page(tmp_path: Path) -> None:
    report({"<i>": CASES["one high"]}).showing(text=False).write(tmp_path / "r.html")

    page = (tmp_path / "r.html").read_text("utf-8")
    assert "documents to review, riskiest first" in page
    assert '{&quot;document&quot;:&quot;\\u003ci\\u003e&quot;}">&lt;i&gt;</button>' in page


@given(
    st.dictionaries(
        st.sampled_from(["1", "2", "3"]),
        st.tuples(
            st.lists(
                st.tuples(
                    st.integers(0, 3), st.sampled_from(["a", "b"]), st.sampled_from(["high", "low", "x"])
                ),
                unique=True,
            ),
            st.lists(st.integers(0, 3), unique=True),
        ),
        min_size=1,
    )
)
def test_documents_to_review_add_up_to_the_figures(documents: dict[str, tuple[Mentions, list[int]]]) -> None:
    found = report(documents)
    row = found.reports["name"]["classes"]["all"]
    reviewed = found.documents_to_review

    assert len(reviewed) == row["documents_exposed"]
    assert sum(one.words_exposed for one in reviewed) == row["words_exposed"]
    assert sum(one.entities_masked_elsewhere for one in reviewed) == row["entities_in_part"]
    assert sum(number for one in reviewed for _, number in one.leaks) == len(found.leaks)
