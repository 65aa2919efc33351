"""Rules of Texas hold'em. Paragraph numbers are those of rules.md; the effects of a move are in effects.py."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.cards import NUM_CARDS, count_bits, lowest_card
from cardenvs.core.kernel import kernel
from cardenvs.core.options import NONE
from cardenvs.core.rng import DEAL, DETERMINIZE, canonical_shuffle, random_below, start_stream
from cardenvs.core.seats import wrap
from cardenvs.games.texas_holdem import actions, effects, state, table
from cardenvs.games.texas_holdem.evaluator import rank_in_deck

_BUTTON = 1  # the chance source of the first button; DEAL k deals hand k

# ---------------------------------------------------------------------------------------------------------------
# Sets of seats


@kernel(inline=True)
def next_seat(seats, first, n):
    """The first seat of a set that is not empty, clockwise from seat `first`, 0 <= first < 2n."""
    later = seats >> wrap(first, n) << wrap(first, n)
    return lowest_card(later if later else seats)


@kernel(inline=True)
def is_one(seats):
    """Whether a set has one seat, or none."""
    return seats & seats - 1 == 0


# ---------------------------------------------------------------------------------------------------------------
# The start of the game, and of a hand


@kernel
def deal(s, given, log):
    """Give everybody chips, place the first button, and deal the first hand (1.3, 3.1, 3.2)."""
    n = np.int64(s.rules.num_players)
    s.live = (1 << n) - 1
    for p in range(n):
        effects.give_stack(s, p, s.rules.starting_stack if s.rules.stacks[0] == NONE else s.rules.stacks[p], log)
        if s.stacks[p] == 0:
            effects.eliminate(s, p, log)
    s.hands_to_level = s.rules.hands_per_level if _levels_rise(s) else 0
    effects.announce_hand(s, log)
    _first_positions(s, n, log)
    _begin_hand(s, given, log)
    _play_on(s, s.big_blind_seat + 1, log)


@kernel
def _first_positions(s, n, log):
    """The button, and the blinds behind it; of two players the button posts the small blind (2.3, 3.1)."""
    button = np.int64(s.rules.button)
    if button == NONE:
        button = 0
        if s.rules.button_start == state.RANDOM_BUTTON:
            start_stream(s, _BUTTON, 0)
            button = random_below(s.rng, n)
    if s.rules.button_rule == state.MOVING:
        button = next_seat(s.live, button, n)
    is_pair = count_bits(s.live) == 2
    if is_pair and not s.live >> button & 1:
        button = next_seat(s.live, next_seat(s.live, button, n) + 1, n)
    if is_pair or s.rules.blinds[0] == 0:
        small = button
    elif s.rules.button_rule == state.MOVING:
        small = next_seat(s.live, button + 1, n)
    else:
        small = wrap(button + 1, n)
    effects.place_button(s, button, log)
    s.small_blind_seat = small
    s.big_blind_seat = next_seat(s.live, small + 1, n)


@kernel
def _deal_next_hand(s, log):
    """Move button and blinds and deal the next hand (3.2 to 3.5)."""
    effects.announce_hand(s, log)
    if s.hands_to_level > 0:
        s.hands_to_level -= 1
        if s.hands_to_level == 0:
            effects.set_level(s, s.level + 1, log)
            s.hands_to_level = s.rules.hands_per_level if _levels_rise(s) else 0
    _next_positions(s, np.int64(s.rules.num_players), log)
    _begin_hand(s, s.deck[:0], log)


@kernel
def _levels_rise(s):
    """Whether there is a level above this one (2.2)."""
    next_level = s.level + 1
    if s.rules.format == state.CASH or s.rules.blinds[0] != NONE or next_level == state.MAX_LEVELS:
        return False
    return s.rules.levels[2 * next_level] != NONE


@kernel
def _next_positions(s, n, log):
    """The positions of the next hand, by the dead button or the moving one (3.3 to 3.5)."""
    if s.rules.button_rule == state.MOVING:
        button = next_seat(s.live, s.button + 1, n)
        small = button if count_bits(s.live) == 2 or s.rules.blinds[0] == 0 else next_seat(s.live, button + 1, n)
        big = next_seat(s.live, small + 1, n)
    else:
        big = next_seat(s.live, s.big_blind_seat + 1, n)
        if count_bits(s.live) == 2:
            small = next_seat(s.live, big + 1, n)
            button = small
        else:
            small = np.int64(s.big_blind_seat)
            button = small if s.rules.blinds[0] == 0 else np.int64(s.small_blind_seat)
    effects.place_button(s, button, log)
    s.small_blind_seat = small
    s.big_blind_seat = big


@kernel
def _begin_hand(s, given, log):
    """Antes, blinds and cards (2.2, 3.6, 4.1, 4.2)."""
    n = np.int64(s.rules.num_players)
    s.street = state.PREFLOP
    if s.rules.blinds[0] != NONE:
        effects.set_blinds(s, s.rules.blinds[0], s.rules.blinds[1], log)
    else:
        effects.set_blinds(s, s.rules.levels[2 * s.level], s.rules.levels[2 * s.level + 1], log)
    if s.rules.ante > 0 and s.rules.ante_type == state.EVERYBODY_ANTES:
        seat = np.int64(s.button)
        for _ in range(n):
            seat = wrap(seat + 1, n)
            if s.live >> seat & 1:
                effects.post_ante(s, seat, min(s.rules.ante, s.stacks[seat]), log)
    if s.live >> s.small_blind_seat & 1 and s.small_blind > 0:
        _post(s, np.int64(s.small_blind_seat), s.small_blind, table.POST_SMALL, log)
    else:
        ev.log_note(log, table.NO_SMALL_BLIND, ev.NO_PLAYER, 0)
    big = np.int64(s.big_blind_seat)
    _post(s, big, s.big_blind, table.POST_BIG, log)
    if s.rules.ante > 0 and s.rules.ante_type == state.BIG_BLIND_ANTES and s.stacks[big] > 0:
        effects.post_ante_for_all(s, big, min(s.rules.ante, s.stacks[big]), log)
    _shuffle(s, given)
    effects.deal_hole_cards(s, log)
    _begin_betting(s)
    s.to_match = s.big_blind


@kernel
def _post(s, seat, blind, kind, log):
    """Post a blind, or what there is of it (4.1)."""
    chips = min(blind, s.stacks[seat])
    if chips > 0:
        effects.put_in(s, seat, chips, kind, log)


@kernel
def _shuffle(s, given):
    """Put the cards that the hand can use in dealing order: the given ones first, the others drawn at random.

    Every hand is shuffled from a substream of its own, and from the same order of the cards.
    """
    for card in range(NUM_CARDS):
        s.deck[card] = card
    start_stream(s, DEAL, np.int64(s.hand_number))
    for k in range(given.shape[0]):
        j = k
        while s.deck[j] != given[k]:
            j += 1
        s.deck[k], s.deck[j] = s.deck[j], s.deck[k]
    for k in range(given.shape[0], 2 * s.rules.num_players + state.NUM_BOARD + state.NUM_BURNT):
        j = k + random_below(s.rng, NUM_CARDS - k)
        s.deck[k], s.deck[j] = s.deck[j], s.deck[k]


@kernel(inline=True)
def _begin_betting(s):
    """Nothing has been bet on this street; everybody with chips is to act, if there are two of them (4.3, 4.9)."""
    s.to_match = 0
    s.last_raise = s.big_blind
    s.acted = 0
    s.acted_since_full = 0
    s.pending = s.can_act


# ---------------------------------------------------------------------------------------------------------------
# What is legal


@kernel(inline=True)
def owed(s, player):
    """What `player` has to put in to call (4.4)."""
    bet = s.bets[s.street, player]
    to_match = np.int64(s.to_match)
    if s.can_act & ~(1 << player) == 0:
        to_match = _largest_other_bet(s, player)
    return max(0, min(np.int64(s.stacks[player]), to_match - bet))


@kernel
def _largest_other_bet(s, player):
    """The largest bet of the others who have not folded (4.2): all that can be called if they are all-in."""
    largest = 0
    for p in range(s.rules.num_players):
        if s.in_hand >> p & 1 and p != player:
            largest = max(largest, np.int64(s.bets[s.street, p]))
    return largest


@kernel
def raise_refused(s, player):
    """0 if `player` may bet or raise, else the code of the reason (4.6, 4.7)."""
    to_call = owed(s, player)
    if s.stacks[player] <= to_call:
        return actions.ONLY_ALL_IN_CALLS
    if not _somebody_can_answer(s, player):
        return actions.NOBODY_TO_RAISE
    if s.rules.reopen_rule == state.CUMULATIVE:
        closed = s.acted >> player & 1 and to_call < s.last_raise
    else:
        closed = s.acted_since_full >> player & 1
    return actions.NOT_REOPENED if closed else 0


@kernel
def _somebody_can_answer(s, player):
    """Whether an opponent in the hand has chips for more than the bet to match (4.6)."""
    others = s.can_act & ~(1 << player)
    while others:
        p = lowest_card(others)
        if s.bets[s.street, p] + s.stacks[p] > s.to_match:
            return True
        others &= others - 1
    return False


@kernel(inline=True)
def largest_raise(s, player):
    """The total of going all-in."""
    return np.int64(s.bets[s.street, player]) + s.stacks[player]


@kernel(inline=True)
def smallest_raise(s, player):
    """The smallest total of a bet or raise (4.5): a full raise, or all-in if the stack does not reach it."""
    return min(np.int64(s.to_match) + s.last_raise, largest_raise(s, player))


@kernel
def legal_actions(s, out):
    """List the actions that the player to act may choose, ascending (4.5, 4.10)."""
    player = np.int64(s.current_player)
    to_call = owed(s, player)
    n = _list_calls(to_call, out)
    if raise_refused(s, player):
        return n
    low, high = smallest_raise(s, player), largest_raise(s, player)
    if s.rules.betting == state.FULL:
        for total in range(low, high + 1):
            out[n] = actions.FULL_RAISE_0 + total
            n += 1
        return n
    pot_after_call = np.int64(s.pot) + to_call
    if s.rules.betting == state.FCPA:
        total = s.to_match + pot_after_call
        if low <= total <= high:
            out[n] = actions.FCPA_POT
            n += 1
            if total == high:
                return n
    else:
        n = _legal_fractions(s, pot_after_call, low, high, out, n)
    out[n] = actions.all_in_id(s)
    return n + 1


@kernel
def legal_but_amounts(s, out, bounds):
    """As `legal_actions`, but with betting="full" raises are given by the smallest and the largest (core's Amounts)."""
    bounds[0] = 0
    bounds[1] = -1
    if s.rules.betting != state.FULL:
        return legal_actions(s, out)
    player = np.int64(s.current_player)
    if not raise_refused(s, player):
        bounds[0] = smallest_raise(s, player)
        bounds[1] = largest_raise(s, player)
    return _list_calls(owed(s, player), out)


@kernel(inline=True)
def _list_calls(to_call, out):
    """Fold if there is something to call, and check or call."""
    n = 0
    if to_call > 0:
        out[n] = actions.FOLD
        n += 1
    out[n] = actions.CHECK_CALL
    return n + 1


@kernel(inline=True)
def _legal_fractions(s, pot_after_call, low, high, out, n):
    """The smallest raise and the fractions of the pot that are more, and less than all-in (4.10)."""
    if low == high:
        return n
    out[n] = actions.MIN_RAISE
    n += 1
    last = low
    to_match = np.int64(s.to_match)
    for k in range(len(actions.FRACTIONS)):
        total = actions.fraction_raise(pot_after_call, to_match, k)
        if total >= high:
            break
        if total > last:
            out[n] = actions.FRACTION_0 + k
            n += 1
            last = total
    return n


@kernel
def explain_illegal(s, action):
    """0 if `action` is legal, else one of the codes of actions.py."""
    player = np.int64(s.current_player)
    to_call = owed(s, player)
    if action == actions.FOLD:
        return 0 if to_call > 0 else actions.NOTHING_TO_CALL
    if action == actions.CHECK_CALL:
        return 0
    low, high = smallest_raise(s, player), largest_raise(s, player)
    pot_after_call = np.int64(s.pot) + to_call
    total = actions.asked_total(s, action, pot_after_call, low, high)
    refused = raise_refused(s, player)
    if refused:
        return refused
    if total < low:
        return actions.BELOW_MINIMUM
    if action >= actions.RAISE_TO or s.rules.betting == state.FULL:
        return actions.ABOVE_STACK if total > high else 0
    if s.rules.betting == state.FCPA:
        if action == actions.FCPA_POT:
            return actions.SAME_AS_ALL_IN if total > high else 0
        return actions.SAME_AS_LOWER if s.to_match + pot_after_call == high else 0
    if action == actions.ALL_IN:
        return 0
    if total >= high:
        return actions.SAME_AS_ALL_IN
    return (
        actions.SAME_AS_LOWER
        if action >= actions.FRACTION_0 and total == _next_lower(s, action, pot_after_call, low)
        else 0
    )


@kernel
def _next_lower(s, action, pot_after_call, low):
    """The total of the id below a fraction of the pot, at least the smallest raise."""
    if action == actions.FRACTION_0:
        return low
    return max(low, actions.fraction_raise(pot_after_call, np.int64(s.to_match), action - actions.FRACTION_0 - 1))


# ---------------------------------------------------------------------------------------------------------------
# Moves


@kernel
def apply_action(s, action, log):
    """Fold, check, call, bet or raise, and play on (4)."""
    player = np.int64(s.current_player)
    if action == actions.FOLD:
        effects.remember(s, player, state.FOLDS, 0)
        effects.fold_hand(s, player, log)
    else:
        s.pending &= ~(1 << player)
        if action == actions.CHECK_CALL:
            _check_or_call(s, player, log)
        else:
            to_call = owed(s, player)
            low, high = smallest_raise(s, player), largest_raise(s, player)
            _raise_to(s, player, actions.asked_total(s, action, s.pot + to_call, low, high), log)
        s.acted |= 1 << player
        s.acted_since_full |= 1 << player
    _play_on(s, player + 1, log)


@kernel(inline=True)
def _check_or_call(s, player, log):
    chips = owed(s, player)
    if chips == 0:
        effects.remember(s, player, state.CHECKS, 0)
        ev.log_note(log, table.CHECKS, player, 0)
    else:
        effects.remember(s, player, state.CALLS, chips)
        effects.put_in(s, player, chips, table.CALLS, log)


@kernel(inline=True)
def _raise_to(s, player, total, log):
    """Bet or raise to `total`: a full one sets the size of the next (4.8)."""
    effects.remember(s, player, state.RAISES, total)
    effects.put_in(s, player, total - s.bets[s.street, player], table.RAISES if s.to_match else table.BETS, log)
    if total - s.to_match >= s.last_raise:
        s.last_raise = total - s.to_match
        s.acted_since_full = 0
    s.to_match = total
    s.raises[s.street, player] += 1
    s.aggressor = player
    s.pending = s.can_act & ~(1 << player)


@kernel
def _play_on(s, first, log):
    """Go on to the next decision, from seat `first` clockwise: through streets, showdowns and deals (4.9)."""
    n = np.int64(s.rules.num_players)
    while True:
        if not is_one(s.in_hand):
            if is_one(s.can_act) and s.pending and owed(s, next_seat(s.pending, 0, n)) == 0:
                s.pending = 0
            if s.pending:
                s.current_player = next_seat(s.pending, first, n)
                return
            if s.street != state.RIVER:
                _next_street(s, log)
                first = s.button + 1
                continue
        _end_hand(s, log)
        if s.terminal:
            return
        _deal_next_hand(s, log)
        first = s.big_blind_seat + 1


@kernel
def _next_street(s, log):
    """Deal the next cards of the board, face up hands first if no more can be bet (3.7, 5.1, 6.1)."""
    if is_one(s.can_act):
        _return_uncalled(s, log)
        _show_all_in(s, log)
    effects.take_bets_in(s, log)
    s.street += 1
    effects.deal_board(s, log)
    _begin_betting(s)


# ---------------------------------------------------------------------------------------------------------------
# The end of a hand


@kernel
def _end_hand(s, log):
    """Showdown if two or more are left, then pots, rewards, eliminations, and the end of the game (5 to 8)."""
    _return_uncalled(s, log)
    if not is_one(s.in_hand):
        _showdown(s, log)
    _pay_pots(s, log)
    if s.rules.format == state.CASH or s.rules.returns == state.CHIPS:
        for p in range(s.rules.num_players):
            s.rewards[p] += s.stacks[p] - s.start_stacks[p]
    _eliminate_broke(s, log)
    if is_one(s.live) or s.hand_number == _last_hand(s):
        s.terminal = 1
        if s.rules.format != state.CASH:
            for p in range(s.rules.num_players):
                if s.live >> p & 1:
                    _finish(s, p, _count_ahead(s, p, s.live, s.stacks) + 1, s.live, s.stacks, log)


@kernel(inline=True)
def _last_hand(s):
    """The number of the hand that is the last one in any case (8.4, 9.1)."""
    if s.rules.format == state.CASH:
        return s.rules.num_hands
    return state.MAX_HANDS if s.rules.max_hands == NONE else s.rules.max_hands


@kernel
def _return_uncalled(s, log):
    """What the largest contributor put in above everybody else comes back (5.1)."""
    n = np.int64(s.rules.num_players)
    leader, most, second = next_seat(s.in_hand, 0, n), np.int64(-1), np.int64(0)
    for p in range(n):
        chips = np.int64(s.chips_in[p])
        if chips > most and s.in_hand >> p & 1:
            second = max(second, most)
            leader, most = p, chips
        else:
            second = max(second, chips)
    if most > second:
        effects.take_back(s, leader, most - second, log)


@kernel
def _show_all_in(s, log):
    """Hands are face up once no more can be bet (6.1)."""
    if s.rules.reveal_all_in and s.shown == 0:
        for p in range(s.rules.num_players):
            if s.in_hand >> p & 1:
                effects.show_hand(s, p, log)


@kernel
def _showdown(s, log):
    """Rank the hands, and show them in order: the river's last aggressor first (6.2)."""
    n = np.int64(s.rules.num_players)
    for p in range(n):
        if s.in_hand >> p & 1:
            s.ranks[p] = rank_in_deck(s.deck, 2 * p, 2 * n)
    if is_one(s.can_act):
        _show_all_in(s, log)
    if s.shown:
        return
    seat = s.button + 1
    if s.aggressor != ev.NO_PLAYER and s.raises[state.RIVER, s.aggressor] > 0:
        seat = np.int64(s.aggressor)
    for k in range(n):
        p = wrap(wrap(seat, n) + k, n)
        if s.in_hand >> p & 1:
            if _is_beaten(s, p):
                ev.log_note(log, table.MUCK, p, 0)
            else:
                effects.show_hand(s, p, log)


@kernel
def _is_beaten(s, player):
    """Whether a hand already shown is better and plays for all that `player` plays for."""
    for p in range(s.rules.num_players):
        if s.shown >> p & 1 and s.chips_in[p] >= s.chips_in[player] and s.ranks[p] > s.ranks[player]:
            return True
    return False


@kernel
def _pay_pots(s, log):
    """Cut all contributions at that of each player in the hand, lowest first, and pay pot by pot (5.2 to 5.5)."""
    n = np.int64(s.rules.num_players)
    rest = s.in_hand  # those who play for the pots still to be paid
    paid = 0
    while rest:
        cut, top = np.int64(s.chips_in[next_seat(rest, 0, n)]), np.int64(0)
        for p in range(n):
            if rest >> p & 1:
                cut = min(cut, np.int64(s.chips_in[p]))
                top = max(top, np.int64(s.chips_in[p]))
        below = np.int64(s.dead)
        for p in range(n):
            below += min(cut, np.int64(s.chips_in[p]))
        amount = np.int64(s.pot) if cut == top else below - paid
        if amount > 0:
            _pay_pot(s, rest, amount, n, log)
        paid += amount
        for p in range(n):
            if s.chips_in[p] <= cut:
                rest &= ~(1 << p)
    for p in range(n):
        s.ranks[p] = 0


@kernel
def _pay_pot(s, eligible, amount, n, log):
    """The best hands share; chips that do not divide go one each from the button's left (5.4)."""
    ev.log_note(log, table.SETTLE_POT, ev.NO_PLAYER, amount)
    best, winners = np.int64(-1), np.int64(0)
    for p in range(n):
        if eligible >> p & 1:
            ev.log_note(log, table.ELIGIBLE, p, 0)
            if s.ranks[p] > best:
                best, winners = np.int64(s.ranks[p]), np.int64(0)
            if s.ranks[p] == best:
                winners |= 1 << p
    sharers = count_bits(winners)
    share = amount // sharers
    odd = amount - share * sharers
    seat = s.button + 1
    while winners:
        p = next_seat(winners, seat, n)
        winners &= ~(1 << p)
        effects.win_chips(s, p, share + (1 if odd > 0 else 0), log)
        odd -= 1
        seat = p + 1


# ---------------------------------------------------------------------------------------------------------------
# Places


@kernel
def _eliminate_broke(s, log):
    """Who has no chips is out; more chips at the start of the hand are the better place (8.1, 8.2)."""
    n = np.int64(s.rules.num_players)
    broke = np.int64(0)
    for p in range(n):
        if s.live >> p & 1 and s.stacks[p] == 0:
            broke |= 1 << p
    if broke == 0:
        return
    survivors = count_bits(s.live & ~broke)
    for p in range(n):
        if broke >> p & 1:
            effects.eliminate(s, p, log)
            if s.rules.format != state.CASH:
                _finish(s, p, survivors + _count_ahead(s, p, broke, s.start_stacks) + 1, broke, s.start_stacks, log)


@kernel
def _count_ahead(s, player, seats, stacks):
    """How many of `seats` have more chips, by `stacks`, than `player`."""
    number = 0
    for p in range(s.rules.num_players):
        if seats >> p & 1 and stacks[p] > stacks[player]:
            number += 1
    return number


@kernel
def _finish(s, player, place, seats, stacks, log):
    """`player` takes `place`, or shares it with those of `seats` who have as many chips, and is paid (8.2, 8.5)."""
    sharers = 0
    for p in range(s.rules.num_players):
        if seats >> p & 1 and stacks[p] == stacks[player]:
            sharers += 1
    s.places[player] = place
    ev.log_note(log, table.PLACE if sharers == 1 else table.SHARED_PLACE, player, place)
    total = 0.0
    for k in range(sharers):
        total += _payment(s, place + k)
    s.rewards[player] += total / sharers


@kernel
def _payment(s, place):
    """What a place is worth (8.5)."""
    n = s.rules.num_players
    if s.rules.returns == state.PLACEMENT:
        return 1.0 - 2.0 * (place - 1) / (n - 1)
    if s.rules.returns == state.PAYOUTS:
        return float(max(0, s.rules.payouts[place - 1]))
    if s.rules.returns == state.CHIPS:
        return 0.0
    return 1.0 if place == 1 else -1.0 / (n - 1)


@kernel
def forfeit(s, player, log):
    """`player` leaves: the hand is folded, the chips behind leave the game, the place is the last one left (8.6)."""
    ev.log_note(log, table.FORFEIT, player, 0)
    effects.fold_hand(s, player, log)
    if s.rules.format == state.CASH or s.rules.returns == state.CHIPS:
        s.rewards[player] += s.stacks[player] - s.start_stacks[player]
        s.start_stacks[player] = s.stacks[player]
    place = count_bits(s.live)
    effects.eliminate(s, player, log)
    if s.rules.format != state.CASH:
        _finish(s, player, place, 1 << player, s.stacks, log)
    _play_on(s, player, log)


# ---------------------------------------------------------------------------------------------------------------
# What a player cannot know


@kernel
def determinize(s, player, seed):
    """Re-deal what `player` has not seen: other hands that were not shown, the board to come, the rest."""
    s.seed = seed
    start_stream(s, DETERMINIZE, 0)
    num_known = 0
    for place in range(NUM_CARDS):
        if _has_seen(s, player, place):
            s.deck[num_known], s.deck[place] = s.deck[place], s.deck[num_known]
            num_known += 1
    canonical_shuffle(s, s.deck, num_known, NUM_CARDS)
    for place in range(NUM_CARDS - 1, -1, -1):
        if _has_seen(s, player, place):
            num_known -= 1
            s.deck[num_known], s.deck[place] = s.deck[place], s.deck[num_known]


@kernel
def _has_seen(s, player, place):
    """Whether `player` knows the card at a place of the deck: an own one, one shown, or one on the board."""
    board = 2 * np.int64(s.rules.num_players)
    if place >= board:
        return place < board + state.BOARD_CARDS[s.street]
    seat = place >> 1
    return s.shown >> seat & 1 or (seat == player and s.dealt >> seat & 1)
