"""What people try in Python who know other programs, and what to write here; see also `clueval.cli.hints`."""

from __future__ import annotations

from collections.abc import Collection, Mapping

SETTINGS = "settings belong to a metric: metrics='partial(factor=0.5)'"
REDACTED = "; redacted texts are masking([{'text': text, 'spans': spans}], [redacted], redacted=True)"
TEXTS = "gold has the texts, as in [{'text': text, 'spans': spans}]"


def table(rows: str) -> Mapping[str, str]:
    """Return the advice for each name; a row has some names, a colon and their advice."""
    found: dict[str, str] = {}
    for row in rows.strip().split("\n"):
        names, _, advice = row.partition(": ")
        found |= dict.fromkeys(names.split(), advice)
    return found


ARGUMENTS = table(f"""
mode: metrics='muc' has strict, exact, partial and type, as in result.get('muc.label.partial.f1'); \
the strict mode of seqeval is scheme='BIO', invalid='discard'
average: a result has all averages, see result.rows(); for the mean over documents, score with by='document' and \
take the mean of their rows
by_depth: score once for each depth, as in depth=1
generic_gold: generic is for predicted labels; gold_map gives gold labels other names
escapes: write the characters themselves in the file, as ( for -LRB-; align=True scores other differences of texts
transforms observers: clueval.read gives documents, which you can change and score; clueval.errors gives each error
zero_division: rates of 0/0 are 0; clueval guide concept-averages says more
output_dict: result.to_dict() gives dictionaries
format: result.render('markdown') gives a form; input is the format of files
html: result.write('page.html') writes a web page
corrected: errors(..., decisions=...).write_corrected('gold.conll') writes gold corrected
output: result.render('markdown') gives a form, which you can write to a file
factor glue betas beta focus weights threshold types containing settings set min_overlap overlap_of: {SETTINGS}
id2label label_list label_names class_names features: names of tags that are numbers are names=[...]
tags: all labels count; names of tags that are numbers are names=[...]
text texts: {TEXTS}; answers of language models without positions need input='mentions'
entities: spaCy's entities are read from Docs; a row of a dataset is an item of gold
true reference references labels_true y_true: it is called gold
pred prediction predictions y_pred hypothesis: it is called predicted
""")

IN_MEMORY = {"labels": ARGUMENTS["id2label"], "text": ARGUMENTS["text"]}
"""Advice on options for files that are given with lists."""

_ARGUMENTS_OF_ERRORS = table("type kind only: reasons=['missed'], kinds and sides choose errors")

_FUNCTIONS = table("""
load: load_result
evaluate: score
find_errors: errors
confusion_matrix: score(..., metrics='confusion')
compute_metrics: compat.huggingface.Seqeval
from_llm: score(gold, answers, input='mentions')
agreement iaa kappa cohen_kappa cohen_kappa_score fleiss_kappa krippendorff_alpha: agree
mask redaction evaluate_redaction leaks: masking(gold, texts, redacted=True)
""")

_ATTRIBUTES = {
    "rows": table("""
to_pandas to_df to_dataframe dataframe df to_excel per_label per_class per_type by_document labels micro macro \
weighted: \
rows() has a row for each label and average, as in pandas.DataFrame(result.rows())
"""),
    "scored_by": table("""
errors false_negatives false_positives mistakes: clueval.errors(gold, predicted) lists them
macro_f1 micro_f1 weighted_f1 overall_f1 overall_precision overall_recall: scores() has all of them by name
"""),
    "scores": table("keys values items: scores() and to_dict() are dictionaries"),
    "tests": table("""
p_value p_values significant pvalue p difference diff better: \
tests has the difference, its interval and p of each score and system, and rows() the same as a table
"""),
    "disagreements": table("""
f1 mean_f1 kappa cohen_kappa fleiss_kappa alpha krippendorff pairwise pairs: \
scores() and rows() have all of them, and print() shows tables
"""),
    "render": table("""
to_csv to_markdown to_latex to_string report summary print show table: \
print it, or use render('markdown'), render('csv'), ...
to_html html write_page: write('page.html') writes a web page
cite citation bibtex: cite a number with str(result.signature), which names every choice
"""),
}
"""Attributes of results, by the attribute that a result must have for the advice."""


def nearest(name: str, known: Collection[str], cutoff: float = 0.6) -> str | None:
    """Return the most similar of the known names; None if none has this similarity, from 0 to 1."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, known, n=1, cutoff=cutoff)), None)


def for_argument(name: str, known: Collection[str]) -> str:
    """Return the advice on an argument that a function with these `known` ones does not have."""
    of_errors = _ARGUMENTS_OF_ERRORS if "reasons" in known else {}
    return ARGUMENTS.get(name) or of_errors.get(name) or _or_all(name, known, 0.6)


def for_attribute(name: str, known: Collection[str]) -> str:
    """Return the advice on an attribute that a result with these `known` ones does not have."""
    found = (names[name] for has, names in _ATTRIBUTES.items() if has in known and name in names)
    return next(found, None) or _or_all(name, known, 0.8)


def _or_all(name: str, known: Collection[str], cutoff: float) -> str:
    near = nearest(name, known, cutoff)
    return f"it has {', '.join(known)}" if near is None else f"did you mean {near}?"


def for_function(name: str, known: Collection[str]) -> str:
    """Return the end of the message about a name that clueval does not have: where it is, or a similar one."""
    if name in ("f1_score", "precision_score", "recall_score", "accuracy_score", "classification_report"):
        return f"; it is clueval.compat.seqeval.{name}"
    near = _FUNCTIONS.get(name) or nearest(name, known, 0.7)
    return f"; did you mean {near}?" if near and not name.startswith("_") else ""
