"""UIMA CAS XMI and UIMA CAS JSON, as INCEpTION and DKPro export them. Needs the extra ``uima`` (dkpro-cassis).

The rules of the format stand in ``formats.md``.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from json import dumps
from typing import Any

from clueval.core.document import Document, MissingId, Sentence
from clueval.core.span import DEFAULT_LAYER, NO_LABEL, Frozen, Span
from clueval.files.errors import CluevalError, FileError, FormatError, SpanError, UsageError, extra
from clueval.formats.documents import FileFormat
from clueval.formats.input_file import InputFile, Numbered
from clueval.formats.options import FormatOptions
from clueval.formats.uima_types import (
    STRUCTURE,
    UimaType,
    token_ranges,
    types_of,
    values_of,
    whole_tokens,
    with_texts,
    writer,
)
from clueval.formats.writer import Uses
from clueval.formats.xml_text import forbidden

_BASE = ("begin", "end", "sofa", "xmiID", "type")
_LOOKED_AT = 10_000
_SEGMENTS = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type"
_TOKEN, _SENTENCE = f"{_SEGMENTS}.Token", f"{_SEGMENTS}.Sentence"


def _cassis() -> Any:
    with extra("XMI files need dkpro-cassis", "pip install 'clueval[uima]'"):
        import cassis
    return cassis


# Reading


def _loaded(file: InputFile) -> Any:
    """Return the CAS of a file. Raises `FormatError` for what is no CAS, `FileError` without its type system."""
    content = _text_of(file)
    is_json = content.lstrip().startswith("{")
    return _cas_from(content, None if is_json else _text_of(_type_system(file)), file.name)


def _cas_from(content: Any, system: str | None, file: str | None) -> Any:
    """Return the CAS of a text, with its type system if it is XML, or of JSON that has been read."""
    cassis = _cassis()
    try:
        with warnings.catch_warnings():
            # a position within a character, or outside the text
            warnings.filterwarnings("error", message="Not mapping external offset")
            if system is None:
                return cassis.load_cas_from_json(content if isinstance(content, str) else dumps(content))
            return cassis.load_cas_from_xmi(content, typesystem=cassis.load_typesystem(system))
    except Exception as error:  # dkpro-cassis raises errors of many classes for what is not its own
        problem = str(error).partition("; use sys.")[0]  # of a number with thousands of digits
        raise FormatError(f"not a CAS that dkpro-cassis reads: {problem:.200}", file=file) from error


def _text_of(file: InputFile) -> str:
    text = file.text()
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise FormatError("a document type declaration (DTD)", file=file.name, advice="remove it")
    return text


def _type_system(file: InputFile) -> InputFile:
    """Return the type system of a file. Raises `FileError` if there is none, or if there are several."""
    archive, mark, _ = file.path.name.rpartition("!")  # of a member of an archive
    usual_files = [
        file.at(file.path.with_name(f"{archive}{mark}TypeSystem.xml")),
        file.beside(".typesystem.xml"),
    ]
    systems = [system for system in usual_files if system.exists][:1]
    if not systems and not mark:
        others = map(file.at, sorted(file.path.parent.glob("*.xml")))
        systems = [system for system in others if _has_types(system)]
    if len(systems) != 1:
        raise FileError(
            "several type systems are next to the file" if systems else "the type system is missing",
            file=file.name,
            advice=f"put {' or '.join(system.path.name for system in usual_files)} next to the file",
        )
    return systems[0]


def _has_types(file: InputFile) -> bool:
    try:
        return file.exists and "<typeSystemDescription" in file.beginning()[:_LOOKED_AT]
    except CluevalError:  # a file that cannot be read is not the type system
        return False


def _views(cas: Any) -> list[str]:
    """Return the names of the views that have a text."""
    return [sofa.sofaID for sofa in cas.sofas if sofa.sofaString is not None]


def _read(file: InputFile, options: FormatOptions) -> Iterator[Document]:
    yield _document(_loaded(file), options, file.stem, file.passed_over, file.name)


def _read_rows(
    rows: Iterable[Numbered], options: FormatOptions, passed_over: Counter[str], file: str | None
) -> Iterator[Document]:
    """Yield the documents of CAS that have been read as JSON."""
    for number, row in rows:
        try:
            document = _document(_cas_from(row, None, file), options, MissingId(number), passed_over, file)
        except CluevalError as error:
            error.line = number
            raise
        yield document


def _document(
    cas: Any, options: FormatOptions, id: str, passed_over: Counter[str], file: str | None
) -> Document:
    name, views = options.annotation_set, _views(cas)
    if len(views) != 1 if name is None else name not in views:
        problem = f"the CAS has no view {name!r}"
        if name is None:
            problem = f"the CAS has {len(views)} views with a text"
        advice = f"name one as annotation set: {', '.join(views) or 'none'}"
        raise UsageError(problem, file=file, advice=advice)
    view = cas.get_view(name or views[0])
    text = view.sofa_string
    by_type: dict[str, list[Any]] = {}
    for annotation in view.select_all_annotations():
        kind = annotation.type.name
        if (
            not hasattr(annotation, "begin")
            or not hasattr(annotation, "end")
            or kind.rpartition(".")[2] in STRUCTURE
        ):
            continue
        if hasattr(annotation, "Governor"):
            passed_over["relations"] += 1
        else:
            by_type.setdefault(kind, []).append(annotation)
    sources = _sources(options.layers, by_type, view, file)
    if options.layers is None:
        kinds = {kind for kind, _ in sources.values()}
        for kind in (kind for kind in by_type if kind not in kinds):
            passed_over[f"spans of {kind.rpartition('.')[2]}"] += len(by_type[kind])
    layers = {}
    for layer, (kind, feature) in sources.items():
        spans = [_span(annotation, layer, feature, len(text), file) for annotation in by_type.get(kind, ())]
        layers[layer] = sorted(spans, key=lambda span: (span.start, -span.end))
    ranges: dict[str, list[tuple[int, int]]] = {kind: [] for kind in (_TOKEN, _SENTENCE)}
    for kind in filter(view.typesystem.contains_type, ranges):
        ranges[kind] = sorted((annotation.begin, annotation.end) for annotation in view.select(kind))
    words = [text[start:end] for start, end in ranges[_TOKEN]]
    return Document(
        id,
        Frozen(layers),
        tokens=whole_tokens(words, text),
        text=text,
        unit="character",
        sentences=[Sentence(start, end) for start, end in ranges[_SENTENCE]],
        file=file,
    )


def _span(annotation: Any, layer: str, feature: str | None, length: int, file: str | None) -> Span:
    """Return the span of an annotation with those features that are text, numbers or truth values."""
    start, end = annotation.begin, annotation.end
    if not (type(start) is int is type(end) and 0 <= start <= end <= length):
        raise SpanError(f"the span [{start},{end}) lies outside the text", file=file)
    names = (field.name for field in annotation.type.all_features if field.name not in _BASE)
    values = {name: getattr(annotation, name, None) for name in names}
    features = {name: str(value) for name, value in values.items() if isinstance(value, str | int | float)}
    label = None if feature is None else features.pop(feature, None)
    return Span(start, end, Frozen({layer: label or NO_LABEL}), features)


def _sources(
    layers: Mapping[str, int | str] | None, by_type: Mapping[str, list[Any]], view: Any, file: str | None
) -> dict[str, tuple[str, str | None]]:
    """Return the type and the feature, or None, of each layer. Raises `UsageError` if there is none."""
    types = {kind.name: kind for kind in view.typesystem.get_types()}
    if layers is None:
        layers = {DEFAULT_LAYER: _default(by_type, types, file)}
    sources: dict[str, tuple[str, str | None]] = {}
    for layer, source in layers.items():
        for name, kind in types.items():
            for called in (name, name.rpartition(".")[2]):
                feature = str(source).removeprefix(f"{called}.")
                if source == called:
                    sources[layer] = name, None
                elif feature != source and any(feature == field.name for field in kind.all_features):
                    sources[layer] = name, feature
        if layer not in sources:
            problem = f"the CAS has no source {source!r} for layer {layer!r}"
            advice = f"its types with annotations: {', '.join(by_type) or 'none'}"
            raise UsageError(problem, file=file, advice=advice)
    return sources


def _default(by_type: Mapping[str, list[Any]], types: Mapping[str, Any], file: str | None) -> str:
    entity = next((name for name in types if name.endswith(".NamedEntity")), None)
    if entity is not None:
        return f"{entity}.value"
    if len(by_type) != 1:
        example = {DEFAULT_LAYER: "Type.feature"}
        raise UsageError(
            f"the CAS has {len(by_type)} types of annotations",
            file=file,
            advice=f"name one, as in layers={example}: {', '.join(by_type) or 'none'}",
        )
    (name,) = by_type
    features = [feature.name for feature in types[name].features if feature.name not in _BASE]
    return f"{name}.{'value' if 'value' in features else features[0]}" if features else name


# Writing


def _system(uses: Uses, types: Mapping[str, UimaType]) -> Any:
    """Return a type system with the types that occur."""
    system = _cassis().TypeSystem()
    for name, occurs in ((_TOKEN, uses.tokens), (_SENTENCE, uses.sentences)):
        if occurs:
            system.create_type(name)
    for layer, use in uses.layers.items():
        kind = system.create_type(types[layer].name)
        for feature in sorted({types[layer].label, *use.features}):
            system.create_feature(kind, feature, "uima.cas.String")
    return system


def _cas(type_names: Mapping[str, str], document: Document, layers: Sequence[str]) -> Any:
    """Return a document, which `_fit_xml` or `_fit_json` has returned, as a CAS."""
    uses = Uses()
    uses.add(document)
    types = types_of(type_names, [*layers, *document.layers])
    system = _system(uses, types)
    cas = _cassis().Cas(typesystem=system)
    cas.sofa_mime, cas.sofa_string = "text/plain", document.text
    for sentence in document.sentences:
        cas.add(system.get_type(_SENTENCE)(begin=sentence.start, end=sentence.end))
    for start, end in token_ranges(document.tokens or (), document.text or ""):
        cas.add(system.get_type(_TOKEN)(begin=start, end=end))
    for layer, spans in document.layers.items():
        annotation_type = system.get_type(types[layer].name)
        for span in spans:
            cas.add(annotation_type(begin=span.start, end=span.end, **values_of(span, types[layer])))
    return cas


def _folder_files(type_names: Mapping[str, str], uses: Uses, layers: Sequence[str]) -> dict[str, str]:
    return {"TypeSystem.xml": _system(uses, types_of(type_names, [*layers, *uses.layers])).to_xml()}


def _fit_xml(type_names: Mapping[str, str], document: Document, lost: Counter[str]) -> Document:
    """Return the document with features that are texts. Raises `UsageError` for characters that XML cannot contain."""
    document = with_texts(type_names, document, lost)
    spans = (span for layer_spans in document.layers.values() for span in layer_spans)
    texts = (
        (value, "a label or a feature") for span in spans for value in (span.label, *span.features.values())
    )
    for text, what in ((document.text or "", "the text"), *texts):
        _refuse_character(forbidden(text), "XML cannot contain", what, document)
    return document


def _fit_json(type_names: Mapping[str, str], document: Document, lost: Counter[str]) -> Document:
    """Return the document with features that are texts. Raises `UsageError` for half a UTF-16 pair in the text."""
    half = re.search("[\ud800-\udfff]", document.text or "")
    _refuse_character(half, "UIMA cannot count", "the text", document)
    return with_texts(type_names, document, lost)


def _refuse_character(match: re.Match[str] | None, problem: str, what: str, document: Document) -> None:
    if match is not None:
        problem = f"{problem} U+{ord(match[0]):04X} at position {match.start()} of {what}"
        raise UsageError(problem, **document.in_errors, advice="remove the character")


XMI = FileFormat(
    name="xmi",
    options=frozenset({"annotation_set", "layers"}),
    holds="UIMA CAS XMI, with its type system in `TypeSystem.xml` in the same folder; views are annotation sets",
    read=_read,
    is_one_document=True,
    sets=lambda file: _views(_loaded(file)),
    extra="uima",
    writer=lambda types: writer(
        types, ".xmi", lambda *arguments: _cas(*arguments).to_xmi(), _fit_xml, of_folder=_folder_files
    ),
)

UIMA_JSON = replace(
    XMI,
    name="uima-json",
    holds="UIMA CAS JSON; views are annotation sets",
    rows=_read_rows,
    writer=lambda types: writer(types, ".json", lambda *arguments: _cas(*arguments).to_json(), _fit_json),
)
