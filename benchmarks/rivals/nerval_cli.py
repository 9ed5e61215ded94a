"""Nerval's own command, as its entry point calls it: one report per pair of files, then the means.

python benchmarks/rivals/nerval_cli.py --csv MAPPING --folder FOLDER
"""

from nerval.cli import main

if __name__ == "__main__":
    main()
