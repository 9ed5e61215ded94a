"""The formats by name: where their descriptions are, and what files and rows of each begin with."""

from __future__ import annotations

from typing import NamedTuple


class Described(NamedTuple):
    """Where the description of a format is: its name, its module, and the name of the value.

    `marks` are texts of which a file that has the format has one in its first three lines, or keys of which its first
    row has one if it is a format of JSON (``[]``: it is a list); none: any file may have it. `endings` are those of
    names of its files. `is_one_text`: only a file whose lines are one text has it.
    """

    name: str
    module: str
    value: str
    marks: tuple[str, ...] = ()
    is_json: bool = False
    endings: tuple[str, ...] = ()
    is_one_text: bool = False


RECOGNISED = (
    Described(
        "conll2012", "conll2012", "CONLL2012", ("#begin document",), endings=(".gold_conll", ".auto_conll")
    ),
    Described("webanno", "webanno", "WEBANNO", ("#FORMAT=WebAnno", "#id=")),
    Described("xmi", "uima", "XMI", ("<xmi:XMI",), endings=(".xmi",)),
    Described("i2b2", "markup", "I2B2", ("<",)),
    Described("i2b2-2006", "markup", "I2B2_2006", ("<",)),
    Described("conllu", "conllu", "CONLLU", ("#", "1"), endings=(".conllu", ".conllup")),
    Described("ltf", "markup", "LTF", ("<body",)),
    Described("gate-xml", "gate_xml", "GATE_XML", ("<GateDocument",)),
    Described("uima-json", "uima", "UIMA_JSON", ("%TYPES", "%FEATURE_STRUCTURES"), is_json=True),
    Described("bdoc", "bdoc", "BDOC", ("annotation_sets",), is_json=True),
    Described("label-studio", "label_studio", "LABEL_STUDIO", ("data", "annotator"), is_json=True),
    Described("langextract", "text_dialects", "LANGEXTRACT", ("extractions",), is_json=True),
    Described("ai4privacy", "text_dialects", "AI4PRIVACY", ("privacy_mask", "unmasked_text"), is_json=True),
    Described("nemotron", "text_dialects", "NEMOTRON", ("text_tagged",), is_json=True),
    Described("presidio", "service_dialects", "PRESIDIO_SAMPLES", ("full_text",), is_json=True),
    Described(
        "presidio",
        "service_dialects",
        "PRESIDIO_RESULTS",
        ("results", "recognizer_results", "analyzer_results"),
        is_json=True,
    ),
    Described("presidio", "service_dialects", "PRESIDIO_ANSWERS", ("[]",), is_json=True),
    Described("gliner", "token_dialects", "GLINER", ("tokenized_text",), is_json=True),
    Described("spert", "token_dialects", "SPERT", ("tokens",), is_json=True),
    Described("comprehend", "service_dialects", "COMPREHEND", ("File",), is_json=True),
    Described("prodigy", "text_dialects", "PRODIGY", is_json=True),
    Described("spacy-json", "token_dialects", "SPACY_2", ("paragraphs",), is_json=True),
    Described("spacy-json", "token_dialects", "SPACY", ("[]", "ents", "classes"), is_json=True),
    Described("w2ner", "token_dialects", "W2NER", ("sentence",), is_json=True),
    Described("token-rows", "token_dialects", "TOKEN_ROWS", ("tokens", "words"), is_json=True),
    Described("doccano", "text_dialects", "DOCCANO", is_json=True),
    Described("tab", "text_dialects", "TAB", is_json=True),
    Described("tab", "text_dialects", "TAB_PREDICTIONS", is_json=True),
    Described("mentions", "mentions", "MENTIONS", ("response", "output", "completion"), is_json=True),
    Described("vrt", "vrt", "VRT", ("<",), endings=(".vrt", ".vert")),
    Described(
        "spans",
        "tables",
        "SPANS",
        ("start", "Start", "begin", "Begin", "von", "Von", '"'),
        endings=(".xlsx",),
    ),
    Described("fair-spans", "fair", "FAIR_SPANS", ("\t",)),
    Described("tags", "tags", "TAGS"),
    Described("nerval", "nerval", "NERVAL", is_one_text=True),
    Described("conll", "conll", "HIPE"),
    Described("conll", "conll", "NUMBERED"),
    Described("conll", "conll", "CONLL"),
)
"""The descriptions of formats that are recognised, in the order in which they are tried."""

NAMED = (
    Described("brat", "brat", "BRAT", endings=(".ann", ".a1")),
    Described("docbin", "docbin", "DOCBIN", endings=(".spacy",)),
    Described("inline", "inline", "INLINE"),
    Described("conll2000", "fair", "CONLL2000"),
)
"""Those of formats that are recognised by the ending of a name alone, or must be named."""

ALL = (*RECOGNISED, *NAMED)

NAMES = tuple(dict.fromkeys(entry.name for entry in ALL))
"""The names of all formats."""
