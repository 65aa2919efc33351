"""The conformance suite: every game passes it, and every planted fault is caught by the check it is meant for."""

import ast
import dataclasses
import random
import re
import sys

import numpy as np
import pytest
from toys import high_card
from toys.faulty import FAULTS, TWO_HANDED

from cardenvs.core.errors import MissingExtraError
from cardenvs.core.kernel import COMPILED
from cardenvs.core.registry import get_game, list_games
from cardenvs.envs.raw_aec import RawEnv
from cardenvs.envs.vector import VectorEnv
from cardenvs.testing import ConformanceError, Report, check_game, doors, faces, leaks, processes
from cardenvs.testing.case import Case
from cardenvs.testing.histories import Histories

SMALL = ["kuhn_poker_v0", "leduc_poker_v0"]
# Games whose worlds are only nearly uniform, as their pages say
WORLDS_ERROR: dict[str, float] = {"crazy_eights_v0": 0.03, "riichi_v0": 0.05, "uno_v0": 0.05}
CAUGHT = {
    # leaks
    "leaking_observation": "observation of player . depends on what is hidden",
    "leaking_legal_list": "(view|legal actions) of player . depends on what is hidden",
    "leaking_label": "view of player . depends on what is hidden",
    "leaking_prompt": "view of player . depends on what is hidden",
    "leaking_reason": "reasons of player . depends on what is hidden",
    "leaking_facts": "facts of player . depends on what is hidden",
    "leaking_candidates": "candidates of player . depends on what is hidden",
    "leaking_picture": "view of player . depends on what is hidden",
    "leaking_table": "viewer 0: events fold to another table: .*stock",
    "stock_upside_down": "viewer -2: events contradict the table: token . leaves stock from a place known to hold .",
    "stock_that_nobody_sees": "tokens lost .*",
    "event_with_too_many_viewers": "viewer 1: events fold to another table",
    "event_that_notes_what_is_hidden": "the events of action . show player . what is hidden",
    "event_that_counts_what_is_hidden": "the events of action . show player . what is hidden",
    "deal_that_notes_what_is_hidden": "the deal shows player . what is hidden",
    "peeking_policy": "policy clever of player . depends on what is hidden",
    # determinize
    "twin_forgets_the_taken_card": "player . knows tokens .* in hand of player 0; the twin has them elsewhere",
    "twin_never_varies": "in phase first_turn, determinize never changes what is hidden in stock",
    "twin_keeps_the_other_hand": "determinize never changes what is hidden in hand",
    "twin_keeps_the_top_of_the_stock": "determinize never changes what is hidden in the next of stock",
    "twin_is_not_uniform": "determinize is not uniform(: chi-square| for player .: )",
    "twin_leaves_a_trace": "a twin of player . depends on where the hidden tokens really lie",
    "twin_has_a_card_twice": "the twin of player . has other tokens",
    "twin_keeps_the_seed": "determinize does not set the new seed",
    "twin_forgets_what_may_be_aside": "a twin contradicts what player . has seen: .* is in stock, where it cannot be",
    "twin_turns_up_another_card": "observation of player . depends on what is hidden",
    "twin_ignores_what_a_swap_proves": "determinize is not uniform for player 1: ",
    "rewards_that_tell_what_is_hidden": "(view|rewards) of player . differs in a real history with the same events",
    "cached_field_that_tells_what_is_hidden": "observation of player . differs in a real history",
    # rules
    "lost_card": "tokens lost {.*}, tokens too many {}",
    "doubled_card": "tokens lost {.*}, tokens too many {.: 1}",
    "forgotten_event": "events fold to another table",
    "unsorted_legal_list": r"legal actions are not ascending and unique: \[1, 0\]",
    "list_with_more_behind_its_end": "a legal list of a batch continues beyond its end",
    "list_with_a_secret_behind_its_end": "legal_actions shows player . what is hidden|continues beyond its end",
    "empty_legal_list": "no legal action at ply 0, but the game is not over",
    "legal_id_that_is_none": r"legal actions \[0, 3\] do not fit num_actions 3",
    "listed_action_called_illegal": "explain_illegal finds the listed action 2 illegal",
    "unlisted_action_called_legal": "action 2 is not listed, but explain_illegal gives no reason",
    "illegal_policy": r"policy bold chooses 2, legal are \[0, 1\]",
    "wrong_sum": "add up to -?1.0, not to 0",
    "returns_out_of_bounds": "leave the bounds -1 to 1",
    "endless_game": "not over after 2 plies, the bound the game states",
    "deal_that_ends_the_game": "the deal ends the game; somebody must be to act",
    "deal_without_the_seed": "thirty seeds deal the same cards",
    "forfeit_that_leaves_the_player_to_act": "player . forfeited, but is to act",
    "forfeit_that_leaves_the_player_active": "player . forfeited, but is still active",
    "forfeit_that_costs_nothing": "player . got -1, but 0 by leaving at ply",
    "forfeit_that_costs_too_much": r"after players \[.\] have forfeited, returns .* are outside their declared bounds",
    "forfeit_that_pays_later": "player . forfeited, but is paid or charged after leaving",
    "conserved_quantity_that_changes": "conserved quantities changed from {'stock': 2.0} to {'stock': 1.0}",
    "undeclared_phase": "phase 'nap' is not one of the game's",
    "two_labels_alike": "two legal actions read the same",
    "label_that_does_not_lead_back": "the label 'action 0, asked .* times' of action 0 does not lead back to it",
    "candidate_that_cannot_be_done": "candidate 'keep twice, and once more': .* cannot be done",
    "two_candidates_alike": "two candidates read the same",
    "no_candidates": "no candidates",
    # observations
    "unwritten_entries": "observe leaves entries unwritten",
    "entry_out_of_bounds": "observation entry 20 of player 0 is 2",
    "shared_observation": "two observations share memory",
    "observation_that_forgets_the_taken_card": "player 1 cannot see in its observation .*in hand of player 0",
    "observation_that_forgets_the_deal_before": "player . cannot see .*shown in the deal before",
}
IN_ANOTHER_MODE = {"int8_that_overflows", "int8_that_wraps_on_the_way", "read_out_of_bounds"}


# ---------------------------------------------------------------------------------------------------------------
# What is in order passes


def test_every_registered_game_passes(every_game):
    error = WORLDS_ERROR.get(every_game.name, 0.0)
    report = check_game(every_game, effort="sample", subprocesses=False, worlds_error=error)
    _check_report(every_game, report)
    assert report.games >= 4


@pytest.mark.rotating
@pytest.mark.parametrize("seed", [1, 2])
def test_every_registered_game_passes_with_other_seeds(every_game, seed):
    error = WORLDS_ERROR.get(every_game.name, 0.0)
    check_game(every_game, seed=seed, effort="sample", subprocesses=False, worlds_error=error)


@pytest.mark.slow
def test_every_registered_game_passes_more_examples(every_game):
    examples = 10 if every_game.dealt_tokens is not None else 4
    error = WORLDS_ERROR.get(every_game.name, 0.0)
    report = check_game(every_game, examples=examples, subprocesses=False, worlds_error=error)
    _check_report(every_game, report)


@pytest.mark.rotating
def test_every_registered_game_plays_the_same_without_the_compiler(every_game):
    check_mode(every_game, "compiler off")


@pytest.mark.parametrize("name", SMALL)
def test_small_games_play_the_same_with_bounds_checked(name):
    check_mode(get_game(name), "bounds checked")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in list_games() if name not in SMALL])
def test_large_games_play_the_same_with_bounds_checked(name):
    check_mode(get_game(name), "bounds checked")


def check_mode(game, mode):
    cases = [Case(game, game.make_options(), seed, seed) for seed in (1000, 1001)]
    processes.check_other_modes(game, cases, seconds=1.5, modes=[mode])


@pytest.mark.slow
def test_every_registered_game_passes_thoroughly(every_game):
    error = WORLDS_ERROR.get(every_game.name, 0.0)
    report = check_game(every_game, examples=12, seed=1, effort="full", worlds_error=error)
    _check_report(every_game, report)
    assert report.games >= 22


def _check_report(game, report):
    assert report.states >= 3 * report.games
    players = min(2, game.make_options().num_players)
    assert report.twins >= 2 * players * report.states  # two for each player, but where the game is over at once
    assert set(report.phases) == set(game.phases)
    often = {phase for phase in game.hidden_phases if report.phases[phase] >= 20}  # rare ones may be late, all known
    assert {phase for phase, _ in report.hidden} >= often
    assert all(did > 0 for could, did in report.hidden.values() if could >= 20)
    assert report.longest > 1
    if game.first_roll is not None:
        return  # without tokens no deck shows whether twins are real; the tests of the game have to
    assert report.second_histories >= 4
    # Few are where players choose in secret, as those who pass cards in Hearts.
    assert report.compared_positions >= 1, "twins of this game are never compared with real histories"
    assert report.compared_worlds >= 100 * report.compared_positions


def test_histories_follow_plays_whose_numbers_depend_on_hidden_cards():
    options = {"target": 8, "court_capture": "one_or_three", "royal": True, "table_only_builds": True}
    deck = np.random.default_rng(10).permutation(52).tolist()
    state = get_game("casino_v0").new_state(seed=4, deck=deck, **options)
    builds = [k for k in state.legal_actions() if "build" in state.action_label(k)]
    state.apply(builds[-1])
    found = {}
    for follows in (False, True):
        histories, chooser = Histories(state, 1), random.Random(0)
        histories.follows = follows
        found[follows] = [other for other in (histories.draw(chooser) for _ in range(400)) if other is not None]
    assert len(found[True]) > len(found[False]) > 0
    expected = state.event_rows(1)
    for other in found[True]:
        np.testing.assert_array_equal(other.event_rows(1), expected)
    assert {other.actions[0] for other in found[True]} > {builds[-1]}


def test_the_healthy_toy_passes():
    report = check_game("high_card_v0", effort="sample", subprocesses=False)
    assert set(report.hidden) == {
        ("first_turn", "stock"), ("first_turn", "hand"), ("first_turn", "the next of stock"),
        ("second_turn", "stock"), ("second_turn", "hand"), ("second_turn", "aside"),
        ("second_turn", "the next of stock"),
    }  # fmt: skip


def test_twins_that_fit_all_that_was_seen_pass():
    # The game of the fault "twin_forgets_what_may_be_aside". Its twins leave open which of two cards went aside, as its
    # events do; but by its rules it is never the card just taken.
    check_game(TWO_HANDED, effort="sample", subprocesses=False, worlds_error=1.0)


def test_the_same_seed_looks_at_the_same_games():
    # Hypothesis draws on the constants of the modules that are loaded; the first call loads the last of them.
    _, *reports = [
        check_game("high_card_v0", examples=1, seed=seed, effort="sample", subprocesses=False) for seed in (0, 1, 1, 2)
    ]
    assert reports[0] == reports[1] != reports[2]


# ---------------------------------------------------------------------------------------------------------------
# Planted faults


def test_every_planted_fault_has_its_message():
    assert set(FAULTS) == set(CAUGHT) | IN_ANOTHER_MODE


@pytest.mark.rotating
@pytest.mark.parametrize("name", CAUGHT)
def test_a_planted_fault_is_caught(name):
    with pytest.raises(ConformanceError, match=CAUGHT[name]):
        check_game(FAULTS[name], examples=5, subprocesses=False)


def without_deals(game):
    return dataclasses.replace(game, dealt_tokens=None)


@pytest.mark.parametrize(
    "name",
    [
        "twin_keeps_the_top_of_the_stock",
        "twin_has_a_card_twice",
        "twin_is_not_uniform",
        "rewards_that_tell_what_is_hidden",
        "cached_field_that_tells_what_is_hidden",
    ],
)
def test_a_wrong_twin_is_caught_where_deals_cannot_be_listed(name):
    with pytest.raises(ConformanceError, match=CAUGHT[name]):
        check_game(without_deals(FAULTS[name]), examples=5, subprocesses=False)


def test_twins_may_be_as_far_from_uniform_as_is_declared():
    game = without_deals(FAULTS["twin_is_not_uniform"])
    check_game(game, examples=1, subprocesses=False, worlds_error=0.3)
    with pytest.raises(ConformanceError, match=CAUGHT["twin_is_not_uniform"]):
        check_game(game, examples=1, subprocesses=False, worlds_error=0.01)


@pytest.mark.skipif(not COMPILED, reason="compares with compiled play")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("int8_that_overflows", r"with compiler off play fails:(.|\n)*count \(int8\) cannot hold 200"),
        ("int8_that_wraps_on_the_way", "with compiler off the game differs from ply 1 on"),
    ],
)
def test_an_integer_that_wraps_silently_is_caught(name, message):
    with pytest.raises(ConformanceError, match=message):
        processes.check_other_modes(FAULTS[name], [Case(FAULTS[name], FAULTS[name].make_options(), 1, 1)])


@pytest.mark.skipif(not COMPILED, reason="compares with compiled play")
def test_a_read_out_of_bounds_is_caught():
    game = FAULTS["read_out_of_bounds"]
    case = next(
        case for case in (Case(game, game.make_options(), seed, 0) for seed in range(99))
        if 4 in case.start().record.hand
    )  # fmt: skip
    with pytest.raises(ConformanceError, match=r"with bounds checked play fails:(.|\n)*IndexError"):
        processes.check_other_modes(game, [case], modes=["bounds checked"])  # Python would notice it, too


def test_other_modes_are_part_of_check_game(monkeypatch):
    asked = []
    monkeypatch.setattr(processes, "check_other_modes", lambda game, cases, seconds: asked.append((game, len(cases))))
    check_game(high_card.GAME, examples=1, effort="sample")
    assert asked == [(high_card.GAME, 2)]
    check_game(high_card.GAME, examples=1, effort="sample", subprocesses=False)
    assert len(asked) == 1


# ---------------------------------------------------------------------------------------------------------------
# Faults in the faces


def assert_caught(message):
    with pytest.raises(ConformanceError, match=message):
        check_game(high_card.GAME, examples=1, subprocesses=False)


def test_an_aec_environment_that_shares_its_buffer_is_caught(monkeypatch):
    observe, shared = RawEnv.observe, {}

    def observe_shared(self, agent):
        seen = observe(self, agent)
        array = shared.setdefault(agent, seen["observation"])
        array[:] = seen["observation"]
        return {**seen, "observation": array}

    monkeypatch.setattr(RawEnv, "observe", observe_shared)
    assert_caught("the AEC environment overwrote an observation that it had returned")


def test_an_aec_environment_that_shows_everyone_the_mask_is_caught(monkeypatch):
    observe = RawEnv.observe
    monkeypatch.setattr(
        RawEnv, "observe", lambda self, agent: {**observe(self, agent), "action_mask": np.ones(3, np.int8)}
    )
    assert_caught("the AEC action mask of player_1 differs from the State's")


def test_an_aec_environment_that_shows_something_else_is_caught(monkeypatch):
    observe = RawEnv.observe
    monkeypatch.setattr(
        RawEnv, "observe", lambda self, agent: {**observe(self, agent), "observation": np.ones(22, np.int8)}
    )
    assert_caught("the AEC observation of player_0 differs from the State's")


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ("reward", "the batch rewards"),
        ("terminated", "batch and State disagree on the end"),
        ("episode_returns", "the batch ends the episode with other returns or another seed"),
        ("episode_seed", "the batch ends the episode with other returns or another seed"),
        ("observation", "the batch shows another player, observation, mask or legal list"),
        ("action_mask", "the batch shows another player, observation, mask or legal list"),
    ],
)
def test_a_batch_that_shows_something_else_is_caught(monkeypatch, part, message):
    step = VectorEnv.step

    def step_and_change(self, actions):
        batch = step(self, actions)
        array = getattr(batch, part)
        array[:] = array + 1 if array.dtype != bool else ~array
        return batch

    monkeypatch.setattr(VectorEnv, "step", step_and_change)
    assert_caught(message)


def test_a_warning_of_pettingzoo_is_a_failure(monkeypatch):
    import warnings

    observe = RawEnv.observe

    def observe_and_warn(self, agent):
        warnings.warn("something is odd", stacklevel=2)
        return observe(self, agent)

    monkeypatch.setattr(RawEnv, "observe", observe_and_warn)
    with pytest.raises(ConformanceError, match="high_card_v0: PettingZoo warns: something is odd"):
        faces.check_pettingzoo(high_card.GAME)


@pytest.mark.parametrize(
    "check",
    [faces.check_single_seat, lambda game: doors.check_copies_play_on(Case(game, game.make_options(), 5, 5))],
    ids=["single_seat", "copies"],
)
def test_a_result_that_only_the_single_seat_meets_is_reported_with_its_game(check):
    game = FAULTS["returns_out_of_bounds"]
    with pytest.raises(ConformanceError, match="are outside their declared bounds -1 to 1") as caught:
        check(game)
    message = str(caught.value)
    state = game.new_state(seed=int(re.search(r" seed=(\d+) ", message)[1]))
    for action in ast.literal_eval(re.search(r"actions so far: (.*)$", message)[1]):
        state.apply(action)
    assert f"ply={state.ply}: returns {state.returns} are outside" in message


# ---------------------------------------------------------------------------------------------------------------
# Parts


def test_without_hypothesis_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    with pytest.raises(MissingExtraError, match=r"'hypothesis', which is not installed; .*cardenvs\[test\]"):
        check_game("high_card_v0")


def test_a_phase_that_is_said_to_hide_something_must():
    report = Report()
    report.phases["second_turn"] = 19
    leaks.check_hidden_places_vary(high_card.GAME, report)  # too few to tell
    report.phases["second_turn"] = 20
    with pytest.raises(ConformanceError, match="phase second_turn is in hidden_phases, but hides nothing"):
        leaks.check_hidden_places_vary(high_card.GAME, report)
