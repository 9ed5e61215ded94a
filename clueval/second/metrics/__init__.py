"""The metrics, each of which counts cases or documents; they do not know one another."""
