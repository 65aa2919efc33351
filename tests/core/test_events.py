"""Events: who sees what of them, and the table that each viewer's fold rebuilds."""

import dataclasses

import numpy as np
import pytest
from toys.prize import GAME as PRIZE

from cardenvs.core.errors import FoldError
from cardenvs.core.events import (
    AUDIENCE,
    COLUMNS,
    EVERYBODY,
    KIND,
    NO_LOG,
    NO_PLACE,
    NO_PLAYER,
    NOBODY,
    OMNISCIENT,
    SPECTATOR,
    TOP,
    UNKNOWN,
    VISIBLE,
    Event,
    Op,
    Table,
    log_clear,
    log_create,
    log_event,
    log_move,
    log_move_all,
    log_note,
    log_reveal,
    log_set,
    log_shuffle,
    new_log,
    viewer_bit,
)
from cardenvs.core.fold import FoldedTable, fold
from cardenvs.core.kernel import kernel

TABLE = Table(3)
DECK = TABLE.pile("deck")
HAND = TABLE.pile("hand", per_player=True)
ROW = TABLE.pile("row", ordered=True)
HEAP = TABLE.pile("heap", ordered=True)
SCORE = TABLE.counter("score", per_player=True)
ROUND = TABLE.counter("round")
for _op in Op:
    TABLE.event(_op.name.lower(), _op, _op.name.lower())
OWNER, OTHER = 0, 1
VIEWERS = (OWNER, OTHER, SPECTATOR)


def row(op, player=NO_PLAYER, token=UNKNOWN, source=NO_PLACE, target=NO_PLACE, value=0, visible=NOBODY, audience=None):
    return [op, player, token, source, target, value, visible, EVERYBODY if audience is None else audience]


def create(pile, count, token=UNKNOWN, visible=NOBODY):
    return row(Op.CREATE, token=token, target=pile, value=count, visible=visible)


def move(token, source, target, visible, value=TOP, player=OWNER):
    return row(Op.MOVE, player, token, source, target, value, visible)


def reveal(token, source, value, visible):
    return row(Op.REVEAL, OWNER, token, source, value=value, visible=visible)


def folded(viewer, *rows):
    return fold(TABLE, TABLE.visible(np.array(rows, np.int32).reshape(-1, COLUMNS), viewer))


def pile(viewer, number, *rows):
    return folded(viewer, *rows).piles[number]


DEALT = [create(DECK, 5), move(7, DECK, HAND, 1 << OWNER), move(8, DECK, HAND, 1 << OWNER)]


# ---------------------------------------------------------------------------------------------------------------
# Each operation, as seen by who may see the face, by another player and by a spectator


def test_note_changes_nothing():
    for viewer in VIEWERS:
        assert folded(viewer, row(Op.NOTE, OWNER, value=3)) == FoldedTable(TABLE)


def test_create_makes_face_down_tokens_or_open_ones():
    for viewer in VIEWERS:
        assert pile(viewer, DECK, create(DECK, 3)) == [UNKNOWN] * 3
        assert pile(viewer, DECK, create(DECK, 2, token=4, visible=EVERYBODY)) == [4, 4]
    mine = create(HAND, 2, token=4, visible=1 << OWNER)
    assert [pile(viewer, HAND, mine) for viewer in VIEWERS] == [[4, 4], [UNKNOWN] * 2, [UNKNOWN] * 2]


def test_move_shows_the_face_to_those_who_may_see_it():
    assert pile(OWNER, HAND, *DEALT) == [7, 8]
    assert pile(OTHER, HAND, *DEALT) == pile(SPECTATOR, HAND, *DEALT) == [UNKNOWN, UNKNOWN]
    for viewer in VIEWERS:
        assert pile(viewer, DECK, *DEALT) == [UNKNOWN] * 3


def test_a_card_moved_face_up_is_known_to_all_and_stays_known():
    played = [*DEALT, move(7, HAND, HEAP, EVERYBODY), row(Op.MOVE, OTHER, 7, HEAP, HAND + 1, TOP, EVERYBODY)]
    for viewer in VIEWERS:
        assert pile(viewer, HAND + OTHER, *played) == [7]


def test_reveal_in_an_unordered_pile_names_so_many_of_its_tokens():
    shown = [*DEALT, reveal(8, HAND, 1, EVERYBODY)]
    assert sorted(pile(OWNER, HAND, *shown)) == [7, 8]
    assert sorted(pile(OTHER, HAND, *shown)) == [UNKNOWN, 8]
    assert sorted(pile(OTHER, HAND, *shown, reveal(8, HAND, 1, EVERYBODY))) == [UNKNOWN, 8]  # the same one again
    peeked = [create(DECK, 2), reveal(3, DECK, 2, 1 << OTHER)]
    assert [pile(viewer, DECK, *peeked) for viewer in VIEWERS] == [[UNKNOWN] * 2, [3, 3], [UNKNOWN] * 2]


def test_reveal_in_an_ordered_pile_names_the_token_at_a_place():
    laid = create(ROW, 3)
    assert pile(OTHER, ROW, laid, reveal(5, ROW, 1, EVERYBODY)) == [UNKNOWN, 5, UNKNOWN]
    assert pile(OTHER, ROW, laid, reveal(5, ROW, TOP, EVERYBODY)) == [UNKNOWN, UNKNOWN, 5]
    assert pile(OTHER, ROW, laid, reveal(5, ROW, TOP, 1 << OWNER)) == [UNKNOWN] * 3


def test_set_shows_the_value_to_those_who_may_see_it():
    hidden = row(Op.SET, OWNER, source=SCORE, value=12, visible=1 << OWNER)
    assert [folded(viewer, hidden).counters[SCORE] for viewer in VIEWERS] == [12, None, None]
    public = row(Op.SET, OWNER, source=SCORE, value=13, visible=EVERYBODY)
    assert [folded(viewer, hidden, public).counters[SCORE] for viewer in VIEWERS] == [13] * 3
    assert folded(OTHER, public, hidden).counters[SCORE] is None  # it may have changed


def test_counters_are_zero_at_the_start_and_each_players_own():
    table = folded(OTHER, row(Op.SET, OTHER, source=SCORE + OTHER, value=5, visible=EVERYBODY))
    assert table.counters == [0, 5, 0, 0]


def test_after_a_shuffle_nobody_knows_what_lies_where():
    known = [create(ROW, 2, token=4, visible=EVERYBODY), row(Op.SHUFFLE, source=ROW)]
    for viewer in VIEWERS:
        assert pile(viewer, ROW, known[0]) == [4, 4]
        assert pile(viewer, ROW, *known) == [UNKNOWN] * 2


def test_clear_empties_one_pile_or_all():
    table = folded(OTHER, *DEALT, create(ROW, 2), row(Op.CLEAR, source=HAND))
    assert [len(tokens) for tokens in table.piles] == [3, 0, 0, 0, 2, 0]
    assert not any(folded(OTHER, *DEALT, create(ROW, 2), row(Op.CLEAR)).piles)


def test_move_all_keeps_the_order():
    rows = [create(ROW, 1, 1, EVERYBODY), create(ROW, 1, 2, EVERYBODY), create(HEAP, 1, 9, EVERYBODY)]
    table = folded(OTHER, *rows, row(Op.MOVE_ALL, source=ROW, target=HEAP))
    assert (table.piles[ROW], table.piles[HEAP]) == ([], [9, 1, 2])


# ---------------------------------------------------------------------------------------------------------------
# What an unseen move leaves known


def test_an_unseen_move_out_of_a_mixed_pile_makes_all_of_it_unknown_to_others():
    shown = [*DEALT, reveal(8, HAND, 1, EVERYBODY)]  # others know one of two
    gone = [*shown, move(7, HAND, DECK, 1 << OWNER)]  # it may have been the one they knew
    assert pile(OWNER, HAND, *gone) == [8]
    assert pile(OTHER, HAND, *gone) == [UNKNOWN]
    assert pile(OTHER, DECK, *gone) == [UNKNOWN] * 4


def test_an_unseen_move_out_of_an_unknown_pile_leaves_it_unknown():
    gone = [*DEALT, move(7, HAND, DECK, 1 << OWNER)]
    assert (pile(OTHER, HAND, *gone), pile(OTHER, DECK, *gone)) == ([UNKNOWN], [UNKNOWN] * 4)


def test_a_seen_token_leaves_the_known_ones_first_then_the_unknown_ones():
    rows = [*DEALT, reveal(8, HAND, 1, EVERYBODY), move(8, HAND, HEAP, EVERYBODY)]
    assert pile(OTHER, HAND, *rows) == [UNKNOWN]
    assert pile(OTHER, HAND, *rows, move(7, HAND, HEAP, EVERYBODY)) == []


def test_an_ordered_pile_keeps_track_of_faces_through_unseen_moves():
    rows = [create(ROW, 3), reveal(5, ROW, 0, 1 << OTHER), move(5, ROW, HEAP, 1 << OWNER, value=0)]
    assert pile(OTHER, HEAP, *rows) == [5]  # saw it before it was moved face down
    assert pile(OWNER, HEAP, *rows) == [5]  # sees it move
    assert pile(SPECTATOR, HEAP, *rows) == [UNKNOWN]
    for viewer in VIEWERS:
        assert pile(viewer, ROW, *rows) == [UNKNOWN] * 2


def test_an_ordered_pile_gives_its_top_or_a_place_counted_from_the_bottom():
    rows = [create(ROW, 1, token, EVERYBODY) for token in (1, 2, 3, 4)]
    assert pile(OTHER, ROW, *rows, move(4, ROW, HEAP, EVERYBODY)) == [1, 2, 3]
    assert pile(OTHER, ROW, *rows, move(2, ROW, HEAP, EVERYBODY, value=1)) == [1, 3, 4]


# ---------------------------------------------------------------------------------------------------------------
# Rows as a viewer gets them


def test_what_a_viewer_may_not_see_is_blanked():
    rows = np.array([move(7, DECK, HAND, 1 << OWNER), row(Op.SET, OWNER, source=SCORE, value=12)], np.int32)
    assert TABLE.visible(rows, OTHER).tolist() == [
        [Op.MOVE, OWNER, UNKNOWN, DECK, HAND, TOP, 0, 1],
        [Op.SET, OWNER, UNKNOWN, SCORE, NO_PLACE, 0, 0, 1],
    ]
    assert TABLE.visible(rows, OWNER)[0].tolist() == [Op.MOVE, OWNER, 7, DECK, HAND, TOP, 1, 1]
    assert TABLE.visible(rows, OMNISCIENT)[1].tolist() == [Op.SET, OWNER, UNKNOWN, SCORE, NO_PLACE, 12, 1, 1]
    assert rows[0, VISIBLE] == 1 << OWNER  # the log itself is as it was


def test_who_else_sees_a_face_is_not_told():
    both, alone = (np.array([move(7, DECK, HAND, who)], np.int32) for who in (0b011, 0b001))
    assert TABLE.visible(both, OWNER).tolist() == TABLE.visible(alone, OWNER).tolist()


def test_events_outside_the_audience_are_not_there():
    rows = np.array([row(Op.NOTE, OWNER, value=k, audience=1 << k) for k in range(3)], np.int32)
    assert [event.value for event in map(TABLE.read, TABLE.visible(rows, 1))] == [1]
    assert len(TABLE.visible(rows, SPECTATOR)) == 0
    assert len(TABLE.visible(rows, OMNISCIENT)) == 3


def test_the_spectator_sees_what_everybody_sees_and_no_players_own():
    assert viewer_bit(SPECTATOR) & EVERYBODY
    assert not any(viewer_bit(SPECTATOR) & viewer_bit(player) for player in range(15))


def test_an_event_names_places_and_owners_and_has_none_for_what_is_hidden():
    rows = np.array(
        [
            move(7, DECK, HAND + 1, 1 << 1, player=1),
            row(Op.SET, 1, source=SCORE + 1, value=0, visible=1 << 1),
            row(Op.NOTE, value=4, visible=EVERYBODY),
        ],
        np.int32,
    )
    assert [TABLE.read(r) for r in TABLE.visible(rows, 1)] == [
        Event("move", 1, 7, ("deck", None), ("hand", 1), TOP),
        Event("set", 1, None, ("score", 1), None, 0),
        Event("note", None, None, None, None, 4),
    ]
    assert [TABLE.read(r) for r in TABLE.visible(rows, 0)][:2] == [
        Event("move", 1, None, ("deck", None), ("hand", 1), TOP),
        Event("set", 1, None, ("score", 1), None, None),
    ]


# ---------------------------------------------------------------------------------------------------------------
# Events that do not fit


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([move(7, DECK, HAND, EVERYBODY)], "token 7 leaves the empty pile deck"),
        (
            [create(HAND + 2, 1, 4, EVERYBODY), move(7, HAND + 2, DECK, EVERYBODY)],
            "leaves hand of player 2, which hold",
        ),
        ([create(ROW, 1, 4, EVERYBODY), move(7, ROW, DECK, EVERYBODY)], "leaves row from a place known to hold 4"),
        ([create(ROW, 2), move(7, ROW, DECK, EVERYBODY, value=2)], "row holds 2 tokens; there is no place 2"),
        ([create(ROW, 2), move(7, ROW, DECK, EVERYBODY, value=-2)], "there is no place -2"),
        ([reveal(7, ROW, TOP, EVERYBODY)], "row holds 0 tokens"),
        ([create(ROW, 1, 4, EVERYBODY), reveal(7, ROW, 0, EVERYBODY)], "row shows token 7 in a place known to hold 4"),
        ([create(DECK, 1), reveal(7, DECK, 2, EVERYBODY)], "deck shows token 7, but is known to hold"),
        ([create(DECK, 1), move(7, DECK, NO_PLACE, EVERYBODY)], "MOVE names places"),
        ([create(DECK, 1), move(7, NO_PLACE, HAND, EVERYBODY)], "MOVE names places"),
        ([row(Op.SET, source=4, visible=EVERYBODY)], "SET names places [4]; there are 0 to 3"),
        ([row(Op.SHUFFLE)], "SHUFFLE names places"),
        ([row(Op.MOVE_ALL, source=DECK, target=6)], "MOVE_ALL names places"),
    ],
)
def test_an_event_that_does_not_fit_the_table_is_refused(rows, message):
    with pytest.raises(FoldError) as caught:
        folded(OTHER, *rows)
    assert message in str(caught.value)


def test_ids_follow_the_order_of_declaration():
    table = Table(2)
    assert (table.pile("a"), table.pile("b", per_player=True), table.pile("c")) == (0, 1, 3)
    assert (table.counter("a", per_player=True), table.counter("b")) == (0, 2)
    assert (table.event("a", Op.NOTE, ""), table.event("b", Op.SET, "")) == (0, 1)
    assert [owner for _, owner in table.pile_of] == [None, 0, 1, None]
    assert (table.pile_ids["c"], table.counter_ids["b"], table.kind_ids["b"]) == (3, 2, 1)


def test_two_of_one_name_are_refused():
    table = Table(2)
    table.pile("a")
    table.counter("a", per_player=True)
    table.event("a", Op.NOTE, "")
    with pytest.raises(ValueError, match="the table already has a pile named 'a'"):
        table.pile("a", per_player=True)
    with pytest.raises(ValueError, match="the table already has a counter named 'a'"):
        table.counter("a")
    with pytest.raises(ValueError, match="the table already has a kind of event named 'a'"):
        table.event("a", Op.SET, "")
    assert (len(table.pile_of), len(table.counter_of), len(table.kinds)) == (1, 2, 1)


# ---------------------------------------------------------------------------------------------------------------
# Comparing tables


def test_tables_are_equal_when_all_piles_and_counters_are():
    one, other = FoldedTable(TABLE), FoldedTable(TABLE)
    one.put("hand", [1, 2], unknown=1, player=2)
    other.put("hand", [2, 1], unknown=1, player=2)
    assert one == other  # the order of an unordered pile does not count
    one.put("row", [1, 2])
    other.put("row", [2, 1])
    assert one != other
    assert one.differences(other) == ["row: (1, 2) != (2, 1)"]
    other.put("row", [1, 2])
    other.set("score", 3, player=1)
    one.set("score", None, player=1)
    assert one.differences(other) == ["score of player 1: None != 3"]


def test_tokens_are_counted_by_face():
    table = folded(OWNER, *DEALT)
    assert dict(table.tokens()) == {UNKNOWN: 3, 7: 1, 8: 1}


# ---------------------------------------------------------------------------------------------------------------
# Writing


@kernel
def write_all(log):
    log_note(log, 0, 1, 5)
    log_move(log, 1, 1, 7, 0, 2, 0b10)
    log_reveal(log, 2, 0, 7, 2, 1, 0b01)
    log_set(log, 3, 1, 2, 9)
    log_shuffle(log, 4, 0)
    log_create(log, 5, 0, 52)
    log_clear(log, 6)
    log_move_all(log, 7, 2, 4, 5)
    log_event(log, 3, 1, UNKNOWN, 0, NO_PLACE, 8, 0b10, 0b11)


WRITTEN = [
    [0, 1, UNKNOWN, NO_PLACE, NO_PLACE, 5, EVERYBODY, EVERYBODY],
    [1, 1, 7, 0, 2, TOP, 0b10, EVERYBODY],
    [2, 0, 7, 2, NO_PLACE, 1, 0b01, EVERYBODY],
    [3, 1, UNKNOWN, 2, NO_PLACE, 9, EVERYBODY, EVERYBODY],
    [4, NO_PLAYER, UNKNOWN, 0, NO_PLACE, 0, NOBODY, EVERYBODY],
    [5, NO_PLAYER, UNKNOWN, NO_PLACE, 0, 52, NOBODY, EVERYBODY],
    [6, NO_PLAYER, UNKNOWN, NO_PLACE, NO_PLACE, 0, NOBODY, EVERYBODY],
    [7, 2, UNKNOWN, 4, 5, 0, NOBODY, EVERYBODY],
    [3, 1, UNKNOWN, 0, NO_PLACE, 8, 0b10, 0b11],
]


def test_each_log_kernel_writes_its_row():
    log = new_log()
    write_all(log)
    assert log[0, 0] == len(WRITTEN)
    assert log[1 : 1 + len(WRITTEN)].tolist() == WRITTEN


def test_a_full_log_counts_on_and_writes_nothing_beyond():
    whole = np.full((20, COLUMNS), 99, np.int32)
    log = whole[:4]
    log[0] = 0
    write_all(log)
    assert log[0, 0] == len(WRITTEN)
    assert log[1:].tolist() == WRITTEN[:3]
    assert (whole[4:] == 99).all()


def test_no_log_writes_nothing():
    write_all(NO_LOG)
    assert NO_LOG.size == 0


@kernel
def talkative_deal(s, given, log):
    for k in range(300):
        log_note(log, 0, 0, k)


@kernel
def talkative_action(s, action, log):
    for k in range(700):
        log_note(log, 0, s.current_player, k)
    s.current_player = 1 - s.current_player
    s.terminal = s.ply == 2
    s.rewards[0] += 1  # must not be paid twice when the step is repeated with a longer log


TALKATIVE = dataclasses.replace(PRIZE, deal=talkative_deal, apply_action=talkative_action)


def test_a_step_with_more_events_than_the_log_has_rows_is_kept_whole():
    state = TALKATIVE.new_state(seed=0)
    state.apply(0)
    assert [event.value for event in state.events()] == [*range(300), *range(700)]
    state.apply(0)
    assert [event.value for event in state.events()] == [*range(300), *range(700), *range(700)]
    assert state.event_rows(0)[:, KIND].tolist() == [0] * 1700
    assert state.event_rows(0)[:, AUDIENCE].tolist() == [1] * 1700
    assert state.returns == [2, 0]
