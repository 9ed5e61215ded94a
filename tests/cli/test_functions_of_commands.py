"""Every command that reads files is a function of the same name."""

from __future__ import annotations

import clueval
from clueval.cli.commands import COMMANDS

WITHOUT_FILES = {"completion", "formats", "guide", "help", "metrics", "samples"}


def test_every_command_that_reads_files_is_a_function() -> None:
    assert {name for name in COMMANDS if not callable(getattr(clueval, name, None))} == WITHOUT_FILES
