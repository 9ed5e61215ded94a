"""The guide's code prints the same in Pyodide, from the packages of the offline page."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from guide_blocks import ROOT

from clueval.browser import __main__ as build

RUN = """
const [pyodide, packages, root] = process.argv.slice(2);
const { readFileSync } = require("node:fs");
require(`${pyodide}/pyodide.js`).loadPyodide({ stdout: () => {}, stderr: () => {} }).then((python) => {
  const site = python.runPython("import site; site.getsitepackages()[0]");
  python.unpackArchive(new Uint8Array(readFileSync(packages)), "zip", { extractDir: site });
  python.runPython(`import shutil; shutil.rmtree("${site}/clueval/samples", ignore_errors=True)`);
  for (const [folder, from] of [["/root", root], [`${site}/clueval/samples`, `${root}/clueval/samples`]]) {
    python.FS.mkdirTree(folder);
    python.mountNodeFS(folder, from);
  }
  const differences = python.runPython(`
import json, sys
from pathlib import Path
sys.path += ["/root/tests", "/root/tests/guide"]
from in_pyodide import differences
json.dumps(differences(Path("/guide")))`);
  console.log(differences);
}).catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
"""
"""A script for node."""

LACKED = "pip install|No module named '(pandas|spacy)'"
"""What a difference says that comes of a package that the offline page does not have."""


@pytest.mark.long
def test_the_code_of_the_guide_prints_the_same_in_pyodide_unless_a_package_is_lacking(tmp_path: Path) -> None:
    pyodide, node = os.environ.get("CLUEVAL_PYODIDE"), shutil.which("node")
    if not pyodide or not node:
        pytest.skip("CLUEVAL_PYODIDE does not name the folder of npm's package pyodide, or there is no node")
    packages, script = tmp_path / "packages.zip", tmp_path / "run.cjs"
    packages.write_bytes(build._packages())
    script.write_text(RUN, encoding="utf-8")
    command = [node, str(script), str(Path(pyodide).resolve()), str(packages), str(ROOT)]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    differences = json.loads(ended.stdout)

    assert [each for each in differences if not re.search(LACKED, each)] == []
