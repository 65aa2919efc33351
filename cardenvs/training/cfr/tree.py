"""`Tree`: a whole game as arrays, for exact solving."""

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cardenvs.agents.tabular import TabularPolicy
from cardenvs.core.errors import FormatError, SolvingError
from cardenvs.core.game import Game
from cardenvs.core.state import State
from cardenvs.training.cfr import passes
from cardenvs.training.cfr.numbering import Numbering
from cardenvs.training.cfr.worlds import Grower, Worlds

MOST_HISTORIES = 20_000_000
_MOST_BYTES = 2 << 30  # for the records of one level
_NONE = -1


class Tree:
    """A game as arrays, with an entry per history and per *pair* of information state and legal action.

    A history is the course of a game as seen by someone who sees every dealt card; history 0 is before the deal. Deals
    that differ only in cards still to come are one history. Chance shows as several histories that follow the same one
    by the same pair, or, after history 0, by no pair. A policy is a float64 array (num_pairs,) of probabilities; those
    of an information state are adjacent and add up to 1.

    Deals that lead to equal records are merged (equal tokens, dice in another order), with their probabilities added.

    Attributes:
        game, options: what is listed.
        num_players: P.
        num_infosets, num_pairs: number of information states, and of entries of a policy.
        num_terminals, num_decisions: number of histories that are over, and of those with a player to act.
        parent, edge: int32, by history; the history before, and the pair that leads from there; parents come first.
        terminals: int32, the histories that are over.
        payoffs: float64 (P, num_terminals), returns times the probability of all chance on the way.
        infoset: int32, by history; -1 where nobody is to act.
        player_of_infoset: int8, by information state.
        keys: uint64 (num_infosets, 2), as `cardenvs.core.information` computes them.
        first_pair: int32 (num_infosets + 1,); the pairs of information state i begin at first_pair[i].
        actions: int32, by pair; ids of the actions.
        last_pair: int32, by information state; the pair of the same player that leads there, or -1.
        arrays: the arrays above that kernels read.
    """

    def __init__(
        self,
        game: Game,
        *,
        most_histories: int = MOST_HISTORIES,
        on_progress: Callable[[int], None] = lambda done: None,
        **options: Any,
    ) -> None:
        """List the whole game. `on_progress` is called now and then with the number of histories listed.

        Raises:
            SolvingError: there are too many deals or histories to list, or a player does not see its own actions.
            OptionError: an unknown option or value.
        """
        self.game, self.options = game, game.make_options(**options)
        self.num_players = self.options.num_players
        try:
            self._deals = game.enumerate_deals(**options)
        except NotImplementedError as error:
            raise SolvingError(str(error)) from None
        built = _Builder(self, most_histories, on_progress)
        self.parent, self.edge, self.infoset = (np.concatenate(parts) for parts in built.histories)
        ends = np.cumsum([len(part) for part in built.histories[0]])
        self._levels = [slice(start, stop) for start, stop in itertools.pairwise(ends.tolist())]  # without history 0
        self.terminals, self.payoffs = np.concatenate(built.terminals), np.concatenate(built.payoffs, axis=1)
        self.player_of_infoset, self.last_pair = built.player, built.last_pair
        self.keys = mixed(built.numbering.keys, self.player_of_infoset)
        self.first_pair, self.actions = built.first_pair, built.actions
        self._example, self._example_deal = built.example, built.example_deal
        self.num_infosets, self.num_pairs = len(self.player_of_infoset), len(self.actions)
        self.edge[self.edge == _NONE] = self.num_pairs  # chance alone
        self.num_terminals, self.num_decisions = len(self.terminals), int((self.infoset >= 0).sum())
        self._sizes = np.diff(self.first_pair)
        self.infoset_of_pair = np.repeat(np.arange(self.num_infosets, dtype=np.int32), self._sizes)
        self.player_of_pair = np.append(self.player_of_infoset[self.infoset_of_pair], np.int8(_NONE))
        self.arrays = passes.Arrays(*(getattr(self, name) for name in passes.Arrays._fields))

    # -- policies -----------------------------------------------------------------------------------------------

    @functools.cached_property
    def infosets(self) -> list[State]:
        """An example of each information state, with its player to act."""
        return [self.state(number) for number in range(self.num_infosets)]

    def state(self, infoset: int) -> State:
        """Return an example of an information state."""
        path, history = [], int(self._example[infoset])
        while history > 0:
            path.append(int(self.edge[history]))
            history = int(self.parent[history])
        deck, _ = self._deals[self._example_deal[infoset]]
        state = self.game.new_state(seed=0, deck=deck, **self.options.as_dict())
        for pair in reversed(path):
            if pair < self.num_pairs:
                state.apply(int(self.actions[pair]))
        return state

    def uniform(self) -> np.ndarray:
        """Return the policy that plays all legal actions with equal probability."""
        return self.normalised(np.zeros(self.num_pairs))

    def policy(self, choose: Callable[[State], Sequence[float]]) -> np.ndarray:
        """Return a policy from a function: the probabilities of a state's legal actions.

        It is called with an example of each information state, and must use only what the player to act knows.
        """
        return self.normalised(np.concatenate([np.asarray(choose(state), np.float64) for state in self.infosets]))

    def tabular(self, table: TabularPolicy) -> np.ndarray:
        """Return the policy of a table, uniform in information states that the table lacks.

        Raises:
            FormatError: the table is of another game, other options or another version of the game.
        """
        table.check_fits(self.game, self.options)
        numbering = Numbering()
        numbering.number(mixed(table.keys, table.players))
        row = numbering.number(mixed(self.keys, self.player_of_infoset))
        known = np.flatnonzero(row < len(table.sizes))
        if not (table.sizes[row[known]] == self._sizes[known]).all():
            raise FormatError(f"the policy lists other legal actions than {self.game.name}: it is of another version")
        first = np.concatenate([[0], np.cumsum(table.sizes, dtype=np.int64)])
        weights = np.zeros(self.num_pairs)
        here = np.concatenate([np.arange(self.first_pair[i], self.first_pair[i + 1]) for i in known])
        there = np.concatenate([np.arange(first[i], first[i + 1]) for i in row[known]])
        weights[here] = table.weights[there]
        return self.normalised(weights)

    def normalised(self, weights: np.ndarray) -> np.ndarray:
        """Return the policy proportional to weights of 0 or more, (num_pairs,); uniform where all are 0."""
        return normalised(weights, self.first_pair)

    def probabilities(self, policy: np.ndarray, infoset: int) -> np.ndarray:
        """Return the probabilities of the legal actions of an information state, in order."""
        return policy[self.first_pair[infoset] : self.first_pair[infoset + 1]]

    # -- values -------------------------------------------------------------------------------------------------

    def values(self, policy: np.ndarray) -> np.ndarray:
        """Return, (P,), each player's expected return when everyone follows `policy`."""
        returns = np.zeros(self.num_players)
        passes.expected(self.arrays, np.append(policy, 1.0), np.zeros(len(self.parent)), returns)
        return returns

    def best_response_values(self, policy: np.ndarray) -> np.ndarray:
        """Return, (P,), each player's expected return from its best response to `policy` of the others."""
        return np.array([self._best_response(policy, player)[0] for player in range(self.num_players)])

    def best_response(self, policy: np.ndarray, player: int) -> np.ndarray:
        """Return `policy` with one player's part replaced by a best response, of probabilities 0 and 1."""
        pairs = self._best_response(policy, player)[1]
        reply = np.where(self.player_of_pair[:-1] == player, 0.0, policy)
        mine = self.player_of_infoset == player
        reply[np.where(pairs[mine] >= 0, pairs[mine], self.first_pair[:-1][mine])] = 1.0
        return reply

    def nash_conv(self, policy: np.ndarray) -> float:
        """Return what all players together could gain by best responses; 0 in an equilibrium."""
        return float((self.best_response_values(policy) - self.values(policy)).sum())

    def exploitability(self, policy: np.ndarray) -> float:
        """Return NashConv divided by the number of players."""
        return self.nash_conv(policy) / self.num_players

    def _best_response(self, policy: np.ndarray, player: int) -> tuple[float, np.ndarray]:
        order, groups = self._order(player)
        scratch, best = passes.Scratch.of(self.arrays), np.zeros(self.num_infosets, np.int32)
        policy = np.append(policy, 1.0)
        return passes.best_response(self.arrays, player, policy, order, groups, scratch, best), best

    @functools.cache  # noqa: B019  a tree has few players
    def _order(self, player: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the order in which `passes.best_response` visits histories, and where its groups begin and end."""
        depth = np.zeros(len(self.parent), np.int32)
        is_move = self.player_of_pair[self.edge] == player
        for level in self._levels:
            depth[level] = depth[self.parent[level]] + is_move[level]
        backwards = np.arange(len(depth), dtype=np.int32)[::-1]
        order = backwards[np.argsort(-depth[backwards], kind="stable")]
        sizes = np.bincount(depth)[::-1]
        return order, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def mixed(keys: np.ndarray, players: np.ndarray) -> np.ndarray:
    """Return keys, uint64 (n, 2), with the player mixed in or, if it is mixed in already, taken out again.

    If two players have the same key, they are in different information states.
    """
    both = keys.copy()
    both[:, 0] ^= players.astype(np.uint64)
    return both


def normalised(weights: np.ndarray, first_pair: np.ndarray) -> np.ndarray:
    """Return the policy proportional to weights of 0 or more; uniform in information states where all are 0."""
    sizes = np.diff(first_pair)
    total = np.repeat(np.add.reduceat(weights, first_pair[:-1]), sizes)
    return np.where(total > 0, weights / np.where(total > 0, total, 1), np.repeat(1 / sizes, sizes))


class _Builder:
    """Grows a tree level by level."""

    def __init__(self, tree: Tree, most_histories: int, on_progress: Callable[[int], None]) -> None:
        self._most_histories = most_histories
        self._tree, self._grower = tree, Grower(tree.game, tree.options)
        root = np.zeros(1, np.int32)
        self.histories = [[root], [root - 1], [root - 1]]  # parent, edge, infoset
        self.terminals: list[np.ndarray] = []
        self.payoffs: list[np.ndarray] = []
        self.numbering = Numbering()
        self.player, self.last_pair = np.zeros(0, np.int8), np.zeros(0, np.int32)
        self.first_pair, self.actions = np.zeros(1, np.int32), np.zeros(0, np.int32)
        self.example, self.example_deal = np.zeros(0, np.int64), np.zeros(0, np.int32)
        self._num_histories = 1
        worlds, chance = self._dealt()
        deal, own = worlds.source, np.full((len(chance), tree.num_players), _NONE, np.int32)  # own last pairs
        parent, edge = np.zeros(len(chance), np.int32), np.full(len(chance), _NONE, np.int32)
        while len(worlds.player):
            history, infoset = self._add_histories(worlds, chance, parent, edge, own, deal)
            on_progress(self._num_histories)
            going = np.flatnonzero(worlds.num_legal > 0)
            before = worlds.take(going)
            self._check_size(int(before.num_legal.sum()))
            worlds = self._grower.grow(before)
            source = going[worlds.source]
            edge = self._edges(infoset[source], worlds.source, worlds.action)
            chance, parent, own, deal = chance[source], history[source], own[source], deal[source]
            own[np.arange(len(source)), before.player[worlds.source]] = edge

    def _dealt(self) -> tuple[Worlds, np.ndarray]:
        """Return the positions after all deals, each once, and their probabilities. Their source is the deal."""
        game, options = self._tree.game, self._tree.options
        decks = np.array([game.parse_deck(deck, options) for deck, _ in self._tree._deals])
        worlds = self._grower.deal(decks)
        size = game.state_dtype.itemsize
        raw = worlds.states.view(np.dtype((np.void, size)))
        _, first, number = np.unique(raw, return_index=True, return_inverse=True)
        chance = np.bincount(number.reshape(-1), [probability for _, probability in self._tree._deals])
        order = np.argsort(first)
        return worlds.take(first[order]), chance[order]

    def _add_histories(
        self, worlds: Worlds, chance: np.ndarray, parent: np.ndarray, edge: np.ndarray, own: np.ndarray,
        deal: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """Add the histories of a level. Returns the history and information state of each position (-1: it is over)."""
        level = Numbering(len(chance))
        number = level.number(worlds.keys[:, -1])
        _, first = np.unique(number, return_index=True)
        over = worlds.num_legal[first] == 0
        infoset = np.full(level.count, _NONE, np.int32)
        deciding = first[~over]
        numbers = self._number_infosets(worlds, deciding, own)
        infoset[~over] = numbers
        _, example = np.unique(numbers, return_index=True)
        new = numbers[example] >= len(self.example)
        found = np.flatnonzero(~over)[example[new]]
        self.example = np.append(self.example, self._num_histories + found)
        self.example_deal = np.append(self.example_deal, deal[first[found]])
        for part, values in zip(self.histories, (parent[first], edge[first], infoset), strict=True):
            part.append(values)
        self.terminals.append((self._num_histories + np.flatnonzero(over)).astype(np.int32))
        paid = [np.bincount(number, chance * returns, level.count)[over] for returns in worlds.returns.T]
        self.payoffs.append(np.array(paid))
        history = (self._num_histories + number).astype(np.int32)
        self._num_histories += level.count
        return history, infoset[number]

    def _number_infosets(self, worlds: Worlds, chosen: np.ndarray, own: np.ndarray) -> np.ndarray:
        """Return the numbers of the information states of some positions, and check that they are consistent."""
        player = worlds.player[chosen]
        before = self.numbering.count
        numbers = self.numbering.number(mixed(worlds.keys[chosen, player], player))
        last_pair, num_legal = own[chosen, player], worlds.num_legal[chosen]
        new, first = np.unique(numbers, return_index=True)
        first = first[new >= before]
        self.player = np.append(self.player, player[first])
        self.last_pair = np.append(self.last_pair, last_pair[first])
        starts = self.first_pair[-1] + np.cumsum(num_legal[first], dtype=np.int32)
        self.first_pair = np.append(self.first_pair, starts)
        self.actions = np.append(self.actions, np.full(num_legal[first].sum(), _NONE, np.int32))
        same = self.player[numbers] == player
        same &= np.diff(self.first_pair)[numbers] == num_legal
        if not same.all():
            raise SolvingError(f"{self._tree.game.name}: two information states have the same key")
        if not (self.last_pair[numbers] == last_pair).all():
            raise SolvingError(f"{self._tree.game.name}: a player does not see its own actions (no perfect recall)")
        return numbers

    def _edges(self, infoset: np.ndarray, source: np.ndarray, action: np.ndarray) -> np.ndarray:
        """Return the pair that leads to each position, and record its action."""
        place = np.arange(len(source)) - np.searchsorted(source, source)  # among the actions in the same position
        edge: np.ndarray = (self.first_pair[infoset] + place).astype(np.int32)
        self.actions[edge] = action
        if not (self.actions[edge] == action).all():
            raise SolvingError(f"{self._tree.game.name}: an information state has different legal actions")
        return edge

    def _check_size(self, more: int) -> None:
        name = self._tree.game.name
        if self._num_histories + more > self._most_histories:
            most = f"{self._most_histories:,}"
            raise SolvingError(f"{name} is too large to list: it has more than {most} histories with these options")
        if more * self._tree.game.state_dtype.itemsize > _MOST_BYTES:
            raise SolvingError(f"{name} is too large to list: {more:,} positions of one length do not fit in memory")
