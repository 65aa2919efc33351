"""Records of games and experiments, as a store keeps them."""

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from cardenvs.core.errors import ArenaError
from cardenvs.core.text import printable
from cardenvs.core.view import GameStatistics

if TYPE_CHECKING:
    from cardenvs.arena.match import Match

Job = tuple[int, int]  # (deal, lineup) of a game to play


@dataclass(frozen=True)
class GameRecord:
    """One game of a match, finished or failed.

    Attributes:
        deal, lineup: identify the game in its match.
        seed: seed of the cards.
        seating: agent numbers by player.
        returns: by player; empty if the game failed.
        actions: all actions in order, codes for forfeits included.
        decisions: number of decisions by player.
        seconds: time spent deciding, by player.
        error: what went wrong, or None.
        digest: hash of events and returns, as in a replay.
        failures: by player, {class: number} of failed tries; empty if agents played without a proxy.
        outcomes: by player, the number of "forced" and "forfeit" decisions; empty if agents played without a proxy.
        notes: decisions that failed or that agents made notes on, as JSON values.
        statistics: the game's statistics, see View.statistics; None if they were not recorded.
    """

    deal: int
    lineup: int
    seed: int
    seating: tuple[int, ...]
    returns: tuple[float, ...]
    actions: tuple[int, ...]
    decisions: tuple[int, ...]
    seconds: tuple[float, ...]
    error: str | None = None
    digest: str | None = None
    failures: tuple[dict[str, int], ...] = ()
    outcomes: tuple[dict[str, int], ...] = ()
    notes: tuple[dict[str, Any], ...] = ()
    statistics: GameStatistics | None = None

    @classmethod
    def lost(cls, match: "Match", deal: int, lineup: int, why: str) -> Self:
        """Return the record of a failed game of which only the cause `why` is known."""
        seed, seating = match.deal_seed(deal), match.lineups[lineup]
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
    """An experiment as a store keeps it.

    Attributes:
        name: name in reports.
        matches: (match id, title) of each match.
        anchors: fixed ratings, by agent name.
        config: contents of the experiment's file, as JSON values.
    """

    name: str
    matches: tuple[tuple[str, str], ...]
    anchors: dict[str, float]
    config: dict[str, Any]

    def __post_init__(self) -> None:
        """Reject unprintable names: a store may come from anybody."""
        for shown in (self.name, *(title for _, title in self.matches)):
            if not shown.isprintable():
                raise ArenaError(f"the name '{printable(shown)}' of an experiment or match has unprintable characters")

    @property
    def id(self) -> str:
        """A hash of the name and the matches."""
        return hashlib.sha256(json.dumps([self.name, self.matches]).encode()).hexdigest()[:16]
