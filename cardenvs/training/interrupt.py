"""Ctrl-C during long work."""

import signal
import threading
from collections.abc import Callable
from typing import Self


class Interrupt:
    """In a `with` statement, the first Ctrl-C requests a stop at the next good moment; the second stops at once."""

    def __init__(self, note: Callable[[], None]) -> None:
        """Call `note` at the first Ctrl-C."""
        self.requested = False  # whether a stop was requested
        self._note = note

    def __enter__(self) -> Self:
        self._in_main = threading.current_thread() is threading.main_thread()
        if self._in_main:
            self._before = signal.signal(signal.SIGINT, self._on_signal)
        return self

    def __exit__(self, *error: object) -> None:
        if self._in_main:
            signal.signal(signal.SIGINT, self._before)

    def _on_signal(self, *_: object) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        self._note()
