"""External-sampling MCCFR: plays the game itself with sampled deals, so it needs no tree.

Source: M. Lanctot et al., "Monte Carlo Sampling for Regret Minimization in Extensive Games" (2009). In each iteration,
each player in turn traverses the game: it tries all its actions, while chance and the others are sampled. The average
policy of a player is updated when the player before it traverses.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

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
from cardenvs.training.cfr.size import Size
from cardenvs.training.cfr.tree import mixed
from cardenvs.training.cfr.worlds import is_set

_ROOM = 1 << 16  # information states that one iteration may add
_LOG_ROWS = 1 << 12  # for the events of one action
_DEEPEST = 1 << 12  # decisions of one player in a game
_MOST_BYTES = 8 << 30  # for the tables
_U1, _U11, _TO_UNIT = np.uint64(1), np.uint64(11), 2.0**-53
_COUNT, _PROBLEM = range(2)  # indices of `counts`
_TOO_MANY, _LONG_LOG, _TOO_DEEP = range(1, 4)
_PROBLEMS = {
    _TOO_MANY: f"one iteration visited more than {_ROOM:,} new information states",
    _LONG_LOG: f"one action has more than {_LOG_ROWS:,} events",
    _TOO_DEEP: f"a player made more than {_DEEPEST:,} decisions",
}


class Tables(NamedTuple):
    """What is known of the information states visited so far, with a row each; see `Sampler` and `find_or_add`."""

    slots: np.ndarray
    keys: np.ndarray
    sizes: np.ndarray
    players: np.ndarray
    actions: np.ndarray
    regrets: np.ndarray
    weights: np.ndarray
    counts: np.ndarray


class Path(NamedTuple):
    """The traverser's decisions from the deal to the current position, with an entry or a row each."""

    keys: np.ndarray  # what each player has seen
    policy: np.ndarray
    gain: np.ndarray  # of the actions tried so far
    legal: np.ndarray
    num_legal: np.ndarray
    tried: np.ndarray  # number of actions
    rows: np.ndarray  # in the tables

    @classmethod
    def of(cls, depth: int, num_players: int, most_legal: int) -> "Path":
        """Allocate a path of `depth` decisions."""
        return cls(
            np.zeros((depth, num_players, 2), np.uint64), np.zeros((depth, most_legal)), np.zeros((depth, most_legal)),
            np.zeros((depth, most_legal), np.int32), np.zeros(depth, np.int32), np.zeros(depth, np.int32),
            np.zeros(depth, np.int64),
        )  # fmt: skip


class Tools(NamedTuple):
    """Working memory of the kernel, and the event kinds that set a value."""

    log: np.ndarray
    is_set: np.ndarray
    rng: np.ndarray
    key: np.ndarray


@functools.cache
def _sampler(game: Game) -> Callable[..., int]:
    """Return the kernel sample(blank, seed, first, last, states, tables, path, tools).

    It does iterations `first` to `last` - 1, and returns how many it did: fewer if the tables may become too small.
    """
    branch, step, find_row = _moves(game)
    inline, start, list_legal, match = game.engine.inline, game.engine.start, game.engine.legal, match_regrets
    seed_rng, draw, substream, arrive = seed_xoshiro, next_uint64, substream_seed, _arriving(game)

    def drawn(rng, policy, n):
        """Return the place of an action drawn from policy[:n]."""
        left, k = np.float64(draw(rng) >> _U11) * _TO_UNIT, 0
        while k < n - 1 and left >= policy[k]:
            left -= policy[k]
            k += 1
        return k

    drawn = inline(drawn)

    def deal(blank, states, tables, path, tools):
        """Begin a game in position 0."""
        states[0] = blank[0]
        path.keys[0] = 0
        start(states, 0, np.int64(draw(tools.rng) >> _U1), NO_DECK, tools.log)
        arrive(0, tables, path, tools)
        path.num_legal[0] = list_legal(states, 0, path.legal[0])

    deal = inline(deal)

    def sample(blank, seed, first, last, states, tables, path, tools):
        counts, policy, gain, tried, rows = tables.counts, path.policy, path.gain, path.tried, path.rows
        num_players = path.keys.shape[1]
        for t in range(first, last):
            if counts[_COUNT] + _ROOM > tables.keys.shape[0]:
                return t - first
            for traverser in range(num_players):
                seed_rng(tools.rng, np.uint64(substream(seed, t, traverser)))
                deal(blank, states, tables, path, tools)
                i, searching = 0, True
                while searching:
                    if counts[_PROBLEM]:
                        return t - first
                    player, n = np.int64(states[i].current_player), np.int64(path.num_legal[i])
                    if n > 0:
                        row = find_row(i, player, n, tables, path, tools)
                        match(tables.regrets[row], 0, n, policy[i])
                        if player == traverser:
                            if i + 1 == states.shape[0]:
                                counts[_PROBLEM] = _TOO_DEEP
                                continue
                            rows[i], tried[i] = row, 0
                            branch(i, np.int64(path.legal[i, 0]), states, tables, path, tools)
                            i += 1
                            continue
                        if player == (traverser + 1) % num_players:
                            for k in range(n):
                                tables.weights[row, k] += policy[i, k]
                        step(i, np.int64(path.legal[i, drawn(tools.rng, policy[i], n)]), states, tables, path, tools)
                        continue
                    value = states[i].returns[traverser]
                    searching = False
                    while i > 0 and not searching:  # back to the traverser's last decision with an action to try
                        i -= 1
                        gain[i, tried[i]] = value
                        tried[i] += 1
                        if tried[i] < path.num_legal[i]:
                            branch(i, np.int64(path.legal[i, tried[i]]), states, tables, path, tools)
                            i += 1
                            searching = True
                        else:
                            value = 0.0
                            for k in range(path.num_legal[i]):
                                value += policy[i, k] * gain[i, k]
                            for k in range(path.num_legal[i]):
                                tables.regrets[rows[i], k] += gain[i, k] - value
        return last - first

    return game.engine.entry(sample)


def _arriving(game: Game) -> Any:
    see = add_events

    def arrive(i, tables, path, tools):
        """Add the events in the log to what the players know in position i."""
        log = tools.log
        if log[0, 0] >= log.shape[0]:
            tables.counts[_PROBLEM] = _LONG_LOG
        else:
            for p in range(path.keys.shape[1]):
                see(path.keys[i, p], log, 1, 1 << p, tools.is_set)
        log[0, 0] = 0

    return game.engine.inline(arrive)


def _moves(game: Game) -> tuple[Any, Any, Any]:
    """Return kernels that take an action of a position in a copy or in place, and that find its information state."""
    apply, find, arrive = game.engine.apply, find_or_add, _arriving(game)

    def branch(i, action, states, tables, path, tools):
        """Take an action of position i in a copy of it, position i + 1."""
        states[i + 1] = states[i]
        for p in range(path.keys.shape[1]):
            path.keys[i + 1, p, 0], path.keys[i + 1, p, 1] = path.keys[i, p, 0], path.keys[i, p, 1]
        path.num_legal[i + 1] = apply(states, i + 1, action, tools.log, path.legal[i + 1])
        arrive(i + 1, tables, path, tools)

    def step(i, action, states, tables, path, tools):
        """Take an action of position i in place."""
        path.num_legal[i] = apply(states, i, action, tools.log, path.legal[i])
        arrive(i, tables, path, tools)

    def find_row(i, player, n, tables, path, tools):
        """Return the row of the information state of the player to act in position i, which may be a new one."""
        key, counts = tools.key, tables.counts
        key[0], key[1] = path.keys[i, player, 0] ^ np.uint64(player), path.keys[i, player, 1]
        if counts[_COUNT] == tables.keys.shape[0]:
            counts[_PROBLEM] = _TOO_MANY
            return np.int64(0)
        row = np.int64(find(tables.slots, tables.keys, counts[_COUNT], key))
        if row == counts[_COUNT]:
            counts[_COUNT] += 1
            tables.sizes[row], tables.players[row] = n, player
            for k in range(n):
                tables.actions[row, k] = path.legal[i, k]
        return row

    inline = game.engine.inline
    return inline(branch), inline(step), inline(find_row)


class Sampler:
    """External-sampling MCCFR on a game of any size whose players decide a few times each.

    Tables grow with the information states visited. Iteration t depends only on the tables, the seed and t, so a run
    can be stopped and resumed anywhere.

    Attributes:
        game, options: what it solves.
        seed: seed of the deals and choices.
        size: an estimate of the game's size, or None.
        iterations: done so far; each updates every player once.
        sizes, players: by information state; its number of legal actions, and the player to act.
        actions, regrets, weights: (information states, most legal actions).
    """

    method = "mccfr"

    def __init__(self, game: Game, options: Options, seed: int = 0, size: Size | None = None) -> None:
        """Create a solver that has not begun. Raises SolvingError if the game is for one player."""
        self.size = size
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
        self._path = Path.of(depth, options.num_players, self._most)
        self._states = np.zeros(depth, game.state_dtype)

    @property
    def num_infosets(self) -> int:
        """The number of information states visited."""
        return int(self._counts[_COUNT])

    @property
    def keys(self) -> np.ndarray:
        """uint64 (num_infosets, 2), with the player mixed in."""
        return self._numbering.table[: self.num_infosets]

    def run(self, iterations: int) -> None:
        """Do more iterations. Splitting them over several calls makes no difference.

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
        """Do iterations up to `last`, or until the tables may become too small. Returns how many."""
        tables = Tables(
            self._numbering.slots, self._numbering.table, self.sizes, self.players, self.actions, self.regrets,
            self.weights, self._counts,
        )  # fmt: skip
        tools = Tools(new_log(_LOG_ROWS), is_set(self.game), np.zeros(4, np.uint64), np.zeros(2, np.uint64))
        blank, seed = self.game.blank(self.options), derived_seed(self.seed, "mccfr")
        return int(_sampler(self.game)(blank, seed, self.iterations, last, self._states, tables, self._path, tools))

    def saved(self) -> TabularPolicy:
        """Return the average policy as a table, with everything that `restore` needs."""
        used = self.num_infosets
        sizes, players = self.sizes[:used].copy(), self.players[:used].copy()
        chosen = np.arange(self._most) < sizes[:, None]
        actions, weights, regrets = (table[:used][chosen] for table in (self.actions, self.weights, self.regrets))
        return TabularPolicy(
            self.game.name, self.options.as_dict(), self.method, self.iterations, players, mixed(self.keys, players),
            sizes, actions, weights, regrets, {"seed": self.seed},
        )  # fmt: skip

    def restore(self, saved: TabularPolicy) -> None:
        """Resume from a saved table, with the same seed.

        Raises:
            FormatError: the table is of another game or other options, or has more legal actions.
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
