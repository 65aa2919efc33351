"""The command line: `cardenvs --help`. `main.py` lists the commands; most have a file of their own.

Commands import what they need when they run, so that help is instant.
"""

from cardenvs.cli.main import app

__all__ = ["app"]
