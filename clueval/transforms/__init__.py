"""Steps: from the pairs of documents of one text to those that count (`clueval.core.count.Step`).

`changes` has what they share, `options` makes them of options. `labels`, `counted_spans` and `alternatives` change
which spans count, and how they are labelled; `characters`, `projection`, `placing` and `locating` give them other
positions. `occurrences`, `redaction` and `recovery` work on texts.
"""
