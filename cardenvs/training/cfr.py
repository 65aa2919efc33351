"""Tabular CFR+ with exact exploitability, for games small enough to list: Kuhn and Leduc poker.

    python training/cfr.py kuhn_poker_v0 --iterations 1000
    python training/cfr.py leduc_poker_v0

The whole game is walked once, through the public `State` API, into flat arrays (`Tree`); everything after that is
NumPy over those arrays. It doubles as a proof of that API: `enumerate_deals` lists the deals, events tell histories
apart, `information_state_key` tells what a player knows.

Sources: M. Zinkevich et al., "Regret Minimization in Games with Incomplete Information" (2007) for CFR; O. Tammelin,
"Solving Large Imperfect Information Games Using CFR+" (2014) for regret matching+, alternating updates and linear
averaging. With more than two players CFR+ runs, but need not come near an equilibrium.
"""

import argparse
import itertools
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cardenvs.core.errors import CardenvsError, OptionError
from cardenvs.core.events import OMNISCIENT
from cardenvs.core.game import Game
from cardenvs.core.registry import get_game
from cardenvs.core.state import State

World = tuple[State, float]  # a state and the probability of its deal


class Tree:
    """A game as arrays, with an entry per history, breadth first, and per *pair* of information state and legal action.

    A history is the course of a game as seen by someone who sees every dealt card. Deals that differ only in
    cards still to come are one history, and chance is a history with several followers by the same action. A policy is
    a float64 array (num_pairs,) of probabilities, those of an information state side by side and adding up to 1.

    Attributes:
        num_players: P.
        num_pairs: entries of a policy.
        infosets: an example State for each information state, in which the player who is to act is in it.
        num_terminals, num_decisions: how many histories are over, and in how many somebody is to act.
    """

    def __init__(self, game: Game, **options: Any) -> None:
        """Walk the whole game.

        Raises:
            NotImplementedError: its deals are too many to list, or moves are hidden so that histories of different
                lengths look the same to a player.
            OptionError: an unknown option or value.
        """
        self.num_players = game.make_options(**options).num_players
        self.infosets: list[State] = []
        self._first_pair: list[int] = []
        self._numbers: dict[tuple[int, str], int] = {}
        self.num_pairs = 0
        parents: list[int] = []
        edges: list[int] = []
        infosets: list[int] = []
        weights: list[np.ndarray] = []
        levels = [0]
        deals = game.enumerate_deals(**options)
        frontier = [(worlds, 0, 0) for worlds in _by_history([(game.new_state(0, d, **options), p) for d, p in deals])]
        while frontier:
            followers = []
            for worlds, parent, edge in frontier:
                number = len(parents)
                infoset, weight, children = self._visit(worlds)
                parents.append(parent)
                edges.append(edge)
                infosets.append(infoset)
                weights.append(weight)
                followers += [(child, number, pair) for pair, child in children]
            levels.append(len(parents))
            frontier = followers
        self._parent, self._edge, self._infoset = np.array(parents), np.array(edges), np.array(infosets)
        self._weight = np.array(weights).T.copy()  # (P, histories): returns times probability where it is over
        self._levels = [slice(a, b) for a, b in itertools.pairwise(levels)]
        self._index()

    def _visit(self, worlds: list[World]) -> tuple[int, np.ndarray, list[tuple[int, list[World]]]]:
        """Return the information state (-1: over), weighted returns and followers, by pair, of one history."""
        state = worlds[0][0]
        if state.is_terminal:
            return -1, np.array(state.returns) * sum(p for _, p in worlds), []
        infoset = self._number(state)
        children = []
        for k, action in enumerate(state.legal_actions()):
            moved = [(_after(world, action), p) for world, p in worlds]
            children += [(self._first_pair[infoset] + k, group) for group in _by_history(moved)]
        return infoset, np.zeros(self.num_players), children

    def _number(self, state: State) -> int:
        """Return the number of the acting player's information state, a new one if it has not been met."""
        player = state.current_player
        key = (player, state.information_state_key(player))
        if key not in self._numbers:
            self._numbers[key] = len(self.infosets)
            self.infosets.append(state)
            self._first_pair.append(self.num_pairs)
            self.num_pairs += len(state.legal_actions())
        number = self._numbers[key]
        if self.infosets[number].ply != state.ply:
            raise NotImplementedError("histories of different lengths look the same to a player: moves are hidden")
        return number

    def _index(self) -> None:
        """Precompute the indices that every pass over the tree needs."""
        starts = np.array([*self._first_pair, self.num_pairs])
        self._starts = starts[:-1]
        self._infoset_of_pair = np.repeat(np.arange(len(self.infosets)), np.diff(starts))
        self.player_of_infoset = np.array([state.current_player for state in self.infosets])
        actor = np.where(self._infoset >= 0, self.player_of_infoset[self._infoset], -1)
        self.num_decisions, self.num_terminals = int((actor >= 0).sum()), int((actor < 0).sum())
        self._mover = actor[self._parent]  # whose action led to each history; nobody's led to the first level
        self._mover[self._levels[0]] = -1
        players = range(self.num_players)
        self._moves = [np.flatnonzero(self._mover == p) for p in players]  # histories that an action of p led to
        self._decisions = [np.flatnonzero(actor == p) for p in players]  # histories in which p is to act
        self._pairs = [np.flatnonzero(self.player_of_infoset[self._infoset_of_pair] == p) for p in players]
        self._example = np.zeros(len(self.infosets), np.int64)  # one history of each information state
        decided = np.flatnonzero(self._infoset >= 0)
        self._example[self._infoset[decided]] = decided

    # -- policies -----------------------------------------------------------------------------------------------

    def uniform(self) -> np.ndarray:
        """Return the policy that draws among the legal actions."""
        return self.normalised(np.ones(self.num_pairs))

    def policy(self, choose: Callable[[State], Sequence[float]]) -> np.ndarray:
        """Return a policy from a function: the probabilities of a state's legal actions.

        Args:
            choose: is given an example of each information state, and must look only at what the acting player knows.
        """
        return self.normalised(np.concatenate([np.asarray(choose(state), np.float64) for state in self.infosets]))

    def normalised(self, weights: np.ndarray) -> np.ndarray:
        """Return the policy in proportion to weights (num_pairs,), none negative; uniform where all are 0."""
        total = np.bincount(self._infoset_of_pair, weights)[self._infoset_of_pair]
        count = np.bincount(self._infoset_of_pair)[self._infoset_of_pair]
        return np.where(total > 0, weights / np.where(total > 0, total, 1), 1 / count)

    def probabilities(self, policy: np.ndarray, infoset: int) -> np.ndarray:
        """Return the part of a policy that belongs to an information state, in the order of its legal actions."""
        start = self._starts[infoset]
        return policy[start : start + len(self.infosets[infoset].legal_actions())]

    # -- passes over the tree -----------------------------------------------------------------------------------

    def reach(self, policy: np.ndarray) -> np.ndarray:
        """(P, histories): each player's contribution to the probability of reaching a history."""
        reach = np.ones((self.num_players, len(self._parent)))
        for level in self._levels[1:]:
            reach[:, level] = reach[:, self._parent[level]]
            reach[self._mover[level], np.arange(level.start, level.stop)] *= policy[self._edge[level]]
        return reach

    def others_reach(self, reach: np.ndarray, player: int) -> np.ndarray:
        """(histories,): the contribution of everyone but `player` to the probability of reaching it, without chance."""
        return np.prod(np.delete(reach, player, axis=0), axis=0)

    def history_values(self, policy: np.ndarray, player: int) -> np.ndarray:
        """(histories,): the expected return of `player` from there on, times the probability of its deal."""
        value = self._weight[player].copy()
        for level in reversed(self._levels[1:]):
            self._back_up(value, level, policy)
        return value

    def _back_up(self, value: np.ndarray, level: slice, policy: np.ndarray) -> None:
        """Add the values of a level, weighted by a policy, to those of the level before."""
        parents = self._parent[level]
        first, last = parents[0], parents[-1] + 1
        value[first:last] += np.bincount(parents - first, policy[self._edge[level]] * value[level], last - first)

    def values(self, policy: np.ndarray) -> np.ndarray:
        """(P,): each player's expected return when everyone follows `policy`."""
        first = self._levels[0]
        return np.array([self.history_values(policy, p)[first].sum() for p in range(self.num_players)])

    def best_response_values(self, policy: np.ndarray) -> np.ndarray:
        """(P,): each player's expected return from its best response to `policy` of the others."""
        reach = self.reach(policy)
        return np.array([self._best_response_value(policy, reach, p) for p in range(self.num_players)])

    def _best_response_value(self, policy: np.ndarray, reach: np.ndarray, player: int) -> float:
        others, value, reply = self.others_reach(reach, player), self._weight[player].copy(), policy.copy()
        mine = self._pairs[player]
        for level in reversed(self._levels[1:]):
            # The best action of an information state is the same in all its histories, which are all in one level.
            weight = np.where(self._mover[level] == player, others[self._parent[level]] * value[level], 0)
            gain = np.bincount(self._edge[level], weight, self.num_pairs)
            decided = np.unique(self._infoset[self._parent[level][self._mover[level] == player]])
            in_level = mine[np.isin(self._infoset_of_pair[mine], decided)]
            reply[in_level] = self._best(gain)[in_level]
            self._back_up(value, level, reply)
        return float(value[self._levels[0]].sum())

    def _best(self, gain: np.ndarray) -> np.ndarray:
        """1 for the first best pair of each information state, 0 for the others."""
        highest = np.maximum.reduceat(gain, self._starts)[self._infoset_of_pair]
        candidates = np.flatnonzero(gain == highest)
        _, first = np.unique(self._infoset_of_pair[candidates], return_index=True)
        best = np.zeros(self.num_pairs)
        best[candidates[first]] = 1
        return best

    def nash_conv(self, policy: np.ndarray) -> float:
        """Return what all players together could gain by best responses; 0 in an equilibrium."""
        return float((self.best_response_values(policy) - self.values(policy)).sum())

    def regrets(self, policy: np.ndarray, reach: np.ndarray, player: int) -> np.ndarray:
        """(num_pairs,): counterfactual regret of each of the player's pairs under `policy`, 0 for the others'."""
        value, others = self.history_values(policy, player), self.others_reach(reach, player)
        moves, decisions = self._moves[player], self._decisions[player]
        action = np.bincount(self._edge[moves], others[self._parent[moves]] * value[moves], self.num_pairs)
        state = np.bincount(self._infoset[decisions], others[decisions] * value[decisions], len(self.infosets))
        regret = np.zeros(self.num_pairs)
        mine = self._pairs[player]
        regret[mine] = action[mine] - state[self._infoset_of_pair[mine]]
        return regret

    def own_reach(self, reach: np.ndarray, player: int) -> np.ndarray:
        """(num_pairs,): the probability that the player plays to the information state of each of its pairs."""
        own = np.zeros(self.num_pairs)
        mine = self._pairs[player]
        own[mine] = reach[player, self._example[self._infoset_of_pair[mine]]]
        return own


def _after(state: State, action: int) -> State:
    state = state.clone()
    state.apply(action)
    return state


def _by_history(worlds: list[World]) -> list[list[World]]:
    """Worlds together with those that nobody who sees all dealt cards could tell from them."""
    groups: dict[bytes, list[World]] = {}
    for state, probability in worlds:
        groups.setdefault(state.event_rows(OMNISCIENT).tobytes(), []).append((state, probability))
    return list(groups.values())


class CFRPlus:
    """CFR+ on a tree (Tammelin 2014).

    Attributes:
        iterations: done so far.
    """

    def __init__(self, tree: Tree) -> None:
        """Create a solver that has not begun."""
        self._tree = tree
        self._regret = np.zeros(tree.num_pairs)
        self._sum = np.zeros(tree.num_pairs)
        self.iterations = 0

    def step(self) -> None:
        """One iteration: each player in turn updates its regrets; its policy counts in proportion to the iteration."""
        tree = self._tree
        self.iterations += 1
        for player in range(tree.num_players):
            policy = tree.normalised(self._regret)
            reach = tree.reach(policy)
            self._sum += self.iterations * tree.own_reach(reach, player) * policy
            self._regret = np.maximum(self._regret + tree.regrets(policy, reach, player), 0)

    def average_policy(self) -> np.ndarray:
        """Return the policy that approaches an equilibrium."""
        return self._tree.normalised(self._sum)


# ---------------------------------------------------------------------------------------------------------------
# Command line


def main(arguments: Sequence[str] | None = None) -> int:
    """`python training/cfr.py`. Returns the exit code."""
    given = _parser().parse_args(arguments)
    try:
        game = get_game(given.game)
        options = game.options.parse(_named(given.option)).changed()
        started = time.perf_counter()
        tree = Tree(game, **options)
    except (CardenvsError, NotImplementedError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(
        f"{game.name}: {len(tree.infosets)} information states, {tree.num_decisions} decisions, "
        f"{tree.num_terminals} terminal histories; built in {time.perf_counter() - started:.1f} s"
    )
    solver = CFRPlus(tree)
    try:
        _solve(tree, solver, given.iterations)
    except KeyboardInterrupt:
        print(f"Stopped after {solver.iterations} iterations.", file=sys.stderr)
    if given.strategy:
        _print_strategy(tree, solver.average_policy())
    return 0


def _named(texts: Sequence[str]) -> dict[str, str]:
    if wrong := [text for text in texts if "=" not in text]:
        raise OptionError(f"--option takes NAME=VALUE; got {wrong[0]!r}")
    return dict(text.split("=", 1) for text in texts)


def _solve(tree: Tree, solver: CFRPlus, iterations: int) -> None:
    """Run CFR+, printing a line after 1, 2, 5, 10, 20, 50, ... iterations and after the last."""
    print(f"{'iterations':>10}  {'value of player_0':>17}  {'NashConv':>12}  {'exploitability':>14}  {'seconds':>7}")
    started, due = time.perf_counter(), {d * 10**k for d in (1, 2, 5) for k in range(12)} | {iterations}
    while solver.iterations < iterations:
        solver.step()
        if solver.iterations in due:
            policy = solver.average_policy()
            gap, seconds = tree.nash_conv(policy), time.perf_counter() - started
            print(
                f"{solver.iterations:>10}  {tree.values(policy)[0]:>+17.8f}  {gap:>12.8f}  "
                f"{gap / tree.num_players:>14.8f}  {seconds:>7.1f}",
                flush=True,
            )


def _print_strategy(tree: Tree, policy: np.ndarray) -> None:
    for infoset, state in enumerate(tree.infosets):
        player = state.current_player
        seen = " ".join(state.recap(player))
        labels = [state.action_label(action) for action in state.legal_actions()]
        shown = zip(labels, tree.probabilities(policy, infoset), strict=True)
        print(f"player_{player}: {seen}\n    " + "  ".join(f"{label} {p:.4f}" for label, p in shown))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python training/cfr.py", description="Solve a small game by CFR+ and print its exploitability."
    )
    parser.add_argument("game", help="kuhn_poker_v0, leduc_poker_v0 or another game that can list its deals")
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--option", metavar="NAME=VALUE", action="append", default=[], help="an option of the game")
    parser.add_argument("--strategy", action="store_true", help="print the average policy at the end")
    return parser
