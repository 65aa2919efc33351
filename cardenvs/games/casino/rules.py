"""Rules of Casino: the course of a game. Paragraph numbers are those of rules.md. Legal actions are in legal.py."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.core.returns import Returns, win_or_loss
from cardenvs.core.rng import random_below, random_unit, shuffle
from cardenvs.core.seats import wrap
from cardenvs.games.casino import state, table
from cardenvs.games.casino.composing import take_item
from cardenvs.games.casino.legal import build, capture, may_not_trail
from cardenvs.games.casino.plays import cards_that_count, place_of, sets_of, value_of
from cardenvs.games.casino.proofs import (
    forget_lacks,
    is_possible_hand,
    note_build,
    note_card,
    note_trail,
    possible_cards,
)
from cardenvs.games.casino.state import (
    BIG_CASINO,
    BUILD_0,
    COMPOSE_BUILD,
    COMPOSE_CAPTURE,
    DONE,
    JACK_OF_SPADES,
    LITTLE_CASINO,
    MAX_BUILDS,
    NEW,
    NO_TARGET,
    NUM_RANKS,
    NUMBERS,
    SLOTS,
    TABLE_ONLY,
    TAKE_0,
    TARGET_0,
    TOP_ROYAL,
    TRAIL,
)
from cardenvs.kits.cards import NUM_CARDS, count_bits, lowest_card
from cardenvs.kits.deck import NO_CARD, begin_world, hidden_in_hands_and_deck
from cardenvs.kits.fishing import table as shared
from cardenvs.kits.fishing.captures import total_of
from cardenvs.kits.fishing.rules import (
    deal_hand,
    deal_round,
    finish_hand,
    give_rest,
    lay_card,
    lose_game,
    num_sides,
    side_of,
    side_with_most,
    take_card,
)
from cardenvs.kits.fishing.state import ACES, ALL_CARDS, MAX_HANDS, ROUND_SIZE, SPADES
from cardenvs.kits.matches import NO_SIDE
from cardenvs.kits.redeal import redeal_hands

# ---------------------------------------------------------------------------------------------------------------
# The deal and the turn


@kernel
def deal(s, given, log):
    """Deal the first hand; the last player is the dealer (2.1)."""
    s.playing, s.target = NO_CARD, NO_TARGET
    deal_hand(s, s.rules.num_players - 1, given, log)


@kernel
def apply_action(s, action, log):
    """Trail, capture or build, or go on with what is being put together."""
    player = np.int64(s.current_player)
    if action >= TARGET_0:
        s.target, s.composing = action - TARGET_0, state.TAKE
        note_build(s, player, value_of(s.target))
    elif action == DONE:
        _play(s, player, np.int64(s.playing), np.int64(s.target), s.taken, log)
    elif action >= TAKE_0:
        take_item(s, action - TAKE_0)
    else:
        _begin(s, player, action // SLOTS, action % SLOTS, log)


@kernel
def _begin(s, player, card, slot, log):
    """Play a card, or lay it open to put a capture or a build together."""
    if slot == TRAIL and may_not_trail(s):
        note_trail(s, player)
    note_card(s, player, card)
    if slot == TRAIL:
        lay_card(s, player, card, shared.TRAILS, log)
        _end_turn(s, log)
    elif slot in (COMPOSE_CAPTURE, COMPOSE_BUILD):
        s.playing = card
        s.hands[player] ^= 1 << card
        s.composing = state.TAKE if slot == COMPOSE_CAPTURE else state.CHOOSE_TARGET
        ev.log_move(log, table.SHOWS, player, card, shared.HAND + player, table.SHOWN, ev.EVERYBODY)
    elif slot < COMPOSE_CAPTURE:
        _play(s, player, card, np.int64(NO_TARGET), capture(s, card, slot), log)
    else:
        target, cards = build(s, card, slot)
        _play(s, player, card, target, cards, log)


@kernel
def _play(s, player, card, target, items, log):
    """Capture or build with a card that is in hand or has been laid open."""
    source = shared.HAND + player if s.playing == NO_CARD else table.SHOWN
    s.hands[player] &= ~(np.int64(1) << card)
    s.playing, s.target, s.composing = NO_CARD, NO_TARGET, state.PLAY
    s.taken = s.group = 0
    if target == NO_TARGET:
        _capture(s, player, card, items, source, log)
    else:
        _build(s, player, card, target, items, source, log)
    _end_turn(s, log)


# ---------------------------------------------------------------------------------------------------------------
# Captures and builds


@kernel
def _capture(s, player, card, items, source, log):
    """Capture loose cards and builds (4)."""
    side = side_of(s, player)
    s.won[side] |= np.int64(1) << card
    s.last_taker = side
    ev.log_move(log, shared.PLAYS, player, card, source, shared.WON + side, ev.EVERYBODY)
    while items:
        item = lowest_card(items)
        items &= items - 1
        if item >= BUILD_0:
            _take_build(s, player, item - BUILD_0, log)
            continue
        take_card(s, player, side, item, shared.TAKES, shared.WON, log)
    if s.table == 0 and _num_builds(s) == 0:
        s.sweeps[side] += 1
        ev.log_set(log, shared.SWEEP, side, shared.SWEEPS + side, s.sweeps[side])


@kernel
def _take_build(s, player, k, log):
    """A build goes to the side of `player`."""
    side = side_of(s, player)
    s.won[side] |= s.builds[k]
    ev.log_move_all(log, table.TAKES_BUILD, player, table.BUILD + k, shared.WON + side)
    _clear_build(s, k, log)


@kernel
def _clear_build(s, k, log):
    """Forget what was known of a build."""
    s.builds[k] = s.build_values[k] = s.build_sets[k] = s.build_owners[k] = 0
    ev.log_set(log, table.BUILD_GONE, ev.NO_PLAYER, table.VALUE + k, 0)
    ev.log_set(log, table.BUILD_GONE, ev.NO_PLAYER, table.SETS + k, 0)
    ev.log_set(log, table.BUILD_GONE, ev.NO_PLAYER, table.OWNER + k, 0)


@kernel
def _num_builds(s):
    """Return the number of builds on the table."""
    number = 0
    for k in range(MAX_BUILDS):
        number += s.builds[k] != 0
    return number


@kernel
def _build(s, player, card, target, cards, source, log):
    """Make a build, add to one, or raise it (5.2 to 5.8); `player` now owns it."""
    value, k, from_table = value_of(target), place_of(target), target >= TABLE_ONLY
    note_build(s, player, value)
    if k == NEW:
        k = _free_place(s)
    total, before = total_of(cards, NUMBERS), np.int64(s.build_sets[k])
    if s.build_values[k] != value:  # a raised build is a part of the first set
        total += s.build_values[k]
        before = np.int64(0)
    if from_table:
        s.hands[player] &= ~(np.int64(1) << card)
        s.table |= np.int64(1) << card
        ev.log_move(log, shared.TRAILS, player, card, source, shared.BOARD, ev.EVERYBODY)
    else:
        total += NUMBERS[card]
        s.builds[k] |= np.int64(1) << card
        ev.log_move(log, table.BUILDS, player, card, source, table.BUILD + k, ev.EVERYBODY)
    s.table &= ~cards
    s.builds[k] |= cards
    s.build_values[k], s.build_owners[k] = value, player
    s.build_sets[k] = before + sets_of(value, total)
    while cards:
        ev.log_move(log, table.GATHERS, player, lowest_card(cards), shared.BOARD, table.BUILD + k, ev.EVERYBODY)
        cards &= cards - 1
    ev.log_set(log, table.NEW_VALUE, player, table.VALUE + k, value)
    ev.log_set(log, table.NEW_SETS, player, table.SETS + k, s.build_sets[k])
    ev.log_set(log, table.NEW_OWNER, player, table.OWNER + k, player)


@kernel
def _free_place(s):
    """Return the first place without a build."""
    k = 0
    while s.builds[k]:
        k += 1
    return k


@kernel
def _end_turn(s, log):
    """Pass the turn, deal again (2.2), or end the hand."""
    s.current_player = wrap(s.current_player + 1, s.rules.num_players)
    if s.hands[s.current_player] == 0:  # then all are empty
        forget_lacks(s)
        if s.num_dealt < NUM_CARDS:
            deal_round(s, ROUND_SIZE, shared.DEALT, log)
        else:
            _end_hand(s, log)


# ---------------------------------------------------------------------------------------------------------------
# The end of a hand


@kernel
def _end_hand(s, log):
    """Give away the rest (4.5), score (7), then deal again or end the game (8)."""
    for k in range(MAX_BUILDS):
        if s.builds[k]:
            s.table |= s.builds[k]
            ev.log_move_all(log, table.BREAKS_UP, ev.NO_PLAYER, table.BUILD + k, shared.BOARD)
            _clear_build(s, k, log)
    give_rest(s, shared.GETS_REST, shared.WON, log)
    _score(s, log)
    finish_hand(s, 1, log)


@kernel
def _score(s, log):
    """Add the points of the hand (7.1, 7.2)."""
    with_cards, _ = side_with_most(s, ALL_CARDS, num_sides(s))
    with_spades, _ = side_with_most(s, SPADES, num_sides(s))
    if with_cards != NO_SIDE:
        ev.log_note(log, shared.MOST_CARDS, with_cards, 0)
    if with_spades != NO_SIDE and not s.rules.spade_casino:
        ev.log_note(log, shared.MOST_SPADES, with_spades, 0)
    for side in range(num_sides(s)):
        points = worth(s, s.won[side])
        points += s.sweeps[side] if s.rules.sweeps else 0
        points += 3 if side == with_cards else 0
        points += 1 if side == with_spades and not s.rules.spade_casino else 0
        if points:
            s.scores[side] += points
            ev.log_set(log, shared.NEW_SCORE, side, shared.SCORE + side, s.scores[side])


@kernel
def worth(s, cards):
    """Return the points of single captured cards (7.1, 7.2)."""
    points = count_bits(cards & ACES) + (cards >> LITTLE_CASINO & 1) + 2 * (cards >> BIG_CASINO & 1)
    if s.rules.spade_casino:
        points += count_bits(cards & SPADES) + (cards >> JACK_OF_SPADES & 1)
    return points


def most_points(rules):
    """Return a bound on the points of all sides in a hand; `rules` are options or those of a record (7).

    After a sweep the table is empty, so the next card is laid: at most every other card sweeps.
    """
    return (24 if rules.spade_casino else 11) + ((NUM_CARDS - ROUND_SIZE) // 2 if rules.sweeps else 0)


_most_points = kernel(inline=True)(most_points)


@kernel
def forfeit(s, player, log):
    """The side of `player` loses the match, or the most that a hand can cost (9.1)."""
    lose_game(s, player, 1.0 if s.rules.match else _most_points(s.rules) / (num_sides(s) - 1), log)


# ---------------------------------------------------------------------------------------------------------------
# What a player cannot know


@kernel
def determinize(s, player, seed):
    """Re-deal what `player` does not see, so that the others' hands fit what they have shown (10.1, 10.4).

    Each world that fits is equally likely.
    """
    begin_world(s, seed)
    hidden = hidden_in_hands_and_deck(s, player)
    if not _is_anything_shown(s, player):
        redeal_hands(s, player, hidden, NUM_CARDS)
        return
    sizes = np.int64(0)  # of the hands, eight bits each
    for p in range(s.rules.num_players):
        sizes |= np.int64(count_bits(s.hands[p])) << 8 * p
    while not _try_hands(s, player, hidden, sizes):
        pass  # the true hands fit, so that a trial succeeds in the end
    left = hidden
    for p in range(s.rules.num_players):
        left &= ~s.hands[p]
    for k in range(s.num_dealt, NUM_CARDS):
        s.deck[k] = lowest_card(left)
        left &= left - 1
    shuffle(s, s.deck, s.num_dealt, NUM_CARDS)


@kernel
def _is_anything_shown(s, observer):
    """Whether a player other than the observer has shown something about the cards in hand."""
    for p in range(s.rules.num_players):
        if p != observer and (s.shown[p] or s.lacks[p]):
            return True
        for rank in range(NUM_RANKS):
            if p != observer and s.lacks_beside[p, rank]:
                return True
    return False


@kernel
def _try_hands(s, observer, hidden, sizes):
    """Deal hands to all others; return whether the trial succeeds. All deals that fit do so equally often.

    First each hand gets a card for each value that was shown, then others that it may hold. The trial succeeds in
    proportion to the number of choices, so that a hand does not become likelier because cards that it could have had
    are in others; and in inverse proportion to the number of ways in which the same hand could have been chosen.
    """
    left, chance = hidden, 1.0
    for p in range(s.rules.num_players):
        if p == observer:
            continue
        s.hands[p] = 0
        for value in range(2, TOP_ROYAL + 1):
            if s.shown[p] >> value & 1:
                most = possible_cards(s, p, hidden) & cards_that_count(value)
                chance *= count_bits(most & left) / count_bits(most)
                card = _any_card(s, most & left)
                s.hands[p] |= card
                left ^= card
    for p in range(s.rules.num_players):
        if p == observer:
            continue
        number, shown = sizes >> 8 * p & 255, count_bits(s.hands[p])
        most = min(count_bits(possible_cards(s, p, hidden)) - shown, count_bits(left))
        for k in range(number - shown):
            others = possible_cards(s, p, left)
            chance *= count_bits(others) / (most - k)
            card = _any_card(s, others)
            s.hands[p] |= card
            left ^= card
        if chance == 0 or not is_possible_hand(s, p, s.hands[p]):
            return False
        chance /= _ways_to_show(s, p, s.hands[p])
    return random_unit(s.rng) < chance


@kernel
def _any_card(s, cards):
    """Return a random card of a bit set, as a bit set; nothing if there is none."""
    if cards:
        for _ in range(random_below(s.rng, count_bits(cards))):
            cards &= cards - 1
    return cards & -cards


@kernel
def _ways_to_show(s, player, hand):
    """Return in how many ways cards of a hand could be those that the player has shown."""
    ways = np.int64(1)
    for value in range(2, TOP_ROYAL + 1):
        if s.shown[player] >> value & 1:
            ways *= count_bits(hand & cards_that_count(value))
    return ways


# ---------------------------------------------------------------------------------------------------------------
# Spaces


def max_length(options):
    """Return a bound on the decisions: each card is played, with a target and an end, built in once and taken once."""
    return 5 * NUM_CARDS * (MAX_HANDS if options.match else 1)


def returns(options):
    """Return the bounds: a match won or lost, or all points of a hand, won by one side or by the others (8.2)."""
    sides = 2 if options.teams else options.num_players
    if options.match:
        return win_or_loss(sides, low=-1)
    most = most_points(options)
    return Returns(-most / (sides - 1), most, 0, "points")
