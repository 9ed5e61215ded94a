"""The offline page: clueval in one HTML file, which a browser opens without an installation and without a network.

``python -m clueval.browser --pyodide FOLDER -o clueval.html`` builds it (`__main__`). In the page, `page.js` shows
files, menus and results; `worker.js` runs Python in a worker; `jobs` turns what was chosen into a command line, and
runs it. `texts.json` has the texts of the page by language. This package is not part of the wheel.
"""
