"""Redacted texts: the spans of an original text that placeholders stand for in its redacted version.

`placeholders` finds the placeholders, `strict` reads a redacted text whose other parts stand in the original word
for word, `recovery` uses it, or aligns the texts if they differ in more.
"""
