"""Hints for names of other libraries: what to use in place of an attribute that a result does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

_ROWS = (
    "to_pandas",
    "to_df",
    "to_dataframe",
    "dataframe",
    "df",
    "per_label",
    "labels",
    "micro",
    "macro",
    "weighted",
)
_FORMS = ("to_csv", "to_markdown", "to_latex", "to_string", "report", "summary", "print", "show", "table")


class Hinting:
    """The base of results: the error for an unknown attribute names the nearest ones, or all."""

    __slots__ = ()

    if not TYPE_CHECKING:  # for type checkers, there are no other attributes

        def __getattr__(self, name: str) -> Any:
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(message + ("" if name.startswith("_") else f"; {_hint(type(self), name)}"))


def _hint(kind: type, name: str) -> str:
    from difflib import get_close_matches

    known = [each for each in dir(kind) if not each.startswith("_")]
    if name in _ROWS and "rows" in known:
        return "rows() has a row for each label and average, as in pandas.DataFrame(result.rows())"
    if name in _FORMS and "render" in known:
        return "print it, or use render('markdown'), render('csv'), ..."
    near = get_close_matches(name, known, n=1, cutoff=0.8)
    return f"did you mean {near[0]}?" if near else f"it has {', '.join(known)}"
