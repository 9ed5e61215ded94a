from clueval.exceptions import *  # noqa: F403  TEMPORARY until merge
from clueval.exceptions import described, require_kind  # noqa
