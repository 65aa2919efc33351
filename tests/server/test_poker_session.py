"""Sessions of the poker API: what is refused and why, jumps and what they cut off, budgets."""

import dataclasses

import pytest

from cardenvs.core.registry import get_game
from cardenvs.games.one_player_poker.rules import NUM_PLAYS
from cardenvs.games.one_player_poker.rules import POSITIONS as BITS
from cardenvs.tools.one_player_poker.api.errors import ApiError
from cardenvs.tools.one_player_poker.api.session import (
    ACTIONS,
    CARD_ORDER,
    DISCARD,
    LIMITED,
    OFF,
    PLAY,
    PRACTICE,
    UNLIMITED,
    Policy,
    Session,
    checked_action,
    state_json,
)


class Game(Session):
    def act(self, kind, positions):
        return self.acted(checked_action(self.state(), kind, positions))


def session(**changes):
    fields = {"seed": 5, "deck_seed": 5, "mode": PRACTICE, "tier": "easy", "target": None, "hint": Policy(OFF)}
    return Game(**fields | {"jump": Policy(UNLIMITED)} | changes)


def refused(call):
    with pytest.raises(ApiError) as error:
        call()
    return error.value.status, error.value.body()["error"]


def test_positions_are_those_of_the_game():
    assert [(kind == PLAY, sum(1 << k for k in chosen)) for kind, chosen in ACTIONS] == [
        (action < NUM_PLAYS, int(bits)) for action, bits in enumerate(BITS)
    ]


@pytest.mark.parametrize(
    ("kind", "positions", "reason"),
    [
        (PLAY, [0, 1, 2, 3], "play_requires_five"),
        (PLAY, [0, 1, 2, 3, 4, 5], "play_requires_five"),
        (PLAY, [0, 0, 1, 2, 3], "duplicate_index"),
        (PLAY, [0, 1, 2, 3, 7], "index_out_of_range"),
        (PLAY, [-1, 1, 2, 3, 4], "index_out_of_range"),
        (PLAY, [True, 1, 2, 3, 4], "index_not_an_integer"),
        (PLAY, [0.0, 1, 2, 3, 4], "index_not_an_integer"),
        (PLAY, ["0", 1, 2, 3, 4], "index_not_an_integer"),
        (PLAY, [[0], 1, 2, 3, 4], "index_not_an_integer"),
        (PLAY, "01234", "selected_indices_not_a_list"),
        (PLAY, None, "selected_indices_not_a_list"),
        (DISCARD, [], "discard_requires_at_least_one"),
        (DISCARD, [0, 1, 2, 3, 4, 5, 6, 0], "discard_budget_exceeded"),
        ("FOLD", [0], "unknown_action_type"),
        (None, [0], "unknown_action_type"),
        ([PLAY], [0], "unknown_action_type"),
    ],
)
def test_refusals(kind, positions, reason):
    status, error = refused(lambda: session().act(kind, positions))
    assert (status, error["code"]) == (422, "INVALID_ACTION")
    own = reason if reason in ("play_requires_five", "discard_budget_exceeded") else "invalid_action"
    assert error["message_key"] == f"error.{own}"
    assert error["params"] == {"reason": reason}


def test_discards_run_out():
    one = session().act(DISCARD, [0, 1, 2, 3, 4, 5, 6]).act(DISCARD, [0])
    assert refused(lambda: one.act(DISCARD, [0, 1, 2]))[1]["params"]["reason"] == "discard_budget_exceeded"
    one = one.act(DISCARD, [1, 0])
    error = refused(lambda: one.act(DISCARD, [0]))[1]
    assert (error["message_key"], error["params"]) == (
        "error.discard_budget_exceeded", {"reason": "no_discards_remaining"},
    )  # fmt: skip
    assert refused(lambda: one.act(DISCARD, []))[1]["params"]["reason"] == "no_discards_remaining"


def test_after_the_last_play_only_a_jump_goes_on():
    one = session()
    for _ in range(4):
        one = one.act(PLAY, [0, 1, 2, 3, 4])
    status, error = refused(lambda: one.act(PLAY, [0, 1, 2, 3, 4]))
    assert (status, error["code"]) == (409, "GAME_ENDED")
    back = one.jumped(3)
    assert (back.step, len(back.history)) == (3, 4)
    other = back.act(DISCARD, [6])
    assert (other.step, len(other.history)) == (4, 4)
    assert other.history[:3] == one.history[:3]
    assert refused(lambda: other.jumped(5))[1]["params"] == {"reason": "step_out_of_range", "history_len": 4}
    assert refused(lambda: other.jumped(-1))[0] == 422


def test_jumps_forward_and_back_replay_the_same_game():
    one = session()
    seen = [state_json(one.state())]
    for positions in ([0, 2, 3, 5, 6], [1, 2, 3, 4, 5]):
        one = one.act(PLAY, positions)
        seen.append(state_json(one.state()))
    assert [state_json(one.jumped(k).state()) for k in range(3)] == seen


def test_jumps_are_refused_or_counted():
    off = session(jump=Policy(OFF))
    assert refused(lambda: off.jumped(0))[1] == {
        "code": "JUMP_NOT_ALLOWED", "message_key": "error.jump_not_allowed", "params": {"reason": "policy_off"},
    }  # fmt: skip
    one = session(jump=Policy(LIMITED, 2)).act(PLAY, [0, 1, 2, 3, 4]).jumped(0).jumped(1)
    assert one.jump.fields("jump") == {
        "jump_policy": "limited", "jump_budget_total": 2, "jump_budget_remaining": 0,
    }  # fmt: skip
    assert refused(lambda: one.jumped(0))[1]["params"] == {"reason": "budget_exhausted"}
    assert session().jump.fields("jump") == {"jump_policy": "unlimited"}


def test_two_decks_with_the_same_cards_to_come_look_the_same():
    state = get_game("one_player_poker_v0").new_state(seed=3)
    for seed in range(5):
        assert state_json(state.determinize(0, seed)) == state_json(state)
    shown = state_json(state)
    assert list(shown["deck_remaining_counts"]) == [card for card in CARD_ORDER if card not in shown["hand"]]
    assert shown["deck_remaining_count"] == 45


def test_a_refused_change_leaves_the_session_as_it_was():
    one = session()
    before = dataclasses.asdict(one)
    for call in (lambda: one.act(PLAY, [0]), lambda: one.jumped(9)):
        refused(call)
    assert dataclasses.asdict(one) == before
