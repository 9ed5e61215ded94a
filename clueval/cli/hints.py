"""The options and commands that people try who know other programs, and what to write here."""

from __future__ import annotations

from clueval.files.names import table

AVERAGES = "--all prints all averages, --format json has them, and --by document has each document"

OPTIONS = table(f"""
--gold --pred --predicted -g -p: name the files without options, gold first
--average --macro --micro --weighted --per-label --per-class --classes: {AVERAGES}
--by-depth: score once for each --depth N
--generic-gold: --generic is for predicted labels; --gold-map FILE gives gold labels other names
--escapes: write the characters themselves in the file, as ( for -LRB-; --align scores other differences of texts
--cite --bibtex: cite a number with the signature below the report; see clueval guide howto-cite
--json: use --format json
--csv: use --format csv
--tsv: use --format tsv
--markdown: use --format markdown
--latex: use --format latex
--text: use --format text
--min-f1 --fail --threshold --min: use clueval score --fail-under f1=0.8
--percent --percentage: text shows percent; JSON, CSV and TSV have fractions
--precision --decimals --round: use --digits N
--confusion: use clueval score --metric confusion
--silent: use -q
--set --setting: settings are part of a metric, as in --metric 'fair(focus=system)'
--strict --mode: seqeval's strict mode is --scheme BIO --invalid discard
--label --labels --types: use --where LAYER=LABEL
-c --column --columns --tag-column --gold-col --pred-col --gold-column --pred-column: \
use --layer NAME=COLUMN, as in --layer entity=2
--risk --risk-column: read the column as a layer, as in --layer entity=2 --layer risk=3
--output --output-file --out --html --xlsx --tsv: -o FILE writes a file; its ending says the form, as in -o errors.html
--annotation-set: --gold-set and --predicted-set name the annotation sets of the two sides
--resample-by: clueval score --resample-by ... --save FILE keeps the counts of each unit
-m: use --metric
-l: use --layer
""")
"""Options; one that a command has is not looked up."""

OPTIONS_OF = {
    "agree": table("""
--metric --metrics --kappa --cohen --fleiss --alpha --krippendorff: \
all coefficients are printed; --convention names other F1 scores
--gold --pred --predicted: name annotators without options; --system names a system
--by --label --per-label: the tables have a row for each label
"""),
    "compare": table("""
--systems --files: name the files without options, as in GOLD base=A large=B
--alpha --level --significance: use --confidence 0.99 for 1 %
--bootstrap --test --permutation: the test is randomisation; --resamples N says how often
--save: clueval score --save FILE keeps the counts of a system, -o FILE the comparison
"""),
    "conventions": table("--all: --format csv has each convention in a row of its own"),
    "errors": table("--type --types --only --filter --kind: use --reason, --class or --side"),
    "score": table("""
--original --source: gold needs spans; clueval masking reads redacted texts, and clueval.recover their masks in Python
--ci --bootstrap --confidence-interval --interval: use --intervals
--level --levels: --all prints every level
"""),
}
"""Options by the command to which they are given."""

COMMANDS = table("""
confusion: use clueval score --metric confusion
eval evaluate f1 seqeval report: use clueval score
agreement iaa kappa alpha: use clueval agree
adjudicate gold: use clueval curate
mask redact anonymise anonymize leaks: use clueval masking GOLD REDACTED --redacted
significance test: use clueval compare
hilfe aide: use clueval help
version: use --version
""")
