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

With `list_type`, candidate lists are evaluated. ``clueval score`` compares with a reference (``--reference-set``) and
writes GATE's own table (``-o FILE.gate.tsv``).

Source: the plugin Evaluation of GATE, the General Architecture for Text Engineering (gateplugin-Evaluation), and the
notes of its authors.
"""

from clueval.metrics.gate.lists import GateLists
from clueval.metrics.gate.metric import Gate, GateWithin

__all__ = ["Gate", "GateLists", "GateWithin"]
