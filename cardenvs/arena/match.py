"""What a match is: a game, agents, a seed and a number of duplicate deals; and which games that makes."""

import functools
import hashlib
import itertools
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from cardenvs.agents.specs import agent_fingerprint
from cardenvs.core.errors import ArenaError
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.registry import get_game
from cardenvs.core.rng import derived_seed
from cardenvs.core.state import checked_seed

if TYPE_CHECKING:
    from cardenvs.arena.statistics import Summary

_ALL_SEATINGS_UP_TO = 3  # players; above, a seating is a rotation


@dataclass(frozen=True)
class Match:
    """A comparison of agents on duplicate deals.

    Every deal is played by every lineup: each choice of as many agents as there are players, in every seating (up to
    three players) or every rotation (above). All games of a deal have the same cards. An agent's own seed follows
    from the deal and its name, so it comes with the same dice wherever it sits and whomever it meets.

    Attributes:
        game: the Game.
        options: its checked options.
        agents: specs, see cardenvs.agents.specs; at least as many as there are players.
        deals: how many deals, at least 1.
        seed: 0..2**63-1, of everything.
    """

    game: Game
    options: Options
    agents: tuple[str, ...]
    deals: int
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be played."""
        checked_seed(self.seed)
        if self.deals < 1:
            raise ArenaError(f"a match needs at least one deal; got {self.deals}")
        if len(self.agents) < self.options.num_players:
            raise ArenaError(
                f"{self.game.name} is played by {self.options.num_players} here, so a match needs at least as many "
                f"agents; got {len(self.agents)}: {', '.join(self.agents)} (an agent may be listed twice)"
            )

    @classmethod
    def of(cls, game: str, agents: Sequence[str], deals: int, seed: int = 0, **options: Any) -> Self:
        """A match by names.

        Raises:
            GameNotFoundError, OptionError
            ArenaError: too few agents or deals.
        """
        found = get_game(game)
        return cls(found, found.make_options(**options), tuple(agents), deals, seed)

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """A name for each agent: its spec, with #2, #3 ... where a spec is listed again."""
        seen: Counter[str] = Counter()
        names = []
        for spec in self.agents:
            seen[spec] += 1
            names.append(spec if seen[spec] == 1 else f"{spec}#{seen[spec]}")
        return tuple(names)

    @functools.cached_property
    def fingerprints(self) -> tuple[str, ...]:
        """For each agent the hash of the file that it is loaded from, or nothing."""
        return tuple(agent_fingerprint(spec) for spec in self.agents)

    @functools.cached_property
    def lineups(self) -> tuple[tuple[int, ...], ...]:
        """The games of a deal: for each, the number of the agent in each player's place."""
        players = self.options.num_players
        chosen = itertools.combinations(range(len(self.agents)), players)
        if players <= _ALL_SEATINGS_UP_TO:
            return tuple(lineup for group in chosen for lineup in itertools.permutations(group))
        return tuple(group[k:] + group[:k] for group in chosen for k in range(players))

    @property
    def num_games(self) -> int:
        """Games in the whole match."""
        return self.deals * len(self.lineups)

    def deal_seed(self, deal: int) -> int:
        """The seed of the cards of a deal."""
        return derived_seed(self.seed, "deal", deal)

    def agent_seed(self, deal: int, agent: int) -> int:
        """The seed with which an agent plays a deal."""
        return derived_seed(self.deal_seed(deal), "agent", self.names[agent])

    @functools.cached_property
    def id(self) -> str:
        """Names what is compared: game, options, agents (with the files behind them) and seed; not how many deals."""
        agents = list(zip(self.agents, self.fingerprints, strict=True))
        layout = self.game.layout(self.options).hash
        what = [self.game.name, layout, self.options.as_dict(), agents, self.seed]
        return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]

    def run(
        self,
        store: str | Path | None = None,
        *,
        resume: bool = False,
        processes: int = 1,
        batch: int = 64,
        progress: Callable[[int, int], None] | None = None,
    ) -> "Summary":
        """Play what is not in the store yet and summarise it.

        Args:
            store: path of an SQLite file that keeps finished games; None keeps them in memory.
            resume: go on with a match that the store has games of.
            processes: how many to play in. A script that asks for more than one needs the usual
                `if __name__ == "__main__":`.
            batch: games played side by side in a process where an agent has `act_batch`.
            progress: called with (games done, games in all) now and then.

        Raises:
            ArenaError: the store has games of this match and `resume` is not set, or cannot be used.
            AgentError: an agent failed. Finished games are kept.
        """
        from cardenvs.arena.run import run
        from cardenvs.arena.statistics import summarise
        from cardenvs.arena.store import Store

        with Store(store) as opened:
            run(self, opened, resume=resume, processes=processes, batch=batch, progress=progress)
            return summarise(self, opened.records(self.id))
