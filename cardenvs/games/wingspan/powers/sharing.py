"""Powers that give something to several players (rules.md 10.5, 11.2, 11.5, 11.6, 11.11, 11.12, 11.16)."""

import numpy as np

from cardenvs.core.kernel import kernel
from cardenvs.core.text import count
from cardenvs.games.wingspan import bird_cards, mats, stack
from cardenvs.games.wingspan.cards import BIRD_HANDLER, BIRD_PARAMS, FEWEST_GAIN_DIE, NUM_SLOTS, STAR, PowerSpec
from cardenvs.games.wingspan.powers.parts import (
    ALL_FOODS,
    ALL_PLAYERS_GAIN_FOOD_SUPPLY,
    ALL_PLAYERS_LAY_EGG_NEST,
    ASK,
    DRAW_AND_DRAFT,
    EACH_PLAYER_GAINS_FEEDER_DIE,
    FEWEST_BIRDS_GAIN,
    USE,
    Power,
    can_draw,
    food,
    has_room,
    slots_of,
)
from cardenvs.games.wingspan.state import NO_BIRD


def _fewest(spec: PowerSpec) -> str:
    reward = {"feeder_die": "a die of their choice from the birdfeeder", "draw_card": "a card"}[spec.params["reward"]]
    verb = "gain" if spec.params["reward"] == "feeder_die" else "draw"
    return f"the players with the fewest birds in the {spec.params['habitat']} {verb} {reward}."


POWERS = {
    "all_players_gain_food_supply": Power(
        begins=lambda food, amount: USE,
        words=lambda spec: f"all players gain {food(spec)} from the supply.",
    ),
    "each_player_gains_feeder_die": Power(
        begins=lambda: (stack.FIRST, 0, 0, ASK),
        words=lambda spec: "each player takes a die from the birdfeeder, clockwise from a player of your choice.",
    ),
    "fewest_birds_gain": Power(
        begins=lambda habitat, reward: (stack.FIRST, 0, 0, ASK) if reward == FEWEST_GAIN_DIE else USE,
        words=_fewest,
    ),
    "all_players_draw_from_deck": Power(
        begins=lambda amount: USE,
        words=lambda spec: f"all players draw {count(spec.params['amount'], 'card')} from the deck.",
    ),
    "draw_and_draft": Power(
        begins=lambda extra: USE,
        words=lambda spec: (
            "turn up a card of the deck for each player and one more. Clockwise from you each player takes one; "
            "you take the one that is left."
        ),
    ),
    "all_players_lay_egg_nest": Power(
        begins=lambda nest: USE,
        words=lambda spec: (
            f"all players lay an egg on a bird of theirs with a {spec.params['nest']} nest; "
            "you may lay one on another such bird."
        ),
    ),
}


@kernel
def can_share(s, who, slot):
    """Return whether any player would get something."""
    bird = s.birds[who, slot]
    handler = BIRD_HANDLER[bird]
    if handler == ALL_PLAYERS_GAIN_FOOD_SUPPLY:
        return True
    if handler == FEWEST_BIRDS_GAIN:
        return can_draw(s)
    if handler != ALL_PLAYERS_LAY_EGG_NEST:
        return bird_cards.cards_left(s) > 0
    for p in range(s.rules.num_players):
        if s.active[p] and has_room(s, p, slots_of(s, p, slot, 1 << BIRD_PARAMS[bird, 0] | 1 << STAR)) != 0:
            return True
    return False


@kernel
def share_out(s, who, slot, log):
    """Give each player who gets something their share, clockwise from the owner."""
    if BIRD_HANDLER[s.birds[who, slot]] == DRAW_AND_DRAFT:
        _turn_up(s, who, slot, log)
    stack.push(s, stack.EACH, who, slot, who, sharers(s, who, slot), 0)


@kernel
def sharers(s, who, slot):
    """Return the bit set of players who get a share: all, or those with the fewest birds (11.6)."""
    bird = s.birds[who, slot]
    players, fewest = np.int64(0), np.int64(NUM_SLOTS + 1)
    counts = BIRD_HANDLER[bird] == FEWEST_BIRDS_GAIN
    for p in range(s.rules.num_players):
        if not s.active[p]:
            continue
        number = np.int64(s.row_size[p, BIRD_PARAMS[bird, 0]]) if counts else np.int64(0)
        if number < fewest:
            fewest, players = number, np.int64(0)
        if number == fewest:
            players |= 1 << p
    return players


@kernel
def seats_of(s, who, players):
    """Return a bit set of players as a bit set of seats counted from `who`."""
    n = np.int64(s.rules.num_players)
    return (players >> who | players << n - who) & (1 << n) - 1


@kernel
def _turn_up(s, who, slot, log):
    """Turn up one card for each player, and one more, which the owner gets last (11.12)."""
    cards = np.int64(BIRD_PARAMS[s.birds[who, slot], 0])
    for p in range(s.rules.num_players):
        cards += s.active[p]
    bird_cards.turn_up_draft(s, cards, log)
    stack.push(s, stack.END_DRAFT, who, slot, 0, 0, 0)


@kernel
def share(s, owner, slot, player, log):
    """Give `player` a share of the power in a slot of `owner`; other players may refuse it (10.5)."""
    bird = s.birds[owner, slot]
    handler, params = BIRD_HANDLER[bird], BIRD_PARAMS[bird]
    if handler == EACH_PLAYER_GAINS_FEEDER_DIE or (handler == FEWEST_BIRDS_GAIN and params[1] == FEWEST_GAIN_DIE):
        stack.push(s, stack.TAKE_DICE, player, NO_BIRD, 1, ALL_FOODS, stack.OPTIONAL)
    elif handler == FEWEST_BIRDS_GAIN:
        stack.push(s, stack.DRAW, player, NO_BIRD, 1, 0, stack.OPTIONAL)
    elif handler == DRAW_AND_DRAFT:
        stack.push(s, stack.DRAFT, player, NO_BIRD, 0, 0, stack.OPTIONAL if player != owner else 0)
    elif handler == ALL_PLAYERS_LAY_EGG_NEST:
        slots = slots_of(s, player, slot, 1 << params[0] | 1 << STAR)
        stack.push(s, stack.LAY, player, NO_BIRD, 2 if player == owner else 1, slots, stack.OPTIONAL | stack.DISTINCT)
    elif player == owner:
        accept(s, owner, slot, player, log)
    else:
        stack.push(s, stack.ACCEPT, player, slot, 0, owner, stack.OPTIONAL)


@kernel
def accept(s, owner, slot, player, log):
    """Give `player` a share of a power that gives the same to everybody."""
    bird = s.birds[owner, slot]
    params = BIRD_PARAMS[bird]
    if BIRD_HANDLER[bird] == ALL_PLAYERS_GAIN_FOOD_SUPPLY:
        mats.gain_food(s, player, params[0], params[1], log)
        return
    for _ in range(min(np.int64(params[0]), bird_cards.cards_left(s))):
        bird_cards.draw_from_deck(s, player, log)
