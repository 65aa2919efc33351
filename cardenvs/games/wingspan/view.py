"""Wingspan in words and pictures."""

import re

import numpy as np

from cardenvs.core.errors import DeckError
from cardenvs.core.events import OMNISCIENT
from cardenvs.core.view import View
from cardenvs.games.wingspan import actions, coverage, picture, scoring
from cardenvs.games.wingspan.actions import STOP, USE
from cardenvs.games.wingspan.cards import (
    BIRD_KEYS,
    BIRD_NAMES,
    BONUS_KEYS,
    BONUS_NAMES,
    CARDS_DRAWN,
    DUAL_FACE,
    EGG_COST,
    EGGS_LAID,
    FOOD_GAINED,
    FOODS,
    FOREST,
    GOAL_KEYS,
    GOAL_NAMES,
    GRASSLAND,
    HABITATS,
    HAS_TRADE,
    NUM_BIRDS,
    NUM_BONUSES,
    NUM_FOODS,
    NUM_GOALS,
    NUM_HABITATS,
    NUM_ROUNDS,
    NUM_SLOTS,
    TRAY_SIZE,
    WETLAND,
)
from cardenvs.games.wingspan.known import (
    birds_in_hand_or_tucked,
    known_birds,
    known_bonuses,
    knows_bonuses,
    num_unseen_birds,
    reshuffled_birds,
    reshuffled_bonuses,
)
from cardenvs.games.wingspan.powers.parts import count
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
from cardenvs.games.wingspan.state import (
    ARG0,
    BLUE,
    BONUS_TOKEN,
    COUNT,
    FACES,
    GOAL_TOKEN,
    IN_BONUS_DISCARDS,
    IN_BONUS_HAND,
    IN_DISCARDS,
    IN_HAND,
    IN_TUCKED,
    MAT_SLOTS,
    NO_BIRD,
    OP,
    PHASES,
    SLOT,
    TOKEN_NAMES,
    WHO,
    slot_name,
)
from cardenvs.games.wingspan.texts import bird_text, bonus_text, cost_text

_TOKEN_KEYS = (*BIRD_KEYS, *BONUS_KEYS, *GOAL_KEYS)


def _key(text):
    """A name as a key: "Barn Owl" is barn_owl."""
    return re.sub(r"[^a-z]+", "_", text.strip().lower().replace("'", "")).strip("_")


_TOKEN_OF = {_key(name): token for names in (TOKEN_NAMES, _TOKEN_KEYS) for token, name in enumerate(names)}
_STOP_WORDS = {CACHE: "keep it in the supply", SETUP_BIRDS: "keep the others"}
"""What declining means where it is more than doing nothing."""


class WingspanView(View):
    """Words of Wingspan."""

    # -- tokens -------------------------------------------------------------------------------------------------

    def token_label(self, token):
        return _TOKEN_KEYS[token]

    def token_back(self, token):
        return 0 if token < BONUS_TOKEN else 1 if token < GOAL_TOKEN else 2

    def parse_token(self, text):
        key = _key(text)
        if key not in _TOKEN_OF:
            raise DeckError(f"{text!r} is no card of Wingspan; cards are named as in barn_owl or birds_in_forest")
        return _TOKEN_OF[key]

    def token_markup(self, token):
        return picture.token(token)

    # -- the table ----------------------------------------------------------------------------------------------

    def fill_table(self, s, viewer, table):
        n = int(s.rules.num_players)
        for pile, cards, number in (
            ("bird_deck", s.deck, s.num_deck),
            ("bonus_deck", s.bonus_deck + BONUS_TOKEN, s.num_bonus_deck),
        ):
            known = cards[: int(number)] if viewer == OMNISCIENT else []
            table.put(pile, known, unknown=int(number) - len(known))
        _put(table, "bird_discards", known_birds(s, IN_DISCARDS, viewer), s.num_discards)
        for pile, cards in (("tray", s.tray), ("draft", s.draft)):
            table.put(pile, [card for card in cards if card != NO_BIRD])
        discarded = np.count_nonzero(s.bonus_place == IN_BONUS_DISCARDS)
        _put(table, "bonus_discards", _bonus_tokens(s, IN_BONUS_DISCARDS, viewer), discarded)
        goals = [int(goal) for goal in s.goals]
        table.put("goal_box", [GOAL_TOKEN + goal for goal in range(NUM_GOALS) if goal not in goals])
        table.put("goals", [GOAL_TOKEN + goal for goal in goals])
        table.set("round", s.round_number + 1)
        table.set("first_player", s.first_player)
        for face, name in enumerate(FACES):
            table.set(f"feeder_{name}", s.feeder[face])
            table.set(f"outside_{name}", s.outside[face])
        for p in range(n):
            _fill_player(s, p, viewer, table)

    def phase(self, s):
        if s.terminal:
            return "over"
        return PHASES[int(s.round_number) + 1]

    def place(self, s, player):
        return int(s.standing[player]) or None

    def conserved(self, s):
        bonuses = sum(int(held).bit_count() for held in s.bonus_hands)
        played = sum(int(bird != NO_BIRD) for bird in s.birds.ravel())
        open_cards = sum(int(bird != NO_BIRD) for bird in (*s.tray, *s.draft))
        return {
            "birds": int(s.num_deck + s.num_discards + s.hand_size.sum() + s.tucked.sum()) + open_cards + played,
            "birds in hands, as bits": sum(int(word).bit_count() for word in s.hands.ravel()) - int(s.hand_size.sum()),
            "birds on mats, by row": int(s.row_size.sum()) - played,
            "bonus cards": int(s.num_bonus_deck) + bonuses + int((s.bonus_place == IN_BONUS_DISCARDS).sum()),
            "dice": int(s.feeder.sum() + s.outside.sum()),
        }

    def statistics(self, state):
        return coverage.statistics(state)

    # -- actions ------------------------------------------------------------------------------------------------

    def action_label(self, s, action):
        if action == STOP:
            return _STOP_WORDS.get(int(_top(s)[OP]), "decline")
        if action == USE:
            return _use_label(s)
        for first, size, label in _LABELS:
            if first <= action < first + size:
                return label(s, action - first)
        return actions.action_text(action)

    def illegal_reason(self, s, action, code):
        return _reason(s, action, code)

    def prompt(self, s):
        return _prompt(s)

    # -- what a careful player knows ----------------------------------------------------------------------------

    def facts(self, s, player):
        hand = known_birds(s, IN_HAND + player, player)
        reshuffled = reshuffled_birds(s, player)
        facts = {
            "round": int(s.round_number) + 1,
            "turns_left": {f"player_{p}": int(s.turns_left[p]) for p in _players(s)},
            "goals": [_goal_facts(s, k) for k in range(NUM_ROUNDS)],
            "hand": [bird_text(bird) for bird in hand],
            "tray": [bird_text(int(bird)) for bird in s.tray if bird != NO_BIRD],
            "bonus_cards": [
                {
                    "card": bonus_text(card),
                    "counts_now": int(scoring.bonus_count(s, player, card)),
                    "points_now": int(scoring.bonus_points(card, scoring.bonus_count(s, player, card))),
                }
                for card in known_bonuses(s, IN_BONUS_HAND + player, player)
            ],
            "on_the_mats": [
                f"player_{p}, {slot_name(slot).replace('_', ' ')}: {bird_text(int(bird))}"
                for p in _players(s)
                for slot, bird in enumerate(s.birds[p])
                if bird != NO_BIRD
            ],
            "your_actions_now": _action_facts(s, player),
            "points_so_far": {
                f"player_{p}": {
                    part: int(scoring.score_part(s, p, k))
                    for k, part in enumerate(scoring.SCORE_PARTS)
                    if k != scoring.BONUSES or knows_bonuses(s, p, player)
                }
                for p in _players(s)
            },
            "known_in_other_hands": {
                f"player_{p}": [BIRD_NAMES[bird] for bird in known_birds(s, IN_HAND + p, player)]
                for p in _players(s)
                if p != player
            },
            "in_that_hand_or_tucked_from_it": {
                f"player_{p}": [BIRD_NAMES[bird] for bird in birds_in_hand_or_tucked(s, p, player)]
                for p in _players(s)
                if p != player
            },
            "known_tucked_birds": {
                f"player_{p}": [BIRD_NAMES[bird] for bird in known_birds(s, IN_TUCKED + p, player)] for p in _players(s)
            },
            "bonus_cards_seen_and_not_kept": [
                BONUS_NAMES[card] for card in known_bonuses(s, IN_BONUS_DISCARDS, player)
            ],
            "seen_on_the_discard_pile": [BIRD_NAMES[bird] for bird in known_birds(s, IN_DISCARDS, player)],
            "birds_not_seen_yet": num_unseen_birds(s, player),
            "pink_birds_used": {
                f"player_{p}": [BIRD_NAMES[s.birds[p, slot]] for slot in range(MAT_SLOTS) if s.pink_used[p] >> slot & 1]
                for p in _players(s)
            },
        }
        if reshuffled:
            facts["in_the_deck_or_drawn_since_its_reshuffle"] = [BIRD_NAMES[bird] for bird in reshuffled]
        if cards := reshuffled_bonuses(s, player):
            facts["in_the_bonus_deck_or_drawn_since_its_reshuffle"] = [BONUS_NAMES[card] for card in cards]
        if s.round_number < 0:
            facts["setup"] = _setup_facts(s, player)
        if s.debts[player]:
            facts["discards_owed_at_the_end_of_this_turn"] = int(s.debts[player])
        return facts

    def describe_event(self, event, kind):
        return _describe(event, kind.text)

    # -- the picture --------------------------------------------------------------------------------------------

    def render(self, s, viewer, table):
        return picture.render(s, viewer)


# ---------------------------------------------------------------------------------------------------------------
# Parts of the table


def _put(table, pile, known, number, player=0):
    table.put(pile, known, unknown=int(number) - len(known), player=player)


def _bonus_tokens(s, place, viewer):
    return [BONUS_TOKEN + card for card in known_bonuses(s, place, viewer)]


def _fill_player(s, p, viewer, table):
    _put(table, "hand", known_birds(s, IN_HAND + p, viewer), s.hand_size[p], p)
    tucked = np.count_nonzero(s.place == IN_TUCKED + p)
    _put(table, "tucked", known_birds(s, IN_TUCKED + p, viewer), tucked, p)
    held = int(s.bonus_hands[p]).bit_count()
    _put(table, "bonus", _bonus_tokens(s, IN_BONUS_HAND + p, viewer), held, p)
    for h, habitat in enumerate(HABITATS):
        table.put(habitat, s.birds[p, NUM_SLOTS * h :][: int(s.row_size[p, h])], player=p)
    for food, name in enumerate(FOODS):
        table.set(name, s.food[p, food], player=p)
    table.set("turns_left", s.turns_left[p], player=p)
    for k in range(NUM_ROUNDS):
        table.set(f"goal_{k + 1}", s.goal_points[k, p], player=p)
    for slot in range(MAT_SLOTS):
        table.set(f"eggs_{slot_name(slot)}", s.eggs[p, slot], player=p)
        table.set(f"cached_{slot_name(slot)}", s.cached[p, slot], player=p)
        table.set(f"tucked_{slot_name(slot)}", s.tucked[p, slot], player=p)
    table.set("discards_owed", s.debts[p], player=p)
    table.set("out", 1 - int(s.active[p]), player=p)
    table.set("score", s.scores[p], player=p)


def _players(s):
    return range(int(s.rules.num_players))


# ---------------------------------------------------------------------------------------------------------------
# Labels


def _top(s):
    """What is to be decided now, a row of the stack."""
    return s.stack[max(int(s.depth) - 1, 0)]


def _bird_at(s, player, slot):
    """The name of the bird in a slot, or of the slot if it is empty."""
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
"""First id, number of ids and label of each kind of action."""

# ---------------------------------------------------------------------------------------------------------------
# Prompts


def _prompt(s):
    """What the player to act is asked."""
    row = _top(s)
    op, who = row[OP], row[WHO]
    bird = _bird_at(s, who, row[SLOT]) if row[SLOT] >= 0 else ""
    left = int(row[COUNT])
    if op == CHOOSE_TURN:
        return f"Your turn: play a bird, gain food ({_offer(s, who, FOREST)}), " \
            f"lay eggs ({_offer(s, who, GRASSLAND)}) or draw bird cards ({_offer(s, who, WETLAND)})."  # fmt: skip
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
        return f"Do you react, {_WINDOWS.get(left, 'as a hunt was successful')}?"
    if op == MOVE:
        return f"Move {bird} to another habitat?"
    text = _PROMPTS[int(op)]
    return text.format(bird=f" ({bird})" if bird else "", left="one" if left == 1 else f"{left} to go")


_WINDOWS = {
    AFTER_FOOD: "as another player gained food",
    AFTER_EGGS: "as another player lays eggs",
    AFTER_PLAY: "as another player played a bird",
}
_PROMPTS = {
    TAKE_DICE: "Take a die from the birdfeeder{bird}: {left}.",
    GIVE_FOOD: "Pay a food for what you get in exchange{bird}?",
    SETUP_FOOD: "Which food do you pay for the birds that you keep: {left}?",
    GET_FOOD: "Gain a food from the supply{bird}: {left}.",
    LAY: "Lay an egg{bird}: {left}.",
    GIVE_EGGS: "From which bird do you discard an egg{bird}: {left}?",
    REPEAT: "Which bird's power do you repeat{bird}?",
    DRAW: "Draw a card from the tray or the deck{bird}: {left}.",
    FIRST: "Who is the first to take a die{bird}?",
    DRAFT: "Which of the cards turned up do you take?",
    KEEP_BONUS: "Which bonus card do you keep?",
    TRADE_CARD: "Discard a bird for one more die?",
    PAY_DEBT: "Which bird do you discard, as owed at the end of the turn: {left}?",
    SETUP_BIRDS: "Which of your birds do you not keep? Each one kept costs a food.",
    TUCK: "Which bird do you tuck{bird}?",
    PLAY: "Which bird do you play, and where{bird}?",
}


def _offer(s, player, habitat):
    """What an action gives now, such as "2 dice and a trade"."""
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
    actions.NO_SUCH_DIE: "no die in the birdfeeder shows that (rules.md 7.1)",
    actions.FOOD_NOT_WANTED: "this power does not take that food (rules.md 11.3, 11.4)",
    actions.FEEDER_NOT_UNIFORM: "the dice in the birdfeeder do not all show the same face (rules.md 7.3)",
    actions.RESET_TOO_LATE: "after the first die there is no reset any more (rules.md 11.4)",
    actions.NO_SUCH_FOOD: "that food is not available here (rules.md 6.3)",
    actions.PAYS_TOO_MUCH: "that token would be one too many, or comes out of order (rules.md 6.4)",
    actions.NO_BIRD_THERE: "there is no bird in that slot (rules.md 1.1)",
    actions.NO_ROOM: "that bird has reached its egg limit (rules.md 1.3)",
    actions.BIRD_NOT_WANTED: "that bird is not one that this is about (rules.md 10.1)",
    actions.NO_EGG_THERE: "there is no egg on that bird (rules.md 1.3)",
    actions.TRAY_PLACE_EMPTY: "that place of the tray is empty until the end of the turn (rules.md 5.3)",
    actions.NO_CARDS_LEFT: "there are no cards left to draw (rules.md 3.5)",
    actions.ROW_NOT_OPEN: "the bird cannot move there (rules.md 11.22)",
    actions.NO_SUCH_SEAT: "that player gets nothing here (rules.md 11.5, 11.6)",
    actions.NOT_IN_DRAFT: "that card has been taken (rules.md 11.12)",
    actions.BONUS_NOT_OFFERED: "that bonus card was not drawn (rules.md 11.13)",
    actions.NOT_IN_HAND: "that bird is not in hand (rules.md 1.4)",
    actions.ALREADY_DECIDED: "the birds are decided on in their order, and that one has been (rules.md 2.3)",
    actions.NOT_ITS_HABITAT: "the bird does not live there (rules.md 4.1)",
    actions.HABITAT_NOT_OPEN: "this power plays a bird into another habitat (rules.md 11.23)",
    actions.ROW_FULL: "that row is full (rules.md 4.1)",
    actions.TOO_FEW_EGGS: "there are too few eggs to pay for that slot (rules.md 4.2)",
    actions.TOO_LITTLE_FOOD: "there is too little food to pay for that bird (rules.md 4.3, 6)",
}


def _reason(s, action, code):
    """Why an action is not legal now."""
    if code == actions.NOT_ASKED:
        return f"something else is to be decided (rules.md 3.2): {_prompt(s)}"
    return _REASONS[code]


# ---------------------------------------------------------------------------------------------------------------
# Facts


def _goal_facts(s, k):
    """A round goal: what everybody counts now, and the points given for it."""
    goal = int(s.goals[k])
    facts = {
        "round": k + 1,
        "goal": GOAL_NAMES[goal],
        "side": "blue" if s.rules.goals == BLUE else "green",
        "counts_now": {f"player_{p}": int(scoring.goal_count(s, p, goal)) for p in _players(s)},
    }
    if k < s.round_number or s.terminal:
        facts["points"] = {f"player_{p}": int(s.goal_points[k, p]) for p in _players(s)}
    return facts


def _setup_facts(s, player):
    """What a player has chosen so far in the setup; nobody else sees it."""
    dealt = known_birds(s, IN_HAND + player, player)
    bonuses, chosen = known_bonuses(s, IN_BONUS_HAND + player, player), s.current_player > player
    return {
        "birds_not_kept": [BIRD_NAMES[bird] for k, bird in enumerate(dealt) if int(s.setup_dropped[player]) >> k & 1],
        "bonus_card_kept": BONUS_NAMES[bonuses[int(s.setup_bonus[player])]] if chosen else None,
        "food_paid": {name: int(s.setup_paid[player, food]) for food, name in enumerate(FOODS)},
    }


def _action_facts(s, player):
    """What each action would give now, and what a bird costs in eggs by habitat."""
    sizes = [int(number) for number in s.row_size[player]]
    return {
        "gain food": _offer(s, player, FOREST),
        "lay eggs": _offer(s, player, GRASSLAND),
        "draw bird cards": _offer(s, player, WETLAND),
        "eggs_to_play_a_bird": {
            HABITATS[h]: int(EGG_COST[size]) if size < NUM_SLOTS else "full" for h, size in enumerate(sizes)
        },
    }


# ---------------------------------------------------------------------------------------------------------------
# Events


def _describe(event, text):
    """One sentence for an event. Counters tell what there is now: "player_0 lays an egg in the forest, slot 1: 2"."""
    player = "" if event.player is None else f"player_{event.player}"
    token = _token_text(event)
    value = "?" if event.value is None else event.value
    if event.kind in _SENTENCES:
        return _SENTENCES[event.kind](player, token, event.source, value)
    if event.token is None:
        text = text.replace("the bonus card {token}", "{token}")
    target = "" if event.target is None else f"the {event.target[0].replace('_', ' ')}"
    return text.format(player=player, token=token, target=target, value=value)


def _token_text(event):
    if event.token is not None:
        return TOKEN_NAMES[event.token]
    return "a bonus card" if "bonus" in event.kind else "a card"


def _food_now(verb):
    return lambda player, token, source, value: f"{player} {verb} {source[0]} and has {value}."


def _on_slot(did, thing):
    """A sentence about what lies on a bird, by the name of its counter: eggs_forest_1."""

    def sentence(player, token, source, value):
        _, habitat, column = source[0].split("_")
        return f"{player} {did} in {habitat} {column}, which now holds {_some(value, thing)}."

    return sentence


def _die_now(where):
    def sentence(player, token, source, value):
        face = source[0].split("_", 1)[1].replace("_or_", "/").replace("_", " ")
        return f"{where}: {value} {face}."

    return sentence


def _carried(player, token, source, value):
    thing, habitat, column = source[0].split("_")
    return f"{player} now has {value} {thing} in {habitat} {column}."


_SENTENCES = {
    "deal_food": lambda player, token, source, value: f"{player} begins with {value} {source[0]}.",
    "gain_food": _food_now("gains"),
    "pay_food": _food_now("pays"),
    "plan_pay": lambda player, token, source, value: f"{player} will pay {FOODS[value]} for a bird.",
    "lay_egg": _on_slot("lays an egg", "egg"),
    "lose_egg": _on_slot("discards an egg", "egg"),
    "cache_food": _on_slot("caches food", "food"),
    "catch": _on_slot("caches what the hunt has caught", "food"),
    "tucked": _on_slot("has tucked a card", "card"),
    "carry": _carried,
    "die_in": _die_now("In the birdfeeder"),
    "die_out": _die_now("Outside the birdfeeder"),
    "take_die": lambda player, token, source, value: (
        f"{player} takes the {(*FOODS, 'invertebrate/seed')[value]} die from the birdfeeder."
        if value in range(DUAL_FACE + 1)
        else f"{player} takes a die."
    ),
    "turns_left": lambda player, token, source, value: f"{player} has {_some(value, 'turn')} left in this round.",
    "goal_points": lambda player, token, source, value: f"{player} gets {_some(value, 'point')} for the round goal.",
    "score": lambda player, token, source, value: f"{player} scores {_some(value, 'point')} in all.",
    "discards_owed": lambda player, token, source, value: (
        f"{player} owes {count(value, 'discard')} at the end of the turn." if value else f"{player} owes no discards."
    ),
}


def _some(value, thing):
    """Such as "1 turn", "2 turns"; food is food."""
    return f"{value} {thing}" if thing == "food" else f"? {thing}s" if value == "?" else count(value, thing)
