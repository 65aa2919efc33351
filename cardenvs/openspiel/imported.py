"""OpenSpiel's games as games of cardenvs, such as `cardenvs.get_game("openspiel:leduc_poker(players=3)")`.

Every interface of cardenvs then works with them: matches, search, environments, language models. The record of such a
game is its history: all actions and chance outcomes so far. Each kernel looks up OpenSpiel's state for that history, so
these games are not compiled and run at the speed of Python.

What a player knows is the text that OpenSpiel gives for its information state, or, in games that have none, the texts
of all its observations.
"""

import dataclasses
import functools
import hashlib
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pyspiel

from cardenvs.core import events as ev
from cardenvs.core.checks import short
from cardenvs.core.codes import TERMINAL_PLAYER
from cardenvs.core.errors import GameNotFoundError
from cardenvs.core.events import OMNISCIENT, SPECTATOR, Op, Table
from cardenvs.core.fold import FoldedTable
from cardenvs.core.game import Game
from cardenvs.core.game_view import CounterView, Scene
from cardenvs.core.observation import Layout, Section
from cardenvs.core.options import Options, option, rules_dtype
from cardenvs.core.record import record
from cardenvs.core.returns import Returns
from cardenvs.core.rng import derived_seed
from cardenvs.core.view import View

FAMILY = "openspiel"
_MOST_GAMES = 256  # kept
_LONGEST_TEXT = 400  # characters of a name
_DEEPEST = 5  # games in a game
_MOST_PLAYERS = 15  # a set of viewers has a bit for each player and one for spectators
_MOST_MOVES = 100_000  # in a history
_MOST_ACTIONS = 1_000_000
_MOST_POSITIONS = 4096  # kept
_MOST_TRIES = 2_000  # positions looked at for another deal
_PROPOSALS = 20  # of a random walk to another deal, for each chance outcome
_VALUE_BITS = 31  # of an event's value

Seen = tuple[str, bool, bool]


@functools.lru_cache(maxsize=_MOST_GAMES)
def import_game(text: str) -> Game:
    """Return a game of OpenSpiel, such as "leduc_poker(players=3)". Use `cardenvs.get_game("openspiel:TEXT")`.

    Names may come from strangers, in an experiment or a replay. OpenSpiel opens files while it reads a name, so names
    with a parameter for a file are refused before that.

    Raises:
        GameNotFoundError: OpenSpiel has no such game, or it cannot be played here; the message says why.
    """
    if len(text) > _LONGEST_TEXT or text.count("(") > _DEEPEST:
        raise GameNotFoundError(
            f"{FAMILY}: a name has at most {_LONGEST_TEXT} characters and {_DEEPEST} pairs of parentheses; got "
            f"{short(text)}"
        )
    name = f"{FAMILY}:{text}"
    if "file" in text.lower():
        raise GameNotFoundError(f"{name} cannot be played here: it reads a file")
    try:
        theirs = pyspiel.load_game(text)
    except (pyspiel.SpielError, RuntimeError) as error:
        raise GameNotFoundError(f"{name}: OpenSpiel cannot load this game: {str(error).strip()}") from None
    if problem := _problem(theirs):
        raise GameNotFoundError(f"{name} cannot be played here: {problem}")
    positions = Positions(theirs)
    return _game(name, positions)


def _problem(theirs: pyspiel.Game) -> str:
    kind = theirs.get_type()
    if kind.dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
        return "its players act at the same time; try turn_based_simultaneous_game(game=...)"
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        return "it does not list its chance outcomes"
    if not (kind.provides_observation_tensor or kind.provides_information_state_tensor):
        return "it has no tensor for observations"
    if not (kind.provides_observation_string or kind.provides_information_state_string):
        return "it has no text for what a player knows"
    if theirs.num_players() > _MOST_PLAYERS:
        return f"it has {theirs.num_players()} players, and at most {_MOST_PLAYERS} can play"
    if theirs.num_distinct_actions() > _MOST_ACTIONS:
        return f"it has {theirs.num_distinct_actions():,} actions, and at most {_MOST_ACTIONS:,} are possible"
    if _most_moves(theirs) > _MOST_MOVES:
        return f"a game can have {_most_moves(theirs):,} moves, and at most {_MOST_MOVES:,} are possible"
    return ""


def _most_moves(theirs: pyspiel.Game) -> int:
    return theirs.max_game_length() + max(0, theirs.max_chance_nodes_in_history())


class Positions:
    """OpenSpiel's states by history, and what players know in them."""

    def __init__(self, game: pyspiel.Game) -> None:
        self.game = game  # the game of OpenSpiel
        kind = game.get_type()
        # whether anything is hidden from anybody
        self.hides = kind.information != pyspiel.GameType.Information.PERFECT_INFORMATION
        self._has_information_state = kind.provides_information_state_string
        self._has_observation = kind.provides_observation_string
        self._has_tensor = kind.provides_observation_tensor
        self._can_resample = self._has_information_state
        self._root = game.new_initial_state()
        self._at = functools.lru_cache(maxsize=_MOST_POSITIONS)(self._after)

    def at(self, history: Sequence[int]) -> pyspiel.State:
        """Return the state after a history of actions and chance outcomes. Callers must not change it."""
        return self._at(tuple(history))

    def _after(self, history: tuple[int, ...]) -> pyspiel.State:
        state = self._root.clone()
        for move in history:
            state.apply_action(move)
        return state

    def follow(self, history: list[int], move: int) -> pyspiel.State:
        """Append a move to `history` and return the state after it."""
        state = self.at(history).child(move)
        history.append(move)
        return state

    def knowledge(self, state: pyspiel.State, player: int) -> str:
        """Return the text that stands for what `player` learns in a state."""
        if self._has_information_state:
            return state.information_state_string(player)
        return state.observation_string(player)

    def shown(self, state: pyspiel.State, viewer: int) -> str:
        """Return what a viewer sees of a state, as text."""
        if viewer == OMNISCIENT or not self.hides:
            return str(state)
        if viewer == SPECTATOR:
            return ""
        return state.observation_string(viewer) if self._has_observation else state.information_state_string(viewer)

    def tensor(self, state: pyspiel.State, player: int) -> list[float]:
        """Return the observation of a player, flat."""
        return state.observation_tensor(player) if self._has_tensor else state.information_state_tensor(player)

    @property
    def tensor_size(self) -> int:
        """Length of `tensor`."""
        return self.game.observation_tensor_size() if self._has_tensor else self.game.information_state_tensor_size()

    def other_history(self, history: Sequence[int], player: int, random: Random) -> list[int]:
        """Return a history that `player` cannot tell from `history`, drawn at random; its length is the same.

        OpenSpiel's own resampling is used where the game has it. Otherwise chance outcomes are drawn one by one, and
        other players' actions among all that fit what `player` has seen; where nothing fits, the search steps back. If
        that takes too long, a random walk from `history` swaps and redraws chance outcomes, keeping all actions.
        """
        if not self.hides:
            return list(history)
        state = self.at(history)
        wanted = [self._seen(self.at(history[:end]), player) for end in range(1, len(history) + 1)]
        return (
            self._resampled(state, player, wanted, random)
            or self._searched(history, player, wanted, random)
            or self._walked(history, player, wanted, random)
        )

    def _seen(self, state: pyspiel.State, player: int) -> Seen:
        """Return what `player` notices in a state: what it learns, whether it is to act, whether the game is over."""
        return self.knowledge(state, player), state.current_player() == player, state.is_terminal()

    def _resampled(self, state: pyspiel.State, player: int, wanted: list[Seen], random: Random) -> list[int] | None:
        if not self._can_resample or state.is_terminal():
            return None
        try:
            found = state.resample_from_infostate(player, random.random).history()
        except (pyspiel.SpielError, RuntimeError):
            self._can_resample = False  # this game does not implement it
            return None
        if len(found) != len(wanted):
            return None
        fits = self._seen(self.at(found), player) == wanted[-1]
        return list(found) if fits else None

    def _searched(self, history: Sequence[int], player: int, wanted: list[Seen], random: Random) -> list[int] | None:
        path: list[int] = []
        open_moves = [self._candidates(self._root, history, 0, player, random)]
        for _ in range(_MOST_TRIES):
            if len(path) == len(wanted):
                return path
            if not open_moves[-1]:
                open_moves.pop()
                if not open_moves:
                    break
                path.pop()
                continue
            move = open_moves[-1].pop()
            state = self.at(path).child(move)
            if self._seen(state, player) == wanted[len(path)]:
                path.append(move)
                open_moves.append(self._candidates(state, history, len(path), player, random))
        return path if len(path) == len(wanted) else None

    def _walked(self, history: Sequence[int], player: int, wanted: list[Seen], random: Random) -> list[int]:
        path = list(history)
        places = [place for place in range(len(path)) if self.at(path[:place]).is_chance_node()]
        for _ in range(_PROPOSALS * len(places)):
            proposed = list(path)
            first, second = random.choice(places), random.choice(places)
            if first == second:
                outcomes = self.at(path[:first]).chance_outcomes()
                (proposed[first],) = random.choices([m for m, _ in outcomes], [p for _, p in outcomes])
            else:
                proposed[first], proposed[second] = path[second], path[first]
            if self._fits(proposed, min(first, second), player, wanted):
                path = proposed
        return path

    def _fits(self, history: list[int], start: int, player: int, wanted: list[Seen]) -> bool:
        """Return whether `player` learns `wanted` in a history that is known to fit before `start`."""
        state = self.at(history[:start]).clone()
        for move, known in zip(history[start:], wanted[start:], strict=True):
            moves = [m for m, _ in state.chance_outcomes()] if state.is_chance_node() else state.legal_actions()
            if move not in moves:
                return False
            state.apply_action(move)
            if self._seen(state, player) != known:
                return False
        return True

    def _candidates(
        self, state: pyspiel.State, history: Sequence[int], place: int, player: int, random: Random
    ) -> list[int]:
        """Return the moves to try in `state`, the first to be tried last, weighted by chance."""
        if place == len(history):
            return []
        if state.is_chance_node():
            outcomes = state.chance_outcomes()
            keyed = [(random.random() ** (1 / p), move) for move, p in outcomes if p > 0]  # Efraimidis and Spirakis
            return [move for _, move in sorted(keyed)]
        if state.current_player() == player:
            return [history[place]]
        moves = state.legal_actions()
        random.shuffle(moves)
        return moves


# -- rules --------------------------------------------------------------------------------------------------------


class SpielOptions(Options):
    """Options of a game of OpenSpiel: none but the number of players, which its parameters decide."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _default_options, (self.game_text,)  # type: ignore[attr-defined]


def _default_options(text: str) -> Options:
    return import_game(text).make_options()


def _options(name: str, players: int) -> type[Options]:
    made = option(players, low=players, high=players, doc="players at the table; set by the parameters in the name")
    made_class = dataclasses.make_dataclass(
        "SpielOptions", [("num_players", int, made)], bases=(SpielOptions,), frozen=True
    )
    made_class.game_text = name.partition(":")[2]  # type: ignore[attr-defined]
    return made_class


def _game(name: str, positions: Positions) -> Game:
    theirs = positions.game
    players = theirs.num_players()
    options = _options(name, players)
    table = Table(players)
    table.counter("moves", per_player=True)
    plays = table.event("plays", Op.NOTE, "{player} chooses action {value}.")
    learns = table.event("learns", Op.NOTE, "{player} sees what has changed.", reveals_hidden_value=True)
    forfeits = table.event("forfeits", Op.NOTE, "{player} forfeits.")
    low, high, total = theirs.min_utility(), theirs.max_utility(), theirs.utility_sum()

    def deal(s, given, log):
        _continue(s, [], log)

    def legal_actions(s, out):
        legal = positions.at(history_of(s)).legal_actions()
        out[: len(legal)] = legal
        return len(legal)

    def apply_action(s, action, log):
        player = int(s.current_player)
        ev.log_event(log, plays, player, ev.UNKNOWN, ev.NO_PLACE, ev.NO_PLACE, int(action), 1 << player, 1 << player)
        history = history_of(s)
        positions.follow(history, int(action))
        _continue(s, history, log)

    def _continue(s, history, log):
        """Draw chance outcomes until a player is to act or the game is over, and store the history."""
        state = positions.at(history)
        while state.is_chance_node():
            random = Random(derived_seed(int(s.seed), FAMILY, len(history)))
            outcomes = state.chance_outcomes()
            (move,) = random.choices([m for m, _ in outcomes], [p for _, p in outcomes])
            state = positions.follow(history, move)
        _store(s, history)
        for player in range(players):
            seen = _hashed(positions.knowledge(state, player))
            ev.log_event(log, learns, player, ev.UNKNOWN, ev.NO_PLACE, ev.NO_PLACE, seen, 1 << player, 1 << player)
        if state.is_terminal():
            s.terminal = 1
            s.rewards[:players] = state.returns()
        else:
            s.current_player = state.current_player()

    def forfeit(s, player, log):
        """End the game: `player` gets the lowest utility, the others share the rest."""
        s.active[player] = 0
        others = (total - low) / max(1, players - 1) if total is not None else 0.0
        for p in range(players):
            s.rewards[p] = low if p == player else others
        s.terminal = 1
        ev.log_note(log, forfeits, int(player), 0)

    def observe(s, player, out):
        out[:] = positions.tensor(positions.at(history_of(s)), int(player))

    def determinize(s, player, seed):
        random = Random(derived_seed(int(seed), FAMILY, "other history"))
        s.seed = seed
        _store(s, positions.other_history(history_of(s), int(player), random))

    shape = theirs.observation_tensor_shape() if positions._has_tensor else theirs.information_state_tensor_shape()
    layout = Layout(
        [
            Section(
                "tensor", positions.tensor_size, f"OpenSpiel's tensor of shape {list(shape)}, flat", low=-np.inf,
                high=np.inf,
            )
        ],
        "float32",
    )  # fmt: skip
    state_dtype = record(
        rules_dtype(options), players, [("history", "i8", (_most_moves(theirs),)), ("num_moves", "i4")]
    )
    return Game(
        name=name, title=theirs.get_type().long_name, view=SpielView(positions),
        hidden_phases=(),  # there are no tokens, hidden or not
        options=options, state_dtype=state_dtype, table=table, deal=deal, legal_actions=legal_actions,
        apply_action=apply_action, forfeit=forfeit, observe=observe, determinize=determinize,
        num_actions=lambda options: theirs.num_distinct_actions(),
        max_length=lambda options: theirs.max_game_length(),
        layout=lambda options: layout,
        returns=lambda options: Returns(low, high, total, "utility"),
        deck=lambda options: np.zeros(0, np.int16),
        compiled=False,
    )  # fmt: skip


def history_of(s: Any) -> list[int]:
    """Return the actions and chance outcomes in a record."""
    return [int(move) for move in s.history[: int(s.num_moves)]]


def _store(s: Any, history: list[int]) -> None:
    s.history[:] = 0
    s.history[: len(history)] = history
    s.num_moves = len(history)


def _hashed(text: str) -> int:
    """Return the first bits of a hash, as the value of an event."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "little") >> (32 - _VALUE_BITS)


# -- words --------------------------------------------------------------------------------------------------------


class SpielView(View):
    """Texts of a game of OpenSpiel, which are OpenSpiel's."""

    def __init__(self, positions: Positions) -> None:
        self._positions = positions

    def fill_table(self, s: Any, viewer: int, table: FoldedTable) -> None:
        """Leave the table empty: `arrange` shows OpenSpiel's text."""

    def action_label(self, s: Any, action: int) -> str:
        """Return OpenSpiel's text for an action, with its id where two actions have the same."""
        state = self._positions.at(history_of(s))
        player = state.current_player()
        if player == TERMINAL_PLAYER or action >= self._positions.game.num_distinct_actions():
            return f"action {action}"
        text = state.action_to_string(player, action)
        same = [other for other in state.legal_actions() if state.action_to_string(player, other) == text]
        return text if same in ([], [action]) else f"{text} ({action})"

    def arrange(self, s: Any, viewer: int, scene: Scene) -> None:
        """Show OpenSpiel's text for the position as `viewer` sees it."""
        shown = self._positions.shown(self._positions.at(history_of(s)), viewer).rstrip()
        shown = shown or "OpenSpiel has no text for what all players see."
        scene.counters["position"] = CounterView("position", ev.CounterUse.NUMBER, f"{shown}\n")
