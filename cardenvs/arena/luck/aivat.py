"""AIVAT: less noise from cards, from the actions of known players, and from the hands that they hold.

N. Burch, M. Schmid, M. Moravcik, D. Morrill and M. Bowling, "AIVAT: A New Variance Reduction Technique for Agent
Evaluation in Imperfect Information Games", AAAI 2018. Here for two players whose hands are dealt once and who see all
later cards and actions: Kuhn poker, Leduc poker, Texas hold'em.

A player is *known* if the probabilities of its actions are known for every hand it might hold. Let M be a set of pairs
of hands that contains the true pair: for a known player its hand and others drawn at random, for another player the true
hand alone. The others are drawn without looking at any other card, so, given M, the true pair is distributed over M in
proportion to the number of ways in which a pair can be dealt. After any public history, that is multiplied by the
probabilities of the cards and of the known players' actions so far; those of an unknown player's actions depend on its
hand and on what is public, so they are the same for all pairs in M. Let w be these weights, E_w the weighted mean over
M, and v a fixed function of the pair and the public history. Then each of these has a mean of 0, given what happened
before:

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

import itertools
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from cardenvs.arena.luck.draws import MOST_OUTCOMES, SAMPLED_OUTCOMES, Draw, Draws
from cardenvs.arena.luck.policies import KnownPolicy, known_policies
from cardenvs.arena.luck.values import Value
from cardenvs.arena.luck.worlds import replayed
from cardenvs.arena.match import Match
from cardenvs.arena.records import GameRecord
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import ArenaError
from cardenvs.core.events import EVERYBODY
from cardenvs.core.rng import SEED_MASK, derived_seed

_PLAYERS = 2
_LEAST_PROBABILITY = 1e-12  # of an action whose value is looked at

Hand = tuple[int, ...]


class AivatLuck:
    """AIVAT's corrections of the games of a match.

    Attributes:
        parts: names of the parts of the luck that `of` returns.
    """

    parts = ("hands", "deal", "draws", "actions")

    def __init__(
        self,
        match: Match,
        value: Value,
        hands: int = 32,
        seed: int = 0,
        policies: Sequence[KnownPolicy | None] | None = None,
    ) -> None:
        """Prepare for the games of a match.

        Args:
            match: the match, for two players.
            value: the value function.
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
        self._match, self._value, self._hands, self._seed = match, value, hands, seed
        self._policies = list(known_policies(match) if policies is None else policies)

    def of(self, record: GameRecord) -> np.ndarray:
        """Return the luck of each player in a game, float64 (parts, players).

        Raises:
            ArenaError: the game does not have hands dealt once and all later cards face up, or an agent's actions are
                not those of its policy.
        """
        match = self._match
        draws = Draws(match.game, match.options, record.seed, record.actions)
        policies = [self._policies[agent] for agent in record.seating]
        if any(action >= FORFEIT for action in record.actions):
            policies = [None, None]  # whether an agent fails is not in its policy
        seeds = match.seat_seeds(record.deal, record.lineup)
        seed = derived_seed(self._seed, record.seed, record.lineup)
        return _Game(match, draws, policies, seeds, self._value, self._hands, seed).luck(record.returns)


@dataclass
class _Pairs:
    """Pairs of hands with their weights.

    Attributes:
        hands: for each player the hands.
        first, second: int64 (n,), indices into them.
        weights: float64 (n,), positive.
    """

    hands: tuple[list[Hand], list[Hand]]
    first: np.ndarray
    second: np.ndarray
    weights: np.ndarray

    def of(self, player: int) -> np.ndarray:
        return self.second if player else self.first

    def times(self, factors: np.ndarray) -> "_Pairs":
        """Return the pairs with their weights multiplied, without those of weight 0."""
        weights = self.weights * factors
        kept = weights > 0
        return _Pairs(self.hands, self.first[kept], self.second[kept], weights[kept] / weights.max(initial=1e-300))

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
        policies: Sequence[KnownPolicy | None],
        agent_seeds: Sequence[int],
        value: Value,
        num_hands: int,
        seed: int,
    ) -> None:
        self._game, self._options = match.game, match.options
        self._draws, self._policies, self._agent_seeds = draws, policies, agent_seeds
        self._value, self._num_hands = value, num_hands
        self._seeds = np.random.default_rng(seed)
        self._chooser = random.Random(derived_seed(seed, "hands"))
        self._deck = Counter(match.game.deck(match.options).tolist())
        self._places = _places_of_hands(draws)

    # -- the parts ----------------------------------------------------------------------------------------------

    def luck(self, returns: Sequence[float]) -> np.ndarray:
        """Return the luck, float64 (parts, players); see the module."""
        luck = np.zeros((len(AivatLuck.parts), _PLAYERS))
        deal, hands = luck[1], luck[0]
        true = [tuple(self._draws.tokens[place] for place in places) for places in self._places]
        others = [self._hands_with(hand) for hand in true]
        is_known = [policy is not None for policy in self._policies]
        kept = [others[p] if is_known[p] else [true[p]] for p in range(_PLAYERS)]
        pairs = self._dealt(kept)
        if not all(is_known):
            deal += pairs.mean(self._values(pairs, 0)) - self._mean_at_deal(others)
        decided, later = [0, 0], {draw.ply: draw for draw in self._draws.draws[1:]}
        players = self._players()
        for ply, action in enumerate(self._draws.actions):
            player = players[ply]
            policy = self._policies[player]
            if policy is not None:
                pairs = self._act(pairs, ply, action, player, policy, decided[player], luck[3])
            decided[player] += 1
            if ply + 1 in later:
                pairs = self._draw(pairs, later[ply + 1], luck[2])
        hands += np.array(returns) - pairs.mean(self._returns(pairs))
        return luck

    def _mean_at_deal(self, hands: list[list[Hand]]) -> np.ndarray:
        pairs = self._dealt(hands)
        return pairs.mean(self._values(pairs, 0))

    def _act(
        self, pairs: _Pairs, ply: int, action: int, player: int, policy: KnownPolicy, decision: int, luck: np.ndarray
    ) -> _Pairs:
        """Return the pairs after an action of a known player, and add its luck."""
        held, of_pair = np.unique(pairs.of(player), return_inverse=True)
        decks = [self._deck_with(pairs.hands[player][hand], player, ply) for hand in held]
        chances = policy.probabilities(decks, self._draws.actions[:ply], self._agent_seeds[player], decision)
        after = pairs.times(chances[of_pair, action])
        if not len(after.weights) or not self._is_true_pair(after):
            raise ArenaError(
                f"player_{player} chose action {action} at ply {ply}, which its policy never does with its cards; its "
                "file or the game may have changed since the match"
            )
        expected = np.zeros(_PLAYERS)
        for other in np.flatnonzero(chances.max(0) > _LEAST_PROBABILITY).tolist():
            share = chances[of_pair, other]
            rows = share > _LEAST_PROBABILITY
            if rows.any():
                some = _Pairs(pairs.hands, pairs.first[rows], pairs.second[rows], (pairs.weights * share)[rows])
                values = self._values(some, ply, [other])
                expected += some.weights @ values
                if other == action:
                    luck += some.mean(values)
        luck -= expected / pairs.weights.sum()
        return after

    def _draw(self, pairs: _Pairs, draw: Draw, luck: np.ndarray) -> _Pairs:
        """Return the pairs after a public draw, and add its luck."""
        outcomes = self._outcomes(draw)
        chances = np.array([[self._chance(hands, draw, outcome) for outcome in outcomes] for hands in self._each(pairs)])
        after_chance = np.array([self._chance(hands, draw, draw.tokens) for hands in self._each(pairs)])
        totals = chances.sum(1)
        # A pair with which none of the sampled outcomes could have been drawn counts as 0 before and after.
        counts = totals > 0
        before = np.zeros(_PLAYERS)
        rows, columns = np.nonzero(chances)
        some = _Pairs(
            pairs.hands, pairs.first[rows], pairs.second[rows],
            pairs.weights[rows] * chances[rows, columns] / totals[rows],
        )  # fmt: skip
        if len(rows):
            values = self._values(some, draw.ply, outcomes=[outcomes[column] for column in columns])
            before = some.weights @ values / pairs.weights.sum()
        weights = pairs.weights * after_chance
        possible = weights > 0
        after = _Pairs(pairs.hands, pairs.first[possible], pairs.second[possible], weights[possible])
        values = self._values(after, draw.ply, outcomes=[draw.tokens] * len(after.weights))
        luck += after.mean(values * counts[possible][:, None]) - before
        return after

    # -- hands and cards ----------------------------------------------------------------------------------------

    def _hands_with(self, true: Hand) -> list[Hand]:
        """Return hands that a player might hold, the true one first: all of them, or some drawn from the whole deck."""
        if len(true) == 1 and len(self._deck) <= self._num_hands:
            return [true, *((token,) for token in self._deck if (token,) != true)]
        if max(self._deck.values()) > 1:
            raise ArenaError(
                f"{self._game.name} has too many hands to list, and equal cards, so that AIVAT cannot draw some of them; "
                f"hands of one card need hands={len(self._deck)}"
            )
        found = {true: None}
        cards = list(self._deck)
        most = min(self._num_hands, _num_hands(len(cards), len(true)))
        while len(found) < most:
            found[tuple(self._chooser.sample(cards, len(true)))] = None
        return list(found)

    def _dealt(self, hands: Sequence[list[Hand]]) -> _Pairs:
        """Return all pairs of some hands that can be dealt, weighted by the number of ways."""
        public = [self._draws.tokens[place] for place in self._public_places()]
        grid = list(itertools.product(range(len(hands[0])), range(len(hands[1]))))
        weights = np.array([float(self._ways([*hands[0][a], *hands[1][b], *public])) for a, b in grid])
        first, second = np.array(grid, np.int64).T
        return _Pairs((hands[0], hands[1]), first, second, weights).times(np.ones(len(grid)))

    def _ways(self, tokens: Iterable[int]) -> int:
        """Return in how many ways a sequence of tokens can be dealt from the deck."""
        ways, left = 1, self._deck.copy()
        for token in tokens:
            ways *= left[token]
            left[token] -= 1
        return max(0, ways)

    def _chance(self, hands: tuple[Hand, Hand], draw: Draw, outcome: Hand) -> float:
        """Return a number in proportion to the probability of the outcome of a public draw, given both hands."""
        left = self._deck.copy()
        left.subtract([*hands[0], *hands[1], *self._public_before(draw)])
        chance = 1
        for token in outcome:
            chance *= max(0, left[token])
            left[token] -= 1
        return float(chance)

    def _outcomes(self, draw: Draw) -> list[Hand]:
        """Return what could be drawn: each token of the deck, or some sequences of tokens that are not yet public."""
        public = self._public_before(draw)
        if len(draw.tokens) == 1 and len(self._deck) <= MOST_OUTCOMES:
            return [(token,) for token in self._deck]
        if max(self._deck.values()) > 1:
            raise ArenaError(f"AIVAT cannot draw several of equal cards at once, as in {self._game.name}")
        left = [token for token in self._deck if token not in public]
        return [tuple(self._chooser.sample(left, len(draw.tokens))) for _ in range(SAMPLED_OUTCOMES)]

    def _public_before(self, draw: Draw) -> list[int]:
        hidden = {place for places in self._places for place in places}
        return [token for place, token in enumerate(self._draws.tokens[: draw.first]) if place not in hidden]

    def _public_places(self) -> list[int]:
        hidden = {place for places in self._places for place in places}
        return [place for place in range(len(self._draws.draws[0].tokens)) if place not in hidden]

    def _each(self, pairs: _Pairs) -> list[tuple[Hand, Hand]]:
        return [(pairs.hands[0][a], pairs.hands[1][b]) for a, b in zip(pairs.first, pairs.second, strict=True)]

    def _is_true_pair(self, pairs: _Pairs) -> bool:
        """Return whether the true hands, which come first, are among the pairs."""
        return bool(((pairs.first == 0) & (pairs.second == 0)).any())

    # -- worlds -------------------------------------------------------------------------------------------------

    def _drawn_by(self, ply: int) -> list[int]:
        """Return the tokens drawn before the decision at a ply."""
        return [token for draw in self._draws.draws if draw.ply <= ply for token in draw.tokens]

    def _with_hands(self, tokens: list[int], hands: Sequence[Hand]) -> list[int]:
        deck = tokens.copy()
        for places, hand in zip(self._places, hands, strict=True):
            for place, token in zip(places, hand, strict=True):
                deck[place] = token
        return deck

    def _deck_with(self, hand: Hand, player: int, ply: int) -> list[int]:
        """Return the tokens drawn before a ply if `player` had a hand; the other one has any cards that are left."""
        tokens = self._drawn_by(ply)
        other = self._places[1 - player]
        shown = [token for place, token in enumerate(tokens) if place not in (*other, *self._places[player])]
        left = self._deck.copy()
        left.subtract([*shown, *hand])
        filler = tuple(itertools.islice((+left).elements(), len(other)))
        return self._with_hands(tokens, (filler, hand) if player else (hand, filler))

    def _values(
        self, pairs: _Pairs, ply: int, more: Sequence[int] = (), outcomes: Sequence[Hand] | None = None
    ) -> np.ndarray:
        """Return the values of the pairs, float64 (n, players).

        Args:
            pairs: the pairs.
            ply: number of actions of the game that are played.
            more: further actions.
            outcomes: for each pair the tokens drawn after them, instead of the true ones of that ply.
        """
        tokens = self._drawn_by(ply if outcomes is None else ply - 1)
        decks = [self._with_hands(tokens, hands) for hands in self._each(pairs)]
        if outcomes is not None:
            decks = [[*deck, *outcome] for deck, outcome in zip(decks, outcomes, strict=True)]
        shuffles = self._value.shuffles
        decks = [deck for deck in decks for _ in range(shuffles)]
        seeds = self._seeds.integers(0, SEED_MASK, len(decks), endpoint=True).tolist()
        records = replayed(self._game, self._options, decks, [*self._draws.actions[:ply], *more], seeds)
        values = self._value.of(records, int(self._seeds.integers(0, SEED_MASK)))
        return values.reshape(-1, shuffles, _PLAYERS).mean(1)

    def _returns(self, pairs: _Pairs) -> np.ndarray:
        """Return the returns that the pairs would have had, float64 (n, players)."""
        decks = [self._with_hands(self._draws.tokens, hands) for hands in self._each(pairs)]
        records = replayed(self._game, self._options, decks, self._draws.actions, [0] * len(decks))
        returns: np.ndarray = records["returns"][:, :_PLAYERS]
        return returns

    def _players(self) -> list[int]:
        """Return who acted at each ply."""
        state = self._game.state_type(self._game, self._options, seed=0, deck=self._draws.tokens)
        players = []
        for action in self._draws.actions:
            players.append(state.current_player)
            state.apply_unchecked(action)
        return players


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


def _num_hands(cards: int, size: int) -> int:
    return int(np.prod(np.arange(cards - size + 1, cards + 1, dtype=float)))
