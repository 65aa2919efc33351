"""The view: tables, facts and texts."""

import re

import numpy as np

from cardenvs.core.errors import DeckError
from cardenvs.core.events import OMNISCIENT
from cardenvs.core.view import View
from cardenvs.games.wingspan import cards, coverage, decision_texts, faces, known, scoring, state
from cardenvs.games.wingspan.event_texts import describe_event
from cardenvs.games.wingspan.texts import bird_text, bonus_text

_TOKEN_KEYS = (*cards.BIRD_KEYS, *cards.BONUS_KEYS, *cards.GOAL_KEYS)


def _key(text):
    """Return a name as a key: "Barn Owl" as "barn_owl"."""
    return re.sub(r"[^a-z]+", "_", text.strip().lower().replace("'", "")).strip("_")


_TOKEN_OF = {_key(name): token for names in (state.TOKEN_NAMES, _TOKEN_KEYS) for token, name in enumerate(names)}


class WingspanView(View):
    """The view of Wingspan."""

    phases = state.PHASES
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
        return 0 if token < state.BONUS_TOKEN else 1 if token < state.GOAL_TOKEN else 2

    def parse_token(self, text):
        key = _key(text)
        if key not in _TOKEN_OF:
            raise DeckError(f"{text!r} is not a card of Wingspan; cards have names such as barn_owl or birds_in_forest")
        return _TOKEN_OF[key]

    token_face = staticmethod(faces.token_face)

    # -- the table ----------------------------------------------------------------------------------------------

    def fill_table(self, s, viewer, table):
        for pile, deck, number in (
            ("bird_deck", s.deck, s.num_deck),
            ("bonus_deck", s.bonus_deck + state.BONUS_TOKEN, s.num_bonus_deck),
        ):
            seen = deck[: int(number)] if viewer == OMNISCIENT else []
            table.put(pile, seen, unknown=int(number) - len(seen))
        _put(table, "bird_discards", known.known_birds(s, state.IN_DISCARDS, viewer), s.num_discards)
        for pile, places in (("tray", s.tray), ("draft", s.draft)):
            table.put(pile, [card for card in places if card != state.NO_BIRD])
        discarded = np.count_nonzero(s.bonus_place == state.IN_BONUS_DISCARDS)
        _put(table, "bonus_discards", _bonus_tokens(s, state.IN_BONUS_DISCARDS, viewer), discarded)
        goals = [int(goal) for goal in s.goals]
        table.put("goal_box", [state.GOAL_TOKEN + goal for goal in range(cards.NUM_GOALS) if goal not in goals])
        table.put("goals", [state.GOAL_TOKEN + goal for goal in goals])
        table.set("round", s.round_number + 1)
        table.set("first_player", s.first_player)
        for face, name in enumerate(state.FACES):
            table.set(f"feeder_{name}", s.feeder[face])
            table.set(f"outside_{name}", s.outside[face])
        for p in _players(s):
            _fill_player(s, p, viewer, table)

    def phase(self, s):
        return "over" if s.terminal else state.PHASES[int(s.round_number) + 1]

    def place(self, s, player):
        return int(s.standing[player]) or None

    def conserved(self, s):
        bonuses = sum(int(held).bit_count() for held in s.bonus_hands)
        played = sum(int(bird != state.NO_BIRD) for bird in s.birds.ravel())
        open_cards = sum(int(bird != state.NO_BIRD) for bird in (*s.tray, *s.draft))
        return {
            "birds": int(s.num_deck + s.num_discards + s.hand_size.sum() + s.tucked.sum()) + open_cards + played,
            "birds in hands, as bits": sum(int(word).bit_count() for word in s.hands.ravel()) - int(s.hand_size.sum()),
            "birds on mats, by row": int(s.row_size.sum()) - played,
            "bonus cards": int(s.num_bonus_deck) + bonuses + int((s.bonus_place == state.IN_BONUS_DISCARDS).sum()),
            "dice": int(s.feeder.sum() + s.outside.sum()),
        }

    statistics = staticmethod(coverage.statistics)

    # -- actions ------------------------------------------------------------------------------------------------

    action_label = staticmethod(decision_texts.action_label)
    choice = staticmethod(faces.choice)
    arrange = staticmethod(faces.arrange)
    illegal_reason = staticmethod(decision_texts.illegal_reason)
    prompt = staticmethod(decision_texts.prompt)

    # -- what a careful player knows ----------------------------------------------------------------------------

    def facts(self, s, player):
        def by_player(fact, but=None):
            return {f"player_{p}": fact(p) for p in _players(s) if p != but}

        def birds_in(place):
            return _bird_names(known.known_birds(s, place, player))

        facts = {
            "round": int(s.round_number) + 1,
            "turns_left": by_player(lambda p: int(s.turns_left[p])),
            "goals": [_goal_facts(s, k) for k in range(cards.NUM_ROUNDS)],
            "hand": [bird_text(bird) for bird in known.known_birds(s, state.IN_HAND + player, player)],
            "tray": [bird_text(int(bird)) for bird in s.tray if bird != state.NO_BIRD],
            "bonus_cards": [
                {
                    "card": bonus_text(card),
                    "counts_now": int(scoring.bonus_count(s, player, card)),
                    "points_now": int(scoring.bonus_points(card, scoring.bonus_count(s, player, card))),
                }
                for card in known.known_bonuses(s, state.IN_BONUS_HAND + player, player)
            ],
            "on_the_mats": [
                f"player_{p}, {state.slot_name(slot).replace('_', ' ')}: {bird_text(int(bird))}"
                for p in _players(s)
                for slot, bird in enumerate(s.birds[p])
                if bird != state.NO_BIRD
            ],
            "your_actions_now": _action_facts(s, player),
            "points_so_far": by_player(lambda p: _points_so_far(s, p, player)),
            "known_in_other_hands": by_player(lambda p: birds_in(state.IN_HAND + p), but=player),
            "in_that_hand_or_tucked_from_it": by_player(
                lambda p: _bird_names(known.birds_in_hand_or_tucked(s, p, player)), but=player
            ),
            "known_tucked_birds": by_player(lambda p: birds_in(state.IN_TUCKED + p)),
            "bonus_cards_seen_and_not_kept": _bonus_names(known.known_bonuses(s, state.IN_BONUS_DISCARDS, player)),
            "seen_on_the_discard_pile": birds_in(state.IN_DISCARDS),
            "birds_not_seen_yet": known.num_unseen_birds(s, player),
            "pink_birds_used": by_player(
                lambda p: _bird_names(bird for k, bird in enumerate(s.birds[p]) if s.pink_used[p] >> k & 1)
            ),
        }
        if birds := known.reshuffled_birds(s, player):
            facts["in_the_deck_or_drawn_since_its_reshuffle"] = _bird_names(birds)
        if bonuses := known.reshuffled_bonuses(s, player):
            facts["in_the_bonus_deck_or_drawn_since_its_reshuffle"] = _bonus_names(bonuses)
        if s.round_number < 0:
            facts["setup"] = _setup_facts(s, player)
        if s.debts[player]:
            facts["discards_owed_at_the_end_of_this_turn"] = int(s.debts[player])
        return facts

    def describe_event(self, event, kind):
        return describe_event(event, kind.text)


# ---------------------------------------------------------------------------------------------------------------
# Parts of the table


def _put(table, pile, known, number, player=0):
    table.put(pile, known, unknown=int(number) - len(known), player=player)


def _bonus_tokens(s, place, viewer):
    return [state.BONUS_TOKEN + card for card in known.known_bonuses(s, place, viewer)]


def _fill_player(s, p, viewer, table):
    _put(table, "hand", known.known_birds(s, state.IN_HAND + p, viewer), s.hand_size[p], p)
    tucked = np.count_nonzero(s.place == state.IN_TUCKED + p)
    _put(table, "tucked", known.known_birds(s, state.IN_TUCKED + p, viewer), tucked, p)
    held = int(s.bonus_hands[p]).bit_count()
    _put(table, "bonus", _bonus_tokens(s, state.IN_BONUS_HAND + p, viewer), held, p)
    for h, habitat in enumerate(cards.HABITATS):
        table.put(habitat, s.birds[p, cards.NUM_SLOTS * h :][: int(s.row_size[p, h])], player=p)
    for food, name in enumerate(cards.FOODS):
        table.set(name, s.food[p, food], player=p)
    table.set("turns_left", s.turns_left[p], player=p)
    for k in range(cards.NUM_ROUNDS):
        table.set(f"goal_{k + 1}", s.goal_points[k, p], player=p)
    for slot in range(state.MAT_SLOTS):
        table.set(f"eggs_{state.slot_name(slot)}", s.eggs[p, slot], player=p)
        table.set(f"cached_{state.slot_name(slot)}", s.cached[p, slot], player=p)
        table.set(f"tucked_{state.slot_name(slot)}", s.tucked[p, slot], player=p)
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
        "goal": cards.GOAL_NAMES[goal],
        "side": "blue" if s.rules.goals == state.BLUE else "green",
        "counts_now": {f"player_{p}": int(scoring.goal_count(s, p, goal)) for p in _players(s)},
    }
    is_played_out = s.terminal and s.active[: s.rules.num_players].sum() > 1
    if k < s.round_number or is_played_out:
        facts["points"] = {f"player_{p}": int(s.goal_points[k, p]) for p in _players(s)}
    return facts


def _points_so_far(s, p, viewer):
    """Return the parts of a player's score that `viewer` knows."""
    return {
        part: int(scoring.score_part(s, p, k))
        for k, part in enumerate(scoring.SCORE_PARTS)
        if k != scoring.BONUSES or known.knows_bonuses(s, p, viewer)
    }


def _bird_names(birds):
    return [cards.BIRD_NAMES[bird] for bird in birds]


def _bonus_names(bonuses):
    return [cards.BONUS_NAMES[card] for card in bonuses]


def _setup_facts(s, player):
    """Return what a player has chosen so far in the setup, which nobody else sees."""
    dealt = known.known_birds(s, state.IN_HAND + player, player)
    bonuses = known.known_bonuses(s, state.IN_BONUS_HAND + player, player)
    choosing = next(p for p in _players(s) if not s.active[p]) if s.terminal else s.current_player
    return {
        "birds_not_kept": [
            cards.BIRD_NAMES[bird] for k, bird in enumerate(dealt) if int(s.setup_dropped[player]) >> k & 1
        ],
        "bonus_card_kept": cards.BONUS_NAMES[bonuses[int(s.setup_bonus[player])]] if choosing > player else None,
        "food_paid": {name: int(s.setup_paid[player, food]) for food, name in enumerate(cards.FOODS)},
    }


def _action_facts(s, player):
    """Return what each action would give now, and the egg cost of a bird by habitat."""
    sizes = [int(number) for number in s.row_size[player]]
    return {
        "gain food": decision_texts.offer(s, player, cards.FOREST),
        "lay eggs": decision_texts.offer(s, player, cards.GRASSLAND),
        "draw bird cards": decision_texts.offer(s, player, cards.WETLAND),
        "eggs_to_play_a_bird": {
            cards.HABITATS[h]: int(cards.EGG_COST[size]) if size < cards.NUM_SLOTS else "full"
            for h, size in enumerate(sizes)
        },
    }
