"""Random texts whose positions are changed by the first edition and by the steps of the second.

`compare` counts, by subject, on how many random corpora both editions agree: characters as the unit, alignment, placing
of tokens and texts, answers of language models, redacted texts. For more corpora than in the tests::

    python -m tests.second.compare_places 2000 17
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import clueval
from clueval.core.count import Plan, Step, count, sequences_of
from clueval.core.document import Pair
from clueval.core.exact import Exact
from clueval.evaluation.run import score as first_score
from clueval.formats.inline import inline_answer
from clueval.formats.mentions import mentions_answer
from clueval.metrics.coverage import Coverage
from clueval.metrics.fair.metric import Fair
from clueval.metrics.muc import Muc
from clueval.metrics.strings import Strings
from clueval.reading.read_options import ReadOptions
from clueval.formats.options import Reading
from clueval.transforms.align import Align
from clueval.transforms.characters import InCharacters
from clueval.transforms.locating import InlineAnswers, Locating
from clueval.transforms.occurrences import LocationSteps
from clueval.transforms.options import Preparing
from clueval.transforms.placing import Placing
from clueval.transforms.saying import changes_of, checked
from clueval.transforms.steps import steps_of
from clueval.transforms.characters import without_blanks
from clueval.transforms.group import Group
from clueval.transforms.locating import InlineAnswers as FirstInlineAnswers
from clueval.transforms.locating import Locating as FirstLocating
from clueval.transforms.placing import Placing as FirstPlacing
from tests.second.compare import canonical, difference, second
from tests.second.compare_steps import Outcome, compared, outcome_of_pairs, spans_of, without_preparing

WORDS = [
    "der",
    "die",
    "Herr",
    "Frau",
    "Meier",
    "Schulz",
    "Berlin",
    "am",
    "12.",
    "Mai",
    "GmbH",
    "Dr.",
    "Öz",
    "A-Straße",
]

BLANKS = [" ", " ", " ", "  ", "\n"]


def text_of(random: Random, words: Sequence[str]) -> str:
    """Return words with white space between them, and maybe around them."""
    text = "".join(word + random.choice(BLANKS) for word in words)
    return random.choice(["", " ", "\n"]) + text if random.random() < 0.2 else text.strip()


def noisy(random: Random, words: Sequence[str]) -> list[str]:
    """Return words of which some are missing, changed or new."""
    found = []
    for word in words:
        what = random.random()
        if what < 0.7:
            found.append(word)
        elif what < 0.85:
            found.append(word[:-1] + random.choice("xyz"))
        elif what < 0.95:
            found += [word, "qqzqzqq"]
    return found or ["x"]


def ranges(random: Random, size: int, *, flat: bool, empty: bool = True) -> list[tuple[int, int]]:
    """Return some ranges of a text, by position."""
    found, at = [], 0
    for _ in range(random.randint(0, 5)):
        start = at + random.randint(0, 6) if flat else random.randint(0, size)
        end = start + random.choice([0, 1, 2, 3, 5, 8])
        if end > size or (start == end and not empty):
            continue
        found.append((start, end))
        at = end + (start == end)
    return sorted(found)


def document(
    random: Random,
    name: str,
    *,
    text: str | None = None,
    tokens: Sequence[str] | None = None,
    layers: Sequence[str] = ("x",),
    flat: bool = False,
    empty: bool = True,
    start: int = 0,
) -> clueval.Document:
    """Return a document of a text, or of tokens, with random spans."""
    size = len(text) if tokens is None and text is not None else len(tokens or ())
    found: dict[str, list[clueval.Span]] = {}
    for layer in layers:
        found[layer] = []
        for first, last in ranges(random, size, flat=flat, empty=empty):
            parts = None
            if not flat and last - first >= 3 and random.random() < 0.2:
                parts = ((start + first, start + first + 1), (start + last - 1, start + last))
            label = {layer: random.choice("AB")}
            found[layer].append(clueval.Span(start + first, start + last, label, parts=parts))
    if tokens is not None:
        return canonical(clueval.Document(name, found, tokens=tokens, text=text, start=start))
    return canonical(clueval.Document(name, found, text=text, unit="character", start=start))


# Scores of both editions


def scored(
    pairs: Sequence[tuple[clueval.Document, clueval.Document]],
    steps: Sequence[Step],
    align: Step | None,
    options: Mapping[str, Any],
) -> str | None:
    """Return where the reports of exact and fair differ, or None."""
    merge = bool(options.get("merge"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one: Any
        try:
            result = first_score(*map(list, zip(*pairs, strict=True)), metrics=["exact", "fair"], **options)
            one = {name: dict(report) for name, report in result.metrics.items()}
        except clueval.CluevalError as error:
            one = type(error).__name__
    other: Any = {"exact": {}, "fair": {}}
    try:
        plan = Plan((Exact(), Fair()), merge=merge, steps=tuple(steps), align=align)
        bag = count([[Pair(second(gold), second(predicted))] for gold, predicted in pairs], plan)
        for _, sequence, metric, tally in bag.tallies_of(plan.metrics, sequences_of(bag, plan)):
            other[metric.name][sequence] = metric.scores(tally, list(bag.layers) if merge else [sequence])
    except clueval.CluevalError as error:
        other = type(error).__name__
    return difference(compared(one), compared(other)) if align else difference(one, other)


def characters(random: Random) -> str | None:
    pairs = []
    for number in range(random.randint(1, 3)):
        words = random.choices(WORDS, k=random.randint(0, 9))
        text = text_of(random, words).replace("\n", " ") if random.random() < 0.4 else None
        sides = [document(random, str(number), text=text, tokens=words, start=number * 20) for _ in range(2)]
        pairs.append((sides[0], sides[1]))
    return scored(pairs, [InCharacters()], None, {"unit": "character"})


def alignment(random: Random) -> str | None:
    merge = (
        random.random() < 0.3
    )  # then, merged spans of zero length may have one place, where there can be one only
    layers = ("x", "y")[: random.randint(1, 2)]
    shape: dict[str, Any] = {"layers": layers, "flat": merge, "empty": not merge}
    steps, options = [], {"align": True, "merge": merge}
    if random.random() < 0.3:
        steps, options = [InCharacters()], {**options, "unit": "character"}
    pairs = []
    for number in range(random.randint(1, 3)):
        words = random.choices(WORDS, k=random.randint(1, 9))
        sides = []
        for of_side in (words, noisy(random, words)):
            if random.random() < 0.5:
                sides.append(document(random, str(number), tokens=of_side, start=number * 30, **shape))
            else:
                sides.append(document(random, str(number), text=text_of(random, of_side), **shape))
        pairs.append((sides[0], sides[1]))
    return scored(pairs, steps, Align(merge=merge), options)


# Pairs of both editions


def placing(random: Random) -> str | None:
    words = random.choices(WORDS, k=random.randint(0, 9))
    # In tokens, the first edition trims only predicted, and makes empty spans of white space and of empty tokens.
    in_tokens, named = random.random() < 0.4, random.random() < 0.5
    if random.random() < 0.1 and not in_tokens:
        words = [*words[:2], "", *words[2:]]
    sides = []
    for side in range(2):
        own = words
        if random.random() < 0.3:  # other tokens
            own = [part for word in words for part in ([word[:1], word[1:]] if len(word) > 2 else [word])]
        if side and random.random() < 0.08:
            own = [*own, "zu viel"]
        is_text, has_text = random.random() < 0.5, random.random() < 0.3
        text = text_of(random, own)
        sides.append(
            document(random, random.choice("11d"), text=text)
            if is_text
            else document(
                random, "1", tokens=own, text=text if has_text else None, start=random.choice([0, 7])
            )
        )
    if in_tokens:
        sides = list(map(_trimmed, sides))
    first = _first(FirstPlacing(in_tokens=in_tokens, named=named), sides[0], sides[1])
    other = outcome_of_pairs(Placing(in_tokens=in_tokens, named=named), _pair(*sides))
    if isinstance(first, dict) and isinstance(other, dict) and in_tokens:
        first["changes"] = other["changes"]
    return difference(first, other)


def _trimmed(document: clueval.Document) -> clueval.Document:
    """Return a document without white space at the edges of spans, and without spans of white space alone."""
    if document.text is None or document.unit == "token":
        return document
    layers = {}
    for layer, spans in document.layers.items():
        found = [(span, without_blanks(span, document.text, document.start)) for span in spans]
        layers[layer] = [trimmed for span, trimmed in found if len(trimmed) or not len(span)]
    return replace(document, layers=layers)


def located(random: Random) -> str | None:
    words = random.choices([*WORDS, "Frau Meier", "frau", "e\u0301", "é"], k=random.randint(0, 12))
    gold = _of_words(random, words)
    mentions = []
    for _ in range(random.randint(0, 5)):
        first = random.randint(0, max(0, len(words) - 1))
        text = random.choice(
            [
                " ".join(words[first : first + random.randint(1, 2)]),
                random.choice(WORDS),
                "unbekannt",
                " Meier ",
            ]
        )
        text = random.choice([text, text, text.upper(), text.replace(" ", "  "), text[:-1] + "x"])
        features: dict[str, Any] = {"mention": text}
        if random.random() < 0.3:
            at = random.randint(-1, 30)
            features["offsets"] = (at, at + len(text.strip()))
        mentions.append(clueval.Span(0, 0, {"x": random.choice("AB")}, features))
    metadata = {"unparsable": "2"} if random.random() < 0.2 else {}
    answer = clueval.Document(
        random.choice(["d", "d", "d", "3"]),
        {"x": mentions, "y": mentions[:1]},
        unit="character",
        metadata=metadata,
    )
    steps = random.choice(["exact,space", "exact", "exact,space,quotes,case", "exact,case,fuzzy=0.7"])
    occurrence = random.choice(["free", "first", "all"])
    first_step = FirstLocating(occurrence, LocationSteps.of(steps))
    new = Locating(occurrence, LocationSteps.of(steps))
    return difference(_first(first_step, gold, answer), outcome_of_pairs(new, _pair(gold, answer)))


def answers(random: Random) -> str | None:
    """Score answers together with other options, as mentions or as texts with tags, with one gold or several."""
    golds: list[list[clueval.Document]] = [[] for _ in range(random.choice([1, 1, 2, 3]))]
    given: list[Any] = []
    is_inline = random.random() < 0.3
    for number in range(random.randint(1, 3)):
        words = random.choices(WORDS, k=random.randint(1, 12))
        for gold in golds:
            gold.append(document(random, str(number), tokens=words))
        mentions = [
            {"text": random.choice([*words, "Frau Meier", "unbekannt", "weg"]), "label": random.choice("ABC")}
            for _ in range(random.randint(0, 5))
        ]
        tagged = [f"<A>{word}</A>" if random.random() < 0.4 else word for word in noisy(random, words)]
        given.append(" ".join(tagged) if is_inline else {"entities": mentions})
    options: dict[str, Any] = {}
    if random.random() < 0.4:
        options["label_map"] = random.choice([{"A": "B", "C": "", "*": "*"}, {"B": "A", "A": "", "C": "C"}])
    if random.random() < 0.3:
        options["generic"] = "C"
    if random.random() < 0.3:
        options["ignore_label"] = "B"
    if random.random() < 0.3:
        options["untyped"] = True
    if random.random() < 0.3:
        options["fragments"] = "split"
    if len(golds) > 1:
        options["any_of"] = golds[1:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first: Any
        try:
            how = (
                {}
                if is_inline
                else {"occurrence": random.choice(["free", "first", "all"]), "locate": "exact,case"}
            )
            kind = "inline" if is_inline else "mentions"
            result = first_score(
                golds[0],
                given,
                metrics=["exact", "fair", "strings", "coverage", "muc"],
                input=kind,
                **how,
                **options,
            )
            changes = result.to_dict()["prepared"]
            first = ({name: compared(of) for name, of in result.metrics.items()}, changes, result.documents)
        except clueval.CluevalError as error:
            first = without_preparing(str(error))
    other: Any
    try:
        step = InlineAnswers() if is_inline else Locating(how["occurrence"], LocationSteps.of(how["locate"]))
        steps = (step, *steps_of(Preparing(**options), golds[0]))
        plan = Plan((Exact(), Fair(), Strings(), Coverage(), Muc()), steps=steps)
        reading = ReadOptions.of(Reading(input=kind))
        read = inline_answer if is_inline else mentions_answer
        found = [second(read(answer, str(number), reading)) for number, answer in enumerate(given)]
        texts = [
            [Pair(second(gold), answer) for gold in of_text]
            for *of_text, answer in zip(*golds, found, strict=True)
        ]
        bag = count(texts, plan)
        reports: dict[str, Any] = {"exact": {}, "fair": {}, "strings": {}, "coverage": {}, "muc": {}}
        for _, sequence, metric, tally in bag.grouped(lambda _: ()).tallies_of(
            plan.metrics, sequences_of(bag, plan)
        ):
            reports[metric.name][sequence] = metric.scores(tally, [sequence])
        checked(steps, bag.notes)
        other = (compared(reports), changes_of(steps, bag.notes), sum(bag.documents.values()))
    except clueval.CluevalError as error:
        other = without_preparing(str(error))
    if isinstance(first, str) or isinstance(other, str):
        return difference(first, other)
    return difference(dict(enumerate(first)), dict(enumerate(other)))


def inline(random: Random) -> str | None:
    words = random.choices(WORDS, k=random.randint(1, 9))
    gold = _of_words(random, words)
    own = words if random.random() < 0.3 else noisy(random, words)
    answer = document(random, "d", text=text_of(random, own))
    return difference(
        _first(FirstInlineAnswers(10**9), gold, answer),
        outcome_of_pairs(InlineAnswers(10**9), _pair(gold, answer)),
    )


def _of_words(random: Random, words: Sequence[str]) -> clueval.Document:
    """Return a document of these words, as tokens or as a text."""
    if random.random() < 0.4:
        return document(random, "d", tokens=words, start=random.choice([0, 5]))
    return document(random, "d", text=text_of(random, words))


def _pair(gold: clueval.Document, predicted: clueval.Document) -> Pair:
    return Pair(second(gold), second(predicted))


def _spans_of(*documents: Any) -> list[Any]:
    return [spans_of(each) for each in documents]


def _first(transform: Any, gold: clueval.Document, predicted: clueval.Document) -> Outcome | str:
    """Return what a transform of the first edition makes of a pair, or its error."""
    try:
        group = transform(Group(gold, predicted))
    except clueval.CluevalError as error:
        return str(error)
    beside = [] if group.unplaced is None else [spans_of(group.unplaced)]
    for of_side in group.lost:
        for layer, spans in of_side.items():
            beside += [
                spans_of(replace(gold, layers={layer: [span]}, tokens=None, text=None)) for span in spans
            ]
    sides = [group.gold, group.predicted]
    return {
        "ids": [side.id for side in sides],
        "texts": [(side.text, side.tokens, side.unit, side.start) for side in sides],
        "documents": _spans_of(*sides),
        "beside": beside,
        "changes": {"/".join(key): number for key, number in sorted(transform.prepared.items()) if number},
    }


SUBJECTS: Mapping[str, Callable[[Random], str | None]] = {
    "characters": characters,
    "alignment": alignment,
    "placing": placing,
    "located": located,
    "inline": inline,
    "answers": answers,
}


def compare(number: int, seed: int, subjects: Sequence[str] = tuple(SUBJECTS)) -> Counter[str]:
    """Count random corpora by subject and by whether the editions agree, or where they differ."""
    found: Counter[str] = Counter()
    for subject in subjects:
        random = Random(f"{subject} {seed}")
        for _ in range(number):
            differs = SUBJECTS[subject](random)
            found[f"{subject} equal" if differs is None else f"{subject} DIFFERENT {differs}"] += 1
    return found


def disagreements(found: Counter[str]) -> list[str]:
    """Return what `compare` counted apart from corpora on which the editions agree."""
    return [text for text in found if "DIFFERENT" in text]


if __name__ == "__main__":
    began = time.process_time()
    counted = compare(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] or tuple(SUBJECTS))
    for what in [*disagreements(counted)[:8], *sorted(text for text in counted if text.endswith(" equal"))]:
        print(counted[what], what[:900])
    print(f"{len(disagreements(counted))} disagreements, {time.process_time() - began:.0f} s")
