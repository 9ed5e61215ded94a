"""Cases: files and command lines, made from a format and a number, kept as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from random import Random

from clueval.cli.commands import COMMANDS, HELP, command_called
from clueval.cli.declared import CommandOption
from clueval.formats.catalogue import written_names
from clueval.metrics import METRICS

from .beside import BESIDE, made_beside
from .corpora import Files
from .mutations import VALUES, mutated
from .saved import SAVED, saved_command, saved_files
from .tools import FORMATS

LANGUAGES = ("de", "de-AT", "fr", "xx", "", "../x")

LINES = "lines"
"""The name under which command lines are fuzzed, with valid files."""

WRITTEN = [name for name in written_names() if name != "docbin"]
"""The formats that `convert` and `curate` write, but for the one whose files spaCy writes."""

KINDS = (*FORMATS, SAVED, LINES, *BESIDE)
"""What can be fuzzed."""


@dataclass(frozen=True)
class Case:
    """Files by their names, and the commands that run over them, in the folder where they are."""

    files: dict[str, bytes]
    commands: list[list[str]]

    def saved(self) -> str:
        """As JSON, each byte of a file one character."""
        files = {name: data.decode("latin-1") for name, data in self.files.items()}
        return json.dumps({"commands": self.commands, "files": files}, indent=1) + "\n"

    @classmethod
    def loaded(cls, text: str) -> Case:
        whole = json.loads(text)
        files = {name: data.encode("latin-1") for name, data in whole["files"].items()}
        return cls(files, whole["commands"])

    def write(self, folder: Path) -> None:
        for name, data in self.files.items():
            (folder / name).write_bytes(data)


def made(kind: str, number: int) -> Case:
    """The case of a format, or of command lines, with that number."""
    rng = Random(f"{kind}:{number}")
    if kind == LINES:
        pair = FORMATS[rng.choice(list(FORMATS))](rng)
        case = _files(pair)
        return Case(case, [command_line(rng, pair) for _ in range(3)])
    if kind == SAVED:
        results, paths = saved_files(rng)
        return Case(results, [saved_command(rng, paths) for _ in range(3)])
    if kind in BESIDE:
        return Case(*made_beside(kind, rng))
    pair = FORMATS[kind](rng)
    files = _files(pair)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 5))):
        name = rng.choice(list(files))
        changed = mutated(files[name], rng)
        if changed == files[name]:
            continue
        same = [other for other in files if rng.random() < 0.3 and files[other] == files[name]]
        for other in (name, *same):
            files[other] = changed
    return Case(files, [command(rng, pair) for _ in range(3)])


def _files(pair: Files) -> dict[str, bytes]:
    return {f"gold.{pair.ending}": pair.gold, f"predicted.{pair.ending}": pair.predicted, **pair.more}


def command(rng: Random, pair: Files) -> list[str]:
    """A command that could be meant, for such files."""
    gold, predicted = f"gold.{pair.ending}", f"predicted.{pair.ending}"
    has_sets = "--gold-set" in pair.options
    own = ["--annotation-set" if option == "--gold-set" else option for option in pair.options]
    own = own[: own.index("--predicted-set")] if has_sets else own
    name = rng.choice(
        (
            *("score", "score", "score", "errors", "check", "convert", "merge", "conventions", "masking"),
            *("agree", "curate", "diff", "compare"),
        )
    )
    sides = [gold, *([] if has_sets and rng.random() < 0.5 else [predicted])]
    if name == "check":
        return [name, *sides, *own, *rng.choice(([], ["--to", rng.choice(WRITTEN)]))]
    if name == "convert":
        output = rng.choice(([], ["-o", "out"], ["-o", "out/"], ["-o", "out.xlsx"]))
        return [name, gold, "--to", rng.choice(WRITTEN), *rng.choice(([], ["--lossy"])), *output, *own]
    if name == "merge":
        return [name, gold, *own]
    if name == "agree":
        more = (
            ["--format", rng.choice(("text", "json", "csv", "tsv", "markdown", "latex"))],
            ["--system", gold],
            ["--system", "predicted"],
            ["--intervals"],
            ["--disagreements"],
            ["-o", "out.tsv", "-o", "out.html"],
            ["--lang", rng.choice(LANGUAGES)],
            ["--unannotated", "O"],
            ["--merge"],
            ["--pair-by", "content"],
        )
        return [name, gold, predicted, *own, *rng.choice(more)]
    if name == "curate":
        more = (
            [],
            ["--union"],
            ["--votes", "1"],
            ["--decisions", predicted, "--conflicts", "last"],
            ["--undecided", "out.tsv"],
            ["--to", rng.choice(WRITTEN), "--lossy", "-o", "out"],
        )
        named = rng.choice(([gold, predicted], [f"gold={gold}", f"predicted={predicted}"]))
        return [name, *named, *own, *rng.choice(more)]
    if name == "diff":
        form = rng.choice(("text", "json", "tsv", "markdown"))
        more = (
            ["--format", form],
            ["--merge"],
            ["--side", "gold"],
            ["--fail-on-new"],
            ["-o", "out.html"],
        )
        return [name, *rng.sample([gold, predicted, predicted], 3), *pair.options, *rng.choice(more)]
    if name == "compare":
        more = (
            [],
            ["--merge"],
            ["--metric", "exact,fair"],
            ["-o", "out.html"],
            ["-o", "out.html", "--lang", rng.choice(LANGUAGES)],
            ["--digits", "0"],
            ["--score", "f1"],
        )
        systems = rng.sample([predicted, f"one={predicted}", f"two={gold}", f"three={predicted[:4]}*"], 2)
        return [name, gold, *systems, *pair.options, "--resamples", "99", "--jobs", "1", *rng.choice(more)]
    if name == "conventions":
        return [
            name,
            *sides,
            *pair.options,
            "--format",
            rng.choice(("text", "json", "csv", "tsv", "markdown", "latex")),
        ]
    if name == "masking":
        more = (
            [],
            ["--redacted"],
            ["--conventions", "tab,i2b2,meddocan,presidio"],
            ["--masks", "all"],
            ["--documents", "out.tsv"],
            ["-o", "out.html", "--lang", rng.choice(LANGUAGES)],
            ["-o", "out.xlsx"],
            ["--decisions", predicted, "--conflicts", "last"],
        )
        return [name, *sides, *pair.options, *rng.choice(more)]
    if name == "errors":
        more = (
            ["--metric", "fair"],
            ["--merge"],
            ["--window", "2"],
            ["-o", "out.tsv"],
            ["-o", "out.html", "--lang", rng.choice(LANGUAGES)],
            ["--side", "gold"],
            ["--level", "4"],
            ["--decisions", predicted, "-o", "out.tsv"],
            [],
        )
        return [name, *sides, *pair.options, *rng.choice(more)]
    metrics = rng.sample(list(METRICS), rng.choice((1, 1, 2, 3)))
    words = [name, *sides, *pair.options, "--jobs", "1", "--metric", ",".join(metrics)]
    words += rng.choice(
        ([], [], ["--merge"], ["--by", "document"], ["--unit", "character"], ["--by", "domain"])
    )
    words += rng.choice(
        ([], [], ["--align"], ["--invalid", "discard"], ["--where", "id=d0"], ["--pair-by", "content"])
    )
    return [*words, "--format", rng.choice(("text", "json", "csv", "tsv", "markdown", "latex", "conlleval"))]


NONSENSE = (
    *("", " ", "x", "-", "--", "-1", "0", "1", "2", "1.5", "1e9", "nan", "9" * 30, "=", "a=", "=b", "a=b"),
    *("a=1", "a=0", "a=1:2", "a=-1", "a=1,b=2", "a=99", "levels", "levels,levels", "levels,,exact", "all"),
    *("document", "id=d0", "label=PER", "vrt", "conll", "spans", "ltf", "bdoc", "nerval", "json", "text"),
    *("BIO", "error", "\0", "\n", "é", "\ud800", "(", "[", "*", "gold.vrt", "nowhere", ".", "out", "out/"),
    *("a/b/c", "x" * 300, "Key", "Key:PER", "PER", "1-2", "{", "%s", "LE = 1 TP"),
)

NEVER = {"--scheduler", "--jobs", "-h", "--help", "--version", "--verbose"}
"""What would wait for a network, start processes, end at once, or say more than one line."""


NOT_ABOUT_FILES = ("faireval", "formats", "guide", "metrics", "samples", "help")
"""Commands that take no files of spans."""


def command_line(rng: Random, pair: Files) -> list[str]:
    """Options at random, half of them with a value that makes sense somewhere, about the files of a pair."""
    name = rng.choice([name for name in COMMANDS if name not in NOT_ABOUT_FILES])
    words = [name, f"gold.{pair.ending}"]
    if name not in ("merge", "convert") and rng.random() < 0.8:
        words.append(f"predicted.{pair.ending}")
    if rng.random() < 0.7:
        words += pair.options if name in ("score", "errors", "conventions", "masking", "compare") else []
    options = _options(name)
    for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 4)) if options else 0):
        option = rng.choice(options)
        words.append(rng.choice(option.flags))
        if option.metavar is not None:
            words.append(_value(rng, option))
    if name in ("score", "compare"):
        words += ["--jobs", "1"]
    return words


def _options(name: str) -> list[CommandOption]:
    found = (HELP, *command_called(name).options)
    return [each for each in found if each.flags and not NEVER & set(each.flags)]


def _value(rng: Random, option: CommandOption) -> str:
    if option.choices and rng.random() < 0.7:
        return str(rng.choice(list(option.choices)))
    if rng.random() < 0.2:
        return rng.choice(VALUES).decode("utf-8", "replace")
    return rng.choice((*NONSENSE, *METRICS))
