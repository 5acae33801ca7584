"""``python -m teddy``."""

from teddy.cli import main

main()
