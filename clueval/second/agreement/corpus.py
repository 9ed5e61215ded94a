"""The report of a corpus: its documents, and the agreement in each sequence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clueval.core.bag import Bag
from clueval.files.errors import UsageError
from clueval.second.agreement.metric import Agreement
from clueval.second.agreement.report import ceiling, sequence_report


def report(bag: Bag, metric: Agreement, sequences: Sequence[str]) -> dict[str, Any]:
    """Return the report of a corpus.

    ``documents`` and ``tokens`` are those that two annotators share, ``left_out`` the documents that one has alone,
    ``common`` how many each pair has. With a system, there is a ``ceiling``. Raises `UsageError` if no document is
    shared.
    """
    whole = bag.grouped(lambda place: ())
    k = len(metric.annotators)
    documents = {present: of[()] for present, of in whole.shared.items() if metric.shares(present)}
    shared = sum(documents.values())
    if not shared:
        raise UsageError(
            "no document is shared by two annotators",
            advice="documents are paired by id, files of folders by name; pair_by='content' pairs equal texts",
        )
    common = [
        [sum(n for present, n in documents.items() if present >> i & present >> j & 1) for j in range(k)]
        for i in range(k)
    ]
    of_sequence = {
        sequence: metric.numbers(tally) for _, sequence, _, tally in whole.tallies_of([metric], sequences)
    }
    agreement = {sequence: sequence_report(of) for sequence, of in of_sequence.items()}
    for each in agreement.values():
        each["notes"] += [
            f"{name} shares no document with another annotator"
            for number, name in enumerate(metric.annotators)
            if not common[number][number]
        ]
    found = {
        "annotators": list(metric.annotators),
        "documents": shared,
        "left_out": sum(of[()] for present, of in whole.shared.items() if metric.humans(present) == 1),
        "common": common,
        "tokens": sum(of[()] for present, of in whole.positions.items() if metric.shares(present)),
        "agreement": agreement,
    }
    if metric.system:
        found["ceiling"] = {sequence: ceiling(of, shared) for sequence, of in of_sequence.items()}
    return found
