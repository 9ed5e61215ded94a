"""Metric `masking`: what was left unmasked, and what was masked without need.

Gold spans say what must go, predicted spans what went. To read the package: `mention`, `exposure`, `counts`,
`figures`; `masked_words` has the text as words and characters.
"""

from __future__ import annotations

from clueval.metrics.masking.metric import Masking

__all__ = ["Masking"]
