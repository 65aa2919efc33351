"""`Engine`: generic kernels on one game's rules, for single states, batches and playouts.

Each is a closure over the game's kernels, compiled on first use and cached with them. They take an array of records and
an index instead of a record, because passing a record from Python costs 2 to 3 µs instead of 0.3 µs per call.
"""

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cardenvs.core.checks import short
from cardenvs.core.codes import FORFEIT, HOLD, NO_ACTION, NO_DECK, TERMINAL_PLAYER
from cardenvs.core.errors import PolicyNotFoundError
from cardenvs.core.kernel import kernel
from cardenvs.core.legal import LONG, SHORT, WIDE, add_bits, undo_bits, undo_mask, write_bits, write_both, write_range
from cardenvs.core.record import copy_except, takes_records, takes_widened
from cardenvs.core.rng import VALUE, episode_seed, random_below, seed_xoshiro, substream_seed
from cardenvs.core.tree_search import begin_kernel, descend_kernel, grow_kernel

if TYPE_CHECKING:
    from cardenvs.core.game import Game

_U1 = np.uint64(1)
_WORLD, _PLAYOUT = 0, 1  # sources of chance in a simulation


@kernel
def _list_nothing(s, legal):
    return 0


class BatchArrays(NamedTuple):
    """The arrays of N environments, as `batch_reset` and `batch_step` take them; see Batch for what they hold.

    Attributes:
        states: records (N,).
        blank: one record before the deal.
        episodes: numbers of the episodes, (N,).
        bits: the legal ids as sets of bits, uint64 (N, words).
        seeds, returns: seed and returns of the episode in which the last step was taken.
    """

    states: np.ndarray
    blank: np.ndarray
    episodes: np.ndarray
    observation: np.ndarray
    mask: np.ndarray
    legal: np.ndarray
    amounts: np.ndarray
    num_legal: np.ndarray
    bits: np.ndarray
    current_player: np.ndarray
    active: np.ndarray
    seeds: np.ndarray
    reward: np.ndarray
    returns: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray


class Engine:
    """The generic kernels of one game. Each attribute is compiled when it is first used.

    With `says_outcomes`, those that observe also write what the game says about legal actions. They are compiled apart,
    because that can take much longer.

    If the rules cannot be compiled, they run as Python functions. Compiled kernels that they call then return Python
    integers, so results are converted where their type matters.
    """

    def __init__(self, game: "Game", says_outcomes: bool = False) -> None:
        self.game, self._says_outcomes = game, says_outcomes

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy by reference: what is copied or pickled shares the kernels of the game instead of taking them along."""
        return getattr, (self.game, "engine_with_outcomes" if self._says_outcomes else "engine")

    def inline(self, function: Callable[..., Any]) -> Any:
        """Compile a closure over kernels of the game for use in `entry`."""
        game = self.game
        return kernel(function, folder=game.folder, inline=True) if game.compiled else function

    def entry(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Compile a closure over kernels of the game for calls from Python; it is cached with the game's kernels."""
        if not self.game.compiled:
            return takes_widened(function)
        return takes_records(kernel(function, folder=self.game.folder, entry=True))

    # -- closures shared by the entry points below --------------------------------------------------------------

    @functools.cached_property
    def begin(self) -> Any:
        """begin(s, seed, given, log): deal into a blank record."""
        deal = self.game.deal

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
        apply_action, forfeit = self.game.apply_action, self.game.forfeit

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

    @functools.cached_property
    def see(self) -> Any:
        """see(s, player, out): write all that `player` observes."""
        outcomes, observe = self.game.outcomes, self.game.observe
        if outcomes is None or not self._says_outcomes:
            return observe
        write, size = outcomes.write, outcomes.size

        def see(s, player, out):
            observe(s, player, out)
            write(s, player, out, out.shape[0] - size)

        return self.inline(see)

    # -- one state ----------------------------------------------------------------------------------------------

    @functools.cached_property
    def start(self) -> Callable[..., Any]:
        """start(states, i, seed, given, log): deal into the blank record states[i]."""
        begin = self.begin

        def start(states, i, seed, given, log):
            begin(states[i], seed, given, log)

        return self.entry(start)

    @functools.cached_property
    def apply(self) -> Callable[..., Any]:
        """apply(states, i, action, log, legal) -> n: apply a legal action, then write the next legal actions."""
        advance, legal_actions = self.advance, self.game.legal_actions

        def apply(states, i, action, log, legal):
            s = states[i]
            advance(s, action, log)
            return legal_actions(s, legal) if not s.terminal else 0

        return self.entry(apply)

    @functools.cached_property
    def legal(self) -> Callable[..., Any]:
        """legal(states, i, legal) -> n: write the legal actions of states[i], ascending."""
        legal_actions = self.game.legal_actions

        def legal(states, i, legal):
            s = states[i]
            return legal_actions(s, legal) if not s.terminal else 0

        return self.entry(legal)

    @functools.cached_property
    def observe(self) -> Callable[..., Any]:
        """observe(states, i, player, out): write what `player` sees of states[i]."""
        observe = self.see

        def observe_one(states, i, player, out):
            observe(states[i], player, out)

        return self.entry(observe_one)

    @functools.cached_property
    def explain(self) -> Callable[..., Any]:
        """explain(states, i, action) -> code: return 0 if `action` is legal, else the reason's code."""
        explain_illegal = self.game.explain_illegal

        def explain(states, i, action):
            return explain_illegal(states[i], action)

        return self.entry(explain)

    @functools.cached_property
    def determinize(self) -> Callable[..., Any]:
        """determinize(states, i, player, seed): re-deal what `player` cannot know."""
        determinize = self.game.determinize

        def determinize_one(states, i, player, seed):
            determinize(states[i], player, seed)

        return self.entry(determinize_one)

    # -- batches ------------------------------------------------------------------------------------------------

    @functools.cached_property
    def list_legal(self) -> Any:
        """list_legal(s, i, legal, amounts) -> n: write legal ids and amount bounds of state i of a batch."""
        if self.game.amounts is None:
            legal_actions = self.game.legal_actions

            def list_legal(s, i, legal, amounts):
                return legal_actions(s, legal[i])

        else:
            legal_but_amounts = self.game.amounts.legal

            def list_legal(s, i, legal, amounts):
                return legal_but_amounts(s, legal[i], amounts[i])

        return self.inline(list_legal)

    @functools.cached_property
    def encode_legal(self) -> Any:
        """encode_legal(b, i, write_mask): write the legal list, legal bits and mask of state i of a batch."""
        list_legal = self.list_legal

        def encode_legal(b, i, write_mask):
            s, row, words = b.states[i], b.legal[i], b.bits[i]
            before = np.int64(b.num_legal[i])
            is_wide = words.shape[0] >= WIDE // 64
            if is_wide:
                undo_bits(row, before, words)
                if write_mask:
                    undo_mask(row, before, b.mask[i])
            n = list_legal(s, i, b.legal, b.amounts)
            b.num_legal[i] = n
            for k in range(n, before):  # the rest of the previous list, which may be another player's
                row[np.uint64(k)] = NO_ACTION
            first = np.int64(row[0])
            is_range = n >= LONG and row[np.uint64(n - 1)] == first + n - 1  # the list ascends
            if b.mask.shape[1] <= SHORT and write_mask:
                write_both(row, n, words, b.mask[i])
                return
            if is_wide:
                add_bits(row, n, words)
            elif is_range:
                write_range(first, n, words)
            else:
                write_bits(row, n, words)
            if write_mask:
                ones = b.mask[i]
                if is_range and not is_wide:
                    ones[:] = 0
                    ones[first : first + n] = 1
                else:
                    if not is_wide:
                        ones[:] = 0
                    for k in range(n):
                        ones[np.uint64(row[k])] = 1

        return self.inline(encode_legal)

    @functools.cached_property
    def encode_player(self) -> Any:
        """encode_player(b, i): write who is to act in state i of a batch, and the observation."""
        observe = self.see

        def encode_player(b, i):
            s = b.states[i]
            player = np.int64(s.current_player)
            b.current_player[i] = player
            observe(s, player, b.observation[i])

        return self.inline(encode_player)

    @functools.cached_property
    def is_forced(self) -> Any:
        """is_forced(b, i) -> bool: whether only one action is legal, after encode_legal(b, i, ...)."""
        if self.game.amounts is None:

            def is_forced(b, i):
                return b.num_legal[i] == 1

        else:

            def is_forced(b, i):
                return b.num_legal[i] == 1 and b.amounts[i, 0] > b.amounts[i, 1]

        return self.inline(is_forced)

    @functools.cached_property
    def begin_episode(self) -> Any:
        """begin_episode(b, i, seed, env, no_log): deal episode number b.episodes[i] of environment number `env`.

        The record of environment i is blank.
        """
        begin = self.begin

        def begin_episode(b, i, seed, env, no_log):
            s = b.states[i]
            begin(s, episode_seed(seed, env, b.episodes[i]), NO_DECK, no_log)
            p = 0
            while p < s.rules.num_players:  # see `advance`
                b.active[i, p] = s.active[p]
                p += 1

        return self.inline(begin_episode)

    @functools.cached_property
    def batch_reset(self) -> Callable[..., Any]:
        """batch_reset(b, seed, first, write_mask, no_log, start, stop): start episodes and encode them.

        `b` is a BatchArrays. Environment i, one of start..stop-1, starts episode b.episodes[i] and gets the seeds of
        number first + i.
        """
        begin_episode, encode_legal, encode_player = self.begin_episode, self.encode_legal, self.encode_player

        def batch_reset(b, seed, first, write_mask, no_log, start, stop):
            no_log = no_log[:0]
            for env in range(start, stop):
                i = np.uint64(env)  # unsigned, so that Numba skips the check for negative indices
                b.states[i] = b.blank[0]
                begin_episode(b, i, seed, np.uint64(first) + i, no_log)
                b.seeds[i] = b.states[i].seed
                encode_legal(b, i, write_mask)
                encode_player(b, i)

        return self.entry(batch_reset)

    @functools.cached_property
    def hold(self) -> Any:
        """hold(b, i): leave environment i of a batch as it is."""

        def hold(b, i):
            s = b.states[i]
            b.terminated[i] = False
            b.truncated[i] = False
            b.seeds[i] = s.seed
            for p in range(b.reward.shape[1]):
                b.reward[i, p] = 0.0
                b.returns[i, p] = s.returns[p]

        return self.inline(hold)

    @functools.cached_property
    def end_step(self) -> Any:
        """end_step(b, i, seed, first, no_log, max_plies) -> bool: start the next episode after an end.

        Notes how and in which episode the step ended.
        """
        game, begin_episode = self.game, self.begin_episode
        # What stays the same for the life of a batch is not copied
        clear = copy_except(game.state_dtype, ("rules", *game.given_fields), game.runs_compiled)

        def end_step(b, i, seed, first, no_log, max_plies):
            s = b.states[i]
            b.seeds[i] = s.seed
            is_over = s.terminal != 0
            is_cut = not is_over and s.ply >= max_plies
            b.terminated[i] = is_over
            b.truncated[i] = is_cut
            if is_over or is_cut:
                b.episodes[i] += 1
                clear(s, b.blank[0])
                begin_episode(b, i, seed, np.uint64(first) + i, no_log)
            return is_over or is_cut

        return self.inline(end_step)

    @functools.cached_property
    def batch_step(self) -> Callable[..., Any]:
        """batch_step(b, seed, first, write_mask, no_log, start, stop, actions, max_plies): take a step in each.

        Applies actions[i] (already checked) in environments start..stop-1, restarts those that ended and encodes all.
        """
        advance, hold, end_step = self.advance, self.hold, self.end_step
        encode_legal, encode_player = self.encode_legal, self.encode_player

        def batch_step(b, seed, first, write_mask, no_log, start, stop, actions, max_plies):
            no_log = no_log[:0]  # which the compiler knows to be empty, and leaves out all that is logged
            for env in range(start, stop):
                i = np.uint64(env)
                if actions[i] == HOLD:
                    hold(b, i)
                    continue
                s = b.states[i]
                advance(s, np.int64(actions[i]), no_log)
                p = 0
                while p < s.rules.num_players:  # see `advance`
                    b.reward[i, p], b.returns[i, p], b.active[i, p] = s.rewards[p], s.returns[p], s.active[p]
                    p += 1
                end_step(b, i, seed, first, no_log, max_plies)
                encode_legal(b, i, write_mask)
                encode_player(b, i)

        return self.entry(batch_step)

    @functools.cached_property
    def batch_skip(self) -> Callable[..., Any]:
        """batch_skip(b, seed, first, write_mask, no_log, start, stop, actions, max_plies, history).

        As `batch_step`, but after the action plays on while only one action is legal, and sums the rewards. history,
        int32 (N, max_plies) or (N, 0), gets the actions played on, at their plies.
        """
        advance, hold, end_step = self.advance, self.hold, self.end_step
        encode_legal, encode_player, is_forced = self.encode_legal, self.encode_player, self.is_forced

        def batch_skip(b, seed, first, write_mask, no_log, start, stop, actions, max_plies, history):
            no_log = no_log[:0]
            for env in range(start, stop):
                i = np.uint64(env)
                if actions[i] == HOLD:
                    hold(b, i)
                    continue
                s, action = b.states[i], np.int64(actions[i])
                for p in range(b.reward.shape[1]):
                    b.reward[i, p] = 0.0
                while True:
                    advance(s, action, no_log)
                    for p in range(b.reward.shape[1]):
                        b.reward[i, p] += s.rewards[p]
                        b.returns[i, p], b.active[i, p] = s.returns[p], s.active[p]
                    if end_step(b, i, seed, first, no_log, max_plies):
                        encode_legal(b, i, write_mask)
                        break
                    encode_legal(b, i, write_mask)
                    if not is_forced(b, i):
                        break
                    action = np.int64(b.legal[i, 0])
                    if history.shape[1]:
                        history[i, s.ply] = action
                encode_player(b, i)

        return self.entry(batch_skip)

    @functools.cached_property
    def batch_observe(self) -> Callable[..., Any]:
        """batch_observe(states, player, out, start, stop): write what `player` sees of each state."""
        observe = self.see

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
            return random_policy if self.game.compiled else getattr(random_policy, "py_func", random_policy)
        if name not in self.game.policies:
            known = ", ".join(self.policy_names())
            raise PolicyNotFoundError(f"{self.game.name} has no policy {name!r}; its policies are: {known}")
        return self.game.policies[name]

    def _list_for(self, policy_name: str) -> Any:
        """Return the kernel list(s, legal) -> n that writes the legal actions a policy needs."""
        needs_list = policy_name == "random" or self.game.policies_need_legal
        return self.game.legal_actions if needs_list else _list_nothing

    def policy_names(self) -> list[str]:
        """Return the names that `policy` accepts: "random", then the game's own."""
        return ["random", *sorted(self.game.policies)]

    @functools.cache  # noqa: B019  one engine a game, for the life of the process
    def act(self, policy_name: str) -> Callable[..., Any]:
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
    def batch_act(self, policy_name: str) -> Callable[..., Any]:
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
    def playout(self, policy_name: str) -> Callable[..., Any]:
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
    def simulate(self, policy_name: str) -> Callable[..., Any]:
        """simulate(states, i, seed, first, plays, lengths, max_plies, scratch, rng, legal, no_log, returns).

        For each round r = first, first + 1, ..., one per row of `returns`: re-deal what the player to act in states[i]
        cannot know (with the rules' `sample_belief` if there is one). In a copy of that world for each play, apply the
        first lengths[k] actions of plays[k] (int64, legal), play on by one policy for all players for at most max_plies
        plies, and write the player's return to column k of `returns` (float64). Round r depends on (seed, r) only.
        scratch is an array of two records; rng and legal are as for `act`.
        """
        advance, list_legal, policy = self.advance, self._list_for(policy_name), self.policy(policy_name)
        deal_world = self.game.sample_belief or self.game.determinize

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

    # -- many worlds ---------------------------------------------------------------------------------------------

    @functools.cached_property
    def deal_plays(self) -> Callable[..., Any]:
        """deal_plays(states, i, seed, first, plays, lengths, no_log, worlds): write the positions from which `simulate`
        plays on.

        worlds is an array of records (R, K): in row r the world of round first + r, in column k after plays[k].
        """
        advance = self.advance
        deal_world = self.game.sample_belief or self.game.determinize

        def deal_plays(states, i, seed, first, plays, lengths, no_log, worlds):
            player = np.int64(states[i].current_player)
            for row in range(worlds.shape[0]):
                for k in range(plays.shape[0]):
                    worlds[row, k] = states[i]
                    s = worlds[row, k]
                    deal_world(s, player, np.int64(np.uint64(substream_seed(seed, _WORLD, first + row)) >> _U1))
                    for ply in range(lengths[k]):
                        if s.terminal:
                            break
                        advance(s, plays[k, ply], no_log)

        return self.entry(deal_plays)

    @functools.cached_property
    def decisions(self) -> Callable[..., Any]:
        """decisions(states, legal, masks, seen): write what the players to act may do and see.

        masks is int8 (N, A) of zeros, seen (N, D) of the layout's dtype, legal a scratch int32 array (max_legal,).
        Rows of games that are over stay as they are.
        """
        legal_actions, observe = self.game.legal_actions, self.see

        def decisions(states, legal, masks, seen):
            for i in range(states.shape[0]):
                s = states[i]
                if not s.terminal:
                    for k in range(legal_actions(s, legal)):
                        masks[i, legal[k]] = 1
                    observe(s, np.int64(s.current_player), seen[i])

        return self.entry(decisions)

    @functools.cached_property
    def advance_rows(self) -> Callable[..., Any]:
        """advance_rows(states, rows, actions, no_log): apply the legal action actions[k] to states[rows[k]]."""
        advance = self.advance

        def advance_rows(states, rows, actions, no_log):
            for k in range(rows.shape[0]):
                advance(states[rows[k]], actions[k], no_log)

        return self.entry(advance_rows)

    @functools.cached_property
    def replay(self) -> Callable[..., Any]:
        """replay(states, seeds, decks, actions, no_log): deal into blank records and apply the same actions to each.

        states[i] is dealt from seeds[i] (int64) and the explicit tokens decks[i] (int16). The actions (int64, codes
        included) must be legal in all of them.
        """
        begin, advance = self.begin, self.advance

        def replay(states, seeds, decks, actions, no_log):
            for i in range(states.shape[0]):
                s = states[i]
                begin(s, seeds[i], decks[i], no_log)
                for k in range(actions.shape[0]):
                    advance(s, actions[k], no_log)

        return self.entry(replay)

    @functools.cached_property
    def worths(self) -> Callable[..., Any]:
        """worths(states, rng, out): write what each player may expect in each state to out, float64 (N, P).

        These are the returns of a game that is over, and else what the game's `worth` says, with random numbers from
        the state's seed. rng is a scratch uint64 array (4,).
        """
        worth = self.game.worth

        def worths(states, rng, out):
            for i in range(states.shape[0]):
                s = states[i]
                seed_xoshiro(rng, substream_seed(s.seed, VALUE, 0))
                if s.terminal:
                    for p in range(out.shape[1]):
                        out[i, p] = s.returns[p]
                else:
                    worth(s, rng, out[i])

        return self.entry(worths)

    @functools.cache  # noqa: B019  one engine a game, for the life of the process
    def playouts(self, policy_name: str) -> Callable[..., Any]:
        """playouts(states, rng, legal, max_plies, no_log, out): play each state to the end, in place, by one policy
        for all players, and write the returns to out, float64 (N, P).

        The policy's random numbers come from the state's seed. rng and legal are as for `act`.
        """
        advance, list_legal, policy = self.advance, self._list_for(policy_name), self.policy(policy_name)

        def playouts(states, rng, legal, max_plies, no_log, out):
            for i in range(states.shape[0]):
                s = states[i]
                seed_xoshiro(rng, substream_seed(s.seed, VALUE, 0))
                for _ in range(max_plies):
                    if s.terminal:
                        break
                    n = list_legal(s, legal)
                    advance(s, np.int64(policy(s, legal, n, rng)), no_log)
                for p in range(out.shape[1]):
                    out[i, p] = s.returns[p]

        return self.entry(playouts)

    @functools.cache  # noqa: B019  one engine a game, for the life of the process
    def choices(self, policy_name: str) -> Callable[..., Any]:
        """choices(states, seeds, rng, legal, out): choose in each state by a policy, with a seed of its own.

        seeds and out are int64 (N,); rng and legal are as for `act`, which chooses the same.
        """
        list_legal, policy = self._list_for(policy_name), self.policy(policy_name)

        def choices(states, seeds, rng, legal, out):
            for i in range(states.shape[0]):
                s = states[i]
                seed_xoshiro(rng, np.uint64(seeds[i]))
                n = list_legal(s, legal)
                out[i] = policy(s, legal, n, rng)

        return self.entry(choices)

    # -- tree search, see `cardenvs.core.tree_search` ----------------------------------------------------------

    @functools.cached_property
    def begin_walk(self) -> Any:
        """begin_walk(states, i, player, seed, worlds, k, walk, total, seen): begin a round of a tree search."""
        return self.inline(begin_kernel(self))

    @functools.cache  # noqa: B019  one engine a game, for the life of the process
    def grow(self, policy_name: str) -> Callable[..., Any]:
        """grow(states, i, seed, rounds, max_plies, exploration, worlds, walks, tree, is_counter, log, no_log, legal,
        seen): rounds of a tree search for the player to act in states[i], with playouts by a policy.

        worlds is an array of one record, walks one of one WALK, tree one of ENTRY with a power of two as its length;
        the last two begin as zeros. seen is an array for an observation. Round r depends on the rounds before and on
        (seed, r) only.
        """
        return self.entry(grow_kernel(self, policy_name, self._list_for(policy_name)))

    @functools.cached_property
    def descend(self) -> Callable[..., Any]:
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
