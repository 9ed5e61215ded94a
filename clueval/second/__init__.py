"""Modules of the second edition whose names are taken by those of the first; they move to these names when those go."""
