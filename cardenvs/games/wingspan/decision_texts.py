"""Decisions in words: labels of actions, prompts, and why an action is illegal."""

from cardenvs.core.text import count
from cardenvs.games.wingspan import actions
from cardenvs.games.wingspan.actions import STOP, USE
from cardenvs.games.wingspan.cards import (
    BIRD_NAMES,
    BONUS_NAMES,
    CARDS_DRAWN,
    EGGS_LAID,
    FOOD_GAINED,
    FOODS,
    FOREST,
    GRASSLAND,
    HABITATS,
    HAS_TRADE,
    NUM_BIRDS,
    NUM_BONUSES,
    NUM_FOODS,
    NUM_HABITATS,
    TRAY_SIZE,
    WETLAND,
)
from cardenvs.games.wingspan.stack import (
    ACCEPT,
    AFTER_EGGS,
    AFTER_FOOD,
    AFTER_PLAY,
    CACHE,
    CHOOSE_TURN,
    DRAFT,
    DRAW,
    FIRST,
    GET_FOOD,
    GIVE_EGGS,
    GIVE_FOOD,
    KEEP_BONUS,
    LAY,
    MOVE,
    PAY_COST,
    PAY_DEBT,
    PLAY,
    REACT,
    REPEAT,
    SETUP_BIRDS,
    SETUP_FOOD,
    TAKE_DICE,
    TRADE_CARD,
    TUCK,
    USE_POWER,
)
from cardenvs.games.wingspan.state import ARG0, COUNT, MAT_SLOTS, NO_BIRD, OP, SLOT, WHO, slot_name
from cardenvs.games.wingspan.texts import bird_text, cost_text

# ---------------------------------------------------------------------------------------------------------------
# Labels

_STOP_WORDS = {CACHE: "keep it in the supply", SETUP_BIRDS: "keep the others"}
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
    return BIRD_NAMES[bird] if bird != NO_BIRD else slot_name(int(slot)).replace("_", " ")


def _use_label(s):
    row = _top(s)
    if row[OP] == CACHE:
        return f"cache it on {_bird_at(s, row[WHO], row[SLOT])}"
    if row[OP] == ACCEPT:
        return "accept"
    return f"use {_bird_at(s, row[WHO], row[SLOT])}" if row[OP] == USE_POWER else "use"


def _egg_label(verb):
    return lambda s, slot: f"{verb} {_bird_at(s, int(s.current_player), slot)}"


def _choose_label(s, slot):
    verb = "repeat" if _top(s)[OP] == REPEAT else "react with"
    return f"{verb} {_bird_at(s, int(s.current_player), slot)}"


def _tray_label(s, place):
    bird = s.tray[place]
    return f"take {BIRD_NAMES[bird]} from the tray" if bird != NO_BIRD else f"take place {place + 1} of the tray"


def _draft_label(s, place):
    bird = s.draft[place]
    return f"take {BIRD_NAMES[bird]}" if bird != NO_BIRD else f"take place {place + 1} of the draft"


def _seat_label(s, seat):
    return f"player_{(int(s.current_player) + seat) % int(s.rules.num_players)} goes first" if not s.terminal else "-"


def _play_label(s, choice):
    bird, habitat = divmod(choice, NUM_HABITATS)
    return f"play {BIRD_NAMES[bird]} in the {HABITATS[habitat]}"


_LABELS = (
    (actions.TURN_0, 4, lambda s, k: ("play a bird", "gain food", "lay eggs", "draw bird cards")[k]),
    (actions.TAKE_DIE_0, NUM_FOODS, lambda s, k: f"take {FOODS[k]} die"),
    (actions.TAKE_DUAL_0, 2, lambda s, k: f"take invertebrate/seed die as {FOODS[k]}"),
    (actions.RESET_FEEDER, 1, lambda s, k: "reroll all dice"),
    (actions.PAY_FOOD_0, NUM_FOODS, lambda s, k: f"pay {FOODS[k]}"),
    (actions.GAIN_FOOD_0, NUM_FOODS, lambda s, k: f"gain {FOODS[k]}"),
    (actions.LAY_EGG_0, MAT_SLOTS, _egg_label("lay an egg on")),
    (actions.DISCARD_EGG_0, MAT_SLOTS, _egg_label("discard an egg from")),
    (actions.CHOOSE_BIRD_0, MAT_SLOTS, _choose_label),
    (actions.DRAW_TRAY_0, TRAY_SIZE, _tray_label),
    (actions.DRAW_DECK, 1, lambda s, k: "draw from the deck"),
    (actions.MOVE_TO_0, NUM_HABITATS, lambda s, k: f"move to the {HABITATS[k]}"),
    (actions.GOES_FIRST_0, 5, _seat_label),
    (actions.DRAFT_0, 6, _draft_label),
    (actions.KEEP_BONUS_0, NUM_BONUSES, lambda s, k: f"keep {BONUS_NAMES[k]}"),
    (actions.DISCARD_0, NUM_BIRDS, lambda s, k: f"discard {BIRD_NAMES[k]}"),
    (actions.TUCK_0, NUM_BIRDS, lambda s, k: f"tuck {BIRD_NAMES[k]}"),
    (actions.PLAY_0, NUM_BIRDS * NUM_HABITATS, _play_label),
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
    if op == CHOOSE_TURN:
        return f"Your turn: play a bird, gain food ({offer(s, who, FOREST)}), " \
            f"lay eggs ({offer(s, who, GRASSLAND)}) or draw bird cards ({offer(s, who, WETLAND)})."  # fmt: skip
    if op == USE_POWER:
        return f"Use the power of {bird_text(int(s.birds[who, row[SLOT]]))}?"
    if op == ACCEPT:
        owner = int(row[ARG0])
        return f"Take your share of the power of player_{owner}'s {bird_text(int(s.birds[owner, row[SLOT]]))}?"
    if op == CACHE:
        return f"Cache the {FOODS[row[ARG0]]} on {bird}, or keep it in the supply?"
    if op == PAY_COST:
        return f"Which food do you pay for {BIRD_NAMES[s.payment]} ({cost_text(int(s.payment))})?"
    if op == REACT:
        return f"Do you react, {_WINDOWS.get(left, 'after a successful hunt')}?"
    if op == MOVE:
        return f"Move {bird} to another habitat?"
    text = _PROMPTS[int(op)]
    return text.format(bird=f" ({bird})" if bird else "", left="one" if left == 1 else f"{left} to go")


_WINDOWS = {
    AFTER_FOOD: "after another player gained food",
    AFTER_EGGS: "after another player laid eggs",
    AFTER_PLAY: "after another player played a bird",
}
_PROMPTS = {
    TAKE_DICE: "Take a die from the birdfeeder{bird}: {left}.",
    GIVE_FOOD: "Which food do you give in exchange{bird}?",
    SETUP_FOOD: "Which food do you pay for the birds that you keep: {left}?",
    GET_FOOD: "Gain a food from the supply{bird}: {left}.",
    LAY: "Lay an egg{bird}: {left}.",
    GIVE_EGGS: "Which bird do you discard an egg from{bird}: {left}?",
    REPEAT: "Which bird's power do you repeat{bird}?",
    DRAW: "Draw a card from the tray or the deck{bird}: {left}.",
    FIRST: "Who takes the first die{bird}?",
    DRAFT: "Which of the cards turned up do you take?",
    KEEP_BONUS: "Which bonus card do you keep?",
    TRADE_CARD: "Discard a bird to take one more die?",
    PAY_DEBT: "Which bird do you discard to pay what you owe: {left}?",
    SETUP_BIRDS: "Which of your birds will you discard? Each bird you keep costs one food.",
    TUCK: "Which bird do you tuck{bird}?",
    PLAY: "Which bird do you play, and where{bird}?",
}


def offer(s, player, habitat):
    """Return what the action of a habitat gives now, such as "2 dice and a trade"."""
    number = int(s.row_size[player, habitat])
    table, thing = ((FOOD_GAINED, "die"), (EGGS_LAID, "egg"), (CARDS_DRAWN, "card"))[habitat]
    amount = int(table[number])
    text = f"{amount} dice" if thing == "die" and amount > 1 else count(amount, thing)
    return f"{text} and a trade" if HAS_TRADE[number] else text


# ---------------------------------------------------------------------------------------------------------------
# Reasons

_REASONS = {
    actions.CANNOT_STOP: "this decision cannot be declined (rules.md 10.1)",
    actions.NOTHING_TO_PLAY: "no bird in hand can be placed and paid for (rules.md 4.3)",
    actions.NO_SUCH_DIE: "no die in the birdfeeder shows that face (rules.md 7.1)",
    actions.FOOD_NOT_WANTED: "this power does not give that food (rules.md 11.3, 11.4)",
    actions.FEEDER_NOT_UNIFORM: "the dice in the birdfeeder do not all show the same face (rules.md 7.3)",
    actions.RESET_TOO_LATE: "the birdfeeder can only be reset before the first die (rules.md 11.4)",
    actions.NO_SUCH_FOOD: "that food is not available here (rules.md 6.3)",
    actions.PAYS_TOO_MUCH: "that token is not needed, or its food comes before one already paid (rules.md 6.4)",
    actions.NO_BIRD_THERE: "there is no bird in that slot (rules.md 1.1)",
    actions.NO_ROOM: "that bird has reached its egg limit (rules.md 1.3)",
    actions.BIRD_NOT_WANTED: "this decision does not concern that bird (rules.md 10.1)",
    actions.NO_EGG_THERE: "there is no egg on that bird (rules.md 1.3)",
    actions.TRAY_PLACE_EMPTY: "that place of the tray is empty until the end of the turn (rules.md 5.3)",
    actions.NO_CARDS_LEFT: "there are no cards left to draw (rules.md 3.5)",
    actions.ROW_NOT_OPEN: "the bird cannot move there (rules.md 11.22)",
    actions.NO_SUCH_SEAT: "that player gets nothing here (rules.md 11.5, 11.6)",
    actions.NOT_IN_DRAFT: "that card has been taken (rules.md 11.12)",
    actions.BONUS_NOT_OFFERED: "that bonus card was not drawn (rules.md 11.13)",
    actions.NOT_IN_HAND: "that bird is not in hand (rules.md 1.4)",
    actions.ALREADY_DECIDED: "that bird is already decided: discard birds in alphabetical order (rules.md 2.3)",
    actions.NOT_ITS_HABITAT: "the bird does not live there (rules.md 4.1)",
    actions.HABITAT_NOT_OPEN: "this power plays a bird into a different habitat (rules.md 11.23)",
    actions.ROW_FULL: "that row is full (rules.md 4.1)",
    actions.TOO_FEW_EGGS: "there are too few eggs to pay for that slot (rules.md 4.2)",
    actions.TOO_LITTLE_FOOD: "there is too little food to pay for that bird (rules.md 4.3, 6)",
}


def illegal_reason(s, code):
    """Return why an action is illegal, from its code."""
    if code == actions.NOT_ASKED:
        return f"that is not the decision to make now (rules.md 3.2): {prompt(s)}"
    return _REASONS[code]
