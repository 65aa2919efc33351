"""A slow, plain information-set tree search, as an oracle: dictionaries and `State` instead of hashes and kernels.

It shares with the kernels only the order of random draws: what is known, which nodes there are, what is legal and what
is added where is worked out from the public `State`.
"""

import math
from collections import defaultdict

import numpy as np

from cardenvs.core.rng import random_below, seed_xoshiro, substream_seed
from cardenvs.core.state import State
from cardenvs.core.tree_search import MAX_PATH


class SlowTree:
    """The same search as `SearchTree`."""

    def __init__(self, state, seed, policy="random", max_plies=10**6, exploration=1.0):
        self.state, self.seed, self.policy = state, seed, policy
        self.max_plies, self.exploration = max_plies, exploration
        self.player = state.current_player
        self.visits = defaultdict(int)
        self.returns = defaultdict(list)
        self.found = []

    def grow(self, rounds):
        for _ in range(rounds):
            self._round(len(self.found))

    def root(self, action):
        """Return visits and mean return of an action at the root."""
        returns = self.returns[self.root_node, action]
        return len(returns), sum(returns) / max(1, len(returns))

    def _round(self, number):
        game, state = self.state.game, self.state
        records = state.records.copy()
        rng = np.zeros(4, np.uint64)
        world_seed = int(substream_seed(self.seed, 0, number)) >> 1
        if game.sample_belief is None:
            game.engine.determinize(records, 0, self.player, world_seed)
        else:
            game.sample_belief(records[0], self.player, world_seed)
        seed_xoshiro(rng, np.uint64(substream_seed(self.seed, 1, number)))
        world = State._from_record(game, state.options, records)
        start = {p: world.observation(p).tobytes() for p in range(world.num_players) if p != self.player}
        path, own_actions, in_tree, plies = [], defaultdict(list), True, 0
        while not world.is_terminal:
            player, legal = world.current_player, world.legal_actions()
            seen = game.table.visible(world._log_rows(), player).tobytes()
            node = (player, start.get(player), seen, tuple(own_actions[player]), tuple(legal))
            is_new = in_tree and not self.visits[node]
            if not in_tree:
                if plies >= self.max_plies:
                    break
                plies += 1
            if in_tree and not is_new:
                action = self._choose(node, legal, rng)
            else:
                action = self._policy_action(world, legal, rng)
            if in_tree:
                path.append((node, action))
                own_actions[player].append(action)
                in_tree = not (is_new and player == self.player) and len(path) < MAX_PATH
            world.apply(action)
        self.root_node = path[0][0]
        for node, action in path:
            self.visits[node] += 1
            self.returns[node, action].append(world.returns[node[0]])
        self.found.append(world.returns[self.player])

    def _choose(self, node, legal, rng):
        untried = [action for action in legal if not self.returns[node, action]]
        if untried:
            for k, action in enumerate(untried):
                if random_below(rng, k + 1) == 0:
                    chosen = action
            return chosen
        scale = np.std(self.found) or 1.0

        def bound(action):
            returns = self.returns[node, action]
            return sum(returns) / len(returns) / scale + self.exploration * math.sqrt(
                math.log(self.visits[node]) / len(returns)
            )

        return max(legal, key=bound)

    def _policy_action(self, world, legal, rng):
        if self.policy == "random":
            return legal[random_below(rng, len(legal))]
        return world.policy_action(self.policy, 0)  # the policies used here draw nothing
