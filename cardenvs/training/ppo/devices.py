"""The device and the threads that a run computes with."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from cardenvs.core.errors import OptionError
from cardenvs.core.text import one_line
from cardenvs.training.torchrun import local_rank, local_size

MOST_THREADS = 8  # more threads do not speed up networks of this size


def usable_device(name: str) -> str:
    """Return the device "cpu", "cuda" or "auto" stands for; with several processes, each gets a GPU of its machine.

    Raises:
        OptionError: torch cannot compute there.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        if name == "cuda" and local_size() > 1:
            name = f"cuda:{local_rank()}"
            torch.cuda.set_device(name)
        torch.zeros(1, device=name).item()  # fails on the device "meta", which has no values
    except (RuntimeError, AssertionError, NotImplementedError, ImportError) as error:
        reason = one_line((str(error).strip() or type(error).__name__).splitlines()[0], 200)
        raise OptionError(f"device {name!r} cannot be used here: {reason}; choose cpu, cuda or auto") from error
    return name


def device_name(device: torch.device) -> str:
    """Return the name of a GPU, such as "NVIDIA H200", or the kind of another device, such as "cpu"."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


@contextmanager
def torch_threads(threads: int) -> Iterator[None]:
    """Limit torch to this many threads inside the block; 0: one per core and process, up to MOST_THREADS."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    before = torch.get_num_threads()
    torch.set_num_threads(threads or max(1, min(cores // local_size(), MOST_THREADS)))
    try:
        yield
    finally:
        torch.set_num_threads(before)
