"""The language of pages and sentences: texts from one catalogue for each language, and numbers in its manner.

The English text stands where it is used and is the key of the other languages' catalogues, ``languages/de.toml``;
values have their names in braces. A text with a number `n` has its singular and its plural, separated by ``|``. The
scripts of pages find their texts in the same way, in what `texts_of` returns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

from clueval.files.errors import UsageError

ENGLISH = "en"
CATALOGUES = ("de",)
"""The languages with a catalogue; other pages are English."""

_TAG = re.compile("[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")

_SPOKEN: ContextVar[tuple[str, str]] = ContextVar("language", default=(ENGLISH, ""))


def language(text: str) -> str:
    """Return the tag of a language, as the attribute `lang` has it. Raises `UsageError` for what is none.

    >>> language("de-AT")
    'de-AT'
    """
    if not isinstance(text, str) or not _TAG.fullmatch(text):
        raise UsageError(f"{text!r} is not a language such as de or de-AT")
    return text


@contextmanager
def speaking(lang: str | None = None, text_lang: str | None = None) -> Iterator[None]:
    """Have texts and numbers in a language, such as ``de``, while the context lasts; without a catalogue, in English.

    `text_lang` is the language of the texts of the corpus, by default the same. Raises `UsageError` for what is no
    language.

    >>> with speaking("de-AT"):
    ...     phrase("{n} document|{n} documents", n=1200)
    '1.200 Dokumente'
    """
    for tag in filter(None, (lang, text_lang)):
        language(tag)
    first = (lang or ENGLISH).partition("-")[0].lower()
    token = _SPOKEN.set((first if first in CATALOGUES else ENGLISH, text_lang or lang or ""))
    try:
        yield
    finally:
        _SPOKEN.reset(token)


def spoken() -> str:
    """Return the language of texts and numbers."""
    return _SPOKEN.get()[0]


def language_of_corpus() -> str:
    """Return the language of the texts of the corpus; empty if it is not known."""
    return _SPOKEN.get()[1]


class Remark(str):
    """A text in English, in data, of which `phrase` returns the one in the language of the context."""

    text: str
    values: Mapping[str, object]

    def __new__(cls, text: str, /, **values: object) -> Remark:
        found = super().__new__(cls, phrase(text, **values))
        found.text, found.values = text, values
        return found

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)


def phrase(text: str, /, **values: object) -> str:
    """Return a text in the language of the context, with its values; whole numbers are grouped, others rounded.

    >>> phrase("{n} document|{n} documents", n=1), phrase("{n} document|{n} documents", n=1200)
    ('1 document', '1,200 documents')
    """
    if isinstance(text, Remark):
        values = {**text.values}
        text = text.text
    found = _catalogue(spoken()).get(text, text)
    if "n" in values:
        singular, bar, plural = found.partition("|")
        found = plural if bar and values["n"] != 1 else singular
    if not values:
        return found
    return found.format_map({name: _shown(value) for name, value in values.items()})


def _shown(value: object) -> object:
    if isinstance(value, Remark):
        return phrase(value)
    if type(value) is float:
        return numeral(value, ",.1f")
    return numeral(value) if type(value) is int else value


def numeral(value: float, form: str = ",") -> str:
    """Return a number in a form of `format`, with the marks of the language.

    >>> with speaking("de"):
    ...     numeral(1234.5, ",.2f")
    '1.234,50'
    """
    return format(value, form).translate(_marks(spoken()))


@cache
def _marks(spoken: str) -> dict[int, str]:
    return {ord(mark): _catalogue(spoken).get(mark, mark) for mark in ",."}


@cache
def _catalogue(spoken: str) -> Mapping[str, str]:
    if spoken == ENGLISH:
        return {}
    import tomllib  # not for English
    from importlib.resources import files

    text = (files("clueval.reports") / "languages" / f"{spoken}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


_STRING = re.compile(r'"([^"\\\n]*)"')


def texts_of(script: str, words: Iterable[str] = ()) -> dict[str, str]:
    """Return the texts of a script in the language of the context: its strings and `words` that the catalogue has."""
    catalogue = _catalogue(spoken())
    return {text: catalogue[text] for text in (*_STRING.findall(script), *words) if text in catalogue}
