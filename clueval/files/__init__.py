"""What everything else stands on: errors, limits, opening and writing files. This package imports nothing of clueval."""
