"""The language of pages and sentences: texts from one catalogue for each language, and numbers in its manner.

The English text stands where it is used and is the key of the other languages' catalogues, ``languages/de.toml``;
values have their names in braces. A text with a number `n` has its singular and its plural, separated by ``|``. The
script of the page finds its texts in the same way, in what `texts_of` returns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from functools import cache

from clueval.files.errors import UsageError, assigned

ENGLISH = "en"
CATALOGUES = ("de",)
"""The languages with a catalogue; a page in another one is English."""

_LANGUAGES: ContextVar[tuple[str, str]] = ContextVar("languages", default=(ENGLISH, ""))


def in_language(lang: str = "", text_lang: str = "") -> AbstractContextManager[None]:
    """Have texts and numbers in a language, such as ``de``, while the context lasts; without a catalogue, in English.

    `text_lang` is the language of the corpus, by default the same. Raises `UsageError` for what is no language.

    >>> with in_language("de-AT"):
    ...     phrase("{n} more line|{n} more lines", n=1200)
    '1.200 weitere Zeilen'
    """
    for tag in filter(None, (lang, text_lang)):
        if not re.fullmatch("[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*", tag):
            raise UsageError(f"{tag!r} is not a language such as de or de-AT")
    first = (lang or ENGLISH).partition("-")[0].lower()
    return assigned(_LANGUAGES, (first if first in CATALOGUES else ENGLISH, text_lang or lang))


def current_language() -> str:
    """Return the language of texts and numbers."""
    return _LANGUAGES.get()[0]


def language_of_corpus() -> str:
    """Return the language of the texts of the corpus; empty if it is not known."""
    return _LANGUAGES.get()[1]


def phrase(text: str, /, **values: object) -> str:
    """Return a text in the language of the context, with its values; whole numbers are grouped.

    >>> phrase("{n} more line|{n} more lines", n=1), phrase("{n} more line|{n} more lines", n=1200)
    ('1 more line', '1,200 more lines')
    """
    wording = _catalogue(current_language()).get(text, text)
    if not values:
        return wording
    if "n" in values:
        singular, bar, plural = wording.partition("|")
        wording = plural if bar and values["n"] != 1 else singular
    numbers = {name: numeral(value) if type(value) is int else value for name, value in values.items()}
    return wording.format_map(numbers)


def numeral(value: float, form: str = ",") -> str:
    """Return a number in a form of `format`, with the marks of the language.

    >>> with in_language("de"):
    ...     numeral(1234.5, ",.2f")
    '1.234,50'
    """
    catalogue = _catalogue(current_language())
    text = format(value, form)
    return text.translate({ord(mark): catalogue.get(mark, mark) for mark in ",."}) if catalogue else text


@cache
def _catalogue(language: str) -> Mapping[str, str]:
    if language == ENGLISH:
        return {}
    import tomllib  # not for English
    from importlib.resources import files

    text = (files(__package__) / "languages" / f"{language}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def texts_of(script: str, words: Iterable[str] = ()) -> dict[str, str]:
    """Return the texts of a script in the language of the context: its strings and `words` that the catalogue has."""
    catalogue = _catalogue(current_language())
    strings = re.findall(r'"([^"\\\n]*)"', script)
    return {text: catalogue[text] for text in (*strings, *words) if text in catalogue}
