"""Random corpora of several annotators, compared by the first edition (`clueval.agree`) and by the second.

`compare` counts on how many corpora both give the same report. For more corpora than in the tests::

    python -m tests.second.annotators 5000 17
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import clueval
from clueval.core.bag import Bag
from clueval.core.count import Plan, count, sequences_of
from clueval.core.document import Group
from clueval.core.span import NOTHING
from clueval.second.agreement import CONVENTIONS, Agreement, chosen_conventions, report
from tests.second.compare import SIZE, canonical, difference, disagreements, second, some_spans

KINDS = ("flat", "nested", "empty")

DEFAULTS = ("exact", "exact_unlabelled", "muc_type")

Documents = Mapping[str, clueval.Document]
"""The documents of an annotator, by id."""


@dataclass(frozen=True)
class Corpus:
    """What annotators, and maybe a system, have marked."""

    layers: Sequence[str]
    annotators: Mapping[str, Documents]
    system: Documents | None = None


def corpus(random: Random, kind: str, labels: str = "AB") -> Corpus:
    """Return the documents of two to five annotators, of which each may lack some; some spans are common to several."""
    layers = ["x", "y"][: random.randint(1, 2)]
    names = ["ann", "bob", "cat", "dan", "eve"][: random.randint(2, 5)]
    unit, with_text = random.choice(["token", "character"]), random.random() < 0.8
    found: dict[str, dict[str, clueval.Document]] = {name: {} for name in [*names, "system"]}
    for number in range(random.randint(1, 4)):
        text: dict[str, Any] = {"unit": unit, "metadata": {"m": str(number % 2)}}
        if with_text:
            text["tokens" if unit == "token" else "text"] = ["w"] * SIZE if unit == "token" else "w" * SIZE
        usual = {layer: some_spans(random, kind, labels, random.randint(0, 5)) for layer in layers}
        chosen = random.sample(names, random.choice([1, *range(2, len(names) + 1), len(names)]))
        for name in [*chosen, "system"]:
            own = {layer: _variant(random, usual[layer], kind, labels) for layer in layers}
            found[name][str(number)] = canonical(clueval.Document(str(number), own, **text))
    system = found.pop("system")
    return Corpus(layers, found, system if random.random() < 0.3 else None)


def _variant(random: Random, usual: Sequence[clueval.Span], kind: str, labels: str) -> Sequence[clueval.Span]:
    if random.random() < 0.2:
        return some_spans(random, kind, labels, random.randint(0, 5))
    kept = [span for span in usual if random.random() < 0.8]
    return [replace(span, labels=random.choice(labels)) if random.random() < 0.2 else span for span in kept]


# Both editions


def by_first(made: Corpus, keys: Sequence[str], **options: Any) -> dict[str, Any] | str:
    """Return the report of the first edition, without what is not counted, or "refused"."""
    sources = {name: list(documents.values()) for name, documents in made.annotators.items()}
    system = None if made.system is None else list(made.system.values())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = clueval.agree(sources, conventions=list(keys), system=system, **options).to_dict()
        except clueval.CluevalError:
            return "refused"
    for name in ("clueval", "signature", "repaired_tags"):
        del found[name]
    for each in found["agreement"].values():
        each["notes"] = _plain(each["notes"])
    return found


def _plain(notes: Sequence[str]) -> list[str]:
    """Return the notes without the place of the first overlap, and without those that texts are missing.

    The first edition says that an annotator shares no document, too, if it shares documents without a text and spans.
    """
    return [note.partition(" (")[0] for note in notes if "no text" not in note and "shares no" not in note]


def counted(made: Corpus, plan: Plan, random: Random | None = None) -> Bag:
    """Return the bag of a corpus; `random` says whether it is cut into two bags, and where."""
    sides = [*made.annotators.values(), *([] if made.system is None else [made.system])]
    ids = sorted({name for documents in made.annotators.values() for name in documents})
    texts = [[Group(tuple(second(side[name]) if name in side else None for side in sides))] for name in ids]
    cut = len(texts) if random is None else random.randint(0, len(texts))
    bag, rest = (count(part, plan, made.layers) for part in (texts[:cut], texts[cut:]))
    if random is not None and random.random() < 0.5:
        bag.fold()
    bag.include(rest)
    return bag


def metric_of(made: Corpus, keys: Sequence[str] = DEFAULTS) -> Agreement:
    """Return the metric for the annotators of a corpus."""
    return Agreement(tuple(made.annotators), chosen_conventions(keys), made.system is not None)


def by_second(
    made: Corpus,
    keys: Sequence[str],
    random: Random | None = None,
    merge: bool = False,
    where: Mapping[str, Sequence[str]] = NOTHING,
) -> dict[str, Any] | str:
    """Return the same of the second edition."""
    metric = metric_of(made, keys)
    names = (*made.annotators, *(["system"] if metric.system else []))
    conditions = {key: frozenset(values) for key, values in where.items()}
    plan = Plan((metric,), merge=merge, sides=names, where=conditions)
    try:
        bag = counted(made, plan, random)
        found = report(bag, metric, sequences_of(bag, plan))
    except clueval.CluevalError:
        return "refused"
    for each in found["agreement"].values():
        each["notes"] = _plain(each["notes"])
    return found


def compare(number: int, seed: int) -> Counter[str]:
    """Count random corpora by their kind and by how the editions agree: equal, refused, or where they differ."""
    random = Random(seed)
    found: Counter[str] = Counter()
    everything = [convention.key for convention in CONVENTIONS]
    for _ in range(number):
        kind = random.choice(KINDS)
        made = corpus(random, kind)
        keys = DEFAULTS if random.random() < 0.5 else random.sample(everything, random.randint(1, 3))
        options: dict[str, Any] = {}
        if kind == "flat" and random.random() < 0.4:
            options["merge"] = True
        if random.random() < 0.2:
            options["where"] = {"m": ["0"]}
        one, other = by_first(made, keys, **options), by_second(made, keys, random, **options)
        differs = difference(one, other)
        how = "equal" if differs is None and isinstance(one, dict) else "refused"
        found[f"{kind} {how}" if differs is None else f"{kind} {keys} {options} {differs}"] += 1
    return found


if __name__ == "__main__":
    number, seed = int(sys.argv[1]), int(sys.argv[2])
    began = time.process_time()
    warnings.simplefilter("ignore")
    found = compare(number, seed)
    wrong = disagreements(found)
    for what in [*wrong[:10], *sorted(found.keys() - {*wrong})]:
        print(found[what], what[:600])
    print(f"{len(wrong)} disagreements")
    print(f"{time.process_time() - began:.0f} s")
