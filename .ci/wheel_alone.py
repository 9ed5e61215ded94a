"""Checks the installed wheel in an environment without other packages: the main job runs, and nothing else is there."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

ALLOWED = {"clueval", "intervaltree", "sortedcontainers", "pip", "setuptools", "wheel"}

command = Path(sys.executable).with_name("clueval")
sides = ["samples/english/gold.vrt", "samples/english/predicted.vrt"]
layers = ["--layer", "entity=2", "--layer", "risk=3", "--token-id", "4"]
for arguments in (
    ["samples", "samples"],
    ["score", *sides, *layers, "--metric", "levels,exact,fair,partial"],
    ["score", *sides, *layers, "--merge", "--quiet", "--format", "json"],
    ["check", sides[0], *layers],
    ["guide", "start-files"],
    ["--help"],
):
    done = subprocess.run([command, *arguments], capture_output=True, text=True, check=True)
    assert done.stdout, arguments
    assert not done.stderr, done.stderr

installed = {distribution.metadata["Name"].lower() for distribution in distributions()}
assert installed <= ALLOWED, installed - ALLOWED

import clueval  # noqa: E402  # after the command has been tried

assert not (Path(clueval.__file__).parent / "browser").exists(), "the offline page is built from a checkout"

assert (Path(clueval.__file__).parent / "py.typed").is_file()
print(f"clueval {clueval.__version__} works alone, with {', '.join(sorted(installed - {'clueval'}))}")
