"""XML with a text and spans: how formats are described, and the descriptions.

i2b2 (n2c2) from 2014 on, and MEDDOCAN: ``<TEXT>`` has the text, usually as CDATA; the children of ``<TAGS>`` are spans,
with ``start``, ``end`` (exclusive), ``text`` and ``TYPE``. In 2006, each ``<RECORD ID="1">`` is a document whose spans
are elements in its ``<TEXT>``. Sources: ``TYPE`` (the default), ``category`` (the name of the element), or another
attribute. loio's tagging format is a ``<body>`` whose ``<e>`` are spans without labels; all else is an error in it.

Sources: the annotation guidelines of the 2014 i2b2/UTHealth shared task, track 1; the data of the challenge of 2006
(Uzuner, Luo and Szolovits 2007); the format of ``loio_metrics``, the library of Serge Sotnyk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from clueval.formats.input_file import Head

CATEGORY = "category"
"""The source of labels that is the name of an element."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Markup:
    """How a format of XML is read. A path has the names of elements from the outermost on, ``*`` for any.

    Attributes:
        name, holds: the name of the format, and what its files hold.
        signs: texts of which the beginning of a file has one.
        text: the path of the element that has the text.
        document, id: the path of a document and the attribute of its id, if a file has several.
        inline: the name of the elements in the text that are spans, ``*``: of any name; none if there are none.
        tags: the path of the elements with positions, whose attributes are `start`, `end` and `reference`.
        label: the attribute of the label; none if spans have no labels.
        named_by_file: whether the id of the only document of a file is the name of the file.
        strict: whether other elements, attributes, comments and instructions are errors.
    """

    name: str
    holds: str
    signs: tuple[str, ...]
    text: str
    document: str = ""
    id: str = ""
    inline: str = ""
    tags: str = ""
    start: str = "start"
    end: str = "end"
    reference: str = "text"
    label: str = ""
    strict: bool = False
    named_by_file: bool = True
    endings: ClassVar[tuple[str, ...]] = ()

    @property
    def options(self) -> frozenset[str]:
        """The options that apply to it."""
        return frozenset({"layers"} if self.label else ())

    @property
    def recognised_by(self) -> str:
        """How files are recognised, in words."""
        return " or ".join(f"`{sign}`" for sign in self.signs)

    def is_told(self, head: Head) -> bool:
        """Return whether a file with this beginning has the format."""
        return any(sign in line for sign in self.signs for line in head.lines)


I2B2 = Markup(
    name="i2b2",
    holds="XML of the i2b2 challenges: `<TEXT>`, and `<TAGS>` with `start`, `end` (exclusive), `text` and `TYPE`",
    signs=("<deIdi2b2", "<MEDDOCAN", "<TEXT><![CDATA["),
    text="*/TEXT",
    tags="*/TAGS/*",
    label="TYPE",
)

I2B2_2006 = Markup(
    name="i2b2-2006",
    holds='XML of the i2b2 challenge of 2006: `<RECORD ID="1">` with spans in its text, as `<PHI TYPE="DATE">`',
    signs=("<RECORD ID=",),
    text="*/RECORD/TEXT",
    document="*/RECORD",
    id="ID",
    inline="*",
    label="TYPE",
)

LTF = Markup(
    name="ltf",
    holds="loio's tagging format: an XML text whose `<e>` are the spans; no labels",
    signs=("<body>", "<body/>"),
    text="body",
    inline="e",
    strict=True,
    named_by_file=False,
)
