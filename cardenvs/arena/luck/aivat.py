"""AIVAT: less noise from cards, from the actions of known players, and from the hands that they hold.

N. Burch, M. Schmid, M. Moravcik, D. Morrill and M. Bowling, "AIVAT: A New Variance Reduction Technique for Agent
Evaluation in Imperfect Information Games", AAAI 2018. Here for two players whose hands are dealt once and who see all
later cards and actions, as in poker for two.

A player is *known* if the probabilities of its actions are known for every hand it might hold. Let M be a set of
pairs of hands that contains the true pair: for a known player its hand and others drawn at random, for another player
the true hand alone. The others are drawn without looking at any other card, so, given M, the true pair is distributed
over M in proportion to the number of ways in which a pair can be dealt. After any public history, that is multiplied
by the probabilities of the cards and of the known players' actions so far; those of an unknown player's actions
depend on its hand and on what is public, so they are the same for all pairs in M. Let w be these weights, E_w the
weighted mean over M, and v a fixed function of the pair and the public history. Then each of these has a mean of 0,
given what happened before:

* hands: the return, less E_w[the return that each pair would have had], with w after the whole game.
* actions: when a known player takes action x, E_w'[v after x] - E_w[sum over actions y of p(y | hand) (v after y)],
  where w' is w times p(x | hand). Action x has probability E_w[p(x | hand)], and w' sums to that, so the sum over x of
  its probability times E_w'[v after x] is the second term.
* draws: when a public card is drawn, E_w'[v after it] - E_w[the mean of v over all cards that could have been drawn
  with this pair], where w' is w times the probability of the true card with each pair; for the same reason.
* deal: E_w[v] over M, less the same over a larger set, in which an unknown player also has other hands, drawn as
  above. Given that set, the true hand is distributed in proportion to w. If both players are known, there is no such
  part, because no hand is ever looked at.

Agents are known with their seeds given: a mean over seeds of estimates without bias has no bias either. The random
numbers of v and the hands in M do not depend on the cards.
"""

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardenvs.agents.known import KnownPolicy, known_policy
from cardenvs.agents.seating import FORCED
from cardenvs.agents.worlds import replayed
from cardenvs.arena.luck.draws import Draw, Draws
from cardenvs.arena.luck.values import Value
from cardenvs.arena.match import Match
from cardenvs.arena.records import GameRecord
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import ArenaError
from cardenvs.core.events import EVERYBODY
from cardenvs.core.rng import SEED_MASK, derived_seed

_PLAYERS = 2
_PARTS = ("deal", "draws", "actions")
_TRIED_DEALS = 5
_MOST_VALUES = 1000  # looked at for the same action, or before or after a draw
_LEAST_PROBABILITY = 1e-12  # of an action whose value is looked at
_STEPS = np.array([0x9E3779B97F4A7C15, 0xD1342543DE82EF95, 0xBF58476D1CE4E5B9], np.uint64)  # between seeds

Hand = tuple[int, ...]


def known_policies(match: Match) -> list[KnownPolicy | None]:
    """Return for each agent of a match its policy, or None if its distribution is not known.

    Raises:
        AgentError, PolicyNotFoundError, MissingExtraError: an agent cannot be made.
    """
    game, options = match.game, match.options
    return [None if entry.is_guest else known_policy(entry.spec, game, options) for entry in match.entries]


class AivatLuck:
    """AIVAT's corrections of the games of a match.

    Attributes:
        parts: names of the parts of the luck that `of` returns.
    """

    def __init__(
        self,
        match: Match,
        values: Sequence[Value],
        hands: int = 32,
        seed: int = 0,
        policies: Sequence[KnownPolicy | None] | None = None,
    ) -> None:
        """Prepare for the games of a match.

        Args:
            match: the match, for two players.
            values: the value functions; each gives parts of its own.
            hands: most hands that a player might hold, the true one included.
            seed: of everything that is drawn here.
            policies: for each agent its policy, or None if it is not known; None: found from the agents' specs.

        Raises:
            ArenaError: the match is not for two players, or `hands` is less than 1.
            AgentError, PolicyNotFoundError, MissingExtraError: a known agent cannot be made.
        """
        if match.options.num_players != _PLAYERS:
            raise ArenaError(
                f"AIVAT is for two players; this match of {match.game.name} has {match.options.num_players}"
            )
        if hands < 1:
            raise ArenaError(f"AIVAT needs at least 1 hand for each player, the true one; got {hands}")
        self._match, self._values, self._hands, self._seed = match, tuple(values), hands, seed
        self._policies = list(known_policies(match) if policies is None else policies)
        self.parts = ("hands", *(f"{part} by {value.name}" for value in values for part in _PARTS))

    @property
    def knows_somebody(self) -> bool:
        """Whether the policy of any agent is known."""
        return any(policy is not None for policy in self._policies)

    def fits(self) -> bool:
        """Return whether hands are dealt once and everything later is open, in the first deals with random play."""
        match = self._match
        for deal in range(_TRIED_DEALS):
            state = match.game.state_type(match.game, match.options, seed=match.deal_seed(deal))
            while not state.is_terminal:
                state.apply(state.policy_action("random", derived_seed(deal, "random play", state.ply)))
            try:
                draws = Draws(match.game, match.options, state.seed, state.actions)
                _Game(match, draws, (0, 1), [None, None], [0, 0], (), self._hands, 0)
            except ArenaError:
                return False
        return True

    def of(self, record: GameRecord) -> np.ndarray:
        """Return the luck of each player in a game, float64 (parts, players).

        Raises:
            ArenaError: the game does not have hands dealt once and all later cards face up, or an agent's actions are
                not those of its policy.
        """
        match = self._match
        draws = Draws(match.game, match.options, record.seed, record.actions)
        seeds = match.seat_seeds(record.deal, record.lineup)
        # All games of a deal have the same random numbers: where they go the same way, their luck is the same.
        has_failed = any(FORCED in outcomes for outcomes in record.outcomes)
        return self.of_game(draws, record.returns, record.seating, seeds, record.seed, has_failed)

    def of_game(
        self,
        draws: Draws,
        returns: Sequence[float],
        seating: Sequence[int],
        agent_seeds: Sequence[int],
        number: int = 0,
        has_failed: bool = False,
    ) -> np.ndarray:
        """Return the same for a game given by its draws.

        Args:
            draws: of the game.
            returns, seating, agent_seeds: by player; the agents' seeds for this game.
            number: of the game, for random numbers of its own.
            has_failed: whether an action was played for an agent that failed.
        """
        policies = [self._policies[agent] for agent in seating]
        if has_failed or any(action >= FORFEIT for action in draws.actions):
            policies = [None, None]  # whether an agent fails is not in its policy
        seed = derived_seed(self._seed, number)
        game = _Game(self._match, draws, seating, policies, agent_seeds, self._values, self._hands, seed)
        return game.luck(returns)


@dataclass
class _Pairs:
    """Pairs of hands with their weights.

    Attributes:
        first, second: int64 (n,), the numbers of the hands.
        weights: float64 (n,), positive.
    """

    first: np.ndarray
    second: np.ndarray
    weights: np.ndarray

    def of(self, player: int) -> np.ndarray:
        """Return the numbers of a player's hands."""
        return self.second if player else self.first

    def times(self, factors: np.ndarray) -> "_Pairs":
        """Return the pairs with their weights multiplied, without those of weight 0."""
        weights = self.weights * factors
        kept = weights > 0
        return _Pairs(self.first[kept], self.second[kept], weights[kept])

    def rows(self, rows: np.ndarray, weights: np.ndarray) -> "_Pairs":
        """Return some of the pairs with other weights."""
        return _Pairs(self.first[rows], self.second[rows], weights)

    def mean(self, values: np.ndarray) -> np.ndarray:
        """Return the weighted mean of values (n, players)."""
        found: np.ndarray = self.weights @ values / self.weights.sum()
        return found


class _Game:
    """One game to correct."""

    def __init__(
        self,
        match: Match,
        draws: Draws,
        seating: Sequence[int],
        policies: Sequence[KnownPolicy | None],
        agent_seeds: Sequence[int],
        values: Sequence[Value],
        num_hands: int,
        seed: int,
    ) -> None:
        self._game, self._options = match.game, match.options
        self._draws, self._seating, self._policies, self._agent_seeds = draws, seating, policies, agent_seeds
        self._values_by, self._num_hands, self._seed = values, num_hands, seed
        self._chooser = random.Random(derived_seed(seed, "chosen"))
        self._deck = Counter(match.game.deck(match.options).tolist())
        self._places = _places_of_hands(draws)
        hidden = {place for places in self._places for place in places}
        self._public = [token for place, token in enumerate(draws.tokens) if place not in hidden]
        self._true = [tuple(draws.tokens[place] for place in places) for places in self._places]
        # in an order that says nothing of the true hand
        self._hands = [sorted(self._hands_with(hand)) for hand in self._true]
        self._tables = [np.array(hands, np.int16) for hands in self._hands]
        self._true_numbers = [self._hands[player].index(self._true[player]) for player in range(_PLAYERS)]

    # -- the parts ----------------------------------------------------------------------------------------------

    def luck(self, returns: Sequence[float]) -> np.ndarray:
        """Return the luck, float64 (parts, players); see the module."""
        hands = np.zeros((1, _PLAYERS))
        luck = np.zeros((len(self._values_by), len(_PARTS), _PLAYERS))
        deal, drawn, acted = luck[:, 0], luck[:, 1], luck[:, 2]
        everything = self._dealt()
        pairs = everything
        for player in range(_PLAYERS):
            if self._policies[player] is None:
                pairs = pairs.times(pairs.of(player) == self._true_numbers[player])
        if len(pairs.weights) < len(everything.weights):
            deal += self._values(pairs, 0) / pairs.weights.sum()
            deal -= self._values(everything, 0) / everything.weights.sum()
        decided, later = [0, 0], {draw.ply: draw for draw in self._draws.draws[1:]}
        for ply, (player, legal) in enumerate(self._decisions()):
            policy = self._policies[player]
            if policy is not None:
                pairs = self._act(pairs, ply, player, legal, policy, decided[player], acted)
            decided[player] += 1
            if ply + 1 in later:
                pairs = self._draw(pairs, later[ply + 1], drawn)
        hands[0] = np.array(returns) - pairs.mean(self._returns(pairs))
        return np.concatenate([hands, luck.reshape(-1, _PLAYERS)])

    def _act(
        self,
        pairs: _Pairs,
        ply: int,
        player: int,
        legal: list[int],
        policy: KnownPolicy,
        decision: int,
        luck: np.ndarray,
    ) -> _Pairs:
        """Return the pairs after an action of a known player, and add its luck."""
        action = self._draws.actions[ply]
        held, of_pair = np.unique(pairs.of(player), return_inverse=True)
        decks = [self._deck_with(self._hands[player][hand], player, ply) for hand in held]
        chances = policy.probabilities(decks, self._draws.actions[:ply], self._agent_seeds[player], decision)[of_pair]
        after = pairs.times(chances[:, action])
        if not ((after.first == self._true_numbers[0]) & (after.second == self._true_numbers[1])).any():
            raise ArenaError(
                f"player_{player} chose action {action} at ply {ply}, which its policy never does with its cards: its "
                "file or cardenvs may have changed since the match"
            )
        for other in legal:
            rows = np.flatnonzero(chances[:, other] > _LEAST_PROBABILITY)
            if not len(rows):
                continue
            played = pairs.rows(rows, (pairs.weights * chances[:, other])[rows])
            values = self._values(self._some(played, ply, "action"), ply, [other])
            luck -= values / pairs.weights.sum()
            if other == action:
                luck += values / played.weights.sum()
        return after

    def _some(self, pairs: _Pairs, *place: Any) -> _Pairs:
        """Return enough pairs for a value: if there are many, some drawn in proportion to their weights.

        This is as if v were 0 for the others, and higher for these. Who is drawn depends on the weights, but not on the
        true pair: so v stays a function of pair and history. Pairs are in the order of hands and taken at equal
        distances, so that no part of them is left out by chance.

        Args:
            pairs: the pairs.
            place: names the value; each has its own random start.
        """
        if len(pairs.weights) <= _MOST_VALUES:
            return pairs
        shares = np.minimum(1, pairs.weights * (_MOST_VALUES / pairs.weights.sum()))
        start = derived_seed(self._seed, "start", *place) / 2.0**63
        rows = np.flatnonzero(np.diff(np.floor(start + np.cumsum(shares)), prepend=np.floor(start)))
        return pairs.rows(rows, pairs.weights[rows] / shares[rows])

    def _draw(self, pairs: _Pairs, draw: Draw, luck: np.ndarray) -> _Pairs:
        """Return the pairs after a public draw, and add its luck.

        Where outcomes are too many to be listed, each pair has one of its own, drawn at random, and other pairs are
        looked at before and after the draw. The mean is then 0 over these random numbers, too.
        """
        after = pairs.times(self._chances(pairs, draw, [draw.tokens])[:, 0])
        outcomes = self._outcomes(draw)
        if outcomes and (self._has_equal_cards or len(pairs.weights) * len(outcomes) <= _MOST_VALUES):
            chances = self._chances(pairs, draw, outcomes)
            rows, columns = np.nonzero(chances)
            weights = (pairs.weights / chances.sum(1))[rows] * chances[rows, columns]
            before, drawn = pairs.rows(rows, weights), after
            tokens = np.array(outcomes, np.int16)[columns].reshape(len(rows), -1)
        else:
            before, drawn = self._some(pairs, draw.ply, "before"), self._some(after, draw.ply, "after")
            tokens = self._drawn_with(before, draw)
        luck -= self._values(before, draw.ply, outcomes=tokens) / pairs.weights.sum()
        tokens = np.repeat(np.array([draw.tokens], np.int16), len(drawn.weights), axis=0)
        luck += self._values(drawn, draw.ply, outcomes=tokens) / after.weights.sum()
        return after

    def _drawn_with(self, pairs: _Pairs, draw: Draw) -> np.ndarray:
        """Return for each pair what could be drawn with it, at random, int16 (n, tokens)."""
        if self._has_equal_cards:
            raise ArenaError(
                f"AIVAT cannot correct draws of several cards from a deck with equal ones, {self._game.name}"
            )
        left = np.array(sorted(set(self._deck) - set(self._public_before(draw))), np.int16)
        order = np.random.default_rng(derived_seed(self._seed, "drawn", draw.ply)).random(
            (len(pairs.weights), len(left))
        )
        held = np.concatenate([self._tables[0][pairs.first], self._tables[1][pairs.second]], axis=1)
        order[(held[:, :, None] == left).any(1)] = np.inf
        return left[np.argsort(order, axis=1)[:, : len(draw.tokens)]]

    # -- hands and cards ----------------------------------------------------------------------------------------

    @property
    def _has_equal_cards(self) -> bool:
        return max(self._deck.values()) > 1

    def _hands_with(self, true: Hand) -> list[Hand]:
        """Return hands that a player might hold with the true one: all, or some drawn from the whole deck."""
        if len(true) == 1 and len(self._deck) <= self._num_hands:
            return [(token,) for token in self._deck]
        if self._has_equal_cards:
            raise ArenaError(
                f"AIVAT can draw hands only from a deck without equal cards; {self._game.name} has equal ones, so all "
                f"hands must be listed, which takes single cards and {len(self._deck)} hands; got {self._num_hands}"
            )
        found, cards = {true: None}, sorted(self._deck)
        most = min(self._num_hands, math.perm(len(cards), len(true)))
        while len(found) < most:
            found[tuple(self._chooser.sample(cards, len(true)))] = None
        return list(found)

    def _dealt(self) -> _Pairs:
        """Return all pairs of hands that can be dealt, weighted by the number of ways."""
        public = self._public[: len(self._draws.draws[0].tokens) - sum(map(len, self._places))]
        first, second = (grid.ravel() for grid in np.indices((len(self._hands[0]), len(self._hands[1]))))
        decks = np.concatenate([self._tables[0][first], self._tables[1][second]], axis=1)
        return _Pairs(first, second, np.ones(len(first))).times(self._ways(decks, [public])[:, 0])

    def _chances(self, pairs: _Pairs, draw: Draw, outcomes: Sequence[Hand]) -> np.ndarray:
        """Return numbers in proportion to the probabilities of outcomes of a public draw, given the pairs.

        Returns:
            float64 (pairs, outcomes).
        """
        before = self._public_before(draw)
        hands = np.concatenate([self._tables[0][pairs.first], self._tables[1][pairs.second]], axis=1)
        so_far = self._ways(hands, [before])
        result: np.ndarray = self._ways(hands, [[*before, *outcome] for outcome in outcomes]) / so_far
        return result

    def _ways(self, hands: np.ndarray, others: Sequence[Sequence[int]]) -> np.ndarray:
        """Return in how many ways both hands (n, size) and other sequences of tokens can be dealt, float64 (n, m)."""
        kinds = sorted(self._deck)
        numbers = np.array([self._deck[kind] for kind in kinds])
        held = (hands[:, :, None] == np.array(kinds, np.int16)).sum(1)  # (n, kinds)
        taken = np.array([[other.count(kind) for kind in kinds] for other in others])  # (m, kinds)
        if not self._has_equal_cards:
            fits = (held.max(1) <= 1)[:, None] & (taken.max(1) <= 1) & (held @ taken.T == 0)
            result: np.ndarray = fits.astype(np.float64)
            return result
        ways = np.ones((len(held), len(taken)))
        for kind, number in enumerate(numbers):
            together = held[:, None, kind] + taken[None, :, kind]
            ways *= np.array([math.perm(number, drawn) for drawn in range(int(together.max()) + 1)])[together]
        return ways

    def _outcomes(self, draw: Draw) -> list[Hand]:
        """Return all outcomes of a draw of one token; [] for others, which are too many to be listed."""
        return [(token,) for token in sorted(self._deck)] if len(draw.tokens) == 1 else []

    def _public_before(self, draw: Draw) -> list[int]:
        return self._public[: draw.first - sum(map(len, self._places))]

    # -- worlds -------------------------------------------------------------------------------------------------

    def _drawn_by(self, ply: int) -> list[int]:
        """Return the tokens drawn before the decision at a ply."""
        return [token for draw in self._draws.draws if draw.ply <= ply for token in draw.tokens]

    def _decks(self, pairs: _Pairs, tokens: Sequence[int]) -> np.ndarray:
        """Return the drawn tokens with the hands of each pair, int16 (n, tokens)."""
        decks = np.repeat(np.array([tokens], np.int16), len(pairs.weights), axis=0)
        for player, places in enumerate(self._places):
            decks[:, places] = self._tables[player][pairs.of(player)]
        return decks

    def _deck_with(self, hand: Hand, player: int, ply: int) -> list[int]:
        """Return the tokens drawn before a ply if `player` had a hand; the other one has any cards that are left."""
        deck = self._drawn_by(ply)
        own, other = self._places[player], self._places[1 - player]
        left = self._deck.copy()
        left.subtract([*hand, *(token for place, token in enumerate(deck) if place not in (*own, *other))])
        for place, token in zip((*own, *other), (*hand, *sorted((+left).elements())), strict=False):
            deck[place] = token
        return deck

    def _values(
        self, pairs: _Pairs, ply: int, more: Sequence[int] = (), outcomes: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the weighted sum of the values of the pairs, float64 (values, players).

        A pair has the same random numbers with all actions and outcomes.

        Args:
            pairs: the pairs.
            ply: number of actions of the game that are played.
            more: further actions.
            outcomes: int16 (n, tokens), what is drawn after them with each pair instead of the true tokens.
        """
        decks = self._decks(pairs, self._drawn_by(ply if outcomes is None else ply - 1))
        if outcomes is not None:
            decks = np.concatenate([decks, outcomes], axis=1)
        node = derived_seed(self._seed, ply, len(more), outcomes is None)
        actions = [*self._draws.actions[:ply], *more]
        found = np.zeros((len(decks), len(self._values_by), _PLAYERS))
        for number, value in enumerate(self._values_by):
            seeds = np.concatenate([_seeds(node, shuffle, pairs) for shuffle in range(value.shuffles)])
            records = replayed(self._game, self._options, np.tile(decks, (value.shuffles, 1)), actions, seeds)
            found[:, number] = value.of(records, self._seating).reshape(value.shuffles, len(decks), _PLAYERS).mean(0)
        return np.tensordot(pairs.weights, found, 1)

    def _returns(self, pairs: _Pairs) -> np.ndarray:
        """Return the returns that the pairs would have had, float64 (n, players)."""
        decks = self._decks(pairs, self._draws.tokens)
        records = replayed(self._game, self._options, decks, self._draws.actions, np.zeros(len(decks), np.int64))
        returns: np.ndarray = records["returns"][:, :_PLAYERS]
        return returns

    def _decisions(self) -> list[tuple[int, list[int]]]:
        """Return who acted at each ply, and what was legal."""
        state = self._game.state_type(self._game, self._options, seed=0, deck=self._draws.tokens)
        found = []
        for action in self._draws.actions:
            found.append((state.current_player, state.legal_actions()))
            state.apply_unchecked(action)
        return found


def _seeds(node: int, shuffle: int, pairs: _Pairs) -> np.ndarray:
    """Return a seed for each pair, int64 (n,)."""
    with np.errstate(over="ignore"):
        mixed = np.uint64(node) + np.uint64(shuffle) * _STEPS[0]
        mixed = mixed + pairs.first.astype(np.uint64) * _STEPS[1] + pairs.second.astype(np.uint64) * _STEPS[2]
    seeds: np.ndarray = (mixed & np.uint64(SEED_MASK)).astype(np.int64)
    return seeds


def _places_of_hands(draws: Draws) -> list[tuple[int, ...]]:
    """Return for each of two players the places of its hand among the drawn tokens.

    Raises:
        ArenaError: hands are dealt more than once or drawn to later, or not everybody sees later cards and all actions.
    """
    dealt = len(draws.draws[0].tokens) if draws.draws else 0
    seen = draws.seen
    places = [tuple(place for place in range(dealt) if seen[place] == 1 << player) for player in range(_PLAYERS)]
    public = [place for place in range(len(seen)) if seen[place] == EVERYBODY]
    if not (draws.is_whole and draws.is_open and all(places) and len(public) + sum(map(len, places)) == len(seen)):
        raise ArenaError(
            f"AIVAT is for games in which two hands are dealt once and everybody sees all later cards and actions; "
            f"{draws.game.name} is not one of them with these options"
        )
    return places
