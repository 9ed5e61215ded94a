"""The metric `fair`: its settings, counts and scores."""

# The label of a span is `Span.label`; its tokens are `Span.tokens`, or all positions of its range. The tally has the
# keys ``("traditional", kind, label)`` and ``("fair", kind, gold label, predicted label)``; FN and FP have the label of
# their only span. ``("excluded", label)`` has the spans of a label that is named in `Fair.exclude`.

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from clueval.core.span import NO_LABEL, PLACEHOLDERS, Span
from clueval.files.errors import UsageError, warn
from clueval.first.metrics.counting import Tally
from clueval.first.metrics.fair.pairing import Item, item, pair_up
from clueval.first.metrics.fair.weights import (
    BOUNDARY,
    DEFAULT_WEIGHTS,
    KINDS,
    PARTS,
    TRADITIONAL_WEIGHTS,
    Weights,
    freeze_weights,
    parse_weights,
    weighted_rates,
)
from clueval.first.metrics.metric import Needs, Rates, Side, rates_of, refuse_filter
from clueval.first.metrics.rates import THREE, Columns, DeclaredRates, EntryRates, Key, Numbers, Shape
from clueval.options import option_field
from clueval.reports.table import cut_label

if TYPE_CHECKING:
    from clueval.reports.table import Table


_Table = dict[str, dict[str, int]]
FOCUSES = ("target", "system")


class FairError(NamedTuple):
    """One error: its type (LE, BES, BEL, BEO, LBE, FN or FP) and its spans; FN and FP have only one."""

    kind: str
    gold: Span | None
    predicted: Span | None


@dataclass(frozen=True, slots=True)
class Fair:
    """Fair evaluation: each error counts once, under its own type.

    `focus` is the side whose label an LE or LBE is counted under: ``"target"`` (gold) or ``"system"``
    (predicted). `weights` maps error types to their weights as TP, FP and FN in the weighted scores; None
    means `DEFAULT_WEIGHTS`. Only spans with one of `labels` (empty: any label) and with none of
    `exclude` are evaluated, on both sides.

    Swapping gold and predicted swaps FN with FP and BES with BEL if no span overlaps more than one span of
    the other side. In general it does not, because the gold spans choose their partners. The smallest case:
    gold A[0,1) and A[0,2) both share tokens with predicted A[0,3): two BEL. Swapped, gold A[0,3) chooses
    A[0,2), a BES; no tokens of A[0,1) are left to share, so it is an FP.

    Raises `UsageError` for another focus and for invalid weights.

    >>> gold, predicted = Side([Span(0, 4, "PER")]), Side([Span(0, 3, "PER")])
    >>> [finding.kind for finding in Fair().findings(gold, predicted)]
    ['BES']
    """

    name: ClassVar[str] = "fair"
    zero: ClassVar[str] = "0"
    tally_keys: ClassVar[tuple[Shape, ...]] = (
        (("traditional",), PARTS, str),
        (("fair",), KINDS, str),
        (("fair",), KINDS, str, str),
        (("excluded",), str),
    )

    focus: str = option_field(
        "target",
        "--focus",
        "SIDE",
        "under whose label a span with a wrong label (LE, LBE) is counted in the scores per label: target, "
        "gold's, or system, the predicted one",
        choices=FOCUSES,
    )
    weights: Weights | None = option_field(
        None,
        "--weights",
        "FORMULA",
        "what an error of each type counts for in the scores called weighted, as in "
        '"LE = 0.5 FP + 0.5 FN, BES = 0.5 TP + 0.5 FN"',
        takes="a formula",
        parse=parse_weights,
        default="as in the scores called fair",
    )
    labels: tuple[str, ...] = option_field(
        (), "--labels", "A,B,...", "count spans with these labels only", default="all"
    )
    exclude: tuple[str, ...] = option_field(
        PLACEHOLDERS, "--exclude", "A,B,...", "leave out spans with these labels"
    )

    def __post_init__(self) -> None:
        if self.focus not in FOCUSES:
            raise UsageError(f"Fair.focus must be 'target' or 'system', not {self.focus!r}")
        if self.weights is not None:
            object.__setattr__(self, "weights", freeze_weights(self.weights))
        for name in ("labels", "exclude"):
            labels = getattr(self, name)
            if isinstance(labels, str):
                raise UsageError(f"Fair.{name} must be several labels, not the string {labels!r}")
            object.__setattr__(self, name, tuple(labels))

    def count(self, gold: Side, predicted: Side) -> Tally:
        """Count the errors of one document; O(n log n) for n spans, plus the pairs that overlap.

        Raises `UsageError` if a filter excludes spans of a side: an excluded span could still be a partner,
        but each span is paired only once. Use `labels` and `exclude` instead.
        """
        _, golds = self._items(gold)
        _, predictions = self._items(predicted)
        tally: Tally = Counter()
        add_items(tally, golds, predictions)
        if self._named:
            tally.update(
                self._excluded(Counter(span.label for side in (gold, predicted) for span in side.spans))
            )
        return tally

    def findings(self, gold: Side, predicted: Side) -> Iterator[FairError]:
        """Yield the errors that `count` counts, by position (of the gold span, if there is one)."""
        gold_spans, golds = self._items(gold)
        predicted_spans, predictions = self._items(predicted)
        found = []
        for kind, i, j in pair_up(golds, predictions):
            if kind != "TP":
                one = None if i is None else gold_spans[i]
                other = None if j is None else predicted_spans[j]
                where = one or other
                assert where is not None  # an error has at least one span
                found.append((where.start, where.end, FairError(kind, one, other)))
        found.sort(key=lambda entry: entry[:2])
        return (finding for _, _, finding in found)

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        """Return traditional, fair and weighted scores, overall and by label; the confusion; the gold labels.

        The confusion matrix holds no true positives: its diagonal holds the boundary errors, its row ``_``
        the false positives, its column ``_`` the false negatives. (A span without a label has the label
        ``_``, and is counted in the same row and column.)
        """
        traditional, fair, confusion = self._tables(total)
        labels = sorted(fair)
        return {
            "overall": self._versions(_sum(traditional, PARTS), _sum(fair, KINDS)),
            "per_label": {label: self._versions(traditional[label], fair[label]) for label in labels},
            "confusion": _matrix(confusion, labels),
            "label_counts": {
                label: traditional[label]["TP"] + traditional[label]["FN"]
                for label in labels
                if traditional[label]["TP"] + traditional[label]["FN"]
            },
        }

    @property
    def needs(self) -> Needs:
        """Return that all spans are needed: each pair depends on every span."""
        return Needs(every_span="use Fair.labels and Fair.exclude instead", nested=True, rates=self._rates)

    def headlines(self, report: Mapping[str, Any]) -> dict[str, Rates]:
        return {f"fair_{version}": rates_of(entry) for version, entry in report["overall"].items()}

    def tables(self, title: str, report: Mapping[str, Any]) -> Iterator[Table]:
        from clueval.first.metrics.tables import fair

        return fair(title, report)

    def check(self, total: Tally) -> None:
        """Raise `UsageError` for one of `labels` that no span has; warn of one of `exclude`, unless by default."""
        found = {name for (_, _, *names) in total for name in names}
        for label in self.labels:
            if label not in found:
                raise UsageError(f"no span is labelled {label!r}", advice="check Fair.labels")
        for label in sorted(self._named) if total else ():
            if not total["excluded", label]:
                warn(f"fair.exclude: no span has the label {cut_label(label)!r}")

    def wanted(self, label: str) -> bool:
        """Return whether spans with this label are evaluated."""
        return label not in self.exclude and (not self.labels or label in self.labels)

    @property
    def _named(self) -> set[str]:
        """The labels to exclude that are not excluded by default."""
        return {*self.exclude} - {*PLACEHOLDERS}

    def _excluded(self, labels: Counter[str]) -> Tally:
        return Counter({("excluded", label): labels[label] for label in self._named & labels.keys()})

    def _items(self, side: Side) -> tuple[list[Span], list[Item]]:
        """Return the spans that are evaluated, in the order of the side, and their items for `pair_up`."""
        refuse_filter(self, (side,))
        spans, items = [], []
        for span in side.spans:
            label = span.label
            if self.wanted(label):
                spans.append(span)
                tokens = span.tokens or None if span.parts is None else span.parts
                items.append(item(label, span.start, span.end, tokens))
        return spans, items

    def _tables(self, total: Tally) -> tuple[_Table, _Table, Counter[tuple[str, str]]]:
        """Return traditional and fair counts by label, and the cells of the confusion matrix."""
        traditional: _Table = {}
        fair: _Table = {}
        confusion: Counter[tuple[str, str]] = Counter()
        for (version, kind, *names), number in total.items():
            if version == "excluded":
                continue
            for label in names:
                if label not in fair:
                    traditional[label] = dict.fromkeys(PARTS, 0)
                    fair[label] = dict.fromkeys(KINDS, 0)
            if version == "traditional":
                traditional[names[0]][kind] += number
                continue
            label = names[0] if self.focus == "target" else names[-1]
            fair[label][kind] += number
            if kind in BOUNDARY:
                fair[label]["BE"] += number
            if kind != "TP":
                gold = NO_LABEL if kind == "FP" else names[0]
                predicted = NO_LABEL if kind == "FN" else names[-1]
                confusion[gold, predicted] += number
        return traditional, fair, confusion

    def _rates(self, keys: Collection[Key], layers: Sequence[str]) -> Iterator[DeclaredRates]:
        """Yield how the rates follow from a tally."""
        table: dict[tuple[str, str], dict[str, list[Key]]] = {}
        for key in sorted(key for key in keys if key[0] != "excluded"):
            version, kind, *names = key
            label = names[-1 if version == "fair" and self.focus == "system" else 0]
            of_label = table.setdefault((version, label), {kind: [] for kind in KINDS})
            for each in (kind, "BE") if kind in BOUNDARY else (kind,):
                of_label[each].append(key)
        labels = sorted({label for _, label in table})
        for before, names in ((("overall",), labels), *((("per_label", label), [label]) for label in labels)):
            traditional, fair = (
                [
                    [key for name in names for key in table.get((version, name), {}).get(kind, ())]
                    for kind in KINDS
                ]
                for version in ("traditional", "fair")
            )
            tp, fp, fn, *_ = traditional
            for version, counts, weights in (
                ("traditional", traditional, TRADITIONAL_WEIGHTS),
                ("fair", fair, DEFAULT_WEIGHTS),
                ("weighted", fair, self.weights or DEFAULT_WEIGHTS),
            ):
                function = partial(_rates_in_each, weights)
                yield EntryRates((*before, version), THREE, counts, function, [*tp, *fn], [*tp, *fp])

    def _versions(self, traditional: dict[str, int], fair: dict[str, int]) -> dict[str, dict[str, float]]:
        return {
            "traditional": {**traditional, **weighted_rates(traditional, TRADITIONAL_WEIGHTS)},
            "fair": {**fair, **weighted_rates(fair, DEFAULT_WEIGHTS)},
            "weighted": {**fair, **weighted_rates(fair, self.weights or DEFAULT_WEIGHTS)},
        }


def _rates_in_each(weights: Weights, *columns: Numbers) -> Columns:
    rows = [weighted_rates(dict(zip(KINDS, row, strict=True)), weights) for row in zip(*columns, strict=True)]
    return [[row[name] for row in rows] for name in THREE]


def _sum(table: _Table, kinds: tuple[str, ...]) -> dict[str, int]:
    return {kind: sum(counts[kind] for counts in table.values()) for kind in kinds}


def _matrix(cells: Mapping[tuple[str, str], int], labels: list[str]) -> dict[str, dict[str, int]]:
    """Return a row for every label, `NO_LABEL` last, with the cells that are not 0, in the same order."""
    names = [label for label in labels if label != NO_LABEL] + [NO_LABEL]
    matrix: dict[str, dict[str, int]] = {gold: {} for gold in names}
    for (gold, predicted), number in sorted(
        cells.items(), key=lambda cell: (cell[0][1] == NO_LABEL, cell[0])
    ):
        if number:
            matrix[gold][predicted] = number
    return matrix


def add_items(tally: Tally, gold: Sequence[Item], predicted: Sequence[Item]) -> None:
    """Count the two lists of items of one document into a tally."""
    gold_set, predicted_set = set(gold), set(predicted)
    for span in gold:
        tally["traditional", "TP" if span in predicted_set else "FN", span[0]] += 1
    for span in predicted:
        if span not in gold_set:
            tally["traditional", "FP", span[0]] += 1
    for kind, i, j in pair_up(gold, predicted):
        labels = [] if i is None else [gold[i][0]]
        if j is not None:
            labels.append(predicted[j][0])
        tally["fair", kind, *labels] += 1
