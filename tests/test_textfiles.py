from __future__ import annotations

from pathlib import Path

import pytest

from clueval.textfiles import blocks


class TestParts:
    @pytest.mark.parametrize("cut", [0, 4, 8, 12])
    def test_parts_of_a_file_joined_are_the_file(self, tmp_path: Path, cut: int) -> None:
        path = tmp_path / "a.txt"
        path.write_bytes(b"one\ntwo\nsix\n")

        texts = [text for part in ((0, cut), (cut, 12)) for _, text in blocks(path, part=part)]

        assert "".join(texts) == "one\ntwo\nsix\n"

    def test_the_lines_of_a_part_are_numbered_from_one(self, tmp_path: Path) -> None:
        path = tmp_path / "a.txt"
        path.write_bytes(b"one\ntwo\nsix\n")

        assert list(blocks(path, part=(4, 8))) == [(1, "two\n")]

    def test_progress_tells_the_bytes_of_a_part(self, tmp_path: Path) -> None:
        path = tmp_path / "a.txt"
        path.write_bytes(b"one\ntwo\nsix\n")
        told: list[int] = []

        list(blocks(path, told.append, part=(4, 12)))

        assert sum(told) >= 8
