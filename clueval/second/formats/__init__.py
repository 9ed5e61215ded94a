"""The file formats: engines for rows of JSON, columns and markup, and the descriptions that they read."""
