"""What differs in parallel passages, cluster by cluster: the errors of column files without their documents.

Only sentences whose lines differ are parsed. Their tags, those of all sides and layers, become rows, one for each
token; a cluster is a run of rows between two rows that are O in every tag, so no span reaches out of it. Each different
cluster is examined once, as a small document, and what was found there holds wherever the cluster occurs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, starmap

from clueval.clusters.places import Clusters
from clueval.clusters.rows import IrregularRows, ParallelRows, PassageRows
from clueval.findings.choice import Choice, ReasonKey, WrongSpan, wrong_spans
from clueval.findings.table import ErrorRows, Finding, SideName
from clueval.formats.columns.documents import repeated_ids
from clueval.reading.same_text import DocumentIds, require_same_text
from clueval.reading.source import Source
from clueval.second.reading.options import layer_names
from clueval.spans.document import Document
from clueval.tagging.decoder import BadTag
from clueval.tagging.schemes import OUTSIDE


class ClusterErrors:
    """Finds the errors of two column files, passage by passage; `counts` gets the numbers of `findings`."""

    def __init__(
        self, sources: tuple[Source, Source], choice: Choice, counts: Counter[ReasonKey] | None = None
    ) -> None:
        names = layer_names(sources[0].options.layers)
        self._sources, self._counts = sources, counts
        self._on_documents = choice.where.on_documents(names)
        self._choice = replace(choice, where=choice.where.on_layers(names))
        self._clusters = Clusters(sources, self._wrong)

    def _wrong(self, documents: Sequence[Document]) -> Iterator[tuple[int, WrongSpan]]:
        gold, predicted = documents
        for _, each in wrong_spans(gold, predicted, self._choice, self._counts is not None):
            yield each.span.start, each

    def findings(self, rows: ParallelRows) -> Iterator[Iterator[Finding]]:
        """Return the errors of each passage, one by one. Raises `IrregularRows` for tags that cannot be read."""
        found = [
            (part, of_part)
            for part, of_part in self._clusters.found(rows)
            if of_part
            and self._on_documents.lets_through(part.passages[0].document, part.passages[0].metadata)
        ]
        if self._counts is not None:
            self._counts.update(
                key for _, of_part in found for _, wrong in of_part for each in wrong for key in each.counted
            )
        return starmap(self._of_passage, found)

    def _of_passage(
        self, part: PassageRows, found: Iterable[tuple[int, Sequence[WrongSpan]]]
    ) -> Iterator[Finding]:
        own, other = part.documents(self._sources)
        tables: dict[SideName, tuple[ErrorRows, int]] = {
            "gold": (ErrorRows(own, other, "gold", None), 0),
            "predicted": (ErrorRows(other, own, "predicted", None), 1),
        }
        return (
            rows.row(each.span, each.sequence, each.judged, by, part.line_of(side, each.span.start + by))
            for by, wrong in found
            for each in wrong
            if each.is_listed
            for rows, side in (tables[each.side],)
        )


class LineCheck:
    """Checks the columns, the tags and the token ids of column files. Holds their different tags, and the ids of
    a document.

    Raises `TextMismatch`, and `IrregularRows` for what else is wrong.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        names = layer_names(sources[0].options.layers)
        self._sources = sources
        self._decoders = [
            {name: source.options.decoder(str(source.path)) for name in names} for source in sources
        ]
        self._tags: list[dict[str, set[str]]] = [{name: set() for name in names} for _ in sources]
        self._ids = DocumentIds(sources[0])

    def see(self, rows: ParallelRows) -> None:
        """Check rows, those of one passage of each side if they have token ids."""
        same = rows.same
        if not rows.have_one_text():
            for part in rows.parts:
                for error in chain.from_iterable(repeated_ids([passage]) for passage in part.passages):
                    raise error
                gold, *others = part.documents(self._sources)
                for other in others:
                    require_same_text(gold, other)
        for side, column in enumerate(rows.columns):
            for tags in (same.tags, column.tags):
                for layer, of_layer in tags.items():
                    self._see_tags(side, layer, set(of_layer))
        ids = same.token_ids + next((each.token_ids for each in rows.columns if each.token_ids), [])
        for part in rows.parts:
            self._ids.see(part.passages[0], ids)

    def _see_tags(self, side: int, layer: str, tags: set[str]) -> None:
        new = tags - self._tags[side][layer]
        if new:
            try:
                self._decoders[side][layer].accept(list(new), Counter((OUTSIDE, tag) for tag in new))
            except BadTag as error:
                raise IrregularRows(error.problem) from error
            self._tags[side][layer] |= new

    def end(self) -> None:
        """Raise `TagError` for tags of two schemes in a file."""
        for decoders in self._decoders:
            for decoder in decoders.values():
                decoder.scheme()
