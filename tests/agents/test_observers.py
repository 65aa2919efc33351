"""Observers: what they are told, when, and what they are never told."""

import random
from typing import ClassVar

import pytest

import cardenvs
from cardenvs.agents.base import Agent
from cardenvs.agents.guarded.proxy import AgentProxy, play
from cardenvs.agents.observers import GameObserver, Narrative, Watched
from cardenvs.agents.seating import OK, Decision
from cardenvs.arena.match import Match
from cardenvs.arena.run import run
from cardenvs.arena.schedule import FIXED
from cardenvs.arena.store import Store
from cardenvs.core.codes import FORFEIT
from cardenvs.core.events import OMNISCIENT, SPECTATOR
from docs.generate import own_games
from examples.narrative import tell

GAMES = [game.name for game in own_games()]


class Log(GameObserver):
    """Notes every call."""

    def __init__(self, viewer=SPECTATOR):
        self.viewer = viewer
        self.calls = []

    def on_game(self, game, options):
        self.calls.append(("game", game.name, options.num_players))

    def on_prompt(self, player, prompt, labels):
        self.calls.append(("prompt", player, prompt, tuple(labels)))

    def on_action(self, player, label):
        self.calls.append(("action", player, label))

    def on_event(self, event, text):
        self.calls.append(("event", event.kind, text))

    def on_effect(self, event, text):
        self.calls.append(("effect", event.kind, text))

    def on_end(self, returns):
        self.calls.append(("end", tuple(returns)))


@pytest.mark.parametrize("viewer", [OMNISCIENT, 0])
@pytest.mark.parametrize("name", GAMES)
def test_whoever_forfeits_is_said_to_forfeit(name, viewer):
    state, log = cardenvs.get_game(name).new_state(seed=1), Log(viewer)
    watched = Watched(state, [log])
    player = state.current_player
    watched.acts(state, Decision(player, state.ply, FORFEIT + player, OK, 0.0))
    known = viewer in (OMNISCIENT, player)
    assert log.calls[-1] == ("action", player, "forfeit" if known else "")


class Fixed(Agent):
    """Plays what it is given, again and again."""

    name = "fixed"

    def __init__(self, *actions):
        self._actions = actions

    def act(self, turn):
        return self._actions[turn.decision]


def kuhn(*, viewer, seed=2):
    log = Log(viewer)
    state = cardenvs.get_game("kuhn_poker_v0").new_state(seed=seed)
    play(state, [AgentProxy(Fixed(0, 1)), AgentProxy(Fixed(1))], seeds=[1, 2], observers=[log])
    return log.calls


def test_a_game_is_told_in_order():
    calls = [call[:2] for call in kuhn(viewer=OMNISCIENT) if call[0] not in ("event", "effect")]
    assert calls == [
        ("game", "kuhn_poker_v0"), ("prompt", 0), ("action", 0), ("prompt", 1), ("action", 1), ("prompt", 0),
        ("action", 0), ("end", calls[-1][1]),
    ]  # fmt: skip
    told = kuhn(viewer=OMNISCIENT)
    assert ("prompt", 0, "Pass or bet?", ("pass", "bet")) in told
    assert ("action", 1, "bet") in told
    place = told.index(("action", 1, "bet"))
    assert told[place + 1][0] == "effect"  # what came of it, before the next question
    assert "2 chips in the pot" in told[place + 1][2]


def test_everything_that_a_viewer_saw_is_told_once_as_an_event_or_an_effect():
    for game in map(cardenvs.get_game, GAMES):
        state = game.new_state(seed=1)
        logs = [Log(viewer) for viewer in (SPECTATOR, OMNISCIENT, 0)]
        watched = Watched(state, logs)
        rng = random.Random(1)
        for _ in range(60):
            if state.is_terminal:
                break
            watched.asks(state)
            action = rng.choice(state.legal_actions())
            watched.acts(state, Decision(state.current_player, state.ply, action, OK, 0.0))
            state.apply(action)
            watched.happened(state)
        for log in logs:
            told = [call[1:] for call in log.calls if call[0] in ("event", "effect")]
            assert [kind for kind, _ in told] == [event.kind for event in state.events(log.viewer)]
            assert [text for kind, text in told if kind != "lies_face_down"] == state.recap(log.viewer)


def test_a_spectator_is_told_neither_questions_nor_choices():
    for call in kuhn(viewer=SPECTATOR):
        if call[0] == "prompt":
            assert call[2:] == ("", ())
        if call[0] == "action":
            assert call[2] == ""
    own = [call for call in kuhn(viewer=0) if call[0] in ("prompt", "action")]
    assert [bool(call[2]) for call in own] == [call[1] == 0 for call in own]


@pytest.mark.parametrize("name", GAMES)
def test_twin_worlds_are_told_alike(name):
    """A player's observer is told the same in a twin, where all that the player cannot know is dealt anew."""
    game, rng, compared = cardenvs.get_game(name), random.Random(5), 0
    for seed in range(6):
        state = game.new_state(seed=seed)
        for _ in range(rng.randrange(12)):
            if not state.is_terminal:
                state.apply(rng.choice(state.legal_actions()))
        for player in range(state.num_players if not state.is_terminal else 0):
            twin = state.determinize(player, seed)
            worlds = [state.clone(), twin]
            logs = [Log(player), Log(player)]
            watched = [Watched(world, [log]) for world, log in zip(worlds, logs, strict=True)]
            shared = sorted(set(worlds[0].legal_actions()) & set(worlds[1].legal_actions()))
            if not shared:
                continue
            action = rng.choice(shared)
            for world, watching in zip(worlds, watched, strict=True):
                watching.asks(world)
                watching.acts(world, Decision(world.current_player, world.ply, action, OK, 0.0))
            assert logs[0].calls == logs[1].calls
            compared += 1
    assert compared or game.make_options().num_players == 1


class Counting(GameObserver):
    made: ClassVar = []

    def __init__(self):
        self.made.append(self)
        self.decisions = self.ended = 0

    def on_action(self, player, label):
        self.decisions += 1

    def on_end(self, returns):
        self.ended += 1


def test_each_game_of_a_match_has_an_observer_of_its_own():
    Counting.made.clear()
    game = cardenvs.get_game("leduc_poker_v0")
    match = Match.make(game, game.make_options(), ("random", "random"), 7, 3, schedule=FIXED)
    games = []
    with Store(None) as store:
        run([match], store, each=lambda _, record: games.append(record), observers=[Counting])
    watched = [one for one in Counting.made if one.ended]
    assert [one.ended for one in watched] == [1] * 7
    assert sorted(one.decisions for one in watched) == sorted(len(record.actions) for record in games)


def test_a_narrative_tells_choices_to_those_who_may_know_them():
    lines = {}
    for viewer in (SPECTATOR, OMNISCIENT):
        story = Narrative(viewer)
        state = cardenvs.get_game("kuhn_poker_v0").new_state(seed=2)
        play(state, [AgentProxy(Fixed(0, 1)), AgentProxy(Fixed(1))], seeds=[1, 2], observers=[story])
        lines[viewer] = story.lines
    assert "player_1: bet" in lines[OMNISCIENT]
    assert not any(line.startswith("player_") for line in lines[SPECTATOR])
    assert lines[SPECTATOR][0] == "Kuhn poker"
    assert lines[SPECTATOR][-1].startswith("Returns: player_0 ")
    assert any("a chip and" in line and "2 chips in the pot" in line for line in lines[SPECTATOR])


def test_the_example_tells_a_whole_game(capsys):
    tell()
    told = capsys.readouterr().out
    assert "Round 4 begins" in told
    assert "questions: player_0" in told.splitlines()[-1]
    assert max(map(len, told.splitlines())) <= 100
