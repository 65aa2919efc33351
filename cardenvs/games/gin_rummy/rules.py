"""Rules of gin rummy. Paragraph numbers are those of rules.md; the effects of a move are in effects.py."""

import numpy as np

from cardenvs.core.cards import NUM_CARDS, count_bits, lowest_card
from cardenvs.core.events import NO_PLAYER, log_note
from cardenvs.core.kernel import kernel
from cardenvs.core.options import NONE
from cardenvs.core.rng import DEAL, DETERMINIZE, arrange, random_below, redeal, shuffle, start_stream
from cardenvs.games.gin_rummy.actions import (
    AT_THE_WALL,
    BIG_GIN,
    BIG_GIN_OFF,
    CANNOT_PASS,
    DONE,
    DRAW_STOCK,
    FITS_NO_RUN,
    FITS_NO_SET,
    HAS_DRAWN,
    JUST_TAKEN,
    KNOCK_0,
    LAY_OFF_ON_RUN_0,
    LAY_OFF_ON_SET_0,
    MUST_ANSWER_UPCARD,
    MUST_DRAW_FIRST,
    MUST_LAY_OFF,
    NO_KNOCK_YET,
    NO_SUCH_ACTION,
    NOT_ALL_MELDED,
    NOT_HELD,
    PASS,
    TAKE_UPCARD,
    TOO_MUCH_DEADWOOD,
    UPCARD_REFUSED,
)
from cardenvs.games.gin_rummy.effects import (
    announce_hand,
    deal_cards,
    discard,
    draw_from_stock,
    gather_cards,
    lay_melds,
    lay_off_cards,
    set_hands_won,
    set_score,
    set_terms,
    show_hand,
    take_upcard,
)
from cardenvs.games.gin_rummy.melds import (
    MAX_CARD_POINTS,
    MAX_MELDS,
    NUM_RANKS,
    arrangement,
    best_defence,
    hand_points,
    is_set,
    knock_discards,
    knocker_arrangement,
    min_deadwood,
    min_deadwood_after_discard,
    next_layoffs,
)
from cardenvs.games.gin_rummy.state import (
    DISCARD,
    DRAW,
    FIRST_UPCARD,
    HAND_OVER,
    HAND_SIZE,
    LAYOFF,
    MANUAL,
    MAX_HANDS,
    NO_CARD,
    NUM_PLAYERS,
    SHUTOUT_ALL,
    SHUTOUT_BONUS,
    TABLE,
    WALL,
)

_PASSES, _KNOCKS, _DEADWOOD = TABLE.kind["pass"], TABLE.kind["knock"], TABLE.kind["deadwood"]
_WINS, _NO_POINTS, _VOID = TABLE.kind["win"], TABLE.kind["no_points"], TABLE.kind["void"]
ALL_CARDS = (1 << NUM_CARDS) - 1
_FORFEIT, _MATCH_TOTAL = TABLE.kind["forfeit"], TABLE.kind["match_total"]

# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def deal(s, given, log):
    """Deal the first hand; player 1 is the dealer (2.1, 2.2)."""
    announce_hand(s, 1, log)
    _new_deck(s)
    arrange(s, s.deck, NUM_CARDS, given)
    _deal_hand(s, log)


@kernel
def _deal_next_hand(s, dealer, log):
    """Deal the next hand of a match (6.1)."""
    s.hand_number += 1
    gather_cards(s, log)
    announce_hand(s, dealer, log)
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
    deal_cards(s, log)
    upcard = np.int64(s.discard_pile[0])
    value = min(upcard % NUM_RANKS + 1, MAX_CARD_POINTS)
    limit = np.int64(s.rules.knock_max)
    if s.rules.oklahoma:
        limit = value if value > 1 else 0
    doubled = 1 if s.rules.oklahoma_spade_double and upcard < NUM_RANKS else 0
    set_terms(s, limit, doubled, log)
    s.knocker = NO_PLAYER
    s.is_big_gin = 0
    s.taken = NO_CARD
    s.num_passes = 0
    s.num_upcard_draws = 0
    s.phase = FIRST_UPCARD
    s.current_player = 1 - s.dealer


# ---------------------------------------------------------------------------------------------------------------
# What is legal


@kernel
def legal_actions(s, out):
    """List the actions that the rules allow the player to act, ascending (3, 4)."""
    if s.phase == DISCARD:
        return _legal_discard(s, out)
    if s.phase == DRAW:
        return _legal_draw(s, out)
    if s.phase == FIRST_UPCARD:
        out[0] = TAKE_UPCARD
        out[1] = PASS
        return 2
    if s.phase == WALL:
        return _legal_wall(s, out)
    return _legal_layoff(s, out)


@kernel
def _legal_draw(s, out):
    """The top of the discard pile, unless both have just refused it, or the stock (3.2, 3.3)."""
    if s.num_passes == NUM_PLAYERS:
        out[0] = DRAW_STOCK
        return 1
    out[0] = TAKE_UPCARD
    out[1] = DRAW_STOCK
    return 2


@kernel
def _legal_discard(s, out):
    """A discard, a knock or big gin (3.3, 4.1, 4.3)."""
    cards = s.hands[s.current_player] & ~forbidden_discard(s)
    return _list_knocks(s, out, list_cards(cards, 0, out, 0))


@kernel
def _legal_wall(s, out):
    """Pass, or knock with the last discard (3.8)."""
    out[0] = PASS
    return _list_knocks(s, out, 1)


@kernel
def _list_knocks(s, out, n):
    hand = knocking_hand(s)
    n = list_cards(knock_discards(hand, np.int64(s.knock_limit), forbidden_discard(s)), KNOCK_0, out, n)
    if s.rules.big_gin and min_deadwood(hand) == 0:
        out[n] = BIG_GIN
        n += 1
    return n


@kernel
def _legal_layoff(s, out):
    """A card of the defender's that fits on one of the knocker's melds, or done (4.8)."""
    n = list_cards(_fitting_cards(s, False), LAY_OFF_ON_RUN_0, out, 0)
    n = list_cards(_fitting_cards(s, True), LAY_OFF_ON_SET_0, out, n)
    out[n] = DONE
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
    if s.phase == WALL:
        return 1 << top_discard(s)
    return 1 << s.taken if s.taken != NO_CARD else 0


@kernel
def knocking_hand(s):
    """The eleven cards of the player to act, at the wall with the last discard, as a bit set."""
    hand = s.hands[s.current_player]
    return hand | 1 << top_discard(s) if s.phase == WALL else hand


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
    for k in range(MAX_MELDS):
        meld = s.melds[s.knocker, k]
        if is_set(meld) == on_set:
            cards |= next_layoffs(meld)
    return cards & s.hands[1 - s.knocker]


# ---------------------------------------------------------------------------------------------------------------
# Why an action is not legal


@kernel
def explain_illegal(s, action):
    """0 if `action` is legal, else one of the codes of actions.py."""
    if action < 0 or action > (DONE if s.rules.layoff == MANUAL else BIG_GIN):
        return NO_SUCH_ACTION
    if s.phase == DISCARD:
        return _explain_discard(s, action)
    if s.phase == DRAW:
        return _explain_draw(s, action)
    if s.phase == FIRST_UPCARD:
        return 0 if action in (TAKE_UPCARD, PASS) else MUST_ANSWER_UPCARD
    if s.phase == WALL:
        return _explain_wall(s, action)
    return _explain_layoff(s, action)


@kernel
def _explain_draw(s, action):
    if action == TAKE_UPCARD and s.num_passes == NUM_PLAYERS:
        return UPCARD_REFUSED
    if action in (TAKE_UPCARD, DRAW_STOCK):
        return 0
    return CANNOT_PASS if action == PASS else MUST_DRAW_FIRST


@kernel
def _explain_discard(s, action):
    if action in (TAKE_UPCARD, DRAW_STOCK):
        return HAS_DRAWN
    if action == PASS:
        return CANNOT_PASS
    if action >= KNOCK_0:
        return _explain_knock(s, action)
    return _explain_card(s, s.hands[s.current_player], action)


@kernel
def _explain_wall(s, action):
    if action == PASS:
        return 0
    return _explain_knock(s, action) if action >= KNOCK_0 else AT_THE_WALL


@kernel
def _explain_knock(s, action):
    hand = knocking_hand(s)
    if action > BIG_GIN:
        return NO_KNOCK_YET
    if action == BIG_GIN:
        if not s.rules.big_gin:
            return BIG_GIN_OFF
        return 0 if min_deadwood(hand) == 0 else NOT_ALL_MELDED
    card = action - KNOCK_0
    code = _explain_card(s, hand, card)
    if code == 0 and min_deadwood(hand ^ 1 << card) > s.knock_limit:
        return TOO_MUCH_DEADWOOD
    return code


@kernel
def _explain_card(s, hand, card):
    """Why `card` cannot be discarded from `hand`, or 0."""
    bit = 1 << card
    if not hand & bit:
        return NOT_HELD
    return JUST_TAKEN if bit & forbidden_discard(s) else 0


@kernel
def _explain_layoff(s, action):
    if action < LAY_OFF_ON_RUN_0:
        return MUST_LAY_OFF
    if action == DONE:
        return 0
    on_set = action >= LAY_OFF_ON_SET_0
    bit = 1 << action - (LAY_OFF_ON_SET_0 if on_set else LAY_OFF_ON_RUN_0)
    if not s.hands[s.current_player] & bit:
        return NOT_HELD
    if _fitting_cards(s, on_set) & bit:
        return 0
    return FITS_NO_SET if on_set else FITS_NO_RUN


# ---------------------------------------------------------------------------------------------------------------
# Moves


@kernel
def apply_action(s, action, log):
    """Play one legal action of the player to act, and move the game on."""
    player = np.int64(s.current_player)
    if s.phase == DISCARD:
        _apply_discard(s, player, action, log)
    elif s.phase == DRAW:
        _apply_draw(s, player, action, log)
    elif s.phase == FIRST_UPCARD:
        _apply_first_upcard(s, player, action, log)
    elif s.phase == WALL:
        _apply_wall(s, player, action, log)
    else:
        _apply_layoff(s, player, action, log)
    if s.phase == HAND_OVER:
        _end_hand(s, log)


@kernel
def _apply_first_upcard(s, player, action, log):
    """Take the first upcard, or pass it on; after two passes the non-dealer must draw from the stock (3.1, 3.2)."""
    if action == TAKE_UPCARD:
        _apply_draw(s, player, action, log)
        return
    log_note(log, _PASSES, player, 0)
    s.num_passes += 1
    s.current_player = 1 - player
    if s.num_passes == NUM_PLAYERS:
        s.phase = DRAW


@kernel
def _apply_draw(s, player, action, log):
    """Draw a card (3.3)."""
    if action == TAKE_UPCARD:
        take_upcard(s, player, log)
    else:
        draw_from_stock(s, player, log)
    s.num_passes = 0
    s.phase = DISCARD


@kernel
def _apply_discard(s, player, action, log):
    """Discard a card, or knock (3.3, 4.1)."""
    if action >= KNOCK_0:
        _knock(s, player, action, log)
        return
    discard(s, player, action, log)
    s.taken = NO_CARD
    s.current_player = 1 - player
    if s.num_upcard_draws >= s.rules.max_upcard_draws:
        s.phase = HAND_OVER
    elif s.num_stock > s.rules.last_stock_cards:
        s.phase = DRAW
    else:
        s.phase = WALL if s.rules.wall_knock else HAND_OVER


@kernel
def _apply_wall(s, player, action, log):
    """Knock with the last discard, or let the hand be void (3.8)."""
    if action == PASS:
        log_note(log, _PASSES, player, 0)
        s.phase = HAND_OVER
    else:
        take_upcard(s, player, log)
        _knock(s, player, action, log)


@kernel
def _knock(s, player, action, log):
    """Knock with the discard that goes with it, or big gin with none, and lay the hand open (4.1 to 4.5)."""
    log_note(log, _KNOCKS, player, 0)
    s.knocker = player
    if action == BIG_GIN:
        s.is_big_gin = 1
    else:
        discard(s, player, action - KNOCK_0, log)
    s.taken = NO_CARD
    hand = s.hands[player]
    knocker_arrangement(hand, hand | s.discards, s.melds[player])
    _lay_open(s, player, log)
    s.current_player = 1 - player
    s.phase = LAYOFF if s.rules.layoff == MANUAL and _has_layoffs(s) else HAND_OVER


@kernel
def _lay_open(s, player, log):
    """Show a whole hand, with the melds that were chosen for it (4.5)."""
    lay_melds(s, player, log)
    show_hand(s, player, log)
    log_note(log, _DEADWOOD, player, hand_points(s.hands[player]))


@kernel
def _apply_layoff(s, player, action, log):
    """The defender lays off one card, or is done, as he is when no other card fits (4.8)."""
    if action == DONE:
        s.phase = HAND_OVER
        return
    on_set = action >= LAY_OFF_ON_SET_0
    card = 1 << action - (LAY_OFF_ON_SET_0 if on_set else LAY_OFF_ON_RUN_0)
    lay_off_cards(s, player, _meld_for(s, card, on_set), card, log)
    if not _has_layoffs(s):
        s.phase = HAND_OVER


@kernel
def _meld_for(s, card, on_set):
    """The number of the first of the knocker's sets, or of his runs, on which `card`, a bit set, fits."""
    k = 0
    while is_set(s.melds[s.knocker, k]) != on_set or next_layoffs(s.melds[s.knocker, k]) & card == 0:
        k += 1
    return k


# ---------------------------------------------------------------------------------------------------------------
# The end of a hand


@kernel
def _end_hand(s, log):
    """Score the hand, then end the game or deal the next hand (5, 6.1)."""
    dealer = np.int64(s.dealer)
    if s.knocker == NO_PLAYER:
        log_note(log, _VOID, NO_PLAYER, 0)
    else:
        _defend(s, log)
        points = _knock_points(s)
        if points == 0:
            log_note(log, _NO_POINTS, NO_PLAYER, 0)
        else:
            winner = np.int64(s.knocker if points > 0 else 1 - s.knocker)
            dealer = 1 - winner
            _give_points(s, winner, abs(points), log)
    if s.rules.match_target == NONE:
        s.terminal = 1
    elif max(s.scores[0], s.scores[1]) >= s.rules.match_target or s.hand_number + 1 >= MAX_HANDS:
        _end_match(s, log)
    else:
        _deal_next_hand(s, dealer, log)


@kernel
def _defend(s, log):
    """The defender lays off, unless that was done by hand or is not allowed, and shows the rest (4.5 to 4.7)."""
    knocker = np.int64(s.knocker)
    defender = 1 - knocker
    hand = s.hands[defender]
    if s.rules.layoff == MANUAL or s.hands[knocker] == 0:
        arrangement(hand, s.melds[defender])
    else:
        # All of s.melds[knocker]: nothing fits on the zeros behind the last meld.
        best_defence(hand, s.melds[knocker], MAX_MELDS, s.laid_off, s.melds[defender])
        for k in range(MAX_MELDS):
            lay_off_cards(s, defender, k, s.laid_off[k], log)
    _lay_open(s, defender, log)


@kernel
def _knock_points(s):
    """Count the points of the hand: positive for the knocker, negative for the defender (5.1 to 5.6)."""
    own, theirs = hand_points(s.hands[s.knocker]), hand_points(s.hands[1 - s.knocker])
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
    log_note(log, _WINS, winner, points)
    s.rewards[winner] = points
    s.rewards[1 - winner] = -points
    set_score(s, winner, s.scores[winner] + points, log)
    set_hands_won(s, winner, s.hands_won[winner] + 1, log)


@kernel
def _end_match(s, log):
    """Add the bonuses: the returns become the margin of the final totals (6.3 to 6.5)."""
    s.terminal = 1
    margin = match_total(s, 0) - match_total(s, 1)
    s.rewards[0] = margin - s.returns[0]
    s.rewards[1] = -margin - s.returns[1]
    for p in range(NUM_PLAYERS):
        log_note(log, _MATCH_TOTAL, p, match_total(s, p))


@kernel
def match_total(s, player):
    """Count the points of `player` in a match that ends now, bonuses included (6.3, 6.4)."""
    total = s.scores[player] + s.rules.box_bonus * s.hands_won[player]
    if s.scores[player] > s.scores[1 - player]:
        total += s.rules.game_bonus
        is_shutout = s.hands_won[1 - player] == 0
        if is_shutout and s.rules.shutout == SHUTOUT_ALL:
            total *= 2
        elif is_shutout and s.rules.shutout == SHUTOUT_BONUS:
            total += s.rules.game_bonus
    return total


@kernel
def forfeit(s, player, log):
    """`player` loses the hand as against gin, and with it the match (7)."""
    log_note(log, _FORFEIT, player, 0)
    s.active[player] = 0
    show_hand(s, player, log)
    winner = 1 - player
    _give_points(s, winner, (least_deadwood(s.hands[player]) + s.rules.gin_bonus) * (1 + s.doubled), log)
    s.phase = HAND_OVER
    if s.rules.match_target == NONE:
        s.terminal = 1
        return
    set_score(s, winner, max(np.int64(s.scores[winner]), np.int64(s.rules.match_target)), log)
    set_score(s, player, 0, log)
    set_hands_won(s, player, 0, log)
    _end_match(s, log)


@kernel
def least_deadwood(hand):
    """Count the least deadwood of ten cards or fewer, and of eleven cards after the best discard (1.4)."""
    eleventh = hand
    for _ in range(HAND_SIZE):
        eleventh &= eleventh - 1
    return min_deadwood_after_discard(hand) if eleventh else min_deadwood(hand)


# ---------------------------------------------------------------------------------------------------------------
# What a player cannot know


@kernel
def determinize(s, player, seed):
    """Deal anew what `player` has not seen: the opponent's hidden cards and the stock."""
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
    redeal(s, s.deck, lowest, NUM_CARDS)
    for place in range(lowest, first):
        s.hands[opponent] |= 1 << s.deck[place]
        s.deck[place] = NO_CARD
    _redeal_last_hand(s, player)


@kernel
def _redeal_last_hand(s, player):
    """Of a void hand before, deal anew what the opponent held unseen (8.2)."""
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
