"""The version, and the numbers that say what a result can be compared with; written here and nowhere else."""

__version__ = "0.1.0"

SCORES = 1
"""Grows with every change to any number that comes out of the same input; part of every signature."""

SCHEMA = 1
"""Grows with every change to the shape of the JSON that is no addition."""
