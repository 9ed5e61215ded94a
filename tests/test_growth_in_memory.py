"""Functions on values in memory do no more than their input and output grow, whatever the shape of the values.

Lines of Python that run are counted as in `test_growth`.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise

import pytest
from memory_shapes import JOBS
from ran_lines import LIMIT, Lines

from clueval.exceptions import LimitError

SIZE = 50


def require_linear(job: str) -> None:
    """Fail if lines grow faster than the input, whose size is doubled, and the output."""
    with suppress(LimitError):
        JOBS[job](SIZE)()  # imports, and what is computed only once
    found = []
    for n in range(3):
        work = JOBS[job](SIZE << n)
        output: object = None
        with Lines() as lines, suppress(LimitError):
            output = work()
        found.append((lines.number, len(str(output))))
    added = [[later - one for one, later in zip(*two, strict=True)] for two in pairwise(found)]
    lines_grow, output_grows = (after / max(before, 1) for before, after in zip(*added, strict=True))

    assert lines_grow <= LIMIT * max(2, output_grows) or added[1][0] < 20 * SIZE, found


@pytest.mark.long
@pytest.mark.usefixtures("small_limits")
@pytest.mark.filterwarnings("ignore::clueval.CluevalWarning")
@pytest.mark.parametrize("job", JOBS)
def test_lines_that_run_in_memory_grow_no_faster_than_input_and_output(job: str) -> None:
    require_linear(job)
