"""Bounds on how often clients may do something."""

import math
import time


class Rate:
    """A token bucket for each client: bursts up to a bound, then a steady rate."""

    def __init__(self, per_minute: float, burst: float | None = None) -> None:
        """Fill all buckets: `burst` requests at once, by default those of a minute, and `per_minute` on average."""
        self._per_second = per_minute / 60
        self._most = per_minute if burst is None else burst
        self._left: dict[str, tuple[float, float]] = {}  # by client: tokens, and the time at which they were counted

    def allows(self, client: str) -> bool:
        """Return whether a client may act now, and count it if so."""
        return self.delay(client) == 0

    def delay(self, client: str) -> float:
        """Return the seconds until a client may act. At 0 it may act now, and is counted."""
        now = time.monotonic()
        tokens, at = self._left.pop(client, (self._most, now))
        tokens = min(self._most, tokens + (now - at) * self._per_second)
        self._left[client] = (tokens - 1 if tokens >= 1 else tokens, now)  # last in order
        self._forget_idle(now)
        if tokens >= 1:
            return 0.0
        return (1 - tokens) / self._per_second if self._per_second else math.inf

    def _forget_idle(self, now: float) -> None:
        """Forget the client that has been idle longest if its bucket is full again."""
        client, (tokens, at) = next(iter(self._left.items()))
        if tokens + (now - at) * self._per_second >= self._most and len(self._left) > 1:
            del self._left[client]
