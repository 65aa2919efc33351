"""Game views: what they say and hide, ids, choices. `check_game` checks the views of every game against the schema."""

import json

import pytest
from toys.high_card import GAME as HIGH_CARD

from cardenvs.core.events import OMNISCIENT, SPECTATOR
from cardenvs.core.game_view import game_view_schema, table_texts
from cardenvs.core.registry import get_game

GIN = "gin_rummy_v0"


def piles(view):
    return {pile["id"]: pile for pile in view["piles"]}


def ids(view):
    return [token["id"] for pile in view["piles"] for token in pile["tokens"] if "id" in token]


def test_face_down_tokens_are_a_number():
    view = get_game(GIN).new_state(seed=1).view(0)
    assert piles(view)["stock"]["tokens"] == [{"hidden": 31}]
    assert piles(view)["hand.1"]["tokens"] == [{"hidden": 10}]
    assert len(piles(view)["hand.0"]["tokens"]) == piles(view)["hand.0"]["count"] == 10


def test_who_looks_decides_what_is_seen():
    state = get_game(GIN).new_state(seed=1)
    assert [len(ids(state.view(viewer))) for viewer in (0, 1, SPECTATOR, OMNISCIENT)] == [11, 11, 1, 52]
    assert [state.view(viewer)["viewer"] for viewer in (1, SPECTATOR, OMNISCIENT)] == [1, "spectator", "everything"]


def test_only_the_player_to_act_has_a_prompt_and_choices():
    state = get_game(GIN).new_state(seed=1)
    actor = state.current_player
    for viewer in (0, 1, SPECTATOR, OMNISCIENT):
        view = state.view(viewer, candidates=True)
        assert bool(view["prompt"]) == bool(view["choices"]) == ("candidates" in view) == (viewer == actor)


def test_ids_are_the_viewers_own_and_the_tables_own():
    state = get_game(GIN).new_state(seed=1)
    seen = [ids(state.view(viewer, key)) for viewer in (0, 1, SPECTATOR) for key in (b"", b"a", b"b")]
    every = [one for some in seen for one in some]
    assert len(set(every)) == len(every)


def test_an_id_stays_with_its_token():
    state = get_game(GIN).new_state(seed=1)
    actor = state.current_player
    before = {token["text"]: token["id"] for token in piles(state.view(actor, b"k"))[f"hand.{actor}"]["tokens"]}
    state.apply(state.action_from_label("pass"))
    after = {token["text"]: token["id"] for token in piles(state.view(actor, b"k"))[f"hand.{actor}"]["tokens"]}
    assert before == after


def test_ids_do_not_depend_on_the_seed():
    first, second = (get_game("kuhn_poker_v0").new_state(seed=seed, deck="K Q J") for seed in (1, 2))
    assert ids(first.view(0, b"k")) == ids(second.view(0, b"k"))


@pytest.mark.parametrize(
    ("game", "label", "kind"),
    [
        ("kuhn_poker_v0", "bet", "button"),
        ("texas_holdem_v0", "raise to 40, the least", "amount"),
        (GIN, "pass", "button"),
        ("briscola_v0", None, "card"),
        ("rummikub_v0", "draw", "pile"),
    ],
)
def test_choices_say_what_a_person_clicks(game, label, kind):
    state = get_game(game).new_state(seed=1)
    choices = state.view(state.current_player)["choices"]
    (choice,) = [one for one in choices if one["label"] == label] or choices[:1]
    assert choice["kind"] == kind
    assert ("amount" in choice) == (kind == "amount")
    assert ("tokens" in choice) == (kind == "card")


def test_a_discard_is_a_move_from_hand_to_pile():
    state = get_game(GIN).new_state(seed=1)
    state.apply(state.action_from_label(f"take {state.facts(state.current_player)['upcard']}"))
    player = state.current_player
    view = state.view(player)
    discard = next(choice for choice in view["choices"] if choice["label"].startswith("discard"))
    assert (discard["source"], discard["target"]) == (f"hand.{player}", "discard_pile")
    (token,) = [one for one in piles(view)[f"hand.{player}"]["tokens"] if one["id"] == discard["tokens"][0]]
    assert discard["label"] == f"discard {token['text']}"


def test_table_texts_are_the_plain_table():
    texts = table_texts(HIGH_CARD.new_state(deck="c4 c2 c0 c1 c3").view(0))
    assert texts["piles"]["hand"] == [["c4"], ["?"]]
    assert texts["counters"]["changed"] == [0, 0]


def test_the_schema_is_json_with_descriptions():
    schema = game_view_schema()
    assert json.loads(json.dumps(schema)) == schema
    assert schema["properties"]["format_version"] == {"const": 1}


def test_thousands_of_amounts_are_one_choice():
    state = get_game("texas_holdem_v0").new_state(seed=1, betting="full")
    *others, amount = state.view(state.current_player)["choices"]
    assert [choice["label"] for choice in others] == ["fold", "call 20"]
    assert (amount["amount"], amount["most"]) == (40, 2000)
    for chips in (40, 777, 2000):
        assert state.action_label(amount["action"] + chips - 40).startswith(f"raise to {chips}")
