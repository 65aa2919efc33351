"""PIMC: a card player for Contract Bridge who deals the hidden cards many times and solves every deal double-dummy.

Perfect information Monte Carlo (M. Ginsberg, "GIB: Imperfect Information in a Computationally Challenging Game", JAIR
2001): each card is worth the mean over worlds of what the contract is then worth. It overrates plans that need to see
the cards and never hides anything, but it counts and places cards better than maxims do.

Worlds fit the cards seen, the voids shown and, if such can be found, the auction: of several deals those are kept in
which the natural bidder would have called most like the hidden players did. All calls are the natural bidder's.
"""

import numpy as np

from cardenvs.agents.base import Agent, Turn
from cardenvs.agents.kinds import AgentKind
from cardenvs.agents.parameters import Reader, read_parameters
from cardenvs.core.errors import AgentError, require
from cardenvs.core.game import Game
from cardenvs.core.options import Options
from cardenvs.core.record import Record
from cardenvs.core.rng import derived_seed
from cardenvs.core.state import State
from cardenvs.games.bridge.scoring import duplicate_score, imps
from cardenvs.games.bridge.state import AUCTION, CARD_0, NUM_PLAYERS, NUM_TRICKS
from cardenvs.kits.cards import NUM_CARDS
from cardenvs.tools.bridge.deals import GAME, dealt_hands
from cardenvs.tools.bridge.double_dummy import EXTRA, MOST_POSITIONS, card_tricks

_POLICY = "heuristic"
_MOST_TRIED = 10_000


class PimcAgent(Agent):
    """Plays the card with the best mean result over double-dummy worlds, and calls as the natural bidder."""

    def __init__(self, game: Game, worlds: int = 20, tried: int | None = None) -> None:
        """Create an agent for bridge_v0 that solves 1 to 200 `worlds` for each card.

        `tried` is at least `worlds`, by default ten times as many; if it is equal, the auction is ignored.

        Raises:
            AgentError: another game, or a number out of range.
            MissingExtraError: endplay is not installed.
        """
        if game.name != GAME:
            raise AgentError(f"pimc plays {GAME}; got {game.name}")
        tried = 10 * worlds if tried is None else tried
        if not 1 <= worlds <= MOST_POSITIONS:
            raise AgentError(f"pimc takes 1 to {MOST_POSITIONS} worlds; got {worlds}")
        if not worlds <= tried <= _MOST_TRIED:
            raise AgentError(f"pimc takes tried from the number of worlds, {worlds}, to {_MOST_TRIED}; got {tried}")
        require("endplay", EXTRA)
        self.worlds = worlds  # solved for each card
        self.tried = tried  # deals from which they are chosen by the auction
        self.name = "pimc"

    def act(self, turn: Turn) -> int:
        """Return the best card, of equal ones the rule agent's or else the lowest; or the natural bidder's call."""
        legal = turn.legal_actions
        if legal[0] < CARD_0:
            return turn.policy_action(_POLICY)
        if len(legal) == 1:
            return legal[0]
        worlds = self._worlds(turn)
        values = _values(worlds, np.array(legal) - CARD_0)
        turn.notes["pimc"] = {
            "worlds": len(worlds),
            "values": [[turn.label(legal[k]), round(float(values[k]), 2)] for k in np.argsort(-values, kind="stable")],
        }
        best = [action for action, value in zip(legal, values, strict=True) if value > values.max() - 1e-9]
        own = turn.policy_action(_POLICY)
        return own if own in best else min(best, key=lambda action: (action - CARD_0 - 1) % NUM_TRICKS)

    def _worlds(self, turn: Turn) -> np.ndarray:
        """Return records (worlds,) that fit what the player knows, those that fit the auction best."""
        twin = turn.determinize(turn.seed)
        records, engine = twin.records, turn.game.engine
        tried = np.repeat(records, self.tried)
        differing = np.zeros(self.tried, np.int64)
        auction = _Auction(twin, turn.player)
        found = 0
        for k in range(self.tried):
            engine.determinize(tried, k, turn.player, derived_seed(turn.seed, k))
            differing[k] = auction.num_differing(tried[k]) if self.tried > self.worlds else 0
            found += differing[k] == 0
            if found == self.worlds:
                break
        best = np.argsort(differing[: k + 1], kind="stable")[: self.worlds]
        return tried[np.sort(best)]


class _Auction:
    """The calls that were made, and what the natural bidder would have called with other hands."""

    def __init__(self, twin: State, player: int) -> None:
        self._engine, self._played = twin.game.engine, dealt_hands(twin) ^ twin.record.hands
        s = twin.record
        known = {player, (int(s.declarer) + 2) % NUM_PLAYERS} if s.is_faced else {player}
        callers = [(int(s.dealer) + k) % NUM_PLAYERS for k in range(int(s.num_calls))]
        self._calls = [(k, p, int(s.calls[k])) for k, p in enumerate(callers) if p not in known]
        self._state = twin.records.copy()
        self._state["phase"] = AUCTION
        self._rng, self._legal = np.zeros(4, np.uint64), np.zeros(NUM_CARDS, np.int32)

    def num_differing(self, world: Record) -> int:
        """Return how many calls of hidden hands the natural bidder would not have made with those of `world`."""
        act, state = self._engine.act(_POLICY), self._state
        state["hands"][0] = world["hands"] | self._played
        differing = 0
        for k, player, call in self._calls:
            state["num_calls"], state["current_player"] = k, player
            differing += int(act(state, 0, 0, self._rng, self._legal)) != call
        return differing


def _values(worlds: np.ndarray, cards: np.ndarray) -> np.ndarray:
    """Return for each card the mean over worlds of what it loses to the best card of that world, in IMPs; at most 0."""
    side = int(worlds[0]["current_player"]) & 1
    further = card_tricks(list(worlds))[:, cards]
    scores = _scores(worlds[0], side)[int(worlds[0]["tricks_won"][side]) + further]
    losses = scores - scores.max(axis=1, keepdims=True)
    return np.vectorize(imps, otypes=[np.float64])(losses).mean(axis=0)


def _scores(s: Record, side: int) -> np.ndarray:
    """Return what each number of tricks of a side is worth to it, int64 (14,)."""
    declaring = int(s["declarer"]) & 1
    is_vulnerable = int(s["vulnerable"]) >> declaring & 1
    points = [
        duplicate_score(np.int64(s["contract"]), np.int64(s["doubled"]), is_vulnerable, n)
        for n in range(NUM_TRICKS + 1)
    ]
    return np.array(points if side == declaring else [-one for one in reversed(points)])


_PARAMETERS: dict[str, Reader] = {"worlds": int, "tried": int}


def _make(argument: str, game: Game, options: Options) -> Agent:
    return PimcAgent(game, **read_parameters("pimc", argument, _PARAMETERS))


PIMC = AgentKind(
    "pimc",
    "pimc",
    "bridge_v0: plays the card with the best mean over double-dummy worlds, 20 a decision; parameters `worlds` and "
    "`tried`, as in `pimc:worlds=50`; needs the extra `bridge`",
    _make,
    guest=False,
    isolation="none",
    games=(GAME,),
)
