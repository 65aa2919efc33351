"""Rules of Contract Bridge. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.cards import NUM_CARDS, lowest_card
from cardenvs.core.codes import NO_DECK
from cardenvs.core.kernel import kernel
from cardenvs.core.redeal import choose_place, packed
from cardenvs.core.rng import DEAL, DETERMINIZE, random_below, shuffle, shuffle_rest, start_stream
from cardenvs.core.rules import Returns
from cardenvs.games.bridge import state, table
from cardenvs.games.bridge.bidding import natural_call
from cardenvs.games.bridge.cards import (
    cards_played,
    dummy_of,
    led_suit,
    playable,
    suit_of,
    trick_winner,
    trump_suit,
)
from cardenvs.games.bridge.scoring import (
    GAME_POINTS,
    above_line,
    contract_worth,
    duplicate_score,
    imps,
    penalty,
)
from cardenvs.games.bridge.state import (
    AUCTION,
    BID_0,
    CARD_0,
    DOUBLE,
    NO_BID,
    NO_CARD,
    NO_TRUMP,
    NUM_ACTIONS,
    NUM_BIDS,
    NUM_CALLS,
    NUM_DENOMINATIONS,
    NUM_PLAYERS,
    NUM_SIDES,
    NUM_TRICKS,
    PASS,
    PLAY,
    REDOUBLE,
)

BOARD = 1  # chance source
ALL_CARDS = (1 << NUM_CARDS) - 1
WORST = 7600  # 13 down, redoubled, vulnerable
_MOST_IMPS = 24
_NORTH_SOUTH, _EAST_WEST = 1, 2
_HONOURS = 0b1111000000001  # A, T, J, Q, K of a suit, by rank
_ACES = 1 | 1 << 13 | 1 << 26 | 1 << 39

# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def deal(s, given, log):
    """Deal for the first time (2)."""
    s.board = s.rules.board
    if s.rules.board < 0:
        start_stream(s, BOARD, 0)
        s.board = 1 + random_below(s.rng, 16)
    dealer = s.rules.dealer - 1 if s.rules.dealer else np.int64(s.board - 1) & 3
    if s.rules.vulnerable:
        s.vulnerable = s.rules.vulnerable - 1
    else:
        s.vulnerable = _board_vulnerable(np.int64(s.board))
    if s.rules.scoring == state.RUBBER:
        s.vulnerable = 0
    ev.log_set(log, table.NEW_BOARD, ev.NO_PLAYER, table.BOARD, s.board)
    for p in range(NUM_PLAYERS):
        s.last_played[p] = 0
    _deal_hands(s, dealer, given, log)
    if s.rules.phase == state.ONLY_PLAY:
        _given_auction(s, log)


@kernel(inline=True)
def _board_vulnerable(board):
    """Return the bit set of vulnerable sides: none, NS, EW, both, moved on by one after every four boards (2.1)."""
    return (board - 1 + (board - 1) // 4) & 3


@kernel
def _deal_hands(s, dealer, given, log):
    """Shuffle, deal thirteen cards to each player, and open the auction (2.2, 3.1)."""
    for card in range(NUM_CARDS):
        s.dealt[card] = card
    start_stream(s, DEAL, s.num_deals)
    shuffle_rest(s, s.dealt, NUM_CARDS, given)
    s.num_deals += 1
    s.dealer = dealer
    ev.log_set(log, table.NEW_DEAL, ev.NO_PLAYER, table.DEAL_NUMBER, s.num_deals)
    ev.log_set(log, table.IS_DEALER, dealer, table.DEALER, dealer)
    ev.log_set(log, table.IS_VULNERABLE, ev.NO_PLAYER, table.VULNERABLE, s.vulnerable)
    ev.log_create(log, table.SHUFFLE, table.PACK, NUM_CARDS)
    for k in range(NUM_CARDS):
        p, card = k // NUM_TRICKS, np.int64(s.dealt[k])
        if k % NUM_TRICKS == 0:
            s.hands[p] = 0
        s.hands[p] |= 1 << card
        s.dealt[k] = NO_CARD
        ev.log_move(log, table.DEALT, p, card, table.PACK, table.HAND + p, 1 << p)
    _open_auction(s, log)


@kernel(inline=True)
def _open_auction(s, log):
    s.phase = AUCTION
    s.num_calls = s.num_passes = s.opening_passes = 0
    for bid in range(NUM_BIDS):
        s.bidders[bid] = s.doublers[bid] = s.redoublers[bid] = ev.NO_PLAYER
    for side in range(NUM_SIDES):
        s.tricks_won[side] = 0
        for denomination in range(NUM_DENOMINATIONS):
            s.named[side, denomination] = ev.NO_PLAYER
        ev.log_set(log, table.HAS_TRICKS, side, table.SIDE_TRICKS + side, 0)
    for p in range(NUM_PLAYERS):
        s.voids[p] = 0
        for trick in range(NUM_TRICKS):
            s.played[p, trick] = NO_CARD
    s.contract, s.doubled, s.declarer, s.is_faced, s.trick = NO_BID, 0, ev.NO_PLAYER, 0, 0
    s.leader = s.turn = s.current_player = s.dealer
    ev.log_set(log, table.NO_CONTRACT, ev.NO_PLAYER, table.CONTRACT, 0)
    ev.log_set(log, table.DOUBLES, ev.NO_PLAYER, table.DOUBLED, 0)


@kernel
def _given_auction(s, log):
    """Make all calls: those of the options, or as the natural bidder does (7.1)."""
    while s.phase == AUCTION:
        k = s.num_calls
        if s.rules.auction[0] >= 0:
            call = np.int64(s.rules.auction[k])
        else:
            call = natural_call(s)
            if s.num_passes == 3 and s.contract == NO_BID and call == PASS:
                _open_auction(s, log)
                _call(s, BID_0 + NO_TRUMP, log)
                for _ in range(3):
                    _call(s, PASS, log)
                return
        _call(s, call, log)


# ---------------------------------------------------------------------------------------------------------------
# Legal actions


@kernel(inline=True)
def can_double(s):
    """Whether the player to call may double (3.2)."""
    return s.contract != NO_BID and s.doubled == 0 and (s.bidders[s.contract] ^ s.current_player) & 1


@kernel(inline=True)
def can_redouble(s):
    """Whether the player to call may redouble (3.3)."""
    return s.contract != NO_BID and s.doubled == 1 and (s.doublers[s.contract] ^ s.current_player) & 1


@kernel(inline=True)
def legal_actions(s, out):
    """Calls (3.1 to 3.3), or cards (4.2)."""
    if s.phase == PLAY:
        cards, n = playable(s, np.int64(s.turn)), 0
        while cards:
            out[n] = CARD_0 + lowest_card(cards)
            cards &= cards - 1
            n += 1
        return n
    out[0] = PASS
    n = 1
    if can_double(s):
        out[n] = DOUBLE
        n += 1
    if can_redouble(s):
        out[n] = REDOUBLE
        n += 1
    for bid in range(s.contract + 1, NUM_BIDS):
        out[n] = BID_0 + bid
        n += 1
    return n


@kernel(inline=True)
def explain_illegal(s, action):
    """0 if `action` is legal, else one of the codes of state.py."""
    if (action < CARD_0) != (s.phase == AUCTION):
        return state.AUCTION_IS_ON if s.phase == AUCTION else state.AUCTION_IS_OVER
    if s.phase == PLAY:
        card = action - CARD_0
        if not s.hands[s.turn] >> card & 1:
            return state.NOT_HELD
        return 0 if playable(s, np.int64(s.turn)) >> card & 1 else state.MUST_FOLLOW
    if action == DOUBLE:
        return 0 if can_double(s) else state.NOTHING_TO_DOUBLE
    if action == REDOUBLE:
        return 0 if can_redouble(s) else state.NOTHING_TO_REDOUBLE
    return state.BID_TOO_LOW if BID_0 <= action <= BID_0 + s.contract else 0


@kernel(inline=True)
def apply_action(s, action, log):
    """Make a call, or play a card."""
    if s.phase == AUCTION:
        _call(s, action, log)
    else:
        _play(s, action - CARD_0, log)


# ---------------------------------------------------------------------------------------------------------------
# The auction


@kernel
def _call(s, call, log):
    """The player to act calls; the last pass ends the auction (3)."""
    player = np.int64(s.current_player)
    s.calls[s.num_calls] = call
    s.num_calls += 1
    s.current_player = s.turn = (player + 1) & 3
    if call == PASS:
        s.num_passes += 1
        s.opening_passes += s.contract == NO_BID
        ev.log_note(log, table.CALLS, player, call)
        if s.num_passes == 4 or (s.num_passes == 3 and s.contract != NO_BID):
            _end_auction(s, log)
        return
    s.num_passes = 0
    if call == DOUBLE:
        s.doublers[s.contract] = player
        s.doubled = 1
    elif call == REDOUBLE:
        s.redoublers[s.contract] = player
        s.doubled = 2
    else:
        bid = call - BID_0
        s.contract = bid
        s.doubled = 0
        s.bidders[bid] = player
        if s.named[player & 1, bid % NUM_DENOMINATIONS] == ev.NO_PLAYER:
            s.named[player & 1, bid % NUM_DENOMINATIONS] = player
        ev.log_set(log, table.BIDS, player, table.CONTRACT, bid + 1)
        ev.log_set(log, table.DOUBLES, player, table.DOUBLED, 0)
        return
    ev.log_note(log, table.CALLS, player, call)
    ev.log_set(log, table.DOUBLES, player, table.DOUBLED, s.doubled)


@kernel
def _end_auction(s, log):
    """The play begins with the lead on declarer's left, or the deal is over (3.4, 3.5, 4.1, 7.1)."""
    if s.contract == NO_BID:
        ev.log_note(log, table.PASSED_OUT, ev.NO_PLAYER, 0)
        _end_deal(s, 0, log)
        return
    s.declarer = s.named[s.bidders[s.contract] & 1, s.contract % NUM_DENOMINATIONS]
    ev.log_set(log, table.DECLARES, s.declarer, table.DECLARER, s.declarer + 1)
    s.leader = s.turn = s.current_player = (s.declarer + 1) & 3
    s.phase = PLAY


# ---------------------------------------------------------------------------------------------------------------
# The play


@kernel(inline=True)
def _play(s, card, log):
    """Play a card from the hand whose turn it is; the fourth ends the trick (4)."""
    player, suit = np.int64(s.turn), led_suit(s)
    if suit >= 0 and suit_of(card) != suit:
        s.voids[player] |= 1 << suit
    s.hands[player] ^= 1 << card
    s.played[player, s.trick] = card
    kind = table.LEADS if suit < 0 else table.PLAYS
    ev.log_move(log, kind, player, card, table.HAND + player, table.TRICK + player, ev.EVERYBODY)
    if not s.is_faced:
        _face_dummy(s, log)
    if (player + 1) & 3 == s.leader:
        _end_trick(s, log)
    else:
        _give_turn(s, (player + 1) & 3)


@kernel(inline=True)
def _give_turn(s, player):
    """It is the turn of `player`, for whom declarer decides if it is dummy (4.4)."""
    s.turn = player
    s.current_player = s.declarer if player == dummy_of(s) else player


@kernel(inline=True)
def _face_dummy(s, log):
    """Show all cards of dummy (4.1)."""
    s.is_faced = 1
    dummy = dummy_of(s)
    cards = s.hands[dummy]
    while cards:
        ev.log_event(
            log, table.FACES, dummy, lowest_card(cards), table.HAND + dummy, ev.NO_PLACE, 1, ev.EVERYBODY, ev.EVERYBODY
        )
        cards &= cards - 1


@kernel(inline=True)
def _end_trick(s, log):
    """The winner takes the trick and leads to the next, unless it was the last (4.3)."""
    winner = trick_winner(s)
    s.winners[s.trick] = winner
    s.tricks_won[winner & 1] += 1
    s.trick += 1
    for p in range(NUM_PLAYERS):
        ev.log_event(
            log, table.TAKES, p, ev.UNKNOWN, table.TRICK + p, table.TRICKS + winner, 0, ev.NOBODY, ev.EVERYBODY
        )
    ev.log_note(log, table.WINS_TRICK, winner, s.trick)
    ev.log_set(log, table.HAS_TRICKS, winner & 1, table.SIDE_TRICKS + (winner & 1), s.tricks_won[winner & 1])
    s.leader = winner
    _give_turn(s, winner)
    if s.trick == NUM_TRICKS:
        _end_deal(s, np.int64(s.tricks_won[s.declarer & 1]), log)


# ---------------------------------------------------------------------------------------------------------------
# Scores


@kernel
def _end_deal(s, tricks, log):
    """Score the deal; `tricks` are those of declarer's side (5, 6)."""
    k = s.num_deals - 1
    s.contracts[k], s.declarers[k], s.doubles[k], s.tricks_made[k] = s.contract, s.declarer, s.doubled, tricks
    s.points[k] = 0
    if s.rules.scoring == state.RUBBER:
        _score_rubber(s, tricks, log)
        return
    if s.contract != NO_BID:
        side = s.declarer & 1
        points = duplicate_score(np.int64(s.contract), s.doubled, s.vulnerable >> side & 1, tricks)
        s.points[k] = points if side == 0 else -points
        ev.log_note(log, table.SCORES, s.declarer, points)
    _pay(s, imps(np.int64(s.points[k]) - s.rules.datum) if s.rules.result == state.IMPS else np.int64(s.points[k]))
    s.terminal = 1


@kernel(inline=True)
def _pay(s, amount):
    """North and South get `amount` each, East and West the opposite."""
    for p in range(NUM_PLAYERS):
        s.rewards[p] = -amount if p & 1 else amount


@kernel
def _score_rubber(s, tricks, log):
    """Score a deal of a rubber; then end it or deal again (6)."""
    if s.contract != NO_BID:
        before = np.int64(s.totals[0] - s.totals[1])
        if s.rules.honours:
            _score_honours(s, log)
        side, bid = np.int64(s.declarer) & 1, np.int64(s.contract)
        missing = bid // NUM_DENOMINATIONS + 7 - tricks
        is_vulnerable = s.vulnerable >> side & 1
        if missing > 0:
            _add(s, 1 - side, penalty(missing, s.doubled, is_vulnerable), log)
        else:
            worth = contract_worth(bid, s.doubled)
            s.below[side] += worth
            ev.log_set(log, table.BELOW_LINE, side, table.BELOW + side, s.below[side])
            _add(s, side, worth + above_line(bid, s.doubled, is_vulnerable, tricks), log)
            if s.below[side] >= GAME_POINTS:
                _win_game(s, side, log)
        s.points[s.num_deals - 1] = s.totals[0] - s.totals[1] - before
    if max(s.games[0], s.games[1]) == 2:
        _end_rubber(s)
    elif s.num_deals == s.rules.max_deals:
        _score_unfinished(s, log)
        _end_rubber(s)
    else:
        for p in range(NUM_PLAYERS):
            s.last_played[p] = cards_played(s, p)
        ev.log_clear(log, table.CLEAR_TABLE)
        s.declarer = ev.NO_PLAYER
        ev.log_set(log, table.DECLARES, ev.NO_PLAYER, table.DECLARER, 0)
        _deal_hands(s, np.int64(s.dealer + 1) & 3, NO_DECK, log)


@kernel(inline=True)
def _add(s, side, points, log):
    s.totals[side] += points
    ev.log_set(log, table.HAS_TOTAL, side, table.TOTAL + side, s.totals[side])


@kernel(inline=True)
def _win_game(s, side, log):
    """Both sides begin again below the line; the second game wins the rubber's bonus (6.2, 6.4)."""
    s.games[side] += 1
    s.vulnerable |= 1 << side
    for k in range(NUM_SIDES):
        s.below[k] = 0
        ev.log_set(log, table.BELOW_LINE, k, table.BELOW + k, 0)
    ev.log_set(log, table.WINS_GAME, side, table.GAMES + side, s.games[side])
    if s.games[side] == 2:
        _add(s, side, 500 if s.games[1 - side] else 700, log)


@kernel(inline=True)
def _score_honours(s, log):
    """Four or five of the highest trumps in a hand, or four aces at no-trump (6.5)."""
    trump = trump_suit(s)
    for p in range(NUM_PLAYERS):
        cards = s.hands[p] | cards_played(s, p)
        if trump < 0:
            worth = 150 if cards & _ACES == _ACES else 0
        else:
            number, held = 0, cards >> 13 * trump & _HONOURS
            while held:
                held &= held - 1
                number += 1
            worth = 150 if number == 5 else 100 if number == 4 else 0
        if worth:
            ev.log_note(log, table.HONOURS, p, worth)
            _add(s, p & 1, worth, log)


@kernel(inline=True)
def _score_unfinished(s, log):
    """A game or a part-score that only one side has is worth something (6.7)."""
    for side in range(NUM_SIDES):
        if s.games[side] > s.games[1 - side]:
            _add(s, side, 300, log)
        if s.below[side] > 0 and s.below[1 - side] == 0:
            _add(s, side, s.rules.partscore_bonus, log)


@kernel(inline=True)
def _end_rubber(s):
    """The difference is won (6.6)."""
    s.terminal = 1
    _pay(s, np.int64(s.totals[0] - s.totals[1]))


@kernel
def forfeit(s, player, log):
    """The side of `player` loses the most that a deal can cost (8)."""
    s.active[player] = 0
    ev.log_note(log, table.FORFEITS, player, 0)
    amount = _MOST_IMPS if s.rules.result == state.IMPS else WORST
    lead = np.int64(s.totals[player & 1] - s.totals[1 - (player & 1)])
    amount -= min(lead, 0)
    _pay(s, amount if player & 1 else -amount)
    s.terminal = 1


# ---------------------------------------------------------------------------------------------------------------
# What a player cannot know


@kernel(inline=True)
def sees_hand(s, viewer, player):
    """Whether the hand of `player` is known to `viewer`: the own one, and dummy's once it is faced."""
    return viewer == player or (s.is_faced and player == dummy_of(s))


@kernel
def hidden_cards(s, player):
    """Return the cards that `player` does not see, as a bit set."""
    hidden = np.int64(0)
    for p in range(NUM_PLAYERS):
        if not sees_hand(s, player, p):
            hidden |= s.hands[p]
    return hidden


@kernel
def determinize(s, player, seed):
    """Re-deal the hidden hands; none gets a suit that its owner has shown not to hold."""
    s.seed = seed
    start_stream(s, DETERMINIZE, 0)
    hidden = hidden_cards(s, player)
    room, voids, left = np.int64(0), np.int64(0), np.int64(0)
    number = 0
    rest = hidden
    while rest:
        card = np.int64(lowest_card(rest))
        rest &= rest - 1
        s.dealt[number] = card
        left += packed(1, suit_of(card))
        number += 1
    for p in range(NUM_PLAYERS):
        if not sees_hand(s, player, p):
            size, hand = 0, s.hands[p]
            while hand:
                hand &= hand - 1
                size += 1
            room += packed(size, p)
            s.hands[p] = 0
        voids += packed(s.voids[p], p)
    if voids:  # without voids, every order of dealing is as good
        shuffle(s, s.dealt, 0, number)
    for k in range(number):
        card = np.int64(s.dealt[k])
        place = choose_place(s, card, room, left, voids, NUM_PLAYERS)
        room -= packed(1, place)
        left -= packed(1, suit_of(card))
        s.hands[place] |= np.int64(1) << card
        s.dealt[k] = NO_CARD


# ---------------------------------------------------------------------------------------------------------------
# Spaces


def num_actions(options):
    """The calls, then the cards."""
    return NUM_ACTIONS


def max_legal(options):
    """Pass, double and all bids."""
    return NUM_CALLS - 1


def max_length(options):
    """The longest auction and all cards, in the most deals."""
    most = NUM_CARDS if options.phase == "play" else state.MAX_CALLS + NUM_CARDS
    return most * (options.max_deals if options.scoring == "rubber" else 1)


def returns(options):
    """The points of a deal, or those of a rubber: penalties, honours, slams and its bonus."""
    if options.result == "imps":
        return Returns(-_MOST_IMPS, _MOST_IMPS, 0, "imps")
    most = WORST if options.scoring == "duplicate" else (WORST + 300) * (options.max_deals + 1) + 700
    return Returns(-most, most, 0, "points")
