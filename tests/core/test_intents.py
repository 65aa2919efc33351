"""Intents: every refusal has its own message, moves lead to actions, nothing changes, nothing hidden shows."""

import pytest

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import IllegalActionError
from cardenvs.core.intents import intent_of, resolve_play
from cardenvs.core.registry import get_game

GIN = get_game("gin_rummy_v0")


def discarding():
    """Gin rummy, with the player to act about to discard."""
    state = GIN.new_state(seed=1)
    state.apply(state.action_from_label(f"take {state.facts(state.current_player)['upcard']}"))
    return state


def token(state, pile, place=0):
    view = state.view(state.current_player)
    return next(one for one in view["piles"] if one["id"] == pile)["tokens"][place]["id"]


def refusal(state, intent, player=None):
    before = state.record_bytes(), state.actions
    verdict = state.validate(state.current_player if player is None else player, intent)
    assert (state.record_bytes(), state.actions) == before
    assert not verdict.valid
    assert verdict.action is None
    assert not verdict.events
    return verdict.reason


def test_an_action_by_id_and_by_label():
    state = discarding()
    action = state.legal_actions()[0]
    for named in (action, state.action_label(action), state.action_label(action).upper()):
        assert state.validate(state.current_player, {"action": named}).action == action


def test_a_move_of_a_card():
    state = discarding()
    player = state.current_player
    choice = next(one for one in state.view(player)["choices"] if one.get("target") == "discard_pile")
    intent = intent_of(choice)
    assert intent == {"move": {"card": choice["tokens"][0], "from": f"hand.{player}", "to": "discard_pile"}}
    verdict = state.validate(player, intent)
    assert (verdict.valid, verdict.action) == (True, choice["action"])
    assert [event.kind for event in verdict.events] == ["discard"]


@pytest.mark.parametrize("name", ["canasta_v0", "scopa_v0", "rummikub_v0"])
def test_several_cards_move_as_one_action(name):
    found = 0
    for seed in range(10):
        state = get_game(name).new_state(seed=seed)
        for ply in range(30):
            if state.is_terminal:
                break
            for choice in state.view(state.current_player)["choices"]:
                intent = intent_of(choice)
                if len(intent.get("move", {}).get("cards", [])) > 1:
                    verdict = state.validate(state.current_player, intent)
                    if not verdict.valid:  # the same cards have several meanings
                        assert choice["label"] in verdict.reason
                        assert verdict.reason.endswith("name one of them as an action")
                        continue
                    assert verdict.action == choice["action"]
                    found += 1
            state.apply(state.policy_action("random", seed + ply))
    assert found


def test_validating_changes_nothing_also_when_the_move_is_legal():
    state = discarding()
    before = state.record_bytes(), state.actions, state.events(0)
    for action in state.legal_actions():
        assert state.validate(state.current_player, {"action": int(action)}).valid
    assert (state.record_bytes(), state.actions, state.events(0)) == before
    other = state.clone()
    assert state.validate(state.current_player, {"action": int(action)}) == other.validate(
        other.current_player, {"action": int(action)}
    )


def test_a_pile_is_chosen():
    state = GIN.new_state(seed=1)
    for _ in range(2):
        state.apply(state.action_from_label("pass"))
    verdict = state.validate(state.current_player, {"move": {"from": "stock"}})
    assert state.action_label(verdict.action) == "draw stock"


def test_the_events_end_where_hidden_cards_begin():
    state = GIN.new_state(seed=1)
    for _ in range(2):
        state.apply(state.action_from_label("pass"))
    assert state.validate(state.current_player, {"action": "draw stock"}).events == []


@pytest.mark.parametrize(
    ("intent", "message"),
    [
        (None, "an intent is"),
        ([], "an intent is"),
        ({}, "an intent is"),
        ({"action": 1, "move": {}}, "an intent is"),
        ({"action": 2.5}, "the id or the label"),
        ({"action": True}, "the id or the label"),
        ({"action": -1}, "ids of actions are 0 to"),
        ({"action": 10**30}, "ids of actions are 0 to"),
        ({"action": FORFEIT}, "ids of actions are 0 to"),
        ({"action": "jump"}, "no legal action reads 'jump'"),
        ({"action": "x" * 10_000}, "no legal action reads"),
        ({"move": 3}, "some of the keys"),
        ({"move": {}}, "some of the keys"),
        ({"move": {"card": "a", "deck": "b"}}, "some of the keys"),
        ({"move": {"card": "a", "cards": ["a"]}}, "not both"),
        ({"move": {"cards": []}}, "names no token"),
        ({"move": {"cards": "ab"}}, "a list of ids"),
        ({"move": {"card": 7}}, "is the id of a token"),
        ({"move": {"cards": ["a", "a"]}}, "names a token twice"),
        ({"move": {"card": "a", "from": 1}}, "is the id of a pile"),
        ({"move": {"card": "a", "from": "hand.0", "to": "hand.0"}}, "the same pile"),
        ({"move": {"to": "discard_pile"}}, "names a token or the pile"),
        ({"move": {"card": "a", "to": "attic"}}, "there is no pile 'attic'; piles are"),
        ({"move": {"card": "0" * 12, "to": "discard_pile"}}, "you see no token with the id"),
    ],
    ids=str,
)
def test_each_refusal_has_its_message(intent, message):
    assert message in refusal(discarding(), intent)


def test_a_token_of_another_pile():
    state = discarding()
    player = state.current_player
    assert "is not in stock" in refusal(state, {"move": {"card": token(state, f"hand.{player}"), "from": "stock"}})


def test_a_move_that_no_rule_allows():
    state = discarding()
    card = token(state, f"hand.{state.current_player}")
    assert "no legal action moves" in refusal(state, {"move": {"card": card, "to": "stock"}})


def test_an_illegal_action_has_the_games_own_reason():
    state = discarding()
    drawn = next(action for action in range(60) if "has been drawn" in state.explain_illegal(action))
    assert state.explain_illegal(drawn) in refusal(state, {"action": drawn})


def test_out_of_turn_and_after_the_end():
    state = discarding()
    assert "it is not your turn" in refusal(state, {"action": 0}, 1 - state.current_player)
    over = get_game("kuhn_poker_v0").new_state(seed=1)
    while not over.is_terminal:
        over.apply(over.legal_actions()[0])
    assert refusal(over, {"action": 0}, 0) == "the game is over"


def test_a_move_that_fits_several_actions_is_not_guessed():
    scopa = get_game("scopa_v0")
    for seed in range(200):
        state = scopa.new_state(seed=seed)
        while not state.is_terminal:
            choices = state.view(state.current_player)["choices"]
            firsts = [choice["tokens"][0] for choice in choices]
            if len(set(firsts)) < len(firsts):
                card = next(one for one in firsts if firsts.count(one) > 1)
                assert "no legal action moves" in refusal(state, {"move": {"card": card}})
                return
            state.apply(state.legal_actions()[0])
    pytest.fail("no card had two captures")


def test_an_id_of_another_table_is_unknown():
    state = discarding()
    player = state.current_player
    view = state.view(player, b"one table")
    choice = next(one for one in view["choices"] if "tokens" in one)
    assert state.validate(player, intent_of(choice), b"one table").valid
    assert "you see no token" in state.validate(player, intent_of(choice), b"another table").reason


def test_a_play_is_resolved_action_by_action():
    state = GIN.new_state(seed=1)
    before, player = state.record_bytes(), state.current_player
    take = state.action_label(next(a for a in state.legal_actions() if state.action_label(a) != "pass"))
    after = state.clone()
    after.apply(after.action_from_label(take))
    thrown = after.legal_actions()[0]
    play = [{"action": take}, {"action": after.action_label(thrown)}]
    assert resolve_play(state, player, play) == [state.action_from_label(take), thrown]
    with pytest.raises(IllegalActionError, match="not your turn"):
        resolve_play(state, player, [*play, {"action": "draw stock"}])
    assert state.record_bytes() == before


def test_a_play_ends_with_what_shows_something():
    state = GIN.new_state(seed=1)
    for _ in range(2):
        state.apply(state.action_from_label("pass"))
    draw = {"action": "draw stock"}
    assert len(resolve_play(state, state.current_player, [draw])) == 1
    with pytest.raises(IllegalActionError, match=r"'draw stock' may show .*; make it alone, and then choose"):
        resolve_play(state, state.current_player, [draw, {"action": 0}])


@pytest.mark.parametrize("name", ["canasta_v0", "pinnacola_v0", "rummikub_v0"])
def test_the_plays_that_a_game_suggests_show_nothing_before_their_end(name):
    game, found = get_game(name), 0
    state = game.new_state(seed=3)
    for ply in range(60):
        if state.is_terminal:
            break
        for play in [one for one in state.candidates() if len(one.actions) > 1][:2]:
            intents = [{"action": action} for action in play.actions]
            assert resolve_play(state, state.current_player, intents) == list(play.actions)
            found += 1
        state.apply(state.policy_action("random", ply))
    assert found
