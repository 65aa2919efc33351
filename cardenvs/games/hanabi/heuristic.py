"""A rule agent for Hanabi that plays by the conventions of memory.py, and hints so that others read it right.

It plays what is surely playable, or what a hint has called so; gives the hint that makes others play most, above all
where the next player would otherwise discard a card that is needed; and else discards what is useless or the oldest
card that no hint has touched. To value a hint, it applies it to a copy of what the receiver knows and looks at what the
receiver would do.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.core.scratch import stack_copy, stack_record
from cardenvs.core.seats import wrap
from cardenvs.games.hanabi import state as st
from cardenvs.games.hanabi.cards import bit_of, rank_of, set_of
from cardenvs.games.hanabi.memory import remember_hint, touched_by_colour, touched_by_rank
from cardenvs.games.hanabi.rules import fitting, hint_of, is_hint
from cardenvs.kits.cards import count_bits

_NONE = -1
# What an effect of a hint is worth
_PLAYS, _PER_RANK = 10.0, 0.5  # a card is played because of it; less for each rank
_SAVES = 8.0  # a needed card that would be discarded next is not
_MISLEADS, _MISTAKEN = 25.0, 2.0  # a wrong card is played; a card is taken for another, but not played
_KEEPS, _WASTES = 1.0, 1.5  # a critical card is touched for the first time, or a useless one
_LEARNS = 0.04  # a card can be one fewer of the cards in the game

# How many cards a hint has each effect on; `saves`: 0 or 1
EFFECTS = ("plays", "misleads", "mistaken", "keeps", "wastes", "learns", "saves")
new_effect = stack_record(packed([(name, "i8") for name in EFFECTS]))


@kernel
def heuristic(s, legal, n, rng):
    """Save a card that is about to be lost, play, hint, or discard, in this order."""
    player, h = np.int64(s.current_player), np.int64(s.rules.hand_size)
    unseen = st.unseen_by(s, player)
    play = _to_play(s, player, unseen)
    hint, value = _best_hint(s, player, legal, n)
    if play >= 0 and not (value >= _SAVES and _is_in_danger(s, player)):
        return h + play
    if hint >= 0 and (value >= _SAVES or (value > 0 and s.information == s.rules.max_information_tokens)):
        return hint
    if play >= 0:
        return h + play
    if legal[0] < h:
        discard = _to_discard(s, player, unseen)
        if discard >= 0:
            return discard
    if hint >= 0:
        return hint
    return legal[0]


@kernel
def _to_play(s, player, unseen):
    """Return the place that a player would play, or _NONE: of the cards called or sure, the one of lowest rank."""
    best, best_rank = np.int64(_NONE), np.int64(99)
    for k in range(s.hand_sizes[player]):
        fits = fitting(s, player, k, unseen, True)
        if fits and not fits & ~s.playable:
            rank = np.int64(0)
            while not fits & st.OF_RANKS[np.uint64(1 << rank)]:
                rank += 1
            if rank <= best_rank:
                best, best_rank = k, rank
    return best


@kernel
def _to_discard(s, player, unseen):
    """Return the place that a player would discard: a useless card, else the oldest one that no hint has touched."""
    oldest = np.int64(_NONE)
    for k in range(s.hand_sizes[player]):
        fits = set_of(unseen) & st.possible(s, player, k)
        if not fits & ~s.useless:
            return k
        if s.hinted[player, k] == 0 and oldest < 0:
            oldest = k
    return oldest


@kernel(inline=True)
def _public(s, player, receiver):
    """Return counts of the cards that `receiver` may not see, as far as `player` knows."""
    unseen = st.unseen_by(s, player)
    for k in range(s.hand_sizes[receiver]):
        unseen += bit_of(s.hands[receiver, k])
    return unseen


@kernel
def _is_in_danger(s, player):
    """Return whether the next player has nothing to play and would discard a card that is needed."""
    p = wrap(player + 1, s.rules.num_players)
    unseen = _public(s, player, p)
    if s.information == 0 and _to_play(s, p, unseen) >= 0:
        return False
    if _to_play(s, p, unseen) >= 0:
        return False
    discard = _to_discard(s, p, unseen)
    return discard >= 0 and s.critical >> 2 * np.int64(s.hands[p, discard]) & 1 == 1


@kernel
def _best_hint(s, player, legal, n):
    """Return the hint with the highest value, and its value; _NONE if there is none."""
    best, best_value, effect = np.int64(_NONE), -1e9, new_effect()
    for k in range(n):
        action = np.int64(legal[k])
        if is_hint(s, action):
            value = value_of_hint(s, player, action, effect)
            if value > best_value:
                best, best_value = action, value
    return best, best_value


@kernel
def value_of_hint(s, player, action, effect):
    """Return what a hint is worth: cards played because of it, cards saved, and what is learnt; fill `effect`."""
    offset, colour, rank = hint_of(s, action)
    p = wrap(player + offset, s.rules.num_players)
    unseen = _public(s, player, p)
    after = stack_copy(s)
    if colour >= 0:
        remember_hint(after, p, st.suits_hinted(s.rules, colour), rank, touched_by_colour(s, p, colour))
    else:
        remember_hint(after, p, np.int64(0), rank, touched_by_rank(s, p, rank))
    value = 0.0
    effect.plays = effect.misleads = effect.mistaken = effect.keeps = effect.wastes = effect.learns = effect.saves = 0
    taken = np.int64(0)
    for k in range(s.hand_sizes[p]):
        bit = bit_of(s.hands[p, k])
        was, fits = fitting(s, p, k, unseen, True), fitting(after, p, k, unseen, True)
        plays_before, plays_now = not was & ~s.playable, not fits & ~s.playable
        if plays_now:
            if not bit & s.playable or bit & taken:
                value -= _MISLEADS
                effect.misleads += 1
            elif not plays_before:
                value += _PLAYS - _PER_RANK * rank_of(s.hands[p, k])
                effect.plays += 1
            taken |= bit
        elif plays_before and bit & s.playable:
            value -= _PLAYS
            effect.plays -= 1
        if not plays_now and not fits & bit:
            value -= _MISTAKEN
            effect.mistaken += 1
        if after.hinted[p, k] and not s.hinted[p, k]:
            if bit & s.useless:
                value -= _WASTES
                effect.wastes += 1
            elif bit & s.critical:
                value += _KEEPS
                effect.keeps += 1
        if bit & ~s.useless:
            value += _LEARNS * (count_bits(was) - count_bits(fits))
            effect.learns += count_bits(was) - count_bits(fits)
    if offset == 1 and _to_play(s, p, unseen) < 0:
        before, now = _to_discard(s, p, unseen), _to_discard(after, p, unseen)
        is_needed = before >= 0 and bit_of(s.hands[p, before]) & s.critical
        if is_needed and (now != before or _to_play(after, p, unseen) >= 0):
            value += _SAVES
            effect.saves = 1
    return value
