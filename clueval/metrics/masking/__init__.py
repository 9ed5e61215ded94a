"""Metric `masking`: what was left unmasked, and what was masked without need.

Gold spans are mentions, which must be masked; predicted spans are masks, whatever their labels. A mention is
*protected* if none of its letters and digits can be read. The rates are shares:

==================  ====================================================================
mention recall      mentions that are protected
entity recall       entities (persons, things) whose mentions are all protected
word recall         words of mentions that are masked as a whole
character recall    letters and digits of mentions that are masked
document recall     documents in which all mentions are protected
word precision      masked words that belong to a mention
masked share        letters and digits of the texts that are masked
retention           letters and digits outside of mentions that can still be read
==================  ====================================================================

The recalls are those of all mentions and of each class of risk; mentions, words and characters also of each label.
*Document leak upper* is an upper bound of the share of documents that leak (Clopper and Pearson 1934). A rate of 0/0
is undefined. The counts of all documents are added before any rate is divided.

`clueval masking` prints the report with each leak. There each setting is an option of its own, such as
`--risk-layer`. The page `concept-masking-figures` of the guide has an example to check by hand.

Source: clueval's own definition; entities and classes of risk follow Pilán et al. 2022, The Text Anonymization
Benchmark (TAB), Computational Linguistics 48 (4).
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar

from clueval.core.case import Where, which_count
from clueval.core.document import (
    FROM_THE_RIGHT,
    INITIALS,
    PLACEHOLDERS,
    REPLACED_WORDS,
    SHOWN,
    UNCERTAIN,
    Document,
    Pair,
)
from clueval.core.metric import Counts, DocumentMetric, Sizes, Tally
from clueval.core.span import NO_LABEL, Span
from clueval.files.errors import FormatError, UsageError, cut_label, warn, with_noun
from clueval.files.opening import lines
from clueval.files.options import option_field, require_beta, require_choices, require_kind, require_share
from clueval.metrics.masking.counts import ALL, PLACES, count, report_of, shares_of
from clueval.metrics.masking.exposure import (
    CLASS_LAYER,
    Examination,
    FoundWords,
    Masks,
    MentionReader,
    class_names,
    find_in_replacements,
    find_strings,
    risk_by,
)
from clueval.metrics.masking.text import MaskedText, PositionWeights, Range, from_zero

RISKS = ("high", "medium", "low", "hoch", "mittel", "niedrig", "DIRECT", "QUASI")
"""The usual classes, riskiest first."""
NO_MASK = "NO_MASK"
"""The usual label of a span that needs no mask."""
ENTITY = "entity_id"
"""The usual feature of a span that says of which entity it is a mention."""

EVERY = "all"
"""The setting that means all layers."""

Layers = Mapping[str, Sequence[Span]]

ChosenSpans = tuple[Sequence[Span], Sequence[bool] | None]
"""Spans, and whether each is counted (None: all are)."""

_LISTED = 10
"""How many names a warning lists."""

ANNOTATORS = "annotators"
"""The sequence that has all annotators."""


# Settings that are files. A hash of the content stands for it in the signature.

_MOST = 10**18
"""Counts of words are below this number."""


@dataclass(frozen=True, slots=True)
class IgnoredWords:
    """Words that need no mask, case-folded."""

    words: frozenset[str] = frozenset()

    @classmethod
    def of(cls, words: Iterable[str]) -> IgnoredWords:
        return cls(frozenset(word.strip().casefold() for word in words if word.strip()))

    @classmethod
    def read(cls, path: str | Path) -> IgnoredWords:
        """Return the words of a file, one a line."""
        return cls.of(line for _, line in lines(Path(path)))

    def __str__(self) -> str:
        return _hash(sorted(self.words)) if self.words else "none"


@dataclass(frozen=True, slots=True)
class WordWeights:
    """Weights of words by how often they occur: ``-ln((c + 1) / (N + V + 1))``.

    `counts` has the count c of each case-folded word, N is the sum of all counts, V the number of words.
    """

    counts: Mapping[str, int] = field(hash=False)

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> WordWeights:
        """Return the weights of words by these counts; words that differ only in case are added.

        Raises `UsageError` for a count that is not a whole number from 0 on.
        """
        folded: Counter[str] = Counter()
        for word, times in counts.items():
            if type(times) is not int or not 0 <= times < _MOST:
                raise UsageError(
                    f"the count {times!r} of a word is not a whole number from 0 on with at most 18 digits"
                )
            folded[word.casefold()] += times
        return cls(dict(folded))

    @classmethod
    def read(cls, path: str | Path) -> WordWeights:
        """Return the weights of a file with a word and its count on each line, separated by a tab.

        Words that differ only in upper and lower case are added. Raises `FormatError` with the line.
        """
        counts: Counter[str] = Counter()
        for number, line in lines(Path(path)):
            if line.strip():
                word, _, times = line.partition("\t")
                if not (word.strip() and re.fullmatch("[0-9]{1,18}", times.strip())):
                    raise FormatError(
                        f"{line[:80]!r} is not a word and its count",
                        file=str(path),
                        line=number,
                        advice="a word, a tab, a whole number from 0 on with at most 18 digits",
                    )
                counts[word.strip().casefold()] += int(times)
        if not counts:
            raise FormatError("the file has no words", file=str(path), advice="word, tab, count on each line")
        return cls(dict(counts))

    def weigher(self) -> Callable[[str], float]:
        """Return the function that weighs a word."""
        counts, whole = self.counts, sum(self.counts.values()) + len(self.counts) + 1
        return lambda word: round(-math.log((counts.get(word.casefold(), 0) + 1) / whole), 12)

    def __str__(self) -> str:
        return _hash(f"{word}\t{times}" for word, times in sorted(self.counts.items()))


@dataclass(frozen=True, slots=True)
class Masking(DocumentMetric):
    """The metric; the specification of its figures is in the guide, `concept-masking-figures`.

    A predicted document whose metadata has the number of ``placeholders`` was recovered from a redacted text.
    It has no `headlines`: the rates of a row are about mentions, entities, words, characters and documents, so that no
    four counts give them; intervals and tests compute them from the tallies, by `scores`.
    Raises `UsageError` for settings outside their range.
    """

    name: ClassVar[str] = "masking"
    zero: ClassVar[str] = "undefined"

    risk_layer: str | None = option_field(
        None,
        "NAME",
        "the layer, or the feature of gold spans, that has the class of each mention",
        default=f"the layer {CLASS_LAYER}, else the feature identifier_type",
    )
    risk_order: tuple[str, ...] = option_field(RISKS, "CLASS,...", "the classes, riskiest first")
    keep: tuple[str, ...] = option_field((NO_MASK,), "NAME,...", "classes and labels that need no mask")
    masks: tuple[str, ...] = option_field(
        (),
        "LAYER,...",
        "the predicted layers that mask, or all",
        default="the layer of the same name, or the only one",
    )
    ignore: str = option_field(
        "punctuation",
        "WHAT",
        "characters of a mention that may stay readable: punctuation (all but letters and digits) or none",
        choices=("punctuation", "none"),
    )
    ignore_words: IgnoredWords = option_field(
        IgnoredWords(),
        "FILE",
        "words that may stay readable, one a line",
        parse=IgnoredWords.read,
        takes="a file of words",
        default="none",
    )
    entity: str = option_field(
        ENTITY,
        "NAME",
        "the feature or layer of gold that says which mentions are one entity; without it, these are mentions with "
        "the same label and words",
    )
    annotators: tuple[str, ...] = option_field(
        (), "LAYER,...", "gold layers, each with the spans of one annotator; all: all layers"
    )
    confidence: float = option_field(0.95, "C", "the confidence of the bound on documents that leak")
    beta: tuple[float, ...] = option_field(
        (),
        "B,...",
        "show F of word precision and recall, with these weights of recall",
        default="F1 and F2, in JSON only",
    )
    word_weights: WordWeights | None = option_field(
        None,
        "FILE",
        "how often words occur: a word, a tab and its count on each line; rare words weigh more",
        parse=WordWeights.read,
        takes="a file of words and counts",
    )
    token_weights: bool = option_field(False, None, "the ids of gold's tokens (--token-id) are their weights")

    def __post_init__(self) -> None:
        if not isinstance(self.ignore_words, IgnoredWords):
            object.__setattr__(self, "ignore_words", IgnoredWords.of(self.ignore_words))
        if isinstance(self.word_weights, Mapping):
            object.__setattr__(self, "word_weights", WordWeights.of(self.word_weights))
        for setting in fields(self):
            require_kind(getattr(self, setting.name), str(setting.type), setting.name)
        require_share("confidence", self.confidence)
        require_choices(self, "Masking")
        for beta in self.beta:
            require_beta(beta, "beta")
        if self.token_weights and self.word_weights is not None:
            raise UsageError("words have weights from a file and from a column", advice="give one of them")

    @property
    def filters(self) -> str | None:  # type: ignore[override]  # with annotators, it follows from the settings
        """What to do instead of a filter on a layer, which annotators do not have."""
        return "filter documents only, or use keep" if self.annotators else None

    @property
    def whole(self) -> str | None:
        """The only sequence of annotators, which are counted together."""
        return ANNOTATORS if self.annotators else None

    @property
    def class_layer(self) -> str:
        return self.risk_layer or CLASS_LAYER

    def count_documents(self, pairs: Sequence[Pair], sequence: str, where: Where) -> Tally:
        """Count the pairs of one text. Raises `UsageError` for one without its text."""
        tally = Tally()
        for pair in pairs:
            examination = self.examine(pair, sequence, where)
            if examination is not None:
                tally.update(self.count_examined(examination, pair, sequence))
        return Tally(+tally)

    def count_examined(self, examination: Examination, pair: Pair, sequence: str) -> Tally:
        """Return what is counted in one document."""
        gold, predicted = pair.gold.layers, pair.predicted.layers
        weight_of = token_weights(examination.document) if self.token_weights else None
        if self.word_weights is not None:
            weigh, spelled = self.word_weights.weigher(), examination.text.spelled
            weight_of = lambda word: weigh(spelled[word])  # noqa: E731
        tally = count(examination, risk_by(self.risk_order), weight_of)
        for key, names, layers in (("seen", self.masks, predicted), ("annotator", self.annotators, gold)):
            for name in names:
                tally[key, name] += name in layers
        if unusual := self._unusual_names:
            for name in unusual & {*_names_in(gold, self.risk_layer), *_names_in(predicted, self.risk_layer)}:
                tally["kept", name] += 1
        tally["gold", "layer"] += sequence in gold or bool(self.annotators)
        if self.risk_layer is not None:
            classified = any(key[0] == "class" and key[1] != NO_LABEL for key in tally)
            tally["gold", "classes"] += classified or self.risk_layer in gold
        if examination.again is not None:
            tally["redacted", "documents"] += 1
            for name in (PLACEHOLDERS, REPLACED_WORDS):
                tally["redacted", name] += int(pair.predicted.metadata.get(name, 0))
            if examination.masks.spans and not any(gold.values()):
                tally["unannotated", examination.document.id] += 1
        return tally

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        """Return the report; the layers of a merged sequence are not reported separately."""
        return report_of(total, risk_by(self.risk_order), self.beta, self.confidence)

    def headlines(self, total: Tally, layers: Sequence[str]) -> Mapping[str, Counts]:
        """Return for each rate of each row counts of which it is the recall, by its own path."""
        words, right = total["precision", "words"], total["precision", "words_right"]
        headlines = {"precision.word_precision": Counts(words, words, right)}
        for kind, name in {key[:2] for key in total if key[0] in PLACES}:
            for rate, (part, whole) in shares_of(total, (kind, name)).items():
                headlines[f"{PLACES[kind]}.{name or ALL}.{rate}"] = Counts(whole, whole, part)
        return headlines

    def sizes(self, total: Tally, layers: Sequence[str]) -> Mapping[str, Sizes]:
        """Return for each row the mentions; precision is about masked words."""
        sizes: dict[str, Sizes] = {
            "precision": (total[ALL, "", "mentions"], total["precision", "words"]),
        }
        for key in total:
            if key[0] in PLACES:
                mentions = total[key[0], key[1], "mentions"]
                sizes[f"{PLACES[key[0]]}.{key[1] or ALL}"] = mentions, mentions
        return sizes

    def choices(self, total: Tally) -> Mapping[str, str]:
        """Return how entities were told apart."""
        names = [name for name in ("by id", "by surface") if total["entities", name]]
        return {"entities": " and ".join(names)} if names else {}

    def reported(self, tallies: Mapping[str, Tally]) -> Sequence[str]:
        """Return the sequences but those of classes or entities, and those of the predicted side alone."""
        if self.annotators:
            return list(tallies)
        names = self.of_mentions(tallies)
        return [name for name in names if tallies[name]["gold", "layer"]] or names

    def check(self, total: Tally) -> None:
        """Raise `UsageError` if no document has a layer or feature that a setting names; warn of unknown classes.

        A class or label without a span can be right, if a document has no span of a class; usual names are no mistake.
        """
        counted = any(key[0] in ("precision", "gold") for key in total)
        for names, side, key, setting in (
            (self.masks, "predicted", "seen", "masks"),
            (self.annotators, "gold", "annotator", "annotators"),
        ):
            for name in names if counted and names != (EVERY,) else ():
                if not total[key, name]:
                    raise UsageError(
                        f"no {side} document has a layer {name!r}", advice=f"check Masking.{setting}"
                    )
        if counted:
            for warning in self._warnings(total):
                warn(warning)
        if not total["all", "", "mentions"]:
            return
        if self.risk_layer is not None and not total["gold", "classes"]:
            raise UsageError(
                f"no mention has a class in a layer or feature {self.risk_layer!r}",
                advice="check Masking.risk_layer",
            )
        if self.entity != ENTITY and not total["entities", "by id"]:
            raise UsageError(
                f"no mention has an entity in a layer or feature {self.entity!r}",
                advice="check Masking.entity",
            )

    def _warnings(self, total: Tally) -> Iterator[str]:
        classes, labels = (
            {str(key[1]) for key in total if key[0] == kind and key[1] != NO_LABEL}
            for kind in ("class", "label")
        )
        names_found = f"classes found: {_names_as_text(classes)}; labels found: {_names_as_text(labels)}"
        for name in sorted(self._unusual_names):
            if not total["kept", name]:
                yield f"keep: no span has the class or label {cut_label(name)!r} ({names_found})"
        if unannotated := [str(key[1]) for key in total if key[0] == "unannotated"]:
            yield (
                f"gold has no spans in {with_noun(len(unannotated), 'documents')} whose redacted text has "
                f"placeholders, so nothing was checked there: {_names_as_text(unannotated)}"
            )
        missing = classes - {*self.risk_order}
        for name in self.risk_order:
            if (missing or not classes) and name not in {*classes, *RISKS, *self.keep}:
                yield (
                    f"risk_order: no mention has the class {cut_label(name)!r} "
                    f"(classes found that it does not name: {_names_as_text(missing)})"
                )

    @property
    def _unusual_names(self) -> set[str]:
        """The names to keep that are neither usual nor classes of the order."""
        return {*self.keep} - {NO_MASK, NO_LABEL, *RISKS, *self.risk_order}

    def examine(
        self, pair: Pair, sequence: str, where: Where, *, in_characters: bool = False
    ) -> Examination | None:
        """Compare one document with its masks; None if the sequence is no sequence of mentions in it.

        Positions are tokens where these are masked as a whole, unless `in_characters`.
        """
        of_mentions = self.of_mentions(pair.gold.layers)
        is_other = sequence not in of_mentions and (
            of_mentions or sequence in (self.class_layer, self.entity)
        )
        if is_other and not self.annotators:
            return None
        gold, predicted = map(from_zero, pair.sides)
        spans, masking = (
            () if self.annotators else side.layers.get(sequence, ()) for side in (gold, predicted)
        )
        flags, mask_flags = (
            which_count(of_side, side, where) if where else None
            for of_side, side in ((spans, gold), (masking, predicted))
        )
        views: dict[str, ChosenSpans] = {sequence: (spans, flags)}
        if self.annotators:
            names = of_mentions if self.annotators == (EVERY,) else self.annotators
            views = {name: (gold.layers[name], None) for name in names if name in gold.layers}
        texted = gold if gold.end is not None or predicted.end is None else predicted
        text = MaskedText(texted, self.ignore, self.ignore_words.words, in_characters=in_characters)
        risk, keep = risk_by(self.risk_order), frozenset(self.keep)
        reader = MentionReader(gold, text, self.risk_layer, risk, self.entity, keep)
        masks = self._masks(text, predicted, *self.masking_spans(predicted, sequence, masking, mask_flags))
        judged = {name: [*map(masks.judge, reader.read(*view))] for name, view in views.items()}
        mentions = [each.mention for of_view in judged.values() for each in of_view]
        mentioned = PositionWeights.at((place for mention in mentions for place in mention.ranges), text.size)
        words = {mention.words for mention in mentions}
        places = find_strings(text, words, mentioned, masks.exposed_but_initials, **gold.in_errors)
        strings = [FoundWords(*place) for place in places]
        examination = Examination(gold, text, judged, masks, mentioned, strings)
        if PLACEHOLDERS not in predicted.metadata:
            return examination
        replacements = json.loads(predicted.metadata.get(SHOWN, "[]"))
        strings += find_in_replacements(masks, replacements, words, **gold.in_errors)
        again = [Span(*place) for place in _ranges(predicted.metadata.get(FROM_THE_RIGHT, ""))]
        uncertain = PositionWeights.at(_ranges(predicted.metadata.get(UNCERTAIN, "")), text.size)
        return replace(examination, again=Masks(text, again, None, masks.initials), uncertain=uncertain)

    def of_mentions(self, layers: Mapping[str, object]) -> list[str]:
        """Return the layers less those of the classes and of the entities, unless there is no other."""
        return [name for name in layers if name not in (self.class_layer, self.entity)] or list(layers)

    def masking_spans(
        self, predicted: Document, sequence: str, spans: Sequence[Span], flags: Sequence[bool] | None
    ) -> ChosenSpans:
        """Return the predicted spans that mask, given those of the sequence, with the flags of those that count.

        Raises `UsageError` if several layers may and none is named.
        """
        layers = predicted.layers
        if PLACEHOLDERS in predicted.metadata:  # every layer has the spans of the redacted text
            return next(iter(layers.values()), ()), None
        names: Sequence[str] = list(layers) if self.masks == (EVERY,) else self.masks
        if not self.masks:
            if spans or (sequence in layers and not self.annotators):
                return spans, flags
            names = self.of_mentions(layers)
            if len(names) > 1:
                raise UsageError(
                    f"the predicted side has the layers {', '.join(map(repr, names))}, and none of them is "
                    f"{sequence!r}",
                    **predicted.in_errors,
                    advice="name the layers that mask as Masking.masks",
                )
        if len(names) == 1:
            return layers.get(names[0], ()), None
        return [span for name in names for span in layers.get(name, ())], None

    def _masks(
        self, text: MaskedText, document: Document, spans: Sequence[Span], flags: Sequence[bool] | None
    ) -> Masks:
        """Return the masks among the spans of a predicted document."""
        keep = [name for name in self.keep if name != NO_LABEL]  # a mask without a label is a mask
        layer, masks, numbers = self.class_layer, [], []
        for number, span in enumerate(spans):
            is_kept = span.label in keep
            if not is_kept and (span.features or layer in span.by_layer):
                classes = span.by_layer.get(layer), span.features.get(layer)
                is_kept = any(name in classes for name in keep)
            if not is_kept:
                masks.append(text.placed(span, document))
                numbers.append(number)
        counted = None if flags is None else [flags[number] for number in numbers]
        return Masks(text, masks, counted, list(_ranges(document.metadata.get(INITIALS, ""))))


def _ranges(text: str) -> Iterator[Range]:
    """Yield the ranges that stand in the metadata of a document, as in ``5-9 22-29``."""
    for place in text.split():
        start, end = place.split("-")
        yield int(start), int(end)


def _names_in(layers: Layers, risk_layer: str | None) -> Iterator[str]:
    """Yield the labels of all spans of a document, and the classes that they have as features."""
    features = class_names(layers, risk_layer)
    for span in (span for spans in layers.values() for span in spans):
        yield from (label for label in span.by_layer.values() if label is not None)
        yield from (str(span.features[name]) for name in features if name in span.features)


def _names_as_text(names: Iterable[str]) -> str:
    ordered = sorted(names)
    more = f" and {len(ordered) - _LISTED} more" if len(ordered) > _LISTED else ""
    return ", ".join(map(cut_label, ordered[:_LISTED])) + more if ordered else "none"


def token_weights(document: Document) -> Callable[[int], float]:
    """Return the weights that stand in the place of token ids. Raises `UsageError` for what is no weight."""
    if document.token_ids is None:
        raise UsageError(
            "the gold tokens have no weights",
            **document.in_errors,
            advice="name the column of the weights as weight_column of clueval.masking",
        )
    weights = []
    for number, text in enumerate(document.token_ids):
        try:
            weight = float(text)
        except ValueError:
            weight = -1.0
        if not 0 <= weight < float("inf"):
            raise UsageError(
                f"the weight {text!r} of token {number} is not a number from 0 on",
                **document.in_errors,
                line=None if document.lines is None else document.lines[number],
            )
        weights.append(weight)
    return weights.__getitem__


def _hash(rows: Iterable[str]) -> str:
    return "sha256=" + hashlib.sha256("\n".join(rows).encode()).hexdigest()[:12]
