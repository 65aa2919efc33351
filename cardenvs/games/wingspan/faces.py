"""How cards are drawn and chosen: the faces of tokens, what lies on birds, and what people click for an action."""

import functools

from cardenvs.core.events import UNKNOWN, CounterUse, PileLayout
from cardenvs.core.game_view import Choice, CounterView
from cardenvs.core.text import count
from cardenvs.games.wingspan import actions, cards, decision_texts, scoring
from cardenvs.games.wingspan.known import birds_in_hand_or_tucked, knows_bonuses
from cardenvs.games.wingspan.state import BLUE, BONUS_TOKEN, FACES, GOAL_TOKEN
from cardenvs.games.wingspan.texts import bonus_text, cost_text, habitats_text, power_text

_SHORT_NESTS = ("", "bowl", "cav", "grnd", "plat", "star")
_COLOURS = {cards.WHITE: "white", cards.BROWN: "brown", cards.PINK: "pink"}  # of the box with a bird's power


@functools.cache
def token_face(token):
    """Return a bird with what is printed on it, a bonus card, or a goal."""
    if token >= GOAL_TOKEN:
        return {"kind": "text", "title": cards.GOAL_NAMES[token - GOAL_TOKEN], "colour": "blue"}
    if token >= BONUS_TOKEN:
        title, _, text = bonus_text(token - BONUS_TOKEN).partition(": ")
        return {"kind": "text", "title": title, "lines": [text], "colour": "orange"}
    nest = (
        f"{cards.NESTS[cards.BIRD_NEST[token]]} nest for {count(int(cards.BIRD_EGG_LIMIT[token]), 'egg')}"
        if cards.BIRD_NEST[token]
        else "no nest"
    )
    facts = f"{count(int(cards.BIRD_POINTS[token]), 'point')}, {nest}, {cards.BIRD_WINGSPAN[token]} cm"
    lines = [cost_text(token), habitats_text(token), facts, power_text(token)]
    colour = _COLOURS.get(int(cards.BIRD_COLOUR[token]))
    brief = " ".join(filter(None, (colour, f"{cards.BIRD_POINTS[token]}p", _SHORT_NESTS[cards.BIRD_NEST[token]])))
    face = {"kind": "text", "title": cards.BIRD_NAMES[token], "lines": [line for line in lines if line], "brief": brief}
    return face | ({"colour": colour} if colour else {})


def arrange(s, viewer, scene):
    """Put eggs, food and cards on the birds of the mats, and say in words what each player and the feeder have."""
    for player, notes in enumerate(scene.notes):
        for h, habitat in enumerate(cards.HABITATS):
            row = scene.piles[habitat, player]
            row.marks = {k: marks(s, player, cards.NUM_SLOTS * h + k) for k in range(len(row.tokens))}
            row.label = _row_label(s, player, h)
        bonus = scene.piles["bonus", player]
        bonus.marks = {k: [_points_now(s, player, token)] for k, token in enumerate(bonus.tokens) if token != UNKNOWN}
        notes += [f"{s.food[player, food]} {name}" for food, name in enumerate(cards.FOODS) if s.food[player, food]]
        notes += _notes(s, player, viewer)
    _arrange_goals(s, scene)
    scene.piles["bird_deck", None].label, scene.piles["bird_discards", None].label = "deck", "discards"
    if not scene.piles["draft", None].tokens:
        scene.piles["draft", None].layout = PileLayout.NONE
    dice = {name: int(s.feeder[face]) for face, name in enumerate(FACES) if s.feeder[face]}
    outside = {name: int(s.outside[face]) for face, name in enumerate(FACES) if s.outside[face]}
    places = [f"{place}_{face}" for place in ("feeder", "outside") for face in FACES]
    for name in (*cards.FOODS, *places, "discards_owed", "turns_left", "round"):  # notes and the phase say these
        scene.counters[name].use = CounterUse.NONE
    if not s.terminal:
        scene.counters["score"].use = CounterUse.NONE
    for name, found in (("birdfeeder", dice), ("dice outside", outside)):
        shown = ", ".join(f"{number} {face.replace('_', ' ')}" for face, number in found.items())
        if shown or name == "birdfeeder":
            scene.counters[name] = CounterView(name, CounterUse.NUMBER, shown or "empty")


def _row_label(s, player, habitat):
    """Return a habitat with what its action gives now, and the eggs that the next bird in it costs."""
    size = int(s.row_size[player, habitat])
    cost = int(cards.EGG_COST[size]) if size < cards.NUM_SLOTS else 0
    costs = f", next bird {count(cost, 'egg')}" if cost else ""
    return f"{cards.HABITATS[habitat]}: {decision_texts.offer(s, player, habitat)}{costs}"


def _points_now(s, player, token):
    card = token - BONUS_TOKEN
    return f"{count(int(scoring.bonus_points(card, scoring.bonus_count(s, player, card))), 'point')} now"


def _notes(s, player, viewer):
    """Return what a player owes, has won, and may hold, and the parts of the score that `viewer` can see."""
    notes = [f"owes {count(int(s.debts[player]), 'discard')}"] if s.debts[player] else []
    if s.standing[player]:
        notes.append(f"place {s.standing[player]}")
    parts = {
        name: int(scoring.score_part(s, player, k))
        for k, name in enumerate(("birds", "bonus", "goals", "eggs", "cached", "tucked"))
        if k != scoring.BONUSES or knows_bonuses(s, player, viewer)
    }
    shown = [f"{name} {value}" for name, value in parts.items() if value]
    notes.append(f"{count(sum(parts.values()), 'point')}{': ' if shown else ''}{', '.join(shown)}")
    if s.turns_left[player]:
        notes.append(f"{count(int(s.turns_left[player]), 'turn')} left")
    birds = [cards.BIRD_NAMES[bird] for bird in birds_in_hand_or_tucked(s, player, viewer)]
    return [*notes, *([f"in hand or tucked: {', '.join(birds)}"] if birds else [])]


def _arrange_goals(s, scene):
    """Put the points of all players on goals that have been scored, and their counts on the goal of this round."""
    goals = scene.piles["goals", None]
    goals.label = "blue goals, a point each, up to 5" if s.rules.goals == BLUE else "green goals, points by rank"
    for k in range(cards.NUM_ROUNDS):
        scene.counters[f"goal_{k + 1}"].use = CounterUse.NONE
        players = range(len(scene.notes))
        if k < s.round_number or s.terminal:
            goals.marks[k] = [f"points {' '.join(str(s.goal_points[k, p]) for p in players)}"]
        elif k == s.round_number:
            goals.marks[k] = [f"now {' '.join(str(scoring.goal_count(s, p, int(s.goals[k]))) for p in players)}"]


def marks(s, player, slot):
    """Return what lies on the bird in a slot."""
    bird = int(s.birds[player, slot])
    eggs, limit = int(s.eggs[player, slot]), int(cards.BIRD_EGG_LIMIT[bird])
    found = [f"{eggs} of {count(limit, 'egg')}"] if limit else []
    more = ((s.cached[player, slot], "cached"), (s.tucked[player, slot], "tucked"))
    found += [f"{number} {what}" for number, what in more if number]
    return [*found, "power used"] if int(s.pink_used[player]) >> slot & 1 else found


def choice(s, action):
    """Return the cards that a person clicks for an action; a button if there are none."""
    player = int(s.current_player)
    hand = ("hand", player)
    if action >= actions.PLAY_0:
        bird, habitat = divmod(int(action) - actions.PLAY_0, cards.NUM_HABITATS)
        return Choice((bird,), hand, (cards.HABITATS[habitat], player))
    if action >= actions.DISCARD_0:
        return Choice(((int(action) - actions.DISCARD_0) % cards.NUM_BIRDS,), hand)
    if action >= actions.KEEP_BONUS_0:
        return Choice((BONUS_TOKEN + int(action) - actions.KEEP_BONUS_0,), ("bonus", player))
    if action >= actions.DRAFT_0:
        return Choice((int(s.draft[action - actions.DRAFT_0]),), ("draft", None))
    if action == actions.DRAW_DECK:
        return Choice((), ("bird_deck", None))
    if actions.DRAW_TRAY_0 <= action < actions.DRAW_DECK:
        return Choice((int(s.tray[action - actions.DRAW_TRAY_0]),), ("tray", None), hand)
    if actions.LAY_EGG_0 <= action < actions.DRAW_TRAY_0:
        slot = (int(action) - actions.LAY_EGG_0) % (cards.NUM_HABITATS * cards.NUM_SLOTS)
        return Choice((int(s.birds[player, slot]),), (cards.HABITATS[slot // cards.NUM_SLOTS], player))
    return Choice()
