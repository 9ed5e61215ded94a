"""Routes agree: one evaluation has one result, whichever way it is carried out."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from routes import (
    DOCUMENTS,
    FORMATS,
    OF_CASES,
    ROUTES,
    SCHEMES,
    TREATMENTS,
    Files,
    Options,
    by_files,
    by_processes,
    corpora,
    model,
    outcome,
    reports_of,
    settings_of,
    without,
    written,
)

from clueval.files.errors import CluevalError
from clueval.metrics import METRICS

pytest.importorskip("rapidfuzz")

SEVERAL: list[Options] = [
    {"metrics": [name for name in METRICS if name != "noisy"]},
    {"metrics": ["noisy", "exact", "muc"]},
]
ALONE: list[Options] = [{"metrics": [name]} for name in METRICS]


UNTOLD = {"conll2000", "nerval"}
"""The formats of whose tags only files tell which were ill-formed."""


def disagreements(form: str, files: Files, options: Options) -> list[str]:
    """The routes whose outcome is not that of whole files in one process."""
    expected = outcome(by_files, files, options)
    found = []
    for name, route in ROUTES.items():
        if route.takes(FORMATS[form], options):
            # documents have no tags in these formats, and do not say which scheme was named
            tells = route.says is not DOCUMENTS or not ({form} & UNTOLD or "scheme" in files.reading)
            untold = [] if tells else ["repaired_tags"]
            given = outcome(route.run, files, options, route.says)
            if without(given, {}, untold) != without(expected, route.says, untold):
                found.append(name)
    return found


def asked(rng: random.Random, form: str, setting: Options) -> Options:
    """A setting with metrics: all of them, or one where a filter is given that some metrics refuse."""
    return setting | (rng.choice(ALONE) if "where" in setting else rng.choice([*SEVERAL, *ALONE]))


@pytest.mark.few(4)
@pytest.mark.parametrize("form", FORMATS)
def test_routes_agree_in_every_format(tmp_path: Path, form: str) -> None:
    rng = random.Random(form)
    files = written(tmp_path, form, corpora(1, rng.choice([*SCHEMES]), documents=3))

    for setting in [{}, *rng.sample(settings_of(FORMATS[form]), 1)]:
        options = asked(rng, form, setting)
        assert disagreements(form, files, options) == [], options


@pytest.mark.few(10)
@pytest.mark.parametrize("form", FORMATS)
def test_numbers_are_those_of_the_cases_of_the_documents(tmp_path: Path, form: str) -> None:
    files = written(tmp_path, form, corpora(6, random.Random(form).choice([*SCHEMES])))
    compared = 0
    for setting in settings_of(FORMATS[form])[:: 1 if FORMATS[form].columns else 3]:
        metrics = ["exact", "levels"] if "where" in setting else [*OF_CASES]
        if form == "bdoc":  # its spans overlap
            metrics = ["exact", "fair", "muc"]
        options = setting | {"metrics": metrics}
        try:
            result = by_files(files, options)
        except CluevalError:  # a filter that nothing meets, or that a metric does not take
            continue
        assert reports_of(result) == model(files, options), options
        compared += 1
    assert compared > 2


OF_METRICS: list[Options] = [{}, {"merge": True, "by": "domain"}, {"where": ["entity=PER"]}]


@pytest.mark.parametrize(
    ("metric", "setting"),
    [
        # the quick tests try one setting with each metric
        pytest.param(metric, setting, marks=() if number % 3 == place else pytest.mark.long)
        for number, metric in enumerate(METRICS)
        for place, setting in enumerate(OF_METRICS)
    ],
)
def test_routes_agree_on_every_metric(tmp_path: Path, metric: str, setting: Options) -> None:
    files = written(tmp_path, "vrt", corpora(2, "BIO, ill-formed", documents=3))

    assert disagreements("vrt", files, setting | {"metrics": [metric]}) == []


@pytest.mark.parametrize(
    ("scheme", "reading"),
    [
        pytest.param(scheme, reading, marks=pytest.mark.long if (number + place) % 2 else ())
        for number, scheme in enumerate(SCHEMES)
        for place, reading in enumerate(TREATMENTS)
    ],
    ids=str,
)
def test_routes_agree_however_tags_are_read(tmp_path: Path, scheme: str, reading: Options) -> None:
    files = written(tmp_path, "conll", corpora(3, scheme, documents=3))
    files = Files(files.gold, files.predicted, files.reading | reading)

    assert disagreements("conll", files, {"metrics": ["exact"]}) == []


@pytest.mark.long
def test_routes_of_the_quick_tests_are_seldom_refused(tmp_path: Path) -> None:
    """Refused on every route is agreement, too, but not the kind that is looked for."""
    files = written(tmp_path, "vrt", corpora(1, "BIO", documents=6))
    found = [outcome(by_files, files, setting | SEVERAL[0]) for setting in settings_of(FORMATS["vrt"])]

    assert [one for one in found if one == "refused"] == ["refused"] * 24  # those with a filter on a layer


@pytest.mark.parametrize("number", [2, pytest.param(3, marks=pytest.mark.long)])
def test_routes_agree_in_processes(tmp_path: Path, number: int) -> None:
    files = written(tmp_path, "vrt, two files", corpora(4, "BIO, ill-formed"))

    several = SEVERAL[0] | {"by": "domain"}
    for options in (SEVERAL[0], several | {"unit": "character"}, several | {"intervals": True}):
        assert outcome(by_processes(number), files, options) == outcome(by_files, files, options)


def half_of_settings(rng: random.Random, form: str) -> list[Options]:
    """Half of the settings of a format, by chance: each setting is tried with about half of the formats."""
    settings = settings_of(FORMATS[form])
    return rng.sample(settings, len(settings) // 2)


@pytest.mark.long
@pytest.mark.parametrize("form", FORMATS)
def test_routes_agree_at_half_of_the_settings(tmp_path: Path, form: str) -> None:
    rng = random.Random(f"{form} 0")
    files = written(tmp_path, form, corpora(0, rng.choice([*SCHEMES]), rng.choice((1, 3, 8, 20))))
    if FORMATS[form].columns:
        files = Files(files.gold, files.predicted, files.reading | rng.choice(TREATMENTS))

    for setting in half_of_settings(rng, form):
        options = asked(rng, form, setting)
        assert disagreements(form, files, options) == [], options


@pytest.mark.long
@pytest.mark.parametrize("form", ["vrt", "conll", "vrt, two files"])
def test_routes_agree_in_processes_at_half_of_the_settings(tmp_path: Path, form: str) -> None:
    files = written(tmp_path, form, corpora(5, "BIO, ill-formed", documents=40))

    for setting in half_of_settings(random.Random(form), form):
        options = setting | {"metrics": ["exact", "levels"]}
        for number in (2, 3):
            assert outcome(by_processes(number), files, options) == outcome(by_files, files, options), options


NEW_LABELS: list[Options] = [
    {"label_map": {"PER": "LOC", "high": "low", "*": "*"}},
    {"gold_map": {"PER": "", "*": "*"}, "predicted_map": {"LOC": "PER", "*": ""}},
    {"label_map": {"PER": "X.1", "*": ""}, "hierarchy": ".", "depth": 1},
    {"label_map": {"PER": "A"}},
    {"untyped": True},
]
"""Options that change single labels."""


@pytest.mark.parametrize("form", ["vrt", "conll", "doccano"])
@pytest.mark.parametrize("options", NEW_LABELS, ids=str)
def test_labels_of_tags_and_rows_change_as_those_of_documents(
    tmp_path: Path, form: str, options: Options
) -> None:
    rng = random.Random(form)
    for scheme in SCHEMES:
        folder = tmp_path / scheme
        folder.mkdir()
        files = written(folder, form, corpora(3, scheme, documents=3))
        setting = options | {"metrics": ["exact", "levels"]} | rng.choice(settings_of(FORMATS[form]))

        expected = outcome(ROUTES["documents of the files"].run, files, setting)
        assert outcome(by_files, files, setting) == expected, setting
