"""What people try who know other programs, in Python and on the command line, and what to write here.

In an advice, ``{by:document}`` is an option with a value, ``{by}`` one without: Python writes ``by='document'`` and
``by``, the command line ``--by document`` and ``--by``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

NOTHING: Mapping[str, str] = {}

SETTINGS = "settings belong to a metric: {metric:partial(factor=0.5)}"
TEXTS = "gold has the texts, as in [{'text': text, 'spans': spans}]"
_NAMES_OF_GOLD = "y_true true reference references labels_true gold g"
_NAMES_OF_PREDICTED = "y_pred pred prediction predictions hypothesis hyp predicted p"


def _table(rows: str) -> Mapping[str, str]:
    """Return the advice for each name; a row has some names, a colon and their advice."""
    table: dict[str, str] = {}
    for row in rows.strip().split("\n"):
        names, _, advice = row.partition(": ")
        table |= dict.fromkeys(names.split(), advice)
    return table


SYNONYMS = _table(f"""
{_NAMES_OF_GOLD}: it is called gold; on the command line, name the files without options, gold first
{_NAMES_OF_PREDICTED} system: it is called predicted; the command line names files without options, gold first
mode strict: {{metric:muc}} has strict, exact, partial and type, as in result.get('muc.label.partial.f1'); the strict \
mode of seqeval is {{scheme:BIO}}, {{invalid:discard}}
average macro micro weighted per_label per_class classes: --all prints all averages, rows() and JSON have them; for \
the mean over documents, score with --by document, in Python by='document'
level levels: --all prints every level, in Python result.render('text', all=True)
bootstrap ci interval confidence_interval n_boot: use {{intervals:True}}
groups group_by domain category: use {{by:KEY}}
baseline regression: clueval score --fail-if-worse BASELINE tests for a loss, clueval compare the difference
min_f1 fail threshold min: use clueval score --fail-under f1=0.8; {SETTINGS}
fail_under fail_over fail_if_worse fail_on_leak fail_on_new gates: clueval score, diff and masking have limits for the \
exit code; in Python, test a number, as in assert result.f1 >= 0.8
factor glue betas beta focus weights containing settings set setting min_overlap overlap_of: {SETTINGS}
word_ids id2label label_list label_names class_names features: names of tags that are numbers are {{names:[...]}}; \
-100 is ignored
lenient partial match overlap iou: {{metric:levels}} has four levels, {{metric:exact(min_overlap=0.5)}} a limit
filter only include select exclude drop skip: {{where:KEY=VALUE}} counts only some spans or documents; \
{{label_map:LABEL=}} drops the spans of a label
decisions: curate reads them, as in clueval curate gold=GOLD predicted=PREDICTED --decisions FILE
diff.decisions: curate reads them, as in clueval curate gold=GOLD old=OLD new=NEW --decisions FILE
language locale german deutsch: use {{lang:de}}
top first head max_places n: use {{limit:N}}
majority unanimous: use {{votes:majority}}, all, or a number
ignore_case case_sensitive lowercase: labels count as they are written; {{label_map:Per=PER}} renames them
threads workers processes cores: use {{jobs:N}}
label labels types tags: all labels count; use {{where:LAYER=LABEL}} for one; names of tags that are numbers are \
{{names:[...]}}
c l column columns tag_column gold_col pred_col gold_column pred_column: use {{layer:NAME=COLUMN}}, as in \
{{layer:entity=2}}
risk risk_column: read the column as a layer, as in {{layer:risk=3}}
confusion confusion_matrix: use {{metric:confusion}}
resample_by: clueval score --resample-by ... --save FILE keeps the counts of each unit
zero_division: rates of 0/0 are 0; clueval guide concept-averages says more
output_dict flat to_flat: result.to_dict() gives dictionaries, result.scores() one number for each name
json csv markdown latex format f: use --format FORM, in Python result.render('FORM'); --input names the format of files
html xlsx tsv output output_file out: -o FILE writes a file; its ending says the form, as in -o errors.html, in Python \
write('errors.html')
digits precision decimals round: use --digits 2, in Python result.render('text', digits=2)
from from_format input_format reader input_gold input_predicted: use {{input:FORMAT}}, on the command line also \
--input GOLD:PREDICTED, as in --input doccano:inline
cite bibtex: cite a number with the signature below the report (result.signature)
text texts original source: {TEXTS}; answers of language models without positions need {{input:mentions}}
agree.metric agree.metrics agree.measure agree.kappa agree.cohen agree.fleiss agree.alpha agree.krippendorff: \
all coefficients are printed; --convention, in Python conventions=, names other F1 scores
curate.format: use {{to:FORMAT}}; {{input:FORMAT}} names the format of the files
compare.intervals compare.alpha compare.level compare.significance: intervals are always computed; \
use {{confidence:0.99}} for 1 %
compare.bootstrap compare.test compare.permutation compare.paired_bs compare.paired_ar: \
the test is randomisation; {{resamples:N}} says how often
errors.type errors.types errors.only errors.kind errors.filter errors.fp errors.fn errors.missed \
errors.spurious errors.boundary errors.false_negatives errors.false_positives: reasons=['missed'] (--reason \
missed), kinds (--class) and sides (--side) choose errors
""")
"""Arguments and options, those of one function with its name before; one that a function has is not looked up."""

NEVER_OPTIONS = [*_NAMES_OF_GOLD.split(), *_NAMES_OF_PREDICTED.split()]
"""What gold and predicted are called elsewhere, which is never an option."""

FOR_CALLS = {
    **dict.fromkeys(("score", "conventions", "profile", "threshold"), f"; {TEXTS}"),
    "masking": f"; {TEXTS}; redacted texts are masking([{{'text': text, 'spans': spans}}], [redacted], redacted=True)",
}
"""Advice on a call of a function that misses an argument or has too many."""

_FUNCTIONS = _table("""
evaluate eval f1 report Evaluator: did you mean score?
Scorer Metric: did you mean Accumulator?
exact strict levels muc partial fair gate noisy seqeval nervaluate: use score with {metric:NAME}, or conventions for all
compute compute_metrics: it is clueval.compat.huggingface.Seqeval
f1_score precision_score recall_score accuracy_score classification_report: it is in clueval.compat.seqeval
confusion confusion_matrix matrix: use score with {metric:confusion}
agreement iaa kappa alpha cohen_kappa cohen_kappa_score fleiss_kappa krippendorff_alpha: did you mean agree?
adjudicate gold: did you mean curate?
mask redact anonymise anonymize redaction evaluate_redaction leaks: use masking, for redacted texts with {redacted:True}
significance test: did you mean compare?
validate lint stats statistics count info: did you mean check?
from_llm: use score with {input:mentions}
""")
"""Functions and commands."""

_ATTRIBUTES = _table("""
to_pandas to_df to_dataframe dataframe df: pandas.DataFrame(result.rows()) makes a data frame
per_label per_class per_type by_document labels micro macro: \
rows() has a row for each label and average, as in pandas.DataFrame(result.rows())
errors false_negatives false_positives mistakes: clueval.errors(gold, predicted) lists them
f1 mean_f1 kappa alpha macro_f1 micro_f1 overall_f1 overall_recall to_flat flat keys values items: \
scores() and rows() have all of them by name; scores() and to_dict() are dictionaries
p_value p_values significant pvalue p difference diff better: \
tests has the difference, its interval and p of each score and system, and rows() the same as a table
to_csv to_markdown to_latex to_string to_html to_excel html write_page report summary print show table: \
print it, or use render('markdown'), render('csv'), ...; write('page.html') writes a web page, write('table.xlsx') a \
workbook
ci interval confidence_interval confidence_intervals bootstrap: intervals() has an interval of each rate
cite citation bibtex: cite a number with str(result.signature), which names every choice
matrix confusion confusion_matrix: score with metrics='confusion', then to_dict() or print
""")
"""Attributes of results."""

NEAR = 0.75
"""The similarity, from 0 to 1, from which a name is near."""


def near_names(name: str, names: Collection[str], cutoff: float = NEAR) -> list[str]:
    """Return at most five of the known names that are similar in any case, and nearly as similar as the first."""
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(b=name.casefold())
    scored = []
    for existing in names:
        matcher.set_seq1(existing.casefold())
        # both are upper bounds, which cost little
        if matcher.real_quick_ratio() >= cutoff and matcher.quick_ratio() >= cutoff:
            scored.append((-matcher.ratio(), existing))
    scored.sort()
    return [existing for ratio, existing in scored[:5] if -ratio >= max(cutoff, -scored[0][0] - 0.05)]


def nearest(name: str, names: Collection[str], cutoff: float = 0.6) -> str | None:
    """Return the most similar of the known names; None if none has this similarity, from 0 to 1."""
    return next(iter(near_names(name, names, cutoff)), None)


def question(
    name: str, names: Collection[str], cutoff: float = NEAR, *, written: Mapping[str, str] = NOTHING
) -> str:
    """Return a question that suggests the shortest name that goes on as `name`, or similar ones; empty without any.

    `written` says how names are written in it.

    >>> question("recl", ["recall", "precision"]), question("prec", ["recall", "precision"]), question("x", ["recall"])
    ('did you mean recall?', 'did you mean precision?', '')
    """
    longer = sorted((known for known in names if name and known.startswith(name)), key=len)
    near = longer[:1] or near_names(name, names, cutoff)
    return f"did you mean {' or '.join(written.get(known, known) for known in near)}?" if near else ""


def one_of(name: str, names: Iterable[object]) -> str:
    """Return the names, after a question that suggests those that are similar.

    >>> one_of("Recal", ["recall", "precision"])
    'did you mean recall? one of recall, precision'
    """
    known = list(map(str, names))
    return f"{question(name, known)} one of {', '.join(known)}".lstrip()


def synonym(name: str, names: Collection[str], function: str, *, dashes: bool = False) -> str:
    """Return the advice on an option of another program; empty without any for a function that has these `names`.

    With `dashes`, options are written as on the command line.
    """
    advice = SYNONYMS.get(f"{function}.{name}") or SYNONYMS.get(name, "")
    return written(advice, dashes=dashes) if _helps(advice, names) else ""


def _helps(advice: str, names: Collection[str]) -> bool:
    """Return whether an advice names no options, or one of those that a function has."""
    known = {name.removeprefix("--").replace("-", "_") for name in names}
    named = re.findall(r"\{(\w+)", advice)
    return not named or any(not known.isdisjoint((option, f"{option}s")) for option in named)


def near_synonym(name: str, names: Collection[str], *, dashes: bool = False) -> str:
    """Return the advice on the most similar option of another program; empty without any, as in `synonym`.

    >>> near_synonym("ouput", [], dashes=True).partition(",")[0]
    '-o FILE writes a file; its ending says the form'
    """
    near = nearest(name, [known for known in SYNONYMS if len(known) > 3 and "." not in known], NEAR)
    return "" if near is None or len(name) <= 3 else synonym(near, names, "", dashes=dashes)


def written(advice: str, *, dashes: bool = False) -> str:
    """Return an advice with its options written as in Python, or with `dashes` as on the command line.

    >>> text = "{by:document}, {intervals:True}, {metric:gate(beta=2)}, {layer:entity=2}, {gold_map}, {depth:N}"
    >>> written(text)
    "by='document', intervals=True, metrics='gate(beta=2)', layers={'entity': 2}, gold_map, depth=N"
    >>> written(text, dashes=True)
    "--by document, --intervals, --metric 'gate(beta=2)', --layer entity=2, --gold-map, --depth N"
    """

    def option(match: re.Match[str]) -> str:
        name, value = match.groups()
        if dashes:
            argument = (
                "" if value in (None, "True", "[...]") else f" '{value}'" if "(" in value else f" {value}"
            )
            return f"--{name.replace('_', '-')}{argument}"
        if value is None:
            return str(name)
        if name == "layer":
            key, _, column = value.partition("=")
            return f"layers={{{key!r}: {column}}}"
        plain = value == "True" or value.isdecimal() or (value in ("N", "KEY", "NAME")) or value[0] == "["
        return f"{'metrics' if name == 'metric' else name}={value if plain else repr(value)}"

    return re.sub(r"\{(\w+)(?::([^{}]*))?\}", option, advice)


def for_argument(name: str, names: Collection[str], function: str) -> str:
    """Return the advice on an argument that a function with these `names` does not have."""
    advice = synonym(name, names, function) or question(name, names) or near_synonym(name, names)
    return advice or f"help(clueval.{function}) lists all"


def in_memory(name: str) -> str | None:
    """Return the advice on an option for files that is given with lists; None without any."""
    return written(SYNONYMS[name]) if name in ("labels", "text") else None


def for_attribute(name: str, names: Collection[str]) -> str:
    """Return the advice on an attribute that a result with these `names` does not have."""
    return _ATTRIBUTES.get(name) or question(name, names) or "help(...) lists all"


def for_function(name: str, names: Collection[str], *, dashes: bool = False) -> str:
    """Return the end of the message about a function, or with `dashes` a command, that clueval does not have."""
    advice = written(_FUNCTIONS.get(name, ""), dashes=dashes) or question(name, names, 0.7)
    return f"; {advice}" if advice and not name.startswith("_") else ""
