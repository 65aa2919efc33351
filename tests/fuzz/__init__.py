"""Fuzzers and long runs. CARDENVS_FUZZ=long runs their long forms."""

import os

LONG = os.environ.get("CARDENVS_FUZZ") == "long"


def examples(short: int, long: int) -> int:
    """How many examples to try."""
    return long if LONG else short
