"""Reports as text, Markdown, TSV, JSON or HTML.

To read the package, begin with `table`, `text`, `markdown`; `page` and its templates are for web pages. The
functions take a dictionary from `Result.to_dict`, or a `Table`; nothing here depends on a metric.
"""
