"""Two parallel files of plain rows become a bag: rows of a text with spans that are a start, an end and a label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from clueval.core.bag import Bag
from clueval.core.case import TOKENS
from clueval.core.count import Plan
from clueval.core.document import Document
from clueval.core.span import DEFAULT_LAYER
from clueval.files.errors import CluevalError
from clueval.formats.dialect import Dialect
from clueval.reading.source import Source
from clueval.reading.triples import bag_of_rows
from clueval.reading.usual import Unusual


def bag_of_row_files(
    sources: Sequence[Source], texts: Iterable[Sequence[Document | None]], plan: Plan
) -> Bag | None:
    """Count two parallel files of rows in one layer, given their documents, which need not be read.

    The bag is that of `clueval.core.count.count`. Returns None, and documents must be counted, for formats of other
    rows, for metrics that read features of spans, for a row that is not plain or has another text on the other side,
    for what `bag_of_rows` leaves to documents, and for every error.
    """
    names = {name for each in sources for name in each.options.layers or (DEFAULT_LAYER,)}
    are_plain = all(
        isinstance(each.form, Dialect) and not (each.form.ordered or each.form.tags) for each in sources
    )
    if not are_plain or len(names) > 1 or plan.reads - {TOKENS}:
        return None
    return bag_of_rows(_same_texts(texts), plan, names.pop())


def _same_texts(texts: Iterable[Sequence[Document | None]]) -> Iterator[Sequence[Document]]:
    """Yield the documents of each text. Raises `Unusual` for different texts, and for an error of reading."""
    try:
        for gold, predicted in texts:
            if gold is None or predicted is None:
                raise Unusual("a document that one side lacks")
            if (gold.id, gold.text, gold.tokens) != (predicted.id, predicted.text, predicted.tokens):
                raise Unusual("different texts")
            yield gold, predicted
    except CluevalError as error:
        raise Unusual("a file cannot be read") from error
