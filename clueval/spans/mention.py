"""The names under which spans and documents of language models hold what has no position yet.

A format writes them, and `clueval.transforms.locating` reads them.
"""

MENTION = "mention"
"""The feature of a span with its text, whose place in the text of gold is not known."""

OFFSETS = "offsets"
"""The feature with the start and the end that an answer gives for a mention; -1 for what is no number."""

UNPARSABLE = "unparsable"
"""The metadata of a document with the number of parts of an answer that could not be read."""
