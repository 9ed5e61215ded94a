"""GATE's tagging evaluation: strict and lenient scores, features, thresholds.

It has GATE's words: a *target* is a gold annotation, a *response* is a predicted annotation, and the *type* of an
annotation is the label of a span. Targets and responses are paired one to one. A pair is

* *correct strict*: same start, end and type, and equal features if the setting `features` names some;
* *correct partial*: the two overlap, with equal type and features;
* *incorrect*: the two have the same place or overlap, but their type or a feature differs.

A target without a correct response is *missing*, a response without a correct target is *spurious*; *truly* missing or
spurious, if it is in no incorrect pair either. In the tables, *mismatch* counts the incorrect pairs with the same place
and *wrong* the other incorrect pairs; *missing* and *spurious* count the truly missing and the truly spurious ones.

Strict precision is the share of responses, strict recall the share of targets that are correct strict; lenient scores
count those that are correct partial, too. F1 is their harmonic mean, or F-beta with the setting `beta`. If neither side
has annotations, all rates are 1.

The scores are those of all types together, of each type, their mean over the types (macro) and, with
`score_feature`, those at each threshold. The counts of all types together are not the sums of the types: a response at
the place of a target of another type is incorrect there, and in the scores of one type the two are missing and
spurious.

Where very many annotations lie over one another, in more than 300,000 pairs of a target and a response and more than
ten for each annotation, the document is refused.

`clueval gate` prints more: candidate lists, changes against a reference set, GATE's own table. There each setting is an
option of its own, such as `--features`.

Source: the plugin Evaluation of GATE, the General Architecture for Text Engineering (gateplugin-Evaluation), and the
notes of its authors.
"""

# To read the package: `metric` counts and scores; `annotations` selects the targets and responses of an evaluation,
# `equality` tests whether two are equal, `pairing` lists the pairs that are possible and chooses among them,
# `counts` has the counts, the measures, and the keys that counts are added by, `thresholds` evaluates score
# thresholds, `outcomes` gives the outcome of every annotation and compares with a reference; `candidate_lists` and
# `list_evaluation` evaluate lists of candidates.
from clueval.first.metrics.gate.annotations import CONTAINMENTS, kept_within
from clueval.first.metrics.gate.candidate_lists import (
    CandidateList,
    best_candidates,
    candidate_lists,
    count_lists_by_rank,
    count_lists_by_score,
    lists_curve,
    ranks_curve,
)
from clueval.first.metrics.gate.counts import GateCounts, macro_report
from clueval.first.metrics.gate.equality import COMPARISONS, FeatureTest, TypeSpec, parse_types
from clueval.first.metrics.gate.list_evaluation import (
    MaximumRecall,
    disambiguation,
    disambiguation_curve,
    maximum_recall,
)
from clueval.first.metrics.gate.metric import Gate
from clueval.first.metrics.gate.outcomes import (
    Change,
    Contingency,
    Outcome,
    changes,
    changes_of_targets,
    contingency,
)
from clueval.first.metrics.gate.pairing import PAIRINGS
from clueval.first.metrics.gate.thresholds import (
    CurvePoint,
    average_precision,
    parse_thresholds,
)
from clueval.statistics.distributions import mcnemar_exact

__all__ = [
    "COMPARISONS",
    "CONTAINMENTS",
    "PAIRINGS",
    "CandidateList",
    "Change",
    "Contingency",
    "CurvePoint",
    "FeatureTest",
    "Gate",
    "GateCounts",
    "MaximumRecall",
    "Outcome",
    "TypeSpec",
    "average_precision",
    "best_candidates",
    "candidate_lists",
    "changes",
    "changes_of_targets",
    "contingency",
    "count_lists_by_rank",
    "count_lists_by_score",
    "disambiguation",
    "disambiguation_curve",
    "kept_within",
    "lists_curve",
    "macro_report",
    "maximum_recall",
    "mcnemar_exact",
    "parse_thresholds",
    "parse_types",
    "ranks_curve",
]
