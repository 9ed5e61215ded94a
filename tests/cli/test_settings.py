"""Settings of metrics and options of groups, made from the fields of dataclasses."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest
from corpora import write

from clueval.cli import main
from clueval.cli.chosen import chosen_metrics, settings_of
from clueval.cli.fields import SideValues, add_fields, given_fields, group_of, pair_of
from clueval.cli.parser import CommandParser
from clueval.core.case import Case
from clueval.core.metric import Metric
from clueval.core.tally import Tally
from clueval.files.errors import UsageError
from clueval.metrics import METRICS, metric_class
from clueval.metrics.fair.weights import parse_weights
from clueval.options import column, option, options_of
from clueval.second.formats.options import Reading
from clueval.second.reports.table import Table

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
        ("share=none", None),
        ("strict=yes", True),
        ("strict=False", False),
        ("side=gold", "gold"),
        ("labels=A, B", ("A", "B")),
        ("labels=", ()),
        ("labels=none", ()),
        ("cuts=1,0.5", (1.0, 0.5)),
        ("note=a=b", "a=b"),
        ("note=", ""),
        ("note=none", None),
    ],
)
def test_a_setting_is_read_by_the_type_of_its_field(text: str, value: object) -> None:
    (metric,) = chosen_metrics(["toy"], [f"toy.{text}"])

    assert getattr(metric, text.partition("=")[0]) == value


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("toy.least=1.5", "--set toy.least takes a whole number, not '1.5'"),
        ("toy.share=x", "--set toy.share takes a number, or none, not 'x'"),
        ("toy.share=nan", "--set toy.share takes a number, or none, not 'nan'"),
        ("toy.strict=1", "--set toy.strict takes yes or no, not '1'"),
        ("toy.side=predicted", "--set toy.side takes gold or both, not 'predicted'"),
        ("toy.cuts=1,x", "--set toy.cuts takes numbers separated by commas, or none, not '1,x'"),
        (
            "toy.lest=1",
            "--set toy.lest=1: metric toy has no setting 'lest' "
            "(it has least, share, strict, side, labels, cuts, note)",
        ),
        (
            "toy.unreadable=1",
            "--set toy.unreadable=1: metric toy has no setting 'unreadable' "
            "(it has least, share, strict, side, labels, cuts, note)",
        ),
        ("fair.focus=system", "--set fair.focus=system: fair is not a selected metric (add --metric fair)"),
        ("toy", "--set 'toy' cannot be read (write it METRIC.SETTING=VALUE, as in fair.focus=system)"),
        (
            "toy.least",
            "--set 'toy.least' cannot be read (write it METRIC.SETTING=VALUE, as in fair.focus=system)",
        ),
    ],
)
def test_error_for_a_wrong_setting_names_the_values_that_it_takes(text: str, problem: str) -> None:
    with pytest.raises(UsageError) as raised:
        chosen_metrics(["toy"], [text])

    assert str(raised.value) == problem


def test_error_for_an_unknown_metric_names_the_metrics() -> None:
    with pytest.raises(UsageError, match=r"--set bleu.n=4: bleu is not a metric \(one of levels, exact"):
        chosen_metrics(["toy"], ["bleu.n=4"])


def test_error_of_the_metric_names_the_setting() -> None:
    with pytest.raises(UsageError, match=r"^--set partial.factor must be a number from 0 to 1, not 2.0$"):
        chosen_metrics(["partial"], ["partial.glue=yes", "partial.factor=2"])


def test_settings_without_a_readable_type_have_a_reader() -> None:
    fair, gate = chosen_metrics(
        ["fair", "gate"],
        [
            "fair.weights=LE = 0.5 FP + 0.5 FN",
            "gate.types=A, B=C",
            "gate.score_feature=s",
            "gate.thresholds=11",
        ],
    )

    assert fair.weights == parse_weights("LE = 0.5 FP + 0.5 FN")  # type: ignore[attr-defined]
    assert gate.types == ("A", "B=C")  # type: ignore[attr-defined]
    assert gate.thresholds == "11"  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", [name for name in METRICS if name != "toy"])
def test_every_setting_of_a_metric_can_be_set_and_is_explained(name: str) -> None:
    kind = metric_class(name)

    assert list(settings_of(kind)) == [each.name for each in fields(kind)]
    assert len(list(options_of(kind))) == len(fields(kind))


def test_score_counts_with_a_setting_that_its_signature_shows(tmp_path: Path, capsys: Capture) -> None:
    path = str(write(tmp_path / "a.conll", "a B-X\nb I-X\nc B-X\n"))

    assert main(["score", path, path, "--metric", "toy", "--set", "toy.least=2"]) == 0
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
    assert "  partial.factor: a number (default: 0.75)\n      from 0 to 1" in output

    assert main(["metrics", "toy"]) == 0
    assert "  toy.cuts: numbers separated by commas, or none (default: 0.5)\n" in capsys.readouterr().out

    assert main(["metrics", "bleu"]) == 2
    assert "unknown metric 'bleu'" in capsys.readouterr().err


# Groups of options


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Options of every kind."""

    size: int = field(default=1, metadata=option("--size", "N", "how large it is"))
    place: int | None = field(
        default=None, metadata=option("--place", "COLUMN", "where it is", parse=column, paired=True)
    )
    exact: bool = field(default=False, metadata=option("--exact", None, "whether it is exact"))
    clean: bool | None = field(default=None, metadata=option("--clean", None, "whether it is clean"))
    names: tuple[str, ...] = field(default=(), metadata=option("--names", "A,B", "what they are called"))
    where: Sequence[str] = field(
        default=(), metadata=option("--where", "KEY=VALUE", "which are taken", repeated=True)
    )
    form: str = field(
        default="a",
        metadata=option("--form", "FORM", "its form", choices=("a", "b"), paired=True, topic="rare"),
    )
    label: str | None = field(default=None, metadata=option("--label", "LABEL", "its label"))
    hidden: int = 0


def parsed(*arguments: str, sides: int = 1) -> Namespace:
    parser = CommandParser(prog="toy")
    add_fields(parser, Group, "group", sides=sides)
    return parser.parse_args(arguments)


def test_options_that_are_not_given_leave_the_defaults() -> None:
    assert given_fields(Group, parsed()) == {}
    assert group_of(Group, parsed()) == Group()


def test_options_fill_the_fields_by_their_types() -> None:
    given = "--size 2 --place -1 --exact --no-clean --names a,b --where a=1 --where b=2 --form b --label none"

    assert group_of(Group, parsed(*given.split())) == Group(
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
    options = parsed("--place", "1:-2", "--form", "b", "--label", "a:b", sides=2)

    assert given_fields(Group, options)["place"] == SideValues(1, -2)
    assert pair_of(Group, options) == (
        Group(place=1, form="b", label="a:b"),
        Group(place=-2, form="b", label="a:b"),
    )
    assert pair_of(Group, parsed("--place", "1", sides=2)) == Group(place=1)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            ["--place", "0"],
            "argument --place: '0' is not a column: columns count from 1, or from -1 at the end",
        ),
        (["--place", "1:2"], "argument --place: '1:2' is not a column"),
        (["--form", "c"], "argument --form: 'c' is not one of: a, b"),
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
    assert capsys.readouterr().err.startswith(f"toy: {problem}")


def test_help_has_values_and_defaults_of_the_fields() -> None:
    parser = CommandParser(prog="toy")
    add_fields(parser, Group, "group")

    assert "how large it is (default: 1)" in parser.format_help()
    assert "its form" not in parser.format_help()
    assert "its form: a, b (default: a)" in parser.format_topic("rare")


@pytest.mark.parametrize("command", ["score", "conventions", "gate", "errors", "errors --metric fair"])
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
        "\nsettings (clueval score --set METRIC.SETTING=VALUE; in Python clueval.metrics.metric_named(METRIC, "
        "SETTING=VALUE)):\n"
    )

    assert "precision" in definition
    assert "\nSource: " in definition
    assert settings.count("(default: ") == len(settings_of(metric_class(name)))
