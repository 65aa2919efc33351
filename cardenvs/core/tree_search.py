"""Kernels of information-set Monte Carlo tree search (MO-ISMCTS): the tree, and a walk down it.

Each round re-deals what the searching player cannot know, walks down the tree, plays the game out, and adds the returns
to the decisions on its way (P. Cowling, E. Powley, D. Whitehouse, "Information Set Monte Carlo Tree Search", IEEE
TCIAIG 2012). A *node* stands for what the player to act knows, so nobody's choice depends on what they cannot see:

* of the searching player: the events that this player has seen since the search began, and their own actions;
* of another player: likewise, and what that player observed in the round's world when the search began.

The legal actions are part of a node, too. Every world that reaches a node offers the same actions, so the availability
count of Cowling et al. is the number of visits.

At a node that is new, the playout policy decides. The walk ends at the searching player's first new node, but continues
past new nodes of the others. In small games these come back and learn; in large ones, where each world deals others a
new hand, they play by the policy.

With a network, a new node is a leaf of the walk or, if it is another player's, gets its first action from the network's
policy. Actions are then chosen by PUCT (D. Silver et al., "Mastering the Game of Go without Human Knowledge", 2017),
and the network's values count instead of a playout. Several walks go down at once, and wait for the network together;
meanwhile their decisions count as visits without a return (A. Liu et al., "Watch the Unobserved", ICLR 2020).

All entries of the tree lie in one hash table: a node by its key, an action by its node's key and its id.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from cardenvs.core.events import AUDIENCE, KIND, PLAYER, SOURCE, TARGET, TOKEN, VALUE, VISIBLE
from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed, takes_records
from cardenvs.core.rng import mix64, random_below, seed_xoshiro, substream_seed

if TYPE_CHECKING:
    from cardenvs.core.engine import Engine

MAX_PATH = 64  # decisions of a walk; what follows belongs to the playout
_MAX_PLAYERS = 16
_WORLD, _PLAYOUT = 0, 1  # sources of chance in a round
IDLE, UNDER_WAY, WAITING = range(3)  # stages of a walk; a waiting one needs the network

ENTRY = packed(  # of the tree: a node or an action
    [
        ("key", "u8"),  # 0 if empty
        ("visits", "i8"),
        ("pending", "i8"),  # walks that have passed and not ended
        ("value", "f8"),  # sum of the returns of the player who chose there
        ("squares", "f8"),  # and of their squares
        ("prior", "f8"),  # of an action: the network's probability; of a node: 1 if its actions have theirs
    ]
)
WALK = packed(  # a walk under way
    [
        ("rng", "u8", (4,)),
        ("info", "u8", (_MAX_PLAYERS,)),  # hash of what each player knows
        ("root", "u8"),  # key of the root
        ("node", "i8", (MAX_PATH,)),
        ("edge", "i8", (MAX_PATH,)),
        ("player", "i8", (MAX_PATH,)),
        ("length", "i8"),
        ("stage", "i8"),
        # Of all walks, in the first one
        ("entries", "i8"),  # in the tree
        ("begun", "i8"),  # rounds
        ("rounds", "i8"),  # that are done
        ("total", "f8"),  # sum of the searching player's returns
        ("squares", "f8"),
    ]
)

_DRAWS = 1 << 30  # steps in which a probability is drawn
_U1, _U32 = np.uint64(1), np.uint64(32)
_LOW_32 = np.int64(0xFFFFFFFF)
_PRIME = np.uint64(0x100000001B3)  # of the hash FNV-1a
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def begin_kernel(engine: "Engine") -> Callable[..., Any]:
    """Return the function that begins a round: begin(states, i, player, seed, worlds, k, walk, total, seen)."""
    deal_world = engine.game.sample_belief or engine.game.determinize
    observe = engine.game.observe

    def begin(states, i, player, seed, worlds, k, walk, total, seen):
        worlds[k] = states[i]
        s = worlds[k]
        deal_world(s, player, np.int64(np.uint64(substream_seed(seed, _WORLD, total.begun)) >> _U1))
        seed_xoshiro(walk.rng, np.uint64(substream_seed(seed, _PLAYOUT, total.begun)))
        total.begun += 1
        walk.length = 0
        for p in range(s.rules.num_players):
            walk.info[p] = 0
            if p != player:
                observe(s, p, seen)
                walk.info[p] = hash_integers(seen)

    return begin


def grow_kernel(engine: "Engine", policy_name: str, list_playout: Any) -> Callable[..., Any]:
    """Return the function that `Engine.grow` compiles."""
    begin, advance, policy = engine.begin_walk, engine.advance, engine.policy(policy_name)
    legal_actions = engine.game.legal_actions

    def grow(
        states, i, seed, rounds, max_plies, exploration, worlds, walks, tree, is_counter, log, no_log, legal, seen
    ):  # fmt: skip
        player = np.int64(states[i].current_player)
        s, walk = worlds[0], walks[0]
        for _ in range(rounds):
            begin(states, i, player, seed, worlds, 0, walk, walk, seen)
            in_tree, plies = True, 0
            while not s.terminal:
                p = np.int64(s.current_player)
                is_new, node = False, np.int64(-1)
                if in_tree:
                    n = legal_actions(s, legal)
                    node = find(tree, walk, node_key(walk.info[p], p, legal, n))
                    in_tree = node >= 0
                    is_new = in_tree and tree[node].visits == 0
                if not in_tree:
                    if plies >= max_plies:
                        break
                    plies += 1
                    n = list_playout(s, legal)
                if in_tree and not is_new:
                    action = choose_ucb(tree, node, legal, n, exploration, walk)
                else:
                    action = np.int64(policy(s, legal, n, walk.rng))
                if in_tree:
                    in_tree = append(walk, walk, tree, node, action, p)
                log[0, 0] = 0
                advance(s, action, log if in_tree else no_log)
                if in_tree:
                    note_action(walk, p, action)
                    note_events(walk, log, is_counter, np.int64(s.rules.num_players))
                    in_tree = not (is_new and p == player) and walk.length < MAX_PATH
            back_up(walk, walk, tree, s.returns, player)

    return grow


def descend_kernel(engine: "Engine") -> Callable[..., Any]:
    """Return the function that `Engine.descend` compiles."""
    begin, advance = engine.begin_walk, engine.advance
    legal_actions, observe = engine.game.legal_actions, engine.see

    def descend(
        states, i, seed, last, exploration, worlds, walks, tree, is_counter, log, legal, seen, priors, values,
        observations, masks,
    ):  # fmt: skip
        player, total = np.int64(states[i].current_player), walks[0]
        for k in range(walks.shape[0]):
            walk, s = walks[k], worlds[k]
            while True:
                if walk.stage == IDLE:
                    if total.begun >= last:
                        break
                    begin(states, i, player, seed, worlds, k, walk, total, seen)
                    walk.stage = UNDER_WAY
                p, node, n = np.int64(s.current_player), np.int64(-1), np.int64(0)
                if s.terminal:
                    back_up(walk, total, tree, s.returns, player)
                    walk.stage = IDLE
                    continue
                n = legal_actions(s, legal)
                if walk.length < MAX_PATH:
                    node = find(tree, total, node_key(walk.info[p], p, legal, n))
                if walk.stage == WAITING:
                    walk.stage = UNDER_WAY
                    if node >= 0:
                        set_priors(tree, total, node, legal, n, priors[k])
                    if p == player:
                        back_up(walk, total, tree, values[k], player)
                        walk.stage = IDLE
                        continue
                    action = draw(priors[k], legal, n, walk.rng)
                elif node < 0 or tree[node].prior == 0.0:
                    for q in range(observations.shape[1]):
                        observe(s, q, observations[k, q])
                    masks[k, :] = 0
                    for j in range(n):
                        masks[k, legal[j]] = 1
                    walk.stage = WAITING
                    break
                else:
                    action = choose_puct(tree, node, legal, n, exploration, total)
                if node >= 0:  # without room, the walk goes on beyond the tree
                    append(walk, total, tree, node, action, p)
                log[0, 0] = 0
                advance(s, action, log)
                note_action(walk, p, action)
                note_events(walk, log, is_counter, np.int64(s.rules.num_players))

    return descend


# -- what players know --------------------------------------------------------------------------------------------


@kernel
def hash_integers(values):
    """Return a hash of an array of integers, as uint64."""
    x = _GOLDEN
    for k in range(values.shape[0]):
        x = (x ^ np.uint64(np.int64(values[k]))) * _PRIME
    return mix64(x)


@kernel(inline=True)
def _pair(low, high):
    """Return two 32-bit integers as one uint64."""
    return np.uint64(np.int64(low) & _LOW_32) | np.uint64(np.int64(high) & _LOW_32) << _U32


@kernel
def note_action(walk, player, action):
    """Add an own action to what `player` knows."""
    walk.info[player] = mix64(walk.info[player] + np.uint64(action + 1) * _GOLDEN)


@kernel
def note_events(walk, log, is_counter, num_players):
    """Add the events of a log to what each player knows, as far as they see them (see `Table.visible`).

    Args:
        walk: a WALK.
        log: int32 (rows + 1, COLUMNS). Events that did not fit are left out.
        is_counter: uint8 (kinds,), 1 for kinds of events whose value is hidden from those who do not see the face.
        num_players: int.
    """
    for row in range(1, min(log[0, 0] + 1, log.shape[0])):
        hides_value = is_counter[log[row, KIND]]
        for p in range(num_players):
            if log[row, AUDIENCE] >> p & 1 == 0:
                continue
            sees_face = log[row, VISIBLE] >> p & 1
            token = log[row, TOKEN] if sees_face else -1
            value = 0 if hides_value and not sees_face else log[row, VALUE]
            x = mix64(walk.info[p] + _pair(log[row, KIND] << 1 | sees_face, log[row, PLAYER]))
            x = mix64(x + _pair(token, value))
            walk.info[p] = mix64(x + _pair(log[row, SOURCE], log[row, TARGET]))


# -- the tree -----------------------------------------------------------------------------------------------------


@kernel
def node_key(info, player, legal, n):
    """Return the key of the node in which `player` knows `info` and may choose one of legal[:n]."""
    x = mix64(info + np.uint64(player + 1) * _GOLDEN)
    for k in range(n):
        x = (x ^ np.uint64(np.int64(legal[k]) + 1)) * _PRIME
    return mix64(x) | _U1


@kernel
def edge_key(key, action):
    """Return the key of an action at the node with `key`."""
    return mix64(key + np.uint64(action + 2) * _GOLDEN) | _U1


@kernel
def lookup(tree, key):
    """Return the index of the entry with `key`, or of the empty entry where it belongs."""
    last = np.uint64(tree.shape[0] - 1)
    slot = key >> _U32 & last
    while tree[slot].key != key and tree[slot].key != 0:
        slot = slot + _U1 & last
    return np.int64(slot)


@kernel
def find(tree, total, key):
    """Return the index of the entry with `key`, added if it is missing, or -1 if half the tree is taken."""
    slot = lookup(tree, key)
    if tree[slot].key == 0:
        if 2 * total.entries >= tree.shape[0]:
            return np.int64(-1)
        tree[slot].key = key
        total.entries += 1
    return slot


@kernel
def choose_ucb(tree, node, legal, n, exploration, walk):
    """Return an action by UCB1: one that has not been tried, at random, or else the one with the highest bound.

    Returns are measured in standard deviations of those of the searching player so far, so that `exploration` means
    the same in any game.
    """
    key, untried, action, best = tree[node].key, 0, np.int64(legal[0]), -math.inf
    scale, log_visits = deviation(walk), math.log(tree[node].visits)
    for k in range(n):
        edge = lookup(tree, edge_key(key, np.int64(legal[k])))
        visits = tree[edge].visits
        if visits == 0:
            untried += 1
            if random_below(walk.rng, untried) == 0:
                action = np.int64(legal[k])
        elif untried == 0:
            bound = tree[edge].value / visits / scale + exploration * math.sqrt(log_visits / visits)
            if bound > best:
                best, action = bound, np.int64(legal[k])
    return action


@kernel
def choose_puct(tree, node, legal, n, exploration, total):
    """Return the action with the highest bound by PUCT; those without a return count as the node's mean."""
    key, action, best, scale = tree[node].key, np.int64(legal[0]), -math.inf, deviation(total)
    at_node = math.sqrt(1 + tree[node].visits + tree[node].pending)
    node_mean = tree[node].value / max(1, tree[node].visits)
    for k in range(n):
        edge = lookup(tree, edge_key(key, np.int64(legal[k])))
        visits = tree[edge].visits
        mean = tree[edge].value / visits if visits else node_mean
        bound = mean / scale + exploration * tree[edge].prior * at_node / (1 + visits + tree[edge].pending)
        if bound > best:
            best, action = bound, np.int64(legal[k])
    return action


@kernel
def set_priors(tree, total, node, legal, n, priors):
    """Give the actions of a node their probabilities by the network, as far as the tree has room for them."""
    for k in range(n):
        edge = find(tree, total, edge_key(tree[node].key, np.int64(legal[k])))
        if edge >= 0:
            tree[edge].prior = priors[legal[k]]
    tree[node].prior = 1.0


@kernel
def draw(priors, legal, n, rng):
    """Return one of legal[:n], drawn in proportion to the priors of all actions."""
    total = 0.0
    for k in range(n):
        total += priors[legal[k]]
    left = total * random_below(rng, _DRAWS) / _DRAWS
    for k in range(n - 1):
        left -= priors[legal[k]]
        if left < 0.0:
            return np.int64(legal[k])
    return np.int64(legal[n - 1])


@kernel
def deviation(total):
    """Return the standard deviation of the searching player's returns so far, or 1 if they are all the same."""
    if total.rounds == 0:
        return 1.0
    mean = total.total / total.rounds
    variance = total.squares / total.rounds - mean * mean
    return math.sqrt(variance) if variance > 1e-12 * (1.0 + mean * mean) else 1.0


@kernel
def append(walk, total, tree, node, action, player):
    """Add a decision to the walk. Returns False if the tree has no room for it."""
    edge = find(tree, total, edge_key(tree[node].key, action))
    if edge < 0:
        return False
    if walk.length == 0:
        total.root = tree[node].key
    walk.node[walk.length], walk.edge[walk.length], walk.player[walk.length] = node, edge, player
    walk.length += 1
    tree[node].pending += 1
    tree[edge].pending += 1
    return True


@kernel
def back_up(walk, total, tree, returns, player):
    """End a walk: count the round, and add the returns of all players to the decisions on its way."""
    for k in range(walk.length):
        value = returns[walk.player[k]]
        add_visit(tree, walk.node[k], value)
        add_visit(tree, walk.edge[k], value)
    walk.length = 0
    total.rounds += 1
    total.total += returns[player]
    total.squares += returns[player] * returns[player]


@kernel
def add_visit(tree, entry, value):
    """Count a pending visit, which returned `value`."""
    tree[entry].pending -= 1
    tree[entry].visits += 1
    tree[entry].value += value
    tree[entry].squares += value * value


@takes_records
@kernel(entry=True)
def move_entries(source, target):
    """Copy all entries of one tree to another, which is empty and larger."""
    for k in range(source.shape[0]):
        if source[k].key != 0:
            target[lookup(target, source[k].key)] = source[k]


@takes_records
@kernel(entry=True)
def read_root(tree, walks, actions, out):
    """Write visits, sum and sum of squares of the returns of each root action to the rows of `out`, float64 (n, 3)."""
    for k in range(actions.shape[0]):
        edge = lookup(tree, edge_key(walks[0].root, np.int64(actions[k])))
        out[k, 0], out[k, 1], out[k, 2] = tree[edge].visits, tree[edge].value, tree[edge].squares
