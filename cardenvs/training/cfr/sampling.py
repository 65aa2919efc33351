"""External-sampling MCCFR: walks a game itself with sampled deals, so it needs no tree.

Source: M. Lanctot et al., "Monte Carlo Sampling for Regret Minimization in Extensive Games" (2009). In each iteration
each player in turn tries all actions of its own; chance and the others are sampled. A player's average policy is
updated while the player before it tries actions.
"""

import functools
from collections.abc import Callable

import numpy as np

from cardenvs.agents.tabular import TabularPolicy
from cardenvs.core.codes import NO_DECK
from cardenvs.core.errors import FormatError, SolvingError
from cardenvs.core.events import new_log
from cardenvs.core.game import Game
from cardenvs.core.information import add_events
from cardenvs.core.options import Options
from cardenvs.core.rng import derived_seed, next_uint64, seed_xoshiro, substream_seed
from cardenvs.training.cfr.numbering import Numbering, find_or_add
from cardenvs.training.cfr.passes import match_regrets
from cardenvs.training.cfr.tree import mixed
from cardenvs.training.cfr.worlds import is_set

_ROOM = 1 << 16  # information states that one iteration may add
_LOG_ROWS = 1 << 12  # events of one action
_DEEPEST = 1 << 12  # decisions of one player
_MOST_BYTES = 8 << 30  # of the tables
_U1, _U11, _TO_UNIT = np.uint64(1), np.uint64(11), 2.0**-53
_COUNT, _PROBLEM = range(2)  # places in `counts`
_TOO_MANY, _LONG_LOG, _TOO_DEEP = range(1, 4)  # problems
_PROBLEMS = {
    _TOO_MANY: f"one iteration met more than {_ROOM:,} new information states",
    _LONG_LOG: f"one action has more than {_LOG_ROWS:,} events",
    _TOO_DEEP: f"a player made more than {_DEEPEST:,} decisions",
}


@functools.cache
def _sampler(game: Game) -> Callable:
    """sample(...) -> iterations done: fewer than asked for if the tables may become too small."""
    inline, start, apply = game.engine.inline, game.engine.start, game.engine.apply
    list_legal, see, find, match = game.engine.legal, add_events, find_or_add, match_regrets
    seed_rng, draw, substream = seed_xoshiro, next_uint64, substream_seed

    def arrive(keys, i, log, is_set, counts):
        """Add the events in the log to what the players know in position i."""
        if log[0, 0] >= log.shape[0]:
            counts[_PROBLEM] = _LONG_LOG
        else:
            for p in range(keys.shape[1]):
                see(keys[i, p], log, 1, 1 << p, is_set)
        log[0, 0] = 0

    arrive = inline(arrive)

    def find_row(keys, i, player, n, legal, slots, table, counts, sizes, players, actions, key):
        """The row of the information state of the player to act in position i."""
        key[0], key[1] = keys[i, player, 0] ^ np.uint64(player), keys[i, player, 1]
        if counts[_COUNT] == table.shape[0]:
            counts[_PROBLEM] = _TOO_MANY
            return np.int64(0)
        row = np.int64(find(slots, table, counts[_COUNT], key))
        if row == counts[_COUNT]:
            counts[_COUNT] += 1
            sizes[row], players[row] = n, player
            for k in range(n):
                actions[row, k] = legal[i, k]
        return row

    find_row = inline(find_row)

    def branch(states, keys, i, action, log, legal, num_legal, is_set, counts):
        """Take an action of position i in a copy of it, position i + 1."""
        states[i + 1] = states[i]
        for p in range(keys.shape[1]):
            keys[i + 1, p, 0], keys[i + 1, p, 1] = keys[i, p, 0], keys[i, p, 1]
        num_legal[i + 1] = apply(states, i + 1, action, log, legal[i + 1])
        arrive(keys, i + 1, log, is_set, counts)

    branch = inline(branch)

    def drawn(rng, policy, n):
        """The place of an action drawn from policy[:n]."""
        left, k = np.float64(draw(rng) >> _U11) * _TO_UNIT, 0
        while k < n - 1 and left >= policy[k]:
            left -= policy[k]
            k += 1
        return k

    drawn = inline(drawn)

    def sample(
        blank, seed, first, last, states, keys, slots, table, counts, sizes, players, actions, regrets, weights,
        policy, gain, legal, num_legal, tried, rows, log, is_set, rng, key,
    ):  # fmt: skip
        num_players = keys.shape[1]
        for t in range(first, last):
            if counts[_COUNT] + _ROOM > table.shape[0]:
                return t - first
            for traverser in range(num_players):
                seed_rng(rng, np.uint64(substream(seed, t, traverser)))
                states[0] = blank[0]
                keys[0] = 0
                start(states, 0, np.int64(draw(rng) >> _U1), NO_DECK, log)
                arrive(keys, 0, log, is_set, counts)
                num_legal[0] = list_legal(states, 0, legal[0])
                i, searching = 0, True
                while searching:
                    if counts[_PROBLEM]:
                        return t - first
                    player, n = np.int64(states[i].current_player), np.int64(num_legal[i])
                    if n > 0:
                        row = find_row(keys, i, player, n, legal, slots, table, counts, sizes, players, actions, key)
                        match(regrets[row], 0, n, policy[i])
                        if player == traverser:
                            if i + 1 == states.shape[0]:
                                counts[_PROBLEM] = _TOO_DEEP
                                continue
                            rows[i], tried[i] = row, 0
                            branch(states, keys, i, np.int64(legal[i, 0]), log, legal, num_legal, is_set, counts)
                            i += 1
                            continue
                        if player == (traverser + 1) % num_players:
                            for k in range(n):
                                weights[row, k] += policy[i, k]
                        action = np.int64(legal[i, drawn(rng, policy[i], n)])
                        num_legal[i] = apply(states, i, action, log, legal[i])
                        arrive(keys, i, log, is_set, counts)
                        continue
                    value = states[i].returns[traverser]
                    searching = False
                    while i > 0 and not searching:  # back to the traverser's last decision with an action to try
                        i -= 1
                        gain[i, tried[i]] = value
                        tried[i] += 1
                        if tried[i] < num_legal[i]:
                            action = np.int64(legal[i, tried[i]])
                            branch(states, keys, i, action, log, legal, num_legal, is_set, counts)
                            i += 1
                            searching = True
                        else:
                            value = 0.0
                            for k in range(num_legal[i]):
                                value += policy[i, k] * gain[i, k]
                            for k in range(num_legal[i]):
                                regrets[rows[i], k] += gain[i, k] - value
        return last - first

    return game.engine.entry(sample)


class Sampler:
    """External-sampling MCCFR on a game of any size whose players decide a few times each.

    Tables grow with the information states met. Iteration t depends on the seed and t only, so a run may be cut
    anywhere.

    Attributes:
        game, options, seed: what it solves, and what the deals and choices follow from.
        iterations: done so far; each updates every player once.
        sizes, players: by information state; its number of legal actions, and who acts.
        actions, regrets, weights: (information states, most legal actions).
    """

    method = "mccfr"

    def __init__(self, game: Game, options: Options, seed: int = 0) -> None:
        """Create a solver that has not begun.

        Raises:
            SolvingError: the game is for one player.
        """
        if options.num_players < 2:
            raise SolvingError(f"mccfr needs two players or more; {game.name} has one with these options")
        self.game, self.options, self.seed, self.iterations = game, options, seed, 0
        self._most = game.max_legal(options)
        self._numbering = Numbering()
        self._counts = np.zeros(2, np.int64)
        self.sizes, self.players = np.zeros(0, np.int32), np.zeros(0, np.int8)
        self.actions = np.zeros((0, self._most), np.int32)
        self.regrets, self.weights = np.zeros((0, self._most)), np.zeros((0, self._most))
        self._make_room()
        depth = min(game.max_length(options), _DEEPEST) + 1
        num_players = options.num_players
        self._path = (
            np.zeros((depth, self._most)), np.zeros((depth, self._most)), np.zeros((depth, self._most), np.int32),
            np.zeros(depth, np.int32), np.zeros(depth, np.int32), np.zeros(depth, np.int64),
        )  # fmt: skip
        self._states = np.zeros(depth, game.rules.state_dtype)
        self._keys = np.zeros((depth, num_players, 2), np.uint64)

    @property
    def num_infosets(self) -> int:
        """How many information states have been met."""
        return int(self._counts[_COUNT])

    @property
    def keys(self) -> np.ndarray:
        """uint64 (num_infosets, 2), with the player mixed in."""
        return self._numbering.table[: self.num_infosets]

    def run(self, iterations: int) -> None:
        """Do some more iterations. How many in one call makes no difference.

        Raises:
            SolvingError: the game is too large.
        """
        last = self.iterations + iterations
        while self.iterations < last:
            self._make_room()
            self.iterations += self._sample(last)
            self._numbering.count = self.num_infosets
            if self._counts[_PROBLEM]:
                raise SolvingError(
                    f"{self.game.name} is too large for mccfr with these options: {_PROBLEMS[self._counts[_PROBLEM]]}"
                )

    def compile(self) -> None:
        """Compile the kernel, or load it from the cache, so that `run` takes no longer than its iterations."""
        self._sample(self.iterations)

    def _sample(self, last: int) -> int:
        """Do iterations up to `last`, or until the tables may become too small, and return how many."""
        rng, key, log = np.zeros(4, np.uint64), np.zeros(2, np.uint64), new_log(_LOG_ROWS)
        done = _sampler(self.game)(
            self.game.blank(self.options), derived_seed(self.seed, "mccfr"), self.iterations, last, self._states,
            self._keys, self._numbering.slots, self._numbering.table, self._counts, self.sizes, self.players,
            self.actions, self.regrets, self.weights, *self._path, log, is_set(self.game), rng, key,
        )  # fmt: skip
        return int(done)

    def saved(self) -> TabularPolicy:
        """Return the average policy as a table, with what `restore` needs."""
        used = self.num_infosets
        sizes, players = self.sizes[:used].copy(), self.players[:used].copy()
        chosen = np.arange(self._most) < sizes[:, None]
        actions, weights, regrets = (table[:used][chosen] for table in (self.actions, self.weights, self.regrets))
        return TabularPolicy(
            self.game.name, self.options.as_dict(), self.method, self.iterations, players, mixed(self.keys, players),
            sizes, actions, weights, regrets, {"seed": self.seed},
        )  # fmt: skip

    def restore(self, saved: TabularPolicy) -> None:
        """Go on from there, with the same seed.

        Raises:
            FormatError: it belongs to another game or other options, or has more legal actions.
        """
        saved.check_fits(self.game, self.options)
        used = len(saved.sizes)
        if saved.sizes.max(initial=0) > self._most:
            raise FormatError(f"the policy lists more legal actions than {self.game.name} has: it is damaged")
        self._numbering = Numbering(max(used, 1))
        self._numbering.number(mixed(saved.keys, saved.players))
        self._counts[_COUNT] = used
        self._make_room()
        self.sizes[:used], self.players[:used] = saved.sizes, saved.players
        chosen = np.arange(self._most) < saved.sizes[:, None]
        for name in ("actions", "weights", "regrets"):
            getattr(self, name)[:used][chosen] = getattr(saved, name)
        self.iterations = saved.iterations

    def _make_room(self) -> None:
        """Double the tables if an iteration might fill them."""
        used, room = self.num_infosets, self._numbering.room
        if used + _ROOM <= room and len(self.sizes) == room:
            return
        self._numbering.reserve(2 * max(used, _ROOM))
        room = self._numbering.room
        if room * self._most * 20 > _MOST_BYTES:
            raise SolvingError(
                f"{self.game.name} is too large for mccfr with these options: tables of {used:,} information states "
                f"and {self._most:,} actions are at the limit of {_MOST_BYTES >> 30} GiB"
            )
        for name in ("sizes", "players", "actions", "regrets", "weights"):
            old = getattr(self, name)
            new = np.zeros((room, *old.shape[1:]), old.dtype)
            new[:used] = old[:used]
            setattr(self, name, new)
