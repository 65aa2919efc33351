"""CFR as the papers write it, to test the fast solvers: recursion over `State`, dictionaries, nothing precomputed."""

import functools
from collections import defaultdict

import numpy as np

from cardenvs.core.rng import derived_seed, next_uint64, seed_xoshiro, substream_seed


@functools.cache
def after(game, options, deck, actions):
    """The state after a deal and some actions; never changed."""
    state = game.new_state(seed=0, deck=deck, **dict(options))
    for action in actions:
        state.apply(action)
    return state


def key_of(state):
    return state.current_player, state.information_state_key(state.current_player)


def matched(regrets):
    """Regret matching: {action: probability}."""
    total = sum(max(r, 0.0) for r in regrets.values())
    return {a: max(r, 0.0) / total if total > 0 else 1 / len(regrets) for a, r in regrets.items()}


class SlowCFR:
    """Average policies of CFR, CFR+, linear and discounted CFR with alternating updates, by information state."""

    def __init__(self, game, method, **options):
        self.game, self.method = game, method
        self.options = tuple(options.items())
        self.deals = game.enumerate_deals(**options)
        self.num_players = game.make_options(**options).num_players
        self.regrets, self.sums = {}, defaultdict(lambda: defaultdict(float))
        self.t = 0

    def iterate(self):
        self.t += 1
        for player in range(self.num_players):
            self.new, self.own_reach = defaultdict(lambda: defaultdict(float)), {}
            for deck, probability in self.deals:
                self.walk(deck, (), player, [1.0] * self.num_players, probability)
            for key, reach in self.own_reach.items():
                for action, p in matched(self.regrets[key]).items():
                    self.sums[key][action] += self.average_weight() * reach * p
            for key, changes in self.new.items():
                for action, change in changes.items():
                    self.regrets[key][action] = self.updated(self.regrets[key][action], change)

    def average_weight(self):
        return {"cfr": 1, "cfr+": self.t, "linear": self.t, "discounted": self.t**2}[self.method]

    def updated(self, regret, change):
        t = self.t
        if self.method == "cfr":
            return regret + change
        if self.method == "cfr+":
            return max(regret + change, 0.0)
        if self.method == "linear":
            return regret + t * change
        regret += change
        return regret * (t**1.5 / (t**1.5 + 1) if regret > 0 else 0.5)

    def walk(self, deck, actions, player, reach, chance):
        """The expected return of `player` from here on, counting its regrets."""
        state = after(self.game, self.options, deck, actions)
        if state.is_terminal:
            return state.returns[player]
        mover, key = state.current_player, key_of(state)
        policy = matched(self.regrets.setdefault(key, dict.fromkeys(state.legal_actions(), 0.0)))
        values = {}
        for action, p in policy.items():
            reached = [r * p if q == mover else r for q, r in enumerate(reach)]
            values[action] = self.walk(deck, (*actions, action), player, reached, chance)
        value = sum(p * values[action] for action, p in policy.items())
        if mover == player:
            others = chance * float(np.prod([r for q, r in enumerate(reach) if q != player]))
            for action in policy:
                self.new[key][action] += others * (values[action] - value)
            self.own_reach[key] = reach[player]
        return value

    def average(self):
        return {key: _normalised(sums) for key, sums in self.sums.items()}


class SlowMCCFR:
    """External sampling by recursion, with the random numbers of `Sampler`."""

    def __init__(self, game, seed, **options):
        self.game, self.seed, self.options = game, derived_seed(seed, "mccfr"), options
        self.num_players = game.make_options(**options).num_players
        self.regrets, self.sums = {}, defaultdict(lambda: defaultdict(float))
        self.t = 0

    def iterate(self):
        for traverser in range(self.num_players):
            self.rng = np.zeros(4, np.uint64)
            with np.errstate(over="ignore"):
                seed_xoshiro(self.rng, np.uint64(substream_seed(self.seed, self.t, traverser)))
                deal = int(next_uint64(self.rng)) >> 1
            self.walk(self.game.new_state(seed=deal, **self.options), traverser)
        self.t += 1

    def walk(self, state, traverser):
        if state.is_terminal:
            return state.returns[traverser]
        mover, key = state.current_player, key_of(state)
        regrets = self.regrets.setdefault(key, dict.fromkeys(state.legal_actions(), 0.0))
        policy = matched(regrets)
        if mover == traverser:
            values = {action: self.walk(_moved(state, action), traverser) for action in policy}
            value = sum(policy[action] * values[action] for action in policy)
            for action in policy:
                regrets[action] += values[action] - value
            return value
        if mover == (traverser + 1) % self.num_players:
            for action, p in policy.items():
                self.sums[key][action] += p
        with np.errstate(over="ignore"):
            left = (int(next_uint64(self.rng)) >> 11) / 2**53
        return self.walk(_moved(state, _drawn(policy, left)), traverser)

    def average(self):
        return {
            key: _normalised(self.sums[key] or dict.fromkeys(regrets, 0.0)) for key, regrets in self.regrets.items()
        }


def _drawn(policy, left):
    for action, p in policy.items():
        if left < p:
            return action
        left -= p
    return action


def _moved(state, action):
    state = state.clone()
    state.apply(action)
    return state


def _normalised(sums):
    total = sum(sums.values())
    return [value / total if total > 0 else 1 / len(sums) for value in sums.values()]
