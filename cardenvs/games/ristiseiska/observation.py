"""The observation of Ristiseiska."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.seats import wrap
from cardenvs.games.ristiseiska import state
from cardenvs.games.ristiseiska.state import NO_CARD, NUM_CARDS, PACK, begs_to_stall, fitting, target_of
from cardenvs.kits.sections import (
    Observation,
    cards,
    number,
    one_hot,
    one_seat,
    only,
    per_seat,
    steps,
    tens_and_ones,
    together,
    write_bits,
    written,
)

_HAND_STEPS = np.array((1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 21, 25, 30))
_BEG_STEPS = np.array((1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 30, 40))  # before a hand is over


@kernel(inline=True)
def _fits(s, p):
    return fitting(s)


@kernel(inline=True)
def _gives(s, p):
    return s.phase == state.GIVE


@kernel(inline=True)
def _may_stop(s, p):
    return s.phase == state.MORE


@kernel(inline=True)
def _begs_left(s, p):
    return begs_to_stall(s.rules) - s.num_begs


@kernel(inline=True)
def _is_first_round(s, p):
    return s.num_turns < s.rules.num_players


@kernel(inline=True)
def _begged(s, p):
    """The card that must be played, for who has got it and for who has given it."""
    if s.begged != NO_CARD and (s.current_player == p or s.known[p, s.current_player] >> s.begged & 1):
        return np.int64(s.begged)
    return np.int64(-1)


@kernel(inline=True)
def _write_others(s, player, out, known, lacked, new):
    """Write what is known of the other hands."""
    n = s.rules.num_players
    for k in range(1, n):
        p = wrap(player + k, n)
        write_bits(s.known[player, p], NUM_CARDS, out, known + (k - 1) * NUM_CARDS)
        write_bits(s.lacked[p], NUM_CARDS, out, lacked + (k - 1) * NUM_CARDS)
        out[np.uint64(new + k - 1)] = s.has_new[p]


def _has_gifts(options):
    return options.beg in ("giver", "random")


def _has_token(options):
    return options.beg == "token"


def _has_places(options):
    return options.end == "places"


def _is_match(options):
    return options.match_target != "none"


_IF_TOKEN = kernel(inline=True)(lambda rules: rules.beg == state.TOKEN)
_IF_GIFTS = kernel(inline=True)(lambda rules: rules.beg <= state.RANDOM)
_IF_PLACES = kernel(inline=True)(lambda rules: rules.end != state.FIRST_OUT)
_IF_MATCH = kernel(inline=True)(lambda rules: target_of(rules) > 0)

OBSERVATION = Observation(
    state.STATE,
    cards("own_hand", PACK.labels, "own cards", "hands"),
    cards("laid", PACK.labels, "cards on the table", "laid"),
    cards("fits", PACK.labels, "cards that fit, wherever they are", _fits),
    number("gives", "1 if a card is to be given", _gives),
    number("may_stop", "1 if the player to act may stop after an ace or a king", _may_stop),
    per_seat(steps("hand_size", "cards in the hand of seat {}", _HAND_STEPS, "hand_sizes"), apart=True),
    one_seat("to_act", "the player to act", "current_player"),
    one_seat("dealer", "the dealer", "dealer"),
    steps("begs_left", "begs in a row that would end the hand", _BEG_STEPS, _begs_left),
    number("first_round", "1 in the first round of turns", _is_first_round),
    *together(
        _write_others,
        per_seat(
            written("known", PACK.labels, "cards that the observer knows to be in the hand of seat {}"),
            first=1,
            apart=True,
        ),
        per_seat(
            written("lacked", PACK.labels, "cards that fitted when seat {} last had none that did"),
            first=1,
            apart=True,
        ),
        per_seat(written("has_new", ("card",), "1 for who may have a card that has come since"), first=1),
    ),
    *only(
        _has_gifts,
        cards("given", PACK.labels, "cards that the observer has given away and not seen since", "given"),
        one_seat("beggar", "the player who gets a card", "beggar"),
        one_hot("begged", PACK.labels, "one-hot card just received that must be played", _begged),
        rules=_IF_GIFTS,
    ),
    *only(_has_token, one_seat("token", "the player with the token", "token"), rules=_IF_TOKEN),
    *only(
        _has_places,
        per_seat(one_hot("place", ("first", "second", "third", "fourth"), "one-hot place of who is out", "place")),
        rules=_IF_PLACES,
    ),
    *only(_is_match, *(per_seat(part) for part in tens_and_ones("points in the match")), rules=_IF_MATCH),
)
