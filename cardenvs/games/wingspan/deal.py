"""The deal (rules.md 2)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.rng import DEAL, random_below, start_stream
from cardenvs.games.wingspan import bird_cards, bonus_cards, cards, dice, mats, rounds, stack, state, table

_GOAL_IDS = np.arange(cards.NUM_GOALS)

_BIRD_DEAL, _BONUS_DEAL, _GOAL_DEAL = range(3)  # indices of the chance source DEAL


@kernel
def deal(s, given, log):
    """Lay out goals, tray and birdfeeder, deal to each player, and ask the first one what to keep (2).

    Args:
        given: tokens that are not drawn at random: birds (the players' hands in turn, then the tray, then the deck from
            the top), bonus cards (two for each player in turn, then the deck) and goals (in the order of the rounds).
    """
    s.round_number = -1
    for p in range(s.birds.shape[0]):
        for slot in range(state.MAT_SLOTS):
            s.birds[p, slot] = state.NO_BIRD
    for k in range(cards.TRAY_SIZE):
        s.tray[k] = state.NO_BIRD
    for k in range(state.DRAFT_SIZE):
        s.draft[k] = state.NO_BIRD
    _shuffle_goals(s, given)
    rounds.lay_out_goals(s, _GOAL_IDS, log)
    _shuffle_deck(s, s.deck, cards.NUM_BIRDS, 0, _BIRD_DEAL, given)
    _shuffle_deck(s, s.bonus_deck, cards.NUM_BONUSES, state.BONUS_TOKEN, _BONUS_DEAL, given)
    rounds.new_decks(s, log)
    n = np.int64(s.rules.num_players)
    for p in range(n):
        for _ in range(cards.BIRDS_DEALT):
            bird_cards.draw_from_deck(s, p, table.DEAL_BIRD, log)
        for _ in range(cards.BONUSES_DEALT):
            bonus_cards.draw_bonus(s, p, table.DEAL_BONUS, log)
        for food in range(cards.NUM_FOODS):
            mats.add_food(s, p, food, 1, table.DEAL_FOOD, log)
    bird_cards.fill_tray(s, log)
    dice.roll_feeder(s, log)
    stack.push(s, stack.END_SETUP, 0, stack.NO_SLOT, 0, 0, 0)
    for p in range(n - 1, -1, -1):
        stack.push(s, stack.KEEP_BONUS, p, stack.NO_SLOT, 0, 0, 0)
        stack.push(s, stack.SETUP_BIRDS, p, stack.NO_SLOT, 0, 0, 0)
    s.current_player = 0  # calling `_run` would compile it into every caller of `deal`


@kernel
def _shuffle_goals(s, given):
    """Choose four of the eight tiles, each with a random side up (2.1)."""
    start_stream(s, DEAL, _GOAL_DEAL)
    used, laid = np.int64(0), 0
    for k in range(given.shape[0]):
        goal = np.int64(given[k]) - state.GOAL_TOKEN
        if goal >= 0 and laid < cards.NUM_ROUNDS and not used >> (goal >> 1) & 1:
            s.goals[laid] = goal
            used |= 1 << (goal >> 1)
            laid += 1
    while laid < cards.NUM_ROUNDS:
        goal = random_below(s.rng, cards.NUM_GOALS)
        if not used >> (goal >> 1) & 1:
            s.goals[laid] = goal
            used |= 1 << (goal >> 1)
            laid += 1


@kernel
def _shuffle_deck(s, deck, n, first_token, index, given):
    """Shuffle a deck of n cards, with the given tokens that belong to it on top; the top is the end of the array."""
    for card in range(n):
        deck[card] = card
    start_stream(s, DEAL, index)
    top = n
    for k in range(given.shape[0]):
        card = np.int64(given[k]) - first_token
        if 0 <= card < n:
            j = 0
            while deck[j] != card:
                j += 1
            top -= 1
            deck[j] = deck[top]
            deck[top] = card
    while top > 1:
        j = random_below(s.rng, top)
        top -= 1
        deck[j], deck[top] = deck[top], deck[j]
