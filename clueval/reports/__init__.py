"""A table becomes text, Markdown, TSV, JSON or HTML.

Read `table`, `text`, `markdown`; `page` and its templates are for web pages. What is shown is a dictionary, as
`Result.to_dict` gives it, or a `Table`; nothing here is to know a metric.
"""
