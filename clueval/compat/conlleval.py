"""Results as conlleval prints them: the format of the shared tasks CoNLL-2000, 2002 and 2003.

The scores are those of the metric ``exact``: phrases are spans, the accuracy is the share of tokens with
equal tags, and the number at the end of a line is the number of phrases found. Rates are percentages, 0/0 is
0. Without tokens only the first line is printed, as by conlleval.

The script differs in two ways: it reads the prefixes L and U of BILOU as I, so that adjacent spans of one
type become one phrase, whereas here L ends a phrase and U is one; and a tag without a type has the type ``_``
here. In the original script in Perl, adjacent spans of one type become one phrase in BIOES, too.

If there are several sequences of spans, or values of a break-down, each has its name in a line above, and a
blank line after it.

Source: the output of conlleval (CoNLL-2000), as its port on PyPI, `conlleval` 0.2, prints it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clueval.files.errors import UsageError, visible

Report = Mapping[str, Any]


def render(report: Report) -> str:
    """Return a report, as `Result.to_dict` of metric ``exact`` returns it, in the form of conlleval.

    The layers follow one another, each below its name; a single layer has no name. Rates are percentages.

    Raises `UsageError` if the report lacks the metric.

    >>> from clueval import score
    >>> print(render(score([["B-PER", "O"]], [["B-PER", "O"]], metrics="exact").to_dict()).splitlines()[0])
    processed 2 tokens with 1 phrases; found: 1 phrases; correct: 1.
    """
    blocks = list(_blocks(report))
    if len(blocks) == 1:
        return blocks[0][1]
    return "\n\n".join(f"{visible(name)}\n{block}" for name, block in blocks)


def _blocks(report: Report) -> Iterator[tuple[str, str]]:
    """Yield the name and the scores of each sequence, of the whole and of every value of a break-down."""
    groups = [("", report)]
    for key, values in report.get("by", {}).items():
        groups += [(f"{key} {value}: ", group) for value, group in values.items()]
    for where, group in groups:
        if "exact" not in group["metrics"]:
            raise UsageError(
                "conlleval's format needs the metric 'exact'", advice="score with metrics='exact'"
            )
        for sequence, figures in group["metrics"]["exact"].items():
            yield f"{where}{sequence}", "\n".join(_lines(figures, group["tokens"]))


def _lines(figures: Report, tokens: int) -> Iterator[str]:
    micro = figures["micro"]
    yield (
        f"processed {tokens} tokens with {micro['gold']} phrases; "
        f"found: {micro['predicted']} phrases; correct: {micro['tp_gold']}."
    )
    if tokens:
        yield f"accuracy: {100 * figures['token_accuracy']:6.2f}%; {_rates(micro)}"
    for label, prf in figures["per_label"].items():
        yield f"{visible(label):>17}: {_rates(prf)}  {prf['predicted']}"


def _rates(prf: Report) -> str:
    precision, recall, f1 = (f"{100 * prf[name]:6.2f}" for name in ("precision", "recall", "f1"))
    return f"precision: {precision}%; recall: {recall}%; FB1: {f1}"
