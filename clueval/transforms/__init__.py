"""Parallel documents become other documents: other positions, the same spans.

Read `characters`, `alignment`, `projection`. Nothing here reads files or counts.
"""
