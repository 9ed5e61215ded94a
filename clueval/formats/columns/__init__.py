"""Shared code of the formats with one token per line.

Read `layout`, `passages`, `documents`, in this order; `made_lines` is for formats whose readers make the lines. This
package does not depend on a particular format, and does not compare files.
"""
