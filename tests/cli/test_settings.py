"""Settings of metrics and options of groups, made from the fields of dataclasses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
from corpora import write
from hypothesis import given
from hypothesis import strategies as st

from clueval.cli import main
from clueval.cli.commands import Command, settings_of
from clueval.cli.declared import Keywords, SideValues
from clueval.cli.declared import fields as options_of_fields
from clueval.core.case import Case
from clueval.core.metric import Metric, Tally
from clueval.files.errors import UsageError
from clueval.files.options import column, option, options_of
from clueval.formats.options import Reading
from clueval.metrics import METRICS, chosen_metrics, metric_class, with_settings
from clueval.metrics.fair import parse_weights
from clueval.reports.table import Table

Capture = pytest.CaptureFixture[str]


@dataclass(frozen=True, slots=True)
class Lengths(Metric):
    """Metric `toy`: the number of spans of at least `least` positions."""

    name: ClassVar[str] = "toy"
    zero: ClassVar[str] = "0"

    least: int = 1
    share: float | None = None
    strict: bool = False
    side: Literal["gold", "both"] = "both"
    labels: tuple[str, ...] = ()
    cuts: tuple[float, ...] = (0.5,)
    note: str | None = None
    unreadable: Mapping[str, int] | None = None

    def count(self, case: Case) -> Tally:
        return Tally({("gold",): sum(len(span) >= self.least for span in case.gold)})

    def scores(self, total: Tally, layers: Sequence[str]) -> dict[str, Any]:
        return {"gold": total["gold",]}

    def tables(self, title: str, report: Mapping[str, Any]) -> Iterator[Table]:
        yield Table(title, ["", "gold"], [["long", report["gold"]]])


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METRICS, "toy", (__name__, "Lengths"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("least=3", 3),
        ("least=-3", -3),
        ("share=0.25", 0.25),
        ("share=None", None),
        ("share=none", None),
        ("strict=True", True),
        ("strict=no", False),
        ("side=gold", "gold"),
        ("side='gold'", "gold"),
        ("labels='A, B'", ("A", "B")),
        ("labels=['A, B','C']", ("A, B", "C")),
        ("labels=A", ("A",)),
        ("labels=[]", ()),
        ("labels=none", ()),
        ("cuts=[1,0.5]", (1.0, 0.5)),
        ("cuts='1,0.5'", (1.0, 0.5)),
        ("note='a=b'", "a=b"),
        ("note=by-response", "by-response"),
        ("note=''", ""),
        ("note=None", None),
        ("note=none", None),
        ("note='None'", "None"),
        ("note='none'", "none"),
    ],
)
def test_a_setting_is_read_by_the_type_of_its_field(text: str, value: object) -> None:
    (metric,) = chosen_metrics(f"toy({text})")

    assert getattr(metric, text.partition("=")[0]) == value
    assert chosen_metrics(with_settings(metric)) == (metric,)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("toy(least=1.5)", "toy(least=...) takes a whole number, not '1.5'"),
        ("toy(share=x)", "toy(share=...) takes a number, or none, not 'x'"),
        ("toy(share=nan)", "toy(share=...) takes a number, or none, not 'nan'"),
        ("toy(strict=1)", "toy(strict=...) takes yes or no, not '1'"),
        ("toy(side=predicted)", "toy(side=...) takes gold or both, not 'predicted'"),
        ("toy(cuts=[1,x])", "toy(cuts=...) takes numbers separated by commas, or none, not '1,x'"),
        (
            "toy(lest=1)",
            "metric toy has no setting 'lest' (it has least, share, strict, side, labels, cuts, note, unreadable)",
        ),
        ("toy(unreadable=1)", "toy(unreadable=...) cannot be written as text (make the metric in Python)"),
        ("bleu", "unknown metric 'bleu' (one of "),
        ("toy(", "the metrics 'toy(' cannot be read (write it as in exact,partial(factor=0.5,betas=[2]); "),
        ("toy(1)", "the metrics 'toy(1)' cannot be read"),
        ("toy(least=1,least=2)", "the metrics 'toy(least=1,least=2)' cannot be read"),
        ("toy(least=f(1))", "the metrics 'toy(least=f(1))' cannot be read"),
        (
            "toy(least=1),toy(least=2)",
            "the metric 'toy' is named twice, with different settings (score twice)",
        ),
        ("(" * 5000, "the metrics '("),
        ("-" * 50_000 + "a", "the metrics '-"),
        ("a" * 200_000, "the metrics have more than 100,000 characters"),
        ("partial(factor=2)", "Partial.factor must be a number from 0 to 1, not 2.0"),
        ("", "no metric is named"),
    ],
)
def test_error_for_a_wrong_metric_names_what_is_possible(text: str, problem: str) -> None:
    with pytest.raises(UsageError) as raised:
        chosen_metrics(text)

    assert str(raised.value).startswith(problem)


def test_a_metric_of_ones_own_is_written_with_its_module() -> None:
    assert chosen_metrics(f"exact,{__name__}.Lengths(least=2)")[1] == Lengths(least=2)


def test_settings_without_a_readable_type_have_a_reader() -> None:
    fair, gate = chosen_metrics(
        "fair(weights='LE = 0.5 FP + 0.5 FN'),"
        "gate(types='A, B=C',features={'A':['id'],'B':['id','kind']},score_feature=s,thresholds=11)"
    )

    assert fair.weights == parse_weights("LE = 0.5 FP + 0.5 FN")  # type: ignore[union-attr]
    assert fair == chosen_metrics("fair(weights={'LE':{'FP':0.5,'FN':0.5}})")[0]
    assert gate.types == ("A", "B=C")  # type: ignore[union-attr]
    assert gate.features == ("A[id]", "B[id,kind]")  # type: ignore[union-attr]
    assert gate.thresholds == "11"  # type: ignore[union-attr]


@given(st.text())
def test_any_text_is_metrics_or_refused(text: str) -> None:
    with suppress(UsageError):
        chosen_metrics(text)


@given(st.text() | st.sampled_from(["None", "none", "True"]), st.lists(st.text(), max_size=3))
def test_every_text_is_read_as_it_was_written(note: str, labels: list[str]) -> None:
    metric = Lengths(note=note, labels=tuple(labels))

    assert chosen_metrics(with_settings(metric)) == (metric,)


@pytest.mark.parametrize(
    ("name", "setting", "value"),
    [
        ("exact", "overlap_of", "unoin"),
        ("fair", "focus", "sytem"),
        ("gate", "pairing", "by-respons"),
        ("masking", "ignore", "punctuatoin"),
    ],
)
def test_a_value_that_is_no_choice_has_one_error_in_python_and_as_text(
    name: str, setting: str, value: str
) -> None:
    with pytest.raises(UsageError, match="did you mean ") as in_python:
        metric_class(name)(**{setting: value})
    with pytest.raises(UsageError) as as_text:
        chosen_metrics(f"{name}({setting}={value!r})")

    assert str(as_text.value) == str(in_python.value)


@pytest.mark.parametrize("name", [name for name in METRICS if name != "toy"])
def test_every_setting_of_a_metric_can_be_set_and_is_explained(name: str) -> None:
    kind = metric_class(name)

    assert list(settings_of(kind)) == [each.name for each in fields(kind)]
    assert len(list(options_of(kind))) == len(fields(kind))


def test_score_counts_with_a_setting_that_its_signature_shows(tmp_path: Path, capsys: Capture) -> None:
    path = str(write(tmp_path / "a.conll", "a B-X\nb I-X\nc B-X\n"))

    assert main(["score", path, path, "--metric", "toy(least=2)"]) == 0
    output = capsys.readouterr().out
    assert "long     1" in output
    assert "toy(least=2," in output


def test_metrics_lists_all_and_describes_one(capsys: Capture) -> None:
    assert main(["metrics"]) == 0
    lines = capsys.readouterr().out.rstrip("\n").split("\n")
    assert [line.split()[0] for line in lines] == list(METRICS)

    assert main(["metrics", "partial"]) == 0
    output = capsys.readouterr().out
    assert "Source: Serge Sotnyk" in output
    assert "  factor: a number (default: 0.75)\n      from 0 to 1" in output

    assert main(["metrics", "toy"]) == 0
    assert "  cuts: numbers separated by commas, or none (default: 0.5)\n" in capsys.readouterr().out

    assert main(["metrics", "bleu"]) == 2
    assert "unknown metric 'bleu'" in capsys.readouterr().err


# Groups of options


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Options of every kind."""

    size: int = field(default=1, metadata=option("N", "how large it is"))
    place: int | None = field(
        default=None, metadata=option("COLUMN", "where it is", parse=column, paired=True)
    )
    exact: bool = field(default=False, metadata=option(None, "whether it is exact"))
    clean: bool | None = field(default=None, metadata=option(None, "whether it is clean"))
    names: tuple[str, ...] = field(default=(), metadata=option("A,B", "what they are called"))
    where: Sequence[str] = field(default=(), metadata=option("KEY=VALUE", "which are taken", repeated=True))
    form: str = field(
        default="a",
        metadata=option("FORM", "its form", choices=("a", "b"), paired=True, topic="rare"),
    )
    label: str | None = field(default=None, metadata=option("LABEL", "its label"))
    hidden: int = 0


OF_ONE_SIDE, OF_BOTH_SIDES = (options_of_fields(Group, "group", sides=sides) for sides in (1, 2))


def one_side(*, group: Keywords = OF_ONE_SIDE) -> int:
    """Do nothing with a file."""
    return len(group)


def both_sides(*, group: Keywords = OF_BOTH_SIDES) -> int:
    """Do nothing with two files."""
    return len(group)


def parsed(*arguments: str) -> Keywords:
    values: Keywords = OF_ONE_SIDE.value(Command("toy", one_side).parsed(arguments))
    return values


def test_options_that_are_not_given_leave_the_defaults() -> None:
    assert parsed() == {}


def test_options_fill_the_fields_by_their_types() -> None:
    given = "--size 2 --place -1 --exact --no-clean --names a,b --where a=1 --where b=2 --form b --label none"

    assert Group(**parsed(*given.split())) == Group(
        size=2,
        place=-1,
        exact=True,
        clean=False,
        names=("a", "b"),
        where=["a=1", "b=2"],
        form="b",
        label="none",
    )


def test_two_sides_may_have_different_values() -> None:
    words = ["--place", "1:-2", "--form", "b", "--label", "a:b"]

    assert OF_BOTH_SIDES.value(Command("toy", both_sides).parsed(words)) == {
        "place": SideValues(1, -2),
        "form": "b",
        "label": "a:b",
    }


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            ["--place", "0"],
            "argument --place: '0' is not a column: columns count from 1, or from -1 at the end",
        ),
        (["--place", "1:2"], "argument --place: '1:2' is not a column"),
        (["--form", "c"], "argument --form: 'c' is unknown; one of a, b"),
        (["--siz", "2"], "unknown option --siz; did you mean --size?"),
        (["x"], "unexpected argument 'x'"),
    ],
)
def test_an_option_that_is_wrong_ends_the_command(
    arguments: list[str], problem: str, capsys: Capture
) -> None:
    with pytest.raises(SystemExit) as stopped:
        parsed(*arguments)

    assert stopped.value.code == 2
    assert capsys.readouterr().err.startswith(f"clueval toy: {problem}")


def test_help_has_values_and_defaults_of_the_fields() -> None:
    command = Command("toy", one_side)

    assert "how large it is (default: 1)" in command.help()
    assert "its form" not in command.help()
    assert "its form: a, b (default: a)" in command.topic_help("rare")


@pytest.mark.parametrize("command", ["score", "conventions", "errors", "errors --metric fair"])
def test_reading_options_of_each_side_read_files_of_two_layouts(
    command: str, tmp_path: Path, capsys: Capture
) -> None:
    gold = str(write(tmp_path / "gold.conll", "a B-X\nb O\n"))
    predicted = str(write(tmp_path / "predicted.conll", "x a O\nx b B-X\n"))
    name, *metric = command.split()

    assert main([name, gold, predicted, *metric, "--token", "1:2"]) == 0
    assert capsys.readouterr().out
    assert main([name, gold, predicted, *metric]) == 2
    assert "'a'" in capsys.readouterr().err


def test_formats_and_schemes_may_differ_between_sides(tmp_path: Path, capsys: Capture) -> None:
    gold = str(write(tmp_path / "gold", "<text>\n<s>\na\tB-X\nb\tO\n</s>\n</text>\n"))
    predicted = str(write(tmp_path / "predicted", "a I-X\nb O\n"))

    options = ["--input", "vrt:conll", "--scheme", "BIO:IOB1", "--metric", "exact"]
    assert main(["score", gold, predicted, *options]) == 0
    output = capsys.readouterr().out
    assert "micro        100.00  100.00  100.00" in output
    assert "|scheme:BIO:IOB1|" in output


def test_every_field_of_reading_is_an_option() -> None:
    assert [field.name for field, _ in options_of(Reading)] == [each.name for each in fields(Reading)]


@pytest.mark.parametrize("name", ["fair", "gate", "masking"])
def test_metric_is_described_with_its_rules_its_source_and_its_settings(name: str, capsys: Capture) -> None:
    assert main(["metrics", name]) == 0
    definition, settings = capsys.readouterr().out.split(
        f"\nsettings, as in --metric '{name}(SETTING=VALUE,...)'; in Python metrics='{name}(SETTING=VALUE,...)':\n"
    )

    assert "precision" in definition
    assert "\nSource: " in definition
    assert settings.count("(default: ") == len(settings_of(metric_class(name)))
