"""Simple players of Texas hold'em to measure others against, which no policy here was trained on.

`always:call`, `always:pot` and `always:least_raise` do one thing, whatever they hold. `plain_equity` compares its
chance against random hands with the pot odds: a program written in an afternoon, without ranges, positions or bluffs.
"""

import numpy as np

from cardenvs.agents.base import Agent, Turn
from cardenvs.agents.kinds import AgentKind
from cardenvs.agents.parameters import Reader, read_parameters
from cardenvs.core.errors import AgentError
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.state import State
from cardenvs.games.texas_holdem import hand_ranks
from cardenvs.games.texas_holdem.actions import CHECK_CALL, FOLD
from cardenvs.games.texas_holdem.legal import owed
from cardenvs.games.texas_holdem.state import BOARD_CARDS, NUM_BOARD
from cardenvs.kits.cards import NUM_CARDS

GAME = "texas_holdem_v0"
STYLES = ("call", "pot", "least_raise")
_RAISE_SHARE = 1.5  # raise the pot with this many times the fair share of wins
_MOST_SAMPLES = 100_000


def raise_totals(state: State) -> dict[int, int]:
    """Return the legal raises of the player to act, and the totals of chips that they put in on the street.

    With betting="full" these are the usual sizes only.
    """
    s, view = state.record, state.game.view
    actions = [candidate.actions[0] for candidate in state.candidates()]
    totals = {action: view.choice(s, action).amount for action in actions if action not in (FOLD, CHECK_CALL)}
    return {action: int(total) for action, total in totals.items() if total is not None}


def pot_raise(state: State, raises: dict[int, int]) -> int:
    """Return the raise that is closest to the pot after a call, the smaller one of two."""
    s = state.record
    total = int(s.to_match) + int(s.pot) + int(owed(s, state.current_player))
    return min(raises, key=lambda action: (abs(raises[action] - total), raises[action]))


def _check_game(kind: str, game: Game) -> None:
    if game.name != GAME:
        raise AgentError(f"{kind} plays {GAME}; got {game.name}")


class AlwaysAgent(Agent):
    """Always calls, raises by the pot, or raises by the least; calls where it cannot raise, and never folds."""

    def __init__(self, game: Game, style: str) -> None:
        """Create an agent of a style, one of STYLES.

        Raises:
            AgentError: another game, or an unknown style.
        """
        _check_game("always", game)
        if style not in STYLES:
            raise AgentError(f"always takes one of {', '.join(STYLES)}, as in always:call; got {style!r}")
        self.name, self.style = f"always:{style}", style

    def act(self, turn: Turn) -> int:
        """Return the action of the style."""
        if self.style == "call":
            return CHECK_CALL
        twin = turn.determinize(turn.seed)
        raises = raise_totals(twin)
        if not raises:
            return CHECK_CALL
        return pot_raise(twin, raises) if self.style == "pot" else min(raises, key=lambda action: raises[action])


class PlainEquityAgent(Agent):
    """Bets the pot with a good chance against random hands, and calls if the pot odds allow it."""

    def __init__(self, game: Game, samples: int = 500) -> None:
        """Create an agent that deals the hidden cards `samples` times a decision, 1 to 100,000.

        Raises:
            AgentError: another game, or a number out of range.
        """
        _check_game("plain_equity", game)
        if not 1 <= samples <= _MOST_SAMPLES:
            raise AgentError(f"plain_equity takes 1 to {_MOST_SAMPLES:,} samples; got {samples}")
        self.name, self.samples = "plain_equity", samples

    def act(self, turn: Turn) -> int:
        """Return a raise by the pot, a call or check, or a fold."""
        twin = turn.determinize(turn.seed)
        s, player = twin.record, turn.player
        others = int(s.in_hand & ~(1 << player)).bit_count()
        first = 2 * turn.num_players
        own = s.deck[2 * player : 2 * player + 2]
        board = s.deck[first : first + int(BOARD_CARDS[int(s.street)])]
        chance = equity_against_random(own, board, others, self.samples, turn.seed)
        turn.notes["equity"] = round(chance, 3)
        raises = raise_totals(twin)
        if raises and chance * (others + 1) >= _RAISE_SHARE:
            return pot_raise(twin, raises)
        to_call = int(owed(s, player))
        return CHECK_CALL if chance * (int(s.pot) + to_call) >= to_call else FOLD


def equity_against_random(own: np.ndarray, board: np.ndarray, others: int, samples: int, seed: int) -> float:
    """Return the share of the pot that a hand wins on average against random hands at a showdown.

    Args:
        own: int (2,), card ids.
        board: int (0..5,), card ids.
        others: number of opponents, 1 to 9.
        samples: number of deals.
        seed: of the deals.
    """
    seen = np.concatenate([own, board]).astype(np.int64)
    rest = np.setdiff1d(np.arange(NUM_CARDS), seen)
    needed = NUM_BOARD - len(board) + 2 * others
    order = np.random.default_rng(seed).random((samples, len(rest))).argpartition(needed - 1, axis=1)[:, :needed]
    dealt = rest[order]
    boards = np.concatenate([np.broadcast_to(board, (samples, len(board))), dealt[:, 2 * others :]], axis=1)
    ranks = np.empty((samples, others + 1), np.int64)
    ranks[:, 0] = hand_ranks(np.concatenate([np.broadcast_to(own, (samples, 2)), boards], axis=1))
    for k in range(others):
        ranks[:, k + 1] = hand_ranks(np.concatenate([dealt[:, 2 * k : 2 * k + 2], boards], axis=1))
    best = ranks == ranks.max(axis=1, keepdims=True)
    return float((best[:, 0] / best.sum(axis=1)).mean())


_PARAMETERS: dict[str, Reader] = {"samples": int}


def _make_always(argument: str, game: Game, options: Options) -> Agent:
    return AlwaysAgent(game, argument)


def _make_plain_equity(argument: str, game: Game, options: Options) -> Agent:
    return PlainEquityAgent(game, **read_parameters("plain_equity", argument, _PARAMETERS))


ALWAYS = AgentKind(
    "always",
    "always:STYLE",
    "texas_holdem_v0: one style, whatever the cards: `always:call`, `always:pot`, `always:least_raise`",
    _make_always,
    guest=False,
    isolation="none",
    games=(GAME,),
)
PLAIN_EQUITY = AgentKind(
    "plain_equity",
    "plain_equity",
    "texas_holdem_v0: bets the pot or calls by its equity against random hands, from 500 deals a decision; parameter "
    "`samples`",
    _make_plain_equity,
    guest=False,
    isolation="none",
    games=(GAME,),
)
