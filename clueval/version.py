"""The version of clueval, of its scores and of its JSON."""

__version__ = "0.1.0"

SCORES = 2
"""Increased with every change to a number computed from the same input; part of every signature."""

SCHEMA = 1
"""Increased with every change to the shape of the JSON, except additions."""
