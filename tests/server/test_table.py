"""The table without a network: who may do what, taking back, what is kept."""

import pytest
from served import PERSON, act, new_table

from cardenvs.core.events import OMNISCIENT, SPECTATOR
from cardenvs.server.records import Records
from cardenvs.server.table import RefusedError, Table


def test_a_move_is_made_once_however_often_it_is_sent():
    table = new_table("kuhn_poker_v0", [PERSON, PERSON])
    turn = table.show(0).turn
    table.act(0, turn, [{"action": "pass"}])
    with pytest.raises(RefusedError, match="the table has changed"):
        table.act(0, turn, [{"action": "pass"}])
    assert table.state.actions == [0]


def test_an_illegal_move_is_refused_with_the_reason_and_changes_nothing():
    table = new_table("leduc_poker_v0", [PERSON, PERSON])
    before = table.state.record_bytes()
    with pytest.raises(RefusedError, match="nothing is owed"):
        table.act(0, table.show(0).turn, [{"action": 0}])
    with pytest.raises(RefusedError, match="not your turn"):
        table.act(1, table.show(1).turn, [{"action": 1}])
    assert table.state.record_bytes() == before
    assert table.moves == []


def test_a_play_of_several_actions_is_made_whole_or_not_at_all():
    table = new_table("gin_rummy_v0", [PERSON, PERSON])
    with pytest.raises(RefusedError):
        table.act(table.state.current_player, table.show(table.state.current_player).turn, [{"action": "pass"}] * 2)
    assert table.moves == []


def test_a_play_ends_where_all_guesses_were_wrong(monkeypatch):
    table = new_table("gin_rummy_v0", [PERSON, PERSON])
    for _ in range(2):
        act(table.state.current_player, table, "pass")
    seat, hand = table.state.current_player, table.state.clone()
    hand.apply(hand.action_from_label("draw stock"))
    unseen = next(card for card in range(52) if card not in hand.legal_actions())
    plan = [table.state.action_from_label("draw stock"), unseen]
    monkeypatch.setattr("cardenvs.server.table.resolve_play", lambda *_: plan)
    table.act(seat, table.show(seat).turn, [{"action": "draw stock"}, {"action": unseen}])
    assert [move.action for move in table.moves[2:]] == plan[:1]
    assert table.state.current_player == seat


def test_a_drawn_card_cannot_be_put_back():
    table = new_table("gin_rummy_v0", [PERSON, PERSON])
    for _ in range(2):
        act(table.state.current_player, table, "pass")
    seat = table.state.current_player
    act(seat, table, "draw stock")
    assert not table.can_take_back(seat)
    with pytest.raises(RefusedError, match="showed you something"):
        table.take_back(seat, table.show(seat).turn)


def test_what_shows_nothing_can_be_taken_back_until_the_turn_ends():
    table = new_table("gin_rummy_v0", [PERSON, PERSON])
    seat = table.state.current_player
    before = table.state.record_bytes()
    upcard = next(choice["label"] for choice in table.show(seat).view["choices"] if choice["label"] != "pass")
    act(seat, table, upcard)
    assert table.can_take_back(seat)
    assert not table.can_take_back(1 - seat)
    said = len(table.show(SPECTATOR).lines)
    table.take_back(seat, table.show(seat).turn)
    assert table.state.record_bytes() == before
    assert len(table.show(SPECTATOR).lines) < said
    act(seat, table, "pass")
    assert not table.can_take_back(seat)


def test_a_table_goes_on_from_what_is_kept():
    records = Records(":memory:")
    table = new_table("gin_rummy_v0", [PERSON, PERSON], records=records)
    seat = table.state.current_player
    act(seat, table, table.show(seat).view["choices"][0]["label"])
    table.take_back(seat, table.show(seat).turn)
    for _ in range(30):
        player = table.state.current_player
        table.act(player, table.show(player).turn, [{"action": table.state.legal_actions()[-1]}])
        if table.state.is_terminal:
            break
    record = records.find("seat_0")
    again = Table(record, table.state.game, records, records.moves("watch"))
    assert again.state.record_bytes() == table.state.record_bytes()
    for viewer in (0, 1, SPECTATOR):
        assert again.show(viewer).view == table.show(viewer).view
        assert again.show(viewer).lines == table.show(viewer).lines


def test_who_may_see_what():
    people = new_table("kuhn_poker_v0", [PERSON, "random"])
    assert people.may_watch(0, "seat_0")
    assert people.may_watch(SPECTATOR, "watch")
    for viewer, link in ((1, "seat_0"), (OMNISCIENT, "seat_0"), (OMNISCIENT, "host"), (0, "host"), (0, "watch")):
        assert not people.may_watch(viewer, link), (viewer, link)
    agents = new_table("kuhn_poker_v0", ["random", "random"])
    assert agents.may_watch(OMNISCIENT, "host")
    assert not agents.may_watch(OMNISCIENT, "watch")
    assert agents.seat_of("") is None or agents.record.seats[agents.seat_of("")].agent


def test_leaving_forfeits_on_ones_own_turn_only():
    table = new_table("kuhn_poker_v0", [PERSON, PERSON])
    with pytest.raises(RefusedError, match="when it is your turn"):
        table.forfeit(1, table.show(1).turn)
    table.forfeit(0, table.show(0).turn)
    assert table.state.is_terminal
    assert table.replay().returns[1] > 0
