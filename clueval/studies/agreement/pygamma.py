"""Files for the program pygamma: a CSV file for each shared document, with annotator, label, start and end of spans."""

from __future__ import annotations

import csv
from pathlib import Path

from clueval.files.errors import FileError
from clueval.files.writing import make_folder, whole_file
from clueval.studies.agreement.corpus import Annotated
from clueval.studies.agreement.places import marks_in, sequences_in


def write_pygamma(corpus: Annotated, folder: Path) -> int:
    """Write a file for each shared document, and return their number.

    Ends are exclusive; of a span with gaps, the first start and the last end are written. Raises `FileError`.
    """
    make_folder(folder)
    written: set[str] = set()
    number = len(corpus.names)
    for group in corpus.texts():
        present = [
            (name, each)
            for name, each in zip(corpus.names, group.sides[:number], strict=True)
            if each is not None
        ]
        if len(present) < 2:
            continue
        stem = "".join(c if c.isalnum() or c in "-_." else "_" for c in group.first.id).lstrip(".") or "_"
        if stem in written:
            raise FileError(
                f"two documents would have the file name {stem}.csv",
                file=str(folder),
                document=group.first.id,
            )
        written.add(stem)
        layers = sequences_in(group.sides[:number])
        with whole_file(folder / f"{stem}.csv") as file:
            writer = csv.writer(file, lineterminator="\n")
            for name, document in present:
                for layer in layers:
                    for fragments, label in sorted(marks_in(document, layer)):
                        shown = f"{layer}:{label}" if len(layers) > 1 else label
                        writer.writerow([name, shown, fragments[0][0], fragments[-1][1]])
    return len(written)
