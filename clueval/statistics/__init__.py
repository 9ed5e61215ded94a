"""Pure formulas: numbers in, numbers out. Nothing here knows spans, documents or files."""
