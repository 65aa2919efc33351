"""Rummikub: the policies, the candidates, and the solver's command."""

import dataclasses
import json
import random
from collections import Counter

import numpy as np
import pytest
from typer.testing import CliRunner

import cardenvs
from cardenvs.agents import SearchAgent, Turn, search
from cardenvs.cli import app
from cardenvs.core.errors import IllegalActionError
from cardenvs.core.kernel import COMPILED
from cardenvs.games.rummikub.actions import COMMIT, DRAW, LAY_0, PASS, TAKE_0
from cardenvs.games.rummikub.catalogue import MELD_NUMBER, MELDS
from cardenvs.games.rummikub.melds import Meld, canonical_table
from cardenvs.games.rummikub.position import Position
from cardenvs.games.rummikub.problem import POSITION, TILES_FIRST, WORK
from cardenvs.games.rummikub.ruleset import Ruleset
from cardenvs.games.rummikub.solve import solve_position
from cardenvs.games.rummikub.state import deck
from cardenvs.games.rummikub.strategy import goes_out, sample_belief, set_position
from cardenvs.games.rummikub.tiles import JOKER, tiles_in

GAME = cardenvs.get_game("rummikub_v0")
POLICIES = ("greedy", "max_tiles", "planner")


def position_of(state):
    """The position of the player to act as the engine sees it."""
    s, player = state.record, state.current_player
    rules = Ruleset.make(
        **{
            name: getattr(state.options, name)
            for name in ("joker_rule", "joker_group3_needs_both", "initial_meld_min", "initial_meld_allow_joker")
        }
    )
    table = canonical_table(MELDS[number] for number in s.sets if number >= 0)
    return Position(rules, tuple(int(n) for n in s.hands[player]), table, bool(s.opened[player]))


def play_turn(state, policy):
    """Let a policy finish the turn; the rack tiles laid."""
    player = state.current_player
    before = state.record.hands[player].sum()
    while True:
        action = state.policy_action(policy, 0)
        state.apply(action)
        if action in (DRAW, PASS, COMMIT):
            return int(before - state.record.hands[player].sum()) if action == COMMIT else 0


def random_options(chooser):
    return {
        "steps": "loose",
        "num_players": chooser.choice([2, 3, 4]),
        "joker_rule": chooser.choice(["retrieve", "free", "locked"]),
        "joker_group3_needs_both": chooser.random() < 0.3,
        "initial_meld_min": chooser.choice([0, 30]),
        "initial_meld_allow_joker": chooser.random() < 0.7,
    }


def test_max_tiles_lays_what_the_solver_says_step_by_step():
    chooser = random.Random(1)
    turns = 0
    for seed in range(30 if COMPILED else 1):
        state = GAME.new_state(seed=seed, **random_options(chooser))
        while not state.is_terminal and turns < (1 << 30 if COMPILED else 8):
            best = solve_position(position_of(state))
            laid = play_turn(state, "max_tiles")
            assert laid == best.num_tiles, (seed, state)
            turns += 1
    assert turns > (500 if COMPILED else 3)


@pytest.mark.parametrize("steps", ["exact", "loose"])
@pytest.mark.parametrize("policy", POLICIES)
def test_the_policies_play_legally_in_games_of_every_size(policy, steps):
    chooser = random.Random(7)
    for seed in range(24 if COMPILED else 1):
        options = {
            "colors": chooser.choice([3, 3, 4]), "values": chooser.choice([5, 9, 13]), "copies": chooser.choice([1, 2]),
            "jokers": chooser.choice([0, 1, 2]), "initial_hand_size": 6, "num_players": 2, "steps": steps,
            "initial_meld_min": chooser.choice([0, 12]), "joker_rule": chooser.choice(["retrieve", "free", "locked"]),
        }  # fmt: skip
        state = GAME.new_state(seed=seed, **options)
        while not state.is_terminal and (COMPILED or state.ply < 6):
            state.apply(state.policy_action(policy, state.ply))  # raises if it is not legal


@pytest.mark.parametrize("policy", POLICIES)
def test_a_policy_never_gives_up_a_play_that_it_has_begun_and_plays_if_there_is_a_play(policy):
    for seed in range(20 if COMPILED else 1):
        state = GAME.new_state(seed=seed, steps="loose", num_players=2)
        while not state.is_terminal and (COMPILED or state.ply < 12):
            position = position_of(state)
            possible = solve_position(position).num_tiles > 0
            meanings = [meaning for meld in position.table for meaning in meld.meanings]
            twin_jokers = len(meanings) == 2 and meanings[0] == meanings[1]
            building = False
            while True:
                action = state.policy_action(policy, 0)
                assert not (building and action in (DRAW, PASS))
                state.apply(action)
                if action in (DRAW, PASS, COMMIT):
                    break
                building = True
            waits = policy == "planner" and action in (DRAW, PASS)
            if not twin_jokers and not waits:  # when jokers change places, the policies leave their sets alone
                assert (action == COMMIT) == possible


@pytest.mark.parametrize("steps", ["loose", "exact"])
@pytest.mark.parametrize("policy", POLICIES)
def test_a_turn_begun_by_somebody_else_is_finished_or_given_up(policy, steps):
    chooser = random.Random(3)
    turns = 0
    for seed in range(6 if COMPILED else 1):
        state = GAME.new_state(seed=seed, steps=steps, num_players=2, initial_meld_min=0)
        while not state.is_terminal and turns < (1 << 30 if COMPILED else 10):
            for _ in range(chooser.randrange(3)):
                begun = [action for action in state.legal_actions() if action >= TAKE_0]
                if begun:
                    state.apply(chooser.choice(begun))
            play_turn(state, policy)  # a step that is not legal would be refused
            turns += 1
    assert turns > (60 if COMPILED else 3)


@pytest.mark.skipif(not COMPILED, reason="too many games without the compiler")
def test_each_policy_is_above_the_one_before():
    from cardenvs.arena import Match, run_match

    for players, worse, better in ((2, "greedy", "max_tiles"), (4, "greedy", "max_tiles"), (2, "max_tiles", "planner")):
        agents = [better, worse] * (players // 2)
        match = Match.of("rummikub_v0", agents, deals=60, seed=1, num_players=players, steps="loose")
        assert run_match(match).advantage(0, 1).low > 0, (players, better)


# ---------------------------------------------------------------------------------------------------------------
# The planner


def racks(first, second, **options):
    """Both have opened; the first player is to act."""
    hand_size = len(first.split())
    return GAME.new_state(
        seed=1, deck=f"{first} {second}", num_players=2, initial_hand_size=hand_size, initial_meld_min=0, **options
    )


def test_the_planner_opens_and_then_waits_to_go_out():
    for rack, waits in (("R4 R5 R6 B9 B9 K1 O13", True), ("R4 R5 R6 B4 B5 B6", False), ("J R4 R5", False)):
        others = ["K3", "K5", "K7", "K9", "K11", "K13", "O2"][: len(rack.split())]
        state = racks(rack, " ".join(others))
        assert (play_turn(state, "planner") == 0) == waits, rack
        assert state.is_terminal == (not waits)
    state = GAME.new_state(seed=1, deck="R11 R12 R13 B1", num_players=2, initial_hand_size=4)
    assert play_turn(state, "planner") == 3


def test_the_planner_does_not_wait_where_it_may_not_draw():
    state = racks("R4 R5 R6 B9", "K1 K3 K5 K7", allow_draw_when_play_possible=False)
    assert play_turn(state, "planner") == 3


def test_the_planner_does_not_wait_while_somebody_has_one_tile_left():
    state = racks("R4 R5 R6 B9", "K1 K2 K3 O9")
    state.apply(DRAW)
    assert play_turn(state, "max_tiles") == 3
    assert play_turn(state, "planner") >= 3


def test_the_planner_passes_on_an_empty_pool_unless_somebody_with_fewer_tiles_wins_then():
    small = {"colors": 3, "values": 5, "copies": 1, "jokers": 0}
    state = racks("R1 R2 R3 B1 B5 K1 K4", "B2 B3 B4 R4 R5 K2 K5", **small)  # K3 is the pool
    assert [play_turn(state, "planner") for _ in range(5)] == [0, 0, 3, 0, 0]
    assert state.is_terminal


def test_the_planner_goes_out_with_a_large_rack_and_jokers():
    runs = " ".join(f"{colour}{value}" for colour in "RBKO" for value in range(1, 7))
    others = " ".join(f"{colour}{value}" for colour in "BKO" for value in (8, 9, 10, 11))
    state = racks(f"{runs} J R8", f"{others} {others} R10 R12")
    assert play_turn(state, "planner") == 26
    assert state.is_terminal


def would_go_out(record, rack):
    """Whether the player to act could lay a rack at once, by the planner."""
    work, position = np.zeros(1, WORK)[0], np.zeros(1, POSITION)[0]
    set_position(record, position, TILES_FIRST)
    position["rack"] = rack
    return goes_out(work, position)


def test_it_is_found_out_whether_a_rack_can_be_laid_at_once():
    out = 0
    for state in positions_of_play(60 if COMPILED else 1):
        position = position_of(state)
        for seed in range(10):
            unseen = state.determinize(state.current_player, seed).record.hands[1 - state.current_player]
            few = random.Random(seed).sample(tiles_in(tuple(int(n) for n in unseen)), 3)
            rack = tuple(few.count(tile) for tile in range(JOKER + 1))
            can = solve_position(dataclasses.replace(position, rack=rack)).num_tiles == 3
            assert would_go_out(state.record, rack) == can
            out += can
    assert out > 30 or not COMPILED


def worlds_of(state, number):
    """Worlds that simulations deal: those in which a playout of no length begins."""
    player = state.current_player
    for seed in range(number):
        world = copy_of(state)
        sample_belief(world, player, seed)
        yield world


def copy_of(state):
    """A copy of the record that may be changed."""
    return np.frombuffer(state.record_bytes(), GAME.state_dtype).copy()[0]


def test_simulations_deal_no_racks_with_which_the_planner_would_have_gone_out_or_opened():
    playable, uniform = 0, 0
    for seed in range(20 if COMPILED else 1):
        state = GAME.new_state(seed=seed, steps="loose", num_players=2)
        while not state.is_terminal and state.record.num_dealt < state.record.num_tiles:
            if COMPILED or state.ply == 1:
                player = state.current_player
                twin = state.determinize(player, seed)
                world = next(worlds_of(state, 1))
                assert world.current_player == player
                assert world.hands[player].tolist() == state.record.hands[player].tolist()
                assert world.hands[1 - player].sum() == state.record.hands[1 - player].sum()
                assert all_tiles(world) + on_table(state) == Counter(deck(state.options).tolist())
                playable += would_play(state, world)
                uniform += would_play(state, copy_of(twin))
            play_turn(state, "planner")
            if not COMPILED and state.ply > 2:
                break
    assert playable < uniform / 4 or not COMPILED
    assert uniform > 20 or not COMPILED


def test_what_simulations_deal_says_nothing_of_what_the_player_cannot_know():
    for state in positions_of_play(5 if COMPILED else 1):
        twin = state.determinize(state.current_player, 11)
        for one, other in zip(worlds_of(state, 3), worlds_of(twin, 3), strict=True):
            assert one.hands.tolist() == other.hands.tolist()
            assert one.deck.tolist() == other.deck.tolist()


def all_tiles(world):
    """The tiles of both racks and of the pool."""
    racks = *tiles_in(world.hands[0]), *tiles_in(world.hands[1])
    return Counter((*racks, *world.deck[world.num_dealt : world.num_tiles].tolist()))


def on_table(state):
    slots = [slot for number in state.record.sets if number >= 0 for slot in MELDS[number].slots]
    return Counter(slot.tile for slot in slots)


def would_play(state, world):
    """Whether the other player could open with its rack in a world, or go out where it has opened."""
    world.current_player = other = 1 - state.current_player
    if world.opened[other]:
        return would_go_out(world, world.hands[other])
    rack = tuple(int(n) for n in world.hands[other])
    return solve_position(dataclasses.replace(position_of(state), rack=rack, opened=False)).num_tiles > 0


# ---------------------------------------------------------------------------------------------------------------
# Candidates


def positions_of_play(number):
    chooser = random.Random(7)
    for seed in range(number):
        state = GAME.new_state(seed=seed, steps="loose", num_players=2)
        for _ in range(chooser.randrange(4, 40) if COMPILED else 5):
            if not state.is_terminal:
                play_turn(state, chooser.choice(POLICIES))
        if not state.is_terminal:
            yield state


def test_candidates_are_whole_plays_that_are_legal_and_differ():
    varied = 0
    for state in positions_of_play(60 if COMPILED else 1):
        player = state.current_player
        found = GAME.view.candidates(state, player)
        assert len({one.label for one in found}) == len({one.actions for one in found}) == len(found)
        assert found[-1].actions in ((DRAW,), (PASS,))
        for one in found:
            twin = state.clone()
            for action in one.actions:
                assert twin.current_player == player
                twin.apply(action)
            assert twin.is_terminal or twin.current_player != player
        best = solve_position(position_of(state))
        large = state.record.rack_sizes[player] > 24  # there, jokers are left alone unless all can be laid
        if best.num_tiles and not large:
            twin = state.clone()
            for action in found[0].actions:
                twin.apply(action)
            laid = int(state.record.hands[player].sum() - twin.record.hands[player].sum())
            assert laid == best.num_tiles
        varied += len(found) > 3
    assert varied > 3 or not COMPILED


def test_candidates_say_nothing_of_what_the_player_cannot_know():
    for state in positions_of_play(5 if COMPILED else 1):
        player = state.current_player
        twin = state.determinize(player, 11)
        assert GAME.view.candidates(state, player) == GAME.view.candidates(twin, player)


def test_labels_of_candidates():
    deck = "R4 R5 R6 R7 B9 K1 O3 R1 B2 K5 K8 O11 B13 O13"
    state = GAME.new_state(seed=1, deck=deck, steps="loose", num_players=2, initial_meld_min=0)
    labels = [one.label for one in GAME.view.candidates(state, 0)]
    assert labels[0] == "lay R4-7"
    assert {"lay R4-6", "lay R5-7", "draw"} <= set(labels)
    for action in (LAY_0 + MELD_NUMBER[Meld.of("R4 R5 R6")], COMMIT, DRAW):
        state.apply(action)
    labels = [one.label for one in GAME.view.candidates(state, 0)]
    assert "extend R4-6 with R7" in labels


def test_while_a_play_is_built_each_step_is_a_candidate():
    state = GAME.new_state(seed=1, deck="R4 R5 R6", steps="loose", num_players=2)
    state.apply(LAY_0 + MELD_NUMBER[Meld.of("R4 R5 R6")])
    assert [one.actions for one in GAME.view.candidates(state, 0)] == [(a,) for a in state.legal_actions()]


# ---------------------------------------------------------------------------------------------------------------
# Search over whole plays


def two_runs(**options):
    """Player 0 holds two runs and nothing else; its best play lays both and goes out."""
    deck = "R1 R2 R3 K1 K2 K3"
    return GAME.new_state(
        seed=1, deck=deck, steps="loose", num_players=2, initial_hand_size=6, initial_meld_min=0, **options
    )


def searches(monkeypatch):
    """The plays that each race starts with, as races come."""
    begun, start = [], search._Race.__init__

    def counting(race, agent, world, plays, *others):
        begun.append(plays)
        start(race, agent, world, plays, *others)

    monkeypatch.setattr(search._Race, "__init__", counting)
    return begun


@pytest.mark.parametrize("playout", ["random", "max_tiles"])
def test_search_chooses_a_whole_play_and_lays_it_step_by_step(playout, monkeypatch):
    begun, state = searches(monkeypatch), two_runs()
    candidates = [one.actions for one in state.candidates()]
    agent = SearchAgent(GAME, simulations=40, playout=playout)
    done = []
    while not state.is_terminal:
        assert len(state.legal_actions()) > 1
        done.append(agent.act(Turn(state, 0, len(done), goes_on=bool(done))))
        state.apply(done[-1])
    assert tuple(done) == max(candidates, key=len)
    assert set(done) == {*(LAY_0 + MELD_NUMBER[Meld.of(run)] for run in ("R1 R2 R3", "K1 K2 K3")), COMMIT}
    assert begun == [candidates]  # one search for the three steps, and the policy's play was among them


def test_search_follows_the_policy_where_its_play_is_no_candidate(monkeypatch):
    state, agent = two_runs(), SearchAgent(GAME, simulations=1)
    draw = [one for one in state.candidates() if one.actions == (DRAW,)]
    one_run = [one for one in state.candidates() if len(one.actions) == 2]
    monkeypatch.setattr(type(state), "candidates", lambda self: [*draw, *one_run])
    begun, done = searches(monkeypatch), 0
    while not state.is_terminal:
        own = state.policy_action("max_tiles", 0)
        assert agent.act(Turn(state, 0, done, goes_on=done > 0)) == own
        state.apply(own)
        done += 1
    assert len(begun) == 1


def test_a_play_under_way_is_given_up_when_it_does_not_fit_or_a_game_begins(monkeypatch):
    begun, state, agent = searches(monkeypatch), two_runs(), SearchAgent(GAME, simulations=10)
    step = agent.act(Turn(state, 0))
    other = state.clone()
    other.apply(DRAW)  # whoever guards the agent did something else
    agent.act(Turn(other, 0))
    assert len(begun) == 2 or len(other.candidates()) == 1
    agent.reset(0)
    assert agent.act(Turn(state, 0)) == step
    state.apply(step)
    before = len(begun)
    agent.reset(0)
    agent.act(Turn(state, 0))
    assert len(begun) == before + 1


def test_search_does_not_search_where_there_is_one_candidate(monkeypatch):
    state = GAME.new_state(seed=1, deck="R1 R5 R9", steps="loose", num_players=2, initial_hand_size=3)
    begun = searches(monkeypatch)
    assert SearchAgent(GAME).act(Turn(state, 0)) == DRAW
    assert not begun


def test_a_play_is_simulated_whole():
    state = two_runs()
    best = max((one.actions for one in state.candidates()), key=len)
    out, first, alone = state.simulate([best, best[:1], best[0]], seed=0, rounds=20, policy="max_tiles").T
    assert (out > 0).all()
    assert out.tolist() == first.tolist() == alone.tolist()  # the policy ends it the same way
    assert state.simulate([best], seed=0, rounds=1, max_plies=0)[0, 0] > 0
    assert state.simulate([best[:2]], seed=0, rounds=1, max_plies=0)[0, 0] == 0
    assert state.ply == 0
    for wrong in ((), (best[0], best[0])):
        with pytest.raises(IllegalActionError):
            state.simulate([wrong], seed=0, rounds=1)


# ---------------------------------------------------------------------------------------------------------------
# The command


def run(*arguments):
    return CliRunner().invoke(app, ["rummikub", "solve", *arguments])


def test_the_command_prints_the_best_play():
    done = run("--rack", "R13 K4 J B6", "--table", "B3 B4 B5; R7 B7 K7")
    assert done.exit_code == 0
    assert "2 tiles, 36 points" in done.output
    assert "stays  R7 B7 K7" in done.output
    assert "B3 B4 B5 B6* J(B7)*" in done.output or "J(B2)* B3 B4 B5 B6*" in done.output
    assert "left in the rack: R13 K4" in done.output
    assert "No tile can be laid" in run("--rack", "R1 K9").output
    assert run("--rack", "R13 K4 J B6", "--table", "B3 B4 B5", "--table", "R7 B7 K7").output == done.output


def test_the_command_prints_json():
    done = run("--rack", "Y10 J B10 R2", "--opening", "--json")
    data = json.loads(done.output)
    assert (data["num_tiles"], data["points"], data["opening_points"]) == (3, 50, 30)
    assert sorted(data["played"]) == ["B10", "J", "O10"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--rack", "R14"), "'R14' is not a tile"),
        (("--rack", "R1", "--table", "R1 R2"), "the table is invalid: R1 R2"),
        (("--rack", "R1", "--objective", "speed"), "objective"),
        (("--rack", "R1", "--joker-rule", "none"), "joker_rule"),
    ],
)
def test_the_command_says_what_is_wrong(arguments, problem):
    done = run(*arguments)
    assert done.exit_code != 0
    assert problem in done.output + str(done.exception)


def test_the_examples_of_the_help_work():
    from cardenvs.tools import rummikub

    examples = [part for part in rummikub.solve.__doc__.split("`") if part.startswith("cardenvs rummikub solve")]
    assert len(examples) == 3
    import shlex

    for example in examples:
        assert run(*shlex.split(example)[3:]).exit_code == 0
