"""No text from a corpus and no name of a file controls a terminal or a web page."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import clueval
from clueval import Document, Span, score
from clueval.cli import main
from clueval.files.errors import STEERING, CluevalError, escaped_in_json, visible, visible_lines

EVIL = "\x01\x07\x1b[31m\x7f\x9b31m\x85\u061c\u200e\u200f\u202e\u2066\u2028\u2029\ufeff<b>`|*"
"""Controls, C1 controls, characters of direction, ends of lines, and what means something in other forms."""

FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)

LESS_EVIL = "\x01\x1b[31m\x7f\x9b31m\u061c\u202e\u2066"
"""The same without blanks and ends of lines of any kind."""

VRT = (
    f'<text id="d{EVIL}" domain="m{EVIL}">\n<s id="s{EVIL}">\n'
    f"w{EVIL}\t{{tag}}-L{EVIL}\tB-R{EVIL}\tt1{EVIL}\nb\tO\tO\tt2{EVIL}\n</s>\n</text>\n"
)
LTF = f"<body>a <e>{re.sub(FORBIDDEN, chr(0x202E), EVIL).replace('<b>', '')}</e></body>"


def bdoc(label: str) -> str:
    annotation = {"id": 1, "start": 0, "end": 1, "type": label, "features": {f"f{EVIL}": f"v{EVIL}"}}
    sets = {name: {"annotations": [annotation]} for name in (f"K{EVIL}", f"R{EVIL}")}
    document = {"text": f"a b {EVIL}", "offset_type": "p", "annotation_sets": sets}
    return json.dumps({"object": "gate:Document", **document})


DECISION = {
    "document": f"d{EVIL}",
    "layer": f"e{EVIL}",
    "start": 0,
    "end_inclusive": 1,
    "fingerprint": EVIL,
    "choice": "harmless",
    "comment": EVIL,
    "reviewer": EVIL,
    EVIL: EVIL,
}

NAMES = {"plain": "", "steering": "\n\x1b\u202e\x85", "undecodable": "\udc80"}
"""Parts of all names of files."""


@pytest.fixture(params=NAMES)
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A part of all names of files; the files lie in the working folder."""
    name = NAMES[request.param]
    files = {
        f"gold{name}.vrt": VRT.format(tag="B"),
        f"predicted{name}.vrt": VRT.format(tag="B").replace("-L", "-M"),
        f"wrong{name}.vrt": VRT.format(tag="I").replace("-R", "+R"),
        f"other{name}.vrt": VRT.format(tag="B").replace("w\x01", "v\x01").replace("b\t", "c\t"),
        f"short{name}.vrt": VRT.format(tag="B").replace(f"\tt2{EVIL}", ""),
        f"a{name}.ltf": LTF,
        "tags": f"w NN B-L{LESS_EVIL}\n",
        f"run{name}.config": "target_in = tags\nsystem_in = tags\n",
        f"gate{name}/a{name}.bdocjs": bdoc(f"P{EVIL}"),
        f"half{name}/a{name}.bdocjs": bdoc("P\ud800"),
        f"decided{name}.json": json.dumps([DECISION]),
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(text.encode("utf-8", "surrogatepass"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    return name


LAYERS = ["--layer", f"en{LESS_EVIL}=2", "--layer", "risk=3", "--token-id", "4"]
PAIR = ["gold{}.vrt", "predicted{}.vrt", *LAYERS]
GATE = ["--gold-set", f"K{EVIL}", "--predicted-set", f"R{EVIL}"]
COUNTED = ["--metric", "levels,exact,fair,partial,muc,confusion", "--by", "domain", "--by", "document"]
LAYER = LAYERS[1].removesuffix("=2")

FOR_PEOPLE = {
    **{
        f"score {form}": ["score", *PAIR, *COUNTED, "--format", form, "-v"]
        for form in ("text", "json", "markdown")
    },
    "score conlleval": ["score", *PAIR, "--format", "conlleval"],
    "score merged": ["score", *PAIR, "--merge", "--where", f"risk=R{EVIL}"],
    "errors noisy": ["errors", *PAIR, "--metric", "noisy"],
    "errors noisy page": ["errors", *PAIR, "--metric", "noisy", "-o", "x{}.html"],
    "gate": [
        *("score", "gate{}", *GATE, "--metric"),
        f"gate(features=[{'f' + EVIL!r}],by=[{'f' + EVIL!r}])",
    ],
    "gate json": ["score", "gate{}", *GATE, "--metric", "gate", "--format", "json"],
    "gate changes": ["score", "gate{}", *GATE, "--metric", "gate", "--reference-set", f"K{EVIL}"],
    "gate page": ["score", "gate{}", *GATE, "--metric", "gate", "-o", "x{}.html", "-o", "x{}.gate.tsv"],
    "wrong half": ["score", "half{}", *GATE, "--metric", "gate", "-o", "x{}.html", "--format", "markdown"],
    **{
        f"conventions {form}": ["conventions", *PAIR, "--format", form]
        for form in ("text", "json", "markdown")
    },
    "conventions page": ["conventions", *PAIR, "-o", "x{}.html"],
    "masking": ["masking", *PAIR, "--by", "domain"],
    "masking json": ["masking", *PAIR, "--format", "json", "--annotators", "all", "--masks", "all"],
    "masking decided": [
        "masking",
        *PAIR,
        "--decisions",
        "decided{}.json",
        "-o",
        "x{}.html",
        "-o",
        "x{}.tsv",
    ],
    "masking files": ["masking", *PAIR, "-o", "x{}.html", "-o", "x{}.tsv"],
    "wrong redacted text": ["masking", *PAIR, "--redacted"],
    "wrong limit": ["masking", *PAIR, "--fail-under", f"{EVIL}=1"],
    "wrong placeholder": ["masking", *PAIR, "--redacted", "--placeholder", f"({EVIL}"],
    "errors": ["errors", *PAIR, "--labelled", LAYER],
    "errors page": ["errors", *PAIR, "--labelled", LAYER, "--where", f"risk=R{EVIL}", "-o", "x{}.html"],
    "errors files": ["errors", *PAIR, "-o", "x{}.tsv", "-o", "x{}.xlsx", "-o", "x{}.html"],
    "errors merged": ["errors", *PAIR, "--level", "1", "--merge"],
    "errors fair": ["errors", *PAIR, "--metric", "fair"],
    "merge to a file": ["merge", "gold{}.vrt", *LAYERS, "-o", "x{}.tsv"],
    "convert to files": ["convert", "a{}.ltf", "--input", "ltf", "--to", "ltf", "-o", "x{}/"],
    "check": ["check", "gold{}.vrt", *LAYERS],
    "check wrong": ["check", "wrong{}.vrt", "short{}.vrt", *LAYERS],
    "wrong tags": ["score", "wrong{}.vrt", "wrong{}.vrt", *LAYERS],
    "wrong text": ["score", "gold{}.vrt", "other{}.vrt", *LAYERS],
    "wrong columns": ["errors", "gold{}.vrt", "short{}.vrt", *LAYERS],
    "wrong layer": ["errors", *PAIR, "--labelled", EVIL],
    "wrong metric": ["score", *PAIR, "--metric", EVIL],
    "wrong filter": ["score", *PAIR, "--where", f"{EVIL}={EVIL}"],
    "wrong value": ["score", *PAIR, "--where", f"domain={EVIL}"],
    "wrong break-down": ["score", *PAIR, "--by", EVIL],
    "wrong set": ["score", "gate{}", "--gold-set", EVIL, "--predicted-set", EVIL],
    "wrong option": ["score", *PAIR, f"--{EVIL}"],
    "wrong number": ["check", "gold{}.vrt", "--max-errors", EVIL],
    "wrong format": ["score", *PAIR, "--input", EVIL],
    "wrong form": ["score", *PAIR, "--layer", f"{EVIL}=x"],
    "wrong command": [EVIL],
    "no file": ["score", f"none{EVIL}{{}}", "gold{}.vrt"],
    "no folder": ["merge", "gold{}.vrt", *LAYERS, "-o", f"none{EVIL}{{}}/x"],
    "no config": ["faireval", f"none{EVIL}{{}}"],
    "wrong config": ["faireval", "gold{}.vrt"],
}
"""Each writes what must be clean wherever it goes."""

FOR_PROGRAMS = {
    "score tsv": ["score", *PAIR, *COUNTED, "--format", "tsv"],
    "merge": ["merge", "gold{}.vrt", *LAYERS],
    "convert spans": ["convert", "gold{}.vrt", *LAYERS, "--to", "spans", "--lossy"],
    "convert ltf": ["convert", "a{}.ltf", "--input", "ltf", "--to", "ltf"],
    "config": ["faireval", "run{}.config"],
}
"""Each writes data, which must be clean on a terminal only."""


def run(arguments: list[str], name: str, capsys: pytest.CaptureFixture[str]) -> tuple[object, str, str]:
    try:
        code: object = main([word.replace("{}", name) for word in arguments])
    except SystemExit as ended:
        code = ended.code
    out, error = capsys.readouterr()
    return code, out, error


@pytest.mark.parametrize(
    ("form", "place"),
    [
        # the quick tests have names that steer with every form, and the others in turn
        pytest.param(form, name, marks=() if name == "steering" or place == number % 6 else pytest.mark.long)
        for number, form in enumerate(FOR_PEOPLE)
        for place, name in enumerate(NAMES)
    ],
    indirect=["place"],
)
def test_text_for_people_has_no_character_that_steers(
    form: str, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, error = run(FOR_PEOPLE[form], place, capsys)

    wrong = form.startswith(("wrong", "no ")) or form == "check wrong"
    assert (code != 0) == (wrong), error
    if wrong and form != "check wrong":
        assert error.count("\n") == 1
    assert out + error
    for text in (out, error, *pages()):
        assert not FORBIDDEN.search(text), FORBIDDEN.search(text)


def pages() -> list[str]:
    found = [path.read_text(encoding="utf-8") for path in Path().iterdir() if path.suffix == ".html"]
    assert all("\\u202e" in page or "\\ud800" in page for page in found)
    return found


@pytest.mark.parametrize("form", FOR_PROGRAMS)
def test_data_on_a_terminal_has_no_character_that_steers(
    form: str, place: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    code, out, error = run(FOR_PROGRAMS[form], place, capsys)

    assert code == 0, error
    assert "\\u202e" in out
    assert not FORBIDDEN.search(out + error)


@pytest.mark.parametrize("form", FOR_PROGRAMS)
def test_data_elsewhere_is_as_it_is(form: str, place: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, error = run(FOR_PROGRAMS[form], place, capsys)

    assert code == 0, error
    assert "\u202e" in out
    assert not FORBIDDEN.search(error)


@pytest.mark.parametrize(
    "place",
    [name if name == "steering" else pytest.param(name, marks=pytest.mark.long) for name in NAMES],
    indirect=True,
)
@pytest.mark.parametrize("output", [[], ["-o", "/dev/stdout"]])
def test_a_real_terminal_is_not_controlled(place: str, output: list[str]) -> None:
    master, slave = os.openpty()
    try:
        words = [word.replace("{}", place) for word in [*FOR_PROGRAMS["merge"], *output]]
        done = subprocess.run(
            [sys.executable, "-m", "clueval", *words], stdout=slave, stderr=subprocess.PIPE, check=False
        )
        assert done.returncode == 0, done.stderr
        shown = os.read(master, 10_000).decode()
    finally:
        os.close(master)
        os.close(slave)

    assert "\\u202e" in shown
    assert not FORBIDDEN.search(shown.replace("\r\n", "\n"))


def test_a_notebook_shows_no_character_that_steers() -> None:
    documents = [Document("d", {f"layer{EVIL}": [Span(0, 1, f"L{EVIL}")]}, tokens=["a"])]

    shown = score(documents, documents, metrics=["levels", "exact"])._repr_html_()

    assert "\\u202e" in shown
    assert not FORBIDDEN.search(shown)


class TestVisible:
    def test_each_character_that_steers_is_an_escape(self) -> None:
        for number in (*range(0x3000), *range(0xD800, 0xE000), *range(0xFE00, 0x10000), 0xE0041):
            character = chr(number)
            steers = re.match(STEERING, character) is not None

            assert (visible(character) == character) <= (not steers)
            assert (visible_lines(character) == character) == (not steers or character in "\t\n")
            assert not FORBIDDEN.search(visible(character) + visible_lines(character))

    def test_blanks_and_letters_of_all_scripts_stay(self) -> None:
        for text in ("§\u00a0823 BGB", "Ver\u00adtrag", "日本\u3000語", "العربية", "é", "😀"):
            assert visible(text) == text

    def test_escapes_in_json_mean_the_same(self) -> None:
        value = {EVIL: [EVIL, "\n\t", "\U000e0041", "😀"]}

        text = escaped_in_json(json.dumps(value, ensure_ascii=False))

        assert json.loads(text) == value
        assert not FORBIDDEN.search(text)

    def test_an_error_is_one_line_without_them(self) -> None:
        text = str(CluevalError(EVIL, file=f"a{EVIL}\n", line=1, document=EVIL, advice=EVIL))

        assert "\n" not in text
        assert not FORBIDDEN.search(text)


def test_commands_print_through_one_module() -> None:
    """What is printed elsewhere would not be made visible."""
    folder = Path(clueval.__file__).parent
    users = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        for source in [path.read_text(encoding="utf-8")]
        if "print" in source
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    }

    assert users == {"cli/printing.py"}
