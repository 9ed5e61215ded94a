"""The guide: Markdown pages, which lie next to this file, as text for a terminal and as a small website.

The name of a file is ``PREFIX-NAME.md``; the prefix is the section (`pages.SECTIONS`). The first line of a page is
its title, the first paragraph says what the page is for. Every code block of a page runs in the tests.
"""
