"""`cardenvs bench`. The benchmarks are not part of the package, so it needs a checkout of the repository."""

import importlib
import sys
from pathlib import Path

import typer

from cardenvs.core.errors import CardenvsError


def bench(context: typer.Context) -> None:
    """Measure this suite and its peers side by side. Needs a checkout; all arguments go to the benchmarks.

    Example: `cardenvs bench`
    """
    root = Path(__file__).resolve().parents[2]
    if not (root / "benchmarks" / "run.py").is_file():
        raise CardenvsError(f"bench runs from a checkout of the repository; there is no folder {root / 'benchmarks'}")
    sys.path.insert(0, str(root))
    raise typer.Exit(importlib.import_module("benchmarks.run").main(context.args))
