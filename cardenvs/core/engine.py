"""`Engine`: generic kernels on one game's rules, for single states, batches and playouts.

Each is a closure over the game's kernels, compiled on first use and cached with them. They take an array of records and
an index instead of a record, because passing a record from Python costs 2 to 3 µs instead of 0.3 µs per call.
"""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from cardenvs.core.checks import short
from cardenvs.core.codes import FORFEIT, HOLD, NO_ACTION, NO_DECK, TERMINAL_PLAYER
from cardenvs.core.errors import PolicyNotFoundError
from cardenvs.core.kernel import kernel
from cardenvs.core.legal import write_bits, write_bits_below
from cardenvs.core.record import takes_records, takes_widened
from cardenvs.core.rng import episode_seed, random_below, seed_xoshiro, substream_seed
from cardenvs.core.tree_search import begin_kernel, descend_kernel, grow_kernel

if TYPE_CHECKING:
    from cardenvs.core.game import Game

_U1 = np.uint64(1)
_WORLD, _PLAYOUT = 0, 1  # sources of chance in a simulation


@kernel
def _list_nothing(s, legal):
    return 0


class Engine:
    """The generic kernels of one game. Each attribute is compiled when it is first used.

    If the rules cannot be compiled, they run as Python functions. Compiled kernels that they call then return Python
    integers, so results are converted where their type matters.
    """

    def __init__(self, game: "Game") -> None:
        self._game = game
        self.rules = game.rules

    def inline(self, function: Callable) -> Any:
        """Compile a closure over kernels of the game for use in `entry`."""
        rules = self._game.rules
        return kernel(function, folder=rules.folder, inline=True) if rules.compiled else function

    def entry(self, function: Callable) -> Callable:
        """Compile a closure over kernels of the game for calls from Python; it is cached with the game's kernels."""
        rules = self._game.rules
        if not rules.compiled:
            return takes_widened(function)
        return takes_records(kernel(function, folder=rules.folder, entry=True))

    # -- closures shared by the entry points below --------------------------------------------------------------

    @functools.cached_property
    def begin(self) -> Any:
        """begin(s, seed, given, log): deal into a blank record."""
        deal = self._game.rules.deal

        def begin(s, seed, given, log):
            s.seed = seed
            deal(s, given, log)
            if s.terminal:
                s.current_player = TERMINAL_PLAYER
                for p in range(s.rules.num_players):
                    s.returns[p] = s.rewards[p]

        return self.inline(begin)

    @functools.cached_property
    def advance(self) -> Any:
        """advance(s, action, log): apply one legal action or code, and update rewards, returns and ply."""
        apply_action, forfeit = self._game.rules.apply_action, self._game.rules.forfeit

        def advance(s, action, log):
            # These loops are too short for vector code, which would wait for scalar stores to reach memory.
            # Reading the bound in every round keeps the compiler from vectorising them.
            p = 0
            while p < s.rules.num_players:
                if s.rewards[p] != 0.0:
                    s.rewards[p] = 0.0
                p += 1
            s.ply += 1
            if action >= FORFEIT:
                forfeit(s, action - FORFEIT, log)
            else:
                apply_action(s, action, log)
            p = 0
            while p < s.rules.num_players:
                if s.rewards[p] != 0.0:
                    s.returns[p] += s.rewards[p]
                p += 1
            if s.terminal:
                s.current_player = TERMINAL_PLAYER

        return self.inline(advance)

    # -- one state ----------------------------------------------------------------------------------------------

    @functools.cached_property
    def start(self) -> Callable:
        """start(states, i, seed, given, log): deal into the blank record states[i]."""
        begin = self.begin

        def start(states, i, seed, given, log):
            begin(states[i], seed, given, log)

        return self.entry(start)

    @functools.cached_property
    def apply(self) -> Callable:
        """apply(states, i, action, log, legal) -> n: apply a legal action, then write the next legal actions."""
        advance, legal_actions = self.advance, self._game.rules.legal_actions

        def apply(states, i, action, log, legal):
            s = states[i]
            advance(s, action, log)
            return legal_actions(s, legal) if not s.terminal else 0

        return self.entry(apply)

    @functools.cached_property
    def legal(self) -> Callable:
        """legal(states, i, legal) -> n: write the legal actions of states[i], ascending."""
        legal_actions = self._game.rules.legal_actions

        def legal(states, i, legal):
            s = states[i]
            return legal_actions(s, legal) if not s.terminal else 0

        return self.entry(legal)

    @functools.cached_property
    def observe(self) -> Callable:
        """observe(states, i, player, out): write what `player` sees of states[i]."""
        observe = self._game.rules.observe

        def observe_one(states, i, player, out):
            observe(states[i], player, out)

        return self.entry(observe_one)

    @functools.cached_property
    def explain(self) -> Callable:
        """explain(states, i, action) -> code: return 0 if `action` is legal, else the reason's code."""
        explain_illegal = self._game.rules.explain_illegal

        def explain(states, i, action):
            return explain_illegal(states[i], action)

        return self.entry(explain)

    @functools.cached_property
    def determinize(self) -> Callable:
        """determinize(states, i, player, seed): re-deal what `player` cannot know."""
        determinize = self._game.rules.determinize

        def determinize_one(states, i, player, seed):
            determinize(states[i], player, seed)

        return self.entry(determinize_one)

    # -- batches ------------------------------------------------------------------------------------------------

    @functools.cached_property
    def list_legal(self) -> Any:
        """list_legal(s, i, legal, amounts) -> n: write legal ids and amount bounds of state i of a batch."""
        if self._game.rules.amounts is None:
            legal_actions = self._game.rules.legal_actions

            def list_legal(s, i, legal, amounts):
                return legal_actions(s, legal[i])

        else:
            legal_but_amounts = self._game.rules.amounts.legal

            def list_legal(s, i, legal, amounts):
                return legal_but_amounts(s, legal[i], amounts[i])

        return self.inline(list_legal)

    @functools.cached_property
    def encode(self) -> Any:
        """encode(s, i, ...): write the legal list, legal bits, mask and observation of state i of a batch."""
        list_legal, observe = self.list_legal, self._game.rules.observe

        def encode(s, i, write_mask, observation, mask, legal, amounts, num_legal, bits, current_player):
            row, words = legal[i], bits[i]
            before = np.int64(num_legal[i])
            n = list_legal(s, i, legal, amounts)
            num_legal[i] = n
            for k in range(n, before):  # the rest of the previous list, which may be another player's
                row[k] = NO_ACTION
            has_all_below = n > 0 and row[n - 1] == n - 1  # the list ascends
            if has_all_below:
                write_bits_below(n, words)
            else:
                write_bits(row, n, words)
            if write_mask:
                ones = mask[i]
                if has_all_below:
                    ones[:n] = 1
                    ones[n:] = 0
                else:
                    ones[:] = 0
                    for k in range(n):
                        ones[np.uint64(row[k])] = 1
            player = np.int64(s.current_player)
            current_player[i] = player
            observe(s, player, observation[i])

        return self.inline(encode)

    @functools.cached_property
    def batch_reset(self) -> Callable:
        """Start episode `episodes[i]` of every environment in start..stop-1 and encode it.

        Environment i gets the seeds of number first + i.
        """
        begin, encode = self.begin, self.encode

        def batch_reset(
            states, blank, seed, first, episodes, no_log, write_mask, observation, mask, legal, amounts, num_legal,
            bits, current_player, active, seeds, start, stop,
        ):  # fmt: skip
            for env in range(start, stop):
                i = np.uint64(env)  # unsigned, so that Numba skips the check for negative indices
                states[i] = blank[0]
                s = states[i]
                begin(s, episode_seed(seed, np.uint64(first) + i, episodes[i]), NO_DECK, no_log)
                seeds[i] = s.seed
                for p in range(active.shape[1]):
                    active[i, p] = s.active[p]
                encode(s, i, write_mask, observation, mask, legal, amounts, num_legal, bits, current_player)

        return self.entry(batch_reset)

    @functools.cached_property
    def batch_step(self) -> Callable:
        """Apply actions[i] (already checked) to environments start..stop-1, restart ended ones and encode all."""
        begin, advance, encode = self.begin, self.advance, self.encode

        def batch_step(
            states, blank, seed, first, episodes, no_log, write_mask, observation, mask, legal, amounts, num_legal,
            bits, current_player, active, seeds, start, stop, actions, max_plies, reward, returns, terminated,
            truncated,
        ):  # fmt: skip
            num_players = reward.shape[1]
            for env in range(start, stop):
                i = np.uint64(env)
                terminated[i] = False
                truncated[i] = False
                s = states[i]
                if actions[i] == HOLD:
                    seeds[i] = s.seed
                    for p in range(num_players):
                        reward[i, p] = 0.0
                        returns[i, p] = s.returns[p]
                    continue
                advance(s, np.int64(actions[i]), no_log)
                seeds[i] = s.seed
                for p in range(num_players):
                    reward[i, p] = s.rewards[p]
                    returns[i, p] = s.returns[p]
                    active[i, p] = s.active[p]
                if s.terminal or s.ply >= max_plies:
                    terminated[i] = s.terminal != 0
                    truncated[i] = s.terminal == 0
                    episodes[i] += 1
                    states[i] = blank[0]
                    begin(s, episode_seed(seed, np.uint64(first) + i, episodes[i]), NO_DECK, no_log)
                    for p in range(num_players):
                        active[i, p] = s.active[p]
                encode(s, i, write_mask, observation, mask, legal, amounts, num_legal, bits, current_player)

        return self.entry(batch_step)

    @functools.cached_property
    def batch_observe(self) -> Callable:
        """batch_observe(states, player, out, start, stop): write what `player` sees of each state."""
        observe = self._game.rules.observe

        def batch_observe(states, player, out, start, stop):
            for i in range(start, stop):
                observe(states[i], player, out[i])

        return self.entry(batch_observe)

    # -- playouts -----------------------------------------------------------------------------------------------

    def policy(self, name: str) -> Any:
        """Return the policy kernel of that name: "random" or one of the game's own.

        Raises:
            PolicyNotFoundError: the game has no such policy.
        """
        if not isinstance(name, str):
            raise PolicyNotFoundError(f"a policy name is a string; got {short(name)}")
        if name == "random":
            return random_policy if self._game.rules.compiled else getattr(random_policy, "py_func", random_policy)
        if name not in self._game.policies:
            known = ", ".join(self.policy_names())
            raise PolicyNotFoundError(f"{self._game.name} has no policy {name!r}; its policies are: {known}")
        return self._game.policies[name]

    def _list_for(self, policy_name: str) -> Any:
        """Return the kernel list(s, legal) -> n that writes the legal actions a policy needs."""
        needs_list = policy_name == "random" or self._game.policies_need_legal
        return self._game.rules.legal_actions if needs_list else _list_nothing

    def policy_names(self) -> list[str]:
        """Return the names that `policy` accepts: "random", then the game's own."""
        return ["random", *sorted(self._game.policies)]

    @functools.cache  # noqa: B019  one engine a game, for the life of the process
    def act(self, policy_name: str) -> Callable:
        """act(states, i, seed, rng, legal) -> action: choose for the player to act in states[i] by a policy.

        rng is a scratch uint64 array (4,), seeded here from `seed`; legal a scratch int32 array (max_legal,).
        """
        list_legal, policy = self._list_for(policy_name), self.policy(policy_name)

        def act(states, i, seed, rng, legal):
            s = states[i]
            seed_xoshiro(rng, np.uint64(seed))
            n = list_legal(s, legal)
            return np.int64(policy(s, legal, n, rng))

        return self.entry(act)

    @functools.cache  # noqa: B019  one engine a game, for the life of the process
    def batch_act(self, policy_name: str) -> Callable:
        """batch_act(states, rows, legal, num_legal, seed, step, first, rng, out): choose in some states by a policy.

        out[k] is the choice in states[rows[k]] and depends on (seed, step, first + rows[k]) only; legal and num_legal
        are the legal lists of all states, as in a Batch; rng is a scratch uint64 array (4,).
        """
        policy = self.policy(policy_name)

        def batch_act(states, rows, legal, num_legal, seed, step, first, rng, out):
            for k in range(rows.shape[0]):
                i = rows[k]
                seed_xoshiro(rng, np.uint64(substream_seed(seed, step, first + i)))
                out[k] = policy(states[i], legal[i], num_legal[i], rng)

        return self.entry(batch_act)

    @functools.cache  # noqa: B019  one engine a game, for the life of the process
    def playout(self, policy_name: str) -> Callable:
        """playout(states, i, rng, legal, max_plies, no_log): play states[i] to the end by one policy for all players.

        rng is a uint64 array (4,) seeded by the caller, legal a scratch int32 array (max_legal,). Stops after max_plies
        plies even if the game is not over.
        """
        advance, list_legal, policy = self.advance, self._list_for(policy_name), self.policy(policy_name)

        def playout(states, i, rng, legal, max_plies, no_log):
            s = states[i]
            for _ in range(max_plies):
                if s.terminal:
                    break
                n = list_legal(s, legal)
                advance(s, policy(s, legal, n, rng), no_log)

        return self.entry(playout)

    @functools.cache  # noqa: B019  one engine a game, for the life of the process
    def simulate(self, policy_name: str) -> Callable:
        """simulate(states, i, seed, first, plays, lengths, max_plies, scratch, rng, legal, no_log, returns).

        For each round r = first, first + 1, ..., one per row of `returns`: re-deal what the player to act in states[i]
        cannot know (with the rules' `sample_belief` if there is one). In a copy of that world for each play, apply the
        first lengths[k] actions of plays[k] (int64, legal), play on by one policy for all players for at most max_plies
        plies, and write the player's return to column k of `returns` (float64). Round r depends on (seed, r) only.
        scratch is an array of two records; rng and legal are as for `act`.
        """
        advance, list_legal, policy = self.advance, self._list_for(policy_name), self.policy(policy_name)
        deal_world = self._game.rules.sample_belief or self._game.rules.determinize

        def simulate(states, i, seed, first, plays, lengths, max_plies, scratch, rng, legal, no_log, returns):
            player = np.int64(states[i].current_player)
            world, s = scratch[0], scratch[1]
            for row in range(returns.shape[0]):
                r = first + row
                scratch[0] = states[i]
                deal_world(world, player, np.int64(np.uint64(substream_seed(seed, _WORLD, r)) >> _U1))
                for k in range(plays.shape[0]):
                    scratch[1] = scratch[0]
                    seed_xoshiro(rng, np.uint64(substream_seed(seed, _PLAYOUT, r)))
                    for ply in range(lengths[k] + max_plies):
                        if s.terminal:
                            break
                        if ply < lengths[k]:
                            action = plays[k, ply]
                        else:
                            action = np.int64(policy(s, legal, list_legal(s, legal), rng))
                        advance(s, action, no_log)
                    returns[row, k] = s.returns[player]

        return self.entry(simulate)

    # -- tree search, see `cardenvs.core.tree_search` ----------------------------------------------------------

    @functools.cached_property
    def begin_walk(self) -> Any:
        """begin_walk(states, i, player, seed, worlds, k, walk, total, seen): begin a round of a tree search."""
        return self.inline(begin_kernel(self))

    @functools.cache  # noqa: B019  one engine a game, for the life of the process
    def grow(self, policy_name: str) -> Callable:
        """grow(states, i, seed, rounds, max_plies, exploration, worlds, walks, tree, is_counter, log, no_log, legal,
        seen): rounds of a tree search for the player to act in states[i], with playouts by a policy.

        worlds is an array of one record, walks one of one WALK, tree one of ENTRY with a power of two as its length;
        the last two begin as zeros. seen is an array for an observation. Round r depends on the rounds before and on
        (seed, r) only.
        """
        return self.entry(grow_kernel(self, policy_name, self._list_for(policy_name)))

    @functools.cached_property
    def descend(self) -> Callable:
        """descend(states, i, seed, last, exploration, worlds, walks, tree, is_counter, log, legal, seen, priors,
        values, observations, masks): rounds of a tree search with a network.

        Moves each of K walks on, and begins new ones up to round `last`, until each waits for the network or nothing is
        left to do. For a waiting walk k, observations[k] (P, size) and masks[k] (num_actions,) are written; before the
        next call, priors[k] (num_actions,) and values[k] (P,), float64, must be. The rest is as for `grow`.
        """
        return self.entry(descend_kernel(self))


@kernel
def random_policy(s, legal, n, rng):
    """Return a uniformly random legal action."""
    return np.int64(legal[random_below(rng, n)])
