"""GATE's indicators: copies of the predicted files that show the outcome of each annotation.

A copy has further annotation sets: ``clueval_Res`` has the outcome of the response, ``clueval_Ref`` that of a
reference, ``clueval_Diff`` the changes (`clueval.metrics.gate.outcomes`). Everything else in a file is unchanged, and
no file is overwritten. In contrast to GATE, indicators do not change the annotations that they are made from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from clueval.core.document import Document
from clueval.core.span import Span
from clueval.files.errors import FileError, UsageError
from clueval.files.limits import Limits
from clueval.files.opening import beginning_of
from clueval.files.writing import whole_file
from clueval.formats.gate_xml import write_gate_xml
from clueval.formats.input_file import Head, InputFile
from clueval.formats.recognition import begins_with
from clueval.metrics.gate import Gate, GateLists
from clueval.metrics.gate.outcomes import changes, outcome_of
from clueval.results.pairs import Pairs

PREFIX = "clueval"
"""What the names of the annotation sets begin with."""

_ANY_SIZE = 1 << 62


def write_indicators(folder: Path, metric: Gate, after: Pairs, before: Pairs | None = None) -> int:
    """Write a copy of the file of each predicted document into a folder; return their number.

    `before` are the pairs with a reference. Raises `UsageError` for files of another format than GATE's XML, for a set
    that a file has, and for candidate lists; `FileError` for a file that already exists or cannot be written.
    """
    if isinstance(metric, GateLists):
        raise UsageError("indicators are not written for candidate lists", advice="leave one out")
    written: set[Path] = set()
    older = iter(() if before is None else before)
    for pair in after:
        old = next(older, None)
        for sequence in after.layers_of(pair)[:1]:
            response = outcome_of(metric, pair, sequence)
            added: dict[str, Sequence[Span]] = {f"{PREFIX}_Res": response.indicators()}
            if old is not None:
                reference = outcome_of(metric, old, sequence)
                found = changes(reference, response, metric.features)
                added[f"{PREFIX}_Ref"] = reference.indicators()
                added[f"{PREFIX}_Diff"] = [change.annotation() for change in found]
            written.add(_write(folder, pair.predicted, added))
    return len(written)


def _write(folder: Path, document: Document, added: Mapping[str, Sequence[Span]]) -> Path:
    if document.file is None:
        raise UsageError(
            "indicators are added to files, and this document is not from a file",
            document=document.id,
            advice="give predicted as files",
        )
    path = Path(document.file)
    file = InputFile(path, Limits(max_line=_ANY_SIZE))  # it has been read before
    if not begins_with("<GateDocument")(Head(path.name, beginning_of(path), lambda: None)):
        raise UsageError(
            "indicators are written into GATE's XML only", file=document.file, advice="save it as XML in GATE"
        )
    text = write_gate_xml(file.data(), added, file=file.name)
    # the id of a document in a folder is its relative path without ending; of two single files it is not
    relative = Path(document.id).parent / path.name
    inside = path.parts[-len(relative.parts) :] == relative.parts and ".." not in relative.parts
    target = folder / (relative if inside and not relative.is_absolute() else path.name)
    if target.exists():
        raise FileError(
            "already exists and cannot be overwritten", file=str(target), advice="name another folder"
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # ValueError: not a possible name for a folder
        reason = getattr(error, "strerror", None) or "check its name"
        raise FileError(f"the folder cannot be made: {reason}", file=str(target.parent)) from error
    with whole_file(target) as output:
        output.write(text)
    return target
