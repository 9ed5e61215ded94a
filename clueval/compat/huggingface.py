"""The ``seqeval`` metric of Hugging Face's ``evaluate``, without that library: the same methods, the same keys.

>>> metric = Seqeval()
>>> true, predicted = [["B-PER", "I-PER", "O", "B-LOC"]], [["B-PER", "I-PER", "O", "O"]]
>>> scores = metric.compute(predictions=predicted, references=true, zero_division=0)
>>> scores["PER"], scores["overall_recall"], scores["overall_accuracy"]
({'precision': 1.0, 'recall': 1.0, 'f1': 1.0, 'number': 1}, 0.5, 0.75)

With a list of labels it takes ids, as lists or arrays, and ignores positions whose true id is -100. So it
can be passed to a ``Trainer`` directly, ``Trainer(compute_metrics=Seqeval(labels), ...)``; it then takes the
best label from the scores of the model:

>>> metric = Seqeval(["O", "B-PER", "I-PER"])
>>> metric(([[[0.1, 0.7, 0.2], [0.9, 0.0, 0.1], [0.2, 0.5, 0.3]]], [[1, 0, -100]]))["overall_f1"]
1.0

Values are plain numbers. Scores are those of `clueval.compat.seqeval`, whose docstring lists the differences from
seqeval: without a span on either side they are 0 (or `zero_division`) instead of an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clueval.compat.seqeval.metrics import accuracy_score, classification_report
from clueval.compat.seqeval.metrics.v1 import ZeroDivision, check_consistent_length
from clueval.compat.seqeval.scheme import Token, WrongTypeError
from clueval.files.errors import UsageError
from clueval.formats.tag_lists import names_of_tags

IGNORED = -100
"""The id of a position that is not counted, PyTorch's default."""

Scores = dict[str, Any]


class Seqeval:
    """Collects predictions and references, and scores them.

    `labels`, if given, are the tags by id, in a list or a mapping as in a model's configuration (`id2label`).
    Predictions and references are lists of sentences, each a list of tags, or of ids if there are labels; or
    arrays.

    >>> metric = Seqeval(["O", "B-PER"])
    >>> metric(([[[0.1, 0.9], [0.8, 0.2]]], [[1, -100]]))["overall_f1"]
    1.0
    """

    name = "seqeval"

    def __init__(self, labels: Sequence[str] | dict[int, str] | None = None) -> None:
        if isinstance(labels, str):
            raise WrongTypeError(f"labels must be a list of tags, not {labels!r}")
        self._tags = None if labels is None else names_of_tags(labels, "labels")
        self._predictions: list[list[Any]] = []
        self._references: list[list[Any]] = []

    def add(self, *, prediction: Any = None, reference: Any = None) -> None:
        """Collect one sentence."""
        if prediction is None or reference is None:
            raise UsageError("a sentence needs both a prediction and a reference")
        self.add_batch(predictions=[prediction], references=[reference])

    def add_batch(self, *, predictions: Any = None, references: Any = None) -> None:
        """Collect sentences. Raises `UsageError` for sides of different lengths and for an unknown id."""
        if predictions is None or references is None:
            raise UsageError("a batch needs both predictions and references")
        true, predicted = _lists(references), _lists(predictions)
        if not true and not predicted:
            return
        check_consistent_length(true, predicted)
        if self._tags is not None:
            predicted = [
                [tag for tag, id_ in zip(tags, ids, strict=True) if id_ != IGNORED]
                for tags, ids in zip(self._to_tags("predictions", predicted), true, strict=True)
            ]
            true = [[tag for tag in tags if tag is not None] for tags in self._to_tags("references", true)]
        self._predictions += predicted
        self._references += true

    def compute(
        self,
        *,
        predictions: Any = None,
        references: Any = None,
        suffix: bool = False,
        scheme: str | type[Token] | None = None,
        mode: str | None = None,
        sample_weight: Sequence[float] | None = None,
        zero_division: ZeroDivision = "warn",
    ) -> Scores:
        """Return the scores of everything collected and of the arguments, and forget what was collected.

        Per type ``{"precision", "recall", "f1", "number"}``, and ``overall_precision``, ``overall_recall``,
        ``overall_f1``, ``overall_accuracy``. `scheme` is a name or a class. Raises `UsageError` if there is nothing
        to score and for an unknown scheme.
        """
        try:
            if predictions is not None or references is not None:
                self.add_batch(predictions=predictions, references=references)
            true, predicted = self._references, self._predictions
        finally:
            self._references, self._predictions = [], []
        if not true:
            raise UsageError("there is nothing to score", advice="give predictions and references")
        report = classification_report(
            true,
            predicted,
            suffix=suffix,
            output_dict=True,
            mode=mode,
            sample_weight=sample_weight,
            zero_division=zero_division,
            scheme=scheme,
        )
        names = {"precision": "precision", "recall": "recall", "f1": "f1-score", "number": "support"}
        overall, _, _ = (report.pop(f"{average} avg") for average in ("micro", "macro", "weighted"))
        scores: Scores = {
            label: {name: row[key] for name, key in names.items()} for label, row in report.items()
        }
        scores |= {f"overall_{name}": overall[names[name]] for name in ("precision", "recall", "f1")}
        return {**scores, "overall_accuracy": accuracy_score(true, predicted)}

    def __call__(self, evaluated: Any) -> Scores:
        """Return the scores for an evaluation by a ``Trainer``: scores of labels, or ids, and true ids.

        `evaluated` is a pair, or has `predictions` and `label_ids`. If the model has several outputs, the
        first is used. 0/0 is 0 without a warning: early in training there may be no predicted span.
        """
        if self._tags is None:
            raise UsageError(
                "ids need labels", advice="Seqeval(labels), with the tags in the order of their ids"
            )
        predictions, ids = (
            (evaluated.predictions, evaluated.label_ids) if hasattr(evaluated, "label_ids") else evaluated
        )
        if isinstance(predictions, tuple):
            predictions = predictions[0]
        return self.compute(predictions=_best(predictions), references=ids, zero_division=0)

    def _to_tags(self, side: str, sentences: Sequence[Sequence[Any]]) -> list[list[str | None]]:
        """Return tags for ids, None for ids that are ignored."""
        by_id: dict[Any, str | None] = {**(self._tags or {}), IGNORED: None}
        tag_lists: list[list[str | None]] = []
        for number, ids in enumerate(sentences):
            tags: list[str | None] = []
            for id_ in ids:
                try:
                    tags.append(by_id[id_])
                except (KeyError, TypeError):
                    raise UsageError(
                        f"{side}[{number}][{len(tags)}]: there is no label with the id {id_!r}",
                        advice=f"ids are those of the {len(by_id) - 1} labels, and {IGNORED} for what does not count",
                    ) from None
            tag_lists.append(tags)
        return tag_lists


def _lists(values: Any) -> list[list[Any]]:
    """Return sentences, also arrays, as lists of lists."""
    values = values.tolist() if hasattr(values, "tolist") else values
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise WrongTypeError(f"sentences must be a list of lists of tags, not {type(values).__name__}")
    sentences = [sentence.tolist() if hasattr(sentence, "tolist") else sentence for sentence in values]
    for sentence in sentences:
        if not isinstance(sentence, list | tuple):
            raise WrongTypeError(f"a sentence must be a list of tags, not {type(sentence).__name__}")
    return list(map(list, sentences))


def _best(predictions: Any) -> list[list[Any]]:
    """Return the number of the greatest score at every position (of equal ones the first); ids are unchanged."""
    if hasattr(predictions, "argmax") and getattr(predictions, "ndim", 0) == 3:
        predictions = predictions.argmax(-1)  # the array's own method is the fastest
    return [
        [
            max(range(len(item)), key=item.__getitem__) if isinstance(item, list | tuple) else item
            for item in sentence
        ]
        for sentence in _lists(predictions)
    ]
