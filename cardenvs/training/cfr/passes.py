"""Kernels that pass once over the arrays of a tree: values, best responses, iterations of CFR.

Histories are ordered with parents first. A policy has one more entry than there are pairs, 1, for the edges that only
chance takes.
"""

from typing import NamedTuple

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import takes_records


class Arrays(NamedTuple):
    """The arrays of a `Tree`, which describes them, for kernels."""

    parent: np.ndarray
    edge: np.ndarray
    terminals: np.ndarray
    payoffs: np.ndarray
    player_of_pair: np.ndarray
    infoset_of_pair: np.ndarray
    first_pair: np.ndarray
    player_of_infoset: np.ndarray
    last_pair: np.ndarray


class Scratch(NamedTuple):
    """Working memory of kernels, float64: an entry per history, or per pair and one more."""

    others: np.ndarray
    value: np.ndarray
    policy: np.ndarray
    own: np.ndarray
    factor: np.ndarray
    gain: np.ndarray
    reach: np.ndarray

    @classmethod
    def of(cls, arrays: Arrays) -> "Scratch":
        """Allocate it for a tree."""
        histories, pairs = len(arrays.parent), len(arrays.player_of_pair)
        return cls(*np.zeros((2, histories)), *np.zeros((5, pairs)))


class Method(NamedTuple):
    """How a variant of CFR weights iteration t.

    After the iteration, positive regrets are multiplied by t**alpha / (t**alpha + 1), and negative ones by the same
    with beta; the policy of the iteration counts t**gamma times in the average.
    """

    alpha: float
    beta: float
    gamma: float


@takes_records
@kernel(entry=True)
def expected(tree, policy, value, returns):
    """Write into returns, (P,), each player's expected return when everyone follows `policy`.

    value, (histories,), is scratch.
    """
    for player in range(tree.payoffs.shape[0]):
        value[:] = 0.0
        for k in range(tree.terminals.shape[0]):
            value[tree.terminals[k]] = tree.payoffs[player, k]
        for h in range(tree.parent.shape[0] - 1, 0, -1):
            value[tree.parent[h]] += policy[tree.edge[h]] * value[h]
        returns[player] = value[0]


@kernel(inline=True)
def _counterfactual(tree, player, scratch):
    """Write into scratch.value what each history pays, times the probability that the others contribute to reaching it.

    scratch.factor is the policy, with 1 for the pairs of `player`. Histories that are not over get 0.
    """
    others, value = scratch.others, scratch.value
    others[0] = 1.0
    for h in range(1, tree.parent.shape[0]):
        others[h] = others[tree.parent[h]] * scratch.factor[tree.edge[h]]
    value[:] = 0.0
    for k in range(tree.terminals.shape[0]):
        value[tree.terminals[k]] = tree.payoffs[player, k] * others[tree.terminals[k]]


@kernel(inline=True)
def _split(tree, player, policy, scratch):
    """Write the policy into scratch.own with 1 for everyone else, and into scratch.factor with 1 for `player`."""
    for k in range(policy.shape[0]):
        mine = tree.player_of_pair[k] == player
        scratch.own[k] = policy[k] if mine else 1.0
        scratch.factor[k] = 1.0 if mine else policy[k]


@takes_records
@kernel(entry=True)
def best_response(tree, player, policy, order, groups, scratch, best):
    """Return the expected return of the best response of `player` to a policy of the others.

    The best action of an information state needs the values of all its histories, and these need the best actions
    further on. So histories are visited by the number of the player's decisions that led to them, most first:
    order[groups[g]:groups[g + 1]]. `best`, int32, receives the pair chosen in each of the player's information states.
    """
    parent, edge, player_of_pair, first_pair = tree.parent, tree.edge, tree.player_of_pair, tree.first_pair
    gain, value = scratch.gain, scratch.value
    _split(tree, player, policy, scratch)
    _counterfactual(tree, player, scratch)
    gain[:] = 0.0
    best[:] = -1
    for group in range(groups.shape[0] - 1):
        for k in range(groups[group], groups[group + 1]):
            h = order[k]
            if player_of_pair[edge[h]] == player:
                gain[edge[h]] += value[h]
            elif h > 0:
                value[parent[h]] += value[h]
        for k in range(groups[group], groups[group + 1]):
            h = order[k]
            pair = edge[h]
            if player_of_pair[pair] != player:
                continue
            infoset = tree.infoset_of_pair[pair]
            if best[infoset] < 0:
                best[infoset] = first_pair[infoset]
                for other in range(first_pair[infoset] + 1, first_pair[infoset + 1]):
                    if gain[other] > gain[best[infoset]]:
                        best[infoset] = other
            if pair == best[infoset]:
                value[parent[h]] += value[h]
    return value[0]


@kernel(inline=True)
def match_regrets(regret, first, last, policy):
    """Write the policy of regret matching into policy[first:last]: positive regrets in proportion, or uniform."""
    total = 0.0
    for k in range(first, last):
        total += max(regret[k], 0.0)
    for k in range(first, last):
        policy[k] = max(regret[k], 0.0) / total if total > 0.0 else 1.0 / (last - first)


@kernel(inline=True)
def _discount(t, exponent):
    """Return t**e / (t**e + 1), which is 1 for infinity and 0 for minus infinity."""
    if exponent == np.inf:
        return 1.0
    if exponent == -np.inf:
        return 0.0
    power = np.float64(t) ** exponent
    return power / (power + 1.0)


@takes_records
@kernel(entry=True)
def iterate(tree, regret, total, done, iterations, method, scratch):
    """Do `iterations` iterations of CFR after `done`, weighted by `method`; `regret` and `total` change in place.

    In each iteration the players update one after another.
    """
    parent, edge, first_pair, last_pair = tree.parent, tree.edge, tree.first_pair, tree.last_pair
    policy, own, value, gain, reach = scratch.policy, scratch.own, scratch.value, scratch.gain, scratch.reach
    num_infosets = tree.player_of_infoset.shape[0]
    for i in range(num_infosets):
        match_regrets(regret, first_pair[i], first_pair[i + 1], policy)
    policy[policy.shape[0] - 1] = 1.0
    for t in range(done + 1, done + iterations + 1):
        weight = np.float64(t) ** method.gamma
        up, down = _discount(t, method.alpha), _discount(t, method.beta)
        for player in range(tree.payoffs.shape[0]):
            _split(tree, player, policy, scratch)
            _counterfactual(tree, player, scratch)
            gain[:] = 0.0
            for h in range(parent.shape[0] - 1, 0, -1):
                gain[edge[h]] += value[h]
                value[parent[h]] += own[edge[h]] * value[h]
            for i in range(num_infosets):
                if tree.player_of_infoset[i] != player:
                    continue
                first, last = first_pair[i], first_pair[i + 1]
                reached = reach[last_pair[i]] if last_pair[i] >= 0 else 1.0
                mean = 0.0
                for k in range(first, last):
                    mean += policy[k] * gain[k]
                    reach[k] = reached * policy[k]
                    total[k] += weight * reach[k]
                for k in range(first, last):
                    changed = regret[k] + (gain[k] - mean)
                    regret[k] = changed * (up if changed > 0.0 else down)
                match_regrets(regret, first, last, policy)
