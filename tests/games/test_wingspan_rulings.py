"""Wingspan: the rulings of rules.md 17 and the reactions of 12, each as a position and a script."""

import numpy as np
import pytest
from wingspan import (
    Player,
    activate,
    bird,
    changed,
    decision,
    discards,
    feeder,
    finish_turn,
    food,
    hand,
    kinds,
    labels,
    on,
    play,
    position,
    row,
    seed_where,
    total,
    tray,
)

from cardenvs.core.events import NO_LOG
from cardenvs.core.kernel import COMPILED
from cardenvs.core.record import widen
from cardenvs.games.wingspan import GAME
from cardenvs.games.wingspan.bird_cards import hunt_in_deck
from cardenvs.games.wingspan.cards import BIRD_EGG_LIMIT, FOODS
from cardenvs.games.wingspan.stack import CHOOSE_TURN
from cardenvs.games.wingspan.state import OP


def next_turn(state) -> bool:
    """Return whether the action of a new turn is to be chosen."""
    return decision(state)[OP] == CHOOSE_TURN


# ---------------------------------------------------------------------------------------------------------------
# 17 Powers of the own row


def test_tuck_and_lay_a_full_bird_may_still_tuck_but_gets_no_egg():
    limit = BIRD_EGG_LIMIT[bird("Bushtit")]
    state = position(Player(f"forest: Bushtit ({limit} eggs)", hand="Osprey"), Player(), feeder="seed fish")
    play(activate(state, "forest"), "tuck Osprey")
    assert on(state, 0, "Bushtit", "tucked") == 1
    assert on(state, 0, "Bushtit", "eggs") == limit
    assert next_turn(state)


def test_all_players_lay_an_egg_the_owners_two_eggs_lie_on_two_birds():
    state = position(
        Player("grassland: Lazuli Bunting; wetland: Common Yellowthroat, Mallard"), Player(), feeder="seed fish"
    )
    activate(state, "grassland")  # its two eggs lie on the bunting
    play(state, "use Lazuli Bunting")
    assert labels(state) == ["decline", "lay an egg on Lazuli Bunting", "lay an egg on Common Yellowthroat"]
    play(state, "lay an egg on Lazuli Bunting")
    assert labels(state) == ["decline", "lay an egg on Common Yellowthroat"]


def test_all_players_lay_an_egg_with_a_single_bird_there_is_one_egg():
    state = activate(position(Player("grassland: Lazuli Bunting"), Player(), feeder="seed fish"), "grassland")
    eggs = total(state, 0, "eggs")
    play(state, "use Lazuli Bunting", "lay an egg on Lazuli Bunting")
    assert total(state, 0, "eggs") == eggs + 1
    assert next_turn(state)


def test_birds_played_through_powers_play_further_birds():
    state = position(
        Player(
            "wetland: Mallard (4 eggs)",
            hand="House Wren, Downy Woodpecker, Tufted Titmouse, Hooded Warbler",
            food="9 invertebrate, seed",
        ),
        Player(),
        feeder="seed fish",
    )
    for name in ("House Wren", "Downy Woodpecker", "Tufted Titmouse", "Hooded Warbler"):
        if name == "House Wren":
            play(state, "play a bird")
        play(state, f"play {name} in the forest")
        while name in hand(state, 0):
            play(state, labels(state)[0])
    assert row(state, 0, "forest") == ["House Wren", "Downy Woodpecker", "Tufted Titmouse", "Hooded Warbler"]
    assert total(state, 0, "eggs") == 0  # 0 + 1 + 1 + 2 of the columns
    assert state.record.turns_left[0] == 7
    assert next_turn(state)


@pytest.mark.parametrize("habitat", ["forest", "grassland"])
def test_play_another_bird_in_this_birds_row_is_the_row_just_played_into(habitat):
    state = position(
        Player("wetland: Mallard (4 eggs)", hand="House Wren, American Woodcock", food="9 invertebrate, seed"),
        Player(),
        feeder="seed fish",
    )
    play(state, "play a bird", f"play House Wren in the {habitat}")
    while "House Wren" in hand(state, 0):
        play(state, labels(state)[0])
    assert labels(state) == ["decline", f"play American Woodcock in the {habitat}"]


@pytest.mark.parametrize(
    ("mat", "first"), [("Gray Catbird, Carolina Chickadee", False), ("Carolina Chickadee, Gray Catbird", True)]
)
def test_repeat_a_power_to_the_left_or_the_right_which_works_for_the_bird_chosen(mat, first):
    state = activate(position(Player(f"forest: {mat}"), Player(), feeder="seed seed seed fish"), "forest")
    script = ["repeat Carolina Chickadee", "use Carolina Chickadee"]
    own = ["use Carolina Chickadee"]
    play(state, *(script + own if first else own + script))
    assert on(state, 0, "Carolina Chickadee", "cached") == 2
    assert on(state, 0, "Gray Catbird", "cached") == 0
    assert next_turn(state)


def test_repeat_leaves_out_birds_that_repeat_and_birds_of_other_rows():
    mat = "forest: Gray Catbird, Northern Mockingbird, Eastern Kingbird; grassland: Mourning Dove"
    state = activate(position(Player(mat), Player(), feeder="seed seed seed fish"), "forest")
    assert next_turn(state)  # neither has anything to repeat: a pink bird, a repeater, a bird elsewhere


def test_a_repeated_move_asks_whether_the_bird_chosen_is_rightmost():
    state = position(Player("forest: Gray Catbird, Chimney Swift"), Player(), feeder="seed seed seed fish")
    play(activate(state, "forest"), "decline", "repeat Chimney Swift", "move to the wetland")
    assert row(state, 0, "wetland") == ["Chimney Swift"]
    blocked = position(Player("forest: Chimney Swift, Gray Catbird"), Player(), feeder="seed seed seed fish")
    play(activate(blocked, "forest"), "repeat Chimney Swift")
    assert next_turn(blocked)
    assert row(blocked, 0, "forest") == ["Chimney Swift", "Gray Catbird"]


def test_a_bird_moves_with_all_that_lies_on_it_and_the_action_goes_on_in_the_old_row():
    state = position(
        Player(
            "forest: Carolina Chickadee, Chimney Swift (2 eggs, 1 cached, 3 tucked); grassland: Mallard;"
            "wetland: Common Loon (1 egg)"
        ),
        Player("wetland: Belted Kingfisher; forest: Eastern Kingbird"),
        feeder="seed seed seed fish",
    )
    activate(state, "forest")
    assert labels(state) == ["decline", "move to the grassland", "move to the wetland"]
    play(state, "move to the wetland")
    assert row(state, 0, "forest") == ["Carolina Chickadee"]
    assert row(state, 0, "wetland") == ["Common Loon", "Chimney Swift"]
    assert [on(state, 0, "Chimney Swift", what) for what in ("eggs", "cached", "tucked")] == [2, 1, 3]
    assert [on(state, 0, "Common Loon", what) for what in ("eggs", "cached", "tucked")] == [1, 0, 0]
    assert labels(state) == ["decline", "use Carolina Chickadee"]  # the next to the left; no kingfisher, no loon
    play(state, "use Carolina Chickadee")
    assert next_turn(state)
    assert food(state, 1) == {}


def test_a_bird_that_is_not_the_rightmost_or_finds_no_room_does_not_move():
    state = position(Player("forest: Chimney Swift, American Woodcock"), Player(), feeder="seed seed seed fish")
    assert next_turn(activate(state, "forest"))
    full = "Killdeer, Bobolink, Mourning Dove, Horned Lark, Dickcissel"
    other = "Mallard, Osprey, Snowy Egret, Wood Duck, Ruddy Duck"
    state = position(
        Player(f"forest: Chimney Swift; grassland: {full}; wetland: {other}"), Player(), feeder="seed seed seed fish"
    )
    assert next_turn(activate(state, "forest"))


def test_trade_food_for_another_type():
    state = position(Player("wetland: Green Heron", food="seed, fish"), Player(), feeder="seed fish")
    play(activate(state, "wetland"), "pay fish")
    assert labels(state) == [f"gain {kind}" for kind in FOODS if kind != "fish"]


def test_egg_for_food_takes_no_egg_of_the_bird_itself():
    state = position(Player("forest: American Crow (2 eggs)"), Player(), feeder="seed seed fish")
    assert next_turn(activate(state, "forest"))


def test_egg_for_cards_may_take_an_egg_of_the_bird_itself():
    state = position(Player("grassland: Killdeer (3 eggs)"), Player(), feeder="seed fish", deck="Osprey, Mallard")
    play(activate(state, "grassland"), "discard an egg from Killdeer", "draw from the deck", "draw from the deck")
    assert on(state, 0, "Killdeer", "eggs") == 2
    assert hand(state, 0) == {"Osprey", "Mallard"}


# ---------------------------------------------------------------------------------------------------------------
# 17 Hunts


@pytest.mark.parametrize(
    ("hunter", "prey", "caught"),
    [
        ("Barred Owl", "Black-Necked Stilt", 1),  # 74 cm, under 75
        ("Barred Owl", "Wood Duck", 0),  # 76 cm
        ("Great Horned Owl", "American Crow", 1),  # 99 cm, under 100
    ],
)
def test_a_hunt_by_wingspan_needs_less_than_the_bound(hunter, prey, caught):
    state = position(Player(f"forest: {hunter}"), Player(), feeder="seed seed fish", deck=prey)
    play(activate(state, "forest"), f"use {hunter}")
    assert on(state, 0, hunter, "tucked") == caught


@pytest.mark.parametrize(("bound", "caught"), [(75, False), (76, False), (77, True)])
def test_a_wingspan_that_equals_the_bound_gets_away(bound, caught):
    """Tests the effect itself on a Wood Duck (76 cm), as no bird has a wingspan of 50, 75 or 100 cm."""
    state = position(Player("forest: Barred Owl"), Player(), feeder="seed seed fish", deck="Wood Duck")
    states = np.frombuffer(state.record_bytes(), GAME.state_dtype).copy()
    s = (states if COMPILED else widen(states))[0]
    assert bool(hunt_in_deck(s, 0, 0, bound, NO_LOG)) == caught
    assert s.tucked[0, 0] == caught


def test_a_hunt_with_all_dice_in_the_birdfeeder_has_nothing_to_roll():
    state = position(Player("wetland: Anhinga"), Player(), feeder="seed seed fish rodent either")
    assert next_turn(activate(state, "wetland"))


def test_several_hits_cache_one_food():
    def hunt(seed):
        state = position(Player("wetland: Anhinga"), Player(), feeder="seed", seed=seed)
        return play(activate(state, "wetland"), "use Anhinga")

    state = seed_where(hunt, lambda state: state.record.outside[FOODS.index("fish")] >= 2)
    assert on(state, 0, "Anhinga", "cached") == 1
    assert feeder(state) == {"seed": 1}  # what was rolled stays outside


# ---------------------------------------------------------------------------------------------------------------
# 17 Discards, food, the birdfeeder


def test_discards_owed_go_as_far_as_the_hand_does():
    state = changed(
        position(Player(hand="Osprey, Mallard"), Player(), feeder="seed seed fish"), debts=[[3, 0, 0, 0, 0]]
    )
    play(state, "gain food", "take seed die")
    assert hand(state, 0) == set()
    assert discards(state) == {"Osprey", "Mallard"}
    assert state.record.debts[0] == 0
    assert next_turn(state)


def test_discards_owed_may_be_any_cards_and_add_up():
    state = position(
        Player("wetland: Black Tern, Clark's Grebe", hand="Osprey"), Player(), feeder="seed", deck="Mallard, Killdeer",
        tray="Bushtit, Bobolink, Dickcissel",
    )  # fmt: skip
    activate(state, "wetland")
    play(state, "draw from the deck", "draw from the deck")
    assert state.record.debts[0] == 2
    play(state, "discard Osprey", "discard Bushtit")
    assert hand(state, 0) == {"Mallard", "Killdeer", "Bobolink"}
    assert state.record.debts[0] == 0
    assert next_turn(state)


def test_cached_food_pays_for_nothing():
    cached = position(Player("forest: Blue Jay (5 cached)", hand="Hooded Warbler"), Player(), feeder="seed seed fish")
    assert "play a bird" not in labels(cached)
    held = position(
        Player("forest: Blue Jay (1 egg)", hand="Hooded Warbler", food="2 invertebrate"), Player(), feeder="seed"
    )
    assert "play a bird" in labels(held)


def test_gain_all_dice_begins_with_a_reset_and_ends_with_the_refill():
    state = position(Player(hand="Bald Eagle", food="2 fish, rodent"), Player(), feeder="fish fish")
    play(state, "play a bird", "play Bald Eagle in the wetland")
    while "Bald Eagle" in hand(state, 0):
        play(state, labels(state)[0])
    assert labels(state) == ["decline", "take fish die", "reroll all dice"]
    rerolled = play(state.clone(), "reroll all dice")
    assert sum(feeder(rerolled).values()) == 5
    play(state, "take fish die")
    assert labels(state) == ["decline", "take fish die"]  # one die is left: no reset any more
    play(state, "take fish die")
    assert food(state, 0) == {"fish": 2}
    assert sum(feeder(state).values()) == 5
    assert next_turn(state)


# ---------------------------------------------------------------------------------------------------------------
# 12 Reactions


def test_a_hunt_and_its_reaction_are_over_before_the_next_bird_is_activated():
    """Seed: the turkey vulture takes the fish; the next bird of the row sees the birdfeeder without it."""

    def hunted(seed):
        state = position(
            Player("forest: Anna's Hummingbird, Barn Owl"),
            Player("grassland: Turkey Vulture"),
            feeder="fish fish seed invertebrate fruit".replace("fish fish", "fish"),
            seed=seed,
        )
        play(state, "0: gain food", "0: take invertebrate die", "0: take fruit die")
        return play(state, "0: use Barn Owl")

    state = seed_where(hunted, lambda state: on(state, 0, "Barn Owl", "cached") == 1)
    assert feeder(state) == {"fish": 1, "seed": 1}
    assert labels(state) == ["decline", "react with Turkey Vulture"]
    play(state, "1: react with Turkey Vulture", "1: take fish die")
    assert food(state, 1) == {"fish": 1}
    assert feeder(state) == {"seed": 1}
    assert labels(state) == ["decline", "player_0 goes first", "player_1 goes first"]
    play(state, "0: player_0 goes first")
    assert labels(state) == ["decline", "take seed die", "reroll all dice"]
    happened = [
        kind for kind in kinds(state) if kind in ("use_power", "hunt_succeeds", "react", "take_die", "goes_first")
    ]
    assert happened == [
        "take_die",
        "take_die",
        "use_power",
        "hunt_succeeds",
        "react",
        "take_die",
        "use_power",
        "goes_first",
    ]


def test_a_missed_hunt_brings_no_reaction():
    state = position(
        Player("forest: Barred Owl"), Player("grassland: Turkey Vulture"), feeder="seed seed fish", deck="Osprey"
    )
    play(activate(state, "forest"), "use Barred Owl")
    assert next_turn(state)


LAYER = "wetland: American Avocet; grassland: Killdeer"


def test_a_reaction_to_laying_eggs_needs_no_egg_and_lays_on_another_own_bird():
    state = play(position(Player(), Player(LAYER), feeder="seed"), "lay eggs")
    assert total(state, 0, "eggs") == 0
    play(state, "1: react with American Avocet")
    assert on(state, 1, "Killdeer", "eggs") == 1
    assert on(state, 1, "American Avocet", "eggs") == 0


def test_a_reaction_to_laying_eggs_does_not_come_with_eggs_of_powers_or_other_actions():
    state = position(
        Player("forest: Blue Jay, Common Grackle", hand="Osprey"), Player(LAYER), feeder="seed seed seed fish"
    )
    play(activate(state, "forest"), "tuck Osprey", "lay an egg on Common Grackle")
    assert labels(state) == ["decline", "take seed die"] or state.current_player == 0
    assert "react" not in kinds(state)


def test_12_1_once_between_two_turns_of_the_owner():
    state = position(Player(), Player(), Player(LAYER), feeder="seed")
    play(state, "0: lay eggs", "2: react with American Avocet")
    play(state, "1: lay eggs")
    assert state.record.turn_player == 2  # used: not asked again
    assert state.record.pink_used[2] == 0
    play(state, "2: lay eggs", *["2: lay an egg on American Avocet"] * 2)
    finish_turn(state)
    play(state, "0: lay eggs")
    assert labels(state) == ["decline", "react with American Avocet"]


def test_12_1_declining_does_not_use_it_up():
    state = position(Player(), Player(), Player(LAYER), feeder="seed")
    play(state, "0: lay eggs", "2: decline", "1: lay eggs")
    assert labels(state) == ["decline", "react with American Avocet"]


def test_12_1_not_in_the_owners_own_turn():
    state = position(Player(LAYER), Player(), feeder="seed")
    activate(state, "grassland")
    assert "react with American Avocet" not in labels(state)
    finish_turn(state)
    assert "react" not in kinds(state)


def test_12_1_being_unable_does_not_use_it_up_and_is_not_asked():
    limit = BIRD_EGG_LIMIT[bird("Killdeer")]
    state = position(
        Player(), Player(), Player(f"wetland: American Avocet; grassland: Killdeer ({limit} eggs)"), feeder="seed"
    )
    play(state, "0: lay eggs")
    assert state.record.turn_player == 1
    assert state.record.pink_used[2] == 0


def test_12_2_the_trade_comes_first_then_reactions_then_brown_powers():
    state = position(
        Player("grassland: Mourning Dove", food="seed"), Player(LAYER), feeder="seed"
    )  # fmt: skip
    play(state, "0: lay eggs")
    assert labels(state) == ["decline", "pay seed"]
    play(state, "0: pay seed", "1: react with American Avocet", "0: lay an egg on Mourning Dove")
    assert on(state, 0, "Mourning Dove", "eggs") == 4
    assert next_turn(state)


def test_12_2_a_bird_played_the_others_react_before_its_white_power():
    state = position(
        Player(hand="Brown Pelican", food="2 fish"), Player("wetland: Belted Kingfisher"), feeder="seed fish"
    )
    play(state, "play a bird", "play Brown Pelican in the wetland")
    play(state, "1: react with Belted Kingfisher", "0: use Brown Pelican")
    assert food(state, 1) == {"fish": 1}
    assert food(state, 0) == {"fish": 3}


def test_12_3_players_react_clockwise_from_the_left_of_the_active_one():
    state = position(
        Player("grassland: Turkey Vulture"), Player("forest: Barred Owl"), Player("forest: Black Vulture"),
        Player("grassland: Black-Billed Magpie"), to_act=1, feeder="seed fish rodent fruit", deck="Bushtit",
    )  # fmt: skip
    play(state, "1: gain food", "1: take seed die", "1: use Barred Owl")
    play(
        state,
        "2: react with Black Vulture",
        "2: take fish die",
        "3: react with Black-Billed Magpie",
        "3: take fruit die",
    )
    play(state, "0: react with Turkey Vulture", "0: take rodent die")
    assert [food(state, p) for p in range(4)] == [{"rodent": 1}, {"seed": 1}, {"fish": 1}, {"fruit": 1}]


def test_12_3_who_has_several_birds_orders_them_freely():
    state = position(
        Player("forest: Barred Owl"), Player("forest: Black Vulture; grassland: Turkey Vulture"),
        feeder="seed fish rodent fruit", deck="Bushtit",
    )  # fmt: skip
    play(state, "gain food", "take seed die", "use Barred Owl")
    assert labels(state) == ["decline", "react with Black Vulture", "react with Turkey Vulture"]
    play(state, "1: react with Turkey Vulture", "1: take fish die")
    assert labels(state) == ["decline", "react with Black Vulture"]
    play(state, "1: react with Black Vulture", "1: take rodent die")
    assert food(state, 1) == {"fish": 1, "rodent": 1}


def test_12_3_a_reaction_sets_off_nothing_further():
    """The die that a vulture takes is a rodent; the shrike looks at dice of the gain food action only."""
    state = position(
        Player("forest: Barred Owl"), Player("forest: Black Vulture"), Player("grassland: Loggerhead Shrike"),
        feeder="seed rodent fish", deck="Bushtit",
    )  # fmt: skip
    play(state, "gain food", "take seed die", "use Barred Owl", "1: react with Black Vulture", "1: take rodent die")
    assert state.record.turn_player == 1
    assert next_turn(state)


def test_12_4_a_pink_power_still_works_after_its_owners_last_turn():
    state = position(Player(), Player(LAYER), to_act=1, round_number=4, turns=[1, 1], feeder="seed")
    activate(state, "wetland")
    finish_turn(state)
    play(state, "0: lay eggs", "1: react with American Avocet")
    assert state.is_terminal
    assert on(state, 1, "Killdeer", "eggs") == 1


def test_12_4_the_period_runs_across_the_end_of_a_round():
    """Player 2 acts last in the round and, as first player moves on, last in the next one too."""
    state = position(Player(), Player(), Player(LAYER), turns=[1, 1, 1], feeder="seed")
    activate(state, "wetland")
    play(state, "1: lay eggs", "2: react with American Avocet")
    assert state.record.turn_player == 2
    play(state, "2: draw bird cards", "2: draw from the deck", "2: decline")
    assert state.record.round_number == 1
    assert state.record.turn_player == 1
    play(state, "1: lay eggs")
    assert labels(state) == ["decline", "react with American Avocet"]
    play(state, "2: react with American Avocet")
    assert state.record.turn_player == 2


def test_17_the_shrike_looks_at_dice_of_the_action_and_its_trade():
    shrike = Player("grassland: Loggerhead Shrike")
    traded = position(Player("forest: Carolina Chickadee", hand="Osprey"), shrike, feeder="seed rodent fish")
    play(traded, "gain food", "take seed die", "discard Osprey", "take rodent die")
    assert labels(traded) == ["decline", "react with Loggerhead Shrike"]
    play(traded, "1: react with Loggerhead Shrike")
    assert on(traded, 1, "Loggerhead Shrike", "cached") == 1


def test_17_the_shrike_does_not_look_at_dice_of_brown_powers():
    state = position(
        Player("forest: Anna's Hummingbird"), Player("grassland: Loggerhead Shrike"), feeder="seed rodent fish"
    )
    play(state, "gain food", "take seed die", "0: player_0 goes first", "0: take rodent die", "1: take fish die")
    assert next_turn(state)


def test_17_a_reaction_to_a_bird_comes_with_birds_played_through_powers():
    state = position(
        Player("wetland: Mallard (4 eggs)", hand="Eastern Bluebird, Mourning Dove", food="2 invertebrate, fruit, seed"),
        Player("grassland: Horned Lark", hand="Osprey, Killdeer"),
        feeder="seed",
    )
    play(state, "play a bird", "play Eastern Bluebird in the grassland", "pay fruit")
    play(state, "1: decline", "0: play Mourning Dove in the grassland")
    while "Mourning Dove" in hand(state, 0):
        play(state, labels(state)[0])
    play(state, "1: react with Horned Lark", "1: tuck Osprey")
    assert on(state, 1, "Horned Lark", "tucked") == 1


def test_17_fewest_birds_the_first_to_draw():
    def drawers(*wetlands, owner="wetland: American Bittern"):
        """Return who draws, in order, when the bittern of player 1 is activated."""
        mats = [f"wetland: {names}" if names else "" for names in wetlands]
        mats[1] = owner
        state = position(*map(Player, mats), to_act=1, feeder="seed", deck="Osprey, Killdeer, Bobolink")
        activate(state, "wetland")
        play(state, "use American Bittern")
        order = []
        while not next_turn(state):
            order.append(state.current_player)
            play(state, "draw from the deck")
        return order

    assert drawers("Mallard", "", "Wood Duck") == [1, 2, 0]  # all tied: the owner first
    assert drawers("", "", "") == [2, 0]  # the owner has one more: clockwise from the owner
    assert drawers("Mallard", "", "") == [2]


def test_13_2_tied_players_share_the_victory():
    def ended(food_one, food_two):
        state = position(
            Player("forest: Blue Jay", food=food_one), Player("forest: Downy Woodpecker", food=food_two),
            to_act=1, round_number=4, turns=[0, 1], feeder="seed",
            tray="Osprey, Killdeer, Bobolink",
        )  # fmt: skip
        return play(state, "1: draw bird cards", "1: draw from the deck")

    tied = ended("2 seed", "2 fish")
    assert tied.is_terminal
    assert tied.returns == [0, 0]
    assert tied.record.standing[:2].tolist() == [1, 1]
    assert "share_win" in kinds(tied)
    broken = ended("2 seed", "3 fish")
    assert broken.returns == [-1, 1]
    assert broken.record.standing[:2].tolist() == [2, 1]
    assert "win" in kinds(broken)
    assert tray(broken) == {"Osprey", "Killdeer", "Bobolink"}
