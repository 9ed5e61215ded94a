"""Metric `masking`: what was left unmasked, and what was masked without need.

Gold spans are mentions, which must be masked; predicted spans are masks, whatever their labels. A mention is
*protected* if none of its letters and digits can be read. The rates are shares:

==================  ====================================================================
mention recall      mentions that are protected
entity recall       entities (persons, things) whose mentions are all protected
word recall         words of mentions that are masked as a whole
character recall    letters and digits of mentions that are masked
document recall     documents in which all mentions are protected
word precision      masked words that belong to a mention
masked share        letters and digits of the texts that are masked
retention           letters and digits outside of mentions that can still be read
==================  ====================================================================

The recalls are those of all mentions and of each class of risk; mentions, words and characters also of each label.
*Document leak upper* is an upper bound of the share of documents that leak (Clopper and Pearson 1934). A rate of 0/0
is undefined. The counts of all documents are added before any rate is divided.

`clueval masking` prints the report with each leak. There each setting is an option of its own, such as
`--risk-layer`. The page `concept-masking-figures` of the guide has an example to check by hand.

Source: clueval's own definition; entities and classes of risk follow Pilán et al. 2022, The Text Anonymization
Benchmark (TAB), Computational Linguistics 48 (4).
"""

# To read the package: `text` (positions and words), `mention`, `exposure`, `counts` (and the report), `metric`.

from __future__ import annotations

from clueval.metrics.masking.metric import Masking

__all__ = ["Masking"]
