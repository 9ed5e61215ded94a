"""The masking report: the figures of metric `masking`, each leak, a page to sign, and limits.

`leak` has the leaks of a document, `collector` those of all, `found` what a report has found, `report` the report
itself; `text`, `table` and `page` write it, `gates` compares its figures with limits.
"""
