"""A release: its version, the files for the CI of others, and what is still to be filled in."""

from __future__ import annotations

import filecmp
import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipapp
from pathlib import Path
from typing import Any

import pytest
import yaml

from clueval.cli import main
from clueval.version import __version__

ROOT = Path(__file__).parents[1]
GERMAN = ROOT / "clueval" / "samples" / "german"


def loaded(path: str) -> Any:
    return yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))


def commands(folder: Path) -> dict[str, str]:
    """Return an environment in which `clueval` is this package."""
    command = folder / "clueval"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m clueval "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    if not (folder / "python").exists():
        (folder / "python").symlink_to(sys.executable)
    return {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def test_citation_has_the_version_of_the_package() -> None:
    assert loaded("CITATION.cff")["version"] == __version__


def test_changelog_has_an_entry_for_the_version() -> None:
    assert re.search(
        rf"^## .*\b{re.escape(__version__)}\b", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M
    )


def test_hook_of_pre_commit_fails_on_a_file_with_an_invalid_tag(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.conll", tmp_path / "bad.conll"
    good.write_text("Ada B-PER\n", encoding="utf-8")
    bad.write_text("Ada B-PER\nsaw X-PER\n", encoding="utf-8")

    assert [hooked(tmp_path, *files).returncode for files in ([good.name], [good.name, bad.name])] == [0, 1]
    (hook,) = loaded(".pre-commit-hooks.yaml")
    assert all(re.search(hook["files"], file.name) for file in (good, bad))


def hooked(folder: Path, *files: str) -> subprocess.CompletedProcess[bytes]:
    """Run the hook as pre-commit does: entry, args, and the names of files, in the folder of the repository."""
    (hook,) = loaded(".pre-commit-hooks.yaml")
    words = [*shlex.split(hook["entry"]), *hook["args"], *files]
    return subprocess.run(words, env=commands(folder), cwd=folder, capture_output=True)


def test_hook_of_pre_commit_reads_no_configuration_and_takes_names_for_files(tmp_path: Path) -> None:
    (tmp_path / "clueval.toml").write_text('[check]\noutput-file = "out.txt"\n', encoding="utf-8")
    (tmp_path / "--output-file=out.conll").write_text("Ada B-PER\n", encoding="utf-8")

    ended = hooked(tmp_path, "--output-file=out.conll")

    assert (ended.returncode, ended.stderr) == (0, b"")
    assert not [path for path in tmp_path.iterdir() if path.name in ("out.txt", "out.conll")]


def test_hook_of_pre_commit_is_for_files_that_are_recognised_by_their_endings() -> None:
    (hook,) = loaded(".pre-commit-hooks.yaml")

    assert not re.search(hook["files"], "README.md")
    assert not re.search(hook["files"], "settings.json")


def step_of_action(name: str, folder: Path, **asked: str) -> subprocess.CompletedProcess[bytes]:
    """Run a step of the action in a folder, as GitHub does."""
    steps = loaded(".github/actions/score/action.yml")["runs"]["steps"]
    (run,) = (step["run"] for step in steps if step["name"] == name)
    given = {
        "GITHUB_ACTION_PATH": str(ROOT / ".github" / "actions" / "score"),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "RUNNER_TEMP": str(folder),
        "GOLD": str(GERMAN / "gold.vrt"),
        "PREDICTED": str(GERMAN / "predicted.vrt"),
        "LIMITS": "",
    }
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", run],
        env=commands(folder) | given | asked,
        cwd=folder,
        capture_output=True,
    )


@pytest.mark.parametrize(
    ("limit", "code"), [("", 0), ("exact.entity.micro.f1=80%", 0), ("f1=0.9\nf1=10%\n", 1)]
)
def test_action_writes_the_table_to_the_summary_and_fails_below_a_limit(
    tmp_path: Path, limit: str, code: int
) -> None:
    ended = step_of_action("Score", tmp_path, OPTIONS="--layer 'entity=2' --metric exact", LIMITS=limit)

    assert (ended.returncode, ended.stderr.count(b"is below")) == (code, code)
    assert "81.60" in (tmp_path / "summary.md").read_text(encoding="utf-8")


STEPS = ("Score", "Write the page of errors")
"""The steps of the action that run clueval."""


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("options", ["--layer 'entity=2 --metric exact", 'a "', "\\"])
def test_action_ends_with_one_line_for_quotes_that_are_not_closed(
    tmp_path: Path, options: str, step: str
) -> None:
    ended = step_of_action(step, tmp_path, OPTIONS=options)

    assert ended.returncode == 1
    assert ended.stderr.startswith(b"the options cannot be read: No ")
    assert ended.stderr.count(b"\n") == 1
    assert not [name for name in ("summary.md", "errors.html") if (tmp_path / name).exists()]


@pytest.mark.parametrize("step", STEPS)
def test_action_reads_no_configuration_runs_no_code_of_the_folder_and_takes_paths_for_paths(
    tmp_path: Path, step: str
) -> None:
    (tmp_path / "clueval.toml").write_text('tsv = "out.tsv"\nlabel-map = "map.tsv"\n', encoding="utf-8")
    for name in ("shlex", "os"):
        (tmp_path / f"{name}.py").write_text("open('ran', 'w')\n", encoding="utf-8")
    for name in ("--output-file=x", "-q"):
        (tmp_path / name).write_text("Ada B-PER\n", encoding="utf-8")

    ended = step_of_action(step, tmp_path, OPTIONS="--input conll", GOLD="--output-file=x", PREDICTED="-q")

    assert ended.returncode == 0, ended.stderr
    assert b"clueval.toml" not in ended.stderr
    assert not [name for name in ("out.tsv", "x", "ran") if (tmp_path / name).exists()]


@pytest.mark.parametrize("step", STEPS)
def test_action_passes_options_with_blanks_and_signs_of_the_shell_as_they_are(
    tmp_path: Path, step: str
) -> None:
    options = "--where 'domain=$(touch ran) `touch ran` *'"

    ended = step_of_action(step, tmp_path, OPTIONS=f"--layer entity=2 {options}")

    assert b"domain=$(touch ran) `touch ran` *" in ended.stderr
    assert not (tmp_path / "ran").exists()


def test_action_gives_values_to_its_scripts_as_variables_alone() -> None:
    steps = loaded(".github/actions/score/action.yml")["runs"]["steps"]

    assert [step["name"] for step in steps if "${{" in step.get("run", "")] == []


def test_readme_has_an_action_and_a_script_that_are_there_and_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"`uses: OWNER/clueval/(\S+)@v(\S+)`, with `(.*?)` and `(.*?): ", readme, re.S)
    folder, version, *inputs = line
    inputs = [name for each in inputs for name in re.findall(r"[\w-]+", each)]
    (script,) = re.findall(r"`(script: .*)`", readme)
    (_, command) = yaml.safe_load(script)["script"]
    monkeypatch.chdir(tmp_path)
    for name in ("gold", "predicted"):
        (tmp_path / f"{name}.conll").write_text("Ada B-PER\n", encoding="utf-8")

    assert version == __version__
    assert set(inputs) <= loaded(f"{folder}/action.yml")["inputs"].keys()
    assert main(command.split()[1:]) == 0


@pytest.mark.long
def test_package_runs_from_one_zip_file_with_pages_samples_and_processes(tmp_path: Path) -> None:
    app, zipped = tmp_path / "app", tmp_path / "clueval.pyz"
    for name in ("clueval", "intervaltree", "sortedcontainers"):
        (folder,) = importlib.import_module(name).__path__
        shutil.copytree(folder, app / name, ignore=shutil.ignore_patterns("__pycache__", "browser"))
    zipapp.create_archive(app, zipped, main="clueval.__main__:run")
    shutil.rmtree(app)
    words = ["samples/german/gold.vrt", "samples/german/predicted.vrt", "--layer", "entity=2"]

    def run(*arguments: str) -> str:
        command = [sys.executable, "-I", "-S", str(zipped), *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=True).stdout

    assert run("--version") == f"clueval {__version__}\n"
    assert "samples" in run("samples", "samples")
    assert filecmp.cmp(tmp_path / "samples" / "german" / "gold.vrt", GERMAN / "gold.vrt", shallow=False)
    assert run("score", *words) == run("score", *words, "--jobs", "2")
    assert "Which F1" in run("guide", "which-f1")
    run("errors", *words, "-o", "errors.html")
    assert "<html" in (tmp_path / "errors.html").read_text(encoding="utf-8")


def test_files_that_contributors_copy_or_change_are_there() -> None:
    text = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"(?<! as )`((?:clueval|tests)/[\w/]+\.py)`", text)  # what is saved "as" a file is new

    assert len(named) > 8
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_workflows_run_the_tests_on_each_version_of_python_that_the_package_names() -> None:
    versions = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))

    assert (
        loaded(".github/workflows/tests.yml")["jobs"]["quick-tests"]["strategy"]["matrix"]["python"]
        == versions
    )


def test_placeholders_are_those_that_are_to_be_filled_in_before_the_first_release() -> None:
    lines = (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert [line.strip() for line in lines if "example.org" in line] == [
        'authors = [{ name = "The clueval authors", email = "clueval@example.org" }]',
        'Repository = "https://example.org/clueval"',
    ]
    assert set(re.findall(r"\bOWNER/\S+?@", readme)) == {"OWNER/clueval/.github/actions/score@"}
