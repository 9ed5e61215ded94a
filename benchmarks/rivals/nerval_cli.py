"""Runs Nerval's own command, like its entry point: prints one report per pair of files, then the means.

python benchmarks/rivals/nerval_cli.py --csv MAPPING --folder FOLDER
"""

from nerval.cli import main

if __name__ == "__main__":
    main()
