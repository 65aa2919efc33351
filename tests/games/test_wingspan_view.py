"""The view of Wingspan: labels, prompts, reasons, facts, recaps, the picture."""

import json
import random
import re

import pytest
from wingspan import Player, bird, decision, hand, labels, play, position

from cardenvs.core.errors import DeckError
from cardenvs.core.events import OMNISCIENT, SPECTATOR
from cardenvs.core.kernel import COMPILED
from cardenvs.games.wingspan import GAME, actions, cards, texts
from cardenvs.games.wingspan.cards import BIRD_NAMES, BONUS_NAMES, FOODS
from cardenvs.games.wingspan.state import OP

PLIES = 150 if COMPILED else 40


def states(num_players=3, seed=1, plies=PLIES):
    """Positions of a random game."""
    rng = random.Random(seed)
    state = GAME.new_state(seed=seed, num_players=num_players)
    for _ in range(plies):
        if state.is_terminal:
            return
        yield state
        state.apply(rng.choice(state.legal_actions()))


LINE = 76  # of 80 columns a frame takes four
MIDDLE = (
    Player(
        "forest: Barn Owl (1 egg, 2 cached), Chimney Swift (2 eggs);"
        "wetland: Mallard, American Coot (3 eggs, 12 tucked)",
        hand="Osprey, Killdeer", food="2 seed, fish", bonus="Ecologist, Forester",
    ),
    Player("grassland: Turkey Vulture; forest: Black-Bellied Whistling-Duck", hand="Bushtit", bonus="Falconer"),
)  # fmt: skip


def middle():
    return position(
        *MIDDLE, feeder="fish seed either", goals="Birds in forest", round_number=2, tray="Wood Duck, Bobolink"
    )


def test_every_action_has_a_label_in_every_decision():
    seen = set()
    for state in states(plies=400 if COMPILED else 40):
        kind = int(decision(state)[OP])
        if kind in seen:
            continue
        seen.add(kind)
        for action in range(0, actions.NUM_ACTIONS, 7):
            assert state.action_label(action)
            if action not in state.legal_actions():
                assert re.search(r"rules\.md \d|wingspan_v0", state.explain_illegal(action))
    assert len(seen) > 12 or not COMPILED


def test_labels_are_in_the_words_of_the_game():
    state = play(middle(), "gain food")
    assert labels(state) == [
        "take seed die", "take fish die",
        "take invertebrate/seed die as invertebrate", "take invertebrate/seed die as seed",
    ]  # fmt: skip
    play(state, "take seed die", "take fish die")
    assert labels(state) == ["decline", "move to the grassland", "move to the wetland"]
    assert GAME.view.prompt(state.record) == "Move Chimney Swift to another habitat?"


def test_the_codebook_goes_both_ways():
    for action in range(actions.NUM_ACTIONS):
        assert actions.action_of_json(actions.action_json(action)) == action
        assert actions.action_of_text(actions.action_text(action)) == action
        json.dumps(actions.action_json(action))


def test_prompts_and_recaps_leave_nothing_unfilled():
    for state in states(num_players=4, seed=5):
        prompt = GAME.view.prompt(state.record)
        assert prompt
        assert "{" not in prompt
    for viewer in (*range(4), SPECTATOR):
        for sentence in state.recap(viewer):
            assert sentence.endswith(".")
            assert not re.search(r"[{}]|None|  |(forest|grassland|wetland)_\d", sentence), sentence


def test_every_kind_of_event_reads_well():
    sentences = {}
    for seed in range(12 if COMPILED else 1):
        *_, state = states(num_players=3, seed=seed, plies=500 if COMPILED else 60)
        events = [event for event in state.events() if event.kind != "lies_face_down"]
        for event, sentence in zip(events, state.recap(OMNISCIENT), strict=True):
            sentences[event.kind] = sentence
    assert sentences["lay_egg" if "lay_egg" in sentences else "gain_food"].startswith("player_")
    if COMPILED:
        assert len(sentences) > 45, sorted(set(GAME.table.kind_ids) - set(sentences))


@pytest.mark.parametrize("names", [BIRD_NAMES, BONUS_NAMES, cards.GOAL_NAMES])
def test_names_of_cards_are_read_back(names):
    for name in names:
        token = GAME.view.parse_token(name)
        assert GAME.view.parse_token(GAME.view.token_label(token)) == token
    with pytest.raises(DeckError, match="pigeon"):
        GAME.view.parse_token("pigeon")


def test_the_picture():
    picture = middle().render(0)
    lines = picture.split("\n")
    assert max(map(len, lines)) <= LINE
    assert lines[0].startswith("Wingspan · round 2 · birdfeeder 1 seed, 1 fish, 1 invertebrate or seed")
    assert "Birds in forest (points 0 0)" in picture
    assert re.search(r"\(now \d \d\)", picture)
    assert re.search(r"Barn Owl     │.*\n +brown 5p cav │.*\n +1 of 4 eggs  │.*\n +2 cached     │", picture)
    assert re.search(r"│American Coot\n.*│brown 3p plat\n.*│3 of 5 eggs\n.*│12 tucked", picture)
    assert re.search(r"    Turkey\n    Vulture\n    pink 1p", picture)
    assert re.search(r"    Black-Bellied\n    Whistling-\n    Duck", picture)
    assert "Osprey · 1 fish · wetland · 5 points" in picture
    assert "─ forest: 2 dice, next bird 1 egg ─" in picture
    assert "─ grassland: 2 eggs and a trade, next bird 1 egg ─" in picture
    assert "31 points: birds 11, eggs 6, cached 2" in picture  # nothing for its bonus card yet
    assert "Bushtit" not in picture
    assert "Falconer" not in picture
    assert re.search(r"Ecologist · \d points? now\n +2 points for each", picture)
    assert "Bushtit" in middle().render(1)
    assert "Osprey" not in middle().render(SPECTATOR)
    assert "\x1b[" in middle().render(0, colour=True)


def test_the_picture_of_any_position_fits_a_terminal_of_80_columns():
    for num_players in (2, 5):
        for state in states(num_players, plies=2 * PLIES):
            for viewer in (state.current_player, SPECTATOR, OMNISCIENT):
                assert max(map(len, state.render(viewer).split("\n"))) <= LINE


def test_facts_tell_what_follows():
    facts = middle().facts(0)
    json.dumps(facts)
    assert facts["your_actions_now"]["gain food"] == "2 dice"
    assert facts["your_actions_now"]["lay eggs"] == "2 eggs"
    assert facts["your_actions_now"]["eggs_to_play_a_bird"] == {"forest": 1, "grassland": 0, "wetland": 1}
    assert [card["counts_now"] for card in facts["bonus_cards"]] == [0, 0]
    assert facts["goals"][0]["counts_now"] == {"player_0": 2, "player_1": 1}
    assert facts["points_so_far"]["player_0"]["eggs"] == 6
    assert "bonus cards" not in facts["points_so_far"]["player_1"]
    assert facts["known_in_other_hands"] == {"player_1": []}
    assert any(line.startswith("Osprey (wetland; cost: 1 fish") for line in facts["hand"])


def test_facts_of_the_setup_are_ones_own():
    state = GAME.new_state(seed=1)
    first = sorted(hand(state, 0))[0]
    play(state, f"discard {first}")
    assert state.facts(0)["setup"]["birds_not_kept"] == [first]
    assert state.facts(1)["setup"]["birds_not_kept"] == []


@pytest.mark.parametrize("name", BIRD_NAMES)
def test_the_text_of_a_bird_says_what_its_power_takes(name):
    spec = cards.BIRD_POWERS[bird(name)]
    text = texts.power_text(bird(name))
    assert text.endswith(".")
    for param, value in spec.params.items():
        for word in value if isinstance(value, list) else [value]:
            if param in ("food", "foods", "nest", "under_cm") or (param == "habitat" and word != "same"):
                assert str(word) in text, (param, word)
    moments = {
        "when_played": "When played: ",
        "when_activated": "When activated: ",
        "once_between_turns": "Once between turns: ",
    }
    assert text.startswith(moments.get(spec.trigger, "No power."))


def test_costs_in_words():
    assert texts.cost_text(bird("Acorn Woodpecker")) == "3 seeds"
    assert texts.cost_text(bird("Blue Jay")) == "1 seed + 1 wild"
    assert texts.cost_text(bird("Mallard")) == "1 invertebrate or 1 seed"
    assert texts.cost_text(bird("Osprey")) == "1 fish"
    assert texts.cost_text(bird("Black Vulture")) == "free"
    assert len(FOODS) == 5


def test_what_is_conserved():
    for state in states(num_players=4, seed=3, plies=300 if COMPILED else 30):
        assert GAME.view.conserved(state.record) == {
            "birds": 170, "birds in hands, as bits": 0, "birds on mats, by row": 0, "bonus cards": 26, "dice": 5,
        }  # fmt: skip
