"""The figures of the evaluation script of the Text Anonymization Benchmark (Pilán et al. 2022).

The class and the label of an entity are those of its first mention, in the order of the file. An entity must be masked
if any of its mentions must; it is masked if its mentions that need masking are. Mention and token recall count all
mentions of such entities, and count ignorable tokens as masked.
In precision a token, or a whole span, is right for each annotator who has one mention to mask around it; the
denominator has the annotators with any gold span. The script takes words of the classes ADP, PART, CCONJ and DET
for ignorable; here these are the words of ``ignore_words``. 0/0 is 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

from clueval.compat.masking.program import Covers, OtherProgram, TextTokens, examination_of
from clueval.core.document import Document, Pair
from clueval.core.tally import Tally, f_measure, rate
from clueval.metrics.masking.counts import weighted_sums
from clueval.metrics.masking.exposure import Examination
from clueval.metrics.masking.mention import Mention, MentionReader, risk_by
from clueval.metrics.masking.text import PositionWeights, Range

IGNORABLE = frozenset(" ,.-;:/&()[]–'\"’“”")
IGNORABLE_WORDS = frozenset(("mr", "mrs", "ms", "no", "nr", "about"))
DIRECT = "DIRECT"

_WORD = re.compile(r"\w+")


class TabFigures(OtherProgram):
    """Counts as the script of the benchmark does."""

    name: ClassVar[str] = "convention tab"

    def count(self, pair: Pair) -> Tally:
        tally = Tally()
        examination = examination_of(self.metric, pair)
        if examination is None:
            return tally
        exposed = self._exposed(examination)
        tokens = TextTokens(_WORD, examination.text.characters)
        around, annotators = [], 0
        for name in examination.views:
            found = list(self._mentions(examination, pair.gold, name))
            annotators += bool(found)
            around.append(Covers([one for each in found if self._needs_mask(each) for one in each.ranges]))
            self._add_recall(tally, found, exposed, tokens)
        self._add_precision(tally, examination, around, annotators, tokens)
        return tally

    def _exposed(self, examination: Examination) -> PositionWeights:
        """Return the characters that are neither ignorable nor masked."""
        text = examination.text.characters
        words = IGNORABLE_WORDS | self.metric.ignore_words.words
        ignored = (match.span() for match in _WORD.finditer(text) if match[0].casefold() in words)
        visible = PositionWeights(bytes(character not in IGNORABLE for character in text))
        return visible - PositionWeights.at(ignored, len(text)) - examination.masks.masked

    def _mentions(self, examination: Examination, gold: Document, name: str) -> Iterator[Mention]:
        """Yield all gold spans of an annotator in the order of the file, those to keep, too."""
        metric = self.metric
        risk = risk_by(metric.risk_order)
        reader = MentionReader(gold, examination.text, metric.risk_layer, risk, metric.entity, ())
        yield from reader.read(gold.layers.get(name, ()), None)

    def _needs_mask(self, mention: Mention) -> bool:
        return mention.kind not in self.metric.keep and mention.label not in self.metric.keep

    def _add_recall(
        self, tally: Tally, found: Iterable[Mention], exposed: PositionWeights, tokens: TextTokens
    ) -> None:
        """Add the entities of an annotator with a mention that needs masking, their mentions, and tokens by label."""
        members: dict[int, list[Mention]] = {}
        for mention in found:
            members.setdefault(mention.entity, []).append(mention)
        by_label: dict[str, list[Range]] = {}
        for own in members.values():
            to_mask = [mention for mention in own if self._needs_mask(mention)]
            if not to_mask:
                continue
            kind = "direct" if own[0].kind == DIRECT else "quasi"
            tally["entity", kind, "gold"] += 1
            tally["entity", kind, "masked"] += not any(exposed.within(each.ranges) for each in to_mask)
            for mention in own:
                tally["mention", "gold"] += 1
                tally["mention", "masked"] += not exposed.within(mention.ranges)
                by_label.setdefault(own[0].label, []).extend(mention.ranges)
        for label, ranges in by_label.items():
            for token, number in tokens.within(ranges):
                is_masked = not exposed.between(*token)
                for place in (("token",), ("token of", label)):
                    tally[*place, "gold"] += number
                    tally[*place, "masked"] += number * is_masked

    def _add_precision(
        self,
        tally: Tally,
        examination: Examination,
        around: Sequence[Covers],
        annotators: int,
        tokens: TextTokens,
    ) -> None:
        """Add the masks and their tokens, given the mentions to mask of each annotator."""
        text = examination.text.characters
        weigh = None if self.metric.word_weights is None else self.metric.word_weights.weigher()
        masks = [(mask.start, mask.end) for mask in examination.masks.spans]
        for start, end in masks:
            tally["mention", "right"] += sum(cover.holds(start, end) for cover in around)
            tally["mention", "predicted"] += annotators
        for (start, end), number in tokens.within(masks):
            right = number * sum(cover.holds(start, end) for cover in around)
            tally["token", "right"] += right
            tally["token", "predicted"] += number * annotators
            if weigh is not None:
                weight = repr(weigh(text[start:end]))
                tally["weighted", "token", "", "right", weight] += right
                tally["weighted", "token", "", "predicted", weight] += number * annotators

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        get = total.__getitem__
        recall = rate(get(("token", "masked")), get(("token", "gold")))
        precision = rate(get(("token", "right")), get(("token", "predicted")))
        labels = sorted({key[1] for key in total if key[0] == "token of"})
        sums = weighted_sums(total)
        weighted = None
        if self.metric.word_weights is not None:
            weighted = rate(sums.get(("token", "", "right"), 0), sums.get(("token", "", "predicted"), 0))
        return {
            "token_recall": recall,
            "mention_recall": rate(get(("mention", "masked")), get(("mention", "gold"))),
            **{f"recall_{kind}_entities": _entity_recall(total, kind) for kind in ("all", "direct", "quasi")},
            "token_recall_by_type": {
                label: rate(get(("token of", label, "masked")), get(("token of", label, "gold")))
                for label in labels
            },
            "token_precision": precision,
            "mention_precision": rate(get(("mention", "right")), get(("mention", "predicted"))),
            "weighted_token_precision": weighted,
            "token_f1": f_measure(precision, recall),
        }


def _entity_recall(total: Tally, kind: str) -> float:
    kinds = ("direct", "quasi") if kind == "all" else (kind,)
    masked, gold = (sum(total["entity", one, what] for one in kinds) for what in ("masked", "gold"))
    return rate(masked, gold)
