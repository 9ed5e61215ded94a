"""Print the words of the variable OPTIONS, quoted for the shell; quotes that are not closed are an error."""

import os
import shlex
import sys

try:
    words = shlex.split(os.environ["OPTIONS"])
except ValueError as error:
    sys.exit(f"the options cannot be read: {error} (close each quote, as in --layer 'entity=2')")
print(shlex.join(words), end="")
