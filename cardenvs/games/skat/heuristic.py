"""A rule agent for Skat.

It bids, names a game and lays cards away by the chance to win (valuing.py). In play, each card has a value: the points
of the trick for whoever is likely to win it, less what the card is worth if it is kept.
"""

import numpy as np

from cardenvs.core.events import NO_PLAYER
from cardenvs.core.kernel import kernel
from cardenvs.core.seats import wrap
from cardenvs.games.skat.auction import bid_of_soloist, highest_bid, may_announce_nothing, may_name_null
from cardenvs.games.skat.cards import (
    RANKING,
    TRUMPS,
    base_of,
    led_suit,
    null_value,
    points_of,
    raised,
    strength,
    suit_cards,
    tops,
    trick_winner,
)
from cardenvs.games.skat.state import (
    ANNOUNCE_0,
    AUCTION,
    DIAMONDS,
    GRAND,
    HAND,
    LAY_AWAY,
    NAME_0,
    NAME_GAME,
    NOTHING,
    NULL,
    NUM_PLAYERS,
    OPENSPIEL,
    OUVERT,
    PACK,
    PASS,
    PLAY,
    SKAT,
    TAKE,
    VALUE_0,
    VALUES,
    YES,
)
from cardenvs.games.skat.valuing import BEFORE, PLAYED, chance_to_win
from cardenvs.games.skat.worlds import is_open, knows_skat
from cardenvs.kits.cards import chance_of_none, count_bits, lowest_card
from cardenvs.kits.deck import NO_CARD
from cardenvs.kits.tricks import card_in_trick

_suit_of, _height = RANKING.suit_of, RANKING.height
_ALL_CARDS = PACK.all_cards
_ENOUGH = 0.62  # chance to win from which a game is bid
_HAND_COST = 4.0  # points by which a hand game must promise more


@kernel
def heuristic(s, legal, n, rng):
    """Choose a word, a game, or a card."""
    if n == 1:
        return np.int64(legal[0])
    player = np.int64(s.current_player)
    if s.phase == PLAY:
        return best_card(s, player, legal, n, PLAY_WEIGHTS)
    if s.phase == AUCTION:
        return _best_word(s, player)
    if s.phase == LAY_AWAY:
        return _card_to_lay_away(s, player)
    if s.phase == SKAT:
        return _hand_or_skat(s, player)
    if s.phase == NAME_GAME:
        return NAME_0 + _best_game(s, s.hands[player], s.skat if s.took_skat else np.int64(0))
    return _best_announcement(s, player)


# ---------------------------------------------------------------------------------------------------------------
# Before the first trick


@kernel
def _best_word(s, player):
    """Hold or name the next value as long as the hand is worth it."""
    hand = s.hands[player]
    if s.rules.bidding == OPENSPIEL:
        return _game_by_chance(hand)
    is_asked = player == s.listener
    bid = highest_bid(s) + (0 if is_asked else 1)
    if bid >= VALUES.shape[0] or VALUES[bid] > limit_of(hand):
        return np.int64(PASS)
    return np.int64(YES) if is_asked else VALUE_0 + bid - 1


@kernel
def _game_by_chance(hand):
    """Return the name of the likeliest game, whatever it is worth; pass if it is not likely (10.2)."""
    best, best_chance = np.int64(PASS), 0.5
    for game in range(DIAMONDS, NULL + 1):
        chance = chance_to_win(game, hand, np.int64(0), BEFORE)
        if chance > best_chance:
            best, best_chance = np.int64(NAME_0 + game), chance
    return best


@kernel
def limit_of(hand):
    """Return the highest value up to which a hand bids; 0 if it passes."""
    limit = np.int64(0)
    for game in range(DIAMONDS, NULL + 1):
        value = _least_value(game, hand)
        if value > limit and chance_to_win(game, hand, np.int64(0), BEFORE) > _ENOUGH:
            limit = value
    return limit


@kernel
def _least_value(game, hand):
    """Return what a game is worth with the tops of a hand, with the skat and without schneider."""
    return null_value(False, False) if game == NULL else base_of(game) * (1 + tops(game, hand))


@kernel
def _promise(s, game, hand, skat, is_hand):
    """Return the expected score of a game with some cards in hand and laid away."""
    chance = chance_to_win(game, hand, skat, PLAYED)
    bid = bid_of_soloist(s)
    if game == NULL:
        value = null_value(is_hand, False)
        if value < bid:
            value = null_value(is_hand, True)
            chance *= chance
        return value * (3 * chance - 2) if value >= bid else -2.0 * bid
    value = base_of(game) * (1 + tops(game, hand | skat) + np.int64(is_hand))
    if value < bid:  # perhaps the other side gets no 30 points
        chance *= 0.25
        value = raised(game, bid)
    return value * (3 * chance - 2)


@kernel
def _best_game(s, hand, skat):
    """Return the game that promises most."""
    best, best_promise, is_hand = np.int64(GRAND), -1e9, skat == 0
    for game in range(DIAMONDS, NULL + 1):
        promise = _promise(s, game, hand, skat, is_hand)
        if promise > best_promise and (game != NULL or may_name_null(s)):
            best, best_promise = np.int64(game), promise
    return best


@kernel
def _card_to_lay_away(s, player):
    """Return one of the cards that leave the most promising hand: of the two to be laid away, or the second one."""
    hand, best, best_promise = s.hands[player], np.int64(0), -1e9
    rest = hand
    while rest:
        card = rest & -rest
        rest ^= card
        laid = s.skat | card
        promise = _promise_without(s, hand ^ card, laid) if s.skat else _best_promise(s, hand ^ card, laid, rest)
        if promise > best_promise:
            best, best_promise = lowest_card(card), promise
    return best


@kernel
def _best_promise(s, hand, laid, others):
    """Return what a hand promises once the best of some other cards has been laid away, too."""
    best = -1e9
    while others:
        other = others & -others
        others ^= other
        best = max(best, _promise_without(s, hand ^ other, laid | other))
    return best


@kernel
def _promise_without(s, hand, laid):
    """Return what a hand promises in its best game, or in the one that has been named."""
    game = np.int64(s.game)
    if game < 0:
        game = _best_game(s, hand, laid)
    return _promise(s, game, hand, laid, False)


@kernel
def _hand_or_skat(s, player):
    """Play hand if that promises more than the skat can be expected to add."""
    hand = s.hands[player]
    game = _best_game(s, hand, np.int64(0))
    taken = 0.0
    for other in range(DIAMONDS, NULL + 1):
        value = _least_value(other, hand)
        if value >= bid_of_soloist(s):
            taken = max(taken, value * (3 * chance_to_win(other, hand, np.int64(0), BEFORE) - 2))
    return np.int64(HAND if _promise(s, game, hand, np.int64(0), True) > taken + _HAND_COST else TAKE)


@kernel
def _best_announcement(s, player):
    """Announce ouvert if a null game needs it or is safe, else nothing."""
    if not may_announce_nothing(s):
        return np.int64(ANNOUNCE_0 + OUVERT)
    if s.game == NULL and chance_to_win(NULL, s.hands[player], np.int64(0), PLAYED) > 0.97:
        return np.int64(ANNOUNCE_0 + OUVERT)
    return np.int64(ANNOUNCE_0 + NOTHING)


# ---------------------------------------------------------------------------------------------------------------
# Play

# In points: what cards are worth in hand, and what a lead of trumps is worth to the soloist.
PLAY_WEIGHTS = np.array([10.0, 1.5, 5.0, 6.0, 9.0, 4.0, 4.0, 1.0])
LOW_TRUMP, TRUMP_HEIGHT, ACE, TEN, DRAW, FEED, LEAD, ALONE = range(8)


@kernel
def best_card(s, player, legal, n, w):
    """Return the card of the highest value."""
    best, best_value = np.int64(legal[0]), -1e9
    hidden = hidden_cards(s, player)
    for k in range(n):
        card = np.int64(legal[k])
        value = _value_of(s, player, card, hidden, w)
        if value > best_value:
            best, best_value = card, value
    return best


@kernel
def hidden_cards(s, player):
    """Return the cards that `player` does not see in the hands of others or in the skat."""
    seen = s.hands[player] | (s.skat if knows_skat(s, player) else 0)
    for p in range(NUM_PLAYERS):
        seen |= s.cards_played[p]
    return _ALL_CARDS & ~seen


@kernel
def _value_of(s, player, card, hidden, w):
    """Return the value of playing a card, by what is played."""
    by_soloist, by_player, points = _chances(s, player, card, hidden, w)
    if s.soloist == NO_PLAYER:
        return -by_player * (points + 2) + 0.4 * _height(s, card) + 0.3 * points_of(card)
    if s.game == NULL:
        return _value_in_null(s, player, card, by_soloist, hidden)
    ours = by_soloist if player == s.soloist else 1 - by_soloist
    value = (2 * ours - 1) * points - _worth_in_hand(s, card, hidden, w) + w[LEAD] * by_player
    if led_suit(s) < 0:
        value += _value_of_lead(s, player, card, hidden, w)
    return value


@kernel
def _chances(s, player, card, hidden, w):
    """Return the chances that the soloist and `player` win the trick with a card, and its expected points."""
    led, points = led_suit(s), np.float64(points_of(card))
    holder, best, to_come = player, card, NUM_PLAYERS - 1
    if led < 0:
        led = _suit_of(s, card)
    else:
        for p in range(NUM_PLAYERS):
            other = np.int64(card_in_trick(s, p))
            if other != NO_CARD:
                points += points_of(other)
                to_come -= 1
        before = trick_winner(s)
        other = np.int64(card_in_trick(s, before))
        if strength(s, other, led) > strength(s, card, led):
            holder, best = before, other
    by_soloist, by_player = np.float64(holder == s.soloist), np.float64(holder == player)
    for k in range(1, to_come + 1):
        q = wrap(player + k, NUM_PLAYERS)
        beats = _chance_to_beat(s, q, holder, best, led, hidden)
        by_soloist += beats * (1.0 - by_soloist) if q == s.soloist else -beats * by_soloist
        by_player -= beats * by_player
        points += w[FEED] * (1 - by_soloist) if q != s.soloist and player != s.soloist else 1.0
    return by_soloist, by_player, points


@kernel
def _chance_to_beat(s, q, holder, best, led, hidden):
    """Return the chance that a player who is still to play beats the best card, if they want to, or must."""
    is_solo = s.soloist != NO_PLAYER
    if is_solo and s.game != NULL and (q == s.soloist) == (holder == s.soloist):
        return 0.0  # a partner
    may_hold = (s.hands[q] if is_open(s, q) else hidden) & ~s.lacks[q]
    number, room = count_bits(may_hold), count_bits(s.hands[q])
    above = _stronger(s, may_hold, best, led)
    following = may_hold & suit_cards(s, led)
    if not is_solo or s.game == NULL:  # unwilling
        lower = following & ~above
        return chance_of_none(count_bits(lower), room, number) * (1 - chance_of_none(count_bits(above), room, number))
    beats = 1 - chance_of_none(count_bits(above & following), room, number)
    trumps = above & ~following
    if trumps:
        void = chance_of_none(count_bits(following), room, number)
        rest = number - count_bits(following)
        beats += void * (1 - chance_of_none(count_bits(trumps), min(room, rest), rest))
    return min(beats, 1.0)


@kernel
def _stronger(s, cards, best, led):
    """Return those of some cards that beat the best card of the trick."""
    found, least = np.int64(0), strength(s, best, led)
    while cards:
        card = lowest_card(cards)
        cards &= cards - 1
        if strength(s, card, led) > least:
            found |= np.int64(1) << card
    return found


@kernel
def _worth_in_hand(s, card, hidden, w):
    """Return what a card is worth if it is kept, in points: as a trump, or as a winner of a side suit."""
    suit, points = _suit_of(s, card), points_of(card)
    if suit == TRUMPS:
        return w[LOW_TRUMP] + w[TRUMP_HEIGHT] * _height(s, card) / 2 + 0.5 * points
    higher = _stronger(s, suit_cards(s, suit) & hidden, card, suit)
    if points >= 10:
        return w[ACE] if not higher else w[TEN]
    return 0.3 * points + (1.0 if not higher else 0.0)


@kernel
def _value_of_lead(s, player, card, hidden, w):
    """Return what a lead is worth beside its trick: trumps of a soloist draw those of the opponents."""
    suit = _suit_of(s, card)
    trumps_out = count_bits(suit_cards(s, TRUMPS) & hidden)
    if player == s.soloist:
        return w[DRAW] + w[LOW_TRUMP] if suit == TRUMPS and trumps_out else 0.0
    return -w[DRAW] if suit == TRUMPS else -w[ALONE] * count_bits(suit_cards(s, suit) & s.hands[player]) / 4


@kernel
def _value_in_null(s, player, card, by_soloist, hidden):
    """Return the value of a card in null: the soloist avoids the trick, and sheds cards that could win one."""
    higher_is_better = 0.1 * _height(s, card)
    if player == s.soloist:
        suit = _suit_of(s, card)
        others = hidden & suit_cards(s, suit)
        lower = count_bits(others) - count_bits(_stronger(s, others, card, suit))
        return -100 * by_soloist + lower + higher_is_better
    has_played = card_in_trick(s, np.int64(s.soloist)) != NO_CARD
    return 100 * by_soloist + (higher_is_better if has_played else -higher_is_better)
