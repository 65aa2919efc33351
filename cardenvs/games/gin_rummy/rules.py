"""Rules of gin rummy. Paragraph numbers are those of rules.md; the effects of a move are in effects.py."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.cards import NUM_CARDS, count_bits, lowest_card
from cardenvs.core.kernel import kernel
from cardenvs.core.options import NONE
from cardenvs.core.rng import DEAL, DETERMINIZE, canonical_shuffle, random_below, shuffle, shuffle_rest, start_stream
from cardenvs.games.gin_rummy import actions, effects, melds, state, table

ALL_CARDS = (1 << NUM_CARDS) - 1

# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def deal(s, given, log):
    """Deal the first hand; player 1 is the dealer (2.1, 2.2)."""
    effects.announce_hand(s, 1, log)
    _new_deck(s)
    shuffle_rest(s, s.deck, NUM_CARDS, given)
    _deal_hand(s, log)


@kernel
def _deal_next_hand(s, dealer, log):
    """Deal the next hand of a match (6.1)."""
    s.hand_number += 1
    effects.gather_cards(s, log)
    effects.announce_hand(s, dealer, log)
    _new_deck(s)
    shuffle(s, s.deck, 0, NUM_CARDS)
    _deal_hand(s, log)


@kernel
def _new_deck(s):
    """Put the cards in order; each hand of a match is shuffled from a substream of its own."""
    for card in range(NUM_CARDS):
        s.deck[card] = card
    start_stream(s, DEAL, np.int64(s.hand_number))


@kernel
def _deal_hand(s, log):
    """Deal the shuffled deck, set the terms of the hand, and offer the upcard (2.1 to 2.4, 3.1)."""
    effects.deal_cards(s, log)
    upcard = np.int64(s.discard_pile[0])
    value = min(upcard % melds.NUM_RANKS + 1, melds.MAX_CARD_POINTS)
    limit = np.int64(s.rules.knock_max)
    if s.rules.oklahoma:
        limit = value if value > 1 else 0
    doubled = 1 if s.rules.oklahoma_spade_double and upcard < melds.NUM_RANKS else 0
    effects.set_terms(s, limit, doubled, log)
    s.knocker = ev.NO_PLAYER
    s.is_big_gin = 0
    s.taken = state.NO_CARD
    s.num_passes = 0
    s.num_upcard_draws = 0
    s.phase = state.FIRST_UPCARD
    s.current_player = 1 - s.dealer


# ---------------------------------------------------------------------------------------------------------------
# What is legal


@kernel
def legal_actions(s, out):
    """List the actions that the rules allow the player to act, ascending (3, 4)."""
    if s.phase == state.DISCARD:
        return _legal_discard(s, out)
    if s.phase == state.DRAW:
        return _legal_draw(s, out)
    if s.phase == state.FIRST_UPCARD:
        out[0] = actions.TAKE_UPCARD
        out[1] = actions.PASS
        return 2
    if s.phase == state.WALL:
        return _legal_wall(s, out)
    return _legal_layoff(s, out)


@kernel
def _legal_draw(s, out):
    """The top of the discard pile, unless both have just refused it, or the stock (3.2, 3.3)."""
    if s.num_passes == state.NUM_PLAYERS:
        out[0] = actions.DRAW_STOCK
        return 1
    out[0] = actions.TAKE_UPCARD
    out[1] = actions.DRAW_STOCK
    return 2


@kernel
def _legal_discard(s, out):
    """A discard, a knock or big gin (3.3, 4.1, 4.3)."""
    cards = s.hands[s.current_player] & ~forbidden_discard(s)
    return _list_knocks(s, out, list_cards(cards, 0, out, 0))


@kernel
def _legal_wall(s, out):
    """Pass, or knock with the last discard (3.8)."""
    out[0] = actions.PASS
    return _list_knocks(s, out, 1)


@kernel
def _list_knocks(s, out, n):
    hand = knocking_hand(s)
    n = list_cards(melds.knock_discards(hand, np.int64(s.knock_limit), forbidden_discard(s)), actions.KNOCK_0, out, n)
    if s.rules.big_gin and melds.min_deadwood(hand) == 0:
        out[n] = actions.BIG_GIN
        n += 1
    return n


@kernel
def _legal_layoff(s, out):
    """A card of the defender's that fits on one of the knocker's melds, or done (4.8)."""
    n = list_cards(_fitting_cards(s, False), actions.LAY_OFF_ON_RUN_0, out, 0)
    n = list_cards(_fitting_cards(s, True), actions.LAY_OFF_ON_SET_0, out, n)
    out[n] = actions.DONE
    return n + 1


@kernel
def list_cards(cards, first_id, out, n):
    """Write first_id + c for each card c of a bit set, ascending, to `out` from place `n`; return the next place."""
    while cards:
        out[n] = first_id + lowest_card(cards)
        cards &= cards - 1
        n += 1
    return n


@kernel
def forbidden_discard(s):
    """The card, as a bit set, that may not be discarded because it was taken in this turn (3.4), or none."""
    if s.rules.same_card_discard:
        return 0
    if s.phase == state.WALL:
        return 1 << top_discard(s)
    return 1 << s.taken if s.taken != state.NO_CARD else 0


@kernel
def knocking_hand(s):
    """The eleven cards of the player to act, at the wall with the last discard, as a bit set."""
    hand = s.hands[s.current_player]
    return hand | 1 << top_discard(s) if s.phase == state.WALL else hand


@kernel
def top_discard(s):
    """The card on top of the discard pile, which is not empty."""
    return np.int64(s.discard_pile[s.num_discards - 1])


@kernel
def _has_layoffs(s):
    """Whether the defender has a card to lay off, and may: not against gin (4.6)."""
    return s.hands[s.knocker] != 0 and _fitting_cards(s, False) | _fitting_cards(s, True) != 0


@kernel
def _fitting_cards(s, on_set):
    """The defender's cards that may be laid off next on the knocker's sets, or on the knocker's runs."""
    cards = 0
    for k in range(melds.MAX_MELDS):
        meld = s.melds[s.knocker, k]
        if melds.is_set(meld) == on_set:
            cards |= melds.next_layoffs(meld)
    return cards & s.hands[1 - s.knocker]


# ---------------------------------------------------------------------------------------------------------------
# Why an action is not legal


@kernel
def explain_illegal(s, action):
    """0 if `action` is legal, else one of the codes of actions.py."""
    if s.phase == state.DISCARD:
        return _explain_discard(s, action)
    if s.phase == state.DRAW:
        return _explain_draw(s, action)
    if s.phase == state.FIRST_UPCARD:
        return 0 if action in (actions.TAKE_UPCARD, actions.PASS) else actions.MUST_ANSWER_UPCARD
    if s.phase == state.WALL:
        return _explain_wall(s, action)
    return _explain_layoff(s, action)


@kernel
def _explain_draw(s, action):
    if action == actions.TAKE_UPCARD and s.num_passes == state.NUM_PLAYERS:
        return actions.UPCARD_REFUSED
    if action in (actions.TAKE_UPCARD, actions.DRAW_STOCK):
        return 0
    return actions.CANNOT_PASS if action == actions.PASS else actions.MUST_DRAW_FIRST


@kernel
def _explain_discard(s, action):
    if action in (actions.TAKE_UPCARD, actions.DRAW_STOCK):
        return actions.HAS_DRAWN
    if action == actions.PASS:
        return actions.CANNOT_PASS
    if action >= actions.KNOCK_0:
        return _explain_knock(s, action)
    return _explain_card(s, s.hands[s.current_player], action)


@kernel
def _explain_wall(s, action):
    if action == actions.PASS:
        return 0
    return _explain_knock(s, action) if action >= actions.KNOCK_0 else actions.AT_THE_WALL


@kernel
def _explain_knock(s, action):
    hand = knocking_hand(s)
    if action > actions.BIG_GIN:
        return actions.NO_KNOCK_YET
    if action == actions.BIG_GIN:
        if not s.rules.big_gin:
            return actions.BIG_GIN_OFF
        return 0 if melds.min_deadwood(hand) == 0 else actions.NOT_ALL_MELDED
    card = action - actions.KNOCK_0
    code = _explain_card(s, hand, card)
    if code == 0 and melds.min_deadwood(hand ^ 1 << card) > s.knock_limit:
        return actions.TOO_MUCH_DEADWOOD
    return code


@kernel
def _explain_card(s, hand, card):
    """Why `card` cannot be discarded from `hand`, or 0."""
    bit = 1 << card
    if not hand & bit:
        return actions.NOT_HELD
    return actions.JUST_TAKEN if bit & forbidden_discard(s) else 0


@kernel
def _explain_layoff(s, action):
    if action < actions.LAY_OFF_ON_RUN_0:
        return actions.MUST_LAY_OFF
    if action == actions.DONE:
        return 0
    on_set = action >= actions.LAY_OFF_ON_SET_0
    bit = 1 << action - (actions.LAY_OFF_ON_SET_0 if on_set else actions.LAY_OFF_ON_RUN_0)
    if not s.hands[s.current_player] & bit:
        return actions.NOT_HELD
    if _fitting_cards(s, on_set) & bit:
        return 0
    return actions.FITS_NO_SET if on_set else actions.FITS_NO_RUN


# ---------------------------------------------------------------------------------------------------------------
# Moves


@kernel
def apply_action(s, action, log):
    """Play one legal action of the player to act, and move the game on."""
    player = np.int64(s.current_player)
    if s.phase == state.DISCARD:
        _apply_discard(s, player, action, log)
    elif s.phase == state.DRAW:
        _apply_draw(s, player, action, log)
    elif s.phase == state.FIRST_UPCARD:
        _apply_first_upcard(s, player, action, log)
    elif s.phase == state.WALL:
        _apply_wall(s, player, action, log)
    else:
        _apply_layoff(s, player, action, log)
    if s.phase == state.HAND_OVER:
        _end_hand(s, log)


@kernel
def _apply_first_upcard(s, player, action, log):
    """Take the first upcard, or pass it on; after two passes the non-dealer must draw from the stock (3.1, 3.2)."""
    if action == actions.TAKE_UPCARD:
        _apply_draw(s, player, action, log)
        return
    ev.log_note(log, table.PASSES, player, 0)
    s.num_passes += 1
    s.current_player = 1 - player
    if s.num_passes == state.NUM_PLAYERS:
        s.phase = state.DRAW


@kernel
def _apply_draw(s, player, action, log):
    """Draw a card (3.3)."""
    if action == actions.TAKE_UPCARD:
        effects.take_upcard(s, player, log)
    else:
        effects.draw_from_stock(s, player, log)
    s.num_passes = 0
    s.phase = state.DISCARD


@kernel
def _apply_discard(s, player, action, log):
    """Discard a card, or knock (3.3, 4.1)."""
    if action >= actions.KNOCK_0:
        _knock(s, player, action, log)
        return
    effects.discard(s, player, action, log)
    s.taken = state.NO_CARD
    s.current_player = 1 - player
    if s.num_upcard_draws >= s.rules.max_upcard_draws:
        s.phase = state.HAND_OVER
    elif s.num_stock > s.rules.last_stock_cards:
        s.phase = state.DRAW
    else:
        s.phase = state.WALL if s.rules.wall_knock else state.HAND_OVER


@kernel
def _apply_wall(s, player, action, log):
    """Knock with the last discard, or let the hand be void (3.8)."""
    if action == actions.PASS:
        ev.log_note(log, table.PASSES, player, 0)
        s.phase = state.HAND_OVER
    else:
        effects.take_upcard(s, player, log)
        _knock(s, player, action, log)


@kernel
def _knock(s, player, action, log):
    """Knock with the discard that goes with it, or big gin with none, and lay the hand open (4.1 to 4.5)."""
    ev.log_note(log, table.KNOCKS, player, 0)
    s.knocker = player
    if action == actions.BIG_GIN:
        s.is_big_gin = 1
    else:
        effects.discard(s, player, action - actions.KNOCK_0, log)
    s.taken = state.NO_CARD
    hand = s.hands[player]
    melds.knocker_arrangement(hand, hand | s.discards, s.melds[player])
    _lay_open(s, player, log)
    s.current_player = 1 - player
    s.phase = state.LAYOFF if s.rules.layoff == state.MANUAL and _has_layoffs(s) else state.HAND_OVER


@kernel
def _lay_open(s, player, log):
    """Show a whole hand, with the melds that were chosen for it (4.5)."""
    effects.lay_melds(s, player, log)
    effects.show_hand(s, player, log)
    ev.log_note(log, table.DEADWOOD, player, melds.hand_points(s.hands[player]))


@kernel
def _apply_layoff(s, player, action, log):
    """The defender lays off one card, or is done, as he is when no other card fits (4.8)."""
    if action == actions.DONE:
        s.phase = state.HAND_OVER
        return
    on_set = action >= actions.LAY_OFF_ON_SET_0
    card = 1 << action - (actions.LAY_OFF_ON_SET_0 if on_set else actions.LAY_OFF_ON_RUN_0)
    effects.lay_off_cards(s, player, _meld_for(s, card, on_set), card, log)
    if not _has_layoffs(s):
        s.phase = state.HAND_OVER


@kernel
def _meld_for(s, card, on_set):
    """The number of the first of the knocker's sets, or of his runs, on which `card`, a bit set, fits."""
    k = 0
    while melds.is_set(s.melds[s.knocker, k]) != on_set or melds.next_layoffs(s.melds[s.knocker, k]) & card == 0:
        k += 1
    return k


# ---------------------------------------------------------------------------------------------------------------
# The end of a hand


@kernel
def _end_hand(s, log):
    """Score the hand, then end the game or deal the next hand (5, 6.1)."""
    dealer = np.int64(s.dealer)
    if s.knocker == ev.NO_PLAYER:
        ev.log_note(log, table.VOID, ev.NO_PLAYER, 0)
    else:
        _defend(s, log)
        points = _knock_points(s)
        if points == 0:
            ev.log_note(log, table.NO_POINTS, ev.NO_PLAYER, 0)
        else:
            winner = np.int64(s.knocker if points > 0 else 1 - s.knocker)
            dealer = 1 - winner
            _give_points(s, winner, abs(points), log)
    if s.rules.match_target == NONE:
        s.terminal = 1
    elif max(s.scores[0], s.scores[1]) >= s.rules.match_target or s.hand_number + 1 >= state.MAX_HANDS:
        _end_match(s, log)
    else:
        _deal_next_hand(s, dealer, log)


@kernel
def _defend(s, log):
    """The defender lays off, unless that was done by hand or is not allowed, and shows the rest (4.5 to 4.7)."""
    knocker = np.int64(s.knocker)
    defender = 1 - knocker
    hand = s.hands[defender]
    if s.rules.layoff == state.MANUAL or s.hands[knocker] == 0:
        melds.arrangement(hand, s.melds[defender])
    else:
        # All of s.melds[knocker]: nothing fits on the zeros behind the last meld.
        melds.best_defence(hand, s.melds[knocker], melds.MAX_MELDS, s.laid_off, s.melds[defender])
        for k in range(melds.MAX_MELDS):
            effects.lay_off_cards(s, defender, k, s.laid_off[k], log)
    _lay_open(s, defender, log)


@kernel
def _knock_points(s):
    """Count the points of the hand: positive for the knocker, negative for the defender (5.1 to 5.6)."""
    own, theirs = melds.hand_points(s.hands[s.knocker]), melds.hand_points(s.hands[1 - s.knocker])
    if s.is_big_gin:
        points = theirs + s.rules.big_gin_bonus
    elif own == 0:
        points = theirs + s.rules.gin_bonus
    elif own < theirs:
        points = theirs - own
    elif own > theirs or s.rules.tie_is_undercut:
        points = theirs - own - s.rules.undercut_bonus
    else:
        points = 0
    return points * (1 + s.doubled)


@kernel
def _give_points(s, winner, points, log):
    """The winner of a hand gets `points` from the opponent, and a box (5.7, 6.3)."""
    ev.log_note(log, table.WINS, winner, points)
    s.rewards[winner] = points
    s.rewards[1 - winner] = -points
    effects.set_score(s, winner, s.scores[winner] + points, log)
    effects.set_hands_won(s, winner, s.hands_won[winner] + 1, log)


@kernel
def _end_match(s, log):
    """Add the bonuses: the returns become the margin of the final totals (6.3 to 6.5)."""
    s.terminal = 1
    margin = match_total(s, 0) - match_total(s, 1)
    s.rewards[0] = margin - s.returns[0]
    s.rewards[1] = -margin - s.returns[1]
    for p in range(state.NUM_PLAYERS):
        ev.log_note(log, table.MATCH_TOTAL, p, match_total(s, p))


@kernel
def match_total(s, player):
    """Count the points of `player` in a match that ends now, bonuses included (6.3, 6.4)."""
    total = s.scores[player] + s.rules.box_bonus * s.hands_won[player]
    if s.scores[player] > s.scores[1 - player]:
        total += s.rules.game_bonus
        is_shutout = s.hands_won[1 - player] == 0
        if is_shutout and s.rules.shutout == state.SHUTOUT_ALL:
            total *= 2
        elif is_shutout and s.rules.shutout == state.SHUTOUT_BONUS:
            total += s.rules.game_bonus
    return total


@kernel
def forfeit(s, player, log):
    """`player` loses the hand as against gin, and with it the match (7)."""
    ev.log_note(log, table.FORFEIT, player, 0)
    s.active[player] = 0
    effects.show_hand(s, player, log)
    winner = 1 - player
    _give_points(s, winner, (least_deadwood(s.hands[player]) + s.rules.gin_bonus) * (1 + s.doubled), log)
    s.phase = state.HAND_OVER
    if s.rules.match_target == NONE:
        s.terminal = 1
        return
    effects.set_score(s, winner, max(np.int64(s.scores[winner]), np.int64(s.rules.match_target)), log)
    effects.set_score(s, player, 0, log)
    effects.set_hands_won(s, player, 0, log)
    _end_match(s, log)


@kernel
def least_deadwood(hand):
    """Count the least deadwood of ten cards or fewer, and of eleven cards after the best discard (1.4)."""
    eleventh = hand
    for _ in range(state.HAND_SIZE):
        eleventh &= eleventh - 1
    return melds.min_deadwood_after_discard(hand) if eleventh else melds.min_deadwood(hand)


# ---------------------------------------------------------------------------------------------------------------
# What a player cannot know


@kernel
def determinize(s, player, seed):
    """Re-deal what `player` has not seen: the opponent's hidden cards and the stock."""
    s.seed = seed
    start_stream(s, DETERMINIZE, 0)
    opponent = 1 - player
    hidden = s.hands[opponent] & ~s.known[opponent]
    s.hands[opponent] ^= hidden
    first = NUM_CARDS - np.int64(s.num_stock)
    lowest = first  # deck[lowest:] becomes the hidden cards and the stock; what was dealt has left room below it
    while hidden:
        lowest -= 1
        s.deck[lowest] = lowest_card(hidden)
        hidden &= hidden - 1
    canonical_shuffle(s, s.deck, lowest, NUM_CARDS)
    for place in range(lowest, first):
        s.hands[opponent] |= 1 << s.deck[place]
        s.deck[place] = state.NO_CARD
    _redeal_last_hand(s, player)


@kernel
def _redeal_last_hand(s, player):
    """Of a void hand before, re-deal what the opponent held unseen (8.2)."""
    opponent = 1 - player
    unseen = s.last_hands[opponent] & ~s.last_known[opponent]
    s.last_hands[opponent] ^= unseen
    left = ALL_CARDS & ~(s.last_hands[player] | s.last_hands[opponent] | s.last_discards)
    while unseen:
        unseen &= unseen - 1
        rest = left
        for _ in range(random_below(s.rng, count_bits(left))):
            rest &= rest - 1
        card = rest & -rest
        left ^= card
        s.last_hands[opponent] |= card
