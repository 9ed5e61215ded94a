"""Redacted texts as predictions: which spans of the original text the placeholders of a redacted text stand for.

`placeholders` finds the placeholders, `strict` reads a redacted text whose other parts stand in the original word
for word, and `recovery` uses it, or aligns the two texts if they differ in more.
"""
