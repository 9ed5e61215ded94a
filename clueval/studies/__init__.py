"""What is made of several results, or of results and errors together.

`conventions` scores under every convention at once. Nothing here reads arguments or prints.
"""
