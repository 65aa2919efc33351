"""Local best response: how much a player of heads-up hold'em loses at least to somebody who looks one action ahead.

V. Lisý and M. Bowling, "Equilibrium Approximation Quality of Current No-Limit Poker Bots" (AAAI workshop 2017). The
response knows the opponent's policy, but not its cards. It keeps a range: the probability of each of the 1,326 hands,
from the policy's own probabilities of what it has done. It then takes the best of folding, calling and a few raises, as
if both would check from there to the showdown, and as if the policy's folds to the raise were known.

Whatever it wins against the policy, a best response wins as well, so its result is a lower bound of the exploitability
of the policy. It is no upper bound: it does not plan beyond one action.

Where the policy's probabilities are exact, a showdown counts with its mean over the range and the cards to come. That
is less noisy than the cards that were dealt, and the same on average.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from cardenvs.agents.base import Agent, Turn
from cardenvs.agents.policy import PolicyAgent
from cardenvs.core.errors import AgentError, OptionError
from cardenvs.core.events import NO_LOG
from cardenvs.core.rng import derived_seed
from cardenvs.core.state import State
from cardenvs.games.texas_holdem import GAME, evaluator
from cardenvs.games.texas_holdem.actions import CHECK_CALL, FOLD
from cardenvs.games.texas_holdem.legal import owed
from cardenvs.games.texas_holdem.state import BOARD_CARDS, NUM_BOARD, TexasHoldemOptions
from cardenvs.kits.cards import NUM_CARDS
from cardenvs.tools.texas_holdem.plain_agents import raise_totals

if TYPE_CHECKING:
    from cardenvs.agents.ppo import PPOAgent

HANDS = np.array(list(itertools.combinations(range(NUM_CARDS), 2)), np.int64)  # (1326, 2)
_BOARDS = 60  # sampled for an equity, if there are more
_RUNOUTS = 20  # of the cards to come, for the mean of a showdown
_FOLDERS = 256  # hands of the range for which the folds to a raise are worked out
_POT_SHARES = (0.5, 1.0)  # raises that are tried, as shares of the pot after a call; all in besides
_LEAST_WEIGHT = 1e-5  # share of the range below which a hand is no longer in it
_TREMBLE = 0.02  # probability that a rule agent, whose probabilities are unknown, does anything


class RangePolicy(Protocol):
    """A policy whose choices are known for every hand that it might hold.

    Attributes:
        is_exact: whether the agent acts with these probabilities.
    """

    is_exact: bool

    def probabilities(self, records: np.ndarray, legal: list[int], player: int, seed: int) -> np.ndarray:
        """Return the probabilities of some legal actions, floats (N, len(legal)), of the player to act in N records."""


class NetworkPolicy:
    """The policy of a network, as its agent plays it: drawn, or the most likely action."""

    is_exact = True

    def __init__(self, agent: "PPOAgent", options: TexasHoldemOptions) -> None:
        self._agent, self._options = agent, options

    def probabilities(self, records: np.ndarray, legal: list[int], player: int, seed: int) -> np.ndarray:
        """See `RangePolicy`."""
        _, seen = GAME.decisions(self._agent.reads(GAME, self._options), records)
        mask = np.zeros((len(records), GAME.num_actions(self._options)), np.bool_)
        mask[:, legal] = True
        probs: np.ndarray = np.exp(self._agent.log_probs(seen, mask)[:, legal])
        if self._agent.sample:
            return probs / probs.sum(axis=1, keepdims=True)
        return np.equal(np.arange(len(legal)), probs.argmax(axis=1)[:, None]).astype(np.float64)


class RulePolicy:
    """A rule agent of the game. Its probabilities are those of one choice for each hand, and of a small tremble."""

    is_exact = False

    def __init__(self, name: str) -> None:
        self._name = name

    def probabilities(self, records: np.ndarray, legal: list[int], player: int, seed: int) -> np.ndarray:
        """See `RangePolicy`."""
        act = GAME.engine.act(self._name)
        rng, scratch = np.zeros(4, np.uint64), np.zeros(NUM_CARDS, np.int32)
        chosen = [act(records, k, derived_seed(seed, k), rng, scratch) for k in range(len(records))]
        return (1 - _TREMBLE) * np.equal(np.array(chosen)[:, None], legal) + _TREMBLE / len(legal)


def range_policy(agent: Agent, options: TexasHoldemOptions) -> RangePolicy:
    """Return the policy of an agent.

    Raises:
        AgentError: its choices for other hands are not known.
        MissingExtraError: torch is not installed.
    """
    from cardenvs.agents.ppo import PPOAgent

    if isinstance(agent, PolicyAgent):
        return RulePolicy(agent.policy)
    if isinstance(agent, PPOAgent):
        return NetworkPolicy(agent.single_precision(), options)
    raise AgentError(
        f"a local best response asks what {agent.name} would do with every hand; take a policy of the game, or an "
        "agent of the kinds ppo and zoo"
    )


@dataclass(frozen=True)
class Bound:
    """What the response wins.

    Attributes:
        mean: big blinds per 100 hands.
        half: half of its 95% interval.
        deals: number of deals, each played from both seats.
    """

    mean: float
    half: float
    deals: int

    @property
    def low(self) -> float:
        """The lower end of the interval: the agent loses at least that to a best response."""
        return self.mean - self.half


def verdict(bound: Bound) -> str:
    """Return what a bound says of an agent, and how good it is known to be."""
    if bound.low > 0:
        says = f"So a best response wins at least {bound.low:.0f}."
    else:
        says = "That proves no loss: the interval reaches zero."
    return f"{says} It is a lower bound only: the response plans no further than one action, and others may win more."


def check_options(options: TexasHoldemOptions) -> None:
    """Check that options are those of a single hand of two players.

    Raises:
        OptionError: they are not.
    """
    if options.num_players != 2 or options.format != "cash" or options.num_hands != 1:
        raise OptionError(
            "a local best response plays single hands of two: add -o num_players=2 -o format=cash -o num_hands=1"
        )


def measure(
    agent: Agent,
    options: TexasHoldemOptions,
    deals: int,
    seed: int = 0,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Bound:
    """Play a local best response against an agent.

    Args:
        agent: a policy of the game, or a network.
        options: of a single hand of two players.
        deals: number of deals, at least 2; each is played from both seats.
        seed: seed of the deals and of all choices.
        on_progress: called with the deals played and their number.

    Raises:
        OptionError: other options.
        AgentError: the agent's choices for other hands are not known.
    """
    check_options(options)
    policy = range_policy(agent, options)
    _, big_blind = options.all_blinds()[0]
    won: np.ndarray = np.zeros(deals)
    for k in range(deals):
        own = derived_seed(seed, "deal", k)
        won[k] = np.mean([_Game(agent, policy, options, own, me).result() for me in (0, 1)])
        on_progress(k + 1, deals)
    won = won * (100 / big_blind)
    return Bound(float(won.mean()), float(1.96 * won.std(ddof=1) / math.sqrt(deals)), deals)


class _Game:
    """One hand, in which the response has seat `me`."""

    def __init__(self, agent: Agent, policy: RangePolicy, options: TexasHoldemOptions, seed: int, me: int) -> None:
        self._agent, self._policy, self._seed, self._me = agent, policy, seed, me
        self._state = GAME.state_type(GAME, options, seed=seed)
        own = self._state.record.deck[2 * me : 2 * me + 2]
        self._weights: np.ndarray = np.array(~np.isin(HANDS, own).any(axis=1), np.float64)

    def result(self) -> float:
        """Play the hand and return the chips that the response wins."""
        state = self._state
        while not state.is_terminal:
            seed = derived_seed(self._seed, "choice", self._me, state.ply)
            if state.current_player == self._me:
                action = self._best(seed)
            else:
                action = self._agent.act(Turn(state, seed))
                self._learn(action, seed)
            after = state.clone()
            after.apply(action)
            if self._policy.is_exact and after.is_terminal and action != FOLD:
                return self._mean_of_showdown(action, seed)
            state.apply(action)
        return float(state.returns[self._me])

    def _mean_of_showdown(self, action: int, seed: int) -> float:
        """Return what the response wins on average if `action` leads to a showdown."""
        self._without_board()
        held = np.flatnonzero(self._weights)
        means = []
        for k in range(1 if len(self._board()) == NUM_BOARD else _RUNOUTS):
            twin = self._state.determinize(self._me, derived_seed(seed, "cards to come", k))
            records = self._with_hands(twin, held)
            GAME.engine.advance_rows(records, np.arange(len(held)), np.full(len(held), action), NO_LOG)
            means.append(float(self._weights[held] @ records["returns"][:, self._me]))
        return float(np.mean(means))

    def _learn(self, action: int, seed: int) -> None:
        """Narrow the range by an action of the opponent."""
        self._without_board()
        legal = self._state.legal_actions()
        if len(legal) < 2:
            return
        held = np.flatnonzero(self._weights)
        twin = self._state.determinize(self._me, seed)
        probs = self._policy.probabilities(self._with_hands(twin, held), legal, 1 - self._me, seed)
        narrowed = np.zeros_like(self._weights)
        narrowed[held] = self._weights[held] * probs[:, legal.index(action)]
        if narrowed.sum() > 1e-9 * self._weights.sum():
            narrowed /= narrowed.sum()
            self._weights = np.where(narrowed < _LEAST_WEIGHT, 0, narrowed)

    def _without_board(self) -> None:
        self._weights[np.isin(HANDS, self._board()).any(axis=1)] = 0
        self._weights /= self._weights.sum()

    def _board(self) -> np.ndarray:
        s = self._state.record
        return s.deck[4 : 4 + int(BOARD_CARDS[int(s.street)])]

    def _with_hands(self, twin: State, hands: np.ndarray) -> np.ndarray:
        """Return records of a twin with each of some hands, numbers of HANDS, in the place of the opponent's."""
        records = np.repeat(twin.records, len(hands))
        rows, deck = np.arange(len(hands)), records["deck"]
        for k in range(2):
            place, card = 2 * (1 - self._me) + k, HANDS[hands, k].astype(deck.dtype)
            where = np.argmax(deck == card[:, None], axis=1)
            deck[rows, where] = deck[:, place]
            deck[:, place] = card
        return records

    # -- the response -------------------------------------------------------------------------------------------

    def _best(self, seed: int) -> int:
        """Return the best action, looking one action ahead."""
        self._without_board()
        legal = self._state.legal_actions()
        if len(legal) == 1:
            return legal[0]
        s, me = self._state.record, self._me
        pot, to_call = int(s.pot), int(owed(s, me))
        equities = self._equities(seed)
        wins = float(self._weights @ equities)
        values = {CHECK_CALL: wins * (pot + to_call) - to_call}
        if FOLD in legal:
            values[FOLD] = 0.0
        twin = self._state.determinize(me, seed)
        hands = self._sampled_hands(seed)
        for action, total in self._raises(twin).items():
            values[action] = self._value_of_raise(twin, action, total, hands, equities, seed)
        return max(values, key=lambda action: (values[action], -action))

    def _raises(self, twin: State) -> dict[int, int]:
        """Return the raises to try and their totals: those closest to shares of the pot, and the largest one."""
        raises = raise_totals(twin)
        if not raises:
            return {}
        s = twin.record
        after_call = int(s.pot) + int(owed(s, self._me))
        wanted = [int(s.to_match) + share * after_call for share in _POT_SHARES]
        chosen = [min(raises, key=lambda action: abs(raises[action] - total)) for total in wanted]
        chosen.append(max(raises, key=lambda action: raises[action]))
        return {action: raises[action] for action in chosen}

    def _value_of_raise(
        self, twin: State, action: int, total: int, hands: np.ndarray, equities: np.ndarray, seed: int
    ) -> float:
        """Return what a raise wins: the pot if the opponent folds, else its share of the pot with the call."""
        s, me, other = twin.record, self._me, 1 - self._me
        paid = total - int(s.bets[s.street, me])
        most = int(s.stacks[other] + s.bets[s.street, other]) - int(s.bets[s.street, me])
        matched = min(paid, most)  # what the opponent cannot call comes back
        call = int(s.bets[s.street, me]) + matched - int(s.bets[s.street, other])
        after = twin.clone()
        after.apply(action)
        legal = after.legal_actions()
        probs = self._policy.probabilities(self._with_hands(after, hands), legal, other, seed)
        folds = probs[:, legal.index(FOLD)] if FOLD in legal else np.zeros(len(hands))
        stays: np.ndarray = 1 - folds
        called = float(stays.mean())
        wins = float(stays @ equities[hands] / stays.sum()) if called > 0 else 0.0
        pot = int(s.pot)
        return (1 - called) * pot + called * (wins * (pot + matched + call) - matched)

    def _sampled_hands(self, seed: int) -> np.ndarray:
        """Return hands drawn from the range, evenly: hand h about as often as its probability says."""
        total = np.cumsum(self._weights)
        start = derived_seed(seed, "hands") / 2.0**63
        points = (np.arange(_FOLDERS) + start) / _FOLDERS * total[-1]
        return np.minimum(np.searchsorted(total, points), np.flatnonzero(self._weights)[-1])

    def _equities(self, seed: int) -> np.ndarray:
        """Return the share of the pot that the own hand wins against each hand at a showdown, (1326,)."""
        board = self._board().astype(np.int64)
        own = self._state.record.deck[2 * self._me : 2 * self._me + 2].astype(np.int64)
        boards = _boards(board, own, seed)
        mine = _ranks(np.concatenate([np.broadcast_to(own, (len(boards), 2)), boards], axis=1))
        held = np.flatnonzero(self._weights)
        has = np.zeros((len(boards), NUM_CARDS), np.bool_)
        np.put_along_axis(has, boards, True, axis=1)
        row, hand = np.nonzero(~has[:, HANDS[held]].any(axis=2))
        theirs = _ranks(np.concatenate([HANDS[held[hand]], boards[row]], axis=1))
        share = np.where(mine[row] > theirs, 1.0, np.where(mine[row] == theirs, 0.5, 0.0))
        count = np.bincount(hand, minlength=len(held))
        equities = np.zeros(len(HANDS))
        equities[held] = np.bincount(hand, share, minlength=len(held)) / np.maximum(count, 1)
        return equities


def _boards(board: np.ndarray, own: np.ndarray, seed: int) -> np.ndarray:
    """Return whole boards, (n, 5): all of them if they are few, else some at random."""
    rest = np.setdiff1d(np.arange(NUM_CARDS), np.concatenate([board, own]))
    missing = NUM_BOARD - len(board)
    if not missing:
        return board[None]
    if math.comb(len(rest), missing) <= _BOARDS:
        added = np.array(list(itertools.combinations(rest, missing)), np.int64).reshape(-1, missing)
    else:
        order = np.random.default_rng(derived_seed(seed, "boards")).random((_BOARDS, len(rest)))
        added = rest[order.argpartition(missing, axis=1)[:, :missing]]
    return np.concatenate([np.broadcast_to(board, (len(added), len(board))), added], axis=1)


def _ranks(cards: np.ndarray) -> np.ndarray:
    out = np.zeros(len(cards), np.int64)
    evaluator.rank_hands(np.ascontiguousarray(cards), out)
    return out
