"""The spans of all annotators as the program pygamma reads them: a CSV for each document.

A line is ``annotator,label,start,end`` without a header; positions are half-open. With several sequences, the label
is that of the sequence and the span, joined by a colon.
"""

from __future__ import annotations

import csv
from pathlib import Path

from clueval.exceptions import FileError
from clueval.studies.annotators.agreement import Agreement
from clueval.studies.annotators.shape import marks_of
from clueval.studies.annotators.study import sequences_of
from clueval.writing import make_folder, whole_file


def write_folder(folder: Path, study: Agreement) -> int:
    """Write a file for each shared document and return their number. Raises `FileError`."""
    make_folder(folder)
    written: set[str] = set()
    annotators = study.study.annotators
    for group in study.study.groups():
        document = next(each for each in group if each is not None)
        stem = "".join(c if c.isalnum() or c in "-_." else "_" for c in document.id).lstrip(".") or "_"
        if stem in written:
            raise FileError(
                f"two documents would have the file name {stem}.csv", file=str(folder), document=document.id
            )
        written.add(stem)
        sequences = sequences_of(group)
        with whole_file(folder / f"{stem}.csv") as file:
            writer = csv.writer(file, lineterminator="\n")
            for name, each in zip(annotators.names, group, strict=False):
                for sequence in sequences if each is not None else ():
                    assert each is not None
                    for start, end, label in sorted(marks_of(each.layers.get(sequence, ()))):
                        shown = f"{sequence}:{label}" if len(sequences) > 1 else label
                        writer.writerow([name, shown, start, end])
    return len(written)
