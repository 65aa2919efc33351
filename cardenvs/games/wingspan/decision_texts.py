"""Decisions in words: labels of actions, prompts, and why an action is illegal."""

from cardenvs.core.text import count
from cardenvs.games.wingspan import actions, cards, explain, stack
from cardenvs.games.wingspan.actions import STOP, USE
from cardenvs.games.wingspan.state import ARG0, COUNT, MAT_SLOTS, NO_BIRD, OP, SLOT, WHO, slot_name
from cardenvs.games.wingspan.texts import bird_text, cost_text

# ---------------------------------------------------------------------------------------------------------------
# Labels

_STOP_WORDS = {stack.CACHE: "keep it in the supply", stack.SETUP_BIRDS: "keep the others"}
"""What declining does, where it is not just nothing."""


def action_label(s, action):
    """Return the text of an action in state `s`."""
    if action == STOP:
        return _STOP_WORDS.get(int(_top(s)[OP]), "decline")
    if action == USE:
        return _use_label(s)
    for first, size, label in _LABELS:
        if first <= action < first + size:
            return label(s, action - first)
    return actions.action_text(action)


def _top(s):
    """Return the pending decision, a row of the stack."""
    return s.stack[max(int(s.depth) - 1, 0)]


def _bird_at(s, player, slot):
    """Return the name of the bird in a slot, or of the slot if it is empty."""
    bird = s.birds[player, slot] if player >= 0 and 0 <= slot < MAT_SLOTS else NO_BIRD
    return cards.BIRD_NAMES[bird] if bird != NO_BIRD else slot_name(int(slot)).replace("_", " ")


def _use_label(s):
    row = _top(s)
    if row[OP] == stack.CACHE:
        return f"cache it on {_bird_at(s, row[WHO], row[SLOT])}"
    if row[OP] == stack.ACCEPT:
        return "accept"
    return f"use {_bird_at(s, row[WHO], row[SLOT])}" if row[OP] == stack.USE_POWER else "use"


def _egg_label(verb):
    return lambda s, slot: f"{verb} {_bird_at(s, int(s.current_player), slot)}"


def _choose_label(s, slot):
    verb = "repeat" if _top(s)[OP] == stack.REPEAT else "react with"
    return f"{verb} {_bird_at(s, int(s.current_player), slot)}"


def _tray_label(s, place):
    bird = s.tray[place]
    return f"take {cards.BIRD_NAMES[bird]} from the tray" if bird != NO_BIRD else f"take place {place + 1} of the tray"


def _draft_label(s, place):
    bird = s.draft[place]
    return f"take {cards.BIRD_NAMES[bird]}" if bird != NO_BIRD else f"take place {place + 1} of the draft"


def _seat_label(s, seat):
    return f"player_{(int(s.current_player) + seat) % int(s.rules.num_players)} goes first" if not s.terminal else "-"


def _play_label(s, choice):
    bird, habitat = divmod(choice, cards.NUM_HABITATS)
    return f"play {cards.BIRD_NAMES[bird]} in the {cards.HABITATS[habitat]}"


_LABELS = (
    (actions.TURN_0, 4, lambda s, k: ("play a bird", "gain food", "lay eggs", "draw bird cards")[k]),
    (actions.TAKE_DIE_0, cards.NUM_FOODS, lambda s, k: f"take {cards.FOODS[k]} die"),
    (actions.TAKE_DUAL_0, 2, lambda s, k: f"take invertebrate/seed die as {cards.FOODS[k]}"),
    (actions.RESET_FEEDER, 1, lambda s, k: "reroll all dice"),
    (actions.PAY_FOOD_0, cards.NUM_FOODS, lambda s, k: f"pay {cards.FOODS[k]}"),
    (actions.GAIN_FOOD_0, cards.NUM_FOODS, lambda s, k: f"gain {cards.FOODS[k]}"),
    (actions.LAY_EGG_0, MAT_SLOTS, _egg_label("lay an egg on")),
    (actions.DISCARD_EGG_0, MAT_SLOTS, _egg_label("discard an egg from")),
    (actions.CHOOSE_BIRD_0, MAT_SLOTS, _choose_label),
    (actions.DRAW_TRAY_0, cards.TRAY_SIZE, _tray_label),
    (actions.DRAW_DECK, 1, lambda s, k: "draw from the deck"),
    (actions.MOVE_TO_0, cards.NUM_HABITATS, lambda s, k: f"move to the {cards.HABITATS[k]}"),
    (actions.GOES_FIRST_0, 5, _seat_label),
    (actions.DRAFT_0, 6, _draft_label),
    (actions.KEEP_BONUS_0, cards.NUM_BONUSES, lambda s, k: f"keep {cards.BONUS_NAMES[k]}"),
    (actions.DISCARD_0, cards.NUM_BIRDS, lambda s, k: f"discard {cards.BIRD_NAMES[k]}"),
    (actions.TUCK_0, cards.NUM_BIRDS, lambda s, k: f"tuck {cards.BIRD_NAMES[k]}"),
    (actions.PLAY_0, cards.NUM_BIRDS * cards.NUM_HABITATS, _play_label),
)
"""First id, number of ids, and label of each kind of action."""

# ---------------------------------------------------------------------------------------------------------------
# Prompts


def prompt(s):
    """Return the question to the player to act."""
    row = _top(s)
    op, who = row[OP], row[WHO]
    bird = _bird_at(s, who, row[SLOT]) if row[SLOT] >= 0 else ""
    left = int(row[COUNT])
    if op == stack.CHOOSE_TURN:
        food, eggs, birds = (offer(s, who, habitat) for habitat in range(cards.NUM_HABITATS))
        return f"Your turn: play a bird, gain food ({food}), lay eggs ({eggs}) or draw bird cards ({birds})."
    if op == stack.USE_POWER:
        return f"Use the power of {bird_text(int(s.birds[who, row[SLOT]]))}?"
    if op == stack.ACCEPT:
        owner = int(row[ARG0])
        return f"Take your share of the power of player_{owner}'s {bird_text(int(s.birds[owner, row[SLOT]]))}?"
    if op == stack.CACHE:
        return f"Cache the {cards.FOODS[row[ARG0]]} on {bird}, or keep it in the supply?"
    if op == stack.PAY_COST:
        return f"Which food do you pay for {cards.BIRD_NAMES[s.payment]} ({cost_text(int(s.payment))})?"
    if op == stack.REACT:
        return f"Do you react, {_WINDOWS.get(left, 'after a successful hunt')}?"
    if op == stack.MOVE:
        return f"Move {bird} to another habitat?"
    text = _PROMPTS[int(op)]
    return text.format(bird=f" ({bird})" if bird else "", left="one" if left == 1 else f"{left} to go")


_WINDOWS = {
    stack.AFTER_FOOD: "after another player gained food",
    stack.AFTER_EGGS: "after another player laid eggs",
    stack.AFTER_PLAY: "after another player played a bird",
}
_PROMPTS = {
    stack.TAKE_DICE: "Take a die from the birdfeeder{bird}: {left}.",
    stack.GIVE_FOOD: "Which food do you give in exchange{bird}?",
    stack.SETUP_FOOD: "Which food do you pay for the birds that you keep: {left}?",
    stack.GET_FOOD: "Gain a food from the supply{bird}: {left}.",
    stack.LAY: "Lay an egg{bird}: {left}.",
    stack.GIVE_EGGS: "Which bird do you discard an egg from{bird}: {left}?",
    stack.REPEAT: "Which bird's power do you repeat{bird}?",
    stack.DRAW: "Draw a card from the tray or the deck{bird}: {left}.",
    stack.FIRST: "Who takes the first die{bird}?",
    stack.DRAFT: "Which of the cards turned up do you take?",
    stack.KEEP_BONUS: "Which bonus card do you keep?",
    stack.TRADE_CARD: "Discard a bird to take one more die?",
    stack.PAY_DEBT: "Which bird do you discard to pay what you owe: {left}?",
    stack.SETUP_BIRDS: "Which of your birds will you discard? Each bird you keep costs one food.",
    stack.TUCK: "Which bird do you tuck{bird}?",
    stack.PLAY: "Which bird do you play, and where{bird}?",
}


def offer(s, player, habitat):
    """Return what the action of a habitat gives now, such as "2 dice and a trade"."""
    number = int(s.row_size[player, habitat])
    table, thing = ((cards.FOOD_GAINED, "die"), (cards.EGGS_LAID, "egg"), (cards.CARDS_DRAWN, "card"))[habitat]
    amount = int(table[number])
    text = f"{amount} dice" if thing == "die" and amount > 1 else count(amount, thing)
    return f"{text} and a trade" if cards.HAS_TRADE[number] else text


def illegal_reason(s, action, code):
    """Return why an action is illegal, from its code."""
    del action
    return explain.REASONS[code].format(prompt=prompt(s))
