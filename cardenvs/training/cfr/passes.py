"""Kernels that pass once over a tree's arrays, which `Tree` describes: values, best responses, iterations of CFR.

Histories are in an order in which parents come first. A policy has one more entry than there are pairs, 1, for the
edges by which chance alone leads on.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import takes_records


@takes_records
@kernel(entry=True)
def expected(parent, edge, terminals, payoff, policy, value):
    """Return a player's expected return when everyone follows `policy`.

    payoff is that player's part of the tree's payoffs, and value a scratch float64 array (histories,).
    """
    value[:] = 0.0
    for k in range(terminals.shape[0]):
        value[terminals[k]] = payoff[k]
    for h in range(parent.shape[0] - 1, 0, -1):
        value[parent[h]] += policy[edge[h]] * value[h]
    return value[0]


@kernel(inline=True)
def _counterfactual(parent, edge, terminals, payoff, factor, others, value):
    """Write what each history pays, times the probability that all but one player contribute to reaching it.

    factor is a policy that is 1 for that player's pairs. Histories that are not over get 0.
    """
    others[0] = 1.0
    for h in range(1, parent.shape[0]):
        others[h] = others[parent[h]] * factor[edge[h]]
    value[:] = 0.0
    for k in range(terminals.shape[0]):
        value[terminals[k]] = payoff[k] * others[terminals[k]]


@kernel(inline=True)
def _split(policy, player_of_pair, player, own, others):
    """Write the policy with 1 for the pairs of everyone else, and with 1 for the pairs of `player`."""
    for k in range(policy.shape[0]):
        mine = player_of_pair[k] == player
        own[k] = policy[k] if mine else 1.0
        others[k] = 1.0 if mine else policy[k]


@takes_records
@kernel(entry=True)
def best_response(
    player, parent, edge, terminals, payoff, policy, player_of_pair, infoset_of_pair, first_pair, order, groups,
    own, factor, others, value, gain, best,
):  # fmt: skip
    """Return the expected return of the best response of `player` to a policy of the others.

    An information state's best action needs the values of all its histories, and those the best actions further on. So
    histories are visited by how many decisions of the player led to them, most first: order[groups[g]:groups[g + 1]].

    The last arguments are scratch; `best` (int32) returns the pair chosen in each of the player's information states.
    """
    _split(policy, player_of_pair, player, own, factor)
    _counterfactual(parent, edge, terminals, payoff, factor, others, value)
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
            infoset = infoset_of_pair[pair]
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
    """t**e / (t**e + 1), 1 for infinity and 0 for minus infinity."""
    if exponent == np.inf:
        return 1.0
    if exponent == -np.inf:
        return 0.0
    power = np.float64(t) ** exponent
    return power / (power + 1.0)


@takes_records
@kernel(entry=True)
def iterate(
    parent, edge, terminals, payoffs, player_of_pair, player_of_infoset, last_pair, first_pair, regret, total,
    done, iterations, alpha, beta, gamma, policy, own, factor, others, value, gain, reach,
):  # fmt: skip
    """Do `iterations` iterations of CFR after `done`; `regret` and `total` change in place, the rest is scratch.

    In each iteration the players update one after another. A player's regrets r become (r + new) times
    t**alpha / (t**alpha + 1) where that is positive, and likewise with beta where it is negative; its policy of
    iteration t counts t**gamma times in the average.
    """
    num_infosets = player_of_infoset.shape[0]
    for i in range(num_infosets):
        match_regrets(regret, first_pair[i], first_pair[i + 1], policy)
    policy[policy.shape[0] - 1] = 1.0
    for t in range(done + 1, done + iterations + 1):
        weight = np.float64(t) ** gamma
        up, down = _discount(t, alpha), _discount(t, beta)
        for player in range(payoffs.shape[0]):
            _split(policy, player_of_pair, player, own, factor)
            _counterfactual(parent, edge, terminals, payoffs[player], factor, others, value)
            gain[:] = 0.0
            for h in range(parent.shape[0] - 1, 0, -1):
                gain[edge[h]] += value[h]
                value[parent[h]] += own[edge[h]] * value[h]
            for i in range(num_infosets):
                if player_of_infoset[i] != player:
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
