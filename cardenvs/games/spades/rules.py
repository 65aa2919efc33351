"""Rules of Spades. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.codes import NO_DECK
from cardenvs.core.kernel import kernel
from cardenvs.core.options import NONE
from cardenvs.core.returns import Returns, win_or_loss
from cardenvs.core.rng import DEAL, shuffle_rest, start_stream
from cardenvs.core.seats import wrap
from cardenvs.games.spades import state
from cardenvs.games.spades.state import (
    ASKED,
    BID_0,
    BIDDING,
    BIDS,
    BLIND,
    BLIND_NIL,
    CLUBS,
    EXCHANGE,
    HAND_SIZE,
    LOOK,
    NUM_PLAYERS,
    PACK,
    PLAY,
    SPADE,
    SPADES,
    TRICKS,
    count_sides,
    num_sides,
    partner_of,
    side_of,
    waits,
)
from cardenvs.kits.bids import NO_BID
from cardenvs.kits.cards import NUM_CARDS, count_bits
from cardenvs.kits.deck import NO_CARD, put_in_order
from cardenvs.kits.listing import list_bits
from cardenvs.kits.matches import NO_SIDE, best_side, leave, pay_scores, pay_stake, pay_winner
from cardenvs.kits.trick_deals import take_trick
from cardenvs.kits.tricks import clear_tricks

_suit_of = PACK.suit_of
_following, _explain_following, _take_turn, _gather = TRICKS.playable, TRICKS.explain, TRICKS.take_turn, TRICKS.gather
_led_suit, _clear_bids, _bid, _count_trick = TRICKS.led_suit, BIDS.clear, BIDS.take_turn, BIDS.win_trick


# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def deal(s, given, log):
    """Deal the first hand (2.1)."""
    s.dealer = s.rules.dealer
    _begin_hand(s, given, log)


@kernel
def _begin_hand(s, given, log):
    """Shuffle, and deal to all who need not decide first whether to bid blind nil (2.2, 3.4)."""
    put_in_order(s.deck, NUM_CARDS)
    start_stream(s, DEAL, s.num_deals)
    shuffle_rest(s, s.deck, NUM_CARDS, given)
    s.num_deals += 1
    ev.log_set(log, state.NEW_HAND, ev.NO_PLAYER, state.HAND_NUMBER, s.num_deals)
    ev.log_set(log, state.DEALS, s.dealer, state.DEALER, s.dealer)
    ev.log_create(log, state.SHUFFLE, state.DECK, NUM_CARDS)
    clear_tricks(s)
    _clear_bids(s, log)
    s.is_broken = 0
    for p in range(NUM_PLAYERS):
        s.given[p] = s.blind[p] = 0
        ev.log_set(log, state.NOT_BLIND, p, state.IS_BLIND + p, 0)
        if not _is_far_behind(s, p):
            _deal_to(s, p, log)
    s.leader = s.current_player = wrap(s.dealer + 1, NUM_PLAYERS)
    _ask_for_bid(s)


@kernel
def _is_far_behind(s, player):
    """Return whether a player may bid blind nil, by the points of the match (3.4)."""
    own, best = side_of(s, player), np.int64(NONE)
    for side in range(num_sides(s)):
        if side != own and (best == NONE or s.scores[side] > s.scores[best]):
            best = side
    return s.rules.blind_nil != 0 and s.scores[best] - s.scores[own] >= s.rules.blind_deficit


@kernel
def _deal_to(s, player, log):
    """Give a player the cards that lie ready (2.2)."""
    for k in range(HAND_SIZE * player, HAND_SIZE * (player + 1)):
        card = np.int64(s.deck[k])
        s.deck[k] = NO_CARD
        s.hands[player] |= np.int64(1) << card
        ev.log_move(log, state.DEALT, player, card, state.DECK, state.HAND + player, 1 << player)


# ---------------------------------------------------------------------------------------------------------------
# Actions


@kernel(inline=True)
def legal_actions(s, out):
    """List the ids that are allowed."""
    player = np.int64(s.current_player)
    if s.phase == PLAY:
        return list_bits(_playable(s, player), 0, out, 0)
    if s.phase == EXCHANGE:
        return list_bits(s.hands[player], 0, out, 0)
    lowest, highest = bid_bounds(s)
    if s.phase == BIDDING:
        return list_bits((np.int64(2) << highest) - (np.int64(1) << lowest), BID_0, out, 0)
    n = 0
    if lowest == 0:
        out[n] = BLIND_NIL
        n += 1
    out[n] = LOOK
    return n + 1


@kernel(inline=True)
def bid_bounds(s):
    """Return the lowest and the highest bid of the player to act (3.2, 3.3)."""
    lowest = 0 if s.rules.nil else 1
    most = np.int64(2 * HAND_SIZE if s.rules.max_team_bid == NONE else s.rules.max_team_bid)
    least = np.int64(s.rules.min_team_bid)
    if s.rules.partners:
        bid = np.int64(s.bids[partner_of(s.current_player)])
        if bid == NO_BID:
            return lowest, min(most - lowest, HAND_SIZE)
        most, least = most - bid, least - bid
    return max(least, lowest), min(most, HAND_SIZE)


@kernel(inline=True)
def _playable(s, player):
    """Return the cards that `player` may play, as a bit set (4.1 to 4.4)."""
    cards = _following(s, player)
    if _led_suit(s) < 0:
        others = cards & ~SPADES
        return others if others and _is_closed(s) else cards
    return _opening(cards) if state.called_suit(s) >= 0 else cards


@kernel(inline=True)
def _is_closed(s):
    """Return whether spades may be led only by who holds nothing else (4.3)."""
    return s.rules.break_spades == state.NEVER or (s.rules.break_spades == state.STANDARD and not s.is_broken)


@kernel(inline=True)
def _opening(cards):
    """Return the lowest club, or without clubs the other cards but spades, if there are any (4.4)."""
    if cards & CLUBS:
        return cards & -cards
    return cards & ~SPADES if cards & ~SPADES else cards


@kernel(inline=True)
def explain_illegal(s, action):
    """Return 0 if `action` is legal, else one of the codes of state.py."""
    player, is_card = np.int64(s.current_player), action < BID_0
    if is_card != (s.phase >= EXCHANGE) or (action >= BLIND_NIL) != (s.phase == BLIND):
        return ASKED + s.phase
    if not is_card:
        return _explain_bid(s, action)
    code = _explain_following(s, player, action)
    if s.phase == EXCHANGE:
        return 0 if s.hands[player] >> action & 1 else code
    if code or _playable(s, player) >> action & 1:
        return code
    if _led_suit(s) < 0:
        return state.NEVER_LED if s.rules.break_spades == state.NEVER else state.NOT_BROKEN
    return state.NO_FIRST_SPADE if _suit_of(action) == SPADE else state.LOWEST_CLUB


@kernel(inline=True)
def _explain_bid(s, action):
    lowest, highest = bid_bounds(s)
    bid = action - BID_0
    if action >= BLIND_NIL:
        bid = 0 if action == BLIND_NIL else lowest
    if bid < lowest:
        return state.TOO_LOW if s.rules.nil or bid else state.NO_NIL
    return state.TOO_HIGH if bid > highest else 0


@kernel
def apply_action(s, action, log):
    """Look or bid, give a card, or play one."""
    player = np.int64(s.current_player)
    if s.phase == PLAY:
        _play(s, player, action, log)
    elif s.phase == EXCHANGE:
        _give(s, player, action, log)
    elif action == LOOK:
        ev.log_note(log, state.LOOKS, player, 0)
        _deal_to(s, player, log)
        s.phase = BIDDING
    elif action == BLIND_NIL:
        s.blind[player] = 1
        ev.log_set(log, state.BIDS_BLIND, player, state.IS_BLIND + player, 1)
        _deal_to(s, player, log)
        _make_bid(s, 0, log)
    else:
        _make_bid(s, action - BID_0, log)


# ---------------------------------------------------------------------------------------------------------------
# Bids and cards exchanged


@kernel
def _make_bid(s, tricks, log):
    """The player to act bids; when all have bid, cards are exchanged, or the play begins (3.1, 3.5)."""
    if _bid(s, tricks, log):
        _next_exchange(s)
    else:
        _ask_for_bid(s)


@kernel(inline=True)
def _ask_for_bid(s):
    s.phase = BLIND if waits(s, s.current_player) else BIDDING


@kernel
def _next_exchange(s):
    """Let the next player after blind nil give cards, or begin the play (3.5, 4.1)."""
    s.phase, s.current_player = PLAY, s.leader
    for seat in range(NUM_PLAYERS):
        p = wrap(np.int64(s.leader) + seat, NUM_PLAYERS)
        if s.phase == PLAY and s.rules.blind_nil_pass and s.blind[p] and not s.blind[partner_of(p)] and not s.given[p]:
            s.phase, s.current_player = EXCHANGE, p


@kernel(inline=True)
def _give(s, player, card, log):
    """Give a card to the partner, who sees it; the partner gives as many back once they have all (3.5)."""
    partner = partner_of(player)
    s.hands[player] ^= np.int64(1) << card
    s.hands[partner] |= np.int64(1) << card
    s.given[player] |= np.int64(1) << card
    seen = 1 << player | 1 << partner
    ev.log_move(log, state.GIVES, player, card, state.HAND + player, state.HAND + partner, seen)
    if count_bits(s.given[player]) == s.rules.blind_nil_pass:
        if s.blind[player]:
            s.current_player = partner
        else:
            _next_exchange(s)


# ---------------------------------------------------------------------------------------------------------------
# Play


@kernel
def _play(s, player, card, log):
    """Play a card; the last one of a trick goes to the winner with the others (4.1, 4.2)."""
    is_spade = _suit_of(card) == SPADE
    if is_spade and (state.called_suit(s) >= 0 or (_led_suit(s) < 0 and _is_closed(s))):
        s.voids[player] |= state.OTHER_SUITS  # as they hold nothing else (7.3)
    winner = _take_turn(s, card, log)
    if is_spade and not s.is_broken:
        s.is_broken = 1
        ev.log_note(log, state.BROKEN, player, 0)
    if winner != ev.NO_PLAYER:
        take_trick(s, winner)
        _gather(s, winner, log)
        _count_trick(s, winner, log)
        if s.trick == HAND_SIZE:
            end_hand(s, log)


# ---------------------------------------------------------------------------------------------------------------
# Score


@kernel
def end_hand(s, log):
    """Score the hand; then the game ends, or the next player deals (5, 6)."""
    sides = num_sides(s)
    for side in range(sides):
        score_side(s, side, log)
    if s.rules.target == NONE:
        pay_scores(s, 1, sides)
        return
    _end_match(s, log)
    if s.terminal:
        return
    for p in range(NUM_PLAYERS):
        s.last_won[p], s.won[p] = s.won[p], 0
    s.dealer = wrap(s.dealer + 1, NUM_PLAYERS)
    ev.log_clear(log, state.CLEAR_TABLE)
    _begin_hand(s, NO_DECK, log)


@kernel
def score_side(s, side, log):
    """Add the points and bags of a hand to those of a side (5.5, 5.6)."""
    points, bags = hand_score(s, side)
    bags += s.bags[side]
    points -= s.rules.bag_penalty * (bags // s.rules.bag_limit)
    s.bags[side] = bags % s.rules.bag_limit
    s.scores[side] += points
    is_side = s.rules.partners
    ev.log_note(log, state.HAND_POINTS + is_side, side, points)
    ev.log_set(log, state.HAS_BAGS + is_side, side, state.BAGS + side, s.bags[side])
    ev.log_set(log, state.SCORES + is_side, side, state.SCORE + side, s.scores[side])


@kernel
def hand_score(s, side):
    """Return the points of a side in the hand that is over, before penalties, and its bags (5.1 to 5.4)."""
    contract = tricks = bags = points = np.int64(0)
    for p in range(side, NUM_PLAYERS, num_sides(s)):
        won = np.int64(s.tricks_won[p])
        contract += s.bids[p]
        if s.bids[p] == 0:
            value = s.rules.blind_nil_points if s.blind[p] else s.rules.nil_points
            points += -value if won else value
        if s.bids[p] or s.rules.failed_nil == state.COUNT:
            tricks += won
        else:
            bags += won
    if tricks < contract:
        points -= 10 * contract
    else:
        points += 10 * contract
        bags += tricks - contract
    return points + s.rules.bag_points * bags, bags


@kernel
def _end_match(s, log):
    """End the match if a side has reached the target, or fallen too low, and another is not level with it (6)."""
    sides, is_over = num_sides(s), s.num_deals == state.MAX_HANDS
    for side in range(sides):
        if s.scores[side] >= s.rules.target or (s.rules.lose_at != NONE and s.scores[side] <= s.rules.lose_at):
            is_over = True
    winner = best_side(s, 1, sides)
    if is_over and winner != NO_SIDE:
        ev.log_note(log, state.WINS + s.rules.partners, winner, 0)
        pay_winner(s, winner, sides)
    elif s.num_deals == state.MAX_HANDS:
        ev.log_note(log, state.DRAWN, ev.NO_PLAYER, s.num_deals)
        s.terminal = 1


@kernel
def forfeit(s, player, log):
    """The side of `player` loses the match, or the most that a hand can cost (6.5)."""
    leave(s, player, state.FORFEITS, log)
    sides = num_sides(s)
    stake = _most_lost(s.rules) if s.rules.target == NONE else 1 / (sides - 1)
    pay_stake(s, side_of(s, player), stake, sides)


# ---------------------------------------------------------------------------------------------------------------
# Spaces

max_legal = HAND_SIZE + 4  # of a player who has been given cards


def num_actions(options):
    """Return the number of ids: cards, bids, and the two answers before a player looks."""
    return LOOK + 1 if options.blind_nil else BLIND_NIL


def max_length(options):
    """Return the most decisions: bids, each after a look; exchanges of both sides; and cards, in all hands."""
    hand = NUM_PLAYERS * (1 + options.blind_nil + options.blind_nil_pass + HAND_SIZE)
    return hand * (1 if options.target is None else state.MAX_HANDS)


def most_lost(rules):
    """Return a bound on how far sides can be apart after a hand; `rules` are options or those of a record (6.5).

    It is what the best bids bring, and the highest cost, with the penalties for as many bags as there are tricks.
    """
    nil = max(rules.nil_points if rules.nil else 0, rules.blind_nil_points if rules.blind_nil else 0)
    highest = rules.max_team_bid if (rules.max_team_bid or NONE) != NONE else 2 * HAND_SIZE
    gain, loss = 10 * HAND_SIZE, 10 * min(highest, HAND_SIZE)  # of one player's contract; a bag is worth no more
    penalties = rules.bag_penalty * (HAND_SIZE // rules.bag_limit)
    if rules.partners:
        return max(gain, nil) + nil + max(10 * highest, max(loss, nil) + nil) + penalties
    return max(gain, nil) + max(loss, nil) + penalties


_most_lost = kernel(most_lost, inline=True)


def returns(options):
    """Return the bounds: the points of a hand, or a match won or lost (6.1, 6.3)."""
    if options.target is not None:
        return win_or_loss(count_sides(options))
    most = most_lost(options)
    return Returns(-most, most, 0, "points")
