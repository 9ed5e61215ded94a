"""Errors of files and of what is in memory: as many as the scores count, the same from files and documents, in all
outputs of the command."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import at_most, flat_spans

import clueval
from clueval import CluevalError, Document, Span, TagError, TextMismatch, errors, read, score
from clueval.cli import main
from clueval.studies.errors.search import REASONS
from tests.random_options import Corpus, Options, as_given, corpora, options

Capture = pytest.CaptureFixture[str]
SAMPLES = Path(__file__).parents[2] / "clueval" / "samples" / "german"
GOLD, PREDICTED = SAMPLES / "gold.vrt", SAMPLES / "predicted.vrt"
FILES = [str(GOLD), str(PREDICTED)]
LAYERS = {"entity": 2, "risk": 3}
SIDES = ("gold", "predicted")


def rows_of(*sides: Any, **options: Any) -> list[clueval.Finding]:
    """Return the rows of all places."""
    return [row for place in errors(*sides, **options) for row in place.findings]


def counted(metrics: Mapping[str, Any]) -> Counter[tuple[str, str]]:
    """Return the numbers of errors that metric exact counts, by side and sequence."""
    found = Counter[tuple[str, str]]()
    for sequence, exact in metrics["exact"].items():
        found["gold", sequence] += exact["micro"]["fn"]
        found["predicted", sequence] += exact["micro"]["fp"]
    return +found


def test_errors_of_a_case_depend_on_where_its_tokens_are() -> None:
    texts = []
    for first in (0, 1):  # tokens 1 and 2 are shared with one predicted span, then with both
        gold = Span(first, first + 4, "A", tokens=frozenset([1, 2]))
        predicted = [Span(first, first + 1, "A"), Span(first + 1, first + 2, "A")]
        texts.append([Document(str(first), {"x": spans}) for spans in ([gold], predicted)])

    rows = rows_of(*map(list, zip(*texts, strict=True)), metric="fair")

    assert Counter((row.document, row["class"]) for row in rows) == {
        ("0", "BES"): 1,
        ("0", "FP"): 1,
        ("1", "BES"): 2,
    }


@st.composite
def changed_corpora(draw: st.DrawFn) -> tuple[Corpus, Options]:
    """A corpus, and options that change it."""
    of_tokens, flat = draw(st.booleans()), draw(st.booleans())
    chosen = draw(options(of_tokens, flat))
    assume(not chosen.keys() & {"by", "intervals", "thresholds"})
    if "min_score" not in chosen:
        chosen.pop("score_feature", None)
    return draw(corpora(of_tokens, flat)), chosen


@settings(max_examples=max(30, settings().max_examples))
@pytest.mark.filterwarnings("ignore::clueval.CluevalWarning")
@given(changed_corpora())
def test_errors_of_random_corpora_are_as_many_as_exact_counts(
    tmp_path: Path, case: tuple[Corpus, Options]
) -> None:
    (gold, predicted, other), chosen = case
    given_options = as_given(chosen, other, tmp_path)
    try:
        expected = score(gold, predicted, metrics="exact", **given_options).metrics
    except CluevalError:
        with pytest.raises(CluevalError):
            rows_of(gold, predicted, **given_options)
        return

    found = Counter((row.side, row.sequence) for row in rows_of(gold, predicted, **given_options))

    assert found == counted(expected)


def vrt(tags: list[list[tuple[str, str]]], per_document: int) -> str:
    """Return a file of sentences of two layers of tags; every token is a word of its own, with an id."""
    lines, number = [], 0
    for count, sentence in enumerate(tags):
        if count % per_document == 0:
            lines.append("</text>\n" * bool(count) + f'<text id="d{count}" domain="{count % 3}">\n')
        lines.append(f'<s id="s{count}">\n')
        for a, b in sentence:
            lines.append(f"w{number}&amp;\t{a}\t{b}\tt{number}\n" + "\n" * (number % 7 == 3))
            number += 1
        lines.append("</s>\n")
    return "".join(lines) + "</text>\n" * bool(tags)


TAGS = ["O", *(f"{prefix}-{label}" for prefix in "BI" for label in ("PER", "LOC"))]
tag_pairs = st.tuples(st.sampled_from(TAGS), st.sampled_from(TAGS))
OPTIONS: dict[str, Any] = {"layers": {"a": 2, "b": 3}, "token_id": 4}
CHOICES: list[dict[str, Any]] = [
    {},
    {"level": 1, "labelled": "a"},
    {"unlabelled": True, "sides": "gold"},
    {"merge": True, "reasons": ["boundary", "missed"]},
    {"where": ["domain=1"]},
    {"where": ["a=PER", "b=LOC"]},
    {"window": 2},
    {"metric": "fair"},
    {"metric": "fair", "kinds": ["BES", "BEL"]},
]


@st.composite
def two_files(draw: st.DrawFn) -> tuple[str, str]:
    shape = draw(st.lists(st.integers(1, 6), min_size=1, max_size=6))
    gold = [[draw(tag_pairs) for _ in range(size)] for size in shape]
    predicted = [
        sentence if draw(st.booleans()) else [draw(tag_pairs) for _ in sentence] for sentence in gold
    ]
    per_document = draw(st.integers(1, 3))
    return vrt(gold, per_document), vrt(predicted, per_document)


def written(folder: Path, texts: Sequence[str]) -> list[Path]:
    paths = [folder / f"{side}.vrt" for side in SIDES]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8", newline="\n")
    return paths


@at_most(60)
@given(two_files(), st.sampled_from(CHOICES))
def test_files_and_documents_have_the_same_places(
    tmp_path_factory: pytest.TempPathFactory, texts: tuple[str, str], choice: dict[str, Any]
) -> None:
    paths = written(tmp_path_factory.mktemp("files"), texts)
    documents = [list(read(path, **OPTIONS)) for path in paths]

    try:
        expected = errors(*documents, **choice)
        places = list(expected)
    except CluevalError as error:  # a filter that no span meets
        with pytest.raises(CluevalError, match=re.escape(str(error))):
            list(errors(*paths, **choice, **OPTIONS))
        return
    found = errors(*paths, **choice, **OPTIONS)

    assert list(found) == places
    assert found.counts() == expected.counts()
    assert found.rows() == expected.rows()


@at_most(40)
@given(two_files(), st.booleans())
def test_positions_ids_lines_and_texts_are_those_of_the_file(
    tmp_path_factory: pytest.TempPathFactory, texts: tuple[str, str], merge: bool
) -> None:
    paths = written(tmp_path_factory.mktemp("files"), texts)
    tokens = {
        side: [
            (number, *line.replace("&amp;", "&").split("\t"))
            for number, line in enumerate(text.split("\n"), 1)
            if "\t" in line
        ]
        for side, text in zip(SIDES, texts, strict=True)
    }

    for row in rows_of(*paths, merge=merge, **OPTIONS):
        mine = tokens[row.side][row.start : row.end + 1]
        assert row.text == " ".join(token[1] for token in mine)
        assert (row["first_token_id"], row["last_token_id"]) == (mine[0][4], mine[-1][4])
        assert row["line"] == mine[0][0]
        above = texts[SIDES.index(row.side)].split("\n")[: row["line"]]
        sentence = next(line for line in reversed(above) if line.startswith("<s "))
        assert sentence == f'<s id="{row["sentence"].split(" | ")[0]}">'
        head = f'<text id="{row.document}" domain="{row["domain"]}"'
        assert next(line for line in reversed(above) if line.startswith("<text ")).startswith(head)
        if row["other_start"] is not None:
            theirs = tokens[row.side][row["other_start"] : row["other_end_inclusive"] + 1]
            assert (row["other_first_token_id"], row["other_last_token_id"]) == (theirs[0][4], theirs[-1][4])
            assert row["other_text"].split()[0] == theirs[0][1]


TEXT = vrt([[("B-PER", "O")] * 3] * 4, 2)


@pytest.mark.parametrize(
    "other",
    [
        TEXT.replace("t3\n", "t99\n"),
        TEXT.replace("w3&amp;", "w4"),
        TEXT.replace('<s id="s1">\n', "").replace("</s>\n", "", 1),
        TEXT[: TEXT.index('<text id="d2"')],
    ],
    ids=["token id", "token", "sentence", "end"],
)
def test_other_texts_are_refused(tmp_path: Path, other: str) -> None:
    paths = written(tmp_path, (TEXT.replace("B-PER\tO\tt4", "O\tO\tt4"), other))
    said = []

    for command in (score, lambda *sides, **options: list(errors(*sides, **options))):
        with pytest.raises(TextMismatch) as error:
            command(*paths, **OPTIONS)
        said.append(str(error.value))

    assert said[0] == said[1]


def test_gold_and_predicted_may_stand_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "both.conll"
    path.write_text("Anna B-PER O\nin O O\nBern B-LOC B-LOC\n", encoding="utf-8")

    (place,) = errors(path)

    assert place.at == ("1", "label", 0, 1)
    assert [(row.side, row.text, row.labels) for row in place.findings] == [
        ("gold", "Anna", {"label": "PER"})
    ]
    assert place.texts[0].text == "Anna in Bern"


def test_a_path_and_documents_do_not_go_together() -> None:
    with pytest.raises(CluevalError, match="gold is paths and predicted is in memory"):
        list(errors(FILES[0], []))
    with pytest.raises(CluevalError, match="gold is in memory and predicted is paths"):
        list(errors([], FILES[0]))


MIXED = ["B-PER", "E-PER", "L-PER", "U-PER", "S-PER", "I-PER", "O", "Q-PER", "B-"]


@given(
    st.lists(st.lists(st.sampled_from(MIXED), min_size=1, max_size=4), min_size=1, max_size=3),
    st.sampled_from([{}, {"scheme": "BIO"}, {"scheme": "BIOES"}, {"scheme": "BILOU", "invalid": "error"}]),
    st.data(),
)
def test_errors_refuse_the_tags_that_score_refuses(
    gold: list[list[str]], options: dict[str, Any], data: st.DataObject
) -> None:
    predicted = [[data.draw(st.sampled_from([tag, *MIXED])) for tag in tags] for tags in gold]
    outcomes: list[bool] = []

    for command in (score, rows_of):
        try:
            command(gold, predicted, **options)
            outcomes.append(True)
        except TagError:
            outcomes.append(False)

    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("other", [["E-PER", "L-PER"], ["O", "O"]])
def test_errors_refuse_tags_of_two_schemes_of_one_side_even_where_both_sides_are_equal(
    other: list[str],
) -> None:
    mixed = ["E-PER", "L-PER"]

    for sides in ([[mixed], [other]], [[other], [mixed]], [[other], [other], [mixed]]):
        with pytest.raises(TagError, match=r"BIOES \(E, S\) and of BILOU \(L, U\) occur together"):
            rows_of(*sides)


def test_each_of_two_systems_may_have_tags_of_its_own_scheme() -> None:
    assert not rows_of([["B-PER", "I-PER"]], [["B-PER", "E-PER"]], [["B-PER", "L-PER"]])


@pytest.mark.parametrize("name", ["level", "unlabelled", "sides", "kinds", "reasons", "window", "decisions"])
@pytest.mark.parametrize("metric", [None, "noisy"])
def test_an_array_is_no_choice_of_errors(name: str, metric: str | None) -> None:
    with pytest.raises(CluevalError):
        errors([["B-PER"]], [["O"]], metric=metric, **{name: numpy.array([1, 2])})


@given(flat_spans(), flat_spans(), st.sampled_from([None, 1, 2, 4]))
def test_class_and_reason_of_an_error_can_be_chosen(
    gold: list[Span], predicted: list[Span], level: int | None
) -> None:
    sides = [[Document("d", {"label": spans}, tokens=["w"] * 30)] for spans in (gold, predicted)]

    for row in rows_of(*sides, level=level):
        chosen = rows_of(*sides, level=level, kinds=row.kind, reasons=row.reason, sides=row.side)
        assert (row.start, row.end) in [(each.start, each.end) for each in chosen]


def iterator() -> Iterator[list[str]]:
    yield ["B-PER", "O"]


def test_errors_of_an_iterator_are_read_once_and_have_no_forms() -> None:
    found = errors(iterator(), [["O", "O"]])

    assert len(list(found)) == 1
    with pytest.raises(
        CluevalError, match=r"gold can be read only once.*give a path, or a list without iterators"
    ):
        found.render()
    of_mapping = MappingProxyType({"a": iter([(0, 1, "A")])})
    assert (
        errors({"a": [(0, 1, "A")]}, of_mapping).counts() == errors([[(0, 1, "A")]], [[(0, 1, "A")]]).counts()
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "muc"}, "there are no errors of metric 'muc'"),
        ({"metric": "levels,exact"}, "a table of errors needs exactly one metric, not 2"),
        ({"metric": "exact", "level": 1}, "level does not apply to metric exact"),
        ({"conflicts": "last"}, "conflicts=... needs decisions=..."),
        ({"second": PREDICTED, "decisions": "d.tsv"}, "decisions does not apply to two systems"),
        ({"decisions": "d.tsv", "merge": True}, "merge does not apply to decisions"),
        ({"kind": "missed"}, "errors has no option 'kind'"),
        ({"by": "domain"}, "errors has no option 'by'"),
        ({"window": "3"}, "window must be a whole number or None"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(CluevalError, match=message):
        errors(GOLD, PREDICTED, layers=LAYERS, **options)


def test_metadata_that_documents_have_are_filters_of_the_page() -> None:
    found = errors(GOLD, PREDICTED, layers=LAYERS)

    assert "domain" in [facet.title for facet in found.facets]


# --- the command

ROUTES = [
    ["--layer", "entity=2"],
    ["--layer", "entity=2", "--layer", "risk=3", "--merge"],
    ["--layer", "entity=2", "--layer", "risk=3", "--where", "risk=high"],
    ["--layer", "entity=2", "--window", "3"],
]


@pytest.mark.parametrize("route", ROUTES, ids=" ".join)
def test_every_output_has_the_errors_of_exact(route: list[str], tmp_path: Path, capsys: Capture) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    counting = route[: route.index("--window")] if "--window" in route else route
    assert main(["score", *FILES, *counting, "--metric", "exact", "--format", "csv", "-q"]) == 0
    lines = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    expected = sum(int(row["fn"]) + int(row["fp"]) for row in lines if row["average"] == "micro")
    outputs = [str(tmp_path / f"e.{ending}") for ending in ("tsv", "json", "xlsx", "html", "md", "txt")]

    assert main(["errors", *FILES, *route, *(word for path in outputs for word in ("-o", path))]) == 0

    told = capsys.readouterr()
    assert told.out == ""
    assert sum(map(int, re.findall(r"of (\d+) error", told.err))) == expected
    assert f"wrote {outputs[-1]}" in told.err
    table, data, book, page, *_ = map(Path, outputs)
    assert len(table.read_text(encoding="utf-8").splitlines()) == expected + 1
    found = json.loads(data.read_text(encoding="utf-8"))
    assert len(found["errors"]) == expected == sum(n for of in found["counts"].values() for n in of.values())
    assert openpyxl.load_workbook(book)["places"].max_row == expected + 1
    listed = page.read_text(encoding="utf-8").split('id="data">')[-1].split("</script>")[0].strip()
    assert sum(len(json.loads(line)[3]) for line in listed.splitlines()[1:]) == expected


@pytest.mark.parametrize(
    ("options", "headline", "choice"),
    [
        (["--unlabelled"], "errors above level 2 (superset), whatever the labels", {"unlabelled": True}),
        (
            ["--metric", "levels"],
            "errors above level 2 (superset), whatever the labels",
            {"unlabelled": True},
        ),
        (["--level", "3"], "errors above level 3 (tiling), whatever the labels", {"level": 3}),
        (["--labelled", "entity"], "errors at level 2 (superset), including", {"labelled": "entity"}),
        (["--reason", "label"], "only label", {"reasons": "label"}),
        (["--reason", "boundary,missed"], "only boundary, missed", {"reasons": ["boundary", "missed"]}),
        (["--metric", "fair", "--class", "LE"], "only LE", {"metric": "fair", "kinds": "LE"}),
    ],
)
def test_another_choice_is_named(
    options: list[str], headline: str, choice: dict[str, Any], capsys: Capture
) -> None:
    rows = rows_of(*FILES, layers={"entity": 2}, **choice)

    assert main(["errors", *FILES, "--layer", "entity=2", *options]) == 0
    shown = capsys.readouterr().out
    assert f"of {len(rows)} errors" in shown
    assert headline in shown
    assert {row.reason for row in rows} <= {*REASONS}


def test_the_terminal_shows_twenty_places_and_how_many_more(capsys: Capture) -> None:
    assert main(["errors", *FILES, "--layer", "entity=2", "--all"]) == 0

    shown = capsys.readouterr()
    assert len(re.findall(r"^a00\d entity ", shown.out, re.MULTILINE)) == 20
    assert "19 more places: -o x.html" in shown.out
    assert "entity: column 2, BIO, 222 gold and 229 predicted spans" in shown.err


def test_a_limit_lists_the_first_places(tmp_path: Path, capsys: Capture) -> None:
    table = tmp_path / "e.tsv"

    assert main(["errors", *FILES, "--layer", "entity=2", "--limit", "3", "-o", str(table), "-o", "-"]) == 0
    shown = capsys.readouterr().out
    assert "36 more places" in shown
    places = {tuple(line.split("\t")[:5]) for line in table.read_text(encoding="utf-8").splitlines()[1:]}
    assert len(places) == 3


def test_spans_with_only_a_wrong_label_are_named_where_labels_do_not_count(capsys: Capture) -> None:
    assert main(["errors", *FILES, "--layer", "entity=2", "--unlabelled"]) == 0

    said = "not listed: 14 spans have only a wrong label in layer entity (--labelled entity lists them, too)"
    assert said in capsys.readouterr().err


def test_a_layer_that_is_not_predicted_is_named(capsys: Capture) -> None:
    assert main(["errors", *FILES, "--layer", "entity=2", "--layer", "risk=3:"]) == 0

    told = capsys.readouterr().err
    assert "layer risk: predicted has no spans, so every gold span is missed" in told
    assert "--layer NAME=GOLD:PREDICTED" in told


def test_errors_print_and_write_nothing_if_a_later_line_is_wrong(tmp_path: Path, capsys: Capture) -> None:
    gold, predicted = tmp_path / "gold.conll", tmp_path / "predicted.conll"
    gold.write_text("Anna B-PER\n\n" * 40 + "Ulm B-LOC\n")
    predicted.write_text("Anna O\n\n" * 40 + "Ulm\n")
    page = tmp_path / "e.html"

    assert main(["errors", str(gold), str(predicted), "-o", str(page), "-o", "-"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "predicted.conll:81: the line has 1 column" in shown.err
    assert not page.exists()


# --- two systems


def test_errors_of_two_systems_are_those_of_each(tmp_path: Path, capsys: Capture) -> None:
    page = tmp_path / "e.html"

    assert main(["errors", *FILES, FILES[0], "--layer", "entity=2", "-o", str(page)]) == 0
    told = capsys.readouterr().err
    assert "F1 81.60 → 100.00 (+18.40); errors: 0 both, 83 only A, 0 only B" in told
    assert '"name":"state"' in page.read_text(encoding="utf-8")
    found = errors(*FILES, FILES[0], layers={"entity": 2})
    assert found.counts()["gold"] == {"both": 0, "only A": 38, "only B": 0}


# --- decisions


def test_gold_that_is_corrected_everywhere_is_the_prediction(tmp_path: Path, capsys: Capture) -> None:
    table = tmp_path / "decisions.tsv"
    errors(*FILES, layers=LAYERS).write(table)
    header, *lines = [line.split("\t") for line in table.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line[header.index("choice")] = "predicted"
    table.write_text("\n".join(map("\t".join, [header, *lines])) + "\n", encoding="utf-8")
    options = ["--layer", "entity=2", "--layer", "risk=3", "--decisions", str(table)]

    assert main(["errors", *FILES, *options]) == 0
    shown = capsys.readouterr().out
    assert "decisions: 72 used, 0 stale, 0 lost, 0 in conflict" in shown
    assert re.search(r"gold corrected +100.00 +100.00 +100.00", shown)
    assert re.search(r"gold's \(the prediction is right\) +165", shown)
    assert main(["errors", *FILES, *options, "--format", "tsv"]) == 0
    assert capsys.readouterr().out.count("\tpredicted\t\t") == 165


def test_decisions_about_another_corpus_are_lost(tmp_path: Path, capsys: Capture) -> None:
    table = tmp_path / "decisions.tsv"
    table.write_text(
        "document\tlayer\tstart\tend_inclusive\tfingerprint\tchoice\nx\t*\t0\t1\tabc\tgold\n",
        encoding="utf-8",
    )

    assert main(["errors", *FILES, "--layer", "entity=2", "--decisions", str(table)]) == 0
    told = capsys.readouterr()
    assert "decisions: 0 used, 0 stale, 1 lost, 0 in conflict" in told.out
    assert "gold corrected" in told.out
    assert main(["errors", *FILES, "--layer", "entity=2", "--conflicts", "last"]) == 2
    assert "--conflicts needs --decisions" in capsys.readouterr().err


def test_spans_that_cannot_be_counted_are_named_with_their_own_file(tmp_path: Path) -> None:
    paths = [tmp_path / f"{side}.jsonl" for side in ("gold", "predicted")]
    nested = [[0, 3, "A"], [1, 4, "A"]]
    for path, spans in zip(paths, (nested[:1], nested), strict=True):
        path.write_text(json.dumps({"text": "abcdef", "spans": spans}) + "\n")

    with pytest.raises(CluevalError, match=r"predicted\.jsonl:1"):
        list(errors(*paths, metric="levels"))
