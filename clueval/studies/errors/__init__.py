"""`errors` and `diff`: wrong spans, place by place, of one system, of two, or of an old and a new run."""
