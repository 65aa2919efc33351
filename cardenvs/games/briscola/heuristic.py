"""A rule agent for Briscola: take points cheaply, feed the partner, and save trumps and long cards."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.seats import wrap
from cardenvs.games.briscola.rules import (
    height,
    led_suit,
    points_of,
    strength,
    suit_of,
    trick_winner,
    trump_suit,
)
from cardenvs.kits.deck import NO_CARD

_TRUMP_COST = 3.0  # points that a low trump is worth in hand
_HEIGHT_COST = 0.7  # and that each step of its rank adds
_BEATEN_LATER = 0.45  # chance that a player still to come beats the best card
_TRUMP_BEATEN = 0.15  # the same for a trump


@kernel
def heuristic(s, legal, n, rng):
    """The card with the most points for the side, less what it is worth in hand."""
    player = np.int64(s.current_player)
    best, best_value = np.int64(legal[0]), -1e9
    for k in range(n):
        card = np.int64(legal[k])
        value = _expected_points(s, player, card) - _worth_in_hand(s, card)
        if value > best_value:
            best, best_value = card, value
    return best


@kernel
def _worth_in_hand(s, card):
    """What a card is worth if it is kept: trumps win tricks later."""
    if suit_of(s, card) == trump_suit(s):
        return _TRUMP_COST + _HEIGHT_COST * height(s, card)
    return 0.1 * height(s, card)


@kernel
def _expected_points(s, player, card):
    """The points of the trick with `card`, positive if the side of `player` is likely to win it."""
    players, on_table, to_come = s.rules.num_players, points_of(card), s.rules.num_players - 1
    for p in range(players):
        if s.trick[p] != NO_CARD:
            on_table += points_of(np.int64(s.trick[p]))
            to_come -= 1
    winner, best_card = player, card
    if player != s.leader:
        before, led = trick_winner(s), led_suit(s)
        if strength(s, card, led) < strength(s, np.int64(s.trick[before]), led):
            winner, best_card = before, np.int64(s.trick[before])
    is_trump = suit_of(s, best_card) == trump_suit(s)
    ours = (winner - player) % 2 == 0
    chance = 1.0 if ours else 0.0  # that the side of `player` wins the trick
    seat = wrap(player + 1, players)
    for _ in range(to_come):
        is_partner = (seat - player) % 2 == 0
        beaten = _TRUMP_BEATEN if is_trump else _BEATEN_LATER
        if on_table >= 10:
            beaten *= 1.4  # worth a trump
        chance += (1 - chance) * beaten if is_partner else -chance * beaten
        seat = wrap(seat + 1, players)
    return (2 * chance - 1) * on_table
