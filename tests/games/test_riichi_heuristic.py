"""The rule agent of riichi: what it does in some positions, what it knows, and how strong it is."""

import numpy as np
import pytest

from cardenvs.core.kernel import COMPILED
from cardenvs.games.riichi import GAME, actions, danger
from cardenvs.games.riichi.notation import parse_tiles
from cardenvs.games.riichi.state import ASKED
from cardenvs.games.riichi.tiles import LABELS, RED, bit_of, kind_of

BAD_HAND = "1479m258p369s123z"


def turn(hand, drawn, *, dora="9m", discards=None, riichi=(), draws=24, **options):
    """The turn of player 0, the dealer, who has drawn a tile; what others hold is random, except for their discards."""
    assert len(parse_tiles(hand)) == 13
    thrown = {player: parse_tiles(tiles) for player, tiles in (discards or {}).items()}
    counts = np.full(37, 4)
    counts[[4, 13, 22]], counts[RED:] = 3, 1
    left = np.repeat(np.arange(37), counts).tolist()
    for face in parse_tiles(hand + dora + drawn + "".join((discards or {}).values())):
        left.remove(face)
    np.random.default_rng(1).shuffle(left)
    deck = [*parse_tiles(hand), *left[:39], *parse_tiles(dora), *parse_tiles(drawn)]
    state = GAME.new_state(seed=1, deck=deck, **options)
    s = state._states[0]
    s["num_draws"], s["is_untouched"] = draws, draws == 1
    for player, tiles in thrown.items():
        s["discards"][player, : len(tiles)], s["num_discards"][player] = tiles, len(tiles)
        for face in tiles:
            s["thrown"][player] |= bit_of(kind_of(face))
            s["seen"][kind_of(face)] += 1
    for player in riichi:
        s["riichi"][player] = 1
    return state


def asked(hand, tile, giver, **more):
    """Player 0 is asked about a discard."""
    state = turn(hand, "9m" if tile != "9m" else "8m", **more)
    s = state._states[0]
    face = parse_tiles(tile)[0]
    s["hands"][0, s["drawn"]] -= 1
    s["drawn"], s["phase"], s["turn"], s["tile"], s["current_player"] = -1, ASKED, giver, face, 0
    s["discards"][giver, s["num_discards"][giver]] = face
    s["num_discards"][giver] += 1
    s["thrown"][giver] |= bit_of(kind_of(face))
    s["seen"][kind_of(face)] += 1
    return state


def choice(state):
    """The action that the agent chooses, as (sort, tile)."""
    action = state.policy_action("heuristic", seed=0)
    if action < actions.CLOSED_KAN:
        return ("riichi" if action >= actions.RIICHI else "discard"), LABELS[action % actions.RIICHI]
    names = {actions.PASS: "pass", actions.RON: "ron", actions.TSUMO: "tsumo", actions.NINE: "nine"}
    if action in names:
        return names[action], None
    return ("kan" if action < actions.CHI else "chi" if action < actions.PON else "pon"), None


# ---------------------------------------------------------------------------------------------------------------
# The own hand


def test_it_wins():
    assert choice(turn("234m567m345p6799s", "8s"))[0] == "tsumo"
    assert choice(asked("234m567m345p6788s", "5s", 1))[0] == "ron"


def test_it_declares_riichi_with_the_discard_that_leaves_more_waits():
    assert choice(turn("234m567m34588p79s", "6s")) == ("riichi", "9s")
    assert choice(turn("234m567m345p679s1z", "1z")) == ("riichi", "9s")
    assert choice(turn("234m567m345p679s1z", "1z", draws=68))[0] == "discard"  # too few tiles are left


def test_isolated_honours_go_before_tiles_that_may_become_runs():
    assert choice(turn("2346m4578p3467s1z", "4z", draws=1)) in (("discard", "1z"), ("discard", "4z"))


def test_dora_and_red_fives_stay_in_hand():
    assert choice(turn("23467m234p067s44z", "5s"))[1] != "0s"


def test_nine_terminals_are_shown_but_not_with_eleven_kinds():
    assert choice(turn("19m19p19s123z5678m", "2p", draws=1))[0] == "nine"
    assert choice(turn("19m19p19s12345z56m", "2p", draws=1))[0] == "discard"


def test_a_closed_kan_that_costs_nothing_is_laid():
    assert choice(turn("111z234m567m45p88s", "1z"))[0] == "kan"
    assert choice(turn("111z234m567m45p88s", "1z", riichi=(2,)))[0] != "kan"


# ---------------------------------------------------------------------------------------------------------------
# Calls


def test_a_pair_of_dragons_is_called_and_a_hand_without_a_yaku_stays_closed():
    assert choice(asked("77z234m679p34588s", "7z", 2, dora="4s"))[0] == "pon"
    assert choice(asked("19m234m567p3489s1z", "5s", 3))[0] == "pass"


def test_it_does_not_open_a_good_closed_hand():
    assert choice(asked("234m567m34p6788s5z", "5p", 3))[0] == "pass"


# ---------------------------------------------------------------------------------------------------------------
# Defence


def test_a_bad_hand_is_folded_with_a_tile_that_is_safe():
    state = turn("1479m258p369s125z", "4z", discards={2: "1s9m4z3p7z8m"}, riichi=(2,), draws=40)
    assert choice(state) in (("discard", "9m"), ("discard", "4z"))


def test_a_good_hand_is_pushed():
    state = turn("234m067m34588p67s", "9m", discards={2: "1s4z3p7z8m"}, riichi=(2,), dora="7p", draws=30)
    assert choice(state) == ("riichi", "9m")


def losses(**more):
    """What each discard costs player 0, by its label."""
    state = turn(BAD_HAND, "7z", **more)
    risk = np.zeros(1, danger.RISK)
    danger.assess(state._states[0] if COMPILED else state.record, 0, risk[0])
    return dict(zip(LABELS, risk["loss"][0], strict=False))


def test_danger_knows_safe_tiles_and_suji():
    loss = losses(discards={2: "4p9s1z"}, riichi=(2,), draws=30)
    assert loss["4p"] == loss["9s"] == 0
    assert loss["1p"] < loss["2p"]  # a two-sided wait for 1p would be furiten
    assert loss["7p"] < loss["8p"]
    assert loss["6s"] < loss["5s"]
    assert loss["1z"] == 0 < loss["3z"] < loss["5s"]


def test_danger_counts_what_can_still_be_held():
    one = losses(discards={2: "4p", 1: "6z"}, riichi=(2,), draws=30)
    two = losses(discards={2: "4p", 1: "66z888s"}, riichi=(2,), draws=30)
    assert two["6z"] < one["6z"]
    assert two["9s"] < one["9s"]  # no 8s is left for 7s 8s


def test_nobody_threatens_at_first():
    assert max(losses(draws=4).values()) < 0.01


def test_open_hands_threaten_in_their_suit():
    state = turn(BAD_HAND, "7z", draws=44, discards={1: "1m2m3m9p8p1z2z3z7p2m"})
    s = state._states[0]
    for m, kind in enumerate(parse_tiles("19s6z")):
        s["meld_type"][1, m], s["meld_kind"][1, m], s["meld_from"][1, m] = 1, kind, 0
    s["num_melds"][1] = 3
    risk = np.zeros(1, danger.RISK)
    danger.assess(s if COMPILED else state.record, 0, risk[0])
    assert risk["loss"][0, parse_tiles("5s")[0]] > 3 * risk["loss"][0, parse_tiles("5p")[0]] > 0


# ---------------------------------------------------------------------------------------------------------------
# Whole games


@pytest.mark.parametrize("options", [{}, {"length": "east"}, {"open_tanyao": False, "red_fives": False}], ids=str)
def test_choices_are_legal_and_depend_only_on_what_the_player_knows(options):
    varied = 0
    for seed in range(4 if options.get("length") != "east" and COMPILED else 1):
        state = GAME.new_state(seed=seed, **options)
        while not state.is_terminal:
            action = state.policy_action("heuristic", seed=0)
            assert action in state.legal_actions()
            if len(state.legal_actions()) > 1 and state.ply % (3 if COMPILED else 50) == 0:
                twin = state.determinize(state.current_player, seed=state.ply)
                assert twin.policy_action("heuristic", seed=0) == action
                varied += 1
            state.apply(action)
    assert varied


@pytest.mark.skipif(not COMPILED, reason="hundreds of rounds")
def test_it_beats_random_play():
    points = []
    for seed in range(200):
        state = GAME.new_state(seed=seed)
        while not state.is_terminal:
            policy = "heuristic" if state.current_player == seed % 4 else "random"
            state.apply_unchecked(state.policy_action(policy, seed=state.ply))
        points.append(state.returns[seed % 4])
    assert np.mean(points) - 2 * np.std(points) / len(points) ** 0.5 > 3


@pytest.mark.skipif(not COMPILED, reason="hundreds of rounds")
def test_rounds_among_themselves_look_like_those_of_people():
    wins = draws = deal_ins = 0
    number = 400
    for seed in range(number):
        state = GAME.new_state(seed=seed)
        while not state.is_terminal:
            action = state.policy_action("heuristic", seed=0)
            wins += action in (actions.RON, actions.TSUMO)
            deal_ins += action == actions.RON
            state.apply_unchecked(action)
        draws += int(state._states["is_exhausted"][0])
    assert wins / number > 0.7
    assert deal_ins / number < 0.56
    assert draws / number < 0.27
