"""Studies: functions of two or more sides to a `Report`.

A study takes the pairs of documents of a corpus, with options, and returns a report; `study.py` of a folder has its
functions. `errors` finds the spans that a metric counts as wrong (`search.py`), and makes the rows of tables and the
texts of places (`rows.py`), on which annotators, too, stand. `comparison` tests saved results and has the gates,
`masking` lists leaks. `profile.py` counts spans by the values of features, which `span_values.py` computes.
`decisions.py` reads what people have decided about places.
"""
