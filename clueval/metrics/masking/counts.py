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
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import compress
from typing import Any

from clueval.core.metric import Tally, f_measure
from clueval.metrics.masking.exposure import Examination, Judged, Masks, Risk
from clueval.metrics.masking.text import PositionWeights
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
    """Return everything that is counted in one document; `weight_of` is None if words have no weights."""
    tally = Tally()
    documents: dict[Row, bool] = {}  # whether a mention of a row is exposed
    for judged in examination.judged.values():
        counted = [each for each in judged if each.mention.counted]
        _add_mentions(tally, counted, documents)
        _add_entities(tally, examination, counted, risk)
        if weight_of is not None:
            _add_weights(tally, examination.masks, counted, weight_of)
        if examination.again is not None and examination.uncertain is not None:
            for each in counted:
                is_other = each.status != examination.again.judge(each.mention).status
                is_uncertain = is_other or examination.uncertain.are_in(each.mention.ranges)
                tally["redacted", "uncertain"] += is_uncertain
    for row, is_exposed in documents.items():
        tally[*row, "documents"] += 1
        tally[*row, "documents_exposed"] += is_exposed
    _add_masks(tally, examination)
    for judged in examination.judged.values():
        mentioned = examination.mentioned
        if len(examination.judged) > 1:
            places = (place for each in judged for place in each.mention.ranges)
            mentioned = PositionWeights.at(places, examination.text.size)
        _add_masked_words(tally, examination, mentioned, weight_of)
    tally["string_leaks", "all"] += len(examination.string_leaks)
    return tally


def _add_mentions(tally: Tally, counted: Iterable[Judged], documents: dict[Row, bool]) -> None:
    """Add the mentions of one annotator, and to `documents` the rows of them, and whether one is exposed."""
    groups: dict[tuple[str, str], list[int]] = {}
    by_id = 0
    for mention, characters, exposed, words, words_exposed in counted:
        numbers = groups.get((mention.kind, mention.label))
        if numbers is None:
            numbers = groups[mention.kind, mention.label] = [0] * len(MENTION_FIELDS)
        numbers[0] += 1
        numbers[1 if not exposed else 3 if exposed == characters else 2] += 1
        numbers[4] += words
        numbers[5] += words_exposed
        numbers[6] += characters
        numbers[7] += exposed
        by_id += mention.has_id
    for (kind, label), numbers in groups.items():
        for row in _rows_of(kind, label):
            for field, number in zip(MENTION_FIELDS, numbers, strict=True):
                tally[*row, field] += number
            if row[0] != "label":
                documents[row] = documents.get(row, False) or numbers[1] < numbers[0]
        tally["entities", "by surface"] += numbers[0]
    tally["entities", "by surface"] -= by_id
    tally["entities", "by id"] += by_id


def _rows_of(kind: str, label: str) -> tuple[Row, Row, Row]:
    return _ALL, ("class", kind), ("label", label)


def _add_weights(tally: Tally, masks: Masks, counted: Iterable[Judged], weight_of: WeightOf) -> None:
    for mention, *_ in counted:
        for word, is_exposed in masks.words_of(mention):
            weight = repr(weight_of(word))
            for row in _rows_of(mention.kind, mention.label):
                tally["weighted", *row, "words", weight] += 1
                tally["weighted", *row, "words_exposed", weight] += is_exposed


def _add_entities(tally: Tally, examination: Examination, counted: Iterable[Judged], risk: Risk) -> None:
    """Add the entities of one annotator, each of the riskiest class of its mentions, and their replacements."""
    entities: dict[int, list[Judged]] = {}
    for each in counted:
        entities.setdefault(each.mention.entity, []).append(each)
    numbers: Counter[tuple[str, bool, bool]] = Counter()
    of_entities: list[str] = []  # the different replacements of each
    replacement_of = examination.masks.replacement
    for members in entities.values():
        exposed, replacements = 0, []
        for mention, _, is_exposed, _, _ in members:
            if is_exposed:
                exposed += 1
            elif (replacement := replacement_of(mention)) is not None:
                replacements.append(replacement)
                if examination.again is not None and replacement.strip("Xx"):
                    is_initial = replacement[:1].isalnum() and replacement[:1] == mention.words[0][:1]
                    tally["redacted", "initials"] += is_initial
        kind = members[0].mention.kind
        if len(members) > 1:
            kind = min({each.mention.kind for each in members}, key=risk)
        numbers[kind, not exposed, 0 < exposed < len(members)] += 1
        different = {*replacements}
        of_entities += different
        if len(replacements) > 1:
            tally["replacements", "entities"] += 1
            tally["replacements", "several"] += len(different) > 1
    for (kind, is_protected, is_in_part), number in numbers.items():
        for row in (_ALL, ("class", kind)):
            tally[*row, "entities"] += number
            tally[*row, "entities_protected"] += number * is_protected
            tally[*row, "entities_in_part"] += number * is_in_part
    tally["replacements", "shared"] += sum(number > 1 for number in Counter(of_entities).values())


def _add_masks(tally: Tally, examination: Examination) -> None:
    """Add what is counted once for each document: letters and digits, and masks."""
    text, masks, mentioned = examination.text, examination.masks, examination.mentioned
    hidden = text.letters & masks.masked
    letters = text.letters.total
    tally["precision", "letters"] += letters
    tally["precision", "letters_masked"] += hidden.total
    tally["precision", "letters_outside"] += letters - (text.letters & mentioned).total
    tally["precision", "characters_over_masked"] += (hidden - mentioned).total
    counted = masks.spans if masks.counted is None else list(compress(masks.spans, masks.counted))
    tally["precision", "masks"] += len(counted)
    tally["precision", "masks_needless"] += sum([not mentioned.are_in(span.fragments) for span in counted])


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

RECALLS = (
    *("mention_recall", "entity_recall", "word_recall", "weighted_word_recall"),
    *("character_recall", "document_recall"),
)

RECALLS_OF_MENTIONS = ("mention_recall", "word_recall", "weighted_word_recall", "character_recall")

PLACES = {ALL: "classes", "class": "classes", "label": "labels"}
"""The sections of the report that have the rows of each kind."""


def report_of(tally: Tally, risk: Risk, betas: Sequence[float], confidence: float) -> dict[str, Any]:
    """Return the report, with F of `BETAS` if `betas` is empty."""
    weights = weighted_sums(tally)
    classes, labels = ({key[1] for key in tally if key[0] == kind} for kind in ("class", "label"))
    every = _row(tally, (ALL, ""), FIELDS, weights, confidence)
    precision = _precision(tally, weights)
    f: dict[str, float | None] = {}
    word_precision, word_recall = precision["word_precision"], every["word_recall"]
    for beta in betas or BETAS:
        is_defined = word_precision is not None and word_recall is not None
        f[f"{beta:g}"] = f_measure(word_precision, word_recall, beta) if is_defined else None
    redacted = {field: tally["redacted", field] for field in REDACTED_FIELDS}
    return {
        "classes": {
            ALL: every,
            **{
                name: _row(tally, ("class", name), FIELDS, weights, confidence)
                for name in sorted(classes, key=risk)
            },
        },
        "labels": {
            name: _row(tally, ("label", name), MENTION_FIELDS, weights, confidence) for name in sorted(labels)
        },
        "f": f,
        "precision": precision,
        "replacements": {field: tally["replacements", field] for field in REPLACEMENT_FIELDS},
        "string_leaks": tally["string_leaks", ALL],
        "redacted": redacted if tally["redacted", "documents"] else None,
        "conventions": {},
    }


def shares_of(tally: Tally, row: Row) -> dict[str, tuple[int, int]]:
    """Return the part and the whole of each recall of a row, by its name; words with weights are not counted so."""
    parts = {
        "mention_recall": (tally[*row, "protected"], tally[*row, "mentions"]),
        "entity_recall": (tally[*row, "entities_protected"], tally[*row, "entities"]),
    }
    for name in ("word", "character", "document"):
        whole = tally[*row, f"{name}s"]
        parts[f"{name}_recall"] = whole - tally[*row, f"{name}s_exposed"], whole
    return parts


def share(part: float, whole: float) -> float | None:
    """Return ``part / whole``; 0/0 is None.

    >>> share(1, 4), share(0, 0)
    (0.25, None)
    """
    return part / whole if whole else None


_Weights = Mapping[tuple[str, str, str], float]


def _row(
    tally: Tally, row: Row, fields: Collection[str], weights: _Weights, confidence: float
) -> dict[str, Any]:
    """Return the counts and rates of a row; a row without entities and documents has no rates of them."""
    counts = {field: tally[*row, field] for field in fields}
    weight, exposed_weight = (weights.get((*row, field), 0.0) for field in ("words", "words_exposed"))
    rates = {name: share(*of_rate) for name, of_rate in shares_of(tally, row).items()}
    rates["weighted_word_recall"] = share(math.fsum((weight, -exposed_weight)), weight)
    if "documents" not in counts:
        return counts | {name: rates[name] for name in RECALLS_OF_MENTIONS}
    documents, exposed = counts["documents"], counts["documents_exposed"]
    # one key alone, of which it is asked what it adds to a figure, may have no documents
    is_share = 0 <= exposed <= documents and 0 < documents <= MOST_DOCUMENTS
    bound = upper_bound(exposed, documents, confidence) if is_share else None
    return {**counts, **{name: rates[name] for name in RECALLS}, "document_leak_upper": bound}


def weighted_sums(tally: Tally) -> _Weights:
    """Return the sums of the weights; each is rounded once, whatever the order of its parts."""
    parts: dict[tuple[str, str, str], list[float]] = {}
    for key, number in tally.items():
        if key[0] == "weighted":
            _, kind, name, field, weight = key
            parts.setdefault((kind, name, field), []).append(float(weight) * number)
    return {key: math.fsum(values) for key, values in parts.items()}


def _precision(tally: Tally, weights: _Weights) -> dict[str, Any]:
    counts = Counter({key[1]: number for key, number in tally.items() if key[0] == "precision"})
    outside, over = counts["letters_outside"], counts["characters_over_masked"]
    right, whole = (weights.get(("precision", "", field), 0.0) for field in ("words_right", "words"))
    return {
        "words": counts["words"],
        "words_right": counts["words_right"],
        "word_precision": share(counts["words_right"], counts["words"]),
        "weighted_word_precision": share(right, whole),
        "masks": counts["masks"],
        "masks_needless": counts["masks_needless"],
        "masked_share": share(counts["letters_masked"], counts["letters"]),
        "retention": share(outside - over, outside),
        "characters_over_masked": over,
    }
