"""What everything else stands on: errors, limits, opening and writing files. It imports nothing of clueval."""
