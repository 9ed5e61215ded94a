"""Documents that are kept apart, or counted together, have the counts of their passages."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from clueval.evaluation.lockstep.reader import Stretch
from clueval.evaluation.lockstep.tag_runs import TagRuns
from corpora import Corpus, conll, vrt, write
from readings import LEVELS, reading_of
from sizes import passages_alone

from clueval.evaluation.lockstep import lockstep
from clueval.evaluation.plan import Plan
from clueval.evaluation.row_clusters import DocumentClusters
from clueval.exceptions import FormatError
from clueval.formats.columns.sizes import Sizes
from clueval.metrics import metric_named
from clueval.reading.read_options import ReadOptions
from clueval.reading.source import Source, source_of

PLAN = LEVELS._replace(metrics=tuple(map(metric_named, ("levels", "confusion"))), resample_by="document")


def sources(folder: Path, *texts: str, form: str = "vrt", **options: Any) -> tuple[Source, Source]:
    gold, predicted = (
        source_of(write(folder / f"{n}.{form}", text), ReadOptions(**options)) for n, text in enumerate(texts)
    )
    return gold, predicted


def counted(given: tuple[Source, Source], plan: Plan) -> Any:
    """The counts of each document, and what is known at the end."""
    reading = reading_of(*given, plan)
    assert reading is not None
    documents, tokens, tallies = Counter[str](), Counter[str](), Counter[Any]()
    for each in reading:
        documents[each.document] += each.documents
        tokens[each.document] += each.tokens
        for place, tally in each.tallies.items():
            tallies.update({(each.document, *place, key): n for key, n in tally.items()})
    return +documents, +tokens, +tallies, reading.end.repaired(), reading.end.spans()


TAGS = ("O", "O", "O", "B-X", "I-X", "B-Y", "I-Y")


def corpus(rng: random.Random) -> tuple[Corpus, Corpus]:
    """Gold and predicted with two layers; about every second sentence is the same on both sides."""
    sides: tuple[Corpus, Corpus] = ([], [])
    for _ in range(6):
        lengths = [rng.randint(1, 4) for _ in range(rng.choice((0, 1, 2, 4)))]
        own, other = (
            [[("w", rng.choice(TAGS), rng.choice(TAGS)) for _ in range(n)] for n in lengths] for _ in sides
        )
        other = [rng.choice(each) for each in zip(own, other, strict=True)]
        sides[0].append([list(rows) for rows in own])
        sides[1].append([list(rows) for rows in other])
    return sides


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("form", [vrt, conll])
def test_documents_kept_apart_or_together_have_the_counts_of_passages(
    tmp_path: Path, seed: int, form: Any
) -> None:
    rng = random.Random(seed)
    texts = [form(side) for side in corpus(rng)]
    sizes = Sizes(
        block=rng.choice((30, 90, 5000)), runs=rng.choice((2, 5, 5000)), run_tags=rng.choice((2, 5000))
    )
    layers = rng.choice(({"x": 2, "y": 3}, {"y": 3}))
    given = sources(tmp_path, *texts, form=form.__name__, layers=layers, sizes=sizes)

    for merge, unit in product((False, True), ("document", None)):
        plan = PLAN._replace(merge=merge, resample_by=unit)
        with passages_alone():
            expected = counted(given, plan)
        assert counted(given, plan) == expected


HEAD = "<text id='h'>\n<s>\nw\tO\n</s>\n</text>\n"
SENTENCE = "<s>\na\tB-X\nb\tO\nc\tI-X\n</s>\n"


@pytest.mark.parametrize("merge", [False, True])
def test_tag_runs_that_differ_are_counted_as_often_as_they_occur(tmp_path: Path, merge: bool) -> None:
    text = HEAD + f'<text id="a">\n{SENTENCE * 3}</text>\n<text id="b">\n{SENTENCE * 8}</text>\n'
    given = sources(tmp_path, text, text.replace("b\tO", "b\tI-X"))
    plan = PLAN._replace(merge=merge)

    documents, tokens, tallies, _, spans = counted(given, plan)

    assert (documents, tokens) == ({"h": 1, "a": 1, "b": 1}, {"h": 1, "a": 9, "b": 24})
    assert [found for _, found in spans.values()] == [22, 11]
    with passages_alone():
        assert tallies == counted(given, plan)[2]


def test_counts_of_a_tag_run_are_computed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = HEAD + f"<text>\n{SENTENCE * 5}</text>\n" * 4
    computed = []
    compute = DocumentClusters._counts_of_run

    def count(self: DocumentClusters, runs: TagRuns, run: str) -> Any:
        computed.append(run)
        return compute(self, runs, run)

    monkeypatch.setattr(DocumentClusters, "_counts_of_run", count)
    counted(sources(tmp_path, text, text.replace("c\tI-X", "c\tI-Y")), PLAN)

    assert len(computed) == 2


def parts(given: tuple[Source, Source]) -> list[list[tuple[bool, str, int, Counter[str]]]]:
    """The parts of each stretch: whether a document begins, its id, its tokens and tag runs."""
    steps = lockstep(*given, merge=False, by_document=True)
    found = []
    for item in steps:
        if isinstance(item, Stretch) and item.parts:
            assert item.documents == sum(part.begins for part in item.parts)
            assert item.tokens == sum(part.tokens for part in item.parts)
            found.append(
                [(part.begins, part.document.id, part.tokens, part.runs[0].counts) for part in item.parts]
            )
        steps._check()
    return found


def test_stretch_has_a_part_of_each_document(tmp_path: Path) -> None:
    documents = [f'<text id="d{n}">\n{SENTENCE * n}</text>\n' for n in range(1, 5)]
    text = HEAD + "".join(documents)
    a, b = chr(0), chr(1)

    same = parts(sources(tmp_path, text, text))

    assert same == [
        [(True, "d1", 3, {a: 1, b: 1}), (True, "d2", 3, {a: 1, b: 1})],
        [(False, "d2", 3, {a: 1, b: 1}), (True, "d3", 9, {a: 3, b: 3})],
        [(True, "d4", 12, {a: 4, b: 4})],
    ]


def test_stretch_has_a_part_of_each_document_that_begins_with_a_mark(tmp_path: Path) -> None:
    mark, line, span = "-DOCSTART- x\n\n", "a O\n\n", "b B-X\n\n"
    text = mark + line * 2 + mark + line + span + mark * 2 + span * 2 + mark + line * 3
    a = chr(0)

    same = parts(sources(tmp_path, text, text, form="conll"))
    other = parts(sources(tmp_path, text, text[::-1].replace("x", "y", 1)[::-1], form="conll"))

    assert same == [
        [(True, "2", 2, {a: 1}), (True, "3", 0, {})],
        [(True, "4", 2, {a: 2}), (True, "5", 3, {})],
    ]
    assert other == same[:1]  # the last mark differs


def test_document_that_ends_without_having_begun_is_an_error(tmp_path: Path) -> None:
    text = SENTENCE * 4 + f"</text>\n<text>\n{SENTENCE}</text>\n"

    with pytest.raises(FormatError):
        parts(sources(tmp_path, text, text))
