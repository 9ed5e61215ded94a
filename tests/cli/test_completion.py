"""The scripts for completion: they are accepted by the shell, and complete the commands and options that there are."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from clueval.cli import main
from clueval.cli.commands import COMMANDS
from clueval.cli.reference import SHELLS

Capture = pytest.CaptureFixture[str]


def script(shell: str, capsys: Capture) -> str:
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_names_every_command(shell: str, capsys: Capture) -> None:
    text = script(shell, capsys)

    assert {name for name in COMMANDS if name not in text} == set()


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (["con"], {"conventions", "convert"}),
        (["score", "--toke"], {"--token", "--token-id"}),
        (["formats", "gate"], {"gate-xml"}),
    ],
)
def test_bash_completes_commands_and_options(
    words: list[str], completed: set[str], tmp_path: Path, capsys: Capture
) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash")
    path = tmp_path / "clueval.sh"
    path.write_text(script("bash", capsys), encoding="utf-8")
    line = (
        f"source {path}; function=$(complete -p clueval | sed 's/.*-F \\([^ ]*\\).*/\\1/');"
        f"COMP_WORDS=(clueval {' '.join(words)}); COMP_CWORD={len(words)};"
        f"$function clueval {words[-1]} x; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    done = subprocess.run([bash, "-c", line], capture_output=True, text=True, check=True)

    assert set(done.stdout.split()) == completed
