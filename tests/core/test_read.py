"""What a bag says of what was read; the rules are those of `clueval.score`, whose results say the same."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

import clueval
from clueval.core.bag import Bag, Read
from clueval.core.case import TOKENS as TOKENS_OF_SPANS
from clueval.core.count import Plan, Step, count
from clueval.core.document import Document, Pair
from clueval.core.exact import Exact
from clueval.core.span import Span
from clueval.files.errors import TagError

A, B = Span(0, 2, {"x": "A"}), Span(1, 3, {"x": "B"})
TOKENS = list("abcd")


@dataclass(frozen=True)
class Renamed(Step):
    """A step that renames the labels of gold to C, and sets predicted spans with label B apart."""

    signature: ClassVar[tuple[str, str]] = ("renamed", "yes")

    def __call__(self, pairs: Sequence[Pair]) -> Sequence[Pair]:
        return [changed for pair in pairs for changed in self.changed(pair)]

    def changed(self, pair: Pair) -> list[Pair]:
        gold = replace(pair.gold, layers={"x": [replace(span, labels="C") for span in pair.gold.layers["x"]]})
        spans = pair.predicted.layers["x"]
        kept, lost = (
            replace(pair.predicted, layers={"x": [span for span in spans if (span.label == "B") is beside]})
            for beside in (False, True)
        )
        return [Pair(gold, kept), Pair(Document("d", {}), replace(lost, tokens=None), beside=True)]


def bag_of(*pairs: Pair, where: dict[str, str] | None = None, steps: tuple[Renamed, ...] = ()) -> Bag:
    chosen = {key: frozenset([value]) for key, value in (where or {}).items()}
    return count([[pair] for pair in pairs], Plan((Exact(),), where=chosen, steps=steps))


@pytest.mark.parametrize(
    ("sides", "text"),
    [
        ((None, TOKENS), "absent"),
        ((TOKENS, None), "absent"),
        ((None, None), "absent"),
        ((TOKENS, TOKENS), "equal"),
    ],
)
def test_a_text_that_a_side_lacks_is_counted_and_the_signature_says_that_it_is_absent(
    sides: tuple[list[str] | None, list[str] | None], text: str
) -> None:
    gold, predicted = (Document("d", {"x": [A]}, tokens=tokens) for tokens in sides)

    found = bag_of(Pair(gold, predicted), Pair(gold, predicted)).read.without_text

    assert found == 2 * (text == "absent")
    assert clueval.score([gold], [predicted]).signature.choices["text"] == text


def test_pairs_beside_their_text_lack_none() -> None:
    pair = Pair(Document("d", {"x": [A]}, tokens=TOKENS), Document("d", {"x": [A, B]}, tokens=TOKENS))

    read = bag_of(pair, steps=(Renamed(),)).read

    assert (read.without_text, read.units) == (0, {"token"})
    assert read.unplaced == [("d", B)]


def test_a_filter_finds_labels_as_the_steps_have_left_them() -> None:
    pair = Pair(Document("d", {"x": [A]}, tokens=TOKENS), Document("d", {"x": [A, B]}, tokens=TOKENS))

    assert bag_of(pair, where={"x": "A"}).read.values == {"x": {"A", "B"}}
    assert bag_of(pair, where={"x": "A"}, steps=(Renamed(),)).read.values == {"x": {"A", "B", "C"}}


def test_a_filter_finds_the_ids_and_metadata_of_all_documents_and_the_labels_of_those_that_count() -> None:
    documents = [
        Document(name, {"x": [span]}, tokens=TOKENS, metadata={"kind": name * 2})
        for name, span in (("d", A), ("e", B))
    ]
    pairs = [Pair(document, document) for document in documents]

    read = bag_of(*pairs, where={"document": "e", "x": "B"}).read

    assert read.values == {"document": {"d", "e"}, "x": {"B"}}
    assert list(read.keys) == ["kind"]
    assert bag_of(*pairs, where={"kind": "ee"}).read.values == {"kind": {"dd", "ee"}}


def tagged(tags: str, file: str | None) -> Document:
    return Document("d", {"x": []}, tokens=tags.split(), tags={"x": tags.split()}, file=file)


def read_of(*documents: Document) -> Read:
    return bag_of(*(Pair(document, document) for document in documents)).read


def test_files_that_are_settled_keep_their_schemes_and_repaired_tags() -> None:
    read = read_of(tagged("O I-A B-A", "f"), tagged("I-A B-B", "f"), tagged("I-A I-B", "g"))
    open_ones = read.schemes(), read.repaired("gold")

    read.settle()

    assert (read.schemes(), read.repaired("gold")) == open_ones
    assert open_ones[0]["gold", "f", "x"] == "BIO"
    assert (open_ones[1], read.neighbours) == (2, {})


def test_layers_and_files_that_are_settled_one_by_one_add_up() -> None:
    read, layer = Read(), ("gold", "f", "x")
    for scheme, ill_formed in ((None, 0), ("BIO", 2), (None, 1)):
        read.settle_layer(layer, scheme, ill_formed)
        read.add_file("gold", "conll", passed_over={"relations": 2})

    assert read.passed_over == {("gold", "relations"): 6}
    assert (read.schemes(), read.repaired("gold"), read.files) == ({layer: "BIO"}, 3, {"gold": 3})


@pytest.mark.parametrize("named", [True, False])
def test_a_scheme_that_is_named_or_that_a_format_has_says_which_tags_are_repaired(named: bool) -> None:
    read = read_of(tagged("I-A I-A", None))
    if not named:
        read.settle_layer(("gold", None, "x"), "BIO", 0)
    read.settle({"gold": "BIO"} if named else {})

    assert (read.repaired("gold"), read.repaired("predicted")) == (1, 0)
    assert set(read.schemes().values()) == {"BIO", "IO"}


def test_tags_outside_the_scheme_that_is_named_are_refused() -> None:
    with pytest.raises(TagError, match="outside the scheme IO"):
        read_of(tagged("B-A", "f")).settle({"gold": "IO"})


def test_tags_of_no_scheme_are_refused_with_their_file_or_side() -> None:
    for file in ("f", None):
        with pytest.raises(TagError, match=rf"^{file or 'gold'}: "):
            read_of(tagged("L-A S-A", file)).settle()


def test_features_that_were_read_are_those_of_spans_and_tokens_of_their_own() -> None:
    featured, tokened = (
        Document("d", {"x": [span]}, TOKENS)
        for span in (Span(0, 2, "A", {"n": 1}), Span(0, 2, "A", tokens=frozenset({1})))
    )

    assert read_of(featured).features == {"n"}
    assert read_of(tokened).features == {TOKENS_OF_SPANS}


def test_treatments_and_spans_without_a_place_add_up() -> None:
    one, other = Read(), Read()
    for read, treatment in ((one, "repair"), (other, "drop")):
        read.treatments.add(treatment)
        read.unplaced.append((treatment, A))
    one.include(other)

    assert one.treatments == {"repair", "drop"}
    assert one.unplaced == [("repair", A), ("drop", A)]


def test_what_was_read_adds_up() -> None:
    parts = [tagged("I-A I-A", "f"), tagged("B-A I-B", "g"), Document("d", {"x": [A], "y": []})]
    total = Read()
    for part in parts:
        read = read_of(part)
        read.add_file("gold", "conll" if part.tags else "brat", {"x": 2}, {"relations": 1})
        read.settle()
        total.include(pickle.loads(pickle.dumps(read)))

    whole = read_of(*parts)

    assert (total.formats, total.files) == ({"gold": {"conll", "brat"}}, {"gold": 3})
    assert total.sources == {("gold", "x"): {2}}
    assert total.passed_over == {("gold", "relations"): 3}
    assert total.schemes() == whole.schemes()
    assert [total.repaired("gold"), total.repaired("predicted")] == [whole.repaired("gold")] * 2 == [1, 1]
    assert (total.spans, total.without_text) == (whole.spans, whole.without_text)
    assert (total.without_text, total.spans["gold", "x"]) == (1, 1)


def test_layers_of_tags_and_of_files_of_tokens_are_tagged() -> None:
    in_file = Document("d", {"y": []}, tokens=TOKENS, file="f")
    as_text = Document("d", {"z": []}, text="abcd", unit="character", file="f")

    assert read_of(tagged("I-A", None), in_file, as_text).tagged == {
        (side, layer) for side in ("gold", "predicted") for layer in ("x", "y")
    }
