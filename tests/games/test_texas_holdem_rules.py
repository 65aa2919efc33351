"""Texas hold'em beyond the worked hands: options, ids, exact amounts, showdowns, events, places, whole tournaments."""

import itertools
import random

import numpy as np
import pytest
from holdem import BOARD, last, play, positions, table

from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import DeckError, IllegalActionError, OptionError
from cardenvs.core.events import SPECTATOR
from cardenvs.core.game_view import table_texts
from cardenvs.core.kernel import COMPILED
from cardenvs.core.replay import Replay
from cardenvs.games.texas_holdem import GAME
from cardenvs.games.texas_holdem.actions import ALL_IN, FRACTION_0, FULL_RAISE_0, MIN_RAISE, RAISE_TO, raise_action
from cardenvs.kits.cards import parse_cards

TOURNAMENTS = 100 if COMPILED else 5


def labels(state):
    return [state.action_label(action) for action in state.legal_actions()]


# ---------------------------------------------------------------------------------------------------------------
# Options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stacks": [100, 100], "num_players": 6}, "stacks takes 6 numbers, one per seat; got 2"),
        ({"stacks": [100]}, "num_players takes an integer from 2 to 10; got 1"),
        ({"blinds": [20, 10]}, "blinds takes a small and a big blind"),
        ({"blinds": [20]}, "blinds takes a small and a big blind"),
        ({"levels": [10, 20, 30]}, "levels takes pairs"),
        ({"levels": [10, 20, 40, 30]}, "a small blind is larger"),
        ({"button": 6}, "button takes a seat from 0 to 5; got 6"),
        ({"payouts": [3, 2, 1]}, "must be set together"),
        ({"returns": "payouts"}, "must be set together"),
        ({"returns": "payouts", "payouts": [1, 1, 1], "num_players": 2}, "payouts takes up to 2"),
        ({"num_players": 11}, "num_players takes an integer from 2 to 10"),
        ({"num_players": 3, "stacks": [0, 0, 100], "format": "cash"}, "only in cash, with two or more other seats"),
        ({"num_players": 3, "stacks": [0, 50, 100]}, "only in cash"),
    ],
)
def test_options_that_do_not_fit(options, message):
    with pytest.raises(OptionError, match=message):
        GAME.new_state(seed=0, **options)


@pytest.mark.parametrize("seed", range(20))
def test_who_can_be_asked_first_is_asked(seed):
    """Environments refuse options exactly when nobody would be asked anything in the first hand (10.1)."""
    chooser = random.Random(seed)
    for _ in range(20):
        n = chooser.randint(2, 4)
        stacks = [chooser.randint(1, 25) for _ in range(n)]
        ante, button = chooser.choice((0, 3)), chooser.randrange(n)
        state = GAME.new_state(seed=0, num_players=n, stacks=stacks, ante=ante, button=button, format="cash")
        if state.is_terminal:
            with pytest.raises(OptionError, match="leave nobody anything to decide"):
                state.options.check_environment()
        else:
            state.options.check_environment()


def test_1_3_and_3_1_stacks_and_buttons():
    state = table({3: 150}, button=4)
    assert state.stacks == [1980, 2000, 2000, 150, 2000, 1990]
    assert positions(state) == (4, 5, 0)
    first = {positions(GAME.new_state(seed=seed, button_start="random"))[0] for seed in range(60)}
    assert first == set(range(6))


def test_2_3_blinds_replace_the_levels():
    state = GAME.new_state(seed=0, blinds=(50, 100), hands_per_level=1)
    for _ in range(3):
        number = state.record.hand_number
        while state.record.hand_number == number:
            state.act("fold" if state.legal_options().call_amount else "check")
    assert (state.record.small_blind, state.record.big_blind, state.record.hands_to_level) == (50, 100, 0)


def test_3_5_moving_button():
    state = GAME.new_state(seed=0, num_players=4, button_rule="moving")
    play(state, "3:fold 0:fold")
    state.apply(FORFEIT + 1)
    assert positions(state) == (2, 3, 0)
    play(state, "2:fold")
    state.apply(FORFEIT + 3)
    assert positions(state) == (0, 0, 2)


def test_3_6_cards_go_out_from_the_buttons_left_and_are_written_seat_by_seat():
    state = GAME.new_state(seed=0, num_players=3, format="cash", deck="As Ah Ks Kh Qs Qh 2c 3c 4c 5c 6c")
    dealt = [(e.player, GAME.view.token_label(e.token)) for e in state.events() if e.kind == "deal"]
    assert dealt == [(1, "K♠"), (2, "Q♠"), (0, "A♠"), (1, "K♥"), (2, "Q♥"), (0, "A♥")]
    heads_up = GAME.new_state(seed=0, num_players=2, format="cash")
    assert [e.player for e in heads_up.events() if e.kind == "deal"] == [1, 0, 1, 0]


@pytest.mark.parametrize("burn", [False, True])
def test_3_7_board_and_burnt_cards(burn):
    state = play(table(num_players=2, burn_cards=burn), "0:call 1:check")
    assert [GAME.view.token_label(card) for card in state.table(SPECTATOR).piles[2]] == ["2♣", "7♦", "9♥"]
    assert len(state.table(SPECTATOR).piles[1]) == burn
    play(state, "1:check 0:check")
    assert len(state.table(SPECTATOR).piles[1]) == 2 * burn


def test_4_1_antes():
    state = table({4: 3}, ante=5)
    assert state.pot == 5 * 5 + 3 + 30
    assert last(state, "post_ante") == [(1, 5), (2, 5), (3, 5), (4, 3), (5, 5), (0, 5)]
    assert state.legal_options().call_amount == 20
    assert state.current_player == 3
    play(state, "3:call 5:fold 0:fold 1:fold")
    assert state.legal_options().min_raise_to == 40


# ---------------------------------------------------------------------------------------------------------------
# Ids and exact amounts


def test_4_10_fractions_of_the_pot():
    state = play(table(num_players=2), "0:call 1:check")  # a pot of 40
    assert labels(state) == [
        "check", "bet 20, the least", "bet 30, 3/4 pot", "bet 40, pot", "bet 60, 3/2 pot", "bet 80, 2x pot",
        "bet 1980, all in",
    ]  # fmt: skip
    state.act("bet", 35)  # a pot of 75, of 110 with the call; 1/3 of it is 36.67, 3/4 is 82.5
    assert labels(state) == [
        "fold", "call 35", "raise to 70, the least", "raise to 72, 1/3 pot", "raise to 90, 1/2 pot",
        "raise to 118, 3/4 pot", "raise to 145, pot", "raise to 200, 3/2 pot", "raise to 255, 2x pot",
        "raise to 1980, all in",
    ]  # fmt: skip


def test_4_10_totals_that_have_another_id():
    state = play(table([100, 2000]), "0:call 1:check 1:check")  # seat 0 has 80, the pot is 40
    assert state.legal_actions() == [1, MIN_RAISE, 5, 6, 7, ALL_IN]
    assert "a bet is 20 at least" in state.explain_illegal(FRACTION_0)
    assert "same total as a lower id" in state.explain_illegal(FRACTION_0 + 1)
    assert "takes the whole stack" in state.explain_illegal(FRACTION_0 + 5)
    short = play(table([2000, 2000, 100]), "0:60 1:fold")  # the smallest raise would go to 100, which is all seat 2 has
    assert short.legal_actions() == [0, 1, ALL_IN]


def test_4_10_full_has_an_id_for_every_total():
    state = table([60, 200, 200], betting="full")
    assert state.legal_actions() == [0, 1, *range(FULL_RAISE_0 + 40, FULL_RAISE_0 + 61)]
    assert state.action_from_label("raise to 45") == FULL_RAISE_0 + 45
    assert state.action_from_label("RAISE to 60, all in") == FULL_RAISE_0 + 60
    state.apply(FULL_RAISE_0 + 45)
    assert state.legal_options().min_raise_to == 70
    assert "the stack reaches to 200" in state.explain_illegal(FULL_RAISE_0 + 201)
    assert GAME.num_actions(state.options) == FULL_RAISE_0 + 460 + 1


@pytest.mark.parametrize("betting", ["pot_fractions", "fcpa", "full"])
def test_4_10_exact_amounts_in_every_mode(betting):
    state = table(betting=betting)
    state.act("raise_to", 47)
    assert state.actions == [raise_action(state.options, 47)]
    state.act("all_in")
    assert state.record.to_match == 2000
    replay = Replay.of(state)
    assert replay.state_at(1).record.to_match == 47
    replay.verify()
    with pytest.raises(IllegalActionError, match="the stack does not go beyond what is to be called"):
        play(state, "5:call").act("raise_to", 2001)


def test_4_11_acting_in_words():
    state = table()
    for kind, amount, message in [
        ("check", None, "may not check now; may fold, call, raise, all_in"),
        ("bet", 50, "may not bet now"),
        ("raise", None, "takes the total for the street"),
        ("fold", 3, "takes no amount"),
        ("shove", None, "there is no 'shove'"),
        ("raise_to", 2001, "the stack reaches to 2000"),
        ("raise_to", 39, "a raise goes to 40 at least"),
        ("raise_to", 2.5, "takes a number of chips"),
        ("raise_to", -1, "takes a number of chips"),
    ]:
        with pytest.raises(IllegalActionError, match=message):
            state.act(kind, amount)
    assert state.ply == 0
    state.act("raise_to", np.int64(60))
    state.act("all_in")
    assert state.record.history_amount[1] == 2000


def test_legal_options():
    state = play(table({0: 500}), "3:60 4:fold 5:fold")
    options = state.legal_options()
    assert options.player == 0
    assert options.kinds == ("fold", "call", "raise", "all_in")
    assert (options.call_amount, options.min_raise_to, options.max_raise_to) == (60, 100, 500)
    assert (options.pot, options.stack, options.effective_stack) == (90, 500, 500)
    assert options.commits == {"fold": 0, "call": 60, "raise": 100, "all_in": 500}
    play(state, "0:fold 1:call 2:call")
    options = state.legal_options()
    assert options.kinds == ("check", "bet", "all_in")
    assert options.commits == {"check": 0, "bet": 20, "all_in": 1940}


def test_effective_stack_is_what_can_be_called():
    state = table([2000, 300])
    assert state.legal_options().effective_stack == 290  # seat 0 has 10 in
    assert play(state, "0:call").legal_options().effective_stack == 280


def test_pots_so_far_become_those_that_are_settled():
    def pots(state):
        return [(pot["chips"], pot["players"]) for pot in state.facts(3).get("main_and_side_pots", [])]

    everybody, rich = ["player_0", "player_1", "player_2", "player_3"], ["player_0", "player_3"]
    state = play(table([2000, 300, 600, 2000], blinds=(50, 100)), "3:200 0:call")
    assert pots(state) == []
    play(state, "1:all 2:all")
    assert pots(state) == [(1000, everybody), (300, ["player_0", "player_2", "player_3"])]  # 3 and 0 may still call
    play(state, "3:call 0:call 3:300 0:call")
    assert pots(state) == [(1200, everybody), (900, ["player_0", "player_2", "player_3"]), (600, rich)]
    told = pots(state)
    play(state, "3:check 0:check 3:check 0:check")
    assert [event.value for event in state.events() if event.kind == "settle_pot"] == [chips for chips, _ in told]


# ---------------------------------------------------------------------------------------------------------------
# Showdown


def shown(state):
    return [e.player for e in state.events(SPECTATOR) if e.kind == "show"][::2]


HANDS = {0: "As Ah", 1: "Ks Kh", 2: "Qs Qh"}
CHECKS = " 1:check 2:check 0:check" * 2


def test_6_1_all_in_hands_are_face_up():
    script = "0:all 1:call 2:fold"
    assert shown(play(table(num_players=3, hands=HANDS), script)) == [0, 1]
    order = [e.kind for e in play(table(num_players=3, hands=HANDS), script).events()]
    assert order.index("show") < order.index("flop")
    # Otherwise by 6.2, at the end: seat 1 is first from the button's left, and seat 0 beats it.
    late = play(table(num_players=3, hands=HANDS, reveal_all_in=False), script)
    assert shown(late) == [1, 0]


def test_6_2_the_last_aggressor_of_the_river_shows_first():
    state = play(table(num_players=3, hands=HANDS), f"0:call 1:call 2:check{CHECKS} 1:check 2:20 0:call 1:call")
    assert shown(state) == [2, 0]
    assert last(state, "muck") == [(1, 0)]


def test_6_2_without_a_bet_the_buttons_left_shows_first():
    state = play(table(num_players=3, hands=HANDS), f"0:call 1:call 2:check{CHECKS} 1:check 2:check 0:check")
    assert shown(state) == [1, 0]
    assert last(state, "muck") == [(2, 0)]
    reversed_hands = {1: "As Ah", 2: "Ks Kh", 0: "Qs Qh"}
    state = play(table(num_players=3, hands=reversed_hands), f"0:call 1:call 2:check{CHECKS} 1:check 2:check 0:check")
    assert shown(state) == [1]


def test_6_2_a_beaten_hand_is_shown_for_a_side_pot():
    hands = {0: "As Ah", 1: "Ks Kh", 2: "Qs Qh"}  # seat 0 is all-in for the main pot; seat 1 beats seat 2 beside it
    state = table([100, 2000, 2000], hands=hands)
    play(state, "0:all 1:call 2:call 1:check 2:check 1:check 2:check 1:check 2:check")
    assert shown(state) == [1, 0]
    assert state.stacks == [300, 1900, 1900]
    state = table([2000, 100, 2000], hands={1: "As Ah", 0: "Ks Kh", 2: "Qs Qh"})
    play(state, "0:100 1:call 2:call 2:check 0:40 2:call 2:check 0:check 2:check 0:check")
    assert shown(state) == [1, 2, 0]


def test_6_3_mucked_and_folded_hands_stay_hidden():
    state = play(table(num_players=3, hands=HANDS), f"0:call 1:call 2:check{CHECKS} 1:check 2:check 0:check")
    view = table_texts(state.view(1))["piles"]["hand"]
    assert view[0] == ["A♠", "A♥"]
    assert view[2] == ["?", "?"]
    folded = play(table(num_players=3, hands=HANDS), "0:60 1:fold 2:fold")
    assert table_texts(folded.view(SPECTATOR))["piles"]["hand"][:3] == [["?", "?"], [], []]


# ---------------------------------------------------------------------------------------------------------------
# Places, payments, forfeits


def test_8_4_stacks_decide_after_max_hands():
    state = play_folding(GAME.new_state(seed=0, max_hands=2))
    assert state.is_terminal
    assert state.stacks == [2000, 1990, 2000, 2010, 2000, 2000]
    assert sorted(last(state, "place") + last(state, "shared_place")) == [
        (0, 2),
        (1, 6),
        (2, 2),
        (3, 1),
        (4, 2),
        (5, 2),
    ]
    assert state.returns == pytest.approx([0, -1, 0, 1, 0, 0])  # places 2 to 5 are worth 0.6, 0.2, -0.2, -0.6


def play_folding(state):
    while not state.is_terminal:
        state.act("fold" if state.legal_options().call_amount else "check")
    return state


@pytest.mark.parametrize(
    ("options", "returns"),
    [
        ({"returns": "placement"}, [-1, 0, 1]),
        ({"returns": "winner"}, [-0.5, -0.5, 1]),
        ({"returns": "payouts", "payouts": [50, 30]}, [0, 30, 50]),
        ({"returns": "chips"}, [-2000, -1000, 3000]),  # seat 1 has half of the chips that seat 0 lost
    ],
)
def test_8_5_what_places_pay(options, returns):
    state = GAME.new_state(seed=0, num_players=3, **options)
    state.apply(FORFEIT + 0)
    assert state.returns[0] == returns[0]
    state.apply(FORFEIT + 1)
    assert state.is_terminal
    assert state.returns == returns


def test_8_5_a_later_place_pays_no_more():
    with pytest.raises(OptionError, match="a place pays no more than the place before it"):
        GAME.make_options(returns="payouts", payouts=[0, 50])


def test_8_6_who_forfeits_folds_and_is_out():
    state = play(table(num_players=3, num_hands=2), "0:60 1:call 2:120")
    state.apply(FORFEIT + 0)
    assert state.current_player == 1
    assert state.rewards == [-2000, 970, 970]  # 1940 behind for the others, 60 in the pot
    play(state, "1:call 1:check 2:check 1:check 2:check 1:check 2:check")
    assert state.record.hand_number == 2
    assert positions(state) == (2, 2, 1)
    assert sum(state.stacks) + state.pot == 6000
    assert state.returns[0] == -2000
    assert sum(state.returns) == 0


@pytest.mark.parametrize("options", [{"format": "cash", "num_hands": 3}, {"returns": "chips"}])
def test_8_6_chips_won_before_are_lost_too(options):
    state = GAME.new_state(seed=0, num_players=2, **options)
    play(state, "0:fold")
    assert state.returns == [-10, 10]
    state.apply(FORFEIT + state.current_player)
    assert state.is_terminal
    assert state.returns == [2000, -2000]


def test_9_1_cash_pays_hand_by_hand():
    state = table(num_players=3, num_hands=3)
    play(state, "0:fold 1:fold")
    assert state.rewards == [0, -10, 10]
    assert positions(state) == (1, 2, 0)
    play(state, "1:fold 2:fold")
    assert state.returns == [10, -10, 0]


# ---------------------------------------------------------------------------------------------------------------
# Whole tournaments


def big_blinds(state):
    """The seat of every big blind, with the players in the game at that time."""
    seats, live = [], set(range(state.num_players))
    for event in state.events():
        if event.kind == "post_big_blind":
            seats.append((event.player, frozenset(live)))
        elif event.kind == "out":
            live.discard(event.player)
    return seats


def random_move(state, chooser):
    return chooser.choice(state.legal_actions())


def all_in_happy(state, chooser):
    legal = state.legal_actions()
    return legal[-1] if chooser.random() < 0.7 else chooser.choice(legal)


def careful(state, chooser):
    """Mostly checks, calls and folds, so that a tournament lasts."""
    legal = state.legal_actions()
    return chooser.choice(legal) if chooser.random() < 0.2 else legal[0]


def tight(state, chooser):
    return state.policy_action("tight_aggressive", chooser.randrange(1 << 60))


def test_the_stacks_say_how_many_play():
    assert GAME.new_state(format="cash", stacks=[500, 700, 900]).num_players == 3
    assert GAME.make_options(stacks=(50, 60)).num_players == 2


@pytest.mark.rotating
@pytest.mark.parametrize("choose", [random_move, all_in_happy, careful, tight])
def test_tournaments(choose):
    for seed in range(TOURNAMENTS if choose in (random_move, all_in_happy) else TOURNAMENTS // 5):
        chooser = random.Random(seed)
        n = chooser.randint(2, 10)
        ante = chooser.choice((0, 0, 5))
        state = GAME.new_state(seed=seed, num_players=n, ante=ante)
        total = 2000 * n
        while not state.is_terminal:
            state.apply(choose(state, chooser))
            assert sum(state.stacks) + state.pot == total
        assert sorted(state.stacks)[-1] == total
        placed = dict(last(state, "place"))
        shared = dict(last(state, "shared_place"))
        taken = sorted([*placed.values(), *shared.values()])
        assert sorted({*placed, *shared}) == list(range(n))
        assert all(place == k + 1 or taken[k - 1] == place for k, place in enumerate(taken))
        assert 1 in placed.values()
        assert sum(state.returns) == pytest.approx(0)
        if not ante:  # which can leave nothing to post
            check_big_blinds(big_blinds(state), n)


def check_big_blinds(seats, n):
    """Each big blind is the next player in the game after the last one: nobody skips it, nobody pays it twice."""
    for (before, _), (seat, live) in itertools.pairwise(seats):
        following = [(before + k) % n for k in range(1, n + 1)]
        assert seat == next(p for p in following if p in live)
        assert seat != before


def test_events_tell_the_story():
    state = table(num_players=3, hands=HANDS, stacks=[300, 2000, 2000])
    play(state, "0:all 1:call 2:fold")
    story = state.recap(SPECTATOR)
    for sentence in (
        "player_1 posts a small blind of 10.",
        "player_0 raises to 300.",
        "player_0 has no chips behind.",
        "player_1 calls, with 300 in on this street.",
        "player_2 folds.",
        "player_0 shows A♠.",
        "The river is 3♦.",
        "A pot of 620 is settled.",
        "player_0 wins 620.",
    ):
        assert sentence in story
    assert "player_0 is dealt A♠." in state.recap(0)
    assert "player_0 is dealt A♠." not in story


# ---------------------------------------------------------------------------------------------------------------
# What a player sees


def test_observation_by_name():
    state = play(table({4: 85}, hands={3: "As Ks"}), "3:60 4:all 5:fold 0:fold 1:fold 2:fold")
    layout = GAME.layout(state.options)
    seen = {name: part.tolist() for name, part in layout.split(state.observation(3)).items()}
    assert np.flatnonzero(seen["own_hand"]).tolist() == [0, 12]  # As, Ks
    assert seen["button"] == [0, 0, 0, 1, 0, 0]
    assert seen["big_blind"] == [0, 0, 0, 0, 0, 1]
    assert seen["to_act"] == [1, 0, 0, 0, 0, 0]
    assert seen["aggressor"] == [0, 1, 0, 0, 0, 0]
    assert seen["in_hand"] == [1, 1, 0, 0, 0, 0]
    assert seen["all_in"] == [0, 1, 0, 0, 0, 0]
    assert seen["stacks"][:3] == [97, 0, 100]
    assert seen["bets_by_own"] == pytest.approx([60 / 2000, 85 / 2000, 0, 0, 10 / 2000, 20 / 2000])
    assert seen["amounts"] == pytest.approx([175 / 20, 25 / 20, 0, 0])
    assert seen["amounts_by_own"] == pytest.approx([175 / 2000, 25 / 2000, 0, 0])
    assert seen["street_raises"][:6] == [1, 1, 0, 0, 0, 0]
    history = np.reshape(seen["history"], (24, 5))
    assert history[0] == pytest.approx([6 / 6, 0, 1, 0, 0])  # the big blind has folded
    assert history[5] == pytest.approx([1 / 6, 0, 0, 1, 3])  # the observer's raise to 60
    assert not history[6:].any()
    assert not any(seen["last_hand"])


def test_the_history_keeps_the_last_actions():
    state = play(table([20_000] * 2), "0:call 1:check")
    for k in range(30):
        state.act("raise_to" if k else "bet", 20 * (k + 1))
    history = np.reshape(GAME.layout(state.options).split(state.observation(0))["history"], (24, 5))
    assert history[:, 4].tolist() == list(range(30, 6, -1))


def observed(state, player):
    return {name: part.tolist() for name, part in GAME.layout(state.options).split(state.observation(player)).items()}


def test_6_4_the_hand_before_is_observed():
    state = play(table([200] * 3, num_hands=2, hands={1: "As Ah", 2: "Ks Kh"}), "0:fold 1:call 2:check")
    assert not any(observed(state, 1)["last_hand"])
    play(state, "1:20 2:call 1:check 2:check 1:check 2:check")
    assert state.record.hand_number == 2
    seen = observed(state, 1)
    cards = {card: mark for card, mark in enumerate(seen["last_hand"]) if mark}
    shown = {card: pytest.approx(1 / 4) for card in parse_cards("As Ah")}  # seat 2 has mucked
    assert cards == shown | dict.fromkeys(parse_cards(BOARD), 1)
    assert seen["last_in_hand"] == [1, 1, 0]
    assert seen["last_won"] == [2, -2, 0]
    assert observed(state, 0)["last_won"] == [0, 2, -2]
    play(state, "1:fold 2:fold")
    assert state.is_terminal
    assert not any(observed(state, 1)["last_hand"])  # of the last hand, in which nobody showed


def test_2_1_and_4_1_the_big_blind_antes_for_the_table():
    state = table({2: 30, 1: 15}, ante=20, ante_type="big_blind")
    assert state.stacks == [2000, 5, 0, 2000, 2000, 2000]  # the blind first, then what is left of the ante
    assert state.pot == 40
    assert [row for row in state.recap(0) if "ante" in row] == ["player_2 posts an ante of 10."]
    assert state.legal_options().call_amount == 20
    short = table({2: 15}, ante=20, ante_type="big_blind")
    assert short.pot == 25
    assert not any("ante" in row for row in short.recap(0))


def test_10_2_nobody_has_to_match_the_ante_for_the_table():
    hands = {3: "As Ah", 2: "Ks Kh"}
    state = play(table({3: 20}, ante=50, ante_type="big_blind", hands=hands), "3:call 4:fold 5:fold 0:fold 1:fold")
    assert state.is_terminal  # the big blind has nothing to match
    assert state.stacks[3] == 20 + 20 + 10 + 50  # call, big blind, small blind and the whole ante
    assert state.stacks[2] == 2000 - 70
    state = play(table({3: 10}, ante=50, ante_type="big_blind", hands=hands), "3:call 4:fold 5:fold 0:fold 1:call")
    play(state, "2:check 1:check 2:check 1:check 2:check 1:check 2:check")
    assert state.stacks[3] == 3 * 10 + 50  # the ante is in the first pot


def test_1_a_table_of_a_billion_chips():
    stacks = [400_000_000, 300_000_001, 299_999_999]
    state = table(stacks, blinds=(1_000_000, 2_000_000), hands={0: "As Ah", 1: "Ks Kh", 2: "Qs Qh"})
    assert np.isfinite(state.observation(0)).all()
    state = play(state, "0:399999999 1:all 2:all")
    assert state.stacks == [1_000_000_000, 0, 0]
    assert state.actions[0] == RAISE_TO + 399_999_999
    with pytest.raises(OptionError, match=r"up to 1,000,000,000 chips in all; these are 1,000,000,001"):
        table([400_000_001, *stacks[1:]])
    with pytest.raises(OptionError, match=r"for up to 100,000,000 chips .* these are 999,999,999"):
        table([399_999_999, *stacks[1:]], betting="full")
    with pytest.raises(IllegalActionError, match="takes a number of chips"):
        table().act("raise_to", 10**9 + 1)


def test_shown_cards_are_observed():
    state = play(table(num_players=2, hands={0: "As Ah", 1: "Ks Kh"}), "0:all 1:call")
    shown = GAME.layout(state.options).split(state.observation(0))["last_hand"]
    marks = {int(card): float(shown[card]) for card in np.flatnonzero(shown)}
    assert marks == pytest.approx({0: 1 / 3, 39: 1 / 3, 12: 2 / 3, 51: 2 / 3})


def test_decks_that_cannot_be_dealt():
    with pytest.raises(DeckError, match="appears too often"):
        GAME.new_state(seed=0, deck="As As")
