"""UIMA CAS XMI and UIMA CAS JSON, as INCEpTION and DKPro export them. Needs the extra ``uima`` (dkpro-cassis).

The type system of ``X.xmi`` is read from ``TypeSystem.xml`` or ``X.typesystem.xml`` in its folder, or from the only
other file there that has one; JSON contains it. Positions, UTF-16 units in the file, are turned into code points by
dkpro-cassis. Each view is an annotation set; a file with one view with a text needs no choice.

Sources: ``Type.feature`` with the short name of the type, or ``Type``. The default is ``NamedEntity.value``, or the
only type with annotations, without those of tokens, sentences and documents. Annotations that have a governor are
relations; they are passed over and counted.

Source: the OASIS standard UIMA, version 1.0.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from clueval.exceptions import CluevalError, FileError, FormatError, SpanError, UsageError, extra
from clueval.formats.format import Format, Options
from clueval.formats.opened import Opened
from clueval.formats.recognition import first_lines, json_key
from clueval.spans.document import Document
from clueval.spans.span import DEFAULT_LAYER, NO_LABEL, Frozen, Span
from clueval.textfiles import beginning_of, is_file

_BASE = ("begin", "end", "sofa", "xmiID", "type")
_STRUCTURE = {
    "Token",
    "Sentence",
    "DocumentAnnotation",
    "DocumentMetaData",
    "TagsetDescription",
    "Annotation",
}
_RELATION = "Governor"
_LOOKED_AT = 10_000


class _Source(NamedTuple):
    """A type of annotations and one of its features, or None."""

    type: str
    feature: str | None


def _cassis() -> Any:
    with extra("XMI files need dkpro-cassis", "pip install 'clueval[uima]'"):
        import cassis
    return cassis


def _loaded(opened: Opened) -> Any:
    """Return the CAS of a file. Raises `FormatError` for what is no CAS, `FileError` without its type system."""
    cassis = _cassis()
    content = _text_of(opened, opened.path)
    if content.lstrip().startswith("{"):
        return _parsed(opened, partial(cassis.load_cas_from_json, content))
    system = _text_of(opened, _type_system(opened))
    return _parsed(
        opened, lambda: cassis.load_cas_from_xmi(content, typesystem=cassis.load_typesystem(system))
    )


def _type_system(opened: Opened) -> Path:
    """Return the path of the type system of a file. Raises `FileError` if there is none, or if there are several."""
    in_archive = type(opened.path) is not type(Path())
    archive = opened.path.name.rpartition("!")[0] if in_archive else ""
    beside = [
        opened.path.with_name(f"{archive}!TypeSystem.xml" if archive else "TypeSystem.xml"),
        opened.beside(".typesystem.xml"),
    ]
    found = list(filter(is_file, beside))[:1]
    if not found and not in_archive:
        found = [path for path in sorted(opened.path.parent.glob("*.xml")) if _has_types(path)]
    if len(found) == 1:
        return found[0]
    raise FileError(
        "several type systems are next to the file" if found else "the type system is missing",
        file=opened.file,
        advice=f"put {' or '.join(path.name for path in beside)} next to the file",
    )


def _has_types(path: Path) -> bool:
    try:
        return is_file(path) and "<typeSystemDescription" in beginning_of(path)[:_LOOKED_AT]
    except CluevalError:  # a file that cannot be read is not the type system
        return False


def _parsed(opened: Opened, load: Callable[[], Any]) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "error", message="Not mapping external offset"
            )  # within a character, or outside
            return load()
    except Exception as error:  # dkpro-cassis raises errors of many classes for what is not its own
        raise FormatError(f"not a CAS that dkpro-cassis reads: {error!s:.200}", file=opened.file) from error


def _text_of(opened: Opened, path: Path) -> str:
    text = opened.at(path).text()
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise FormatError("a document type declaration (DTD)", file=str(path), advice="remove it")
    return text


def _view(cas: Any, name: str | None, file: str) -> Any:
    """Return the chosen view, or the only one that has a text."""
    views = _views(cas)
    if name is None and len(views) == 1:
        return next(iter(views.values()))
    if name not in views:
        raise UsageError(
            f"the file has {len(views)} views with a text"
            if name is None
            else f"the file has no view {name!r}",
            file=file,
            advice=f"name one as annotation set: {', '.join(views) or 'none'}",
        )
    return views[name]


def _views(cas: Any) -> dict[str, Any]:
    return {sofa.sofaID: cas.get_view(sofa.sofaID) for sofa in cas.sofas if sofa.sofaString is not None}


def _set_names(opened: Opened) -> list[str]:
    return list(_views(_loaded(opened)))


def _by_type(view: Any) -> dict[str, list[Any]]:
    """Return the annotations of a view by the name of their type, without those of tokens, sentences, documents."""
    found: dict[str, list[Any]] = {}
    for each in view.select_all_annotations():
        name = each.type.name
        if hasattr(each, "begin") and hasattr(each, "end") and name.rpartition(".")[2] not in _STRUCTURE:
            found.setdefault(name, []).append(each)
    return found


def _features(annotation: Any) -> dict[str, str]:
    """Return the features of an annotation that are text, numbers or truth values."""
    values = {
        feature.name: getattr(annotation, feature.name, None) for feature in annotation.type.all_features
    }
    return {
        name: str(value)
        for name, value in values.items()
        if name not in _BASE and isinstance(value, str | int | float | bool)
    }


def _sources(
    layers: Mapping[str, int | str] | None, spans: Mapping[str, list[Any]], view: Any, file: str
) -> dict[str, _Source]:
    """Return the source of each layer. Raises `UsageError` if there is none."""
    known = {type_.name: type_ for type_ in view.typesystem.get_types()}
    wanted = layers or {DEFAULT_LAYER: _default(spans, known, file)}
    found: dict[str, _Source] = {}
    for layer, source in wanted.items():
        for name, type_ in known.items():
            for called in (name, name.rpartition(".")[2]):
                feature = str(source).removeprefix(f"{called}.")
                if source == called:
                    found[layer] = _Source(name, None)
                elif feature != source and any(feature == each.name for each in type_.all_features):
                    found[layer] = _Source(name, feature)
        if layer not in found:
            raise UsageError(
                f"the file has no source {source!r} for layer {layer!r}",
                file=file,
                advice=f"its types with annotations: {', '.join(spans) or 'none'}",
            )
    return found


def _default(spans: Mapping[str, list[Any]], known: Mapping[str, Any], file: str) -> str:
    entity = next((name for name in known if name.endswith(".NamedEntity")), None)
    if entity is not None:
        return f"{entity}.value"
    if len(spans) == 1:
        (name,) = spans
        own = [each.name for each in known[name].features if each.name not in _BASE]
        return f"{name}.{'value' if 'value' in own else own[0]}" if own else name
    raise UsageError(
        f"the file has {len(spans)} types of annotations",
        file=file,
        advice=f"name one, as in layers={ {DEFAULT_LAYER: 'Type.feature'} }: {', '.join(spans) or 'none'}",
    )


def _span(annotation: Any, layer: str, source: _Source, length: int, file: str) -> Span:
    start, end = annotation.begin, annotation.end
    if not (type(start) is int is type(end) and 0 <= start <= end <= length):
        raise SpanError(f"the span [{start},{end}) lies outside the text", file=file)
    features = _features(annotation)
    label = None if source.feature is None else features.pop(source.feature, None)
    return Span(start, end, Frozen({layer: label or NO_LABEL}), features)


def _read(opened: Opened, options: Options) -> Iterator[Document]:
    view = _view(_loaded(opened), options.annotation_set, opened.file)
    by_type = _by_type(view)
    relations = {name for name, found in by_type.items() if hasattr(found[0], _RELATION)}
    opened.passed_over["relations"] += sum(len(by_type[name]) for name in relations)
    spans = {name: found for name, found in by_type.items() if name not in relations}
    text = view.sofa_string
    layers = {
        layer: sorted(
            (_span(each, layer, source, len(text), opened.file) for each in spans.get(source.type, ())),
            key=lambda span: (span.start, -span.end),
        )
        for layer, source in _sources(options.layers, spans, view, opened.file).items()
    }
    yield Document(opened.stem, Frozen(layers), text=text, unit="character", file=opened.file)


FORMAT = Format(
    name="xmi",
    holds="UIMA CAS XMI, with its type system in `TypeSystem.xml` in the same folder, and UIMA CAS JSON; "
    "views are annotation sets",
    endings=(".xmi",),
    signs=(first_lines("<xmi:XMI"), json_key("%TYPES", "%FEATURE_STRUCTURES")),
    read=_read,
    options=frozenset({"layers"}),
    single=True,
    nameless=True,
    chooses=True,
    set_names=_set_names,
    extra="uima",
)
