"""The limits within which an agent plays."""

from dataclasses import dataclass

from cardenvs.core.errors import AgentError

ON_FAILURE = ("forfeit", "forced_action")
ISOLATION = ("auto", "none", "thread", "process")


@dataclass(frozen=True)
class AgentLimits:
    """The limits of an agent, and what happens when it fails.

    Attributes:
        time_limit: seconds for each try of a decision, and for each `reset` and `observe`; None: no limit. Not checked
            for agents that limit their time themselves (`enforces_time_limit`).
        tries: most tries per decision.
        on_failure: what happens after the last try: "forfeit" or "forced_action".
        isolation: "auto", "none", "thread" or "process"; see cardenvs.agents.guarded.proxy.
        memory_limit_mb: limit on each process's data, and on what all processes of an agent use together; None: none.
        start_limit: seconds until a process must be ready.
        keep_env: environment variables that a process gets even if their names look like those of secrets.
    """

    time_limit: float | None = 30.0
    tries: int = 3
    on_failure: str = "forfeit"
    isolation: str = "auto"
    memory_limit_mb: int | None = 4096
    start_limit: float = 120.0
    keep_env: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Reject invalid limits."""
        if self.on_failure not in ON_FAILURE:
            raise AgentError(f"on_failure is {' or '.join(ON_FAILURE)}; got {self.on_failure!r}")
        if self.isolation not in ISOLATION:
            raise AgentError(f"isolation is one of {', '.join(ISOLATION)}; got {self.isolation!r}")
        if self.tries < 1 or (self.time_limit is not None and self.time_limit <= 0) or self.start_limit <= 0:
            raise AgentError("an agent needs at least one try, and time limits above zero")
        if self.memory_limit_mb is not None and self.memory_limit_mb <= 0:
            raise AgentError(f"memory_limit_mb is a number of megabytes above zero; got {self.memory_limit_mb}")
