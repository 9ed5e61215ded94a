"""Writes a seeded corpus of any size: a gold file, and a predicted file with the errors of a tagger.

The words come from `words`, the errors from `mistakes`. A corpus consists of *stretches*; if sentences are marked,
a stretch is a sentence. Ranges within a stretch are half-open and count from 0.

The same settings give the same bytes. Files are written stretch by stretch, so memory does not grow with the
corpus. A stretch is a slice of a long sample of words that is drawn once, so whole sentences rarely repeat.

    python benchmarks/generate.py --tokens 1000000 --seed 1 --out corpus
"""

from __future__ import annotations

import argparse
import operator
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from mistakes import KINDS, LENGTHS, Mark, below, with_error
from words import sample_of_words

from clueval.files.errors import CluevalError, FileError, UsageError

LABELS = (
    ("PER", "LOC", "ORG", "DATE", "CODE", "OTH"),
    ("HIGH", "MEDIUM", "LOW"),
    ("KEEP", "MASK"),
)
"""The labels of the layers; a fourth layer has the same labels as the first."""

DOMAINS = ("tenancy", "traffic", "labour", "family", "inheritance")

_SAMPLE = 1 << 17
_LONGEST_STRETCH = 10_000
_MEAN_LENGTH = sum(LENGTHS) / len(LENGTHS)
_STRETCH_ID = "@"  # stands for the id of the stretch until the lines are written; no word contains it


@dataclass(frozen=True, slots=True)
class Corpus:
    """The settings of a corpus.

    `density` is the number of spans per million tokens in each layer. `shortest` and `longest` limit the tokens of
    a sentence (the last may be shorter, so that `tokens` is exact). A document has `document_length` sentences; with
    0, documents are not marked. Without `sentences`, sentences are not marked, and a document is one long sentence.
    `errors` is the share of sentences with one error in every layer, drawn from `kinds`. `layers` is the number of
    tag columns; one of ten spans of a further layer differs from the first layer. `token_ids` adds a column of ids.

    Raises `UsageError` for settings that are impossible.
    """

    tokens: int
    seed: int = 1
    format: str = "vrt"
    density: int = 75_000
    shortest: int = 5
    longest: int = 40
    document_length: int = 50
    sentences: bool = True
    errors: float = 0.2
    kinds: tuple[str, ...] = KINDS
    layers: int = 1
    token_ids: bool = False

    def __post_init__(self) -> None:
        _check_sizes(self)
        if self.format not in FORMATS:
            raise UsageError(f"unknown format {self.format!r}", advice=f"choose from {', '.join(FORMATS)}")
        if self.token_ids and self.format != "vrt":
            raise UsageError(f"the format {self.format} has no token ids", advice="use the format vrt")
        for kind in self.kinds:
            if kind not in KINDS:
                raise UsageError(f"unknown kind of error {kind!r}", advice=f"choose from {', '.join(KINDS)}")


def _check_sizes(corpus: Corpus) -> None:
    for name in ("tokens", "layers", "shortest"):
        value = getattr(corpus, name)
        if value < 1:
            raise UsageError(f"{name} must be at least 1, not {value}")
    if not corpus.shortest <= corpus.longest <= _LONGEST_STRETCH:
        raise UsageError(
            f"a sentence cannot have {corpus.shortest} to {corpus.longest} tokens",
            advice=f"the first number must not exceed the second, nor that {_LONGEST_STRETCH}",
        )
    if corpus.document_length < 0:
        raise UsageError(f"a document cannot have {corpus.document_length} sentences", advice="0 marks none")
    if not 0 <= corpus.errors <= 1:
        raise UsageError(f"errors must be a share from 0 to 1, not {corpus.errors}")
    densest = int(800_000 / _MEAN_LENGTH)
    if not 0 <= corpus.density <= densest:
        raise UsageError(f"density must be 0 to {densest} spans per million tokens, not {corpus.density}")


Layers = Sequence[Sequence[Mark]]


class Stretch(NamedTuple):
    """Tokens with the spans of both sides by layer; without an error, `predicted` is the object `gold`.

    `untagged` holds for each word its line outside all spans.
    """

    words: Sequence[str]
    untagged: Sequence[str]
    gold: Layers
    predicted: Layers


# --- spans -------------------------------------------------------------------------------------------------


def stretches(corpus: Corpus) -> Iterator[Stretch]:
    """Yield the stretches of the corpus; memory holds the sample of words and one stretch.

    If a stretch has too many or too few spans, the next one compensates, so the density is close to the setting.
    """
    rng = random.Random(corpus.seed)
    sample = sample_of_words(_SAMPLE, corpus.seed)
    blank = "\tO" * corpus.layers
    lines = {word: word + blank for word in set(sample)}
    untagged = tuple(lines[word] for word in sample)
    owed = 0.0
    remaining = corpus.tokens
    while remaining:
        size = min(corpus.shortest + below(corpus.longest - corpus.shortest + 1, rng), remaining)
        at = below(_SAMPLE - size, rng)
        owed += size * corpus.density / 1e6
        gold = _gold(corpus, size, owed, rng)
        owed -= len(gold[0])
        predicted = _predicted(corpus, gold, size, rng) if rng.random() < corpus.errors else gold
        yield Stretch(sample[at : at + size], untagged[at : at + size], gold, predicted)
        remaining -= size


def _gold(corpus: Corpus, size: int, owed: float, rng: random.Random) -> Layers:
    first = _placed(int(2 * owed * rng.random() + 0.5) if owed > 0 else 0, size, rng)
    return [first, *(_further_layer(first, LABELS[n % len(LABELS)], rng) for n in range(1, corpus.layers))]


def _placed(count: int, size: int, rng: random.Random) -> list[Mark]:
    """Return about `count` spans without overlaps, as many as fit into the stretch."""
    free = size
    lengths = []
    for _ in range(count):
        length = rng.choice(LENGTHS)
        if length <= free:
            lengths.append(length)
            free -= length
    before = sorted(below(free + 1, rng) for _ in lengths)
    taken = 0
    marks = []
    for gap, length in zip(before, lengths, strict=True):
        marks.append(Mark(gap + taken, gap + taken + length, rng.choice(LABELS[0])))
        taken += length
    return marks


def _further_layer(marks: Sequence[Mark], labels: Sequence[str], rng: random.Random) -> list[Mark]:
    """Return the same spans with new labels; one of ten is a token shorter, or missing if it has one token."""
    layer = []
    for mark in marks:
        end = mark.end - (rng.random() < 0.1)
        if end > mark.start:
            layer.append(Mark(mark.start, end, rng.choice(labels)))
    return layer


def _predicted(corpus: Corpus, gold: Layers, size: int, rng: random.Random) -> Layers:
    return [
        with_error(corpus.kinds, marks, size, LABELS[n % len(LABELS)], rng) for n, marks in enumerate(gold)
    ]


# --- formats -----------------------------------------------------------------------------------------------

Pieces = Iterator[tuple[str, str]]
"""Parts of the gold and of the predicted file, in order."""


def _vrt(corpus: Corpus) -> Pieces:
    rng = random.Random(~corpus.seed)
    tails = [f"\t{_STRETCH_ID}-t{n}\n" for n in range(1, corpus.longest + 1)] if corpus.token_ids else None
    prefix = ""
    number = 0
    for count, stretch in enumerate(stretches(corpus)):
        opening = ""
        number += 1
        if _opens_document(corpus, count):
            number = 1
            document = f"d{count // corpus.document_length + 1}"
            opening = "</text>\n" if count else ""
            opening += f'<text id="{document}" domain="{rng.choice(DOMAINS)}">\n'
            prefix = f"{document}-"
        name = f"{prefix}s{number}"
        if corpus.sentences:
            opening += f'<s id="{name}">\n'
        closing = "</s>\n" if corpus.sentences else ""
        gold, predicted = _both_sides(stretch, tails)
        if tails:
            gold, predicted = gold.replace(_STRETCH_ID, name), predicted.replace(_STRETCH_ID, name)
        yield opening + gold + closing, opening + predicted + closing
    if corpus.document_length:
        yield "</text>\n", "</text>\n"


def _conll(corpus: Corpus) -> Pieces:
    document = "-DOCSTART-" + "\tO" * corpus.layers + "\n\n"
    closing = "\n" if corpus.sentences else ""
    for count, stretch in enumerate(stretches(corpus)):
        opening = ""
        if _opens_document(corpus, count):
            opening = document if corpus.sentences or not count else "\n" + document
        gold, predicted = _both_sides(stretch, None)
        yield opening + gold + closing, opening + predicted + closing
    if not corpus.sentences:
        yield "\n", "\n"


def _opens_document(corpus: Corpus, count: int) -> bool:
    return corpus.document_length > 0 and count % corpus.document_length == 0


def _both_sides(stretch: Stretch, tails: Sequence[str] | None) -> tuple[str, str]:
    gold = _tagged(stretch, stretch.gold, tails)
    return gold, gold if stretch.predicted is stretch.gold else _tagged(stretch, stretch.predicted, tails)


def _tagged(stretch: Stretch, layers: Layers, tails: Sequence[str] | None) -> str:
    """Return the lines of a stretch; `tails` are the line ends if they contain more than the line feed."""
    tags: dict[int, list[str]] = {}
    for column, marks in enumerate(layers):
        for start, end, label, opening in marks:
            tags.setdefault(start, ["O"] * len(layers))[column] = f"{opening}-{label}"
            for position in range(start + 1, end):
                tags.setdefault(position, ["O"] * len(layers))[column] = f"I-{label}"
    lines = list(stretch.untagged)
    for position, columns in tags.items():
        lines[position] = "\t".join((stretch.words[position], *columns))
    return "".join(map(operator.add, lines, tails)) if tails else "\n".join(lines) + "\n"


FORMATS: dict[str, Callable[[Corpus], Pieces]] = {"vrt": _vrt, "conll": _conll}
"""The formats; the suffix of the files is the name."""


# --- files and the command ---------------------------------------------------------------------------------


def write(corpus: Corpus, folder: Path) -> tuple[Path, Path]:
    """Write the gold and the predicted file into a folder, whole or not at all, and return their paths.

    Raises `FileError` if they cannot be written. About a second per million tokens.
    """
    gold, predicted = folder / f"gold.{corpus.format}", folder / f"predicted.{corpus.format}"
    parts = [path.with_name(path.name + ".part") for path in (gold, predicted)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            _write_pieces(FORMATS[corpus.format](corpus), *parts)
            parts[0].replace(gold)
            parts[1].replace(predicted)
        finally:
            for part in parts:
                part.unlink(missing_ok=True)
    except OSError as error:
        raise FileError(
            f"cannot be written: {error.strerror}", file=str(folder), advice="choose another folder"
        ) from error
    return gold, predicted


def _write_pieces(pieces: Pieces, gold: Path, predicted: Path) -> None:
    with (
        gold.open("w", encoding="utf-8", newline="\n", buffering=1 << 20) as gold_file,
        predicted.open("w", encoding="utf-8", newline="\n", buffering=1 << 20) as predicted_file,
    ):
        for gold_piece, predicted_piece in pieces:
            gold_file.write(gold_piece)
            predicted_file.write(predicted_piece)


def _range(text: str) -> tuple[int, int]:
    shortest, _, longest = text.partition("-")
    try:
        return int(shortest), int(longest or shortest)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a range such as 5-40") from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Write a seeded gold and predicted file.")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the two files")
    parser.add_argument("--tokens", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--format", choices=FORMATS, default="vrt")
    parser.add_argument("--density", type=int, default=75_000, help="spans per million tokens (%(default)s)")
    parser.add_argument(
        "--sentence-length", type=_range, default=(5, 40), metavar="LEAST-MOST", help="tokens (5-40)"
    )
    parser.add_argument(
        "--document-length", type=int, default=50, help="sentences (%(default)s); 0 marks no documents"
    )
    parser.add_argument("--no-sentences", action="store_true", help="mark no sentences")
    parser.add_argument(
        "--errors", type=float, default=0.2, help="share of sentences with an error (%(default)s)"
    )
    parser.add_argument("--kinds", help=f"kinds of error, comma-separated (all: {','.join(KINDS)})")
    parser.add_argument("--layers", type=int, default=1, help="number of tag columns (%(default)s)")
    parser.add_argument("--token-ids", action="store_true", help="a last column of token ids, in vrt")
    return parser


def _corpus(options: argparse.Namespace) -> Corpus:
    shortest, longest = options.sentence_length
    return Corpus(
        tokens=options.tokens,
        seed=options.seed,
        format=options.format,
        density=options.density,
        shortest=shortest,
        longest=longest,
        document_length=options.document_length,
        sentences=not options.no_sentences,
        errors=options.errors,
        kinds=tuple(options.kinds.split(",")) if options.kinds else KINDS,
        layers=options.layers,
        token_ids=options.token_ids,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the corpus and print its paths; return 2 for wrong use."""
    options = _parser().parse_args(arguments)
    try:
        for path in write(_corpus(options), options.out):
            print(path)
    except CluevalError as error:
        print(f"generate.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
