"""Wingspan, paragraph by paragraph of rules.md: all but the powers and the rulings, which have files of their own."""

import itertools
import random
from collections import Counter

import pytest
from wingspan import (
    ACTIONS,
    Player,
    activate,
    bird,
    changed,
    check,
    decision,
    discards,
    feeder,
    finish_turn,
    food,
    hand,
    kinds,
    labels,
    on,
    pays_for,
    play,
    position,
    recomputed,
    row,
    seed_where,
    total,
    tray,
)

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import DeckError, IllegalActionError
from cardenvs.core.events import SPECTATOR
from cardenvs.core.kernel import COMPILED
from cardenvs.games.wingspan import GAME, cards
from cardenvs.games.wingspan.cards import BIRD_COST, BIRD_COST_OR, BIRD_NAMES, FOODS, HABITATS, NUM_FOODS, WILD
from cardenvs.games.wingspan.stack import CHOOSE_TURN, PAY_COST
from cardenvs.games.wingspan.state import BONUS_TOKEN, IN_DISCARDS, OP

GAMES = 12 if COMPILED else 2


def next_turn(state) -> bool:
    """Return whether the action of a turn is to be chosen."""
    return decision(state)[OP] == CHOOSE_TURN


def refusal(state, label_or_action) -> str:
    """Return why an action is illegal, checking that the attempt changes nothing."""
    before = state.record_bytes()
    with pytest.raises(IllegalActionError) as error:
        state.apply(label_or_action)
    assert state.record_bytes() == before
    return str(error.value)


def random_play(state, rng, until=lambda state: False):
    """Make random choices until the game is over or a condition holds."""
    while not state.is_terminal and not until(state):
        state.apply(rng.choice(state.legal_actions()))
    return state


# ---------------------------------------------------------------------------------------------------------------
# 2. Setup


def test_2_1_four_tiles_of_eight_either_side_up():
    seen = Counter()
    for seed in range(60):
        goals = GAME.new_state(seed=seed).record.goals.tolist()
        assert len({goal // 2 for goal in goals}) == 4
        seen.update(goals)
    assert set(seen) == set(range(cards.NUM_GOALS))


@pytest.mark.parametrize("num_players", [2, 3, 4, 5])
def test_2_2_what_is_dealt(num_players):
    state = GAME.new_state(seed=3, num_players=num_players)
    check(state)
    for p in range(num_players):
        assert len(hand(state, p)) == 5
        assert int(state.record.bonus_hands[p]).bit_count() == 2
        assert food(state, p) == dict.fromkeys(FOODS, 1)
    assert len(tray(state)) == 3
    assert sum(feeder(state).values()) == 5
    assert state.record.num_deck == 170 - 3 - 5 * num_players
    assert state.record.num_bonus_deck == 26 - 2 * num_players


def begun(seed=1, num_players=2, **options):
    """Return the first turn of a game, after first choices in the setup."""
    state = GAME.new_state(seed=seed, num_players=num_players, **options)
    while state.phase == "setup":
        state.apply(state.legal_actions()[0])
    return state


def test_2_2_the_first_player_is_drawn():
    assert {begun(seed, 3).record.turn_player for seed in range(20)} == {0, 1, 2}


DEAL = (
    "mallard osprey killdeer bobolink dickcissel  barn_owl wood_duck bushtit mourning_dove horned_lark "
    "blue_jay house_wren house_finch  canada_goose  ecologist falconer historian oologist  egg_sets birds_in_forest"
)


def test_2_3_of_five_birds_and_five_foods_five_remain():
    state = GAME.new_state(seed=1, deck=DEAL)
    assert hand(state, 0) == {"Mallard", "Osprey", "Killdeer", "Bobolink", "Dickcissel"}
    play(state, "0: discard Dickcissel", "0: discard Killdeer", "0: keep the others")
    play(state, "0: pay invertebrate", "0: pay fruit", "0: pay rodent", "0: keep Falconer")
    play(state, "1: keep the others")
    while state.current_player == 1 and state.phase == "setup":
        play(state, labels(state)[0])
    assert state.phase == "round_1"
    assert hand(state, 0) == {"Mallard", "Osprey", "Bobolink"}
    assert food(state, 0) == {"seed": 1, "fish": 1}
    assert hand(state, 1) == {"Barn Owl", "Wood Duck", "Bushtit", "Mourning Dove", "Horned Lark"}
    assert food(state, 1) == {}
    assert int(state.record.bonus_hands[0]) == 1 << cards.BONUS_NAMES.index("Falconer")
    assert discards(state) == {"Killdeer", "Dickcissel"}
    check(state)


def test_2_3_no_bird_kept_costs_nothing_and_every_number_can_be_kept():
    for num_kept in range(6):
        state = GAME.new_state(seed=1, deck=DEAL)
        for name in sorted(hand(state, 0))[num_kept:]:
            play(state, f"0: discard {name}")
        if "keep the others" in labels(state):
            play(state, "keep the others")
        while state.current_player == 0:
            play(state, labels(state)[0])
        while state.phase == "setup":
            play(state, labels(state)[0])
        assert len(hand(state, 0)) == num_kept
        assert sum(food(state, 0).values()) == 5 - num_kept


def test_2_3_the_choices_are_secret():
    state = GAME.new_state(seed=1, deck=DEAL)
    before = (state.render(1), state.recap(1), state.facts(1), state.observation(1).tobytes())
    play(state, "0: discard Killdeer")
    assert (state.render(1), state.recap(1), state.facts(1), state.observation(1).tobytes()) == before
    while state.phase == "setup":
        play(state, labels(state)[0])
    assert state.record.known[bird("Killdeer")] == 1
    assert state.table(1).piles[GAME.table.pile_ids["bird_discards"]].count(-1) >= 1


def test_2_3_a_written_deal_is_read_as_hands_then_tray_then_deck():
    state = GAME.new_state(seed=1, deck=DEAL)
    assert hand(state, 1) == {"Barn Owl", "Wood Duck", "Bushtit", "Mourning Dove", "Horned Lark"}
    assert tray(state) == {"Blue Jay", "House Wren", "House Finch"}
    assert BIRD_NAMES[state.record.deck[state.record.num_deck - 1]] == "Canada Goose"
    held = [
        sorted(token - BONUS_TOKEN for token in state.table(p).piles[GAME.table.pile_ids["bonus"] + p]) for p in (0, 1)
    ]
    names = [[cards.BONUS_NAMES[card] for card in pair] for pair in held]
    assert names == [["Ecologist", "Falconer"], ["Historian", "Oologist"]]
    goals = [cards.GOAL_NAMES[goal] for goal in state.record.goals]
    assert goals[:2] == ["Sets of eggs across habitats", "Birds in forest"]
    with pytest.raises(DeckError, match="pigeon"):
        GAME.new_state(deck="pigeon")


# ---------------------------------------------------------------------------------------------------------------
# 3. Rounds and turns


@pytest.mark.parametrize("num_players", [2, 3, 5])
def test_3_1_turns_of_a_game(num_players):
    rng = random.Random(num_players)
    state = begun(num_players, num_players)
    first = state.record.first_player
    turns, order = Counter(), []
    while not state.is_terminal:
        if next_turn(state):
            turns[int(state.record.round_number), state.current_player] += 1
            order.append((int(state.record.round_number), state.current_player))
        state.apply(rng.choice(state.legal_actions()))
    for number, each in enumerate((8, 7, 6, 5)):
        assert [turns[number, p] for p in range(num_players)] == [each] * num_players
        players = [p for k, p in order if k == number]
        begins = (first + number) % num_players
        assert players == [(begins + k) % num_players for k in range(each * num_players)]


def test_3_3_the_tray_is_filled_at_the_end_of_the_turn():
    state = position(Player(), Player(), feeder="seed", tray="Osprey, Killdeer, Mallard", deck="Bushtit, Bobolink")
    play(state, "draw bird cards", "take Killdeer from the tray")
    assert tray(state) == {"Osprey", "Bushtit", "Mallard"}
    assert state.record.turn_player == 1


def test_3_4_the_end_of_a_round():
    state = position(
        Player("forest: Blue Jay"), Player(), Player("forest: Barn Owl, House Wren"), to_act=2, turns=[0, 0, 1],
        goals="Birds in forest", feeder="seed", tray="Osprey, Killdeer, Mallard",
        deck="Bushtit, Bobolink, Dickcissel, Wood Duck",
    )  # fmt: skip
    state = changed(state, first_player=0)
    play(state, "2: draw bird cards", "2: take Killdeer from the tray")
    assert state.record.goal_points[0, :3].tolist() == [1, 0, 4]
    assert state.record.round_number == 1
    assert discards(state) == {"Osprey", "Mallard", "Bushtit"}  # the hole was filled before the tray was swept
    assert tray(state) == {"Bobolink", "Dickcissel", "Wood Duck"}
    assert state.record.first_player == state.record.turn_player == 1
    assert state.record.turns_left[:3].tolist() == [7, 7, 7]


def test_3_5_an_empty_deck_is_replaced_by_the_shuffled_discards():
    state = position(Player(), Player(), feeder="seed", deck="Osprey", rest="discards")
    left = state.record.num_discards
    play(state, "draw bird cards", "draw from the deck")
    assert state.record.num_deck == 0
    play(state, "draw bird cards", "draw from the deck")
    assert state.record.num_deck == left - 1
    assert state.record.num_discards == 0
    assert "shuffle_deck" in kinds(state)


def test_3_5_without_deck_and_discards_a_draw_gives_nothing():
    state = position(Player("wetland: Mallard"), Player("forest: Blue Jay"), feeder="seed", tray="", rest="tucked")
    activate(state, "wetland")
    assert next_turn(state)  # neither the action nor the mallard finds a card
    assert hand(state, 0) == set()


def test_3_5_the_last_cards_of_the_tray_can_still_be_drawn():
    state = position(
        Player("forest: Blue Jay"), Player("forest: Barn Owl"), feeder="seed", tray="Osprey", rest="tucked"
    )
    play(state, "draw bird cards")  # the osprey, as there is nothing else
    assert hand(state, 0) == {"Osprey"}
    assert tray(state) == set()


def test_3_5_an_empty_bonus_deck_is_replaced_by_the_shuffled_discards():
    held = ", ".join(name for name in cards.BONUS_NAMES if name not in ("Ecologist", "Falconer"))
    both = Player(hand="Roseate Spoonbill, Atlantic Puffin", food="9 invertebrate, 9 seed, 9 fruit, 9 fish", bonus=held)
    state = position(both, Player(), feeder="seed", bonus_deck="Ecologist, Falconer")
    play(state, "play a bird", "play Roseate Spoonbill in the wetland")
    pays_for(state, "Roseate Spoonbill")
    play(state, "use Roseate Spoonbill", "keep Ecologist")
    assert state.record.num_bonus_deck == 0
    finish_turn(state)
    activate(state, "forest")
    finish_turn(state)
    state = changed(state, eggs=0)
    eggs = state.record.eggs.copy()
    eggs[0, 10] = 1
    state = changed(state, eggs=eggs[None])
    play(state, "play a bird", "play Atlantic Puffin in the wetland")
    pays_for(state, "Atlantic Puffin")
    play(state, "use Atlantic Puffin")  # one card is left, the discarded one: it is kept
    assert int(state.record.bonus_hands[0]).bit_count() == 26
    assert "shuffle_bonuses" in kinds(state)


# ---------------------------------------------------------------------------------------------------------------
# 4. Play a bird


def test_4_1_only_into_its_habitats_and_where_there_is_room():
    full = "Blue Jay, Barn Owl, House Wren, Downy Woodpecker, Barred Owl"
    state = position(Player(f"forest: {full}; wetland: Mallard (2 eggs)", hand="American Woodcock, Osprey",
                            food="2 invertebrate, seed, fish"), Player(), feeder="seed")  # fmt: skip
    play(state, "play a bird")
    assert labels(state) == ["play American Woodcock in the grassland", "play Osprey in the wetland"]
    first = 3 * bird("American Woodcock") + (GAME.num_actions(state.options) - 3 * len(BIRD_NAMES))
    assert "full" in refusal(state, first)
    assert "does not live there" in refusal(state, first + 2)


@pytest.mark.parametrize(("birds_there", "eggs"), [(0, 0), (1, 1), (2, 1), (3, 2), (4, 2)])
def test_4_2_eggs_by_column(birds_there, eggs):
    there = ["Blue Jay", "Barn Owl", "House Wren", "Downy Woodpecker"][:birds_there]
    forest = f"forest: {', '.join(there)};" if there else ""

    def with_eggs(number):
        mat = f"{forest} wetland: Mallard ({number} eggs)"
        return position(Player(mat, hand="Hooded Warbler", food="2 invertebrate"), Player(), feeder="seed")

    if eggs:
        assert "play a bird" not in labels(with_eggs(eggs - 1))
    state = play(with_eggs(eggs + 1), "play a bird", "play Hooded Warbler in the forest")
    pays_for(state, "Hooded Warbler")
    assert row(state, 0, "forest")[-1] == "Hooded Warbler"
    assert on(state, 0, "Mallard", "eggs") == 1
    assert food(state, 0) == {}


def test_4_2_the_eggs_come_from_any_birds():
    state = position(
        Player("forest: Blue Jay (1 egg), Barn Owl (1 egg), House Wren (2 eggs)", hand="Hooded Warbler",
               food="2 invertebrate"),
        Player(), feeder="seed",
    )  # fmt: skip
    play(state, "play a bird", "play Hooded Warbler in the forest", "discard an egg from Blue Jay")
    play(state, "discard an egg from House Wren")
    assert [on(state, 0, name, "eggs") for name in ("Blue Jay", "Barn Owl", "House Wren")] == [0, 1, 1]


def test_4_4_a_bird_enters_with_nothing_on_it_and_no_brown_power_works():
    state = position(
        Player("forest: Blue Jay (1 egg)", hand="Carolina Chickadee", food="seed"), Player(), feeder="seed fish"
    )
    play(state, "play a bird", "play Carolina Chickadee in the forest")
    assert [on(state, 0, "Carolina Chickadee", what) for what in ("eggs", "cached", "tucked")] == [0, 0, 0]
    assert state.record.turn_player == 1


def test_3_2_playing_needs_a_bird_that_can_be_played():
    assert labels(position(Player(), Player(), feeder="seed"))[0] == "gain food"
    poor = position(Player(hand="Osprey"), Player(), feeder="seed")
    assert "play a bird" not in labels(poor)
    assert "no bird in hand" in refusal(poor, 2)


# ---------------------------------------------------------------------------------------------------------------
# 5. The actions of the habitats

ROWS = {
    "forest": ["Blue Jay", "Carolina Wren", "House Wren", "Downy Woodpecker", "Bell's Vireo"],
    "grassland": ["Bobolink", "American Goldfinch", "Inca Dove", "Say's Phoebe", "Painted Bunting"],
    "wetland": ["Brown Pelican", "Great Egret", "Great Blue Heron", "Wood Stork", "Whooping Crane"],
}  # quiet when activated, but for the blue jay, which is left out of the first place


@pytest.mark.parametrize("number", range(6))
def test_5_1_dice_of_the_forest(number):
    quiet = ["Hooded Warbler", *ROWS["forest"][1:]][:number]
    state = position(
        Player(f"forest: {', '.join(quiet)}" if quiet else ""), Player(), feeder="fish fish seed fruit rodent"
    )
    activate(state, "forest")
    assert sum(food(state, 0).values()) == (1, 1, 2, 2, 3, 3)[number]
    assert next_turn(state)


@pytest.mark.parametrize("number", range(6))
def test_5_2_eggs_of_the_grassland(number):
    quiet = ROWS["grassland"][:number]
    mat = "wetland: Mallard; forest: House Wren" + (f"; grassland: {', '.join(quiet)}" if quiet else "")
    state = activate(position(Player(mat), Player(), feeder="seed"), "grassland")
    assert total(state, 0, "eggs") == (2, 2, 3, 3, 4, 4)[number]
    assert next_turn(state)


@pytest.mark.parametrize("number", range(6))
def test_5_3_cards_of_the_wetland(number):
    quiet = ROWS["wetland"][:number]
    state = position(Player(f"wetland: {', '.join(quiet)}" if quiet else ""), Player(), feeder="seed")
    activate(state, "wetland")
    assert len(hand(state, 0)) == (1, 1, 2, 2, 3, 3)[number]
    assert next_turn(state)


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("habitat", HABITATS)
def test_5_4_trades_are_offered_with_one_three_or_five_birds(habitat, number):
    quiet = (["Hooded Warbler"] if habitat == "forest" else [ROWS[habitat][0]]) + ROWS[habitat][1:]
    keeper = {
        "forest": "wetland: Mallard (1 egg)",
        "grassland": "wetland: Mallard (1 egg)",
        "wetland": "forest: House Wren (1 egg)",
    }
    mat = keeper[habitat] + (f"; {habitat}: {', '.join(quiet[:number])}" if number else "")
    state = position(Player(mat, hand="Osprey", food="rodent"), Player(), feeder="fish fish seed fruit rodent")
    play(state, ACTIONS[habitat])
    offers = {"forest": "discard Osprey", "grassland": "pay rodent", "wetland": "discard an egg from House Wren"}
    offered = False
    while not next_turn(state):
        if offers[habitat] in labels(state):
            offered = True
            assert labels(state)[0] == "decline"
        state.apply(state.legal_actions()[0])
    assert offered == (number % 2 == 1)


def test_5_1_the_trade_of_the_forest():
    state = position(Player("forest: Hooded Warbler", hand="Osprey, Mallard"), Player(), feeder="fish seed fruit")
    play(state, "gain food", "take fish die", "discard Mallard", "take fruit die")
    assert food(state, 0) == {"fish": 1, "fruit": 1}
    assert hand(state, 0) == {"Osprey"}
    assert discards(state) == {"Mallard"}
    assert next_turn(state)  # once at most


def test_5_2_the_trade_of_the_grassland():
    state = position(Player("grassland: Bobolink; wetland: Mallard", food="2 rodent"), Player(), feeder="seed")
    play(state, "lay eggs", *["lay an egg on Mallard"] * 2, "pay rodent", "lay an egg on Bobolink")
    assert [on(state, 0, name, "eggs") for name in ("Mallard", "Bobolink")] == [2, 1]
    assert food(state, 0) == {"rodent": 1}
    assert next_turn(state)


def test_5_3_the_trade_of_the_wetland():
    state = position(Player("wetland: Brown Pelican (2 eggs)"), Player(), feeder="seed", deck="Osprey, Killdeer")
    play(state, "draw bird cards", "draw from the deck", "discard an egg from Brown Pelican", "draw from the deck")
    assert hand(state, 0) == {"Osprey", "Killdeer"}
    assert on(state, 0, "Brown Pelican", "eggs") == 1
    assert next_turn(state)


def test_5_2_eggs_without_room_are_lost():
    state = position(Player("forest: Blue Jay (1 egg)", food="9 seed"), Player(), feeder="seed")
    play(state, "lay eggs")  # one of the two finds room, and there is nothing left to trade for
    assert on(state, 0, "Blue Jay", "eggs") == 2
    assert next_turn(state)
    cowbird = position(Player("grassland: Bronzed Cowbird", food="9 seed"), Player(), feeder="seed")
    assert next_turn(play(cowbird, "lay eggs"))


def test_5_3_the_tray_is_not_filled_while_drawing_and_each_card_is_seen_first():
    state = position(
        Player("wetland: Brown Pelican, Great Egret"),
        Player(),
        feeder="seed",
        tray="Osprey, Killdeer, Mallard",
        deck="Bushtit",
    )
    play(state, "draw bird cards", "take Killdeer from the tray")
    assert tray(state) == {"Osprey", "Mallard"}
    assert labels(state) == ["take Osprey from the tray", "take Mallard from the tray", "draw from the deck"]


def test_5_5_the_amount_is_that_of_the_birds_at_the_beginning():
    state = position(Player("forest: Carolina Chickadee, Chimney Swift"), Player(), feeder="fish seed fruit rodent")
    play(state, "gain food", "take fish die", "take seed die", "move to the wetland")
    assert sum(food(state, 0).values()) == 2
    assert row(state, 0, "forest") == ["Carolina Chickadee"]


def test_10_3_brown_powers_work_from_right_to_left():
    state = position(
        Player("forest: Carolina Chickadee, Mountain Chickadee, Juniper Titmouse"),
        Player(),
        feeder="fish seed fruit rodent",
    )
    activate(state, "forest")
    script = [f"use {name}" for name in ("Juniper Titmouse", "Mountain Chickadee", "Carolina Chickadee")]
    for label in script:
        assert labels(state) == ["decline", label]
        play(state, label)
    assert next_turn(state)
    assert total(state, 0, "cached") == 3


# ---------------------------------------------------------------------------------------------------------------
# 6. Paying food


def pays(tokens, name) -> bool:
    """Return whether tokens (a number for each food) pay for the icons: one matching or any two each (6.1, 6.2)."""
    cost = BIRD_COST[bird(name)].tolist()
    if BIRD_COST_OR[bird(name)]:
        return sum(tokens) == 2 or (sum(tokens) == 1 and cost[tokens.index(1)] > 0)
    icons = [kind for kind in range(NUM_FOODS + 1) for _ in range(cost[kind])]
    return _split(list(tokens), icons)


def _split(tokens, icons) -> bool:
    if not icons:
        return not any(tokens)
    icon, rest = icons[0], icons[1:]
    single = range(NUM_FOODS) if icon == WILD else [icon]
    for taken in itertools.chain(([k] for k in single), itertools.combinations_with_replacement(range(NUM_FOODS), 2)):
        left = list(tokens)
        for kind in taken:
            left[kind] -= 1
        if min(left) >= 0 and _split(left, rest):
            return True
    return False


def least_payments(supply, name):
    """Return the payments from a supply that have no unneeded token (6.4)."""
    ways = {way for way in itertools.product(*(range(n + 1) for n in supply)) if sum(way) <= 6 and pays(way, name)}

    def is_less(one, other):
        return one != other and all(a <= b for a, b in zip(one, other, strict=True))

    return {way for way in ways if not any(is_less(other, way) for other in ways)}


def offered_payments(supply, name):
    """Return the payments that can be made in the game, checking that each has just one script."""
    text = ", ".join(f"{n} {FOODS[kind]}" for kind, n in enumerate(supply) if n)
    state = position(Player(hand=name, food=text), Player(), feeder="seed")
    if "play a bird" not in labels(state):
        return set()
    play(state, "play a bird")
    plays = state.legal_actions()
    open_states, found = [state], []
    state.apply(plays[0])
    while open_states:
        state = open_states.pop()
        if state.current_player == 0 and decision(state)[OP] == PAY_COST:
            for action in state.legal_actions():
                child = state.clone()
                child.apply(action)
                open_states.append(child)
        else:
            assert name in row(state, 0, HABITATS[int(state.record.row_size[0].argmax())])
            found.append(tuple(a - b for a, b in zip(supply, state.record.food[0].tolist(), strict=True)))
    assert len(found) == len(set(found))
    return set(found)


COSTS = {
    (tuple(BIRD_COST[k].tolist()), int(BIRD_COST_OR[k])): name for k, name in enumerate(BIRD_NAMES)
}  # a bird for each different cost


@pytest.mark.parametrize("name", sorted(COSTS.values()))
def test_6_the_payments_offered_are_those_without_a_token_too_many(name):
    rng = random.Random(name)
    supplies = [[rng.choice((0, 0, 1, 1, 2, 3)) for _ in range(NUM_FOODS)] for _ in range(6 if COMPILED else 1)]
    for supply in supplies:
        assert offered_payments(supply, name) == least_payments(supply, name), supply


def test_6_2_two_for_one_also_when_the_food_is_there():
    assert offered_payments([2, 0, 0, 2, 0], "Osprey") == {(0, 0, 0, 1, 0), (2, 0, 0, 0, 0)}


def test_6_1_alternatives_and_wild_icons():
    assert offered_payments([1, 1, 0, 0, 1], "Mallard") == {(1, 0, 0, 0, 0), (0, 1, 0, 0, 0)}
    assert offered_payments([0, 0, 1, 0, 1], "Mallard") == {(0, 0, 1, 0, 1)}
    assert offered_payments([0, 0, 1, 0, 1], "American Crow") == {(0, 0, 1, 0, 0), (0, 0, 0, 0, 1)}
    assert offered_payments([0, 0, 0, 0, 0], "Black Vulture") == {(0, 0, 0, 0, 0)}
    assert offered_payments([0, 0, 0, 1, 0], "Mallard") == set()


# ---------------------------------------------------------------------------------------------------------------
# 7. The birdfeeder


def test_7_1_the_face_of_two_foods_gives_either():
    state = play(position(Player(), Player(), feeder="fish either"), "gain food")
    assert labels(state) == [
        "take fish die",
        *(f"take invertebrate/seed die as {kind}" for kind in ("invertebrate", "seed")),
    ]
    play(state, "take invertebrate/seed die as seed")
    assert food(state, 0) == {"seed": 1}
    assert feeder(state) == {"fish": 1}


def test_7_2_dice_taken_stay_outside():
    state = position(Player(), Player(), feeder="fish seed", outside="rodent rodent rodent")
    play(state, "gain food", "take fish die")
    assert state.record.outside.tolist() == [0, 0, 0, 1, 3, 0]


@pytest.mark.parametrize(
    ("dice", "may"),
    [("seed seed", True), ("seed", True), ("either either", True), ("seed either", False), ("seed fish", False)],
)
def test_7_3_a_reset_when_all_dice_show_the_same(dice, may):
    state = play(position(Player(), Player(), feeder=dice), "gain food")
    assert ("reroll all dice" in labels(state)) == may
    if may:
        play(state, "reroll all dice")
        assert sum(feeder(state).values()) == 5
        assert state.current_player == 0
        assert food(state, 0) == {}


def test_7_3_a_reset_may_be_repeated():
    def reset(seed):
        return play(position(Player(), Player(), feeder="seed", seed=seed), "gain food", "reroll all dice")

    state = seed_where(lambda seed: reset(seed * 97), lambda state: len(feeder(state)) <= 2)
    assert ("reroll all dice" in labels(state)) == (len(feeder(state)) == 1)


def test_7_4_an_empty_birdfeeder_is_refilled_at_once():
    state = position(Player("forest: Hooded Warbler, Carolina Wren"), Player(), feeder="fish")
    play(state, "gain food", "take fish die")
    assert sum(feeder(state).values()) == 5
    assert state.record.outside.sum() == 0
    assert state.current_player == 0  # the second die comes out of the new roll
    state.apply(state.legal_actions()[0])
    assert sum(food(state, 0).values()) == 2 or "reroll all dice" in labels(state)


# ---------------------------------------------------------------------------------------------------------------
# 9. Goals at the end of a round, 13. the end


@pytest.mark.parametrize(("side", "paid"), [("green", [4, 0, 0]), ("blue", [3, 1, 1])])
def test_9_goals_are_scored_at_the_end_of_the_round(side, paid):
    state = position(
        Player("forest: Blue Jay (2 eggs), House Wren (1 egg)"), Player("forest: Barn Owl (1 egg)"),
        Player("forest: Downy Woodpecker (1 egg)"),
        to_act=2, turns=[0, 0, 1], goals="Eggs in forest", feeder="seed", goals_side=side,
    )  # fmt: skip
    activate(state, "wetland")
    assert state.record.goal_points[0, :3].tolist() == paid


def finished(seed, num_players, **options):
    """Play a random game, checking some of its positions."""
    rng = random.Random(seed)
    state = GAME.new_state(seed=seed, num_players=num_players, **options)
    while not state.is_terminal:
        state.apply(rng.choice(state.legal_actions()))
        if state.ply % 16 == 0:
            check(state)
    check(state)
    return state


@pytest.mark.parametrize("num_players", [2, 3, 4, 5])
@pytest.mark.parametrize("goals", ["green", "blue"])
def test_13_1_scores_of_random_games_recomputed(num_players, goals):
    for seed in range(max(1, GAMES // 4)):
        state = finished(seed, num_players, goals=goals)
        s = state.record
        scores = [sum(recomputed(s, p)) for p in range(num_players)]
        assert s.scores[:num_players].tolist() == scores
        ranking = [(scores[p], sum(food(state, p).values())) for p in range(num_players)]
        places = [1 + sum(other > own for other in ranking) for own in ranking]
        assert s.standing[:num_players].tolist() == places
        assert sum(state.returns) == pytest.approx(0)
        assert all((state.returns[p] == max(state.returns)) == (places[p] == 1) for p in range(num_players))
        assert int(s.goal_points.sum()) <= (4 * 5 * num_players if goals == "blue" else 5 + 8 + 11 + 14)


@pytest.mark.parametrize(
    ("reward", "returns"), [("placement", [1.0, -1.0, 0.0]), ("winner", [1.0, -0.5, -0.5]), ("score", [4, 2, 3])]
)
def test_13_2_what_the_game_pays(reward, returns):
    state = position(
        Player("forest: Barred Owl (1 egg)"), Player("forest: Northern Flicker"), Player("forest: Downy Woodpecker"),
        to_act=2, round_number=4, turns=[0, 0, 1], feeder="seed", reward=reward, tray="Osprey, Killdeer, Mallard",
        goals="Eggs in wetland, Eggs in grassland, Bowl-nest birds with eggs, Sets of eggs across habitats",
    )  # fmt: skip
    activate(state, "wetland")
    assert state.is_terminal
    assert state.record.scores[:3].tolist() == [4, 2, 3]
    assert state.returns == returns


# ---------------------------------------------------------------------------------------------------------------
# 14. What is known


def known_in_hand(state, player, viewer):
    """Return the birds in a hand that `viewer` sees."""
    pile = state.table(viewer).piles[GAME.table.pile_ids["hand"] + player]
    return {BIRD_NAMES[token] for token in pile if token >= 0}, pile.count(-1)


def test_14_2_a_card_taken_from_the_tray_is_known_until_a_card_is_tucked_unseen():
    state = position(
        Player("wetland: American Coot", hand="Bobolink"), Player(), feeder="seed", tray="Osprey, Killdeer, Mallard",
        deck="Wood Duck",
    )  # fmt: skip
    play(state, "draw bird cards", "take Osprey from the tray")
    assert known_in_hand(state, 0, 0) == ({"Bobolink", "Osprey"}, 0)
    assert known_in_hand(state, 0, 1) == known_in_hand(state, 0, SPECTATOR) == ({"Osprey"}, 1)
    play(state, "tuck Bobolink", "draw from the deck")
    assert known_in_hand(state, 0, 1) == (set(), 2)
    assert known_in_hand(state, 0, 0) == ({"Osprey", "Wood Duck"}, 0)


def test_14_2_discards_lie_face_up():
    state = position(Player("forest: Hooded Warbler", hand="Osprey, Mallard"), Player(), feeder="fish seed fruit")
    play(state, "gain food", "take fish die", "discard Mallard", "take fruit die")
    assert state.record.place[bird("Mallard")] == IN_DISCARDS
    assert GAME.view.token_label(bird("Mallard")) == "mallard"
    pile = state.table(1).piles[GAME.table.pile_ids["bird_discards"]]
    assert bird("Mallard") in pile


# ---------------------------------------------------------------------------------------------------------------
# 15. Forfeit


def test_15_1_the_game_goes_on_without_who_forfeits():
    state = begun(4, 3)
    left = state.current_player
    state.apply(FORFEIT + left)
    rng = random.Random(4)
    while not state.is_terminal:
        assert state.current_player != left
        state.apply(rng.choice(state.legal_actions()))
        check(state)
    assert state.record.standing[left] == 3
    assert sorted(state.record.standing[:3].tolist()) in ([1, 2, 3], [1, 1, 3])
    assert state.returns[left] == -1
    assert state.record.scores[left] == 0


def test_15_1_the_last_one_who_remains_has_won():
    state = begun(4, 3)
    left = []
    while not state.is_terminal:
        left.append(state.current_player)
        state.apply(FORFEIT + left[-1])
    winner = ({0, 1, 2} - set(left)).pop()
    assert [state.returns[p] for p in (*left, winner)] == [-1, 0, 1]
    assert [state.record.standing[p] for p in (*left, winner)] == [3, 2, 1]


@pytest.mark.parametrize("seed", range(10))
def test_15_1_a_forfeit_at_any_moment_leaves_a_sound_game(seed):
    rng = random.Random(seed)
    state = GAME.new_state(seed=seed, num_players=4)
    for _ in range(2):
        stop = state.ply + rng.randrange(60)
        random_play(state, rng, lambda state, stop=stop: state.ply >= stop)
        if not state.is_terminal:
            state.apply(FORFEIT + state.current_player)
            check(state)
    random_play(state, rng)
    check(state)


def test_15_2_the_forfeiters_birds_stay_but_do_nothing_and_have_no_part_in_goals():
    state = position(
        Player("forest: Barred Owl"), Player("forest: Blue Jay (2 eggs), Black Vulture"),
        Player("forest: House Wren (1 egg)"),
        to_act=1, turns=[1, 2, 1], goals="Eggs in forest", feeder="seed fish rodent", deck="Bushtit",
    )  # fmt: skip
    state.apply(FORFEIT + 1)
    activate(state, "wetland")
    play(state, "gain food", "take seed die", "use Barred Owl")  # and no vulture after it
    assert state.record.goal_points[0, :3].tolist() == [0, 0, 4]
    assert row(state, 1, "forest") == ["Blue Jay", "Black Vulture"]


def test_15_1_a_forfeit_when_the_turn_is_to_be_chosen_passes_it_on():
    state = position(Player(), Player(), Player(), feeder="seed")
    state.apply(FORFEIT + 0)
    assert state.current_player == state.record.turn_player == 1
    assert next_turn(state)
    assert state.record.turns_left[:3].tolist() == [0, 8, 8]


def test_15_1_a_forfeit_within_a_turn_ends_it():
    state = play(position(Player(), Player(), Player(), feeder="seed fish", tray="Osprey"), "gain food")
    state.apply(FORFEIT + 0)
    assert state.record.turn_player == 1
    assert next_turn(state)
    assert len(tray(state)) == 3
