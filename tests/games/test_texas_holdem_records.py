"""Texas hold'em: timelines, how hands were played, and the records of a match."""

import json
import random

import pytest
from holdem import play, table

import cardenvs
from cardenvs.agents.base import Agent
from cardenvs.agents.seating import Seat
from cardenvs.core.codes import FORFEIT
from cardenvs.core.errors import AgentError, ArenaError, CardenvsError, FormatError, ImpossibleStateError, OptionError
from cardenvs.core.events import OMNISCIENT, SPECTATOR
from cardenvs.core.replay import Replay
from cardenvs.games.texas_holdem import GAME
from cardenvs.games.texas_holdem.actions import RAISE_TO
from cardenvs.tools.texas_holdem.aggregates import aggregate, position
from cardenvs.tools.texas_holdem.entries import standings
from cardenvs.tools.texas_holdem.hands import read_hands
from cardenvs.tools.texas_holdem.records import MatchFailedError, MatchLimits, play_match
from cardenvs.tools.texas_holdem.timeline import Timeline

FILES = {"match.json", "timeline.jsonl", "actions.jsonl", "aggregates.json", "replay.json"}


def side_pot():
    """Three seats, two all-in; seat 1 wins the main pot and seat 0 the side pot. The button is seat 0."""
    state = table(
        [2000, 300, 2000], blinds=(50, 100), hands={0: "As Ks", 1: "Qd Qc", 2: "7h 2c"}, board="Qh 7d 9h Ac 3d"
    )
    return play(state, "0:250 1:all 2:fold 0:call")


def played_at_random(seed=1, most=10_000, **options):
    """A match of random play that folds often."""
    rng = random.Random(seed)
    state = GAME.new_state(seed=seed, **{"num_players": 4, "starting_stack": 400, "hands_per_level": 4, **options})
    while not state.is_terminal and state.ply < most:
        legal = state.legal_actions()
        state.apply(legal[0] if rng.random() < 0.4 else rng.choice(legal))
    return state


@pytest.fixture(scope="module")
def match():
    """A tournament of several hands, with players out and a showdown."""
    state = next(s for s in map(played_at_random, range(100)) if s.record.hand_number >= 8)
    return state, Timeline.of(state, ["Ann", "Bob", "Cho", "Dee"])


# ---------------------------------------------------------------------------------------------------------------
# The timeline


def test_a_hand_is_told_in_order():
    timeline = Timeline.of(side_pot())
    told = [(entry.kind, data.get("player"), data.get("value")) for entry in timeline.entries
            if (data := entry.as_json()) and entry.kind not in ("stack", "pot", "deal", "bet_taken_in")]  # fmt: skip
    assert told == [
        ("clear_table", None, 0), ("hand", None, 1), ("button", None, 0),
        ("small_blind", None, 50), ("big_blind", None, 100),
        ("post_small_blind", 1, 50), ("post_big_blind", 2, 100), ("new_deck", None, 52),
        ("request", 0, None), ("action", 0, None), ("raise", 0, 250),
        ("request", 1, None), ("action", 1, None), ("raise", 1, 300),
        ("request", 2, None), ("action", 2, None), ("fold", 2, 1),
        ("request", 0, None), ("action", 0, None), ("call", 0, 300),
        ("show", 0, 1), ("show", 0, 1), ("show", 1, 1), ("show", 1, 1),
        *[("flop", None, None)] * 3, ("turn", None, None), ("river", None, None),
        ("settle_pot", None, 700), ("eligible", 0, 0), ("eligible", 1, 0), ("win", 1, 700),
        ("standings", None, None),
    ]  # fmt: skip


def test_a_request_says_what_may_be_done_and_the_action_answers_it():
    timeline = Timeline.of(side_pot())
    (request, action), *_ = [
        (timeline.entries[k].as_json(), timeline.entries[k + 1].as_json())
        for k, entry in enumerate(timeline.entries)
        if entry.kind == "request" and entry.data["player"] == 1
    ]
    assert request | {"i": 0} == {
        "i": 0, "hand": 1, "ply": 1, "kind": "request", "player": 1, "street": "preflop",
        "may": ["fold", "call", "raise", "all_in"], "to_call": 200, "min_raise_to": 300, "max_raise_to": 300,
        "pot": 400, "stack": 250,
    }  # fmt: skip
    assert (action["player"], action["id"], action["label"]) == (1, RAISE_TO + 300, "raise to 300, all in")
    assert timeline.sentence(request["i"], 0) == "player_1 may fold, call 200, raise to 300 up to 300, all in."


def test_pots_levels_eliminations_and_standings_are_told(match):
    _, timeline = match
    kinds = {entry.kind for entry in timeline.entries}
    assert kinds >= {"level", "settle_pot", "eligible", "win", "uncalled", "out", "place", "show", "flop"}
    out = [entry.as_json()["player"] for entry in timeline.entries if entry.kind == "out"]
    assert len(out) == 3
    final = timeline.entries[-1].as_json()["standings"]
    assert [row["place"] for row in final] == [1, 2, 3, 4]
    assert [row["player"] for row in reversed(final)][:3] == out
    assert [row["chips"] for row in final] == [1600, 0, 0, 0]


def test_the_number_of_the_hand_counts_from_its_first_event(match):
    _, timeline = match
    for entry in timeline.entries:
        if entry.kind == "hand":
            assert entry.hand == entry.as_json()["value"]
    gathered = [entry.hand for entry in timeline.entries if entry.kind == "clear_table"]
    assert gathered == list(range(1, len(gathered) + 1))


@pytest.mark.parametrize("viewer", [SPECTATOR, 0, 2])
def test_the_table_at_an_entry_is_the_table_of_the_match_at_that_moment(match, viewer):
    state, timeline = match
    checked = 0
    again = timeline.state_at(0)
    for entry in timeline.entries:
        if entry.kind == "action":
            assert timeline.table(entry.index, viewer) == again.table(viewer), entry
            again.apply(entry.data["id"])
            checked += 1
    assert timeline.table(len(timeline), viewer) == state.table(viewer)
    assert checked == len(state.actions)


def test_the_omniscient_table_shows_all_hands():
    timeline = Timeline.of(side_pot())
    first = next(entry.index for entry in timeline.entries if entry.kind == "request")
    hands = {viewer: timeline.view(first, viewer)["table"]["piles"]["hand"] for viewer in (OMNISCIENT, SPECTATOR, 1)}
    assert hands[OMNISCIENT] == [["A♠", "K♠"], ["Q♣", "Q♦"], ["2♣", "7♥"]]
    assert hands[SPECTATOR] == [["?", "?"]] * 3
    assert hands[1] == [["?", "?"], ["Q♣", "Q♦"], ["?", "?"]]


def test_nobody_is_told_a_card_that_it_does_not_see():
    timeline = Timeline.of(side_pot())
    for viewer, own in ((SPECTATOR, set()), (0, {0}), (2, {2})):
        seen = [e for e in timeline.events(viewer) if "card" in e]
        assert {e["player"] for e in seen if e["kind"] == "deal"} == own
        assert {e["player"] for e in seen if e["kind"] == "show"} == {0, 1}
        assert not any("seen_by" in e for e in timeline.events(viewer))
    text = json.dumps(timeline.events(SPECTATOR))
    assert "7h" not in text
    assert "2c" not in text


def test_a_twin_makes_the_same_timeline_for_the_player_it_keeps():
    """Other cards for the others: what player 0 is told before the showdown stays the same."""
    one = play(table(3 * [500], hands={0: "As Ks", 1: "Qd Qc"}), "0:60 1:call")
    other = play(table(3 * [500], hands={0: "As Ks", 1: "8d 4c"}), "0:60 1:call")
    told = [Timeline.of(state).events(0) for state in (one, other)]
    assert told[0] == told[1]
    assert Timeline.of(one).events(1) != Timeline.of(other).events(1)


def test_stepping_forward_and_back_is_replay(match):
    _, timeline = match
    playback = timeline.playback(1)
    assert playback.back() is None
    walked = [playback.forward() for _ in range(60)]
    assert walked == list(timeline.entries[:60])
    assert playback.table == timeline.table(60, 1)
    assert playback.back() == timeline.entries[59]
    assert playback.index == 59
    assert playback.table == timeline.table(59, 1)
    playback.seek(len(timeline))
    assert playback.forward() is None
    for wrong in (-1, len(timeline) + 1):
        with pytest.raises(IndexError, match=rf"places 0 to {len(timeline)}; got {wrong}"):
            playback.seek(wrong)
    assert playback.index == len(timeline)


def test_the_same_match_gives_the_same_bytes(match):
    state, timeline = match
    again = GAME.new_state(seed=state.seed, **state.options.as_dict())
    for action in state.actions:
        again.apply(action)
    assert Timeline.of(again, list(timeline.players)).dumps() == timeline.dumps()
    assert Timeline.of(played_at_random(state.seed + 1), list(timeline.players)).dumps() != timeline.dumps()


def test_a_timeline_is_read_back_as_it_was(match, tmp_path):
    state, timeline = match
    timeline.save(tmp_path / "timeline.jsonl")
    loaded = Timeline.load(tmp_path / "timeline.jsonl")
    assert loaded.entries == timeline.entries
    assert loaded.dumps() == timeline.dumps()
    assert loaded.actions == state.actions
    loaded.verify()
    assert loaded.state_at().stacks == state.stacks
    assert loaded.state_at(3).actions == state.actions[:3]


def test_a_timeline_of_an_unfinished_match_ends_with_a_request():
    state = play(table(), "3:60")
    state.apply(FORFEIT + 4)
    timeline = Timeline.of(state)
    assert not timeline.finished
    assert [(e.kind, e.data["player"]) for e in timeline.entries if e.kind in ("request", "action")][-3:] == [
        ("request", 4), ("action", 4), ("request", 5)]  # fmt: skip
    assert timeline.sentence(len(timeline) - 1, SPECTATOR).startswith("player_5 may fold, call 60")
    Timeline.loads(timeline.dumps()).verify()


def changed(text, line, **values):
    """The text with a line changed and a fitting digest, as somebody would who wants to deceive."""
    import hashlib

    lines = text.splitlines(keepends=True)
    data = json.loads(lines[line]) | values
    lines[line] = json.dumps({k: v for k, v in data.items() if v != "gone"}) + "\n"
    if line:
        head = json.loads(lines[0]) | {"digest": hashlib.sha256("".join(lines[1:]).encode()).hexdigest()}
        lines[0] = json.dumps(head) + "\n"
    return "".join(lines)


def test_a_timeline_that_was_cut_short_or_edited_is_refused(tmp_path):
    text = Timeline.of(side_pot()).dumps()
    for size in (0, 10, len(text) // 2, len(text) - 30, len(text) - 1):
        with pytest.raises(FormatError):
            Timeline.loads(text[:size])
    with pytest.raises(FormatError, match="cut short or edited"):
        Timeline.loads(text.replace('"value":250', '"value":251'))
    (tmp_path / "bad").write_bytes(b"\xff\xfe")
    with pytest.raises(FormatError, match="not UTF-8"):
        Timeline.load(tmp_path / "bad")


@pytest.mark.parametrize(
    ("line", "values", "message"),
    [
        (0, {"format": "x"}, "not a timeline"),
        (0, {"format_version": 2}, "format 2"),
        (0, {"game": "leduc_poker_v0"}, "timeline of 'leduc_poker_v0'"),
        (0, {"options": {"num_players": 99}}, "num_players takes"),
        (0, {"players": ["Ann"]}, "should be 3 names"),
        (0, {"setup": {}}, "seed and a deck"),
        (0, {"entries": "many"}, "'entries' should be of type int"),
        (1, {"i": 7}, "line 2: 'i' should be 0"),
        (1, {"ply": "0"}, "integers"),
        (1, {"kind": "jump"}, "line 2 does not describe an entry: KeyError 'jump'"),
        (1, {"kind": "gone"}, "KeyError 'kind'"),
        (1, {"value": 2**40}, "line 2 does not describe"),
        (1, {"counter": "stack/77"}, "stack/77"),
        (1, {"card": "1x"}, "is not a card"),
        (1, {"seen_by": [10**9]}, "line 2 does not describe"),
        (1, {"kind": "action", "player": 0, "label": "x", "id": "y"}, "line 2 does not describe"),
    ],
)
def test_a_hostile_timeline_is_refused(line, values, message):
    with pytest.raises(FormatError, match=message):
        Timeline.loads(changed(Timeline.of(side_pot()).dumps(), line, **values))


def test_a_timeline_without_entries_cannot_be_verified():
    head = json.loads(Timeline.of(side_pot()).dumps().splitlines()[0])
    empty = json.dumps(
        head | {"entries": 0, "digest": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}
    )
    with pytest.raises(FormatError, match="it has 0 entries, but replaying gives"):
        Timeline.loads(empty + "\n").verify()


def test_an_edit_with_a_fitting_digest_is_found_by_playing_again():
    text = Timeline.of(side_pot()).dumps()
    line = next(k for k, text_line in enumerate(text.splitlines()) if '"kind":"win"' in text_line)
    forged = Timeline.loads(changed(text, line, value=9000))
    with pytest.raises(FormatError, match=r"entry \d+ reads .*9000.*replaying gives"):
        forged.verify()


def test_a_timeline_of_another_game_or_of_a_twin_is_refused():
    with pytest.raises(CardenvsError, match="got a state of leduc_poker_v0"):
        Timeline.of(cardenvs.get_game("leduc_poker_v0").new_state(seed=1))
    with pytest.raises(ValueError, match="does not go back to the deal"):
        Timeline.of(table().determinize(0, 1))
    with pytest.raises(ValueError, match=r"players need a list of . names"):
        Timeline.of(table(), ["Ann"])


def test_places_that_are_shared():
    state = table([300, 300, 2000], hands={0: "As Kd", 1: "Ah Kc", 2: "9c 9d"}, format="tournament", blinds=(10, 20))
    play(state, "0:all 1:all 2:call")
    final = Timeline.of(state).entries[-1].as_json()["standings"]
    assert [(row["place"], row["player"]) for row in final] == [(1, 2), (2, 0), (2, 1)]


def test_standings_of_cash_go_by_what_was_won():
    rows = standings(side_pot(), ("Ann", "Bob", "Cho"))
    assert [(row["place"], row["name"], row["chips"]) for row in rows] == [
        (1, "Bob", 700), (2, "Cho", 1900), (3, "Ann", 1700)]  # fmt: skip


# ---------------------------------------------------------------------------------------------------------------
# How hands were played


def two_hands():
    """Two hands of cash between three: seat 2 folds to a raise and wins nothing; then heads on with button 1."""
    state = table(3 * [1000], blinds=(10, 20), num_hands=2, hands={0: "As Ah", 1: "Kd Kc", 2: "8h 4c"}, seed=3)
    # Hand 1, button 0: 0 raises, 1 calls, 2 folds; flop 1 checks, 0 bets, 1 calls; turn 1 bets, 0 raises, 1 folds.
    play(state, "0:60 1:call 2:fold 1:check 0:100 1:call 1:100 0:300 1:fold")
    # Hand 2, button 1, small blind 2, big blind 0: 1 calls, 2 calls, 0 checks; everybody checks, then 2 wins by a bet.
    return play(state, "1:call 2:call 0:check 2:check 0:check 1:check 2:check 0:check 1:check 2:50 0:fold 1:fold")


def test_the_figures_of_two_hands():
    state = two_hands()
    assert state.is_terminal
    figures = aggregate([state])
    ann, bob, cho = (figures[f"player_{p}"] for p in range(3))
    assert [player["hands"] for player in figures.values()] == [2, 2, 2]
    assert [player["vpip"] for player in figures.values()] == [0.5, 1.0, 0.5]  # a big blind that checks has not
    assert [player["pfr"] for player in figures.values()] == [0.5, 0.0, 0.0]
    assert ann["aggression_factor"] is None  # bet, raise, no call after the flop
    assert ann["aggression_frequency"] == pytest.approx(2 / 3)  # bet and raise, and a fold
    assert bob["aggression_factor"] == 1.0  # one bet, one call
    assert bob["aggression_frequency"] == pytest.approx(1 / 4)  # a bet, a call, two folds
    assert cho["aggression_frequency"] == 1.0
    assert [player["flops"] for player in figures.values()] == [2, 2, 1]
    assert [player["wtsd"] for player in figures.values()] == [0.0, 0.0, 0.0]
    assert [player["wsd"] for player in figures.values()] == [None, None, None]
    assert [player["chips"] for player in figures.values()] == [280 - 20, -260 - 20, -20 + 40]
    assert ann["big_blinds_per_100"] == pytest.approx(100 * 260 / 20 / 2)
    assert ann["by_position"] == {"BB": {"hands": 1, "chips": -20}, "BTN": {"hands": 1, "chips": 280}}
    assert cho["by_position"] == {"SB": {"hands": 1, "chips": 40}, "BB": {"hands": 1, "chips": -20}}
    assert bob["actions"]["turn"] == {"fold": 1, "check": 1, "call": 0, "bet": 1, "raise": 0}


def test_showdowns_are_counted():
    figures = aggregate([side_pot()])
    assert [figures[f"player_{p}"]["wtsd"] for p in range(3)] == [1.0, 1.0, None]
    assert [figures[f"player_{p}"]["wsd"] for p in range(3)] == [0.0, 1.0, None]


def test_positions_are_counted_from_the_button():
    (hand,) = read_hands(Timeline.of(table()))
    assert [position(hand, seat) for seat in range(6)] == ["BTN", "SB", "BB", "BTN-3", "BTN-2", "BTN-1"]
    (hand,) = read_hands(Timeline.of(table(2 * [100])))
    assert [position(hand, seat) for seat in range(2)] == ["BTN", "BB"]


def test_positions_with_a_dead_button_and_without_a_small_blind():
    """Seats 1 and 2 go out in the first hand (scenario 27): then the button lies at the empty seat 1."""
    state = table(
        {1: 20, 2: 20}, hands={0: "As Ah", 1: "7c 2d", 2: "8c 3h"}, format="tournament", board="Ac Kd 9h Js 4d"
    )
    play(state, "3:fold 4:fold 5:fold 0:call 1:call")
    hand = list(read_hands(Timeline.of(state)))[-1]
    assert (hand.number, hand.button, hand.has_small_blind, hand.seats) == (2, 1, False, [3, 4, 5, 0])
    assert [position(hand, seat) for seat in hand.seats] == ["BB", "BTN-3", "BTN-2", "BTN-1"]


def test_figures_add_up_over_matches_and_by_name(match):
    state, timeline = match
    once, twice = aggregate([timeline]), aggregate([timeline, Replay.of(state, ["Ann", "Bob", "Cho", "Dee"])])
    for name, figures in once.items():
        assert twice[name]["hands"] == 2 * figures["hands"]
        assert twice[name]["vpip"] == figures["vpip"]
        assert sum(where["hands"] for where in figures["by_position"].values()) == figures["hands"]
        assert sum(where["chips"] for where in figures["by_position"].values()) == figures["chips"]
    assert sum(figures["chips"] for figures in once.values()) == 0


def test_a_hand_that_is_not_over_does_not_count():
    assert aggregate([play(table(), "3:60")])["player_3"]["hands"] == 0


# ---------------------------------------------------------------------------------------------------------------
# Matches


class Scripted(Agent):
    """Calls, and does what a function says at some of its decisions."""

    def __init__(self, name="scripted", **at):
        self.name, self._at = name, {int(decision[8:]): what for decision, what in at.items()}

    def act(self, turn):
        what = self._at.get(turn.decision)
        return 1 if what is None else what(turn)


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_match_writes_all_of_it(tmp_path):
    result = play_match(["random"] * 3, seed=4, out=tmp_path / "match", starting_stack=200)
    folder = tmp_path / "match"
    assert {path.name for path in folder.iterdir()} == FILES
    written = json.loads((folder / "match.json").read_text())
    assert (written["status"], written["seed"], written["players"]) == (
        "finished",
        4,
        ["random", "random#2", "random#3"],
    )
    assert written["options"]["starting_stack"] == 200
    assert [row["place"] for row in written["standings"]] == [1, 2, 3]
    assert [row["place"] for row in written["eliminations"]] == [3, 2]
    assert [row["name"] for row in written["eliminations"]] == [row["name"] for row in written["standings"][:0:-1]]
    assert written["actions"] == len(result.state.actions) == len(lines(folder / "actions.jsonl"))
    timeline = Timeline.load(folder / "timeline.jsonl")
    timeline.verify()
    replay = Replay.load(folder / "replay.json")
    assert list(replay.actions) == timeline.actions
    assert json.loads((folder / "aggregates.json").read_text()) == aggregate([replay]) == result.aggregates
    assert result.failure is None


def test_the_same_seed_writes_the_same_files(tmp_path):
    for name, seed in (("a", 4), ("b", 4), ("c", 5)):
        play_match(["random"] * 3, seed=seed, out=tmp_path / name, starting_stack=200)
    for file in FILES - {"actions.jsonl"}:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    assert (tmp_path / "a" / "timeline.jsonl").read_bytes() != (tmp_path / "c" / "timeline.jsonl").read_bytes()


def test_what_an_agent_notes_is_kept_with_its_decision(tmp_path):
    def note(turn):
        turn.notes |= {"prompt": "höld \ud800?", "tokens": {"in": 12, "out": 3}, "latency": 0.25}
        return 1

    result = play_match([Scripted("Ann", decision0=note), "random"], seed=1, out=tmp_path / "m", format="cash")
    first, *others = lines(tmp_path / "m" / "actions.jsonl")
    assert first["notes"] == {"prompt": "höld \ud800?", "tokens": {"in": 12, "out": 3}, "latency": 0.25}
    assert (first["player"], first["name"], first["label"], first["street"]) == (0, "Ann", "call 10", "preflop")
    assert first["seconds"] >= 0
    assert others
    assert all(decision["notes"] == {} for decision in others)
    assert [decision["action"] for decision in result.decisions] == result.state.actions


def test_decisions_are_kept_while_the_match_is_on(tmp_path):
    seen = {}

    def look(turn):
        seen["files"] = {path.name for path in (tmp_path / "m").iterdir()}
        seen["status"] = json.loads((tmp_path / "m" / "match.json").read_text())["status"]
        seen["lines"] = len(lines(tmp_path / "m" / "actions.jsonl"))
        return 1

    play_match([Scripted(), Scripted(decision1=look)], seed=1, out=tmp_path / "m", format="cash")
    assert seen == {"files": FILES | {".lock"}, "status": "running", "lines": 2}
    assert {path.name for path in (tmp_path / "m").iterdir()} == FILES


def bang(turn):
    raise RuntimeError("no connection")


def failed_match(tmp_path, what, **options):
    """The result of a match in which an agent does `what` at ply 2."""
    agents = [Scripted("Ann", decision1=what), Scripted("Bob", decision1=what)]
    stop = MatchLimits(on_failure="stop")
    with pytest.raises(MatchFailedError) as caught:
        play_match(agents, seed=1, out=tmp_path / "m", limits=stop, format="cash", num_hands=3, **options)
    return caught.value


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (bang, "RuntimeError: no connection"),
        (lambda turn: 99, "its choice is not legal: texas_holdem_v0"),
        (lambda turn: FORFEIT + 1, "a code, not an action id"),
        (lambda turn: "call", "an action is an integer; got 'call'"),
    ],
)
def test_an_agent_that_fails_stops_the_match_if_that_is_asked_for(tmp_path, what, message):
    error = failed_match(tmp_path, what)
    assert isinstance(error.__cause__, AgentError)
    assert message in str(error)
    assert "in hand 1, ply 2" in str(error)
    folder = tmp_path / "m"
    assert {path.name for path in folder.iterdir()} == FILES | {"failure.json", "state.bin"}
    written = json.loads((folder / "match.json").read_text())
    assert written["status"] == error.result.status == "failed"
    assert message in written["error"]
    last = lines(folder / "actions.jsonl")[-1]
    assert (last["ply"], last["action"], last["outcome"]) == (2, None, "stop")
    assert message in last["failures"][-1]["message"]
    assert len(Timeline.load(folder / "timeline.jsonl").actions) == 2


def test_an_agent_that_fails_checks_or_folds(tmp_path):
    agents = [Scripted("Ann", decision0=bang), Scripted("Bob", decision1=lambda turn: 99)]
    result = play_match(agents, seed=1, out=tmp_path / "m", format="cash", num_hands=2)
    assert result.status == "finished"
    forced = [decision for decision in lines(tmp_path / "m" / "actions.jsonl") if decision["outcome"] == "forced"]
    assert [(d["name"], d["ply"], d["label"]) for d in forced] == [("Ann", 0, "fold"), ("Bob", 4, "check")]
    assert [failure["kind"] for failure in forced[0]["failures"]] == ["exception"] * 3  # three strikes
    assert "no connection" in forced[0]["failures"][-1]["message"]
    assert "bang" in forced[0]["trace"]
    counted = json.loads((tmp_path / "m" / "match.json").read_text())["failures"]
    assert counted == {"Ann": {"exception": 3, "forced": 1}, "Bob": {"forced": 1, "illegal": 3}}


def test_an_agent_that_fails_may_forfeit(tmp_path):
    agents = [Scripted("Ann", decision1=bang), Scripted("Bob"), Scripted("Cho")]
    result = play_match(
        agents, seed=1, out=tmp_path / "m", limits=MatchLimits(on_failure="forfeit"), format="cash", num_hands=3
    )
    (gone,) = [decision for decision in result.decisions if decision["outcome"] == "forfeit"]
    assert gone["action"] == FORFEIT + 0
    assert {decision["name"] for decision in result.decisions[gone["ply"] + 1 :]} == {"Bob", "Cho"}


def test_notes_that_are_no_json_are_named(tmp_path):
    def note(turn):
        turn.notes["object"] = object()
        return 1

    result = play_match([Scripted("Ann", decision0=note), Scripted()], seed=1, format="cash", num_hands=1)
    assert "not JSON values" in result.decisions[0]["notes"]["dropped"]


def the_state_of(turn):
    return turn._Turn__state._states


def steal(turn):
    the_state_of(turn)["stacks"][0, 0] += 7
    return 1


def double_a_card(turn):
    the_state_of(turn)["deck"][0, 3] = the_state_of(turn)["deck"][0, 2]
    return 1


def owe(turn):
    states = the_state_of(turn)
    states["stacks"][0, 0] -= 5000
    states["stacks"][0, 1] += 5000
    return 1


@pytest.mark.parametrize(
    ("what", "message"),
    [(steal, "should add up to 4000"), (double_a_card, "the deck is not the 52 cards"), (owe, "negative")],
)
def test_an_impossible_state_fails_the_match_and_keeps_what_it_was(tmp_path, monkeypatch, what, message):
    trusted = property(lambda seat: False, lambda seat, guest: None)
    monkeypatch.setattr(Seat, "guest", trusted, raising=False)  # its turns refer to the state
    error = failed_match(tmp_path, what)
    assert isinstance(error.__cause__, ImpossibleStateError)
    folder = tmp_path / "m"
    failure = json.loads((folder / "failure.json").read_text())
    assert (failure["error"], failure["ply"]) == ("ImpossibleStateError", 2)
    assert message in failure["message"]
    assert len(failure["actions"]) == 3
    assert failure["last_decision"]["ply"] == 2
    assert "Traceback" in failure["trace"]
    broken = GAME.from_bytes((folder / "state.bin").read_bytes(), trusted=True)
    good = Replay.load(folder / "replay.json").state_at(2)
    assert broken.record_bytes() != good.record_bytes()
    assert len(lines(folder / "actions.jsonl")) == 3  # it went no further
    assert json.loads((folder / "match.json").read_text())["status"] == "failed"


def test_an_interrupted_match_keeps_what_was_played(tmp_path):
    def stop(turn):
        raise KeyboardInterrupt

    def fail(state):
        if state.ply == 4:
            raise OSError("the terminal is gone")

    stopping = Scripted(decision2=stop)
    with pytest.raises(KeyboardInterrupt):
        play_match([stopping, stopping], seed=1, out=tmp_path / "stopped")
    with pytest.raises(OSError, match="the terminal is gone"):
        play_match([Scripted(), Scripted()], seed=1, out=tmp_path / "failed", progress=fail)
    for folder in (tmp_path / "stopped", tmp_path / "failed"):
        assert {path.name for path in folder.iterdir()} == FILES
        assert json.loads((folder / "match.json").read_text())["status"] == "interrupted"
        assert len(Timeline.load(folder / "timeline.jsonl").actions) == len(lines(folder / "actions.jsonl")) == 4


def test_what_cannot_be_played_writes_nothing(tmp_path):
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "file").write_text("precious")
    with pytest.raises(ArenaError, match="it is there already"):
        play_match(["random"] * 2, out=tmp_path / "old")
    assert [path.name for path in (tmp_path / "old").iterdir()] == ["file"]
    with pytest.raises(OptionError, match="antes"):
        play_match(["random"] * 2, out=tmp_path / "new", antes=3)
    with pytest.raises(AgentError, match="no agent 'randm'"):
        play_match(["randm"] * 2, out=tmp_path / "new")
    with pytest.raises(ArenaError, match="3 seats need as many agents; got 2"):
        play_match(["random"] * 2, num_players=3, out=tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_progress_is_told_after_each_action():
    plies = []
    result = play_match(
        ["random"] * 2, seed=1, format="cash", num_hands=3, progress=lambda state: plies.append(state.ply)
    )
    assert plies == list(range(1, result.state.ply + 1))


def test_names_that_no_replay_may_have_are_refused_before_the_first_hand(tmp_path):
    class Named(Agent):
        name = "x" * 101

        def act(self, turn):
            raise AssertionError("nothing is played")

    with pytest.raises(ArenaError, match="a name has at most 100 characters"):
        play_match([Named(), "random"], seed=1, out=tmp_path / "match", num_players=2)
    assert not (tmp_path / "match" / "replay.json").exists()
