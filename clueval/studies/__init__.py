"""Studies: what combines several results, or results and errors.

`conventions` scores under every convention in one pass. Nothing here reads arguments or prints.
"""
