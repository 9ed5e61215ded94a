"""The commands, and the help with all of them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from clueval.cli.command import Command
from clueval.files.errors import UsageError

_UNDER = {
    "score": {
        "score": "score predicted spans against gold",
        "conventions": "score under every convention at once: which F1 is this?",
        "compare": "compare systems: intervals, paired tests, what the test set can show",
        "threshold": "choose a threshold for the scores of predicted spans",
        "faireval": "run a FairEval config file",
        "metrics": "list the metrics, or describe one: definition and settings",
    },
    "look at errors": {
        "errors": "show the errors in their sentences: terminal, spreadsheet, web page",
        "diff": "compare the errors of two runs: new, fixed and changed ones",
        "profile": "show which spans go wrong: by length, casing, place, training data",
    },
    "people": {
        "agree": "compare annotators with each other, or a system with them",
        "curate": "make one gold out of the spans of many annotators",
    },
    "privacy": {
        "masking": "report what was left unmasked: leaks, risk classes, a page to sign",
    },
    "files": {
        "check": "list all problems of files",
        "convert": "convert spans into another format",
        "merge": "merge several layers into one sequence of spans",
        "formats": "list the formats, or describe one",
        "samples": "write sample files: two corpora, and a file of each of many formats",
    },
}
"""The description of each command, by what it is for."""

COMMANDS = {
    **{name: text for under in _UNDER.values() for name, text in under.items()},
    "guide": "show a page of the guide: how to score, what each number means",
    "help": "show the help of a command, or of one topic of it",
    "completion": "print the script for the completion of a shell",
}
"""The description of each command; its module is imported when it is called."""

_READING = "--layer --input --token-id --format --all -o"

_FIRST = {
    "score": f"--metric --merge --where --by --intervals {_READING}",
    "compare": f"--metric --baseline --score --all-pairs --where {_READING}",
    "threshold": f"--score-feature --metric --maximise --per-label {_READING}",
    "errors": f"--metric --side --reason --where --limit {_READING}",
    "diff": f"--side --level --labelled --where --fail-on-new {_READING}",
    "profile": f"--metric --feature --train --buckets --where {_READING}",
    "agree": f"--annotator --system --where --intervals --disagreements {_READING}",
    "curate": f"--annotator --votes --union --decisions --to --undecided {_READING}",
    "masking": f"--redacted --risk-layer --entity --keep --fail-on-leak {_READING}",
}
"""The options on the first page of the help of a command with many, at most twelve with --help."""

_MODULES = {
    **dict.fromkeys(("conventions", "threshold", "profile", "faireval"), "studies"),
    "diff": "errors",
    **dict.fromkeys(("agree", "curate"), "people"),
    **dict.fromkeys(("convert", "merge", "samples"), "documents"),
    **dict.fromkeys(("formats", "metrics", "guide", "completion", "help"), "reference"),
}
"""The modules of commands that have not the name of the command."""


def overview() -> str:
    """Return the help with all commands, by what they are for."""
    from shutil import get_terminal_size
    from textwrap import wrap

    width = max(40, min(get_terminal_size().columns, 100) - 2)
    lines = ["usage: clueval COMMAND [options]", ""]
    lines += wrap("Score labelled spans: gold against predicted, by every usual way of counting.", width)
    for title, commands in _UNDER.items():
        lines += ["", f"{title}:"]
        for name, text in commands.items():
            lines += wrap(f"  {name:<13}{text}", width, subsequent_indent=" " * 15)
    return "\n".join([*lines, "", *(line for text in _FURTHER for line in wrap(text, width)), ""])


_FURTHER = (
    "clueval COMMAND --help shows the options of a command, clueval guide the pages of the guide.",
    "clueval --version prints the version, clueval completion a script for the shell.",
)


def require_command(name: str) -> None:
    """Raise `UsageError` for a command that does not exist."""
    if name not in COMMANDS:
        from clueval.files.names import for_function  # only for names that do not exist

        near = for_function(name, COMMANDS, dashes=True)
        if Path(name).exists():
            near = f"; did you mean clueval score {name} ...?"
        raise UsageError(f"there is no command {name!r}{near}", advice=f"one of {', '.join(COMMANDS)}")


def command_called(name: str) -> Command:
    """Return a command; its module is imported."""
    module = import_module(f"clueval.cli.{_MODULES.get(name, name)}")
    needs = getattr(module, f"{name}_needs", None)
    return Command(name, getattr(module, name), needs, _FIRST.get(name, "").split())
