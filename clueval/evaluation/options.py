"""The options of an evaluation, in groups: what is counted, and by how many processes.

Every function that scores files takes the groups, or their fields by their own names (see `keywords`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from clueval.exceptions import UsageError
from clueval.options import field_names, option, refuse_unknown, whole, with_fields
from clueval.reading.options import SETS, Reading, Readings, readings_of
from clueval.reading.pairing import PAIR_BY, require_pair_by
from clueval.textfiles import Progress

if TYPE_CHECKING:
    from concurrent.futures import Executor

UNITS = ("token", "character")


def _processes(text: str) -> int | None:
    """A number of processes; None for ``auto``."""
    try:
        return None if text == "auto" else whole(text)
    except ValueError:
        raise ValueError(f"{text!r} is neither auto nor a number from 1") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Counting:
    """What is counted, and which documents belong together.

    Attributes:
        merge: merge all layers into one sequence, `merged`, and score that.
        where: conditions ``KEY=VALUE`` on layers or metadata; `clueval.spans.filters` says what is counted.
        by: metadata, or ``document``, to break the scores down by.
        unit: ``character`` to count the positions of tokens in characters, token texts joined by blanks.
        align: True if the two sides' texts differ and predicted spans are to be projected onto the gold text
            (needs rapidfuzz, extra ``align``); a number is the greatest product of the lengths of two texts.
            The metric ``noisy`` compares different texts without it.
        pair_by: ``id``, ``name`` or ``content``: documents of the two sides go together by the id that the
            document has, by the name of its file but for its ending, or by its text, in any order. None:
            files by relative name, documents in order.

    Raises `UsageError` for values that mean nothing.
    """

    merge: bool = field(
        default=False,
        metadata=option("--merge", None, "merge all layers into one sequence of spans and score that"),
    )
    where: Iterable[str] | Mapping[str, Any] = field(
        default=(),
        metadata=option(
            "--where",
            "KEY=VALUE",
            "count only spans with this label in layer KEY, or documents with this metadata; the same KEY again: "
            "either value; several KEYs: all must hold",
            repeated=True,
        ),
    )
    by: str | Iterable[str] = field(
        default=(),
        metadata=option(
            "--by",
            "KEY",
            "print scores for each value of this metadata, too, or for each document (--by document)",
            repeated=True,
        ),
    )
    unit: str | None = field(
        default=None,
        metadata=option(
            "--unit",
            "UNIT",
            "what a position is: token or character; with character, tokens are joined by blanks and counted in "
            "characters, so that adjacent tokens do not touch and spans do not tile",
            topic="counting",
            choices=UNITS,
            default="that of the files",
        ),
    )
    align: bool | int = field(
        default=False,
        metadata=option(
            "--align",
            None,
            "the texts of the two sides differ: project predicted spans onto the gold text (extra: align)",
            topic="counting",
        ),
    )
    pair_by: str | None = field(
        default=None,
        metadata=option(
            "--pair-by",
            "WHAT",
            "pair documents, in any order, by their id, by name (the name of the file without its ending) or by "
            "content (their text)",
            topic="counting",
            choices=PAIR_BY,
            default="files by relative name, documents in order",
        ),
    )

    def __post_init__(self) -> None:
        if self.unit not in (None, *UNITS):
            raise UsageError(f"unknown unit {self.unit!r}", advice=" or ".join(UNITS))
        require_pair_by(self.pair_by)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workers:
    """By how many processes files are counted, and who is told.

    Attributes:
        jobs: how many processes count files; None: as many as there are cores, if there is enough to count.
        executor: what counts files instead: anything with the `submit` of `concurrent.futures.Executor`,
            whose workers find the files under the same paths. It is sent paths and ranges of bytes and sends
            back counts. `jobs` is then how many tasks it carries out at a time, if more than 1; four times as
            many are in flight, or 64.
        progress: is called with the number of bytes read, again and again.
        remark: is called with a message about the number of processes.
    """

    jobs: int | None = field(
        default=1,
        metadata=option(
            "--jobs",
            "N",
            "count in N processes, or auto: one for each core if there is enough to count",
            parse=_processes,
            default="auto",
        ),
    )
    executor: Executor | None = None
    progress: Progress | None = None
    remark: Callable[[str], object] | None = None


class Groups(NamedTuple):
    """The groups of options, with one `Reading` for each side."""

    readings: tuple[Reading, ...]
    counting: Counting
    workers: Workers


def groups_of(
    reading: Readings, counting: Counting, workers: Workers, options: Mapping[str, Any], caller: str
) -> Groups:
    """The groups with the options that were given one by one; `caller` is the function that errors name.

    Raises `UsageError` for an option that does not exist.
    """
    known = [name for group in (Reading, Counting, Workers) for name in field_names(group)]
    refuse_unknown(options, [*known, *SETS], caller)
    return Groups(
        readings_of(reading, options), with_fields(counting, options), with_fields(workers, options)
    )
