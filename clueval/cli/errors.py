"""``clueval errors`` and ``clueval diff``: the errors in their sentences, of one system, of two, or of two runs."""

from __future__ import annotations

from typing import Annotated

import clueval
from clueval.cli.declared import FromOne, FromZero, Input, Keywords, OneOf, fields, shared, without_none
from clueval.cli.options import (
    DECISIONS,
    PREPARING,
    READING,
    SEVERAL_LAYERS,
    say_what_was_read,
    sides_of,
)
from clueval.cli.outputs import REPORT_WITH_TEXTS, ReportOutput
from clueval.cli.printing import complain, remark
from clueval.cli.progress import progress
from clueval.core.levels import LEVELS
from clueval.core.span import SIDES
from clueval.files.errors import UsageError, with_noun
from clueval.files.writing import named_together
from clueval.reading import spooled
from clueval.results.inputs import layers_not_predicted
from clueval.results.options import Counting
from clueval.studies.errors.report import Errors
from clueval.studies.errors.search import CLASSES, REASONS
from clueval.studies.errors.two_systems import TwoSystems
from clueval.transforms.options import Preparing

_CLASSES, _REASONS = ", ".join(CLASSES), ", ".join(REASONS)


def _choice_of(
    *,
    side: Annotated[str, OneOf((*SIDES, "both"))] | None = None,
    level: Annotated[FromOne, OneOf(LEVELS)] | None = None,
    unlabelled: bool = False,
    labelled: str | None = None,
    spans: Keywords = fields(Counting, "errors", "merge where"),
) -> Keywords:
    """Return the options that select errors, as `clueval.errors` takes them.

    errors:
        side SIDE: gold: spans that were not found; predicted: spans that are not correct; both (default: both)
        level N: CLUEval's levels: matches up to this level are correct (default: none, a span is correct if
            start, end and label are; with --labelled or --unlabelled: 2)
        unlabelled: CLUEval's levels without labels: --level 2, if no other
        labelled LAYER: CLUEval's levels: a match is correct only if the label in this layer is correct, too
    """
    sides = None if side in (None, "both") else (side,)
    return without_none(level=level, labelled=labelled, unlabelled=unlabelled or None, sides=sides, **spans)


_CHOICE = shared(_choice_of)


def errors(
    gold: Input,
    predicted: Input | None = None,
    second: Input | None = None,
    *,
    metric: str | None = None,
    choice: Keywords = _CHOICE,
    kinds: list[str] | None = None,
    reasons: list[str] | None = None,
    limit: FromZero | None = None,
    decisions: Keywords = DECISIONS,
    window: FromZero | None = None,
    report: ReportOutput = REPORT_WITH_TEXTS,
    reading: Keywords = READING,
    pairs: Input | None = None,
    pairing: Keywords = fields(Counting, "reading", "pair_by"),
    preparing: Keywords = PREPARING,
) -> int:
    """Show the errors in context: gold spans that were not found and predicted spans that are not correct, each in
    its sentence with everything that overlaps it on the other side. Errors that overlap are one place. With
    SECOND, a second system, errors are those of both systems or of only one.

    By default, these are the errors that clueval score --metric exact counts: spans whose start, end or label is
    wrong. Each has a reason, the first that fits: label (a span of the other side has the same range and another
    label), boundary (it overlaps a span with its label), boundary+label (it overlaps only spans with other labels),
    missed (gold) or spurious (predicted): it overlaps nothing.

    --level, --unlabelled and --labelled choose the errors of clueval score --metric levels instead. A match has a
    class: 1 exact, 2 superset, 3 tiling, 4 overlap. A span without a match has the class partial if a span of the
    other side overlaps it, otherwise missed or spurious. At level N, the classes 1 to N are correct; with --labelled,
    only if the label is, too.

    usage: GOLD PREDICTED [SECOND]

    arguments:
        second SECOND: a second system
    errors:
        metric METRIC: whose errors: exact, levels (CLUEval), fair (FairEval, with the types LE, BES, BEL, BEO, LBE,
            FN, FP) or noisy (texts that differ: every gold span with its predicted span), with its settings, as in
            noisy(threshold=0.2) (default: exact)
        kinds --class CLASS,...: only errors of these classes of CLUEval: {_CLASSES}; with --metric fair, its types
        reasons --reason REASON,...: only errors with these reasons: {_REASONS}
        limit N: list the first N places only
    output:
        window N: show N positions on either side of an error instead of its sentence
    reading:
        pairs CSV: a CSV table of pairs of files, gold and predicted; GOLD is then the folder with all of them

    notes:
        in the context, [ ] stand around gold spans and { } around predicted ones; in tables, squares show which side
        has marked each piece: 🟩 both sides   🟥 only the span in question   🟧 only the other side
    examples:
        clueval errors gold.vrt predicted.vrt --layer entity=2 --token-id 4
        clueval errors gold.vrt predicted.vrt --layer entity=2 -o errors.html
        clueval errors gold.vrt one.vrt two.vrt --layer entity=2 -o errors.html
        clueval errors gold/ predicted/ --side gold --reason missed --where domain=civil -o missed.xlsx -o missed.tsv
    """
    if pairs is not None and second is not None:
        raise UsageError("--pairs does not apply to two systems", advice="leave it out")
    words = {
        name: None if listed is None else [word for names in listed for word in names.split(",")]
        for name, listed in (("kinds", kinds), ("reasons", reasons))
    }
    sides = (*sides_of(gold, predicted, pairs, pairing.get("pair_by"), "errors"), second)
    with (
        progress(gold, predicted, second) as advance,
        spooled(*sides) as (gold_input, predicted_input, second_input),
    ):
        content = clueval.errors(
            gold_input,
            predicted_input,
            second_input,
            progress=advance,
            **without_none(metric=metric, window=window, limit=limit, **words, **decisions),
            **choice,
            **pairing,
            **preparing,
            **reading,
        )
        with named_together():  # a folder that is read may be that of the outputs
            code = report.put(content)
            report.remark_verdict(content)
        result = content.results[0] if isinstance(content, TwoSystems) else content.result
        assert result is not None
        if isinstance(content, Errors):
            if content.decisions is not None and not report.prints_text:
                remark(content.decisions.words())
            for layer, number in content.only_wrong_labels().items():
                have = "s have" if number > 1 else " has"
                remark(
                    f"not listed: {number:,} span{have} only a wrong label in layer {layer} "
                    f"(--labelled {layer} lists them, too)"
                )
        for layer in layers_not_predicted(result.inputs):
            remark(f"layer {layer}: predicted has no spans, so every gold span is missed; {SEVERAL_LAYERS}")
        say_what_was_read(result)
    return code


def diff(
    gold: Input,
    old: Input,
    new: Input,
    *,
    choice: Keywords = _CHOICE,
    fail_on_new: bool = False,
    report: ReportOutput = REPORT_WITH_TEXTS,
    preparing: Keywords = fields(Preparing, "counting", without="any_of"),
    reading: Keywords = READING,
    pairing: Keywords = fields(Counting, "reading", "pair_by"),
) -> int:
    """Compare the errors of two runs on the same gold: which errors of OLD are fixed in NEW, which errors of NEW are
    new, which gold spans are wrong in another way.

    GOLD, OLD and NEW are three files or three folders. Errors are those of clueval errors with the same options.

    usage: GOLD OLD NEW

    arguments:
        gold GOLD: file or folder of gold
        old OLD: file or folder of the old run
        new NEW: file or folder of the new run
    gates:
        fail_on_new: exit with 1 if there is a new error

    examples:
        clueval diff gold.conll old.conll new.conll
        clueval diff gold.vrt old.vrt new.vrt --layer entity=2 --labelled entity --format json
        clueval diff gold/ old/ new/ --fail-on-new
        clueval diff gold.conll old.conll new.conll -o diff.html
    """
    with progress(gold, old, new) as advance, spooled(gold, old, new) as (gold, old, new):
        content = clueval.diff(gold, old, new, progress=advance, **choice, **preparing, **reading, **pairing)
        with named_together():  # a folder that is read may be that of the outputs
            report.put(content)
            report.remark_verdict(content)
    if not fail_on_new or (content.documents and not content.new):
        return 0
    problem = with_noun(content.new, "new errors") if content.new else "no documents, so nothing was compared"
    complain(f"clueval diff: {problem}")
    return 1
