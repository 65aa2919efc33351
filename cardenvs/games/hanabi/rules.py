"""Rules of Hanabi. Paragraph numbers are those of rules.md."""

import numpy as np

from cardenvs.core import events as ev
from cardenvs.core.kernel import kernel
from cardenvs.core.returns import Returns
from cardenvs.core.rng import DEAL, random_below, shuffle, shuffle_rest, start_stream
from cardenvs.core.seats import wrap
from cardenvs.games.hanabi import state as st
from cardenvs.games.hanabi.cards import (
    COPIES,
    MAX_DECK,
    MAX_RANKS,
    NUM_CARDS,
    NUM_SUITS,
    OF_RANKS,
    OF_SUITS,
    RAINBOW,
    WHOLE_SUIT,
    bit_of,
    number_of,
    rank_of,
    suit_of,
)
from cardenvs.games.hanabi.memory import (
    forget_card,
    move_memory,
    remember_hint,
    touched_by_colour,
    touched_by_rank,
)
from cardenvs.kits.deck import NO_CARD, begin_world
from cardenvs.kits.listing import list_bits
from cardenvs.kits.matches import leave

_SUIT_MASK = (1 << 2 * MAX_RANKS) - 1  # the cards of the first suit, in sets and counts
_MOST_TRIES = 1 << 30
_CONVENTION_TRIES = 100  # hands drawn before a hint is no longer taken to mean what it should

# Why an action is illegal
NO_TOKEN, ALL_TOKENS, NO_SUCH_CARD, TOUCHES_NOTHING = 1, 2, 3, 4


# ---------------------------------------------------------------------------------------------------------------
# The deal


@kernel
def deal(s, given, log):
    """Shuffle and deal a hand to each player in turn (2.2)."""
    cards = st.cards_dealt_from(s.rules)
    _put_in_order(s)
    start_stream(s, DEAL, 0)
    shuffle_rest(s, s.deck, cards, given)
    ev.log_create(log, st.NEW_DECK, st.STOCK, cards)
    s.information, s.lives = s.rules.max_information_tokens, s.rules.max_life_tokens
    ev.log_set(log, st.TOKENS, ev.NO_PLAYER, st.INFORMATION, s.information)
    ev.log_set(log, st.NEW_LIVES, ev.NO_PLAYER, st.LIVES, s.lives)
    _judge_all(s)
    for p in range(st.MAX_PLAYERS):
        s.last_action[p], s.last_card[p] = st.NO_ACTION, NO_CARD
        for k in range(st.MAX_HAND):
            s.hands[p, k] = NO_CARD
    s.last_player = st.NO_PLAYER
    for p in range(s.rules.num_players):
        for _ in range(s.rules.hand_size):
            _draw(s, p, st.DEALT, log)
    s.current_player = 0
    if s.rules.start_player == st.RANDOM:
        start_stream(s, st.START, 0)
        s.current_player = random_below(s.rng, s.rules.num_players)
    ev.log_note(log, st.BEGINS, s.current_player, 0)


@kernel
def _put_in_order(s):
    """Fill `deck` with all copies of all cards, ascending."""
    n = 0
    for suit in range(NUM_SUITS):
        if st.all_suits(s.rules) >> suit & 1:
            for rank in range(s.rules.ranks):
                for _ in range(COPIES[s.rules.ranks, rank]):
                    s.deck[n] = MAX_RANKS * suit + rank
                    n += 1
    for k in range(n, MAX_DECK):
        s.deck[k] = NO_CARD


@kernel
def _draw(s, player, kind, log):
    """Give the next card to `player`, whom alone it is hidden from; the last card begins the last round (3.5, 4.1)."""
    card, place = np.int64(s.deck[s.num_dealt]), np.int64(s.hand_sizes[player])
    s.deck[s.num_dealt] = NO_CARD
    s.num_dealt += 1
    s.hands[player, place] = card
    s.hand_sizes[player] += 1
    forget_card(s, player, place)
    others = ((1 << s.rules.num_players) - 1) ^ 1 << player
    ev.log_move(log, kind, player, card, st.STOCK, st.HAND + player, others)
    if st.in_stock(s) == 0:
        s.turns_left = s.rules.num_players
        ev.log_set(log, st.LAST_ROUND, ev.NO_PLAYER, st.TURNS_LEFT, s.turns_left)


@kernel(inline=True)
def _judge_all(s):
    """Say the same of all cards before the first play as `_judge_suit` does later of those of one suit."""
    suits, ranks = st.all_suits(s.rules), np.int64(s.rules.ranks)
    of_ranks = OF_RANKS[np.uint64((1 << ranks) - 1)]
    playing = OF_SUITS[np.uint64(suits)] & of_ranks
    s.useless = of_ranks & ~playing
    s.playable = playing & OF_RANKS[1]
    if ranks > 1:
        s.critical = playing & OF_RANKS[np.uint64(1 << (ranks - 1))]


@kernel(inline=True)
def _judge_suit(s, suit):
    """Say of each card of a suit whether it can be played now, never any more, or has one copy left."""
    # Without a loop over the ranks: two bits of each of these words are about one of them.
    first, height, every = 2 * MAX_RANKS * np.int64(suit), 2 * np.int64(s.heights[suit]), _all_ranks(s.rules)
    left = WHOLE_SUIT[np.uint64(s.rules.ranks)] - (s.discarded >> first & _SUIT_MASK)
    gone = every & ~(left | left >> 1) & (np.int64(-1) << height)
    reachable = (gone & -gone) - 1 & every if st.all_suits(s.rules) >> suit & 1 else np.int64(0)
    wanted = reachable & (np.int64(-1) << height)
    s.useless |= (every & ~wanted) << first
    others = ~(every << first)
    s.playable = s.playable & others | (wanted & np.int64(1) << height) << first
    s.critical = s.critical & others | (wanted & left & ~(left >> 1)) << first


@kernel(inline=True)
def _all_ranks(rules):
    """Return the set of all cards of the first suit."""
    return OF_RANKS[np.uint64((1 << rules.ranks) - 1)] & _SUIT_MASK


# ---------------------------------------------------------------------------------------------------------------
# Actions


@kernel(inline=True)
def is_hint(s, action):
    """Return whether an action id is that of a hint."""
    return action >= 2 * s.rules.hand_size


@kernel(inline=True)
def hint_of(s, action):
    """Return a hint as (offset of the receiver, colour or -1, rank or -1) (6)."""
    colours, ranks = st.count_hint_colours(s.rules), np.int64(s.rules.ranks)
    k, offset = action - 2 * np.int64(s.rules.hand_size), np.int64(1)
    by_colour = (s.rules.num_players - 1) * colours
    is_colour = k < by_colour
    if not is_colour:
        k -= by_colour
    values = colours if is_colour else ranks
    while k >= values:  # a division would take longer
        k -= values
        offset += 1
    return (offset, k, np.int64(-1)) if is_colour else (offset, np.int64(-1), k)


@kernel(inline=True)
def _may_discard(s):
    return s.information < s.rules.max_information_tokens or s.rules.discard_at_max


@kernel(inline=True)
def legal_actions(s, out):
    """Discards, plays and hints, ascending (3)."""
    player, n = np.int64(s.current_player), np.int64(0)
    places = (np.int64(1) << s.hand_sizes[player]) - 1
    h = np.int64(s.rules.hand_size)
    if _may_discard(s):
        n = list_bits(places, 0, out, n)
    n = list_bits(places, h, out, n)
    if s.information > 0:
        colours, ranks = st.count_hint_colours(s.rules), np.int64(s.rules.ranks)
        others = np.int64(s.rules.num_players) - 1
        for offset in range(1, others + 1):
            n = list_bits(_colours_to_hint(s, player, offset), 2 * h + (offset - 1) * colours, out, n)
        for offset in range(1, others + 1):
            first = 2 * h + others * colours + (offset - 1) * ranks
            n = list_bits(_ranks_to_hint(s, player, offset), first, out, n)
    return n


@kernel(inline=True)
def _colours_to_hint(s, player, offset):
    """Return the colours that may be hinted to a player, a bit each (3.1)."""
    colours, every = np.int64(0), (np.int64(1) << st.count_hint_colours(s.rules)) - 1
    if s.rules.empty_hints:
        return every
    p = wrap(player + offset, s.rules.num_players)
    for k in range(s.hand_sizes[p]):
        suit = suit_of(s.hands[p, k])
        if suit != RAINBOW:
            colours |= np.int64(1) << suit
        elif s.rules.rainbow == st.WILD:
            colours = every
        else:
            colours |= np.int64(1) << s.rules.colors
    return colours


@kernel(inline=True)
def _ranks_to_hint(s, player, offset):
    """Return the ranks that may be hinted to a player, a bit each (3.1)."""
    if s.rules.empty_hints:
        return (np.int64(1) << s.rules.ranks) - 1
    ranks, p = np.int64(0), wrap(player + offset, s.rules.num_players)
    for k in range(s.hand_sizes[p]):
        ranks |= np.int64(1) << rank_of(s.hands[p, k])
    return ranks


@kernel
def explain_illegal(s, action):
    """Return why an action is illegal, or 0."""
    player, h = np.int64(s.current_player), s.rules.hand_size
    if not is_hint(s, action):
        if action < h and not _may_discard(s):
            return ALL_TOKENS
        return NO_SUCH_CARD if action % h >= s.hand_sizes[player] else 0
    if s.information == 0:
        return NO_TOKEN
    offset, colour, rank = hint_of(s, action)
    if colour >= 0:
        return 0 if _colours_to_hint(s, player, offset) >> colour & 1 else TOUCHES_NOTHING
    return 0 if _ranks_to_hint(s, player, offset) >> rank & 1 else TOUCHES_NOTHING


@kernel
def apply_action(s, action, log):
    """Hint, discard or play, and go on to the next player, unless the game ends (3, 4)."""
    player, h = np.int64(s.current_player), s.rules.hand_size
    is_last_round, score = s.turns_left > 0, st.score_of(s)
    s.last_player, s.last_action[player], s.last_card[player] = player, action, NO_CARD
    s.last_touched[player] = s.last_result[player] = 0
    if is_hint(s, action):
        _hint(s, player, action, log)
    elif action < h:
        _discard(s, player, action, log)
    else:
        _play(s, player, action - h, log)
    if is_last_round:
        s.turns_left -= 1
        ev.log_set(log, st.TURN_OVER, ev.NO_PLAYER, st.TURNS_LEFT, s.turns_left)
    new_score = st.score_of(s)
    if s.lives == 0 and s.rules.bomb_score == st.ZERO:
        new_score = 0
    _pay(s, new_score - score)
    if _is_over(s) or (is_last_round and s.turns_left == 0):
        s.terminal = 1
        ev.log_note(log, st.ENDS, ev.NO_PLAYER, new_score)
    else:
        s.current_player = wrap(player + 1, s.rules.num_players)


@kernel(inline=True)
def _is_over(s):
    """Return whether the last life is lost or all fireworks are complete (4.1)."""
    return s.lives == 0 or st.score_of(s) == st.count_suits(s.rules) * s.rules.ranks


@kernel(inline=True)
def _pay(s, points):
    """Every player gets the same (4.3)."""
    for p in range(s.rules.num_players):
        s.rewards[p] = points


@kernel
def _hint(s, player, action, log):
    """Point at all cards of a colour or rank in a hand, for a token (3.1)."""
    offset, colour, rank = hint_of(s, action)
    receiver = wrap(player + offset, s.rules.num_players)
    s.information -= 1
    kind, value = st.HINTS_RANK, rank + 1
    if colour >= 0:
        kind, value = st.HINTS_COLOUR, colour if colour < s.rules.colors else np.int64(RAINBOW)
    ev.log_event(log, kind, player, ev.UNKNOWN, st.HAND + receiver, ev.NO_PLACE, value, ev.EVERYBODY, ev.EVERYBODY)
    ev.log_set(log, st.SPENDS, player, st.INFORMATION, s.information)
    touched, suits = np.int64(0), np.int64(0)
    if colour >= 0:
        touched, suits = touched_by_colour(s, receiver, colour), st.suits_hinted(s.rules, colour)
    else:
        touched = touched_by_rank(s, receiver, rank)
    for k in range(s.hand_sizes[receiver]):
        if touched >> k & 1:
            ev.log_note(log, st.TOUCHES, receiver, k + 1)
    s.last_touched[player] = touched
    remember_hint(s, receiver, suits, rank, touched)


@kernel
def _discard(s, player, place, log):
    """Discard a card, get a token back, and draw (3.2, 3.3)."""
    card = _take(s, player, place)
    _log_from_hand(log, st.DISCARDS_CARD, player, card, st.DISCARDS, place)
    _add_to_discards(s, card)
    _gain_token(s, player, log)
    if st.in_stock(s) > 0:
        _draw(s, player, st.DRAWS, log)


@kernel
def _play(s, player, place, log):
    """Play a card, which is lost with a life if it does not fit, and draw unless the game is over (3.4, 3.5)."""
    card = _take(s, player, place)
    suit = suit_of(card)
    if rank_of(card) == s.heights[suit]:
        _log_from_hand(log, st.PLAYS, player, card, st.FIREWORKS, place)
        s.heights[suit] += 1
        s.played += bit_of(card)
        s.last_result[player] = st.SCORED
        _judge_suit(s, suit)
        if s.heights[suit] == s.rules.ranks:
            _gain_token(s, player, log)
    else:
        _log_from_hand(log, st.MISPLAYS, player, card, st.DISCARDS, place)
        _add_to_discards(s, card)
        s.lives -= 1
        ev.log_set(log, st.LOSES_LIFE, player, st.LIVES, s.lives)
    if st.in_stock(s) > 0 and not _is_over(s):
        _draw(s, player, st.DRAWS, log)


@kernel(inline=True)
def _take(s, player, place):
    """Take a card out of a hand; the newer ones move down, with what is known of them (3.5)."""
    card, last = np.int64(s.hands[player, place]), np.int64(s.hand_sizes[player]) - 1
    for k in range(place, last):
        s.hands[player, k] = s.hands[player, k + 1]
        move_memory(s, player, k)
    s.hands[player, last] = NO_CARD
    s.suits[player, last] = s.ranks[player, last] = s.hinted[player, last] = 0
    s.called[player, last] = 0
    s.hand_sizes[player] = last
    s.last_card[player] = card
    return card


@kernel(inline=True)
def _log_from_hand(log, kind, player, card, pile, place):
    ev.log_event(log, kind, player, card, st.HAND + player, pile, place, ev.EVERYBODY, ev.EVERYBODY)


@kernel(inline=True)
def _add_to_discards(s, card):
    s.discarded += bit_of(card)
    _judge_suit(s, suit_of(card))


@kernel(inline=True)
def _gain_token(s, player, log):
    """Get a token back, unless all are there."""
    if s.information < s.rules.max_information_tokens:
        s.information += 1
        s.last_result[player] |= st.GAINED
        ev.log_set(log, st.GAINS, player, st.INFORMATION, s.information)


@kernel
def forfeit(s, player, log):
    """The game is over, and everybody ends with nothing (4.4)."""
    leave(s, player, st.FORFEITS, log)
    _pay(s, -s.returns[player])
    s.terminal = 1


# ---------------------------------------------------------------------------------------------------------------
# Worlds


@kernel
def determinize(s, player, seed):
    """Deal the hand of `player` again, uniformly from what fits the hints, and shuffle the rest (5.4)."""
    begin_world(s, seed)
    _collect_unseen(s, player)
    _deal_fitting(s, player, False)


@kernel
def sample_belief(s, player, seed):
    """Like `determinize`, but cards that hints were about are what these hints meant, if they can be (memory.py)."""
    begin_world(s, seed)
    _collect_unseen(s, player)
    _deal_fitting(s, player, True)


@kernel(inline=True)
def _first_unseen(s, player):
    return s.num_dealt - s.hand_sizes[player]


@kernel
def _collect_unseen(s, player):
    """Put the cards that `player` does not see into deck[num_dealt - hand_size:], ascending."""
    unseen, n = st.unseen_by(s, player), _first_unseen(s, player)
    for card in range(NUM_CARDS):
        for _ in range(number_of(unseen, card)):
            s.deck[n] = card
            n += 1


@kernel
def fitting(s, player, place, unseen, by_convention):
    """Return the set of unseen cards that a card in the hand can be; by convention, those that its hint meant."""
    fits = st.possible(s, player, place)
    fits &= unseen | unseen >> 1
    if by_convention and s.called[player, place]:
        meant = fits & s.called[player, place] & ~s.useless
        if meant:
            return meant
    return fits


@kernel
def _deal_fitting(s, player, by_convention):
    """Draw a card that fits for each place of the hand, and begin again whenever no two could be the same card.

    Each place draws among all unseen cards that fit it, and a draw that takes a card already taken rejects the hand,
    so all hands that fit are equally likely.
    """
    first, end = _first_unseen(s, player), st.cards_dealt_from(s.rules)
    unseen = st.unseen_by(s, player)
    for tries in range(_MOST_TRIES):
        taken, k = np.int64(0), np.int64(0)
        while k < s.hand_sizes[player]:
            fits = fitting(s, player, k, unseen, by_convention and tries < _CONVENTION_TRIES)
            index = _draw_fitting(s, fits, first, end)
            if taken >> (index - first) & 1:
                break
            taken |= np.int64(1) << (index - first)
            s.hands[player, k] = s.deck[index]
            k += 1
        if k == s.hand_sizes[player]:
            _remove(s, taken, first, end)
            shuffle(s, s.deck, s.num_dealt, end)
            return


@kernel
def _draw_fitting(s, fits, first, end):
    """Return the index of a random card in deck[first:end] that is in a set."""
    number = np.int64(0)
    for k in range(first, end):
        number += fits >> 2 * np.int64(s.deck[k]) & 1
    chosen = random_below(s.rng, number)
    for k in range(first, end):
        chosen -= fits >> 2 * np.int64(s.deck[k]) & 1
        if chosen < 0:
            return k
    return first


@kernel
def _remove(s, taken, first, end):
    """Take the cards at the indices first + k of a bit set out of deck[first:end]; the others keep their order."""
    target = np.int64(end) - 1
    for k in range(end - 1, first - 1, -1):
        if not taken >> (k - first) & 1:
            s.deck[target] = s.deck[k]
            target -= 1
    for k in range(first, target + 1):
        s.deck[k] = NO_CARD


# ---------------------------------------------------------------------------------------------------------------
# Spaces

num_actions = st.num_actions
max_length = st.max_length


def returns(options):
    """Return the points of all fireworks, the same for every player."""
    return Returns(0, st.num_suits(options) * options.ranks, None, "points", cooperative=True)
