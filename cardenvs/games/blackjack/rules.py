"""Rules of Blackjack. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.core.options import NONE
from cardenvs.core.returns import Returns
from cardenvs.core.rng import DEAL, get_words, next_below, set_words, start_stream
from cardenvs.games.blackjack import state as st
from cardenvs.games.blackjack.state import (
    ACE,
    BET,
    BET_0,
    BLACKJACK,
    BY_VALUE,
    CASINO,
    DECLINE,
    DOUBLE,
    HIT,
    HIT_SOFT17,
    INFINITE,
    INSURANCE,
    INSURE,
    MAX_PLAYERS,
    MOST_CARDS,
    NATURAL,
    NO_CARD,
    NO_DOUBLE,
    NUM_RANKS,
    PAYS,
    PIPS,
    PLAY,
    SAB,
    SHIFT,
    SPLIT,
    STICK,
    SURRENDER,
    TEN,
)
from cardenvs.kits.deck import begin_world
from cardenvs.kits.matches import leave

_TENTHS = 10  # results in events are in tenths of a bet of 1


# ---------------------------------------------------------------------------------------------------------------
# Totals


_ACE_MORE = 10  # what an ace counts more as 11 than as 1
_ONE_ACE = 1 << int(SHIFT[ACE])


@kernel(inline=True)
def best_total(hard, cards):
    """Return the total of a hand: its sum with aces as 1, and 10 more if one of them can be 11 (1.3)."""
    return hard + _ACE_MORE * is_soft(hard, cards)


@kernel(inline=True)
def is_soft(hard, cards):
    """Return 1 if an ace counts 11, else 0; without branches, which a processor could not predict."""
    return np.int64(cards >= _ONE_ACE) & np.int64(hard <= BLACKJACK - _ACE_MORE)


@kernel(inline=True)
def total_of(s, p, h):
    """Return the total of hand `h` of player `p`."""
    return best_total(np.int64(s.hard[p, h]), np.int64(s.hands[p, h]))


@kernel(inline=True)
def has_natural(s, p):
    """Return whether a player has 21 with the first two cards (1.4)."""
    return s.num_hands[p] == 1 and s.sizes[p, 0] == 2 and total_of(s, p, 0) == BLACKJACK


@kernel(inline=True)
def dealer_total(s):
    """Return the total of the dealer's cards that lie face up."""
    return best_total(np.int64(s.dealer_hard), np.int64(s.dealer))


@kernel(inline=True)
def _dealer_has_natural(s):
    return s.dealer_size == 2 and dealer_total(s) == BLACKJACK


# ---------------------------------------------------------------------------------------------------------------
# The shoe


@kernel(inline=True)
def _new_shoe(s, log):
    """Shuffle all decks (1.1). The order of the cards is decided as they are drawn."""
    start_stream(s, DEAL, np.int64(s.num_shuffles))
    s.num_shuffles += 1
    if s.rules.decks == INFINITE:
        return
    copies = 4 * s.rules.decks
    for rank in range(NUM_RANKS):
        s.left[rank] = copies
    ev.log_create(log, st.NEW_SHOE, st.SHOE, NUM_RANKS * copies)


@kernel(inline=True)
def _draw(s):
    """Take the next card of the shoe: as given, or each card in it with the same chance."""
    card, words = _next_card(s, get_words(s.rng))
    set_words(s.rng, words)
    return card


@kernel(inline=True)
def _draw_two(s):
    """Take the next two cards of the shoe."""
    first, words = _next_card(s, get_words(s.rng))
    second, words = _next_card(s, words)
    set_words(s.rng, words)
    return first, second


@kernel(inline=True)
def _next_card(s, words):
    """Take the next card of the shoe; `words` are those of the generator, which are returned with it."""
    if s.num_drawn < s.num_given:
        card = np.int64(s.deck[s.num_drawn >> 1]) >> 4 * (s.num_drawn & 1) & 15
    else:
        card, words = _random_card(s, words)
    s.num_drawn = min(s.num_drawn + 1, MOST_CARDS)  # beyond, it is not needed
    if s.rules.decks != INFINITE:
        s.left[np.uint64(card)] -= 1
    return card, words


@kernel(inline=True)
def _random_card(s, words):
    """Return a card of the shoe: number the cards of full decks, and draw until the number is that of one left."""
    if s.rules.decks == INFINITE:
        return next_below(words, NUM_RANKS)
    size = 4 * NUM_RANKS * np.int64(s.rules.decks)
    number, words = next_below(words, size)
    while number // NUM_RANKS >= s.left[np.uint64(number % NUM_RANKS)]:
        number, words = next_below(words, size)
    return number % NUM_RANKS, words


@kernel(inline=True)
def _log_draw(s, kind, player, card, pile, visible, log):
    """Log that a card comes from the shoe or, with replacement, from nowhere."""
    if s.rules.decks == INFINITE:
        ev.log_event(log, kind + st.NEW_FROM_OLD, player, card, ev.NO_PLACE, pile, 1, visible, ev.EVERYBODY)
    else:
        ev.log_move(log, kind, player, card, st.SHOE, pile, visible)


@kernel(inline=True)
def _add(s, p, h, card):
    """Put a card into a hand."""
    s.hands[p, h] += np.int64(1) << SHIFT[card]
    s.hard[p, h] += PIPS[card]
    s.sizes[p, h] += 1


@kernel(inline=True)
def _deal_to(s, p, h, kind, log):
    """Deal the next card to hand `h` of player `p`."""
    _put(s, p, h, _draw(s), kind, log)


@kernel(inline=True)
def _put(s, p, h, card, kind, log):
    """Put a card from the shoe into hand `h` of player `p`."""
    _add(s, p, h, card)
    _log_draw(s, kind, p, card, st.HAND + MAX_PLAYERS * h + p, ev.EVERYBODY, log)


@kernel(inline=True)
def _show_card(s, card):
    s.dealer += np.int64(1) << SHIFT[card]
    s.dealer_hard += PIPS[card]
    s.dealer_size += 1


# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def deal(s, given, log):
    """Begin the first round (2.1)."""
    s.num_given = given.shape[0]
    for k in range(given.shape[0]):
        s.deck[k >> 1] |= np.int64(given[k]) << 4 * (k & 1)
    _new_shoe(s, log)
    _begin_round(s, log)


@kernel
def _begin_round(s, log):
    """Let the players bet, if they have a choice, and deal (2)."""
    s.num_rounds += 1
    ev.log_set(log, st.NEW_ROUND, ev.NO_PLAYER, st.ROUND, s.num_rounds)
    s.up = s.hole = NO_CARD
    s.hand = 0
    if s.rules.bet_units[0] == NONE:
        for p in range(s.rules.num_players):
            if s.active[p]:
                _bet(s, p, 1, log)
        _deal_round(s, log)  # it does not end the round: nobody has been asked yet
    else:
        _ask(s, BET, _next_active(s, 0), 0)


@kernel(inline=True)
def _ask(s, phase, player, hand):
    """Let a player decide."""
    s.phase = phase
    s.current_player = player
    s.hand = hand
    s.was_asked = 1


@kernel(inline=True)
def _bet(s, p, bet, log):
    s.bets[p] = bet
    ev.log_set(log, st.NEW_BET, p, st.BETS + p, bet)


@kernel(inline=True)
def _next_active(s, first):
    """Return the first player from `first` on who has not left; the number of players if there is none."""
    p = np.int64(first)
    while p < s.rules.num_players and not s.active[p]:
        p += 1
    return p


@kernel(inline=True)
def _deal_round(s, log):
    """Deal two cards to each player and to the dealer (3.1), and offer insurance (3.2).

    Returns whether the round is over, as `_look` does.
    """
    for p in range(s.rules.num_players):
        if s.active[p]:
            s.num_hands[p] = 1
            ev.log_set(log, st.NEW_HANDS, p, st.NUM_HANDS + p, 1)
            first, second = _draw_two(s)
            _put(s, p, 0, first, st.DEALT, log)
            _put(s, p, 0, second, st.DEALT, log)
    s.up, s.hole = _draw_two(s)
    _show_card(s, s.up)
    _log_draw(s, st.DEALER_UP, ev.NO_PLAYER, s.up, st.DEALER, ev.EVERYBODY, log)
    _log_draw(s, st.DEALER_HOLE, ev.NO_PLAYER, s.hole, st.DEALER, ev.NOBODY, log)
    if s.rules.insurance and s.up == ACE:
        _ask(s, INSURANCE, _next_active(s, 0), 0)
        return False
    return _look(s, log)


@kernel(inline=True)
def _look(s, log):
    """Let the dealer look for blackjack (3.3), and return whether the round is over."""
    if s.rules.peek and _may_have_blackjack(s):
        if _completes_blackjack(s, s.hole):
            _show_hole(s, log)
            return _is_over(s)
        s.has_looked = 1
        ev.log_note(log, st.LOOKS, ev.NO_PLAYER, 0)
    return _go_on(s, 0, 0, log)


@kernel(inline=True)
def _is_over(s):
    """Return True when nobody has anything left to decide, or let a player say so if nobody has been asked (4.8)."""
    if s.was_asked:
        return True
    s.waits = 1
    _ask(s, PLAY, _next_active(s, 0), 0)
    return False


@kernel(inline=True)
def _show_hole(s, log):
    """Turn up the dealer's hidden card."""
    card = np.int64(s.hole)
    s.hole = NO_CARD
    _show_card(s, card)
    ev.log_reveal(log, st.SHOWS_HOLE, ev.NO_PLAYER, card, st.DEALER, 1 + (card == s.up), ev.EVERYBODY)


@kernel(inline=True)
def _may_have_blackjack(s):
    return s.up == ACE or s.up >= TEN


@kernel(inline=True)
def _completes_blackjack(s, card):
    """Return whether the dealer's first card and `card` are a blackjack."""
    return (s.up == ACE and card >= TEN) or (s.up >= TEN and card == ACE)


# ---------------------------------------------------------------------------------------------------------------
# Legal actions

NOT_BETTING, NOT_INSURING, NOT_PLAYING, ACES_STAND, NOT_TWO_CARDS, NO_DOUBLES, WRONG_TOTAL, DOUBLE_SPLIT = range(1, 9)
NO_PAIR, TOO_MANY_HANDS, ACES_AGAIN, NO_SURRENDERS, TOO_LATE, NOTHING_TO_DECIDE = range(9, 15)


@kernel
def legal_actions(s, out):
    """Bets, insurance, or what the hand allows, in the order of the ids."""
    n = 0
    if s.waits:
        out[0] = STICK
        n = 1
    elif s.phase == PLAY:
        p, h = np.int64(s.current_player), np.int64(s.hand)
        out[0] = STICK
        n = 1
        if not _is_split_ace(s, p):
            out[n] = HIT
            n += 1
        if s.sizes[p, h] == 2:  # all the rest is for hands of two cards
            if _why_no_double(s, p, h) == 0:
                out[n] = DOUBLE
                n += 1
            if _why_no_split(s, p, h) == 0:
                out[n] = SPLIT
                n += 1
            if _why_no_surrender(s, p, h) == 0:
                out[n] = SURRENDER
                n += 1
    elif s.phase == INSURANCE:
        out[0] = INSURE
        out[1] = DECLINE
        n = 2
    else:
        n = num_bets(s.rules)
        for k in range(n):
            out[k] = BET_0 + k
    return n


@kernel(inline=True)
def num_bets(rules):
    """Return how many bets there are to choose from; 0 if there is no choice."""
    n = 0
    for k in range(rules.bet_units.shape[0]):
        n += rules.bet_units[k] != NONE
    return n


@kernel(inline=True)
def _is_split_ace(s, p):
    """Return whether a player's hands began with an ace that was split, and get no card beyond their second (4.6)."""
    return s.has_split_aces[p] != 0 and s.rules.split_aces_one_card != 0


@kernel(inline=True)
def _why_no_double(s, p, h):
    """Return 0 if a hand may double, else why not (4.4)."""
    if s.rules.double == NO_DOUBLE:
        return NO_DOUBLES
    if _is_split_ace(s, p):
        return ACES_STAND
    if s.sizes[p, h] != 2:
        return NOT_TWO_CARDS
    if s.num_hands[p] > 1 and not s.rules.double_after_split:
        return DOUBLE_SPLIT
    lowest = _LOWEST_DOUBLE[np.uint64(s.rules.double)]
    if lowest and not lowest <= total_of(s, p, h) <= _HIGHEST_DOUBLE:
        return WRONG_TOTAL
    return 0


_LOWEST_DOUBLE = np.array([0, 9, 10, 0])  # by `double`; 0 if the total does not matter
_HIGHEST_DOUBLE = 11


@kernel(inline=True)
def _why_no_split(s, p, h):
    """Return 0 if a hand may be split, else why not (4.5, 4.6)."""
    if s.sizes[p, h] != 2:
        return NOT_TWO_CARDS
    if not _is_pair(s, np.int64(s.hands[p, h]), np.int64(s.hard[p, h])):
        return NO_PAIR
    if s.num_hands[p] >= s.rules.max_hands:
        return TOO_MANY_HANDS
    if s.has_split_aces[p] and not s.rules.resplit_aces:
        return ACES_AGAIN
    return 0


@kernel(inline=True)
def _is_pair(s, cards, hard):
    """Return whether two cards are a pair: of a rank, or of the value 10 (4.5)."""
    if hard == 2 * PIPS[TEN]:
        return s.rules.split_by == BY_VALUE or _is_double_rank(cards)
    return _is_double_rank(cards)


@kernel(inline=True)
def _is_double_rank(cards):
    """Return whether the counts of two cards have the two at one rank: a single bit is set."""
    return cards & (cards - 1) == 0


@kernel(inline=True)
def _why_no_surrender(s, p, h):
    """Return 0 if a player may surrender, else why not (4.7)."""
    if s.rules.surrender == 0:
        return NO_SURRENDERS
    return TOO_LATE if s.num_hands[p] > 1 or s.sizes[p, h] > 2 else 0


@kernel(inline=True)
def explain_illegal(s, action):
    """Return 0 for a legal action, else why it is illegal."""
    if s.phase == BET:
        return 0 if BET_0 <= action < BET_0 + num_bets(s.rules) else NOT_BETTING
    if s.phase == INSURANCE:
        return 0 if action in (INSURE, DECLINE) else NOT_INSURING
    if action > SURRENDER:
        return NOT_PLAYING
    if s.waits:
        return 0 if action == STICK else NOTHING_TO_DECIDE
    p, h = np.int64(s.current_player), np.int64(s.hand)
    if action == HIT:
        return ACES_STAND if _is_split_ace(s, p) else 0
    if action == DOUBLE:
        return _why_no_double(s, p, h)
    if action == SPLIT:
        return _why_no_split(s, p, h)
    if action == SURRENDER:
        return _why_no_surrender(s, p, h)
    return 0


# ---------------------------------------------------------------------------------------------------------------
# Actions


@kernel
def apply_action(s, action, log):
    """Apply a legal action and go on to the next decision."""
    p, h = np.int64(s.current_player), np.int64(s.hand)
    if action == STICK:
        ev.log_note(log, st.STICKS, p, h)
        is_over = s.waits or _go_on(s, p, h + 1, log)
    elif action == HIT:
        _deal_to(s, p, h, st.DRAWS, log)
        is_over = _go_on(s, p, h, log)
    elif action == DOUBLE:
        _double(s, p, h, log)
        is_over = _go_on(s, p, h + 1, log)
    elif action == SPLIT:
        _split(s, p, h, log)
        is_over = _go_on(s, p, h, log)
    elif action == SURRENDER:
        s.surrendered[p] = 1
        ev.log_set(log, st.SURRENDERS, p, st.SURRENDERED + p, 1)
        is_over = _go_on(s, p, h + 1, log)
    else:
        _answer(s, p, action, log)
        is_over = _ask_next(s, p, log)
    if is_over:
        _end_round(s, log)


@kernel(inline=True)
def _answer(s, p, action, log):
    """Bet, take insurance or decline it (2.2, 3.2)."""
    if action == INSURE:
        s.insured[p] = 1
        ev.log_set(log, st.INSURES, p, st.INSURED + p, 1)
    elif action == DECLINE:
        ev.log_note(log, st.DECLINES, p, 0)
    else:
        _bet(s, p, s.rules.bet_units[action - BET_0], log)


@kernel
def _ask_next(s, p, log):
    """Ask the next player for a bet or about insurance; after the last one, deal or look.

    Returns whether the round is over.
    """
    following = _next_active(s, p + 1)
    if following < s.rules.num_players:
        s.current_player = following
        return False
    return _deal_round(s, log) if s.phase == BET else _look(s, log)


@kernel(inline=True)
def _double(s, p, h, log):
    """Double the bet for exactly one card (4.4)."""
    s.doubled[p] |= np.int64(1) << h
    ev.log_set(log, st.DOUBLES, p, st.DOUBLED + p, s.doubled[p])
    _deal_to(s, p, h, st.DRAWS, log)
    _note_bust(s, p, h, log)


@kernel(inline=True)
def _split(s, p, h, log):
    """Make two hands of a pair, with one new card each (4.5)."""
    new = np.int64(s.num_hands[p])
    card = _second_card(np.int64(s.hands[p, h]))
    s.hands[p, h] -= np.int64(1) << SHIFT[card]
    s.hard[p, h] -= PIPS[card]
    s.sizes[p, h] -= 1
    s.has_split_aces[p] = card == ACE
    s.num_hands[p] += 1
    _add(s, p, new, card)
    pile = st.HAND + p
    ev.log_move(log, st.SPLITS, p, card, pile + MAX_PLAYERS * h, pile + MAX_PLAYERS * new, ev.EVERYBODY)
    ev.log_set(log, st.NEW_HANDS, p, st.NUM_HANDS + p, s.num_hands[p])
    _deal_to(s, p, h, st.DRAWS, log)
    _deal_to(s, p, new, st.DRAWS, log)


@kernel(inline=True)
def _second_card(cards):
    """Return the highest rank in a hand; aces only if there is nothing else."""
    rank = NUM_RANKS - 1
    while rank > ACE and not cards >> SHIFT[rank] & 15:
        rank -= 1
    return rank


@kernel(inline=True)
def _note_bust(s, p, h, log):
    if s.hard[p, h] > BLACKJACK:
        ev.log_note(log, st.BUSTS, p, s.hard[p, h])


@kernel
def _go_on(s, p, h, log):
    """Go on with hand `h` of player `p` or, if it has nothing to decide, with the next one.

    Returns whether the round is over.
    """
    n = s.rules.num_players
    while p < n:
        while h < s.num_hands[p]:
            if _decides(s, p, h):
                _ask(s, PLAY, p, h)
                return False
            _note_bust(s, p, h, log)
            h += 1
        p += 1
        h = np.int64(0)
    return _is_over(s)


@kernel(inline=True)
def _decides(s, p, h):
    """Return whether a hand has a decision to make (4.1, 4.2, 4.6)."""
    if not s.active[p] or s.surrendered[p] or s.hard[p, h] > BLACKJACK:
        return False
    if _is_split_ace(s, p):
        return _why_no_split(s, p, h) == 0
    if total_of(s, p, h) < BLACKJACK:
        return True
    return s.rules.hit_21 and not (s.rules.naturals == CASINO and has_natural(s, p))


# ---------------------------------------------------------------------------------------------------------------
# The end of a round


@kernel
def _end_round(s, log):
    """Let the dealer show and draw (5), pay (6), and begin the next round or end the game."""
    s.waits = 0
    if s.hole != NO_CARD:
        _show_hole(s, log)
    if _any_live(s):
        _draw_for_dealer(s, log)
    has_blackjack = s.rules.naturals == CASINO and _dealer_has_natural(s)
    num_active = np.int64(0)
    for p in range(s.rules.num_players):
        if s.active[p]:
            num_active += 1
            result = _result(s, p, has_blackjack)
            s.rewards[p] = s.bets[p] * result
            ev.log_note(log, st.PAID, p, np.int64(np.rint(_TENTHS * s.rewards[p])))
    if s.num_rounds == s.rules.rounds or num_active == 0:
        s.terminal = 1
    else:
        _gather(s, log)
        _begin_round(s, log)


@kernel(inline=True)
def _any_live(s):
    """Return whether a hand depends on what the dealer draws (5.1)."""
    for p in range(s.rules.num_players):
        if s.active[p] and not s.surrendered[p] and not (s.rules.naturals == CASINO and has_natural(s, p)):
            for h in range(s.num_hands[p]):
                if s.hard[p, h] <= BLACKJACK:
                    return True
    return False


@kernel(inline=True)
def _draw_for_dealer(s, log):
    """Deal cards to the dealer, face up, for as long as he draws."""
    words = get_words(s.rng)
    while _dealer_must_draw(s):
        card, words = _next_card(s, words)
        _show_card(s, card)
        _log_draw(s, st.DEALER_DRAWS, ev.NO_PLAYER, card, st.DEALER, ev.EVERYBODY, log)
    set_words(s.rng, words)


@kernel(inline=True)
def _dealer_must_draw(s):
    """Return whether the dealer draws: below 17, and with a soft 17 by option (5.2)."""
    soft = is_soft(s.dealer_hard, s.dealer)
    return s.dealer_hard + _ACE_MORE * soft < _DEALER_STANDS + (soft & np.int64(s.rules.dealer_soft17 == HIT_SOFT17))


_DEALER_STANDS = 17


@kernel(inline=True)
def _result(s, p, has_blackjack):
    """Return what a player wins in a round, for a bet of 1 (6)."""
    result = 0.0
    if s.insured[p]:
        result += 1.0 if has_blackjack else -0.5
    if s.surrendered[p]:
        return result - 0.5
    is_natural = has_natural(s, p)
    for h in range(s.num_hands[p]):
        stake = 1.0 + (s.doubled[p] >> h & 1)
        if s.hard[p, h] > BLACKJACK:
            result -= stake
        elif has_blackjack:
            result += _lost_to_blackjack(s, h, is_natural, stake)
        elif is_natural and s.rules.naturals == CASINO:
            result += PAYS[np.uint64(s.rules.blackjack_pays)]
        else:
            result += stake * _outcome(s, p, h, is_natural)
    return result


@kernel(inline=True)
def _lost_to_blackjack(s, h, is_natural, stake):
    """Return what a hand that is still in gets when the dealer has blackjack (6.2, 6.4)."""
    if is_natural:
        return 0.0
    if s.rules.obo:
        return -1.0 if h == 0 else 0.0
    return -stake


@kernel(inline=True)
def _outcome(s, p, h, is_natural):
    """Return what a hand that is not bust gets for each unit of its stake (6.1, 8)."""
    total, dealer = total_of(s, p, h), dealer_total(s)
    if is_natural and s.rules.naturals == SAB and not _dealer_has_natural(s):
        return 1.0
    if dealer > BLACKJACK:
        dealer = np.int64(0)
    result = np.float64(np.int64(total > dealer) - np.int64(total < dealer))
    if is_natural and s.rules.naturals == NATURAL:
        return PAYS[0] * result  # it never loses
    return result


@kernel(inline=True)
def _gather(s, log):
    """Discard the cards on the table, and shuffle if it is time (1.2)."""
    for p in range(s.rules.num_players):
        for h in range(s.num_hands[p]):
            ev.log_move_all(log, st.GATHERED, p, st.HAND + MAX_PLAYERS * h + p, st.DISCARDS)
            s.hands[p, h] = s.hard[p, h] = s.sizes[p, h] = 0
        _clear_player(s, p, log)
    ev.log_move_all(log, st.GATHERED, ev.NO_PLAYER, st.DEALER, st.DISCARDS)
    s.dealer = s.dealer_hard = s.dealer_size = 0
    s.has_looked = s.was_asked = 0
    if s.rules.penetration == 0 or _is_used_up(s):
        _log_emptied(st.DISCARDS, log)
        _log_emptied(st.SHOE, log)
        s.num_given = 0
        _new_shoe(s, log)


@kernel(inline=True)
def _is_used_up(s):
    """Return whether as much of the shoe has been dealt as `penetration` says (1.2)."""
    total = 52 * np.int64(s.rules.decks)
    dealt = total
    for rank in range(NUM_RANKS):
        dealt -= s.left[rank]
    return 100 * dealt >= total * s.rules.penetration


@kernel(inline=True)
def _log_emptied(pile, log):
    ev.log_event(log, st.EMPTIED, ev.NO_PLAYER, ev.UNKNOWN, pile, ev.NO_PLACE, 0, ev.NOBODY, ev.EVERYBODY)


@kernel(inline=True)
def _clear_player(s, p, log):
    """Put the counters of a player back to what they are before a bet."""
    s.num_hands[p] = s.doubled[p] = s.surrendered[p] = s.insured[p] = s.has_split_aces[p] = s.bets[p] = 0
    ev.log_set(log, st.NEW_BET, p, st.BETS + p, 0)
    ev.log_set(log, st.NEW_HANDS, p, st.NUM_HANDS + p, 0)
    ev.log_set(log, st.NO_DOUBLED, p, st.DOUBLED + p, 0)
    ev.log_set(log, st.NO_SURRENDER, p, st.SURRENDERED + p, 0)
    ev.log_set(log, st.NO_INSURANCE, p, st.INSURED + p, 0)


# ---------------------------------------------------------------------------------------------------------------
# Leaving


@kernel
def forfeit(s, player, log):
    """`player` loses as much as could still be lost; the others play on (7.1)."""
    bet = s.bets[player] if s.bets[player] else highest_bet(s.rules)
    later = np.int64(s.rules.rounds - s.num_rounds) * highest_bet(s.rules)
    s.rewards[player] = -most_lost(s.rules) * (bet + later)
    leave(s, player, st.FORFEITS, log)
    if _next_active(s, 0) == s.rules.num_players:
        s.terminal = 1
    elif s.waits:
        s.current_player = _next_active(s, 0)
    elif _go_on(s, player + 1, 0, log) if s.phase == PLAY else _ask_next(s, player, log):
        _end_round(s, log)


@kernel(inline=True)
def highest_bet(rules):
    """Return the highest bet."""
    bet = np.int64(1)
    for k in range(num_bets(rules)):
        bet = max(bet, np.int64(rules.bet_units[k]))
    return bet


@kernel(inline=True)
def most_lost(rules):
    """Return the most that a bet of 1 can lose in a round."""
    hands = most_stakes(rules)
    return hands + 0.5 if rules.insurance else hands + 0.0


@kernel(inline=True)
def most_stakes(rules):
    """Return how many bets of 1 can be on a player's hands."""
    if rules.double == NO_DOUBLE:
        return np.int64(rules.max_hands)
    if rules.double_after_split:
        return 2 * np.int64(rules.max_hands)
    return max(np.int64(rules.max_hands), np.int64(2))


# ---------------------------------------------------------------------------------------------------------------
# Worlds


@kernel
def determinize(s, player, seed):
    """Deal the dealer's hidden card again, from the cards that nobody has seen and that it can be (3.4)."""
    begin_world(s, seed)
    if s.num_given:
        s.deck[:] = 0
    s.num_given = 0
    if s.hole == NO_CARD:
        return
    _return_hole(s, 1)
    card, words = _random_card(s, get_words(s.rng))
    while s.has_looked and _completes_blackjack(s, card):
        card, words = _random_card(s, words)
    set_words(s.rng, words)
    s.hole = card
    _return_hole(s, -1)


@kernel(inline=True)
def _return_hole(s, number):
    """Put the hidden card back into the shoe, or take it out, -1."""
    if s.rules.decks != INFINITE:
        s.left[s.hole] += number


# ---------------------------------------------------------------------------------------------------------------
# Spaces


def deck(options):
    """Return the cards of the shoe; none if they are drawn with replacement."""
    return np.repeat(np.arange(NUM_RANKS, dtype=np.int16), 4 * options.decks)


def first_roll(options):
    """Return what an explicit deck may contain if cards are drawn with replacement; None for a shoe."""
    return (NUM_RANKS, MOST_CARDS) if options.decks == INFINITE else None


def num_actions(options):
    """Return the number of actions: those that no option allows are left out at the end."""
    if options.bet_units:
        return BET_0 + len(options.bet_units)
    if options.insurance:
        return DECLINE + 1
    if options.surrender == "late":
        return SURRENDER + 1
    if options.max_hands > 1:
        return SPLIT + 1
    return DOUBLE + 1 if options.double != "none" else HIT + 1


def max_length(options):
    """A bet and insurance, and in each hand as many cards as fit, and a stick."""
    hands = options.max_hands * (BLACKJACK + 1)
    return options.rounds * options.num_players * (2 + hands)


def returns(options):
    """Bets won or lost (6)."""
    stakes = options.max_hands
    if options.double != "none":
        stakes = 2 * options.max_hands if options.double_after_split else max(options.max_hands, 2)
    bets = options.rounds * max(options.bet_units, default=1)
    low = -bets * (stakes + 0.5 * options.insurance)
    return Returns(low, bets * max(stakes, 1.5), None, "bets", 100, "bets per 100 deals")
