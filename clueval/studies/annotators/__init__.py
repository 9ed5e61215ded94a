"""Annotators against each other: agreement, disagreements, and one gold out of many.

An *annotator* is a named source of spans. It has *annotated* each document that it has, with spans or without; a
document is *shared* if two annotators or more have it, and only shared documents count. `agree` has the numbers,
`curate` the gold. To read the package, begin with `places`; `counting` adds up what `report` divides; `source`
reads the documents of the annotators, `clusters` their column files without building documents.
"""
