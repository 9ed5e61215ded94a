from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from io import BufferedWriter, FileIO, TextIOWrapper
from pathlib import Path

import pytest
from corpora import write

from clueval import score
from clueval.__main__ import run
from clueval.cli import main
from clueval.cli.commands import COMMANDS
from clueval.cli.reference import described_format
from clueval.formats.form import ENTRIES

SAMPLES = Path(__file__).parents[2] / "clueval" / "samples" / "german"
GOLD, PREDICTED = str(SAMPLES / "gold.vrt"), str(SAMPLES / "predicted.vrt")
LAYERS = ["--layer", "entity=2", "--layer", "risk=3", "--token-id", "4"]

Capture = pytest.CaptureFixture[str]


def test_json_has_the_shape_of_the_contract(capsys: Capture) -> None:
    options = "--merge --metric levels,exact --by domain --format json"
    main(["score", GOLD, PREDICTED, *LAYERS, *options.split()])
    report = json.loads(capsys.readouterr().out)

    assert list(report)[:4] == ["clueval", "schema", "signature", "documents"]
    assert list(report)[4:9] == ["tokens", "repaired_tags", "inputs", "passed_over", "metrics"]
    assert report["inputs"] == {
        side: {
            "format": "vrt",
            "files": 1,
            "layers": {
                "entity": {"source": 2, "scheme": "BIO", "spans": entities},
                "risk": {"source": 3, "scheme": "BIO", "spans": risks},
            },
        }
        for side, entities, risks in (("gold", 222, 219), ("predicted", 229, 227))
    }
    assert report["schema"] == 1
    assert list(report["metrics"]["levels"]) == ["merged"]
    merged = report["metrics"]["levels"]["merged"]
    assert list(merged) == ["classes", "unlabelled", "labelled"]
    assert list(merged["labelled"]) == ["entity", "risk"]
    assert list(merged["labelled"]["risk"]["4"]) == ["micro", "macro", "per_label"]
    assert list(merged["unlabelled"]["1"]) == [
        *("precision", "recall", "f1", "gold", "predicted", "tp_gold", "fn", "tp_predicted", "fp"),
    ]
    assert sum(group["documents"] for group in report["by"]["domain"].values()) == report["documents"]


def test_merge_writes_a_table_that_scores_as_the_merged_layers(tmp_path: Path, capsys: Capture) -> None:
    tables = []
    for side in (GOLD, PREDICTED):
        tables.append(str(tmp_path / f"{Path(side).stem}.tsv"))
        assert main(["merge", side, *LAYERS, "-o", tables[-1]]) == 0
    capsys.readouterr()

    main(["score", *tables, "--text", GOLD, "--token-id", "4", "--merge", "--format", "json"])
    from_tables = json.loads(capsys.readouterr().out)["metrics"]
    main(["score", GOLD, PREDICTED, *LAYERS, "--merge", "--format", "json"])

    assert from_tables == json.loads(capsys.readouterr().out)["metrics"]


def test_check_lists_all_problems_and_exits_with_1(tmp_path: Path, capsys: Capture) -> None:
    wrong = write(
        tmp_path / "wrong.vrt",
        "<s>\na\tB-X\t1\nb\t1\nc\tQ\t2\n</s>\n</s>\n<s>\nd\tI-X\t1\n<s>\ne\tO\t3\n</s>\n",
    )
    assert main(["check", GOLD, *LAYERS]) == 0
    assert "no problems; 5 documents, 2,797 positions (entity BIO, risk BIO)" in capsys.readouterr().out

    assert main(["check", str(wrong), "--layer", "x=2", "--token-id", "3"]) == 1
    output = capsys.readouterr().out
    for line, problem in [
        (3, "the line has 2 columns, the first token line has 3"),
        (4, "layer 'x': 'Q' is not a tag"),
        (6, "</s> without <s> before it"),
        (8, "layer 'x': ill-formed tags: 'I-X' may not follow the start of the sentence"),
        (9, "<s> inside the sentence of line 7"),
    ]:
        assert f"wrong.vrt:{line}: {problem}" in output
    assert output.rstrip().endswith("wrong.vrt: 5 problems")
    assert main(["check", str(wrong), "--layer", "x=2", "--max-errors", "2"]) == 1
    assert "stopped after 2 problems; there are more" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["score", "a", "b", "--nope"],
            "clueval score: unknown option --nope (see clueval score --help)\n",
        ),
        (
            ["merge", "a", "b"],
            "clueval merge: unexpected argument 'b'; clueval curate joins the files of several annotators "
            "(see clueval merge --help)\n",
        ),
        (["--nope", "score", "a"], "clueval: unknown option --nope (see clueval --help)\n"),
    ],
)
def test_help_that_an_error_names_has_the_options(arguments: list[str], told: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        main(arguments)

    assert capsys.readouterr().err == told


PRINTED: dict[str, list[list[str]]] = {
    **{
        name: [[name, GOLD, PREDICTED, *LAYERS]]
        for name in ("score", "conventions", "masking", "agree", "profile")
    },
    "errors": [
        ["errors", GOLD, PREDICTED, *LAYERS],
        ["errors", GOLD, PREDICTED, "--metric", "fair", "--layer", "entity=2"],
        ["errors", GOLD, PREDICTED, "--metric", "noisy", "--layer", "entity=2"],
    ],
    "curate": [["curate", GOLD, PREDICTED, *LAYERS]],
    "diff": [["diff", GOLD, PREDICTED, GOLD, *LAYERS]],
    "check": [["check", GOLD, *LAYERS]],
    "merge": [["merge", GOLD, *LAYERS]],
    "convert": [["convert", GOLD, *LAYERS, "--to", "spans"]],
    "threshold": [["threshold", "scored.jsonl", "scored.jsonl", "--score-feature", "s"]],
    "compare": [["compare", "a.clueval", "a.clueval"]],
    "faireval": [["faireval", "run.config"]],
    "formats": [["formats"], ["formats", "conll"]],
    "metrics": [["metrics"]],
    "guide": [["guide"], ["guide", "formats"]],
    "samples": [["samples", "samples"]],
    "completion": [["completion", "bash"]],
    "help": [["help"], ["score", "--help"], ["--help"], ["--version"]],
}
"""Arguments with which each command prints a result."""


@pytest.fixture
def printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the files of `PRINTED`, as the working folder."""
    monkeypatch.chdir(tmp_path)
    span = {"start": 0, "end": 1, "label": "X", "s": 0.5}
    write(tmp_path / "scored.jsonl", json.dumps({"text": "a b", "spans": [span]}) + "\n")
    write(tmp_path / "run.config", "target_in = t.csv\nsystem_in = t.csv\n")
    write(tmp_path / "t.csv", "a NN B-NP\n")
    score([["B-A"], ["O"]], [["B-A"], ["B-A"]], resample_by="document").save("a.clueval")


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "waits", [False, pytest.param(True, marks=pytest.mark.long)], ids=["at once", "at the end"]
)
@pytest.mark.parametrize("command", COMMANDS)
def test_closed_pipe_ends_every_command_quietly(
    printed: None, command: str, waits: bool, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for arguments in PRINTED[command]:
        reader, writer = os.pipe()
        os.close(reader)
        buffered = BufferedWriter(FileIO(writer, "wb"), 1 << 20 if waits else 1)
        stream = TextIOWrapper(buffered, encoding="utf-8", write_through=True)
        monkeypatch.setattr(sys, "stdout", stream)

        code = main(arguments)
        said = capsys.readouterr().err
        stream.close()

        assert (code, [line for line in said.splitlines() if line.startswith("clueval")]) == (0, []), (
            arguments
        )


def test_closed_pipe_ends_the_process_quietly() -> None:
    for arguments in PRINTED["score"][0], PRINTED["errors"][0], ["score", "--help"]:
        command = f"{shlex.join([sys.executable, '-m', 'clueval', *arguments])} | true"
        done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, check=False)

        assert (done.returncode, b"clueval" in done.stderr, b"Error" in done.stderr) == (0, False, False)


LIMIT = ["--fail-under", "levels.entity.unlabelled.4.recall=1"]
FAILING = [
    ["score", GOLD, PREDICTED, *LAYERS, *LIMIT],
    ["score", GOLD, PREDICTED, *LAYERS, *LIMIT, "--format", "json"],
    ["masking", GOLD, PREDICTED, *LAYERS, "--fail-under", "entity.entity_recall=1"],
    ["diff", GOLD, GOLD, PREDICTED, *LAYERS, "--fail-on-new"],
    ["check", "wrong.conll"],
]


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("closed", "size"),
    [("stdout", 1), ("stdout", 1 << 20), ("stderr", 1)],
    ids=["at once", "at the end", "messages"],
)
@pytest.mark.parametrize("arguments", FAILING, ids=lambda arguments: arguments[0])
def test_what_failed_fails_through_a_closed_pipe(
    tmp_path: Path, arguments: list[str], closed: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "wrong.conll", "a\tB-X\n\nb\tI-Y\n")
    reader, writer = os.pipe()
    os.close(reader)
    with TextIOWrapper(BufferedWriter(FileIO(writer, "wb"), size), write_through=True) as stream:
        monkeypatch.setattr(sys, closed, stream)

        assert main(arguments) == 1


def test_an_error_has_its_code_where_stderr_is_closed() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "clueval", "score", "nowhere", "nowhere"]

    assert subprocess.run(command, stderr=writer, check=False).returncode == 2
    os.close(writer)


def test_labels_that_look_like_formulas_are_escaped_in_tsv(tmp_path: Path, capsys: Capture) -> None:
    path = write(tmp_path / "a.vrt", "<text domain='=cmd()'>\na\tB-X\n</text>\n")
    main(["score", str(path), str(path), "--by", "domain", "--format", "tsv"])

    assert "\t'=cmd()\t" in capsys.readouterr().out


def in_shell(arguments: list[str], redirection: str) -> subprocess.CompletedProcess[str]:
    command = f"{shlex.join([sys.executable, '-m', 'clueval', *arguments])} {redirection}"
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)


NO_OUTPUT = {
    "a full disk": ("> /dev/full", "output: No space left on device"),
    "a closed output": (
        ">&-",
        "standard output is closed, so the result cannot be printed (write it to a file with -o)",
    ),
    "an output to read from": ("< /dev/null 1<&0", "output: Bad file descriptor"),
}
PRINTING = {
    "score": ["score", GOLD, PREDICTED, *LAYERS],
    "errors": ["errors", GOLD, PREDICTED, *LAYERS],
    "conventions": ["conventions", GOLD, PREDICTED, *LAYERS],
    "check": ["check", GOLD, *LAYERS],
    "merge": ["merge", GOLD, *LAYERS],
}


@pytest.mark.parametrize(
    ("arguments", "redirection", "problem"),
    [
        pytest.param(arguments, *NO_OUTPUT[output], id=f"{command}-{output}", marks=marks)
        for command, arguments in PRINTING.items()
        for output in NO_OUTPUT
        for marks in [() if command == "score" else pytest.mark.long]
    ],
)
def test_an_output_that_cannot_be_written_is_one_line(
    arguments: list[str], redirection: str, problem: str
) -> None:
    done = in_shell(arguments, redirection)

    assert (done.returncode, done.stderr) == (2, f"clueval {arguments[0]}: {problem}\n")


def test_help_with_closed_standard_output_is_one_line() -> None:
    done = in_shell(["--help"], ">&-")

    assert done.returncode == 2
    assert done.stderr.startswith("clueval: standard output is closed")


def test_output_file_needs_no_standard_output(tmp_path: Path) -> None:
    done = in_shell(["merge", GOLD, *LAYERS, "-o", str(tmp_path / "m.tsv")], ">&-")

    assert (done.returncode, done.stderr) == (0, f"wrote {tmp_path / 'm.tsv'}\n")
    assert in_shell(["merge", GOLD, *LAYERS, "-o", "/dev/stdout"], ">&-").returncode == 2


def test_remarks_are_not_in_the_result_if_standard_error_is_closed() -> None:
    done = in_shell(["score", GOLD, PREDICTED, *LAYERS, "-v", "--format", "json"], "2>&-")

    assert json.loads(done.stdout)["documents"] == 5


def test_output_has_half_characters_as_escapes(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"id": "1", "text": "A \\ud800", "label": [[0, 1, "X"]]}\n')
    command = [sys.executable, "-m", "clueval", "convert", str(path), "--to", "doccano"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONIOENCODING"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)

    assert json.loads(done.stdout)["text"] == "A \ud800"


def test_output_in_ascii_escapes_other_characters(tmp_path: Path) -> None:
    path = write(tmp_path / "a.vrt", "a\tB-Örtlichkeit\n")
    command = [sys.executable, "-m", "clueval", "score", str(path), str(path)]
    environment = {"PYTHONIOENCODING": "ascii", "PATH": ""}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)

    assert "\\xd6rtlichkeit" in done.stdout


def test_words_that_begin_with_a_hash_are_tokens(tmp_path: Path, capsys: Capture) -> None:
    path = str(write(tmp_path / "a.conll", "#hashtag B-X\nb O\n"))

    assert main(["score", path, path]) == 0
    assert "2 positions" in capsys.readouterr().out


def test_empty_side_is_one_error(tmp_path: Path, capsys: Capture) -> None:
    paths = [str(write(tmp_path / "a", "a B-X\n")), str(write(tmp_path / "b", "\n"))]

    for pair in (paths, paths[::-1]):
        assert main(["score", *pair]) == 2
        assert "the file has no documents, but" in capsys.readouterr().err


def test_help_is_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    widest = []
    for columns, command in (("60", []), ("130", []), ("1", ["score"])):
        monkeypatch.setenv("COLUMNS", columns)
        with pytest.raises(SystemExit):
            main([*command, "--help"])
        widest.append(max(map(len, capsys.readouterr().out.split("\n"))))

    assert widest[0] <= 60
    assert 80 < widest[1] <= 130


def test_a_command_runs_in_any_thread(capsys: Capture) -> None:
    with ThreadPoolExecutor(1) as threads:
        code = threads.submit(main, ["score", GOLD, PREDICTED, *LAYERS]).result()

    assert code == 0
    assert "signature: " in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["score", GOLD, PREDICTED, *LAYERS],
        ["score", GOLD, PREDICTED, *LAYERS, *LIMIT],
        ["score", GOLD, "none"],
        ["--help"],
    ],
)
def test_process_gives_the_output_and_exit_code_of_the_command(arguments: list[str], capsys: Capture) -> None:
    try:
        code = main(arguments)
    except SystemExit as ended:
        code = 0 if ended.code is None else int(ended.code)
    own = capsys.readouterr()
    done = subprocess.run(
        [sys.executable, "-m", "clueval", *arguments], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (code, own.err)
    assert done.stdout.split() == own.out.split()  # but for the width of the terminal


def modules_of(folder: Path, *words: str) -> set[str]:
    """Return the modules that a command imports in a folder."""
    code = (
        "import sys; before = {*sys.modules}; from clueval.cli import main; main(sys.argv[1:]);"
        "print(*({*sys.modules} - before), file=sys.stderr)"
    )
    call = [sys.executable, "-c", code, *words]
    done = subprocess.run(call, cwd=folder, capture_output=True, text=True, check=True)
    return {*done.stderr.split()}


def test_plain_score_imports_only_the_modules_that_it_needs(tmp_path: Path) -> None:
    loaded = modules_of(tmp_path, "score", GOLD, PREDICTED, *LAYERS, "--format", "markdown")

    assert {"clueval.core.levels", "clueval.reports.forms"} <= loaded
    assert not {"shutil", "threading", "json", "pickle", "concurrent.futures", "multiprocessing"} & loaded
    assert not {"clueval.compat.conlleval", "clueval.reports.json_text", "clueval.metrics.muc"} & loaded
    assert not {"clueval.core.exact", "clueval.transforms.changes", "clueval.reports.place"} & loaded


def test_score_of_columns_imports_no_format_that_has_no_mark_in_them(tmp_path: Path) -> None:
    (tmp_path / "a.conll").write_text("w\tB-X\n", encoding="utf-8")
    (tmp_path / "pyproject.toml").touch()  # of another project

    loaded = modules_of(tmp_path, "score", "a.conll", "a.conll")

    formats = {name.rpartition(".")[2] for name in loaded if ".formats." in name}
    assert {entry.place.partition(".")[0] for entry in ENTRIES} & formats == {"conll"}
    assert not {"clueval.formats.documents", "tomllib"} & loaded


class TestTheEndOfTheProcess:
    """Nothing that was written gets lost at it, and whoever waits for it is served."""

    @pytest.fixture
    def corpus(self, tmp_path: Path) -> Path:
        path = tmp_path / "a.conll"
        path.write_text("w\tB-X\n\n" * 3000, encoding="utf-8")
        return path

    def run(
        self, *arguments: object, before: Sequence[str] = ("-m", "clueval")
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *before, *map(str, arguments)], capture_output=True, text=True, check=False
        )

    def test_output_is_complete(self, corpus: Path) -> None:
        whole = self.run("score", corpus, corpus, "--format", "json", "-q")

        assert (whole.returncode, whole.stderr) == (0, "")
        assert json.loads(whole.stdout)["documents"] == 1

    def test_output_before_an_error_is_complete(self) -> None:
        failing = "import sys; from clueval.__main__ import run; print('first', end=''); "
        failing += "sys.argv = ['clueval', 'score', 'none']; sys.exit(run())"
        done = self.run(before=("-c", failing))

        assert (done.returncode, done.stdout) == (2, "first")

    def test_a_profiler_is_waited_for(self, corpus: Path, tmp_path: Path) -> None:
        done = self.run(
            "score", corpus, corpus, before=("-m", "cProfile", "-o", tmp_path / "profile", "-m", "clueval")
        )

        assert done.returncode == 0
        assert (tmp_path / "profile").stat().st_size > 1000


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signal_while_a_class_is_made_ends_the_command_as_always(
    number: signal.Signals, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run() -> int:
        class Named:
            def __set_name__(self, owner: type, name: str) -> None:
                os.kill(os.getpid(), number)

        type("Owner", (), {"named": Named()})
        return 0

    monkeypatch.setattr("clueval.cli.reference.formats", run)

    assert main(["formats"]) == code
    assert capsys.readouterr().err.count("\n") == 1


def test_description_of_a_format_is_about_no_other_that_its_module_reads() -> None:
    described = "\n".join(described_format("nemotron"))

    assert "text_tagged" in described
    assert "privacy_mask" not in described


@pytest.mark.parametrize("name", ["clueval.cli", "clueval.cli.running"])
@pytest.mark.parametrize("in_class", [False, True])
def test_an_interruption_while_modules_are_imported_is_one_line(
    name: str, in_class: bool, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    class Interrupted:
        def find_spec(self, imported: str, *_: object) -> None:
            if imported == name and in_class:  # as Python 3.11 raises it
                raise RuntimeError from KeyboardInterrupt()
            if imported == name:
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupted(), *sys.meta_path])

    assert run() == 130
    assert capsys.readouterr().err == "clueval: interrupted\n"
