"""``clueval conventions``: the same data under every convention at once."""

from __future__ import annotations

from clueval.cli import options as common
from clueval.cli.declared import REPORT, declared, fields, preparing, put_saying, reading
from clueval.results.options import Counting
from clueval.studies.conventions import conventions

CONVENTIONS_COMMAND = declared(
    conventions,
    "GOLD PREDICTED",
    """\
Score predicted spans against gold under every usual convention: conlleval, seqeval (default and strict),
CLUEval's levels, MUC, FairEval, loio, GATE. The table has a row for each, with its rule for correct spans.

GOLD and PREDICTED are files or folders, as for clueval score; with GOLD alone, the file has both sides.""",
    """\
examples:
  clueval conventions gold.conll predicted.conll
  clueval conventions gold.vrt predicted.vrt --layer entity=2 --layer risk=3 --format markdown
  clueval conventions both.conll -o conventions.html""",
    [
        REPORT,
        preparing(),
        reading(),
        fields(Counting, "reading", ["pair_by"]),
    ],
    put=put_saying(common.say_what_was_read),
)
