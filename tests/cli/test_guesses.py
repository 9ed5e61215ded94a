"""Commands that one may try after reading the README alone: each works, or its error says what to write."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from clueval import UsageError, errors
from clueval.cli import main

Capture = pytest.CaptureFixture[str]

WORK = [
    "score gold.conll predicted.conll",
    "score both.conll --metric exact",
    "score gold.conll predicted.conll -o result.json",
    "score gold.conll predicted.conll --by document --lang de",
    "score gold.conll predicted.conll --label-map PER=PERSON,ORG=COMPANY",
    "score gold.conll predicted.conll --metric fair,muc --format markdown",
    "conventions gold.conll predicted.conll",
    "errors gold.conll predicted.conll",
    "errors gold.conll predicted.conll -o errors.html -o errors.csv",
    "compare gold.conll predicted.conll other.conll --all-pairs",
    "diff gold.conll predicted.conll other.conll",
    "agree gold.conll predicted.conll other.conll",
    "profile gold.conll predicted.conll",
    "check gold.conll -o problems.csv",
    "convert gold.conll --to doccano",
    "help score reading",
]
LEAD_ON = {
    "gold.conll predicted.conll": "did you mean clueval score gold.conll ...?",
    "score gold.conll predicted.conll --metrics exact": "did you mean --metric?",
    "score gold.conll predicted.conll --metric seqeval": "its numbers are those of 'exact'",
    "score gold.conll predicted.conll --metric levls": "did you mean levels?",
    "score gold.conll predicted.conll --metric 'exact('": "as in exact,partial(factor=0.5,betas=[2]);",
    "score gold.conll predicted.conll --input bart": "did you mean brat?",
    "score gold.conll predicted.conll --format jsn": "did you mean json?",
    "formats brot": "did you mean brat?",
    "help score gate": "did you mean gates?",
    "compare gold.conll predicted.conll other.conll --intervals": "intervals are always computed",
    "score gold.conll predicted.conll --fail-under exact.f1=0.9": "the metric exact was not counted",
    "score gold.conll predicted.conll --output result.html": "-o FILE writes a file",
    "score gold.conll predicted.conll --strict": "is --scheme BIO, --invalid discard",
    "score gold.conll predicted.conll --bootstrap": "use --intervals",
    "score gold.conll predicted.conll --confusion": "use --metric confusion",
    "score gold.conll predicted.conll --per-label": "--all prints all averages",
    "score gold.conll predicted.conll --fail-under 0.8": "write f1=0.8",
    "errors gold.conll predicted.conll --type FN": "(--reason missed)",
    "errors gold.conll predicted.conll --set beta=2": "settings belong to a metric: --metric 'partial(factor",
    "score gold.conll predicted.conll --filter label=PER": "--where KEY=VALUE counts only some spans",
    "score gold.conll predicted.conll -f json": "use --format FORM",
    "score gold.conll predicted.conll --exclude PER": "; --label-map LABEL= drops the spans of a label",
    "score gold.conll predicted.conll --ignore-case": "labels count as they are written",
    "score gold.conll predicted.conll --lenient": "--metric levels has four levels",
    "score gold.conll predicted.conll --system other.conll": "it is called predicted",
    "convert gold.conll --from conll --to doccano": "use --input FORMAT",
    "convert gold.conll --to spacy": ".spacy files are docbin",
    "stats gold.conll": "did you mean check?",
    "agree gold.conll predicted.conll --kappa": "all coefficients are printed",
    "masking gold.conll redacted.txt": "add --redacted",
    "convert gold.conll gold.jsonl": "--to",
    "confusion gold.conll predicted.conll": "use score with --metric confusion",
    "score a b --input-predicted inline": "on the command line also --input GOLD:PREDICTED, as in",
    "profile a b --by domain": "unknown option --by; it is an option of clueval score, masking (see",
    "convert gold.conll --to doccano --where x=PER": "it is an option of clueval score, compare, threshold, ",
    "agree gold.conll other.conll --fail-under f1=0.8": "clueval score, diff and masking have limits for the exit",
    "agree gold.conll other.conll --decisions d.tsv": "curate reads them, as in clueval curate gold=GOLD predicted=",
    "curate gold.conll other.conll --format conll": "use --to FORMAT",
    "merge gold.conll --format conll": "it is an option of clueval score, ",
    "errors gold.conll other.conll --language de": "use --lang de",
    "errors gold.conll other.conll --top 3": "use --limit N",
    "curate gold.conll other.conll --majority": "use --votes majority",
    "diff a.clueval b.clueval": "required: NEW; clueval compare takes saved results",
    "score a b c d": "unexpected argument 'c'; clueval compare and diff take several systems, clueval agree "
    "several annotators; quote patterns, as in 'gold/*.conll' (see",
    "score gold.conll other.conll -o a.clueval": ".html; score with --save FILE saves)",
    "score gold.conll other.conll --where label=PER,ORG": "; write a filter for each value)",
    "score gold.conll other.conll --metric partial-match": "its numbers are those of 'muc'",
    "score gold.conll other.conll --metric lenient": "its numbers are those of 'muc'",
    "masking gold.conll folder": "and masking with --redacted one of redacted texts",
    "curate gold.conll other.conll -o x.html": "agree and errors write pages and workbooks)",
    "score a b --bootsrap": "unknown option --bootsrap; use --intervals",
    "score a b --format html": "-o FILE writes pages and workbooks, as in -o x.html",
    "score gold.conll predicted.conll --layer entity": "write it NAME=COLUMN, as in entity=2",
    "fair gold.conll predicted.conll": "use score with --metric NAME",
    "score a b --ouput x.html": "unknown option --ouput; -o FILE writes a file",
    "gate a b": "there is no command 'gate'; use score with --metric NAME",
    "score folder/goldd.conll other.conll": "goldd.conll: there is no such file or folder (did you mean",
    "score foldr/gold.conll other.conll": "(did you mean folder/gold.conll?)",
    "score nowhere/gold.conll other.conll": "nowhere/gold.conll: there is no such file or folder\n",
}


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    texts = {
        "gold.conll": "Ann B-PER\nsaw O\nUlm B-ORG\n\n",
        "predicted.conll": "Ann B-PER\nsaw O\nUlm O\n\n",
        "other.conll": "Ann B-PER\nsaw O\nUlm B-PER\n\n",
        "both.conll": "Ann B-PER B-PER\nsaw O O\nUlm B-ORG O\n\n",
    }
    for name, text in texts.items():
        Path(name).write_text(text * 3, encoding="utf-8")
    Path("folder").mkdir()
    Path("folder/gold.conll").write_text(texts["gold.conll"], encoding="utf-8")
    Path("redacted.txt").write_text("[X] saw [X]", encoding="utf-8")


@pytest.mark.parametrize("command", WORK)
def test_a_first_guess_works(command: str, capsys: Capture) -> None:
    assert main(shlex.split(command)) == 0
    output = capsys.readouterr()
    assert output.out or "wrote" in output.err


@pytest.mark.parametrize("command", LEAD_ON)
def test_a_first_guess_leads_on_in_one_line(command: str, capsys: Capture) -> None:
    try:
        code = main(shlex.split(command))
    except SystemExit as stopped:
        code = int(stopped.code or 0)

    assert code == 2
    error = capsys.readouterr().err
    assert LEAD_ON[command] in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "first"),
    [
        ("help gates", "options of clueval score: gates:"),
        ("guide ci", "# How do I stop a build if scores fall"),
    ],
)
def test_words_for_gates_lead_to_them(command: str, first: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command.split()) == 0
    assert capsys.readouterr().out.startswith(first)


def test_an_option_of_other_functions_is_not_advised_where_it_was_refused() -> None:
    with pytest.raises(
        UsageError, match=r"^errors has no option 'intervals' \(help\(clueval.errors\) lists all\)$"
    ):
        errors([["B-A"]], [["B-A"]], intervals=True)
