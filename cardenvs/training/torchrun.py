"""What torchrun tells the processes that it starts for one run. Does not import torch."""

import os
import time

_VARIABLES = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
_GRACE_SECONDS = 5.0


def is_started_by_torchrun() -> bool:
    """Whether this is one of the processes that torchrun, or something like it, started for one run."""
    return all(name in os.environ for name in _VARIABLES)


def local_rank() -> int:
    """Return the number of this process among those of the run on its machine, from 0."""
    return int(os.environ.get("LOCAL_RANK", "0")) if is_started_by_torchrun() else 0


def local_size() -> int:
    """Return the number of the run's processes on this machine."""
    return int(os.environ.get("LOCAL_WORLD_SIZE", "1")) if is_started_by_torchrun() else 1


def let_the_first_speak() -> None:
    """Wait before an error is printed, in all processes but the first.

    What is wrong with all of them, such as a setting that does not exist, the first one prints, and torchrun ends the
    others while they wait. What only this one meets, such as a GPU that is not there, is printed after the wait.
    """
    if is_started_by_torchrun() and os.environ["RANK"] != "0":
        time.sleep(_GRACE_SECONDS)
