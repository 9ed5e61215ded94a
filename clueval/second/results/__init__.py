"""Results of `score`: their numbers, rows, tables, signatures and intervals."""
