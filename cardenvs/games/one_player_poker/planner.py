"""A planner for one-player poker: try every action on random orders of the cards to come.

Each action is followed by the rule agent to the end of the game, many times. The best action so far is compared with
one after the other: both are tried on the same random numbers, in rounds that double, until one is clearly worse. So
most actions take few trials, and close ones many. Before the last play, with two discards left or fewer, the planner
computes the best action exactly, from all cards that may come.
"""

import numpy as np

from cardenvs.core.cards import count_bits
from cardenvs.core.kernel import kernel
from cardenvs.core.rng import next_uint64, random_below, seed_xoshiro
from cardenvs.core.scratch import stack_record
from cardenvs.games.one_player_poker.categories import best_model_category
from cardenvs.games.one_player_poker.heuristic import DRAW_TO_FLUSH, action_of, advice
from cardenvs.games.one_player_poker.rules import HAND_SIZE, MODEL_POINTS, NUM_PLAYS, POSITIONS, hand_cards

_EXACT_DISCARDS = 2
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
    if plays_left == 1 and discards_left <= _EXACT_DISCARDS:
        taken, _ = last_discard(hand, left, discards_left)
        return action_of(s, taken, False) if taken else action_of(s, advice(hand, left, plays_left, 0)[0], True)
    taken, rule, _ = advice(hand, left, plays_left, discards_left)
    best, best_is_play = taken, rule < DRAW_TO_FLUSH
    trials = _new_trials()
    row = 0  # of the best action in `trials`
    trials.number[row] = 0
    for action in range(len(POSITIONS)):
        taken, is_play = np.int64(0), action < NUM_PLAYS
        for k in range(HAND_SIZE):
            if POSITIONS[action] >> k & 1:
                taken |= np.int64(1) << s.hand[k]
        if (taken == best and is_play == best_is_play) or (not is_play and count_bits(taken) > discards_left):
            continue
        trials.number[1 - row] = 0
        if _is_better(
            hand, left, plays_left, discards_left, taken, is_play, best, best_is_play, seed, rng, trials, row
        ):
            best, best_is_play, row = taken, is_play, 1 - row
    return action_of(s, best, best_is_play)


@kernel(entry=True)
def last_discard(hand, left, discards_left):
    """Return the best discard before the last play, a bit set, and the mean points of the game from there on.

    The set is empty if it is best to play at once. All sets are bit sets, and at most two discards are left.
    """
    best, best_taken = _points(hand), np.int64(0)
    if discards_left == 0:
        return best_taken, best
    first = hand
    while first:
        card = first & -first
        first ^= card
        value = _mean_after_one(hand ^ card, left, discards_left - 1)
        if value > best:
            best, best_taken = value, card
        second = first if discards_left == 2 else np.int64(0)
        while second:
            pair = card | second & -second
            second &= second - 1
            value = _mean_after_two(hand ^ pair, left)
            if value > best:
                best, best_taken = value, pair
    return best_taken, best


@kernel
def _mean_after_one(kept, left, discards_left):
    """Return the mean points of the last play after one more card, with at most one discard left then."""
    total, draws = 0.0, left
    while draws:
        drawn = draws & -draws
        draws ^= drawn
        hand = kept | drawn
        value, first = _points(hand), hand if discards_left == 1 else np.int64(0)
        while first:
            card = first & -first
            first ^= card
            value = max(value, _mean_after_one_and_play(hand ^ card, left ^ drawn))
        total += value
    return total / count_bits(left)


@kernel
def _mean_after_one_and_play(kept, left):
    """Return the mean points of the last play after one more card, with no discards left."""
    total, draws = 0.0, left
    while draws:
        total += _points(kept | draws & -draws)
        draws &= draws - 1
    return total / count_bits(left)


@kernel
def _mean_after_two(kept, left):
    """Return the mean points of the last play after two more cards, with no discards left."""
    total, draws = 0.0, left
    while draws:
        first = draws & -draws
        draws ^= first
        second = draws
        while second:
            total += _points(kept | first | second & -second)
            second &= second - 1
    n = count_bits(left)
    return total / (n * (n - 1) / 2)


@kernel(inline=True)
def _points(hand):
    """The model points of the best play."""
    return np.float64(MODEL_POINTS[best_model_category(hand)])


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
