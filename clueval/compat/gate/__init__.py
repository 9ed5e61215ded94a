"""GATE's evaluation: its sets, its candidate lists, its tables, its page, its indicators.

To read the package, begin with `run`, `changes`, `files`, `table`, `page`. The metric is
`clueval.first.metrics.gate`.
"""
