"""UIMA CAS XMI and UIMA CAS JSON, as INCEpTION and DKPro export them. Needs the extra ``uima`` (dkpro-cassis).

The rules of the format stand in ``formats.md``.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from clueval.core.document import Document, Sentence
from clueval.core.span import DEFAULT_LAYER, NO_LABEL, Frozen, Span
from clueval.files.errors import CluevalError, FileError, FormatError, SpanError, UsageError, extra
from clueval.formats.file_format import FileFormat
from clueval.formats.input_file import InputFile
from clueval.formats.options import FormatOptions
from clueval.formats.uima_types import (
    STRUCTURE,
    UimaType,
    token_ranges,
    types_of,
    values_of,
    with_texts,
    writer,
)
from clueval.formats.writer import Uses
from clueval.formats.xml_text import forbidden

_BASE = ("begin", "end", "sofa", "xmiID", "type")
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


def _loaded(file: InputFile) -> Any:
    """Return the CAS of a file. Raises `FormatError` for what is no CAS, `FileError` without its type system."""
    cassis = _cassis()
    content = _text_of(file)
    if content.lstrip().startswith("{"):
        return _parsed(file, partial(cassis.load_cas_from_json, content))
    system = _text_of(_type_system(file))
    return _parsed(file, lambda: cassis.load_cas_from_xmi(content, typesystem=cassis.load_typesystem(system)))


def _type_system(file: InputFile) -> InputFile:
    """Return the type system of a file. Raises `FileError` if there is none, or if there are several."""
    archive, mark, _ = file.path.name.rpartition("!")  # of a member of an archive
    named = [
        file.at(file.path.with_name(f"{archive}{mark}TypeSystem.xml")),
        file.beside(".typesystem.xml"),
    ]
    found = [each for each in named if each.exists][:1]
    if not found and not mark:
        others = map(file.at, sorted(file.path.parent.glob("*.xml")))
        found = [each for each in others if _has_types(each)]
    if len(found) == 1:
        return found[0]
    raise FileError(
        "several type systems are next to the file" if found else "the type system is missing",
        file=file.name,
        advice=f"put {' or '.join(each.path.name for each in named)} next to the file",
    )


def _has_types(file: InputFile) -> bool:
    try:
        return file.exists and "<typeSystemDescription" in file.beginning()[:_LOOKED_AT]
    except CluevalError:  # a file that cannot be read is not the type system
        return False


def _parsed(file: InputFile, load: Callable[[], Any]) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "error", message="Not mapping external offset"
            )  # within a character, or outside
            return load()
    except Exception as error:  # dkpro-cassis raises errors of many classes for what is not its own
        raise FormatError(f"not a CAS that dkpro-cassis reads: {error!s:.200}", file=file.name) from error


def _text_of(file: InputFile) -> str:
    text = file.text()
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise FormatError("a document type declaration (DTD)", file=file.name, advice="remove it")
    return text


def _view(cas: Any, name: str | None, file: str) -> Any:
    """Return the chosen view, or the only one that has a text."""
    views = {sofa.sofaID: cas.get_view(sofa.sofaID) for sofa in cas.sofas if sofa.sofaString is not None}
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


def sets_in(file: InputFile) -> list[str]:
    """Return the names of the views of a file that have a text."""
    return [sofa.sofaID for sofa in _loaded(file).sofas if sofa.sofaString is not None]


def _by_type(view: Any) -> dict[str, list[Any]]:
    """Return the annotations of a view by the name of their type, without those of tokens, sentences, documents."""
    found: dict[str, list[Any]] = {}
    for each in view.select_all_annotations():
        name = each.type.name
        if hasattr(each, "begin") and hasattr(each, "end") and name.rpartition(".")[2] not in STRUCTURE:
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


def _read(file: InputFile, options: FormatOptions) -> Iterator[Document]:
    view = _view(_loaded(file), options.annotation_set, file.name)
    by_type = _by_type(view)
    relations = {name for name, found in by_type.items() if hasattr(found[0], _RELATION)}
    file.passed_over["relations"] += sum(len(by_type[name]) for name in relations)
    spans = {name: found for name, found in by_type.items() if name not in relations}
    text = view.sofa_string
    sources = _sources(options.layers, spans, view, file.name)
    if options.layers is None:
        read = {source.type for source in sources.values()}
        for name in (name for name in spans if name not in read):
            file.passed_over[f"spans of {name.rpartition('.')[2]}"] += len(spans[name])
    layers = {
        layer: sorted(
            (_span(each, layer, source, len(text), file.name) for each in spans.get(source.type, ())),
            key=lambda span: (span.start, -span.end),
        )
        for layer, source in sources.items()
    }
    tokens, sentences = (sorted(_places(view, name)) for name in (_TOKEN, _SENTENCE))
    words = [text[start:end] for start, end in tokens]
    yield Document(
        file.stem,
        Frozen(layers),
        tokens=words
        if _without_blanks(words) == _without_blanks([text]) != ""
        else None,  # not those of a part
        text=text,
        unit="character",
        sentences=[Sentence(start, end) for start, end in sentences],
        file=file.name,
    )


def _without_blanks(texts: Iterable[str]) -> str:
    return "".join(part for text in texts for part in text.split())


def _places(view: Any, name: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges of tokens or sentences."""
    if view.typesystem.contains_type(name):
        yield from ((each.begin, each.end) for each in view.select(name))


_SEGMENTS = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type"
_TOKEN, _SENTENCE = f"{_SEGMENTS}.Token", f"{_SEGMENTS}.Sentence"


def _system(cassis: Any, uses: Uses, types: Mapping[str, UimaType]) -> Any:
    """Return a type system with the types that occur."""
    system = cassis.TypeSystem()
    for name, occurs in ((_TOKEN, uses.tokens), (_SENTENCE, uses.sentences)):
        if occurs:
            system.create_type(name)
    for layer, use in uses.layers.items():
        made = system.create_type(types[layer].name)
        for feature in sorted({types[layer].label, *use.features}):
            system.create_feature(made, feature, "uima.cas.String")
    return system


def _cas(document: Document, layers: Sequence[str], given: Mapping[str, str]) -> Any:
    """Return a document, which `_fit` has returned, as a CAS."""
    cassis = _cassis()
    uses = Uses()
    uses.add(document)
    types = types_of(given, [*layers, *document.layers])
    system = _system(cassis, uses, types)
    cas = cassis.Cas(typesystem=system)
    cas.sofa_mime, cas.sofa_string = "text/plain", document.text
    ranges = {
        _SENTENCE: [(each.start, each.end) for each in document.sentences],
        _TOKEN: token_ranges(document.tokens or (), document.text or ""),
    }
    for name, places in ranges.items():
        for start, end in places:
            cas.add(system.get_type(name)(begin=start, end=end))
    for layer, spans in document.layers.items():
        of = system.get_type(types[layer].name)
        for span in spans:
            cas.add(of(begin=span.start, end=span.end, **values_of(span, types[layer])))
    return cas


def _folder_files(given: Mapping[str, str], uses: Uses, layers: Sequence[str]) -> dict[str, str]:
    types = types_of(given, [*layers, *uses.layers])
    return {"TypeSystem.xml": _system(_cassis(), uses, types).to_xml()}


def _fit_xml(given: Mapping[str, str], document: Document, lost: Counter[str]) -> Document:
    """Return the document with features that are texts. Raises `UsageError` for characters that XML cannot contain."""
    document = with_texts(given, document, lost)
    spans = (span for of_layer in document.layers.values() for span in of_layer)
    texts = (
        (value, "a label or a feature") for span in spans for value in (span.label, *span.features.values())
    )
    for text, what in ((document.text or "", "the text"), *texts):
        if (found := forbidden(text)) is not None:
            raise UsageError(
                f"XML cannot contain U+{ord(found[0]):04X} at position {found.start()} of {what}",
                **document.in_errors,
                advice="remove the character",
            )
    return document


def _fit_json(given: Mapping[str, str], document: Document, lost: Counter[str]) -> Document:
    """Return the document with features that are texts. Raises `UsageError` for half a UTF-16 pair in the text."""
    if (found := re.search("[\ud800-\udfff]", document.text or "")) is not None:
        raise UsageError(
            f"UIMA cannot count U+{ord(found[0]):04X} at position {found.start()} of the text",
            **document.in_errors,
            advice="remove the character",
        )
    return with_texts(given, document, lost)


XMI = FileFormat(
    name="xmi",
    options=frozenset({"annotation_set", "layers"}),
    holds="UIMA CAS XMI, with its type system in `TypeSystem.xml` in the same folder; views are annotation sets",
    read=_read,
    single=True,
    sets=sets_in,
    extra="uima",
    writer=lambda types: writer(
        types,
        ".xmi",
        lambda given, document, layers: _cas(document, layers, given).to_xmi(),
        _fit_xml,
        of_folder=_folder_files,
    ),
)

UIMA_JSON = FileFormat(
    name="uima-json",
    options=frozenset({"annotation_set", "layers"}),
    holds="UIMA CAS JSON; views are annotation sets",
    read=_read,
    single=True,
    sets=sets_in,
    extra="uima",
    writer=lambda types: writer(
        types, ".json", lambda given, document, layers: _cas(document, layers, given).to_json(), _fit_json
    ),
)
