"""A planner for one-player poker: try every action on random orders of the cards to come.

Each action is followed by the rule agent to the end of the game, many times. The best action so far is compared with
one after the other: both are tried on the same random numbers, in rounds that double, until one is clearly worse. So
most actions take few trials, and close ones many.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.rng import next_uint64, random_below, seed_xoshiro
from cardenvs.core.scratch import stack_record
from cardenvs.games.one_player_poker.heuristic import DRAW_TO_FLUSH, action_of, advice
from cardenvs.games.one_player_poker.rules import MODEL_POINTS, NUM_PLAYS, POSITIONS, cards_taken, hand_cards
from cardenvs.kits.cards import count_bits
from cardenvs.kits.poker_hands import best_model_category

_FIRST_TRIALS = 16
_MOST_TRIALS = 512
_CLEARLY = 1.7  # standard errors by which the worse action is behind


_TRIALS = np.dtype([("points", "<i2", (2, _MOST_TRIALS)), ("number", "<i8", (2,))])  # of the best action, and a rival
_new_trials = stack_record(_TRIALS)


@kernel
def planner(s, legal, n, rng):
    """The action with the most model points if the rule agent goes on."""
    hand, left = hand_cards(s), np.int64(s.left)
    plays_left, discards_left = np.int64(s.rules.plays) - s.num_played, np.int64(s.discards_left)
    seed = next_uint64(rng)
    taken, rule, _ = advice(hand, left, plays_left, discards_left)
    best, best_is_play = taken, rule < DRAW_TO_FLUSH
    trials = _new_trials()
    row = 0  # of the best action in `trials`
    trials.number[row] = 0
    for action in range(len(POSITIONS)):
        taken, is_play = cards_taken(s, action), action < NUM_PLAYS
        if (taken == best and is_play == best_is_play) or (not is_play and count_bits(taken) > discards_left):
            continue
        trials.number[1 - row] = 0
        if _is_better(
            hand, left, plays_left, discards_left, taken, is_play, best, best_is_play, seed, rng, trials, row
        ):
            best, best_is_play, row = taken, is_play, 1 - row
    return action_of(s, best, best_is_play)


@kernel
def _is_better(hand, left, plays_left, discards_left, taken, is_play, best, best_is_play, seed, rng, trials, row):
    """Whether an action is clearly better than the best so far, whose trials are in `row`."""
    total, squares, trial, end = 0.0, 0.0, 0, _FIRST_TRIALS
    while trial < _MOST_TRIALS:
        _try(hand, left, plays_left, discards_left, taken, is_play, seed, rng, trials, 1 - row, end)
        _try(hand, left, plays_left, discards_left, best, best_is_play, seed, rng, trials, row, end)
        while trial < end:
            gain = np.float64(trials.points[1 - row, trial]) - trials.points[row, trial]
            total += gain
            squares += gain * gain
            trial += 1
        error = np.sqrt(max(squares - total * total / trial, 0.0))  # of the total
        if total < -_CLEARLY * error or error == 0.0:
            return False
        if total > 2 * _CLEARLY * error:
            return True
        end = 2 * trial
    return total > 0.0


@kernel
def _try(hand, left, plays_left, discards_left, taken, is_play, seed, rng, trials, row, number):
    """Fill up the trials of an action; each has random numbers of its own, the same for every action."""
    for trial in range(trials.number[row], number):
        seed_xoshiro(rng, seed + np.uint64(trial))
        trials.points[row, trial] = _outcome(hand, left, plays_left, discards_left, taken, is_play, rng)
    trials.number[row] = max(trials.number[row], number)


@kernel
def _outcome(hand, left, plays_left, discards_left, taken, is_play, rng):
    """Return the model points from here on: take the cards first, then follow the rule agent. Draws from `rng`."""
    points = np.int64(0)
    while True:
        if is_play:
            points += MODEL_POINTS[best_model_category(taken)]
            plays_left -= 1
            if plays_left == 0:
                return points
        else:
            discards_left -= count_bits(taken)
        hand ^= taken
        for _ in range(count_bits(taken)):
            card = _drawn(left, rng)
            left ^= card
            hand |= card
        taken, rule, _ = advice(hand, left, plays_left, discards_left)
        is_play = rule < DRAW_TO_FLUSH


@kernel
def _drawn(cards, rng):
    """Return one of the cards at random, as a bit set."""
    for _ in range(random_below(rng, count_bits(cards))):
        cards &= cards - 1
    return cards & -cards
