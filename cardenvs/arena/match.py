"""What a match is: a game, agents, a seed and a number of duplicate deals; and which games that makes."""

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

    Every deal is played by every lineup of the schedule: by default each choice of as many agents as there are players,
    in every seating (up to three players) or every rotation (above). All games of a deal have the same cards. The seed
    of an agent of cardenvs follows from the deal and its name: it is the same wherever it sits and whomever it meets.
    A guest (`python:`, `process:`, `llm:`) gets another seed for each game, which says nothing about the deal.

    Attributes:
        game: the Game.
        options: its checked options.
        agents: specs, see cardenvs.agents.specs; at least as many as there are players.
        deals: how many deals, 1 to MOST_DEALS.
        seed: of everything; drawn if not given.
        labels: a name for each agent; empty: their specs.
        schedule: who meets whom, and who sits where.
        guard: how agents are kept from hurting the match and each other, see cardenvs.agents.guarded.proxy; None:
            they are called as they are, and the first failure ends the match.
        guest: the agent of that name comes from elsewhere, and plays in a process of its own; needs a guard.
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
        """Refuse what cannot be played."""
        object.__setattr__(self, "seed", MatchSeed.of(self.seed))  # a number will do
        if self.guest is not None and self.guard is None:
            raise ArenaError("a match with a guest needs a guard")
        if not 1 <= self.deals <= MOST_DEALS:
            raise ArenaError(f"a match needs at least one deal; got {self.deals} (the most are {MOST_DEALS:,})")
        if len(self.agents) < self.options.num_players and self.schedule.kind not in ("field", "fixed"):
            raise ArenaError(
                f"{self.game.name} is played by {self.options.num_players} here, so a match needs at least as many "
                f"agents; got {len(self.agents)}: {', '.join(self.agents)} (an agent may be listed twice)"
            )
        for label in self.labels:
            check_name(label, "an agent", ArenaError)
        for spec in self.agents:
            if not spec.isprintable():
                raise ArenaError(
                    f"the agent {one_line(spec, 80)} is not a valid spec: it has characters that do not show"
                )
        if self.labels and (len(self.labels) != len(self.agents) or len(set(self.labels)) != len(self.labels)):
            raise ArenaError(f"each agent of a match needs a name of its own; got {', '.join(self.labels)}")

    @classmethod
    def of(
        cls, game: str, agents: Sequence[str], deals: int, seed: int | str | MatchSeed | None = None, **options: Any
    ) -> Self:
        """A match by names.

        Args:
            game: its name.
            agents: specs.
            deals: how many.
            seed: 0..2**63-1, or the token of another match (`match.seed.token`) to repeat it. None draws a secret.
            options: of the game.

        Raises:
            GameNotFoundError, OptionError
            ArenaError: too few agents or deals, or a seed that cannot be.
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
        """A match from what a store keeps of it. It keeps its id, though its agents may have changed or gone.

        Raises:
            ArenaError: it is of another version of its game.
            GameNotFoundError, OptionError: its game is not installed, or has other options now.
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
        """A name for each agent: its label, or its spec with #2, #3 ... where a spec is listed again."""
        return self.labels or numbered(self.agents)

    @functools.cached_property
    def fingerprints(self) -> tuple[str, ...]:
        """For each agent the hash of the file that it is loaded from, or nothing."""
        return tuple(
            self.guest.digest if self.guest is not None and self.guest.name == name else agent_fingerprint(spec)
            for name, spec in zip(self.names, self.agents, strict=True)
        )

    @functools.cached_property
    def conditions(self) -> tuple[dict[str, Any], ...]:
        """For each agent all that may bear on its results beyond its spec, as JSON values; {} for most."""
        return tuple(agent_conditions(spec, self.game, self.options) for spec in self.agents)

    @functools.cached_property
    def lineups(self) -> tuple[tuple[int, ...], ...]:
        """The games of a deal: for each, the number of the agent in each player's place."""
        return self.schedule.lineups(len(self.agents), self.options.num_players)

    @property
    def num_games(self) -> int:
        """Games in the whole match."""
        return self.deals * len(self.lineups)

    def deal_seed(self, deal: int) -> int:
        """The seed of the cards of a deal."""
        return self.seed.deal(deal)

    def agent_seed(self, deal: int, agent: int, copy: int = 0) -> int:
        """The seed with which an agent of cardenvs plays a deal.

        `copy` counts the places that it has at one table, from 0.
        """
        place = (self.names[agent], copy) if copy else (self.names[agent],)
        return derived_seed(self.deal_seed(deal), "agent", *place)

    def seat_seeds(self, deal: int, lineup: int) -> list[int]:
        """The seeds of the agents at a table, by player."""
        seating = self.lineups[lineup]
        return [
            guest_seed(self.seed.guests_key, deal, lineup, player)
            if is_guest(self.agents[agent])
            else self.agent_seed(deal, agent, seating[:player].count(agent))
            for player, agent in enumerate(seating)
        ]

    @property
    def has_guests(self) -> bool:
        """Whether an agent plays that cardenvs does not bring along."""
        return any(map(is_guest, self.agents))

    @property
    def seed_text(self) -> str:
        """The seed that repeats the match: with the guests' key if there are guests."""
        return self.seed.token if self.has_guests else self.seed.text

    @functools.cached_property
    def id(self) -> str:
        """Names what is compared: game, options, agents (with the files behind them), seed and the schedule.

        Not how many deals.
        """
        agents = list(zip(self.agents, self.fingerprints, strict=True))
        layout = self.game.layout(self.options).hash
        secret = self.seed.secret if self.seed.secret <= SEED_MASK else self.seed.text
        what = [self.game.name, layout, self.options.as_dict(), agents, secret, *self._special()]
        return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]

    @property
    def has_command(self) -> bool:
        """Whether a command line can say all of it."""
        if self.guard is not None:
            from cardenvs.agents.guarded.limits import AgentLimits

            if self.guard != AgentLimits(on_failure=self.guard.on_failure, keep_env=self.guard.keep_env):
                return False
        return self.schedule == ROUND_ROBIN and self.names == numbered(self.agents)

    def _special(self) -> list[Any]:
        """What differs from a plain match; nothing for a plain one, whose id stays unchanged."""
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
        """Play what is not in the store yet and summarise it.

        Args:
            store: path of an SQLite file that keeps finished games; None keeps them in memory.
            resume: go on with a match that the store has games of.
            processes: how many to play in. A script that asks for more than one needs the usual
                `if __name__ == "__main__":`.
            batch: games played side by side in a process where an agent has `act_batch`.
            keep_going: a game that fails is recorded with its error, and the others go on. Deals with a failed game are
                not in the summary.
            statistics: record each game's statistics; see View.statistics.
            progress: called with (games done, games in all) now and then.

        Raises:
            ArenaError: the store has games of this match and `resume` is not set, or cannot be used.
            AgentError: an agent failed, and `keep_going` is not set. Finished games are kept.
        """
        from cardenvs.arena.results.statistics import summarise
        from cardenvs.arena.run import run
        from cardenvs.arena.store import Store

        with Store(store) as opened:
            match = opened.seeded(self, resume)
            run(
                [match], opened, resume=resume, processes=processes, batch=batch, keep_going=keep_going,
                statistics=statistics, progress=progress,
            )  # fmt: skip
            return summarise(match, opened.records(match.id))
