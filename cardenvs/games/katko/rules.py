"""Rules of Katko. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.codes import NO_DECK
from cardenvs.core.kernel import kernel
from cardenvs.core.returns import win_or_loss
from cardenvs.core.seats import next_active, num_active, wrap
from cardenvs.games.katko import state
from cardenvs.games.katko.poker_hand import hand_strength
from cardenvs.games.katko.state import DONE, EXCHANGE, NUM_VOIDS, PLAY, SET_ASIDE_0
from cardenvs.kits.cards import FULL, NUM_CARDS, SUIT_SETS, count_bits, lowest_card
from cardenvs.kits.deck import NO_CARD, begin_world, deal_hands, draw_card, shuffle_deck
from cardenvs.kits.listing import list_bits
from cardenvs.kits.matches import leave
from cardenvs.kits.redeal import add_place, cards_at, deal_to_places, list_cards, new_places
from cardenvs.kits.tricks import (
    ACE_HIGH,
    NOT_HELD,
    Ranking,
    Tricks,
    add_hands,
    clear_tricks,
    height,
    take_hands,
)

ALL_CARDS = (1 << NUM_CARDS) - 1

TRICKS = Tricks(state.TABLE, Ranking.plain(FULL, ACE_HIGH))  # (3.2)
led_suit, _playable, _explain_card, _take_turn = TRICKS.led_suit, TRICKS.playable, TRICKS.explain, TRICKS.take_turn


# ---------------------------------------------------------------------------------------------------------------
# Deals


@kernel
def deal(s, given, log):
    """Deal for the first time; the last player is the dealer (2.1)."""
    s.last_winner = ev.NO_PLAYER
    _shuffle(s, given, log)
    _deal_hands(s, s.rules.num_players - 1, log)


@kernel(inline=True)
def _shuffle(s, given, log):
    """Shuffle all cards, `given` on top."""
    shuffle_deck(s, NUM_CARDS, s.num_shuffles, given)
    s.num_shuffles += 1
    s.gone = 0
    ev.log_create(log, state.SHUFFLE, state.REST, NUM_CARDS)


@kernel(inline=True)
def _deal_hands(s, dealer, log):
    """Deal all hands from the top of the rest, in the order of players (2.1, 2.4)."""
    s.winners[s.num_deals] = s.poker_winners[s.num_deals] = ev.NO_PLAYER
    s.num_deals += 1
    s.dealer = dealer
    ev.log_set(log, state.NEW_DEAL, ev.NO_PLAYER, state.DEAL_NUMBER, s.num_deals)
    ev.log_set(log, state.IS_DEALER, dealer, state.DEALER, dealer)
    deal_hands(s, s.rules.cards_per_player, state.DEALT, state.REST, state.HAND, log)
    leads = s.rules.leader != state.LEFT_OF_DEALER and s.last_winner != ev.NO_PLAYER and s.active[s.last_winner]
    s.leader = s.last_winner if leads else next_active(s, np.int64(dealer))
    s.current_player = s.leader
    clear_tricks(s)
    s.num_setting_aside = 0
    s.phase = EXCHANGE if s.rules.poker_point else PLAY


@kernel
def _deal_next(s, dealer, log):
    """Put the cards of the deal away and deal the next one, from the rest if it is enough (2.2)."""
    for p in range(s.rules.num_players):
        s.last_played[p] = s.cards_played[p]
    if s.rules.deal_from_rest and NUM_CARDS - s.num_dealt >= num_active(s) * s.rules.cards_per_player:
        for p in range(s.rules.num_players):
            s.gone |= s.last_played[p]
            if s.last_played[p]:
                ev.log_move_all(log, state.PUT_AWAY, ev.NO_PLAYER, state.PLAYED + p, state.GONE)
            _put_hand_away(s, p, log)
    else:
        ev.log_clear(log, state.CLEAR_TABLE)
        for p in range(s.rules.num_players):
            s.hands[p] = s.set_aside[p] = 0
            for voids in range(NUM_VOIDS):
                s.put_away[p, voids] = 0
        _shuffle(s, NO_DECK, log)
    _deal_hands(s, dealer, log)


@kernel(inline=True)
def _put_hand_away(s, player, log):
    """Set aside the cards that nobody may see after a deal that was broken off (6.1)."""
    hand = s.hands[player]
    while hand:
        card = lowest_card(hand)
        hand &= hand - 1
        ev.log_move(log, state.PUT_HAND_AWAY, player, card, state.HAND + player, state.SET_ASIDE + player, 1 << player)
    s.put_away[player, s.voids[player]] += count_bits(s.hands[player])
    s.set_aside[player] |= s.hands[player]
    s.hands[player] = 0


# ---------------------------------------------------------------------------------------------------------------
# Exchange and play


@kernel(inline=True)
def can_exchange(s):
    """Whether the rest has a card for another one set aside (4.2)."""
    return s.num_setting_aside < NUM_CARDS - s.num_dealt


@kernel(inline=True)
def legal_actions(s, out):
    """Cards to play (3.1); in the exchange, cards to set aside, and done (4.1)."""
    if s.phase == PLAY:
        return list_bits(_playable(s, s.current_player), 0, out, 0)
    n = list_bits(s.hands[s.current_player], SET_ASIDE_0, out, 0) if can_exchange(s) else 0
    out[n] = DONE
    return n + 1


@kernel(inline=True)
def explain_illegal(s, action):
    """0 if `action` is legal, else one of the codes of state.py."""
    if (action < SET_ASIDE_0) != (s.phase == PLAY):
        return state.EXCHANGES if s.phase == EXCHANGE else state.EXCHANGE_IS_OVER
    if action == DONE:
        return 0
    if s.phase == PLAY:
        return _explain_card(s, s.current_player, action)
    if not s.hands[s.current_player] >> action - SET_ASIDE_0 & 1:
        return NOT_HELD
    return 0 if can_exchange(s) else state.REST_IS_SHORT


@kernel(inline=True)
def apply_action(s, action, log):
    """Play a card, or go on with the exchange."""
    player = np.int64(s.current_player)
    if s.phase == PLAY:
        _play(s, action, log)
    elif action == DONE:
        _end_exchange(s, player, log)
    else:
        card = action - SET_ASIDE_0
        s.hands[player] ^= 1 << card
        s.set_aside[player] |= 1 << card
        s.put_away[player, 0] += 1
        s.num_setting_aside += 1
        ev.log_move(log, state.SETS_ASIDE, player, card, state.HAND + player, state.SET_ASIDE + player, 1 << player)


@kernel
def _end_exchange(s, player, log):
    """Draw for the cards set aside; after the last player the play begins (4.1)."""
    ev.log_note(log, state.KEEPS, player, 0)
    for _ in range(s.num_setting_aside):
        draw_card(s, player, state.DRAWS, state.REST, state.HAND, log)
    s.num_setting_aside = 0
    s.current_player = next_active(s, player)
    if s.current_player == s.leader:
        s.phase = PLAY


@kernel(inline=True)
def _play(s, card, log):
    """Play a card; the last one of a trick ends it (3.1, 3.2)."""
    winner = _take_turn(s, card, log)
    if winner != ev.NO_PLAYER:
        ev.log_note(log, state.WINS_TRICK, winner, s.trick)
        if s.trick == s.rules.cards_per_player:
            _end_deal(s, winner, log)


# ---------------------------------------------------------------------------------------------------------------
# Scores


@kernel
def _end_deal(s, winner, log):
    """Score the last trick and the poker hands; then deal again or end the match (2.3, 3.3, 4.3)."""
    card = s.played[winner, s.rules.cards_per_player - 1]
    points = 2 if s.rules.two_rule and height(card) == 0 else 1
    s.winners[s.num_deals - 1] = winner
    s.points[s.num_deals - 1] = points
    _add_score(s, winner, points, log)
    s.last_winner = winner
    if s.scores[winner] < s.rules.target and s.rules.poker_point:
        _score_poker_hands(s, log)
    for p in range(s.rules.num_players):
        if s.scores[p] >= s.rules.target:
            _end_match(s, p, log)
            return
    _deal_next(s, winner if s.rules.next_dealer == state.WINNER_DEALS else next_active(s, np.int64(s.dealer)), log)


@kernel(inline=True)
def _add_score(s, player, points, log):
    s.scores[player] += points
    ev.log_set(log, state.SCORES, player, state.SCORE + player, s.scores[player])


@kernel(inline=True)
def _score_poker_hands(s, log):
    """The best hand scores, unless another is as good (4.3)."""
    best, winner = np.int64(-1), ev.NO_PLAYER
    for p in range(s.rules.num_players):
        if s.active[p]:
            strength = hand_strength(s.cards_played[p])
            if strength > best:
                best, winner = strength, p
            elif strength == best:
                winner = ev.NO_PLAYER
    if winner == ev.NO_PLAYER:
        ev.log_note(log, state.NO_POKER_HAND, ev.NO_PLAYER, 0)
    else:
        s.poker_winners[s.num_deals - 1] = winner
        ev.log_note(log, state.POKER_HAND, winner, 0)
        _add_score(s, winner, 1, log)


@kernel(inline=True)
def _end_match(s, winner, log):
    """`winner` gets a point, in equal parts from all others who have not paid yet (5.1)."""
    for p in range(s.rules.num_players):
        if s.active[p]:
            s.rewards[p] = -1 / (s.rules.num_players - 1)
    s.rewards[winner] = 1
    s.terminal = 1
    ev.log_note(log, state.WINS, winner, 0)


@kernel(inline=True)
def forfeit(s, player, log):
    """`player` pays and sits out; the others deal again, or the last one wins (6.1)."""
    s.rewards[player] = -1 / (s.rules.num_players - 1)
    leave(s, player, state.FORFEITS, log)
    following = next_active(s, player)
    if num_active(s) == 1:
        _end_match(s, following, log)
    else:
        _deal_next(s, following, log)


# ---------------------------------------------------------------------------------------------------------------
# What a player cannot know


@kernel
def hidden_cards(s, player):
    """Return the cards that `player` does not see: in the other hands, set aside by the others, and in the rest."""
    seen = s.gone | s.hands[player] | s.set_aside[player]
    for p in range(s.rules.num_players):
        seen |= s.cards_played[p]
    return ALL_CARDS & ~seen


@kernel
def determinize(s, player, seed):
    """Re-deal what `player` does not see; no hand gets a suit that its owner has shown not to hold (7.1, 7.2)."""
    begin_world(s, seed)
    n = s.rules.num_players
    hidden = hidden_cards(s, player)
    first = NUM_CARDS - count_bits(hidden)
    list_cards(hidden, s.deck, first)
    places = new_places()
    places.number = 0
    add_hands(s, places, player)
    for seat in range(1, n):
        for voids in range(NUM_VOIDS):
            if s.put_away[wrap(player + seat, n), voids]:
                add_place(places, s.put_away[wrap(player + seat, n), voids], voids)
    add_place(places, NUM_CARDS - s.num_dealt, 0)  # the rest comes last, so that it lies where it belongs
    deal_to_places(s, places, SUIT_SETS, s.deck, first, NUM_CARDS)
    take_hands(s, places, player, s.deck)
    place = n - 1
    for seat in range(1, n):
        p = wrap(player + seat, n)
        s.set_aside[p] = 0
        for voids in range(NUM_VOIDS):
            if s.put_away[p, voids]:
                s.set_aside[p] |= cards_at(places, place, s.deck)
                place += 1
    for k in range(first, s.num_dealt):
        s.deck[k] = NO_CARD


# ---------------------------------------------------------------------------------------------------------------
# Spaces


def num_actions(options):
    """Return the number of ids: cards to play, and with a poker point cards to set aside, and done."""
    return 2 * NUM_CARDS + 1 if options.poker_point else NUM_CARDS


def max_length(options):
    """Return a bound on the decisions: all cards, set aside at most once each, in the most deals there can be.

    Each deal scores at least a point, except those that a player's leaving breaks off.
    """
    deals = options.num_players * (options.target - 1) + 1 + options.num_players
    per_player = 2 * options.cards_per_player + 1 if options.poker_point else options.cards_per_player
    return deals * options.num_players * per_player


def returns(options):
    """A match won or lost."""
    return win_or_loss(options.num_players)
