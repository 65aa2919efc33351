"""The command line: `cardenvs --help`. `main.py` lists the commands; most have their own file.

Commands import what they need only when they run, so that help is instant.
"""

from cardenvs.cli.main import app

__all__ = ["app"]
