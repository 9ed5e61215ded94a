"""Two parallel files of flat rows become a bag: rows of a text with plain spans, as in doccano's files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest

from clueval.core.bag import Bag
from clueval.core.case import TOKENS
from clueval.core.count import Plan
from clueval.core.span import DEFAULT_LAYER
from clueval.files.errors import CluevalError
from clueval.formats.flat_rows import ReadRow
from clueval.reading.source import Source
from clueval.second.reading.triples import PlainText, bag_of_texts
from clueval.spans.document import same_id


def bag_of_row_files(gold: Source, predicted: Source, plan: Plan) -> Bag | None:
    """Count two parallel files of rows in one layer.

    The bag is that of `clueval.core.count.count` for their documents. Returns None, and documents must be counted, for
    formats of other rows, for metrics that read features of spans, for a row that is not plain on both sides or has
    another text on the other side, for what `bag_of_texts` leaves to documents, and for every error.
    """
    if plan.reads - {TOKENS}:
        return None
    names = {name for each in (gold, predicted) for name in each.options.layers or (DEFAULT_LAYER,)}
    forms = gold.form, predicted.form
    if len(names) > 1 or any(
        form.ordered or (form.rows is not None and form.rows.tagged is not None) for form in forms
    ):
        return None
    sources = [replace(each, progress=None, passed_over=Counter()) for each in (gold, predicted)]
    own, other = (source.rows() for source in sources)
    if own is None or other is None:
        return None
    of_tokens = gold.form.sentences is not None or gold.form.of_tokens
    nameless = gold.form.nameless or predicted.form.nameless
    unusual: list[bool] = []
    bag = bag_of_texts(
        _texts(own, other, unusual, nameless=nameless),
        plan,
        names.pop(),
        unit="token" if of_tokens else "character",
    )
    if bag is None or unusual:
        return None
    for side, source in zip(plan.sides, sources, strict=True):
        for kind, number in source.passed_over.items():
            bag.read.passed_over[side, kind] += number
    for given in (gold, predicted):
        if given.progress is not None:
            given.progress(given.path.stat().st_size)
    return bag


def _texts(
    gold: Iterator[ReadRow], predicted: Iterator[ReadRow], unusual: list[bool], *, nameless: bool
) -> Iterator[PlainText]:
    """Yield the texts of plain rows, up to the first row that is not plain; then `unusual` has an item."""
    try:
        for own, other in zip_longest(gold, predicted):
            one, two = (None if row is None else row.flat() for row in (own, other))
            if (
                one is None
                or two is None
                or one.text != two.text
                or not (nameless or same_id(own.id, other.id))
            ):
                unusual.append(True)
                return
            yield PlainText(own.id, one.spans, two.spans, len(one.text), own.metadata())
    except CluevalError:
        unusual.append(True)
