from __future__ import annotations

import pytest
from clueval.evaluation.lockstep.token_ids import TokenIds

from clueval.exceptions import FormatError
from clueval.formats.columns.layout import ColumnOptions, layout_of


def token_ids(entities: bool = True) -> TokenIds:
    return TokenIds(layout_of("t1\tw\tO", "\t", ColumnOptions(token_id=1), entities, "f", 1), "a.vrt")


def test_token_ids_differ_in_one_document_and_may_be_those_of_another() -> None:
    ids = token_ids()

    ids.see(b"1\tw\tO\n2\tw\tO\n", begins=False)
    ids.see(b"3\tw\tO\n", begins=False)
    ids.see(b"1\tw\tO\n2\tw\tO\n", begins=True)
    ids.see(b"", begins=False)
    ids.see(b"3\t1\t2\n", begins=False)  # a token and a tag are no ids

    with pytest.raises(FormatError, match=r"^a\.vrt: a token id seems to occur again"):
        ids.see(b"3\tw\tO\n", begins=False)


@pytest.mark.parametrize("again", [b"4\tw\tO\n4\tw\tO\n", b"1\tw\tO\n", b"4\tw\tO\n1\tw\tO\n"])
def test_token_id_that_occurs_again_is_found(again: bytes) -> None:
    ids = token_ids()
    ids.see(b"1\tw\tO\n", begins=True)

    with pytest.raises(FormatError):
        ids.see(again, begins=False)


def test_token_id_with_an_entity_may_be_that_of_another_line() -> None:
    with pytest.raises(FormatError):
        token_ids().see(b"1\tw\tO\n&#49;\tw\tO\n", begins=False)

    token_ids().see(b"1\tR&amp;D\tO\n2\tw\tB-&lt;\n", begins=False)
    token_ids(entities=False).see(b"1\tw\tO\n&#49;\tw\tO\n", begins=False)
