"""Reports: what every study returns, in all forms, and the one page that shows any of them.

A study writes a subclass of `Report` (`report.py`): its `Content` (`content.py`), out of tables (`table.py`) and places
(`place.py`). `forms.py` has the forms for a terminal and for papers, `page.py` the web page with `page.html`, `page.js`
and `page.css`, and `language.py` finds the texts of a language.
"""
