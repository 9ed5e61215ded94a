"""Masking: what was left unmasked, leak by leak, for the person who must decide whether texts can be published.

To read the package: `leaks` (what is listed of a document), `words` (sentences and tables), `limits` and `report`
(with what decisions change).
"""
