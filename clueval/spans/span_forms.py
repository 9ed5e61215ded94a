"""Spans in the forms that people have; see `clueval.core.span_forms`."""

from clueval.core.span_forms import KEYS as KEYS
from clueval.core.span_forms import as_span as as_span
from clueval.core.span_forms import as_spans as as_spans
from clueval.core.span_forms import fields_of as fields_of
from clueval.core.span_forms import is_number as is_number
from clueval.core.span_forms import is_span as is_span
