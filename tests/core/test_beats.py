"""Beats: what one action does, moment by moment."""

import itertools

import numpy as np
import pytest

import cardenvs
from cardenvs.core.beats import beats
from cardenvs.core.events import KIND, OMNISCIENT, SPECTATOR, Part
from cardenvs.core.game_view import table_texts
from cardenvs.core.narration import Narrator
from cardenvs.core.replay import Replay


def actions_of(game, seed=4, **options):
    """Yield each action of a random game: the rows up to its end that a spectator sees, and the number before it."""
    state = cardenvs.get_game(game).new_state(seed=seed, **options)
    rng, seen = np.random.default_rng(seed), len(state.event_rows(SPECTATOR))
    while not state.is_terminal:
        state.apply(int(rng.choice(state.legal_actions())))
        rows = state.event_rows(SPECTATOR)
        yield state, rows, seen
        seen = len(rows)


def told(state, rows, found):
    narrator, table = Narrator(state.game, SPECTATOR, state.num_players), state.game.table
    return [" ".join(narrator.sentences(map(table.read, rows[one.told_from : one.told_to]))) for one in found]


def test_beats_divide_the_events_of_every_action(every_game):
    for state, rows, first in actions_of(every_game.name):
        found = beats(state.game.table, rows, first)
        assert (found[0].start, found[0].told_from) == (first, first)
        assert (found[-1].end, found[-1].told_to) == (len(rows), len(rows))
        for one, after in itertools.pairwise(found):
            assert one.start < one.end == after.start
            assert one.told_from < one.told_to == after.told_from
            assert one.told_to >= one.end or one.closes


def test_a_trick_lies_there_before_it_is_gathered():
    for state, rows, first in actions_of("bridge_v0"):
        found = beats(state.game.table, rows, first)
        said = told(state, rows, found)
        if "wins trick" in "".join(said):
            assert found[0].closes >= Part.TRICK
            assert "plays" in said[0]
            assert "wins trick" in said[0]
            assert len(found) == 2
            return
    pytest.fail("no trick was played")


def test_hands_are_shown_street_by_street_before_the_next_deal():
    state = cardenvs.get_game("texas_holdem_v0").new_state(seed=4, num_players=2, format="cash", num_hands=2)
    state.apply(max(state.legal_actions()))  # all in
    first = len(state.event_rows(SPECTATOR))
    state.apply(next(action for action in state.legal_actions() if "call" in state.action_label(action)))
    rows = state.event_rows(SPECTATOR)
    found = beats(state.game.table, rows, first, state.is_terminal)
    shown, flop, turn, river, *_ = told(state, rows, found)
    assert shown.count("shows") == 2
    assert flop.startswith("The flop")
    assert turn.startswith("The turn")
    assert river.startswith("The river")
    assert "wins" in river or "share" in river
    assert [one.closes for one in found[:4]] == [Part.NONE, Part.NONE, Part.NONE, Part.HAND]


def test_a_finished_deal_is_told_before_the_next_begins():
    """Kasino, Scopa and Casino clear the table, which is no moment of its own."""
    for game in ("casino_v0", "scopa_v0"):
        closing = []
        for state, rows, first in actions_of(game):
            found = beats(state.game.table, rows, first)
            closing += [
                (said, after)
                for one, said, after in zip(
                    found, told(state, rows, found), [*told(state, rows, found)[1:], ""], strict=True
                )
                if one.closes == Part.HAND
            ]
        said, after = closing[0]
        assert "score" in said
        assert "Hand 2" not in said
        assert "Hand 2" in after


def hands_of(game, **options):
    """Yield for each action of a game whether it begins a hand, ends the game, and ends a hand, by beats and events."""
    for state, rows, first in actions_of(game, **options):
        kinds = [state.game.table.kinds[kind] for kind in rows[first:, KIND].tolist()]
        begins = any(kind.opens == Part.HAND for kind in kinds)
        closes = any(kind.closes == Part.HAND for kind in kinds)
        found = beats(state.game.table, rows, first, state.is_terminal)
        yield begins, state.is_terminal, closes, any(one.closes == Part.HAND for one in found)


def test_a_hand_has_ended_where_the_next_begins_or_the_game_is_over(every_game):
    kinds = every_game.table.kinds
    assert any(kind.opens for kind in kinds) == any(kind.closes == Part.HAND for kind in kinds)
    ends = 0
    for begins, is_over, closes, has_ended in hands_of(every_game.name):
        assert has_ended == (closes and (begins or is_over))
        ends += has_ended
    assert bool(ends) == any(kind.closes == Part.HAND for kind in kinds)


def test_a_sweep_that_is_scored_in_the_middle_of_a_hand_ends_nothing():
    found = list(hands_of("kasino_v0", match=True))
    ends = sum(has_ended for *_, has_ended in found)
    assert ends == sum(begins or is_over for begins, is_over, *_ in found) > 1
    assert sum(closes for _, _, closes, _ in found) > ends


# -- frames -----------------------------------------------------------------------------------------------------


def replay_of(game, seed=4, **options):
    *_, (state, _, _) = actions_of(game, seed, **options)
    return Replay.of(state)


def test_frames_show_every_trick_whole():
    replay = replay_of("bridge_v0")
    sizes = []
    for frame in replay.frames():
        cards = sum(map(len, table_texts(frame.view)["piles"]["trick"]))
        if frame.closes and any("wins trick" in line for line in frame.said):
            sizes.append(cards)
    assert sizes == [4] * 13


def test_frames_show_each_viewer_its_own_positions(every_game):
    replay = replay_of(every_game.name)
    for viewer in (0, SPECTATOR, OMNISCIENT):
        frames = [frame.view for frame in replay.frames(viewer)]
        positions = [replay.state_at(k).view(viewer) for k in (0, len(replay.actions) // 2, len(replay.actions))]
        assert frames[0] == positions[0]
        assert frames[-1] == positions[-1]
        assert positions[1] in frames
        assert not any(frame["terminal"] for frame in frames[:-1])


def test_a_pile_keeps_its_order_in_the_middle_of_an_action():
    """Durak: the defence lies on the attack that it beats until both are put away."""
    replay = replay_of("durak_v0")
    beaten = 0
    for before, frame in itertools.pairwise(replay.frames()):
        piles, earlier = table_texts(frame.view)["piles"], table_texts(before.view)["piles"]
        if frame.closes and piles["defence"]:
            assert piles["attack"][: len(earlier["attack"])] == earlier["attack"]
            assert piles["defence"][: len(earlier["defence"])] == earlier["defence"]
            beaten += 1
    assert beaten > 0
