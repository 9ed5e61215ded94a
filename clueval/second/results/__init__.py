"""Results: a corpus is counted into a bag, and every number of a result is computed from its bag."""
