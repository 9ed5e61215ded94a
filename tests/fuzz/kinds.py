"""All formats of which the fuzzers make files."""

from __future__ import annotations

from .corpora import FORMATS as PLAIN
from .tools import TOOLS

FORMATS = {**PLAIN, **TOOLS}
