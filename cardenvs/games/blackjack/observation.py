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
    copy_row,
    entries,
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
def _total(s, p):
    """Return the total of the hand that `p` plays or has played last; 0 before the deal."""
    h = _shown_hand(s, p)
    return best_total(np.int64(s.hard[p, h]), np.int64(s.hands[p, h]))


@kernel(inline=True)
def _soft(s, p):
    h = _shown_hand(s, p)
    return is_soft(s.hard[p, h], s.hands[p, h])


@kernel(inline=True)
def _shown_hand(s, p):
    """Return the hand that `p` plays, and for players who do not play, the first."""
    return np.int64(s.hand) if s.phase == PLAY and s.current_player == p else np.int64(0)


@kernel(inline=True)
def _up(s, p):
    return s.up


@kernel(inline=True)
def _write_unseen(s, p, out, at):
    """Write how many cards of each rank are in the shoe, the dealer's hidden card included."""
    copy_row(s.left, NUM_RANKS, out, at)
    if s.hole != NO_CARD and s.rules.decks != INFINITE:
        out[np.uint64(at + s.hole)] += 1


@kernel(inline=True)
def _write_dealer(s, p, out, at):
    _write_counts(s.dealer, out, at)


@kernel(inline=True)
def _write_counts(cards, out, at):
    """Write the counts by rank of a hand, as in `hands` of the record, to out[at:at + NUM_RANKS]."""
    # Four bits of each count become eight at once; a loop over the ranks would take three times as long.
    out[np.uint64(at)] = cards >> SHIFT[ACE]
    low, high = _spread(cards & 0xFFFFFFFF), _spread(cards >> 32 & 0xFFFF)
    for k in range(8):
        out[np.uint64(at + 1 + k)] = low >> 8 * k & 15
    for k in range(4):
        out[np.uint64(at + 9 + k)] = high >> 8 * k & 15


@kernel(inline=True)
def _spread(counts):
    """Return eight counts of four bits each as one of eight bits each."""
    counts = (counts | counts << 16) & 0x0000FFFF0000FFFF
    counts = (counts | counts << 8) & 0x00FF00FF00FF00FF
    return (counts | counts << 4) & 0x0F0F0F0F0F0F0F0F


@kernel(inline=True)
def _write_hands(s, player, out, at):
    n, hands, place = np.int64(s.rules.num_players), np.int64(s.rules.max_hands), np.int64(at)
    for seat in range(n):
        p = wrap(player + seat, n)
        for h in range(hands):
            cards = np.int64(s.hands[p, h])
            if h == 0 or cards:
                _write_counts(cards, out, place)
            place += NUM_RANKS


@kernel(inline=True)
def _doubled(s, p, k):
    return s.doubled[p, k]


@kernel(inline=True)
def _bet(s, p):
    return s.bets[p]


@kernel(inline=True)
def _rounds_left(s, p):
    return s.rules.rounds - s.num_rounds


@kernel(inline=True)
def _hand(s, p):
    return np.int64(s.hand) if s.phase == PLAY and s.current_player >= 0 else np.int64(-1)


@kernel(inline=True)
def _left_game(s, p):
    return 1 - s.active[p]


def _hand_labels(size):
    return [f"{k // NUM_RANKS}:{RANKS[k % NUM_RANKS]}" for k in range(size)]


def _cards_of_hands(options):
    return options.num_players * options.max_hands * NUM_RANKS


def _most_bet(options):
    return max(options.bet_units, default=1)


OBSERVATION = Observation(
    STATE,
    number(
        "total", "total of the hand to be played, or else of the observer's first; 0 before the deal", _total, high=31
    ),
    number("soft", "1 if an ace counts 11 in it", _soft),
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
        _write_hands,
        written(
            "hands",
            _hand_labels,
            "cards of each hand by rank, observer first",
            high=_MOST_OF_RANK,
            size=_cards_of_hands,
        ),
    ),
    per_seat(number("bet", "bet", _bet, high=_most_bet)),
    per_seat(number("num_hands", "hands after splitting", "num_hands", high=MAX_HANDS)),
    per_seat(entries("doubled", None, "1 for each hand that has doubled", _doubled, size="max_hands")),
    per_seat(number("surrendered", "1 for each player who has surrendered", "surrendered")),
    per_seat(number("insured", "1 for each player who is insured", "insured")),
    per_seat(number("left", "1 for each player who has left", _left_game)),
)
layout, observe = OBSERVATION.layout, OBSERVATION.observe
