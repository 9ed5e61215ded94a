"""The leaks of a masking report as tab-separated values, for a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from clueval.reports.tsv import guarded
from clueval.writing import whole_file

if TYPE_CHECKING:
    from clueval.studies.masking.found import MaskingFindings

COLUMNS = (
    *(
        "document",
        "annotator",
        "start",
        "end_exclusive",
        "class",
        "status",
        "exposed",
        "mentions",
        "protected",
    ),
    *("same_words", "same_words_protected"),
)


def write(path: Path, report: MaskingFindings, *, text: bool) -> None:
    """Write the table, whole or not at all. Raises `FileError`."""
    with whole_file(path) as file:
        file.writelines(f"{line}\n" for line in lines(report, text=text))


def lines(report: MaskingFindings, *, text: bool) -> Iterator[str]:
    """Yield the header and a line for each leak, then for each string leak; without `text`, positions only."""
    yield "\t".join([*COLUMNS, *(("label", "text") if text else ())])
    for leak in report.leaks:
        values = leak.to_dict()
        values["end_exclusive"] = values["end"]
        values["exposed"] = " ".join(f"{start}-{end}" for start, end in leak.exposed)
        cells = [guarded(str(values[name])) for name in COLUMNS]
        yield "\t".join([*cells, *((guarded(leak.label), guarded(leak.text)) if text else ())])
    for one in report.string_leaks:
        place = [one.document, "", str(one.start), str(one.end), "", "string"]
        cells = [guarded(value) for value in place] + [""] * (len(COLUMNS) - len(place))
        yield "\t".join([*cells, *(("", guarded(one.text)) if text else ())])
