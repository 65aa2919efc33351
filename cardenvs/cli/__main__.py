"""`python -m cardenvs.cli`."""

import sys

from cardenvs.cli import app

sys.exit(app())
