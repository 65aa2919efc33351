"""Kernels of information-set Monte Carlo tree search (MO-ISMCTS): the tree, and a walk down it.

Each round re-deals what the searching player cannot know, walks down the tree, plays the game out, and adds the returns
to the decisions on its way (P. Cowling, E. Powley, D. Whitehouse, "Information Set Monte Carlo Tree Search", IEEE
TCIAIG 2012). A *node* stands for what the player to act knows, so nobody's choice depends on what they cannot see:

* of the searching player: the events that this player has seen since the search began, and their own actions;
* of another player: likewise, and what that player observed in the round's world when the search began.

The legal actions are part of a node, too. Every world that reaches a node offers the same actions, so the availability
count of Cowling et al. is the number of visits.

At a node that is new, the playout policy decides. The walk ends at the searching player's first new node, but goes on
past new nodes of the others. In small games these come back and learn; in large ones, where each world deals others a
new hand, they play by the policy.

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

ENTRY = packed(  # of the tree: a node or an action
    [
        ("key", "u8"),  # 0 if empty
        ("visits", "i8"),
        ("value", "f8"),  # of an action: sum of the returns of the player who chose it
        ("squares", "f8"),  # and of their squares
    ]
)
WALK = packed(  # a walk under way, and what is counted over all
    [
        ("rng", "u8", (4,)),
        ("info", "u8", (_MAX_PLAYERS,)),  # hash of what each player knows
        ("root", "u8"),  # key of the root
        ("node", "i8", (MAX_PATH,)),
        ("edge", "i8", (MAX_PATH,)),
        ("player", "i8", (MAX_PATH,)),
        ("length", "i8"),
        ("entries", "i8"),  # in the tree
        ("rounds", "i8"),  # that are done
        ("total", "f8"),  # sum of the searching player's returns
        ("squares", "f8"),
    ]
)

_U1, _U32 = np.uint64(1), np.uint64(32)
_LOW_32 = np.int64(0xFFFFFFFF)
_PRIME = np.uint64(0x100000001B3)  # of the hash FNV-1a
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def grow_kernel(engine: "Engine", policy_name: str, list_playout: Any) -> Callable:
    """Return the function that `Engine.grow` compiles."""
    rules, advance, policy = engine.rules, engine.advance, engine.policy(policy_name)
    deal_world = rules.sample_belief or rules.determinize
    legal_actions, observe = rules.legal_actions, rules.observe

    def grow(
        states, i, seed, rounds, max_plies, exploration, scratch, walks, tree, is_counter, log, no_log, legal, seen
    ):  # fmt: skip
        player = np.int64(states[i].current_player)
        s, walk = scratch[0], walks[0]
        num_players = np.int64(states[i].rules.num_players)
        for _ in range(rounds):
            scratch[0] = states[i]
            deal_world(s, player, np.int64(np.uint64(substream_seed(seed, _WORLD, walk.rounds)) >> _U1))
            seed_xoshiro(walk.rng, np.uint64(substream_seed(seed, _PLAYOUT, walk.rounds)))
            walk.length = 0
            for p in range(num_players):
                walk.info[p] = 0
                if p != player:
                    observe(s, p, seen)
                    walk.info[p] = hash_integers(seen)
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
                    action = choose(tree, node, legal, n, exploration, walk)
                else:
                    action = np.int64(policy(s, legal, n, walk.rng))
                if in_tree:
                    in_tree = append(walk, tree, node, action, p)
                log[0, 0] = 0
                advance(s, action, log if in_tree else no_log)
                if in_tree:
                    if log[0, 0] >= log.shape[0]:
                        return
                    note_action(walk, p, action)
                    note_events(walk, log, is_counter, num_players)
                    in_tree = not (is_new and p == player) and walk.length < MAX_PATH
            back_up(walk, tree, s, player)

    return grow


# ---------------------------------------------------------------------------------------------------------------
# What players know


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
        log: int32 (rows + 1, COLUMNS), not overfull.
        is_counter: uint8 (kinds,), 1 for kinds of events whose value is hidden from those who do not see the face.
        num_players: int.
    """
    for row in range(1, log[0, 0] + 1):
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


# ---------------------------------------------------------------------------------------------------------------
# The tree


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
def find(tree, walk, key):
    """Return the index of the entry with `key`, added if it is missing, or -1 if half the tree is taken."""
    slot = lookup(tree, key)
    if tree[slot].key == 0:
        if 2 * walk.entries >= tree.shape[0]:
            return np.int64(-1)
        tree[slot].key = key
        walk.entries += 1
    return slot


@kernel
def choose(tree, node, legal, n, exploration, walk):
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
def deviation(walk):
    """Return the standard deviation of the searching player's returns so far, or 1 if they are all the same."""
    if walk.rounds == 0:
        return 1.0
    mean = walk.total / walk.rounds
    variance = walk.squares / walk.rounds - mean * mean
    return math.sqrt(variance) if variance > 1e-12 * (1.0 + mean * mean) else 1.0


@kernel
def append(walk, tree, node, action, player):
    """Add a decision to the walk. Returns False if the tree has no room for it."""
    edge = find(tree, walk, edge_key(tree[node].key, action))
    if edge < 0:
        return False
    if walk.length == 0:
        walk.root = tree[node].key
    walk.node[walk.length], walk.edge[walk.length], walk.player[walk.length] = node, edge, player
    walk.length += 1
    return True


@kernel
def back_up(walk, tree, s, player):
    """Count the round, and add the returns of `s` to the decisions of the walk."""
    for k in range(walk.length):
        value = s.returns[walk.player[k]]
        tree[walk.node[k]].visits += 1
        tree[walk.edge[k]].visits += 1
        tree[walk.edge[k]].value += value
        tree[walk.edge[k]].squares += value * value
    walk.rounds += 1
    walk.total += s.returns[player]
    walk.squares += s.returns[player] * s.returns[player]


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
