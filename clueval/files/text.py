from clueval.textfiles import blocks as blocks  # TEMPORARY until merge
from clueval.textfiles import decoded as decoded
from clueval.textfiles import raw_content as raw_content
