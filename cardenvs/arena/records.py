"""Games and experiments as they are kept."""

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
        deal, lineup: which game it is.
        seed: of the cards.
        seating: the agent's number in each player's place.
        returns: by player; empty where the game failed.
        actions: in order, codes for forfeits included.
        decisions: by player.
        seconds: spent deciding, by player.
        error: what went wrong, or None.
        digest: over events and returns, as in a replay.
        failures: by player: {class: number} of failed tries; empty where no proxy counted.
        outcomes: by player: how many decisions were "forced", and "forfeit"; likewise.
        notes: the decisions that failed or that agents made notes of, as JSON values.
        statistics: of the game, see View.statistics; None where they were not asked for.
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
        """A game that failed, of which nothing else is known."""
        seed, seating = match.deal_seed(deal), match.lineups[lineup]
        nothing = (0,) * len(seating)
        error = f"deal {deal} (seed {seed}), lineup {lineup}: {why}"
        return cls(deal, lineup, seed, seating, (), (), nothing, nothing, error)

    @property
    def winners(self) -> tuple[int, ...]:
        """Who has won: as the game's statistics say, else the players with the highest return."""
        if self.statistics is not None and self.statistics.winners is not None:
            return tuple(self.statistics.winners)
        return tuple(player for player, value in enumerate(self.returns) if value == max(self.returns))


@dataclass(frozen=True)
class StoredExperiment:
    """An experiment as a store keeps it.

    Attributes:
        name: for people.
        matches: (match id, title) of each.
        anchors: the fixed ratings, by agent.
        config: the file that it was read from, as JSON values.
    """

    name: str
    matches: tuple[tuple[str, str], ...]
    anchors: dict[str, float]
    config: dict[str, Any]

    def __post_init__(self) -> None:
        """Refuse names that do not show as they are: a store may come from anybody."""
        for shown in (self.name, *(title for _, title in self.matches)):
            if not shown.isprintable():
                raise ArenaError(f"the name '{printable(shown)}' of an experiment or match is not printable")

    @property
    def id(self) -> str:
        """A hash of the name and the matches."""
        return hashlib.sha256(json.dumps([self.name, self.matches]).encode()).hexdigest()[:16]
