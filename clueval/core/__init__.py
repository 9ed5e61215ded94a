"""The core: spans and documents become cases, a metric counts a case, a corpus is a bag of cases.

Read these modules in this order: `span` and `document` (what is counted), `overlap` (which spans belong together),
`matching` and `merging` (CLUEval's classes and combined model), `case` (the unit of counting), `tally` and `metric`
(how a case is counted), `exact` and `levels` (two metrics), `bag` (what is kept of a corpus), `count` (the loop over a
corpus). `tags` turns tags into spans. Everything else of the package is built on these modules.
"""
