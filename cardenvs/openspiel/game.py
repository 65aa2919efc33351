"""A game of cardenvs as a `pyspiel.Game`, and its states as `pyspiel.State`."""

import hashlib
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import pyspiel

from cardenvs.core.events import COLUMNS
from cardenvs.core.game import Game
from cardenvs.core.information import information_key, key_text
from cardenvs.core.options import Options
from cardenvs.core.registry import get_game, list_games
from cardenvs.core.returns import Returns
from cardenvs.core.state import State
from cardenvs.openspiel.chance import Chance, DealChance, chance_of
from cardenvs.openspiel.observers import InformationStateObserver, ObservationObserver
from cardenvs.openspiel.parameters import Parameter, changed_parameters, option_values, parameter_defaults
from cardenvs.openspiel.tensors import EventTensor, most_events

PREFIX = "cardenvs_"
_UTILITY = pyspiel.GameType.Utility
_SEED_BITS = 53  # of a probability sampler's number
NO_ROWS = np.zeros((0, COLUMNS), np.int32)


def load_game(name: str, **options: Any) -> "SpielGame":
    """Return a game of cardenvs for OpenSpiel's algorithms; without a version in the name, the newest.

    Raises:
        GameNotFoundError: no such game.
        OptionError: an unknown option or value.
    """
    game = get_game(name)
    made = game.make_options(**options)
    if game.name not in _registered:  # added to cardenvs after this package was imported
        _register(game)
    return pyspiel.load_game(PREFIX + game.name, changed_parameters(made))


def _load(text: str) -> "SpielGame":
    return pyspiel.load_game(text)


def register_games() -> None:
    """Register every game of cardenvs with OpenSpiel."""
    for name in list_games():
        if name not in _registered:
            _register(get_game(name))


_registered: set[str] = set()


def _register(game: Game) -> None:
    # OpenSpiel drops its reference after Python has ended. A class survives that, because it refers to itself; freeing
    # a function or a partial would end the process with an error.
    creator = type(SpielGame.__name__, (SpielGame,), {"game": game, "__module__": __name__})
    pyspiel.register_game(_game_type(game, game.make_options(), True), creator)
    _registered.add(game.name)


def _game_type(game: Game, options: Options, has_tensor: bool) -> pyspiel.GameType:
    (players,) = (field for field in fields(game.options) if field.name == "num_players")
    return pyspiel.GameType(
        short_name=PREFIX + game.name,
        long_name=game.title,
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=_utility(game.returns(options)),
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=players.metadata["high"],
        min_num_players=players.metadata["low"],
        provides_information_state_string=True,
        provides_information_state_tensor=has_tensor,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=parameter_defaults(game.options),
    )


def _utility(returns: Returns) -> pyspiel.GameType.Utility:
    if returns.cooperative:
        return _UTILITY.IDENTICAL
    if returns.total is None:
        return _UTILITY.GENERAL_SUM
    return _UTILITY.ZERO_SUM if returns.total == 0 else _UTILITY.CONSTANT_SUM


class SpielGame(pyspiel.Game):
    """A game of cardenvs with its options. Made by `load_game`.

    Attributes:
        game: the Game.
        options: its checked options.
        chance: how the deal becomes chance nodes.
    """

    game: Game  # of each subclass that is registered

    def __init__(self, parameters: Mapping[str, Parameter] | None = None) -> None:
        """Create the game with options given as parameters of OpenSpiel.

        Raises:
            OptionError: a value that an option does not take.
        """
        game = self.game
        options = game.make_options(**option_values(game.options, parameters or {}))
        self.options, self.chance = options, chance_of(game, options)
        self._events = _event_tensor(game, options, self.chance)
        returns = game.returns(options)
        info = pyspiel.GameInfo(
            num_distinct_actions=game.num_actions(options),
            max_chance_outcomes=self.chance.most_outcomes,
            num_players=options.num_players,
            min_utility=returns.low,
            max_utility=returns.high,
            utility_sum=returns.total,
            max_game_length=game.max_length(options),
        )
        game_type = _game_type(game, options, self._events is not None)
        super().__init__(game_type, info, changed_parameters(options))

    def __reduce__(self) -> tuple[Any, ...]:
        return _load, (str(self),)  # not pyspiel.load_game: unpickling has to import this package first

    def new_initial_state(self, *start: Any) -> "SpielState":
        """Return a state before the deal.

        Raises:
            pyspiel.SpielError: asked for a state described by a text, which this game does not read.
        """
        if start:
            raise pyspiel.SpielError(f"{self.game.name} begins before the deal only; use cardenvs for explicit cards")
        return SpielState(self)

    def max_chance_nodes_in_history(self) -> int:
        """Return the chance nodes before the first decision; later chance is decided there, too."""
        return self.chance.nodes

    def make_py_observer(
        self, iig_obs_type: pyspiel.IIGObservationType | None = None, params: Mapping[str, Any] | None = None
    ) -> ObservationObserver | InformationStateObserver:
        """Return an observer of what one player sees now, or with perfect recall.

        Raises:
            pyspiel.SpielError: another type of observation, or parameters.
        """
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        if params:
            raise pyspiel.SpielError(f"observers of {self.game.name} take no parameters; got {dict(params)}")
        if not kind.public_info or kind.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            raise pyspiel.SpielError(
                f"observers of {self.game.name} show public information and that of one player, as "
                f"IIGObservationType(perfect_recall=...) does; got {kind}"
            )
        if kind.perfect_recall:
            return InformationStateObserver(self.game, self.options, self._events)
        return ObservationObserver(self.game, self.options)


def _event_tensor(game: Game, options: Options, chance: Chance) -> EventTensor | None:
    if not isinstance(chance, DealChance):
        return None
    most = most_events(game, options, tuple(deck for deck, _ in chance.deals))
    return None if most is None else EventTensor(game, options, most)


class SpielState(pyspiel.State):
    """A state of cardenvs, or the chance nodes before it. Made by `SpielGame.new_initial_state`."""

    # OpenSpiel clones a state by copying its attributes one by one, and saves it by pickling them.

    def __init__(self, game: SpielGame) -> None:
        """Create the state before the deal."""
        super().__init__(game)
        self.world: State | None = None  # the State, or None before the deal. Playing on in it changes this state, too.
        self._drawn: tuple[int, ...] = ()
        self._past: Past | None = None

    def current_player(self) -> int:
        """Return the player to act, chance before the deal, or the terminal player."""
        return pyspiel.PlayerId.CHANCE if self.world is None else self.world.current_player

    def is_terminal(self) -> bool:
        """Return whether the game is over."""
        return self.world is not None and self.world.is_terminal

    def returns(self) -> list[float]:
        """Return the returns of a finished game; zeros before its end, even if the game has paid something already."""
        if self.world is None or not self.world.is_terminal:
            return [0.0] * self.num_players()
        return self.world.returns

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the outcomes of a chance node, with their probabilities."""
        return self.get_game().chance.outcomes()

    def seen_rows(self, player: int) -> np.ndarray:
        """Return all events that `player` has seen, int32 (n, 8), as `State.event_rows`; none before the deal.

        Raises:
            pyspiel.SpielError: this state was resampled for another player.
        """
        if self.world is None:
            return NO_ROWS
        rows = self.world.event_rows(player)
        return rows if self._past is None else np.concatenate([self._past.rows(player), rows])

    def information_state(self, player: int) -> str:
        """Return a text that is the same in exactly the states that `player` cannot tell from this one."""
        if self._past is None or self.world is None or player == self._past.player:
            return f"p{player}:{key_text(information_key(self.seen_rows(player)))}"
        seen = self._past.known[player] + self.world.event_rows(player).tobytes()
        return f"p{player}:{hashlib.sha256(seen).hexdigest()[:32]}"

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> "SpielState":
        """Return a state that `player` cannot tell from this one, with all that it does not know dealt again.

        Its `history()` is empty, because the true one says what the player does not know. What the other players have
        seen before is not known either, so their information states begin with their observations. `sampler` returns
        numbers from [0, 1) and is called once.
        """
        resampled = self.get_game().new_initial_state()
        if self.world is not None:
            twin = self.world.determinize(player, int(sampler() * 2**_SEED_BITS))
            states = np.frombuffer(twin.record_bytes(), twin.game.state_dtype).copy()
            resampled.world = type(twin)._from_record(twin.game, twin.options, states)  # its history begins now
            resampled._past = Past.of(twin, player, self.seen_rows(player))
        return resampled

    def _legal_actions(self, player: int) -> list[int]:
        return [] if self.world is None else self.world.legal_actions()

    def _apply_action(self, action: int) -> None:
        if self.world is not None:
            self.world.apply(action)
            return
        self._drawn = (*self._drawn, operator.index(action))
        chance = self.get_game().chance
        if len(self._drawn) == chance.nodes:
            self.world = chance.dealt(self._drawn)

    def _action_to_string(self, player: int, action: int) -> str:
        if self.world is not None:
            return self.world.action_label(action)
        if player == pyspiel.PlayerId.CHANCE:
            return self.get_game().chance.label(self._drawn, action)
        return f"action {action}"

    def __str__(self) -> str:
        if self.world is None:
            return f"{self.get_game().game.name} before the deal, drawn: {list(self._drawn)}"
        return f"{self.world}\nactions: {self.world.actions}"


@dataclass(frozen=True)
class Past:
    """What is known of the time before a state was resampled."""

    player: int  # for whom it was resampled
    # what stands for each player's past: its events for that player, its observation for the others
    known: tuple[bytes, ...]

    @classmethod
    def of(cls, twin: State, player: int, rows: np.ndarray) -> Self:
        """Return the past of a twin of what `player` knows, which has seen `rows`."""
        players = range(twin.num_players)
        return cls(player, tuple(rows.tobytes() if p == player else twin.observation(p).tobytes() for p in players))

    def rows(self, player: int) -> np.ndarray:
        """Return the events that `player` had seen.

        Raises:
            pyspiel.SpielError: the state was resampled for another player.
        """
        if player != self.player:
            raise pyspiel.SpielError(
                f"this state was resampled for player {self.player}; what player {player} saw before is not known"
            )
        return np.frombuffer(self.known[player], np.int32).reshape(-1, COLUMNS)

    def __deepcopy__(self, memo: dict[str, Any]) -> Self:
        return self
