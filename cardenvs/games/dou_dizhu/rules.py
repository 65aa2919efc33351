"""Rules of Dou Dizhu. Paragraph numbers are those of rules.md. Plays are in plays.py."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.codes import NO_DECK
from cardenvs.core.events import NO_PLAYER
from cardenvs.core.kernel import kernel
from cardenvs.core.record import packed
from cardenvs.core.returns import Returns
from cardenvs.core.rng import DEAL, random_below, shuffle_rest, start_stream
from cardenvs.core.scratch import stack_record
from cardenvs.core.seats import wrap
from cardenvs.games.dou_dizhu import state, table
from cardenvs.games.dou_dizhu.cards import (
    COPIES,
    DECK_SIZE,
    EXTRA_SIZE,
    HAND_SIZE,
    NUM_RANKS,
    contains,
    count_cards,
    count_of,
    one_of,
    without,
)
from cardenvs.games.dou_dizhu.plays import (
    BID_0,
    BOMB,
    NUM_BIDS,
    NUM_IDS,
    NUM_USUAL,
    PASS,
    ROCKET_KIND,
    beats,
    cards_of_play,
    is_allowed_play,
    kind_of,
    list_answers,
    list_leads,
    needs_allowed,
)
from cardenvs.games.dou_dizhu.state import AUCTION, MAX_DEALS, NO_CARD, NO_PLAY, NUM_PLAYERS, PLAY
from cardenvs.kits.matches import leave, pay_stake

_FIRST = 1  # chance source: the marked card, or the first bidder
MOST_DOUBLINGS = 13  # by bombs and rockets (6.4)

# What explain_illegal returns
BIDS_COME_FIRST, BIDS_ARE_OVER, TOO_LOW, NOT_IN_GAME, NOT_HELD, MUST_LEAD, TOO_WEAK = range(1, 8)

_DECK = packed([("cards", "i1", (DECK_SIZE,))])
_new_deck = stack_record(_DECK)


# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def deal(s, given, log):
    """Deal for the first time (2.2)."""
    ev.log_create(log, table.NEW_DECK, table.DECK, DECK_SIZE)
    _deal_cards(s, given, log)


@kernel
def _deal_cards(s, given, log):
    """Deal, and begin the auction, or the play if there is none (2.2, 2.3, 3.1)."""
    deck = _new_deck()
    place = 0
    for rank in range(NUM_RANKS):
        for _ in range(COPIES[rank]):
            deck.cards[place] = rank
            place += 1
    start_stream(s, DEAL, s.num_deals)
    shuffle_rest(s, deck.cards, DECK_SIZE, given)
    for p in range(NUM_PLAYERS):
        s.hands[p] = s.known[p] = 0
        for k in range(HAND_SIZE):
            rank = np.int64(deck.cards[p * HAND_SIZE + k])
            s.hands[p] += one_of(rank)
            ev.log_move(log, table.DEALT, p, rank, table.DECK, table.HAND + p, 1 << p)
        s.hand_sizes[p] = HAND_SIZE
        s.on_table[p] = NO_PLAY
    s.extra = 0
    for k in range(DECK_SIZE - EXTRA_SIZE, DECK_SIZE):
        s.extra += one_of(np.int64(deck.cards[k]))
        ev.log_move(log, table.IS_LEFT, ev.NO_PLAYER, deck.cards[k], table.DECK, table.EXTRA, ev.NOBODY)
    s.num_deals += 1
    s.to_beat, s.author, s.landlord, s.face_up, s.face_holder = NO_PLAY, NO_PLAYER, NO_PLAYER, NO_CARD, NO_PLAYER
    _begin_auction(s, log)
    if s.rules.bidding == state.NO_AUCTION:
        s.bid = 1
        _become_landlord(s, 0, log)
    else:
        s.current_player = _first_bidder(s, deck, log)


@kernel(inline=True)
def _begin_auction(s, log):
    s.phase, s.bid, s.bidder, s.num_passes = AUCTION, 0, NO_PLAYER, 0
    for p in range(NUM_PLAYERS):
        s.bids[p] = state.NO_BID
        ev.log_set(log, table.NO_BIDS, p, table.BID + p, 0)
    ev.log_set(log, table.NO_LANDLORD, ev.NO_PLAYER, table.LANDLORD, NO_PLAYER)


@kernel
def _first_bidder(s, deck, log):
    """Return who bids first; that may be who was dealt the card turned up, which all see (2.3)."""
    start_stream(s, _FIRST, s.num_deals)
    if s.rules.first_bidder == state.RANDOM:
        return random_below(s.rng, NUM_PLAYERS)
    if s.rules.first_bidder != state.FACE_UP:
        return np.int64(0)
    place = random_below(s.rng, NUM_PLAYERS * HAND_SIZE)
    holder = place // HAND_SIZE
    s.face_up, s.face_holder = deck.cards[place], holder
    s.known[holder] = one_of(np.int64(s.face_up))
    ev.log_reveal(log, table.FACE_UP, holder, s.face_up, table.HAND + holder, 1, ev.EVERYBODY)
    return holder


# ---------------------------------------------------------------------------------------------------------------
# What is legal, and why not


@kernel
def legal_actions(s, out):
    """List words of the auction, or pass and plays (3.2, 5.1, 5.2)."""
    if s.phase == AUCTION:
        out[0] = PASS
        n = 1
        for bid in range(s.bid + 1, NUM_BIDS + 1):
            out[n] = BID_0 + bid
            n += 1
        return n
    hand, allowed = s.hands[s.current_player], needs_allowed(s.rules)
    if s.to_beat == NO_PLAY:
        return list_leads(hand, allowed, out)
    return list_answers(hand, np.int64(s.to_beat), allowed, out)


@kernel
def explain_illegal(s, action):
    """Return 0 if `action` is legal, else one of the codes above."""
    is_bid = BID_0 < action <= BID_0 + NUM_BIDS
    if s.phase == AUCTION:
        if not is_bid:
            return 0 if action == PASS else BIDS_COME_FIRST
        return 0 if action - BID_0 > s.bid else TOO_LOW
    if is_bid:
        return BIDS_ARE_OVER
    if action == PASS:
        return MUST_LEAD if s.to_beat == NO_PLAY else 0
    if not is_allowed_play(action, needs_allowed(s.rules)):
        return NOT_IN_GAME
    if not contains(s.hands[s.current_player], cards_of_play(action)):
        return NOT_HELD
    return 0 if s.to_beat == NO_PLAY or beats(action, s.to_beat) else TOO_WEAK


# ---------------------------------------------------------------------------------------------------------------
# The auction


@kernel
def apply_action(s, action, log):
    """Bid, play or pass."""
    if s.phase == AUCTION:
        _speak(s, np.int64(s.current_player), action, log)
    elif action == PASS:
        _pass(s, np.int64(s.current_player), log)
    else:
        _play(s, np.int64(s.current_player), action, log)


@kernel
def _speak(s, player, action, log):
    """Bid or pass; the auction may end with a landlord, or because all have passed (3.3 to 3.6)."""
    if action == PASS:
        s.bids[player] = state.PASSED
        s.num_passes += 1
        ev.log_set(log, table.PASSES_BID, player, table.BID + player, 1)
    else:
        s.bid = action - BID_0
        s.bids[player], s.bidder, s.num_passes = s.bid, player, 0
        ev.log_set(log, table.BIDS, player, table.BID + player, s.bid + 1)
    if s.bid == NUM_BIDS or (s.bid and _is_over(s, player)):
        _become_landlord(s, np.int64(s.bidder), log)
    elif s.num_passes == NUM_PLAYERS:
        _all_pass(s, log)
    else:
        s.current_player = wrap(player + 1, NUM_PLAYERS)


@kernel(inline=True)
def _is_over(s, player):
    """Return whether nobody may speak again after `player`, and there is a bid (3.3, 3.4)."""
    return s.num_passes == NUM_PLAYERS - 1 or (
        not s.rules.rebid and s.bids[wrap(player + 1, NUM_PLAYERS)] != state.NO_BID
    )


@kernel
def _become_landlord(s, player, log):
    """Give the cards left over, which all see, to the landlord, who leads (3.5)."""
    s.phase, s.landlord, s.num_passes = PLAY, player, 0
    ev.log_set(log, table.IS_LANDLORD, player, table.LANDLORD, player)
    for rank in range(NUM_RANKS):
        for _ in range(count_of(s.extra, rank)):
            ev.log_move(log, table.TAKES, player, rank, table.EXTRA, table.HAND + player, ev.EVERYBODY)
    s.hands[player] += s.extra
    s.known[player] += s.extra
    s.hand_sizes[player] += EXTRA_SIZE
    s.current_player = player


@kernel
def _all_pass(s, log):
    """Deal again, or end the game without a winner (3.6)."""
    ev.log_note(log, table.ALL_PASS, ev.NO_PLAYER, 0)
    if s.rules.all_pass == state.ZERO or s.num_deals == MAX_DEALS:
        s.terminal = 1
        return
    for p in range(NUM_PLAYERS):
        ev.log_move_all(log, table.GATHERS, ev.NO_PLAYER, table.HAND + p, table.DECK)
    ev.log_move_all(log, table.GATHERS, ev.NO_PLAYER, table.EXTRA, table.DECK)
    ev.log_shuffle(log, table.SHUFFLES, table.DECK)
    _deal_cards(s, NO_DECK, log)


# ---------------------------------------------------------------------------------------------------------------
# The play


@kernel
def _pass(s, player, log):
    """Pass; when two in a row have, the author of the last play leads again (5.3)."""
    s.passed[player] = 1
    s.num_passes += 1
    ev.log_note(log, table.PASSES, player, 0)
    if s.num_passes < NUM_PLAYERS - 1:
        s.current_player = wrap(player + 1, NUM_PLAYERS)
        return
    s.current_player = s.author
    ev.log_note(log, table.WINS_TRICK, s.author, 0)
    s.num_passes = 0
    s.to_beat, s.author = NO_PLAY, NO_PLAYER
    for p in range(NUM_PLAYERS):
        _lay_by(s, p, log)
        s.passed[p] = 0


@kernel(inline=True)
def _lay_by(s, player, log):
    """Move the last play of `player` from the middle of the table to what was played before."""
    if s.on_table[player] != NO_PLAY:
        s.on_table[player] = NO_PLAY
        ev.log_move_all(log, table.LAYS_BY, player, table.ON_TABLE + player, table.PLAYED + player)


@kernel
def _play(s, player, action, log):
    """Play cards; the first player without any ends the game (5.2, 5.4)."""
    _lay_by(s, player, log)
    cards = cards_of_play(action)
    if log.shape[0]:
        _log_play(log, player, action, cards)
    s.hands[player] -= cards
    s.played[player] += cards
    s.known[player] = without(s.known[player], cards)
    s.hand_sizes[player] -= count_cards(cards)
    s.num_plays[player] += 1
    s.on_table[player], s.passed[player] = action, 0
    s.to_beat, s.author, s.num_passes = action, player, 0
    kind = kind_of(action)
    if kind in (BOMB, ROCKET_KIND):
        s.doublings += 1
        ev.log_set(log, table.DOUBLES, player, table.DOUBLINGS, s.doublings)
    if s.hand_sizes[player] == 0:
        _end_game(s, player, log)
    else:
        s.current_player = wrap(player + 1, NUM_PLAYERS)


@kernel
def _log_play(log, player, action, cards):
    """Log a play and the move of each of its cards."""
    ev.log_note(log, table.PLAYS, player, action)
    hand, target = table.HAND + player, table.ON_TABLE + player
    for rank in range(NUM_RANKS):
        for _ in range(count_of(cards, rank)):
            ev.log_move(log, table.LAYS_CARD, player, rank, hand, target, ev.EVERYBODY)


# ---------------------------------------------------------------------------------------------------------------
# The end


@kernel(inline=True)
def is_spring(s, winner):
    """Return whether the side of `winner` has won before the other one could play, but for a first lead (6.2)."""
    if winner != s.landlord:
        return s.num_plays[s.landlord] == 1
    return s.num_plays[0] + s.num_plays[1] + s.num_plays[2] == s.num_plays[winner]


@kernel
def _end_game(s, winner, log):
    """Pay each peasant's stake, which the landlord wins or loses twice, or 1 (6)."""
    doublings = np.int64(s.doublings) if s.rules.bomb_doubles else np.int64(0)
    if s.rules.spring_doubles and is_spring(s, winner):
        doublings += 1
        ev.log_note(log, table.SPRING, winner, 0)
    stake = np.int64(s.bid) << doublings
    ev.log_note(log, table.GOES_OUT, winner, stake)
    for p in range(NUM_PLAYERS):
        has_won = (p == s.landlord) == (winner == s.landlord)
        if s.rules.returns == state.BY_POINTS:
            amount = 2 * stake if p == s.landlord else stake
            s.rewards[p] = amount if has_won else -amount
        else:
            s.rewards[p] = 1 if has_won else _loss(s.rules)
    s.terminal = 1


@kernel
def forfeit(s, player, log):
    """End the game: `player` loses the most that a game can still cost (7.1)."""
    leave(s, player, table.FORFEITS, log)
    is_peasant = s.phase == PLAY and player != s.landlord
    if s.rules.returns == state.BY_POINTS:
        bid = np.int64(s.bid if s.phase == PLAY else NUM_BIDS)
        pay_stake(s, player, np.float64(_most_lost(s.rules.bomb_doubles, bid, 0 if is_peasant else 1)), NUM_PLAYERS)
    else:
        for p in range(NUM_PLAYERS):
            has_lost = p == player or (is_peasant and p != s.landlord)
            s.rewards[p] = _loss(s.rules) if has_lost else 1
    s.terminal = 1


@kernel(inline=True)
def _loss(rules):
    """Return what losing costs if the stake is not paid (6.3)."""
    return -1 if rules.returns == state.BY_WIN else 0


# ---------------------------------------------------------------------------------------------------------------
# Spaces


def most_lost(bomb_doubles, bid, is_landlord):
    """Return the most points that a player can lose with a bid (6.4)."""
    return bid << (MOST_DOUBLINGS if bomb_doubles else 1) + is_landlord


_most_lost = kernel(inline=True)(most_lost)


max_legal = 521  # plays of the hand 3456789TJJJQQQKKKAAA; no other one has more, with any options


def num_actions(options):
    """Return the number of ids: more than the usual ones if options allow more plays."""
    return NUM_IDS if options.rocket_kicker or options.ambiguous_kickers else NUM_USUAL


def max_length(options):
    """Return a bound on the decisions.

    In an auction there are at most two passes before, between and after three bids, and three passes in each of those
    before it. In the play, the winner takes out the last of at most 52 plays, each followed by at most two passes.
    """
    auctions = 0 if options.bidding == "none" else NUM_PLAYERS * (MAX_DEALS - 1) + 7
    return auctions + NUM_PLAYERS * (DECK_SIZE - 2)


def returns(options):
    """Return the bounds: the most that a landlord can win or lose, or a win and a loss (6.3, 6.4)."""
    if options.returns == "points":
        most = most_lost(options.bomb_doubles, NUM_BIDS if options.bidding == "points" else 1, True)
        return Returns(-most, most, 0, "points")
    loss = -1 if options.returns == "win_loss" else 0
    return Returns(loss, 1, None, "wins", meaning=f"1 for a win, {loss} for a loss")
