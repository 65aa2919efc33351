"""The environment of processes that torchrun starts for one run. Does not import torch."""

import os
import time

_VARIABLES = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
_GRACE_SECONDS = 5.0


def is_started_by_torchrun() -> bool:
    """Whether torchrun, or something like it, started this process as one of a run."""
    return all(name in os.environ for name in _VARIABLES)


def is_first() -> bool:
    """Whether this process prints and writes files: the first one of the run, or the only one."""
    return not is_started_by_torchrun() or os.environ["RANK"] == "0"


def local_rank() -> int:
    """Return the number of this process among the run's processes on this machine, from 0."""
    return int(os.environ.get("LOCAL_RANK", "0")) if is_started_by_torchrun() else 0


def local_size() -> int:
    """Return the number of the run's processes on this machine."""
    return int(os.environ.get("LOCAL_WORLD_SIZE", "1")) if is_started_by_torchrun() else 1


def let_the_first_speak() -> None:
    """Wait before an error is printed, in all processes but the first.

    If all processes have the error, such as an unknown setting, the first one prints it, and torchrun ends the others
    while they wait. If only this process has it, such as a missing GPU, it is printed after the wait.
    """
    if not is_first():
        time.sleep(_GRACE_SECONDS)
