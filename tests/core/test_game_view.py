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


# -- goals --------------------------------------------------------------------------------------------------------


def goals_of(name, seeds, policy):
    """Yield the positions of some games in which points must be put together."""
    for seed in seeds:
        state = get_game(name).new_state(seed=seed)
        while not state.is_terminal and state.ply < 120:
            goal = state.view(state.current_player).get("goal")
            if goal is not None:
                yield state.clone(), goal
            state.apply(state.policy_action(policy, state.ply))


GOALS = [("canasta_v0", "heuristic"), ("rummikub_v0", "planner")]


@pytest.mark.parametrize(("name", "policy"), GOALS)
def test_a_goal_counts_the_points_of_its_parts(name, policy):
    counted = 0
    for state, goal in goals_of(name, range(6), policy):
        points = {part["action"]: part["points"] for part in goal["parts"]}
        assert goal["have"] < goal["need"]
        for action in set(points) & set(state.legal_actions()):
            after = state.clone()
            after.apply(action)
            found = after.view(after.current_player).get("goal")
            reached = goal["have"] + points[action]
            assert found["have"] == reached if reached < goal["need"] else found is None
            counted += 1
    assert counted > 20


@pytest.mark.parametrize(("name", "policy"), GOALS)
def test_what_is_put_together_in_any_order_can_be_played_in_ascending_order(name, policy):
    """The whole plays of the game open with parts; some of these are not legal before the others."""
    found = waiting = 0
    for state, goal in goals_of(name, range(12), policy):
        points = {part["action"]: part["points"] for part in goal["parts"]}
        for play in state.candidates():
            laid, reached = [], goal["have"]
            for action in play.actions:
                if action in points and reached < goal["need"]:
                    laid.append(action)
                    reached += points[action]
            if reached < goal["need"]:
                continue
            found += 1
            waiting += len(set(laid) - set(state.legal_actions()))
            assert laid == sorted(laid)
    assert found > 5
    assert waiting > 0


def test_tokens_that_are_alike_stand_in_for_one_another():
    state = next(state for state, _ in goals_of("canasta_v0", range(6), "heuristic"))
    player = state.current_player
    hand = {token["id"]: token for token in piles(state.view(player))[f"hand.{player}"]["tokens"]}
    for choice in state.view(player)["choices"]:
        assert choice.get("alike", False) == choice["label"].startswith(("meld", "add"))
    kinds = {token["like"]: {token["text"][:-1]} for token in hand.values() if token["text"] != "JK"}
    for token in hand.values():
        assert token["text"] == "JK" or token["text"][:-1] in kinds[token["like"]]


def test_the_view_says_whose_cards_are_played():
    state, turns = get_game("bridge_v0").new_state(seed=3), set()
    while not state.is_terminal:
        view = state.view(SPECTATOR)
        if "turn" in view:
            sources = {choice["source"] for choice in state.view(state.current_player)["choices"]}
            assert sources == {f"hand.{view['turn']}"}
            assert "dummy" in view["players"][view["turn"]]["notes"]
            turns.add(view["turn"])
        state.apply(state.policy_action("random", state.ply))
    assert len(turns) == 1
