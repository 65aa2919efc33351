"""What a player of Marjapussi observes."""

from cardenvs.core.kernel import kernel
from cardenvs.core.options import NONE
from cardenvs.games.marjapussi.cards import TRICKS
from cardenvs.games.marjapussi.state import (
    ANSWER,
    ASK_OPEN,
    MARKS,
    MATES,
    MAX_BONUS,
    MAX_CALLS,
    MAX_POINTS,
    MAX_TARGET,
    MAX_TRICKS,
    MOST_MARKS,
    NUM_PLAYERS,
    NUM_SIDES,
    NUM_SUITS,
    PACK,
    STATE,
    SUITS,
)
from cardenvs.kits.cards import count_bits
from cardenvs.kits.sections import Observation, cards, number, one_hot, one_seat, only, per_seat, per_side
from cardenvs.kits.tricks import trick_sections


@kernel(inline=True)
def _tricks_of(s, side):
    return count_bits(s.won[side] | s.won[side + NUM_SIDES]) // NUM_PLAYERS


@kernel(inline=True)
def _mates_of(s, side):
    return count_bits((s.won[side] | s.won[side + NUM_SIDES]) & MATES)


@kernel(inline=True)
def _answers(s, p):
    return s.phase == ANSWER


def _is_match(options):
    return options.match_target is not None


def _by_side(part):
    return per_side(part, NUM_SIDES, "the observer's side first")


def _most_points(options):
    return MAX_POINTS if options.values == "simple" else 120


def _has_large_numbers(options):
    return options.values == "simple" or options.scoring == "hand_points"


OBSERVATION = Observation(
    STATE,
    *trick_sections(TRICKS),
    per_seat(cards("lacks", PACK.labels, "cards that a player has shown not to hold", "lacks")),
    *only(
        _is_match,
        per_seat(cards("last_played", PACK.labels, "cards played in the hand before", "last_played")),
        rules=kernel(lambda rules: rules.match_target != NONE, inline=True),
    ),
    per_seat(cards("marriages", SUITS, "suits of which a player is known to have been dealt K and Q", "pairs")),
    per_seat(cards("halves", SUITS, "suits of which a player is known to have been dealt one of these", "halves")),
    per_seat(cards("no_marriages", SUITS, "suits of which a player is known not to have been dealt both", "no_pairs")),
    per_seat(cards("some_marriage", SUITS, "suits, one of which a player had both of", "some_pair")),
    per_seat(cards("silent", SUITS, "suits that a player could have declared, if held, and did not", "silent")),
    *only(
        lambda options: options.ask == "open",
        cards("partner_marriages", SUITS, "suits of which the partner was seen to hold K and Q", "shown_pairs"),
        cards("partner_no_marriages", SUITS, "suits of which the partner was seen not to hold both", "shown_no_pairs"),
        rules=kernel(lambda rules: rules.ask == ASK_OPEN, inline=True),
    ),
    _by_side(cards("declared", SUITS, "suits whose marriages a side has declared", "declared")),
    one_hot("trump", SUITS, "one-hot suit of trumps, zeros if there are none yet", "trump"),
    number("calls", "calls before this lead", "num_calls", high=MAX_CALLS),
    number("answers", "1 while the player to act chooses an answer", _answers),
    one_seat("dealer", "the dealer", "dealer"),
    _by_side(number("points", "card points won in this hand", "points", high=_most_points)),
    _by_side(number("mates", "aces and tens won in this hand", _mates_of, high=2 * NUM_SUITS)),
    _by_side(number("tricks", "tricks won in this hand", _tricks_of, high=MAX_TRICKS)),
    *only(
        lambda options: options.scoring == "hand_points",
        _by_side(number("bonus", "points for marriages and the last trick", "bonus", high=(NUM_SUITS + 1) * MAX_BONUS)),
        rules=kernel(lambda rules: rules.scoring != MARKS, inline=True),
    ),
    _by_side(number("in_the_bag", "1 for a side that is in the bag", "bagged")),
    _by_side(number("scores", "score", "scores", high=MAX_TARGET + MOST_MARKS)),
    dtype=lambda options: "int16" if _has_large_numbers(options) else "int8",
    players=NUM_PLAYERS,
)  # fmt: skip
