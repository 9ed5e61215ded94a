"""Metric `masking`: what was left unmasked, and what was masked without need.

Gold spans are mentions, which must be masked; predicted spans are masks, whatever their labels. A mention is
*protected* if no letter or digit of it can be read; an entity is protected if all its mentions are. There is the
recall of mentions, entities, words, characters and documents, for each class of risk, and the precision of words. For
the share of documents that leak there is an upper bound (Clopper and Pearson 1934). Entities and classes of risk
follow Pilán et al. 2022, *The Text Anonymization Benchmark*. The page `concept-masking-figures` of the guide has an
example to check by hand.
"""

# To read the package: `mention`, `exposure`, `counts`, `figures`; `masked_words` has the text as words and characters.
# `token_text`, `token_mentions` and `token_counts` are a faster way to the same counts.

from __future__ import annotations

from clueval.metrics.masking.metric import Masking

__all__ = ["Masking"]
