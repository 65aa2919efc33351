"""What a player of Wingspan can conclude of hidden cards (rules.md 14), and the worlds that `determinize` deals."""

import random
from collections import Counter

import numpy as np
import pytest
from scipy.special import chdtrc
from wingspan import GAME, Player, bird, check, finish_turn, hand, play, position

from cardenvs.core.events import SOURCE, TARGET, TOKEN, UNKNOWN
from cardenvs.games.wingspan.actions import STOP
from cardenvs.games.wingspan.cards import BIRD_NAMES, FOODS, NUM_BIRDS
from cardenvs.games.wingspan.state import BATCH_BITS, IN_DECK, IN_HAND, IN_TUCKED
from cardenvs.testing.knowledge import Tracker, check_twins

_PILE = GAME.table.pile_ids
_DECK, _DISCARDS, _HAND, _TUCKED = (_PILE[name] for name in ("bird_deck", "bird_discards", "hand", "tucked"))


def coot(**things):
    """A player who tucks a card of the hand and draws one whenever drawing cards; all cards not named lie open."""
    mat = "wetland: American Coot"
    things = {"deck": "Wood Duck, Blue Jay, Bushtit, Willet", "rest": "discards", **things}
    return position(
        Player(mat, hand="Bobolink", food="9 seed, 9 fish"), Player(food="9 seed"), feeder="seed fish",
        tray="Osprey, Killdeer, Mallard", **things,
    )  # fmt: skip


def turn(state, *script):
    """A turn of player 0, after which player 1 gains food."""
    play(state, *script)
    finish_turn(state)
    if state.current_player == 1:
        play(state, "1: gain food")
        finish_turn(state)
    return state


def tucked(state, player):
    """The names of the birds tucked at a player's."""
    return {BIRD_NAMES[k] for k in range(NUM_BIRDS) if state.record.place[k] == IN_TUCKED + player}


def shown(state, player):
    """The sections of an observation that are about birds, as sets of names."""
    sections = GAME.layout(state.options).split(state.observation(player))
    return {name: {BIRD_NAMES[k] for k in np.flatnonzero(part)} for name, part in sections.items() if len(part) == 170}


def where(state, player, section):
    """The entries of a section by the name of the bird, those that are not 0."""
    entries = GAME.layout(state.options).split(state.observation(player))[section]
    return {BIRD_NAMES[k]: int(entries[k]) for k in np.flatnonzero(entries)}


# ---------------------------------------------------------------------------------------------------------------
# Tucks


def test_a_card_taken_openly_is_in_that_hand_or_tucked_in_every_world():
    state = coot()
    play(state, "draw bird cards", "take Osprey from the tray", "tuck Bobolink", "draw from the deck")
    places = Counter()
    for seed in range(200):
        twin = state.determinize(1, seed)
        check(twin)
        places[int(twin.record.place[bird("Osprey")])] += 1
    assert set(places) == {IN_HAND, IN_TUCKED}
    assert min(places.values()) > 60


def test_what_may_be_in_a_hand_or_tucked_is_shown_to_the_others_and_what_was_tucked_to_its_owner():
    state = coot()
    play(state, "draw bird cards", "take Osprey from the tray", "tuck Bobolink", "draw from the deck")
    assert state.facts(1)["in_that_hand_or_tucked_from_it"] == {"player_0": ["Osprey"]}
    assert state.facts(1)["known_in_other_hands"] == {"player_0": []}
    assert where(state, 1, "hand_or_tucked") == {"Osprey": 2}
    assert shown(state, 1)["seat_1_hand"] == shown(state, 1)["tucked_birds"] == set()
    assert "in hand or tucked: Osprey" in state.render(1)
    assert state.facts(0)["known_tucked_birds"]["player_0"] == ["Bobolink"]
    assert where(state, 0, "tucked_birds") == {"Bobolink": 1}
    assert shown(state, 0)["own_hand"] == {"Osprey", "Wood Duck"}
    assert not shown(state, 0)["hand_or_tucked"]


def test_a_card_tucked_openly_is_shown_to_all():
    state = position(
        Player("forest: Barred Owl (1 egg)"), Player(), feeder="seed fish", tray="Osprey, Killdeer, Mallard",
        deck="Bushtit",
    )  # fmt: skip
    play(state, "gain food", "take seed die", "use Barred Owl")
    assert where(state, 0, "tucked_birds") == {"Bushtit": 1}
    assert where(state, 1, "tucked_birds") == {"Bushtit": 2}


def test_a_card_that_is_played_was_not_tucked_and_then_another_was():
    state = coot()
    turn(state, "draw bird cards", "take Osprey from the tray", "tuck Bobolink", "draw from the deck")
    state = turn(state, "lay eggs")
    play(state, "play a bird", "play Osprey in the wetland")
    for seed in range(40):
        twin = state.determinize(1, seed)
        assert "Osprey" not in tucked(twin, 0)
        assert tucked(twin, 0) & {"Bobolink", "Wood Duck", "Blue Jay", "Bushtit", "Willet"}
        assert hand(twin, 0) >= {"Osprey"}


def test_a_card_taken_after_a_tuck_cannot_have_been_tucked_then():
    state = coot()
    turn(state, "draw bird cards", "take Osprey from the tray", "tuck Bobolink", "draw from the deck")
    turn(state, "draw bird cards", "take Killdeer from the tray", "decline")
    turn(state, "draw bird cards", "take Mallard from the tray", "tuck Osprey", "take Blue Jay from the tray")
    several = 0
    for seed in range(200):
        under = tucked(state.determinize(1, seed), 0)
        assert len(under) == 2
        assert not under >= {"Killdeer", "Mallard"}  # one tuck came after both
        assert "Blue Jay" not in under
        several += bool(under & {"Killdeer", "Mallard"})
    assert 20 < several < 180


def histories(state, player, first_hand, unseen):
    """All that can have happened, from the events that `player` has seen: how often hand and tucks end up as they do.

    Args:
        first_hand: number of unseen cards in the hand of player 0 at first.
        unseen: names of the birds that lie there and in the deck, all of them.
    """
    from itertools import permutations

    worlds = Counter()
    for order in permutations(birds_of(unseen)):
        worlds[order[first_hand:], frozenset(order[:first_hand]), frozenset()] += 1
    rows = state.event_rows(player)
    for row in rows[(rows[:, SOURCE] != -1) & (rows[:, TARGET] != -1)]:
        token, source, target = (int(row[column]) for column in (TOKEN, SOURCE, TARGET))
        after = Counter()
        for (deck, held, under), number in worlds.items():
            for next_world in _moved(deck, held, under, token, source, target):
                after[next_world] += number
        worlds = after
    found = Counter()
    for (_, held, under), number in worlds.items():
        found[held, under] += number
    return found


def birds_of(names):
    return [bird(name) for name in names]


def _moved(deck, held, under, token, source, target):
    """The worlds that a move leads to, if it is possible in this one."""
    if source == _DECK:
        if token not in (UNKNOWN, deck[0]):
            return
        card, deck = deck[0], deck[1:]
        yield deck, held | {card} if target == _HAND else held, under | {card} if target == _TUCKED else under
    elif source == _HAND:
        for card in held if token == UNKNOWN else held & {token}:
            yield deck, held - {card}, under | {card} if target == _TUCKED else under
    elif target == _HAND:
        yield deck, held | {token}, under
    else:
        yield deck, held, under


def _script(name):
    """Positions with tucks of all sorts: (state, unseen cards at first)."""
    unseen = ["Bobolink", "Wood Duck", "Blue Jay", "Bushtit", "Willet"]
    state = coot()
    if name == "one tuck":
        play(state, "draw bird cards", "take Osprey from the tray", "tuck Bobolink", "draw from the deck")
    elif name == "drawn before":
        play(state, "draw bird cards", "draw from the deck", "tuck Wood Duck", "take Osprey from the tray")
    elif name == "two tucks":
        turn(state, "draw bird cards", "take Osprey from the tray", "tuck Bobolink", "draw from the deck")
        play(state, "draw bird cards", "take Killdeer from the tray", "tuck Wood Duck", "draw from the deck")
    elif name == "tucks with a card drawn between":
        turn(state, "draw bird cards", "take Osprey from the tray", "tuck Osprey", "draw from the deck")
        play(state, "draw bird cards", "draw from the deck", "tuck Bobolink", "take Mallard from the tray")
    return state, unseen


@pytest.mark.parametrize("name", ["one tuck", "drawn before", "two tucks", "tucks with a card drawn between"])
def test_all_that_can_have_happened_is_dealt_equally_often(name):
    state, unseen = _script(name)
    number = 300
    wanted = histories(state, 1, 1, unseen)
    found = Counter()
    for seed in range(number):
        twin = state.determinize(1, seed)
        held, under = (frozenset(np.flatnonzero(twin.record.place == place).tolist()) for place in (IN_HAND, IN_TUCKED))
        found[held, under] += 1
    assert set(found) <= set(wanted)
    total = sum(wanted.values())
    # Many worlds: they are compared by what is tucked, face by face, and by what is held.
    for at in (0, 1):
        expected, seen = Counter(), Counter()
        for world, count in wanted.items():
            expected[world[at]] += count / total * number
        for world, count in found.items():
            seen[world[at]] += count
        statistic = sum((seen[part] - mean) ** 2 / mean for part, mean in expected.items())
        assert len(expected) == 1 or chdtrc(len(expected) - 1, statistic) > 1e-5


def test_after_a_card_drawn_unseen_was_discarded_every_world_is_possible_and_every_possible_world_is_dealt():
    state = coot()
    turn(state, "draw bird cards", "take Osprey from the tray", "tuck Bobolink", "draw from the deck")
    turn(state, "draw bird cards", "draw from the deck", "decline")
    drawn = sorted(hand(state, 0) - {"Osprey"})
    play(state, "play a bird")
    label = next(
        text for text in map(state.action_label, state.legal_actions()) if drawn[0] in text or drawn[1] in text
    )
    play(state, label)
    wanted = histories(state, 1, 1, ["Bobolink", "Wood Duck", "Blue Jay", "Bushtit", "Willet"])
    shown_bird = bird(next(name for name in drawn if name in label))
    wanted = {world for world in wanted if shown_bird in world[0]}
    found = set()
    for seed in range(400):
        record = state.determinize(1, seed).record
        found.add(tuple(frozenset(np.flatnonzero(record.place == place).tolist()) for place in (IN_HAND, IN_TUCKED)))
    assert found == wanted


def test_worlds_do_not_depend_on_which_card_was_tucked():
    states = []
    for choice in ("tuck Bobolink", "tuck Osprey"):
        state = coot()
        turn(state, "draw bird cards", "take Osprey from the tray", choice, "draw from the deck")
        states.append(state)
    for seed in range(5):
        assert states[0].determinize(1, seed).record_bytes() == states[1].determinize(1, seed).record_bytes()
    assert states[0].observation(1).tolist() == states[1].observation(1).tolist()
    assert states[0].facts(1) == states[1].facts(1)


# ---------------------------------------------------------------------------------------------------------------
# Reshuffled cards


def test_cards_of_the_discard_pile_are_in_the_new_deck_or_drawn_from_it():
    state = coot(deck="Wood Duck", discards="Bald Eagle")
    turn(state, "draw bird cards", "take Osprey from the tray", "tuck Bobolink", "draw from the deck")
    assert state.record.num_shuffles == 1
    for seed in range(60):
        twin = state.determinize(1, seed)
        check(twin)
        assert hand(twin, 0) | tucked(twin, 0) == {"Osprey", "Bobolink", "Wood Duck"}
    turn(state, "draw bird cards", "draw from the deck", "tuck Osprey", "draw from the deck")
    drawn = Counter()
    for seed in range(60):
        twin = state.determinize(1, seed)
        check(twin)
        hidden = hand(twin, 0) | tucked(twin, 0)
        assert hidden >= {"Osprey", "Bobolink", "Wood Duck"}
        drawn.update(hidden - {"Osprey", "Bobolink", "Wood Duck"})
        assert twin.record.place[bird("Bobolink")] != IN_DECK
    assert sum(drawn.values()) == 120
    assert len(drawn) > 60


def test_reshuffled_cards_are_shown():
    state = coot(deck="Wood Duck")
    turn(state, "draw bird cards", "take Osprey from the tray", "tuck Bobolink", "draw from the deck")
    seen = shown(state, 1)["reshuffled"]
    assert set(state.facts(1)["in_the_deck_or_drawn_since_its_reshuffle"]) == seen
    deck = {BIRD_NAMES[k] for k in range(NUM_BIRDS) if state.record.place[k] == IN_DECK}
    assert seen == deck  # all of them had lain open
    assert state.facts(1)["birds_not_seen_yet"] == 2


@pytest.mark.parametrize("num_players", [2, 3])
def test_twins_fit_the_events_also_in_games_whose_deck_is_reshuffled(num_players):
    for game in range(2):
        state, chooser = GAME.new_state(seed=game, num_players=num_players), random.Random(game)
        while state.record.round_number < 0:
            state.apply(chooser.choice(state.legal_actions()))
        trackers = [Tracker(GAME, state.options) for _ in range(num_players)]
        while not state.is_terminal:
            cards = [a for a in state.legal_actions() if state.action_label(a) in ("draw bird cards",)]
            legal = [a for a in state.legal_actions() if a != STOP or chooser.random() < 0.2] or state.legal_actions()
            state.apply(chooser.choice(cards or legal))
            if state.ply % 17 == 0:
                for player in range(num_players):
                    assert check_twins(state, player, trackers[player], state.ply, twins=1) == ""


def test_cards_that_were_given_up_in_the_setup_are_not_taken_for_those_that_were_tucked():
    lots = ", ".join(f"9 {food}" for food in FOODS)
    state = position(
        Player("wetland: American Coot (2 eggs)", hand="Bobolink", food=lots), Player(food=lots),
        feeder="seed fish", tray="Osprey, Killdeer, Mallard", deck="Wood Duck", rest="discards",
    )  # fmt: skip
    turn(state, "draw bird cards", "draw from the deck", "decline", "tuck Bobolink", "take Killdeer from the tray")
    assert state.record.num_shuffles == 1
    for _ in range(2):
        turn(state, "draw bird cards", "draw from the deck", "decline", "decline")
    drawn = hand(state, 0) - {"Wood Duck", "Killdeer"}
    state._states["batch"][0, birds_of(drawn)] = 1 | 1 << BATCH_BITS  # player 0 alone knows that they were reshuffled
    for name in drawn:
        play(state, "play a bird")
        play(state, next(label for label in map(state.action_label, state.legal_actions()) if name in label))
        finish_turn(state)
        play(state, "1: gain food")
        finish_turn(state)
    for seed in range(40):
        twin = state.determinize(1, seed)
        check(twin)
        (under,) = tucked(twin, 0)
        assert not twin.record.batch[bird(under)]  # it lies there since before the reshuffle


# ---------------------------------------------------------------------------------------------------------------
# The setup


def setups(choices):
    """A game in which player 0 has made some choices in the setup, and player 1 is to choose."""
    state = GAME.new_state(seed=3, num_players=2)
    chooser = random.Random(choices)
    for action in state.legal_actions()[1 : 1 + choices]:
        state.apply(action)
    while state.current_player == 0:
        state.apply(STOP if STOP in state.legal_actions() else chooser.choice(state.legal_actions()))
    return state


def test_nothing_tells_which_birds_another_player_keeps_before_all_have_chosen():
    states = [setups(choices) for choices in range(6)]
    assert len({state.ply for state in states}) > 1  # who keeps none pays nothing
    kept = {int(state.record.setup_dropped[0]) for state in states}
    assert len(kept) > 4
    seen = {
        (
            state.observation(1).tobytes(), repr(state.view(1)), repr(state.facts(1)), state.render(1),
            state.information_state_key(1), tuple(state.recap(1)), tuple(state.legal_actions()),
            tuple(map(state.action_label, state.legal_actions())), tuple(state.rewards), tuple(state.active),
        )
        for state in states
    }  # fmt: skip
    assert len(seen) == 1
    worlds = {_without_ply(state.determinize(1, 7)) for state in states}
    assert len(worlds) == 1


def _without_ply(state):
    states = np.frombuffer(state.record_bytes(), GAME.state_dtype).copy()
    states["ply"] = 0
    return states.tobytes()


def test_the_own_choice_of_a_bonus_card_is_shown_while_others_choose():
    state = setups(1)
    sections = GAME.layout(state.options).split(state.observation(0))
    assert sections["setup_bonus"].sum() == 1
    chosen = sorted(np.flatnonzero(sections["bonus"]))[int(state.record.setup_bonus[0])]
    assert sections["setup_bonus"][chosen] == 1
    assert not GAME.layout(state.options).split(state.observation(1))["setup_bonus"].any()
