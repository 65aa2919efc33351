"""How cards are drawn and chosen: the faces of tokens, what lies on birds, and what people click for an action."""

import functools

from cardenvs.core.events import CounterUse, PileLayout
from cardenvs.core.game_view import Choice, CounterView
from cardenvs.core.text import count
from cardenvs.games.wingspan import actions
from cardenvs.games.wingspan.cards import (
    BIRD_COLOUR,
    BIRD_EGG_LIMIT,
    BIRD_NAMES,
    BIRD_NEST,
    BIRD_POINTS,
    BIRD_WINGSPAN,
    BROWN,
    FOODS,
    GOAL_NAMES,
    HABITATS,
    NESTS,
    NUM_BIRDS,
    NUM_HABITATS,
    NUM_ROUNDS,
    NUM_SLOTS,
    PINK,
    WHITE,
)
from cardenvs.games.wingspan.state import BONUS_TOKEN, FACES, GOAL_TOKEN
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
    facts = f"{count(int(BIRD_POINTS[token]), 'point')}, {nest}, {BIRD_WINGSPAN[token]} cm"
    lines = [cost_text(token), habitats_text(token), facts, power_text(token)]
    face = {"kind": "text", "title": BIRD_NAMES[token], "lines": [line for line in lines if line]}
    colour = _COLOURS.get(int(BIRD_COLOUR[token]))
    return face | ({"colour": colour} if colour else {})


def arrange(s, scene):
    """Put eggs, food and cards on the birds of the mats, and say in words what each player and the feeder have."""
    for player, notes in enumerate(scene.notes):
        for h, habitat in enumerate(HABITATS):
            row = scene.piles[habitat, player]
            row.marks = {k: marks(s, player, NUM_SLOTS * h + k) for k in range(len(row.tokens))}
        notes += [f"{s.food[player, food]} {name}" for food, name in enumerate(FOODS) if s.food[player, food]]
        if s.debts[player]:
            notes.append(f"owes {count(int(s.debts[player]), 'discard')}")
    if not scene.piles["draft", None].tokens:
        scene.piles["draft", None].layout = PileLayout.NONE
    dice = {name: int(s.feeder[face]) for face, name in enumerate(FACES) if s.feeder[face]}
    outside = {name: int(s.outside[face]) for face, name in enumerate(FACES) if s.outside[face]}
    places = [f"{place}_{face}" for place in ("feeder", "outside") for face in FACES]
    for name in (*FOODS, *places, "discards_owed"):
        scene.counters[name].use = CounterUse.NONE
    for k in range(NUM_ROUNDS):
        if k >= s.round_number and not s.terminal:
            scene.counters[f"goal_{k + 1}"].use = CounterUse.NONE
    if not s.terminal:
        scene.counters["score"].use = CounterUse.NONE
    for name, found in (("birdfeeder", dice), ("dice outside", outside)):
        shown = ", ".join(f"{number} {face.replace('_', ' ')}" for face, number in found.items())
        if shown or name == "birdfeeder":
            scene.counters[name] = CounterView(name, CounterUse.NUMBER, shown or "empty")


def marks(s, player, slot):
    """Return what lies on the bird in a slot."""
    bird = int(s.birds[player, slot])
    eggs, limit = int(s.eggs[player, slot]), int(BIRD_EGG_LIMIT[bird])
    found = [f"{eggs} of {count(limit, 'egg')}"] if limit else []
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
