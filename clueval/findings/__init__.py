"""Error tables: the wrong spans, the spans of the other side that overlap them, and the text around them.

To read the package, begin with `table`, `context`, `choice`, `clusters`, `places`, `stream`, in this order; `fair`
and `noisy` have the errors of these two metrics, `rows`, `text`, `xlsx` and `page` the output forms. Nothing here
depends on results or processes.
"""
