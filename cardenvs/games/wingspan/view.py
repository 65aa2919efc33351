"""The view: tables, facts and texts."""

import re

import numpy as np

from cardenvs.core.errors import DeckError
from cardenvs.core.events import OMNISCIENT
from cardenvs.core.view import View
from cardenvs.games.wingspan import coverage, decision_texts, faces, picture, scoring
from cardenvs.games.wingspan.cards import (
    BIRD_KEYS,
    BIRD_NAMES,
    BONUS_KEYS,
    BONUS_NAMES,
    EGG_COST,
    FOODS,
    FOREST,
    GOAL_KEYS,
    GOAL_NAMES,
    GRASSLAND,
    HABITATS,
    NUM_GOALS,
    NUM_ROUNDS,
    NUM_SLOTS,
    WETLAND,
)
from cardenvs.games.wingspan.event_texts import describe_event
from cardenvs.games.wingspan.known import (
    birds_in_hand_or_tucked,
    known_birds,
    known_bonuses,
    knows_bonuses,
    num_unseen_birds,
    reshuffled_birds,
    reshuffled_bonuses,
)
from cardenvs.games.wingspan.state import (
    BLUE,
    BONUS_TOKEN,
    FACES,
    GOAL_TOKEN,
    IN_BONUS_DISCARDS,
    IN_BONUS_HAND,
    IN_DISCARDS,
    IN_HAND,
    IN_TUCKED,
    MAT_SLOTS,
    NO_BIRD,
    PHASES,
    TOKEN_NAMES,
    slot_name,
)
from cardenvs.games.wingspan.texts import bird_text, bonus_text

_TOKEN_KEYS = (*BIRD_KEYS, *BONUS_KEYS, *GOAL_KEYS)


def _key(text):
    """Return a name as a key: "Barn Owl" as "barn_owl"."""
    return re.sub(r"[^a-z]+", "_", text.strip().lower().replace("'", "")).strip("_")


_TOKEN_OF = {_key(name): token for names in (TOKEN_NAMES, _TOKEN_KEYS) for token, name in enumerate(names)}


class WingspanView(View):
    """The view of Wingspan."""

    remembered = frozenset(
        {
            "known_in_other_hands",
            "in_that_hand_or_tucked_from_it",
            "known_tucked_birds",
            "bonus_cards_seen_and_not_kept",
            "seen_on_the_discard_pile",
            "birds_not_seen_yet",
        }
    )

    # -- tokens -------------------------------------------------------------------------------------------------

    def token_label(self, token):
        return _TOKEN_KEYS[token]

    def token_back(self, token):
        return 0 if token < BONUS_TOKEN else 1 if token < GOAL_TOKEN else 2

    def parse_token(self, text):
        key = _key(text)
        if key not in _TOKEN_OF:
            raise DeckError(f"{text!r} is not a card of Wingspan; cards have names such as barn_owl or birds_in_forest")
        return _TOKEN_OF[key]

    def token_markup(self, token):
        return picture.token(token)

    def token_face(self, token):
        return faces.token_face(token)

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
        return decision_texts.action_label(s, action)

    def choice(self, s, action):
        return faces.choice(s, action)

    def arrange(self, s, viewer, scene):
        """Eggs, food and cards on the birds of the mats; supplies in words."""
        faces.arrange(s, scene)

    def illegal_reason(self, s, action, code):
        return decision_texts.illegal_reason(s, code)

    def prompt(self, s):
        return decision_texts.prompt(s)

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
        return describe_event(event, kind.text)

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
# Facts


def _goal_facts(s, k):
    """Return a round goal with the counts of all players now, and the points if it has been scored."""
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
    """Return what a player has chosen so far in the setup, which nobody else sees."""
    dealt = known_birds(s, IN_HAND + player, player)
    bonuses, chosen = known_bonuses(s, IN_BONUS_HAND + player, player), s.current_player > player
    return {
        "birds_not_kept": [BIRD_NAMES[bird] for k, bird in enumerate(dealt) if int(s.setup_dropped[player]) >> k & 1],
        "bonus_card_kept": BONUS_NAMES[bonuses[int(s.setup_bonus[player])]] if chosen else None,
        "food_paid": {name: int(s.setup_paid[player, food]) for food, name in enumerate(FOODS)},
    }


def _action_facts(s, player):
    """Return what each action would give now, and the egg cost of a bird by habitat."""
    sizes = [int(number) for number in s.row_size[player]]
    return {
        "gain food": decision_texts.offer(s, player, FOREST),
        "lay eggs": decision_texts.offer(s, player, GRASSLAND),
        "draw bird cards": decision_texts.offer(s, player, WETLAND),
        "eggs_to_play_a_bird": {
            HABITATS[h]: int(EGG_COST[size]) if size < NUM_SLOTS else "full" for h, size in enumerate(sizes)
        },
    }
