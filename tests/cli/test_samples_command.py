"""The command samples: what it writes, and which folders it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from clueval.cli import main

SAMPLES = Path(__file__).parents[2] / "clueval" / "samples"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refusal(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["samples", str(folder)]) == 2
    out, error = capsys.readouterr()
    assert not out
    return error.removeprefix("clueval samples: ")


def test_samples_are_written_as_they_are_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "two words"

    assert main(["samples", str(folder)]) == 0
    out, error = capsys.readouterr()
    assert not error
    assert contents(folder) == contents(SAMPLES)
    example = out.splitlines()[1].removeprefix("Example: clueval ")
    german = f"'{folder}/german'"
    assert example == f"score {german}/gold.vrt {german}/predicted.vrt --layer entity=2"


def test_samples_are_written_into_an_empty_folder_and_left_where_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["samples", str(tmp_path)]) == 0
    (tmp_path / "a.clueval").write_text("of a user", encoding="utf-8")
    capsys.readouterr()

    assert main(["samples", str(tmp_path)]) == 0
    assert "are already in" in capsys.readouterr().out
    assert (tmp_path / "a.clueval").read_text(encoding="utf-8") == "of a user"


@pytest.mark.parametrize("changed", ["german/gold.vrt", "of-a-user.txt"])
def test_samples_do_not_replace_files(
    changed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / changed
    path.parent.mkdir(exist_ok=True)
    path.write_text("changed", encoding="utf-8")

    message = refusal(tmp_path, capsys)
    assert message == f"{tmp_path}: cannot be written: the folder is not empty (name a new folder)\n"
    assert contents(tmp_path) == {changed: b"changed"}


def test_samples_need_a_folder_that_can_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()

    assert refusal(tmp_path / "no" / "folder", capsys) == (
        f"{tmp_path / 'no' / 'folder'}: cannot be written: its folder does not exist (make the folder first)\n"
    )
    assert "there is a file of this name" in refusal(tmp_path / "file", capsys)
    assert "name a folder" in refusal(Path("-"), capsys)


def test_samples_are_all_written_or_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "german" / "gold.vrt").mkdir(parents=True)

    assert "german/gold.vrt: cannot be written: it is a folder" in refusal(tmp_path, capsys)
    assert not contents(tmp_path)
