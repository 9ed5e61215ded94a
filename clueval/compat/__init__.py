"""Interfaces, file layouts and procedures of other tools; each module lists how it differs from the original.

Each module or package is for one tool and can be read alone. Only the command line imports from here.
"""
