"""The tags of two parallel texts in columns: those that are the same on both sides, and those of each side."""

from __future__ import annotations

from dataclasses import dataclass

from clueval.formats.columns.layout import Layout

Tags = dict[str, list[str]]
"""The tags of each layer, with an O between sentences."""


@dataclass(slots=True)
class Columns:
    """The tags of two parallel texts: those of lines that are the same once, those of disputed lines for each side.

    Attributes:
        tokens: the number of positions of the texts, with those outside every span.
        times: the multiplicity of everything here.
    """

    tokens: int
    same: Tags
    disputed: tuple[Tags, Tags]
    times: int = 1

    @classmethod
    def of(cls, layout: Layout, tokens: int) -> Columns:
        """Columns without tags for a text with this number of tokens."""
        columns: list[Tags] = [{layer: [] for layer, _ in layout.layers} for _ in range(3)]
        return cls(tokens, columns[0], (columns[1], columns[2]))
