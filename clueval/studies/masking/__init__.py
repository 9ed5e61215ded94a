"""The masking report: the figures of metric `masking`, each leak, a page to sign, and limits.

`leak` has what a leak is, `collector` collects those of all documents, `found` is what a report has found, `report` the
report itself; `text` and `page` write it, `gates` compares its figures with limits.
"""
