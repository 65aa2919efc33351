"""Records of games and experiments, as a store keeps them."""

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Self

from cardenvs.core.errors import ArenaError
from cardenvs.core.text import printable
from cardenvs.core.view import GameStatistics

Job = tuple[int, int]  # (deal, lineup) of a game to play


@dataclass(frozen=True)
class GameRecord:
    """One game of a match, finished or failed."""

    # identify the game in its match
    deal: int
    lineup: int
    seed: int  # seed of the cards
    seating: tuple[int, ...]  # agent numbers by player
    returns: tuple[float, ...]  # by player; empty if the game failed
    actions: tuple[int, ...]  # all actions in order, codes for forfeits included
    decisions: tuple[int, ...]  # number of decisions by player
    seconds: tuple[float, ...]  # time spent deciding, by player
    error: str | None = None  # description of the failure, or None
    digest: str | None = None  # hash of events and returns, as in a replay; None if the game failed
    # by player, {class: number} of failed tries; empty if agents played without a proxy
    failures: tuple[dict[str, int], ...] = ()
    # by player, the number of "forced" and "forfeit" decisions; empty if agents played without a proxy
    outcomes: tuple[dict[str, int], ...] = ()
    notes: tuple[dict[str, Any], ...] = ()  # decisions that failed or that agents made notes on, as JSON values
    # the game's statistics, see View.statistics; None if they were not recorded
    statistics: GameStatistics | None = None

    @classmethod
    def lost(cls, deal: int, lineup: int, seed: int, seating: tuple[int, ...], why: str) -> Self:
        """Return the record of a failed game of which only the cause `why` is known."""
        nothing = (0,) * len(seating)
        error = f"deal {deal} (seed {seed}), lineup {lineup}: {why}"
        return cls(deal, lineup, seed, seating, (), (), nothing, nothing, error)

    @property
    def winners(self) -> tuple[int, ...]:
        """The winners according to the game's statistics, or else the players with the highest return."""
        if self.statistics is not None and self.statistics.winners is not None:
            return tuple(self.statistics.winners)
        return tuple(player for player, value in enumerate(self.returns) if value == max(self.returns))


@dataclass(frozen=True)
class StoredExperiment:
    """An experiment in the form in which a store keeps it."""

    name: str  # name in reports
    matches: tuple[tuple[str, str], ...]  # (match id, title) of each match
    anchors: dict[str, float]  # fixed ratings, by agent name
    config: dict[str, Any]  # contents of the experiment's file, as JSON values

    def __post_init__(self) -> None:
        """Reject unprintable names: a store may come from anybody."""
        for shown in (self.name, *(title for _, title in self.matches)):
            if not shown.isprintable():
                raise ArenaError(f"the name '{printable(shown)}' of an experiment or match has unprintable characters")

    @property
    def id(self) -> str:
        """A hash of the name and the matches."""
        return hashlib.sha256(json.dumps([self.name, self.matches]).encode()).hexdigest()[:16]
