"""How large a game is for MCCFR, estimated from random games before anything is solved.

Source: D. Knuth, "Estimating the Efficiency of Backtrack Programs" (Mathematics of Computation 1975): on a random path,
the product of the numbers of choices so far is an unbiased estimate of the number of nodes at that depth.
"""

from dataclasses import dataclass

import numpy as np

from cardenvs.core.errors import SolvingError
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.rng import derived_seed

MOST_VISITS = 10_000_000  # decisions of a player in an iteration; more take minutes, and have no room in the tables
_GAMES = 100
_MOST_PLIES = 20_000  # in all games


@dataclass(frozen=True)
class Size:
    """Estimates of a game's size.

    Attributes:
        decisions: histories with a decision, for one deal.
        visits: decisions of its own that a player tries in one iteration, with the choices of others drawn.
        games: random games behind the estimates.
    """

    decisions: float
    visits: float
    games: int

    def __str__(self) -> str:
        return (
            f"about {_rounded(self.decisions)} decisions a deal, of which a player tries about {_rounded(self.visits)} "
            f"an iteration (estimated from {self.games} random games)"
        )


def estimated_size(game: Game, options: Options, seed: int = 0) -> Size:
    """Return estimates from random games."""
    decisions, visits = [], []
    plies = 0
    for k in range(_GAMES):
        state = game.state_type(game, options, seed=derived_seed(seed, "size", k))
        rng = np.random.default_rng(derived_seed(seed, "choices", k))
        paths, own, every = 1.0, np.ones(options.num_players), 0.0
        tried = np.zeros(options.num_players)
        while not state.is_terminal:
            legal, player = state.legal_actions(), state.current_player
            every += paths
            tried[player] += own[player]
            paths, own[player] = _grown(paths, len(legal)), _grown(own[player], len(legal))
            state.apply(legal[int(rng.integers(len(legal)))])
        decisions.append(every)
        visits.append(tried.mean())
        plies += state.ply
        if plies > _MOST_PLIES:
            break
    return Size(float(np.mean(decisions)), float(np.mean(visits)), len(visits))


def _grown(paths: float, choices: int) -> float:
    return min(paths * choices, 1e300)


def check_size(game: Game, size: Size) -> None:
    """Check that an iteration of MCCFR ends.

    Raises:
        SolvingError: a player would try too many decisions.
    """
    if size.visits > MOST_VISITS:
        raise SolvingError(
            f"{game.name} is too large for mccfr with these options: {size}; it takes up to {_rounded(MOST_VISITS)} an "
            "iteration. Options that shorten the game help, such as fewer rounds, cards or raises; or train a network "
            "with cardenvs train"
        )


def _rounded(number: float) -> str:
    """Return a number with two digits, such as 3,400 or 2.1e+12."""
    two = float(f"{number:.2g}")
    return f"{two:,.0f}" if two < 1e9 else f"{two:.2g}"
