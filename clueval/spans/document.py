"""Documents; see `clueval.core.document`."""

from clueval.core.document import Document as Document
from clueval.core.document import MissingId as MissingId
from clueval.core.document import Sentence as Sentence
from clueval.core.document import Unit as Unit
from clueval.core.document import in_layer as in_layer
from clueval.core.document import same_id as same_id
