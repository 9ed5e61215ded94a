"""The masking report: the figures of metric `masking`, each leak, a page to sign, and limits.

`leak` has what a leak is, `collector` collects those of all documents, `documents` has the documents to review, `found`
is what a report has found, `report` the report itself, with its limits; `page` and `workbook` write it.
"""
