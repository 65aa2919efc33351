"""How cards are drawn and chosen: the faces of tokens, what lies on birds, and what people click for an action."""

import functools

from cardenvs.core.game_view import Choice
from cardenvs.games.wingspan import actions
from cardenvs.games.wingspan.cards import (
    BIRD_COLOUR,
    BIRD_EGG_LIMIT,
    BIRD_NAMES,
    BIRD_NEST,
    BIRD_POINTS,
    BIRD_WINGSPAN,
    BROWN,
    GOAL_NAMES,
    HABITATS,
    NESTS,
    NUM_BIRDS,
    NUM_HABITATS,
    NUM_SLOTS,
    PINK,
    WHITE,
)
from cardenvs.games.wingspan.state import BONUS_TOKEN, GOAL_TOKEN
from cardenvs.games.wingspan.texts import bonus_text, cost_text, habitats_text, power_text

_COLOURS = {WHITE: "white", BROWN: "brown", PINK: "pink"}  # of the box with a bird's power


@functools.cache
def token_face(token):
    """Return a bird with what is printed on it, a bonus card, or a goal."""
    if token >= GOAL_TOKEN:
        return {"kind": "text", "title": GOAL_NAMES[token - GOAL_TOKEN], "colour": "blue"}
    if token >= BONUS_TOKEN:
        title, _, text = bonus_text(token - BONUS_TOKEN).partition(": ")
        return {"kind": "text", "title": title, "lines": [text], "colour": "orange"}
    nest = f"{NESTS[BIRD_NEST[token]]} nest for {BIRD_EGG_LIMIT[token]}" if BIRD_NEST[token] else "no nest"
    facts = f"{BIRD_POINTS[token]} points, {nest}, {BIRD_WINGSPAN[token]} cm"
    lines = [cost_text(token), habitats_text(token), facts, power_text(token)]
    face = {"kind": "text", "title": BIRD_NAMES[token], "lines": [line for line in lines if line]}
    colour = _COLOURS.get(int(BIRD_COLOUR[token]))
    return face | ({"colour": colour} if colour else {})


def marks(s, player, slot):
    """Return what lies on the bird in a slot."""
    bird = int(s.birds[player, slot])
    eggs, limit = int(s.eggs[player, slot]), int(BIRD_EGG_LIMIT[bird])
    found = [f"{eggs} of {limit} eggs"] if limit else []
    more = ((s.cached[player, slot], "cached"), (s.tucked[player, slot], "tucked"))
    found += [f"{number} {what}" for number, what in more if number]
    return [*found, "power used"] if int(s.pink_used[player]) >> slot & 1 else found


def choice(s, action):
    """Return the cards that a person clicks for an action; a button if there are none."""
    player = int(s.current_player)
    hand = ("hand", player)
    if action >= actions.PLAY_0:
        bird, habitat = divmod(int(action) - actions.PLAY_0, NUM_HABITATS)
        return Choice((bird,), hand, (HABITATS[habitat], player))
    if action >= actions.DISCARD_0:
        return Choice(((int(action) - actions.DISCARD_0) % NUM_BIRDS,), hand)
    if action >= actions.KEEP_BONUS_0:
        return Choice((BONUS_TOKEN + int(action) - actions.KEEP_BONUS_0,), ("bonus", player))
    if action >= actions.DRAFT_0:
        return Choice((int(s.draft[action - actions.DRAFT_0]),), ("draft", None))
    if action == actions.DRAW_DECK:
        return Choice((), ("bird_deck", None))
    if actions.DRAW_TRAY_0 <= action < actions.DRAW_DECK:
        return Choice((int(s.tray[action - actions.DRAW_TRAY_0]),), ("tray", None), hand)
    if actions.LAY_EGG_0 <= action < actions.DRAW_TRAY_0:
        slot = (int(action) - actions.LAY_EGG_0) % (NUM_HABITATS * NUM_SLOTS)
        return Choice((int(s.birds[player, slot]),), (HABITATS[slot // NUM_SLOTS], player))
    return Choice()
