"""Measures the worst cases: corpora that are as hard as possible, compared with an ordinary one of the same size.

Every case is one call of ``clueval score GOLD PREDICTED --layer ... --jobs 1``, as a whole process. It is measured in
turn with the same command, without further options, on an ordinary corpus (the case *usual* of `main_job`) in the same
format if possible, otherwise in VRT, with the same number of tokens, or ``--tokens`` if that is more. Figures are wall
seconds per token of *one* side, although both sides are read; for a single long line, they are per byte, also for the
ordinary corpus; for annotations, per annotation. A command that reaches the time limit is stopped, and its row has a
remark.

    python benchmarks/worst.py
    python benchmarks/worst.py --cases giant shifted --tokens 50000 --runs 1

The cases show any quadratic cost: in the length of a document, in the number of connected spans, labels, layers or
documents. POSIX only.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from generate import LABELS, Corpus, write
from main_job import files, put_report
from measure import (
    Run,
    Spread,
    TookTooLong,
    environment,
    finish,
    progress,
    require_exit_code,
    run_once,
)
from mistakes import LENGTHS, below
from words import sample_of_words

BOUND = 5.0
"""The maximum ratio of a case's time per token to that of the ordinary corpus."""

Tags = tuple[list[str], list[str]]
"""The tags of a stretch of tokens, gold and predicted."""

Tagger = Callable[[int, random.Random], Tags]
"""Returns the tags of both sides for a number of tokens."""

# --- tags ----------------------------------------------------------------------------------------------------


def singles(size: int, rng: random.Random) -> Tags:
    """Every token is a span; a tenth of the predicted spans have another label, and a tenth are missing."""
    gold = [f"B-{label}" for label in rng.choices(LABELS[0], k=size)]
    return gold, [_wrong(tag, rng) if rng.random() < 0.2 else tag for tag in gold]


def _wrong(tag: str, rng: random.Random) -> str:
    return "O" if rng.random() < 0.5 else "B-WRONG"


def giant(size: int, rng: random.Random) -> Tags:
    """One gold span covers all tokens, each of which is a predicted span."""
    return ["B-PER"] + ["I-PER"] * (size - 1), ["B-PER"] * size


def shifted(size: int, rng: random.Random) -> Tags:
    """Spans of one to six tokens with one token between them; predicted tags are one token later."""
    return _moved(size, 1, rng)


def touching(size: int, rng: random.Random) -> Tags:
    """The same without tokens between the spans, so that overlaps connect all spans of both sides."""
    return _moved(size, 0, rng)


def _moved(size: int, gap: int, rng: random.Random) -> Tags:
    tags: list[str] = []
    while len(tags) < size:
        label = LABELS[0][below(len(LABELS[0]), rng)]
        tags += [f"B-{label}", *[f"I-{label}"] * (LENGTHS[below(len(LENGTHS), rng)] - 1), *["O"] * gap]
    return tags[:size], ["O", *tags[: size - 1]]


def ill_formed(size: int, rng: random.Random) -> Tags:
    """``I-`` of another label than the tag before, on all tokens but the first; a fifth of predicted is wrong.

    The first tag is ``B-``: with ``I-`` alone it would be IOB1, and all of it well-formed.
    """
    first, second, third = LABELS[0][:3]
    gold = [f"I-{second if position % 2 else first}" for position in range(size)]
    predicted = [f"I-{third}" if rng.random() < 0.2 else tag for tag in gold]
    return [f"B-{first}", *gold[1:]], [f"B-{first}", *predicted[1:]]


def many_labels(size: int, rng: random.Random) -> Tags:
    """Every second token is a span, with one of 100,000 labels; a fifth of the predicted spans have another label."""
    gold = [_any_label(rng) if rng.random() < 0.5 else "O" for _ in range(size)]
    return gold, [_any_label(rng) if tag != "O" and rng.random() < 0.2 else tag for tag in gold]


def _any_label(rng: random.Random) -> str:
    return f"B-{below(100_000, rng):05}"


def three(size: int, rng: random.Random) -> Tags:
    """Documents of three tokens: every fourth has a span, and every fifth of these spans is a token too long."""
    if rng.random() > 0.25:
        return ["O"] * size, ["O"] * size
    gold = ["O"] * size
    gold[0] = f"B-{rng.choice(LABELS[0])}"
    predicted = list(gold)
    if size > 1 and rng.random() < 0.2:
        predicted[1] = "I" + gold[0][1:]
    return gold, predicted


# --- files ---------------------------------------------------------------------------------------------------

_SAMPLE = 1 << 17


@dataclass(frozen=True, slots=True)
class Layout:
    """The sizes of sentences, from `shortest` to `longest` tokens (0: one sentence), and sentences per document.

    With `bare`, documents are marked, but sentences are not.
    """

    shortest: int = 5
    longest: int = 40
    sentences: int = 50
    bare: bool = False

    def sizes(self, tokens: int, rng: random.Random) -> Iterator[int]:
        """Yield the lengths of the sentences, `tokens` in total."""
        while tokens:
            drawn = self.shortest + below(self.longest - self.shortest + 1, rng) if self.longest else tokens
            size = min(drawn, tokens)
            yield size
            tokens -= size


ORDINARY = Layout()
UNBROKEN = Layout(0, 0, 1, bare=True)
TINY = Layout(3, 3, 1, bare=True)

Writer = Callable[[int, str, int, Path], tuple[Path, Path]]
"""Writes the files of a case, given size, format, seed and folder; returns the paths of gold and predicted."""


def tagged(tagger: Tagger, layout: Layout) -> Writer:
    """Return the writer of a corpus with these tags."""

    def written(tokens: int, format: str, seed: int, folder: Path) -> tuple[Path, Path]:
        return _write_tagged(tagger, layout, tokens, format, seed, folder)

    return written


def _write_tagged(
    tagger: Tagger, layout: Layout, tokens: int, format: str, seed: int, folder: Path
) -> tuple[Path, Path]:
    rng = random.Random(seed)
    sample = sample_of_words(_SAMPLE, seed)
    paths = folder / f"gold.{format}", folder / f"predicted.{format}"
    with ExitStack() as stack:
        sides = [stack.enter_context(path.open("w", encoding="utf-8", newline="\n")) for path in paths]
        for number, size in enumerate(layout.sizes(tokens, rng)):
            at = below(_SAMPLE, rng)
            words = [sample[(at + n) % _SAMPLE] for n in range(size)]
            before, after = _borders(layout, number, format)
            for side, tags in zip(sides, tagger(size, rng), strict=True):
                lines = "\n".join(map("\t".join, zip(words, tags, strict=True)))
                side.write(f"{before}{lines}\n{after}")
        if format == "vrt":
            for side in sides:
                side.write("</text>\n")
    return paths


def _borders(layout: Layout, number: int, format: str) -> tuple[str, str]:
    """Return the text before and after the sentence with this number."""
    document, sentence = divmod(number, layout.sentences)
    opens = sentence == 0
    if format == "conll":
        return "-DOCSTART-\tO\n\n" if opens else "", "\n"
    before = ("</text>\n" if document else "") + f'<text id="d{document + 1}">\n' if opens else ""
    if layout.bare:
        return before, ""
    return f'{before}<s id="d{document + 1}-s{sentence + 1}">\n', "</s>\n"


def corpus(layers: int = 1, broken: bool = True) -> Writer:
    """Return the writer of a corpus of `generate` with `layers` layers."""

    def written(tokens: int, format: str, seed: int, folder: Path) -> tuple[Path, Path]:
        document_length = 50 if broken else 0
        settings = Corpus(
            tokens,
            seed,
            format,
            layers=layers,
            sentences=broken,
            document_length=document_length,
        )
        return write(settings, folder)

    return written


def line(gold: str, predicted: str = "") -> Writer:
    """Return the writer of two files with one line, in which ``{long}`` is replaced by a long text.

    In VRT, the line is in a document; in CoNLL, there is nothing else.
    """

    def written(size: int, format: str, seed: int, folder: Path) -> tuple[Path, Path]:
        paths = folder / f"gold.{format}", folder / f"predicted.{format}"
        for path, pattern in zip(paths, (gold, predicted or gold), strict=True):
            if format == "vrt" and not pattern.startswith("<text"):
                pattern = f'<text id="d1">\n{pattern}'
            before, after = pattern.split("{long}")
            with path.open("w", encoding="utf-8", newline="\n") as file:
                file.write(before)
                for _ in range(size >> 20):
                    file.write("a" * (1 << 20))
                file.write("a" * (size & ((1 << 20) - 1)) + after)
                file.write("</text>\n" if format == "vrt" else "\n")
        return paths

    return written


Places = Callable[[int], list[tuple[int, int]]]
"""Returns the ranges of a number of annotations."""


def at_one_place(size: int) -> list[tuple[int, int]]:
    """Annotations of zero length at one position."""
    return [(5, 5)] * size


def one_in_another(size: int) -> list[tuple[int, int]]:
    """Each annotation is within the one before."""
    return [(number, 2 * size - number) for number in range(size)]


def annotated(places: Places) -> Writer:
    """Return the writer of two documents with these annotations; each predicted one has a different score."""

    def written(size: int, format: str, seed: int, folder: Path) -> tuple[Path, Path]:
        paths = folder / "gold.bdocjs", folder / "predicted.bdocjs"
        for path in paths:
            annotations = [
                {"type": "T", "start": start, "end": end, "id": number, "features": {"score": number / size}}
                for number, (start, end) in enumerate(places(size))
            ]
            document = {
                "text": "a" * (2 * size + 10),
                "offset_type": "p",
                "features": {},
                "annotation_sets": {"Key": {"annotations": annotations}},
            }
            path.write_text(json.dumps(document), encoding="utf-8")
        return paths

    return written


# --- cases ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Case:
    """A hard corpus.

    Its size is `share` times ``--tokens``, in tokens, or in bytes of the long line if `by_byte`; `options` are at the
    end of its command, and replace the layers if it has none. `layers` tag columns are scored. `refused` cases must
    end with an error and exit code 2. `larger` is the reason for an output that is larger than that of the ordinary
    corpus, which justifies a ratio above `BOUND`.
    """

    title: str
    write: Writer
    formats: tuple[str, ...] = ("vrt",)
    share: float = 1.0
    layers: int = 1
    by_byte: bool = False
    refused: bool = False
    larger: str = ""
    options: tuple[str, ...] = ()

    @property
    def unit(self) -> str:
        if not self.layers:
            return "annotation"
        return "byte" if self.by_byte else "token"

    def size(self, tokens: int) -> int:
        """Return the number of tokens or bytes of the case."""
        return max(1, int(self.share * tokens))


BOTH = ("vrt", "conll")
_GATE = ("--metric", "gate", "--gold-set", "Key", "--predicted-set", "Key")
_LINE = "{long}\tB-PER\n"

CASES: dict[str, Case] = {
    "unbroken": Case("one document without a break", corpus(broken=False), BOTH, share=2),
    "singles": Case("every token its own span, 20 % of them wrong", tagged(singles, ORDINARY)),
    "singles-unbroken": Case("the same in one document without a break", tagged(singles, UNBROKEN)),
    "giant": Case("one gold span over all, every token a predicted one", tagged(giant, UNBROKEN)),
    "shifted": Case("every span shifted by one", tagged(shifted, ORDINARY)),
    "shifted-unbroken": Case("the same in one document without a break", tagged(shifted, UNBROKEN)),
    "touching": Case("shifted, nothing between the spans, one document", tagged(touching, UNBROKEN)),
    "layers": Case("200 layers", corpus(layers=200), share=0.05, layers=200, larger="a report per layer"),
    "documents": Case("documents of three tokens", tagged(three, TINY), BOTH, share=3),
    "ill-formed": Case("tags ill-formed but for the first of a sentence", tagged(ill_formed, ORDINARY)),
    "labels": Case(
        "each span has one of 100,000 labels",
        tagged(many_labels, ORDINARY),
        larger="rows for each label and level",
    ),
    "long-token": Case("a token of one long line", line(_LINE), BOTH, share=100, by_byte=True),
    "long-token-differs": Case(
        "two such tokens that differ at their end",
        line(_LINE, "{long}b\tB-PER\n"),
        share=100,
        by_byte=True,
        refused=True,
    ),
    "long-line": Case(
        "a long line without a tag", line("{long}\n"), BOTH, share=100, by_byte=True, refused=True
    ),
    "long-head": Case(
        "a <text> whose id is long", line('<text id="{long}">\nword\tO\n'), share=100, by_byte=True
    ),
    "labels-matrices": Case(
        "each span has one of 100,000 labels, matrices",
        tagged(many_labels, ORDINARY),
        larger="rows for each label",
        options=("--metric", "fair,confusion"),
    ),
    "long-label": Case(
        "a label of one long line",
        line("word\tB-{long}\n"),
        share=10,
        by_byte=True,
        options=("--metric", "fair,confusion"),
    ),
    "points": Case(
        "GATE: annotations of zero length at one place",
        annotated(at_one_place),
        ("bdoc",),
        share=0.0005,
        layers=0,
        options=_GATE,
    ),
    "nested": Case(
        "GATE: each annotation within the one before",
        annotated(one_in_another),
        ("bdoc",),
        share=0.0005,
        layers=0,
        options=_GATE,
    ),
    "nested-scores": Case(
        "the same with a score each, at rounded scores",
        annotated(one_in_another),
        ("bdoc",),
        share=0.0005,
        layers=0,
        options=("--metric", "gate(score_feature='score',thresholds='rounded')", *_GATE[2:]),
    ),
}


def command(paths: tuple[Path, Path], layers: int, format: str, options: Sequence[str] = ()) -> list[str]:
    """Return the command that is measured."""
    chosen = [f"--layer=layer{number}={number + 1}" for number in range(1, layers + 1)]
    return [
        sys.executable,
        "-m",
        "clueval",
        "score",
        *map(str, paths),
        "--input",
        format,
        "--jobs",
        "1",
        *chosen,
        *options,
    ]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The figures of one case in one format; there are no `runs` if one reached the time limit.

    `units` is its size in tokens or bytes, `ordinary` the seconds per unit of the ordinary corpus; `output` is the
    size of the printed output, `complaint` that of the error, in bytes.
    """

    name: str
    format: str
    units: int
    runs: tuple[Run, ...]
    ordinary: float
    output: int
    complaint: int

    @property
    def case(self) -> Case:
        return CASES[self.name]

    @property
    def wall(self) -> Spread:
        return Spread.of(run.wall for run in self.runs)

    @property
    def ratio(self) -> float:
        """The ratio of the median times per unit to that of the ordinary corpus."""
        return self.wall.median / self.units / self.ordinary

    @property
    def too_slow(self) -> bool:
        """Whether the ratio (per tag if there are several layers) is above `BOUND`, or could not be measured."""
        return not self.runs or self.ratio / max(self.case.layers, 1) > BOUND

    @property
    def remark(self) -> str:
        """The remark of the row."""
        if not self.runs:
            return "**stopped at the time limit**"
        remarks = [
            f"**above {BOUND:g}**" * self.too_slow,
            f"per tag {self.ratio / self.case.layers:.2f}" if self.case.layers > 1 else "",
            f"refused, with {self.complaint:,} bytes of message" if self.case.refused else "",
            f"larger output: {self.case.larger}" if self.case.larger else "",
        ]
        return "; ".join(filter(None, remarks))


@dataclass(frozen=True, slots=True)
class Settings:
    """The size in tokens, the seed, the number of measured runs, and the maximum seconds of a run."""

    tokens: int
    seed: int
    runs: int
    limit: float


def run_case(name: str, format: str, settings: Settings, folder: Path) -> Outcome:
    """Measure one case in turn with the ordinary corpus, after a warm-up run of each.

    Raises `CommandFailed` if a command does not end with the expected exit code.
    """
    case = CASES[name]
    home = folder / f"{name}-{format}"
    home.mkdir(parents=True, exist_ok=True)
    size = case.size(settings.tokens)
    usual = settings.tokens if case.by_byte else max(size, settings.tokens)
    progress(f"{name} ({format}): writing")
    plain_format = "vrt" if format == "bdoc" else format  # there is no ordinary corpus of annotations
    ordinary = files(Corpus(usual, settings.seed, plain_format), folder)
    paths = case.write(size, format, settings.seed, home)
    try:
        plain, hard, printed = _in_turn(name, command(ordinary, 1, plain_format), paths, format, settings)
        return Outcome(
            name,
            format,
            paths[0].stat().st_size if case.by_byte else size,
            hard,
            Spread.of(run.wall for run in plain).median
            / (ordinary[0].stat().st_size if case.by_byte else usual),
            *printed,
        )
    finally:
        for path in paths:
            path.unlink()


def _in_turn(
    name: str, yardstick: list[str], paths: tuple[Path, Path], format: str, settings: Settings
) -> tuple[list[Run], tuple[Run, ...], tuple[int, int]]:
    """Return runs of the ordinary corpus, runs of the case (none if one reached the limit), and bytes of output.

    A command that takes over ten seconds is measured only once.
    """
    case = CASES[name]
    hard = command(paths, case.layers, format, *((case.options,) if case.options else ()))
    code = 2 if case.refused else 0
    progress(f"{name} ({format}): warm-up")
    plain = [run_once("ordinary", yardstick)]
    runs: list[Run] = []
    try:
        started = time.perf_counter()
        first = finish(name, hard, settings.limit)
        require_exit_code(name, hard, code, first)
        slow = time.perf_counter() - started > 10
        plain.clear()
        for number in range(1 if slow else settings.runs):
            progress(f"{name} ({format}): run {number + 1}")
            plain.append(run_once("ordinary", yardstick))
            runs.append(run_once(name, hard, code, settings.limit))
    except TookTooLong as error:
        progress(str(error))
        return plain, (), (0, 0)
    return plain, tuple(runs), (len(first.stdout), len(first.stderr))


# --- the report ----------------------------------------------------------------------------------------------

_HEADER = (
    "case",
    "format",
    "size of a side",
    "wall s",
    "ns / unit",
    "ordinary",
    "ratio",
    "peak MiB",
    "printed kB",
    "remark",
)


def table(outcomes: Sequence[Outcome]) -> str:
    """Return a Markdown table with a row per case and format."""
    rows = [_HEADER, ("---", "---", *["---:"] * 7, "---"), *map(_row, outcomes)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _row(outcome: Outcome) -> tuple[str, ...]:
    case = outcome.case
    what = f"{outcome.name}: {case.title}", outcome.format, f"{outcome.units:,} {case.unit}s"
    ordinary = f"{outcome.ordinary * 1e9:.1f}"
    if not outcome.runs:
        return (*what, "", "", ordinary, "", "", "", outcome.remark)
    return (
        *what,
        outcome.wall.show(),
        f"{outcome.wall.median / outcome.units * 1e9:.1f}",
        ordinary,
        f"{outcome.ratio:.2f}",
        f"{max(run.memory for run in outcome.runs) / 2**20:.0f}",
        f"{outcome.output / 1000:.1f}",
        outcome.remark,
    )


def judgement(outcomes: Sequence[Outcome]) -> str:
    """Return one sentence about the cases that take too long."""
    bad = [f"{outcome.name} ({outcome.format})" for outcome in outcomes if outcome.too_slow]
    if bad:
        return f"Above {BOUND:g} times the time of the ordinary corpus: {', '.join(bad)}."
    return f"No case takes more than {BOUND:g} times the time per unit of the ordinary corpus."


def report(names: Sequence[str], settings: Settings, folder: Path) -> str:
    """Measure the cases; return machine, versions, settings and figures in Markdown."""
    outcomes = [run_case(name, format, settings, folder) for name in names for format in CASES[name].formats]
    told = (
        f"* seed {settings.seed}; one run to warm up, then {settings.runs} in turn with the ordinary corpus "
        f"(1 if it takes over 10 s); median (least-greatest); stopped after {settings.limit:g} s"
    )
    return f"{environment(['clueval'])}\n{told}\n\n{table(outcomes)}\n\n{judgement(outcomes)}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measure the worst cases of the main job.")
    parser.add_argument("--tokens", type=int, default=1_000_000, help="basis of all sizes (%(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="counted runs of each command (%(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=120, help="seconds a run may take (%(default)s)")
    parser.add_argument(
        "--cases", nargs="+", choices=CASES, default=list(CASES), metavar="CASE", help=", ".join(CASES)
    )
    parser.add_argument("--corpora", type=Path, metavar="DIR", help="keep the ordinary corpora here")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print the report; return 2 if a command fails or the settings are wrong."""
    parser = _parser()
    options = parser.parse_args(arguments)
    for name in ("tokens", "runs", "limit"):
        if getattr(options, name) <= 0:
            parser.error(f"--{name} must be greater than 0, not {getattr(options, name)}")
    settings = Settings(options.tokens, options.seed, options.runs, options.limit)
    return put_report("worst.py", options.corpora, lambda folder: report(options.cases, settings, folder))


if __name__ == "__main__":
    sys.exit(main())
