"""The sides of a corpus, each with a name, and their documents side by side: of files, or in memory.

Gold and predicted, several golds, several systems and several annotators are sides. This is how they are read:

>>> from clueval.formats.options import Reading
>>> sides = sides_of({"gold": [["B-PER", "O"]], "predicted": [["O", "B-PER"]]}, [Reading(), Reading()])
>>> [[document.layers["label"][0].start for document in text] for text in sides.texts()]
[[0, 1]]

`sides_of` settles what each side is and how it is read (layers, columns of tags, options that do not apply), before a
document is read. `texts` yields a tuple for each text with the document of each side, in their order. What was read is
added to a `Read`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clueval.formats.options import Reading
from clueval.reading.options import LayerColumns, require_pair_by
from clueval.reading.paths import is_path_or_paths

if TYPE_CHECKING:
    from clueval.files.opening import Progress
    from clueval.reading.file_sides import FileSides
    from clueval.reading.memory import MemorySides


def sides_of(
    inputs: Mapping[str, Any],
    readings: Sequence[Reading],
    layers: LayerColumns | None = None,
    *,
    pair_by: str | None = None,
    is_one_text: bool = False,
    within: str | None = None,
    progress: Progress | None = None,
) -> FileSides | MemorySides:
    """Return the sides that are given by their names in errors, and how each is read.

    Args:
        inputs: by name, files as `clueval.reading.paths` describes them, or what is in memory
            (`clueval.reading.memory`). All sides are files, or all are in memory. A second side that is None is
            in other columns, or another annotation set, of the files of the first.
        readings: the options of each side; those of the last count for further sides.
        layers: the name and the source of each layer, or the sources of the first side and of the others as a pair.
        pair_by, is_one_text, within, progress: as in `clueval.reading.file_sides.FileSides`.

    Mentions of the second side that have no place are spans.

    No document is read, but the first lines of column files for which no layers are named. Raises `UsageError` for
    sides that do not go together, and for an option that applies to none of their formats; `FileError`.
    """
    require_pair_by(pair_by)
    readings = [readings[min(number, len(readings) - 1)] for number in range(len(inputs))]
    present = [side for side in inputs.values() if side is not None]
    if present and all(map(is_path_or_paths, present)):
        from clueval.reading.file_sides import sides_of_files  # not needed for what is in memory

        return sides_of_files(inputs, readings, layers, pair_by, is_one_text, within, progress)
    from clueval.reading.memory import sides_in_memory  # not needed for files

    return sides_in_memory(inputs, readings, layers, pair_by)
