"""Studies: functions of two or more sides to a `Report`.

A study takes the pairs of documents of a corpus, with options, and returns a report. `wrong.py` finds the spans that a
metric counts as wrong, and `rows.py` makes the rows of tables and the texts of places. On these stand `errors.py`,
`systems.py` (two systems, or an old and a new run); `errors_view.py` has what they show, and `compared.py` the
functions. `profile.py` counts spans by the values of features, which `span_values.py` computes.
"""
