"""Metrics that count whole documents, for the studies that are not yet functions of a bag."""
