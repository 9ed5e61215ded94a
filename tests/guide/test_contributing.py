"""What CONTRIBUTING says about additions to the package, word by word, in a copy of the package."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from guide_blocks import ROOT, Runner, blocks_of

from clueval.guide import all_pages

CONTRIBUTING = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_a_metric_a_format_and_a_study_are_added_as_contributing_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "clueval", tmp_path / "clueval", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "samples").symlink_to(ROOT / "clueval" / "samples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    [metric] = [b for b in blocks_of(all_pages()["extend-clueval"].text) if b.file == "covered.py"]
    Path("clueval/metrics/covered.py").write_text(metric.text, encoding="utf-8")
    runner = Runner("CONTRIBUTING")
    for block in blocks_of(CONTRIBUTING):
        if block.language != "sh":
            runner.run(block)

    assert not runner.differences, "\n\n".join(runner.differences)


@pytest.mark.parametrize(
    ("file", "most"),
    [("covered.py", 30), ("clueval/formats/words.py", 15), ("clueval/studies/shares.py", 80)],
)
def test_additions_stay_short(file: str, most: int) -> None:
    texts = (CONTRIBUTING, all_pages()["extend-clueval"].text)
    [block] = [block for text in texts for block in blocks_of(text) if block.file == file]

    assert len(block.text.splitlines()) <= most
