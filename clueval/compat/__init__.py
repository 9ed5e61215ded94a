"""Faces that other tools' users expect; each says in its docstring where it behaves better than its original."""
