"""Rules of riichi: a test for each paragraph of rules.md, on explicit walls.

Hands that are left out are quiet: they have no pair and no two tiles that could be called for.
"""

from collections import Counter

import pytest

import cardenvs
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import IllegalActionError, OptionError
from cardenvs.core.events import SPECTATOR
from cardenvs.core.game_view import table_texts
from cardenvs.games.riichi import actions, state
from cardenvs.games.riichi.notation import parse_tiles
from cardenvs.games.riichi.tiles import LABELS

GAME = cardenvs.get_game("riichi_v0")
READY = "234m567m345p67s22s"  # waits for 5s and 8s


def start(*hands, draws="", dora="9p", **options):
    """The state after a deal: hands from the dealer on, the first indicator, the tiles drawn; others are quiet."""
    options = {"red_fives": "0" in "".join((*hands, dora, draws))} | options
    named = [parse_tiles(tiles) for tiles in (*hands, dora, draws)]
    left = Counter(GAME.deck(GAME.make_options(**options)).tolist())
    for tiles in named:
        left.subtract(tiles)
    dealt = [tiles or quiet_hand(left) for tiles in (named[: len(hands)] + [[]] * (4 - len(hands)))]
    deck = [face for tiles in dealt for face in tiles]
    return GAME.new_state(seed=1, deck=[*deck, *named[-2], *named[-1]], **options)


def quiet_hand(left):
    """Thirteen of the tiles left without a pair, and without two tiles of a suit that could be called for."""
    hand = [27 + k for k in range(7) if left[27 + k] > 0][:5]
    for suit in range(3):
        offset = max(range(3), key=lambda k: sum(left[9 * suit + k + step] > 0 for step in (0, 3, 6)))
        hand += [9 * suit + offset + step for step in (0, 3, 6) if left[9 * suit + offset + step] > 0]
    hand = hand[len(hand) - 13 :]
    assert len(hand) == 13
    left.subtract(hand)
    return hand


def act(game, *steps):
    """Apply actions by label. "2 pon" is the answer of player 2; all who are not named pass."""
    for step in steps:
        player, _, answer = step.partition(" ")
        wanted = int(player) if player in "0123" else None
        while game.record.phase >= state.ASKED and game.current_player != wanted:
            game.apply(actions.PASS)
        game.apply(game.action_from_label(step if wanted is None else answer))
    return game


def quiet_turns(game, number):
    """Let players discard what they draw."""
    for _ in range(number):
        while game.record.phase >= state.ASKED:
            game.apply(actions.PASS)
        game.apply(int(game.record.drawn))
    return game


def answered(game):
    """Let all who are asked pass."""
    while not game.is_terminal and game.record.phase >= state.ASKED:
        game.apply(actions.PASS)
    return game


def labels(game):
    return {game.action_label(action) for action in game.legal_actions()}


def asked(game, player):
    """What a player may answer to the last tile, if those before pass."""
    while game.current_player != player:
        game.apply(actions.PASS)
    return labels(game) - {"pass"}


def reason(game, label):
    """Why an action is illegal here."""
    action = next(a for a in range(actions.NUM_ACTIONS) if game.game.view.action_label(game.record, a) == label)
    with pytest.raises(IllegalActionError) as error:
        game.apply(action)
    return str(error.value)


def pile(game, name, player=None, viewer=SPECTATOR):
    piles = table_texts(game.view(viewer))["piles"]
    return piles[name] if player is None else piles[name][player]


def points(game):
    return [int(value) for value in game.record.points]


def kinds_of_events(game):
    return [event.kind for event in game.events()]


# -- 1, 2: tiles and the deal --------------------------------------------------------------------------------------


def test_1_1_player_0_is_the_first_dealer_and_play_goes_to_rising_numbers():
    game = quiet_turns(start(draws="9m9m9m9m"), 2)
    assert [event.player for event in game.events() if event.kind.startswith("discard")] == [0, 1]
    assert GAME.make_options().num_players == 4


def test_1_2_136_tiles_with_a_red_five_in_each_suit_as_an_option():
    tiles = GAME.deck(GAME.make_options()).tolist()
    assert len(tiles) == 136
    assert [tiles.count(LABELS.index(label)) for label in ("5m", "0m", "1z")] == [3, 1, 4]
    assert max(GAME.deck(GAME.make_options(red_fives=False)).tolist()) == LABELS.index("7z")


@pytest.mark.parametrize(("indicator", "dora"), [("9m", "1m"), ("4p", "5p"), ("4z", "1z"), ("7z", "5z"), ("0s", "6s")])
def test_1_3_an_indicator_makes_the_next_kind_dora(indicator, dora):
    assert start("147m258p369s156z4z", dora=indicator).facts(0)["dora"] == [dora]


def test_2_1_each_player_is_dealt_thirteen_and_2_2_an_indicator_is_turned_up():
    game = start(draws="9m")
    assert [len(pile(game, "hand", p)) for p in range(4)] == [14, 13, 13, 13]
    assert pile(game, "indicators") == ["9p"]


def test_2_3_seventy_tiles_are_drawn():
    game = start(draws="9m")
    assert game.facts(0)["tiles_left"] == 69
    while not game.is_terminal:
        game.apply(actions.PASS if game.record.phase >= state.ASKED else int(game.record.drawn))
    assert sum(event.kind == "draw" for event in game.events()) == 70


def test_2_4_a_closed_kan_turns_up_its_indicator_before_the_replacement():
    game = act(start("1111m258p369s123z", draws="4z5m"), "closed kan 1m")
    assert kinds_of_events(game)[-2:] == ["indicator", "replacement"]
    assert len(game.facts(0)["dora"]) == 2
    assert len(act(start("1111m258p369s123z", draws="4z", kan_dora=False), "closed kan 1m").facts(0)["dora"]) == 1


def test_2_4_an_open_kan_turns_up_its_indicator_before_the_next_discard():
    game = act(start("147m258p369s1235z", "555z147m258p369s1z", draws="9m"), "discard 5z", "1 kan")
    answered(game)
    assert len(game.facts(1)["dora"]) == 1
    act(game, f"discard {LABELS[int(game.record.drawn)]}")
    assert len(game.facts(1)["dora"]) == 2
    assert kinds_of_events(game)[-2:] == ["indicator", "discard_drawn"]


# -- 3: turns and calls --------------------------------------------------------------------------------------------


def test_3_1_all_see_whether_a_discard_is_the_tile_drawn():
    game = act(start(draws="9m9m"), "discard 9m", "discard 1m")
    assert kinds_of_events(game)[-1] == "discard"
    assert "discard_drawn" in kinds_of_events(game)


def test_3_1_of_two_alike_the_tile_drawn_goes():
    assert kinds_of_events(act(start(draws="1m"), "discard 1m"))[-1] == "discard_drawn"


def test_3_2_everybody_is_asked_and_nobody_sees_an_answer():
    game = act(start(draws="9m"), "discard 9m")
    for player in (1, 2, 3):
        assert game.current_player == player
        seen = [game.event_rows(viewer).tobytes() for viewer in range(4)]
        game.apply(actions.PASS)
        if player < 3:
            assert [game.event_rows(viewer).tobytes() for viewer in range(4)] == seen
    assert game.current_player == 1


def test_3_2_pon_goes_before_chi_and_ron_before_both():
    hands = ("", "78m147p258s1234z5z", "99m147p258s34567z", "78m234p567p345s22s")
    game = act(start(*hands, draws="9m", dora="1s"), "discard 9m", "1 chi with 7m 8m")
    game.apply(game.action_from_label("pon"))
    pon = game.clone()
    pon.apply(actions.PASS)
    assert (pon.current_player, pile(pon, "melds", 2), pile(pon, "melds", 1)) == (2, ["9m"] * 3, [])
    game = act(start(*hands, draws="6m", dora="1s"), "discard 6m", "3 ron")
    assert game.is_terminal


def test_3_3_chi_is_for_the_next_player_only():
    hands = ("147m258p369s1234z", "23m158p369s12345z", "23m158p369s12345z")
    game = act(start(*hands, draws="4m"), "discard 4m")
    assert asked(game, 1) == {"chi with 2m 3m"}
    assert asked(game, 2) == set()
    assert "next player" in reason(game, "chi with 2m 3m")


def test_3_3_tiles_that_are_not_held_are_the_reason_before_tiles_that_may_not_be_discarded():
    hands = ("1234z3m1479p1479s", "112233z33m12s55s", "258m258p258s4567z", "147m369p369s5677z")
    game = start(*hands, draws="9m")
    for honour, discard in (("1z", "5s"), ("2z", "5s")):
        act(game, f"discard {honour}", "1 pon", f"discard {discard}")
        quiet_turns(game, 2)
    act(answered(game), "discard 3z", "1 pon", "discard 2s")
    quiet_turns(game, 2)
    act(answered(game), "discard 3m")
    asked(game, 1)
    assert "are not in hand" in reason(game, "chi with 4m 5m")


def test_3_3_the_action_says_whether_a_red_five_is_laid():
    game = act(start("", "550p34p147m369s12z", draws="5p"), "discard 5p")
    assert asked(game, 1) == {"pon", "pon with a red five", "kan", "chi with 3p 4p"}
    game = act(start("", "50p4p147m369s1235z", draws="6p"), "discard 6p")
    assert asked(game, 1) == {"chi with 4p 5p", "chi with 4p 0p"}


def test_3_3_after_a_call_the_caller_discards_and_play_goes_on_from_there():
    hands = ("147m258p369s1235z", "", "55z147m258p369s12z")
    game = act(start(*hands, draws="9m9m"), "discard 5z", "2 pon", "discard 1z")
    answered(game)
    assert game.current_player == 3
    assert int(game.record.drawn) != state.NO_TILE


def test_3_4_the_last_discard_can_only_win():
    game = start("147m258p369s1234z", "55z147m258p369s12z", draws="9m")
    while game.facts(0)["tiles_left"] or game.record.phase >= state.ASKED:
        game.apply(actions.PASS if game.record.phase >= state.ASKED else int(game.record.drawn))
    discard = next(a for a in game.legal_actions() if a < actions.RIICHI)
    game.apply(discard)
    for _ in range(3):
        assert set(game.legal_actions()) <= {actions.PASS, actions.RON}
        game.apply(actions.PASS)
    assert game.is_terminal


def test_3_5_closed_and_added_kans():
    game = act(start("1111m258p369s123z", draws="4z5m"), "closed kan 1m")
    assert (pile(game, "melds", 0), len(pile(game, "hand", 0))) == (["1m"] * 4, 11)
    hands = ("147m258p369s1235z", "55z147m258p369s12z")
    game = act(start(*hands, draws="9m9m9m9m5z3m"), "discard 5z", "1 pon", "discard 1z")
    quiet_turns(game, 3)
    assert "no open pon" in reason(answered(game), "add 1m")
    act(game, "add 5z")
    assert pile(answered(game), "melds", 1) == ["5z"] * 4
    assert kinds_of_events(game)[-1] == "replacement"


def test_3_5_an_added_tile_may_be_robbed():
    hands = ("2s147m258p123z456z", "22s147m258p1234z9s", "", "13s234m567m345p99p")
    game = act(start(*hands, draws="9s1z1z8m2s", dora="7z"), "discard 2s", "1 pon", "discard 9s")
    quiet_turns(game, 3)
    act(game, "add 2s")
    assert asked(game, 3) == {"ron"}
    game.apply(actions.RON)
    assert answered(game).is_terminal
    assert "robbing a kan" in " ".join(game.recap(0))


def test_3_6_swap_calling():
    hands = ("", "45m3m6m58p369s1234z")
    game = act(start(*hands, draws="3m"), "discard 3m", "1 chi with 4m 5m")
    answered(game)
    assert {"discard 3m", "discard 6m"} & labels(game) == set()
    assert "may not be discarded" in reason(game, "discard 6m")
    free = act(start(*hands, draws="3m", swap_calling=True), "discard 3m", "1 chi with 4m 5m")
    assert {"discard 3m", "discard 6m"} <= labels(answered(free))


# -- 4: riichi and furiten -----------------------------------------------------------------------------------------


def test_4_1_riichi_needs_a_closed_hand_that_a_discard_leaves_tenpai():
    game = start(READY, draws="9m")
    assert "riichi 9m" in labels(game)
    assert "does not leave the hand tenpai" in reason(game, "riichi 2m")
    hands = ("147m258p369s1235z", "55z234m567m345p19s")
    opened = act(start(*hands, draws="9m1z"), "discard 5z", "1 pon", "discard 1s")
    quiet_turns(opened, 3)
    assert "needs a closed hand" in reason(answered(opened), "riichi 9s")


def test_13_4_riichi_needs_a_wait_of_which_the_player_does_not_hold_all_four():
    game = act(start("333312m456p78s11z", draws="9s1p7z"), "closed kan 3m")
    assert "discard 7z" in labels(game), "leaves a wait for the 3m in the kan only"
    assert not any(label.startswith("riichi") for label in labels(game))
    assert "does not leave the hand tenpai" in reason(game, "riichi 7z")


def test_4_1_riichi_needs_four_tiles_to_draw():
    game = start(READY, draws="9m")
    while game.facts(0)["tiles_left"] > 5 or game.current_player != 0:
        game.apply(actions.PASS if game.record.phase >= state.ASKED else int(game.record.drawn))
    assert any(label.startswith("riichi") for label in labels(game))
    while game.facts(0)["tiles_left"] > 3 or game.current_player != 0:
        game.apply(actions.PASS if game.record.phase >= state.ASKED else int(game.record.drawn))
    assert not any(label.startswith("riichi") for label in labels(game))


def test_4_1_the_stick_is_paid_once_nobody_has_won_by_the_discard():
    game = act(start(READY, draws="9m"), "riichi 9m")
    assert points(game)[0] == 25_000
    answered(game)
    assert (points(game)[0], int(game.record.sticks)) == (24_000, 1)


def test_4_1_a_riichi_whose_discard_is_won_by_costs_no_stick():
    hands = (READY, "", "78m234p567p345s55s")
    game = act(start(*hands, draws="9m"), "riichi 9m", "2 ron")
    answered(game)
    assert int(game.record.sticks) == 0
    assert sum(points(game)) == 100_000


def test_4_2_in_riichi_the_tile_drawn_is_discarded():
    game = act(start(READY, draws="9m8m8m8m1z"), "riichi 9m")
    quiet_turns(game, 3)
    answered(game)
    assert labels(game) == {"discard 1z"}
    assert "only the tile drawn" in reason(game, "discard 2m")


def test_4_2_a_kan_in_riichi_may_not_change_the_sets():
    plain = act(start("111z234m567m345p6s", draws="9m8m8m8m1z"), "riichi 9m")
    quiet_turns(plain, 3)
    assert "closed kan 1z" in labels(answered(plain))
    mixed = act(start("333456m567p345s7s", draws="9p1p1p1p3m"), "riichi 9p")
    quiet_turns(mixed, 3)
    assert "closed kan 3m" in labels(answered(mixed))
    mixed = act(start("33345m567m345p67s", draws="9p1p1p1p3m"), "riichi 9p")
    quiet_turns(mixed, 3)
    assert "closed kan 3m" not in labels(answered(mixed))
    assert "neither the waits nor the sets" in reason(mixed, "closed kan 3m")


def test_4_3_own_discards_make_furiten():
    game = act(start(READY, "", "", "58s147m258p1234z9s", draws="8s9m9m8s"), "discard 8s")
    quiet_turns(game, 3)
    game = answered(game)
    assert game.facts(0)["furiten"]


def test_4_3_passing_makes_furiten_until_the_own_next_turn():
    game = act(start("", "", READY, draws="8s9m9m9m", open_tanyao=True), "discard 8s")
    assert asked(game, 2) == {"ron"}
    assert game.facts(2)["furiten"] is False
    answered(game)
    assert game.facts(2)["furiten"]
    quiet_turns(game, 1)
    answered(game)
    assert game.current_player == 2
    assert game.facts(2)["furiten"] is False


def test_4_3_passing_a_tile_without_yaku_makes_furiten_too():
    game = act(start("", "", "123m456p789m79s99p", draws="8s9m"), "discard 8s")
    assert asked(game, 2) == set()
    assert answered(game).facts(2)["furiten"]


def test_4_3_passing_in_riichi_makes_furiten_for_good():
    game = act(start(READY, draws="9m8s1z1z1z1z"), "riichi 9m", "discard 8s")
    answered(game)
    quiet_turns(game, 2)
    assert game.facts(0)["furiten"]
    quiet_turns(answered(game), 1)
    assert game.facts(0)["furiten"]


# -- 5 to 7: wins --------------------------------------------------------------------------------------------------


def test_5_1_a_hand_needs_a_yaku():
    game = act(start("", "123m456p789m79s99p", draws="8s", dora="1z"), "discard 8s")
    asked(game, 1)
    assert "no yaku" in reason(game, "ron")


def test_5_2_ippatsu_ends_with_a_call():
    game = act(start(READY, draws="9m8s"), "riichi 9m", "discard 8s", "0 ron")
    answered(game)
    assert "ippatsu" in " ".join(game.recap(0))
    hands = (READY, "", "55z147m258p369s12z", "147m258p369s1235z")
    called = act(start(*hands, draws="9m5z"), "riichi 9m", "discard 5z", "2 pon", "discard 1z")
    assert not called.record.ippatsu[0]


def test_5_3_the_reading_that_pays_most_counts():
    game = act(start("", "223344m667788p5s", draws="5s"), "discard 5s", "1 ron")
    assert points(answered(game))[1] == 33_000


def test_5_4_a_hand_complete_on_the_first_draw():
    game = act(start("234m567m345p67s22s", draws="8s"), "tsumo")
    assert points(game) == [73_000, 9_000, 9_000, 9_000]


@pytest.mark.parametrize(("options", "wait"), [({}, 57_000), ({"double_yakuman": True}, 89_000)])
def test_5_4_thirteen_orphans_may_count_twice(options, wait):
    game = act(start("", "19m19p19s1234567z", draws="7z", **options), "discard 7z", "1 ron")
    assert points(answered(game))[1] == wait


def test_5_5_ura_dora_are_turned_up_for_a_riichi():
    game = act(start(READY, draws="9m8s2m"), "riichi 9m", "discard 8s", "0 ron")
    assert pile(answered(game), "ura_indicators") == ["2m"]


@pytest.mark.parametrize(("option", "winners"), [("triple", 3), ("head_bump", 1), ("double", 0)])
def test_5_6_three_rons(option, winners):
    hands = ("", "234m678m345p88m23s", "234p678p567m88p23s", "123m678m678p77p23s")
    game = start(*hands, draws="4s", multiple_ron=option, dora="1z")
    act(game, "discard 4s", "1 ron", "2 ron", "3 ron")
    assert sum(value > 25_000 for value in points(game)) == winners
    assert game.is_terminal


def test_6_and_7_fu_and_payments_of_a_win():
    game = act(start(READY, draws="9m8s1s"), "riichi 9m", "discard 8s", "0 ron")
    answered(game)
    recap = " ".join(game.recap(0))
    assert "player_0 has 30 fu." in recap
    assert sum(points(game)) == 100_000


def test_7_3_and_9_2_a_draw_adds_honba_and_the_dealer_repeats():
    game = act(start("19m19p19s1234z567m", draws="7z", length="east"), "nine terminals and honours")
    assert (int(game.record.honba), int(game.record.dealer), int(game.record.num_rounds)) == (1, 0, 2)


def test_7_4_the_winner_gets_the_sticks():
    hands = (READY, "", "78m234p567p345s55s")
    game = act(start(*hands, draws="1z9m9m", dora="1s"), "riichi 1z", "discard 9m", "2 ron")
    answered(game)
    assert int(game.record.sticks) == 0
    assert points(game)[0] == 24_000


@pytest.mark.parametrize("pao", [True, False])
def test_7_5_who_feeds_the_third_dragon_set_pays_a_tsumo_alone(pao):
    hands = ("567z147m258p369s1z", "556677z23m11p147s")
    game = start(*hands, draws="9m1z9s9m9p1z8s9m9p1z4m", dora="3z", pao=pao)
    for dragon, kept in (("5z", "1s"), ("6z", "4s"), ("7z", "7s")):
        act(game, f"discard {dragon}", "1 pon", f"discard {kept}")
        quiet_turns(game, 3 if dragon == "7z" else 2)
    answered(game)
    assert int(game.record.liable[1, state.DRAGONS]) == 0
    act(game, "tsumo")
    others = [25_000 - 8_000, 25_000 - 8_000] if not pao else [25_000, 25_000]
    assert points(game)[2:] == others
    assert points(game)[1] == 25_000 + 32_000


# -- 8: draws ------------------------------------------------------------------------------------------------------


def test_8_1_tenpai_hands_are_paid_at_an_exhaustive_draw():
    game = start("123m456p789s11z23s", draws="9m")
    while not game.is_terminal:
        game.apply(actions.PASS if game.record.phase >= state.ASKED else int(game.record.drawn))
    tenpai = [bool(value) for value in game.record.tenpai]
    change = {1: (3_000, -1_000), 2: (1_500, -1_500), 3: (1_000, -3_000)}[sum(tenpai)]
    assert tenpai[0]
    assert [value - 25_000 for value in points(game)] == [change[0] if is_tenpai else change[1] for is_tenpai in tenpai]


@pytest.mark.parametrize(("nagashi", "change"), [(True, [12_000, -4_000]), (False, [3_000, -1_000])])
def test_8_2_discards_of_terminals_and_honours_alone_are_paid(nagashi, change):
    hands = ["19m19p19s1234567z", *("2468m2468p24s" + honours for honours in ("123z", "456z", "712z"))]
    left = Counter(LABELS[face] for face in GAME.deck(GAME.make_options(red_fives=False)).tolist())
    left.subtract(LABELS[face] for hand in hands for face in parse_tiles(hand))
    ends = [label for label in left.elements() if label[1] == "z" or label[0] in "19"]
    simples = [label for label in left.elements() if label[1] != "z" and label[0] not in "19"]
    draws = "".join(ends.pop() if k % 4 == 0 else simples.pop() for k in range(70))
    game = start(*hands, draws=draws, dora=simples.pop(), nagashi=nagashi)
    while not game.is_terminal:
        game.apply(actions.PASS if game.record.phase >= state.ASKED else int(game.record.drawn))
    assert [value - 25_000 for value in points(game)] == [change[0], change[1], change[1], change[1]]


def test_8_3_nine_terminals_end_the_round():
    game = act(start("19m19p19s123z4567m", draws="7z"), "nine terminals and honours")
    assert (game.is_terminal, points(game)) == (True, [25_000] * 4)
    later = answered(quiet_turns(start("19m19p19s123z4567m", draws="9m9m9m8m"), 4))
    assert "first draw" in reason(later, "nine terminals and honours")
    assert "not nine different" in reason(start(draws="9m"), "nine terminals and honours")


def test_8_3_without_abortive_draws_nine_terminals_do_not_end_the_round():
    game = start("19m19p19s1234567z", draws="8s", abortive_draws=False)
    assert "no abortive draws" in reason(game, "nine terminals and honours")


def test_11_1_tiles_that_are_shown_at_the_end_are_not_unseen():
    game = quiet_turns(act(start(READY, draws="9m1z2z3z8s"), "riichi 9m"), 3)
    before = answered(game).facts(1)["not_seen_yet"]
    act(game, "tsumo")
    shown, after = Counter(pile(game, "hand", 0) + pile(game, "ura_indicators")), game.facts(1)["not_seen_yet"]
    assert sum(shown.values()) == 14 + 1
    assert after == {label: number for label, number in (Counter(before) - shown).items() if number}


def test_8_3_four_equal_winds_end_the_round():
    game = act(start(draws="9m9m9m9m"), "discard 2z", "discard 2z", "discard 2z", "discard 2z")
    assert "four_winds" in kinds_of_events(answered(game))
    assert game.is_terminal


# -- 9, 10: matches and returns ------------------------------------------------------------------------------------


def test_9_1_a_match_begins_with_the_east_wind():
    facts = start(draws="9m", length="half").facts(0)
    assert (facts["round_wind"], facts["seat_wind"], facts["points"]) == ("east", "east", [25_000] * 4)


def test_9_3_a_match_ends_below_zero_points():
    game = act(start("234m567m345p67s22s", draws="8s", length="half", starting_points=10_000), "tsumo")
    assert game.is_terminal
    assert points(game) == [58_000, -6_000, -6_000, -6_000]


def test_10_1_points_or_places():
    assert act(start(READY, draws="8s"), "tsumo").returns == [48, -16, -16, -16]
    assert act(start(READY, draws="8s", returns="rank"), "tsumo").returns == pytest.approx([1, 1 / 3, -1 / 3, -1])


def test_10_2_uma_and_oka():
    game = start(READY, draws="8s", length="half", starting_points=10_000, uma="10-20", oka=5)
    assert act(game, "tsumo").returns == [48 + 20 + 15, -16 + 10 - 5, -16 - 10 - 5, -16 - 20 - 5]
    with pytest.raises(OptionError, match="for matches"):
        GAME.make_options(uma="10-20")


def test_10_3_leaving_costs_the_most():
    game = start(draws="9m")
    game.apply(FORFEIT)
    assert game.returns[0] == GAME.returns(GAME.make_options()).low
    assert sum(game.returns) == pytest.approx(0)


# -- 11: information -----------------------------------------------------------------------------------------------


def test_11_3_a_player_in_riichi_is_tenpai_in_every_twin():
    game = act(start(READY, draws="9m8m8m8m1z"), "riichi 9m")
    quiet_turns(game, 3)
    hands = set()
    for seed in range(200):
        twin = game.determinize(1, seed)
        assert twin.record.waits[0]
        hands.add(tuple(twin.record.hands[0]))
    assert len(hands) > 190


def test_11_3_a_twin_that_passed_a_winning_tile_is_furiten():
    game = act(start(READY, draws="9m8s8m8m"), "riichi 9m")
    quiet_turns(game, 2)
    answered(game)
    found = {bool(twin.facts(0)["furiten"]) for twin in (game.determinize(3, seed) for seed in range(300))}
    assert found == {True, False}
    for seed in range(300):
        twin = game.determinize(3, seed).record
        passed = int(twin.passed[0]) | int(twin.thrown[0])
        assert bool(int(twin.waits[0]) & passed) == bool(state.is_furiten(twin, 0))
