"""What a player of Blackjack observes."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.seats import wrap
from cardenvs.games.blackjack.rules import best_total, is_soft
from cardenvs.games.blackjack.state import (
    ACE,
    INFINITE,
    MAX_HANDS,
    MOST_CARDS,
    NO_CARD,
    NUM_RANKS,
    PLAY,
    SHIFT,
    STATE,
)
from cardenvs.kits.cards import RANKS
from cardenvs.kits.sections import (
    Observation,
    number,
    one_hot,
    one_seat,
    per_seat,
    together,
    written,
)

_MOST_OF_RANK = 42  # of a hand: aces, if 21 may be hit
_MOST_LEFT = MOST_CARDS // NUM_RANKS


@kernel(inline=True)
def _write_total(s, player, out, total, soft):
    """Write the total of the hand that `player` plays, and for those who do not play, of the first."""
    h = np.int64(s.hand) * (s.current_player == player)
    hard, cards = np.int64(s.hard[player, h]), np.int64(s.hands[player, h])
    out[total] = best_total(hard, cards)
    out[soft] = is_soft(hard, cards)


@kernel(inline=True)
def _up(s, p):
    return s.up


@kernel(inline=True)
def _write_unseen(s, p, out, at):
    """Write how many cards of each rank are in the shoe, the dealer's hidden card included."""
    for rank in range(NUM_RANKS):
        out[np.uint64(at + rank)] = s.left[np.uint64(rank)]
    if s.hole != NO_CARD and s.rules.decks != INFINITE:
        out[np.uint64(at + s.hole)] += 1


@kernel(inline=True)
def _write_dealer(s, p, out, at):
    _write_counts(s.dealer, out, at)


@kernel(inline=True)
def _write_counts(cards, out, at):
    """Write the counts by rank of a hand, as in `hands` of the record, to out[at:at + NUM_RANKS]."""
    # The compiler makes one store of the entries of a word.
    low, high = _spread(cards & 0xFFFFFFFF), _spread(cards >> 32 & 0xFFFF)
    out[np.uint64(at)] = cards >> SHIFT[ACE]
    for k in range(8):
        out[np.uint64(at + 1 + k)] = low >> 8 * k & 255
    for k in range(4):
        out[np.uint64(at + 9 + k)] = high >> 8 * k & 255


@kernel(inline=True)
def _spread(counts):
    """Return eight counts of four bits each as one of eight bits each."""
    # Adding 2**n - 1 times the upper half of a part moves it up by n bits. With shifts and masks alone, the compiler
    # would take each count from the hand by itself, which takes three times as long.
    counts += (counts >> 16) * 0xFFFF0000
    counts += (counts >> 8 & 0x000000FF000000FF) * 0xFF00
    return counts + (counts >> 4 & 0x000F000F000F000F) * 0xF0


@kernel(inline=True)
def _write_seats(s, player, out, hands, bet, num_hands, doubled, surrendered, insured, left):
    # The observer stands before the loop, since what prepares a loop takes longer than a round of it, and most play
    # alone.
    _write_seat(s, player, 0, out, hands, bet, num_hands, doubled, surrendered, insured, left)
    n = np.int64(s.rules.num_players)
    for seat in range(1, n):
        _write_seat(s, wrap(player + seat, n), seat, out, hands, bet, num_hands, doubled, surrendered, insured, left)


@kernel(inline=True)
def _write_seat(s, p, seat, out, hands, bet, num_hands, doubled, surrendered, insured, left):
    at, number = np.uint64(seat), np.int64(s.num_hands[p])
    if number > 0:
        first = seat * np.int64(s.rules.max_hands)
        _write_counts(np.int64(s.hands[p, 0]), out, hands + np.uint64(NUM_RANKS * first))
        out[doubled + np.uint64(first)] = s.doubled[p] & 1
        for h in range(1, number):
            _write_counts(np.int64(s.hands[p, h]), out, hands + np.uint64(NUM_RANKS * (first + h)))
            out[doubled + np.uint64(first + h)] = s.doubled[p] >> h & 1
    out[bet + at] = s.bets[p]
    out[num_hands + at] = number
    out[surrendered + at] = s.surrendered[p]
    out[insured + at] = s.insured[p]
    out[left + at] = 1 - s.active[p]


@kernel(inline=True)
def _rounds_left(s, p):
    return s.rules.rounds - s.num_rounds


@kernel(inline=True)
def _hand(s, p):
    return np.int64(s.hand) if s.phase == PLAY and s.current_player >= 0 else np.int64(-1)


def _hand_labels(size):
    return [f"{k // NUM_RANKS}:{RANKS[k % NUM_RANKS]}" for k in range(size)]


def _cards_of_hands(options):
    return options.num_players * options.max_hands * NUM_RANKS


def _most_bet(options):
    return max(options.bet_units, default=1)


OBSERVATION = Observation(
    STATE,
    *together(
        _write_total,
        written(
            "total",
            None,
            "total of the hand to be played, or else of the observer's first; 0 before the deal",
            high=31,
            size=1,
        ),
        written("soft", None, "1 if an ace counts 11 in it", size=1),
    ),
    one_hot("up", RANKS, "one-hot rank of the dealer's first card, zeros before the deal", _up),
    number("has_looked", "1 if the dealer has looked and has no blackjack", "has_looked"),
    one_hot("phase", ("bet", "insurance", "play"), "one-hot phase", "phase"),
    one_hot("hand", None, "one-hot hand that is played, zeros unless one is", _hand, size="max_hands"),
    one_seat("to_act", "the player to act", "current_player"),
    written(
        "unseen",
        RANKS,
        "cards of each rank that nobody has seen; zeros with replacement",
        _write_unseen,
        high=_MOST_LEFT,
    ),
    written("dealer", RANKS, "the dealer's cards that lie face up, by rank", _write_dealer, high=_MOST_OF_RANK),
    number("rounds_left", "rounds after this one", _rounds_left, high=99),
    *together(
        _write_seats,
        written(
            "hands",
            _hand_labels,
            "cards of each hand by rank, observer first",
            high=_MOST_OF_RANK,
            size=_cards_of_hands,
        ),
        per_seat(written("bet", None, "bet", high=_most_bet, size=1)),
        per_seat(written("num_hands", None, "hands after splitting", high=MAX_HANDS, size=1)),
        per_seat(written("doubled", None, "1 for each hand that has doubled", size="max_hands")),
        per_seat(written("surrendered", None, "1 for each player who has surrendered", size=1)),
        per_seat(written("insured", None, "1 for each player who is insured", size=1)),
        per_seat(written("left", None, "1 for each player who has left", size=1)),
    ),
)
layout, observe = OBSERVATION.layout, OBSERVATION.observe
