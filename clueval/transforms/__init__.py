"""Parallel documents become other documents: other positions, the same spans.

Read `group`, which says what a transform is, then `characters`, `alignment`, `projection`. Nothing here reads files
or counts.
"""
