"""Two column files read together: what is equal on both sides is counted without being decoded.

Read `entrance`, `reader`, `compare`, `hunks`, `narrowing`, `tag_runs`, in this order. Every result is that of reading
the documents of both files one by one, which stays the model.
"""
