"""Bounds on how often clients may do something."""

import time


class Rate:
    """A token bucket for every client address: bursts up to a minute's worth, then a steady rate."""

    def __init__(self, per_minute: float, burst: float | None = None) -> None:
        """Make it.

        Args:
            per_minute: how often a client may do it on average.
            burst: how often at once; None: as often as in a minute.
        """
        self._per_second = per_minute / 60
        self._most = per_minute if burst is None else burst
        self._left: dict[str, tuple[float, float]] = {}  # by client: tokens, and when

    def allows(self, client: str) -> bool:
        """Count one more, and return whether it is allowed."""
        now = time.monotonic()
        tokens, at = self._left.pop(client, (self._most, now))
        tokens = min(self._most, tokens + (now - at) * self._per_second)
        self._left[client] = (tokens - 1 if tokens >= 1 else tokens, now)  # the latest last
        self._forget_idle(now)
        return tokens >= 1

    def _forget_idle(self, now: float) -> None:
        """Forget the client idle for longest once its bucket is full again."""
        client, (tokens, at) = next(iter(self._left.items()))
        if tokens + (now - at) * self._per_second >= self._most and len(self._left) > 1:
            del self._left[client]
