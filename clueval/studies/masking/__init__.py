"""The masking report: the figures of metric `masking`, each leak, a page to sign, and limits.

`leak` has what a leak is, `collector` collects those of all documents, `report` is the report itself; `text` and `page`
write it, `gates` compares its figures with limits.
"""
