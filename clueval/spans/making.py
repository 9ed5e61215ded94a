"""Making many spans, or objects that hold spans, without the cyclic garbage collector."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_MANY = 50_000


@contextmanager
def making_many(number: int) -> Iterator[None]:
    """Pause the cyclic garbage collector while `number` spans, or objects that hold spans, are created.

    The collector visits all objects each time their number has grown by a quarter. This takes two thirds of
    the time of creating a million matches and finds nothing, because these values cannot be part of a cycle.
    Below `_MANY` objects a pause saves no time, and the collector keeps running. On exit, also by an
    exception, the collector is enabled again if it was enabled before.

    >>> with making_many(2):
    ...     spans = [object(), object()]
    """
    pause = number >= _MANY and gc.isenabled()
    if pause:
        gc.disable()
    try:
        yield
    finally:
        if pause:
            gc.enable()
