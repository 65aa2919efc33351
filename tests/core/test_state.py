"""`State`: the public names of every game, and what they promise."""

import copy
import dataclasses
import inspect
import itertools
import json
import pickle
import random
from collections import Counter

import numpy as np
import pytest
from toys.high_card import GAME as HIGH_CARD
from toys.high_card import KEEP, SWAP, TAKE

from cardenvs import get_game, make_vec
from cardenvs.core.codes import FORFEIT, TERMINAL_PLAYER
from cardenvs.core.errors import (
    CardenvsError,
    DeckError,
    FormatError,
    HiddenInformationError,
    IllegalActionError,
    PolicyNotFoundError,
)
from cardenvs.core.events import KIND, OMNISCIENT, SPECTATOR, UNKNOWN, VISIBLE
from cardenvs.core.game_view import table_texts
from cardenvs.core.observation import Layout, Section
from cardenvs.core.state import State

LEDUC = get_game("leduc_poker_v0")
KUHN = get_game("kuhn_poker_v0")
FOLD, CALL, RAISE = 0, 1, 2


def play(state, actions):
    for action in actions:
        state.apply(action)
    return state


def positions(game, seed=0, **options):
    """The state before actions of random play, and at the end: the same object, moving on; about 100 of a long game."""
    chooser, actions = random.Random(seed), []
    ahead, state = (game.new_state(seed=seed, **options) for _ in range(2))
    while not ahead.is_terminal:
        actions.append(chooser.choice(ahead.legal_actions()))
        ahead.apply(actions[-1])
    every = max(1, len(actions) // 100)
    for k, action in enumerate(actions):
        if k % every == 0:
            yield state
        state.apply(action)
    yield state


def midway(game, seed=0):
    """A position in the middle of a game, before its end."""
    states = [state.clone() for state in positions(game, seed)]
    return states[(len(states) - 1) // 2]


# ---------------------------------------------------------------------------------------------------------------
# What OMNISCIENT gets


def test_the_events_of_omniscient_tell_the_whole_table(every_game):
    for state in positions(every_game, seed=2):
        if state.ply % 10 < 2 or state.is_terminal:
            folded = state.folded_table(OMNISCIENT)
            assert folded == state.table(OMNISCIENT), folded.differences(state.table(OMNISCIENT))
            assert folded.tokens() == Counter(every_game.deck(state.options).tolist())  # no face is unknown
            assert None not in folded.counters
        if state.ply > 60:
            break


def test_what_lies_face_down_is_told_to_omniscient_alone_and_changes_nobody_elses_events(every_game):
    table, told = every_game.table, 0
    for state in positions(every_game, seed=4):
        if state.ply % 25 == 0 or state.is_terminal:
            log = state.event_log()
            before = {viewer: table.visible(log, viewer) for viewer in (*range(state.num_players), SPECTATOR)}
            everything = state.event_rows(OMNISCIENT)
            is_added = everything[:, KIND] == table.face_down
            assert np.array_equal(everything[~is_added], table.visible(log, OMNISCIENT))
            assert np.array_equal(state.event_log(), log)
            for viewer, rows in before.items():
                assert np.array_equal(state.event_rows(viewer), rows)
                assert not (rows[:, KIND] == table.face_down).any()
            told += is_added.sum()
            if not state.is_terminal:
                with pytest.raises(HiddenInformationError):
                    state.determinize(0, 1).event_rows(OMNISCIENT)
        if state.ply > 50:
            break
    assert told or not any(UNKNOWN in pile for pile in every_game.new_state(seed=0).table(SPECTATOR).piles[:1])


@pytest.mark.parametrize(
    ("name", "pile"),
    [("rummikub_v0", "pool"), ("gin_rummy_v0", "stock"), ("kasino_v0", "stock"), ("briscola_v0", "stock")],
)
def test_cards_are_drawn_in_the_order_in_which_they_are_told_to_lie(name, pile):
    state = get_game(name).new_state(seed=5)
    order = [event.token for event in state.events() if event.kind == "lies_face_down"]
    order = order[::-1] if state.game.table.pile_of[state.game.table.pile_ids[pile]][0].ordered else order
    dealt = len(state.events())
    while not state.is_terminal and state.ply < 60:
        state.apply(state.policy_action("random", state.ply))
    new = state.events()[dealt:]
    first_deal = itertools.takewhile(lambda event: event.kind not in ("clear_table", "new_stock", "shuffle"), new)
    drawn = [event.token for event in first_deal if event.source == (pile, None)]
    assert len(drawn) > 3
    assert drawn == order[: len(drawn)]


def test_the_whole_log_of_a_copy_is_its_own():
    state = LEDUC.new_state(seed=3)
    before = state.event_rows(OMNISCIENT).copy()
    twin = state.clone()
    play(twin, [CALL, CALL])
    assert len(twin.event_rows(OMNISCIENT)) > len(before)
    assert np.array_equal(state.event_rows(OMNISCIENT), before)
    assert twin.folded_table(OMNISCIENT) == twin.table(OMNISCIENT)
    play(state, [RAISE])
    assert state.folded_table(OMNISCIENT) == state.table(OMNISCIENT)
    before[:] = 0
    assert state.event_rows(OMNISCIENT).any()


# ---------------------------------------------------------------------------------------------------------------
# The public names


def test_the_public_names_of_every_game(every_game):
    for state in positions(every_game):
        n = state.num_players
        assert isinstance(n, int)
        assert isinstance(state.is_terminal, bool)
        assert state.current_player in (range(n) if not state.is_terminal else [TERMINAL_PLAYER])
        for values, kind in ((state.returns, float), (state.rewards, float), (state.active, bool)):
            assert [type(value) for value in values] == [kind] * n
        assert all(type(action) is int for action in state.legal_actions())
        assert bool(state.legal_actions()) != state.is_terminal
        assert state.phase in every_game.phases
        for player in range(n):
            observation = state.observation(player)
            assert (observation.dtype, observation.ndim) == (every_game.layout(state.options).dtype, 1)
            assert len(state.events(player)) == len(state.recap(player)) == len(state.event_rows(player))
            assert all(isinstance(line, str) and line for line in state.recap(player))
            assert len(state.information_state_key(player)) == 32
        for action in state.legal_actions():
            assert state.explain_illegal(action) == ""
            assert state.action_from_label(state.action_label(action)) == action


def test_views_and_facts_are_json(every_game):
    for state in positions(every_game, seed=3):
        for viewer in [*range(state.num_players), SPECTATOR, OMNISCIENT]:
            view = state.view(viewer)
            assert json.loads(json.dumps(view)) == view
            to_act = viewer == state.current_player and not state.is_terminal
            assert [choice["action"] for choice in view["choices"]] == (state.legal_actions() if to_act else [])
            assert bool(view["prompt"]) == to_act
        for player in range(state.num_players):
            assert json.loads(json.dumps(state.facts(player))) == state.facts(player)


def test_the_table_in_a_view_hides_what_others_hold():
    state = HIGH_CARD.new_state(deck="c4 c2 c0 c1 c3")
    state.apply(SWAP)
    assert table_texts(state.view(0))["piles"] == {
        "stock": ["?"], "hand": [["c1"], ["?"]], "aside": [["c4"], []], "upcard": ["c0"],
    }  # fmt: skip
    assert table_texts(state.view(1))["piles"]["hand"] == [["?"], ["c2"]]
    assert table_texts(state.view(1))["piles"]["aside"] == [["?"], []]
    assert table_texts(state.view(SPECTATOR))["piles"]["hand"] == [["?"], ["?"]]
    assert table_texts(state.view(OMNISCIENT))["piles"]["stock"] == ["c3"]


def test_repr_and_str_can_be_read():
    state = LEDUC.new_state(seed=7, deck="K Q J", max_raises=1)
    assert repr(state) == "<leduc_poker_v0 max_raises=1 seed=7 ply=0 player_0 to act>"
    assert "K" in str(state)
    assert str(state).startswith(repr(state))
    play(state, [RAISE, FOLD])
    assert repr(state) == "<leduc_poker_v0 max_raises=1 seed=7 ply=2 over, returns [1.0, -1.0]>"


def test_every_game_renders_for_every_viewer(every_game):
    state = midway(every_game)
    for viewer in [*range(state.num_players), SPECTATOR, OMNISCIENT]:
        plain = state.render(viewer)
        assert plain
        assert "\x1b" not in plain
        assert "[/" not in plain
        assert state.render(viewer, colour=True)
    assert state.render(0) != state.render(OMNISCIENT)


def test_what_is_returned_is_the_callers_own():
    state = LEDUC.new_state(seed=1)
    before = state.record_bytes()
    state.legal_actions().clear()
    state.observation(0)[:] = 9
    state.action_mask()[:] = 9
    state.returns[0] = 9
    state.actions.append(9)
    with pytest.raises(ValueError, match="read-only"):
        state.record["chips_in"] = 9
    with pytest.raises(ValueError, match="read-only"):
        state.record.chips_in[0] = 9
    state.event_rows(0)[:] = 9
    table_texts(state.view(0)).clear()
    assert state.record_bytes() == before
    assert state.legal_actions() == [CALL, RAISE]
    assert state.observation(0).max() == 1
    assert (state.returns, state.actions) == ([0, 0], [])
    assert state.folded_table(0) == state.table(0)


def test_the_action_mask_is_zero_for_who_is_not_to_act():
    state = LEDUC.new_state(seed=1)
    assert state.action_mask().tolist() == state.action_mask(0).tolist() == [0, 1, 1]
    assert state.action_mask(1).tolist() == [0, 0, 0]
    assert state.action_mask().dtype == np.int8
    play(state, [RAISE, FOLD])
    assert state.action_mask().tolist() == [0, 0, 0]


@pytest.mark.parametrize("player", [-1, 2, "0", None, 1.0])
def test_a_player_who_is_none_is_refused(player):
    state = LEDUC.new_state(seed=1)
    for call in (state.observation, state.facts, state.information_state_key, lambda p: state.determinize(p, 0)):
        with pytest.raises(ValueError, match="players are 0 to 1"):
            call(player)
    if player != SPECTATOR:
        for call in (state.view, state.recap, state.events, state.table, state.render):
            with pytest.raises(ValueError, match="players are 0 to 1"):
                call(player)


# ---------------------------------------------------------------------------------------------------------------
# Seeds and explicit decks


def test_the_seed_decides_everything_that_is_left_open(every_game):
    bytes_of = {seed: every_game.new_state(seed=seed).record_bytes() for seed in (0, 1, 2**63 - 1)}
    assert len(set(bytes_of.values())) == 3
    assert all(every_game.new_state(seed=seed).record_bytes() == found for seed, found in bytes_of.items())
    assert every_game.new_state().seed != every_game.new_state().seed


@pytest.mark.parametrize("seed", [-1, 2**63, 1.0, "1", True])
def test_a_seed_that_is_none_is_refused(seed):
    with pytest.raises(ValueError, match="a seed is an integer from 0 to 2"):
        KUHN.new_state(seed=seed)


@pytest.mark.parametrize("deck", ["K J Q", "k,j,Q", [2, 0, 1], np.array([2, 0, 1])])
def test_an_explicit_deck_is_text_or_tokens_in_dealing_order(deck):
    state = LEDUC.new_state(deck=deck)
    assert table_texts(state.view(OMNISCIENT))["piles"]["hand"] == [["K"], ["J"]]
    play(state, [CALL, CALL])
    assert table_texts(state.view(0))["piles"]["public"] == ["Q"]
    assert state.deck.tolist() == [2, 0, 1]


def test_what_a_deck_leaves_out_comes_from_the_seed():
    states = [LEDUC.new_state(seed=seed, deck="K") for seed in range(30)]
    assert {tuple(state.record.deck[:1]) for state in states} == {(2,)}
    assert {int(state.record.deck[1]) for state in states} == {0, 1, 2}
    again = LEDUC.new_state(seed=3, deck="K")
    assert again.record_bytes() == states[3].record_bytes()


def test_a_whole_deck_leaves_nothing_to_the_seed(every_game):
    options = every_game.make_options()
    is_dice = every_game.rolled(options) is not None
    if is_dice:
        faces, dice = every_game.rolled(options)
        tokens = [k % faces for k in range(dice)]
    else:
        tokens = every_game.deck(options).tolist()
    random.Random(1).shuffle(tokens)

    def piles(state):
        return state.table(OMNISCIENT).normal()[is_dice]  # counters may show dice, which decks do not decide

    first, second = (piles(every_game.new_state(seed=seed, deck=tokens)) for seed in (0, 1))
    assert first == second
    state = every_game.new_state(deck=every_game.deck_text(tokens))
    assert state.deck.tolist() == tokens
    assert piles(state) == first
    assert piles(every_game.new_state(deck=tokens[::-1])) != first


@pytest.mark.parametrize(
    ("game", "deck", "message"),
    [
        (KUHN, "K A", "'A' is not one of J, Q, K"),
        (KUHN, "K K", "kuhn_poker_v0: K appears too often in the explicit deck"),
        (KUHN, "K R3", "kuhn_poker_v0: token 3 is not in this game"),
        (KUHN, [2, -1], "token -1 is not in this game"),
        (KUHN, "  ", "an explicit deck needs at least one card"),
        (LEDUC, "Kc", "'Kc' is not one of J, Q, K"),
        (LEDUC, "K K K", "K appears too often"),
    ],
)
def test_a_deck_that_cannot_be_dealt_is_refused(game, deck, message):
    with pytest.raises(DeckError) as caught:
        game.new_state(deck=deck)
    assert message in str(caught.value)


def test_deals_can_be_listed_where_they_are_few(every_game):
    if not every_game.can_list_deals():
        with pytest.raises(NotImplementedError, match=rf"{every_game.name}.* has too many deals"):
            every_game.enumerate_deals()
        return
    deals = every_game.enumerate_deals()
    assert sum(p for _, p in deals) == pytest.approx(1)
    assert len({deck for deck, _ in deals}) == len(deals)
    for deck, _ in deals[:5]:
        assert every_game.new_state(deck=deck).current_player == 0


# ---------------------------------------------------------------------------------------------------------------
# Illegal actions


@pytest.mark.parametrize(
    ("actions", "wrong", "message"),
    [
        ([], FOLD, "leduc_poker_v0: player_0 may not fold: nothing is owed, so there is nothing to fold to (rules.md "),
        (
            [RAISE, RAISE],
            RAISE,
            "player_0 may not raise: the round has had its 2 raises (rules.md 3.2); legal: fold (0)",
        ),
        ([RAISE], 3, "there is no action 3; actions are 0 to 2"),
        ([], -1, "there is no action -1; actions are 0 to 2"),
        ([RAISE, FOLD], CALL, "action 1 after the game is over; nothing is legal any more"),
        ([], FORFEIT + 1, "player_1 cannot forfeit now: player_0 is to act"),
        ([], 10**30, "cannot forfeit"),
        ([], 1.0, "an action is an integer; got 1.0"),
        ([], True, "an action is an integer; got True"),
        ([], "call", "an action is an integer; got 'call'"),
        ([], None, "an action is an integer; got None"),
    ],
)
def test_an_illegal_action_is_refused_with_a_reason_and_changes_nothing(actions, wrong, message):
    state = play(LEDUC.new_state(seed=3), actions)
    before = state.to_bytes()
    with pytest.raises(IllegalActionError) as caught:
        state.apply(wrong)
    assert message in str(caught.value)
    assert state.to_bytes() == before
    assert state.actions == actions


REFUSALS = 60_000  # that the next test looks at, in games that have many actions


@pytest.mark.rotating
def test_every_refusal_of_every_game_names_the_rule(every_game):
    num_actions = every_game.num_actions(every_game.make_options())
    most = max(3, REFUSALS // num_actions)
    for state in itertools.islice(positions(every_game, seed=5), most):
        if state.is_terminal:
            return
        before = state.record_bytes()
        for action in {*range(num_actions + 2)} - set(state.legal_actions()):
            reason = r"\(rules.md \d+\.\d+" if action < num_actions else f"no action {action}; actions are 0 to"
            with pytest.raises(IllegalActionError, match=reason):
                state.apply(action)
            assert state.explain_illegal(action)
        assert state.record_bytes() == before


def test_numpy_integers_are_actions():
    state = LEDUC.new_state(seed=1)
    for action in (np.int64(CALL), np.int8(CALL), np.uint16(CALL)):
        state.clone().apply(action)


def test_labels_lead_back_to_actions():
    state = LEDUC.new_state(seed=1)
    assert [state.action_label(action) for action in state.legal_actions()] == ["check", "bet"]
    assert state.action_from_label("  CHECK ") == CALL
    play(state, [RAISE])
    assert state.action_from_label("raise") == RAISE
    with pytest.raises(
        IllegalActionError, match=r"no legal action reads 'check'; legal: fold \(0\), call \(1\), raise"
    ):
        state.action_from_label("check")
    for action in (-1, 3):
        with pytest.raises(IllegalActionError, match="leduc_poker_v0 has actions 0 to 2"):
            state.action_label(action)


# ---------------------------------------------------------------------------------------------------------------
# Copies and saved states


def by_bytes(state):
    return state.game.from_bytes(state.to_bytes(), trusted=not state.has_history)


COPIES = [State.clone, copy.copy, copy.deepcopy, lambda state: pickle.loads(pickle.dumps(state)), by_bytes]
every_copy = pytest.mark.parametrize("duplicate", COPIES, ids=["clone", "copy", "deepcopy", "pickle", "bytes"])


def shown(state, viewer=0):
    return (
        repr(state), state.record_bytes(), state.legal_actions(), state.actions, state.deck.tolist(), state.options,
        state.event_rows(viewer).tolist(), state.observation(viewer).tolist(), state.view(viewer),
    )  # fmt: skip


@every_copy
def test_a_copy_is_equal_and_independent(every_game, duplicate):
    state = midway(every_game, seed=2)
    state.events()  # a history that is there already is copied too
    before, twin = shown(state), duplicate(state)
    assert twin is not state
    assert shown(twin) == before
    action = twin.legal_actions()[0]
    twin.apply(action)
    assert shown(state) == before
    after = shown(twin)
    state.apply(action)
    assert shown(state) == after
    assert shown(duplicate(twin)) == after


@every_copy
def test_a_copy_of_a_twin_keeps_what_its_player_knows_and_no_more(duplicate):
    twin = play(LEDUC.new_state(seed=4), [RAISE]).determinize(1, seed=9)
    copied = duplicate(play(twin, [CALL, CALL]))
    assert shown(copied, 1) == shown(twin, 1)
    with pytest.raises(HiddenInformationError):
        copied.events(0)
    assert copied.determinize(1, 3).record_bytes() == twin.determinize(1, 3).record_bytes()


def test_a_saved_explicit_deck_and_options_come_back():
    state = play(LEDUC.new_state(seed=4, deck="K Q Q", raise_size=(3, 5)), [RAISE])
    copied = by_bytes(state)
    assert copied.options == state.options
    assert copied.deck.tolist() == [2, 1, 1]
    assert copied.events() == state.events()


def test_damaged_data_is_refused_wherever_the_damage_is():
    data = play(LEDUC.new_state(seed=4, deck="K Q"), [RAISE]).to_bytes()
    for cut in [*range(0, len(data), 7), len(data) - 1]:
        with pytest.raises(FormatError):
            LEDUC.from_bytes(data[:cut])
    for place in range(0, len(data), 5):
        damaged = bytearray(data)
        damaged[place] ^= 1
        with pytest.raises(FormatError):
            LEDUC.from_bytes(bytes(damaged))
    for extra in (b"\0", b"x" * 8):
        with pytest.raises(FormatError):
            LEDUC.from_bytes(data + extra)


@pytest.mark.parametrize("data", [b"", b"\x80\x04N.", b"cardenvs-state-0\n{}", b"{}"])
def test_foreign_data_is_refused(data):
    with pytest.raises(FormatError, match="this is not a saved cardenvs state"):
        LEDUC.from_bytes(data)


def test_a_state_of_another_game_is_refused():
    with pytest.raises(FormatError, match="the saved state is of 'kuhn_poker_v0', not of leduc_poker_v0"):
        LEDUC.from_bytes(KUHN.new_state(seed=1).to_bytes())


@pytest.mark.parametrize(
    "change",
    [
        {"layout": lambda options: Layout((Section("other", 3, "another layout"),))},
        {"state_dtype": KUHN.state_dtype},
        {"options": KUHN.options},
    ],
    ids=["layout", "record", "options"],
)
def test_a_state_of_another_version_is_refused(change):
    other = dataclasses.replace(LEDUC, **change)
    with pytest.raises(FormatError, match="another version of cardenvs"):
        other.from_bytes(LEDUC.new_state(seed=1, ante=2).to_bytes())


# ---------------------------------------------------------------------------------------------------------------
# Determinized twins


def test_a_twin_keeps_what_its_player_knows(every_game):
    for state in positions(every_game, seed=6):
        for player in range(state.num_players):
            twin = state.determinize(player, seed=state.ply)
            assert shown(twin, player)[6:] == shown(state, player)[6:]
            assert twin.information_state_key(player) == state.information_state_key(player)


def test_a_twin_varies_what_its_player_cannot_know_and_the_seed_decides_it():
    state = HIGH_CARD.new_state(deck="c4 c2 c0 c1 c3")
    hands = {int(state.determinize(0, seed).record.hand[1]) for seed in range(40)}
    assert hands == {1, 2, 3}
    assert state.determinize(0, 5).record_bytes() == state.determinize(0, 5).record_bytes()
    play(state, [TAKE])
    assert {int(state.determinize(1, seed).record.hand[0]) for seed in range(20)} == {0}  # seen to take it


def test_a_twin_has_no_events_of_other_viewers():
    twin = play(LEDUC.new_state(seed=4), [RAISE]).determinize(1, seed=9)
    for call in (twin.events, twin.recap, twin.folded_table, twin.information_state_key, twin.event_rows):
        call(1)
        with pytest.raises(HiddenInformationError, match="a determinized twin of what player_1 knows"):
            call(0)
    for viewer in (SPECTATOR, OMNISCIENT):
        with pytest.raises(HiddenInformationError):
            twin.events(viewer)
    with pytest.raises(HiddenInformationError):
        twin.determinize(0, 1)


def test_a_twin_does_not_carry_what_its_player_cannot_know():
    state = play(LEDUC.new_state(seed=12345, deck="K J Q"), [RAISE])
    state.events()
    twin = state.determinize(1, seed=9)
    assert (twin.seed, twin.deck.tolist(), twin.actions) == (9, [], [])
    assert int(twin.record.seed) == 9
    assert b"12345" not in twin.to_bytes()
    assert (12345).to_bytes(8, "little") not in twin.to_bytes()


def test_a_twin_plays_on_and_its_player_goes_on_seeing():
    state = play(LEDUC.new_state(seed=4), [RAISE])
    twin = state.determinize(1, seed=9)
    before = len(twin.events(1))
    play(twin, [CALL, CALL])
    assert [event.kind for event in twin.events(1)[before:]] == ["call", "public_card", "check"]
    assert twin.folded_table(1) == twin.table(1)
    assert twin.actions == [CALL, CALL]
    assert not twin.has_history
    assert state.has_history


# ---------------------------------------------------------------------------------------------------------------
# Information states


def test_the_event_log_says_who_sees_what():
    state = HIGH_CARD.new_state(seed=1)
    log = state.event_log()
    assert np.array_equal(state.game.table.visible(log, 0), state.event_rows(0))
    deals = [row[VISIBLE] for row in log if state.game.table.kinds[row[KIND]].name == "deal"]
    assert deals == [1, 2]
    log[:] = 0
    assert state.event_log().any()
    with pytest.raises(ValueError, match="does not go back to the deal"):
        state.determinize(0, seed=1).event_log()


def test_an_information_state_tells_apart_whatever_its_player_has_seen_or_done(every_game):
    for player in range(min(2, every_game.make_options().num_players)):
        keys: list[str] = []
        events, actor = 0, None
        for state in positions(every_game, seed=8):
            key = state.information_state_key(player)
            if actor not in (None, player) and len(state.events(player)) == events:
                assert key == keys[-1]  # done in secret: a choice of the setup, or a step of a turn being built
            else:
                assert key not in keys
            keys.append(key)
            events, actor = len(state.events(player)), state.current_player
        assert len(set(keys)) > len(keys) // 4


def test_an_information_state_is_the_same_whatever_the_player_cannot_see():
    decks = ["c4 c2 c0 c1 c3", "c4 c3 c0 c2 c1"]
    one, other = (play(HIGH_CARD.new_state(seed=k, deck=deck), [KEEP]) for k, deck in enumerate(decks))
    assert one.information_state_key(0) == other.information_state_key(0)
    assert one.information_state_key(1) != other.information_state_key(1)


def test_recall_is_perfect():
    # Both end with c1 in hand and c4 aside or not; who forgot what was held before could not tell them apart.
    first = play(HIGH_CARD.new_state(deck="c4 c2 c0 c1 c3"), [SWAP])
    second = play(HIGH_CARD.new_state(deck="c3 c2 c0 c1 c4"), [SWAP])
    assert first.record.hand[0] == second.record.hand[0]
    assert first.information_state_key(0) != second.information_state_key(0)
    assert first.information_state_key(1) == second.information_state_key(1)


# ---------------------------------------------------------------------------------------------------------------
# A state without history, from a batch


def test_a_state_from_a_batch_has_its_events_from_then_on():
    vec = make_vec("leduc_poker_v0", 4, seed=1)
    vec.reset()
    vec.step(np.full(4, RAISE))
    state = vec.state(2)
    assert (state.ply, state.current_player, state.events(), state.has_history) == (1, 1, [], False)
    assert state.observation(1).tolist() == vec.observe(1)[2].tolist()
    play(state, [CALL, CALL, CALL])
    kinds = [event.kind for event in state.events(0)]
    assert kinds[:3] == ["call", "public_card", "check"]
    for duplicate in COPIES:
        assert duplicate(state).events() == state.events()
        assert duplicate(state).record_bytes() == state.record_bytes()
    assert [event.kind for event in state.determinize(1, 0).events(1)] == kinds
    vec.step(np.full(4, CALL))
    assert state.ply == 4  # its own


# ---------------------------------------------------------------------------------------------------------------
# Policies and simulation


def test_a_policy_chooses_for_the_player_to_act():
    state = HIGH_CARD.new_state(deck="c4 c2 c0 c1 c3")
    assert state.policy_action("greedy", seed=0) == KEEP
    assert {state.policy_action("random", seed) for seed in range(30)} == {KEEP, SWAP, TAKE}
    assert state.policy_action("random", 7) == state.policy_action("random", 7)
    with pytest.raises(
        PolicyNotFoundError, match="high_card_v0 has no policy 'clever'; its policies are: random, greedy"
    ):
        state.policy_action("clever", 0)


def test_a_simulation_finds_what_an_action_is_worth():
    state = play(KUHN.new_state(deck="Q K J"), [1])  # the king, facing a bet: a call wins 2, a fold loses 1
    assert state.simulate([0, 1], seed=3, rounds=10).tolist() == [[-1, 2]] * 10
    state = play(KUHN.new_state(deck="K Q J"), [1])  # the queen, facing a bet: half of the deals are won
    assert abs(state.simulate([1], seed=3, rounds=400).mean()) < 2 * 0.2


def test_a_simulation_changes_nothing_and_its_rounds_come_one_by_one():
    state = LEDUC.new_state(seed=4)
    before = state.to_bytes()
    whole = state.simulate([CALL, RAISE], seed=3, rounds=10)
    parts = [state.simulate([CALL, RAISE], seed=3, rounds=5, first_round=first) for first in (0, 5)]
    assert whole.tolist() == np.concatenate(parts).tolist()
    assert state.simulate([CALL, RAISE], seed=4, rounds=10).tolist() != whole.tolist()
    assert state.simulate([RAISE], seed=3, rounds=10)[:, 0].tolist() == whole[:, 1].tolist()
    assert state.to_bytes() == before


def test_a_simulation_of_what_is_illegal_is_refused():
    state = LEDUC.new_state(seed=4)
    with pytest.raises(IllegalActionError):
        state.simulate([FOLD], seed=0, rounds=1)
    play(state, [RAISE, FOLD])
    for call in (lambda: state.simulate([], seed=0, rounds=1), lambda: state.policy_action("random", 0)):
        with pytest.raises(IllegalActionError, match="after the game is over"):
            call()


# ---------------------------------------------------------------------------------------------------------------
# A game's own State


class BraggingState(State):
    """A State with an extra."""

    def best_card(self):
        return int(self.record.hand[: self.num_players].max())


def test_a_game_may_name_a_state_class_of_its_own():
    game = dataclasses.replace(HIGH_CARD, state_class=f"{__name__}:BraggingState")
    state = game.new_state(deck="c1 c3")
    assert state.best_card() == 3
    assert type(by_bytes(state)) is type(state.clone()) is type(state.determinize(0, 1)) is BraggingState


def test_every_deliberate_error_has_one_base():
    from cardenvs.core import errors

    classes = [c for _, c in inspect.getmembers(errors, inspect.isclass) if c.__module__ == errors.__name__]
    assert all(issubclass(c, CardenvsError) for c in classes)


def test_arguments_of_another_type_are_refused():
    state = get_game("leduc_poker_v0").new_state(seed=1)
    for player in (99, -1, "x", 1.5):
        with pytest.raises(ValueError, match="players are 0 to 1"):
            state.action_mask(player)
    with pytest.raises(IllegalActionError, match="a label is a text"):
        state.action_from_label(5)
    for last in (1.5, -1, "x"):
        with pytest.raises(ValueError, match="last"):
            state.recap(0, last=last)
