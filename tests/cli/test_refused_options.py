"""Options and outputs that cannot be right: the command refuses them in one line that says what to do."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from clueval import score
from clueval.cli import main
from clueval.cli.commands import COMMANDS, command_called

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("g.conll").write_text("# newdoc id = d\na\tB-X\nb\tO\n", encoding="utf-8")
    Path("p.conll").write_text("# newdoc id = d\na\tO\nb\tB-X\n", encoding="utf-8")
    for name in ("empty", "e.conll"):
        Path(name).touch()
    score("g.conll", "p.conll", save="s.clueval")
    Path("dir").mkdir()


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("score g.conll p.conll --intervals --method bca --resamples 99999999999", "at most 10,000,000"),
        ("score g.conll p.conll --max-line 99999999999999999999999", "is greater than 9223372036854775807"),
        ("score g.conll p.conll --meta a", "score: --meta needs a name and a column"),
        ("score g.conll p.conll --score-feature s --min-score nan", "'nan' is not a number"),
        ("curate g.conll p.conll --conflicts drop", "--conflicts needs --decisions"),
        ("masking g.conll p.conll --reviewed", "--reviewed needs --decisions"),
        ("score g.conll p.conll -oa.txt -oa.txt", "two results would be written to a.txt"),
        ("score g.conll p.conll --format csv -o a.txt", "the ending of a.txt says its form (remove --format"),
        ("curate a=g.conll b=p.conll --votes 3", "votes is 3, but there are 2 annotators (use --votes all)"),
        ("agree a=g.conll b=p.conll --disagreements -o -", "--disagreements prints places"),
        ("errors g.conll p.conll --metric exact,levels", "a table of errors needs exactly one metric, not 2"),
        ("score g.conll p.conll --save -", "-: cannot be written: only -o writes to standard output"),
        ("convert g.conll --to spans -o dir", "dir: cannot be written: it is a folder (name a file)"),
        ("convert g.conll --to spans -o no/x", "no/x: cannot be written: its folder does not exist"),
        ("convert g.conll --to brat -o empty/", "empty: cannot be written: there is a file of this name"),
        ("convert g.conll --to spans -o empty/x", "empty/x: cannot be written: its folder is a file"),
        ("agree a=g.conll b=p.conll --pygamma=", "argument --pygamma: the name of an output is empty"),
        ("agree a=g.conll b=p.conll --pygamma no/a", "no/a: cannot be written: its folder does not exist"),
        (
            "score g.conll p.conll --digits 1 -o x.csv",
            "--digits has no effect on csv, which has all decimals",
        ),
        ("score g.conll p.conll --digits 11", "digits must be a whole number from 0 to 10"),
        ("score g.conll p.conll --names s.clueval", "--names s.clueval does not apply to the format conll"),
        ("score g.conll p.conll --layer=--", "the value of --layer cannot be --"),
        ("score g.conll p.conll --metric exact.f1", "did you mean exact?"),
        ("score g.conll p.conll --labels A,B", "--labels A,B does not apply to the format conll"),
        (
            "score g.conll p.conll --metric fair(focus=target) --metric fair(focus=system)",
            "the metric 'fair' is named twice, with different settings",
        ),
        ("threshold g.conll p.conll --score-feature s --metric exact,levels", "threshold needs exactly one"),
        (
            "score g.conll p.conll -o r.docx",
            "'r.docx' does not end in the name of a form (one of .txt",
        ),
        ("errors g.conll p.conll --tsv x", "its ending says the form, as in -o errors.html"),
        ("score g.conll p.conll --fail-under f1=80", "write f1=0.8"),
        ("score g.conll p.conll --average macro", "--all prints all averages"),
        ("agree g.conll p.conll --by label", "it is an option of clueval score, "),
        ("iaa g.conll p.conll", "did you mean agree?"),
        ("merge", "required: FILE"),
        (
            "score g.conll p.conll p.conll",
            "unexpected argument 'p.conll'; clueval compare and diff take several",
        ),
        ("score g.conll p.conll --metric bleu", "unknown metric 'bleu'"),
        ("score g.conll g.conll --layer a=1", "'a' is not a tag"),
        ("score g.conll p.conll --scheme BIX", "unknown tag scheme 'BIX'"),
        ("convert g.conll x.jsonl --to doccano", "unexpected argument 'x.jsonl'; -o FILE writes a file"),
        ("merge none -o dir", "dir: cannot be written: it is a folder (name a file)"),
        (
            "errors none none --metric noisy --merge",
            "merge does not apply to metric noisy (leave one out)",
        ),
        ("errors a --level x", "--level: 'x' is not a whole number from 1 on"),
        ("errors a b c --metric noisy", "errors of metric noisy cannot be compared span by span"),
        ("errors g.conll p.conll --bootstrap", "unknown option --bootstrap (see"),
        ("score g.conll p.conll --save", "--save needs a value: --save FILE"),
        ("score g.conll p.conll --levels 1", "--all prints every level"),
        ("score g.conll p.conll --labels PER", "--where label=PER counts only spans with this label"),
        ("score g.conll p.conll --min-f1 0.8", "use clueval score --fail-under f1=0.8"),
        ("compare g.conll p.conll p.conll --alpha 0.01", "use --confidence 0.99"),
        ("compare s.clueval s.clueval --metric exact", "of saved results, --score names what is compared"),
        (
            "score g.conll p.conll --metric noisy --scheme BIO",
            "--scheme BIO does not apply to the format nerval",
        ),
        ("merge g.conll --layer document=2", "'document' cannot be the name of a layer"),
        ("score g.conll --pairs p.csv --pair-by id", "cannot be used together"),
        ("completion fish", "'fish' is unknown; one of bash, zsh"),
        ("score a b --format pdf", "argument --format: 'pdf' is unknown; one of text, json"),
        *(
            (f"score none none --layer {layer}", "write it NAME=COLUMN, as in entity=2; columns count from 1")
            for layer in ("x=0", "x=1:0", "x=1:2:3", "x=", "=2", "x")
        ),
        ("score", "required: GOLD; - is standard input"),
        ("score g.conll p.conll --metric exact --fail-under exact.label.micro.f1=90", "micro.f1=0.9)"),
        ("masking g.conll p.conll --fail-under entity_recall=90", "entity_recall=0.9)"),
        ("masking g.conll p.conll --fail-over leaks=0", "documents_exposed counts documents that leak"),
        ("score g.conll p.conll --column 2", "use --layer NAME=COLUMN"),
        ("score --gold g.conll --predicted p.conll", "name the files without options, gold first"),
        ("score g.conll p.conll --label PER", "use --where LAYER=LABEL"),
        ("masking g.conll p.conll --risk 3", "--layer risk=3"),
        (
            "compare s.clueval s.clueval --resample-by sentence",
            "--resample-by is for systems that are scored here, and there is no gold",
        ),
        ("score g.conll p.conll --cite f1", "cite a number with the signature below the report"),
        ("compare g.conll p.conll", "give gold and two systems, as in GOLD base=A large=B"),
        ("score g.conll p.conll --intervals", "there is one document (score with --resample-by sentence)"),
        ("score g.conll p.conll --layer a=2 --layer b=7", "NAME=GOLD: if only gold has it"),
        ("curate g.conll p.conll -o x.jsonl", "the result has the format conll (name the format with --to)"),
        *(
            (f"{call} -o x{ending}", f"is not written as {ending} (give the file another ending")
            for call in ("curate g.conll p.conll", "merge g.conll --layer a=2 --layer b=2")
            for ending in (".vrt", ".conllu", ".xmi", ".gold_conll", ".xlsx", ".html")
        ),
        ("convert g.conll --to conll -o x.SPACY.gz", "the format conll is not written as .spacy"),
        ("score s.clueval s.clueval", "is a report or a saved result of clueval"),
        (
            "compare s.clueval s.clueval",
            "has 1 document (compare more texts, or score them again with --resample-by sentence",
        ),
        ("score e.conll e.conll --fail-if-worse s.clueval", "score the baseline with the same options"),
        ("score g.conll p.conll --layer a=x", "source 'x', but the columns of this format have no names"),
        ("score g.conll p.conll --layer a=2,a=3", "--layer names 'a' twice"),
        ("score g.conll p.conll --label-map none.tsv", "none.tsv: there is no such file"),
        ("dir/ second/", "did you mean clueval score dir/ ...?"),
        ("convert g.conll --to doccano -o x/", "x/: is a folder, and the format doccano writes one file"),
        # before anything is read: the files are not there
        (
            "errors none none -o no/x.tsv",
            "cannot be written: its folder does not exist (make the folder first)",
        ),
        ("xyz none none", "clueval: there is no command 'xyz' (one of score, conventions, "),
        (
            "errors none none --metric noisy --class missed",
            "kinds does not apply to metric noisy (leave one out)",
        ),
        ("score none none --metric fair(focus=system", "the metrics 'fair(focus=system' cannot be read"),
        ("score none none --metric os.path.join(a=1)", "'os.path.join' is not the class of a metric"),
        ("score none none --metric no.such.Metric", "the module of 'no.such.Metric' cannot be imported"),
        ("score none none --max-alignment 10", "--max-alignment needs --align (add --align"),
        (
            "score none none --metric gate(types=';;')",
            "takes types, or GOLD=PREDICTED, separated by commas, or none, not ';;'",
        ),
        (
            "score none none --layer a=2 --metric fair --where a=PER",
            "as a filter on a layer asks for (use fair(labels=...) and fair(exclude=...)",
        ),
        (
            "score none none --layer a=2 --metric partial --where a=PER",
            "cannot leave spans out of the count, as a filter on a layer asks for (score without the filter",
        ),
        ("errors none none --layer a=2 --labelled b", "there is no layer 'b' (one of a)"),
        ("conventions none none -o x.html --format json", "remove --format, or add -o - to print the result"),
        ("score a --token x", "--token: 'x' is not a column: columns count from 1, or from -1"),
        ("score none none --metric gate(beta=nan)", "takes a number, not 'nan'"),
        ("score a --max-alignment 1e9", "--max-alignment: '1e9' is not a whole number from 1 on"),
        ("errors a --lang d<e", "--lang: 'd<e' is not a language such as de or de-AT"),
        ("errors a --limit -1", "--limit: '-1' is not a whole number from 0 on"),
        ("errors none none --side gold --class spurious", "no gold span is spurious"),
        ("errors none none --side predicted --reason missed", "no predicted span is missed"),
        (
            "errors none none --metric fair --side gold --class LBE,FP",
            "errors of the type FP have a predicted span",
        ),
        (
            "errors none none --metric fair --side predicted --class LE",
            "errors of the type LE have a gold span",
        ),
        (
            "errors none none --level 2 --class superset",
            "no error at level 2 has the class 'superset' without labels",
        ),
        (
            "errors none none --unlabelled --reason label",
            "no error at level 2 has the reason 'label' without labels",
        ),
        ("errors none none --reason partial", "there is no reason 'partial'"),
        ("errors none none --class label", "there is no class 'label'"),
        (
            "errors none none --layer entity=2 --unlabelled --labelled entity",
            "errors are labelled or unlabelled, not both",
        ),
        (
            "errors none none --metric exact(min_overlap=0.5)",
            "the errors of exact are those without settings",
        ),
        (
            "errors a b c --decisions d.tsv",
            "two systems (curate reads them, with annotators called gold and as",
        ),
        (
            "diff a b c --decisions d.tsv",
            "unknown option --decisions; curate reads them, as in clueval curate gold=G",
        ),
        ("convert a --to jsonl", ", JSON Lines are doccano, token-rows and others"),
        ("errors a b c --limit 3", "limit does not apply to two systems"),
        ("errors a b c --metric fair", "errors of metric fair cannot be compared span by span"),
        ("errors a b c --labelled b --layer a=2", "there is no layer 'b' (one of a)"),
    ],
)
def test_command_refuses_what_cannot_be_right(arguments: str, message: str, capsys: Capture) -> None:
    files = sorted(Path().iterdir())
    try:
        code = main(arguments.split())
    except SystemExit as ended:  # the parser of arguments ends the program
        code = int(str(ended.code))

    assert code == 2
    output = capsys.readouterr()
    assert message in output.err
    assert len(output.err.splitlines()) == 1
    assert output.out == ""
    assert sorted(Path().iterdir()) == files


@pytest.mark.usefixtures("files")
def test_places_are_printed_if_the_configuration_has_a_form_for_figures(capsys: Capture) -> None:
    Path("clueval.toml").write_text('format = "json"\n', encoding="utf-8")

    assert main(["agree", "a=g.conll", "b=p.conll", "--disagreements"]) == 0
    assert "nothing" in capsys.readouterr().out


def test_command_without_enough_memory_ends_with_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def run() -> int:
        raise MemoryError

    monkeypatch.setattr("clueval.cli.reference.metrics", run)

    assert main(["metrics"]) == 2
    assert (
        capsys.readouterr().err == "clueval metrics: there is not enough memory for these files and options\n"
    )


SOME = ("a", "b", "1", "2", "0.5", "0.6", "fair", "confusion", "a=b", "b=a", "label:1", "label:2", "de", "en")
"""Values for options that are no choice: each option takes two of them that it does not read as the same."""

WITHOUT_TWO = {"--answers", "--missing", "--ignore-words", "--word-weights"}
"""Options that know one value only, or read a file."""


@pytest.mark.parametrize("command", COMMANDS)
def test_option_with_one_value_is_given_once_in_every_command(command: str, capsys: Capture) -> None:
    called = command_called(command)
    arguments = [option for option in called.options if option.required and not option.flags]
    needed = [next(iter(argument.choices), "a") for argument in arguments]

    def parsed(*values: str) -> str:
        """What the parser says to an option with these values, one after the other."""
        with suppress(SystemExit):
            called.parsed([*(f"{flag}={value}" for value in values), *needed, *format_to_write])
        return capsys.readouterr().err

    for option in called.options:
        flag = "".join(option.flags[-1:])
        format_to_write = ["--to=conll"] if command == "convert" and flag != "--to" else []
        if not option.has_one_value or flag in WITHOUT_TWO:
            continue
        choices = parsed("-").partition("unknown; one of ")[2].partition(" (see")[0]
        known = option.choices or choices.split(", ")
        fitting = (text for text in (*known, *SOME) if text and flag not in parsed(text))
        one, other = next(fitting), next(fitting)

        assert f"{flag}: given twice, with different values" in parsed(one, other)
        assert "given twice" not in parsed(one, one)
