"""Parallel documents become other documents, before they are counted.

Read `group`, which says what a transform is, then `characters`, `alignment`, `projection`. Nothing here reads files
or counts.
"""
