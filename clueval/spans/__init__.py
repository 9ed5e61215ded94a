"""Spans and documents as values, and the pure algorithms on them.

Read `span`, `document`, `flat`, `index`, `components`, `match_classes`, `matching`, `merging`, in this
order; then `filters`. This package does not deal with files, tags or metrics.
"""
