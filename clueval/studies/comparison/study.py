"""`compare`: is a system better than another one, and by how much?

A run of a system is a result or, without gold, the file of a saved one; with gold, what `clueval.score` takes as
predicted, which is scored here, but no file of a saved result, because anybody can write one. Several runs are a list
of results, files or, if gold is lists in memory, such lists; or a pattern such as ``large.*.conll``.
`clueval.studies.comparison.paired_tests` has the tests.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from glob import glob
from itertools import chain, compress, islice, starmap
from pathlib import Path
from typing import Any

from clueval.core.count import DOCUMENT, EITHER
from clueval.core.span import Span
from clueval.files.errors import FileError, UsageError, described, warn
from clueval.files.options import checked_call, refuse_unknown, require_kind
from clueval.formats.options import ANSWER_FORMATS, Reading, readings_of
from clueval.metrics import LABELS_BELOW, entry_at, headline_paths, number_at
from clueval.metrics import Path as ScorePath
from clueval.reading import is_path_or_paths, is_read_once
from clueval.results.options import RESAMPLES, SEED, Trust, single_options
from clueval.results.paths import score_names, whole_path
from clueval.results.result import Result, load_result
from clueval.results.saved import is_saved
from clueval.results.score import score
from clueval.results.signature import Signature, require_same
from clueval.results.texts import idle_options
from clueval.studies.comparison.paired_tests import ComparedUnits, PairedTests, comparable
from clueval.studies.comparison.report import Comparison, Details

LAST_RATE = slice(-1, None)
"""F1, or what a metric has in its place, among the rates of a headline."""

LEAST_DETECTED = 1e-9
"""The least difference for which the number of units is computed."""


@checked_call
def compare(
    *systems: Any,
    gold: Any = None,
    baseline: str | None = None,
    scores: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    detect: float | None = None,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    force: bool = False,
    all_pairs: bool = False,
    **named: Any,
) -> Comparison:
    """Compare systems on the same gold: saved results, or predictions that are scored here.

    ``compare("a.clueval", "b.clueval")`` compares saved results, ``compare("gold.conll", base="a.conll",
    large=["b.1.conll", "b.2.conll"])`` scores the files first. Of results by document, those documents are compared
    that all have with the same number of positions. These must have the same number of gold spans with each label;
    saved results do not tell other gold spans and other words apart, so different gold files are warned of.

    Args:
        systems: one after the other, or by name in a dictionary. Each is a result with counts by unit, the file of a
            saved one, or a list or pattern of these, the runs of a system; ``compare(a, [b, c])`` compares three
            systems. If the first is anything else, it is gold, and the others may be what `clueval.score` takes as
            predicted.
        gold: gold, if it is not the first of `systems`.
        baseline: the name of the system with which the others are compared. None: the first.
        scores: paths below ``metrics`` in the JSON, as ``exact.entity.micro.f1``. None: precision, recall and F1 of
            each headline.
        names: of the systems that have none.
        detect: a difference (a fraction); how many units it would take to show it is computed.
        confidence: of the intervals.
        resamples, seed: of the random swaps, if more than 16 units differ.
        force: compare although signatures or gold files differ.
        all_pairs: test the differences of F1 of all pairs of systems, with Holm's correction over the pairs.
        named: systems by name, and with gold the options of `clueval.score`, as ``metrics="exact"``.

    Raises `UsageError` for results that cannot be compared and for scores that do not exist.

    >>> gold, system = [["B-PER", "B-LOC"]] * 8, [["B-PER", "O"]] * 8
    >>> rows = compare(gold, base=system, better=gold, metrics="exact", scores=["f1"]).rows()
    >>> [(row["system"], row["against"], row["difference"], row["p"]) for row in rows if row["against"]]
    [('better', 'base', 0.3333333333, 0.0078125)]
    """
    trust = Trust(confidence=confidence, resamples=resamples, seed=seed)
    if detect is not None and not LEAST_DETECTED <= detect <= 1:
        raise UsageError(
            f"detect must be a difference from {LEAST_DETECTED:g} to 1, not {detect!r}",
            advice="a fraction, as 0.01",
        )
    gold, by_name, options = _gold_systems_options(systems, named, gold, names)
    if baseline is not None and baseline not in by_name:
        raise UsageError(f"there is no system {baseline!r}", advice=f"one of {', '.join(by_name)}")
    runs = {name: list(_runs(system, gold, "pair_by" in options)) for name, system in by_name.items()}
    order = sorted(runs, key=lambda name: name != (baseline or next(iter(runs))))
    scored = _scored(gold, list(chain.from_iterable(runs.values())), options)
    results_of = {name: list(islice(scored, len(of_system))) for name, of_system in runs.items()}
    results = {name: [_result_of(run) for run in results_of[name]] for name in order}
    units = units_of(results, force)
    first, first_run = results[order[0]][0], units.runs[order[0]][0]
    counted = {(layer, name) for name in order for run in units.runs[name] for _, layer in run.counts}
    for layer, name in sorted(counted - {(layer, name) for _, layer in first_run.counts for name in order}):
        warn(f"the layer {layer!r} of {name} is not compared, because {order[0]} does not have it")
    work = PairedTests(units, trust, detect, several_golds=has_several_golds(first))
    paths = chosen_paths(work.reports(), scores)
    for text, path in zip(scores or (), paths, strict=False):
        work.require_rate(text, path)

    labels = list(_labels(work))
    if has_several_golds(first):
        # a label is not compared if other gold spans with it were chosen for another system
        labels = [(text, path) for text, path in labels if work.unit_of_other_gold(path) is None]
    for _, path in labels:
        work.require_same_gold(path)

    tokens = dict(zip(first_run.keys, first_run.positions, strict=True))
    return Comparison(
        signature=str(first.signature),
        resample_by=first_run.by or "",
        units=len(units.keys),
        systems=order,
        tests=[work.score(".".join(path), path) for path in paths],
        documents=len(units.keys) if first_run.by == DOCUMENT else first.documents,
        tokens=sum(map(tokens.__getitem__, units.keys)),
        confidence=confidence,
        detect=detect,
        details=partial(_details, work, labels, paths),
        shown={".".join(path): name for path, name in score_names(paths).items()},
        left_out={name: number for name, number in units.left_out.items() if number},
        pairs=[work.pairs(".".join(path), path) for path in paths if all_pairs and path[-1].startswith("f1")],
        located=_located(results),
    )


def _details(work: PairedTests, labels: list[tuple[str, ScorePath]], paths: list[ScorePath]) -> Details:
    return list(starmap(work.score, labels)), list(work.most(paths))


def _located(systems: Mapping[str, Iterable[Result]]) -> dict[str, Counter[str]]:
    """Return what became of the answers of each system that has some, in all its runs."""
    numbers: dict[str, Counter[str]] = {}
    for name, runs in systems.items():
        for run in runs:
            if located := (run.prepared or {}).get("located"):
                numbers.setdefault(name, Counter()).update(located)
    return numbers


# What is given


def _gold_systems_options(
    arguments: Sequence[Any], named: Mapping[str, Any], gold: Any, names: Sequence[str] | None
) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """Return gold, the systems by name, and the options with which they are scored.

    Without `gold`, the first of `arguments` is gold unless it is a result, or several. Raises `UsageError` for options
    of other names, for fewer than two systems, for names that are not one for each, for options without gold, and for
    gold that can be read only once.
    """
    option_names = ["metrics", "layers", "reading", *single_options()]
    options = {name: value for name, value in named.items() if name in option_names}
    others = {name: value for name, value in named.items() if name not in option_names}
    listed = list(arguments)
    only_names = len(listed) == 1 and isinstance(listed[0], Mapping) and not others
    if gold is None and listed and not only_names and not is_result(listed[0]):
        gold = listed.pop(0)
    elif len(listed) == 2 and isinstance(listed[1], list | tuple) and gold is None:
        listed[1:] = listed[1]
    _, reading, *_ = readings_of(options.get("reading", Reading()), _of_reading(options))
    if reading.input in ANSWER_FORMATS and gold is not None and not is_path_or_paths(gold):
        listed = list(map(_answers, listed))
        others = {name: _answers(system) for name, system in others.items()}

    def is_one_system(system: Any) -> bool:
        """A dictionary has systems by name; with gold by document, it may be one system by document."""
        by_document = (
            isinstance(gold, Mapping) and isinstance(system, Mapping) and gold.keys() == system.keys()
        )
        return by_document or not isinstance(system, Mapping)

    systems = _by_name([system for system in listed if is_one_system(system)], names)
    for named_systems in (*(system for system in listed if not is_one_system(system)), others):
        for name, value in named_systems.items():
            if _is_no_system(value):  # it can only be an option of another name
                refuse_unknown([name], [*option_names, "scores", "names", "baseline", "gold"], "compare")
            if name in systems:
                problem = f"two systems have the name {name!r}"
                raise UsageError(problem, advice="give each system a name of its own")
            systems[name] = value
    if len(systems) < 2:
        problem = "there is nothing to compare with" if systems else "there are no systems"
        if gold is None:
            raise UsageError(problem, advice="give two systems")
        which = "what comes first"
        if _is_path(gold):
            which = f"{os.fspath(gold)} comes first and is no saved result, so it"
        advice = "give gold and two systems, as in GOLD base=A large=B"
        raise UsageError(f"{problem}: {which} is gold", advice=advice)
    if is_read_once(gold):
        problem = "gold can be read only once, and each system is compared with it"
        raise UsageError(problem, advice="give a path, or a list without iterators")
    if options and gold is None:
        raise UsageError(
            f"{next(iter(options))}=... is for systems that are scored here, and there is no gold",
            advice="give gold first; of saved results, scores=... names what is compared",
        )
    return gold, systems, options


def _of_reading(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in ("metrics", "layers", "reading")}


def _answers(system: Any) -> Any:
    """Return an iterator over a list of texts, which are answers, as they would be names of files in a list."""
    are_texts = isinstance(system, list | tuple) and all(isinstance(answer, str) for answer in system)
    return iter(system) if are_texts else system


def is_result(value: object) -> bool:
    """Return whether this is a result, the file of a saved one, or several of these."""
    if isinstance(value, Mapping):
        return any(map(is_result, value.values()))
    if isinstance(value, list | tuple):
        return bool(value) and all(map(is_result, value))
    if isinstance(value, str) and _is_pattern(value):
        return any(map(is_saved, glob(value)))  # noqa: PTH207  # as for a pattern of files to score
    return isinstance(value, Result) or (isinstance(value, str | Path) and is_saved(value))


def _is_no_system(value: Any) -> bool:
    if isinstance(value, str):
        return not Path(value).suffix and not os.path.lexists(value) and not _is_pattern(value)
    return not isinstance(value, Result | os.PathLike) and not hasattr(value, "__iter__")


def _by_name(systems: Sequence[Any], names: Sequence[str] | None) -> dict[str, Any]:
    """Return systems by their `names`; None: by their files, or as A, B, C. Raises `UsageError` for a name twice."""
    for name in names or ():
        require_kind(name, "str", "the name of a system")
    if names is None:
        names = []
        for number, system in enumerate(systems):
            several = system if isinstance(system, list | tuple) else [system]
            if several and all(isinstance(run, str | Path) for run in several):
                names.append(",".join(map(str, several)))
            else:
                names.append(chr(ord("A") + number) if number < 26 else f"system {number + 1}")
    if len(names) != len(systems) or len({*names}) < len(names):
        raise UsageError(
            f"{len(systems)} systems cannot have the names {', '.join(map(repr, names))}",
            advice="give each system a name of its own",
        )
    return dict(zip(names, systems, strict=True))


def _scored(gold: Any, runs: Sequence[Any], options: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the runs of all systems; those that are no results yet are scored against gold."""
    to_score = [gold is not None and not isinstance(run, Result) for run in runs]
    reading, of_reading = options.get("reading", Reading()), _of_reading(options)
    idle = iter(idle_options(gold, list(compress(runs, to_score)), reading, of_reading))
    for run, is_to_score in zip(runs, to_score, strict=True):
        yield score(gold, run, **{"resample_by": EITHER, **options, **next(idle)}) if is_to_score else run


def _runs(system: Any, gold: Any, is_paired: bool) -> Iterator[Any]:
    """Yield the runs of a system; `is_paired`: an option says how documents are paired.

    Raises `UsageError` for a run that is there twice, which would count as two independent runs.
    """
    seen = set[object]()
    for run in _runs_in(system, gold):
        identity: object = id(run) if isinstance(run, Result) else None
        if _is_path(run):
            identity = os.path.abspath(run)  # noqa: PTH100  # `Path.resolve` does not take every text
        if identity in seen:
            name = f" {os.fspath(run)}" if _is_path(run) else ""
            raise UsageError(f"a system has the run{name} twice", advice="give each run once")
        seen |= {identity} - {None}
        are_paths = _is_path(gold) and _is_path(run) and not is_paired
        if are_paths and Path(run).is_dir() and Path(gold).is_file():
            raise UsageError(
                f"{os.fspath(run)} is a folder, and gold is a file",
                advice=f"runs of a system are files or a pattern, as in {Path(run).name}='{os.fspath(run)}/*'",
            )
        yield run


def _runs_in(system: Any, gold: Any) -> Sequence[Any]:
    if _is_path(system):
        return _matches(os.fspath(system), gold)
    gold_is_several_files = isinstance(gold, list | tuple) and all(map(_is_path, gold))
    if not isinstance(system, list | tuple) or not system or gold_is_several_files:
        return [system]
    if all(isinstance(run, Result | str | os.PathLike) for run in system):
        return [each for run in system for each in _runs_in(run, gold)]
    are_several_lists = 0 < _depth(gold) == _depth(system) - 1
    return list(system) if gold is None or are_several_lists else [system]


def _matches(text: str, gold: Any) -> Sequence[str | Path]:
    """Return the files that a pattern means, or the folders if gold is one; beside a pattern of gold, itself."""
    if not _is_pattern(text) or (_is_path(gold) and _is_pattern(os.fspath(gold))):
        return [text]
    folders = _is_path(gold) and Path(gold).is_dir()
    paths = [path for path in map(Path, sorted(glob(text))) if path.is_dir() == folders]  # noqa: PTH207
    if not paths:
        kind = "folder" if folders else "file"
        raise FileError(f"no {kind} matches this pattern", file=text, advice="check it")
    return paths


def _depth(side: object) -> int:
    """Return how deep the lists of a side in memory lie in each other: 2 for lists of tags and of spans, else 0."""
    if not isinstance(side, list | tuple) or not side or isinstance(side[0], int):
        return 0
    first = next((item for item in side if not isinstance(item, list | tuple) or item), None)
    if not isinstance(first, list | tuple):
        return int(isinstance(first, str | Span))
    return 1 if isinstance(first[0], int) else 1 + _depth(first)


def _is_path(value: object) -> bool:
    return isinstance(value, str | os.PathLike)


def _is_pattern(text: str) -> bool:
    return re.search(r"[*?\[]", text) is not None and not os.path.lexists(text)


# What is compared


def _result_of(run: Any) -> Result:
    if not isinstance(run, Result | str | Path):
        raise UsageError(
            f"a run must be a Result or the file of a saved one, not {described(run)}",
            advice="clueval.score gives a Result; score with resample_by, so that it has counts by unit, "
            "or give gold first",
        )
    return run if isinstance(run, Result) else load_result(run)


def units_of(systems: Mapping[str, Sequence[Result]], force: bool = False) -> ComparedUnits:
    """Return the units that can be compared. Raises `UsageError` for others; `force` ignores signature and gold.

    Warns if the same documents come from different gold files.
    """
    first_name, (first, *_) = next(iter(systems.items()))
    others = None
    of_all = [run.signature for runs in systems.values() for run in runs]
    all_placed = all("placed" in signature.choices for signature in of_all)
    for name, runs in systems.items():
        for run in () if force else runs:
            require_same(_signature_of(first, all_placed), _signature_of(run, all_placed), "compared")
            digests = first.gold_sha256, run.gold_sha256
            if None in digests or digests[0] == digests[1]:
                continue
            others = f"{first_name} and {name} were scored against different gold files"
            if first.plan.units != DOCUMENT:
                raise UsageError(others, advice="score both against the same gold file, or use force")
    units = comparable({name: [run.units for run in runs] for name, runs in systems.items()})
    if others is not None and not any(units.left_out.values()):
        warn(
            f"{others}; their documents have the same ids and numbers of positions and gold labels, but may differ"
        )
    return units


def _signature_of(result: Result, all_placed: bool) -> Signature:
    """Return the signature, without the step that gives both sides one text if it changes gold alike in all results."""
    choices = dict(result.signature.choices)
    if all_placed or not (result.prepared or {}).get("placed", {}).get("trimmed"):
        choices.pop("placed", None)
    return Signature(choices)


def has_several_golds(result: Result) -> bool:
    """Return whether gold was chosen for each system, of several golds or alternatives."""
    return "gold" in result.signature.choices


def chosen_paths(
    reports: Mapping[str, Any], scores: Iterable[str] | None, rates: slice = slice(None)
) -> list[ScorePath]:
    """Return the paths of scores; None: those of the rates of each headline. Raises `UsageError` for unknown ones."""
    if scores is not None:
        return [whole_path(reports, text) for text in scores]
    return list(headline_paths(reports, rates))


def _labels(work: PairedTests) -> Iterator[tuple[str, ScorePath]]:
    """Yield F1 of every label, where a metric has it beside its headline."""
    reports = work.reports()
    for metric, sequence, *place, rate in headline_paths(reports, LAST_RATE):
        sections = [(*place[:-1], section) for section in LABELS_BELOW]
        for section, after in (*((section, ()) for section in sections), (("per_label",), place[-1:])):
            for label, entry in entry_at(reports[metric][sequence], section).items():
                if number_at(entry, (*after, rate)) is not None:
                    yield label, (metric, sequence, *section, label, *after, rate)
