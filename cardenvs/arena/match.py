"""Matches: a game, agents, a seed and a number of duplicate deals, and the games these define."""

import dataclasses
import functools
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from cardenvs.agents.seeds import MatchSeed, guest_seed
from cardenvs.agents.specs import agent_conditions, agent_fingerprint, is_guest
from cardenvs.arena.schedule import ROUND_ROBIN, Schedule
from cardenvs.core.errors import ArenaError
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.registry import get_game
from cardenvs.core.rng import SEED_MASK, derived_seed
from cardenvs.core.text import check_name, numbered, one_line

if TYPE_CHECKING:
    from cardenvs.agents.guarded.guest import Guest
    from cardenvs.agents.guarded.limits import AgentLimits
    from cardenvs.arena.results.statistics import Summary

MOST_DEALS = 10**15


@dataclass(frozen=True)
class Match:
    """A comparison of agents on duplicate deals.

    Every lineup of the schedule plays every deal: by default each combination of agents that fills the table, in every
    seating (up to three players) or rotation (more than three). All games of a deal have the same cards. The seed of a
    built-in agent depends on the deal and its name only, not on its seat or opponents. A guest (`python:`, `process:`,
    `llm:`) gets a different seed for each game, which reveals nothing about the deal.

    Attributes:
        game: the Game.
        options: its checked options.
        agents: specs, see cardenvs.agents.specs; at least one per player.
        deals: number of deals, 1 to MOST_DEALS.
        seed: seed of all cards and agents; drawn if not given. An int or text is converted.
        labels: a name for each agent; empty: their specs.
        schedule: who meets whom, and who sits where.
        guard: limits on agents and what happens when they fail, see cardenvs.agents.guarded.proxy; None: agents are
            called directly, and the first failure ends the match.
        guest: identifies the agent of that name as a submission, which plays in a separate process; needs a guard.
    """

    game: Game
    options: Options
    agents: tuple[str, ...]
    deals: int
    seed: MatchSeed = field(default_factory=lambda: MatchSeed.of(None))
    labels: tuple[str, ...] = ()
    schedule: Schedule = ROUND_ROBIN
    guard: "AgentLimits | None" = None
    guest: "Guest | None" = None

    def __post_init__(self) -> None:
        """Check the fields."""
        object.__setattr__(self, "seed", MatchSeed.of(self.seed))
        if self.guest is not None and self.guard is None:
            raise ArenaError("a match with a guest needs a guard")
        if not 1 <= self.deals <= MOST_DEALS:
            raise ArenaError(f"a match needs at least one deal; got {self.deals} (at most {MOST_DEALS:,})")
        if len(self.agents) < self.options.num_players and self.schedule.kind not in ("field", "fixed"):
            raise ArenaError(
                f"{self.game.name} is played by {self.options.num_players} here, so a match needs at least as many "
                f"agents; got {len(self.agents)}: {', '.join(self.agents)} (an agent may be listed twice)"
            )
        for label in self.labels:
            check_name(label, "an agent", ArenaError)
        for spec in self.agents:
            if not spec.isprintable():
                raise ArenaError(f"the agent {one_line(spec, 80)} is not a valid spec: it has unprintable characters")
        if self.labels and (len(self.labels) != len(self.agents) or len(set(self.labels)) != len(self.labels)):
            raise ArenaError(f"each agent of a match needs a different name; got {', '.join(self.labels)}")

    @classmethod
    def of(
        cls, game: str, agents: Sequence[str], deals: int, seed: int | str | MatchSeed | None = None, **options: Any
    ) -> Self:
        """Make a match from the name of a game.

        Args:
            game: name of the game.
            agents: specs of the agents.
            deals: number of deals.
            seed: 0..2**63-1, or the token of another match (`match.seed.token`) to repeat it. None draws a secret.
            options: options of the game.

        Raises:
            GameNotFoundError: there is no such game.
            OptionError: an option is unknown or invalid.
            ArenaError: there are too few agents or deals, or the seed is invalid.
        """
        found = get_game(game)
        return cls(found, found.make_options(**options), tuple(agents), deals, MatchSeed.of(seed))

    @classmethod
    def stored(
        cls,
        match_id: str,
        game: str,
        options: dict[str, Any],
        agents: list[dict[str, Any]],
        deals: int,
        seed: MatchSeed,
        layout: str | None,
        schedule: dict[str, Any],
        guard: dict[str, Any] | None,
    ) -> Self:
        """Rebuild a match from its row in a store. Its id stays the same even if its agents have changed or are gone.

        Raises:
            ArenaError: it was played with another version of its game.
            GameNotFoundError, OptionError: its game is not installed, or its options have changed.
        """
        found = get_game(game)
        checked = found.make_options(**options)
        if layout is not None and layout != found.layout(checked).hash:
            raise ArenaError(f"match {match_id} was played with another version of {game} (its observation differs)")
        guarded = None
        if guard is not None:
            from cardenvs.agents.guarded.limits import AgentLimits

            read: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in guard.items()}
            guarded = AgentLimits(**read)
        names, specs = ([agent[key] for agent in agents] for key in ("name", "spec"))
        labels = () if tuple(names) == numbered(specs) else tuple(names)
        match = cls(found, checked, tuple(specs), deals, seed, labels, Schedule.from_dict(schedule), guarded)
        match.__dict__["fingerprints"] = tuple(agent["fingerprint"] for agent in agents)
        match.__dict__["conditions"] = tuple(agent.get("conditions", {}) for agent in agents)
        match.__dict__["id"] = match_id
        return match

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """The name of each agent: its label, or its spec, with #2, #3 ... where a spec is repeated."""
        return self.labels or numbered(self.agents)

    @functools.cached_property
    def fingerprints(self) -> tuple[str, ...]:
        """For each agent, the hash of the file it is loaded from, or an empty string."""
        return tuple(
            self.guest.digest if self.guest is not None and self.guest.name == name else agent_fingerprint(spec)
            for name, spec in zip(self.names, self.agents, strict=True)
        )

    @functools.cached_property
    def conditions(self) -> tuple[dict[str, Any], ...]:
        """For each agent, what may affect its results besides its spec, as JSON values; {} for most agents."""
        return tuple(agent_conditions(spec, self.game, self.options) for spec in self.agents)

    @functools.cached_property
    def lineups(self) -> tuple[tuple[int, ...], ...]:
        """The games of a deal: for each, the agent number by player."""
        return self.schedule.lineups(len(self.agents), self.options.num_players)

    @property
    def num_games(self) -> int:
        """Number of games in the whole match."""
        return self.deals * len(self.lineups)

    def deal_seed(self, deal: int) -> int:
        """Return the seed of a deal's cards."""
        return self.seed.deal(deal)

    def agent_seed(self, deal: int, agent: int, copy: int = 0) -> int:
        """Return the seed with which a built-in agent plays a deal.

        If an agent has several seats at a table, `copy` counts them from 0.
        """
        place = (self.names[agent], copy) if copy else (self.names[agent],)
        return derived_seed(self.deal_seed(deal), "agent", *place)

    def seat_seeds(self, deal: int, lineup: int) -> list[int]:
        """Return the seeds of the agents at a table, by player."""
        seating = self.lineups[lineup]
        return [
            guest_seed(self.seed.guests_key, deal, lineup, player)
            if is_guest(self.agents[agent])
            else self.agent_seed(deal, agent, seating[:player].count(agent))
            for player, agent in enumerate(seating)
        ]

    @property
    def has_guests(self) -> bool:
        """Whether any agent does not ship with cardenvs."""
        return any(map(is_guest, self.agents))

    @property
    def seed_text(self) -> str:
        """The seed that repeats the match, including the guests' key if there are guests."""
        return self.seed.token if self.has_guests else self.seed.text

    @functools.cached_property
    def id(self) -> str:
        """Hash of game, options, agents (names and files included), seed, schedule and guard, but not of `deals`."""
        agents = list(zip(self.agents, self.fingerprints, strict=True))
        layout = self.game.layout(self.options).hash
        secret = self.seed.secret if self.seed.secret <= SEED_MASK else self.seed.text
        what = [self.game.name, layout, self.options.as_dict(), agents, secret, *self._special()]
        return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]

    @property
    def has_command(self) -> bool:
        """Whether a `cardenvs match` command line can express the match."""
        if self.guard is not None:
            from cardenvs.agents.guarded.limits import AgentLimits

            if self.guard != AgentLimits(on_failure=self.guard.on_failure, keep_env=self.guard.keep_env):
                return False
        return self.schedule == ROUND_ROBIN and self.names == numbered(self.agents)

    def _special(self) -> list[Any]:
        """Return what differs from a plain match; empty for a plain one, whose id must not change."""
        special: dict[str, Any] = {}
        if self.names != numbered(self.agents):
            special["labels"] = self.names
        if self.schedule != ROUND_ROBIN:
            special["lineups"] = self.lineups
        if self.guard is not None:
            special["guard"] = dataclasses.asdict(self.guard)
        return [special] if special else []

    def run(
        self,
        store: str | Path | None = None,
        *,
        resume: bool = False,
        processes: int = 1,
        batch: int = 64,
        keep_going: bool = False,
        statistics: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> "Summary":
        """Play the games missing from the store and summarise the match.

        Args:
            store: path of an SQLite file that keeps finished games; None keeps them in memory.
            resume: continue a match that the store already has games of.
            processes: number of processes. A script that uses more than one needs the usual
                `if __name__ == "__main__":`.
            batch: games played side by side in a process if an agent has `act_batch`.
            keep_going: record a game that fails with its error, and play the others. Deals with a failed game are not
                in the summary.
            statistics: record each game's statistics; see View.statistics.
            progress: called regularly with (games done, total games).

        Raises:
            ArenaError: the store cannot be used, or has games of this match and `resume` is not set.
            AgentError: an agent failed, and `keep_going` is not set. Finished games are kept.
        """
        from cardenvs.arena.run import run_match

        return run_match(
            self, store, resume=resume, processes=processes, batch=batch, keep_going=keep_going,
            statistics=statistics, progress=progress,
        )  # fmt: skip
