"""A Turn shows what the player may know, nothing else, and only while it lasts."""

import random

import numpy as np
import pytest

from cardenvs.agents import Turn
from cardenvs.agents.base import _worth_telling
from cardenvs.core.errors import HiddenInformationError, IllegalActionError, PolicyNotFoundError, StaleTurnError
from cardenvs.core.events import Part
from cardenvs.core.game_view import table_texts
from cardenvs.core.registry import get_game
from cardenvs.core.state import State

GAMES = [("kuhn_poker_v0", {}), ("kuhn_poker_v0", {"num_players": 3}), ("leduc_poker_v0", {})]


def decisions(game, options, count=25):
    """States of random play in which somebody is to act."""
    chooser = random.Random(1)
    for seed in range(count):
        state = get_game(game).new_state(seed=seed, **options)
        while not state.is_terminal:
            yield state
            state.apply(chooser.choice(state.legal_actions()))


def shown(turn):
    """All that a turn gives, as comparable values."""
    return {
        "plain": (turn.player, turn.num_players, turn.decision, turn.goes_on, turn.seed, turn.game, turn.options),
        "observation": turn.observation.tobytes(),
        "action_mask": turn.action_mask.tobytes(),
        "legal_actions": turn.legal_actions,
        "labels": [turn.label(action) for action in turn.legal_actions],
        "candidates": turn.candidates,
        "view": turn.view,
        "public view": turn.public_view,
        "facts": turn.facts,
        "recap": turn.recap,
        "events": turn.events,
        "end of the recap": turn.folded_recap(3),
        "prompt": turn.prompt,
        "key": turn.information_state_key,
        "render": turn.render(),
        "policies": [turn.policy_action(policy) for policy in turn.game.engine.policy_names()],
    }


@pytest.mark.parametrize(("game", "options"), GAMES)
def test_a_turn_is_the_same_whatever_lies_hidden(game, options):
    varied = 0
    for number, state in enumerate(decisions(game, options)):
        twin = state.determinize(state.current_player, number)
        assert shown(Turn(twin, 7)) == shown(Turn(state, 7))
        varied += twin.record_bytes() != state.record_bytes()
    assert varied > 20


def test_no_public_attribute_is_or_holds_the_state():
    turn = Turn(get_game("leduc_poker_v0").new_state(seed=1), 7)
    public = [getattr(turn, name) for name in dir(turn) if not name.startswith("_")]
    assert len(public) > 12
    for value in public:
        assert not isinstance(value, State)
        assert not (isinstance(value, np.ndarray) and value.dtype.names)


def test_a_turn_is_over_when_the_game_moves_on():
    state = get_game("leduc_poker_v0").new_state(seed=1)
    turn = Turn(state, 7)
    seen = turn.observation.copy()
    state.apply(1)
    assert (turn.observation == seen).all()
    for ask in (
        lambda: turn.legal_actions, lambda: turn.recap, lambda: turn.label(1), lambda: turn.determinize(3),
        lambda: turn.policy_action("random"), turn.render,
    ):  # fmt: skip
        with pytest.raises(StaleTurnError, match="the game has moved on"):
            ask()


def test_every_decision_has_a_seed_of_its_own():
    state = get_game("leduc_poker_v0").new_state(seed=1)
    seeds = [Turn(state, 7, decision).seed for decision in range(10)]
    assert len(set(seeds)) == 10
    assert Turn(state, 7).seed == Turn(state, 7).seed != Turn(state, 8).seed


def test_labels_go_both_ways_and_are_refused_when_wrong():
    turn = Turn(get_game("leduc_poker_v0").new_state(seed=1), 7)
    assert [turn.action_from_label(turn.label(action)) for action in turn.legal_actions] == turn.legal_actions
    with pytest.raises(IllegalActionError, match="no legal action reads 'castle'"):
        turn.action_from_label("castle")
    with pytest.raises(PolicyNotFoundError, match="has no policy 'best'; its policies are: random"):
        turn.policy_action("best")


def test_a_world_can_be_played_and_tells_no_secret():
    state = get_game("leduc_poker_v0").new_state(seed=1, deck="Q K J")
    state.apply(1)
    world = Turn(state, 7).determinize(5)
    assert world.deck.size == 0
    assert world.actions == []
    assert world.ply == 0
    with pytest.raises(HiddenInformationError):
        world.events(0)
    world.apply(1)
    assert world.actions == [1]
    assert world.ply == 1
    assert len(world.events(1)) > len(state.events(1))
    again = state.game.from_bytes(world.to_bytes(), trusted=True)
    assert again.events(1) == world.events(1)
    assert again.record_bytes() == world.record_bytes()
    assert state.ply == 1


def test_notes_are_the_agents_own_and_each_turn_has_new_ones():
    state = get_game("leduc_poker_v0").new_state(seed=1)
    turn = Turn(state, 7)
    turn.notes["tokens"] = 12
    assert Turn(state, 7).notes == {}
    assert turn.notes == {"tokens": 12}


def test_a_folded_recap_tells_the_latest_events():
    for state in decisions("leduc_poker_v0", {}, count=3):
        turn = Turn(state, 0)
        for most in (0, 1, 4, 1000):
            lines, before = turn.folded_recap(most)
            assert before == max(0, len(turn.recap) - most)
            assert len(lines) <= most
        assert turn.folded_recap() == (lines, 0)


def test_a_folded_recap_tells_ten_dealt_cards_in_a_line():
    state = get_game("gin_rummy_v0").new_state(seed=1)
    lines, _ = Turn(state, 0).folded_recap()
    player, other = state.current_player, 1 - state.current_player
    dealt = [line for line in lines if line.startswith(f"player_{player} is dealt")]
    assert len(dealt) == 1
    assert len(dealt[0].split()) == 13
    assert f"player_{other} is dealt a card. (10 times)" in lines
    assert len(lines) < len(state.recap(player)) // 3


def test_what_everybody_sees_has_no_secret_of_the_player():
    state = get_game("leduc_poker_v0").new_state(seed=1, deck="K Q J")
    turn = Turn(state, 0)
    assert "K" in str(table_texts(turn.view))
    assert "K" not in str(turn.public_view)


def test_of_finished_tricks_only_the_winners_are_told_but_of_the_latest():
    game = get_game("briscola_v0")
    state = game.new_state(seed=1)
    for ply in range(11):
        state.apply(state.policy_action("heuristic", ply))
    turn = Turn(state, 0)
    lines, left_out = turn.folded_recap()
    won = [k for k, line in enumerate(lines) if "wins" in line]
    assert len(won) == sum("wins" in line for line in turn.recap) == 5
    assert won[:4] == [0, 1, 2, 3]
    assert sum(" plays " in line for line in lines[won[3] :]) == 3
    assert left_out == 0
    assert len(lines) < len(turn.recap) - 10


def test_of_a_finished_hand_only_the_result_is_told():
    game = get_game("gin_rummy_v0")
    state = game.new_state(seed=2, match_target=200)
    while table_texts(state.view(0))["counters"]["hand_number"] < 4:
        state.apply(state.policy_action("heuristic", state.ply))
    lines, _ = Turn(state, state.current_player).folded_recap()
    assert sum("begins" in line for line in lines) == 1
    assert sum("has a score" in line for line in lines) == 3


def test_a_sweep_does_not_end_a_hand():
    state = get_game("kasino_v0").new_state(seed=3)
    while not any("sweep" in line for line in state.recap(0)):
        state.apply(state.policy_action("heuristic", state.ply))
    assert table_texts(state.view(0))["counters"]["hand_number"] == 1
    lines, left_out = Turn(state, 0).folded_recap()
    assert left_out == 0
    assert [line for line in lines if " plays " in line] == [line for line in state.recap(0) if " plays " in line]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("canasta_v0", {"match": True}), ("gin_rummy_v0", {"match_target": 200}), ("katko_v0", {}),
        ("bridge_v0", {"scoring": "rubber"}), ("briscola_v0", {"target": 3}), ("scopa_v0", {}), ("casino_v0", {}),
        ("kasino_v0", {"match": True}), ("texas_holdem_v0", {"starting_stack": 200}), ("wingspan_v0", {}),
        ("euchre_v0", {"target": 5}),
    ],
)  # fmt: skip
def test_finished_hands_and_tricks_are_told_by_their_results(name, options):
    """Of earlier hands only the results are told, of earlier tricks of this hand too, and nothing is said to lack."""
    game, seen = get_game(name), 0
    state = game.new_state(seed=2, **options)
    part = {kind.name: kind.closes for kind in game.table.kinds}
    opens = {kind.name: kind.opens for kind in game.table.kinds}
    policy = next(iter(game.policies))
    for ply in range(2000):
        if state.is_terminal:
            break
        if ply % (5 if ply < 60 else 41) == 3:
            rows = state.event_rows(state.current_player)
            told, left_out = _worth_telling(rows, game.table, len(rows))
            assert left_out == 0
            kinds = [game.table.read(row).kind for row in told]
            happened = [game.table.read(row).kind for row in rows]
            assert sum(part[kind] == Part.HAND for kind in kinds) == sum(part[kind] == Part.HAND for kind in happened)
            opened = max((k for k, kind in enumerate(happened) if opens[kind] == Part.HAND), default=0)
            results = sum(part[kind] == Part.HAND for kind in happened[:opened])
            last = results - 1
            assert all(part[kind] == Part.HAND for kind in kinds[: last + 1])
            tricks = [k for k, kind in enumerate(kinds) if k > last and part[kind] == Part.TRICK]
            details = [k for k, kind in enumerate(kinds) if k > last and part[kind] == Part.NONE]
            if len(tricks) > 2 and details and tricks[1] - tricks[0] == 1:
                assert details[0] > tricks[0]
            short, _ = _worth_telling(rows, game.table, 20)
            assert len(short) <= 20
            kept = sum(part[game.table.read(row).kind] == Part.HAND for row in short)
            assert kept >= min(results, 10)  # results of hands survive what is cut
            seen += results > 0
        state.apply(state.policy_action(policy, ply))
    assert seen
