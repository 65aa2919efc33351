"""The protocol of an evaluation: which games, with which options, against whom, on how many deals.

A protocol has a version and never changes once released: a score only means something beside its version. The results
of random play and of the reference player, in the same seats against the same opponents, are part of it, so that all
evaluations share one scale. `python -m baselines.anchors` measures them.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cardenvs.agents.guarded.limits import AgentLimits
from cardenvs.agents.seeds import MatchSeed
from cardenvs.arena.match import Match
from cardenvs.arena.schedule import ROUND_ROBIN, Schedule
from cardenvs.core.errors import ArenaError
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.registry import get_game
from cardenvs.core.text import did_you_mean

SIZES = ("tiny", "full")
NEWEST = 1
AGENT, REFERENCE, PARTNER = "agent", "reference", "partner"  # names in the matches of an evaluation
_PLACE = "{game}"


@dataclass(frozen=True)
class Task:
    """One game of a protocol.

    Attributes:
        game: name of the game, with its version.
        options: options that differ from the game's defaults.
        reference: spec of the reference player, who has the other seats.
        pairs: whether seats 0 and 2 play against 1 and 3. The agent then has both seats of its side.
        deals: number of deals by size; a size without the game has no entry.
        random, best: results of random play and of the reference player in the agent's place, in the unit of the game's
            results: scores 0 and 100.
    """

    game: str
    options: dict[str, Any] = field(hash=False)
    reference: str
    pairs: bool
    deals: dict[str, int] = field(hash=False)
    random: float
    best: float

    def resolved(self) -> tuple[Game, Options]:
        """Return the game and its checked options."""
        game = get_game(self.game)
        return game, game.make_options(**self.options)

    def match(self, agent: str, deals: int, seed: MatchSeed, guard: AgentLimits | None) -> Match:
        """Return the match that an agent plays.

        In a game for one, and in a cooperative game, it has all seats. In a game of two sides it has one of them, and
        otherwise one seat; the reference player has the others, and all take every place.

        Raises:
            AgentError, MissingExtraError: the agent's file cannot be read.
        """
        game, options = self.resolved()
        spec, seats = agent_spec(agent, self.game), options.num_players
        agents, names, schedule = [spec], [AGENT], ROUND_ROBIN
        if self.pairs:
            agents = [spec, self.reference, spec, self.reference]
            names = [AGENT, REFERENCE, f"{AGENT}, {PARTNER}", f"{REFERENCE}, {PARTNER}"]
        elif seats > 1 and not game.returns(options).cooperative:
            agents, names = [spec, self.reference], [AGENT, REFERENCE]
            schedule = ROUND_ROBIN if seats == len(agents) else Schedule("field", challengers=(0,))
        return Match.make(game, options, agents, deals, seed, names=names, schedule=schedule, guard=guard)


@dataclass(frozen=True)
class Protocol:
    """A protocol. Attributes: its version, the public seed, the limits on every agent, and its games in order."""

    version: int
    seed: int
    limits: AgentLimits
    tasks: tuple[Task, ...]

    def chosen(self, size: str, games: Sequence[str] = ()) -> list[Task]:
        """Return the tasks of a size; with `games`, only those, by their names with or without a version.

        Raises:
            ArenaError: there is no such size, or the protocol does not have a game in this size.
            GameNotFoundError: there is no such game.
        """
        if size not in SIZES:
            raise ArenaError(f"the size is {' or '.join(SIZES)}; got {size!r}")
        found = {task.game: task for task in self.tasks if size in task.deals}
        wanted = [get_game(name).name for name in games]
        for name in wanted:
            if name not in found:
                hint = did_you_mean(name, list(found))
                raise ArenaError(
                    f"protocol {self.version} has no {name} in the size {size}; {hint}it has {', '.join(found)}"
                )
        return [task for name, task in found.items() if not wanted or name in wanted]


def agent_spec(agent: str, game: str) -> str:
    """Return the spec of an agent in a game: `{game}` in it stands for the game's name, as in `zoo:{game}`."""
    return agent.replace(_PLACE, game)


def read_protocol(version: int = NEWEST) -> Protocol:
    """Return a protocol of this package.

    Raises:
        ArenaError: there is no protocol of this version.
    """
    path = protocol_file(version)
    if not path.is_file():
        raise ArenaError(f"there is no protocol {version}; versions are 1 to {NEWEST}")
    values = tomllib.loads(path.read_text(encoding="utf-8"))
    tasks = tuple(_task(name, entry) for name, entry in values["games"].items())
    return Protocol(version, values["seed"], AgentLimits(**values["limits"]), tasks)


def protocol_file(version: int) -> Path:
    """Return the file of a protocol."""
    return Path(__file__).with_name(f"protocol_{version}.toml")


def _task(name: str, entry: dict[str, Any]) -> Task:
    deals = {size: entry[size] for size in SIZES if size in entry}
    return Task(
        name, entry.get("options", {}), entry["reference"], entry.get("pairs", False), deals, entry["random"],
        entry["best"],
    )  # fmt: skip
