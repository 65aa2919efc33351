"""Observers: whoever watches a game from outside, such as a logger or a picture of the table.

class Log(GameObserver):
    def on_effect(self, event, text):
        print(text)

play(state, proxies, seeds, observers=[Log()])                        # one game
run([match], store, observers=[Log])                                  # a Log for each game of a match
"""

from collections.abc import Sequence

from cardenvs.agents.seating import Decision
from cardenvs.core.events import KIND, OMNISCIENT, SPECTATOR, Event, Op
from cardenvs.core.game import Game
from cardenvs.core.narration import Narrator
from cardenvs.core.options import Options
from cardenvs.core.state import State

_NOBODY = -1  # no player is called "you"


class GameObserver:
    """Watches one game without taking part. Override the methods that you need.

    An observer knows what its `viewer` may know: a spectator sees no hidden card, no question to a player, and no
    choice before its effects are public. An exception ends the game.

    Attributes:
        viewer: SPECTATOR, OMNISCIENT or a player.
    """

    viewer: int = SPECTATOR

    def on_game(self, game: Game, options: Options) -> None:
        """A game begins; the events of the deal follow."""

    def on_prompt(self, player: int, prompt: str, labels: Sequence[str]) -> None:
        """A player is asked. `labels` are those of the legal actions, empty unless the viewer may know them."""

    def on_action(self, player: int, label: str) -> None:
        """A player's action begins; its effects follow. `label` is empty unless the viewer may know it."""

    def on_event(self, event: Event, text: str) -> None:
        """Something happened that changes nothing on the table, such as a hand that ends; `text` is its sentence."""

    def on_effect(self, event: Event, text: str) -> None:
        """The table changed: a card moved, a counter was set; `text` is its sentence."""

    def on_end(self, returns: Sequence[float]) -> None:
        """The game is over."""


class Narrative(GameObserver):
    """Tells a game as lines of text: decisions, and what came of them. Override `tell` to print or send them.

    Attributes:
        lines: so far.
    """

    def __init__(self, viewer: int = SPECTATOR) -> None:
        """Tell what `viewer` may know."""
        self.viewer = viewer
        self.lines: list[str] = []
        self._narrator: Narrator | None = None
        self._untold: list[Event] = []

    def on_game(self, game: Game, options: Options) -> None:
        """Tell what is played."""
        self._narrator = Narrator(game, _NOBODY, options.num_players, symbols=False)
        changed = "".join(f", {name}={value}" for name, value in options.changed().items())
        self.tell(f"{game.title}{changed}")

    def on_action(self, player: int, label: str) -> None:
        """Tell what is chosen, where that is known."""
        if label:
            self._tell_events()
            self.tell(f"player_{player}: {label}")

    def on_event(self, event: Event, text: str) -> None:
        """Tell it later, together with what is like it."""
        self._untold.append(event)

    def on_effect(self, event: Event, text: str) -> None:
        """Tell it later, together with what is like it."""
        self._untold.append(event)

    def on_end(self, returns: Sequence[float]) -> None:
        """Tell the returns."""
        self._tell_events()
        self.tell("Returns: " + ", ".join(f"player_{p} {value:+g}" for p, value in enumerate(returns)))

    def tell(self, line: str) -> None:
        """Tell a line: add it to `lines`."""
        self.lines.append(line)

    def _tell_events(self) -> None:
        assert self._narrator is not None
        for sentence in self._narrator.sentences(self._untold):
            self.tell(f"  {sentence}")
        self._untold.clear()


class Watched:
    """A game with its observers. It makes these calls in this order: `asks`, `acts`, `happened`, ..., `ended`."""

    def __init__(self, state: State, observers: Sequence[GameObserver]) -> None:
        """Tell observers of a game that begins in `state`.

        Args:
            state: at its start.
            observers: each watches this game alone.
        """
        self._observers = observers
        self._shown = [0] * len(observers)
        self._kinds = {kind.name: kind for kind in state.game.table.kinds}
        for observer in observers:
            observer.on_game(state.game, state.options)
        self.happened(state)

    def asks(self, state: State) -> None:
        """The player to act in `state` is asked."""
        for observer in self._observers:
            player = state.current_player
            known = observer.viewer in (player, OMNISCIENT)
            view = state.view(player if known else observer.viewer)
            labels = [state.action_label(action) for action in state.legal_actions()] if known else []
            observer.on_prompt(player, view["prompt"], labels)

    def acts(self, state: State, decision: Decision) -> None:
        """A decision is about to be applied to `state`."""
        for observer in self._observers:
            known = observer.viewer in (decision.player, OMNISCIENT)
            label = state.game.view.action_label(state.record, decision.action) if known else ""
            observer.on_action(decision.player, label)

    def happened(self, state: State) -> None:
        """Events may have happened."""
        view = state.game.view
        for number, observer in enumerate(self._observers):
            rows = state.event_rows(observer.viewer)
            new, self._shown[number] = rows[self._shown[number] :], len(rows)
            for row in new:
                event = state.game.table.read(row)
                kind = state.game.table.kinds[int(row[KIND])]
                tell = observer.on_event if kind.op == Op.NOTE else observer.on_effect
                tell(event, view.describe_event(event, kind))

    def ended(self, state: State) -> None:
        """The game is over."""
        for observer in self._observers:
            observer.on_end(state.returns)
