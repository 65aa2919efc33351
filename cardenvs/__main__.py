"""`python -m cardenvs`."""

import sys

from cardenvs.cli import app

sys.exit(app())
