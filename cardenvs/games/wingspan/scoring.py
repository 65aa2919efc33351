"""Round goals (rules.md 9), bonus cards (13.3) and the final score (13.1, 13.2).

The kernels only read the record. A bird's slot is 5 * habitat + column.
"""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.games.wingspan import cards

BIRDS, BONUSES, GOALS, EGGS, CACHED, TUCKED = range(6)
"""Parts of a score, in the order of 13.1."""
SCORE_PARTS = ("birds", "bonus cards", "round goals", "eggs", "cached food", "tucked cards")
NUM_PARTS = len(SCORE_PARTS)
_NUM_PLACES = cards.GREEN_POINTS.shape[1]  # places of a green goal that score
_MAT_SLOTS = cards.NUM_HABITATS * cards.NUM_SLOTS


@kernel
def has_nest(bird, nest):
    """Return whether a bird has this nest, or a star nest, which counts as every nest (10.6)."""
    own = cards.BIRD_NEST[bird]
    return own == nest or (own == cards.STAR and nest != cards.NO_NEST)


# ---------------------------------------------------------------------------------------------------------------
# Round goals


@kernel
def eggs_in_row(s, player, habitat):
    """Return the number of eggs in a row."""
    eggs = 0
    for column in range(cards.NUM_SLOTS):
        eggs += s.eggs[player, habitat * cards.NUM_SLOTS + column]
    return eggs


@kernel
def eggs_by_nest(s, player, nest, most):
    """Return the eggs on birds with this nest, counting at most `most` per bird (1 counts birds with eggs)."""
    total = 0
    for slot in range(_MAT_SLOTS):
        if s.eggs[player, slot] > 0 and has_nest(s.birds[player, slot], nest):
            total += min(s.eggs[player, slot], most)
    return total


@kernel
def goal_count(s, player, goal):
    """Return the count of `player` for a goal (9.1)."""
    kind = cards.GOAL_KIND[goal]
    if kind == cards.BIRDS_IN_HABITAT:
        return 0 + s.row_size[player, cards.GOAL_HABITAT[goal]]
    if kind == cards.EGGS_IN_HABITAT:
        return eggs_in_row(s, player, cards.GOAL_HABITAT[goal])
    if kind == cards.BIRDS_WITH_EGG_BY_NEST:
        return eggs_by_nest(s, player, cards.GOAL_NEST[goal], 1)
    if kind == cards.EGGS_BY_NEST:
        return eggs_by_nest(s, player, cards.GOAL_NEST[goal], 99)
    if kind == cards.EGG_SETS:
        dry = min(eggs_in_row(s, player, cards.FOREST), eggs_in_row(s, player, cards.GRASSLAND))
        return min(dry, eggs_in_row(s, player, cards.WETLAND))
    return s.row_size[player, cards.FOREST] + s.row_size[player, cards.GRASSLAND] + s.row_size[player, cards.WETLAND]


@kernel
def green_points(round_number, num_better, num_equal):
    """Return the points of each of `num_equal` tied players behind `num_better` others (9.2, 9.3).

    Args:
        round_number: 0..3.
        num_better: number of players with a higher count.
        num_equal: number of players with this count, which is not 0; at least 1.
    """
    shared = 0
    for place in range(num_better, min(num_better + num_equal, _NUM_PLACES)):
        shared += cards.GREEN_POINTS[round_number, place]
    return shared // num_equal


@kernel
def goal_points(s, player, goal, round_number, is_blue):
    """Return the points of `player` for a goal scored now, in round 0..3; 0 if they left (9.2 to 9.4, 15.2)."""
    own = goal_count(s, player, goal)
    if own == 0 or s.active[player] == 0:
        return 0
    if is_blue:
        return min(own, cards.BLUE_MOST)
    num_better, num_equal = 0, 0
    for other in range(s.rules.num_players):
        if s.active[other]:
            count = goal_count(s, other, goal)
            num_better += count > own
            num_equal += count == own
    return green_points(round_number, num_better, num_equal)


# ---------------------------------------------------------------------------------------------------------------
# Bonus cards


@kernel
def bonus_count(s, player, bonus):
    """Return the count of `player` for a bonus card (13.3)."""
    kind = cards.BONUS_KIND[bonus]
    if kind == cards.CARDS_IN_HAND:
        return 0 + s.hand_size[player]
    if kind == cards.BIRDS_IN_SMALLEST_HABITAT:
        return 0 + min(
            min(s.row_size[player, cards.FOREST], s.row_size[player, cards.GRASSLAND]),
            s.row_size[player, cards.WETLAND],
        )
    count = 0
    for slot in range(_MAT_SLOTS):
        bird = s.birds[player, slot]
        if bird >= 0:
            if kind == cards.BIRDS_WITH_EGGS:
                count += s.eggs[player, slot] >= cards.BONUS_MIN_EGGS[bonus]
            else:
                count += cards.BIRD_BONUS[bird] >> bonus & 1
    return count


@kernel
def bonus_points(bonus, count):
    """Return the points of a bonus card for a count: per item, or for the highest tier reached."""
    if cards.BONUS_EACH[bonus] > 0:
        return count * cards.BONUS_EACH[bonus]
    if count >= cards.BONUS_THRESHOLDS[bonus, 1]:
        return 0 + cards.BONUS_POINTS[bonus, 1]
    if count >= cards.BONUS_THRESHOLDS[bonus, 0]:
        return 0 + cards.BONUS_POINTS[bonus, 0]
    return 0


# ---------------------------------------------------------------------------------------------------------------
# The final score


@kernel
def score_part(s, player, part):
    """Return a part of the score of `player`, BIRDS to TUCKED, if the game ended now (13.1)."""
    total = 0
    if part == BONUSES:
        for bonus in range(cards.NUM_BONUSES):
            if s.bonus_hands[player] >> bonus & 1:
                total += bonus_points(bonus, bonus_count(s, player, bonus))
    elif part == GOALS:
        for k in range(cards.NUM_ROUNDS):
            total += s.goal_points[k, player]
    else:
        for slot in range(_MAT_SLOTS):
            if s.birds[player, slot] >= 0:
                if part == BIRDS:
                    total += np.int64(cards.BIRD_POINTS[s.birds[player, slot]])
                elif part == EGGS:
                    total += s.eggs[player, slot]
                elif part == CACHED:
                    total += s.cached[player, slot]
                else:
                    total += s.tucked[player, slot]
    return total


@kernel
def score(s, player):
    """Return the score of `player` if the game ended now (13.1)."""
    total = 0
    for part in range(NUM_PARTS):
        total += score_part(s, player, part)
    return total


@kernel
def unused_food(s, player):
    """Return the food in the supply of `player`, which breaks ties (13.2)."""
    total = 0
    for food in range(cards.NUM_FOODS):
        total += s.food[player, food]
    return total


@kernel
def compare(score_one, food_one, score_other, food_other):
    """Return 1 if one player finishes ahead of the other, -1 if behind, 0 if they tie (13.2)."""
    if score_one != score_other:
        return 1 if score_one > score_other else -1
    if food_one != food_other:
        return 1 if food_one > food_other else -1
    return 0
