"""Observers watch a game from outside, such as a logger or a picture of the table.

class Log(GameObserver):
    def on_effect(self, event, text):
        print(text)

play(state, proxies, seeds, observers=[Log()])                        # one game
run([match], store, observers=[Log])                                  # a Log for each game of a match
"""

from collections.abc import Sequence

from cardenvs.agents.seating import Decision
from cardenvs.core.codes import FORFEIT
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
    """

    viewer: int = SPECTATOR  # SPECTATOR, OMNISCIENT or a player

    def on_game(self, game: Game, options: Options) -> None:
        """Called when a game begins, before the events of the deal."""

    def on_prompt(self, player: int, prompt: str, labels: Sequence[str]) -> None:
        """Called when a player is to act. `labels` of the legal actions is empty unless the viewer may know them."""

    def on_action(self, player: int, label: str) -> None:
        """Called before the effects of an action. `label` is empty unless the viewer may know it."""

    def on_event(self, event: Event, text: str) -> None:
        """Called for an event that does not change the table, such as the end of a hand; `text` describes it."""

    def on_effect(self, event: Event, text: str) -> None:
        """Called when the table changes: a card moves, a counter is set; `text` describes it."""

    def on_end(self, returns: Sequence[float]) -> None:
        """Called when the game is over."""


class Narrative(GameObserver):
    """Describes a game as lines of text: decisions and their effects. Override `tell` to print or send the lines."""

    def __init__(self, viewer: int = SPECTATOR) -> None:
        """Describe the game as `viewer` may see it."""
        self.viewer = viewer
        self.lines: list[str] = []  # the lines so far
        self._narrator: Narrator | None = None
        self._untold: list[Event] = []

    def on_game(self, game: Game, options: Options) -> None:
        """Add a line with the game and its options."""
        self._narrator = Narrator(game, _NOBODY, options.num_players, symbols=False)
        changed = "".join(f", {name}={value}" for name, value in options.changed().items())
        self.tell(f"{game.title}{changed}")

    def on_action(self, player: int, label: str) -> None:
        """Add a line with the action, if its label is known."""
        if label:
            self._tell_events()
            self.tell(f"player_{player}: {label}")

    def on_event(self, event: Event, text: str) -> None:
        """Keep the event, to be described together with similar ones."""
        self._untold.append(event)

    def on_effect(self, event: Event, text: str) -> None:
        """Keep the event, to be described together with similar ones."""
        self._untold.append(event)

    def on_end(self, returns: Sequence[float]) -> None:
        """Add a line with the returns."""
        self._tell_events()
        self.tell("Returns: " + ", ".join(f"player_{p} {value:+g}" for p, value in enumerate(returns)))

    def tell(self, line: str) -> None:
        """Add a line to `lines`."""
        self.lines.append(line)

    def _tell_events(self) -> None:
        assert self._narrator is not None
        for sentence in self._narrator.sentences(self._untold):
            self.tell(f"  {sentence}")
        self._untold.clear()


def _label(state: State, action: int) -> str:
    return "forfeit" if action >= FORFEIT else state.action_label(action)


class Watched:
    """A game with its observers. Call `asks`, `acts` and `happened` for every decision, and `ended` at the end."""

    def __init__(self, state: State, observers: Sequence[GameObserver]) -> None:
        """Tell the observers of this game that it begins."""
        self._observers = observers
        self._shown = [0] * len(observers)
        self._kinds = {kind.name: kind for kind in state.game.table.kinds}
        for observer in observers:
            observer.on_game(state.game, state.options)
        self.happened(state)

    def asks(self, state: State) -> None:
        """Notify the observers that the player to act is about to be asked."""
        for observer in self._observers:
            player = state.current_player
            known = observer.viewer in (player, OMNISCIENT)
            view = state.view(player if known else observer.viewer)
            labels = [state.action_label(action) for action in state.legal_actions()] if known else []
            observer.on_prompt(player, view["prompt"], labels)

    def acts(self, state: State, decision: Decision) -> None:
        """Notify the observers that a decision is about to be applied to `state`."""
        for observer in self._observers:
            known = observer.viewer in (decision.player, OMNISCIENT)
            observer.on_action(decision.player, _label(state, decision.action) if known else "")

    def happened(self, state: State) -> None:
        """Notify the observers of new events."""
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
        """Notify the observers that the game is over."""
        for observer in self._observers:
            observer.on_end(state.returns)
