"""Transforms change parallel documents before they are counted.

Read `group`, which defines transforms, then `characters`, `alignment`, `projection`. This package does not
read files and does not count.
"""
