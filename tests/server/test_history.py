"""Earlier positions: anybody may go back to what their viewer saw after any of its events, and to nothing else."""

import pytest
from served import PERSON, act, client, new_table, open_table

from cardenvs.core.events import OMNISCIENT, SPECTATOR
from cardenvs.core.fold import fold
from cardenvs.core.game_view import folded_texts, table_texts
from cardenvs.server.history import past, view_at
from cardenvs.server.records import Records
from cardenvs.server.table import RefusedError, Table

PLAIN = {"prompt": "", "choices": []}


def played(game, moves, records=None, **options):
    """A table at which people have chosen their last legal action so many times, and what each viewer saw then."""
    table = new_table(game, [PERSON, PERSON], records=records, **options)
    seen = []
    for _ in range(moves + 1):
        seen.append({viewer: (table.show(viewer).event_ends[-1], table.show(viewer).view) for viewer in VIEWERS})
        if table.state.is_terminal or len(seen) > moves:
            break
        player = table.state.current_player
        table.act(player, table.show(player).turn, [{"action": table.state.legal_actions()[-1]}])
    return table, seen


VIEWERS = (0, 1, SPECTATOR, OMNISCIENT)


@pytest.mark.parametrize("game", ["durak_v0", "gin_rummy_v0"])
def test_who_comes_late_goes_back_to_what_others_saw_then(game):
    records = Records(":memory:")
    table, seen = played(game, 25, records)
    late = Table(records.find("seat_0"), table.state.game, records, records.moves("watch"))
    for viewer in VIEWERS:
        for event, view in (one[viewer] for one in seen):
            assert view_of(late.moment(viewer, event)) == view | PLAIN


@pytest.mark.parametrize("viewer", [0, 1, SPECTATOR])
def test_between_actions_the_table_is_the_fold_of_the_events(viewer):
    table, _ = played("gin_rummy_v0", 12)
    rows, words = table.state.event_rows(viewer), table.state.game.view
    hands = []
    for event in range(1, len(rows) + 1):
        folded = folded_texts(fold(table.state.game.table, rows[:event]), words, 2)["piles"]["hand"]
        view = view_of(table.moment(viewer, event))
        hands.append(table_texts(view)["piles"]["hand"])
        assert [sorted(hand) for hand in hands[-1]] == [sorted(hand) for hand in folded]
        assert view["choices"] == []
    sizes = {tuple(map(len, hand)) for hand in hands}
    assert {(5, 0), (10, 5), (10, 10)} <= sizes  # in the middle of the deal, too


def test_the_end_of_a_deal_tells_all_that_was_scored_and_shows_the_scores():
    table = new_table("cribbage_v0", [PERSON, PERSON])
    rounds = table.show(0).rounds
    while not rounds:
        player = table.state.current_player
        table.act(player, table.show(player).turn, [{"action": table.state.legal_actions()[-1]}])
        rounds = table.show(0).rounds
    told = past(table.moment(0, rounds[-1]), narrow=False)
    said = "\n".join(told["said"])
    for wanted in ("player_1 has ", "You have ", "The crib has ", " in the crib."):
        assert wanted in said
    scores = [int(row[1]) for row in view_of(table.moment(0, rounds[-1]))["sheet"]["rows"]]
    assert scores == [int(row[1]) for row in table.show(0).view["sheet"]["rows"]]
    assert sum(scores) > 0


def view_of(moment):
    return view_at(moment)[0]


def test_in_the_middle_of_an_action_nobody_has_won_yet():
    """The last action of Kuhn poker: until its last event, returns and the player to act are those before it."""
    table, _ = played("kuhn_poker_v0", 1)
    while not table.state.is_terminal:
        table.decide(0, {})
    ends = table.show(SPECTATOR).event_ends
    for event in range(ends[-2] + 1, ends[-1]):
        view = view_of(table.moment(SPECTATOR, event))
        assert not view["terminal"]
        assert [player["return"] for player in view["players"]] == [0, 0]
    assert view_of(table.moment(SPECTATOR, ends[-1]))["terminal"]
    assert ends[-1] > ends[-2] + 1


def test_a_position_says_what_happened_and_the_scores():
    table, _ = played("gin_rummy_v0", 3)
    made = past(table.moment(SPECTATOR, table.show(SPECTATOR).event_ends[0] + 1), narrow=True)
    assert made["width"] == 360
    assert made["said"]
    assert {"label": "score", "values": [0, 0]} in made["scores"]


def test_there_is_nothing_before_the_first_event_and_after_the_last():
    table, _ = played("kuhn_poker_v0", 1)
    last = table.show(0).event_ends[-1]
    assert past(table.moment(0, last), narrow=False)["event"] == last
    for event in (0, -1, last + 1, 10**30):
        with pytest.raises(RefusedError, match=f"events are 1 to {last}"):
            table.moment(0, event)


def test_a_move_that_is_taken_back_is_no_longer_in_the_past():
    table = new_table("gin_rummy_v0", [PERSON, PERSON])
    seat = table.state.current_player
    before = table.show(SPECTATOR).event_ends[-1]
    act(seat, table, next(one["label"] for one in table.show(seat).view["choices"] if one["label"] != "pass"))
    after = table.show(SPECTATOR).event_ends[-1]
    table.take_back(seat, table.show(seat).turn)
    assert table.show(SPECTATOR).event_ends[-1] == before < after
    with pytest.raises(RefusedError):
        table.moment(SPECTATOR, after)


def test_a_socket_shows_no_other_viewers_past():
    with client() as server:
        table = open_table(server, "kuhn_poker_v0", ["person", "person"], deck="Q J K")
        with server.websocket_connect(f"/ws/{table['watch']}") as socket:
            events = socket.receive_json()["events"]
            socket.send_json({"do": "past", "event": events})
            assert socket.receive_json()["viewer"] == "spectator"
            for wrong in ({"event": 0}, {"event": events + 1}, {"event": "1"}, {"event": True}, {"event": 1.0}):
                socket.send_json({"do": "past"} | wrong)
                assert socket.receive_json()["type"] == "refused", wrong
