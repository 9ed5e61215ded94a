"""The counts of metric `masking`, from the examination of one document, and the report on their sum.

In the report, 0/0 is undefined, None. The keys of the tally:

* ``(ROWS, name, field)``: ROWS is ``all`` (name ``""``), ``class`` or ``label``; the fields are `FIELDS`.
* ``("precision", field)``, ``("replacements", field)``, ``("redacted", field)``, ``("string_leaks", "all")``;
  ``("redacted", "documents")`` is the number of redacted texts.
* ``("weighted", ROWS, name, field, weight)`` and ``("weighted", "precision", "", field, weight)``: how many
  words have this weight (as `repr` writes it), so that sums of weights are exact.
* ``("entities", "by id")`` and ``("entities", "by surface")``: how many mentions of an entity were told apart
  by its id or by its words.
* ``("seen", layer)``: documents whose predicted side has a layer that ``masks`` names; ``("annotator", layer)``:
  documents whose gold side has one that ``annotators`` names; ``("gold", "layer")``: documents whose gold side has
  the layer of the sequence, and ``("gold", "classes")`` those with the layer or feature that ``risk_layer`` names;
  ``("kept", name)``: documents with a span whose class or label is a name of ``keep`` that is not usual.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from clueval.core.metric import Sizes
from clueval.core.tally import Tally, f_measure
from clueval.metrics.masking.exposure import Examination, Judged
from clueval.metrics.masking.mention import Risk
from clueval.metrics.masking.text import PositionWeights, Range
from clueval.statistics.distributions import upper_bound

MENTION_FIELDS = (
    *("mentions", "protected", "partial", "missed"),
    *("words", "words_exposed", "characters", "characters_exposed"),
)
FIELDS = (
    *("mentions", "protected", "partial", "missed", "entities", "entities_protected", "entities_in_part"),
    *("words", "words_exposed", "characters", "characters_exposed", "documents", "documents_exposed"),
)
REPLACEMENT_FIELDS = ("entities", "several", "shared")
REDACTED_FIELDS = ("placeholders", "uncertain", "initials", "replaced_words")

WeightOf = Callable[[int], float]
"""The weight of a word, given its number."""

Row = tuple[str, str]
"""The kind of a row (``all``, ``class`` or ``label``) and its name."""

_ALL: Row = ("all", "")


def count(examination: Examination, risk: Risk, weight_of: WeightOf | None) -> Tally:
    """Return everything that is counted in one document; `weight_of` is None if words have no weights.

    Mentions are read, compared and counted one by one, and not kept.
    """
    tally = Tally()
    documents: dict[Row, bool] = {}
    strings: set[tuple[str, ...]] = set()
    places: list[list[Range]] = []
    for name in examination.views:
        view = _View(examination, risk, weight_of)
        view.read(name)
        view.add_to(tally)
        for row, is_exposed in view.documents().items():
            documents[row] = is_exposed or documents.get(row, False)
        strings |= view.strings
        places.append(view.places)
    for row, is_exposed in documents.items():
        tally[*row, "documents"] += 1
        tally[*row, "documents_exposed"] += is_exposed
    text = examination.text
    mentioned = PositionWeights.at((one for found in places for one in found), text.size)
    _add_masks(tally, examination, mentioned)
    for found in places:
        inside = mentioned if len(places) == 1 else PositionWeights.at(found, text.size)
        _add_masked_words(tally, examination, inside, weight_of)
    tally["string_leaks", "all"] += sum(1 for _ in examination.string_leaks(strings, mentioned))
    return tally


class _Entity:
    """The riskiest class of an entity, its mentions, those exposed and those replaced, and different replacements."""

    __slots__ = ("different", "exposed", "kind", "mentions", "replaced")

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.mentions = self.exposed = self.replaced = self.different = 0


class _View:
    """The counts of the mentions of one annotator.

    `places` and `strings` are the positions and the words of all mentions; all else is of those that are counted.
    """

    def __init__(self, examination: Examination, risk: Risk, weight_of: WeightOf | None) -> None:
        self.places: list[Range] = []
        self.strings: set[tuple[str, ...]] = set()
        self._examination, self._risk, self._weight_of = examination, risk, weight_of
        self._by_id = self._initials = self._uncertain = 0
        self._groups: dict[tuple[str, str], list[int]] = {}  # of class and label, by the fields of mentions
        # words by class, label, weight and whether they are exposed
        self._weights: Counter[tuple[str, str, str, bool]] = Counter()
        self._entities: dict[int, _Entity] = {}
        self._replaced: set[tuple[int, str]] = set()  # entities with their replacements

    def read(self, name: str) -> None:
        """Count the mentions of an annotator."""
        again, uncertain = self._examination.again, self._examination.uncertain
        for one in self._examination.judged(name):
            mention = one.mention
            self.places += mention.ranges
            self.strings.add(mention.words)
            if again is not None and uncertain is not None:
                is_other = one.status != again.judge(mention).status
                self._uncertain += is_other or uncertain.within(mention.ranges) > 0
            if mention.counted:
                self._add(one)

    def _add(self, one: Judged) -> None:
        mention, characters, exposed, words, words_exposed = one
        numbers = self._groups.get((mention.kind, mention.label))
        if numbers is None:
            numbers = self._groups[mention.kind, mention.label] = [0] * len(MENTION_FIELDS)
        numbers[0] += 1
        numbers[1 if not exposed else 3 if exposed == characters else 2] += 1
        numbers[4] += words
        numbers[5] += words_exposed
        numbers[6] += characters
        numbers[7] += exposed
        self._by_id += mention.has_id
        self._add_to_entity(one)
        if self._weight_of is not None:
            for word, is_exposed in self._examination.masks.words_of(mention):
                self._weights[mention.kind, mention.label, repr(self._weight_of(word)), is_exposed] += 1

    def _add_to_entity(self, one: Judged) -> None:
        mention = one.mention
        entity = self._entities.get(mention.entity)
        if entity is None:
            entity = self._entities[mention.entity] = _Entity(mention.kind)
        elif entity.kind != mention.kind:
            entity.kind = min(entity.kind, mention.kind, key=self._risk)
        entity.mentions += 1
        if one.exposed:
            entity.exposed += 1
        elif (replacement := self._examination.masks.replacement(mention)) is not None:
            entity.replaced += 1
            if (mention.entity, replacement) not in self._replaced:
                self._replaced.add((mention.entity, replacement))
                entity.different += 1
            self._initials += shows_initial(one, replacement)

    def documents(self) -> dict[Row, bool]:
        """Return the rows that the document is counted in, and whether a mention of them is exposed."""
        found: dict[Row, bool] = {}
        for (kind, _), numbers in self._groups.items():
            for row in (_ALL, ("class", kind)):
                found[row] = found.get(row, False) or numbers[1] < numbers[0]
        return found

    def add_to(self, tally: Tally) -> None:
        for (kind, label), numbers in self._groups.items():
            for row in (_ALL, ("class", kind), ("label", label)):
                for field, number in zip(MENTION_FIELDS, numbers, strict=True):
                    tally[*row, field] += number
            tally["entities", "by surface"] += numbers[0]
        for (kind, label, weight, is_exposed), number in self._weights.items():
            for row in (_ALL, ("class", kind), ("label", label)):
                tally["weighted", *row, "words", weight] += number
                tally["weighted", *row, "words_exposed", weight] += number * is_exposed
        tally["entities", "by id"] += self._by_id
        tally["entities", "by surface"] -= self._by_id
        kinds: Counter[tuple[str, str]] = Counter()
        for entity in self._entities.values():
            kinds[entity.kind, "entities"] += 1
            kinds[entity.kind, "entities_protected"] += not entity.exposed
            kinds[entity.kind, "entities_in_part"] += 0 < entity.exposed < entity.mentions
            tally["replacements", "entities"] += entity.replaced > 1
            tally["replacements", "several"] += entity.different > 1
        for (kind, field), number in kinds.items():
            tally[*_ALL, field] += number
            tally["class", kind, field] += number
        shared = Counter(replacement for _, replacement in self._replaced)
        tally["replacements", "shared"] += sum(number > 1 for number in shared.values())
        if self._examination.again is not None:
            tally["redacted", "initials"] += self._initials
            tally["redacted", "uncertain"] += self._uncertain


def shows_initial(one: Judged, replacement: str) -> bool:
    """Return whether a placeholder shows the first letter of the mention that it stands for."""
    is_crossed_out = not replacement.strip("Xx")
    return not is_crossed_out and replacement[0].isalnum() and replacement[0] == one.mention.words[0][:1]


def _add_masks(tally: Tally, examination: Examination, mentioned: PositionWeights) -> None:
    """Add what is counted once for each document: letters and digits, and masks."""
    text, masks = examination.text, examination.masks
    hidden = text.letters & masks.masked
    letters = text.letters.total
    tally["precision", "letters"] += letters
    tally["precision", "letters_masked"] += hidden.total
    tally["precision", "letters_outside"] += letters - (text.letters & mentioned).total
    tally["precision", "characters_over_masked"] += (hidden - mentioned).total
    for number, span in enumerate(masks.spans):
        if masks.counted is None or masks.counted[number]:
            tally["precision", "masks"] += 1
            tally["precision", "masks_needless"] += not mentioned.within(span.fragments)


def _add_masked_words(
    tally: Tally, examination: Examination, mentioned: PositionWeights, weight_of: WeightOf | None
) -> None:
    """Add the words with masked letters or digits; they are right if all of these are mentioned."""
    text = examination.text
    hidden = text.letters & examination.masks.masked
    right = hidden & mentioned
    if text.in_tokens and weight_of is None:
        tally["precision", "words"] += hidden.positions
        tally["precision", "words_right"] += right.positions
        return
    past = 0
    for run in hidden.runs(0, text.size):
        words = text.words_in(*run)
        for word in range(max(words.start, past), words.stop):
            start, end = text.starts[word], text.ends[word]
            is_right = right.between(start, end) == hidden.between(start, end)
            tally["precision", "words"] += 1
            tally["precision", "words_right"] += is_right
            if weight_of is not None:
                weight = repr(weight_of(word))
                tally["weighted", "precision", "", "words", weight] += 1
                tally["weighted", "precision", "", "words_right", weight] += is_right
        past = max(past, words.stop)


# The report


ALL = "all"

BETAS = (1.0, 2.0)
"""The weights of recall in F, if none are asked for."""

MOST_DOCUMENTS = 10**9
"""For more documents there is no bound."""

_OF_MENTIONS = ("mention_recall", "word_recall", "weighted_word_recall", "character_recall")
RECALLS = ("mention_recall", "entity_recall", *_OF_MENTIONS[1:], "document_recall")


def report_of(
    tally: Tally, risk: Risk, betas: Sequence[float], confidence: float, *, weighted: bool
) -> dict[str, Any]:
    """Return the report, with F of `BETAS` if `betas` is empty; `weighted`: words have weights."""
    names: dict[str, set[str]] = {"class": set(), "label": set()}
    for key in tally:
        if key[0] in names:
            names[key[0]].add(key[1])
    weights = weighted_sums(tally) if weighted else None
    every = _row(tally, (ALL, ""), FIELDS, weights, confidence)
    classes = {name: _row(tally, ("class", name), FIELDS, weights, confidence) for name in names["class"]}
    labels = {
        name: _row(tally, ("label", name), MENTION_FIELDS, weights, confidence) for name in names["label"]
    }
    precision = _precision(tally, weights)
    return {
        "classes": {ALL: every, **{name: classes[name] for name in sorted(classes, key=risk)}},
        "labels": dict(sorted(labels.items())),
        "f": {
            f"{beta:g}": _f(precision["word_precision"], every["word_recall"], beta)
            for beta in betas or BETAS
        },
        "precision": precision,
        "replacements": _fields(tally, ("replacements",), REPLACEMENT_FIELDS),
        "string_leaks": tally["string_leaks", ALL],
        "redacted": _fields(tally, ("redacted",), REDACTED_FIELDS)
        if tally["redacted", "documents"]
        else None,
        "conventions": {},
    }


def entities_told_by(tally: Tally) -> dict[str, str]:
    """Return how entities were told apart, for the signature."""
    names = [name for name in ("by id", "by surface") if tally["entities", name]]
    return {"entities": " and ".join(names)} if names else {}


def sizes_of(tally: Tally) -> dict[str, Sizes]:
    """Return for each row what it is about, mentions or words."""
    found: dict[tuple[str, ...], tuple[str, ...]] = {("precision",): ("precision", "words")}
    for key in tally:
        if key[0] in _PLACES:
            found[_PLACES[key[0]], key[1] or ALL] = (key[0], key[1], "mentions")
    return {".".join(path): (tally[key], tally[key]) for path, key in found.items()}


_PLACES = {ALL: "classes", "class": "classes", "label": "labels"}
"""The sections of the report that have the rows of each kind."""


def share(part: float, whole: float) -> float | None:
    """Return ``part / whole``; 0/0 is None.

    >>> share(1, 4), share(0, 0)
    (0.25, None)
    """
    return part / whole if whole else None


def _kept(lost: float, whole: float) -> float | None:
    return (whole - lost) / whole if whole else None


def _fields(tally: Tally, before: tuple[str, ...], fields: Collection[str]) -> dict[str, int]:
    return {field: tally[*before, field] for field in fields}


_Weights = Mapping[tuple[str, str, str], float]


def _row(
    tally: Tally, row: Row, fields: Collection[str], weights: _Weights | None, confidence: float
) -> dict[str, Any]:
    """Return the counts and rates of a row; a row without entities and documents has no rates of them."""
    found: dict[str, Any] = _fields(tally, row, fields)
    rates: dict[str, float | None] = {
        "mention_recall": share(found["protected"], found["mentions"]),
        "word_recall": _kept(found["words_exposed"], found["words"]),
        "weighted_word_recall": _weighted_recall(weights, row),
        "character_recall": _kept(found["characters_exposed"], found["characters"]),
    }
    if "documents" not in found:
        return found | rates
    documents, exposed = found["documents"], found["documents_exposed"]
    rates["entity_recall"] = share(found["entities_protected"], found["entities"])
    rates["document_recall"] = _kept(exposed, documents)
    # counts that no corpus has are scored where it is found out which counts a figure is made of
    is_share = 0 <= exposed <= documents and 0 < documents <= MOST_DOCUMENTS
    bound = upper_bound(exposed, documents, confidence) if is_share else None
    return {**found, **{name: rates[name] for name in RECALLS}, "document_leak_upper": bound}


def _weighted_recall(weights: _Weights | None, row: Row) -> float | None:
    if weights is None:
        return None
    whole = weights.get((*row, "words"), 0.0)
    return share(math.fsum((whole, -weights.get((*row, "words_exposed"), 0.0))), whole)


def weighted_sums(tally: Tally) -> _Weights:
    """Return the sums of the weights; each is rounded once, whatever the order of its parts."""
    parts: dict[tuple[str, str, str], list[float]] = {}
    for key, number in tally.items():
        if key[0] == "weighted":
            _, kind, name, field, weight = key
            parts.setdefault((kind, name, field), []).append(float(weight) * number)
    return {key: math.fsum(values) for key, values in parts.items()}


def _precision(tally: Tally, weights: _Weights | None) -> dict[str, Any]:
    found = {key[1]: number for key, number in tally.items() if key[0] == "precision"}
    get = found.get
    words, right = get("words", 0), get("words_right", 0)
    over, outside = get("characters_over_masked", 0), get("letters_outside", 0)
    weighted = None
    if weights is not None:
        row = ("precision", "")
        weighted = share(weights.get((*row, "words_right"), 0.0), weights.get((*row, "words"), 0.0))
    return {
        "words": words,
        "words_right": right,
        "word_precision": share(right, words),
        "weighted_word_precision": weighted,
        "masks": get("masks", 0),
        "masks_needless": get("masks_needless", 0),
        "masked_share": share(get("letters_masked", 0), get("letters", 0)),
        "retention": _kept(over, outside),
        "characters_over_masked": over,
    }


def _f(precision: float | None, recall: float | None, beta: float) -> float | None:
    return None if precision is None or recall is None else f_measure(precision, recall, beta)
