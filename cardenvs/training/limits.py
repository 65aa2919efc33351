"""When a run ends."""

from dataclasses import dataclass

from cardenvs.core.errors import OptionError


@dataclass(frozen=True)
class Limits:
    """The limits of a run, which ends at the first one it reaches.

    Attributes:
        total_steps: decisions of all players in all games; None: no such limit.
        seconds: training time, evaluations included; None: no such limit. Schedules then follow the clock, so a seed
            does not reproduce the same numbers.

    Raises:
        OptionError: a limit is not above 0.
    """

    total_steps: float | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name, limit in vars(self).items():
            if limit is not None and not limit > 0:
                raise OptionError(f"{name} must be above 0; got {limit:g}")

    def __bool__(self) -> bool:
        """Whether there is a limit."""
        return self != Limits()

    def fraction(self, steps: int, seconds: float) -> float:
        """Return the share of the run that is done after some steps and seconds, 0 to 1."""
        done = 0.0 if self.total_steps is None else steps / self.total_steps
        return min(1.0, done if self.seconds is None else max(done, seconds / self.seconds))

    def __str__(self) -> str:
        return f"{self.seconds:g} seconds" if self.seconds else f"{self.total_steps or 0:,.0f} steps"
