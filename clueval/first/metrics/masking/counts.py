"""The counts of metric `masking`, from the examination of one document.

The keys of the tally, of which `clueval.first.metrics.masking.figures` makes the report:

* ``(ROWS, name, field)``: ROWS is ``all`` (name ``""``), ``class`` or ``label``; the fields are `FIELDS`.
* ``("precision", field)``, ``("replacements", field)``, ``("redacted", field)``, ``("string_leaks", "all")``;
  ``("redacted", "documents")`` is the number of redacted texts.
* ``("weighted", ROWS, name, field, weight)`` and ``("weighted", "precision", "", field, weight)``: how many
  words have this weight (as `repr` writes it), so that sums of weights are exact.
* ``("entities", "by id")`` and ``("entities", "by surface")``: how many mentions of an entity were told apart
  by its id or by its words.
* ``("seen", layer)``: documents whose predicted side has a layer that ``masks`` names; ``("annotator", layer)``:
  documents whose gold side has one that ``annotators`` names; ``("gold", "layer")``: documents whose gold side has
  the layer of the sequence, and ``("gold", "classes")`` those with the layer or feature that ``risk_layer`` names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from clueval.first.metrics.counting import Tally
from clueval.first.metrics.masking.exposure import Examination, Judged, consistency_of, replacements_of
from clueval.first.metrics.masking.mention import Mention, Risk
from clueval.first.metrics.masking.weights import PositionWeights
from clueval.first.metrics.rates import Shape, is_score

MENTION_FIELDS = (
    *("mentions", "protected", "partial", "missed"),
    *("words", "words_exposed", "characters", "characters_exposed"),
)
FIELDS = (
    *("mentions", "protected", "partial", "missed", "entities", "entities_protected", "entities_in_part"),
    *("words", "words_exposed", "characters", "characters_exposed", "documents", "documents_exposed"),
)
PRECISION_FIELDS = (
    *("words", "words_right", "masks", "masks_needless", "letters", "letters_masked"),
    *("letters_outside", "characters_over_masked"),
)
REPLACEMENT_FIELDS = ("entities", "several", "shared")
REDACTED_FIELDS = ("placeholders", "uncertain", "initials", "replaced_words")

_ROWS = ("all", "class", "label")

TALLY_KEYS: tuple[Shape, ...] = (
    (_ROWS, str, FIELDS),
    (("precision",), PRECISION_FIELDS),
    (("replacements",), REPLACEMENT_FIELDS),
    (("redacted",), (*REDACTED_FIELDS, "documents")),
    (("string_leaks",), ("all",)),
    (("weighted",), (*_ROWS, "precision"), str, (*FIELDS, *PRECISION_FIELDS), is_score),
    (("entities",), ("by id", "by surface")),
    (("seen",), str),
    (("annotator",), str),
    (("kept",), str),
    (("gold",), ("layer", "classes")),
)
"""The shapes of the keys, see `clueval.first.metrics.tally_keys`."""

WeightOf = Callable[[int], float]
"""The weight of a word, given its number."""

Row = tuple[str, str]
"""The kind of a row (``all``, ``class`` or ``label``) and its name."""


def count(examination: Examination, risk: Risk, weight_of: WeightOf | None) -> Tally:
    """Return everything that is counted in one document; `weight_of` is None if words have no weights."""
    tally: Tally = Tally()
    for found in examination.judged.values():
        counted = [one for one in found if one.mention.counted]
        _add_mentions(tally, counted)
        _add_entities(tally, counted, risk)
        if weight_of is not None:
            _add_weights(tally, examination, counted, weight_of)
    _add_documents(tally, examination)
    _add_precision(tally, examination, weight_of)
    for field, number in consistency_of(examination).items():
        tally["replacements", field] += number
    tally["string_leaks", "all"] += len(examination.string_leaks)
    _add_redacted(tally, examination)
    return tally


def _add_mentions(tally: Tally, found: Sequence[Judged]) -> None:
    """Add mentions to their rows; those of the same class and label are added up first."""
    sums: dict[tuple[str, str], list[int]] = {}
    for mention, characters, exposed, words, words_exposed in found:
        group = mention.kind, mention.label
        if group not in sums:
            sums[group] = [0] * len(MENTION_FIELDS)
        numbers = sums[group]
        numbers[0] += 1
        numbers[1 if not exposed else 3 if exposed == characters else 2] += 1
        numbers[4] += words
        numbers[5] += words_exposed
        numbers[6] += characters
        numbers[7] += exposed
    by_id = sum([one.mention.has_id for one in found])
    tally["entities", "by id"] += by_id
    tally["entities", "by surface"] += len(found) - by_id
    for (kind, label), numbers in sums.items():
        for row, name in (("all", ""), ("class", kind), ("label", label)):
            for field, number in zip(MENTION_FIELDS, numbers, strict=True):
                tally[row, name, field] += number


def by_entity(found: Iterable[Judged]) -> dict[int, list[Judged]]:
    """Group the mentions of one annotator by their entities."""
    entities: dict[int, list[Judged]] = {}
    for one in found:
        entities.setdefault(one.mention.entity, []).append(one)
    return entities


def _add_entities(tally: Tally, found: Sequence[Judged], risk: Risk) -> None:
    kinds: dict[int, str] = {}
    for kind, entity in [(one.mention.kind, one.mention.entity) for one in found]:
        if kinds.setdefault(entity, kind) != kind:
            kinds[entity] = min(kind, kinds[entity], key=risk)
    exposed = Counter([one.mention.entity for one in found if one.exposed])
    mentions = Counter([one.mention.entity for one in found if one.mention.entity in exposed])
    of_exposed = Counter([kinds[entity] for entity in exposed])
    in_part = Counter([kinds[entity] for entity, number in exposed.items() if number < mentions[entity]])
    for kind, number in Counter(kinds.values()).items():
        for row in (("all", ""), ("class", kind)):
            tally[*row, "entities"] += number
            tally[*row, "entities_protected"] += number - of_exposed[kind]
            tally[*row, "entities_in_part"] += in_part[kind]


def _add_documents(tally: Tally, examination: Examination) -> None:
    counted = [one for found in examination.judged.values() for one in found if one.mention.counted]
    exposed = {one.mention.kind for one in counted if one.exposed}
    rows = {("class", kind): kind in exposed for kind in {one.mention.kind for one in counted}}
    for row, is_exposed in ({("all", ""): bool(exposed), **rows} if rows else {}).items():
        tally[*row, "documents"] += 1
        tally[*row, "documents_exposed"] += is_exposed


def _add_precision(tally: Tally, examination: Examination, weight_of: WeightOf | None) -> None:
    text, masked, mentioned = examination.text, examination.masked, examination.mentioned
    letters, hidden, inside_mentions = text.letters.total, text.letters & masked, text.letters & mentioned
    tally["precision", "letters"] += letters
    tally["precision", "letters_masked"] += hidden.total
    tally["precision", "letters_outside"] += letters - inside_mentions.total
    tally["precision", "characters_over_masked"] += (hidden - mentioned).total
    masks = [mask for mask in examination.masks if mask.counted]
    tally["precision", "masks"] += len(masks)
    tally["precision", "masks_needless"] += sum([not mentioned.within(mask.ranges) for mask in masks])
    for found in examination.mentions.values():
        own = (one for mention in found for one in mention.ranges)
        alone = len(examination.mentions) == 1
        inside = mentioned if alone else PositionWeights.at(own, text.size)
        right = hidden & inside
        if text.in_tokens and weight_of is None:
            tally["precision", "words"] += text.size - hidden.bytes.count(0)
            tally["precision", "words_right"] += text.size - right.bytes.count(0)
            continue
        for word, letters in _masked_words(examination):
            start, end = text.starts[word], text.ends[word]
            is_right = right.between(start, end) == letters
            tally["precision", "words"] += 1
            tally["precision", "words_right"] += is_right
            if weight_of is not None:
                weight = repr(weight_of(word))
                tally["weighted", "precision", "", "words", weight] += 1
                tally["weighted", "precision", "", "words_right", weight] += is_right


def _masked_words(examination: Examination) -> Iterator[tuple[int, int]]:
    """Yield the words with masked letters or digits, by number, and how many of these they have."""
    text = examination.text
    masked = text.letters & examination.masked
    past = 0
    for start, end in examination.masked_ranges:
        for word in text.words_in(start, end):
            letters = masked.between(text.starts[word], text.ends[word])
            if word >= past and letters:
                yield word, letters
                past = word + 1


def _add_weights(
    tally: Tally, examination: Examination, found: Iterable[Judged], weight_of: WeightOf
) -> None:
    groups: dict[tuple[str, str], list[Mention]] = {}
    for one in found:
        groups.setdefault((one.mention.kind, one.mention.label), []).append(one.mention)
    for (kind, label), mentions in groups.items():
        for word, exposed in chain.from_iterable(map(examination.words_of, mentions)):
            weight = repr(weight_of(word))
            for row in (("all", ""), ("class", kind), ("label", label)):
                tally["weighted", *row, "words", weight] += 1
                tally["weighted", *row, "words_exposed", weight] += exposed


def _add_redacted(tally: Tally, examination: Examination) -> None:
    """Add what is known of a redacted text, if the predicted side comes from one."""
    details = examination.details
    if not details:
        return
    tally["redacted", "documents"] += 1
    for field in ("placeholders", "replaced_words"):
        tally["redacted", field] += details[field]
    for _, one, replacement in replacements_of(examination):
        tally["redacted", "initials"] += shows_initial(one, replacement)
    other: Examination = details["from_the_right"]
    for name, found in examination.judged.items():
        pairs = zip(found, other.judged[name], strict=True)
        tally["redacted", "uncertain"] += sum(
            one.status != again.status or details["uncertain"].within(one.mention.ranges) > 0
            for one, again in pairs
        )


def shows_initial(one: Judged, replacement: str) -> bool:
    """Return whether a placeholder shows the first letter of the mention that it stands for."""
    is_crossed_out = not replacement.strip("Xx")
    return not is_crossed_out and replacement[0].isalnum() and replacement[0] == one.mention.words[0][:1]
