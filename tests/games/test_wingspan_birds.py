"""Wingspan: the power of every bird does what its card says. One scenario a handler, for all of its birds.

Each scenario brings the bird to where its owner is asked, checks that declining changes nothing, then uses the power
and looks at what it did. The positions follow from the params in the data: a new row of birds.json is tested as well.
"""

import pytest
from wingspan import (
    Player,
    activate,
    bird,
    decision,
    feeder,
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
)

from cardenvs.games.wingspan import cards, texts
from cardenvs.games.wingspan.cards import (
    BIRD_COLOUR,
    BIRD_COST,
    BIRD_COST_OR,
    BIRD_EGG_LIMIT,
    BIRD_HABITATS,
    BIRD_NAMES,
    BIRD_NEST,
    BIRD_POWERS,
    BIRD_WINGSPAN,
    FOODS,
    HABITATS,
    NESTS,
    NO_COLOUR,
    STAR,
    WHITE,
    WILD,
)
from cardenvs.games.wingspan.powers import HANDLERS
from cardenvs.games.wingspan.stack import CHOOSE_TURN, GIVE_EGGS, PAY_COST, REACT
from cardenvs.games.wingspan.state import IN_TUCKED, OP

NUM_FOODS = len(FOODS)
POWERLESS = [name for name, spec in zip(BIRD_NAMES, BIRD_POWERS, strict=True) if spec.trigger == "never"]

# ---------------------------------------------------------------------------------------------------------------
# Birds to play with


def birds_where(accepts, *avoid):
    """Return names of birds whose power does nothing on the mat (none, or a white one), without `avoid`."""
    return [
        name
        for k, name in enumerate(BIRD_NAMES)
        if name not in avoid and BIRD_COLOUR[k] in (NO_COLOUR, WHITE) and accepts(k)
    ]


def nesters(nest, *avoid):
    """Quiet birds with just this nest and room for an egg or more."""
    return birds_where(lambda k: BIRD_NEST[k] == NESTS.index(nest), *avoid)


def home(name):
    """Return the first habitat of a bird."""
    return next(habitat for h, habitat in enumerate(HABITATS) if BIRD_HABITATS[bird(name)] >> h & 1)


def elsewhere(name, *avoid):
    """Return a row without `name`, and a quiet bird for it with room for at least three eggs."""
    habitat = {"forest": "wetland", "grassland": "forest", "wetland": "grassland"}[home(name)]
    lives = HABITATS.index(habitat)
    fits = birds_where(lambda k: BIRD_HABITATS[k] >> lives & 1 and BIRD_EGG_LIMIT[k] >= 3, name, *avoid)
    return habitat, fits[0]


def tokens(name):
    """Return tokens that pay for a bird exactly: a wild icon by the first food of the cost, else an invertebrate."""
    cost = BIRD_COST[bird(name)].tolist()
    kinds = [kind for kind in range(NUM_FOODS) if cost[kind]]
    if BIRD_COST_OR[bird(name)]:
        return {kinds[0]: 1}
    paid = {kind: cost[kind] for kind in kinds}
    if cost[WILD]:
        first = kinds[0] if kinds else 0
        paid[first] = paid.get(first, 0) + cost[WILD]
    return paid


def price(*names):
    """Return the food for some birds as text: "2 seed, 1 fish"."""
    return ", ".join(f"{n} {FOODS[kind]}" for name in names for kind, n in tokens(name).items())


def pay(state, name):
    """Pay for a bird with exactly its tokens, and with any eggs."""
    while state.record.turn_player == 0 and decision(state)[OP] in (PAY_COST, GIVE_EGGS) and name in hand(state, 0):
        if decision(state)[OP] == PAY_COST:
            kind = min(kind for kind, n in tokens(name).items() if state.record.paid[kind] < n)
            play(state, f"pay {FOODS[kind]}")
        else:
            state.apply(state.legal_actions()[0])
    return state


# ---------------------------------------------------------------------------------------------------------------
# Getting there


def used(state, name):
    """Return whether the power of a bird was used, or reacted with."""
    return any(event.kind in ("use_power", "react") and event.token == bird(name) for event in state.events())


def asked(state, name, player=0):
    """Check that `player` is asked about the power of `name`, and that declining it changes nothing."""
    assert state.current_player == player
    assert decision(state)[OP] != CHOOSE_TURN, f"{name}: nobody is asked"
    assert name in state.game.view.prompt(state.record) or decision(state)[OP] == REACT
    declined = play(state.clone(), "decline")
    assert not used(declined, name)
    for what in ("eggs", "cached", "tucked", "food", "hand_size", "birds", "bonus_hands"):
        assert (declined.record[what] == state.record[what]).all(), f"{name}: declined, and {what} changed"
    return state


def activated(name, *others, mat="", **things):
    """Return a state before the power of `name`, alone in its first habitat, whose action is taken."""
    player = {key: things.pop(key) for key in ("hand", "food", "bonus") if key in things}
    own = Player(f"{home(name)}: {name}" + (f"; {mat}" if mat else ""), **player)
    state = position(own, *(others or (Player(),)), **{"feeder": "invertebrate seed fish", **things})
    return asked(activate(state, home(name)), name)


def played(name, *others, mat="", also="", more_food="", habitat="", **things):
    """Return a state before the power of `name`, just played; the supply can also pay for `also`, a bird in hand."""
    hand_text = f"{name}, {also}" if also else name
    supply = ", ".join(filter(None, [price(name, also) if also else price(name), more_food]))
    state = position(
        Player(mat, hand=hand_text, food=supply), *(others or (Player(),)), **{"feeder": "seed seed fish", **things}
    )
    play(state, "play a bird", f"play {name} in the {habitat or home(name)}")
    return pay(state, name)


def reached(name, *others, **things):
    """Return a state before the power of `name`, which works when played or when activated."""
    if BIRD_POWERS[bird(name)].trigger == "when_played":
        return asked(played(name, *others, **things), name)
    return activated(name, *others, **things)


def gained(before, after, player):
    """Return the food gained by a player."""
    old, new = food(before, player), food(after, player)
    return {kind: new.get(kind, 0) - old.get(kind, 0) for kind in {*old, *new} if new.get(kind, 0) != old.get(kind, 0)}


# ---------------------------------------------------------------------------------------------------------------
# One scenario a handler


def no_power(name):
    state = played(name)
    assert state.record.turn_player == 1
    assert row(state, 0, home(name)) == [name]
    state = activate(position(Player(f"{home(name)}: {name}"), Player(), feeder="seed seed fish"), home(name))
    assert state.record.turn_player == 1
    assert not used(state, name)


def gain_food_supply(name, food, amount):
    state = reached(name)
    after = play(state.clone(), f"use {name}")
    assert gained(state, after, 0) == {food: amount}
    assert feeder(after) == feeder(state)


def all_players_gain_food_supply(name, food, amount):
    state = activated(name, Player(), Player())
    after = play(state.clone(), f"use {name}", "1: accept", "2: decline")
    assert [gained(state, after, p) for p in range(3)] == [{food: amount}, {food: amount}, {}]


def gain_food_feeder(name, foods, may_cache):
    def with_dice(dice):
        state = position(Player(f"forest: {name}"), Player(), feeder=f"rodent rodent {dice}")
        return play(state, "gain food", "take rodent die")

    for kind in foods:
        state = asked(with_dice(kind), name)
        assert labels(state) == ["decline", f"take {kind} die"]
        after = play(state.clone(), f"take {kind} die")
        if may_cache:
            assert labels(after) == ["keep it in the supply", f"cache it on {name}"]
            cached = play(after.clone(), f"cache it on {name}")
            assert on(cached, 0, name, "cached") == 1
            assert gained(state, cached, 0) == {}
            play(after, "keep it in the supply")
        assert gained(state, after, 0) == {kind: 1}
        assert feeder(after) == {"rodent": 1}
    two_foods = with_dice("either")
    taken = {kind for kind in foods if f"take invertebrate/seed die as {kind}" in labels(two_foods)}
    assert taken == {"invertebrate", "seed"} & {*foods}
    assert with_dice("fish").record.turn_player == 1  # nothing to take


def gain_all_food_feeder(name, food):
    dice = "fish fish rodent seed" if food == "fish" else f"{food} either rodent seed"
    state = reached(name, feeder=dice)
    after = play(state.clone(), f"take {food} die")
    play(after, labels(after)[1])
    assert gained(state, after, 0) == {food: 2}
    assert feeder(after) == {"rodent": 1, "seed": 1}
    assert after.record.turn_player == 1


def each_player_gains_feeder_die(name):
    state = activated(name, Player(), Player(), feeder="invertebrate seed fish rodent")
    left = {kind for kind in feeder(state) if kind != "either"}
    assert len(left) >= 3
    first, second, third = sorted(left)[:3]
    after = play(
        state.clone(), "player_1 goes first", f"1: take {first} die", f"2: take {second} die", f"0: take {third} die"
    )
    assert [gained(state, after, p) for p in range(3)] == [{third: 1}, {first: 1}, {second: 1}]


def fewest_birds_gain(name, habitat, reward):
    resident = birds_where(lambda k: BIRD_HABITATS[k] >> HABITATS.index(habitat) & 1, name)[0]
    state = activated(name, Player(), Player(f"{habitat}: {resident}"), Player(), deck="Osprey, Killdeer")
    if reward == "feeder_die":
        kind, other = [kind for kind in feeder(state) if kind != "either"][:2]
        assert labels(state) == ["decline", "player_1 goes first", "player_3 goes first"]
        after = play(state.clone(), "player_3 goes first", f"3: take {kind} die", f"1: take {other} die")
        assert [gained(state, after, p) for p in range(4)] == [{}, {other: 1}, {}, {kind: 1}]
    else:
        after = play(state.clone(), f"use {name}", "1: draw from the deck", "3: draw from the deck")
        assert [hand(after, p) for p in (1, 2, 3)] == [{"Osprey"}, set(), {"Killdeer"}]
        assert hand(after, 0) == hand(state, 0)


def cache_food_supply(name, food, amount):
    state = activated(name)
    after = play(state.clone(), f"use {name}")
    assert on(after, 0, name, "cached") == amount
    assert gained(state, after, 0) == {}


def predator_dice(name, food):
    def hunted(seed):
        return play(activated(name, seed=seed), f"use {name}")

    for success in (True, False):
        state = seed_where(hunted, lambda state, success=success: on(state, 0, name, "cached") == success)
        assert ("hunt_succeeds" in kinds(state)) == success
        assert ("hunt_fails" in kinds(state)) == (not success)
        rolled = state.record.outside
        assert (rolled[FOODS.index(food)] > 0) == success
        assert total(state, 0, "cached") == success


def predator_wingspan(name, under_cm):
    spans = sorted((int(span), k) for k, span in enumerate(BIRD_WINGSPAN) if BIRD_NAMES[k] != name)
    prey = BIRD_NAMES[[k for span, k in spans if span < under_cm][-1]]
    too_large = next(BIRD_NAMES[k] for span, k in spans if span >= under_cm)
    caught = play(activated(name, deck=f"{prey}, {too_large}"), f"use {name}")
    assert on(caught, 0, name, "tucked") == 1
    assert caught.record.place[bird(prey)] == caught.record.place.max()
    assert "hunt_succeeds" in kinds(caught)
    missed = play(activated(name, deck=f"{too_large}, {prey}"), f"use {name}")
    assert on(missed, 0, name, "tucked") == 0
    assert missed.record.num_discards == 1
    assert "hunt_fails" in kinds(missed)


def draw_cards(name, draw, discard_at_turn_end):
    named = birds_where(lambda k: True, name)[:4]
    state = reached(name, deck=", ".join(named))
    before = hand(state, 0)
    after = play(state.clone(), *["draw from the deck"] * draw)
    assert hand(after, 0) == before | {*named[:draw]}
    if discard_at_turn_end == 0:
        assert after.record.turn_player == 1
        return
    assert after.record.debts[0] == discard_at_turn_end
    play(after, *[f"discard {card}" for card in named[:discard_at_turn_end]])
    assert hand(after, 0) == before | {*named[discard_at_turn_end:draw]}
    assert after.record.turn_player == 1


def all_players_draw_from_deck(name, amount):
    named = birds_where(lambda k: True, name)[: 3 * amount]
    state = activated(name, Player(), Player(), deck=", ".join(named), tray="Osprey, Killdeer, Wood Duck")
    before = hand(state, 0)
    after = play(state.clone(), f"use {name}", "1: decline", "2: accept")
    assert hand(after, 0) == before | {*named[:amount]}
    assert hand(after, 1) == set()
    assert hand(after, 2) == {*named[amount : 2 * amount]}


def draw_and_draft(name, extra):
    state = reached(name, Player(), Player(), deck="Osprey, Killdeer, Wood Duck, Mallard, Bushtit")
    play(state, f"use {name}")
    assert labels(state) == ["take Osprey", "take Killdeer", "take Wood Duck", "take Mallard"]
    play(state, "0: take Killdeer", "1: take Mallard", "2: take Osprey")
    assert [hand(state, p) for p in range(3)] == [{"Killdeer", "Wood Duck"}, {"Mallard"}, {"Osprey"}]


def draw_bonus_cards(name, draw, keep):
    state = reached(name, bonus_deck="Falconer, Ecologist, Historian")
    play(state, f"use {name}")
    assert labels(state) == ["keep Ecologist", "keep Falconer"]
    play(state, "keep Falconer")
    assert int(state.record.bonus_hands[0]) == 1 << cards.BONUS_NAMES.index("Falconer")
    assert state.record.bonus_place[cards.BONUS_NAMES.index("Ecologist")] == 1
    assert state.record.num_bonus_deck == 24


def lay_eggs(name, target, amount):
    habitat, other = elsewhere(name)
    state = activated(name, mat=f"{habitat}: {other}")
    full = on(state, 0, other, "eggs") == BIRD_EGG_LIMIT[bird(other)]
    offered = [name] if target == "self" or full else [name, other]
    assert {*labels(state)} == {"decline", *(f"lay an egg on {which}" for which in offered)}
    before = on(state, 0, name, "eggs")
    play(state, *[f"lay an egg on {name}"] * amount)
    assert on(state, 0, name, "eggs") == before + amount
    assert state.record.turn_player == 1


def lay_egg_each_nest(name, nest):
    one, two = nesters(nest, name)[:2]
    star = birds_where(lambda k: BIRD_NEST[k] == STAR, name)[0]
    other = nesters("bowl" if nest != "bowl" else "ground", name)[0]
    fed = BIRD_EGG_LIMIT[bird(two)]
    mat = f"forest: {one}, {other}; wetland: {star}, {two} ({fed} eggs)"
    state = reached(name, mat=mat, habitat="grassland")
    own = [name] if NESTS[BIRD_NEST[bird(name)]] in (nest, "star") else []
    assert labels(state) == ["decline", *(f"lay an egg on {which}" for which in [one, *own, star])]
    play(state, *(f"lay an egg on {which}" for which in [one, *own, star]))
    assert [on(state, 0, which, "eggs") for which in (one, star, other, two)] == [1, 1, 0, fed]
    assert on(state, 0, name, "eggs") == len(own)
    assert state.record.turn_player == 1


def all_players_lay_egg_nest(name, nest):
    one, theirs = nesters(nest, name)[:2]
    star = birds_where(lambda k: BIRD_NEST[k] == STAR, name)[0]
    other = nesters("platform", name)[0]
    lives = "wetland" if home(name) != "wetland" else "forest"
    state = activated(name, Player(f"wetland: {theirs}, {other}"), Player(f"forest: {star}"), mat=f"{lives}: {one}")
    eggs = total(state, 0, "eggs")
    play(state, f"use {name}")
    mine = labels(state)[1:]
    assert {*mine} <= {f"lay an egg on {one}", f"lay an egg on {name}"}
    play(state, f"0: {mine[0]}")
    if state.current_player == 0:
        assert mine[0] not in labels(state)  # the second egg goes to another bird
        play(state, f"0: {labels(state)[1]}")
        eggs += 1
    assert total(state, 0, "eggs") == eggs + 1
    play(state, f"1: lay an egg on {theirs}", "2: decline")
    assert on(state, 1, theirs, "eggs") == 1
    assert on(state, 1, other, "eggs") == 0
    assert on(state, 2, star, "eggs") == 0


def tuck_from_hand(name, reward, foods=()):
    cards_held = birds_where(lambda k: True, name)[:2]
    mat = "{}: {}".format(*elsewhere(name, *cards_held)) if home(name) == "grassland" else ""
    state = activated(name, mat=mat, hand=", ".join(cards_held), deck="Osprey")
    tucked, kept = cards_held
    after = play(state.clone(), f"tuck {tucked}")
    assert on(after, 0, name, "tucked") == 1
    assert tucked not in hand(after, 0)
    assert kept in hand(after, 0)
    if reward == "draw_card":
        play(after, "draw from the deck")
        assert "Osprey" in hand(after, 0)
    elif reward == "lay_egg_on_self":
        assert labels(after) == ["decline", f"lay an egg on {name}"]
        play(after, f"lay an egg on {name}")
        assert on(after, 0, name, "eggs") == on(state, 0, name, "eggs") + 1
    else:
        assert labels(after) == ["decline", *(f"gain {kind}" for kind in foods)]
        for kind in foods:
            assert gained(state, play(after.clone(), f"gain {kind}"), 0) == {kind: 1}
        play(after, f"gain {foods[-1]}")
    assert after.record.turn_player == 1


def discard_food_tuck_from_deck(name, food, cost, tuck):
    state = activated(name, food=f"{cost} {food}", deck="Osprey, Killdeer, Wood Duck")
    after = play(state.clone(), f"use {name}")
    assert on(after, 0, name, "tucked") == tuck
    assert gained(state, after, 0) == {food: -cost}
    assert {"Osprey", "Killdeer"} <= {
        BIRD_NAMES[k] for k in range(len(BIRD_NAMES)) if after.record.place[k] == IN_TUCKED
    }
    rich = Player(f"{home(name)}: {name}", food=f"{cost - 1} {food}, 9 rodent")  # two for one does not apply (6.3)
    assert activate(position(rich, Player(), feeder="rodent fish either"), home(name)).record.turn_player == 1


def discard_egg_gain_food(name, amount, exclude_self):
    habitat, other = elsewhere(name)
    state = position(
        Player(f"{home(name)}: {name} (1 egg); {habitat}: {other} (1 egg)"), Player(), feeder="seed fish rodent"
    )
    state = asked(activate(state, home(name)), name)
    givers = [other] if exclude_self else [other, name]
    assert {*labels(state)} == {"decline", *(f"discard an egg from {which}" for which in givers)}
    eggs = on(state, 0, other, "eggs")
    after = play(
        state.clone(), f"discard an egg from {other}", *[f"gain {kind}" for kind in ("fruit", "rodent")[:amount]]
    )
    assert on(after, 0, other, "eggs") == eggs - 1
    assert gained(state, after, 0) == dict.fromkeys(("fruit", "rodent")[:amount], 1)
    assert after.record.turn_player == 1


def discard_egg_draw_cards(name, draw, exclude_self):
    state = position(
        Player(f"{home(name)}: {name} (1 egg)"), Player(), feeder="seed fish rodent", deck="Osprey, Mallard"
    )
    state = asked(activate(state, home(name)), name)
    eggs, before = on(state, 0, name, "eggs"), hand(state, 0)
    play(state, f"discard an egg from {name}", *["draw from the deck"] * draw)
    assert on(state, 0, name, "eggs") == eggs - 1
    assert len(hand(state, 0)) == len(before) + draw


def trade_food(name):
    state = activated(name, food="seed")
    after = play(state.clone(), "pay seed")
    assert labels(after) == ["gain invertebrate", "gain fruit", "gain fish", "gain rodent"]
    play(after, "gain fish")
    assert gained(state, after, 0) == {"seed": -1, "fish": 1}


def move_if_rightmost(name):
    state = activated(name)
    others = [habitat for habitat in HABITATS if habitat != home(name)]
    assert labels(state) == ["decline", *(f"move to the {habitat}" for habitat in others)]
    for habitat in others:
        moved = play(state.clone(), f"move to the {habitat}")
        assert row(moved, 0, habitat) == [name]
        assert row(moved, 0, home(name)) == []


def play_additional_bird(name, habitat):
    where = home(name) if habitat == "same" else habitat
    lives = HABITATS.index(where)
    more = next(name for name in POWERLESS if BIRD_HABITATS[bird(name)] >> lives & 1)
    spare = "grassland" if where != "grassland" else "forest"
    keeper = birds_where(
        lambda k: BIRD_HABITATS[k] >> HABITATS.index(spare) & 1 and BIRD_EGG_LIMIT[k] >= 2, name, more
    )[0]
    state = reached(name, mat=f"{spare}: {keeper} (2 eggs)", also=more)
    assert labels(state) == ["decline", f"play {more} in the {where}"]
    turns = state.record.turns_left[0]
    play(state, f"play {more} in the {where}")
    pay(state, more)
    assert more in row(state, 0, where)
    assert name in row(state, 0, home(name))
    assert hand(state, 0) == set()
    assert food(state, 0) == {}
    assert state.record.turns_left[0] == turns


def repeat_power(name, filter):
    if filter == "predator":
        target, habitat = "Golden Eagle", "wetland"
    else:
        target, habitat = "Carolina Chickadee", "forest"
    state = position(
        Player(f"{habitat}: {target}, {name}"), Player(), feeder="seed fish rodent", deck="Bushtit, Osprey"
    )
    state = asked(activate(state, habitat), name)
    assert labels(state) == ["decline", f"repeat {target}"]
    play(state, f"repeat {target}", f"use {target}")
    what = "tucked" if filter == "predator" else "cached"
    assert on(state, 0, target, what) == 1
    assert on(state, 0, name, what) == 0
    assert f"use {target}" in labels(state)  # its own turn in the row is still to come
    play(state, f"use {target}")
    assert on(state, 0, target, what) == (2 if filter == "brown" else 1)  # an osprey is too large to hunt


def reaction(name, mat="", player="", **things):
    """Return a position with `name` and more on the mat of player 1; `things` describe player 0."""
    hand_text = things.pop("their_hand", "")
    theirs = Player(f"{home(name)}: {name}" + (f"; {mat}" if mat else ""), hand=hand_text)
    own = Player(player, hand=things.pop("hand", ""), food=things.pop("food", ""))
    return position(own, theirs, **{"feeder": "invertebrate seed fish rodent", **things})


def react_lay_eggs(name, nest):
    spot = "forest" if home(name) != "forest" else "grassland"
    one = nesters(nest, name)[0]
    other = nesters("platform", name)[0]
    state = play(reaction(name, mat=f"{spot}: {other}, {one}"), "lay eggs")
    asked(state, name, player=1)
    play(state, f"1: react with {name}")
    assert on(state, 1, one, "eggs") == 1
    assert total(state, 1, "eggs") == 1
    assert state.record.turn_player == 1
    assert state.record.pink_used[1] == 0  # the owner's turn has begun


def _bird_played(name, habitat, **things):
    """Let player 0 play a bird without a power into a habitat."""
    lives = HABITATS.index(habitat)
    quiet = next(name for name in POWERLESS if BIRD_HABITATS[bird(name)] >> lives & 1)
    state = reaction(name, hand=quiet, food=price(quiet), **things)
    return play(state, "play a bird", f"play {quiet} in the {habitat}")


def react_play_bird_gain_food(name, habitat, food, amount):
    state = asked(_bird_played(name, habitat), name, player=1)
    after = play(state.clone(), f"1: react with {name}")
    assert gained(state, after, 1) == {food: amount}
    for other in HABITATS:
        if other != habitat:
            assert decision(_bird_played(name, other))[OP] == CHOOSE_TURN


def react_play_bird_tuck(name, habitat):
    state = asked(_bird_played(name, habitat, their_hand="Osprey, Mallard"), name, player=1)
    play(state, f"1: react with {name}", "1: tuck Mallard")
    assert on(state, 1, name, "tucked") == 1
    assert hand(state, 1) == {"Osprey"}


def react_gain_food_cache(name, food, amount):
    state = play(reaction(name), "gain food", f"take {food} die")
    asked(state, name, player=1)
    after = play(state.clone(), f"1: react with {name}")
    assert on(after, 1, name, "cached") == amount
    assert gained(state, after, 1) == {}
    assert decision(play(reaction(name), "gain food", "take fish die"))[OP] == CHOOSE_TURN


def react_predator_gain_die(name):
    state = activate(reaction(name, player="grassland: Northern Harrier", deck="Bushtit"), "grassland")
    play(state, "0: use Northern Harrier")
    asked(state, name, player=1)
    after = play(state.clone(), f"1: react with {name}", "1: take fish die")
    assert gained(state, after, 1) == {"fish": 1}
    assert "fish" not in feeder(after)
    missed = activate(reaction(name, player="grassland: Northern Harrier", deck="Osprey"), "grassland")
    play(missed, "0: use Northern Harrier")
    assert decision(missed)[OP] == CHOOSE_TURN


SCENARIOS = {name: scenario for name, scenario in globals().items() if name in HANDLERS}


def test_every_handler_has_a_scenario():
    assert set(SCENARIOS) == set(HANDLERS)


@pytest.mark.parametrize("name", BIRD_NAMES)
def test_11_the_power_of(name):
    spec = BIRD_POWERS[bird(name)]
    SCENARIOS[spec.power_handler_id](name, **spec.params)


def test_every_power_reads_differently_where_it_is_different():
    sentences = {}
    for number, spec in enumerate(BIRD_POWERS):
        key = (spec.trigger, spec.power_handler_id, tuple(sorted((k, str(v)) for k, v in spec.params.items())))
        sentences.setdefault(texts.power_text(number), set()).add(key)
    assert all(len(keys) == 1 for keys in sentences.values())
