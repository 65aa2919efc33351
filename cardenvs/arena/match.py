"""Matches as values: a game, agents, a seed and a number of duplicate deals, which define all games.

`cardenvs.arena.run` plays matches, and `cardenvs.arena.store` keeps them.
"""

import dataclasses
import functools
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from cardenvs.agents.adapt import adapted, name_of, own_copy
from cardenvs.agents.base import Agent
from cardenvs.agents.guarded.limits import AgentLimits
from cardenvs.agents.seeds import MatchSeed, guest_seed
from cardenvs.agents.specs import agent_conditions, agent_fingerprint, is_guest, make_agent
from cardenvs.arena.schedule import ROUND_ROBIN, Schedule
from cardenvs.core.errors import AgentError, ArenaError
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.registry import get_game
from cardenvs.core.rng import SEED_MASK, derived_seed
from cardenvs.core.text import check_name, numbered, one_line

if TYPE_CHECKING:
    from cardenvs.agents.guarded.guest import Guest

MOST_DEALS = 10**15
_OBJECT = "object:"  # before the name of an agent that was given as an object


@dataclass(frozen=True)
class Entry:
    """An agent in a match.

    Attributes:
        name: name in reports, different for each entry: by default the spec, with #2, #3, ... where it is repeated.
        spec: see cardenvs.agents.specs.
        fingerprint: hash of the file that the agent is loaded from, or "".
        conditions: everything else that may affect its results, as JSON values without secrets; {} for most agents.
        given: an agent that was given as an object, a function, a class or a factory; None for one of a spec. Every
            table plays with a copy of its own. A store does not keep it, only its name as "object:NAME".
    """

    name: str
    spec: str
    fingerprint: str = ""
    conditions: dict[str, Any] = field(default_factory=dict, hash=False)
    given: Any = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, name: str, agent: Any, game: Game, options: Options) -> Self:
        """Return the entry of an agent as it is now: of a spec, or of anything that `cardenvs.agents.adapt` takes.

        Raises:
            AgentError, MissingExtraError: its file cannot be read, or it cannot be made.
        """
        if not isinstance(agent, str):
            return cls(name, spec_of(agent), given=agent)
        return cls(name, agent, agent_fingerprint(agent), agent_conditions(agent, game, options))

    def make(self, game: Game, options: Options) -> Agent:
        """Return the agent, or a copy of it.

        Raises:
            AgentError, PolicyNotFoundError, MissingExtraError: it cannot be made.
        """
        if self.given is None and self.spec.startswith(_OBJECT):
            raise AgentError(f"{self.name} was an object in the program that began the match; give it again")
        if self.given is None:
            return make_agent(self.spec, game, options)
        return adapted(own_copy(self.given), game, options, self.spec)

    @functools.cached_property
    def is_guest(self) -> bool:
        """Whether the agent has code from outside cardenvs."""
        return self.given is not None or is_guest(self.spec)

    def as_dict(self) -> dict[str, Any]:
        """Return the entry as JSON values, without empty conditions."""
        values = {"name": self.name, "spec": self.spec, "fingerprint": self.fingerprint}
        return values | ({"conditions": self.conditions} if self.conditions else {})


def spec_of(agent: Any) -> str:
    """Return an agent's spec; for an object, a function or a class, "object:" and its name."""
    return agent if isinstance(agent, str) else f"{_OBJECT}{name_of(agent)}"


@dataclass(frozen=True)
class Match:
    """A comparison of agents on duplicate deals.

    Every lineup of the schedule plays every deal: by default each combination of agents that fills the table, in every
    seating (up to three players) or rotation (more than three). In a cooperative game, there are combinations
    with several copies of an agent. All games of a deal have the same cards. The seed of a
    built-in agent depends on the deal and its name only, not on its seat or opponents. A guest (`python:`, `process:`,
    `llm:`) gets a different seed for each game, which reveals nothing about the deal.

    Attributes:
        game: the Game.
        options: its checked options.
        entries: the agents; at least one per player.
        deals: number of deals, 1 to MOST_DEALS.
        seed: seed of all cards and agents.
        schedule: who meets whom, and who sits where.
        guard: limits on agents and what happens when they fail, see cardenvs.agents.guarded.proxy; None: agents are
            called directly, and the first failure ends the match.
        guest: identifies the agent of that name as a submission, which plays in a separate process; needs a guard.
        stored_id: id under which a store has the match; "" for a match that is not from a store.
    """

    game: Game
    options: Options
    entries: tuple[Entry, ...]
    deals: int
    seed: MatchSeed
    schedule: Schedule = ROUND_ROBIN
    guard: AgentLimits | None = None
    guest: "Guest | None" = None
    stored_id: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        """Check the fields."""
        if self.guest is not None and self.guard is None:
            raise ArenaError("a match with a guest needs a guard")
        given = [entry.name for entry in self.entries if entry.given is not None]
        if self.guard is not None and given:
            raise ArenaError(
                f"limits need agents that can be made in other processes, as python:MODULE:NAME; got {', '.join(given)}"
            )
        if not 1 <= self.deals <= MOST_DEALS:
            raise ArenaError(f"a match needs at least one deal; got {self.deals} (at most {MOST_DEALS:,})")
        may_be_few = self.schedule.kind in ("field", "fixed") or (
            self.schedule.kind == "round_robin" and self.is_cooperative and self.entries
        )
        if len(self.entries) < self.options.num_players and not may_be_few:
            raise ArenaError(
                f"{self.game.name} is played by {self.options.num_players} here, so a match needs at least as many "
                f"agents; got {len(self.entries)}: {', '.join(self.specs)} (an agent may be listed twice)"
            )
        for spec in self.specs:
            if not spec.isprintable():
                raise ArenaError(f"the agent {one_line(spec, 80)} is not a valid spec: it has unprintable characters")
        if self.has_labels:
            for name in self.names:
                check_name(name, "an agent", ArenaError)
        if len(set(self.names)) != len(self.names):
            raise ArenaError(f"each agent of a match needs a different name; got {', '.join(self.names)}")

    @classmethod
    def of(
        cls, game: str, agents: Sequence[Any], deals: int, seed: int | str | MatchSeed | None = None, **options: Any
    ) -> Self:
        """Make a match from the name of a game.

        Args:
            game: name of the game.
            agents: for each a spec, an Agent, a function from Turn to action, a class or a factory
                (`cardenvs.agents.adapt`).
            deals: number of deals.
            seed: 0..2**63-1, or the token of another match (`match.seed.token`) to repeat it. None draws a secret.
            options: options of the game.

        Raises:
            GameNotFoundError: there is no such game.
            OptionError: an option is unknown or invalid.
            AgentError, MissingExtraError: an agent's file cannot be read, or it cannot be made.
            ArenaError: there are too few agents or deals, or the seed is invalid.
        """
        found = get_game(game)
        return cls.make(found, found.make_options(**options), agents, deals, seed)

    @classmethod
    def make(
        cls,
        game: Game,
        options: Options,
        agents: Sequence[Any],
        deals: int,
        seed: int | str | MatchSeed | None = None,
        *,
        names: Sequence[str] = (),
        schedule: Schedule = ROUND_ROBIN,
        guard: AgentLimits | None = None,
    ) -> Self:
        """Make a match; see `of` and the attributes.

        Args:
            game, options, deals, seed, schedule, guard: see the attributes. A seed of None is drawn.
            agents: as for `of`.
            names: a name for each agent; empty: their specs.

        Raises:
            AgentError, MissingExtraError, ArenaError: as for `of`.
        """
        if isinstance(agents, str):
            raise ArenaError(f"agents are a list, as in ['random', 'search']; got the text {agents!r}")
        if names and len(names) != len(agents):
            raise ArenaError(f"each agent of a match needs a different name; got {', '.join(names)}")
        named = zip(names or numbered([spec_of(agent) for agent in agents]), agents, strict=True)
        entries = tuple(Entry.of(name, agent, game, options) for name, agent in named)
        return cls(game, options, entries, deals, MatchSeed.of(seed), schedule, guard)

    def changed(self, **changes: Any) -> Self:
        """Return the match with other values of some fields. It is no longer the one in a store."""
        return dataclasses.replace(self, stored_id="", **changes)

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """The name of each agent."""
        return tuple(entry.name for entry in self.entries)

    @functools.cached_property
    def specs(self) -> tuple[str, ...]:
        """The spec of each agent."""
        return tuple(entry.spec for entry in self.entries)

    @property
    def has_labels(self) -> bool:
        """Whether agents have names other than their numbered specs."""
        return self.names != numbered(self.specs)

    @functools.cached_property
    def lineups(self) -> tuple[tuple[int, ...], ...]:
        """The games of a deal: for each, the agent number by player."""
        return self.schedule.lineups(len(self.entries), self.options.num_players, self.is_cooperative)

    @property
    def is_cooperative(self) -> bool:
        """Whether all players of a game get the same."""
        return self.game.returns(self.options).cooperative

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
            if self.entries[agent].is_guest
            else self.agent_seed(deal, agent, seating[:player].count(agent))
            for player, agent in enumerate(seating)
        ]

    @property
    def has_guests(self) -> bool:
        """Whether any agent has code from outside cardenvs."""
        return any(entry.is_guest for entry in self.entries)

    @property
    def seed_text(self) -> str:
        """The seed that repeats the match, including the guests' key if there are guests."""
        return self.seed.token if self.has_guests else self.seed.text

    @property
    def id(self) -> str:
        """Hash of game, options, agents (names and files included), seed, schedule and guard, but not of `deals`.

        A match from a store keeps its id even if a later version of cardenvs would compute another one.
        """
        return self.stored_id or self._hash

    @functools.cached_property
    def _hash(self) -> str:
        agents = [(entry.spec, entry.fingerprint) for entry in self.entries]
        layout = self.game.layout(self.options).hash
        secret = self.seed.secret if self.seed.secret <= SEED_MASK else self.seed.text
        what = [self.game.name, layout, self.options.as_dict(), agents, secret, *self._special()]
        return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]

    def _special(self) -> list[Any]:
        """Return what differs from a plain match; empty for a plain one."""
        special: dict[str, Any] = {}
        if self.has_labels:
            special["labels"] = self.names
        if self.schedule != ROUND_ROBIN:
            special["lineups"] = self.lineups
        if self.guard is not None:
            special["guard"] = dataclasses.asdict(self.guard)
        return [special] if special else []
