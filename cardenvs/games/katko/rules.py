"""Rules of Katko. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.cards import NUM_CARDS, SUIT_SETS, count_bits, lowest_card
from cardenvs.core.codes import NO_DECK
from cardenvs.core.kernel import kernel
from cardenvs.core.redeal import add_place, cards_at, deal_to_places, new_places
from cardenvs.core.rng import DEAL, DETERMINIZE, shuffle_rest, start_stream
from cardenvs.core.rules import win_or_loss
from cardenvs.core.seats import wrap
from cardenvs.games.katko import state, table
from cardenvs.games.katko.poker_hand import hand_strength
from cardenvs.games.katko.state import DONE, EXCHANGE, NO_CARD, NUM_VOIDS, PLAY, SET_ASIDE_0

RANKS_IN_SUIT = 13
ALL_CARDS = (1 << NUM_CARDS) - 1
_SUIT_CARDS = (1 << RANKS_IN_SUIT) - 1
_DEUCE = 1  # rank of the 2

# ---------------------------------------------------------------------------------------------------------------
# Cards and seats


@kernel(inline=True)
def suit_of(card):
    """Return the suit of a card, 0 to 3."""
    return card // RANKS_IN_SUIT


@kernel(inline=True)
def height(card):
    """Return the rank of a card with the ace on top: 0 for the 2, 12 for the ace (1.1)."""
    return (card % RANKS_IN_SUIT + RANKS_IN_SUIT - 1) % RANKS_IN_SUIT


@kernel(inline=True)
def next_seat(s, player):
    """Return the next player after `player` who has not left."""
    seat = wrap(player + 1, s.rules.num_players)
    while not s.active[seat]:
        seat = wrap(seat + 1, s.rules.num_players)
    return seat


@kernel(inline=True)
def num_active(s):
    """Return the number of players who have not left."""
    number = 0
    for p in range(s.rules.num_players):
        number += s.active[p]
    return number


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
    for card in range(NUM_CARDS):
        s.deck[card] = card
    start_stream(s, DEAL, s.num_shuffles)
    s.num_shuffles += 1
    shuffle_rest(s, s.deck, NUM_CARDS, given)
    s.num_dealt = 0
    s.gone = 0
    ev.log_create(log, table.SHUFFLE, table.REST, NUM_CARDS)


@kernel(inline=True)
def _deal_hands(s, dealer, log):
    """Deal all hands from the top of the rest, in the order of players (2.1, 2.4)."""
    s.winners[s.num_deals] = s.poker_winners[s.num_deals] = ev.NO_PLAYER
    s.num_deals += 1
    s.dealer = dealer
    ev.log_set(log, table.NEW_DEAL, ev.NO_PLAYER, table.DEAL_NUMBER, s.num_deals)
    ev.log_set(log, table.IS_DEALER, dealer, table.DEALER, dealer)
    for p in range(s.rules.num_players):
        if s.active[p]:
            for _ in range(s.rules.cards_per_player):
                _draw(s, p, table.DEALT, log)
        s.voids[p] = 0
        for trick in range(s.rules.cards_per_player):
            s.played[p, trick] = NO_CARD
    leads = s.rules.leader != state.LEFT_OF_DEALER and s.last_winner != ev.NO_PLAYER and s.active[s.last_winner]
    s.leader = s.last_winner if leads else next_seat(s, np.int64(dealer))
    s.current_player = s.leader
    s.trick = 0
    s.num_setting_aside = 0
    s.phase = EXCHANGE if s.rules.poker_point else PLAY


@kernel(inline=True)
def _draw(s, player, kind, log):
    """`player` gets the next card of the rest."""
    card = np.int64(s.deck[s.num_dealt])
    s.deck[s.num_dealt] = NO_CARD
    s.num_dealt += 1
    s.hands[player] |= 1 << card
    ev.log_move(log, kind, player, card, table.REST, table.HAND + player, 1 << player)


@kernel
def _deal_next(s, dealer, log):
    """Put the cards of the deal away and deal the next one, from the rest if it is enough (2.2)."""
    for p in range(s.rules.num_players):
        s.last_played[p] = cards_played(s, p)
    if s.rules.deal_from_rest and NUM_CARDS - s.num_dealt >= num_active(s) * s.rules.cards_per_player:
        for p in range(s.rules.num_players):
            s.gone |= s.last_played[p]
            if s.last_played[p]:
                ev.log_move_all(log, table.PUT_AWAY, table.PLAYED + p, table.GONE)
            _put_hand_away(s, p, log)
    else:
        ev.log_clear(log, table.CLEAR_TABLE)
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
        ev.log_move(log, table.PUT_HAND_AWAY, player, card, table.HAND + player, table.SET_ASIDE + player, 1 << player)
    if s.voids[player]:
        s.put_away[player, s.voids[player]] += count_bits(s.hands[player])
    s.set_aside[player] |= s.hands[player]
    s.hands[player] = 0


@kernel
def cards_played(s, player):
    """Return the cards that `player` has played in this deal, as a bit set."""
    cards = np.int64(0)
    for trick in range(s.rules.cards_per_player):
        if s.played[player, trick] != NO_CARD:
            cards |= np.int64(1) << s.played[player, trick]
    return cards


# ---------------------------------------------------------------------------------------------------------------
# Legal actions


@kernel(inline=True)
def led_suit(s):
    """Return the suit to follow, or -1 if the player to act leads."""
    card = s.played[s.leader, s.trick]
    return -1 if card == NO_CARD else suit_of(np.int64(card))


@kernel(inline=True)
def playable(s, player):
    """Return the cards that `player` may play to this trick, as a bit set (3.1)."""
    hand, suit = s.hands[player], led_suit(s)
    following = hand & _SUIT_CARDS << RANKS_IN_SUIT * max(suit, 0)
    return following if suit >= 0 and following else hand


@kernel(inline=True)
def can_exchange(s):
    """Whether the rest has a card for another one set aside (4.2)."""
    return s.num_setting_aside < NUM_CARDS - s.num_dealt


@kernel(inline=True)
def legal_actions(s, out):
    """Cards to play (3.1); in the exchange, cards to set aside, and done (4.1)."""
    if s.phase == PLAY:
        return _list_cards(playable(s, s.current_player), 0, out, 0)
    n = _list_cards(s.hands[s.current_player], SET_ASIDE_0, out, 0) if can_exchange(s) else 0
    out[n] = DONE
    return n + 1


@kernel(inline=True)
def _list_cards(cards, first, out, n):
    while cards:
        out[n] = first + lowest_card(cards)
        cards &= cards - 1
        n += 1
    return n


@kernel(inline=True)
def explain_illegal(s, action):
    """0 if `action` is legal, else one of the codes of state.py."""
    if (action < SET_ASIDE_0) != (s.phase == PLAY):
        return state.EXCHANGES if s.phase == EXCHANGE else state.EXCHANGE_IS_OVER
    if action == DONE:
        return 0
    hand, card = s.hands[s.current_player], action if s.phase == PLAY else action - SET_ASIDE_0
    if not hand >> card & 1:
        return state.NOT_HELD
    if s.phase == EXCHANGE:
        return 0 if can_exchange(s) else state.REST_IS_SHORT
    return 0 if playable(s, s.current_player) >> card & 1 else state.MUST_FOLLOW


# ---------------------------------------------------------------------------------------------------------------
# Exchange and play


@kernel(inline=True)
def apply_action(s, action, log):
    """Play a card, or go on with the exchange."""
    player = np.int64(s.current_player)
    if s.phase == PLAY:
        _play(s, player, action, log)
    elif action == DONE:
        _end_exchange(s, player, log)
    else:
        card = action - SET_ASIDE_0
        s.hands[player] ^= 1 << card
        s.set_aside[player] |= 1 << card
        s.num_setting_aside += 1
        ev.log_move(log, table.SETS_ASIDE, player, card, table.HAND + player, table.SET_ASIDE + player, 1 << player)


@kernel
def _end_exchange(s, player, log):
    """Draw for the cards set aside; after the last player the play begins (4.1)."""
    ev.log_note(log, table.KEEPS, player, 0)
    for _ in range(s.num_setting_aside):
        _draw(s, player, table.DRAWS, log)
    s.num_setting_aside = 0
    s.current_player = next_seat(s, player)
    if s.current_player == s.leader:
        s.phase = PLAY


@kernel(inline=True)
def _play(s, player, card, log):
    """Play a card; the last one of a trick ends it (3.1, 3.2)."""
    suit = led_suit(s)
    if suit >= 0 and suit_of(card) != suit:
        s.voids[player] |= 1 << suit
    s.hands[player] ^= 1 << card
    s.played[player, s.trick] = card
    kind = table.LEADS if suit < 0 else table.PLAYS
    ev.log_move(log, kind, player, card, table.HAND + player, table.PLAYED + player, ev.EVERYBODY)
    following = next_seat(s, player)
    if following != s.leader:
        s.current_player = following
        return
    winner = trick_winner(s)
    s.trick += 1
    ev.log_note(log, table.WINS_TRICK, winner, s.trick)
    s.leader = winner
    s.current_player = winner
    if s.trick == s.rules.cards_per_player:
        _end_deal(s, winner, log)


@kernel(inline=True)
def trick_winner(s):
    """Return who has played the highest card of the suit that was led (3.2)."""
    suit, winner, best = led_suit(s), np.int64(s.leader), -1
    for p in range(s.rules.num_players):
        card = np.int64(s.played[p, s.trick])
        if card != NO_CARD and suit_of(card) == suit and height(card) > best:
            winner, best = p, height(card)
    return winner


# ---------------------------------------------------------------------------------------------------------------
# Scores


@kernel
def _end_deal(s, winner, log):
    """Score the last trick and the poker hands; then deal again or end the match (2.3, 3.3, 4.3)."""
    card = s.played[winner, s.rules.cards_per_player - 1]
    points = 2 if s.rules.two_rule and card % RANKS_IN_SUIT == _DEUCE else 1
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
    _deal_next(s, winner if s.rules.next_dealer == state.WINNER_DEALS else next_seat(s, np.int64(s.dealer)), log)


@kernel(inline=True)
def _add_score(s, player, points, log):
    s.scores[player] += points
    ev.log_set(log, table.SCORES, player, table.SCORE + player, s.scores[player])


@kernel(inline=True)
def _score_poker_hands(s, log):
    """The best hand scores, unless another is as good (4.3)."""
    best, winner = np.int64(-1), ev.NO_PLAYER
    for p in range(s.rules.num_players):
        if s.active[p]:
            strength = hand_strength(cards_played(s, p))
            if strength > best:
                best, winner = strength, p
            elif strength == best:
                winner = ev.NO_PLAYER
    if winner == ev.NO_PLAYER:
        ev.log_note(log, table.NO_POKER_HAND, ev.NO_PLAYER, 0)
    else:
        s.poker_winners[s.num_deals - 1] = winner
        ev.log_note(log, table.POKER_HAND, winner, 0)
        _add_score(s, winner, 1, log)


@kernel(inline=True)
def _end_match(s, winner, log):
    """`winner` gets a point, in equal parts from all others who have not paid yet (5.1)."""
    for p in range(s.rules.num_players):
        if s.active[p]:
            s.rewards[p] = -1 / (s.rules.num_players - 1)
    s.rewards[winner] = 1
    s.terminal = 1
    ev.log_note(log, table.WINS, winner, 0)


@kernel(inline=True)
def forfeit(s, player, log):
    """`player` pays and sits out; the others deal again, or the last one wins (6.1)."""
    s.active[player] = 0
    s.rewards[player] = -1 / (s.rules.num_players - 1)
    ev.log_note(log, table.FORFEITS, player, 0)
    following = next_seat(s, player)
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
        seen |= cards_played(s, p)
    return ALL_CARDS & ~seen


@kernel
def determinize(s, player, seed):
    """Re-deal what `player` does not see; no hand gets a suit that its owner has shown not to hold (7.1, 7.2)."""
    s.seed = seed
    start_stream(s, DETERMINIZE, 0)
    n = s.rules.num_players
    hidden = hidden_cards(s, player)
    first = NUM_CARDS - count_bits(hidden)
    for k in range(first, NUM_CARDS):
        s.deck[k] = lowest_card(hidden)
        hidden &= hidden - 1
    places = new_places()
    places.number = 0
    for seat in range(1, n):
        p = wrap(player + seat, n)
        add_place(places, count_bits(s.hands[p]), s.voids[p])
    for seat in range(1, n):
        _add_set_aside(s, places, wrap(player + seat, n))
    add_place(places, NUM_CARDS - s.num_dealt, 0)  # the rest comes last, so that it lies where it belongs
    deal_to_places(s, places, SUIT_SETS, s.deck, first, NUM_CARDS)
    place = n - 1
    for seat in range(1, n):
        p = wrap(player + seat, n)
        s.hands[p] = cards_at(places, seat - 1, s.deck)
        s.set_aside[p] = 0
        for voids in range(NUM_VOIDS):
            if voids == 0 or s.put_away[p, voids]:
                s.set_aside[p] |= cards_at(places, place, s.deck)
                place += 1
    for k in range(first, s.num_dealt):
        s.deck[k] = NO_CARD


@kernel(inline=True)
def _add_set_aside(s, places, player):
    """Add places for what a player has set aside: hands put away without a suit, and all else first."""
    free = count_bits(s.set_aside[player])
    for voids in range(1, NUM_VOIDS):
        free -= s.put_away[player, voids]
    add_place(places, free, 0)
    for voids in range(1, NUM_VOIDS):
        if s.put_away[player, voids]:
            add_place(places, s.put_away[player, voids], voids)


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
