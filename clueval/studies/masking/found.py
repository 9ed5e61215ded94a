"""What a masking report has found: figures, leaks, and the sentence on documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, log10
from typing import Any

from clueval.evaluation.result import Result
from clueval.evaluation.signature import Signature
from clueval.metrics.masking import Masking
from clueval.reports.report import Report
from clueval.studies.masking.leak import Inconsistent, Leak, StringLeakList

CONVENTION = "convention "
"""What the names of observers that count as another program does begin with; the name of the program follows."""


@dataclass(frozen=True, slots=True)
class MaskingFindings(Report):
    """What was left unmasked: `result` has the figures, `leaks` each mention that is not protected.

    `string_leaks` are the words of mentions elsewhere in the text. `needless` are masks without any character of
    a mention, each with its text and how often it occurs, most frequent first; `inconsistent` are the entities
    whose mentions have several replacements; `aligned` is the number of redacted texts that had to be aligned.
    """

    result: Result
    leaks: Sequence[Leak]
    string_leaks: StringLeakList
    needless: Sequence[tuple[str, int]] = field(default=(), repr=False)
    inconsistent: Sequence[Inconsistent] = field(default=(), repr=False)
    aligned: int = 0

    @property
    def signature(self) -> Signature:
        return self.result.signature

    @property
    def reports(self) -> Mapping[str, Mapping[str, Any]]:
        """The report of each sequence, with the figures of other programs' conventions in that of the first."""
        found: dict[str, Any] = dict(self.result.metrics["masking"])
        if found and (conventions := self._conventions()):
            first = next(iter(found))
            found[first] = {**found[first], "conventions": conventions}
        return found

    def _conventions(self) -> dict[str, Any]:
        sections = self.result.sections.items()
        return {
            name.removeprefix(CONVENTION): dict(of) for name, of in sections if name.startswith(CONVENTION)
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain dictionaries, lists, strings and numbers; leaks have positions, no text."""
        found = self.result.to_dict()
        for name in self.result.sections:
            found.pop(name, None)
        found["metrics"] = {"masking": dict(self.reports)}
        found["leaks"] = [leak.to_dict() for leak in self.leaks]
        found["string_leaks"] = self.string_leaks.to_dicts()
        return found

    @property
    def metric(self) -> Masking:
        """The metric, with its settings."""
        found = self.result.scored_by[0]
        assert isinstance(found, Masking)
        return found

    def sentences(self) -> Iterator[str]:
        """The sentence on documents, in words, for each sequence."""
        several = len(self.reports) > 1
        for name, report in self.reports.items():
            row = report["classes"]["all"]
            yield (f"{name}: " if several else "") + documents_in_words(row, self.metric.confidence)


def documents_in_words(row: Mapping[str, Any], confidence: float) -> str:
    """The numbers of documents that leak, and their bound, as a sentence.

    >>> documents_in_words({"documents": 59, "documents_exposed": 0, "document_leak_upper": 0.0495}, 0.95)
    '0 of 59 documents leak; if these are a random sample, under 5 % of all do (95 % confidence)'
    """
    number, exposed, bound = row["documents"], row["documents_exposed"], row["document_leak_upper"]
    if not number:
        return "no document has a mention"
    begin = f"{exposed:,} of {number:,} document{'s' * (number != 1)} leak{'s' * (number == 1)}"
    if bound >= 1:
        return f"{begin}; if these are a random sample, all others may leak, too"
    share = f"under {percent_above(bound)} % of all do ({100 * confidence:g} % confidence)"
    return f"{begin}; if these are a random sample, {share}"


def percent_above(share: float) -> str:
    """The smallest percentage with two digits, or a whole one, that is not below a share.

    >>> percent_above(0.0495), percent_above(0.0501), percent_above(0.123), percent_above(0.00012)
    ('5', '5.1', '13', '0.012')
    """
    places = 0 if share >= 0.1 else 1 - floor(log10(100 * share))
    return f"{ceil(round(100 * share * 10**places, 6)) / 10**places:g}"


def by_frequency(counted: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Texts and their numbers, most frequent first; equal texts are added."""
    total: dict[str, int] = {}
    for text, number in counted:
        total[text] = total.get(text, 0) + number
    return sorted(total.items(), key=lambda one: (-one[1], one[0]))
