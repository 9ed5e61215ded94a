"""Agreement of annotators, as tallies on cases of several sides.

Each annotator is a side of a case; a system that is compared with them is one more, the last. Only documents that two
annotators have count. What is not defined is None, never 0, 1 or NaN, and enters no mean. The formulas and their
sources are in `clueval.statistics.agreement`.
"""

# To read the package: `readings` says what annotators have marked in a case and in what they differ, `conventions`
# how F1 is counted, `metric` counts a case (with `items`), `report` divides the sums, `corpus` makes the report
# of a bag, `intervals` says how sure its numbers are.
from clueval.second.agreement.conventions import CONVENTIONS, Convention, Counting, chosen_conventions
from clueval.second.agreement.corpus import report
from clueval.second.agreement.intervals import intervals
from clueval.second.agreement.metric import Agreement
from clueval.second.agreement.readings import kind_of, readings_of, votes_of
from clueval.second.agreement.report import Numbers, ceiling, numbers

__all__ = [
    "CONVENTIONS",
    "Agreement",
    "Convention",
    "Counting",
    "Numbers",
    "ceiling",
    "chosen_conventions",
    "intervals",
    "kind_of",
    "numbers",
    "readings_of",
    "report",
    "votes_of",
]
