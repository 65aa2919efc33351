"""The chance of a stored game: which tokens were drawn when, and the same game with other draws.

A draw is a chance event: tokens leave the deck that the deal has shuffled. All orders of a shuffled deck are equally
likely, and players know nothing of the order of what is left of it. So, given all that has happened before, each
sequence of tokens that are left is equally likely to be the next draw, whoever plays and however they play.

Games of one deal whose deck is only drawn from are covered in full. In others, draws count up to the moment at which
tokens come back to the deck, a second deck is created or shuffled, or dice are rolled.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cardenvs.agents.worlds import replayed
from cardenvs.core import events as ev
from cardenvs.core.errors import ArenaError
from cardenvs.core.game import Game
from cardenvs.core.options import Options

MOST_OUTCOMES = 128  # of a draw of one token
SAMPLED_OUTCOMES = 32  # of any other draw
_LOG_ROWS = 1024
_Drawn = tuple[int, int, int]  # token, who sees it, and the player who draws it
_CHANGES = {ev.Op.CLEAR, ev.Op.CREATE, ev.Op.SHUFFLE}


@dataclass(frozen=True)
class Draw:
    """Tokens that left the deck between two decisions.

    Attributes:
        ply: number of actions before it; 0 is the deal.
        first: number of tokens drawn before.
        tokens: the tokens, in order.
    """

    ply: int
    first: int
    tokens: tuple[int, ...]


class Draws:
    """The draws of a finished game.

    Attributes:
        game, options, actions: the game; actions include codes.
        tokens: all drawn tokens, in order.
        seen: for each of them, the bit set of viewers who saw its face when it was drawn.
        draws: the draws, in order. The first is the deal.
        is_open: whether everybody saw that each event happened.
        is_whole: whether they are all the chance of the game.
    """

    def __init__(
        self, game: Game, options: Options, seed: int, actions: Sequence[int], deck: Sequence[int] = ()
    ) -> None:
        """Play the game again to see its draws.

        Args:
            game, options: what was played.
            seed: of the deal.
            actions: all actions, in order.
            deck: the explicit tokens of the deal.
        """
        self.game, self.options, self.actions = game, options, tuple(actions)
        self._kinds = game.table.kinds
        self._legal = np.zeros(game.max_legal(options), np.int32)
        self._piles: set[int] = set()
        self.tokens: list[int] = []
        self.seen: list[int] = []
        self.is_open = True
        self.draws: list[Draw] = []
        self.is_whole = True
        self._left: Counter[int] = Counter()
        if game.rolled(options) is None:
            self._look(seed, deck)
        else:
            self.is_whole = False

    def _look(self, seed: int, deck: Sequence[int]) -> None:
        steps = list(self._steps(seed, deck))
        drawn: list[list[_Drawn]] = []
        for ply, rows in enumerate(steps):
            self.is_open &= bool((rows[:, ev.AUDIENCE] == ev.EVERYBODY).all())
            found = self._drawn(rows, ply == 0)
            if found is None:
                self.is_whole = False
                break
            drawn.append(found)
        # An explicit deck has the hands in player order, but they may be dealt card by card.
        for order in (None, _by_player):
            self._note([sorted(found, key=order) if order and ply == 0 else found for ply, found in enumerate(drawn)])
            if self._is_same(steps[: len(drawn)], seed):
                return
        self._note([])
        self.is_whole = False

    def _note(self, drawn: list[list["_Drawn"]]) -> None:
        """Set tokens and draws."""
        self.tokens, self.seen, self.draws = [], [], []
        for ply, found in enumerate(drawn):
            if found:
                self.draws.append(Draw(ply, len(self.tokens), tuple(token for token, _, _ in found)))
                self.tokens += [token for token, _, _ in found]
                self.seen += [seen for _, seen, _ in found]
        self._left = Counter(self.game.deck(self.options).tolist())
        self._left.subtract(self.tokens)

    def _steps(self, seed: int, deck: Sequence[int]) -> Iterator[np.ndarray]:
        """Yield the events of the deal and of each action, int32 (n, COLUMNS)."""
        engine, records = self.game.engine, self.game.blank(self.options)
        given, log = np.array(deck, np.int16), ev.new_log(_LOG_ROWS)
        engine.start(records, 0, seed, given, log)
        yield _taken(log)
        for action in self.actions:
            engine.apply(records, 0, action, log, self._legal)
            yield _taken(log)

    def _drawn(self, rows: np.ndarray, is_deal: bool) -> list["_Drawn"] | None:
        """Return what the events of a step draw from the deck, or None if they change the deck."""
        drawn = []
        for row in rows.tolist():
            op = self._kinds[row[ev.KIND]].op
            if is_deal and not self._piles:
                if op == ev.Op.CREATE:
                    self._piles.add(row[ev.TARGET])
            elif (
                op in _CHANGES
                or (op in (ev.Op.MOVE, ev.Op.MOVE_ALL) and row[ev.TARGET] in self._piles)
                or (op == ev.Op.MOVE_ALL and row[ev.SOURCE] in self._piles)
            ):
                return None
            elif op == ev.Op.MOVE and row[ev.SOURCE] in self._piles:
                drawn.append((row[ev.TOKEN], row[ev.VISIBLE], row[ev.PLAYER]))
        return drawn

    def _is_same(self, steps: list[np.ndarray], seed: int) -> bool:
        """Return whether the drawn tokens explain the game as far as they go: another seed gives the same events."""
        if not self.draws or min(self._left.values()) < 0:
            return False
        # Step by step, because after other events the next action may be illegal.
        again = self._steps(seed ^ 1, self.tokens)
        return all(np.array_equal(step, next(again)) for step in steps)

    def left(self, draw: Draw) -> Counter[int]:
        """Return the tokens in the deck before a draw, with their numbers."""
        left = Counter(self._left)
        left.update(self.tokens[draw.first :])
        return +left

    def alternatives(self, draw: Draw, chooser: random.Random) -> tuple[list[tuple[int, ...]], np.ndarray]:
        """Return possible outcomes of a draw, and their weights, float64 (n,), which sum to 1.

        For one token these are all outcomes with their probabilities, so that a weighted mean over them is the expected
        value. Otherwise they are drawn like the true one, with equal weights: the weighted mean then has the same
        expectation as a value of the true outcome.

        Args:
            draw: one of `draws`.
            chooser: for outcomes that are drawn.
        """
        left = self.left(draw)
        if len(draw.tokens) == 1 and len(left) <= MOST_OUTCOMES:
            weights = np.array(list(left.values()), np.float64)
            return [(token,) for token in left], weights / weights.sum()
        everything = list(left.elements())
        outcomes = [tuple(chooser.sample(everything, len(draw.tokens))) for _ in range(SAMPLED_OUTCOMES)]
        return outcomes, np.full(SAMPLED_OUTCOMES, 1 / SAMPLED_OUTCOMES)

    def worlds(self, draw: Draw, outcomes: Sequence[tuple[int, ...]], seeds: Sequence[int]) -> np.ndarray:
        """Return the positions right after a draw for several outcomes, as records (n,).

        What is left in the deck is shuffled again, from the outcome's seed: nothing in a world depends on the order of
        the true deck after the draw.
        """
        before = self.tokens[: draw.first]
        decks = [[*before, *outcome] for outcome in outcomes]
        return replayed(self.game, self.options, decks, self.actions[: draw.ply], seeds)


def _by_player(drawn: _Drawn) -> int:
    """Return the place in the order of an explicit deck: hands in player order, then everything else."""
    player = drawn[2]
    return player if player != ev.NO_PLAYER else ev.EVERYBODY


def _taken(log: np.ndarray) -> np.ndarray:
    """Return the events in a log, and empty it."""
    count = int(log[0, 0])
    if count >= len(log):
        raise ArenaError(f"one step of a game has {count} events; at most {len(log) - 1} can be read")
    log[0, 0] = 0
    return log[1 : count + 1].copy()
