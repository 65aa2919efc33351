"""What a match gives its agents says nothing about the deal, and nothing goes from one game to the next."""

import itertools
import json
import os
import subprocess
import sys
import textwrap
import time

import numpy as np
import psutil
import pytest
from typer.testing import CliRunner

from cardenvs.agents import Agent, Turn
from cardenvs.agents.guarded.limits import AgentLimits
from cardenvs.agents.guarded.proxy import AgentProxy, play
from cardenvs.agents.seating import Seat
from cardenvs.agents.seeds import MatchSeed, guest_seed
from cardenvs.arena import Match, Store, run_match
from cardenvs.arena.plan import Plan
from cardenvs.arena.run import run
from cardenvs.arena.schedule import FIXED
from cardenvs.cli import app
from cardenvs.core.errors import AgentError, ArenaError
from cardenvs.core.registry import get_game
from cardenvs.core.results import ResultCheck
from cardenvs.core.state import State
from cardenvs.envs.single import SeatEnv

pytestmark = pytest.mark.rotating

LEDUC = get_game("leduc_poker_v0")
OWN = "python:unfair_agents:"


@pytest.fixture(autouse=True)
def agents_can_be_imported(monkeypatch):
    monkeypatch.syspath_prepend(os.path.dirname(__file__))


def notes_of(spec, seed, deals=3, guard=None):
    """The notes of all decisions of an agent in a match with a guard, and its mean result."""
    options = LEDUC.make_options()
    guard = guard or AgentLimits(on_failure="forced_action")
    match = Match.make(LEDUC, options, (spec, "random"), deals, seed, guard=guard)
    with Store() as store:
        run([match], store)
        records = list(store.records(match.id))
    return records, [
        note["notes"] for record in records for note in record.notes if record.seating[note["player"]] == 0
    ]


# ---------------------------------------------------------------------------------------------------------------
# Seeds


@pytest.mark.parametrize("seed", [0, 7])
def test_an_agent_cannot_find_the_deal_from_its_seed_even_if_the_matchs_seed_can_be_guessed(seed):
    _, notes = notes_of(f"{OWN}FindsSeed", seed)
    assert len(notes) >= 6
    assert not any(note["found"] for note in notes)


def test_the_search_for_the_deal_works_where_seeds_follow_from_the_deal():
    """The attack is one: with the seed that an agent of cardenvs gets, it finds the deal."""
    import unfair_agents

    match = Match.of("leduc_poker_v0", ["search", "random"], 1, seed=7)
    cheat = unfair_agents.FindsSeed(LEDUC, match.options)
    cheat.reset(unfair_agents.old_seed(match.deal_seed(0), "agent", "cheat"))
    assert cheat.deal_seed == match.deal_seed(0)


def test_a_match_draws_its_secret_unless_it_is_given():
    one, other = (Match.of("leduc_poker_v0", ["random", "random"], 5) for _ in range(2))
    assert one.seed.secret != other.seed.secret
    assert one.seed.secret.bit_length() > 90
    again = Match.of("leduc_poker_v0", ["random", "random"], 5, seed=one.seed.token)
    assert again.id == one.id
    assert [again.deal_seed(k) for k in range(5)] == [one.deal_seed(k) for k in range(5)]
    assert Match.of("leduc_poker_v0", ["random", "random"], 5, seed=3).deal_seed(2) == MatchSeed.of("3").deal(2)


@pytest.mark.parametrize("seed", [-1, 1 << 63, True, 1.5, "abc", "1-2", "12345678901234567890", "", "7-" + "G" * 32])
def test_a_seed_that_no_match_has_is_refused(seed):
    with pytest.raises(ArenaError, match="a match's seed is a number"):
        MatchSeed.of(seed)


def test_the_printed_seed_repeats_a_match_with_guests_wholly():
    agents = [f"{OWN}Remembers", "random"]
    first = Match.of("leduc_poker_v0", agents, 2)
    again = Match.of("leduc_poker_v0", agents, 2, seed=first.seed_text)
    other = Match.of("leduc_poker_v0", agents, 2, seed=first.seed.text)  # other guests' seeds, the same deals
    seeds = [[match.seat_seeds(deal, k) for deal in range(2) for k in range(2)] for match in (first, again, other)]
    assert seeds[0] == seeds[1] != seeds[2]
    assert first.id == again.id == other.id
    assert Match.of("leduc_poker_v0", ["random", "random"], 2, seed=1).seed_text == "1"


def test_agents_of_cardenvs_keep_the_seeds_that_follow_from_the_matchs():
    one, other = (Match.of("leduc_poker_v0", ["search", "random"], 2, seed=1) for _ in range(2))
    assert one.seat_seeds(1, 0) == other.seat_seeds(1, 0) == one.seat_seeds(1, 1)[::-1]


def test_a_store_keeps_the_seeds_and_a_match_that_goes_on_takes_them(tmp_path):
    path = tmp_path / "store.db"
    agents = ["random", "search:simulations=2"]
    first = Match.of("leduc_poker_v0", agents, 2)
    run_match(first, path)
    assert run_match(Match.of("leduc_poker_v0", agents, 4), path, resume=True).games == 8
    with Store(path) as store:
        assert store.match_ids() == [first.id]
        assert store.match(first.id).seed.token == first.seed.token
        chosen = store.seeded(Match.of("leduc_poker_v0", agents, 4, seed=first.seed.text))
        assert chosen.seed.guests_key == first.seed.guests_key
    run_match(Match.of("leduc_poker_v0", agents, 1), path)  # without `resume` it is another match
    with Store(path) as store:
        assert len(store.match_ids()) == 2


def test_a_store_is_opened_by_its_path():
    with Store() as store, pytest.raises(ArenaError, match="expected the path of a store, a str or a Path; got <"):
        run_match(Match.of("leduc_poker_v0", ["random", "random"], 1), store)


def test_the_seeds_of_guests_say_nothing_without_the_key():
    places = [(deal, lineup, player) for deal in range(20) for lineup in range(2) for player in range(2)]
    seeds = {guest_seed("0" * 32, *place) for place in places}
    assert len(seeds) == len(places)
    assert not seeds & {guest_seed("0" * 31 + "1", *place) for place in places}


def test_seats_of_an_environment_draw_guests_seeds_from_a_key():
    class Notes(Agent):
        name, seeds = "notes", []

        def reset(self, seed):
            self.seeds.append(seed)

        def act(self, turn):
            return turn.legal_actions[0]

    found = []
    for key in (None, None, "a" * 32, "a" * 32):
        Notes.seeds = []
        env = SeatEnv("leduc_poker_v0", opponents=Notes(), guests_key=key)
        env.reset(seed=3)
        env.reset(seed=3)
        found.append(tuple(Notes.seeds))
    assert found[0] != found[1]
    assert found[2] == found[3]
    assert found[0][0] == found[0][1]  # the same reset is the same episode


# ---------------------------------------------------------------------------------------------------------------
# Nothing goes from game to game


def test_an_agent_that_remembers_has_nothing_to_remember():
    records, notes = notes_of(f"{OWN}Remembers", 3, deals=4)
    assert {note["games"] for note in notes} == {1}
    assert not any(note["found"] for note in notes)
    assert len({note["seed"] for note in notes}) == len(records) == 8


@pytest.mark.parametrize("cheat", ["FindsSeed", "Remembers"])
@pytest.mark.parametrize("against", ["random", "search:simulations=5"])
def test_who_would_use_what_it_finds_plays_as_if_it_had_not_looked(cheat, against):
    """Duplicate deals, with the same cards and seeds: not one action differs, so nothing is gained."""
    seed = f"7-{'a' * 32}"  # the secret can be guessed
    actions = []
    for agent in (cheat, "Cheat"):
        match = Match.of("leduc_poker_v0", [f"{OWN}{agent}", against], 8, seed=seed)
        with Store() as store:
            run([match], store)
            actions.append({(one.deal, one.lineup): (one.seed, one.actions) for one in store.records(match.id)})
    assert actions[0] == actions[1]
    assert len(actions[0]) == 16


@pytest.mark.parametrize(("cheat", "least"), [("FindsSeed", 1.5), ("Remembers", 0.5)])
def test_where_it_can_be_found_it_is_worth_chips(cheat, least):
    """The attacks are attacks: one agent for all games, with a seed that follows from the deal, gains a lot."""
    import unfair_agents

    match = Match.of("leduc_poker_v0", ["random", "random"], 60, seed=7)
    means = []
    for name in (cheat, "Cheat"):
        agent = getattr(unfair_agents, name)(LEDUC, match.options)
        total = 0
        for deal, seat in itertools.product(range(match.deals), range(2)):
            seed = unfair_agents.old_seed(match.deal_seed(deal), "agent", "cheat")
            state = LEDUC.new_state(seed=match.deal_seed(deal))
            agents = [agent, AgentProxy.of("random", LEDUC, state.options).agent]
            play(state, [AgentProxy(one) for one in agents[:: 1 - 2 * seat]], seeds=[seed, seed])
            total += state.returns[seat]
        means.append(total / (2 * match.deals))
    assert means[0] > means[1] + least


def test_a_program_is_started_for_each_game(tmp_path):
    path = tmp_path / "agent.py"
    path.write_text(
        textwrap.dedent("""
        import json, sys
        games = 0
        for line in sys.stdin:
            message = json.loads(line)
            if message["type"] == "hello":
                print(json.dumps({"type": "ready", "protocol": 1}), flush=True)
            elif message["type"] == "reset":
                games += 1
            elif message["type"] == "act":
                answer = {"type": "action", "id": message["legal"][0]["id"], "notes": {"games": games}}
                print(json.dumps(answer), flush=True)
    """)
    )
    _, notes = notes_of(f"process:{sys.executable} {path}", 3)
    assert {note["games"] for note in notes} == {1}


def test_the_games_of_a_deal_are_far_apart_and_all_are_played():
    for deals in (1, 2, 3, 31, 32, 33, 100):
        match = Match.of("leduc_poker_v0", ["random", "search"], deals, seed=1)
        plan = Plan([match], [[]])
        _, jobs = plan.take(plan.left)
        assert sorted(jobs) == [(deal, lineup) for deal in range(deals) for lineup in range(2)]
        if deals > 1:
            assert all(one[0] != next_one[0] for one, next_one in itertools.pairwise(jobs))


# ---------------------------------------------------------------------------------------------------------------
# The true state


STEALS = f"{OWN}Steals"


def test_stealing_works_where_the_agent_is_in_the_process_of_the_match():
    state = LEDUC.new_state(seed=1)
    with AgentProxy.of(STEALS, LEDUC, state.options, AgentLimits(isolation="none")) as thief:
        thief.begin(state, state.current_player, 1)
        assert thief.decide(state).notes == {"found": True}


def steal_in_match(tmp_path):
    match = Match.of("leduc_poker_v0", [STEALS, "random"], 2, seed=3)
    return run_match(match, tmp_path / "store.db").games == 4


def steal_under_guard(tmp_path):
    _, notes = notes_of(STEALS, 3)
    return notes and not any(note["found"] for note in notes)


def steal_in_simulation(tmp_path):
    match = Match.make(LEDUC, LEDUC.make_options(), (STEALS, "random"), 2, 1, schedule=FIXED)
    with Store() as store:
        run([match], store, keep_going=True)
        games = list(store.records(match.id))
    return len(games) == 2 and all(max(map(abs, game.returns)) <= 13 for game in games)


def steal_from_seat(tmp_path):
    env = SeatEnv("leduc_poker_v0", opponents=STEALS, seat=1)
    _, info = env.reset(seed=1)
    over = False
    while not over:
        _, _, over, _, info = env.step(np.flatnonzero(info["action_mask"])[-1])
    env.close()
    return max(map(abs, info["returns"])) <= 13


def steal_in_terminal(tmp_path):
    words = ["play", "leduc_poker", "--against", STEALS, "--seat", "1", "--seed", "3"]
    result = CliRunner().invoke(app, words, input="1\n" * 20)
    return result.exit_code == 0 and "The game is over" in result.stdout


def steal_in_holdem_records(tmp_path):
    words = ["texas_holdem", "play-match", "--agents", f"{STEALS},random", "--out", str(tmp_path / "match")]
    result = CliRunner().invoke(app, [*words, "-o", "format=cash", "-o", "num_hands=2", "--seed", "1"])
    lines = (tmp_path / "match" / "actions.jsonl").read_text().splitlines()
    notes = [one["notes"] for one in map(json.loads, lines) if one["player"] == 0]
    return result.exit_code == 0 and notes and not any(note["found"] for note in notes)


def tries_in(folder):
    """What Steals says of each of its decisions, anywhere."""
    return (folder / "steals").read_text().split()


@pytest.mark.parametrize(
    "steal",
    [
        steal_in_match, steal_under_guard, steal_in_simulation, steal_from_seat, steal_in_terminal,
        steal_in_holdem_records,
    ],
)  # fmt: skip
def test_an_agent_does_not_find_the_true_state_anywhere(steal, tmp_path, monkeypatch):
    monkeypatch.setenv("CARDENVS_TEST_FOLDER", str(tmp_path))
    assert steal(tmp_path)
    assert set(tries_in(tmp_path)) == {"False"}


def test_a_turn_of_an_agent_that_is_not_cardenvs_own_does_not_refer_to_the_true_state():
    class Looks(Agent):
        name = "looks"

        def act(self, turn):
            state = turn._Turn__state
            turn.notes["knower"] = [state._knower, state.has_history, state.deck.tolist(), state.actions, state.ply]
            return turn.legal_actions[0]

    state = LEDUC.new_state(seed=3, deck="Q K J")
    proxies = [AgentProxy(Looks()), AgentProxy(Looks(), AgentLimits(isolation="thread"))]
    for decision in play(state, proxies, seeds=[1, 2]):
        assert decision.notes["knower"] == [decision.player, False, [], [], 0]


def test_a_turn_of_a_twin_is_that_of_the_state():
    for seed in range(5):
        state = LEDUC.new_state(seed=seed)
        while not state.is_terminal:
            turn = Turn(state, 5, 2, goes_on=True)
            twin = Turn(turn.determinize(turn.seed), 5, 2, goes_on=True)
            assert (twin.view, twin.facts, twin.recap) == (turn.view, turn.facts, turn.recap)
            assert (twin.seed, twin.decision, twin.goes_on) == (turn.seed, 2, True)
            assert twin.determinize(9).record_bytes() == turn.determinize(9).record_bytes()
            state.apply(state.policy_action("random", seed + state.ply))


def test_a_seat_counts_its_own_decisions():
    state = LEDUC.new_state(seed=1)
    seats = [Seat(AgentProxy.of("random", LEDUC, state.options).agent, player, 7) for player in (0, 1)]
    counted, last = [0, 0], None
    while not state.is_terminal:
        player = state.current_player
        turn = seats[player].turn(state)
        assert turn.decision == counted[player]
        assert turn.goes_on == (player == last)
        last = player
        counted[player] += 1
        seats[player].decided(state)
        state.apply(turn.legal_actions[-1])
    assert min(counted) >= 1


def test_a_result_that_the_game_rules_out_is_refused_and_named(monkeypatch):
    state = LEDUC.new_state(seed=1)
    check = ResultCheck(state)
    assert check.fault(state) is None
    for wrong, what in (
        ([500, -500], "outside their declared bounds"),
        ([1, 1], "do not add up"),
        ([np.nan, 0], "outside their declared bounds"),
    ):
        state._states["returns"][0, :2] = wrong
        assert f"leduc_poker_v0: returns {state.returns} " in check.fault(state)
        assert what in check.fault(state)
    monkeypatch.setattr(State, "returns", property(lambda self: [500.0, -500.0]))
    with pytest.raises(
        AgentError, match=r"deal 0 \(seed .*\), lineup 0, cannot end like this: leduc_poker_v0: returns"
    ):
        run_match(Match.of("leduc_poker_v0", ["random", "random"], 1, seed=1))


# ---------------------------------------------------------------------------------------------------------------
# Processes


def test_what_an_agent_reports_is_bounded():
    records, notes = notes_of(f"{OWN}Talks", 1, deals=2)
    assert all(set(note) == {"dropped"} for note in notes)
    for record in records:
        kinds = record.failures[record.seating.index(0)]
        assert len(kinds) <= 33
        assert all(kind.isascii() and kind.isprintable() and len(kind) <= 40 for kind in kinds)
        assert len(str(record.notes)) < 200_000


def test_an_agents_environment_is_clean_but_for_what_the_operator_passes_on(monkeypatch, tmp_path):
    monkeypatch.setenv("OPENAI_BASE", "https://user:secret@example.org")
    monkeypatch.setenv("DATABASE_URL", "postgres://user:secret@example.org")
    monkeypatch.setenv("MY_SETTING", "given")
    path = tmp_path / "store.db"
    words = ["match", "leduc_poker", "--agents", f"{OWN}Environment,random", "--deals", "1", "--store", str(path)]
    assert CliRunner().invoke(app, [*words, "--on-failure", "forfeit", "--keep-env", "MY_SETTING"]).exit_code == 0
    with Store(path) as store:
        (match_id,) = store.match_ids()
        notes = [note["notes"] for record in store.records(match_id) for note in record.notes]
    assert notes
    for note in notes:
        assert note["environment"]["MY_SETTING"] == "given"
        assert not {"OPENAI_BASE", "DATABASE_URL", "PYTEST_CURRENT_TEST"} & set(note["environment"])


def runs(pid):
    """Whether a process runs, which may end while it is asked."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def gone(pids, seconds=60):
    """Whether none of these processes runs any more, soon."""
    deadline = time.monotonic() + seconds
    while any(runs(pid) for pid in pids):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


BREEDER = """
    import cardenvs, os, sys, time
    from cardenvs.agents.guarded.limits import AgentLimits
    from cardenvs.agents.guarded.proxy import AgentProxy
    game = cardenvs.get_game("leduc_poker_v0")
    proxy = AgentProxy.of(SPEC, game, game.make_options(), AgentLimits())
    state = game.new_state(seed=1)
    proxy.begin(state, state.current_player, 0)
    assert proxy.decide(state).outcome == "ok"
    assert len(os.listdir(os.environ["CARDENVS_TEST_FOLDER"])) == 2
    HOW
"""
PROGRAM = """
    import json, sys
    sys.path[:0] = PATH
    import unfair_agents
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "hello":
            print(json.dumps({"type": "ready", "protocol": 1}), flush=True)
        elif message["type"] == "act":
            class turn:
                decision, legal_actions = 0, [message["legal"][0]["id"]]
            unfair_agents.Breeds(None, None).act(turn)
            print(json.dumps({"type": "action", "id": turn.legal_actions[0]}), flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt what others leave behind")
@pytest.mark.parametrize("kind", ["python", "process"])
@pytest.mark.parametrize("how", ["proxy.end(state); time.sleep(600)", "proxy.close()", "os.kill(os.getpid(), 9)"])
def test_what_an_agent_has_started_ends_with_it(kind, how, tmp_path):
    folder = tmp_path / "pids"
    folder.mkdir()
    spec = f"{OWN}Breeds"
    path = [os.path.dirname(__file__), *sys.path]
    if kind == "process":
        program = tmp_path / "agent.py"
        program.write_text(textwrap.dedent(PROGRAM).replace("PATH", repr(path)))
        spec = f"process:{sys.executable} {program}"
    running = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(BREEDER).replace("SPEC", repr(spec)).replace("HOW", how)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path), "CARDENVS_TEST_FOLDER": str(folder)},
    )
    try:
        deadline = time.monotonic() + 120
        while len(list(folder.iterdir())) < 2 and time.monotonic() < deadline and running.poll() is None:
            time.sleep(0.05)
        pids = [int(file.name) for file in folder.iterdir()]
        assert len(pids) == 2
        assert gone(pids)
    finally:
        running.kill()
        running.wait()
