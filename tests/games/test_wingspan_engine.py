"""The engine of Wingspan: the codebook, random games, what is secret, observations, what a player cannot know."""

import json
import random
from collections import Counter

import numpy as np
import pytest
from wingspan import Player, bird, check, hand, play, position

import cardenvs
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import IllegalActionError
from cardenvs.core.events import SPECTATOR
from cardenvs.core.kernel import COMPILED
from cardenvs.games.wingspan import GAME, actions
from cardenvs.games.wingspan.actions import NUM_ACTIONS, STOP
from cardenvs.games.wingspan.cards import BIRD_COST, BIRD_NAMES, BIRD_WINGSPAN, MAX_PLAYERS, NUM_BIRDS
from cardenvs.games.wingspan.handlers import NOTHING, POWERS, USE
from cardenvs.games.wingspan.observation import ATTRIBUTES, BIRD_ATTRIBUTES, NUM_ATTRIBUTES
from cardenvs.games.wingspan.stack import ACCEPT
from cardenvs.games.wingspan.state import IN_HAND, MAT_SLOTS, NO_BIRD, STACK_DEPTH, STATE

# ---------------------------------------------------------------------------------------------------------------
# The codebook


def test_ids_texts_and_json_lead_to_each_other():
    texts = [actions.action_text(action) for action in range(NUM_ACTIONS)]
    assert [actions.action_of_text(f" {text.upper()} ") for text in texts] == list(range(NUM_ACTIONS))
    entries = [json.loads(json.dumps(actions.action_json(action))) for action in range(NUM_ACTIONS)]
    assert [actions.action_of_json(entry) for entry in entries] == list(range(NUM_ACTIONS))
    assert entries[actions.PLAY_0 + 3 * bird("Barn Owl") + 1] == {
        "action": "play",
        "bird": "barn_owl",
        "habitat": "grassland",
    }


@pytest.mark.parametrize("entry", [{}, {"action": "fly"}, {"action": "play", "bird": "barn_owl"}, None])
def test_what_is_no_action_is_refused(entry):
    with pytest.raises(IllegalActionError, match="codebook"):
        actions.action_of_json(entry)
    with pytest.raises(IllegalActionError, match="fly away"):
        actions.action_of_text("fly away")
    with pytest.raises(IllegalActionError, match="963"):
        actions.action_json(NUM_ACTIONS)


def test_the_table_of_ids_in_the_docstring_is_that_of_the_code():
    lines = [line for line in actions.__doc__.splitlines() if line.startswith("    ") and line.strip()[0].isdigit()]
    seen = []
    for line in lines:
        ids = line.split("  ")[2].strip() if line.split("  ")[2].strip() else line.split()[0]
        first, _, last = ids.replace(", ", "..").partition("..")
        seen += range(int(first), int(last or first) + 1)
        name = line.split("  ")[-1].strip().split(":")[0]
        assert {actions.action_json(action)["action"] for action in (int(first), int(last or first))} == {name}
    assert seen == list(range(NUM_ACTIONS))


# ---------------------------------------------------------------------------------------------------------------
# Random games


def random_game(seed, num_players, **options):
    """Play a random game to its end, checking every position."""
    state, chooser = GAME.new_state(seed=seed, num_players=num_players, **options), random.Random(seed)
    deepest = 0
    while not state.is_terminal:
        state.apply(chooser.choice(state.legal_actions()))
        check(state)
        deepest = max(deepest, int(state.record.depth))
    assert deepest < STACK_DEPTH - 4
    return state


@pytest.mark.parametrize("num_players", range(2, MAX_PLAYERS + 1))
def test_random_games_end_and_are_sound_at_every_decision(num_players):
    for seed in range(2):
        state = random_game(seed, num_players)
        assert sum(state.returns) == pytest.approx(0)


@pytest.mark.slow
@pytest.mark.parametrize("num_players", range(2, MAX_PLAYERS + 1))
def test_a_thousand_random_games_are_sound_at_every_decision(num_players):
    for seed in range(250):
        random_game(1000 + seed, num_players, goals=("green", "blue")[seed % 2])


def many_games(num_games, num_players):
    """Return the scores of random games in a batch, checking the invariants at some positions."""
    vec = cardenvs.make_vec(
        "wingspan_v0",
        num_envs=256 if COMPILED else 2,
        seed=num_players,
        num_threads=1,
        num_players=num_players,
        reward="score",
        mask=False,
    )
    vec.reset()
    scores: list[np.ndarray] = []
    steps = 0
    while len(scores) < num_games:
        batch = vec.step(vec.sample_actions())
        steps += 1
        assert not batch.truncated.any()
        assert (batch.num_legal > 0).all()
        scores += list(batch.episode_returns[batch.terminated].copy())
        if steps % 50 == 0:
            sound(vec._states, num_players)
    vec.close()
    return np.array(scores)


def sound(states, num_players):
    """Check the invariants of a batch of records."""
    assert (states["feeder"].sum(axis=1) + states["outside"].sum(axis=1) == 5).all()
    assert (states["feeder"].sum(axis=1) > 0).all()
    for field in ("feeder", "outside", "eggs", "food", "hand_size", "turns_left", "debts"):
        assert (states[field] >= 0).all(), field
    on_mats = (states["birds"] != NO_BIRD).sum(axis=(1, 2))
    assert (on_mats == states["row_size"].sum(axis=(1, 2))).all()
    elsewhere = states["num_deck"] + states["num_discards"] + states["hand_size"].sum(axis=1)
    elsewhere += (states["tray"] != NO_BIRD).sum(axis=1) + (states["draft"] != NO_BIRD).sum(axis=1)
    assert (elsewhere + on_mats + states["tucked"].sum(axis=(1, 2)) == NUM_BIRDS).all()
    for p in range(num_players):
        assert ((states["place"] == IN_HAND + p).sum(axis=1) == states["hand_size"][:, p]).all()
    assert not states["tally"].any()
    assert (states["depth"] < STACK_DEPTH - 4).all()


@pytest.mark.parametrize("num_players", [2, 5])
def test_games_in_a_batch_end_and_are_sound(num_players):
    scores = many_games(300 if COMPILED else 1, num_players)
    assert 0 <= scores.min() <= scores.max() < 150
    assert 10 < scores.mean() < 60


@pytest.mark.slow
@pytest.mark.parametrize("num_players", range(2, MAX_PLAYERS + 1))
def test_a_hundred_thousand_games_end_and_are_sound(num_players):
    many_games(25_000, num_players)


def test_the_record_is_small():
    assert STATE.itemsize < 4096


# ---------------------------------------------------------------------------------------------------------------
# Secrets of the setup


def test_what_others_choose_in_the_setup_is_seen_when_all_have_chosen():
    one, other = (GAME.new_state(seed=3, num_players=3) for _ in range(2))
    for state, dropped in ((one, 0), (other, 4)):
        for _ in range(dropped):
            state.apply(state.legal_actions()[1])
        state.apply(STOP)
        while state.current_player == 0:
            state.apply(state.legal_actions()[-1])
        assert state.current_player == 1
    for viewer in (1, 2):
        assert one.observation(viewer).tobytes() == other.observation(viewer).tobytes()
        assert one.view(viewer) == other.view(viewer)
        assert one.recap(viewer) == other.recap(viewer)
        assert one.information_state_key(viewer) == other.information_state_key(viewer)
    assert one.information_state_key(0) != other.information_state_key(0)
    for state in (one, other):
        while state.record.round_number < 0:
            state.apply(state.legal_actions()[0])
    assert [int(one.record.hand_size[0]), int(other.record.hand_size[0])] == [5, 1]
    assert one.observation(1).tobytes() != other.observation(1).tobytes()


def test_own_choices_in_the_setup_are_seen_by_oneself():
    state = GAME.new_state(seed=3)
    first = state.legal_actions()[1]
    before = state.information_state_key(0)
    state.apply(first)
    shown = state.game.layout(state.options).split(state.observation(0))["setup_dropped"]
    assert np.flatnonzero(shown).tolist() == [first - actions.DISCARD_0]
    assert state.information_state_key(0) != before


# ---------------------------------------------------------------------------------------------------------------
# Observations


@pytest.mark.parametrize("shown_birds", ["attributes", "ids"])
@pytest.mark.parametrize("observer", [0, 1])
def test_the_sections_of_an_observation(shown_birds, observer):
    state = position(
        Player(
            "forest: Barn Owl (1 egg, 2 cached); wetland: Mallard (3 tucked)",
            hand="Killdeer",
            food="2 seed",
            bonus="Oologist",
        ),
        Player("grassland: Bobolink", hand="Inca Dove, Osprey", food="fish"),
        feeder="fish fish either",
        tray="Bushtit, Anhinga, Willet",
        birds=shown_birds,
    )
    shown = GAME.layout(state.options).split(state.observation(observer))
    own, other = ("own", "seat_1") if observer == 0 else ("seat_1", "own")
    assert shown[f"{own}_eggs"].tolist() == [1] + [0] * (MAT_SLOTS - 1)
    assert shown[f"{own}_cached"][0] == 2
    assert shown[f"{own}_tucked"][10] == 3
    assert shown[f"{own}_food"].tolist() == [0, 2, 0, 0, 0]
    assert shown[f"{other}_food"].tolist() == [0, 0, 0, 1, 0]
    assert shown[f"{own}_numbers"].tolist()[:3] == [1, 1, 8]
    assert shown[f"{own}_marks"].tolist() == [1, 1, 1, 1]
    assert shown[f"{other}_marks"].tolist() == [1, 0, 0, 0]
    assert shown["feeder"].tolist() == [0, 0, 0, 2, 0, 1]
    held = {0: ["Killdeer"], 1: sorted(["Inca Dove", "Osprey"])}[observer]
    assert [BIRD_NAMES[k] for k in np.flatnonzero(shown["own_hand"])] == held
    assert not shown["seat_1_hand"].any()
    assert shown["bonus"].sum() == (1 if observer == 0 else 0)
    assert shown["to_act"][0] == (1 if observer == 0 else 0)
    birds = {0: bird("Barn Owl"), 10: bird("Mallard")}
    if shown_birds == "ids":
        assert {k: n - 1 for k, n in enumerate(shown[f"{own}_birds"].tolist()) if n} == birds
        assert shown["tray"].tolist() == [bird(name) + 1 for name in ("Bushtit", "Anhinga", "Willet")]
    else:
        mat = shown[f"{own}_birds"].reshape(MAT_SLOTS, NUM_ATTRIBUTES)
        assert {k: mat[k].tolist() for k in np.flatnonzero(mat.any(axis=1))} == {
            k: BIRD_ATTRIBUTES[b].tolist() for k, b in birds.items()
        }


def test_the_attributes_of_a_bird():
    owl = dict(zip(ATTRIBUTES, BIRD_ATTRIBUTES[bird("Barn Owl")].tolist(), strict=True))
    said = {"habitat_forest", "cost_rodent", "predator", "power_predator_dice", "power_food_rodent"}
    assert {name for name, value in owl.items() if value} >= said
    assert owl["wingspan"] == BIRD_WINGSPAN[bird("Barn Owl")]
    assert BIRD_ATTRIBUTES[:, ATTRIBUTES.index("wingspan")].max() == 277
    assert len({tuple(row) for row in BIRD_ATTRIBUTES.tolist()}) > 160  # nearly all birds differ in them
    assert (BIRD_ATTRIBUTES[:, 3:9] == BIRD_COST).all()


def test_a_bird_taken_from_the_tray_is_seen_in_that_hand():
    state = position(
        Player(hand="Killdeer"), Player(), tray="Bushtit, Anhinga, Willet", feeder="fish seed seed fruit either"
    )
    play(state, "draw bird cards", "take Bushtit from the tray")
    shown = GAME.layout(state.options).split(state.observation(1))
    assert np.flatnonzero(shown["seat_1_hand"]).tolist() == [bird("Bushtit")]


# ---------------------------------------------------------------------------------------------------------------
# What a player cannot know


def test_twins_redeal_what_is_hidden_and_nothing_else():
    state = position(
        Player("forest: Barn Owl", hand="Killdeer", bonus="Oologist"),
        Player("wetland: Canada Goose (4 tucked)", hand="Osprey, Bobolink", bonus="Ecologist, Anatomist"),
        tray="Bushtit, Anhinga, Willet",
        feeder="fish",
    )
    hands, bonuses = Counter(), Counter()
    for seed in range(200):
        twin = state.determinize(0, seed)
        check(twin)
        assert hand(twin, 0) == {"Killdeer"}
        assert twin.record.bonus_hands[0] == state.record.bonus_hands[0]
        assert twin.record.tray.tolist() == state.record.tray.tolist()
        hands.update(hand(twin, 1))
        bonuses[int(twin.record.bonus_hands[1])] += 1
    assert not hands.keys() & {"Killdeer", "Barn Owl", "Canada Goose", "Bushtit", "Anhinga", "Willet"}
    assert len(hands) > 100  # of 164 that it could be
    assert len(bonuses) > 100  # of 300 pairs
    assert max(hands.values()) < 15


def test_twins_of_the_setup_redo_the_choices_of_others():
    state = GAME.new_state(seed=5, num_players=3)
    while state.current_player == 0:
        state.apply(state.legal_actions()[0])
    kept = Counter()
    for seed in range(300):
        twin = state.determinize(2, seed)
        kept[5 - int(twin.record.setup_dropped[0]).bit_count()] += 1
        assert twin.record.setup_paid[0].sum() == 5 - int(twin.record.setup_dropped[0]).bit_count()
        while twin.record.round_number != 0:
            twin.apply(twin.legal_actions()[0])
        check(twin)
    assert set(kept) == set(range(6))


def test_a_twin_in_the_middle_of_a_choice_of_bonus_cards_offers_two_of_that_hand():
    state = position(Player(hand="Atlantic Puffin", food="9 fish", bonus="Oologist"), Player(), Player(), feeder="fish")
    play(state, "play a bird")
    while state.record.bonus_offer == 0:
        state.apply(state.legal_actions()[-1])
    offers = set()
    for seed in range(100):
        twin = state.determinize(1, seed)
        offer = int(twin.record.bonus_offer)
        assert offer.bit_count() == 2
        assert offer & int(twin.record.bonus_hands[0]) == offer
        assert int(twin.record.bonus_hands[0]).bit_count() == 3
        offers.add(offer)
    assert len(offers) > 30
    assert int(state.determinize(0, 1).record.bonus_offer) == int(state.record.bonus_offer)


# ---------------------------------------------------------------------------------------------------------------
# Powers and forfeits


def test_every_power_that_is_just_used_has_a_kernel_for_it():
    for name, power in POWERS.items():
        if power.begins in (USE, NOTHING) and name != "no_power":
            assert power.use is not None, name
        if power.then == (ACCEPT, 0, 0, 0):
            assert power.share is not None, name


@pytest.mark.parametrize("num_players", [3, 5])
def test_forfeits_at_random_moments(num_players):
    for seed in range(4):
        state, chooser = GAME.new_state(seed=seed, num_players=num_players), random.Random(seed)
        while not state.is_terminal:
            if chooser.random() < 0.02:
                state.apply(FORFEIT + state.current_player)
            else:
                state.apply(chooser.choice(state.legal_actions()))
            check(state)
        assert sum(state.returns) == pytest.approx(0)
        for viewer in (*range(num_players), SPECTATOR):
            assert state.folded_table(viewer) == state.table(viewer)
